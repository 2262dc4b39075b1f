/* promote.h: the result dtype of mixed operands (torch.result_type, promote_types). */
#ifndef TSR_PROMOTE_H
#define TSR_PROMOTE_H

#include "tensor.h"

TSR_PUBLIC_BEGIN

/* TSR_DTYPE_NONE where PyTorch has none (float8 with another dtype, uint16 with int). */
TsrDtype tsr_promote_types(TsrDtype a, TsrDtype b);
/* The same, with PyTorch's error where there is none ("Promotion for Float8 Types is not supported, attempted to
 * promote ..."). */
TsrStatus tsr_promote(TsrDtype *out, TsrDtype a, TsrDtype b);
/* Of n tensors, NULL entries skipped. Categories as PyTorch: dimensioned tensors, then 0-d tensors, then wrapped
 * numbers; a lower category decides only when its dtype is of a higher kind. */
TsrStatus tsr_result_type(TsrDtype *out, TsrTensor *const *tensors, int n);
bool tsr_can_cast(TsrDtype from, TsrDtype to); /* no float to int, no complex to real, nothing but bool to bool */

TSR_PUBLIC_END

#endif
