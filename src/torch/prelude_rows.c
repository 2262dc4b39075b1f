/* Rows of the operator table whose bodies are functions of the prelude (prelude/rows.tsr): the row binds the arguments
 * as PyTorch's parser does and gives the operator its forms; the function of the same name gets every argument in the
 * row's order. */
#include <string.h>

#include "torch/bind/bind.h"
#include "core/op/shared.h"
#include "lang/vm/prelude.h"
#include "lang/types/sequences.h"
#include "lang/types/str.h"
#include "functions.h"
#include "types.h"

static TsrStatus tensor_list(Value *out, const TsrArg *a) {
    TSR_TRY(list_new(out, a->n));
    for (int i = 0; i < a->n; i++) {
        Value v = a->tensors[i] == NULL ? VALUE_NONE : value_tensor_move(tsr_tensor_retain(a->tensors[i]));
        (void)list_append_move(value_as_list(*out), v); /* there is room */
    }
    return TSR_OK;
}

static TsrStatus int_list(Value *out, const TsrArg *a) {
    TSR_TRY(list_new(out, a->n));
    for (int i = 0; i < a->n; i++) (void)list_append_move(value_as_list(*out), value_int(a->ints[i]));
    return TSR_OK;
}

/* A bound argument as the caller's value. */
static TsrStatus argument_value(Value *out, const TsrArg *a) {
    switch (a->kind) {
    case TSR_ARG_TENSOR: *out = value_tensor_move(tsr_tensor_retain(a->t)); return TSR_OK;
    case TSR_ARG_TENSORS: return tensor_list(out, a);
    case TSR_ARG_SCALAR: return bind_scalar_value(out, a->s);
    case TSR_ARG_INT: *out = value_int(a->i); return TSR_OK;
    case TSR_ARG_INTS: return int_list(out, a);
    case TSR_ARG_FLOAT: *out = value_float(a->f); return TSR_OK;
    case TSR_ARG_BOOL: *out = value_bool(a->b); return TSR_OK;
    case TSR_ARG_STR: return str_new_c(out, a->str);
    case TSR_ARG_LAYOUT: *out = layout_value(a->layout); return TSR_OK;
    case TSR_ARG_DTYPE: *out = dtype_value(a->dtype); return TSR_OK;
    case TSR_ARG_DEVICE: return device_new(out, a->device);
    default: *out = VALUE_NONE; return TSR_OK;
    }
}

static TsrStatus take_tensor(TsrOpCall *c, int k, Value v) {
    if (v.tag != V_TENSOR) return tsr_error(TSR_SYSTEM_ERROR, "%s: the prelude gave no tensor", c->schema->name);
    c->ret[k] = (TsrArg){.kind = TSR_ARG_TENSOR, .t = tsr_tensor_retain(v.t)};
    c->nret = k + 1;
    return TSR_OK;
}

static TsrStatus take_results(TsrOpCall *c, Value result) {
    if (c->schema->nreturns == 1) return take_tensor(c, 0, result);
    const Tuple *tuple = value_is_tuple(result) ? value_as_tuple(result) : NULL;
    if (tuple == NULL || tuple->count != c->schema->nreturns)
        return tsr_error(TSR_SYSTEM_ERROR, "%s: the prelude gave no tuple", c->schema->name);
    for (int k = 0; k < c->schema->nreturns; k++) {
        TsrStatus status = take_tensor(c, k, tuple->items[k]);
        if (status == TSR_OK) continue;
        tsr_op_release_returns(c);
        return status;
    }
    return TSR_OK;
}

static TsrStatus row_prelude(TsrOpCall *c) {
    Value callee, result = VALUE_UNBOUND, values[TSR_MAX_ARGS];
    bool writes = c->inplace || c->op->alias == TSR_IN_PLACE;
    if (writes && c->op->out_overlap == TSR_OVERLAP_WHOLE) TSR_TRY(tsr_check_out_overlap(c->arg[0].t, NULL));
    TSR_TRY(prelude_get(&callee, "rows", c->schema->base));
    if (callee.tag == V_UNBOUND) return tsr_error(TSR_SYSTEM_ERROR, "the prelude lacks %s", c->schema->base);
    int n = 0;
    TsrStatus status = TSR_OK;
    for (; n < c->nargs && status == TSR_OK; n++) {
        values[n] = VALUE_NONE;
        status = argument_value(&values[n], &c->arg[n]);
    }
    TsrDevice before = device_default;
    if (tsr_device_has_backend(before)) device_default = TSR_DEVICE_CPU; /* where the arguments were lent to */
    if (status == TSR_OK) status = value_call_n(&result, callee, n, values);
    device_default = before;
    values_release(values, n);
    value_release(callee);
    if (status == TSR_OK) status = take_results(c, result);
    value_release(result);
    return status;
}

#define NN "neural network"
/* The bodies run on tensors of a device as they are: what they call asks the device. */
#define ROW(...) {.fn = row_prelude, .alias = TSR_FRESH, .flags = TSR_OP_DEVICE, __VA_ARGS__},
/* under torch and under torch.nn.functional: `call` is the example without its module */
#define BOTH(schema_, forms_, what, call, ...) \
    BOTH_ROW(schema_, forms_, what, "torch." call, __VA_ARGS__) \
    BOTH_ROW("nn.functional." schema_, (forms_) & (TSR_FN | TSR_OUT), what, "F." call, __VA_ARGS__)
#define BOTH_ROW(schema_, forms_, what, call, ...) \
    ROW(.schema = schema_, .forms = forms_, .category = NN, .summary = what, .example = call, .output = __VA_ARGS__)
#define INNER_ROW(schema_, returns, forms_, overlap) \
    {.fn = row_prelude, \
     .schema = "_C._nn." schema_ " -> " returns, \
     .forms = forms_, \
     .flags = TSR_OP_HIDDEN | TSR_OP_DEVICE, \
     .alias = TSR_FRESH, \
     .out_overlap = TSR_OVERLAP_##overlap, \
     .category = NN, \
     .summary = "What the function of torch.nn.functional calls."},
#define VF(schema_) VF_ROW(schema_ " -> (Tensor, Tensor, Tensor)", "sort")
#define VF_ROW(schema_, category_) \
    {.fn = row_prelude, \
     .schema = "_VF." schema_, \
     .forms = TSR_FN, \
     .flags = TSR_OP_HIDDEN | TSR_OP_DEVICE, \
     .alias = TSR_FRESH, \
     .category = category_, \
     .summary = "What the function of torch calls."},
#define INNER(schema_) INNER_ROW(schema_, "Tensor", TSR_FN, ANY)
#define INNER_TOO(schema_, overlap) \
    INNER_ROW(schema_, "Tensor", TSR_FN | TSR_INPLACE_FN, overlap) /* and written into self */
#define INNER_PAIR(schema_) INNER_ROW(schema_, "(Tensor, Tensor)", TSR_FN, ANY)
#define SPARSE_ROW(...) \
    {.fn = row_prelude, .flags = TSR_OP_SPARSE | TSR_OP_DEVICE, .alias = TSR_FRESH, .category = "sparse", __VA_ARGS__},
#define MAYBE_VIEW(...) \
    {.fn = row_prelude, .alias = TSR_MAYBE_VIEW, .flags = TSR_OP_DEVICE, .category = NN, __VA_ARGS__},
#define NESTED(...) {.fn = row_prelude, .flags = TSR_OP_OBJECT, .alias = TSR_FRESH, __VA_ARGS__},
#define WRITES(...) {.fn = row_prelude, .alias = TSR_IN_PLACE, .flags = TSR_OP_DEVICE, __VA_ARGS__},

static const TsrOp rows[] = {
#include "prelude_rows.def"
};

TsrStatus torch_prelude_register(void) { return tsr_op_register(rows, (int)TSR_COUNTOF(rows)); }
