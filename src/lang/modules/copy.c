/* copy.c: Python's copy: copy, which shares what is inside, and deepcopy, which copies that too, once however often it
 * is reached. Types that are not Python's own say by their slot `copy` what a copy of them is. */
#include "modules.h"

#include <string.h>

#include "lang/object/args.h"
#include "lang/types/bytes.h"
#include "lang/types/collections.h"
#include "lang/object/exc.h"
#include "lang/types/numbers.h"
#include "lang/types/sequences.h"
#include "lang/types/str.h"
#include "lang/vm/vm.h"

/* --- what never changes: a copy is the object itself --- */

static bool never_changes(Value v) {
    if (v.tag < V_TENSOR) return true;
    if (value_type(v)->flags & TYPE_ATOMIC) return true;
    return v.tag == V_OBJ && (v.o == &ellipsis_object || v.o == &not_implemented_object);
}

static TsrStatus refused(Value v) {
    return tsr_error(TSR_TYPE_ERROR, "cannot pickle '%s' object", type_full_name(value_type(v)));
}

static TsrStatus same(Value *out, Value v) {
    *out = value_retain(v);
    return TSR_OK;
}

/* --- copy --- */

static TsrStatus copy_exception(Value *out, Value v) {
    const Exc *e = value_exc(v);
    return exc_new(out, e->kind, (int)e->args->count, e->args->items);
}

static TsrStatus copy_attributes(Value made, Value v) {
    Value copy;
    if (ordered_dict_attributes(v) == NULL) return TSR_OK;
    TSR_TRY(dict_copy(&copy, ordered_dict_attributes(v)));
    ordered_dict_set_attributes(made, value_as_dict(copy));
    value_release(copy);
    return TSR_OK;
}

static TsrStatus shallow_copy(Value *out, Value v) {
    if (never_changes(v) || value_is_tuple(v) || value_is_obj(v, &frozenset_type)) return same(out, v);
    if (value_is_exc(v)) return copy_exception(out, v);
    if (value_type(v)->copy != NULL) return value_type(v)->copy(out, v, NULL);
    if (value_is_list(v) || value_is_dict(v) || value_is_set(v) || value_is_bytearray(v) ||
        value_is_obj(v, &deque_type)) {
        TSR_TRY(value_call_method(out, v, "copy", 0, NULL));
        return value_is_obj(v, &ordered_dict_type) ? value_end_move(out, copy_attributes(*out, v), *out) : TSR_OK;
    }
    return refused(v);
}

/* --- deepcopy --- */

/* The key of an object: what id() gives. */
static Value key_of(Value v) { return value_int((int64_t)value_bits(v)); }

static TsrStatus remember(Dict *memo, Value v, Value copy) { return dict_set(memo, key_of(v), copy); }

static TsrStatus deep_list(Value *out, Value v, Dict *memo) {
    Value made;
    TSR_TRY(list_new(&made, value_as_list(v)->count));
    TsrStatus status = remember(memo, v, made);
    for (int64_t i = 0; status == TSR_OK && i < value_as_list(v)->count; i++) {
        Value item;
        status = deep_copy(&item, value_as_list(v)->items[i], memo);
        if (status == TSR_OK) status = list_append_move(value_as_list(made), item);
    }
    return value_end_move(out, status, made);
}

/* A tuple whose items are their own copies is its own copy. */
static TsrStatus deep_tuple(Value *out, Value v, Dict *memo) {
    Value list, *found;
    const Tuple *t = value_as_tuple(v);
    bool changed = false;
    TSR_TRY(list_new(&list, t->count));
    TsrStatus status = TSR_OK;
    for (int64_t i = 0; status == TSR_OK && i < t->count; i++) {
        Value item;
        status = deep_copy(&item, t->items[i], memo);
        if (status == TSR_OK) changed = changed || !value_is_same(item, t->items[i]);
        if (status == TSR_OK) status = list_append_move(value_as_list(list), item);
    }
    if (status == TSR_OK) status = dict_find(&found, memo, key_of(v)); /* a cycle through the tuple has made it */
    if (status == TSR_OK) {
        if (found != NULL || !changed) status = same(out, found != NULL ? *found : v);
        else status = tuple_new_typed(out, v.o->type, value_as_list(list)->items, t->count);
    }
    value_release(list);
    return status;
}

/* An empty container of v's kind. */
static TsrStatus empty_like(Value *out, Value v, Dict *memo) {
    Type *type = v.o->type;
    if (type == &default_dict_type) {
        Value factory;
        TSR_TRY(deep_copy(&factory, default_dict_factory(v), memo));
        TsrStatus status = value_call_n(out, value_lent(type), 1, &factory);
        value_release(factory);
        return status;
    }
    bool own = type == &ordered_dict_type || type == &counter_type || type == &set_type || type == &frozenset_type;
    return own ? value_call_n(out, value_lent(type), 0, NULL) : dict_new(out); /* a card is a dict */
}

static TsrStatus deep_entry(Dict *into, const DictEntry *e, Dict *memo) {
    Value key, value;
    TSR_TRY(deep_copy(&key, e->key, memo));
    TsrStatus status = deep_copy(&value, e->value, memo);
    if (status == TSR_OK) {
        status = dict_set(into, key, value);
        value_release(value);
    }
    value_release(key);
    return status;
}

static TsrStatus deep_attributes(Value made, Value v, Dict *memo) {
    Value copy;
    if (ordered_dict_attributes(v) == NULL) return TSR_OK;
    TSR_TRY(deep_copy(&copy, value_lent(ordered_dict_attributes(v)), memo));
    ordered_dict_set_attributes(made, value_as_dict(copy));
    value_release(copy);
    return TSR_OK;
}

static TsrStatus deep_dict(Value *out, Value v, Dict *memo) {
    Value made;
    int64_t position = 0;
    TSR_TRY(empty_like(&made, v, memo));
    TsrStatus status = remember(memo, v, made);
    for (DictEntry *e; status == TSR_OK && (e = dict_next(value_as_dict(v), &position)) != NULL;)
        status = deep_entry(value_as_dict(made), e, memo);
    if (status == TSR_OK && value_is_obj(v, &ordered_dict_type)) status = deep_attributes(made, v, memo);
    return value_end_move(out, status, made);
}

static TsrStatus deep_set(Value *out, Value v, Dict *memo) {
    Value list;
    TSR_TRY(list_new_iterable(&list, v));
    TsrStatus status = TSR_OK;
    for (int64_t i = 0; status == TSR_OK && i < value_as_list(list)->count; i++) {
        Value copy;
        status = deep_copy(&copy, value_as_list(list)->items[i], memo);
        if (status == TSR_OK) value_set_move(&value_as_list(list)->items[i], copy);
    }
    if (status == TSR_OK) status = set_new_iterable(out, v.o->type, list);
    value_release(list);
    return status;
}

static TsrStatus deep_deque(Value *out, Value v, Dict *memo) {
    Value made, list;
    TSR_TRY(value_call_method(&made, v, "copy", 0, NULL));
    TsrStatus status = remember(memo, v, made);
    if (status == TSR_OK) status = list_new_iterable(&list, v);
    if (status == TSR_OK) {
        for (int64_t i = 0; status == TSR_OK && i < value_as_list(list)->count; i++) {
            Value copy;
            status = deep_copy(&copy, value_as_list(list)->items[i], memo);
            if (status == TSR_OK) {
                status = value_setitem(made, value_int(i), copy);
                value_release(copy);
            }
        }
        value_release(list);
    }
    return value_end_move(out, status, made);
}

static TsrStatus deep_exception(Value *out, Value v, Dict *memo) {
    const Exc *e = value_exc(v);
    Value args;
    TSR_TRY(deep_tuple(&args, value_lent(e->args), memo));
    TsrStatus status = exc_new(out, e->kind, (int)e->args->count, value_as_tuple(args)->items);
    value_release(args);
    return status;
}

static TsrStatus deep_object(Value *out, Value v, Dict *memo) {
    if (value_type(v)->copy != NULL) return value_type(v)->copy(out, v, memo);
    if (value_is_list(v)) return deep_list(out, v, memo);
    if (value_is_tuple(v)) return deep_tuple(out, v, memo);
    if (value_is_dict(v)) return deep_dict(out, v, memo);
    if (value_is_set(v)) return deep_set(out, v, memo);
    if (value_is_obj(v, &deque_type)) return deep_deque(out, v, memo);
    if (value_is_exc(v)) return deep_exception(out, v, memo);
    return shallow_copy(out, v);
}

TsrStatus deep_copy(Value *out, Value v, Dict *memo) {
    Value *found, copy;
    if (never_changes(v)) return same(out, v);
    TSR_TRY(dict_find(&found, memo, key_of(v)));
    if (found != NULL) return same(out, *found);
    TSR_TRY(recursion_enter(""));
    TsrStatus status = tsr_interrupt_check();
    if (status == TSR_OK) status = deep_object(&copy, v, memo);
    recursion_leave();
    TSR_TRY(status);
    return value_end_move(out, remember(memo, v, copy), copy);
}

/* --- the functions --- */

static TsrStatus wrong_count(const CallArgs *args, const char *function, const char *takes) {
    if (args->count == 0)
        return tsr_error(TSR_TYPE_ERROR, "%s() missing 1 required positional argument: 'x'", function);
    return tsr_error(TSR_TYPE_ERROR, "%s() takes %s but %d were given", function, takes, args->count);
}

static TsrStatus copy_copy(Value *out, const CallArgs *args) {
    if (args->count != 1) return wrong_count(args, "copy", "1 positional argument");
    return shallow_copy(out, args->values[0]);
}

static TsrStatus copy_deepcopy(Value *out, const CallArgs *args) {
    static const char *const names[] = {"x", "memo"};
    static const ArgSpec spec = {"deepcopy", names, 2, 0, 2, 1};
    Value given[2], memo;
    if (args->count == 0 || args->count > 2) return wrong_count(args, "deepcopy", "from 1 to 2 positional arguments");
    TSR_TRY(args_parse(given, args, 0, &spec));
    bool none = given[1].tag == V_UNBOUND || value_is_none(given[1]);
    if (!none && !value_is_dict(given[1]))
        return tsr_error(TSR_ATTRIBUTE_ERROR, "'%s' object has no attribute 'get'", value_type_name(given[1]));
    TSR_TRY(none ? dict_new(&memo) : same(&memo, given[1]));
    TsrStatus status = deep_copy(out, given[0], value_as_dict(memo));
    value_release(memo);
    return status;
}

static const Method functions[] = {
    {"copy", copy_copy, ARGS_ANY, 1, 1, "(x)", "A copy that shares what is inside."},
    {"deepcopy", copy_deepcopy, ARGS_ANY, 1, 2, "(x, memo=None)", "A copy of x and of all that is inside."},
    {0},
};

const NsModule ns_copy = {"copy", "Copies of objects, shallow and deep.", functions, NULL, NULL};
