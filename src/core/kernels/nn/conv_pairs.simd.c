/* conv_pairs.simd.c: sums of shifted images (conv.h) of pairs of bfloat16, by AVX512-BF16. */
#include <string.h>

#include "conv.h"
#include "core/kernels/simd.h"

/* A word is a pair of numbers that are multiplied by those of another and added up. */
typedef __m512 V;
#define EACH(x) _mm512_set1_ps(x)
#define FMA(a, b, c) _mm512_dpbf16_ps(c, (__m512bh)(a), (__m512bh)(b))
enum { WIDE = 6, POINTS = 7, VECTORS = 4 };
#include "conv_sums.inc"

TsrConvKernels tsr_conv_pair_kernels_avx512(void);
TsrConvKernels tsr_conv_pair_kernels_avx512(void) {
    return (TsrConvKernels){by_positions, by_filters, VECTORS * LANES, turn, LANES};
}
