#include "inspect.h"

#include <stdio.h>
#include <string.h>

#include "args.h"
#include "core/tensor.h"
#include "core/view.h"
#include "dict_obj.h"
#include "gc.h"
#include "masked_obj.h"
#include "namespace.h"
#include "seq_obj.h"
#include "str_obj.h"
#include "torch_types.h"
#include "vm.h"
#include "who.h"

enum { NAME_ROOM = 256 };

/* ---- building dicts ---- */

/* Each takes over the value and does nothing once *status is a failure. */
static void put_move(TsrStatus *status, Value dict, const char *key, Value v) {
    if (*status == TSR_OK) *status = dict_set_c_move(value_as_dict(dict), key, v);
    else value_release(v);
}

static void put_str(TsrStatus *status, Value dict, const char *key, const char *text) {
    Value v;
    if (*status == TSR_OK) *status = text != NULL ? str_new_c(&v, text) : (v = VALUE_NONE, TSR_OK);
    if (*status == TSR_OK) put_move(status, dict, key, v);
}

static void put_int(TsrStatus *status, Value dict, const char *key, int64_t i) { put_move(status, dict, key, value_int(i)); }
static void put_bool(TsrStatus *status, Value dict, const char *key, bool b) { put_move(status, dict, key, value_bool(b)); }

static void put_sizes(TsrStatus *status, Value dict, const char *key, int n, const int64_t *items, bool as_size) {
    Value v, parts[TSR_MAX_DIMS];
    if (*status != TSR_OK) return;
    for (int i = 0; i < n; i++) parts[i] = value_int(items[i]);
    *status = as_size ? size_new(&v, items, n) : tuple_new(&v, parts, n);
    if (*status == TSR_OK) put_move(status, dict, key, v);
}

const char *inspect_none_note;

/* ---- cards and tables: dicts and lists that show themselves for people ---- */

static Type card_type, table_type, note_type;

static void card_mark(Value dict) { dict.o->type = &card_type; }
void table_mark(Value list) { list.o->type = &table_type; }
void note_mark(Value str) { str.o->type = &note_type; }

enum { MAX_CARD_DEPTH = 6, LIST_WIDTH = 56 /* of many names, so many characters are shown */ };

/* Whether a list whose text began at `start` has room for an item more, with `left` to come; else says how many those are. */
static TsrStatus has_room(bool *room, TsrText *out, size_t start, int64_t left) {
    *room = out->length - start <= LIST_WIDTH || left == 1;
    return *room ? TSR_OK : tsr_text_printf(out, " and %lld more", (long long)left);
}

/* One entry's text: strings bare, lists of strings with commas. */
static TsrStatus append_cell(TsrText *out, Value v) {
    const Value *items;
    int64_t count;
    if (value_is_str(v)) return tsr_text_append(out, value_as_str(v)->data, (size_t)value_as_str(v)->size);
    if (v.tag == V_NONE) return tsr_text_putc(out, '-');
    if (value_is_list(v) && value_as_array(v, &items, &count)) {
        size_t start = out->length;
        bool room = true;
        if (count == 0) return tsr_text_putc(out, '-');
        for (int64_t i = 0; i < count; i++) {
            TSR_TRY(has_room(&room, out, start, count - i));
            if (!room) break;
            if (i > 0) TSR_TRY(tsr_text_puts(out, ", "));
            TSR_TRY(append_cell(out, items[i]));
        }
        return TSR_OK;
    }
    return value_str(out, v);
}

/* An entry a line, the values in one column; a dict within on lines of its own, further in. */
static TsrStatus append_card(TsrText *out, const Dict *dict, int depth) {
    int64_t position = 0, width = 0;
    bool first = true;
    for (DictEntry *e; (e = dict_next(dict, &position)) != NULL;)
        if (value_is_str(e->key)) width = TSR_MAX(width, value_as_str(e->key)->length);
    position = 0;
    for (DictEntry *e; (e = dict_next(dict, &position)) != NULL; first = false) {
        if (!first) TSR_TRY(tsr_text_putc(out, '\n'));
        TSR_TRY(tsr_text_pad(out, ' ', 2 * (size_t)depth));
        size_t start = out->length;
        TSR_TRY(value_str(out, e->key));
        if (value_is_dict(e->value) && depth < MAX_CARD_DEPTH) {
            TSR_TRY(tsr_text_putc(out, '\n'));
            TSR_TRY(append_card(out, value_as_dict(e->value), depth + 1));
            continue;
        }
        TSR_TRY(tsr_text_pad(out, ' ', TSR_MAX((size_t)width + 2 - (out->length - start), (size_t)2)));
        TSR_TRY(append_cell(out, e->value));
    }
    return TSR_OK;
}

static TsrStatus card_repr(TsrText *out, Value self) { return append_card(out, value_as_dict(self), 1); }

/* The cells of one row in the columns of the first row. */
static TsrStatus table_cell(TsrText *cell, Value row, Value key) {
    Value *v;
    if (!value_is_dict(row) && row.o->type != &card_type) return value_repr(cell, row);
    TSR_TRY(dict_find(&v, value_as_dict(row), key));
    return v != NULL ? append_cell(cell, *v) : TSR_OK;
}

enum { MAX_COLUMNS = 24 };

static TsrStatus measure_columns(const List *list, const Value *keys, int count, int64_t *widths) {
    for (int k = 0; k < count; k++) {
        widths[k] = value_is_str(keys[k]) ? value_as_str(keys[k])->length : 0;
        for (int64_t r = 0; r < list->count; r++) {
            TsrText cell = {0};
            TsrStatus status = table_cell(&cell, list->items[r], keys[k]);
            if (status == TSR_OK) widths[k] = TSR_MAX(widths[k], utf8_count(cell.data != NULL ? cell.data : "", (int64_t)cell.length));
            tsr_text_free(&cell);
            TSR_TRY(status);
        }
    }
    return TSR_OK;
}

static TsrStatus append_row(TsrText *out, Value row, const Value *keys, int count, const int64_t *widths) {
    for (int k = 0; k < count; k++) {
        TsrText cell = {0};
        TsrStatus status = row.tag == V_UNBOUND ? value_str(&cell, keys[k]) : table_cell(&cell, row, keys[k]);
        int64_t length = utf8_count(cell.data != NULL ? cell.data : "", (int64_t)cell.length);
        if (status == TSR_OK && k > 0) status = tsr_text_puts(out, "  ");
        if (status == TSR_OK && cell.length > 0) status = tsr_text_append(out, cell.data, cell.length);
        if (status == TSR_OK && k + 1 < count) status = tsr_text_pad(out, ' ', (size_t)(widths[k] - length));
        tsr_text_free(&cell);
        TSR_TRY(status);
    }
    while (out->length > 0 && out->data[out->length - 1] == ' ') out->data[--out->length] = '\0';
    return TSR_OK;
}

static TsrStatus table_repr(TsrText *out, Value self) {
    const List *list = value_as_list(self);
    Value keys[MAX_COLUMNS];
    int64_t widths[MAX_COLUMNS], position = 0;
    int count = 0;
    if (list->count == 0) return tsr_text_puts(out, "[]");
    for (DictEntry *e; count < MAX_COLUMNS && (e = dict_next(value_as_dict(list->items[0]), &position)) != NULL;) keys[count++] = e->key;
    TSR_TRY(measure_columns(list, keys, count, widths));
    TSR_TRY(append_row(out, VALUE_UNBOUND, keys, count, widths));
    for (int64_t r = 0; r < list->count; r++) {
        TSR_TRY(tsr_text_putc(out, '\n'));
        TSR_TRY(append_row(out, list->items[r], keys, count, widths));
    }
    return TSR_OK;
}

/* ---- one tensor ---- */

static TsrStatus tensor_argument(TsrTensor **lent, const CallArgs *args, const char *function) { return who_tensor(lent, args->values[0], function); }

static TsrStatus need_storage(const TsrTensor *t, const char *function) {
    return t->storage != NULL ? TSR_OK : tsr_error(TSR_RUNTIME_ERROR, "%s(): this tensor has no storage of its own (%s)", function, t->sparse != NULL ? "it is sparse: ask for its values()" : "it is undefined");
}

static TsrStatus tsr_refcount_fn(Value *out, const CallArgs *args) {
    TsrTensor *t;
    TSR_TRY(tensor_argument(&t, args, "refcount"));
    *out = value_int(who_refcount(t));
    return TSR_OK;
}

static TsrStatus tsr_holders_fn(Value *out, const CallArgs *args) {
    TsrTensor *t;
    TSR_TRY(tensor_argument(&t, args, "holders"));
    return who_holders(out, t);
}

static TsrStatus tsr_storage_id_fn(Value *out, const CallArgs *args) {
    TsrTensor *t;
    TSR_TRY(tensor_argument(&t, args, "storage_id"));
    TSR_TRY(need_storage(t, "storage_id"));
    *out = value_int(tsr_storage_id(t->storage));
    return TSR_OK;
}

static TsrStatus tsr_storage_refcount_fn(Value *out, const CallArgs *args) {
    TsrTensor *t;
    TSR_TRY(tensor_argument(&t, args, "storage_refcount"));
    TSR_TRY(need_storage(t, "storage_refcount"));
    *out = value_int(tsr_storage_refcount(t->storage));
    return TSR_OK;
}

/* The first name of each tensor over a storage, save one tensor. */
typedef struct Sharers {
    const TsrStorage *storage;
    const TsrTensor *except;
    List *list;
    const TsrTensor **seen;
    int64_t nseen, capacity;
    TsrStatus status;
} Sharers;

static bool add_sharer(const char *path, TsrTensor *t, bool argument, void *context) {
    Sharers *s = context;
    Value name;
    if (argument || t->storage != s->storage || t == s->except) return true;
    for (int64_t i = 0; i < s->nseen; i++)
        if (s->seen[i] == t) return true;
    s->status = mem_grow(&s->seen, &s->capacity, s->nseen + 1, sizeof *s->seen);
    if (s->status == TSR_OK) s->status = str_new_c(&name, path);
    if (s->status == TSR_OK) s->status = list_append_move(s->list, name);
    if (s->status == TSR_OK) s->seen[s->nseen++] = t;
    return s->status == TSR_OK;
}

static TsrStatus names_over(Value *out, const TsrStorage *storage, const TsrTensor *except) {
    Value list;
    TSR_TRY(list_new(&list, 0));
    Sharers s = {.storage = storage, .except = except, .list = value_as_list(list)};
    TsrStatus status = storage != NULL ? who_each(add_sharer, &s) : TSR_OK;
    if (status == TSR_OK) status = s.status;
    tsr_free(s.seen);
    return value_end_move(out, status, list);
}

static TsrStatus tsr_sharing_fn(Value *out, const CallArgs *args) {
    TsrTensor *t;
    TSR_TRY(tensor_argument(&t, args, "sharing"));
    return names_over(out, t->storage, t);
}

/* ---- overlap ---- */

bool inspect_overlaps(const TsrTensor *a, const TsrTensor *b) {
    bool known = true;
    TsrFootprint ga = tsr_tensor_footprint(a), gb = tsr_tensor_footprint(b);
    return a->numel > 0 && b->numel > 0 && (tsr_layout_overlap(&ga, &gb, NULL, NULL, &known) || !known);
}

static TsrStatus common_element(bool *common, int64_t *ia, int64_t *ib, const TsrTensor *a, const TsrTensor *b) {
    bool known = true;
    *common = false;
    if (a->storage == NULL || b->storage == NULL || a->numel == 0 || b->numel == 0) return TSR_OK;
    if (a->storage != b->storage && (a->storage->ptr.data != b->storage->ptr.data || a->storage->ptr.data == NULL)) return TSR_OK;
    TsrFootprint ga = tsr_tensor_footprint(a), gb = tsr_tensor_footprint(b);
    *common = tsr_layout_overlap(&ga, &gb, ia, ib, &known);
    return known ? TSR_OK : tsr_error(TSR_RUNTIME_ERROR, "the overlap of these two views is too hard to decide exactly");
}

static TsrStatus two_tensors(const CallArgs *args, TsrTensor **a, TsrTensor **b, const char *function) {
    TSR_TRY(who_tensor(a, args->values[0], function));
    return who_tensor(b, args->values[1], function);
}

static TsrStatus tsr_shares_memory_fn(Value *out, const CallArgs *args) {
    TsrTensor *a, *b;
    bool common;
    TSR_TRY(two_tensors(args, &a, &b, "shares_memory"));
    TSR_TRY(common_element(&common, NULL, NULL, a, b));
    *out = value_bool(common);
    return TSR_OK;
}

static TsrStatus index_tuple(Value *out, const int64_t *index, int n) {
    Value items[TSR_MAX_DIMS];
    for (int i = 0; i < n; i++) items[i] = value_int(index[i]);
    return tuple_new(out, items, n);
}

static TsrStatus tsr_overlap_fn(Value *out, const CallArgs *args) {
    TsrTensor *a, *b;
    int64_t ia[TSR_MAX_DIMS], ib[TSR_MAX_DIMS];
    bool common;
    Value pair[2];
    TSR_TRY(two_tensors(args, &a, &b, "overlap"));
    TSR_TRY(common_element(&common, ia, ib, a, b));
    *out = VALUE_NONE;
    inspect_none_note = common ? NULL : "no common element";
    if (!common) return TSR_OK;
    TSR_TRY(index_tuple(&pair[0], ia, tsr_ndim(a)));
    TsrStatus status = index_tuple(&pair[1], ib, tsr_ndim(b));
    if (status == TSR_OK) return tuple_new_move(out, pair, 2);
    value_release(pair[0]);
    return status;
}

static TsrStatus tsr_has_internal_overlap_fn(Value *out, const CallArgs *args) {
    TsrTensor *t;
    TSR_TRY(tensor_argument(&t, args, "has_internal_overlap"));
    TsrGeometry g = tsr_tensor_geometry(t);
    *out = value_bool(t->storage != NULL && t->numel > 0 && tsr_layout_has_internal_overlap(&g));
    return TSR_OK;
}

/* ---- inspect ---- */

/* The name of `owner`, whose reference it takes; "" when it has none or is NULL. */
static bool name_move(char *name, size_t room, TsrTensor *owner) {
    name[0] = '\0';
    if (owner != NULL) who_name(name, room, owner);
    tsr_tensor_free(owner);
    return name[0] != '\0';
}

/* Of what the view was taken of, when that still has a name, else of the root. */
char *inspect_origin(char *buffer, size_t room, TsrTensor *t) {
    char name[NAME_ROOM];
    buffer[0] = '\0';
    if (t->origin == NULL) return buffer;
    if (name_move(name, sizeof name, tsr_tensor_retain_source(t)) || name_move(name, sizeof name, tsr_tensor_retain_base(t)))
        snprintf(buffer, room, "%s() of %s", t->origin, name);
    else if (t->base == NULL) snprintf(buffer, room, "%s()", t->origin);
    else snprintf(buffer, room, "%s() of a tensor %s", t->origin, tsr_tensor_weak_alive(t->base) ? "without a name" : "that is gone");
    return buffer;
}

static const char *format_name(const TsrTensor *t) {
    if (tsr_is_contiguous(t, TSR_CONTIGUOUS)) return "contiguous";
    if (tsr_ndim(t) == 4 && tsr_is_contiguous(t, TSR_CHANNELS_LAST)) return "channels_last";
    if (tsr_ndim(t) == 5 && tsr_is_contiguous(t, TSR_CHANNELS_LAST_3D)) return "channels_last_3d";
    return tsr_is_dense(t) ? "dense, permuted" : "strided";
}

static const char *memory_kind(const TsrStorage *s) {
    if (s->shared || (s->origin != NULL && strcmp(s->origin, "shared") == 0)) return "shared between processes";
    if (s->origin == NULL) return "owned";
    if (strcmp(s->origin, "mmap") == 0) return "a mapped file";
    return s->origin;
}

/* Up to a line of the caches: more is chance, and a card would differ from run to run. */
static int64_t alignment_of(const void *data) {
    uintptr_t address = (uintptr_t)data;
    return address == 0 ? 0 : (int64_t)TSR_MIN(address & -address, (uintptr_t)64);
}

static void put_storage(TsrStatus *status, Value card, TsrTensor *t) {
    TsrStorage *s = t->storage;
    Value names;
    if (s == NULL || *status != TSR_OK) return;
    put_int(status, card, "storage_id", tsr_storage_id(s));
    put_int(status, card, "storage_refcount", tsr_storage_refcount(s));
    put_int(status, card, "storage_bytes", (int64_t)s->nbytes);
    put_str(status, card, "allocator", s->allocator != NULL ? s->allocator->name : NULL);
    put_int(status, card, "alignment", alignment_of(s->ptr.data));
    if (*status == TSR_OK) *status = names_over(&names, s, t);
    if (*status == TSR_OK) put_move(status, card, "sharing", names);
    put_str(status, card, "memory", memory_kind(s));
    if (s->path != NULL) put_str(status, card, "path", s->path);
    put_bool(status, card, "writable", !s->readonly);
}

static void put_layout(TsrStatus *status, Value card, TsrTensor *t) {
    put_sizes(status, card, "shape", tsr_ndim(t), t->sizes, true);
    if (tsr_is_sparse(t)) return;
    put_sizes(status, card, "strides", tsr_ndim(t), t->strides, false);
    put_int(status, card, "offset", t->offset);
    put_bool(status, card, "contiguous", tsr_is_contiguous(t, TSR_CONTIGUOUS));
    put_str(status, card, "memory_format", format_name(t));
    put_int(status, card, "bytes", t->numel * (int64_t)tsr_itemsize(t));
}

static TsrStatus inspect_tensor(Value *out, TsrTensor *t) {
    Value card, holders;
    char device[16], origin[NAME_ROOM + 64];
    TSR_TRY(dict_new(&card));
    TsrStatus status = TSR_OK;
    put_move(&status, card, "dtype", dtype_value(t->dtype));
    put_str(&status, card, "device", tsr_device_format(t->device, device));
    put_layout(&status, card, t);
    put_int(&status, card, "version", tsr_tensor_version(t));
    put_int(&status, card, "refcount", who_refcount(t));
    if (status == TSR_OK) status = who_holders(&holders, t);
    if (status == TSR_OK) put_move(&status, card, "holders", holders);
    put_storage(&status, card, t);
    inspect_origin(origin, sizeof origin, t);
    put_str(&status, card, "origin", origin[0] != '\0' ? origin : NULL);
    if (t->flags & (TSR_FLAG_CONJ | TSR_FLAG_NEG)) put_str(&status, card, "lazy", t->flags & TSR_FLAG_CONJ ? "conjugated" : "negated");
    if (status == TSR_OK) card_mark(card);
    return value_end_move(out, status, card);
}

/* Of a MaskedTensor the cards of its two tensors. */
static TsrStatus inspect_masked(Value *out, TsrTensor *const parts[2]) {
    Value d, card;
    TSR_TRY(dict_new(&d));
    TsrStatus status = inspect_tensor(&card, parts[0]);
    if (status == TSR_OK) put_move(&status, d, "data", card);
    if (status == TSR_OK) status = inspect_tensor(&card, parts[1]);
    if (status == TSR_OK) put_move(&status, d, "mask", card);
    if (status == TSR_OK) card_mark(d);
    return value_end_move(out, status, d);
}

static TsrStatus inspect_value(Value *out, Value v) {
    TsrTensor *t, *parts[2];
    if (masked_parts(parts, v)) return inspect_masked(out, parts);
    TSR_TRY(who_tensor(&t, v, "inspect"));
    return inspect_tensor(out, t);
}

static TsrStatus tsr_inspect_fn(Value *out, const CallArgs *args) {
    Value list, card;
    if (args->count == 1) return inspect_value(out, args->values[0]);
    TSR_TRY(list_new(&list, args->count));
    TsrStatus status = TSR_OK;
    for (int i = 0; i < args->count && status == TSR_OK; i++) {
        status = inspect_value(&card, args->values[i]);
        if (status == TSR_OK) status = list_append_move(value_as_list(list), card);
    }
    return value_end_move(out, status, list);
}

/* ---- anatomy ---- */

static TsrStatus anatomy_dataptr(Value *out, const TsrStorage *s) {
    Value d;
    char device[16];
    TSR_TRY(dict_new(&d));
    TsrStatus status = TSR_OK;
    put_bool(&status, d, "data", s->ptr.data != NULL);
    put_bool(&status, d, "ctx", s->ptr.ctx != NULL);
    put_bool(&status, d, "deleter", s->ptr.deleter != NULL);
    put_str(&status, d, "device", tsr_device_format(s->ptr.device, device));
    return value_end_move(out, status, d);
}

static TsrStatus anatomy_storage(Value *out, TsrStorage *s) {
    Value d, ptr;
    TSR_TRY(dict_new(&d));
    TsrStatus status = TSR_OK;
    put_int(&status, d, "id", tsr_storage_id(s));
    put_int(&status, d, "refcount", tsr_storage_refcount(s));
    put_int(&status, d, "nbytes", (int64_t)s->nbytes);
    put_bool(&status, d, "resizable", s->resizable);
    put_str(&status, d, "allocator", s->allocator != NULL ? s->allocator->name : NULL);
    if (status == TSR_OK) status = anatomy_dataptr(&ptr, s);
    if (status == TSR_OK) put_move(&status, d, "DataPtr", ptr);
    return value_end_move(out, status, d);
}

static TsrStatus anatomy_of(Value *out, TsrTensor *t);

/* What a sparse tensor holds in place of a storage. */
static void put_sparse_parts(TsrStatus *status, Value d, const TsrSparse *sparse) {
    const struct { const char *name; TsrTensor *t; } parts[] = {{"indices", sparse->indices}, {"plain_indices", sparse->plain_indices}, {"values", sparse->values}};
    for (size_t i = 0; i < TSR_COUNTOF(parts) && *status == TSR_OK; i++) {
        Value part;
        if (parts[i].t != NULL && (*status = anatomy_of(&part, parts[i].t)) == TSR_OK) put_move(status, d, parts[i].name, part);
    }
}

static TsrStatus anatomy_of(Value *out, TsrTensor *t) {
    Value d, storage;
    char device[16];
    TSR_TRY(dict_new(&d));
    TsrStatus status = TSR_OK;
    put_int(&status, d, "refcount", who_refcount(t));
    put_sizes(&status, d, "sizes", tsr_ndim(t), t->sizes, false);
    if (!tsr_is_sparse(t)) put_sizes(&status, d, "strides", tsr_ndim(t), t->strides, false);
    put_int(&status, d, "storage_offset", t->offset);
    put_int(&status, d, "numel", t->numel);
    put_str(&status, d, "dispatch_key", tsr_backend_name(t));
    put_str(&status, d, "dtype", tsr_dtype_name(t->dtype));
    put_str(&status, d, "device", tsr_device_format(t->device, device));
    put_int(&status, d, "version", tsr_tensor_version(t));
    if (status == TSR_OK && t->storage != NULL && (status = anatomy_storage(&storage, t->storage)) == TSR_OK) put_move(&status, d, "StorageImpl", storage);
    if (t->sparse != NULL) put_sparse_parts(&status, d, t->sparse);
    return value_end_move(out, status, d);
}

static TsrStatus tsr_anatomy_fn(Value *out, const CallArgs *args) {
    TsrTensor *t;
    TSR_TRY(tensor_argument(&t, args, "anatomy"));
    TSR_TRY(anatomy_of(out, t));
    card_mark(*out);
    return TSR_OK;
}

/* ---- everything there is ---- */

typedef struct Rows {
    List *list;
    TsrStatus status;
} Rows;

static void put_tensor_row(TsrStatus *status, Value row, TsrTensor *t) {
    put_sizes(status, row, "shape", tsr_ndim(t), t->sizes, true);
    put_str(status, row, "dtype", tsr_dtype_name(t->dtype));
    put_int(status, row, "bytes", t->numel * (int64_t)tsr_itemsize(t));
    put_move(status, row, "storage", t->storage != NULL ? value_int(tsr_storage_id(t->storage)) : VALUE_NONE);
    put_int(status, row, "refcount", who_refcount(t));
}

static TsrStatus whos_row(Value *out, const char *name, Value v) {
    Value row;
    TSR_TRY(dict_new(&row));
    TsrStatus status = TSR_OK;
    put_str(&status, row, "name", name);
    put_str(&status, row, "type", value_type_name(v));
    if (v.tag == V_TENSOR) put_tensor_row(&status, row, v.t);
    return value_end_move(out, status, row);
}

static TsrStatus tsr_whos_fn(Value *out, const CallArgs *args) {
    Value list, row;
    (void)args;
    TSR_TRY(list_new(&list, 0));
    TsrStatus status = TSR_OK;
    for (int pass = 0; pass < 2 && status == TSR_OK; pass++) { /* tensors first: their columns head the table */
        for (int i = 0; i < globals_count() && status == TSR_OK; i++) {
            Str *name;
            Value v = globals_at(i, &name);
            bool hidden = v.tag == V_UNBOUND || value_is_obj(v, &module_type);
            if (hidden || (v.tag == V_TENSOR) != (pass == 0)) continue;
            status = whos_row(&row, name->data, v);
            if (status == TSR_OK) status = list_append_move(value_as_list(list), row);
        }
    }
    if (status == TSR_OK) table_mark(list);
    return value_end_move(out, status, list);
}

/* Bytes of a storage that some view reaches: the widest span of each, summed up over the whole. */
typedef struct Reach {
    const TsrStorage *storage;
    int64_t low, high; /* bytes */
    bool any;
} Reach;

static bool add_reach(const char *path, TsrTensor *t, bool argument, void *context) {
    Reach *r = context;
    (void)path;
    if (argument || t->storage != r->storage || t->numel == 0) return true;
    int64_t last = t->offset, size = (int64_t)tsr_itemsize(t);
    for (int d = 0; d < tsr_ndim(t); d++) last += (t->sizes[d] - 1) * t->strides[d];
    r->low = r->any ? TSR_MIN(r->low, t->offset * size) : t->offset * size;
    r->high = r->any ? TSR_MAX(r->high, (last + 1) * size) : (last + 1) * size;
    r->any = true;
    return true;
}

static TsrStatus storage_row(Value *out, TsrStorage *s) {
    Value row, views;
    Reach reach = {.storage = s};
    char note[96] = "";
    TSR_TRY(dict_new(&row));
    TsrStatus status = who_each(add_reach, &reach);
    int64_t used = reach.any ? reach.high - reach.low : 0;
    if ((int64_t)s->nbytes >= 1024 && used > 0 && used * 2 < (int64_t)s->nbytes) snprintf(note, sizeof note, "a small view keeps it alive: clone() would free %lld bytes", (long long)s->nbytes - used);
    put_int(&status, row, "id", tsr_storage_id(s));
    put_int(&status, row, "bytes", (int64_t)s->nbytes);
    put_int(&status, row, "used", used);
    put_int(&status, row, "refcount", tsr_storage_refcount(s));
    put_str(&status, row, "allocator", s->allocator != NULL ? s->allocator->name : memory_kind(s));
    if (status == TSR_OK) status = names_over(&views, s, NULL);
    if (status == TSR_OK) put_move(&status, row, "views", views);
    put_str(&status, row, "note", note[0] != '\0' ? note : NULL);
    return value_end_move(out, status, row);
}

static TsrStatus tsr_storages_fn(Value *out, const CallArgs *args) {
    Value list, row;
    (void)args;
    gc_collect();
    TSR_TRY(list_new(&list, 0));
    TsrStatus status = TSR_OK;
    for (TsrStorage *s = tsr_storage_first(); s != NULL && status == TSR_OK; s = s->next) {
        status = storage_row(&row, s);
        if (status == TSR_OK) status = list_append_move(value_as_list(list), row);
    }
    if (status == TSR_OK) table_mark(list);
    return value_end_move(out, status, list);
}

/* ---- why ---- */

/* What ends a reference, from its path: of what a closure, an iterator or a sparse tensor holds, the end of that. */
static TsrStatus append_ending(TsrText *out, const char *path) {
    static const char *const insides[] = {".<", ".__", ".indices()", ".values()"};
    size_t length = strlen(path);
    if (strncmp(path, "TH#", 3) == 0) return tsr_text_printf(out, "TH.free of #%.*s", (int)strcspn(path + 3, " "), path + 3);
    if (strncmp(path, "workspace.", 10) == 0) return tsr_text_puts(out, "workspace.ResetWorkspace()");
    if (path[0] == '<') return tsr_text_printf(out, "the end of the %s", strcmp(path, "<iterator>") == 0 ? "loop" : "expression");
    for (size_t i = 0; i < TSR_COUNTOF(insides); i++) {
        const char *at = strstr(path, insides[i]);
        if (at != NULL) length = TSR_MIN(length, (size_t)(at - path));
    }
    return tsr_text_printf(out, "del %.*s", (int)length, path);
}

/* "del x, pair[0]; TH.free of #2": what goes by del together, each once. */
static TsrStatus append_endings(TsrText *out, const List *holders) {
    TsrText one = {0}, before = {0};
    TsrStatus status = TSR_OK;
    size_t start = out->length;
    bool room = true;
    for (int64_t i = 0; i < holders->count && status == TSR_OK; i++) {
        tsr_text_free(&one);
        status = has_room(&room, out, start, holders->count - i);
        if (!room) break;
        if (status == TSR_OK) status = append_ending(&one, value_as_str(holders->items[i])->data);
        bool del = status == TSR_OK && strncmp(one.data, "del ", 4) == 0, same = before.length > 0 && status == TSR_OK && strcmp(one.data, before.data) == 0;
        bool joins = del && before.length > 0 && strncmp(before.data, "del ", 4) == 0;
        if (status != TSR_OK || same) continue;
        status = tsr_text_printf(out, "%s%s", before.length == 0 ? "" : joins ? ", " : "; ", one.data + (joins ? 4 : 0));
        tsr_text_free(&before);
        if (status == TSR_OK) status = tsr_text_puts(&before, one.data);
    }
    tsr_text_free(&one);
    tsr_text_free(&before);
    return status;
}

/* A small view that nothing but itself keeps large memory for. */
static TsrStatus why_so_large(TsrText *text, const TsrTensor *t, int64_t others) {
    int64_t reached = t->numel * (int64_t)tsr_itemsize(t);
    if (others > 0 || t->storage->nbytes < 1024 || (size_t)reached * 2 >= t->storage->nbytes) return TSR_OK;
    return tsr_text_printf(text, "\nit reaches %lld of those bytes, and keeps them all alive: a clone() in its place would let the rest go", (long long)reached);
}

typedef struct Keepers {
    const TsrStorage *storage;
    List *list;
    TsrStatus status;
} Keepers;

static void add_keeper(const char *path, const TsrStorage *s, void *context) {
    Keepers *k = context;
    Value name;
    if (s != k->storage || k->status != TSR_OK) return;
    k->status = str_new_c(&name, path);
    if (k->status == TSR_OK) k->status = list_append_move(k->list, name);
}

/* A list of who holds the storage itself, not a tensor over it. */
static TsrStatus keepers_new(Value *out, const TsrStorage *storage) {
    Value list;
    TSR_TRY(list_new(&list, 0));
    Keepers k = {.storage = storage, .list = value_as_list(list)};
    TsrStatus status = storage != NULL ? who_each_storage(add_keeper, &k) : TSR_OK;
    if (status == TSR_OK) status = k.status;
    return value_end_move(out, status, list);
}

/* "a, b" behind `words`, when there are any. */
static TsrStatus append_names(TsrText *text, const char *words, Value names) {
    if (value_as_list(names)->count == 0) return TSR_OK;
    TSR_TRY(tsr_text_puts(text, words));
    return append_cell(text, names);
}

static TsrStatus why_storage(TsrText *text, const TsrTensor *t, Value views, Value keepers) {
    int64_t kept = value_as_list(keepers)->count, tensors = tsr_storage_refcount(t->storage) - kept;
    TSR_TRY(tsr_text_printf(text, "\nits storage #%lld (%zu bytes) is held by %lld tensor%s", (long long)tsr_storage_id(t->storage), t->storage->nbytes, (long long)tensors, tensors == 1 ? "" : "s"));
    TSR_TRY(append_names(text, ", also by ", views));
    TSR_TRY(append_names(text, ", and as a storage by ", keepers));
    return why_so_large(text, t, value_as_list(views)->count + kept);
}

static TsrStatus why_end(TsrText *text, Value holders, Value views, Value keepers) {
    int64_t nviews = value_as_list(views)->count, others = nviews + value_as_list(keepers)->count;
    if (value_as_list(holders)->count == 0) {
        TSR_TRY(tsr_text_puts(text, "\nit is freed when the expression ends"));
    } else {
        TSR_TRY(tsr_text_puts(text, "\nto free it: "));
        TSR_TRY(append_endings(text, value_as_list(holders)));
    }
    if (others == 0) return TSR_OK;
    TSR_TRY(append_names(text, "; the memory stays until ", views));
    TSR_TRY(append_names(text, nviews > 0 ? ", " : "; the memory stays until ", keepers));
    return tsr_text_puts(text, others == 1 ? " goes too" : " go too");
}

static TsrStatus why_text(TsrText *text, TsrTensor *t) {
    Value holders, views = VALUE_NONE, keepers = VALUE_NONE;
    TSR_TRY(who_holders(&holders, t));
    TsrStatus status = names_over(&views, t->storage, t);
    if (status == TSR_OK) status = keepers_new(&keepers, t->storage);
    int64_t count = value_as_list(holders)->count;
    if (status == TSR_OK && count == 0) status = tsr_text_puts(text, "nothing but this expression holds it");
    else if (status == TSR_OK) {
        status = tsr_text_printf(text, "%lld reference%s: ", (long long)count, count == 1 ? "" : "s");
        if (status == TSR_OK) status = append_cell(text, holders);
    }
    if (status == TSR_OK && t->storage != NULL) status = why_storage(text, t, views, keepers);
    if (status == TSR_OK) status = why_end(text, holders, views, keepers);
    value_release(holders);
    value_release(views);
    value_release(keepers);
    return status;
}

static TsrStatus note_repr(TsrText *out, Value self) { return tsr_text_append(out, value_as_str(self)->data, (size_t)value_as_str(self)->size); }

static TsrStatus tsr_why_fn(Value *out, const CallArgs *args) {
    TsrTensor *t;
    TsrText text = {0};
    TSR_TRY(tensor_argument(&t, args, "why"));
    TsrStatus status = why_text(&text, t);
    if (status == TSR_OK) status = str_new_text_move(out, &text);
    tsr_text_free(&text);
    if (status == TSR_OK) note_mark(*out);
    return status;
}

/* ---- memory and the registries ---- */

static TsrStatus allocator_row(Value *out, TsrAllocator *a) {
    Value row;
    TSR_TRY(dict_new(&row));
    TsrStatus status = TSR_OK;
    put_str(&status, row, "device", tsr_device_type_name(a->device));
    put_str(&status, row, "name", a->name);
    put_int(&status, row, "priority", a->priority);
    put_bool(&status, row, "active", tsr_allocator_active(a->device) == a);
    put_int(&status, row, "live", a->live);
    put_int(&status, row, "peak", a->peak);
    put_int(&status, row, "calls", a->calls);
    return value_end_move(out, status, row);
}

static TsrStatus tsr_allocators_fn(Value *out, const CallArgs *args) {
    Value list, row;
    (void)args;
    TSR_TRY(list_new(&list, 0));
    TsrStatus status = TSR_OK;
    for (TsrAllocator *a = tsr_allocator_first(); a != NULL && status == TSR_OK; a = a->next) {
        status = allocator_row(&row, a);
        if (status == TSR_OK) status = list_append_move(value_as_list(list), row);
    }
    if (status == TSR_OK) table_mark(list);
    return value_end_move(out, status, list);
}

static TsrStatus tsr_set_allocator_fn(Value *out, const CallArgs *args) {
    static const char *const names[] = {"device", "name", "priority"};
    static const ArgSpec spec = {"set_allocator", names, 3, 0, 3, 2};
    Value v[3];
    const char *name;
    int64_t priority = 0;
    TsrDevice device;
    bool ok, taken;
    TSR_TRY(args_parse(v, args, 0, &spec));
    TSR_TRY(device_from_value(&device, &ok, v[0]));
    if (!ok) return tsr_error(TSR_TYPE_ERROR, "set_allocator(): argument 'device' must be a device or its name, not %s", value_type_name(v[0]));
    TSR_TRY(value_to_cstring(&name, v[1], "set_allocator(): argument 'name'"));
    if (v[2].tag != V_UNBOUND) TSR_TRY(value_to_index(&priority, v[2]));
    if (priority < 0 || priority > 255) return tsr_error(TSR_VALUE_ERROR, "a priority is 0 to 255, not %lld", (long long)priority);
    TSR_TRY(tsr_allocator_set(&taken, device.type, name, (uint8_t)priority));
    *out = value_bool(taken);
    return TSR_OK;
}

static TsrStatus tsr_memory_fn(Value *out, const CallArgs *args) {
    Value d, each, row;
    int64_t cached = 0, calls = 0;
    (void)args;
    TSR_TRY(dict_new(&d));
    TsrStatus status = dict_new(&each);
    if (status != TSR_OK) return value_end_move(out, status, d);
    for (TsrAllocator *a = tsr_allocator_first(); a != NULL && status == TSR_OK; a = a->next) {
        cached += a->cached;
        calls += a->calls;
        if ((status = dict_new(&row)) != TSR_OK) break;
        put_int(&status, row, "live", a->live);
        put_int(&status, row, "cached", a->cached);
        put_int(&status, row, "peak", a->peak);
        put_int(&status, row, "allocations", a->calls);
        if (status == TSR_OK) put_move(&status, each, a->name, row);
        else value_release(row);
    }
    put_int(&status, d, "live", tsr_memory_live());
    put_int(&status, d, "cached", cached);
    put_int(&status, d, "peak", tsr_memory_peak());
    put_int(&status, d, "mapped", tsr_memory_mapped());
    put_int(&status, d, "allocations", calls);
    put_int(&status, d, "tensors", tsr_tensor_live());
    put_move(&status, d, "allocators", each);
    if (status == TSR_OK) card_mark(d);
    return value_end_move(out, status, d);
}

static TsrStatus tsr_empty_cache_fn(Value *out, const CallArgs *args) {
    (void)args;
    tsr_empty_cache();
    *out = VALUE_NONE;
    return TSR_OK;
}

static TsrStatus tsr_typemeta_fn(Value *out, const CallArgs *args) {
    TsrDtype dtype = TSR_DTYPE_NONE;
    Value d;
    if (args->values[0].tag != V_NONE && !dtype_from_value(&dtype, args->values[0]))
        return tsr_error(TSR_TYPE_ERROR, "typemeta(): argument 'dtype' must be a dtype or None, not %s", value_type_name(args->values[0]));
    const TsrTypeMeta *m = dtype == TSR_DTYPE_NONE ? &tsr_dtype_uninitialized : &tsr_dtypes[dtype];
    TSR_TRY(dict_new(&d));
    TsrStatus status = TSR_OK;
    put_int(&status, d, "id", m->id);
    put_str(&status, d, "name", m->type_name);
    put_int(&status, d, "itemsize", m->itemsize);
    put_bool(&status, d, "new", m->new_ != NULL);
    put_bool(&status, d, "placementNew", m->placement_new != NULL);
    put_bool(&status, d, "copy", m->copy != NULL);
    put_bool(&status, d, "placementDelete", m->placement_delete != NULL);
    put_bool(&status, d, "delete", m->delete_ != NULL);
    if (status == TSR_OK) card_mark(d);
    return value_end_move(out, status, d);
}

/* ---- leaks ---- */

enum { MAX_LEAK_SOURCES = 8 };
static LeakSource leak_sources[MAX_LEAK_SOURCES];
static int leak_source_count;

void inspect_register_leaks(LeakSource source) {
    if (leak_source_count < MAX_LEAK_SOURCES) leak_sources[leak_source_count++] = source;
}

static TsrStatus tsr_leaks_fn(Value *out, const CallArgs *args) {
    Value list;
    (void)args;
    gc_collect(); /* what only a cycle holds is no leak */
    TSR_TRY(list_new(&list, 0));
    TsrStatus status = TSR_OK;
    for (int i = 0; i < leak_source_count && status == TSR_OK; i++) status = leak_sources[i](value_as_list(list));
    return value_end_move(out, status, list);
}

/* ---- the table ---- */

static const Method functions[] = {
    {"refcount", tsr_refcount_fn, ARGS_ONE, 1, 1, "(x)", "Owning references to a tensor, this call's argument left out."},
    {"holders", tsr_holders_fn, ARGS_ONE, 1, 1, "(x)", "Who holds those references, by name."},
    {"storage_id", tsr_storage_id_fn, ARGS_ONE, 1, 1, "(x)", "A small number for the storage."},
    {"storage_refcount", tsr_storage_refcount_fn, ARGS_ONE, 1, 1, "(x)", "References to the storage: tensors over it, and storages kept as values."},
    {"sharing", tsr_sharing_fn, ARGS_ONE, 1, 1, "(x)", "Names of the other tensors over the same storage."},
    {"shares_memory", tsr_shares_memory_fn, ARGS_RANGE, 2, 2, "(a, b)", "Whether two tensors have an element in common, exactly."},
    {"overlap", tsr_overlap_fn, ARGS_RANGE, 2, 2, "(a, b)", "Indices of one common element in each, or None."},
    {"has_internal_overlap", tsr_has_internal_overlap_fn, ARGS_ONE, 1, 1, "(x)", "Whether two indices reach one element."},
    {"inspect", tsr_inspect_fn, ARGS_RANGE, 1, -1, "(x, ...)", "All there is to know of a tensor."},
    {"anatomy", tsr_anatomy_fn, ARGS_ONE, 1, 1, "(x)", "Tensor, storage and data pointer, with the counts at each step."},
    {"whos", tsr_whos_fn, ARGS_NONE, 0, 0, "()", "The global names and what they hold."},
    {"storages", tsr_storages_fn, ARGS_NONE, 0, 0, "()", "The storages and the views over each."},
    {"why", tsr_why_fn, ARGS_ONE, 1, 1, "(x)", "What keeps its memory alive, and what would free it."},
    {"memory", tsr_memory_fn, ARGS_NONE, 0, 0, "()", "Bytes live, kept and at most, by allocator, and how many tensors there are."},
    {"empty_cache", tsr_empty_cache_fn, ARGS_NONE, 0, 0, "()", "Gives kept blocks back to the system."},
    {"typemeta", tsr_typemeta_fn, ARGS_ONE, 1, 1, "(dtype)", "The TypeMeta row of a dtype."},
    {"allocators", tsr_allocators_fn, ARGS_NONE, 0, 0, "()", "The registry of allocators."},
    {"set_allocator", tsr_set_allocator_fn, ARGS_ANY, 2, 3, "(device, name, priority=0)", "Makes an allocator the active one, unless a higher priority is."},
    {"leaks", tsr_leaks_fn, ARGS_NONE, 0, 0, "()", "Raw references and borrows that nothing will end."},
    {0},
};

void inspect_derive(Type *type, Type *from, const char *name, TsrStatus (*repr)(TsrText *, Value)) {
    type_derive(type, from, name, "tsr");
    type->repr = repr;
    type->str = NULL;
}

TsrStatus inspect_startup(void) {
    inspect_derive(&card_type, &dict_type, "card", card_repr);
    inspect_derive(&table_type, &list_type, "table", table_repr);
    inspect_derive(&note_type, &str_type, "note", note_repr);
    return namespace_add_functions("tsr", functions, true);
}
