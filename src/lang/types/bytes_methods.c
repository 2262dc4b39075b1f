/* The methods of bytes and bytearray: letters are ASCII's, positions are bytes. */
#include "lang/object/args.h"
#include "bytes_impl.h"
#include "codec.h"
#include "sequences.h"
#include "str.h"
#include "text_methods.h"
#include "lang/object/value_impl.h"

#include <ctype.h>
#include <string.h>

/* --- arguments and results --- */

static Bytestring self_bytes(const CallArgs *args) { return text_bytes(args->values[0]); }

/* The memory of a new value, which is still to be filled. */
static char *memory_of(Value bytes) {
    char *data;
    int64_t size;
    value_as_buffer(bytes, &data, &size);
    return data;
}

/* --- to and from text --- */

static TsrStatus method_decode(Value *out, const CallArgs *args) {
    CodecChoice how;
    TSR_TRY(codec_arguments(&how, args, "decode"));
    TsrText text = {0};
    TsrStatus status = codec_decode(&text, self_bytes(args).data, self_bytes(args).size, how);
    return str_end_text_move(out, status, &text);
}

/* Groups of |n| bytes between separators: counted from the right when n is positive, from the left when negative. */
static TsrStatus hex_separator(char *out, Value v) {
    char *data = NULL;
    int64_t length;
    TSR_TRY(value_length(&length, v));
    if (length != 1) return tsr_error(TSR_VALUE_ERROR, "sep must be length 1.");
    if (value_is_str(v)) data = value_as_str(v)->data;
    else if (!value_as_buffer(v, &data, &length)) return tsr_error(TSR_TYPE_ERROR, "sep must be str or bytes.");
    if ((unsigned char)data[0] >= 0x80) return tsr_error(TSR_VALUE_ERROR, "sep must be ASCII.");
    *out = data[0];
    return TSR_OK;
}

static const char hex_digits[] = "0123456789abcdef";

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
    const bool separated = given[0].tag != V_UNBOUND;
    uint64_t every = group < 0 ? 0 - (uint64_t)group : (uint64_t)group;
    TsrText text = {0};
    TsrStatus status = tsr_text_reserve(&text, (size_t)self.size * (separated && every == 1 ? 3 : 2));
    for (int64_t i = 0; status == TSR_OK && i < self.size; i++) {
        uint64_t from = (uint64_t)(group < 0 ? i : self.size - i);
        if ((status = tsr_interrupt_check_at(i)) != TSR_OK) break;
        if (separated && every != 0 && i > 0 && from % every == 0) status = tsr_text_putc(&text, separator);
        char digits[] = {hex_digits[(unsigned char)self.data[i] >> 4], hex_digits[self.data[i] & 15]};
        if (status == TSR_OK) status = tsr_text_append(&text, digits, sizeof digits);
    }
    return str_end_text_move(out, status, &text);
}

static TsrStatus method_fromhex(Value *out, const CallArgs *args) {
    Value v = args->values[1];
    if (!value_is_str(v))
        return tsr_error(TSR_TYPE_ERROR, "fromhex() argument must be str, not %s",
                         v.tag == V_NONE ? "None" : value_type_name(v));
    const Str *s = value_as_str(v);
    TsrText text = {0};
    TsrStatus status = TSR_OK;
    for (int64_t i = 0; status == TSR_OK && i < s->size; i++)
        if ((unsigned char)s->data[i] >= 0x80) /* found before anything else */
            status = tsr_error(TSR_VALUE_ERROR, "non-hexadecimal number found in fromhex() arg at position %lld",
                               (long long)i);
    for (int64_t i = 0; status == TSR_OK && i < s->size;) {
        if (isspace((unsigned char)s->data[i])) {
            i++;
            continue;
        }
        int value = 0;
        for (int k = 0; k < 2 && status == TSR_OK; k++) {
            unsigned char c = i + k < s->size ? (unsigned char)s->data[i + k] : 0;
            if (!isxdigit(c))
                status = tsr_error(TSR_VALUE_ERROR, "non-hexadecimal number found in fromhex() arg at position %lld",
                                   (long long)(i + k));
            value = value * 16 + (isdigit(c) ? c - '0' : (c | 32) - 'a' + 10);
        }
        if (status == TSR_OK) status = tsr_text_putc(&text, (char)value);
        i += 2;
    }
    if (status == TSR_OK)
        status =
            bytes_new_like(out, (Type *)args->values[0].o, text.data != NULL ? text.data : "", (int64_t)text.length);
    tsr_text_free(&text);
    return status;
}

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
    for (int64_t i = 0; i < self.size && yes && !tsr_interrupted_at(i); i++) yes = test((unsigned char)self.data[i]);
    *out = value_bool(yes);
    return TSR_OK;
}
static TsrStatus method_isalnum(Value *out, const CallArgs *args) {
    return every(out, args, is_letter_or_digit, false);
}
static TsrStatus method_isalpha(Value *out, const CallArgs *args) { return every(out, args, is_letter, false); }
static TsrStatus method_isascii(Value *out, const CallArgs *args) { return every(out, args, is_ascii, true); }
static TsrStatus method_isdigit(Value *out, const CallArgs *args) { return every(out, args, is_digit, false); }
static TsrStatus method_isspace(Value *out, const CallArgs *args) { return every(out, args, is_space, false); }

static TsrStatus one_case(Value *out, const CallArgs *args, bool (*wanted)(unsigned char),
                          bool (*other)(unsigned char)) {
    Bytestring self = self_bytes(args);
    bool some = false, good = true;
    for (int64_t i = 0; i < self.size && good && !tsr_interrupted_at(i); i++) {
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
    for (int64_t i = 0; i < self.size && good && !tsr_interrupted_at(i); i++) {
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
    bool up = mode == UPPER || (mode == SWAP && is_lower(c)) || (mode == CAPITAL && first) ||
              (mode == TITLE && !after_letter);
    return (char)(up ? c & ~0x20 : c | 0x20);
}

static TsrStatus change_case(Value *out, const CallArgs *args, CaseMode mode) {
    Bytestring self = self_bytes(args);
    TSR_TRY(bytes_new_like(out, args->values[0].o->type, self.data, self.size));
    char *to = memory_of(*out);
    for (int64_t i = 0; i < self.size && !tsr_interrupted_at(i); i++)
        to[i] = in_case((unsigned char)self.data[i], mode, i == 0, i > 0 && is_letter((unsigned char)self.data[i - 1]));
    return TSR_OK;
}
static TsrStatus method_capitalize(Value *out, const CallArgs *args) { return change_case(out, args, CAPITAL); }
static TsrStatus method_lower(Value *out, const CallArgs *args) { return change_case(out, args, LOWER); }
static TsrStatus method_swapcase(Value *out, const CallArgs *args) { return change_case(out, args, SWAP); }
static TsrStatus method_title(Value *out, const CallArgs *args) { return change_case(out, args, TITLE); }
static TsrStatus method_upper(Value *out, const CallArgs *args) { return change_case(out, args, UPPER); }

/* --- padding --- */

static TsrStatus pad_bytes(Value *out, const CallArgs *args, int64_t left, int64_t right, char fill) {
    Bytestring self = self_bytes(args);
    int64_t size;
    if (tsr_add_overflows(left, right, &size) || tsr_add_overflows(size, self.size, &size)) return mem_error();
    TSR_TRY(bytes_new_like(out, args->values[0].o->type, NULL, size));
    char *to = memory_of(*out);
    TsrStatus status = tsr_fill_long(to, fill, (size_t)left);
    if (status == TSR_OK) status = tsr_copy_long(to + left, self.data, (size_t)self.size);
    if (status == TSR_OK) status = tsr_fill_long(to + left + self.size, fill, (size_t)right);
    return value_end_move(out, status, *out);
}

static TsrStatus justify(Value *out, const CallArgs *args, int mode, const char *name) {
    int64_t width;
    char *fill = " ";
    int64_t fill_size = 1;
    TSR_TRY(value_to_index(&width, args->values[1]));
    if (args->count > 2 && (!value_as_buffer(args->values[2], &fill, &fill_size) || fill_size != 1)) {
        return tsr_error(TSR_TYPE_ERROR, "%s() argument 2 must be a byte string of length 1, not %s", name,
                         value_shown_type(args->values[2]));
    }
    int64_t pad = TSR_MAX(width - self_bytes(args).size, 0);
    int64_t left = mode < 0 ? 0 : mode > 0 ? pad : pad / 2 + (pad & width & 1);
    return pad_bytes(out, args, left, pad - left, fill[0]);
}
static TsrStatus method_ljust(Value *out, const CallArgs *args) { return justify(out, args, -1, "ljust"); }
static TsrStatus method_rjust(Value *out, const CallArgs *args) { return justify(out, args, 1, "rjust"); }
static TsrStatus method_center(Value *out, const CallArgs *args) { return justify(out, args, 0, "center"); }

static TsrStatus method_zfill(Value *out, const CallArgs *args) {
    int64_t width;
    Bytestring self = self_bytes(args);
    TSR_TRY(value_to_index(&width, args->values[1]));
    int64_t pad = TSR_MAX(width - self.size, 0);
    TSR_TRY(pad_bytes(out, args, pad, 0, '0'));
    char *to = memory_of(*out);
    if (pad > 0 && self.size > 0 && (self.data[0] == '-' || self.data[0] == '+')) {
        to[0] = self.data[0];
        to[pad] = '0';
    }
    return TSR_OK;
}

/* --- joining --- */

static TsrStatus join_items(TsrText *text, Bytestring glue, const List *items) {
    for (int64_t i = 0; i < items->count; i++) {
        char *part;
        int64_t n;
        if (!value_as_buffer(items->items[i], &part, &n)) {
            return tsr_error(TSR_TYPE_ERROR, "sequence item %lld: expected a bytes-like object, %s found", (long long)i,
                             value_type_name(items->items[i]));
        }
        if (i > 0) TSR_TRY(tsr_text_append(text, glue.data, (size_t)glue.size));
        TSR_TRY(tsr_text_append(text, part, (size_t)n));
    }
    return TSR_OK;
}

static TsrStatus method_join(Value *out, const CallArgs *args) {
    Value list;
    TSR_TRY(text_list_to_join(&list, args->values[1]));
    TsrText text = {0};
    TsrStatus status = join_items(&text, self_bytes(args), value_as_list(list));
    value_release(list);
    if (status == TSR_OK) return text_new_like_move(out, args->values[0], &text);
    tsr_text_free(&text);
    return status;
}

/* --- translation --- */

static TsrStatus method_maketrans(Value *out, const CallArgs *args) {
    Bytestring from, to;
    TSR_TRY(text_buffer_argument(&from, args->values[0]));
    TSR_TRY(text_buffer_argument(&to, args->values[1]));
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
    if (!value_is_none(given[0])) TSR_TRY(text_buffer_argument(&table, given[0]));
    if (table.data != NULL && table.size != 256)
        return tsr_error(TSR_VALUE_ERROR, "translation table must be 256 characters long");
    if (given[1].tag != V_UNBOUND) TSR_TRY(text_buffer_argument(&drop, given[1]));
    TsrText text = {0};
    TsrStatus status = TSR_OK;
    for (int64_t i = 0; status == TSR_OK && i < self.size; i++) {
        if (drop.size > 0 && memchr(drop.data, self.data[i], (size_t)drop.size) != NULL) continue;
        status = tsr_text_putc(&text, table.data != NULL ? table.data[(unsigned char)self.data[i]] : self.data[i]);
    }
    if (status == TSR_OK) return text_new_like_move(out, args->values[0], &text);
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
    const Type *type = value_type(v);
    if (type->iter == NULL && type->iter_next == NULL && v.tag != V_TENSOR)
        return tsr_error(TSR_TYPE_ERROR, "can't extend bytearray with %s", type->name);
    if (value_is_str(v))
        return value_as_str(v)->size == 0
                   ? TSR_OK
                   : tsr_error(TSR_TYPE_ERROR, "'str' object cannot be interpreted as an integer");
    TSR_TRY(value_call_n(&source, value_lent(&bytearray_type), 1, &v));
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

static TsrStatus method_copy(Value *out, const CallArgs *args) {
    return bytearray_new(out, self_array(args)->data, self_array(args)->size);
}

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
    int64_t at = text_search((Bytestring){b->data, b->size}, (Bytestring){&byte, 1}, false);
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

const Method bytes_methods[] = {
#include "bytes_methods.def"
    {0},
};
const Method bytearray_methods[] = {
#include "bytes_methods.def"
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
