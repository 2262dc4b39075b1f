/* iter.c: the iterator behind elementwise operators (iter.h), after ATen's TensorIterator.
 *
 * Building it, in order: refuse overlap, broadcast the shapes, find the common dtype, order the dimensions by stride,
 * allocate or resize the outputs, merge dimensions that lie back to back. Running it: the shape becomes an outer loop
 * over an inner run of one or two dimensions; operands whose dtype is not that of the loop pass through buffers of
 * BLOCK elements; large shapes are split over threads. Overlapping operands are computed element by element in
 * PyTorch's order. */
#include "core/iter.h"

#include <string.h>

#include "core/kernels/move/move.h"
#include "core/kernels/pointwise/table.h"
#include "core/layout.h"
#include "device.h"
#include "core/tensor/tensor_impl.h"
#include "core/view.h"

/* BLOCK: elements that are converted into a buffer at a time. POLL: elements between two looks for an interrupt where
 * one thread runs. PARALLEL_WORK: steps from which work is split over threads (parallel.h). CHUNK_TILES: tiles that a
 * thread takes at once. */
enum { BLOCK = 512, POLL = 1 << 18, PARALLEL_WORK = 2 * TSR_CHUNK_WORK, CHUNK_TILES = 4 };

/* --- memory overlap --- */

typedef struct Extent {
    const char *begin, *end;
} Extent;

static Extent extent_of(const TsrTensor *t) {
    const char *p = tsr_data(t);
    return (Extent){p, p + t->numel * (int64_t)tsr_itemsize(t)};
}

/* at::assert_no_partial_overlap: refuses two dense views that share a part of their bytes. As in PyTorch, views with
 * gaps are not examined. */
TsrStatus tsr_iter_check_partial_overlap(const TsrTensor *out, const TsrTensor *in) {
    if (out == in || out->storage != in->storage || out->numel == 0 || in->numel == 0 || tsr_is_meta(out))
        return TSR_OK;
    if (!tsr_is_dense(out) || !tsr_is_dense(in)) return TSR_OK;
    Extent a = extent_of(out), b = extent_of(in);
    bool partial;
    if (a.begin == b.begin && a.end == b.end)
        partial = tsr_ndim(out) != tsr_ndim(in) ||
                  memcmp(out->strides, in->strides, (size_t)tsr_ndim(out) * sizeof *out->strides) != 0;
    else partial = a.begin < b.end && b.begin < a.end;
    return partial ? tsr_refuse_overlap() : TSR_OK;
}

/* PyTorch's refusals: an output that overlaps itself, or partly overlaps an input. */
static TsrStatus check_overlaps(const TsrIterSpec *spec) {
    for (int k = 0; k < spec->nout; k++) {
        if (spec->out[k] == NULL) continue;
        TSR_TRY(tsr_check_no_internal_overlap(spec->out[k]));
        for (int i = 0; i < spec->nin; i++) TSR_TRY(tsr_iter_check_partial_overlap(spec->out[k], spec->in[i]));
    }
    return TSR_OK;
}

/* Whether the order of elements shows: an output shares elements with an input at other positions, and no operand is
 * converted. */
static bool writes_what_it_reads(const TsrIter *it, const TsrIterSpec *spec) {
    bool found = false;
    for (int k = 0; k < spec->nout; k++)
        for (int i = 0; i < spec->nin && spec->out[k] != NULL; i++)
            found = found || tsr_overlaps_elsewhere(spec->out[k], spec->in[i]);
    for (int k = 0; k < it->noperands; k++)
        found = found && it->operand[k]->dtype == it->common; /* others are converted whole before, in PyTorch */
    return found;
}

/* --- shapes --- */

/* Whether t has exactly this shape. */
static bool same_sizes(const TsrTensor *t, int rank, const int64_t *shape) {
    return tsr_ndim(t) == rank && memcmp(t->sizes, shape, (size_t)rank * sizeof *shape) == 0;
}

/* The shape of the operation: the inputs' broadcast, or the output's when there is no input. */
static TsrStatus broadcast_shape(TsrIter *it, const TsrIterSpec *spec) {
    if (spec->nin == 0) {
        it->rank = tsr_ndim(spec->out[0]);
        memcpy(it->shape, spec->out[0]->sizes, (size_t)it->rank * sizeof *it->shape);
        return TSR_OK;
    }
    const TsrTensor *first = spec->in[0];
    it->rank = tsr_ndim(first);
    memcpy(it->shape, first->sizes, (size_t)it->rank * sizeof *it->shape);
    for (int i = 1; i < spec->nin; i++) {
        const TsrTensor *t = spec->in[i];
        if (same_sizes(t, it->rank, it->shape)) continue;
        TSR_TRY(tsr_layout_broadcast(it->shape, &it->rank, t->sizes, tsr_ndim(t)));
    }
    return TSR_OK;
}

static bool is_input(const TsrIterSpec *spec, const TsrTensor *out) {
    for (int i = 0; i < spec->nin; i++)
        if (spec->in[i] == out) return true;
    return false;
}

/* Which given outputs must be resized; an output that is read too must fit already. */
static TsrStatus check_output_shapes(const TsrIter *it, const TsrIterSpec *spec, bool *resize) {
    for (int k = 0; k < spec->nout; k++) {
        const TsrTensor *t = spec->out[k];
        resize[k] = t != NULL && !same_sizes(t, it->rank, it->shape);
        if (!resize[k] || (!(spec->flags & TSR_ITER_NO_RESIZE) && !is_input(spec, t))) continue;
        return tsr_error(TSR_RUNTIME_ERROR, "output with shape %s doesn't match the broadcast shape %s",
                         tsr_layout_text(tsr_ndim(t), t->sizes), tsr_layout_text(it->rank, it->shape));
    }
    return TSR_OK;
}

/* --- dtypes --- */

/* The dtype that the loop computes small floats in. */
static TsrDtype widened(TsrDtype d, unsigned flags) {
    if (!(flags & TSR_ITER_COMPUTE_FLOAT)) return d;
    if (tsr_dtype_is_float(d) && tsr_dtype_size(d) < 4) return TSR_FLOAT32;
    return d == TSR_COMPLEX32 || d == TSR_BCOMPLEX32 ? TSR_COMPLEX64 : d;
}

/* The dtype that inputs are converted to, by the spec's flags. */
static TsrStatus common_dtype(TsrDtype *out, const TsrIterSpec *spec) {
    if (spec->has_dtype) {
        *out = spec->dtype;
    } else if ((spec->flags & TSR_ITER_PROMOTE) && spec->nin > 0) {
        TsrTensor *inputs[TSR_ITER_MAX_OPERANDS];
        bool same = true;
        for (int i = 0; i < spec->nin; i++) {
            inputs[i] = (TsrTensor *)spec->in[i];
            same = same && inputs[i]->dtype == inputs[0]->dtype && !(inputs[i]->flags & TSR_FLAG_WRAPPED_NUMBER);
        }
        if (same) *out = inputs[0]->dtype;
        else TSR_TRY(tsr_result_type(out, inputs, spec->nin));
    } else {
        *out = spec->nin > 0 ? spec->in[0]->dtype : spec->out[0]->dtype;
    }
    if ((spec->flags & TSR_ITER_INT_TO_FLOAT) && (tsr_dtype_is_integral(*out) || *out == TSR_BOOL))
        *out = tsr_default_dtype();
    return TSR_OK;
}

static TsrStatus check_same_dtypes(const TsrIterSpec *spec) {
    for (int i = 1; i < spec->nin; i++)
        if (spec->in[i]->dtype != spec->in[0]->dtype)
            return tsr_error(TSR_RUNTIME_ERROR, "expected scalar type %s but found %s",
                             tsr_dtype_scalar_name(spec->in[0]->dtype), tsr_dtype_scalar_name(spec->in[i]->dtype));
    return TSR_OK;
}

/* What the operator yields at output k, before any conversion into a given tensor. */
static TsrDtype result_dtype(const TsrIterSpec *spec, TsrDtype common, int k) {
    if (spec->out_dtype != NULL && spec->out_dtype[k] != TSR_DTYPE_NONE) return spec->out_dtype[k];
    if (spec->flags & TSR_ITER_OUT_BOOL) return TSR_BOOL;
    return (spec->flags & TSR_ITER_REAL_OUT) ? tsr_dtype_real_of(common) : common;
}

static TsrStatus resolve_dtypes(TsrIter *it, const TsrIterSpec *spec, TsrDtype *results) {
    TsrDtype common;
    if (spec->flags & TSR_ITER_SAME_DTYPE) TSR_TRY(check_same_dtypes(spec));
    TSR_TRY(common_dtype(&common, spec));
    bool all_common = spec->has_dtype || (spec->flags & TSR_ITER_PROMOTE);
    for (int k = 0; k < spec->nout; k++) {
        results[k] = result_dtype(spec, common, k);
        it->loop_dtype[k] = widened(results[k], spec->flags);
        const TsrTensor *t = spec->out[k];
        if (t != NULL && t->dtype != common && results[k] == common && it->loop_dtype[k] != common) it->via |= 1u << k;
        if (t != NULL && (spec->flags & TSR_ITER_CHECK_CAST) && !tsr_can_cast(results[k], t->dtype))
            return tsr_error(TSR_RUNTIME_ERROR, "result type %s can't be cast to the desired output type %s",
                             tsr_dtype_scalar_name(results[k]), tsr_dtype_scalar_name(t->dtype));
    }
    for (int i = 0; i < spec->nin; i++) {
        TsrDtype d = all_common ? common : spec->in[i]->dtype;
        if (spec->in_dtype != NULL && spec->in_dtype[i] != TSR_DTYPE_NONE) d = spec->in_dtype[i];
        it->loop_dtype[spec->nout + i] = widened(d, spec->flags);
        bool exact = (spec->flags & TSR_ITER_OPMATH) && tsr_ndim(spec->in[i]) == 0 && tsr_dtype_is_float(common);
        if (d == common && d != it->loop_dtype[spec->nout + i] && d != spec->in[i]->dtype && !exact)
            it->via |= 1u << (spec->nout + i);
    }
    it->common = common;
    it->dtype = widened(common, spec->flags);
    return TSR_OK;
}

/* --- strides and order --- */

/* Strides of operand k as they decide the layout of results: an input of another dtype than the common one counts as a
 * converted copy, which it is in PyTorch by then. `copied` is room for those. */
static const int64_t *seen_strides(const TsrIter *it, const TsrIterSpec *spec, int k, int64_t *copied) {
    const TsrTensor *t = it->operand[k];
    bool own_dtype = k < spec->nout || (spec->in_dtype != NULL && spec->in_dtype[k - spec->nout] != TSR_DTYPE_NONE);
    if (own_dtype || (spec->flags & TSR_ITER_PROMOTE) == 0 || t->dtype == it->common || tsr_is_dense(t))
        return t->strides;
    tsr_layout_dense_strides_like(copied, tsr_ndim(t), t->sizes, t->strides);
    return copied;
}

/* Byte strides of operand k, whose own are `from`, over the broadcast shape, dimension by dimension in row-major order.
 * Strides of dimensions that are never walked may be anything, so the product may wrap. */
static void expand_strides(TsrIter *it, int k, const int64_t *from, int64_t *strides) {
    const TsrTensor *t = it->operand[k];
    int ndim = tsr_ndim(t), lead = it->rank - ndim;
    int64_t size = (int64_t)tsr_itemsize(t);
    for (int d = 0; d < it->rank; d++)
        strides[d] = d < lead || (t->sizes[d - lead] == 1 && it->shape[d] != 1)
                         ? 0
                         : (int64_t)((uint64_t)from[d - lead] * (uint64_t)size);
}

/* What tells how the dimensions lie: the byte strides of the operands that are known. */
typedef struct Walked {
    const TsrIter *it;
    int64_t (*strides)[TSR_MAX_DIMS];
    const bool *known;
} Walked;

static int compare_dims(const void *user, int inner, int outer) {
    const Walked *w = user;
    for (int k = 0; k < w->it->noperands; k++) {
        if (!w->known[k]) continue;
        int order = tsr_layout_compare_dims(w->it->shape[inner], w->strides[k][inner], w->it->shape[outer],
                                            w->strides[k][outer]);
        if (order != 0) return order;
    }
    return 0;
}

/* perm[0] is the innermost dimension: as row-major as the operands allow. */
static void order_dims(const TsrIter *it, int64_t strides[][TSR_MAX_DIMS], const bool *known, int *perm) {
    for (int i = 0; i < it->rank; i++) perm[i] = it->rank - 1 - i;
    if (!(it->flags & TSR_ITER_LINEAR))
        tsr_layout_order_dims(perm, it->rank, compare_dims, &(Walked){it, strides, known});
}

static void dense_strides(const TsrIter *it, const int *perm, int64_t *strides) {
    int64_t next = 1;
    for (int i = 0; i < it->rank; i++) {
        strides[perm[i]] = next;
        next *= it->shape[perm[i]]; /* 0 as it is: PyTorch's strides of empty results */
    }
}

/* Sizes and strides of how many inputs decide how fresh outputs lie. */
static int laid_inputs(const TsrIterSpec *spec) { return spec->nin - (spec->flags & TSR_ITER_NUMBER_LAST ? 1 : 0); }

/* When all inputs have the same shape and are laid out alike, the output is too: true, with its strides in `wanted`.
 * False when the order must decide. Strides of channels last are those of the format, whatever the inputs' are where a
 * size is 1. */
static bool common_layout(int64_t *wanted, const TsrIter *it, const TsrIterSpec *spec, const int64_t *const *seen,
                          bool *contiguous) {
    *contiguous = true;
    const int64_t *like = NULL;
    bool alike = true, channels_last = it->rank == 4;
    for (int i = 0; i < laid_inputs(spec); i++) {
        const int64_t *strides = seen[spec->nout + i];
        if (!same_sizes(spec->in[i], it->rank, it->shape)) return false;
        *contiguous = *contiguous && tsr_layout_is_contiguous(it->rank, it->shape, strides);
        channels_last = channels_last && tsr_layout_is_channels_last(it->rank, it->shape, strides);
        if (like == NULL) like = strides;
        alike = alike && memcmp(strides, like, (size_t)it->rank * sizeof *strides) == 0;
    }
    if (like == NULL || *contiguous) return false;
    if (channels_last) tsr_layout_channels_last_strides(wanted, it->rank, it->shape);
    else if (alike && tsr_layout_is_non_overlapping_and_dense(it->rank, it->shape, like))
        memcpy(wanted, like, (size_t)it->rank * sizeof *wanted);
    else return false;
    return true;
}

static TsrDevice result_device(const TsrIterSpec *spec) {
    for (int i = 0; i < spec->nin; i++)
        if (spec->in[i]->device.type != TSR_CPU) return spec->in[i]->device;
    return spec->nin > 0 ? spec->in[0]->device : spec->out[0]->device;
}

void (*tsr_broadcast_hook)(const TsrTensor *result, const TsrTensor *const *in, int count);

static void tell_broadcast(const TsrTensor *result, const TsrIterSpec *spec) {
    for (int i = 0; i < spec->nin; i++)
        if (spec->in[i]->numel >= result->numel) return;
    tsr_broadcast_hook(result, spec->in, spec->nin);
}

static TsrStatus allocate_outputs(TsrIter *it, const TsrIterSpec *spec, const TsrDtype *results, const bool *resize,
                                  const int64_t *const *seen, const int *perm) {
    int64_t wanted[TSR_MAX_DIMS];
    bool contiguous, like = common_layout(wanted, it, spec, seen, &contiguous);
    if (!like) dense_strides(it, perm, wanted);
    bool row_major = !like && (spec->flags & TSR_ITER_LINEAR);
    if (!like) {
        bool ordered = true, alike = contiguous && spec->nin > 0;
        for (int i = 0; i < it->rank; i++) ordered = ordered && perm[i] == it->rank - 1 - i;
        for (int i = 0; i < laid_inputs(spec); i++) alike = alike && same_sizes(spec->in[i], it->rank, it->shape);
        row_major = row_major || ordered || alike;
    }
    if (row_major) tsr_layout_contiguous_strides(wanted, it->rank, it->shape);
    for (int k = 0; k < spec->nout; k++) {
        if (spec->out[k] == NULL) {
            if (row_major)
                TSR_TRY(tsr_tensor_new(&it->operand[k], it->rank, it->shape, results[k], result_device(spec)));
            else
                TSR_TRY(tsr_tensor_new_strided(&it->operand[k], it->rank, it->shape, wanted, results[k],
                                               result_device(spec)));
            if (TSR_UNLIKELY(tsr_broadcast_hook != NULL) && spec->nin > 1) tell_broadcast(it->operand[k], spec);
        } else if (resize[k]) {
            TSR_TRY(tsr_tensor_resize(spec->out[k], it->rank, it->shape, TSR_CONTIGUOUS));
            if (!row_major)
                TSR_TRY(tsr_tensor_set_geometry(spec->out[k],
                                                (TsrGeometry){it->rank, it->shape, wanted, spec->out[k]->offset}));
        }
    }
    return TSR_OK;
}

static bool can_merge(const TsrIter *it, int a, int b) {
    if (it->sizes[a] == 1 || it->sizes[b] == 1) return true;
    for (int k = 0; k < it->noperands; k++)
        if (tsr_layout_times(it->sizes[a], it->strides[k][a]) != it->strides[k][b]) return false;
    return true;
}

static void copy_dim(TsrIter *it, int to, int from) {
    for (int k = 0; k < it->noperands; k++) it->strides[k][to] = it->strides[k][from];
}

static void coalesce(TsrIter *it) {
    int last = 0;
    for (int d = 1; d < it->ndim; d++) {
        if (can_merge(it, last, d)) {
            if (it->sizes[last] == 1) copy_dim(it, last, d);
            it->sizes[last] *= it->sizes[d];
        } else {
            last++;
            if (last != d) {
                copy_dim(it, last, d);
                it->sizes[last] = it->sizes[d];
            }
        }
    }
    if (it->ndim > 0) it->ndim = last + 1;
}

static void set_geometry(TsrIter *it, const int *perm) {
    int64_t strides[TSR_MAX_DIMS];
    it->ndim = it->rank;
    for (int i = 0; i < it->rank; i++) it->sizes[i] = it->shape[perm[i]];
    for (int k = 0; k < it->noperands; k++) {
        expand_strides(it, k, it->operand[k]->strides, strides);
        for (int i = 0; i < it->rank; i++) it->strides[k][i] = strides[perm[i]];
    }
    coalesce(it);
    if (it->ndim == 0) {
        it->ndim = 1;
        it->sizes[0] = 1;
        for (int k = 0; k < it->noperands; k++) it->strides[k][0] = 0;
    }
}

/* --- begin --- */

static void adopt_operands(TsrIter *it, const TsrIterSpec *spec) {
    it->nout = spec->nout;
    it->noperands = spec->nout + spec->nin;
    for (int k = 0; k < spec->nout; k++) it->operand[k] = tsr_tensor_retain(spec->out[k]);
    for (int i = 0; i < spec->nin; i++) it->operand[spec->nout + i] = tsr_tensor_retain((TsrTensor *)spec->in[i]);
}

/* All operands contiguous and of one shape: one dimension, no ordering needed. */
static bool is_plain(const TsrIter *it, const TsrIterSpec *spec, const bool *resize) {
    for (int k = 0; k < it->noperands; k++) {
        const TsrTensor *t = it->operand[k];
        if (t == NULL) continue;
        if ((k < spec->nout && resize[k]) || !same_sizes(t, it->rank, it->shape) ||
            !tsr_is_contiguous(t, TSR_CONTIGUOUS))
            return false;
    }
    return spec->nin > 0 || spec->out[0] != NULL;
}

static TsrStatus begin_plain(TsrIter *it, const TsrIterSpec *spec, const TsrDtype *results) {
    for (int k = 0; k < spec->nout; k++)
        if (it->operand[k] == NULL)
            TSR_TRY(tsr_tensor_new(&it->operand[k], it->rank, it->shape, results[k], result_device(spec)));
    it->ndim = 1;
    it->sizes[0] = it->operand[0]->numel;
    for (int k = 0; k < it->noperands; k++) it->strides[k][0] = (int64_t)tsr_itemsize(it->operand[k]);
    return TSR_OK;
}

static TsrStatus begin_general(TsrIter *it, const TsrIterSpec *spec, const TsrDtype *results, const bool *resize) {
    int64_t strides[TSR_ITER_MAX_OPERANDS][TSR_MAX_DIMS], copied[TSR_ITER_MAX_OPERANDS][TSR_MAX_DIMS];
    const int64_t *seen[TSR_ITER_MAX_OPERANDS];
    bool known[TSR_ITER_MAX_OPERANDS];
    int perm[TSR_MAX_DIMS];
    for (int k = 0; k < it->noperands; k++) {
        known[k] = it->operand[k] != NULL && !(k < spec->nout && resize[k]);
        if (!known[k]) continue;
        seen[k] = seen_strides(it, spec, k, copied[k]);
        expand_strides(it, k, seen[k], strides[k]);
    }
    order_dims(it, strides, known, perm);
    TSR_TRY(allocate_outputs(it, spec, results, resize, seen, perm));
    set_geometry(it, perm);
    if (writes_what_it_reads(it, spec)) it->flags |= TSR_ITER_SERIAL | TSR_ITER_IN_ORDER;
    return TSR_OK;
}

/* PyTorch's order: memory, shapes, dtypes. */
static TsrStatus check_all(TsrIter *it, const TsrIterSpec *spec, TsrDtype *results, bool *resize) {
    if (!(spec->flags & TSR_ITER_NO_OVERLAP_CHECK)) TSR_TRY(check_overlaps(spec));
    TSR_TRY(broadcast_shape(it, spec));
    TSR_TRY(check_output_shapes(it, spec, resize));
    return resolve_dtypes(it, spec, results);
}

static TsrStatus begin(TsrIter *it, const TsrIterSpec *spec) {
    TsrDtype results[4];
    bool resize[4] = {false};
    TSR_TRY(check_all(it, spec, results, resize));
    if (is_plain(it, spec, resize)) TSR_TRY(begin_plain(it, spec, results));
    else TSR_TRY(begin_general(it, spec, results, resize));
    it->numel = 1;
    for (int d = 0; d < it->ndim; d++) it->numel *= it->sizes[d];
    it->meta = it->away = false;
    for (int k = 0; k < it->noperands; k++) it->away = it->away || it->operand[k]->device.type != TSR_CPU;
    for (int k = 0; k < it->noperands && it->away; k++) it->meta = it->meta || tsr_is_meta(it->operand[k]);
    return TSR_OK;
}

static void release_operands(TsrIter *it) {
    for (int k = 0; k < it->noperands; k++) tsr_tensor_free(it->operand[k]);
}

/* Counts and dtypes that no table could hold. */
static TsrStatus check_spec(const TsrIterSpec *spec) {
    int most_out = (int)TSR_COUNTOF(spec->out);
    if (spec->nout < 0 || spec->nout > most_out || spec->nin < 0 || spec->nin > TSR_ITER_MAX_OPERANDS - spec->nout ||
        spec->nin + spec->nout == 0)
        return tsr_error(TSR_SYSTEM_ERROR,
                         "an iterator over %d outputs and %d inputs: it takes 1 to %d operands, and of them %d outputs",
                         spec->nout, spec->nin, TSR_ITER_MAX_OPERANDS, most_out);
    for (int k = 0; k < spec->nin; k++)
        if (spec->in[k] == NULL) return tsr_error(TSR_SYSTEM_ERROR, "an iterator without its input %d", k);
    return spec->has_dtype ? tsr_dtype_check(spec->dtype) : TSR_OK;
}

TsrStatus tsr_iter_begin(TsrIter *it, const TsrIterSpec *spec) {
    TSR_TRY(check_spec(spec));
    it->flags = spec->flags;
    it->cost = spec->cost > 0 ? spec->cost : 1;
    it->via = 0;
    adopt_operands(it, spec);
    TsrStatus s = begin(it, spec);
    if (s != TSR_OK) release_operands(it);
    return s;
}

TsrStatus tsr_iter_check(const TsrIterSpec *spec) {
    TsrIter it = {0};
    TsrDtype results[4];
    bool resize[4] = {false};
    TSR_TRY(check_spec(spec));
    return check_all(&it, spec, results, resize);
}

TsrStatus tsr_iter_end_move(TsrIter *it, TsrStatus status, TsrTensor **out) {
    for (int k = 0; k < it->nout && status == TSR_OK; k++) out[k] = tsr_tensor_retain(it->operand[k]);
    release_operands(it);
    return status;
}

/* --- run --- */

typedef struct Run {
    const TsrIter *it;
    TsrLoop loop;
    const void *params;
    unsigned converted; /* bit k: operand k goes through a buffer */
    char *base[TSR_ITER_MAX_OPERANDS];
} Run;

/* Elements in a row. */
typedef struct Strip {
    TsrDtype dtype;
    char *data;
    int64_t stride;
} Strip;

static inline Strip strip_of_loop(const TsrIter *it, int k, char *data) {
    return (Strip){it->loop_dtype[k], data, (int64_t)tsr_dtype_size(it->loop_dtype[k])};
}

/* Converts n elements, rounding them to `via` on the way. */
static void convert_via(TsrDtype via, Strip to, Strip from, int64_t n) {
    _Alignas(64) char rounded[BLOCK * 4];
    int64_t small = (int64_t)tsr_dtype_size(via);
    tsr_convert(via, rounded, small, from.dtype, from.data, from.stride, n);
    tsr_convert(to.dtype, to.data, to.stride, via, rounded, small, n);
}

/* Converts n elements of operand k. */
static void convert(const TsrIter *it, int k, Strip to, Strip from, int64_t n) {
    if (it->via >> k & 1) convert_via(it->common, to, from, n);
    else tsr_convert(to.dtype, to.data, to.stride, from.dtype, from.data, from.stride, n);
}

/* One stretch of at most BLOCK elements, with operands converted into buffers and back. */
static void run_block(const Run *run, char *const *data, const int64_t *strides, int64_t n) {
    _Alignas(64) char buffer[TSR_ITER_MAX_OPERANDS][BLOCK * 16];
    char *at[TSR_ITER_MAX_OPERANDS];
    int64_t step[TSR_ITER_MAX_OPERANDS];
    const TsrIter *it = run->it;
    for (int k = 0; k < it->noperands; k++) {
        at[k] = data[k];
        step[k] = strides[k];
        if (!(run->converted >> k & 1)) continue;
        at[k] = buffer[k];
        Strip wide = strip_of_loop(it, k, at[k]);
        step[k] = strides[k] == 0 && k >= it->nout ? 0 : wide.stride;
        if (k >= it->nout)
            convert(it, k, wide, (Strip){it->operand[k]->dtype, data[k], strides[k]}, step[k] == 0 ? 1 : n);
    }
    run->loop(at, step, n, run->params);
    for (int k = 0; k < it->nout; k++)
        if (run->converted >> k & 1)
            convert(it, k, (Strip){it->operand[k]->dtype, data[k], strides[k]},
                    (Strip){it->loop_dtype[k], at[k], step[k]}, n);
}

/* --- where an output overlaps an input (TSR_ORDER_STEP): a number that is the same along a dense line is read once
 * before, lines with gaps go one element after the other --- */

static bool is_dense_line(const TsrIter *it, const int64_t *strides) {
    int same = 0;
    int64_t size = (int64_t)tsr_itemsize(it->operand[0]);
    for (int k = 0; k < it->noperands; k++) {
        if ((int64_t)tsr_itemsize(it->operand[k]) != size || (strides[k] != size && (strides[k] != 0 || k < it->nout)))
            return false;
        same += strides[k] == 0;
    }
    return same <= 1;
}

static void run_in_order(const Run *run, char *const *data, const int64_t *strides, int64_t n) {
    _Alignas(TSR_ORDER_STEP) char held[TSR_ITER_MAX_OPERANDS][TSR_ORDER_STEP];
    char *at[TSR_ITER_MAX_OPERANDS];
    const TsrIter *it = run->it;
    int64_t step = TSR_ORDER_STEP / (int64_t)tsr_itemsize(it->operand[0]),
            whole = is_dense_line(it, strides) ? n / step * step : 0;
    for (int k = it->nout; k < it->noperands && whole > 0; k++)
        if (strides[k] == 0) memcpy(held[k], data[k], tsr_itemsize(it->operand[k]));
    for (int64_t i = 0; i < n; i += i < whole ? step : 1) {
        for (int k = 0; k < it->noperands; k++) {
            at[k] = data[k] + i * strides[k];
            if (i >= whole || k < it->nout) continue;
            if (strides[k] != 0) memcpy(held[k], at[k], TSR_ORDER_STEP);
            at[k] = held[k];
        }
        run_block(run, at, strides, i < whole ? step : 1);
    }
}

static void run_inner(const Run *run, char *const *data, const int64_t *strides, int64_t n) {
    if (TSR_UNLIKELY(run->it->flags & TSR_ITER_IN_ORDER)) {
        run_in_order(run, data, strides, n);
        return;
    }
    if (run->converted == 0) {
        run->loop(data, strides, n, run->params);
        return;
    }
    char *at[TSR_ITER_MAX_OPERANDS];
    for (int64_t done = 0; done < n; done += BLOCK) {
        for (int k = 0; k < run->it->noperands; k++) at[k] = data[k] + done * strides[k];
        run_block(run, at, strides, TSR_MIN(n - done, (int64_t)BLOCK));
    }
}

/* Lines of n elements along dimension 0, one after the other along dimension 1: `at` moves on. Little but the loop
 * itself is done for each, so that the processor waits for the memory of several short ones at once. */
static void line_by_line(const Run *run, char **at, const int64_t *inner, int64_t n, int64_t lines) {
    const TsrIter *it = run->it;
    const int noperands = it->noperands;
    const bool loop_alone = run->converted == 0 && !(it->flags & TSR_ITER_IN_ORDER);
    int64_t down[TSR_ITER_MAX_OPERANDS];
    for (int k = 0; k < noperands; k++) down[k] = it->strides[k][1];
    for (int64_t i = 0; i < lines; i++) {
        if (loop_alone) run->loop(at, inner, n, run->params);
        else run_inner(run, at, inner, n);
        for (int k = 0; k < noperands; k++) at[k] += down[k];
    }
}

/* Elements [begin, end) in the iterator's order. */
static void run_range(int64_t begin, int64_t end, void *user) {
    const Run *run = user;
    const TsrIter *it = run->it;
    int64_t index[TSR_MAX_DIMS], inner[TSR_ITER_MAX_OPERANDS];
    char *at[TSR_ITER_MAX_OPERANDS];
    int64_t rest = begin;
    for (int k = 0; k < it->noperands; k++) {
        at[k] = run->base[k];
        inner[k] = it->strides[k][0];
    }
    for (int d = 0; d < it->ndim; d++) {
        index[d] = rest % it->sizes[d];
        rest /= it->sizes[d];
        for (int k = 0; k < it->noperands; k++) at[k] += index[d] * it->strides[k][d];
    }
    for (int64_t pos = begin; pos < end;) {
        int64_t n = TSR_MIN(it->sizes[0] - index[0], end - pos);
        if (index[0] == 0 && it->ndim > 1 && n == it->sizes[0]) { /* all but the last of the lines along dimension 1 */
            int64_t lines = TSR_MIN(it->sizes[1] - index[1], (end - pos) / n) - 1;
            line_by_line(run, at, inner, n, lines);
            index[1] += lines;
            pos += lines * n;
        }
        run_inner(run, at, inner, n);
        pos += n;
        for (int k = 0; k < it->noperands; k++) at[k] -= index[0] * inner[k];
        index[0] = 0; /* the run reached the end of its line, or of the range */
        for (int d = 1; d < it->ndim; d++) {
            for (int k = 0; k < it->noperands; k++) at[k] += it->strides[k][d];
            if (++index[d] < it->sizes[d]) break;
            for (int k = 0; k < it->noperands; k++) at[k] -= index[d] * it->strides[k][d];
            index[d] = 0;
        }
    }
}

/* --- tiles: an input that runs along the second dimension is turned over in cache, a strip at a time: a cache line of
 * it high and many elements wide, so that the others are read in long stretches --- */

/* Elements of a tile along dimension 0: two operands' buffers of WIDTH cache lines are 64 KiB. */
enum { WIDTH = 512 };

typedef struct Tiles {
    Run run;
    unsigned turned;      /* bit k: operand k is copied by tiles */
    int64_t height;       /* of a tile, along dimension 1 */
    int64_t across, down; /* tiles along dimensions 0 and 1 */
} Tiles;

static void run_tile(const Tiles *t, char *const *corner, int64_t width, int64_t height) {
    _Alignas(64) char buffer[2][WIDTH * TSR_LINE];
    const TsrIter *it = t->run.it;
    char *row[TSR_ITER_MAX_OPERANDS], *at[TSR_ITER_MAX_OPERANDS];
    int64_t inner[TSR_ITER_MAX_OPERANDS], down[TSR_ITER_MAX_OPERANDS];
    int used = 0;
    for (int k = 0; k < it->noperands; k++) {
        row[k] = corner[k];
        inner[k] = it->strides[k][0];
        down[k] = it->strides[k][1];
        if (!(t->turned >> k & 1)) continue;
        size_t size = tsr_itemsize(it->operand[k]);
        row[k] = buffer[used++];
        down[k] = WIDTH * (int64_t)size;
        tsr_kernel_transpose(row[k], down[k], corner[k], inner[k], width, height, size);
        inner[k] = (int64_t)size;
    }
    for (int64_t j = 0; j < height; j++) {
        for (int k = 0; k < it->noperands; k++) at[k] = row[k] + j * down[k];
        run_inner(&t->run, at, inner, width);
    }
}

static void run_tiles(int64_t begin, int64_t end, void *user) {
    const Tiles *t = user;
    const TsrIter *it = t->run.it;
    for (int64_t tile = begin; tile < end; tile++) {
        char *corner[TSR_ITER_MAX_OPERANDS];
        int64_t y = tile % t->down * t->height, x = tile / t->down % t->across * WIDTH,
                rest = tile / t->across / t->down;
        for (int k = 0; k < it->noperands; k++)
            corner[k] = t->run.base[k] + x * it->strides[k][0] + y * it->strides[k][1];
        for (int d = 2; d < it->ndim; d++) {
            for (int k = 0; k < it->noperands; k++) corner[k] += rest % it->sizes[d] * it->strides[k][d];
            rest /= it->sizes[d];
        }
        run_tile(t, corner, TSR_MIN(it->sizes[0] - x, (int64_t)WIDTH), TSR_MIN(it->sizes[1] - y, t->height));
    }
}

/* Inputs whose elements are neighbours along dimension 1 and far apart along 0; at most two are turned. */
static unsigned turned_operands(const TsrIter *it) {
    unsigned turned = 0;
    int n = 0;
    if (it->ndim < 2 || it->sizes[0] < 16 || it->sizes[1] < 16 || it->numel < 2048 ||
        (it->flags & (TSR_ITER_SERIAL | TSR_ITER_LINEAR)))
        return 0;
    for (int k = 0; k < it->noperands; k++) {
        int64_t size = (int64_t)tsr_itemsize(it->operand[k]);
        bool across = it->strides[k][1] == size && it->strides[k][0] > size && size <= 8;
        if (across && k < it->nout) return 0;
        for (int j = 0; j < it->nout && across; j++)
            if (it->operand[j]->storage == it->operand[k]->storage) return 0; /* in place: keep to the plain order */
        if (across && n++ < 2) turned |= 1u << k;
    }
    return turned;
}

/* --- short lines: where an input is the same line again and again, as a bias beside rows is, copies of it side by side
 * make long ones --- */

enum { STRETCHED = 1024 /* elements */, MAX_COPIED = 2 /* operands */ };

/* How many lines become one; 1: none. `copied`: operands that are the same line at every place. */
static int64_t lines_in_one(const TsrIter *it, unsigned copied) {
    int n = 0;
    if (it->ndim < 2 || it->sizes[0] > STRETCHED / 8 || it->numel < 16 * STRETCHED || (it->flags & TSR_ITER_IN_ORDER))
        return 1;
    for (int k = 0; k < it->noperands; k++) {
        n += copied >> k & 1;
        if (!(copied >> k & 1) && it->strides[k][1] != it->strides[k][0] * it->sizes[0]) return 1;
    }
    int64_t lines = n == 0 || n > MAX_COPIED ? 1 : TSR_MIN(STRETCHED / it->sizes[0], it->sizes[1]);
    while (it->sizes[1] % lines != 0) lines--;
    return lines;
}

static unsigned copied_operands(const TsrIter *it) {
    unsigned copied = 0;
    for (int k = it->nout; k < it->noperands; k++) {
        bool same = it->strides[k][0] != 0;
        for (int d = 1; d < it->ndim; d++) same = same && it->strides[k][d] == 0;
        if (same) copied |= 1u << k;
    }
    return copied;
}

/* *wide: the run's iterator with longer lines, which the run then goes by. */
static void stretch(Run *run, TsrIter *wide, char copies[MAX_COPIED][STRETCHED * 16]) {
    unsigned copied = copied_operands(run->it);
    int64_t lines = copied != 0 ? lines_in_one(run->it, copied) : 1;
    if (lines == 1) return;
    *wide = *run->it;
    wide->sizes[0] *= lines;
    wide->sizes[1] /= lines;
    int used = 0;
    for (int k = 0; k < wide->noperands; k++) {
        wide->strides[k][1] *= lines;
        if (!(copied >> k & 1)) continue;
        int64_t item = (int64_t)tsr_itemsize(wide->operand[k]), line = wide->sizes[0] / lines;
        for (int64_t i = 0; i < lines; i++)
            tsr_kernel_move(copies[used] + i * line * item, item, run->base[k], wide->strides[k][0], line,
                            (size_t)item);
        wide->strides[k][0] = item;
        run->base[k] = copies[used++];
    }
    run->it = wide;
}

/* Numbers that a conversion would meet in every block are converted once. */
static void convert_numbers(Run *run, char cells[TSR_ITER_MAX_OPERANDS][16]) {
    const TsrIter *it = run->it;
    for (int k = it->nout; k < it->noperands; k++) {
        bool still = (run->converted >> k & 1) != 0 && !(it->flags & TSR_ITER_IN_ORDER);
        for (int d = 0; d < it->ndim; d++) still = still && it->strides[k][d] == 0;
        if (!still) continue;
        convert(it, k, strip_of_loop(it, k, cells[k]), (Strip){it->operand[k]->dtype, run->base[k], 0}, 1);
        run->base[k] = cells[k];
        run->converted &= ~(1u << k);
    }
}

static TsrStatus run_by_tiles(const Run *run, unsigned turned) {
    const TsrIter *it = run->it;
    int64_t widest = 1;
    for (int k = it->nout; k < it->noperands; k++)
        if (turned >> k & 1) widest = TSR_MAX(widest, (int64_t)tsr_itemsize(it->operand[k]));
    Tiles t = {*run, turned, TSR_LINE / widest, (it->sizes[0] + WIDTH - 1) / WIDTH, 0};
    t.down = (it->sizes[1] + t.height - 1) / t.height;
    int64_t outer = it->numel / (it->sizes[0] * it->sizes[1]);
    return tsr_parallel_for(t.across * t.down * outer, CHUNK_TILES, run_tiles, &t);
}

/* Not on the host. */
static TsrStatus run_away(const TsrIter *it, unsigned kernel, const void *params, size_t nparams) {
    TsrDeviceMap map;
    TsrDevice device;
    if (it->meta) return TSR_OK;
    if (kernel == TSR_K_NONE || nparams > TSR_DEVICE_PARAMS) return tsr_device_decline();
    TSR_TRY(tsr_device_map_of(&map, &device, it));
    map.kernel = (uint16_t)kernel;
    map.params = params;
    map.nparams = nparams;
    return tsr_device_map(device.type, &map);
}

TsrStatus tsr_iter_run(TsrIter *it, TsrLoop loop, const void *params) {
    return tsr_iter_run_kernel(it, loop, TSR_K_NONE, params, 0);
}

TsrStatus tsr_iter_run_kernel(TsrIter *it, TsrLoop loop, unsigned kernel, const void *params, size_t nparams) {
    _Alignas(64) char copies[MAX_COPIED][STRETCHED * 16], cells[TSR_ITER_MAX_OPERANDS][16];
    TsrIter wide;
    if (it->numel == 0) return TSR_OK;
    if (TSR_UNLIKELY(it->away)) return run_away(it, kernel, params, nparams);
    Run run = {.it = it, .loop = loop, .params = params};
    for (int k = 0; k < it->noperands; k++) {
        run.base[k] = tsr_data(it->operand[k]);
        if (it->loop_dtype[k] != it->operand[k]->dtype || (it->via >> k & 1)) run.converted |= 1u << k;
    }
    if (run.converted != 0) convert_numbers(&run, cells);
    unsigned turned = turned_operands(it);
    if (turned != 0) return run_by_tiles(&run, turned);
    stretch(&run, &wide, copies);
    int64_t least = PARALLEL_WORK / it->cost;
    if (it->numel > least && !(it->flags & TSR_ITER_SERIAL))
        return tsr_parallel_for(it->numel, tsr_grain(it->cost), run_range, &run);
    for (int64_t begin = 0; begin < it->numel; begin += POLL) {
        run_range(begin, TSR_MIN(begin + POLL, it->numel), &run);
        TSR_TRY(tsr_interrupt_check());
    }
    return TSR_OK;
}

/* --- lines along one dimension --- */

typedef struct Lines {
    int noperands, ndim; /* dimensions other than the line's */
    int64_t sizes[TSR_MAX_DIMS];
    int64_t strides[TSR_ITER_MAX_OPERANDS][TSR_MAX_DIMS];
    char *base[TSR_ITER_MAX_OPERANDS];
    int64_t step[TSR_ITER_MAX_OPERANDS], n[TSR_ITER_MAX_OPERANDS];
    TsrLineFn fn;
    const void *params;
} Lines;

static void run_lines(int64_t begin, int64_t end, void *user) {
    const Lines *l = user;
    char *at[TSR_ITER_MAX_OPERANDS];
    int64_t index[TSR_MAX_DIMS], rest = begin;
    for (int k = 0; k < l->noperands; k++) at[k] = l->base[k];
    for (int d = l->ndim - 1; d >= 0; d--) {
        index[d] = rest % l->sizes[d];
        rest /= l->sizes[d];
        for (int k = 0; k < l->noperands; k++) at[k] += index[d] * l->strides[k][d];
    }
    for (int64_t line = begin; line < end; line++) {
        l->fn(at, l->step, l->n, l->params);
        for (int d = l->ndim - 1; d >= 0; d--) {
            for (int k = 0; k < l->noperands; k++) at[k] += l->strides[k][d];
            if (++index[d] < l->sizes[d]) break;
            for (int k = 0; k < l->noperands; k++) at[k] -= index[d] * l->strides[k][d];
            index[d] = 0;
        }
    }
}

TsrStatus tsr_lines_run(TsrTensor *const *operands, int noperands, int64_t dim, TsrLineFn fn, const void *params,
                        bool serial) {
    Lines l = {.noperands = noperands, .fn = fn, .params = params};
    int64_t lines = 1, longest = 1;
    if (noperands < 1 || noperands > TSR_ITER_MAX_OPERANDS)
        return tsr_error(TSR_SYSTEM_ERROR, "lines of %d operands: there may be 1 to %d", noperands,
                         TSR_ITER_MAX_OPERANDS);
    for (int k = 0; k < noperands; k++)
        if (dim < 0 || dim >= TSR_MAX(tsr_ndim(operands[k]), 1))
            return tsr_error(TSR_SYSTEM_ERROR, "lines along dimension %lld of %d", (long long)dim,
                             tsr_ndim(operands[k]));
    for (int k = 0; k < noperands; k++) {
        const TsrTensor *t = operands[k];
        int64_t size = (int64_t)tsr_itemsize(t);
        if (tsr_is_meta(t)) return TSR_OK;
        l.base[k] = tsr_data(t);
        l.n[k] = tsr_ndim(t) == 0 ? 1 : t->sizes[dim];
        l.step[k] = tsr_ndim(t) == 0 ? 0 : tsr_layout_times(t->strides[dim], size);
        longest = TSR_MAX(longest, l.n[k]);
        for (int d = 0, m = 0; d < tsr_ndim(t); d++)
            if (d != dim) l.strides[k][m++] = tsr_layout_times(t->strides[d], size);
    }
    for (int d = 0; d < tsr_ndim(operands[0]); d++)
        if (d != dim) lines *= l.sizes[l.ndim++] = operands[0]->sizes[d];
    if (lines == 0) return TSR_OK;
    int64_t grain = tsr_grain(2 * longest);
    if (!serial && lines > 1 && lines * longest > PARALLEL_WORK) return tsr_parallel_for(lines, grain, run_lines, &l);
    for (int64_t i = 0; i < lines; i += grain) {
        run_lines(i, TSR_MIN(i + grain, lines), &l);
        TSR_TRY(tsr_interrupt_check());
    }
    return TSR_OK;
}
