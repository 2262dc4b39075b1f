#define TSR_SIMD_AVX2
#include "core/kernels/simd.h"
#ifdef TSR_HAVE_X86
#include "fast.inc"
#endif
