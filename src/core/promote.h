/* promote.h: the result dtype of mixed operands (torch.result_type, promote_types). */
#ifndef TSR_PROMOTE_H
#define TSR_PROMOTE_H

#include "tensor.h"

#pragma GCC visibility push(default)

TsrDtype tsr_promote_types(TsrDtype a, TsrDtype b); /* TSR_DTYPE_NONE where PyTorch has none (float8 mixes, uint16+int) */
TsrStatus tsr_promote(TsrDtype *out, TsrDtype a, TsrDtype b); /* with PyTorch's error ("Promotion for Float8 Types is not supported, attempted to promote ...") */
/* Categories as PyTorch: dimensioned tensors, then 0-d tensors, then wrapped numbers; a lower category decides only when of a higher kind. NULL entries are skipped. */
TsrStatus tsr_result_type(TsrDtype *out, TsrTensor *const *tensors, int n);
bool tsr_can_cast(TsrDtype from, TsrDtype to);

#pragma GCC visibility pop

#endif
