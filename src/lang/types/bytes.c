/* bytes and bytearray: making them, slots for indexing, comparing, hashing and formatting, and changes of a bytearray
 * in place. Both are one buffer with a size; the methods that they share with str are in text_methods.c and
 * bytes_methods.c. */
#include "lang/object/args.h"
#include "bytes_impl.h"
#include "lang/object/exc.h"
#include "lang/object/native.h"
#include "numbers.h"
#include "sequences.h"
#include "indices.h"
#include "str.h"
#include "text_methods.h"
#include "lang/object/value_impl.h"

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
    TsrStatus status =
        data != NULL ? tsr_copy_long(b->data, data, (size_t)size) : tsr_fill_long(b->data, 0, (size_t)size);
    b->data[size] = '\0';
    return value_end_move(out, status, value_obj_move(b));
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
    b->size = size;
    b->exports = 0;
    return value_end_move(out, data != NULL ? tsr_copy_long(b->data, data, (size_t)size) : TSR_OK, value_obj_move(b));
}

TsrStatus bytes_new_like(Value *out, const Type *like, const void *data, int64_t size) {
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
        else if (c == '\n' || c == '\r' || c == '\t')
            status = tsr_text_puts(out, c == '\n' ? "\\n" : c == '\r' ? "\\r" : "\\t");
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
    *out = value_bool(compare_order(op, order));
    return TSR_OK;
}

static TsrStatus length_slot(int64_t *out, Value self) {
    char *data;
    value_as_buffer(self, &data, out);
    return TSR_OK;
}

/* bytes never change: an answer with all of them is they themselves, as in CPython. */
static TsrStatus same(Value *out, Value bytes) {
    *out = value_retain(bytes);
    return TSR_OK;
}

static TsrStatus get_item_slot(Value *out, Value self, Value index) {
    char *data;
    int64_t size, i, stop, step, count;
    value_as_buffer(self, &data, &size);
    if (value_is_obj(index, &slice_type)) {
        TSR_TRY(slice_resolve((Slice *)index.o, size, &i, &stop, &step, &count));
        if (count == size && step == 1 && value_is_bytes(self)) return same(out, self);
        if (step == 1) return bytes_new_like(out, self.o->type, data + i, count);
        TSR_TRY(bytes_new_like(out, self.o->type, NULL, count));
        char *to;
        value_as_buffer(*out, &to, &size);
        for (int64_t k = 0; k < count && !tsr_interrupted_at(k); k++) to[k] = data[i + k * step];
        TsrStatus status = tsr_interrupt_check();
        if (status != TSR_OK) value_release(*out);
        return status;
    }
    TSR_TRY(sequence_index(&i, index, value_is_bytes(self) ? "byte" : "bytearray"));
    if (!index_wrap(&i, size))
        return tsr_error(TSR_INDEX_ERROR, value_is_bytes(self) ? "index out of range" : "bytearray index out of range");
    *out = value_int((unsigned char)data[i]);
    return TSR_OK;
}

TsrStatus byte_from_value(char *out, Value v, const char *type) {
    int64_t n;
    TSR_TRY(value_to_index_clamped(&n, v));
    if (n < 0 || n > 255)
        return tsr_error(TSR_VALUE_ERROR, strcmp(type, "bytes") == 0 ? "bytes must be in range(0, 256)"
                                                                     : "byte must be in range(0, 256)");
    *out = (char)n;
    return TSR_OK;
}

static TsrStatus contains_slot(bool *out, Value self, Value item) {
    char *data, *part, byte;
    int64_t size, part_size = 1;
    value_as_buffer(self, &data, &size);
    if (!value_as_buffer(item, &part, &part_size)) {
        if (!value_is_int(item))
            return tsr_error(TSR_TYPE_ERROR, "a bytes-like object is required, not '%s'", value_type_name(item));
        TSR_TRY(byte_from_value(&byte, item, "byte"));
        part = &byte;
    }
    *out = text_search((Bytestring){data, size}, (Bytestring){part, part_size}, false) >= 0;
    return tsr_interrupt_check();
}

static TsrStatus iter_slot(Value *out, Value self) { return index_iter_new(out, self); }

static TsrStatus percent(Value *out, Value format, Value args) {
    TsrText text = {0};
    char *data;
    int64_t size;
    value_as_buffer(format, &data, &size);
    TSR_TRY(bytes_percent(&text, data, size, args));
    TsrStatus status = bytes_new_like(out, format.o->type, text.data != NULL ? text.data : "", (int64_t)text.length);
    tsr_text_free(&text);
    return status;
}

static TsrStatus binary_slot(Value *out, BinaryOp op, Value a, Value b) {
    char *x, *y;
    int64_t n, m, times;
    *out = VALUE_UNBOUND;
    if (op == OP_MOD && value_as_buffer(a, &x, &n)) return percent(out, a, b);
    if (op == OP_ADD && value_as_buffer(a, &x, &n) && value_as_buffer(b, &y, &m)) {
        if (m == 0 && value_is_bytes(a)) return same(out, a);
        if (n == 0 && value_is_bytes(a) && value_is_bytes(b)) return same(out, b);
        TSR_TRY(bytes_new_like(out, a.o->type, NULL, n + m));
        char *to;
        int64_t size;
        value_as_buffer(*out, &to, &size);
        TsrStatus status = tsr_copy_long(to, x, (size_t)n);
        if (status == TSR_OK) status = tsr_copy_long(to + n, y, (size_t)m);
        return value_end_move(out, status, *out);
    }
    if (op != OP_MUL) return TSR_OK;
    bool left = value_as_buffer(a, &x, &n), handled;
    if (!left) value_as_buffer(b, &x, &n);
    TSR_TRY(repeat_count(&times, left ? b : a, n, &handled));
    if (!handled) return TSR_OK;
    if (times == 1 && value_is_bytes(left ? a : b)) return same(out, left ? a : b);
    TSR_TRY(bytes_new_like(out, left ? a.o->type : b.o->type, NULL, n * times));
    char *to;
    int64_t size;
    value_as_buffer(*out, &to, &size);
    TsrStatus status = repeat_bytes(to, x, n, times);
    if (status != TSR_OK) value_release(*out);
    return status;
}

/* --- making from a value --- */

static TsrStatus from_iterable(Value *out, Type *type, Value iterable) {
    Value list;
    TSR_TRY(list_new_iterable(&list, iterable));
    const List *l = value_as_list(list);
    TsrStatus status = bytes_new_like(out, type, NULL, l->count);
    char *data;
    int64_t size;
    if (status == TSR_OK) value_as_buffer(*out, &data, &size);
    for (int64_t i = 0; status == TSR_OK && i < l->count; i++) {
        if ((status = byte_from_value(&data[i], l->items[i], type == &bytes_type ? "bytes" : "byte")) == TSR_OK &&
            (i & 0xFFFF) == 0)
            status = tsr_interrupt_check();
        if (status != TSR_OK) value_release(*out);
    }
    value_release(list);
    return status;
}

static TsrStatus from_text(Value *out, Type *type, Value given[3]) {
    if (given[1].tag == V_UNBOUND) return tsr_error(TSR_TYPE_ERROR, "string argument without an encoding");
    Value encoded;
    TSR_TRY(value_call_method(&encoded, given[0], "encode", given[2].tag != V_UNBOUND ? 2 : 1, given + 1));
    if (type == &bytes_type) return *out = encoded, TSR_OK;
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
    for (int i = 1; i < 3; i++) {
        if (given[i].tag == V_UNBOUND || value_is_str(given[i])) continue;
        return tsr_error(TSR_TYPE_ERROR, "%s() argument '%s' must be str, not %s", type->name, names[i],
                         value_shown_type(given[i]));
    }
    if (value_is_str(v)) return from_text(out, type, given);
    if (given[1].tag != V_UNBOUND || given[2].tag != V_UNBOUND)
        return tsr_error(TSR_TYPE_ERROR, given[1].tag != V_UNBOUND ? "encoding without a string argument"
                                                                   : "errors without a string argument");
    if (v.tag == V_UNBOUND) return bytes_new_like(out, type, "", 0);
    if (type == &bytes_type && value_is_bytes(v)) return same(out, v);
    if (value_as_buffer(v, &data, &size)) return bytes_new_like(out, type, data, size);
    if (value_is_int(v)) {
        if (!int_fits_int64(v, &size))
            return tsr_error(TSR_OVERFLOW_ERROR, "cannot fit 'int' into an index-sized integer");
        if (size < 0) return tsr_error(TSR_VALUE_ERROR, "negative count");
        return bytes_new_like(out, type, NULL, size);
    }
    const Type *t = value_type(v);
    if (t->iter == NULL && t->iter_next == NULL && v.tag != V_TENSOR)
        return tsr_error(TSR_TYPE_ERROR, "cannot convert '%s' object to %s", t->name, type->name);
    return from_iterable(out, type, v);
}

/* --- bytearray --- */

TsrStatus bytearray_splice(ByteArray *b, int64_t start, int64_t removed, const char *data, int64_t count) {
    if (count != removed && b->exports > 0)
        return tsr_error(TSR_BUFFER_ERROR, "Existing exports of data: object cannot be re-sized");
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

static TsrStatus array_set_slice(ByteArray *b, const Slice *slice, Value value) {
    int64_t from, stop, step, count, n;
    char *data;
    Value source;
    TSR_TRY(slice_resolve(slice, b->size, &from, &stop, &step, &count)); /* a wrong index comes before a wrong value */
    if (value_is_int(value) || value.tag == V_FLOAT || value_is_complex(value) || value_is_str(value))
        return tsr_error(TSR_TYPE_ERROR, "can assign only bytes, buffers, or iterables of ints in range(0, 256)");
    TSR_TRY(value_call_n(&source, value_lent(&bytearray_type), 1, &value));
    value_as_buffer(source, &data, &n);
    TsrStatus status = slice_resolve(slice, b->size, &from, &stop, &step, &count);
    if (status == TSR_OK && step == 1) status = bytearray_splice(b, from, count, data, n);
    else if (status == TSR_OK && n != count)
        status = tsr_error(TSR_VALUE_ERROR, "attempt to assign bytes of size %lld to extended slice of size %lld",
                           (long long)n, (long long)count);
    else
        for (int64_t k = 0; status == TSR_OK && k < count; k++) b->data[from + k * step] = data[k];
    value_release(source);
    return status;
}

static TsrStatus array_set_item(Value self, Value index, Value value) {
    ByteArray *b = (ByteArray *)self.o;
    int64_t i;
    char byte;
    if (value_is_obj(index, &slice_type)) return array_set_slice(b, (Slice *)index.o, value);
    TSR_TRY(sequence_index(&i, index, "bytearray"));
    if (!index_wrap(&i, b->size)) return tsr_error(TSR_INDEX_ERROR, "bytearray index out of range");
    TSR_TRY(byte_from_value(&byte, value, "byte"));
    b->data[i] = byte;
    return TSR_OK;
}

static TsrStatus array_del_slice(ByteArray *b, const Slice *slice) {
    int64_t from, stop, step, count;
    TSR_TRY(slice_resolve(slice, b->size, &from, &stop, &step, &count));
    if (step == 1) return bytearray_splice(b, from, count, NULL, 0);
    if (step < 0 && count > 0) {
        from += (count - 1) * step;
        step = -step;
    }
    if (count == 0) return TSR_OK;
    if (b->exports > 0) return bytearray_splice(b, from, 1, NULL, 0); /* which refuses */
    char *to = b->data + from;
    const char *end = b->data + b->size;
    for (int64_t k = 0; k < count; k++) { /* what stands between one that goes and the next moves up */
        const char *rest = b->data + from + k * step + 1, *next = k + 1 < count ? rest + step - 1 : end;
        memmove(to, rest, (size_t)(next - rest));
        to += next - rest;
    }
    return bytearray_splice(b, to - b->data, end - to, NULL, 0);
}

static TsrStatus array_del_item(Value self, Value index) {
    ByteArray *b = (ByteArray *)self.o;
    int64_t i;
    if (value_is_obj(index, &slice_type)) return array_del_slice(b, (Slice *)index.o);
    TSR_TRY(sequence_index(&i, index, "bytearray"));
    if (!index_wrap(&i, b->size)) return tsr_error(TSR_INDEX_ERROR, "bytearray index out of range");
    return bytearray_splice(b, i, 1, NULL, 0);
}

static TsrStatus array_inplace(Value *out, BinaryOp op, Value self, Value b) {
    char *data;
    int64_t n;
    *out = VALUE_UNBOUND;
    if (op != OP_ADD || !value_as_buffer(b, &data, &n)) return TSR_OK;
    TSR_TRY(bytearray_splice((ByteArray *)self.o, ((ByteArray *)self.o)->size, 0, data, n));
    *out = value_retain(self);
    return TSR_OK;
}

#define SHARED_SLOTS \
    .construct = construct_slot, .repr = repr_slot, .compare = compare_slot, .length = length_slot, \
    .get_item = get_item_slot, .contains = contains_slot, .iter = iter_slot, .binary = binary_slot
Type bytes_type = {.obj = TYPE_HEADER,
                   .flags = TYPE_SEQUENCE | TYPE_ATOMIC,
                   .name = "bytes",
                   .doc = "bytes(source): bytes that never change.",
                   SHARED_SLOTS,
                   .destroy = bytes_destroy,
                   .hash = hash_slot,
                   .methods = bytes_methods};
Type bytearray_type = {.obj = TYPE_HEADER,
                       .flags = TYPE_SEQUENCE,
                       .name = "bytearray",
                       .doc = "bytearray(source): bytes that can change.",
                       SHARED_SLOTS,
                       .destroy = bytearray_destroy,
                       .hash = hash_refused,
                       .set_item = array_set_item,
                       .del_item = array_del_item,
                       .inplace = array_inplace,
                       .methods = bytearray_methods};
