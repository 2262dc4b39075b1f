/* pointwise.c: what all pointwise operators do before and after their loop (pointwise.h): take tensors and numbers as
 * operands, apply the operator's rules for dtypes, set up the iterator, and choose the kernel. unary.c, binary.c and
 * their neighbours hold the operators' functions. */
#include "pointwise.h"

#include <stdio.h>

TsrStatus tsr_operands_take(TsrOperands *o, const TsrOpCall *c, int n, const int *which) {
    o->n = 0;
    for (int i = 0; i < n; i++) {
        const TsrArg *arg = &c->arg[which != NULL ? which[i] : i];
        o->owned[i] = arg->kind == TSR_ARG_SCALAR;
        o->t[i] = arg->t;
        TsrStatus s = o->owned[i] ? tsr_tensor_new_wrapped(&o->t[i], arg->s) : TSR_OK;
        if (s != TSR_OK) {
            tsr_operands_release(o);
            return s;
        }
        o->n++;
    }
    return TSR_OK;
}

void tsr_operands_release(TsrOperands *o) {
    for (int i = 0; i < o->n; i++)
        if (o->owned[i]) tsr_tensor_free(o->t[i]);
    o->n = 0;
}

static TsrStatus check_complex(const TsrPointwise *rules, int n, TsrTensor *const *in) {
    for (int i = 0; i < n && rules->complex_error != NULL; i++)
        if (tsr_dtype_is_complex(in[i]->dtype)) return tsr_error(rules->complex_kind, "%s", rules->complex_error);
    return TSR_OK;
}

/* Whether all elements of t are one: it has no more, or is expanded from that. */
static bool is_one_number(const TsrTensor *t) {
    for (int d = 0; d < tsr_ndim(t); d++)
        if (t->sizes[d] != 1 && t->strides[d] != 0) return false;
    return t->numel > 0;
}

static TsrStatus refuse_reduced(TsrPw *pw) {
    char name[64];
    snprintf(name, sizeof name, "%s_reduced_float", pw->rules->name);
    return tsr_iter_end_move(&pw->it, tsr_not_implemented(name, pw->it.common), NULL);
}

/* A function of floats may write over its operand where nobody sees that one again. */
static TsrTensor *output_of(TsrOpCall *c, const TsrPointwise *rules, int n, TsrTensor *in) {
    bool same = n == 1 && tsr_in(D_FLOAT, in->dtype) && !(rules->flags & TSR_ITER_OUT_BOOL);
    return same && in == tsr_spare(c) ? in : c->out[0];
}

/* A real number that a half float holds exactly, as 1 or 0.5: that it is rounded to one changes nothing. */
static bool is_exact_half(const TsrTensor *t, TsrDtype half) {
    if ((t->flags & TSR_FLAG_WRAPPED_NUMBER) == 0 || !tsr_in(D_INT | D_FLOAT, t->dtype)) return false;
    uint16_t rounded;
    double number = tsr_scalar_to_double(tsr_tensor_get(t, 0));
    tsr_scalar_store(tsr_scalar_float(number), half, &rounded);
    return tsr_scalar_to_double(tsr_scalar_load(half, &rounded)) == number;
}

/* Half floats that the kernel computes on as they are. */
static bool has_half_kernel(const TsrPointwise *rules, int n, TsrTensor *const *in) {
    TsrDtype half = in[0]->dtype;
    if (!tsr_in(TSR_BITS_HALF, half) || tsr_kernel(rules->kernel, half) == NULL) return false;
    for (int i = 1; i < n; i++)
        if (in[i]->dtype != half && !is_exact_half(in[i], half)) return false;
    return true;
}

static TsrStatus begin(TsrPw *pw, TsrOpCall *c, const TsrPointwise *rules, int n, TsrTensor *const *in,
                       const TsrDtype *forced) {
    TsrIterSpec spec = {.nout = 1,
                        .nin = n,
                        .out = {output_of(c, rules, n, in[0])},
                        .flags = TSR_ITER_PROMOTE | TSR_ITER_COMPUTE_FLOAT | rules->flags,
                        .cost = rules->cost};
    if (!(rules->flags & TSR_ITER_OUT_BOOL)) spec.flags |= TSR_ITER_CHECK_CAST;
    if (has_half_kernel(rules, n, in)) spec.flags &= ~(unsigned)TSR_ITER_COMPUTE_FLOAT;
    if (c->inplace) spec.flags |= TSR_ITER_NO_RESIZE;
    if (forced != NULL) {
        spec.has_dtype = true;
        spec.dtype = *forced;
    }
    for (int i = 0; i < n; i++) spec.in[i] = in[i];
    TSR_TRY(check_complex(rules, n, in));
    TSR_TRY(tsr_iter_begin(&pw->it, &spec));
    pw->rules = rules;
    pw->call = c;
    if ((rules->dtypes >> pw->it.common & 1) && !(D_FLOAT8 >> pw->it.common & 1)) return TSR_OK;
    /* float8 with one number as its second operand takes another road in PyTorch, with a name of its own */
    bool number = n > 1 && is_one_number(in[n - 1]);
    if ((rules->flags & TSR_ITER_OPMATH) && number && (D_FLOAT8 >> pw->it.common & 1)) return refuse_reduced(pw);
    if (rules->dtypes >> pw->it.common & 1) return TSR_OK;
    return tsr_iter_end_move(&pw->it, tsr_not_implemented(rules->name, pw->it.common), NULL);
}

TsrStatus tsr_pw_begin(TsrPw *pw, TsrOpCall *c, const TsrPointwise *rules, int n, TsrTensor *const *in) {
    return begin(pw, c, rules, n, in, NULL);
}

TsrStatus tsr_pw_begin_as(TsrPw *pw, TsrOpCall *c, const TsrPointwise *rules, int n, TsrTensor *const *in,
                          TsrDtype dtype) {
    return begin(pw, c, rules, n, in, &dtype);
}

TsrStatus tsr_pw_finish(TsrPw *pw, TsrKernel kernel, const void *params, size_t nparams) {
    TsrTensor *result = NULL;
    TsrLoop loop = tsr_kernel(kernel, pw->it.dtype);
    TsrStatus s = loop != NULL ? tsr_iter_run_kernel(&pw->it, loop, kernel, params, nparams)
                               : tsr_not_implemented(pw->rules->name, pw->it.common);
    s = tsr_iter_end_move(&pw->it, s, &result);
    return tsr_finish_move(pw->call, s, result);
}

TsrStatus tsr_pw_run(TsrOpCall *c, const TsrPointwise *rules, int n, TsrTensor *const *in) {
    TsrPw pw;
    TSR_TRY(tsr_pw_begin(&pw, c, rules, n, in));
    return tsr_pw_finish(&pw, rules->kernel, NULL, 0);
}

TsrStatus tsr_pw_call(TsrOpCall *c, const TsrPointwise *rules, int n) {
    TsrOperands o;
    TSR_TRY(tsr_operands_take(&o, c, n, NULL));
    TsrStatus s = tsr_pw_run(c, rules, n, o.t);
    tsr_operands_release(&o);
    return s;
}
