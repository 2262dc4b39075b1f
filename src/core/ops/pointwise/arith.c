/* arith.c: sums, products, quotients, powers. */
#include "pointwise.h"

#include <math.h>
#include <string.h>

#include "core/engine/fast.h"
#include "core/op/compose.h"
#include "core/tensor/owned.h"

/* --- add, sub, rsub --- */

static const TsrPointwise add_rules = {TSR_K_add, "add_stub", D_INT | D_FLOAT | D_COMPLEX | D_CHALF | D_BOOL, 0, 1,
                                       0,         NULL};

static TsrStatus check_alpha(TsrScalar alpha, TsrDtype d) {
    if (alpha.kind == TSR_SCALAR_BOOL && d != TSR_BOOL)
        return tsr_error(TSR_RUNTIME_ERROR, "Boolean alpha only supported for Boolean results.");
    bool floats = tsr_dtype_is_float(d) || tsr_dtype_is_complex(d);
    if (!floats && (alpha.kind == TSR_SCALAR_FLOAT || alpha.kind == TSR_SCALAR_COMPLEX))
        return tsr_error(TSR_RUNTIME_ERROR,
                         "For integral input tensors, argument alpha must not be a floating point number.");
    if (alpha.kind == TSR_SCALAR_COMPLEX && !tsr_dtype_is_complex(d))
        return tsr_error(TSR_RUNTIME_ERROR,
                         "For non-complex input tensors, argument alpha must not be a complex number.");
    return TSR_OK;
}

static bool is_one(TsrScalar s) {
    return s.kind == TSR_SCALAR_COMPLEX ? s.c.re == 1 && s.c.im == 0
           : s.kind == TSR_SCALAR_BOOL  ? s.b
                                        : tsr_scalar_to_double(s) == 1;
}

/* Half floats round the product before the sum; these have operands of two dtypes. */
static TsrStatus add_rounded(TsrOpCall *c, TsrPw *pw, TsrTensor *const *in, TsrScalar alpha) {
    TSR_OWNED factor = NULL;
    TSR_OWNED scaled = NULL;
    TSR_OWNED wide = NULL;
    TsrDtype d = pw->it.common;
    (void)tsr_iter_end_move(&pw->it, TSR_RAISED, NULL); /* only let go: nothing has been computed */
    TSR_TRY(tsr_tensor_new_scalar(&factor, alpha, d));
    const TsrDtype as = tsr_dtype_is_float8(in[1]->dtype) ? d : in[1]->dtype; /* float8 promotes to none */
    TSR_TRY(tsr_tensor_new_cast(&wide, in[1], as));
    TSR_TRY(tsr_invoke_new(&scaled, 1, "mul", "tt", wide, factor));
    return tsr_pw_run(c, &add_rules, 2, (TsrTensor *[]){in[0], scaled});
}

/* ---- half floats and a number that none of them is: widened, computed and rounded in one pass ---- */

static const TsrPointwise times_number_rules = {TSR_K_times_number, "mul_cpu", D_FLOAT, 0, 1, 0, NULL},
                          plus_number_rules = {TSR_K_plus_number, "add_cpu", D_FLOAT, 0, 1, 0, NULL};

static bool is_real_number(const TsrTensor *t) {
    return (t->flags & TSR_FLAG_WRAPPED_NUMBER) != 0 && tsr_in(D_INT | D_FLOAT, t->dtype) && tsr_ndim(t) == 0;
}

static double number_of(const TsrTensor *t) { return tsr_scalar_to_double(tsr_tensor_get(t, 0)); }

/* Row by row but for the strides of sizes of 1, which decide how a result lies beside a number. */
static bool has_odd_strides(const TsrTensor *t) {
    int64_t strides[TSR_MAX_DIMS];
    if (!tsr_is_contiguous(t, TSR_CONTIGUOUS)) return false;
    tsr_layout_contiguous_strides(strides, tsr_ndim(t), t->sizes);
    return memcmp(strides, t->strides, sizeof *strides * (size_t)tsr_ndim(t)) != 0;
}

/* Which of the two is a half tensor, where the other one is a number and there is such a kernel; or -1. */
static int half_by_number(const TsrOpCall *c, const TsrPointwise *rules, TsrTensor *const *in) {
    int k = is_real_number(in[1]) ? 0 : is_real_number(in[0]) ? 1 : -1;
    if (k < 0 || !tsr_in(TSR_BITS_HALF, in[k]->dtype) || tsr_ndim(in[k]) == 0 || tsr_on_device(in[k])) return -1;
    if (in[k]->numel == 0 || has_odd_strides(in[k])) return -1; /* how the result lies is the iterator's to say */
    if (c->out[0] != NULL && c->out[0]->dtype != in[k]->dtype) return -1;
    return tsr_kernel(rules->kernel, in[k]->dtype) != NULL ? k : -1;
}

/* As the dtype holds it, which is what is added. */
static float rounded_to(TsrDtype half, double number) {
    uint16_t bits;
    tsr_scalar_store(tsr_scalar_float(number), half, &bits);
    return (float)tsr_scalar_to_double(tsr_scalar_load(half, &bits));
}

static TsrStatus run_by_number(TsrOpCall *c, const TsrPointwise *rules, TsrTensor *half, float value) {
    TsrPw pw;
    TSR_TRY(tsr_pw_begin(&pw, c, rules, 1, &half));
    return tsr_pw_finish(&pw, rules->kernel, &value, sizeof value);
}

/* in[0] + sign * alpha * in[1] */
static TsrStatus add_scaled(TsrOpCall *c, TsrTensor *const *in, TsrScalar alpha, bool subtract) {
    TsrPw pw;
    _Alignas(16) char value[16];
    TsrDtype common;
    const unsigned no_kernel = TSR_BITS_UINT | TSR_BITS_FLOAT8;
    if (alpha.kind != TSR_SCALAR_INT && (tsr_in(no_kernel, in[0]->dtype) || tsr_in(no_kernel, in[1]->dtype))) {
        int64_t shape[TSR_MAX_DIMS];
        int ndim = 0; /* what is not so far right, the iterator says in its turn */
        bool fits = tsr_layout_broadcast(shape, &ndim, in[0]->sizes, tsr_ndim(in[0])) == TSR_OK &&
                    tsr_layout_broadcast(shape, &ndim, in[1]->sizes, tsr_ndim(in[1])) == TSR_OK;
        if (fits && tsr_result_type(&common, in, 2) == TSR_OK) TSR_TRY(check_alpha(alpha, common));
    }
    int half = is_one(alpha) && alpha.kind == TSR_SCALAR_INT ? half_by_number(c, &plus_number_rules, in) : -1;
    if (half == 0 || (half == 1 && !subtract)) {
        float value = rounded_to(in[half]->dtype, number_of(in[1 - half]));
        return run_by_number(c, &plus_number_rules, in[half], subtract ? -value : value);
    }
    TSR_TRY(tsr_pw_begin(&pw, c, &add_rules, 2, in));
    TsrStatus s = check_alpha(alpha, pw.it.common);
    if (s == TSR_OK && !is_one(alpha))
        s = tsr_scalar_store_checked(subtract ? tsr_scalar_negated(alpha) : alpha, pw.it.common, value);
    if (s != TSR_OK) return tsr_iter_end_move(&pw.it, s, NULL);
    /* A complex sum multiplies by alpha even when it is 1, as PyTorch's: infinities become nan. */
    if (is_one(alpha) && !tsr_dtype_is_complex(pw.it.dtype))
        return tsr_pw_finish(&pw, subtract ? TSR_K_sub : TSR_K_add, NULL, 0);
    if (pw.it.common != pw.it.dtype && tsr_dtype_is_float(pw.it.common))
        return add_rounded(c, &pw, in, subtract ? tsr_scalar_negated(alpha) : alpha);
    if (tsr_in(TSR_BITS_HALF, pw.it.dtype)) {
        const TsrHalfFactor factor = {(float)tsr_scalar_to_double(tsr_scalar_load(pw.it.dtype, value)),
                                      pw.it.ndim == 1};
        return tsr_pw_finish(&pw, TSR_K_axpy, &factor, sizeof factor);
    }
    tsr_scalar_store(subtract ? tsr_scalar_negated(alpha) : alpha, pw.it.dtype, value);
    return tsr_pw_finish(&pw, TSR_K_axpy, value, sizeof value);
}

TsrStatus op_add(TsrOpCall *c) {
    TsrOperands o;
    TSR_TRY(tsr_operands_take(&o, c, 2, NULL));
    TsrStatus s = add_scaled(c, o.t, c->arg[2].s, false);
    tsr_operands_release(&o);
    return s;
}

/* self + other of the operators' own methods, which have no alpha. */
TsrStatus op_radd(TsrOpCall *c) {
    TsrOperands o;
    TSR_TRY(tsr_operands_take(&o, c, 2, NULL));
    TsrStatus s = add_scaled(c, o.t, tsr_scalar_int(1), false);
    tsr_operands_release(&o);
    return s;
}

static TsrStatus check_no_bool(const TsrTensor *a, const TsrTensor *b) {
    if (a->dtype == TSR_BOOL && b->dtype == TSR_BOOL)
        return tsr_error(
            TSR_NOT_IMPLEMENTED_ERROR,
            "Subtraction, the `-` operator, with two bool tensors is not supported. Use the `^` or `logical_xor()` "
            "operator instead.");
    if (a->dtype == TSR_BOOL || b->dtype == TSR_BOOL)
        return tsr_error(
            TSR_NOT_IMPLEMENTED_ERROR,
            "Subtraction, the `-` operator, with a bool tensor is not supported. If you are trying to invert a mask, "
            "use the `~` or `logical_not()` operator instead.");
    return TSR_OK;
}

static TsrStatus subtract(TsrOpCall *c, const int *order) {
    TsrOperands o;
    TSR_TRY(tsr_operands_take(&o, c, 2, order));
    TsrStatus s = check_no_bool(o.t[0], o.t[1]);
    if (s == TSR_OK) s = add_scaled(c, o.t, c->nargs > 2 ? c->arg[2].s : tsr_scalar_int(1), true);
    tsr_operands_release(&o);
    return s;
}

static const int reversed[] = {1, 0};
TsrStatus op_sub(TsrOpCall *c) { return subtract(c, NULL); }
TsrStatus op_sub_plain(TsrOpCall *c) { return subtract(c, NULL); }
TsrStatus op_rsub_plain(TsrOpCall *c) { return subtract(c, reversed); }
TsrStatus op_rsub(TsrOpCall *c) { return subtract(c, reversed); }

/* --- mul, div, remainder --- */

static const TsrPointwise mul_rules = {
    TSR_K_mul, "mul_cpu", D_INT | D_BARE | D_FLOAT | D_FLOAT8 | D_COMPLEX | D_CHALF | D_BOOL, TSR_ITER_OPMATH, 1,
    0,         NULL};
static const TsrPointwise div_rules = {
    TSR_K_div, "div_cpu", D_FLOAT | D_COMPLEX, TSR_ITER_OPMATH | TSR_ITER_INT_TO_FLOAT, 1, 0, NULL};
static const TsrPointwise floor_rules = {
    TSR_K_div_floor, "div_floor_cpu", D_INT | D_FLOAT, TSR_ITER_OPMATH, 8, 0, NULL};
static const TsrPointwise trunc_rules = {
    TSR_K_div_trunc, "div_trunc_cpu", D_INT | D_FLOAT, TSR_ITER_OPMATH, 4, 0, NULL};
static const TsrPointwise remainder_rules = {TSR_K_remainder, "remainder_cpu", D_INT | D_FLOAT, 0, 8, 0, NULL};
static const TsrPointwise fmod_rules = {TSR_K_fmod, "fmod_cpu", D_INT | D_FLOAT, 0, 8, 0, NULL};

TsrStatus op_mul(TsrOpCall *c) {
    TsrOperands o;
    TSR_TRY(tsr_operands_take(&o, c, 2, NULL));
    int half = half_by_number(c, &times_number_rules, o.t);
    TsrStatus s = half >= 0 ? run_by_number(c, &times_number_rules, o.t[half], (float)number_of(o.t[1 - half]))
                            : tsr_pw_run(c, &mul_rules, 2, o.t);
    tsr_operands_release(&o);
    return s;
}

/* Integers are divided up to the first divisor of zero, as PyTorch divides them: what came before it is written. */
typedef struct Division {
    TsrLoop loop;
    size_t item;
    int zero; /* one was met */
} Division;

#define FIRST_ZERO(bits) \
    case sizeof(uint##bits##_t): \
        while (i < n && *(const uint##bits##_t *)(p + i * step) != 0) i++; \
        return i

/* Where the first zero of n integers stands; n: nowhere. */
static int64_t first_zero(const char *p, int64_t step, int64_t n, size_t item) {
    int64_t i = 0;
    switch (item) {
        FIRST_ZERO(8);
        FIRST_ZERO(16);
        FIRST_ZERO(32);
        FIRST_ZERO(64);
    default: return n;
    }
}

static void divide_until_zero(char *const *data, const int64_t *strides, int64_t n, const void *params) {
    Division *d = (Division *)(uintptr_t)params;
    if (__atomic_load_n(&d->zero, __ATOMIC_RELAXED)) return;
    int64_t divisors = strides[2] == 0 ? TSR_MIN(n, 1) : n, before = first_zero(data[2], strides[2], divisors, d->item);
    if (before == divisors) return d->loop(data, strides, n, NULL);
    if (before > 0) d->loop(data, strides, before, NULL);
    __atomic_store_n(&d->zero, 1, __ATOMIC_RELAXED);
}

/* An output of another dtype gets what is computed when all of it is: with a divisor of zero it stays as it is. */
static TsrStatus refuse_zero_before(const TsrPw *pw, TsrTensor *divisor) {
    TSR_OWNED cast = NULL;
    TSR_OWNED all = NULL;
    TsrScalar nonzero;
    if (pw->it.meta || pw->it.numel == 0 || pw->it.loop_dtype[0] == pw->it.operand[0]->dtype) return TSR_OK;
    TSR_TRY(tsr_tensor_new_cast(&cast, divisor, pw->it.common));
    TSR_TRY(tsr_invoke_new(&all, 1, "all", "t", cast));
    TSR_TRY(tsr_tensor_item(&nonzero, all));
    return nonzero.b ? TSR_OK : tsr_error(TSR_RUNTIME_ERROR, "ZeroDivisionError");
}

static TsrStatus divide_integers(TsrPw *pw, TsrKernel kernel, TsrTensor *divisor) {
    enum { PYTORCH_GRAIN = 32768 }; /* elements that PyTorch divides on one thread, one after the other */
    TsrTensor *result = NULL;
    Division d = {.loop = tsr_kernel(kernel, pw->it.dtype), .item = tsr_dtype_size(pw->it.dtype)};
    if (pw->it.away) return tsr_pw_finish(pw, kernel, NULL, 0);
    if (pw->it.numel <= PYTORCH_GRAIN) pw->it.flags |= TSR_ITER_SERIAL;
    TsrStatus s = d.loop != NULL ? refuse_zero_before(pw, divisor) : TSR_OK;
    if (s == TSR_OK && d.loop != NULL) s = tsr_iter_run(&pw->it, divide_until_zero, &d);
    else if (s == TSR_OK) s = tsr_not_implemented(pw->rules->name, pw->it.common);
    s = tsr_iter_end_move(&pw->it, s, &result);
    s = tsr_finish_move(pw->call, s, result);
    if (s != TSR_OK || !d.zero) return s;
    tsr_op_release_returns(pw->call);
    return tsr_error(TSR_RUNTIME_ERROR, "ZeroDivisionError");
}

static TsrStatus divide_checked(TsrOpCall *c, const TsrPointwise *rules, const int *order) {
    TsrOperands o;
    TsrPw pw;
    TSR_TRY(tsr_operands_take(&o, c, 2, order));
    TsrStatus s = tsr_pw_begin(&pw, c, rules, 2, o.t);
    if (s == TSR_OK) {
        bool integers = tsr_dtype_is_integral(pw.it.common);
        s = integers ? divide_integers(&pw, rules->kernel, o.t[1]) : tsr_pw_finish(&pw, rules->kernel, NULL, 0);
    }
    tsr_operands_release(&o);
    return s;
}

/* Quotients of half tensors are rounded before they are truncated; those by a number are not. */
static TsrStatus divide_trunc(TsrOpCall *c) {
    TsrOperands o;
    TsrPw pw;
    TSR_TRY(tsr_operands_take(&o, c, 2, NULL));
    TsrStatus s = tsr_pw_begin(&pw, c, &trunc_rules, 2, o.t);
    bool rounds =
        s == TSR_OK && pw.it.common != pw.it.dtype && c->arg[1].kind == TSR_ARG_TENSOR && tsr_ndim(o.t[1]) > 0;
    if (s == TSR_OK)
        s = tsr_pw_finish(&pw, rounds ? TSR_K_div_trunc_rounded : TSR_K_div_trunc, &pw.it.common, sizeof pw.it.common);
    tsr_operands_release(&o);
    return s;
}

TsrStatus op_div(TsrOpCall *c) { return tsr_pw_call(c, &div_rules, 2); }
TsrStatus op_floor_divide(TsrOpCall *c) { return divide_checked(c, &floor_rules, NULL); }
TsrStatus op_rfloordiv(TsrOpCall *c) { return divide_checked(c, &floor_rules, reversed); }
TsrStatus op_remainder(TsrOpCall *c) { return divide_checked(c, &remainder_rules, NULL); }
TsrStatus op_rmod(TsrOpCall *c) { return divide_checked(c, &remainder_rules, reversed); }
TsrStatus op_fmod(TsrOpCall *c) { return divide_checked(c, &fmod_rules, NULL); }

TsrStatus op_div_mode(TsrOpCall *c) {
    if (!tsr_arg_given(&c->arg[2])) return op_div(c);
    const char *mode = c->arg[2].str;
    if (strcmp(mode, "floor") == 0) return divide_checked(c, &floor_rules, NULL);
    if (strcmp(mode, "trunc") == 0) {
        bool floats = tsr_dtype_is_float(c->arg[0].t->dtype) ||
                      (c->arg[1].kind == TSR_ARG_TENSOR && tsr_dtype_is_float(c->arg[1].t->dtype));
        return floats ? divide_trunc(c) : divide_checked(c, &trunc_rules, NULL);
    }
    return tsr_error(TSR_RUNTIME_ERROR,
                     "div expected rounding_mode to be one of None, 'trunc', or 'floor' but found '%s'", mode);
}

/* other / self as PyTorch's reflected operator computes it: reciprocal, then a product. */
TsrStatus op_rdiv(TsrOpCall *c) {
    TsrTensor *inverse = NULL, *result = NULL;
    TsrOperands o;
    TSR_TRY(tsr_operands_take(&o, c, 2, NULL));
    TsrStatus s = tsr_invoke_new(&inverse, 1, "reciprocal", "t", o.t[0]);
    if (s == TSR_OK) s = tsr_invoke_new(&result, 1, "mul", "tt", inverse, o.t[1]);
    tsr_tensor_free(inverse);
    tsr_operands_release(&o);
    return tsr_finish_move(c, s, result);
}

/* --- powers --- */

static const TsrPointwise pow_rules = {TSR_K_pow, "pow", D_INT | D_FLOAT | D_COMPLEX, 0, 24, 0, NULL};

/* exponent: NULL, or what it is where it is a real number of the call. PyTorch's loops of float and double take it in
 * double, where those of halves have it rounded, and a device's take the tensor. */
static TsrStatus finish_power(TsrPw *pw, const double *exponent) {
    if (tsr_dtype_is_integral(pw->it.common)) return tsr_pw_finish(pw, TSR_K_int_pow, NULL, 0);
    bool in_double =
        exponent != NULL && pw->it.common == pw->it.dtype && !tsr_dtype_is_complex(pw->it.dtype) && !pw->it.away;
    return tsr_pw_finish(pw, TSR_K_pow, in_double ? exponent : NULL, in_double ? sizeof *exponent : 0);
}

static TsrStatus power(TsrOpCall *c, TsrTensor *const *in, const double *exponent) {
    TsrPw pw;
    TSR_TRY(tsr_pw_begin(&pw, c, &pow_rules, 2, in));
    return finish_power(&pw, exponent);
}

/* Powers of a number are laid out row by row, whatever the exponent's strides; so are those of a contiguous tensor,
 * whatever its strides of dimensions of size 1. */
static const TsrPointwise rows_rules = {TSR_K_pow, "pow", D_INT | D_FLOAT | D_COMPLEX, TSR_ITER_LINEAR, 24, 0, NULL};

static TsrStatus power_in_rows(TsrOpCall *c, TsrTensor *const *in, const double *exponent) {
    TsrPw pw;
    TsrPointwise rules = rows_rules;
    const TsrTensor *out = c->out[0];
    bool resized = c->arg[0].kind == TSR_ARG_SCALAR && out != NULL && !tsr_same_sizes(out, in[1]);
    if (resized) rules.flags |= TSR_ITER_NO_OVERLAP_CHECK; /* it has its own memory by then */
    TSR_TRY(tsr_pw_begin(&pw, c, &rules, 2, in));
    return finish_power(&pw, exponent);
}

TsrStatus op_pow_tensor(TsrOpCall *c) {
    TsrTensor *in[] = {c->arg[0].t, c->arg[1].t};
    return power(c, in, NULL);
}

/* The result, of dtype d, filled with ones or a copy of in[0]. */
static TsrStatus trivial_power_as(TsrOpCall *c, TsrDtype d, TsrTensor *const *in, bool ones, TsrTensor *shape_of) {
    const TsrPointwise any = {TSR_K_add, "pow", ~0u, shape_of == in[1] ? rows_rules.flags : 0, 1, 0, NULL};
    TsrPw pw;
    TsrTensor *result = NULL;
    bool rows = shape_of == in[1]; /* powers of a number */
    TSR_TRY(rows ? tsr_pw_begin_as(&pw, c, &any, 2, in, d) : tsr_pw_begin_as(&pw, c, &any, 1, &shape_of, d));
    TsrStatus s = tsr_iter_end_move(&pw.it, TSR_OK, &result);
    if (s == TSR_OK && !tsr_is_meta(result))
        s = ones ? tsr_tensor_fill(result, tsr_scalar_int(1)) : tsr_tensor_copy(result, shape_of);
    return tsr_finish_move(c, s, result);
}

static TsrStatus trivial_power(TsrOpCall *c, TsrTensor *const *in, bool ones, TsrTensor *shape_of) {
    TsrDtype d;
    TSR_TRY(tsr_result_type(&d, in, 2));
    return trivial_power_as(c, d, in, ones, shape_of);
}

/* Exponents whose powers have no kernel (tsr_power_kernel) and are made in two steps, each rounded to the dtype, as in
 * PyTorch; NULL for the others. The second step is an operator of the first one's result, or their product with x. */
static const char *const *power_steps(double e, TsrDtype d) {
    static const char *const square_inverted[] = {"square", "reciprocal"},
                             *const root_inverted[] = {"sqrt", "reciprocal"}, *const cube[] = {"square", NULL};
    if (e == -2) return d == TSR_BFLOAT16 || d == TSR_COMPLEX64 || d == TSR_COMPLEX128 ? square_inverted : NULL;
    if (d != TSR_BFLOAT16) return NULL;
    return e == -0.5 ? root_inverted : e == 3 ? cube : NULL;
}

static TsrStatus power_in_steps(TsrOpCall *c, TsrTensor *base, TsrDtype d, const char *const *steps) {
    TsrScope s = {0};
    TsrTensor *x = MAKE(&s, tsr_tensor_new_cast, base, d), *first = CALL(&s, steps[0], "t", x),
              *second = steps[1] != NULL ? CALL(&s, steps[1], "t", first) : CALL(&s, "mul", "tt", first, x);
    return tsr_scope_return(c, &s, second);
}

/* The kernels of half floats and integers take the exponent as the dtype holds it; those of others, in double. */
static TsrStatus check_exponent(TsrScalar e, TsrDtype d) {
    _Alignas(16) char room[16];
    if (!tsr_dtype_is_integral(d) && d != TSR_FLOAT16 && d != TSR_BFLOAT16) return TSR_OK;
    return tsr_scalar_store_checked(e, d, room);
}

static TsrStatus power_by_number(TsrOpCall *c, TsrTensor *const *in, TsrScalar e) {
    TsrDtype d;
    bool integral = e.kind == TSR_SCALAR_INT || e.kind == TSR_SCALAR_BOOL,
         real = e.kind != TSR_SCALAR_COMPLEX || e.c.im == 0;
    bool base_integral = tsr_dtype_is_integral(in[0]->dtype) || in[0]->dtype == TSR_BOOL;
    if (base_integral && integral && tsr_scalar_to_int(e) < 0)
        return tsr_error(TSR_RUNTIME_ERROR, "Integers to negative integer powers are not allowed.");
    if (base_integral && e.kind == TSR_SCALAR_UINT)
        return tsr_error(TSR_RUNTIME_ERROR, "value cannot be converted to type int64_t without overflow");
    TSR_TRY(tsr_result_type(&d, in, 2));
    if (real && tsr_scalar_to_double(e) == 0) return trivial_power(c, in, true, in[0]);
    if (real && tsr_scalar_to_double(e) == 1) return trivial_power(c, in, false, in[0]);
    const char *const *steps = real ? power_steps(tsr_scalar_to_double(e), d) : NULL;
    if (steps != NULL) return power_in_steps(c, in[0], d, steps);
    TsrKernel k = real ? tsr_power_kernel(tsr_scalar_to_double(e), d) : TSR_K_NONE;
    if (k == TSR_K_NONE) TSR_TRY(check_exponent(e, d));
    if (k == TSR_K_NONE) {
        double exponent = real ? tsr_scalar_to_double(e) : 0;
        return (tsr_is_contiguous(in[0], TSR_CONTIGUOUS) ? power_in_rows : power)(c, in, real ? &exponent : NULL);
    }
    TsrPw pw;
    TsrPointwise rules = pow_rules; /* of complex32 PyTorch's error names the kernel */
    rules.kernel = k;
    if (d == TSR_COMPLEX32 && k == TSR_K_sqrt) rules.name = "sqrt_vml_cpu";
    if (d == TSR_COMPLEX32 && k == TSR_K_rsqrt) rules.name = "rsqrt_cpu";
    if (d == TSR_COMPLEX32 && k == TSR_K_reciprocal) rules.name = "reciprocal_cpu";
    TSR_TRY(tsr_pw_begin_as(&pw, c, &rules, 1, in, d));
    return tsr_pw_finish(&pw, k, NULL, 0);
}

TsrStatus op_pow_scalar(TsrOpCall *c) {
    TsrOperands o;
    TSR_TRY(tsr_operands_take(&o, c, 2, NULL));
    TsrStatus s = power_by_number(c, o.t, c->arg[1].s);
    tsr_operands_release(&o);
    return s;
}

/* Powers of 1 are written into an out= of any dtype. */
static TsrStatus ones_like(TsrOpCall *c, const TsrTensor *exponent, TsrDtype dtype) {
    TsrTensor *result = NULL;
    TSR_TRY(tsr_tensor_new_like(&result, exponent, dtype, TSR_PRESERVE));
    TsrStatus s = tsr_is_meta(result) ? TSR_OK : tsr_tensor_fill(result, tsr_scalar_int(1));
    return tsr_finish_move(c, s, result);
}

TsrStatus op_pow_base(TsrOpCall *c) {
    TsrOperands o;
    TSR_TRY(tsr_operands_take(&o, c, 2, NULL));
    TsrScalar base = c->arg[0].s;
    bool truth = base.kind == TSR_SCALAR_BOOL,
         one = base.kind == TSR_SCALAR_COMPLEX ? base.c.re == 1 && base.c.im == 0 : tsr_scalar_to_double(base) == 1;
    if (truth && tsr_dtype_is_complex(o.t[1]->dtype))
        one = false; /* True is no number here: it takes the long way, which meets NaN */
    bool bools = truth && o.t[1]->dtype == TSR_BOOL;
    TsrStatus s = one && bools                         ? tsr_not_implemented("pow", TSR_BOOL)
                  : one && !truth && c->out[0] != NULL ? ones_like(c, o.t[1], c->out[0]->dtype)
                  : one                                ? trivial_power(c, o.t, true, o.t[1])
                                                       : power_in_rows(c, o.t, NULL);
    tsr_operands_release(&o);
    return s;
}

TsrStatus op_rpow(TsrOpCall *c) {
    TsrOperands o;
    TSR_TRY(tsr_operands_take(&o, c, 2, reversed));
    TsrStatus s = c->arg[1].kind == TSR_ARG_SCALAR ? power_in_rows(c, o.t, NULL) : power(c, o.t, NULL);
    tsr_operands_release(&o);
    return s;
}

static TsrStatus check_float_power_out(const TsrOpCall *c, TsrDtype d) {
    const TsrTensor *out = c->out[0];
    if (out == NULL || out->dtype == d) return TSR_OK;
    const char *have = tsr_dtype_scalar_name(out->dtype), *want = tsr_dtype_scalar_name(d);
    if (c->inplace)
        return tsr_error(TSR_RUNTIME_ERROR,
                         "the base given to float_power_ has dtype %s but the operation's result requires dtype %s",
                         have, want);
    return tsr_error(TSR_RUNTIME_ERROR,
                     "the output given to float_power has dtype %s but the operation's result requires dtype %s", have,
                     want);
}

/* pow of operands brought to float64 (complex128) first. */
static TsrStatus float_power(TsrOpCall *c, TsrTensor *const *in, TsrDtype d) {
    TsrTensor *wide[2] = {NULL, NULL};
    TsrStatus s = TSR_OK;
    for (int i = 0; i < 2 && s == TSR_OK; i++) {
        if (c->arg[i].kind == TSR_ARG_SCALAR) wide[i] = tsr_tensor_retain(in[i]);
        else s = tsr_tensor_new_cast(&wide[i], in[i], d);
    }
    if (s == TSR_OK && c->arg[1].kind == TSR_ARG_SCALAR) {
        s = power_by_number(c, wide, c->arg[1].s);
    } else if (s == TSR_OK) {
        TsrPw pw;
        s = tsr_pw_begin_as(&pw, c, c->arg[0].kind == TSR_ARG_SCALAR ? &rows_rules : &pow_rules, 2, wide, d);
        if (s == TSR_OK) s = tsr_pw_finish(&pw, TSR_K_pow, NULL, 0);
    }
    tsr_tensor_free(wide[0]);
    tsr_tensor_free(wide[1]);
    return s;
}

TsrStatus op_float_power(TsrOpCall *c) {
    TsrOperands o;
    TSR_TRY(tsr_operands_take(&o, c, 2, NULL));
    TsrDtype d =
        tsr_dtype_is_complex(o.t[0]->dtype) || tsr_dtype_is_complex(o.t[1]->dtype) ? TSR_COMPLEX128 : TSR_FLOAT64;
    TsrStatus s = check_float_power_out(c, d);
    if (s == TSR_OK)
        s = c->arg[0].kind == TSR_ARG_SCALAR && is_one(c->arg[0].s) ? trivial_power_as(c, d, o.t, true, o.t[1])
                                                                    : float_power(c, o.t, d);
    tsr_operands_release(&o);
    return s;
}

static const TsrPointwise square_rules = {TSR_K_square, "pow", D_INT | D_FLOAT | D_COMPLEX, 0, 1, 0, NULL};

TsrStatus op_square(TsrOpCall *c) {
    TsrTensor *x = c->arg[0].t;
    TsrPw pw;
    TSR_TRY(tsr_pw_begin_as(&pw, c, &square_rules, 1, &x, x->dtype == TSR_BOOL ? TSR_INT64 : x->dtype));
    return tsr_pw_finish(&pw, TSR_K_square, NULL, 0);
}

#define LDEXP_LOOP(name, T, function) \
    static void name(char *const *data, const int64_t *s, int64_t n, const void *p) { \
        (void)p; \
        for (int64_t i = 0; i < n; i++) \
            *(T *)(data[0] + i * s[0]) = \
                function(*(const T *)(data[1] + i * s[1]), *(const int32_t *)(data[2] + i * s[2])); \
    }
LDEXP_LOOP(ldexp_floats, float, ldexpf)
LDEXP_LOOP(ldexp_doubles, double, ldexp)

static TsrStatus refuse_ldexp(TsrDtype x, TsrDtype exponent) {
    if (!tsr_in(D_INT, exponent)) return tsr_not_implemented("ldexp_cpu_exp", exponent);
    return tsr_in(D_FLOAT, x) ? TSR_OK : tsr_not_implemented("ldexp_cpu", x);
}

/* A floating-point x with an integral exponent keeps its dtype. The exponent is a C int. Sizes are looked at first. */
static TsrStatus ldexp_integral(TsrOpCall *c, const TsrTensor *x, const TsrTensor *exponent) {
    const TsrDtype read_as[2] = {TSR_DTYPE_NONE, TSR_INT32};
    TsrTensor *result = NULL, *into = c->out[0];
    TSR_OWNED like = NULL; /* of x, where it has the result's sizes: strides without elements stay, too */
    if (into == NULL && tsr_same_sizes(x, exponent)) {
        TSR_TRY(tsr_tensor_new_like(&like, x, TSR_DTYPE_NONE, TSR_PRESERVE));
        into = like;
    }
    TsrIter it;
    TSR_TRY(tsr_iter_begin(&it, &(TsrIterSpec){.nout = 1,
                                               .nin = 2,
                                               .out = {into},
                                               .in = {x, exponent},
                                               .flags = TSR_ITER_PROMOTE | TSR_ITER_COMPUTE_FLOAT |
                                                        TSR_ITER_CHECK_CAST | (c->inplace ? TSR_ITER_NO_RESIZE : 0),
                                               .dtype = x->dtype,
                                               .has_dtype = true,
                                               .in_dtype = read_as,
                                               .cost = 8}));
    TsrStatus s = refuse_ldexp(x->dtype, exponent->dtype);
    if (s == TSR_OK) s = tsr_iter_run(&it, it.dtype == TSR_FLOAT64 ? ldexp_doubles : ldexp_floats, NULL);
    return tsr_finish_move(c, tsr_iter_end_move(&it, s, &result), result);
}

/* The same on a device: the product is rounded once, from double. */
static TsrStatus ldexp_there(TsrOpCall *c, const TsrTensor *x, const TsrTensor *exponent) {
    TSR_TRY(refuse_ldexp(x->dtype, exponent->dtype));
    TSR_OWNED two = NULL;
    TSR_OWNED whole = NULL;
    TSR_OWNED wide = NULL;
    TSR_OWNED scale = NULL;
    TSR_OWNED product = NULL;
    TsrTensor *result = NULL;
    TSR_TRY(tsr_tensor_new_wrapped(&two, tsr_scalar_float(2)));
    TSR_TRY(tsr_tensor_new_cast(&whole, exponent, TSR_INT32));
    TSR_TRY(tsr_tensor_new_cast(&wide, whole, TSR_FLOAT64));
    TSR_TRY(tsr_invoke_new(&scale, 1, "pow", "tt", two, wide));
    TSR_TRY(tsr_invoke_new(&product, 1, "mul", "tt", x, scale));
    if (!tsr_same_sizes(product, x)) return tsr_finish_move(c, tsr_tensor_new_cast(&result, product, x->dtype), result);
    TSR_TRY(tsr_tensor_new_like(&result, x, TSR_DTYPE_NONE, TSR_PRESERVE));
    return tsr_finish_move(c, tsr_tensor_copy(result, product), result);
}

/* 2 ** other. The 2 is a number where x is of the default dtype, or no float at all, and the powers of a number lie row
 * by row; else it is a 0-d tensor like x in promotion, and they lie as the exponents do. */
static TsrStatus power_of_two(TsrTensor **out, const TsrTensor *x, TsrTensor *exponent) {
    TSR_OWNED two = NULL;
    TSR_OWNED powers = NULL;
    if (tsr_dtype_is_complex(x->dtype) || (tsr_dtype_is_float(x->dtype) && x->dtype != tsr_default_dtype())) {
        TSR_TRY(tsr_tensor_new_scalar(&two, tsr_scalar_float(2), x->dtype));
        return tsr_invoke_new(out, 1, "pow", "tt", two, exponent);
    }
    TSR_TRY(tsr_invoke_new(&powers, 1, "pow", "st", tsr_scalar_float(2), exponent));
    return tsr_tensor_new_contiguous(out, powers, TSR_CONTIGUOUS);
}

/* x * 2 ** other */
TsrStatus op_ldexp(TsrOpCall *c) {
    const TsrTensor *x = c->arg[0].t, *exponent = c->arg[1].t;
    const TsrTensor *out = c->out[0];
    if (out != NULL && (out->dtype == TSR_BOOL || tsr_dtype_is_integral(out->dtype)))
        return tsr_error(TSR_RUNTIME_ERROR, "ldexp can't be cast to the desired output type %s",
                         tsr_dtype_scalar_name(out->dtype));
    if (c->inplace) TSR_TRY(tsr_check_out_overlap(c->out[0], NULL));
    if (tsr_dtype_is_float(x->dtype) && tsr_in(D_INT | D_BARE | D_BOOL, exponent->dtype))
        return (tsr_on_device(x) || tsr_on_device(exponent) ? ldexp_there : ldexp_integral)(c, x, exponent);
    TSR_OWNED powers = NULL;
    TSR_TRY(power_of_two(&powers, x, c->arg[1].t));
    TsrTensor *in[2] = {c->arg[0].t, powers};
    return tsr_pw_run(c, &mul_rules, 2, in);
}
