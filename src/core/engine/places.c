/* places.c: describes tensors and their positions for the backend of a device (places.h): all with the sizes of one
 * walk, what is indexed with strides of 0 there. */
#include "places.h"

#include <string.h>

#include "core/kernels/pointwise/table.h"
#include "core/tensor/loan.h"
#include "core/tensor/owned.h"
#include "core/view.h"

typedef struct Work {
    TsrDeviceWork work;
    TsrDevicePlaces places;
    int ndim;
    int64_t sizes[TSR_MAX_DIMS];
} Work;

static void begin(Work *w, TsrPrimitive what, TsrDeviceWrong wrong, TsrCombine how) {
    memset(&w->work, 0, sizeof w->work);
    memset(&w->places, 0, sizeof w->places);
    w->work.what = what;
    w->places.wrong = wrong;
    w->places.combine = (uint8_t)how;
}

/* t, with these strides, and with the walk's sizes. */
static TsrStatus add(Work *w, const TsrTensor *t, const int64_t *strides, bool out) {
    return tsr_device_work_add_as(&w->work, t, (TsrGeometry){w->ndim, w->sizes, strides, t->offset}, out);
}

static TsrStatus run(Work *w, const TsrTensor *t) {
    for (int d = 0; d < w->ndim; d++)
        if (w->sizes[d] == 0) return TSR_OK;
    w->work.params = &w->places;
    w->work.nparams = sizeof w->places;
    return tsr_device_work(t->device.type, &w->work);
}

/* ---- along one dimension ---- */

static void walk_along(Work *w, const TsrTensor *indexed, const TsrAlong *along) {
    const TsrTensor *like = along->rows ? indexed : along->index;
    w->ndim = TSR_MAX(tsr_ndim(like), 1);
    w->sizes[0] = 1;
    for (int d = 0; d < tsr_ndim(like); d++) w->sizes[d] = like->sizes[d];
    if (along->rows) w->sizes[along->dim] = along->index->numel;
}

static TsrStatus add_lines(Work *w, const TsrTensor *t, const TsrAlong *along, bool indexed, bool out) {
    int64_t strides[TSR_MAX_DIMS];
    for (int d = 0; d < w->ndim; d++) strides[d] = d < tsr_ndim(t) && !(indexed && d == along->dim) ? t->strides[d] : 0;
    return add(w, t, strides, out);
}

static TsrStatus add_positions(Work *w, const TsrTensor *indexed, const TsrAlong *along) {
    const TsrTensor *index = along->index;
    bool line = tsr_ndim(indexed) > 0;
    int64_t strides[TSR_MAX_DIMS] = {0};
    for (int d = 0; d < w->ndim && !along->rows; d++) strides[d] = d < tsr_ndim(index) ? index->strides[d] : 0;
    if (along->rows) strides[along->dim] = tsr_ndim(index) > 0 ? index->strides[0] : 0;
    w->places.n = 1;
    w->places.wraps = along->wraps;
    w->places.of[0].dim = along->dim;
    w->places.of[0].size = line ? indexed->sizes[along->dim] : 1;
    w->places.of[0].step = line ? indexed->strides[along->dim] * (int64_t)tsr_itemsize(indexed) : 0;
    return add(w, index, strides, false);
}

TsrStatus tsr_pick_along(TsrTensor *out, const TsrTensor *self, const TsrAlong *along) {
    Work w;
    begin(&w, TSR_P_PICK, along->wrong, TSR_COMBINE_SET);
    walk_along(&w, self, along);
    TSR_TRY(add_lines(&w, out, along, false, true));
    TSR_TRY(add_lines(&w, self, along, true, false));
    TSR_TRY(add_positions(&w, self, along));
    return run(&w, out);
}

TsrStatus tsr_place_along(TsrTensor *to, const TsrTensor *from, const TsrAlong *along, TsrCombine how) {
    Work w;
    begin(&w, TSR_P_PLACE, along->wrong, how);
    walk_along(&w, to, along);
    TSR_TRY(add_lines(&w, to, along, true, true));
    TSR_TRY(add_lines(&w, from, along, false, false));
    TSR_TRY(add_positions(&w, to, along));
    return run(&w, to);
}

/* ---- in several dimensions ---- */

static TsrStatus add_places(Work *w, const TsrTensor *view, const TsrPlace *places, int n) {
    if (n > TSR_DEVICE_PLACES) return tsr_device_decline();
    w->places.n = n;
    w->places.wraps = true;
    for (int k = 0; k < n; k++) {
        const TsrTensor *index = places[k].index;
        int64_t strides[TSR_MAX_DIMS];
        for (int d = 0; d < w->ndim; d++) strides[d] = index->sizes[d] == 1 ? 0 : index->strides[d];
        w->places.of[k].size = places[k].size;
        w->places.of[k].step = places[k].step * (int64_t)tsr_itemsize(view);
        w->places.of[k].dim = places[k].dim;
        TSR_TRY(add(w, index, strides, false));
    }
    return TSR_OK;
}

static TsrStatus run_places(Work *w, TsrTensor *out, const TsrTensor *in, const TsrTensor *view, const TsrPlace *places,
                            int n) {
    w->ndim = tsr_ndim(view);
    memcpy(w->sizes, view->sizes, sizeof *w->sizes * (size_t)w->ndim);
    TSR_TRY(add(w, out, out->strides, true));
    TSR_TRY(add(w, in, in->strides, false));
    TSR_TRY(add_places(w, view, places, n));
    return run(w, out);
}

TsrStatus tsr_pick(TsrTensor *out, const TsrTensor *view, const TsrPlace *places, int n, TsrDeviceWrong wrong) {
    Work w;
    begin(&w, TSR_P_PICK, wrong, TSR_COMBINE_SET);
    return run_places(&w, out, view, view, places, n);
}

TsrStatus tsr_place(TsrTensor *view, const TsrTensor *from, const TsrPlace *places, int n, TsrDeviceWrong wrong,
                    TsrCombine how) {
    Work w;
    begin(&w, TSR_P_PLACE, wrong, how);
    return run_places(&w, view, from, view, places, n);
}

/* ---- by a mask ---- */

/* A tensor of the host with that one element. */
static TsrStatus number_new(TsrTensor **out, TsrDtype dtype, const void *value) {
    TSR_TRY(tsr_tensor_new(out, 0, NULL, dtype, TSR_DEVICE_CPU));
    memcpy(tsr_data(*out), value, tsr_dtype_size(dtype));
    return TSR_OK;
}

/* t = mask ? number : t, as `where` has it. */
TsrStatus tsr_fill_where(TsrTensor *t, const TsrTensor *mask, const void *value) {
    TSR_OWNED number = NULL;
    TSR_OWNED done = NULL;
    TsrIter it;
    TSR_TRY(number_new(&number, t->dtype, value));
    const TsrDtype reads[3] = {TSR_BOOL, t->dtype, t->dtype};
    TsrIterSpec spec = {.nout = 1,
                        .out = {t},
                        .nin = 3,
                        .in = {mask, number, t},
                        .in_dtype = reads,
                        .has_dtype = true,
                        .dtype = t->dtype,
                        .flags = TSR_ITER_NO_RESIZE | TSR_ITER_NO_OVERLAP_CHECK,
                        .name = "masked_fill_"};
    TSR_TRY(tsr_iter_begin(&it, &spec));
    return tsr_iter_end_move(&it, tsr_iter_run_kernel(&it, tsr_kernel(TSR_K_where, t->dtype), TSR_K_where, NULL, 0),
                             &done);
}

TsrStatus tsr_new_there(TsrTensor **out, const TsrTensor *t, TsrDevice device) {
    TsrTensor *copy;
    if (t->device.type == device.type && t->device.index == device.index) {
        *out = tsr_tensor_retain((TsrTensor *)t);
        return TSR_OK;
    }
    TSR_TRY(tsr_tensor_new(&copy, tsr_ndim(t), t->sizes, t->dtype, device));
    TsrStatus status = tsr_tensor_copy(copy, t);
    if (status == TSR_OK) *out = copy;
    else tsr_tensor_free(copy);
    return status;
}
