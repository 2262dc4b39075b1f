/* wide.h: products and quotients of 128 bits, for compilers with 128-bit integers and for those of 32-bit machines,
 * which have none. */
#ifndef CORE_BASE_WIDE_H
#define CORE_BASE_WIDE_H

#include "core/base.h"

/* The lower half of a * b; *high gets the upper one. */
static inline uint64_t tsr_mul_wide(uint64_t a, uint64_t b, uint64_t *high) {
#ifdef __SIZEOF_INT128__
    unsigned __int128 product = (unsigned __int128)a * b;
    *high = (uint64_t)(product >> 64);
    return (uint64_t)product;
#else
    uint64_t low = (a & UINT32_MAX) * (b & UINT32_MAX), left = (a >> 32) * (b & UINT32_MAX);
    uint64_t right = (a & UINT32_MAX) * (b >> 32), middle = (low >> 32) + (left & UINT32_MAX) + (right & UINT32_MAX);
    *high = (a >> 32) * (b >> 32) + (left >> 32) + (right >> 32) + (middle >> 32);
    return middle << 32 | (low & UINT32_MAX);
#endif
}

/* The quotient of high * 2^64 + low by d, for high < d; *rest gets the remainder. */
static inline uint64_t tsr_div_wide(uint64_t high, uint64_t low, uint64_t d, uint64_t *rest) {
#ifdef __SIZEOF_INT128__
    unsigned __int128 number = (unsigned __int128)high << 64 | low;
    *rest = (uint64_t)(number % d);
    return (uint64_t)(number / d);
#else
    uint64_t q = 0;
    for (int bit = 63; bit >= 0; bit--) { /* long division: what is left stays below d */
        bool carry = high >> 63 != 0;
        high = high << 1 | (low >> bit & 1);
        q <<= 1;
        if (carry || high >= d) high -= d, q |= 1;
    }
    *rest = high;
    return q;
#endif
}

/* a * b modulo m, for 0 <= a, b and 0 < m. */
static inline int64_t tsr_mul_modulo(int64_t a, int64_t b, int64_t m) {
    uint64_t high, low = tsr_mul_wide((uint64_t)a, (uint64_t)b, &high), rest;
    tsr_div_wide(high % (uint64_t)m, low, (uint64_t)m, &rest);
    return (int64_t)rest;
}

/* Sums of what 64 bits hold. A machine without 128-bit integers has 64 here: what it can address has 32, so that only
 * the layout of memory that cannot exist passes them. */
#ifdef __SIZEOF_INT128__
typedef __int128 TsrWide;
#else
typedef int64_t TsrWide;
#endif

#endif
