/* ns_cmath.c: Python's cmath over the C library's complex functions. */
#include "ns.h"

#include <complex.h>
#include <math.h>

#include "args.h"
#include "num_obj.h"
#include "seq_obj.h"

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

static TsrStatus checked(Value *out, double complex z, double complex result) {
    bool finite = isfinite(creal(z)) && isfinite(cimag(z));
    if (finite && (isnan(creal(result)) || isnan(cimag(result)))) return tsr_error(TSR_VALUE_ERROR, "math domain error");
    if (finite && (isinf(creal(result)) || isinf(cimag(result)))) return tsr_error(TSR_OVERFLOW_ERROR, "math range error");
    return complex_new(out, creal(result), cimag(result));
}

#define UNARY(name, function) \
    static TsrStatus cmath_##name(Value *out, const CallArgs *args) { \
        double complex z; \
        TSR_TRY(argument(&z, args->values[0])); \
        return checked(out, z, function(z)); \
    }

UNARY(sqrt, csqrt)
UNARY(exp, cexp)
UNARY(sin, csin)
UNARY(cos, ccos)
UNARY(tan, ctan)
UNARY(asin, casin)
UNARY(acos, cacos)
UNARY(atan, catan)
UNARY(sinh, csinh)
UNARY(cosh, ccosh)
UNARY(tanh, ctanh)
UNARY(asinh, casinh)
UNARY(acosh, cacosh)
UNARY(atanh, catanh)

static TsrStatus cmath_log(Value *out, const CallArgs *args) {
    double complex z, base;
    TSR_TRY(argument(&z, args->values[0]));
    if (z == 0) return tsr_error(TSR_VALUE_ERROR, "math domain error");
    double complex result = clog(z);
    if (args->count == 2) {
        TSR_TRY(argument(&base, args->values[1]));
        if (base == 0) return tsr_error(TSR_VALUE_ERROR, "math domain error");
        result /= clog(base);
    }
    return checked(out, z, result);
}

static TsrStatus cmath_log10(Value *out, const CallArgs *args) {
    double complex z;
    TSR_TRY(argument(&z, args->values[0]));
    if (z == 0) return tsr_error(TSR_VALUE_ERROR, "math domain error");
    return checked(out, z, clog(z) / M_LN10);
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

static TsrStatus cmath_rect(Value *out, const CallArgs *args) {
    double r, phi;
    TSR_TRY(value_to_double(&r, args->values[0]));
    TSR_TRY(value_to_double(&phi, args->values[1]));
    return complex_new(out, r * cos(phi), r * sin(phi));
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

#define ONE(name, doc) {#name, cmath_##name, ARGS_ONE, 1, 1, "(z, /)", doc}

static const Method functions[] = {
    ONE(sqrt, "Square root."), ONE(exp, "e to the power z."), ONE(sin, "Sine."), ONE(cos, "Cosine."), ONE(tan, "Tangent."), ONE(asin, "Arc sine."),
    ONE(acos, "Arc cosine."), ONE(atan, "Arc tangent."), ONE(sinh, "Hyperbolic sine."), ONE(cosh, "Hyperbolic cosine."), ONE(tanh, "Hyperbolic tangent."),
    ONE(asinh, "Inverse hyperbolic sine."), ONE(acosh, "Inverse hyperbolic cosine."), ONE(atanh, "Inverse hyperbolic tangent."), ONE(log10, "Logarithm to base 10."),
    ONE(phase, "Angle in (-pi, pi]."), ONE(polar, "(length, angle)."), ONE(isnan, "Whether a part is nan."), ONE(isinf, "Whether a part is infinite."),
    ONE(isfinite, "Whether both parts are finite."),
    {"log", cmath_log, ARGS_RANGE, 1, 2, "(z[, base])", "Logarithm, natural or to a base."},
    {"rect", cmath_rect, ARGS_RANGE, 2, 2, "(r, phi, /)", "Complex number of a length and an angle."},
    {"isclose", cmath_isclose, ARGS_ANY, 2, 2, "(a, b, *, rel_tol=1e-09, abs_tol=0.0)", "Whether two numbers are close."},
    {0},
};

TsrStatus ns_cmath_new(Value *out) {
    static const struct {
        const char *name;
        double value;
    } constants[] = {{"pi", M_PI}, {"e", M_E}, {"tau", 2 * M_PI}, {"inf", INFINITY}, {"nan", NAN}};
    Value module, z;
    TSR_TRY(module_new(&module, "cmath", "Mathematics of complex numbers, as in Python."));
    TsrStatus status = module_add_functions(value_as_module(module), functions);
    for (size_t i = 0; i < TSR_COUNTOF(constants) && status == TSR_OK; i++) status = module_add(value_as_module(module), constants[i].name, value_float(constants[i].value));
    if (status == TSR_OK && (status = complex_new(&z, 0, INFINITY)) == TSR_OK) status = module_add_move(value_as_module(module), "infj", z);
    if (status == TSR_OK && (status = complex_new(&z, 0, NAN)) == TSR_OK) status = module_add_move(value_as_module(module), "nanj", z);
    if (status == TSR_OK) *out = module;
    else value_release(module);
    return status;
}
