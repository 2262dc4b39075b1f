/* there.c: positions of sparse tensors of a device (there.h).
 *
 * Entries are grouped by a stable sort of their flat positions: where a sorted one differs from the one before it, a
 * group begins. Counts and rows are turned into each other by searches: row i of an entry is how many counts are not
 * above its number, a count is where its row would go among all rows. */
#include "there.h"

#include <string.h>

#include "core/indexing.h"
#include "core/ops/create/create.h"
#include "core/ops/sort/there.h"
#include "core/tensor/owned.h"

/* 0, 1, ... n - 1, where t lies. */
static TsrTensor *counted(TsrScope *s, const TsrTensor *t, int64_t n) {
    TsrTensor *line = MAKE(s, tsr_tensor_new, 1, &n, TSR_INT64, t->device);
    if (s->status == TSR_OK) s->status = tsr_create_fill_arange(line, tsr_scalar_int(0), tsr_scalar_int(1));
    return line;
}

static TsrTensor *picked(TsrScope *s, TsrTensor *t, int64_t dim, TsrTensor *index) {
    return CALL(s, "index_select", "tit", t, dim, index);
}

/* ---- flat positions ---- */

static TsrStatus check_product(int ndim, const int64_t *sizes) {
    int64_t product = 1;
    for (int d = 0; d < ndim; d++)
        if (tsr_mul_overflows(product, sizes[d], &product)) return tsr_device_decline();
    return TSR_OK;
}

TsrStatus tsr_sparse_number_there_new(TsrTensor **out, const TsrTensor *indices, const int64_t *sizes) {
    const int ndim = (int)indices->sizes[0];
    TsrDeviceShape shape = {.ndim = ndim};
    TsrDeviceWork work = {.what = TSR_P_FLAT, .params = &shape, .nparams = sizeof shape};
    TsrTensor *flat = NULL;
    if (indices->sizes[0] > TSR_DEVICE_DIMS) return tsr_device_decline();
    TSR_TRY(check_product(ndim, sizes));
    for (int d = 0; d < ndim; d++) shape.sizes[d] = sizes[ndim - 1 - d];
    TSR_TRY(tsr_tensor_new(&flat, 1, &indices->sizes[1], TSR_INT64, indices->device));
    TsrStatus status = ndim == 0 ? tsr_tensor_fill(flat, tsr_scalar_int(0)) : tsr_device_work_add(&work, flat, true);
    if (status == TSR_OK && ndim > 0) status = tsr_device_work_add(&work, indices, false);
    if (status == TSR_OK && ndim > 0) status = tsr_device_work(indices->device.type, &work);
    if (status == TSR_OK) *out = flat;
    else tsr_tensor_free(flat);
    return status;
}

TsrStatus tsr_sparse_flat_there_new(TsrTensor **out, const TsrTensor *t) {
    TSR_OWNED whole = NULL;
    TSR_TRY(tsr_tensor_new_cast(&whole, t->sparse->indices, TSR_INT64));
    return tsr_sparse_number_there_new(out, whole, t->sizes);
}

/* ---- numbers for the host ---- */

static TsrStatus read_int(int64_t *out, const TsrTensor *t) {
    TsrScalar value;
    TSR_TRY(tsr_tensor_item(&value, t));
    *out = tsr_scalar_to_int(value);
    return TSR_OK;
}

TsrStatus tsr_sparse_ends_there(int64_t *least, int64_t *largest, TsrTensor *t) {
    TsrScope s = {0};
    const int64_t dim = 1, n = t->sizes[0];
    TsrTensor *ends[2] = {CALL(&s, "amin", "tI", t, 1, &dim), CALL(&s, "amax", "tI", t, 1, &dim)},
              *all = CALL(&s, "cat", "Ti", 2, ends, (int64_t)0), *here = MAKE(&s, tsr_new_there, all, TSR_DEVICE_CPU);
    if (s.status == TSR_OK) {
        memcpy(least, tsr_data(here), sizeof *least * (size_t)n);
        memcpy(largest, (const int64_t *)tsr_data(here) + n, sizeof *largest * (size_t)n);
    }
    return tsr_scope_end(&s);
}

/* ---- groups ---- */

/* Both results of an operator, of which the second is lent through *second. */
static TsrTensor *both(TsrScope *s, TsrTensor **second, TsrTensor *two[2], TsrStatus status) {
    if (s->status == TSR_OK) s->status = status;
    if (s->status != TSR_OK) return NULL;
    s->next = two[1];
    *second = tsr_scope_keep(s, TSR_OK);
    s->next = two[0];
    if (*second == NULL) tsr_tensor_free(two[0]);
    return *second != NULL ? tsr_scope_keep(s, TSR_OK) : NULL;
}

static TsrTensor *sorted(TsrScope *s, TsrTensor **order, TsrTensor *t) {
    TsrTensor *two[2] = {NULL, NULL};
    return s->status != TSR_OK ? NULL
                               : both(s, order, two, tsr_invoke_new(two, 2, "sort", "tbib", t, 1, (int64_t)0, 0));
}

TsrStatus tsr_sparse_coalesce_there_new(TsrTensor **out, TsrTensor *t, TsrTensor *flat) {
    TsrScope s = {0};
    TsrTensor *order = NULL, *line = sorted(&s, &order, flat), *begins = tsr_run_starts(&s, line);
    TsrTensor *found = MAKE(&s, tsr_nonzero_new, begins), *at = MAKE(&s, tsr_tensor_new_select, found, 1, 0);
    TsrTensor *first = picked(&s, order, 0, at), *indices = picked(&s, t->sparse->indices, 1, first);
    TsrTensor *values = picked(&s, t->sparse->values, 0, order);
    if (s.status == TSR_OK && first->numel < flat->numel) {
        TsrTensor *number = CALL(&s, "cumsum", "ti", begins, (int64_t)0),
                  *group = CALL(&s, "sub", "ts", number, tsr_scalar_int(1));
        TsrTensor *some = SLICE(&s, values, 0, 0, first->numel), *zeros = CALL(&s, "zeros_like", "t", some);
        values = tsr_sparse_add_at(&s, zeros, group, values);
    }
    return tsr_scope_end_new(out, &s,
                             MAKE(&s, tsr_sparse_new, tsr_ndim(t), t->sizes, tsr_coo_parts(indices, values, true)));
}

/* ---- counts and rows ---- */

TsrStatus tsr_sparse_check_counts_there(TsrTensor *counts, int64_t nnz) {
    TsrScope s = {0};
    const int64_t n = counts->numel;
    int64_t good = 0;
    TsrTensor *begins = SLICE(&s, counts, 0, 0, n - 1), *ends = SLICE(&s, counts, 0, 1, n),
              *first = MAKE(&s, tsr_tensor_new_select, counts, 0, 0),
              *last = MAKE(&s, tsr_tensor_new_select, counts, 0, n - 1);
    TsrTensor *rise = CALL(&s, "le", "tt", begins, ends), *all = CALL(&s, "all", "t", rise),
              *zero = CALL(&s, "eq", "ts", first, tsr_scalar_int(0)),
              *whole = CALL(&s, "eq", "ts", last, tsr_scalar_int(nnz)),
              *edges = CALL(&s, "logical_and", "tt", zero, whole), *fits = CALL(&s, "logical_and", "tt", all, edges);
    if (s.status == TSR_OK) s.status = read_int(&good, fits);
    TSR_TRY(tsr_scope_end(&s));
    return good != 0 ? TSR_OK : tsr_device_decline();
}

TsrStatus tsr_sparse_rows_there_new(TsrTensor **out, TsrTensor *counts, int64_t nnz) {
    TsrScope s = {0};
    TsrTensor *ends = SLICE(&s, counts, 0, 1, INT64_MAX), *entries = counted(&s, counts, nnz);
    return tsr_scope_end_new(out, &s, CALL(&s, "searchsorted", "ttbb", ends, entries, 0, 1));
}

TsrStatus tsr_sparse_counts_there_new(TsrTensor **out, TsrTensor *rows, int64_t n) {
    TsrScope s = {0};
    int64_t size;
    if (tsr_add_overflows(n, 1, &size)) return tsr_error(TSR_RUNTIME_ERROR, "numel: integer multiplication overflow");
    TsrTensor *numbers = counted(&s, rows, size), *line = MAKE(&s, tsr_tensor_new_contiguous, rows, TSR_CONTIGUOUS);
    return tsr_scope_end_new(out, &s, CALL(&s, "searchsorted", "tt", line, numbers));
}

/* How far the elements of a block lie from its first one: along its rows, or its columns. */
static TsrTensor *offsets(TsrScope *s, TsrTensor *within, int64_t b1, bool rows) {
    if (rows) return CALL(s, "div", "tsc", within, tsr_scalar_int(b1), "floor");
    return CALL(s, "remainder", "ts", within, tsr_scalar_int(b1));
}

TsrStatus tsr_sparse_split_there_new(TsrTensor **out, TsrTensor *indices, int64_t b0, int64_t b1) {
    TsrScope s = {0};
    const int64_t minus = -1;
    TsrTensor *within = counted(&s, indices, b0 * b1), *lines[2];
    for (int d = 0; d < 2; d++) {
        TsrTensor *block = MAKE(&s, tsr_tensor_new_select, indices, 0, d),
                  *begins = CALL(&s, "mul", "ts", block, tsr_scalar_int(d == 0 ? b0 : b1)),
                  *column = MAKE(&s, tsr_tensor_new_unsqueeze, begins, 1), *off = offsets(&s, within, b1, d == 0),
                  *all = CALL(&s, "add", "tt", column, off);
        lines[d] = MAKE(&s, tsr_tensor_new_reshape, all, 1, &minus);
    }
    return tsr_scope_end_new(out, &s, CALL(&s, "stack", "T", 2, lines));
}

/* ---- two tensors ---- */

TsrStatus tsr_sparse_meet_there_new(TsrTensor **out, TsrTensor *probe, TsrTensor *line) {
    TsrScope s = {0};
    if (line->numel == 0) return tsr_tensor_new(out, 2, (const int64_t[]){2, 0}, TSR_INT64, probe->device);
    TsrTensor *after = CALL(&s, "searchsorted", "tt", line, probe),
              *places = CALL(&s, "clamp_max", "ts", after, tsr_scalar_int(line->numel - 1)),
              *there = picked(&s, line, 0, places), *equal = CALL(&s, "eq", "tt", there, probe),
              *found = MAKE(&s, tsr_nonzero_new, equal), *kept = MAKE(&s, tsr_tensor_new_select, found, 1, 0);
    TsrTensor *lines[2] = {kept, picked(&s, places, 0, kept)};
    return tsr_scope_end_new(out, &s, CALL(&s, "stack", "T", 2, lines));
}

/* Rows (2, n): the runs from `first` to `end`, one behind the other: which run, and the number in it. How many there
 * are has to be known to the host. Those of a run begin at number sums - each. */
static TsrTensor *runs(TsrScope *s, TsrTensor *first, TsrTensor *end) {
    int64_t total = 0;
    TsrTensor *each = CALL(s, "sub", "tt", end, first), *sums = CALL(s, "cumsum", "ti", each, (int64_t)0),
              *last = MAKE(s, tsr_tensor_new_select, sums, 0, -1);
    if (s->status == TSR_OK) s->status = read_int(&total, last);
    TsrTensor *numbers = s->status == TSR_OK ? counted(s, sums, total) : NULL,
              *run = CALL(s, "searchsorted", "ttbb", sums, numbers, 0, 1);
    TsrTensor *before = CALL(s, "sub", "tt", sums, each), *shift = CALL(s, "sub", "tt", first, before),
              *shifts = picked(s, shift, 0, run);
    TsrTensor *lines[2] = {run, CALL(s, "add", "tt", numbers, shifts)};
    return CALL(s, "stack", "T", 2, lines);
}

TsrStatus tsr_sparse_pairs_there_new(TsrTensor **out, TsrTensor *a, TsrTensor *b, int64_t depth) {
    TsrScope s = {0};
    if (a->sizes[1] == 0) return tsr_tensor_new(out, 2, (const int64_t[]){2, 0}, TSR_INT64, a->device);
    TsrTensor *columns = MAKE(&s, tsr_tensor_new_select, a, 0, 1), *rows = MAKE(&s, tsr_tensor_new_select, b, 0, 0),
              *counts = MAKE(&s, tsr_sparse_counts_there_new, rows, depth), *ends = SLICE(&s, counts, 0, 1, INT64_MAX),
              *first = picked(&s, counts, 0, columns), *end = picked(&s, ends, 0, columns);
    return tsr_scope_end_new(out, &s, runs(&s, first, end));
}

TsrStatus tsr_sparse_pick_new(TsrTensor **out, TsrTensor *row, TsrTensor *index) {
    TsrScope s = {0};
    if (index->numel == 0) return tsr_tensor_new(out, 2, (const int64_t[]){2, 0}, TSR_INT64, row->device);
    TsrTensor *order = NULL, *line = sorted(&s, &order, row), *first = CALL(&s, "searchsorted", "tt", line, index),
              *end = CALL(&s, "searchsorted", "ttbb", line, index, 0, 1), *all = runs(&s, first, end),
              *run = MAKE(&s, tsr_tensor_new_select, all, 0, 0), *numbers = MAKE(&s, tsr_tensor_new_select, all, 0, 1);
    TsrTensor *lines[2] = {run, picked(&s, order, 0, numbers)};
    return tsr_scope_end_new(out, &s, CALL(&s, "stack", "T", 2, lines));
}

TsrStatus tsr_sparse_times_there_new(TsrTensor **out, const TsrTensor *counts, const TsrTensor *columns,
                                     const TsrTensor *values, const TsrTensor *dense, bool fused) {
    TsrScope s = {0};
    const TsrDeviceSpmm how = {fused};
    const int64_t sizes[2] = {counts->numel - 1, dense->sizes[1]};
    const TsrTensor *in[4] = {counts, columns, values, dense};
    TsrDeviceWork work = {.what = TSR_P_SPMM, .params = &how, .nparams = sizeof how};
    TsrTensor *result = MAKE(&s, tsr_tensor_new, 2, sizes, values->dtype, values->device);
    if (s.status == TSR_OK) s.status = tsr_device_work_add(&work, result, true);
    for (int k = 0; k < 4; k++) {
        TsrTensor *part = MAKE(&s, tsr_tensor_new_contiguous, in[k], TSR_CONTIGUOUS);
        if (s.status == TSR_OK) s.status = tsr_device_work_add(&work, part, false);
    }
    if (s.status == TSR_OK) s.status = tsr_device_work(values->device.type, &work);
    return tsr_scope_end_new(out, &s, result);
}

TsrStatus tsr_sparse_coo_times_there_new(TsrTensor **out, TsrTensor *a, TsrTensor *dense, bool fused) {
    TsrScope s = {0};
    TsrTensor *rows = MAKE(&s, tsr_tensor_new_select, a->sparse->indices, 0, 0),
              *columns = MAKE(&s, tsr_tensor_new_select, a->sparse->indices, 0, 1), *values = a->sparse->values;
    if ((a->flags & TSR_FLAG_COALESCED) == 0) {
        TsrTensor *order = NULL;
        rows = sorted(&s, &order, rows);
        columns = picked(&s, columns, 0, order);
        values = picked(&s, values, 0, order);
    }
    TsrTensor *counts = MAKE(&s, tsr_sparse_counts_there_new, rows, a->sizes[0]);
    return tsr_scope_end_new(out, &s, MAKE(&s, tsr_sparse_times_there_new, counts, columns, values, dense, fused));
}
