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
#include "core/kernels/erf.inc"
#include "core/kernels/gelu.inc"
#include "core/kernels/c_logarithm.inc"
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

/* Whole vectors, then the rest through a padded one: an element's value does not depend on its place. */
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

/* The loop `name` over whole blocks by the loop `blocks`, and over the rest, or over all where an operand has gaps, by
 * an expression of x and y: as PyTorch's loop, which takes two vectors of 64 bytes a step. One operand may be the same
 * for all. */
enum { BLOCK_BYTES = 128 };
#define RESTS1(name, T_, blocks, ...) \
    static void name(char *const *data, const int64_t *s, int64_t n, const void *p) { \
        typedef T_ T; \
        const int64_t size = sizeof(T), in_block = BLOCK_BYTES / size; \
        int64_t whole = s[0] == size && (s[1] == size || s[1] == 0) ? n / in_block * in_block : 0; \
        (void)p; \
        if (whole > 0) blocks(data, s, whole, p); \
        for (int64_t i = whole; i < n; i++) { \
            const T x = *(const T *)(data[1] + i * s[1]); \
            *(T *)(data[0] + i * s[0]) = (__VA_ARGS__); \
        } \
    }
#define RESTS2(name, T_, blocks, ...) \
    static void name(char *const *data, const int64_t *s, int64_t n, const void *p) { \
        typedef T_ T; \
        const int64_t size = sizeof(T), in_block = BLOCK_BYTES / size; \
        bool in_line = s[0] == size && (s[1] == size ? s[2] == size || s[2] == 0 : s[1] == 0 && s[2] == size); \
        int64_t whole = in_line ? n / in_block * in_block : 0; \
        (void)p; \
        if (whole > 0) blocks(data, s, whole, p); \
        for (int64_t i = whole; i < n; i++) { \
            const T x = *(const T *)(data[1] + i * s[1]), y = *(const T *)(data[2] + i * s[2]); \
            *(T *)(data[0] + i * s[0]) = (__VA_ARGS__); \
        } \
    }

#define K1(name, types, R, ...) types(DEFINE1, name, R, __VA_ARGS__)
#define K2(name, types, R, ...) types(DEFINE2, name, R, __VA_ARGS__)
#define K2B(name, types, R, ...) types(DEFINE2B, name, R, __VA_ARGS__)
#define K3(name, types, R, ...) types(DEFINE3, name, R, __VA_ARGS__)
#define K3B(name, types, R, ...) types(DEFINE3B, name, R, __VA_ARGS__)
#define MORE(kind, ...) kind(__VA_ARGS__)
#define NOTHING(...)
#define C1 NOTHING
#define C1S NOTHING
#define C2 NOTHING
#define V1 NOTHING
#define V1SD NOTHING
#define V1D NOTHING
#define V1S NOTHING
#define V2 NOTHING
#define HALVES_TOO(kind, ...) kind(__VA_ARGS__)
#define HALVES_BY NOTHING
#define V1R NOTHING
#define V1SDR NOTHING
#define V1DR NOTHING
#define V2R NOTHING
#define C2R NOTHING
#define MASKED(name, op) TY_FLOAT(DEFINE_MASKED, name, op)
#include "fast.def"
#include "forget_rows.inc"

#include "halves.inc"

#ifdef HALVES_BY_VECTORS
#define HALVES_OF_K1(name, types, R, ...) HALVES_BOTH(name, 2, BY_LANES(__VA_ARGS__))
#define HALVES_OF_V1(name, ...) HALVES_BOTH(name, 2, (__VA_ARGS__))
#define HALVES_OF_V1SD(name, single, twice) HALVES_BOTH(name, 2, single)
#define HALVES_OF_V1R(name, vectors, rest) HALVES_BOTH(name, 2, (vectors))
#define HALVES_OF_V1SDR(name, single, twice, rest) HALVES_BOTH(name, 2, single)
#define HALVES_ENTRY(name) TY_HALVES(ENTRY, name)
#else
#define HALVES_OF_K1(...)
#define HALVES_OF_V1(...)
#define HALVES_OF_V1SD(...)
#define HALVES_OF_V1R(...)
#define HALVES_OF_V1SDR(...)
#define HALVES_ENTRY(name)
#endif
#define CALL1(fn, acc) VCALL(fn, acc)(x)
#define CALL2(fn, acc) VCALL(fn, acc)(x, y)
#define K1 NOTHING
#define K2 NOTHING
#define K2B NOTHING
#define K3 NOTHING
#define K3B NOTHING
#define MORE NOTHING
#define MASKED NOTHING
#define HALVES_TOO(kind, ...) kind(__VA_ARGS__) HALVES_OF_##kind(__VA_ARGS__)
#define HALVES_BY HALVES_OF_V1
#define VCALL VF_CALL
#define EXP sleef_exp_floats
#define C1(name, ...) COMPOSED1(FN(name, FLOAT32), float, VF, __VA_ARGS__)
#define C1S C1
#define C2(name, ...) COMPOSED2(FN(name, FLOAT32), float, VF, __VA_ARGS__)
#define V1D NOTHING
#define V1DR NOTHING
#define V1S V1
#define V1SD(name, single, twice) VLOOP1(FN(name, FLOAT32), float, VF, single)
#define V1(name, ...) VLOOP1(FN(name, FLOAT32), float, VF, __VA_ARGS__)
#define V2(name, ...) VLOOP2(FN(name, FLOAT32), float, VF, __VA_ARGS__)
#define BLOCKS(name) FN(name##_blocks, FLOAT32)
#define LIBM(fn) fn##f
#define V1R(name, vectors, rest) \
    VLOOP1(BLOCKS(name), float, VF, vectors) RESTS1(FN(name, FLOAT32), float, BLOCKS(name), rest)
#define V1SDR(name, single, twice, rest) V1R(name, single, rest)
#define V2R(name, vectors, rest) \
    VLOOP2(BLOCKS(name), float, VF, vectors) RESTS2(FN(name, FLOAT32), float, BLOCKS(name), rest)
#define C2R(name, P, before, steps, after, rest) \
    COMPOSED2(BLOCKS(name), float, VF, P, before, steps, after) RESTS2(FN(name, FLOAT32), float, BLOCKS(name), rest)
#include "fast.def"
#include "forget_rows.inc"
#undef VCALL
#undef BLOCKS
#undef LIBM
#undef EXP
#define K1 NOTHING
#define K2 NOTHING
#define K2B NOTHING
#define K3 NOTHING
#define K3B NOTHING
#define MORE NOTHING
#define MASKED NOTHING
#define HALVES_TOO(kind, ...) kind(__VA_ARGS__)
#define HALVES_BY NOTHING
#define VCALL VD_CALL
#define EXP sleef_exp_doubles
#define C1(name, ...) COMPOSED1(FN(name, FLOAT64), double, VD, __VA_ARGS__)
#define C1S NOTHING
#define C2(name, ...) COMPOSED2(FN(name, FLOAT64), double, VD, __VA_ARGS__)
#define V1SD(name, single, twice) VLOOP1(FN(name, FLOAT64), double, VD, twice)
#define V1S NOTHING
#define V1D(name, ...) VLOOP1(FN(name, FLOAT64), double, VD, __VA_ARGS__)
#define V1(name, ...) VLOOP1(FN(name, FLOAT64), double, VD, __VA_ARGS__)
#define V2(name, ...) VLOOP2(FN(name, FLOAT64), double, VD, __VA_ARGS__)
#define BLOCKS(name) FN(name##_blocks, FLOAT64)
#define LIBM(fn) fn
#define V1R(name, vectors, rest) \
    VLOOP1(BLOCKS(name), double, VD, vectors) RESTS1(FN(name, FLOAT64), double, BLOCKS(name), rest)
#define V1DR V1R
#define V1SDR(name, single, twice, rest) V1R(name, twice, rest)
#define V2R(name, vectors, rest) \
    VLOOP2(BLOCKS(name), double, VD, vectors) RESTS2(FN(name, FLOAT64), double, BLOCKS(name), rest)
#define C2R(name, P, before, steps, after, rest) \
    COMPOSED2(BLOCKS(name), double, VD, P, before, steps, after) RESTS2(FN(name, FLOAT64), double, BLOCKS(name), rest)
#include "fast.def"
#include "forget_rows.inc"
#undef BLOCKS
#undef LIBM

#ifdef __FMA__
VLOOP1(SIMD(entr_FLOAT32), float, VF, entr_floats(x, p))
VLOOP2(SIMD(xlogy_FLOAT32), float, VF, xlogy_floats(x, y, p))
#endif

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
#define K3B(name, types, ...) types(ENTRY, name)
#define C1(name, ...) TY_FLOAT(ENTRY, name)
#define C1S(name, ...) TY_F32(ENTRY, name)
#define C2(name, ...) TY_FLOAT(ENTRY, name)
#define V1(name, ...) TY_FLOAT(ENTRY, name)
#define V1SD(name, ...) TY_FLOAT(ENTRY, name)
#define V1S(name, ...) TY_F32(ENTRY, name)
#define V1D(name, ...) TY_F64(ENTRY, name)
#define V2(name, ...) TY_FLOAT(ENTRY, name)
#define V1R V1
#define V1SDR V1
#define V1DR V1D
#define V2R V2
#define C2R V2
#define MORE(kind, ...) kind(__VA_ARGS__)
#define HALVES_TOO(kind, name, ...) kind(name, __VA_ARGS__) HALVES_ENTRY(name)
#define HALVES_BY(name, ...) HALVES_ENTRY(name)
#define MASKED(name, ...) \
    TY_FLOAT(ENTRY, name##_and) \
    TY_FLOAT(ENTRY, name##_or) \
    TY_FLOAT(ENTRY, name##_where) TY_FLOAT(ENTRY, name##_and_where) TY_FLOAT(ENTRY, name##_or_where)
#include "fast.def"
#ifdef __FMA__
    [TSR_K_entr] = {[TSR_FLOAT32] = SIMD(entr_FLOAT32)},
    [TSR_K_xlogy] = {[TSR_FLOAT32] = SIMD(xlogy_FLOAT32)},
#endif
    [TSR_K_fmod] = {[TSR_FLOAT32] = SIMD(fmod_FLOAT32), [TSR_FLOAT64] = SIMD(fmod_FLOAT64)},
    [TSR_K_remainder] = {[TSR_FLOAT32] = SIMD(remainder_FLOAT32), [TSR_FLOAT64] = SIMD(remainder_FLOAT64)},
    [TSR_K_div_floor] = {[TSR_FLOAT32] = SIMD(div_floor_FLOAT32), [TSR_FLOAT64] = SIMD(div_floor_FLOAT64)},
#define HALVES_ROW(name) \
    [TSR_K_##name][TSR_FLOAT16] = SIMD(name##_FLOAT16), [TSR_K_##name][TSR_BFLOAT16] = SIMD(name##_BFLOAT16)
    HALVES_ROW(add),
    HALVES_ROW(sub),
    HALVES_ROW(mul),
    HALVES_ROW(div),
    HALVES_ROW(axpy),
#ifdef HALVES_BY_VECTORS
    HALVES_ROW(maximum),
    HALVES_ROW(minimum),
    HALVES_ROW(sqrt),
    HALVES_ROW(reciprocal),
    HALVES_ROW(square),
    HALVES_ROW(floor),
    HALVES_ROW(ceil),
    HALVES_ROW(round),
    HALVES_ROW(trunc),
    HALVES_ROW(frac),
    HALVES_ROW(times_number),
    HALVES_ROW(plus_number),
    HALVES_ROW(addcmul),
    HALVES_ROW(addcdiv),
    HALVES_ROW(lerp),
    HALVES_ROW(lerp_number),
#endif
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
