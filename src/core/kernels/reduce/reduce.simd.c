/* reduce.simd.c: the reducers for one instruction set. */
#include <math.h>
#include <sleef.h>
#include <string.h>

#include "core/error.h"
#include "core/element/halffloat.h"
#include "reduce.h"
#include "core/kernels/simd.h"

#define PASTE(a, b) a##_##b

typedef float V8f __attribute__((vector_size(32)));
typedef double V4d __attribute__((vector_size(32)));
typedef float V2f __attribute__((vector_size(8)));
typedef double V2d __attribute__((vector_size(16)));

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

/* E: one summand, a scalar or a vector, as PASTE(load, name) reads it. */
#define CASCADE(name, E) \
    static inline void PASTE(add_rows, name)(E sum[4], const char *at, int64_t row, int64_t column, int64_t n) { \
        E a = sum[0], b = sum[1], c = sum[2], d = sum[3]; \
        for (int64_t i = 0; i < n; i++, at += row) { \
            a += PASTE(load, name)(at); \
            b += PASTE(load, name)(at + column); \
            c += PASTE(load, name)(at + 2 * column); \
            d += PASTE(load, name)(at + 3 * column); \
        } \
        sum[0] = a; \
        sum[1] = b; \
        sum[2] = c; \
        sum[3] = d; \
    } \
    static void PASTE(cascade, name)(E out[4], const char *data, int64_t row, int64_t column, int64_t n) { \
        E level[4][4]; \
        memset(level, 0, sizeof level); \
        int power = cascade_power(n); \
        int64_t step = (int64_t)1 << power, i = 0; \
        while (i + step <= n && TSR_LIKELY(tsr_interrupt_flag == 0)) { \
            PASTE(add_rows, name)(level[0], data + i * row, row, column, step); \
            i += step; \
            for (int l = 1; l < 4; l++) { \
                for (int k = 0; k < 4; k++) { \
                    level[l][k] += level[l - 1][k]; \
                    memset(&level[l - 1][k], 0, sizeof(E)); \
                } \
                if ((i & ((step - 1) << (l * power))) != 0) break; \
            } \
        } \
        PASTE(add_rows, name)(level[0], data + i * row, row, column, TSR_MIN(n - i, step)); \
        for (int l = 1; l < 4; l++) \
            for (int k = 0; k < 4; k++) level[0][k] += level[l][k]; \
        memcpy(out, level[0], sizeof level[0]); \
    } \
    /* Fewer rows than a step fill the lowest level only. */ \
    static inline void PASTE(columns, name)(E out[4], const char *data, int64_t row, int64_t column, int64_t n) { \
        memset(out, 0, 4 * sizeof(E)); \
        if (n < CASCADE_STEP) PASTE(add_rows, name)(out, data, row, column, n); \
        else PASTE(cascade, name)(out, data, row, column, n); \
    } \
    static E PASTE(row, name)(const char *data, int64_t stride, int64_t n) { \
        E part[4]; \
        PASTE(columns, name)(part, data, 4 * stride, stride, n / 4); \
        for (int64_t i = n / 4 * 4; i < n; i++) part[0] += PASTE(load, name)(data + i * stride); \
        for (int k = 1; k < 4; k++) part[0] += part[k]; \
        return part[0]; \
    }

/* S: an element in memory; T: what is added up (a pair for complex numbers), V: LANES of them. The cascades are
 * name_one of T, name_vec of V, which takes TAKES elements of a line at once, and BESIDE of V, which takes LANES
 * elements of a row; add_row adds `width` neighbours, a multiple of LANES, to as many sums. */
#define SUM(name, S, T, V, TAKES, BESIDE) \
    static void PASTE(init, name)(void *acc) { memset(acc, 0, sizeof(T)); } \
    static void PASTE(merge, name)(void *acc, const void *later) { \
        T a, b; \
        memcpy(&a, acc, sizeof a); \
        memcpy(&b, later, sizeof b); \
        a += b; \
        memcpy(acc, &a, sizeof a); \
    } \
    static void PASTE(add_to, name)(char *acc, T value) { \
        T a; \
        memcpy(&a, acc, sizeof a); \
        a += value; \
        memcpy(acc, &a, sizeof a); \
    } \
    static void PASTE(line, name)(void *acc, const char *data, int64_t stride, int64_t n, int64_t index, \
                                  int64_t index_step, const void *params) { \
        enum { LANES = sizeof(V) / sizeof(T) }; \
        (void)index; \
        (void)index_step; \
        (void)params; \
        if (stride != (int64_t)sizeof(S) || n < TAKES) { \
            PASTE(add_to, name)(acc, PASTE(row, name##_one)(data, stride, n)); \
            return; \
        } \
        V v = PASTE(row, name##_vec)(data, TAKES * (int64_t)sizeof(S), n / TAKES); \
        T total, lane[LANES]; \
        memset(&total, 0, sizeof total); \
        for (int64_t i = n / TAKES * TAKES; i < n; i++) total += PASTE(load, name##_one)(data + i * stride); \
        memcpy(lane, &v, sizeof v); \
        for (int k = 0; k < LANES; k++) total += lane[k]; \
        PASTE(add_to, name)(acc, total); \
    } \
    /* As columns, for `width` neighbours at once: rows are read from end to end, the partial sums stay in cache. */ \
    static void PASTE(wide, name)(char *acc, const char *data, int64_t stride, int64_t n, int64_t width) { \
        T level[4][WIDE]; \
        int power = cascade_power(n); \
        int64_t step = (int64_t)1 << power, i = 0; \
        for (int l = 0; l < 4; l++) memset(level[l], 0, (size_t)width * sizeof(T)); \
        while (i < n && TSR_LIKELY(tsr_interrupt_flag == 0)) { \
            int64_t end = TSR_MIN(n, i + step); \
            bool whole = i + step <= n; \
            for (; i < end; i++) PASTE(add_row, name)(level[0], data + i * stride, width); \
            for (int l = 1; l < 4 && whole; l++) { \
                for (int64_t c = 0; c < width; c++) level[l][c] += level[l - 1][c]; \
                memset(level[l - 1], 0, (size_t)width * sizeof(T)); \
                if ((i & ((step - 1) << (l * power))) != 0) break; \
            } \
        } \
        for (int l = 1; l < 4; l++) \
            for (int64_t c = 0; c < width; c++) level[0][c] += level[l][c]; \
        for (int64_t c = 0; c < width; c++) PASTE(add_to, name)(acc + c * (int64_t)sizeof(T), level[0][c]); \
    } \
    static void PASTE(rows, name)(void *accs, const char *data, int64_t nout, int64_t next, int64_t n, int64_t stride, \
                                  int64_t chain, int64_t index, int64_t index_step) { \
        (void)index; \
        (void)index_step; \
        enum { LANES = sizeof(V) / sizeof(T), ACC = sizeof(T), ITEM = sizeof(S) }; \
        char *acc = accs; \
        int64_t j = 0; \
        if (next == ITEM && chain >= 8 * LANES && n >= 8) { \
            for (; j + 4 * LANES <= chain;) { \
                int64_t width = TSR_MIN((chain - j) / (4 * LANES) * (4 * LANES), (int64_t)WIDE); \
                PASTE(wide, name)(acc + j * ACC, data + j * ITEM, stride, n, width); \
                j += width; \
            } \
        } \
        for (; next == ITEM && j + 4 * LANES <= chain; j += 4 * LANES) { \
            V part[4]; \
            T lane[4 * LANES]; \
            PASTE(columns, BESIDE)(part, data + j * ITEM, stride, LANES * ITEM, n); \
            memcpy(lane, part, sizeof part); \
            for (int k = 0; k < 4 * LANES; k++) PASTE(add_to, name)(acc + (j + k) * ACC, lane[k]); \
        } \
        for (; j + 4 <= chain; j += 4) { \
            T part[4]; \
            PASTE(columns, name##_one)(part, data + j * next, stride, next, n); \
            for (int k = 0; k < 4; k++) PASTE(add_to, name)(acc + (j + k) * ACC, part[k]); \
        } \
        for (; next == ITEM && j + LANES <= nout; j += LANES) { \
            T lane[LANES]; \
            V v = PASTE(row, BESIDE)(data + j * ITEM, stride, n); \
            memcpy(lane, &v, sizeof v); \
            for (int k = 0; k < LANES; k++) PASTE(add_to, name)(acc + (j + k) * ACC, lane[k]); \
        } \
        for (; j < nout; j++) PASTE(add_to, name)(acc + j * ACC, PASTE(row, name##_one)(data + j * next, stride, n)); \
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
#define PLAIN_SUM(name, T, V, FIX, FIXV) \
    LOAD(name##_one, T, FIX) \
    LOAD(name##_vec, V, FIXV) \
    CASCADE(name##_one, T) \
    CASCADE(name##_vec, V) static inline void PASTE(add_row, name)(T * sum, const char *at, int64_t width) { \
        _Pragma("GCC unroll 8") for (int64_t c = 0; c < width; c += (int64_t)(sizeof(V) / sizeof(T))) { \
            V v; \
            memcpy(&v, sum + c, sizeof v); \
            v += PASTE(load, name##_vec)(at + c * (int64_t)sizeof(T)); \
            memcpy(sum + c, &v, sizeof v); \
        } \
    } \
    SUM(name, T, T, V, (int64_t)(sizeof(V) / sizeof(T)), name##_vec) \
    FINISH_COPY(name, T)
PLAIN_SUM(sum_f32, float, V8f, SAME, SAME)
PLAIN_SUM(sum_f64, double, V4d, SAME, SAME)
PLAIN_SUM(sum_c64, V2f, V8f, SAME, SAME)
PLAIN_SUM(sum_c128, V2d, V4d, SAME, SAME)
PLAIN_SUM(nansum_f32, float, V8f, NO_NAN, no_nan_v8f)
PLAIN_SUM(nansum_f64, double, V4d, NO_NAN, no_nan_v4d)

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

/* Half floats are added up as floats: of a line, the two halves of 16 at once. */
#define HALF_SUM(t, S, WIDEN, ROUND) \
    static inline float PASTE(load, sum_##t##_one)(const char *at) { return WIDEN(*(const S *)at); } \
    static inline V8f PASTE(load, sum_##t##_beside)(const char *at) { return widen_8_##t(at); } \
    static inline V8f PASTE(load, sum_##t##_vec)(const char *at) { return widen_8_##t(at) + widen_8_##t(at + 16); } \
    CASCADE(sum_##t##_one, float) \
    CASCADE(sum_##t##_vec, V8f) \
    CASCADE(sum_##t##_beside, V8f) \
    static inline void PASTE(add_row, sum_##t)(float *sum, const char *at, int64_t width) { \
        for (int64_t c = 0; c < width; c += 8) { \
            V8f v; \
            memcpy(&v, sum + c, sizeof v); \
            v += widen_8_##t(at + 2 * c); \
            memcpy(sum + c, &v, sizeof v); \
        } \
    } \
    SUM(sum_##t, S, float, V8f, 16, sum_##t##_beside) \
    static void PASTE(result, sum_##t)(char *const *out, const void *acc, int64_t count, const void *params) { \
        (void)count; \
        (void)params; \
        *(S *)out[0] = ROUND(*(const float *)acc); \
    } \
    FINISH(sum_##t, float)
HALF_SUM(f16, TsrHalf, tsr_half_widen, tsr_half_round)
HALF_SUM(bf16, TsrBfloat16, tsr_bfloat16_widen, tsr_bfloat16_round)

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

/* --- greatest and least --- */

#define MINMAX_TYPES(M) \
    M(u8, uint8_t, 0, UINT8_MAX) \
    M(i8, int8_t, INT8_MIN, INT8_MAX) \
    M(i16, int16_t, INT16_MIN, INT16_MAX) \
    M(i32, int32_t, INT32_MIN, INT32_MAX) \
    M(i64, int64_t, INT64_MIN, INT64_MAX)
#define INT_MAX_FOLD(t, T, LOW, HIGH) \
    FOLD(amax_##t, T, T, (int)(256 / sizeof(T)), LOW, (a > x ? a : x), (a > x ? a : x))
#define INT_MIN_FOLD(t, T, LOW, HIGH) \
    FOLD(amin_##t, T, T, (int)(256 / sizeof(T)), HIGH, (a < x ? a : x), (a < x ? a : x))
MINMAX_TYPES(INT_MAX_FOLD)
MINMAX_TYPES(INT_MIN_FOLD)

/* Floats: the extreme by plain comparisons, and beside it whether a nan came by. */
#define FLOAT_EXTREME(name, T, I, LANES_, START, BETTER) \
    typedef struct PASTE(acc, name) { \
        T value; \
        I nan; \
    } PASTE(acc, name); \
    static void PASTE(init, name)(void *acc) { *(PASTE(acc, name) *)acc = (PASTE(acc, name)){START, 0}; } \
    static void PASTE(result, name)(char *const *out, const void *acc, int64_t count, const void *params) { \
        const PASTE(acc, name) *a = acc; \
        (void)count; \
        (void)params; \
        *(T *)out[0] = a->nan ? (T)NAN : a->value; \
    } \
    FINISH(name, PASTE(acc, name)) \
    static void PASTE(merge, name)(void *acc, const void *later) { \
        PASTE(acc, name) *a = acc; \
        const PASTE(acc, name) *b = later; \
        if (b->value BETTER a->value) a->value = b->value; \
        a->nan |= b->nan; \
    } \
    static void PASTE(line, name)(void *acc, const char *data, int64_t stride, int64_t n, int64_t index, \
                                  int64_t index_step, const void *params) { \
        enum { LANES = LANES_ }; \
        PASTE(acc, name) *a = acc; \
        T best[LANES], value = a->value; \
        I bad[LANES], nan = a->nan; \
        int64_t i = 0; \
        (void)index; \
        (void)index_step; \
        (void)params; \
        if (stride == (int64_t)sizeof(T) && n >= LANES) { \
            const T *p = (const T *)data; \
            for (int k = 0; k < LANES; k++) { \
                best[k] = START; \
                bad[k] = 0; \
            } \
            for (; i < n; i += LANES) { /* some of the last ones twice */ \
                const T *at = p + TSR_MIN(i, n - LANES); \
                for (int k = 0; k < LANES; k++) { \
                    const T x = at[k]; \
                    best[k] = best[k] BETTER x ? best[k] : x; \
                    bad[k] |= x != x ? -1 : 0; \
                } \
            } \
            for (int width = LANES / 2; width > 0; width /= 2) \
                for (int k = 0; k < width; k++) { \
                    best[k] = best[k + width] BETTER best[k] ? best[k + width] : best[k]; \
                    bad[k] |= bad[k + width]; \
                } \
            value = best[0] BETTER value ? best[0] : value; \
            nan |= bad[0]; \
        } \
        for (; i < n; i++) { \
            const T x = *(const T *)(data + i * stride); \
            value = x BETTER value ? x : value; \
            nan |= x != x; \
        } \
        a->value = value; \
        a->nan = nan; \
    } \
    static void PASTE(rows, name)(void *accs, const char *data, int64_t nout, int64_t next, int64_t n, int64_t stride, \
                                  int64_t chain, int64_t index, int64_t index_step) { \
        (void)index; \
        (void)index_step; \
        PASTE(acc, name) *a = accs; \
        T best[WIDE]; \
        I bad[WIDE]; \
        (void)chain; \
        for (int64_t first = 0; first < nout; first += WIDE, a += WIDE) { \
            int64_t width = TSR_MIN(nout - first, (int64_t)WIDE); \
            const char *from = data + first * next; \
            for (int64_t j = 0; j < width; j++) { \
                best[j] = a[j].value; \
                bad[j] = a[j].nan; \
            } \
            for (int64_t i = 0; i < n; i++, from += stride) { \
                if (next == (int64_t)sizeof(T)) \
                    for (int64_t j = 0; j < width; j++) { \
                        const T x = ((const T *)from)[j]; \
                        best[j] = best[j] BETTER x ? best[j] : x; \
                        bad[j] |= x != x ? -1 : 0; \
                    } \
                else \
                    for (int64_t j = 0; j < width; j++) { \
                        const T x = *(const T *)(from + j * next); \
                        best[j] = best[j] BETTER x ? best[j] : x; \
                        bad[j] |= x != x ? -1 : 0; \
                    } \
            } \
            for (int64_t j = 0; j < width; j++) { \
                a[j].value = best[j]; \
                a[j].nan = bad[j]; \
            } \
        } \
    }
FLOAT_EXTREME(amax_f32, float, int32_t, 64, -INFINITY, >)
FLOAT_EXTREME(amin_f32, float, int32_t, 64, INFINITY, <)
FLOAT_EXTREME(amax_f64, double, int64_t, 32, -INFINITY, >)
FLOAT_EXTREME(amin_f64, double, int64_t, 32, INFINITY, <)

/* --- extremes with their place --- */

/* A block's extreme is found by EXTREME's line; only when it beats the best so far is the block searched for its place.
 */
#define ARG(name, T, EXTREME, A, GET, IS_NAN, BETTER) \
    typedef struct PASTE(acc, name) { \
        T value; \
        int64_t index; \
    } PASTE(acc, name); \
    static void PASTE(init, name)(void *acc) { *(PASTE(acc, name) *)acc = (PASTE(acc, name)){0, -1}; } \
    static void PASTE(offer, name)(PASTE(acc, name) * a, T x, int64_t index) { \
        bool held = IS_NAN(a->value); \
        if (a->index < 0 || (!held && (IS_NAN(x) || x BETTER a->value))) *a = (PASTE(acc, name)){x, index}; \
        else if (index < a->index && (x == a->value || (held && IS_NAN(x)))) a->index = index; \
    } \
    static void PASTE(merge, name)(void *acc, const void *later) { \
        const PASTE(acc, name) *b = later; \
        if (b->index >= 0) PASTE(offer, name)(acc, b->value, b->index); \
    } \
    static void PASTE(result, name)(char *const *out, const void *acc, int64_t count, const void *params) { \
        const PASTE(acc, name) *a = acc; \
        (void)count; \
        (void)params; \
        if (out[0] != NULL) *(T *)out[0] = a->value; \
        if (out[1] != NULL) *(int64_t *)out[1] = a->index; \
    } \
    FINISH(name, PASTE(acc, name)) \
    static void PASTE(line, name)(void *acc, const char *data, int64_t stride, int64_t n, int64_t index, \
                                  int64_t index_step, const void *params) { \
        PASTE(acc, name) *a = acc; \
        int64_t i = 0; \
        while (stride == (int64_t)sizeof(T) && index_step == 1 && n - i >= (int64_t)(256 / sizeof(T))) { \
            int64_t m = TSR_MIN(n - i, (int64_t)4096); \
            A block; \
            PASTE(init, EXTREME)(&block); \
            PASTE(line, EXTREME)(&block, data + i * stride, stride, m, 0, 1, params); \
            const T x = GET(block); \
            if (a->index < 0 || (!IS_NAN(a->value) && (IS_NAN(x) || x BETTER a->value))) { \
                const T *p = (const T *)data + i; \
                int64_t k = 0; \
                for (; k + 64 <= m; k += 64) { /* whole stretches first */ \
                    int hit = 0; \
                    for (int c = 0; c < 64; c++) hit |= (p[k + c] == x) | IS_NAN(p[k + c]); \
                    if (hit) break; \
                } \
                if (IS_NAN(x)) \
                    while (p[k] == p[k]) k++; \
                else \
                    while (p[k] != x) k++; \
                PASTE(offer, name)(a, p[k], index + i + k); \
            } \
            i += m; \
        } \
        for (; i < n; i++) PASTE(offer, name)(a, *(const T *)(data + i * stride), index + i * index_step); \
    } \
    /* Side by side: where a nan holds, nothing beats it. */ \
    static void PASTE(rows, name)(void *accs, const char *data, int64_t nout, int64_t next, int64_t n, int64_t stride, \
                                  int64_t chain, int64_t index, int64_t index_step) { \
        typedef __typeof__(_Generic((T)0, double : (int64_t)0, int64_t : (int64_t)0, default : (int32_t)0)) I; \
        PASTE(acc, name) *a = accs; \
        (void)chain; \
        for (int64_t first = 0; first < nout; first += WIDE, a += WIDE) { \
            T best[WIDE], row[WIDE]; \
            I place[WIDE]; \
            int64_t width = TSR_MIN(nout - first, (int64_t)WIDE); \
            const char *from = data + first * next; \
            for (int64_t j = 0; j < width; j++) { \
                best[j] = *(const T *)(from + j * next); \
                place[j] = 0; \
            } \
            for (int64_t i = 1; i < n; i++) { \
                const T *x = (const T *)(from + i * stride); \
                if (next != (int64_t)sizeof(T)) { \
                    for (int64_t j = 0; j < width; j++) row[j] = *(const T *)(from + i * stride + j * next); \
                    x = row; \
                } \
                for (int64_t j = 0; j < width; j++) { \
                    int take = ((x[j] BETTER best[j]) | IS_NAN(x[j])) & !IS_NAN(best[j]); \
                    best[j] = take ? x[j] : best[j]; \
                    place[j] = take ? (I)i : place[j]; \
                } \
            } \
            for (int64_t j = 0; j < width; j++) PASTE(offer, name)(&a[j], best[j], index + place[j] * index_step); \
        } \
    }
#define FLOAT_VALUE(acc) ((acc).nan ? NAN : (acc).value)
#define FLOAT_NAN(x) ((x) != (x))
#define INT_VALUE(acc) (acc)
#define NEVER(x) (false)
#define ARGMAX_INT(t, T, LOW, HIGH) ARG(argmax_##t, T, amax_##t, T, INT_VALUE, NEVER, >)
#define ARGMIN_INT(t, T, LOW, HIGH) ARG(argmin_##t, T, amin_##t, T, INT_VALUE, NEVER, <)
MINMAX_TYPES(ARGMAX_INT)
MINMAX_TYPES(ARGMIN_INT)
ARG(argmax_f32, float, amax_f32, PASTE(acc, amax_f32), (float)FLOAT_VALUE, FLOAT_NAN, >)
ARG(argmin_f32, float, amin_f32, PASTE(acc, amin_f32), (float)FLOAT_VALUE, FLOAT_NAN, <)
ARG(argmax_f64, double, amax_f64, PASTE(acc, amax_f64), FLOAT_VALUE, FLOAT_NAN, >)
ARG(argmin_f64, double, amin_f64, PASTE(acc, amin_f64), FLOAT_VALUE, FLOAT_NAN, <)

#define AMINMAX(t, T, LOW, HIGH) \
    typedef struct PASTE(acc, aminmax_##t) { \
        PASTE(side, amin_##t) low; \
        PASTE(side, amax_##t) high; \
    } PASTE(acc, aminmax_##t); \
    static void PASTE(init, aminmax_##t)(void *acc) { \
        PASTE(acc, aminmax_##t) *a = acc; \
        PASTE(init, amin_##t)(&a->low); \
        PASTE(init, amax_##t)(&a->high); \
    } \
    static void PASTE(merge, aminmax_##t)(void *acc, const void *later) { \
        PASTE(acc, aminmax_##t) *a = acc; \
        const PASTE(acc, aminmax_##t) *b = later; \
        PASTE(merge, amin_##t)(&a->low, &b->low); \
        PASTE(merge, amax_##t)(&a->high, &b->high); \
    } \
    static void PASTE(result, aminmax_##t)(char *const *out, const void *acc, int64_t count, const void *params) { \
        const PASTE(acc, aminmax_##t) *a = acc; \
        PASTE(finish, amin_##t)((char *[]){out[0], NULL}, (int64_t[]){0, 0}, &a->low, 1, count, params); \
        PASTE(finish, amax_##t)((char *[]){out[1], NULL}, (int64_t[]){0, 0}, &a->high, 1, count, params); \
    } \
    FINISH(aminmax_##t, PASTE(acc, aminmax_##t)) \
    static void PASTE(line, aminmax_##t)(void *acc, const char *data, int64_t stride, int64_t n, int64_t index, \
                                         int64_t index_step, const void *params) { \
        PASTE(acc, aminmax_##t) *a = acc; \
        PASTE(line, amin_##t)(&a->low, data, stride, n, index, index_step, params); \
        PASTE(line, amax_##t)(&a->high, data, stride, n, index, index_step, params); \
    }
#define SIDES(t, T, LOW, HIGH) \
    typedef T PASTE(side, amin_##t); \
    typedef T PASTE(side, amax_##t);
MINMAX_TYPES(SIDES)
typedef PASTE(acc, amin_f32) PASTE(side, amin_f32);
typedef PASTE(acc, amax_f32) PASTE(side, amax_f32);
typedef PASTE(acc, amin_f64) PASTE(side, amin_f64);
typedef PASTE(acc, amax_f64) PASTE(side, amax_f64);
MINMAX_TYPES(AMINMAX)
AMINMAX(f32, float, 0, 0)
AMINMAX(f64, double, 0, 0)

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
#define MOMENTS(t, T) \
    static void PASTE(stepwise, moments_##t)(Moments * b, const T *p, int64_t n) { \
        *b = (Moments){0}; \
        for (int64_t i = 0; i < n; i++) { \
            double delta = (double)p[i] - b->mean; \
            b->mean += delta / ++b->count; \
            b->m2 += delta * ((double)p[i] - b->mean); \
        } \
    } \
    static void PASTE(block, moments_##t)(Moments * b, const T *p, int64_t n) { \
        double column[16] = {0}, sum = 0, m2 = 0; \
        int64_t i = 0; \
        for (; i + 16 <= n; i += 16) \
            for (int k = 0; k < 16; k++) column[k] += (double)p[i + k]; \
        for (int k = 0; k < 16; k++) sum += column[k]; \
        for (; i < n; i++) sum += (double)p[i]; \
        double mean = sum / (double)n; \
        memset(column, 0, sizeof column); \
        for (i = 0; i + 16 <= n; i += 16) \
            for (int k = 0; k < 16; k++) { \
                double d = (double)p[i + k] - mean; \
                column[k] += d * d; \
            } \
        for (int k = 0; k < 16; k++) m2 += column[k]; \
        for (; i < n; i++) { \
            double d = (double)p[i] - mean; \
            m2 += d * d; \
        } \
        *b = (Moments){mean, m2, (double)n}; \
        if (m2 - m2 != 0) PASTE(stepwise, moments_##t)(b, p, n); \
    } \
    static void PASTE(line, moments_##t)(void *acc, const char *data, int64_t stride, int64_t n, int64_t index, \
                                         int64_t index_step, const void *params) { \
        T copy[2048]; \
        (void)index; \
        (void)index_step; \
        (void)params; \
        for (int64_t i = 0; i < n; i += 2048) { \
            int64_t m = TSR_MIN(n - i, (int64_t)2048); \
            const T *p = (const T *)(data + i * stride); \
            if (stride != (int64_t)sizeof(T)) { \
                for (int64_t k = 0; k < m; k++) copy[k] = *(const T *)(data + (i + k) * stride); \
                p = copy; \
            } \
            Moments b; \
            PASTE(block, moments_##t)(&b, p, m); \
            merge_moments(acc, &b); \
        } \
    } \
    static void PASTE(result, moments_##t)(char *const *out, const void *acc, int64_t count, const void *params) { \
        const Moments *a = acc; \
        const TsrReduceParams *p = params; \
        (void)count; \
        double divisor = a->count - p->correction, var = a->m2 / (divisor > 0 ? divisor : 0); \
        if (a->count == 0) var = NAN; \
        if (out[0] != NULL) *(T *)out[0] = (T)(p->root ? sqrt(var) : var); \
        if (out[1] != NULL) *(T *)out[1] = a->count == 0 ? (T)NAN : (T)a->mean; \
    } \
    FINISH(moments_##t, Moments)
MOMENTS(f32, float)
MOMENTS(f64, double)

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

/* V: 32 bytes of A, loaded from as many S by LOADV; ROUND1 and ROUNDV give the value nearest to an A or a V that an S
 * can be. */
#define PROD(name, S, A, V, WIDEN, NARROW, LOADV, ROUND1, ROUNDV) \
    static void PASTE(init, name)(void *acc) { *(A *)acc = 1; } \
    static void PASTE(merge, name)(void *acc, const void *later) { \
        *(A *)acc = ROUND1(*(A *)acc * *(const A *)later); \
    } \
    static void PASTE(line, name)(void *acc, const char *data, int64_t stride, int64_t n, int64_t index, \
                                  int64_t index_step, const void *params) { \
        enum { LANES = 32 / sizeof(S), EACH = 32 / sizeof(A), PARTS = LANES / EACH, TAKES = 4 * LANES }; \
        A total = *(A *)acc; \
        int64_t i = 0; \
        (void)index; \
        (void)index_step; \
        (void)params; \
        if (stride == (int64_t)sizeof(S) && n >= TAKES) { \
            V part[4 * PARTS]; \
            A lane[LANES]; \
            for (int k = 0; k < 4 * PARTS; k++) part[k] = LOADV(data + k * EACH * (int64_t)sizeof(S)); \
            for (i = TAKES; i + TAKES <= n; i += TAKES) \
                for (int k = 0; k < 4 * PARTS; k++) \
                    part[k] = ROUNDV(part[k] * LOADV(data + (i + k * EACH) * (int64_t)sizeof(S))); \
            for (int k = 0; k < PARTS; k++) { \
                V low = ROUNDV(part[k] * part[k + PARTS]), high = ROUNDV(part[k + 2 * PARTS] * part[k + 3 * PARTS]); \
                low = ROUNDV(low * high); \
                memcpy(lane + k * EACH, &low, sizeof low); \
            } \
            for (int k = 1; k < LANES; k++) lane[0] = ROUND1(lane[0] * lane[k]); \
            total = ROUND1(total * lane[0]); \
        } \
        for (; i < n; i++) total = ROUND1(total * WIDEN(*(const S *)(data + i * stride))); \
        *(A *)acc = total; \
    } \
    static void PASTE(rows, name)(void *accs, const char *data, int64_t nout, int64_t next, int64_t n, int64_t stride, \
                                  int64_t chain, int64_t index, int64_t index_step) { \
        enum { EACH = 32 / sizeof(A) }; \
        A *acc = accs; \
        (void)chain; \
        (void)index; \
        (void)index_step; \
        for (int64_t i = 0; i < n; i++, data += stride) { \
            int64_t j = 0; \
            for (; next == (int64_t)sizeof(S) && j + EACH <= nout; j += EACH) { \
                V v; \
                memcpy(&v, acc + j, sizeof v); \
                v = ROUNDV(v * LOADV(data + j * (int64_t)sizeof(S))); \
                memcpy(acc + j, &v, sizeof v); \
            } \
            for (; j < nout; j++) acc[j] = ROUND1(acc[j] * WIDEN(*(const S *)(data + j * next))); \
        } \
    } \
    static void PASTE(result, name)(char *const *out, const void *acc, int64_t count, const void *params) { \
        (void)count; \
        (void)params; \
        *(S *)out[0] = NARROW(*(const A *)acc); \
    } \
    FINISH(name, A)
PROD(prod_f32, float, float, V8f, SAME, SAME, load_sum_f32_vec, SAME, SAME)
PROD(prod_f64, double, double, V4d, SAME, SAME, load_sum_f64_vec, SAME, SAME)
PROD(prod_f16, TsrHalf, float, V8f, tsr_half_widen, tsr_half_round, widen_8_f16, round_1_f16, round_8_f16)
PROD(prod_bf16, TsrBfloat16, float, V8f, tsr_bfloat16_widen, tsr_bfloat16_round, widen_8_bf16, round_1_bf16,
     round_8_bf16)

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
#if defined(TSR_SIMD_AVX512)
EXPONENTIALS(f32, float, __m512, Sleef_expf16_u10)
EXPONENTIALS(f64, double, __m512d, Sleef_expd8_u10)
#elif defined(TSR_SIMD_AVX2)
EXPONENTIALS(f32, float, __m256, Sleef_expf8_u10)
EXPONENTIALS(f64, double, __m256d, Sleef_expd4_u10)
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
#define LOGSUMEXP(t, T, SUM_EXP, EXP1) \
    typedef struct PASTE(acc, lse_##t) { \
        T high; \
        double sum; \
    } PASTE(acc, lse_##t); \
    static void PASTE(init, lse_##t)(void *acc) { \
        *(PASTE(acc, lse_##t) *)acc = (PASTE(acc, lse_##t)){-(T)INFINITY, 0}; \
    } \
    static void PASTE(add, lse_##t)(PASTE(acc, lse_##t) * a, T high, double sum) { \
        if (high != high || a->high != a->high) { \
            a->high = (T)NAN; \
            a->sum = NAN; \
            return; \
        } \
        if (high > a->high) { \
            a->sum = (a->high == -(T)INFINITY ? 0 : a->sum * (double)EXP1(a->high - high)) + sum; \
            a->high = high; \
        } else a->sum += high == -(T)INFINITY ? 0 : sum * (double)EXP1(high - a->high); \
    } \
    static void PASTE(merge, lse_##t)(void *acc, const void *later) { \
        const PASTE(acc, lse_##t) *b = later; \
        PASTE(add, lse_##t)(acc, b->high, b->sum); \
    } \
    static void PASTE(result, lse_##t)(char *const *out, const void *acc, int64_t count, const void *params) { \
        const PASTE(acc, lse_##t) *a = acc; \
        (void)count; \
        (void)params; \
        *(T *)out[0] = isinf(a->high) ? a->high : (T)(a->high + (T)log(a->sum)); \
    } \
    FINISH(lse_##t, PASTE(acc, lse_##t)) \
    static void PASTE(line, lse_##t)(void *acc, const char *data, int64_t stride, int64_t n, int64_t index, \
                                     int64_t index_step, const void *params) { \
        enum { SIZE = 2048 }; \
        _Alignas(64) T block[SIZE]; \
        for (int64_t i = 0; i < n; i += SIZE) { \
            int64_t m = TSR_MIN(n - i, (int64_t)SIZE); \
            const T *x = (const T *)(data + i * stride); \
            if (stride != (int64_t)sizeof(T)) { \
                for (int64_t k = 0; k < m; k++) block[k] = *(const T *)(data + (i + k) * stride); \
                x = block; \
            } \
            PASTE(acc, amax_##t) best; \
            PASTE(init, amax_##t)(&best); \
            PASTE(line, amax_##t)(&best, (const char *)x, sizeof(T), m, index, index_step, params); \
            T high = (T)FLOAT_VALUE(best); \
            PASTE(add, lse_##t)(acc, high, (double)SUM_EXP(x, m, isinf(high) ? 0 : high)); \
        } \
    } \
    static void PASTE(rows, lse_##t)(void *accs, const char *data, int64_t nout, int64_t next, int64_t n, \
                                     int64_t stride, int64_t chain, int64_t index, int64_t index_step) { \
        PASTE(acc, lse_##t) *a = accs; \
        for (int64_t j = 0; j < nout && next != (int64_t)sizeof(T); j++) \
            PASTE(line, lse_##t)(a + j, data + j * next, stride, n, index, index_step, NULL); \
        for (int64_t first = 0; first < nout && next == (int64_t)sizeof(T); first += WIDE, a += WIDE) { \
            int64_t width = TSR_MIN(nout - first, (int64_t)WIDE); \
            const char *from = data + first * next; \
            PASTE(acc, amax_##t) best[WIDE]; \
            T high[WIDE], base[WIDE] = {0}, sum[WIDE] = {0}; \
            for (int64_t j = 0; j < width; j++) PASTE(init, amax_##t)(&best[j]); \
            PASTE(rows, amax_##t)(best, from, width, next, n, stride, chain, index, index_step); \
            for (int64_t j = 0; j < width; j++) { \
                high[j] = (T)FLOAT_VALUE(best[j]); \
                base[j] = isinf(high[j]) ? 0 : high[j]; \
            } \
            for (int64_t i = 0; i < n; i++) exponential_row_##t(sum, (const T *)(from + i * stride), base, width); \
            for (int64_t j = 0; j < width; j++) PASTE(add, lse_##t)(&a[j], high[j], (double)sum[j]); \
        } \
    }
LOGSUMEXP(f32, float, exponentials_f32, expf)
LOGSUMEXP(f64, double, exponentials_f64, exp)

/* --- the table --- */

#define ROW(A, name, rows_) \
    { A, PASTE(init, name), PASTE(line, name), rows_, PASTE(merge, name), PASTE(finish, name) }
#define WITH_ROWS(A, name) ROW(A, name, PASTE(rows, name))
#define PLAIN(A, name) ROW(A, name, NULL)
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
    { sizeof(Moments), init_moments, PASTE(line, moments_##t), NULL, merge_moments, PASTE(finish, moments_##t) }

static const TsrReducer reducer_table[TSR_R_COUNT_KINDS][TSR_DTYPE_COUNT] = {
    [TSR_R_SUM] =
        {NUMBERS(SUM8, sum), [TSR_UINT16] = SUM8(sum_u16), [TSR_UINT32] = SUM8(sum_u32), [TSR_UINT64] = SUM8(sum_u64),
         [TSR_BOOL] = SUM8(sum_b8), [TSR_FLOAT32] = WITH_ROWS(4, sum_f32), [TSR_FLOAT64] = WITH_ROWS(8, sum_f64),
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
