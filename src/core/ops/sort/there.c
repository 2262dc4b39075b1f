/* there.c: sorts on a device (there.h): the backend sorts dense lines; whatever lies otherwise is turned and copied.
 * Order statistics are what stands at their places in sorted lines. */
#include "there.h"

#include "core/op/compose.h"
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
