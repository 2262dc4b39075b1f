/* nn.c: what convolutions, pooling and their relatives share (nn.h): arguments such as kernel_size and stride, given as
 * one number or one a dimension, PyTorch's errors for them, and inputs in a dtype and a memory format that the loops
 * take. */
#include "nn.h"

#include <string.h>

#include "core/tensor/owned.h"

/* Windows over one dimension are PyTorch's over two, but for maxima without indices. */
static TsrStatus wrong_count(TsrNnInts q) {
    static const char *const words[] = {"", "one", "two", "three"};
    bool dilation = strcmp(q.name, "dilation") == 0;
    if (q.n == 1)
        return tsr_error(TSR_RUNTIME_ERROR, "%s() argument '%s' should contain one int (got %d)", q.fn, q.name,
                         q.arg->n);
    return tsr_error(TSR_RUNTIME_ERROR, "%s: %s must %s%sa single int, or a tuple of %s ints", q.fn, q.name,
                     dilation                          ? "be either "
                     : strcmp(q.fn, "avg_pool3d") == 0 ? "be "
                                                       : "either be ",
                     q.empty != NULL ? "omitted, " : "", words[q.n]);
}

TsrStatus tsr_nn_any_ints(int64_t *out, TsrNnInts q) {
    for (int d = 0; d < NN_DIMS; d++) out[d] = q.front;
    bool none = q.arg->kind == TSR_ARG_NONE || q.arg->n == 0;
    if (none && q.empty != NULL) memcpy(out, q.empty, NN_DIMS * sizeof *out);
    if (none && q.empty != NULL) return TSR_OK;
    if (q.arg->n != 1 && q.arg->n != q.n) return wrong_count(q);
    for (int d = 0; d < q.n; d++) out[NN_DIMS - q.n + d] = q.arg->ints[q.arg->n == 1 ? 0 : d];
    return TSR_OK;
}

TsrStatus tsr_nn_window_ints(int64_t *out, TsrNnInts q) {
    TSR_TRY(tsr_nn_any_ints(out, q));
    for (int d = NN_DIMS - q.n; d < NN_DIMS; d++)
        if (out[d] > INT32_MAX || out[d] < INT32_MIN)
            return tsr_error(TSR_RUNTIME_ERROR, "value cannot be converted to type int without overflow");
    return TSR_OK;
}

void tsr_nn_spatial(int64_t *out, const TsrTensor *t, int n) {
    for (int d = 0; d < NN_DIMS; d++) out[d] = d < NN_DIMS - n ? 1 : t->sizes[tsr_ndim(t) - NN_DIMS + d];
}

TsrDtype tsr_nn_computable(TsrDtype d) {
    if (d == TSR_COMPLEX32) return TSR_COMPLEX64;
    if (tsr_dtype_is_complex(d) || d == TSR_FLOAT64 || d == TSR_FLOAT32 || d == TSR_INT64) return d;
    return tsr_dtype_is_float(d) ? TSR_FLOAT32 : TSR_INT64;
}

TsrStatus tsr_nn_new_computable(TsrTensor **out, const TsrTensor *t, TsrMemoryFormat format) {
    TSR_OWNED cast = NULL;
    TSR_TRY(tsr_tensor_new_cast(&cast, t, tsr_nn_computable(t->dtype)));
    return tsr_tensor_new_contiguous(out, cast, format);
}

TsrStatus tsr_nn_new_channels_last(TsrTensor **out, TsrTensor *t) {
    int64_t strides[5];
    int ndim = tsr_ndim(t);
    tsr_layout_channels_last_strides(strides, ndim, t->sizes);
    if (memcmp(strides, t->strides, sizeof(int64_t) * (size_t)ndim) != 0)
        return tsr_tensor_new_clone(out, t, ndim == 4 ? TSR_CHANNELS_LAST : TSR_CHANNELS_LAST_3D);
    *out = tsr_tensor_retain(t);
    return TSR_OK;
}

TsrStatus tsr_nn_place_last(TsrTensor **slot) {
    TsrTensor *placed;
    TSR_TRY(tsr_nn_new_channels_last(&placed, *slot));
    tsr_owned_put_move(slot, placed);
    return TSR_OK;
}

TsrStatus tsr_nn_restore(TsrTensor **slot, TsrDtype dtype, const TsrTensor *like) {
    TsrTensor *cast;
    TSR_TRY(tsr_tensor_new_cast(&cast, *slot, dtype));
    tsr_owned_put_move(slot, cast);
    int spatial = tsr_ndim(cast) - 2;
    bool last = like != NULL && (spatial == 2 || spatial == 3) && tsr_nn_is_channels_last(like, spatial);
    return last ? tsr_nn_place_last(slot) : TSR_OK;
}

bool tsr_nn_is_channels_last(const TsrTensor *t, int n) {
    int64_t sizes[5], strides[5];
    int ndim = tsr_ndim(t);
    if (ndim != n + 2) return false;
    memcpy(sizes, t->sizes, sizeof(int64_t) * (size_t)ndim);
    memcpy(strides, t->strides, sizeof(int64_t) * (size_t)ndim);
    if (n == 1) {
        sizes[3] = sizes[2], strides[3] = strides[2];
        strides[2] = sizes[2] * strides[2];
        sizes[2] = 1;
        ndim = 4;
    }
    return tsr_layout_is_channels_last_strides(ndim, sizes, strides);
}

TsrStatus tsr_nn_planes_new(TsrTensor **out, TsrTensor *t, int n, bool single, bool back) {
    TSR_OWNED batched = NULL;
    if (!single) batched = tsr_tensor_retain(t);
    else if (back) TSR_TRY(tsr_tensor_new_squeeze(&batched, t, 1, (int64_t[]){0}));
    else TSR_TRY(tsr_tensor_new_unsqueeze(&batched, t, 0));
    if (n > 1) *out = tsr_owned_take(&batched);
    else if (back) TSR_TRY(tsr_tensor_new_squeeze(out, batched, 1, (int64_t[]){single ? 1 : 2}));
    else TSR_TRY(tsr_tensor_new_unsqueeze(out, batched, 2));
    return TSR_OK;
}

TsrStatus tsr_nn_place_lines(TsrTensor **slot, const TsrTensor *like) {
    TSR_OWNED planes = NULL;
    TSR_OWNED placed = NULL;
    TsrTensor *lines;
    if (tsr_ndim(*slot) != 3 || !tsr_nn_is_channels_last(like, 1)) return TSR_OK;
    TSR_TRY(tsr_nn_planes_new(&planes, *slot, 1, false, false));
    TSR_TRY(tsr_nn_new_channels_last(&placed, planes));
    TSR_TRY(tsr_nn_planes_new(&lines, placed, 1, false, true));
    tsr_owned_put_move(slot, lines);
    return TSR_OK;
}

int tsr_nn_output_sizes(int64_t *sizes, const TsrTensor *t, int n, const int64_t *out) {
    int ndim = tsr_ndim(t);
    memcpy(sizes, t->sizes, sizeof(int64_t) * (size_t)ndim);
    for (int d = 0; d < n; d++) sizes[ndim - n + d] = out[NN_DIMS - n + d];
    return ndim;
}

/* ---- on a device ---- */

TsrStatus tsr_nn_work_add(TsrDeviceWork *work, const TsrTensor *t, int n, bool out) {
    int64_t sizes[2 + NN_DIMS], strides[2 + NN_DIMS];
    const int ndim = tsr_ndim(t), batched = ndim - n - 1;
    for (int d = 0; d < 2 + NN_DIMS; d++) sizes[d] = 1, strides[d] = 0;
    if (batched) sizes[0] = t->sizes[0], strides[0] = t->strides[0];
    sizes[1] = t->sizes[batched], strides[1] = t->strides[batched];
    memcpy(sizes + 2 + NN_DIMS - n, t->sizes + batched + 1, sizeof *sizes * (size_t)n);
    memcpy(strides + 2 + NN_DIMS - n, t->strides + batched + 1, sizeof *strides * (size_t)n);
    return tsr_device_work_add_as(work, t, (TsrGeometry){2 + NN_DIMS, sizes, strides, t->offset}, out);
}

TsrDeviceWindow tsr_nn_device_window(const TsrNnWindow *w) {
    TsrDeviceWindow to;
    for (int d = 0; d < NN_DIMS; d++) {
        to.kernel[d] = w->kernel[NN_W - d];
        to.stride[d] = w->stride[NN_W - d];
        to.pad[d] = w->pad[NN_W - d];
        to.dilation[d] = w->dilation[NN_W - d];
    }
    return to;
}
