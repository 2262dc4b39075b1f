#include "io_elements.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "number.h"
#include "view.h"

TsrStatus tsr_check_shape(const TsrInput *in, int64_t *numel, size_t *nbytes, int ndim, const int64_t *shape, TsrDtype dtype) {
    int64_t product = 1, bytes;
    for (int d = 0; d < ndim; d++) /* a size of 0 does not excuse the others */
        if (shape[d] < 0 || tsr_mul_overflows(product, TSR_MAX(shape[d], 1), &product)) return tsr_input_error(in, "its shape overflows");
    if (tsr_mul_overflows(product, (int64_t)tsr_dtype_size(dtype), &bytes)) return tsr_input_error(in, "its shape overflows");
    for (int d = 0; d < ndim; d++)
        if (shape[d] == 0) product = 0;
    *numel = product;
    *nbytes = (size_t)product * tsr_dtype_size(dtype);
    return TSR_OK;
}

TsrStatus tsr_write_elements(TsrSink *sink, const TsrTensor *t) {
    TsrTensor *dense;
    if (!tsr_dtype_is_pod(t->dtype)) return tsr_error(TSR_VALUE_ERROR, "elements of torch.%s have no bytes of their own", tsr_dtype_name(t->dtype));
    TSR_TRY(tsr_tensor_new_contiguous(&dense, t, TSR_CONTIGUOUS));
    TsrTensor *resolved;
    TsrStatus status = tsr_tensor_new_resolved(&resolved, dense);
    tsr_tensor_free(dense);
    TSR_TRY(status);
    if (resolved->numel > 0) tsr_sink_write(sink, tsr_data(resolved), (size_t)resolved->numel * tsr_itemsize(resolved));
    tsr_tensor_free(resolved);
    return sink->status;
}

static size_t format_real(char *buffer, double value, TsrDtype dtype, int precision, bool whole_point) {
    bool narrow = dtype != TSR_FLOAT64 && dtype != TSR_COMPLEX128;
    size_t n = precision > 0 && isfinite(value) ? (size_t)snprintf(buffer, 48, "%.*g", TSR_MIN(precision, 17), value)
               : narrow                         ? tsr_format_float(buffer, (float)value)
                                                : tsr_format_double(buffer, value);
    if (!whole_point && n > 2 && memcmp(buffer + n - 2, ".0", 3) == 0) buffer[n -= 2] = '\0';
    if (whole_point && isfinite(value) && strpbrk(buffer, ".e") == NULL) {
        memcpy(buffer + n, ".0", 3);
        n += 2;
    }
    return n;
}

size_t tsr_format_element(char *buffer, TsrScalar value, TsrDtype dtype, int precision, bool whole_point) {
    switch (value.kind) {
    case TSR_SCALAR_BOOL: return (size_t)snprintf(buffer, 48, "%s", value.b ? "true" : "false");
    case TSR_SCALAR_INT: return tsr_format_integer(buffer, value.i < 0, value.i < 0 ? 0 - (uint64_t)value.i : (uint64_t)value.i);
    case TSR_SCALAR_UINT: return tsr_format_integer(buffer, false, value.u);
    default: return format_real(buffer, tsr_scalar_to_double(value), dtype, precision, whole_point);
    }
}
