/* cmath.c: Python's cmath. Of finite numbers the roots, logarithms, tangents and inverse functions follow Kahan
 * ("Branch cuts for complex elementary functions", 1987), as Python's do to the last bit; the rest, and infinities and
 * nan, are the C library's. */
#include "modules.h"

#include <complex.h>
#include <float.h>
#include <math.h>

#include "lang/object/args.h"
#include "lang/object/exc.h"
#include "lang/types/numbers.h"
#include "lang/types/sequences.h"

#undef I

static TsrStatus argument(double complex *z, Value v) {
    double re, im;
    *z = 0;
    TsrStatus status = TSR_OK;
    if (!value_to_complex(v, &re, &im, &status)) {
        if (status != TSR_OK) return status;
        return tsr_error(TSR_TYPE_ERROR, "must be real number, not %s", value_type_name(v));
    }
    *z = CMPLX(re, im);
    return TSR_OK;
}

static bool is_finite(double complex z) { return isfinite(creal(z)) && isfinite(cimag(z)); }
static bool has_nan(double complex z) { return isnan(creal(z)) || isnan(cimag(z)); }

/* Gives the result of a function of z: nan comes of nan alone, infinities of infinities. */
static TsrStatus checked(Value *out, double complex z, double complex result) {
    if (has_nan(result) && !has_nan(z)) return tsr_error(TSR_VALUE_ERROR, "math domain error");
    if (!is_finite(result) && is_finite(z)) return tsr_error(TSR_OVERFLOW_ERROR, "math range error");
    return complex_new(out, creal(result), cimag(result));
}

/* --- of finite numbers --- */

#define LARGE (DBL_MAX / 4) /* beyond it sums and hypot may overflow */
#define LARGE_ROOT (sqrt(LARGE))
#define SMALL_ROOT (sqrt(DBL_MIN))
#define LARGE_LOG (log(LARGE))

static double complex times_i(double complex z) { return CMPLX(-cimag(z), creal(z)); }
static double complex over_i(double complex z) { return CMPLX(cimag(z), -creal(z)); }
static bool is_large(double complex z) { return fabs(creal(z)) > LARGE || fabs(cimag(z)) > LARGE; }
/* log |z / 2| of a large z, of which hypot would not hold |z|. */
static double half_log(double complex z) { return log(hypot(creal(z) / 2, cimag(z) / 2)); }

static double complex square_root(double complex z) {
    double ax = fabs(creal(z)), ay = fabs(cimag(z)), s;
    if (ax == 0 && ay == 0) return CMPLX(0, cimag(z));
    if (ax < DBL_MIN && ay < DBL_MIN) s = ldexp(sqrt(ldexp(ax, 53) + hypot(ldexp(ax, 53), ldexp(ay, 53))), -27);
    else s = 2 * sqrt(ax / 8 + hypot(ax / 8, ay / 8));
    double d = ay / (2 * s);
    return creal(z) >= 0 ? CMPLX(s, copysign(d, cimag(z))) : CMPLX(d, copysign(s, cimag(z)));
}

static double complex logarithm(double complex z) {
    double ax = fabs(creal(z)), ay = fabs(cimag(z)), h = hypot(ax, ay), am = fmax(ax, ay), an = fmin(ax, ay), real;
    if (is_large(z)) real = half_log(z) + M_LN2;
    else if (ax < DBL_MIN && ay < DBL_MIN)
        real = log(hypot(ldexp(ax, DBL_MANT_DIG), ldexp(ay, DBL_MANT_DIG))) - DBL_MANT_DIG * M_LN2;
    else if (h >= 0.71 && h <= 1.73) real = log1p((am - 1) * (am + 1) + an * an) / 2; /* near 0: no digits may cancel */
    else real = log(h);
    return CMPLX(real, carg(z));
}

static double complex arc_sinh(double complex z) {
    double x = creal(z), y = cimag(z);
    if (is_large(z))
        return CMPLX(y >= 0 ? copysign(half_log(z) + 2 * M_LN2, x) : -copysign(half_log(z) + 2 * M_LN2, -x),
                     atan2(y, fabs(x)));
    double complex a = square_root(CMPLX(1 + y, -x)), b = square_root(CMPLX(1 - y, x));
    return CMPLX(asinh(creal(a) * cimag(b) - creal(b) * cimag(a)), atan2(y, creal(a) * creal(b) - cimag(a) * cimag(b)));
}

static double complex arc_cosh(double complex z) {
    double x = creal(z), y = cimag(z);
    if (is_large(z)) return CMPLX(half_log(z) + 2 * M_LN2, atan2(y, x));
    double complex a = square_root(CMPLX(x - 1, y)), b = square_root(CMPLX(x + 1, y));
    return CMPLX(asinh(creal(a) * creal(b) + cimag(a) * cimag(b)), 2 * atan2(cimag(a), creal(b)));
}

static double complex arc_cos(double complex z) {
    double x = creal(z), y = cimag(z);
    if (is_large(z))
        return CMPLX(atan2(fabs(y), x),
                     x < 0 ? -copysign(half_log(z) + 2 * M_LN2, y) : copysign(half_log(z) + 2 * M_LN2, -y));
    double complex a = square_root(CMPLX(1 - x, -y)), b = square_root(CMPLX(1 + x, y));
    return CMPLX(2 * atan2(creal(a), creal(b)), asinh(creal(b) * cimag(a) - cimag(b) * creal(a)));
}

static double complex arc_sin(double complex z) { return over_i(arc_sinh(times_i(z))); }

static double complex arc_tanh(double complex z) {
    double x = creal(z), y = cimag(z), ay = fabs(y);
    if (signbit(x)) return -arc_tanh(-z);
    if (x > LARGE_ROOT || ay > LARGE_ROOT) {
        double h = hypot(x / 2, y / 2);
        return CMPLX(x / 4 / h / h, -copysign(M_PI_2, -y));
    }
    if (x == 1 && ay == 0) return CMPLX(NAN, y); /* a pole */
    if (x == 1 && ay < SMALL_ROOT) return CMPLX(-log(sqrt(ay) / sqrt(hypot(ay, 2))), copysign(atan2(2, -ay) / 2, y));
    return CMPLX(log1p(4 * x / ((1 - x) * (1 - x) + ay * ay)) / 4, -atan2(-2 * y, (1 - x) * (1 + x) - ay * ay) / 2);
}

static double complex arc_tan(double complex z) { return over_i(arc_tanh(times_i(z))); }

static double complex tangent_h(double complex z) {
    double x = creal(z), y = cimag(z);
    if (fabs(x) > LARGE_LOG) return CMPLX(copysign(1, x), 4 * sin(y) * cos(y) * exp(-2 * fabs(x)));
    double tx = tanh(x), ty = tan(y), cx = 1 / cosh(x), product = tx * ty, divisor = 1 + product * product;
    return CMPLX(tx * (1 + ty * ty) / divisor, ty / divisor * cx * cx);
}

static double complex tangent(double complex z) { return over_i(tangent_h(times_i(z))); }

/* The C library says that tanh(0 + nan j) has a real part of 0. */
static double complex tangent_h_beyond(double complex z) {
    return isfinite(creal(z)) && isnan(cimag(z)) ? CMPLX(NAN, NAN) : ctanh(z);
}

static double complex tangent_beyond(double complex z) { return over_i(tangent_h_beyond(times_i(z))); }

/* --- the functions --- */

#define UNARY(name, function) \
    static TsrStatus cmath_##name(Value *out, const CallArgs *args) { \
        double complex z; \
        TSR_TRY(argument(&z, args->values[0])); \
        return checked(out, z, function(z)); \
    }

/* ours of finite numbers, the library's of others */
#define FINITE(name, ours, library) \
    static double complex name##_of(double complex z) { return is_finite(z) ? ours(z) : library(z); } \
    UNARY(name, name##_of)

FINITE(sqrt, square_root, csqrt)
UNARY(exp, cexp)
UNARY(sin, csin)
UNARY(cos, ccos)
FINITE(tan, tangent, tangent_beyond)
FINITE(asin, arc_sin, casin)
FINITE(acos, arc_cos, cacos)
FINITE(atan, arc_tan, catan)
UNARY(sinh, csinh)
UNARY(cosh, ccosh)
FINITE(tanh, tangent_h, tangent_h_beyond)
FINITE(asinh, arc_sinh, casinh)
FINITE(acosh, arc_cosh, cacosh)
FINITE(atanh, arc_tanh, catanh)

static double complex log_of(double complex z) { return is_finite(z) ? logarithm(z) : clog(z); }

/* Of 0 an error; not so under a base that has a logarithm, where Python divides what log(0) gave. */
static TsrStatus cmath_log(Value *out, const CallArgs *args) {
    double complex z, base;
    TSR_TRY(argument(&z, args->values[0]));
    if (args->count == 1 && z == 0) return tsr_error(TSR_VALUE_ERROR, "math domain error");
    double complex result = log_of(z);
    if (args->count == 1) return complex_new(out, creal(result), cimag(result));
    TSR_TRY(argument(&base, args->values[1]));
    if (base == 0 || base == 1) return tsr_error(TSR_VALUE_ERROR, "math domain error");
    double complex below = log_of(base);
    Value of, by;
    TSR_TRY(complex_new(&of, creal(result), cimag(result)));
    TsrStatus status = complex_new(&by, creal(below), cimag(below));
    if (status == TSR_OK) {
        status = value_binary(out, OP_DIV, of, by);
        value_release(by);
    }
    value_release(of);
    return status;
}

static TsrStatus cmath_log10(Value *out, const CallArgs *args) {
    double complex z;
    TSR_TRY(argument(&z, args->values[0]));
    if (z == 0) return tsr_error(TSR_VALUE_ERROR, "math domain error");
    double complex result = log_of(z);
    return checked(out, z, CMPLX(creal(result) / M_LN10, cimag(result) / M_LN10));
}

static TsrStatus cmath_phase(Value *out, const CallArgs *args) {
    double complex z;
    TSR_TRY(argument(&z, args->values[0]));
    *out = value_float(carg(z));
    return TSR_OK;
}

static TsrStatus cmath_polar(Value *out, const CallArgs *args) {
    double complex z;
    TSR_TRY(argument(&z, args->values[0]));
    return tuple_new_move(out, (Value[]){value_float(cabs(z)), value_float(carg(z))}, 2);
}

/* r (cos phi + j sin phi), where a length of 0 has no angle and an angle of 0 no second part. */
static double complex from_polar(double r, double phi) {
    if (phi == 0) return CMPLX(r, isnan(r) ? phi : copysign(1, r) * phi);
    if (isfinite(phi)) return CMPLX(r * cos(phi), r * sin(phi));
    if (r == 0) return 0;
    return CMPLX(isinf(r) ? INFINITY : NAN, NAN);
}

static TsrStatus cmath_rect(Value *out, const CallArgs *args) {
    double r, phi;
    TSR_TRY(value_to_double(&r, args->values[0]));
    TSR_TRY(value_to_double(&phi, args->values[1]));
    if (isinf(phi) && !isnan(r) && r != 0) return tsr_error(TSR_VALUE_ERROR, "math domain error");
    double complex z = from_polar(r, phi);
    return complex_new(out, creal(z), cimag(z));
}

#define TEST(name, expression) \
    static TsrStatus cmath_##name(Value *out, const CallArgs *args) { \
        double complex z; \
        TSR_TRY(argument(&z, args->values[0])); \
        double re = creal(z), im = cimag(z); \
        *out = value_bool(expression); \
        return TSR_OK; \
    }

TEST(isnan, isnan(re) || isnan(im))
TEST(isinf, isinf(re) || isinf(im))
TEST(isfinite, isfinite(re) && isfinite(im))

static TsrStatus cmath_isclose(Value *out, const CallArgs *args) {
    static const char *const names[] = {"a", "b", "rel_tol", "abs_tol"};
    static const ArgSpec spec = {"isclose", names, 4, 0, 2, 2};
    Value v[4];
    double complex a, b;
    double rel = 1e-9, absolute = 0;
    TSR_TRY(args_parse(v, args, 0, &spec));
    TSR_TRY(argument(&a, v[0]));
    TSR_TRY(argument(&b, v[1]));
    if (v[2].tag != V_UNBOUND) TSR_TRY(value_to_double(&rel, v[2]));
    if (v[3].tag != V_UNBOUND) TSR_TRY(value_to_double(&absolute, v[3]));
    double distance = cabs(a - b), largest = fmax(cabs(a), cabs(b));
    *out = value_bool(a == b || (isfinite(largest) && (distance <= rel * largest || distance <= absolute)));
    return TSR_OK;
}

#define ONE(name, doc) \
    { #name, cmath_##name, ARGS_ONE, 1, 1, "(z, /)", doc }

static const Method functions[] = {
    ONE(sqrt, "Square root."),
    ONE(exp, "e to the power z."),
    ONE(sin, "Sine."),
    ONE(cos, "Cosine."),
    ONE(tan, "Tangent."),
    ONE(asin, "Arc sine."),
    ONE(acos, "Arc cosine."),
    ONE(atan, "Arc tangent."),
    ONE(sinh, "Hyperbolic sine."),
    ONE(cosh, "Hyperbolic cosine."),
    ONE(tanh, "Hyperbolic tangent."),
    ONE(asinh, "Inverse hyperbolic sine."),
    ONE(acosh, "Inverse hyperbolic cosine."),
    ONE(atanh, "Inverse hyperbolic tangent."),
    ONE(log10, "Logarithm to base 10."),
    ONE(phase, "Angle in (-pi, pi]."),
    ONE(polar, "(length, angle)."),
    ONE(isnan, "Whether a part is nan."),
    ONE(isinf, "Whether a part is infinite."),
    ONE(isfinite, "Whether both parts are finite."),
    {"log", cmath_log, ARGS_RANGE, 1, 2, "(z[, base])", "Logarithm, natural or to a base."},
    {"rect", cmath_rect, ARGS_RANGE, 2, 2, "(r, phi, /)", "Complex number of a length and an angle."},
    {"isclose", cmath_isclose, ARGS_ANY, 2, 2, "(a, b, *, rel_tol=1e-09, abs_tol=0.0)",
     "Whether two numbers are close."},
    {0},
};

static TsrStatus fill(Module *module) {
    Value z;
    TSR_TRY(ns_add_math_constants(module));
    TSR_TRY(complex_new(&z, 0, INFINITY));
    TSR_TRY(module_add_move(module, "infj", z));
    TSR_TRY(complex_new(&z, 0, NAN));
    return module_add_move(module, "nanj", z);
}

const NsModule ns_cmath = {"cmath", "Mathematics of complex numbers, as in Python.", functions, fill, NULL};
