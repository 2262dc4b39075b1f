/* activate.c: activations and losses that are one formula an element; those made of other operators are in the prelude.
 */
#include "core/op/compose.h"
#include "core/op/out.h"
#include "pointwise.h"

#include <string.h>

#include "core/tensor/owned.h"

enum { MOST_PARAMS = 3 };

static TsrDtype computed_in(TsrDtype d) { return tsr_in(TSR_BITS_HALF, d) ? TSR_FLOAT32 : d; }

/* The formula with its numbers, as the kernel computes: for a half in float32. into NULL: the result is new. */
static TsrStatus activate_into(TsrOpCall *c, TsrTensor *into, const TsrPointwise *rules, TsrTensor *other, int nparams,
                               const TsrScalar *params) {
    _Alignas(16) char stored[MOST_PARAMS * 16];
    TsrTensor *in[2] = {c->arg[0].t, other}, *out = c->out[0];
    TsrPw pw;
    c->out[0] = into;
    TsrStatus s = tsr_pw_begin(&pw, c, rules, other != NULL ? 2 : 1, in);
    bool begun = s == TSR_OK;
    const TsrDtype d = begun ? computed_in(pw.it.dtype) : TSR_FLOAT32;
    for (int i = 0; i < nparams && s == TSR_OK; i++)
        s = tsr_scalar_store_checked(params[i], d, stored + (size_t)i * tsr_dtype_size(d));
    if (s == TSR_OK) s = tsr_pw_finish(&pw, rules->kernel, stored, (size_t)nparams * tsr_dtype_size(d));
    else if (begun) s = tsr_iter_end_move(&pw.it, s, NULL);
    c->out[0] = out;
    return s;
}

/* The same, in place or new. An out= is written by the dispatcher, which knows what it says of another dtype. */
static TsrStatus activate(TsrOpCall *c, const TsrPointwise *rules, TsrTensor *other, int nparams,
                          const TsrScalar *params) {
    if (!c->inplace && !(rules->flags & TSR_ITER_NO_OVERLAP_CHECK)) TSR_TRY(tsr_check_out_overlap(c->out[0], NULL));
    return activate_into(c, c->inplace ? c->out[0] : NULL, rules, other, nparams, params);
}

/* A number as the dtype holds it: what elements are compared with. */
static TsrStatus round_to(TsrScalar *out, TsrScalar s, TsrDtype dtype) {
    _Alignas(16) char slot[16];
    TSR_TRY(tsr_scalar_store_checked(s, dtype, slot));
    *out = tsr_scalar_load(dtype, slot);
    return TSR_OK;
}

/* The coefficients are rounded to the dtype that is computed in before they are multiplied, as PyTorch's kernel does.
 */
static TsrStatus elu(TsrOpCall *c, TsrScalar alpha, TsrScalar scale, TsrScalar input_scale) {
    static const TsrPointwise rules = {TSR_K_elu, "elu_cpu", D_FLOAT, 0, 16, 0, NULL};
    const TsrTensor *t = c->arg[0].t;
    TsrScalar a, s;
    if (c->inplace) TSR_TRY(tsr_check_out_overlap(c->out[0], NULL));
    TSR_TRY(tsr_require(D_FLOAT, t->dtype, "elu_cpu"));
    TSR_TRY(round_to(&a, alpha, computed_in(t->dtype)));
    TSR_TRY(round_to(&s, scale, computed_in(t->dtype)));
    double below = computed_in(t->dtype) == TSR_FLOAT32 ? (double)((float)a.f * (float)s.f) : a.f * s.f;
    return activate(c, &rules, NULL, 3, (const TsrScalar[]){scale, input_scale, tsr_scalar_float(below)});
}

TsrStatus op_elu(TsrOpCall *c) { return elu(c, c->arg[1].s, c->arg[2].s, c->arg[3].s); }

TsrStatus op_selu(TsrOpCall *c) {
    return elu(c, tsr_scalar_float(1.6732632423543772848170429916717),
               tsr_scalar_float(1.0507009873554804934193349852946), tsr_scalar_float(1));
}

TsrStatus op_celu(TsrOpCall *c) {
    TsrScalar alpha;
    TSR_TRY(round_to(&alpha, c->arg[1].s, TSR_FLOAT64));
    if (alpha.f == 0) return tsr_error(TSR_RUNTIME_ERROR, "ZeroDivisionError: alpha cannot be 0 for CELU");
    return elu(c, c->arg[1].s, tsr_scalar_float(1), tsr_scalar_float(1 / alpha.f));
}

TsrStatus op_leaky_relu(TsrOpCall *c) {
    static const TsrPointwise rules = {TSR_K_leaky_relu, "leaky_relu_cpu", D_FLOAT, 0, 2, 0, NULL};
    return activate(c, &rules, NULL, 1, &c->arg[1].s);
}

TsrStatus op_threshold(TsrOpCall *c) {
    static const TsrPointwise rules = {
        TSR_K_threshold, "threshold_cpu", D_INT | D_FLOAT, TSR_ITER_NO_OVERLAP_CHECK, 1, 0, NULL};
    TsrScalar value;
    TSR_TRY(tsr_check_out_fits(c, 0, c->arg[0].t->dtype));
    TSR_TRY(tsr_require(rules.dtypes, c->arg[0].t->dtype, rules.name));
    TSR_TRY(round_to(&value, c->arg[2].s, c->arg[0].t->dtype));
    return activate(c, &rules, NULL, 2, (const TsrScalar[]){c->arg[1].s, value});
}

TsrStatus op_hardshrink(TsrOpCall *c) {
    static const TsrPointwise rules = {TSR_K_hardshrink, "hardshrink_cpu", D_FLOAT, 0, 2, 0, NULL};
    TsrScalar lambd;
    TSR_TRY(tsr_require(D_FLOAT, c->arg[0].t->dtype, rules.name));
    TSR_TRY(round_to(&lambd, c->arg[1].s, c->arg[0].t->dtype));
    return activate(c, &rules, NULL, 1, &lambd);
}

static TsrStatus check_lambda(const TsrArg *lambd, TsrDtype d) {
    TsrScalar value;
    TSR_TRY(round_to(&value, lambd->s, TSR_FLOAT64));
    if (value.f >= 0 && value.f <= tsr_pw_greatest(d)) return TSR_OK;
    return tsr_error(TSR_RUNTIME_ERROR, "lambda must be in range [0, %g] for input dtype %s, but found %g",
                     tsr_pw_greatest(d), tsr_dtype_scalar_name(d), value.f);
}

/* Where x is small the result is 0: in PyTorch's vector loop, over pairs of 32-byte vectors, and 0 with x's sign in its
 * loop for the remaining elements, which are all where the memory has gaps. */
typedef struct LastSigns {
    int64_t first;
    int n;
    bool negative[32];
} LastSigns;

static void take_last_signs(LastSigns *s, const TsrTensor *t) {
    int64_t size = (int64_t)tsr_itemsize(t), chunk = 64 / size;
    const char *x = tsr_data(t);
    s->first = t->numel / chunk * chunk;
    s->n = (int)(t->numel - s->first);
    for (int i = 0; i < s->n; i++) s->negative[i] = x[(s->first + i + 1) * size - 1] < 0;
}

static void put_last_signs(const LastSigns *s, TsrTensor *result) {
    static const char zero[8] = {0};
    size_t size = tsr_itemsize(result);
    char *y = (char *)tsr_data(result) + (size_t)s->first * size;
    for (int i = 0; i < s->n; i++, y += size)
        if (s->negative[i] && memcmp(y, zero, size) == 0) y[size - 1] = INT8_MIN;
}

TsrStatus op_softshrink(TsrOpCall *c) {
    TsrPointwise rules = {TSR_K_softshrink, "softshrink_cpu", D_FLOAT, 0, 2, 0, NULL};
    const TsrTensor *t = c->arg[0].t;
    LastSigns signs = {0};
    TsrScalar edge;
    char unused[8];
    TSR_TRY(tsr_scalar_store_checked(c->arg[1].s, TSR_FLOAT64, unused));
    TSR_TRY(tsr_require(D_FLOAT, t->dtype, "softshrink_check"));
    TSR_TRY(check_lambda(&c->arg[1], t->dtype));
    TSR_TRY(tsr_check_out_overlap(c->out[0], NULL));
    TSR_TRY(round_to(&edge, c->arg[1].s, t->dtype));
    if (!tsr_is_dense(t)) rules.kernel = TSR_K_softshrink_signed;
    else if (t->device.type == TSR_CPU) take_last_signs(&signs, t);
    TSR_TRY(activate(c, &rules, NULL, 1, &edge));
    put_last_signs(&signs, c->ret[0].t);
    return TSR_OK;
}

TsrStatus op_hardsigmoid(TsrOpCall *c) {
    static const TsrPointwise rules = {TSR_K_hardsigmoid, "hardsigmoid_cpu", D_FLOAT, 0, 3, 0, NULL};
    return activate(c, &rules, NULL, 0, NULL);
}

TsrStatus op_hardswish(TsrOpCall *c) {
    static const TsrPointwise rules = {TSR_K_hardswish, "hardswish_cpu", D_FLOAT, 0, 3, 0, NULL};
    return activate(c, &rules, NULL, 0, NULL);
}

/* x / (1 + exp(-x)) */
static TsrStatus silu_of_complex(TsrOpCall *c) {
    TsrScope s = {0};
    TsrTensor *x = c->arg[0].t, *flipped = CALL(&s, "neg", "t", x), *e = CALL(&s, "exp", "t", flipped);
    TsrTensor *below = CALL(&s, "add", "ts", e, tsr_scalar_int(1));
    return tsr_scope_return(c, &s, CALL(&s, "div", "tt", x, below));
}

TsrStatus op_silu(TsrOpCall *c) {
    static const TsrPointwise rules = {TSR_K_silu, "silu_cpu", D_FLOAT, 0, 8, 0, NULL};
    if (c->arg[0].t->dtype == TSR_COMPLEX32) return tsr_not_implemented(rules.name, TSR_COMPLEX32);
    return tsr_dtype_is_complex(c->arg[0].t->dtype) ? silu_of_complex(c) : activate(c, &rules, NULL, 0, NULL);
}

TsrStatus op_mish(TsrOpCall *c) {
    static const TsrPointwise rules = {TSR_K_mish, "mish_cpu", D_FLOAT, 0, 24, 0, NULL};
    return activate(c, &rules, NULL, 0, NULL);
}

TsrStatus op_logsigmoid(TsrOpCall *c) {
    static const TsrPointwise rules = {TSR_K_logsigmoid, "log_sigmoid_cpu", D_FLOAT, 0, 16, 0, NULL};
    return activate(c, &rules, NULL, 0, NULL);
}

TsrStatus op_softplus(TsrOpCall *c) {
    static const TsrPointwise rules = {TSR_K_softplus, "softplus_cpu", D_FLOAT, 0, 16, 0, NULL};
    return activate(c, &rules, NULL, 2, (const TsrScalar[]){c->arg[1].s, c->arg[2].s});
}

/* Whether PyTorch hands the input to oneDNN. */
static bool gelu_in_line(const TsrTensor *t) {
    return (t->dtype == TSR_FLOAT32 || t->dtype == TSR_BFLOAT16) && t->numel > 1 &&
           tsr_is_contiguous(t, TSR_CONTIGUOUS) && !tsr_on_device(t);
}

TsrStatus op_gelu(TsrOpCall *c) {
    static const TsrPointwise exact = {TSR_K_gelu, "GeluKernelImpl", D_FLOAT, 0, 8, 0, NULL},
                              in_line = {TSR_K_gelu_in_line, "GeluKernelImpl", D_FLOAT, 0, 8, 0, NULL},
                              by_tanh = {TSR_K_gelu_tanh, "GeluKernelImpl", D_FLOAT, 0, 16, 0, NULL};
    bool is_exact = strcmp(c->arg[1].str, "none") == 0;
    if (!is_exact && strcmp(c->arg[1].str, "tanh") != 0)
        return tsr_error(TSR_RUNTIME_ERROR, "approximate argument must be either none or tanh.");
    return activate(c, !is_exact ? &by_tanh : gelu_in_line(c->arg[0].t) ? &in_line : &exact, NULL, 0, NULL);
}

/* The first half along dim times the sigmoid of the second one. */
TsrStatus op_glu(TsrOpCall *c) {
    static const TsrPointwise rules = {TSR_K_glu, "glu_cpu", D_FLOAT, 0, 8, 0, NULL};
    TsrTensor *t = c->arg[0].t;
    int64_t dim = c->arg[1].i;
    if (tsr_ndim(t) == 0) return tsr_error(TSR_RUNTIME_ERROR, "glu does not support 0-dimensional tensors");
    TSR_TRY(tsr_wrap_dim(&dim, tsr_ndim(t)));
    int64_t n = t->sizes[dim] / 2;
    if (t->sizes[dim] % 2 != 0)
        return tsr_error(TSR_RUNTIME_ERROR, "Halving dimension must be even, but dimension %lld is size %lld",
                         (long long)dim, (long long)t->sizes[dim]);
    TSR_TRY(tsr_require(D_FLOAT, t->dtype, rules.name));
    TSR_OWNED first = NULL;
    TSR_OWNED second = NULL;
    TSR_TRY(tsr_tensor_new_narrow(&first, t, dim, 0, n));
    TSR_TRY(tsr_tensor_new_narrow(&second, t, dim, n, n));
    return tsr_pw_run(c, &rules, 2, (TsrTensor *[]){first, second});
}

/* arg: self, target, reduction, where the square ends. into NULL: the losses are new. */
static TsrStatus squared_near(TsrOpCall *c, TsrTensor *into, const TsrPointwise *rules) {
    static const char *const reductions[] = {NULL, "mean", "sum"};
    double edge = c->arg[3].f;
    int64_t reduction = c->arg[2].i;
    TsrTensor *sum = NULL;
    TSR_TRY(activate_into(c, into, rules, c->arg[1].t, 2,
                          (const TsrScalar[]){tsr_scalar_float(edge), tsr_scalar_float(0.5 * edge)}));
    if (reduction != 1 && reduction != 2) return TSR_OK;
    TsrStatus s = tsr_invoke_new(&sum, 1, reductions[reduction], "t", c->ret[0].t);
    tsr_op_release_returns(c);
    return tsr_finish_move(c, s, sum);
}

TsrStatus op_huber_loss(TsrOpCall *c) {
    static const TsrPointwise rules = {TSR_K_huber, "huber_cpu", D_FLOAT, 0, 2, 0, NULL};
    if (!(c->arg[3].f > 0))
        return tsr_error(TSR_RUNTIME_ERROR, "huber_loss does not support non-positive values for delta.");
    TSR_OWNED like = NULL; /* whatever strides the target has */
    if (tsr_same_sizes(c->arg[0].t, c->arg[1].t))
        TSR_TRY(tsr_tensor_new_like(&like, c->arg[0].t, TSR_DTYPE_NONE, TSR_PRESERVE));
    return squared_near(c, like, &rules);
}

TsrStatus op_smooth_l1_loss(TsrOpCall *c) {
    static const TsrPointwise rules = {TSR_K_smooth_l1, "smooth_l1_cpu", D_FLOAT, 0, 2, 0, NULL};
    if (!(c->arg[3].f >= 0))
        return tsr_error(TSR_RUNTIME_ERROR, "smooth_l1_loss does not support negative values for beta.");
    return squared_near(c, NULL, &rules);
}

/* One weight, or one a channel. */
static TsrStatus check_prelu(const TsrTensor *t, const TsrTensor *weight) {
    int64_t channels = tsr_ndim(t) > 1 ? t->sizes[1] : 1;
    if (t->dtype != weight->dtype)
        return tsr_error(TSR_RUNTIME_ERROR, "prelu: Type promoting not supported. Got %s and %s",
                         tsr_dtype_scalar_name(t->dtype), tsr_dtype_scalar_name(weight->dtype));
    if (weight->numel != 1 && tsr_ndim(t) == 0) return tsr_error(TSR_RUNTIME_ERROR, "Not allow zero-dim input tensor.");
    if (weight->numel != 1 && weight->numel != channels)
        return tsr_error(
            TSR_RUNTIME_ERROR,
            "Mismatch of parameter numbers and input channel size. Found parameter numbers = %lld and channel size = "
            "%lld.",
            (long long)weight->numel, (long long)channels);
    if (tsr_ndim(weight) > 1)
        return tsr_error(TSR_RUNTIME_ERROR, "prelu: Expected `weight` to be a scalar or 1D tensor, but got: ndim = %d",
                         tsr_ndim(weight));
    return tsr_require(D_FLOAT, t->dtype, "prelu_cpu");
}

TsrStatus op_prelu(TsrOpCall *c) {
    static const TsrPointwise rules = {TSR_K_prelu, "prelu_cpu", D_FLOAT, 0, 2, 0, NULL};
    const TsrTensor *t = c->arg[0].t;
    int64_t sizes[TSR_MAX_DIMS];
    TsrTensor *weight;
    TSR_TRY(check_prelu(t, c->arg[1].t));
    for (int d = 0; d < tsr_ndim(t); d++) sizes[d] = d == 1 ? c->arg[1].t->numel : 1;
    TSR_TRY(tsr_tensor_new_reshape(&weight, c->arg[1].t, tsr_ndim(t), sizes));
    TsrStatus s = activate(c, &rules, weight, 0, NULL);
    tsr_tensor_free(weight);
    if (s == TSR_OK && t->numel <= 1)
        s = tsr_tensor_set_geometry(
            c->ret[0].t, (TsrGeometry){tsr_ndim(t), t->sizes, t->strides, 0}); /* as PyTorch's kernel leaves them */
    return s;
}
