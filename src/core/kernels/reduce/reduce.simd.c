/* reduce.simd.c: the reducers for one instruction set. */
#include <math.h>
#include <string.h>

#include "core/error.h"
#include "core/element/halffloat.h"
#include "reduce.h"
#include "core/kernels/simd.h"
#include "core/kernels/exponential.inc"
#include "core/kernels/lanes.inc"
#include "core/kernels/turn.inc"

#define PASTED(a, b) a##_##b
#define PASTE(a, b) PASTED(a, b) /* pastes the values of macros, not their names */

typedef TurnedFloats V8f;
typedef TurnedDoubles V4d;
typedef float V2f __attribute__((vector_size(8)));
typedef double V2d __attribute__((vector_size(16)));

/* Middling lines are folded abreast where there are vectors as wide as V8f: else it would be code for nothing.
 * BELOW_SUMS and EXTREME_ROW(A, name): `lines_below` of sums of T, and the rows of amax and amin of floats. */
#if defined(TSR_SIMD_AVX512) || defined(TSR_SIMD_AVX2)
#define FOLDS_ABREAST
#define BELOW_SUMS(T) TSR_FOLDED_LINE
#define EXTREME_ROW(A, name) WITH_LINES(A, name, TSR_FOLDED_LINE)
#else
#define BELOW_SUMS(T) (int)(4 * sizeof(V8f) / sizeof(T))
#define EXTREME_ROW(A, name) WITH_ROWS(A, name)
#endif

/* Columns reduced side by side: 256 doubles are 2 KiB of sums, which stay in the first cache beside the rows that are
 * added to them. No measurement is recorded. */
enum { WIDE = 256 };
/* Elements of a line with gaps that are brought together at a time, for the loops over dense ones. */
enum { DENSE = 256 };
/* m elements of type T from `data` on, `stride` bytes apart, brought together; every second one by whole vectors. */
#define BRING_TOGETHER(T, dense, data, stride, m) \
    if ((stride) == 2 * (int64_t)sizeof(T)) \
        for (int64_t at_ = 0; at_ < (m); at_++) (dense)[at_] = ((const T *)(data))[2 * at_]; \
    else \
        for (int64_t at_ = 0; at_ < (m); at_++) (dense)[at_] = *(const T *)((data) + at_ * (stride))

/* The reducer's finish, out of a function `result` for one accumulator. */
#define FINISH(name, A) \
    static void PASTE(finish, name)(char *const *out, const int64_t *step, const void *accs, int64_t n, int64_t count, \
                                    const void *params) { \
        for (int64_t j = 0; j < n; j++) { \
            char *at[2] = {out[0] == NULL ? NULL : out[0] + j * step[0], \
                           out[1] == NULL ? NULL : out[1] + j * step[1]}; \
            PASTE(result, name)(at, (const char *)accs + j * (int64_t)sizeof(A), count, params); \
        } \
    }

/* The same where accumulators are results. */
#define FINISH_COPY(name, A) \
    static void PASTE(finish, name)(char *const *out, const int64_t *step, const void *accs, int64_t n, int64_t count, \
                                    const void *params) { \
        (void)count; \
        (void)params; \
        if (step[0] == (int64_t)sizeof(A)) memcpy(out[0], accs, (size_t)n * sizeof(A)); \
        else \
            for (int64_t j = 0; j < n; j++) \
                memcpy(out[0] + j * step[0], (const char *)accs + j * (int64_t)sizeof(A), sizeof(A)); \
    }

/* --- sums: PyTorch's cascade, four levels of partial sums in four interleaved columns --- */

enum {
    CASCADE_POWER = 4,
    CASCADE_STEP = 1 << CASCADE_POWER
}; /* rows before a partial sum goes a level up, at the least */

static inline int cascade_power(int64_t n) {
    int log = n <= 2 ? 1 : 64 - __builtin_clzll((unsigned long long)(n - 1));
    return TSR_MAX(log / 4, CASCADE_POWER);
}

#define SAME(e) (e)
#define NO_NAN(e) ((e) == (e) ? (e) : 0)
static inline V8f no_nan_v8f(V8f v) {
    typedef int I __attribute__((vector_size(32)));
    return (V8f)((I)v & (v == v));
}
static inline V4d no_nan_v4d(V4d v) {
    typedef long long I __attribute__((vector_size(32)));
    return (V4d)((I)v & (I)(v == v));
}
/* FIX(e) turns what is left out (nan) into zero. */
#define LOAD(name, E, FIX) \
    static inline E PASTE(load, name)(const char *at) { \
        E e; \
        memcpy(&e, at, sizeof e); \
        return FIX(e); \
    }

#define NAME sum_f32
#define S float
#define T float
#define V V8f
#define FIX SAME
#define FIXV SAME
#include "sum.inc"

#define NAME sum_f64
#define S double
#define T double
#define V V4d
#define FIX SAME
#define FIXV SAME
#include "sum.inc"

#define NAME sum_c64
#define S V2f
#define T V2f
#define V V8f
#define FIX SAME
#define FIXV SAME
#include "sum.inc"

#define NAME sum_c128
#define S V2d
#define T V2d
#define V V4d
#define FIX SAME
#define FIXV SAME
#include "sum.inc"

#define NAME nansum_f32
#define S float
#define T float
#define V V8f
#define FIX NO_NAN
#define FIXV no_nan_v8f
#include "sum.inc"

#define NAME nansum_f64
#define S double
#define T double
#define V V4d
#define FIX NO_NAN
#define FIXV no_nan_v4d
#include "sum.inc"

#define ONE_OF(T, at) (*(const T *)(at))
#define FOUR_OF(T, at, next) \
    ONE_OF(T, at), ONE_OF(T, (at) + next), ONE_OF(T, (at) + 2 * next), ONE_OF(T, (at) + 3 * next)
#define TAKE_4(T, at, next) ((V4d){FOUR_OF(T, at, next)})
#define TAKE_8(T, at, next) ((V8f){FOUR_OF(T, at, next), FOUR_OF(T, (at) + 4 * next, next)})
#define NAME sum_f32
#define T float
#define V V8f
#define TAKE TAKE_8
#define TURN turn_floats
#include "short_lines.inc"

#define NAME sum_f64
#define T double
#define V V4d
#define TAKE TAKE_4
#define TURN turn_doubles
#include "short_lines.inc"

/* Eight half floats as floats, and rounded to what a half float can be. */
typedef uint32_t V8u __attribute__((vector_size(32)));
static inline V8f widen_8_bf16(const char *at) {
#ifdef __AVX2__
    return (V8f)((V8u)_mm256_cvtepu16_epi32(_mm_loadu_si128((const __m128i *)(const void *)at)) << 16);
#else
    uint16_t bits[8];
    V8u wide;
    memcpy(bits, at, sizeof bits);
    for (int k = 0; k < 8; k++) wide[k] = (uint32_t)bits[k] << 16;
    return (V8f)wide;
#endif
}
static inline V8f round_8_bf16(V8f v) {
    V8u bits = (V8u)v, nan = (V8u)(v != v), rounded = (bits + 0x7FFF + (bits >> 16 & 1)) & 0xFFFF0000u;
    return (V8f)((nan & 0x7FC00000u) | (~nan & rounded));
}
#ifdef __F16C__
static inline V8f widen_8_f16(const char *at) {
    return (V8f)_mm256_cvtph_ps(_mm_loadu_si128((const __m128i *)(const void *)at));
}
static inline V8f round_8_f16(V8f v) {
    return (V8f)_mm256_cvtph_ps(_mm256_cvtps_ph((__m256)v, _MM_FROUND_TO_NEAREST_INT));
}
static inline float round_1_f16(float x) { return _cvtsh_ss(_cvtss_sh(x, _MM_FROUND_TO_NEAREST_INT)); }
#else
static inline V8f widen_8_f16(const char *at) {
    V8f v;
    for (int k = 0; k < 8; k++) v[k] = tsr_half_widen(((const TsrHalf *)(const void *)at)[k]);
    return v;
}
static inline float round_1_f16(float x) { return tsr_half_widen(tsr_half_round(x)); }
static inline V8f round_8_f16(V8f v) {
    for (int k = 0; k < 8; k++) v[k] = round_1_f16(v[k]);
    return v;
}
#endif
static inline float round_1_bf16(float x) { return tsr_bfloat16_widen(tsr_bfloat16_round(x)); }

#define NAME sum_f16
#define t f16
#define S TsrHalf
#define T float
#define V V8f
#define WIDEN tsr_half_widen
#define ROUND tsr_half_round
#include "sum.inc"

#define NAME sum_bf16
#define t bf16
#define S TsrBfloat16
#define T float
#define V V8f
#define WIDEN tsr_bfloat16_widen
#define ROUND tsr_bfloat16_round
#include "sum.inc"

/* --- integer sums and products, in int64 --- */

#define INIT_VALUE(name, A, VALUE) \
    static void PASTE(init, name)(void *acc) { \
        A a = VALUE; \
        memcpy(acc, &a, sizeof a); \
    }

#define t u8
#define T uint8_t
#include "fold_int.inc"

#define t i8
#define T int8_t
#include "fold_int.inc"

#define t i16
#define T int16_t
#include "fold_int.inc"

#define t i32
#define T int32_t
#define WIDE_ELEMENT
#include "fold_int.inc"

#define t i64
#define T int64_t
#define WIDE_ELEMENT
#include "fold_int.inc"

#define t u16
#define T uint16_t
#include "fold_int.inc"

#define t u32
#define T uint32_t
#define WIDE_ELEMENT
#include "fold_int.inc"

#define t u64
#define T uint64_t
#define WIDE_ELEMENT
#include "fold_int.inc"

#define NAME prod_b8
#define T uint8_t
#define A uint64_t
#define START 1
#define STEP a &(x != 0)
#define JOIN a &x
#define COLUMNS 16
#include "fold.inc"
#undef T
#undef A
#undef COLUMNS

/* Narrow ones add up in a P first. */
#define NAME sum_b8
#define T uint8_t
#define P uint8_t
#define ROUNDS 255
#define VALUE x != 0
#include "narrow_sum.inc"

#define NAME sum_u8
#define T uint8_t
#define P uint16_t
#define ROUNDS 257
#define VALUE x
#include "narrow_sum.inc"

#define NAME sum_i8
#define T int8_t
#define P int16_t
#define ROUNDS 255
#define VALUE x
#include "narrow_sum.inc"

#define NAME sum_u16
#define T uint16_t
#define P uint32_t
#define ROUNDS 65537
#define VALUE x
#include "narrow_sum.inc"

#define NAME sum_i16
#define T int16_t
#define P int32_t
#define ROUNDS 65535
#define VALUE x
#include "narrow_sum.inc"

typedef struct C64 {
    float re, im;
} C64;
typedef struct C128 {
    double re, im;
} C128;
/* One product of each part is fused with the sum, as PyTorch's compiler has it. */
#define COMPLEX_PROD(C, fma) ((C){fma(a.re, x.re, -(a.im * x.im)), fma(a.re, x.im, a.im * x.re)})
#define NAME prod_c64
#define T C64
#define A C64
#define START ((A){1, 0})
#define STEP COMPLEX_PROD(A, __builtin_fmaf)
#define JOIN COMPLEX_PROD(A, __builtin_fmaf)
#define COLUMNS 1
#include "fold.inc"
#undef T
#undef A
#undef COLUMNS

#define NAME prod_c128
#define T C128
#define A C128
#define START ((A){1, 0})
#define STEP COMPLEX_PROD(A, __builtin_fma)
#define JOIN COMPLEX_PROD(A, __builtin_fma)
#define COLUMNS 1
#include "fold.inc"
#undef T
#undef A
#undef COLUMNS

/* --- greatest and least, and their places --- */

#define t u8
#define T uint8_t
#define LOW 0
#define HIGH UINT8_MAX
#include "order.inc"

#define t i8
#define T int8_t
#define LOW INT8_MIN
#define HIGH INT8_MAX
#include "order.inc"

#define t i16
#define T int16_t
#define LOW INT16_MIN
#define HIGH INT16_MAX
#include "order.inc"

#define t i32
#define T int32_t
#define LOW INT32_MIN
#define HIGH INT32_MAX
#include "order.inc"

#define t i64
#define T int64_t
#define LOW INT64_MIN
#define HIGH INT64_MAX
#include "order.inc"

#define t f32
#define T float
#define FLAG int32_t
#define V V8f
#define TURN turn_floats
#define LANES 64
#include "order.inc"

#define t f64
#define T double
#define FLAG int64_t
#define V V4d
#define TURN turn_doubles
#define LANES 32
#include "order.inc"

/* --- truth --- */

/* Elements of any and all between two looks whether it is decided. No measurement is recorded. */
enum { BETWEEN_LOOKS = 1024 };

#define t u8
#define T uint8_t
#define P uint8_t
#define TRUE x != 0
#include "truth.inc"

#define t i16
#define T uint16_t
#define P uint16_t
#define TRUE x != 0
#include "truth.inc"

#define t i32
#define T uint32_t
#define P uint32_t
#define TRUE x != 0
#include "truth.inc"

#define t i64
#define T uint64_t
#define P uint64_t
#define TRUE x != 0
#include "truth.inc"

#define t f32
#define T float
#define P uint32_t
#define TRUE x != 0
#include "truth.inc"

#define t f64
#define T double
#define P uint64_t
#define TRUE x != 0
#include "truth.inc"

#define t c64
#define T C64
#define P uint64_t
#define TRUE x.re != 0 || x.im != 0
#include "truth.inc"

#define t c128
#define T C128
#define P uint64_t
#define TRUE x.re != 0 || x.im != 0
#include "truth.inc"

/* --- variance: each block by two passes in double, blocks joined by Chan's formula; where these overflow or meet inf,
 * Welford's steps (Technometrics 4, 1962), whose result is PyTorch's: the mean of inf and what follows is nan. Of
 * doubles those are taken in all but long single lines, since every digit shows --- */

typedef struct Moments {
    double mean, m2, count;
} Moments;
static void init_moments(void *acc) { memset(acc, 0, sizeof(Moments)); }
static void merge_moments(void *acc, const void *later) {
    Moments *a = acc;
    const Moments *b = later;
    if (b->count == 0) return;
    if (a->count == 0) {
        *a = *b;
        return;
    }
    double n = a->count + b->count, delta = b->mean - a->mean;
    a->mean += delta * (b->count / n);
    a->m2 += b->m2 + delta * delta * (a->count * b->count / n);
    a->count = n;
}
enum { MOMENTS_SHORT = 2048 }; /* elements: single lines of doubles up to here are no longer than a few microseconds */
#define NAME moments_f32
#define T float
#define SHORT 0
#include "moments.inc"

#define NAME moments_f64
#define T double
#define SHORT MOMENTS_SHORT
#include "moments.inc"

/* Welford's steps of lines side by side, whose divisions go by vectors. */
static void moments_abreast(Moments *acc, const char *data, int64_t lanes, int64_t next, int64_t n, int64_t stride) {
    enum { LANES = 16 };
    double mean[LANES] = {0}, m2[LANES] = {0}, x[LANES] = {0}, count = acc->count;
    for (int64_t k = 0; k < lanes; k++) mean[k] = acc[k].mean, m2[k] = acc[k].m2;
    for (int64_t i = 0; i < n && tsr_interrupt_flag == 0; i++, data += stride) {
        count++;
        for (int64_t k = 0; k < lanes; k++) x[k] = *(const double *)(data + k * next);
        for (int k = 0; k < LANES; k++) {
            double delta = x[k] - mean[k];
            mean[k] += delta / count;
            m2[k] += delta * (x[k] - mean[k]);
        }
    }
    for (int64_t k = 0; k < lanes; k++) acc[k] = (Moments){mean[k], m2[k], count};
}

static void rows_moments_f64(void *accs, const char *data, int64_t nout, int64_t next, int64_t n, int64_t stride,
                             int64_t chain, int64_t index, int64_t index_step) {
    Moments *acc = accs;
    (void)chain;
    (void)index;
    (void)index_step;
    for (int64_t j = 0; j < nout; j += 16)
        moments_abreast(acc + j, data + j * next, TSR_MIN(nout - j, (int64_t)16), next, n, stride);
}

#define t f32
#define T float
#include "squares.inc"

#define t f64
#define T double
#include "squares.inc"

/* --- products: PyTorch's four vectors of 32 bytes, and what is left one by one; those of half floats are rounded at
 * every step --- */

#define NAME prod_f32
#define S float
#define A float
#define V V8f
#define WIDEN SAME
#define LOADV load_sum_f32_vec
#define ROUND1 SAME
#define ROUNDV SAME
#include "product.inc"

#define NAME prod_f64
#define S double
#define A double
#define V V4d
#define WIDEN SAME
#define LOADV load_sum_f64_vec
#define ROUND1 SAME
#define ROUNDV SAME
#include "product.inc"

#define NAME prod_f16
#define S TsrHalf
#define A float
#define V V8f
#define WIDEN tsr_half_widen
#define NARROW tsr_half_round
#define LOADV widen_8_f16
#define ROUND1 round_1_f16
#define ROUNDV round_8_f16
#include "product.inc"

#define NAME prod_bf16
#define S TsrBfloat16
#define A float
#define V V8f
#define WIDEN tsr_bfloat16_widen
#define NARROW tsr_bfloat16_round
#define LOADV widen_8_bf16
#define ROUND1 round_1_bf16
#define ROUNDV round_8_bf16
#include "product.inc"

/* --- log of a sum of exponentials: the greatest so far, and the sum of exp(x - greatest) --- */

#if defined(TSR_SIMD_AVX512) || defined(TSR_SIMD_AVX2)
#define t f32
#define T float
#define V VF
#define M VI
#define EXP sleef_exp_floats
#include "exponentials.inc"
#define t f64
#define T double
#define V VD
#define M VW
#define EXP sleef_exp_doubles
#include "exponentials.inc"
#else
static void exponential_row_f32(float *sum, const float *x, const float *base, int64_t width) {
    for (int64_t c = 0; c < width; c++) sum[c] += expf(x[c] - base[c]);
}
static void exponential_row_f64(double *sum, const double *x, const double *base, int64_t width) {
    for (int64_t c = 0; c < width; c++) sum[c] += exp(x[c] - base[c]);
}
static float exponentials_f32(const float *x, int64_t n, float base) {
    float sum = 0;
    for (int64_t i = 0; i < n; i++) sum += expf(x[i] - base);
    return sum;
}
static double exponentials_f64(const double *x, int64_t n, double base) {
    double sum = 0;
    for (int64_t i = 0; i < n; i++) sum += exp(x[i] - base);
    return sum;
}
static float greatest_f32(const float *x, int64_t n) {
    float best = -INFINITY;
    for (int64_t i = 0; i < n; i++) best = x[i] > best || x[i] != x[i] ? x[i] : best;
    return best;
}
static double greatest_f64(const double *x, int64_t n) {
    double best = -INFINITY;
    for (int64_t i = 0; i < n; i++) best = x[i] > best || x[i] != x[i] ? x[i] : best;
    return best;
}
#endif
#define t f32
#define T float
#define EXP expf
#include "logsumexp.inc"

#define t f64
#define T double
#define EXP exp
#include "logsumexp.inc"

/* --- the table --- */

#define ROW(A, name, rows_, lines_, below) \
    { A, PASTE(init, name), PASTE(line, name), rows_, PASTE(merge, name), PASTE(finish, name), lines_, below, false }
#define WITH_LINES(A, name, below) ROW(A, name, PASTE(rows, name), PASTE(lines, name), below)
#define WITH_ROWS(A, name) ROW(A, name, PASTE(rows, name), NULL, 0)
#define PLAIN(A, name) ROW(A, name, NULL, NULL, 0)
#define NUMBERS(M, name) \
    [TSR_UINT8] = M(name##_u8) \
    , [TSR_INT8] = M(name##_i8) \
    , [TSR_INT16] = M(name##_i16) \
    , [TSR_INT32] = M(name##_i32) \
    , [TSR_INT64] = M(name##_i64)
#define FLOATS(M, name) \
    [TSR_FLOAT32] = M(name##_f32) \
    , [TSR_FLOAT64] = M(name##_f64)
#define SUM8(name) WITH_ROWS(8, name)
#define ACC(name) PLAIN(sizeof(PASTE(acc, name)), name)
#define PLACE(name) WITH_ROWS(sizeof(PASTE(acc, name)), name)
#define LINES(name) WITH_LINES(sizeof(PASTE(acc, name)), name, TSR_SHORT_LINE)
#define TRUTH(A, name) \
    [TSR_BOOL] = WITH_ROWS(A, name##_u8), [TSR_UINT8] = WITH_ROWS(A, name##_u8), [TSR_INT8] = WITH_ROWS(A, name##_u8), \
    [TSR_INT16] = WITH_ROWS(A, name##_i16), [TSR_UINT16] = WITH_ROWS(A, name##_i16), \
    [TSR_INT32] = WITH_ROWS(A, name##_i32), [TSR_UINT32] = WITH_ROWS(A, name##_i32), \
    [TSR_INT64] = WITH_ROWS(A, name##_i64), [TSR_UINT64] = WITH_ROWS(A, name##_i64), \
    [TSR_FLOAT32] = WITH_ROWS(A, name##_f32), [TSR_FLOAT64] = WITH_ROWS(A, name##_f64), \
    [TSR_COMPLEX64] = WITH_ROWS(A, name##_c64), [TSR_COMPLEX128] = WITH_ROWS(A, name##_c128)
#define EXTREMES(name) \
    { \
        [TSR_BOOL] = WITH_ROWS(1, name##_u8), [TSR_UINT8] = WITH_ROWS(1, name##_u8), \
        [TSR_INT8] = WITH_ROWS(1, name##_i8), [TSR_INT16] = WITH_ROWS(2, name##_i16), \
        [TSR_INT32] = WITH_ROWS(4, name##_i32), [TSR_INT64] = WITH_ROWS(8, name##_i64), \
        [TSR_FLOAT32] = EXTREME_ROW(4, name##_f32), [TSR_FLOAT64] = EXTREME_ROW(8, name##_f64) \
    }
#define R_MOMENTS(t) \
    { \
        sizeof(Moments), init_moments, PASTE(line, moments_##t), NULL, merge_moments, PASTE(finish, moments_##t), \
            NULL, 0, false \
    }

static const TsrReducer reducer_table[TSR_R_COUNT_KINDS][TSR_DTYPE_COUNT] = {
    [TSR_R_SUM] =
        {NUMBERS(SUM8, sum), [TSR_UINT16] = SUM8(sum_u16), [TSR_UINT32] = SUM8(sum_u32), [TSR_UINT64] = SUM8(sum_u64),
         [TSR_BOOL] = SUM8(sum_b8), [TSR_FLOAT32] = WITH_LINES(4, sum_f32, BELOW_SUMS(float)),
         [TSR_FLOAT64] = WITH_LINES(8, sum_f64, BELOW_SUMS(double)), [TSR_COMPLEX64] = WITH_ROWS(8, sum_c64),
         [TSR_COMPLEX128] = WITH_ROWS(16, sum_c128), [TSR_FLOAT16] = WITH_ROWS(4, sum_f16),
         [TSR_BFLOAT16] = WITH_ROWS(4, sum_bf16)},
    [TSR_R_NANSUM] = {[TSR_FLOAT32] = WITH_ROWS(4, nansum_f32), [TSR_FLOAT64] = WITH_ROWS(8, nansum_f64)},
    [TSR_R_PROD] = {NUMBERS(SUM8, prod), [TSR_UINT16] = SUM8(prod_u16), [TSR_UINT32] = SUM8(prod_u32),
                    [TSR_UINT64] = SUM8(prod_u64), [TSR_BOOL] = SUM8(prod_b8), [TSR_FLOAT32] = WITH_ROWS(4, prod_f32),
                    [TSR_FLOAT64] = WITH_ROWS(8, prod_f64), [TSR_COMPLEX64] = WITH_ROWS(8, prod_c64),
                    [TSR_COMPLEX128] = WITH_ROWS(16, prod_c128), [TSR_FLOAT16] = WITH_ROWS(4, prod_f16),
                    [TSR_BFLOAT16] = WITH_ROWS(4, prod_bf16)},
    [TSR_R_AMAX] = EXTREMES(amax),
    [TSR_R_AMIN] = EXTREMES(amin),
    [TSR_R_ARGMAX] = {NUMBERS(PLACE, argmax), FLOATS(PLACE, argmax), [TSR_BOOL] = PLACE(argmax_u8)},
    [TSR_R_ARGMIN] = {NUMBERS(PLACE, argmin), FLOATS(PLACE, argmin), [TSR_BOOL] = PLACE(argmin_u8)},
    [TSR_R_AMINMAX] = {NUMBERS(ACC, aminmax), FLOATS(ACC, aminmax), [TSR_BOOL] = ACC(aminmax_u8)},
    [TSR_R_ANY] = {TRUTH(1, any)},
    [TSR_R_ALL] = {TRUTH(1, all)},
    [TSR_R_COUNT] = {TRUTH(8, count)},
    [TSR_R_MOMENTS] = {[TSR_FLOAT32] = R_MOMENTS(f32),
                       [TSR_FLOAT64] = {sizeof(Moments), init_moments, line_moments_f64, rows_moments_f64,
                                        merge_moments, finish_moments_f64, NULL, 0, true}},
    [TSR_R_SQUARES] = {[TSR_FLOAT32] = PLAIN(8, squares_f32), [TSR_FLOAT64] = PLAIN(8, squares_f64)},
    [TSR_R_LOGSUMEXP] = {FLOATS(LINES, lse)},
};

TsrReducerTable SIMD(tsr_reducers)(void) { return reducer_table; }
