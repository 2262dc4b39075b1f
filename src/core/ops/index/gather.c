/* gather.c: elements read by their positions along one dimension: gather, take_along_dim. */
#include <stdio.h>
#include <string.h>

#include "core/engine/places.h"
#include "core/ops/reduce/along.h"
#include "core/indexing.h"
#include "core/kernels/move/select.h"
#include "core/mem.h"
#include "core/op/out.h"
#include "core/tensor/tensor_impl.h"

/* Operands: result, self, index. */
static void gather_line(char *const *data, const int64_t *stride, const int64_t *n, const void *params) {
    const AlongLine *q = params;
    const int64_t *index = (const int64_t *)(const void *)data[2];
    AlongPick line = {data[0], data[1], stride[0], stride[1], index, stride[2] / 8};
    if (tsr_along_valid(index, line.step, n[2], q)) tsr_along_pick(&line, n[2], q->item);
}

/* ---- gather ---- */

typedef struct GatherRange {
    const AlongLine *q;
    char *dst;
    const char *src;
    const int64_t *index;
} GatherRange;

/* One long line, split over threads. */
static void gather_range(int64_t begin, int64_t end, void *user) {
    const GatherRange *g = user;
    int64_t item = g->q->item;
    AlongPick line = {g->dst + begin * item, g->src, item, item, g->index + begin, 1};
    if (tsr_along_valid(line.index, 1, end - begin, g->q)) tsr_along_pick(&line, end - begin, item);
}

static TsrStatus gather_flat(TsrTensor *result, const TsrTensor *self, const TsrTensor *index, const AlongLine *q) {
    GatherRange g = {q, tsr_data(result), tsr_data(self), tsr_data(index)};
    TSR_TRY(tsr_parallel_for(index->numel, tsr_grain(1), gather_range, &g));
    return q->bad->found ? tsr_along_out_of_bounds(TSR_RUNTIME_ERROR, q->bad->position, 0, q->size) : TSR_OK;
}

/* Of self (outer, size, inner) the element that each of index (outer, rows, inner) says, in the order of memory: where
 * lines are not contiguous, or have one position each, as losses pick a class's. Line by line, a gather along the first
 * of two dimensions of 1000 took three times as long (Xeon, model 207; bench/sweep/sweep.py --only x.gather). */
typedef struct GatherAcross {
    const AlongLine *q;
    int64_t rows, inner;
    char *dst;
    const char *src;
    const int64_t *index;
} GatherAcross;

#define PICK_ACROSS(T) \
    for (int64_t i = begin; i < end; i++) { \
        ((T *)(void *)g->dst)[i] = ((const T *)(const void *)g->src)[base + g->index[i] * g->inner + at]; \
        if (++at == g->inner) { \
            at = 0; \
            if (++row == g->rows) row = 0, base += g->q->size * g->inner; \
        } \
    } \
    break

static void gather_across(int64_t begin, int64_t end, void *user) {
    const GatherAcross *g = user;
    int64_t at = begin % g->inner, row = begin / g->inner % g->rows,
            base = begin / g->inner / g->rows * g->q->size * g->inner;
    if (!tsr_along_valid(g->index + begin, 1, end - begin, g->q)) return;
    switch (g->q->item) {
    case 1: PICK_ACROSS(uint8_t);
    case 2: PICK_ACROSS(uint16_t);
    case 4: PICK_ACROSS(uint32_t);
    case 8: PICK_ACROSS(uint64_t);
    default: PICK_ACROSS(TsrSixteen);
    }
}

static TsrStatus run_across(TsrTensor *result, const TsrTensor *self, const TsrTensor *index, int64_t dim,
                            const AlongLine *q) {
    GatherAcross g = {.q = q,
                      .rows = index->sizes[dim],
                      .inner = tsr_along_inner(index, dim),
                      .dst = tsr_data(result),
                      .src = tsr_data(self),
                      .index = tsr_data(index)};
    TSR_TRY(tsr_parallel_for(index->numel, tsr_grain(1), gather_across, &g));
    return q->bad->found ? tsr_along_out_of_bounds(TSR_RUNTIME_ERROR, q->bad->position, dim, q->size) : TSR_OK;
}

static TsrStatus gather_lines(TsrTensor *result, const TsrTensor *self, const TsrTensor *index, int64_t dim) {
    TSR_OWNED r = NULL;
    TSR_OWNED s = NULL;
    TSR_OWNED x = NULL;
    TSR_OWNED cut = NULL;
    TSR_TRY(tsr_at_least_1d_new(&r, result));
    TSR_TRY(tsr_at_least_1d_new(&s, self));
    TSR_TRY(tsr_at_least_1d_new(&x, index));
    TSR_TRY(tsr_along_cut_new(&cut, s, x, dim, false));
    AlongLine q = {.item = (int64_t)tsr_itemsize(self), .size = s->sizes[dim], .bad = &(AlongBad){0}};
    bool flat = tsr_ndim(s) == 1 && tsr_is_contiguous(s, TSR_CONTIGUOUS) && tsr_is_contiguous(x, TSR_CONTIGUOUS);
    if (flat) return gather_flat(r, s, x, &q);
    if (tsr_along_across(s, x, dim)) return run_across(r, s, x, dim, &q);
    return tsr_along_run((TsrTensor *[]){r, cut, x}, dim, gather_line, &q);
}

static TsrStatus check_gather(const TsrTensor *self, const TsrTensor *index, int64_t dim) {
    if (!tsr_is_index_dtype(index) && index->numel != 0)
        return tsr_error(TSR_RUNTIME_ERROR, "gather(): Expected dtype int32/int64 for index");
    if (index->numel == 0) return TSR_OK;
    if (TSR_MAX(tsr_ndim(self), 1) != TSR_MAX(tsr_ndim(index), 1))
        return tsr_error(TSR_RUNTIME_ERROR, "Index tensor must have the same number of dimensions as input tensor");
    for (int d = 0; d < tsr_ndim(self); d++)
        if (d != dim && tsr_along_size(index, d) > self->sizes[d])
            return tsr_error(
                TSR_RUNTIME_ERROR,
                "Size does not match at dimension %d expected index %s to be no larger than self %s apart from "
                "dimension %lld",
                d, tsr_sizes_text(index), tsr_sizes_text(self), (long long)dim);
    return TSR_OK;
}

/* Whether PyTorch takes the index for one row of positions, spread over all columns: float numbers along dimension 0.
 */
static bool is_spread_index(const TsrTensor *self, const TsrTensor *index, int64_t dim) {
    if (dim != 0 || tsr_ndim(index) == 0 || self->numel == 0 || index->strides[0] == 0) return false;
    for (int d = 1; d < tsr_ndim(index); d++)
        if (index->strides[d] != 0 || index->sizes[d] != self->sizes[d]) return false;
    return tsr_is_contiguous(self, TSR_CONTIGUOUS);
}

static TsrStatus check_gather_dtype(const TsrTensor *self, const TsrTensor *index, int64_t dim) {
    if (index->numel == 0) return TSR_OK;
    bool spread = tsr_dtype_is_float8(self->dtype) && is_spread_index(self, index, dim);
    return tsr_require(TSR_BITS_MOST | TSR_BITS_UINT, self->dtype,
                       spread ? "gather_expanded_index" : "scatter_gather_tensor_cpu");
}

static TsrStatus gather_new(TsrTensor **out, const TsrTensor *self, int64_t dim, const TsrTensor *index) {
    TsrTensor *positions;
    TSR_TRY(tsr_tensor_new_cast(&positions, index, TSR_INT64));
    TsrStatus status = tsr_tensor_new(out, tsr_ndim(index), index->sizes, self->dtype, self->device);
    if (status == TSR_OK && index->numel > 0 && !tsr_is_meta(self)) {
        const TsrAlong along = {.index = positions, .dim = dim, .wrong = TSR_WRONG_PLACE};
        status = tsr_on_device(self) ? tsr_pick_along(*out, self, &along) : gather_lines(*out, self, positions, dim);
        if (status != TSR_OK) tsr_tensor_reset(out);
    }
    tsr_tensor_free(positions);
    return status;
}

/* out= has the size of index when PyTorch looks for shared memory: one of another size was made contiguous before. */
static TsrStatus check_gather_out(const TsrTensor *out, const TsrTensor *self, const TsrTensor *index) {
    int64_t strides[TSR_MAX_DIMS];
    const TsrTensor *inputs[] = {self, index};
    if (out == NULL) return TSR_OK;
    TsrFootprint written = tsr_tensor_footprint(out);
    if (tsr_same_sizes(out, index)) {
        TSR_TRY(tsr_check_no_internal_overlap(out));
    } else {
        tsr_layout_contiguous_strides(strides, tsr_ndim(index), index->sizes);
        written.at = (TsrGeometry){tsr_ndim(index), index->sizes, strides, out->offset};
    }
    for (int i = 0; i < 2; i++) {
        if (out->storage == NULL || out->storage != inputs[i]->storage) continue;
        TsrFootprint read = tsr_tensor_footprint(inputs[i]);
        TsrOverlap met = tsr_layout_overlap_status(&written, &read);
        if (met == TSR_OVERLAP_PARTIAL || (met == TSR_OVERLAP_FULL && inputs[i] == self)) return tsr_refuse_overlap();
    }
    return TSR_OK;
}

TsrStatus op_gather(TsrOpCall *c) {
    TsrTensor *self = c->arg[0].t, *index = c->arg[2].t, *t = NULL;
    int64_t dim = c->arg[1].i;
    TSR_TRY(tsr_wrap_dim(&dim, tsr_ndim(self)));
    TSR_TRY(tsr_check_out_dtype(c, 0, self->dtype));
    TSR_TRY(check_gather_out(c->out[0], self, index));
    TSR_TRY(check_gather(self, index, dim));
    TSR_TRY(check_gather_dtype(self, index, dim));
    return tsr_finish_move(c, gather_new(&t, self, dim, index), t);
}

/* ---- take_along_dim ---- */

/* Broadcasts self and indices against each other in all dimensions but dim. */
static TsrStatus match_shapes(TsrTensor **self, TsrTensor **index, int64_t dim) {
    int64_t shape[TSR_MAX_DIMS], own[TSR_MAX_DIMS];
    int ndim = 0;
    memcpy(own, (*self)->sizes, sizeof(int64_t) * (size_t)tsr_ndim(*self));
    own[dim] = 1;
    TSR_TRY(tsr_layout_broadcast(shape, &ndim, own, tsr_ndim(*self)));
    memcpy(own, (*index)->sizes, sizeof(int64_t) * (size_t)tsr_ndim(*index));
    int64_t wide = own[dim];
    own[dim] = 1;
    TSR_TRY(tsr_layout_broadcast(shape, &ndim, own, tsr_ndim(*index)));
    TsrTensor *s, *x;
    shape[dim] = (*self)->sizes[dim];
    TSR_TRY(tsr_tensor_new_expand(&s, *self, ndim, shape));
    shape[dim] = wide;
    TsrStatus status = tsr_tensor_new_expand(&x, *index, ndim, shape);
    if (status != TSR_OK) {
        tsr_tensor_free(s);
        return status;
    }
    *self = s;
    *index = x;
    return TSR_OK;
}

/* Its memory is looked at where it has the size of the index. */
static TsrStatus check_taken_out(const TsrOpCall *c, const TsrTensor *self, const TsrTensor *index) {
    TSR_TRY(tsr_check_out_dtype(c, 0, self->dtype));
    bool fits = c->out[0] != NULL && tsr_same_sizes(c->out[0], index);
    return fits ? tsr_check_out_overlap(c->out[0], self) : TSR_OK;
}

static TsrStatus along_dim(TsrTensor **out, const TsrOpCall *c, TsrTensor *self, TsrTensor *index, int64_t dim) {
    TsrTensor *wrapped;
    TSR_TRY(match_shapes(&self, &index, dim));
    TsrStatus status = tsr_invoke_new(&wrapped, 1, "remainder", "ts", index,
                                      tsr_scalar_int(self->sizes[dim])); /* by 0: ZeroDivisionError */
    if (status == TSR_OK) {
        status = check_taken_out(c, self, wrapped);
        if (status == TSR_OK) status = check_gather_dtype(self, wrapped, dim);
        if (status == TSR_OK) status = gather_new(out, self, dim, wrapped);
        tsr_tensor_free(wrapped);
    }
    tsr_tensor_free(self);
    tsr_tensor_free(index);
    return status;
}

/* Without dim both are flattened, as views. */
static TsrStatus along_flat(TsrOpCall *c, const TsrTensor *self, const TsrTensor *index) {
    TSR_OWNED flat = NULL;
    TSR_OWNED flat_index = NULL;
    TsrTensor *t = NULL;
    int64_t minus = -1;
    TSR_TRY(tsr_tensor_new_reshaped_view(&flat, self, 1, &minus));
    TSR_TRY(tsr_tensor_new_reshaped_view(&flat_index, index, 1, &minus));
    TSR_TRY(check_taken_out(c, flat, flat_index));
    TSR_TRY(check_gather(flat, flat_index, 0));
    TSR_TRY(check_gather_dtype(flat, flat_index, 0));
    return tsr_finish_move(c, gather_new(&t, flat, 0, flat_index), t);
}

TsrStatus op_take_along_dim(TsrOpCall *c) {
    TsrTensor *self = c->arg[0].t, *index = c->arg[1].t, *t = NULL;
    if (!tsr_arg_given(&c->arg[2])) return along_flat(c, self, index);
    int64_t dim = c->arg[2].i;
    if (tsr_ndim(self) != tsr_ndim(index))
        return tsr_error(
            TSR_RUNTIME_ERROR,
            "torch.take_along_dim(): input and indices should have the same number of dimensions, but got %d "
            "dimensions for input, and %d dimensions for indices",
            tsr_ndim(self), tsr_ndim(index));
    if (index->dtype != TSR_INT64)
        return tsr_error(TSR_RUNTIME_ERROR, "torch.take_along_dim(): dtype of indices should be Long but got %s",
                         tsr_dtype_scalar_name(index->dtype));
    TSR_TRY(tsr_wrap_dim(&dim, tsr_ndim(self)));
    if (tsr_ndim(self) == 0) return tsr_error(TSR_INDEX_ERROR, "Dimension specified as 0 but tensor has no dimensions");
    return tsr_finish_move(c, along_dim(&t, c, self, index, dim), t);
}
