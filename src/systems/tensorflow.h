/* tensorflow.h: tensorflow.Tensor: memory taken at once from its allocator, a dtype from the start, elements that may
 * be strings, and real TensorProto messages; tensorflow.TensorShape. */
#ifndef SYSTEMS_TENSORFLOW_H
#define SYSTEMS_TENSORFLOW_H

#include "core/dtype.h"
#include "lang/modules/namespace.h"
#include "lang/object/value.h"

TsrStatus ns_tensorflow_startup(void);

/* The enum DataType (data_type.c). */
Value data_type_value(TsrDtype dtype);        /* DT_FLOAT, a reference, the caller's; 0 for a dtype without one */
const char *data_type_name(TsrDtype dtype);   /* static */
bool data_type_dtype(TsrDtype *out, Value v); /* false: no DataType */
TsrStatus data_types_fill(Module *m);

#endif
