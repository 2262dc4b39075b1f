/* tensorflow.h: tensorflow.Tensor: memory taken at once from its allocator, a dtype from the start, elements that may
 * be strings, and real TensorProto messages; tensorflow.TensorShape. */
#ifndef SYSTEMS_TENSORFLOW_H
#define SYSTEMS_TENSORFLOW_H

#include "lang/object/value.h"

TsrStatus ns_tensorflow_startup(void);

#endif
