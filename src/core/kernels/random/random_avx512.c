#define TSR_SIMD_AVX512
#include "core/kernels/simd.h"
#ifdef TSR_HAVE_X86
#include "random.inc"
#endif
