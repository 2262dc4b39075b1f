/* int: int64 in the value, libtommath beyond: its texts, slots and methods. int_arith.c computes. */
#include "lang/object/args.h"
#include "bigint.h"
#include "bytes.h"
#include "format.h"
#include "numbers.h"
#include "sequences.h"
#include "str.h"
#include "lang/syntax/unichar.h"
#include "lang/object/value_impl.h"

#include <math.h>
#include <stdlib.h>
#include <ctype.h>
#include <string.h>
#include <utf8proc.h>

int int_max_str_digits = 4300;

/* --- text --- */

static TsrStatus too_many_digits(int64_t digits) {
    if (digits < 0) {
        return tsr_error(
            TSR_VALUE_ERROR,
            "Exceeds the limit (%d digits) for integer string conversion; use sys.set_int_max_str_digits() to "
            "increase the limit",
            int_max_str_digits);
    }
    return tsr_error(TSR_VALUE_ERROR,
                     "Exceeds the limit (%d digits) for integer string conversion: value has %lld digits; use "
                     "sys.set_int_max_str_digits() to increase the limit",
                     int_max_str_digits, (long long)digits);
}

static bool power_of_two(int base) { return (base & (base - 1)) == 0; }

TsrStatus int_digits(TsrText *out, Value v, int base) {
    if (v.tag != V_OBJ) {
        char buffer[72], *p = buffer + sizeof buffer;
        uint64_t m = v.i < 0 ? 0 - (uint64_t)v.i : (uint64_t)v.i;
        do *--p = "0123456789abcdefghijklmnopqrstuvwxyz"[m % (uint64_t)base];
        while ((m /= (uint64_t)base) != 0);
        if (v.i < 0) *--p = '-';
        return tsr_text_append(out, p, (size_t)(buffer + sizeof buffer - p));
    }
    const mp_int *mp = &value_as_bigint(v)->mp;
    double digits = mp_count_bits(mp) / log2(base);
    bool limited = int_max_str_digits > 0 && !power_of_two(base);
    if (limited && digits > int_max_str_digits + 2) return too_many_digits(-1);
    size_t begin = out->length;
    if (mp_isneg(mp)) TSR_TRY(tsr_text_putc(out, '-'));
    size_t first = out->length;
    TsrStatus status = bigint_to_digits(out, mp, base);
    if (status == TSR_OK && limited && out->length - first > (size_t)int_max_str_digits) status = too_many_digits(-1);
    if (status != TSR_OK) out->length = begin;
    return status;
}

static int digit_value(char c) {
    if (c >= '0' && c <= '9') return c - '0';
    if (c >= 'a' && c <= 'z') return c - 'a' + 10;
    return c >= 'A' && c <= 'Z' ? c - 'A' + 10 : 99;
}

TsrStatus int_new_digits(Value *out, const char *digits, int64_t size, int base) {
    int64_t n = 0;
    int64_t i = 0;
    for (; i < size; i++) {
        int64_t next;
        if (tsr_mul_overflows(n, base, &next) || tsr_add_overflows(next, digit_value(digits[i]), &next)) break;
        n = next;
    }
    if (i == size) {
        *out = value_int(n);
        return TSR_OK;
    }
    if (int_max_str_digits > 0 && !power_of_two(base) && size > int_max_str_digits) return too_many_digits(size);
    mp_int mp;
    if (mp_init(&mp) != MP_OKAY) return mem_error();
    TsrStatus status = bigint_from_digits(&mp, digits, size, base);
    if (status == TSR_OK) return int_new_mp_move(out, &mp);
    mp_clear(&mp);
    return status;
}

static TsrStatus bad_literal(const char *text, int64_t size, int base, bool bytes) {
    TsrText shown = {0};
    TsrStatus status = bytes ? bytes_repr(&shown, text, size) : str_repr(&shown, text, size);
    if (status == TSR_OK)
        status = tsr_error(TSR_VALUE_ERROR, "invalid literal for int() with base %d: %.*s", base,
                           (int)TSR_MIN(shown.length, 200u), shown.data);
    tsr_text_free(&shown);
    return status;
}

/* Copies the digits without underscores; *count is -1 when the text is no number of that base. */
static TsrStatus clean_digits(char *out, int64_t *count, const char *p, const char *end, int base) {
    int64_t n = 0;
    bool underscore = true; /* none at the start */
    *count = -1;
    for (const char *begin = p; p < end; p++) {
        TSR_TRY(tsr_interrupt_check_at(p - begin));
        if (*p == '_' ? underscore : digit_value(*p) >= base) return TSR_OK;
        underscore = *p == '_';
        if (!underscore) out[n++] = *p;
    }
    if (!underscore) *count = n;
    return TSR_OK;
}

char *number_new_ascii(const char *text, int64_t size, bool bytes, int64_t *out_size) {
    char *copy = tsr_malloc((size_t)size + 1);
    int64_t n = 0;
    for (int64_t i = 0; copy != NULL && i < size;) {
        int used;
        if (bytes || (signed char)text[i] >= 0) {
            copy[n++] = text[i++];
            continue;
        }
        uint32_t c = utf8_decode(text + i, &used);
        if (unichar_is_space(c)) {
            copy[n++] = ' ';
        } else if (utf8proc_category((int32_t)c) == UTF8PROC_CATEGORY_ND) {
            uint32_t zero = c; /* each script's digits stand in a row from its zero */
            while (c - zero < 9 && utf8proc_category((int32_t)zero - 1) == UTF8PROC_CATEGORY_ND) zero--;
            copy[n++] = (char)('0' + (c - zero) % 10);
        } else {
            copy[n++] = '?';
        }
        i += used;
    }
    if (copy != NULL) copy[n] = '\0';
    *out_size = n;
    return copy;
}

/* C's spaces, whatever the locale: of the others a str has only those that number_new_ascii replaced. */
static bool is_space(char c) { return c == ' ' || (c >= '\t' && c <= '\r'); }

bool number_clean(char *text, int64_t size, char **begin, char **end) {
    char *p = text, *stop = text + size;
    while (p < stop && is_space(*p)) p++;
    while (stop > p && is_space(stop[-1])) stop--;
    char *to = p;
    *begin = p;
    for (const char *q = p; q < stop; q++) {
        bool between = q > p && q + 1 < stop && isdigit((unsigned char)q[-1]) && isdigit((unsigned char)q[1]);
        if (*q == '_' && !between) return false;
        if (*q != '_') *to++ = *q;
    }
    *end = to;
    return true;
}

static TsrStatus parse_int(Value *out, const char *text, int64_t size, int base, bool *ok) {
    const char *p = text, *end = text + size;
    *ok = false;
    while (p < end && is_space(*p)) p++;
    while (end > p && is_space(end[-1])) end--;
    bool negative = p < end && *p == '-';
    if (p < end && (*p == '-' || *p == '+')) p++;
    int prefix = end - p > 2 && *p == '0' ? (p[1] | 32) == 'x'   ? 16
                                            : (p[1] | 32) == 'o' ? 8
                                            : (p[1] | 32) == 'b' ? 2
                                                                 : 0
                                          : 0;
    bool bare_zero_base = base == 0;
    if (prefix != 0 && (base == 0 || base == prefix)) {
        p += p[2] == '_' && end - p > 3 ? 3 : 2;
        base = prefix;
        bare_zero_base = false;
    }
    if (base == 0) base = 10;
    char *digits = tsr_malloc((size_t)(end - p) + 1);
    if (digits == NULL) return mem_error();
    int64_t n;
    TsrStatus status = clean_digits(digits, &n, p, end, base);
    bool leading_zero =
        bare_zero_base && n > 1 && digits[0] == '0' && strspn((digits[n] = '\0', digits), "0") != (size_t)n;
    if (status == TSR_OK && n > 0 && !leading_zero) {
        *ok = true;
        status = int_new_digits(out, digits, n, base);
        if (status == TSR_OK && negative) {
            Value positive = *out;
            status = int_negate(out, positive);
            value_release(positive);
        }
    }
    tsr_free(digits);
    return status;
}

static TsrStatus read_int(Value *out, const char *text, int64_t size, int base, bool bytes) {
    int64_t ascii_size;
    char *ascii = number_new_ascii(text, size, bytes, &ascii_size);
    if (ascii == NULL) return mem_error();
    bool ok;
    TsrStatus status = parse_int(out, ascii, ascii_size, base, &ok);
    tsr_free(ascii);
    return status == TSR_OK && !ok ? bad_literal(text, size, base, bytes) : status;
}

TsrStatus int_new_text(Value *out, const char *text, int64_t size, int base) {
    return read_int(out, text, size, base, false);
}

/* --- slots --- */

static void int_destroy(Obj *self) {
    mp_clear(&((BigInt *)self)->mp);
    obj_free(self, sizeof(BigInt));
}

static TsrStatus int_repr(TsrText *out, Value self) { return int_digits(out, self, 10); }

static TsrStatus int_hash_slot(int64_t *out, Value self) {
    *out = int_hash(self);
    return TSR_OK;
}

static TsrStatus int_compare_slot(Value *out, CompareOp op, Value a, Value b) {
    *out = VALUE_UNBOUND;
    if (!value_is_int(a) || !value_is_int(b)) return TSR_OK;
    *out = value_bool(compare_order(op, int_compare(a, b)));
    return TSR_OK;
}

static TsrStatus int_truth(bool *out, Value self) {
    *out = int_sign(self) != 0;
    return TSR_OK;
}

static TsrStatus int_binary_slot(Value *out, BinaryOp op, Value a, Value b) {
    *out = VALUE_UNBOUND;
    return value_is_int(a) && value_is_int(b) ? int_binary(out, op, a, b) : TSR_OK;
}

static TsrStatus int_unary(Value *out, UnaryOp op, Value v) {
    if (op == OP_NEG) return int_negate(out, v);
    if (op == OP_INVERT)
        return v.tag != V_OBJ ? (*out = value_int(~v.i), TSR_OK) : int_binary(out, OP_SUB, value_int(-1), v);
    *out = v.tag == V_BOOL ? value_int(v.i) : value_retain(v);
    return TSR_OK;
}

static TsrStatus int_format_slot(TsrText *out, Value self, const char *spec, size_t size) {
    return size == 0 ? value_str(out, self) : format_int(out, self, spec, size);
}

/* int(v) for one argument. */
/* Of a tensor's complex element. */
static TsrStatus int_of_complex(Value *out, const Complex *c) {
    return c->im != 0 ? tsr_error(TSR_RUNTIME_ERROR, "value cannot be converted to type int64_t without overflow")
                      : int_new_double(out, c->re);
}

static TsrStatus int_of(Value *out, Value v) {
    char *data;
    int64_t size;
    switch (v.tag) {
    case V_INT:
    case V_BOOL: *out = value_int(v.i); return TSR_OK;
    case V_FLOAT: return int_new_double(out, v.f);
    default: break;
    }
    if (value_is_bigint(v)) {
        *out = value_retain(v);
        return TSR_OK;
    }
    if (value_is_str(v)) return int_new_text(out, value_as_str(v)->data, value_as_str(v)->size, 10);
    if (value_as_buffer(v, &data, &size)) return read_int(out, data, size, 10, true);
    TsrStatus (*to_number)(Value *, Value) = v.tag == V_TENSOR ? tensor_hooks.to_number : value_type(v)->number;
    if (to_number != NULL) {
        Value n;
        TSR_TRY(to_number(&n, v));
        TsrStatus status = n.tag == V_TENSOR     ? tsr_error(TSR_TYPE_ERROR, "int() argument must be a number")
                           : value_is_complex(n) ? int_of_complex(out, value_as_complex(n))
                                                 : int_of(out, n);
        value_release(n);
        return status;
    }
    return tsr_error(TSR_TYPE_ERROR, "int() argument must be a string, a bytes-like object or a real number, not '%s'",
                     value_type_name(v));
}

static TsrStatus int_with_base(Value *out, Value v, Value base_value) {
    int64_t base, size;
    char *data;
    TSR_TRY(value_to_index_clamped(&base, base_value));
    if (base != 0 && (base < 2 || base > 36))
        return tsr_error(TSR_VALUE_ERROR, "int() base must be >= 2 and <= 36, or 0");
    if (value_is_str(v)) return int_new_text(out, value_as_str(v)->data, value_as_str(v)->size, (int)base);
    if (value_as_buffer(v, &data, &size)) return read_int(out, data, size, (int)base, true);
    return tsr_error(TSR_TYPE_ERROR, "int() can't convert non-string with explicit base");
}

static TsrStatus int_construct(Value *out, Type *type, const CallArgs *args) {
    static const char *const names[] = {"x", "base"};
    static const ArgSpec spec = {"int", names, 2, 1, 2, 0};
    Value given[2];
    (void)type;
    TSR_TRY(args_parse(given, args, 0, &spec));
    if (given[0].tag == V_UNBOUND) {
        if (given[1].tag != V_UNBOUND) return tsr_error(TSR_TYPE_ERROR, "int() missing string argument");
        *out = value_int(0);
        return TSR_OK;
    }
    return given[1].tag == V_UNBOUND ? int_of(out, given[0]) : int_with_base(out, given[0], given[1]);
}

/* --- methods --- */

static TsrStatus method_bit_length(Value *out, const CallArgs *args) {
    *out = value_int(int_bit_length(args->values[0]));
    return TSR_OK;
}

static TsrStatus method_bit_count(Value *out, const CallArgs *args) {
    Value v = args->values[0];
    int64_t n = 0;
    if (v.tag != V_OBJ) {
        n = __builtin_popcountll(v.i < 0 ? 0 - (uint64_t)v.i : (uint64_t)v.i);
    } else {
        const mp_int *mp = &value_as_bigint(v)->mp;
        for (int i = 0; i < mp->used; i++) n += __builtin_popcountll(mp->dp[i]);
    }
    *out = value_int(n);
    return TSR_OK;
}

static TsrStatus method_self(Value *out, const CallArgs *args) { return int_unary(out, OP_POS, args->values[0]); }

static TsrStatus method_ratio(Value *out, const CallArgs *args) {
    Value pair[2];
    TSR_TRY(int_unary(&pair[0], OP_POS, args->values[0]));
    pair[1] = value_int(1);
    return tuple_new_move(out, pair, 2);
}

/* round(n, -k): to a multiple of 10^k, ties to even. */
static TsrStatus round_to(Value *out, Value n, Value digits) {
    Value positive, power, q, r, twice;
    TSR_TRY(int_negate(&positive, digits));
    TsrStatus status = int_binary(&power, OP_POW, value_int(10), positive);
    value_release(positive);
    TSR_TRY(status);
    status = int_divmod(&q, &r, n, power);
    if (status != TSR_OK) goto power_only;
    status = int_shift_left(&twice, r, 1);
    if (status != TSR_OK) goto all;
    int order = int_compare(twice, power);
    bool odd = q.tag != V_OBJ ? (q.i & 1) != 0 : mp_isodd(&value_as_bigint(q)->mp);
    value_release(twice);
    Value change;
    status = order > 0 || (order == 0 && odd) ? int_binary(&change, OP_SUB, power, r) : int_negate(&change, r);
    if (status == TSR_OK) {
        status = int_binary(out, OP_ADD, n, change);
        value_release(change);
    }
all:
    value_release(q);
    value_release(r);
power_only:
    value_release(power);
    return status;
}

static TsrStatus method_round(Value *out, const CallArgs *args) {
    Value n = args->values[0];
    if (args->count < 2 || value_is_none(args->values[1])) return int_unary(out, OP_POS, n);
    if (!value_is_int(args->values[1]))
        return tsr_error(TSR_TYPE_ERROR, "'%s' object cannot be interpreted as an integer",
                         value_type_name(args->values[1]));
    if (int_sign(args->values[1]) >= 0) return int_unary(out, OP_POS, n);
    int64_t digits;
    if (!int_fits_int64(args->values[1], &digits) ||
        -digits > int_bit_length(n) + 1) { /* 10^k is far more than 2 |n| */
        *out = value_int(0);
        return TSR_OK;
    }
    return round_to(out, n, args->values[1]);
}

static TsrStatus byte_order(bool *little, Value v, const char *function) {
    *little = false;
    if (v.tag == V_UNBOUND) return TSR_OK;
    if (!value_is_str(v))
        return tsr_error(TSR_TYPE_ERROR, "%s() argument 'byteorder' must be str, not %s", function,
                         value_shown_type(v));
    *little = str_equal_c(value_as_str(v), "little");
    if (!*little && !str_equal_c(value_as_str(v), "big"))
        return tsr_error(TSR_VALUE_ERROR, "byteorder must be either 'little' or 'big'");
    return TSR_OK;
}

static void reverse_bytes(unsigned char *p, int64_t n) {
    for (int64_t i = 0, j = n - 1; i < j; i++, j--) {
        unsigned char t = p[i];
        p[i] = p[j];
        p[j] = t;
    }
}

static TsrStatus write_bytes(unsigned char *p, int64_t length, Value v) {
    mp_int mp, all;
    TsrStatus status = TSR_OK;
    TSR_TRY(int_to_mp(&mp, v));
    if (mp_init(&all) != MP_OKAY) {
        mp_clear(&mp);
        return mem_error();
    }
    if (mp_isneg(&mp)) { /* two's complement: ~(|v| - 1) */
        MP_TRY(mp_2expt(&all, (int)(length * 8)));
        MP_TRY(mp_add(&mp, &all, &mp));
    }
    status = bigint_to_bytes(p, length, &mp);
done:
    mp_clear_multi(&mp, &all, NULL);
    return status;
}

static TsrStatus method_to_bytes(Value *out, const CallArgs *args) {
    static const char *const names[] = {"length", "byteorder", "signed"};
    static const ArgSpec spec = {"to_bytes", names, 3, 0, 2, 0};
    Value given[3], v = args->values[0];
    int64_t length = 1;
    bool little, is_signed = false;
    TSR_TRY(args_parse(given, args, 1, &spec));
    if (given[0].tag != V_UNBOUND) TSR_TRY(value_to_index(&length, given[0]));
    TSR_TRY(byte_order(&little, given[1], "to_bytes"));
    if (given[2].tag != V_UNBOUND) TSR_TRY(value_truth(&is_signed, given[2]));
    if (length < 0) return tsr_error(TSR_VALUE_ERROR, "length argument must be non-negative");
    if (length > INT32_MAX / 8) return mem_error();
    if (int_sign(v) < 0 && !is_signed) return tsr_error(TSR_OVERFLOW_ERROR, "can't convert negative int to unsigned");
    Value below = v;
    if (int_sign(v) < 0) TSR_TRY(int_unary(&below, OP_INVERT, v));
    bool fits = int_bit_length(below) + is_signed <= length * 8;
    if (int_sign(v) < 0) value_release(below);
    if (!fits) return tsr_error(TSR_OVERFLOW_ERROR, "int too big to convert");
    TSR_TRY(bytes_new(out, NULL, length));
    char *data;
    value_as_buffer(*out, &data, &length);
    TsrStatus status = write_bytes((unsigned char *)data, length, v);
    if (status != TSR_OK) value_release(*out);
    else if (little) reverse_bytes((unsigned char *)data, length);
    return status;
}

static TsrStatus read_bytes(Value *out, const unsigned char *p, int64_t size, bool is_signed) {
    mp_int mp, all;
    TsrStatus status;
    if (mp_init_multi(&mp, &all, NULL) != MP_OKAY) return mem_error();
    if ((status = bigint_from_bytes(&mp, p, size)) != TSR_OK) goto done;
    if (is_signed && size > 0 && p[0] >= 0x80) {
        MP_TRY(mp_2expt(&all, (int)(size * 8)));
        MP_TRY(mp_sub(&mp, &all, &mp));
    }
    mp_clear(&all);
    return int_new_mp_move(out, &mp);
done:
    mp_clear_multi(&mp, &all, NULL);
    return status;
}

static TsrStatus method_from_bytes(Value *out, const CallArgs *args) {
    static const char *const names[] = {"bytes", "byteorder", "signed"};
    static const ArgSpec spec = {"from_bytes", names, 3, 0, 2, 1};
    Value given[3], copy;
    bool little, is_signed = false;
    TSR_TRY(args_parse(given, args, 1, &spec));
    TSR_TRY(byte_order(&little, given[1], "from_bytes"));
    if (given[2].tag != V_UNBOUND) TSR_TRY(value_truth(&is_signed, given[2]));
    if (value_is_int(given[0]) || value_is_str(given[0])) {
        return tsr_error(TSR_TYPE_ERROR, "cannot convert '%s' object to bytes", value_type_name(given[0]));
    }
    TSR_TRY(value_call_n(&copy, value_lent(&bytes_type), 1, given));
    char *data;
    int64_t size;
    value_as_buffer(copy, &data, &size);
    TsrStatus status = TSR_OK;
    unsigned char *turned = tsr_malloc((size_t)size + 1);
    if (turned == NULL) status = mem_error();
    if (status == TSR_OK) {
        memcpy(turned, data, (size_t)size);
        if (little) reverse_bytes(turned, size);
        status = read_bytes(out, turned, size, is_signed);
    }
    tsr_free(turned);
    value_release(copy);
    return status;
}

static TsrStatus get_self(Value *out, Value self) { return int_unary(out, OP_POS, self); }
static TsrStatus get_zero(Value *out, Value self) {
    (void)self;
    *out = value_int(0);
    return TSR_OK;
}
static TsrStatus get_one(Value *out, Value self) {
    (void)self;
    *out = value_int(1);
    return TSR_OK;
}

static const Getter int_getters[] = {
    {"real", get_self, NULL, "The number itself."},
    {"imag", get_zero, NULL, "0."},
    {"numerator", get_self, NULL, "The number itself."},
    {"denominator", get_one, NULL, "1."},
    {0},
};
static const Method int_methods[] = {
    {"bit_length", method_bit_length, ARGS_NONE, 0, 0, "()", "How many bits the absolute value takes."},
    {"bit_count", method_bit_count, ARGS_NONE, 0, 0, "()", "How many bits of the absolute value are set."},
    {"conjugate", method_self, ARGS_NONE, 0, 0, "()", "The number itself."},
    {"as_integer_ratio", method_ratio, ARGS_NONE, 0, 0, "()", "(n, 1)."},
    {"to_bytes", method_to_bytes, ARGS_ANY, 0, 0, "(length=1, byteorder='big', *, signed=False)",
     "The bytes of the number."},
    {"from_bytes", method_from_bytes, ARGS_ANY | METHOD_CLASS, 0, 0, "(bytes, byteorder='big', *, signed=False)",
     "The number of the bytes."},
    {"__round__", method_round, ARGS_RANGE, 0, 1, "(ndigits=None, /)", NULL},
    {"__trunc__", method_self, ARGS_NONE, 0, 0, "()", NULL},
    {"__floor__", method_self, ARGS_NONE, 0, 0, "()", NULL},
    {"__ceil__", method_self, ARGS_NONE, 0, 0, "()", NULL},
    {0},
};

Type int_type = {.obj = TYPE_HEADER,
                 .name = "int",
                 .flags = TYPE_ATOMIC,
                 .doc = "int(x=0) or int(text, base=10): whole numbers of any size.",
                 .construct = int_construct,
                 .destroy = int_destroy,
                 .repr = int_repr,
                 .hash = int_hash_slot,
                 .compare = int_compare_slot,
                 .truth = int_truth,
                 .format = int_format_slot,
                 .binary = int_binary_slot,
                 .unary = int_unary,
                 .methods = int_methods,
                 .getters = int_getters};

/* --- bool --- */

static TsrStatus bool_repr(TsrText *out, Value self) { return tsr_text_puts(out, self.b ? "True" : "False"); }

static TsrStatus bool_construct(Value *out, Type *type, const CallArgs *args) {
    bool truth = false;
    TSR_TRY(args_no_keywords(args, type->name));
    TSR_TRY(args_count(args, 0, 0, 1, "bool"));
    if (args->count == 1) TSR_TRY(value_truth(&truth, args->values[0]));
    *out = value_bool(truth);
    return TSR_OK;
}

Type bool_type = {.obj = TYPE_HEADER,
                  .name = "bool",
                  .base = &int_type,
                  .doc = "bool(x): whether x counts as true.",
                  .construct = bool_construct,
                  .repr = bool_repr,
                  .hash = int_hash_slot,
                  .compare = int_compare_slot,
                  .truth = int_truth,
                  .format = int_format_slot,
                  .binary = int_binary_slot,
                  .unary = int_unary};
