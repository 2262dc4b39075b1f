/* advanced.c: indexing by tensors of positions and masks. A plan turns index tensors into element offsets and a view of
 * the source in which the indexed dimensions have stride 0; the iterator then walks result, view and offsets together.
 */
#include "core/indexing.h"

#include <stdatomic.h>
#include <stdio.h>
#include <string.h>

#include "core/engine/places.h"
#include "core/kernels/move/select.h"
#include "core/op/shared.h"
#include "core/table.h"
#include "core/tensor/owned.h"
#include "nonzero.h"

/* One index tensor of positions (int64), for one dimension of the source. */
typedef struct Entry {
    TsrTensor *t;      /* owned */
    TsrTensor *beside; /* on a device: with the view's dimensions; owned */
    int dim;
} Entry;

typedef struct Plan {
    Entry entry[TSR_MAX_DIMS];
    int n;
    TsrTensor *source; /* self, or its view with the indexed dimensions moved to the front; owned */
    TsrTensor *view;   /* the source as the result sees it: stride 0 along the index's dimensions; owned */
    TsrTensor *offset; /* elements from the source's first one, to be broadcast over the result; owned */
    bool nothing;      /* to read or write, or only meta: offset has strides alone, of the first index */
    bool masks_only;   /* no position can repeat */
    bool there;        /* on a device: offset has strides alone, positions are checked where they are used */
    bool writing;      /* a bad position is kept as NOWHERE: what comes before it is still written */
    int bad_entry;     /* 1 + the entry of the first bad position, 0: none */
    int64_t bad_value;
} Plan;

#define NOWHERE INT64_MIN

static void plan_free(Plan *p) {
    for (int i = 0; i < p->n; i++) {
        tsr_tensor_free(p->entry[i].t);
        tsr_tensor_free(p->entry[i].beside);
    }
    tsr_tensor_free(p->source);
    tsr_tensor_free(p->view);
    tsr_tensor_free(p->offset);
}

/* ---- the plan ---- */

TsrStatus tsr_index_check_mask(const TsrTensor *self, const TsrTensor *mask, int dim) {
    if (dim < 0) return tsr_error(TSR_INDEX_ERROR, "a mask at the dimension %d", dim);
    for (int d = 0; d < tsr_ndim(mask); d++)
        if (d >= tsr_ndim(self) - dim || mask->sizes[d] != self->sizes[dim + d])
            return tsr_error(
                TSR_INDEX_ERROR,
                "The shape of the mask %s at index %d does not match the shape of the indexed tensor %s at index %d",
                tsr_sizes_text(mask), d, tsr_sizes_text(self), dim + d);
    return TSR_OK;
}

/* The mask may lie on the host, self on a device. */
static TsrStatus mask_positions_new(TsrTensor **out, const TsrTensor *self, const TsrTensor *mask) {
    TSR_OWNED positions = NULL;
    TSR_TRY(tsr_nonzero_new(&positions, mask));
    if (tsr_on_device(self)) return tsr_new_there(out, positions, self->device);
    *out = tsr_owned_take(&positions);
    return TSR_OK;
}

/* A mask becomes one column of positions a dimension it spans. */
static TsrStatus add_mask(Plan *p, const TsrTensor *self, const TsrTensor *mask, int dim) {
    TsrTensor *positions;
    TSR_TRY(tsr_index_check_mask(self, mask, dim));
    TSR_TRY(mask_positions_new(&positions, self, mask));
    TsrStatus status = TSR_OK;
    for (int d = 0; d < tsr_ndim(mask) && status == TSR_OK; d++) {
        status = tsr_tensor_new_select(&p->entry[p->n].t, positions, 1, d);
        if (status == TSR_OK) p->entry[p->n++].dim = dim + d;
    }
    tsr_tensor_free(positions);
    return status;
}

/* Positions of the host for a tensor of a device are checked before they go there; `entry`: the number of the index. */
static TsrStatus send_positions(TsrTensor **out, int entry, const TsrTensor *self, const TsrTensor *positions,
                                int dim) {
    TSR_OWNED dense = NULL;
    int64_t size = self->numel > 0 && dim < tsr_ndim(self) ? self->sizes[dim] : INT64_MAX;
    TSR_TRY(tsr_tensor_new_contiguous(&dense, positions, TSR_CONTIGUOUS));
    const int64_t *p = tsr_data(dense);
    TSR_IN_PIECES(i, dense->numel)
    if (p[i] < -size || p[i] >= size)
        return tsr_error(TSR_INDEX_ERROR, "index %lld is out of bounds for dimension %d with size %lld",
                         (long long)p[i], entry, (long long)size);
    return tsr_new_there(out, dense, self->device);
}

static TsrStatus positions_new(TsrTensor **out, int entry, const TsrTensor *self, const TsrTensor *index, int dim) {
    if (!tsr_on_device(self) || tsr_on_device(index)) return tsr_tensor_new_cast(out, index, TSR_INT64);
    TSR_OWNED positions = NULL;
    TSR_TRY(tsr_tensor_new_cast(&positions, index, TSR_INT64));
    return send_positions(out, entry, self, positions, dim);
}

static TsrStatus add_index(Plan *p, const TsrTensor *self, const TsrTensor *index, int *dim) {
    if (index->dtype == TSR_BOOL || index->dtype == TSR_UINT8) {
        TSR_TRY(add_mask(p, self, index, *dim));
        *dim += tsr_ndim(index);
        return TSR_OK;
    }
    if (index->dtype != TSR_INT64 && index->dtype != TSR_INT32)
        return tsr_error(TSR_INDEX_ERROR, "tensors used as indices must be long, int, byte or bool tensors");
    p->masks_only = false;
    TSR_TRY(positions_new(&p->entry[p->n].t, p->n, self, index, *dim));
    p->entry[p->n++].dim = (*dim)++;
    return TSR_OK;
}

static TsrStatus too_many(const TsrTensor *self, int n) {
    return tsr_error(TSR_INDEX_ERROR, "too many indices for tensor of dimension %d (got %d)", tsr_ndim(self), n);
}

static TsrStatus broadcast_error(const Plan *p) {
    char text[1024];
    size_t used = 0;
    for (int i = 0; i < p->n && used < sizeof text; i++) {
        const char *one = tsr_sizes_text(p->entry[i].t);
        used += (size_t)snprintf(text + used, sizeof text - used, i > 0 ? ", %s" : "%s", one);
    }
    return tsr_error(TSR_INDEX_ERROR, "shape mismatch: indexing tensors could not be broadcast together with shapes %s",
                     text);
}

static TsrStatus broadcast_entries(Plan *p, int64_t *shape, int *ndim) {
    *ndim = 0;
    for (int i = 0; i < p->n; i++)
        if (tsr_layout_broadcast(shape, ndim, p->entry[i].t->sizes, tsr_ndim(p->entry[i].t)) != TSR_OK)
            return broadcast_error(p);
    return TSR_OK;
}

/* Where masks make too many of them, that they can't be broadcast is said before that. */
static TsrStatus collect(Plan *p, const TsrTensor *self, int n, TsrTensor *const *indices) {
    if (n > tsr_ndim(self)) return too_many(self, n);
    int dim = 0, i = 0, ndim;
    int64_t shape[TSR_MAX_DIMS];
    for (; i < n; i++) {
        const TsrTensor *index = indices[i] != NULL && tsr_is_defined(indices[i]) ? indices[i] : NULL;
        bool mask = index != NULL && (index->dtype == TSR_BOOL || index->dtype == TSR_UINT8);
        if (dim >= tsr_ndim(self) && (mask || p->n == TSR_MAX_DIMS)) break;
        if (index == NULL) dim++;
        else TSR_TRY(add_index(p, self, index, &dim));
    }
    if (i == n && dim <= tsr_ndim(self)) return TSR_OK;
    if (i == n) TSR_TRY(broadcast_entries(p, shape, &ndim));
    return tsr_wrap_own_dim(&(int64_t){tsr_ndim(self)}, tsr_ndim(self));
}

/* Moves the indexed dimensions to the front when they are not adjacent. */
static TsrStatus arrange(Plan *p, const TsrTensor *self) {
    bool adjacent = true;
    for (int i = 1; i < p->n; i++) adjacent &= p->entry[i].dim == p->entry[i - 1].dim + 1;
    if (adjacent) return tsr_tensor_new_alias(&p->source, self);
    int64_t order[TSR_MAX_DIMS];
    bool used[TSR_MAX_DIMS] = {false};
    int k = 0;
    for (int i = 0; i < p->n; i++) {
        order[k++] = p->entry[i].dim;
        used[p->entry[i].dim] = true;
        p->entry[i].dim = i;
    }
    for (int d = 0; d < tsr_ndim(self); d++)
        if (!used[d]) order[k++] = d;
    return tsr_tensor_new_permute(&p->source, self, k, order);
}

static TsrStatus check_empty(const Plan *p, const int64_t *shape, int nshape) {
    int64_t count = 1;
    for (int d = 0; d < nshape; d++) count *= shape[d] != 0;
    for (int i = 0; i < p->n; i++)
        if (p->source->sizes[p->entry[i].dim] == 0 && count != 0)
            return tsr_error(TSR_INDEX_ERROR, "index is out of bounds for dimension with size 0");
    return TSR_OK;
}

static TsrStatus make_view(Plan *p, const int64_t *shape, int nshape) {
    const TsrTensor *s = p->source;
    int first = p->entry[0].dim, ndim = tsr_ndim(s) - p->n + nshape;
    if (ndim > TSR_MAX_DIMS)
        return tsr_error(TSR_RUNTIME_ERROR, "the result of indexing would have %d dimensions, more than %d", ndim,
                         TSR_MAX_DIMS);
    int64_t sizes[TSR_MAX_DIMS], strides[TSR_MAX_DIMS], numel;
    int k = 0;
    for (int d = 0; d < first; d++, k++) {
        sizes[k] = s->sizes[d];
        strides[k] = s->strides[d];
    }
    for (int d = 0; d < nshape; d++, k++) {
        sizes[k] = shape[d];
        strides[k] = 0;
    }
    for (int d = first + p->n; d < tsr_ndim(s); d++, k++) {
        sizes[k] = s->sizes[d];
        strides[k] = s->strides[d];
    }
    TSR_TRY(tsr_layout_numel(&numel, ndim, sizes));
    return tsr_tensor_new_view(&p->view, s, &(TsrGeometry){ndim, sizes, strides, s->offset}, NULL);
}

/* ---- offsets ---- */

typedef struct OffsetParams {
    int n, first_entry;
    bool has_sum; /* the first input is a sum of earlier indices */
    int64_t size[TSR_ITER_MAX_OPERANDS], stride[TSR_ITER_MAX_OPERANDS];
    _Atomic int *bad_entry; /* 0, or 1 + the entry */
    int64_t *bad_value;
} OffsetParams;

static void note_bad(const OffsetParams *q, int entry, int64_t value) {
    int none = 0;
    if (atomic_compare_exchange_strong(q->bad_entry, &none, entry + 1)) *q->bad_value = value;
}

static void offset_loop(char *const *data, const int64_t *strides, int64_t n, const void *params) {
    const OffsetParams *q = params;
    for (int64_t i = 0; i < n; i++) {
        int64_t sum = 0;
        for (int k = 0; k < q->n; k++) {
            int64_t v = *(const int64_t *)(const void *)(data[k + 1] + i * strides[k + 1]);
            if (k == 0 && q->has_sum) {
                sum = v;
                if (v == NOWHERE) break;
                continue;
            }
            if (TSR_UNLIKELY(v < -q->size[k] || v >= q->size[k])) {
                note_bad(q, q->first_entry + k - q->has_sum, v);
                sum = NOWHERE;
                break;
            }
            sum += (v < 0 ? v + q->size[k] : v) * q->stride[k];
        }
        *(int64_t *)(void *)(data[0] + i * strides[0]) = sum;
    }
}

/* Sums the entries [first, last) into p->offset, which may hold the sum of earlier ones. */
static TsrStatus add_offsets(Plan *p, int first, int last, OffsetParams *q) {
    static const TsrDtype out_dtype[1] = {TSR_INT64};
    TsrIterSpec spec = {.nout = 1, .out_dtype = out_dtype, .flags = TSR_ITER_NO_OVERLAP_CHECK, .name = "index"};
    q->n = 0;
    q->has_sum = p->offset != NULL;
    q->first_entry = first;
    if (q->has_sum) spec.in[q->n++] = p->offset;
    for (int i = first; i < last; i++) {
        q->size[q->n] = p->source->sizes[p->entry[i].dim];
        q->stride[q->n] = p->source->strides[p->entry[i].dim];
        spec.in[q->n++] = p->entry[i].t;
    }
    spec.nin = q->n;
    TsrIter it;
    TSR_TRY(tsr_iter_begin(&it, &spec));
    TsrTensor *sum = NULL;
    TsrStatus status = p->there ? TSR_OK : tsr_iter_run(&it, offset_loop, q);
    TSR_TRY(tsr_iter_end_move(&it, status, &sum));
    tsr_tensor_free(p->offset);
    p->offset = sum;
    return TSR_OK;
}

static TsrStatus bad_index(const Plan *p) {
    return tsr_error(TSR_INDEX_ERROR, "index %lld is out of bounds for dimension %d with size %lld",
                     (long long)p->bad_value, p->bad_entry - 1,
                     (long long)p->source->sizes[p->entry[p->bad_entry - 1].dim]);
}

/* `index` with sizes of 1 for what it does not index: broadcasting spreads it over the result. Its strides there count
 * where the result has a size of 1, too: they take part in the order of the result's dimensions. */
static TsrStatus spread_new(TsrTensor **out, const Plan *p, const TsrTensor *index, const int64_t *shape, int nshape) {
    int first = p->entry[0].dim, ndim = tsr_ndim(p->view);
    int64_t sizes[TSR_MAX_DIMS];
    TSR_OWNED wide = NULL;
    for (int d = 0; d < ndim; d++) sizes[d] = d >= first && d < first + nshape ? shape[d - first] : 1;
    TSR_TRY(tsr_tensor_new_expand(&wide, index, nshape, shape));
    return tsr_tensor_new_reshaped_view(out, wide, ndim, sizes);
}

/* The first index's strides of sizes of 1, which the sums have lost. */
static TsrStatus keep_strides(TsrTensor *offset, const TsrTensor *index) {
    int64_t strides[TSR_MAX_DIMS];
    int ndim = tsr_ndim(offset);
    if (!tsr_same_sizes(offset, index)) return TSR_OK;
    for (int d = 0; d < ndim; d++) strides[d] = offset->sizes[d] == 1 ? index->strides[d] : offset->strides[d];
    return tsr_tensor_set_geometry(offset, (TsrGeometry){ndim, offset->sizes, strides, offset->offset});
}

static TsrStatus make_offsets(Plan *p, const int64_t *shape, int nshape) {
    /* Indices that one pass adds up: with the sum so far and the result they are TSR_ITER_MAX_OPERANDS operands. */
    enum { GROUP = 6 };
    _Atomic int bad_entry = 0;
    int64_t bad_value = 0;
    OffsetParams q = {.bad_entry = &bad_entry, .bad_value = &bad_value};
    for (int i = 0; i < p->n; i += GROUP) TSR_TRY(add_offsets(p, i, TSR_MIN(i + GROUP, p->n), &q));
    p->bad_entry = bad_entry;
    p->bad_value = bad_value;
    if (bad_entry != 0 && !p->writing) return bad_index(p);
    TsrTensor *spread;
    TSR_TRY(keep_strides(p->offset, p->entry[0].t));
    TSR_TRY(spread_new(&spread, p, p->offset, shape, nshape));
    tsr_tensor_free(p->offset);
    p->offset = spread;
    return TSR_OK;
}

/* For a device: each index beside the view. */
static TsrStatus spread_entries(Plan *p, const int64_t *shape, int nshape) {
    for (int i = 0; i < p->n; i++) {
        TsrTensor *spread;
        TSR_TRY(spread_new(&spread, p, p->entry[i].t, shape, nshape));
        p->entry[i].beside = spread;
    }
    return TSR_OK;
}

static TsrStatus plan_make(Plan *p, const TsrTensor *self, int n, TsrTensor *const *indices) {
    int64_t shape[TSR_MAX_DIMS];
    int nshape;
    p->masks_only = true;
    TSR_TRY(collect(p, self, n, indices));
    if (p->n == 0) return TSR_OK;
    TSR_TRY(broadcast_entries(p, shape, &nshape));
    TSR_TRY(arrange(p, self));
    TSR_TRY(check_empty(p, shape, nshape));
    TSR_TRY(make_view(p, shape, nshape));
    p->nothing = tsr_is_meta(self) || p->view->numel == 0; /* then positions are not even checked */
    p->there = tsr_on_device(self);
    if (p->there && !p->nothing) TSR_TRY(spread_entries(p, shape, nshape));
    return p->nothing ? spread_new(&p->offset, p, p->entry[0].t, shape, nshape) : make_offsets(p, shape, nshape);
}

/* ---- reading ---- */

#define GET(T) \
    for (int64_t i = 0; i < n; i++) \
    *(T *)(void *)(data[0] + i * strides[0]) = \
        *(const T *)(const void *)(data[1] + i * strides[1] + \
                                   *(const int64_t *)(const void *)(data[2] + i * strides[2]) * (int64_t)sizeof(T))

static void get_loop(char *const *data, const int64_t *strides, int64_t n, const void *params) {
    int64_t item = *(const int64_t *)params;
    if (strides[2] == 0 && strides[0] == item && strides[1] == item) {
        memcpy(data[0], data[1] + *(const int64_t *)(const void *)data[2] * item, (size_t)(n * item));
        return;
    }
    switch (item) {
    case 1: GET(uint8_t); break;
    case 2: GET(uint16_t); break;
    case 4: GET(uint32_t); break;
    case 8: GET(uint64_t); break;
    default: GET(TsrSixteen); break;
    }
}

/* The entries as a device takes them; how many. */
static int places_of(TsrPlace *places, const Plan *p) {
    for (int i = 0; i < p->n; i++)
        places[i] =
            (TsrPlace){p->entry[i].beside, p->source->sizes[p->entry[i].dim], p->source->strides[p->entry[i].dim], i};
    return p->n;
}

static TsrStatus read_there(TsrTensor *out, const Plan *p) {
    TsrPlace places[TSR_MAX_DIMS];
    return tsr_pick(out, p->view, places, places_of(places, p), TSR_WRONG_INDEX);
}

static TsrStatus read_plan(TsrTensor **out, const Plan *p) {
    TsrDtype out_dtype[1] = {p->source->dtype};
    TsrIterSpec spec = {.nout = 1,
                        .nin = 2,
                        .in = {p->view, p->offset},
                        .out_dtype = out_dtype,
                        .flags = TSR_ITER_NO_OVERLAP_CHECK,
                        .name = "index"};
    TsrIter it;
    int64_t item = (int64_t)tsr_itemsize(p->source);
    TSR_TRY(tsr_iter_begin(&it, &spec));
    TsrStatus status = p->there ? TSR_OK : tsr_iter_run(&it, get_loop, &item);
    TSR_TRY(tsr_iter_end_move(&it, status, out));
    return p->there && !p->nothing ? tsr_owned_keep(out, read_there(*out, p)) : TSR_OK;
}

/* x[mask] with a mask over all of x: the selected elements, in two passes. */
static bool is_whole_mask(const TsrTensor *self, int n, TsrTensor *const *indices) {
    return n == 1 && !tsr_on_device(self) && indices[0] != NULL && indices[0]->dtype == TSR_BOOL &&
           tsr_ndim(self) > 0 && tsr_same_sizes(self, indices[0]) && !tsr_is_meta(self) &&
           tsr_is_contiguous(self, TSR_CONTIGUOUS) && tsr_is_contiguous(indices[0], TSR_CONTIGUOUS);
}

/* x[i] along the first dimension of a dense x: rows, checked and copied in one pass. */
typedef struct RowCopy {
    const int64_t *index;
    const char *src;
    char *dst;
    int64_t size;
    size_t row;
    _Atomic bool failed;
} RowCopy;

static void copy_index_rows(int64_t begin, int64_t end, void *user) {
    RowCopy *r = user;
    /* How many rows ahead of the copy a row is fetched into the cache. */
    enum { AHEAD = 8 };
    for (int64_t i = begin; i < end; i++) {
        int64_t at = r->index[i];
        if (TSR_UNLIKELY(at < -r->size || at >= r->size)) {
            r->failed = true;
            return;
        }
        if (i + AHEAD < end) {
            int64_t next = r->index[i + AHEAD];
            if (next >= 0 && next < r->size)
                for (size_t b = 0; b < r->row && b < 512; b += 64)
                    __builtin_prefetch(r->src + (size_t)next * r->row + b);
        }
        memcpy(r->dst + (size_t)i * r->row, r->src + (size_t)(at < 0 ? at + r->size : at) * r->row, r->row);
    }
}

/* Row-major where sizes are 1, too: then so is the result. */
static bool has_plain_strides(const TsrTensor *t) {
    int64_t strides[TSR_MAX_DIMS];
    tsr_layout_contiguous_strides(strides, tsr_ndim(t), t->sizes);
    return memcmp(strides, t->strides, sizeof *strides * (size_t)tsr_ndim(t)) == 0;
}

static bool is_row_index(const TsrTensor *self, int n, TsrTensor *const *indices) {
    return n == 1 && !tsr_on_device(self) && indices[0] != NULL && indices[0]->dtype == TSR_INT64 &&
           tsr_ndim(self) > 1 && self->numel > 0 && indices[0]->numel > 0 && !tsr_is_meta(self) &&
           tsr_dtype_is_pod(self->dtype) && has_plain_strides(self) && has_plain_strides(indices[0]) &&
           tsr_ndim(indices[0]) + tsr_ndim(self) - 1 <= TSR_MAX_DIMS;
}

/* *failed: some position is bad; the slow way then words the error. */
static TsrStatus rows_new(TsrTensor **out, const TsrTensor *self, const TsrTensor *index, bool *failed) {
    int64_t sizes[TSR_MAX_DIMS];
    int k = 0;
    for (int d = 0; d < tsr_ndim(index); d++) sizes[k++] = index->sizes[d];
    for (int d = 1; d < tsr_ndim(self); d++) sizes[k++] = self->sizes[d];
    TSR_TRY(tsr_tensor_new(out, k, sizes, self->dtype, self->device));
    RowCopy r = {.index = tsr_data(index),
                 .src = tsr_data(self),
                 .dst = tsr_data(*out),
                 .size = self->sizes[0],
                 .row = (size_t)(self->numel / self->sizes[0]) * tsr_itemsize(self)};
    TsrStatus status = tsr_parallel_for(index->numel, tsr_grain((int64_t)r.row / 2), copy_index_rows, &r);
    *failed = r.failed;
    if (status != TSR_OK || r.failed) tsr_tensor_reset(out);
    return status;
}

/* ---- elements that are more than bytes: their numbers are indexed, and each is copied as its dtype says ---- */

/* A tensor of self's geometry whose elements are their own numbers in the storage. */
static TsrStatus numbers_new(TsrTensor **out, const TsrTensor *self) {
    TSR_OWNED all = NULL;
    int64_t n = (int64_t)(self->storage->nbytes / tsr_itemsize(self));
    TSR_TRY(tsr_tensor_new(&all, 1, &n, TSR_INT64, TSR_DEVICE_CPU));
    TSR_IN_PIECES(i, n)((int64_t *)tsr_data(all))[i] = i;
    TSR_TRY(tsr_interrupt_check());
    return tsr_tensor_new_over(out, all->storage, tsr_tensor_geometry(self), TSR_INT64);
}

/* The numbers of the elements that the indices pick, row-major. */
static TsrStatus picked_new(TsrTensor **out, const TsrTensor *self, int n, TsrTensor *const *indices) {
    TsrTensor *numbers, *picked;
    TSR_TRY(numbers_new(&numbers, self));
    TsrStatus status = tsr_index_new(&picked, numbers, n, indices);
    tsr_tensor_free(numbers);
    TSR_TRY(status);
    status = tsr_tensor_new_contiguous(out, picked, TSR_CONTIGUOUS);
    tsr_tensor_free(picked);
    return status;
}

static TsrStatus copy_elements(TsrDtype dtype, char *to, const char *from, const TsrTensor *picked, bool into) {
    const int64_t *number = tsr_data(picked);
    size_t size = tsr_dtype_size(dtype);
    TSR_IN_PIECES(i, picked->numel)
    TSR_TRY(tsr_dtypes[dtype].copy(to + (size_t)(into ? number[i] : i) * size,
                                   from + (size_t)(into ? i : number[i]) * size, 1));
    return TSR_OK;
}

static TsrStatus index_objects_new(TsrTensor **out, const TsrTensor *self, int n, TsrTensor *const *indices) {
    TsrTensor *picked, *result = NULL;
    TSR_TRY(picked_new(&picked, self, n, indices));
    TsrStatus status = tsr_tensor_new(&result, tsr_ndim(picked), picked->sizes, self->dtype, TSR_DEVICE_CPU);
    if (status == TSR_OK) status = copy_elements(self->dtype, tsr_data(result), self->storage->ptr.data, picked, false);
    tsr_tensor_free(picked);
    if (status == TSR_OK) *out = result;
    else tsr_tensor_free(result);
    return status;
}

static TsrStatus put_objects(TsrTensor *self, int n, TsrTensor *const *indices, const TsrTensor *value) {
    TSR_OWNED picked = NULL;
    TSR_OWNED wide = NULL;
    TSR_OWNED dense = NULL;
    if (value->dtype != self->dtype)
        return tsr_error(TSR_RUNTIME_ERROR, "Index put requires the source and destination dtypes match.");
    TSR_TRY(picked_new(&picked, self, n, indices));
    TSR_TRY(tsr_tensor_new_expand(&wide, value, tsr_ndim(picked), picked->sizes));
    TSR_TRY(tsr_tensor_new_clone(&dense, wide, TSR_CONTIGUOUS));
    return copy_elements(self->dtype, self->storage->ptr.data, tsr_data(dense), picked, true);
}

/* x[mask] with a mask over all of an x of a device: as one dimension. */
static bool is_mask_there(const TsrTensor *self, int n, TsrTensor *const *indices) {
    return n == 1 && tsr_on_device(self) && tsr_on_device(indices[0]) && indices[0]->dtype == TSR_BOOL &&
           tsr_ndim(self) > 1 && tsr_same_sizes(self, indices[0]);
}

static TsrStatus select_there(TsrTensor **out, const TsrTensor *self, const TsrTensor *mask) {
    TSR_OWNED line = NULL;
    TSR_OWNED flat = NULL;
    int64_t minus = -1;
    TSR_TRY(tsr_tensor_new_reshape(&line, self, 1, &minus));
    TSR_TRY(tsr_tensor_new_reshape(&flat, mask, 1, &minus));
    return tsr_index_new(out, line, 1, &flat);
}

static TsrStatus elements_new(TsrTensor **out, const TsrTensor *self, int n, TsrTensor *const *indices) {
    if (is_mask_there(self, n, indices)) return select_there(out, self, indices[0]);
    if (!tsr_dtype_is_pod(self->dtype)) return index_objects_new(out, self, n, indices);
    if (is_whole_mask(self, n, indices)) return tsr_selected_new(out, self, indices[0]);
    if (is_row_index(self, n, indices)) {
        bool failed;
        TSR_TRY(rows_new(out, self, indices[0], &failed));
        if (!failed) return TSR_OK;
    }
    Plan p = {.n = 0};
    TsrStatus status = plan_make(&p, self, n, indices);
    if (status == TSR_OK) status = p.n == 0 ? tsr_tensor_new_clone(out, self, TSR_PRESERVE) : read_plan(out, &p);
    plan_free(&p);
    return status;
}

/* A count that is none; too many is an error of its own, in PyTorch's words. */
static TsrStatus check_count(int n) {
    return n >= 0 ? TSR_OK : tsr_error(TSR_INDEX_ERROR, "a negative number of indices: %d", n);
}

TsrStatus tsr_index_new(TsrTensor **out, const TsrTensor *self, int n, TsrTensor *const *indices) {
    TSR_TRY(check_count(n));
    TSR_TRY(tsr_check_index_devices(self, n, indices));
    TSR_TRY(elements_new(out, self, n, indices));
    if (TSR_UNLIKELY(self->storage->columns != NULL)) tsr_columns_follow(*out, self, n, indices);
    return TSR_OK;
}

/* ---- writing ---- */

typedef struct PutParams {
    TsrCombineFn combine;
    int64_t item;
    bool *stopped; /* not NULL: there is a position NOWHERE, where writing ends */
} PutParams;

/* How many of the n offsets come before the first that is NOWHERE. */
static int64_t good_run(const char *offsets, int64_t step, int64_t n, const PutParams *q) {
    if (*q->stopped) return 0;
    for (int64_t i = 0; i < n; i++)
        if (*(const int64_t *)(const void *)(offsets + i * step) == NOWHERE) {
            *q->stopped = true;
            return i;
        }
    return n;
}

/* Operands: the view (written), the value, the offsets. */
static void put_loop(char *const *data, const int64_t *strides, int64_t n, const void *params) {
    const PutParams *q = params;
    if (TSR_UNLIKELY(q->stopped != NULL)) n = good_run(data[2], strides[2], n, q);
    if (n == 0) return;
    if (strides[2] == 0) {
        q->combine(data[0] + *(const int64_t *)(const void *)data[2] * q->item, strides[0], NULL, 0, data[1],
                   strides[1], n);
    } else if (strides[0] == 0) {
        q->combine(data[0], q->item, (const int64_t *)(const void *)data[2], strides[2] / 8, data[1], strides[1], n);
    } else {
        for (int64_t i = 0; i < n; i++)
            q->combine(data[0] + i * strides[0], q->item, (const int64_t *)(const void *)(data[2] + i * strides[2]), 0,
                       data[1] + i * strides[1], 0, 1);
    }
}

static TsrStatus expand_value(TsrTensor **out, const TsrTensor *value, const TsrTensor *view) {
    int extra = tsr_ndim(view) - tsr_ndim(value);
    bool fits = extra >= 0;
    for (int d = 0; d < tsr_ndim(value) && fits; d++)
        fits = value->sizes[d] == view->sizes[extra + d] || value->sizes[d] == 1;
    if (fits) return tsr_tensor_new_expand(out, value, tsr_ndim(view), view->sizes);
    return tsr_error(TSR_RUNTIME_ERROR,
                     "shape mismatch: value tensor of shape %s cannot be broadcast to indexing result of shape %s",
                     tsr_sizes_text(value), tsr_sizes_text(view));
}

static TsrStatus check_same_dtype(const TsrTensor *self, const TsrTensor *value) {
    if (self->dtype == value->dtype) return TSR_OK;
    return tsr_error(
        TSR_RUNTIME_ERROR,
        "Index put requires the source and destination dtypes match, got %s for the destination and %s for the source.",
        tsr_dtype_scalar_name(self->dtype), tsr_dtype_scalar_name(value->dtype));
}

#define PUT_DTYPES (TSR_BITS_USUAL | TSR_BIT(BOOL) | TSR_BITS_COMPLEX | TSR_BIT(COMPLEX32))

static TsrStatus check_put_dtypes(const TsrTensor *self, const TsrTensor *value) {
    TSR_TRY(check_same_dtype(self, value));
    return tsr_require(PUT_DTYPES | TSR_BITS_FLOAT8, self->dtype, "index_put");
}

static TsrStatus write_there(const Plan *p, const TsrTensor *wide, bool accumulate) {
    TsrPlace places[TSR_MAX_DIMS];
    return tsr_place(p->view, wide, places, places_of(places, p), TSR_WRONG_INDEX,
                     accumulate ? TSR_COMBINE_ADD : TSR_COMBINE_SET);
}

static TsrStatus write_plan(Plan *p, const TsrTensor *value, bool accumulate) {
    TsrTensor *wide;
    TSR_TRY(expand_value(&wide, value, p->view));
    TsrStatus fits = check_put_dtypes(p->source, value);
    if (fits != TSR_OK || p->nothing) {
        tsr_tensor_free(wide);
        return fits;
    }
    if (p->there) {
        fits = write_there(p, wide, accumulate);
        tsr_tensor_free(wide);
        return fits;
    }
    bool stopped = false;
    PutParams q = {tsr_combine_fn(accumulate ? TSR_COMBINE_ADD : TSR_COMBINE_SET, p->source->dtype),
                   (int64_t)tsr_itemsize(p->source), p->bad_entry != 0 ? &stopped : NULL};
    TsrDtype out_dtype[1] = {p->source->dtype};
    TsrIterSpec spec = {.nout = 1,
                        .out = {p->view},
                        .nin = 2,
                        .in = {wide, p->offset},
                        .out_dtype = out_dtype,
                        .flags =
                            TSR_ITER_NO_OVERLAP_CHECK | TSR_ITER_NO_RESIZE | (p->masks_only ? 0u : TSR_ITER_SERIAL),
                        .name = "index_put_"};
    TsrIter it;
    TsrTensor *done = NULL;
    TsrStatus status = tsr_iter_begin(&it, &spec);
    if (status == TSR_OK) {
        status = tsr_iter_run(&it, put_loop, &q);
        status = tsr_iter_end_move(&it, status, &done);
        tsr_tensor_free(done);
    }
    tsr_tensor_free(wide);
    return status == TSR_OK && p->bad_entry != 0 ? bad_index(p) : status;
}

static bool shares_storage(const TsrTensor *self, const TsrTensor *t) {
    return t != NULL && t->storage != NULL && t->storage == self->storage;
}

/* x[mask] = number over a whole contiguous x. */
typedef struct Fill {
    const uint8_t *mask;
    char *dst;
    const void *value;
    size_t item;
} Fill;

static void fill_range(int64_t begin, int64_t end, void *user) {
    Fill *f = user;
    tsr_kernel_fill_masked(f->mask + begin, end - begin, f->dst + (size_t)begin * f->item, f->value, f->item);
}

/* x[mask] = number with a mask over all of an x of a device. */
static bool is_fill_there(const TsrTensor *self, int n, TsrTensor *const *indices) {
    return n == 1 && tsr_on_device(self) && tsr_on_device(indices[0]) && indices[0]->dtype == TSR_BOOL &&
           tsr_same_sizes(self, indices[0]);
}

/* No index at all: the whole of self, of which PyTorch makes an internal error once dtypes and sizes fit. */
static TsrStatus put_without_index(TsrTensor *self, const TsrTensor *value, bool accumulate) {
    TSR_OWNED wide = NULL;
    TSR_TRY(check_put_dtypes(self, value));
    TSR_TRY(expand_value(&wide, value, self));
    if (accumulate && self->numel > 0)
        return tsr_error(TSR_RUNTIME_ERROR, "index_put_ with accumulate needs at least one index");
    return tsr_tensor_copy(self, wide);
}

static TsrStatus put_all(TsrTensor *self, int n, TsrTensor *const *indices, const TsrTensor *value, bool accumulate) {
    if (!accumulate && value->numel == 1 && value->dtype == self->dtype && !tsr_on_device(value) &&
        is_fill_there(self, n, indices))
        return tsr_fill_where(self, indices[0], tsr_data(value));
    if (!accumulate && value->numel == 1 && value->dtype == self->dtype && is_whole_mask(self, n, indices) &&
        tsr_ndim(value) <= 1) {
        Fill f = {tsr_data(indices[0]), tsr_data(self), tsr_data(value), tsr_itemsize(self)};
        return tsr_parallel_for(self->numel, 4 * tsr_grain(1), fill_range, &f);
    }
    if (value->device.type != self->device.type || value->device.index != self->device.index) {
        TSR_OWNED there = NULL; /* a number of the host */
        TSR_TRY(tsr_new_there(&there, value, self->device));
        return put_all(self, n, indices, there, accumulate);
    }
    Plan p = {.n = 0, .writing = true};
    TsrStatus status = plan_make(&p, self, n, indices);
    if (status == TSR_OK) {
        if (p.n > 0) status = write_plan(&p, value, accumulate);
        else status = put_without_index(self, value, accumulate);
    }
    plan_free(&p);
    return status;
}

TsrStatus tsr_index_check_apart(const TsrTensor *self, int n, TsrTensor *const *indices, const TsrTensor *value) {
    TSR_TRY(check_count(n));
    if (n > tsr_ndim(self)) return too_many(self, n);
    if (tsr_is_meta(self)) return TSR_OK;
    if (value != NULL) TSR_TRY(tsr_check_no_overlap(self, value));
    for (int i = 0; i < n; i++)
        if (indices[i] != NULL) TSR_TRY(tsr_check_no_overlap(self, indices[i]));
    return TSR_OK;
}

/* One number where the only index, a mask, is set: PyTorch's masked_fill. */
static bool is_masked_fill(int n, TsrTensor *const *indices, const TsrTensor *value, bool accumulate) {
    int masks = 0, others = 0;
    for (int i = 0; i < n; i++) {
        if (indices[i] == NULL) continue;
        bool mask = indices[i]->dtype == TSR_BOOL || indices[i]->dtype == TSR_UINT8;
        masks += mask;
        others += !mask;
    }
    return !accumulate && masks == 1 && others == 0 && value->numel == 1 && value->device.type == TSR_CPU;
}

TsrStatus tsr_index_put(TsrTensor *self, int n, TsrTensor *const *indices, const TsrTensor *value, bool accumulate) {
    TSR_TRY(check_count(n));
    if (!tsr_dtype_is_pod(self->dtype) && !accumulate) return put_objects(self, n, indices, value);
    if (!tsr_in(PUT_DTYPES, self->dtype) && is_masked_fill(n, indices, value, accumulate)) {
        if (n == 1) TSR_TRY(tsr_index_check_mask(self, indices[0], 0));
        return tsr_not_implemented("masked_fill", self->dtype);
    }
    TSR_TRY(tsr_check_index_devices(self, n, indices));
    if (!shares_storage(self, value)) return put_all(self, n, indices, value, accumulate);
    TSR_OWNED copy = NULL;
    TSR_TRY(tsr_tensor_new_clone(&copy, value, TSR_PRESERVE));
    return put_all(self, n, indices, copy, accumulate);
}
