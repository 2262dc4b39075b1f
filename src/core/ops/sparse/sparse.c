/* sparse.c: sparse COO tensors: made, taken apart, coalesced, resized, converted to dense ones and back.
 *
 * A COO tensor holds `indices`, int64 (sparse dimensions, nnz), and `values`, (nnz, dense dimensions): entry i stands
 * at column i of the indices, and entries at one place add up. A column is also a row-major number of the place, its
 * flat position (tsr_sparse_flat_new): coalescing sorts entries by it, adds up equal ones and sets the flag; becoming
 * dense adds the values at these positions to zeros; becoming sparse finds the places where a slice is not all 0. csr.c
 * has the compressed layouts, which go through COO. */
#include <stdlib.h>
#include <string.h>

#include "core/indexing.h"
#include "core/kernels/sort/sort.h"
#include "core/mem.h"
#include "core/op/op_impl.h"
#include "core/tensor/tensor_impl.h"
#include "sparse.h"
#include "there.h"

TsrTensor *tsr_sparse_as_layout(TsrScope *s, TsrTensor *coo, const TsrTensor *like) {
    if (s->status != TSR_OK || !tsr_is_compressed(like) || !tsr_is_coo(coo)) return coo;
    return MAKE(s, tsr_sparse_to_compressed_new, coo, like->layout == TSR_SPARSE_CSC ? TSR_SPARSE_CSC : TSR_SPARSE_CSR,
                NULL, (int64_t)like->sparse->dense_dim);
}

/* ---- making ---- */

TsrStatus tsr_sparse_new(TsrTensor **out, int ndim, const int64_t *sizes, TsrSparseParts parts) {
    TsrTensor *resolved;
    TSR_TRY(tsr_tensor_new_resolved(&resolved, parts.values));
    TsrSparse *sparse = tsr_malloc(sizeof *sparse);
    if (sparse == NULL) {
        tsr_tensor_free(resolved);
        return tsr_error_no_memory(sizeof *sparse);
    }
    bool coo = parts.layout == TSR_SPARSE_COO;
    int blocks = parts.layout == TSR_SPARSE_BSR || parts.layout == TSR_SPARSE_BSC ? 2 : 0,
        batch = coo ? 0 : tsr_ndim(parts.indices) - 1;
    sparse->sparse_dim = coo ? (int)parts.indices->sizes[0] : 2;
    sparse->dense_dim = coo ? tsr_ndim(resolved) - 1 : TSR_MAX(0, tsr_ndim(resolved) - batch - 1 - blocks);
    sparse->indices = tsr_tensor_retain(parts.indices);
    sparse->plain_indices = tsr_tensor_retain(parts.plain);
    sparse->values = resolved;
    TSR_TRY(tsr_tensor_new_sparse_move(out, parts.layout, ndim, sizes, sparse));
    if (parts.coalesced || (coo && parts.indices->sizes[1] < 2)) (*out)->flags |= TSR_FLAG_COALESCED;
    return TSR_OK;
}

TsrStatus tsr_sparse_with_values_new(TsrTensor **out, const TsrTensor *t, TsrTensor *values) {
    const TsrSparse *sp = t->sparse;
    return tsr_sparse_new(
        out, tsr_ndim(t), t->sizes,
        (TsrSparseParts){t->layout, sp->indices, sp->plain_indices, values, (t->flags & TSR_FLAG_COALESCED) != 0});
}

int64_t tsr_sparse_nnz(const TsrTensor *t) {
    const TsrTensor *last = t->layout == TSR_SPARSE_COO ? t->sparse->indices : t->sparse->plain_indices;
    return tsr_ndim(last) == 0 ? 0 : last->sizes[tsr_ndim(last) - 1];
}

/* Row-major int64 values of an index tensor, its storage checked. */
static TsrStatus index_new(TsrTensor **out, TsrTensor *indices) {
    TSR_TRY(tsr_tensor_check(indices, false));
    return tsr_dense_new(out, indices, TSR_INT64);
}

/* The least and the largest number of each row of `whole`, whose rows are not empty. */
static TsrStatus find_ends(int64_t *least, int64_t *largest, TsrTensor *whole) {
    int64_t nnz = whole->sizes[1];
    if (tsr_on_device(whole)) return tsr_sparse_ends_there(least, largest, whole);
    const int64_t *p = tsr_data(whole);
    for (int64_t d = 0; d < whole->sizes[0]; d++, p += nnz) {
        least[d] = largest[d] = p[0];
        TSR_IN_PIECES(i, nnz) {
            largest[d] = TSR_MAX(largest[d], p[i]);
            least[d] = TSR_MIN(least[d], p[i]);
        }
        TSR_TRY(tsr_interrupt_check());
    }
    return TSR_OK;
}

/* Sizes that hold every index: the largest one plus 1. */
static TsrStatus infer_sizes(int64_t *sizes, const TsrTensor *indices, const TsrTensor *values) {
    TsrTensor *whole;
    int n = (int)indices->sizes[0];
    int64_t least[TSR_MAX_DIMS] = {0}, largest[TSR_MAX_DIMS];
    if (tsr_is_meta(indices)) return tsr_error(TSR_NOT_IMPLEMENTED_ERROR, "Cannot copy out of meta tensor; no data!");
    for (int d = 0; d < n; d++) largest[d] = -1;
    TSR_TRY(index_new(&whole, (TsrTensor *)indices));
    TsrStatus status = whole->numel > 0 ? find_ends(least, largest, whole) : TSR_OK;
    for (int d = 0; d < n && status == TSR_OK; d++) {
        if (least[d] < 0)
            status = tsr_error(TSR_RUNTIME_ERROR, "found negative index %lld for dim %d", (long long)least[d], d);
        else if (tsr_add_overflows(largest[d], 1, &sizes[d]))
            status = tsr_error(TSR_RUNTIME_ERROR, "numel: integer multiplication overflow");
    }
    for (int d = 1; d < tsr_ndim(values); d++) sizes[n + d - 1] = values->sizes[d];
    tsr_tensor_free(whole);
    return status;
}

static TsrStatus check_sizes(const TsrTensor *indices, const TsrTensor *values, int ndim, const int64_t *sizes) {
    int sparse_dim = (int)indices->sizes[0], dense_dim = tsr_ndim(values) - 1;
    if (ndim != sparse_dim + dense_dim)
        return tsr_error(
            TSR_RUNTIME_ERROR,
            "'len(size) == sparse_dim + dense_dim' is not satisfied: len(size) = %d, sparse_dim = %d, dense_dim = %d",
            ndim, sparse_dim, dense_dim);
    int64_t expected[TSR_MAX_DIMS] = {values->sizes[0]};
    for (int d = 0; d < dense_dim; d++) expected[d + 1] = sizes[sparse_dim + d];
    if (memcmp(expected, values->sizes, sizeof *expected * (size_t)tsr_ndim(values)) == 0) return TSR_OK;
    return tsr_error(TSR_RUNTIME_ERROR, "values has incorrect size, expected %s, got %s",
                     tsr_layout_text(dense_dim + 1, expected), tsr_sizes_text(values));
}

static TsrStatus coo_checked(TsrTensor **out, TsrTensor *indices, TsrTensor *values, int ndim, const int64_t *sizes,
                             bool coalesced) {
    int64_t inferred[TSR_MAX_DIMS];
    if (tsr_ndim(indices) != 2)
        return tsr_error(TSR_RUNTIME_ERROR, "indices must be sparse_dim x nnz, but got: %s", tsr_sizes_text(indices));
    if (indices->sizes[1] != values->sizes[0])
        return tsr_error(TSR_RUNTIME_ERROR,
                         "indices and values must have same nnz, but got nnz from indices: %lld, nnz from values: %lld",
                         (long long)indices->sizes[1], (long long)values->sizes[0]);
    if (indices->sizes[0] + tsr_ndim(values) - 1 > TSR_MAX_DIMS)
        return tsr_error(TSR_RUNTIME_ERROR, "sparse_coo_tensor: too many dimensions");
    if (ndim < 0) {
        TSR_TRY(infer_sizes(inferred, indices, values));
        ndim = (int)indices->sizes[0] + tsr_ndim(values) - 1;
        sizes = inferred;
    }
    TSR_TRY(check_sizes(indices, values, ndim, sizes));
    return tsr_sparse_new(out, ndim, sizes, tsr_coo_parts(indices, values, coalesced));
}

TsrStatus tsr_sparse_coo_new(TsrTensor **out, TsrTensor *indices, TsrTensor *values, int ndim, const int64_t *sizes,
                             bool coalesced) {
    TsrTensor *whole, *rows;
    TSR_TRY(tsr_tensor_new_cast(&whole, indices, TSR_INT64));
    TsrStatus status = tsr_at_least_1d_new(&rows, values);
    if (status == TSR_OK) {
        status = coo_checked(out, whole, rows, ndim, sizes, coalesced);
        tsr_tensor_free(rows);
    }
    tsr_tensor_free(whole);
    return status;
}

static TsrStatus coo_zeros(TsrTensor **out, int ndim, const int64_t *sizes, TsrDtype dtype, TsrDevice device) {
    TsrTensor *indices, *values;
    int64_t shape[2] = {ndim, 0}, none = 0;
    TSR_TRY(tsr_tensor_new(&indices, 2, shape, TSR_INT64, device));
    TsrStatus status = tsr_tensor_new(&values, 1, &none, dtype, device);
    if (status == TSR_OK) {
        status = tsr_sparse_new(out, ndim, sizes, tsr_coo_parts(indices, values, false));
        tsr_tensor_free(values);
    }
    tsr_tensor_free(indices);
    return status;
}

static TsrStatus compressed_zeros(TsrTensor **out, uint8_t layout, int ndim, const int64_t *sizes, TsrDtype dtype,
                                  TsrDevice device) {
    if (ndim < 2)
        return tsr_error(
            TSR_RUNTIME_ERROR,
            "torch.empty: Only batched sparse compressed (non-block) tensors are supported, but got size [%lld]",
            ndim > 0 ? (long long)sizes[0] : 0LL);
    if (layout == TSR_SPARSE_BSR || layout == TSR_SPARSE_BSC)
        return tsr_error(TSR_RUNTIME_ERROR,
                         "torch.empty: Only sparse compressed (non-block) layouts are supported, but got layout %s",
                         layout == TSR_SPARSE_BSR ? "SparseBsr" : "SparseBsc");
    TsrScope s = {0};
    int64_t shape[TSR_MAX_DIMS];
    memcpy(shape, sizes, sizeof *sizes * (size_t)ndim);
    shape[ndim - 2] = sizes[layout == TSR_SPARSE_CSR ? ndim - 2 : ndim - 1] + 1;
    TsrTensor *crow = MAKE(&s, tsr_zeros_new, ndim - 1, shape, TSR_INT64, device);
    shape[ndim - 2] = 0;
    TsrTensor *col = MAKE(&s, tsr_tensor_new, ndim - 1, shape, TSR_INT64, device);
    TsrTensor *values = MAKE(&s, tsr_tensor_new, ndim - 1, shape, dtype, device);
    TsrTensor *t = MAKE(&s, tsr_sparse_new, ndim, sizes, tsr_compressed_parts(layout, crow, col, values));
    return tsr_scope_end_new(out, &s, t);
}

TsrStatus tsr_sparse_zeros_new(TsrTensor **out, uint8_t layout, int ndim, const int64_t *sizes, TsrDtype dtype,
                               TsrDevice device) {
    for (int d = 0; d < ndim; d++)
        if (sizes[d] < 0) return tsr_error(TSR_RUNTIME_ERROR, "numel: integer multiplication overflow");
    return layout == TSR_SPARSE_COO ? coo_zeros(out, ndim, sizes, dtype, device)
                                    : compressed_zeros(out, layout, ndim, sizes, dtype, device);
}

/* self takes over what `result` holds (retained); sizes may change. */
static TsrStatus assign(TsrTensor *self, const TsrTensor *result) {
    TsrSparse *sparse = tsr_malloc(sizeof *sparse);
    if (sparse == NULL) return tsr_error_no_memory(sizeof *sparse);
    *sparse = *result->sparse;
    tsr_tensor_retain(sparse->indices);
    tsr_tensor_retain(sparse->plain_indices);
    tsr_tensor_retain(sparse->values);
    TSR_TRY(tsr_tensor_set_sparse_move(self, tsr_ndim(result), result->sizes, sparse));
    self->layout = result->layout;
    self->flags = (uint8_t)((self->flags & ~TSR_FLAG_COALESCED) | (result->flags & TSR_FLAG_COALESCED));
    return TSR_OK;
}

/* An output stays as it is but for what it holds: the result's elements, in its own dtype. */
static TsrStatus write_sparse(const TsrOpCall *c, const TsrTensor *result, TsrTensor *out) {
    if (!tsr_is_sparse(result) || !tsr_is_sparse(out))
        return tsr_error(
            TSR_RUNTIME_ERROR,
            "copy_() between dense and sparse Tensors is not implemented! Found self type = torch.%s%sTensor and src "
            "type = torch.%s%sTensor",
            tsr_is_sparse(out) ? "sparse." : "", tsr_dtype_scalar_name(out->dtype),
            tsr_is_sparse(result) ? "sparse." : "", tsr_dtype_scalar_name(result->dtype));
    if (c->inplace && !tsr_same_sizes(result, out))
        return tsr_error(TSR_RUNTIME_ERROR, "%s: the result has other sizes than self", c->schema->base);
    if (result->dtype == out->dtype) return assign(out, result);
    TsrScope s = {0};
    TsrTensor *values = MAKE(&s, tsr_tensor_new_cast, result->sparse->values, out->dtype),
              *converted = MAKE(&s, tsr_sparse_with_values_new, result, values);
    if (s.status == TSR_OK) s.status = assign(out, converted);
    return tsr_scope_end(&s);
}

TsrStatus tsr_sparse_write(const TsrOpCall *c, TsrTensor *result, TsrTensor *out) {
    if (tsr_is_sparse(out) || !c->inplace) return write_sparse(c, result, out);
    TsrTensor *dense; /* d *= s: the elements of a sparse product go into a dense self */
    TSR_TRY(tsr_sparse_to_dense_new(&dense, result));
    TsrStatus status = tsr_tensor_copy(out, dense);
    tsr_tensor_free(dense);
    return status;
}

/* ---- positions ---- */

static TsrStatus outside(int64_t index, int d, int64_t size) {
    return tsr_error(TSR_INDEX_ERROR, "index %lld is out of bounds for dimension %d with size %lld", (long long)index,
                     d, (long long)size);
}

static TsrStatus fill_flat(int64_t *flat, const TsrTensor *t, const int64_t *p, int64_t nnz) {
    memset(flat, 0, sizeof *flat * (size_t)nnz);
    for (int d = 0; d < t->sparse->sparse_dim; d++) {
        TSR_TRY(tsr_interrupt_check());
        for (int64_t i = 0; i < nnz && !tsr_interrupted_at(i); i++) {
            int64_t index = p[d * nnz + i];
            if (index < 0 || index >= t->sizes[d]) return outside(index, d, t->sizes[d]);
            if (tsr_mul_overflows(flat[i], t->sizes[d], &flat[i]) || tsr_add_overflows(flat[i], index, &flat[i]))
                return tsr_error(TSR_RUNTIME_ERROR, "numel: integer multiplication overflow");
        }
    }
    return TSR_OK;
}

TsrStatus tsr_sparse_flat_new(TsrTensor **out, const TsrTensor *t) {
    TsrTensor *whole, *flat;
    int64_t nnz = tsr_sparse_nnz(t);
    if (tsr_is_meta(t))
        return tsr_error(TSR_NOT_IMPLEMENTED_ERROR, "sparse tensors on the meta device have no indices");
    if (tsr_on_device(t)) return tsr_sparse_flat_there_new(out, t);
    TSR_TRY(index_new(&whole, t->sparse->indices));
    TsrStatus status = tsr_tensor_new(&flat, 1, &nnz, TSR_INT64, TSR_DEVICE_CPU);
    if (status == TSR_OK) {
        status = nnz == 0 ? TSR_OK : fill_flat(tsr_data(flat), t, tsr_data(whole), nnz);
        if (status == TSR_OK) *out = flat;
        else tsr_tensor_free(flat);
    }
    tsr_tensor_free(whole);
    return status;
}

TsrTensor *tsr_sparse_add_at(TsrScope *s, TsrTensor *target, TsrTensor *positions, TsrTensor *values) {
    if (s->status != TSR_OK) return NULL;
    if (target->dtype != TSR_BOOL) return CALL(s, "index_add", "titt", target, (int64_t)0, positions, values);
    TsrTensor *base = MAKE(s, tsr_tensor_new_cast, target, TSR_INT64),
              *terms = MAKE(s, tsr_tensor_new_cast, values, TSR_INT64);
    TsrTensor *sum = CALL(s, "index_add", "titt", base, (int64_t)0, positions, terms);
    return CALL(s, "ne", "ts", sum, tsr_scalar_int(0));
}

/* ---- coalesce ---- */

/* order: the entries sorted by position; first: where in it each group of equals begins; group: the number of each
 * entry's group. Returns the number of groups. */
static int64_t group_entries(TsrPair *entries, const int64_t *flat, int64_t nnz, int64_t *order, int64_t *first,
                             int64_t *group) {
    for (int64_t i = 0; i < nnz && !tsr_interrupted_at(i); i++)
        entries[i] = (TsrPair){(uint64_t)flat[i], i}; /* positions are never negative */
    tsr_kernel_sort_stable(entries, entries + nnz, nnz);
    int64_t n = 0;
    for (int64_t i = 0; i < nnz && !tsr_interrupted_at(i); i++) {
        order[i] = entries[i].index;
        if (i == 0 || entries[i].key != entries[i - 1].key) first[n++] = entries[i].index;
        group[i] = n - 1;
    }
    return n;
}

static TsrStatus coalesce_parts(TsrTensor **out, TsrTensor *t, TsrTensor *flat, TsrPair *entries) {
    TsrScope s = {0};
    int64_t nnz = flat->numel;
    TsrTensor *order = MAKE(&s, tsr_tensor_new, 1, &nnz, TSR_INT64, TSR_DEVICE_CPU);
    TsrTensor *first = MAKE(&s, tsr_tensor_new, 1, &nnz, TSR_INT64, TSR_DEVICE_CPU);
    TsrTensor *group = MAKE(&s, tsr_tensor_new, 1, &nnz, TSR_INT64, TSR_DEVICE_CPU);
    int64_t n = s.status == TSR_OK
                    ? group_entries(entries, tsr_data(flat), nnz, tsr_data(order), tsr_data(first), tsr_data(group))
                    : 0;
    if (s.status == TSR_OK) s.status = tsr_interrupt_check();
    first = SLICE(&s, first, 0, 0, n);
    TsrTensor *indices = CALL(&s, "index_select", "tit", t->sparse->indices, (int64_t)1, first);
    TsrTensor *values = CALL(&s, "index_select", "tit", t->sparse->values, (int64_t)0, n == nnz ? order : first);
    if (n < nnz && s.status == TSR_OK) {
        TsrTensor *all = CALL(&s, "index_select", "tit", t->sparse->values, (int64_t)0, order);
        TsrTensor *zeros = CALL(&s, "zeros_like", "t", values);
        values = tsr_sparse_add_at(&s, zeros, group, all);
    }
    TsrTensor *result = MAKE(&s, tsr_sparse_new, tsr_ndim(t), t->sizes, tsr_coo_parts(indices, values, true));
    return tsr_scope_end_new(out, &s, result);
}

TsrStatus tsr_sparse_coalesce_new(TsrTensor **out, TsrTensor *t) {
    if (t->flags & TSR_FLAG_COALESCED) {
        *out = tsr_tensor_retain(t);
        return TSR_OK;
    }
    int64_t nnz = tsr_sparse_nnz(t);
    if (nnz < 2)
        return tsr_sparse_new(out, tsr_ndim(t), t->sizes, tsr_coo_parts(t->sparse->indices, t->sparse->values, true));
    TsrTensor *flat;
    TSR_TRY(tsr_sparse_flat_new(&flat, t));
    if (tsr_on_device(flat)) {
        TsrStatus done = tsr_sparse_coalesce_there_new(out, t, flat);
        tsr_tensor_free(flat);
        return done;
    }
    TsrPair *entries = tsr_malloc_array((size_t)nnz, 2 * sizeof *entries); /* half of it for the sort */
    TsrStatus status = entries == NULL ? tsr_error_no_memory(2 * sizeof *entries * (size_t)nnz)
                                       : coalesce_parts(out, t, flat, entries);
    tsr_free(entries);
    tsr_tensor_free(flat);
    return status;
}

/* ---- dense and back ---- */

static TsrStatus coo_to_dense(TsrTensor **out, TsrTensor *t) {
    TsrScope s = {0};
    int64_t shape[TSR_MAX_DIMS + 1] = {1};
    int sparse_dim = t->sparse->sparse_dim, dense_dim = tsr_ndim(t) - sparse_dim;
    TsrTensor *zeros = MAKE(&s, tsr_zeros_new, tsr_ndim(t), t->sizes, t->dtype, t->device);
    for (int d = 0; d < sparse_dim; d++)
        shape[0] *= t->sizes[d]; /* no overflow: or zeros had failed, or something is 0 */
    for (int d = 0; d < dense_dim; d++) shape[d + 1] = t->sizes[sparse_dim + d];
    TsrTensor *flat = MAKE(&s, tsr_sparse_flat_new, t);
    TsrTensor *target = MAKE(&s, tsr_tensor_new_reshape, zeros, dense_dim + 1, shape);
    TsrTensor *filled = NULL;
    if (s.status == TSR_OK && (t->flags & TSR_FLAG_COALESCED))
        filled = CALL(&s, "index_copy", "titt", target, (int64_t)0, flat, t->sparse->values);
    else filled = tsr_sparse_add_at(&s, target, flat, t->sparse->values);
    TsrTensor *result = MAKE(&s, tsr_tensor_new_reshape, filled, tsr_ndim(t), t->sizes);
    TsrTensor *own = CALL(&s, "clone", "t", result);
    return tsr_scope_end_new(out, &s, own);
}

TsrStatus tsr_sparse_to_dense_new(TsrTensor **out, TsrTensor *t) {
    if (!tsr_is_sparse(t)) {
        *out = tsr_tensor_retain(t);
        return TSR_OK;
    }
    return t->layout == TSR_SPARSE_COO ? coo_to_dense(out, t) : tsr_compressed_to_dense_new(out, t);
}

static TsrStatus flatten_positions(TsrTensor **out, const TsrTensor *t, TsrTensor *indices) {
    int64_t nnz = indices->sizes[1];
    TsrTensor *whole, *flat;
    if (tsr_on_device(indices)) return tsr_sparse_number_there_new(out, indices, t->sizes);
    TSR_TRY(index_new(&whole, indices));
    TsrStatus status = tsr_tensor_new(&flat, 1, &nnz, TSR_INT64, TSR_DEVICE_CPU);
    if (status == TSR_OK) {
        int64_t *f = tsr_data(flat);
        const int64_t *p = tsr_data(whole);
        for (int64_t i = 0; i < nnz && !tsr_interrupted_at(i); i++) {
            f[i] = 0;
            for (int64_t d = 0; d < indices->sizes[0]; d++) f[i] = f[i] * t->sizes[d] + p[d * nnz + i];
        }
        *out = flat;
    }
    tsr_tensor_free(whole);
    return status;
}

/* (sizes of the sparse dimensions): whether anything there is not 0. */
static TsrTensor *find_slices(TsrScope *s, TsrTensor *t, int64_t sparse_dim) {
    int64_t shape[TSR_MAX_DIMS + 1];
    if (sparse_dim == tsr_ndim(t)) return CALL(s, "ne", "ts", t, tsr_scalar_int(0));
    int64_t last = -1;
    for (int64_t d = 0; d < sparse_dim; d++) shape[d] = t->sizes[d];
    s->status = tsr_layout_numel(&shape[sparse_dim], tsr_ndim(t) - (int)sparse_dim, t->sizes + sparse_dim);
    if (s->status != TSR_OK) return NULL;
    TsrTensor *rows = MAKE(s, tsr_tensor_new_reshape, t, (int)sparse_dim + 1, shape);
    TsrTensor *nonzero = CALL(s, "ne", "ts", rows, tsr_scalar_int(0));
    return CALL(s, "any", "ti", nonzero, last);
}

TsrStatus tsr_sparse_from_dense_new(TsrTensor **out, TsrTensor *t, int64_t sparse_dim) {
    int n = tsr_ndim(t);
    if (sparse_dim < 0 || sparse_dim > n)
        return tsr_error(TSR_RUNTIME_ERROR,
                         "dense_to_sparse: sparse_dim argument must be in [0,%d] range, but %lld is given", n,
                         (long long)sparse_dim);
    if (n > 0 && sparse_dim == 0)
        return tsr_error(TSR_RUNTIME_ERROR, "dense_to_sparse: sparse_dim argument must be in >0 when self.dim()>0");
    TsrScope s = {0};
    int64_t shape[TSR_MAX_DIMS + 1];
    TSR_TRY(tsr_layout_numel(&shape[0], (int)sparse_dim, t->sizes));
    for (int64_t d = sparse_dim; d < n; d++) shape[d - sparse_dim + 1] = t->sizes[d];
    t = MAKE(&s, tsr_tensor_new_resolved, t);
    TsrTensor *where = s.status == TSR_OK ? find_slices(&s, t, sparse_dim) : NULL;
    TsrTensor *found = MAKE(&s, tsr_nonzero_new, where);
    TsrTensor *turned = MAKE(&s, tsr_tensor_new_transpose, found, (int64_t)0, (int64_t)1);
    TsrTensor *indices = MAKE(&s, tsr_tensor_new_contiguous, turned, TSR_CONTIGUOUS);
    if (s.status == TSR_OK && n == 0 && indices->sizes[1] == 0)
        indices = MAKE(&s, tsr_tensor_new, 2, (const int64_t[]){0, 0}, TSR_INT64, t->device);
    TsrTensor *rows = MAKE(&s, tsr_tensor_new_reshape, t, n - (int)sparse_dim + 1, shape);
    TsrTensor *flat = MAKE(&s, flatten_positions, t, indices);
    TsrTensor *values = CALL(&s, "index_select", "tit", rows, (int64_t)0, flat);
    TsrTensor *result = MAKE(&s, tsr_sparse_new, n, t->sizes, tsr_coo_parts(indices, values, true));
    return tsr_scope_end_new(out, &s, result);
}

/* ---- rows of the table ---- */

static TsrStatus wrong_layout(const char *name, const TsrTensor *t) {
    return tsr_error(TSR_RUNTIME_ERROR, "%s expected sparse coordinate tensor layout but got %s", name,
                     tsr_layout_name(t->layout));
}

static TsrStatus return_alias(TsrOpCall *c, TsrTensor *t) {
    TsrTensor *alias;
    TSR_TRY(tsr_tensor_new_alias(&alias, t));
    return tsr_return_move(c, alias);
}

#define SELF (c->arg[0].t)

TsrStatus op_sparse_coalesce(TsrOpCall *c) {
    TsrTensor *t = NULL;
    if (SELF->layout != TSR_SPARSE_COO) return wrong_layout("coalesce", SELF);
    return tsr_finish_move(c, tsr_sparse_coalesce_new(&t, SELF), t);
}

TsrStatus op_sparse_is_coalesced(TsrOpCall *c) {
    if (SELF->layout != TSR_SPARSE_COO) return wrong_layout("is_coalesced", SELF);
    return tsr_return_bool(c, (SELF->flags & TSR_FLAG_COALESCED) != 0);
}

TsrStatus op_sparse_coalesced_inplace(TsrOpCall *c) {
    if (SELF->layout != TSR_SPARSE_COO) return tsr_refuse_backend("_coalesced_", SELF);
    SELF->flags = (uint8_t)(c->arg[1].b ? SELF->flags | TSR_FLAG_COALESCED : SELF->flags & ~TSR_FLAG_COALESCED);
    return tsr_return_move(c, tsr_tensor_retain(SELF));
}

/* ---- resizing ---- */

#define RESIZE_OPTIONS \
    " on a non-empty sparse tensor is not supported.\nYou could try the following options:\n" \
    "1. If you need an empty sparse tensor of this size, call `x = torch.sparse_coo_tensor(size)`.\n" \
    "2. If you need to resize this tensor, you have the following options:\n" \
    "    1. For both sparse and dense dimensions, keep the number of them constant and the size of them " \
    "non-shrinking, and then try the same call again.\n" \
    "    2. Or, create a new sparse tensor with the correct indices and values from this sparse tensor."

typedef struct Shape {
    int ndim;
    const int64_t *sizes;
    int64_t sparse_dim, dense_dim;
} Shape;

static TsrStatus check_dims(const Shape *to) {
    if (to->ndim == to->sparse_dim + to->dense_dim) return TSR_OK;
    return tsr_error(
        TSR_RUNTIME_ERROR,
        "'len(size) == sparse_dim + dense_dim' is not satisfied: len(size) = %d, sparse_dim = %lld, dense_dim = %lld",
        to->ndim, (long long)to->sparse_dim, (long long)to->dense_dim);
}

static TsrStatus changed(const char *kind, int64_t from, int64_t to) {
    return tsr_error(TSR_RUNTIME_ERROR, "changing the number of %s dimensions (from %lld to %lld)" RESIZE_OPTIONS, kind,
                     (long long)from, (long long)to);
}

/* That sizes[first .. first + n) do not shrink. */
static TsrStatus check_growth(const TsrTensor *t, const Shape *to, const char *kind, int64_t first, int64_t n) {
    bool shrinks = false;
    for (int64_t d = first; d < first + n; d++) shrinks |= to->sizes[d] < t->sizes[d];
    if (!shrinks) return TSR_OK;
    return tsr_error(TSR_RUNTIME_ERROR, "shrinking the size of %s dimensions (from %s to %s)" RESIZE_OPTIONS, kind,
                     tsr_layout_text((int)n, t->sizes + first), tsr_layout_text((int)n, to->sizes + first));
}

static TsrStatus check_resize(const TsrTensor *t, const Shape *to) {
    const TsrSparse *sparse = t->sparse;
    TSR_TRY(check_dims(to));
    if (tsr_sparse_nnz(t) == 0) return TSR_OK;
    if (to->sparse_dim != sparse->sparse_dim) return changed("sparse", sparse->sparse_dim, to->sparse_dim);
    if (to->dense_dim != sparse->dense_dim) return changed("dense", sparse->dense_dim, to->dense_dim);
    TSR_TRY(check_growth(t, to, "sparse", 0, to->sparse_dim));
    return check_growth(t, to, "dense", to->sparse_dim, to->dense_dim);
}

/* Gives t another shape; its entries stay unless `clear`. New places of dense dimensions hold zeros. */
static TsrStatus resize_coo(TsrTensor *t, const Shape *to, bool clear) {
    TsrScope s = {0};
    int64_t nnz = clear ? 0 : tsr_sparse_nnz(t), shape[TSR_MAX_DIMS + 1] = {nnz}, places[2] = {to->sparse_dim, nnz};
    for (int d = 0; d < to->ndim; d++)
        if (to->sizes[d] < 0) return tsr_error(TSR_RUNTIME_ERROR, "numel: integer multiplication overflow");
    memcpy(shape + 1, to->sizes + to->sparse_dim, sizeof *shape * (size_t)to->dense_dim);
    TsrTensor *indices = nnz > 0 ? t->sparse->indices : MAKE(&s, tsr_tensor_new, 2, places, TSR_INT64, t->device);
    TsrTensor *values = MAKE(&s, tsr_zeros_new, 1 + (int)to->dense_dim, shape, t->dtype, t->device);
    TsrTensor *kept = values;
    for (int64_t d = 0; d < to->dense_dim && nnz > 0; d++)
        kept = MAKE(&s, tsr_tensor_new_narrow, kept, d + 1, 0, t->sparse->values->sizes[d + 1]);
    if (s.status == TSR_OK && nnz > 0) s.status = tsr_tensor_copy(kept, t->sparse->values);
    TsrTensor *result = MAKE(&s, tsr_sparse_new, to->ndim, to->sizes,
                             tsr_coo_parts(indices, values, (t->flags & TSR_FLAG_COALESCED) != 0));
    TsrTensor *whole = NULL;
    TSR_TRY(tsr_scope_end_new(&whole, &s, result));
    TsrStatus status = assign(t, whole);
    tsr_tensor_free(whole);
    return status;
}

static TsrStatus sparse_resize(TsrOpCall *c, const Shape *to, bool clear) {
    TSR_TRY(clear ? check_dims(to) : check_resize(SELF, to));
    TSR_TRY(resize_coo(SELF, to, clear));
    return tsr_return_move(c, tsr_tensor_retain(SELF));
}

static Shape shape_argument(const TsrOpCall *c) {
    return (Shape){c->arg[1].n, c->arg[1].ints, c->arg[2].i, c->arg[3].i};
}

TsrStatus op_sparse_resize(TsrOpCall *c) {
    Shape to = shape_argument(c);
    return SELF->layout == TSR_SPARSE_COO ? sparse_resize(c, &to, false) : tsr_refuse_backend("sparse_resize_", SELF);
}

TsrStatus op_sparse_resize_and_clear(TsrOpCall *c) {
    Shape to = shape_argument(c);
    return SELF->layout == TSR_SPARSE_COO ? sparse_resize(c, &to, true)
                                          : tsr_refuse_backend("sparse_resize_and_clear_", SELF);
}

TsrStatus op_resize_as_sparse(TsrOpCall *c) {
    const TsrTensor *like = c->arg[1].t;
    bool coo = like->layout == TSR_SPARSE_COO;
    Shape to = {tsr_ndim(like), like->sizes, coo ? like->sparse->sparse_dim : 0,
                coo ? like->sparse->dense_dim : tsr_ndim(like)};
    return SELF->layout == TSR_SPARSE_COO ? sparse_resize(c, &to, false)
                                          : tsr_refuse_backend("resize_as_sparse_", SELF);
}

TsrStatus op_sparse_indices(TsrOpCall *c) {
    if (SELF->layout != TSR_SPARSE_COO) return wrong_layout("indices", SELF);
    if (!(SELF->flags & TSR_FLAG_COALESCED))
        return tsr_error(TSR_RUNTIME_ERROR,
                         "Cannot get indices on an uncoalesced tensor, please call .coalesce() first");
    return return_alias(c, SELF->sparse->indices);
}

TsrStatus op_sparse_values(TsrOpCall *c) {
    if (!tsr_is_sparse(SELF))
        return tsr_error(TSR_RUNTIME_ERROR, "values expected sparse tensor layout but got %s",
                         tsr_layout_name(SELF->layout));
    if (SELF->layout == TSR_SPARSE_COO && !(SELF->flags & TSR_FLAG_COALESCED))
        return tsr_error(TSR_RUNTIME_ERROR,
                         "Cannot get values on an uncoalesced tensor, please call .coalesce() first");
    return return_alias(c, SELF->sparse->values);
}

TsrStatus op_sparse_raw_indices(TsrOpCall *c) {
    if (SELF->layout != TSR_SPARSE_COO) return tsr_refuse_backend("_indices", SELF);
    return return_alias(c, SELF->sparse->indices);
}

TsrStatus op_sparse_raw_values(TsrOpCall *c) {
    if (SELF->layout != TSR_SPARSE_COO) return tsr_refuse_backend("_values", SELF);
    return return_alias(c, SELF->sparse->values);
}

TsrStatus op_sparse_nnz(TsrOpCall *c) {
    if (!tsr_is_sparse(SELF)) return tsr_refuse_backend("_nnz", SELF);
    return tsr_return_int(c, tsr_sparse_nnz(SELF));
}

TsrStatus op_sparse_dim(TsrOpCall *c) { return tsr_return_int(c, tsr_is_sparse(SELF) ? SELF->sparse->sparse_dim : 0); }
TsrStatus op_sparse_dense_dim(TsrOpCall *c) {
    return tsr_return_int(c, tsr_is_sparse(SELF) ? SELF->sparse->dense_dim : tsr_ndim(SELF));
}

TsrStatus op_sparse_to_dense(TsrOpCall *c) {
    TsrTensor *t = NULL;
    const TsrArg *dtype = &c->arg[1];
    if (tsr_is_sparse(SELF)) {
        if (tsr_arg_given(dtype))
            return tsr_error(TSR_RUNTIME_ERROR, SELF->layout == TSR_SPARSE_COO
                                                    ? "dtype argument is not supported by sparse_to_dense"
                                                    : "dtype argument is not supported by sparse_csr_to_dense");
        return tsr_finish_move(c, tsr_sparse_to_dense_new(&t, SELF), t);
    }
    return tsr_finish_move(c, tsr_tensor_new_cast(&t, SELF, tsr_arg_given(dtype) ? dtype->dtype : SELF->dtype), t);
}

/* As to_sparse(): COO of whatever it is. sparse_dim -1: not given. */
static TsrStatus to_coo(TsrOpCall *c, int64_t sparse_dim, bool given) {
    TsrTensor *t = NULL;
    if (!tsr_is_sparse(SELF) && !tsr_is_meta(SELF)) TSR_TRY(tsr_nonzero_check(SELF));
    if (!tsr_is_sparse(SELF))
        return tsr_finish_move(c, tsr_sparse_from_dense_new(&t, SELF, given ? sparse_dim : tsr_ndim(SELF)), t);
    if (given && sparse_dim != SELF->sparse->sparse_dim) {
        if (SELF->layout == TSR_SPARSE_COO)
            return tsr_error(
                TSR_RUNTIME_ERROR,
                "to_sparse: conversion from Sparse to Sparse with sparse_dim argument !=self.sparse_dim() is not "
                "supported");
        return tsr_error(
            TSR_RUNTIME_ERROR,
            "sparse_compressed_to_sparse: conversion from %s to Sparse with sparse_dim argument !=2 is not supported",
            tsr_layout_name(SELF->layout));
    }
    return tsr_finish_move(c, tsr_sparse_to_coo_new(&t, SELF), t);
}

TsrStatus op_to_sparse_dim(TsrOpCall *c) { return to_coo(c, c->arg[1].i, true); }
TsrStatus op_to_sparse_coo(TsrOpCall *c) { return to_coo(c, 0, false); }

static TsrStatus to_compressed(TsrOpCall *c, uint8_t layout, const TsrArg *blocksize, const TsrArg *dense_dim) {
    TsrTensor *t = NULL;
    const int64_t *blocks = blocksize != NULL && tsr_arg_given(blocksize) ? blocksize->ints : NULL;
    if (blocks != NULL && blocksize->n != 2)
        return tsr_error(TSR_RUNTIME_ERROR, "to_sparse: blocksize needs to be a tuple of size 2, but got %d",
                         blocksize->n);
    return tsr_finish_move(
        c, tsr_sparse_to_compressed_new(&t, SELF, layout, blocks, tsr_arg_given(dense_dim) ? dense_dim->i : 0), t);
}

/* A blocksize is for the layouts with blocks, which need one that divides the sizes. */
static TsrStatus check_blocksize(const TsrTensor *self, uint8_t layout, const TsrArg *blocksize) {
    bool blocks = layout == TSR_SPARSE_BSR || layout == TSR_SPARSE_BSC, given = tsr_arg_given(blocksize);
    const char *name = layout == self->layout           ? "to_sparse"
                       : self->layout == TSR_STRIDED    ? "dense_to_sparse"
                       : self->layout == TSR_SPARSE_COO ? "sparse_coo_to_sparse"
                                                        : "sparse_compressed_to_sparse";
    const int64_t *b = blocksize->ints;
    if (given && (b[0] <= 0 || b[1] <= 0))
        return tsr_error(TSR_RUNTIME_ERROR, "%s: blocksize needs to be positive, but got [%lld, %lld]", name,
                         (long long)b[0], (long long)b[1]);
    if (blocks != given)
        return tsr_error(TSR_RUNTIME_ERROR,
                         "%s: conversion from %s to %s with%s blocksize argument given is not supported", name,
                         tsr_layout_name(self->layout), tsr_layout_name(layout), given ? "" : "out");
    if (!given || tsr_ndim(self) != 2 || (self->sizes[0] % b[0] == 0 && self->sizes[1] % b[1] == 0)) return TSR_OK;
    return tsr_error(TSR_RUNTIME_ERROR,
                     "%s: tensor sparse size (%lld,%lld) must be divisible by given blocksize (%lld,%lld)", name,
                     (long long)self->sizes[0], (long long)self->sizes[1], (long long)b[0], (long long)b[1]);
}

TsrStatus op_to_sparse(TsrOpCall *c) {
    uint8_t layout = tsr_arg_given(&c->arg[1]) ? c->arg[1].layout : TSR_SPARSE_COO;
    if (layout != SELF->layout || tsr_arg_given(&c->arg[2])) TSR_TRY(check_blocksize(SELF, layout, &c->arg[2]));
    if (layout == SELF->layout) return tsr_return_move(c, tsr_tensor_retain(SELF));
    bool dense = !tsr_is_sparse(SELF), blocked = layout == TSR_SPARSE_BSR || layout == TSR_SPARSE_BSC;
    if (dense && !blocked && layout != TSR_STRIDED && tsr_arg_given(&c->arg[2]))
        return tsr_error(
            TSR_RUNTIME_ERROR,
            "dense_to_sparse: conversion from Strided to %s with blocksize argument given is not supported",
            layout == TSR_SPARSE_COO   ? "Sparse"
            : layout == TSR_SPARSE_CSR ? "SparseCsr"
                                       : "SparseCsc");
    int64_t dense_dim = tsr_arg_given(&c->arg[3]) ? c->arg[3].i : 0;
    if (dense_dim < 0 || dense_dim > tsr_ndim(SELF))
        return tsr_error(TSR_RUNTIME_ERROR,
                         "dense_to_sparse: dense_dim argument must be in [0,%d] range, but %lld is given",
                         tsr_ndim(SELF), (long long)dense_dim);
    if (layout == TSR_SPARSE_COO) return to_coo(c, tsr_ndim(SELF) - dense_dim, dense);
    if (layout == TSR_STRIDED) {
        TsrTensor *t = NULL;
        return tsr_finish_move(c, tsr_sparse_to_dense_new(&t, SELF), t);
    }
    return to_compressed(c, layout, &c->arg[2], &c->arg[3]);
}

TsrStatus op_to_sparse_csr(TsrOpCall *c) { return to_compressed(c, TSR_SPARSE_CSR, NULL, &c->arg[1]); }
TsrStatus op_to_sparse_csc(TsrOpCall *c) { return to_compressed(c, TSR_SPARSE_CSC, NULL, &c->arg[1]); }
TsrStatus op_to_sparse_bsr(TsrOpCall *c) { return to_compressed(c, TSR_SPARSE_BSR, &c->arg[1], &c->arg[2]); }
TsrStatus op_to_sparse_bsc(TsrOpCall *c) { return to_compressed(c, TSR_SPARSE_BSC, &c->arg[1], &c->arg[2]); }

static TsrStatus compressed_part(TsrOpCall *c, const char *name, bool row, bool plain) {
    bool rows = SELF->layout == TSR_SPARSE_CSR || SELF->layout == TSR_SPARSE_BSR,
         columns = SELF->layout == TSR_SPARSE_CSC || SELF->layout == TSR_SPARSE_BSC;
    if (row ? !rows : !columns)
        return tsr_error(TSR_RUNTIME_ERROR, "%s expected sparse %s compressed tensor layout but got %s", name,
                         row ? "row" : "column", tsr_layout_name(SELF->layout));
    return return_alias(c, plain ? SELF->sparse->plain_indices : SELF->sparse->indices);
}

TsrStatus op_crow_indices(TsrOpCall *c) { return compressed_part(c, "crow_indices", true, false); }
TsrStatus op_col_indices(TsrOpCall *c) { return compressed_part(c, "col_indices", true, true); }
TsrStatus op_ccol_indices(TsrOpCall *c) { return compressed_part(c, "ccol_indices", false, false); }
TsrStatus op_row_indices(TsrOpCall *c) { return compressed_part(c, "row_indices", false, true); }

/* The elements of a dense tensor, or sums of a sparse one, at the positions of a COO tensor. */
static TsrTensor *gather_at(TsrScope *s, TsrTensor *self, TsrTensor *mask) {
    int64_t shape[TSR_MAX_DIMS + 1] = {1};
    int sparse_dim = mask->sparse->sparse_dim, dense_dim = tsr_ndim(mask) - sparse_dim;
    for (int d = 0; d < sparse_dim; d++) shape[0] *= mask->sizes[d];
    for (int d = 0; d < dense_dim; d++) shape[d + 1] = mask->sizes[sparse_dim + d];
    TsrTensor *dense = MAKE(s, tsr_sparse_to_dense_new, self);
    TsrTensor *rows = MAKE(s, tsr_tensor_new_reshape, dense, dense_dim + 1, shape);
    TsrTensor *flat = MAKE(s, tsr_sparse_flat_new, mask);
    return CALL(s, "index_select", "tit", rows, (int64_t)0, flat);
}

TsrStatus op_sparse_mask(TsrOpCall *c) {
    TsrTensor *mask = c->arg[1].t;
    if (!tsr_is_sparse(mask)) return tsr_refuse_backend("sparse_mask", mask);
    if (!tsr_same_sizes(SELF, mask))
        return tsr_error(TSR_RUNTIME_ERROR,
                         "sparse_mask(): operands have incompatible sizes; self has size %s but mask has size %s",
                         tsr_sizes_text(SELF), tsr_sizes_text(mask));
    TsrScope s = {0};
    TsrTensor *coo = MAKE(&s, tsr_sparse_to_coo_new, mask);
    TsrTensor *values = s.status == TSR_OK ? gather_at(&s, SELF, coo) : NULL;
    TsrTensor *result = MAKE(&s, tsr_sparse_with_values_new, coo, values);
    if (mask->layout == TSR_SPARSE_CSR || mask->layout == TSR_SPARSE_CSC)
        result = MAKE(&s, tsr_sparse_to_compressed_new, result, mask->layout, NULL, (int64_t)mask->sparse->dense_dim);
    return tsr_scope_return(c, &s, result);
}
