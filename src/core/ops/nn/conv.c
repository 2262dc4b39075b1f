/* Convolution over 1 to 3 spatial dimensions: directly where conv_direct.c (conv_pairs.c) can, else im2col and a matrix
 * product for each sample and group; the transposed one is a product and col2im (conv_columns.c). */
#include "core/op/shared.h"
#include "core/op/compose.h"
#include "conv_check.h"

#include <string.h>

#include "core/engine/gemm.h"
#include "core/element/halffloat.h"
#include "core/tensor/owned.h"

/* ---- the products ---- */

/* The work is cut by samples and, where nothing is added back, by stretches of the output whose columns stay in the
 * second cache. */
enum { COLUMNS_BYTES = 1 << 18 };

typedef struct ConvJob {
    const Conv *k;
    const char *weight;
    char *image, *filtered; /* both sides, whole batch */
    TsrDtype dtype;
    bool add;            /* onto what is in the output */
    bool chain, onto;    /* tsr_gemm_chain */
    int64_t parts, part; /* of a sample's output: how many, how long */
} ConvJob;

/* Whether a column is a position of the image as it lies. */
static bool reads_in_place(const Conv *k) {
    bool plain = !k->half && !k->transposed;
    for (int d = 0; d < NN_DIMS; d++)
        plain = plain && k->w.kernel[d] == 1 && k->w.stride[d] == 1 && k->w.pad[d] == 0 && k->w.in[d] == k->w.out[d];
    return plain;
}

static TsrStatus conv_part(const ConvJob *job, int64_t sample, int64_t begin, int64_t end, char *columns) {
    const Conv *k = job->k;
    int64_t gc = k->channels / k->groups, gf = k->filters / k->groups, area = tsr_nn_volume(k->w.out),
            rows = gc * tsr_nn_volume(k->w.kernel);
    TsrScalar one = tsr_scalar_int(1), zero = tsr_scalar_int(0);
    for (int64_t g = 0; g < k->groups; g++) {
        TSR_TRY(tsr_interrupt_check());
        char *image = job->image + (size_t)((sample * k->channels + g * gc) * tsr_nn_volume(k->w.in)) * k->item;
        char *filtered = job->filtered + (size_t)((sample * k->filters + g * gf) * area + begin) * k->item;
        const ConvColumns both = {k, columns, image, gc, begin, end, k->half ? TSR_FLOAT16 : job->dtype};
        TsrMat weight = {(void *)(job->weight + (size_t)(g * gf * rows) * k->item), gf, rows, rows, 1, false};
        TsrMat cols = {columns, rows, end - begin, end - begin, 1, false},
               out = {filtered, gf, end - begin, area, 1, false};
        if (!job->k->transposed) {
            if (!reads_in_place(k)) tsr_conv_to_columns(&both);
            else cols = (TsrMat){image + (size_t)begin * k->item, rows, end - begin, area, 1, false};
            TsrGemm product = {job->dtype, weight, cols, out, one, (job->chain ? job->onto : job->add) ? one : zero};
            TSR_TRY((job->chain ? tsr_gemm_chain : tsr_gemm)(&product));
        } else {
            TsrMat flipped = {weight.data, rows, gf, 1, rows, false};
            TSR_TRY(tsr_gemm(&(TsrGemm){job->dtype, flipped, out, cols, one, zero}));
            float *column = (float *)(void *)columns;
            for (int64_t i = 0; job->k->half && i < rows * (end - begin); i++)
                column[i] = tsr_half_widen(tsr_half_round(column[i]));
            TSR_TRY(tsr_conv_from_columns(&both));
        }
    }
    return TSR_OK;
}

static void conv_parts(int64_t begin, int64_t end, void *user) {
    const ConvJob *job = user;
    const Conv *k = job->k;
    int64_t area = tsr_nn_volume(k->w.out);
    TsrDataPtr columns;
    size_t bytes = (size_t)(k->channels / k->groups * tsr_nn_volume(k->w.kernel) * job->part) * k->item;
    TsrStatus status = tsr_allocate(&columns, TSR_DEVICE_CPU, TSR_MAX(bytes, (size_t)1));
    if (status == TSR_OK) {
        for (int64_t i = begin; i < end && status == TSR_OK; i++) {
            int64_t from = i % job->parts * job->part;
            status = conv_part(job, i / job->parts, from, TSR_MIN(from + job->part, area), columns.data);
        }
        tsr_dataptr_release(&columns);
    }
    if (status != TSR_OK) tsr_parallel_fail(status);
}

/* Equal parts; a transposed convolution has one, since its sums go to the same places. */
static void choose_parts(ConvJob *job) {
    const Conv *k = job->k;
    int64_t area = tsr_nn_volume(k->w.out), rows = k->channels / k->groups * tsr_nn_volume(k->w.kernel);
    int64_t most = TSR_MAX(COLUMNS_BYTES / ((int64_t)k->item * TSR_MAX(rows, 1)), 64);
    job->parts = job->k->transposed ? 1 : (area + most - 1) / most;
    job->part = (area + job->parts - 1) / job->parts;
    job->parts = (area + job->part - 1) / job->part;
}

static TsrStatus add_bias(TsrTensor *out, const TsrTensor *bias, int n) {
    int64_t sizes[TSR_MAX_DIMS];
    TsrTensor *view, *sum;
    if (bias == NULL) return TSR_OK;
    sizes[0] = bias->sizes[0];
    for (int d = 1; d <= n; d++) sizes[d] = 1;
    TSR_TRY(tsr_tensor_new_reshape(&view, bias, n + 1, sizes));
    TsrStatus status = tsr_invoke_new(&sum, 1, "add", "!ttt", out, out, view);
    tsr_tensor_free(view);
    if (status == TSR_OK) tsr_tensor_free(sum);
    return status;
}

/* ---- operators ---- */

/* The geometry of both sides; `image` is the larger one: the input of a convolution, the output of a transposed one. */
static TsrStatus set_sizes(Conv *k, ConvArgs *a) {
    const TsrTensor *t = a->input;
    int ndim = tsr_ndim(t), n = a->n;
    int64_t given[NN_DIMS];
    tsr_nn_spatial(given, t, n);
    tsr_nn_spatial(a->w.kernel, a->weight, n);
    k->w = a->w;
    k->w.n = n;
    k->groups = a->groups;
    k->batch = ndim == n + 2 ? t->sizes[0] : 1;
    for (int d = 0; d < NN_DIMS; d++) {
        int64_t reach = a->w.dilation[d] * (a->w.kernel[d] - 1) + 1;
        if (a->transposed) {
            k->w.out[d] = given[d];
            k->w.in[d] =
                d < NN_DIMS - n ? 1 : (given[d] - 1) * a->w.stride[d] - 2 * a->w.pad[d] + reach + a->output_padding[d];
        } else {
            k->w.in[d] = given[d];
        }
    }
    if (!a->transposed) {
        TSR_TRY(tsr_conv_check_kernel_fits(&k->w));
        for (int d = 0; d < NN_DIMS; d++)
            k->w.out[d] =
                (k->w.in[d] + 2 * k->w.pad[d] - k->w.dilation[d] * (k->w.kernel[d] - 1) - 1) / k->w.stride[d] + 1;
    }
    k->channels = a->transposed ? a->weight->sizes[1] * a->groups : t->sizes[ndim - n - 1];
    k->filters = a->weight->sizes[0];
    return TSR_OK;
}

/* Which convolutions PyTorch gives to oneDNN. */
static bool is_onednn(const Conv *k, const TsrTensor *in) {
    const int64_t *kernel = k->w.kernel;
    if (in->dtype == TSR_BFLOAT16) return true;
    return in->dtype == TSR_FLOAT32 &&
           (k->groups > 1 || (kernel[NN_W] > 3 && kernel[NN_H] > 3) || k->batch > 1 || in->numel > 20480);
}

static TsrStatus run_products(TsrTensor *out, const TsrTensor *in, const TsrTensor *weight, const TsrTensor *bias,
                              const Conv *k) {
    bool transposed = k->transposed, chain = !transposed && is_onednn(k, in), onto = chain && k->groups == 1,
         bias_last = transposed || (chain && !onto);
    ConvJob job = {.k = k,
                   .weight = tsr_data(weight),
                   .dtype = in->dtype,
                   .chain = chain,
                   .onto = onto && bias != NULL,
                   .add = !bias_last && bias != NULL};
    job.image = transposed ? tsr_data(out) : tsr_data(in);
    job.filtered = transposed ? tsr_data(in) : tsr_data(out);
    if (transposed || job.add) TSR_TRY(tsr_tensor_fill(out, tsr_scalar_int(0)));
    if (job.add) TSR_TRY(add_bias(out, bias, k->w.n));
    choose_parts(&job);
    TSR_TRY(tsr_parallel_for(k->batch * job.parts, 1, conv_parts, &job));
    return bias_last ? add_bias(out, bias, k->w.n) : TSR_OK;
}

/* A kernel of one point that takes all points there are. */
static bool is_product(const Conv *k) {
    bool is = k->groups == 1 && tsr_nn_volume(k->w.kernel) == 1;
    for (int d = 0; d < NN_DIMS; d++) is = is && k->w.stride[d] == 1 && k->w.pad[d] == 0;
    return is;
}

static TsrStatus run_conv(TsrTensor *out, const TsrTensor *in, const TsrTensor *weight, const TsrTensor *bias,
                          Conv *k) {
    const float *bias_data = bias != NULL ? tsr_data(bias) : NULL;
    k->item = tsr_itemsize(in);
    if (out->numel == 0) return TSR_OK;
    bool done = false;
    k->minds_wild = k->onednn && !k->transposed && in->dtype == TSR_FLOAT32 && tsr_conv_minds_wild(k);
    if (!k->transposed && is_onednn(k, in) && !is_product(k) && in->numel > 0)
        TSR_TRY(tsr_conv_direct(&done, tsr_data(out), tsr_data(in), tsr_data(weight), bias_data, k));
    if (!done && k->minds_wild && tsr_conv_is_wild(tsr_data(weight), weight->numel))
        return tsr_conv_within(tsr_data(out), tsr_data(in), tsr_data(weight), bias_data, k);
    return done ? TSR_OK : run_products(out, in, weight, bias, k);
}

/* The same on a device, where halves are read and written as such. */
static TsrStatus convolution_there(TsrTensor **result, const ConvArgs *a, const Conv *k, int ndim,
                                   const int64_t *sizes) {
    TSR_OWNED in = NULL;
    TSR_OWNED weight = NULL;
    TSR_OWNED numbers = NULL;
    TSR_OWNED bias = NULL;
    TSR_OWNED out = NULL;
    const TsrDtype wide = tsr_nn_computable(a->input->dtype);
    const TsrDeviceConv how = {tsr_nn_device_window(&k->w), k->groups, k->transposed};
    TsrDeviceWork work = {.what = TSR_P_CONV, .params = &how, .nparams = sizeof how};
    TSR_TRY(tsr_tensor_new_resolved(&in, a->input));
    TSR_TRY(tsr_tensor_new_contiguous(&weight, a->weight, TSR_CONTIGUOUS));
    if (a->bias != NULL) TSR_TRY(tsr_tensor_new_cast(&numbers, a->bias, wide));
    if (a->bias != NULL) TSR_TRY(tsr_tensor_new_contiguous(&bias, numbers, TSR_CONTIGUOUS));
    TSR_TRY(tsr_tensor_new(&out, ndim, sizes, in->dtype, in->device));
    TSR_TRY(tsr_nn_work_add(&work, out, a->n, true));
    TSR_TRY(tsr_nn_work_add(&work, in, a->n, false));
    TSR_TRY(tsr_nn_work_add(&work, weight, a->n, false));
    if (bias != NULL) TSR_TRY(tsr_device_work_add(&work, bias, false));
    if (out->numel > 0) TSR_TRY(tsr_device_work(in->device.type, &work));
    *result = tsr_owned_take(&out);
    return TSR_OK;
}

/* A bias that is added in the end keeps its dtype. */
static TsrStatus new_bias(TsrTensor **result, const ConvArgs *a, TsrDtype dtype) {
    TSR_OWNED numbers = NULL;
    if (a->transposed || !a->bare) return tsr_nn_new_computable(result, a->bias, TSR_CONTIGUOUS);
    TSR_TRY(tsr_tensor_new_cast(&numbers, a->bias, dtype));
    return tsr_tensor_new_contiguous(result, numbers, TSR_CONTIGUOUS);
}

/* The convolution of bfloat16 by pairs of channels; NULL where it can't be. */
static TsrStatus paired_convolution(TsrTensor **result, const ConvArgs *a, const Conv *k, int ndim,
                                    const int64_t *sizes) {
    TSR_OWNED in = NULL;
    TSR_OWNED weight = NULL;
    TSR_OWNED bias = NULL;
    TSR_OWNED out = NULL;
    bool done;
    TSR_TRY(tsr_tensor_new_contiguous(&in, a->input, TSR_CONTIGUOUS));
    TSR_TRY(tsr_tensor_new_contiguous(&weight, a->weight, TSR_CONTIGUOUS));
    if (a->bias != NULL) TSR_TRY(new_bias(&bias, a, TSR_FLOAT32));
    TSR_TRY(tsr_tensor_new(&out, ndim, sizes, TSR_FLOAT32, in->device));
    TSR_TRY(tsr_conv_pairs(&done, out, in, weight, bias != NULL ? tsr_data(bias) : NULL, k));
    *result = done ? tsr_owned_take(&out) : NULL;
    return TSR_OK;
}

/* The convolution of real or integer tensors of a computable dtype. */
static TsrStatus real_convolution(TsrTensor **result, const ConvArgs *a, Conv *k, int ndim, const int64_t *sizes) {
    if (tsr_on_device(a->input)) return convolution_there(result, a, k, ndim, sizes);
    TSR_OWNED in = NULL;
    TSR_OWNED weight = NULL;
    TSR_OWNED bias = NULL;
    TSR_OWNED out = NULL;
    if (a->input->dtype == TSR_BFLOAT16 && !a->transposed && !is_product(k) && !tsr_is_meta(a->input)) {
        TSR_TRY(paired_convolution(result, a, k, ndim, sizes));
        if (*result != NULL) return TSR_OK;
    }
    TSR_TRY(tsr_nn_new_computable(&in, a->input, TSR_CONTIGUOUS));
    TSR_TRY(tsr_nn_new_computable(&weight, a->weight, TSR_CONTIGUOUS));
    if (a->bias != NULL) TSR_TRY(new_bias(&bias, a, in->dtype));
    TSR_TRY(tsr_tensor_new(&out, ndim, sizes, in->dtype, in->device));
    k->half = k->transposed && a->input->dtype == TSR_FLOAT16;
    k->onednn = tsr_conv_goes_to_onednn(a, a->input->dtype);
    if (!tsr_is_meta(in)) TSR_TRY(run_conv(out, in, weight, bias, k));
    *result = tsr_owned_take(&out);
    return TSR_OK;
}

static TsrStatus rounded_convolution(TsrTensor **result, const ConvArgs *a, Conv *k, int ndim, const int64_t *sizes) {
    TSR_OWNED wide = NULL;
    TSR_TRY(real_convolution(&wide, a, k, ndim, sizes));
    return tsr_tensor_new_cast(result, wide, a->input->dtype);
}

/* Gauss's trick, as PyTorch does it: x = conv(re, re, re), y = conv(im, im), z = conv(re + im, re + im, re + im) give x
 * - y + i (z - x - y). */
static TsrStatus complex_convolution(TsrTensor **result, const ConvArgs *a, Conv *k, int ndim, const int64_t *sizes) {
    TsrScope s = {0};
    const TsrTensor *given[3] = {a->input, a->weight, a->bias};
    TsrTensor *re[3] = {NULL}, *im[3] = {NULL}, *both[3] = {NULL};
    for (int i = 0; i < 3 && given[i] != NULL; i++) {
        re[i] = CALL(&s, "real", "t", given[i]);
        im[i] = CALL(&s, "imag", "t", given[i]);
        both[i] = CALL(&s, "add", "tt", re[i], im[i]);
    }
    ConvArgs part = *a;
    part.input = re[0], part.weight = re[1], part.bias = re[2];
    TsrTensor *x = MAKE(&s, rounded_convolution, &part, k, ndim, sizes);
    part.input = im[0], part.weight = im[1], part.bias = NULL;
    TsrTensor *y = MAKE(&s, rounded_convolution, &part, k, ndim, sizes);
    part.input = both[0], part.weight = both[1], part.bias = both[2];
    TsrTensor *z = MAKE(&s, rounded_convolution, &part, k, ndim, sizes);
    TsrTensor *real = CALL(&s, "sub", "tt", x, y), *rest = CALL(&s, "sub", "tt", z, x),
              *imaginary = CALL(&s, "sub", "tt", rest, y);
    imaginary = CALL(&s, "mul", "ts", imaginary, tsr_scalar_complex(0, 1)); /* which makes nan of inf */
    return tsr_scope_end_new(result, &s, CALL(&s, "add", "tt", real, imaginary));
}

/* Where the input or the weight is channels last, so is the result (lines are made row-major first, which leaves those
 * of one channel as they are, unless they are parts of complex numbers); but not volumes that PyTorch keeps from
 * oneDNN. Complex numbers are joined of their parts, and a result that may pass for row-major is. */
static TsrStatus place_move(TsrTensor **result, const ConvArgs *a) {
    TSR_OWNED input = NULL;
    TSR_OWNED planes = NULL;
    TSR_OWNED placed = NULL;
    TsrTensor *t = *result, *final;
    const bool complex = tsr_dtype_is_complex(t->dtype);
    bool single = tsr_ndim(t) == a->n + 1;
    if (a->n == 3 && !tsr_conv_goes_to_onednn(a, a->input->dtype)) return TSR_OK;
    TSR_TRY(tsr_nn_planes_new(&input, (TsrTensor *)a->input, 2, single, false));
    bool kept = a->n > 1 || (!complex && tsr_is_contiguous(input, TSR_CONTIGUOUS));
    if (!tsr_nn_is_channels_last(a->weight, a->n) && !(kept && tsr_nn_is_channels_last(input, a->n))) return TSR_OK;
    TSR_TRY(tsr_nn_planes_new(&planes, t, a->n, single, false));
    TSR_TRY(tsr_nn_new_channels_last(&placed, planes));
    if (complex && tsr_is_contiguous(placed, TSR_CONTIGUOUS)) return TSR_OK;
    TSR_TRY(tsr_nn_planes_new(&final, placed, a->n, single, true));
    tsr_tensor_free(t);
    *result = final;
    return TSR_OK;
}

/* Of no images PyTorch multiplies the input with the first number of the weight, of no channels with all of it. */
static TsrStatus dtype_without_work(TsrDtype *dtype, const ConvArgs *a) {
    const TsrTensor *t = a->input;
    TSR_OWNED first = NULL;
    if (t->sizes[tsr_ndim(t) - a->n - 1] != 0)
        TSR_TRY(tsr_tensor_new(&first, 0, NULL, a->weight->dtype, a->weight->device));
    TsrTensor *other = first != NULL ? first : (TsrTensor *)a->weight;
    return tsr_result_type(dtype, (TsrTensor *const[]){(TsrTensor *)t, other}, 2);
}

static TsrStatus convolve(TsrTensor **result, ConvArgs *a) {
    Conv k = {.transposed = a->transposed};
    TsrTensor *cast = NULL;
    int64_t sizes[TSR_MAX_DIMS];
    int ndim = tsr_ndim(a->input), at = 0;
    TSR_TRY(tsr_conv_check_shapes(a));
    TSR_TRY(set_sizes(&k, a));
    TSR_TRY(tsr_conv_check_work(a, &k));
    if (ndim == a->n + 2) sizes[at++] = k.batch;
    sizes[at++] = a->transposed ? k.channels : k.filters;
    for (int d = NN_DIMS - a->n; d < NN_DIMS; d++) sizes[at++] = a->transposed ? k.w.in[d] : k.w.out[d];
    TSR_OWNED out = NULL;
    if (tsr_conv_is_without_work(a)) {
        TsrDtype dtype;
        const bool no_channels = a->input->sizes[ndim - a->n - 1] == 0;
        if (no_channels) sizes[at - a->n - 1] = 0; /* of no channels PyTorch makes none */
        TSR_TRY(dtype_without_work(&dtype, a));
        if (tsr_dtype_is_float8(dtype) && !no_channels) return tsr_not_implemented("mul_cpu_reduced_float", dtype);
        if (dtype == TSR_BCOMPLEX32 && !no_channels) return tsr_not_implemented("mul_cpu", dtype);
        if (a->bias != NULL && tsr_in(TSR_BITS_UINT | TSR_BITS_FLOAT8, dtype))
            return tsr_not_implemented("add_stub", dtype);
        if (a->bias != NULL) TSR_TRY(tsr_conv_check_added_bias(a, dtype));
        return tsr_tensor_new(result, at, sizes, dtype, a->input->device);
    }
    TSR_TRY((tsr_dtype_is_complex(a->input->dtype) ? complex_convolution : real_convolution)(&out, a, &k, ndim, sizes));
    TSR_TRY(tsr_tensor_new_cast(&cast, out, a->input->dtype));
    TsrStatus status = place_move(&cast, a);
    if (status == TSR_OK) *result = cast;
    else tsr_tensor_free(cast);
    return status;
}

/* A list of one number stands for as many as the weight has spatial dimensions. */
static TsrStatus conv_ints(int64_t *out, const TsrArg *arg, const ConvArgs *a, int64_t front, const char *name) {
    int wanted = tsr_ndim(a->weight) - 2;
    if (arg->n == wanted || arg->n == 1)
        return tsr_nn_window_ints(out, (TsrNnInts){arg, "conv", name, a->n, front, NULL});
    return tsr_error(
        TSR_RUNTIME_ERROR,
        "expected %s to be a single integer value or a list of %d values to match the convolution dimensions, but "
        "got %s=%s",
        name, wanted, name, tsr_layout_text(arg->n, arg->ints));
}

static ConvArgs plain_args(const TsrOpCall *c, int n) {
    return (ConvArgs){.input = c->arg[0].t,
                      .weight = c->arg[1].t,
                      .bias = tsr_arg_given(&c->arg[2]) ? c->arg[2].t : NULL,
                      .n = n,
                      .groups = c->arg[6].i};
}

static TsrStatus conv(TsrOpCall *c, int n) {
    ConvArgs a = plain_args(c, n);
    TsrTensor *out;
    if (a.bias != NULL && a.bias->dtype != a.input->dtype)
        return tsr_error(TSR_RUNTIME_ERROR, "Input type (%s) and bias type (%s) should be the same",
                         tsr_dtype_c_name(a.input->dtype), tsr_dtype_c_name(a.bias->dtype));
    TSR_TRY(tsr_conv_check_ranks(&a));
    TSR_TRY(conv_ints(a.w.stride, &c->arg[3], &a, 1, "stride"));
    TSR_TRY(conv_ints(a.w.pad, &c->arg[4], &a, 0, "padding"));
    TSR_TRY(conv_ints(a.w.dilation, &c->arg[5], &a, 1, "dilation"));
    int64_t zeros[NN_DIMS] = {0}; /* PyTorch adds as many as the function has dimensions, and checks them too */
    TsrArg none = {.kind = TSR_ARG_INTS, .n = n, .ints = zeros};
    TSR_TRY(conv_ints(a.output_padding, &none, &a, 0, "output_padding"));
    TSR_TRY(convolve(&out, &a));
    return tsr_return_move(c, out);
}

TsrStatus op_conv1d(TsrOpCall *c) { return conv(c, 1); }
TsrStatus op_conv2d(TsrOpCall *c) { return conv(c, 2); }
TsrStatus op_conv3d(TsrOpCall *c) { return conv(c, 3); }

/* padding='same' may need one column more on the right: the input is padded first then. */
static TsrStatus conv_named_padding(TsrOpCall *c, int n) {
    ConvArgs a = plain_args(c, n);
    TsrTensor *padded = NULL, *out = NULL;
    const char *name = c->arg[4].str;
    int64_t pads[2 * NN_DIMS] = {0};
    bool uneven = false, same = strcmp(name, "same") == 0;
    TSR_TRY(tsr_conv_check_input_rank(&a));
    if (!same && strcmp(name, "valid") != 0) return tsr_error(TSR_RUNTIME_ERROR, "Invalid padding string: '%s'", name);
    TSR_TRY(tsr_conv_check_ranks(&a));
    if (same) TSR_TRY(tsr_conv_check_same_ranks(&a));
    TSR_TRY(conv_ints(a.w.stride, &c->arg[3], &a, 1, "stride"));
    TSR_TRY(conv_ints(a.w.dilation, &c->arg[5], &a, 1, "dilation"));
    for (int d = 0; d < NN_DIMS; d++) a.w.pad[d] = 0;
    if (same) {
        for (int d = NN_DIMS - n; d < NN_DIMS; d++) {
            if (a.w.stride[d] != 1)
                return tsr_error(TSR_RUNTIME_ERROR, "padding='same' is not supported for strided convolutions");
            int64_t total = a.w.dilation[d] * (a.weight->sizes[d - NN_DIMS + n + 2] - 1);
            a.w.pad[d] = total / 2;
            pads[2 * (NN_DIMS - 1 - d)] = 0;
            pads[2 * (NN_DIMS - 1 - d) + 1] = total % 2;
            uneven |= total % 2 != 0;
        }
    }
    if (uneven) {
        TSR_TRY(tsr_invoke_new(&padded, 1, "constant_pad_nd", "tI", a.input, 2 * n, pads));
        a.input = padded;
    }
    TsrStatus status = convolve(&out, &a);
    tsr_tensor_free(padded);
    return tsr_finish_move(c, status, out);
}

TsrStatus op_conv1d_padding(TsrOpCall *c) { return conv_named_padding(c, 1); }
TsrStatus op_conv2d_padding(TsrOpCall *c) { return conv_named_padding(c, 2); }
TsrStatus op_conv3d_padding(TsrOpCall *c) { return conv_named_padding(c, 3); }

/* (input, weight, bias, stride, padding, output_padding, groups, dilation) */
static TsrStatus conv_transpose(TsrOpCall *c, int n) {
    ConvArgs a = plain_args(c, n);
    TsrTensor *out;
    a.transposed = true;
    TSR_TRY(tsr_conv_check_ranks(&a));
    TSR_TRY(conv_ints(a.w.stride, &c->arg[3], &a, 1, "stride"));
    TSR_TRY(conv_ints(a.w.pad, &c->arg[4], &a, 0, "padding"));
    TSR_TRY(conv_ints(a.w.dilation, &c->arg[7], &a, 1, "dilation"));
    TSR_TRY(conv_ints(a.output_padding, &c->arg[5], &a, 0, "output_padding"));
    TSR_TRY(convolve(&out, &a));
    return tsr_return_move(c, out);
}

/* (input, weight, bias, stride, padding, dilation, transposed, output_padding, groups): what the others come down to in
 * PyTorch. Complex numbers are taken apart before that. */
TsrStatus op_convolution(TsrOpCall *c) {
    ConvArgs a = {.input = c->arg[0].t,
                  .weight = c->arg[1].t,
                  .bias = tsr_arg_given(&c->arg[2]) ? c->arg[2].t : NULL,
                  .n = tsr_ndim(c->arg[1].t) - 2,
                  .transposed = c->arg[6].b,
                  .groups = c->arg[8].i,
                  .bare = true};
    TsrTensor *out;
    if (a.n < 1) return tsr_error(TSR_RUNTIME_ERROR, "weight should have at least three dimensions");
    if (a.n > 3) return tsr_error(TSR_RUNTIME_ERROR, "only convolutions over one to three dimensions are there");
    if (a.groups <= 0) return tsr_error(TSR_RUNTIME_ERROR, "non-positive groups is not supported");
    TSR_TRY(conv_ints(a.w.stride, &c->arg[3], &a, 1, "stride"));
    TSR_TRY(conv_ints(a.w.pad, &c->arg[4], &a, 0, "padding"));
    TSR_TRY(conv_ints(a.w.dilation, &c->arg[5], &a, 1, "dilation"));
    TSR_TRY(conv_ints(a.output_padding, &c->arg[7], &a, 0, "output_padding"));
    TSR_TRY(convolve(&out, &a));
    return tsr_return_move(c, out);
}

TsrStatus op_conv_transpose1d(TsrOpCall *c) { return conv_transpose(c, 1); }
TsrStatus op_conv_transpose2d(TsrOpCall *c) { return conv_transpose(c, 2); }
TsrStatus op_conv_transpose3d(TsrOpCall *c) { return conv_transpose(c, 3); }
