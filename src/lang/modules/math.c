/* math.c: Python's math. The C library computes; the errors are CPython's. */
#include "modules.h"

#include <errno.h>
#include <float.h>
#include <math.h>
#include <string.h>

#include "lang/object/args.h"
#include "lang/types/bigint.h"
#include "lang/types/numbers.h"
#include "lang/types/sequences.h"

static TsrStatus domain_error(void) { return tsr_error(TSR_VALUE_ERROR, "math domain error"); }
static TsrStatus range_error(void) { return tsr_error(TSR_OVERFLOW_ERROR, "math range error"); }

/* nan out of a number is a domain error; inf out of a finite number is a range error when the function can overflow. */
static TsrStatus checked(Value *out, double x, double result, bool can_overflow) {
    if (isnan(result) && !isnan(x)) return domain_error();
    if (isinf(result) && isfinite(x)) return can_overflow ? range_error() : domain_error();
    *out = value_float(result);
    return TSR_OK;
}

#define UNARY(name, expression, can_overflow) \
    static TsrStatus math_##name(Value *out, const CallArgs *args) { \
        double x; \
        TSR_TRY(value_to_double(&x, args->values[0])); \
        return checked(out, x, expression, can_overflow); \
    }

UNARY(sqrt, sqrt(x), false)
UNARY(cbrt, cbrt(x), false)
UNARY(exp, exp(x), true)
UNARY(exp2, exp2(x), true)
UNARY(expm1, expm1(x), true)
UNARY(log1p, log1p(x), false)
UNARY(sin, sin(x), false)
UNARY(cos, cos(x), false)
UNARY(tan, tan(x), false)
UNARY(asin, asin(x), false)
UNARY(acos, acos(x), false)
UNARY(atan, atan(x), false)
UNARY(sinh, sinh(x), true)
UNARY(cosh, cosh(x), true)
UNARY(tanh, tanh(x), false)
UNARY(asinh, asinh(x), false)
UNARY(acosh, acosh(x), false)
UNARY(atanh, atanh(x), false)
UNARY(fabs, fabs(x), false)
UNARY(erf, erf(x), false)
UNARY(erfc, erfc(x), false)
UNARY(degrees, x *(180.0 / M_PI), false)
UNARY(radians, x *(M_PI / 180.0), false)

/* Lanczos' approximation with g = 6.0246..., N = 13 (the coefficients Boost computed), which CPython uses too: other
 * ways differ in the last digit. */
enum { LANCZOS_N = 13 };
static const double lanczos_g = 6.024680040776729583740234375;
static const double lanczos_above[LANCZOS_N] = {
    23531376880.410759688572007674451636754734846804940, 42919803642.649098768957899047001988850926355848959,
    35711959237.355668049440185451547166705960488635843, 17921034426.037209699919755754458931112671403265390,
    6039542586.3520280050642916443072979210699388420708, 1439720407.3117216736632230727949123939715485786372,
    248874557.86205415651146038641322942321632125127801, 31426415.585400194380614231628318205362874684987640,
    2876370.6289353724412254090516208496135991145378768, 186056.26539522349504029498971604569928220784236328,
    8071.6720023658162106380029022722506138218516325024, 210.82427775157934587250973392071336271166969580291,
    2.5066282746310002701649081771338373386264310793408,
};
static const double lanczos_below[LANCZOS_N] = {0.0,        39916800.0, 120543840.0, 150917976.0, 105258076.0,
                                                45995730.0, 13339535.0, 2637558.0,   357423.0,    32670.0,
                                                1925.0,     66.0,       1.0};

static double lanczos_sum(double x) {
    double above = 0, below = 0;
    if (x < 5.0) {
        for (int i = LANCZOS_N - 1; i >= 0; i--) {
            above = above * x + lanczos_above[i];
            below = below * x + lanczos_below[i];
        }
    } else {
        for (int i = 0; i < LANCZOS_N; i++) {
            above = above / x + lanczos_above[i];
            below = below / x + lanczos_below[i];
        }
    }
    return above / below;
}

/* sin(pi x), exact at the zeros. */
static double sin_pi(double x) {
    double y = fmod(fabs(x), 2.0), r;
    switch ((int)round(2.0 * y)) {
    case 0: r = sin(M_PI * y); break;
    case 1: r = cos(M_PI * (y - 0.5)); break;
    case 2: r = sin(M_PI * (1.0 - y)); break;
    case 3: r = -cos(M_PI * (y - 1.5)); break;
    default: r = sin(M_PI * (y - 2.0)); break;
    }
    return copysign(1.0, x) * r;
}

static double gamma_of(double x) {
    static const double whole[] = {1.0,
                                   1.0,
                                   2.0,
                                   6.0,
                                   24.0,
                                   120.0,
                                   720.0,
                                   5040.0,
                                   40320.0,
                                   362880.0,
                                   3628800.0,
                                   39916800.0,
                                   479001600.0,
                                   6227020800.0,
                                   87178291200.0,
                                   1307674368000.0,
                                   20922789888000.0,
                                   355687428096000.0,
                                   6402373705728000.0,
                                   121645100408832000.0,
                                   2432902008176640000.0,
                                   51090942171709440000.0,
                                   1124000727777607680000.0};
    double size = fabs(x), r;
    if (x == floor(x) && x > 0 && x <= 23.0) return whole[(int)x - 1];
    if (size < 1e-20) return 1.0 / x;
    if (size > 200.0) return x < 0 ? 0.0 / sin_pi(x) : HUGE_VAL;
    double y = size + lanczos_g - 0.5, z;
    if (size > lanczos_g - 0.5) z = (y - size) - (lanczos_g - 0.5);
    else z = (y - (lanczos_g - 0.5)) - size;
    z = z * lanczos_g / y;
    if (x < 0.0) {
        r = -M_PI / sin_pi(size) / size * exp(y) / lanczos_sum(size);
        r -= z * r;
        return size < 140.0 ? r / pow(y, size - 0.5) : r / pow(y, size / 2.0 - 0.25) / pow(y, size / 2.0 - 0.25);
    }
    r = lanczos_sum(size) / exp(y);
    r += z * r;
    return size < 140.0 ? r * pow(y, size - 0.5) : r * pow(y, size / 2.0 - 0.25) * pow(y, size / 2.0 - 0.25);
}

static double log_gamma_of(double x) {
    if (!isfinite(x)) return isnan(x) ? x : HUGE_VAL;
    if (x == floor(x) && x <= 2.0) return 0.0;
    double size = fabs(x);
    if (size < 1e-20) return -log(size);
    double r = log(lanczos_sum(size)) - lanczos_g;
    r += (size - 0.5) * (log(size + lanczos_g - 0.5) - 1);
    return x < 0.0 ? log(M_PI) - log(fabs(sin_pi(size))) - log(size) - r : r;
}

static TsrStatus math_gamma(Value *out, const CallArgs *args) {
    double x;
    TSR_TRY(value_to_double(&x, args->values[0]));
    if ((x == 0 || (x < 0 && x == floor(x))) && !isnan(x)) return domain_error(); /* the poles, and -inf */
    return checked(out, x, gamma_of(x), true);
}

static TsrStatus math_lgamma(Value *out, const CallArgs *args) {
    double x;
    TSR_TRY(value_to_double(&x, args->values[0]));
    if (x <= 0 && x == floor(x) && isfinite(x)) return domain_error();
    *out = value_float(log_gamma_of(x));
    return TSR_OK;
}

/* Natural logarithm of any int or float, in its full range: x = m * 2^shift. */
static TsrStatus log_of(double *out, Value v, double (*log_fn)(double), double log_of_2) {
    double x;
    int64_t shift = 0;
    if (value_is_bigint(v) && int_sign(v) > 0 && int_bit_length(v) > 1000) {
        Value count, top;
        shift = int_bit_length(v) - 64;
        count = value_int(shift);
        TSR_TRY(value_binary(&top, OP_RSHIFT, v, count));
        TsrStatus status = int_to_double(&x, top);
        value_release(top);
        TSR_TRY(status);
    } else {
        TSR_TRY(value_to_double(&x, v));
    }
    if (x <= 0) return domain_error();
    *out = log_fn(x) + (double)shift * log_of_2;
    return TSR_OK;
}

static TsrStatus math_log(Value *out, const CallArgs *args) {
    double x, base;
    TSR_TRY(args_no_keywords(args, "math.log"));
    if (args->count < 1 || args->count > 2) return tsr_error(TSR_TYPE_ERROR, "math.log requires 1 to 2 arguments");
    TSR_TRY(log_of(&x, args->values[0], log, M_LN2));
    if (args->count == 2) {
        TSR_TRY(log_of(&base, args->values[1], log, M_LN2));
        if (base == 0) return tsr_error(TSR_ZERO_DIVISION_ERROR, "float division by zero");
        x /= base;
    }
    *out = value_float(x);
    return TSR_OK;
}

static TsrStatus math_log2(Value *out, const CallArgs *args) {
    double x;
    TSR_TRY(log_of(&x, args->values[0], log2, 1.0));
    *out = value_float(x);
    return TSR_OK;
}

static TsrStatus math_log10(Value *out, const CallArgs *args) {
    double x;
    TSR_TRY(log_of(&x, args->values[0], log10, 0.30102999566398119521));
    *out = value_float(x);
    return TSR_OK;
}

static TsrStatus two_doubles(const CallArgs *args, double *a, double *b) {
    TSR_TRY(value_to_double(a, args->values[0]));
    return value_to_double(b, args->values[1]);
}

#define BINARY(name, expression) \
    static TsrStatus math_##name(Value *out, const CallArgs *args) { \
        double a, b; \
        TSR_TRY(two_doubles(args, &a, &b)); \
        *out = value_float(expression); \
        return TSR_OK; \
    }

BINARY(atan2, atan2(a, b))
BINARY(copysign, copysign(a, b))
BINARY(nextafter, nextafter(a, b))

static TsrStatus math_fmod(Value *out, const CallArgs *args) {
    double a, b;
    TSR_TRY(two_doubles(args, &a, &b));
    if ((isinf(a) && !isnan(b)) || (b == 0 && !isnan(a))) return domain_error();
    *out = value_float(fmod(a, b));
    return TSR_OK;
}

static TsrStatus math_remainder(Value *out, const CallArgs *args) {
    double a, b;
    TSR_TRY(two_doubles(args, &a, &b));
    if ((isinf(a) && !isnan(b)) || (b == 0 && !isnan(a))) return domain_error();
    *out = value_float(remainder(a, b));
    return TSR_OK;
}

static TsrStatus math_pow(Value *out, const CallArgs *args) {
    double a, b;
    TSR_TRY(two_doubles(args, &a, &b));
    double result = pow(a, b);
    if (isfinite(a) && isfinite(b)) {
        if (isnan(result) || (a == 0 && b < 0)) return domain_error();
        if (isinf(result)) return range_error();
    }
    *out = value_float(result);
    return TSR_OK;
}

static TsrStatus math_ulp(Value *out, const CallArgs *args) {
    double x;
    TSR_TRY(value_to_double(&x, args->values[0]));
    x = fabs(x);
    *out = value_float(isnan(x) || isinf(x) ? x : x == DBL_MAX ? x - nextafter(x, 0) : nextafter(x, INFINITY) - x);
    return TSR_OK;
}

static TsrStatus math_hypot(Value *out, const CallArgs *args) {
    double x, largest = 0;
    bool nan = false;
    for (int i = 0; i < args->count; i++) {
        TSR_TRY(value_to_double(&x, args->values[i]));
        nan |= isnan(x);
        largest = fmax(largest, fabs(x));
    }
    long double sum = 0;
    for (int i = 0; i < args->count && largest > 0 && isfinite(largest); i++) {
        TSR_TRY(value_to_double(&x, args->values[i]));
        long double scaled = (long double)x / largest;
        sum += scaled * scaled;
    }
    *out = value_float(isinf(largest) ? INFINITY : nan ? NAN : (double)(largest * sqrtl(sum)));
    return TSR_OK;
}

static TsrStatus distance(Value *out, const Tuple *p, const Tuple *q) {
    long double sum = 0;
    if (p->count != q->count) return tsr_error(TSR_VALUE_ERROR, "both points must have the same number of dimensions");
    for (int64_t i = 0; i < p->count; i++) {
        double a, b;
        TSR_TRY(value_to_double(&a, p->items[i]));
        TSR_TRY(value_to_double(&b, q->items[i]));
        sum += ((long double)a - b) * ((long double)a - b);
    }
    *out = value_float((double)sqrtl(sum));
    return TSR_OK;
}

static TsrStatus math_dist(Value *out, const CallArgs *args) {
    Value p, q;
    TSR_TRY(tuple_new_iterable(&p, args->values[0]));
    TsrStatus status = tuple_new_iterable(&q, args->values[1]);
    if (status == TSR_OK) {
        status = distance(out, value_as_tuple(p), value_as_tuple(q));
        value_release(q);
    }
    value_release(p);
    return status;
}

#define TEST(name, expression) \
    static TsrStatus math_##name(Value *out, const CallArgs *args) { \
        double x; \
        TSR_TRY(value_to_double(&x, args->values[0])); \
        *out = value_bool(expression); \
        return TSR_OK; \
    }

TEST(isnan, isnan(x))
TEST(isinf, isinf(x))
TEST(isfinite, isfinite(x))

static TsrStatus math_isclose(Value *out, const CallArgs *args) {
    static const char *const names[] = {"a", "b", "rel_tol", "abs_tol"};
    static const ArgSpec spec = {"isclose", names, 4, 0, 2, 2};
    Value v[4];
    double a, b, rel = 1e-9, abs_tol = 0;
    TSR_TRY(args_parse(v, args, 0, &spec));
    TSR_TRY(value_to_double(&a, v[0]));
    TSR_TRY(value_to_double(&b, v[1]));
    if (v[2].tag != V_UNBOUND) TSR_TRY(value_to_double(&rel, v[2]));
    if (v[3].tag != V_UNBOUND) TSR_TRY(value_to_double(&abs_tol, v[3]));
    if (rel < 0 || abs_tol < 0) return tsr_error(TSR_VALUE_ERROR, "tolerances must be non-negative");
    double diff = fabs(b - a);
    bool close =
        a == b || (!isinf(a) && !isinf(b) && (diff <= fabs(rel * b) || diff <= fabs(rel * a) || diff <= abs_tol));
    *out = value_bool(close);
    return TSR_OK;
}

/* floor, ceil and trunc: an int of any size; ints are themselves. */
static TsrStatus rounded(Value *out, Value v, double (*round_fn)(double)) {
    double x;
    if (value_is_int(v)) {
        *out = v.tag == V_BOOL ? value_int(v.b) : value_retain(v);
        return TSR_OK;
    }
    TSR_TRY(value_to_double(&x, v));
    return int_new_double(out, round_fn(x));
}

static TsrStatus math_floor(Value *out, const CallArgs *args) { return rounded(out, args->values[0], floor); }
static TsrStatus math_ceil(Value *out, const CallArgs *args) { return rounded(out, args->values[0], ceil); }

static TsrStatus math_trunc(Value *out, const CallArgs *args) {
    Value v = args->values[0];
    if (!value_is_int(v) && v.tag != V_FLOAT)
        return tsr_error(TSR_TYPE_ERROR, "type %s doesn't define __trunc__ method", value_type_name(v));
    return rounded(out, v, trunc);
}

static TsrStatus pair(Value *out, Value a, Value b) { return tuple_new_move(out, (Value[]){a, b}, 2); }

static TsrStatus math_modf(Value *out, const CallArgs *args) {
    double x, whole;
    TSR_TRY(value_to_double(&x, args->values[0]));
    double part = modf(x, &whole);
    return pair(out, value_float(part), value_float(whole));
}

static TsrStatus math_frexp(Value *out, const CallArgs *args) {
    double x;
    int exponent = 0;
    TSR_TRY(value_to_double(&x, args->values[0]));
    double mantissa = isfinite(x) ? frexp(x, &exponent) : x;
    return pair(out, value_float(mantissa), value_int(exponent));
}

static TsrStatus math_ldexp(Value *out, const CallArgs *args) {
    double x;
    int64_t e;
    TSR_TRY(value_to_double(&x, args->values[0]));
    if (!value_is_int(args->values[1]))
        return tsr_error(TSR_TYPE_ERROR, "Expected an int as second argument to ldexp.");
    TSR_TRY(value_to_index_clamped(&e, args->values[1]));
    double result = ldexp(x, (int)TSR_MAX(-100000, TSR_MIN(100000, e)));
    if (isinf(result) && isfinite(x)) return range_error();
    *out = value_float(result);
    return TSR_OK;
}

/* ---- whole numbers ---- */

/* *acc becomes *acc op operand; on failure it is released. */
static TsrStatus update(Value *acc, BinaryOp op, Value operand) {
    Value result;
    TsrStatus status = value_binary(&result, op, *acc, operand);
    if (status == TSR_OK) value_set_move(acc, result);
    else value_clear(acc);
    return status;
}

static TsrStatus multiply_by(Value *acc, Value factor) { return update(acc, OP_MUL, factor); }

/* first * (first + 1) * ... * last by halves, so that the factors stay of like size. */
static TsrStatus range_product(Value *out, int64_t first, int64_t last) {
    if (last - first < 16) {
        *out = value_int(1);
        for (int64_t i = first; i <= last; i++) TSR_TRY(multiply_by(out, value_int(i)));
        return TSR_OK;
    }
    Value high;
    int64_t middle = first + (last - first) / 2;
    TSR_TRY(tsr_interrupt_check());
    TSR_TRY(range_product(out, first, middle));
    TsrStatus status = range_product(&high, middle + 1, last);
    if (status == TSR_OK) {
        status = multiply_by(out, high);
        value_release(high);
    }
    if (status != TSR_OK) value_release(*out);
    return status;
}

static TsrStatus math_factorial(Value *out, const CallArgs *args) {
    Value whole;
    int64_t n;
    TSR_TRY(value_new_index(&whole, args->values[0]));
    bool negative = int_sign(whole) < 0, fits = int_fits_int64(whole, &n);
    value_release(whole);
    if (negative) return tsr_error(TSR_VALUE_ERROR, "factorial() not defined for negative values");
    if (!fits) return tsr_error(TSR_OVERFLOW_ERROR, "factorial() argument should not exceed 9223372036854775807");
    if (n > 10000000) return tsr_error(TSR_OVERFLOW_ERROR, "factorial() argument should not exceed 10000000");
    return range_product(out, 1, n);
}

/* An n past int64 has no message of its own before every argument was seen: *fits says so. */
static TsrStatus count_of(int64_t *out, bool *negative, bool *fits, Value v) {
    Value whole;
    TSR_TRY(value_new_index(&whole, v));
    *negative = int_sign(whole) < 0;
    *fits = int_fits_int64(whole, out);
    value_release(whole);
    return TSR_OK;
}

static TsrStatus two_counts(const CallArgs *args, int64_t *n, int64_t *k) {
    static const char *const names[] = {"n", "k"};
    int64_t counts[2];
    bool negative[2] = {false}, fits[2] = {false};
    for (int i = 0; i < args->count; i++) TSR_TRY(count_of(&counts[i], &negative[i], &fits[i], args->values[i]));
    for (int i = 0; i < args->count; i++) {
        if (negative[i]) return tsr_error(TSR_VALUE_ERROR, "%s must be a non-negative integer", names[i]);
    }
    if (!fits[0]) return tsr_error(TSR_OVERFLOW_ERROR, "n must not exceed 9223372036854775807");
    *n = counts[0];
    *k = args->count < 2 ? *n : fits[1] ? counts[1] : INT64_MAX;
    return TSR_OK;
}

static TsrStatus math_comb(Value *out, const CallArgs *args) {
    int64_t n, k;
    TSR_TRY(two_counts(args, &n, &k));
    if (k > n) {
        *out = value_int(0);
        return TSR_OK;
    }
    k = TSR_MIN(k, n - k);
    *out = value_int(1);
    for (int64_t i = 1; i <= k; i++) { /* each step divides exactly */
        TSR_TRY(multiply_by(out, value_int(n - k + i)));
        TSR_TRY(update(out, OP_FLOORDIV, value_int(i)));
        if (tsr_interrupt_flag != 0) {
            value_clear(out);
            return tsr_interrupt_raise();
        }
    }
    return TSR_OK;
}

static TsrStatus math_perm(Value *out, const CallArgs *args) {
    int64_t n, k;
    CallArgs given = *args;
    if (given.count == 2 && given.values[1].tag == V_NONE) given.count = 1;
    TSR_TRY(two_counts(&given, &n, &k));
    if (k > n) {
        *out = value_int(0);
        return TSR_OK;
    }
    return range_product(out, n - k + 1, n);
}

static TsrStatus gcd_of(Value *out, Value a, Value b) {
    Value x = value_retain(a), y = value_retain(b), rest;
    while (int_sign(y) != 0) {
        TsrStatus status = tsr_interrupt_check();
        if (status == TSR_OK) status = value_binary(&rest, OP_MOD, x, y);
        value_release(x);
        if (status != TSR_OK) {
            value_release(y);
            return status;
        }
        x = y;
        y = rest;
    }
    value_release(y);
    if (x.tag == V_BOOL) x = value_int(x.b);
    if (int_sign(x) >= 0) {
        *out = x;
        return TSR_OK;
    }
    TsrStatus status = int_negate(out, x);
    value_release(x);
    return status;
}

/* |a / gcd(a, b) * b|, 0 when one is 0. */
static TsrStatus lcm_of(Value *out, Value a, Value b) {
    Value divisor, part, product;
    if (int_sign(a) == 0 || int_sign(b) == 0) return *out = value_int(0), TSR_OK;
    TSR_TRY(gcd_of(&divisor, a, b));
    TsrStatus status = value_binary(&part, OP_FLOORDIV, a, divisor);
    value_release(divisor);
    TSR_TRY(status);
    status = value_binary(&product, OP_MUL, part, b);
    value_release(part);
    TSR_TRY(status);
    if (int_sign(product) >= 0) return *out = product, TSR_OK;
    status = int_negate(out, product);
    value_release(product);
    return status;
}

/* Joins all arguments, from `start` on. */
static TsrStatus join_ints(Value *out, int64_t start, const CallArgs *args, TsrStatus (*join)(Value *, Value, Value)) {
    TsrStatus status = TSR_OK;
    *out = value_int(start);
    for (int i = 0; i < args->count && status == TSR_OK; i++) {
        Value whole, next;
        if ((status = value_new_index(&whole, args->values[i])) != TSR_OK) break;
        if ((status = join(&next, *out, whole)) == TSR_OK) value_set_move(out, next);
        value_release(whole);
    }
    if (status != TSR_OK) value_clear(out);
    return status;
}

static TsrStatus math_gcd(Value *out, const CallArgs *args) { return join_ints(out, 0, args, gcd_of); }
static TsrStatus math_lcm(Value *out, const CallArgs *args) { return join_ints(out, 1, args, lcm_of); }

static TsrStatus math_isqrt(Value *out, const CallArgs *args) {
    Value whole;
    mp_int n, root;
    TSR_TRY(value_new_index(&whole, args->values[0]));
    TsrStatus status =
        int_sign(whole) < 0 ? tsr_error(TSR_VALUE_ERROR, "isqrt() argument must be nonnegative") : int_to_mp(&n, whole);
    value_release(whole);
    TSR_TRY(status);
    if (mp_init(&root) != MP_OKAY) {
        mp_clear(&n);
        return mem_error();
    }
    status = bigint_sqrt(&root, &n);
    mp_clear(&n);
    if (status == TSR_OK) return int_new_mp_move(out, &root);
    mp_clear(&root);
    return status;
}

static TsrStatus multiply_item(Value item, void *product) { return multiply_by(product, item); }

static TsrStatus math_prod(Value *out, const CallArgs *args) {
    static const char *const names[] = {"iterable", "start"};
    static const ArgSpec spec = {"prod", names, 2, 1, 1, 1};
    Value v[2];
    TSR_TRY(args_parse(v, args, 0, &spec));
    Value product = v[1].tag != V_UNBOUND ? value_retain(v[1]) : value_int(1);
    TsrStatus status = value_each(v[0], multiply_item, &product, NULL);
    return value_end_move(out, status, product);
}

/* Exact sum of floats: partial sums that do not overlap (J. Shewchuk, "Adaptive precision floating-point arithmetic",
 * 1997). */
enum { MAX_PARTIALS = 64 };

typedef struct Sum {
    double partials[MAX_PARTIALS];
    int n;
    double special, infinities; /* the sums of nan and infinities, and of infinities */
} Sum;

static void add_finite(Sum *s, double x) {
    int kept = 0;
    for (int i = 0; i < s->n; i++) {
        double y = s->partials[i];
        if (fabs(x) < fabs(y)) {
            double t = x;
            x = y;
            y = t;
        }
        double high = x + y, low = y - (high - x);
        if (low != 0) s->partials[kept++] = low;
        x = high;
    }
    if (kept < MAX_PARTIALS) s->partials[kept++] = x;
    s->n = kept;
}

static TsrStatus add_number(Value item, void *context) {
    Sum *s = context;
    double x;
    TSR_TRY(value_to_double(&x, item));
    if (isfinite(x)) add_finite(s, x);
    else s->special += x;
    if (isinf(x)) s->infinities += x;
    return TSR_OK;
}

static double total_of(const double *partials, int n) {
    double high = 0, low = 0;
    while (n > 0) {
        double x = high, y = partials[--n];
        high = x + y;
        low = y - (high - x);
        if (low != 0) break;
    }
    /* half-way cases: the rest decides the rounding */
    if (n > 0 && ((low < 0 && partials[n - 1] < 0) || (low > 0 && partials[n - 1] > 0))) {
        double y = low * 2, x = high + y;
        if (y == x - high) high = x;
    }
    return high;
}

static TsrStatus math_fsum(Value *out, const CallArgs *args) {
    Sum s = {.n = 0};
    TSR_TRY(value_each(args->values[0], add_number, &s, NULL));
    if (s.special != 0 || isnan(s.special)) {
        if (isnan(s.infinities)) return tsr_error(TSR_VALUE_ERROR, "-inf + inf in fsum");
        *out = value_float(s.special);
        return TSR_OK;
    }
    double total = total_of(s.partials, s.n);
    if (isinf(total)) return tsr_error(TSR_OVERFLOW_ERROR, "intermediate overflow in fsum");
    *out = value_float(total);
    return TSR_OK;
}

#define ONE(name, doc) \
    { #name, math_##name, ARGS_ONE, 1, 1, "(x, /)", doc }
#define TWO(name, doc) \
    { #name, math_##name, ARGS_RANGE, 2, 2, "(x, y, /)", doc }

static const Method functions[] = {
    ONE(sqrt, "Square root."),
    ONE(cbrt, "Cube root."),
    ONE(exp, "e to the power x."),
    ONE(exp2, "2 to the power x."),
    ONE(expm1, "exp(x) - 1, exact near 0."),
    ONE(log1p, "log(1 + x), exact near 0."),
    ONE(log2, "Logarithm to base 2."),
    ONE(log10, "Logarithm to base 10."),
    ONE(sin, "Sine of x in radians."),
    ONE(cos, "Cosine of x in radians."),
    ONE(tan, "Tangent of x in radians."),
    ONE(asin, "Arc sine in radians."),
    ONE(acos, "Arc cosine in radians."),
    ONE(atan, "Arc tangent in radians."),
    ONE(sinh, "Hyperbolic sine."),
    ONE(cosh, "Hyperbolic cosine."),
    ONE(tanh, "Hyperbolic tangent."),
    ONE(asinh, "Inverse hyperbolic sine."),
    ONE(acosh, "Inverse hyperbolic cosine."),
    ONE(atanh, "Inverse hyperbolic tangent."),
    ONE(fabs, "Absolute value as a float."),
    ONE(erf, "Error function."),
    ONE(erfc, "1 - erf(x), exact for large x."),
    ONE(gamma, "Gamma function."),
    ONE(lgamma, "Logarithm of the gamma function's absolute value."),
    ONE(degrees, "Radians to degrees."),
    ONE(radians, "Degrees to radians."),
    ONE(floor, "Largest integer <= x."),
    ONE(ceil, "Smallest integer >= x."),
    ONE(trunc, "x towards 0, as an int."),
    ONE(isnan, "Whether x is nan."),
    ONE(isinf, "Whether x is infinite."),
    ONE(isfinite, "Whether x is neither infinite nor nan."),
    ONE(modf, "Fractional and whole part."),
    ONE(frexp, "Mantissa and exponent: x == m * 2**e."),
    ONE(factorial, "n!"),
    ONE(isqrt, "Whole part of the square root."),
    ONE(ulp, "Value of the least significant bit of x."),
    ONE(fsum, "Exact sum of floats."),
    TWO(atan2, "Angle of the point (y, x)."),
    TWO(copysign, "x with the sign of y."),
    TWO(nextafter, "Next float after x towards y."),
    TWO(fmod, "Remainder as C computes it."),
    TWO(remainder, "Remainder as IEEE 754 defines it."),
    TWO(pow, "x to the power y, as floats."),
    TWO(ldexp, "x * 2**i."),
    TWO(dist, "Distance of two points."),
    {"log", math_log, ARGS_ANY, 0, 0, "(x, [base=math.e])", "Logarithm, natural or to a base."},
    {"hypot", math_hypot, ARGS_RANGE, 0, -1, "(*coordinates)", "Euclidean length."},
    {"comb", math_comb, ARGS_RANGE, 2, 2, "(n, k, /)", "Ways to choose k of n."},
    {"perm", math_perm, ARGS_RANGE, 1, 2, "(n, k=None, /)", "Ways to choose k of n in order."},
    {"gcd", math_gcd, ARGS_RANGE, 0, -1, "(*integers)", "Greatest common divisor."},
    {"lcm", math_lcm, ARGS_RANGE, 0, -1, "(*integers)", "Least common multiple."},
    {"isclose", math_isclose, ARGS_ANY, 2, 2, "(a, b, *, rel_tol=1e-09, abs_tol=0.0)",
     "Whether two numbers are close."},
    {"prod", math_prod, ARGS_ANY, 1, 1, "(iterable, /, *, start=1)", "Product of the items."},
    {0},
};

TsrStatus ns_add_math_constants(Module *module) {
    static const struct {
        const char *name;
        double value;
    } constants[] = {{"pi", M_PI}, {"e", M_E}, {"tau", 2 * M_PI}, {"inf", INFINITY}, {"nan", NAN}};
    for (size_t i = 0; i < TSR_COUNTOF(constants); i++)
        TSR_TRY(module_add(module, constants[i].name, value_float(constants[i].value)));
    return TSR_OK;
}

const NsModule ns_math = {"math", "Mathematics of single numbers, as in Python.", functions, ns_add_math_constants,
                          NULL};
