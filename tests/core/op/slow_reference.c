/* The functions behind slow_reference.h: libm in long double where it has them, definitions where it has none. */
#include "core/op/slow_reference.h"

#include <complex.h>
#include <math.h>
#include <string.h>

typedef long double R;

static const R pi = 3.141592653589793238462643383279502884L;

/* ---- one number ---- */

static R neg(R x) { return -x; }
static R sign(R x) { return x > 0 ? 1 : x < 0 ? -1 : 0; }
static R square(R x) { return x * x; }
static R reciprocal(R x) { return 1 / x; }
static R rsqrt(R x) { return 1 / sqrtl(x); }
static R frac(R x) { return x - truncl(x); }
static R sigmoid(R x) { return 1 / (1 + expl(-x)); }
static R logit(R x) { return logl(x / (1 - x)); }
static R relu(R x) { return x < 0 ? 0 : x; }
static R sinc(R x) { return x == 0 ? 1 : sinl(pi * x) / (pi * x); }
static R deg2rad(R x) { return x * (pi / 180); }
static R rad2deg(R x) { return x * (180 / pi); }
static R is_nan(R x) { return isnan(x); }
static R is_inf(R x) { return isinf(x) != 0; }
static R is_finite(R x) { return isfinite(x); }
static R is_posinf(R x) { return isinf(x) && x > 0; }
static R is_neginf(R x) { return isinf(x) && x < 0; }
static R sign_bit(R x) { return signbit(x) != 0; }
static R logical_not(R x) { return x == 0; }
static R entr(R x) { return isnan(x) ? x : x > 0 ? -x * logl(x) : x == 0 ? 0 : -INFINITY; }
static R ndtr(R x) { return erfcl(-x / sqrtl(2)) / 2; }
static R lgamma_(R x) { return isinf(x) ? INFINITY : lgammal(x); }
static R bessel_j0(R x) { return j0l(x); }
static R bessel_j1(R x) { return j1l(x); }

/* By Bernoulli's asymptotic series, from where it is exact enough, and reflection below. */
static R digamma(R x) {
    R sum = 0;
    if (x == 0) return copysignl(INFINITY, -x);
    if (x < 0) return x == floorl(x) ? NAN : digamma(1 - x) - pi / tanl(pi * x);
    for (; x < 40; x++) sum -= 1 / x;
    R r = 1 / (x * x);
    return sum + logl(x) - 0.5L / x -
           r * (1 / 12.0L - r * (1 / 120.0L - r * (1 / 252.0L - r * (1 / 240.0L - r / 132.0L))));
}

/* The power series of I0 and I1: all terms are positive. */
static R bessel_i(R x, int order) {
    R term = order == 0 ? 1 : x / 2, sum = 0;
    for (int k = 1; k < 500 && fabsl(term) > fabsl(sum) * 1e-22L; k++) {
        sum += term;
        term *= x * x / 4 / (k * (R)(k + order));
    }
    return sum;
}
static R i0(R x) { return bessel_i(x, 0); }
static R i1(R x) { return bessel_i(x, 1); }

/* ---- two numbers ---- */

static R add(R x, R y) { return x + y; }
static R sub(R x, R y) { return x - y; }
static R mul(R x, R y) { return x * y; }
static R divide(R x, R y) { return x / y; }
static R remainder_(R x, R y) {
    R r = fmodl(x, y);
    return r != 0 && (r < 0) != (y < 0) ? r + y : r;
}
static R maximum(R x, R y) { return isnan(x) || isnan(y) ? NAN : x > y ? x : y; }
static R minimum(R x, R y) { return isnan(x) || isnan(y) ? NAN : x < y ? x : y; }
static R eq(R x, R y) { return x == y; }
static R ne(R x, R y) { return x != y; }
static R lt(R x, R y) { return x < y; }
static R le(R x, R y) { return x <= y; }
static R gt(R x, R y) { return x > y; }
static R ge(R x, R y) { return x >= y; }
static R logical_and(R x, R y) { return x != 0 && y != 0; }
static R logical_or(R x, R y) { return x != 0 || y != 0; }
static R logical_xor(R x, R y) { return (x != 0) != (y != 0); }
static R xlogy(R x, R y) { return isnan(y) ? NAN : x == 0 ? 0 : x * logl(y); }
static R xlog1py(R x, R y) { return isnan(y) ? NAN : x == 0 ? 0 : x * log1pl(y); }
static R heaviside(R x, R y) { return x == 0 ? y : x > 0; } /* of nan: 0 */
static R ldexp_(R x, R y) { return x * powl(2, y); }
static R logaddexp(R x, R y) { return x == y && isinf(x) ? x : fmaxl(x, y) + log1pl(expl(-fabsl(x - y))); }
static R gcd(R x, R y) {
    x = fabsl(x);
    for (y = fabsl(y); y != 0;) {
        R r = fmodl(x, y);
        x = y;
        y = r;
    }
    return x;
}
static R lcm(R x, R y) { return x == 0 || y == 0 ? 0 : fabsl(x / gcd(x, y) * y); }

/* ---- complex numbers ---- */

#define COMPLEX(name, expression) \
    static void c_##name(double *re, double *im) { \
        double complex z = CMPLX(*re, *im), w = (expression); \
        *re = creal(w); \
        *im = cimag(w); \
    }
COMPLEX(exp, cexp(z))
COMPLEX(log, clog(z))
COMPLEX(sqrt, csqrt(z))
COMPLEX(sin, csin(z))
COMPLEX(cos, ccos(z))
COMPLEX(tanh, ctanh(z))
COMPLEX(sinh, csinh(z))
COMPLEX(cosh, ccosh(z))
COMPLEX(square, z *z)
COMPLEX(reciprocal, 1 / z)
COMPLEX(neg, -z)
COMPLEX(abs, cabs(z))
COMPLEX(angle, carg(z))
COMPLEX(conj, conj(z))
COMPLEX(atan, catan(z))
COMPLEX(asin, casin(z))
COMPLEX(acos, cacos(z))
COMPLEX(asinh, casinh(z))
COMPLEX(sgn, z == 0 ? 0 : z / cabs(z))

/* ---- many numbers ---- */

static R sum(const R *x, int64_t n) {
    R s = 0;
    for (int64_t i = 0; i < n; i++) s += x[i];
    return s;
}
static R nansum(const R *x, int64_t n) {
    R s = 0;
    for (int64_t i = 0; i < n; i++) s += isnan(x[i]) ? 0 : x[i];
    return s;
}
static R mean(const R *x, int64_t n) { return sum(x, n) / (R)n; }
static R nanmean(const R *x, int64_t n) {
    R count = 0;
    for (int64_t i = 0; i < n; i++) count += !isnan(x[i]);
    return nansum(x, n) / count;
}
static R prod(const R *x, int64_t n) {
    R p = 1;
    for (int64_t i = 0; i < n; i++) p *= x[i];
    return p;
}
static R amax(const R *x, int64_t n) {
    R m = x[0];
    for (int64_t i = 1; i < n; i++) m = maximum(m, x[i]);
    return m;
}
static R amin(const R *x, int64_t n) {
    R m = x[0];
    for (int64_t i = 1; i < n; i++) m = minimum(m, x[i]);
    return m;
}
static R any(const R *x, int64_t n) {
    for (int64_t i = 0; i < n; i++)
        if (x[i] != 0) return 1;
    return 0;
}
static R all(const R *x, int64_t n) {
    for (int64_t i = 0; i < n; i++)
        if (x[i] == 0) return 0;
    return 1;
}
static R count_nonzero(const R *x, int64_t n) {
    R count = 0;
    for (int64_t i = 0; i < n; i++) count += x[i] != 0;
    return count;
}
static R logsumexp(const R *x, int64_t n) {
    R most = n > 0 ? amax(x, n) : -INFINITY, s = 0;
    if (isinf(most)) return most;
    for (int64_t i = 0; i < n; i++) s += expl(x[i] - most);
    return most + logl(s);
}
/* The first of the greatest; a nan is greater than all. */
static R argmax(const R *x, int64_t n) {
    int64_t at = 0;
    for (int64_t i = 1; i < n && !isnan(x[at]); i++)
        if (isnan(x[i]) || x[i] > x[at]) at = i;
    return at;
}
static R argmin(const R *x, int64_t n) {
    int64_t at = 0;
    for (int64_t i = 1; i < n && !isnan(x[at]); i++)
        if (isnan(x[i]) || x[i] < x[at]) at = i;
    return at;
}

#define OF_ONE(op, fn, places) \
    { .name = op, .kind = SLOW_UNARY, .unary = fn, .units = places }
#define OF_TWO(op, fn, places) \
    { .name = op, .kind = SLOW_BINARY, .binary = fn, .units = places }
#define OF_COMPLEX(op, fn, places) \
    { .name = op, .kind = SLOW_COMPLEX, .pair = fn, .units = places }
#define OF_MANY(op, fn, places) \
    { .name = op, .kind = SLOW_REDUCE, .reduce = fn, .units = places }
const SlowOp slow_ops[] = {
    OF_ONE("neg", neg, 0),
    OF_ONE("negative", neg, 0),
    OF_ONE("abs", fabsl, 0),
    OF_ONE("absolute", fabsl, 0),
    OF_ONE("sign", sign, 0),
    OF_ONE("sgn", sign, 0),
    OF_ONE("square", square, 1),
    OF_ONE("reciprocal", reciprocal, 1),
    OF_ONE("sqrt", sqrtl, 1),
    OF_ONE("rsqrt", rsqrt, 2),
    OF_ONE("exp", expl, 2),
    OF_ONE("exp2", exp2l, 2),
    OF_ONE("expm1", expm1l, 2),
    OF_ONE("log", logl, 2),
    OF_ONE("log2", log2l, 2),
    OF_ONE("log10", log10l, 2),
    OF_ONE("log1p", log1pl, 2),
    OF_ONE("sigmoid", sigmoid, 4),
    OF_ONE("logit", logit, 16),
    OF_ONE("relu", relu, 0),
    OF_ONE("sin", sinl, 2),
    OF_ONE("cos", cosl, 2),
    OF_ONE("tan", tanl, 4),
    OF_ONE("asin", asinl, 2),
    OF_ONE("acos", acosl, 2),
    OF_ONE("atan", atanl, 2),
    OF_ONE("sinh", sinhl, 4),
    OF_ONE("cosh", coshl, 4),
    OF_ONE("tanh", tanhl, 4),
    OF_ONE("asinh", asinhl, 4),
    OF_ONE("acosh", acoshl, 4),
    OF_ONE("atanh", atanhl, 4),
    OF_ONE("sinc", sinc, 64),
    OF_ONE("arcsin", asinl, 2),
    OF_ONE("arccos", acosl, 2),
    OF_ONE("arctan", atanl, 2),
    OF_ONE("arcsinh", asinhl, 4),
    OF_ONE("arccosh", acoshl, 4),
    OF_ONE("arctanh", atanhl, 4),
    OF_ONE("deg2rad", deg2rad, 2),
    OF_ONE("rad2deg", rad2deg, 2),
    OF_ONE("erf", erfl, 16),
    OF_ONE("erfc", erfcl, 16),
    OF_ONE("ceil", ceill, 0),
    OF_ONE("floor", floorl, 0),
    OF_ONE("trunc", truncl, 0),
    OF_ONE("fix", truncl, 0),
    OF_ONE("frac", frac, 0),
    OF_ONE("round", rintl, 0),
    OF_ONE("isnan", is_nan, 0),
    OF_ONE("isinf", is_inf, 0),
    OF_ONE("isfinite", is_finite, 0),
    OF_ONE("isposinf", is_posinf, 0),
    OF_ONE("isneginf", is_neginf, 0),
    OF_ONE("signbit", sign_bit, 0),
    OF_ONE("logical_not", logical_not, 0),
    OF_ONE("lgamma", lgamma_, 256),
    OF_ONE("special.gammaln", lgamma_, 256),
    OF_ONE("digamma", digamma, 4096),
    OF_ONE("special.psi", digamma, 4096),
    OF_ONE("i0", i0, 16),
    OF_ONE("special.i1", i1, 16),
    OF_ONE("special.entr", entr, 4),
    OF_ONE("special.ndtr", ndtr, 64),
    OF_ONE("special.bessel_j0", bessel_j0, 1 << 24),
    OF_ONE("special.bessel_j1", bessel_j1, 1 << 24),
    OF_ONE("special.expit", sigmoid, 4),
    OF_ONE("special.exp2", exp2l, 2),
    OF_ONE("special.expm1", expm1l, 2),
    OF_ONE("special.log1p", log1pl, 2),
    OF_ONE("special.erf", erfl, 16),
    OF_ONE("special.erfc", erfcl, 16),
    OF_TWO("add", add, 1),
    OF_TWO("sub", sub, 1),
    OF_TWO("subtract", sub, 1),
    OF_TWO("mul", mul, 1),
    OF_TWO("multiply", mul, 1),
    OF_TWO("div", divide, 1),
    OF_TWO("divide", divide, 1),
    OF_TWO("true_divide", divide, 1),
    OF_TWO("remainder", remainder_, 1),
    OF_TWO("fmod", fmodl, 0),
    OF_TWO("pow", powl, 16),
    OF_TWO("atan2", atan2l, 2),
    OF_TWO("arctan2", atan2l, 2),
    OF_TWO("hypot", hypotl, 2),
    OF_TWO("maximum", maximum, 0),
    OF_TWO("minimum", minimum, 0),
    OF_TWO("fmax", fmaxl, 0),
    OF_TWO("fmin", fminl, 0),
    OF_TWO("eq", eq, 0),
    OF_TWO("ne", ne, 0),
    OF_TWO("not_equal", ne, 0),
    OF_TWO("lt", lt, 0),
    OF_TWO("less", lt, 0),
    OF_TWO("le", le, 0),
    OF_TWO("less_equal", le, 0),
    OF_TWO("gt", gt, 0),
    OF_TWO("greater", gt, 0),
    OF_TWO("ge", ge, 0),
    OF_TWO("greater_equal", ge, 0),
    OF_TWO("logical_and", logical_and, 0),
    OF_TWO("logical_or", logical_or, 0),
    OF_TWO("logical_xor", logical_xor, 0),
    OF_TWO("xlogy", xlogy, 4),
    OF_TWO("special.xlogy", xlogy, 4),
    OF_TWO("special.xlog1py", xlog1py, 4),
    OF_TWO("heaviside", heaviside, 0),
    OF_TWO("ldexp", ldexp_, 16),
    OF_TWO("logaddexp", logaddexp, 64),
    OF_TWO("copysign", copysignl, 0),
    OF_TWO("gcd", gcd, 0),
    OF_TWO("lcm", lcm, 0),
    OF_COMPLEX("exp", c_exp, 16),
    OF_COMPLEX("log", c_log, 16),
    OF_COMPLEX("sqrt", c_sqrt, 16),
    OF_COMPLEX("sin", c_sin, 16),
    OF_COMPLEX("cos", c_cos, 16),
    OF_COMPLEX("tanh", c_tanh, 64),
    OF_COMPLEX("sinh", c_sinh, 16),
    OF_COMPLEX("cosh", c_cosh, 16),
    OF_COMPLEX("square", c_square, 4),
    OF_COMPLEX("reciprocal", c_reciprocal, 4),
    OF_COMPLEX("neg", c_neg, 0),
    OF_COMPLEX("abs", c_abs, 4),
    OF_COMPLEX("angle", c_angle, 4),
    OF_COMPLEX("conj_physical", c_conj, 0),
    OF_COMPLEX("atan", c_atan, 64),
    OF_COMPLEX("asin", c_asin, 64),
    OF_COMPLEX("acos", c_acos, 64),
    OF_COMPLEX("asinh", c_asinh, 64),
    OF_COMPLEX("sgn", c_sgn, 4),
    OF_MANY("sum", sum, 16),
    OF_MANY("nansum", nansum, 16),
    OF_MANY("mean", mean, 16),
    OF_MANY("nanmean", nanmean, 16),
    OF_MANY("prod", prod, 64),
    OF_MANY("amax", amax, 0),
    OF_MANY("amin", amin, 0),
    OF_MANY("any", any, 0),
    OF_MANY("all", all, 0),
    OF_MANY("count_nonzero", count_nonzero, 0),
    OF_MANY("logsumexp", logsumexp, 16),
    OF_MANY("special.logsumexp", logsumexp, 16),
    OF_MANY("argmax", argmax, 0),
    OF_MANY("argmin", argmin, 0),
    OF_MANY("max", amax, 0),
    OF_MANY("min", amin, 0),
};
const int slow_op_count = (int)TSR_COUNTOF(slow_ops);
