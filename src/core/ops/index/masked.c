/* masked.c: masks and linear positions: masked_fill, masked_select, masked_scatter, nonzero, take, put.
 *
 * masked_fill runs over the iterator, mask and tensor broadcast together. masked_select is the index by a mask
 * (advanced.c). masked_scatter is serial, in row-major order: the n-th true takes the n-th element of the source, by a
 * loop without a branch on the mask. take and put see the tensor as one line; a position that is out of range ends them
 * where it stands. */
#include <string.h>

#include "core/engine/places.h"
#include "core/indexing.h"
#include "core/kernels/move/combine.h"
#include "core/kernels/move/select.h"
#include "core/mem.h"
#include "core/op/shared.h"
#include "core/tensor/owned.h"

/* ---- masked_fill ---- */

typedef struct Fill {
    uint8_t cell[16];
    size_t item;
} Fill;

#define FILL(T) \
    do { \
        T v; \
        memcpy(&v, f->cell, sizeof v); \
        for (int64_t i = 0; i < n; i++) \
            if (*(const bool *)(data[1] + i * strides[1])) *(T *)(void *)(data[0] + i * strides[0]) = v; \
    } while (0)

static void fill_loop(char *const *data, const int64_t *strides, int64_t n, const void *params) {
    const Fill *f = params;
    if (TSR_LIKELY(strides[1] == 1 && strides[0] == (int64_t)f->item)) {
        tsr_kernel_fill_masked((const uint8_t *)data[1], n, data[0], f->cell, f->item);
        return;
    }
    switch (f->item) {
    case 1: FILL(uint8_t); break;
    case 2: FILL(uint16_t); break;
    case 4: FILL(uint32_t); break;
    case 8: FILL(uint64_t); break;
    default: FILL(TsrSixteen); break;
    }
}

static TsrStatus check_broadcast(const TsrTensor *first, const TsrTensor *second) {
    int64_t shape[TSR_MAX_DIMS];
    int ndim = 0;
    TSR_TRY(tsr_layout_broadcast(shape, &ndim, first->sizes, tsr_ndim(first)));
    return tsr_layout_broadcast(shape, &ndim, second->sizes, tsr_ndim(second));
}

/* self and mask broadcast together: a row-major copy of self of that shape. */
static TsrStatus broadcast_copy_new(TsrTensor **out, const TsrTensor *self, const TsrTensor *mask, bool mask_first) {
    int64_t shape[TSR_MAX_DIMS];
    int ndim = 0;
    TSR_OWNED wide = NULL;
    const TsrTensor *first = mask_first ? mask : self, *second = mask_first ? self : mask;
    TSR_TRY(tsr_layout_broadcast(shape, &ndim, first->sizes, tsr_ndim(first)));
    TSR_TRY(tsr_layout_broadcast(shape, &ndim, second->sizes, tsr_ndim(second)));
    TSR_TRY(tsr_tensor_new_expand(&wide, self, ndim, shape));
    return tsr_tensor_new_clone(out, wide, TSR_CONTIGUOUS);
}

/* The mask expanded to t; an error where their common shape is larger. */
static TsrStatus mask_like_new(TsrTensor **out, const TsrTensor *t, const TsrTensor *mask) {
    int64_t shape[TSR_MAX_DIMS];
    int ndim = 0;
    TSR_TRY(tsr_layout_broadcast(shape, &ndim, t->sizes, tsr_ndim(t)));
    TSR_TRY(tsr_layout_broadcast(shape, &ndim, mask->sizes, tsr_ndim(mask)));
    if (ndim != tsr_ndim(t) || memcmp(shape, t->sizes, sizeof *shape * (size_t)ndim) != 0) {
        return tsr_error(TSR_RUNTIME_ERROR, "output with shape %s doesn't match the broadcast shape %s",
                         tsr_sizes_text(t), tsr_layout_text(ndim, shape));
    }
    return tsr_tensor_new_expand(out, mask, ndim, shape);
}

static TsrStatus run_fill(TsrTensor *t, const TsrTensor *mask, const Fill *f) {
    TsrDtype own[1] = {t->dtype};
    TsrTensor *wide;
    TSR_TRY(mask_like_new(&wide, t, mask));
    if (tsr_on_device(t)) {
        TsrStatus filled = tsr_fill_where(t, wide, f->cell);
        tsr_tensor_free(wide);
        return filled;
    }
    TsrIterSpec spec = {.nout = 1,
                        .out = {t},
                        .nin = 1,
                        .in = {wide},
                        .out_dtype = own,
                        .flags = TSR_ITER_NO_RESIZE | TSR_ITER_NO_OVERLAP_CHECK,
                        .name = "masked_fill_"};
    TsrIter it;
    TsrTensor *done = NULL;
    TsrStatus status = tsr_iter_begin(&it, &spec);
    if (status == TSR_OK) status = tsr_iter_end_move(&it, tsr_iter_run(&it, fill_loop, f), &done);
    if (status == TSR_OK) tsr_tensor_free(done);
    tsr_tensor_free(wide);
    return status;
}

static TsrStatus masked_fill(TsrOpCall *c, TsrScalar value) {
    TsrTensor *self = c->arg[0].t, *mask = c->arg[1].t, *t;
    Fill f = {.item = tsr_itemsize(self)};
    if (!c->inplace) TSR_TRY(check_broadcast(mask, self));
    if (c->inplace && mask->dtype == TSR_BOOL) {
        TsrTensor *fits;
        TSR_TRY(mask_like_new(&fits, self, mask));
        tsr_tensor_free(fits);
    }
    if (mask->dtype != TSR_BOOL)
        return tsr_error(TSR_RUNTIME_ERROR, "masked_fill_ only supports boolean masks, but got mask with dtype %s",
                         tsr_dtype_c_name(mask->dtype));
    TSR_TRY(tsr_require(TSR_BITS_MOST | TSR_BIT(COMPLEX32), self->dtype, "masked_fill"));
    TSR_TRY(tsr_scalar_store_checked(value, self->dtype, f.cell));
    if (c->inplace) {
        TSR_TRY(tsr_iter_check_partial_overlap(c->out[0], mask)); /* bools may be their own mask */
        t = tsr_tensor_retain(c->out[0]);
    } else {
        TSR_TRY(broadcast_copy_new(&t, self, mask, false));
    }
    return tsr_finish_move(c, tsr_is_meta(self) ? TSR_OK : run_fill(t, mask, &f), t);
}

TsrStatus op_masked_fill_scalar(TsrOpCall *c) { return masked_fill(c, c->arg[2].s); }

TsrStatus op_masked_fill_tensor(TsrOpCall *c) {
    TsrScalar value;
    if (!c->inplace) TSR_TRY(check_broadcast(c->arg[1].t, c->arg[0].t));
    if (tsr_ndim(c->arg[2].t) != 0)
        return tsr_error(
            TSR_RUNTIME_ERROR,
            "masked_fill_ only supports a 0-dimensional value tensor, but got tensor with %d dimension(s).",
            tsr_ndim(c->arg[2].t));
    if (tsr_is_meta(c->arg[2].t) && tsr_is_meta(c->arg[0].t)) return masked_fill(c, tsr_scalar_int(0));
    TSR_TRY(tsr_tensor_item(&value, c->arg[2].t));
    return masked_fill(c, value);
}

/* ---- masked_select ---- */

/* Row-major, of the given shape and at least one dimension. */
static TsrStatus expand_dense_new(TsrTensor **out, const TsrTensor *t, int ndim, const int64_t *shape) {
    TsrTensor *wide, *dense;
    TSR_TRY(tsr_tensor_new_expand(&wide, t, ndim, shape));
    TsrStatus status = tsr_tensor_new_contiguous(&dense, wide, TSR_CONTIGUOUS);
    tsr_tensor_free(wide);
    TSR_TRY(status);
    status = tsr_at_least_1d_new(out, dense);
    tsr_tensor_free(dense);
    return status;
}

TsrStatus op_masked_select(TsrOpCall *c) {
    TsrTensor *self = c->arg[0].t, *mask = c->arg[1].t, *out = c->out[0], *s, *m, *t = NULL;
    if (mask->dtype != TSR_BOOL) return tsr_error(TSR_RUNTIME_ERROR, "masked_select: expected BoolTensor for mask");
    if (out != NULL && out->dtype != self->dtype)
        return tsr_error(TSR_RUNTIME_ERROR, "masked_select(): self and result must have the same scalar type");
    TSR_TRY(tsr_check_out_overlap(out, self));
    TSR_TRY(tsr_check_out_overlap(out, mask));
    int64_t shape[TSR_MAX_DIMS];
    int ndim = 0;
    TSR_TRY(tsr_layout_broadcast(shape, &ndim, mask->sizes, tsr_ndim(mask)));
    TSR_TRY(tsr_layout_broadcast(shape, &ndim, self->sizes, tsr_ndim(self)));
    TSR_TRY(expand_dense_new(&s, self, ndim, shape));
    TsrStatus status = expand_dense_new(&m, mask, ndim, shape);
    if (status == TSR_OK) {
        status = tsr_index_new(&t, s, 1, &m);
        tsr_tensor_free(m);
    }
    tsr_tensor_free(s);
    if (status == TSR_OK && t->numel > 0) /* for nothing no kernel is asked */
        status = tsr_require(TSR_BITS_MOST | TSR_BIT(COMPLEX32) | TSR_BITS_FLOAT8, self->dtype, "masked_select");
    return tsr_finish_move(c, status, t);
}

/* ---- masked_scatter ---- */

/* A tensor of a device as one line, in each of index's places. */
static TsrStatus line_view_new(TsrTensor **out, const TsrTensor *dense, const TsrTensor *index) {
    int64_t strides[TSR_MAX_DIMS] = {0};
    return tsr_tensor_new_view(out, dense, &(TsrGeometry){tsr_ndim(index), index->sizes, strides, dense->offset}, NULL);
}

typedef struct Source {
    const char *next;
    int64_t left;
    size_t item;
    bool *short_of;
} Source;

/* Without a branch on the mask: what stands first in the source goes there or stays. */
#define TAKE(T) \
    for (; i < n && left > 0; i++) { \
        bool hit = *(const bool *)(data[1] + i * strides[1]); \
        T *to = (T *)(void *)(data[0] + i * strides[0]), v; \
        memcpy(&v, next, sizeof v); \
        *to = hit ? v : *to; \
        next += hit ? sizeof v : 0; \
        left -= hit; \
    }

/* Serial, in row-major order. */
static void take_next_loop(char *const *data, const int64_t *strides, int64_t n, const void *params) {
    Source *s = (Source *)params;
    const char *next = s->next;
    int64_t left = s->left, i = 0;
    switch (s->item) {
    case 1: TAKE(uint8_t); break;
    case 2: TAKE(uint16_t); break;
    case 4: TAKE(uint32_t); break;
    case 8: TAKE(uint64_t); break;
    default: TAKE(TsrSixteen); break;
    }
    for (; i < n && !*s->short_of; i++) *s->short_of = *(const bool *)(data[1] + i * strides[1]);
    s->next = next;
    s->left = left;
}

/* On a device: the positions of the true elements of a mask of t's sizes take the first elements of the source. */
static TsrStatus scatter_masked_there(TsrTensor *t, const TsrTensor *wide, const TsrTensor *source) {
    TSR_OWNED flat = NULL;
    TSR_OWNED line = NULL;
    TSR_OWNED found = NULL;
    TSR_OWNED places = NULL;
    TSR_OWNED taken = NULL;
    TSR_OWNED to = NULL;
    int64_t minus = -1;
    TSR_TRY(tsr_tensor_new_reshape(&flat, wide, 1, &minus));
    TSR_TRY(tsr_nonzero_new(&found, flat));
    int64_t count = found->sizes[0];
    if (count > source->numel)
        return tsr_error(TSR_RUNTIME_ERROR, "Number of elements of source < number of ones in mask");
    TSR_TRY(tsr_tensor_new_select(&places, found, 1, 0));
    TSR_TRY(tsr_tensor_new_reshape(&taken, source, 1, &minus));
    TSR_TRY(tsr_tensor_new_contiguous(&line, t, TSR_CONTIGUOUS)); /* t itself, when it is */
    TSR_TRY(line_view_new(&to, line, places));
    TSR_TRY(tsr_place(to, taken, &(TsrPlace){places, t->numel, 1, 0}, 1, TSR_WRONG_ELEMENT, TSR_COMBINE_SET));
    return line != t ? tsr_tensor_copy(t, line) : TSR_OK;
}

static TsrStatus scatter_masked(TsrTensor *t, const TsrTensor *mask, const TsrTensor *source) {
    TsrTensor *dense, *wide, *done = NULL;
    TSR_TRY(tsr_tensor_new_expand(&wide, mask, tsr_ndim(t), t->sizes));
    if (tsr_on_device(t)) {
        TsrStatus there = scatter_masked_there(t, wide, source);
        tsr_tensor_free(wide);
        return there;
    }
    TsrStatus status = tsr_tensor_new_contiguous(&dense, source, TSR_CONTIGUOUS);
    if (status == TSR_OK) {
        bool short_of = false;
        Source s = {tsr_data(dense), dense->numel, tsr_itemsize(dense), &short_of};
        TsrDtype own[1] = {t->dtype};
        TsrIterSpec spec = {.nout = 1,
                            .out = {t},
                            .nin = 1,
                            .in = {wide},
                            .out_dtype = own,
                            .name = "masked_scatter_",
                            .flags =
                                TSR_ITER_NO_RESIZE | TSR_ITER_NO_OVERLAP_CHECK | TSR_ITER_SERIAL | TSR_ITER_LINEAR};
        TsrIter it;
        status = tsr_iter_begin(&it, &spec);
        if (status == TSR_OK) status = tsr_iter_end_move(&it, tsr_iter_run(&it, take_next_loop, &s), &done);
        tsr_tensor_free(done);
        if (status == TSR_OK && short_of)
            status = tsr_error(TSR_RUNTIME_ERROR, "Number of elements of source < number of ones in mask");
        tsr_tensor_free(dense);
    }
    tsr_tensor_free(wide);
    return status;
}

TsrStatus op_masked_scatter(TsrOpCall *c) {
    TsrTensor *self = c->arg[0].t, *mask = c->arg[1].t, *source = c->arg[2].t, *t;
    TSR_OWNED wide = NULL;
    TSR_TRY(c->inplace ? tsr_check_out_overlap(c->out[0], NULL) : check_broadcast(mask, self));
    if (self->dtype != source->dtype)
        return tsr_error(TSR_RUNTIME_ERROR,
                         "masked_scatter: expected self and source to have same dtypes but got%s and %s",
                         tsr_dtype_scalar_name(self->dtype), tsr_dtype_scalar_name(source->dtype));
    if (c->inplace) TSR_TRY(tsr_tensor_new_expand(&wide, mask, tsr_ndim(self), self->sizes));
    if (mask->dtype != TSR_BOOL)
        return tsr_error(TSR_RUNTIME_ERROR, "masked_scatter_ only supports boolean masks, but got mask with dtype %s",
                         tsr_dtype_scalar_name(mask->dtype));
    TSR_TRY(tsr_require(TSR_BITS_MOST, self->dtype, "masked_scatter"));
    if (c->inplace) t = tsr_tensor_retain(c->out[0]);
    else TSR_TRY(broadcast_copy_new(&t, self, mask, true));
    return tsr_finish_move(c, tsr_is_meta(self) ? TSR_OK : scatter_masked(t, mask, source), t);
}

/* ---- nonzero ---- */

static TsrStatus columns(TsrOpCall *c, const TsrTensor *self) {
    TsrTensor *wide, *positions, *column[TSR_MAX_DIMS];
    TSR_TRY(tsr_at_least_1d_new(&wide, self));
    TsrStatus status = tsr_nonzero_new(&positions, wide);
    int n = 0, ndim = tsr_ndim(wide);
    tsr_tensor_free(wide);
    TSR_TRY(status);
    for (; n < ndim && status == TSR_OK; n++) {
        status = tsr_tensor_new_select(&column[n], positions, 1, n);
        if (status != TSR_OK) break;
    }
    tsr_tensor_free(positions);
    if (status == TSR_OK) return tsr_return_list_move(c, column, n);
    tsr_free_all(column, n);
    return status;
}

static TsrStatus check_nonzero_out(const TsrOpCall *c, const TsrTensor *self, const char *name) {
    if (c->out[0] == NULL) return TSR_OK;
    if (c->out[0]->dtype != TSR_INT64)
        return tsr_error(TSR_RUNTIME_ERROR, "%s: Expected out tensor to have scalar type Long but got scalar type%s",
                         name, tsr_dtype_scalar_name(c->out[0]->dtype));
    return tsr_check_out_overlap(c->out[0], self);
}

TsrStatus op_nonzero(TsrOpCall *c) {
    TsrTensor *self = c->arg[0].t, *t = NULL;
    if (c->nargs > 1 && c->arg[1].b)
        return c->out[0] == NULL
                   ? columns(c, self)
                   : tsr_error(TSR_RUNTIME_ERROR, "nonzero does not support the out kwarg when as_tuple is True");
    TSR_TRY(check_nonzero_out(c, self, "nonzero"));
    return tsr_finish_move(c, tsr_nonzero_new(&t, self), t);
}

/* The rows of `all` that there is room for, and `fill` in the others. */
static TsrStatus cut_or_pad(TsrTensor *t, const TsrTensor *all, int64_t fill) {
    TSR_OWNED rows = NULL;
    TSR_OWNED to = NULL;
    int64_t n = TSR_MIN(t->sizes[0], all->sizes[0]);
    TSR_TRY(tsr_tensor_fill(t, tsr_scalar_int(fill)));
    TSR_TRY(tsr_tensor_new_narrow(&rows, all, 0, 0, n));
    TSR_TRY(tsr_tensor_new_narrow(&to, t, 0, 0, n));
    return tsr_tensor_copy(to, rows);
}

TsrStatus op_nonzero_static(TsrOpCall *c) {
    TsrTensor *self = c->arg[0].t, *all, *t;
    int64_t size = c->arg[1].i, fill = c->arg[2].i, sizes[2] = {size, tsr_ndim(self)};
    if (size < 0) return tsr_error(TSR_RUNTIME_ERROR, "nonzero_static: 'size' must be an non-negative integer");
    TSR_TRY(check_nonzero_out(c, self, "nonzero_static"));
    TSR_TRY(tsr_tensor_new(&t, 2, sizes, TSR_INT64, self->device));
    if (tsr_is_meta(self) || t->numel == 0) return tsr_return_move(c, t);
    TsrStatus status = tsr_nonzero_new(&all, self);
    if (status == TSR_OK && tsr_on_device(t)) {
        status = cut_or_pad(t, all, fill);
        tsr_tensor_free(all);
    } else if (status == TSR_OK) {
        int64_t found = all->sizes[0], ndim = sizes[1], *out = tsr_data(t);
        const int64_t *in = tsr_data(all);
        for (int64_t i = 0; i < size * ndim; i++) out[i] = i / ndim < found ? in[i / ndim + i % ndim * found] : fill;
        tsr_tensor_free(all);
    }
    return tsr_finish_move(c, status, t);
}

/* ---- take and put ---- */

typedef struct Flat {
    const int64_t *index;
    char *dst;
    const char *src;
    TsrCombineFn set;
    int64_t item, n;
} Flat;

static TsrStatus no_element(int64_t index, int64_t numel) {
    return tsr_error(TSR_INDEX_ERROR, "out of range: tried to access index %lld on a tensor of %lld elements.",
                     (long long)index, (long long)numel);
}

/* Makes positions non-negative, up to the first bad one: how many. An interrupt may end it too. */
static int64_t wrap_flat_index(int64_t *index, int64_t n, int64_t numel) {
    TSR_IN_PIECES(i, n) {
        if (index[i] < -numel || index[i] >= numel) return i;
        if (index[i] < 0) index[i] += numel;
    }
    return n;
}

static void take_range(int64_t begin, int64_t end, void *user) {
    const Flat *f = user;
    tsr_kernel_pick(f->dst + begin * f->item, f->src, f->index + begin, end - begin, (size_t)f->item);
}

/* A contiguous copy of the positions, non-negative up to the first bad one: *good of them. */
static TsrStatus flat_index_new(TsrTensor **out, int64_t *good, const TsrTensor *index, int64_t numel) {
    TSR_TRY(tsr_tensor_new_clone(out, index, TSR_CONTIGUOUS));
    *good = wrap_flat_index(tsr_data(*out), (*out)->numel, numel);
    return tsr_owned_keep(out, tsr_interrupt_check());
}

static TsrStatus take_there(TsrTensor *t, const TsrTensor *self, const TsrTensor *index) {
    TSR_OWNED dense = NULL;
    TSR_OWNED line = NULL;
    TSR_TRY(tsr_tensor_new_contiguous(&dense, self, TSR_CONTIGUOUS));
    TSR_TRY(line_view_new(&line, dense, index));
    return tsr_pick(t, line, &(TsrPlace){index, self->numel, 1, 0}, 1, TSR_WRONG_ELEMENT);
}

static TsrStatus take_into(TsrTensor *t, const TsrTensor *self, const TsrTensor *index) {
    TsrTensor *positions, *dense;
    int64_t good;
    if (tsr_on_device(self)) return take_there(t, self, index);
    TSR_TRY(flat_index_new(&positions, &good, index, self->numel));
    TsrStatus status = good == index->numel ? TSR_OK : no_element(((int64_t *)tsr_data(positions))[good], self->numel);
    if (status == TSR_OK) status = tsr_tensor_new_contiguous(&dense, self, TSR_CONTIGUOUS);
    if (status == TSR_OK) {
        Flat f = {.index = tsr_data(positions),
                  .dst = tsr_data(t),
                  .src = tsr_data(dense),
                  .item = (int64_t)tsr_itemsize(self)};
        status = tsr_parallel_for(positions->numel, tsr_grain(1), take_range, &f);
        tsr_tensor_free(dense);
    }
    tsr_tensor_free(positions);
    return status;
}

TsrStatus op_take(TsrOpCall *c) {
    TsrTensor *self = c->arg[0].t, *index = c->arg[1].t, *t;
    if (index->dtype != TSR_INT64)
        return tsr_error(TSR_RUNTIME_ERROR, "take(): Expected a long tensor for index, but got %s",
                         tsr_dtype_scalar_name(index->dtype));
    if (c->out[0] != NULL && c->out[0]->dtype != self->dtype)
        return tsr_error(
            TSR_RUNTIME_ERROR,
            "take(): self and out expected to have the same dtype, but got self.dtype = %s and out.dtype = %s",
            tsr_dtype_scalar_name(self->dtype), tsr_dtype_scalar_name(c->out[0]->dtype));
    if (self->numel == 0 && index->numel != 0)
        return tsr_error(TSR_INDEX_ERROR, "take(): tried to take from an empty tensor");
    TSR_TRY(tsr_check_out_overlap(c->out[0], self));
    TSR_TRY(tsr_check_out_overlap(c->out[0], index));
    if (index->numel > 0) TSR_TRY(tsr_require(TSR_BITS_MOST, self->dtype, "take_cpu"));
    TSR_TRY(tsr_tensor_new(&t, tsr_ndim(index), index->sizes, self->dtype, self->device));
    return tsr_finish_move(c, index->numel == 0 || tsr_is_meta(self) ? TSR_OK : take_into(t, self, index), t);
}

/* The positions and values in the order in which PyTorch's iterator takes them, that of the values in memory: the last
 * of those that go to one place stays. */
static TsrStatus in_order_of_writing(TsrTensor **positions, TsrTensor **values, const TsrTensor *index,
                                     const TsrTensor *source) {
    int n = tsr_ndim(source), perm[TSR_MAX_DIMS];
    int64_t dims[TSR_MAX_DIMS];
    TSR_OWNED same = NULL;
    TSR_OWNED view = NULL;
    for (int d = 0; d < n; d++) perm[d] = n - 1 - d;
    tsr_layout_order_dims(perm, n, tsr_compare_dims_of, source);
    for (int d = 0; d < n; d++) dims[d] = perm[n - 1 - d];
    TSR_TRY(tsr_tensor_new_reshape(&same, index, n, source->sizes));
    TSR_TRY(tsr_tensor_new_permute(&view, same, n, dims));
    *positions = tsr_owned_take(&view);
    return tsr_tensor_new_permute(values, source, n, dims);
}

/* The first `count` values go to their positions in t. */
static TsrStatus put_values(TsrTensor *t, const TsrTensor *positions, int64_t count, const TsrTensor *source,
                            bool accumulate) {
    TsrTensor *values, *flat;
    TSR_TRY(tsr_tensor_new_contiguous(&values, source, TSR_CONTIGUOUS));
    TsrStatus status = tsr_tensor_new_contiguous(&flat, t, TSR_CONTIGUOUS); /* t itself, when it is */
    if (status == TSR_OK) {
        TsrCombineFn combine = tsr_combine_fn(accumulate ? TSR_COMBINE_ADD : TSR_COMBINE_SET, t->dtype);
        int64_t item = (int64_t)tsr_itemsize(t);
        combine(tsr_data(flat), item, tsr_data(positions), 1, tsr_data(values), item, count);
        status = tsr_interrupt_check();
        if (status == TSR_OK && flat != t) status = tsr_tensor_copy(t, flat);
        tsr_tensor_free(flat);
    }
    tsr_tensor_free(values);
    return status;
}

static TsrStatus put_there(TsrTensor *t, const TsrTensor *index, const TsrTensor *source, bool accumulate) {
    TSR_OWNED values = NULL;
    TSR_OWNED flat = NULL;
    TSR_OWNED line = NULL;
    TSR_TRY(tsr_tensor_new_reshape(&values, source, tsr_ndim(index), index->sizes));
    TSR_TRY(tsr_tensor_new_contiguous(&flat, t, TSR_CONTIGUOUS)); /* t itself, when it is */
    TSR_TRY(line_view_new(&line, flat, index));
    TSR_TRY(tsr_place(line, values, &(TsrPlace){index, t->numel, 1, 0}, 1, TSR_WRONG_ELEMENT,
                      accumulate ? TSR_COMBINE_ADD : TSR_COMBINE_SET));
    return flat != t ? tsr_tensor_copy(t, flat) : TSR_OK;
}

static TsrStatus put_into(TsrTensor *t, const TsrTensor *index, const TsrTensor *source, bool accumulate) {
    TsrTensor *positions;
    TSR_OWNED where = NULL;
    TSR_OWNED what = NULL;
    int64_t good;
    if (tsr_on_device(t)) return put_there(t, index, source, accumulate);
    TSR_TRY(in_order_of_writing(&where, &what, index, source));
    TSR_TRY(flat_index_new(&positions, &good, where, t->numel));
    TsrStatus status = put_values(t, positions, good, what, accumulate);
    if (status == TSR_OK && good < index->numel) status = no_element(((int64_t *)tsr_data(positions))[good], t->numel);
    tsr_tensor_free(positions);
    return status;
}

TsrStatus op_put(TsrOpCall *c) {
    TsrTensor *self = c->arg[0].t, *index = c->arg[1].t, *source = c->arg[2].t, *t;
    if (index->dtype != TSR_INT64)
        return tsr_error(TSR_RUNTIME_ERROR, "put_(): Expected a long tensor for index, but got %s",
                         tsr_dtype_scalar_name(index->dtype));
    if (self->dtype != source->dtype)
        return tsr_error(
            TSR_RUNTIME_ERROR,
            "put_(): self and source expected to have the same dtype, but got self.dtype = %s and source.dtype = %s",
            tsr_dtype_scalar_name(self->dtype), tsr_dtype_scalar_name(source->dtype));
    if (index->numel != source->numel)
        return tsr_error(
            TSR_INDEX_ERROR,
            "put_(): Expected source and index to have the same number of elements, but got source.numel() = %lld, "
            "index.numel() = %lld",
            (long long)source->numel, (long long)index->numel);
    if (self->numel == 0 && index->numel != 0)
        return tsr_error(TSR_INDEX_ERROR, "put_(): Tried to put elements into an empty tensor");
    if (c->inplace) {
        TSR_TRY(tsr_check_out_overlap(c->out[0], index));
        TSR_TRY(tsr_check_no_overlap(c->out[0], source));
    }
    if (index->numel > 0) TSR_TRY(tsr_require(TSR_BITS_MOST, self->dtype, "take_put_cpu"));
    TSR_TRY(tsr_edit_new(&t, c, self, TSR_PRESERVE));
    return tsr_finish_move(c, index->numel == 0 || tsr_is_meta(self) ? TSR_OK : put_into(t, index, source, c->arg[3].b),
                           t);
}
