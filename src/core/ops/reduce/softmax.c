/* softmax.c: softmax, log_softmax, softmin.
 *
 * Along the last dimension lines lie one after the other (kernels/reduce/softmax.h): greatest, exponentials and their
 * sum, division. Along another one strips of neighbouring lines go side by side, so that memory is read in order. Which
 * of them it is shows in the last digit, so the cases are PyTorch's. */
#include <math.h>

#include "core/op/compose.h"
#include "core/op/out.h"
#include "core/engine/device.h"
#include "core/kernels/reduce/softmax.h"
#include "core/ops/pointwise/pointwise.h"
#include "core/tensor/loan.h"
#include "core/tensor/owned.h"

typedef struct Rows {
    TsrSoftmaxFn fn;
    char *out;
    const char *x;
    int64_t n, bytes; /* of a line */
    TsrDtype half;
} Rows;

static void run_rows(int64_t begin, int64_t end, void *user) {
    const Rows *j = user;
    j->fn(j->out + begin * j->bytes, j->x + begin * j->bytes, end - begin, j->n, j->half);
}

/* x is contiguous, float32 or float64, and overwritten when it is `spare`. `half` as in softmax.h. */
static TsrStatus softmax_last(TsrTensor **out, TsrTensor *x, TsrTensor *spare, bool log, TsrDtype half) {
    TsrTensor *result;
    if (spare == x) result = tsr_tensor_retain(x);
    else TSR_TRY(tsr_tensor_new_like(&result, x, TSR_DTYPE_NONE, TSR_CONTIGUOUS));
    TsrStatus s = TSR_OK;
    if (x->numel > 0 && !tsr_is_meta(x)) {
        int64_t n = tsr_ndim(x) == 0 ? 1 : x->sizes[tsr_ndim(x) - 1];
        Rows job = {
            tsr_softmax_kernel(log, x->dtype), tsr_data(result), tsr_data(x), n, n * (int64_t)tsr_itemsize(x), half};
        s = tsr_parallel_for(x->numel / n, tsr_grain(4 * n), run_rows, &job);
    }
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

static void run_strips(int64_t begin, int64_t end, void *user) {
    const Columns *j = user;
    int64_t strips = (j->inner + TSR_SOFTMAX_STRIP - 1) / TSR_SOFTMAX_STRIP;
    for (int64_t i = begin; i < end; i++) {
        int64_t column = i % strips * TSR_SOFTMAX_STRIP, at = (i / strips * j->n * j->inner + column) * j->item;
        j->fn(j->out + at, j->x + at, j->n, j->inner, TSR_MIN(j->inner - column, (int64_t)TSR_SOFTMAX_STRIP), j->half);
    }
}

static int64_t elements_inside(const TsrTensor *x, int64_t dim) {
    int64_t inner = 1;
    for (int64_t i = dim + 1; i < tsr_ndim(x); i++) inner *= x->sizes[i];
    return inner;
}

/* Along another dimension; otherwise as softmax_last. */
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

static TsrStatus softmax_any(TsrTensor **out, TsrTensor *x, TsrTensor *spare, int64_t dim, bool log, TsrDtype d) {
    TsrDtype half = d == TSR_FLOAT16 || d == TSR_BFLOAT16 ? d : TSR_DTYPE_NONE;
    if (dim != TSR_MAX(tsr_ndim(x) - 1, 0)) return softmax_inner(out, x, spare, dim, log, half);
    TSR_OWNED dense = NULL;
    TSR_TRY(tsr_tensor_new_contiguous(&dense, x, TSR_CONTIGUOUS));
    return softmax_last(out, dense, spare, log, half);
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
    const TsrDtype want = tsr_arg_given(dtype) ? dtype->dtype : x->dtype;
    TSR_TRY(tsr_wrap_dim(&(int64_t){dim}, tsr_ndim(x)));
    TSR_TRY(tsr_check_out_dtype(c, 0, want));
    TsrStatus s = softmax_as(&result, x, tsr_spare(c), dim, want, log);
    return tsr_finish_move(c, s, result);
}

TsrStatus op_softmax(TsrOpCall *c) { return softmax(c, c->arg[1].i, &c->arg[2], false); }
TsrStatus op_log_softmax(TsrOpCall *c) { return softmax(c, c->arg[1].i, &c->arg[2], true); }

/* Zeros in the lines of `soft` that are nan because their x is -inf alone. */
static TsrStatus zero_unseen(TsrScope *s, TsrTensor *soft, const TsrTensor *x, int64_t dim) {
    TsrScalar found = tsr_scalar_int(0);
    TsrTensor *first = tsr_ndim(soft) > 0 ? SLICE(s, soft, dim, 0, 1) : soft; /* a line is nan as a whole */
    TsrTensor *nan = CALL(s, "isnan", "t", first);
    TsrTensor *any = CALL(s, "any", "t", nan);
    if (s->status == TSR_OK) s->status = tsr_tensor_item(&found, any);
    if (s->status == TSR_OK && tsr_scalar_to_int(found) != 0) {
        TsrTensor *least = CALL(s, "eq", "ts", x, tsr_scalar_float(-INFINITY));
        TsrTensor *unseen = CALL(s, "all", "tib", least, dim, true);
        (void)CALL(s, "masked_fill", "!ttts", soft, soft, unseen, tsr_scalar_int(0));
    }
    return tsr_scope_end(s);
}

TsrStatus op_safe_softmax(TsrOpCall *c) {
    TsrTensor *x = c->arg[0].t, *soft = NULL;
    int64_t dim = c->arg[1].i;
    TSR_TRY(tsr_wrap_dim(&dim, tsr_ndim(x)));
    TsrStatus status = softmax_as(&soft, x, NULL, dim, tsr_arg_given(&c->arg[2]) ? c->arg[2].dtype : x->dtype, false);
    if (status == TSR_OK && !tsr_is_meta(soft) && soft->numel > 0) status = zero_unseen(&(TsrScope){0}, soft, x, dim);
    return tsr_finish_move(c, status, soft);
}
