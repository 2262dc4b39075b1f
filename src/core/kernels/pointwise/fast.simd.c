/* fast.simd.c: the kernels of fast.def for one instruction set. */
#include <float.h>
#include <math.h>
#include <string.h>

#include "core/element/halffloat.h"
#include "table.h"
#include "core/kernels/simd.h"
#include "core/kernels/sleef.h"
#include "core/kernels/types.h"

/* Whether any element of a comparison's result is set. */
#if defined(TSR_SIMD_AVX512)
#define HOLDS(mask) (_mm512_test_epi32_mask((__m512i)(mask), (__m512i)(mask)) != 0)
#elif defined(TSR_SIMD_AVX2)
#define HOLDS(mask) (_mm256_movemask_epi8((__m256i)(mask)) != 0)
#elif defined(TSR_HAVE_X86)
#define HOLDS(mask) (_mm_movemask_epi8((__m128i)(mask)) != 0)
#else
#define HOLDS(mask) (mask)
#endif

#include "core/kernels/exponential.inc"
#include "core/kernels/elementary.inc"
#include "core/kernels/by_doubles.inc"
#include "core/kernels/erf_doubles.inc"
#include "core/kernels/modulo.inc"
#include "composed.inc"

/* The next float in the direction of y: its bits are those of x and one more or less. */
#define NEXT(suffix, T, BITS, L) \
    static inline T next_##suffix(T x, T y) { \
        union { \
            T value; \
            BITS bits; \
        } from = {x}, least = {.bits = 1}; \
        from.bits += (x < y) == (x > 0) ? 1 : (BITS)-1; \
        T next = x == 0 ? __builtin_copysign##L(least.value, y) : from.value; \
        next = x == y ? y : next; \
        return x != x || y != y ? x + y : next; \
    }
NEXT(float, float, uint32_t, f)
NEXT(double, double, uint64_t, )

/* yes where the comparison holds, else no. */
#if defined(TSR_HAVE_X86)
#define PICK(comparison, yes, no) \
    __extension__({ \
        const __typeof__(comparison) mask = (comparison); \
        const __typeof__(x) chosen = (yes), other = (no); \
        (__typeof__(x))((mask & (__typeof__(mask))chosen) | (~mask & (__typeof__(mask))other)); \
    })
#else
#define PICK(comparison, yes, no) ((comparison) ? (yes) : (no))
#endif

/* SLEEF's log1p is inf for the largest numbers that are none; where 1 does not count any more, log has the same digits.
 */
static inline VF log1p_floats(VF x) {
    VF y = VF_CALL(log1p, u10)(x);
    return TSR_UNLIKELY(HOLDS(x > 1e37f)) ? PICK(x > 1e37f, VF_CALL(log, u10)(x), y) : y;
}
static inline VD log1p_doubles(VD x) {
    VD y = VD_CALL(log1p, u10)(x);
    return TSR_UNLIKELY(HOLDS(x > 1e306)) ? PICK(x > 1e306, VD_CALL(log, u10)(x), y) : y;
}

/* Whole vectors, then the rest through a padded one, so that an element's value never depends on its place. */
#define VLOOP1(name, T_, V, ...) \
    static void name(char *const *data, const int64_t *s, int64_t n, const void *p) { \
        typedef T_ T; \
        enum { LANES = sizeof(V) / sizeof(T) }; \
        if (TSR_UNLIKELY(s[0] != (int64_t)sizeof(T) || s[1] != (int64_t)sizeof(T))) { \
            tsr_kernel_strided(name, data, s, n, p, 2, (const uint8_t[]){sizeof(T), sizeof(T)}); \
            return; \
        } \
        char *o = data[0]; \
        const char *a = data[1]; \
        for (; n >= LANES; n -= LANES, o += sizeof(V), a += sizeof(V)) { \
            V x; \
            memcpy(&x, a, sizeof x); \
            x = (__VA_ARGS__); \
            memcpy(o, &x, sizeof x); \
        } \
        if (n > 0) { \
            V x = {0}; \
            memcpy(&x, a, (size_t)n * sizeof(T)); \
            x = (__VA_ARGS__); \
            memcpy(o, &x, (size_t)n * sizeof(T)); \
        } \
    }

#define VLOOP2(name, T_, V, ...) \
    static void name(char *const *data, const int64_t *s, int64_t n, const void *p) { \
        typedef T_ T; \
        enum { LANES = sizeof(V) / sizeof(T) }; \
        if (TSR_UNLIKELY(s[0] != (int64_t)sizeof(T) || s[1] != (int64_t)sizeof(T) || s[2] != (int64_t)sizeof(T))) { \
            tsr_kernel_strided(name, data, s, n, p, 3, (const uint8_t[]){sizeof(T), sizeof(T), sizeof(T)}); \
            return; \
        } \
        char *o = data[0]; \
        const char *a = data[1], *b = data[2]; \
        for (; n >= LANES; n -= LANES, o += sizeof(V), a += sizeof(V), b += sizeof(V)) { \
            V x, y; \
            memcpy(&x, a, sizeof x); \
            memcpy(&y, b, sizeof y); \
            x = (__VA_ARGS__); \
            memcpy(o, &x, sizeof x); \
        } \
        if (n > 0) { \
            V x = {0}, y = {0}; \
            memcpy(&x, a, (size_t)n * sizeof(T)); \
            memcpy(&y, b, (size_t)n * sizeof(T)); \
            x = (__VA_ARGS__); \
            memcpy(o, &x, (size_t)n * sizeof(T)); \
        } \
    }

#define K1(name, types, R, ...) types(DEFINE1, name, R, __VA_ARGS__)
#define K2(name, types, R, ...) types(DEFINE2, name, R, __VA_ARGS__)
#define K2B(name, types, R, ...) types(DEFINE2B, name, R, __VA_ARGS__)
#define K3(name, types, R, ...) types(DEFINE3, name, R, __VA_ARGS__)
#define MORE(kind, ...) kind(__VA_ARGS__)
#define C1(...)
#define C1S(...)
#define C2(...)
#define V1(...)
#define V1SD(...)
#define V1D(...)
#define V2(...)
#define MASKED(name, op) TY_FLOAT(DEFINE_MASKED, name, op)
#include "fast.def"
#undef K1
#undef K2
#undef K2B
#undef K3
#undef C1
#undef C1S
#undef C2
#undef V1
#undef V1D
#undef V1SD
#undef V2
#undef MORE
#undef MASKED

#define NOTHING(...)
#define CALL1(fn, acc) VCALL(fn, acc)(x)
#define CALL2(fn, acc) VCALL(fn, acc)(x, y)
#define K1 NOTHING
#define K2 NOTHING
#define K2B NOTHING
#define K3 NOTHING
#define MORE NOTHING
#define MASKED NOTHING
#define VCALL VF_CALL
#define EXP sleef_exp_floats
#define C1(name, ...) COMPOSED1(FN(name, FLOAT32), float, VF, __VA_ARGS__)
#define C1S C1
#define C2(name, ...) COMPOSED2(FN(name, FLOAT32), float, VF, __VA_ARGS__)
#define V1D NOTHING
#define V1SD(name, single, twice) VLOOP1(FN(name, FLOAT32), float, VF, single)
#define V1(name, ...) VLOOP1(FN(name, FLOAT32), float, VF, __VA_ARGS__)
#define V2(name, ...) VLOOP2(FN(name, FLOAT32), float, VF, __VA_ARGS__)
#include "fast.def"
#undef VCALL
#undef C1
#undef C1S
#undef C2
#undef V1
#undef V1D
#undef V1SD
#undef V2
#undef EXP
#define VCALL VD_CALL
#define EXP sleef_exp_doubles
#define C1(name, ...) COMPOSED1(FN(name, FLOAT64), double, VD, __VA_ARGS__)
#define C1S NOTHING
#define C2(name, ...) COMPOSED2(FN(name, FLOAT64), double, VD, __VA_ARGS__)
#define V1SD(name, single, twice) VLOOP1(FN(name, FLOAT64), double, VD, twice)
#define V1D(name, ...) VLOOP1(FN(name, FLOAT64), double, VD, __VA_ARGS__)
#define V1(name, ...) VLOOP1(FN(name, FLOAT64), double, VD, __VA_ARGS__)
#define V2(name, ...) VLOOP2(FN(name, FLOAT64), double, VD, __VA_ARGS__)
#include "fast.def"
#undef K1
#undef K2
#undef K2B
#undef K3
#undef C1
#undef C1S
#undef C2
#undef V1
#undef V1D
#undef V1SD
#undef V2
#undef MORE
#undef MASKED

/* Half floats without a detour through buffers: LOOP computes EXPR of x and y. */
#define HALF(name, ID, T, LOOP, EXPR) \
    static void SIMD(name##_##ID)(char *const *data, const int64_t *s, int64_t n, const void *p) { \
        if (TSR_UNLIKELY(s[0] != 2 || s[1] != 2 || s[2] != 2)) { \
            tsr_kernel_strided(SIMD(name##_##ID), data, s, n, p, 3, (const uint8_t[]){2, 2, 2}); \
            return; \
        } \
        T *o = (T *)data[0]; \
        const T *a = (const T *)data[1], *b = (const T *)data[2]; \
        (void)p; \
        LOOP(EXPR) \
    }
#define BF16_LOOP(EXPR) \
    VECTOR for (int64_t i = 0; i < n; i++) { \
        const float x = tsr_bfloat16_widen(a[i]), y = tsr_bfloat16_widen(b[i]); \
        o[i] = tsr_bfloat16_round(EXPR); \
    }
#define BF16_ROUNDED(v) tsr_bfloat16_widen(tsr_bfloat16_round(v))
#if defined(TSR_SIMD_AVX512)
#define WIDEN(p) _mm512_cvtph_ps(_mm256_loadu_si256((const __m256i *)(const void *)(p)))
#define ROUND(p, v) _mm256_storeu_si256((__m256i *)(void *)(p), _mm512_cvtps_ph(v, _MM_FROUND_TO_NEAREST_INT))
#define F16_ROUNDED(v) _mm512_cvtph_ps(_mm512_cvtps_ph(v, _MM_FROUND_TO_NEAREST_INT))
#elif defined(TSR_SIMD_AVX2)
#define WIDEN(p) _mm256_cvtph_ps(_mm_loadu_si128((const __m128i *)(const void *)(p)))
#define ROUND(p, v) _mm_storeu_si128((__m128i *)(void *)(p), _mm256_cvtps_ph(v, _MM_FROUND_TO_NEAREST_INT))
#define F16_ROUNDED(v) _mm256_cvtph_ps(_mm256_cvtps_ph(v, _MM_FROUND_TO_NEAREST_INT))
#else
#define F16_ROUNDED(v) tsr_half_widen(tsr_half_round(v))
#endif
#ifdef WIDEN
#define F16_LOOP(EXPR) \
    enum { LANES = sizeof(VF) / sizeof(float) }; \
    int64_t i = 0; \
    for (; i + LANES <= n; i += LANES) { \
        const VF x = WIDEN(a + i), y = WIDEN(b + i); \
        ROUND(o + i, EXPR); \
    } \
    TsrHalf last[3][LANES] = {0}; \
    memcpy(last[0], a + i, (size_t)(n - i) * 2); \
    memcpy(last[1], b + i, (size_t)(n - i) * 2); \
    const VF x = WIDEN(last[0]), y = WIDEN(last[1]); \
    ROUND(last[2], EXPR); \
    memcpy(o + i, last[2], (size_t)(n - i) * 2);
#else
#define F16_LOOP(EXPR) \
    for (int64_t i = 0; i < n; i++) { \
        const float x = tsr_half_widen(a[i]), y = tsr_half_widen(b[i]); \
        o[i] = tsr_half_round(EXPR); \
    }
#endif
HALF(add, BFLOAT16, TsrBfloat16, BF16_LOOP, x + y)
HALF(sub, BFLOAT16, TsrBfloat16, BF16_LOOP, x - y)
HALF(mul, BFLOAT16, TsrBfloat16, BF16_LOOP, x *y)
HALF(div, BFLOAT16, TsrBfloat16, BF16_LOOP, x / y)
HALF(add, FLOAT16, TsrHalf, F16_LOOP, x + y)
HALF(sub, FLOAT16, TsrHalf, F16_LOOP, x - y)
HALF(mul, FLOAT16, TsrHalf, F16_LOOP, x *y)
HALF(div, FLOAT16, TsrHalf, F16_LOOP, x / y)
/* x + y * factor: PyTorch rounds the product before the sum only where its vectors do not reach, behind the last 32. */
#define FACTOR ((const TsrHalfFactor *)p)->factor
#define HALF_AXPY(ID, T, LOOP, ROUNDED) \
    HALF(axpy_at_once, ID, T, LOOP, x + y * FACTOR) \
    HALF(axpy_in_steps, ID, T, LOOP, x + ROUNDED(y * FACTOR)) \
    static void SIMD(axpy_##ID)(char *const *data, const int64_t *s, int64_t n, const void *p) { \
        enum { LANES_AT_ONCE = 32 }; \
        bool dense = s[0] == 2 && (s[1] == 2 || s[1] == 0) && (s[2] == 2 || (s[2] == 0 && s[1] == 2)); \
        int64_t whole = dense && ((const TsrHalfFactor *)p)->by_vectors ? n / LANES_AT_ONCE * LANES_AT_ONCE : 0; \
        SIMD(axpy_at_once_##ID)(data, s, whole, p); \
        SIMD(axpy_in_steps_##ID) \
        ((char *[]){data[0] + whole * s[0], data[1] + whole * s[1], data[2] + whole * s[2]}, s, n - whole, p); \
    }
HALF_AXPY(BFLOAT16, TsrBfloat16, BF16_LOOP, BF16_ROUNDED)
HALF_AXPY(FLOAT16, TsrHalf, F16_LOOP, F16_ROUNDED)

/* where: elements are moved as bits. */
typedef struct Bits128 {
    uint64_t low, high;
} Bits128;
#define WHERE(name, T) \
    static void name(char *const *data, const int64_t *s, int64_t n, const void *p) { \
        if (TSR_UNLIKELY(s[0] != (int64_t)sizeof(T) || s[1] != 1 || s[2] != (int64_t)sizeof(T) || \
                         s[3] != (int64_t)sizeof(T))) { \
            tsr_kernel_strided(name, data, s, n, p, 4, (const uint8_t[]){sizeof(T), 1, sizeof(T), sizeof(T)}); \
            return; \
        } \
        T *o = (T *)data[0]; \
        const uint8_t *c = (const uint8_t *)data[1]; \
        const T *a = (const T *)data[2], *b = (const T *)data[3]; \
        VECTOR for (int64_t i = 0; i < n; i++) { \
            const T x = a[i], y = b[i]; \
            o[i] = c[i] != 0 ? x : y; \
        } \
    }
WHERE(SIMD(where8), uint8_t)
WHERE(SIMD(where16), uint16_t)
WHERE(SIMD(where32), uint32_t)
WHERE(SIMD(where64), uint64_t)
WHERE(SIMD(where128), Bits128)

static const TsrLoop SIMD(table)[TSR_K_COUNT][TSR_DTYPE_COUNT] = {
#define K1(name, types, ...) types(ENTRY, name)
#define K2(name, types, ...) types(ENTRY, name)
#define K2B(name, types, ...) types(ENTRY, name)
#define K3(name, types, ...) types(ENTRY, name)
#define C1(name, ...) TY_FLOAT(ENTRY, name)
#define C1S(name, ...) TY_F32(ENTRY, name)
#define C2(name, ...) TY_FLOAT(ENTRY, name)
#define V1(name, ...) TY_FLOAT(ENTRY, name)
#define V1SD(name, ...) TY_FLOAT(ENTRY, name)
#define V1D(name, ...) TY_F64(ENTRY, name)
#define V2(name, ...) TY_FLOAT(ENTRY, name)
#define MORE(kind, ...) kind(__VA_ARGS__)
#define MASKED(name, ...) \
    TY_FLOAT(ENTRY, name##_and) \
    TY_FLOAT(ENTRY, name##_or) \
    TY_FLOAT(ENTRY, name##_where) TY_FLOAT(ENTRY, name##_and_where) TY_FLOAT(ENTRY, name##_or_where)
#include "fast.def"
    [TSR_K_fmod] = {[TSR_FLOAT32] = SIMD(fmod_FLOAT32), [TSR_FLOAT64] = SIMD(fmod_FLOAT64)},
    [TSR_K_remainder] = {[TSR_FLOAT32] = SIMD(remainder_FLOAT32), [TSR_FLOAT64] = SIMD(remainder_FLOAT64)},
    [TSR_K_div_floor] = {[TSR_FLOAT32] = SIMD(div_floor_FLOAT32), [TSR_FLOAT64] = SIMD(div_floor_FLOAT64)},
    [TSR_K_add][TSR_FLOAT16] = SIMD(add_FLOAT16),
    [TSR_K_sub][TSR_FLOAT16] = SIMD(sub_FLOAT16),
    [TSR_K_mul][TSR_FLOAT16] = SIMD(mul_FLOAT16),
    [TSR_K_div][TSR_FLOAT16] = SIMD(div_FLOAT16),
    [TSR_K_add][TSR_BFLOAT16] = SIMD(add_BFLOAT16),
    [TSR_K_sub][TSR_BFLOAT16] = SIMD(sub_BFLOAT16),
    [TSR_K_mul][TSR_BFLOAT16] = SIMD(mul_BFLOAT16),
    [TSR_K_div][TSR_BFLOAT16] = SIMD(div_BFLOAT16),
    [TSR_K_axpy][TSR_FLOAT16] = SIMD(axpy_FLOAT16),
    [TSR_K_axpy][TSR_BFLOAT16] = SIMD(axpy_BFLOAT16),
    [TSR_K_where] =
        {
#define WHERE_1 where8
#define WHERE_2 where16
#define WHERE_4 where32
#define WHERE_8 where64
#define WHERE_16 where128
#define WHERE_OF(name) SIMD(name)
#define WHERE_BOOL(suffix, size) [TSR_##suffix] = WHERE_OF(WHERE_##size),
#define WHERE_UINT WHERE_BOOL
#define WHERE_INT WHERE_BOOL
#define WHERE_FLOAT WHERE_BOOL
#define WHERE_COMPLEX WHERE_BOOL
#define WHERE_OBJECT(suffix, size)
#define DTYPE(suffix, ctype, size, kind, ...) WHERE_##kind(suffix, size)
#include "core/dtype.def"
#undef DTYPE
        },
};

TsrKernelTable SIMD(tsr_kernels)(void) { return SIMD(table); }
