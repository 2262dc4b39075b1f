/* plain.c: the kernels of plain.def, and the helpers that their expressions call. */
#include <math.h>

#include "halffloat.h"
#include "kernels/kernel.h"
#include "kernels/simd.h"
#include "kernels/types.h"

/* Notes the error where the operator looks for it afterwards, and stands in for the value. */
static int divided_by_zero(const void *p) {
    __atomic_store_n((int *)(uintptr_t)p, 1, __ATOMIC_RELAXED);
    return 0;
}

#define FLOAT_HELPERS(suffix, T, LOG) \
    static T logit_##suffix(T x, const void *p) { \
        T eps = (T) * (const double *)p; \
        if (eps >= 0) x = x < eps ? eps : x > 1 - eps ? 1 - eps : x; \
        return x == 1 ? (T)INFINITY : LOG(x / (1 - x)); \
    }
FLOAT_HELPERS(float, float, logf)
FLOAT_HELPERS(double, double, log)

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

static uint64_t lcm(int64_t x, int64_t y, int64_t g) {
    uint64_t quotient = g == 0 ? 0 : g == -1 ? 0 - (uint64_t)x : (uint64_t)(x / g);
    return magnitude((int64_t)(quotient * (uint64_t)y));
}

/* Rational approximations for the centre and the tails, then two Newton steps. */
static double erfinv(double y) {
    static const double a[] = {0.886226899, -1.645349621, 0.914624893, -0.140543331}, b[] = {-2.118377725, 1.442710462, -0.329097515, 0.012229801};
    static const double c[] = {-1.970840454, -1.624906493, 3.429567803, 1.641345311}, d[] = {3.543889200, 1.637067800};
    double x;
    if (!(fabs(y) <= 1)) return NAN;
    if (fabs(y) == 1) return copysign(INFINITY, y);
    if (fabs(y) <= 0.7) {
        double z = y * y;
        x = y * (((a[3] * z + a[2]) * z + a[1]) * z + a[0]) / ((((b[3] * z + b[2]) * z + b[1]) * z + b[0]) * z + 1);
    } else {
        double z = sqrt(-log((1 - fabs(y)) / 2));
        x = copysign((((c[3] * z + c[2]) * z + c[1]) * z + c[0]) / ((d[1] * z + d[0]) * z + 1), y);
    }
    for (int i = 0; i < 2; i++) x -= (erf(x) - y) / (M_2_SQRTPI * exp(-x * x));
    return x;
}

/* Abramowitz and Stegun 7.1.26: errors up to 1.5e-7. */
static float coarse_erf(float x) {
    float t = 1 / fmaf(0.3275911f, fabsf(x), 1);
    float r = fmaf(fmaf(fmaf(fmaf(1.061405429f, t, -1.453152027f), t, 1.421413741f), t, -0.284496736f), t, 0.254829592f);
    return copysignf(fmaf(-expf(-x * x) * t, r, 1), x);
}

static float half_step(float x, const void *p) {
    if (p == NULL) return x;
    return *(const TsrDtype *)p == TSR_FLOAT16 ? tsr_half_widen(tsr_half_round(x)) : tsr_bfloat16_widen(tsr_bfloat16_round(x));
}

#define K1(name, types, R, ...) types(DEFINE1, name, R, __VA_ARGS__)
#define K2(name, types, R, ...) types(DEFINE2, name, R, __VA_ARGS__)
#define MORE(kind, ...) kind(__VA_ARGS__)
#include "kernels/plain.def"
#undef K1
#undef K2

static const TsrLoop table[TSR_K_COUNT][TSR_DTYPE_COUNT] = {
#define K1(name, types, ...) types(ENTRY, name)
#define K2(name, types, ...) types(ENTRY, name)
#include "kernels/plain.def"
};

TsrKernelTable tsr_kernels_plain(void) { return table; }
