/* matmul.h: the matrix product on tensors, for the other linear algebra. Lazy conj is read through, no copy. */
#ifndef CORE_OPS_MATMUL_MATMUL_H
#define CORE_OPS_MATMUL_MATMUL_H

#include "core/engine/gemm.h"
#include "core/tensor/owned.h"
#include "core/view.h"

/* torch.matmul: any mix of 1-D, 2-D and batched operands; *out is fresh and row-major. PyTorch's errors. */
TsrStatus tsr_matmul_new(TsrTensor **out, const TsrTensor *a, const TsrTensor *b);

#endif
