/* Normalisation: rows scaled by their own mean and variance (layer, group, rms), channels by the batch's (batch). Sums in double, once over the data for both
 * moments by shifting with the first element. */
#include "op_nn.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

/* rows x columns in memory; mean and rstd a row; weight and bias repeat as `period` says. */
typedef struct Rows {
    int64_t rows, columns;
    double eps;
    const char *in;
    char *out, *mean, *rstd;     /* mean and rstd may be NULL */
    const char *weight, *bias;   /* may be NULL */
    int64_t affine_rows;         /* 0: weight[column]; else weight[row % affine_rows channels...], one a `span` of columns */
    int64_t span;
    bool rms;
} Rows;

/* Sums of x - shift and of its square, in many partial sums, so that the additions overlap; then a row scaled, and a stretch of it by one channel's parameters. */
#define NORM_ROWS(NAME, T) \
    TSR_CLONES static void moments_##NAME(double *sum, double *squares, const T *x, int64_t n, double shift) { \
        enum { LANES = 32 }; \
        double s[LANES] = {0}, q[LANES] = {0}; \
        int64_t i = 0; \
        for (; i + LANES <= n; i += LANES) \
            for (int k = 0; k < LANES; k++) { \
                double v = (double)x[i + k] - shift; \
                s[k] += v; \
                q[k] += v * v; \
            } \
        for (; i < n; i++) { \
            double v = (double)x[i] - shift; \
            s[0] += v; \
            q[0] += v * v; \
        } \
        *sum = *squares = 0; \
        for (int k = 0; k < LANES; k++) *sum += s[k], *squares += q[k]; \
    } \
    TSR_CLONES static void scale_##NAME(T *y, const T *x, int64_t n, T scale, T offset, const T *weight, const T *bias) { \
        for (int64_t j = 0; j < n; j++) y[j] = x[j] * scale + offset; \
        if (weight != NULL) for (int64_t j = 0; j < n; j++) y[j] *= weight[j]; \
        if (bias != NULL) for (int64_t j = 0; j < n; j++) y[j] += bias[j]; \
    } \
    TSR_CLONES static void channel_##NAME(T *y, int64_t n, T weight, T bias) { \
        for (int64_t j = 0; j < n; j++) y[j] = y[j] * weight + bias; \
    } \
    static void norm_rows_##NAME(int64_t begin, int64_t end, void *user) { \
        const Rows *r = user; \
        const T *weight = (const T *)(const void *)r->weight, *bias = (const T *)(const void *)r->bias; \
        bool by_channel = r->affine_rows != 0; \
        for (int64_t i = begin; i < end; i++) { \
            const T *x = (const T *)(const void *)r->in + i * r->columns; \
            T *y = (T *)(void *)r->out + i * r->columns; \
            double shift = r->rms || r->columns == 0 ? 0 : (double)x[0], sum, squares; \
            moments_##NAME(&sum, &squares, x, r->columns, shift); \
            double n = (double)r->columns, mean = r->rms ? 0 : shift + sum / n; \
            double variance = r->rms ? squares / n : (squares - sum * sum / n) / n; \
            if (variance < 0) variance = 0; \
            double rstd = 1 / sqrt(variance + r->eps); \
            scale_##NAME(y, x, r->columns, (T)rstd, (T)(-mean * rstd), by_channel ? NULL : weight, by_channel ? NULL : bias); \
            int64_t first = by_channel ? (i % r->affine_rows) * (r->columns / r->span) : 0; \
            for (int64_t c = 0; by_channel && (weight != NULL || bias != NULL) && c < r->columns / r->span; c++) \
                channel_##NAME(y + c * r->span, r->span, weight != NULL ? weight[first + c] : 1, bias != NULL ? bias[first + c] : 0); \
            if (r->mean != NULL) ((T *)(void *)r->mean)[i] = (T)mean; \
            if (r->rstd != NULL) ((T *)(void *)r->rstd)[i] = (T)rstd; \
        } \
    }

NORM_ROWS(float, float)
NORM_ROWS(double, double)

static TsrStatus check_kind(const TsrTensor *t, const char *kernel) {
    return tsr_dtype_is_float(t->dtype) ? TSR_OK : tsr_error(TSR_NOT_IMPLEMENTED_ERROR, "\"%s\" not implemented for '%s'", kernel, tsr_dtype_scalar_name(t->dtype));
}

/* An optional parameter in the computing dtype; *out NULL when it is not given. */
static TsrStatus new_parameter(TsrTensor **out, const TsrArg *arg, TsrDtype dtype) {
    TsrTensor *dense;
    *out = NULL;
    if (!tsr_arg_given(arg)) return TSR_OK;
    TSR_TRY(tsr_tensor_new_cast(&dense, arg->t, dtype));
    TsrStatus status = tsr_tensor_new_contiguous(out, dense, TSR_CONTIGUOUS);
    tsr_tensor_free(dense);
    return status;
}

typedef struct Norm {
    TsrTensor *in, *out, *mean, *rstd, *weight, *bias; /* owned; mean and rstd may be NULL */
} Norm;

static void norm_end(Norm *n) {
    TsrTensor *all[] = {n->in, n->out, n->mean, n->rstd, n->weight, n->bias};
    for (size_t i = 0; i < TSR_COUNTOF(all); i++) tsr_tensor_free(all[i]);
}

/* Normalises rows of the input as `r` says (rows, columns, eps, affine); out has the input's sizes, mean and rstd those given. */
static TsrStatus norm_rows(Norm *n, Rows r, const TsrTensor *t, const TsrArg *weight, const TsrArg *bias, int stat_ndim, const int64_t *stat_sizes) {
    *n = (Norm){0};
    TSR_TRY(nn_new_computable(&n->in, t));
    TSR_TRY(new_parameter(&n->weight, weight, n->in->dtype));
    TSR_TRY(new_parameter(&n->bias, bias, n->in->dtype));
    TSR_TRY(tsr_tensor_new(&n->out, tsr_ndim(t), t->sizes, n->in->dtype, t->device));
    if (stat_sizes != NULL) {
        TSR_TRY(tsr_tensor_new(&n->mean, stat_ndim, stat_sizes, n->in->dtype, t->device));
        TSR_TRY(tsr_tensor_new(&n->rstd, stat_ndim, stat_sizes, n->in->dtype, t->device));
    }
    if (tsr_is_meta(t)) return TSR_OK;
    r.in = tsr_data(n->in);
    r.out = tsr_data(n->out);
    r.mean = n->mean != NULL ? tsr_data(n->mean) : NULL;
    r.rstd = n->rstd != NULL ? tsr_data(n->rstd) : NULL;
    r.weight = n->weight != NULL ? tsr_data(n->weight) : NULL;
    r.bias = n->bias != NULL ? tsr_data(n->bias) : NULL;
    return tsr_parallel_for(r.rows, TSR_MAX(1, 16384 / TSR_MAX(r.columns, 1)), n->in->dtype == TSR_FLOAT64 ? norm_rows_double : norm_rows_float, &r);
}

/* Hands the parts over as results; statistics keep float32 for the halves only where the parameters are float32. */
static TsrStatus norm_return(TsrOpCall *c, Norm *n, const TsrTensor *like, bool with_stats, TsrDtype stat_dtype) {
    TSR_TRY(nn_restore_move(&n->out, like->dtype, like));
    c->ret[0] = (TsrArg){.kind = TSR_ARG_TENSOR, .t = tsr_tensor_retain(n->out)};
    c->nret = 1;
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
    char a[256], b[256];
    int n = shape->n, ndim = tsr_ndim(t);
    if (n < 1)
        return tsr_error(TSR_RUNTIME_ERROR, "Expected normalized_shape to be at least 1-dimensional, i.e., containing at least one element, but got normalized_shape = %s",
                         tsr_layout_format(a, sizeof a, n, shape->ints));
    const TsrArg *params[] = {weight, bias};
    static const char *const names[] = {"weight", "bias"};
    for (int i = 0; i < 2; i++) {
        if (params[i] == NULL || !tsr_arg_given(params[i])) continue;
        const TsrTensor *p = params[i]->t;
        if (tsr_ndim(p) != n || memcmp(p->sizes, shape->ints, sizeof(int64_t) * (size_t)n) != 0)
            return tsr_error(TSR_RUNTIME_ERROR, "Expected %s to be of same shape as normalized_shape, but got %s of shape %s and normalized_shape = %s", names[i], names[i],
                             tsr_layout_format(a, sizeof a, tsr_ndim(p), p->sizes), tsr_layout_format(b, sizeof b, n, shape->ints));
    }
    if (ndim >= n && memcmp(t->sizes + ndim - n, shape->ints, sizeof(int64_t) * (size_t)n) == 0) return TSR_OK;
    char want[300];
    size_t length = strlen(tsr_layout_format(a, sizeof a, n, shape->ints));
    strcpy(want, "[*");
    for (int d = 0; d < n; d++) snprintf(want + strlen(want), sizeof want - strlen(want), ", %lld", (long long)shape->ints[d]);
    (void)length;
    return tsr_error(TSR_RUNTIME_ERROR, "Given normalized_shape=%s, expected input with shape %s], but got input of size%s", a, want, tsr_layout_format(b, sizeof b, ndim, t->sizes));
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
    TSR_TRY(check_layer(t, &c->arg[1], &c->arg[2], &c->arg[3]));
    TSR_TRY(check_kind(t, "LayerNormKernelImpl"));
    for (int d = 0; d < ndim; d++) sizes[d] = d < ndim - n ? t->sizes[d] : 1;
    TsrStatus status = norm_rows(&norm, rows_over_last(t, n, c->arg[4].f), t, &c->arg[2], &c->arg[3], ndim, with_stats ? sizes : NULL);
    bool mixed = tsr_arg_given(&c->arg[2]) && c->arg[2].t->dtype == TSR_FLOAT32;
    if (status == TSR_OK) status = norm_return(c, &norm, t, with_stats, mixed ? TSR_FLOAT32 : t->dtype);
    norm_end(&norm);
    return status;
}

TsrStatus op_layer_norm(TsrOpCall *c) { return layer_norm(c, false); }
TsrStatus op_native_layer_norm(TsrOpCall *c) { return layer_norm(c, true); }

TsrStatus op_rms_norm(TsrOpCall *c) {
    const TsrTensor *t = c->arg[0].t;
    Norm norm;
    TsrArg none = {.kind = TSR_ARG_NONE};
    TSR_TRY(check_layer(t, &c->arg[1], &c->arg[2], NULL));
    TSR_TRY(check_kind(t, "rms_norm"));
    double eps = tsr_arg_given(&c->arg[3]) ? c->arg[3].f : t->dtype == TSR_FLOAT64 ? 2.220446049250313e-16 : 1.1920928955078125e-07;
    Rows r = rows_over_last(t, c->arg[1].n, eps);
    r.rms = true;
    TsrStatus status = norm_rows(&norm, r, t, &c->arg[2], &none, 0, NULL);
    if (status == TSR_OK) status = norm_return(c, &norm, t, false, t->dtype);
    norm_end(&norm);
    return status;
}

/* ---- group ---- */

static TsrStatus check_group(const TsrTensor *t, int64_t channels, int64_t groups, const TsrArg *weight, const TsrArg *bias) {
    char a[256];
    const TsrArg *params[] = {weight, bias};
    static const char *const names[] = {"weight", "bias"};
    if (groups <= 0) return tsr_error(TSR_RUNTIME_ERROR, "Expected num groups to be greater than 0, got %lld", (long long)groups);
    if (channels % groups != 0)
        return tsr_error(TSR_RUNTIME_ERROR, "Expected number of channels in input to be divisible by num_groups, but got input of shape %s and num_groups=%lld",
                         tsr_layout_format(a, sizeof a, tsr_ndim(t), t->sizes), (long long)groups);
    if (channels == 0) return tsr_error(TSR_RUNTIME_ERROR, "Expected number of channels to be greater than 0, got %lld", (long long)channels);
    for (int i = 0; i < 2; i++) {
        if (!tsr_arg_given(params[i]) || (tsr_ndim(params[i]->t) == 1 && params[i]->t->numel == channels)) continue;
        return tsr_error(TSR_RUNTIME_ERROR, "Expected %s to be a vector of size equal to the number of channels in input, but got %s of shape %s and input of shape %s", names[i], names[i],
                         tsr_layout_format(a, sizeof a, tsr_ndim(params[i]->t), params[i]->t->sizes), "");
    }
    return TSR_OK;
}

static TsrStatus group_norm(TsrOpCall *c, int64_t batch, int64_t channels, int64_t area, int64_t groups, double eps, const TsrArg *weight, const TsrArg *bias, bool with_stats) {
    const TsrTensor *t = c->arg[0].t;
    Norm norm;
    TSR_TRY(check_kind(t, "GroupNormKernelImpl"));
    Rows r = {.rows = batch * groups, .columns = channels / groups * area, .eps = eps, .affine_rows = groups, .span = TSR_MAX(area, 1)};
    TsrStatus status = norm_rows(&norm, r, t, weight, bias, 2, with_stats ? (int64_t[]){batch, groups} : NULL);
    if (status == TSR_OK) status = norm_return(c, &norm, t, with_stats, t->dtype);
    norm_end(&norm);
    return status;
}

/* (input, num_groups, weight, bias, eps, cudnn_enabled) */
TsrStatus op_group_norm(TsrOpCall *c) {
    const TsrTensor *t = c->arg[0].t;
    int64_t area = 1;
    if (tsr_ndim(t) < 2) return tsr_error(TSR_RUNTIME_ERROR, "Expected at least 2 dimensions for input tensor but received %d", tsr_ndim(t));
    TSR_TRY(check_group(t, t->sizes[1], c->arg[1].i, &c->arg[2], &c->arg[3]));
    for (int d = 2; d < tsr_ndim(t); d++) area *= t->sizes[d];
    return group_norm(c, t->sizes[0], t->sizes[1], area, c->arg[1].i, c->arg[4].f, &c->arg[2], &c->arg[3], false);
}

/* (input, weight, bias, N, C, HxW, group, eps) */
TsrStatus op_native_group_norm(TsrOpCall *c) {
    int64_t batch = c->arg[3].i, channels = c->arg[4].i, area = c->arg[5].i, outer, numel;
    bool fits = batch >= 0 && channels >= 0 && area >= 0 && !tsr_mul_overflows(batch, channels, &outer) && !tsr_mul_overflows(outer, area, &numel);
    if (!fits || numel != c->arg[0].t->numel)
        return tsr_error(TSR_RUNTIME_ERROR, "Expected X.numel() == N * C * HxW to be true, but got false.  (Could this error message be improved?  If so, please report "
                                            "an enhancement request to PyTorch.)");
    TSR_TRY(check_group(c->arg[0].t, c->arg[4].i, c->arg[6].i, &c->arg[1], &c->arg[2]));
    return group_norm(c, c->arg[3].i, c->arg[4].i, c->arg[5].i, c->arg[6].i, c->arg[7].f, &c->arg[1], &c->arg[2], true);
}

/* ---- batch: (N, C, area), statistics a channel ---- */

typedef struct Channels {
    int64_t batch, channels, area;
    bool training;
    double momentum, eps;
    const double *weight, *bias;         /* NULL: 1 and 0 */
    double *running_mean, *running_var;  /* may be NULL; updated when training */
    double *mean, *rstd;                 /* what was used */
    const char *in;
    char *out;
} Channels;

#define BATCH_CHANNELS(NAME, T) \
    static void batch_channels_##NAME(int64_t begin, int64_t end, void *user) { \
        const Channels *k = user; \
        double n = (double)(k->batch * k->area); \
        for (int64_t c = begin; c < end; c++) { \
            double mean = k->running_mean != NULL ? k->running_mean[c] : 0, variance = k->running_var != NULL ? k->running_var[c] : 1; \
            if (k->training) { \
                double sum = 0, squares = 0; \
                for (int64_t b = 0; b < k->batch; b++) \
                    for (int64_t i = 0; i < k->area; i++) sum += (double)((const T *)(const void *)k->in)[(b * k->channels + c) * k->area + i]; \
                mean = sum / n; \
                for (int64_t b = 0; b < k->batch; b++) \
                    for (int64_t i = 0; i < k->area; i++) { \
                        double v = (double)((const T *)(const void *)k->in)[(b * k->channels + c) * k->area + i] - mean; \
                        squares += v * v; \
                    } \
                variance = squares / n; \
                if (k->running_mean != NULL) k->running_mean[c] = k->momentum * mean + (1 - k->momentum) * k->running_mean[c]; \
                if (k->running_var != NULL) k->running_var[c] = k->momentum * (squares / (n - 1)) + (1 - k->momentum) * k->running_var[c]; \
            } \
            double rstd = 1 / sqrt(variance + k->eps), scale = rstd * (k->weight != NULL ? k->weight[c] : 1), offset = (k->bias != NULL ? k->bias[c] : 0) - mean * scale; \
            k->mean[c] = mean; \
            k->rstd[c] = rstd; \
            for (int64_t b = 0; b < k->batch; b++) { \
                const T *x = (const T *)(const void *)k->in + (b * k->channels + c) * k->area; \
                T *y = (T *)(void *)k->out + (b * k->channels + c) * k->area; \
                for (int64_t i = 0; i < k->area; i++) y[i] = (T)((double)x[i] * scale + offset); \
            } \
        } \
    }

BATCH_CHANNELS(float, float)
BATCH_CHANNELS(double, double)

/* Parameters as doubles; *out NULL when absent. */
static TsrStatus new_doubles(TsrTensor **out, const TsrArg *arg, int64_t channels, const char *name) {
    *out = NULL;
    if (!tsr_arg_given(arg)) return TSR_OK;
    if (arg->t->numel != channels) return tsr_error(TSR_RUNTIME_ERROR, "%s should contain %lld elements not %lld", name, (long long)channels, (long long)arg->t->numel);
    TsrTensor *cast;
    TSR_TRY(tsr_tensor_new_cast(&cast, arg->t, TSR_FLOAT64));
    TsrStatus status = tsr_tensor_new_clone(out, cast, TSR_CONTIGUOUS);
    tsr_tensor_free(cast);
    return status;
}

enum { BATCH_WEIGHT, BATCH_BIAS, BATCH_MEAN, BATCH_VAR, BATCH_PARAMS };

typedef struct Batch {
    TsrTensor *in, *out, *params[BATCH_PARAMS], *mean, *rstd;
} Batch;

static void batch_end(Batch *b) {
    tsr_tensor_free(b->in);
    tsr_tensor_free(b->out);
    for (int i = 0; i < BATCH_PARAMS; i++) tsr_tensor_free(b->params[i]);
    tsr_tensor_free(b->mean);
    tsr_tensor_free(b->rstd);
}

static double *doubles(const TsrTensor *t) { return t != NULL ? tsr_data(t) : NULL; }

/* args: input, weight, bias, running_mean, running_var, training, momentum, eps */
static TsrStatus batch_norm(Batch *b, TsrOpCall *c) {
    static const char *const names[] = {"weight", "bias", "running_mean", "running_var"};
    const TsrTensor *t = c->arg[0].t;
    *b = (Batch){0};
    if (tsr_ndim(t) < 2) return tsr_error(TSR_RUNTIME_ERROR, "batch_norm: expected an input of at least 2 dimensions");
    TSR_TRY(check_kind(t, "batch_norm"));
    Channels k = {.batch = t->sizes[0], .channels = t->sizes[1], .area = 1, .training = c->arg[5].b, .momentum = c->arg[6].f, .eps = c->arg[7].f};
    for (int d = 2; d < tsr_ndim(t); d++) k.area *= t->sizes[d];
    if (!k.training && !tsr_arg_given(&c->arg[3])) return tsr_error(TSR_RUNTIME_ERROR, "running_mean must be defined in evaluation mode");
    if (!k.training && !tsr_arg_given(&c->arg[4])) return tsr_error(TSR_RUNTIME_ERROR, "running_var must be defined in evaluation mode");
    static const int order[] = {BATCH_MEAN, BATCH_VAR, BATCH_WEIGHT, BATCH_BIAS};
    for (int i = 0; i < BATCH_PARAMS; i++) TSR_TRY(new_doubles(&b->params[order[i]], &c->arg[1 + order[i]], k.channels, names[order[i]]));
    TSR_TRY(nn_new_computable(&b->in, t));
    TSR_TRY(tsr_tensor_new(&b->out, tsr_ndim(t), t->sizes, b->in->dtype, t->device));
    TSR_TRY(tsr_tensor_new(&b->mean, 1, &k.channels, TSR_FLOAT64, t->device));
    TSR_TRY(tsr_tensor_new(&b->rstd, 1, &k.channels, TSR_FLOAT64, t->device));
    if (tsr_is_meta(t)) return TSR_OK;
    k.weight = doubles(b->params[BATCH_WEIGHT]);
    k.bias = doubles(b->params[BATCH_BIAS]);
    k.running_mean = doubles(b->params[BATCH_MEAN]);
    k.running_var = doubles(b->params[BATCH_VAR]);
    k.mean = doubles(b->mean);
    k.rstd = doubles(b->rstd);
    k.in = tsr_data(b->in);
    k.out = tsr_data(b->out);
    TSR_TRY(tsr_parallel_for(k.channels, TSR_MAX(1, 16384 / TSR_MAX(k.batch * k.area, 1)), b->in->dtype == TSR_FLOAT64 ? batch_channels_double : batch_channels_float, &k));
    for (int i = BATCH_MEAN; k.training && i <= BATCH_VAR; i++) { /* the running statistics are updated in place */
        if (b->params[i] == NULL) continue;
        TSR_TRY(tsr_tensor_check(c->arg[1 + i].t, true));
        TSR_TRY(tsr_tensor_copy(c->arg[1 + i].t, b->params[i]));
        tsr_tensor_bump(c->arg[1 + i].t, "batch_norm");
    }
    return TSR_OK;
}

TsrStatus op_batch_norm(TsrOpCall *c) {
    Batch b;
    TsrStatus status = batch_norm(&b, c);
    if (status == TSR_OK) status = nn_restore_move(&b.out, c->arg[0].t->dtype, c->arg[0].t);
    if (status == TSR_OK) (void)tsr_return_move(c, tsr_tensor_retain(b.out));
    batch_end(&b);
    return status;
}

/* The saved statistics are empty when not training. */
TsrStatus op_native_batch_norm(TsrOpCall *c) {
    Batch b;
    TsrTensor *stats[2] = {NULL, NULL};
    int64_t none = 0;
    TsrStatus status = batch_norm(&b, c);
    if (status == TSR_OK) status = nn_restore_move(&b.out, c->arg[0].t->dtype, c->arg[0].t);
    TsrDtype dtype = tsr_arg_given(&c->arg[1]) ? c->arg[1].t->dtype : c->arg[0].t->dtype;
    for (int i = 0; i < 2 && status == TSR_OK; i++)
        status = c->arg[5].b ? tsr_tensor_new_cast(&stats[i], i == 0 ? b.mean : b.rstd, dtype) : tsr_tensor_new(&stats[i], 1, &none, dtype, c->arg[0].t->device);
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
