/* The functions that answer questions about one tensor or all of them: refcount, holders, sharing, overlap, whos,
 * storages, leaks. Each reads the core's structs and returns cards or tables; nothing is recorded beforehand. */
#include "inspect.h"

#include <stdio.h>
#include <string.h>

#include "card.h"
#include "core/backend.h"
#include "core/tensor.h"
#include "core/view.h"
#include "lang/types/dict.h"
#include "lang/object/gc.h"
#include "lang/modules/namespace.h"
#include "lang/types/sequences.h"
#include "lang/types/str.h"
#include "torch/types.h"
#include "lang/vm/vm.h"
#include "torch/holders.h"
#include "torch/tensor/storage.h"

enum { NAME_ROOM = 256 };

const char *inspect_none_note;

/* ---- one tensor ---- */

static TsrStatus tensor_argument(TsrTensor **lent, const CallArgs *args, const char *function) {
    return holders_tensor(lent, args->values[0], function);
}

static TsrStatus need_storage(const TsrTensor *t, const char *function) {
    return t->storage != NULL && tsr_is_defined(t)
               ? TSR_OK
               : tsr_error(TSR_RUNTIME_ERROR, "%s(): this tensor has no storage of its own (%s)", function,
                           t->sparse != NULL ? "it is sparse: ask for its values()" : "it is undefined");
}

/* A storage itself, or that of a tensor. */
static TsrStatus storage_argument(TsrStorage **lent, TsrTensor **tensor, const CallArgs *args, const char *function) {
    *tensor = NULL;
    if (value_is_storage(args->values[0])) {
        *lent = (TsrStorage *)(uintptr_t)storage_obj_of(args->values[0]);
        return TSR_OK;
    }
    TSR_TRY(tensor_argument(tensor, args, function));
    TSR_TRY(need_storage(*tensor, function));
    *lent = (*tensor)->storage;
    return TSR_OK;
}

static TsrStatus tsr_refcount_fn(Value *out, const CallArgs *args) {
    TsrTensor *t;
    Value holders;
    if (holders_shell(args->values[0]) != NULL) {
        TSR_TRY(holders_list_of_shell(&holders, args->values[0]));
        *out = value_int(value_as_list(holders)->count);
        return value_release(holders), TSR_OK;
    }
    TSR_TRY(tensor_argument(&t, args, "refcount"));
    *out = value_int(holders_refcount(t));
    return TSR_OK;
}

static TsrStatus tsr_holders_fn(Value *out, const CallArgs *args) {
    TsrTensor *t;
    if (holders_shell(args->values[0]) != NULL) return holders_list_of_shell(out, args->values[0]);
    TSR_TRY(tensor_argument(&t, args, "holders"));
    return holders_list(out, t);
}

static TsrStatus tsr_storage_id_fn(Value *out, const CallArgs *args) {
    TsrTensor *t;
    TsrStorage *s;
    TSR_TRY(storage_argument(&s, &t, args, "storage_id"));
    *out = value_int(tsr_storage_id(s));
    return TSR_OK;
}

static TsrStatus tsr_storage_refcount_fn(Value *out, const CallArgs *args) {
    TsrTensor *t;
    TsrStorage *s;
    TSR_TRY(storage_argument(&s, &t, args, "storage_refcount"));
    *out = value_int(tsr_storage_refcount(s));
    return TSR_OK;
}

static TsrStatus tsr_sharing_fn(Value *out, const CallArgs *args) {
    TsrTensor *t;
    if (value_is_storage(args->values[0])) return holders_names_over(out, storage_obj_of(args->values[0]), NULL);
    TSR_TRY(tensor_argument(&t, args, "sharing"));
    return holders_names_over(out, t->storage, t);
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
    if (a->storage != b->storage && (a->storage->ptr.data != b->storage->ptr.data || a->storage->ptr.data == NULL))
        return TSR_OK;
    TsrFootprint ga = tsr_tensor_footprint(a), gb = tsr_tensor_footprint(b);
    *common = tsr_layout_overlap(&ga, &gb, ia, ib, &known);
    return known ? TSR_OK
                 : tsr_error(TSR_RUNTIME_ERROR, "the overlap of these two views is too hard to decide exactly");
}

static TsrStatus two_tensors(const CallArgs *args, TsrTensor **a, TsrTensor **b, const char *function) {
    TSR_TRY(holders_tensor(a, args->values[0], function));
    return holders_tensor(b, args->values[1], function);
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
    if (owner != NULL) holders_name(name, room, owner);
    tsr_tensor_free(owner);
    return name[0] != '\0';
}

/* Of what the view was taken of, when that still has a name, else of the root. */
char *inspect_origin(char *buffer, size_t room, TsrTensor *t) {
    char name[NAME_ROOM];
    buffer[0] = '\0';
    if (t->origin == NULL) return buffer;
    if (name_move(name, sizeof name, tsr_tensor_retain_source(t)) ||
        name_move(name, sizeof name, tsr_tensor_retain_base(t)))
        snprintf(buffer, room, "%s() of %s", t->origin, name);
    else if (t->base == NULL) snprintf(buffer, room, "%s()", t->origin);
    else
        snprintf(buffer, room, "%s() of a tensor %s", t->origin,
                 tsr_tensor_weak_alive(t->base) ? "without a name" : "that is gone");
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

int64_t inspect_alignment(const void *data) {
    uintptr_t address = (uintptr_t)data;
    return address == 0 ? 0 : (int64_t)TSR_MIN(address & -address, (uintptr_t)64);
}

/* The block of a device's caching allocator that holds an address. */
typedef struct Search {
    TsrAddress address;
    TsrDeviceBlock block;
    bool found;
} Search;

static void look(void *context, const TsrDeviceBlock *b) {
    Search *s = context;
    if (s->address < b->address || s->address - b->address >= b->size) return;
    s->block = *b;
    s->found = true;
}

static void put_block(TsrStatus *status, Value card, const TsrStorage *s) {
    Search search = {.address = (TsrAddress)(uintptr_t)s->ptr.data};
    const TsrBackend *b;
    card_put_str(status, card, "address_space", "the device's: the host can't read it");
    if (s->ptr.data == NULL || tsr_backend_get(&b, s->ptr.device.type) != TSR_OK) return;
    b->each_block(s->ptr.device.index, look, &search);
    if (!search.found) return;
    card_put_int(status, card, "block_bytes", (int64_t)search.block.size);
    card_put_int(status, card, "segment_bytes", (int64_t)search.block.segment_size);
    card_put_int(status, card, "stream", search.block.stream);
}

static void put_storage(TsrStatus *status, Value card, TsrTensor *t) {
    TsrStorage *s = t->storage;
    Value names;
    if (s == NULL || !tsr_is_defined(t) || *status != TSR_OK) return;
    card_put_int(status, card, "storage_id", tsr_storage_id(s));
    card_put_int(status, card, "storage_refcount", tsr_storage_refcount(s));
    card_put_int(status, card, "storage_bytes", (int64_t)s->nbytes);
    card_put_str(status, card, "allocator", s->allocator != NULL ? s->allocator->name : NULL);
    if (tsr_storage_is_pinned(s)) card_put_bool(status, card, "pinned", true);
    if (tsr_device_has_backend(s->ptr.device)) put_block(status, card, s);
    card_put_int(status, card, "alignment", inspect_alignment(s->ptr.data));
    if (*status == TSR_OK) *status = holders_names_over(&names, s, t);
    if (*status == TSR_OK) card_put_move(status, card, "sharing", names);
    card_put_str(status, card, "memory", memory_kind(s));
    if (s->path != NULL) card_put_str(status, card, "path", s->path);
    card_put_bool(status, card, "writable", !s->readonly);
}

static void put_layout(TsrStatus *status, Value card, TsrTensor *t) {
    card_put_sizes(status, card, "shape", tsr_ndim(t), t->sizes, true);
    if (tsr_is_sparse(t)) return;
    card_put_sizes(status, card, "strides", tsr_ndim(t), t->strides, false);
    card_put_int(status, card, "offset", t->offset);
    card_put_bool(status, card, "contiguous", tsr_is_contiguous(t, TSR_CONTIGUOUS));
    card_put_str(status, card, "memory_format", format_name(t));
    card_put_int(status, card, "bytes", t->numel * (int64_t)tsr_itemsize(t));
}

static void put_tensor_card(TsrStatus *status, Value card, TsrTensor *t) {
    Value holders;
    char device[16], origin[NAME_ROOM + 64];
    bool defined = tsr_is_defined(t);
    card_put_move(status, card, "dtype", defined ? dtype_value(t->dtype) : VALUE_NONE);
    card_put_str(status, card, "device", defined ? tsr_device_format(t->device, device) : NULL);
    put_layout(status, card, t);
    card_put_version(status, card, t);
    card_put_int(status, card, "refcount", holders_refcount(t));
    if (*status == TSR_OK) *status = holders_list(&holders, t);
    if (*status == TSR_OK) card_put_move(status, card, "holders", holders);
    put_storage(status, card, t);
    inspect_origin(origin, sizeof origin, t);
    card_put_str(status, card, "origin", origin[0] != '\0' ? origin : NULL);
    if (t->flags & (TSR_FLAG_CONJ | TSR_FLAG_NEG))
        card_put_str(status, card, "lazy", t->flags & TSR_FLAG_CONJ ? "conjugated" : "negated");
}

/* A wrapper's own members, without the tensor. */
static void put_members(TsrStatus *status, Value card, const WhoWrapper *wrapper, Value v) {
    if (*status == TSR_OK && wrapper->members != NULL) *status = wrapper->members(card, v);
}

/* Of a wrapper without a tensor: what is known of it, and who holds it. */
static void put_shell_card(TsrStatus *status, Value card, Value v) {
    static const char *const names[][2] = {{"device", "device_opt"}, {"shape", "sizes"}, {"numel", "numel"}};
    Value members, holders, *impl, *member;
    if (*status == TSR_OK) *status = dict_new(&members);
    if (*status != TSR_OK) return;
    put_members(status, members, holders_wrapper(v), v);
    card_put_str(status, card, "state", "sizes known, no dtype, no storage");
    card_put_move(status, card, "dtype", VALUE_NONE);
    impl = *status == TSR_OK ? dict_find_c(value_as_dict(members), "TensorImpl") : NULL;
    for (size_t i = 0; impl != NULL && i < TSR_COUNTOF(names); i++)
        if ((member = dict_find_c(value_as_dict(*impl), names[i][1])) != NULL)
            card_put_move(status, card, names[i][0], value_retain(*member));
    card_put_move(status, card, "storage_id", VALUE_NONE);
    if (*status == TSR_OK) *status = holders_list_of_shell(&holders, v);
    if (*status == TSR_OK) card_put_int(status, card, "refcount", value_as_list(holders)->count);
    if (*status == TSR_OK) card_put_move(status, card, "holders", holders);
    value_release(members);
}

static TsrStatus inspect_value(Value *out, Value v) {
    const WhoWrapper *wrapper = holders_wrapper(v);
    bool shell = holders_shell(v) != NULL;
    TsrTensor *t;
    Value card;
    if (!shell) TSR_TRY(holders_tensor(&t, v, "inspect"));
    TSR_TRY(dict_new(&card));
    TsrStatus status = TSR_OK;
    if (wrapper != NULL) card_put_str(&status, card, "wrapper", wrapper->name);
    if (shell) {
        put_shell_card(&status, card, v);
    } else {
        if (wrapper != NULL) put_members(&status, card, wrapper, v);
        put_tensor_card(&status, card, t);
    }
    if (status == TSR_OK) card_mark(card);
    return value_end_move(out, status, card);
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

/* ---- everything there is ---- */

typedef struct Rows {
    List *list;
    TsrStatus status;
} Rows;

static void put_tensor_row(TsrStatus *status, Value row, TsrTensor *t) {
    card_put_sizes(status, row, "shape", tsr_ndim(t), t->sizes, true);
    card_put_str(status, row, "dtype", tsr_dtype_name(t->dtype));
    card_put_int(status, row, "bytes", t->numel * (int64_t)tsr_itemsize(t));
    card_put_move(status, row, "storage", t->storage != NULL ? value_int(tsr_storage_id(t->storage)) : VALUE_NONE);
    card_put_int(status, row, "refcount", holders_refcount(t));
}

static void put_storage_row(TsrStatus *status, Value row, TsrStorage *s) {
    card_put_int(status, row, "bytes", (int64_t)s->nbytes);
    card_put_int(status, row, "storage", tsr_storage_id(s));
}

static TsrStatus whos_row(Value *out, const char *name, Value v) {
    TsrTensor *t = holders_tensor_if_any(v);
    Value row;
    TSR_TRY(dict_new(&row));
    TsrStatus status = TSR_OK;
    card_put_str(&status, row, "name", name);
    card_put_str(&status, row, "type", v.tag == V_TENSOR ? value_type_name(v) : type_full_name(value_type(v)));
    if (t != NULL) put_tensor_row(&status, row, t);
    else if (value_is_storage(v)) put_storage_row(&status, row, (TsrStorage *)(uintptr_t)storage_obj_of(v));
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
            if (hidden || (holders_tensor_if_any(v) != NULL) != (pass == 0)) continue;
            status = whos_row(&row, name->data, v);
            if (status == TSR_OK) status = list_append_move(value_as_list(list), row);
        }
    }
    if (status == TSR_OK) table_mark(list);
    return value_end_move(out, status, list);
}

/* What is over a storage: the bytes that some view reaches, the widest span of each, and names. */
typedef struct Account {
    int64_t low, high; /* bytes */
    bool any;
    Value views, keepers; /* lists of str: the first name of each tensor, and who holds the storage by itself */
} Account;

/* All storages, for which the holders are walked once. */
typedef struct Inventory {
    Account *of;
    int64_t count;
    Value numbers, seen; /* dicts: the serial of a storage gives its place in `of`; addresses of tensors */
    TsrStatus status;
} Inventory;

static Account *account_of(Inventory *all, const TsrStorage *s) {
    Value *found = NULL;
    if (s != NULL && all->status == TSR_OK)
        all->status = dict_find(&found, value_as_dict(all->numbers), value_int(s->serial));
    return found != NULL ? &all->of[found->i] : NULL;
}

static void add_reach(Account *a, const TsrTensor *t) {
    int64_t last = t->offset, size = (int64_t)tsr_itemsize(t);
    if (t->numel == 0) return;
    for (int d = 0; d < tsr_ndim(t); d++) last += (t->sizes[d] - 1) * t->strides[d];
    a->low = a->any ? TSR_MIN(a->low, t->offset * size) : t->offset * size;
    a->high = a->any ? TSR_MAX(a->high, (last + 1) * size) : (last + 1) * size;
    a->any = true;
}

static bool count_view(const char *path, TsrTensor *t, bool argument, void *context) {
    Inventory *all = context;
    Value key = value_int((int64_t)(uintptr_t)t), *seen;
    Account *a = argument ? NULL : account_of(all, t->storage);
    if (a == NULL) return all->status == TSR_OK;
    all->status = dict_find(&seen, value_as_dict(all->seen), key);
    if (all->status != TSR_OK || seen != NULL) return all->status == TSR_OK;
    add_reach(a, t);
    all->status = dict_set(value_as_dict(all->seen), key, VALUE_TRUE);
    if (all->status == TSR_OK) all->status = list_append_c(value_as_list(a->views), path);
    return all->status == TSR_OK;
}

static void count_keeper(const char *path, const TsrStorage *s, void *context) {
    Inventory *all = context;
    Account *a = account_of(all, s);
    if (a != NULL && all->status == TSR_OK) all->status = list_append_c(value_as_list(a->keepers), path);
}

static TsrStatus begin_inventory(Inventory *all) {
    int64_t n = 0;
    for (TsrStorage *s = tsr_storage_first(); s != NULL; s = s->next) n++;
    TSR_TRY(dict_new(&all->numbers));
    TSR_TRY(dict_new(&all->seen));
    all->of = tsr_calloc((size_t)TSR_MAX(n, 1), sizeof *all->of);
    if (all->of == NULL) return tsr_error_no_memory((size_t)n * sizeof *all->of);
    for (TsrStorage *s = tsr_storage_first(); s != NULL; s = s->next) {
        Account *a = &all->of[all->count];
        a->views = a->keepers = VALUE_NONE;
        TSR_TRY(dict_set(value_as_dict(all->numbers), value_int(s->serial), value_int(all->count++)));
        TSR_TRY(list_new(&a->views, 0));
        TSR_TRY(list_new(&a->keepers, 0));
    }
    TSR_TRY(holders_each(count_view, all));
    TSR_TRY(all->status);
    TSR_TRY(holders_each_storage(count_keeper, all));
    return all->status;
}

static void end_inventory(Inventory *all) {
    for (int64_t i = 0; i < all->count; i++) {
        value_release(all->of[i].views);
        value_release(all->of[i].keepers);
    }
    tsr_free(all->of);
    value_release(all->numbers);
    value_release(all->seen);
}

/* What else keeps it, and what keeps more of it than it shows. */
static TsrStatus storage_note(TsrText *note, const TsrStorage *s, int64_t used, Value keepers) {
    if ((int64_t)s->nbytes >= 1024 && used > 0 && used * 2 < (int64_t)s->nbytes)
        TSR_TRY(tsr_text_printf(note, "a small view keeps it alive: clone() would free %lld bytes",
                                (long long)s->nbytes - used));
    if (value_as_list(keepers)->count == 0) return TSR_OK;
    TSR_TRY(tsr_text_puts(note, note->length > 0 ? "; held as a storage by " : "held as a storage by "));
    return card_append_cell(note, keepers);
}

static TsrStatus storage_row(Value *out, TsrStorage *s, const Account *a) {
    Value row;
    TsrText note = {0};
    int64_t used = a->any ? a->high - a->low : 0;
    TSR_TRY(dict_new(&row));
    TsrStatus status = storage_note(&note, s, used, a->keepers);
    card_put_int(&status, row, "id", tsr_storage_id(s));
    card_put_int(&status, row, "bytes", (int64_t)s->nbytes);
    card_put_int(&status, row, "used", used);
    card_put_int(&status, row, "refcount", tsr_storage_refcount(s));
    card_put_str(&status, row, "allocator", s->allocator != NULL ? s->allocator->name : memory_kind(s));
    if (status == TSR_OK) card_put_move(&status, row, "views", value_retain(a->views));
    card_put_str(&status, row, "note", note.length > 0 ? note.data : NULL);
    tsr_text_free(&note);
    return value_end_move(out, status, row);
}

static TsrStatus storage_rows(List *list, Inventory *all) {
    Value row;
    for (TsrStorage *s = tsr_storage_first(); s != NULL && all->status == TSR_OK; s = s->next) {
        const Account *a = account_of(all, s);
        if (a == NULL) continue; /* as young as that */
        TSR_TRY(storage_row(&row, s, a));
        TSR_TRY(list_append_move(list, row));
    }
    return all->status;
}

static TsrStatus tsr_storages_fn(Value *out, const CallArgs *args) {
    Value list;
    Inventory all = {.numbers = VALUE_NONE, .seen = VALUE_NONE};
    (void)args;
    gc_collect();
    TSR_TRY(list_new(&list, 0));
    TsrStatus status = begin_inventory(&all);
    if (status == TSR_OK) status = storage_rows(value_as_list(list), &all);
    end_inventory(&all);
    if (status == TSR_OK) table_mark(list);
    return value_end_move(out, status, list);
}

static TsrStatus tsr_leaks_fn(Value *out, const CallArgs *args) {
    (void)args;
    return holders_leaks(out);
}

/* ---- the table ---- */

static const Method functions[] = {
    {"refcount", tsr_refcount_fn, ARGS_ONE, 1, 1, "(x)",
     "Owning references to a tensor, this call's argument left out.\n\n"
     "    >>> x = ones(2)\n    >>> pair = [x, 3]\n    >>> refcount(x)\n    2"},
    {"holders", tsr_holders_fn, ARGS_ONE, 1, 1, "(x)",
     "Who holds those references, by name: a str a reference. A wrapper\nthat several names lead to is one: c (also "
     "u).\n\n"
     "    >>> x = ones(2)\n    >>> pair = [x, 3]\n    >>> holders(x)\n    ['x', 'pair[0]']"},
    {"storage_id", tsr_storage_id_fn, ARGS_ONE, 1, 1, "(x)", "A small number for the storage."},
    {"storage_refcount", tsr_storage_refcount_fn, ARGS_ONE, 1, 1, "(x)",
     "References to the storage of a tensor, or to a storage: tensors over it,\nand storages kept as values.\n\n"
     "    >>> x = ones(2, 3)\n    >>> y = x.t()\n    >>> storage_refcount(x)\n    2"},
    {"sharing", tsr_sharing_fn, ARGS_ONE, 1, 1, "(x)",
     "Names of the other tensors over the same storage.\n\n"
     "    >>> x = ones(2, 3)\n    >>> y = x.t()\n    >>> sharing(x)\n    ['y']"},
    {"shares_memory", tsr_shares_memory_fn, ARGS_RANGE, 2, 2, "(a, b)",
     "Whether two tensors have an element in common, exactly.\n\n"
     "    >>> x = arange(6)\n    >>> shares_memory(x[::2], x[1::2])\n    False"},
    {"overlap", tsr_overlap_fn, ARGS_RANGE, 2, 2, "(a, b)",
     "Indices of one common element in each, or None.\n\n"
     "    >>> x = ones(2, 3)\n    >>> overlap(x[1], x[:, 2])\n    ((2,), (1,))"},
    {"has_internal_overlap", tsr_has_internal_overlap_fn, ARGS_ONE, 1, 1, "(x)",
     "Whether two indices reach one element.\n\n"
     "    >>> has_internal_overlap(ones(3, 1).expand(3, 4))\n    True"},
    {"inspect", tsr_inspect_fn, ARGS_RANGE, 1, -1, "(x, ...)",
     "All there is to know of a tensor, or of a wrapper, with or without memory.\n\n"
     "    >>> inspect(ones(2, 3).t())[\"strides\"]\n    (1, 3)"},
    {"whos", tsr_whos_fn, ARGS_NONE, 0, 0, "()", "The global names and what they hold."},
    {"storages", tsr_storages_fn, ARGS_NONE, 0, 0, "()", "The storages and the views over each."},
    {"leaks", tsr_leaks_fn, ARGS_NONE, 0, 0, "()", "Raw references and borrows that nothing will end."},
    {0},
};

TsrStatus inspect_startup(void) { return namespace_add_functions("tsr", functions, true); }
