/* unary.c: operators on one tensor, and the table of those that follow the common course. */
#include "core/op/compose.h"
#include "core/op/out.h"
#include "pointwise.h"

#include <math.h>
#include <string.h>

#include "core/element/halffloat.h"
#include "core/tensor/owned.h"

/* name, kernel, name in messages, dtypes, flags, cost */
#define FLOATING D_FLOAT, TSR_ITER_INT_TO_FLOAT
#define FLOATING_COMPLEX D_FLOAT | D_COMPLEX, TSR_ITER_INT_TO_FLOAT
#define UNARY(op, kernel, text, ...) \
    TsrStatus op_##op(TsrOpCall *c) { \
        static const TsrPointwise rules = {TSR_K_##kernel, text, __VA_ARGS__, 0, NULL}; \
        return tsr_pw_call(c, &rules, 1); \
    }
#define VML(name, cost) UNARY(name, name, #name "_vml_cpu", FLOATING_COMPLEX, cost)
#define CPU(name, cost) UNARY(name, name, #name "_cpu", FLOATING_COMPLEX, cost)

VML(exp, 8)
VML(expm1, 16)
VML(log, 8)
VML(log2, 8)
VML(log10, 8)
VML(log1p, 16)
VML(sin, 16)
VML(cos, 16)
VML(tan, 24)
VML(asin, 16)
VML(acos, 16)
VML(atan, 16)
VML(tanh, 16)
VML(sqrt, 2)
CPU(asinh, 24)
CPU(acosh, 24)
CPU(atanh, 24)
CPU(reciprocal, 1)
CPU(sinc, 16)
static UNARY(rsqrt_direct, rsqrt, "rsqrt_cpu", FLOATING_COMPLEX, 2)
UNARY(exp2, exp2, "exp2", FLOATING_COMPLEX, 8)
UNARY(erfc, erfc, "erfc_vml_cpu", FLOATING, 24)
UNARY(erfinv, erfinv, "erfinv_vml_cpu", FLOATING, 64)
UNARY(frac, frac, "frac_cpu", D_FLOAT, 0, 1)
UNARY(bitwise_not, bitwise_not, "bitwise_not_cpu", D_INT | D_BOOL, 0, 1)
#define LOGICAL (D_INT | D_FLOAT | D_COMPLEX | D_BOOL)
static UNARY(logical_not_self, logical_not, "logical_not_cpu", LOGICAL, TSR_ITER_OUT_BOOL, 1)
TsrStatus op_logical_not(TsrOpCall *c) { /* PyTorch has kernels for pairs of input and output */
    TSR_TRY(tsr_check_out_overlap(c->out[0], NULL));
    if (c->out[0] != NULL && !tsr_in(LOGICAL, c->out[0]->dtype) && c->arg[0].t->numel > 0)
        return tsr_not_implemented("logical_not_cpu", c->out[0]->dtype);
    return op_logical_not_self(c);
}
/* Functions that PyTorch computes otherwise for half floats. */
#define HALVES_APART(op, text, dtypes, flags, cost, half_kernel) \
    TsrStatus op_##op(TsrOpCall *c) { \
        static const TsrPointwise rules = {TSR_K_##op, text, dtypes, flags, cost, 0, NULL}; \
        TsrDtype d = c->arg[0].t->dtype; \
        TsrPw pw; \
        TSR_TRY(tsr_pw_begin(&pw, c, &rules, 1, &c->arg[0].t)); \
        return tsr_pw_finish(&pw, d == TSR_FLOAT16 || d == TSR_BFLOAT16 ? TSR_K_##half_kernel : TSR_K_##op, NULL, 0); \
    }
#define APART(...) HALVES_APART(__VA_ARGS__)
APART(erf, "erf_vml_cpu", FLOATING, 16, erf_coarse)
APART(sinh, "sinh_cpu", FLOATING_COMPLEX, 24, sinh_half)
APART(cosh, "cosh_cpu", FLOATING_COMPLEX, 24, cosh_half)

TsrStatus op_sigmoid(TsrOpCall *c) {
    TsrPointwise rules = {TSR_K_sigmoid, "sigmoid_cpu", FLOATING_COMPLEX, 8, 0, NULL};
    if (D_FLOAT8 >> c->arg[0].t->dtype & 1) rules.name = "sigmoid_cpu_reduced_float";
    return tsr_pw_call(c, &rules, 1);
}

/* In the half types the root is rounded before its reciprocal is taken, except in PyTorch's whole vectors of 32. */
#define RSQRT(name, T, WIDEN, ROUND) \
    TSR_CLONES static void name##_vectors(T *out, const T *in, int64_t n) { \
        for (int64_t i = 0; i < n; i++) out[i] = ROUND(1 / sqrtf(WIDEN(in[i]))); \
    } \
    static void name(char *const *data, const int64_t *s, int64_t n, const void *p) { \
        int64_t whole = s[0] == 2 && s[1] == 2 ? n / 32 * 32 : 0; \
        (void)p; \
        name##_vectors((T *)data[0], (const T *)data[1], whole); \
        for (int64_t i = whole; i < n; i++) \
            *(T *)(data[0] + i * s[0]) = ROUND(1 / WIDEN(ROUND(sqrtf(WIDEN(*(const T *)(data[1] + i * s[1])))))); \
    }
RSQRT(rsqrt_half, TsrHalf, tsr_half_widen, tsr_half_round)
RSQRT(rsqrt_bfloat16, TsrBfloat16, tsr_bfloat16_widen, tsr_bfloat16_round)

TsrStatus op_rsqrt(TsrOpCall *c) {
    TsrTensor *x = c->arg[0].t, *result = NULL;
    if (x->dtype != TSR_FLOAT16 && x->dtype != TSR_BFLOAT16) return op_rsqrt_direct(c);
    TsrIter it;
    TSR_TRY(tsr_iter_begin(&it, &(TsrIterSpec){.nout = 1,
                                               .out = {c->out[0]},
                                               .nin = 1,
                                               .in = {x},
                                               .cost = 4,
                                               .flags = TSR_ITER_PROMOTE | TSR_ITER_CHECK_CAST}));
    TsrStatus s =
        tsr_iter_end_move(&it, tsr_iter_run(&it, x->dtype == TSR_FLOAT16 ? rsqrt_half : rsqrt_bfloat16, NULL), &result);
    return tsr_finish_move(c, s, result);
}

TsrStatus op_neg(TsrOpCall *c) {
    static const TsrPointwise rules = {TSR_K_neg, "neg_cpu", D_INT | D_FLOAT | D_COMPLEX | D_CHALF, 0, 1, 0, NULL};
    if (c->arg[0].t->dtype == TSR_BOOL)
        return tsr_error(
            TSR_NOT_IMPLEMENTED_ERROR,
            "Negation, the `-` operator, on a bool tensor is not supported. If you are trying to invert a mask, use "
            "the `~` or `logical_not()` operator instead.");
    if (!c->inplace) TSR_TRY(tsr_check_out_overlap(c->out[0], NULL));
    TSR_TRY(tsr_check_out_dtype(c, 0, c->arg[0].t->dtype));
    return tsr_pw_call(c, &rules, 1);
}

static TsrStatus return_self(TsrOpCall *c) { return tsr_return_move(c, tsr_tensor_retain(c->arg[0].t)); }

/* PyTorch writes some results into an empty_like: strides of dimensions of size 1 stay, too. */
static TsrStatus run_alike(TsrOpCall *c, TsrDtype dtype, TsrStatus (*run)(TsrOpCall *c, void *user), void *user) {
    TsrTensor *like;
    if (c->out[0] != NULL) return run(c, user);
    TSR_TRY(tsr_tensor_new_like(&like, c->arg[0].t, dtype, TSR_PRESERVE));
    c->out[0] = like;
    TsrStatus status = run(c, user);
    c->out[0] = NULL;
    tsr_tensor_free(like);
    return status;
}

static TsrStatus abs_complex(TsrOpCall *c, void *rules) { return tsr_pw_call(c, rules, 1); }

/* What a complex argument's real result goes into is looked at before all else. */
static TsrStatus check_real_out(const TsrOpCall *c) {
    const TsrTensor *out = c->out[0];
    TsrDtype real = tsr_dtype_real_of(c->arg[0].t->dtype);
    if (out == NULL || tsr_dtype_is_complex(out->dtype) || tsr_can_cast(real, out->dtype)) return TSR_OK;
    return tsr_error(TSR_RUNTIME_ERROR, "result type %s can't be cast to the desired output type %s",
                     tsr_dtype_scalar_name(real), tsr_dtype_scalar_name(out->dtype));
}

/* It is resized before it is written. */
static TsrStatus resize_real_out(const TsrOpCall *c) {
    const TsrTensor *x = c->arg[0].t;
    TsrTensor *out = c->out[0];
    if (out == NULL || tsr_dtype_is_complex(out->dtype) || tsr_same_sizes(out, x)) return TSR_OK;
    return tsr_tensor_resize(out, tsr_ndim(x), x->sizes, TSR_CONTIGUOUS);
}

TsrStatus op_abs(TsrOpCall *c) {
    static const TsrPointwise real = {TSR_K_abs, "abs_cpu", D_INT | D_FLOAT | (D_FLOAT8 & ~D(FLOAT8_E8M0FNU)), 0, 1,
                                      0,         NULL};
    TsrPointwise complex = {TSR_K_abs, "abs_cpu", D_COMPLEX | D_CHALF, TSR_ITER_REAL_OUT, 4, 0, NULL};
    TsrDtype d = c->arg[0].t->dtype;
    if (!tsr_dtype_is_complex(d)) return tsr_pw_call(c, &real, 1);
    if (c->inplace) return tsr_error(TSR_RUNTIME_ERROR, "In-place abs is not supported for complex tensors.");
    TSR_TRY(check_real_out(c));
    TSR_TRY(resize_real_out(c));
    return run_alike(c, tsr_dtype_real_of(d), abs_complex, &complex);
}

/* A fresh result that is row-major but for strides of dimensions of one gets those of a row-major one, as PyTorch gives
 * it in a second pass. */
static TsrStatus settle(TsrTensor *t) {
    int64_t sizes[TSR_MAX_DIMS], strides[TSR_MAX_DIMS];
    if (!tsr_is_contiguous(t, TSR_CONTIGUOUS)) return TSR_OK;
    memcpy(sizes, t->sizes, sizeof *sizes * (size_t)tsr_ndim(t));
    tsr_layout_contiguous_strides(strides, tsr_ndim(t), sizes);
    return tsr_tensor_set_geometry(t, (TsrGeometry){tsr_ndim(t), sizes, strides, t->offset});
}

/* Angles of complex numbers are computed as those lie, and are row-major in the end. */
TsrStatus op_angle(TsrOpCall *c) {
    static const TsrPointwise rules = {
        TSR_K_angle, "angle_cpu", D_FLOAT | D_COMPLEX, TSR_ITER_INT_TO_FLOAT | TSR_ITER_REAL_OUT, 16, 0, NULL};
    TsrTensor *rows;
    if (tsr_dtype_is_complex(c->arg[0].t->dtype)) {
        TSR_TRY(check_real_out(c));
        TSR_TRY(resize_real_out(c));
    }
    TSR_TRY(tsr_pw_call(c, &rules, 1));
    if (!tsr_dtype_is_complex(c->arg[0].t->dtype) || c->out[0] != NULL) return TSR_OK;
    TsrStatus status = tsr_tensor_new_contiguous(&rows, c->ret[0].t, TSR_CONTIGUOUS);
    if (status != TSR_OK) {
        tsr_op_release_returns(c);
        return status;
    }
    tsr_tensor_free(c->ret[0].t);
    c->ret[0].t = rows;
    return settle(rows);
}

static const TsrPointwise sign_rules = {
    TSR_K_sign,
    "sign_cpu",
    D_INT | D_FLOAT | D_BOOL,
    0,
    1,
    TSR_NOT_IMPLEMENTED_ERROR,
    "Unlike NumPy, torch.sign is not intended to support complex numbers. Please use torch.sgn instead."};
TsrStatus op_sign(TsrOpCall *c) { return tsr_pw_call(c, &sign_rules, 1); }

TsrStatus op_sgn(TsrOpCall *c) {
    static const TsrPointwise complex = {TSR_K_sgn, "sgn_cpu", D_COMPLEX | D_CHALF, 0, 8, 0, NULL};
    return tsr_pw_call(c, tsr_dtype_is_complex(c->arg[0].t->dtype) ? &complex : &sign_rules, 1);
}

/* A result of the iterator's making with nothing computed yet. */
static TsrStatus make_result(TsrOpCall *c, const TsrPointwise *rules, TsrTensor **out) {
    TsrPw pw;
    TSR_TRY(tsr_pw_begin(&pw, c, rules, 1, &c->arg[0].t));
    return tsr_iter_end_move(&pw.it, TSR_OK, out);
}

static TsrStatus return_filled(TsrOpCall *c, const TsrPointwise *rules, bool value) {
    TsrTensor *result;
    TSR_TRY(make_result(c, rules, &result));
    return tsr_finish_move(c, tsr_is_meta(result) ? TSR_OK : tsr_tensor_fill(result, tsr_scalar_bool(value)), result);
}

/* Bools shaped like the argument, in its memory order, all of one value. */
static TsrStatus return_alike(TsrOpCall *c, bool value) {
    TsrTensor *result;
    TSR_TRY(tsr_tensor_new_like(&result, c->arg[0].t, TSR_BOOL, TSR_PRESERVE));
    return tsr_finish_move(c, tsr_is_meta(result) ? TSR_OK : tsr_tensor_fill(result, tsr_scalar_bool(value)), result);
}

static TsrStatus return_copied(TsrOpCall *c, const TsrPointwise *rules) {
    TsrTensor *result;
    TSR_TRY(make_result(c, rules, &result));
    return tsr_finish_move(c, tsr_is_meta(result) ? TSR_OK : tsr_tensor_copy(result, c->arg[0].t), result);
}

TsrStatus op_conj_physical(TsrOpCall *c) {
    static const TsrPointwise rules = {TSR_K_conj, "conj_cpu", D_COMPLEX | D_CHALF, 0, 1, 0, NULL};
    static const TsrPointwise plain = {TSR_K_conj, "conj_cpu", ~0u, 0, 1, 0, NULL};
    TsrTensor *x = c->arg[0].t, *same = NULL;
    TSR_OWNED result = NULL;
    if (c->out[0] != NULL && !c->inplace && tsr_in(TSR_BITS_UINT | TSR_BITS_FLOAT8, x->dtype))
        return tsr_not_implemented("conj_cpu", x->dtype);
    if (!tsr_dtype_is_complex(x->dtype))
        return c->out[0] != NULL && !c->inplace ? return_copied(c, &plain) : return_self(c);
    if (c->out[0] != NULL) return tsr_pw_call(c, &rules, 1);
    TSR_TRY(tsr_tensor_new_like(&result, x, TSR_DTYPE_NONE, TSR_PRESERVE));
    TSR_TRY(tsr_invoke_new(&same, 1, "conj_physical", "!tt", result, x));
    tsr_tensor_free(same);
    return tsr_return_move(c, tsr_owned_take(&result));
}

/* Rounding: integers are copied. */
#define ROUNDING(op) \
    TsrStatus op_##op(TsrOpCall *c) { \
        static const TsrPointwise rules = {TSR_K_##op, \
                                           #op "_vml_cpu", \
                                           D_INT | D_BARE | D_FLOAT, \
                                           0, \
                                           1, \
                                           TSR_NOT_IMPLEMENTED_ERROR, \
                                           #op " is not supported for complex inputs"}; \
        if (tsr_dtype_is_complex(c->arg[0].t->dtype)) /* before an out= is looked at */ \
            return tsr_error(TSR_NOT_IMPLEMENTED_ERROR, "%s", rules.complex_error); \
        return tsr_dtype_is_integral(c->arg[0].t->dtype) ? return_copied(c, &rules) : tsr_pw_call(c, &rules, 1); \
    }
ROUNDING(ceil)
ROUNDING(floor)
ROUNDING(trunc)

TsrStatus op_round(TsrOpCall *c) {
    static const TsrPointwise rules = {TSR_K_round, "round_vml_cpu", D_INT | D_BARE | D_FLOAT, 0, 1, 0, NULL};
    return tsr_dtype_is_integral(c->arg[0].t->dtype) ? return_copied(c, &rules) : tsr_pw_call(c, &rules, 1);
}

TsrStatus op_round_decimals(TsrOpCall *c) {
    static const TsrPointwise rules = {TSR_K_round_up, "round_cpu", D_FLOAT, 0, 4, 0, NULL};
    int64_t decimals = c->arg[1].i;
    if (decimals == 0 && tsr_dtype_is_integral(c->arg[0].t->dtype))
        return tsr_not_implemented("round_vml_cpu", c->arg[0].t->dtype);
    if (decimals == 0) return op_round(c);
    double power = pow(10, fabs((double)decimals));
    TsrPw pw;
    TSR_TRY(tsr_pw_begin(&pw, c, &rules, 1, &c->arg[0].t));
    return tsr_pw_finish(&pw, decimals > 0 ? TSR_K_round_up : TSR_K_round_down, &power, sizeof power);
}

/* Classification: integers and bools have one answer. */
#define ANYTHING (D_INT | D_BARE | D_FLOAT | D_FLOAT8 | D_COMPLEX | D_CHALF | D_BOOL)
static TsrStatus classify(TsrOpCall *c, const TsrPointwise *rules, const char *name, bool alike, bool integers) {
    TsrDtype d = c->arg[0].t->dtype;
    bool refused = rules->complex_error != NULL && tsr_dtype_is_complex(d);
    if (!refused && c->out[0] != NULL && c->out[0]->dtype != TSR_BOOL)
        return tsr_error(TSR_RUNTIME_ERROR, "%s does not support non-boolean outputs.", name);
    if (!tsr_dtype_is_integral(d) && d != TSR_BOOL) return tsr_pw_call(c, rules, 1);
    return alike ? return_alike(c, integers) : return_filled(c, rules, integers);
}
/* `alike`: the answer for integers is laid out as the operand is. */
#define CLASSIFY(op, dtypes, alike, integers, kind, text) \
    TsrStatus op_##op(TsrOpCall *c) { \
        static const TsrPointwise rules = {TSR_K_##op, #op "_cpu", dtypes, TSR_ITER_OUT_BOOL, 1, kind, text}; \
        return classify(c, &rules, #op, alike, integers); \
    }
CLASSIFY(isnan, ANYTHING, false, false, 0, NULL)
CLASSIFY(isposinf, D_INT | D_BARE | D_FLOAT | D_BOOL, false, false, TSR_TYPE_ERROR,
         "isposinf does not support complex inputs.")
CLASSIFY(isneginf, D_INT | D_BARE | D_FLOAT | D_BOOL, false, false, TSR_TYPE_ERROR,
         "isneginf does not support complex inputs.")

/* Of two comparisons PyTorch takes the product. */
TsrStatus op_isfinite(TsrOpCall *c) {
    static const TsrPointwise rules = {TSR_K_isfinite, "isfinite_cpu", ANYTHING, TSR_ITER_OUT_BOOL, 1, 0, NULL};
    TsrDtype d = c->arg[0].t->dtype;
    TSR_TRY(classify(c, &rules, "isfinite", true, true));
    return tsr_dtype_is_integral(d) || d == TSR_BOOL ? TSR_OK : settle(c->ret[0].t);
}

/* PyTorch compares magnitudes, of the parts of complex numbers, with infinity: the strides of empty results show it. */
static TsrStatus isinf_empty(TsrOpCall *c) {
    TsrScope s = {0};
    TsrTensor *of = c->arg[0].t, *size;
    if (tsr_dtype_is_complex(of->dtype)) of = CALL(&s, "real", "t", of);
    size = CALL(&s, "abs", "t", of);
    return tsr_scope_return(c, &s, CALL(&s, "eq", "ts", size, tsr_scalar_float(INFINITY)));
}

static TsrStatus isinf_alike(TsrOpCall *c, void *rules) { return classify(c, rules, "isinf", true, false); }

TsrStatus op_isinf(TsrOpCall *c) {
    static const TsrPointwise rules = {TSR_K_isinf, "isinf_cpu", ANYTHING, TSR_ITER_OUT_BOOL, 1, 0, NULL};
    TsrDtype d = c->arg[0].t->dtype;
    bool made = c->out[0] == NULL,
         empty = c->arg[0].t->numel == 0 && made && (tsr_in(D_FLOAT | D_FLOAT8, d) || tsr_dtype_is_complex(d));
    if (d == TSR_FLOAT8_E4M3FN && c->out[0] == NULL) return return_alike(c, false); /* it has no infinity */
    if (made && !empty && tsr_dtype_is_complex(d) && tsr_is_dense(c->arg[0].t))
        return run_alike(c, TSR_BOOL, isinf_alike, (void *)&rules);
    return empty ? isinf_empty(c) : classify(c, &rules, "isinf", true, false);
}

TsrStatus op_isreal(TsrOpCall *c) {
    TsrTensor *result = NULL, *imaginary = NULL;
    if (!tsr_dtype_is_complex(c->arg[0].t->dtype)) return return_alike(c, true);
    TSR_TRY(tsr_invoke_new(&imaginary, 1, "imag", "t", c->arg[0].t));
    TsrStatus s = tsr_invoke_new(&result, 1, "eq", "ts", imaginary, tsr_scalar_int(0)); /* laid out as that view */
    tsr_tensor_free(imaginary);
    return tsr_finish_move(c, s, result);
}

TsrStatus op_signbit(TsrOpCall *c) {
    static const TsrPointwise rules = {TSR_K_signbit,
                                       "signbit_cpu",
                                       D_INT | D_BARE | D_FLOAT | D_BOOL,
                                       TSR_ITER_OUT_BOOL,
                                       1,
                                       TSR_NOT_IMPLEMENTED_ERROR,
                                       "signbit is not implemented for complex tensors."};
    TsrDtype d = c->arg[0].t->dtype;
    if (!tsr_dtype_is_complex(d) && c->out[0] != NULL && c->out[0]->dtype != TSR_BOOL)
        return tsr_error(TSR_RUNTIME_ERROR, "signbit does not support non-boolean outputs.");
    return tsr_dtype_kind(d) == TSR_KIND_UINT || d == TSR_BOOL ? return_filled(c, &rules, false)
                                                               : tsr_pw_call(c, &rules, 1);
}

static TsrStatus scale(TsrOpCall *c, void *factor) {
    static const TsrPointwise rules = {TSR_K_mul, "mul_cpu", D_FLOAT, TSR_ITER_INT_TO_FLOAT | TSR_ITER_OPMATH,
                                       1,         0,         NULL};
    TsrTensor *in[2] = {c->arg[0].t, factor};
    return tsr_pw_run(c, &rules, 2, in);
}

static TsrStatus scaled(TsrOpCall *c, double factor, const char *complex_error) {
    TsrTensor *number;
    TsrDtype d = c->arg[0].t->dtype;
    if (tsr_dtype_is_complex(d)) return tsr_error(TSR_NOT_IMPLEMENTED_ERROR, "%s", complex_error);
    TSR_TRY(tsr_tensor_new_wrapped(&number, tsr_scalar_float(factor)));
    TsrStatus s = run_alike(c, tsr_dtype_is_float(d) ? d : tsr_default_dtype(), scale, number);
    tsr_tensor_free(number);
    return s;
}

TsrStatus op_deg2rad(TsrOpCall *c) {
    return scaled(c, 0.017453292519943295769236907684886, "deg2rad is not supported for complex tensors.");
}
TsrStatus op_rad2deg(TsrOpCall *c) {
    return scaled(c, 57.295779513082320876798154814105, "rad2deg is not supported for complex tensors.");
}

/* log(x / (1 - x)), each step rounded to the dtype, as PyTorch's loop over half floats is. */
static TsrStatus half_logit(TsrOpCall *c) {
    TsrScope s = {0};
    TsrTensor *x = c->arg[0].t;
    TSR_TRY(tsr_check_out_overlap(c->out[0], NULL));
    if (tsr_arg_given(&c->arg[1])) {
        char slot[8];
        tsr_scalar_store(tsr_scalar_float(c->arg[1].f), x->dtype, slot);
        TsrScalar low = tsr_scalar_load(x->dtype, slot);
        tsr_scalar_store(tsr_scalar_float(1 - low.f), x->dtype, slot);
        TsrTensor *below = CALL(&s, "lt", "ts", x, low),
                  *capped = CALL(&s, "clamp_max", "ts", x, tsr_scalar_load(x->dtype, slot));
        x = CALL(&s, "where", "tst", below, low, capped);
    }
    TsrTensor *rest = CALL(&s, "rsub", "ts", x, tsr_scalar_int(1)), *odds = CALL(&s, "div", "tt", x, rest);
    return tsr_scope_return(c, &s, CALL(&s, "log", "t", odds));
}

TsrStatus op_logit(TsrOpCall *c) {
    if (c->arg[0].t->dtype == TSR_FLOAT16 || c->arg[0].t->dtype == TSR_BFLOAT16) return half_logit(c);
    static const TsrPointwise rules = {TSR_K_logit, "logit_cpu", D_FLOAT, TSR_ITER_INT_TO_FLOAT, 16, 0, NULL};
    double eps = tsr_arg_given(&c->arg[1]) ? c->arg[1].f : -1;
    TsrPw pw;
    TSR_TRY(tsr_pw_begin(&pw, c, &rules, 1, &c->arg[0].t));
    return tsr_pw_finish(&pw, TSR_K_logit, &eps, sizeof eps);
}

double tsr_pw_greatest(TsrDtype d) { return tsr_dtypes[tsr_dtype_real_of(d)].limits.high; }

static TsrStatus nan_to_num(TsrOpCall *c, void *user) {
    (void)user;
    static const TsrPointwise rules = {
        TSR_K_nan_to_num, "nan_to_num", D_INT | D_BARE | D_FLOAT | D_COMPLEX | D_BOOL, 0, 2, 0, NULL};
    _Alignas(16) char value[3][16];
    TsrDtype d = c->arg[0].t->dtype;
    TsrPw pw;
    TSR_TRY(tsr_pw_begin(&pw, c, &rules, 1, &c->arg[0].t));
    double defaults[3] = {0, tsr_pw_greatest(d), -tsr_pw_greatest(d)};
    size_t size = tsr_dtype_size(pw.it.dtype);
    for (int i = 0; i < 3; i++)
        tsr_scalar_store(tsr_scalar_float(tsr_arg_given(&c->arg[i + 1]) ? c->arg[i + 1].f : defaults[i]), pw.it.dtype,
                         (char *)value + (size_t)i * size);
    return tsr_pw_finish(&pw, TSR_K_nan_to_num, value, 3 * size);
}

TsrStatus op_nan_to_num(TsrOpCall *c) {
    TsrDtype dtype = c->arg[0].t->dtype;
    bool copied = tsr_dtype_is_integral(dtype) || dtype == TSR_BOOL;
    TsrTensor *copy = NULL;
    if (c->inplace && copied) return return_self(c); /* nothing to write */
    TSR_TRY(tsr_check_out_fits(c, 0, dtype));
    if (copied) return tsr_finish_move(c, tsr_tensor_new_clone(&copy, c->arg[0].t, TSR_PRESERVE), copy);
    return run_alike(c, dtype, nan_to_num, NULL);
}

TsrStatus op_relu(TsrOpCall *c) {
    static const TsrPointwise rules = {TSR_K_clamp_min,
                                       "clamp_min_scalar_cpu",
                                       D_INT | D_BARE | D_FLOAT,
                                       0,
                                       1,
                                       TSR_NOT_IMPLEMENTED_ERROR,
                                       "clamp is not supported for complex types"};
    static const TsrPointwise half_rules = {TSR_K_relu, "clamp_min_scalar_cpu", D_FLOAT, 0, 1, 0, NULL};
    static const double zero = 0; /* all bytes are zero in every dtype */
    TsrDtype d = c->arg[0].t->dtype;
    TsrPw pw;
    if (d == TSR_BOOL) return tsr_error(TSR_NOT_IMPLEMENTED_ERROR, "Boolean inputs not supported for relu");
    if ((d == TSR_FLOAT16 || d == TSR_BFLOAT16) && !tsr_on_device(c->arg[0].t)) {
        TSR_TRY(tsr_pw_begin(&pw, c, &half_rules, 1, &c->arg[0].t));
        return tsr_pw_finish(&pw, TSR_K_relu, NULL, 0);
    }
    TSR_TRY(tsr_pw_begin(&pw, c, &rules, 1, &c->arg[0].t));
    return tsr_pw_finish(&pw, TSR_K_clamp_min, &zero, sizeof zero);
}

/* --- frexp: two results --- */

/* By the bits of T, of which DIGITS are behind the point and BIAS is the exponent of numbers from 1/2 to 1: those below
 * the least normal one are scaled first; 0, infinities and nan stay, with an exponent of 0. As the C library has it, a
 * call an element of which took longer (1e6 floats, Zen 5: 1450 us and 122; doubles 1420 and 281). */
#define FREXP(T, BITS, INT, DIGITS, BIAS) \
    static inline void frexp_one_##T(T *mantissa, int32_t *exponent, T x) { \
        const BITS exponents = 2 * BIAS + 3; /* all bits of one */ \
        BITS bits; \
        memcpy(&bits, &x, sizeof bits); \
        const BITS biased = bits >> DIGITS & exponents; \
        const bool special = (biased == exponents) | (x == 0); \
        const T scaled = x * (biased == 0 ? (T)((BITS)2 << DIGITS) : (T)1); \
        memcpy(&bits, &scaled, sizeof bits); \
        const INT power = (INT)(bits >> DIGITS & exponents) - (INT)BIAS - (biased == 0 ? (INT)DIGITS + 1 : 0); \
        bits = (bits & ~(exponents << DIGITS)) | (BITS)BIAS << DIGITS; \
        T part; \
        memcpy(&part, &bits, sizeof part); \
        *mantissa = special ? x + x : part; \
        *exponent = (int32_t)(special ? 0 : power); \
    } \
    TSR_CLONES static void frexp_dense_##T(T *mantissa, int32_t *exponent, const T *x, int64_t n) { \
        for (int64_t i = 0; i < n; i++) frexp_one_##T(&mantissa[i], &exponent[i], x[i]); \
    } \
    static void frexp_##T(char *const *data, const int64_t *s, int64_t n, const void *p) { \
        const bool dense = s[0] == (int64_t)sizeof(T) && s[1] == 4 && s[2] == (int64_t)sizeof(T); \
        (void)p; \
        if (dense) frexp_dense_##T((T *)data[0], (int32_t *)data[1], (const T *)data[2], n); \
        for (int64_t i = 0; i < n && !dense; i++) \
            frexp_one_##T((T *)(data[0] + i * s[0]), (int32_t *)(data[1] + i * s[1]), \
                          *(const T *)(data[2] + i * s[2])); \
    }
FREXP(float, uint32_t, int32_t, 23, 126)
FREXP(double, uint64_t, int64_t, 52, 1022)

/* A device makes each result by a pass of its own. */
static TsrStatus frexp_pass(TsrTensor *out, TsrTensor *x, TsrKernel kernel) {
    TsrIter it;
    TSR_TRY(tsr_iter_begin(&it, &(TsrIterSpec){.nout = 1,
                                               .out = {out},
                                               .nin = 1,
                                               .in = {x},
                                               .out_dtype = &out->dtype,
                                               .flags = TSR_ITER_PROMOTE | TSR_ITER_COMPUTE_FLOAT}));
    TSR_OWNED same = NULL;
    return tsr_iter_end_move(&it, tsr_iter_run_kernel(&it, NULL, kernel, NULL, 0), &same);
}

TsrStatus op_frexp(TsrOpCall *c) {
    TsrTensor *x = c->arg[0].t, *results[2];
    if (!tsr_dtype_is_float(x->dtype))
        return tsr_error(TSR_RUNTIME_ERROR, "torch.frexp() only supports floating-point dtypes");
    TSR_TRY(tsr_check_out_dtype(c, 0, x->dtype));
    if (c->out[1] != NULL && c->out[1]->dtype != TSR_INT32)
        return tsr_error(TSR_RUNTIME_ERROR, "torch.frexp() expects exponent to have int dtype but got %s",
                         tsr_dtype_c_name(c->out[1]->dtype));
    if (!tsr_in(D_FLOAT, x->dtype)) return tsr_not_implemented("frexp_cpu", x->dtype);
    const TsrDtype outs[2] = {TSR_DTYPE_NONE, TSR_INT32};
    TSR_TRY(tsr_check_out_dtype(c, 1, TSR_INT32));
    TsrIter it;
    TSR_OWNED mantissa = NULL;
    TSR_OWNED power = NULL;
    if (c->out[0] == NULL) { /* like x, the strides of dimensions of size 1 too */
        TSR_TRY(tsr_invoke_new(&mantissa, 1, "empty_like", "t", x));
        TSR_TRY(tsr_invoke_new(&power, 1, "empty_like", "td", x, (int)TSR_INT32));
    }
    TsrTensor *into[2] = {mantissa != NULL ? mantissa : c->out[0], power != NULL ? power : c->out[1]};
    TSR_TRY(
        tsr_iter_begin(&it, &(TsrIterSpec){.nout = 2,
                                           .out = {into[0], into[1]},
                                           .nin = 1,
                                           .in = {x},
                                           .out_dtype = outs,
                                           .flags = TSR_ITER_PROMOTE | TSR_ITER_COMPUTE_FLOAT | TSR_ITER_CHECK_CAST}));
    TsrStatus s = TSR_OK;
    if (!tsr_on_device(x)) s = tsr_iter_run(&it, it.dtype == TSR_FLOAT64 ? frexp_double : frexp_float, NULL);
    else if ((s = frexp_pass(it.operand[0], x, TSR_K_frexp_mantissa)) == TSR_OK)
        s = frexp_pass(it.operand[1], x, TSR_K_frexp_exponent);
    TSR_TRY(tsr_iter_end_move(&it, s, results));
    return tsr_return_move2(c, results[0], results[1]);
}
