/* Methods of str, bytes and bytearray in one implementation over bytes. A text with its kind says how far one
 * character reaches and which characters are spaces; results are made in the type of the text that was asked. */
#include "text_methods.h"

#include <string.h>

#include "lang/object/args.h"
#include "bytes_impl.h"
#include "lang/object/exc.h"
#include "sequences.h"
#include "indices.h"
#include "str.h"
#include "lang/syntax/unichar.h"
#include "lang/object/value_impl.h"

/* --- texts and their characters --- */

Bytestring text_bytes(Value self) {
    if (value_is_str(self)) return (Bytestring){value_as_str(self)->data, value_as_str(self)->size};
    char *data = NULL;
    int64_t size = 0;
    value_as_buffer(self, &data, &size);
    return (Bytestring){data, size};
}

TsrStatus text_buffer_argument(Bytestring *out, Value v) {
    char *data;
    if (!value_as_buffer(v, &data, &out->size))
        return tsr_error(TSR_TYPE_ERROR, "a bytes-like object is required, not '%s'", value_type_name(v));
    out->data = data;
    return TSR_OK;
}

/* A value of self's kind. */
static TsrStatus new_like(Value *out, Value self, const char *data, int64_t size) {
    return value_is_str(self) ? str_new(out, data, size) : bytes_new_like(out, self.o->type, data, size);
}

TsrStatus text_new_like_move(Value *out, Value self, TsrText *text) {
    if (value_is_str(self)) return str_new_text_move(out, text);
    TsrStatus status = bytes_new_like(out, self.o->type, text->data != NULL ? text->data : "", (int64_t)text->length);
    tsr_text_free(text);
    return status;
}

/* A str that is all of self is self. */
static TsrStatus new_part(Value *out, Value self, const char *data, int64_t size) {
    if (!value_is_str(self) || size != value_as_str(self)->size) return new_like(out, self, data, size);
    *out = value_retain(self);
    return TSR_OK;
}

static TsrStatus append_part(List *list, Value self, const char *data, int64_t size) {
    Value part;
    TSR_TRY(tsr_interrupt_check());
    TSR_TRY(new_like(&part, self, data, size));
    return list_append_move(list, part);
}

/* A part to look for: for a str a str, which the caller has seen to, else bytes. */
static TsrStatus part_argument(Bytestring *out, Value self, Value v) {
    if (!value_is_str(self)) return text_buffer_argument(out, v);
    *out = text_bytes(v);
    return TSR_OK;
}

static bool is_wrong(Value self, Value v) { return value_is_str(self) && !value_is_str(v); }

/* The character at byte i and its size in bytes. */
static uint32_t char_at(Value self, Bytestring s, int64_t i, int *size) {
    if (value_is_str(self)) return utf8_decode(s.data + i, size);
    *size = 1;
    return (unsigned char)s.data[i];
}

/* The byte at which the character before byte i begins. */
static int64_t char_before(Value self, Bytestring s, int64_t i) {
    do i--;
    while (value_is_str(self) && i > 0 && ((unsigned char)s.data[i] & 0xc0) == 0x80);
    return i;
}

static bool is_space(Value self, uint32_t c) {
    return value_is_str(self) ? unichar_is_space(c) : c == ' ' || (c >= '\t' && c <= '\r');
}

static bool is_line_end(Value self, uint32_t c) {
    if (c == '\n' || c == '\r') return true;
    return value_is_str(self) &&
           (c == '\v' || c == '\f' || (c >= 0x1c && c <= 0x1e) || c == 0x85 || c == 0x2028 || c == 0x2029);
}

/* --- searching --- */

static int64_t search_last(Bytestring s, Bytestring part) {
    for (int64_t i = s.size - part.size; i >= 0 && !tsr_interrupted_at(i); i--)
        if (memcmp(s.data + i, part.data, (size_t)part.size) == 0) return i;
    return -1;
}

TsrStatus text_list_to_join(Value *out, Value given) {
    TsrStatus status = list_new_iterable(out, given);
    if (!exc_matches(status, TSR_TYPE_ERROR) || value_type(given)->iter != NULL || value_type(given)->iter_next != NULL)
        return status;
    exc_discard(status);
    return tsr_error(TSR_TYPE_ERROR, "can only join an iterable");
}

int64_t text_search(Bytestring s, Bytestring part, bool last) {
    if (part.size > s.size) return -1;
    if (last) return search_last(s, part);
    if (part.size == 0) return 0;
    const int64_t piece =
        TSR_MAX((int64_t)1 << 22,
                4 * part.size); /* between looks for an interrupt; the next one begins where a part could have begun */
    for (int64_t from = 0; from + part.size <= s.size && tsr_interrupt_flag == 0; from += piece - part.size + 1) {
        const char *at = s.data + from;
        size_t left = (size_t)TSR_MIN(s.size - from, piece);
        const char *found =
            part.size == 1 ? memchr(at, part.data[0], left) : memmem(at, left, part.data, (size_t)part.size);
        if (found != NULL) return found - s.data;
    }
    return -1;
}

/* The stretch of self between the optional start and stop arguments; false when start lies behind the end. */
static TsrStatus window(Bytestring *out, int64_t *offset, bool *valid, const CallArgs *args) {
    Value self = args->values[0];
    *out = text_bytes(self);
    int64_t length = value_is_str(self) ? value_as_str(self)->length : out->size, start = 0, stop = length;
    if (args->count > 2) TSR_TRY(bound_argument(&start, args->values[2], true));
    if (args->count > 3) TSR_TRY(bound_argument(&stop, args->values[3], true));
    if (start < 0) start = TSR_MAX(start + length, 0);
    if (stop < 0) stop = TSR_MAX(stop + length, 0);
    stop = TSR_MIN(stop, length);
    *valid = start <= stop;
    if (!*valid) return TSR_OK;
    *offset = value_is_str(self) ? str_byte_of(value_as_str(self), start) : start;
    out->size = (value_is_str(self) ? str_byte_of(value_as_str(self), stop) : stop) - *offset;
    out->data += *offset;
    return TSR_OK;
}

/* What find and count look for: of bytes also one byte as an int, kept in *byte. */
static TsrStatus wanted_argument(Bytestring *out, Value self, Value v, char *byte) {
    if (is_wrong(self, v)) return tsr_error(TSR_TYPE_ERROR, "must be str, not %s", value_type_name(v));
    *out = (Bytestring){byte, 1};
    if (!value_is_str(self) && value_is_int(v)) return byte_from_value(byte, v, "byte");
    char *data;
    int64_t size;
    if (!value_is_str(self) && !value_as_buffer(v, &data, &size)) {
        return tsr_error(TSR_TYPE_ERROR, "argument should be integer or bytes-like object, not '%s'",
                         value_type_name(v));
    }
    return part_argument(out, self, v);
}

static TsrStatus find_method(Value *out, const CallArgs *args, bool last, bool must) {
    Value self = args->values[0];
    Bytestring s, part;
    int64_t offset;
    char byte;
    bool valid;
    TSR_TRY(window(&s, &offset, &valid, args));
    TSR_TRY(wanted_argument(&part, self, args->values[1], &byte));
    int64_t at = valid ? text_search(s, part, last) : -1;
    if (must && at < 0)
        return tsr_error(TSR_VALUE_ERROR, value_is_str(self) ? "substring not found" : "subsection not found");
    if (at >= 0) at = value_is_str(self) ? str_index_of_byte(value_as_str(self), at + offset) : at + offset;
    *out = value_int(at);
    return TSR_OK;
}
TsrStatus text_find(Value *out, const CallArgs *args) { return find_method(out, args, false, false); }
TsrStatus text_rfind(Value *out, const CallArgs *args) { return find_method(out, args, true, false); }
TsrStatus text_index(Value *out, const CallArgs *args) { return find_method(out, args, false, true); }
TsrStatus text_rindex(Value *out, const CallArgs *args) { return find_method(out, args, true, true); }

/* How often the part occurs, without overlap; an empty one before each character and at the end. */
static int64_t occurrences(Value self, Bytestring s, Bytestring part) {
    if (part.size == 0) return (value_is_str(self) ? utf8_count(s.data, s.size) : s.size) + 1;
    int64_t n = 0;
    for (int64_t at; !tsr_interrupted_at(n) && (at = text_search(s, part, false)) >= 0; n++)
        s = (Bytestring){s.data + at + part.size, s.size - at - part.size};
    return n;
}

TsrStatus text_count(Value *out, const CallArgs *args) {
    Bytestring s, part;
    int64_t offset;
    char byte;
    bool valid;
    TSR_TRY(window(&s, &offset, &valid, args));
    TSR_TRY(wanted_argument(&part, args->values[0], args->values[1], &byte));
    *out = value_int(valid ? occurrences(args->values[0], s, part) : 0);
    return TSR_OK;
}

/* --- beginnings and ends --- */

static bool has_affix(Bytestring s, Bytestring affix, bool at_end) {
    if (affix.size > s.size) return false;
    return memcmp(at_end ? s.data + s.size - affix.size : s.data, affix.data, (size_t)affix.size) == 0;
}

static TsrStatus wrong_affix(Value self, Value v, bool in_tuple, const char *name) {
    if (!value_is_str(self) && in_tuple)
        return tsr_error(TSR_TYPE_ERROR, "a bytes-like object is required, not '%s'", value_type_name(v));
    if (!value_is_str(self))
        return tsr_error(TSR_TYPE_ERROR, "%s first arg must be bytes or a tuple of bytes, not %s", name,
                         value_type_name(v));
    const char *form =
        in_tuple ? "tuple for %s must only contain str, not %s" : "%s first arg must be str or a tuple of str, not %s";
    return tsr_error(TSR_TYPE_ERROR, form, name, value_type_name(v));
}

static TsrStatus affix_method(Value *out, const CallArgs *args, bool at_end) {
    Value self = args->values[0];
    const Value *items = &args->values[1];
    Bytestring s;
    int64_t offset, count = 1;
    bool valid, found = false, in_tuple = value_is_tuple(args->values[1]);
    TSR_TRY(window(&s, &offset, &valid, args));
    if (in_tuple) value_as_array(args->values[1], &items, &count);
    for (int64_t i = 0; i < count && !found; i++) {
        char *data;
        int64_t size;
        bool right = value_is_str(self) ? value_is_str(items[i]) : value_as_buffer(items[i], &data, &size);
        if (!right) return wrong_affix(self, items[i], in_tuple, at_end ? "endswith" : "startswith");
        found = valid && has_affix(s, text_bytes(items[i]), at_end);
    }
    *out = value_bool(found);
    return TSR_OK;
}
TsrStatus text_startswith(Value *out, const CallArgs *args) { return affix_method(out, args, false); }
TsrStatus text_endswith(Value *out, const CallArgs *args) { return affix_method(out, args, true); }

static TsrStatus remove_affix(Value *out, const CallArgs *args, bool at_end) {
    Value self = args->values[0], v = args->values[1];
    Bytestring s = text_bytes(self), affix;
    if (is_wrong(self, v))
        return tsr_error(TSR_TYPE_ERROR, "%s() argument must be str, not %s", at_end ? "removesuffix" : "removeprefix",
                         value_shown_type(v));
    TSR_TRY(part_argument(&affix, self, v));
    int64_t removed = has_affix(s, affix, at_end) ? affix.size : 0;
    return new_part(out, self, at_end ? s.data : s.data + removed, s.size - removed);
}
TsrStatus text_removeprefix(Value *out, const CallArgs *args) { return remove_affix(out, args, false); }
TsrStatus text_removesuffix(Value *out, const CallArgs *args) { return remove_affix(out, args, true); }

/* --- stripping --- */

/* What strip takes away: the characters of a set, or spaces (data NULL). */
static bool is_stripped(Value self, Bytestring set, uint32_t c) {
    if (set.data == NULL) return is_space(self, c);
    int n;
    for (int64_t i = 0; i < set.size; i += n)
        if (char_at(self, set, i, &n) == c) return true;
    return false;
}

static TsrStatus strip(Value *out, const CallArgs *args, bool left, bool right, const char *name) {
    Value self = args->values[0];
    Bytestring s = text_bytes(self), set = {NULL, 0};
    if (args->count > 1 && !value_is_none(args->values[1])) {
        if (is_wrong(self, args->values[1])) return tsr_error(TSR_TYPE_ERROR, "%s arg must be None or str", name);
        TSR_TRY(part_argument(&set, self, args->values[1]));
    }
    int64_t from = 0, to = s.size, before;
    int n;
    while (left && from < to && !tsr_interrupted_at(from) && is_stripped(self, set, char_at(self, s, from, &n)))
        from += n;
    while (right && to > from && !tsr_interrupted_at(to) &&
           (before = char_before(self, s, to), is_stripped(self, set, char_at(self, s, before, &n))))
        to = before;
    TSR_TRY(tsr_interrupt_check());
    return new_part(out, self, s.data + from, to - from);
}
TsrStatus text_strip(Value *out, const CallArgs *args) { return strip(out, args, true, true, "strip"); }
TsrStatus text_lstrip(Value *out, const CallArgs *args) { return strip(out, args, true, false, "lstrip"); }
TsrStatus text_rstrip(Value *out, const CallArgs *args) { return strip(out, args, false, true, "rstrip"); }

/* --- splitting --- */

/* The byte behind the run of spaces, or of other characters, that begins at i. */
static int64_t run_end(Value self, Bytestring s, int64_t i, bool spaces) {
    int n;
    while (i < s.size && !tsr_interrupted_at(i) && is_space(self, char_at(self, s, i, &n)) == spaces) i += n;
    return i;
}

/* The byte at which the run that ends at i begins. */
static int64_t run_start(Value self, Bytestring s, int64_t i, bool spaces) {
    int n;
    for (int64_t before; i > 0 && !tsr_interrupted_at(i); i = before) {
        before = char_before(self, s, i);
        if (is_space(self, char_at(self, s, before, &n)) != spaces) break;
    }
    return i;
}

static TsrStatus split_spaces(List *list, Value self, Bytestring s, int64_t most) {
    for (int64_t i = 0;;) {
        int64_t from = run_end(self, s, i, true);
        if (from >= s.size) return TSR_OK;
        i = most-- == 0 ? s.size : run_end(self, s, from, false);
        TSR_TRY(append_part(list, self, s.data + from, i - from));
    }
}

static TsrStatus rsplit_spaces(List *list, Value self, Bytestring s, int64_t most) {
    for (int64_t i = s.size;;) {
        int64_t to = run_start(self, s, i, true);
        if (to == 0) return TSR_OK;
        i = most-- == 0 ? 0 : run_start(self, s, to, false);
        TSR_TRY(append_part(list, self, s.data + i, to - i));
    }
}

static TsrStatus split_by(List *list, Value self, Bytestring s, Bytestring separator, int64_t most) {
    for (int64_t at; most-- != 0 && (at = text_search(s, separator, false)) >= 0;) {
        TSR_TRY(append_part(list, self, s.data, at));
        s = (Bytestring){s.data + at + separator.size, s.size - at - separator.size};
    }
    return append_part(list, self, s.data, s.size);
}

static TsrStatus rsplit_by(List *list, Value self, Bytestring s, Bytestring separator, int64_t most) {
    for (int64_t at; most-- != 0 && (at = text_search(s, separator, true)) >= 0; s.size = at) {
        TSR_TRY(append_part(list, self, s.data + at + separator.size, s.size - at - separator.size));
    }
    return append_part(list, self, s.data, s.size);
}

static TsrStatus fill_split(List *list, Value self, Value by, int64_t most, bool from_right) {
    Bytestring s = text_bytes(self), separator;
    bool spaces = by.tag == V_UNBOUND || value_is_none(by);
    if (spaces && !from_right) return split_spaces(list, self, s, most);
    if (spaces) return rsplit_spaces(list, self, s, most);
    if (is_wrong(self, by)) return tsr_error(TSR_TYPE_ERROR, "must be str or None, not %s", value_type_name(by));
    TSR_TRY(part_argument(&separator, self, by));
    if (separator.size == 0) return tsr_error(TSR_VALUE_ERROR, "empty separator");
    return from_right ? rsplit_by(list, self, s, separator, most) : split_by(list, self, s, separator, most);
}

static TsrStatus split_method(Value *out, const CallArgs *args, bool from_right) {
    static const char *const names[] = {"sep", "maxsplit"};
    const ArgSpec spec = {from_right ? "rsplit" : "split", names, 2, 0, 2, 0};
    Value given[2], list;
    int64_t most = -1;
    TSR_TRY(args_parse(given, args, 1, &spec));
    if (given[1].tag != V_UNBOUND) TSR_TRY(value_to_index(&most, given[1]));
    TSR_TRY(list_new(&list, 0));
    TsrStatus status = fill_split(value_as_list(list), args->values[0], given[0], most, from_right);
    if (from_right) list_reverse(value_as_list(list));
    return value_end_move(out, status, list);
}
TsrStatus text_split(Value *out, const CallArgs *args) { return split_method(out, args, false); }
TsrStatus text_rsplit(Value *out, const CallArgs *args) { return split_method(out, args, true); }

static TsrStatus split_lines(List *list, Value self, Bytestring s, bool keep) {
    int n = 0;
    for (int64_t from = 0, i = 0; from < s.size; from = i) {
        while (i < s.size && !tsr_interrupted_at(i) && !is_line_end(self, char_at(self, s, i, &n))) i += n;
        int64_t end = i;
        if (i < s.size) i += s.data[i] == '\r' && i + 1 < s.size && s.data[i + 1] == '\n' ? 2 : n;
        TSR_TRY(append_part(list, self, s.data + from, (keep ? i : end) - from));
    }
    return TSR_OK;
}

TsrStatus text_splitlines(Value *out, const CallArgs *args) {
    static const char *const names[] = {"keepends"};
    static const ArgSpec spec = {"splitlines", names, 1, 0, 1, 0};
    Value given[1], list;
    int keep = 0;
    TSR_TRY(args_parse(given, args, 1, &spec));
    if (given[0].tag != V_UNBOUND) TSR_TRY(value_to_c_int(&keep, given[0]));
    TSR_TRY(list_new(&list, 0));
    TsrStatus status = split_lines(value_as_list(list), args->values[0], text_bytes(args->values[0]), keep != 0);
    return value_end_move(out, status, list);
}

/* The three parts around [at, at + n). */
static TsrStatus three_parts(List *list, Value self, Bytestring s, int64_t at, int64_t n) {
    TSR_TRY(append_part(list, self, s.data, at));
    TSR_TRY(append_part(list, self, s.data + at, n));
    return append_part(list, self, s.data + at + n, s.size - at - n);
}

static TsrStatus partition(Value *out, const CallArgs *args, bool last) {
    Value self = args->values[0], v = args->values[1], list;
    Bytestring s = text_bytes(self), separator;
    if (is_wrong(self, v)) return tsr_error(TSR_TYPE_ERROR, "must be str, not %s", value_type_name(v));
    TSR_TRY(part_argument(&separator, self, v));
    if (separator.size == 0) return tsr_error(TSR_VALUE_ERROR, "empty separator");
    int64_t at = text_search(s, separator, last), n = at < 0 ? 0 : separator.size;
    if (at < 0) at = last ? 0 : s.size;
    TSR_TRY(list_new(&list, 3));
    TsrStatus status = three_parts(value_as_list(list), self, s, at, n);
    if (status == TSR_OK) status = tuple_new(out, value_as_list(list)->items, 3);
    value_release(list);
    return status;
}
TsrStatus text_partition(Value *out, const CallArgs *args) { return partition(out, args, false); }
TsrStatus text_rpartition(Value *out, const CallArgs *args) { return partition(out, args, true); }

/* --- replacing --- */

/* How many times at most `part`, or the place beside each character where it is empty, is replaced. */
static int64_t count_parts(Value self, Bytestring s, Bytestring part, int64_t most) {
    int64_t n = 0, limit = most < 0 ? INT64_MAX : most;
    if (part.size == 0) return TSR_MIN(limit, (value_is_str(self) ? value_as_str(self)->length : s.size) + 1);
    for (int64_t at; n < limit && (at = text_search(s, part, false)) >= 0; n++)
        s = (Bytestring){s.data + at + part.size, s.size - at - part.size};
    return n;
}

/* Room for the whole result, when it is longer than what it is made from. */
static TsrStatus reserve_replaced(TsrText *text, Value self, Bytestring part, Bytestring by, int64_t most) {
    Bytestring s = text_bytes(self);
    int64_t more;
    if (by.size <= part.size) return TSR_OK;
    if (__builtin_mul_overflow(count_parts(self, s, part, most), by.size - part.size, &more)) return mem_error();
    return tsr_text_reserve(text, (size_t)s.size + (size_t)more);
}

/* An empty part stands before each character and at the end. */
static TsrStatus replace_empty(TsrText *text, Value self, Bytestring s, Bytestring by, int64_t most) {
    int n;
    for (int64_t i = 0; i < s.size; i += n) {
        if (most-- == 0) return tsr_text_append(text, s.data + i, (size_t)(s.size - i));
        TSR_TRY(tsr_interrupt_check());
        TSR_TRY(tsr_text_append(text, by.data, (size_t)by.size));
        char_at(self, s, i, &n);
        TSR_TRY(tsr_text_append(text, s.data + i, (size_t)n));
    }
    return most != 0 ? tsr_text_append(text, by.data, (size_t)by.size) : TSR_OK;
}

static TsrStatus replace_all(TsrText *text, Value self, Bytestring part, Bytestring by, int64_t most) {
    Bytestring s = text_bytes(self);
    if (part.size == 0) return replace_empty(text, self, s, by, most);
    for (int64_t at; most-- != 0 && (at = text_search(s, part, false)) >= 0;) {
        TSR_TRY(tsr_interrupt_check());
        TSR_TRY(tsr_text_append(text, s.data, (size_t)at));
        TSR_TRY(tsr_text_append(text, by.data, (size_t)by.size));
        s = (Bytestring){s.data + at + part.size, s.size - at - part.size};
    }
    return tsr_text_append(text, s.data, (size_t)s.size);
}

TsrStatus text_replace(Value *out, const CallArgs *args) {
    Value self = args->values[0];
    Bytestring parts[2];
    int64_t most = -1;
    for (int i = 0; i < 2; i++) {
        Value v = args->values[i + 1];
        if (is_wrong(self, v))
            return tsr_error(TSR_TYPE_ERROR, "replace() argument %d must be str, not %s", i + 1, value_shown_type(v));
        TSR_TRY(part_argument(&parts[i], self, v));
    }
    if (args->count > 3) TSR_TRY(value_to_index(&most, args->values[3]));
    TsrText text = {0};
    TsrStatus status = reserve_replaced(&text, self, parts[0], parts[1], most);
    if (status == TSR_OK) status = replace_all(&text, self, parts[0], parts[1], most);
    if (status == TSR_OK) return text_new_like_move(out, self, &text);
    tsr_text_free(&text);
    return status;
}

/* The columns that character c takes at `column`, which then moves on. */
static int64_t columns_of(uint32_t c, int64_t tab, int64_t *column) {
    int64_t width = c != '\t' ? 1 : tab > 0 ? tab - *column % tab : 0;
    *column = c == '\n' || c == '\r' || *column > INT64_MAX - width ? 0 : *column + width;
    return width;
}

/* Room for the text with its tabs expanded. */
static TsrStatus reserve_expanded(TsrText *text, Value self, int64_t tab) {
    Bytestring s = text_bytes(self);
    int64_t column = 0, size = 0;
    int n;
    for (int64_t i = 0; i < s.size; i += n) {
        uint32_t c = char_at(self, s, i, &n);
        int64_t width = columns_of(c, tab, &column);
        if (__builtin_add_overflow(size, c == '\t' ? width : n, &size)) return mem_error();
        if (tsr_interrupted_at(i)) return tsr_interrupt_check();
    }
    return tsr_text_reserve(text, (size_t)size);
}

static TsrStatus expand_tabs(TsrText *text, Value self, int64_t tab) {
    Bytestring s = text_bytes(self);
    int64_t column = 0;
    int n;
    TSR_TRY(reserve_expanded(text, self, tab));
    for (int64_t i = 0; i < s.size; i += n) {
        uint32_t c = char_at(self, s, i, &n);
        int64_t width = columns_of(c, tab, &column);
        TSR_TRY(c == '\t' ? tsr_text_pad(text, ' ', (size_t)width) : tsr_text_append(text, s.data + i, (size_t)n));
    }
    return TSR_OK;
}

TsrStatus text_expandtabs(Value *out, const CallArgs *args) {
    static const char *const names[] = {"tabsize"};
    static const ArgSpec spec = {"expandtabs", names, 1, 0, 1, 0};
    Value given[1];
    int64_t tab = 8;
    TSR_TRY(args_parse(given, args, 1, &spec));
    if (given[0].tag != V_UNBOUND) TSR_TRY(value_to_index(&tab, given[0]));
    TsrText text = {0};
    TsrStatus status = expand_tabs(&text, args->values[0], tab);
    if (status == TSR_OK) return text_new_like_move(out, args->values[0], &text);
    tsr_text_free(&text);
    return status;
}
