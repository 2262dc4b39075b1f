#include "masked.h"

#include <string.h>

#include "lang/object/args.h"
#include "bind.h"
#include "lang/types/dict.h"
#include "lang/object/gc.h"
#include "lang/vm/prelude.h"
#include "lang/types/sequences.h"
#include "lang/types/str.h"
#include "tensor.h"
#include "types.h"

typedef struct Masked { Obj obj; TsrTensor *data, *mask; } Masked;

static inline Masked *as_masked(Value v) { return (Masked *)v.o; }
static inline Value lent_tensor(TsrTensor *t) { return (Value){.tag = V_TENSOR, {.t = t}}; }

bool masked_parts(TsrTensor *lent[2], Value v) {
    if (!value_is_obj(v, &masked_type)) return false;
    lent[0] = as_masked(v)->data;
    lent[1] = as_masked(v)->mask;
    return true;
}

/* Calls a function of prelude/masked_tensor.tsr. */
static TsrStatus ask(Value *out, const char *function, int count, const Value *values) {
    Value f;
    TSR_TRY(prelude_get(&f, "masked_tensor", function));
    if (f.tag == V_UNBOUND) return tsr_error(TSR_SYSTEM_ERROR, "the prelude lacks %s", function);
    TsrStatus status = value_call_n(out, f, count, values);
    value_release(f);
    return status;
}

/* ---- calls of operators that meet one ---- */

static bool has_masked(const Value *values, int64_t count) {
    for (int64_t i = 0; i < count; i++) {
        const Value *items;
        int64_t n;
        if (values[i].tag != V_OBJ) continue;
        if (values[i].o->type == &masked_type) return true;
        if (!value_as_array(values[i], &items, &n)) continue;
        for (int64_t k = 0; k < n; k++)
            if (value_is_obj(items[k], &masked_type)) return true;
    }
    return false;
}

static TsrStatus keywords(Value *out, const CallArgs *args) {
    Value dict;
    TSR_TRY(dict_new(&dict));
    TsrStatus status = TSR_OK;
    for (int i = 0; i < args->keyword_count && status == TSR_OK; i++) status = dict_set_str(value_as_dict(dict), args->names[i], args->values[args->count + i]);
    return value_end_move(out, status, dict);
}

/* The name as Tensor has it: "add_" of the in-place form. */
static TsrStatus operator_name(Value *out, const OpFunction *f) {
    const char *name = f->set->name;
    bool suffix = (f->form == BIND_INPLACE || f->form == BIND_INPLACE_FUNCTION) && name[strlen(name) - 1] != '_';
    return str_new_format(out, "%s%s", name, suffix ? "_" : "");
}

static TsrStatus override(Value *out, bool *handled, OpFunction *f, const CallArgs *args) {
    *handled = has_masked(args->values, args->count + args->keyword_count);
    if (!*handled) return TSR_OK;
    Value given[4] = {value_lent(f), VALUE_UNBOUND, VALUE_UNBOUND, VALUE_UNBOUND};
    TsrStatus status = operator_name(&given[1], f);
    if (status == TSR_OK) status = tuple_new(&given[2], args->values, args->count);
    if (status == TSR_OK) status = keywords(&given[3], args);
    if (status == TSR_OK) status = ask(out, "call", 4, given);
    values_release(given + 1, 3);
    return status;
}

/* ---- making one ---- */

/* Of a tuple (data, mask). */
static TsrStatus new_from_pair(Value *out, Value pair) {
    const Value *items;
    int64_t n = 0;
    if (!value_as_array(pair, &items, &n) || n != 2 || items[0].tag != V_TENSOR || items[1].tag != V_TENSOR)
        return tsr_error(TSR_SYSTEM_ERROR, "the prelude gave no data and mask");
    Masked *m = obj_new(&masked_type, sizeof *m);
    if (m == NULL) return mem_error();
    m->data = tsr_tensor_retain(items[0].t);
    m->mask = tsr_tensor_retain(items[1].t);
    bind_override = override; /* from the first one on, calls are looked at */
    *out = value_obj_move(m);
    return TSR_OK;
}

static TsrStatus construct(Value *out, Type *type, const CallArgs *args) {
    (void)type;
    static const char *const names[] = {"data", "mask", "requires_grad"};
    Value v[3], pair;
    TSR_TRY(args_parse_python(v, args, &(ArgSpec){"MaskedTensor.__new__", names, 3, 0, 3, 2}));
    if (v[0].tag != V_TENSOR) return tsr_error(TSR_TYPE_ERROR, "data must be a Tensor");
    if (v[1].tag != V_TENSOR) return tsr_error(TSR_TYPE_ERROR, "mask must be a Tensor");
    if (v[2].tag == V_BOOL && v[2].b) return bind_refuse_grad();
    TSR_TRY(ask(&pair, "prepared", 2, v));
    TsrStatus status = new_from_pair(out, pair);
    value_release(pair);
    return status;
}

static void destroy(Obj *self) {
    Masked *m = (Masked *)self;
    tsr_tensor_free(m->data);
    tsr_tensor_free(m->mask);
    obj_free(m, sizeof *m);
}

/* ---- its own methods and attributes ---- */

static TsrStatus get_data_tensor(Value *out, Value self) { return *out = value_tensor_move(tsr_tensor_retain(as_masked(self)->data)), TSR_OK; }
static TsrStatus get_mask_tensor(Value *out, Value self) { return *out = value_tensor_move(tsr_tensor_retain(as_masked(self)->mask)), TSR_OK; }
static TsrStatus get_is_sparse(Value *out, Value self) { return *out = value_bool(tsr_is_sparse(as_masked(self)->data)), TSR_OK; }
static TsrStatus get_same(Value *out, Value self) { return *out = value_retain(self), TSR_OK; }

static TsrStatus get_detached(Value *out, Value self) { return ask(out, "detached", 1, &self); }

static TsrStatus method_mask(Value *out, const CallArgs *args) { return get_mask_tensor(out, args->values[0]); }
static TsrStatus method_data(Value *out, const CallArgs *args) {
    Value data = lent_tensor(as_masked(args->values[0])->data);
    return bind_call(out, "detach", 1, &data);
}
static TsrStatus method_to_tensor(Value *out, const CallArgs *args) { return ask(out, "to_tensor", 2, args->values); }
static TsrStatus method_is_coo(Value *out, const CallArgs *args) { return *out = value_bool(as_masked(args->values[0])->data->layout == TSR_SPARSE_COO), TSR_OK; }
static TsrStatus method_is_csr(Value *out, const CallArgs *args) { return *out = value_bool(as_masked(args->values[0])->data->layout == TSR_SPARSE_CSR), TSR_OK; }
static TsrStatus method_item(Value *out, const CallArgs *args) { return ask(out, "item", 1, args->values); }
static TsrStatus method_same(Value *out, const CallArgs *args) { return get_same(out, args->values[0]); }
static TsrStatus method_copy(Value *out, const CallArgs *args) { return ask(out, "copied", 1, args->values); }
static TsrStatus method_abs(Value *out, const CallArgs *args) { return value_call_method(out, args->values[0], "abs", 0, NULL); }
static TsrStatus method_tolist(Value *out, const CallArgs *args) {
    (void)out, (void)args;
    return tsr_error(TSR_RUNTIME_ERROR, ".tolist() is not supported for tensor subclasses, got MaskedTensor");
}
static TsrStatus method_numpy(Value *out, const CallArgs *args) {
    (void)out, (void)args;
    return tsr_error(TSR_RUNTIME_ERROR, ".numpy() is not supported for tensor subclasses.");
}

/* type(): its name; type(t): in another one. */
static TsrStatus method_in_type(Value *out, const CallArgs *args) {
    Value data = lent_tensor(as_masked(args->values[0])->data);
    if (args->count == 1) return value_call_method(out, data, "type", 0, NULL);
    Value cast;
    TSR_TRY(value_call_method(&cast, data, "type", 1, args->values + 1));
    Value pair[2] = {cast, args->values[0]};
    TsrStatus status = ask(out, "with_data", 2, pair);
    value_release(cast);
    return status;
}

/* Takes other tensors, which the prelude has looked at. */
static TsrStatus method_set(Value *out, const CallArgs *args) {
    Masked *m = as_masked(args->values[0]);
    if (args->values[1].tag != V_TENSOR || args->values[2].tag != V_TENSOR) return tsr_error(TSR_TYPE_ERROR, "data and mask must be tensors");
    Value before[2] = {value_tensor_move(m->data), value_tensor_move(m->mask)};
    m->data = tsr_tensor_retain(args->values[1].t);
    m->mask = tsr_tensor_retain(args->values[2].t);
    values_release(before, 2);
    *out = VALUE_NONE;
    return TSR_OK;
}

static const Method methods[] = {
    {"get_data", method_data, ARGS_NONE, 0, 0, "()", "Its data, the same memory."},
    {"get_mask", method_mask, ARGS_NONE, 0, 0, "()", "Its mask: True where an element counts."},
    {"to_tensor", method_to_tensor, ARGS_ONE, 1, 1, "(value)", "Its data with value where the mask is False."},
    {"is_sparse_coo", method_is_coo, ARGS_NONE, 0, 0, "()", "Whether its layout is sparse_coo."},
    {"is_sparse_csr", method_is_csr, ARGS_NONE, 0, 0, "()", "Whether its layout is sparse_csr."},
    {"item", method_item, ARGS_NONE, 0, 0, "()", "The value of its one element, which must count."},
    {"type", method_in_type, ARGS_RANGE, 0, 1, "(dtype=None)", "The name of its type, or a copy in another one."},
    {"tolist", method_tolist, ARGS_NONE, 0, 0, "()", "An error: to_tensor(value).tolist() says what masked elements become."},
    {"numpy", method_numpy, ARGS_ANY, 0, 0, "()", "An error, as in PyTorch."},
    {"requires_grad_", method_same, ARGS_ANY, 0, 0, "(requires_grad=False)", "Itself: there is no autograd."},
    {"_set_data_mask", method_set, ARGS_RANGE, 2, 2, "(data, mask)", "Replaces both tensors."},
    {"__abs__", method_abs, ARGS_NONE | METHOD_DUNDER, 0, 0, "()", "abs(self)."},
    {"__copy__", method_copy, ARGS_NONE | METHOD_DUNDER, 0, 0, "()", "A copy."},
    {"__deepcopy__", method_copy, ARGS_ANY | METHOD_DUNDER, 0, 0, "(memo)", "A copy."},
    {0},
};

static const Getter getters[] = {
    {"_masked_data", get_data_tensor, NULL, "its data, the tensor itself"},
    {"_masked_mask", get_mask_tensor, NULL, "its mask, the tensor itself"},
    {"is_sparse", get_is_sparse, NULL, "whether its layout is a sparse one"},
    {"data", get_detached, NULL, "a copy"},
    {"real", get_same, NULL, "itself"},
    {0},
};

/* Methods of tensors are called with it in place of a tensor, and come back here by override. */
static TsrStatus lookup(Value *out, Type *type, Str *name) {
    (void)type;
    *out = VALUE_UNBOUND;
    if (name->size > 2 && name->data[0] == '_' && name->data[1] == '_') return TSR_OK;
    TSR_TRY(bind_new_method(out, name->data));
    return out->tag == V_UNBOUND ? prelude_get(out, "Tensor", name->data) : TSR_OK;
}

static bool is_property(const char *name) {
    const TsrOpSet *set = tsr_op_find(name);
    for (int i = 0; set != NULL && i < set->n; i++)
        if (set->ops[i]->forms & TSR_PROPERTY) return true;
    return false;
}

/* Shape, dtype and such are its data's. */
static TsrStatus get_attr(Value *out, Value self, Str *name) {
    Value own;
    *out = VALUE_UNBOUND;
    TSR_TRY(type_lookup(&own, &masked_type, name));
    if (own.tag != V_UNBOUND) return TSR_OK;
    for (const Getter *g = torch_tensor_type.getters; g->name != NULL; g++)
        if (str_equal_c(name, g->name)) return g->get(out, lent_tensor(as_masked(self)->data));
    if (!is_property(name->data)) return TSR_OK;
    Value given[2] = {value_lent(name), self};
    return ask(out, "attribute", 2, given);
}

/* ---- protocols ---- */

static TsrStatus repr(TsrText *out, Value self) {
    Value text;
    TSR_TRY(ask(&text, "text", 1, &self));
    TsrStatus status = value_str(out, text);
    value_release(text);
    return status;
}

static TsrStatus number(Value *out, Value self) { return ask(out, "item", 1, &self); }

static TsrStatus truth(bool *out, Value self) {
    const TsrTensor *t = as_masked(self)->data;
    if (t->numel != 1) return tsr_error(TSR_RUNTIME_ERROR, "Boolean value of Tensor with %s is ambiguous", t->numel == 0 ? "no values" : "more than one value");
    Value v;
    TSR_TRY(number(&v, self));
    TsrStatus status = value_truth(out, v);
    value_release(v);
    return status;
}

static TsrStatus length(int64_t *out, Value self) { return value_length(out, lent_tensor(as_masked(self)->data)); }

static TsrStatus get_item(Value *out, Value self, Value index) {
    Value given[2] = {self, index};
    return ask(out, "item_at", 2, given);
}

static TsrStatus set_item(Value self, Value index, Value v) {
    Value given[3] = {self, index, v}, none = VALUE_UNBOUND;
    TSR_TRY(ask(&none, "set_item_at", 3, given));
    value_release(none);
    return TSR_OK;
}

static TsrStatus contains(bool *out, Value self, Value item) {
    Value given[2] = {self, item}, found;
    TSR_TRY(ask(&found, "contains", 2, given));
    TsrStatus status = value_truth(out, found);
    value_release(found);
    return status;
}

static TsrStatus iter(Value *out, Value self) { return ask(out, "unbind", 1, &self); }

/* What an operator gives; None stands for "not handled". */
static TsrStatus operate(Value *out, const char *function, const char *name, bool method, Value a, Value b) {
    Value f, text;
    TSR_TRY(method ? bind_new_method(&f, name) : bind_new_function(&f, name));
    TsrStatus status = str_new_c(&text, name);
    if (status == TSR_OK) {
        Value given[4] = {f, text, a, b};
        status = ask(out, function, 4, given);
        value_release(text);
    }
    value_release(f);
    if (status == TSR_OK && out->tag == V_NONE) *out = VALUE_UNBOUND;
    return status;
}

static const char *const binary_operators[] = {
    [OP_ADD] = "add", [OP_SUB] = "sub", [OP_MUL] = "mul", [OP_MATMUL] = "matmul", [OP_DIV] = "div", [OP_FLOORDIV] = "floor_divide", [OP_MOD] = "remainder",
    [OP_POW] = "pow", [OP_LSHIFT] = "bitwise_left_shift", [OP_RSHIFT] = "bitwise_right_shift", [OP_AND] = "bitwise_and", [OP_OR] = "bitwise_or", [OP_XOR] = "bitwise_xor",
};
static const char *const inplace_operators[] = {
    [OP_ADD] = "add_", [OP_SUB] = "sub_", [OP_MUL] = "mul_", [OP_DIV] = "div_", [OP_FLOORDIV] = "floor_divide_", [OP_MOD] = "remainder_",
    [OP_POW] = "pow_", [OP_LSHIFT] = "bitwise_left_shift_", [OP_RSHIFT] = "bitwise_right_shift_", [OP_AND] = "bitwise_and_", [OP_OR] = "bitwise_or_", [OP_XOR] = "bitwise_xor_",
};
static const char *const compare_operators[] = {[CMP_EQ] = "eq", [CMP_NE] = "ne", [CMP_LT] = "lt", [CMP_LE] = "le", [CMP_GT] = "gt", [CMP_GE] = "ge"};

static TsrStatus binary(Value *out, BinaryOp op, Value a, Value b) { return operate(out, "binary_operator", binary_operators[op], false, a, b); }

static TsrStatus inplace(Value *out, BinaryOp op, Value self, Value b) {
    *out = VALUE_UNBOUND;
    return op == OP_MATMUL ? TSR_OK : operate(out, "inplace_operator", inplace_operators[op], true, self, b);
}

static TsrStatus compare(Value *out, CompareOp op, Value a, Value b) {
    *out = VALUE_UNBOUND;
    return op > CMP_GE ? TSR_OK : operate(out, "comparison", compare_operators[op], false, a, b);
}

static TsrStatus unary(Value *out, UnaryOp op, Value self) {
    Value name, given[2];
    *out = VALUE_UNBOUND;
    if (op == OP_NOT) return TSR_OK;
    TSR_TRY(str_new_c(&name, op == OP_NEG ? "neg" : op == OP_POS ? "positive" : "bitwise_not"));
    given[0] = name;
    given[1] = self;
    TsrStatus status = ask(out, "unary_operator", 2, given);
    value_release(name);
    return status;
}

static TsrStatus dir(List *names, Value self) { return torch_tensor_type.dir(names, self); }

static TsrStatus hash(int64_t *out, Value self) { return *out = (int64_t)((uintptr_t)self.o >> 4), TSR_OK; }

static void traverse(Obj *self, GcVisit visit, void *context) {
    gc_visit_value(lent_tensor(((Masked *)self)->data), visit, context);
    gc_visit_value(lent_tensor(((Masked *)self)->mask), visit, context);
}

Type masked_type = {.obj = TYPE_HEADER, .name = "MaskedTensor", .module = "torch.masked.maskedtensor.core", .doc = "A tensor with a mask that says which elements count.",
                    .construct = construct, .destroy = destroy, .traverse = traverse, .repr = repr, .number = number, .truth = truth, .length = length, .hash = hash, .dir = dir, .get_item = get_item,
                    .set_item = set_item, .contains = contains, .iter = iter, .get_attr = get_attr, .lookup = lookup, .binary = binary, .inplace = inplace,
                    .compare = compare, .unary = unary, .methods = methods, .getters = getters};

/* A MaskedTensor is a Tensor, too, though no other part of it is one. */
static TsrStatus is_tensor(bool *out, Type *type, Value v) {
    (void)type;
    *out = v.tag == V_TENSOR || value_is_obj(v, &masked_type);
    return TSR_OK;
}

TsrStatus masked_fill(Module *module) {
    torch_tensor_type.instance_check = is_tensor;
    return module_add(module, "MaskedTensor", value_lent(&masked_type));
}
