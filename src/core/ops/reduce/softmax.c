/* softmax.c: softmax, log_softmax, softmin.
 *
 * Along the last dimension a line is one call of the kernel (kernels/reduce/softmax.h): greatest, exponentials and
 * their sum, division. Along another one with many elements inside, strips of neighbouring lines go side by side, so
 * that memory is read in order; with few inside, the dimension is moved last and the result put back. Which of them it
 * is shows in the last digit, so the cases are PyTorch's. */
#include <math.h>

#include "core/engine/device.h"
#include "core/kernels/reduce/softmax.h"
#include "core/ops/pointwise/pointwise.h"
#include "core/tensor/loan.h"

typedef struct Line {
    TsrSoftmaxFn fn;
    TsrDtype half;
} Line;

static void run_line(char *const *data, const int64_t *stride, const int64_t *n, const void *params) {
    const Line *line = params;
    (void)stride;
    line->fn(data[0], data[1], n[0], line->half);
}

/* x is contiguous, float32 or float64, and overwritten when it is `spare`; along its last dimension, which may have
 * been another one before. `half` as in softmax.h. */
static TsrStatus softmax_last(TsrTensor **out, TsrTensor *x, TsrTensor *spare, bool log, TsrSoftmaxWay way,
                              TsrDtype half) {
    TsrTensor *result;
    Line line = {tsr_softmax_kernel(log, way, x->dtype), half};
    if (spare == x) result = tsr_tensor_retain(x);
    else TSR_TRY(tsr_tensor_new_like(&result, x, TSR_DTYPE_NONE, TSR_CONTIGUOUS));
    TsrTensor *operands[] = {result, x};
    TsrStatus s =
        x->numel == 0 ? TSR_OK : tsr_lines_run(operands, 2, TSR_MAX(tsr_ndim(x) - 1, 0), run_line, &line, false);
    if (s != TSR_OK) tsr_tensor_free(result);
    else *out = result;
    return s;
}

/* [outer][n][inner]: strips of neighbouring lines. */
typedef struct Columns {
    TsrSoftmaxColumnsFn fn;
    char *out;
    const char *x;
    int64_t n, inner, item;
    TsrDtype half;
} Columns;

enum { HALF_VECTOR = 32 }; /* elements */

/* Of half floats PyTorch rounds the exponentials only where no whole vector is left. */
static void run_strip(const Columns *j, int64_t at, int64_t column, int64_t width) {
    int64_t exact = j->half == TSR_DTYPE_NONE
                        ? width
                        : TSR_MIN(TSR_MAX(j->inner / HALF_VECTOR * HALF_VECTOR - column, (int64_t)0), width);
    if (exact > 0) j->fn(j->out + at, j->x + at, j->n, j->inner, exact, TSR_DTYPE_NONE);
    at += exact * j->item;
    if (exact < width) j->fn(j->out + at, j->x + at, j->n, j->inner, width - exact, j->half);
}

static void run_strips(int64_t begin, int64_t end, void *user) {
    const Columns *j = user;
    int64_t strips = (j->inner + TSR_SOFTMAX_STRIP - 1) / TSR_SOFTMAX_STRIP;
    for (int64_t i = begin; i < end; i++) {
        int64_t column = i % strips * TSR_SOFTMAX_STRIP, at = (i / strips * j->n * j->inner + column) * j->item;
        run_strip(j, at, column, TSR_MIN(j->inner - column, (int64_t)TSR_SOFTMAX_STRIP));
    }
}

static int64_t elements_inside(const TsrTensor *x, int64_t dim) {
    int64_t inner = 1;
    for (int64_t i = dim + 1; i < tsr_ndim(x); i++) inner *= x->sizes[i];
    return inner;
}

/* Along a dimension with many elements inside; otherwise as softmax_last. */
static TsrStatus softmax_inner(TsrTensor **out, TsrTensor *x, TsrTensor *spare, int64_t dim, bool log, TsrDtype half) {
    TsrTensor *dense, *result = NULL;
    TSR_TRY(tsr_tensor_new_contiguous(&dense, x, TSR_CONTIGUOUS));
    TsrStatus s = TSR_OK;
    if (spare == dense) result = tsr_tensor_retain(dense);
    else s = tsr_tensor_new_like(&result, dense, TSR_DTYPE_NONE, TSR_CONTIGUOUS);
    if (s == TSR_OK && dense->numel > 0 && !tsr_is_meta(dense)) {
        int64_t n = x->sizes[dim], inner = elements_inside(x, dim),
                strips = (inner + TSR_SOFTMAX_STRIP - 1) / TSR_SOFTMAX_STRIP;
        Columns job = {tsr_softmax_columns(log, x->dtype),
                       tsr_data(result),
                       tsr_data(dense),
                       n,
                       inner,
                       (int64_t)tsr_itemsize(x),
                       half};
        s = tsr_parallel_for(dense->numel / n / inner * strips,
                             tsr_grain(4 * n * TSR_MIN(inner, (int64_t)TSR_SOFTMAX_STRIP)), run_strips, &job);
    }
    tsr_tensor_free(dense);
    if (s != TSR_OK) tsr_tensor_free(result);
    else *out = result;
    return s;
}

/* Along another dimension with few elements inside: it is moved last, and the result put back in row-major order. */
static TsrStatus softmax_any(TsrTensor **out, TsrTensor *x, TsrTensor *spare, int64_t dim, bool log, TsrDtype d) {
    TsrTensor *moved = NULL, *dense = NULL, *result = NULL, *back = NULL;
    int64_t last = TSR_MAX(tsr_ndim(x) - 1, 0), vectors = 2 * 64 / (int64_t)tsr_itemsize(x);
    TsrDtype half = d == TSR_FLOAT16 || d == TSR_BFLOAT16 ? d : TSR_DTYPE_NONE;
    if (dim != last && elements_inside(x, dim) >= vectors) return softmax_inner(out, x, spare, dim, log, half);
    if (dim == last) moved = tsr_tensor_retain(x);
    else TSR_TRY(tsr_tensor_new_transpose(&moved, x, dim, last));
    TsrStatus s = tsr_tensor_new_contiguous(&dense, moved, TSR_CONTIGUOUS);
    if (s == TSR_OK)
        s = softmax_last(&result, dense, spare, log, dim == last ? TSR_SOFTMAX_LAST : TSR_SOFTMAX_FEW, half);
    tsr_tensor_free(moved);
    tsr_tensor_free(dense);
    if (s != TSR_OK || dim == last) {
        *out = result;
        return s;
    }
    s = tsr_tensor_new_transpose(&back, result, dim, last);
    if (s == TSR_OK) s = tsr_tensor_new_clone(out, back, TSR_CONTIGUOUS);
    tsr_tensor_free(result);
    tsr_tensor_free(back);
    return s;
}

/* On a device, x of dtype d. */
static TsrStatus softmax_there(TsrTensor **out, TsrTensor *x, int64_t dim, bool log) {
    TsrTensor *dense, *result = NULL;
    TsrDeviceWork work = {.what = TSR_P_SOFTMAX, .dim = (int)(TSR_MAX(tsr_ndim(x) - 1, 0) - dim)};
    work.params = &(TsrDeviceSoftmax){log};
    work.nparams = sizeof(TsrDeviceSoftmax);
    TSR_TRY(tsr_tensor_new_contiguous(&dense, x, TSR_CONTIGUOUS));
    TsrStatus s = tsr_tensor_new_like(&result, dense, TSR_DTYPE_NONE, TSR_CONTIGUOUS);
    if (s == TSR_OK) s = tsr_device_work_add(&work, result, true);
    if (s == TSR_OK) s = tsr_device_work_add(&work, dense, false);
    if (s == TSR_OK && x->numel > 0) s = tsr_device_work(x->device.type, &work);
    tsr_tensor_free(dense);
    if (s != TSR_OK) tsr_tensor_free(result);
    else *out = result;
    return s;
}

static TsrStatus softmax_as(TsrTensor **out, TsrTensor *x, TsrTensor *spare, int64_t dim, TsrDtype d, bool log) {
    TsrTensor *wide = NULL, *result = NULL;
    TSR_TRY(tsr_wrap_dim(&dim, tsr_ndim(x)));
    bool last = dim == TSR_MAX(tsr_ndim(x) - 1, 0);
    if (!tsr_in(D_FLOAT, d) && x->numel > 0)
        return tsr_not_implemented(log ? (last ? "log_softmax_lastdim_kernel_impl" : "log_softmax_kernel_impl")
                                       : (last ? "softmax_lastdim_kernel_impl" : "softmax_kernel_impl"),
                                   d);
    if (x->dtype != d) { /* a given dtype rounds first */
        TSR_TRY(tsr_tensor_new_cast(&wide, x, d));
    } else {
        wide = tsr_tensor_retain(x);
    }
    if (tsr_on_device(x)) {
        TsrStatus status = softmax_there(out, wide, dim, log);
        tsr_tensor_free(wide);
        return status;
    }
    TsrTensor *narrow = wide;
    TsrStatus s = tsr_tensor_new_cast(&wide, narrow, tsr_dtype_size(d) < 4 ? TSR_FLOAT32 : d);
    tsr_tensor_free(narrow);
    TSR_TRY(s);
    s = softmax_any(&result, wide, spare, dim, log, d);
    tsr_tensor_free(wide);
    TSR_TRY(s);
    s = tsr_tensor_new_cast(out, result, d);
    tsr_tensor_free(result);
    return s;
}

static TsrStatus softmax(TsrOpCall *c, int64_t dim, const TsrArg *dtype, bool log) {
    TsrTensor *x = c->arg[0].t, *result = NULL;
    TsrStatus s = softmax_as(&result, x, tsr_spare(c), dim, tsr_arg_given(dtype) ? dtype->dtype : x->dtype, log);
    return tsr_finish_move(c, s, result);
}

TsrStatus op_softmax(TsrOpCall *c) { return softmax(c, c->arg[1].i, &c->arg[2], false); }
TsrStatus op_log_softmax(TsrOpCall *c) { return softmax(c, c->arg[1].i, &c->arg[2], true); }
