/* THS: sparse COO tensors, whose indices and values are handed out as raw handles, and moved in. */
#include "core/op.h"
#include "core/view.h"
#include "th_impl.h"

static TsrStatus sparse_arg(TsrTensor **lent, Value v, const char *fn) {
    TSR_TRY(th_tensor_arg(lent, v, fn));
    if ((*lent)->layout != TSR_SPARSE_COO) return tsr_error(TSR_TYPE_ERROR, "%s: expected a sparse COO tensor", fn);
    return TSR_OK;
}

static TsrStatus ths_new_indices(Value *out, const CallArgs *args) {
    TsrTensor *t, *view;
    TSR_TRY(sparse_arg(&t, args->values[0], "THS.newIndices"));
    TSR_TRY(tsr_tensor_new_narrow(&view, t->sparse->indices, 1, 0, t->sparse->indices->sizes[1]));
    return th_give_tensor_move(out, view);
}

static TsrStatus ths_new_values(Value *out, const CallArgs *args) {
    TsrTensor *t, *view;
    TSR_TRY(sparse_arg(&t, args->values[0], "THS.newValues"));
    TSR_TRY(tsr_tensor_new_narrow(&view, t->sparse->values, 0, 0, t->sparse->values->sizes[0]));
    return th_give_tensor_move(out, view);
}

static TsrStatus ths_new_coalesce(Value *out, const CallArgs *args) {
    TsrTensor *t, *coalesced;
    TSR_TRY(sparse_arg(&t, args->values[0], "THS.newCoalesce"));
    if (t->flags & TSR_FLAG_COALESCED) return th_give_tensor_move(out, tsr_tensor_retain(t));
    TSR_TRY(tsr_invoke_new(&coalesced, 1, "coalesce", "t", t));
    return th_give_tensor_move(out, coalesced);
}

/* What the sparse tensor's parts must be: its dims x nnz indices, and nnz values of its dtype. */
static TsrStatus check_parts(const TsrTensor *t, const TsrTensor *indices, const TsrTensor *values) {
    const TsrSparse *sp = t->sparse;
    if (indices->dtype != TSR_INT64 || tsr_ndim(indices) != 2 || indices->sizes[0] != sp->sparse_dim)
        return th_fail("THS.move: indices must be a LongTensor of %d x nnz", sp->sparse_dim);
    if (values->dtype != t->dtype || tsr_ndim(values) != 1 + sp->dense_dim || values->sizes[0] != indices->sizes[1])
        return th_fail("THS.move: values must be a TH%sTensor, one for each of the %lld indices", th_name(t->dtype),
                       (long long)indices->sizes[1]);
    for (int d = 0; d < sp->dense_dim; d++)
        if (values->sizes[1 + d] != t->sizes[sp->sparse_dim + d])
            return th_fail("THS.move: values have size %lld in dimension %d, not %lld", (long long)values->sizes[1 + d],
                           1 + d, (long long)t->sizes[sp->sparse_dim + d]);
    return TSR_OK;
}

static TsrStatus movable_arg(TsrTensor **lent, Value v) {
    TSR_TRY(th_dense_arg(lent, v, "THS.move"));
    return th_is_handle(v) ? TSR_OK : th_fail("THS.move: only raw references can be moved");
}

/* The one move there was: the sparse tensor's parts become the two references, which are not the caller's any more. */
static TsrStatus ths_move(Value *out, const CallArgs *args) {
    TsrTensor *t, *indices, *values;
    TSR_TRY(sparse_arg(&t, args->values[0], "THS.move"));
    TSR_TRY(movable_arg(&indices, args->values[1]));
    TSR_TRY(movable_arg(&values, args->values[2]));
    TSR_TRY(check_parts(t, indices, values));
    if (indices == values && th_record(args->values[1])->raw < 2)
        return th_fail("THS.move: one reference can't be moved twice");
    tsr_tensor_free(t->sparse->indices);
    tsr_tensor_free(t->sparse->values);
    t->sparse->indices = tsr_tensor_retain(indices);
    t->sparse->values = tsr_tensor_retain(values);
    t->flags &= (uint8_t)~TSR_FLAG_COALESCED;
    th_release_raw(th_record(args->values[1]));
    th_release_raw(th_record(args->values[2]));
    *out = VALUE_NONE;
    return TSR_OK;
}

static TsrStatus ths_nnz(Value *out, const CallArgs *args) {
    TsrTensor *t;
    TSR_TRY(sparse_arg(&t, args->values[0], "THS.nnz"));
    *out = value_int(t->sparse->indices->sizes[1]);
    return TSR_OK;
}

const Method ths_functions[] = {
    {"newIndices", ths_new_indices, ARGS_RANGE, 1, 1, "(t)", "The indices: a pointer to the existing tensor; free it."},
    {"newValues", ths_new_values, ARGS_RANGE, 1, 1, "(t)", "The values: a pointer to the existing tensor; free it."},
    {"newCoalesce", ths_new_coalesce, ARGS_RANGE, 1, 1, "(t)", "t with each index once; free it."},
    {"move", ths_move, ARGS_RANGE, 3, 3, "(t, indices, values)",
     "Moves both references into t: its indices and values from now on, and not yours to free."},
    {"nnz", ths_nnz, ARGS_RANGE, 1, 1, "(t)", "How many elements are given."},
    {"free", th_free, ARGS_RANGE, 1, 1, "(t)", "Gives one reference back."},
    {"retain", th_retain, ARGS_RANGE, 1, 1, "(t)", "One reference more; free it."},
    {"tensor", th_tensor, ARGS_RANGE, 1, 1, "(t)", "The tensor of a handle."},
    {0},
};
