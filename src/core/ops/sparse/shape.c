/* shape.c: sparse tensors copied, converted and in other shapes, their parts and joined ones; and the refusals of
 * views, of which they have none.
 *
 * What concerns the values alone (detach, conj, a cast) is the dense operator on `values` with the same indices. What
 * concerns places works on columns of `indices`: transposing swaps rows of it, select and narrow keep the entries
 * within, index_select repeats them in the order asked for, cat shifts the second tensor's. */
#include <string.h>

#include "core/mem.h"
#include "core/kernels/pointwise/table.h"
#include "sparse.h"
#include "there.h"
#include "core/op/sparse.h"

#define SELF (c->arg[0].t)

/* ---- the same elements ---- */

/* Applies the operator `name` to indices and values and makes a sparse tensor of the two results. */
static TsrStatus part_by_part(TsrOpCall *c, const char *name) {
    TsrScope s = {0};
    const TsrSparse *sp = SELF->sparse;
    TsrTensor *indices = CALL(&s, name, "t", sp->indices),
              *plain = sp->plain_indices != NULL ? CALL(&s, name, "t", sp->plain_indices) : NULL;
    TsrTensor *values = CALL(&s, name, "t", sp->values);
    bool coalesced = (SELF->flags & TSR_FLAG_COALESCED) != 0;
    return tsr_scope_return(c, &s,
                            MAKE(&s, tsr_sparse_new, tsr_ndim(SELF), SELF->sizes,
                                 (TsrSparseParts){SELF->layout, indices, plain, values, coalesced}));
}

TsrStatus sp_clone(TsrOpCall *c) { return part_by_part(c, "clone"); }

TsrStatus sp_pin_memory(TsrOpCall *c) { return part_by_part(c, "pin_memory"); }

TsrStatus sp_detach(TsrOpCall *c) {
    TsrTensor *t = NULL;
    return tsr_finish_move(c, tsr_sparse_with_values_new(&t, SELF, SELF->sparse->values), t);
}

TsrStatus sp_itself(TsrOpCall *c) { return tsr_return_move(c, tsr_tensor_retain(SELF)); }

TsrStatus sp_real(TsrOpCall *c) {
    return tsr_dtype_is_complex(SELF->dtype) ? tsr_refuse_backend("real", SELF) : sp_itself(c);
}

TsrStatus sp_conj(TsrOpCall *c) {
    if (!tsr_dtype_is_complex(SELF->dtype)) return sp_itself(c);
    TsrScope s = {0};
    TsrTensor *values = CALL(&s, "conj_physical", "t", SELF->sparse->values);
    return tsr_scope_return(c, &s, MAKE(&s, tsr_sparse_with_values_new, SELF, values));
}

static TsrStatus cast(TsrOpCall *c, TsrDtype dtype, bool copy) {
    if (dtype == SELF->dtype) return copy ? sp_clone(c) : sp_itself(c);
    TsrScope s = {0};
    TsrTensor *values = MAKE(&s, tsr_tensor_new_cast, SELF->sparse->values, dtype);
    return tsr_scope_return(c, &s, MAKE(&s, tsr_sparse_with_values_new, SELF, values));
}

/* t on a device, its values in a dtype. */
static TsrStatus moved_new(TsrTensor **out, TsrTensor *t, TsrDtype dtype, TsrDevice device) {
    TsrScope s = {0};
    const TsrSparse *sp = t->sparse;
    TsrTensor *indices = MAKE(&s, tsr_new_there, sp->indices, device),
              *plain = sp->plain_indices != NULL ? MAKE(&s, tsr_new_there, sp->plain_indices, device) : NULL,
              *there = MAKE(&s, tsr_new_there, sp->values, device),
              *values = s.status == TSR_OK ? MAKE(&s, tsr_tensor_new_cast, there, dtype) : NULL;
    return tsr_scope_end_new(
        out, &s,
        MAKE(&s, tsr_sparse_new, tsr_ndim(t), t->sizes,
             (TsrSparseParts){t->layout, indices, plain, values, (t->flags & TSR_FLAG_COALESCED) != 0}));
}

static TsrStatus move(TsrOpCall *c, TsrDtype dtype, TsrDevice device, bool copy) {
    TsrTensor *t = NULL;
    TSR_TRY(tsr_device_resolve(&device));
    if (tsr_device_has_backend(device) || tsr_on_device(SELF)) {
        bool there = device.type == SELF->device.type && device.index == SELF->device.index;
        return there ? cast(c, dtype, copy) : tsr_finish_move(c, moved_new(&t, SELF, dtype, device), t);
    }
    if (device.type != SELF->device.type)
        return tsr_error(TSR_NOT_IMPLEMENTED_ERROR, "sparse tensors stay on the device %s",
                         tsr_device_type_name(SELF->device.type));
    return cast(c, dtype, copy);
}

/* to, in its three forms, by the kinds of the arguments. */
TsrStatus sp_to(TsrOpCall *c) {
    TsrDtype dtype = SELF->dtype;
    TsrDevice device = SELF->device;
    bool copy = false;
    if (!tsr_is_sparse(SELF)) return c->op->fn(c);
    for (int i = 1; i < c->nargs; i++) {
        if (c->arg[i].kind == TSR_ARG_DTYPE) dtype = c->arg[i].dtype;
        if (c->arg[i].kind == TSR_ARG_TENSOR) dtype = c->arg[i].t->dtype, device = c->arg[i].t->device;
        if (c->arg[i].kind == TSR_ARG_BOOL && strcmp(c->schema->params[i].name, "copy") == 0) copy = c->arg[i].b;
        if (c->arg[i].kind == TSR_ARG_DEVICE) device = c->arg[i].device;
    }
    return move(c, dtype, device, copy);
}

TsrStatus sp_cpu(TsrOpCall *c) { return move(c, SELF->dtype, TSR_DEVICE_CPU, false); }

TsrStatus sp_cuda(TsrOpCall *c) {
    const TsrArg *device = &c->arg[1];
    if (tsr_arg_given(device) && device->device.type != TSR_CUDA)
        return tsr_error(TSR_RUNTIME_ERROR, "Invalid device, must be cuda device");
    return move(c, SELF->dtype, tsr_arg_given(device) ? device->device : (TsrDevice){TSR_CUDA, -1}, false);
}

TsrStatus sp_type_as(TsrOpCall *c) {
    if (SELF->layout == c->arg[1].t->layout) return sp_to(c);
    return tsr_error(TSR_RUNTIME_ERROR,
                     "to(options) doesn't support converting to a different layout, but got self.layout being %s and "
                     "options.layout set as %s",
                     tsr_layout_name(SELF->layout), tsr_layout_name(c->arg[1].t->layout));
}

TsrStatus sp_convert(TsrOpCall *c) { return cast(c, (TsrDtype)(uintptr_t)c->op->data, false); }

TsrStatus sp_type(TsrOpCall *c) {
    if (tsr_arg_given(&c->arg[1])) return c->arg[1].kind == TSR_ARG_DTYPE ? sp_to(c) : tsr_refuse_backend("type", SELF);
    if (tsr_is_compressed(SELF)) return tsr_error(TSR_RUNTIME_ERROR, "Unimplemented backend SparseCsrCPU");
    return c->op->fn(c);
}

TsrStatus sp_zeros_like(TsrOpCall *c) {
    TsrTensor *t = NULL;
    TsrDtype dtype = tsr_arg_given(&c->arg[1]) ? c->arg[1].dtype : SELF->dtype;
    uint8_t layout = tsr_arg_given(&c->arg[2]) ? c->arg[2].layout : SELF->layout;
    if (layout == TSR_STRIDED)
        return tsr_finish_move(c, tsr_zeros_new(&t, tsr_ndim(SELF), SELF->sizes, dtype, SELF->device), t);
    return tsr_finish_move(c, tsr_sparse_zeros_new(&t, layout, tsr_ndim(SELF), SELF->sizes, dtype, SELF->device), t);
}

TsrStatus sp_new_zeros(TsrOpCall *c) {
    TsrTensor *t = NULL;
    const TsrArg *size = &c->arg[1];
    uint8_t layout = tsr_arg_given(&c->arg[3]) ? c->arg[3].layout : SELF->layout;
    TsrDtype dtype = tsr_arg_given(&c->arg[2]) ? c->arg[2].dtype : SELF->dtype;
    if (layout == TSR_STRIDED)
        return tsr_finish_move(c, tsr_zeros_new(&t, size->n, size->ints, dtype, SELF->device), t);
    return tsr_finish_move(c, tsr_sparse_zeros_new(&t, layout, size->n, size->ints, dtype, SELF->device), t);
}

TsrStatus sp_zero(TsrOpCall *c) {
    TsrTensor *t = NULL;
    return tsr_finish_move(
        c, tsr_sparse_zeros_new(&t, SELF->layout, tsr_ndim(SELF), SELF->sizes, SELF->dtype, SELF->device), t);
}

TsrStatus sp_copy(TsrOpCall *c) {
    TsrTensor *source = c->arg[1].t;
    if (!tsr_is_sparse(source) || !tsr_is_sparse(SELF))
        return tsr_error(
            TSR_RUNTIME_ERROR,
            "copy_() between dense and sparse Tensors is not implemented! Found self type = torch.%s%sTensor and src "
            "type = torch.%s%sTensor",
            tsr_is_sparse(SELF) ? "sparse." : "", tsr_dtype_scalar_name(SELF->dtype),
            tsr_is_sparse(source) ? "sparse." : "", tsr_dtype_scalar_name(source->dtype));
    TsrScope s = {0};
    if (source->device.type != SELF->device.type || source->device.index != SELF->device.index)
        source = MAKE(&s, moved_new, source, SELF->dtype, SELF->device);
    TsrTensor *values = s.status == TSR_OK ? MAKE(&s, tsr_tensor_new_cast, source->sparse->values, SELF->dtype) : NULL;
    TsrTensor *own = s.status == TSR_OK && values == source->sparse->values ? CALL(&s, "clone", "t", values) : values;
    return tsr_scope_return(c, &s, MAKE(&s, tsr_sparse_with_values_new, source, own));
}

/* ---- shapes ---- */

TsrStatus tsr_sparse_pick_rows_new(TsrTensor **out, TsrTensor *indices, int n, const int64_t *rows) {
    TsrScope s = {0};
    const int64_t count = n;
    TsrTensor *pick = MAKE(&s, tsr_tensor_new, 1, &count, TSR_INT64, TSR_DEVICE_CPU);
    if (s.status == TSR_OK && n > 0) memcpy(tsr_data(pick), rows, sizeof *rows * (size_t)n);
    TsrTensor *there = MAKE(&s, tsr_new_there, pick, indices->device);
    return tsr_scope_end_new(out, &s, CALL(&s, "index_select", "tit", indices, (int64_t)0, there));
}

/* COO with its sparse dimensions (and sizes) in another order. */
static TsrStatus reorder(TsrTensor **out, TsrTensor *t, const int64_t *order) {
    TsrScope s = {0};
    int n = tsr_ndim(t);
    int64_t sizes[TSR_MAX_DIMS], rows = t->sparse->sparse_dim, dense[TSR_MAX_DIMS + 1] = {0};
    for (int d = 0; d < n; d++) sizes[d] = t->sizes[order[d]];
    for (int64_t d = rows; d < n; d++) dense[d - rows + 1] = order[d] - rows + 1;
    TsrTensor *indices = MAKE(&s, tsr_sparse_pick_rows_new, t->sparse->indices, (int)rows, order);
    TsrTensor *values = MAKE(&s, tsr_tensor_new_permute, t->sparse->values, n - (int)rows + 1, dense);
    bool same = true;
    for (int d = 0; d < rows; d++) same &= order[d] == d;
    bool coalesced = same && (t->flags & TSR_FLAG_COALESCED);
    return tsr_scope_end_new(out, &s, MAKE(&s, tsr_sparse_new, n, sizes, tsr_coo_parts(indices, values, coalesced)));
}

TsrStatus tsr_sparse_transpose_new(TsrTensor **out, TsrTensor *t, int64_t dim0, int64_t dim1) {
    int64_t order[TSR_MAX_DIMS], n = t->sparse->sparse_dim;
    TSR_TRY(tsr_wrap_dim(&dim0, tsr_ndim(t)));
    TSR_TRY(tsr_wrap_dim(&dim1, tsr_ndim(t)));
    if (dim0 == dim1) {
        *out = tsr_tensor_retain(t);
        return TSR_OK;
    }
    if (tsr_is_compressed(t)) {
        static const uint8_t turned[] = {0, 0, TSR_SPARSE_CSC, TSR_SPARSE_CSR, TSR_SPARSE_BSC, TSR_SPARSE_BSR};
        if (tsr_ndim(t) != 2)
            return tsr_error(TSR_RUNTIME_ERROR, "transpose: batches of sparse compressed matrices are not supported");
        int64_t sizes[2] = {t->sizes[1], t->sizes[0]};
        TsrScope s = {0};
        TsrTensor *values = t->sparse->values;
        if (t->layout >= TSR_SPARSE_BSR && tsr_ndim(values) > 2)
            values = MAKE(&s, tsr_tensor_new_transpose, values, (int64_t)1, (int64_t)2);
        return tsr_scope_end_new(
            out, &s,
            MAKE(&s, tsr_sparse_new, 2, sizes,
                 tsr_compressed_parts(turned[t->layout], t->sparse->indices, t->sparse->plain_indices, values)));
    }
    if (dim0 >= n || dim1 >= n)
        return tsr_error(
            TSR_RUNTIME_ERROR,
            "sparse transpose: transposed dimensions must be sparse Got sparse_dim: %lld, d0: %lld, d1: %lld",
            (long long)n, (long long)dim0, (long long)dim1);
    for (int d = 0; d < tsr_ndim(t); d++) order[d] = d;
    order[dim0] = dim1;
    order[dim1] = dim0;
    return reorder(out, t, order);
}

TsrStatus sp_transpose(TsrOpCall *c) {
    TsrTensor *t = NULL;
    return tsr_finish_move(c, tsr_sparse_transpose_new(&t, SELF, c->arg[1].i, c->arg[2].i), t);
}

TsrStatus sp_t(TsrOpCall *c) {
    TsrTensor *result = NULL;
    if (tsr_is_coo(SELF) && (SELF->sparse->sparse_dim > 2 || SELF->sparse->dense_dim > 0))
        return tsr_error(
            TSR_RUNTIME_ERROR,
            "t() expects a tensor with <= 2 sparse and 0 dense dimensions, but got %d sparse and %d dense dimensions",
            SELF->sparse->sparse_dim, SELF->sparse->dense_dim);
    if (tsr_ndim(SELF) < 2) return sp_itself(c);
    return tsr_finish_move(c, tsr_sparse_transpose_new(&result, SELF, tsr_ndim(SELF) - 2, tsr_ndim(SELF) - 1), result);
}

TsrStatus sp_T(TsrOpCall *c) { return tsr_is_compressed(SELF) ? tsr_refuse_backend("as_strided", SELF) : sp_t(c); }

TsrStatus sp_permute(TsrOpCall *c) {
    TsrTensor *result = NULL;
    int64_t order[TSR_MAX_DIMS];
    int n = tsr_ndim(SELF);
    bool seen[TSR_MAX_DIMS] = {false};
    if (tsr_is_compressed(SELF)) return tsr_refuse_backend("permute", SELF);
    if (c->arg[1].n != n)
        return tsr_error(
            TSR_RUNTIME_ERROR,
            "permute(sparse_coo): number of dimensions in the tensor input does not match the length of the desired "
            "ordering of dimensions i.e. input.dim() = %d is not "
            "equal to len(dims) = %d",
            n, c->arg[1].n);
    for (int d = 0; d < n; d++) {
        order[d] = c->arg[1].ints[d];
        TSR_TRY(tsr_wrap_dim(&order[d], n));
        if (seen[order[d]]) return tsr_error(TSR_RUNTIME_ERROR, "permute(): duplicate dims are not allowed.");
        seen[order[d]] = true;
        if ((d < SELF->sparse->sparse_dim) != (order[d] < SELF->sparse->sparse_dim))
            return tsr_error(TSR_RUNTIME_ERROR,
                             "transposed dimensions must be sparse Got sparse_dim: %d, d0: %d, d1: %lld",
                             SELF->sparse->sparse_dim, d, (long long)order[d]);
    }
    return tsr_finish_move(c, reorder(&result, SELF, order), result);
}

TsrStatus tsr_sparse_unsqueeze_new(TsrTensor **out, TsrTensor *t, int64_t dim) {
    TsrScope s = {0};
    int n = tsr_ndim(t), sparse_dim = t->sparse->sparse_dim;
    int64_t sizes[TSR_MAX_DIMS + 1];
    TSR_TRY(tsr_wrap_dim(&dim, n + 1));
    for (int d = 0, from = 0; d <= n; d++) sizes[d] = d == dim ? 1 : t->sizes[from++];
    TsrTensor *indices = t->sparse->indices, *values = t->sparse->values;
    if (dim <= sparse_dim) {
        int64_t shape[2] = {1, tsr_sparse_nnz(t)};
        TsrTensor *parts[3] = {SLICE(&s, indices, 0, 0, dim), MAKE(&s, tsr_zeros_new, 2, shape, TSR_INT64, t->device),
                               SLICE(&s, indices, 0, dim, INT64_MAX)};
        indices = CALL(&s, "cat", "Ti", 3, parts, (int64_t)0);
    } else {
        values = MAKE(&s, tsr_tensor_new_unsqueeze, values, dim - sparse_dim + 1);
    }
    bool coalesced = (t->flags & TSR_FLAG_COALESCED) != 0;
    return tsr_scope_end_new(out, &s,
                             MAKE(&s, tsr_sparse_new, n + 1, sizes, tsr_coo_parts(indices, values, coalesced)));
}

TsrStatus sp_unsqueeze(TsrOpCall *c) {
    TsrTensor *result = NULL;
    if (tsr_is_compressed(SELF)) return tsr_refuse_backend("as_strided", SELF);
    return tsr_finish_move(c, tsr_sparse_unsqueeze_new(&result, SELF, c->arg[1].i), result);
}

/* Entries whose index along a sparse dimension is `index`, without that dimension. */
static TsrStatus select_new(TsrTensor **out, TsrTensor *self, int64_t dim, int64_t index) {
    int64_t sizes[TSR_MAX_DIMS], given = index;
    if (tsr_ndim(self) == 0) return tsr_error(TSR_INDEX_ERROR, "select() cannot be applied to a 0-dim tensor.");
    TSR_TRY(tsr_wrap_dim(&dim, tsr_ndim(self)));
    if (index < 0) index += self->sizes[dim];
    if (index < 0 || index >= self->sizes[dim])
        return tsr_error(TSR_INDEX_ERROR, "select(): index %lld out of range for tensor of size %s at dimension %lld",
                         (long long)given, tsr_sizes_text(self), (long long)dim);
    TsrScope s = {0};
    TsrTensor *coo = MAKE(&s, tsr_sparse_to_coo_new, self), *result = NULL;
    for (int d = 0, k = 0; d < tsr_ndim(self); d++)
        if (d != dim) sizes[k++] = self->sizes[d];
    if (s.status == TSR_OK && dim >= coo->sparse->sparse_dim) {
        TsrTensor *values =
            MAKE(&s, tsr_tensor_new_select, coo->sparse->values, dim - coo->sparse->sparse_dim + 1, index);
        bool coalesced = (coo->flags & TSR_FLAG_COALESCED) != 0;
        result =
            MAKE(&s, tsr_sparse_new, tsr_ndim(self) - 1, sizes, tsr_coo_parts(coo->sparse->indices, values, coalesced));
        return tsr_scope_end_new(out, &s, result);
    }
    TsrTensor *row = s.status == TSR_OK ? MAKE(&s, tsr_tensor_new_select, coo->sparse->indices, (int64_t)0, dim) : NULL;
    TsrTensor *equal = CALL(&s, "eq", "ts", row, tsr_scalar_int(index));
    TsrTensor *found = CALL(&s, "nonzero", "t", equal);
    TsrTensor *at = MAKE(&s, tsr_tensor_new_select, found, (int64_t)1, (int64_t)0);
    TsrTensor *values =
        s.status == TSR_OK ? CALL(&s, "index_select", "tit", coo->sparse->values, (int64_t)0, at) : NULL;
    if (s.status == TSR_OK && coo->sparse->sparse_dim == 1)
        return tsr_scope_end_new(out, &s, CALL(&s, "sum", "tI", values, 1, (int64_t[]){0}));
    TsrTensor *parts[2] = {SLICE(&s, coo->sparse->indices, 0, 0, dim),
                           SLICE(&s, coo->sparse->indices, 0, dim + 1, INT64_MAX)};
    TsrTensor *rest = CALL(&s, "cat", "Ti", 2, parts, (int64_t)0);
    TsrTensor *indices = CALL(&s, "index_select", "tit", rest, (int64_t)1, at);
    bool coalesced = s.status == TSR_OK && (coo->flags & TSR_FLAG_COALESCED) != 0;
    return tsr_scope_end_new(
        out, &s, MAKE(&s, tsr_sparse_new, tsr_ndim(self) - 1, sizes, tsr_coo_parts(indices, values, coalesced)));
}

TsrStatus sp_select(TsrOpCall *c) {
    TsrTensor *result = NULL;
    return tsr_finish_move(c, select_new(&result, SELF, c->arg[1].i, c->arg[2].i), result);
}

/* The entries whose place along a sparse dimension lies in [start, start + length), counted from start. */
static TsrTensor *narrow_entries(TsrScope *s, TsrTensor *self, const int64_t *sizes, int64_t dim, int64_t start,
                                 int64_t length) {
    TsrTensor *row = MAKE(s, tsr_tensor_new_select, self->sparse->indices, (int64_t)0, dim);
    TsrTensor *after = CALL(s, "ge", "ts", row, tsr_scalar_int(start)),
              *before = CALL(s, "lt", "ts", row, tsr_scalar_int(start + length));
    TsrTensor *inside = CALL(s, "logical_and", "tt", after, before);
    TsrTensor *found = CALL(s, "nonzero", "t", inside),
              *at = MAKE(s, tsr_tensor_new_select, found, (int64_t)1, (int64_t)0);
    TsrTensor *indices = CALL(s, "index_select", "tit", self->sparse->indices, (int64_t)1, at),
              *values = CALL(s, "index_select", "tit", self->sparse->values, (int64_t)0, at);
    TsrTensor *places = MAKE(s, tsr_tensor_new_select, indices, (int64_t)0, dim);
    (void)CALL(s, "sub", "!tts", places, places, tsr_scalar_int(start));
    return MAKE(s, tsr_sparse_new, tsr_ndim(self), sizes,
                tsr_coo_parts(indices, values, (self->flags & TSR_FLAG_COALESCED) != 0));
}

TsrStatus sp_narrow_copy(TsrOpCall *c) {
    TsrTensor *self = SELF, *result = NULL;
    int64_t dim = c->arg[1].i, start = c->arg[2].i, length = c->arg[3].i, sizes[TSR_MAX_DIMS];
    if (tsr_is_compressed(self)) return tsr_error(TSR_RUNTIME_ERROR, "Sparse CSR tensors do not have strides");
    TSR_TRY(tsr_wrap_dim(&dim, tsr_ndim(self)));
    int64_t size = self->sizes[dim], dense = dim - self->sparse->sparse_dim;
    if (start < 0 || length < 0 || start > size || length > size - start)
        return tsr_error(TSR_RUNTIME_ERROR,
                         "Invalid range to narrow. range(start, start+length) must be a subset of range(0, %lld).",
                         (long long)size);
    for (int d = 0; d < tsr_ndim(self); d++) sizes[d] = d == dim ? length : self->sizes[d];
    TsrScope s = {0};
    if (dense < 0) {
        result = narrow_entries(&s, self, sizes, dim, start, length);
    } else {
        TsrTensor *part = SLICE(&s, self->sparse->values, dense + 1, start, start + length),
                  *values = CALL(&s, "clone", "t", part);
        result = MAKE(&s, tsr_sparse_new, tsr_ndim(self), sizes,
                      tsr_coo_parts(self->sparse->indices, values, (self->flags & TSR_FLAG_COALESCED) != 0));
    }
    return tsr_scope_return(c, &s, result);
}

TsrStatus sp_unbind(TsrOpCall *c) {
    int64_t dim = c->arg[1].i;
    TSR_TRY(tsr_wrap_dim(&dim, tsr_ndim(SELF)));
    int64_t n = tsr_ndim(SELF) == 0 ? 0 : SELF->sizes[dim];
    if (n > INT32_MAX) return tsr_error_no_memory((size_t)n * sizeof(void *));
    TsrTensor **parts = tsr_calloc((size_t)n + 1, sizeof *parts);
    if (parts == NULL) return tsr_error_no_memory((size_t)n * sizeof *parts);
    TsrStatus status = TSR_OK;
    for (int64_t i = 0; i < n && status == TSR_OK; i++) status = select_new(&parts[i], SELF, dim, i);
    if (status == TSR_OK) status = tsr_return_list_move(c, parts, (int)n);
    else tsr_free_all(parts, (int)n);
    tsr_free(parts);
    return status;
}

TsrStatus sp_index_select(TsrOpCall *c) {
    TsrTensor *self = SELF, *index = c->arg[2].t;
    int64_t dim = c->arg[1].i, sizes[TSR_MAX_DIMS], bad = 0;
    if (!tsr_is_sparse(self)) return tsr_refuse_backend("index_select", index);
    if (tsr_is_compressed(self)) return tsr_refuse_backend("index_select", self);
    if (tsr_is_sparse(index) || tsr_ndim(index) > 1)
        return tsr_error(TSR_INDEX_ERROR, "index_select(): Index is supposed to be a vector");
    TSR_TRY(tsr_wrap_dim(&dim, tsr_ndim(self)));
    if (tsr_ndim(self) == 0) return tsr_error(TSR_INDEX_ERROR, "index_select() cannot be applied to a 0-dim tensor.");
    memcpy(sizes, self->sizes, sizeof *sizes * (size_t)tsr_ndim(self));
    sizes[dim] = index->numel;
    TsrScope s = {0};
    bool coalesced = (self->flags & TSR_FLAG_COALESCED) != 0;
    if (dim >= self->sparse->sparse_dim) {
        TsrTensor *values =
            CALL(&s, "index_select", "tit", self->sparse->values, dim - self->sparse->sparse_dim + 1, index);
        return tsr_scope_return(
            c, &s,
            MAKE(&s, tsr_sparse_new, tsr_ndim(self), sizes, tsr_coo_parts(self->sparse->indices, values, coalesced)));
    }
    TsrTensor *wanted = MAKE(&s, tsr_dense_new, index, TSR_INT64),
              *row = MAKE(&s, tsr_tensor_new_select, self->sparse->indices, (int64_t)0, dim);
    TsrTensor *own = CALL(&s, "clone", "t", row),
              *at = MAKE(&s, tsr_tensor_new_reshape, wanted, 1, (const int64_t[]){index->numel});
    TsrTensor *negative = CALL(&s, "lt", "ts", at, tsr_scalar_int(0));
    TsrTensor *shifted = s.status == TSR_OK ? CALL(&s, "add", "ts", at, tsr_scalar_int(self->sizes[dim])) : NULL;
    at = CALL(&s, "where", "ttt", negative, shifted, at);
    TsrTensor *here = MAKE(&s, tsr_new_there, at, TSR_DEVICE_CPU);
    if (s.status == TSR_OK && !tsr_positions_valid(here, self->sizes[dim], &bad))
        s.status = tsr_error(
            TSR_INDEX_ERROR,
            "index_select(): index contains %lld that is out of range for tensor of size %s at dimension %lld",
            (long long)bad, tsr_sizes_text(self), (long long)dim);
    TsrTensor *both = MAKE(&s, tsr_sparse_pick_new, own, at), *places = MAKE(&s, tsr_tensor_new_select, both, 0, 0),
              *entries = MAKE(&s, tsr_tensor_new_select, both, 0, 1),
              *picked = CALL(&s, "index_select", "tit", self->sparse->indices, (int64_t)1, entries),
              *target = MAKE(&s, tsr_tensor_new_select, picked, (int64_t)0, dim);
    if (s.status == TSR_OK) s.status = tsr_tensor_copy(target, places);
    TsrTensor *values = CALL(&s, "index_select", "tit", self->sparse->values, (int64_t)0, entries);
    return tsr_scope_return(
        c, &s, MAKE(&s, tsr_sparse_new, tsr_ndim(self), sizes, tsr_coo_parts(picked, values, coalesced && dim == 0)));
}

/* a followed by b along dim. */
static TsrStatus join(TsrTensor **out, TsrTensor *a, TsrTensor *b, int64_t dim) {
    TsrScope s = {0};
    int64_t sizes[TSR_MAX_DIMS];
    if (tsr_ndim(a) != tsr_ndim(b) || a->sparse->sparse_dim != b->sparse->sparse_dim)
        return tsr_error(TSR_RUNTIME_ERROR,
                         "All tensors must have the same shape: %s (except in the concatenating dimension)",
                         tsr_sizes_text(a));
    for (int d = 0; d < tsr_ndim(a); d++) {
        sizes[d] = a->sizes[d];
        if (d == dim) sizes[d] += b->sizes[d];
        else if (a->sizes[d] != b->sizes[d])
            return tsr_error(
                TSR_RUNTIME_ERROR,
                "All tensors must have the same shape: %s (except in the concatenating dimension), but got shape: %s",
                tsr_sizes_text(a), tsr_sizes_text(b));
    }
    int64_t n = a->sparse->sparse_dim, shape[2] = {n, 1};
    if (dim >= n)
        return tsr_error(TSR_RUNTIME_ERROR, "cat: joining sparse tensors along a dense dimension is not supported");
    TsrTensor *shift = MAKE(&s, tsr_zeros_new, 2, shape, TSR_INT64, TSR_DEVICE_CPU);
    if (s.status == TSR_OK) ((int64_t *)tsr_data(shift))[dim] = a->sizes[dim];
    TsrTensor *there = MAKE(&s, tsr_new_there, shift, a->device);
    TsrTensor *moved = CALL(&s, "add", "tt", b->sparse->indices, there);
    TsrTensor *indices = CALL(&s, "cat", "Ti", 2, ((TsrTensor *[]){a->sparse->indices, moved}), (int64_t)1);
    TsrTensor *values = CALL(&s, "cat", "Ti", 2, ((TsrTensor *[]){a->sparse->values, b->sparse->values}), (int64_t)0);
    bool coalesced = dim == 0 && (a->flags & b->flags & TSR_FLAG_COALESCED) != 0;
    return tsr_scope_end_new(out, &s,
                             MAKE(&s, tsr_sparse_new, tsr_ndim(a), sizes, tsr_coo_parts(indices, values, coalesced)));
}

static TsrStatus join_all(TsrOpCall *c, bool stack) {
    TsrTensor **list = c->arg[0].tensors, *all = NULL;
    int64_t dim = c->arg[1].i;
    for (int i = 0; i < c->arg[0].n; i++) {
        if (!tsr_is_sparse(list[i]))
            return tsr_error(TSR_RUNTIME_ERROR,
                             "Concatenating sparse tensors, but a dense tensor was found at position %d.", i);
        if (tsr_is_compressed(list[i])) return tsr_refuse_backend("cat", list[i]);
    }
    TSR_TRY(tsr_wrap_dim(&dim, tsr_ndim(list[0]) + stack));
    TsrStatus status = TSR_OK;
    for (int i = 0; i < c->arg[0].n && status == TSR_OK; i++) {
        TsrScope s = {0};
        TsrTensor *item = stack ? MAKE(&s, tsr_sparse_unsqueeze_new, list[i], dim) : list[i], *longer = NULL;
        TsrTensor *next = all == NULL ? item : MAKE(&s, join, all, item, dim);
        status = tsr_scope_end_new(&longer, &s, next);
        if (status != TSR_OK) break;
        tsr_tensor_free(all);
        all = longer;
    }
    return tsr_finish_move(c, status, all);
}

TsrStatus sp_cat(TsrOpCall *c) { return join_all(c, false); }
TsrStatus sp_stack(TsrOpCall *c) { return join_all(c, true); }

/* ---- what there is not ---- */

TsrStatus sp_no_expand(TsrOpCall *c) {
    (void)c;
    return tsr_error(TSR_RUNTIME_ERROR, "expand is unsupported for Sparse tensors");
}

TsrStatus sp_no_reshape(TsrOpCall *c) {
    (void)c;
    return tsr_error(TSR_RUNTIME_ERROR, "reshape is not implemented for sparse tensors");
}

TsrStatus sp_no_contiguous(TsrOpCall *c) {
    (void)c;
    return tsr_error(TSR_RUNTIME_ERROR, "unsupported memory format option Contiguous");
}

TsrStatus sp_no_strides(TsrOpCall *c) { return tsr_refuse_backend("as_strided", SELF); }
TsrStatus sp_no_same_memory(TsrOpCall *c) { return tsr_refuse_backend("is_set_to", SELF); }

TsrStatus sp_no_address(TsrOpCall *c) {
    (void)c;
    return tsr_error(TSR_RUNTIME_ERROR, "Cannot access data pointer of Tensor that doesn't have storage");
}

TsrStatus sp_is_contiguous(TsrOpCall *c) {
    if (tsr_is_compressed(SELF)) return tsr_error(TSR_RUNTIME_ERROR, "Sparse CSR tensors do not have is_contiguous");
    return tsr_return_bool(c, false);
}

TsrStatus sp_stride(TsrOpCall *c) {
    if (tsr_is_compressed(SELF)) return tsr_error(TSR_RUNTIME_ERROR, "Sparse CSR tensors do not have strides");
    return c->op->fn(c);
}
