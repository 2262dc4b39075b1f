/* json_text.c: the tokens of JSON (RFC 8259) for a pull parser: strings with their escapes, sizes, and objects member
 * by member (json_text.h). The safetensors header and the JSON formats read with it. Every function checks against
 * j->end; errors name line and column. `loose` allows what Python's json reads beyond the RFC in strings. */
#include "json_text.h"

#include <stdio.h>

#include "core/number.h"

TsrStatus tsr_json_error(const TsrJson *j, const char *what) {
    int64_t line = j->in->lines_before + 1;
    const char *start = j->start;
    for (const char *q = j->start; q < j->p; q++)
        if (*q == '\n') {
            line++;
            start = q + 1;
        }
    return tsr_input_error(j->in, "%sline %lld, column %lld: %s", j->where, (long long)line,
                           (long long)(j->p - start + 1), what);
}

/* ---- strings ---- */

/* The letters behind a backslash, each above what it stands for. */
static const char escapes[] = "\"\\/bfnrt", meant[] = "\"\\/\b\f\n\r\t";

/* Four hexadecimal digits. */
static bool read_unit(TsrJson *j, uint32_t *unit) {
    *unit = 0;
    for (int i = 0; i < 4; i++, j->p++) {
        int c = j->p < j->end ? (unsigned char)*j->p | 32 : 0, digit = c >= '0' && c <= '9'   ? c - '0'
                                                                       : c >= 'a' && c <= 'f' ? c - 'a' + 10
                                                                                              : -1;
        if (digit < 0) return false;
        *unit = *unit << 4 | (uint32_t)digit;
    }
    return true;
}

static TsrStatus put_utf8(TsrText *out, uint32_t c) {
    static const uint8_t first[] = {0, 0, 0xC0, 0xE0, 0xF0};
    char bytes[4];
    int n = c < 0x80 ? 1 : c < 0x800 ? 2 : c < 0x10000 ? 3 : 4;
    for (int i = n - 1; i > 0; i--, c >>= 6) bytes[i] = (char)(0x80 | (c & 0x3F));
    bytes[0] = (char)(n == 1 ? c : first[n] | c);
    return tsr_text_append(out, bytes, (size_t)n);
}

static bool is_high(uint32_t unit) { return unit >= 0xD800 && unit <= 0xDBFF; }
static bool is_low(uint32_t unit) { return unit >= 0xDC00 && unit <= 0xDFFF; }

/* Behind \u: a character of 16 bits, or two surrogates that are one of more. */
static TsrStatus read_code(TsrJson *j, TsrText *out) {
    uint32_t high, low = 0;
    if (!read_unit(j, &high)) return tsr_json_error(j, "four hexadecimal digits were expected");
    if (high == 0 && !j->loose) return tsr_json_error(j, "a NUL in a string");
    if (!is_high(high) && !is_low(high)) return put_utf8(out, high);
    const char *behind = j->p;
    if (is_high(high) && tsr_json_accept(j, "\\u") && read_unit(j, &low) && is_low(low))
        return put_utf8(out, 0x10000 + ((high - 0xD800) << 10) + (low - 0xDC00));
    if (!j->loose) return tsr_json_error(j, "half a surrogate pair");
    j->p = behind;
    return put_utf8(out, high);
}

static TsrStatus read_escape(TsrJson *j, TsrText *out) {
    j->p++;
    if (tsr_json_accept(j, "u")) return read_code(j, out);
    const char *at = j->p < j->end && *j->p != '\0' ? strchr(escapes, *j->p) : NULL;
    if (at == NULL) return tsr_json_error(j, "an unknown escape in a string");
    j->p++;
    return tsr_text_putc(out, meant[at - escapes]);
}

/* Letters, digits and most signs: bytes of a string that stand for themselves and are characters alone. */
static bool is_common(char c) { return c >= 32 && c < 127 && c != '"' && c != '\\'; }

/* The bytes up to the next quote or backslash. */
static TsrStatus read_plain(TsrJson *j, TsrText *out) {
    const char *begin = j->p;
    while (j->p < j->end && is_common(*j->p)) j->p++;
    while (j->p < j->end && *j->p != '"' && *j->p != '\\') {
        size_t n = tsr_utf8_sequence(j->p, (size_t)(j->end - j->p));
        if ((unsigned char)*j->p < 32) return tsr_json_error(j, "a control character in a string");
        if (n == 0) return tsr_json_error(j, "a string that is not UTF-8");
        j->p += n;
    }
    return tsr_text_append(out, begin, (size_t)(j->p - begin));
}

static TsrStatus expected(TsrJson *j, const char *what) {
    char text[64];
    snprintf(text, sizeof text, "%s in double quotes was expected", what);
    return tsr_json_error(j, text);
}

TsrStatus tsr_json_string(TsrJson *j, TsrText *out, const char *what) {
    tsr_json_skip_space(j);
    if (!tsr_json_accept(j, "\"")) return expected(j, what);
    while (!tsr_json_accept(j, "\"")) {
        if (j->p == j->end) return tsr_json_error(j, "the text ends inside a string");
        TSR_TRY(*j->p == '\\' ? read_escape(j, out) : read_plain(j, out));
    }
    return TSR_OK;
}

static void put_escaped(TsrSink *sink, char c) {
    char escaped[8];
    const char *at = c != '\0' && c != '/' ? strchr(meant, c) : NULL;
    if (at != NULL) snprintf(escaped, sizeof escaped, "\\%c", escapes[at - meant]);
    else snprintf(escaped, sizeof escaped, (unsigned char)c < 32 ? "\\u%04x" : "%c", c);
    tsr_sink_puts(sink, escaped);
}

void tsr_json_put_string(TsrSink *sink, const char *text) {
    tsr_sink_puts(sink, "\"");
    for (const char *p = text; *p != '\0'; p++) put_escaped(sink, *p);
    tsr_sink_puts(sink, "\"");
}

void tsr_json_put_text(TsrSink *sink, const char *text, size_t n) {
    tsr_sink_puts(sink, "\"");
    for (size_t i = 0, length; i < n; i += length) {
        length = tsr_utf8_sequence(text + i, n - i);
        if (length > 1) tsr_sink_write(sink, text + i, length);
        else if (length == 1) put_escaped(sink, text[i]);
        else {
            tsr_sink_puts(sink, "\xef\xbf\xbd");
            sink->replaced++;
            length = 1;
        }
    }
    tsr_sink_puts(sink, "\"");
}

/* ---- numbers and objects ---- */

TsrStatus tsr_json_size(TsrJson *j, int64_t *out) {
    tsr_json_skip_space(j);
    const char *begin = j->p;
    while (j->p < j->end && *j->p >= '0' && *j->p <= '9') j->p++;
    bool whole = j->p > begin && (*begin != '0' || j->p == begin + 1) &&
                 (j->p == j->end || strchr(".eE", *j->p) == NULL || *j->p == '\0');
    if (whole && tsr_parse_int64(out, begin, j->p) == j->p) return TSR_OK;
    j->p = begin;
    return tsr_json_error(j, whole ? "a number beyond 64 bits" : "a whole number, not negative, was expected");
}

static TsrStatus read_member(TsrJson *j, TsrText *key, TsrJsonMember *read, void *context) {
    key->length = 0;
    TSR_TRY(tsr_interrupt_check());
    TSR_TRY(tsr_json_string(j, key, "a key"));
    tsr_json_skip_space(j);
    if (!tsr_json_accept(j, ":")) return tsr_json_error(j, ": was expected");
    return read(j, key->length > 0 ? key->data : "", key->length, context);
}

static TsrStatus read_members(TsrJson *j, TsrText *key, TsrJsonMember *read, void *context) {
    for (;;) {
        TSR_TRY(read_member(j, key, read, context));
        tsr_json_skip_space(j);
        if (tsr_json_accept(j, "}")) return TSR_OK;
        if (!tsr_json_accept(j, ",")) return tsr_json_error(j, ", or } was expected");
    }
}

TsrStatus tsr_json_object(TsrJson *j, TsrJsonMember *read, void *context) {
    TsrText key = {0};
    tsr_json_skip_space(j);
    if (!tsr_json_accept(j, "{")) return tsr_json_error(j, "an object was expected");
    tsr_json_skip_space(j);
    if (tsr_json_accept(j, "}")) return TSR_OK;
    TsrStatus status = read_members(j, &key, read, context);
    tsr_text_free(&key);
    return status;
}
