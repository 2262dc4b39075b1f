/* complex_block.simd.c: a block of a product of complex64 matrices (complex_block.h) for one instruction set. */
#include "complex_block.h"

#include <string.h>

#include "core/kernels/simd.h"

#if defined(TSR_SIMD_AVX512)
typedef __m512 V;
#define EACH(x) _mm512_set1_ps(x)
#define FMA(a, b, c) _mm512_fmadd_ps(a, b, c)
#define SWAPPED(v) _mm512_permute_ps(v, 0xB1)
#else
typedef __m256 V;
#define EACH(x) _mm256_set1_ps(x)
#define FMA(a, b, c) _mm256_fmadd_ps(a, b, c)
#define SWAPPED(v) _mm256_permute_ps(v, 0xB1)
#endif
enum { NUMBERS = sizeof(V) / sizeof(TsrComplexFloat), VECTORS = TSR_BLOCK_COLUMNS / NUMBERS };
#define INLINE static inline __attribute__((always_inline))

/* A pair of parts, over and over. */
INLINE V pairs(const float *parts) {
    V v;
    for (int i = 0; i < NUMBERS; i++) memcpy((char *)&v + i * 8, parts, 8);
    return v;
}

/* The last `vectors` vectors of each line. */
INLINE void some_lines(const TsrComplexBlock *g, int lines, int vectors) {
    V by_re[TSR_BLOCK_LINES][VECTORS], by_im[TSR_BLOCK_LINES][VECTORS], y[VECTORS];
    const int first = (VECTORS - vectors) * NUMBERS;
    for (int r = 0; r < lines; r++)
        for (int v = 0; v < vectors; v++) by_re[r][v] = by_im[r][v] = EACH(0);
    for (int64_t p = 0; p < g->k; p++) {
        for (int v = 0; v < vectors; v++) memcpy(&y[v], g->b + p * g->b_row + first + v * NUMBERS, sizeof(V));
        for (int r = 0; r < lines; r++) {
            const float *a = (const float *)(g->a + r * g->a_row + p * g->a_step);
            const V re = EACH(a[0]), im = EACH(a[1]);
            for (int v = 0; v < vectors; v++) by_re[r][v] = FMA(re, y[v], by_re[r][v]);
            for (int v = 0; v < vectors; v++) by_im[r][v] = FMA(im, y[v], by_im[r][v]);
        }
    }
    const V real = pairs(g->signs[0]), imaginary = pairs(g->signs[1]);
    for (int r = 0; r < lines; r++)
        for (int v = 0; v < vectors; v++) {
            V sum = FMA(by_re[r][v], real, SWAPPED(by_im[r][v]) * imaginary) + EACH(g->zero);
            memcpy(g->c + r * g->c_row + first + v * NUMBERS, &sum, sizeof sum);
        }
}

INLINE void vectors_of(const TsrComplexBlock *g, int lines, int vectors) {
    switch (lines) {
    case 1: some_lines(g, 1, vectors); break;
    case 2: some_lines(g, 2, vectors); break;
    default: some_lines(g, TSR_BLOCK_LINES, vectors);
    }
}

static void block(const TsrComplexBlock *g, int lines, int columns) {
    if (columns <= NUMBERS) vectors_of(g, lines, 1);
    else vectors_of(g, lines, VECTORS);
}

TsrComplexBlockFn SIMD(tsr_complex_block_kernel)(void);
TsrComplexBlockFn SIMD(tsr_complex_block_kernel)(void) { return block; }
