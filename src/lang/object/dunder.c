/* The special methods behind operators as attributes: x.__add__(y), hasattr(x, '__len__'). One row a name. */
#include "args.h"
#include "lang/types/dict.h"
#include "exc.h"
#include "lang/types/numbers.h"
#include "lang/types/sequences.h"
#include "lang/types/str.h"
#include "value_impl.h"

#include <math.h>
#include <string.h>

static TsrStatus not_implemented_if_unbound(Value *out) {
    if (out->tag == V_UNBOUND) *out = value_retain(VALUE_NOT_IMPLEMENTED);
    return TSR_OK;
}

static TsrStatus apply_binary(Value *out, BinaryOp op, Value self, Value a, Value b) {
    const Type *t = value_type(self);
    while (t != NULL && t->binary == NULL) t = type_base(t);
    *out = VALUE_UNBOUND;
    if (t != NULL) TSR_TRY(t->binary(out, op, a, b));
    return not_implemented_if_unbound(out);
}

static TsrStatus apply_compare(Value *out, CompareOp op, const CallArgs *args) {
    const Type *t = value_type(args->values[0]);
    while (t != NULL && t->compare == NULL) t = type_base(t);
    *out = VALUE_UNBOUND;
    if (t != NULL) TSR_TRY(t->compare(out, op, args->values[0], args->values[1]));
    return not_implemented_if_unbound(out);
}

#define BINARY(op, name, ...) \
    static TsrStatus dunder_##name(Value *out, const CallArgs *args) { \
        return apply_binary(out, op, args->values[0], args->values[0], args->values[1]); \
    } \
    static TsrStatus dunder_r##name(Value *out, const CallArgs *args) { \
        return apply_binary(out, op, args->values[0], args->values[1], args->values[0]); \
    } \
    static TsrStatus dunder_i##name(Value *out, const CallArgs *args) { \
        return value_inplace(out, op, args->values[0], args->values[1]); \
    }
BINARY_OPERATORS(BINARY)
#undef BINARY

#define COMPARE(op, name, sign) \
    static TsrStatus dunder_##name(Value *out, const CallArgs *args) { return apply_compare(out, op, args); }
COMPARE_OPERATORS(COMPARE)
#undef COMPARE

static TsrStatus dunder_neg(Value *out, const CallArgs *args) { return value_unary(out, OP_NEG, args->values[0]); }
static TsrStatus dunder_pos(Value *out, const CallArgs *args) { return value_unary(out, OP_POS, args->values[0]); }
static TsrStatus dunder_invert(Value *out, const CallArgs *args) {
    return value_unary(out, OP_INVERT, args->values[0]);
}
static TsrStatus dunder_repr(Value *out, const CallArgs *args) { return value_new_repr(out, args->values[0]); }
static TsrStatus dunder_str(Value *out, const CallArgs *args) { return value_new_str(out, args->values[0]); }
static TsrStatus dunder_iter(Value *out, const CallArgs *args) { return value_iter(out, args->values[0]); }
static TsrStatus dunder_getitem(Value *out, const CallArgs *args) {
    return value_getitem(out, args->values[0], args->values[1]);
}
static TsrStatus dunder_call(Value *out, const CallArgs *args) {
    CallArgs rest = {args->values + 1, args->count - 1, args->keyword_count, args->names, false};
    return value_call(out, args->values[0], &rest);
}

static TsrStatus dunder_abs(Value *out, const CallArgs *args) {
    Value v = args->values[0];
    if (v.tag == V_FLOAT) {
        *out = value_float(fabs(v.f));
        return TSR_OK;
    }
    if (value_is_complex(v)) {
        *out = value_float(hypot(value_as_complex(v)->re, value_as_complex(v)->im));
        return TSR_OK;
    }
    if (value_is_int(v)) return int_sign(v) < 0 ? int_negate(out, v) : value_unary(out, OP_POS, v);
    return value_call_method(out, v, "abs", 0, NULL);
}

static TsrStatus dunder_divmod(Value *out, const CallArgs *args) {
    Value pair[2];
    TSR_TRY(apply_binary(&pair[0], OP_FLOORDIV, args->values[0], args->values[0], args->values[1]));
    TsrStatus status = apply_binary(&pair[1], OP_MOD, args->values[0], args->values[0], args->values[1]);
    if (status == TSR_OK) return tuple_new_move(out, pair, 2);
    value_release(pair[0]);
    return status;
}

static TsrStatus dunder_len(Value *out, const CallArgs *args) {
    int64_t n;
    TSR_TRY(value_length(&n, args->values[0]));
    *out = value_int(n);
    return TSR_OK;
}

static TsrStatus dunder_hash(Value *out, const CallArgs *args) {
    int64_t n;
    TSR_TRY(value_hash(&n, args->values[0]));
    *out = value_int(n);
    return TSR_OK;
}

static TsrStatus dunder_bool(Value *out, const CallArgs *args) {
    bool b;
    TSR_TRY(value_truth(&b, args->values[0]));
    *out = value_bool(b);
    return TSR_OK;
}

static TsrStatus dunder_contains(Value *out, const CallArgs *args) {
    bool b;
    TSR_TRY(value_contains(&b, args->values[0], args->values[1]));
    *out = value_bool(b);
    return TSR_OK;
}

static TsrStatus dunder_setitem(Value *out, const CallArgs *args) {
    *out = VALUE_NONE;
    return value_setitem(args->values[0], args->values[1], args->values[2]);
}

static TsrStatus dunder_delitem(Value *out, const CallArgs *args) {
    *out = VALUE_NONE;
    return value_delitem(args->values[0], args->values[1]);
}

static TsrStatus dunder_next(Value *out, const CallArgs *args) {
    TSR_TRY(value_next(out, args->values[0]));
    return out->tag != V_UNBOUND ? TSR_OK : tsr_error(TSR_STOP_ITERATION, "%s", "");
}

static TsrStatus dunder_format(Value *out, const CallArgs *args) {
    if (!value_is_str(args->values[1]))
        return tsr_error(TSR_TYPE_ERROR, "__format__() argument must be str, not %s", value_type_name(args->values[1]));
    TsrText text = {0};
    const Str *spec = value_as_str(args->values[1]);
    TsrStatus status = value_format(&text, args->values[0], spec->data, (size_t)spec->size);
    return str_end_text_move(out, status, &text);
}

static TsrStatus dunder_getattribute(Value *out, const CallArgs *args) {
    Str *name;
    TSR_TRY(value_to_name(&name, args->values[1]));
    return value_getattr(out, args->values[0], name);
}

static TsrStatus dunder_dir(Value *out, const CallArgs *args) { return value_dir(out, args->values[0]); }

static TsrStatus dunder_int(Value *out, const CallArgs *args) { return int_type.construct(out, &int_type, args); }
static TsrStatus dunder_float(Value *out, const CallArgs *args) { return float_type.construct(out, &float_type, args); }

static TsrStatus dunder_index(Value *out, const CallArgs *args) {
    Value v = args->values[0];
    if (v.tag == V_TENSOR && tensor_hooks.to_index != NULL) return tensor_hooks.to_index(out, v);
    *out = v.tag == V_BOOL ? value_int(v.i) : value_retain(v);
    return TSR_OK;
}

/* Which operators a builtin type has: number, sequence, set, mapping. */
static bool is_number(const Type *t) {
    return t == &int_type || t == &bool_type || t == &float_type || strcmp(t->name, "complex") == 0 || t == tensor_type;
}
static bool is_integral(const Type *t) { return t == &int_type || t == &bool_type || t == tensor_type; }
static bool is_sequence(const Type *t) {
    return (t->flags & TYPE_SEQUENCE) != 0 || (t->base != NULL && (t->base->flags & TYPE_SEQUENCE) != 0);
}
static bool is_set(const Type *t) {
    return t == &set_type || t == &frozenset_type || t == &dict_keys_type || t == &dict_items_type;
}

static bool always(const Type *t) { return t != NULL; }
static bool has_add(const Type *t) { return is_number(t) || is_sequence(t); }
static bool has_sub(const Type *t) { return is_number(t) || is_set(t); }
static bool has_mul(const Type *t) { return is_number(t) || is_sequence(t); }
static bool has_floor(const Type *t) { return is_number(t) && strcmp(t->name, "complex") != 0; }
static bool has_divmod(const Type *t) { return has_floor(t) && t != tensor_type; }
static bool has_mod(const Type *t) { return has_floor(t) || t == &str_type || strncmp(t->name, "byte", 4) == 0; }
static bool has_bits(const Type *t) { return is_integral(t) || is_set(t); }
static bool has_or(const Type *t) { return has_bits(t) || t == &dict_type || t == &type_type; }
static bool has_matmul(const Type *t) { return t == tensor_type; }
static bool has_iadd(const Type *t) { return t == &list_type || t == tensor_type || strcmp(t->name, "bytearray") == 0; }
static bool has_isub(const Type *t) { return t == &set_type || t == tensor_type; }
static bool has_itensor(const Type *t) { return t == tensor_type; }
static bool has_ior(const Type *t) { return t == &set_type || t == &dict_type || t == tensor_type; }
static bool has_int(const Type *t) { return has_floor(t); }

#define HAS(slot) \
    static bool has_##slot(const Type *t) { \
        for (; t != NULL; t = type_base(t)) \
            if (t->slot != NULL) return true; \
        return false; \
    }
HAS(length)
HAS(get_item)
HAS(set_item)
HAS(del_item)
HAS(iter_next)
HAS(call)
HAS(contains)
#undef HAS
static bool has_iter(const Type *t) {
    for (const Type *u = t; u != NULL; u = type_base(u)) {
        if (u->iter != NULL) return true;
    }
    return has_iter_next(t);
}
static bool has_bool(const Type *t) { return t->truth != NULL; }
static bool has_contains_like(const Type *t) { return has_contains(t); }
static bool has_hash(const Type *t) {
    for (; t != NULL; t = type_base(t)) {
        if (t->hash != NULL) return t->hash != hash_refused;
    }
    return true;
}

typedef struct Dunder {
    Method method;
    bool (*has)(const Type *type);
} Dunder;

#define ROW(name, kind, has) \
    { {"__" #name "__", dunder_##name, kind | METHOD_DUNDER, 0, 0, NULL, NULL}, has }
#define BINARY_ROWS(name, has, has_inplace) \
    ROW(name, ARGS_ONE, has) \
    , {{"__r" #name "__", dunder_r##name, ARGS_ONE | METHOD_DUNDER, 0, 0, NULL, NULL}, has}, { \
        {"__i" #name "__", dunder_i##name, ARGS_ONE | METHOD_DUNDER, 0, 0, NULL, NULL}, has_inplace \
    }
static const Dunder dunders[] = {
    BINARY_ROWS(add, has_add, has_iadd),
    BINARY_ROWS(sub, has_sub, has_isub),
    BINARY_ROWS(mul, has_mul, has_iadd),
    BINARY_ROWS(matmul, has_matmul, has_itensor),
    BINARY_ROWS(truediv, is_number, has_itensor),
    BINARY_ROWS(floordiv, has_floor, has_itensor),
    BINARY_ROWS(mod, has_mod, has_itensor),
    BINARY_ROWS(pow, is_number, has_itensor),
    BINARY_ROWS(lshift, is_integral, has_itensor),
    BINARY_ROWS(rshift, is_integral, has_itensor),
    BINARY_ROWS(and, has_bits, has_isub),
    BINARY_ROWS(or, has_or, has_ior),
    BINARY_ROWS(xor, has_bits, has_isub),
    ROW(eq, ARGS_ONE, always),
    ROW(ne, ARGS_ONE, always),
    ROW(lt, ARGS_ONE, always),
    ROW(le, ARGS_ONE, always),
    ROW(gt, ARGS_ONE, always),
    ROW(ge, ARGS_ONE, always),
    ROW(neg, ARGS_NONE, is_number),
    ROW(pos, ARGS_NONE, is_number),
    ROW(abs, ARGS_NONE, is_number),
    ROW(divmod, ARGS_ONE, has_divmod),
    ROW(invert, ARGS_NONE, is_integral),
    ROW(repr, ARGS_NONE, always),
    ROW(str, ARGS_NONE, always),
    ROW(hash, ARGS_NONE, has_hash),
    ROW(bool, ARGS_NONE, has_bool),
    ROW(len, ARGS_NONE, has_length),
    ROW(iter, ARGS_NONE, has_iter),
    ROW(next, ARGS_NONE, has_iter_next),
    ROW(contains, ARGS_ONE, has_contains_like),
    ROW(getitem, ARGS_ONE, has_get_item),
    {{"__setitem__", dunder_setitem, ARGS_RANGE | METHOD_DUNDER, 2, 2, NULL, NULL}, has_set_item},
    ROW(delitem, ARGS_ONE, has_del_item),
    ROW(call, ARGS_ANY, has_call),
    ROW(format, ARGS_ONE, always),
    ROW(dir, ARGS_NONE, always),
    ROW(int, ARGS_ANY, has_int),
    ROW(float, ARGS_ANY, has_int),
    ROW(index, ARGS_NONE, is_integral),
    {{"__getattribute__", dunder_getattribute, ARGS_ONE | METHOD_DUNDER, 0, 0, NULL, NULL}, always},
};

const Method *dunder_lookup(const Type *type, const Str *name) {
    if (name->size < 6 || name->data[0] != '_' || name->data[1] != '_') return NULL;
    for (size_t i = 0; i < TSR_COUNTOF(dunders); i++) {
        if (strcmp(dunders[i].method.name, name->data) == 0) return dunders[i].has(type) ? &dunders[i].method : NULL;
    }
    return NULL;
}

TsrStatus dunder_list(List *names, const Type *type) {
    for (size_t i = 0; i < TSR_COUNTOF(dunders); i++) {
        if (!dunders[i].has(type)) continue;
        Str *s = str_intern_c(dunders[i].method.name);
        if (s == NULL) return mem_error();
        TSR_TRY(list_append(names, value_lent(s)));
    }
    return TSR_OK;
}
