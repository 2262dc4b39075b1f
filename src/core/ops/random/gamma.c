/* Random numbers that take a varying number of draws an element: gamma, Dirichlet, the slopes of rrelu. PyTorch's
 * streams. */
#include <float.h>
#include <math.h>

#include "core/op/compose.h"
#include "random.h"
#include "core/tensor/owned.h"

static double of_floats(double x, bool floats) { return floats ? (double)(float)x : x; }

/* Marsaglia and Tsang (2000); alpha below 1 is drawn as alpha + 1 and scaled. The constants are floats in PyTorch, and
 * with `floats` what is made of alpha before the first draw of a normal number is, too. */
static double draw_gamma(double alpha, bool floats, TsrGenerator *g) {
    double scale = 1;
    if (alpha == 0) return 0;
    if (alpha < 1) {
        scale = pow(1 - tsr_rng_uniform_double(g), of_floats(1 / alpha, floats));
        alpha = of_floats(alpha + 1, floats);
    }
    double d = of_floats(alpha - (double)(1.0f / 3.0f), floats), c = 1 / sqrt(9 * d);
    for (;;) {
        double x, y;
        do {
            x = tsr_rng_normal_double(g);
            y = 1 + c * x;
        } while (y <= 0);
        double v = y * y * y, u = 1 - tsr_rng_uniform_double(g), square = x * x;
        if (u < 1 - (double)0.0331f * square * square) return scale * d * v;
        if (log(u) < 0.5 * square + d * (1 - v + log(v))) return scale * d * v;
    }
}

static double smallest(TsrDtype d) { return d == TSR_FLOAT64 ? DBL_MIN : d == TSR_FLOAT16 ? 0x1p-14 : (double)FLT_MIN; }

/* alpha's elements in row-major order as float64, each replaced by a gamma number. *out is owned. */
static TsrStatus gammas_new(TsrTensor **out, const TsrTensor *alpha, bool floats, TsrGenerator *g) {
    enum { OFFSETS = 10 }; /* that PyTorch's kernel moves its generator by */
    tsr_rng_begin(g, OFFSETS);
    TSR_OWNED t = NULL;
    TSR_TRY(tsr_tensor_new(&t, tsr_ndim(alpha), alpha->sizes, TSR_FLOAT64, alpha->device));
    TSR_TRY(tsr_tensor_copy(t, alpha));
    if (!tsr_is_meta(t)) {
        double *p = tsr_data(t);
        for (int64_t i = 0; i < t->numel; i++) {
            p[i] = draw_gamma(p[i], floats, g);
            if (i % 4096 == 4095) TSR_TRY(tsr_interrupt_check());
        }
    }
    *out = tsr_owned_take(&t);
    return TSR_OK;
}

static TsrStatus check_float(const TsrTensor *t, const char *kernel) {
    return tsr_require(TSR_BITS_FLOAT, t->dtype, kernel);
}

/* On a device the numbers are drawn in the dtype itself. */
static TsrStatus gammas_there_new(TsrTensor **out, const TsrTensor *alpha, TsrGenerator *g) {
    TSR_OWNED t = NULL;
    if (!tsr_random_is_drawable(alpha->dtype)) return tsr_not_implemented("gamma_cuda", alpha->dtype);
    TSR_TRY(tsr_tensor_new(&t, tsr_ndim(alpha), alpha->sizes, alpha->dtype, alpha->device));
    TSR_TRY(tsr_random_work(t, NULL, alpha, NULL, (TsrDeviceRandom){.draw = TSR_DRAW_GAMMA}, g));
    *out = tsr_owned_take(&t);
    return TSR_OK;
}

TsrStatus op_standard_gamma(TsrOpCall *c) {
    TsrTensor *alpha = c->arg[0].t;
    TsrGenerator *g = tsr_random_generator(&c->arg[1]);
    TsrScope s = {0};
    if (tsr_on_device(alpha)) return tsr_scope_return(c, &s, MAKE(&s, gammas_there_new, alpha, g));
    TSR_TRY(check_float(alpha, "gamma"));
    if (alpha->dtype != TSR_FLOAT32 && alpha->dtype != TSR_FLOAT64)
        return tsr_not_implemented("gamma_cpu", alpha->dtype);
    TsrTensor *drawn = MAKE(&s, gammas_new, alpha, alpha->dtype == TSR_FLOAT32, g);
    TsrTensor *kept = CALL(&s, "clamp", "ts", drawn, tsr_scalar_float(smallest(alpha->dtype)));
    return tsr_scope_return(c, &s, MAKE(&s, tsr_tensor_new_cast, kept, alpha->dtype));
}

/* The greatest number below 1; that of a device is 1 less the dtype's epsilon, as PyTorch has it. */
static double below_one(TsrDtype d, bool there) {
    double step = d == TSR_FLOAT64 ? DBL_EPSILON : d == TSR_FLOAT32 ? FLT_EPSILON : d == TSR_FLOAT16 ? 0x1p-10 : 0x1p-7;
    return there ? 1 - step : 1 - step / 2;
}

/* Gamma numbers over their sum along the last dimension, kept inside (0, 1). */
TsrStatus op_sample_dirichlet(TsrOpCall *c) {
    TsrTensor *alpha = c->arg[0].t;
    const bool there = tsr_on_device(alpha);
    if (!there) TSR_TRY(check_float(alpha, "dirichlet"));
    TsrScope s = {0};
    TsrGenerator *g = tsr_random_generator(&c->arg[1]);
    TsrTensor *drawn = there ? MAKE(&s, gammas_there_new, alpha, g) : MAKE(&s, gammas_new, alpha, false, g);
    int64_t last = -1;
    TsrTensor *sum = CALL(&s, "sum", "tIb", drawn, 1, &last, 1);
    TsrTensor *share = CALL(&s, "div", "tt", drawn, sum);
    TsrTensor *kept = CALL(&s, "clamp", "tss", share, tsr_scalar_float(smallest(alpha->dtype)),
                           tsr_scalar_float(below_one(alpha->dtype, there)));
    return tsr_scope_return(c, &s, MAKE(&s, tsr_tensor_new_cast, kept, alpha->dtype));
}

/* ---- rrelu ---- */

/* In place PyTorch asks for no finite bounds, and finds out when it draws between them. */
static TsrStatus check_range(double lower, double upper) {
    return isfinite(upper - lower) ? TSR_OK : tsr_untrue("to - from <= std::numeric_limits<T>::max()");
}

/* x above 0, elsewhere x times a slope drawn for it, in row-major order. `slopes` has 1 where x is positive; the
 * product with a bfloat16 is taken in float32. */
static TsrStatus slopes_new(TsrTensor **out, const TsrTensor *x, double lower, double upper, TsrGenerator *g) {
    TSR_OWNED t = NULL;
    TSR_TRY(tsr_tensor_new(&t, tsr_ndim(x), x->sizes, TSR_FLOAT64, x->device));
    TSR_TRY(tsr_tensor_copy(t, x));
    double *p = tsr_data(t);
    if (x->dtype != TSR_FLOAT64) {
        lower = (double)(float)lower;
        upper = (double)(float)upper;
    }
    for (int64_t i = 0; i < t->numel && !tsr_is_meta(t); i++) {
        if (p[i] <= 0) TSR_TRY(check_range(lower, upper));
        p[i] = p[i] <= 0 ? tsr_rng_uniform_double(g) * (upper - lower) + lower : 1;
        if (i % 4096 == 4095) TSR_TRY(tsr_interrupt_check());
    }
    return tsr_tensor_new_cast(out, t, x->dtype == TSR_BFLOAT16 ? TSR_FLOAT32 : x->dtype);
}

static TsrStatus check_bounds(double lower, double upper, bool inplace) {
    if (!inplace && !isfinite(lower))
        return tsr_error(TSR_RUNTIME_ERROR, "rrelu: lower bound must be finite, got %g", lower);
    if (!inplace && !isfinite(upper))
        return tsr_error(TSR_RUNTIME_ERROR, "rrelu: upper bound must be finite, got %g", upper);
    if (!(lower <= upper))
        return tsr_error(TSR_RUNTIME_ERROR, "Lower bound should be less than or equal to the upper bound");
    return TSR_OK;
}

/* On a device: one kernel that draws and multiplies. */
static TsrStatus rrelu_on_device_new(TsrTensor **out, TsrTensor *x, double lower, double upper, TsrGenerator *g) {
    TSR_OWNED result = NULL;
    TSR_OWNED dense = NULL;
    if (!tsr_random_is_drawable(x->dtype)) return tsr_not_implemented("rrelu_with_noise_out_cuda", x->dtype);
    TSR_TRY(check_range(lower, upper));
    TSR_TRY(tsr_tensor_new_contiguous(&dense, x, TSR_CONTIGUOUS));
    TSR_TRY(tsr_tensor_new_like(&result, dense, TSR_DTYPE_NONE, TSR_CONTIGUOUS));
    TSR_TRY(tsr_random_work(result, NULL, dense, NULL,
                            (TsrDeviceRandom){.draw = TSR_DRAW_SLOPES, .a = lower, .b = upper}, g));
    *out = tsr_owned_take(&result);
    return TSR_OK;
}

static TsrStatus rrelu_new(TsrTensor **out, TsrTensor *x, double lower, double upper, bool training, TsrGenerator *g) {
    if (training && tsr_on_device(x) && x->numel > 0) return rrelu_on_device_new(out, x, lower, upper, g);
    TSR_TRY(check_float(x, training ? "rrelu_with_noise_out_cpu" : "leaky_relu_cpu"));
    if (training && x->dtype == TSR_FLOAT16)
        return tsr_error(TSR_NOT_IMPLEMENTED_ERROR, "\"rrelu_with_noise_out_cpu\" not implemented for 'Half'");
    TsrScope s = {0};
    x = MAKE(&s, tsr_tensor_new_contiguous, x, TSR_CONTIGUOUS);
    if (training) {
        TsrTensor *slopes = MAKE(&s, slopes_new, x, lower, upper, g);
        TsrTensor *product = CALL(&s, "mul", "tt", x, slopes);
        return tsr_scope_end_new(out, &s, MAKE(&s, tsr_tensor_new_cast, product, x->dtype));
    }
    TsrTensor *scaled = CALL(&s, "mul", "ts", x, tsr_scalar_float((lower + upper) / 2)),
              *positive = CALL(&s, "gt", "ts", x, tsr_scalar_int(0));
    return tsr_scope_end_new(out, &s, CALL(&s, "where", "ttt", positive, x, scaled));
}

/* rrelu(input, lower, upper, training, generator) */
TsrStatus op_rrelu(TsrOpCall *c) {
    TsrTensor *t;
    const double lower = tsr_scalar_to_double(c->arg[1].s), upper = tsr_scalar_to_double(c->arg[2].s);
    const bool training = c->arg[3].b;
    _Alignas(16) char room[16];
    for (int i = 1; i <= 2; i++) TSR_TRY(tsr_scalar_store_checked(c->arg[i].s, TSR_FLOAT64, room));
    TSR_TRY(check_bounds(lower, upper, c->inplace));
    if (c->inplace && !training) TSR_TRY(tsr_check_out_overlap(c->out[0], NULL));
    TSR_TRY(rrelu_new(&t, c->arg[0].t, lower, upper, training, tsr_random_generator(&c->arg[4])));
    return tsr_return_move(c, t);
}
