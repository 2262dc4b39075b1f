/* x[...] and x[...] = v of the language. The index is turned into entries once, its numbers, slices and sequences read
 * from their values; all that follows, views, index tensors and errors, is core/indexing.h's. What only Python knows is
 * worded here: values that are no index, slices whose parts are no integers, and values that cannot be assigned. */
#include "subscript.h"

#include <string.h>

#include "torch/bind/bind.h"
#include "core/indexing.h"
#include "core/op/shared.h"
#include "core/table.h"
#include "lang/object/exc.h"
#include "lang/object/hint.h"
#include "lang/types/bytes.h"
#include "lang/types/numbers.h"
#include "lang/types/sequences.h"
#include "lang/types/str.h"
#include "column_names.h"
#include "tensor_from.h"

/* An index as the core takes it, and the tensors that were made from its sequences. */
typedef struct Index {
    TsrIndexEntry entry[TSR_MAX_DIMS];
    TsrTensor *made[TSR_MAX_DIMS]; /* owned */
    int n, nmade;
} Index;

/* ---- entries ---- */

static TsrStatus too_many(const TsrTensor *self) {
    return tsr_error(TSR_INDEX_ERROR, "too many indices for tensor of dimension %d", tsr_ndim(self));
}

static TsrStatus slice_part(int64_t *out, Value v, int64_t missing) {
    *out = missing;
    if (v.tag == V_INT) {
        *out = v.i;
        return TSR_OK;
    }
    if (v.tag == V_NONE) return TSR_OK;
    if (v.tag != V_BOOL && v.tag != V_TENSOR && !bind_is_index(v))
        return tsr_error(TSR_TYPE_ERROR, "slice indices must be integers or None or have an __index__ method");
    return value_to_index_clamped(out, v);
}

static TsrStatus slice_entry(TsrIndexEntry *e, const Slice *s) {
    e->kind = TSR_ENTRY_SLICE;
    TSR_TRY(slice_part(&e->slice.step, s->step, 1));
    if (e->slice.step == 0) return tsr_error(TSR_VALUE_ERROR, "slice step cannot be zero");
    TSR_TRY(slice_part(&e->slice.start, s->start, 0));
    return slice_part(&e->slice.stop, s->stop, INT64_MAX);
}

static bool is_index_sequence(Value v) {
    return value_is_list(v) || value_is_tuple(v) || value_is_str(v) || value_is_bytes(v) || value_is_bytearray(v) ||
           value_is_obj(v, &range_type);
}

/* A sequence becomes a tensor of positions or bools; objects that wrap a tensor stand for it. */
static TsrStatus other_entry(Index *index, TsrIndexEntry *e, Value v) {
    e->kind = TSR_ENTRY_SEQUENCE;
    if (is_index_sequence(v)) {
        TSR_TRY(tensor_new_from_index(&e->tensor, v));
        index->made[index->nmade++] = e->tensor;
        return TSR_OK;
    }
    TSR_TRY(bind_tensor_of(&e->tensor, v));
    if (e->tensor != NULL) return TSR_OK;
    if (value_is_bigint(v)) return tsr_error(TSR_VALUE_ERROR, "Overflow when unpacking long long");
    return tsr_error(
        TSR_INDEX_ERROR,
        "only integers, slices (`:`), ellipsis (`...`), None and long or byte Variables are valid indices (got %s)",
        value_type_name(v));
}

static bool is_ellipsis(Value v) { return v.tag == V_OBJ && v.o == &ellipsis_object; }
static bool is_slice(Value v) { return v.tag == V_OBJ && v.o->type == &slice_type; }

/* The values that need no conversion; false: v is none of them. */
static inline bool plain_entry(TsrIndexEntry *e, Value v) {
    switch (v.tag) {
    case V_INT: *e = tsr_entry_int(v.i); return true;
    case V_NONE: e->kind = TSR_ENTRY_NEW_AXIS; return true;
    case V_BOOL: *e = tsr_entry_bool(v.b); return true;
    case V_TENSOR: *e = tsr_entry_tensor(v.t); return true;
    default: e->kind = TSR_ENTRY_ELLIPSIS; return is_ellipsis(v);
    }
}

static TsrStatus entry_of(Index *index, TsrIndexEntry *e, Value v) {
    if (plain_entry(e, v)) return TSR_OK;
    return is_slice(v) ? slice_entry(e, (const Slice *)v.o) : other_entry(index, e, v);
}

/* A value that is no index fails when the core's walk reaches it: an earlier entry may be out of bounds, and PyTorch
 * reports the first. The entries after it are not reached; they only count. */
static void fill_entries(Index *index, const Value *items) {
    TsrStatus s = TSR_OK;
    for (int i = 0; i < index->n; i++) {
        TsrIndexEntry *e = &index->entry[i];
        if (s == TSR_OK) {
            s = entry_of(index, e, items[i]);
            if (s != TSR_OK) *e = tsr_entry_failed(s);
        } else if (!plain_entry(e, items[i])) *e = tsr_entry_failed(s);
    }
}

/* A short list that holds slices, tensors or sequences stands for a tuple, as in old NumPy. */
static bool is_tuple_like(Value v) {
    if (value_is_tuple(v)) return true;
    if (value_is_str(v)) return value_as_str(v)->size > 0 && value_as_str(v)->length < 32;
    if (!value_is_list(v) || value_as_list(v)->count >= 32) return false;
    const List *list = value_as_list(v);
    for (int64_t i = 0; i < list->count; i++) {
        Value item = list->items[i];
        if (item.tag == V_TENSOR || item.tag == V_NONE || is_index_sequence(item)) return true;
        if (is_ellipsis(item) || is_slice(item)) return true;
    }
    return false;
}

/* A short text is a sequence of indices, none of which is one. */
static TsrStatus check_text_index(const TsrTensor *self, Value index) {
    enum { SEQUENCE = 32 }; /* what is as long is data */
    if (!value_is_str(index)) return TSR_OK;
    int64_t n = value_as_str(index)->length;
    return n > 1 && n < SEQUENCE && n > tsr_ndim(self) ? too_many(self) : TSR_OK;
}

static void index_end(Index *index) {
    for (int i = 0; i < index->nmade; i++) tsr_tensor_free(index->made[i]);
}

/* On failure nothing is held. A tuple of one entry is counted as all tuples are; a bare entry of a 0-d tensor is not:
 * the core has other words for it. */
static TsrStatus index_begin(Index *index, const TsrTensor *self, Value v) {
    const Value *items = &v;
    int64_t n = 1;
    bool tuple = is_tuple_like(v) && !value_is_str(v);
    if (tuple) value_as_array(v, &items, &n);
    TSR_TRY(check_text_index(self, v));
    if (n > TSR_MAX_DIMS) return too_many(self);
    index->n = (int)n;
    index->nmade = 0;
    if (tuple && n == 1 && tsr_ndim(self) == 0 && (items->tag == V_INT || is_slice(*items))) return too_many(self);
    fill_entries(index, items);
    return TSR_OK;
}

/* ---- reading ---- */

/* Apart, so that x[0] needs no room for an Index. */
static __attribute__((noinline)) TsrStatus get_general(TsrTensor **out, TsrTensor *self, Value v) {
    Index index;
    TSR_TRY(index_begin(&index, self, v));
    TsrStatus s = tsr_index_get_new(out, self, index.entry, index.n);
    index_end(&index);
    return s;
}

/* KeyError: a name of no column. */
static TsrStatus no_column(Value name, Value names, bool writing) {
    Value e;
    TsrText hint = {0};
    if (!writing) return hint_no_column(name, names);
    TSR_TRY(exc_new(&e, TSR_KEY_ERROR, 1, &name));
    if (tsr_text_puts(&hint, "a tensor takes no further columns: {**table(t), \"name\": values} has one more") ==
        TSR_OK)
        value_exc(e)->hint = tsr_text_move(&hint);
    tsr_text_free(&hint);
    return exc_raise_move(e);
}

/* The first column over which the header has these words: theirs is the name, unless it is one that is made for a
 * column whose words stood before (a.1, and _1 where nothing stands) or that shows odd bytes, \xff. -1: look at all. */
static int64_t plain_column(const TsrTensor *self, const Str *name) {
    if (name->data[0] == '_' || strpbrk(name->data, ".\\") != NULL) return -1;
    int64_t n = tsr_column_count(self);
    for (int64_t j = 0; j < n && !tsr_interrupted_at(j); j++) {
        const char *header = tsr_column_name(self, j);
        if (strcmp(header, name->data) == 0) return strlen(header) == (size_t)name->size ? j : -1;
    }
    return -1;
}

/* The number of a column of a table that was read. KeyError where it has no such name. */
static TsrStatus column_number(Value *out, const TsrTensor *self, Value name, bool writing) {
    Value names;
    int64_t plain = plain_column(self, value_as_str(name));
    bool found = plain >= 0;
    *out = value_int(plain);
    if (found) return TSR_OK;
    TSR_TRY(tensor_new_column_names(&names, self));
    const List *list = value_as_list(names);
    TsrStatus status = TSR_OK;
    for (int64_t j = 0; j < list->count && !found && status == TSR_OK; j++) {
        status = value_equal(&found, list->items[j], name);
        if (found) *out = value_int(j);
    }
    if (status == TSR_OK && !found) status = no_column(name, names, writing);
    value_release(names);
    return status;
}

static bool is_names(Value v) {
    if (value_is_str(v)) return true;
    bool names = value_is_list(v) && value_as_list(v)->count > 0;
    for (int64_t i = 0; names && i < value_as_list(v)->count; i++) names = value_is_str(value_as_list(v)->items[i]);
    return names;
}

static TsrStatus column_numbers(Value *out, const TsrTensor *self, Value v, bool writing) {
    Value list, number;
    if (value_is_str(v)) return column_number(out, self, v, writing);
    TSR_TRY(list_new(&list, value_as_list(v)->count));
    TsrStatus status = TSR_OK;
    for (int64_t i = 0; i < value_as_list(v)->count && status == TSR_OK; i++) {
        status = column_number(&number, self, value_as_list(v)->items[i], writing);
        if (status == TSR_OK) status = list_append_move(value_as_list(list), number);
    }
    return value_end_move(out, status, list);
}

/* x["a"] and x[["a", "b"]] of a table whose columns have names, as (:, number): the caller's. Else V_UNBOUND. */
static TsrStatus index_by_name(Value *out, const TsrTensor *self, Value v, bool writing) {
    Value parts[2];
    *out = VALUE_UNBOUND;
    if (!is_names(v) || tsr_is_sparse(self) || tsr_ndim(self) != 2 || !tsr_columns_known(self)) return TSR_OK;
    TSR_TRY(column_numbers(&parts[1], self, v, writing));
    TsrStatus status = slice_new(&parts[0], VALUE_NONE, VALUE_NONE, VALUE_NONE);
    if (status == TSR_OK) {
        status = tuple_new(out, parts, 2);
        value_release(parts[0]);
    }
    value_release(parts[1]);
    return status;
}

static TsrStatus get_named(TsrTensor **out, TsrTensor *self, Value v) {
    Value index;
    TSR_TRY(index_by_name(&index, self, v, false));
    TsrStatus status = get_general(out, self, index.tag != V_UNBOUND ? index : v);
    value_release(index);
    return status;
}

static TsrStatus get(Value *out, Value self, Value v) {
    TsrTensor *result = NULL;
    TsrIndexEntry entry = tsr_entry_int(v.i);
    TsrStatus s =
        TSR_LIKELY(v.tag == V_INT) ? tsr_index_get_new(&result, self.t, &entry, 1) : get_named(&result, self.t, v);
    if (TSR_LIKELY(s == TSR_OK)) *out = value_tensor_move(result);
    return s;
}

void (*subscript_hook)(const SubscriptEvent *event);

static TsrStatus watched_get(Value *out, Value self, Value index) {
    subscript_hook(NULL);
    TsrStatus status = get(out, self, index);
    TsrTensor *place = status == TSR_OK ? out->t : NULL;
    bool advanced = place != NULL && place->storage != self.t->storage;
    subscript_hook(&(SubscriptEvent){.self = self.t, .place = place, .advanced = advanced, .status = status});
    return status;
}

TsrStatus subscript_get(Value *out, Value self, Value index) {
    return TSR_LIKELY(subscript_hook == NULL) ? get(out, self, index) : watched_get(out, self, index);
}

/* ---- writing ---- */

static TsrStatus cannot_assign(Value v, const TsrTensor *t) {
    return tsr_error(TSR_TYPE_ERROR, "can't assign a %s to a torch.%sTensor", value_type_name(v),
                     tsr_dtype_scalar_name(t->dtype));
}

/* The value as a tensor, or, *out being NULL, as a number in *s. Strings and nested elements go into tensors of theirs.
 */
static TsrStatus assigned(TsrTensor **out, TsrScalar *s, Value v, const TsrTensor *self) {
    *out = NULL;
    if (!tsr_dtype_is_pod(self->dtype)) {
        bool element = self->dtype == TSR_STRING ? value_is_str(v) : v.tag == V_TENSOR && v.t->dtype != TSR_NESTED;
        if (element) return tensor_new_from_data(out, v, self->dtype, TSR_DEVICE_CPU);
    }
    TSR_TRY(bind_tensor_of(out, v));
    if (*out != NULL) {
        tsr_tensor_retain(*out);
        return TSR_OK;
    }
    if (value_is_bigint(v) && self->dtype != TSR_UINT64)
        return tsr_error(TSR_VALUE_ERROR, "Overflow when unpacking long long");
    if (v.tag == V_INT && v.i < 0 && self->dtype == TSR_UINT64)
        return tsr_error(TSR_OVERFLOW_ERROR, "can't convert negative int to unsigned");
    bool ok;
    TSR_TRY(bind_scalar(s, &ok, v));
    return ok && tsr_dtype_is_pod(self->dtype) ? TSR_OK : cannot_assign(v, self);
}

/* For the hook: where the value goes, read off before it is written. NULL: the index has no place. */
static TsrStatus watched_set(TsrTensor *self, const Index *index, TsrTensor *value, const TsrScalar *number) {
    SubscriptEvent event = {.self = self, .written = true, .number = value == NULL ? number : NULL};
    if (tsr_index_place_new(&event.place, &event.advanced, self, index->entry, index->n) != TSR_OK) event.place = NULL;
    TsrTensor *place = event.place;
    event.status = tsr_index_set(self, index->entry, index->n, value, number);
    subscript_hook(&event);
    tsr_tensor_free(place);
    return event.status;
}

static TsrStatus set_at(TsrTensor *self, Value v, TsrTensor *value, const TsrScalar *number) {
    Index index;
    if (v.tag == V_BOOL && !v.b) return TSR_OK;
    if (v.tag == V_BOOL) v = VALUE_NONE; /* x[True] = v writes to all */
    bool watched = TSR_UNLIKELY(subscript_hook != NULL);
    if (watched) subscript_hook(NULL);
    TsrStatus s = index_begin(&index, self, v);
    if (s != TSR_OK) {
        if (watched) subscript_hook(&(SubscriptEvent){.self = self, .written = true, .status = s});
        return s;
    }
    s = watched ? watched_set(self, &index, value, number) : tsr_index_set(self, index.entry, index.n, value, number);
    index_end(&index);
    return s;
}

static __attribute__((noinline)) TsrStatus set_general(TsrTensor *self, Value v, TsrTensor *value,
                                                       const TsrScalar *number) {
    Value named;
    TSR_TRY(index_by_name(&named, self, v, true));
    TsrStatus status = set_at(self, named.tag != V_UNBOUND ? named : v, value, number);
    value_release(named);
    return status;
}

/* An int or a float that any tensor of numbers takes: what loops over elements write. The fields are written one by
 * one: copying a whole TsrScalar at once would wait for them. */
static inline bool is_plain_number(TsrScalar *s, Value v, const TsrTensor *self) {
    if (v.tag == V_FLOAT) {
        s->kind = TSR_SCALAR_FLOAT;
        s->f = v.f;
    } else if (v.tag == V_INT && v.i >= 0) {
        s->kind = TSR_SCALAR_INT;
        s->i = v.i;
    } else return false;
    return tsr_dtype_is_pod(self->dtype);
}

static TsrStatus set_number(TsrTensor *self, Value index, const TsrScalar *number) {
    if (index.tag != V_INT || subscript_hook != NULL) return set_general(self, index, NULL, number);
    TsrIndexEntry entry;
    entry.kind = TSR_ENTRY_INT;
    entry.i = index.i;
    return tsr_index_set(self, &entry, 1, NULL, number);
}

TsrStatus subscript_set(Value self, Value index, Value value) {
    TsrTensor *tensor = NULL;
    TsrScalar number;
    if (tsr_is_sparse(self.t)) return tsr_error(TSR_TYPE_ERROR, "Cannot assign to a sparse tensor");
    if (is_plain_number(&number, value, self.t)) return set_number(self.t, index, &number);
    number = tsr_scalar_int(0);
    TSR_TRY(assigned(&tensor, &number, value, self.t));
    TsrStatus s = set_general(self.t, index, tensor, &number);
    tsr_tensor_free(tensor);
    return s;
}
