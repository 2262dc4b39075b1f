/* csr.c: compressed sparse tensors (CSR, CSC, BSR, BSC): made, and converted to COO or dense ones and back.
 *
 * Row (or column) r of a compressed matrix has the entries plain_indices[compressed[r] .. compressed[r + 1]); BSR and
 * BSC hold blocks in place of numbers. COO is the hub: to it, the counts are expanded to one row number an entry and
 * blocks are split into their elements; from it, a coalesced tensor, or one of blocks, is sorted by the compressed
 * dimension and its entries are counted. A batch is a matrix at a time, all with as many entries. The constructors
 * check the shapes of the parts; the invariants are checked where a conversion reads them. */
#include <string.h>

#include "core/indexing.h"
#include "core/mem.h"
#include "core/tensor/owned.h"
#include "sparse.h"
#include "there.h"

static bool by_rows(uint8_t layout) { return layout == TSR_SPARSE_CSR || layout == TSR_SPARSE_BSR; }
static bool has_blocks(uint8_t layout) { return layout == TSR_SPARSE_BSR || layout == TSR_SPARSE_BSC; }

/* ---- making ---- */

static TsrStatus check_parts(const TsrSparseParts *parts) {
    const TsrTensor *compressed = parts->indices, *plain = parts->plain, *values = parts->values;
    const char *cname = by_rows(parts->layout) ? "crow_indices" : "ccol_indices",
               *pname = by_rows(parts->layout) ? "col_indices" : "row_indices";
    int least = has_blocks(parts->layout) ? 3 : 1;
    if (tsr_ndim(compressed) < 1)
        return tsr_error(TSR_RUNTIME_ERROR, "%s must have dimensionality >= 1 but got %d", cname, tsr_ndim(compressed));
    if (tsr_ndim(plain) < 1)
        return tsr_error(TSR_RUNTIME_ERROR, "%s must have dimensionality >= 1 but got %d", pname, tsr_ndim(plain));
    if (tsr_ndim(compressed) != tsr_ndim(plain))
        return tsr_error(TSR_RUNTIME_ERROR,
                         "number of dimensions of %s and %s must be the same but got %d and %d, respectively", cname,
                         pname, tsr_ndim(compressed), tsr_ndim(plain));
    if (tsr_ndim(values) < least)
        return tsr_error(TSR_RUNTIME_ERROR, "values must have dimensionality >= %d but got %d", least,
                         tsr_ndim(values));
    return TSR_OK;
}

/* plain_size of a device's indices. */
static TsrStatus plain_size_there(int64_t *out, TsrTensor *plain) {
    const int64_t sizes[2] = {1, plain->numel};
    int64_t least, largest = -1;
    TsrTensor *whole, *line = NULL;
    TSR_TRY(tsr_dense_new(&whole, plain, TSR_INT64));
    TsrStatus status = tsr_tensor_new_reshape(&line, whole, 2, sizes);
    if (status == TSR_OK && plain->numel > 0) status = tsr_sparse_ends_there(&least, &largest, line);
    tsr_tensor_free(line);
    tsr_tensor_free(whole);
    if (status == TSR_OK && tsr_add_overflows(largest, 1, out))
        status = tsr_error(TSR_RUNTIME_ERROR, "numel: integer multiplication overflow");
    if (status == TSR_OK) *out = TSR_MAX(*out, 0);
    return status;
}

/* The largest plain index plus 1. */
static TsrStatus plain_size(int64_t *out, TsrTensor *plain) {
    if (tsr_on_device(plain)) return plain_size_there(out, plain);
    *out = 0;
    for (int64_t i = 0; i < plain->numel; i++) {
        if (tsr_interrupted_at(i)) return tsr_interrupt_check();
        int64_t index = tsr_scalar_to_int(tsr_tensor_get(plain, i));
        if (index == INT64_MAX) return tsr_error(TSR_RUNTIME_ERROR, "numel: integer multiplication overflow");
        *out = TSR_MAX(*out, index + 1);
    }
    return TSR_OK;
}

static TsrStatus infer_sizes(int *ndim, int64_t *sizes, const TsrSparseParts *parts) {
    const TsrTensor *compressed = parts->indices, *values = parts->values;
    int batch = tsr_ndim(compressed) - 1, blocks = has_blocks(parts->layout) ? 2 : 0, n = batch;
    int64_t counted = compressed->sizes[batch] - 1, other;
    if (batch + 1 + blocks > tsr_ndim(values) || tsr_ndim(values) + 2 > TSR_MAX_DIMS)
        return tsr_error(TSR_RUNTIME_ERROR, "values must have dimensionality > %d but got %d", batch + blocks,
                         tsr_ndim(values));
    TSR_TRY(plain_size(&other, parts->plain));
    for (int d = 0; d < batch; d++) sizes[d] = compressed->sizes[d];
    sizes[n] = by_rows(parts->layout) ? counted : other;
    sizes[n + 1] = by_rows(parts->layout) ? other : counted;
    for (int d = 0; d < blocks; d++)
        if (tsr_mul_overflows(sizes[n + d], values->sizes[batch + 1 + d], &sizes[n + d]))
            return tsr_error(TSR_RUNTIME_ERROR, "numel: integer multiplication overflow");
    n += 2;
    for (int d = batch + 1 + blocks; d < tsr_ndim(values); d++) sizes[n++] = values->sizes[d];
    *ndim = n;
    return TSR_OK;
}

TsrStatus tsr_sparse_compressed_new(TsrTensor **out, int ndim, const int64_t *sizes, TsrSparseParts parts) {
    int64_t inferred[TSR_MAX_DIMS];
    TSR_TRY(check_parts(&parts));
    TSR_TRY(tsr_tensor_check(parts.plain, false));
    if (ndim < 0) {
        TSR_TRY(infer_sizes(&ndim, inferred, &parts));
        sizes = inferred;
    }
    return tsr_sparse_new(out, ndim, sizes, parts);
}

/* ---- to COO ---- */

static TsrStatus broken(const char *what) {
    return tsr_error(TSR_RUNTIME_ERROR, "the indices of a sparse compressed tensor are not valid: %s", what);
}

/* Checks of the shapes what the constructors leave unchecked. */
static TsrStatus check_shapes(const TsrTensor *t, int64_t ncrow, int64_t nnz) {
    const TsrSparse *sp = t->sparse;
    int blocks = has_blocks(t->layout) ? 2 : 0, at = by_rows(t->layout) ? 0 : 1;
    if (tsr_ndim(t) < 2 || tsr_ndim(sp->values) < 1 + blocks || tsr_ndim(t) != tsr_ndim(sp->values) + 1 - blocks ||
        sp->values->sizes[0] != nnz)
        return broken("values do not fit the sizes");
    int64_t block = blocks ? sp->values->sizes[1 + at] : 1;
    for (int d = 0; d < blocks; d++)
        if (sp->values->sizes[1 + d] == 0 || t->sizes[d] % sp->values->sizes[1 + d] != 0)
            return broken("blocks do not fit the sizes");
    return ncrow != t->sizes[at] / block + 1 ? broken("the counts do not fit") : TSR_OK;
}

static TsrStatus check_counts(const int64_t *crow, int64_t ncrow, int64_t nnz) {
    if (crow[0] != 0 || crow[ncrow - 1] != nnz) return broken("the counts do not fit");
    TSR_IN_PIECES(r, ncrow - 1)
    if (crow[r + 1] < crow[r] || crow[r + 1] > nnz) return broken("the counts do not rise");
    return tsr_interrupt_check();
}

TsrStatus tsr_compressed_counts_new(TsrTensor **out, TsrTensor *t) {
    TsrTensor *counts;
    const int64_t nnz = tsr_sparse_nnz(t);
    TSR_TRY(tsr_dense_new(&counts, t->sparse->indices, TSR_INT64));
    TsrStatus status = tsr_tensor_check(counts, false);
    if (status == TSR_OK) status = check_shapes(t, counts->numel, nnz);
    if (status == TSR_OK)
        status = tsr_on_device(t) ? tsr_sparse_check_counts_there(counts, nnz)
                                  : check_counts(tsr_data(counts), counts->numel, nnz);
    *out = counts;
    return tsr_owned_keep(out, status);
}

static void fill_lines(int64_t *lines, int64_t *others, const TsrTensor *counts, const TsrTensor *plain) {
    const int64_t *c = tsr_data(counts), *p = tsr_data(plain);
    for (int64_t r = 0; r + 1 < counts->numel && !tsr_interrupted_at(r); r++)
        for (int64_t i = c[r]; i < c[r + 1]; i++) lines[i] = r;
    TSR_IN_PIECES(i, plain->numel) others[i] = p[i];
}

/* indices (2, nnz) of the entries or blocks. */
static TsrStatus expand_counts(TsrTensor **out, TsrTensor *t) {
    TsrScope s = {0};
    const bool rows = by_rows(t->layout);
    TsrTensor *crow = MAKE(&s, tsr_compressed_counts_new, t),
              *col = MAKE(&s, tsr_dense_new, t->sparse->plain_indices, TSR_INT64);
    int64_t shape[2] = {2, tsr_sparse_nnz(t)}, nnz = shape[1];
    if (s.status == TSR_OK) s.status = tsr_tensor_check(col, false);
    if (s.status == TSR_OK && tsr_on_device(t)) {
        TsrTensor *row = MAKE(&s, tsr_sparse_rows_there_new, crow, nnz),
                  *lines[2] = {rows ? row : col, rows ? col : row};
        return tsr_scope_end_new(out, &s, CALL(&s, "stack", "T", 2, lines));
    }
    TsrTensor *indices = MAKE(&s, tsr_tensor_new, 2, shape, TSR_INT64, TSR_DEVICE_CPU);
    if (s.status == TSR_OK) {
        int64_t *p = tsr_data(indices);
        fill_lines(rows ? p : p + nnz, rows ? p + nnz : p, crow, col);
        s.status = tsr_interrupt_check();
    }
    return tsr_scope_end_new(out, &s, indices);
}

/* Each block (b0, b1) becomes b0 * b1 entries. */
static TsrTensor *split_blocks(TsrScope *s, TsrTensor *indices, TsrTensor **values) {
    TsrTensor *v = *values;
    if (s->status != TSR_OK) return NULL;
    int64_t nnz = indices->sizes[1], b0 = v->sizes[1], b1 = v->sizes[2], shape[TSR_MAX_DIMS] = {0}, total[2] = {2, 0};
    if (tsr_mul_overflows(b0, b1, &shape[0]) || tsr_mul_overflows(shape[0], nnz, &shape[0])) {
        s->status = tsr_error(TSR_RUNTIME_ERROR, "numel: integer multiplication overflow");
        return NULL;
    }
    total[1] = shape[0];
    for (int d = 3; d < tsr_ndim(v); d++) shape[d - 2] = v->sizes[d];
    *values = MAKE(s, tsr_tensor_new_reshape, v, tsr_ndim(v) - 2, shape);
    if (tsr_on_device(indices)) return MAKE(s, tsr_sparse_split_there_new, indices, b0, b1);
    TsrTensor *all = MAKE(s, tsr_tensor_new, 2, total, TSR_INT64, TSR_DEVICE_CPU);
    if (s->status != TSR_OK) return NULL;
    const int64_t *from = tsr_data(indices);
    int64_t *rows = tsr_data(all), *cols = rows + total[1];
    for (int64_t i = 0; i < nnz && !tsr_interrupted_at(i); i++)
        for (int64_t k = 0; k < b0 * b1; k++) {
            *rows++ = from[i] * b0 + k / b1;
            *cols++ = from[nnz + i] * b1 + k % b1;
        }
    s->status = tsr_interrupt_check();
    return all;
}

static TsrStatus plain_to_coo(TsrTensor **out, TsrTensor *t) {
    TsrScope s = {0};
    TsrTensor *indices = MAKE(&s, expand_counts, t), *values = t->sparse->values;
    if (has_blocks(t->layout)) indices = split_blocks(&s, indices, &values);
    TsrTensor *coo = MAKE(&s, tsr_sparse_new, tsr_ndim(t), t->sizes, tsr_coo_parts(indices, values, false));
    TsrTensor *result = MAKE(&s, tsr_sparse_coalesce_new, coo);
    return tsr_scope_end_new(out, &s, result);
}

TsrStatus tsr_sparse_to_coo_new(TsrTensor **out, TsrTensor *t) {
    if (t->layout == TSR_SPARSE_COO) {
        *out = tsr_tensor_retain(t);
        return TSR_OK;
    }
    if (tsr_ndim(t->sparse->indices) == 1) return plain_to_coo(out, t);
    TSR_OWNED dense = NULL;
    TSR_TRY(tsr_sparse_to_dense_new(&dense, t));
    return tsr_sparse_from_dense_new(out, dense, tsr_ndim(dense) - t->sparse->dense_dim);
}

/* ---- to dense ---- */

/* Matrix `i` of a batch. */
static TsrStatus batch_item(TsrTensor **out, TsrTensor *t, int64_t i) {
    TsrScope s = {0};
    TsrTensor *crow = MAKE(&s, tsr_tensor_new_select, t->sparse->indices, (int64_t)0, i);
    TsrTensor *col = MAKE(&s, tsr_tensor_new_select, t->sparse->plain_indices, (int64_t)0, i);
    TsrTensor *values = MAKE(&s, tsr_tensor_new_select, t->sparse->values, (int64_t)0, i);
    TsrTensor *item =
        MAKE(&s, tsr_sparse_new, tsr_ndim(t) - 1, t->sizes + 1, tsr_compressed_parts(t->layout, crow, col, values));
    return tsr_scope_end_new(out, &s, item);
}

static TsrStatus batches_to_dense(TsrTensor **out, TsrTensor *t) {
    if (tsr_ndim(t) < 3) return broken("there are too few sizes");
    TSR_TRY(tsr_zeros_new(out, tsr_ndim(t), t->sizes, t->dtype, t->device));
    TsrStatus status = TSR_OK;
    for (int64_t i = 0; i < t->sizes[0] && status == TSR_OK; i++) {
        TsrScope s = {0};
        TsrTensor *item = MAKE(&s, batch_item, t, i);
        TsrTensor *dense = MAKE(&s, tsr_compressed_to_dense_new, item);
        TsrTensor *place = MAKE(&s, tsr_tensor_new_select, *out, (int64_t)0, i);
        if (s.status == TSR_OK) s.status = tsr_tensor_copy(place, dense);
        status = tsr_scope_end(&s);
    }
    return tsr_owned_keep(out, status);
}

TsrStatus tsr_compressed_to_dense_new(TsrTensor **out, TsrTensor *t) {
    if (tsr_ndim(t->sparse->indices) > 1) return batches_to_dense(out, t);
    TSR_OWNED coo = NULL;
    TSR_TRY(plain_to_coo(&coo, t));
    return tsr_sparse_to_dense_new(out, coo);
}

/* ---- from COO and dense ---- */

static TsrStatus row_counts_there_new(TsrTensor **out, const TsrTensor *indices, int64_t n) {
    TSR_OWNED rows = NULL;
    TSR_TRY(tsr_tensor_new_select(&rows, indices, 0, 0));
    return tsr_sparse_counts_there_new(out, rows, n);
}

/* indices sorted by their first row: how many come before each of `n` positions. */
static TsrStatus count_new(TsrTensor **out, const TsrTensor *indices, int64_t n) {
    int64_t size, nnz = indices->sizes[1];
    if (tsr_on_device(indices)) return row_counts_there_new(out, indices, n);
    if (tsr_add_overflows(n, 1, &size)) return tsr_error(TSR_RUNTIME_ERROR, "numel: integer multiplication overflow");
    TSR_TRY(tsr_zeros_new(out, 1, &size, TSR_INT64, TSR_DEVICE_CPU));
    int64_t *c = tsr_data(*out);
    const int64_t *rows = tsr_data(indices);
    TSR_IN_PIECES(i, nnz) c[rows[i] + 1]++;
    TSR_IN_PIECES(r, n) c[r + 1] += c[r];
    return tsr_owned_keep(out, tsr_interrupt_check());
}

/* A coalesced COO tensor (of blocks) whose first sparse dimension is the one to count, as `layout` with the given
 * sizes. */
static TsrTensor *compress(TsrScope *s, TsrTensor *coo, uint8_t layout, int ndim, const int64_t *sizes) {
    if (s->status != TSR_OK) return NULL;
    (void)MAKE(s, tsr_sparse_flat_new, coo); /* for its check of positions */
    TsrTensor *indices = MAKE(s, tsr_tensor_new_contiguous, coo->sparse->indices, TSR_CONTIGUOUS);
    TsrTensor *crow = MAKE(s, count_new, indices, coo->sizes[0]);
    TsrTensor *row = MAKE(s, tsr_tensor_new_select, indices, (int64_t)0, (int64_t)1);
    TsrTensor *col = MAKE(s, tsr_tensor_new_clone, row, TSR_CONTIGUOUS);
    return MAKE(s, tsr_sparse_new, ndim, sizes, tsr_compressed_parts(layout, crow, col, coo->sparse->values));
}

static TsrTensor *swap_sparse(TsrScope *s, TsrTensor *coo) {
    TsrTensor *turned = CALL(s, "transpose", "tii", coo, (int64_t)0, (int64_t)1);
    return MAKE(s, tsr_sparse_coalesce_new, turned);
}

/* "csr" */
static const char *target_name(uint8_t layout) {
    static const char *const names[] = {"", "", "csr", "csc", "bsr", "bsc"};
    return names[layout];
}

static TsrStatus check_sparse_dim(const TsrTensor *t, uint8_t layout) {
    static const char *const names[] = {"", "", "Csr", "Csc", "Bsr", "Bsc"};
    if (t->sparse->sparse_dim == 2) return TSR_OK;
    return tsr_error(TSR_RUNTIME_ERROR,
                     "coo_to_sparse_%s: conversion from Sparse to Sparse%s for input tensors with sparse_dim()!=2 is "
                     "not supported",
                     target_name(layout), names[layout]);
}

static TsrStatus coo_to_compressed(TsrTensor **out, TsrTensor *t, uint8_t layout) {
    TsrScope s = {0};
    TsrTensor *coo = layout == TSR_SPARSE_CSR ? MAKE(&s, tsr_sparse_coalesce_new, t) : swap_sparse(&s, t);
    TsrTensor *result = compress(&s, coo, layout, tsr_ndim(t), t->sizes);
    return tsr_scope_end_new(out, &s, result);
}

static TsrStatus dense_to_blocks(TsrTensor **out, TsrTensor *t, uint8_t layout, const int64_t *blocksize) {
    int n = tsr_ndim(t);
    int64_t shape[TSR_MAX_DIMS + 2], order[TSR_MAX_DIMS + 2] = {0, 2, 1, 3};
    if (n + 2 > TSR_MAX_DIMS) return tsr_error(TSR_RUNTIME_ERROR, "to_sparse: too many dimensions");
    for (int d = 0; d < 2; d++)
        if (blocksize[d] <= 0 || t->sizes[d] % blocksize[d] != 0) {
            if (blocksize[d] <= 0)
                return tsr_error(TSR_RUNTIME_ERROR, "blocksize needs to be positive, but got (%lld,%lld)",
                                 (long long)blocksize[0], (long long)blocksize[1]);
            return tsr_error(
                TSR_RUNTIME_ERROR,
                "dense_to_%s: tensor sparse size (%lld,%lld) must be divisible by given blocksize (%lld,%lld)",
                layout == TSR_SPARSE_BSR ? "sparse_bsr" : "sparse_bsc", (long long)t->sizes[0], (long long)t->sizes[1],
                (long long)blocksize[0], (long long)blocksize[1]);
        }
    if (layout == TSR_SPARSE_BSC) {
        order[0] = 2;
        order[1] = 0;
        order[2] = 1;
    }
    shape[0] = t->sizes[0] / blocksize[0];
    shape[1] = blocksize[0];
    shape[2] = t->sizes[1] / blocksize[1];
    shape[3] = blocksize[1];
    for (int d = 2; d < n; d++) {
        shape[d + 2] = t->sizes[d];
        order[d + 2] = d + 2;
    }
    TsrScope s = {0};
    TsrTensor *split = MAKE(&s, tsr_tensor_new_reshape, t, n + 2, shape);
    TsrTensor *turned = MAKE(&s, tsr_tensor_new_permute, split, n + 2, order);
    TsrTensor *coo = MAKE(&s, tsr_sparse_from_dense_new, turned, (int64_t)2);
    TsrTensor *result = compress(&s, coo, layout, n, t->sizes);
    return tsr_scope_end_new(out, &s, result);
}

static TsrStatus matrix_to_compressed(TsrTensor **out, TsrTensor *t, uint8_t layout, const int64_t *blocksize) {
    if (has_blocks(layout)) return dense_to_blocks(out, t, layout, blocksize);
    TSR_OWNED coo = NULL;
    TSR_TRY(tsr_sparse_from_dense_new(&coo, t, 2));
    return coo_to_compressed(out, coo, layout);
}

/* Batches: each matrix by itself, all with as many elements. */
static TsrStatus dense_to_compressed(TsrTensor **out, TsrTensor *t, uint8_t layout, const int64_t *blocksize,
                                     int64_t dense_dim) {
    if (tsr_ndim(t) - dense_dim <= 2) return matrix_to_compressed(out, t, layout, blocksize);
    int64_t n = t->sizes[0];
    TsrTensor **parts[3] = {NULL, NULL, NULL};
    if (n == 0)
        return tsr_error(TSR_RUNTIME_ERROR, "to_sparse_%s: Expected product of batch dimensions to be non-zero.",
                         target_name(layout));
    TsrTensor **block = tsr_calloc((size_t)n, 3 * sizeof *block);
    if (block == NULL) return tsr_error_no_memory((size_t)n * 3 * sizeof *block);
    for (int k = 0; k < 3; k++) parts[k] = block + (int64_t)k * n;
    TsrStatus status = TSR_OK;
    for (int64_t i = 0; i < n && status == TSR_OK; i++) {
        TsrScope s = {0};
        TsrTensor *item = MAKE(&s, tsr_tensor_new_select, t, (int64_t)0, i);
        TsrTensor *made = MAKE(&s, dense_to_compressed, item, layout, blocksize, dense_dim);
        if (s.status == TSR_OK) {
            parts[0][i] = tsr_tensor_retain(made->sparse->indices);
            parts[1][i] = tsr_tensor_retain(made->sparse->plain_indices);
            parts[2][i] = tsr_tensor_retain(made->sparse->values);
            if (!tsr_same_sizes(parts[1][i], parts[1][0]))
                s.status = tsr_error(TSR_RUNTIME_ERROR, "Expect the same number of specified elements per batch.");
        }
        status = tsr_scope_end(&s);
    }
    TsrScope s = {.status = status};
    TsrTensor *joined[3];
    for (int k = 0; k < 3; k++) joined[k] = CALL(&s, "stack", "T", (int)n, parts[k]);
    TsrTensor *result =
        MAKE(&s, tsr_sparse_new, tsr_ndim(t), t->sizes, tsr_compressed_parts(layout, joined[0], joined[1], joined[2]));
    status = tsr_scope_end_new(out, &s, result);
    for (int64_t i = 0; i < 3 * n; i++) tsr_tensor_free(block[i]);
    tsr_free(block);
    return status;
}

/* A tensor of fewer than two dimensions has no rows or columns: each layout asks for another of them first. */
static TsrStatus refuse_flat(TsrTensor *t, uint8_t layout) {
    int64_t dim = has_blocks(layout) ? -2 : 1;
    if (has_blocks(layout) && tsr_ndim(t) == 0)
        return tsr_error(TSR_INDEX_ERROR, "Dimension specified as -2 but tensor has no dimensions");
    if (layout != TSR_SPARSE_CSR) return tsr_wrap_dim(&dim, tsr_ndim(t));
    TSR_OWNED found = NULL;
    TSR_TRY(tsr_nonzero_new(&found, t));
    return tsr_error(TSR_INDEX_ERROR, "select(): index 1 out of range for tensor of size [%lld, %d] at dimension 1",
                     (long long)found->sizes[0], tsr_ndim(t));
}

TsrStatus tsr_sparse_to_compressed_new(TsrTensor **out, TsrTensor *t, uint8_t layout, const int64_t *blocksize,
                                       int64_t dense_dim) {
    if (t->layout == layout && !has_blocks(layout)) {
        *out = tsr_tensor_retain(t);
        return TSR_OK;
    }
    if (has_blocks(layout) && blocksize == NULL) return tsr_error(TSR_RUNTIME_ERROR, "to_sparse: blocksize is missing");
    if (t->layout == TSR_SPARSE_COO) TSR_TRY(check_sparse_dim(t, layout));
    if (t->layout == TSR_SPARSE_COO && !has_blocks(layout)) return coo_to_compressed(out, t, layout);
    if (tsr_is_sparse(t) && !has_blocks(layout) && tsr_ndim(t->sparse->indices) == 1) {
        TsrScope s = {0};
        TsrTensor *coo = MAKE(&s, tsr_sparse_to_coo_new, t);
        TsrTensor *made = MAKE(&s, coo_to_compressed, coo, layout);
        return tsr_scope_end_new(out, &s, made);
    }
    int n = tsr_ndim(t);
    if (tsr_is_sparse(t)) dense_dim = t->sparse->dense_dim;
    if (n < 2) return refuse_flat(t, layout);
    if (dense_dim < 0 || dense_dim > n - 2)
        return tsr_error(TSR_RUNTIME_ERROR,
                         "dense_to_sparse_%s: dense_dim argument must be in [0,%d] range, but %lld is given",
                         target_name(layout), n - 2, (long long)dense_dim);
    TsrScope s = {0};
    TsrTensor *dense = MAKE(&s, tsr_sparse_to_dense_new, t);
    TsrTensor *result = MAKE(&s, dense_to_compressed, dense, layout, blocksize, dense_dim);
    return tsr_scope_end_new(out, &s, result);
}
