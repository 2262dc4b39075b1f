/* dict.c: dict, its views and iterators.
 *
 * As CPython's since 3.6: `entries` in the order of insertion, and `index`, an open-addressed table of int32 into them,
 * both in one block of memory; the index has a power of two of slots, at most two thirds in use. Probing follows
 * CPython's recurrence, at = 5 at + perturb + 1, where perturb feeds the upper bits of the hash in. A removed entry
 * leaves an unbound key and a DELETED_SLOT; both go when the table is built anew, which happens when the entries are
 * full. `version` changes with every key, so that iteration can refuse a dict that changed and caches can know. Keys
 * that are str skip the general comparison (dict_find_str), which is what names and attributes use. */
#include "dict.h"

#include "lang/object/args.h"
#include "lang/object/exc.h"
#include "lang/object/native.h"
#include "numbers.h"
#include "sequences.h"
#include "str.h"
#include "repr_size.h"
#include "lang/object/value_impl.h"

#include <string.h>

enum { FREE_SLOT = -1, DELETED_SLOT = -2, SMALLEST = 8, MAX_ENTRIES = 1 << 30 };

/* --- the table --- */

static TsrStatus no_room(void) { return mem_error(); }

/* Makes room for `wanted` live entries: packs the entries and builds the index anew. */
static TsrStatus rebuild(Dict *d, int64_t wanted) {
    int64_t slots = SMALLEST;
    while (slots * 2 < wanted * 3 + 3) slots *= 2;
    int64_t capacity = slots * 2 / 3;
    if (capacity > MAX_ENTRIES) return no_room();
    size_t entry_bytes = (size_t)capacity * sizeof(DictEntry);
    DictEntry *entries = tsr_malloc(entry_bytes + (size_t)slots * sizeof(int32_t));
    if (entries == NULL) return no_room();
    int32_t *index = (int32_t *)((char *)entries + entry_bytes);
    TSR_IN_PIECES(i, slots) index[i] = FREE_SLOT;
    int64_t n = 0;
    for (int64_t i = 0; i < d->used && tsr_interrupt_flag == 0; i++) {
        if (d->entries[i].key.tag == V_UNBOUND) continue;
        entries[n] = d->entries[i];
        uint64_t perturb = (uint64_t)entries[n].hash, at = perturb & (uint64_t)(slots - 1);
        while (index[at] != FREE_SLOT) {
            perturb >>= 5;
            at = (at * 5 + perturb + 1) & (uint64_t)(slots - 1);
        }
        index[at] = (int32_t)n++;
    }
    if (TSR_UNLIKELY(tsr_interrupt_flag != 0)) { /* the old table is whole: the dict stays what it was */
        tsr_free(entries);
        return tsr_interrupt_raise();
    }
    tsr_free(d->entries);
    d->entries = entries;
    d->index = index;
    d->first = 0;
    d->end = d->used = d->count = n;
    d->capacity = capacity;
    d->mask = slots - 1;
    d->version++;
    return TSR_OK;
}

/* Index slot that holds the key, or -1. Comparing keys runs no code of the language. */
static TsrStatus find_slot(int64_t *out, const Dict *d, Value key, int64_t hash) {
    *out = -1;
    if (d->index == NULL) return TSR_OK;
    uint64_t mask = (uint64_t)d->mask, perturb = (uint64_t)hash, at = perturb & mask;
    for (;; perturb >>= 5, at = (at * 5 + perturb + 1) & mask) {
        int32_t i = d->index[at];
        if (i == FREE_SLOT) return TSR_OK;
        if (i < 0 || d->entries[i].hash != hash) continue;
        bool same = value_is_same(d->entries[i].key, key);
        if (!same) TSR_TRY(value_equal(&same, d->entries[i].key, key));
        if (same) {
            *out = (int64_t)at;
            return TSR_OK;
        }
    }
}

Value *dict_find_str(const Dict *d, Str *key) {
    if (d->index == NULL) return NULL;
    int64_t hash = str_hash(key);
    uint64_t mask = (uint64_t)d->mask, perturb = (uint64_t)hash, at = perturb & mask;
    for (;; perturb >>= 5, at = (at * 5 + perturb + 1) & mask) {
        int32_t i = d->index[at];
        if (i == FREE_SLOT) return NULL;
        if (i < 0) continue;
        DictEntry *e = &d->entries[i];
        if (e->hash != hash || !value_is_str(e->key)) continue;
        if (e->key.o == &key->obj || str_equal(value_as_str(e->key), key)) return &e->value;
    }
}

Value *dict_find_c(const Dict *d, const char *key) {
    Str *s = str_intern_c(key);
    return s != NULL ? dict_find_str(d, s) : NULL;
}

TsrStatus dict_find(Value **lent, const Dict *d, Value key) {
    if (value_is_str(key)) {
        *lent = dict_find_str(d, value_as_str(key));
        return TSR_OK;
    }
    int64_t hash, slot;
    TSR_TRY(value_hash(&hash, key));
    TSR_TRY(find_slot(&slot, d, key, hash));
    *lent = slot < 0 ? NULL : &d->entries[d->index[slot]].value;
    return TSR_OK;
}

/* d[key]; KeyError. */
static TsrStatus dict_get(Value *out, const Dict *d, Value key) {
    Value *found;
    TSR_TRY(dict_find(&found, d, key));
    if (found == NULL) return exc_raise_value(TSR_KEY_ERROR, key);
    *out = value_retain(*found);
    return TSR_OK;
}

/* Takes over key and value. */
static TsrStatus append_entry(Dict *d, Value key, Value value, int64_t hash) {
    if (d->used == d->capacity) {
        TsrStatus status = rebuild(d, d->count * 2 + 1);
        if (status != TSR_OK) {
            value_release(key);
            value_release(value);
            return status;
        }
    }
    uint64_t mask = (uint64_t)d->mask, perturb = (uint64_t)hash, at = perturb & mask;
    while (d->index[at] >= 0) {
        perturb >>= 5;
        at = (at * 5 + perturb + 1) & mask;
    }
    d->entries[d->used] = (DictEntry){key, value, hash};
    d->index[at] = (int32_t)d->used++;
    if (d->count == 0) d->first = d->used - 1;
    d->end = d->used;
    d->count++;
    d->version++;
    return TSR_OK;
}

TsrStatus dict_set(Dict *d, Value key, Value value) {
    int64_t hash, slot;
    if (value_is_str(key)) return dict_set_str(d, value_as_str(key), value);
    TSR_TRY(value_hash(&hash, key));
    TSR_TRY(find_slot(&slot, d, key, hash));
    if (slot >= 0) {
        value_set_move(&d->entries[d->index[slot]].value, value_retain(value));
        return TSR_OK;
    }
    return append_entry(d, value_retain(key), value_retain(value), hash);
}

TsrStatus dict_set_str(Dict *d, Str *key, Value value) {
    Value *found = dict_find_str(d, key);
    if (found != NULL) {
        value_set_move(found, value_retain(value));
        return TSR_OK;
    }
    return append_entry(d, value_retain(value_lent(key)), value_retain(value), str_hash(key));
}

TsrStatus dict_set_c_move(Dict *d, const char *key, Value value) {
    Str *s = str_intern_c(key);
    TsrStatus status = s != NULL ? dict_set_str(d, s, value) : TSR_MEMORY_ERROR;
    value_release(value);
    return status;
}

TsrStatus dict_set_c(Dict *d, const char *key, Value value) { return dict_set_c_move(d, key, value_retain(value)); }

/* Takes the entry out; its key and value become the caller's. */
static DictEntry take_slot(Dict *d, int64_t slot) {
    DictEntry *e = &d->entries[d->index[slot]];
    DictEntry taken = *e;
    e->key = e->value = VALUE_UNBOUND;
    d->index[slot] = DELETED_SLOT;
    d->count--;
    d->version++;
    while (d->end > d->first && d->entries[d->end - 1].key.tag == V_UNBOUND) d->end--;
    while (d->first < d->end && d->entries[d->first].key.tag == V_UNBOUND) d->first++;
    return taken;
}

static TsrStatus take(DictEntry *out, Dict *d, Value key) {
    int64_t hash, slot;
    out->key = VALUE_UNBOUND;
    TSR_TRY(value_hash(&hash, key));
    TSR_TRY(find_slot(&slot, d, key, hash));
    if (slot >= 0) *out = take_slot(d, slot);
    return TSR_OK;
}

TsrStatus dict_remove(bool *found, Dict *d, Value key) {
    DictEntry taken;
    TSR_TRY(take(&taken, d, key));
    *found = taken.key.tag != V_UNBOUND;
    if (!*found) return TSR_OK;
    value_release(taken.key);
    value_release(taken.value);
    return TSR_OK;
}

bool dict_remove_str(Dict *d, Str *key) {
    bool found = false;
    return dict_remove(&found, d, value_lent(key)) == TSR_OK && found;
}

void dict_clear(Dict *d) {
    DictEntry *entries = d->entries;
    int64_t used = d->used;
    d->entries = NULL;
    d->index = NULL;
    d->first = d->end = d->used = d->count = d->capacity = 0;
    d->mask = 0;
    d->version++;
    for (int64_t i = 0; i < used; i++) {
        value_release(entries[i].key);
        value_release(entries[i].value);
    }
    tsr_free(entries);
}

void dict_swap(Dict *a, Dict *b) {
    const Dict old = *a;
    GcObj own = b->gc;
    uint64_t version = TSR_MAX(a->version, b->version) + 1;
    *a = *b;
    a->gc = old.gc;
    *b = old;
    b->gc = own;
    a->version = b->version = version;
}

Dict *dict_new_raw(void) {
    Dict *d = obj_new(&dict_type, sizeof *d);
    if (d != NULL) gc_track(d);
    return d;
}

TsrStatus dict_new(Value *out) {
    Dict *d = dict_new_raw();
    if (d == NULL) return TSR_MEMORY_ERROR;
    *out = value_obj_move(d);
    return TSR_OK;
}

static TsrStatus merge_dict(Dict *d, const Dict *other) {
    if (d->count == 0 && other->count > 4 && d != other) TSR_TRY(rebuild(d, other->count));
    int64_t position = 0;
    for (DictEntry *e; (e = dict_next(other, &position)) != NULL;) {
        TSR_TRY(dict_set(d, e->key, e->value));
        TSR_TRY(tsr_interrupt_check());
    }
    return TSR_OK;
}

TsrStatus dict_copy(Value *out, const Dict *d) {
    Value copy;
    TSR_TRY(dict_new(&copy));
    TsrStatus status = merge_dict(value_as_dict(copy), d);
    return value_end_move(out, status, copy);
}

typedef struct Merge {
    Dict *into;
    Value from; /* a mapping, or the value that all keys get */
} Merge;

static TsrStatus merge_key(Value key, void *context) {
    const Merge *m = context;
    Value value;
    TSR_TRY(value_getitem(&value, m->from, key));
    TsrStatus status = dict_set(m->into, key, value);
    value_release(value);
    return status;
}

static TsrStatus merge_pair(Dict *d, Value pair, int64_t number) {
    Value list;
    if (value_type(pair)->iter == NULL && value_type(pair)->iter_next == NULL && !value_is_tuple(pair)) {
        return tsr_error(TSR_TYPE_ERROR, "cannot convert dictionary update sequence element #%lld to a sequence",
                         (long long)number);
    }
    TSR_TRY(list_new_iterable(&list, pair));
    const List *l = value_as_list(list);
    TsrStatus status =
        l->count == 2
            ? dict_set(d, l->items[0], l->items[1])
            : tsr_error(TSR_VALUE_ERROR, "dictionary update sequence element #%lld has length %lld; 2 is required",
                        (long long)number, (long long)l->count);
    value_release(list);
    return status;
}

static TsrStatus merge_pairs(Dict *d, Value pairs) {
    Value iterator, pair;
    TSR_TRY(value_iter(&iterator, pairs));
    TsrStatus status;
    for (int64_t i = 0; (status = value_next(&pair, iterator)) == TSR_OK && pair.tag != V_UNBOUND; i++) {
        status = merge_pair(d, pair, i);
        value_release(pair);
        if (status == TSR_OK) status = tsr_interrupt_check();
        if (status != TSR_OK) break;
    }
    value_release(iterator);
    return status;
}

TsrStatus dict_update(Dict *d, Value other) {
    if (value_is_dict(other)) return merge_dict(d, value_as_dict(other));
    Str *name = str_intern_c("keys");
    if (name == NULL) return TSR_MEMORY_ERROR;
    Value method, keys;
    TSR_TRY(value_lookup_attr(&method, other, name));
    if (method.tag == V_UNBOUND) return merge_pairs(d, other);
    TsrStatus status = value_call_n(&keys, method, 0, NULL);
    value_release(method);
    TSR_TRY(status);
    status = value_each(keys, merge_key, &(Merge){d, other}, NULL);
    value_release(keys);
    return status;
}

/* --- slots --- */

static void dict_destroy(Obj *self) {
    dict_clear((Dict *)self);
    obj_free(self, sizeof(Dict));
}

static void dict_traverse(Obj *self, GcVisit visit, void *context) {
    const Dict *d = (Dict *)self;
    for (int64_t i = 0; i < d->used; i++) {
        gc_visit_value(d->entries[i].key, visit, context);
        gc_visit_value(d->entries[i].value, visit, context);
    }
}

static void dict_clear_slot(Obj *self) { dict_clear((Dict *)self); }

static TsrStatus write_entries(TsrText *out, const Dict *d) {
    int64_t position = 0;
    bool first = true;
    for (DictEntry *e; (e = dict_next(d, &position)) != NULL; first = false) {
        if (!first) TSR_TRY(tsr_text_puts(out, ", "));
        TSR_TRY(value_repr(out, e->key));
        TSR_TRY(tsr_text_puts(out, ": "));
        TSR_TRY(value_repr(out, e->value));
    }
    return TSR_OK;
}

static TsrStatus dict_repr(TsrText *out, Value self) {
    ReprGuard guard;
    bool again;
    TSR_TRY(repr_enter(&guard, self.o, &again));
    if (again) return tsr_text_puts(out, "{...}");
    TsrStatus status = guard.outer == NULL ? repr_reserve(out, self) : TSR_OK;
    if (status == TSR_OK) status = tsr_text_putc(out, '{');
    if (status == TSR_OK) status = write_entries(out, value_as_dict(self));
    if (status == TSR_OK) status = tsr_text_putc(out, '}');
    repr_leave(&guard);
    return status;
}

static TsrStatus dict_compare(Value *out, CompareOp op, Value a, Value b) {
    *out = VALUE_UNBOUND;
    if ((op != CMP_EQ && op != CMP_NE) || !value_is_dict(a) || !value_is_dict(b)) return TSR_OK;
    const Dict *d = value_as_dict(a), *e = value_as_dict(b);
    bool equal = d->count == e->count;
    int64_t position = 0;
    for (DictEntry *entry; equal && (entry = dict_next(d, &position)) != NULL;) {
        Value *found;
        TSR_TRY(dict_find(&found, e, entry->key));
        equal = found != NULL;
        if (equal) TSR_TRY(value_equal(&equal, entry->value, *found));
        TSR_TRY(tsr_interrupt_check());
    }
    *out = value_bool(equal == (op == CMP_EQ));
    return TSR_OK;
}

static TsrStatus dict_length(int64_t *out, Value self) {
    *out = value_as_dict(self)->count;
    return TSR_OK;
}

static TsrStatus dict_get_item(Value *out, Value self, Value index) {
    return dict_get(out, value_as_dict(self), index);
}
static TsrStatus dict_set_item(Value self, Value index, Value value) {
    return dict_set(value_as_dict(self), index, value);
}

static TsrStatus dict_del_item(Value self, Value index) {
    bool found;
    TSR_TRY(dict_remove(&found, value_as_dict(self), index));
    return found ? TSR_OK : exc_raise_value(TSR_KEY_ERROR, index);
}

static TsrStatus dict_contains(bool *out, Value self, Value item) {
    Value *found;
    TSR_TRY(dict_find(&found, value_as_dict(self), item));
    *out = found != NULL;
    return TSR_OK;
}

/* --- iterators and views --- */

typedef enum Part { KEYS, VALUES, ITEMS } Part;

typedef struct DictIter {
    GcObj gc;
    Dict *dict; /* NULL when exhausted */
    int64_t position, left;
    int64_t count; /* at the start: a changed size is an error */
    Part part;
    bool backwards;
} DictIter;

typedef struct DictView {
    GcObj gc;
    Dict *dict;
} DictView;

static void iter_destroy(Obj *self) {
    obj_xrelease(((DictIter *)self)->dict);
    obj_free(self, sizeof(DictIter));
}
static void iter_traverse(Obj *self, GcVisit visit, void *context) {
    gc_visit_obj(((DictIter *)self)->dict, visit, context);
}
static void iter_clear(Obj *self) {
    Dict *d = ((DictIter *)self)->dict;
    ((DictIter *)self)->dict = NULL;
    obj_xrelease(d);
}

static DictEntry *step(DictIter *it) {
    const Dict *d = it->dict;
    if (!it->backwards) return dict_next(d, &it->position);
    while (it->position > 0) {
        DictEntry *e = &d->entries[--it->position];
        if (e->key.tag != V_UNBOUND) return e;
    }
    return NULL;
}

static TsrStatus iter_next(Value *out, Value self) {
    DictIter *it = (DictIter *)self.o;
    *out = VALUE_UNBOUND;
    if (it->dict == NULL) return TSR_OK;
    if (it->dict->count != it->count) {
        it->count = -1;
        return tsr_error(TSR_RUNTIME_ERROR, "dictionary changed size during iteration");
    }
    DictEntry *e = step(it);
    if (e == NULL) {
        iter_clear(self.o);
        return TSR_OK;
    }
    if (--it->left < 0) return tsr_error(TSR_RUNTIME_ERROR, "dictionary keys changed during iteration");
    if (it->part == ITEMS) {
        Value pair[2] = {e->key, e->value};
        return tuple_new(out, pair, 2);
    }
    *out = value_retain(it->part == KEYS ? e->key : e->value);
    return TSR_OK;
}

static TsrStatus iter_length_hint(Value *out, const CallArgs *args) {
    const DictIter *it = (DictIter *)args->values[0].o;
    *out = value_int(it->dict != NULL ? TSR_MAX(it->left, 0) : 0);
    return TSR_OK;
}
static const Method iter_methods[] = {{"__length_hint__", iter_length_hint, ARGS_NONE, 0, 0, NULL, NULL}, {0}};

#define ITERATOR_TYPE(ident, text) \
    static Type ident = {.obj = TYPE_HEADER, \
                         .name = text, \
                         .flags = TYPE_GC, \
                         .destroy = iter_destroy, \
                         .traverse = iter_traverse, \
                         .clear = iter_clear, \
                         .iter_next = iter_next, \
                         .methods = iter_methods};
ITERATOR_TYPE(key_iter_type, "dict_keyiterator")
ITERATOR_TYPE(value_iter_type, "dict_valueiterator")
ITERATOR_TYPE(item_iter_type, "dict_itemiterator")
ITERATOR_TYPE(reverse_key_iter_type, "dict_reversekeyiterator")
ITERATOR_TYPE(reverse_value_iter_type, "dict_reversevalueiterator")
ITERATOR_TYPE(reverse_item_iter_type, "dict_reverseitemiterator")

static TsrStatus iter_new(Value *out, Dict *d, Part part, bool backwards) {
    Type *const types[2][3] = {
        {[KEYS] = &key_iter_type, [VALUES] = &value_iter_type, [ITEMS] = &item_iter_type},
        {[KEYS] = &reverse_key_iter_type, [VALUES] = &reverse_value_iter_type, [ITEMS] = &reverse_item_iter_type}};
    DictIter *it = obj_new(types[backwards][part], sizeof *it);
    if (it == NULL) return TSR_MEMORY_ERROR;
    it->dict = obj_retain(d);
    it->part = part;
    it->count = it->left = d->count;
    it->backwards = backwards;
    it->position = backwards ? d->end : d->first;
    gc_track(it);
    *out = value_obj_move(it);
    return TSR_OK;
}

static TsrStatus dict_iter(Value *out, Value self) { return iter_new(out, value_as_dict(self), KEYS, false); }

static void view_destroy(Obj *self) {
    obj_xrelease(((DictView *)self)->dict);
    obj_free(self, sizeof(DictView));
}
static void view_traverse(Obj *self, GcVisit visit, void *context) {
    gc_visit_obj(((DictView *)self)->dict, visit, context);
}
static void view_clear(Obj *self) { (void)self; /* the dict's own clear breaks every cycle through it */ }
static Dict *view_dict(Value v) { return ((DictView *)v.o)->dict; }

static Part view_part(Value v) {
    return v.o->type == &dict_keys_type ? KEYS : v.o->type == &dict_values_type ? VALUES : ITEMS;
}

static TsrStatus view_write_items(TsrText *out, Value self) {
    Part part = view_part(self);
    int64_t position = 0;
    bool first = true;
    for (DictEntry *e; (e = dict_next(view_dict(self), &position)) != NULL; first = false) {
        if (!first) TSR_TRY(tsr_text_puts(out, ", "));
        if (part == ITEMS) TSR_TRY(tsr_text_putc(out, '('));
        if (part != VALUES) TSR_TRY(value_repr(out, e->key));
        if (part == ITEMS) TSR_TRY(tsr_text_puts(out, ", "));
        if (part != KEYS) TSR_TRY(value_repr(out, e->value));
        if (part == ITEMS) TSR_TRY(tsr_text_putc(out, ')'));
    }
    return TSR_OK;
}

static TsrStatus view_repr(TsrText *out, Value self) {
    ReprGuard guard;
    bool again;
    TSR_TRY(repr_enter(&guard, self.o, &again));
    if (again) return tsr_text_puts(out, "...");
    bool ordered = view_dict(self)->gc.obj.type == &ordered_dict_type;
    TsrStatus status = tsr_text_printf(out, "%s%s([", ordered ? "o" : "", value_type_name(self));
    if (status == TSR_OK) status = view_write_items(out, self);
    if (status == TSR_OK) status = tsr_text_puts(out, "])");
    repr_leave(&guard);
    return status;
}

static TsrStatus view_length(int64_t *out, Value self) {
    *out = view_dict(self)->count;
    return TSR_OK;
}
static TsrStatus view_iter(Value *out, Value self) { return iter_new(out, view_dict(self), view_part(self), false); }

static TsrStatus view_contains(bool *out, Value self, Value item) {
    Value *found;
    *out = false;
    if (view_part(self) == KEYS) {
        TSR_TRY(dict_find(&found, view_dict(self), item));
        *out = found != NULL;
        return TSR_OK;
    }
    if (!value_is_tuple(item) || value_as_tuple(item)->count != 2) return TSR_OK;
    TSR_TRY(dict_find(&found, view_dict(self), value_as_tuple(item)->items[0]));
    return found != NULL ? value_equal(out, *found, value_as_tuple(item)->items[1]) : TSR_OK;
}

static bool is_set_like(Value v) {
    return value_is_set(v) || value_is_obj(v, &dict_keys_type) || value_is_obj(v, &dict_items_type);
}

/* keys and items behave as sets: the operators are those of the sets of their elements. */
static TsrStatus view_binary(Value *out, BinaryOp op, Value a, Value b) {
    *out = VALUE_UNBOUND;
    if (op != OP_AND && op != OP_OR && op != OP_XOR && op != OP_SUB) return TSR_OK;
    Value left, right;
    TSR_TRY(set_new_iterable(&left, &set_type, a));
    TsrStatus status = set_new_iterable(&right, &set_type, b);
    if (status == TSR_OK) {
        status = value_binary(out, op, left, right);
        value_release(right);
    }
    value_release(left);
    return status;
}

static TsrStatus view_compare(Value *out, CompareOp op, Value a, Value b) {
    *out = VALUE_UNBOUND;
    if (!is_set_like(a) || !is_set_like(b)) return TSR_OK;
    Value left, right;
    TSR_TRY(set_new_iterable(&left, &set_type, a));
    TsrStatus status = set_new_iterable(&right, &set_type, b);
    if (status == TSR_OK) {
        status = value_compare(out, op, left, right);
        value_release(right);
    }
    value_release(left);
    return status;
}

static TsrStatus view_reversed(Value *out, const CallArgs *args) {
    return iter_new(out, view_dict(args->values[0]), view_part(args->values[0]), true);
}

static TsrStatus view_isdisjoint(Value *out, const CallArgs *args) {
    Value set;
    TSR_TRY(set_new_iterable(&set, &set_type, args->values[0]));
    TsrStatus status = value_call_method(out, set, "isdisjoint", 1, args->values + 1);
    value_release(set);
    return status;
}

static TsrStatus view_mapping(Value *out, Value self) {
    *out = value_retain(value_lent(view_dict(self)));
    return TSR_OK;
}

static const Method view_methods[] = {
    {"__reversed__", view_reversed, ARGS_NONE, 0, 0, "()", NULL},
    {"isdisjoint", view_isdisjoint, ARGS_ONE, 0, 0, "(other, /)", "Whether they have no element in common."},
    {0},
};
static const Getter view_getters[] = {{"mapping", view_mapping, NULL, "The dict it looks at."}, {0}};

#define VIEW_TYPE(shown, ...) \
    { \
        .obj = TYPE_HEADER, .name = shown, .flags = TYPE_GC, .destroy = view_destroy, .traverse = view_traverse, \
        .clear = view_clear, .repr = view_repr, .length = view_length, .iter = view_iter, .methods = view_methods, \
        .getters = view_getters, __VA_ARGS__ \
    }
#define AS_A_SET .hash = hash_refused, .contains = view_contains, .binary = view_binary, .compare = view_compare

Type dict_keys_type = VIEW_TYPE("dict_keys", AS_A_SET);
Type dict_values_type = VIEW_TYPE("dict_values", );
Type dict_items_type = VIEW_TYPE("dict_items", AS_A_SET);

static TsrStatus view_new(Value *out, Type *type, Value dict) {
    DictView *v = obj_new(type, sizeof *v);
    if (v == NULL) return TSR_MEMORY_ERROR;
    v->dict = obj_retain(dict.o);
    gc_track(v);
    *out = value_obj_move(v);
    return TSR_OK;
}

/* --- methods --- */

static Dict *self_dict(const CallArgs *args) { return value_as_dict(args->values[0]); }

static TsrStatus method_keys(Value *out, const CallArgs *args) {
    return view_new(out, &dict_keys_type, args->values[0]);
}
static TsrStatus method_values(Value *out, const CallArgs *args) {
    return view_new(out, &dict_values_type, args->values[0]);
}
static TsrStatus method_items(Value *out, const CallArgs *args) {
    return view_new(out, &dict_items_type, args->values[0]);
}

static TsrStatus method_get(Value *out, const CallArgs *args) {
    Value *found;
    TSR_TRY(dict_find(&found, self_dict(args), args->values[1]));
    *out = value_retain(found != NULL ? *found : args->count > 2 ? args->values[2] : VALUE_NONE);
    return TSR_OK;
}

static TsrStatus method_setdefault(Value *out, const CallArgs *args) {
    Value *found, fallback = args->count > 2 ? args->values[2] : VALUE_NONE;
    TSR_TRY(dict_find(&found, self_dict(args), args->values[1]));
    if (found == NULL) TSR_TRY(dict_set(self_dict(args), args->values[1], fallback));
    *out = value_retain(found != NULL ? *found : fallback);
    return TSR_OK;
}

static TsrStatus method_pop(Value *out, const CallArgs *args) {
    DictEntry taken = {.key = VALUE_UNBOUND};
    if (self_dict(args)->count > 0)
        TSR_TRY(take(&taken, self_dict(args), args->values[1])); /* an empty one does not even hash the key */
    if (taken.key.tag != V_UNBOUND) {
        value_release(taken.key);
        *out = taken.value;
        return TSR_OK;
    }
    if (args->count < 3) return exc_raise_value(TSR_KEY_ERROR, args->values[1]);
    *out = value_retain(args->values[2]);
    return TSR_OK;
}

static TsrStatus method_popitem(Value *out, const CallArgs *args) {
    Dict *d = self_dict(args);
    if (d->count == 0) {
        Value text;
        TSR_TRY(str_new_c(&text, "popitem(): dictionary is empty"));
        TsrStatus status = exc_raise_value(TSR_KEY_ERROR, text);
        value_release(text);
        return status;
    }
    DictEntry taken;
    TSR_TRY(take(&taken, d, dict_last(d)->key));
    Value pair[2] = {taken.key, taken.value};
    return tuple_new_move(out, pair, 2);
}

static TsrStatus method_clear(Value *out, const CallArgs *args) {
    dict_clear(self_dict(args));
    *out = VALUE_NONE;
    return TSR_OK;
}

static TsrStatus method_copy(Value *out, const CallArgs *args) { return dict_copy(out, self_dict(args)); }

TsrStatus dict_update_from(Dict *d, const CallArgs *args, int skip, const char *function) {
    if (args->count - skip > 1) TSR_TRY(args_count(args, skip, 0, 1, function));
    if (args->count > skip) TSR_TRY(dict_update(d, args->values[skip]));
    for (int i = 0; i < args->keyword_count; i++)
        TSR_TRY(dict_set_str(d, args->names[i], args->values[args->count + i]));
    return TSR_OK;
}

static TsrStatus method_update(Value *out, const CallArgs *args) {
    *out = VALUE_NONE;
    return dict_update_from(self_dict(args), args, 1, "update");
}

static TsrStatus method_reversed(Value *out, const CallArgs *args) {
    return iter_new(out, self_dict(args), KEYS, true);
}

static TsrStatus fill_key(Value key, void *context) {
    const Merge *m = context;
    return dict_set(m->into, key, m->from);
}

static TsrStatus method_fromkeys(Value *out, const CallArgs *args) {
    Value dict;
    TSR_TRY(dict_new(&dict));
    Merge m = {value_as_dict(dict), args->count > 2 ? args->values[2] : VALUE_NONE};
    return value_end_move(out, value_each(args->values[1], fill_key, &m, NULL), dict);
}

static TsrStatus dict_construct(Value *out, Type *type, const CallArgs *args) {
    (void)type;
    Value dict;
    TSR_TRY(dict_new(&dict));
    TsrStatus status = dict_update_from(value_as_dict(dict), args, 0, "dict");
    return value_end_move(out, status, dict);
}

static TsrStatus dict_binary(Value *out, BinaryOp op, Value a, Value b) {
    *out = VALUE_UNBOUND;
    if (op != OP_OR || !value_is_dict(a) || !value_is_dict(b)) return TSR_OK;
    Value copy;
    TSR_TRY(dict_copy(&copy, value_as_dict(a)));
    TsrStatus status = merge_dict(value_as_dict(copy), value_as_dict(b));
    return value_end_move(out, status, copy);
}

static TsrStatus dict_inplace(Value *out, BinaryOp op, Value self, Value b) {
    *out = VALUE_UNBOUND;
    if (op != OP_OR) return TSR_OK;
    TSR_TRY(dict_update(value_as_dict(self), b));
    *out = value_retain(self);
    return TSR_OK;
}

static const Method dict_methods[] = {
    {"get", method_get, ARGS_RANGE, 1, 2, "(key, default=None, /)", "The value of the key, or the default."},
    {"keys", method_keys, ARGS_NONE, 0, 0, "()", "A view of the keys."},
    {"values", method_values, ARGS_NONE, 0, 0, "()", "A view of the values."},
    {"items", method_items, ARGS_NONE, 0, 0, "()", "A view of the (key, value) pairs."},
    {"setdefault", method_setdefault, ARGS_RANGE, 1, 2, "(key, default=None, /)",
     "The value of the key, set to the default first if it is missing."},
    {"pop", method_pop, ARGS_RANGE, 1, 2, "(key[, default], /)", "Removes the key and gives its value."},
    {"popitem", method_popitem, ARGS_NONE, 0, 0, "()", "Removes and gives the last (key, value) pair."},
    {"update", method_update, ARGS_ANY, 0, 0, "([mapping or pairs], **names)", "Sets every key of the argument."},
    {"clear", method_clear, ARGS_NONE, 0, 0, "()", "Removes every key."},
    {"copy", method_copy, ARGS_NONE, 0, 0, "()", "A shallow copy."},
    {"__reversed__", method_reversed, ARGS_NONE, 0, 0, "()", NULL},
    {"fromkeys", method_fromkeys, ARGS_RANGE | METHOD_CLASS, 1, 2, "(iterable, value=None, /)",
     "A dict with the keys of the iterable, all with one value."},
    {0},
};

Type dict_type = {.obj = TYPE_HEADER,
                  .name = "dict",
                  .doc = "dict(mapping or pairs, **names): a mapping that keeps the order of insertion.",
                  .flags = TYPE_GC,
                  .construct = dict_construct,
                  .destroy = dict_destroy,
                  .traverse = dict_traverse,
                  .clear = dict_clear_slot,
                  .repr = dict_repr,
                  .hash = hash_refused,
                  .compare = dict_compare,
                  .length = dict_length,
                  .get_item = dict_get_item,
                  .set_item = dict_set_item,
                  .del_item = dict_del_item,
                  .contains = dict_contains,
                  .iter = dict_iter,
                  .binary = dict_binary,
                  .inplace = dict_inplace,
                  .methods = dict_methods};
