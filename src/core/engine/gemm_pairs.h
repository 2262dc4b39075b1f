/* gemm_pairs.h: matrix products of bfloat16 by pairs of terms, where the processor has the instruction for them: gemm.c
 * asks whether one suits before it widens both sides. */
#ifndef CORE_ENGINE_GEMM_PAIRS_H
#define CORE_ENGINE_GEMM_PAIRS_H

#include "gemm.h"

/* Whether tsr_gemm_pairs computes it: bfloat16, large enough, alpha is 1 and beta 0 or 1, nothing is conjugated. */
bool tsr_gemm_by_pairs(const TsrGemm *g);

/* How many bytes tsr_gemm_pairs needs for both sides, packed. TSR_RUNTIME_ERROR where they are too many. */
TsrStatus tsr_gemm_pairs_room(const TsrGemm *g, size_t *bytes);

/* c (float32, its columns neighbours) = g's a @ b, or added to c where g's beta is 1. `room` has that many bytes.
 * Errors: interrupts. */
TsrStatus tsr_gemm_pairs(const TsrGemm *g, TsrMat c, void *room);

#endif
