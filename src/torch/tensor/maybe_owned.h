/* maybe_owned.h: MaybeOwned<Tensor> in the language: borrowed(x), owned(x), x.expect_contiguous().
 *
 * A borrow holds a weak link and no reference; using it after its tensor is gone, or after its `with` block, is a
 * BorrowError that names where it was borrowed and where the owner went. */
#ifndef TORCH_TENSOR_MAYBE_OWNED_H
#define TORCH_TENSOR_MAYBE_OWNED_H

#include "lang/object/value.h"

TsrStatus maybe_owned_startup(void);
/* x.expect_contiguous(memory_format): values[0] is the tensor. */
TsrStatus maybe_expect_contiguous(Value *out, const CallArgs *args);

#endif
