/* chain.simd.c: products of small and thin matrices (chain.h) for one instruction set: the inner kernel of K. Goto and
 * R. van de Geijn ("Anatomy of high-performance matrix multiplication", 2008, section 4), a tile of ROWS by VECTORS
 * vectors whose sums stay in registers while the terms go by, without the packing of theirs. Only what would make loads
 * miss is packed: columns of b that are no neighbours, that lie a page or more apart, or that do not fill a tile. */
#include <string.h>

#include "chain.h"
#include "core/kernels/simd.h"

/* The most that fit the 32 or 16 vector registers beside a row of b and an element of a. */
#if defined(TSR_SIMD_AVX512)
typedef __m512 V;
#define EACH(x) _mm512_set1_ps(x)
#define FMA(a, b, c) _mm512_fmadd_ps(a, b, c)
enum { ROWS = 6, VECTORS = 4 };
#else
typedef __m256 V;
#define EACH(x) _mm256_set1_ps(x)
#define FMA(a, b, c) _mm256_fmadd_ps(a, b, c)
enum { ROWS = 6, VECTORS = 2 };
#endif
enum { LANES = sizeof(V) / sizeof(float), WIDTH = VECTORS * LANES };

#define INLINE static inline __attribute__((always_inline))

INLINE V load(const float *p) {
    V v;
    memcpy(&v, p, sizeof v);
    return v;
}

/* `rows` rows of c by `vectors` vectors; b's rows are dense. */
INLINE void tile(const TsrChain *g, float *c, int64_t c_rs, const float *a, const float *b, int64_t b_rs, int rows,
                 int vectors) {
    V s[ROWS][VECTORS], y[VECTORS];
    const float *x[ROWS];
    for (int r = 0; r < rows; r++) {
        x[r] = a + r * g->a_rs;
        for (int v = 0; v < vectors; v++)
            s[r][v] = g->begin == TSR_CHAIN_ONTO ? load(c + r * c_rs + v * LANES) : EACH(0);
    }
    for (int64_t p = 0; p < g->k; p++, b += b_rs) {
        for (int v = 0; v < vectors; v++) y[v] = load(b + v * LANES);
        for (int r = 0; r < rows; r++) {
            V each = EACH(x[r][p * g->a_cs]);
            for (int v = 0; v < vectors; v++) s[r][v] = FMA(each, y[v], s[r][v]);
        }
    }
    for (int r = 0; r < rows; r++)
        for (int v = 0; v < vectors; v++) {
            float *to = c + r * c_rs + v * LANES;
            if (g->begin == TSR_CHAIN_ADDED) s[r][v] += load(to);
            memcpy(to, &s[r][v], sizeof(V));
        }
}

/* As many rows as there are, that the sums be registers. */
INLINE void some_rows(const TsrChain *g, float *c, int64_t c_rs, const float *a, const float *b, int64_t b_rs,
                      int64_t rows, int vectors) {
    switch (rows) {
    case 1: tile(g, c, c_rs, a, b, b_rs, 1, vectors); break;
    case 2: tile(g, c, c_rs, a, b, b_rs, 2, vectors); break;
    case 3: tile(g, c, c_rs, a, b, b_rs, 3, vectors); break;
    case 4: tile(g, c, c_rs, a, b, b_rs, 4, vectors); break;
    case 5: tile(g, c, c_rs, a, b, b_rs, 5, vectors); break;
    default: tile(g, c, c_rs, a, b, b_rs, ROWS, vectors);
    }
}

/* All rows by `width` columns from column j on; those past the last are made in a tile of their own. */
INLINE void panel(const TsrChain *g, int64_t j, const float *b, int64_t b_rs, int64_t width, int vectors) {
    float part[ROWS * WIDTH];
    for (int64_t i = 0; i < g->m; i += ROWS) {
        int64_t rows = TSR_MIN(g->m - i, (int64_t)ROWS);
        const float *a = g->a + i * g->a_rs;
        float *c = g->c + i * g->c_rs + j;
        if (width == vectors * LANES) {
            some_rows(g, c, g->c_rs, a, b, b_rs, rows, vectors);
            continue;
        }
        for (int64_t r = 0; r < rows && g->begin != TSR_CHAIN_NEW; r++)
            memcpy(part + r * WIDTH, c + r * g->c_rs, (size_t)width * 4);
        some_rows(g, part, WIDTH, a, b, b_rs, rows, vectors);
        for (int64_t r = 0; r < rows; r++) memcpy(c + r * g->c_rs, part + r * WIDTH, (size_t)width * 4);
    }
}

/* Columns j to j + width - 1 of b, followed by zeros. */
static void pack(float *to, const TsrChain *g, int64_t j, int64_t width) {
    const float *from = g->b + j * g->b_cs;
    if (width < WIDTH) memset(to, 0, (size_t)(g->k * WIDTH) * sizeof *to);
    if (g->b_cs == 1)
        for (int64_t p = 0; p < g->k; p++) memcpy(to + p * WIDTH, from + p * g->b_rs, (size_t)width * sizeof *to);
    else
        for (int64_t c = 0; c < width; c++)
            for (int64_t p = 0; p < g->k; p++) to[p * WIDTH + c] = from[c * g->b_cs + p * g->b_rs];
}

static void chain(const TsrChain *g) {
    enum { PAGE = 1024, FEW = 2 * ROWS }; /* floats of a page; rows for which b is not copied without need */
    float packed[TSR_CHAIN_DEPTH * WIDTH];
    bool in_place = g->b_cs == 1 && (g->m <= FEW || g->b_rs < PAGE);
    for (int64_t j = 0; j < g->n && tsr_interrupt_flag == 0; j += WIDTH) {
        int64_t width = TSR_MIN(g->n - j, (int64_t)WIDTH), b_rs = WIDTH;
        const float *b = packed;
        if (in_place && width == WIDTH) b = g->b + j, b_rs = g->b_rs;
        else pack(packed, g, j, width);
        switch ((width + LANES - 1) / LANES) {
        case 1: panel(g, j, b, b_rs, width, 1); break;
#if defined(TSR_SIMD_AVX512)
        case 2: panel(g, j, b, b_rs, width, 2); break;
        case 3: panel(g, j, b, b_rs, width, 3); break;
#endif
        default: panel(g, j, b, b_rs, width, VECTORS);
        }
    }
}

TsrChainFn SIMD(tsr_chain_kernel)(void);
TsrChainFn SIMD(tsr_chain_kernel)(void) { return chain; }
