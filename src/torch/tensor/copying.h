/* copying.h: the slot `copy` (lang/object/value.h) of tensors, storages and generators. *out is the caller's; memo
 * NULL: a shallow copy. */
#ifndef TORCH_TENSOR_COPYING_H
#define TORCH_TENSOR_COPYING_H

#include "lang/object/value.h"

/* Shallow: another tensor over the same storage, no view of it. Deep: a tensor of the same geometry over a copy of the
 * whole storage. */
TsrStatus copy_tensor(Value *out, Value self, Dict *memo);
/* A copy of the bytes in either case. */
TsrStatus copy_storage_object(Value *out, Value self, Dict *memo);
/* Another generator in the same state. */
TsrStatus copy_generator(Value *out, Value self, Dict *memo);

#endif
