/* attention.c: chooses the rows of attention (attention.simd.c) for this CPU. */
#include "attention.h"

#include "core/kernels/simd.h"

TSR_CHOOSE_VECTORS(TsrAttentionFn, tsr_attention_kernel)
