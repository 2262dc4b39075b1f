/* double_chain.simd.c: products of float64 matrices (chain.h) for one instruction set: by blocks of rows and terms that
 * stay in the second cache, each by panels as of floats. */
#include <string.h>

#include "chain.h"
#include "core/kernels/simd.h"
#include "core/kernels/turn.inc"

#define TILES_OF_DOUBLES
#include "chain_tiles.inc"

enum { TURNED = sizeof(TurnedDoubles) / sizeof(double) };
static void pack_turned(double *to, const TsrDoubleChain *g, const double *from) {
    int64_t p = 0;
    for (; p + TURNED <= g->k; p += TURNED) {
        TurnedDoubles term[TURNED];
        turn_doubles(term, (const char *)(from + p), g->b_cs * (int64_t)sizeof *from);
        for (int t = 0; t < (int)TURNED; t++) memcpy(to + (p + t) * WIDTH, &term[t], sizeof term[t]);
    }
    for (; p < g->k; p++)
        for (int c = 0; c < (int)TURNED; c++) to[p * WIDTH + c] = from[c * g->b_cs + p];
}

#include "chain_panels.inc"

/* Rows of a, of which as many terms as a panel has stay in the second cache. */
enum { BLOCK = 128 / ROWS * ROWS };

static void chain(const TsrDoubleChain *g) {
    for (int64_t p = 0; p < g->k; p += TSR_CHAIN_DEPTH)
        for (int64_t i = 0; i < g->m && tsr_interrupt_flag == 0; i += BLOCK) {
            TsrDoubleChain part = *g;
            part.m = TSR_MIN(g->m - i, (int64_t)BLOCK);
            part.k = TSR_MIN(g->k - p, (int64_t)TSR_CHAIN_DEPTH);
            part.a += i * g->a_rs + p * g->a_cs;
            part.b += p * g->b_rs;
            part.c += i * g->c_rs;
            if (p > 0) part.begin = TSR_CHAIN_ONTO;
            by_panels(&part);
        }
}

TsrDoubleChainFn SIMD(tsr_double_chain_kernel)(void);
TsrDoubleChainFn SIMD(tsr_double_chain_kernel)(void) { return chain; }
