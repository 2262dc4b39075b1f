/* result.c: the results of a row as values of the language. */
#include <stdio.h>
#include <string.h>

#include "bind.h"
#include "lang/object/native.h"
#include "lang/object/gc.h"
#include "lang/types/sequences.h"
#include "lang/types/str.h"
#include "torch/types.h"

static TsrStatus tensors_value(Value *out, TsrArg *r) {
    Value v;
    TSR_TRY(tuple_new_raw(&v, r->n));
    Tuple *tuple = value_as_tuple(v);
    for (int i = 0; i < r->n; i++) tuple->items[i] = value_tensor_move(r->tensors[i]);
    tsr_free(r->tensors);
    r->kind = TSR_ARG_NONE;
    gc_track(tuple);
    *out = v;
    return TSR_OK;
}

static TsrStatus ints_value(Value *out, const TsrOpCall *call, const TsrArg *r) {
    if (strcmp(call->schema->base, "stride") != 0) return size_new(out, r->ints, r->n);
    Value v;
    TSR_TRY(tuple_new_raw(&v, r->n));
    for (int i = 0; i < r->n; i++) value_as_tuple(v)->items[i] = value_int(r->ints[i]);
    gc_track(v.o);
    *out = v;
    return TSR_OK;
}

static TsrStatus floats_value(Value *out, const TsrArg *r) {
    TSR_TRY(list_new(out, r->n));
    for (int i = 0; i < r->n; i++) (void)list_append_move(value_as_list(*out), value_float(r->floats[i]));
    return TSR_OK;
}

/* One result; a tensor's reference moves into *out, arrays are left to tsr_op_release_returns. */
static TsrStatus one_result(Value *out, TsrOpCall *call, TsrArg *r) {
    switch (r->kind) {
    case TSR_ARG_TENSOR:
        *out = r->t == NULL ? VALUE_NONE : value_tensor_move(r->t);
        r->kind = TSR_ARG_NONE;
        return TSR_OK;
    case TSR_ARG_TENSORS: return tensors_value(out, r);
    case TSR_ARG_SCALAR: return bind_scalar_value(out, r->s);
    case TSR_ARG_INT: *out = value_int(r->i); return TSR_OK;
    case TSR_ARG_FLOAT: *out = value_float(r->f); return TSR_OK;
    case TSR_ARG_BOOL: *out = value_bool(r->b); return TSR_OK;
    case TSR_ARG_STR: return str_new_c(out, r->str);
    case TSR_ARG_INTS: return ints_value(out, call, r);
    case TSR_ARG_FLOATS: return floats_value(out, r);
    case TSR_ARG_DTYPE: *out = dtype_value(r->dtype); return TSR_OK;
    case TSR_ARG_LAYOUT: *out = layout_value(r->layout); return TSR_OK;
    case TSR_ARG_DEVICE: return device_new(out, r->device);
    default: *out = VALUE_NONE; return TSR_OK;
    }
}

/* torch.return_types.NAME with the schema's field names; NAME_out when written into out=. */
static TsrStatus named_type(Type **out, const TsrSchema *schema, bool written) {
    char name[96];
    const char *fields[TSR_MAX_RETS];
    int module = snprintf(name, sizeof name, "torch.return_types.");
    snprintf(name + module, sizeof name - (size_t)module, "%s%s", schema->name, written ? "_out" : "");
    for (char *c = name + module; *c != '\0'; c++)
        if (*c == '.') *c = '_';
    for (int i = 0; i < schema->nreturns; i++) fields[i] = schema->returns[i].name;
    Str *kept = str_intern_c(name);
    if (kept == NULL) return mem_error();
    *out = structseq_type(kept->data, fields, schema->nreturns);
    return *out == NULL ? mem_error() : TSR_OK;
}

TsrStatus bind_fill_return_types(Module *m) {
    for (int i = 0; i < tsr_op_count(); i++) {
        const TsrOpSet *set = tsr_op_at(i);
        for (int k = 0; k < set->n; k++) {
            const TsrSchema *schema;
            Type *type;
            TSR_TRY(tsr_op_schema(&schema, set->ops[k]));
            if (!schema->named_returns) continue;
            for (int written = 0; written < 2; written++) {
                if (written && !(set->ops[k]->forms & TSR_OUT)) continue;
                TSR_TRY(named_type(&type, schema, written));
                TSR_TRY(module_add(m, strrchr(type->name, '.') + 1, value_lent(type)));
            }
        }
    }
    return TSR_OK;
}

static TsrStatus many_results(Value *out, TsrOpCall *call) {
    Value items[TSR_MAX_RETS];
    int n = 0;
    TsrStatus s = TSR_OK;
    for (; n < call->nret && s == TSR_OK; n++) {
        items[n] = VALUE_NONE;
        s = one_result(&items[n], call, &call->ret[n]);
    }
    Type *type = NULL;
    if (s == TSR_OK && call->schema->named_returns)
        s = named_type(&type, call->schema, call->out[0] != NULL && !call->inplace);
    if (s != TSR_OK) {
        values_release(items, n);
        return s;
    }
    return type != NULL ? structseq_new_move(out, type, items) : tuple_new_move(out, items, n);
}

TsrStatus bind_result_move(Value *out, TsrOpCall *call) {
    if (TSR_LIKELY(call->nret == 1 && call->ret[0].kind == TSR_ARG_TENSOR && call->ret[0].t != NULL)) {
        *out = value_tensor_move(call->ret[0].t);
        call->nret = 0;
        return TSR_OK;
    }
    TsrStatus s = TSR_OK;
    if (call->nret == 0) *out = VALUE_NONE;
    else if (call->nret == 1) s = one_result(out, call, &call->ret[0]);
    else s = many_results(out, call);
    tsr_op_release_returns(call);
    return s;
}
