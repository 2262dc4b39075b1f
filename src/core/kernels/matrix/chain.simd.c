/* chain.simd.c: products of small and thin matrices (chain.h) for one instruction set: the tiles of
 * chain_tiles.inc without the packing that usually goes before them. Only what would make loads miss is packed: columns
 * of b that are no neighbours, that lie a page or more apart, or that do not fill vectors. */
#include <string.h>

#include "chain.h"
#include "core/kernels/simd.h"

#include "chain_tiles.inc"
#include "four_terms.inc"

/* LANES columns whose terms are neighbours, in rows of WIDTH. One by one, and so (one thread, Zen 5): x @ w.t() of 64
 * by 100 and 1000 by 100 81 and 59 us, of 16 by 256 and 256 by 256 40 and 13. */
static void pack_turned(float *to, const TsrChain *g, const float *from) {
    const float *column[LANES];
    int64_t p = 0;
    for (int c = 0; c < (int)LANES; c++) column[c] = from + c * g->b_cs;
    for (; p + 4 <= g->k; p += 4) {
        V term[4];
        four_terms(term, column, p);
        for (int t = 0; t < 4; t++) memcpy(to + (p + t) * WIDTH, &term[t], sizeof(V));
    }
    for (; p < g->k; p++) {
        const V term = one_term(column, p);
        memcpy(to + p * WIDTH, &term, sizeof term);
    }
}

/* Columns j to j + width - 1 of b, followed by zeros. */
static void pack(float *to, const TsrChain *g, int64_t j, int64_t width) {
    const float *from = g->b + j * g->b_cs;
    int64_t c = 0;
    if (width < WIDTH) memset(to, 0, (size_t)(g->k * WIDTH) * sizeof *to);
    if (g->b_cs == 1) {
        for (int64_t p = 0; p < g->k; p++) memcpy(to + p * WIDTH, from + p * g->b_rs, (size_t)width * sizeof *to);
        return;
    }
    for (; g->b_rs == 1 && c + (int64_t)LANES <= width; c += LANES) pack_turned(to + c, g, from + c * g->b_cs);
    for (; c < width; c++)
        for (int64_t p = 0; p < g->k; p++) to[p * WIDTH + c] = from[c * g->b_cs + p * g->b_rs];
}

static void chain(const TsrChain *g) {
    enum { PAGE = 1024, FEW = 2 * ROWS }; /* floats of a page; rows for which b is not copied without need */
    float packed[TSR_CHAIN_DEPTH * WIDTH];
    bool in_place = g->b_cs == 1 && (g->m <= FEW || g->b_rs < PAGE);
    for (int64_t j = 0; j < g->n && tsr_interrupt_flag == 0; j += WIDTH) {
        int64_t width = TSR_MIN(g->n - j, (int64_t)WIDTH), b_rs = WIDTH;
        const float *b = packed;
        if (in_place && width % (int64_t)LANES == 0) b = g->b + j, b_rs = g->b_rs;
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
