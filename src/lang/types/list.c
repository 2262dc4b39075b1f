/* The list type: a growing array of values. Slices are read, assigned and deleted here, with CPython's rule that an
 * extended slice takes exactly as many values as it has places. Sorting is in list_sort.c. */
#include "lang/object/args.h"
#include "lang/object/exc.h"
#include "lang/object/native.h"
#include "numbers.h"
#include "sequences.h"
#include "indices.h"
#include "str.h"
#include "repr_size.h"
#include "lang/object/value_impl.h"

#include <string.h>

/* --- making and growing --- */

TsrStatus list_new(Value *out, int64_t capacity) {
    List *l = obj_new(&list_type, sizeof *l);
    if (l == NULL) return TSR_MEMORY_ERROR;
    if (capacity > 0 && mem_grow(&l->items, &l->capacity, capacity, sizeof(Value)) != TSR_OK) {
        obj_free(l, sizeof *l);
        return TSR_MEMORY_ERROR;
    }
    gc_track(l);
    *out = value_obj_move(l);
    return TSR_OK;
}

void (*list_length_hook)(const List *l);

static inline void length_changed(const List *l) {
    if (TSR_UNLIKELY(list_length_hook != NULL)) list_length_hook(l);
}

TsrStatus list_append_move(List *l, Value item) {
    if (TSR_UNLIKELY(l->count == l->capacity)) {
        TsrStatus status = mem_grow(&l->items, &l->capacity, l->count + 1, sizeof(Value));
        if (status != TSR_OK) {
            value_release(item);
            return status;
        }
    }
    l->items[l->count++] = item;
    length_changed(l);
    return TSR_OK;
}

TsrStatus list_append_c(List *l, const char *text) {
    Value s;
    TSR_TRY(str_new_c(&s, text));
    return list_append_move(l, s);
}

TsrStatus list_append(List *l, Value item) { return list_append_move(l, value_retain(item)); }

TsrStatus list_new_from(Value *out, const Value *items, int64_t count) {
    TSR_TRY(list_new(out, count));
    List *l = value_as_list(*out);
    for (int64_t i = 0; i < count && !tsr_interrupted_at(i); i++) l->items[l->count++] = value_retain(items[i]);
    TsrStatus status = tsr_interrupt_check();
    if (status != TSR_OK) value_release(*out);
    return status;
}

TsrStatus list_new_move(Value *out, Value *items, int64_t count) {
    TsrStatus status = list_new(out, count);
    if (status != TSR_OK) {
        values_release(items, count);
        return status;
    }
    if (count > 0) memcpy(value_as_list(*out)->items, items, (size_t)count * sizeof *items);
    value_as_list(*out)->count = count;
    return TSR_OK;
}

static TsrStatus extend_array(List *l, Value source) {
    const Value *items;
    int64_t count;
    value_as_array(source, &items, &count);
    TSR_TRY(mem_grow(&l->items, &l->capacity, l->count + count, sizeof(Value)));
    value_as_array(source, &items, &count); /* it may be l itself, which has moved */
    for (int64_t i = 0; i < count; i++) {
        if (tsr_interrupted_at(i)) TSR_TRY(tsr_interrupt_check());
        l->items[l->count++] = value_retain(items[i]);
    }
    length_changed(l);
    return TSR_OK;
}

TsrStatus list_extend(List *l, Value iterable) {
    if (value_is_list(iterable) || value_is_obj(iterable, &tuple_type)) return extend_array(l, iterable);
    Value iterator, item;
    TSR_TRY(value_iter(&iterator, iterable));
    int64_t hint = value_length_hint(iterable, 0);
    TsrStatus status = hint > 0 ? mem_grow(&l->items, &l->capacity, l->count + hint, sizeof(Value)) : TSR_OK;
    for (int64_t n = 1; status == TSR_OK; n++) {
        if ((status = tsr_interrupt_check_at(n)) != TSR_OK) break;
        status = value_next(&item, iterator);
        if (status != TSR_OK || item.tag == V_UNBOUND) break;
        status = list_append_move(l, item);
    }
    value_release(iterator);
    return status;
}

TsrStatus list_new_iterable(Value *out, Value iterable) {
    Value list;
    TSR_TRY(list_new(&list, 0));
    TsrStatus status = list_extend(value_as_list(list), iterable);
    return value_end_move(out, status, list);
}

void list_reverse(List *l) {
    for (int64_t i = 0, j = l->count - 1; i < j; i++, j--) {
        Value t = l->items[i];
        l->items[i] = l->items[j];
        l->items[j] = t;
    }
}

static void empty_list(List *l) {
    Value *items = l->items;
    int64_t count = l->count;
    l->items = NULL;
    l->count = l->capacity = 0;
    length_changed(l);
    values_release(items, count);
    tsr_free(items);
}

/* --- slots --- */

static void list_destroy(Obj *self) {
    empty_list((List *)self);
    obj_free(self, sizeof(List));
}
static void list_traverse(Obj *self, GcVisit visit, void *context) {
    const List *l = (List *)self;
    for (int64_t i = 0; i < l->count; i++) gc_visit_value(l->items[i], visit, context);
}
static void list_clear_slot(Obj *self) { empty_list((List *)self); }

static TsrStatus write_items(TsrText *out, const List *l) {
    for (int64_t i = 0; i < l->count; i++) {
        if (i > 0) TSR_TRY(tsr_text_append(out, ", ", 2));
        Value item = value_retain(l->items[i]);
        TsrStatus status = value_repr(out, item);
        value_release(item);
        TSR_TRY(status);
        if ((i & 0x3ff) == 0) TSR_TRY(tsr_interrupt_check());
    }
    return TSR_OK;
}

static TsrStatus list_repr(TsrText *out, Value self) {
    ReprGuard guard;
    bool again;
    TSR_TRY(repr_enter(&guard, self.o, &again));
    if (again) return tsr_text_puts(out, "[...]");
    TsrStatus status = guard.outer == NULL ? repr_reserve(out, self) : TSR_OK;
    if (status == TSR_OK) status = tsr_text_putc(out, '[');
    if (status == TSR_OK) status = write_items(out, value_as_list(self));
    if (status == TSR_OK) status = tsr_text_putc(out, ']');
    repr_leave(&guard);
    return status;
}

static TsrStatus list_compare(Value *out, CompareOp op, Value a, Value b) {
    *out = VALUE_UNBOUND;
    return value_is_list(a) && value_is_list(b) ? sequence_compare(out, op, a, b) : TSR_OK;
}

static TsrStatus list_length(int64_t *out, Value self) {
    *out = value_as_list(self)->count;
    return TSR_OK;
}

static TsrStatus get_slice(Value *out, const List *l, const Slice *slice) {
    int64_t start, stop, step, count;
    TSR_TRY(slice_resolve(slice, l->count, &start, &stop, &step, &count));
    TSR_TRY(list_new(out, count));
    List *r = value_as_list(*out);
    for (int64_t i = 0; i < count && !tsr_interrupted_at(i); i++)
        r->items[r->count++] = value_retain(l->items[start + i * step]);
    TsrStatus status = tsr_interrupt_check();
    if (status != TSR_OK) value_release(*out);
    return status;
}

static TsrStatus list_get_item(Value *out, Value self, Value index) {
    const List *l = value_as_list(self);
    int64_t i;
    if (value_is_obj(index, &slice_type)) return get_slice(out, l, (Slice *)index.o);
    TSR_TRY(sequence_index(&i, index, "list"));
    if (!index_wrap(&i, l->count)) return tsr_error(TSR_INDEX_ERROR, "list index out of range");
    *out = value_retain(l->items[i]);
    return TSR_OK;
}

/* Replaces items[start, start + removed) by the `count` values (consumed on success only). */
static TsrStatus splice(List *l, int64_t start, int64_t removed, Value *values, int64_t count) {
    Value few[8], *old = few;
    if (removed > 8 && (old = tsr_malloc((size_t)removed * sizeof *old)) == NULL) return mem_error();
    TsrStatus status = mem_grow(&l->items, &l->capacity, l->count + count - removed, sizeof(Value));
    if (status == TSR_OK) {
        if (removed > 0) memcpy(old, l->items + start, (size_t)removed * sizeof *old);
        if (l->items != NULL)
            memmove(l->items + start + count, l->items + start + removed,
                    (size_t)(l->count - start - removed) * sizeof *old);
        if (count > 0) memcpy(l->items + start, values, (size_t)count * sizeof *old);
        l->count += count - removed;
        length_changed(l);
        values_release(old, removed);
    }
    if (old != few) tsr_free(old);
    return status;
}

static TsrStatus assign_extended(List *l, int64_t start, int64_t step, int64_t count, List *source) {
    if (source->count != count) {
        return tsr_error(TSR_VALUE_ERROR, "attempt to assign sequence of size %lld to extended slice of size %lld",
                         (long long)source->count, (long long)count);
    }
    for (int64_t i = 0; i < count; i++) { /* swap: the old values are freed with `source` */
        Value old = l->items[start + i * step];
        l->items[start + i * step] = source->items[i];
        source->items[i] = old;
    }
    return TSR_OK;
}

static TsrStatus set_slice(List *l, const Slice *slice, Value value) {
    int64_t start, stop, step, count;
    Value copy;
    TSR_TRY(
        slice_resolve(slice, l->count, &start, &stop, &step, &count)); /* a wrong index comes before a wrong value */
    TsrStatus status = list_new_iterable(&copy, value);
    if (exc_matches(status, TSR_TYPE_ERROR) && value_type(value)->iter == NULL &&
        value_type(value)->iter_next == NULL) {
        exc_discard(status);
        return tsr_error(TSR_TYPE_ERROR,
                         step == 1 ? "can only assign an iterable" : "must assign iterable to extended slice");
    }
    TSR_TRY(status);
    status = slice_resolve(slice, l->count, &start, &stop, &step,
                           &count); /* again: the iteration may have changed the list */
    List *source = value_as_list(copy);
    if (status == TSR_OK && step == 1) {
        status = splice(l, start, count, source->items, source->count);
        if (status == TSR_OK) source->count = 0;
    } else if (status == TSR_OK) {
        status = assign_extended(l, start, step, count, source);
    }
    value_release(copy);
    return status;
}

static TsrStatus list_set_item(Value self, Value index, Value value) {
    List *l = value_as_list(self);
    int64_t i;
    if (value_is_obj(index, &slice_type)) return set_slice(l, (Slice *)index.o, value);
    TSR_TRY(sequence_index(&i, index, "list"));
    if (!index_wrap(&i, l->count)) return tsr_error(TSR_INDEX_ERROR, "list assignment index out of range");
    value_set_move(&l->items[i], value_retain(value));
    return TSR_OK;
}

static TsrStatus delete_extended(List *l, int64_t start, int64_t step, int64_t count) {
    Value dropped;
    if (step < 0) {
        start += (count - 1) * step;
        step = -step;
    }
    TSR_TRY(list_new(&dropped, count));
    List *d = value_as_list(dropped);
    int64_t kept = start;
    for (int64_t i = start; i < l->count; i++) {
        bool out = d->count < count && i == start + d->count * step;
        if (out) d->items[d->count++] = l->items[i];
        else l->items[kept++] = l->items[i];
    }
    l->count = kept;
    length_changed(l);
    value_release(dropped);
    return TSR_OK;
}

static TsrStatus list_del_item(Value self, Value index) {
    List *l = value_as_list(self);
    int64_t i, start, stop, step, count;
    if (value_is_obj(index, &slice_type)) {
        TSR_TRY(slice_resolve((Slice *)index.o, l->count, &start, &stop, &step, &count));
        if (count == 0) return TSR_OK;
        return step == 1 ? splice(l, start, count, NULL, 0) : delete_extended(l, start, step, count);
    }
    TSR_TRY(sequence_index(&i, index, "list"));
    if (!index_wrap(&i, l->count)) return tsr_error(TSR_INDEX_ERROR, "list assignment index out of range");
    return splice(l, i, 1, NULL, 0);
}

static TsrStatus list_contains(bool *out, Value self, Value item) {
    const List *l = value_as_list(self);
    *out = false;
    for (int64_t i = 0; i < l->count && !*out; i++) {
        Value held = value_retain(l->items[i]);
        TsrStatus status = value_equal(out, held, item);
        value_release(held);
        TSR_TRY(status);
        TSR_TRY(tsr_interrupt_check());
    }
    return TSR_OK;
}

/* `times` copies of the items. */
static TsrStatus repeat(Value *out, const List *l, int64_t times) {
    int64_t total;
    if (tsr_mul_overflows(l->count, times, &total)) return mem_error();
    TSR_TRY(list_new(out, total));
    List *r = value_as_list(*out);
    for (int64_t t = 0; t < times && l->count > 0 && tsr_interrupt_flag == 0; t++)
        for (int64_t i = 0; i < l->count && !tsr_interrupted_at(i); i++)
            r->items[r->count++] = value_retain(l->items[i]);
    if (TSR_LIKELY(tsr_interrupt_flag == 0)) return TSR_OK;
    value_release(*out);
    return tsr_interrupt_raise();
}

static TsrStatus list_binary(Value *out, BinaryOp op, Value a, Value b) {
    *out = VALUE_UNBOUND;
    if (op == OP_ADD && value_is_list(a) && value_is_list(b)) {
        TSR_TRY(list_new(out, value_as_list(a)->count + value_as_list(b)->count));
        TsrStatus status = extend_array(value_as_list(*out), a);
        if (status == TSR_OK) status = extend_array(value_as_list(*out), b);
        if (status != TSR_OK) value_release(*out);
        return status;
    }
    if (op != OP_MUL) return TSR_OK;
    Value list = value_is_list(a) ? a : b;
    int64_t times;
    bool handled;
    TSR_TRY(repeat_count(&times, value_is_list(a) ? b : a, value_as_list(list)->count, &handled));
    return handled ? repeat(out, value_as_list(list), times) : TSR_OK;
}

static TsrStatus list_inplace(Value *out, BinaryOp op, Value self, Value b) {
    List *l = value_as_list(self);
    *out = VALUE_UNBOUND;
    if (op == OP_ADD) {
        TSR_TRY(list_extend(l, b));
        *out = value_retain(self);
        return TSR_OK;
    }
    int64_t times;
    bool handled = false;
    if (op == OP_MUL) TSR_TRY(repeat_count(&times, b, l->count, &handled));
    if (!handled) return TSR_OK;
    Value repeated;
    TSR_TRY(repeat(&repeated, l, times));
    List *r = value_as_list(repeated);
    List old = *l;
    l->items = r->items, l->count = r->count, l->capacity = r->capacity;
    r->items = old.items, r->count = old.count, r->capacity = old.capacity;
    length_changed(l);
    value_release(repeated);
    *out = value_retain(self);
    return TSR_OK;
}

static TsrStatus list_iter(Value *out, Value self) { return seq_iter_new(out, self); }

static TsrStatus list_construct(Value *out, Type *type, const CallArgs *args) {
    (void)type;
    TSR_TRY(args_no_keywords(args, "list"));
    TSR_TRY(args_count(args, 0, 0, 1, "list"));
    return args->count == 0 ? list_new(out, 0) : list_new_iterable(out, args->values[0]);
}

/* --- methods --- */

static List *self_list(const CallArgs *args) { return value_as_list(args->values[0]); }

static TsrStatus method_append(Value *out, const CallArgs *args) {
    *out = VALUE_NONE;
    return list_append(self_list(args), args->values[1]);
}

static TsrStatus method_extend(Value *out, const CallArgs *args) {
    *out = VALUE_NONE;
    return list_extend(self_list(args), args->values[1]);
}

static TsrStatus method_insert(Value *out, const CallArgs *args) {
    List *l = self_list(args);
    int64_t i;
    TSR_TRY(value_to_index(&i, args->values[1]));
    if (i < 0) i = TSR_MAX(i + l->count, 0);
    i = TSR_MIN(i, l->count);
    Value item = value_retain(args->values[2]);
    TsrStatus status = splice(l, i, 0, &item, 1);
    if (status != TSR_OK) value_release(item);
    *out = VALUE_NONE;
    return status;
}

static TsrStatus method_pop(Value *out, const CallArgs *args) {
    List *l = self_list(args);
    int64_t i = -1;
    if (args->count > 1) TSR_TRY(value_to_index(&i, args->values[1]));
    if (l->count == 0) return tsr_error(TSR_INDEX_ERROR, "pop from empty list");
    if (!index_wrap(&i, l->count)) return tsr_error(TSR_INDEX_ERROR, "pop index out of range");
    *out = l->items[i];
    l->count--;
    length_changed(l);
    memmove(l->items + i, l->items + i + 1, (size_t)(l->count - i) * sizeof(Value));
    return TSR_OK;
}

static TsrStatus method_index(Value *out, const CallArgs *args) {
    int64_t i;
    TSR_TRY(sequence_find(&i, args));
    *out = value_int(i);
    if (i >= 0) return TSR_OK;
    TsrText text = {0};
    TsrStatus status = value_repr(&text, args->values[1]);
    if (status == TSR_OK) status = tsr_error(TSR_VALUE_ERROR, "%s is not in list", text.data);
    tsr_text_free(&text);
    return status;
}

static TsrStatus method_remove(Value *out, const CallArgs *args) {
    int64_t i;
    TSR_TRY(sequence_find_item(&i, args->values[0], args->values[1], 0, INT64_MAX));
    *out = VALUE_NONE;
    if (i < 0 || i >= self_list(args)->count) return tsr_error(TSR_VALUE_ERROR, "list.remove(x): x not in list");
    return splice(self_list(args), i, 1, NULL, 0);
}

static TsrStatus method_clear(Value *out, const CallArgs *args) {
    empty_list(self_list(args));
    *out = VALUE_NONE;
    return TSR_OK;
}

static TsrStatus method_copy(Value *out, const CallArgs *args) {
    return list_new_from(out, self_list(args)->items, self_list(args)->count);
}

static TsrStatus method_reverse(Value *out, const CallArgs *args) {
    list_reverse(self_list(args));
    *out = VALUE_NONE;
    return TSR_OK;
}

static TsrStatus method_sort(Value *out, const CallArgs *args) {
    static const char *const names[] = {"key", "reverse"};
    static const ArgSpec spec = {"sort", names, 2, 0, 0, 0};
    Value given[2];
    bool reverse = false;
    TSR_TRY(args_parse(given, args, 1, &spec));
    if (given[1].tag != V_UNBOUND) {
        int64_t n;
        TSR_TRY(value_to_index(&n, given[1]));
        reverse = n != 0;
    }
    *out = VALUE_NONE;
    return list_sort(self_list(args), given[0], reverse);
}

static TsrStatus method_reversed(Value *out, const CallArgs *args) {
    return value_call_n(out, value_lent(&reversed_type), 1, args->values);
}

static const Method list_methods[] = {
    {"append", method_append, ARGS_ONE, 0, 0, "(object, /)", "Adds an item at the end."},
    {"extend", method_extend, ARGS_ONE, 0, 0, "(iterable, /)", "Adds every item of the iterable at the end."},
    {"insert", method_insert, ARGS_RANGE, 2, 2, "(index, object, /)", "Puts an item before the index."},
    {"pop", method_pop, ARGS_RANGE, 0, 1, "(index=-1, /)", "Removes and gives the item at the index."},
    {"remove", method_remove, ARGS_ONE, 0, 0, "(value, /)", "Removes the first item equal to the value."},
    {"index", method_index, ARGS_RANGE, 1, 3, "(value, start=0, stop=9223372036854775807, /)",
     "The first index of the value."},
    {"count", sequence_count, ARGS_ONE, 0, 0, "(value, /)", "How many items equal the value."},
    {"sort", method_sort, ARGS_ANY, 0, 0, "(*, key=None, reverse=False)", "Sorts in place; stable."},
    {"reverse", method_reverse, ARGS_NONE, 0, 0, "()", "Reverses in place."},
    {"copy", method_copy, ARGS_NONE, 0, 0, "()", "A shallow copy."},
    {"clear", method_clear, ARGS_NONE, 0, 0, "()", "Removes every item."},
    {"__reversed__", method_reversed, ARGS_NONE, 0, 0, "()", NULL},
    {0},
};

Type list_type = {.obj = TYPE_HEADER,
                  .name = "list",
                  .doc = "list(iterable): a sequence that can change.",
                  .flags = TYPE_GC | TYPE_SEQUENCE,
                  .construct = list_construct,
                  .destroy = list_destroy,
                  .traverse = list_traverse,
                  .clear = list_clear_slot,
                  .repr = list_repr,
                  .hash = hash_refused,
                  .compare = list_compare,
                  .length = list_length,
                  .get_item = list_get_item,
                  .set_item = list_set_item,
                  .del_item = list_del_item,
                  .contains = list_contains,
                  .iter = list_iter,
                  .binary = list_binary,
                  .inplace = list_inplace,
                  .methods = list_methods};
