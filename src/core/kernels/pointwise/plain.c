/* plain.c: the kernels of plain.def, and the helpers that their expressions call. */
#include <math.h>

#include "core/element/halffloat.h"
#include "table.h"
#include "core/kernels/simd.h"
#include "core/kernels/types.h"

static uint64_t integer_power(uint64_t base, int64_t exponent, int64_t signed_base) {
    if (exponent < 0) return signed_base == 1 ? 1 : signed_base == -1 ? (exponent % 2 ? (uint64_t)-1 : 1) : 0;
    uint64_t result = 1;
    for (uint64_t e = (uint64_t)exponent; e != 0; e >>= 1, base *= base)
        if (e & 1) result *= base;
    return result;
}

static uint64_t magnitude(int64_t x) { return x < 0 ? 0 - (uint64_t)x : (uint64_t)x; }

static int64_t rest_of(int64_t a, int64_t b) { return b == -1 ? 0 : a % b; }

/* Of magnitudes in the operands' own type, where the least integer is its own magnitude. */
static int64_t gcd(int64_t a, int64_t b) {
    while (a != 0) {
        int64_t c = a;
        a = rest_of(b, a);
        b = c;
    }
    return b;
}

/* The product wraps in the type it is computed in, int for all that are no wider, before its magnitude is taken. */
static uint64_t lcm(int64_t x, int64_t y, int64_t g, size_t item) {
    uint64_t quotient = g == 0 ? 0 : g == -1 ? 0 - (uint64_t)x : (uint64_t)(x / g), product = quotient * (uint64_t)y;
    return magnitude(item <= sizeof(int32_t) ? (int64_t)(int32_t)(uint32_t)product : (int64_t)product);
}

static float half_step(float x, const void *p) {
    if (p == NULL) return x;
    return *(const TsrDtype *)p == TSR_FLOAT16 ? tsr_half_widen(tsr_half_round(x))
                                               : tsr_bfloat16_widen(tsr_bfloat16_round(x));
}

#define K1(name, types, R, ...) types(DEFINE1, name, R, __VA_ARGS__)
#define K2(name, types, R, ...) types(DEFINE2, name, R, __VA_ARGS__)
#define MORE(kind, ...) kind(__VA_ARGS__)
#include "plain.def"
#undef K1
#undef K2

static const TsrLoop table[TSR_K_COUNT][TSR_DTYPE_COUNT] = {
#define K1(name, types, ...) types(ENTRY, name)
#define K2(name, types, ...) types(ENTRY, name)
#include "plain.def"
};

TsrKernelTable tsr_kernels_plain(void) { return table; }
