/* The format mini-language. A specification is parsed once and checked against the kind of value; then sign, prefix,
 * digits with their grouping, and padding are appended to a text. */
#include "format.h"

#include <ctype.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "numbers.h"
#include "core/number.h"
#include "str.h"

typedef struct Spec {
    char fill[8]; /* UTF-8 of one character */
    int fill_size;
    char align; /* < > ^ =, 0: the type's own */
    char sign;  /* + - space, 0 */
    bool no_minus_zero, alternate, zero;
    int64_t width;     /* -1: none */
    char grouping;     /* , _ or 0 */
    int64_t precision; /* -1: none */
    char type;         /* 0: none */
} Spec;

/* ---- parsing ---- */

static bool is_align(char c) { return c == '<' || c == '>' || c == '^' || c == '='; }

static TsrStatus parse_number(const char **p, const char *end, int64_t *out) {
    *out = -1;
    if (*p == end || !isdigit((unsigned char)**p)) return TSR_OK;
    for (*out = 0; *p < end && isdigit((unsigned char)**p); ++*p)
        if (tsr_mul_overflows(*out, 10, out) || tsr_add_overflows(*out, **p - '0', out))
            return tsr_error(TSR_VALUE_ERROR, "Too many decimal digits in format string");
    return TSR_OK;
}

static TsrStatus cannot_group(char grouping, char with) {
    return tsr_error(TSR_VALUE_ERROR, "Cannot specify '%c' with '%c'.", grouping, with);
}

static TsrStatus check_grouping(const Spec *f) {
    if (f->grouping == 0 || f->type == 0 || strchr("defgEFG%", f->type) != NULL) return TSR_OK;
    if (f->grouping == '_' && strchr("boxX", f->type) != NULL) return TSR_OK;
    return cannot_group(f->grouping, f->type);
}

static TsrStatus parse_grouping(const char **p, const char *end, Spec *f) {
    if (*p < end && (**p == ',' || **p == '_')) f->grouping = *(*p)++;
    if (f->grouping == 0 || *p == end || (**p != ',' && **p != '_')) return TSR_OK;
    if (**p != f->grouping) return tsr_error(TSR_VALUE_ERROR, "Cannot specify both ',' and '_'.");
    return cannot_group(f->grouping, **p);
}

static TsrStatus parse_spec(Spec *f, const char *spec, size_t size, const char *type_name) {
    const char *p = spec, *end = spec + size;
    int first = 0;
    *f = (Spec){.fill = " ", .fill_size = 1, .width = -1, .precision = -1};
    if (p < end) utf8_decode(p, &first);
    if (p + first < end && first > 0 && is_align(p[first])) {
        memcpy(f->fill, p, (size_t)first);
        f->fill_size = first;
        f->align = p[first];
        p += first + 1;
    } else if (p < end && is_align(*p)) {
        f->align = *p++;
    }
    bool own_fill = f->align != 0 && first > 0 && spec + first < end && is_align(spec[first]);
    if (p < end && (*p == '+' || *p == '-' || *p == ' ')) f->sign = *p++;
    if (p < end && *p == 'z') {
        f->no_minus_zero = true;
        p++;
    }
    if (p < end && *p == '#') {
        f->alternate = true;
        p++;
    }
    if (!own_fill && p < end && *p == '0') {
        f->fill[0] = '0';
        f->zero = true;
        if (f->align == 0) f->align = strcmp(type_name, "str") == 0 ? 0 : '=';
        p++;
    }
    TSR_TRY(parse_number(&p, end, &f->width));
    TSR_TRY(parse_grouping(&p, end, f));
    if (p < end && *p == '.') {
        p++;
        TSR_TRY(parse_number(&p, end, &f->precision));
        if (f->precision < 0) return tsr_error(TSR_VALUE_ERROR, "Format specifier missing precision");
    }
    if (end - p > 1) {
        int last = 0;
        utf8_decode(p, &last);
        if (end - p > last)
            return tsr_error(TSR_VALUE_ERROR, "Invalid format specifier '%.*s' for object of type '%s'", (int)size,
                             spec, type_name);
        return tsr_error(TSR_VALUE_ERROR, "Unknown format code '\\x%x' for object of type '%s'", utf8_decode(p, &last),
                         type_name);
    }
    if (p < end) f->type = *p;
    if (f->type == 0 && f->grouping != 0 && strcmp(type_name, "str") == 0) return cannot_group(f->grouping, 's');
    return check_grouping(f);
}

static TsrStatus unknown_code(const Spec *f, const char *type_name) {
    const char *form = f->type > ' ' ? "Unknown format code '%c' for object of type '%s'"
                                     : "Unknown format code '\\x%x' for object of type '%s'";
    return tsr_error(TSR_VALUE_ERROR, form, f->type, type_name);
}

/* ---- laying out ---- */

static TsrStatus append_fill(TsrText *out, const Spec *f, int64_t n) {
    if (f->fill_size == 1) return n > 0 ? tsr_text_pad(out, f->fill[0], (size_t)n) : TSR_OK;
    for (int64_t i = 0; i < n; i++) TSR_TRY(tsr_text_append(out, f->fill, (size_t)f->fill_size));
    return TSR_OK;
}

/* Whole digits with separators, at least `min_width` characters wide by leading zeros (CPython groups those too). */
static TsrStatus append_grouped(TsrText *out, const char *digits, int64_t count, char separator, int group,
                                int64_t min_width) {
    char small[256], *text = small;
    int64_t room = 2 * (count + TSR_MAX(min_width, 0)) + 8, at = room, left = count;
    if (room > (int64_t)sizeof small && (text = tsr_malloc((size_t)room)) == NULL) return mem_error();
    TsrStatus status = TSR_OK;
    for (int64_t groups = 0; status == TSR_OK; groups++) { /* from the last one on */
        int64_t take = TSR_MIN(group, TSR_MAX(TSR_MAX(left, min_width), 1));
        for (int64_t i = 0; i < take; i++, left--) text[--at] = left > 0 ? digits[left - 1] : '0';
        left = TSR_MAX(left, 0);
        min_width -= take;
        if (left == 0 && min_width <= 0) break;
        text[--at] = separator;
        min_width--;
        status = tsr_interrupt_check_at(groups);
    }
    if (status == TSR_OK) status = tsr_text_append(out, text + at, (size_t)(room - at));
    if (text != small) tsr_free(text);
    return status;
}

/* The parts of a number: sign, prefix ("0x"), whole digits, and the rest (".5e+10", "%"). */
typedef struct Parts {
    char sign;
    const char *prefix;
    const char *digits;
    int64_t ndigits;
    const char *rest;
    int64_t nrest;
    int group;
} Parts;

static TsrStatus append_number(TsrText *out, const Spec *f, const Parts *n) {
    int64_t fixed = (n->sign != 0) + (int64_t)strlen(n->prefix) + n->nrest;
    bool zero_padded = f->align == '=' && f->fill_size == 1 && f->fill[0] == '0';
    int64_t min_width = f->grouping != 0 && zero_padded && f->width > fixed ? f->width - fixed : 0;
    TsrText digits = {0};
    TsrStatus status = f->grouping != 0
                           ? append_grouped(&digits, n->digits, n->ndigits, f->grouping, n->group, min_width)
                           : tsr_text_append(&digits, n->digits, (size_t)n->ndigits);
    int64_t padding = f->width - fixed - (int64_t)digits.length;
    char align = f->align != 0 ? f->align : '>';
    if (padding < 0) padding = 0;
    if (status == TSR_OK && align == '>') status = append_fill(out, f, padding);
    if (status == TSR_OK && align == '^') status = append_fill(out, f, padding / 2);
    if (status == TSR_OK && n->sign != 0) status = tsr_text_putc(out, n->sign);
    if (status == TSR_OK) status = tsr_text_puts(out, n->prefix);
    if (status == TSR_OK && align == '=') status = append_fill(out, f, padding);
    if (status == TSR_OK && digits.length > 0) status = tsr_text_append(out, digits.data, digits.length);
    if (status == TSR_OK && n->nrest > 0) status = tsr_text_append(out, n->rest, (size_t)n->nrest);
    if (status == TSR_OK && align == '<') status = append_fill(out, f, padding);
    if (status == TSR_OK && align == '^') status = append_fill(out, f, padding - padding / 2);
    tsr_text_free(&digits);
    return status;
}

static TsrStatus append_string(TsrText *out, const Spec *f, const char *data, size_t size) {
    int64_t padding = f->width - utf8_count(data, (int64_t)size);
    char align = f->align != 0 ? f->align : '<';
    if (padding < 0) padding = 0;
    int64_t before = align == '>' ? padding : align == '^' ? padding / 2 : 0;
    TSR_TRY(append_fill(out, f, before));
    TSR_TRY(tsr_text_append(out, data, size));
    return append_fill(out, f, padding - before);
}

static char sign_of(const Spec *f, bool negative) {
    return negative ? '-' : f->sign == '+' || f->sign == ' ' ? f->sign : 0;
}

/* ---- str ---- */

TsrStatus format_str(TsrText *out, const char *data, size_t length, const char *spec, size_t size) {
    Spec f;
    TSR_TRY(parse_spec(&f, spec, size, "str"));
    if (f.type != 0 && f.type != 's') return unknown_code(&f, "str");
    if (f.sign != 0)
        return tsr_error(TSR_VALUE_ERROR, f.sign == ' ' ? "Space not allowed in string format specifier"
                                                        : "Sign not allowed in string format specifier");
    if (f.no_minus_zero)
        return tsr_error(TSR_VALUE_ERROR, "Negative zero coercion (z) not allowed in string format specifier");
    if (f.alternate) return tsr_error(TSR_VALUE_ERROR, "Alternate form (#) not allowed in string format specifier");
    if (f.grouping != 0) return cannot_group(f.grouping, 's');
    if (f.align == '=') return tsr_error(TSR_VALUE_ERROR, "'=' alignment not allowed in string format specifier");
    if (f.precision >= 0) {
        const char *p = data, *end = data + length;
        for (int64_t n = 0; n < f.precision && p < end; n++) {
            int step;
            utf8_decode(p, &step);
            p += step;
        }
        length = (size_t)(p - data);
    }
    return append_string(out, &f, data, length);
}

/* ---- floats ---- */

/* Digits after which a double has only zeros: 2^-1074 has as many after the point. */
enum { EXACT_DIGITS = 1074 };

TsrStatus format_c_double(TsrText *out, double value, char conversion, int64_t precision, bool alternate) {
    char format[8], text[EXACT_DIGITS + 512];
    snprintf(format, sizeof format, alternate ? "%%#.*%c" : "%%.*%c", conversion);
    if (isnan(value)) return tsr_text_puts(out, isupper((unsigned char)conversion) ? "NAN" : "nan");
    if (precision > INT32_MAX) return tsr_error(TSR_VALUE_ERROR, "precision too big");
    if (precision < 0) precision = 6;
    int64_t digits = TSR_MIN(precision, EXACT_DIGITS);
    size_t length = (size_t)snprintf(text, sizeof text, format, (int)digits, value);
    size_t mantissa = isfinite(value) ? strcspn(text, "eE") : length;
    bool strips = (conversion == 'g' || conversion == 'G') && !alternate; /* zeros at the end */
    TSR_TRY(tsr_text_append(out, text, mantissa));
    if (isfinite(value) && !strips) TSR_TRY(tsr_text_pad(out, '0', (size_t)(precision - digits)));
    return tsr_text_append(out, text + mantissa, length - mantissa);
}

/* No type but a precision: as g, with at least one digit after the point, and the exponent one digit sooner. */
static TsrStatus write_like_repr(TsrText *out, double value, int64_t precision, bool alternate) {
    TsrText probe = {0};
    precision = alternate ? TSR_MAX(precision, 1) : TSR_MAX(TSR_MIN(precision, EXACT_DIGITS), 1);
    TSR_TRY(format_c_double(&probe, value, 'e', precision - 1, false));
    const char *e = strchr(probe.data, 'e');
    long exponent = e != NULL ? strtol(e + 1, NULL, 10) : 0;
    tsr_text_free(&probe);
    bool scientific = exponent < -4 || exponent >= precision - 1;
    if (scientific && exponent == precision - 1 && precision == 1 && exponent == 0) scientific = true;
    size_t start = out->length;
    if (!scientific) {
        TSR_TRY(format_c_double(out, value, 'f', precision - 1 - exponent, alternate));
        if (!alternate && strchr(out->data + start, '.') != NULL) {
            while (out->data[out->length - 1] == '0' && out->data[out->length - 2] != '.')
                out->data[--out->length] = '\0';
        }
        return strchr(out->data + start, '.') == NULL ? tsr_text_puts(out, ".0") : TSR_OK;
    }
    TsrText full = {0};
    TsrStatus status = format_c_double(&full, value, 'e', precision - 1, alternate);
    char *mark = status == TSR_OK ? strchr(full.data, 'e') : NULL;
    if (mark != NULL) {
        char *stop = mark;
        if (!alternate && memchr(full.data, '.', (size_t)(mark - full.data)) != NULL) {
            while (stop[-1] == '0') stop--;
            if (stop[-1] == '.') stop--;
        }
        status = tsr_text_append(out, full.data, (size_t)(stop - full.data));
        if (status == TSR_OK) status = tsr_text_puts(out, mark);
    }
    tsr_text_free(&full);
    return status;
}

/* |value| by the spec, without sign; the text may be "inf" or "nan". */
static TsrStatus write_magnitude(TsrText *out, const Spec *f, double value) {
    char shortest[TSR_NUMBER_ROOM];
    char type = f->type;
    if (f->precision > INT32_MAX) return tsr_error(TSR_VALUE_ERROR, "precision too big");
    if (!isfinite(value)) {
        TSR_TRY(tsr_text_puts(out, type != 0 && isupper((unsigned char)type) ? (isnan(value) ? "NAN" : "INF")
                                                                             : (isnan(value) ? "nan" : "inf")));
        return type == '%' ? tsr_text_putc(out, '%') : TSR_OK;
    }
    if (type == 'r' || (type == 0 && f->precision < 0)) {
        size_t n = tsr_format_double(shortest, value), whole = strspn(shortest, "0123456789");
        if (type == 'r' && n > 2 && memcmp(shortest + n - 2, ".0", 2) == 0)
            n -= f->alternate ? 1 : 2; /* a complex part: whole numbers without .0 */
        if (!f->alternate || shortest[whole] == '.') return tsr_text_append(out, shortest, n);
        TSR_TRY(tsr_text_append(out, shortest, whole));
        TSR_TRY(tsr_text_putc(out, '.'));
        return tsr_text_append(out, shortest + whole, n - whole);
    }
    if (type == 0) return write_like_repr(out, value, f->precision, f->alternate);
    int64_t precision = f->precision < 0 ? 6 : f->precision;
    if (type == 'n') type = 'g';
    if ((type == 'g' || type == 'G') && precision == 0) precision = 1;
    if (type != '%') return format_c_double(out, value, type, precision, f->alternate);
    TSR_TRY(format_c_double(out, value * 100, 'f', precision, f->alternate));
    return tsr_text_putc(out, '%');
}

static bool all_zero_digits(const char *text) {
    for (; *text != '\0' && *text != 'e' && *text != 'E'; text++)
        if (*text >= '1' && *text <= '9') return false;
    return true;
}

/* One real number: its text split into whole digits and the rest. */
static TsrStatus split_real(TsrText *text, Parts *n, const Spec *f, double value) {
    bool negative = signbit(value) && !isnan(value);
    TSR_TRY(write_magnitude(text, f, fabs(value)));
    if (negative && f->no_minus_zero && isfinite(value) && all_zero_digits(text->data)) negative = false;
    int64_t whole = 0;
    while (isdigit((unsigned char)text->data[whole])) whole++;
    if (!isfinite(value)) whole = (int64_t)strspn(text->data, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ");
    *n = (Parts){.sign = sign_of(f, negative),
                 .prefix = "",
                 .digits = text->data,
                 .ndigits = whole,
                 .rest = text->data + whole,
                 .nrest = (int64_t)text->length - whole,
                 .group = 3};
    return TSR_OK;
}

static TsrStatus format_real(TsrText *out, double value, const Spec *f) {
    TsrText text = {0};
    Parts n;
    TsrStatus status = split_real(&text, &n, f, value);
    Spec plain = *f;
    if (!isfinite(value) && f->grouping != 0) plain.grouping = 0;
    if (status == TSR_OK) status = append_number(out, &plain, &n);
    tsr_text_free(&text);
    return status;
}

TsrStatus format_float(TsrText *out, double value, const char *spec, size_t size) {
    Spec f;
    TSR_TRY(parse_spec(&f, spec, size, "float"));
    if (f.type != 0 && strchr("eEfFgGn%", f.type) == NULL) return unknown_code(&f, "float");
    return format_real(out, value, &f);
}

/* ---- int ---- */

static TsrStatus check_char_spec(const Spec *f) {
    if (f->sign != 0) return tsr_error(TSR_VALUE_ERROR, "Sign not allowed with integer format specifier 'c'");
    if (f->alternate)
        return tsr_error(TSR_VALUE_ERROR, "Alternate form (#) not allowed with integer format specifier 'c'");
    return TSR_OK;
}

static TsrStatus format_codepoint(TsrText *out, const Spec *f, Value v) {
    int64_t c;
    char text[4];
    TSR_TRY(check_char_spec(f));
    if (!int_fits_int64(v, &c)) return tsr_error(TSR_OVERFLOW_ERROR, "Python int too large to convert to C long");
    if (c < 0 || c > 0x10ffff) return tsr_error(TSR_OVERFLOW_ERROR, "%%c arg not in range(0x110000)");
    int n = utf8_encode(text, (uint32_t)c);
    Spec as_number = *f;
    if (as_number.align == 0) as_number.align = '>';
    if (as_number.align == '=') as_number.align = '>';
    return append_string(out, &as_number, text, (size_t)n);
}

static int base_of(char type) { return type == 'b' ? 2 : type == 'o' ? 8 : type == 'x' || type == 'X' ? 16 : 10; }

static TsrStatus format_digits(TsrText *out, const Spec *f, Value v) {
    static const char *const prefixes[] = {"", "0b", "0o", "0x", "0X"};
    TsrText digits = {0};
    TsrStatus status = int_digits(&digits, v, base_of(f->type));
    if (status != TSR_OK) return status;
    bool negative = digits.data[0] == '-';
    if (f->type == 'X')
        for (size_t i = 0; i < digits.length; i++) digits.data[i] = (char)toupper((unsigned char)digits.data[i]);
    int prefix = !f->alternate    ? 0
                 : f->type == 'b' ? 1
                 : f->type == 'o' ? 2
                 : f->type == 'x' ? 3
                 : f->type == 'X' ? 4
                                  : 0;
    Parts n = {.sign = sign_of(f, negative),
               .prefix = prefixes[prefix],
               .digits = digits.data + negative,
               .ndigits = (int64_t)digits.length - negative,
               .rest = "",
               .nrest = 0,
               .group = base_of(f->type) == 10 ? 3 : 4};
    status = append_number(out, f, &n);
    tsr_text_free(&digits);
    return status;
}

TsrStatus format_int(TsrText *out, Value v, const char *spec, size_t size) {
    Spec f;
    double d;
    const char *name = v.tag == V_BOOL ? "bool" : "int";
    if (v.tag == V_BOOL) v = value_int(v.b);
    TSR_TRY(parse_spec(&f, spec, size, name));
    if (f.type != 0 && strchr("eEfFgG%", f.type) != NULL) {
        TSR_TRY(int_to_double(&d, v));
        return format_real(out, d, &f);
    }
    if (f.type != 0 && strchr("bcdoxXn", f.type) == NULL) return unknown_code(&f, name);
    if (f.precision >= 0) return tsr_error(TSR_VALUE_ERROR, "Precision not allowed in integer format specifier");
    if (f.no_minus_zero)
        return tsr_error(TSR_VALUE_ERROR, "Negative zero coercion (z) not allowed in integer format specifier");
    return f.type == 'c' ? format_codepoint(out, &f, v) : format_digits(out, &f, v);
}

/* ---- complex ---- */

static TsrStatus append_part(TsrText *out, double value, Spec part, bool always_sign) {
    part.width = -1;
    part.align = '>';
    if (always_sign) part.sign = '+';
    return format_real(out, value, &part);
}

/* Without a type a complex prints in parentheses, and a zero real part without sign is left out, as repr does. */
static TsrStatus write_complex(TsrText *out, double re, double im, Spec part) {
    bool plain = part.type == 0, both = !plain || re != 0 || signbit(re);
    if (plain) part.type = part.precision < 0 ? 'r' : 'g';
    if (plain && both) TSR_TRY(tsr_text_putc(out, '('));
    if (both) TSR_TRY(append_part(out, re, part, false));
    TSR_TRY(append_part(out, im, part, both));
    return tsr_text_puts(out, plain && both ? "j)" : "j");
}

TsrStatus format_complex(TsrText *out, double re, double im, const char *spec, size_t size) {
    Spec f;
    TsrText text = {0};
    TSR_TRY(parse_spec(&f, spec, size, "complex"));
    if (f.type != 0 && strchr("eEfFgGn", f.type) == NULL) return unknown_code(&f, "complex");
    if (f.zero || (f.fill_size == 1 && f.fill[0] == '0'))
        return tsr_error(TSR_VALUE_ERROR, "Zero padding is not allowed in complex format specifier");
    if (f.align == '=')
        return tsr_error(TSR_VALUE_ERROR, "'=' alignment flag is not allowed in complex format specifier");
    TsrStatus status = write_complex(&text, re, im, f);
    if (f.align == 0) f.align = '>';
    if (status == TSR_OK) status = append_string(out, &f, text.data, text.length);
    tsr_text_free(&text);
    return status;
}
