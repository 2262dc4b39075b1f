/* gemm_pairs.c: products of bfloat16 by pairs of terms (kernels/matrix/pairs.h), over the threads: the left side is
 * packed first and so is the right one, unless the rows are few; then blocks of c are shared out. Each element is
 * summed in the same order by any number of threads. */
#include "gemm_pairs.h"

#include "core/alloc.h"
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

/* Where the rows are one block, no panel of b is used twice: each is packed where it is multiplied, into memory that
 * stays in the second cache, and while it is, the next ones are asked for. GPT-2 in bfloat16 with 16 words took 24.3 ms
 * with b packed as a whole and takes 21.1, m by 768 with 768 by 3072 m of 64 1.04 ms and 0.86 (one thread, Zen 5,
 * busy).
 */
static bool by_stretches(const TsrGemm *g) { return g->c.rows <= BLOCK_ROWS * TSR_PAIR_ROWS; }

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

static TsrStatus pack_side(Packing *p) {
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
    if (by_stretches(g)) right = 0;
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

/* Panel r of a by panel c of b, `depth` pairs from p on: `packed` is those of b. */
static void one_tile(const Product *j, int64_t r, int64_t c, int64_t p, int64_t depth, const uint32_t *packed,
                     const TsrPairAhead *ahead) {
    const int64_t pairs = (j->a.side.k + 1) / 2, row = r * TSR_PAIR_ROWS, col = c * TSR_PAIR_COLS;
    tsr_pair_kernel()->tile(j->c + row * j->c_rs + col, j->c_rs, j->a.to + row * pairs + p * TSR_PAIR_ROWS, packed,
                            depth, (int)TSR_MIN(j->a.side.lines - row, (int64_t)TSR_PAIR_ROWS),
                            (int)TSR_MIN(j->b.side.lines - col, (int64_t)TSR_PAIR_COLS), p > 0 || j->add, ahead);
}

/* Panels [row, row + BLOCK_ROWS) by [col, col + BLOCK_COLS) of c. */
static void one_block(const Product *j, int64_t row, int64_t col) {
    int64_t pairs = (j->a.side.k + 1) / 2, last_row = TSR_MIN(row + BLOCK_ROWS, panels(&j->a)),
            last_col = TSR_MIN(col + BLOCK_COLS, panels(&j->b));
    for (int64_t p = 0; p < pairs && tsr_interrupt_flag == 0; p += TSR_PAIR_DEPTH)
        for (int64_t r = row; r < last_row; r++)
            for (int64_t c = col; c < last_col; c++)
                one_tile(j, r, c, p, TSR_MIN(pairs - p, (int64_t)TSR_PAIR_DEPTH),
                         j->b.to + (c * pairs + p) * TSR_PAIR_COLS, NULL);
}

static void run_blocks(int64_t begin, int64_t end, void *user) {
    const Product *j = user;
    int64_t blocks = (panels(&j->b) + BLOCK_COLS - 1) / BLOCK_COLS;
    for (int64_t i = begin; i < end; i++) one_block(j, i / blocks * BLOCK_ROWS, i % blocks * BLOCK_COLS);
}

static TsrStatus multiply_by_blocks(Product *j) {
    TSR_TRY(pack_side(&j->b));
    TSR_TRY(pack_side(&j->a));
    int64_t blocks = (panels(&j->a) + BLOCK_ROWS - 1) / BLOCK_ROWS * ((panels(&j->b) + BLOCK_COLS - 1) / BLOCK_COLS);
    TSR_TRY(tsr_parallel_for(blocks, 1, run_blocks, j));
    return tsr_interrupt_check();
}

/* Pairs [p, p + depth) of b's lines from `first` on. */
static TsrPairSide part_of(const TsrPairSide *b, int64_t first, int64_t p, int64_t depth) {
    return (TsrPairSide){b->data + 2 * p * b->term + first * b->line, b->lines - first,
                         TSR_MIN(b->k - 2 * p, 2 * depth), b->line, b->term};
}

/* BLOCK_COLS panels of b from `col` on with all rows; the lines of the part that is next are shared out among tiles. */
static void one_stretch(const Product *j, int64_t col, uint32_t *packed) {
    const TsrPairSide *b = &j->b.side;
    const int64_t pairs = (b->k + 1) / 2, first = col * TSR_PAIR_COLS,
                  cols = TSR_MIN(panels(&j->b) - col, (int64_t)BLOCK_COLS);
    for (int64_t p = 0; p < pairs && tsr_interrupt_flag == 0; p += TSR_PAIR_DEPTH) {
        const int64_t depth = TSR_MIN(pairs - p, (int64_t)TSR_PAIR_DEPTH);
        const TsrPairSide part = part_of(b, first, p, depth);
        const uint16_t *next =
            p + depth < pairs ? part.data + 2 * depth * b->term : b->data + (first + cols * TSR_PAIR_COLS) * b->line;
        tsr_pair_kernel()->pack(packed, &part, TSR_PAIR_COLS, 0, cols);
        for (int64_t r = 0; r < panels(&j->a); r++)
            for (int64_t c = 0; c < cols; c++) {
                const TsrPairAhead ahead = {next + r * b->term + c * TSR_PAIR_COLS * b->line, 2 * b->term};
                one_tile(j, r, col + c, p, depth, packed + c * TSR_PAIR_COLS * depth, r < 2 ? &ahead : NULL);
            }
    }
}

static void run_stretches(int64_t begin, int64_t end, void *user) {
    TsrDataPtr packed;
    const size_t bytes = sizeof(uint32_t[BLOCK_COLS * TSR_PAIR_COLS * TSR_PAIR_DEPTH]);
    TsrStatus s = tsr_allocate(&packed, TSR_DEVICE_CPU, bytes);
    if (s != TSR_OK) {
        tsr_parallel_fail(s);
        return;
    }
    for (int64_t i = begin; i < end; i++) one_stretch(user, i * BLOCK_COLS, packed.data);
    tsr_dataptr_release(&packed);
}

static TsrStatus multiply_by_stretches(Product *j) {
    TSR_TRY(pack_side(&j->a));
    TSR_TRY(tsr_parallel_for((panels(&j->b) + BLOCK_COLS - 1) / BLOCK_COLS, 1, run_stretches, j));
    return tsr_interrupt_check();
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
    int64_t words;
    if (by_dots(g)) return multiply_by_dots(&job);
    if (by_stripes(g)) return multiply_by_stripes(&job);
    TSR_TRY(packed_words(&job.b, &words));
    job.b.to = (uint32_t *)(void *)(((uintptr_t)room + LINE - 1) / LINE * LINE);
    job.a.to = job.b.to + (by_stretches(g) ? 0 : words);
    return by_stretches(g) ? multiply_by_stretches(&job) : multiply_by_blocks(&job);
}
