/* str_format.c: `%` formatting, of str and bytes, and str.format.
 *
 * Both read their format from left to right and write into one text. Before that a first pass adds up what the fields
 * take at least, their widths and the arguments' lengths, and asks for the room at once: a format that would need more
 * memory than there is fails before anything is written. The fields of str.format hand value and spec to format.c,
 * through the type's slot. */
#include "lang/object/args.h"
#include "bytes.h"
#include "dict.h"
#include "lang/object/exc.h"
#include "format.h"
#include "numbers.h"
#include "repr_size.h"
#include "sequences.h"
#include "str.h"
#include "lang/object/value_impl.h"

#include <ctype.h>
#include <math.h>
#include <string.h>

/* Whether it pays to ask how long the text will be before it is made. */
static bool may_be_long(int64_t format_size, const Value *values, int64_t count) {
    enum { SHORT = 256 };
    bool is_long = format_size > SHORT;
    for (int64_t i = 0; i < count && !is_long; i++)
        is_long = values[i].tag == V_OBJ && !(value_is_str(values[i]) && value_as_str(values[i])->size <= SHORT);
    return is_long;
}

/* --- % --- */

typedef struct Percent {
    const char *data; /* the format: UTF-8, or bytes */
    int64_t size;
    bool bytes;
    int64_t at; /* next byte */
    Value args;
    const Value *items; /* positional arguments */
    int64_t count, next;
    Value dict; /* V_UNBOUND: no mapping */
} Percent;

typedef struct Field {
    bool left, plus, space, alternate, zero;
    bool bytes;               /* of a bytes format: counted in bytes */
    int64_t width, precision; /* -1: none */
    char conversion;
} Field;

static TsrStatus next_arg(Value *out, Percent *p) {
    if (p->next >= p->count) return tsr_error(TSR_TYPE_ERROR, "not enough arguments for format string");
    *out = p->items[p->next++];
    return TSR_OK;
}

static char peek(const Percent *p) { return p->at < p->size ? p->data[p->at] : '\0'; }

/* A width or a precision, of which the first may be larger when it is an argument. */
static TsrStatus read_number(int64_t *out, Percent *p, bool precision) {
    Value v;
    if (peek(p) == '*') {
        p->at++;
        TSR_TRY(next_arg(&v, p));
        if (!value_is_int(v)) return tsr_error(TSR_TYPE_ERROR, "* wants int");
        if (!int_fits_int64(v, out) || (precision && (*out > INT32_MAX || *out < INT32_MIN)))
            return tsr_error(TSR_OVERFLOW_ERROR, "Python int too large to convert to C %s",
                             precision ? "int" : "ssize_t");
        return TSR_OK;
    }
    for (; isdigit((unsigned char)peek(p)); p->at++) {
        if (*out < 0) *out = 0;
        const int64_t digit = peek(p) - '0', most = precision ? INT32_MAX : INT64_MAX;
        if (*out > (most - digit) / 10)
            return tsr_error(TSR_VALUE_ERROR, "%s too big", precision ? "precision" : "width");
        *out = *out * 10 + digit;
    }
    return TSR_OK;
}

/* "(name)": the mapping's value becomes the one argument (retained in *held). */
static TsrStatus read_key(Percent *p, Value *held) {
    if (p->dict.tag == V_UNBOUND) return tsr_error(TSR_TYPE_ERROR, "format requires a mapping");
    int64_t start = ++p->at, depth = 1;
    while (p->at < p->size && depth > 0) {
        char c = p->data[p->at++];
        depth += (c == '(') - (c == ')');
    }
    if (depth > 0) return tsr_error(TSR_VALUE_ERROR, "incomplete format key");
    Value key, found;
    TSR_TRY(p->bytes ? bytes_new(&key, p->data + start, p->at - 1 - start)
                     : str_new(&key, p->data + start, p->at - 1 - start));
    TsrStatus status = value_getitem(&found, p->dict, key);
    value_release(key);
    TSR_TRY(status);
    value_set_move(held, found);
    p->items = held;
    p->count = 1;
    p->next = 0;
    return TSR_OK;
}

static TsrStatus read_field(Field *f, Percent *p, Value *held) {
    *f = (Field){.width = -1, .precision = -1};
    if (peek(p) == '(') TSR_TRY(read_key(p, held));
    for (;; p->at++) {
        char c = peek(p);
        if (c == '-') f->left = true;
        else if (c == '+') f->plus = true;
        else if (c == ' ') f->space = true;
        else if (c == '#') f->alternate = true;
        else if (c == '0') f->zero = true;
        else break;
    }
    TSR_TRY(read_number(&f->width, p, false));
    if (f->width < -1) {
        f->left = true;
        f->width = -TSR_MAX(f->width, -INT64_MAX);
    }
    if (peek(p) == '.') {
        p->at++;
        f->precision = 0;
        TSR_TRY(read_number(&f->precision, p, true));
        if (f->precision < 0) f->precision = 0;
    }
    if (peek(p) == 'h' || peek(p) == 'l' || peek(p) == 'L') p->at++;
    if (p->at >= p->size) return tsr_error(TSR_VALUE_ERROR, "incomplete format");
    f->conversion = p->data[p->at];
    f->bytes = p->bytes;
    return TSR_OK;
}

static size_t padding(const Field *f, int64_t length) { return f->width > length ? (size_t)(f->width - length) : 0; }

/* Text, padded to the width. */
static TsrStatus put_padded(TsrText *out, const Field *f, const char *body, size_t size) {
    size_t pad = padding(f, f->bytes ? (int64_t)size : utf8_count(body, (int64_t)size));
    if (!f->left) TSR_TRY(tsr_text_pad(out, ' ', pad));
    TSR_TRY(tsr_text_append(out, body, size));
    return f->left ? tsr_text_pad(out, ' ', pad) : TSR_OK;
}

/* A number: zeros pad it between prefix and digits. */
static TsrStatus put_number(TsrText *out, const Field *f, const char *sign, const char *prefix, const TsrText *digits) {
    size_t pad = padding(f, (int64_t)(strlen(sign) + strlen(prefix) + digits->length));
    bool zeros = f->zero && !f->left;
    if (!f->left && !zeros) TSR_TRY(tsr_text_pad(out, ' ', pad));
    TSR_TRY(tsr_text_puts(out, sign));
    TSR_TRY(tsr_text_puts(out, prefix));
    if (zeros) TSR_TRY(tsr_text_pad(out, '0', pad));
    TSR_TRY(tsr_text_append(out, digits->data, digits->length));
    return f->left ? tsr_text_pad(out, ' ', pad) : TSR_OK;
}

static const char *sign_of(const Field *f, bool negative) {
    return negative ? "-" : f->plus ? "+" : f->space ? " " : "";
}

static TsrStatus put_text(TsrText *out, const Field *f, Value v) {
    TsrText text = {0};
    TsrStatus status = f->conversion == 's'                ? value_str(&text, v)
                       : f->conversion == 'r' && !f->bytes ? value_repr(&text, v)
                                                           : value_ascii(&text, v);
    size_t size = text.length;
    if (status == TSR_OK && f->precision >= 0) {
        int64_t left = f->precision;
        for (size = 0; size < text.length && left > 0; left--) {
            int n;
            utf8_decode(text.data + size, &n);
            size += (size_t)n;
        }
    }
    if (status == TSR_OK) status = put_padded(out, f, text.data != NULL ? text.data : "", size);
    tsr_text_free(&text);
    return status;
}

/* %s of a bytes format: bytes as they are. */
static TsrStatus put_bytes(TsrText *out, const Field *f, Value v) {
    char *data;
    int64_t size;
    if (!value_as_buffer(v, &data, &size)) {
        return tsr_error(TSR_TYPE_ERROR,
                         "%%b requires a bytes-like object, or an object that implements __bytes__, not '%s'",
                         value_type_name(v));
    }
    if (f->precision >= 0) size = TSR_MIN(size, f->precision);
    return put_padded(out, f, data, (size_t)size);
}

static TsrStatus put_byte(TsrText *out, const Field *f, Value v) {
    char *data, byte;
    int64_t size = 1, c;
    if (value_is_int(v)) {
        if (!int_fits_int64(v, &c) || c < 0 || c > 255)
            return tsr_error(TSR_OVERFLOW_ERROR, "%%c arg not in range(256)");
        byte = (char)c;
        data = &byte;
    } else if (!value_as_buffer(v, &data, &size) || size != 1) {
        return tsr_error(TSR_TYPE_ERROR, "%%c requires an integer in range(256) or a single byte");
    }
    return put_padded(out, f, data, 1);
}

static TsrStatus put_char(TsrText *out, const Field *f, Value v) {
    char buffer[4];
    int n;
    if (value_is_str(v)) {
        if (value_as_str(v)->length != 1) return tsr_error(TSR_TYPE_ERROR, "%%c requires int or char");
        n = (int)value_as_str(v)->size;
        memcpy(buffer, value_as_str(v)->data, (size_t)n);
    } else {
        int64_t c;
        TsrStatus status = value_to_index_clamped(&c, v);
        if (status == TSR_TYPE_ERROR) {
            exc_discard(status);
            return tsr_error(TSR_TYPE_ERROR, "%%c requires int or char");
        }
        TSR_TRY(status);
        if (c < 0 || c > 0x10ffff) return tsr_error(TSR_OVERFLOW_ERROR, "%%c arg not in range(0x110000)");
        n = utf8_encode(buffer, (uint32_t)c);
    }
    return put_padded(out, f, buffer, (size_t)n);
}

/* The number as an int: %d truncates floats; *out is the caller's. */
static TsrStatus int_argument(Value *out, const Field *f, Value v) {
    bool whole = strchr("xXo", f->conversion) != NULL;
    if (value_is_int(v)) {
        *out = value_retain(v);
        return TSR_OK;
    }
    if (v.tag == V_FLOAT && !whole) return int_new_double(out, v.f);
    if (v.tag == V_TENSOR && !whole) return value_call_n(out, value_lent(&int_type), 1, &v);
    if (v.tag == V_TENSOR) {
        int64_t index;
        TsrStatus status = value_to_index(&index, v);
        if (status == TSR_OK) *out = value_int(index);
        if (status != TSR_TYPE_ERROR) return status;
        exc_discard(status);
    }
    return tsr_error(TSR_TYPE_ERROR,
                     whole ? "%%%c format: an integer is required, not %s"
                           : "%%%c format: a real number is required, not %s",
                     f->bytes && f->conversion == 'i' ? 'd' : f->conversion, value_type_name(v));
}

static TsrStatus put_int(TsrText *out, const Field *f, Value v) {
    Value n;
    TSR_TRY(int_argument(&n, f, v));
    TsrText digits = {0}, body = {0};
    int base = f->conversion == 'o' ? 8 : (f->conversion | 32) == 'x' ? 16 : 10;
    TsrStatus status = int_digits(&digits, n, base);
    bool negative = int_sign(n) < 0;
    size_t skip = negative ? 1 : 0;
    if (status == TSR_OK) {
        int64_t have = (int64_t)(digits.length - skip);
        if (f->precision > have) status = tsr_text_pad(&body, '0', (size_t)(f->precision - have));
        if (status == TSR_OK) status = tsr_text_append(&body, digits.data + skip, digits.length - skip);
    }
    const char *prefix = !f->alternate          ? ""
                         : f->conversion == 'o' ? "0o"
                         : f->conversion == 'x' ? "0x"
                         : f->conversion == 'X' ? "0X"
                                                : "";
    for (size_t i = 0; status == TSR_OK && f->conversion == 'X' && i < body.length; i++)
        body.data[i] = (char)toupper((unsigned char)body.data[i]);
    if (status == TSR_OK) status = put_number(out, f, sign_of(f, negative), prefix, &body);
    tsr_text_free(&digits);
    tsr_text_free(&body);
    value_release(n);
    return status;
}

static TsrStatus put_float(TsrText *out, const Field *f, Value v) {
    double d;
    if (f->bytes && v.tag != V_FLOAT && v.tag != V_TENSOR && !value_is_int(v))
        return tsr_error(TSR_TYPE_ERROR, "float argument required, not %s", value_type_name(v));
    TSR_TRY(value_to_double(&d, v));
    TsrText body = {0};
    int64_t precision = f->precision < 0 ? 6 : f->precision;
    TsrStatus status;
    if (isfinite(d)) status = format_c_double(&body, fabs(d), f->conversion, precision, f->alternate);
    else
        status = tsr_text_puts(&body, isnan(d) ? (isupper((unsigned char)f->conversion) ? "NAN" : "nan")
                                      : isupper((unsigned char)f->conversion) ? "INF"
                                                                              : "inf");
    if (status == TSR_OK) status = put_number(out, f, sign_of(f, signbit(d) && !isnan(d)), "", &body);
    tsr_text_free(&body);
    return status;
}

static TsrStatus unsupported(const Percent *p, uint32_t c) {
    int64_t index = p->bytes ? p->at : utf8_count(p->data, p->at);
    return tsr_error(TSR_VALUE_ERROR, "unsupported format character '%c' (0x%x) at index %lld",
                     c > 30 && c < 127 ? (int)c : '?', c, (long long)index);
}

static TsrStatus put_field(TsrText *out, Percent *p, const Field *f) {
    Value v;
    int n = 1;
    TSR_TRY(next_arg(&v, p));
    uint32_t c = p->bytes ? (unsigned char)f->conversion : utf8_decode(p->data + p->at, &n);
    if (c >= 0x80 || strchr(p->bytes ? "sbracdiuxXoeEfFgG" : "sracdiuxXoeEfFgG", (int)c) == NULL)
        return unsupported(p, c);
    switch (f->conversion) {
    case 's':
    case 'b':
        if (p->bytes) return put_bytes(out, f, v);
        /* fall through */
    case 'r':
    case 'a': return put_text(out, f, v);
    case 'c': return p->bytes ? put_byte(out, f, v) : put_char(out, f, v);
    case 'd':
    case 'i':
    case 'u':
    case 'x':
    case 'X':
    case 'o': return put_int(out, f, v);
    default: return put_float(out, f, v);
    }
}

static TsrStatus percent_all(TsrText *out, Percent *p, Value *held) {
    while (p->at < p->size) {
        const char *rest = p->data + p->at;
        const char *sign = memchr(rest, '%', (size_t)(p->size - p->at));
        size_t plain = sign != NULL ? (size_t)(sign - rest) : (size_t)(p->size - p->at);
        TSR_TRY(tsr_text_append(out, rest, plain));
        p->at += (int64_t)plain;
        if (sign == NULL) break;
        p->at++;
        if (peek(p) == '%') {
            TSR_TRY(tsr_text_putc(out, '%'));
        } else {
            Field f;
            TSR_TRY(read_field(&f, p, held));
            TSR_TRY(put_field(out, p, &f));
        }
        p->at++;
    }
    if (p->next >= p->count || p->dict.tag != V_UNBOUND) return TSR_OK;
    return tsr_error(TSR_TYPE_ERROR, "not all arguments converted during %s formatting", p->bytes ? "bytes" : "string");
}

/* Values whose items a %(name)s looks up, and which need not be used up. */
static bool is_mapping(Value v, bool for_bytes) {
    if (value_is_tuple(v) || value_is_str(v) || value_is_obj(v, &type_type)) return false;
    if (for_bytes && (value_is_bytes(v) || value_is_bytearray(v))) return false;
    return value_type(v)->get_item != NULL;
}

/* The bytes that a field's text takes at least. */
static int64_t least_of_percent(const Field *f, Value v) {
    char *data;
    int64_t width = TSR_MAX(f->width, 0), size = 0;
    if (f->precision >= 0) return width;
    if (f->bytes && (f->conversion == 's' || f->conversion == 'b')) value_as_buffer(v, &data, &size);
    else if (f->conversion == 's' || f->conversion == 'r') size = repr_least(v) - (value_is_str(v) ? 2 : 0);
    return TSR_MAX(width, size);
}

/* Room for what percent_all will write, of positional arguments; a fault in the format is for that to name. */
static TsrStatus reserve_percent(TsrText *out, Percent p) {
    int64_t size = 0;
    for (const char *sign; p.at < p.size && (sign = memchr(p.data + p.at, '%', (size_t)(p.size - p.at))) != NULL;
         p.at++) {
        Field f;
        Value v;
        size += sign - p.data - p.at;
        p.at = sign - p.data + 1;
        if (peek(&p) == '%') continue;
        if (peek(&p) == '(') return TSR_OK;
        TsrStatus status = read_field(&f, &p, NULL);
        if (status == TSR_OK) status = next_arg(&v, &p);
        if (status != TSR_OK) return exc_discard(status), TSR_OK;
        if (__builtin_add_overflow(size, least_of_percent(&f, v), &size)) return mem_error();
    }
    return tsr_text_reserve(out, (size_t)size);
}

static TsrStatus percent(TsrText *text, Percent *p, Value args) {
    p->args = args;
    p->items = &p->args;
    p->count = 1;
    p->dict = is_mapping(args, p->bytes) ? args : VALUE_UNBOUND;
    if (value_is_tuple(args)) {
        p->items = value_as_tuple(args)->items;
        p->count = value_as_tuple(args)->count;
    }
    Value held = VALUE_UNBOUND;
    TsrStatus status = may_be_long(p->size, p->items, p->count) ? reserve_percent(text, *p) : TSR_OK;
    if (status == TSR_OK) status = percent_all(text, p, &held);
    value_release(held);
    if (status != TSR_OK) tsr_text_free(text);
    return status;
}

TsrStatus str_percent(Value *out, Str *format, Value args) {
    TsrText text = {0};
    TSR_TRY(percent(&text, &(Percent){.data = format->data, .size = format->size}, args));
    return str_new_text_move(out, &text);
}

TsrStatus bytes_percent(TsrText *out, const char *format, int64_t size, Value args) {
    return percent(out, &(Percent){.data = format, .size = size, .bytes = true}, args);
}

/* --- str.format --- */

typedef struct Fill {
    const CallArgs *args; /* NULL: only the mapping */
    int skip;
    Value mapping; /* of format_map; V_UNBOUND */
    int64_t next;  /* automatic number; -1: manual numbering is in use */
    bool numbered;
} Fill;

static TsrStatus fill_text(TsrText *out, Fill *fill, const char *p, const char *end, int depth);

static TsrStatus positional(Value *out, Fill *fill, int64_t i) {
    if (fill->mapping.tag != V_UNBOUND) return tsr_error(TSR_VALUE_ERROR, "Format string contains positional fields");
    if (i >= fill->args->count - fill->skip)
        return tsr_error(TSR_INDEX_ERROR, "Replacement index %lld out of range for positional args tuple",
                         (long long)i);
    *out = value_retain(fill->args->values[fill->skip + i]);
    return TSR_OK;
}

static bool all_digits(const char *p, const char *end, int64_t *number) {
    int64_t n = 0;
    const char *q = p;
    for (; q < end && isdigit((unsigned char)*q) && n < INT32_MAX; q++) n = n * 10 + (*q - '0');
    *number = n;
    return q == end && p < end;
}

static TsrStatus named(Value *out, Fill *fill, const char *p, const char *end) {
    Value key;
    TSR_TRY(str_new(&key, p, end - p));
    TsrStatus status = TSR_OK;
    if (fill->mapping.tag != V_UNBOUND) {
        status = value_getitem(out, fill->mapping, key);
    } else {
        Value found = VALUE_UNBOUND;
        for (int i = 0; i < fill->args->keyword_count; i++) {
            if (str_equal(fill->args->names[i], value_as_str(key))) found = fill->args->values[fill->args->count + i];
        }
        if (found.tag == V_UNBOUND) status = exc_raise_value(TSR_KEY_ERROR, key);
        else *out = value_retain(found);
    }
    value_release(key);
    return status;
}

/* The first part of a field's name. */
static TsrStatus first_value(Value *out, Fill *fill, const char *p, const char *end) {
    int64_t number;
    bool automatic = p == end, manual = !automatic && all_digits(p, end, &number);
    if (automatic || manual) {
        if (automatic && fill->next < 0)
            return tsr_error(TSR_VALUE_ERROR,
                             "cannot switch from manual field specification to automatic field numbering");
        if (manual && fill->numbered && fill->next >= 0)
            return tsr_error(TSR_VALUE_ERROR,
                             "cannot switch from automatic field numbering to manual field specification");
        fill->numbered = true;
        if (manual) fill->next = -1;
        return positional(out, fill, automatic ? fill->next++ : number);
    }
    return named(out, fill, p, end);
}

static TsrStatus one_step(Value *v, const char **at, const char *end) {
    const char *p = *at;
    Value key, next;
    TsrStatus status;
    if (*p == '.') {
        const char *stop = ++p;
        while (stop < end && *stop != '.' && *stop != '[') stop++;
        if (stop == p) return tsr_error(TSR_VALUE_ERROR, "Empty attribute in format string");
        Str *name = str_intern(p, stop - p);
        if (name == NULL) return TSR_MEMORY_ERROR;
        status = value_getattr(&next, *v, name);
        *at = stop;
    } else {
        if (*p != '[') return tsr_error(TSR_VALUE_ERROR, "Only '.' or '[' may follow ']' in format field specifier");
        const char *stop = memchr(p, ']', (size_t)(end - p));
        if (stop == NULL) return tsr_error(TSR_VALUE_ERROR, "Missing ']' in format string");
        if (stop == p + 1) return tsr_error(TSR_VALUE_ERROR, "Empty attribute in format string");
        int64_t number;
        if (all_digits(p + 1, stop, &number)) key = value_int(number);
        else TSR_TRY(str_new(&key, p + 1, stop - p - 1));
        status = value_getitem(&next, *v, key);
        value_release(key);
        *at = stop + 1;
    }
    TSR_TRY(status);
    value_set_move(v, next);
    return TSR_OK;
}

static TsrStatus field_value(Value *out, Fill *fill, const char *p, const char *end) {
    const char *stop = p;
    while (stop < end && *stop != '.' && *stop != '[') stop++;
    Value v;
    TSR_TRY(first_value(&v, fill, p, stop));
    while (stop < end) {
        TsrStatus status = one_step(&v, &stop, end);
        if (status == TSR_OK) continue;
        value_release(v);
        return status;
    }
    *out = v;
    return TSR_OK;
}

/* One {field}: its name, conversion and spec, as places in the text. */
typedef struct Replacement {
    const char *name, *name_end, *spec, *spec_end;
    uint32_t conversion; /* 0: none */
    bool nested;         /* the spec has fields of its own */
} Replacement;

/* Leaves *at behind the character that ended the name, which is returned; 0 at the end of the text. */
static TsrStatus read_name(char *stop, Replacement *r, const char **at, const char *end) {
    const char *p = *at;
    *stop = '\0';
    for (r->name = p; p < end && *stop == '\0'; p++) {
        if (*p == '{') return tsr_error(TSR_VALUE_ERROR, "unexpected '{' in field name");
        if (*p == '}' || *p == ':' || *p == '!') *stop = *p;
        while (*p == '[' && p + 1 < end && p[1] != ']') {
            for (p++; p + 1 < end && p[1] != ']';) p++;
        }
    }
    r->name_end = *stop != '\0' ? p - 1 : p;
    *at = p;
    return TSR_OK;
}

/* The spec up to the brace that closes the field. */
static TsrStatus read_spec(Replacement *r, const char **at, const char *end) {
    int depth = 1;
    for (const char *p = r->spec = *at; p < end; p++) {
        if (*p == '{') r->nested = true;
        depth += (*p == '{') - (*p == '}');
        if (depth > 0) continue;
        r->spec_end = p;
        *at = p + 1;
        return TSR_OK;
    }
    return tsr_error(TSR_VALUE_ERROR, "unmatched '{' in format spec");
}

/* *at stands after '{' and is left behind the closing '}'. */
static TsrStatus read_replacement(Replacement *r, const char **at, const char *end) {
    char stop;
    int n;
    TSR_TRY(read_name(&stop, r, at, end));
    if (stop == '\0') return tsr_error(TSR_VALUE_ERROR, "expected '}' before end of string");
    if (stop == '!') {
        if (*at == end) return tsr_error(TSR_VALUE_ERROR, "end of string while looking for conversion specifier");
        r->conversion = utf8_decode(*at, &n);
        *at += n;
        stop = *at < end ? *(*at)++ : ':';
        if (stop != '}' && stop != ':') return tsr_error(TSR_VALUE_ERROR, "expected ':' after conversion specifier");
    }
    return stop == ':' ? read_spec(r, at, end) : TSR_OK;
}

static TsrStatus check_conversion(uint32_t c) {
    if (c == 0 || c == 'r' || c == 's' || c == 'a') return TSR_OK;
    return tsr_error(TSR_VALUE_ERROR,
                     c > 32 && c < 127 ? "Unknown conversion specifier %c" : "Unknown conversion specifier \\x%x", c);
}

static TsrStatus put_replacement(TsrText *out, Fill *fill, const Replacement *r, int depth) {
    Value v;
    TSR_TRY(field_value(&v, fill, r->name, r->name_end));
    TsrText built = {0};
    TsrStatus status = check_conversion(r->conversion);
    if (status == TSR_OK && r->spec != NULL) {
        status = r->nested ? fill_text(&built, fill, r->spec, r->spec_end, depth + 1)
                           : tsr_text_append(&built, r->spec, (size_t)(r->spec_end - r->spec));
    }
    if (status == TSR_OK)
        status = value_format_field(out, v, (int)r->conversion, built.data != NULL ? built.data : "", built.length);
    tsr_text_free(&built);
    value_release(v);
    return status;
}

static TsrStatus fill_text(TsrText *out, Fill *fill, const char *p, const char *end, int depth) {
    if (depth > 2) return tsr_error(TSR_VALUE_ERROR, "Max string recursion exceeded");
    while (p < end) {
        char c = *p++;
        bool brace = c == '{' || c == '}';
        if (!brace || (p < end && *p == c)) {
            p += brace;
            TSR_TRY(tsr_text_putc(out, c));
            continue;
        }
        if (c == '}') return tsr_error(TSR_VALUE_ERROR, "Single '}' encountered in format string");
        if (p == end) return tsr_error(TSR_VALUE_ERROR, "Single '{' encountered in format string");
        Replacement r = {0};
        TSR_TRY(read_replacement(&r, &p, end));
        TSR_TRY(put_replacement(out, fill, &r, depth));
    }
    return TSR_OK;
}

/* --- the size that the text has at least, known before any of it is made --- */

/* The width of a spec without fields of its own; 0: none. */
static int64_t width_of(const char *p, const char *end) {
    int64_t width = 0;
    int n;
    if (p == NULL || p == end) return 0;
    utf8_decode(p, &n);
    if (end - p > n && strchr("<>=^", p[n]) != NULL) p += n + 1;
    else if (strchr("<>=^", *p) != NULL) p++;
    while (p < end && strchr("+- z#0", *p) != NULL) p++;
    for (; p < end && isdigit((unsigned char)*p) && width < INT32_MAX; p++) width = width * 10 + (*p - '0');
    return width;
}

/* The argument that a field without attributes and items names; V_UNBOUND: it is not known without a look. */
static Value simple_argument(const Fill *fill, const Replacement *r, int64_t automatic) {
    int64_t i = automatic;
    bool counted = r->name == r->name_end || all_digits(r->name, r->name_end, &i);
    if (fill->args == NULL) return VALUE_UNBOUND;
    if (counted) return i < fill->args->count - fill->skip ? fill->args->values[fill->skip + i] : VALUE_UNBOUND;
    for (int k = 0; k < fill->args->keyword_count; k++) {
        const Str *name = fill->args->names[k];
        if (name->size == r->name_end - r->name && memcmp(name->data, r->name, (size_t)name->size) == 0)
            return fill->args->values[fill->args->count + k];
    }
    return VALUE_UNBOUND;
}

static int64_t least_of_field(const Fill *fill, const Replacement *r, int64_t automatic) {
    int64_t width = r->nested ? 0 : width_of(r->spec, r->spec_end);
    Value v = simple_argument(fill, r, automatic);
    if (v.tag == V_UNBOUND || (r->spec != NULL && memchr(r->spec, '.', (size_t)(r->spec_end - r->spec)) != NULL))
        return width;
    bool quotes = value_is_str(v) && r->conversion != 'r' && r->conversion != 'a';
    return TSR_MAX(width, repr_least(v) - 2 * quotes);
}

/* Room for what `fill_text` will write: 0 where the format has a fault, which that will name. */
static TsrStatus reserve_filled(TsrText *out, const Fill *fill, const char *p, const char *end) {
    int64_t size = 0, automatic = 0;
    while (p < end) {
        char c = *p++;
        int64_t more = 1;
        if ((c == '{' || c == '}') && p < end && *p == c) {
            p++;
        } else if (c == '{') {
            Replacement r = {0};
            TsrStatus status = read_replacement(&r, &p, end);
            if (status != TSR_OK) return exc_discard(status), TSR_OK;
            more = least_of_field(fill, &r, automatic);
            automatic += r.name == r.name_end;
        }
        if (__builtin_add_overflow(size, more, &size)) return mem_error();
    }
    return tsr_text_reserve(out, (size_t)size);
}

static TsrStatus format_text(TsrText *out, Fill *fill, const Str *format) {
    const char *end = format->data + format->size;
    const CallArgs *args = fill->args;
    if (args != NULL && may_be_long(format->size, args->values, args->count + args->keyword_count))
        TSR_TRY(reserve_filled(out, fill, format->data, end));
    return fill_text(out, fill, format->data, end, 1);
}

TsrStatus str_format_method(TsrText *out, Str *format, const CallArgs *args, int skip) {
    Fill fill = {.args = args, .skip = skip, .mapping = VALUE_UNBOUND};
    return format_text(out, &fill, format);
}

TsrStatus str_format_map(TsrText *out, Str *format, Value mapping) {
    Fill fill = {.mapping = mapping};
    return format_text(out, &fill, format);
}
