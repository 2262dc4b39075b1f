/* plain.c: the kernels of plain.def and special.def, and the helpers that their expressions call. */
#include <math.h>

#include "core/base/wide.h"
#include "core/element/halffloat.h"
#include "table.h"
#include "core/kernels/simd.h"
#include "core/kernels/specfun.h"
#include "core/kernels/types.h"
#include "special.h"

#include "bessel_i0.inc"
#include "helpers.inc"
#include "special.inc"

/* Division of integers by one number, as a product with its inverse (Granlund and Montgomery, Division by Invariant
 * Integers using Multiplication, PLDI 1994, section 4). Of a negative x the complement is divided, since
 * floor(x / d) = ~floor(~x / d): dividends have 63 bits, or 31 where the type has no more than 32. */
typedef struct Inverse {
    uint64_t factor; /* 2^(bits + length) / d, rounded up, with `length` the bits of d - 1 */
    int shift;       /* of the product; of its upper half for a wide type */
} Inverse;

/* d > 1. */
static Inverse inverse_of(uint64_t d, bool wide) {
    int bits = wide ? 63 : 31, length = 64 - __builtin_clzll(d - 1);
    uint64_t top = wide ? UINT64_C(1) << (length - 1) : 0, low = wide ? 0 : UINT64_C(1) << (bits + length), rest;
    uint64_t factor = wide ? tsr_div_wide(top, low, d, &rest) : (rest = low % d, low / d);
    return (Inverse){factor + (rest != 0), wide ? length - 1 : bits + length};
}

static inline int64_t floored(int64_t x, Inverse by, bool wide) {
    uint64_t sign = (uint64_t)(x >> 63), size = (uint64_t)x ^ sign;
    uint64_t high, low = wide ? tsr_mul_wide(by.factor, size, &high) : (high = 0, by.factor * size);
    uint64_t q = (wide ? high : low) >> by.shift;
    return (int64_t)(q ^ sign);
}

#define LOOP2N(name, any, T_, U_, by_number) \
    LOOP_BEGIN(name, T_, U_, T_) \
    T *o = (T *)data[0], number = *(const T *)data[2]; \
    const T *a = (const T *)data[1]; \
    if (s[0] != (int64_t)sizeof(R) || s[1] != (int64_t)sizeof(T) || s[2] != 0 || number < 2) { \
        any(data, s, n, p); \
        return; \
    } \
    const bool wide = sizeof(T) == 8; \
    const Inverse inverse = inverse_of((uint64_t)number, wide); \
    const int64_t y = number; \
    for (int64_t i = 0; i < n; i++) { \
        const int64_t x = a[i], q = floored(x, inverse, wide); \
        const int64_t rest TSR_UNUSED = (int64_t)((uint64_t)x - (uint64_t)q * (uint64_t)y); \
        o[i] = (T)(by_number); \
    } \
    }
/* Division of tensors by way of the quotient of doubles: where |x| + |y| < 2**53 it is never rounded to an integer that
 * it does not reach, since it is at least 1/|y| away from those. A processor divides eight doubles, or four, in the
 * time of one division of integers. Dividends and divisors of 64 bits are looked at first. */
static const double integers_from = 0x1.8p52; /* its bits and those of it plus an integer differ by that integer */
static const int64_t bits_from = 0x4338000000000000;
static inline double double_of(int64_t v, bool wide) {
    const union {
        int64_t bits;
        double value;
    } sum = {v + bits_from};
    return wide ? sum.value - integers_from : (double)v;
}
static inline int64_t integer_of(double v, bool wide) {
    const union {
        double value;
        int64_t bits;
    } sum = {v + integers_from};
    return wide ? sum.bits - bits_from : (int64_t)(int32_t)v;
}

TSR_CLONES static bool all_small(const int64_t *x, const int64_t *y, int64_t n) {
    uint64_t high = 0;
    for (int64_t i = 0; i < n; i++)
        high |= ((uint64_t)x[i] + (UINT64_C(1) << 50)) | ((uint64_t)y[i] + (UINT64_C(1) << 50));
    return high >> 51 == 0;
}

enum { QUOTIENTS = 512 }; /* at a time: three arrays in the first cache */
#define LOOP2SMALL(name, T, by_quotient) \
    TSR_CLONES static void name(T *o, const T *a, const T *b, int64_t n) { \
        const bool wide = sizeof(T) == 8; \
        VECTOR for (int64_t i = 0; i < n; i++) { \
            const double x = double_of((int64_t)a[i], wide), y = double_of((int64_t)b[i], wide), \
                         q = __builtin_floor(x / y), rest TSR_UNUSED = x - q * y; \
            o[i] = (T)integer_of((by_quotient), wide); \
        } \
    }
#define LOOP2Q(name, small, any, T_, U_) \
    LOOP_BEGIN(name, T_, U_, T_) \
    if (s[0] != (int64_t)sizeof(R) || s[1] != (int64_t)sizeof(T) || s[2] != (int64_t)sizeof(T)) { \
        any(data, s, n, p); \
        return; \
    } \
    for (int64_t done = 0; done < n; done += QUOTIENTS) { \
        const int64_t m = TSR_MIN(n - done, (int64_t)QUOTIENTS); \
        T *o = (T *)data[0] + done, *a = (T *)data[1] + done, *b = (T *)data[2] + done; \
        if (sizeof(T) < 8 || all_small((int64_t *)(void *)a, (int64_t *)(void *)b, m)) small(o, a, b, m); \
        else any((char *[]){(char *)o, (char *)a, (char *)b}, s, m, p); \
    } \
    }
#define DEFINE2N(dtype, T, U, name, by_quotient, ...) \
    LOOP2(FN(name##_any, dtype), T, U, T, __VA_ARGS__) \
    LOOP2SMALL(FN(name##_small, dtype), T, by_quotient) \
    LOOP2Q(FN(name##_tensors, dtype), FN(name##_small, dtype), FN(name##_any, dtype), T, U) \
    LOOP2N(FN(name, dtype), FN(name##_tensors, dtype), T, U, by_quotient)

#define K1(name, types, R, ...) types(DEFINE1, name, R, __VA_ARGS__)
#define K2(name, types, R, ...) types(DEFINE2, name, R, __VA_ARGS__)
#define K2N(name, types, by_quotient, ...) types(DEFINE2N, name, by_quotient, __VA_ARGS__)
#define MORE(kind, ...) kind(__VA_ARGS__)
#define BESSEL(...)
#define POLYNOMIAL(...)
#include "plain.def"
#include "special.def"
#undef K1
#undef K2
#undef K2N

static const TsrLoop table[TSR_K_COUNT][TSR_DTYPE_COUNT] = {
#define K1(name, types, ...) types(ENTRY, name)
#define K2(name, types, ...) types(ENTRY, name)
#define K2N(name, types, ...) types(ENTRY, name)
#include "plain.def"
#include "special.def"
};

TsrKernelTable tsr_kernels_plain(void) { return table; }
