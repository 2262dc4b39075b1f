/* matmul.h: the matrix product on tensors, for the other linear algebra. Lazy conj is read through, no copy. */
#ifndef TSR_MATMUL_H
#define TSR_MATMUL_H

#include "gemm.h"
#include "owned.h"
#include "view.h"

/* torch.matmul: any mix of 1-D, 2-D and batched operands; *out is fresh and row-major. PyTorch's errors. */
TsrStatus tsr_matmul_new(TsrTensor **out, const TsrTensor *a, const TsrTensor *b);
/* out = beta * out + alpha * a @ b for (batch..., m, n), (batch..., m, k), (batch..., k, n) of the same rank, dtype and
 * batch sizes (strides may be 0 in a and b). Shapes are the caller's promise. Batches go to the thread pool. */
TsrStatus tsr_matmul_into(TsrTensor *out, const TsrTensor *a, const TsrTensor *b, TsrScalar alpha, TsrScalar beta);

#endif
