/* there.c: sorts on a device (there.h): the backend sorts dense lines; whatever lies otherwise is turned and copied.
 * Order statistics are what stands at their places in sorted lines. */
#include "there.h"

#include "core/op/compose.h"
#include "core/ops/create/create.h"
#include "core/op/shared.h"
#include "core/tensor/owned.h"

/* Row-major lines along the last dimension, sorted: *values and *indices, whose dimensions are in self's order but for
 * `dim`, which has changed places with the last. */
static TsrStatus sorted_new(TsrTensor **values, TsrTensor **indices, const TsrTensor *self, int64_t dim,
                            bool descending) {
    TSR_OWNED lines = NULL;
    TSR_OWNED turned = NULL;
    TSR_OWNED dense = NULL;
    const TsrDeviceSort how = {descending};
    TsrDeviceWork work = {.what = TSR_P_SORT, .params = &how, .nparams = sizeof how};
    TSR_TRY(tsr_at_least_1d_new(&lines, self));
    TSR_TRY(tsr_tensor_new_transpose(&turned, lines, dim, -1));
    TSR_TRY(tsr_tensor_new_contiguous(&dense, turned, TSR_CONTIGUOUS));
    TSR_TRY(tsr_tensor_new(values, tsr_ndim(dense), dense->sizes, dense->dtype, dense->device));
    TSR_TRY(tsr_tensor_new(indices, tsr_ndim(dense), dense->sizes, TSR_INT64, dense->device));
    TSR_TRY(tsr_device_work_add(&work, *values, true));
    TSR_TRY(tsr_device_work_add(&work, *indices, true));
    TSR_TRY(tsr_device_work_add(&work, dense, false));
    return tsr_device_work(self->device.type, &work);
}

/* The first elements of sorted lines, turned back. */
static TsrStatus copy_first(TsrTensor *to, const TsrTensor *sorted, int64_t dim) {
    TSR_OWNED lines = NULL;
    TSR_OWNED turned = NULL;
    TSR_OWNED first = NULL;
    TSR_TRY(tsr_at_least_1d_new(&lines, to));
    TSR_TRY(tsr_tensor_new_transpose(&turned, sorted, dim, -1));
    TSR_TRY(tsr_tensor_new_narrow(&first, turned, dim, 0, lines->sizes[dim]));
    return tsr_tensor_copy(lines, first);
}

TsrStatus tsr_sort_there(TsrTensor *values, TsrTensor *indices, const TsrTensor *self, int64_t dim, bool descending) {
    TSR_OWNED sorted = NULL;
    TSR_OWNED places = NULL;
    TSR_TRY(sorted_new(&sorted, &places, self, dim, descending));
    TSR_TRY(copy_first(values, sorted, dim));
    return copy_first(indices, places, dim);
}

/* What stands at place k of sorted lines, turned back; `k` has a size of 1 along the last dimension. */
static TsrStatus copy_places(TsrTensor *to, const TsrTensor *sorted, const TsrTensor *k, int64_t dim) {
    TSR_OWNED lines = NULL;
    TSR_OWNED turned = NULL;
    TSR_OWNED picked = NULL;
    const TsrAlong along = {.index = k, .dim = tsr_ndim(sorted) - 1};
    TSR_TRY(tsr_tensor_new(&picked, tsr_ndim(k), k->sizes, sorted->dtype, sorted->device));
    TSR_TRY(tsr_pick_along(picked, sorted, &along));
    TSR_TRY(tsr_at_least_1d_new(&lines, to));
    TSR_TRY(tsr_tensor_new_transpose(&turned, picked, dim, -1));
    return tsr_tensor_copy(lines, turned);
}

static TsrStatus pick_places(TsrTensor *values, TsrTensor *indices, const TsrTensor *sorted, const TsrTensor *places,
                             const TsrTensor *k, int64_t dim) {
    TSR_TRY(copy_places(values, sorted, k, dim));
    return copy_places(indices, places, k, dim);
}

TsrStatus tsr_kth_there(TsrTensor *values, TsrTensor *indices, const TsrTensor *self, int64_t dim, int64_t k) {
    TSR_OWNED sorted = NULL;
    TSR_OWNED places = NULL;
    TSR_OWNED value = NULL;
    TSR_OWNED index = NULL;
    TSR_TRY(sorted_new(&sorted, &places, self, dim, false));
    TSR_TRY(tsr_tensor_new_narrow(&value, sorted, -1, k, 1));
    TSR_TRY(tsr_tensor_new_narrow(&index, places, -1, k, 1));
    TSR_TRY(copy_first(values, value, dim));
    return copy_first(indices, index, dim);
}

/* Where the medians stand in sorted lines, in which nan comes last: the last dimension has a size of 1. */
static TsrStatus median_places_new(TsrTensor **out, const TsrTensor *sorted, bool ignore_nan) {
    int64_t last = tsr_ndim(sorted) - 1, size = sorted->sizes[last];
    TsrScope s = {0};
    TsrTensor *nan = CALL(&s, "ne", "tt", (TsrTensor *)sorted, (TsrTensor *)sorted),
              *nans = CALL(&s, "sum", "tIb", nan, 1, &last, true);
    TsrTensor *first = CALL(&s, "rsub", "ts", nans, tsr_scalar_int(size)); /* nan, or as many as are none */
    TsrTensor *most = CALL(&s, "sub", "ts", first, tsr_scalar_int(1)),
              *half = CALL(&s, "div", "tsc", most, tsr_scalar_int(2), "floor"),
              *middle = CALL(&s, "clamp_min", "ts", half, tsr_scalar_int(0));
    TsrTensor *any = CALL(&s, "gt", "ts", nans, tsr_scalar_int(0));
    return tsr_scope_end_new(out, &s, ignore_nan ? middle : CALL(&s, "where", "ttt", any, first, middle));
}

TsrStatus tsr_median_there(TsrTensor *values, TsrTensor *indices, const TsrTensor *self, int64_t dim, bool ignore_nan) {
    TSR_OWNED sorted = NULL;
    TSR_OWNED places = NULL;
    TSR_OWNED k = NULL;
    TSR_TRY(sorted_new(&sorted, &places, self, dim, false));
    if (!tsr_dtype_is_float(self->dtype))
        return tsr_kth_there(values, indices, self, dim, (sorted->sizes[tsr_ndim(sorted) - 1] - 1) / 2);
    TSR_TRY(median_places_new(&k, sorted, ignore_nan));
    return pick_places(values, indices, sorted, places, k, dim);
}

static TsrStatus counted_new(TsrTensor **out, const TsrTensor *like, int64_t n) {
    TSR_TRY(tsr_tensor_new(out, 1, &n, TSR_INT64, like->device));
    return tsr_create_fill_arange(*out, tsr_scalar_int(0), tsr_scalar_int(1));
}

/* Where in its sorted line each element's run of equals begins. */
static TsrStatus run_begins_new(TsrTensor **out, const TsrTensor *sorted, TsrTensor *counted) {
    int64_t last = tsr_ndim(sorted) - 1, n = sorted->sizes[last];
    TsrScope s = {0};
    TsrTensor *zero = MAKE(&s, tsr_tensor_new_scalar, tsr_scalar_int(0), TSR_INT64);
    TsrTensor *changes = MAKE(&s, tsr_zeros_new, tsr_ndim(sorted), sorted->sizes, TSR_INT64, sorted->device),
              *later = SLICE(&s, changes, last, 1, n), *right = SLICE(&s, (TsrTensor *)sorted, last, 1, n),
              *left = SLICE(&s, (TsrTensor *)sorted, last, 0, n - 1), *places = SLICE(&s, counted, 0, 1, n);
    TsrTensor *differ = CALL(&s, "ne", "tt", right, left), *at = CALL(&s, "where", "ttt", differ, places, zero);
    if (s.status == TSR_OK) s.status = tsr_tensor_copy(later, at);
    TsrTensor *both[2] = {NULL, NULL};
    if (s.status == TSR_OK) s.status = tsr_invoke_new(both, 2, "cummax", "ti", changes, last);
    tsr_tensor_free(both[1]);
    if (both[0] != NULL) s.next = both[0], (void)tsr_scope_keep(&s, TSR_OK);
    return tsr_scope_end_new(out, &s, both[0]);
}

TsrStatus tsr_mode_there(TsrTensor *values, TsrTensor *indices, const TsrTensor *self, int64_t dim) {
    TSR_OWNED sorted = NULL;
    TSR_OWNED places = NULL;
    TSR_OWNED counted = NULL;
    TSR_OWNED begins = NULL;
    TSR_OWNED lengths = NULL;
    TSR_OWNED k = NULL;
    TSR_TRY(sorted_new(&sorted, &places, self, dim, false));
    TSR_TRY(counted_new(&counted, sorted, sorted->sizes[tsr_ndim(sorted) - 1]));
    TSR_TRY(run_begins_new(&begins, sorted, counted));
    TSR_TRY(tsr_invoke_new(&lengths, 1, "sub", "tt", counted, begins));
    TSR_TRY(tsr_invoke_new(&k, 1, "argmax", "tib", lengths, (int64_t)-1, 1));
    return pick_places(values, indices, sorted, places, k, dim);
}

TsrTensor *tsr_run_starts(TsrScope *s, TsrTensor *line) {
    int64_t n = line != NULL ? line->numel : 0;
    TsrTensor *begins = line != NULL ? MAKE(s, tsr_tensor_new, 1, &n, TSR_BOOL, line->device) : NULL;
    if (s->status == TSR_OK) s->status = tsr_tensor_fill(begins, tsr_scalar_bool(true));
    TsrTensor *rest = SLICE(s, begins, 0, 1, INT64_MAX), *left = SLICE(s, line, 0, 0, -1),
              *right = SLICE(s, line, 0, 1, INT64_MAX), *differ = CALL(s, "ne", "tt", left, right);
    if (s->status == TSR_OK) s->status = tsr_tensor_copy(rest, differ);
    return begins;
}

/* ---- quantiles ---- */

/* Where in sorted lines of n elements, nan last, the quantiles q lie: float64, along the last dimension. */
static TsrStatus ranks_new(TsrTensor **out, TsrTensor *sorted, TsrTensor *q, TsrInterpolation how, bool ignore_nan) {
    static const char *const rounded[] = {[TSR_QUANTILE_LOWER] = "floor",
                                          [TSR_QUANTILE_HIGHER] = "ceil",
                                          [TSR_QUANTILE_MIDPOINT] = NULL,
                                          [TSR_QUANTILE_NEAREST] = "round"};
    int64_t last = tsr_ndim(sorted) - 1, n = sorted->sizes[last];
    TsrScope s = {0};
    TsrTensor *nan = CALL(&s, "ne", "tt", sorted, sorted), *nans = CALL(&s, "sum", "tIb", nan, 1, &last, true);
    TsrTensor *valid = CALL(&s, "rsub", "ts", nans, tsr_scalar_int(n)),
              *most = CALL(&s, "sub", "ts", valid, tsr_scalar_int(1)), *wide = CALL(&s, "to", "td", most, TSR_FLOAT64);
    TsrTensor *ranks = CALL(&s, "mul", "tt", wide, q), *least = CALL(&s, "clamp_min", "ts", ranks, tsr_scalar_int(0));
    if (!ignore_nan) { /* a line with nan: the last element */
        TsrTensor *end = MAKE(&s, tsr_tensor_new_scalar, tsr_scalar_float((double)(n - 1)), TSR_FLOAT64);
        TsrTensor *any = CALL(&s, "gt", "ts", nans, tsr_scalar_int(0));
        least = CALL(&s, "where", "ttt", any, end, ranks);
    }
    return tsr_scope_end_new(out, &s, rounded[how] != NULL ? CALL(&s, rounded[how], "t", least) : least);
}

/* The elements at whole ranks. */
static TsrStatus at_ranks_new(TsrTensor **out, const TsrTensor *sorted, TsrTensor *ranks, const char *rounded) {
    TSR_OWNED whole = NULL;
    TSR_OWNED places = NULL;
    TSR_OWNED picked = NULL;
    TSR_TRY(tsr_invoke_new(&whole, 1, rounded, "t", ranks));
    TSR_TRY(tsr_tensor_new_cast(&places, whole, TSR_INT64));
    TSR_TRY(tsr_tensor_new(&picked, tsr_ndim(places), places->sizes, sorted->dtype, sorted->device));
    TSR_TRY(tsr_pick_along(picked, sorted, &(TsrAlong){.index = places, .dim = tsr_ndim(sorted) - 1}));
    *out = tsr_owned_take(&picked);
    return TSR_OK;
}

/* Between the elements below and above a rank: their mean, or by how far it is from the lower one. */
static TsrStatus between_new(TsrTensor **out, const TsrTensor *sorted, TsrTensor *ranks, bool middle) {
    TsrScope s = {0};
    TsrTensor *below = MAKE(&s, at_ranks_new, sorted, ranks, "floor"),
              *above = MAKE(&s, at_ranks_new, sorted, ranks, "ceil"), *floor = CALL(&s, "floor", "t", ranks),
              *rest = CALL(&s, "sub", "tt", ranks, floor), *weight = MAKE(&s, tsr_tensor_new_cast, rest, sorted->dtype);
    if (middle) return tsr_scope_end_new(out, &s, CALL(&s, "lerp", "tts", below, above, tsr_scalar_float(0.5)));
    return tsr_scope_end_new(out, &s, CALL(&s, "lerp", "ttt", below, above, weight));
}

TsrStatus tsr_quantile_there(TsrTensor *out, const TsrTensor *self, int64_t dim, const TsrTensor *q,
                             TsrInterpolation how, bool ignore_nan) {
    TSR_OWNED sorted = NULL;
    TSR_OWNED places = NULL;
    TSR_OWNED wide = NULL;
    TSR_OWNED line = NULL;
    TSR_OWNED ranks = NULL;
    TSR_OWNED found = NULL;
    TSR_OWNED turned = NULL;
    bool between = how == TSR_QUANTILE_LINEAR || how == TSR_QUANTILE_MIDPOINT;
    TSR_TRY(sorted_new(&sorted, &places, self, dim, false));
    TSR_TRY(tsr_tensor_new(&wide, 1, &q->numel, TSR_FLOAT64, self->device));
    TSR_TRY(tsr_tensor_new_reshape(&line, q, 1, &q->numel));
    TSR_TRY(tsr_tensor_copy(wide, line));
    TSR_TRY(ranks_new(&ranks, sorted, wide, how, ignore_nan));
    TSR_TRY(between ? between_new(&found, sorted, ranks, how == TSR_QUANTILE_MIDPOINT)
                    : at_ranks_new(&found, sorted, ranks, "floor"));
    TSR_TRY(tsr_tensor_new_transpose(&turned, found, dim, -1));
    return tsr_tensor_copy(out, turned);
}
