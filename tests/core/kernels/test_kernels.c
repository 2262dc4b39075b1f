/* kernels: conversions, elementwise functions and reductions give the same on every instruction set, within their
 * bounds. */
#include "suite.h"

#include <float.h>
#include <math.h>
#include <string.h>

#include "core/element/halffloat.h"
#include "core/kernels/move/move.h"
#include "core/kernels/move/select.h"
#include "core/kernels/reduce/reduce.h"
#include "core/kernels/pointwise/table.h"
#include "core/kernels/simd.h"
#include "core/kernels/reduce/softmax.h"
#include "core/kernels/sort/kth.h"
#include "core/kernels/sleef.h"
#include "core/loop.h"
#include "core/op.h"
#include "core/some_tensors.h"

/* `bytes` from one offset to another, as they lie or from the end in elements of `size`. */
static void check_copy(int64_t bytes, int64_t at, int64_t ahead, int64_t size) {
    enum { ROOM = 1 << 16, PAGE = 4096, GUARD = 64 };
    static _Alignas(4096) char from[ROOM], to[ROOM];
    for (int64_t i = 0; i < ROOM; i++) from[i] = (char)(i * 7 + i / 256);
    memset(to, 0x55, sizeof to);
    char *out = to + PAGE + (at + ahead) % PAGE;
    if (size == 0) tsr_kernel_copy(out, from + at, bytes);
    else tsr_kernel_reverse_lines(out, 0, from + at, 0, bytes / size, 1, (size_t)size);
    for (int64_t i = 0; i < bytes; i++) {
        int64_t want = size == 0 ? i : bytes - size - i / size * size + i % size;
        ck_assert_msg(out[i] == from[at + want], "byte %lld of %lld", (long long)i, (long long)bytes);
    }
    for (int64_t i = 1; i <= GUARD; i++) ck_assert(out[-i] == 0x55 && out[bytes - 1 + i] == 0x55);
}

/* The lengths are on both sides of what is copied at once; the result is near the source modulo a page, and far. */
START_TEST(copies_and_reversals_write_what_they_are_to) {
    const int64_t lengths[] = {0, 16, 112, 128, 144, 240, 256, 512, 528, 1040, 16384, 16400, 20000};
    const int64_t distances[] = {0, 1, 16, 500, 512, 2000, 4095}, sizes[] = {0, 1, 2, 4, 8, 16};
    for (size_t i = 0; i < TSR_COUNTOF(lengths); i++)
        for (size_t k = 0; k < TSR_COUNTOF(distances); k++)
            for (size_t s = 0; s < TSR_COUNTOF(sizes); s++) {
                check_copy(lengths[i], 3, distances[k], sizes[s]);
                if (sizes[s] <= 1) check_copy(lengths[i] + 13, 8, distances[k], sizes[s]);
            }
}
END_TEST

/* Lines with gaps between them, of fewer elements than a vector has and of more than four have. */
START_TEST(lines_are_reversed_each_by_itself) {
    enum { LINES = 3, GAP = 5, MOST = 70 };
    for (int n = 1; n <= MOST; n++) {
        uint32_t from[LINES][MOST + GAP], to[LINES][MOST + GAP] = {{0}};
        for (int i = 0; i < LINES * (MOST + GAP); i++) from[i / (MOST + GAP)][i % (MOST + GAP)] = (uint32_t)i + 1;
        tsr_kernel_reverse_lines((char *)to, sizeof to[0], (const char *)from, sizeof from[0], n, LINES, 4);
        for (int i = 0; i < LINES; i++)
            for (int k = 0; k < MOST + GAP; k++) ck_assert_uint_eq(to[i][k], k < n ? from[i][n - 1 - k] : 0);
    }
}
END_TEST

START_TEST(half_floats_survive_the_round_trip) {
    for (uint32_t bits = 0; bits < 65536; bits++) {
        TsrHalf h = {(uint16_t)bits};
        TsrBfloat16 b = {(uint16_t)bits};
        float wide = tsr_half_widen(h);
        if (wide == wide) ck_assert_uint_eq(tsr_half_round(wide).bits, bits);
        else ck_assert(isnan(tsr_half_widen(tsr_half_round(wide))));
        wide = tsr_bfloat16_widen(b);
        if (wide == wide) ck_assert_uint_eq(tsr_bfloat16_round(wide).bits, bits);
    }
    for (uint32_t bits = 0; bits < 256; bits++) {
        float wide = tsr_float8_e5m2_widen((TsrFloat8E5m2){(uint8_t)bits});
        if (wide == wide) ck_assert_uint_eq(tsr_float8_e5m2_round(wide).bits, bits);
        wide = tsr_float8_e4m3fn_widen((TsrFloat8E4m3fn){(uint8_t)bits});
        if (wide == wide) ck_assert_uint_eq(tsr_float8_e4m3fn_round(wide).bits, bits);
        wide = tsr_float8_e5m2fnuz_widen((TsrFloat8E5m2fnuz){(uint8_t)bits});
        ck_assert_uint_eq(tsr_float8_e5m2fnuz_round(wide).bits, bits);
        wide = tsr_float8_e4m3fnuz_widen((TsrFloat8E4m3fnuz){(uint8_t)bits});
        ck_assert_uint_eq(tsr_float8_e4m3fnuz_round(wide).bits, bits);
        wide = tsr_float8_e8m0fnu_widen((TsrFloat8E8m0fnu){(uint8_t)bits});
        ck_assert_uint_eq(tsr_float8_e8m0fnu_round(wide).bits, bits);
    }
}
END_TEST

/* A float rounds to the nearer of its two neighbours among the halves, and to the even one between them. */
START_TEST(half_floats_round_to_nearest_even) {
    for (uint32_t bits = 0; bits < 0x7BFF; bits++) {
        float low = tsr_half_widen((TsrHalf){(uint16_t)bits}), high = tsr_half_widen((TsrHalf){(uint16_t)(bits + 1)});
        float middle = low + (high - low) / 2;
        ck_assert_uint_eq(tsr_half_round(middle).bits, bits + (bits & 1));
        ck_assert_uint_eq(tsr_half_round(nextafterf(middle, 0)).bits, bits);
        ck_assert_uint_eq(tsr_half_round(nextafterf(middle, INFINITY)).bits, bits + 1);
    }
    ck_assert_uint_eq(tsr_half_round(65520).bits, 0x7C00);
    ck_assert_uint_eq(tsr_half_round(65519).bits, 0x7BFF);
}
END_TEST

static bool is_numeric(int d) { return d != TSR_STRING && d != TSR_NESTED; }

/* float8_e8m0fnu has powers of 2 alone. */
static bool has_small_numbers(int d) { return is_numeric(d) && d != TSR_FLOAT8_E8M0FNU; }

START_TEST(every_pair_of_dtypes_converts_small_numbers) {
    char from[40 * 16], to[40 * 32];
    for (int a = 0; a < TSR_DTYPE_COUNT; a++)
        for (int b = 0; b < TSR_DTYPE_COUNT; b++) {
            if (!has_small_numbers(a) || !has_small_numbers(b)) continue;
            int64_t sa = (int64_t)tsr_dtype_size((TsrDtype)a), sb = (int64_t)tsr_dtype_size((TsrDtype)b),
                    gap = below(2) ? sb : 2 * sb;
            for (int64_t i = 0; i < 40; i++) tsr_scalar_store(tsr_scalar_int(i % 9), (TsrDtype)a, from + i * sa);
            tsr_convert((TsrDtype)b, to, gap, (TsrDtype)a, from, sa, 40);
            for (int64_t i = 0; i < 40; i++) {
                double want = a == TSR_BOOL || b == TSR_BOOL ? i % 9 != 0 : i % 9;
                ck_assert_double_eq(tsr_scalar_to_double(tsr_scalar_load((TsrDtype)b, to + i * gap)), want);
            }
        }
}
END_TEST

START_TEST(floats_out_of_range_convert_as_the_processor_does) {
    const double odd[] = {NAN, INFINITY, -INFINITY, 1e300, -1e300, 3e9, -3e9, 1e19, 9.3e18, -1, 255.9, -0.5};
    for (size_t i = 0; i < TSR_COUNTOF(odd); i++)
        for (int d = 0; d < TSR_DTYPE_COUNT; d++) {
            char a[16], b[16];
            if (!is_numeric(d)) continue;
            tsr_convert((TsrDtype)d, a, 16, TSR_FLOAT64, (const char *)&odd[i], 8, 1);
            tsr_scalar_store(tsr_scalar_float(odd[i]), (TsrDtype)d, b);
            ck_assert_msg(memcmp(a, b, tsr_dtype_size((TsrDtype)d)) == 0 || odd[i] != odd[i], "%g to %s", odd[i],
                          tsr_dtype_name((TsrDtype)d));
        }
}
END_TEST

/* --- kernels: each instruction set agrees with the plain one --- */

#ifdef TSR_HAVE_X86
static bool exact_kernel(TsrKernel k) {
    return k == TSR_K_add || k == TSR_K_sub || k == TSR_K_mul || k == TSR_K_div ||
           (k >= TSR_K_maximum && k <= TSR_K_bitwise_xor) || k == TSR_K_neg || k == TSR_K_abs || k == TSR_K_sqrt ||
           k == TSR_K_floor || k == TSR_K_ceil || k == TSR_K_round || k == TSR_K_trunc || k == TSR_K_sign ||
           k == TSR_K_where;
}

static void compare_tables(TsrKernelTable table) {
    _Alignas(16) char in[3][70 * 8], want[70 * 8], got[70 * 8];
    TsrKernelTable base = tsr_kernels_base();
    for (int k = 1; k < TSR_K_COUNT; k++)
        for (int d = 0; d < TSR_DTYPE_COUNT; d++) {
            if (base[k][d] == NULL || !exact_kernel((TsrKernel)k) || tsr_dtype_size((TsrDtype)d) > 8) continue;
            int64_t size = (int64_t)tsr_dtype_size((TsrDtype)d), n = 1 + below(70), step = below(3) == 0 ? 0 : size;
            for (int i = 0; i < 3; i++)
                for (int64_t j = 0; j < 70; j++)
                    tsr_scalar_store(tsr_scalar_int((int64_t)below(7) - (tsr_dtype_is_signed((TsrDtype)d) ? 3 : 0)),
                                     (TsrDtype)d, in[i] + j * size);
            memset(want, 0, sizeof want);
            memset(got, 0, sizeof got);
            int64_t stride[4] = {size, size, step, size};
            bool truth = (k >= TSR_K_eq && k <= TSR_K_logical_not);
            if (truth) stride[0] = 1;
            if (k == TSR_K_where) stride[1] = 1;
            char *a[4] = {want, in[0], in[1], in[2]}, *b[4] = {got, in[0], in[1], in[2]};
            base[k][d](a, stride, n, NULL);
            table[k][d](b, stride, n, NULL);
            ck_assert_msg(memcmp(want, got, sizeof want) == 0, "kernel %d on %s", k, tsr_dtype_name((TsrDtype)d));
        }
}
#endif

START_TEST(instruction_sets_agree) {
#ifdef TSR_HAVE_X86
    for (int round = 0; round < 20; round++) {
        if (tsr_isa() >= TSR_ISA_AVX2) compare_tables(tsr_kernels_avx2());
        if (tsr_isa() >= TSR_ISA_AVX512) compare_tables(tsr_kernels_avx512());
    }
#endif
}
END_TEST

/* Random bits meet every magnitude, subnormal numbers, the infinities and NaN among them. */
static float any_float(void) {
    uint32_t bits = (uint32_t)below(1 << 16) << 16 | (uint32_t)below(1 << 16);
    float value;
    memcpy(&value, &bits, sizeof value);
    return below(2) ? value : (float)((int64_t)below(2000001) - 1000000) * 1e-4f;
}

/* --- exponential.inc has the bits of SLEEF's, seen through the sigmoid, which is made of it --- */

#ifdef TSR_HAVE_X86
enum { IN_BLOCK = 128 }; /* bytes: fewer are left to the C library */

/* 1 / (1 + e**-x) of vectors of one block, by SLEEF. */
#define SLEEF_SIGMOID(name, T, V) \
    __attribute__((target("avx2"))) static void name(TsrSleefFn exponential, T *x) { \
        for (T *end = x + IN_BLOCK / sizeof(T); x < end; x += sizeof(V) / sizeof(T)) { \
            V v; \
            memcpy(&v, x, sizeof v); \
            v = 1 / (1 + ((V(*)(V))exponential)(-v)); \
            memcpy(x, &v, sizeof v); \
        } \
    }
SLEEF_SIGMOID(sleef_sigmoid_of_floats, float, __m256)
SLEEF_SIGMOID(sleef_sigmoid_of_doubles, double, __m256d)

static bool same_float(float a, float b) { return memcmp(&a, &b, sizeof a) == 0 || (isnan(a) && isnan(b)); }
static bool same_double(double a, double b) { return memcmp(&a, &b, sizeof a) == 0 || (isnan(a) && isnan(b)); }

static void compare_exponentials(TsrKernelTable table, TsrSleefFn floats, TsrSleefFn doubles) {
    enum { FLOATS = IN_BLOCK / 4, DOUBLES = IN_BLOCK / 8 };
    for (int round = 0; round < 5000; round++) {
        _Alignas(32) float x[FLOATS], y[FLOATS], want[FLOATS];
        _Alignas(32) double u[DOUBLES], v[DOUBLES], desired[DOUBLES];
        for (int k = 0; k < FLOATS; k++)
            x[k] = round % 2 ? any_float() : ((float)below(1 << 20) / (1 << 20) - 0.5f) * 250;
        for (int k = 0; k < DOUBLES; k++) u[k] = (double)x[k] * (double)x[k + DOUBLES] * (round % 3 ? 1e-2 : 10);
        memcpy(want, x, sizeof x);
        memcpy(desired, u, sizeof u);
        sleef_sigmoid_of_floats(floats, want);
        sleef_sigmoid_of_doubles(doubles, desired);
        table[TSR_K_sigmoid][TSR_FLOAT32]((char *[]){(char *)y, (char *)x}, (int64_t[]){4, 4}, FLOATS, NULL);
        table[TSR_K_sigmoid][TSR_FLOAT64]((char *[]){(char *)v, (char *)u}, (int64_t[]){8, 8}, DOUBLES, NULL);
        for (int k = 0; k < FLOATS; k++)
            ck_assert_msg(same_float(y[k], want[k]), "%a: %a, not %a", x[k], y[k], want[k]);
        for (int k = 0; k < DOUBLES; k++)
            ck_assert_msg(same_double(v[k], desired[k]), "%a: %a, not %a", u[k], v[k], desired[k]);
    }
}
#endif

#ifdef TSR_HAVE_X86
/* --- logarithm.inc has the bits of SLEEF's, seen through log_softmax of (0, x), which begins with -log(1 + e**x) ---
 */

#define SLEEF_LOG_OF_TWO(name, T, V) \
    __attribute__((target("avx2"))) static void name(TsrSleefFn exponential, TsrSleefFn logarithm, T *x) { \
        V v; \
        memcpy(&v, x, sizeof v); \
        v = ((V(*)(V))logarithm)(1 + ((V(*)(V))exponential)(v)); \
        memcpy(x, &v, sizeof v); \
    }
SLEEF_LOG_OF_TWO(sleef_log_of_floats, float, __m256)
SLEEF_LOG_OF_TWO(sleef_log_of_doubles, double, __m256d)

static void compare_logarithms(const TsrSoftmaxTable *table, TsrSleefFn const sleef[4]) {
    for (int round = 0; round < 20000; round++) {
        float x[8][2] = {{0}}, y[8][2], want[8];
        double u[4][2] = {{0}}, v[4][2], desired[4];
        for (int k = 0; k < 8; k++) want[k] = x[k][1] = -(float)below(1 << 24) / (1 << (24 - below(5)));
        for (int k = 0; k < 4; k++)
            desired[k] = u[k][1] = (double)x[k][1] - (double)below(1 << 30) / ((int64_t)1 << 50);
        sleef_log_of_floats(sleef[0], sleef[1], want);
        sleef_log_of_doubles(sleef[2], sleef[3], desired);
        table->log_softmax[0](y, x, 8, 2, TSR_DTYPE_NONE);
        table->log_softmax[1](v, u, 4, 2, TSR_DTYPE_NONE);
        for (int k = 0; k < 8; k++)
            ck_assert_msg(same_float(y[k][0], -want[k]), "%a: %a, not %a", x[k][1], y[k][0], -want[k]);
        for (int k = 0; k < 4; k++)
            ck_assert_msg(same_double(v[k][0], -desired[k]), "%a: %a, not %a", u[k][1], v[k][0], -desired[k]);
    }
}
#endif

START_TEST(logarithms_have_the_bits_of_sleef) {
#ifdef TSR_HAVE_X86
    TsrSleefFn sleef[] = {tsr_sleef_find("Sleef_expf8_u10avx2"), tsr_sleef_find("Sleef_logf8_u10avx2"),
                          tsr_sleef_find("Sleef_expd4_u10avx2"), tsr_sleef_find("Sleef_logd4_u10avx2")};
    for (int k = 0; k < 4; k++)
        if (sleef[k] == NULL || tsr_isa() < TSR_ISA_AVX2) return;
    compare_logarithms(tsr_softmax_kernels_avx2(), sleef);
    if (tsr_isa() >= TSR_ISA_AVX512) compare_logarithms(tsr_softmax_kernels_avx512(), sleef);
#endif
}
END_TEST

/* Many lines at once have the bits of the lines one by one, and a place of NaN spoils its own line alone. */
static void compare_lines(TsrSoftmaxFn fn, TsrDtype d) {
    enum { LINES = 37, MOST = 40 };
    static char x[LINES * MOST * 8], y[LINES * MOST * 8], line[MOST * 8];
    int64_t item = (int64_t)tsr_dtype_size(d);
    for (int64_t n = 1; n <= MOST; n++) {
        for (int64_t i = 0; i < LINES * n; i++)
            tsr_scalar_store(tsr_scalar_float(i == 5 * n ? NAN : (double)below(1 << 20) * 1e-5), d, x + i * item);
        fn(y, x, LINES, n, TSR_DTYPE_NONE);
        for (int64_t r = 0; r < LINES; r++) {
            fn(line, x + r * n * item, 1, n, TSR_DTYPE_NONE);
            ck_assert_msg(memcmp(line, y + r * n * item, (size_t)(n * item)) == 0, "line %d of %d", (int)r, (int)n);
            ck_assert_msg(isnan(tsr_scalar_to_double(tsr_scalar_load(d, line))) == (r == 5), "line %d of %d", (int)r,
                          (int)n);
        }
    }
}

START_TEST(lines_of_softmax_do_not_know_of_their_neighbours) {
    for (int log = 0; log < 2; log++) {
        compare_lines(tsr_softmax_kernel(log, TSR_FLOAT32), TSR_FLOAT32);
        compare_lines(tsr_softmax_kernel(log, TSR_FLOAT64), TSR_FLOAT64);
    }
}
END_TEST

#ifdef TSR_HAVE_X86
__attribute__((target("avx2"))) static void sleef_exp2_of_floats(TsrSleefFn fn, float *x) {
    __m256 v;
    memcpy(&v, x, sizeof v);
    v = ((__m256(*)(__m256))fn)(v);
    memcpy(x, &v, sizeof v);
}

/* A whole block, of which none is left to the C library. */
static void compare_powers_of_two(TsrKernelTable table, TsrSleefFn fn) {
    enum { FLOATS = 32 };
    for (int round = 0; round < 5000; round++) {
        _Alignas(32) float x[FLOATS], y[FLOATS], want[FLOATS];
        for (int k = 0; k < FLOATS; k++)
            x[k] = round % 2 ? any_float() : ((float)below(1 << 20) / (1 << 20) - 0.5f) * 310;
        memcpy(want, x, sizeof x);
        for (int k = 0; k < FLOATS; k += 8) sleef_exp2_of_floats(fn, want + k);
        table[TSR_K_exp2][TSR_FLOAT32]((char *[]){(char *)y, (char *)x}, (int64_t[]){4, 4}, FLOATS, NULL);
        for (int k = 0; k < FLOATS; k++)
            ck_assert_msg(same_float(y[k], want[k]), "2**%a: %a, not %a", x[k], y[k], want[k]);
    }
}

static void compare_entropies(TsrKernelTable table) {
    enum { FLOATS = 37 };
    for (int round = 0; round < 5000; round++) {
        float x[FLOATS], y[FLOATS];
        for (int k = 0; k < FLOATS; k++) x[k] = round % 2 ? any_float() : (float)below(1 << 20) / (1 << 20);
        table[TSR_K_entr][TSR_FLOAT32]((char *[]){(char *)y, (char *)x}, (int64_t[]){4, 4}, FLOATS, NULL);
        for (int k = 0; k < FLOATS; k++) {
            const float want = x[k] > 0 ? -x[k] * logf(x[k]) : x[k] == 0 ? 0 : x[k] < 0 ? -INFINITY : NAN;
            ck_assert_msg(same_float(y[k], want), "entr(%a): %a, not %a", x[k], y[k], want);
        }
    }
}
#endif

START_TEST(entropies_have_the_bits_of_the_c_library) {
#ifdef TSR_HAVE_X86
    if (tsr_isa() >= TSR_ISA_AVX2) compare_entropies(tsr_kernels_avx2());
    if (tsr_isa() >= TSR_ISA_AVX512) compare_entropies(tsr_kernels_avx512());
#endif
}
END_TEST

START_TEST(powers_of_two_have_the_bits_of_sleef) {
#ifdef TSR_HAVE_X86
    TsrSleefFn fn = tsr_sleef_find("Sleef_exp2f8_u10avx2");
    if (fn == NULL || tsr_isa() < TSR_ISA_AVX2) return;
    compare_powers_of_two(tsr_kernels_avx2(), fn);
    if (tsr_isa() >= TSR_ISA_AVX512) compare_powers_of_two(tsr_kernels_avx512(), fn);
#endif
}
END_TEST

START_TEST(exponentials_have_the_bits_of_sleef) {
#ifdef TSR_HAVE_X86
    TsrSleefFn floats = tsr_sleef_find("Sleef_expf8_u10avx2"), doubles = tsr_sleef_find("Sleef_expd4_u10avx2");
    if (floats == NULL || doubles == NULL || tsr_isa() < TSR_ISA_AVX2) return;
    compare_exponentials(tsr_kernels_avx2(), floats, doubles);
    if (tsr_isa() >= TSR_ISA_AVX512) compare_exponentials(tsr_kernels_avx512(), floats, doubles);
#endif
}
END_TEST

/* How far `got` is from the true value, in units of the last place of float32. */
static double error_in_ulps(float got, double want) {
    if (isnan(got) || isinf((float)want))
        return isnan(got) == isnan(want) && (isnan(want) || got == (float)want) ? 0 : INFINITY;
    double ulp = fmax(ldexp(1, ilogb(want == 0 ? FLT_MIN : want) - 23), ldexp(1, -149));
    return fabs(got - want) / ulp;
}

/* `most` bounds what is computed in floats, `wide` what is computed in doubles. The sine, cosine and tangent of what is
 * beyond 2**16 are SLEEF's, within one unit, and so are logarithms of what is no positive number; erfc is rounded
 * twice. */
static void check_elementary(TsrKernelTable table, double most, double wide) {
    const struct {
        TsrKernel kernel;
        double (*truth)(double);
        double most;
    } rows[] = {{TSR_K_exp, exp, most},   {TSR_K_sin, sin, most},        {TSR_K_cos, cos, most},
                {TSR_K_tanh, tanh, wide}, {TSR_K_erf, erf, wide},        {TSR_K_log, log, wide},
                {TSR_K_log2, log2, wide}, {TSR_K_log10, log10, wide},    {TSR_K_atan, atan, wide},
                {TSR_K_tan, tan, wide},   {TSR_K_erfc, erfc, wide + 0.4}};
    static const float special[] = {0,     -0.0f,     INFINITY,  -INFINITY, NAN,      65536, 65537,   -65536,
                                    1e30f, 88.72283f, 88.72284f, -87.3366f, -103.97f, -104,  FLT_MAX, FLT_TRUE_MIN};
    for (size_t r = 0; r < TSR_COUNTOF(rows); r++) {
        float x[1003], y[1003];
        for (size_t i = 0; i < TSR_COUNTOF(x); i++) x[i] = i < TSR_COUNTOF(special) ? special[i] : any_float();
        table[rows[r].kernel][TSR_FLOAT32]((char *[]){(char *)y, (char *)x}, (int64_t[]){4, 4}, TSR_COUNTOF(x), NULL);
        for (size_t i = 0; i < TSR_COUNTOF(x); i++) {
            double want = rows[r].truth(x[i]), bound = fabsf(x[i]) > 65536 ? 1 : rows[r].most;
            ck_assert_msg(error_in_ulps(y[i], want) <= bound &&
                              (isnan(want) || !signbit(y[i]) == !signbit((float)want)),
                          "function %zu of %a is %a, not %a", r, x[i], y[i], want);
        }
    }
}

/* The inverse of erf has no truth in the C library: erf takes it back. */
static void check_inverse_of_erf(TsrKernelTable table) {
    float x[999], y[999];
    for (int i = 0; i < 999; i++) x[i] = i < 990 ? ((float)i - 494.5f) / 500 : 1 - ldexpf(1, -i + 975);
    table[TSR_K_erfinv][TSR_FLOAT32]((char *[]){(char *)y, (char *)x}, (int64_t[]){4, 4}, 999, NULL);
    for (int i = 0; i < 999; i++) {
        double slope = M_2_SQRTPI * exp(-(double)y[i] * y[i]), off = (erf(y[i]) - x[i]) / slope;
        ck_assert_msg(fabs(off) <= 0.51 * ldexp(1, ilogb(y[i]) - 23), "erfinv of %a is %a", x[i], y[i]);
    }
    float edge[4] = {1, -1, 1.5f, NAN}, got[4];
    table[TSR_K_erfinv][TSR_FLOAT32]((char *[]){(char *)got, (char *)edge}, (int64_t[]){4, 4}, 4, NULL);
    ck_assert(got[0] == INFINITY && got[1] == -INFINITY && isnan(got[2]) && isnan(got[3]));
}

START_TEST(elementary_functions_are_within_an_ulp) {
    for (int round = 0; round < 50; round++) {
        check_elementary(tsr_kernels_base(), 1.0, 1.1);
#ifdef TSR_HAVE_X86
        if (tsr_isa() >= TSR_ISA_AVX2) check_elementary(tsr_kernels_avx2(), 0.8, 0.5001);
        if (tsr_isa() >= TSR_ISA_AVX512) check_elementary(tsr_kernels_avx512(), 0.8, 0.5001);
#endif
    }
    check_inverse_of_erf(tsr_kernels_base());
#ifdef TSR_HAVE_X86
    if (tsr_isa() >= TSR_ISA_AVX2) check_inverse_of_erf(tsr_kernels_avx2());
    if (tsr_isa() >= TSR_ISA_AVX512) check_inverse_of_erf(tsr_kernels_avx512());
#endif
}
END_TEST

/* erf of float64, by the long double one of the C library. */
static void check_erf_of_doubles(TsrKernelTable table, double most) {
    double x[1001], y[1001];
    for (int i = 0; i < 1001; i++) {
        x[i] = i % 2 ? ((double)below(1 << 24) / (1 << 24) - 0.5) * 13 : (double)any_float();
        if (i < 7) x[i] = (double[]){0, -0.0, INFINITY, -INFINITY, NAN, DBL_TRUE_MIN, 6}[i];
    }
    table[TSR_K_erf][TSR_FLOAT64]((char *[]){(char *)y, (char *)x}, (int64_t[]){8, 8}, 1001, NULL);
    for (int i = 0; i < 1001; i++) {
        const long double want = erfl(x[i]);
        const double unit = nextafter(fabs((double)want), INFINITY) - fabs((double)want);
        ck_assert_msg(isnan(want) ? isnan(y[i]) : fabsl(y[i] - want) <= most * unit && !signbit(y[i]) == !signbit(want),
                      "erf of %a is %a, not %La", x[i], y[i], want);
    }
}

START_TEST(erf_of_doubles_is_within_an_ulp) {
    for (int round = 0; round < 50; round++) {
        check_erf_of_doubles(tsr_kernels_base(), 1.0);
#ifdef TSR_HAVE_X86
        if (tsr_isa() >= TSR_ISA_AVX2) check_erf_of_doubles(tsr_kernels_avx2(), 0.8);
        if (tsr_isa() >= TSR_ISA_AVX512) check_erf_of_doubles(tsr_kernels_avx512(), 0.8);
#endif
    }
}
END_TEST

#ifdef TSR_HAVE_X86
static float widened(TsrDtype d, uint16_t bits) {
    return d == TSR_FLOAT16 ? tsr_half_widen((TsrHalf){bits}) : tsr_bfloat16_widen((TsrBfloat16){bits});
}

static uint16_t rounded(TsrDtype d, float x) {
    return d == TSR_FLOAT16 ? tsr_half_round(x).bits : tsr_bfloat16_round(x).bits;
}

/* Of every half float: the kernel's result is that of floats in whole blocks, rounded. At odd offsets, so that some are
 * behind the last whole vector. */
static void check_halves(TsrKernelTable table, TsrKernel k, TsrDtype d) {
    enum { PIECE = 1021, BLOCKS = 1024 };
    static uint16_t x[65536], y[PIECE];
    static float wide[BLOCKS], second[BLOCKS], want[BLOCKS];
    for (int i = 0; i < 65536; i++) x[i] = (uint16_t)i;
    for (int first = 0; first < 65536; first += PIECE) {
        const int n = TSR_MIN(PIECE, 65536 - first), other = (first ^ 0x8001) % 60000;
        table[k][d]((char *[]){(char *)y, (char *)(x + first), (char *)(x + other)}, (int64_t[]){2, 2, 2}, n, NULL);
        for (int i = 0; i < n; i++) wide[i] = widened(d, x[first + i]);
        for (int i = 0; i < n; i++) second[i] = widened(d, x[other + i]);
        table[k][TSR_FLOAT32]((char *[]){(char *)want, (char *)wide, (char *)second}, (int64_t[]){4, 4, 4}, BLOCKS,
                              NULL);
        for (int i = 0; i < n; i++) {
            const bool nan = isnan(want[i]) && d == TSR_FLOAT16; /* of which there are many */
            ck_assert_msg(nan ? isnan(widened(d, y[i])) : rounded(d, want[i]) == y[i], "kernel %d of %s %04x, %04x",
                          (int)k, tsr_dtype_name(d), first + i, other + i);
        }
    }
}

static void check_both_halves(TsrKernelTable table, TsrKernel k) {
    check_halves(table, k, TSR_BFLOAT16);
    check_halves(table, k, TSR_FLOAT16);
}
#endif

START_TEST(halves_have_the_results_of_floats) {
#ifdef TSR_HAVE_X86
    static const TsrKernel kernels[] = {
        TSR_K_maximum, TSR_K_minimum, TSR_K_sqrt,  TSR_K_reciprocal, TSR_K_square,    TSR_K_floor,
        TSR_K_ceil,    TSR_K_round,   TSR_K_trunc, TSR_K_frac,       TSR_K_add,       TSR_K_div,
        TSR_K_exp,     TSR_K_log,     TSR_K_sin,   TSR_K_cos,        TSR_K_tan,       TSR_K_tanh,
        TSR_K_silu,    TSR_K_sigmoid, TSR_K_gelu,  TSR_K_gelu_tanh,  TSR_K_hardswish, TSR_K_hardsigmoid};
    for (size_t i = 0; i < TSR_COUNTOF(kernels); i++) {
        if (tsr_isa() >= TSR_ISA_AVX2) check_both_halves(tsr_kernels_avx2(), kernels[i]);
        if (tsr_isa() >= TSR_ISA_AVX512) check_both_halves(tsr_kernels_avx512(), kernels[i]);
    }
#endif
}
END_TEST

/* --- reductions --- */

/* Short lines side by side are added up in the order of one line. */
static void check_lines(const TsrReducer *r, TsrDtype d) {
    enum { LINES = 21, APART = TSR_SHORT_LINE + 3 };
    int64_t size = (int64_t)tsr_dtypes[d].itemsize;
    char data[LINES * APART * 8], one[LINES][8], many[LINES][8];
    for (int i = 0; i < LINES * APART; i++)
        tsr_scalar_store(tsr_scalar_float(ldexp((double)below(1 << 20) - (1 << 19), (int)below(40) - 30)), d,
                         data + i * size);
    for (int64_t n = 1; n < TSR_SHORT_LINE; n++) {
        memset(one, 0, sizeof one);
        memset(many, 0, sizeof many);
        for (int j = 0; j < LINES; j++) r->line((char *)one + j * size, data + j * APART * size, size, n, 0, 0, NULL);
        r->lines(many, data, LINES, APART * size, n);
        ck_assert_msg(memcmp(one, many, sizeof one) == 0, "lines of %d %s", (int)n, tsr_dtype_name(d));
    }
}

START_TEST(short_lines_are_summed_as_one_line) {
    const TsrReducerTable tables[] = {tsr_reducers_base(),
#ifdef TSR_HAVE_X86
                                      tsr_isa() >= TSR_ISA_AVX2 ? tsr_reducers_avx2() : NULL,
                                      tsr_isa() >= TSR_ISA_AVX512 ? tsr_reducers_avx512() : NULL
#endif
    };
    for (size_t i = 0; i < TSR_COUNTOF(tables); i++)
        for (int k = 0; k < 2 && tables[i] != NULL; k++) {
            TsrDtype d = k == 0 ? TSR_FLOAT32 : TSR_FLOAT64;
            check_lines(&tables[i][TSR_R_SUM][d], d);
        }
}
END_TEST

START_TEST(sums_of_small_integers_are_exact) {
    for (int round = 0; round < 200; round++) {
        int64_t shape[3] = {1 + below(40), 1 + below(40), 1 + below(40)}, dims[3] = {0, 1, 2};
        TsrTensor *a = new_tensor(3, shape, below(2) ? TSR_FLOAT32 : TSR_INT16), *v = NULL, *r = NULL, *total = NULL;
        ck_assert_int_eq(tsr_tensor_new_transpose(&v, a, below(3), below(3)), TSR_OK);
        int n = 1 + (int)below(2), first = (int)below(2);
        ck_assert_int_eq(tsr_invoke_new(&r, 1, "sum", "tI", v, n, dims + first), TSR_OK);
        ck_assert_int_eq(tsr_invoke_new(&total, 1, "sum", "t", r), TSR_OK);
        double want = 0;
        for (int64_t i = 0; i < a->numel; i++) want += at(a, i);
        ck_assert_double_eq(at(total, 0), want);
        tsr_tensor_free(a);
        tsr_tensor_free(v);
        tsr_tensor_free(r);
        tsr_tensor_free(total);
    }
}
END_TEST

/* Across chunks and blocks: the first of equals, and a nan before all. */
START_TEST(the_first_extreme_is_found_anywhere) {
    const int64_t n = 300000, places[] = {0, 1, 4095, 4096, 65535, 65536, 131071, 131072, 299999};
    TsrTensor *a = new_tensor(1, &n, TSR_FLOAT32), *r = NULL;
    float *p = tsr_data(a);
    for (size_t i = 0; i < TSR_COUNTOF(places); i++) {
        float before = p[places[i]];
        p[places[i]] = i % 2 ? 1000 : NAN;
        p[n - 1] = p[places[i]];
        ck_assert_int_eq(tsr_invoke_new(&r, 1, "argmax", "t", a), TSR_OK);
        ck_assert_double_eq(at(r, 0), (double)places[i]);
        tsr_tensor_free(r);
        p[places[i]] = before;
        p[n - 1] = 0;
    }
    tsr_tensor_free(a);
}
END_TEST

START_TEST(variance_does_not_cancel) {
    const int64_t n = 200000;
    TsrTensor *a = new_tensor(1, &n, TSR_FLOAT64), *r = NULL;
    double *p = tsr_data(a);
    for (int64_t i = 0; i < n; i++) p[i] = 1e9 + (i % 2 ? 1 : -1);
    ck_assert_int_eq(tsr_invoke_new(&r, 1, "var", "t", a), TSR_OK);
    ck_assert_double_eq_tol(at(r, 0), (double)n / (double)(n - 1), 1e-9);
    tsr_tensor_free(a);
    tsr_tensor_free(r);
}
END_TEST

START_TEST(running_sums_end_in_the_sum) {
    for (int64_t n = 1; n < 300000; n = n * 5 + 3) {
        TsrTensor *a = new_tensor(1, &n, TSR_FLOAT32), *running = NULL;
        ck_assert_int_eq(tsr_invoke_new(&running, 1, "cumsum", "ti", a, (int64_t)0), TSR_OK);
        double total = 0;
        for (int64_t i = 0; i < n; i++) {
            total += at(a, i);
            ck_assert_double_eq(at(running, i), (double)(float)total);
        }
        tsr_tensor_free(a);
        tsr_tensor_free(running);
    }
}
END_TEST

/* The k-th least of n keys: less than it are at most k, less or equal more than k; it is where tsr_kernel_place says.
 */
static void check_kth(int64_t n, uint64_t most, int64_t k) {
    enum { ROOM = 20000 };
    static uint32_t short_keys[ROOM], short_spare[2 * ROOM];
    static uint64_t keys[ROOM], spare[2 * ROOM];
    for (int64_t i = 0; i < n; i++) {
        keys[i] = most == UINT64_MAX ? (uint64_t)below(1 << 30) << 34 | (uint64_t)below(1 << 30)
                                     : (uint64_t)below((int64_t)most);
        short_keys[i] = (uint32_t)(keys[i] >> (most == UINT64_MAX ? 32 : 0));
    }
    const uint64_t key = tsr_kernel_kth64(keys, spare, k, n);
    const uint32_t short_key = tsr_kernel_kth32(short_keys, short_spare, k, n);
    int64_t under = 0, equal = 0, short_under = 0, short_equal = 0;
    for (int64_t i = 0; i < n; i++) {
        under += keys[i] < key, equal += keys[i] == key;
        short_under += short_keys[i] < short_key, short_equal += short_keys[i] == short_key;
    }
    ck_assert_msg(under <= k && k < under + equal, "%lld of %lld", (long long)k, (long long)n);
    ck_assert_msg(short_under <= k && k < short_under + short_equal, "%lld of %lld", (long long)k, (long long)n);
    ck_assert_int_eq(tsr_kernel_below64(keys, key, n), under);
    const int64_t last = tsr_kernel_place64(keys, key, equal - 1, n);
    ck_assert(last >= 0 && keys[last] == key && tsr_kernel_place64(keys, key, equal, n) == -1);
}

START_TEST(the_kth_key_has_k_below_it) {
    const int64_t sizes[] = {1, 2, 8, 9, 39, 40, 41, 100, 512, 513, 1000, 5000, 20000};
    const uint64_t bounds[] = {1, 2, 10, 1000, 1 << 30, UINT64_MAX};
    for (size_t s = 0; s < TSR_COUNTOF(sizes); s++)
        for (size_t b = 0; b < TSR_COUNTOF(bounds); b++) {
            const int64_t n = sizes[s], places[] = {0, n / 3, n / 2, n - 1};
            for (size_t k = 0; k < TSR_COUNTOF(places); k++) check_kth(n, bounds[b], places[k]);
        }
}
END_TEST

START_TEST(masks_fill_what_they_mark) {
    enum { COUNT = 300 };
    static const int apart[] = {1, 2, 63, 64, 65, 200, COUNT};
    for (size_t q = 0; q < TSR_COUNTOF(apart); q++)
        for (int from = 0; from < 3; from++) {
            uint8_t mask[COUNT];
            float line[COUNT], value = -1;
            for (int i = 0; i < COUNT; i++) mask[i] = i % apart[q] == apart[q] - 1, line[i] = (float)i;
            tsr_kernel_fill_masked(mask + from, COUNT - from, line + from, &value, sizeof value);
            for (int i = 0; i < COUNT; i++)
                ck_assert_float_eq(line[i], i >= from && i % apart[q] == apart[q] - 1 ? value : (float)i);
        }
}
END_TEST

TEST_SUITE(kernels, masks_fill_what_they_mark, copies_and_reversals_write_what_they_are_to,
           lines_are_reversed_each_by_itself, half_floats_survive_the_round_trip, half_floats_round_to_nearest_even,
           every_pair_of_dtypes_converts_small_numbers, floats_out_of_range_convert_as_the_processor_does,
           instruction_sets_agree, exponentials_have_the_bits_of_sleef, logarithms_have_the_bits_of_sleef,
           lines_of_softmax_do_not_know_of_their_neighbours, elementary_functions_are_within_an_ulp,
           erf_of_doubles_is_within_an_ulp, entropies_have_the_bits_of_the_c_library,
           powers_of_two_have_the_bits_of_sleef, halves_have_the_results_of_floats, short_lines_are_summed_as_one_line,
           sums_of_small_integers_are_exact, the_first_extreme_is_found_anywhere, variance_does_not_cancel,
           running_sums_end_in_the_sum, the_kth_key_has_k_below_it)
