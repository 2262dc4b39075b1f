/* dequantise.c: quantised tensors as the numbers that they stand for (dequantise.h). All is read as float64, which has
 * the whole numbers exactly, and multiplied as float32, as PyTorch does. */
#include "dequantise.h"

#include "core/tensor/owned.h"
#include "core/view.h"

bool tsr_quantised_fits(const TsrQuantised *scheme, const TsrTensor *q) {
    const TsrTensor *s = scheme->scales, *z = scheme->zeros;
    if (s == NULL) return true;
    return scheme->axis >= 0 && scheme->axis < tsr_ndim(q) && tsr_ndim(s) == 1 && tsr_ndim(z) == 1 &&
           s->numel == q->sizes[scheme->axis] && z->numel == s->numel && !tsr_dtype_is_complex(s->dtype) &&
           !tsr_dtype_is_complex(z->dtype);
}

static TsrStatus new_doubles(TsrTensor **out, const TsrTensor *from) {
    TSR_TRY(tsr_tensor_new(out, tsr_ndim(from), from->sizes, TSR_FLOAT64, TSR_DEVICE_CPU));
    return tsr_owned_keep(out, tsr_tensor_copy(*out, from));
}

/* Of all numbers q, in order. */
static TsrStatus multiply(TsrTensor *out, const TsrTensor *q, double scale, double zero) {
    const double *from = tsr_data(q);
    float *to = tsr_data(out);
    for (int64_t i = 0; i < out->numel; i++) {
        TSR_TRY(tsr_interrupt_check_at(i));
        to[i] = (float)(from[i] - zero) * (float)scale;
    }
    return TSR_OK;
}

static TsrStatus multiply_channels(TsrTensor *out, const TsrTensor *q, const TsrTensor *scales, const TsrTensor *zeros,
                                   int axis) {
    const double *from = tsr_data(q), *scale = tsr_data(scales), *zero = tsr_data(zeros);
    float *to = tsr_data(out);
    int64_t inner = 1;
    for (int d = axis + 1; d < tsr_ndim(out); d++) inner *= out->sizes[d];
    for (int64_t i = 0; i < out->numel; i++) {
        int64_t k = i / inner % scales->numel;
        TSR_TRY(tsr_interrupt_check_at(i));
        to[i] = (float)(from[i] - zero[k]) * (float)scale[k];
    }
    return TSR_OK;
}

static TsrStatus fill(TsrTensor *out, const TsrTensor *q, const TsrQuantised *scheme) {
    TSR_OWNED numbers = NULL;
    TSR_OWNED scales = NULL;
    TSR_OWNED zeros = NULL;
    TSR_TRY(new_doubles(&numbers, q));
    if (scheme->scales == NULL) return multiply(out, numbers, scheme->scale, scheme->zero);
    TSR_TRY(new_doubles(&scales, scheme->scales));
    TSR_TRY(new_doubles(&zeros, scheme->zeros));
    return multiply_channels(out, numbers, scales, zeros, (int)scheme->axis);
}

TsrStatus tsr_dequantise_new(TsrTensor **out, const TsrTensor *q, const TsrQuantised *scheme) {
    TSR_TRY(tsr_tensor_new(out, tsr_ndim(q), q->sizes, TSR_FLOAT32, q->device));
    return tsr_owned_keep(out, tsr_is_meta(q) ? TSR_OK : fill(*out, q, scheme));
}
