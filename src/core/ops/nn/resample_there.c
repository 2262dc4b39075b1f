/* resample_there.c: interpolate on a device (resample_there.h): what is only moved is read by positions, sums have a
 * primitive of their own. */
#include "resample_there.h"

#include "core/engine/places.h"
#include "core/op/compose.h"
#include "core/tensor/owned.h"

static TsrStatus move_elements(TsrTensor *out, const TsrTensor *x, const TsrTaps *taps) {
    TSR_OWNED from = NULL;
    TSR_OWNED to = NULL;
    TSR_OWNED at = NULL;
    TSR_TRY(tsr_tensor_new_reshape(&from, x, 3, (int64_t[]){taps->outside, taps->volume, taps->inner}));
    TSR_TRY(tsr_tensor_new_reshape(&to, out, 3, (int64_t[]){taps->outside, taps->places, taps->inner}));
    TSR_TRY(tsr_tensor_new_reshape(&at, taps->at, 1, (int64_t[]){taps->places}));
    const TsrAlong along = {.index = at, .dim = 1, .rows = true, .wrong = TSR_WRONG_ROW};
    return tsr_pick_along(to, from, &along);
}

/* Dense elements as (outside, along, inner). */
static TsrStatus add_lines(TsrDeviceWork *w, const TsrTensor *t, const TsrTaps *taps, int64_t along, bool out) {
    const int64_t sizes[] = {taps->outside, along, taps->inner}, strides[] = {along * taps->inner, taps->inner, 1};
    return tsr_device_work_add_as(w, t, (TsrGeometry){3, sizes, strides, t->offset}, out);
}

TsrStatus tsr_resample_there(TsrTensor *out, const TsrTensor *x, const TsrTaps *taps) {
    TSR_OWNED dense = NULL;
    TSR_OWNED at = NULL;
    TSR_OWNED weight = NULL;
    TsrDeviceWork work = {.what = TSR_P_RESAMPLE};
    if (taps->weight == NULL) return move_elements(out, x, taps);
    TSR_TRY(tsr_tensor_new_contiguous(&dense, x, TSR_CONTIGUOUS));
    TSR_TRY(tsr_tensor_new_contiguous(&at, taps->at, TSR_CONTIGUOUS));
    TSR_TRY(tsr_tensor_new_contiguous(&weight, taps->weight, TSR_CONTIGUOUS));
    TSR_TRY(add_lines(&work, out, taps, taps->places, true));
    TSR_TRY(add_lines(&work, dense, taps, taps->volume, false));
    TSR_TRY(tsr_device_work_add(&work, at, false));
    TSR_TRY(tsr_device_work_add(&work, weight, false));
    return tsr_device_work(x->device.type, &work);
}

TsrStatus tsr_resample_plane_there(TsrTensor *out, const TsrTensor *x, TsrTensor *const sides[4], int64_t old_columns,
                                   TsrTaps taps) {
    TsrScope s = {0};
    const int64_t row[] = {2, 1, -1, 1}, column[] = {1, 2, 1, -1};
    TsrTensor *rows = CALL(&s, "reshape", "tI", sides[0], 4, row),
              *columns = CALL(&s, "reshape", "tI", sides[2], 4, column),
              *above = CALL(&s, "reshape", "tI", sides[1], 4, row),
              *beside = CALL(&s, "reshape", "tI", sides[3], 4, column),
              *line = CALL(&s, "mul", "ts", rows, tsr_scalar_int(old_columns)),
              *at = CALL(&s, "add", "tt", line, columns), *weight = CALL(&s, "mul", "tt", above, beside);
    TsrTensor *flat = CALL(&s, "reshape", "tI", at, 2, ((int64_t[]){4, -1})),
              *each = CALL(&s, "reshape", "tI", weight, 2, ((int64_t[]){4, -1}));
    taps.at = flat;
    taps.weight = each;
    if (s.status == TSR_OK) s.status = tsr_resample_there(out, x, &taps);
    return tsr_scope_end(&s);
}
