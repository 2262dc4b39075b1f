/* gemm_few.c: products of a few rows with a large matrix of floats, over the threads: its columns are shared out in
 * blocks (kernels/matrix/few.h). */
#include "gemm_few.h"

#include "core/kernels/matrix/few.h"
#include "core/parallel.h"

/* Elements of b from which on this pays. One thread on Zen 5, by OpenBLAS 0.3.21 and so: m by 768 with 768 by 3072,
 * columns neighbours, m of 2 466 and 122 us, of 4 489 and 206, of 8 568 and 362; with 768 by 768 m of 2 31 and 34, of 8
 * 134 and 92; with 512 by 512 10 and 14, 18 and 40. Terms neighbours: 3072 by 768 477 and 151, 492 and 169, 588 and
 * 308; m of 4 with 256 by 256 34 and 4.8 us, with 1000 by 100 30 and 7.6. */
enum { TURNED_LEAST = 1 << 12, ROWS_LEAST = 1 << 19, TURNED_COLS = 64 };

static bool large_enough(TsrMat b) {
    double elements = (double)b.rows * (double)b.cols;
    return elements >= (b.cs != 1 ? TURNED_LEAST : ROWS_LEAST);
}

bool tsr_gemm_is_few(const TsrGemm *g) {
    TsrMat b = g->b;
    double beta = tsr_scalar_to_double(g->beta);
    if (g->dtype != TSR_FLOAT32 || g->c.rows < 2 || g->c.rows > TSR_FEW_ROWS || g->c.cs != 1) return false;
    if ((b.rs != 1 && b.cs != 1) || !large_enough(b)) return false;
    if (tsr_scalar_to_double(g->alpha) != 1 || (beta != 0 && beta != 1)) return false;
    return tsr_few_kernel() != NULL;
}

typedef struct FewJob {
    TsrChain chain;
    int64_t block;
} FewJob;

static void run_blocks(int64_t begin, int64_t end, void *user) {
    const FewJob *j = user;
    for (int64_t i = begin; i < end; i++)
        tsr_few_kernel()(&j->chain, i * j->block, TSR_MIN((i + 1) * j->block, j->chain.n));
}

TsrStatus tsr_gemm_few(const TsrGemm *g) {
    TsrMat a = g->a, b = g->b, c = g->c;
    FewJob job = {{c.rows, c.cols, a.cols, a.data, b.data, c.data, a.rs, a.cs, b.rs, b.cs, c.rs,
                   tsr_scalar_to_double(g->beta) == 0 ? TSR_CHAIN_NEW : TSR_CHAIN_ADDED},
                  b.cs == 1 ? TSR_FEW_COLS : TURNED_COLS};
    double products = (double)c.rows * (double)a.cols * (double)job.block;
    TSR_TRY(tsr_parallel_for((c.cols + job.block - 1) / job.block,
                             TSR_MAX((int64_t)(TSR_CHUNK_PRODUCTS / products), (int64_t)1), run_blocks, &job));
    return tsr_interrupt_check();
}
