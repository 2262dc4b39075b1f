/* few.c: chooses the kernel of products of few rows of floats (few.simd.c) for this CPU. */
#include "few.h"

#include "core/kernels/simd.h"

TSR_CHOOSE_VECTORS(TsrFewFn, tsr_few_kernel)
