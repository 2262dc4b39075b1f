/* few.simd.c: products of a few rows with a large matrix (few.h) for one instruction set. Where the terms of a column
 * are neighbours, LANES columns at a time are turned in registers; where columns are, some rows at a time go by, and
 * the sums of a stripe of columns stay in the first cache. */
#include "few.h"

#include <string.h>

#include "core/kernels/simd.h"

#include "chain_tiles.inc"
#include "four_terms.inc"

/* Terms of chain number `depth` long from p on. */
INLINE int64_t terms_from(const TsrChain *g, int64_t p, int64_t depth) { return TSR_MIN(g->k - p, depth); }
INLINE int64_t depth_of(const TsrChain *g) { return g->k <= TSR_CHAIN_DEPTH ? TSR_CHAIN_DEPTH : TSR_FEW_DEPTH; }

/* ---- terms are neighbours ---- */

INLINE void store_sums(float *c, V sum, int64_t columns, bool add) {
    float part[LANES];
    if (columns < (int64_t)LANES) {
        if (add) memcpy(part, c, (size_t)columns * sizeof *c), sum += load(part);
        memcpy(part, &sum, sizeof part);
        memcpy(c, part, (size_t)columns * sizeof *c);
        return;
    }
    if (add) sum += load(c);
    memcpy(c, &sum, sizeof sum);
}

/* `rows` rows by LANES columns, of which so many are there, from column j on: terms [p, last). */
INLINE void turned_chain(const TsrChain *g, const float *const *column, int64_t j, int64_t columns, int64_t p,
                         int64_t last, int rows, bool add) {
    V s[TSR_FEW_ROWS];
    for (int r = 0; r < rows; r++) s[r] = EACH(0);
    for (; p + 4 <= last; p += 4) {
        V term[4];
        four_terms(term, column, p);
        for (int t = 0; t < 4; t++)
            for (int r = 0; r < rows; r++) s[r] = FMA(EACH(g->a[r * g->a_rs + (p + t) * g->a_cs]), term[t], s[r]);
    }
    for (; p < last; p++) {
        const V term = one_term(column, p);
        for (int r = 0; r < rows; r++) s[r] = FMA(EACH(g->a[r * g->a_rs + p * g->a_cs]), term, s[r]);
    }
    for (int r = 0; r < rows; r++) store_sums(g->c + r * g->c_rs + j, s[r], columns, add);
}

INLINE void turned_columns(const TsrChain *g, int64_t begin, int64_t end, int rows) {
    const int64_t depth = depth_of(g);
    for (int64_t j = begin; j < end && tsr_interrupt_flag == 0; j += LANES) {
        const int64_t columns = TSR_MIN(end - j, (int64_t)LANES);
        const float *column[LANES]; /* those that are not there repeat the last one */
        for (int64_t c = 0; c < (int64_t)LANES; c++) column[c] = g->b + (j + TSR_MIN(c, columns - 1)) * g->b_cs;
        for (int64_t p = 0; p < g->k; p += depth)
            turned_chain(g, column, j, columns, p, p + terms_from(g, p, depth), rows,
                         p > 0 || g->begin == TSR_CHAIN_ADDED);
    }
}

/* ---- columns are neighbours ---- */

/* Rows of a, and terms, at a time. */
enum { SIDE = 4, STEP = 4 };

/* Adds what terms [p, p + terms) of `rows` rows give to the sums; the next terms are asked for if `ask`. */
INLINE void add_terms(float (*sums)[TSR_FEW_COLS], const TsrChain *g, const float *a, int64_t column, int64_t columns,
                      int64_t p, int terms, int rows, bool ask) {
    V each[STEP][SIDE];
    const float *b = g->b + p * g->b_rs + column;
    for (int t = 0; t < terms; t++)
        for (int r = 0; r < rows; r++) each[t][r] = EACH(a[r * g->a_rs + (p + t) * g->a_cs]);
    for (int64_t j = 0; j < columns; j += LANES) {
        V s[SIDE], y;
        for (int r = 0; r < rows; r++) s[r] = load(sums[r] + j);
        for (int t = 0; t < terms; t++) {
            const float *from = b + t * g->b_rs + j;
            if (columns - j >= (int64_t)LANES) y = load(from);
            else y = EACH(0), memcpy(&y, from, (size_t)(columns - j) * sizeof *from);
            if (ask) __builtin_prefetch(from + STEP * g->b_rs);
            for (int r = 0; r < rows; r++) s[r] = FMA(each[t][r], y, s[r]);
        }
        for (int r = 0; r < rows; r++) memcpy(sums[r] + j, &s[r], sizeof s[r]);
    }
}

INLINE void stripe_rows(const TsrChain *g, int64_t i, int64_t column, int64_t columns, int64_t p, int64_t last,
                        int rows) {
    float sums[SIDE][TSR_FEW_COLS] = {{0}};
    const float *a = g->a + i * g->a_rs;
    bool add = p > 0 || g->begin == TSR_CHAIN_ADDED;
    for (; p + STEP <= last; p += STEP) add_terms(sums, g, a, column, columns, p, STEP, rows, i == 0);
    for (; p < last; p++) add_terms(sums, g, a, column, columns, p, 1, rows, false);
    for (int r = 0; r < rows; r++) {
        float *to = g->c + (i + r) * g->c_rs + column;
        for (int64_t j = 0; j < columns; j++) to[j] = add ? to[j] + sums[r][j] : sums[r][j];
    }
}

static void stripe(const TsrChain *g, int64_t column, int64_t columns) {
    const int64_t depth = depth_of(g);
    for (int64_t p = 0; p < g->k && tsr_interrupt_flag == 0; p += depth)
        for (int64_t i = 0; i < g->m; i += SIDE) {
            const int64_t last = p + terms_from(g, p, depth);
            switch (TSR_MIN(g->m - i, (int64_t)SIDE)) {
            case 1: stripe_rows(g, i, column, columns, p, last, 1); break;
            case 2: stripe_rows(g, i, column, columns, p, last, 2); break;
            case 3: stripe_rows(g, i, column, columns, p, last, 3); break;
            default: stripe_rows(g, i, column, columns, p, last, SIDE);
            }
        }
}

static void few(const TsrChain *g, int64_t begin, int64_t end) {
    if (g->b_cs == 1) {
        stripe(g, begin, end - begin);
        return;
    }
    switch (g->m) {
    case 1: turned_columns(g, begin, end, 1); break;
    case 2: turned_columns(g, begin, end, 2); break;
    case 3: turned_columns(g, begin, end, 3); break;
    case 4: turned_columns(g, begin, end, 4); break;
    case 5: turned_columns(g, begin, end, 5); break;
    case 6: turned_columns(g, begin, end, 6); break;
    case 7: turned_columns(g, begin, end, 7); break;
    default: turned_columns(g, begin, end, TSR_FEW_ROWS);
    }
}

TsrFewFn SIMD(tsr_few_kernel)(void);
TsrFewFn SIMD(tsr_few_kernel)(void) { return few; }
