/* Encoders and decoders with CPython's error handlers. Runs of valid text are copied as they are; at each bad unit the
 * handler decides what is put instead, or the error names the position and the reason. */
#include "codec.h"

#include <stdio.h>
#include <string.h>
#include <strings.h>

#include "lang/object/args.h"
#include "lang/syntax/unichar.h"

typedef enum Codec { UTF8, ASCII, LATIN1, UTF16, UTF32 } Codec;
typedef enum Order { LITTLE, BIG, MARKED /* by a first character U+FEFF; little without it */ } Order;

/* The first spelling is the one of messages. Case counts for nothing, "_" and " " are "-". */
static const struct CodecRow {
    Codec codec;
    Order order; /* of the bytes of UTF-16 and UTF-32 */
    const char *names[8];
} codecs[] = {
    {UTF8, LITTLE, {"utf-8", "utf8", "u8", "utf"}},
    {ASCII, LITTLE, {"ascii", "us-ascii", "646"}},
    {LATIN1, LITTLE, {"latin-1", "latin1", "iso-8859-1", "iso8859-1", "l1", "latin", "8859"}},
    {UTF16, MARKED, {"utf-16", "utf16", "u16"}},
    {UTF16, LITTLE, {"utf-16-le", "utf-16le", "utf16-le"}},
    {UTF16, BIG, {"utf-16-be", "utf-16be", "utf16-be"}},
    {UTF32, MARKED, {"utf-32", "utf32", "u32"}},
    {UTF32, LITTLE, {"utf-32-le", "utf-32le", "utf32-le"}},
    {UTF32, BIG, {"utf-32-be", "utf-32be", "utf32-be"}},
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

static TsrStatus unknown_handler(const char *errors) {
    return tsr_error(TSR_LOOKUP_ERROR, "unknown error handler name '%s'", errors);
}

static bool is_surrogate(uint32_t c) { return c >= 0xd800 && c < 0xe000; }

/* The offset of the first byte that is not valid UTF-8, or -1; in pieces that an interrupt can come between. */
static TsrStatus find_invalid(int64_t *out, const char *data, int64_t size) {
    const int64_t most = 1 << 20;
    *out = -1;
    for (int64_t from = 0; from < size;) {
        int64_t piece = TSR_MIN(size - from, most), bad = tsr_utf8_invalid(data + from, piece);
        TSR_TRY(tsr_interrupt_check());
        bool cut = bad > piece - 4 && from + piece < size; /* perhaps only by the end of the piece */
        if (bad >= 0 && !cut) return *out = from + bad, TSR_OK;
        from += cut ? bad : piece;
    }
    return TSR_OK;
}

/* --- encoding --- */

typedef struct Encoder {
    TsrText *out;
    const Str *s;
    Codec codec;
    Order order;
    const char *name, *errors;
} Encoder;

static bool is_narrow(Codec codec) { return codec == ASCII || codec == LATIN1; }
static bool can_encode(Codec codec, uint32_t c) {
    return is_narrow(codec) ? c < (codec == ASCII ? 0x80u : 0x100u) : !is_surrogate(c);
}

static TsrStatus put_unit(const Encoder *e, uint32_t unit, int size) {
    char bytes[4];
    for (int i = 0; i < size; i++) bytes[e->order == BIG ? size - 1 - i : i] = (char)(unit >> 8 * i);
    return tsr_text_append(e->out, bytes, (size_t)size);
}

/* One character, or surrogate, as the encoding has it. */
static TsrStatus put(const Encoder *e, uint32_t c) {
    char bytes[4];
    if (is_narrow(e->codec)) return tsr_text_putc(e->out, (char)c);
    if (e->codec == UTF8) return tsr_text_append(e->out, bytes, (size_t)utf8_encode(bytes, c));
    if (e->codec == UTF32) return put_unit(e, c, 4);
    if (c < 0x10000) return put_unit(e, c, 2);
    TSR_TRY(put_unit(e, 0xd800 + ((c - 0x10000) >> 10), 2));
    return put_unit(e, 0xdc00 + ((c - 0x10000) & 0x3ff), 2);
}

static TsrStatus put_ascii(const Encoder *e, const char *format, uint32_t c) {
    char text[16];
    snprintf(text, sizeof text, format, (unsigned)c);
    for (const char *p = text; *p != '\0'; p++) TSR_TRY(put(e, (unsigned char)*p));
    return TSR_OK;
}

/* Characters [from, to), of which the first is c, can't be encoded. */
static TsrStatus encode_error(const Encoder *e, uint32_t c, int64_t from, int64_t to) {
    const char *why = e->codec == ASCII    ? "ordinal not in range(128)"
                      : e->codec == LATIN1 ? "ordinal not in range(256)"
                                           : "surrogates not allowed";
    if (to - from > 1) {
        return tsr_error(TSR_UNICODE_ENCODE_ERROR, "'%s' codec can't encode characters in position %lld-%lld: %s",
                         e->name, (long long)from, (long long)to - 1, why);
    }
    const char *form = c < 0x100     ? "'%s' codec can't encode character '\\x%02x' in position %lld: %s"
                       : c < 0x10000 ? "'%s' codec can't encode character '\\u%04x' in position %lld: %s"
                                     : "'%s' codec can't encode character '\\U%08x' in position %lld: %s";
    return tsr_error(TSR_UNICODE_ENCODE_ERROR, form, e->name, (unsigned)c, (long long)from, why);
}

/* What stands for the character instead; *handled is false when the handler has nothing for it. */
static TsrStatus encode_instead(const Encoder *e, uint32_t c, bool *handled) {
    *handled = true;
    if (strcmp(e->errors, "ignore") == 0) return TSR_OK;
    if (strcmp(e->errors, "replace") == 0) return put(e, '?');
    if (strcmp(e->errors, "xmlcharrefreplace") == 0) return put_ascii(e, "&#%u;", c);
    if (strcmp(e->errors, "backslashreplace") == 0)
        return put_ascii(e, c < 0x100 ? "\\x%02x" : c < 0x10000 ? "\\u%04x" : "\\U%08x", c);
    if (strcmp(e->errors, "surrogateescape") == 0 && e->codec < UTF16 && c >= 0xdc80 && c <= 0xdcff)
        return tsr_text_putc(e->out, (char)(c - 0xdc00));
    if (strcmp(e->errors, "surrogatepass") == 0 && !is_narrow(e->codec)) return put(e, c);
    *handled = false;
    bool known = strcmp(e->errors, "strict") == 0 || strcmp(e->errors, "surrogateescape") == 0 ||
                 strcmp(e->errors, "surrogatepass") == 0;
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
        if (!can_encode(e->codec, c)) TSR_TRY(encode_instead(e, c, &handled));
        else TSR_TRY(put(e, c));
        if (!handled) return encode_error(e, c, index, index + (e->codec < UTF16 ? bad_run(e, i) : 1));
    }
    return TSR_OK;
}

static TsrStatus argument(const char **out, Value given, const char *function, const char *name) {
    char what[64];
    if (given.tag == V_UNBOUND) return TSR_OK;
    snprintf(what, sizeof what, "%s() argument '%s'", function, name);
    return value_to_cstring(out, given, what);
}

TsrStatus codec_choose(CodecChoice *lent, Value encoding, Value errors, const char *function) {
    *lent = (CodecChoice){"utf-8", "strict"};
    TSR_TRY(argument(&lent->encoding, encoding, function, "encoding"));
    return argument(&lent->errors, errors, function, "errors");
}

TsrStatus codec_arguments(CodecChoice *lent, const CallArgs *args, const char *method) {
    static const char *const names[] = {"encoding", "errors"};
    const ArgSpec spec = {method, names, 2, 0, 2, 0};
    Value given[2];
    TSR_TRY(args_parse(given, args, 1, &spec));
    return codec_choose(lent, given[0], given[1], method);
}

TsrStatus codec_encode(TsrText *out, const Str *s, CodecChoice how) {
    int row;
    TSR_TRY(find_codec(&row, how.encoding));
    Encoder e = {out, s, codecs[row].codec, codecs[row].order, codecs[row].names[0], how.errors};
    if (e.order == MARKED) TSR_TRY(put(&e, 0xfeff));
    bool plain = e.codec < UTF16 && str_is_ascii(s);
    int64_t bad = -1;
    if (!plain && e.codec == UTF8) TSR_TRY(find_invalid(&bad, s->data, s->size));
    plain = plain || (e.codec == UTF8 && bad < 0);
    return plain ? tsr_text_append(out, s->data, (size_t)s->size) : encode_all(&e);
}

/* --- decoding --- */

typedef struct Decoder {
    TsrText *out;
    const char *data;
    int64_t size;
    Order order;
    const char *name, *errors;
} Decoder;

static TsrStatus decode_error(const Decoder *d, int64_t at, int64_t count, const char *why) {
    if (count > 1) {
        return tsr_error(TSR_UNICODE_DECODE_ERROR, "'%s' codec can't decode bytes in position %lld-%lld: %s", d->name,
                         (long long)at, (long long)(at + count - 1), why);
    }
    return tsr_error(TSR_UNICODE_DECODE_ERROR, "'%s' codec can't decode byte 0x%02x in position %lld: %s", d->name,
                     (unsigned char)d->data[at], (long long)at, why);
}

/* What stands for `count` bytes at `at` that mean nothing. */
static TsrStatus decode_instead(const Decoder *d, int64_t at, int64_t count, const char *why) {
    bool escape = strcmp(d->errors, "surrogateescape") == 0;
    if (strcmp(d->errors, "strict") == 0 || strcmp(d->errors, "surrogatepass") == 0)
        return decode_error(d, at, count, why);
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
    unsigned low = s[0] == 0xe0   ? 0xa0
                   : s[0] == 0xf0 ? 0x90
                                  : 0x80,
             high = s[0] == 0xed   ? 0x9f
                    : s[0] == 0xf4 ? 0x8f
                                   : 0xbf;
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
        int64_t bad;
        TSR_TRY(find_invalid(&bad, d->data + from, d->size - from));
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

/* ---- UTF-16 and UTF-32 ---- */

static uint32_t unit_at(const Decoder *d, int64_t at, int size) {
    uint32_t unit = 0;
    for (int i = 0; i < size; i++)
        unit |= (uint32_t)(unsigned char)d->data[at + i] << 8 * (d->order == BIG ? size - 1 - i : i);
    return unit;
}

/* The character at `at` and how many bytes it takes; *why says what is wrong with those, or is NULL. */
static uint32_t utf16_at(const Decoder *d, int64_t at, int64_t *count, const char **why) {
    int64_t left = d->size - at;
    uint32_t high = left >= 2 ? unit_at(d, at, 2) : 0, low;
    *why = NULL;
    *count = TSR_MIN(left, (int64_t)2);
    if (left < 2) *why = "truncated data";
    else if (high >= 0xdc00 && high < 0xe000) *why = "illegal encoding";
    if (*why != NULL || !is_surrogate(high)) return high;
    if (left < 4) {
        *count = left;
        *why = "unexpected end of data";
        return high;
    }
    low = unit_at(d, at + 2, 2);
    if (low < 0xdc00 || low >= 0xe000) *why = "illegal UTF-16 surrogate";
    if (*why != NULL) return high;
    *count = 4;
    return 0x10000 + ((high & 0x3ff) << 10 | (low & 0x3ff));
}

static uint32_t utf32_at(const Decoder *d, int64_t at, int64_t *count, const char **why) {
    int64_t left = d->size - at;
    *count = TSR_MIN(left, (int64_t)4);
    uint32_t c = left >= 4 ? unit_at(d, at, 4) : 0;
    *why = left < 4          ? "truncated data"
           : is_surrogate(c) ? "code point in surrogate code point range(0xd800, 0xe000)"
           : c > 0x10ffff    ? "code point not in range(0x110000)"
                             : NULL;
    return c;
}

static TsrStatus decode_wide(Decoder *d, Codec codec) {
    const int size = codec == UTF16 ? 2 : 4;
    const char *why;
    char buffer[4];
    int64_t at = 0, count;
    if (d->order == MARKED) {
        d->order = LITTLE;
        uint32_t mark = d->size >= size ? unit_at(d, 0, size) : 0;
        if (mark == (codec == UTF16 ? 0xfffe : 0xfffe0000)) d->order = BIG;
        if (mark == 0xfeff || d->order == BIG) at = size;
        d->name = codec == UTF16    ? (d->order == BIG ? "utf-16-be" : "utf-16-le")
                  : d->order == BIG ? "utf-32-be"
                                    : "utf-32-le";
    }
    for (; at < d->size; at += count) {
        uint32_t c = (codec == UTF16 ? utf16_at : utf32_at)(d, at, &count, &why);
        bool pass = why != NULL && is_surrogate(c) && strcmp(d->errors, "surrogatepass") == 0;
        if (pass) count = size;
        if (why != NULL && !pass) TSR_TRY(decode_instead(d, at, count, why));
        else TSR_TRY(tsr_text_append(d->out, buffer, (size_t)utf8_encode(buffer, c)));
    }
    return TSR_OK;
}

TsrStatus codec_decode(TsrText *out, const char *data, int64_t size, CodecChoice how) {
    int row;
    TSR_TRY(find_codec(&row, how.encoding));
    Codec codec = codecs[row].codec;
    Decoder d = {out, data, size, codecs[row].order, codecs[row].names[0], how.errors};
    if (codec >= UTF16) return decode_wide(&d, codec);
    return codec == UTF8 ? decode_utf8(&d) : decode_narrow(&d, codec == ASCII);
}

/* ---- names of the system ---- */

static const CodecChoice of_system = {"utf-8", "surrogateescape"};

TsrStatus codec_system_str(Value *out, const char *bytes, int64_t size) {
    TsrText text = {0};
    if (tsr_utf8_invalid(bytes, size) < 0) return str_new(out, bytes, size);
    TsrStatus status = codec_decode(&text, bytes, size, of_system);
    return str_end_text_move(out, status, &text);
}

TsrStatus codec_system_str_c(Value *out, const char *bytes) {
    return codec_system_str(out, bytes, (int64_t)strlen(bytes));
}

TsrStatus codec_system_bytes(const char **lent, TsrText *room, Value v) {
    const Str *s = value_as_str(v);
    if ((int64_t)strlen(s->data) != s->size) return tsr_error(TSR_VALUE_ERROR, "embedded null byte");
    *lent = s->data;
    if (tsr_utf8_invalid(s->data, s->size) < 0) return TSR_OK;
    TSR_TRY(codec_encode(room, s, of_system));
    *lent = room->data;
    return TSR_OK;
}
