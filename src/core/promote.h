/* promote.h: the result dtype of mixed operands (torch.result_type, promote_types). */
#ifndef TSR_PROMOTE_H
#define TSR_PROMOTE_H

#include "tensor.h"

TSR_PUBLIC_BEGIN

/* The dtype of a binary operation on two tensors with dimensions (torch.promote_types). TSR_DTYPE_NONE where PyTorch
 * has none (float8 with another dtype, uint16 with int). */
TsrDtype tsr_promote_types(TsrDtype a, TsrDtype b);
/* The same, with PyTorch's error where there is none ("Promotion for Float8 Types is not supported, attempted to
 * promote ..."). */
TsrStatus tsr_promote(TsrDtype *out, TsrDtype a, TsrDtype b);
/* The dtype that an operation on n tensors computes in (torch.result_type); NULL entries are skipped. Tensors with
 * dimensions decide, then 0-d tensors, then wrapped numbers (Python's): a later group counts only when its dtype is of
 * a higher kind. TSR_RUNTIME_ERROR as tsr_promote. */
TsrStatus tsr_result_type(TsrDtype *out, TsrTensor *const *tensors, int n);
/* torch.can_cast: false for complex to real, float to integer, and anything but bool to bool. */
bool tsr_can_cast(TsrDtype from, TsrDtype to);

TSR_PUBLIC_END

#endif
