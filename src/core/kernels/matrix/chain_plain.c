/* chain_plain.c: the chains of chain.h for processors without a fused multiplication and addition, which the C library
 * does one by one.
 *
 * The product of two floats is exact as a double, and the sum with a third is rounded to a double and then to a float.
 * The float is another than that of one rounding only where the double lies halfway between two floats (S. Boldo and
 * G. Melquiond, "Emulation of a FMA and correctly rounded sums: proved algorithms using rounding to odd", 2008), or
 * where the float has fewer digits than a float mostly has. Tiles where a sum came to lie halfway are done again by the
 * C library; that no sum has fewer digits follows from the smallest elements, else all is the library's. */
#include <float.h>
#include <math.h>
#include <string.h>

#include "chain.h"
#include "core/loop.h"

/* A tile whose sums stay in registers. 300 by 300, in WebAssembly under node 20 (AMD EPYC), least of 40: 17 ms by tiles
 * of 4 by 2, 28 of 4 by 3, 42 of 4 by 4, 220 by the C library. */
enum { ROWS = 4, COLS = 2 };

/* The part of a double's bits that a float has no room for, and its value halfway. */
#define BEYOND UINT64_C(0x1fffffff)
#define HALFWAY UINT64_C(0x10000000)

/* The smallest magnitude of an element that is not zero. */
static double smallest(const float *data, int64_t rows, int64_t cols, int64_t rs, int64_t cs) {
    float least = INFINITY;
    for (int64_t i = 0; i < rows; i++)
        for (int64_t j = 0; j < cols; j++) {
            float size = fabsf(data[i * rs + j * cs]);
            if (size < least && size != 0) least = size;
        }
    return (double)least;
}

/* Whether all products are multiples of the smallest float: sums below FLT_MIN are then floats as they are. */
static bool keeps_digits(const TsrChain *g) {
    const double ulp = (double)FLT_EPSILON;
    double a = smallest(g->a, g->m, g->k, g->a_rs, g->a_cs), b = smallest(g->b, g->k, g->n, g->b_rs, g->b_cs);
    return a * ulp * b * ulp >= (double)FLT_TRUE_MIN * 4;
}

static void tile_by_library(const TsrChain *g, const float *a, const float *b, float *c, int rows, int cols) {
    for (int r = 0; r < rows; r++)
        for (int v = 0; v < cols; v++) {
            float sum = c[r * g->c_rs + v];
            for (int64_t p = 0; p < g->k; p++)
                sum = fmaf(a[r * g->a_rs + p * g->a_cs], b[p * g->b_rs + v * g->b_cs], sum);
            c[r * g->c_rs + v] = sum;
        }
}

/* False, and c as it was, where a sum lay halfway. */
static inline __attribute__((always_inline)) bool tile(const TsrChain *g, const float *a, const float *b, float *c,
                                                       int rows, int cols) {
    float s[ROWS][COLS]; /* as doubles gcc 12 leaves a rounding out, at -O3 */
    double y[COLS];
    bool doubt = false;
    for (int r = 0; r < rows; r++)
        for (int v = 0; v < cols; v++) s[r][v] = c[r * g->c_rs + v];
    for (int64_t p = 0; p < g->k; p++) {
        for (int v = 0; v < cols; v++) y[v] = (double)b[p * g->b_rs + v * g->b_cs];
        for (int r = 0; r < rows; r++) {
            double x = (double)a[r * g->a_rs + p * g->a_cs];
            for (int v = 0; v < cols; v++) {
                double sum = x * y[v] + (double)s[r][v];
                uint64_t bits;
                memcpy(&bits, &sum, sizeof bits);
                doubt |= (bits & BEYOND) == HALFWAY;
                s[r][v] = (float)sum;
            }
        }
    }
    for (int r = 0; r < rows && !doubt; r++)
        for (int v = 0; v < cols; v++) c[r * g->c_rs + v] = s[r][v];
    return !doubt;
}

void tsr_chain_plain(const TsrChain *g) {
    bool exact = keeps_digits(g);
    for (int64_t j = 0; j < g->n; j += COLS)
        for (int64_t i = 0; i < g->m && tsr_interrupt_flag == 0; i += ROWS) {
            int rows = (int)TSR_MIN(g->m - i, (int64_t)ROWS), cols = (int)TSR_MIN(g->n - j, (int64_t)COLS);
            const float *a = g->a + i * g->a_rs, *b = g->b + j * g->b_cs;
            float *c = g->c + i * g->c_rs + j;
            bool done =
                exact && (rows == ROWS && cols == COLS ? tile(g, a, b, c, ROWS, COLS) : tile(g, a, b, c, rows, cols));
            if (!done) tile_by_library(g, a, b, c, rows, cols);
        }
}
