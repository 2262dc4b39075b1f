/* gemm.h: products of matrices of any strides are those of the plain sums. Numbers are small and whole, so that every
 * dtype has the exact sums; in which order others are added stands in tests/torch/rounding. */
#include "suite.h"

#include <complex.h>
#include <math.h>
#include <string.h>

#include "core/engine/gemm.h"
#include "core/engine/gemm_few.h"
#include "core/kernels/matrix/chain.h"
#include "core/kernels/matrix/pairs.h"
#include "core/kernels/simd.h"
#include "core/mem.h"
#include "core/parallel.h"
#include "core/some_tensors.h"

/* --- whole numbers, of which every dtype has the exact sums --- */

/* A rows by columns matrix somewhere in memory of its own: row- or column-major, with gaps, or with gaps both ways. */
typedef struct Made {
    TsrMat mat;
    TsrTensor *memory;
} Made;

static TsrScalar small_number(TsrDtype d) {
    int64_t value = (int64_t)below(5) - (tsr_dtype_is_signed(d) ? 2 : 0);
    return tsr_dtype_is_complex(d) ? tsr_scalar_complex((double)value, (double)below(3) - 1) : tsr_scalar_int(value);
}

static Made new_matrix(int64_t rows, int64_t columns, TsrDtype d, bool may_conj) {
    static const int64_t gaps[] = {0, 0, 1, 5};
    int64_t gap = gaps[below(4)], step = below(6) == 0 ? 2 : 1, rs, cs;
    if (below(2)) rs = columns * step + gap, cs = step;
    else cs = rows * step + gap, rs = step;
    int64_t n = 1 + (rows > 0 ? rows - 1 : 0) * rs + (columns > 0 ? columns - 1 : 0) * cs + 3;
    TsrTensor *memory = new_tensor(1, &n, d);
    Made m = {{tsr_data(memory), rows, columns, rs, cs, may_conj && below(3) == 0}, memory};
    for (int64_t i = 0; i < n; i++)
        tsr_scalar_store(small_number(d), d, (char *)tsr_data(memory) + i * (int64_t)tsr_itemsize(memory));
    return m;
}

static char *element(const TsrMat *m, TsrDtype d, int64_t i, int64_t j) {
    return (char *)m->data + (i * m->rs + j * m->cs) * (int64_t)tsr_dtype_size(d);
}

static double complex value_at(const TsrMat *m, TsrDtype d, int64_t i, int64_t j) {
    TsrScalar s = tsr_scalar_load(d, element(m, d, i, j));
    double complex z = s.kind == TSR_SCALAR_COMPLEX ? CMPLX(s.c.re, s.c.im) : tsr_scalar_to_double(s);
    return m->conj ? conj(z) : z;
}

static TsrScalar scalar_of(double complex z, TsrDtype d) {
    if (tsr_dtype_is_complex(d)) return tsr_scalar_complex(creal(z), cimag(z));
    return tsr_dtype_is_float(d) ? tsr_scalar_float(creal(z)) : tsr_scalar_int((int64_t)creal(z));
}

static double complex complex_of(TsrScalar s) {
    return s.kind == TSR_SCALAR_COMPLEX ? CMPLX(s.c.re, s.c.im) : tsr_scalar_to_double(s);
}

/* All of c's memory as it has to be after the product; the caller's. */
static char *expected(const TsrGemm *g, const TsrTensor *memory) {
    char *want = tsr_malloc(memory->storage->nbytes);
    ck_assert_ptr_nonnull(want);
    memcpy(want, tsr_data(memory), memory->storage->nbytes);
    TsrMat c = g->c;
    c.data = want;
    double complex alpha = complex_of(g->alpha), beta = complex_of(g->beta);
    for (int64_t i = 0; i < c.rows; i++)
        for (int64_t j = 0; j < c.cols; j++) {
            double complex sum = 0;
            for (int64_t p = 0; p < g->a.cols; p++)
                sum += value_at(&g->a, g->dtype, i, p) * value_at(&g->b, g->dtype, p, j);
            sum *= alpha;
            if (beta != 0) sum += beta * value_at(&c, g->dtype, i, j);
            tsr_scalar_store(scalar_of(sum, g->dtype), g->dtype, element(&c, g->dtype, i, j));
        }
    return want;
}

/* Equal in every byte but for the sign of zero. */
static bool same_numbers(TsrDtype d, const char *a, const char *b, size_t bytes) {
    for (size_t at = 0; at < bytes; at += tsr_dtype_size(d))
        if (complex_of(tsr_scalar_load(d, a + at)) != complex_of(tsr_scalar_load(d, b + at))) return false;
    return true;
}

typedef TsrStatus (*Product)(const TsrGemm *g);

static void check_product(Product product, TsrDtype d, int64_t m, int64_t n, int64_t k, double complex alpha,
                          double complex beta, int round) {
    bool may_conj = tsr_dtype_is_complex(d);
    Made a = new_matrix(m, k, d, may_conj), b = new_matrix(k, n, d, may_conj), c = new_matrix(m, n, d, false);
    TsrGemm g = {d, a.mat, b.mat, c.mat, scalar_of(alpha, d), scalar_of(beta, d)};
    if (beta == 0 && (tsr_dtype_is_float(d) || may_conj)) /* is not read then */
        for (int64_t i = 0; i < m * n; i++)
            tsr_scalar_store(tsr_scalar_float(NAN), d, element(&c.mat, d, i / n, i % n));
    char *want = expected(&g, c.memory);
    ck_assert_int_eq(product(&g), TSR_OK);
    ck_assert_msg(same_numbers(d, want, tsr_data(c.memory), c.memory->storage->nbytes),
                  "round %d: %s, %d x %d x %d, strides %d %d, %d %d, %d %d, alpha %g, beta %g", round,
                  tsr_dtype_name(d), (int)m, (int)n, (int)k, (int)a.mat.rs, (int)a.mat.cs, (int)b.mat.rs, (int)b.mat.cs,
                  (int)c.mat.rs, (int)c.mat.cs, creal(alpha), creal(beta));
    tsr_free(want);
    tsr_tensor_free(a.memory), tsr_tensor_free(b.memory), tsr_tensor_free(c.memory);
}

static const TsrDtype dtypes[] = {TSR_FLOAT32, TSR_FLOAT64, TSR_COMPLEX64, TSR_COMPLEX128, TSR_FLOAT16, TSR_BFLOAT16,
                                  TSR_INT8,    TSR_UINT8,   TSR_INT16,     TSR_INT32,      TSR_INT64};

static int64_t some_size(void) {
    switch (below(8)) {
    case 0: return 1;
    case 1: return 12 + below(10);
    case 2: return 30 + below(40);
    default: return 1 + below(12);
    }
}

static double complex some_factor(TsrDtype d) {
    static const double factors[] = {1, 1, 0, 2, -1};
    double f = factors[below(tsr_dtype_is_signed(d) ? 5 : 4)];
    return tsr_dtype_is_complex(d) && below(3) == 0 ? CMPLX(f, 1) : f;
}

START_TEST(products_agree_with_plain_sums) {
    for (int round = 0; round < 2500; round++) {
        TsrDtype d = dtypes[below(TSR_COUNTOF(dtypes))];
        tsr_set_num_threads(1 + (int)below(2));
        check_product(tsr_gemm, d, some_size(), some_size(), below(30) == 0 ? 0 : some_size(), some_factor(d),
                      some_factor(d), round);
    }
}
END_TEST

START_TEST(short_products_agree_with_plain_sums) {
    for (int round = 0; round < 800; round++) {
        TsrDtype d = dtypes[below(TSR_COUNTOF(dtypes))];
        check_product(tsr_gemm_short, d, 1 + below(7), 1 + below(7), below(8), some_factor(d), some_factor(d), round);
    }
}
END_TEST

static TsrTensor *new_numbers(int64_t n, int64_t start, TsrDtype d) {
    TsrTensor *t = new_tensor(1, &n, d);
    for (int64_t i = 0; i < n; i++) {
        TsrScalar value = tsr_scalar_float(number_of(start + i));
        if (tsr_dtype_is_complex(d)) value = tsr_scalar_complex(number_of(start + 2 * i), number_of(start + 2 * i + 1));
        tsr_scalar_store(value, d, (char *)tsr_data(t) + i * (int64_t)tsr_itemsize(t));
    }
    return t;
}

/* Batches of short products: as one call for each, digit by digit. */
static void check_each(TsrDtype d, int64_t m, int64_t n, int64_t k, bool turned, int alpha, int beta) {
    enum { COUNT = 71 }; /* more than go together, and no multiple of four */
    TsrTensor *x = new_numbers(COUNT * m * k, 0, d), *y = new_numbers(COUNT * k * n, 7, d),
              *together = new_numbers(COUNT * m * n, 9, d), *alone = new_numbers(COUNT * m * n, 9, d);
    TsrGemm g = {d,
                 {tsr_data(x), m, k, turned ? 1 : k, turned ? m : 1, false},
                 {tsr_data(y), k, n, turned ? 1 : n, turned ? k : 1, false},
                 {tsr_data(together), m, n, n, 1, false},
                 tsr_scalar_int(alpha),
                 tsr_scalar_int(beta)};
    size_t size = tsr_dtype_size(d);
    ck_assert_int_eq(tsr_gemm_short_each(&g, (TsrGemmSteps){m * k, k * n, m * n}, COUNT), TSR_OK);
    for (int64_t i = 0; i < COUNT; i++) {
        g.a.data = (char *)tsr_data(x) + (size_t)(i * m * k) * size;
        g.b.data = (char *)tsr_data(y) + (size_t)(i * k * n) * size;
        g.c.data = (char *)tsr_data(alone) + (size_t)(i * m * n) * size;
        ck_assert_int_eq(tsr_gemm_short(&g), TSR_OK);
    }
    ck_assert_msg(memcmp(tsr_data(alone), tsr_data(together), (size_t)(COUNT * m * n) * size) == 0,
                  "%s, %d by %d by %d, turned %d", tsr_dtype_name(d), (int)m, (int)n, (int)k, turned);
    tsr_tensor_free(x), tsr_tensor_free(y), tsr_tensor_free(together), tsr_tensor_free(alone);
}

/* The four sums of real products, each fused and in order, which are combined at the end: PyTorch's digits. */
static TsrComplexFloat fused_element(const TsrGemm *g, int64_t i, int64_t j) {
    float rr = 0, ii = 0, ri = 0, ir = 0, a_sign = g->a.conj ? -1 : 1, b_sign = g->b.conj ? -1 : 1;
    for (int64_t p = 0; p < g->a.cols; p++) {
        const float *x = (const float *)((const TsrComplexFloat *)g->a.data + i * g->a.rs + p * g->a.cs),
                    *y = (const float *)((const TsrComplexFloat *)g->b.data + p * g->b.rs + j * g->b.cs);
        rr = fmaf(x[0], y[0], rr), ii = fmaf(a_sign * x[1], b_sign * y[1], ii);
        ri = fmaf(x[0], b_sign * y[1], ri), ir = fmaf(a_sign * x[1], y[0], ir);
    }
    return CMPLXF(rr - ii, ri + ir);
}

/* `way`: 1 conjugates a, 2 conjugates b, 4 turns b, 8 turns c. */
static void check_complex(int64_t m, int64_t n, int64_t k, int way) {
    TsrDtype d = TSR_COMPLEX64;
    TsrTensor *x = new_numbers(m * k, 0, d), *y = new_numbers(k * n, 7, d), *z = new_numbers(m * n, 9, d);
    TsrGemm g = {d,
                 {tsr_data(x), m, k, k, 1, (way & 1) != 0},
                 {tsr_data(y), k, n, way & 4 ? 1 : n, way & 4 ? k : 1, (way & 2) != 0},
                 {tsr_data(z), m, n, way & 8 ? 1 : n, way & 8 ? m : 1, false},
                 tsr_scalar_int(1),
                 tsr_scalar_int(0)};
    ck_assert_int_eq(tsr_gemm(&g), TSR_OK);
    for (int64_t i = 0; i < m; i++)
        for (int64_t j = 0; j < n; j++) {
            TsrComplexFloat want = fused_element(&g, i, j),
                            got = ((const TsrComplexFloat *)g.c.data)[i * g.c.rs + j * g.c.cs];
            ck_assert_msg(memcmp(&want, &got, sizeof want) == 0, "%d by %d by %d, way %d, element %d, %d", (int)m,
                          (int)n, (int)k, way, (int)i, (int)j);
        }
    tsr_tensor_free(x), tsr_tensor_free(y), tsr_tensor_free(z);
}

START_TEST(complex_products_are_four_fused_sums) {
    static const int sizes[][3] = {{10, 10, 10}, {17, 18, 19}, {25, 33, 50}, {9, 12, 192}, {100, 100, 100}};
    int threads = tsr_num_threads();
    for (size_t i = 0; i < TSR_COUNTOF(sizes) && tsr_isa() >= TSR_ISA_AVX2; i++)
        for (int way = 0; way < 16; way++) {
            tsr_set_num_threads(1 + way % 3);
            check_complex(sizes[i][0], sizes[i][1], sizes[i][2], way);
        }
    tsr_set_num_threads(threads);
}
END_TEST

START_TEST(batches_of_short_products_are_as_each_alone) {
    static const TsrDtype each[] = {TSR_FLOAT32, TSR_FLOAT64, TSR_COMPLEX64, TSR_INT32};
    static const int sizes[][3] = {{1, 1, 1}, {1, 1, 100}, {3, 1, 3}, {3, 3, 3},
                                   {4, 4, 4}, {1, 9, 7},   {5, 7, 2}, {2, 3, 50}};
    for (size_t d = 0; d < TSR_COUNTOF(each); d++)
        for (size_t i = 0; i < TSR_COUNTOF(sizes); i++)
            for (int way = 0; way < 4; way++)
                check_each(each[d], sizes[i][0], sizes[i][1], sizes[i][2], way % 2, way == 3 ? 2 : 1, way / 2);
}
END_TEST

START_TEST(chains_agree_with_plain_sums) {
    for (int round = 0; round < 300; round++)
        check_product(tsr_gemm_chain, TSR_FLOAT32, 1 + below(20), 1 + below(150), 1 + below(30), 1, below(2), round);
    check_product(tsr_gemm_chain, TSR_FLOAT32, 60, 70, 40, 1, 1, -1);
}
END_TEST

/* (m, k) by (k, n), whose rows of b are `pitch` apart; each element is one chain that begins with c. */
static void check_chain(int64_t m, int64_t n, int64_t k, int64_t pitch) {
    float *a = tsr_malloc((size_t)(m * k) * 4), *b = tsr_malloc((size_t)(k * pitch) * 4),
          *c = tsr_malloc((size_t)(m * n) * 4), *want = tsr_malloc((size_t)(m * n) * 4);
    for (int64_t i = 0; i < m * k; i++) a[i] = (float)below(1000) / 7;
    for (int64_t i = 0; i < k * pitch; i++) b[i] = (float)below(1000) / 11;
    for (int64_t i = 0; i < m * n; i++) {
        want[i] = c[i] = (float)i / 3;
        for (int64_t p = 0; p < k; p++) want[i] = fmaf(a[i / n * k + p], b[p * pitch + i % n], want[i]);
    }
    TsrGemm g = {TSR_FLOAT32,         {a, m, k, k, 1, false}, {b, k, n, pitch, 1, false}, {c, m, n, n, 1, false},
                 tsr_scalar_float(1), tsr_scalar_float(1)};
    ck_assert_int_eq(tsr_gemm_chain(&g), TSR_OK);
    ck_assert_msg(memcmp(c, want, (size_t)(m * n) * 4) == 0, "%d x %d x %d", (int)m, (int)n, (int)k);
    tsr_free(a), tsr_free(b), tsr_free(c), tsr_free(want);
}

START_TEST(chains_are_rounded_at_every_step) {
    for (int round = 0; round < 100; round++) check_chain(1 + below(15), 1 + below(80), 1 + below(40), 80);
    check_chain(14, 70, 30, 1100); /* rows that lie pages apart are copied first */
}
END_TEST

/* (m, k) by (k, n) of float64, whose rows of a, or of b `turned` its columns, are `pitch` apart; of up to
 * TSR_CHAIN_DEPTH terms what c holds is added last. */
static void check_double_chain(int64_t m, int64_t n, int64_t k, int64_t pitch, bool turned, int beta) {
    double *a = tsr_malloc((size_t)(m * pitch) * 8), *b = tsr_malloc((size_t)(TSR_MAX(k, n) * pitch) * 8),
           *c = tsr_malloc((size_t)(m * n) * 8), *want = tsr_malloc((size_t)(m * n) * 8);
    int64_t b_rs = turned ? 1 : pitch, b_cs = turned ? pitch : 1;
    for (int64_t i = 0; i < m * pitch; i++) a[i] = (double)below(1000) / 7;
    for (int64_t i = 0; i < TSR_MAX(k, n) * pitch; i++) b[i] = (double)below(1000) / 11;
    for (int64_t i = 0; i < m * n; i++) {
        double sum = 0;
        c[i] = beta == 0 ? (double)NAN : (double)i / 3;
        for (int64_t p = 0; p < k; p++) sum = fma(a[i / n * pitch + p], b[p * b_rs + i % n * b_cs], sum);
        want[i] = beta == 0 ? sum : sum + c[i];
    }
    TsrGemm g = {TSR_FLOAT64,         {a, m, k, pitch, 1, false}, {b, k, n, b_rs, b_cs, false}, {c, m, n, n, 1, false},
                 tsr_scalar_float(1), tsr_scalar_int(beta)};
    ck_assert_int_eq(tsr_gemm(&g), TSR_OK);
    ck_assert_msg(memcmp(c, want, (size_t)(m * n) * 8) == 0, "%d x %d x %d, pitch %d, turned %d, beta %d", (int)m,
                  (int)n, (int)k, (int)pitch, turned, beta);
    tsr_free(a), tsr_free(b), tsr_free(c), tsr_free(want);
}

/* As PyTorch's library rounds them; sizes beside those of tiles, panels, blocks of rows and depths, cut for threads. */
START_TEST(products_of_doubles_are_one_chain) {
    static const int sizes[][4] = {{16, 16, 16, 16},    {33, 41, 29, 50},     {64, 65, 256, 256},
                                   {131, 20, 257, 300}, {257, 130, 60, 600},  {20, 30, 1700, 1700},
                                   {40, 24, 513, 520},  {130, 129, 128, 1100}};
    for (size_t i = 0; i < TSR_COUNTOF(sizes) && tsr_isa() >= TSR_ISA_AVX2; i++)
        for (int way = 0; way < 4; way++) {
            const int *s = sizes[i];
            tsr_set_num_threads(1 + way / 2);
            check_double_chain(s[0], s[1], s[2], s[3], way % 2, s[2] <= TSR_CHAIN_DEPTH ? way / 2 : 0);
        }
}
END_TEST

/* Of `bits` digits, times 2 to the power of a number from -range to range - 1: few digits make sums that lie halfway
 * between two floats, a wide range those that round off what is far smaller. Of 0 bits: a number beside 1, whose
 * products nearly lie halfway. */
static float wild_number(int bits, int range) {
    if (bits == 0) return 1 + ldexpf(below(2) ? 1 : -1, -14 - (int)below(6));
    int64_t digits = (int64_t)below(1 << bits) - (1 << (bits - 1));
    return ldexpf((float)digits, (int)below(2 * (uint32_t)range) - range);
}

static void check_plain_chain(int bits, int range, int shift, int64_t m, int64_t n, int64_t k) {
    float a[8 * 30], b[30 * 9], c[8 * 9], want[8 * 9];
    for (int64_t i = 0; i < m * k; i++) a[i] = ldexpf(wild_number(bits, range), shift);
    for (int64_t i = 0; i < k * n; i++) b[i] = ldexpf(wild_number(bits, range), shift);
    for (int64_t i = 0; i < m * n; i++) {
        want[i] = c[i] = ldexpf(wild_number(24, range), 2 * shift + (int)below(4));
        for (int64_t p = 0; p < k; p++) want[i] = fmaf(a[i / n * k + p], b[p + i % n * k], want[i]);
    }
    tsr_chain_plain(&(TsrChain){m, n, k, a, b, c, k, 1, 1, k, n, TSR_CHAIN_ONTO});
    for (int64_t i = 0; i < m * n; i++)
        ck_assert_msg(c[i] == want[i] || (isnan(c[i]) && isnan(want[i])),
                      "%d bits by 2^%d, 2^%d: %d x %d x %d: %a, not %a", bits, range, shift, (int)m, (int)n, (int)k,
                      (double)c[i], (double)want[i]);
}

START_TEST(chains_without_a_fused_operation_are_the_same) {
    static const int bits[] = {0, 1, 3, 12, 13, 24}, ranges[] = {1, 6, 30}, shifts[] = {0, -75, -70, -90, 50};
    for (int round = 0; round < 20000; round++)
        check_plain_chain(bits[below(6)], ranges[below(3)], shifts[below(5)], 1 + below(8), 1 + below(9),
                          1 + below(30));
}
END_TEST

/* As large as is cut into tiles, in depth too, or shared by threads; thin ones of half precision. */
START_TEST(large_products_agree_with_plain_sums) {
    static const struct {
        TsrDtype dtype;
        int m, n, k;
    } cases[] = {{TSR_FLOAT32, 40, 30, 3100},   {TSR_FLOAT64, 40, 30, 1700},  {TSR_COMPLEX64, 33, 20, 900},
                 {TSR_COMPLEX128, 20, 33, 500}, {TSR_INT32, 100, 100, 50},    {TSR_INT64, 64, 700, 20},
                 {TSR_FLOAT32, 1100, 300, 5},   {TSR_FLOAT32, 20, 1500, 60},  {TSR_FLOAT16, 3, 400, 200},
                 {TSR_BFLOAT16, 4, 300, 300},   {TSR_FLOAT16, 5, 300, 300},   {TSR_COMPLEX128, 70, 150, 30},
                 {TSR_BFLOAT16, 29, 70, 1101},  {TSR_BFLOAT16, 250, 131, 15}, {TSR_BFLOAT16, 2, 1, 140000}};
    for (size_t i = 0; i < TSR_COUNTOF(cases); i++)
        for (int round = 0; round < 2; round++) {
            tsr_set_num_threads(1 + round);
            check_product(tsr_gemm, cases[i].dtype, cases[i].m, cases[i].n, cases[i].k, 1, round % 2, (int)i);
        }
}
END_TEST

static TsrTensor *new_whole_numbers(int64_t rows, int64_t columns, TsrDtype d, int most) {
    TsrTensor *t = new_tensor(2, (int64_t[]){rows, columns}, d);
    for (int64_t i = 0; i < t->numel; i++)
        tsr_scalar_store(tsr_scalar_int((int64_t)below(2 * most + 1) - most), d,
                         (char *)tsr_data(t) + (size_t)i * tsr_dtype_size(d));
    return t;
}

static void check_thin(TsrDtype d, int64_t m, int64_t n, int64_t k, bool in_columns, int beta) {
    TsrTensor *weight = new_whole_numbers(k, n, d, 1), *x = new_whole_numbers(m, k, d, 1),
              *out = new_whole_numbers(m, n, d, 9);
    TsrGemm g = {d,
                 {tsr_data(x), m, k, k, 1, false},
                 {tsr_data(weight), k, n, in_columns ? 1 : n, in_columns ? k : 1, false},
                 {tsr_data(out), m, n, n, 1, false},
                 tsr_scalar_int(1),
                 tsr_scalar_int(beta)};
    char *want = expected(&g, out);
    ck_assert_int_eq(tsr_gemm(&g), TSR_OK);
    ck_assert_msg(same_numbers(d, want, tsr_data(out), out->storage->nbytes), "%s, %d rows, columns %d, beta %d",
                  tsr_dtype_name(d), (int)m, in_columns, beta);
    tsr_free(want);
    tsr_tensor_free(weight), tsr_tensor_free(x), tsr_tensor_free(out);
}

/* The matrix b is large and in rows or in columns, as a weight is: it is widened piece by piece. */
START_TEST(thin_halves_agree_with_plain_sums) {
    static const TsrDtype halves[] = {TSR_BFLOAT16, TSR_FLOAT16, TSR_FLOAT8_E5M2};
    for (size_t i = 0; i < TSR_COUNTOF(halves); i++)
        for (int64_t rows = 1; rows <= 70; rows = rows < 9 ? rows + 1 : 2 * rows + 1)
            for (int way = 0; way < 4; way++) check_thin(halves[i], rows, 301, 300, way % 2, way / 2);
}
END_TEST

static float chains(const float *before, const float *x, const float *y, int64_t y_step, int64_t k) {
    int64_t depth = k <= 256 ? k : 192;
    float total = before != NULL ? *before : 0;
    for (int64_t p = 0; p < k; p += depth) {
        float sum = 0;
        for (int64_t q = p; q < TSR_MIN(k, p + depth); q++) sum = fmaf(x[q], y[q * y_step], sum);
        total = p == 0 && before == NULL ? sum : total + sum;
    }
    return total;
}

static void check_few(int64_t m, int64_t n, int64_t k, bool in_columns, int beta) {
    TsrDtype d = TSR_FLOAT32;
    TsrTensor *x = new_numbers(m * k, 0, d), *weight = new_numbers(k * n, 5, d), *out = new_numbers(m * n, 9, d);
    int64_t rs = in_columns ? 1 : n, cs = in_columns ? k : 1;
    TsrGemm g = {d,
                 {tsr_data(x), m, k, k, 1, false},
                 {tsr_data(weight), k, n, rs, cs, false},
                 {tsr_data(out), m, n, n, 1, false},
                 tsr_scalar_int(1),
                 tsr_scalar_int(beta)};
    if (!tsr_gemm_is_few(&g)) goto done;
    ck_assert_int_eq(tsr_gemm(&g), TSR_OK);
    for (int64_t i = 0; i < m; i++)
        for (int64_t j = 0; j < n; j++) {
            float before = (float)number_of(9 + i * n + j), got = ((const float *)tsr_data(out))[i * n + j];
            float want = chains(beta != 0 ? &before : NULL, (const float *)tsr_data(x) + i * k,
                                (const float *)tsr_data(weight) + j * cs, rs, k);
            ck_assert_msg(got == want, "%d rows, %d columns, %d terms, columns %d", (int)m, (int)n, (int)k, in_columns);
        }
done:
    tsr_tensor_free(x), tsr_tensor_free(weight), tsr_tensor_free(out);
}

/* As many columns and terms as take several steps of each loop of the kernels; few columns are as few rows. */
START_TEST(few_rows_of_halves_agree_with_plain_sums) {
    for (int64_t few = 1; few <= 9; few++)
        for (int way = 0; way < 4; way++) {
            check_thin(TSR_BFLOAT16, few, 811, 1101, way % 2, way / 2);
            check_thin(TSR_BFLOAT16, 811, few, 1101, way % 2, way / 2);
            check_thin(TSR_FLOAT16, 811, few, 301, way % 2, way / 2);
        }
    for (int way = 0; way < 4; way++) check_thin(TSR_BFLOAT16, 60, 101, 1001, way % 2, way / 2);
}
END_TEST

/* The same of floats: a row's terms go by in chains of 192, or of up to 256 in one, wherever the weight's columns are.
 */
START_TEST(few_rows_of_floats_are_chains) {
    static const struct { int n, k; } cases[] = {{811, 1101}, {37, 250}, {70, 259}, {400, 1400}, {1, 5000}};
    for (size_t i = 0; i < TSR_COUNTOF(cases); i++)
        for (int64_t m = 2; m <= 8; m++)
            for (int way = 0; way < 4; way++) check_few(m, cases[i].n, cases[i].k, way % 2, way / 2);
}
END_TEST

/* A row has the same bits alone and among others, where the weight's columns are neighbours. */
START_TEST(rows_of_bfloat16_have_the_same_bits_alone) {
    enum { M = 12, N = 500, K = 1101 };
    TsrDtype d = TSR_BFLOAT16;
    if (tsr_pair_kernel() == NULL) return; /* other ways of few rows have their own order */
    TsrTensor *x = new_numbers(M * K, 0, d), *weight = new_numbers(K * N, 5, d), *all = new_numbers(M * N, 0, d),
              *one = new_numbers(N, 0, d);
    TsrGemm g = {d,
                 {tsr_data(x), M, K, K, 1, false},
                 {tsr_data(weight), K, N, N, 1, false},
                 {tsr_data(all), M, N, N, 1, false},
                 tsr_scalar_int(1),
                 tsr_scalar_int(0)};
    ck_assert_int_eq(tsr_gemm(&g), TSR_OK);
    g.a.rows = g.c.rows = 1, g.c.data = tsr_data(one);
    for (int64_t i = 0; i < M; i++, g.a.data = (uint16_t *)g.a.data + K) {
        ck_assert_int_eq(tsr_gemm(&g), TSR_OK);
        ck_assert_mem_eq(tsr_data(one), (uint16_t *)tsr_data(all) + i * N, 2 * N);
    }
    tsr_tensor_free(x), tsr_tensor_free(weight), tsr_tensor_free(all), tsr_tensor_free(one);
}
END_TEST

/* --- what is special --- */

static float product_of(double alpha, double beta, float a, float b, float c) {
    TsrGemm g = {TSR_FLOAT32,
                 {&a, 1, 1, 1, 1, false},
                 {&b, 1, 1, 1, 1, false},
                 {&c, 1, 1, 1, 1, false},
                 tsr_scalar_float(alpha),
                 tsr_scalar_float(beta)};
    ck_assert_int_eq(tsr_gemm(&g), TSR_OK);
    return c;
}

START_TEST(factors_of_zero_leave_out_what_they_multiply) {
    ck_assert(product_of(0, 1, INFINITY, 2, 3) == 3);
    ck_assert(product_of(0, 0, NAN, 2, NAN) == 0);
    ck_assert(product_of(1, 0, 2, 3, NAN) == 6);
    ck_assert(product_of(0, -2, 1, 1, 3) == -6);
    ck_assert(isnan(product_of(1, 1, 1, 1, NAN)));
    ck_assert(isinf(product_of(1, 0, INFINITY, 1, 0)));
}
END_TEST

START_TEST(integers_wrap) {
    int8_t a = 100, b = 3, c = 100;
    TsrGemm g = {TSR_INT8,          {&a, 1, 1, 1, 1, false}, {&b, 1, 1, 1, 1, false}, {&c, 1, 1, 1, 1, false},
                 tsr_scalar_int(1), tsr_scalar_int(1)};
    ck_assert_int_eq(tsr_gemm(&g), TSR_OK);
    ck_assert_int_eq(c, (int8_t)(uint8_t)400);
}
END_TEST

START_TEST(dtypes_without_products_are_refused) {
    TsrGemm g = {.dtype = TSR_BOOL};
    char out[16];
    ck_assert_int_eq(tsr_gemm(&g), TSR_NOT_IMPLEMENTED_ERROR);
    ck_assert_str_eq(tsr_error_message(), "\"addmm_impl_cpu_\" not implemented for 'Bool'");
    ck_assert_int_eq(tsr_dot(TSR_BOOL, 1, (TsrVec){out, 1, false}, (TsrVec){out, 1, false}, out),
                     TSR_NOT_IMPLEMENTED_ERROR);
    ck_assert_str_eq(tsr_error_message(), "\"dot\" not implemented for 'Bool'");
    for (size_t i = 0; i < TSR_COUNTOF(dtypes); i++) ck_assert(tsr_gemm_supports(dtypes[i]));
    static const TsrDtype others[] = {TSR_BOOL, TSR_COMPLEX32, TSR_UINT16, TSR_STRING};
    for (size_t i = 0; i < TSR_COUNTOF(others); i++) ck_assert(!tsr_gemm_supports(others[i]));
}
END_TEST

START_TEST(memory_that_is_short_is_reported) {
    Made a = new_matrix(40, 50, TSR_FLOAT16, false), b = new_matrix(50, 60, TSR_FLOAT16, false),
         c = new_matrix(40, 60, TSR_FLOAT16, false);
    TsrGemm g = {TSR_FLOAT16, a.mat, b.mat, c.mat, tsr_scalar_int(1), tsr_scalar_int(0)};
    ck_assert_int_eq(tsr_gemm(&g), TSR_OK);
    int failures = 0;
    for (int64_t n = 1; n < 10; n++) {
        int64_t blocks = tsr_mem_live_blocks();
        (void)tsr_mem_fail_at(n);
        failures += tsr_gemm(&g) == TSR_RUNTIME_ERROR;
        (void)tsr_mem_fail_at(0);
        ck_assert_int_eq(tsr_mem_live_blocks(), blocks);
    }
    ck_assert_int_gt(failures, 0);
    tsr_tensor_free(a.memory), tsr_tensor_free(b.memory), tsr_tensor_free(c.memory);
}
END_TEST

START_TEST(an_interrupt_ends_a_product) {
    for (size_t i = 0; i < TSR_COUNTOF(dtypes); i++) {
        Made a = new_matrix(60, 70, dtypes[i], false), b = new_matrix(70, 80, dtypes[i], false),
             c = new_matrix(60, 80, dtypes[i], false);
        TsrGemm g = {dtypes[i], a.mat, b.mat, c.mat, tsr_scalar_int(1), tsr_scalar_int(0)};
        tsr_interrupt_request();
        ck_assert_int_eq(tsr_gemm(&g), TSR_KEYBOARD_INTERRUPT);
        ck_assert_int_eq(tsr_gemm(&g), TSR_OK);
        tsr_tensor_free(a.memory), tsr_tensor_free(b.memory), tsr_tensor_free(c.memory);
    }
}
END_TEST

/* --- dot --- */

static void check_dot(TsrDtype d, int64_t n) {
    int64_t size = (int64_t)tsr_dtype_size(d);
    int64_t xs = 1 + below(3), ys = below(5) == 0 ? 0 : 1 + below(2), xn = n * xs + 1, yn = n * ys + 1;
    TsrTensor *x = new_tensor(1, &xn, d), *y = new_tensor(1, &yn, d);
    for (int64_t i = 0; i < xn; i++) tsr_scalar_store(small_number(d), d, (char *)tsr_data(x) + i * size);
    for (int64_t i = 0; i < yn; i++) tsr_scalar_store(small_number(d), d, (char *)tsr_data(y) + i * size);
    bool complex_ = tsr_dtype_is_complex(d), cx = complex_ && below(2), cy = complex_ && below(2);
    TsrMat u = {tsr_data(x), 1, n, 0, xs, cx}, v = {tsr_data(y), n, 1, ys, 0, cy};
    double complex sum = 0;
    for (int64_t i = 0; i < n; i++) sum += value_at(&u, d, 0, i) * value_at(&v, d, i, 0);
    char want[16], got[16];
    tsr_scalar_store(scalar_of(sum, d), d, want);
    ck_assert_int_eq(tsr_dot(d, n, (TsrVec){u.data, xs, cx}, (TsrVec){v.data, ys, cy}, got), TSR_OK);
    ck_assert_msg(same_numbers(d, want, got, (size_t)size), "%s, %d elements", tsr_dtype_name(d), (int)n);
    tsr_tensor_free(x), tsr_tensor_free(y);
}

START_TEST(dots_agree_with_plain_sums) {
    for (int round = 0; round < 1500; round++)
        check_dot(dtypes[below(TSR_COUNTOF(dtypes))], below(4) == 0 ? below(200) : below(20));
}
END_TEST

START_TEST(long_dots_agree_with_plain_sums) {
    for (size_t i = 0; i < TSR_COUNTOF(dtypes); i++)
        if (dtypes[i] != TSR_FLOAT16 && dtypes[i] != TSR_BFLOAT16) /* of whose sums not all are exact */
            for (int round = 0; round < 3; round++) check_dot(dtypes[i], 65536 + below(3) * 65536 + below(100));
}
END_TEST

/* In the numbers of a sum that is rounded, the order of additions shows. */
START_TEST(long_dots_are_the_same_by_any_number_of_threads) {
    static const TsrDtype rounded[] = {TSR_FLOAT32, TSR_FLOAT64, TSR_COMPLEX64, TSR_COMPLEX128};
    int threads = tsr_num_threads();
    for (size_t i = 0; i < TSR_COUNTOF(rounded); i++) {
        char alone[16] = {0}, together[16] = {0};
        int64_t n = 400000;
        TsrTensor *x = new_numbers(n, 0, rounded[i]), *y = new_numbers(n, 1000, rounded[i]);
        TsrVec u = {tsr_data(x), 1, false}, v = {tsr_data(y), 1, false};
        tsr_set_num_threads(1);
        ck_assert_int_eq(tsr_dot(rounded[i], n, u, v, alone), TSR_OK);
        tsr_set_num_threads(4);
        ck_assert_int_eq(tsr_dot(rounded[i], n, u, v, together), TSR_OK);
        ck_assert_mem_eq(alone, together, sizeof alone);
        tsr_tensor_free(x), tsr_tensor_free(y);
    }
    tsr_set_num_threads(threads);
}
END_TEST

/* --- PyTorch's digits --- */

typedef struct DotCase {
    TsrDtype dtype;
    int n;
    uint64_t digest;
} DotCase;

START_TEST(dots_of_halves_have_pytorch_s_digits) {
    static const DotCase cases[] = {
#define DOT(...) {__VA_ARGS__},
#include "gemm_cases.def"
    };
    for (size_t i = 0; i < TSR_COUNTOF(cases); i++) {
        char out[16];
        TsrDtype d = cases[i].dtype;
        TsrTensor *x = new_numbers(cases[i].n, 0, d), *y = new_numbers(cases[i].n, 1000, d);
        ck_assert_int_eq(tsr_dot(d, cases[i].n, (TsrVec){tsr_data(x), 1, false}, (TsrVec){tsr_data(y), 1, false}, out),
                         TSR_OK);
        ck_assert_msg(digest_of(out, tsr_dtype_size(d)) == cases[i].digest, "%s, %d elements", tsr_dtype_name(d),
                      cases[i].n);
        tsr_tensor_free(x), tsr_tensor_free(y);
    }
}
END_TEST

TEST_SUITE(gemm, products_agree_with_plain_sums, short_products_agree_with_plain_sums,
           batches_of_short_products_are_as_each_alone, complex_products_are_four_fused_sums,
           chains_agree_with_plain_sums, chains_are_rounded_at_every_step, products_of_doubles_are_one_chain,
           chains_without_a_fused_operation_are_the_same, large_products_agree_with_plain_sums,
           thin_halves_agree_with_plain_sums, few_rows_of_halves_agree_with_plain_sums,
           rows_of_bfloat16_have_the_same_bits_alone, few_rows_of_floats_are_chains,
           factors_of_zero_leave_out_what_they_multiply, integers_wrap, dtypes_without_products_are_refused,
           memory_that_is_short_is_reported, an_interrupt_ends_a_product, dots_agree_with_plain_sums,
           long_dots_agree_with_plain_sums, long_dots_are_the_same_by_any_number_of_threads,
           dots_of_halves_have_pytorch_s_digits)
