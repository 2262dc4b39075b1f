#define TSR_SIMD_AVX2
#include "kernels/simd.h"
#ifdef TSR_HAVE_X86
#include "kernels/bessel_types.inc"
#endif
