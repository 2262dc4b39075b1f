/* wide.h: the halves of products and quotients, as a compiler without 128-bit integers gets them, beside those of one
 * that has them. */
#include "suite.h"

#ifdef __SIZEOF_INT128__
typedef unsigned __int128 Exact;
#define HAS_EXACT 1
#undef __SIZEOF_INT128__
#endif
#include "core/base/wide.h"

/* xorshift64; of two numbers one is shifted, so that all lengths come, and of four one is full of ones from the top. */
static uint64_t next_number(uint64_t *state) {
    *state ^= *state << 13;
    *state ^= *state >> 7;
    *state ^= *state << 17;
    uint64_t number = *state & 1 ? *state : *state >> (*state >> 58);
    return *state & 6 ? number : ~number;
}

START_TEST(halves_of_products_and_quotients_are_exact) {
    uint64_t state = 88172645463325252u;
    for (int i = 0; i < 200000; i++) {
        uint64_t a = next_number(&state), b = next_number(&state), d = next_number(&state) | 1, high, rest;
        uint64_t low = tsr_mul_wide(a, b, &high), quotient = tsr_div_wide(high % d, low, d, &rest);
#ifdef HAS_EXACT
        Exact product = (Exact)a * b, number = (Exact)(high % d) << 64 | low;
        ck_assert(low == (uint64_t)product && high == (uint64_t)(product >> 64));
        ck_assert(quotient == (uint64_t)(number / d) && rest == (uint64_t)(number % d));
#else
        ck_assert(quotient * d + rest == low && rest < d);
#endif
    }
}
END_TEST

TEST_SUITE(wide, halves_of_products_and_quotients_are_exact)
