/* gemm_thin.c: products of a few rows with a large matrix of half floats, over the threads. The left side is packed
 * once; the right one's columns are shared out in blocks (kernels/matrix/thin.h). */
#include "gemm_thin.h"

#include <string.h>

#include "core/kernels/matrix/thin.h"
#include "core/mem.h"
#include "core/parallel.h"

/* Elements of b from which on it is not widened whole. */
enum { LEAST = 1 << 16 };

bool tsr_gemm_is_thin(const TsrGemm *g, TsrDtype right) {
    TsrMat b = g->b;
    double beta = tsr_scalar_to_double(g->beta);
    if (right != TSR_BFLOAT16 && right != TSR_FLOAT16) return false;
    if (g->c.rows > TSR_THIN_ROWS || b.rows * b.cols < LEAST || (b.rs != 1 && b.cs != 1)) return false;
    if (tsr_scalar_to_double(g->alpha) != 1 || (beta != 0 && beta != 1)) return false;
    return tsr_thin_kernel() != NULL;
}

static void pack_left(float *to, TsrMat a) {
    for (int64_t p = 0; p < a.cols; p += TSR_THIN_DEPTH)
        for (int64_t i = 0; i < a.rows; i++) {
            const float *from = (const float *)a.data + i * a.rs + p * a.cs;
            for (int64_t q = 0; q < TSR_MIN(a.cols - p, (int64_t)TSR_THIN_DEPTH); q++) *to++ = from[q * a.cs];
        }
}

static void run_columns(int64_t begin, int64_t end, void *user) {
    const TsrThin *t = user;
    tsr_thin_kernel()(t, begin * TSR_THIN_COLS, TSR_MIN(end * TSR_THIN_COLS, t->n));
}

TsrStatus tsr_gemm_thin(const TsrGemm *g, TsrDtype right) {
    int64_t m = g->c.rows, n = g->c.cols, k = g->a.cols, blocks = (n + TSR_THIN_COLS - 1) / TSR_THIN_COLS;
    size_t bytes;
    if (tsr_mul_size_overflows((size_t)m * sizeof(float), (size_t)k, &bytes)) return tsr_error_no_memory(SIZE_MAX);
    float *left = tsr_malloc(bytes);
    if (left == NULL) return tsr_error_no_memory(bytes);
    pack_left(left, g->a);
    TsrThin job = {.m = m,
                   .n = n,
                   .k = k,
                   .a = left,
                   .b = g->b.data,
                   .bfloat = right == TSR_BFLOAT16,
                   .b_rs = g->b.rs,
                   .b_cs = g->b.cs,
                   .c = g->c.data,
                   .c_rs = g->c.rs,
                   .add = tsr_scalar_to_double(g->beta) != 0};
    int64_t grain = TSR_MAX(TSR_CHUNK_PRODUCTS / (m * TSR_THIN_COLS * k), (int64_t)1);
    TsrStatus s = tsr_parallel_for(blocks, grain, run_columns, &job);
    tsr_free(left);
    return s == TSR_OK ? tsr_interrupt_check() : s;
}
