#include "bytes_obj.h"

#include "args.h"
#include "exc.h"
#include "func_obj.h"
#include "num_obj.h"
#include "seq_obj.h"
#include "str_obj.h"
#include "value_internal.h"

#include <ctype.h>
#include <string.h>

bool value_as_buffer(Value v, char **data, int64_t *size) {
    if (value_is_bytes(v)) {
        *data = ((Bytes *)v.o)->data;
        *size = ((Bytes *)v.o)->size;
        return true;
    }
    if (!value_is_bytearray(v)) return false;
    *data = ((ByteArray *)v.o)->data;
    *size = ((ByteArray *)v.o)->size;
    return true;
}

TsrStatus bytes_new(Value *out, const void *data, int64_t size) {
    if (size < 0 || size > PTRDIFF_MAX / 2) return mem_error();
    Bytes *b = obj_new(&bytes_type, sizeof *b + (size_t)size + 1);
    if (b == NULL) return TSR_MEMORY_ERROR;
    b->size = size;
    b->hash = -1;
    if (data != NULL) memcpy(b->data, data, (size_t)size);
    else memset(b->data, 0, (size_t)size);
    b->data[size] = '\0';
    *out = value_obj_move(b);
    return TSR_OK;
}

TsrStatus bytearray_new(Value *out, const void *data, int64_t size) {
    if (size < 0 || size > PTRDIFF_MAX / 2) return mem_error();
    ByteArray *b = obj_new(&bytearray_type, sizeof *b);
    if (b == NULL) return TSR_MEMORY_ERROR;
    b->capacity = size + 1;
    b->data = data != NULL ? tsr_malloc((size_t)b->capacity) : tsr_calloc((size_t)b->capacity, 1);
    if (b->data == NULL) {
        obj_free(b, sizeof *b);
        return mem_error();
    }
    if (data != NULL) memcpy(b->data, data, (size_t)size);
    b->size = size;
    b->exports = 0;
    *out = value_obj_move(b);
    return TSR_OK;
}

/* A value of the same type as `like`. */
static TsrStatus make(Value *out, Type *like, const void *data, int64_t size) {
    return like == &bytearray_type ? bytearray_new(out, data, size) : bytes_new(out, data, size);
}

/* --- text --- */

static TsrStatus write_escaped(TsrText *out, const char *data, int64_t size) {
    char quote = memchr(data, '\'', (size_t)size) != NULL && memchr(data, '"', (size_t)size) == NULL ? '"' : '\'';
    TSR_TRY(tsr_text_putc(out, 'b'));
    TSR_TRY(tsr_text_putc(out, quote));
    for (int64_t i = 0; i < size; i++) {
        unsigned char c = (unsigned char)data[i];
        TsrStatus status;
        if (c == quote || c == '\\') status = tsr_text_printf(out, "\\%c", c);
        else if (c == '\n' || c == '\r' || c == '\t') status = tsr_text_puts(out, c == '\n' ? "\\n" : c == '\r' ? "\\r" : "\\t");
        else if (c < 0x20 || c >= 0x7f) status = tsr_text_printf(out, "\\x%02x", c);
        else status = tsr_text_putc(out, (char)c);
        TSR_TRY(status);
    }
    return tsr_text_putc(out, quote);
}

TsrStatus bytes_repr(TsrText *out, const char *data, int64_t size) { return write_escaped(out, data, size); }

static TsrStatus repr_slot(TsrText *out, Value self) {
    char *data;
    int64_t size;
    value_as_buffer(self, &data, &size);
    if (value_is_bytes(self)) return write_escaped(out, data, size);
    TSR_TRY(tsr_text_puts(out, "bytearray("));
    TSR_TRY(write_escaped(out, data, size));
    return tsr_text_putc(out, ')');
}

static void bytes_destroy(Obj *self) { obj_free(self, sizeof(Bytes) + (size_t)((Bytes *)self)->size + 1); }
static void bytearray_destroy(Obj *self) {
    tsr_free(((ByteArray *)self)->data);
    obj_free(self, sizeof(ByteArray));
}

static TsrStatus hash_slot(int64_t *out, Value self) {
    Bytes *b = (Bytes *)self.o;
    if (b->hash == -1) b->hash = hash_bytes(b->data, b->size);
    *out = b->hash;
    return TSR_OK;
}

static TsrStatus compare_slot(Value *out, CompareOp op, Value a, Value b) {
    char *x, *y;
    int64_t n, m;
    *out = VALUE_UNBOUND;
    if (!value_as_buffer(a, &x, &n) || !value_as_buffer(b, &y, &m)) return TSR_OK;
    int order = memcmp(x, y, (size_t)TSR_MIN(n, m));
    if (order == 0) order = (n > m) - (n < m);
    bool yes = op == CMP_EQ ? order == 0 : op == CMP_NE ? order != 0 : op == CMP_LT ? order < 0 : op == CMP_LE ? order <= 0 : op == CMP_GT ? order > 0 : order >= 0;
    *out = value_bool(yes);
    return TSR_OK;
}

static TsrStatus length_slot(int64_t *out, Value self) {
    char *data;
    value_as_buffer(self, &data, out);
    return TSR_OK;
}

static TsrStatus get_item_slot(Value *out, Value self, Value index) {
    char *data;
    int64_t size, i, stop, step, count;
    value_as_buffer(self, &data, &size);
    if (value_is_obj(index, &slice_type)) {
        TSR_TRY(slice_resolve((Slice *)index.o, size, &i, &stop, &step, &count));
        if (step == 1) return make(out, self.o->type, data + i, count);
        TSR_TRY(make(out, self.o->type, NULL, count));
        char *to;
        value_as_buffer(*out, &to, &size);
        for (int64_t k = 0; k < count; k++) to[k] = data[i + k * step];
        return TSR_OK;
    }
    TSR_TRY(sequence_index(&i, index, value_is_bytes(self) ? "byte" : "bytearray"));
    if (!index_wrap(&i, size)) return tsr_error(TSR_INDEX_ERROR, value_is_bytes(self) ? "index out of range" : "bytearray index out of range");
    *out = value_int((unsigned char)data[i]);
    return TSR_OK;
}

static TsrStatus byte_value(char *out, Value v, const char *type) {
    int64_t n;
    TSR_TRY(value_to_index_clamped(&n, v));
    if (n < 0 || n > 255) return tsr_error(TSR_VALUE_ERROR, strcmp(type, "bytes") == 0 ? "bytes must be in range(0, 256)" : "byte must be in range(0, 256)");
    *out = (char)n;
    return TSR_OK;
}

static TsrStatus contains_slot(bool *out, Value self, Value item) {
    char *data, *part, byte;
    int64_t size, part_size = 1;
    value_as_buffer(self, &data, &size);
    if (!value_as_buffer(item, &part, &part_size)) {
        if (!value_is_int(item)) return tsr_error(TSR_TYPE_ERROR, "a bytes-like object is required, not '%s'", value_type_name(item));
        TSR_TRY(byte_value(&byte, item, "byte"));
        part = &byte;
    }
    *out = part_size == 0 || memmem(data, (size_t)size, part, (size_t)part_size) != NULL;
    return TSR_OK;
}

static TsrStatus iter_slot(Value *out, Value self) { return index_iter_new(out, self); }

static TsrStatus binary_slot(Value *out, BinaryOp op, Value a, Value b) {
    char *x, *y;
    int64_t n, m, times;
    *out = VALUE_UNBOUND;
    if (op == OP_ADD && value_as_buffer(a, &x, &n) && value_as_buffer(b, &y, &m)) {
        TSR_TRY(make(out, a.o->type, NULL, n + m));
        char *to;
        int64_t size;
        value_as_buffer(*out, &to, &size);
        memcpy(to, x, (size_t)n);
        memcpy(to + n, y, (size_t)m);
        return TSR_OK;
    }
    if (op != OP_MUL) return TSR_OK;
    bool left = value_as_buffer(a, &x, &n), handled;
    if (!left) value_as_buffer(b, &x, &n);
    TSR_TRY(repeat_count(&times, left ? b : a, n, &handled));
    if (!handled) return TSR_OK;
    TSR_TRY(make(out, left ? a.o->type : b.o->type, NULL, n * times));
    char *to;
    int64_t size;
    value_as_buffer(*out, &to, &size);
    for (int64_t i = 0; i < times; i++) memcpy(to + i * n, x, (size_t)n);
    return TSR_OK;
}

/* --- making from a value --- */

static TsrStatus from_iterable(Value *out, Type *type, Value iterable) {
    Value list;
    TSR_TRY(list_new_iterable(&list, iterable));
    const List *l = value_as_list(list);
    TsrStatus status = make(out, type, NULL, l->count);
    char *data;
    int64_t size;
    if (status == TSR_OK) value_as_buffer(*out, &data, &size);
    for (int64_t i = 0; status == TSR_OK && i < l->count; i++) {
        if ((status = byte_value(&data[i], l->items[i], type == &bytes_type ? "bytes" : "byte")) != TSR_OK) value_release(*out);
    }
    value_release(list);
    return status;
}

static TsrStatus from_text(Value *out, Type *type, Value given[3]) {
    if (given[1].tag == V_UNBOUND) return tsr_error(TSR_TYPE_ERROR, "string argument without an encoding");
    Value encoded;
    TSR_TRY(value_call_method(&encoded, given[0], "encode", given[2].tag != V_UNBOUND ? 2 : 1, given + 1));
    if (type == &bytes_type) {
        *out = encoded;
        return TSR_OK;
    }
    TsrStatus status = bytearray_new(out, ((Bytes *)encoded.o)->data, ((Bytes *)encoded.o)->size);
    value_release(encoded);
    return status;
}

static TsrStatus construct_slot(Value *out, Type *type, const CallArgs *args) {
    static const char *const names[] = {"source", "encoding", "errors"};
    const ArgSpec spec = {type->name, names, 3, 0, 3, 0};
    Value given[3];
    char *data;
    int64_t size;
    TSR_TRY(args_parse(given, args, 0, &spec));
    Value v = given[0];
    if (v.tag == V_UNBOUND) return make(out, type, "", 0);
    if (value_is_str(v)) return from_text(out, type, given);
    if (given[1].tag != V_UNBOUND) return tsr_error(TSR_TYPE_ERROR, "encoding without a string argument");
    if (value_as_buffer(v, &data, &size)) return make(out, type, data, size);
    if (value_is_int(v)) {
        TSR_TRY(value_to_index(&size, v));
        if (size < 0) return tsr_error(TSR_VALUE_ERROR, "negative count");
        return make(out, type, NULL, size);
    }
    const Type *t = value_type(v);
    if (t->iter == NULL && t->iter_next == NULL && v.tag != V_TENSOR) return tsr_error(TSR_TYPE_ERROR, "cannot convert '%s' object to %s", t->name, type->name);
    return from_iterable(out, type, v);
}

/* --- methods of both --- */

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
        int64_t bad = utf8_invalid(data + from, size - from);
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

static TsrStatus method_hex(Value *out, const CallArgs *args) {
    char *data;
    int64_t size;
    value_as_buffer(args->values[0], &data, &size);
    const char *separator = "";
    if (args->count > 1) TSR_TRY(value_to_cstring(&separator, args->values[1], "sep"));
    TsrText text = {0};
    TsrStatus status = TSR_OK;
    for (int64_t i = 0; status == TSR_OK && i < size; i++) status = tsr_text_printf(&text, "%s%02x", i > 0 ? separator : "", (unsigned char)data[i]);
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
    if (status == TSR_OK) status = make(out, (Type *)args->values[0].o, text.data != NULL ? text.data : "", (int64_t)text.length);
    tsr_text_free(&text);
    return status;
}

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
    return byte_value(byte, v, "byte");
}

static TsrStatus buffer_argument(Value v, char **data, int64_t *size) {
    if (value_as_buffer(v, data, size)) return TSR_OK;
    return tsr_error(TSR_TYPE_ERROR, "a bytes-like object is required, not '%s'", value_type_name(v));
}

static TsrStatus search(int64_t *out, const CallArgs *args, bool last) {
    char *data, *part, byte;
    int64_t size, n, offset;
    TSR_TRY(bounded(args, &data, &size, &offset));
    TSR_TRY(part_argument(args->values[1], &part, &n, &byte));
    *out = -1;
    if (n > size) return TSR_OK;
    if (!last) {
        const char *found = n == 0 ? data : memmem(data, (size_t)size, part, (size_t)n);
        if (found != NULL) *out = found - data + offset;
        return TSR_OK;
    }
    for (int64_t i = size - n; i >= 0 && *out < 0; i--) {
        if (memcmp(data + i, part, (size_t)n) == 0) *out = i + offset;
    }
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

static TsrStatus remove_affix(Value *out, const CallArgs *args, bool at_end) {
    char *data, *part;
    int64_t size, n;
    value_as_buffer(args->values[0], &data, &size);
    TSR_TRY(buffer_argument(args->values[1], &part, &n));
    bool has = n <= size && memcmp(at_end ? data + size - n : data, part, (size_t)n) == 0;
    return make(out, args->values[0].o->type, has && !at_end ? data + n : data, has ? size - n : size);
}
static TsrStatus method_removeprefix(Value *out, const CallArgs *args) { return remove_affix(out, args, false); }
static TsrStatus method_removesuffix(Value *out, const CallArgs *args) { return remove_affix(out, args, true); }

static TsrStatus method_join(Value *out, const CallArgs *args) {
    char *glue, *part;
    int64_t glue_size, n;
    value_as_buffer(args->values[0], &glue, &glue_size);
    Value list;
    TSR_TRY(list_new_iterable(&list, args->values[1]));
    TsrText text = {0};
    TsrStatus status = TSR_OK;
    const List *l = value_as_list(list);
    for (int64_t i = 0; status == TSR_OK && i < l->count; i++) {
        if (!value_as_buffer(l->items[i], &part, &n)) {
            status = tsr_error(TSR_TYPE_ERROR, "sequence item %lld: expected a bytes-like object, %s found", (long long)i, value_type_name(l->items[i]));
            break;
        }
        if (i > 0) status = tsr_text_append(&text, glue, (size_t)glue_size);
        if (status == TSR_OK) status = tsr_text_append(&text, part, (size_t)n);
    }
    value_release(list);
    if (status == TSR_OK) status = make(out, args->values[0].o->type, text.data != NULL ? text.data : "", (int64_t)text.length);
    tsr_text_free(&text);
    return status;
}

static TsrStatus split_into(List *list, Type *type, const char *data, int64_t size, const char *separator, int64_t separator_size) {
    for (int64_t from = 0;;) {
        Value part;
        const char *found = memmem(data + from, (size_t)(size - from), separator, (size_t)separator_size);
        int64_t to = found != NULL ? found - data : size;
        TSR_TRY(make(&part, type, data + from, to - from));
        TSR_TRY(list_append_move(list, part));
        if (found == NULL) return TSR_OK;
        from = to + separator_size;
    }
}

static TsrStatus split_blanks(List *list, Type *type, const char *data, int64_t size) {
    for (int64_t i = 0; i < size;) {
        while (i < size && isspace((unsigned char)data[i])) i++;
        int64_t from = i;
        while (i < size && !isspace((unsigned char)data[i])) i++;
        Value part;
        if (i == from) break;
        TSR_TRY(make(&part, type, data + from, i - from));
        TSR_TRY(list_append_move(list, part));
    }
    return TSR_OK;
}

static TsrStatus method_split(Value *out, const CallArgs *args) {
    char *data, *separator = NULL;
    int64_t size, n = 0;
    value_as_buffer(args->values[0], &data, &size);
    if (args->count > 1 && !value_is_none(args->values[1])) TSR_TRY(buffer_argument(args->values[1], &separator, &n));
    if (separator != NULL && n == 0) return tsr_error(TSR_VALUE_ERROR, "empty separator");
    Value list;
    TSR_TRY(list_new(&list, 0));
    Type *type = args->values[0].o->type;
    TsrStatus status = separator != NULL ? split_into(value_as_list(list), type, data, size, separator, n) : split_blanks(value_as_list(list), type, data, size);
    if (status != TSR_OK) value_release(list);
    else *out = list;
    return status;
}

static TsrStatus strip(Value *out, const CallArgs *args, bool left, bool right) {
    char *data, *set = " \t\n\r\f\v";
    int64_t from = 0, to, n = 6;
    value_as_buffer(args->values[0], &data, &to);
    if (args->count > 1 && !value_is_none(args->values[1])) TSR_TRY(buffer_argument(args->values[1], &set, &n));
    while (left && from < to && memchr(set, data[from], (size_t)n) != NULL) from++;
    while (right && to > from && memchr(set, data[to - 1], (size_t)n) != NULL) to--;
    return make(out, args->values[0].o->type, data + from, to - from);
}
static TsrStatus method_strip(Value *out, const CallArgs *args) { return strip(out, args, true, true); }
static TsrStatus method_lstrip(Value *out, const CallArgs *args) { return strip(out, args, true, false); }
static TsrStatus method_rstrip(Value *out, const CallArgs *args) { return strip(out, args, false, true); }

static TsrStatus splitlines_into(List *list, Type *type, const char *data, int64_t size, bool keep) {
    for (int64_t from = 0, i = 0; from < size; from = i) {
        while (i < size && data[i] != '\n' && data[i] != '\r') i++;
        int64_t end = i;
        if (i < size) i += data[i] == '\r' && i + 1 < size && data[i + 1] == '\n' ? 2 : 1;
        Value line;
        TSR_TRY(make(&line, type, data + from, (keep ? i : end) - from));
        TSR_TRY(list_append_move(list, line));
    }
    return TSR_OK;
}

static TsrStatus method_splitlines(Value *out, const CallArgs *args) {
    char *data;
    int64_t size;
    bool keep = false;
    Value list;
    value_as_buffer(args->values[0], &data, &size);
    if (args->count > 1) TSR_TRY(value_truth(&keep, args->values[1]));
    TSR_TRY(list_new(&list, 0));
    TsrStatus status = splitlines_into(value_as_list(list), args->values[0].o->type, data, size, keep);
    if (status != TSR_OK) value_release(list);
    else *out = list;
    return status;
}

static TsrStatus change_case(Value *out, Value self, int (*map)(int)) {
    char *data, *to;
    int64_t size;
    value_as_buffer(self, &data, &size);
    TSR_TRY(make(out, self.o->type, data, size));
    value_as_buffer(*out, &to, &size);
    for (int64_t i = 0; i < size; i++) to[i] = (unsigned char)to[i] < 0x80 ? (char)map((unsigned char)to[i]) : to[i];
    return TSR_OK;
}
static TsrStatus method_upper(Value *out, const CallArgs *args) { return change_case(out, args->values[0], toupper); }
static TsrStatus method_lower(Value *out, const CallArgs *args) { return change_case(out, args->values[0], tolower); }

static TsrStatus method_count(Value *out, const CallArgs *args) {
    char *data, *part, byte;
    int64_t size, n, offset, found = 0;
    TSR_TRY(bounded(args, &data, &size, &offset));
    TSR_TRY(part_argument(args->values[1], &part, &n, &byte));
    if (n == 0) found = size + 1;
    for (char *p = data, *q; n > 0 && size > 0 && (q = memmem(p, (size_t)(data + size - p), part, (size_t)n)) != NULL; p = q + n) found++;
    *out = value_int(found);
    return TSR_OK;
}

static TsrStatus method_replace(Value *out, const CallArgs *args) {
    char *data, *part, *by;
    int64_t size, n, m;
    value_as_buffer(args->values[0], &data, &size);
    TSR_TRY(buffer_argument(args->values[1], &part, &n));
    TSR_TRY(buffer_argument(args->values[2], &by, &m));
    TsrText text = {0};
    TsrStatus status = TSR_OK;
    char *p = data;
    for (char *q; status == TSR_OK && n > 0 && (q = memmem(p, (size_t)(data + size - p), part, (size_t)n)) != NULL; p = q + n) {
        status = tsr_text_append(&text, p, (size_t)(q - p));
        if (status == TSR_OK) status = tsr_text_append(&text, by, (size_t)m);
    }
    if (status == TSR_OK) status = tsr_text_append(&text, p, (size_t)(data + size - p));
    if (status == TSR_OK) status = make(out, args->values[0].o->type, text.data != NULL ? text.data : "", (int64_t)text.length);
    tsr_text_free(&text);
    return status;
}

#define SHARED_ROWS \
    {"decode", method_decode, ARGS_ANY, 0, 0, "(encoding='utf-8', errors='strict')", "As text."}, \
    {"hex", method_hex, ARGS_RANGE, 0, 1, "([sep])", "Two hexadecimal digits a byte."}, \
    {"fromhex", method_fromhex, ARGS_ONE | METHOD_CLASS, 0, 0, "(text, /)", "The bytes of hexadecimal digits."}, \
    {"find", method_find, ARGS_RANGE | ARGS_TUPLE, 1, 3, "(sub[, start[, end]])", "The first index of the part, or -1."}, \
    {"rfind", method_rfind, ARGS_RANGE | ARGS_TUPLE, 1, 3, "(sub[, start[, end]])", "The last index of the part, or -1."}, \
    {"index", method_index, ARGS_RANGE | ARGS_TUPLE, 1, 3, "(sub[, start[, end]])", "The first index of the part."}, \
    {"rindex", method_rindex, ARGS_RANGE | ARGS_TUPLE, 1, 3, "(sub[, start[, end]])", "The last index of the part."}, \
    {"count", method_count, ARGS_RANGE | ARGS_TUPLE, 1, 3, "(sub[, start[, end]])", "How often the part occurs."}, \
    {"removeprefix", method_removeprefix, ARGS_ONE, 0, 0, "(prefix, /)", "Without the prefix."}, \
    {"removesuffix", method_removesuffix, ARGS_ONE, 0, 0, "(suffix, /)", "Without the suffix."}, \
    {"splitlines", method_splitlines, ARGS_RANGE, 0, 1, "(keepends=False)", "The lines."}, \
    {"lstrip", method_lstrip, ARGS_RANGE, 0, 1, "(bytes=None, /)", "Without spaces (or the bytes) at the start."}, \
    {"rstrip", method_rstrip, ARGS_RANGE, 0, 1, "(bytes=None, /)", "Without spaces (or the bytes) at the end."}, \
    {"replace", method_replace, ARGS_RANGE, 2, 2, "(old, new, /)", "With the part replaced."}, \
    {"startswith", method_startswith, ARGS_RANGE | ARGS_TUPLE, 1, 3, "(prefix[, start[, end]])", "Whether it starts so."}, \
    {"endswith", method_endswith, ARGS_RANGE | ARGS_TUPLE, 1, 3, "(suffix[, start[, end]])", "Whether it ends so."}, \
    {"join", method_join, ARGS_ONE, 0, 0, "(iterable, /)", "The parts with this between them."}, \
    {"split", method_split, ARGS_RANGE, 0, 1, "(sep=None, /)", "The parts between separators."}, \
    {"strip", method_strip, ARGS_RANGE, 0, 1, "(bytes=None, /)", "Without spaces at both ends."}, \
    {"upper", method_upper, ARGS_NONE, 0, 0, "()", "In upper case."}, \
    {"lower", method_lower, ARGS_NONE, 0, 0, "()", "In lower case."}

/* --- bytearray --- */

static ByteArray *self_array(const CallArgs *args) { return (ByteArray *)args->values[0].o; }

/* Replaces [start, start + removed) by `count` bytes. */
static TsrStatus splice(ByteArray *b, int64_t start, int64_t removed, const char *data, int64_t count) {
    if (count != removed && b->exports > 0) return tsr_error(TSR_BUFFER_ERROR, "Existing exports of data: object cannot be re-sized");
    char *copy = NULL;
    if (data >= b->data && data < b->data + b->size) { /* a part of itself */
        if ((copy = tsr_malloc((size_t)count + 1)) == NULL) return mem_error();
        memcpy(copy, data, (size_t)count);
        data = copy;
    }
    TsrStatus status = mem_grow(&b->data, &b->capacity, b->size + count - removed + 1, 1);
    if (status == TSR_OK) {
        memmove(b->data + start + count, b->data + start + removed, (size_t)(b->size - start - removed));
        if (count > 0) memcpy(b->data + start, data, (size_t)count);
        b->size += count - removed;
    }
    tsr_free(copy);
    return status;
}

static TsrStatus array_set_item(Value self, Value index, Value value) {
    ByteArray *b = (ByteArray *)self.o;
    int64_t i, stop, step, count, n;
    char *data, byte;
    if (value_is_obj(index, &slice_type)) {
        Value source;
        TSR_TRY(slice_resolve((Slice *)index.o, b->size, &i, &stop, &step, &count));
        TSR_TRY(value_call_n(&source, value_lent(&bytes_type), 1, &value));
        value_as_buffer(source, &data, &n);
        TsrStatus status = TSR_OK;
        if (step == 1) status = splice(b, i, count, data, n);
        else if (n != count) status = tsr_error(TSR_VALUE_ERROR, "attempt to assign bytes of size %lld to extended slice of size %lld", (long long)n, (long long)count);
        else for (int64_t k = 0; k < count; k++) b->data[i + k * step] = data[k];
        value_release(source);
        return status;
    }
    TSR_TRY(sequence_index(&i, index, "bytearray"));
    if (!index_wrap(&i, b->size)) return tsr_error(TSR_INDEX_ERROR, "bytearray index out of range");
    TSR_TRY(byte_value(&byte, value, "byte"));
    b->data[i] = byte;
    return TSR_OK;
}

static TsrStatus array_del_item(Value self, Value index) {
    ByteArray *b = (ByteArray *)self.o;
    int64_t i, stop, step, count = 1;
    if (value_is_obj(index, &slice_type)) {
        TSR_TRY(slice_resolve((Slice *)index.o, b->size, &i, &stop, &step, &count));
        if (step != 1) return tsr_error(TSR_VALUE_ERROR, "a bytearray's slice to delete must have step 1");
    } else {
        TSR_TRY(sequence_index(&i, index, "bytearray"));
        if (!index_wrap(&i, b->size)) return tsr_error(TSR_INDEX_ERROR, "bytearray index out of range");
    }
    return splice(b, i, count, NULL, 0);
}

static TsrStatus method_append(Value *out, const CallArgs *args) {
    char byte;
    *out = VALUE_NONE;
    TSR_TRY(byte_value(&byte, args->values[1], "byte"));
    return splice(self_array(args), self_array(args)->size, 0, &byte, 1);
}

static TsrStatus extend(ByteArray *b, Value v) {
    Value source;
    char *data;
    int64_t n;
    TSR_TRY(value_call_n(&source, value_lent(&bytes_type), 1, &v));
    value_as_buffer(source, &data, &n);
    TsrStatus status = splice(b, b->size, 0, data, n);
    value_release(source);
    return status;
}

static TsrStatus method_extend(Value *out, const CallArgs *args) {
    *out = VALUE_NONE;
    return extend(self_array(args), args->values[1]);
}

static TsrStatus method_clear(Value *out, const CallArgs *args) {
    *out = VALUE_NONE;
    return splice(self_array(args), 0, self_array(args)->size, NULL, 0);
}

static TsrStatus method_copy(Value *out, const CallArgs *args) { return bytearray_new(out, self_array(args)->data, self_array(args)->size); }

static TsrStatus method_pop(Value *out, const CallArgs *args) {
    ByteArray *b = self_array(args);
    int64_t i = -1;
    if (args->count > 1) TSR_TRY(value_to_index(&i, args->values[1]));
    if (b->size == 0) return tsr_error(TSR_INDEX_ERROR, "pop from empty bytearray");
    if (!index_wrap(&i, b->size)) return tsr_error(TSR_INDEX_ERROR, "pop index out of range");
    *out = value_int((unsigned char)b->data[i]);
    return splice(b, i, 1, NULL, 0);
}

static TsrStatus array_inplace(Value *out, BinaryOp op, Value self, Value b) {
    char *data;
    int64_t n;
    *out = VALUE_UNBOUND;
    if (op != OP_ADD || !value_as_buffer(b, &data, &n)) return TSR_OK;
    TSR_TRY(splice((ByteArray *)self.o, ((ByteArray *)self.o)->size, 0, data, n));
    *out = value_retain(self);
    return TSR_OK;
}

static const Method bytes_methods[] = {SHARED_ROWS, {0}};
static const Method bytearray_methods[] = {
    SHARED_ROWS,
    {"append", method_append, ARGS_ONE, 0, 0, "(item, /)", "Adds a byte at the end."},
    {"extend", method_extend, ARGS_ONE, 0, 0, "(iterable, /)", "Adds bytes at the end."},
    {"clear", method_clear, ARGS_NONE, 0, 0, "()", "Removes every byte."},
    {"copy", method_copy, ARGS_NONE, 0, 0, "()", "A copy."},
    {"pop", method_pop, ARGS_RANGE, 0, 1, "(index=-1, /)", "Removes and gives a byte."},
    {0},
};

#define SHARED_SLOTS \
    .flags = TYPE_SEQUENCE, .construct = construct_slot, .repr = repr_slot, .compare = compare_slot, .length = length_slot, .get_item = get_item_slot, \
    .contains = contains_slot, .iter = iter_slot, .binary = binary_slot
Type bytes_type = {.obj = TYPE_HEADER, .name = "bytes", .doc = "bytes(source): bytes that never change.", SHARED_SLOTS, .destroy = bytes_destroy,
                   .hash = hash_slot, .methods = bytes_methods};
Type bytearray_type = {.obj = TYPE_HEADER, .name = "bytearray", .doc = "bytearray(source): bytes that can change.", SHARED_SLOTS, .destroy = bytearray_destroy,
                       .hash = hash_refused, .set_item = array_set_item, .del_item = array_del_item, .inplace = array_inplace, .methods = bytearray_methods};
