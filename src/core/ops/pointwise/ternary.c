/* ternary.c: where, clamp, lerp, addcmul, addcdiv, fill. */
#include "pointwise.h"

#include <math.h>

#include "core/tensor/owned.h"

/* --- where --- */

static TsrStatus check_condition(const TsrTensor *condition) {
    if (condition->dtype == TSR_BOOL || condition->dtype == TSR_UINT8) return TSR_OK;
    return tsr_error(TSR_RUNTIME_ERROR,
                     "where expected condition to be a boolean tensor, but got a tensor with dtype %s",
                     tsr_dtype_scalar_name(condition->dtype));
}

/* PyTorch makes a tensor of the result's dtype of a number. */
static TsrStatus check_numbers(const TsrOpCall *c, TsrDtype d) {
    _Alignas(16) char room[16];
    for (int i = 1; i <= 2; i++)
        if (c->arg[i].kind == TSR_ARG_SCALAR) TSR_TRY(tsr_scalar_store_only(c->arg[i].s, d, room));
    return TSR_OK;
}

static TsrStatus where(TsrTensor **out, const TsrOpCall *c, TsrTensor *const *in) {
    TsrTensor *condition = c->arg[0].t, *given = c->out[0];
    TsrDtype d;
    TSR_TRY(tsr_result_type(&d, in, 2));
    TSR_TRY(check_numbers(c, d));
    if (given == NULL) TSR_TRY(check_condition(condition));
    if (given != NULL && given->dtype != d)
        return tsr_error(TSR_RUNTIME_ERROR, "Expected out type to be %s but got %s", tsr_dtype_scalar_name(d),
                         tsr_dtype_scalar_name(given->dtype));
    TSR_TRY(check_condition(condition));
    const TsrDtype reads[3] = {TSR_BOOL, d, d};
    TsrIter it;
    TSR_TRY(tsr_iter_begin(&it, &(TsrIterSpec){.nout = 1,
                                               .out = {given},
                                               .nin = 3,
                                               .in = {condition, in[0], in[1]},
                                               .in_dtype = reads,
                                               .has_dtype = true,
                                               .dtype = d,
                                               .flags = TSR_ITER_CHECK_CAST}));
    TsrLoop loop = tsr_kernel(TSR_K_where, d);
    TsrStatus s =
        loop != NULL ? tsr_iter_run_kernel(&it, loop, TSR_K_where, NULL, 0) : tsr_not_implemented("where_cpu", d);
    return tsr_iter_end_move(&it, s, out);
}

/* arg: condition, self, other, in any order of numbers and tensors */
TsrStatus op_where(TsrOpCall *c) {
    static const int order[] = {1, 2};
    TsrOperands o;
    TsrTensor *result = NULL;
    TSR_TRY(tsr_operands_take(&o, c, 2, order));
    TsrStatus s = where(&result, c, o.t);
    tsr_operands_release(&o);
    return tsr_finish_move(c, s, result);
}

/* where(condition): the indices of the true elements, one tensor for each dimension. */
TsrStatus op_where_indices(TsrOpCall *c) {
    TSR_OWNED all = NULL;
    TSR_OWNED at_least_1d = NULL;
    TsrTensor **columns;
    TSR_TRY(tsr_at_least_1d_new(&at_least_1d, c->arg[0].t));
    TSR_TRY(tsr_invoke_new(&all, 1, "nonzero", "t", at_least_1d));
    int64_t n = all->sizes[1];
    TSR_TRY(tsr_list_new(&columns, n));
    TsrStatus status = TSR_OK;
    for (int64_t i = 0; i < n && status == TSR_OK; i++) status = tsr_tensor_new_select(&columns[i], all, 1, i);
    return tsr_return_made_list_move(c, status, columns, n);
}

/* --- clamp --- */

static bool is_nan(const TsrArg *a) {
    return a->kind == TSR_ARG_SCALAR && a->s.kind == TSR_SCALAR_FLOAT && isnan(a->s.f);
}

static TsrStatus check_bounds(const TsrArg *low, const TsrArg *high) {
    if (tsr_arg_given(low) || tsr_arg_given(high)) return TSR_OK;
    return tsr_error(TSR_RUNTIME_ERROR, "torch.clamp: At least one of 'min' or 'max' must not be None");
}

/* The common dtype of self and the bounds, checked against an in-place self. Floats stay as they are. */
static TsrStatus clamp_dtype(TsrDtype *out, const TsrOpCall *c, TsrTensor *self, const TsrArg *low,
                             const TsrArg *high) {
    *out = self->dtype;
    if (tsr_dtype_is_float(*out)) return TSR_OK;
    TsrTensor *in[3] = {self, NULL, NULL};
    const TsrArg *bounds[2] = {low, high};
    bool owned[2] = {false, false};
    TsrStatus s = TSR_OK;
    for (int i = 0; i < 2 && s == TSR_OK; i++) {
        owned[i] = bounds[i]->kind == TSR_ARG_SCALAR;
        if (owned[i]) s = tsr_tensor_new_wrapped(&in[i + 1], bounds[i]->s);
        else if (tsr_arg_given(bounds[i])) in[i + 1] = bounds[i]->t;
    }
    if (s == TSR_OK) s = tsr_result_type(out, in, 3);
    for (int i = 0; i < 2; i++)
        if (owned[i]) tsr_tensor_free(in[i + 1]);
    TSR_TRY(s);
    if ((c->inplace || c->out[0] == self) && *out != self->dtype)
        return tsr_error(TSR_RUNTIME_ERROR, "result type %s can't be cast to the desired output type %s",
                         tsr_dtype_scalar_name(*out), tsr_dtype_c_name(self->dtype));
    return TSR_OK;
}

/* A bound beyond the dtype's range bounds nothing where it lies on the far side, and is refused where no value could
 * satisfy it. */
static TsrStatus nearest_in(TsrScalar *s, TsrDtype d, bool is_min) {
    bool beyond = s->kind == TSR_SCALAR_UINT; /* any int64 */
    int64_t bound = beyond ? INT64_MAX : s->i;
    if (beyond && d == TSR_UINT64) return TSR_OK;
    int bits = (int)tsr_dtype_size(d) * 8;
    bool is_signed = tsr_dtype_kind(d) == TSR_KIND_INT;
    int64_t low = !is_signed ? 0 : bits == 64 ? INT64_MIN : -(INT64_C(1) << (bits - 1));
    int64_t high = bits == 64 ? INT64_MAX : (INT64_C(1) << (bits - is_signed)) - 1;
    if (is_min ? beyond || bound > high : bound < low)
        return tsr_error(TSR_RUNTIME_ERROR, "Clamp %s value %g is outside the representable range of %s",
                         is_min ? "min" : "max", tsr_scalar_to_double(*s), tsr_dtype_scalar_name(d));
    *s = tsr_scalar_int(TSR_MIN(TSR_MAX(bound, low), high));
    return TSR_OK;
}

static TsrStatus store_bound(const TsrArg *a, TsrPw *pw, bool is_min, void *dst) {
    if (a->s.kind == TSR_SCALAR_COMPLEX && a->s.c.im != 0)
        return tsr_error(TSR_RUNTIME_ERROR, "value cannot be converted to type double without overflow");
    _Alignas(16) char rounded[16];
    TsrScalar s = a->s;
    if (tsr_dtype_is_integral(pw->it.common) && (s.kind == TSR_SCALAR_INT || s.kind == TSR_SCALAR_UINT))
        TSR_TRY(nearest_in(&s, pw->it.common, is_min));
    TSR_TRY(tsr_scalar_store_checked(s, pw->it.common, rounded));
    tsr_scalar_store(tsr_scalar_load(pw->it.common, rounded), pw->it.dtype, dst);
    return TSR_OK;
}

static const char no_complex[] = "clamp is not supported for complex types";
#define CLAMPED (D_INT | D_BARE | D_FLOAT)
static const TsrPointwise both_rules = {TSR_K_clamp, "clamp_scalar_cpu",        CLAMPED,   0,
                                        1,           TSR_NOT_IMPLEMENTED_ERROR, no_complex};
static const TsrPointwise min_rules = {
    TSR_K_clamp_min, "clamp_min_scalar_cpu", CLAMPED, 0, 1, TSR_NOT_IMPLEMENTED_ERROR, no_complex};
static const TsrPointwise max_rules = {
    TSR_K_clamp_max, "clamp_max_scalar_cpu", CLAMPED, 0, 1, TSR_NOT_IMPLEMENTED_ERROR, no_complex};

static TsrStatus run_clamp(TsrPw *pw, const TsrArg *low, const TsrArg *high) {
    _Alignas(16) char bounds[32];
    TsrKernel k = pw->rules->kernel;
    size_t size = tsr_dtype_size(pw->it.dtype), lows = k == TSR_K_clamp ? size : 0;
    TsrStatus s = tsr_arg_given(low) ? store_bound(low, pw, true, bounds) : TSR_OK;
    if (s == TSR_OK && tsr_arg_given(high)) s = store_bound(high, pw, false, bounds + lows);
    return s == TSR_OK ? tsr_pw_finish(pw, k, bounds, lows + size) : tsr_iter_end_move(&pw->it, s, NULL);
}

static TsrStatus fill_nan(TsrPw *pw) {
    TsrTensor *result = NULL;
    TSR_TRY(tsr_iter_end_move(&pw->it, TSR_OK, &result));
    TsrStatus s = tsr_tensor_fill(result, tsr_scalar_float(NAN));
    return tsr_finish_move(pw->call, s, result);
}

static const TsrArg none = {.kind = TSR_ARG_NONE}; /* the bound that clamp_min and clamp_max don't have */

static bool is_complex_bound(const TsrArg *a) { return a->kind == TSR_ARG_SCALAR && a->s.kind == TSR_SCALAR_COMPLEX; }

static TsrStatus clamp_numbers(TsrOpCall *c, const TsrArg *low, const TsrArg *high) {
    TsrTensor *self = c->arg[0].t;
    TsrDtype d;
    TsrPw pw;
    TSR_TRY(check_bounds(low, high));
    bool one = low == &none || high == &none;
    if (tsr_dtype_is_complex(self->dtype) || (one && (is_complex_bound(low) || is_complex_bound(high))))
        return tsr_error(TSR_NOT_IMPLEMENTED_ERROR, "%s", no_complex);
    TSR_TRY(clamp_dtype(&d, c, self, low, high));
    if (tsr_dtype_is_complex(d)) return tsr_error(TSR_NOT_IMPLEMENTED_ERROR, "%s", no_complex);
    if (!c->inplace) TSR_TRY(tsr_check_out_overlap(c->out[0], NULL));
    if (c->out[0] != NULL && !c->inplace && c->out[0]->dtype != d)
        return tsr_error(TSR_RUNTIME_ERROR, "Found dtype %s but expected %s", tsr_dtype_scalar_name(c->out[0]->dtype),
                         tsr_dtype_scalar_name(d));
    const TsrPointwise *rules = !tsr_arg_given(high) ? &min_rules : !tsr_arg_given(low) ? &max_rules : &both_rules;
    TsrPointwise any = *rules; /* nan asks for no kernel */
    any.dtypes = ~0u;
    bool nan = is_nan(low) || is_nan(high);
    TSR_TRY(tsr_pw_begin_as(&pw, c, nan ? &any : rules, 1, &self, d));
    if (nan) return fill_nan(&pw);
    return run_clamp(&pw, low, high);
}

TsrStatus op_clamp(TsrOpCall *c) { return clamp_numbers(c, &c->arg[1], &c->arg[2]); }
TsrStatus op_clamp_min(TsrOpCall *c) { return clamp_numbers(c, &c->arg[1], &none); }
TsrStatus op_clamp_max(TsrOpCall *c) { return clamp_numbers(c, &none, &c->arg[1]); }

static const TsrPointwise tensor_rules = {TSR_K_clamp_tensor, "clamp_cpu", CLAMPED, 0, 1, 0, NULL};
static const TsrPointwise tensor_min_rules = {TSR_K_maximum, "maximum_cpu", CLAMPED | D_BOOL, 0, 1, 0, NULL};
static const TsrPointwise tensor_max_rules = {TSR_K_minimum, "minimum_cpu", CLAMPED | D_BOOL, 0, 1, 0, NULL};

static TsrStatus clamp_tensors(TsrOpCall *c, TsrTensor *low, TsrTensor *high) {
    TsrTensor *in[3] = {c->arg[0].t, low != NULL ? low : high, high};
    const TsrPointwise *rules = low != NULL && high != NULL ? &tensor_rules
                                : low != NULL               ? &tensor_min_rules
                                                            : &tensor_max_rules;
    return tsr_pw_run(c, rules, low != NULL && high != NULL ? 3 : 2, in);
}

TsrStatus op_clamp_tensor(TsrOpCall *c) {
    TSR_TRY(check_bounds(&c->arg[1], &c->arg[2]));
    if (tsr_dtype_is_complex(c->arg[0].t->dtype)) return tsr_error(TSR_NOT_IMPLEMENTED_ERROR, "%s", no_complex);
    return clamp_tensors(c, tsr_arg_given(&c->arg[1]) ? c->arg[1].t : NULL,
                         tsr_arg_given(&c->arg[2]) ? c->arg[2].t : NULL);
}
TsrStatus op_clamp_min_tensor(TsrOpCall *c) { return clamp_tensors(c, c->arg[1].t, NULL); }
TsrStatus op_clamp_max_tensor(TsrOpCall *c) { return clamp_tensors(c, NULL, c->arg[1].t); }

/* --- lerp --- */

static TsrStatus check_lerp_dtype(const TsrTensor *self, const TsrTensor *t, const char *name) {
    if (self->dtype == t->dtype) return TSR_OK;
    return tsr_error(TSR_RUNTIME_ERROR, "expected dtype %s for `%s` but got dtype %s", tsr_dtype_c_name(self->dtype),
                     name, tsr_dtype_c_name(t->dtype));
}

/* A weight that is a number takes self's dtype, but a tensor without dimensions is promoted with self. */
static TsrStatus lerp(TsrOpCall *c, const char *name, TsrTensor *weight, unsigned flags) {
    TsrTensor *self = c->arg[0].t, *in[3] = {self, c->arg[1].t, weight};
    if (!tsr_dtype_is_float8(self->dtype)) flags |= TSR_ITER_OPMATH; /* it has one name, and no kernel */
    const TsrPointwise rules = {TSR_K_lerp, name, D_FLOAT | D_COMPLEX, flags, 4, 0, NULL};
    TsrPw pw;
    if (tsr_ndim(weight) == 0 && tsr_in(TSR_BITS_FLOAT8, self->dtype)) {
        int64_t shape[TSR_MAX_DIMS];
        int ndim = 0;
        TsrDtype common;
        TSR_TRY(tsr_check_out_overlap(c->out[0], NULL));
        TSR_TRY(tsr_layout_broadcast(shape, &ndim, self->sizes, tsr_ndim(self)));
        TSR_TRY(tsr_layout_broadcast(shape, &ndim, in[1]->sizes, tsr_ndim(in[1])));
        if (!(weight->flags & TSR_FLAG_WRAPPED_NUMBER)) TSR_TRY(tsr_result_type(&common, in, 3));
        return tsr_not_implemented(name, self->dtype);
    }
    TSR_TRY((weight->flags & TSR_FLAG_WRAPPED_NUMBER ? tsr_pw_begin_as(&pw, c, &rules, 3, in, self->dtype)
                                                     : tsr_pw_begin(&pw, c, &rules, 3, in)));
    return tsr_pw_finish(&pw, TSR_K_lerp, NULL, 0);
}

TsrStatus op_lerp_tensor(TsrOpCall *c) {
    TSR_TRY(check_lerp_dtype(c->arg[0].t, c->arg[1].t, "end"));
    const TsrTensor *self = c->arg[0].t, *weight = c->arg[2].t, *out = c->out[0];
    if (tsr_ndim(weight) > 0) TSR_TRY(check_lerp_dtype(self, weight, "weight"));
    if (!c->inplace) TSR_TRY(tsr_check_out_overlap(c->out[0], NULL));
    if (tsr_ndim(weight) > 0 && out != NULL && out->dtype != self->dtype)
        return tsr_error(TSR_RUNTIME_ERROR, "Found dtype %s but expected %s", tsr_dtype_scalar_name(out->dtype),
                         tsr_dtype_scalar_name(self->dtype));
    return lerp(c, "lerp_kernel_tensor", c->arg[2].t, 0);
}

/* Half floats with a number, where a kernel widens them by vectors: the number stays a float. */
static TsrStatus lerp_by_number(TsrOpCall *c, const char *weight) {
    static const TsrPointwise rules = {TSR_K_lerp_number, "lerp_kernel_scalar", D_FLOAT, 0, 4, 0, NULL};
    TsrPw pw;
    TSR_TRY(tsr_pw_begin(&pw, c, &rules, 2, (TsrTensor *[]){c->arg[0].t, c->arg[1].t}));
    return tsr_pw_finish(&pw, rules.kernel, weight, sizeof(float));
}

TsrStatus op_lerp_scalar(TsrOpCall *c) {
    _Alignas(16) char value[16];
    TsrTensor *self = c->arg[0].t, *weight, *out = c->out[0];
    TSR_TRY(check_lerp_dtype(self, c->arg[1].t, "end"));
    bool half = tsr_in(TSR_BITS_HALF, self->dtype);
    TsrDtype compute = half ? TSR_FLOAT32 : self->dtype;
    if ((D_FLOAT | D_COMPLEX) >> self->dtype & 1) TSR_TRY(tsr_scalar_store_checked(c->arg[2].s, compute, value));
    if (half && (out == NULL || out->dtype == self->dtype) && !tsr_on_device(self) &&
        tsr_kernel(TSR_K_lerp_number, self->dtype) != NULL)
        return lerp_by_number(c, value);
    TSR_TRY(tsr_tensor_new_wrapped(&weight, c->arg[2].s));
    TsrStatus s = lerp(c, "lerp_kernel_scalar", weight, TSR_ITER_NUMBER_LAST);
    tsr_tensor_free(weight);
    return s;
}

/* --- addcmul, addcdiv --- */

static TsrStatus add_scaled_pair(TsrOpCall *c, const TsrPointwise *rules) {
    _Alignas(16) char value[16];
    TsrTensor *in[3] = {c->arg[0].t, c->arg[1].t, c->arg[2].t};
    TsrPw pw;
    TSR_TRY(tsr_pw_begin(&pw, c, rules, 3, in));
    TsrDtype compute = tsr_in(TSR_BITS_HALF, pw.it.dtype) ? TSR_FLOAT32 : pw.it.dtype;
    TsrStatus s = tsr_scalar_store_checked(c->arg[3].s, compute, value);
    return s == TSR_OK ? tsr_pw_finish(&pw, rules->kernel, value, sizeof value) : tsr_iter_end_move(&pw.it, s, NULL);
}

TsrStatus op_addcmul(TsrOpCall *c) {
    static const TsrPointwise rules = {TSR_K_addcmul, "addcmul_cpu_out", D_INT | D_FLOAT | D_COMPLEX | D_CHALF, 0, 2, 0,
                                       NULL};
    return add_scaled_pair(c, &rules);
}

static bool is_whole(const TsrTensor *t) { return tsr_dtype_is_integral(t->dtype) || t->dtype == TSR_BOOL; }

TsrStatus op_addcdiv(TsrOpCall *c) {
    static const TsrPointwise rules = {TSR_K_addcdiv, "addcdiv_cpu_out", D_FLOAT | D_COMPLEX, 0, 2, 0, NULL};
    if (is_whole(c->arg[1].t) && is_whole(c->arg[2].t))
        return tsr_error(
            TSR_RUNTIME_ERROR,
            "Integer division with addcdiv is no longer supported, and in a future  release addcdiv will perform a "
            "true division of tensor1 and "
            "tensor2. The historic addcdiv behavior can be implemented as (input + value * torch.trunc(tensor1 / "
            "tensor2)).to(input.dtype) for "
            "integer inputs and as (input + value * tensor1 / tensor2) for float inputs. The future addcdiv behavior "
            "is just the latter "
            "implementation: (input + value * tensor1 / tensor2), for all dtypes.");
    return add_scaled_pair(c, &rules);
}

/* --- fill --- */

/* The value may be an element of self. */
static TsrStatus fill_element(TsrTensor *self, const TsrTensor *value) {
    TSR_OWNED apart = NULL;
    TSR_TRY(tsr_tensor_new_clone(&apart, value, TSR_PRESERVE));
    return tsr_tensor_copy(self, apart);
}

static TsrStatus fill(TsrOpCall *c, const TsrArg *value) {
    TsrTensor *self = c->arg[0].t, *target;
    if (value->kind == TSR_ARG_TENSOR && tsr_ndim(value->t) != 0)
        return tsr_error(TSR_RUNTIME_ERROR,
                         "fill_ only supports 0-dimension value tensor but got tensor with %d dimensions.",
                         tsr_ndim(value->t));
    if (c->out[0] != NULL) target = tsr_tensor_retain(c->out[0]);
    else TSR_TRY(tsr_tensor_new_like(&target, self, TSR_DTYPE_NONE, TSR_PRESERVE));
    TsrStatus s = TSR_OK;
    if (!tsr_is_meta(target))
        s = value->kind == TSR_ARG_TENSOR ? fill_element(target, value->t) : tsr_tensor_fill(target, value->s);
    return tsr_finish_move(c, s, target);
}

TsrStatus op_fill(TsrOpCall *c) { return fill(c, &c->arg[1]); }

TsrStatus op_zero_(TsrOpCall *c) {
    const TsrArg zero = {.kind = TSR_ARG_SCALAR, .s = tsr_scalar_int(0)};
    return fill(c, &zero);
}
