/* operator.c: Python's operator: the operators as functions, itemgetter and attrgetter. What looks through a sequence
 * is in prelude/operator.tsr, and so is what calls. */
#include "modules.h"

#include "lang/object/args.h"
#include "builtin.h"
#include "lang/types/bytes.h"
#include "lang/types/collections.h"
#include "lang/object/exc.h"
#include "lang/types/sequences.h"
#include "lang/types/str.h"

/* --- one function an operator --- */

#define BINARY(op, method, name, sign) \
    static TsrStatus operator_##name(Value *out, const CallArgs *args) { \
        return value_binary(out, op, args->values[0], args->values[1]); \
    }
#define COMPARE(op, name, ...) \
    static TsrStatus operator_##name(Value *out, const CallArgs *args) { \
        return value_compare(out, op, args->values[0], args->values[1]); \
    }
#define UNARY(op, name) \
    static TsrStatus operator_##name(Value *out, const CallArgs *args) { return value_unary(out, op, args->values[0]); }
#define INPLACE(op, method, name, sign) \
    static TsrStatus operator_i##method(Value *out, const CallArgs *args) { \
        return value_inplace(out, op, args->values[0], args->values[1]); \
    }
BINARY_OPERATORS(BINARY)
BINARY_OPERATORS(INPLACE)
COMPARE_OPERATORS(COMPARE)
COMPARE(CMP_IS, is_)
COMPARE(CMP_IS_NOT, is_not)
UNARY(OP_NEG, neg)
UNARY(OP_POS, pos)
UNARY(OP_INVERT, invert)
UNARY(OP_NOT, not_)

static TsrStatus operator_contains(Value *out, const CallArgs *args) {
    return value_compare(out, CMP_IN, args->values[1], args->values[0]);
}
static TsrStatus operator_getitem(Value *out, const CallArgs *args) {
    return value_getitem(out, args->values[0], args->values[1]);
}
static TsrStatus operator_truth(Value *out, const CallArgs *args) {
    bool truth;
    TSR_TRY(value_truth(&truth, args->values[0]));
    *out = value_bool(truth);
    return TSR_OK;
}
static TsrStatus operator_setitem(Value *out, const CallArgs *args) {
    *out = VALUE_NONE;
    return value_setitem(args->values[0], args->values[1], args->values[2]);
}

static TsrStatus operator_delitem(Value *out, const CallArgs *args) {
    *out = VALUE_NONE;
    return value_delitem(args->values[0], args->values[1]);
}

static TsrStatus operator_index(Value *out, const CallArgs *args) {
    TSR_TRY(value_new_index(out, args->values[0]));
    if (out->tag == V_BOOL) *out = value_int(out->i);
    return TSR_OK;
}

/* --- sequences --- */

static bool can_be_joined(Value v) {
    static const Type *const types[] = {&list_type, &tuple_type, &str_type, &bytes_type, &bytearray_type, &deque_type};
    for (size_t i = 0; i < TSR_COUNTOF(types); i++)
        if (value_is_a(v, types[i])) return true;
    return v.tag == V_TENSOR;
}

static TsrStatus join(Value *out, const CallArgs *args, TsrStatus (*add)(Value *, BinaryOp, Value, Value)) {
    Value a = args->values[0];
    return can_be_joined(a) ? add(out, OP_ADD, a, args->values[1])
                            : tsr_error(TSR_TYPE_ERROR, "'%s' object can't be concatenated", value_type_name(a));
}

static TsrStatus operator_concat(Value *out, const CallArgs *args) { return join(out, args, value_binary); }
static TsrStatus operator_iconcat(Value *out, const CallArgs *args) { return join(out, args, value_inplace); }

static TsrStatus operator_length_hint(Value *out, const CallArgs *args) {
    int64_t fallback = 0;
    if (args->count > 1 && !value_is_int(args->values[1]))
        return tsr_error(TSR_TYPE_ERROR, "'%s' object cannot be interpreted as an integer",
                         value_type_name(args->values[1]));
    if (args->count > 1) TSR_TRY(value_to_index(&fallback, args->values[1]));
    int64_t n = value_length_hint(args->values[0], -1);
    *out = value_int(n >= 0 ? n : fallback);
    if (n >= 0) return TSR_OK;
    Value method;
    Str *name = str_intern_c("__length_hint__");
    if (name == NULL) return mem_error();
    TSR_TRY(value_lookup_attr(&method, args->values[0], name));
    if (method.tag == V_UNBOUND) return TSR_OK;
    TsrStatus status = value_call_n(out, method, 0, NULL);
    value_release(method);
    return status;
}

/* --- itemgetter, attrgetter --- */

typedef struct Getting {
    GcObj gc;
    Value wanted; /* a tuple of indices, or of names */
} Getting;

GC_HOLDS(getting, Getting, &it->wanted)

static TsrStatus getting_new(Value *out, Type *type, const CallArgs *args) {
    Getting *g = obj_new(type, sizeof *g);
    if (g == NULL) return mem_error();
    g->wanted = VALUE_UNBOUND;
    TsrStatus status = tuple_new(&g->wanted, args->values, args->count);
    if (status == TSR_OK) gc_track(g);
    return value_end_move(out, status, value_obj_move(g));
}

static TsrStatus getting_repr(TsrText *out, Value self) {
    const Tuple *wanted = value_as_tuple(((Getting *)self.o)->wanted);
    TSR_TRY(tsr_text_printf(out, "%s(", type_full_name(self.o->type)));
    for (int64_t i = 0; i < wanted->count; i++) {
        if (i > 0) TSR_TRY(tsr_text_puts(out, ", "));
        TSR_TRY(value_repr(out, wanted->items[i]));
    }
    return tsr_text_putc(out, ')');
}

/* A single item or name gives its value, several give a tuple. */
static TsrStatus get_all(Value *out, Value self, const CallArgs *args, TsrStatus (*get)(Value *, Value, Value)) {
    const Tuple *wanted = value_as_tuple(((Getting *)self.o)->wanted);
    Value list;
    TSR_TRY(args_no_keywords(args, self.o->type->name));
    TSR_TRY(args_count(args, 0, 1, 1, self.o->type->name));
    if (wanted->count == 1) return get(out, args->values[0], wanted->items[0]);
    TSR_TRY(list_new(&list, wanted->count));
    TsrStatus status = TSR_OK;
    for (int64_t i = 0; i < wanted->count && status == TSR_OK; i++) {
        Value v;
        status = get(&v, args->values[0], wanted->items[i]);
        if (status == TSR_OK) status = list_append_move(value_as_list(list), v);
    }
    if (status == TSR_OK) status = tuple_new_iterable(out, list);
    value_release(list);
    return status;
}

static TsrStatus itemgetter_call(Value *out, Value self, const CallArgs *args) {
    return get_all(out, self, args, value_getitem);
}

static TsrStatus itemgetter_construct(Value *out, Type *type, const CallArgs *args) {
    TSR_TRY(args_no_keywords(args, "itemgetter"));
    if (args->count == 0) return args_count(args, 0, 1, 1, "itemgetter");
    return getting_new(out, type, args);
}

/* "a.b": attribute after attribute. */
static TsrStatus get_dotted(Value *out, Value v, Value name) {
    const char *at = value_as_str(name)->data, *end = at + value_as_str(name)->size;
    Value now = value_retain(v);
    for (;;) {
        const char *stop = at;
        while (stop < end && *stop != '.') stop++;
        Value next;
        Str *part = str_intern(at, stop - at);
        TsrStatus status = part != NULL ? value_getattr(&next, now, part) : mem_error();
        value_release(now);
        TSR_TRY(status);
        now = next;
        if (stop == end) break;
        at = stop + 1;
    }
    *out = now;
    return TSR_OK;
}

static TsrStatus attrgetter_call(Value *out, Value self, const CallArgs *args) {
    return get_all(out, self, args, get_dotted);
}

static TsrStatus attrgetter_construct(Value *out, Type *type, const CallArgs *args) {
    TSR_TRY(args_no_keywords(args, "attrgetter"));
    if (args->count == 0) return args_count(args, 0, 1, 1, "attrgetter");
    for (int i = 0; i < args->count; i++) {
        if (!value_is_str(args->values[i])) return tsr_error(TSR_TYPE_ERROR, "attribute name must be a string");
    }
    return getting_new(out, type, args);
}

#define GETTING_TYPE(symbol, text, summary) \
    static Type symbol##_type = {.obj = TYPE_HEADER, \
                                 .name = text, \
                                 .module = "operator", \
                                 .doc = summary, \
                                 .flags = TYPE_GC, \
                                 .construct = symbol##_construct, \
                                 .destroy = getting_destroy, \
                                 .traverse = getting_traverse, \
                                 .clear = getting_clear, \
                                 .repr = getting_repr, \
                                 .call = symbol##_call}
GETTING_TYPE(itemgetter, "itemgetter", "itemgetter(item, ...): a function that gives x[item].");
GETTING_TYPE(attrgetter, "attrgetter", "attrgetter(name, ...): a function that gives x.name.");

/* --- the module --- */

#define ROW2(name, summary) \
    { #name, operator_##name, ARGS_RANGE, 2, 2, "(a, b, /)", summary }
#define ROW1(name, summary) \
    { #name, operator_##name, ARGS_ONE, 1, 1, "(a, /)", summary }
#define BINARY_ROW(op, method, name, sign) \
    ROW2(name, "a " sign " b."), ROW2(i##method, "What a is after a " sign "= b."),
#define COMPARE_ROW(op, name, sign) ROW2(name, "a " sign " b."),
static const Method functions[] = {
    BINARY_OPERATORS(BINARY_ROW) COMPARE_OPERATORS(COMPARE_ROW) ROW2(is_, "a is b."),
    ROW2(is_not, "a is not b."),
    ROW2(contains, "b in a."),
    ROW2(getitem, "a[b]."),
    ROW1(neg, "-a."),
    ROW1(pos, "+a."),
    ROW1(invert, "~a."),
    ROW1(not_, "not a."),
    ROW1(truth, "bool(a)."),
    ROW2(concat, "a + b, of sequences."),
    ROW2(iconcat, "What a is after a += b, of sequences."),
    ROW2(delitem, "del a[b]."),
    ROW1(index, "a as an int, by a.__index__()."),
    {"inv", operator_invert, ARGS_ONE, 1, 1, "(a, /)", "~a."},
    {"abs", builtin_abs, ARGS_ONE, 1, 1, "(a, /)", "Absolute value of a."},
    {"length_hint", operator_length_hint, ARGS_RANGE, 1, 2, "(obj, default=0, /)",
     "How many items obj will give, about; default where it does not say."},
    {"setitem", operator_setitem, ARGS_RANGE, 3, 3, "(a, b, c, /)", "a[b] = c."},
    {0},
};

static TsrStatus fill(Module *module) {
    TSR_TRY(module_add(module, "itemgetter", value_lent(&itemgetter_type)));
    return module_add(module, "attrgetter", value_lent(&attrgetter_type));
}

const NsModule ns_operator = {"operator", "The operators as functions.", functions, fill, NULL};
