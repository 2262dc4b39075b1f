/* Pooling: maximum, average and adaptive, over 1 to 3 spatial dimensions: what PyTorch refuses, and the results' sizes
 * and places. */
#include <stdio.h>
#include <string.h>

#include "core/element/halffloat.h"
#include "core/op/out.h"
#include "core/op/shared.h"
#include "core/tensor/owned.h"
#include "pool_loops.h"

/* ---- windows ---- */

typedef TsrStatus WindowInts(int64_t *out, TsrNnInts q);

/* Of max_pool1d without indices, whose numbers past 32 bits have errors of their own. */
static TsrStatus line_ints(int64_t *out, TsrNnInts q) {
    bool stride = q.empty != NULL, padding = strcmp(q.name, "padding") == 0;
    if (q.arg->n > 1 || (q.arg->n == 0 && !stride))
        return tsr_error(TSR_RUNTIME_ERROR,
                         "%s() %s must be %san int, list of ints%s or tuple of ints of size 1 but got size %d", q.fn,
                         q.name, stride ? "None, " : "", stride || padding ? "," : "", q.arg->n);
    return tsr_nn_any_ints(out, q);
}

static int64_t floor_div(int64_t a, int64_t b) { return a / b - (a % b != 0 && (a < 0) != (b < 0)); }

/* What a window reaches over. Around the ends of 64 bits as PyTorch's, here and below: what comes out negative then has
 * an error of its own. */
static uint64_t window_span(int64_t kernel, int64_t dilation) {
    return (uint64_t)dilation * (uint64_t)(kernel - 1) + 1;
}

static int64_t pooled_size(int64_t in, int64_t kernel, int64_t pad, int64_t stride, int64_t dilation, bool ceil_mode) {
    uint64_t padded = (uint64_t)in + (uint64_t)pad;
    uint64_t room = padded + (uint64_t)pad - window_span(kernel, dilation) + (ceil_mode ? (uint64_t)stride - 1 : 0);
    uint64_t before = (uint64_t)floor_div((int64_t)room, stride); /* windows before the last one */
    bool in_padding =
        ceil_mode && (int64_t)(before * (uint64_t)stride) >= (int64_t)padded; /* on the right: no window */
    return (int64_t)(in_padding ? before : before + 1);
}

/* "kH: 2 kW: 0": a window's numbers, the outer ones first. */
static TsrStatus not_positive(const char *what, const char *prefix, const int64_t *v, int n) {
    if (n < 3)
        return tsr_error(TSR_RUNTIME_ERROR, "%s should be greater than zero, but got %sH: %lld %sW: %lld", what, prefix,
                         (long long)v[NN_H], prefix, (long long)v[NN_W]);
    return tsr_error(TSR_RUNTIME_ERROR, "%s should be greater than zero, but got %sT: %lld %sH: %lld %sW: %lld", what,
                     prefix, (long long)v[NN_D], prefix, (long long)v[NN_H], prefix, (long long)v[NN_W]);
}

static TsrStatus check_window(const TsrNnWindow *w) {
    bool kernel = true, stride = true, dilation = true;
    for (int d = NN_DIMS - w->n; d < NN_DIMS; d++) {
        if (w->stride[d] == 0) return tsr_error(TSR_RUNTIME_ERROR, "stride should not be zero");
        if (w->pad[d] < 0)
            return tsr_error(TSR_RUNTIME_ERROR, "pad must be non-negative, but got pad: %lld", (long long)w->pad[d]);
        if (w->pad[d] > (int64_t)window_span(w->kernel[d], w->dilation[d]) / 2)
            return tsr_error(
                TSR_RUNTIME_ERROR,
                "pad should be at most half of effective kernel size, but got pad=%lld, kernel_size=%lld and "
                "dilation=%lld",
                (long long)w->pad[d], (long long)w->kernel[d], (long long)w->dilation[d]);
        kernel &= w->kernel[d] > 0;
        stride &= w->stride[d] > 0;
        dilation &= w->dilation[d] > 0;
    }
    if (!kernel) return not_positive("kernel size", "k", w->kernel, w->n);
    if (!stride) return not_positive("stride", "d", w->stride, w->n);
    return dilation ? TSR_OK : not_positive("dilation", "dilation", w->dilation, w->n);
}

/* What maxima ask beyond it, whose windows may be dilated. */
static TsrStatus check_half_window(const TsrNnWindow *w) {
    const int64_t *k = w->kernel, *p = w->pad;
    if (p[NN_D] <= k[NN_D] / 2 && p[NN_H] <= k[NN_H] / 2 && p[NN_W] <= k[NN_W] / 2) return TSR_OK;
    const char *must = "pad should be smaller than or equal to half of kernel size, but got";
    if (w->n < 3)
        return tsr_error(TSR_RUNTIME_ERROR, "%s padW = %lld, padH = %lld, kW = %lld, kH = %lld", must,
                         (long long)p[NN_W], (long long)p[NN_H], (long long)k[NN_W], (long long)k[NN_H]);
    return tsr_error(TSR_RUNTIME_ERROR, "%s kT: %lld kW: %lld kH: %lld padT: %lld padW: %lld padH: %lld", must,
                     (long long)k[NN_D], (long long)k[NN_W], (long long)k[NN_H], (long long)p[NN_D], (long long)p[NN_W],
                     (long long)p[NN_H]);
}

/* "(1x1x4)": channels and spatial sizes. */
static void size_text(char *text, size_t room, int64_t channels, const int64_t *sizes, int n) {
    int at = snprintf(text, room, "%lld", (long long)channels);
    for (int d = NN_DIMS - n; d < NN_DIMS; d++)
        at += snprintf(text + at, room - (size_t)at, "x%lld", (long long)sizes[d]);
}

static TsrStatus fit_window(TsrNnWindow *w, const TsrTensor *t, bool ceil_mode) {
    bool small = false;
    tsr_nn_spatial(w->in, t, w->n);
    for (int d = 0; d < NN_DIMS; d++) {
        w->out[d] = d < NN_DIMS - w->n
                        ? 1
                        : pooled_size(w->in[d], w->kernel[d], w->pad[d], w->stride[d], w->dilation[d], ceil_mode);
        small |= w->out[d] < 1;
    }
    if (!small) return TSR_OK;
    char in[128], out[128];
    int64_t channels = tsr_ndim(t) > w->n ? t->sizes[tsr_ndim(t) - w->n - 1] : 1;
    size_text(in, sizeof in, channels, w->in, TSR_MAX(w->n, 2));
    size_text(out, sizeof out, channels, w->out, TSR_MAX(w->n, 2));
    return tsr_error(TSR_RUNTIME_ERROR,
                     "Given input size: (%s). Calculated output size: (%s). Output size is too small", in, out);
}

static TsrStatus wrong_dims(const TsrTensor *t, const char *fn) {
    return tsr_error(
        TSR_RUNTIME_ERROR,
        "Expected 2 to 3 dimensions, but got %d-dimensional tensor for argument #1 'self' (while checking arguments "
        "for %s)",
        tsr_ndim(t), fn);
}

/* "[1, 0, 1, 4]": the sizes with the height that a line is given. */
static const char *plane_sizes(const TsrTensor *t, int n) {
    int64_t sizes[TSR_MAX_DIMS + 1];
    int ndim = tsr_ndim(t);
    memcpy(sizes, t->sizes, sizeof *sizes * (size_t)ndim);
    if (n > 1) return tsr_layout_text(ndim, sizes);
    sizes[ndim] = sizes[ndim - 1];
    sizes[ndim - 1] = 1;
    return tsr_layout_text(ndim + 1, sizes);
}

/* Dimensions and sizes; only the batch may be empty. `plain`: max_pool1d, without indices. */
static TsrStatus check_input(const TsrTensor *t, int n, const char *fn, bool maximum, bool plain) {
    int ndim = tsr_ndim(t), empty = -1;
    bool rank = ndim == n + 1 || ndim == n + 2;
    if (!rank && n == 1 && !plain) return wrong_dims(t, fn);
    if (!rank && n == 2 && maximum)
        return tsr_error(TSR_RUNTIME_ERROR, "non-empty 3D or 4D (batch mode) tensor expected for input");
    if (!rank && n == 2 && ndim < 3) return tsr_wrap_own_dim(&(int64_t){-3}, ndim);
    if (!rank && n == 3)
        return tsr_error(TSR_RUNTIME_ERROR, "non-empty 4D or 5D (batch mode) tensor expected for input");
    for (int d = ndim - 1; rank && d >= (ndim == n + 2 ? 1 : 0); d--)
        if (t->sizes[d] == 0) empty = d;
    if (rank && empty < 0) return TSR_OK;
    if (n == 3)
        return tsr_error(
            TSR_RUNTIME_ERROR,
            "%s: Expected input to have non-zero size for non-batch dimensions, but input has sizes %s with "
            "dimension %d being empty",
            maximum ? "max_pool3d_with_indices_out_cpu_template()" : "avg_pool3d()", tsr_layout_text(ndim, t->sizes),
            empty);
    if (plain)
        return tsr_error(
            TSR_RUNTIME_ERROR,
            "%s: Expected 2D or 3D (batch mode) tensor with optional 0 dim batch size for input, but got:%s", fn,
            tsr_layout_text(ndim, t->sizes));
    return tsr_error(TSR_RUNTIME_ERROR,
                     "Expected 3D or 4D (batch mode) tensor with optional 0 dim batch size for input, but got:%s",
                     plane_sizes(t, n));
}

/* Averages of volumes ask for windows inside the input. */
static TsrStatus check_volume(const TsrNnWindow *w) {
    const int64_t *in = w->in, *k = w->kernel;
    if (in[NN_D] >= k[NN_D] && in[NN_H] >= k[NN_H] && in[NN_W] >= k[NN_W]) return TSR_OK;
    return tsr_error(TSR_RUNTIME_ERROR,
                     "input image (T: %lld H: %lld W: %lld) smaller than kernel size (kT: %lld kH: %lld kW: %lld)",
                     (long long)in[NN_D], (long long)in[NN_H], (long long)in[NN_W], (long long)k[NN_D],
                     (long long)k[NN_H], (long long)k[NN_W]);
}

/* Arguments kernel_size, stride, padding and, if `dilated`, dilation, from the second on. `ints`: tsr_nn_window_ints or
 * line_ints. */
static TsrStatus read_window(TsrNnWindow *w, const TsrOpCall *c, int n, bool dilated, const char *fn,
                             WindowInts *ints) {
    const TsrArg *arg = c->arg;
    *w = (TsrNnWindow){.n = n};
    TSR_TRY(ints(w->kernel, (TsrNnInts){&arg[1], fn, "kernel_size", n, 1, NULL}));
    TSR_TRY(ints(w->stride, (TsrNnInts){&arg[2], fn, "stride", n, 1, w->kernel}));
    TSR_TRY(ints(w->pad, (TsrNnInts){&arg[3], fn, "padding", n, 0, NULL}));
    for (int d = 0; d < NN_DIMS; d++) w->dilation[d] = 1;
    return dilated ? ints(w->dilation, (TsrNnInts){&arg[4], fn, "dilation", n, 1, NULL}) : TSR_OK;
}

/* ---- results ---- */

/* Dense, in the order of the dimensions or, `last`, with the channels last. */
static TsrStatus result_new(TsrTensor **out, int ndim, const int64_t *sizes, TsrDtype dtype, TsrDevice device,
                            bool last) {
    int64_t strides[TSR_MAX_DIMS];
    if (!last) return tsr_tensor_new(out, ndim, sizes, dtype, device);
    tsr_layout_channels_last_strides(strides, ndim, sizes);
    return tsr_tensor_new_strided(out, ndim, sizes, strides, dtype, device);
}

/* The least number of an integer dtype, for maxima of nothing. */
static int64_t least_of(TsrDtype d) {
    return tsr_dtype_kind(d) == TSR_KIND_INT ? INT64_MIN >> (64 - 8 * tsr_dtype_size(d)) : 0;
}

static TsrStatus pool_there(TsrTensor *out, TsrTensor *index, const TsrTensor *t, const TsrNnWindow *w,
                            const TsrPool *planes, bool maximum) {
    const TsrDevicePool how = {.window = tsr_nn_device_window(w),
                               .maximum = maximum,
                               .adaptive = planes->adaptive,
                               .count_pad = planes->count_pad,
                               .rounds = planes->round != NULL,
                               .divisor = planes->divisor,
                               .least = least_of(t->dtype)};
    TsrDeviceWork work = {.what = TSR_P_POOL, .params = &how, .nparams = sizeof how};
    TSR_TRY(tsr_nn_work_add(&work, out, w->n, true));
    if (index != NULL) TSR_TRY(tsr_nn_work_add(&work, index, w->n, true));
    TSR_TRY(tsr_nn_work_add(&work, t, w->n, false));
    return out->numel > 0 ? tsr_device_work(t->device.type, &work) : TSR_OK;
}

static TsrStatus pool(TsrTensor **out, TsrTensor **index, const TsrTensor *t, const TsrNnWindow *w, TsrPool planes,
                      bool maximum) {
    int64_t sizes[TSR_MAX_DIMS];
    TsrTensor *in;
    int ndim = tsr_nn_output_sizes(sizes, t, w->n, w->out);
    *out = NULL;
    if (index != NULL) *index = NULL;
    bool row_major =
        w->n == 3 && (planes.adaptive ||
                      !maximum); /* of volumes, PyTorch keeps the order of the channels for the plain maximum alone */
    bool last = w->n > 1 && !row_major && tsr_nn_is_channels_last(t, w->n) && tsr_nn_computable(t->dtype) != TSR_INT64;
    if (last) planes.channels = t->sizes[1];
    const bool there = tsr_on_device(t);
    TsrMemoryFormat format = !last ? TSR_CONTIGUOUS : w->n == 2 ? TSR_CHANNELS_LAST : TSR_CHANNELS_LAST_3D;
    if (there) in = tsr_tensor_retain((TsrTensor *)t);
    else TSR_TRY(tsr_nn_new_computable(&in, t, format));
    TsrStatus status = result_new(out, ndim, sizes, in->dtype, t->device, last);
    if (status == TSR_OK && index != NULL) status = result_new(index, ndim, sizes, TSR_INT64, t->device, last);
    TsrTensor *places = index != NULL ? *index : NULL;
    planes.least = least_of(t->dtype);
    if (status == TSR_OK && there) status = pool_there(*out, places, t, w, &planes, maximum);
    else if (status == TSR_OK) status = tsr_pool_into(*out, places, in, w, planes, maximum);
    if (status == TSR_OK) status = tsr_nn_restore(out, t->dtype, row_major ? NULL : t);
    if (status == TSR_OK && index != NULL) status = tsr_nn_restore(index, TSR_INT64, row_major ? NULL : t);
    bool lines = w->n == 1 && (!maximum || index != NULL);
    if (status == TSR_OK && lines) status = tsr_nn_place_lines(out, t);
    if (status == TSR_OK && lines && index != NULL) status = tsr_nn_place_lines(index, t);
    tsr_tensor_free(in);
    if (status == TSR_OK) return TSR_OK;
    tsr_tensor_reset(out);
    if (index != NULL) tsr_tensor_reset(index);
    return status;
}

/* ---- operators ---- */

static TsrStatus check_floating_or_int(const TsrTensor *t, const char *kernel, bool ints) {
    bool ok =
        (tsr_dtype_is_float(t->dtype) && tsr_dtype_size(t->dtype) > 1) || (ints && tsr_in(TSR_BITS_INT, t->dtype));
    return ok ? TSR_OK
              : tsr_error(TSR_NOT_IMPLEMENTED_ERROR, "\"%s\" not implemented for '%s'", kernel,
                          tsr_dtype_scalar_name(t->dtype));
}

static TsrStatus check_pool1d(const TsrNnWindow *w, const TsrTensor *t, bool ceil_mode) {
    int64_t k = w->kernel[NN_W], s = w->stride[NN_W], p = w->pad[NN_W], d = w->dilation[NN_W];
    if (k <= 0)
        return tsr_error(TSR_RUNTIME_ERROR, "max_pool1d() kernel_size must be greater than zero, but got %lld",
                         (long long)k);
    if (s <= 0)
        return tsr_error(TSR_RUNTIME_ERROR, "max_pool1d() stride must be greater than zero, but got %lld",
                         (long long)s);
    if (p < 0)
        return tsr_error(TSR_RUNTIME_ERROR, "max_pool1d() padding must be non-negative, but got %lld", (long long)p);
    if (p > k / 2)
        return tsr_error(
            TSR_RUNTIME_ERROR,
            "max_pool1d() padding should be at most half of kernel size, but got padding=%lld and kernel_size=%lld",
            (long long)p, (long long)k);
    if (d <= 0)
        return tsr_error(TSR_RUNTIME_ERROR, "max_pool1d() dilation must be greater than zero, but got %lld",
                         (long long)d);
    int64_t reach;
    if (tsr_mul_overflows(k - 1, d, &reach))
        return tsr_error(TSR_RUNTIME_ERROR,
                         "effective kernel size overflows, but got kernel_size=%lld and dilation=%lld", (long long)k,
                         (long long)d);
    int64_t out = pooled_size(t->sizes[tsr_ndim(t) - 1], k, p, s, d, ceil_mode);
    return out > 0 ? TSR_OK
                   : tsr_error(TSR_RUNTIME_ERROR, "max_pool1d() Invalid computed output size: %lld", (long long)out);
}

static TsrStatus max_pool(TsrOpCall *c, int n, const char *fn, bool with_index) {
    const TsrTensor *t = c->arg[0].t;
    TsrNnWindow w;
    TsrTensor *out, *index = NULL;
    bool ceil_mode = c->arg[5].b;
    bool plain = n == 1 && !with_index;
    if (n == 1 && tsr_ndim(t) != 2 && tsr_ndim(t) != 3) TSR_TRY(check_input(t, n, fn, true, plain));
    TSR_TRY(read_window(&w, c, n, true, fn, plain ? line_ints : tsr_nn_window_ints));
    bool rank = tsr_ndim(t) == n + 1 || tsr_ndim(t) == n + 2;
    if (!plain && rank) TSR_TRY(check_window(&w));
    TSR_TRY(check_input(t, n, fn, true, plain));
    if (plain) TSR_TRY(check_pool1d(&w, t, ceil_mode));
    if (plain) TSR_TRY(check_window(&w));
    TSR_TRY(check_half_window(&w));
    TSR_TRY(fit_window(&w, t, ceil_mode));
    const char *kernel = plain                           ? "max_pool1d_impl"
                         : n == 3                        ? "max_pool3d"
                         : tsr_nn_is_channels_last(t, n) ? "max_pool2d_channels_last"
                                                         : "max_pool2d";
    TSR_TRY(check_floating_or_int(t, kernel, !plain));
    TSR_TRY(pool(&out, with_index ? &index : NULL, t, &w, (TsrPool){0}, true));
    return with_index ? tsr_return_move2(c, out, index) : tsr_return_move(c, out);
}

TsrStatus op_max_pool1d(TsrOpCall *c) { return max_pool(c, 1, "max_pool1d", false); }
TsrStatus op_max_pool2d(TsrOpCall *c) { return max_pool(c, 2, "max_pool2d", false); }
TsrStatus op_max_pool3d(TsrOpCall *c) { return max_pool(c, 3, "max_pool3d", false); }
TsrStatus op_max_pool1d_with_indices(TsrOpCall *c) { return max_pool(c, 1, "max_pool1d", true); }
TsrStatus op_max_pool2d_with_indices(TsrOpCall *c) { return max_pool(c, 2, "max_pool2d", true); }
TsrStatus op_max_pool3d_with_indices(TsrOpCall *c) { return max_pool(c, 3, "max_pool3d", true); }

static TsrStatus avg_pool(TsrOpCall *c, int n, const char *fn) {
    const TsrTensor *t = c->arg[0].t;
    TsrNnWindow w;
    TsrTensor *out;
    TsrPool planes = {.count_pad = c->arg[5].b};
    if (n == 1 && tsr_ndim(t) != 2 && tsr_ndim(t) != 3) return wrong_dims(t, fn);
    TSR_TRY(read_window(&w, c, n, false, fn, tsr_nn_window_ints));
    if (n > 1 && tsr_arg_given(&c->arg[6])) {
        planes.divisor = c->arg[6].i;
        if (planes.divisor == 0) return tsr_error(TSR_RUNTIME_ERROR, "divisor must be not zero");
    }
    if (tsr_ndim(t) < n + 1 || (n == 3 && tsr_ndim(t) > n + 2)) TSR_TRY(check_input(t, n, fn, false, false));
    TSR_TRY(check_window(&w));
    TSR_TRY(check_input(t, n, fn, false, false));
    tsr_nn_spatial(w.in, t, n);
    if (n == 3) TSR_TRY(check_volume(&w));
    TSR_TRY(fit_window(&w, t, c->arg[4].b));
    const char *kernel = n == 3                          ? "avg_pool3d_out_frame"
                         : tsr_nn_is_channels_last(t, n) ? "avg_pool2d_channels_last"
                                                         : "avg_pool2d";
    TSR_TRY(tsr_check_out_fits(c, 0, t->dtype));
    TSR_TRY(check_floating_or_int(t, kernel, t->dtype == TSR_INT64));
    if (n == 3 && (t->dtype == TSR_FLOAT16 || t->dtype == TSR_BFLOAT16))
        return tsr_error(TSR_NOT_IMPLEMENTED_ERROR, "\"avg_pool3d_out_frame\" not implemented for '%s'",
                         tsr_dtype_scalar_name(t->dtype));
    TSR_TRY(pool(&out, NULL, t, &w, planes, false));
    return tsr_return_move(c, out);
}

TsrStatus op_avg_pool1d(TsrOpCall *c) { return avg_pool(c, 1, "avg_pool1d"); }
TsrStatus op_avg_pool2d(TsrOpCall *c) { return avg_pool(c, 2, "avg_pool2d"); }
TsrStatus op_avg_pool3d(TsrOpCall *c) { return avg_pool(c, 3, "avg_pool3d"); }

/* Sizes of 0 are fine, negative ones not; maxima leave the refusal to the allocation. */
static TsrStatus check_adaptive_sizes(const TsrNnWindow *w, int n) {
    const int64_t *s = w->out;
    bool ok = true;
    for (int d = NN_DIMS - n; d < NN_DIMS; d++) ok = ok && s[d] >= 0;
    if (ok) return TSR_OK;
    const char *must = "elements of output_size must be greater than or equal to 0 but received";
    if (n == 3)
        return tsr_error(TSR_RUNTIME_ERROR, "adaptive_avg_pool3d: %s {%lld, %lld,%lld}", must, (long long)s[0],
                         (long long)s[1], (long long)s[2]);
    return tsr_error(TSR_RUNTIME_ERROR, "adaptive_avg_pool2d: %s {%lld, %lld}", must, (long long)s[1], (long long)s[2]);
}

static TsrStatus check_output_count(const TsrTensor *t, const TsrArg *size, int n, bool maximum) {
    const char *kind = maximum ? "max" : "avg";
    if (size->n == n || size->n == 1) return TSR_OK;
    if (n == 1 && tsr_ndim(t) != 2 && tsr_ndim(t) != 3)
        return wrong_dims(t, maximum ? "adaptive_max_pool1d" : "adaptive_avg_pool1d");
    if (n == 1)
        return tsr_error(TSR_RUNTIME_ERROR,
                         "adaptive_%s_pool1d() argument 'output_size' should contain one int (got %d)", kind, size->n);
    if (maximum)
        return tsr_error(TSR_RUNTIME_ERROR, "adaptive_max_pool%dd(): internal error: output_size.size() must be %d", n,
                         n);
    return tsr_error(TSR_RUNTIME_ERROR, "adaptive_avg_pool%dd: output_size must be %d", n, n);
}

static TsrStatus check_filled(const TsrTensor *t, int from, int n, const char *kind, int ndim, const int64_t *shown) {
    int more = ndim - tsr_ndim(t);
    for (int d = from; d < tsr_ndim(t); d++)
        if (t->sizes[d] == 0)
            return tsr_error(
                TSR_RUNTIME_ERROR,
                "adaptive_%s_pool%dd(): Expected input to have non-zero size for non-batch dimensions, but input has "
                "sizes %s with dimension %d being empty",
                kind, n + more, tsr_layout_text(ndim, shown), d + more);
    return TSR_OK;
}

static TsrStatus check_adaptive(const TsrTensor *t, int n, bool maximum) {
    static const char *const batched[] = {"", "2D or 3D", "3D or 4D", "4D or 5D"};
    const char *kind = maximum ? "max" : "avg";
    int ndim = tsr_ndim(t);
    if (n == 1 && ndim != 2 && ndim != 3) return wrong_dims(t, maximum ? "adaptive_max_pool1d" : "adaptive_avg_pool1d");
    if (n == 3 && !maximum)
        TSR_TRY(check_filled(t, 1, n, kind, ndim, t->sizes)); /* before the dimensions are counted */
    if (ndim != n + 1 && ndim != n + 2)
        return tsr_error(TSR_RUNTIME_ERROR,
                         maximum ? "adaptive_%s_pool%dd(): Expected %s tensor, but got: %s"
                                 : "adaptive_%s_pool%dd(): Expected %s tensor, but got %s",
                         kind, n, batched[n], tsr_layout_text(ndim, t->sizes));
    int64_t shown[TSR_MAX_DIMS];
    bool planes = n == 1 && !maximum; /* lines are averaged as planes one row high */
    memcpy(shown, t->sizes, sizeof *shown * (size_t)ndim);
    if (planes) shown[ndim - 1] = 1, shown[ndim] = t->sizes[ndim - 1];
    return check_filled(t, maximum ? 1 : ndim - n, n, kind, ndim + planes, shown);
}

static float as_half(float x) { return tsr_half_widen(tsr_half_round(x)); }
static float as_bfloat16(float x) { return tsr_bfloat16_widen(tsr_bfloat16_round(x)); }

/* One average of everything, which PyTorch takes as a mean, of tensors of any rank. */
static bool is_mean(const TsrArg *size, int n) {
    for (int i = 0; i < size->n; i++)
        if (size->ints[i] != 1) return false;
    return size->n == n || size->n == 1;
}

static TsrStatus adaptive_mean(TsrOpCall *c, int n) {
    static const int64_t last[] = {-1, -2, -3};
    const TsrTensor *t = c->arg[0].t;
    TSR_OWNED out = NULL;
    TSR_TRY(tsr_invoke_new(&out, 1, "mean", "tIb", t, n, last, 1));
    if (n == 1) TSR_TRY(tsr_nn_place_lines(&out, t));
    else if (tsr_nn_is_channels_last(t, n)) TSR_TRY(tsr_nn_place_last(&out));
    return tsr_return_move(c, tsr_owned_take(&out));
}

static TsrStatus adaptive_pool(TsrOpCall *c, int n, bool maximum) {
    static const char *const names[2][3] = {
        {"adaptive_avg_pool2d", "adaptive_avg_pool2d_channels_last", "adaptive_avg_pool3d_cpu"},
        {"adaptive_max_pool2d", "adaptive_max_pool2d_channels_last", "adaptive_max_pool3d_cpu"}};
    const TsrTensor *t = c->arg[0].t;
    TsrNnWindow w = {.n = n};
    TsrTensor *out, *index = NULL;
    int64_t sizes[TSR_MAX_DIMS], numel;
    if (!maximum && (n > 1 || tsr_ndim(t) == 2 || tsr_ndim(t) == 3) && is_mean(&c->arg[1], n))
        return adaptive_mean(c, n);
    if (maximum && n > 1) TSR_TRY(check_adaptive(t, n, maximum));
    TSR_TRY(check_output_count(t, &c->arg[1], n, maximum));
    TSR_TRY(tsr_nn_window_ints(w.out, (TsrNnInts){&c->arg[1], "adaptive_pool", "output_size", n, 1, NULL}));
    if (!maximum && n > 1) TSR_TRY(check_adaptive_sizes(&w, n));
    TSR_TRY(check_adaptive(t, n, maximum));
    if (!maximum) TSR_TRY(check_adaptive_sizes(&w, n));
    if (maximum && n == 1 && w.out[NN_W] < 0 && tsr_ndim(t) == 2) /* lines are planes of one row */
        return tsr_error(TSR_RUNTIME_ERROR, "Trying to create tensor with negative dimension %lld: [%lld, 1, %lld]",
                         (long long)w.out[NN_W], (long long)t->sizes[0], (long long)w.out[NN_W]);
    if (n == 1 && w.out[NN_W] < 0 && tsr_ndim(t) == 3)
        return tsr_error(
            TSR_RUNTIME_ERROR, "Trying to create tensor with negative dimension %lld: [%lld, %lld, 1, %lld]",
            (long long)w.out[NN_W], (long long)t->sizes[0], (long long)t->sizes[1], (long long)w.out[NN_W]);
    tsr_nn_spatial(w.in, t, n);
    for (int d = 0; d < NN_DIMS; d++) w.kernel[d] = w.out[d] > 0 ? w.in[d] / w.out[d] + 1 : 1;
    TSR_TRY(tsr_layout_numel(&numel, tsr_nn_output_sizes(sizes, t, n, w.out), sizes));
    if ((t->numel > 0 && numel > 0) || maximum || n == 3)
        TSR_TRY(check_floating_or_int(t, names[maximum][n == 3 ? 2 : tsr_nn_is_channels_last(t, n)], false));
    TsrPool planes = {.adaptive = true};
    if (n == 3 && !maximum)
        planes.round = t->dtype == TSR_FLOAT16 ? as_half : t->dtype == TSR_BFLOAT16 ? as_bfloat16 : NULL;
    TSR_TRY(pool(&out, maximum ? &index : NULL, t, &w, planes, maximum));
    return maximum ? tsr_return_move2(c, out, index) : tsr_return_move(c, out);
}

TsrStatus op_adaptive_avg_pool1d(TsrOpCall *c) { return adaptive_pool(c, 1, false); }
TsrStatus op_adaptive_avg_pool2d(TsrOpCall *c) { return adaptive_pool(c, 2, false); }
TsrStatus op_adaptive_avg_pool3d(TsrOpCall *c) { return adaptive_pool(c, 3, false); }
TsrStatus op_adaptive_max_pool1d(TsrOpCall *c) { return adaptive_pool(c, 1, true); }
TsrStatus op_adaptive_max_pool2d(TsrOpCall *c) { return adaptive_pool(c, 2, true); }
TsrStatus op_adaptive_max_pool3d(TsrOpCall *c) { return adaptive_pool(c, 3, true); }
