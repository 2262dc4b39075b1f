/* Normalisation: rows scaled by their own mean and variance (layer, group), channels by the batch's (batch); rms_norm
 * is a composition. The digits are PyTorch's: its order of summation, its lanes, and a fused multiplication wherever
 * its compiler makes one. */
#include "core/engine/device.h"
#include "core/op/compose.h"
#include "core/tensor/loan.h"
#include "core/tensor/owned.h"
#include "nn.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "core/kernels/reduce/reduce.h"
#include "core/kernels/simd.h"
#include "core/ops/reduce/reduce.h"

/* rows x columns in memory; mean and rstd a row; weight and bias repeat as `affine_rows` says. */
typedef struct Rows {
    int64_t rows, columns;
    double eps;
    const char *in;
    char *out, *mean, *rstd;   /* mean and rstd may be NULL */
    const char *weight, *bias; /* may be NULL */
    int64_t affine_rows; /* 0: weight[column]; else weight[row % affine_rows channels...], one a `span` of columns */
    int64_t span;
    bool half;   /* the input was of half precision */
    bool pixels; /* groups of a channels-last input: a row is some neighbouring channels of each pixel */
} Rows;

/* The first element of row i. */
static int64_t row_start(const Rows *r, int64_t i) {
    int64_t group = i % TSR_MAX(r->affine_rows, (int64_t)1);
    return r->pixels ? (i - group) * r->columns + group * (r->columns / r->span) : i * r->columns;
}

enum { STRIP = 64 }; /* channels side by side */
enum {
    CHUNK = 16,        /* vectors whose moments are taken one after the other */
    CHUNK_LEVELS = 40, /* of pairwise merging above them */
    ABREAST = 4,       /* chunks taken at once */
    AHEAD = 2          /* times as many are asked for before they are used: the processor sees no stream in chunks that
                          are read side by side. group_norm of (4, 128, 64, 64) on Zen 3, bench/sweep/sweep.py --only
                          group_norm: 1.5 ms without, 1.2 with 1, 1.0 with 2 */
};

#define INLINE \
    static inline __attribute__((always_inline)) /* into the clones, where a fused multiplication is one instruction \
                                                  */

#define NAME(x) f32_##x
#define T float
#define LANES 8
#define FMA fmaf
#define SQRT sqrtf
#include "core/kernels/reduce/norm_rows.inc"
#define NAME(x) f64_##x
#define T double
#define LANES 4
#define FMA fma
#define SQRT sqrt
#include "core/kernels/reduce/norm_rows.inc"

static TsrStatus check_kind(const TsrTensor *t, const char *kernel) {
    return tsr_dtype_is_float(t->dtype) && tsr_dtype_size(t->dtype) > 1
               ? TSR_OK
               : tsr_error(TSR_NOT_IMPLEMENTED_ERROR, "\"%s\" not implemented for '%s'", kernel,
                           tsr_dtype_scalar_name(t->dtype));
}

/* Parameters are of the input's dtype, or all float32 beside a half; the first one decides which. */
static TsrStatus check_mixed(const TsrTensor *t, const TsrArg *params, int n) {
    const TsrTensor *first = NULL;
    for (int i = n - 1; i >= 0; i--)
        if (tsr_arg_given(&params[i])) first = params[i].t;
    if (first == NULL || first->dtype == t->dtype) return TSR_OK;
    for (int i = 0; i < n; i++)
        if (tsr_arg_given(&params[i]) && params[i].t->dtype != TSR_FLOAT32)
            return tsr_error(TSR_RUNTIME_ERROR, "mixed dtype (CPU): expect parameter to have scalar type of Float");
    bool half = tsr_in(TSR_BITS_HALF | TSR_BITS_FLOAT8, t->dtype); /* float8 has no kernel */
    return half ? TSR_OK : tsr_error(TSR_RUNTIME_ERROR, "mixed dtype (CPU): all inputs must share same datatype.");
}

/* What check_mixed lets through: where the first parameter has the input's dtype, those from `from` on that have
 * another. */
static TsrStatus check_unmixed(const TsrTensor *t, const TsrArg *params, int n, int from) {
    const TsrTensor *first = NULL;
    for (int i = 0; i < n; i++) {
        if (!tsr_arg_given(&params[i])) continue;
        if (first == NULL) first = params[i].t;
        if (i >= from && first->dtype == t->dtype && params[i].t->dtype != t->dtype)
            return tsr_unexpected_dtype(t->dtype, params[i].t->dtype);
    }
    return TSR_OK;
}

/* Of means and deviations: that of a weight and bias in float32. */
static TsrDtype statistics_dtype(const TsrTensor *t, const TsrArg *affine) {
    const TsrArg *first = tsr_arg_given(&affine[0]) ? &affine[0] : &affine[1];
    return tsr_arg_given(first) && first->t->dtype == TSR_FLOAT32 ? TSR_FLOAT32 : t->dtype;
}

/* An optional parameter in the computing dtype; *out NULL when it is not given. */
static TsrStatus new_parameter(TsrTensor **out, const TsrArg *arg, TsrDtype dtype) {
    TSR_OWNED dense = NULL;
    *out = NULL;
    if (!tsr_arg_given(arg)) return TSR_OK;
    TSR_TRY(tsr_tensor_new_cast(&dense, arg->t, dtype));
    return tsr_tensor_new_contiguous(out, dense, TSR_CONTIGUOUS);
}

typedef struct Norm {
    TsrTensor *in, *out, *mean, *rstd, *weight, *bias; /* owned; mean and rstd may be NULL */
} Norm;

static void norm_end(Norm *n) {
    TsrTensor *all[] = {n->in, n->out, n->mean, n->rstd, n->weight, n->bias};
    for (size_t i = 0; i < TSR_COUNTOF(all); i++) tsr_tensor_free(all[i]);
}

/* What norm_rows does, on a device: halves are read and written as such. */
static TsrStatus norm_there(Norm *n, const Rows *r, const TsrTensor *t, const TsrArg *affine) {
    TsrDtype wide = t->dtype == TSR_FLOAT64 ? TSR_FLOAT64 : TSR_FLOAT32;
    TsrDeviceNorm params = {.rows = r->rows, .columns = r->columns, .groups = 1, .span = r->span, .eps = r->eps};
    TsrDeviceWork work = {.what = TSR_P_NORM, .params = &params, .nparams = sizeof params};
    if (r->affine_rows > 0) params.groups = r->affine_rows;
    TSR_TRY(tsr_tensor_new_contiguous(&n->in, t, TSR_CONTIGUOUS));
    TSR_TRY(new_parameter(&n->weight, &affine[0], wide));
    TSR_TRY(new_parameter(&n->bias, &affine[1], wide));
    TSR_TRY(tsr_tensor_new_like(&n->out, n->in, TSR_DTYPE_NONE, TSR_CONTIGUOUS));
    params.statistics = n->mean != NULL;
    params.weight = n->weight != NULL;
    params.bias = n->bias != NULL;
    TsrTensor *const operands[] = {n->out, n->mean, n->rstd, n->in, n->weight, n->bias};
    for (int i = 0; i < 6; i++)
        if (operands[i] != NULL) TSR_TRY(tsr_device_work_add(&work, operands[i], i < 3));
    return r->rows > 0 ? tsr_device_work(t->device.type, &work) : TSR_OK;
}

/* Normalises rows of the input as `r` says (rows, columns, eps, affine), then by weight and bias, which stand beside
 * each other in every call; out has the input's sizes, mean and rstd those given. */
static TsrStatus norm_rows(Norm *n, Rows r, const TsrTensor *t, const TsrArg *affine, int stat_ndim,
                           const int64_t *stat_sizes) {
    TsrDtype wide = tsr_dtype_size(t->dtype) < 4 ? TSR_FLOAT32 : t->dtype;
    *n = (Norm){0};
    if (stat_sizes != NULL) {
        TSR_TRY(tsr_tensor_new(&n->mean, stat_ndim, stat_sizes, wide, t->device));
        TSR_TRY(tsr_tensor_new(&n->rstd, stat_ndim, stat_sizes, wide, t->device));
    }
    if (tsr_on_device(t)) return norm_there(n, &r, t, affine);
    if (r.pixels) TSR_TRY(tsr_tensor_new_cast(&n->in, t, wide));
    else TSR_TRY(tsr_nn_new_computable(&n->in, t, TSR_CONTIGUOUS));
    TSR_TRY(new_parameter(&n->weight, &affine[0], n->in->dtype));
    TSR_TRY(new_parameter(&n->bias, &affine[1], n->in->dtype));
    TSR_TRY(tsr_tensor_new_like(&n->out, n->in, TSR_DTYPE_NONE, r.pixels ? TSR_PRESERVE : TSR_CONTIGUOUS));
    if (tsr_is_meta(t)) return TSR_OK;
    r.half = t->dtype == TSR_FLOAT16 || t->dtype == TSR_BFLOAT16;
    r.in = tsr_data(n->in);
    r.out = tsr_data(n->out);
    r.mean = n->mean != NULL ? tsr_data(n->mean) : NULL;
    r.rstd = n->rstd != NULL ? tsr_data(n->rstd) : NULL;
    r.weight = n->weight != NULL ? tsr_data(n->weight) : NULL;
    r.bias = n->bias != NULL ? tsr_data(n->bias) : NULL;
    return tsr_parallel_for(r.rows, tsr_grain(r.columns), n->in->dtype == TSR_FLOAT64 ? f64_norm_rows : f32_norm_rows,
                            &r);
}

/* Hands the parts over as results, laid out as `like`, or row-major where that is NULL; statistics keep float32 for the
 * halves only where the parameters are float32. */
static TsrStatus norm_return(TsrOpCall *c, Norm *n, TsrDtype dtype, const TsrTensor *like, bool with_stats,
                             TsrDtype stat_dtype) {
    TSR_TRY(tsr_nn_restore(&n->out, dtype, like));
    tsr_return_move(c, tsr_tensor_retain(n->out));
    if (!with_stats) return TSR_OK;
    TsrTensor *stats[] = {n->mean, n->rstd};
    for (int i = 0; i < 2; i++) {
        TSR_TRY(tsr_tensor_new_cast(&c->ret[1 + i].t, stats[i], stat_dtype));
        c->ret[1 + i].kind = TSR_ARG_TENSOR;
        c->nret++;
    }
    return TSR_OK;
}

/* ---- layer and rms ---- */

static TsrStatus check_layer(const TsrTensor *t, const TsrArg *shape, const TsrArg *weight, const TsrArg *bias) {
    int n = shape->n, ndim = tsr_ndim(t);
    if (n < 1)
        return tsr_error(
            TSR_RUNTIME_ERROR,
            "Expected normalized_shape to be at least 1-dimensional, i.e., containing at least one element, but got "
            "normalized_shape = %s",
            tsr_layout_text(n, shape->ints));
    const TsrArg *params[] = {weight, bias};
    static const char *const names[] = {"weight", "bias"};
    for (int i = 0; i < 2; i++) {
        if (params[i] == NULL || !tsr_arg_given(params[i])) continue;
        const TsrTensor *p = params[i]->t;
        if (tsr_ndim(p) != n || memcmp(p->sizes, shape->ints, sizeof(int64_t) * (size_t)n) != 0)
            return tsr_error(
                TSR_RUNTIME_ERROR,
                "Expected %s to be of same shape as normalized_shape, but got %s of shape %s and normalized_shape = %s",
                names[i], names[i], tsr_sizes_text(p), tsr_layout_text(n, shape->ints));
    }
    if (ndim < n && bias == NULL)
        return tsr_error(TSR_VALUE_ERROR, "Input tensor must have at least %d dimensions, but got %d", n, ndim);
    if (ndim >= n && memcmp(t->sizes + ndim - n, shape->ints, sizeof(int64_t) * (size_t)n) == 0) return TSR_OK;
    const char *wanted = tsr_layout_text(n, shape->ints);
    return tsr_error(TSR_RUNTIME_ERROR,
                     "Given normalized_shape=%s, expected input with shape [*%s%s, but got input of size%s", wanted,
                     bias != NULL ? ", " : "", wanted + 1, tsr_layout_text(ndim, t->sizes));
}

static Rows rows_over_last(const TsrTensor *t, int n, double eps) {
    Rows r = {.rows = 1, .columns = 1, .eps = eps, .span = 1};
    for (int d = 0; d < tsr_ndim(t); d++) *(d < tsr_ndim(t) - n ? &r.rows : &r.columns) *= t->sizes[d];
    return r;
}

static TsrStatus layer_norm(TsrOpCall *c, bool with_stats) {
    const TsrTensor *t = c->arg[0].t;
    int64_t sizes[TSR_MAX_DIMS];
    int ndim = tsr_ndim(t), n = c->arg[1].n;
    Norm norm;
    TSR_TRY(check_mixed(t, &c->arg[2], 2));
    TSR_TRY(check_layer(t, &c->arg[1], &c->arg[2], &c->arg[3]));
    TSR_TRY(check_kind(t, "LayerNormKernelImpl"));
    TSR_TRY(check_unmixed(t, &c->arg[2], 2, 0));
    for (int d = 0; d < ndim; d++) sizes[d] = d < ndim - n ? t->sizes[d] : 1;
    TsrStatus status =
        norm_rows(&norm, rows_over_last(t, n, c->arg[4].f), t, &c->arg[2], ndim, with_stats ? sizes : NULL);
    if (status == TSR_OK) status = norm_return(c, &norm, t->dtype, NULL, with_stats, statistics_dtype(t, &c->arg[2]));
    norm_end(&norm);
    return status;
}

TsrStatus op_layer_norm(TsrOpCall *c) { return layer_norm(c, false); }
TsrStatus op_native_layer_norm(TsrOpCall *c) { return layer_norm(c, true); }

TsrStatus op_rms_norm(TsrOpCall *c) {
    const TsrTensor *t = c->arg[0].t;
    int64_t dims[TSR_MAX_DIMS];
    int n = c->arg[1].n;
    TSR_TRY(check_layer(t, &c->arg[1], &c->arg[2], NULL));
    if (!tsr_dtype_is_complex(t->dtype)) TSR_TRY(check_kind(t, "rms_norm"));
    if (t->dtype == TSR_COMPLEX32) return tsr_not_implemented("rms_norm", t->dtype);
    TsrDtype wide = t->dtype == TSR_FLOAT16 || t->dtype == TSR_BFLOAT16 ? TSR_FLOAT32 : t->dtype;
    bool fine = wide == TSR_FLOAT64 || wide == TSR_COMPLEX128;
    double eps = tsr_arg_given(&c->arg[3]) ? c->arg[3].f : fine ? 2.220446049250313e-16 : 1.1920928955078125e-07;
    for (int d = 0; d < n; d++) dims[d] = tsr_ndim(t) - n + d;
    TsrScope s = {0};
    TsrTensor *x = MAKE(&s, tsr_tensor_new_cast, t, wide);
    TsrTensor *squares = CALL(&s, "pow", "ts", x, tsr_scalar_int(2)),
              *mean = CALL(&s, "mean", "tIb", squares, n, dims, 1);
    TsrTensor *raised = CALL(&s, "add", "ts", mean, tsr_scalar_float(eps)), *scale = CALL(&s, "rsqrt", "t", raised);
    TsrTensor *result = CALL(&s, "mul", "tt", x, scale);
    if (tsr_arg_given(&c->arg[2])) result = CALL(&s, "mul", "tt", result, c->arg[2].t);
    TsrTensor *cast = MAKE(&s, tsr_tensor_new_cast, result, t->dtype);
    TsrMemoryFormat format = tsr_nn_is_channels_last(t, 2)   ? TSR_CHANNELS_LAST
                             : tsr_nn_is_channels_last(t, 3) ? TSR_CHANNELS_LAST_3D
                                                             : TSR_CONTIGUOUS;
    return tsr_scope_return(c, &s, MAKE(&s, tsr_tensor_new_contiguous, cast, format));
}

/* ---- group ---- */

typedef struct Groups {
    int64_t batch, channels, area, groups;
} Groups; /* (batch, channels, area), the channels in so many groups */

static TsrStatus check_group(const TsrTensor *t, const Groups *g, const TsrArg *affine) {
    static const char *const names[] = {"weight", "bias"};
    if (g->channels <= 0)
        return tsr_error(TSR_RUNTIME_ERROR, "Expected number of channels to be greater than 0, got %lld",
                         (long long)g->channels);
    if (g->area <= 0)
        return tsr_error(TSR_RUNTIME_ERROR, "Expected HxW to be greater than 0, got %lld", (long long)g->area);
    if (g->groups <= 0)
        return tsr_error(TSR_RUNTIME_ERROR, "Expected num groups to be greater than 0, got %lld", (long long)g->groups);
    if (g->channels % g->groups != 0)
        return tsr_error(
            TSR_RUNTIME_ERROR,
            "Expected number of channels in input to be divisible by num_groups, but got input of shape %s and "
            "num_groups=%lld",
            tsr_sizes_text(t), (long long)g->groups);
    for (int i = 0; i < 2; i++) {
        if (!tsr_arg_given(&affine[i]) || (tsr_ndim(affine[i].t) == 1 && affine[i].t->numel == g->channels)) continue;
        return tsr_error(
            TSR_RUNTIME_ERROR,
            "Expected %s to be a vector of size equal to the number of channels in input, but got %s of shape %s and "
            "input of shape %s",
            names[i], names[i], tsr_sizes_text(affine[i].t), tsr_sizes_text(t));
    }
    return TSR_OK;
}

/* Whether t has an element for each place of the groups: PyTorch reads beyond it. */
static bool holds(const Groups *g, const TsrTensor *t) {
    int64_t outer, numel;
    return !tsr_mul_overflows(g->batch, g->channels, &outer) && !tsr_mul_overflows(outer, g->area, &numel) &&
           numel == t->numel;
}

static TsrStatus group_norm(TsrOpCall *c, const Groups *g, double eps, const TsrArg *affine, bool with_stats) {
    const TsrTensor *t = c->arg[0].t;
    Norm norm;
    TSR_TRY(check_mixed(t, affine, 2));
    if (t->numel > 0 || !holds(g, t)) TSR_TRY(check_kind(t, "GroupNormKernelImpl"));
    if (t->numel > 0) TSR_TRY(check_unmixed(t, affine, 2, 0));
    if (g->batch >= 0 && !holds(g, t)) return tsr_untrue("X.numel() == N * C * HxW");
    bool last =
        !tsr_is_contiguous(t, TSR_CONTIGUOUS) && tsr_layout_is_channels_last_strides(tsr_ndim(t), t->sizes, t->strides);
    Rows r = {.rows = (int64_t)((uint64_t)g->batch * (uint64_t)g->groups),
              .columns = (int64_t)((uint64_t)(g->channels / g->groups) * (uint64_t)g->area),
              .eps = eps,
              .affine_rows = g->groups,
              .span = g->area,
              .pixels = last};
    TsrStatus status = norm_rows(&norm, r, t, affine, 2, with_stats ? (int64_t[]){g->batch, g->groups} : NULL);
    if (status == TSR_OK)
        status = norm_return(c, &norm, t->dtype, last ? t : NULL, with_stats, statistics_dtype(t, affine));
    norm_end(&norm);
    return status;
}

/* (input, num_groups, weight, bias, eps, cudnn_enabled) */
TsrStatus op_group_norm(TsrOpCall *c) {
    const TsrTensor *t = c->arg[0].t;
    for (int64_t d = 0; d < 2; d++) TSR_TRY(tsr_wrap_own_dim(&(int64_t){d}, tsr_ndim(t)));
    Groups g = {t->sizes[0], t->sizes[1], 1, c->arg[1].i};
    for (int d = 2; d < tsr_ndim(t); d++) g.area *= t->sizes[d];
    TSR_TRY(check_group(t, &g, &c->arg[2]));
    return group_norm(c, &g, c->arg[4].f, &c->arg[2], false);
}

/* (input, weight, bias, N, C, HxW, group, eps) */
TsrStatus op_native_group_norm(TsrOpCall *c) {
    const Groups g = {c->arg[3].i, c->arg[4].i, c->arg[5].i, c->arg[6].i};
    int64_t numel;
    TSR_TRY(check_group(c->arg[0].t, &g, &c->arg[1]));
    TSR_TRY(check_mixed(c->arg[0].t, &c->arg[1], 2));
    TSR_TRY(tsr_layout_numel(&numel, 2, (int64_t[]){g.batch, g.groups}));
    return group_norm(c, &g, c->arg[7].f, &c->arg[1], true);
}

/* ---- batch: (N, C, area), statistics a channel ---- */

/* Which of PyTorch's three kernels does it: each adds up in its own way. */
typedef enum BatchWay {
    BATCH_PLANES,   /* row-major: sums in double, those of half floats in lanes of float */
    BATCH_PIXELS,   /* channels last, or an area of 1: sums in T over each half of the pixels, one a thread of the
                       reference machine, added in double, of half floats in float */
    BATCH_SCATTERED /* other strides */
} BatchWay;

typedef struct Channels {
    int64_t batch, channels, area;
    bool training;
    double momentum, eps;
    BatchWay way;
    bool rows;      /* of pixels, in which the channels lie side by side */
    TsrDtype kept;  /* what the statistics are rounded to */
    bool mixed;     /* the input is of another dtype than the statistics */
    bool halves;    /* the input was of half precision */
    bool in_double; /* distances from the mean, of scattered floats */
    bool steps; /* of scattered numbers or parameters: the distance, times the deviation, times the weight, the bias */
    const double *weight, *bias;        /* NULL: 1 and 0 */
    const double *average;              /* the means of scattered inputs, which are those of torch.mean; else NULL */
    double *running_mean, *running_var; /* may be NULL; updated when training */
    double *mean, *rstd;                /* what was used */
    const char *in;
    char *out;
} Channels;

static double rounded(double v, TsrDtype d) {
    char slot[8];
    tsr_scalar_store(tsr_scalar_float(v), d, slot);
    return tsr_scalar_to_double(tsr_scalar_load(d, slot));
}

/* A running statistic: in doubles where the input is scattered, else in the dtype (float32 for float16), in which each
 * step rounds; but `fused`, as the compiler of PyTorch made that of the variance, not the first product. */
static double moving(const Channels *k, double now, double before, bool fused) {
    double by = k->momentum;
    if (k->way == BATCH_SCATTERED || k->kept == TSR_FLOAT64) return by * now + (1 - by) * before;
    TsrDtype d = k->kept == TSR_FLOAT16 ? TSR_FLOAT32 : k->kept;
    double share = rounded(by, d) * now, rest = rounded(rounded(1 - by, d) * before, d);
    return rounded((fused && !k->mixed ? share : rounded(share, d)) + rest, d);
}

enum { ABREAST_CHANNELS = 64 }; /* that are added up beside each other, where they lie so */

enum { HALF_LANES = 8, HALF_STEP = 16 }; /* floats of a vector; those that PyTorch widens together */
enum { HALF_ABREAST = 4 };               /* channels, each a chain of additions that waits for itself */

/* The sums over some channels of planes, or of the squares of x - mean[a], in PyTorch's order for half floats: lanes
 * for whole steps of each plane, one sum for what the planes have left, and then the lanes one after the other. */
static inline __attribute__((always_inline)) void half_sums_of(float *sum, const Channels *k, int64_t c, int n,
                                                               const float *mean) {
    f32_V lanes[HALF_ABREAST] = {{0}}, v;
    float rest[HALF_ABREAST] = {0}, at[HALF_LANES];
    int64_t whole = k->area / HALF_STEP * HALF_STEP;
    for (int64_t b = 0; b < k->batch && tsr_interrupt_flag == 0; b++) {
        const float *x = (const float *)(const void *)k->in + (b * k->channels + c) * k->area;
        for (int64_t i = 0; i < whole; i += HALF_LANES)
            for (int a = 0; a < n; a++) {
                memcpy(&v, x + a * k->area + i, sizeof v);
                if (mean != NULL) v -= mean[a];
                lanes[a] += mean != NULL ? v * v : v;
            }
        for (int a = 0; a < n; a++)
            for (int64_t i = whole; i < k->area; i++) {
                float apart = x[a * k->area + i] - (mean != NULL ? mean[a] : 0);
                rest[a] += mean != NULL ? apart * apart : apart;
            }
    }
    for (int a = 0; a < n; a++) {
        memcpy(at, &lanes[a], sizeof at);
        for (int i = 1; i < HALF_LANES; i++) at[0] += at[i];
        sum[a] = rest[a] + at[0];
    }
}
TSR_CLONES static void half_sums(float *sum, const Channels *k, int64_t c, int n, const float *mean) {
    if (n == HALF_ABREAST) {
        if (mean == NULL) half_sums_of(sum, k, c, HALF_ABREAST, NULL);
        else half_sums_of(sum, k, c, HALF_ABREAST, mean);
    } else
        for (int a = 0; a < n; a++) half_sums_of(sum + a, k, c + a, 1, mean != NULL ? mean + a : NULL);
}

static void half_stats(const Channels *k, int64_t c, int n);

#define NAME(x) f32_##x
#define T float
#define FMA fmaf
#define SQRT sqrtf
#include "core/kernels/reduce/batch_norm.inc"
#define NAME(x) f64_##x
#define T double
#define FMA fma
#define SQRT sqrt
#include "core/kernels/reduce/batch_norm.inc"

/* Distances are those from the mean before it is rounded. */
static void half_stats(const Channels *k, int64_t c, int n) {
    float sum[HALF_ABREAST], squares[HALF_ABREAST], mean[HALF_ABREAST];
    half_sums(sum, k, c, n, NULL);
    for (int a = 0; a < n; a++) mean[a] = sum[a] / (float)(k->batch * k->area);
    half_sums(squares, k, c, n, mean);
    for (int a = 0; a < n; a++)
        f32_batch_keep(k, c + a, (float)rounded((double)mean[a], k->kept), (double)sum[a], (double)squares[a]);
}

static BatchWay batch_way(const TsrTensor *t, int64_t area) {
    bool last = tsr_layout_is_channels_last(tsr_ndim(t), t->sizes, t->strides);
    if (tsr_is_contiguous(t, TSR_CONTIGUOUS)) return area == 1 ? BATCH_PIXELS : BATCH_PLANES;
    return last ? BATCH_PIXELS : BATCH_SCATTERED;
}

enum { BATCH_WEIGHT, BATCH_BIAS, BATCH_MEAN, BATCH_VAR, BATCH_PARAMS };

typedef struct Batch {
    TsrTensor *in, *out, *params[BATCH_PARAMS], *mean, *rstd;
    TsrTensor *average; /* NULL, or the means as float64 */
} Batch;

/* Input and output, channels last or row-major. */
static TsrStatus make_sides(Batch *b, const TsrTensor *t, bool last) {
    if (!last) {
        TSR_TRY(tsr_nn_new_computable(&b->in, t, TSR_CONTIGUOUS));
        return tsr_tensor_new(&b->out, tsr_ndim(t), t->sizes, b->in->dtype, t->device);
    }
    TsrTensor *cast;
    TSR_TRY(tsr_tensor_new_cast(&cast, t, tsr_dtype_size(t->dtype) < 4 ? TSR_FLOAT32 : t->dtype));
    TsrStatus status = tsr_nn_new_channels_last(&b->in, cast);
    tsr_tensor_free(cast);
    return status == TSR_OK ? tsr_tensor_new_like(&b->out, b->in, TSR_DTYPE_NONE, TSR_PRESERVE) : status;
}

static TsrStatus run_batch(Channels *k, TsrDtype dtype) {
    bool twice = dtype == TSR_FLOAT64;
    int64_t pixels = k->batch * k->area, blocks = (k->channels + ABREAST_CHANNELS - 1) / ABREAST_CHANNELS;
    if (k->rows)
        return tsr_parallel_for(blocks, tsr_grain(pixels * ABREAST_CHANNELS),
                                twice ? f64_pixel_channels : f32_pixel_channels, k);
    return tsr_parallel_for(k->channels, tsr_grain(pixels), twice ? f64_batch_channels : f32_batch_channels, k);
}

/* Parameters as doubles; *out NULL when absent. */
static TsrStatus new_doubles(TsrTensor **out, const TsrArg *arg) {
    *out = NULL;
    if (!tsr_arg_given(arg)) return TSR_OK;
    TSR_OWNED cast = NULL;
    TSR_TRY(tsr_tensor_new_cast(&cast, arg->t, TSR_FLOAT64));
    return tsr_tensor_new_clone(out, cast, TSR_CONTIGUOUS);
}

static void batch_end(Batch *b) {
    tsr_tensor_free(b->in);
    tsr_tensor_free(b->out);
    for (int i = 0; i < BATCH_PARAMS; i++) tsr_tensor_free(b->params[i]);
    tsr_tensor_free(b->mean);
    tsr_tensor_free(b->rstd);
    tsr_tensor_free(b->average);
}

/* The mean of each channel, rounded to `kept`, as float64. */
static TsrStatus averages_new(TsrTensor **out, TsrTensor *t, TsrDtype kept) {
    int64_t dims[TSR_MAX_DIMS];
    int n = 0;
    TsrScope s = {0};
    for (int d = 0; d < tsr_ndim(t); d++)
        if (d != 1) dims[n++] = d;
    TsrTensor *as_kept = MAKE(&s, tsr_tensor_new_cast, t, kept), *mean = CALL(&s, "mean", "tI", as_kept, n, dims);
    return tsr_scope_end_new(out, &s, MAKE(&s, tsr_tensor_new_cast, mean, TSR_FLOAT64));
}

static double *doubles(const TsrTensor *t) { return t != NULL ? tsr_data(t) : NULL; }

/* ---- batch, on a device: by other operators, of which all but the statistics are one pass ---- */

/* t, a number a channel, beside tensors of ndim dimensions and dtype `wide`. */
static TsrTensor *beside_channels(TsrScope *s, TsrTensor *t, int ndim, TsrDtype wide) {
    int64_t sizes[TSR_MAX_DIMS];
    for (int d = 0; d < ndim; d++) sizes[d] = d == 1 ? t->numel : 1;
    TsrTensor *cast = MAKE(s, tsr_tensor_new_cast, t, wide);
    return MAKE(s, tsr_tensor_new_reshape, cast, ndim, sizes);
}

static TsrStatus move_running(const TsrArg *arg, TsrScope *s, TsrTensor *now, double by, double momentum) {
    if (!tsr_arg_given(arg)) return TSR_OK;
    TsrTensor *flat = MAKE(s, tsr_tensor_new_reshape, now, 1, &arg->t->numel);
    TsrTensor *fresh = CALL(s, "mul", "ts", flat, tsr_scalar_float(momentum * by));
    TsrTensor *old = CALL(s, "mul", "ts", arg->t, tsr_scalar_float(1 - momentum));
    TsrTensor *sum = CALL(s, "add", "tt", old, fresh);
    if (s->status != TSR_OK) return s->status;
    TSR_TRY(tsr_tensor_check(arg->t, true));
    return tsr_tensor_copy(arg->t, sum); /* without another version: PyTorch counts no write here */
}

static TsrTensor *keep_statistics(TsrScope *s, TsrTensor **mean, const TsrTensor *x) {
    static const TsrReduceParams whole = {.correction = 0};
    uint64_t dims = ((UINT64_C(1) << tsr_ndim(x)) - 1) & ~UINT64_C(2);
    TsrTensor *average = NULL;
    if (s->status != TSR_OK) return NULL;
    TsrStatus status = tsr_reduce_new(
        &s->next, &average,
        &(TsrReduction){TSR_R_MOMENTS, (TsrTensor *)(uintptr_t)x, dims, true, &whole, {x->dtype, x->dtype}});
    TsrTensor *variance = tsr_scope_keep(s, status);
    s->next = average;
    *mean = status == TSR_OK ? tsr_scope_keep(s, TSR_OK) : NULL;
    return variance;
}

static TsrStatus batch_there(Batch *b, TsrScope *s, const TsrOpCall *c, const Channels *k) {
    TsrTensor *x = b->in, *mean = NULL, *variance = NULL;
    int ndim = tsr_ndim(x);
    double n = (double)k->batch * (double)k->area;
    if (k->training) {
        variance = keep_statistics(s, &mean, x);
        TSR_TRY(move_running(&c->arg[3], s, mean, 1, k->momentum));
        TSR_TRY(move_running(&c->arg[4], s, variance, n / (n - 1), k->momentum));
    } else {
        mean = beside_channels(s, c->arg[3].t, ndim, x->dtype);
        variance = beside_channels(s, c->arg[4].t, ndim, x->dtype);
    }
    TsrTensor *raised = CALL(s, "add", "ts", variance, tsr_scalar_float(k->eps)), *rstd = CALL(s, "rsqrt", "t", raised);
    TsrTensor *centred = CALL(s, "sub", "tt", x, mean), *scaled = CALL(s, "mul", "tt", centred, rstd);
    TsrTensor *flat_mean = MAKE(s, tsr_tensor_new_reshape, mean, 1, &k->channels);
    TsrTensor *flat_rstd = MAKE(s, tsr_tensor_new_reshape, rstd, 1, &k->channels);
    for (int i = 0; i < 2; i++) {
        if (!tsr_arg_given(&c->arg[1 + i])) continue;
        TsrTensor *parameter = beside_channels(s, c->arg[1 + i].t, ndim, x->dtype);
        scaled = CALL(s, i == 0 ? "mul" : "add", "tt", scaled, parameter);
    }
    TSR_TRY(s->status);
    b->out = tsr_tensor_retain(scaled);
    b->mean = tsr_tensor_retain(flat_mean);
    b->rstd = tsr_tensor_retain(flat_rstd);
    return TSR_OK;
}

static TsrStatus run_there(Batch *b, const TsrOpCall *c, const Channels *k, bool last) {
    TsrScope s = {0};
    TSR_TRY(make_sides(b, c->arg[0].t, last));
    tsr_tensor_free(b->out);
    b->out = NULL;
    TsrStatus status = batch_there(b, &s, c, k), ended = tsr_scope_end(&s);
    return status != TSR_OK ? status : ended;
}

/* args: input, weight, bias, running_mean, running_var, training, momentum, eps */
static TsrStatus check_running(const TsrOpCall *c) {
    if (tsr_arg_given(&c->arg[3]) == tsr_arg_given(&c->arg[4])) return TSR_OK;
    return tsr_error(TSR_VALUE_ERROR, "running_mean and running_var must either both be None or neither be None");
}

/* Of scattered numbers PyTorch takes the mean as torch.mean does, in whose words. */
static TsrStatus check_mean_kind(const TsrTensor *t) {
    if (tsr_in(TSR_BITS_FLOAT | TSR_BITS_COMPLEX, t->dtype)) return TSR_OK;
    TSR_OWNED mean = NULL;
    int64_t dims[TSR_MAX_DIMS], n = 0;
    for (int d = 0; d < tsr_ndim(t); d++)
        if (d != 1) dims[n++] = d;
    return tsr_invoke_new(&mean, 1, "mean", "tI", t, (int)n, dims);
}

/* Whether PyTorch takes the mean of the channels by torch.mean: in training, of scattered numbers, of which the first
 * parameter has the dtype. */
static bool averages(const TsrOpCall *c, const Channels *k) {
    for (int i = 1; i <= BATCH_PARAMS; i++)
        if (tsr_arg_given(&c->arg[i]))
            return k->training && k->way == BATCH_SCATTERED && c->arg[i].t->dtype == c->arg[0].t->dtype;
    return k->training && k->way == BATCH_SCATTERED;
}

/* What statistics are kept in: the parameters' dtype, which are all of one, or the input's. */
static TsrDtype kept_dtype(const TsrOpCall *c) {
    TsrDtype dtype = c->arg[0].t->dtype;
    for (int i = 4; i >= 1; i--)
        if (tsr_arg_given(&c->arg[i])) dtype = c->arg[i].t->dtype;
    return dtype;
}

static int64_t area_of(const TsrTensor *t) {
    int64_t area = 1;
    for (int d = 2; d < tsr_ndim(t); d++) area *= t->sizes[d];
    return area;
}

/* PyTorch reads the running statistics as lists of the dtype that the parameters have. */
static TsrStatus check_lists(const TsrOpCall *c) {
    for (int i = 3; i <= 4; i++)
        if (tsr_arg_given(&c->arg[i]) && tsr_ndim(c->arg[i].t) != 1)
            return tsr_error(TSR_RUNTIME_ERROR, "TensorAccessor expected 1 dims but tensor has %d",
                             tsr_ndim(c->arg[i].t));
    return TSR_OK;
}

/* Whether a parameter is no row of memory: PyTorch then goes step by step, as over scattered numbers. */
static bool has_gaps(const TsrOpCall *c) {
    for (int i = 1; i <= BATCH_PARAMS; i++)
        if (tsr_arg_given(&c->arg[i]) && !tsr_is_contiguous(c->arg[i].t, TSR_CONTIGUOUS)) return true;
    return false;
}

/* That each parameter that is given has an element a channel, and that those are given that evaluation needs. */
static TsrStatus check_params(const TsrOpCall *c, const Channels *k) {
    static const char *const names[] = {"weight", "bias", "running_mean", "running_var"};
    static const int order[] = {BATCH_MEAN, BATCH_VAR, BATCH_WEIGHT, BATCH_BIAS};
    for (int i = 0; i < BATCH_PARAMS; i++) {
        const TsrArg *p = &c->arg[1 + order[i]];
        if (tsr_arg_given(p) && p->t->numel != k->channels)
            return tsr_error(TSR_RUNTIME_ERROR, "%s should contain %lld elements not %lld", names[order[i]],
                             (long long)k->channels, (long long)p->t->numel);
        if (!tsr_arg_given(p) && i < 2 && !k->training)
            return tsr_error(TSR_RUNTIME_ERROR, "%s must be defined in evaluation mode", names[order[i]]);
    }
    return TSR_OK;
}

static TsrStatus check_batch_norm(const TsrOpCall *c, const Channels *k) {
    const TsrTensor *t = c->arg[0].t;
    if (tsr_ndim(t) > 1 && averages(c, k)) TSR_TRY(check_mean_kind(t));
    TSR_TRY(check_running(c));
    if (tsr_ndim(t) < 2) return tsr_wrap_own_dim(&(int64_t){1}, tsr_ndim(t));
    TSR_TRY(check_kind(t, "batch_norm"));
    TSR_TRY(check_mixed(t, &c->arg[1], 4));
    TSR_TRY(check_lists(c));
    if (t->numel > 0 && k->training) TSR_TRY(check_unmixed(t, &c->arg[1], 4, 2));
    return t->numel > 0 ? check_unmixed(t, &c->arg[1], 4, 0) : TSR_OK;
}

/* The numbers behind the tensors of b, which lends them. */
static void point_at(Channels *k, const Batch *b) {
    k->average = doubles(b->average);
    k->weight = doubles(b->params[BATCH_WEIGHT]);
    k->bias = doubles(b->params[BATCH_BIAS]);
    k->running_mean = doubles(b->params[BATCH_MEAN]);
    k->running_var = doubles(b->params[BATCH_VAR]);
    k->mean = doubles(b->mean);
    k->rstd = doubles(b->rstd);
    k->in = tsr_data(b->in);
    k->out = tsr_data(b->out);
}

static TsrStatus batch_norm(Batch *b, TsrOpCall *c) {
    const TsrTensor *t = c->arg[0].t;
    *b = (Batch){0};
    Channels k = {.batch = tsr_ndim(t) > 0 ? t->sizes[0] : 0,
                  .channels = tsr_ndim(t) > 1 ? t->sizes[1] : 0,
                  .area = area_of(t),
                  .training = c->arg[5].b,
                  .momentum = c->arg[6].f,
                  .eps = c->arg[7].f};
    TSR_TRY(check_params(c, &k));
    if (tsr_ndim(t) > 1) k.way = batch_way(t, k.area);
    TSR_TRY(check_batch_norm(c, &k));
    k.kept = kept_dtype(c);
    k.mixed = k.kept != t->dtype;
    k.halves = tsr_dtype_size(t->dtype) < 4;
    bool last = k.area > 1 && (tsr_ndim(t) == 4 || tsr_ndim(t) == 5) &&
                tsr_nn_is_channels_last(t, tsr_ndim(t) - 2); /* and the result, too */
    k.rows = k.way == BATCH_PIXELS && (k.area == 1 || last);
    if (tsr_on_device(t)) return run_there(b, c, &k, k.rows && last);
    k.steps = k.way == BATCH_SCATTERED || has_gaps(c);
    k.rows = k.rows && !k.steps;
    for (int i = 0; i < BATCH_PARAMS; i++) TSR_TRY(new_doubles(&b->params[i], &c->arg[1 + i]));
    TSR_TRY(make_sides(b, t, k.rows && last));
    TSR_TRY(tsr_tensor_new(&b->mean, 1, &k.channels, TSR_FLOAT64, t->device));
    TSR_TRY(tsr_tensor_new(&b->rstd, 1, &k.channels, TSR_FLOAT64, t->device));
    if (tsr_is_meta(t)) return TSR_OK;
    if (k.training && k.way == BATCH_SCATTERED) TSR_TRY(averages_new(&b->average, c->arg[0].t, k.kept));
    k.in_double = k.way == BATCH_SCATTERED && t->dtype == TSR_FLOAT32;
    point_at(&k, b);
    TSR_TRY(run_batch(&k, b->in->dtype));
    for (int i = BATCH_MEAN; k.training && i <= BATCH_VAR; i++) { /* the running statistics, of no new version */
        if (b->params[i] == NULL) continue;
        TSR_TRY(tsr_tensor_check(c->arg[1 + i].t, true));
        TSR_TRY(tsr_tensor_copy(c->arg[1 + i].t, b->params[i]));
    }
    return TSR_OK;
}

/* Nothing to normalise: a copy, scaled by the first of each parameter. */
static TsrStatus batch_norm_empty(TsrOpCall *c) {
    static const char *const ops[] = {"mul", "add"};
    int64_t dim = 0, first = 0;
    TsrScope s = {0};
    TsrTensor *out = MAKE(&s, tsr_tensor_new_clone, c->arg[0].t, TSR_PRESERVE);
    for (int i = 0; i < 2; i++) {
        if (!tsr_arg_given(&c->arg[1 + i])) continue;
        TsrTensor *one = CALL(&s, "select", "tii", c->arg[1 + i].t, dim, first);
        out = CALL(&s, ops[i], "tt", out, one);
    }
    return tsr_scope_return(c, &s, out);
}

TsrStatus op_batch_norm(TsrOpCall *c) {
    Batch b;
    if (c->arg[0].t->numel == 0) return batch_norm_empty(c);
    TsrStatus status = batch_norm(&b, c);
    if (status == TSR_OK)
        status = tsr_nn_restore(&b.out, c->arg[0].t->dtype,
                                tsr_is_contiguous(c->arg[0].t, TSR_CONTIGUOUS) ? NULL : c->arg[0].t);
    if (status == TSR_OK) (void)tsr_return_move(c, tsr_tensor_retain(b.out));
    batch_end(&b);
    return status;
}

/* The statistics that the backward step wants: empty, or what out= holds, when not training. */
static TsrStatus saved_statistics(TsrTensor **out, const TsrOpCall *c, int which, TsrTensor *value, TsrDtype dtype) {
    int64_t none = 0;
    if (c->arg[5].b) return tsr_tensor_new_cast(out, value, dtype);
    if (c->out[1 + which] == NULL) return tsr_tensor_new(out, 1, &none, dtype, c->arg[0].t->device);
    *out = tsr_tensor_retain(c->out[1 + which]);
    return TSR_OK;
}

/* Without torch.batch_norm around it: dtypes come first, and sizes only because tsr does not read beyond them. */
static TsrStatus check_native_batch(const TsrOpCall *c) {
    static const char *const names[] = {"running_mean", "running_var"};
    const TsrTensor *t = c->arg[0].t;
    for (int i = 0; i < 2 && !c->arg[5].b; i++)
        if (!tsr_arg_given(&c->arg[3 + i]))
            return tsr_error(TSR_VALUE_ERROR, "%s must be defined in evaluation mode", names[i]);
    TSR_TRY(check_kind(t, "batch_norm"));
    TSR_TRY(check_mixed(t, &c->arg[1], 4));
    if (t->numel == 0 && c->arg[5].b)
        return tsr_error(TSR_RUNTIME_ERROR, "input tensor must have at least one element, but got input_sizes = %s",
                         tsr_sizes_text(t));
    if (t->numel == 0) return TSR_OK; /* whose parameters nobody reads */
    TSR_TRY(check_lists(c));
    return check_unmixed(t, &c->arg[1], 4, 0);
}

TsrStatus op_native_batch_norm(TsrOpCall *c) {
    Batch b;
    TsrTensor *stats[2] = {NULL, NULL};
    const TsrTensor *t = c->arg[0].t;
    if (tsr_ndim(t) > 1 && averages(c, &(Channels){.training = c->arg[5].b, .way = batch_way(t, area_of(t))}))
        TSR_TRY(check_mean_kind(t));
    if (c->arg[5].b && tsr_ndim(t) > 1) TSR_TRY(check_running(c));
    if (tsr_ndim(t) > 0) TSR_TRY(tsr_wrap_dim(&(int64_t){1}, tsr_ndim(t)));
    if (tsr_ndim(t) > 1) TSR_TRY(check_native_batch(c));
    TsrStatus status = batch_norm(&b, c);
    if (status == TSR_OK)
        status = tsr_nn_restore(&b.out, c->arg[0].t->dtype,
                                tsr_is_contiguous(c->arg[0].t, TSR_CONTIGUOUS) ? NULL : c->arg[0].t);
    TsrDtype dtype = kept_dtype(c);
    for (int i = 0; i < 2 && status == TSR_OK; i++)
        status = saved_statistics(&stats[i], c, i, i == 0 ? b.mean : b.rstd, dtype);
    if (status == TSR_OK) {
        (void)tsr_return_move2(c, tsr_tensor_retain(b.out), stats[0]);
        c->ret[2] = (TsrArg){.kind = TSR_ARG_TENSOR, .t = stats[1]};
        c->nret = 3;
    } else {
        tsr_tensor_free(stats[0]);
    }
    batch_end(&b);
    return status;
}
