#include "codec.h"

#include <stdio.h>
#include <string.h>
#include <strings.h>

#include "unichar.h"

typedef enum Codec { UTF8, ASCII, LATIN1 } Codec;

/* The first spelling is the one of messages. Case counts for nothing, "_" and " " are "-". */
static const struct {
    Codec codec;
    const char *names[8];
} codecs[] = {
    {UTF8, {"utf-8", "utf8", "u8", "utf"}},
    {ASCII, {"ascii", "us-ascii", "646"}},
    {LATIN1, {"latin-1", "latin1", "iso-8859-1", "iso8859-1", "l1", "latin", "8859"}},
};

static bool same_name(const char *given, const char *name) {
    for (; *given != '\0' && *name != '\0'; given++, name++) {
        char c = *given == '_' || *given == ' ' ? '-' : *given;
        if (strncasecmp(&c, name, 1) != 0) return false;
    }
    return *given == *name;
}

static TsrStatus find_codec(int *row, const char *encoding) {
    for (size_t i = 0; i < TSR_COUNTOF(codecs); i++)
        for (const char *const *name = codecs[i].names; *name != NULL; name++)
            if (same_name(encoding, *name)) return *row = (int)i, TSR_OK;
    return tsr_error(TSR_LOOKUP_ERROR, "unknown encoding: %s", encoding);
}

static TsrStatus unknown_handler(const char *errors) { return tsr_error(TSR_LOOKUP_ERROR, "unknown error handler name '%s'", errors); }

static bool is_surrogate(uint32_t c) { return c >= 0xd800 && c < 0xe000; }

/* --- encoding --- */

typedef struct Encoder {
    TsrText *out;
    const Str *s;
    Codec codec;
    const char *name, *errors;
} Encoder;

static bool can_encode(Codec codec, uint32_t c) { return codec == UTF8 ? !is_surrogate(c) : c < (codec == ASCII ? 0x80u : 0x100u); }

/* Characters [from, to), of which the first is c, can't be encoded. */
static TsrStatus encode_error(const Encoder *e, uint32_t c, int64_t from, int64_t to) {
    const char *why = e->codec == UTF8 ? "surrogates not allowed" : e->codec == ASCII ? "ordinal not in range(128)" : "ordinal not in range(256)";
    if (to - from > 1) {
        return tsr_error(TSR_UNICODE_ENCODE_ERROR, "'%s' codec can't encode characters in position %lld-%lld: %s", e->name, (long long)from, (long long)to - 1, why);
    }
    const char *form = c < 0x100 ? "'%s' codec can't encode character '\\x%02x' in position %lld: %s"
                                 : c < 0x10000 ? "'%s' codec can't encode character '\\u%04x' in position %lld: %s" : "'%s' codec can't encode character '\\U%08x' in position %lld: %s";
    return tsr_error(TSR_UNICODE_ENCODE_ERROR, form, e->name, (unsigned)c, (long long)from, why);
}

/* What stands for the character instead; *handled is false when the handler has nothing for it. */
static TsrStatus encode_instead(const Encoder *e, const char *bytes, int size, uint32_t c, bool *handled) {
    *handled = true;
    if (strcmp(e->errors, "ignore") == 0) return TSR_OK;
    if (strcmp(e->errors, "replace") == 0) return tsr_text_putc(e->out, '?');
    if (strcmp(e->errors, "xmlcharrefreplace") == 0) return tsr_text_printf(e->out, "&#%u;", (unsigned)c);
    if (strcmp(e->errors, "backslashreplace") == 0) return tsr_text_printf(e->out, c < 0x100 ? "\\x%02x" : c < 0x10000 ? "\\u%04x" : "\\U%08x", (unsigned)c);
    if (strcmp(e->errors, "surrogateescape") == 0 && c >= 0xdc80 && c <= 0xdcff) return tsr_text_putc(e->out, (char)(c - 0xdc00));
    if (strcmp(e->errors, "surrogatepass") == 0 && e->codec == UTF8) return tsr_text_append(e->out, bytes, (size_t)size);
    *handled = false;
    bool known = strcmp(e->errors, "strict") == 0 || strcmp(e->errors, "surrogateescape") == 0 || strcmp(e->errors, "surrogatepass") == 0;
    return known ? TSR_OK : unknown_handler(e->errors);
}

/* The end of the run of characters like the one at byte `at` that can't be encoded, in characters from it. */
static int64_t bad_run(const Encoder *e, int64_t at) {
    int64_t count = 0;
    for (int n; at < e->s->size && !can_encode(e->codec, utf8_decode(e->s->data + at, &n)); at += n) count++;
    return count;
}

static TsrStatus encode_all(const Encoder *e) {
    const Str *s = e->s;
    int n;
    for (int64_t i = 0, index = 0; i < s->size; i += n, index++) {
        uint32_t c = utf8_decode(s->data + i, &n);
        bool handled = true;
        if (!can_encode(e->codec, c)) TSR_TRY(encode_instead(e, s->data + i, n, c, &handled));
        else if (e->codec == UTF8) TSR_TRY(tsr_text_append(e->out, s->data + i, (size_t)n));
        else TSR_TRY(tsr_text_putc(e->out, (char)c));
        if (!handled) return encode_error(e, c, index, index + bad_run(e, i));
    }
    return TSR_OK;
}

static TsrStatus argument(const char **out, Value given, const char *function, const char *name) {
    char what[64];
    if (given.tag == V_UNBOUND) return TSR_OK;
    snprintf(what, sizeof what, "%s() argument '%s'", function, name);
    return value_to_cstring(out, given, what);
}

TsrStatus codec_arguments(const char **encoding, const char **errors, Value given_encoding, Value given_errors, const char *function) {
    *encoding = "utf-8";
    *errors = "strict";
    TSR_TRY(argument(encoding, given_encoding, function, "encoding"));
    return argument(errors, given_errors, function, "errors");
}

TsrStatus codec_encode(TsrText *out, const Str *s, const char *encoding, const char *errors) {
    int row;
    TSR_TRY(find_codec(&row, encoding));
    Encoder e = {out, s, codecs[row].codec, codecs[row].names[0], errors};
    bool plain = str_is_ascii(s) || (e.codec == UTF8 && tsr_utf8_invalid(s->data, s->size) < 0);
    return plain ? tsr_text_append(out, s->data, (size_t)s->size) : encode_all(&e);
}

/* --- decoding --- */

typedef struct Decoder {
    TsrText *out;
    const char *data;
    int64_t size;
    const char *name, *errors;
} Decoder;

static TsrStatus decode_error(const Decoder *d, int64_t at, int64_t count, const char *why) {
    if (count > 1) {
        return tsr_error(TSR_UNICODE_DECODE_ERROR, "'%s' codec can't decode bytes in position %lld-%lld: %s", d->name, (long long)at, (long long)(at + count - 1), why);
    }
    return tsr_error(TSR_UNICODE_DECODE_ERROR, "'%s' codec can't decode byte 0x%02x in position %lld: %s", d->name, (unsigned char)d->data[at], (long long)at, why);
}

/* What stands for `count` bytes at `at` that mean nothing. */
static TsrStatus decode_instead(const Decoder *d, int64_t at, int64_t count, const char *why) {
    bool escape = strcmp(d->errors, "surrogateescape") == 0;
    if (strcmp(d->errors, "strict") == 0 || strcmp(d->errors, "surrogatepass") == 0) return decode_error(d, at, count, why);
    if (strcmp(d->errors, "ignore") == 0) return TSR_OK;
    if (strcmp(d->errors, "replace") == 0) return tsr_text_puts(d->out, "\xef\xbf\xbd");
    if (!escape && strcmp(d->errors, "backslashreplace") != 0) return unknown_handler(d->errors);
    for (int64_t i = at; i < at + count; i++) {
        unsigned char c = (unsigned char)d->data[i];
        char buffer[4];
        if (escape) TSR_TRY(tsr_text_append(d->out, buffer, (size_t)utf8_encode(buffer, 0xdc00u + c)));
        else TSR_TRY(tsr_text_printf(d->out, "\\x%02x", c));
    }
    return TSR_OK;
}

/* How many bytes at `at`, which begin no character, are wrong together: the start of one as far as it is right. */
static int64_t utf8_wrong(const Decoder *d, int64_t at, const char **why) {
    const unsigned char *s = (const unsigned char *)d->data + at;
    int64_t left = d->size - at, need = s[0] < 0xe0 ? 2 : s[0] < 0xf0 ? 3 : 4;
    *why = "invalid start byte";
    if (s[0] < 0xc2 || s[0] > 0xf4) return 1;
    unsigned low = s[0] == 0xe0 ? 0xa0 : s[0] == 0xf0 ? 0x90 : 0x80, high = s[0] == 0xed ? 0x9f : s[0] == 0xf4 ? 0x8f : 0xbf;
    *why = "invalid continuation byte";
    for (int64_t k = 1; k < TSR_MIN(need, left); k++) {
        if (s[k] < low || s[k] > high) return k;
        low = 0x80, high = 0xbf;
    }
    *why = "unexpected end of data";
    return left;
}

static bool is_coded_surrogate(const Decoder *d, int64_t at) {
    const unsigned char *s = (const unsigned char *)d->data + at;
    return d->size - at >= 3 && s[0] == 0xed && s[1] >= 0xa0 && s[1] <= 0xbf && (s[2] & 0xc0) == 0x80;
}

static TsrStatus decode_utf8(const Decoder *d) {
    bool pass = strcmp(d->errors, "surrogatepass") == 0;
    for (int64_t from = 0;;) {
        int64_t bad = tsr_utf8_invalid(d->data + from, d->size - from);
        int64_t good = bad < 0 ? d->size - from : bad;
        TSR_TRY(tsr_text_append(d->out, d->data + from, (size_t)good));
        if (bad < 0) return TSR_OK;
        from += good;
        if (pass && is_coded_surrogate(d, from)) {
            TSR_TRY(tsr_text_append(d->out, d->data + from, 3));
            from += 3;
            continue;
        }
        const char *why;
        int64_t count = utf8_wrong(d, from, &why);
        TSR_TRY(decode_instead(d, from, count, why));
        from += count;
    }
}

static TsrStatus decode_narrow(const Decoder *d, bool ascii) {
    for (int64_t i = 0; i < d->size; i++) {
        unsigned char c = (unsigned char)d->data[i];
        char buffer[4];
        if (c < 0x80 || !ascii) TSR_TRY(tsr_text_append(d->out, buffer, (size_t)utf8_encode(buffer, c)));
        else TSR_TRY(decode_instead(d, i, 1, "ordinal not in range(128)"));
    }
    return TSR_OK;
}

TsrStatus codec_decode(TsrText *out, const char *data, int64_t size, const char *encoding, const char *errors) {
    int row;
    TSR_TRY(find_codec(&row, encoding));
    Decoder d = {out, data, size, codecs[row].names[0], errors};
    return codecs[row].codec == UTF8 ? decode_utf8(&d) : decode_narrow(&d, codecs[row].codec == ASCII);
}
