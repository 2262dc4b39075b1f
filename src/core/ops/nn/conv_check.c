/* What is wrong with the arguments of a convolution, in PyTorch's order and words (conv_check.h): those of oneDNN where
 * it would have the convolution, else those of PyTorch's own loops. */
#include "conv_check.h"

#include <stdio.h>
#include <string.h>

#include "core/op/shared.h"
#include "core/tensor/owned.h"

static TsrStatus check_conv_dtype(const ConvArgs *a, bool dilated) {
    const TsrDtype dtype = a->input->dtype;
    const TsrTensor *weight = a->weight;
    const bool transposed = a->transposed, bare = a->bare;
    const int n = a->n;
    unsigned able = TSR_BITS_USUAL | (bare ? 0 : TSR_BITS_COMPLEX | TSR_BIT(COMPLEX32));
    if (transposed || dilated) able &= ~(TSR_BIT(UINT8) | TSR_BIT(INT8) | TSR_BIT(INT16) | TSR_BIT(INT32));
    if (able >> dtype & 1) return TSR_OK;
    bool points =
        n == 3 && weight->sizes[2] == 1 && weight->sizes[3] == 1 && weight->sizes[4] == 1; /* which need no columns */
    const char *name = dilated      ? "slow_conv_dilated<>"
                       : transposed ? (n == 3 ? "slow_conv_transpose3d_out_cpu" : "slow_conv_transpose2d_out_cpu")
                       : n == 3     ? (points ? "slow_conv3d_cpu" : "compute_columns3d")
                                    : "slow_conv2d_cpu";
    return tsr_error(TSR_NOT_IMPLEMENTED_ERROR, "\"%s\" not implemented for '%s'", name, tsr_dtype_scalar_name(dtype));
}

static TsrStatus check_same_dtype(const TsrTensor *t, const TsrTensor *other, const char *what, bool onednn) {
    char a[48], b[48];
    if (t->dtype == other->dtype) return TSR_OK;
    if (onednn)
        return tsr_error(
            TSR_RUNTIME_ERROR,
            "Input type (%s) and %s type (%s) should be the same or input should be a MKLDNN tensor and %s is a "
            "dense tensor",
            tsr_old_type_text(a, sizeof a, t), what, tsr_old_type_text(b, sizeof b, other), what);
    return tsr_unexpected_dtype(t->dtype, other->dtype);
}

/* "[1, 2, 4, 4]": the sizes of a batch, of one where there is none. */
static const char *batch_text(const TsrTensor *t, int n) {
    int64_t sizes[TSR_MAX_DIMS + 1] = {1};
    int ndim = tsr_ndim(t), front = ndim == n + 1 ? 1 : 0;
    memcpy(sizes + front, t->sizes, sizeof *sizes * (size_t)ndim);
    return tsr_layout_text(ndim + front, sizes);
}

/* The same as PyTorch's loops have it, which know no lines, only images one row high. */
static const char *planes_text(const TsrTensor *t, int n) {
    int64_t sizes[TSR_MAX_DIMS + 1] = {1};
    int ndim = tsr_ndim(t), front = ndim == n + 1 ? 1 : 0;
    memcpy(sizes + front, t->sizes, sizeof *sizes * (size_t)ndim);
    if (n > 1) return tsr_layout_text(ndim + front, sizes);
    sizes[3] = sizes[2], sizes[2] = 1;
    return tsr_layout_text(4, sizes);
}

/* Whether an output has more columns or rows added to it than a step of the transposed convolution is long. */
static bool is_output_padding_big(const ConvArgs *a) {
    for (int d = NN_DIMS - a->n; d < NN_DIMS && a->transposed; d++)
        if (a->output_padding[d] >= a->w.stride[d]) return true;
    return false;
}

/* Whether PyTorch hands the convolution of numbers of that dtype to oneDNN, which names types in its own way. */
bool tsr_conv_goes_to_onednn(const ConvArgs *a, TsrDtype dtype) {
    const TsrTensor *t = a->input, *weight = a->weight;
    int n = a->n;
    bool batched = tsr_ndim(t) == n + 2;
    int64_t last = weight->sizes[n + 1], before = n > 1 ? weight->sizes[n] : 1;
    if (is_output_padding_big(a)) return false;
    if (dtype == TSR_BFLOAT16) return true;
    return dtype == TSR_FLOAT32 &&
           (a->groups > 1 || (last > 3 && before > 3) || (batched && t->sizes[0] > 1) || t->numel > 20480);
}

/* A dilation of 0 is found by PyTorch's loops, after everything else; they know no lines, only images one row high. */
static TsrStatus check_dilation(const ConvArgs *a, bool onednn) {
    int dims = a->n < 2 ? 2 : a->n;
    int64_t dilation[NN_DIMS];
    bool zero = false;
    for (int i = 0; i < dims; i++) {
        dilation[i] = i < dims - a->n ? 1 : a->w.dilation[NN_DIMS - dims + i];
        zero |= dilation[i] == 0;
    }
    if (!zero) return TSR_OK;
    if (onednn) return tsr_error(TSR_RUNTIME_ERROR, "non-positive dilation is not supported");
    if (a->transposed && dims == 2)
        return tsr_error(TSR_RUNTIME_ERROR,
                         "dilation should be greater than zero, but got dilation_height: %lld, dilation_width: %lld",
                         (long long)dilation[0], (long long)dilation[1]);
    if (a->transposed)
        return tsr_error(TSR_RUNTIME_ERROR,
                         "dilation should be greater than zero, but got dilation_depth: %lld, dilation_height: %lld, "
                         "dilation_width: %lld",
                         (long long)dilation[0], (long long)dilation[1], (long long)dilation[2]);
    return tsr_error(TSR_RUNTIME_ERROR, "dilation should be greater than zero, but got %s",
                     tsr_layout_text(dims, dilation));
}

/* A convolution of no images, or of images without channels: PyTorch multiplies what there is, in whatever dtypes. */
bool tsr_conv_is_without_work(const ConvArgs *a) {
    int ndim = tsr_ndim(a->input);
    return a->input->sizes[ndim - a->n - 1] == 0 || (ndim == a->n + 2 && a->input->sizes[0] == 0);
}

/* The weight says how many dimensions there are; what it comes with has had its own looked at, but for a bare call's.
 */
static TsrStatus check_same_rank(const ConvArgs *a) {
    int k = tsr_ndim(a->weight), ndim = tsr_ndim(a->input);
    if (a->bare ? ndim == k : k == a->n + 2) return TSR_OK;
    return tsr_error(
        TSR_RUNTIME_ERROR,
        "Expected %d-dimensional input for %d-dimensional weight %s, but got %d-dimensional input of size %s instead",
        k, k, tsr_layout_text(k, a->weight->sizes), a->bare ? ndim : a->n + 2,
        a->bare ? tsr_sizes_text(a->input) : batch_text(a->input, a->n));
}

TsrStatus tsr_conv_check_shapes(const ConvArgs *a) {
    const TsrTensor *t = a->input, *weight = a->weight, *bias = a->bias;
    const TsrNnWindow *w = &a->w;
    int n = a->n;
    int64_t groups = a->groups;
    int ndim = tsr_ndim(t);
    for (int d = NN_DIMS - n; d < NN_DIMS; d++) {
        if (w->pad[d] < 0) return tsr_error(TSR_RUNTIME_ERROR, "negative padding is not supported");
        if (w->stride[d] <= 0) return tsr_error(TSR_RUNTIME_ERROR, "non-positive stride is not supported");
        if (w->dilation[d] < 0) return tsr_error(TSR_RUNTIME_ERROR, "dilation should be greater than zero");
        if (a->output_padding[d] < 0) return tsr_error(TSR_RUNTIME_ERROR, "negative output_padding is not supported");
    }
    TSR_TRY(check_same_rank(a));
    int64_t channels = t->sizes[ndim - n - 1], filters = weight->sizes[0];
    if (filters < groups)
        return tsr_error(
            TSR_RUNTIME_ERROR,
            "Given groups=%lld, expected weight to be at least %lld at dimension 0, but got weight of size %s instead",
            (long long)groups, (long long)groups, tsr_sizes_text(weight));
    if (filters % groups != 0)
        return tsr_error(
            TSR_RUNTIME_ERROR,
            "Given groups=%lld, expected weight to be divisible by %lld at dimension 0, but got weight of size [%s] "
            "instead",
            (long long)groups, (long long)groups, tsr_sizes_text(weight));
    int64_t wanted = a->transposed ? filters : weight->sizes[1] * groups,
            out_channels = a->transposed ? weight->sizes[1] * groups : filters;
    if (channels != wanted) {
        char head[48] = "transposed=1";
        if (!a->transposed) snprintf(head, sizeof head, "groups=%lld", (long long)groups);
        return tsr_error(
            TSR_RUNTIME_ERROR,
            "Given %s, weight of size %s, expected input%s to have %lld channels, but got %lld channels instead", head,
            tsr_sizes_text(weight), batch_text(t, n), (long long)wanted, (long long)channels);
    }
    if (bias != NULL && (tsr_ndim(bias) != 1 || bias->sizes[0] != out_channels))
        return tsr_error(
            TSR_RUNTIME_ERROR,
            "Given %sweight of size %s, expected bias to be 1-dimensional with %lld elements, but got bias of size "
            "%s instead",
            a->transposed ? "transposed=1, " : "", tsr_sizes_text(weight), (long long)out_channels,
            tsr_sizes_text(bias));
    return TSR_OK;
}

TsrStatus tsr_conv_check_kernel_fits(const TsrNnWindow *w) {
    char padded[96] = "", kernel[96] = "";
    bool small = false;
    for (int d = NN_DIMS - w->n; d < NN_DIMS; d++) {
        int64_t have = w->in[d] + 2 * w->pad[d], need = w->dilation[d] * (w->kernel[d] - 1) + 1;
        const char *x = d > NN_DIMS - w->n ? " x " : "";
        small |= have < need;
        snprintf(padded + strlen(padded), sizeof padded - strlen(padded), "%s%lld", x, (long long)have);
        snprintf(kernel + strlen(kernel), sizeof kernel - strlen(kernel), "%s%lld", x, (long long)need);
    }
    if (!small) return TSR_OK;
    return tsr_error(
        TSR_RUNTIME_ERROR,
        "Calculated padded input size per channel: (%s). Kernel size: (%s). Kernel size can't be greater than actual "
        "input size",
        padded, kernel);
}

static TsrStatus refuse_output_padding(const ConvArgs *a) {
    static const char *const dims[NN_DIMS] = {[NN_D] = "depth", [NN_H] = "height", [NN_W] = "width"};
    const struct {
        const char *name;
        const int64_t *of;
    } said[] = {{"output_padding", a->output_padding}, {"stride", a->w.stride}, {"dilation", a->w.dilation}};
    char text[400] = "";
    for (int i = 0; i < 3; i++)
        for (int d = a->n == 3 ? NN_D : NN_H; d <= NN_W; d++)
            snprintf(text + strlen(text), sizeof text - strlen(text), " %s_%s: %lld", said[i].name, dims[d],
                     (long long)said[i].of[d]);
    return tsr_error(TSR_RUNTIME_ERROR, "output padding must be smaller than either stride or dilation, but got%s",
                     text);
}

static TsrStatus check_transposed_output(const ConvArgs *a, const Conv *k) {
    char in[96] = "", out[96] = ""; /* lines are planes of one row to PyTorch */
    bool small = false;
    for (int d = NN_DIMS - a->n; d < NN_DIMS; d++) {
        const char *x = d > NN_DIMS - a->n ? " x " : "";
        small |= k->w.in[d] < 1;
        if (a->output_padding[d] >= a->w.stride[d] && a->output_padding[d] >= a->w.dilation[d])
            return refuse_output_padding(a);
        snprintf(in + strlen(in), sizeof in - strlen(in), "%s%lld", x, (long long)k->w.out[d]);
        snprintf(out + strlen(out), sizeof out - strlen(out), "%s%lld", x, (long long)k->w.in[d]);
    }
    if (!small) return TSR_OK;
    const char *row = a->n == 1 ? "1 x " : "";
    return tsr_error(
        TSR_RUNTIME_ERROR,
        "Given input size per channel: (%s%s). Calculated output size per channel: (%s%s). Output size is too small",
        row, in, row, out);
}

/* oneDNN's words for a convolution that it has no way to compute. */
static TsrStatus no_primitive(const ConvArgs *a) {
    return tsr_error(TSR_RUNTIME_ERROR,
                     "could not create a primitive descriptor for the %s forward propagation primitive. Run "
                     "workload with environment variable ONEDNN_VERBOSE=all to get additional diagnostic information.",
                     a->transposed ? "deconvolution" : "convolution");
}

/* What oneDNN finds wrong with a transposed convolution, whose output may be empty. */
static TsrStatus check_deconvolution(const ConvArgs *a, const Conv *k) {
    bool zero = false, spread = false;
    for (int d = NN_DIMS - a->n; d < NN_DIMS; d++) {
        if (k->w.in[d] < 0)
            return tsr_error(TSR_RUNTIME_ERROR, "could not construct a memory descriptor using a format tag");
        zero |= a->w.dilation[d] == 0;
        spread |= a->w.dilation[d] == 0 && k->w.kernel[d] > 1;
    }
    if (zero && a->n == 3) return tsr_error(TSR_RUNTIME_ERROR, "dimensions are invalid");
    return spread || a->weight->numel == 0 ? no_primitive(a) : TSR_OK;
}

static TsrStatus check_for_onednn(const ConvArgs *a, const Conv *k) {
    TSR_TRY(check_same_dtype(a->input, a->weight, "weight", true));
    if (a->bias != NULL) TSR_TRY(check_same_dtype(a->input, a->bias, "bias", true));
    if (a->transposed) return check_deconvolution(a, k);
    TSR_TRY(check_dilation(a, true));
    return a->weight->numel == 0 ? no_primitive(a) : TSR_OK;
}

/* What PyTorch's own loops, one for each kind, say to a weight without elements. */
static TsrStatus check_kernel_there(const ConvArgs *a, const Conv *k, bool dilated) {
    const int64_t *size = k->w.kernel;
    if (a->weight->numel > 0) return TSR_OK;
    if (a->transposed && (a->n == 3 || tsr_nn_volume(size) > 0))
        return tsr_error(TSR_RUNTIME_ERROR, "non-empty %s expected%s, but got: %s",
                         a->n == 3 ? "5D (n_output_plane x n_input_plane x kernel_depth x kernel_height x "
                                     "kernel_width) tensor"
                                   : "2D or 4D weight tensor",
                         a->n == 3 ? " for weight" : "", tsr_sizes_text(a->weight));
    if (dilated)
        return tsr_error(TSR_RUNTIME_ERROR, "kernel size should be greater than zero, but got %s",
                         tsr_layout_text(TSR_MAX(a->n, 2), size + (a->n == 3 ? NN_D : NN_H)));
    if (a->n == 3)
        return tsr_error(TSR_RUNTIME_ERROR,
                         "kernel size should be greater than zero, but got: %lld x %lld x %lld (TxHxW)",
                         (long long)size[NN_D], (long long)size[NN_H], (long long)size[NN_W]);
    return tsr_error(TSR_RUNTIME_ERROR,
                     "kernel size should be greater than zero, but got kernel_height: %lld kernel_width: %lld",
                     (long long)size[NN_H], (long long)size[NN_W]);
}

/* A bias that is added in the end, to a result of that dtype. */
TsrStatus tsr_conv_check_added_bias(const ConvArgs *a, TsrDtype dtype) {
    TSR_OWNED like = NULL;
    TsrDtype sum;
    TSR_TRY(tsr_tensor_new(&like, tsr_ndim(a->weight), a->weight->sizes, dtype, TSR_DEVICE_META));
    TSR_TRY(tsr_result_type(&sum, (TsrTensor *const[]){like, (TsrTensor *)a->bias}, 2));
    if (tsr_can_cast(sum, dtype)) return TSR_OK;
    return tsr_error(TSR_RUNTIME_ERROR, "result type %s can't be cast to the desired output type %s",
                     tsr_dtype_scalar_name(sum), tsr_dtype_scalar_name(dtype));
}

/* The dtypes that PyTorch's own loops take. */
static TsrStatus check_own_dtypes(const ConvArgs *a, bool dilated) {
    const TsrTensor *t = a->input;
    if (!dilated || t->sizes[0] > 0) TSR_TRY(check_conv_dtype(a, dilated));
    TSR_TRY(check_same_dtype(t, a->weight, "weight", false));
    if (a->bias != NULL && a->transposed && a->n < 3) return tsr_conv_check_added_bias(a, t->dtype);
    return a->bias != NULL && a->transposed ? check_same_dtype(t, a->bias, "bias", false) : TSR_OK;
}

/* Once the kernel is known to fit. PyTorch's own loops look at numbers before they look at dtypes. */
TsrStatus tsr_conv_check_work(const ConvArgs *a, const Conv *k) {
    bool dilated = false;
    if (tsr_conv_is_without_work(a)) return TSR_OK;
    if (a->input->numel == 0)
        return tsr_error(TSR_RUNTIME_ERROR,
                         "Only zero batch or zero channel inputs are supported, but got input shape: %s",
                         planes_text(a->input, a->n));
    if (tsr_conv_goes_to_onednn(a, a->bare ? a->input->dtype : tsr_dtype_real_of(a->input->dtype)))
        return check_for_onednn(a, k);
    for (int d = NN_DIMS - a->n; d < NN_DIMS && !a->transposed; d++) dilated |= a->w.dilation[d] > 1;
    TSR_TRY(check_kernel_there(a, k, dilated));
    TSR_TRY(check_dilation(a, false));
    if (a->transposed) TSR_TRY(check_transposed_output(a, k));
    return check_own_dtypes(a, dilated);
}

static TsrStatus check_complex_part(const TsrTensor *t, const TsrTensor *other, const char *what) {
    char one[256], two[256];
    if (other == NULL || other->dtype == t->dtype) return TSR_OK;
    return tsr_error(TSR_RUNTIME_ERROR, "Input type (%s) and %s type (%s) should be the same",
                     tsr_old_type_text(one, sizeof one, t), what, tsr_old_type_text(two, sizeof two, other));
}

TsrStatus tsr_conv_check_input_rank(const ConvArgs *a) {
    static const char *const dims[] = {"", "2D (unbatched) or 3D (batched)", "3D (unbatched) or 4D (batched)",
                                       "4D (unbatched) or 5D (batched)"};
    int ndim = tsr_ndim(a->input), n = a->n;
    if (ndim != n + 1 && ndim != n + 2)
        return tsr_error(TSR_RUNTIME_ERROR, "Expected %s input to conv%s%dd, but got input of size: %s", dims[n],
                         a->transposed ? "_transpose" : "", n, tsr_layout_text(ndim, a->input->sizes));
    if (tsr_dtype_is_complex(a->input->dtype)) {
        TSR_TRY(check_complex_part(a->input, a->weight, "weight"));
        TSR_TRY(check_complex_part(a->input, a->bias, "bias"));
    }
    return TSR_OK;
}

TsrStatus tsr_conv_check_ranks(const ConvArgs *a) {
    TSR_TRY(tsr_conv_check_input_rank(a));
    if (tsr_ndim(a->weight) < 3) return tsr_error(TSR_RUNTIME_ERROR, "weight should have at least three dimensions");
    return a->groups > 0 ? TSR_OK : tsr_error(TSR_RUNTIME_ERROR, "non-positive groups is not supported");
}

TsrStatus tsr_conv_check_same_ranks(const ConvArgs *a) {
    int k = tsr_ndim(a->weight);
    if (k == a->n + 2) return TSR_OK;
    return tsr_error(
        TSR_RUNTIME_ERROR,
        "Expected %d-dimensional input for %d-dimensional weight%s, but got %d-dimensional input of size %s instead", k,
        k, tsr_layout_text(k, a->weight->sizes), a->n + 2, batch_text(a->input, a->n));
}
