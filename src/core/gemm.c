/* The matrix product on raw matrices: see gemm.h. */
#include "gemm.h"

#include "blas.h"
#include "loop.h"
#include "parallel.h"
#include "mem.h"

#include <complex.h>
#include <string.h>

enum { GEMM_COLS = 16, GEMM_ROWS = 4 };
/* Up to this many multiplications, in matrices that are narrow somewhere, our own loops are used: the library need not be loaded. */
/* Tiles of a large product: their largest side, how much of the inner dimension is taken at a time, and the multiplications below which none is cut. */
enum { TILE = 1024, TILE_DEPTH = 1536, TILE_LEAST = 1000000 };
enum { GEMM_TINY = 8192, GEMM_NARROW = 16 };

/* Unsigned accumulators: wrapping is defined, and equal to two's complement. */
#define T uint8_t
#define ACC uint32_t
#define VECTOR
#define NAME(x) u8_##x
#define CONJ(v) (v)
#include "kernels/gemm.inc"
#define T int8_t
#define ACC uint32_t
#define VECTOR
#define NAME(x) i8_##x
#define CONJ(v) (v)
#include "kernels/gemm.inc"
#define T int16_t
#define ACC uint32_t
#define VECTOR
#define NAME(x) i16_##x
#define CONJ(v) (v)
#include "kernels/gemm.inc"
#define T int32_t
#define ACC uint32_t
#define VECTOR
#define NAME(x) i32_##x
#define CONJ(v) (v)
#include "kernels/gemm.inc"
#define T int64_t
#define ACC uint64_t
#define VECTOR
#define NAME(x) i64_##x
#define CONJ(v) (v)
#include "kernels/gemm.inc"
/* Small float products are summed one after the other, product and sum rounded each, as MKL's small kernels do: the digits then agree. */
#define T float
#define ACC float
#define NAME(x) f32_##x
#define CONJ(v) (v)
#include "kernels/gemm.inc"
#define T double
#define ACC double
#define NAME(x) f64_##x
#define CONJ(v) (v)
#include "kernels/gemm.inc"
#define T TsrComplexDouble
#define ACC TsrComplexDouble
#define NAME(x) c128_##x
#define CONJ(v) conj(v)
#include "kernels/gemm.inc"

bool tsr_gemm_supports(TsrDtype d) {
    switch (d) {
    case TSR_UINT8: case TSR_INT8: case TSR_INT16: case TSR_INT32: case TSR_INT64: case TSR_FLOAT16: case TSR_BFLOAT16:
    case TSR_FLOAT32: case TSR_FLOAT64: case TSR_COMPLEX64: case TSR_COMPLEX128: return true;
    default: return false;
    }
}

static double complex scalar_complex(TsrScalar s) {
    return s.kind == TSR_SCALAR_COMPLEX ? CMPLX(s.c.re, s.c.im) : CMPLX(tsr_scalar_to_double(s), 0);
}

/* How MKL's small kernels sum a dot product of consecutive floats: up to an address of 16 bytes one by one, then in lanes, which are folded in halves, then the rest. */
static float lanes_dot(const float *x, const float *y, int64_t n, int lanes) {
    float lane[8] = {0};
    int64_t peel = TSR_MIN(n, (int64_t)(-((uintptr_t)x / sizeof(float)) & 3)), full = peel + (n - peel) / lanes * lanes, i = 0;
    for (; i < peel; i++) lane[0] += x[i] * y[i];
    for (; i < full; i++) lane[(i - peel) % lanes] += x[i] * y[i];
    for (int width = lanes / 2; width > 0; width /= 2)
        for (int l = 0; l < width; l++) lane[l] += lane[l + width];
    for (; i < n; i++) lane[0] += x[i] * y[i];
    return lane[0];
}

/* A row times a vector: what is over fours, or one four, goes first. */
static float vector_dot(const float *x, const float *y, int64_t n) {
    float lane[4] = {0};
    int64_t first = n % 4 != 0 ? n % 4 : TSR_MIN(n, (int64_t)4);
    for (int64_t i = 0; i < first; i++) lane[0] += x[i] * y[i];
    for (int64_t i = first; i < n; i++) lane[(i - first) % 4] += x[i] * y[i];
    return (lane[0] + lane[2]) + (lane[1] + lane[3]);
}

/* The same for the up to three rows after the last four: one by one when short, else four, lanes of sixteen, lanes of eight, and the rest. */
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

/* A dot product alone: sixteen lanes where they hold it all, else four. */
static float short_dot(const float *x, const float *y, int64_t n) {
    float lane[16] = {0};
    int width = n <= 12 ? 16 : 4;
    for (int64_t i = 0; i < n; i++) lane[i % width] += x[i] * y[i];
    for (width /= 2; width > 0; width /= 2)
        for (int l = 0; l < width; l++) lane[l] += lane[l + width];
    return lane[0];
}

/* The elements of a row before its first address of 16 bytes: of eight products the first four are added one by one, the others together. */
static void peeled_f32(int64_t columns, int64_t k, float alpha, const float *x, int64_t step, TsrMat b, float *row) {
    for (int64_t j = 0; j < columns; j++) {
        const float *y = (const float *)b.data + j * b.cs;
        float four = 0;
        for (int64_t p = 0; p < k; p++) {
            float product = alpha * x[p * step] * y[p * b.rs];
            if (p % 8 < 4 || p >= k / 8 * 8) row[j] += product;
            else four = p % 8 == 4 ? product : four + product;
            if (p % 8 == 7) row[j] += four;
        }
    }
}

/* As MKL's small kernels: c = beta c, then the products alpha a b added one after the other, each rounded. */
static void small_f32(int64_t m, int64_t n, int64_t k, float alpha, TsrMat a, TsrMat b, float beta, TsrMat c) {
    bool dots = a.cs == 1 && b.rs == 1 && (b.cs != 1 || n == 1) && m > 1;
    for (int64_t i = 0; i < m; i++) {
        const float *x = (const float *)a.data + i * a.rs;
        float *row = (float *)c.data + i * c.rs;
        for (int64_t j = 0; j < n; j++) {
            float *dst = row + j * c.cs, scaled = beta == 0 ? 0 : beta * *dst;
            const float *column = (const float *)b.data + j * b.cs;
            if (!dots) *dst = scaled;
            else *dst = scaled + alpha * (n == 1 ? (i < m / 4 * 4 ? vector_dot : last_rows_dot)(x, column, k) : lanes_dot(x, column, k, j < n / 4 * 4 ? 4 : 8));
        }
        int64_t peel = c.cs == 1 ? (int64_t)(-((uintptr_t)row / sizeof(float)) & 3) : 0;
        if (n - peel < 4) peel = 0;
        if (!dots) peeled_f32(peel, k, alpha, x, a.cs, b, row);
        for (int64_t p = 0; p < k && !dots; p++) {
            const float *y = (const float *)b.data + p * b.rs;
            float v = alpha * x[p * a.cs];
            for (int64_t j = peel; j < n; j++) row[j * c.cs] += v * y[j * b.cs];
        }
    }
}

/* Both sides transposed: each sum apart, then added. */
static void transposed_f32(int64_t m, int64_t n, int64_t k, float alpha, TsrMat a, TsrMat b, float beta, TsrMat c) {
    for (int64_t i = 0; i < m; i++)
        for (int64_t j = 0; j < n; j++) {
            const float *x = (const float *)a.data + i * a.rs, *y = (const float *)b.data + j * b.cs;
            float *dst = (float *)c.data + i * c.rs + j * c.cs, sum = 0;
            for (int64_t p = 0; p < k; p++) sum += x[p * a.cs] * y[p];
            *dst = beta == 0 ? alpha * sum : beta * *dst + alpha * sum;
        }
}

/* From FUSED_ROWS rows and FUSED_COLS columns on MKL has a kernel of fused multiplications and additions. The rows it does: two threads share them in fours,
 * and what is too little for it is done as a small product. */
enum { FUSED_ROWS = 4, FUSED_COLS = 12 };

static int64_t fused_rows(int64_t m, int64_t n, int64_t k) {
    if (m < FUSED_ROWS || n < FUSED_COLS) return 0;
    int64_t first = ((m + 1) / 2 + 3) / 4 * 4;
    bool together = k <= 4 || (n <= 16 && k <= 16);
    return together || m - first >= FUSED_ROWS ? m : first;
}

TSR_CLONES static void fused_f32(int64_t m, int64_t n, int64_t k, float alpha, TsrMat a, TsrMat b, float beta, TsrMat c, bool onto) {
    enum { BLOCK = 64 };
    float sum[BLOCK];
    for (int64_t i = 0; i < m; i++)
        for (int64_t from = 0; from < n; from += BLOCK) {
            int64_t width = TSR_MIN(n - from, (int64_t)BLOCK);
            const float *x = (const float *)a.data + i * a.rs, *y = (const float *)b.data + from * b.cs;
            float *row = (float *)c.data + i * c.rs + from * c.cs;
            for (int64_t j = 0; j < width; j++) sum[j] = onto ? row[j * c.cs] : 0;
            for (int64_t p = 0; p < k; p++)
                for (int64_t j = 0; j < width; j++) sum[j] = __builtin_fmaf(x[p * a.cs], y[p * b.rs + j * b.cs], sum[j]);
            for (int64_t j = 0; j < width; j++) row[j * c.cs] = beta == 0 ? alpha * sum[j] : __builtin_fmaf(alpha, sum[j], beta * row[j * c.cs]);
        }
}

static TsrMat from_row(TsrMat x, int64_t row, size_t item) {
    x.data = (char *)x.data + (size_t)(row * x.rs) * item;
    return x;
}

static void tiny_f32(int64_t m, int64_t n, int64_t k, float alpha, TsrMat a, TsrMat b, float beta, TsrMat c) {
    int64_t fused = fused_rows(m, n, k);
    fused_f32(fused, n, k, alpha, a, b, beta, c, false);
    bool transposed = a.rs == 1 && a.cs != 1 && b.rs == 1 && b.cs != 1;
    (transposed ? transposed_f32 : small_f32)(m - fused, n, k, alpha, from_row(a, fused, sizeof(float)), b, beta, from_row(c, fused, sizeof(float)));
}

/* A line of k complex numbers, conjugated if `conj`, each multiplied by `scale` as it is read. */
typedef struct ComplexLine { const TsrComplexFloat *data; int64_t step; bool conj; float complex scale; } ComplexLine;

static inline float complex times(float complex x, float complex y) {
    return CMPLXF(crealf(x) * crealf(y) - cimagf(x) * cimagf(y), crealf(x) * cimagf(y) + cimagf(x) * crealf(y));
}

static inline float complex line_at(const ComplexLine *l, int64_t i) {
    float complex v = l->data[i * l->step];
    if (l->conj) v = conjf(v);
    return l->scale == 1 ? v : times(v, l->scale);
}

/* The four real products of a complex one are summed apart, fused, and combined at the end. */
TSR_CLONES static float complex complex_sum(const ComplexLine *x, const ComplexLine *y, int64_t n) {
    float rr = 0, ii = 0, ri = 0, ir = 0;
    for (int64_t p = 0; p < n; p++) {
        float complex u = line_at(x, p), v = line_at(y, p);
        rr = __builtin_fmaf(crealf(u), crealf(v), rr);
        ii = __builtin_fmaf(cimagf(u), cimagf(v), ii);
        ri = __builtin_fmaf(crealf(u), cimagf(v), ri);
        ir = __builtin_fmaf(cimagf(u), crealf(v), ir);
    }
    return CMPLXF(rr - ii, ri + ir);
}

/* Complex products, rounded each, added to `sum` in order: what PyTorch's own loop for small batches does, and MKL for narrow or shallow matrices. */
static float complex plain_sum(float complex sum, const ComplexLine *x, const ComplexLine *y, int64_t n) {
    for (int64_t p = 0; p < n; p++) sum += times(line_at(x, p), line_at(y, p));
    return sum;
}

/* The ways of PyTorch's own loop, which scales the sum, and of MKL: onto the summand with a scaled, apart from it with b scaled, and by vectors. */
typedef enum ComplexWay { WAY_LOOP, WAY_PLAIN, WAY_FUSED, WAY_VECTOR } ComplexWay;

static float complex complex_element(ComplexWay way, int64_t k, float complex alpha, ComplexLine *x, ComplexLine *y, float complex summand) {
    if (way == WAY_LOOP) return times(plain_sum(0, x, y, k), alpha) + summand;
    if (way == WAY_VECTOR) return times(complex_sum(x, y, k), alpha) + summand;
    (way == WAY_PLAIN ? x : y)->scale = alpha;
    return way == WAY_PLAIN ? plain_sum(summand, x, y, k) : complex_sum(x, y, k) + summand;
}

static void small_c64(int64_t m, int64_t n, int64_t k, float complex alpha, TsrMat a, TsrMat b, float complex beta, TsrMat c, ComplexWay way) {
    for (int64_t i = 0; i < m; i++)
        for (int64_t j = 0; j < n; j++) {
            TsrComplexFloat *dst = (TsrComplexFloat *)c.data + i * c.rs + j * c.cs;
            ComplexLine x = {(const TsrComplexFloat *)a.data + i * a.rs, a.cs, a.conj, 1}, y = {(const TsrComplexFloat *)b.data + j * b.cs, b.rs, b.conj, 1};
            *dst = complex_element(way, k, alpha, &x, &y, beta == 0 ? 0 : times(*dst, beta));
        }
}

/* MKL's choice, by the sizes and by whether b lies in columns. */
static ComplexWay complex_way(int64_t m, int64_t n, int64_t k, bool columns) {
    if (m == 1 || n == 1) return m * n * k < 64 ? WAY_LOOP : WAY_VECTOR;
    return n >= 4 && k >= 4 ? WAY_FUSED : columns ? WAY_LOOP : WAY_PLAIN;
}

/* One own product's column blocks, handed to the thread pool. */
typedef struct OwnJob { TsrDtype dtype; int64_t m, n, k; TsrScalar alpha, beta; TsrMat a, b, c; } OwnJob;
static TsrStatus own_gemm(TsrDtype dtype, int64_t m, int64_t n, int64_t k, TsrScalar alpha, TsrMat a, TsrMat b, TsrScalar beta, TsrMat c);

static void own_columns(int64_t begin, int64_t end, void *user) {
    OwnJob *j = user;
    int64_t item = (int64_t)tsr_dtype_size(j->dtype), from = begin * GEMM_COLS, to = TSR_MIN(end * GEMM_COLS, j->n);
    TsrMat b = j->b, c = j->c;
    b.data = (char *)b.data + from * b.cs * item;
    c.data = (char *)c.data + from * c.cs * item;
    TsrStatus s = own_gemm(j->dtype, j->m, to - from, j->k, j->alpha, j->a, b, j->beta, c);
    if (s != TSR_OK) tsr_parallel_fail(s);
}

static TsrStatus own_gemm_parallel(TsrDtype dtype, int64_t m, int64_t n, int64_t k, TsrScalar alpha, TsrMat a, TsrMat b, TsrScalar beta, TsrMat c) {
    double work = (double)m * (double)n * (double)k;
    if (work < 2 * TSR_CHUNK_PRODUCTS) return own_gemm(dtype, m, n, k, alpha, a, b, beta, c);
    OwnJob job = {dtype, m, n, k, alpha, beta, a, b, c};
    return tsr_parallel_for((n + GEMM_COLS - 1) / GEMM_COLS, TSR_MAX(1, (int64_t)(TSR_CHUNK_PRODUCTS / ((double)m * (double)k * GEMM_COLS + 1))), own_columns, &job);
}

static TsrStatus own_gemm(TsrDtype dtype, int64_t m, int64_t n, int64_t k, TsrScalar alpha, TsrMat a, TsrMat b, TsrScalar beta, TsrMat c) {
    char local[16384];
    size_t need, item = TSR_MAX(tsr_dtype_size(dtype), (size_t)4);
    if (tsr_mul_size_overflows((size_t)k, GEMM_COLS * item, &need)) return tsr_error_no_memory(SIZE_MAX);
    void *panel = local;
    if (need > sizeof local && (panel = tsr_malloc(need)) == NULL) return tsr_error_no_memory(need);
    int64_t ia = tsr_scalar_to_int(alpha), ib = tsr_scalar_to_int(beta);
    double fa = tsr_scalar_to_double(alpha), fb = tsr_scalar_to_double(beta);
    double complex ca = scalar_complex(alpha), cb = scalar_complex(beta);
    switch (dtype) {
    case TSR_UINT8: u8_gemm(m, n, k, (uint32_t)ia, a, b, (uint32_t)ib, c, panel); break;
    case TSR_INT8: i8_gemm(m, n, k, (uint32_t)ia, a, b, (uint32_t)ib, c, panel); break;
    case TSR_INT16: i16_gemm(m, n, k, (uint32_t)ia, a, b, (uint32_t)ib, c, panel); break;
    case TSR_INT32: i32_gemm(m, n, k, (uint32_t)ia, a, b, (uint32_t)ib, c, panel); break;
    case TSR_INT64: i64_gemm(m, n, k, (uint64_t)ia, a, b, (uint64_t)ib, c, panel); break;
    case TSR_FLOAT32: tiny_f32(m, n, k, (float)fa, a, b, (float)fb, c); break;
    case TSR_FLOAT64: f64_gemm(m, n, k, fa, a, b, fb, c, panel); break;
    case TSR_COMPLEX64: small_c64(m, n, k, (float complex)ca, a, b, (float complex)cb, c, complex_way(m, n, k, b.rs == 1 && b.cs != 1)); break;
    default: c128_gemm(m, n, k, ca, a, b, cb, c, panel); break;
    }
    if (panel != local) tsr_free(panel);
    return tsr_interrupt_check();
}

/* A matrix as BLAS wants it in row-major terms: `trans` and a leading dimension; `copy` is owned when it had to be packed. */
typedef struct BlasMat { const void *data; int trans, ld; void *copy; } BlasMat;

static TsrStatus blas_pack(BlasMat *out, const TsrMat *x, int64_t rows, int64_t cols, TsrDtype dtype) {
    size_t item = tsr_dtype_size(dtype), bytes;
    if (tsr_mul_size_overflows((size_t)rows * item, (size_t)cols, &bytes)) return tsr_error_no_memory(SIZE_MAX);
    char *copy = tsr_malloc(bytes);
    if (copy == NULL) return tsr_error_no_memory(bytes);
    for (int64_t i = 0; i < rows; i++)
        tsr_convert(dtype, copy + (size_t)(i * cols) * item, (int64_t)item, dtype, (const char *)x->data + i * x->rs * (int64_t)item, x->cs * (int64_t)item, cols);
    *out = (BlasMat){copy, x->conj ? TSR_CBLAS_CN : TSR_CBLAS_N, 0, copy};
    return tsr_blas_int(&out->ld, TSR_MAX(cols, 1));
}

static TsrStatus blas_mat(BlasMat *out, const TsrMat *x, int64_t rows, int64_t cols, TsrDtype dtype) {
    out->copy = NULL;
    out->data = x->data;
    if ((x->cs == 1 || cols == 1) && (x->rs >= cols || rows == 1) && x->rs >= 0 && (cols > 1 || x->rs > 0 || rows == 1)) {
        out->trans = x->conj ? TSR_CBLAS_CN : TSR_CBLAS_N;
        return tsr_blas_int(&out->ld, rows == 1 ? TSR_MAX(cols, 1) : x->rs);
    }
    if ((x->rs == 1 || rows == 1) && (x->cs >= rows || cols == 1) && (rows > 1 || x->cs > 0)) {
        out->trans = x->conj ? TSR_CBLAS_CT : TSR_CBLAS_T;
        return tsr_blas_int(&out->ld, cols == 1 ? TSR_MAX(rows, 1) : x->cs);
    }
    return blas_pack(out, x, rows, cols, dtype);
}

static void gemm_call(const TsrBlas *blas, TsrBlasType t, const int *mnk, TsrScalar alpha, const BlasMat *a, const BlasMat *b, TsrScalar beta, void *c, int ldc) {
    int m = mnk[0], n = mnk[1], k = mnk[2], row = TSR_CBLAS_ROW;
    double complex za = scalar_complex(alpha), zb = scalar_complex(beta);
    float complex ca = (float complex)za, cb = (float complex)zb;
    switch (t) {
    case TSR_BLAS_S: blas->sgemm(row, a->trans, b->trans, m, n, k, crealf(ca), a->data, a->ld, b->data, b->ld, crealf(cb), c, ldc); break;
    case TSR_BLAS_D: blas->dgemm(row, a->trans, b->trans, m, n, k, creal(za), a->data, a->ld, b->data, b->ld, creal(zb), c, ldc); break;
    case TSR_BLAS_C: blas->cgemm(row, a->trans, b->trans, m, n, k, &ca, a->data, a->ld, b->data, b->ld, &cb, c, ldc); break;
    default: blas->zgemm(row, a->trans, b->trans, m, n, k, &za, a->data, a->ld, b->data, b->ld, &zb, c, ldc); break;
    }
}

/* Large products are cut into tiles that the thread pool takes, and these in depth: an interrupt is seen between two, and a busy processor holds up one. */
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
        gemm_call(j->blas, j->type, mnk, j->alpha, &a, &b, at == 0 ? j->beta : tsr_scalar_int(1), j->c + (size_t)(row * j->ldc + col) * j->item, j->ldc);
    }
}

static void run_tiles(int64_t begin, int64_t end, void *user) {
    const TileJob *j = user;
    (void)tsr_blas_try(); /* for its rule about threads: one in a job */
    for (int64_t i = begin; i < end; i++) run_tile(j, i / j->across * j->rows, i % j->across * j->cols);
}

/* Pieces small enough to be soon done, large enough for OpenBLAS to run at its peak, and an even number of them. They depend on no number of threads. */
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
    j->depth = j->k < 2 * TILE_DEPTH / cost[j->type] ? j->k : TILE_DEPTH / cost[j->type];
}

static TsrStatus gemm_tiles(TileJob *j) {
    choose_tiles(j);
    int64_t tiles = j->down * j->across;
    if (tiles > 1) return tsr_parallel_for(tiles, 1, run_tiles, j);
    run_tiles(0, 1, j);
    return tsr_interrupt_check();
}

/* The vector form y = beta y + alpha A x, A (rows, cols) as given to gemm. */
static void gemv_call(const TsrBlas *blas, TsrBlasType t, const BlasMat *a, int rows, int cols, TsrScalar alpha, const void *x, int incx, TsrScalar beta, void *y, int incy) {
    double complex za = scalar_complex(alpha), zb = scalar_complex(beta);
    float complex ca = (float complex)za, cb = (float complex)zb;
    bool trans = a->trans == TSR_CBLAS_T;
    int m = trans ? cols : rows, n = trans ? rows : cols, op = trans ? TSR_CBLAS_T : TSR_CBLAS_N, row = TSR_CBLAS_ROW;
    switch (t) {
    case TSR_BLAS_S: blas->sgemv(row, op, m, n, crealf(ca), a->data, a->ld, x, incx, crealf(cb), y, incy); break;
    case TSR_BLAS_D: blas->dgemv(row, op, m, n, creal(za), a->data, a->ld, x, incx, creal(zb), y, incy); break;
    case TSR_BLAS_C: blas->cgemv(row, op, m, n, &ca, a->data, a->ld, x, incx, &cb, y, incy); break;
    default: blas->zgemv(row, op, m, n, &za, a->data, a->ld, x, incx, &zb, y, incy); break;
    }
}

static bool plain(const BlasMat *a) { return a->trans == TSR_CBLAS_N || a->trans == TSR_CBLAS_T; }

static TsrStatus gemm_with(const TsrBlas *blas, TsrBlasType t, TsrDtype dtype, const int *mnk, TsrScalar alpha, TsrMat a, TsrMat b, TsrScalar beta, TsrMat c) {
    BlasMat ma = {0}, mb = {0};
    TsrStatus s = TSR_OK;
    int ldc = 0, incx = 0, incy = 0;
    if (mnk[1] == 1 && !b.conj && b.rs > 0) { /* matrix times vector */
        s = blas_mat(&ma, &a, mnk[0], mnk[2], dtype);
        if (s == TSR_OK && plain(&ma)) {
            if ((s = tsr_blas_int(&incx, b.rs)) == TSR_OK && (s = tsr_blas_int(&incy, mnk[0] == 1 ? 1 : c.rs)) == TSR_OK)
                gemv_call(blas, t, &ma, mnk[0], mnk[2], alpha, b.data, incx, beta, c.data, incy);
            tsr_free(ma.copy);
            return s;
        }
    } else {
        s = blas_mat(&ma, &a, mnk[0], mnk[2], dtype);
    }
    if (s == TSR_OK) s = blas_mat(&mb, &b, mnk[2], mnk[1], dtype);
    if (s == TSR_OK) s = tsr_blas_int(&ldc, mnk[0] == 1 ? TSR_MAX(mnk[1], 1) : c.rs);
    TileJob job = {.blas = blas, .type = t, .item = tsr_dtype_size(dtype), .m = mnk[0], .n = mnk[1], .k = mnk[2], .alpha = alpha, .beta = beta,
                   .a = ma, .b = mb, .c = c.data, .ldc = ldc};
    if (s == TSR_OK) s = gemm_tiles(&job);
    tsr_free(ma.copy);
    tsr_free(mb.copy);
    return s;
}

static void swap_transpose(TsrMat *x) {
    int64_t rs = x->rs;
    x->rs = x->cs;
    x->cs = rs;
}

static TsrStatus blas_gemm(TsrBlasType t, TsrDtype dtype, int64_t m, int64_t n, int64_t k, TsrScalar alpha, TsrMat a, TsrMat b, TsrScalar beta, TsrMat c) {
    const TsrBlas *blas = m * n * k <= GEMM_TINY && TSR_MIN(m, TSR_MIN(n, k)) < GEMM_NARROW ? NULL : tsr_blas_try();
    if (blas == NULL) return own_gemm(dtype, m, n, k, alpha, a, b, beta, c);
    bool rows_ok = (c.cs == 1 || n == 1) && (c.rs >= n || m == 1), cols_ok = (c.rs == 1 || m == 1) && (c.cs >= m || n == 1);
    if (!rows_ok && !cols_ok) return own_gemm(dtype, m, n, k, alpha, a, b, beta, c);
    if (!rows_ok || (m == 1 && n > 1)) { /* c is column-major, or a row vector times a matrix: the transposed problem */
        TsrMat x = a;
        a = b, b = x;
        swap_transpose(&a), swap_transpose(&b), swap_transpose(&c);
        int64_t y = m;
        m = n, n = y;
    }
    int mnk[3];
    TSR_TRY(tsr_blas_int(&mnk[0], m));
    TSR_TRY(tsr_blas_int(&mnk[1], n));
    TSR_TRY(tsr_blas_int(&mnk[2], k));
    return gemm_with(blas, t, dtype, mnk, alpha, a, b, beta, c);
}

/* c = beta * c for an empty inner dimension. */
static void scale(TsrDtype dtype, int64_t m, int64_t n, TsrScalar beta, TsrMat c) {
    size_t item = tsr_dtype_size(dtype);
    char rounded[16];
    tsr_scalar_store(beta, dtype, rounded);
    beta = tsr_scalar_load(dtype, rounded);
    double complex b = scalar_complex(beta);
    for (int64_t i = 0; i < m; i++)
        for (int64_t j = 0; j < n; j++) {
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
typedef struct ConvertJob { TsrDtype to, from; TsrMat dst, src; int64_t cols; } ConvertJob;

static void convert_rows(int64_t begin, int64_t end, void *user) {
    const ConvertJob *j = user;
    int64_t di = (int64_t)tsr_dtype_size(j->to), si = (int64_t)tsr_dtype_size(j->from);
    for (int64_t i = begin; i < end; i++)
        tsr_convert(j->to, (char *)j->dst.data + i * j->dst.rs * di, j->dst.cs * di, j->from, (const char *)j->src.data + i * j->src.rs * si, j->src.cs * si, j->cols);
}

static TsrStatus convert_mat(TsrDtype to, TsrMat dst, TsrDtype from, TsrMat src, int64_t rows, int64_t cols) {
    ConvertJob job = {to, from, dst, src, cols};
    return tsr_parallel_for(rows, tsr_grain(cols / 2), convert_rows, &job);
}

/* The same column by column, for what lies so. */
static TsrStatus convert_turned(TsrDtype to, TsrMat dst, TsrDtype from, TsrMat src, int64_t rows, int64_t cols) {
    swap_transpose(&dst), swap_transpose(&src);
    return convert_mat(to, dst, from, src, cols, rows);
}

/* A product with few rows on the left, whose right side is used up as it is widened, some columns at a time, which stay in the second cache. */
typedef struct ThinJob {
    TsrDtype dtype;
    int64_t m, n, k, width;
    TsrScalar alpha, beta;
    TsrMat a, b, c; /* a and c: floats; b: halves, dense along k */
} ThinJob;

static void thin_columns(int64_t begin, int64_t end, void *user) {
    const ThinJob *j = user;
    size_t bytes = (size_t)(j->width * j->k) * sizeof(float);
    float *wide = tsr_malloc(bytes);
    TsrStatus s = wide != NULL ? TSR_OK : tsr_error_no_memory(bytes);
    (void)tsr_blas_try(); /* for its rule about threads: one in a job */
    for (int64_t i = begin; i < end && s == TSR_OK; i++) {
        int64_t first = i * j->width, n = TSR_MIN(j->width, j->n - first);
        for (int64_t col = 0; col < n; col++) tsr_convert(TSR_FLOAT32, (char *)(wide + col * j->k), 4, j->dtype, (const char *)j->b.data + (first + col) * j->b.cs * 2, 2, j->k);
        TsrMat b = {wide, 1, j->k, false}, c = {(float *)j->c.data + first, j->c.rs, 1, false};
        s = blas_gemm(TSR_BLAS_S, TSR_FLOAT32, j->m, n, j->k, j->alpha, j->a, b, j->beta, c);
    }
    tsr_free(wide);
    if (s != TSR_OK) tsr_parallel_fail(s);
}

enum { THIN_ROWS = 4, THIN_BYTES = 1 << 17, THIN_LEAST = 1 << 16 };

static bool is_thin(int64_t m, int64_t n, int64_t k, const TsrMat *b) { return m <= THIN_ROWS && b->rs == 1 && b->cs >= k && n * k >= THIN_LEAST; }

static TsrStatus thin_product(TsrDtype dtype, int64_t m, int64_t n, int64_t k, TsrScalar alpha, TsrMat a, TsrMat b, TsrScalar beta, TsrMat c) {
    ThinJob job = {dtype, m, n, k, TSR_MAX(THIN_BYTES / 4 / k / 8 * 8, (int64_t)8), alpha, beta, a, b, c};
    return tsr_parallel_for((n + job.width - 1) / job.width, 1, thin_columns, &job);
}

/* Half precision: widened to float32, one product, rounded once. */
static TsrStatus half_gemm(TsrDtype dtype, int64_t m, int64_t n, int64_t k, TsrScalar alpha, TsrMat a, TsrMat b, TsrScalar beta, TsrMat c) {
    int64_t floats, part;
    size_t bytes;
    bool thin = is_thin(m, n, k, &b), turned = b.rs == 1 && b.cs != 1 && n * k >= THIN_LEAST;
    if (tsr_mul_overflows(m, k, &floats) || tsr_mul_overflows(k, n, &part) || tsr_add_overflows(floats, thin ? 0 : part, &floats) || tsr_mul_overflows(m, n, &part) ||
        tsr_add_overflows(floats, part, &floats) || tsr_mul_size_overflows((size_t)floats, 4, &bytes))
        return tsr_error_no_memory(SIZE_MAX);
    char *wide = tsr_malloc(bytes);
    if (wide == NULL) return tsr_error_no_memory(bytes);
    TsrMat wa = {wide, k, 1, false}, wc = {wide + 4 * m * k, n, 1, false}, wb = {wide + 4 * (m * k + m * n), turned ? 1 : n, turned ? k : 1, false};
    TsrStatus s = convert_mat(TSR_FLOAT32, wa, dtype, a, m, k);
    if (s == TSR_OK && tsr_scalar_to_double(beta) != 0) s = convert_mat(TSR_FLOAT32, wc, dtype, c, m, n);
    if (s == TSR_OK && !thin) s = turned ? convert_turned(TSR_FLOAT32, wb, dtype, b, k, n) : convert_mat(TSR_FLOAT32, wb, dtype, b, k, n);
    if (s == TSR_OK) s = thin ? thin_product(dtype, m, n, k, alpha, wa, b, beta, wc) : blas_gemm(TSR_BLAS_S, TSR_FLOAT32, m, n, k, alpha, wa, wb, beta, wc);
    if (s == TSR_OK) s = convert_mat(dtype, c, TSR_FLOAT32, wc, m, n);
    tsr_free(wide);
    return s;
}

TsrStatus tsr_gemm(TsrDtype dtype, int64_t m, int64_t n, int64_t k, TsrScalar alpha, TsrMat a, TsrMat b, TsrScalar beta, TsrMat c) {
    if (!tsr_gemm_supports(dtype)) return tsr_error(TSR_NOT_IMPLEMENTED_ERROR, "\"addmm_impl_cpu_\" not implemented for '%s'", tsr_dtype_scalar_name(dtype));
    if (m == 0 || n == 0) return TSR_OK;
    if (k == 0) {
        scale(dtype, m, n, beta, c);
        return TSR_OK;
    }
    TsrBlasType t;
    if (tsr_blas_type(&t, dtype)) return blas_gemm(t, dtype, m, n, k, alpha, a, b, beta, c);
    if (dtype == TSR_FLOAT16 || dtype == TSR_BFLOAT16) return half_gemm(dtype, m, n, k, alpha, a, b, beta, c);
    return own_gemm_parallel(dtype, m, n, k, alpha, a, b, beta, c);
}

TsrStatus tsr_gemm_chain(int64_t m, int64_t n, int64_t k, TsrMat a, TsrMat b, TsrMat c, bool onto) {
    if (m * n * k > 8 * GEMM_TINY) return tsr_gemm(TSR_FLOAT32, m, n, k, tsr_scalar_int(1), a, b, tsr_scalar_int(onto), c);
    fused_f32(m, n, k, 1, a, b, 0, c, onto);
    return TSR_OK;
}

TsrStatus tsr_gemm_short(TsrDtype dtype, int64_t m, int64_t n, int64_t k, TsrScalar alpha, TsrMat a, TsrMat b, TsrScalar beta, TsrMat c) {
    float panel[TSR_GEMM_SHORT * GEMM_COLS];
    double complex ca = scalar_complex(alpha), cb = scalar_complex(beta);
    if (dtype == TSR_FLOAT32 && k > 0 && k < TSR_GEMM_SHORT) f32_gemm(m, n, k, (float)creal(ca), a, b, (float)creal(cb), c, panel);
    else if (dtype == TSR_COMPLEX64 && k > 0) small_c64(m, n, k, (float complex)ca, a, b, (float complex)cb, c, WAY_LOOP);
    else return tsr_gemm(dtype, m, n, k, alpha, a, b, beta, c);
    return TSR_OK;
}

static bool blas_dot(TsrBlasType t, int64_t n, const void *x, int64_t incx, const void *y, int64_t incy, bool conj_x, void *out) {
    if (n < 64 || n > INT32_MAX || incx > INT32_MAX || incy > INT32_MAX || incx < 1 || incy < 1) return false;
    const TsrBlas *blas = tsr_blas_try();
    if (blas == NULL) return false;
    int nn = (int)n, ix = (int)incx, iy = (int)incy;
    switch (t) {
    case TSR_BLAS_S: *(float *)out = blas->sdot(nn, x, ix, y, iy); break;
    case TSR_BLAS_D: *(double *)out = blas->ddot(nn, x, ix, y, iy); break;
    case TSR_BLAS_C: (conj_x ? blas->cdotc_sub : blas->cdotu_sub)(nn, x, ix, y, iy, out); break;
    default: (conj_x ? blas->zdotc_sub : blas->zdotu_sub)(nn, x, ix, y, iy, out); break;
    }
    return true;
}

static TsrStatus half_dot(TsrDtype dtype, int64_t n, const char *x, int64_t incx, const char *y, int64_t incy, void *out) {
    float a[256], b[256], sum = 0;
    for (int64_t i = 0; i < n; i += 256) {
        int64_t len = TSR_MIN(n - i, 256);
        tsr_convert(TSR_FLOAT32, (char *)a, 4, dtype, x + 2 * i * incx, 2 * incx, len);
        tsr_convert(TSR_FLOAT32, (char *)b, 4, dtype, y + 2 * i * incy, 2 * incy, len);
        for (int64_t j = 0; j < len; j++) sum += a[j] * b[j];
    }
    tsr_convert(dtype, out, 2, TSR_FLOAT32, (const char *)&sum, 4, 1);
    return TSR_OK;
}

enum { DOT_PIECE = 1 << 28 }; /* between two looks for an interrupt: hardly ever in memory, but expanded vectors may be of any length */

/* The same sum by pieces, in double or in whole numbers. */
static TsrStatus long_dot(TsrDtype dtype, int64_t n, const char *x, int64_t incx, const char *y, int64_t incy, bool conj_x, bool conj_y, void *out) {
    int64_t item = (int64_t)tsr_dtype_size(dtype);
    double re = 0, im = 0;
    uint64_t whole = 0;
    for (int64_t i = 0; i < n; i += DOT_PIECE) {
        TSR_TRY(tsr_interrupt_check());
        TSR_TRY(tsr_dot(dtype, TSR_MIN(n - i, (int64_t)DOT_PIECE), x + i * incx * item, incx, y + i * incy * item, incy, conj_x, conj_y, out));
        TsrScalar part = tsr_scalar_load(dtype, out);
        whole += (uint64_t)tsr_scalar_to_int(part);
        re += tsr_scalar_to_double(part);
        if (part.kind == TSR_SCALAR_COMPLEX) im += part.c.im;
    }
    tsr_scalar_store(tsr_dtype_is_integral(dtype) ? tsr_scalar_int((int64_t)whole) : tsr_dtype_is_complex(dtype) ? tsr_scalar_complex(re, im) : tsr_scalar_float(re), dtype, out);
    return TSR_OK;
}

TsrStatus tsr_dot(TsrDtype dtype, int64_t n, const void *x, int64_t incx, const void *y, int64_t incy, bool conj_x, bool conj_y, void *out) {
    TsrBlasType t;
    if (n > DOT_PIECE) return long_dot(dtype, n, x, incx, y, incy, conj_x, conj_y, out);
    if (tsr_blas_type(&t, dtype) && !conj_y && blas_dot(t, n, x, incx, y, incy, conj_x, out)) return TSR_OK;
    switch (dtype) {
    case TSR_UINT8: u8_dot(n, x, incx, y, incy, false, false, out); break;
    case TSR_INT8: i8_dot(n, x, incx, y, incy, false, false, out); break;
    case TSR_INT16: i16_dot(n, x, incx, y, incy, false, false, out); break;
    case TSR_INT32: i32_dot(n, x, incx, y, incy, false, false, out); break;
    case TSR_INT64: i64_dot(n, x, incx, y, incy, false, false, out); break;
    case TSR_FLOAT32:
        if (incx == 1 && incy == 1) *(float *)out = short_dot(x, y, n);
        else f32_dot(n, x, incx, y, incy, false, false, out);
        break;
    case TSR_FLOAT64: f64_dot(n, x, incx, y, incy, false, false, out); break;
    case TSR_COMPLEX64: {
        ComplexLine u = {x, incx, conj_x, 1}, v = {y, incy, conj_y, 1};
        *(float complex *)out = n < 3 ? plain_sum(0, &u, &v, n) : complex_sum(&u, &v, n);
        break;
    }
    case TSR_COMPLEX128: c128_dot(n, x, incx, y, incy, conj_x, conj_y, out); break;
    case TSR_FLOAT16: case TSR_BFLOAT16: return half_dot(dtype, n, x, incx, y, incy, out);
    default: return tsr_error(TSR_NOT_IMPLEMENTED_ERROR, "\"dot\" not implemented for '%s'", tsr_dtype_scalar_name(dtype));
    }
    return TSR_OK;
}
