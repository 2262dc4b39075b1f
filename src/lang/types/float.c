/* The float type: arithmetic, rounding, comparison with integers of any size, parsing and hexadecimal text. Floor
 * division and modulo take the sign of the divisor; comparison with a large integer is exact, without converting it to
 * a double. */
#include "lang/object/args.h"
#include "bytes.h"
#include "lang/object/exc.h"
#include "format.h"
#include "numbers.h"
#include "core/number.h"
#include "sequences.h"
#include "str.h"
#include "lang/object/value_impl.h"

#include <ctype.h>
#include <float.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int float_repr(double d, char *buffer) { return (int)tsr_format_double(buffer, d); }

static double text_to_double(const char *text, char **end) {
    double d = 0;
    const char *stop = tsr_parse_double(&d, text, text + strlen(text));
    *end = (char *)(stop != NULL ? stop : text);
    return d;
}

/* --- arithmetic --- */

static void divmod_parts(double a, double b, double *quotient, double *remainder) {
    double mod = fmod(a, b), div = (a - mod) / b, floored;
    if (mod != 0) {
        if ((b < 0) != (mod < 0)) {
            mod += b;
            div -= 1.0;
        }
    } else {
        mod = copysign(0.0, b);
    }
    if (div != 0) {
        floored = floor(div);
        if (div - floored > 0.5) floored += 1.0;
    } else {
        floored = copysign(0.0, a / b);
    }
    *quotient = floored;
    *remainder = mod;
}

double float_mod(double a, double b) {
    double q, r;
    divmod_parts(a, b, &q, &r);
    return r;
}

double float_floordiv(double a, double b) {
    double q, r;
    divmod_parts(a, b, &q, &r);
    return q;
}

static TsrStatus range_error(void) {
    Value pair[2] = {value_int(34), VALUE_UNBOUND}, e;
    TSR_TRY(str_new_c(&pair[1], "Numerical result out of range"));
    TsrStatus status = exc_new(&e, TSR_OVERFLOW_ERROR, 2, pair);
    value_release(pair[1]);
    return status == TSR_OK ? exc_raise_move(e) : status;
}

TsrStatus float_pow(Value *out, double a, double b) {
    if (isfinite(a) && isfinite(b)) {
        if (a == 0 && b < 0) return tsr_error(TSR_ZERO_DIVISION_ERROR, "0.0 cannot be raised to a negative power");
        if (a < 0 && b != floor(b)) return complex_binary(out, OP_POW, a, 0, b, 0);
    }
    double r = pow(a, b);
    if (isinf(r) && isfinite(a) && isfinite(b)) return range_error();
    *out = value_float(r);
    return TSR_OK;
}

int64_t float_hash(double d) {
    const uint64_t modulus = ((uint64_t)1 << 61) - 1;
    if (isinf(d)) return d > 0 ? 314159 : -314159;
    if (isnan(d)) return 0;
    int exponent;
    double m = frexp(fabs(d), &exponent);
    uint64_t x = 0;
    while (m != 0) {
        x = ((x << 28) & modulus) | x >> 33;
        m *= 268435456.0;
        exponent -= 28;
        uint64_t y = (uint64_t)m;
        m -= (double)y;
        x += y;
        if (x >= modulus) x -= modulus;
    }
    exponent = exponent >= 0 ? exponent % 61 : 60 - (-1 - exponent) % 61;
    x = ((x << exponent) & modulus) | x >> (61 - exponent);
    int64_t hash = d < 0 ? -(int64_t)x : (int64_t)x;
    return hash == -1 ? -2 : hash;
}

static bool compare_int(int *out, double d, Value v) {
    if (isnan(d)) return false;
    int sign = (d > 0) - (d < 0), other = int_sign(v);
    if (sign != other || isinf(d)) {
        *out = isinf(d) ? sign : sign > other ? 1 : -1;
        return true;
    }
    if (v.tag != V_OBJ && v.i > -((int64_t)1 << 53) && v.i < ((int64_t)1 << 53)) {
        *out = (d > (double)v.i) - (d < (double)v.i);
        return true;
    }
    Value whole;
    TsrStatus status = int_new_double(&whole, d);
    if (status != TSR_OK) {
        exc_discard(status);
        return false;
    }
    int order = int_compare(whole, v);
    double rest = d - trunc(d);
    *out = order != 0 ? order : (rest > 0) - (rest < 0);
    value_release(whole);
    return true;
}

/* --- rounding --- */

/* To a multiple of 10^k, k > 0, ties to even in the exact decimal value. */
static double round_up_to(double d, int64_t k) {
    char text[400];
    int exponent = d == 0 ? 0 : (int)floor(log10(fabs(d)));
    double power = exponent <= 308 ? pow(10, exponent) : INFINITY;
    if (fabs(d) < power) exponent--;
    if (fabs(d) >= power * 10) exponent++;
    int64_t precision = exponent - k;
    if (precision >= 0) {
        snprintf(text, sizeof text, "%.*e", (int)precision, d);
        char *end;
        return text_to_double(text, &end);
    }
    if (precision < -1 || k > 308) return copysign(0.0, d);
    char half[32];
    char *end;
    snprintf(half, sizeof half, "5e%lld", (long long)k - 1);
    if (fabs(d) <= text_to_double(half, &end)) return copysign(0.0, d);
    snprintf(half, sizeof half, "1e%lld", (long long)k);
    return copysign(text_to_double(half, &end), d);
}

TsrStatus float_round(Value *out, double d, int64_t digits) {
    if (!isfinite(d) || digits > 323) {
        *out = value_float(d);
        return TSR_OK;
    }
    if (digits < -308) {
        *out = value_float(copysign(0.0, d));
        return TSR_OK;
    }
    double r;
    if (digits < 0) {
        r = round_up_to(d, -digits);
    } else {
        char text[700], *end;
        snprintf(text, sizeof text, "%.*f", (int)digits, d);
        r = text_to_double(text, &end);
    }
    if (isinf(r)) return tsr_error(TSR_OVERFLOW_ERROR, "rounded value too large to represent");
    *out = value_float(r);
    return TSR_OK;
}

/* --- text --- */

static TsrStatus from_text(double *out, const char *text, int64_t size, bool bytes, bool *ok) {
    int64_t n;
    char *ascii = number_new_ascii(text, size, bytes, &n), *begin, *end;
    if (ascii == NULL) return mem_error();
    *ok = number_clean(ascii, n, &begin, &end) && begin < end && tsr_parse_double(out, begin, end) == end;
    tsr_free(ascii);
    return TSR_OK;
}

static TsrStatus float_of_text(Value *out, const char *data, int64_t size, Value shown) {
    double d;
    bool ok;
    TSR_TRY(from_text(&d, data, size, !value_is_str(shown), &ok));
    if (ok) {
        *out = value_float(d);
        return TSR_OK;
    }
    TsrText text = {0};
    TsrStatus status = value_repr(&text, shown);
    if (status == TSR_OK) status = tsr_error(TSR_VALUE_ERROR, "could not convert string to float: %s", text.data);
    tsr_text_free(&text);
    return status;
}

static TsrStatus float_construct(Value *out, Type *type, const CallArgs *args) {
    TSR_TRY(args_no_keywords(args, type->name));
    TSR_TRY(args_count(args, 0, 0, 1, "float"));
    if (args->count == 0) {
        *out = value_float(0);
        return TSR_OK;
    }
    Value v = args->values[0];
    char *data;
    int64_t size;
    if (value_is_str(v)) return float_of_text(out, value_as_str(v)->data, value_as_str(v)->size, v);
    if (value_as_buffer(v, &data, &size)) return float_of_text(out, data, size, v);
    if (v.tag != V_FLOAT && v.tag != V_TENSOR && !value_is_int(v)) {
        if (value_type(v)->number != NULL) {
            Value n;
            TSR_TRY(value_type(v)->number(&n, v));
            CallArgs one = {.values = &n, .count = 1};
            TsrStatus status = float_construct(out, type, &one);
            value_release(n);
            return status;
        }
        return tsr_error(TSR_TYPE_ERROR, "float() argument must be a string or a real number, not '%s'",
                         value_type_name(v));
    }
    double d;
    TSR_TRY(value_to_double(&d, v));
    *out = v.tag == V_FLOAT ? v : value_float(d); /* a float is itself */
    return TSR_OK;
}

/* --- slots --- */

static TsrStatus float_repr_slot(TsrText *out, Value self) {
    char buffer[TSR_NUMBER_ROOM];
    return tsr_text_append(out, buffer, tsr_format_double(buffer, self.f));
}

static TsrStatus float_hash_slot(int64_t *out, Value self) {
    *out = float_hash(self.f);
    if (isnan(self.f)) *out = (int64_t)(self.nan * (uint64_t)0x9e3779b1u); /* by identity, as its equality */
    return TSR_OK;
}

/* a is the float: the protocol swaps the operands when it was the right one. */
static TsrStatus float_compare(Value *out, CompareOp op, Value a, Value b) {
    *out = VALUE_UNBOUND;
    int order = 0;
    bool ordered;
    if (b.tag == V_FLOAT) {
        ordered = !isnan(a.f) && !isnan(b.f);
        order = (a.f > b.f) - (a.f < b.f);
    } else if (value_is_int(b)) {
        ordered = compare_int(&order, a.f, b);
    } else {
        return TSR_OK;
    }
    *out = value_bool(ordered ? compare_order(op, order) : op == CMP_NE);
    return TSR_OK;
}

static bool real_number(Value v) { return v.tag == V_FLOAT || value_is_int(v); }

static TsrStatus float_binary(Value *out, BinaryOp op, Value a, Value b) {
    double x, y;
    *out = VALUE_UNBOUND;
    if (!real_number(a) || !real_number(b) || op > OP_POW || op == OP_MATMUL) return TSR_OK;
    TSR_TRY(value_to_double(&x, a));
    TSR_TRY(value_to_double(&y, b));
    if (y == 0 && (op == OP_DIV || op == OP_FLOORDIV || op == OP_MOD)) {
        const char *text = op == OP_DIV   ? "float division by zero"
                           : op == OP_MOD ? "float modulo"
                                          : "float floor division by zero";
        return tsr_error(TSR_ZERO_DIVISION_ERROR, "%s", text);
    }
    switch (op) {
    case OP_ADD: *out = value_float(x + y); break;
    case OP_SUB: *out = value_float(x - y); break;
    case OP_MUL: *out = value_float(x * y); break;
    case OP_DIV: *out = value_float(x / y); break;
    case OP_FLOORDIV: *out = value_float(float_floordiv(x, y)); break;
    case OP_MOD: *out = value_float(float_mod(x, y)); break;
    default: return float_pow(out, x, y);
    }
    return TSR_OK;
}

static TsrStatus float_unary(Value *out, UnaryOp op, Value v) {
    *out = op == OP_NEG ? value_float(-v.f) : op == OP_POS ? v : VALUE_UNBOUND;
    return TSR_OK;
}

static TsrStatus float_format_slot(TsrText *out, Value self, const char *spec, size_t size) {
    return format_float(out, self.f, spec, size);
}

/* --- methods --- */

static TsrStatus method_is_integer(Value *out, const CallArgs *args) {
    *out = value_bool(isfinite(args->values[0].f) && floor(args->values[0].f) == args->values[0].f);
    return TSR_OK;
}

static TsrStatus integer_ratio(Value *numerator, Value *denominator, double d) {
    if (isnan(d)) return tsr_error(TSR_VALUE_ERROR, "cannot convert NaN to integer ratio");
    if (isinf(d)) return tsr_error(TSR_OVERFLOW_ERROR, "cannot convert Infinity to integer ratio");
    int exponent;
    double m = frexp(d, &exponent);
    for (int i = 0; i < 300 && m != floor(m); i++) {
        m *= 2;
        exponent--;
    }
    TSR_TRY(int_new_double(numerator, m));
    *denominator = value_int(1);
    if (exponent < 0) return int_shift_left(denominator, value_int(1), -exponent);
    Value shifted;
    TsrStatus status = int_shift_left(&shifted, *numerator, exponent);
    value_release(*numerator);
    *numerator = shifted;
    return status;
}

static TsrStatus method_ratio(Value *out, const CallArgs *args) {
    Value pair[2];
    TSR_TRY(integer_ratio(&pair[0], &pair[1], args->values[0].f));
    return tuple_new_move(out, pair, 2);
}

static TsrStatus method_round(Value *out, const CallArgs *args) {
    double d = args->values[0].f;
    if (args->count < 2 || value_is_none(args->values[1])) return int_new_double(out, isfinite(d) ? rint(d) : d);
    int64_t digits;
    if (!value_is_int(args->values[1]))
        return tsr_error(TSR_TYPE_ERROR, "'%s' object cannot be interpreted as an integer",
                         value_type_name(args->values[1]));
    TSR_TRY(value_to_index_clamped(&digits, args->values[1]));
    return float_round(out, d, digits);
}

static TsrStatus method_trunc(Value *out, const CallArgs *args) { return int_new_double(out, args->values[0].f); }
static TsrStatus method_floor(Value *out, const CallArgs *args) {
    return int_new_double(out, floor(args->values[0].f));
}
static TsrStatus method_ceil(Value *out, const CallArgs *args) { return int_new_double(out, ceil(args->values[0].f)); }
static TsrStatus method_self(Value *out, const CallArgs *args) {
    *out = args->values[0];
    return TSR_OK;
}

static TsrStatus method_hex(Value *out, const CallArgs *args) {
    double d = args->values[0].f;
    if (!isfinite(d)) return value_new_repr(out, args->values[0]);
    if (d == 0) return str_new_c(out, signbit(d) ? "-0x0.0p+0" : "0x0.0p+0");
    int exponent;
    double m = frexp(fabs(d), &exponent);
    int shift = 1 - TSR_MAX(DBL_MIN_EXP - exponent, 0);
    m = ldexp(m, shift);
    exponent -= shift;
    uint64_t bits = (uint64_t)ldexp(m, 52);
    return str_new_format(out, "%s0x%llx.%013llxp%+d", d < 0 ? "-" : "", (unsigned long long)(bits >> 52),
                          (unsigned long long)(bits & (((uint64_t)1 << 52) - 1)), exponent);
}

/* [sign] ['0x'] hex digits with a point ['p' exponent]; 0 characters consumed when it is none. */
static const char *read_hex(double *out, const char *p, const char *end) {
    const char *start = p;
    bool negative = *p == '-', sticky = false, point = false;
    if (*p == '-' || *p == '+') p++;
    if (p[0] == '0' && (p[1] | 32) == 'x') p += 2;
    uint64_t bits = 0;
    int64_t exponent = 0;
    int digits = 0;
    for (; p < end; p++) {
        if (*p == '.' && !point) {
            point = true;
            continue;
        }
        if (!isxdigit((unsigned char)*p)) break;
        int h = isdigit((unsigned char)*p) ? *p - '0' : (*p | 32) - 'a' + 10;
        digits++;
        if (bits >> 59 == 0) {
            bits = bits << 4 | (uint64_t)h;
            if (point) exponent -= 4;
        } else {
            sticky = sticky || h != 0;
            if (!point) exponent += 4;
        }
    }
    if (digits == 0) return start;
    if (p < end && (*p | 32) == 'p') {
        char *stop;
        const char *q = p + 1;
        if (*q == '+' || *q == '-') q++;
        if (!isdigit((unsigned char)*q)) return start;
        long e = strtol(p + 1, &stop, 10);
        exponent += TSR_MAX(TSR_MIN(e, 1000000), -1000000);
        p = stop;
    }
    bits = bits << 1 | sticky;
    exponent--;
    /* round once, even where the result is subnormal */
    int length = bits == 0 ? 0 : 64 - __builtin_clzll(bits);
    int64_t keep = TSR_MIN(53, length + exponent + 1074);
    if (keep < length && bits != 0) {
        int64_t cut = TSR_MIN(length - keep, 63);
        uint64_t rest = bits & (((uint64_t)1 << cut) - 1), half = (uint64_t)1 << (cut - 1);
        bits >>= cut;
        if (rest > half || (rest == half && (bits & 1))) bits++;
        exponent += cut;
    }
    *out = ldexp((double)bits, (int)TSR_MAX(TSR_MIN(exponent, 100000), -100000));
    if (negative) *out = -*out;
    return p;
}

static TsrStatus method_fromhex(Value *out, const CallArgs *args) {
    if (!value_is_str(args->values[1])) return tsr_error(TSR_TYPE_ERROR, "bad argument type for built-in operation");
    const Str *s = value_as_str(args->values[1]);
    const char *p = s->data, *end = s->data + s->size;
    while (p < end && isspace((unsigned char)*p)) p++;
    while (end > p && isspace((unsigned char)end[-1])) end--;
    double d = 0;
    const char *word = p < end && (*p == '-' || *p == '+') ? p + 1 : p;
    const char *stop = word < end && (isalpha((unsigned char)*word) && strchr("iInN", *word) != NULL)
                           ? tsr_parse_double(&d, p, end)
                           : read_hex(&d, p, end);
    if (stop != end || p == end) return tsr_error(TSR_VALUE_ERROR, "invalid hexadecimal floating-point string");
    if (isinf(d) && isxdigit((unsigned char)*word))
        return tsr_error(TSR_OVERFLOW_ERROR, "hexadecimal value too large to represent as a float");
    *out = value_float(d);
    return TSR_OK;
}

static TsrStatus get_real(Value *out, Value self) {
    *out = self;
    return TSR_OK;
}
static TsrStatus get_imag(Value *out, Value self) {
    (void)self;
    *out = value_float(0);
    return TSR_OK;
}

static const Getter float_getters[] = {
    {"real", get_real, NULL, "The number itself."}, {"imag", get_imag, NULL, "0.0."}, {0}};
static const Method float_methods[] = {
    {"is_integer", method_is_integer, ARGS_NONE, 0, 0, "()", "Whether it is a whole number."},
    {"as_integer_ratio", method_ratio, ARGS_NONE, 0, 0, "()", "Two ints whose ratio is exactly the number."},
    {"hex", method_hex, ARGS_NONE, 0, 0, "()", "The number in hexadecimal."},
    {"fromhex", method_fromhex, ARGS_ONE | METHOD_CLASS, 0, 0, "(text, /)", "The number of a hexadecimal text."},
    {"conjugate", method_self, ARGS_NONE, 0, 0, "()", "The number itself."},
    {"__round__", method_round, ARGS_RANGE, 0, 1, "(ndigits=None, /)", NULL},
    {"__trunc__", method_trunc, ARGS_NONE, 0, 0, "()", NULL},
    {"__floor__", method_floor, ARGS_NONE, 0, 0, "()", NULL},
    {"__ceil__", method_ceil, ARGS_NONE, 0, 0, "()", NULL},
    {0},
};

Type float_type = {.obj = TYPE_HEADER,
                   .name = "float",
                   .doc = "float(x=0): a double.",
                   .construct = float_construct,
                   .repr = float_repr_slot,
                   .hash = float_hash_slot,
                   .compare = float_compare,
                   .format = float_format_slot,
                   .binary = float_binary,
                   .unary = float_unary,
                   .methods = float_methods,
                   .getters = float_getters};
