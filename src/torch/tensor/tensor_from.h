/* tensor_from.h: tensors from numbers, nested sequences and buffers of the language, and back. */
#ifndef TORCH_TENSOR_TENSOR_FROM_H
#define TORCH_TENSOR_TENSOR_FROM_H

#include "core/op.h"
#include "lang/object/value.h"

/* What torch.tensor makes of `data`: sizes from the first elements, dtype inferred over all unless given
 * (TSR_DTYPE_NONE). A tensor as data is copied. Errors are PyTorch's. *out is the caller's. */
TsrStatus tensor_new_from_data(TsrTensor **out, Value data, TsrDtype dtype, TsrDevice device);
/* As an index: bool and uint8 stay, all else becomes int64. */
TsrStatus tensor_new_from_index(TsrTensor **out, Value sequence);
/* tolist(): nested lists of numbers, one number for 0 dimensions. */
TsrStatus tensor_to_list(Value *out, const TsrTensor *t);
/* Element `i` (row-major) as item() gives it; strings are str, nested ones tensors. */
TsrStatus tensor_element(Value *out, const TsrTensor *t, int64_t i);
/* bytes or a bytearray as a 1-d tensor over its memory, which it keeps alive. */
TsrStatus tensor_new_from_buffer(TsrTensor **out, Value buffer, TsrDtype dtype, int64_t count, int64_t offset);

#endif
