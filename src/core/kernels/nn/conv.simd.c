/* conv.simd.c: sums of shifted images (conv.h) of floats for one instruction set. */
#include <string.h>

#include "conv.h"
#include "core/kernels/simd.h"

/* The most sums that fit the 32 or 16 vector registers beside weights and image. */
#if defined(TSR_SIMD_AVX512)
typedef __m512 V;
#define EACH(x) _mm512_set1_ps(x)
#define FMA(a, b, c) _mm512_fmadd_ps(a, b, c)
enum { WIDE = 6, POINTS = 7, VECTORS = 4 };
#else
typedef __m256 V;
#define EACH(x) _mm256_set1_ps(x)
#define FMA(a, b, c) _mm256_fmadd_ps(a, b, c)
enum { WIDE = 3, POINTS = 6, VECTORS = 2 };
#endif
#include "conv_sums.inc"

TsrConvKernels SIMD(tsr_conv_kernels)(void);
TsrConvKernels SIMD(tsr_conv_kernels)(void) {
    return (TsrConvKernels){by_positions, by_filters, VECTORS * LANES, turn, LANES};
}
