/* counter.c: Counter of Python's collections: a dict of counts, in which a missing key counts 0. */
#include "lang/object/args.h"
#include "lang/types/collections.h"
#include "lang/object/exc.h"
#include "lang/object/native.h"
#include "lang/types/sequences.h"
#include "lang/types/str.h"

#include <string.h>

static const Value ZERO = {.tag = V_INT, {.i = 0}};

static TsrStatus counter_new(Value *out) { return dict_kind_new(out, &counter_type, sizeof(Dict)); }

/* The count of a key, lent until the dict changes; 0 for a missing one. */
static TsrStatus count_of(Value *lent, const Dict *d, Value key) {
    Value *found;
    TSR_TRY(dict_find(&found, d, key));
    *lent = found != NULL ? *found : ZERO;
    return TSR_OK;
}

static TsrStatus is_positive(bool *out, Value count) { return value_compare_bool(out, CMP_GT, count, ZERO); }

/* --- counting --- */

/* d[key] = amount + d[key], or d[key] - amount. */
static TsrStatus count_more(Dict *d, Value key, Value amount, BinaryOp op) {
    Value old, sum;
    TSR_TRY(count_of(&old, d, key));
    value_retain(old);
    TsrStatus status = op == OP_ADD ? value_binary(&sum, op, amount, old) : value_binary(&sum, op, old, amount);
    value_release(old);
    TSR_TRY(status);
    status = dict_set(d, key, sum);
    value_release(sum);
    return status;
}

/* An empty counter takes the values as they are: they need be no numbers. */
static TsrStatus count_dict(Dict *d, Value mapping, BinaryOp op) {
    const Dict *other = value_as_dict(mapping);
    int64_t position = 0;
    if (op == OP_ADD && d->count == 0) return dict_update(d, mapping);
    for (DictEntry *e; (e = dict_next(other, &position)) != NULL;) {
        TSR_TRY(count_more(d, e->key, e->value, op));
        TSR_TRY(tsr_interrupt_check());
    }
    return TSR_OK;
}

typedef struct Counting {
    Dict *counts;
    BinaryOp op;
} Counting;

static TsrStatus count_item(Value item, void *context) {
    const Counting *c = context;
    return count_more(c->counts, item, value_int(1), c->op);
}

static TsrStatus count_items(Dict *d, Value iterable, BinaryOp op) {
    return value_each(iterable, count_item, &(Counting){d, op}, NULL);
}

/* The arguments of Counter(), update() and subtract(): a mapping to add or items to count, and keywords. */
static TsrStatus count_arguments(const CallArgs *args, int skip, BinaryOp op, Dict *d, const char *function) {
    if (args->count - skip > 1) {
        return tsr_error(TSR_TYPE_ERROR, "Counter.%s() takes from 1 to 2 positional arguments but %d were given",
                         function, args->count - skip + 1);
    }
    if (args->count > skip && !value_is_none(args->values[skip])) {
        Value source = args->values[skip];
        TSR_TRY(value_is_dict(source) ? count_dict(d, source, op) : count_items(d, source, op));
    }
    bool empty = op == OP_ADD && d->count == 0;
    for (int i = 0; i < args->keyword_count; i++) {
        Value key = value_lent(args->names[i]), amount = args->values[args->count + i];
        TSR_TRY(empty ? dict_set(d, key, amount) : count_more(d, key, amount, op));
    }
    return TSR_OK;
}

static TsrStatus counter_construct(Value *out, Type *type, const CallArgs *args) {
    Value made;
    TSR_TRY(dict_kind_new(&made, type, sizeof(Dict)));
    return value_end_move(out, count_arguments(args, 0, OP_ADD, value_as_dict(made), "__init__"), made);
}

static TsrStatus counter_update(Value *out, const CallArgs *args) {
    *out = VALUE_NONE;
    return count_arguments(args, 1, OP_ADD, value_as_dict(args->values[0]), "update");
}

static TsrStatus counter_subtract(Value *out, const CallArgs *args) {
    *out = VALUE_NONE;
    return count_arguments(args, 1, OP_SUB, value_as_dict(args->values[0]), "subtract");
}

/* --- looking --- */

static TsrStatus second(Value *out, const CallArgs *args) {
    *out = value_retain(value_as_tuple(args->values[0])->items[1]);
    return TSR_OK;
}

/* The (key, count) pairs, the most frequent first; equal ones as they came. */
static TsrStatus sorted_items(Value *out, Value self) {
    static const Method by_count = {"count", second, ARGS_ONE, 1, 1, NULL, NULL};
    Value items, list, key;
    TSR_TRY(value_call_method(&items, self, "items", 0, NULL));
    TsrStatus status = list_new_iterable(&list, items);
    value_release(items);
    TSR_TRY(status);
    status = native_new(&key, &by_count, NULL);
    if (status == TSR_OK) {
        status = list_sort(value_as_list(list), key, true);
        value_release(key);
    }
    return value_end_move(out, status, list);
}

static TsrStatus counter_most_common(Value *out, const CallArgs *args) {
    static const char *const names[] = {"n"};
    static const ArgSpec spec = {"Counter.most_common", names, 1, 0, 1, 0};
    Value n, list;
    int64_t wanted = 0;
    TSR_TRY(args_parse(&n, args, 1, &spec));
    bool all = n.tag == V_UNBOUND || value_is_none(n);
    if (!all) TSR_TRY(value_to_index(&wanted, n));
    TSR_TRY(sorted_items(&list, args->values[0]));
    List *l = value_as_list(list);
    int64_t kept = all ? l->count : TSR_MIN(TSR_MAX(wanted, 0), l->count), count = l->count;
    l->count = kept;
    values_release(l->items + kept, count - kept);
    *out = list;
    return TSR_OK;
}

static TsrStatus write_sorted(TsrText *out, const List *items) {
    for (int64_t i = 0; i < items->count; i++) {
        const Tuple *pair = value_as_tuple(items->items[i]);
        TSR_TRY(tsr_text_puts(out, i > 0 ? ", " : "Counter({"));
        TSR_TRY(value_repr(out, pair->items[0]));
        TSR_TRY(tsr_text_puts(out, ": "));
        TSR_TRY(value_repr(out, pair->items[1]));
    }
    return tsr_text_puts(out, "})");
}

/* Counts that have no order are shown as they came. */
static TsrStatus counter_repr(TsrText *out, Value self) {
    Value list;
    if (value_as_dict(self)->count == 0) return tsr_text_puts(out, "Counter()");
    TsrStatus status = sorted_items(&list, self);
    if (exc_matches(status, TSR_TYPE_ERROR)) {
        exc_discard(status);
        TSR_TRY(tsr_text_puts(out, "Counter("));
        TSR_TRY(dict_type.repr(out, self));
        return tsr_text_putc(out, ')');
    }
    TSR_TRY(status);
    status = write_sorted(out, value_as_list(list));
    value_release(list);
    return status;
}

/* chain.from_iterable(starmap(repeat, self.items())) */
static TsrStatus counter_elements(Value *out, const CallArgs *args) {
    Value module, chain, repeat = VALUE_UNBOUND, items = VALUE_UNBOUND, repeated = VALUE_UNBOUND;
    TSR_TRY(module_import(&module, "itertools"));
    Str *chain_name = str_intern_c("chain"), *repeat_name = str_intern_c("repeat");
    TsrStatus status =
        chain_name != NULL && repeat_name != NULL ? value_getattr(&chain, module, chain_name) : mem_error();
    if (status == TSR_OK) {
        status = value_getattr(&repeat, module, repeat_name);
        if (status == TSR_OK) status = value_call_method(&items, args->values[0], "items", 0, NULL);
        if (status == TSR_OK) status = value_call_method(&repeated, module, "starmap", 2, (Value[]){repeat, items});
        if (status == TSR_OK) status = value_call_method(out, chain, "from_iterable", 1, &repeated);
        value_release(chain);
    }
    value_release(repeat);
    value_release(items);
    value_release(repeated);
    value_release(module);
    return status;
}

static TsrStatus counter_total(Value *out, const CallArgs *args) {
    const Dict *d = value_as_dict(args->values[0]);
    Value total = ZERO, sum;
    int64_t position = 0;
    for (DictEntry *e; (e = dict_next(d, &position)) != NULL;) {
        TsrStatus status = value_binary(&sum, OP_ADD, total, e->value);
        value_release(total);
        TSR_TRY(status);
        total = sum;
    }
    *out = total;
    return TSR_OK;
}

static TsrStatus counter_get_item(Value *out, Value self, Value key) {
    TSR_TRY(count_of(out, value_as_dict(self), key));
    value_retain(*out);
    return TSR_OK;
}

static TsrStatus counter_missing(Value *out, const CallArgs *args) {
    (void)args;
    *out = ZERO;
    return TSR_OK;
}

static TsrStatus counter_del_item(Value self, Value key) {
    bool found;
    return dict_remove(&found, value_as_dict(self), key);
}

static TsrStatus counter_copy(Value *out, const CallArgs *args) {
    Value made;
    TSR_TRY(counter_new(&made));
    return value_end_move(out, dict_update(value_as_dict(made), args->values[0]), made);
}

static TsrStatus counter_fromkeys(Value *out, const CallArgs *args) {
    (void)out;
    (void)args;
    return tsr_error(TSR_NOT_IMPLEMENTED_ERROR, "Counter.fromkeys() is undefined.  Use Counter(iterable) instead.");
}

/* --- comparing: a missing key counts 0 --- */

/* Whether `op` holds between the counts of every key of `keys`. */
static TsrStatus holds_for_all(bool *out, CompareOp op, const Dict *a, const Dict *b, const Dict *keys) {
    int64_t position = 0;
    *out = true;
    for (DictEntry *e; *out && (e = dict_next(keys, &position)) != NULL;) {
        Value x, y;
        TSR_TRY(count_of(&x, a, e->key));
        TSR_TRY(count_of(&y, b, e->key));
        TSR_TRY(value_compare_bool(out, op, x, y));
        TSR_TRY(tsr_interrupt_check());
    }
    return TSR_OK;
}

static TsrStatus holds(bool *out, CompareOp op, const Dict *a, const Dict *b) {
    TSR_TRY(holds_for_all(out, op, a, b, a));
    return *out ? holds_for_all(out, op, a, b, b) : TSR_OK;
}

static TsrStatus counter_compare(Value *out, CompareOp op, Value a, Value b) {
    bool result, equal = false;
    if (!value_is_obj(a, &counter_type) || !value_is_obj(b, &counter_type)) return dict_type.compare(out, op, a, b);
    const Dict *d = value_as_dict(a), *e = value_as_dict(b);
    CompareOp plain = op == CMP_NE ? CMP_EQ : op == CMP_LT ? CMP_LE : op == CMP_GT ? CMP_GE : op;
    TSR_TRY(holds(&result, plain, d, e));
    if (result && (op == CMP_LT || op == CMP_GT)) TSR_TRY(holds(&equal, CMP_EQ, d, e));
    *out = value_bool(op == CMP_NE ? !result : result && !equal);
    return TSR_OK;
}

/* --- arithmetic: what is not positive is dropped --- */

/* The larger of two counts for OP_OR, the smaller for OP_AND; a if they are equal. *lent: one of them. */
static TsrStatus extreme(Value *lent, BinaryOp op, Value a, Value b) {
    bool less;
    TSR_TRY(value_compare_bool(&less, CMP_LT, a, b));
    *lent = less == (op == OP_OR) ? b : a;
    return TSR_OK;
}

static TsrStatus combine(Value *out, BinaryOp op, Value a, Value b) {
    if (op == OP_ADD || op == OP_SUB) return value_binary(out, op, a, b);
    TSR_TRY(extreme(out, op, a, b));
    value_retain(*out);
    return TSR_OK;
}

static TsrStatus keep_positive(Dict *into, Value key, BinaryOp op, Value a, Value b) {
    Value count;
    bool positive;
    TSR_TRY(combine(&count, op, a, b));
    TsrStatus status = is_positive(&positive, count);
    if (status == TSR_OK && positive) status = dict_set(into, key, count);
    value_release(count);
    return status;
}

static TsrStatus combine_all(Dict *into, BinaryOp op, const Dict *a, const Dict *b) {
    int64_t position = 0;
    Value other, *found;
    for (DictEntry *e; (e = dict_next(a, &position)) != NULL;) {
        TSR_TRY(count_of(&other, b, e->key));
        TSR_TRY(keep_positive(into, e->key, op, e->value, other));
        TSR_TRY(tsr_interrupt_check());
    }
    position = 0;
    for (DictEntry *e; op != OP_AND && (e = dict_next(b, &position)) != NULL;) {
        TSR_TRY(dict_find(&found, a, e->key));
        if (found == NULL) TSR_TRY(keep_positive(into, e->key, op, ZERO, e->value));
        TSR_TRY(tsr_interrupt_check());
    }
    return TSR_OK;
}

static bool is_arithmetic(BinaryOp op) { return op == OP_ADD || op == OP_SUB || op == OP_OR || op == OP_AND; }

static TsrStatus counter_binary(Value *out, BinaryOp op, Value a, Value b) {
    Value made;
    *out = VALUE_UNBOUND;
    if (!value_is_obj(a, &counter_type) || !value_is_obj(b, &counter_type)) return dict_type.binary(out, op, a, b);
    if (!is_arithmetic(op)) return TSR_OK;
    TSR_TRY(counter_new(&made));
    return value_end_move(out, combine_all(value_as_dict(made), op, value_as_dict(a), value_as_dict(b)), made);
}

static TsrStatus counter_inplace(Value *out, BinaryOp op, Value self, Value b) {
    Value made;
    *out = VALUE_UNBOUND;
    if (!is_arithmetic(op)) return TSR_OK;
    if (!value_is_dict(b))
        return tsr_error(TSR_ATTRIBUTE_ERROR, "'%s' object has no attribute 'items'", value_type_name(b));
    TSR_TRY(counter_new(&made));
    TsrStatus status = combine_all(value_as_dict(made), op, value_as_dict(self), value_as_dict(b));
    if (status == TSR_OK) {
        dict_swap(value_as_dict(self), value_as_dict(made));
        *out = value_retain(self);
    }
    value_release(made);
    return status;
}

/* +c keeps the positive counts; -c the negative ones, as positive. */
static TsrStatus counter_unary(Value *out, UnaryOp op, Value self) {
    Value empty;
    *out = VALUE_UNBOUND;
    if (op != OP_POS && op != OP_NEG) return TSR_OK;
    TSR_TRY(counter_new(&empty));
    TsrStatus status =
        op == OP_POS ? counter_binary(out, OP_ADD, self, empty) : counter_binary(out, OP_SUB, empty, self);
    value_release(empty);
    return status;
}

static const Method counter_methods[] = {
    {"most_common", counter_most_common, ARGS_ANY, 0, 1, "(n=None)", "The n most frequent (key, count) pairs, or all."},
    {"elements", counter_elements, ARGS_NONE, 0, 0, "()", "Each key as often as it was counted."},
    {"total", counter_total, ARGS_NONE, 0, 0, "()", "The sum of the counts."},
    {"update", counter_update, ARGS_ANY, 0, 1, "(iterable=None, /, **counts)",
     "Counts the items, or adds the counts of a mapping."},
    {"subtract", counter_subtract, ARGS_ANY, 0, 1, "(iterable=None, /, **counts)",
     "Takes the items, or the counts of a mapping, away."},
    {"copy", counter_copy, ARGS_NONE, 0, 0, "()", "A shallow copy."},
    {"fromkeys", counter_fromkeys, ARGS_RANGE | METHOD_CLASS, 1, 2, "(iterable, v=None)",
     "Not there: Counter(iterable) counts."},
    {"__missing__", counter_missing, ARGS_ONE | METHOD_DUNDER, 0, 0, "(key, /)", "0."},
    {0},
};

Type counter_type = {.obj = TYPE_HEADER,
                     .name = "Counter",
                     .module = "collections",
                     .base = &dict_type,
                     .doc = "Counter(iterable=None, /, **counts): how often each item comes.",
                     .construct = counter_construct,
                     .repr = counter_repr,
                     .compare = counter_compare,
                     .get_item = counter_get_item,
                     .del_item = counter_del_item,
                     .binary = counter_binary,
                     .inplace = counter_inplace,
                     .unary = counter_unary,
                     .methods = counter_methods};

void counter_startup(void) { type_inherit(&counter_type); }
