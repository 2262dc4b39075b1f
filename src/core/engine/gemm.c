/* gemm.c: the matrix product on raw matrices (gemm.h).
 *
 * Four ways, chosen by dtype and size. Large products of the types of BLAS are cut into tiles (TileJob) that the pool
 * of threads takes, each one call of BLAS on one thread, in pieces along the inner dimension so that an interrupt is
 * seen between two. Small ones use loops of our own, whose order of additions is that of MKL's small kernels, because
 * PyTorch's digits show it: one product after another (small_f32), in lanes (lanes_dot, vector_dots), or fused
 * (fused_f32); the sizes decide which, as they do there. Integers and what else BLAS has not are gemm.inc's, blocked in
 * registers, by columns over the pool. Half floats are widened to float32, multiplied once and rounded once. What
 * has few rows on the left and much on the right is not packed: gemm_few.c reads floats where they lie, gemm_thin.c
 * widens some halves at a time. */
#include "gemm.h"

#include "blas.h"
#include "gemm_few.h"
#include "gemm_pairs.h"
#include "gemm_thin.h"
#include "core/kernels/matrix/chain.h"
#include "core/kernels/matrix/complex_block.h"
#include "core/kernels/matrix/dots.h"
#include "core/kernels/matrix/thin.h"
#include "core/kernels/simd.h"
#include "core/loop.h"
#include "core/parallel.h"
#include "core/mem.h"

#include <complex.h>
#include <string.h>

/* Columns and rows of the part of the result whose sums gemm.inc's inner loop keeps in registers. */
enum { GEMM_COLS = 16, GEMM_ROWS = 4 };
/* Tiles of a large product: their largest side, how much of the inner dimension is taken at a time, and the
 * multiplications below which none is cut. */
enum { TILE = 1024, TILE_DEPTH = 1536, TILE_LEAST = 1000000 };
/* Up to this many multiplications, in matrices that are narrow somewhere, our own loops are used: the library need not
 * be loaded. a @ b of floats, least of 300 calls in build/tsr by time.perf_counter() (AMD EPYC, Zen 3): (16, 32) by
 * (32, 16), 8192 of them, 1.1 us and 1.6 by OpenBLAS; (64, 64) by (64, 16), 65536, 4.5 and 3.9. */
enum { GEMM_TINY = 8192, GEMM_NARROW = 16 };

/* Float32 products of at most CHAIN_TERMS terms, or of as many as the kernel takes and CHAIN_SMALL multiplications, are
 * done by kernels/matrix/chain.h. One thread on Zen 3 (AMD EPYC), the least time of a @ b by OpenBLAS 0.3.21 and so:
 * (1000, 16) by (16, 1000) 834 and 567 us, (1024, 64) by (64, 1024) 2099 and 1894, 128 by 128 63 and 49, 256 by 256
 * 447 and 434; (1000, 256) by (256, 1000) 6.8 and 7.0 ms. Of float64 results of at most CHAIN_AREA elements are, or of
 * more terms than the kernel has at once tiles of fewer than CHAIN_DOUBLES multiplications, whose digits are PyTorch's,
 * as OpenBLAS's are not. The same, both threads of each core at work: 32 by 32 4.2 and 3.3 us, 64 by 64 16 and 14, 100
 * by 100 56 and 47, 256 by 256 0.95 and 0.97 ms, (1000, 16) by (16, 1000) 1.7 and 2.2, 500 by 500 6.9 and 7.4 (PyTorch
 * 8.3), 512 by 512 7.6 and 9.1, 1000 by 1000 50 and 64. */
enum { CHAIN_TERMS = 128, CHAIN_SMALL = 1 << 24, CHAIN_AREA = 1 << 16, CHAIN_DOUBLES = 1 << 25 };

/* The page is to be small, and there are no vectors in it. */
#ifdef __EMSCRIPTEN__
#define SMALL_CODE
#endif

/* gcc makes vectors of loops at -O3 only, clang at -O2. */
#ifdef __clang__
#define IN_VECTORS
#else
#define IN_VECTORS __attribute__((optimize("O3")))
#endif

/* Unsigned accumulators: wrapping is defined, and equal to two's complement. */
#define T uint8_t
#define ACC uint32_t
#define VECTOR
#define WHOLE
#define NAME(x) u8_##x
#define CONJ(v) (v)
#include "core/kernels/matrix/gemm.inc"
#define T int8_t
#define ACC uint32_t
#define VECTOR
#define WHOLE
#define NAME(x) i8_##x
#define CONJ(v) (v)
#include "core/kernels/matrix/gemm.inc"
#define T int16_t
#define ACC uint32_t
#define VECTOR
#define WHOLE
#define NAME(x) i16_##x
#define CONJ(v) (v)
#include "core/kernels/matrix/gemm.inc"
#define T int32_t
#define ACC uint32_t
#define VECTOR
#define WHOLE
#define NAME(x) i32_##x
#define CONJ(v) (v)
#include "core/kernels/matrix/gemm.inc"
#define T int64_t
#define ACC uint64_t
#define VECTOR
#define WHOLE
#define NAME(x) i64_##x
#define CONJ(v) (v)
#include "core/kernels/matrix/gemm.inc"
/* Small float products are summed one after the other, product and sum rounded each, as MKL's small kernels do: the
 * digits then agree. */
#define T float
#define ACC float
#define PLAIN_ONLY
#define NAME(x) f32_##x
#define CONJ(v) (v)
#include "core/kernels/matrix/gemm.inc"
#define T double
#define ACC double
#define VECTOR
#define NAME(x) f64_##x
#define CONJ(v) (v)
#include "core/kernels/matrix/gemm.inc"
#define T TsrComplexDouble
#define ACC TsrComplexDouble
#define NAME(x) c128_##x
#define CONJ(v) conj(v)
#include "core/kernels/matrix/gemm.inc"

#define T float
#define NAME(x) f32_##x
#include "core/kernels/matrix/short.inc"
#define T double
#define NAME(x) f64_##x
#include "core/kernels/matrix/short.inc"

bool tsr_gemm_supports(TsrDtype d) {
    switch (d) {
    case TSR_UINT8:
    case TSR_INT8:
    case TSR_INT16:
    case TSR_INT32:
    case TSR_INT64:
    case TSR_FLOAT16:
    case TSR_BFLOAT16:
    case TSR_FLOAT32:
    case TSR_FLOAT64:
    case TSR_COMPLEX64:
    case TSR_COMPLEX128: return true;
    default: return false;
    }
}

static double complex scalar_complex(TsrScalar s) {
    return s.kind == TSR_SCALAR_COMPLEX ? CMPLX(s.c.re, s.c.im) : CMPLX(tsr_scalar_to_double(s), 0);
}

/* How MKL's small kernels sum a dot product of consecutive floats: up to an address of 16 bytes one by one, then in
 * lanes, which are folded in halves, then the rest. */
static inline __attribute__((always_inline)) float lanes_dot(const float *x, const float *y, int64_t n, int lanes) {
    typedef float Four __attribute__((vector_size(16), aligned(4)));
    int64_t peel = TSR_MIN(n, (int64_t)(-((uintptr_t)x / sizeof(float)) & 3)), i = 0;
    float sum = 0;
    for (; i < peel; i++) sum += x[i] * y[i];
    Four low = {sum, 0, 0, 0}, high = {0};
    for (; i + lanes <= n; i += lanes) {
        low += *(const Four *)(const void *)(x + i) * *(const Four *)(const void *)(y + i);
        if (lanes == 8) high += *(const Four *)(const void *)(x + i + 4) * *(const Four *)(const void *)(y + i + 4);
    }
    if (lanes == 8) low += high;
    sum = (low[0] + low[2]) + (low[1] + low[3]);
    for (; i < n; i++) sum += x[i] * y[i];
    return sum;
}

/* Four rows times a vector, in the order in which MKL's small kernels add: n % 4 elements first (four if that is none)
 * in one lane, then the rest in four lanes. Side by side, since each addition waits for the one before. */
static void vector_dots(float out[4], const float *x, int64_t rs, const float *y, int64_t n) {
    typedef float Four __attribute__((vector_size(16), aligned(4)));
    Four sum[4] = {0};
    int64_t first = n % 4 != 0 ? n % 4 : TSR_MIN(n, (int64_t)4);
    for (int64_t i = 0; i < first; i++)
        for (int r = 0; r < 4; r++) sum[r][0] += x[r * rs + i] * y[i];
    for (int64_t i = first; i < n; i += 4)
        for (int r = 0; r < 4; r++)
            sum[r] += *(const Four *)(const void *)(x + r * rs + i) * *(const Four *)(const void *)(y + i);
    for (int r = 0; r < 4; r++) out[r] = (sum[r][0] + sum[r][2]) + (sum[r][1] + sum[r][3]);
}

/* The same for the one to three rows after the last group of four. Below 12 elements one after the other; else four
 * elements in one lane, then sixteen lanes, eight lanes, and what is left. */
static float last_rows_dot(const float *x, const float *y, int64_t n) {
    float lane[16] = {0};
    int64_t i = 0, first = n < 12 ? n : 4;
    for (; i < first; i++) lane[0] += x[i] * y[i];
    for (; i + 16 <= n; i += 16)
        for (int l = 0; l < 16; l++) lane[l] += x[i + l] * y[i + l];
    for (int l = 0; l < 8; l++) lane[l] += lane[l + 8];
    for (; i + 8 <= n; i += 8)
        for (int l = 0; l < 8; l++) lane[l] += x[i + l] * y[i + l];
    for (int width = 4; width > 0; width /= 2)
        for (int l = 0; l < width; l++) lane[l] += lane[l + width];
    for (; i < n; i++) lane[0] += x[i] * y[i];
    return lane[0];
}

/* The first elements of row i, before its first address of 16 bytes: of eight products the first four are added one by
 * one, the others together. */
static void peeled_f32(const TsrGemm *g, float alpha, int64_t i, int64_t columns) {
    TsrMat a = g->a, b = g->b;
    const float *x = (const float *)a.data + i * a.rs;
    float *row = (float *)g->c.data + i * g->c.rs;
    for (int64_t j = 0; j < columns; j++) {
        const float *y = (const float *)b.data + j * b.cs;
        float four = 0;
        for (int64_t p = 0; p < a.cols; p++) {
            float product = alpha * x[p * a.cs] * y[p * b.rs];
            if (p % 8 < 4 || p >= a.cols / 8 * 8) row[j] += product;
            else four = p % 8 == 4 ? product : four + product;
            if (p % 8 == 7) row[j] += four;
        }
    }
}

/* row[j] = beta row[j] + the sum of alpha x[p] b[p][j], added for one p after the other; eight columns at a time, four
 * or one stay in a register. beta 0 reads no row. */
static inline __attribute__((always_inline)) void line_f32(float *restrict row, int64_t n, int64_t k, float alpha,
                                                           const float *restrict x, int64_t x_step,
                                                           const float *restrict b, int64_t b_step, float beta) {
#define COLUMNS(V) \
    for (; n >= (int64_t)(sizeof(V) / sizeof(float)); \
         n -= sizeof(V) / sizeof(float), row += sizeof(V) / sizeof(float), b += sizeof(V) / sizeof(float)) { \
        V sum = (V){0}; \
        if (beta != 0) sum = beta * *(const V *)(const void *)row; \
        for (int64_t p = 0; p < k; p++) sum += alpha * x[p * x_step] * *(const V *)(const void *)(b + p * b_step); \
        *(V *)(void *)row = sum; \
    }
#ifndef SMALL_CODE
    typedef float Eight __attribute__((vector_size(32), aligned(4)));
    typedef float Four __attribute__((vector_size(16), aligned(4)));
    for (; n >= 32; n -= 32, row += 32, b += 32) { /* whose additions do not wait for each other's */
        Eight sum[4] = {0};
        for (int q = 0; q < 4 && beta != 0; q++) sum[q] = beta * *(const Eight *)(const void *)(row + 8 * q);
        for (int64_t p = 0; p < k; p++) {
            const float each = alpha * x[p * x_step];
            for (int q = 0; q < 4; q++) sum[q] += each * *(const Eight *)(const void *)(b + p * b_step + 8 * q);
        }
        for (int q = 0; q < 4; q++) *(Eight *)(void *)(row + 8 * q) = sum[q];
    }
    COLUMNS(Eight)
    COLUMNS(Four)
#endif
    COLUMNS(float)
#undef COLUMNS
}
TSR_CLONES static void add_line_f32(float *row, int64_t n, int64_t k, float alpha, const float *x, int64_t x_step,
                                    const float *b, int64_t b_step) {
    line_f32(row, n, k, alpha, x, x_step, b, b_step, 1);
}
/* All rows of a product. */
TSR_CLONES static void lines_f32(const TsrGemm *g, float alpha, float beta) {
    for (int64_t i = 0; i < g->c.rows; i++)
        line_f32((float *)g->c.data + i * g->c.rs, g->c.cols, g->a.cols, alpha, (const float *)g->a.data + i * g->a.rs,
                 g->a.cs, g->b.data, g->b.rs, beta);
}
/* Whether every row of c begins at an address of 16 bytes. */
static bool rows_are_aligned(TsrMat c) {
    return ((uintptr_t)c.data | (uintptr_t)(c.rs * (int64_t)sizeof(float))) % 16 == 0;
}

/* A matrix of dense rows times a dense vector. */
static void column_f32(const TsrGemm *g, float alpha, float beta) {
    TsrMat a = g->a, c = g->c;
    for (int64_t i = 0; i < c.rows; i += 4) {
        const float *x = (const float *)a.data + i * a.rs;
        const int64_t rows = TSR_MIN(c.rows - i, (int64_t)4);
        float sum[4];
        if (rows == 4) vector_dots(sum, x, a.rs, g->b.data, a.cols);
        for (int64_t r = 0; r < rows; r++) {
            float *dst = (float *)c.data + (i + r) * c.rs, scaled = beta == 0 ? 0 : beta * *dst;
            if (rows < 4) sum[r] = last_rows_dot(x + r * a.rs, g->b.data, a.cols);
            *dst = scaled + alpha * sum[r];
        }
    }
}

/* As MKL's small kernels: c = beta c, then the products alpha a b added one after the other, each rounded. */
static void small_f32(const TsrGemm *g, float alpha, float beta) {
    TsrMat a = g->a, b = g->b, c = g->c;
    int64_t m = c.rows, n = c.cols, k = a.cols;
    bool dots = a.cs == 1 && b.rs == 1 && (b.cs != 1 || n == 1) && (m > 1 || n == 1);
    if (dots && n == 1) {
        column_f32(g, alpha, beta);
        return;
    }
    if (!dots && c.cs == 1 && b.cs == 1 && (n < 4 || rows_are_aligned(c))) {
        lines_f32(g, alpha, beta);
        return;
    }
    for (int64_t i = 0; i < m; i++) {
        const float *x = (const float *)a.data + i * a.rs;
        float *row = (float *)c.data + i * c.rs;
        for (int64_t j = 0; j < n; j++) {
            float *dst = row + j * c.cs, scaled = beta == 0 ? 0 : beta * *dst;
            const float *column = (const float *)b.data + j * b.cs;
            if (!dots) *dst = scaled;
            else *dst = scaled + alpha * (j < n / 4 * 4 ? lanes_dot(x, column, k, 4) : lanes_dot(x, column, k, 8));
        }
        int64_t peel = c.cs == 1 ? (int64_t)(-((uintptr_t)row / sizeof(float)) & 3) : 0;
        if (n - peel < 4) peel = 0;
        bool lines = !dots && c.cs == 1 && b.cs == 1;
        if (!dots) peeled_f32(g, alpha, i, peel);
        if (lines) add_line_f32(row + peel, n - peel, k, alpha, x, a.cs, (const float *)b.data + peel, b.rs);
        for (int64_t p = 0; p < k && !dots && !lines; p++) {
            const float *y = (const float *)b.data + p * b.rs;
            float v = alpha * x[p * a.cs];
            for (int64_t j = peel; j < n; j++) row[j * c.cs] += v * y[j * b.cs];
        }
    }
}

/* Both sides transposed: each sum apart, then added. */
static void transposed_f32(const TsrGemm *g, float alpha, float beta) {
    TsrMat a = g->a, b = g->b, c = g->c;
    int64_t m = c.rows, n = c.cols, k = a.cols;
    for (int64_t i = 0; i < m; i++)
        for (int64_t j = 0; j < n; j++) {
            const float *x = (const float *)a.data + i * a.rs, *y = (const float *)b.data + j * b.cs;
            float *dst = (float *)c.data + i * c.rs + j * c.cs, sum = 0;
            for (int64_t p = 0; p < k; p++) sum += x[p * a.cs] * y[p];
            *dst = beta == 0 ? alpha * sum : beta * *dst + alpha * sum;
        }
}

/* From FUSED_ROWS rows and FUSED_COLS columns on MKL has a kernel of fused multiplications and additions. The rows it
 * does: two threads share them in fours, and what is too little for it is done as a small product. */
enum { FUSED_ROWS = 4, FUSED_COLS = 12 };

static int64_t fused_rows(int64_t m, int64_t n, int64_t k) {
    if (m < FUSED_ROWS || n < FUSED_COLS) return 0;
    int64_t first = ((m + 1) / 2 + 3) / 4 * 4;
    bool together = k <= 4 || (n <= 16 && k <= 16);
    return together || m - first >= FUSED_ROWS ? m : first;
}

/* Whether the processor has the fused operation: one by one it is a call of the C library's. */
static bool has_fused(void) {
#if defined(__FP_FAST_FMAF)
    return true;
#elif defined(TSR_HAVE_X86)
    return tsr_isa() >= TSR_ISA_AVX2;
#else
    return false;
#endif
}

/* As tsr_chain_plain, where the processor has the fused operation. */
TSR_CLONES static void chain_fused(const TsrChain *g) {
    for (int64_t i = 0; i < g->m; i++) {
        float *restrict sum = g->c + i * g->c_rs;
        for (int64_t p = 0; p < g->k; p++) {
            float x = g->a[i * g->a_rs + p * g->a_cs];
            for (int64_t j = 0; j < g->n; j++) sum[j] = __builtin_fmaf(x, g->b[p * g->b_rs + j * g->b_cs], sum[j]);
        }
    }
}

/* c's element by its chain; beta 0 reads none. */
TSR_CLONES static void store_sums(float *c, int64_t step, const float *sum, int64_t n, float alpha, float beta) {
    for (int64_t j = 0; j < n; j++)
        c[j * step] = beta == 0 ? alpha * sum[j] : __builtin_fmaf(alpha, sum[j], beta * c[j * step]);
}

/* The first `rows` rows; each sum begins with what c holds if `onto`. */
static void fused_f32(const TsrGemm *g, int64_t rows, float alpha, float beta, bool onto) {
    enum { DOWN = 16, ACROSS = 64 }; /* of a block whose sums are made apart */
    float sum[DOWN * ACROSS];
    TsrMat a = g->a, b = g->b, c = g->c;
    TsrChainFn add = has_fused() ? chain_fused : tsr_chain_plain;
    for (int64_t i = 0; i < rows && tsr_interrupt_flag == 0; i += DOWN)
        for (int64_t from = 0; from < c.cols; from += ACROSS) {
            int64_t down = TSR_MIN(rows - i, (int64_t)DOWN), across = TSR_MIN(c.cols - from, (int64_t)ACROSS);
            float *to = (float *)c.data + i * c.rs + from * c.cs;
            for (int64_t r = 0; r < down; r++)
                for (int64_t j = 0; j < across; j++) sum[r * ACROSS + j] = onto ? to[r * c.rs + j * c.cs] : 0;
            add(&(TsrChain){down, across, a.cols, (const float *)a.data + i * a.rs, (const float *)b.data + from * b.cs,
                            sum, a.rs, a.cs, b.rs, b.cs, ACROSS, TSR_CHAIN_ONTO});
            for (int64_t r = 0; r < down; r++) store_sums(to + r * c.rs, c.cs, sum + r * ACROSS, across, alpha, beta);
        }
}

/* c = a @ b by the kernel of chains; false where this processor has none. */
static bool multiply_chains(TsrBlasType t, TsrMat a, TsrMat b, TsrMat c, TsrChainBegin begin) {
    TsrChainFn floats = t == TSR_BLAS_S ? tsr_chain_kernel() : NULL;
    TsrDoubleChainFn doubles = t == TSR_BLAS_D ? tsr_double_chain_kernel() : NULL;
    if (floats != NULL)
        floats(&(TsrChain){c.rows, c.cols, a.cols, a.data, b.data, c.data, a.rs, a.cs, b.rs, b.cs, c.rs, begin});
    else if (doubles != NULL)
        doubles(&(TsrDoubleChain){c.rows, c.cols, a.cols, a.data, b.data, c.data, a.rs, a.cs, b.rs, b.cs, c.rs, begin});
    return floats != NULL || doubles != NULL;
}

/* The whole product by the kernel of small ones; false where it can't be. */
static bool chain_product(const TsrGemm *g, bool onto) {
    if (g->a.cols > TSR_CHAIN_DEPTH || g->c.cs != 1) return false;
    return multiply_chains(TSR_BLAS_S, g->a, g->b, g->c, onto ? TSR_CHAIN_ONTO : TSR_CHAIN_NEW);
}

static TsrMat turned(TsrMat x) { return (TsrMat){x.data, x.cols, x.rows, x.cs, x.rs, x.conj}; }

static void skip_rows(TsrMat *x, int64_t rows, size_t item) {
    x->data = (char *)x->data + (size_t)(rows * x->rs) * item;
    x->rows -= rows;
}

/* A row times columns that are rows of a dense matrix, as in linear(x, w): MKL takes it as that matrix times a vector.
 */
static bool is_row_by_rows(const TsrGemm *g) {
    return g->c.rows == 1 && g->c.cols > 1 && g->a.cs == 1 && g->b.rs == 1 && g->b.cs != 1;
}

static void tiny_f32(const TsrGemm *g, float alpha, float beta) {
    TsrGemm rest = *g;
    int64_t fused = fused_rows(g->c.rows, g->c.cols, g->a.cols);
    if (fused == g->c.rows && alpha == 1 && beta == 0 && chain_product(g, false)) return;
    fused_f32(g, fused, alpha, beta, false);
    skip_rows(&rest.a, fused, sizeof(float));
    skip_rows(&rest.c, fused, sizeof(float));
    if (is_row_by_rows(&rest)) {
        TsrGemm column = {g->dtype, turned(rest.b), turned(rest.a), turned(rest.c), g->alpha, g->beta};
        small_f32(&column, alpha, beta);
        return;
    }
    bool transposed = g->a.rs == 1 && g->a.cs != 1 && g->b.rs == 1 && g->b.cs != 1;
    (transposed ? transposed_f32 : small_f32)(&rest, alpha, beta);
}

/* A line of k complex numbers, conjugated if `conj`, each multiplied by `scale` as it is read. */
typedef struct ComplexLine {
    const TsrComplexFloat *data;
    int64_t step;
    bool conj;
    float complex scale;
} ComplexLine;

/* A complex number that stays in registers, as a float complex does not: all of this is compiled into its callers. */
typedef struct Parts {
    float re, im;
} Parts;
#define INLINE static inline __attribute__((always_inline))

INLINE Parts parts_of(float complex v) { return (Parts){crealf(v), cimagf(v)}; }
INLINE Parts times(Parts x, Parts y) { return (Parts){x.re * y.re - x.im * y.im, x.re * y.im + x.im * y.re}; }
INLINE Parts plus(Parts x, Parts y) { return (Parts){x.re + y.re, x.im + y.im}; }

INLINE Parts line_at(const ComplexLine *l, int64_t i, bool scaled) {
    const float *v = (const float *)(l->data + i * l->step);
    Parts u = {v[0], l->conj ? -v[1] : v[1]};
    return scaled ? times(u, parts_of(l->scale)) : u;
}

/* The four real products of a complex one are summed apart, fused, and combined at the end. */
INLINE Parts complex_sum(const ComplexLine *x, const ComplexLine *y, int64_t n) {
    float rr = 0, ii = 0, ri = 0, ir = 0;
    bool scaled_x = x->scale != 1, scaled_y = y->scale != 1;
    for (int64_t p = 0; p < n; p++) {
        Parts u = line_at(x, p, scaled_x), v = line_at(y, p, scaled_y);
        rr = __builtin_fmaf(u.re, v.re, rr);
        ii = __builtin_fmaf(u.im, v.im, ii);
        ri = __builtin_fmaf(u.re, v.im, ri);
        ir = __builtin_fmaf(u.im, v.re, ir);
    }
    return (Parts){rr - ii, ri + ir};
}

/* Complex products, rounded each, added to `sum` in order: what PyTorch's own loop for small batches does, and MKL for
 * narrow or shallow matrices. */
INLINE Parts plain_sum(Parts sum, const ComplexLine *x, const ComplexLine *y, int64_t n) {
    bool scaled_x = x->scale != 1, scaled_y = y->scale != 1;
    for (int64_t p = 0; p < n; p++) sum = plus(sum, times(line_at(x, p, scaled_x), line_at(y, p, scaled_y)));
    return sum;
}

/* Both kinds of products in two lanes, the first element and every other one after it in the first: how MKL multiplies
 * a matrix of dense rows with a vector. */
INLINE Parts lanes_sum(const ComplexLine *x, const ComplexLine *y, int64_t n) {
    float rr[2] = {0}, ii[2] = {0}, ri[2] = {0}, ir[2] = {0};
    for (int64_t p = 0; p < n; p++) {
        const int lane = p > 0 && p % 2 == 0;
        Parts u = line_at(x, p, false), v = line_at(y, p, false);
        rr[lane] += u.re * v.re;
        ii[lane] += u.im * v.im;
        ri[lane] += u.re * v.im;
        ir[lane] += u.im * v.re;
    }
    return (Parts){(rr[0] + rr[1]) - (ii[0] + ii[1]), (ri[0] + ri[1]) + (ir[0] + ir[1])};
}

/* Complex products added to `sum`, of each four the third first: a matrix of dense columns times a vector. */
INLINE Parts fours_sum(Parts sum, const ComplexLine *x, const ComplexLine *y, int64_t n) {
    static const int order[4] = {2, 0, 1, 3};
    for (int64_t p = 0; p < n; p++) {
        int64_t at = p < n / 4 * 4 ? p / 4 * 4 + order[p % 4] : p;
        sum = plus(sum, times(line_at(x, at, x->scale != 1), line_at(y, at, y->scale != 1)));
    }
    return sum;
}

/* The ways of PyTorch's own loop, which scales the sum, and of MKL: onto the summand with a scaled, apart from it with
 * b scaled, and with a vector on one side. */
typedef enum ComplexWay { WAY_LOOP, WAY_PLAIN, WAY_FUSED, WAY_LANES, WAY_FOURS } ComplexWay;

INLINE Parts complex_element(ComplexWay way, int64_t k, float complex alpha, const ComplexLine *x, const ComplexLine *y,
                             Parts summand) {
    if (way == WAY_LOOP) return plus(times(plain_sum((Parts){0, 0}, x, y, k), parts_of(alpha)), summand);
    if (way == WAY_LANES) return plus(times(lanes_sum(x, y, k), parts_of(alpha)), summand);
    if (way == WAY_FOURS) return fours_sum(summand, x, y, k);
    return way == WAY_PLAIN ? plain_sum(summand, x, y, k) : plus(complex_sum(x, y, k), summand);
}

/* A line's sums onto beta times what is there. */
INLINE void store_eight(TsrComplexFloat *to, int64_t step, const TsrComplexFloat *sums, float complex beta) {
    for (int t = 0; t < TSR_BLOCK_COLUMNS; t++) {
        float *dst = (float *)(to + t * step);
        const float *sum = (const float *)(sums + t);
        Parts onto = beta == 0 ? (Parts){0, 0} : times((Parts){dst[0], dst[1]}, parts_of(beta));
        Parts v = plus((Parts){sum[0], sum[1]}, onto);
        dst[0] = v.re, dst[1] = v.im;
    }
}

static void fill_signs(TsrComplexBlock *g, bool a_conj, bool b_conj, bool onto) {
    const float i = a_conj ? -1 : 1;
    g->signs[0][0] = 1, g->signs[0][1] = b_conj ? -1 : 1;
    g->signs[1][0] = b_conj ? i : -i, g->signs[1][1] = i;
    g->zero = onto ? -0.0f : 0.0f;
}

/* Eight columns of b, as rows of eight. */
static void pack_eight(TsrComplexFloat *panel, TsrMat b, int64_t from) {
    for (int64_t p = 0; p < b.rows; p++)
        for (int t = 0; t < TSR_BLOCK_COLUMNS; t++)
            panel[p * TSR_BLOCK_COLUMNS + t] = ((const TsrComplexFloat *)b.data)[p * b.rs + (from + t) * b.cs];
}

/* All lines of the last `columns` of the eight columns of c at `to`. */
static void block_c64(TsrComplexBlock *block, const TsrGemm *g, TsrComplexFloat *to, float complex beta, int columns) {
    TsrComplexFloat sums[TSR_BLOCK_LINES * TSR_BLOCK_COLUMNS];
    const bool apart = beta != 0 || g->c.cs != 1;
    const TsrComplexBlockFn kernel = tsr_complex_block_kernel();
    for (int64_t i = 0, lines; i < g->c.rows; i += lines, to += lines * g->c.rs) {
        lines = TSR_MIN(g->c.rows - i, (int64_t)TSR_BLOCK_LINES);
        if (g->c.rows - i == TSR_BLOCK_LINES + 1) lines = 2; /* and two more */
        block->a = (const TsrComplexFloat *)g->a.data + i * g->a.rs;
        block->c = apart ? sums : to;
        kernel(block, (int)lines, apart ? TSR_BLOCK_COLUMNS : columns);
        for (int64_t r = 0; apart && r < lines; r++)
            store_eight(to + r * g->c.rs, g->c.cs, sums + r * TSR_BLOCK_COLUMNS, beta);
    }
}

/* The fused way by eight columns; how many are done. */
static int64_t columns_c64(const TsrGemm *g, float complex beta, TsrComplexFloat *panel) {
    TsrMat a = g->a, b = g->b, c = g->c;
    if (tsr_complex_block_kernel() == NULL || c.cols < TSR_BLOCK_COLUMNS) return 0;
    int64_t done = c.cols / TSR_BLOCK_COLUMNS * TSR_BLOCK_COLUMNS;
    if (beta == 0) done = c.cols; /* some of the last ones twice */
    TsrComplexBlock block = {.k = a.cols, .a_row = a.rs, .a_step = a.cs};
    block.c_row = beta == 0 && c.cs == 1 ? c.rs : TSR_BLOCK_COLUMNS;
    block.b_row = b.cs == 1 ? b.rs : TSR_BLOCK_COLUMNS;
    fill_signs(&block, a.conj, b.conj, beta != 0);
    for (int64_t first = 0; first < done; first += TSR_BLOCK_COLUMNS) {
        const int64_t j = TSR_MIN(first, c.cols - TSR_BLOCK_COLUMNS);
        if (b.cs != 1) pack_eight(panel, b, j);
        block.b = b.cs == 1 ? (const TsrComplexFloat *)b.data + j : panel;
        block_c64(&block, g, (TsrComplexFloat *)c.data + j * c.cs, beta, (int)(j + TSR_BLOCK_COLUMNS - first));
    }
    return done;
}

/* `panel` has room for eight of b's columns. */
TSR_CLONES static void small_c64(const TsrGemm *g, float complex alpha, float complex beta, ComplexWay way,
                                 void *panel) {
    TsrMat a = g->a, b = g->b, c = g->c;
    int64_t done = way == WAY_FUSED && alpha == 1 ? columns_c64(g, beta, panel) : 0;
    ComplexLine x = {NULL, a.cs, a.conj, way == WAY_PLAIN || way == WAY_FOURS ? alpha : 1},
                y = {NULL, b.rs, b.conj, way == WAY_FUSED ? alpha : 1};
    for (int64_t i = 0; i < c.rows; i++)
        for (int64_t j = done; j < c.cols; j++) {
            float *dst = (float *)((TsrComplexFloat *)c.data + i * c.rs + j * c.cs);
            x.data = (const TsrComplexFloat *)a.data + i * a.rs, y.data = (const TsrComplexFloat *)b.data + j * b.cs;
            Parts r = complex_element(way, a.cols, alpha, &x, &y,
                                      beta == 0 ? (Parts){0, 0} : times((Parts){dst[0], dst[1]}, parts_of(beta)));
            dst[0] = r.re, dst[1] = r.im;
        }
}

#undef INLINE

/* MKL's choice, by the sizes and by how both sides lie. */
static ComplexWay complex_way(const TsrGemm *g) {
    int64_t m = g->c.rows, n = g->c.cols, k = g->a.cols;
    bool columns = g->b.rs == 1 && g->b.cs != 1;
    if (m == 1 || n == 1) return (m > 1 ? g->a.cs == 1 : columns) ? WAY_LANES : WAY_FOURS;
    return n >= 4 && k >= 4 ? WAY_FUSED : columns ? WAY_LOOP : WAY_PLAIN;
}

static TsrStatus own_gemm(const TsrGemm *g);

/* Blocks of an own product's columns, handed to the thread pool. */
static void own_columns(int64_t begin, int64_t end, void *user) {
    TsrGemm part = *(const TsrGemm *)user;
    int64_t item = (int64_t)tsr_dtype_size(part.dtype), from = begin * GEMM_COLS,
            to = TSR_MIN(end * GEMM_COLS, part.c.cols);
    part.b.data = (char *)part.b.data + from * part.b.cs * item;
    part.c.data = (char *)part.c.data + from * part.c.cs * item;
    part.b.cols = part.c.cols = to - from;
    TsrStatus s = own_gemm(&part);
    if (s != TSR_OK) tsr_parallel_fail(s);
}

/* Whether a few columns are better taken as rows: integers have a way of their own for these, and columns are what the
 * threads share. */
static bool columns_as_rows(const TsrGemm *g) {
#ifdef SMALL_CODE
    (void)g;
    return false;
#else
    return g->c.cols <= 2 && g->c.cols < g->c.rows && tsr_dtype_is_integral(g->dtype);
#endif
}

static TsrStatus own_gemm_parallel(const TsrGemm *g) {
    TsrGemm other = {g->dtype, turned(g->b), turned(g->a), turned(g->c), g->alpha, g->beta};
    if (columns_as_rows(g)) g = &other;
    double column = (double)g->c.rows * (double)g->a.cols;
    if (column * (double)g->c.cols < 2 * TSR_CHUNK_PRODUCTS) return own_gemm(g);
    return tsr_parallel_for((g->c.cols + GEMM_COLS - 1) / GEMM_COLS,
                            TSR_MAX(1, (int64_t)(TSR_CHUNK_PRODUCTS / (column * GEMM_COLS + 1))), own_columns,
                            (void *)(uintptr_t)g);
}

/* Nothing is packed for a few rows of neighbours: the order of additions is the same. */
static void small_f64(const TsrGemm *g, double alpha, double beta, void *panel) {
    bool plainly = alpha == 1 && beta == 0 && g->b.cs == 1 && g->c.cs == 1 && g->c.rows < GEMM_NARROW;
    if (plainly) f64_short_each(g, (TsrGemmSteps){0}, 1);
    else f64_gemm(g, alpha, beta, panel);
}

static TsrStatus own_gemm(const TsrGemm *g) {
    char local[16384];
    size_t need, item = TSR_MAX(tsr_dtype_size(g->dtype), (size_t)4);
    if (tsr_mul_size_overflows((size_t)g->a.cols, GEMM_COLS * item, &need)) return tsr_error_no_memory(SIZE_MAX);
    void *panel = local;
    if (need > sizeof local && (panel = tsr_malloc(need)) == NULL) return tsr_error_no_memory(need);
    int64_t ia = tsr_scalar_to_int(g->alpha), ib = tsr_scalar_to_int(g->beta);
    double fa = tsr_scalar_to_double(g->alpha), fb = tsr_scalar_to_double(g->beta);
    double complex ca = scalar_complex(g->alpha), cb = scalar_complex(g->beta);
    switch (g->dtype) {
    case TSR_UINT8: u8_gemm(g, (uint32_t)ia, (uint32_t)ib, panel); break;
    case TSR_INT8: i8_gemm(g, (uint32_t)ia, (uint32_t)ib, panel); break;
    case TSR_INT16: i16_gemm(g, (uint32_t)ia, (uint32_t)ib, panel); break;
    case TSR_INT32: i32_gemm(g, (uint32_t)ia, (uint32_t)ib, panel); break;
    case TSR_INT64: i64_gemm(g, (uint64_t)ia, (uint64_t)ib, panel); break;
    case TSR_FLOAT32: tiny_f32(g, (float)fa, (float)fb); break;
    case TSR_FLOAT64: small_f64(g, fa, fb, panel); break;
    case TSR_COMPLEX64: small_c64(g, (float complex)ca, (float complex)cb, complex_way(g), panel); break;
    case TSR_COMPLEX128: c128_gemm(g, ca, cb, panel); break;
    default: break; /* callers have asked tsr_gemm_supports */
    }
    if (panel != local) tsr_free(panel);
    return tsr_interrupt_check();
}

/* A matrix as BLAS wants it in row-major terms: `trans` and a leading dimension; `copy` is owned when it had to be
 * packed. */
typedef struct BlasMat {
    const void *data;
    int trans, ld;
    void *copy;
} BlasMat;

static TsrStatus blas_pack(BlasMat *out, const TsrMat *x, TsrDtype dtype) {
    int64_t rows = x->rows, cols = x->cols;
    size_t item = tsr_dtype_size(dtype), bytes;
    if (tsr_mul_size_overflows((size_t)rows * item, (size_t)cols, &bytes)) return tsr_error_no_memory(SIZE_MAX);
    char *copy = tsr_malloc(bytes);
    if (copy == NULL) return tsr_error_no_memory(bytes);
    for (int64_t i = 0; i < rows; i++)
        tsr_convert(dtype, copy + (size_t)(i * cols) * item, (int64_t)item, dtype,
                    (const char *)x->data + i * x->rs * (int64_t)item, x->cs * (int64_t)item, cols);
    *out = (BlasMat){copy, x->conj ? TSR_CBLAS_CN : TSR_CBLAS_N, 0, copy};
    return tsr_blas_int(&out->ld, TSR_MAX(cols, 1));
}

static TsrStatus blas_mat(BlasMat *out, const TsrMat *x, TsrDtype dtype) {
    int64_t rows = x->rows, cols = x->cols;
    out->copy = NULL;
    out->data = x->data;
    if ((x->cs == 1 || cols == 1) && (x->rs >= cols || rows == 1) && x->rs >= 0 &&
        (cols > 1 || x->rs > 0 || rows == 1)) {
        out->trans = x->conj ? TSR_CBLAS_CN : TSR_CBLAS_N;
        return tsr_blas_int(&out->ld, rows == 1 ? TSR_MAX(cols, 1) : x->rs);
    }
    if ((x->rs == 1 || rows == 1) && (x->cs >= rows || cols == 1) && (rows > 1 || x->cs > 0)) {
        out->trans = x->conj ? TSR_CBLAS_CT : TSR_CBLAS_T;
        return tsr_blas_int(&out->ld, cols == 1 ? TSR_MAX(rows, 1) : x->cs);
    }
    return blas_pack(out, x, dtype);
}

/* Large products are cut into tiles that the thread pool takes, and these in depth: an interrupt is seen between two,
 * and a busy processor holds up one. */
typedef struct TileJob {
    const TsrBlas *blas;
    TsrBlasType type;
    size_t item;
    int64_t m, n, k;
    int64_t down, across, rows, cols, depth; /* how many tiles, the size of one, how much of k at a time */
    TsrScalar alpha, beta;
    BlasMat a, b;
    char *c;
    int ldc;
} TileJob;

/* Whether a product of m by k and k by n is for the kernel of chains: so thin or small that BLAS, which packs both
 * sides first, takes longer, or with digits that BLAS has not. */
static bool is_chain(TsrBlasType t, int64_t m, int64_t n, int64_t k, double alpha, double beta) {
    const double products = (double)m * (double)n * (double)k;
    if ((t != TSR_BLAS_S && t != TSR_BLAS_D) || alpha != 1 || (beta != 0 && beta != 1)) return false;
    if (k > TSR_CHAIN_DEPTH) return t == TSR_BLAS_D && beta == 0 && products < CHAIN_DOUBLES;
    if (t == TSR_BLAS_D) return (double)m * (double)n <= CHAIN_AREA;
    return products <= CHAIN_SMALL || k <= CHAIN_TERMS;
}

static TsrMat strided(const BlasMat *x, int64_t rows, int64_t cols) {
    bool turned = x->trans == TSR_CBLAS_T;
    return (TsrMat){(void *)(uintptr_t)x->data, rows, cols, turned ? 1 : x->ld, turned ? x->ld : 1, false};
}

static bool chain_tile(const TileJob *j, const int *mnk, const BlasMat *a, const BlasMat *b, double beta, void *c) {
    if (!is_chain(j->type, mnk[0], mnk[1], mnk[2], tsr_scalar_to_double(j->alpha), beta)) return false;
    return multiply_chains(j->type, strided(a, mnk[0], mnk[2]), strided(b, mnk[2], mnk[1]),
                           (TsrMat){c, mnk[0], mnk[1], j->ldc, 1, false}, beta == 0 ? TSR_CHAIN_NEW : TSR_CHAIN_ADDED);
}

/* One tile of c with a's rows and b's columns: mnk are its sizes, beta what is kept of it. */
static void gemm_call(const TileJob *j, const int *mnk, const BlasMat *a, const BlasMat *b, TsrScalar beta, void *c) {
    int m = mnk[0], n = mnk[1], k = mnk[2], row = TSR_CBLAS_ROW;
    double complex za = scalar_complex(j->alpha), zb = scalar_complex(beta);
    float complex ca = (float complex)za, cb = (float complex)zb;
    if (chain_tile(j, mnk, a, b, tsr_scalar_to_double(beta), c)) return;
    switch (j->type) {
    case TSR_BLAS_S:
        j->blas->sgemm(row, a->trans, b->trans, m, n, k, crealf(ca), a->data, a->ld, b->data, b->ld, crealf(cb), c,
                       j->ldc);
        break;
    case TSR_BLAS_D:
        j->blas->dgemm(row, a->trans, b->trans, m, n, k, creal(za), a->data, a->ld, b->data, b->ld, creal(zb), c,
                       j->ldc);
        break;
    case TSR_BLAS_C:
        j->blas->cgemm(row, a->trans, b->trans, m, n, k, &ca, a->data, a->ld, b->data, b->ld, &cb, c, j->ldc);
        break;
    default:
        j->blas->zgemm(row, a->trans, b->trans, m, n, k, &za, a->data, a->ld, b->data, b->ld, &zb, c, j->ldc);
        break;
    }
}

static const void *element(const BlasMat *x, int64_t row, int64_t col, size_t item) {
    bool turned = x->trans == TSR_CBLAS_T || x->trans == TSR_CBLAS_CT;
    return (const char *)x->data + (size_t)(turned ? col * x->ld + row : row * x->ld + col) * item;
}

static void run_tile(const TileJob *j, int64_t row, int64_t col) {
    int mnk[3] = {(int)TSR_MIN(j->rows, j->m - row), (int)TSR_MIN(j->cols, j->n - col), 0};
    if (mnk[0] <= 0 || mnk[1] <= 0) return;
    for (int64_t at = 0; at < j->k && tsr_interrupt_flag == 0; at += j->depth) {
        BlasMat a = j->a, b = j->b;
        a.data = element(&a, row, at, j->item);
        b.data = element(&b, at, col, j->item);
        mnk[2] = (int)TSR_MIN(j->depth, j->k - at);
        gemm_call(j, mnk, &a, &b, at == 0 ? j->beta : tsr_scalar_int(1), j->c + (size_t)(row * j->ldc + col) * j->item);
    }
}

static void run_tiles(int64_t begin, int64_t end, void *user) {
    const TileJob *j = user;
    (void)tsr_blas_try(); /* for its rule about threads: one in a job */
    for (int64_t i = begin; i < end; i++) run_tile(j, i / j->across * j->rows, i % j->across * j->cols);
}

/* Pieces small enough to be soon done, large enough for OpenBLAS to run at its peak, and an even number of them. They
 * depend on no number of threads. */
static void choose_tiles(TileJob *j) {
    static const int cost[TSR_BLAS_TYPES] = {1, 2, 4, 8}; /* of a multiplication */
    double work = (double)j->m * (double)j->n * (double)j->k;
    j->down = (j->m + TILE - 1) / TILE;
    j->across = (j->n + TILE - 1) / TILE;
    if (j->down > 1) j->down = (j->down + 1) / 2 * 2;
    else if (j->across > 1) j->across = (j->across + 1) / 2 * 2;
    while (j->down * j->across < 4 && work / (double)(j->down * j->across) > TILE_LEAST) {
        if (j->m / j->down > j->n / j->across) j->down *= 2;
        else j->across *= 2;
    }
    j->rows = ((j->m + j->down - 1) / j->down + 15) / 16 * 16;
    j->cols = ((j->n + j->across - 1) / j->across + 15) / 16 * 16;
    bool whole =
        is_chain(j->type, j->rows, j->cols, j->k, tsr_scalar_to_double(j->alpha), tsr_scalar_to_double(j->beta));
    j->depth = whole || j->k < 2 * TILE_DEPTH / cost[j->type] ? j->k : TILE_DEPTH / cost[j->type];
}

static TsrStatus gemm_tiles(TileJob *j) {
    choose_tiles(j);
    int64_t tiles = j->down * j->across;
    if (tiles > 1) return tsr_parallel_for(tiles, 1, run_tiles, j);
    run_tiles(0, 1, j);
    return tsr_interrupt_check();
}

/* The product with b and c one column each, whose elements lie incx and incy apart. */
static void gemv_call(const TsrBlas *blas, TsrBlasType t, const TsrGemm *g, const BlasMat *a, int incx, int incy) {
    double complex za = scalar_complex(g->alpha), zb = scalar_complex(g->beta);
    float complex ca = (float complex)za, cb = (float complex)zb;
    const void *x = g->b.data;
    void *y = g->c.data;
    bool trans = a->trans == TSR_CBLAS_T;
    int m = (int)(trans ? g->a.cols : g->a.rows), n = (int)(trans ? g->a.rows : g->a.cols),
        op = trans ? TSR_CBLAS_T : TSR_CBLAS_N, row = TSR_CBLAS_ROW;
    switch (t) {
    case TSR_BLAS_S: blas->sgemv(row, op, m, n, crealf(ca), a->data, a->ld, x, incx, crealf(cb), y, incy); break;
    case TSR_BLAS_D: blas->dgemv(row, op, m, n, creal(za), a->data, a->ld, x, incx, creal(zb), y, incy); break;
    case TSR_BLAS_C: blas->cgemv(row, op, m, n, &ca, a->data, a->ld, x, incx, &cb, y, incy); break;
    default: blas->zgemv(row, op, m, n, &za, a->data, a->ld, x, incx, &zb, y, incy); break;
    }
}

static bool plain(const BlasMat *a) { return a->trans == TSR_CBLAS_N || a->trans == TSR_CBLAS_T; }

/* A product that would be one tile, by chain_tile's kernel, before anything is prepared for BLAS. bmm of 100 of 16 by
 * 16 took 15.2 us and takes 7.7, of 64 of 32 by 32 28 and 19 (one thread, Zen 5). */
static bool one_chain(TsrBlasType t, const TsrGemm *g) {
    int64_t m = g->c.rows, n = g->c.cols, k = g->a.cols;
    double beta = tsr_scalar_to_double(g->beta);
    if (m < 2 || n < 2 || g->c.cs != 1 || (double)m * (double)n * (double)k > TILE_LEAST) return false;
    if (!is_chain(t, m, n, k, tsr_scalar_to_double(g->alpha), beta)) return false;
    return multiply_chains(t, g->a, g->b, g->c, beta == 0 ? TSR_CHAIN_NEW : TSR_CHAIN_ADDED);
}

/* m, n and k fit an int; c is row-major. */
static TsrStatus gemm_with(const TsrBlas *blas, TsrBlasType t, const TsrGemm *g) {
    BlasMat a = {0}, b = {0};
    int64_t m = g->c.rows, n = g->c.cols;
    int ldc = 0, incx = 0, incy = 0;
    if (tsr_gemm_is_few(g)) return tsr_gemm_few(g);
    if (one_chain(t, g)) return tsr_interrupt_check();
    TSR_TRY(blas_mat(&a, &g->a, g->dtype));
    TsrStatus s = TSR_OK;
    if (n == 1 && !g->b.conj && g->b.rs > 0 && plain(&a)) { /* matrix times vector */
        if ((s = tsr_blas_int(&incx, g->b.rs)) == TSR_OK && (s = tsr_blas_int(&incy, m == 1 ? 1 : g->c.rs)) == TSR_OK)
            gemv_call(blas, t, g, &a, incx, incy);
        tsr_free(a.copy);
        return s;
    }
    s = blas_mat(&b, &g->b, g->dtype);
    if (s == TSR_OK) s = tsr_blas_int(&ldc, m == 1 ? TSR_MAX(n, 1) : g->c.rs);
    TileJob job = {.blas = blas,
                   .type = t,
                   .item = tsr_dtype_size(g->dtype),
                   .m = m,
                   .n = n,
                   .k = g->a.cols,
                   .alpha = g->alpha,
                   .beta = g->beta,
                   .a = a,
                   .b = b,
                   .c = g->c.data,
                   .ldc = ldc};
    if (s == TSR_OK) s = gemm_tiles(&job);
    tsr_free(a.copy);
    tsr_free(b.copy);
    return s;
}

/* complex64 products that our own kernel has in less time than BLAS, and with the digits of PyTorch's library, which
 * takes up to 192 terms at once: 100 of 16 by 16 48 us by OpenBLAS 0.3.21 and 30 so, 100 by 100 68 and 45, 192 by 192
 * 468 and 293 (one thread, Zen 5). */
enum { BLOCK_ROWS = 8, BLOCK_DEPTH = 192, BLOCK_PRODUCTS = BLOCK_DEPTH * BLOCK_DEPTH * BLOCK_DEPTH };

static bool is_block_c64(const TsrGemm *g) {
    int64_t m = g->c.rows, n = g->c.cols, k = g->a.cols;
    return g->dtype == TSR_COMPLEX64 && tsr_isa() >= TSR_ISA_AVX2 && m >= BLOCK_ROWS && n >= TSR_BLOCK_COLUMNS &&
           complex_way(g) == WAY_FUSED && k <= BLOCK_DEPTH && (double)m * (double)n * (double)k <= BLOCK_PRODUCTS &&
           scalar_complex(g->alpha) == 1 && scalar_complex(g->beta) == 0;
}

/* Eight rows of c, the last time those that are left too: one by itself would be added up in another order. */
static void rows_c64(int64_t begin, int64_t end, void *user) {
    TsrGemm part = *(const TsrGemm *)user;
    int64_t from = begin * BLOCK_ROWS, to = end == part.c.rows / BLOCK_ROWS ? part.c.rows : end * BLOCK_ROWS;
    skip_rows(&part.a, from, sizeof(TsrComplexFloat));
    skip_rows(&part.c, from, sizeof(TsrComplexFloat));
    part.a.rows = part.c.rows = to - from;
    TsrStatus s = own_gemm(&part);
    if (s != TSR_OK) tsr_parallel_fail(s);
}

static TsrStatus gemm_c64(const TsrGemm *g) {
    int64_t work = 4 * BLOCK_ROWS * g->c.cols * g->a.cols; /* of eight rows, in products of floats */
    return tsr_parallel_for(g->c.rows / BLOCK_ROWS, 2 * TSR_CHUNK_PRODUCTS / work + 1, rows_c64, (void *)(uintptr_t)g);
}

static TsrStatus blas_gemm(TsrBlasType t, const TsrGemm *g) {
    int64_t m = g->c.rows, n = g->c.cols, k = g->a.cols;
    TsrMat c = g->c;
    if (is_block_c64(g)) return gemm_c64(g);
    const TsrBlas *blas = m * n * k <= GEMM_TINY && TSR_MIN(m, TSR_MIN(n, k)) < GEMM_NARROW ? NULL : tsr_blas_try();
    if (blas == NULL) return own_gemm(g);
    bool rows_ok = (c.cs == 1 || n == 1) && (c.rs >= n || m == 1),
         cols_ok = (c.rs == 1 || m == 1) && (c.cs >= m || n == 1);
    if (!rows_ok && !cols_ok) return own_gemm(g);
    int fits;
    TSR_TRY(tsr_blas_int(&fits, m));
    TSR_TRY(tsr_blas_int(&fits, n));
    TSR_TRY(tsr_blas_int(&fits, k));
    if (rows_ok && (m > 1 || n == 1)) return gemm_with(blas, t, g);
    /* c is column-major, or a row vector times a matrix: the transposed problem */
    return gemm_with(blas, t, &(TsrGemm){g->dtype, turned(g->b), turned(g->a), turned(c), g->alpha, g->beta});
}

/* c = beta * c: nothing is added. */
static void scale(TsrDtype dtype, TsrScalar beta, TsrMat c) {
    size_t item = tsr_dtype_size(dtype);
    char rounded[16];
    tsr_scalar_store(beta, dtype, rounded);
    beta = tsr_scalar_load(dtype, rounded);
    double complex b = scalar_complex(beta);
    for (int64_t i = 0; i < c.rows; i++)
        for (int64_t j = 0; j < c.cols; j++) {
            char *p = (char *)c.data + (i * c.rs + j * c.cs) * (int64_t)item;
            TsrScalar v = tsr_scalar_load(dtype, p);
            if (b == 0) v = tsr_scalar_int(0);
            else if (v.kind == TSR_SCALAR_INT) v.i = (int64_t)((uint64_t)v.i * (uint64_t)tsr_scalar_to_int(beta));
            else if (v.kind == TSR_SCALAR_FLOAT) v.f *= creal(b);
            else if (v.kind == TSR_SCALAR_COMPLEX) {
                double complex z = CMPLX(v.c.re, v.c.im) * b;
                v = tsr_scalar_complex(creal(z), cimag(z));
            }
            tsr_scalar_store(v, dtype, p);
        }
}

/* Rows of matrices converted from one dtype to another, over the threads. */
typedef struct ConvertJob {
    TsrDtype to, from;
    TsrMat dst, src;
} ConvertJob;

static void convert_rows(int64_t begin, int64_t end, void *user) {
    const ConvertJob *j = user;
    int64_t di = (int64_t)tsr_dtype_size(j->to), si = (int64_t)tsr_dtype_size(j->from);
    for (int64_t i = begin; i < end; i++)
        tsr_convert(j->to, (char *)j->dst.data + i * j->dst.rs * di, j->dst.cs * di, j->from,
                    (const char *)j->src.data + i * j->src.rs * si, j->src.cs * si, j->src.cols);
}

/* Whether a matrix is one line of not many elements. */
static bool is_short_line(TsrMat x) {
    enum { MOST = 1 << 14 };
    return x.cs == 1 && x.rs == x.cols && x.rows * x.cols <= MOST;
}

/* Row by row; a single column at once, and so what is one short line on both sides. */
static TsrStatus convert_mat(TsrDtype to, TsrMat dst, TsrDtype from, TsrMat src) {
    if (is_short_line(dst) && is_short_line(src)) {
        tsr_convert(to, dst.data, (int64_t)tsr_dtype_size(to), from, src.data, (int64_t)tsr_dtype_size(from),
                    src.rows * src.cols);
        return TSR_OK;
    }
    ConvertJob job =
        src.cols == 1 ? (ConvertJob){to, from, turned(dst), turned(src)} : (ConvertJob){to, from, dst, src};
    return tsr_parallel_for(job.src.rows, tsr_grain(job.src.cols / 2), convert_rows, &job);
}

/* The same column by column, for what lies so. */
static TsrStatus convert_turned(TsrDtype to, TsrMat dst, TsrDtype from, TsrMat src) {
    return convert_mat(to, turned(dst), from, turned(src));
}

static bool alpha_is_zero(const TsrGemm *g) { return scalar_complex(g->alpha) == 0; }

/* blas_gemm without BLAS, which leaves out what it would multiply with 0. */
static TsrStatus own_product(TsrBlasType t, const TsrGemm *g) {
    (void)t;
    return own_gemm_parallel(g);
}

/* Elements of a right side of columns from which on it stays one of columns when it is widened: to turn it as well
 * would miss the caches. Chosen by its size, not measured. */
enum { TURNED_LEAST = 1 << 16 };

/* bfloat16 by pairs of terms, summed in float32 and rounded once. All memory is one block, which the C library keeps
 * for the next product: fresh pages would take as long as the product. */
static TsrStatus gemm_by_pairs(const TsrGemm *g) {
    int64_t m = g->c.rows, n = g->c.cols, floats;
    size_t bytes, room;
    TSR_TRY(tsr_gemm_pairs_room(g, &room));
    if (tsr_mul_overflows(m, n, &floats) || tsr_mul_size_overflows((size_t)floats, 4, &bytes) ||
        bytes > SIZE_MAX - room)
        return tsr_error_no_memory(SIZE_MAX);
    char *block = tsr_malloc(bytes + room);
    if (block == NULL) return tsr_error_no_memory(bytes + room);
    TsrMat c = {block, m, n, n, 1, false};
    TsrStatus s = TSR_OK;
    if (tsr_scalar_to_double(g->beta) != 0) s = convert_mat(TSR_FLOAT32, c, g->dtype, g->c);
    if (s == TSR_OK) s = tsr_gemm_pairs(g, c, block + bytes);
    if (s == TSR_OK) s = convert_mat(g->dtype, g->c, TSR_FLOAT32, c);
    tsr_free(block);
    return s;
}

/* Half precision: widened to float32, one product, rounded once. */
static TsrStatus half_gemm(const TsrGemm *g) {
    int64_t m = g->c.rows, n = g->c.cols, k = g->a.cols, floats, part;
    size_t bytes;
    bool thin = tsr_gemm_is_thin(g, g->dtype), by_columns = g->b.rs == 1 && g->b.cs != 1 && n * k >= TURNED_LEAST;
    if (tsr_mul_overflows(m, k, &floats) || tsr_mul_overflows(k, n, &part) ||
        tsr_add_overflows(floats, thin ? 0 : part, &floats) || tsr_mul_overflows(m, n, &part) ||
        tsr_add_overflows(floats, part, &floats) || tsr_mul_size_overflows((size_t)floats, 4, &bytes))
        return tsr_error_no_memory(SIZE_MAX);
    char *wide = tsr_malloc(bytes);
    if (wide == NULL) return tsr_error_no_memory(bytes);
    TsrMat a = {wide, m, k, k, 1, false}, c = {wide + 4 * m * k, m, n, n, 1, false},
           b = {wide + 4 * (m * k + m * n), k, n, by_columns ? 1 : n, by_columns ? k : 1, false};
    TsrStatus s = convert_mat(TSR_FLOAT32, a, g->dtype, g->a);
    if (s == TSR_OK && !thin) s = (by_columns ? convert_turned : convert_mat)(TSR_FLOAT32, b, g->dtype, g->b);
    if (s == TSR_OK && tsr_scalar_to_double(g->beta) != 0) s = convert_mat(TSR_FLOAT32, c, g->dtype, g->c);
    if (s == TSR_OK && thin) s = tsr_gemm_thin(&(TsrGemm){TSR_FLOAT32, a, g->b, c, g->alpha, g->beta}, g->dtype);
    else if (s == TSR_OK)
        s = (alpha_is_zero(g) ? own_product : blas_gemm)(TSR_BLAS_S,
                                                         &(TsrGemm){TSR_FLOAT32, a, b, c, g->alpha, g->beta});
    if (s == TSR_OK) s = convert_mat(g->dtype, g->c, TSR_FLOAT32, c);
    tsr_free(wide);
    return s;
}

/* Up to so many columns a product of halves with a left side of so many elements is taken as the one of the turned
 * matrices, whose few rows meet the large side as it lies: 1000 by 1000 times a vector of bfloat16 took 186 us and
 * takes 19, of float16 105 and 31 (one thread, Zen 5). */
enum { FEW_COLUMNS = 8, TURNED_FROM = 1 << 16 };

static bool better_turned(const TsrGemm *g) {
    return g->c.cols < g->c.rows && g->c.cols <= FEW_COLUMNS && (double)g->a.rows * (double)g->a.cols >= TURNED_FROM;
}

static TsrStatus narrow_gemm(const TsrGemm *g) {
    TsrGemm other = {g->dtype, turned(g->b), turned(g->a), turned(g->c), g->alpha, g->beta};
    if (better_turned(g)) g = &other;
    return tsr_gemm_by_pairs(g) ? gemm_by_pairs(g) : half_gemm(g);
}

TsrStatus tsr_gemm(const TsrGemm *g) {
    if (!tsr_gemm_supports(g->dtype) && !tsr_dtype_is_float8(g->dtype))
        return tsr_error(TSR_NOT_IMPLEMENTED_ERROR, "\"addmm_impl_cpu_\" not implemented for '%s'",
                         tsr_dtype_scalar_name(g->dtype));
    if (g->c.rows == 0 || g->c.cols == 0) return TSR_OK;
    TsrBlasType t;
    bool blas = tsr_blas_type(&t, g->dtype);
    if (g->a.cols == 0 || (blas && alpha_is_zero(g))) {
        scale(g->dtype, g->beta, g->c);
        return TSR_OK;
    }
    if (blas) return blas_gemm(t, g);
    if (g->dtype == TSR_FLOAT16 || g->dtype == TSR_BFLOAT16 || tsr_dtype_is_float8(g->dtype)) return narrow_gemm(g);
    return own_gemm_parallel(g);
}

TsrStatus tsr_gemm_chain(const TsrGemm *g) {
    if (chain_product(g, tsr_scalar_to_double(g->beta) != 0)) return tsr_interrupt_check();
    if (g->c.rows * g->c.cols * g->a.cols > 8 * GEMM_TINY) return tsr_gemm(g);
    fused_f32(g, g->c.rows, 1, 0, tsr_scalar_to_double(g->beta) != 0);
    return tsr_interrupt_check();
}

TsrStatus tsr_gemm_short(const TsrGemm *g) {
    double complex alpha = scalar_complex(g->alpha), beta = scalar_complex(g->beta);
    switch (g->a.cols > 0 ? g->dtype : TSR_BOOL) {
    case TSR_FLOAT32: f32_plain(g, (float)creal(alpha), (float)creal(beta)); return TSR_OK;
    case TSR_FLOAT64: f64_plain(g, creal(alpha), creal(beta)); return TSR_OK;
    case TSR_COMPLEX64: small_c64(g, (float complex)alpha, (float complex)beta, WAY_LOOP, NULL); return TSR_OK;
    case TSR_COMPLEX128: return alpha_is_zero(g) ? own_gemm_parallel(g) : tsr_gemm(g);
    default: return tsr_gemm(g);
    }
}

static void step_on(TsrMat *x, int64_t step, size_t item) { x->data = (char *)x->data + (size_t)step * item; }

/* bmm of 1000 of 3 by 3 and 3 by 1, of 1 by 100 and 100 by 1, 10000 of 4 by 4: one call each 25, 58, 385 us, and so
 * 4, 17, 85 (one thread, Zen 5). */
TsrStatus tsr_gemm_short_each(const TsrGemm *first, TsrGemmSteps steps, int64_t count) {
    size_t item = tsr_dtype_size(first->dtype);
    bool plainly = first->a.cols > 0 && scalar_complex(first->alpha) == 1 && scalar_complex(first->beta) == 0;
    if (plainly && (first->dtype == TSR_FLOAT32 || first->dtype == TSR_FLOAT64)) {
        (first->dtype == TSR_FLOAT32 ? f32_short_each : f64_short_each)(first, steps, count);
        return TSR_OK;
    }
    TsrGemm g = *first;
    for (int64_t i = 0; i < count && tsr_interrupt_flag == 0; i++) {
        TSR_TRY(tsr_gemm_short(&g));
        step_on(&g.a, steps.a, item), step_on(&g.b, steps.b, item), step_on(&g.c, steps.c, item);
    }
    return TSR_OK;
}

static bool blas_dot(TsrBlasType t, int64_t n, TsrVec x, TsrVec y, void *out) {
    if (n < 64 || n > INT32_MAX || x.step > INT32_MAX || y.step > INT32_MAX || x.step < 1 || y.step < 1) return false;
    const TsrBlas *blas = tsr_blas_try();
    if (blas == NULL) return false;
    int nn = (int)n, ix = (int)x.step, iy = (int)y.step;
    switch (t) {
    case TSR_BLAS_S: *(float *)out = blas->sdot(nn, x.data, ix, y.data, iy); break;
    case TSR_BLAS_D: *(double *)out = blas->ddot(nn, x.data, ix, y.data, iy); break;
    case TSR_BLAS_C: (x.conj ? blas->cdotc_sub : blas->cdotu_sub)(nn, x.data, ix, y.data, iy, out); break;
    default: (x.conj ? blas->zdotc_sub : blas->zdotu_sub)(nn, x.data, ix, y.data, iy, out); break;
    }
    return true;
}

static TsrVec from_element(TsrVec x, int64_t i, int64_t item) {
    x.data = (const char *)x.data + i * x.step * item;
    return x;
}

/* half_dot's lanes, which are PyTorch's: DOT_LANES for whole groups, DOT_TAIL for what is left of them. DOT_BLOCK
 * elements are widened to float32 at a time. */
enum { DOT_LANES = TSR_HALF_LANES, DOT_TAIL = 8, DOT_BLOCK = 16 * DOT_LANES };

TSR_CLONES static void add_lanes(float *sum, const float *a, const float *b, int64_t n, int lanes) {
    float lane[DOT_LANES];
    memcpy(lane, sum, (size_t)lanes * sizeof *lane);
    if (lanes == DOT_LANES)
        for (int64_t i = 0; i < n; i += DOT_LANES)
            for (int l = 0; l < DOT_LANES; l++) lane[l] += a[i + l] * b[i + l];
    else
        for (int64_t i = 0; i < n; i++) lane[i % lanes] += a[i] * b[i];
    memcpy(sum, lane, (size_t)lanes * sizeof *lane);
}

static float fold_lanes(float *lane, int lanes) {
    for (int width = lanes / 2; width > 0; width /= 2)
        for (int l = 0; l < width; l++) lane[l] += lane[l + width];
    return lane[0];
}

/* As PyTorch's: dense vectors in 64 lanes, what is left of that in 8 as far as sixteens go, and then one by one; others
 * one by one. */
static TsrStatus half_dot(TsrDtype dtype, int64_t n, TsrVec x, TsrVec y, void *out) {
    float a[DOT_BLOCK], b[DOT_BLOCK], lane[DOT_LANES] = {0}, tail[DOT_TAIL] = {0}, sum = 0;
    bool dense = x.step == 1 && y.step == 1;
    TsrHalfLanesFn whole_groups = dense ? tsr_half_lanes_kernel() : NULL;
    int64_t first = whole_groups != NULL && n > 0 ? (n - 1) / DOT_LANES * DOT_LANES : 0; /* all but the last one */
    if (first > 0) whole_groups(lane, x.data, y.data, first, dtype == TSR_BFLOAT16);
    for (int64_t i = first; i < n; i += DOT_BLOCK) {
        int64_t len = TSR_MIN(n - i, (int64_t)DOT_BLOCK), most = dense ? len / DOT_LANES * DOT_LANES : 0,
                more = dense ? len / 16 * 16 : 0;
        tsr_convert(TSR_FLOAT32, (char *)a, 4, dtype, from_element(x, i, 2).data, 2 * x.step, len);
        tsr_convert(TSR_FLOAT32, (char *)b, 4, dtype, from_element(y, i, 2).data, 2 * y.step, len);
        add_lanes(lane, a, b, most, DOT_LANES);
        if (dense && i + len < n) continue;
        add_lanes(tail, a + most, b + most, more - most, DOT_TAIL);
        if (dense) sum = fold_lanes(lane, DOT_LANES) + fold_lanes(tail, DOT_TAIL);
        for (int64_t j = more; j < len; j++) sum += a[j] * b[j];
    }
    tsr_convert(dtype, out, 2, TSR_FLOAT32, (const char *)&sum, 4, 1);
    return TSR_OK;
}

/* Elements of a piece of a long dot product, and how many pieces a job has at most: 1e6 floats took 68 us and take 35
 * (two threads, Zen 5). Halves are summed as PyTorch does it, which is one after the other, but an interrupt must not
 * wait for ever: expanded vectors may be of any length. */
enum { DOT_PIECE = 1 << 16, DOT_HALVES = 1 << 28, DOT_PIECES = 64 };

static int64_t dot_piece(TsrDtype dtype) {
    return dtype == TSR_FLOAT16 || dtype == TSR_BFLOAT16 ? DOT_HALVES : DOT_PIECE;
}

/* Some pieces of a dot product, and their sums, over the threads. */
typedef struct DotJob {
    TsrDtype dtype;
    int64_t n, piece;
    TsrVec x, y;
    TsrScalar sums[DOT_PIECES];
} DotJob;

static void dot_pieces(int64_t begin, int64_t end, void *user) {
    DotJob *j = user;
    int64_t item = (int64_t)tsr_dtype_size(j->dtype);
    char sum[sizeof(TsrComplexDouble)];
    for (int64_t i = begin; i < end; i++) {
        int64_t at = i * j->piece;
        TsrStatus s = tsr_dot(j->dtype, TSR_MIN(j->n - at, j->piece), from_element(j->x, at, item),
                              from_element(j->y, at, item), sum);
        if (s != TSR_OK) tsr_parallel_fail(s);
        else j->sums[i] = tsr_scalar_load(j->dtype, sum);
    }
}

/* The sum of the pieces' sums, in double or in whole numbers. */
static TsrStatus long_dot(TsrDtype dtype, int64_t n, TsrVec x, TsrVec y, void *out) {
    int64_t item = (int64_t)tsr_dtype_size(dtype), piece = dot_piece(dtype), most = piece * DOT_PIECES;
    double re = 0, im = 0;
    uint64_t whole = 0;
    for (int64_t i = 0; i < n; i += most) {
        DotJob job = {dtype, TSR_MIN(n - i, most), piece, from_element(x, i, item), from_element(y, i, item), {{0}}};
        int64_t pieces = (job.n + piece - 1) / piece;
        TSR_TRY(tsr_parallel_for(pieces, 1, dot_pieces, &job));
        for (int64_t p = 0; p < pieces; p++) {
            TsrScalar sum = job.sums[p];
            whole += (uint64_t)tsr_scalar_to_int(sum);
            re += tsr_scalar_to_double(sum);
            if (sum.kind == TSR_SCALAR_COMPLEX) im += sum.c.im;
        }
    }
    tsr_scalar_store(tsr_dtype_is_integral(dtype)  ? tsr_scalar_int((int64_t)whole)
                     : tsr_dtype_is_complex(dtype) ? tsr_scalar_complex(re, im)
                                                   : tsr_scalar_float(re),
                     dtype, out);
    return TSR_OK;
}

TsrStatus tsr_dot(TsrDtype dtype, int64_t n, TsrVec x, TsrVec y, void *out) {
    TsrBlasType t;
    if (n > dot_piece(dtype)) return long_dot(dtype, n, x, y, out);
    if (tsr_blas_type(&t, dtype) && !y.conj && blas_dot(t, n, x, y, out)) return TSR_OK;
    switch (dtype) {
    case TSR_UINT8: u8_dot(n, x, y, out); break;
    case TSR_INT8: i8_dot(n, x, y, out); break;
    case TSR_INT16: i16_dot(n, x, y, out); break;
    case TSR_INT32: i32_dot(n, x, y, out); break;
    case TSR_INT64: i64_dot(n, x, y, out); break;
    case TSR_FLOAT32: *(float *)out = tsr_dots_f32(x.data, x.step, y.data, y.step, n); break;
    case TSR_FLOAT64: *(double *)out = tsr_dots_f64(x.data, x.step, y.data, y.step, n); break;
    case TSR_COMPLEX64:
        tsr_dots_c64(out, x.data, x.step, y.data, y.step, n, (const float[]){x.conj ? -1 : 1, y.conj ? -1 : 1});
        break;
    case TSR_COMPLEX128:
        tsr_dots_c128(out, x.data, x.step, y.data, y.step, n, (const double[]){x.conj ? -1 : 1, y.conj ? -1 : 1});
        break;
    case TSR_FLOAT16:
    case TSR_BFLOAT16: return half_dot(dtype, n, x, y, out);
    default:
        return tsr_error(TSR_NOT_IMPLEMENTED_ERROR, "\"dot\" not implemented for '%s'", tsr_dtype_scalar_name(dtype));
    }
    return TSR_OK;
}
