/* gemm_few.h: matrix products of a few rows with a large matrix of floats, which is read once from where it lies:
 * gemm.c asks whether one suits before BLAS would pack it. */
#ifndef CORE_ENGINE_GEMM_FEW_H
#define CORE_ENGINE_GEMM_FEW_H

#include "gemm.h"

/* Whether tsr_gemm_few computes it: float32, two rows or a few more, b large and its rows or columns neighbours, c's
 * columns neighbours, alpha 1 and beta 0 or 1, and this CPU has the kernel (kernels/matrix/few.h). */
bool tsr_gemm_is_few(const TsrGemm *g);

/* Computes it, over the threads; the same bits by any number of them. Errors: interrupts. */
TsrStatus tsr_gemm_few(const TsrGemm *g);

#endif
