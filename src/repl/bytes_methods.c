/* The methods of bytes and bytearray: letters are ASCII's, positions are bytes. */
#include "args.h"
#include "bytes_internal.h"
#include "exc.h"
#include "seq_obj.h"
#include "str_obj.h"
#include "value_internal.h"

#include <ctype.h>
#include <string.h>

/* --- arguments and results --- */

typedef struct Bytestring { char *data; int64_t size; } Bytestring; /* lent */

static Bytestring self_bytes(const CallArgs *args) {
    Bytestring b;
    value_as_buffer(args->values[0], &b.data, &b.size);
    return b;
}

static TsrStatus buffer_argument(Bytestring *out, Value v) {
    if (value_as_buffer(v, &out->data, &out->size)) return TSR_OK;
    return tsr_error(TSR_TYPE_ERROR, "a bytes-like object is required, not '%s'", value_type_name(v));
}

/* Bytes of self's type; frees the text, on failure too. */
static TsrStatus new_like_move(Value *out, Value self, TsrText *text) {
    TsrStatus status = bytes_new_like(out, self.o->type, text->data != NULL ? text->data : "", (int64_t)text->length);
    tsr_text_free(text);
    return status;
}

static TsrStatus append_part(List *list, Value self, const char *data, int64_t size) {
    Value part;
    TSR_TRY(tsr_interrupt_check());
    TSR_TRY(bytes_new_like(&part, self.o->type, data, size));
    return list_append_move(list, part);
}

/* --- to and from text --- */

static TsrStatus decode_error(const char *codec, const char *data, int64_t at, const char *why) {
    return tsr_error(TSR_UNICODE_DECODE_ERROR, "'%s' codec can't decode byte 0x%02x in position %lld: %s", codec, (unsigned char)data[at], (long long)at, why);
}

static const char *utf8_reason(const char *data, int64_t size, int64_t at) {
    unsigned char c = (unsigned char)data[at];
    if (c < 0xc2 || c > 0xf4) return "invalid start byte";
    int need = c < 0xe0 ? 2 : c < 0xf0 ? 3 : 4;
    for (int k = 1; k < need; k++) {
        if (at + k >= size) return "unexpected end of data";
        unsigned char d = (unsigned char)data[at + k];
        bool good = (d & 0xc0) == 0x80 && !(k == 1 && ((c == 0xe0 && d < 0xa0) || (c == 0xed && d > 0x9f) || (c == 0xf0 && d < 0x90) || (c == 0xf4 && d > 0x8f)));
        if (!good) return "invalid continuation byte";
    }
    return "invalid start byte";
}

static TsrStatus decode_utf8(TsrText *text, const char *data, int64_t size, const char *errors) {
    for (int64_t from = 0; from <= size;) {
        int64_t bad = tsr_utf8_invalid(data + from, size - from);
        int64_t good = bad < 0 ? size - from : bad;
        TSR_TRY(tsr_text_append(text, data + from, (size_t)good));
        if (bad < 0) return TSR_OK;
        from += good;
        if (strcmp(errors, "replace") == 0) TSR_TRY(tsr_text_puts(text, "\xef\xbf\xbd"));
        else if (strcmp(errors, "ignore") != 0) return decode_error("utf-8", data, from, utf8_reason(data, size, from));
        for (from++; from < size && ((unsigned char)data[from] & 0xc0) == 0x80; from++) {}
    }
    return TSR_OK;
}

static TsrStatus decode_narrow(TsrText *text, const char *data, int64_t size, bool ascii, const char *errors) {
    for (int64_t i = 0; i < size; i++) {
        unsigned char c = (unsigned char)data[i];
        char buffer[4];
        if (c < 0x80 || !ascii) TSR_TRY(tsr_text_append(text, buffer, (size_t)utf8_encode(buffer, c)));
        else if (strcmp(errors, "replace") == 0) TSR_TRY(tsr_text_puts(text, "\xef\xbf\xbd"));
        else if (strcmp(errors, "ignore") != 0) return decode_error("ascii", data, i, "ordinal not in range(128)");
    }
    return TSR_OK;
}

static TsrStatus method_decode(Value *out, const CallArgs *args) {
    static const char *const names[] = {"encoding", "errors"};
    static const ArgSpec spec = {"decode", names, 2, 0, 2, 0};
    Value given[2];
    const char *encoding = "utf-8", *errors = "strict";
    char *data;
    int64_t size;
    TSR_TRY(args_parse(given, args, 1, &spec));
    if (given[0].tag != V_UNBOUND) TSR_TRY(value_to_cstring(&encoding, given[0], "decode() argument 'encoding'"));
    if (given[1].tag != V_UNBOUND) TSR_TRY(value_to_cstring(&errors, given[1], "decode() argument 'errors'"));
    value_as_buffer(args->values[0], &data, &size);
    TsrText text = {0};
    TsrStatus status;
    bool utf8 = strcasecmp(encoding, "utf-8") == 0 || strcasecmp(encoding, "utf8") == 0;
    bool ascii = strcasecmp(encoding, "ascii") == 0, latin = strcasecmp(encoding, "latin-1") == 0 || strcasecmp(encoding, "latin1") == 0 || strcasecmp(encoding, "iso-8859-1") == 0;
    if (utf8) status = decode_utf8(&text, data, size, errors);
    else if (ascii || latin) status = decode_narrow(&text, data, size, ascii, errors);
    else status = tsr_error(TSR_LOOKUP_ERROR, "unknown encoding: %s", encoding);
    if (status == TSR_OK) return str_new_text_move(out, &text);
    tsr_text_free(&text);
    return status;
}

/* Groups of |n| bytes between separators: counted from the right when n is positive, from the left when negative. */
static TsrStatus hex_separator(char *out, Value v) {
    char *data = NULL;
    int64_t size = 0;
    if (value_is_str(v)) {
        if (!str_is_ascii(value_as_str(v))) return tsr_error(TSR_VALUE_ERROR, "sep must be ASCII.");
        data = value_as_str(v)->data;
        size = value_as_str(v)->size;
    } else if (!value_as_buffer(v, &data, &size)) {
        return tsr_error(TSR_TYPE_ERROR, "sep must be str or bytes.");
    }
    if (size != 1) return tsr_error(TSR_VALUE_ERROR, "sep must be length 1.");
    if ((unsigned char)data[0] >= 0x80) return tsr_error(TSR_VALUE_ERROR, "sep must be ASCII.");
    *out = data[0];
    return TSR_OK;
}

static TsrStatus method_hex(Value *out, const CallArgs *args) {
    static const char *const names[] = {"sep", "bytes_per_sep"};
    static const ArgSpec spec = {"hex", names, 2, 0, 2, 0};
    Value given[2];
    Bytestring self = self_bytes(args);
    char separator = 0;
    int64_t group = 1;
    TSR_TRY(args_parse(given, args, 1, &spec));
    if (given[1].tag != V_UNBOUND) TSR_TRY(value_to_index(&group, given[1]));
    if (given[0].tag != V_UNBOUND) TSR_TRY(hex_separator(&separator, given[0]));
    uint64_t every = group < 0 ? 0 - (uint64_t)group : (uint64_t)group;
    TsrText text = {0};
    TsrStatus status = TSR_OK;
    for (int64_t i = 0; status == TSR_OK && i < self.size; i++) {
        uint64_t from = (uint64_t)(group < 0 ? i : self.size - i);
        if (separator != 0 && every != 0 && i > 0 && from % every == 0) status = tsr_text_putc(&text, separator);
        if (status == TSR_OK) status = tsr_text_printf(&text, "%02x", (unsigned char)self.data[i]);
    }
    if (status == TSR_OK) return str_new_text_move(out, &text);
    tsr_text_free(&text);
    return status;
}

static TsrStatus method_fromhex(Value *out, const CallArgs *args) {
    Value v = args->values[1];
    if (!value_is_str(v)) return tsr_error(TSR_TYPE_ERROR, "fromhex() argument must be str, not %s", value_type_name(v));
    const Str *s = value_as_str(v);
    TsrText text = {0};
    TsrStatus status = TSR_OK;
    for (int64_t i = 0; status == TSR_OK && i < s->size;) {
        if (isspace((unsigned char)s->data[i])) {
            i++;
            continue;
        }
        int value = 0;
        for (int k = 0; k < 2 && status == TSR_OK; k++) {
            unsigned char c = i + k < s->size ? (unsigned char)s->data[i + k] : 0;
            if (!isxdigit(c)) status = tsr_error(TSR_VALUE_ERROR, "non-hexadecimal number found in fromhex() arg at position %lld", (long long)(i + k));
            value = value * 16 + (isdigit(c) ? c - '0' : (c | 32) - 'a' + 10);
        }
        if (status == TSR_OK) status = tsr_text_putc(&text, (char)value);
        i += 2;
    }
    if (status == TSR_OK) status = bytes_new_like(out, (Type *)args->values[0].o, text.data != NULL ? text.data : "", (int64_t)text.length);
    tsr_text_free(&text);
    return status;
}

/* --- searching --- */

/* The part of self between optional start and stop arguments; size -1 when start lies behind the end. */
static TsrStatus bounded(const CallArgs *args, char **data, int64_t *size, int64_t *offset) {
    int64_t start = 0, stop = INT64_MAX;
    value_as_buffer(args->values[0], data, size);
    if (args->count > 2) TSR_TRY(bound_argument(&start, args->values[2], true));
    if (args->count > 3) TSR_TRY(bound_argument(&stop, args->values[3], true));
    if (start < 0) start = TSR_MAX(start + *size, 0);
    if (stop < 0) stop = TSR_MAX(stop + *size, 0);
    stop = TSR_MIN(stop, *size);
    *offset = start;
    *size = start <= stop ? stop - start : -1;
    if (*size >= 0) *data += start;
    return TSR_OK;
}

/* A part to look for: bytes, or one byte as an int (stored in *byte). */
static TsrStatus part_argument(Value v, char **part, int64_t *size, char *byte) {
    if (value_as_buffer(v, part, size)) return TSR_OK;
    if (!value_is_int(v)) return tsr_error(TSR_TYPE_ERROR, "argument should be integer or bytes-like object, not '%s'", value_type_name(v));
    *part = byte;
    *size = 1;
    return byte_from_value(byte, v, "byte");
}

static TsrStatus search(int64_t *out, const CallArgs *args, bool last) {
    char *data, *part, byte;
    int64_t size, n, offset;
    TSR_TRY(bounded(args, &data, &size, &offset));
    TSR_TRY(part_argument(args->values[1], &part, &n, &byte));
    int64_t at = size < 0 ? -1 : last ? bytes_rfind(data, size, part, n) : bytes_find(data, size, part, n);
    *out = at < 0 ? -1 : at + offset;
    return TSR_OK;
}

static TsrStatus find_method(Value *out, const CallArgs *args, bool last, bool must) {
    int64_t i;
    TSR_TRY(search(&i, args, last));
    if (must && i < 0) return tsr_error(TSR_VALUE_ERROR, "subsection not found");
    *out = value_int(i);
    return TSR_OK;
}
static TsrStatus method_find(Value *out, const CallArgs *args) { return find_method(out, args, false, false); }
static TsrStatus method_rfind(Value *out, const CallArgs *args) { return find_method(out, args, true, false); }
static TsrStatus method_index(Value *out, const CallArgs *args) { return find_method(out, args, false, true); }
static TsrStatus method_rindex(Value *out, const CallArgs *args) { return find_method(out, args, true, true); }

static TsrStatus affix_method(Value *out, const CallArgs *args, bool at_end) {
    char *data, *part;
    int64_t size, n, offset;
    const Value *items = &args->values[1];
    int64_t count = 1;
    bool found = false;
    TSR_TRY(bounded(args, &data, &size, &offset));
    if (value_is_tuple(args->values[1])) value_as_array(args->values[1], &items, &count);
    for (int64_t i = 0; i < count && !found; i++) {
        if (!value_as_buffer(items[i], &part, &n)) {
            return tsr_error(TSR_TYPE_ERROR, "%s first arg must be bytes or a tuple of bytes, not %s", at_end ? "endswith" : "startswith", value_type_name(items[i]));
        }
        found = n <= size && memcmp(at_end ? data + size - n : data, part, (size_t)n) == 0;
    }
    *out = value_bool(found);
    return TSR_OK;
}
static TsrStatus method_startswith(Value *out, const CallArgs *args) { return affix_method(out, args, false); }
static TsrStatus method_endswith(Value *out, const CallArgs *args) { return affix_method(out, args, true); }

static TsrStatus method_count(Value *out, const CallArgs *args) {
    char *data, *part, byte;
    int64_t size, n, offset, found = 0;
    TSR_TRY(bounded(args, &data, &size, &offset));
    TSR_TRY(part_argument(args->values[1], &part, &n, &byte));
    if (n == 0) found = size + 1;
    for (int64_t from = 0, at; n > 0 && size > 0 && (at = bytes_find(data + from, size - from, part, n)) >= 0; from += at + n) found++;
    *out = value_int(found);
    return TSR_OK;
}

static TsrStatus remove_affix(Value *out, const CallArgs *args, bool at_end) {
    Bytestring self = self_bytes(args), part;
    TSR_TRY(buffer_argument(&part, args->values[1]));
    bool has = part.size <= self.size && memcmp(at_end ? self.data + self.size - part.size : self.data, part.data, (size_t)part.size) == 0;
    return bytes_new_like(out, args->values[0].o->type, has && !at_end ? self.data + part.size : self.data, has ? self.size - part.size : self.size);
}
static TsrStatus method_removeprefix(Value *out, const CallArgs *args) { return remove_affix(out, args, false); }
static TsrStatus method_removesuffix(Value *out, const CallArgs *args) { return remove_affix(out, args, true); }

/* --- classes of bytes and case --- */

static bool is_space(unsigned char c) { return c == ' ' || (c >= '\t' && c <= '\r'); }
static bool is_upper(unsigned char c) { return c >= 'A' && c <= 'Z'; }
static bool is_lower(unsigned char c) { return c >= 'a' && c <= 'z'; }
static bool is_letter(unsigned char c) { return is_upper(c) || is_lower(c); }
static bool is_digit(unsigned char c) { return c >= '0' && c <= '9'; }
static bool is_letter_or_digit(unsigned char c) { return is_letter(c) || is_digit(c); }
static bool is_ascii(unsigned char c) { return c < 0x80; }

static TsrStatus every(Value *out, const CallArgs *args, bool (*test)(unsigned char), bool of_empty) {
    Bytestring self = self_bytes(args);
    bool yes = self.size > 0 || of_empty;
    for (int64_t i = 0; i < self.size && yes; i++) yes = test((unsigned char)self.data[i]);
    *out = value_bool(yes);
    return TSR_OK;
}
static TsrStatus method_isalnum(Value *out, const CallArgs *args) { return every(out, args, is_letter_or_digit, false); }
static TsrStatus method_isalpha(Value *out, const CallArgs *args) { return every(out, args, is_letter, false); }
static TsrStatus method_isascii(Value *out, const CallArgs *args) { return every(out, args, is_ascii, true); }
static TsrStatus method_isdigit(Value *out, const CallArgs *args) { return every(out, args, is_digit, false); }
static TsrStatus method_isspace(Value *out, const CallArgs *args) { return every(out, args, is_space, false); }

static TsrStatus one_case(Value *out, const CallArgs *args, bool (*wanted)(unsigned char), bool (*other)(unsigned char)) {
    Bytestring self = self_bytes(args);
    bool some = false, good = true;
    for (int64_t i = 0; i < self.size && good; i++) {
        some = some || wanted((unsigned char)self.data[i]);
        good = !other((unsigned char)self.data[i]);
    }
    *out = value_bool(some && good);
    return TSR_OK;
}
static TsrStatus method_islower(Value *out, const CallArgs *args) { return one_case(out, args, is_lower, is_upper); }
static TsrStatus method_isupper(Value *out, const CallArgs *args) { return one_case(out, args, is_upper, is_lower); }

static TsrStatus method_istitle(Value *out, const CallArgs *args) {
    Bytestring self = self_bytes(args);
    bool some = false, after = false, good = true;
    for (int64_t i = 0; i < self.size && good; i++) {
        unsigned char c = (unsigned char)self.data[i];
        good = is_upper(c) ? !after : is_lower(c) ? after : true;
        after = is_letter(c);
        some = some || after;
    }
    *out = value_bool(some && good);
    return TSR_OK;
}

typedef enum CaseMode { LOWER, UPPER, SWAP, CAPITAL, TITLE } CaseMode;

static char in_case(unsigned char c, CaseMode mode, bool first, bool after_letter) {
    if (!is_letter(c)) return (char)c;
    bool up = mode == UPPER || (mode == SWAP && is_lower(c)) || (mode == CAPITAL && first) || (mode == TITLE && !after_letter);
    return (char)(up ? c & ~0x20 : c | 0x20);
}

static TsrStatus change_case(Value *out, const CallArgs *args, CaseMode mode) {
    Bytestring self = self_bytes(args), to;
    TSR_TRY(bytes_new_like(out, args->values[0].o->type, self.data, self.size));
    value_as_buffer(*out, &to.data, &to.size);
    for (int64_t i = 0; i < self.size; i++) to.data[i] = in_case((unsigned char)self.data[i], mode, i == 0, i > 0 && is_letter((unsigned char)self.data[i - 1]));
    return TSR_OK;
}
static TsrStatus method_capitalize(Value *out, const CallArgs *args) { return change_case(out, args, CAPITAL); }
static TsrStatus method_lower(Value *out, const CallArgs *args) { return change_case(out, args, LOWER); }
static TsrStatus method_swapcase(Value *out, const CallArgs *args) { return change_case(out, args, SWAP); }
static TsrStatus method_title(Value *out, const CallArgs *args) { return change_case(out, args, TITLE); }
static TsrStatus method_upper(Value *out, const CallArgs *args) { return change_case(out, args, UPPER); }

/* --- padding and stripping --- */

static TsrStatus pad_bytes(Value *out, const CallArgs *args, int64_t left, int64_t right, char fill) {
    Bytestring self = self_bytes(args), to;
    int64_t size;
    if (tsr_add_overflows(left, right, &size) || tsr_add_overflows(size, self.size, &size)) return mem_error();
    TSR_TRY(bytes_new_like(out, args->values[0].o->type, NULL, size));
    value_as_buffer(*out, &to.data, &to.size);
    memset(to.data, fill, (size_t)left);
    memcpy(to.data + left, self.data, (size_t)self.size);
    memset(to.data + left + self.size, fill, (size_t)right);
    return TSR_OK;
}

static TsrStatus justify(Value *out, const CallArgs *args, int mode, const char *name) {
    int64_t width;
    Bytestring fill = {" ", 1};
    TSR_TRY(value_to_index(&width, args->values[1]));
    if (args->count > 2 && (!value_as_buffer(args->values[2], &fill.data, &fill.size) || fill.size != 1)) {
        return tsr_error(TSR_TYPE_ERROR, "%s() argument 2 must be a byte string of length 1, not %s", name, value_shown_type(args->values[2]));
    }
    int64_t pad = TSR_MAX(width - self_bytes(args).size, 0);
    int64_t left = mode < 0 ? 0 : mode > 0 ? pad : pad / 2 + (pad & width & 1);
    return pad_bytes(out, args, left, pad - left, fill.data[0]);
}
static TsrStatus method_ljust(Value *out, const CallArgs *args) { return justify(out, args, -1, "ljust"); }
static TsrStatus method_rjust(Value *out, const CallArgs *args) { return justify(out, args, 1, "rjust"); }
static TsrStatus method_center(Value *out, const CallArgs *args) { return justify(out, args, 0, "center"); }

static TsrStatus method_zfill(Value *out, const CallArgs *args) {
    int64_t width;
    Bytestring self = self_bytes(args), to;
    TSR_TRY(value_to_index(&width, args->values[1]));
    int64_t pad = TSR_MAX(width - self.size, 0);
    TSR_TRY(pad_bytes(out, args, pad, 0, '0'));
    value_as_buffer(*out, &to.data, &to.size);
    if (pad > 0 && self.size > 0 && (self.data[0] == '-' || self.data[0] == '+')) {
        to.data[0] = self.data[0];
        to.data[pad] = '0';
    }
    return TSR_OK;
}

static TsrStatus method_expandtabs(Value *out, const CallArgs *args) {
    static const char *const names[] = {"tabsize"};
    static const ArgSpec spec = {"expandtabs", names, 1, 0, 1, 0};
    Value given[1];
    Bytestring self = self_bytes(args);
    int64_t tab = 8, column = 0;
    TSR_TRY(args_parse(given, args, 1, &spec));
    if (given[0].tag != V_UNBOUND) TSR_TRY(value_to_index(&tab, given[0]));
    TsrText text = {0};
    TsrStatus status = TSR_OK;
    for (int64_t i = 0; status == TSR_OK && i < self.size; i++) {
        char c = self.data[i];
        int64_t n = c != '\t' ? 1 : tab > 0 ? tab - column % tab : 0;
        status = c == '\t' ? tsr_text_pad(&text, ' ', (size_t)n) : tsr_text_putc(&text, c);
        column = c == '\n' || c == '\r' ? 0 : column + n;
    }
    if (status == TSR_OK) return new_like_move(out, args->values[0], &text);
    tsr_text_free(&text);
    return status;
}

static TsrStatus strip(Value *out, const CallArgs *args, bool left, bool right) {
    Bytestring self = self_bytes(args), set = {" \t\n\r\f\v", 6};
    int64_t from = 0, to = self.size;
    if (args->count > 1 && !value_is_none(args->values[1])) TSR_TRY(buffer_argument(&set, args->values[1]));
    while (left && from < to && memchr(set.data, self.data[from], (size_t)set.size) != NULL) from++;
    while (right && to > from && memchr(set.data, self.data[to - 1], (size_t)set.size) != NULL) to--;
    return bytes_new_like(out, args->values[0].o->type, self.data + from, to - from);
}
static TsrStatus method_strip(Value *out, const CallArgs *args) { return strip(out, args, true, true); }
static TsrStatus method_lstrip(Value *out, const CallArgs *args) { return strip(out, args, true, false); }
static TsrStatus method_rstrip(Value *out, const CallArgs *args) { return strip(out, args, false, true); }

/* --- splitting and joining --- */

static TsrStatus split_by(List *list, Value self, Bytestring s, Bytestring separator, int64_t most) {
    int64_t from = 0, at;
    while (most-- != 0 && (at = bytes_find(s.data + from, s.size - from, separator.data, separator.size)) >= 0) {
        TSR_TRY(append_part(list, self, s.data + from, at));
        from += at + separator.size;
    }
    return append_part(list, self, s.data + from, s.size - from);
}

static TsrStatus rsplit_by(List *list, Value self, Bytestring s, Bytestring separator, int64_t most) {
    int64_t at;
    while (most-- != 0 && (at = bytes_rfind(s.data, s.size, separator.data, separator.size)) >= 0) {
        TSR_TRY(append_part(list, self, s.data + at + separator.size, s.size - at - separator.size));
        s.size = at;
    }
    TSR_TRY(append_part(list, self, s.data, s.size));
    list_reverse(list);
    return TSR_OK;
}

static TsrStatus split_spaces(List *list, Value self, Bytestring s, int64_t most) {
    for (int64_t i = 0;;) {
        while (i < s.size && is_space((unsigned char)s.data[i])) i++;
        if (i >= s.size) return TSR_OK;
        int64_t from = i;
        if (most-- == 0) i = s.size;
        while (i < s.size && !is_space((unsigned char)s.data[i])) i++;
        TSR_TRY(append_part(list, self, s.data + from, i - from));
    }
}

static TsrStatus rsplit_spaces(List *list, Value self, Bytestring s, int64_t most) {
    for (int64_t i = s.size;;) {
        while (i > 0 && is_space((unsigned char)s.data[i - 1])) i--;
        if (i == 0) break;
        int64_t to = i;
        if (most-- == 0) i = 0;
        while (i > 0 && !is_space((unsigned char)s.data[i - 1])) i--;
        TSR_TRY(append_part(list, self, s.data + i, to - i));
    }
    list_reverse(list);
    return TSR_OK;
}

static TsrStatus split_method(Value *out, const CallArgs *args, bool from_right) {
    static const char *const names[] = {"sep", "maxsplit"};
    const ArgSpec spec = {from_right ? "rsplit" : "split", names, 2, 0, 2, 0};
    Value given[2], list, self = args->values[0];
    Bytestring s = self_bytes(args), separator = {0};
    int64_t most = -1;
    TSR_TRY(args_parse(given, args, 1, &spec));
    if (given[1].tag != V_UNBOUND) TSR_TRY(value_to_index(&most, given[1]));
    bool spaces = given[0].tag == V_UNBOUND || value_is_none(given[0]);
    if (!spaces) TSR_TRY(buffer_argument(&separator, given[0]));
    if (!spaces && separator.size == 0) return tsr_error(TSR_VALUE_ERROR, "empty separator");
    TSR_TRY(list_new(&list, 0));
    List *l = value_as_list(list);
    TsrStatus status = spaces ? (from_right ? rsplit_spaces(l, self, s, most) : split_spaces(l, self, s, most))
                              : (from_right ? rsplit_by(l, self, s, separator, most) : split_by(l, self, s, separator, most));
    if (status != TSR_OK) value_release(list);
    else *out = list;
    return status;
}
static TsrStatus method_split(Value *out, const CallArgs *args) { return split_method(out, args, false); }
static TsrStatus method_rsplit(Value *out, const CallArgs *args) { return split_method(out, args, true); }

static TsrStatus split_lines(List *list, Value self, Bytestring s, bool keep) {
    for (int64_t from = 0, i = 0; from < s.size; from = i) {
        while (i < s.size && s.data[i] != '\n' && s.data[i] != '\r') i++;
        int64_t end = i;
        if (i < s.size) i += s.data[i] == '\r' && i + 1 < s.size && s.data[i + 1] == '\n' ? 2 : 1;
        TSR_TRY(append_part(list, self, s.data + from, (keep ? i : end) - from));
    }
    return TSR_OK;
}

static TsrStatus method_splitlines(Value *out, const CallArgs *args) {
    static const char *const names[] = {"keepends"};
    static const ArgSpec spec = {"splitlines", names, 1, 0, 1, 0};
    Value given[1], list;
    int64_t keep = 0;
    TSR_TRY(args_parse(given, args, 1, &spec));
    if (given[0].tag != V_UNBOUND) TSR_TRY(value_to_index(&keep, given[0]));
    TSR_TRY(list_new(&list, 0));
    TsrStatus status = split_lines(value_as_list(list), args->values[0], self_bytes(args), keep != 0);
    if (status != TSR_OK) value_release(list);
    else *out = list;
    return status;
}

/* The three parts around [at, at + n). */
static TsrStatus three_parts(List *list, Value self, Bytestring s, int64_t at, int64_t n) {
    TSR_TRY(append_part(list, self, s.data, at));
    TSR_TRY(append_part(list, self, s.data + at, n));
    return append_part(list, self, s.data + at + n, s.size - at - n);
}

static TsrStatus partition(Value *out, const CallArgs *args, bool last) {
    Bytestring s = self_bytes(args), separator;
    Value list;
    TSR_TRY(buffer_argument(&separator, args->values[1]));
    if (separator.size == 0) return tsr_error(TSR_VALUE_ERROR, "empty separator");
    int64_t at = last ? bytes_rfind(s.data, s.size, separator.data, separator.size) : bytes_find(s.data, s.size, separator.data, separator.size);
    TSR_TRY(list_new(&list, 3));
    bool found = at >= 0;
    TsrStatus status = three_parts(value_as_list(list), args->values[0], s, found ? at : last ? 0 : s.size, found ? separator.size : 0);
    if (status == TSR_OK) status = tuple_new(out, value_as_list(list)->items, 3);
    value_release(list);
    return status;
}
static TsrStatus method_partition(Value *out, const CallArgs *args) { return partition(out, args, false); }
static TsrStatus method_rpartition(Value *out, const CallArgs *args) { return partition(out, args, true); }

static TsrStatus join_items(TsrText *text, Bytestring glue, const List *items) {
    for (int64_t i = 0; i < items->count; i++) {
        char *part;
        int64_t n;
        if (!value_as_buffer(items->items[i], &part, &n)) {
            return tsr_error(TSR_TYPE_ERROR, "sequence item %lld: expected a bytes-like object, %s found", (long long)i, value_type_name(items->items[i]));
        }
        if (i > 0) TSR_TRY(tsr_text_append(text, glue.data, (size_t)glue.size));
        TSR_TRY(tsr_text_append(text, part, (size_t)n));
    }
    return TSR_OK;
}

static TsrStatus method_join(Value *out, const CallArgs *args) {
    Value list;
    TsrStatus status = list_new_iterable(&list, args->values[1]);
    if (exc_matches(status, TSR_TYPE_ERROR) && value_type(args->values[1])->iter == NULL && value_type(args->values[1])->iter_next == NULL) {
        exc_discard(status);
        return tsr_error(TSR_TYPE_ERROR, "can only join an iterable");
    }
    TSR_TRY(status);
    TsrText text = {0};
    status = join_items(&text, self_bytes(args), value_as_list(list));
    value_release(list);
    if (status == TSR_OK) return new_like_move(out, args->values[0], &text);
    tsr_text_free(&text);
    return status;
}

/* --- replacing --- */

/* An empty part stands before each byte and at the end. */
static TsrStatus replace_all(TsrText *text, Bytestring s, Bytestring part, Bytestring by, int64_t most) {
    for (int64_t from = 0, at;; from += at + TSR_MAX(part.size, 1)) {
        at = most-- == 0 ? -1 : bytes_find(s.data + from, s.size - from, part.data, part.size);
        if (at < 0) return tsr_text_append(text, s.data + from, (size_t)(s.size - from));
        TSR_TRY(tsr_interrupt_check());
        TSR_TRY(tsr_text_append(text, s.data + from, (size_t)at));
        TSR_TRY(tsr_text_append(text, by.data, (size_t)by.size));
        if (part.size > 0) continue;
        if (from == s.size) return TSR_OK;
        TSR_TRY(tsr_text_putc(text, s.data[from]));
    }
}

static TsrStatus method_replace(Value *out, const CallArgs *args) {
    Bytestring part, by;
    int64_t most = -1;
    TSR_TRY(buffer_argument(&part, args->values[1]));
    TSR_TRY(buffer_argument(&by, args->values[2]));
    if (args->count > 3) TSR_TRY(value_to_index(&most, args->values[3]));
    TsrText text = {0};
    TsrStatus status = replace_all(&text, self_bytes(args), part, by, most);
    if (status == TSR_OK) return new_like_move(out, args->values[0], &text);
    tsr_text_free(&text);
    return status;
}

static TsrStatus method_maketrans(Value *out, const CallArgs *args) {
    Bytestring from, to;
    TSR_TRY(buffer_argument(&from, args->values[0]));
    TSR_TRY(buffer_argument(&to, args->values[1]));
    if (from.size != to.size) return tsr_error(TSR_VALUE_ERROR, "maketrans arguments must have same length");
    char table[256];
    for (int i = 0; i < 256; i++) table[i] = (char)i;
    for (int64_t i = 0; i < from.size; i++) table[(unsigned char)from.data[i]] = to.data[i];
    return bytes_new(out, table, 256);
}

static TsrStatus method_translate(Value *out, const CallArgs *args) {
    static const char *const names[] = {"", "delete"};
    static const ArgSpec spec = {"translate", names, 2, 1, 2, 1};
    Value given[2];
    Bytestring self = self_bytes(args), table = {0}, drop = {0};
    TSR_TRY(args_parse(given, args, 1, &spec));
    if (!value_is_none(given[0])) TSR_TRY(buffer_argument(&table, given[0]));
    if (table.data != NULL && table.size != 256) return tsr_error(TSR_VALUE_ERROR, "translation table must be 256 characters long");
    if (given[1].tag != V_UNBOUND) TSR_TRY(buffer_argument(&drop, given[1]));
    TsrText text = {0};
    TsrStatus status = TSR_OK;
    for (int64_t i = 0; status == TSR_OK && i < self.size; i++) {
        if (drop.size > 0 && memchr(drop.data, self.data[i], (size_t)drop.size) != NULL) continue;
        status = tsr_text_putc(&text, table.data != NULL ? table.data[(unsigned char)self.data[i]] : self.data[i]);
    }
    if (status == TSR_OK) return new_like_move(out, args->values[0], &text);
    tsr_text_free(&text);
    return status;
}

/* --- bytearray --- */

static ByteArray *self_array(const CallArgs *args) { return (ByteArray *)args->values[0].o; }

static TsrStatus method_append(Value *out, const CallArgs *args) {
    char byte;
    *out = VALUE_NONE;
    TSR_TRY(byte_from_value(&byte, args->values[1], "byte"));
    return bytearray_splice(self_array(args), self_array(args)->size, 0, &byte, 1);
}

static TsrStatus extend(ByteArray *b, Value v) {
    Value source;
    char *data;
    int64_t n;
    if (value_is_int(v)) return tsr_error(TSR_TYPE_ERROR, "can't extend bytearray with int");
    if (value_is_str(v)) return tsr_error(TSR_TYPE_ERROR, "expected iterable of integers; got: 'str'");
    TSR_TRY(value_call_n(&source, value_lent(&bytes_type), 1, &v));
    value_as_buffer(source, &data, &n);
    TsrStatus status = bytearray_splice(b, b->size, 0, data, n);
    value_release(source);
    return status;
}

static TsrStatus method_extend(Value *out, const CallArgs *args) {
    *out = VALUE_NONE;
    return extend(self_array(args), args->values[1]);
}

static TsrStatus method_clear(Value *out, const CallArgs *args) {
    *out = VALUE_NONE;
    return bytearray_splice(self_array(args), 0, self_array(args)->size, NULL, 0);
}

static TsrStatus method_copy(Value *out, const CallArgs *args) { return bytearray_new(out, self_array(args)->data, self_array(args)->size); }

static TsrStatus method_pop(Value *out, const CallArgs *args) {
    ByteArray *b = self_array(args);
    int64_t i = -1;
    if (args->count > 1) TSR_TRY(value_to_index(&i, args->values[1]));
    if (b->size == 0) return tsr_error(TSR_INDEX_ERROR, "pop from empty bytearray");
    if (!index_wrap(&i, b->size)) return tsr_error(TSR_INDEX_ERROR, "pop index out of range");
    *out = value_int((unsigned char)b->data[i]);
    return bytearray_splice(b, i, 1, NULL, 0);
}

static TsrStatus method_insert(Value *out, const CallArgs *args) {
    ByteArray *b = self_array(args);
    int64_t i;
    char byte;
    *out = VALUE_NONE;
    TSR_TRY(value_to_index(&i, args->values[1]));
    TSR_TRY(byte_from_value(&byte, args->values[2], "byte"));
    if (i < 0) i = TSR_MAX(i + b->size, 0);
    return bytearray_splice(b, TSR_MIN(i, b->size), 0, &byte, 1);
}

static TsrStatus method_remove(Value *out, const CallArgs *args) {
    ByteArray *b = self_array(args);
    char byte;
    *out = VALUE_NONE;
    TSR_TRY(byte_from_value(&byte, args->values[1], "byte"));
    int64_t at = bytes_find(b->data, b->size, &byte, 1);
    return at < 0 ? tsr_error(TSR_VALUE_ERROR, "value not found in bytearray") : bytearray_splice(b, at, 1, NULL, 0);
}

static TsrStatus method_reverse(Value *out, const CallArgs *args) {
    ByteArray *b = self_array(args);
    *out = VALUE_NONE;
    for (int64_t i = 0, j = b->size - 1; i < j; i++, j--) {
        char c = b->data[i];
        b->data[i] = b->data[j];
        b->data[j] = c;
    }
    return TSR_OK;
}

#define SHARED_ROWS \
    {"capitalize", method_capitalize, ARGS_NONE, 0, 0, "()", "First letter upper case, the rest lower."}, \
    {"center", method_center, ARGS_RANGE, 1, 2, "(width, fillchar=b' ', /)", "Padded on both sides."}, \
    {"count", method_count, ARGS_RANGE | ARGS_TUPLE, 1, 3, "(sub[, start[, end]])", "How often the part occurs."}, \
    {"decode", method_decode, ARGS_ANY, 0, 0, "(encoding='utf-8', errors='strict')", "As text."}, \
    {"endswith", method_endswith, ARGS_RANGE | ARGS_TUPLE, 1, 3, "(suffix[, start[, end]])", "Whether it ends so."}, \
    {"expandtabs", method_expandtabs, ARGS_ANY, 0, 0, "(tabsize=8)", "Tabs as spaces."}, \
    {"find", method_find, ARGS_RANGE | ARGS_TUPLE, 1, 3, "(sub[, start[, end]])", "The first index of the part, or -1."}, \
    {"fromhex", method_fromhex, ARGS_ONE | METHOD_CLASS, 0, 0, "(text, /)", "The bytes of hexadecimal digits."}, \
    {"hex", method_hex, ARGS_ANY, 0, 0, "(sep=..., bytes_per_sep=1)", "Two hexadecimal digits a byte."}, \
    {"index", method_index, ARGS_RANGE | ARGS_TUPLE, 1, 3, "(sub[, start[, end]])", "The first index of the part."}, \
    {"isalnum", method_isalnum, ARGS_NONE, 0, 0, "()", NULL}, \
    {"isalpha", method_isalpha, ARGS_NONE, 0, 0, "()", NULL}, \
    {"isascii", method_isascii, ARGS_NONE, 0, 0, "()", NULL}, \
    {"isdigit", method_isdigit, ARGS_NONE, 0, 0, "()", NULL}, \
    {"islower", method_islower, ARGS_NONE, 0, 0, "()", NULL}, \
    {"isspace", method_isspace, ARGS_NONE, 0, 0, "()", NULL}, \
    {"istitle", method_istitle, ARGS_NONE, 0, 0, "()", NULL}, \
    {"isupper", method_isupper, ARGS_NONE, 0, 0, "()", NULL}, \
    {"join", method_join, ARGS_ONE, 0, 0, "(iterable, /)", "The parts with this between them."}, \
    {"ljust", method_ljust, ARGS_RANGE, 1, 2, "(width, fillchar=b' ', /)", "Padded on the right."}, \
    {"lower", method_lower, ARGS_NONE, 0, 0, "()", "In lower case."}, \
    {"lstrip", method_lstrip, ARGS_RANGE, 0, 1, "(bytes=None, /)", "Without spaces (or the bytes) at the start."}, \
    {"maketrans", method_maketrans, ARGS_RANGE | METHOD_STATIC, 2, 2, "(frm, to, /)", "A table for translate."}, \
    {"partition", method_partition, ARGS_ONE, 0, 0, "(sep, /)", "(before, sep, after) at the first sep."}, \
    {"removeprefix", method_removeprefix, ARGS_ONE, 0, 0, "(prefix, /)", "Without the prefix."}, \
    {"removesuffix", method_removesuffix, ARGS_ONE, 0, 0, "(suffix, /)", "Without the suffix."}, \
    {"replace", method_replace, ARGS_RANGE, 2, 3, "(old, new, count=-1, /)", "With the part replaced."}, \
    {"rfind", method_rfind, ARGS_RANGE | ARGS_TUPLE, 1, 3, "(sub[, start[, end]])", "The last index of the part, or -1."}, \
    {"rindex", method_rindex, ARGS_RANGE | ARGS_TUPLE, 1, 3, "(sub[, start[, end]])", "The last index of the part."}, \
    {"rjust", method_rjust, ARGS_RANGE, 1, 2, "(width, fillchar=b' ', /)", "Padded on the left."}, \
    {"rpartition", method_rpartition, ARGS_ONE, 0, 0, "(sep, /)", "(before, sep, after) at the last sep."}, \
    {"rsplit", method_rsplit, ARGS_ANY, 0, 0, "(sep=None, maxsplit=-1)", "The parts, split from the right."}, \
    {"rstrip", method_rstrip, ARGS_RANGE, 0, 1, "(bytes=None, /)", "Without spaces (or the bytes) at the end."}, \
    {"split", method_split, ARGS_ANY, 0, 0, "(sep=None, maxsplit=-1)", "The parts between separators."}, \
    {"splitlines", method_splitlines, ARGS_ANY, 0, 0, "(keepends=False)", "The lines."}, \
    {"startswith", method_startswith, ARGS_RANGE | ARGS_TUPLE, 1, 3, "(prefix[, start[, end]])", "Whether it starts so."}, \
    {"strip", method_strip, ARGS_RANGE, 0, 1, "(bytes=None, /)", "Without spaces at both ends."}, \
    {"swapcase", method_swapcase, ARGS_NONE, 0, 0, "()", "Upper case lower and lower case upper."}, \
    {"title", method_title, ARGS_NONE, 0, 0, "()", "Each word with a capital."}, \
    {"translate", method_translate, ARGS_ANY, 0, 0, "(table, /, delete=b'')", "Each byte by the table."}, \
    {"upper", method_upper, ARGS_NONE, 0, 0, "()", "In upper case."}, \
    {"zfill", method_zfill, ARGS_ONE, 0, 0, "(width, /)", "Zeros between sign and number."}

const Method bytes_methods[] = {SHARED_ROWS, {0}};
const Method bytearray_methods[] = {
    SHARED_ROWS,
    {"append", method_append, ARGS_ONE, 0, 0, "(item, /)", "Adds a byte at the end."},
    {"clear", method_clear, ARGS_NONE, 0, 0, "()", "Removes every byte."},
    {"copy", method_copy, ARGS_NONE, 0, 0, "()", "A copy."},
    {"extend", method_extend, ARGS_ONE, 0, 0, "(iterable, /)", "Adds bytes at the end."},
    {"insert", method_insert, ARGS_RANGE, 2, 2, "(index, item, /)", "Adds a byte before the index."},
    {"pop", method_pop, ARGS_RANGE, 0, 1, "(index=-1, /)", "Removes and gives a byte."},
    {"remove", method_remove, ARGS_ONE, 0, 0, "(value, /)", "Removes the first such byte."},
    {"reverse", method_reverse, ARGS_NONE, 0, 0, "()", "Turns the order round, in place."},
    {0},
};
