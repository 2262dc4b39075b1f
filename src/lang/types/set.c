/* set and frozenset. The table is probed and resized as CPython does it, so that sets of numbers and tuples of
 * numbers iterate in the same order (Objects/setobject.c of CPython 3.11 states the rules in its comments). */
#include "lang/object/args.h"
#include "dict.h"
#include "lang/object/exc.h"
#include "sequences.h"
#include "str.h"
#include "repr_size.h"
#include "lang/object/value_impl.h"

#include <string.h>

enum { LINEAR_PROBES = 9, PERTURB_SHIFT = 5, DELETED_HASH = -1 };

static bool slot_free(const SetEntry *e) { return e->key.tag == V_UNBOUND && e->hash == 0; }

/* The entry that holds the key, or NULL. */
static TsrStatus find_entry(SetEntry **out, const Set *s, Value key, int64_t hash) {
    uint64_t mask = (uint64_t)s->mask, perturb = (uint64_t)hash, i = perturb & mask;
    *out = NULL;
    TSR_TRY(tsr_interrupt_check()); /* every loop over the elements of a set comes by here */
    for (;; i = (i * 5 + 1 + (perturb >>= PERTURB_SHIFT)) & mask) {
        SetEntry *e = &s->table[i];
        int probes = i + LINEAR_PROBES <= mask ? LINEAR_PROBES : 0;
        for (; probes >= 0; probes--, e++) {
            if (slot_free(e)) return TSR_OK;
            if (e->hash != hash || e->key.tag == V_UNBOUND) continue;
            bool same;
            TSR_TRY(value_equal(&same, e->key, key));
            if (!same) continue;
            *out = e;
            return TSR_OK;
        }
    }
}

/* Where a key that is not there goes: the first free slot of its chain (deleted ones are not reused). */
static SetEntry *free_entry(SetEntry *table, int64_t mask_, int64_t hash) {
    uint64_t mask = (uint64_t)mask_, perturb = (uint64_t)hash, i = perturb & mask;
    for (;;) {
        SetEntry *e = &table[i];
        int probes = i + LINEAR_PROBES <= mask ? LINEAR_PROBES : 0;
        for (; probes >= 0; probes--, e++) {
            if (slot_free(e)) return e;
        }
        perturb >>= PERTURB_SHIFT;
        i = (i * 5 + 1 + perturb) & mask;
    }
}

static TsrStatus set_resize(Set *s, int64_t wanted) {
    int64_t size = 8;
    while (size <= wanted) {
        if (size > INT64_MAX / 64) return mem_error();
        size *= 2;
    }
    SetEntry *table, *old = s->table, kept[8];
    if (size == 8) {
        if (old == s->small) {
            memcpy(kept, s->small, sizeof kept);
            old = kept;
        }
        table = s->small;
        memset(table, 0, sizeof s->small);
    } else if ((table = tsr_calloc((size_t)size, sizeof *table)) == NULL) {
        return mem_error();
    }
    int64_t old_mask = s->mask;
    for (int64_t i = 0; i <= old_mask; i++) {
        if (TSR_UNLIKELY(tsr_interrupt_flag != 0) &&
            table != s->small) { /* the old table is whole: the set stays what it was */
            tsr_free(table);
            return tsr_interrupt_raise();
        }
        if (old[i].key.tag != V_UNBOUND) *free_entry(table, size - 1, old[i].hash) = old[i];
    }
    if (old != kept && old != s->small) tsr_free(old);
    s->table = table;
    s->mask = size - 1;
    s->fill = s->count;
    return TSR_OK;
}

/* A new table for what is in the set and as much again, or thrice that in a small one, as CPython grows it. */
static TsrStatus make_room(Set *s) { return set_resize(s, s->count > 50000 ? s->count * 2 : s->count * 4); }

/* Takes over the key, which is not in the set. */
static TsrStatus insert_new(Set *s, Value key, int64_t hash) {
    *free_entry(s->table, s->mask, hash) = (SetEntry){key, hash};
    s->fill++;
    s->count++;
    return s->fill * 5 < s->mask * 3 ? TSR_OK : make_room(s);
}

static TsrStatus add_hashed(Set *s, Value key, int64_t hash) {
    SetEntry *found;
    TSR_TRY(find_entry(&found, s, key, hash));
    return found != NULL ? TSR_OK : insert_new(s, value_retain(key), hash);
}

TsrStatus set_add(Set *s, Value key) {
    int64_t hash;
    TSR_TRY(value_hash(&hash, key));
    return add_hashed(s, key, hash);
}

/* Looking up a set in a set of frozensets works as if it were frozen. */
static TsrStatus frozenset_hash(int64_t *out, Value self);
static TsrStatus hash_for_lookup(int64_t *out, Value key) {
    return value_is_obj(key, &set_type) ? frozenset_hash(out, key) : value_hash(out, key);
}

static TsrStatus set_has(bool *out, const Set *s, Value key) {
    int64_t hash;
    SetEntry *found;
    TSR_TRY(hash_for_lookup(&hash, key));
    TSR_TRY(find_entry(&found, s, key, hash));
    *out = found != NULL;
    return TSR_OK;
}

static TsrStatus remove_hashed(bool *found, Set *s, Value key, int64_t hash) {
    SetEntry *e;
    TSR_TRY(find_entry(&e, s, key, hash));
    *found = e != NULL;
    if (e == NULL) return TSR_OK;
    Value old = e->key;
    *e = (SetEntry){VALUE_UNBOUND, DELETED_HASH};
    s->count--;
    value_release(old);
    return TSR_OK;
}

static TsrStatus set_remove(bool *found, Set *s, Value key) {
    int64_t hash;
    TSR_TRY(hash_for_lookup(&hash, key));
    return remove_hashed(found, s, key, hash);
}

static void set_empty(Set *s) {
    SetEntry *table = s->table, kept[8];
    int64_t mask = s->mask;
    if (table == s->small) {
        memcpy(kept, s->small, sizeof kept);
        table = kept;
    }
    memset(s->small, 0, sizeof s->small);
    s->table = s->small;
    s->mask = 7;
    s->fill = s->count = 0;
    for (int64_t i = 0; i <= mask; i++) value_release(table[i].key);
    if (table != kept) tsr_free(table);
}

TsrStatus set_new(Value *out, Type *type) {
    Set *s = obj_new(type, sizeof *s);
    if (s == NULL) return TSR_MEMORY_ERROR;
    memset(s->small, 0, sizeof s->small);
    s->table = s->small;
    s->mask = 7;
    s->fill = s->count = 0;
    s->hash = -1;
    gc_track(s);
    *out = value_obj_move(s);
    return TSR_OK;
}

/* As CPython's set_merge: room first, then entry by entry in table order. */
static TsrStatus merge_set(Set *s, const Set *other) {
    if (s == other || other->count == 0) return TSR_OK;
    if ((s->fill + other->count) * 5 >= s->mask * 3) TSR_TRY(set_resize(s, (s->count + other->count) * 2));
    if (s->fill == 0 && s->mask == other->mask && other->fill == other->count) {
        for (int64_t i = 0; i <= other->mask; i++) {
            if (tsr_interrupted_at(i)) TSR_TRY(tsr_interrupt_check());
            if (slot_free(&other->table[i])) continue;
            s->table[i] = other->table[i];
            value_retain(s->table[i].key);
            s->count = ++s->fill;
        }
        return TSR_OK;
    }
    int64_t position = 0;
    bool into_empty = s->fill == 0;
    for (SetEntry *e; (e = set_next(other, &position)) != NULL;) {
        if (into_empty) {
            *free_entry(s->table, s->mask, e->hash) = (SetEntry){value_retain(e->key), e->hash};
            s->fill++;
            s->count++;
            TSR_TRY(tsr_interrupt_check());
        } else {
            TSR_TRY(add_hashed(s, e->key, e->hash));
        }
    }
    return TSR_OK;
}

static TsrStatus merge_dict_keys(Set *s, const Dict *d) {
    if ((s->fill + d->count) * 5 >= s->mask * 3) TSR_TRY(set_resize(s, (s->count + d->count) * 2));
    int64_t position = 0;
    for (DictEntry *e; (e = dict_next(d, &position)) != NULL;) TSR_TRY(add_hashed(s, e->key, e->hash));
    return TSR_OK;
}

static TsrStatus add_item(Value item, void *set) { return set_add(set, item); }

TsrStatus set_update(Set *s, Value iterable) {
    if (value_is_set(iterable)) return merge_set(s, value_as_set(iterable));
    if (value_is_dict(iterable)) return merge_dict_keys(s, value_as_dict(iterable));
    return value_each(iterable, add_item, s, NULL);
}

TsrStatus set_new_iterable(Value *out, Type *type, Value iterable) {
    Value set;
    TSR_TRY(set_new(&set, type));
    TsrStatus status = iterable.tag == V_UNBOUND ? TSR_OK : set_update(value_as_set(set), iterable);
    return value_end_move(out, status, set);
}

/* --- slots --- */

static void set_destroy(Obj *self) {
    set_empty((Set *)self);
    obj_free(self, sizeof(Set));
}

static void set_traverse(Obj *self, GcVisit visit, void *context) {
    const Set *s = (Set *)self;
    for (int64_t i = 0; i <= s->mask; i++) gc_visit_value(s->table[i].key, visit, context);
}

static void set_clear_slot(Obj *self) { set_empty((Set *)self); }

static TsrStatus write_items(TsrText *out, const Set *s) {
    int64_t position = 0;
    bool first = true;
    for (SetEntry *e; (e = set_next(s, &position)) != NULL; first = false) {
        if (!first) TSR_TRY(tsr_text_puts(out, ", "));
        TSR_TRY(value_repr(out, e->key));
    }
    return TSR_OK;
}

static TsrStatus set_repr(TsrText *out, Value self) {
    const Set *s = value_as_set(self);
    bool frozen = self.o->type == &frozenset_type;
    if (s->count == 0) return tsr_text_printf(out, "%s()", value_type_name(self));
    ReprGuard guard;
    bool again;
    TSR_TRY(repr_enter(&guard, self.o, &again));
    if (again) return tsr_text_printf(out, "%s(...)", value_type_name(self));
    TsrStatus status = guard.outer == NULL ? repr_reserve(out, self) : TSR_OK;
    if (status == TSR_OK) status = tsr_text_puts(out, frozen ? "frozenset({" : "{");
    if (status == TSR_OK) status = write_items(out, s);
    if (status == TSR_OK) status = tsr_text_puts(out, frozen ? "})" : "}");
    repr_leave(&guard);
    return status;
}

static uint64_t shuffle_bits(uint64_t h) { return ((h ^ 89869747u) ^ (h << 16)) * 3644798167u; }

static TsrStatus frozenset_hash(int64_t *out, Value self) {
    Set *s = value_as_set(self);
    if (s->hash != -1 && self.o->type == &frozenset_type) {
        *out = s->hash;
        return TSR_OK;
    }
    uint64_t hash = 0;
    int64_t position = 0;
    for (SetEntry *e; (e = set_next(s, &position)) != NULL;) hash ^= shuffle_bits((uint64_t)e->hash);
    hash ^= ((uint64_t)s->count + 1) * 1927868237u;
    hash ^= (hash >> 11) ^ (hash >> 25);
    hash = hash * 69069u + 907133923u;
    if (hash == (uint64_t)-1) hash = 590923713u;
    s->hash = (int64_t)hash;
    *out = s->hash;
    return TSR_OK;
}

static TsrStatus is_subset(bool *out, const Set *a, const Set *b) {
    *out = a->count <= b->count;
    int64_t position = 0;
    for (SetEntry *e; *out && (e = set_next(a, &position)) != NULL;) {
        SetEntry *found;
        TSR_TRY(find_entry(&found, b, e->key, e->hash));
        *out = found != NULL;
    }
    return TSR_OK;
}

static TsrStatus set_compare(Value *out, CompareOp op, Value a, Value b) {
    *out = VALUE_UNBOUND;
    if (!value_is_set(a) || !value_is_set(b)) return TSR_OK;
    const Set *s = value_as_set(a), *t = value_as_set(b);
    bool yes = false;
    switch (op) {
    case CMP_EQ:
    case CMP_NE:
        if (s->count == t->count) TSR_TRY(is_subset(&yes, s, t));
        yes = yes == (op == CMP_EQ);
        break;
    case CMP_LE: TSR_TRY(is_subset(&yes, s, t)); break;
    case CMP_LT:
        if (s->count < t->count) TSR_TRY(is_subset(&yes, s, t));
        break;
    case CMP_GE: TSR_TRY(is_subset(&yes, t, s)); break;
    default:
        if (t->count < s->count) TSR_TRY(is_subset(&yes, t, s));
    }
    *out = value_bool(yes);
    return TSR_OK;
}

static TsrStatus set_length(int64_t *out, Value self) {
    *out = value_as_set(self)->count;
    return TSR_OK;
}

static TsrStatus set_contains(bool *out, Value self, Value item) { return set_has(out, value_as_set(self), item); }

typedef struct SetIter {
    GcObj gc;
    Set *set; /* NULL when exhausted */
    int64_t position, count;
} SetIter;

static void iter_destroy(Obj *self) {
    obj_xrelease(((SetIter *)self)->set);
    obj_free(self, sizeof(SetIter));
}
static void iter_traverse(Obj *self, GcVisit visit, void *context) {
    gc_visit_obj(((SetIter *)self)->set, visit, context);
}
static void iter_clear(Obj *self) {
    Set *s = ((SetIter *)self)->set;
    ((SetIter *)self)->set = NULL;
    obj_xrelease(s);
}

static TsrStatus iter_next(Value *out, Value self) {
    SetIter *it = (SetIter *)self.o;
    *out = VALUE_UNBOUND;
    if (it->set == NULL) return TSR_OK;
    if (it->set->count != it->count) {
        it->count = -1;
        return tsr_error(TSR_RUNTIME_ERROR, "Set changed size during iteration");
    }
    SetEntry *e = set_next(it->set, &it->position);
    if (e == NULL) iter_clear(self.o);
    else *out = value_retain(e->key);
    return TSR_OK;
}

static Type set_iter_type = {.obj = TYPE_HEADER,
                             .name = "set_iterator",
                             .flags = TYPE_GC,
                             .destroy = iter_destroy,
                             .traverse = iter_traverse,
                             .clear = iter_clear,
                             .iter_next = iter_next};

static TsrStatus set_iter(Value *out, Value self) {
    SetIter *it = obj_new(&set_iter_type, sizeof *it);
    if (it == NULL) return TSR_MEMORY_ERROR;
    it->set = obj_retain(self.o);
    it->count = it->set->count;
    gc_track(it);
    *out = value_obj_move(it);
    return TSR_OK;
}

/* --- algebra; each makes a new set of the type of `a` --- */

static TsrStatus copy_of(Value *out, Type *type, Value set) {
    if (type == &frozenset_type && value_is_obj(set, &frozenset_type)) {
        *out = value_retain(set);
        return TSR_OK;
    }
    return set_new_iterable(out, type, set);
}

/* The other operand of a method as a set: itself, or a set of the iterable's elements. */
static TsrStatus as_set(Value *out, Value v) {
    if (value_is_set(v)) {
        *out = value_retain(v);
        return TSR_OK;
    }
    return set_new_iterable(out, &set_type, v);
}

static TsrStatus select_into(Set *result, const Set *from, const Set *other, bool wanted) {
    int64_t position = 0;
    for (SetEntry *e; (e = set_next(from, &position)) != NULL;) {
        SetEntry *found;
        TSR_TRY(find_entry(&found, other, e->key, e->hash));
        if ((found != NULL) == wanted) TSR_TRY(add_hashed(result, e->key, e->hash));
    }
    return TSR_OK;
}

static TsrStatus finish(Value *out, Value set, TsrStatus status) { return value_end_move(out, status, set); }

typedef struct Intersection {
    Set *result;
    const Set *among;
} Intersection;

static TsrStatus and_item(Value item, void *context) {
    const Intersection *i = context;
    int64_t hash;
    SetEntry *found;
    TSR_TRY(value_hash(&hash, item));
    TSR_TRY(find_entry(&found, i->among, item, hash));
    return found != NULL ? add_hashed(i->result, item, hash) : TSR_OK;
}

/* CPython iterates over the smaller of two sets, over the argument when it is no set. */
static TsrStatus set_and(Value *out, Type *type, const Set *a, Value b) {
    Value result, other;
    if (!value_is_set(b)) {
        TSR_TRY(set_new(&result, type));
        return finish(out, result, value_each(b, and_item, &(Intersection){value_as_set(result), a}, NULL));
    }
    TSR_TRY(as_set(&other, b));
    const Set *t = value_as_set(other);
    TsrStatus status = set_new(&result, type);
    if (status == TSR_OK) {
        bool swap = value_is_set(b) && t->count > a->count;
        status = finish(out, result, select_into(value_as_set(result), swap ? a : t, swap ? t : a, true));
    }
    value_release(other);
    return status;
}

static TsrStatus remove_all_of(Set *s, const Set *other) {
    int64_t position = 0;
    bool found;
    for (SetEntry *e; (e = set_next(other, &position)) != NULL;) TSR_TRY(remove_hashed(&found, s, e->key, e->hash));
    return TSR_OK;
}

static TsrStatus remove_item(Value item, void *set) {
    bool found;
    return set_remove(&found, set, item);
}

/* In place; packs the table when a quarter of it is deleted entries, as CPython does. */
static TsrStatus set_subtract(Set *s, Value b) {
    if (value_is_set(b) && value_as_set(b) == s) {
        set_empty(s);
        return TSR_OK;
    }
    TSR_TRY(value_is_set(b) ? remove_all_of(s, value_as_set(b)) : value_each(b, remove_item, s, NULL));
    return s->fill - s->count <= s->mask / 4 ? TSR_OK : make_room(s);
}

/* A much larger set is copied and thinned out; else what is kept is added one by one. */
static TsrStatus set_sub(Value *out, Type *type, const Set *a, Value b) {
    Value result, other;
    bool sized = value_is_set(b) || value_is_dict(b);
    int64_t size = value_is_set(b) ? value_as_set(b)->count : value_is_dict(b) ? value_as_dict(b)->count : 0;
    if (!sized || a->count / 4 > size) {
        TSR_TRY(set_new_iterable(&result, type, value_lent((void *)a)));
        return finish(out, result, set_subtract(value_as_set(result), b));
    }
    TSR_TRY(as_set(&other, b));
    TsrStatus status = set_new(&result, type);
    if (status == TSR_OK)
        status = finish(out, result, select_into(value_as_set(result), a, value_as_set(other), false));
    value_release(other);
    return status;
}

static TsrStatus set_or(Value *out, Type *type, Value a, Value b) {
    Value result;
    TSR_TRY(set_new_iterable(&result, type, a));
    return finish(out, result, set_update(value_as_set(result), b));
}

static TsrStatus toggle_all(Set *result, const Set *other) {
    int64_t position = 0;
    for (SetEntry *e; (e = set_next(other, &position)) != NULL;) {
        bool found;
        TSR_TRY(set_remove(&found, result, e->key));
        if (!found) TSR_TRY(add_hashed(result, e->key, e->hash));
    }
    return TSR_OK;
}

/* other is copied, then each element of a toggles its membership, as CPython does. */
static TsrStatus set_xor(Value *out, Type *type, const Set *a, Value b) {
    Value result;
    TSR_TRY(set_new_iterable(&result, type, b));
    return finish(out, result, toggle_all(value_as_set(result), a));
}

static TsrStatus combine(Value *out, BinaryOp op, Type *type, Value a, Value b) {
    switch (op) {
    case OP_AND: return set_and(out, type, value_as_set(a), b);
    case OP_OR: return set_or(out, type, a, b);
    case OP_SUB: return set_sub(out, type, value_as_set(a), b);
    case OP_XOR: return set_xor(out, type, value_as_set(a), b);
    default: *out = VALUE_UNBOUND; return TSR_OK;
    }
}

static TsrStatus set_binary(Value *out, BinaryOp op, Value a, Value b) {
    *out = VALUE_UNBOUND;
    if (!value_is_set(a) || !value_is_set(b)) return TSR_OK;
    return combine(out, op, a.o->type, a, b);
}

/* Moves the contents of `from` (consumed) into `self`. */
static void take_contents(Set *self, Value from) {
    Set *f = value_as_set(from);
    Set old = *self;
    bool old_small = self->table == self->small, new_small = f->table == f->small;
    self->table = new_small ? self->small : f->table;
    memcpy(self->small, f->small, sizeof self->small);
    self->mask = f->mask;
    self->fill = f->fill;
    self->count = f->count;
    memcpy(f->small, old.small, sizeof f->small);
    f->table = old_small ? f->small : old.table;
    f->mask = old.mask;
    f->fill = old.fill;
    f->count = old.count;
    value_release(from);
}

static TsrStatus set_inplace(Value *out, BinaryOp op, Value self, Value b) {
    *out = VALUE_UNBOUND;
    if (!value_is_set(b) || self.o->type != &set_type) return TSR_OK;
    if (op == OP_OR) {
        TSR_TRY(set_update(value_as_set(self), b));
    } else if (op == OP_SUB) {
        TSR_TRY(set_subtract(value_as_set(self), b));
    } else if (op == OP_XOR) {
        if (b.o == self.o) set_empty(value_as_set(self));
        else TSR_TRY(toggle_all(value_as_set(self), value_as_set(b)));
    } else if (op == OP_AND) {
        Value result;
        TSR_TRY(combine(&result, op, &set_type, self, b));
        take_contents(value_as_set(self), result);
    } else {
        return TSR_OK;
    }
    *out = value_retain(self);
    return TSR_OK;
}

/* --- methods --- */

static Set *self_set(const CallArgs *args) { return value_as_set(args->values[0]); }

static TsrStatus fold_method(Value *out, BinaryOp op, const CallArgs *args) {
    Value result;
    Type *type = args->values[0].o->type;
    TSR_TRY(copy_of(&result, type, args->values[0]));
    for (int i = 1; i < args->count; i++) {
        Value next;
        TsrStatus status = combine(&next, op, type, result, args->values[i]);
        value_release(result);
        TSR_TRY(status);
        result = next;
    }
    *out = result;
    return TSR_OK;
}

static TsrStatus method_union(Value *out, const CallArgs *args) { return fold_method(out, OP_OR, args); }
static TsrStatus method_intersection(Value *out, const CallArgs *args) { return fold_method(out, OP_AND, args); }
static TsrStatus method_difference(Value *out, const CallArgs *args) { return fold_method(out, OP_SUB, args); }
static TsrStatus method_symmetric(Value *out, const CallArgs *args) { return fold_method(out, OP_XOR, args); }

static TsrStatus fold_update(Value *out, BinaryOp op, const CallArgs *args) {
    Value result;
    TSR_TRY(fold_method(&result, op, args));
    take_contents(self_set(args), result);
    *out = VALUE_NONE;
    return TSR_OK;
}

static TsrStatus method_intersection_update(Value *out, const CallArgs *args) { return fold_update(out, OP_AND, args); }
static TsrStatus method_difference_update(Value *out, const CallArgs *args) {
    *out = VALUE_NONE;
    for (int i = 1; i < args->count; i++) TSR_TRY(set_subtract(self_set(args), args->values[i]));
    return TSR_OK;
}
static TsrStatus method_symmetric_update(Value *out, const CallArgs *args) {
    Value other;
    *out = VALUE_NONE;
    if (value_is_same(args->values[0], args->values[1])) {
        set_empty(self_set(args));
        return TSR_OK;
    }
    TSR_TRY(as_set(&other, args->values[1]));
    TsrStatus status = toggle_all(self_set(args), value_as_set(other));
    value_release(other);
    return status;
}

static TsrStatus method_update(Value *out, const CallArgs *args) {
    *out = VALUE_NONE;
    for (int i = 1; i < args->count; i++) TSR_TRY(set_update(self_set(args), args->values[i]));
    return TSR_OK;
}

static TsrStatus method_add(Value *out, const CallArgs *args) {
    *out = VALUE_NONE;
    return set_add(self_set(args), args->values[1]);
}

static TsrStatus method_discard(Value *out, const CallArgs *args) {
    bool found;
    *out = VALUE_NONE;
    return set_remove(&found, self_set(args), args->values[1]);
}

static TsrStatus method_remove(Value *out, const CallArgs *args) {
    bool found;
    *out = VALUE_NONE;
    TSR_TRY(set_remove(&found, self_set(args), args->values[1]));
    return found ? TSR_OK : exc_raise_value(TSR_KEY_ERROR, args->values[1]);
}

static TsrStatus method_pop(Value *out, const CallArgs *args) {
    Set *s = self_set(args);
    int64_t position = 0;
    SetEntry *e = set_next(s, &position);
    if (e == NULL) {
        Value text;
        TSR_TRY(str_new_c(&text, "pop from an empty set"));
        TsrStatus status = exc_raise_value(TSR_KEY_ERROR, text);
        value_release(text);
        return status;
    }
    *out = e->key;
    *e = (SetEntry){VALUE_UNBOUND, DELETED_HASH};
    s->count--;
    return TSR_OK;
}

static TsrStatus method_clear(Value *out, const CallArgs *args) {
    set_empty(self_set(args));
    *out = VALUE_NONE;
    return TSR_OK;
}

static TsrStatus method_copy(Value *out, const CallArgs *args) {
    return copy_of(out, args->values[0].o->type, args->values[0]);
}

static TsrStatus relation(Value *out, CompareOp op, const CallArgs *args) {
    Value other;
    TSR_TRY(as_set(&other, args->values[1]));
    TsrStatus status = set_compare(out, op, args->values[0], other);
    value_release(other);
    return status;
}

static TsrStatus method_issubset(Value *out, const CallArgs *args) { return relation(out, CMP_LE, args); }
static TsrStatus method_issuperset(Value *out, const CallArgs *args) { return relation(out, CMP_GE, args); }

static TsrStatus method_isdisjoint(Value *out, const CallArgs *args) {
    Value both;
    TSR_TRY(set_and(&both, &set_type, self_set(args), args->values[1]));
    *out = value_bool(value_as_set(both)->count == 0);
    value_release(both);
    return TSR_OK;
}

static const Method set_methods[] = {
#include "set_methods.def"
    {"add", method_add, ARGS_ONE, 0, 0, "(element, /)", "Adds an element."},
    {"discard", method_discard, ARGS_ONE, 0, 0, "(element, /)", "Removes an element if it is there."},
    {"remove", method_remove, ARGS_ONE, 0, 0, "(element, /)", "Removes an element; KeyError when it is missing."},
    {"pop", method_pop, ARGS_NONE, 0, 0, "()", "Removes and gives some element."},
    {"clear", method_clear, ARGS_NONE, 0, 0, "()", "Removes every element."},
    {"update", method_update, ARGS_RANGE, 0, -1, "(*others)", "Adds the elements of all."},
    {"intersection_update", method_intersection_update, ARGS_RANGE, 0, -1, "(*others)",
     "Keeps the elements common to all."},
    {"difference_update", method_difference_update, ARGS_RANGE, 0, -1, "(*others)",
     "Removes the elements of the others."},
    {"symmetric_difference_update", method_symmetric_update, ARGS_ONE, 0, 0, "(other, /)",
     "Keeps the elements in exactly one."},
    {0},
};

static const Method frozenset_methods[] = {
#include "set_methods.def"
    {0},
};

static TsrStatus set_construct(Value *out, Type *type, const CallArgs *args) {
    TSR_TRY(args_no_keywords(args, type->name));
    TSR_TRY(args_count(args, 0, 0, 1, type->name));
    if (args->count == 1 && type == &frozenset_type && value_is_obj(args->values[0], type))
        return copy_of(out, type, args->values[0]);
    return set_new_iterable(out, type, arg_at(args, 0));
}

#define SET_SLOTS \
    .flags = TYPE_GC, .construct = set_construct, .destroy = set_destroy, .traverse = set_traverse, \
    .clear = set_clear_slot, .repr = set_repr, .compare = set_compare, .length = set_length, .contains = set_contains, \
    .iter = set_iter, .binary = set_binary
Type set_type = {.obj = TYPE_HEADER,
                 .name = "set",
                 .doc = "set(iterable): elements without order or repetition.",
                 SET_SLOTS,
                 .hash = hash_refused,
                 .inplace = set_inplace,
                 .methods = set_methods};
Type frozenset_type = {.obj = TYPE_HEADER,
                       .name = "frozenset",
                       .doc = "frozenset(iterable): a set that never changes.",
                       SET_SLOTS,
                       .hash = frozenset_hash,
                       .methods = frozenset_methods};
