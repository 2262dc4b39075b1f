/* reduce.simd.c: the reducers for one instruction set. */
#include <math.h>
#include <string.h>

#include "core/error.h"
#include "core/element/halffloat.h"
#include "reduce.h"
#include "core/kernels/simd.h"
#include "core/kernels/sleef.h"

#define PASTED(a, b) a##_##b
#define PASTE(a, b) PASTED(a, b) /* of what macros stand for */

typedef float V8f __attribute__((vector_size(32)));
typedef double V4d __attribute__((vector_size(32)));
typedef float V2f __attribute__((vector_size(8)));
typedef double V2d __attribute__((vector_size(16)));

/* Columns reduced side by side: 256 doubles are 2 KiB of sums, which stay in the first cache beside the rows that are
 * added to them. No measurement is recorded. */
enum { WIDE = 256 };

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

/* Short lines, as many at once as a vector has lanes: each lane adds up its line in the order of line_sum, which
 * takes those of 4 * LANES numbers and more otherwise. */
#define SHORT_LINES(name, T, V, TAKE) \
    static void PASTE(lines, name)(void *accs, const char *data, int64_t nout, int64_t next, int64_t n) { \
        enum { LANES = sizeof(V) / sizeof(T) }; \
        const int64_t whole = n < LANES ? n / 4 * 4 : n / LANES * LANES, columns = n < LANES ? 4 : LANES; \
        int64_t j = 0; \
        for (; n < 4 * LANES && j + LANES <= nout; j += LANES, data += LANES * next) { \
            V column[LANES] = {{0}}, total = {0}, before; \
            for (int64_t i = 0; i < whole; i += columns) \
                for (int64_t k = 0; k < columns; k++) column[k] += TAKE(T, data + (i + k) * (int64_t)sizeof(T), next); \
            V *rest = n < LANES ? column : &total; \
            for (int64_t i = whole; i < n; i++) *rest += TAKE(T, data + i * (int64_t)sizeof(T), next); \
            if (n < LANES) total = column[0]; \
            for (int64_t k = n < LANES ? 1 : 0; k < columns; k++) total += column[k]; \
            memcpy(&before, (char *)accs + j * (int64_t)sizeof(T), sizeof before); \
            before += total; \
            memcpy((char *)accs + j * (int64_t)sizeof(T), &before, sizeof before); \
        } \
        for (; j < nout; j++, data += next) \
            PASTE(line, name)((char *)accs + j * (int64_t)sizeof(T), data, sizeof(T), n, 0, 0, NULL); \
    }
#define ONE_OF(T, at) (*(const T *)(at))
#define FOUR_OF(T, at, next) \
    ONE_OF(T, at), ONE_OF(T, (at) + next), ONE_OF(T, (at) + 2 * next), ONE_OF(T, (at) + 3 * next)
#define TAKE_4(T, at, next) ((V4d){FOUR_OF(T, at, next)})
#define TAKE_8(T, at, next) ((V8f){FOUR_OF(T, at, next), FOUR_OF(T, (at) + 4 * next, next)})
SHORT_LINES(sum_f32, float, V8f, TAKE_8)
SHORT_LINES(sum_f64, double, V4d, TAKE_4)

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

/* A fold by a commutative expression of a (so far) and x: contiguous in LANES columns. */
#define FOLD(name, T, A, LANES_, START, STEP, JOIN) \
    FOLD_REST(name, T, A, START, STEP, JOIN) \
    static void PASTE(line, name)(void *acc, const char *data, int64_t stride, int64_t n, int64_t index, \
                                  int64_t index_step, const void *params) { \
        enum { LANES = LANES_ }; \
        A column[LANES], total = *(A *)acc; \
        int64_t i = 0; \
        (void)index; \
        (void)index_step; \
        (void)params; \
        if (LANES > 1 && stride == (int64_t)sizeof(T) && n >= LANES) { \
            for (int k = 0; k < LANES; k++) column[k] = START; \
            const T *p = (const T *)data; \
            for (; i + LANES <= n; i += LANES) \
                for (int k = 0; k < LANES; k++) { \
                    const A a = column[k]; \
                    const T x = p[i + k]; \
                    column[k] = STEP; \
                } \
            for (int width = LANES / 2; width > 0; width /= 2) \
                for (int k = 0; k < width; k++) { \
                    const A a = column[k], x = column[k + width]; \
                    column[k] = JOIN; \
                } \
            const A a = total, x = column[0]; \
            total = JOIN; \
        } \
        for (; i < n; i++) { \
            const A a = total; \
            const T x = *(const T *)(data + i * stride); \
            total = STEP; \
        } \
        *(A *)acc = total; \
    }
#define FOLD_REST(name, T, A, START, STEP, JOIN) \
    INIT_VALUE(name, A, START) \
    FINISH_COPY(name, A) \
    static void PASTE(merge, name)(void *acc, const void *later) { \
        A *pa = acc; \
        const A a = *pa, x = *(const A *)later; \
        *pa = JOIN; \
    } \
    static void PASTE(rows, name)(void *accs, const char *data, int64_t nout, int64_t next, int64_t n, int64_t stride, \
                                  int64_t chain, int64_t index, int64_t index_step) { \
        (void)index; \
        (void)index_step; \
        A *acc = accs; \
        (void)chain; \
        for (int64_t i = 0; i < n; i++, data += stride) { \
            if (next == (int64_t)sizeof(T)) { \
                const T *p = (const T *)data; \
                for (int64_t j = 0; j < nout; j++) { \
                    const A a = acc[j]; \
                    const T x = p[j]; \
                    acc[j] = STEP; \
                } \
            } else { \
                for (int64_t j = 0; j < nout; j++) { \
                    const A a = acc[j]; \
                    const T x = *(const T *)(data + j * next); \
                    acc[j] = STEP; \
                } \
            } \
        } \
    }

#define INT_FOLDS(M) \
    M(u8, uint8_t) \
    M(i8, int8_t) \
    M(i16, int16_t) \
    M(i32, int32_t) \
    M(i64, int64_t) \
    M(u16, uint16_t) \
    M(u32, uint32_t) \
    M(u64, uint64_t)
#define INT_SUM(t, T) FOLD(sum_##t, T, uint64_t, 16, 0, a + (uint64_t)(int64_t)x, a + x)
#define INT_PROD(t, T) FOLD(prod_##t, T, uint64_t, 8, 1, a *(uint64_t)(int64_t)x, a *x)
INT_SUM(i32, int32_t)
INT_SUM(i64, int64_t)
INT_SUM(u32, uint32_t)
INT_SUM(u64, uint64_t)
INT_FOLDS(INT_PROD)

/* Adds what VALUE is of each x to total, a uint64_t: where they are dense in columns of P, which ROUNDS of them do not
 * overflow. */
#define ADD_LINE(T, P, ROUNDS, VALUE) \
    while (stride == (int64_t)sizeof(T) && n >= (int64_t)(128 / sizeof(P))) { \
        enum { LANES = 128 / sizeof(P) }; \
        P column[LANES] = {0}; \
        const T *p = (const T *)data; \
        int64_t rounds = TSR_MIN(n / LANES, (int64_t)(ROUNDS)); \
        for (int64_t i = 0; i < rounds; i++, p += LANES) \
            for (int k = 0; k < LANES; k++) { \
                const T x = p[k]; \
                column[k] = (P)(column[k] + (VALUE)); \
            } \
        for (int k = 0; k < LANES; k++) total += (uint64_t)(int64_t)column[k]; \
        data = (const char *)p; \
        n -= rounds * LANES; \
    } \
    if (stride == (int64_t)sizeof(T)) \
        for (int64_t i = 0; i < n; i++) { \
            const T x = ((const T *)data)[i]; \
            total += (uint64_t)(int64_t)(VALUE); \
        } \
    else \
        for (int64_t i = 0; i < n; i++) { \
            const T x = *(const T *)(data + i * stride); \
            total += (uint64_t)(int64_t)(VALUE); \
        }

/* Narrow ones add up in a P first. */
#define NARROW_SUM(name, T, P, ROUNDS, VALUE) \
    FOLD_REST(name, T, uint64_t, 0, a + (uint64_t)(int64_t)(VALUE), a + x) \
    static void PASTE(line, name)(void *acc, const char *data, int64_t stride, int64_t n, int64_t index, \
                                  int64_t index_step, const void *params) { \
        uint64_t total = *(uint64_t *)acc; \
        (void)index; \
        (void)index_step; \
        (void)params; \
        ADD_LINE(T, P, ROUNDS, VALUE) \
        *(uint64_t *)acc = total; \
    }
NARROW_SUM(sum_b8, uint8_t, uint8_t, 255, x != 0)
NARROW_SUM(sum_u8, uint8_t, uint16_t, 257, x)
NARROW_SUM(sum_i8, int8_t, int16_t, 255, x)
NARROW_SUM(sum_u16, uint16_t, uint32_t, 65537, x)
NARROW_SUM(sum_i16, int16_t, int32_t, 65535, x)
FOLD(prod_b8, uint8_t, uint64_t, 16, 1, a &(x != 0), a &x)

typedef struct C64 {
    float re, im;
} C64;
typedef struct C128 {
    double re, im;
} C128;
#define COMPLEX_PROD(C) ((C){a.re * x.re - a.im * x.im, a.re * x.im + a.im * x.re})
FOLD(prod_c64, C64, C64, 1, ((C64){1, 0}), COMPLEX_PROD(C64), COMPLEX_PROD(C64))
FOLD(prod_c128, C128, C128, 1, ((C128){1, 0}), COMPLEX_PROD(C128), COMPLEX_PROD(C128))

/* --- greatest and least, and their places --- */

#define FLOAT_VALUE(acc) ((acc).nan ? NAN : (acc).value)
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
#define LANES 64
#include "order.inc"

#define t f64
#define T double
#define FLAG int64_t
#define LANES 32
#include "order.inc"

/* --- truth --- */

#define TRUTH_TYPES(M) \
    M(u8, uint8_t, x != 0) \
    M(i16, uint16_t, x != 0) \
    M(i32, uint32_t, x != 0) \
    M(i64, uint64_t, x != 0) \
    M(f32, float, x != 0) \
    M(f64, double, x != 0) \
    M(c64, C64, x.re != 0 || x.im != 0) \
    M(c128, C128, x.re != 0 || x.im != 0)
/* Side by side: a, an accumulator, becomes STEP of itself and of x. */
#define TRUTH_ROWS(name, T, A, STEP) \
    static void PASTE(rows, name)(void *accs, const char *data, int64_t nout, int64_t next, int64_t n, int64_t stride, \
                                  int64_t chain, int64_t index, int64_t index_step) { \
        A *restrict acc = accs; \
        (void)chain; \
        (void)index; \
        (void)index_step; \
        for (int64_t i = 0; i < n; i++, data += stride) { \
            const T *restrict row = (const T *)data; \
            if (next == (int64_t)sizeof(T)) \
                for (int64_t j = 0; j < nout; j++) { \
                    const T x = row[j]; \
                    const A a = acc[j]; \
                    acc[j] = (A)(STEP); \
                } \
            else \
                for (int64_t j = 0; j < nout; j++) { \
                    const T x = *(const T *)(data + j * next); \
                    const A a = acc[j]; \
                    acc[j] = (A)(STEP); \
                } \
        } \
    }
#define ANY(t, T, TRUE) \
    INIT_VALUE(any_##t, uint8_t, 0) \
    FINISH_COPY(any_##t, uint8_t) static void PASTE(merge, any_##t)(void *acc, const void *later) { \
        *(uint8_t *)acc |= *(const uint8_t *)later; \
    } \
    static void PASTE(line, any_##t)(void *acc, const char *data, int64_t stride, int64_t n, int64_t index, \
                                     int64_t index_step, const void *params) { \
        (void)index; \
        (void)index_step; \
        (void)params; \
        for (int64_t i = 0; i < n && !*(uint8_t *)acc;) { \
            int64_t end = TSR_MIN(n, i + 1024); \
            uint8_t found = 0; \
            if (stride == (int64_t)sizeof(T)) \
                for (; i < end; i++) { \
                    const T x = ((const T *)data)[i]; \
                    found |= TRUE; \
                } \
            else \
                for (; i < end; i++) { \
                    const T x = *(const T *)(data + i * stride); \
                    found |= TRUE; \
                } \
            *(uint8_t *)acc = found; \
        } \
    } \
    TRUTH_ROWS(any_##t, T, uint8_t, a | (TRUE))
#define ALL(t, T, TRUE) \
    INIT_VALUE(all_##t, uint8_t, 1) \
    FINISH_COPY(all_##t, uint8_t) static void PASTE(merge, all_##t)(void *acc, const void *later) { \
        *(uint8_t *)acc &= *(const uint8_t *)later; \
    } \
    static void PASTE(line, all_##t)(void *acc, const char *data, int64_t stride, int64_t n, int64_t index, \
                                     int64_t index_step, const void *params) { \
        (void)index; \
        (void)index_step; \
        (void)params; \
        for (int64_t i = 0; i < n && *(uint8_t *)acc;) { \
            int64_t end = TSR_MIN(n, i + 1024); \
            uint8_t missing = 0; \
            if (stride == (int64_t)sizeof(T)) \
                for (; i < end; i++) { \
                    const T x = ((const T *)data)[i]; \
                    missing |= !(TRUE); \
                } \
            else \
                for (; i < end; i++) { \
                    const T x = *(const T *)(data + i * stride); \
                    missing |= !(TRUE); \
                } \
            *(uint8_t *)acc = !missing; \
        } \
    } \
    TRUTH_ROWS(all_##t, T, uint8_t, a &(TRUE))
TRUTH_TYPES(ANY)
TRUTH_TYPES(ALL)
typedef uint8_t PASTE(truths,
                      u8); /* as wide as an element, where there is such an int: compared and added in the same lanes */
typedef uint16_t PASTE(truths, i16);
typedef uint32_t PASTE(truths, i32), PASTE(truths, f32);
typedef uint64_t PASTE(truths, i64), PASTE(truths, f64), PASTE(truths, c64), PASTE(truths, c128);
#define COUNT_LINE(t, T, TRUE) \
    INIT_VALUE(count_##t, int64_t, 0) \
    FINISH_COPY(count_##t, int64_t) static void PASTE(merge, count_##t)(void *acc, const void *later) { \
        *(int64_t *)acc += *(const int64_t *)later; \
    } \
    static void PASTE(line, count_##t)(void *acc, const char *data, int64_t stride, int64_t n, int64_t index, \
                                       int64_t index_step, const void *params) { \
        uint64_t total = 0; \
        (void)index; \
        (void)index_step; \
        (void)params; \
        ADD_LINE(T, PASTE(truths, t), 255, TRUE) \
        *(int64_t *)acc += (int64_t)total; \
    } \
    TRUTH_ROWS(count_##t, T, int64_t, a + (TRUE))
TRUTH_TYPES(COUNT_LINE)

/* --- variance: each block by two passes in double, blocks joined by Chan's formula; where these overflow or meet inf,
 * Welford's steps (Technometrics 4, 1962), whose result is PyTorch's: the mean of inf and what follows is nan --- */

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
#define NAME moments_f32
#define T float
#include "moments.inc"

#define NAME moments_f64
#define T double
#include "moments.inc"

#define SQUARES(t, T) \
    INIT_VALUE(squares_##t, double, 0) \
    static void PASTE(merge, squares_##t)(void *acc, const void *later) { *(double *)acc += *(const double *)later; } \
    static void PASTE(line, squares_##t)(void *acc, const char *data, int64_t stride, int64_t n, int64_t index, \
                                         int64_t index_step, const void *params) { \
        const double mean = ((const TsrReduceParams *)params)->mean; \
        double column[16] = {0}, total = *(double *)acc; \
        int64_t i = 0; \
        (void)index; \
        (void)index_step; \
        if (stride == (int64_t)sizeof(T)) \
            for (; i + 16 <= n; i += 16) \
                for (int k = 0; k < 16; k++) { \
                    double d = (double)((const T *)data)[i + k] - mean; \
                    column[k] += d * d; \
                } \
        for (; i < n; i++) { \
            double d = (double)*(const T *)(data + i * stride) - mean; \
            total += d * d; \
        } \
        for (int k = 0; k < 16; k++) total += column[k]; \
        *(double *)acc = total; \
    } \
    static void PASTE(result, squares_##t)(char *const *out, const void *acc, int64_t count, const void *params) { \
        const TsrReduceParams *p = params; \
        double divisor = (double)count - p->correction, var = *(const double *)acc / (divisor > 0 ? divisor : 0); \
        *(T *)out[0] = (T)(p->root ? sqrt(var) : var); \
    } \
    FINISH(squares_##t, double)
SQUARES(f32, float)
SQUARES(f64, double)

/* --- products: PyTorch's four vectors of 32 bytes, and what is left one by one; those of half floats are rounded at
 * every step --- */

#define NAME prod_f32
#define S float
#define A float
#define V V8f
#define WIDEN SAME
#define NARROW SAME
#define LOADV load_sum_f32_vec
#define ROUND1 SAME
#define ROUNDV SAME
#include "product.inc"

#define NAME prod_f64
#define S double
#define A double
#define V V4d
#define WIDEN SAME
#define NARROW SAME
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

/* exponentials: of a line. exponential_row: those of `width` neighbours, at most WIDE, beside as many bases, are added
 * to as many sums. */
#define EXPONENTIALS(t, T, V, EXP) \
    static void exponential_row_##t(T *sum, const T *x, const T *base, int64_t width) { \
        enum { LANES = sizeof(V) / sizeof(T) }; \
        for (int64_t c = 0; c < width; c += LANES) { \
            V v = {0}, b, s; \
            size_t bytes = (size_t)TSR_MIN(width - c, (int64_t)LANES) * sizeof(T); \
            if (TSR_LIKELY(bytes == sizeof v)) memcpy(&v, x + c, sizeof v); \
            else memcpy(&v, x + c, bytes); \
            memcpy(&b, base + c, sizeof b); \
            memcpy(&s, sum + c, sizeof s); \
            s += EXP(v - b); \
            memcpy(sum + c, &s, sizeof s); \
        } \
    } \
    static T exponentials_##t(const T *x, int64_t n, T base) { \
        enum { LANES = sizeof(V) / sizeof(T) }; \
        V total = {0}; \
        T lane[LANES], sum = 0; \
        int64_t i = 0; \
        for (; i + LANES <= n; i += LANES) { \
            V v; \
            memcpy(&v, x + i, sizeof v); \
            total += EXP(v - base); \
        } \
        memcpy(lane, &total, sizeof total); \
        for (int k = 0; k < LANES; k++) sum += lane[k]; \
        if (i < n) { \
            V v = {0}; \
            memcpy(&v, x + i, (size_t)(n - i) * sizeof(T)); \
            v = EXP(v - base); \
            memcpy(lane, &v, sizeof v); \
            for (int k = 0; i < n; i++, k++) sum += lane[k]; \
        } \
        return sum; \
    }
#if defined(TSR_SIMD_AVX512) || defined(TSR_SIMD_AVX2)
EXPONENTIALS(f32, float, VF, VF_CALL(exp, u10))
EXPONENTIALS(f64, double, VD, VD_CALL(exp, u10))
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

#define ROW(A, name, rows_, lines_) \
    { A, PASTE(init, name), PASTE(line, name), rows_, PASTE(merge, name), PASTE(finish, name), lines_ }
#define WITH_LINES(A, name) ROW(A, name, PASTE(rows, name), PASTE(lines, name))
#define WITH_ROWS(A, name) ROW(A, name, PASTE(rows, name), NULL)
#define PLAIN(A, name) ROW(A, name, NULL, NULL)
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
#define OWN(name) WITH_ROWS(sizeof(PASTE(side, name)), name)
#define ACC(name) PLAIN(sizeof(PASTE(acc, name)), name)
#define PLACE(name) WITH_ROWS(sizeof(PASTE(acc, name)), name)
#define TRUTH(A, name) \
    [TSR_BOOL] = WITH_ROWS(A, name##_u8), [TSR_UINT8] = WITH_ROWS(A, name##_u8), [TSR_INT8] = WITH_ROWS(A, name##_u8), \
    [TSR_INT16] = WITH_ROWS(A, name##_i16), [TSR_UINT16] = WITH_ROWS(A, name##_i16), \
    [TSR_INT32] = WITH_ROWS(A, name##_i32), [TSR_UINT32] = WITH_ROWS(A, name##_i32), \
    [TSR_INT64] = WITH_ROWS(A, name##_i64), [TSR_UINT64] = WITH_ROWS(A, name##_i64), \
    [TSR_FLOAT32] = WITH_ROWS(A, name##_f32), [TSR_FLOAT64] = WITH_ROWS(A, name##_f64), \
    [TSR_COMPLEX64] = WITH_ROWS(A, name##_c64), [TSR_COMPLEX128] = WITH_ROWS(A, name##_c128)
#define R_MOMENTS(t) \
    { sizeof(Moments), init_moments, PASTE(line, moments_##t), NULL, merge_moments, PASTE(finish, moments_##t), NULL }

static const TsrReducer reducer_table[TSR_R_COUNT_KINDS][TSR_DTYPE_COUNT] = {
    [TSR_R_SUM] =
        {NUMBERS(SUM8, sum), [TSR_UINT16] = SUM8(sum_u16), [TSR_UINT32] = SUM8(sum_u32), [TSR_UINT64] = SUM8(sum_u64),
         [TSR_BOOL] = SUM8(sum_b8), [TSR_FLOAT32] = WITH_LINES(4, sum_f32), [TSR_FLOAT64] = WITH_LINES(8, sum_f64),
         [TSR_COMPLEX64] = WITH_ROWS(8, sum_c64), [TSR_COMPLEX128] = WITH_ROWS(16, sum_c128),
         [TSR_FLOAT16] = WITH_ROWS(4, sum_f16), [TSR_BFLOAT16] = WITH_ROWS(4, sum_bf16)},
    [TSR_R_NANSUM] = {[TSR_FLOAT32] = WITH_ROWS(4, nansum_f32), [TSR_FLOAT64] = WITH_ROWS(8, nansum_f64)},
    [TSR_R_PROD] = {NUMBERS(SUM8, prod), [TSR_UINT16] = SUM8(prod_u16), [TSR_UINT32] = SUM8(prod_u32),
                    [TSR_UINT64] = SUM8(prod_u64), [TSR_BOOL] = SUM8(prod_b8), [TSR_FLOAT32] = WITH_ROWS(4, prod_f32),
                    [TSR_FLOAT64] = WITH_ROWS(8, prod_f64), [TSR_COMPLEX64] = WITH_ROWS(8, prod_c64),
                    [TSR_COMPLEX128] = WITH_ROWS(16, prod_c128), [TSR_FLOAT16] = WITH_ROWS(4, prod_f16),
                    [TSR_BFLOAT16] = WITH_ROWS(4, prod_bf16)},
    [TSR_R_AMAX] = {NUMBERS(OWN, amax), FLOATS(OWN, amax), [TSR_BOOL] = OWN(amax_u8)},
    [TSR_R_AMIN] = {NUMBERS(OWN, amin), FLOATS(OWN, amin), [TSR_BOOL] = OWN(amin_u8)},
    [TSR_R_ARGMAX] = {NUMBERS(PLACE, argmax), FLOATS(PLACE, argmax), [TSR_BOOL] = PLACE(argmax_u8)},
    [TSR_R_ARGMIN] = {NUMBERS(PLACE, argmin), FLOATS(PLACE, argmin), [TSR_BOOL] = PLACE(argmin_u8)},
    [TSR_R_AMINMAX] = {NUMBERS(ACC, aminmax), FLOATS(ACC, aminmax), [TSR_BOOL] = ACC(aminmax_u8)},
    [TSR_R_ANY] = {TRUTH(1, any)},
    [TSR_R_ALL] = {TRUTH(1, all)},
    [TSR_R_COUNT] = {TRUTH(8, count)},
    [TSR_R_MOMENTS] = {[TSR_FLOAT32] = R_MOMENTS(f32), [TSR_FLOAT64] = R_MOMENTS(f64)},
    [TSR_R_SQUARES] = {[TSR_FLOAT32] = PLAIN(8, squares_f32), [TSR_FLOAT64] = PLAIN(8, squares_f64)},
    [TSR_R_LOGSUMEXP] = {FLOATS(PLACE, lse)},
};

TsrReducerTable SIMD(tsr_reducers)(void) { return reducer_table; }
