/* sample.c: random numbers by rejection and by weight: Poisson, binomial, multinomial; and dropout. The streams are
 * PyTorch's: each draws in its order from the same generator.
 *
 * Poisson: Hormann's transformed rejection (1993) for large rates, products of uniforms for small ones. Binomial:
 * Hormann's BTRS for count times prob of 10 and more, else counted geometric gaps. Multinomial with replacement is a
 * binary search in cumulative sums; without, the largest of p / q for exponential q. Dropout multiplies by Bernoulli
 * noise over the probability that an element is kept. */
#include <math.h>
#include <string.h>

#include "core/engine/device.h"
#include "core/op/shared.h"
#include "random.h"
#include "core/tensor/owned.h"

/* ---- poisson and binomial ---- */

/* Hormann's transformed rejection (1993) for large rates, products of uniforms for small ones. */
static double poisson_large(double lambda, TsrGenerator *g) {
    double root = sqrt(lambda), log_lambda = log(lambda), b = 0.931 + 2.53 * root, a = -0.059 + 0.02483 * b;
    double inverse_alpha = 1.1239 + 1.1328 / (b - 3.4), vr = 0.9277 - 3.6224 / (b - 2);
    for (;;) {
        double u = tsr_rng_uniform_double(g) - 0.5, v = tsr_rng_uniform_double(g), us = 0.5 - fabs(u);
        double k = (double)(int64_t)floor((2 * a / us + b) * u + lambda + 0.43);
        if (us >= 0.07 && v <= vr) return k;
        if (k < 0 || (us < 0.013 && v > us)) continue;
        if (log(v) + log(inverse_alpha) - log(a / (us * us) + b) <= -lambda + k * log_lambda - lgamma(k + 1)) return k;
    }
}

static double poisson_small(double lambda, TsrGenerator *g) {
    double limit = exp(-lambda), product = 1;
    for (double k = 0;; k++) {
        product *= tsr_rng_uniform_double(g);
        if (!(product > limit)) return k;
    }
}

static void poisson_loop(char *const *data, const int64_t *strides, int64_t n, const void *params) {
    const TsrChances *q = params;
    for (int64_t i = 0; i < n && !*q->bad; i++) {
        double rate, value;
        tsr_convert(TSR_FLOAT64, (char *)&rate, 8, q->from, data[1] + i * strides[1], 0, 1);
        if (!(rate >= 0)) {
            *q->bad = true;
            return;
        }
        value = rate >= 10 ? poisson_large(rate, q->g) : rate == 0 ? 0 : poisson_small(rate, q->g);
        tsr_convert(q->dtype, data[0] + i * strides[0], 0, TSR_FLOAT64, (const char *)&value, 8, 1);
    }
}

TsrStatus op_poisson(TsrOpCall *c) {
    TsrTensor *self = c->arg[0].t, *t;
    if (!tsr_random_is_drawable(self->dtype)) return tsr_random_refuse(self, "poisson_cpu", self->dtype);
    TSR_TRY(tsr_tensor_new(&t, tsr_ndim(self), self->sizes, self->dtype, self->device));
    bool bad = false;
    TsrChances q = {tsr_random_generator(&c->arg[1]), t->dtype, self->dtype, &bad};
    if (tsr_on_device(t)) {
        const TsrDeviceRandom what = {.draw = TSR_DRAW_POISSON};
        return tsr_finish_move(c, tsr_random_work(t, NULL, self, NULL, what, q.g), t);
    }
    enum { OFFSETS = 20 }; /* that PyTorch's kernel moves its generator by */
    tsr_rng_begin(q.g, OFFSETS);
    TsrStatus status = tsr_random_draw(t, self, NULL, poisson_loop, &q, "poisson");
    if (status == TSR_OK && bad)
        status = tsr_error(TSR_RUNTIME_ERROR, "invalid Poisson rate, expected rate to be non-negative");
    return tsr_finish_move(c, status, t);
}

/* Stirling's correction of log k!. */
static double stirling_tail(double k) {
    static const double tails[] = {0.0810614667953272,  0.0413406959554092, 0.0276779256849983, 0.02079067210376509,
                                   0.0166446911898211,  0.0138761288230707, 0.0118967099458917, 0.0104112652619720,
                                   0.00925546218271273, 0.00833056343336287};
    if (k <= 9) return tails[(int)k];
    double k1 = k + 1, square = k1 * k1;
    return (1.0 / 12 - (1.0 / 360 - 1.0 / 1260 / square) / square) / k1;
}

/* Counts geometric gaps: for count * prob below 10. */
static double binomial_inversion(double count, double prob, TsrGenerator *g) {
    double sum = 0, n = 0, logprob = log1p(-prob);
    for (;;) {
        sum += ceil(log(tsr_rng_uniform_double(g)) / logprob);
        if (!(sum <= count)) return n;
        n++;
    }
}

/* Hormann's BTRS (1993). */
static double binomial_btrs(double count, double prob, TsrGenerator *g) {
    double root = sqrt(count * prob * (1 - prob)), b = 1.15 + 2.53 * root, a = -0.0873 + 0.0248 * b + 0.01 * prob;
    double c = count * prob + 0.5, vr = 0.92 - 4.2 / b, r = prob / (1 - prob), alpha = (2.83 + 5.1 / b) * root,
           m = floor((count + 1) * prob);
    for (;;) {
        double u = tsr_rng_uniform_double(g) - 0.5, v = tsr_rng_uniform_double(g), us = 0.5 - fabs(u),
               k = floor((2 * a / us + b) * u + c);
        if (us >= 0.07 && v <= vr) return k;
        if (k < 0 || k > count) continue;
        v = log(v * alpha / (a / (us * us) + b));
        double bound = (m + 0.5) * log((m + 1) / (r * (count - m + 1))) +
                       (count + 1) * log((count - m + 1) / (count - k + 1)) +
                       (k + 0.5) * log(r * (count - k + 1) / (k + 1)) + stirling_tail(m) + stirling_tail(count - m) -
                       stirling_tail(k) - stirling_tail(count - k);
        if (v <= bound) return k;
    }
}

static double draw_binomial(double count, double prob, TsrGenerator *g) {
    if (count <= 0 || prob <= 0) return 0;
    if (prob >= 1) return count;
    if (prob <= 0.5) return count * prob >= 10 ? binomial_btrs(count, prob, g) : binomial_inversion(count, prob, g);
    if (prob > 0.5)
        return count -
               (count * (1 - prob) >= 10 ? binomial_btrs(count, 1 - prob, g) : binomial_inversion(count, 1 - prob, g));
    return NAN;
}

static void binomial_loop(char *const *data, const int64_t *strides, int64_t n, const void *params) {
    const TsrChances *q = params;
    for (int64_t i = 0; i < n; i++) {
        double count, prob, value;
        tsr_convert(TSR_FLOAT64, (char *)&count, 8, q->from, data[1] + i * strides[1], 0, 1);
        tsr_convert(TSR_FLOAT64, (char *)&prob, 8, q->from, data[2] + i * strides[2], 0, 1);
        value = draw_binomial(count, prob, q->g);
        tsr_convert(q->dtype, data[0] + i * strides[0], 0, TSR_FLOAT64, (const char *)&value, 8, 1);
    }
}

TsrStatus op_binomial(TsrOpCall *c) {
    TsrTensor *count = c->arg[0].t, *prob = c->arg[1].t, *t;
    if (!tsr_dtype_is_float(count->dtype))
        return tsr_error(TSR_VALUE_ERROR, "binomial only supports floating-point dtypes for count, got: %s",
                         tsr_dtype_scalar_name(count->dtype));
    if (!tsr_dtype_is_float(prob->dtype))
        return tsr_error(TSR_VALUE_ERROR, "binomial only supports floating-point dtypes for prob, got: %s",
                         tsr_dtype_scalar_name(prob->dtype));
    if (count->dtype != prob->dtype)
        return tsr_error(TSR_RUNTIME_ERROR, "Found dtype %s but expected %s", tsr_dtype_scalar_name(prob->dtype),
                         tsr_dtype_scalar_name(count->dtype));
    if (tsr_on_device(count) && !tsr_random_is_drawable(count->dtype))
        return tsr_not_implemented("binomial_cuda", count->dtype);
    int64_t sizes[TSR_MAX_DIMS];
    int n = 0;
    TSR_TRY(tsr_layout_broadcast(sizes, &n, count->sizes, tsr_ndim(count)));
    TSR_TRY(tsr_layout_broadcast(sizes, &n, prob->sizes, tsr_ndim(prob)));
    if (!tsr_on_device(count) && count->dtype != TSR_FLOAT32 && count->dtype != TSR_FLOAT64)
        return tsr_not_implemented("binomial_cpu", count->dtype);
    bool grown = n != tsr_ndim(count) || memcmp(sizes, count->sizes, sizeof *sizes * (size_t)n) != 0;
    if (grown) TSR_TRY(tsr_invoke_new(&t, 1, "add", "tt", count, prob)); /* laid out as the iterator of both does */
    else TSR_TRY(tsr_tensor_new(&t, n, sizes, count->dtype, count->device));
    TsrChances q = {tsr_random_generator(&c->arg[2]), t->dtype, count->dtype, NULL};
    if (tsr_on_device(t)) {
        const TsrDeviceRandom what = {.draw = TSR_DRAW_BINOMIAL};
        return tsr_finish_move(c, tsr_random_work(t, NULL, count, prob, what, q.g), t);
    }
    enum { OFFSETS = 42 }; /* that PyTorch's kernel moves its generator by */
    tsr_rng_begin(q.g, OFFSETS);
    return tsr_finish_move(c, tsr_random_draw(t, count, prob, binomial_loop, &q, "binomial"), t);
}

/* ---- multinomial ---- */

static TsrStatus check_multinomial(const TsrOpCall *c, const TsrTensor *self, int64_t samples, bool replacement) {
    if (tsr_ndim(self) == 0 || tsr_ndim(self) > 2) return tsr_error(TSR_RUNTIME_ERROR, "prob_dist must be 1 or 2 dim");
    if (!tsr_dtype_is_float(self->dtype))
        return tsr_error(TSR_RUNTIME_ERROR, "multinomial only supports floating-point dtypes for input, got: %s",
                         tsr_dtype_scalar_name(self->dtype));
    if (c->out[0] != NULL && c->out[0]->dtype != TSR_INT64)
        return tsr_error(TSR_RUNTIME_ERROR, "multinomial expects Long tensor out, got: %s",
                         tsr_dtype_scalar_name(c->out[0]->dtype));
    if (samples <= 0) return tsr_error(TSR_RUNTIME_ERROR, "cannot sample n_sample <= 0 samples");
    int64_t categories = self->sizes[tsr_ndim(self) - 1];
    if (!replacement && samples > categories)
        return tsr_error(TSR_RUNTIME_ERROR, "cannot sample n_sample > prob_dist.size(-1) samples without replacement");
    if (categories > 1 << 24) return tsr_error(TSR_RUNTIME_ERROR, "number of categories cannot exceed 2^24");
    return TSR_OK;
}

/* One row: cumulative sums in `cum`, rounded to the dtype's precision at each step, then a binary search a sample. */
static TsrStatus draw_row(int64_t *out, int64_t samples, const double *p, double *cum, int64_t n, bool single,
                          TsrGenerator *g) {
    double sum = 0;
    for (int64_t j = 0; j < n; j++) {
        if (!(p[j] >= 0))
            return tsr_error(TSR_RUNTIME_ERROR,
                             "invalid multinomial distribution (encountering probability entry < 0)");
        if (isinf(p[j]))
            return tsr_error(TSR_RUNTIME_ERROR,
                             "invalid multinomial distribution (encountering probability entry = infinity or NaN)");
        sum = single ? (double)(float)(sum + p[j]) : sum + p[j];
        cum[j] = sum;
    }
    if (!(sum > 0)) return tsr_error(TSR_RUNTIME_ERROR, "invalid multinomial distribution (sum of probabilities <= 0)");
    for (int64_t j = 0; j < n; j++) cum[j] = single ? (double)((float)cum[j] / (float)sum) : cum[j] / sum;
    cum[n - 1] = 1;
    for (int64_t k = 0; k < samples; k++) {
        double u = tsr_rng_uniform_double(g);
        int64_t left = 0, right = n;
        while (left < right) {
            int64_t middle = left + (right - left) / 2;
            if (cum[middle] < u) left = middle + 1;
            else right = middle;
        }
        out[k] = left;
        if (tsr_interrupted_at(k)) break;
    }
    return tsr_interrupt_check();
}

static TsrStatus draw_rows(TsrTensor *t, const TsrTensor *p, int64_t samples, bool single, TsrGenerator *g) {
    int64_t n = p->sizes[tsr_ndim(p) - 1], rows = tsr_ndim(p) == 2 ? p->sizes[0] : 1;
    TsrTensor *cum;
    TSR_TRY(tsr_tensor_new(&cum, 1, &n, TSR_FLOAT64, TSR_DEVICE_CPU));
    TsrStatus status = TSR_OK;
    int64_t *out = tsr_data(t);
    const double *row = tsr_data(p);
    for (int64_t r = 0; r < rows && status == TSR_OK; r++)
        status = draw_row(out + r * samples, samples, row + r * n, tsr_data(cum), n, single, g);
    tsr_tensor_free(cum);
    return status;
}

static TsrStatus with_replacement(TsrTensor *t, const TsrTensor *self, int64_t samples, TsrGenerator *g) {
    TsrTensor *wide, *dense;
    if (!tsr_random_is_drawable(self->dtype))
        return tsr_not_implemented(tsr_on_device(self) ? "multinomial_kernel_cuda" : "multinomial", self->dtype);
    if (tsr_on_device(self)) return tsr_random_choose(t, self, g);
    TSR_TRY(tsr_tensor_new_cast(&wide, self, TSR_FLOAT64));
    TsrStatus status = tsr_tensor_new_contiguous(&dense, wide, TSR_CONTIGUOUS);
    tsr_tensor_free(wide);
    TSR_TRY(status);
    status = draw_rows(t, dense, samples, self->dtype != TSR_FLOAT64, g);
    tsr_tensor_free(dense);
    return status;
}

static TsrStatus check_weights_here(const TsrTensor *self) {
    if (!tsr_random_is_drawable(self->dtype)) return tsr_not_implemented("aminmax_cpu", self->dtype);
    int64_t n = self->sizes[tsr_ndim(self) - 1];
    bool zero_row = false;
    double sum = 0;
    for (int64_t i = 0; i < self->numel && !tsr_interrupted_at(i); i++) {
        double p = tsr_scalar_to_double(tsr_tensor_get(self, i));
        if (!(p >= 0 && p < INFINITY))
            return tsr_error(TSR_RUNTIME_ERROR, "probability tensor contains either `inf`, `nan` or element < 0");
        sum += p;
        if ((i + 1) % n != 0) continue;
        zero_row |= sum == 0;
        sum = 0;
    }
    return zero_row ? tsr_error(TSR_RUNTIME_ERROR, "invalid multinomial distribution (sum of probabilities <= 0)")
                    : TSR_OK;
}

/* The host looks at those of a device too, and waits, as PyTorch does. */
static TsrStatus check_weights(const TsrTensor *self) {
    TSR_OWNED here = NULL;
    if (!tsr_on_device(self)) return check_weights_here(self);
    TSR_TRY(tsr_tensor_new(&here, tsr_ndim(self), self->sizes, self->dtype, TSR_DEVICE_CPU));
    TSR_TRY(tsr_tensor_copy(here, self));
    return check_weights_here(here);
}

/* The largest of p / q for exponential q: a sample without replacement. */
static TsrStatus without_replacement(TsrTensor **out, TsrTensor *self, int64_t samples, TsrGenerator *g) {
    TSR_TRY(check_weights(self));
    TsrTensor *q, *ratio, *best[2] = {NULL, NULL};
    TSR_TRY(tsr_tensor_new_like(&q, self, TSR_DTYPE_NONE, TSR_PRESERVE));
    TsrStatus status = tsr_random_exponential(q, g);
    if (status == TSR_OK) status = tsr_invoke_new(&ratio, 1, "div", "tt", self, q);
    tsr_tensor_free(q);
    TSR_TRY(status);
    if (samples == 1) status = tsr_invoke_new(out, 1, "argmax", "tib", ratio, (int64_t)-1, 1);
    else status = tsr_invoke_new(best, 2, "topk", "ti", ratio, samples);
    tsr_tensor_free(ratio);
    if (status != TSR_OK || samples == 1) return status;
    tsr_tensor_free(best[0]);
    *out = best[1];
    return TSR_OK;
}

TsrStatus op_multinomial(TsrOpCall *c) {
    TsrTensor *self = c->arg[0].t, *t;
    int64_t samples = c->arg[1].i;
    bool replacement = c->arg[2].b;
    TsrGenerator *g = tsr_random_generator(&c->arg[3]);
    TSR_TRY(check_multinomial(c, self, samples, replacement));
    int64_t sizes[2] = {tsr_ndim(self) == 2 ? self->sizes[0] : samples, samples};
    if ((!replacement || samples == 1) && self->numel > 0 && !tsr_is_meta(self)) {
        TSR_TRY(without_replacement(&t, self, samples, g));
        return tsr_return_move(c, t);
    }
    TSR_TRY(tsr_tensor_new(&t, tsr_ndim(self), sizes, TSR_INT64, self->device));
    TsrStatus status = t->numel == 0 || tsr_is_meta(self) ? TSR_OK : with_replacement(t, self, samples, g);
    return tsr_finish_move(c, status, t);
}

/* ---- dropout ---- */

typedef enum Dropout { PLAIN = 0, FEATURE = 1, ALPHA = 2 } Dropout;

/* The noise: like input, or one value a channel. */
static TsrStatus noise_new(TsrTensor **out, const TsrTensor *input, int kind, double p, TsrGenerator *g) {
    if (kind & FEATURE) {
        if (tsr_ndim(input) < 2)
            return tsr_error(TSR_RUNTIME_ERROR, "Feature dropout requires at least 2 dimensions in the input");
        int64_t sizes[TSR_MAX_DIMS];
        for (int d = 0; d < tsr_ndim(input); d++) sizes[d] = d < 2 ? input->sizes[d] : 1;
        TSR_TRY(tsr_tensor_new(out, tsr_ndim(input), sizes, tsr_dtype_real_of(input->dtype), input->device));
    } else {
        TSR_TRY(tsr_tensor_new_like(out, input, tsr_dtype_real_of(input->dtype), TSR_PRESERVE));
    }
    TsrStatus status = tsr_random_bernoulli(*out, 1 - p, g);
    return tsr_owned_keep(out, status);
}

/* Alpha dropout: noise becomes a * noise and b a * alpha * (noise - 1) + ..., which keep mean and variance. */
static TsrStatus alpha_parts(TsrTensor **shift, TsrTensor **scale, TsrTensor *noise, double p) {
    const double alpha = 1.7580993408473766;
    double a = 1 / sqrt((alpha * alpha * p + 1) * (1 - p));
    TsrTensor *below, *b = NULL;
    TSR_TRY(tsr_invoke_new(&below, 1, "add", "ts", noise, tsr_scalar_int(-1)));
    TsrStatus status = tsr_invoke_new(&b, 1, "mul", "!tts", below, below, tsr_scalar_float(alpha * a));
    tsr_tensor_free(below);
    TSR_TRY(status);
    status = tsr_invoke_new(shift, 1, "add", "!tts", b, b, tsr_scalar_float(alpha * a * p));
    tsr_tensor_free(b);
    TSR_TRY(status);
    status = tsr_invoke_new(scale, 1, "mul", "!tts", noise, noise, tsr_scalar_float(a));
    if (status != TSR_OK) tsr_tensor_reset(shift);
    return status;
}

static TsrStatus apply_noise(TsrTensor **out, TsrTensor *input, TsrTensor *noise, int kind, double p) {
    TsrTensor *scale = NULL, *shift = NULL, *product;
    if (kind & ALPHA) TSR_TRY(alpha_parts(&shift, &scale, noise, p));
    else TSR_TRY(tsr_invoke_new(&scale, 1, "div", "!tts", noise, noise, tsr_scalar_float(1 - p)));
    TsrStatus status = tsr_invoke_new(&product, 1, "mul", "tt", input, scale);
    tsr_tensor_free(scale);
    if (status == TSR_OK && shift == NULL) *out = product;
    if (status == TSR_OK && shift != NULL) {
        status = tsr_invoke_new(out, 1, "add", "!ttt", product, product, shift);
        tsr_tensor_free(product);
    }
    tsr_tensor_free(shift);
    return status;
}

/* On a device plain dropout is one kernel, which makes the mask too. */
static TsrStatus dropout_on_device_new(TsrTensor **out, TsrTensor **mask, TsrTensor *input, double p) {
    TSR_OWNED result = NULL;
    TSR_OWNED kept = NULL;
    if (!tsr_random_is_drawable(input->dtype)) return tsr_not_implemented("fused_dropout", input->dtype);
    TSR_TRY(tsr_tensor_new_like(&result, input, TSR_DTYPE_NONE, TSR_PRESERVE));
    TSR_TRY(tsr_tensor_new_like(&kept, input, TSR_BOOL, TSR_PRESERVE));
    TSR_TRY(tsr_random_work(result, kept, input, NULL, (TsrDeviceRandom){.draw = TSR_DRAW_DROPOUT, .a = 1 - p},
                            tsr_random_generator(&(TsrArg){0})));
    *out = tsr_owned_take(&result);
    if (mask != NULL) *mask = tsr_owned_take(&kept);
    return TSR_OK;
}

static TsrStatus dropout_new(TsrTensor **out, const TsrOpCall *c, int kind) {
    TsrTensor *input = c->arg[0].t;
    const double p = c->arg[1].f;
    const bool train = c->arg[2].b;
    if (!(p >= 0 && p <= 1))
        return tsr_error(TSR_RUNTIME_ERROR, "dropout probability has to be between 0 and 1, but got %g", p);
    if (p == 0 || !train || input->numel == 0) {
        *out = tsr_tensor_retain(input);
        return TSR_OK;
    }
    if (p == 1) {
        TsrTensor *zero;
        TSR_TRY(tsr_tensor_new_scalar(&zero, tsr_scalar_int(0), input->dtype));
        TsrStatus status = tsr_invoke_new(out, 1, "mul", "tt", input, zero);
        tsr_tensor_free(zero);
        return status;
    }
    if (tsr_on_device(input) && kind == PLAIN && !c->inplace && !tsr_dtype_is_complex(input->dtype))
        return dropout_on_device_new(out, NULL, input, p);
    TsrTensor *noise;
    TSR_TRY(noise_new(&noise, input, kind, p, tsr_random_generator(&(TsrArg){0})));
    TsrStatus status = apply_noise(out, input, noise, kind, p);
    tsr_tensor_free(noise);
    return status;
}

static TsrStatus dropout_with(TsrOpCall *c, int kind) {
    TsrTensor *t;
    TSR_TRY(dropout_new(&t, c, kind));
    return tsr_return_move(c, t);
}

TsrStatus op_dropout(TsrOpCall *c) { return dropout_with(c, PLAIN); }
TsrStatus op_feature_dropout(TsrOpCall *c) { return dropout_with(c, FEATURE); }
TsrStatus op_alpha_dropout(TsrOpCall *c) { return dropout_with(c, ALPHA); }
TsrStatus op_feature_alpha_dropout(TsrOpCall *c) { return dropout_with(c, FEATURE | ALPHA); }

/* What native_dropout multiplies by: rounded to a dtype of floats. */
static TsrScalar kept_factor(double p, TsrDtype dtype) {
    _Alignas(16) char cell[16];
    TsrScalar factor = tsr_scalar_float(p == 1 ? 0 : 1 / (1 - p));
    if (!tsr_dtype_is_float(dtype)) return factor;
    tsr_scalar_store(factor, dtype, cell);
    return tsr_scalar_load(dtype, cell);
}

/* (output, mask): native_dropout(input, p, train) */
TsrStatus op_native_dropout(TsrOpCall *c) {
    TsrTensor *input = c->arg[0].t, *mask = NULL, *product = NULL, *out = NULL;
    double p = c->arg[1].f;
    bool train = !tsr_arg_given(&c->arg[2]) || c->arg[2].b;
    if (input->numel == 0) { /* as PyTorch: the input itself, and an empty mask of its dtype */
        TSR_TRY(tsr_tensor_new_like(&mask, input, TSR_DTYPE_NONE, TSR_PRESERVE));
        return tsr_return_move2(c, tsr_tensor_retain(input), mask);
    }
    if (tsr_on_device(input) && train && p != 1) {
        TSR_TRY(dropout_on_device_new(&out, &mask, input, p));
        return tsr_return_move2(c, out, mask);
    }
    TSR_TRY(tsr_tensor_new_like(&mask, input, TSR_BOOL, TSR_PRESERVE));
    TsrStatus status = train ? tsr_random_bernoulli(mask, 1 - p, tsr_random_generator(&(TsrArg){0}))
                             : tsr_tensor_fill(mask, tsr_scalar_bool(true));
    if (status == TSR_OK && !train) status = tsr_tensor_new_clone(&out, input, TSR_PRESERVE);
    if (status == TSR_OK && train) status = tsr_invoke_new(&product, 1, "mul", "tt", input, mask);
    if (product != NULL) {
        status = tsr_invoke_new(&out, 1, "mul", "!tts", product, product, kept_factor(p, input->dtype));
        tsr_tensor_free(product);
    }
    if (status == TSR_OK) return tsr_return_move2(c, out, mask);
    tsr_tensor_free(mask);
    return status;
}
