/* gemm_thin.h: matrix products of a few rows with a large matrix of half floats, which is read once from where it lies:
 * gemm.c asks whether one suits before it widens all of the large side. */
#ifndef CORE_ENGINE_GEMM_THIN_H
#define CORE_ENGINE_GEMM_THIN_H

#include "gemm.h"

/* Whether tsr_gemm_thin computes it: this CPU has the kernel, `right` (what b's elements are) is bfloat16 or float16, b
 * is large and its rows or columns are neighbours, c's columns are, alpha is 1 and beta 0 or 1. */
bool tsr_gemm_is_thin(const TsrGemm *g, TsrDtype right);

/* c = a @ b, or added to c: a and c are float32, b is of dtype `right`. Errors: memory, interrupts. */
TsrStatus tsr_gemm_thin(const TsrGemm *g, TsrDtype right);

#endif
