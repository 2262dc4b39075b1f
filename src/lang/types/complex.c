/* The complex type: arithmetic, powers, parsing and printing with CPython's results for infinities, NaN and signed
 * zeros. Powers by small integers multiply repeatedly; others use polar form. */
#include "lang/object/args.h"
#include "lang/object/exc.h"
#include "format.h"
#include "numbers.h"
#include "core/number.h"
#include "sequences.h"
#include "str.h"
#include "lang/object/value_impl.h"

#include <math.h>
#include <string.h>

TsrStatus complex_new(Value *out, double re, double im) {
    Complex *c = obj_new(&complex_type, sizeof *c);
    if (c == NULL) return TSR_MEMORY_ERROR;
    c->re = re;
    c->im = im;
    *out = value_obj_move(c);
    return TSR_OK;
}

bool value_to_complex(Value v, double *re, double *im, TsrStatus *status) {
    *status = TSR_OK;
    *im = 0;
    if (value_is_complex(v)) {
        *re = value_as_complex(v)->re;
        *im = value_as_complex(v)->im;
        return true;
    }
    if (v.tag != V_FLOAT && !value_is_int(v)) return false;
    *status = value_to_double(re, v);
    return true;
}

/* --- arithmetic --- */

typedef struct Pair {
    double re, im;
} Pair;

static Pair multiply(Pair a, Pair b) { return (Pair){a.re * b.re - a.im * b.im, a.re * b.im + a.im * b.re}; }

/* Smith's division: scales by the larger part of the divisor. */
static Pair divide(Pair a, Pair b) {
    double abs_re = fabs(b.re), abs_im = fabs(b.im);
    if (abs_re >= abs_im) {
        double ratio = b.im / b.re, denominator = b.re + b.im * ratio;
        return (Pair){(a.re + a.im * ratio) / denominator, (a.im - a.re * ratio) / denominator};
    }
    if (abs_im >= abs_re) {
        double ratio = b.re / b.im, denominator = b.re * ratio + b.im;
        return (Pair){(a.re * ratio + a.im) / denominator, (a.im * ratio - a.re) / denominator};
    }
    return (Pair){NAN, NAN};
}

static Pair power_unsigned(Pair x, long n) {
    Pair r = {1, 0}, p = x;
    for (long mask = 1; mask > 0 && n >= mask; mask <<= 1) {
        if (n & mask) r = multiply(r, p);
        p = multiply(p, p);
    }
    return r;
}

static Pair power_general(Pair a, Pair b, bool *outside) {
    double size = hypot(a.re, a.im), length = pow(size, b.re), angle = atan2(a.im, a.re), phase = angle * b.re;
    if (b.im != 0) {
        length /= exp(angle * b.im);
        phase += b.im * log(size);
    }
    *outside = isinf(phase); /* of the domain of cos */
    return (Pair){length * cos(phase), length * sin(phase)};
}

static TsrStatus power(Pair *out, Pair a, Pair b) {
    bool whole = b.im == 0 && b.re == floor(b.re) && fabs(b.re) <= 100, outside = false;
    if (b.re == 0 && b.im == 0) {
        *out = (Pair){1, 0};
        return TSR_OK;
    }
    if (a.re == 0 && a.im == 0) {
        outside = b.im != 0 || b.re < 0;
        *out = (Pair){0, 0};
    } else if (whole) {
        *out = b.re > 0 ? power_unsigned(a, (long)b.re) : divide((Pair){1, 0}, power_unsigned(a, (long)-b.re));
    } else {
        *out = power_general(a, b, &outside);
    }
    if (outside) return tsr_error(TSR_ZERO_DIVISION_ERROR, "0.0 to a negative or complex power");
    if (isinf(out->re) || isinf(out->im)) return tsr_error(TSR_OVERFLOW_ERROR, "complex exponentiation");
    return TSR_OK;
}

TsrStatus complex_binary(Value *out, BinaryOp op, double ar, double ai, double br, double bi) {
    Pair a = {ar, ai}, b = {br, bi}, r;
    switch (op) {
    case OP_ADD: r = (Pair){ar + br, ai + bi}; break;
    case OP_SUB: r = (Pair){ar - br, ai - bi}; break;
    case OP_MUL: r = multiply(a, b); break;
    case OP_DIV:
        if (br == 0 && bi == 0) return tsr_error(TSR_ZERO_DIVISION_ERROR, "complex division by zero");
        r = divide(a, b);
        break;
    case OP_POW: TSR_TRY(power(&r, a, b)); break;
    default: *out = VALUE_UNBOUND; return TSR_OK;
    }
    return complex_new(out, r.re, r.im);
}

/* --- text --- */

/* As repr of a float but without ".0". */
static int part(char *buffer, double d) {
    int n = float_repr(d, buffer);
    if (n > 2 && buffer[n - 2] == '.' && buffer[n - 1] == '0') n -= 2;
    buffer[n] = '\0';
    return n;
}

static TsrStatus complex_repr(TsrText *out, double re, double im) {
    char a[TSR_NUMBER_ROOM], b[TSR_NUMBER_ROOM];
    part(b, im);
    if (re == 0 && !signbit(re)) return tsr_text_printf(out, "%sj", b);
    part(a, re);
    return tsr_text_printf(out, "(%s%s%sj)", a, b[0] == '-' ? "" : "+", b);
}

/* One float at p; NULL when there is none. */
static const char *read_part(double *out, const char *p, const char *end) {
    return p < end ? tsr_parse_double(out, p, end) : NULL;
}

static bool parse_complex(double *re, double *im, const char *p, const char *end) {
    double first, second;
    *re = *im = 0;
    if (p == end) return false;
    const char *q = read_part(&first, p, end);
    if (q == NULL) { /* j, +j, -j */
        double sign = *p == '-' ? -1 : 1;
        if (*p == '-' || *p == '+') p++;
        if (p + 1 != end || (*p | 32) != 'j') return false;
        *im = sign;
        return true;
    }
    if (q == end) {
        *re = first;
        return true;
    }
    if ((*q | 32) == 'j') {
        *im = first;
        return q + 1 == end;
    }
    if (*q != '+' && *q != '-') return false;
    const char *r = read_part(&second, q, end);
    if (r == NULL) {
        second = *q == '-' ? -1 : 1;
        r = q + 1;
    }
    if (r >= end || (*r | 32) != 'j' || r + 1 != end) return false;
    *re = first;
    *im = second;
    return true;
}

/* The number in the text's memory, which it changes. */
static TsrStatus complex_from_ascii(Value *out, char *ascii, int64_t size, Value shown) {
    char *p, *end;
    double re, im;
    if (!number_clean(ascii, size, &p, &end)) {
        TsrText text = {0};
        TsrStatus status = value_repr(&text, shown);
        if (status == TSR_OK) status = tsr_error(TSR_VALUE_ERROR, "could not convert string to complex: %s", text.data);
        tsr_text_free(&text);
        return status;
    }
    if (end - p >= 2 && *p == '(' && end[-1] == ')') {
        for (p++, end--; p < end && *p == ' ';) p++;
        while (end > p && end[-1] == ' ') end--;
    }
    return parse_complex(&re, &im, p, end) ? complex_new(out, re, im)
                                           : tsr_error(TSR_VALUE_ERROR, "complex() arg is a malformed string");
}

/* --- slots --- */

static void complex_destroy(Obj *self) { obj_free(self, sizeof(Complex)); }
static TsrStatus complex_repr_slot(TsrText *out, Value self) {
    return complex_repr(out, value_as_complex(self)->re, value_as_complex(self)->im);
}

static TsrStatus complex_hash(int64_t *out, Value self) {
    uint64_t h =
        (uint64_t)float_hash(value_as_complex(self)->re) + 1000003u * (uint64_t)float_hash(value_as_complex(self)->im);
    *out = h == (uint64_t)-1 ? -2 : (int64_t)h;
    return TSR_OK;
}

static TsrStatus complex_truth(bool *out, Value self) {
    *out = value_as_complex(self)->re != 0 || value_as_complex(self)->im != 0;
    return TSR_OK;
}

static TsrStatus complex_compare(Value *out, CompareOp op, Value a, Value b) {
    *out = VALUE_UNBOUND;
    if (op != CMP_EQ && op != CMP_NE) return TSR_OK;
    const Complex *c = value_as_complex(a);
    bool equal;
    if (value_is_complex(b)) {
        equal = c->re == value_as_complex(b)->re && c->im == value_as_complex(b)->im;
    } else if (b.tag == V_FLOAT || value_is_int(b)) {
        equal = c->im == 0;
        if (equal) TSR_TRY(value_compare_bool(&equal, CMP_EQ, value_float(c->re), b));
    } else {
        return TSR_OK;
    }
    *out = value_bool(equal == (op == CMP_EQ));
    return TSR_OK;
}

static TsrStatus complex_binary_slot(Value *out, BinaryOp op, Value a, Value b) {
    double ar, ai, br, bi;
    TsrStatus status;
    *out = VALUE_UNBOUND;
    if (!value_to_complex(a, &ar, &ai, &status)) return TSR_OK;
    TSR_TRY(status);
    if (!value_to_complex(b, &br, &bi, &status)) return TSR_OK;
    TSR_TRY(status);
    return complex_binary(out, op, ar, ai, br, bi);
}

static TsrStatus complex_unary(Value *out, UnaryOp op, Value v) {
    const Complex *c = value_as_complex(v);
    *out = VALUE_UNBOUND;
    if (op == OP_NEG) return complex_new(out, -c->re, -c->im);
    if (op == OP_POS) *out = value_retain(v);
    return TSR_OK;
}

static TsrStatus complex_format_slot(TsrText *out, Value self, const char *spec, size_t size) {
    return format_complex(out, value_as_complex(self)->re, value_as_complex(self)->im, spec, size);
}

static TsrStatus complex_of_text(Value *out, Value v) {
    int64_t size;
    char *ascii = number_new_ascii(value_as_str(v)->data, value_as_str(v)->size, false, &size);
    if (ascii == NULL) return mem_error();
    TsrStatus status = complex_from_ascii(out, ascii, size, v);
    tsr_free(ascii);
    return status;
}

static TsrStatus complex_part(double *re, double *im, Value v, const char *refusal) {
    TsrStatus status;
    Value number = v;
    bool tensor = v.tag == V_TENSOR && tensor_hooks.to_number != NULL;
    if (tensor) TSR_TRY(tensor_hooks.to_number(&number, v));
    if (!value_to_complex(number, re, im, &status))
        status = tsr_error(TSR_TYPE_ERROR, refusal, value_type_name(number));
    if (tensor) value_release(number);
    return status;
}

static TsrStatus complex_construct(Value *out, Type *type, const CallArgs *args) {
    static const char *const names[] = {"real", "imag"};
    static const ArgSpec spec = {"complex", names, 2, 0, 2, 0};
    Value given[2];
    (void)type;
    TSR_TRY(args_parse(given, args, 0, &spec));
    bool has_imag = given[1].tag != V_UNBOUND;
    double re = 0, im = 0, re2 = 0, im2 = 0;
    if (value_is_str(given[0])) {
        if (has_imag) return tsr_error(TSR_TYPE_ERROR, "complex() can't take second arg if first is a string");
        return complex_of_text(out, given[0]);
    }
    if (value_is_str(given[1])) return tsr_error(TSR_TYPE_ERROR, "complex() second arg can't be a string");
    if (value_is_complex(given[0]) && !has_imag) {
        *out = value_retain(given[0]);
        return TSR_OK;
    }
    if (given[0].tag != V_UNBOUND)
        TSR_TRY(complex_part(&re, &im, given[0], "complex() first argument must be a string or a number, not '%s'"));
    if (has_imag) TSR_TRY(complex_part(&re2, &im2, given[1], "complex() second argument must be a number, not '%s'"));
    if (has_imag && value_is_complex(given[1])) re -= im2;
    return complex_new(out, re, has_imag ? (value_is_complex(given[0]) ? im + re2 : re2) : im);
}

static TsrStatus method_conjugate(Value *out, const CallArgs *args) {
    const Complex *c = value_as_complex(args->values[0]);
    return complex_new(out, c->re, -c->im);
}

static TsrStatus get_real(Value *out, Value self) {
    *out = value_float(value_as_complex(self)->re);
    return TSR_OK;
}
static TsrStatus get_imag(Value *out, Value self) {
    *out = value_float(value_as_complex(self)->im);
    return TSR_OK;
}

static const Getter complex_getters[] = {
    {"real", get_real, NULL, "The real part."}, {"imag", get_imag, NULL, "The imaginary part."}, {0}};
static const Method complex_methods[] = {
    {"conjugate", method_conjugate, ARGS_NONE, 0, 0, "()", "The complex conjugate."}, {0}};

Type complex_type = {.obj = TYPE_HEADER,
                     .name = "complex",
                     .flags = TYPE_ATOMIC,
                     .doc = "complex(real=0, imag=0) or complex(text).",
                     .construct = complex_construct,
                     .destroy = complex_destroy,
                     .repr = complex_repr_slot,
                     .hash = complex_hash,
                     .compare = complex_compare,
                     .truth = complex_truth,
                     .format = complex_format_slot,
                     .binary = complex_binary_slot,
                     .unary = complex_unary,
                     .methods = complex_methods,
                     .getters = complex_getters};
