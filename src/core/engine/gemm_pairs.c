/* gemm_pairs.c: products of bfloat16 by pairs of terms (kernels/matrix/pairs.h), over the threads: both sides are
 * packed first, but for few rows, then blocks of c are shared out: each element is summed in the same order by any
 * number of threads. */
#include "gemm_pairs.h"

#include "core/kernels/matrix/pairs.h"
#include "core/parallel.h"

/* Multiplications from which on pairs pay: 64 by 64 by 64 took 4.3 us by floats and 2.5 so, 32 by 32 by 32 1.5 and 0.9
 * (one thread, Zen 5). */
enum { LEAST = 1 << 15 };
/* Panels of rows and of columns to a block of c: 240 by 128. */
enum { BLOCK_ROWS = 20, BLOCK_COLS = 4 };

bool tsr_gemm_by_pairs(const TsrGemm *g) {
    double beta = tsr_scalar_to_double(g->beta), products = (double)g->c.rows * (double)g->c.cols * (double)g->a.cols;
    if (g->dtype != TSR_BFLOAT16 || products < LEAST) return false;
    if (tsr_scalar_to_double(g->alpha) != 1 || (beta != 0 && beta != 1)) return false;
    return tsr_pair_kernel() != NULL;
}

/* Rows up to which a turned weight is multiplied as it lies, without packing, in blocks of so many columns. One thread
 * on Zen 5, packed and so, m by 768 with a weight of 3072 by 768: m of 1 (by the kernel of thin products) 72 and 48 us,
 * of 2 252 and 51, of 16 333 and 185, of 64 1217 and 784; with one of 4096 by 4096 m of 1 1394 and 875 us, of 4 5717
 * and 1001, of 64 10.8 and 6.2 ms; with one of 1000 by 1000 m of 64 361 and 375 us. */
enum { DOTS_ROWS = 64, DOTS_COLS = 64 };

static bool by_dots(const TsrGemm *g) { return g->c.rows <= DOTS_ROWS && g->a.cs == 1 && g->b.rs == 1; }

/* Rows up to which a weight whose columns are neighbours is multiplied as it lies. One thread on Zen 5, packed and so,
 * m by 768 with 768 by 3072: m of 1 165 and 57 us, of 2 161 and 66, of 4 163 and 84, of 8 185 and 168, of 16 283 and
 * 332; m of 1 by 4096 with 4096 by 4096 2.87 and 0.78 ms. */
enum { STRIPE_ROWS = 8 };

static bool by_stripes(const TsrGemm *g) { return g->c.rows <= STRIPE_ROWS && g->b.cs == 1; }

typedef struct Packing {
    TsrPairSide side;
    uint32_t *to;
    int64_t width;
} Packing;

static void pack_panels(int64_t begin, int64_t end, void *user) {
    const Packing *p = user;
    tsr_pair_kernel()->pack(p->to, &p->side, p->width, begin, end);
}

static int64_t panels(const Packing *p) { return (p->side.lines + p->width - 1) / p->width; }

/* Pairs of the side in panels. */
static TsrStatus packed_words(const Packing *p, int64_t *words) {
    if (tsr_mul_overflows(panels(p) * p->width, (p->side.k + 1) / 2, words)) return tsr_error_no_memory(SIZE_MAX);
    return TSR_OK;
}

static TsrStatus pack_side(Packing *p, uint32_t *to) {
    p->to = to;
    return tsr_parallel_for(panels(p), tsr_grain(p->width * p->side.k / 2), pack_panels, p);
}

static Packing left_of(const TsrGemm *g) {
    return (Packing){{g->a.data, g->a.rows, g->a.cols, g->a.rs, g->a.cs}, NULL, TSR_PAIR_ROWS};
}
static Packing right_of(const TsrGemm *g) {
    return (Packing){{g->b.data, g->b.cols, g->b.rows, g->b.cs, g->b.rs}, NULL, TSR_PAIR_COLS};
}

/* A cache line, where the right side's panels begin: a vector of them lies in one. */
enum { LINE = 64 };

TsrStatus tsr_gemm_pairs_room(const TsrGemm *g, size_t *bytes) {
    Packing a = left_of(g), b = right_of(g);
    int64_t left, right;
    *bytes = 0;
    if (by_dots(g) || by_stripes(g)) return TSR_OK;
    TSR_TRY(packed_words(&a, &left));
    TSR_TRY(packed_words(&b, &right));
    if (tsr_add_overflows(left, right, &right) || tsr_add_overflows(right, LINE / 4, &right) ||
        tsr_mul_size_overflows((size_t)right, 4, bytes))
        return tsr_error_no_memory(SIZE_MAX);
    return TSR_OK;
}

typedef struct Product {
    Packing a, b;
    float *c;
    int64_t c_rs;
    bool add;
} Product;

/* Panels [row, row + BLOCK_ROWS) by [col, col + BLOCK_COLS) of c. */
static void one_block(const Product *j, int64_t row, int64_t col) {
    const TsrPairKernel *kernel = tsr_pair_kernel();
    int64_t pairs = (j->a.side.k + 1) / 2, last_row = TSR_MIN(row + BLOCK_ROWS, panels(&j->a)),
            last_col = TSR_MIN(col + BLOCK_COLS, panels(&j->b));
    for (int64_t p = 0; p < pairs && tsr_interrupt_flag == 0; p += TSR_PAIR_DEPTH)
        for (int64_t r = row; r < last_row; r++)
            for (int64_t c = col; c < last_col; c++) {
                int64_t i = r * TSR_PAIR_ROWS, k = c * TSR_PAIR_COLS;
                kernel->tile(j->c + i * j->c_rs + k, j->c_rs, j->a.to + i * pairs + p * TSR_PAIR_ROWS,
                             j->b.to + k * pairs + p * TSR_PAIR_COLS, TSR_MIN(pairs - p, (int64_t)TSR_PAIR_DEPTH),
                             (int)TSR_MIN(j->a.side.lines - i, (int64_t)TSR_PAIR_ROWS),
                             (int)TSR_MIN(j->b.side.lines - k, (int64_t)TSR_PAIR_COLS), p > 0 || j->add);
            }
}

static void run_blocks(int64_t begin, int64_t end, void *user) {
    const Product *j = user;
    int64_t blocks = (panels(&j->b) + BLOCK_COLS - 1) / BLOCK_COLS;
    for (int64_t i = begin; i < end; i++) one_block(j, i / blocks * BLOCK_ROWS, i % blocks * BLOCK_COLS);
}

static void run_dots(int64_t begin, int64_t end, void *user) {
    const Product *j = user;
    tsr_pair_kernel()->dots(j->c, j->c_rs, &j->a.side, &j->b.side, begin * DOTS_COLS,
                            TSR_MIN(end * DOTS_COLS, j->b.side.lines), j->add);
}

static TsrStatus multiply_by_dots(Product *j) {
    int64_t blocks = (j->b.side.lines + DOTS_COLS - 1) / DOTS_COLS;
    int64_t grain = TSR_MAX(4 * TSR_CHUNK_PRODUCTS / (j->a.side.lines * j->a.side.k * DOTS_COLS), (int64_t)1);
    TSR_TRY(tsr_parallel_for(blocks, grain, run_dots, j));
    return tsr_interrupt_check();
}

static void run_stripes(int64_t begin, int64_t end, void *user) {
    const Product *j = user;
    for (int64_t i = begin * TSR_PAIR_STRIPE; i < TSR_MIN(end * TSR_PAIR_STRIPE, j->b.side.lines); i += TSR_PAIR_STRIPE)
        tsr_pair_kernel()->stripe(j->c, j->c_rs, &j->a.side, &j->b.side, i,
                                  TSR_MIN(j->b.side.lines - i, (int64_t)TSR_PAIR_STRIPE), j->add);
}

static TsrStatus multiply_by_stripes(Product *j) {
    TSR_TRY(tsr_parallel_for((j->b.side.lines + TSR_PAIR_STRIPE - 1) / TSR_PAIR_STRIPE, 1, run_stripes, j));
    return tsr_interrupt_check();
}

TsrStatus tsr_gemm_pairs(const TsrGemm *g, TsrMat c, void *room) {
    Product job = {left_of(g), right_of(g), c.data, c.rs, tsr_scalar_to_double(g->beta) != 0};
    uint32_t *right = (uint32_t *)(void *)(((uintptr_t)room + LINE - 1) / LINE * LINE);
    int64_t words;
    if (by_dots(g)) return multiply_by_dots(&job);
    if (by_stripes(g)) return multiply_by_stripes(&job);
    TSR_TRY(packed_words(&job.b, &words));
    TSR_TRY(pack_side(&job.b, right));
    TSR_TRY(pack_side(&job.a, right + words));
    int64_t blocks = (panels(&job.a) + BLOCK_ROWS - 1) / BLOCK_ROWS * ((panels(&job.b) + BLOCK_COLS - 1) / BLOCK_COLS);
    TSR_TRY(tsr_parallel_for(blocks, 1, run_blocks, &job));
    return tsr_interrupt_check();
}
