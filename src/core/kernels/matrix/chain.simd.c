/* chain.simd.c: products of small and thin matrices (chain.h) for one instruction set: the tiles of
 * chain_tiles.inc without the packing that usually goes before them. */
#include <string.h>

#include "chain.h"
#include "core/kernels/simd.h"

#include "chain_tiles.inc"
#include "four_terms.inc"

/* One by one, and so (one thread, Zen 5): x @ w.t() of 64 by 100 and 1000 by 100 81 and 59 us, of 16 by 256 and 256 by
 * 256 40 and 13. */
enum { TURNED = LANES };
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

#include "chain_panels.inc"

TsrChainFn SIMD(tsr_chain_kernel)(void);
TsrChainFn SIMD(tsr_chain_kernel)(void) { return by_panels; }
