/* deque.c: deque of Python's collections: a ring of values that grows and shrinks at both ends, bounded if it has a
 * maxlen. */
#include "lang/object/args.h"
#include "lang/types/collections.h"
#include "lang/object/exc.h"
#include "lang/types/sequences.h"
#include "lang/types/indices.h"
#include "lang/object/value_impl.h"

#include <string.h>

typedef struct Deque {
    GcObj gc;
    Value *items; /* item i is at (first + i) modulo capacity, which is 0 or a power of 2; owned */
    int64_t first, count, capacity;
    int64_t limit;    /* maxlen; -1: none */
    uint64_t changes; /* goes up with every item added or removed: iterators look at it */
} Deque;

static Deque *as_deque(Value v) { return (Deque *)v.o; }
static bool is_deque(Value v) { return value_is_obj(v, &deque_type); }
static Value *slot(const Deque *d, int64_t i) { return &d->items[(d->first + i) & (d->capacity - 1)]; }
int64_t deque_count(Value deque) { return as_deque(deque)->count; }
Value deque_item(Value deque, int64_t i) { return *slot(as_deque(deque), i); }

/* --- both ends --- */

static TsrStatus make_room(Deque *d) {
    if (d->count < d->capacity) return TSR_OK;
    int64_t capacity = TSR_MAX(d->capacity * 2, 8);
    Value *items = capacity < INT64_MAX / 64 ? tsr_malloc((size_t)capacity * sizeof *items) : NULL;
    if (items == NULL) return mem_error();
    for (int64_t i = 0; i < d->count; i++) items[i] = *slot(d, i);
    tsr_free(d->items);
    d->items = items;
    d->capacity = capacity;
    d->first = 0;
    return TSR_OK;
}

/* Both give the caller the value: the deque is not empty. */
static Value take_first(Deque *d) {
    Value v = *slot(d, 0);
    d->first = (d->first + 1) & (d->capacity - 1);
    d->count--;
    d->changes++;
    return v;
}

static Value take_last(Deque *d) {
    d->changes++;
    return *slot(d, --d->count);
}

static TsrStatus add_last(Deque *d, Value v) {
    TSR_TRY(make_room(d));
    *slot(d, d->count++) = value_retain(v);
    d->changes++;
    if (d->limit >= 0 && d->count > d->limit) value_release(take_first(d));
    return TSR_OK;
}

static TsrStatus add_first(Deque *d, Value v) {
    TSR_TRY(make_room(d));
    d->first = (d->first - 1) & (d->capacity - 1);
    d->count++;
    *slot(d, 0) = value_retain(v);
    d->changes++;
    if (d->limit >= 0 && d->count > d->limit) value_release(take_last(d));
    return TSR_OK;
}

/* Turns right by n places, left if n < 0. */
static void rotate(Deque *d, int64_t n) {
    if (d->count < 2) return;
    n %= d->count;
    if (n < 0) n += d->count;
    bool left = n > d->count / 2;
    for (int64_t i = left ? d->count - n : n; i > 0;
         i--) { /* an item that is moved leaves a free place: nothing can fail */
        if (left) {
            Value v = take_first(d);
            *slot(d, d->count++) = v;
        } else {
            Value v = take_last(d);
            d->first = (d->first - 1) & (d->capacity - 1);
            d->count++;
            *slot(d, 0) = v;
        }
    }
}

typedef struct Adding {
    Deque *deque;
    TsrStatus (*add)(Deque *, Value);
} Adding;

static TsrStatus add_one(Value item, void *context) {
    const Adding *a = context;
    return a->add(a->deque, item);
}

static TsrStatus add_all(Deque *d, Value iterable, TsrStatus (*add)(Deque *, Value)) {
    Adding adding = {d, add};
    Value source;
    if (!is_deque(iterable) || as_deque(iterable) != d) return value_each(iterable, add_one, &adding, NULL);
    TSR_TRY(list_new_iterable(&source, iterable)); /* itself: as it is now */
    TsrStatus status = value_each(source, add_one, &adding, NULL);
    value_release(source);
    return status;
}

static void empty(Deque *d) {
    Deque old = *d;
    d->items = NULL;
    d->first = d->count = d->capacity = 0;
    d->changes++;
    for (int64_t i = 0; i < old.count; i++) value_release(*slot(&old, i));
    tsr_free(old.items);
}

/* --- slots --- */

static void deque_destroy(Obj *self) {
    empty((Deque *)self);
    obj_free(self, sizeof(Deque));
}

static void deque_traverse(Obj *self, GcVisit visit, void *context) {
    for (int64_t i = 0; i < ((Deque *)self)->count; i++) gc_visit_value(*slot((Deque *)self, i), visit, context);
}

static void deque_clear(Obj *self) { empty((Deque *)self); }

static TsrStatus deque_new(Value *out, int64_t limit) {
    Deque *d = obj_new(&deque_type, sizeof *d);
    if (d == NULL) return mem_error();
    d->limit = limit;
    gc_track(d);
    *out = value_obj_move(d);
    return TSR_OK;
}

static TsrStatus deque_construct(Value *out, Type *type, const CallArgs *args) {
    static const char *const names[] = {"iterable", "maxlen"};
    static const ArgSpec spec = {"deque", names, 2, 0, 2, 0};
    Value given[2], made;
    int64_t limit = -1;
    (void)type;
    TSR_TRY(args_parse(given, args, 0, &spec));
    if (given[1].tag != V_UNBOUND && !value_is_none(given[1])) {
        if (!value_is_int(given[1])) return tsr_error(TSR_TYPE_ERROR, "an integer is required");
        TSR_TRY(value_to_index(&limit, given[1]));
        if (limit < 0) return tsr_error(TSR_VALUE_ERROR, "maxlen must be non-negative");
    }
    TSR_TRY(deque_new(&made, limit));
    return value_end_move(out, given[0].tag != V_UNBOUND ? add_all(as_deque(made), given[0], add_last) : TSR_OK, made);
}

/* The items as a list: what lists do alike is asked of them. */
static TsrStatus as_list(Value *out, Value self) {
    const Deque *d = as_deque(self);
    TSR_TRY(list_new(out, d->count));
    List *l = value_as_list(*out);
    for (int64_t i = 0; i < d->count; i++) l->items[l->count++] = value_retain(*slot(d, i));
    return TSR_OK;
}

static TsrStatus deque_repr(TsrText *out, Value self) {
    const Deque *d = as_deque(self);
    ReprGuard guard;
    bool again;
    Value list;
    TSR_TRY(repr_enter(&guard, self.o, &again));
    if (again) return tsr_text_puts(out, "[...]");
    TsrStatus status = as_list(&list, self);
    if (status == TSR_OK) {
        status = tsr_text_puts(out, "deque(");
        if (status == TSR_OK) status = value_repr(out, list);
        if (status == TSR_OK && d->limit >= 0) status = tsr_text_printf(out, ", maxlen=%lld", (long long)d->limit);
        if (status == TSR_OK) status = tsr_text_putc(out, ')');
        value_release(list);
    }
    repr_leave(&guard);
    return status;
}

static TsrStatus deque_compare(Value *out, CompareOp op, Value a, Value b) {
    *out = VALUE_UNBOUND;
    return is_deque(a) && is_deque(b) ? value_compare_by(out, op, as_list, a, b) : TSR_OK;
}

static TsrStatus deque_length(int64_t *out, Value self) {
    *out = as_deque(self)->count;
    return TSR_OK;
}

static TsrStatus index_of(int64_t *out, const Deque *d, Value index) {
    if (!value_is_int(index) && index.tag != V_TENSOR)
        return tsr_error(TSR_TYPE_ERROR, "sequence index must be integer, not '%s'", value_type_name(index));
    TSR_TRY(value_to_index(out, index));
    return index_wrap(out, d->count) ? TSR_OK : tsr_error(TSR_INDEX_ERROR, "deque index out of range");
}

static TsrStatus deque_get_item(Value *out, Value self, Value index) {
    int64_t i;
    TSR_TRY(index_of(&i, as_deque(self), index));
    *out = value_retain(*slot(as_deque(self), i));
    return TSR_OK;
}

static TsrStatus deque_set_item(Value self, Value index, Value value) {
    int64_t i;
    TSR_TRY(index_of(&i, as_deque(self), index));
    value_set_move(slot(as_deque(self), i), value_retain(value));
    return TSR_OK;
}

static void remove_at(Deque *d, int64_t i) {
    rotate(d, -i);
    Value v = take_first(d);
    rotate(d, i);
    value_release(v);
}

static TsrStatus deque_del_item(Value self, Value index) {
    int64_t i;
    TSR_TRY(index_of(&i, as_deque(self), index));
    remove_at(as_deque(self), i);
    return TSR_OK;
}

/* The first place in [start, stop) of the value, or -1. */
static TsrStatus find(int64_t *out, Deque *d, Value value, int64_t start, int64_t stop) {
    uint64_t changes = d->changes;
    *out = -1;
    for (int64_t i = start; i < stop && *out < 0; i++) {
        bool same;
        Value item = value_retain(*slot(d, i));
        TsrStatus status = value_equal(&same, item, value);
        value_release(item);
        TSR_TRY(status);
        if (d->changes != changes) return tsr_error(TSR_RUNTIME_ERROR, "deque mutated during iteration");
        if (same) *out = i;
        TSR_TRY(tsr_interrupt_check());
    }
    return TSR_OK;
}

static TsrStatus deque_contains(bool *out, Value self, Value item) {
    int64_t at;
    TSR_TRY(find(&at, as_deque(self), item, 0, as_deque(self)->count));
    *out = at >= 0;
    return TSR_OK;
}

static TsrStatus copy_of(Value *out, Value self) {
    Value made;
    TSR_TRY(deque_new(&made, as_deque(self)->limit));
    return value_end_move(out, add_all(as_deque(made), self, add_last), made);
}

/* `times` times the items; of a bounded deque the last of them. */
static TsrStatus repeat(Value *out, Value self, int64_t times) {
    Value list, made;
    TSR_TRY(as_list(&list, self));
    TsrStatus status = deque_new(&made, as_deque(self)->limit);
    if (status == TSR_OK) {
        for (int64_t t = 0; t < times && status == TSR_OK && value_as_list(list)->count > 0; t++)
            status = add_all(as_deque(made), list, add_last);
        status = value_end_move(out, status, made);
    }
    value_release(list);
    return status;
}

static TsrStatus times_of(int64_t *out, bool *number, Value v) {
    *number = value_is_int(v);
    return *number ? value_to_index(out, v) : TSR_OK;
}

static TsrStatus deque_binary(Value *out, BinaryOp op, Value a, Value b) {
    *out = VALUE_UNBOUND;
    if (op == OP_ADD && is_deque(a) && is_deque(b)) {
        Value made;
        TSR_TRY(copy_of(&made, a));
        return value_end_move(out, add_all(as_deque(made), b, add_last), made);
    }
    if (op == OP_ADD && is_deque(a))
        return tsr_error(TSR_TYPE_ERROR, "can only concatenate deque (not \"%s\") to deque", value_type_name(b));
    if (op != OP_MUL) return TSR_OK;
    int64_t times;
    bool number;
    TSR_TRY(times_of(&times, &number, is_deque(a) ? b : a));
    return number ? repeat(out, is_deque(a) ? a : b, times) : TSR_OK;
}

static TsrStatus deque_inplace(Value *out, BinaryOp op, Value self, Value b) {
    int64_t times;
    bool number = false;
    *out = VALUE_UNBOUND;
    if (op == OP_MUL) TSR_TRY(times_of(&times, &number, b));
    if (op != OP_ADD && !number) return TSR_OK;
    if (number) {
        Value repeated;
        TSR_TRY(repeat(&repeated, self, times));
        empty(as_deque(self));
        TsrStatus status = add_all(as_deque(self), repeated, add_last);
        value_release(repeated);
        TSR_TRY(status);
    } else {
        TSR_TRY(add_all(as_deque(self), b, add_last));
    }
    *out = value_retain(self);
    return TSR_OK;
}

/* --- iterators --- */

typedef struct DequeIter {
    GcObj gc;
    Deque *deque; /* owned */
    int64_t done; /* items given */
    uint64_t changes;
    bool backwards;
} DequeIter;

static void iter_destroy(Obj *self) {
    obj_xrelease(((DequeIter *)self)->deque);
    obj_free(self, sizeof(DequeIter));
}

static void iter_traverse(Obj *self, GcVisit visit, void *context) {
    gc_visit_obj(((DequeIter *)self)->deque, visit, context);
}

static void iter_clear(Obj *self) {
    Deque *d = ((DequeIter *)self)->deque;
    ((DequeIter *)self)->deque = NULL;
    obj_xrelease(d);
}

static TsrStatus iter_next(Value *out, Value self) {
    DequeIter *it = (DequeIter *)self.o;
    const Deque *d = it->deque;
    *out = VALUE_UNBOUND;
    if (d == NULL) return TSR_OK;
    if (d->changes != it->changes) {
        iter_clear(self.o);
        return tsr_error(TSR_RUNTIME_ERROR, "deque mutated during iteration");
    }
    if (it->done == d->count) {
        iter_clear(self.o);
        return TSR_OK;
    }
    *out = value_retain(*slot(d, it->backwards ? d->count - 1 - it->done : it->done));
    it->done++;
    return TSR_OK;
}

#define ITER_TYPE(symbol, text) \
    static Type symbol = {.obj = TYPE_HEADER, \
                          .name = text, \
                          .module = "_collections", \
                          .flags = TYPE_GC, \
                          .destroy = iter_destroy, \
                          .traverse = iter_traverse, \
                          .clear = iter_clear, \
                          .iter_next = iter_next, \
                          .next_is_identity_iter = 1}
ITER_TYPE(iter_type, "_deque_iterator");
ITER_TYPE(reverse_type, "_deque_reverse_iterator");

static TsrStatus iter_new(Value *out, Value self, bool backwards) {
    DequeIter *it = obj_new(backwards ? &reverse_type : &iter_type, sizeof *it);
    if (it == NULL) return mem_error();
    it->deque = obj_retain(self.o);
    it->changes = it->deque->changes;
    it->backwards = backwards;
    gc_track(it);
    *out = value_obj_move(it);
    return TSR_OK;
}

static TsrStatus deque_iter(Value *out, Value self) { return iter_new(out, self, false); }

/* --- methods --- */

static Deque *self_of(const CallArgs *args) { return as_deque(args->values[0]); }

static TsrStatus method_append(Value *out, const CallArgs *args) {
    *out = VALUE_NONE;
    return add_last(self_of(args), args->values[1]);
}

static TsrStatus method_appendleft(Value *out, const CallArgs *args) {
    *out = VALUE_NONE;
    return add_first(self_of(args), args->values[1]);
}

static TsrStatus method_extend(Value *out, const CallArgs *args) {
    *out = VALUE_NONE;
    return add_all(self_of(args), args->values[1], add_last);
}

static TsrStatus method_extendleft(Value *out, const CallArgs *args) {
    *out = VALUE_NONE;
    return add_all(self_of(args), args->values[1], add_first);
}

static TsrStatus method_pop(Value *out, const CallArgs *args) {
    if (self_of(args)->count == 0) return tsr_error(TSR_INDEX_ERROR, "pop from an empty deque");
    *out = take_last(self_of(args));
    return TSR_OK;
}

static TsrStatus method_popleft(Value *out, const CallArgs *args) {
    if (self_of(args)->count == 0) return tsr_error(TSR_INDEX_ERROR, "pop from an empty deque");
    *out = take_first(self_of(args));
    return TSR_OK;
}

static TsrStatus method_clear(Value *out, const CallArgs *args) {
    *out = VALUE_NONE;
    empty(self_of(args));
    return TSR_OK;
}

static TsrStatus method_copy(Value *out, const CallArgs *args) { return copy_of(out, args->values[0]); }

static TsrStatus method_count(Value *out, const CallArgs *args) {
    Value list;
    TSR_TRY(as_list(&list, args->values[0]));
    TsrStatus status = value_call_method(out, list, "count", 1, args->values + 1);
    value_release(list);
    return status;
}

static TsrStatus not_there(Value v) {
    TsrText text = {0};
    TsrStatus status = value_repr(&text, v);
    if (status == TSR_OK) status = tsr_error(TSR_VALUE_ERROR, "%s is not in deque", text.data);
    tsr_text_free(&text);
    return status;
}

/* A start or stop argument: from the end if negative, clamped. */
static TsrStatus bound(int64_t *out, const CallArgs *args, int i, int64_t count) {
    if (args->count <= i) return TSR_OK;
    TSR_TRY(bound_argument(out, args->values[i], false));
    if (*out < 0) *out = TSR_MAX(*out + count, 0);
    *out = TSR_MIN(*out, count);
    return TSR_OK;
}

static TsrStatus method_index(Value *out, const CallArgs *args) {
    Deque *d = self_of(args);
    int64_t start = 0, stop = d->count, at;
    TSR_TRY(bound(&start, args, 2, d->count));
    TSR_TRY(bound(&stop, args, 3, d->count));
    TSR_TRY(find(&at, d, args->values[1], start, stop));
    *out = value_int(at);
    return at >= 0 ? TSR_OK : not_there(args->values[1]);
}

static TsrStatus method_insert(Value *out, const CallArgs *args) {
    Deque *d = self_of(args);
    int64_t i;
    *out = VALUE_NONE;
    TSR_TRY(value_to_index(&i, args->values[1]));
    if (d->limit >= 0 && d->count == d->limit) return tsr_error(TSR_INDEX_ERROR, "deque already at its maximum size");
    if (i >= d->count) return add_last(d, args->values[2]);
    if (i <= -d->count || i == 0) return add_first(d, args->values[2]);
    rotate(d, -i);
    TsrStatus status = i < 0 ? add_last(d, args->values[2]) : add_first(d, args->values[2]);
    rotate(d, i);
    return status;
}

static TsrStatus method_remove(Value *out, const CallArgs *args) {
    Deque *d = self_of(args);
    int64_t at;
    *out = VALUE_NONE;
    TSR_TRY(find(&at, d, args->values[1], 0, d->count));
    if (at < 0) return not_there(args->values[1]);
    remove_at(d, at);
    return TSR_OK;
}

static TsrStatus method_reverse(Value *out, const CallArgs *args) {
    Deque *d = self_of(args);
    *out = VALUE_NONE;
    for (int64_t i = 0, j = d->count - 1; i < j; i++, j--) {
        Value v = *slot(d, i);
        *slot(d, i) = *slot(d, j);
        *slot(d, j) = v;
    }
    return TSR_OK;
}

static TsrStatus method_rotate(Value *out, const CallArgs *args) {
    int64_t n = 1;
    *out = VALUE_NONE;
    if (args->count > 1) TSR_TRY(value_to_index(&n, args->values[1]));
    rotate(self_of(args), n);
    return TSR_OK;
}

static TsrStatus method_reversed(Value *out, const CallArgs *args) { return iter_new(out, args->values[0], true); }

static TsrStatus get_maxlen(Value *out, Value self) {
    *out = as_deque(self)->limit >= 0 ? value_int(as_deque(self)->limit) : VALUE_NONE;
    return TSR_OK;
}

static const Method methods[] = {
    {"append", method_append, ARGS_ONE, 1, 1, "(x, /)", "Adds an item at the right end."},
    {"appendleft", method_appendleft, ARGS_ONE, 1, 1, "(x, /)", "Adds an item at the left end."},
    {"clear", method_clear, ARGS_NONE, 0, 0, "()", "Removes every item."},
    {"copy", method_copy, ARGS_NONE, 0, 0, "()", "A shallow copy."},
    {"__copy__", method_copy, ARGS_NONE | METHOD_DUNDER, 0, 0, "()", "A shallow copy."},
    {"count", method_count, ARGS_ONE, 1, 1, "(x, /)", "How many items equal x."},
    {"extend", method_extend, ARGS_ONE, 1, 1, "(iterable, /)", "Adds the items at the right end."},
    {"extendleft", method_extendleft, ARGS_ONE, 1, 1, "(iterable, /)", "Adds the items one by one at the left end."},
    {"index", method_index, ARGS_RANGE, 1, 3, "(x, start=0, stop=9223372036854775807, /)", "The first index of x."},
    {"insert", method_insert, ARGS_RANGE, 2, 2, "(index, x, /)", "Puts x before the index."},
    {"pop", method_pop, ARGS_NONE, 0, 0, "()", "Removes and gives the rightmost item."},
    {"popleft", method_popleft, ARGS_NONE, 0, 0, "()", "Removes and gives the leftmost item."},
    {"remove", method_remove, ARGS_ONE, 1, 1, "(x, /)", "Removes the first item that equals x."},
    {"reverse", method_reverse, ARGS_NONE, 0, 0, "()", "Reverses the items in place."},
    {"__reversed__", method_reversed, ARGS_NONE | METHOD_DUNDER, 0, 0, "()", "An iterator from the right end."},
    {"rotate", method_rotate, ARGS_RANGE, 0, 1, "(n=1, /)", "Turns to the right by n places."},
    {0},
};

static const Getter getters[] = {{"maxlen", get_maxlen, NULL, "The largest size, or None."}, {0}};

Type deque_type = {.obj = TYPE_HEADER,
                   .name = "collections.deque",
                   .doc = "deque(iterable=(), maxlen=None): a sequence that is quick at both ends.",
                   .flags = TYPE_GC | TYPE_SEQUENCE,
                   .construct = deque_construct,
                   .destroy = deque_destroy,
                   .traverse = deque_traverse,
                   .clear = deque_clear,
                   .repr = deque_repr,
                   .hash = hash_refused,
                   .compare = deque_compare,
                   .length = deque_length,
                   .get_item = deque_get_item,
                   .set_item = deque_set_item,
                   .del_item = deque_del_item,
                   .contains = deque_contains,
                   .iter = deque_iter,
                   .binary = deque_binary,
                   .inplace = deque_inplace,
                   .methods = methods,
                   .getters = getters};
