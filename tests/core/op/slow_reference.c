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

#define U(op, fn, places) {.name = op, .kind = SLOW_UNARY, .unary = fn, .units = places},
#define B(op, fn, places) {.name = op, .kind = SLOW_BINARY, .binary = fn, .units = places},
#define C(op, fn, places) {.name = op, .kind = SLOW_COMPLEX, .pair = fn, .units = places},
#define M(op, fn, places) {.name = op, .kind = SLOW_REDUCE, .reduce = fn, .units = places},
const SlowOp slow_ops[] = {
    U("neg", neg, 0) U("negative", neg, 0) U("abs", fabsl, 0) U("absolute", fabsl, 0) U("sign", sign, 0) U(
        "sgn", sign, 0) U("square", square, 1) U("reciprocal", reciprocal, 1) U("sqrt", sqrtl, 1) U("rsqrt", rsqrt, 2)
        U("exp", expl, 2) U("exp2", exp2l, 2) U("expm1", expm1l, 2) U("log", logl, 2) U("log2", log2l, 2) U(
            "log10", log10l, 2) U("log1p", log1pl, 2) U("sigmoid", sigmoid, 4) U("logit", logit, 16) U("relu", relu, 0)
            U("sin", sinl, 2) U("cos", cosl, 2) U("tan", tanl, 4) U("asin", asinl, 2) U("acos", acosl, 2)
                U("atan", atanl, 2) U("sinh", sinhl, 4) U("cosh", coshl, 4) U("tanh", tanhl, 4) U("asinh", asinhl, 4)
                    U("acosh", acoshl, 4) U("atanh", atanhl, 4) U("sinc", sinc, 64) U("arcsin", asinl, 2)
                        U("arccos", acosl, 2) U("arctan", atanl, 2) U("arcsinh", asinhl, 4) U("arccosh", acoshl, 4)
                            U("arctanh", atanhl, 4) U("deg2rad", deg2rad, 2) U("rad2deg", rad2deg, 2) U("erf", erfl, 16)
                                U("erfc", erfcl, 16) U("ceil", ceill, 0) U("floor", floorl, 0) U("trunc", truncl, 0)
                                    U("fix", truncl, 0) U("frac", frac, 0) U("round", rintl, 0) U("isnan", is_nan, 0)
                                        U("isinf", is_inf, 0) U("isfinite", is_finite, 0) U("isposinf", is_posinf, 0)
                                            U("isneginf", is_neginf, 0) U("signbit", sign_bit, 0)
                                                U("logical_not", logical_not, 0) U("lgamma", lgamma_, 256)
                                                    U("special.gammaln", lgamma_, 256) U("digamma", digamma, 4096)
                                                        U("special.psi", digamma, 4096) U("i0", i0, 16)
                                                            U("special.i1", i1, 16) U("special.entr", entr, 4)
                                                                U("special.ndtr", ndtr, 64)
                                                                    U("special.bessel_j0", bessel_j0, 1 << 24)
                                                                        U("special.bessel_j1", bessel_j1,
                                                                          1 << 24) /* in PyTorch too */
    U("special.expit", sigmoid, 4) U("special.exp2", exp2l, 2) U("special.expm1", expm1l, 2)
        U("special.log1p", log1pl, 2) U("special.erf", erfl, 16) U("special.erfc", erfcl, 16) B("add", add, 1) B(
            "sub", sub, 1) B("subtract", sub, 1) B("mul", mul, 1) B("multiply", mul, 1) B("div", divide, 1)
            B("divide", divide, 1) B("true_divide", divide, 1) B("remainder", remainder_, 1) B("fmod", fmodl, 0) B(
                "pow", powl, 16) B("atan2", atan2l, 2) B("arctan2", atan2l, 2) B("hypot", hypotl, 2)
                B("maximum", maximum, 0) B("minimum", minimum, 0) B("fmax", fmaxl, 0) B("fmin", fminl, 0) B("eq", eq, 0)
                    B("ne", ne, 0) B("not_equal", ne, 0) B("lt", lt, 0) B("less", lt, 0) B("le", le, 0)
                        B("less_equal", le, 0) B("gt", gt, 0) B("greater", gt, 0) B("ge", ge, 0)
                            B("greater_equal", ge, 0) B("logical_and", logical_and, 0) B("logical_or", logical_or, 0)
                                B("logical_xor", logical_xor, 0) B("xlogy", xlogy, 4) B("special.xlogy", xlogy, 4)
                                    B("special.xlog1py", xlog1py, 4) B("heaviside", heaviside, 0) B("ldexp", ldexp_, 16)
                                        B("logaddexp", logaddexp, 64) B("copysign", copysignl, 0) B("gcd", gcd, 0) B(
                                            "lcm", lcm, 0) C("exp", c_exp, 16) C("log", c_log, 16) C("sqrt", c_sqrt, 16)
                                            C("sin", c_sin, 16) C("cos", c_cos, 16) C("tanh", c_tanh, 64)
                                                C("sinh", c_sinh, 16) C("cosh", c_cosh, 16) C("square", c_square, 4) C(
                                                    "reciprocal", c_reciprocal, 4) C("neg", c_neg, 0) C("abs", c_abs, 4)
                                                    C("angle", c_angle, 4) C("conj_physical", c_conj, 0) C(
                                                        "atan", c_atan, 64) C("asin", c_asin, 64)
                                                        C("acos", c_acos, 64) C("asinh", c_asinh, 64) C("sgn", c_sgn, 4)
                                                            M("sum",
                                                              sum, 16) M("nansum", nansum, 16) M("mean", mean, 16)
                                                                M("nanmean", nanmean, 16) M("prod", prod, 64)
                                                                    M("amax", amax, 0) M("amin", amin, 0)
                                                                        M("any", any, 0) M("all", all, 0)
                                                                            M("count_nonzero", count_nonzero,
                                                                              0) M("logsumexp", logsumexp, 16)
                                                                                M("special.logsumexp", logsumexp, 16)
                                                                                    M("argmax", argmax, 0)
                                                                                        M("argmin", argmin, 0)
                                                                                            M("max", amax, 0)
                                                                                                M("min", amin, 0)};
const int slow_op_count = (int)TSR_COUNTOF(slow_ops);
