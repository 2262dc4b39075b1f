/* reductions.c: the operators over reduce.c's engine: sums, products, means, extremes, truth, variances, logsumexp.
 *
 * An operator says which reducer, in which dtype it accumulates and to which it rounds: small floats as float32,
 * integers in int64. The order in which elements are added is part of the answer, because PyTorch's digits show it, so
 * it is the reducer's alone and never depends on the number of threads. A sum or mean over a chain of pointwise steps
 * takes the elements as they are made (tsr_fuse_sum_new). Variances are of the sum of squares about a mean that is
 * known first, or by the reducer of moments; those of complex numbers are the variances of their parts, added. */
#include "core/layout.h"
#include "core/op/compose.h"
#include "core/op/out.h"
#include "core/tensor/loan.h"
#include "core/tensor/owned.h"
#include "core/ops/pointwise/pointwise.h"
#include "reduce.h"

#include <math.h>
#include <string.h>

/* --- common steps --- */

/* Small floats are reduced as float32, complex32 and bcomplex32 as complex64; others as they are. */
static TsrDtype accumulator_dtype(TsrDtype d) {
    if (tsr_dtype_is_float(d) && tsr_dtype_size(d) < 4) return TSR_FLOAT32;
    return d == TSR_COMPLEX32 || d == TSR_BCOMPLEX32 ? TSR_COMPLEX64 : d;
}

/* Reduces `in` (lent, any dtype) after widening; the first result is rounded to `result` (TSR_DTYPE_NONE: as it comes).
 */
static TsrStatus reduce_widened(TsrTensor **out, TsrTensor **more, TsrReduction r, TsrDtype result) {
    TsrTensor *wide, *value = NULL, *other = NULL;
    TSR_TRY(tsr_tensor_new_cast(&wide, r.in, accumulator_dtype(r.in->dtype)));
    r.in = wide;
    TsrStatus s = tsr_reduce_new(&value, &other, &r);
    tsr_tensor_free(wide);
    TSR_TRY(s);
    if (value != NULL && result != TSR_DTYPE_NONE && value->dtype != result) {
        TsrTensor *rounded = NULL;
        s = tsr_tensor_new_cast(&rounded, value, result);
        tsr_tensor_free(value);
        value = rounded;
    }
    if (s != TSR_OK) {
        tsr_tensor_free(other);
        return s;
    }
    *out = value;
    if (more != NULL) *more = other;
    else tsr_tensor_free(other);
    return TSR_OK;
}

/* Rounds an owned tensor to another dtype in place of itself. */
static TsrStatus narrow(TsrTensor **t, TsrDtype d) {
    TsrTensor *before = *t;
    *t = NULL;
    TsrStatus s = tsr_tensor_new_cast(t, before, d);
    tsr_tensor_free(before);
    return s;
}

static bool is_whole(TsrDtype d) { return tsr_dtype_is_integral(d) || d == TSR_BOOL; }

/* The dtype argument, else out's, else `otherwise`. */
static TsrDtype chosen_dtype(const TsrOpCall *c, const TsrArg *dtype, TsrDtype otherwise) {
    if (tsr_arg_given(dtype)) return dtype->dtype;
    return c->out[0] != NULL ? c->out[0]->dtype : otherwise;
}

static TsrStatus check_out_dtype(const TsrTensor *out, TsrDtype want) {
    if (out == NULL || out->dtype == want) return TSR_OK;
    return tsr_error(TSR_RUNTIME_ERROR, "Expected out tensor to have dtype %s, but got %s instead",
                     tsr_dtype_c_name(want), tsr_dtype_c_name(out->dtype));
}

/* An out= beside a dtype= has that one. */
static TsrStatus check_chosen(const TsrOpCall *c, const TsrArg *dtype) {
    return tsr_arg_given(dtype) ? tsr_check_out_dtype(c, 0, dtype->dtype) : TSR_OK;
}

/* --- sum, nansum, prod, mean --- */

#define SUMMABLE (D_INT | D_FLOAT | D_COMPLEX | D_BOOL)

/* Whether no step goes through all that the dimensions of a mask hold: two of them are left when those that follow each
 * other, the innermost first, are one. */
static bool has_gaps(const TsrTensor *t, uint64_t dims) {
    int order[TSR_MAX_DIMS], n = 0, left = 0;
    int64_t next = -1;
    for (int d = tsr_ndim(t) - 1; d >= 0; d--)
        if ((dims >> d & 1) && t->sizes[d] != 1) order[n++] = d;
    tsr_layout_order_dims(order, n, tsr_compare_dims_of, t);
    for (int i = 0; i < n; i++) {
        left += left == 0 || t->strides[order[i]] != next;
        next = t->strides[order[i]] * t->sizes[order[i]];
    }
    return left > 1;
}

/* PyTorch has no sum of float8, but cuts one over dimensions with gaps between them into sums of lines, which are added
 * by a loop that knows float8. */
static bool sums_float8(const TsrReduction *r) {
    return r->kind == TSR_R_SUM && tsr_dtype_is_float8(r->out[0]) && has_gaps(r->in, r->dims);
}

/* Sum or product of r.in in the dtype r.out[0]; bool and integers are added in int64 and narrowed afterwards. `name` is
 * the kernel's in PyTorch's error. */
static TsrStatus sum_or_product(TsrTensor **out, const char *name, TsrReduction r) {
    TsrDtype dtype = r.out[0];
    bool summable = tsr_in(SUMMABLE, dtype) || r.in->numel == 0;
    if (!summable && !tsr_dtype_is_float8(dtype)) return tsr_not_implemented(name, dtype);
    TsrTensor *cast = NULL;
    bool direct = dtype == TSR_INT64 && is_whole(r.in->dtype); /* narrow integers are widened as they are read */
    if (!direct) {
        TSR_TRY(tsr_tensor_new_cast(&cast, r.in, dtype));
        r.in = cast;
    }
    if (!summable && !sums_float8(&r)) { /* where there are gaps after the conversion */
        tsr_tensor_free(cast);
        return tsr_not_implemented(name, dtype);
    }
    TsrStatus s;
    bool half = dtype == TSR_FLOAT16 || dtype == TSR_BFLOAT16;
    if (half &&
        (r.kind == TSR_R_SUM ||
         r.kind ==
             TSR_R_PROD)) { /* PyTorch's order of sums is that of half floats; products are rounded at every step */
        s = tsr_reduce_new(out, NULL, &r);
    } else {
        r.out[0] = is_whole(dtype) ? TSR_INT64 : accumulator_dtype(dtype);
        s = reduce_widened(out, NULL, r, dtype);
    }
    tsr_tensor_free(cast);
    return s;
}

static TsrDtype sum_dtype(const TsrOpCall *c, const TsrArg *dtype) {
    TsrDtype d = c->arg[0].t->dtype;
    return chosen_dtype(c, dtype, is_whole(d) ? TSR_INT64 : d);
}

static TsrStatus sum_like(TsrOpCall *c, TsrReduceKind kind, const char *name, const TsrArg *dim, bool keepdim,
                          const TsrArg *dtype) {
    TsrTensor *x = c->arg[0].t, *result = NULL;
    uint64_t dims;
    TSR_TRY(tsr_dims_mask(&dims, dim, tsr_ndim(x), true));
    TSR_TRY(check_chosen(c, dtype));
    TsrStatus s = sum_or_product(&result, name,
                                 (TsrReduction){kind, x, dims, keepdim, NULL, {sum_dtype(c, dtype), TSR_DTYPE_NONE}});
    return tsr_finish_move(c, s, result);
}

static const TsrArg no_dim = {.kind = TSR_ARG_NONE};

TsrStatus op_sum(TsrOpCall *c) { return sum_like(c, TSR_R_SUM, "sum_cpu", &no_dim, false, &c->arg[1]); }
TsrStatus op_sum_dim(TsrOpCall *c) { return sum_like(c, TSR_R_SUM, "sum_cpu", &c->arg[1], c->arg[2].b, &c->arg[3]); }
TsrStatus op_prod(TsrOpCall *c) { return sum_like(c, TSR_R_PROD, "prod_out_cpu", &no_dim, false, &c->arg[1]); }
TsrStatus op_prod_dim(TsrOpCall *c) {
    return sum_like(c, TSR_R_PROD, "prod_out_cpu", &c->arg[1], c->arg[2].b, &c->arg[3]);
}

TsrStatus op_nansum(TsrOpCall *c) {
    TsrTensor *x = c->arg[0].t, *result = NULL;
    TsrDtype to = sum_dtype(c, &c->arg[3]);
    uint64_t dims;
    bool floats = !is_whole(x->dtype), counted = floats && is_whole(to);
    TSR_OWNED clean = NULL;
    if (tsr_dtype_is_complex(x->dtype) && c->out[0] != NULL)
        return tsr_error(TSR_NOT_IMPLEMENTED_ERROR, "nansum on CPU does not support complex inputs");
    bool summed = !floats || (tsr_arg_given(&c->arg[3]) && is_whole(to)); /* it is a sum, when it is written */
    if (!summed) TSR_TRY(check_chosen(c, &c->arg[3]));
    TSR_TRY(tsr_dims_mask_in_turn(&dims, &c->arg[1], tsr_ndim(x), true));
    if (tsr_dtype_is_complex(x->dtype))
        return tsr_error(TSR_NOT_IMPLEMENTED_ERROR, "nansum on CPU does not support complex inputs");
    bool unknown = floats && (tsr_dtype_is_complex(to) || tsr_dtype_is_float8(to));
    if (unknown && x->numel > 0) return tsr_not_implemented("nansum_cpu", to);
    bool into_whole = counted && !tsr_arg_given(&c->arg[3]); /* an out= of integers: no kernel adds floats there */
    if (into_whole && x->numel > 0) return tsr_not_implemented("nansum_cpu", to);
    if (counted) TSR_TRY(tsr_invoke_new(&clean, 1, "nan_to_num", "t", x));
    if (summed && tsr_arg_given(&c->arg[3])) TSR_TRY(check_out_dtype(c->out[0], c->arg[3].dtype));
    TsrReduceKind kind = floats && tsr_in(D_FLOAT, to) ? TSR_R_NANSUM : TSR_R_SUM;
    TsrStatus s =
        sum_or_product(&result, counted || !floats ? "sum_cpu" : "nansum_cpu",
                       (TsrReduction){kind, counted ? clean : x, dims, c->arg[2].b, NULL, {to, TSR_DTYPE_NONE}});
    return tsr_finish_move(c, s, result);
}

TSR_CLONES static void divide_floats(float *p, int64_t n, float by) { TSR_IN_PIECES(i, n) p[i] /= by; }

/* *t /= n, in t's dtype. */
static TsrStatus divide(TsrTensor *t, double n) {
    if (tsr_is_meta(t)) return TSR_OK;
    if (t->dtype == TSR_FLOAT32 && !tsr_on_device(t)) {
        divide_floats(tsr_data(t), t->numel, (float)n);
        return TSR_OK;
    }
    TsrTensor *same = NULL;
    TSR_TRY(tsr_invoke_new(&same, 1, "div", "!tts", t, t, tsr_scalar_float(n)));
    tsr_tensor_free(same);
    return TSR_OK;
}

/* An out= of the mean of all takes what input's dtype can be cast to; means over dimensions are sums in out's dtype,
 * divided in place. */
static TsrStatus check_mean_out(const TsrOpCall *c, const TsrArg *dtype, bool all) {
    const TsrTensor *out = c->out[0];
    if (out == NULL) return TSR_OK;
    if (tsr_arg_given(dtype) && out->dtype != dtype->dtype)
        return tsr_error(TSR_RUNTIME_ERROR, "Expected out tensor to have dtype %s, but got %s instead",
                         tsr_dtype_c_name(dtype->dtype), tsr_dtype_c_name(out->dtype));
    if (!all && !tsr_arg_given(dtype) && tsr_in(TSR_BITS_UINT, out->dtype) && c->arg[0].t->numel > 0)
        return tsr_not_implemented("sum_cpu", out->dtype);
    if (!all && !tsr_arg_given(dtype) && is_whole(out->dtype))
        return tsr_error(TSR_RUNTIME_ERROR, "result type %s can't be cast to the desired output type %s",
                         tsr_dtype_scalar_name(tsr_default_dtype()), tsr_dtype_scalar_name(out->dtype));
    return TSR_OK;
}

static TsrStatus mean(TsrOpCall *c, const TsrArg *dim, bool keepdim, const TsrArg *dtype) {
    TsrTensor *x = c->arg[0].t, *result = NULL;
    TsrDtype d = chosen_dtype(c, dtype, x->dtype), asked = tsr_arg_given(dtype) ? d : x->dtype;
    uint64_t dims;
    if (c->out[0] != NULL && dim == &no_dim && !tsr_can_cast(x->dtype, c->out[0]->dtype))
        return tsr_error(TSR_RUNTIME_ERROR, "mean.dtype_out(): input types can't be cast to the desired output type %s",
                         tsr_dtype_scalar_name(c->out[0]->dtype));
    if (!tsr_dtype_is_float(asked) && !tsr_dtype_is_complex(asked))
        return tsr_error(
            TSR_NOT_IMPLEMENTED_ERROR,
            "mean(): could not infer output dtype. %s dtype must be either a floating point or complex dtype. Got: %s",
            tsr_arg_given(dtype) ? "Optional" : "Input", tsr_dtype_scalar_name(asked));
    TSR_TRY(tsr_dims_mask(&dims, dim, tsr_ndim(x), true));
    TSR_TRY(check_mean_out(c, dtype, dim == &no_dim));
    if (!tsr_in(SUMMABLE, d) && (x->numel > 0 || tsr_dtype_is_float8(d))) {
        bool sums =
            x->numel == 0 || sums_float8(&(TsrReduction){TSR_R_SUM, x, dims, keepdim, NULL, {d, TSR_DTYPE_NONE}});
        return tsr_not_implemented(sums ? "div_cpu_reduced_float" : "sum_cpu", d);
    }
    TsrDtype acc = accumulator_dtype(d) == TSR_COMPLEX64 ? d : accumulator_dtype(d);
    TSR_TRY(
        sum_or_product(&result, "sum_cpu", (TsrReduction){TSR_R_SUM, x, dims, keepdim, NULL, {acc, TSR_DTYPE_NONE}}));
    TsrStatus s = divide(result, (double)tsr_reduced_count(x, dims));
    if (s == TSR_OK && result->dtype != d) s = narrow(&result, d);
    return tsr_finish_move(c, s, result);
}

TsrStatus op_mean(TsrOpCall *c) { return mean(c, &no_dim, false, &c->arg[1]); }
TsrStatus op_mean_dim(TsrOpCall *c) { return mean(c, &c->arg[1], c->arg[2].b, &c->arg[3]); }

/* --- the sum or mean of a chain of steps, whose elements are made as they are added --- */

typedef struct Made {
    TsrTensor *out;
    TsrDtype dtype;
    int64_t count;
} Made;

static TsrStatus sum_made(void *context, TsrFillFn fill, void *plan) {
    const Made *m = context;
    return tsr_reduce_made(m->out, TSR_R_SUM, m->dtype, m->count, fill, plan);
}

/* Short ones are not worth a pass of their own. */
static TsrStatus sum_short(TsrTensor **out, const TsrFused *f, bool mean) {
    TSR_OWNED all = NULL;
    TSR_TRY(tsr_fuse_run_new(&all, f));
    return tsr_invoke_new(out, 1, mean ? "mean" : "sum", "t", all);
}

TsrStatus tsr_fuse_sum_new(TsrTensor **out, const TsrFused *f, bool mean) {
    const TsrTensor *like = tsr_fuse_first(f);
    bool truth = tsr_fuse_is_truth(f);
    if (like->numel < TSR_REDUCE_MADE_LEAST) return sum_short(out, f, mean);
    TsrTensor *result;
    TSR_TRY(tsr_tensor_new(&result, 0, NULL, truth ? TSR_INT64 : like->dtype, like->device));
    result->origin = mean ? "mean" : "sum";
    TsrStatus status = tsr_fuse_use(f, sum_made, &(Made){result, truth ? TSR_BOOL : like->dtype, like->numel});
    if (status == TSR_OK && mean) status = divide(result, (double)like->numel);
    if (status == TSR_OK) *out = result;
    else tsr_tensor_free(result);
    return status;
}

/* The sum without nans over how many are none. */
TsrStatus op_nanmean(TsrOpCall *c) {
    TsrTensor *x = c->arg[0].t, *sum = NULL, *isnan = NULL, *valid = NULL, *count = NULL, *result = NULL;
    uint64_t dims;
    if (c->out[0] != NULL && !tsr_dtype_is_float(x->dtype) && !tsr_dtype_is_complex(x->dtype))
        return tsr_error(TSR_NOT_IMPLEMENTED_ERROR,
                         "nanmean(): integral types and 'Bool' are not supported for nanmean, even for empty tensors.");
    if (!tsr_dtype_is_float(x->dtype) && !tsr_dtype_is_complex(x->dtype))
        return tsr_error(TSR_NOT_IMPLEMENTED_ERROR,
                         "nanmean(): expected input to have floating point or complex dtype but got %s",
                         tsr_dtype_scalar_name(x->dtype));
    TsrDtype d = chosen_dtype(c, &c->arg[3], x->dtype);
    if (tsr_arg_given(&c->arg[3]) && !tsr_dtype_is_float(d) && !tsr_dtype_is_complex(d))
        return tsr_error(
            TSR_RUNTIME_ERROR,
            "nanmean(): could not infer output dtype. Optional dtype must be either a floating point or complex "
            "dtype. Got: %s",
            tsr_dtype_scalar_name(d));
    TSR_TRY(tsr_dims_mask(&dims, &c->arg[1], tsr_ndim(x), true));
    if (tsr_dtype_is_complex(x->dtype))
        return tsr_error(TSR_NOT_IMPLEMENTED_ERROR, "nansum on CPU does not support complex inputs");
    TSR_TRY(check_chosen(c, &c->arg[3]));
    if (x->numel == 0 && is_whole(d) && !tsr_in(TSR_BITS_UINT, d)) /* a sum of nothing, in out's dtype, is divided */
        return tsr_error(TSR_RUNTIME_ERROR, "result type %s can't be cast to the desired output type %s",
                         tsr_dtype_scalar_name(tsr_default_dtype()), tsr_dtype_scalar_name(d));
    if (x->numel > 0) TSR_TRY(tsr_require(D_FLOAT, d, "nansum_cpu"));
    TsrStatus s = sum_or_product(
        &sum, "nansum_cpu",
        (TsrReduction){tsr_in(D_FLOAT, d) ? TSR_R_NANSUM : TSR_R_SUM, x, dims, c->arg[2].b, NULL, {d, TSR_DTYPE_NONE}});
    if (s == TSR_OK) s = tsr_invoke_new(&isnan, 1, "isnan", "t", x);
    if (s == TSR_OK) s = tsr_invoke_new(&valid, 1, "logical_not", "t", isnan);
    if (s == TSR_OK)
        s = tsr_reduce_new(&count, NULL,
                           &(TsrReduction){TSR_R_SUM, valid, dims, c->arg[2].b, NULL, {TSR_INT64, TSR_DTYPE_NONE}});
    if (s == TSR_OK) s = tsr_invoke_new(&result, 1, "div", "tt", sum, count);
    tsr_tensor_free(sum);
    tsr_tensor_free(isnan);
    tsr_tensor_free(valid);
    tsr_tensor_free(count);
    return tsr_finish_move(c, s, result);
}

/* --- greatest and least --- */

#define COMPARABLE (D_INT | D_FLOAT | D_BOOL)

static TsrStatus extreme_all(TsrOpCall *c, bool max) {
    TsrTensor *x = c->arg[0].t, *result = NULL;
    if (x->numel == 0)
        return tsr_error(
            TSR_RUNTIME_ERROR,
            "%s(): Expected reduction dim to be specified for input.numel() == 0. Specify the reduction dim with the "
            "'dim' argument.",
            max ? "max" : "min");
    if (x->numel > 0 && !tsr_in(COMPARABLE, x->dtype))
        return tsr_not_implemented(max ? "max_all" : "min_all", x->dtype);
    TsrDtype acc = accumulator_dtype(x->dtype);
    TsrStatus s = reduce_widened(
        &result, NULL,
        (TsrReduction){max ? TSR_R_AMAX : TSR_R_AMIN, x, tsr_all_dims(tsr_ndim(x)), false, NULL, {acc, TSR_DTYPE_NONE}},
        x->dtype);
    return tsr_finish_move(c, s, result);
}

TsrStatus op_max_all(TsrOpCall *c) { return extreme_all(c, true); }
TsrStatus op_min_all(TsrOpCall *c) { return extreme_all(c, false); }

/* Values and indices along one dimension. */
static TsrStatus extreme_dim(TsrOpCall *c, bool max) {
    TsrTensor *x = c->arg[0].t, *values = NULL, *indices = NULL;
    const char *name = max ? "max" : "min";
    char label[16] = {name[0], name[1], name[2], '(', ')', '\0'};
    uint64_t dims;
    TSR_TRY(tsr_dims_mask(&dims, &c->arg[1], tsr_ndim(x), true));
    TSR_TRY(tsr_check_nonempty(label, x, dims));
    if (tsr_dtype_is_complex(x->dtype)) return tsr_error(TSR_TYPE_ERROR, "%s(): does not support complex input", name);
    TSR_TRY(check_out_dtype(c->out[0], x->dtype));
    TSR_TRY(check_out_dtype(c->out[1], TSR_INT64));
    if (tsr_ndim(x) == 0) { /* nothing is compared, in any dtype */
        TSR_TRY(tsr_tensor_new_clone(&values, x, TSR_CONTIGUOUS));
        TsrStatus status = tsr_zeros_new(&indices, 0, NULL, TSR_INT64, x->device);
        if (status == TSR_OK) return tsr_return_move2(c, values, indices);
        tsr_tensor_free(values);
        return status;
    }
    if (x->numel > 0 && !tsr_in(COMPARABLE, x->dtype))
        return tsr_not_implemented(max ? "max_cpu" : "min_cpu", x->dtype);
    TsrReduction r = {max ? TSR_R_ARGMAX : TSR_R_ARGMIN,       x, dims, c->arg[2].b, NULL,
                      {accumulator_dtype(x->dtype), TSR_INT64}};
    TSR_TRY(reduce_widened(&values, &indices, r, x->dtype));
    return tsr_return_move2(c, values, indices);
}

TsrStatus op_max_dim(TsrOpCall *c) { return extreme_dim(c, true); }
TsrStatus op_min_dim(TsrOpCall *c) { return extreme_dim(c, false); }

static TsrStatus extreme_values(TsrOpCall *c, bool max) {
    TsrTensor *x = c->arg[0].t, *result = NULL;
    const char *name = max ? "amax()" : "amin()";
    uint64_t dims;
    if (c->out[0] != NULL && c->out[0]->dtype != x->dtype)
        return tsr_error(
            TSR_RUNTIME_ERROR,
            "Expected the dtype for input and out to match, but got %s for input's dtype and %s for out's dtype.",
            tsr_dtype_scalar_name(x->dtype), tsr_dtype_scalar_name(c->out[0]->dtype));
    if (x->numel == 0 && (c->arg[1].kind == TSR_ARG_NONE || c->arg[1].n == 0))
        return tsr_error(
            TSR_RUNTIME_ERROR,
            "%s: Expected reduction dim to be specified for input.numel() == 0. Specify the reduction dim with the "
            "'dim' argument.",
            name);
    for (int i = 0; i < c->arg[1].n && x->numel == 0; i++) {
        int64_t d = c->arg[1].ints[i];
        TSR_TRY(tsr_wrap_dim(&d, tsr_ndim(x)));
        if (x->sizes[d] == 0)
            return tsr_error(TSR_INDEX_ERROR, "%s: Expected reduction dim %lld to have non-zero size.", name,
                             (long long)c->arg[1].ints[i]);
    }
    TSR_TRY(tsr_dims_mask(&dims, &c->arg[1], tsr_ndim(x), true));
    if (x->numel > 0 && !tsr_in(COMPARABLE, x->dtype))
        return tsr_not_implemented(max ? "max_values_cpu" : "min_values_cpu", x->dtype);
    TsrReduction r = {
        max ? TSR_R_AMAX : TSR_R_AMIN, x, dims, c->arg[2].b, NULL, {accumulator_dtype(x->dtype), TSR_DTYPE_NONE}};
    TsrStatus s = reduce_widened(&result, NULL, r, x->dtype);
    return tsr_finish_move(c, s, result);
}

TsrStatus op_amax(TsrOpCall *c) { return extreme_values(c, true); }
TsrStatus op_amin(TsrOpCall *c) { return extreme_values(c, false); }

static TsrStatus both_new(TsrOpCall *c, const TsrTensor *x) {
    TSR_OWNED low = NULL;
    TSR_OWNED high = NULL;
    TSR_TRY(tsr_tensor_new_clone(&low, x, TSR_CONTIGUOUS));
    TSR_TRY(tsr_tensor_new_clone(&high, x, TSR_CONTIGUOUS));
    return tsr_return_move2(c, tsr_owned_take(&low), tsr_owned_take(&high));
}

/* The two outputs of aminmax share no element. */
static TsrStatus check_apart(const TsrTensor *a, const TsrTensor *b) {
    if (a == NULL || b == NULL || (a != b && !tsr_is_same_view(a, b) && !tsr_overlaps_elsewhere(a, b))) return TSR_OK;
    return tsr_error(TSR_VALUE_ERROR, "aminmax(): the `min` and `max` out= tensors must not overlap.");
}

TsrStatus op_aminmax(TsrOpCall *c) {
    TsrTensor *x = c->arg[0].t, *low = NULL, *high = NULL;
    uint64_t dims;
    if (tsr_dtype_is_complex(x->dtype))
        return tsr_error(TSR_TYPE_ERROR, "aminmax not implemented for %s", tsr_dtype_scalar_name(x->dtype));
    for (int i = 0; i < 2; i++) TSR_TRY(check_out_dtype(c->out[i], x->dtype));
    TSR_TRY(check_apart(c->out[0], c->out[1]));
    TSR_TRY(tsr_dims_mask(&dims, &c->arg[1], tsr_ndim(x), true));
    if (!tsr_arg_given(&c->arg[1]) && x->numel == 0)
        return tsr_error(TSR_RUNTIME_ERROR,
                         "aminmax(): cannot compute aminmax over an empty dimension as the operation has no identity.");
    TSR_TRY(tsr_check_nonempty("aminmax", x, dims));
    if (tsr_arg_given(&c->arg[1]) && tsr_ndim(x) == 0 && !tsr_in(COMPARABLE, x->dtype)) /* which is both */
        return both_new(c, x);
    if (!tsr_in(COMPARABLE, x->dtype)) return tsr_not_implemented("aminmax_cpu", x->dtype);
    TsrDtype acc = accumulator_dtype(x->dtype);
    TSR_TRY(
        reduce_widened(&low, &high, (TsrReduction){TSR_R_AMINMAX, x, dims, c->arg[2].b, NULL, {acc, acc}}, x->dtype));
    TsrTensor *rounded = NULL;
    TsrStatus s = tsr_tensor_new_cast(&rounded, high, x->dtype);
    tsr_tensor_free(high);
    if (s != TSR_OK) {
        tsr_tensor_free(low);
        return s;
    }
    return tsr_return_move2(c, low, rounded);
}

static TsrStatus extreme_index(TsrOpCall *c, bool max) {
    TsrTensor *x = c->arg[0].t, *values = NULL, *indices = NULL;
    const char *name = max ? "argmax" : "argmin";
    char label[16] = "argmax()";
    if (!max) memcpy(label, "argmin()", 9);
    uint64_t dims;
    if (tsr_dtype_is_complex(x->dtype)) return tsr_error(TSR_TYPE_ERROR, "%s(): does not support complex input", name);
    if (x->dtype == TSR_BOOL) return tsr_error(TSR_NOT_IMPLEMENTED_ERROR, "%s(): does not support bool input", name);
    TSR_TRY(tsr_dims_mask(&dims, &c->arg[1], tsr_ndim(x), true));
    if (!tsr_arg_given(&c->arg[1]) && x->numel == 0)
        return tsr_error(TSR_INDEX_ERROR, "%s(): Expected reduction dim to be specified for input.numel() == 0.", name);
    TSR_TRY(tsr_check_nonempty(label, x, dims));
    TSR_TRY(check_out_dtype(c->out[0], TSR_INT64));
    TSR_OWNED whole = NULL;
    bool single = tsr_arg_given(&c->arg[1]) && tsr_ndim(x) > 0 &&
                  tsr_reduced_count(x, dims) == 1; /* nothing is compared, in any dtype */
    if (!single && x->numel > 0 && !tsr_in(COMPARABLE, x->dtype))
        return tsr_not_implemented(max ? "argmax_cpu" : "argmin_cpu", x->dtype);
    if (single) {
        TSR_TRY(tsr_tensor_new_cast(&whole, x, TSR_INT64));
        x = whole;
    }
    TsrReduction r = {max ? TSR_R_ARGMAX : TSR_R_ARGMIN, x, dims, c->arg[2].b, NULL, {TSR_DTYPE_NONE, TSR_INT64}};
    TsrStatus s = reduce_widened(&values, &indices, r, TSR_DTYPE_NONE);
    return tsr_finish_move(c, s, indices);
}

TsrStatus op_argmax(TsrOpCall *c) { return extreme_index(c, true); }
TsrStatus op_argmin(TsrOpCall *c) { return extreme_index(c, false); }

/* --- truth --- */

static TsrStatus truth(TsrOpCall *c, TsrReduceKind kind, const TsrArg *dim, bool keepdim, bool empty_is_all) {
    TsrTensor *x = c->arg[0].t, *result = NULL;
    uint64_t dims;
    TSR_TRY(tsr_check_dim_set(tsr_ndim(x)));
    if (c->out[0] != NULL && c->out[0]->dtype != TSR_BOOL && c->out[0]->dtype != TSR_UINT8)
        return tsr_error(TSR_RUNTIME_ERROR, "%s only supports bool tensor for result, got: %s",
                         kind == TSR_R_ANY ? "any" : "all", tsr_dtype_scalar_name(c->out[0]->dtype));
    TSR_TRY(tsr_dims_mask(&dims, dim, tsr_ndim(x), empty_is_all));
    TSR_OWNED as_asked =
        NULL; /* an out= of uint8 takes input's elements as uint8 too, which makes zeros of fractions */
    if (c->out[0] != NULL && c->out[0]->dtype == TSR_UINT8 && x->dtype != TSR_BOOL) {
        TSR_TRY(tsr_tensor_new_cast(&as_asked, x, TSR_UINT8));
        x = as_asked;
    }
    TsrDtype out = c->out[0] != NULL ? c->out[0]->dtype : x->dtype == TSR_UINT8 ? TSR_UINT8 : TSR_BOOL;
    TsrStatus s = reduce_widened(&result, NULL, (TsrReduction){kind, x, dims, keepdim, NULL, {out, TSR_DTYPE_NONE}},
                                 TSR_DTYPE_NONE);
    return tsr_finish_move(c, s, result);
}

TsrStatus op_any(TsrOpCall *c) { return truth(c, TSR_R_ANY, &no_dim, false, true); }
TsrStatus op_any_dim(TsrOpCall *c) { return truth(c, TSR_R_ANY, &c->arg[1], c->arg[2].b, false); }
TsrStatus op_all(TsrOpCall *c) { return truth(c, TSR_R_ALL, &no_dim, false, true); }
TsrStatus op_all_dim(TsrOpCall *c) { return truth(c, TSR_R_ALL, &c->arg[1], c->arg[2].b, false); }

TsrStatus op_count_nonzero(TsrOpCall *c) {
    TsrTensor *x = c->arg[0].t, *result = NULL;
    uint64_t dims;
    TSR_TRY(tsr_dims_mask(&dims, &c->arg[1], tsr_ndim(x), true));
    bool along =
        c->arg[1].kind == TSR_ARG_INT ||
        (c->arg[1].kind == TSR_ARG_INTS && c->arg[1].n > 0); /* computed as a sum of comparisons, in any dtype */
    if (!along && !tsr_in(D_INT | D_FLOAT | D_COMPLEX | D_CHALF | D_BOOL, x->dtype))
        return tsr_not_implemented("nonzero_count_cpu", x->dtype);
    TsrStatus s = reduce_widened(
        &result, NULL, (TsrReduction){TSR_R_COUNT, x, dims, false, NULL, {TSR_INT64, TSR_DTYPE_NONE}}, TSR_DTYPE_NONE);
    return tsr_finish_move(c, s, result);
}

/* --- variance --- */

typedef struct Moments {
    const char *name; /* in messages: "std and var", "var_mean" */
    bool root, with_mean;
} Moments;

/* What is asked for: how far x spreads over dims (bit d: dimension d). */
typedef struct Spread {
    const TsrTensor *x;
    uint64_t dims;
    bool keepdim, root;
    double correction;
} Spread;

/* Of all elements of a float32 or float64 tensor: squares of distances from the mean, which is rounded to that dtype.
 */
static TsrStatus spread_all(TsrTensor **spread, Spread q, TsrReduceParams params) {
    const TsrTensor *x = q.x;
    TsrTensor *sum;
    TSR_TRY(tsr_reduce_new(&sum, NULL, &(TsrReduction){TSR_R_SUM, x, q.dims, false, NULL, {x->dtype, TSR_DTYPE_NONE}}));
    TsrStatus s = divide(sum, (double)x->numel);
    if (s == TSR_OK && !tsr_is_meta(x)) params.mean = tsr_scalar_to_double(tsr_scalar_load(sum->dtype, tsr_data(sum)));
    tsr_tensor_free(sum);
    TSR_TRY(s);
    return tsr_reduce_new(spread, NULL,
                          &(TsrReduction){TSR_R_SQUARES, x, q.dims, q.keepdim, &params, {x->dtype, TSR_DTYPE_NONE}});
}

static TsrStatus moments_real(TsrTensor **spread, TsrTensor **mean, Spread q) {
    const TsrTensor *x = q.x;
    TsrReduceParams params = {.correction = q.correction, .root = q.root};
    TsrDtype acc = accumulator_dtype(x->dtype);
    if (mean == NULL && acc == x->dtype && x->numel > 0 && !tsr_on_device(x) &&
        tsr_reduced_count(x, q.dims) == x->numel)
        return spread_all(spread, q, params);
    TsrReduction r = {TSR_R_MOMENTS, x, q.dims, q.keepdim, &params, {acc, mean != NULL ? acc : TSR_DTYPE_NONE}};
    TsrTensor *raw = NULL;
    TSR_TRY(reduce_widened(spread, mean != NULL ? &raw : NULL, r, x->dtype));
    if (mean == NULL) return TSR_OK;
    TsrStatus s = tsr_tensor_new_cast(mean, raw, x->dtype);
    tsr_tensor_free(raw);
    if (s != TSR_OK) tsr_tensor_reset(spread);
    return s;
}

/* All elements at once have a function of their own in PyTorch, of float and double, unless halves are computed in. */
static TsrStatus check_spread(TsrDtype d, TsrDtype computed, bool whole) {
    if (!whole || tsr_in(TSR_BITS_HALF, computed)) return tsr_require(D_FLOAT, computed, "std_cpu");
    if (d == TSR_FLOAT32 || d == TSR_FLOAT64) return TSR_OK;
    return tsr_error(TSR_RUNTIME_ERROR, "std_var_all: Unsupported dtype %s", tsr_dtype_scalar_name(d));
}

/* The same of a real tensor read as the dtype `computed`, that of an out= if there is one. */
static TsrStatus moments_as(TsrTensor **spread, TsrTensor **mean, Spread q, TsrDtype computed) {
    TSR_OWNED cast = NULL;
    bool whole = mean == NULL && tsr_reduced_count(q.x, q.dims) == q.x->numel;
    if (q.x->numel > 0) TSR_TRY(check_spread(q.x->dtype, computed, whole));
    if (q.x->dtype != computed && !tsr_dtype_is_complex(computed) && (!whole || tsr_in(TSR_BITS_HALF, computed))) {
        TSR_TRY(tsr_tensor_new_cast(&cast, q.x, computed));
        q.x = cast;
    }
    return moments_real(spread, mean, q);
}

/* The variance, and if asked for the mean, of one part of a complex tensor. */
static TsrTensor *part_moments(TsrScope *s, TsrTensor **mean, Spread q, TsrDtype computed) {
    TsrTensor *avg = NULL;
    if (s->status != TSR_OK) return NULL;
    TsrTensor *spread = tsr_scope_keep(s, moments_as(&s->next, mean != NULL ? &avg : NULL, q, computed));
    if (mean == NULL) return spread;
    s->next = avg;
    if (s->status == TSR_OK) *mean = tsr_scope_keep(s, TSR_OK);
    else tsr_tensor_free(avg);
    return spread;
}

/* The variances of the parts added, of which the root is taken in the dtype of an out=; the mean is complex. */
static TsrStatus moments_complex(TsrTensor **spread, TsrTensor **mean, Spread q, TsrDtype out) {
    TsrScope s = {0};
    TsrTensor *var[2], *avg[2] = {NULL, NULL};
    TsrTensor *part[2] = {MAKE(&s, tsr_tensor_new_real, q.x), MAKE(&s, tsr_tensor_new_imag, q.x)};
    for (int i = 0; i < 2; i++) {
        Spread of_part = {part[i], q.dims, q.keepdim, false, q.correction};
        var[i] = part_moments(&s, mean != NULL ? &avg[i] : NULL, of_part, tsr_dtype_real_of(out));
    }
    if (s.status == TSR_OK && tsr_in(TSR_BITS_FLOAT8, out)) s.status = tsr_not_implemented("add_stub", out);
    TsrTensor *sum = CALL(&s, "add", "tt", var[0], var[1]);
    if (q.root) sum = MAKE(&s, tsr_tensor_new_cast, sum, out);
    if (q.root) sum = CALL(&s, "sqrt", "t", sum);
    TsrTensor *joined = mean != NULL ? CALL(&s, "complex", "tt", avg[0], avg[1]) : NULL;
    if (s.status == TSR_OK && mean != NULL) *mean = tsr_tensor_retain(joined);
    return tsr_scope_end_new(spread, &s, sum);
}

static TsrStatus moments(TsrOpCall *c, Moments m, const TsrArg *dim, double correction, bool keepdim) {
    TsrTensor *x = c->arg[0].t, *spread = NULL, *mean = NULL;
    TsrDtype d = x->dtype;
    Spread q = {x, 0, keepdim, m.root, correction};
    if (!tsr_dtype_is_float(d) && !tsr_dtype_is_complex(d))
        return tsr_error(TSR_NOT_IMPLEMENTED_ERROR, "%s only support floating point and complex dtypes", m.name);
    TSR_TRY(tsr_dims_mask_in_turn(&q.dims, dim, tsr_ndim(x), true));
    TSR_TRY(tsr_check_out_fits(c, 0, tsr_dtype_real_of(d)));
    if (tsr_dtype_is_complex(d)) TSR_TRY(tsr_check_out_overlap(c->out[0], NULL)); /* it is added to */
    TsrDtype computed = c->out[0] != NULL ? c->out[0]->dtype : tsr_dtype_real_of(d);
    TSR_TRY((tsr_dtype_is_complex(d) ? moments_complex : moments_as)(&spread, m.with_mean ? &mean : NULL, q, computed));
    return m.with_mean ? tsr_return_move2(c, spread, mean) : tsr_return_move(c, spread);
}

/* The three overloads of each: all elements, dim with unbiased, dim with correction. */
#define MOMENTS(name, ...) \
    TsrStatus op_##name(TsrOpCall *c) { \
        return moments(c, (Moments){__VA_ARGS__}, &no_dim, c->arg[1].b ? 1 : 0, false); \
    } \
    TsrStatus op_##name##_dim(TsrOpCall *c) { \
        return moments(c, (Moments){__VA_ARGS__}, &c->arg[1], c->arg[2].b ? 1 : 0, c->arg[3].b); \
    } \
    TsrStatus op_##name##_correction(TsrOpCall *c) { \
        const TsrArg *given = &c->arg[2]; \
        bool complex = tsr_arg_given(given) && given->s.kind == TSR_SCALAR_COMPLEX && given->s.c.im != 0 && \
                       !is_whole(c->arg[0].t->dtype); /* which is refused first */ \
        if (complex) return tsr_error(TSR_RUNTIME_ERROR, "value cannot be converted to type double without overflow"); \
        double correction = tsr_arg_given(given) ? tsr_scalar_to_double(given->s) : 1; \
        return moments(c, (Moments){__VA_ARGS__}, &c->arg[1], correction, c->arg[3].b); \
    }
MOMENTS(var, "std and var", false, false)
MOMENTS(std, "std and var", true, false)
MOMENTS(var_mean, "var_mean", false, true)
MOMENTS(std_mean, "std_mean", true, true)

/* --- logsumexp --- */

enum { LOGSUMEXP_STEPWISE = 1 << 14 /* elements; the digits of more are those of one pass in double */ };

/* log(sum(exp(x - m))) + m step by step, as PyTorch has it, m the greatest real part (0 where infinite): for complex x,
 * for half floats, which are rounded at each step, for an out= of another dtype, and for what is small enough to be
 * read to the last digit. `into`: the dtype of the result, in which the powers are added up. */
static TsrStatus stepwise_logsumexp(TsrTensor **out, TsrTensor *x, const TsrArg *dim, bool keepdim, TsrDtype into) {
    TsrScope s = {0};
    TsrTensor *real = tsr_dtype_is_complex(x->dtype) ? MAKE(&s, tsr_tensor_new_real, x) : x;
    TsrTensor *high = CALL(&s, "amax", "tIb", real, dim->n, dim->ints, 1), *bad = CALL(&s, "isinf", "t", high);
    TsrTensor *zero = MAKE(&s, tsr_tensor_new_wrapped, tsr_scalar_int(0));
    TsrTensor *base = CALL(&s, "where", "ttt", bad, zero, high), *shifted = CALL(&s, "sub", "tt", x, base);
    TsrTensor *exact = CALL(&s, "exp", "t", shifted), *powers = MAKE(&s, tsr_tensor_new_cast, exact, into);
    TsrTensor *sum = CALL(&s, "sum", "tIb", powers, dim->n, dim->ints, 1), *log = CALL(&s, "log", "t", sum);
    TsrTensor *result = CALL(&s, "add", "tt", log, base);
    if (!keepdim) result = MAKE(&s, tsr_tensor_new_squeeze, result, dim->n, dim->ints);
    return tsr_scope_end_new(out, &s, result);
}

TsrStatus op_logsumexp(TsrOpCall *c) {
    TsrTensor *x = c->arg[0].t, *floats = NULL, *result = NULL;
    TsrDtype d = is_whole(x->dtype) ? tsr_default_dtype() : x->dtype;
    uint64_t dims;
    TSR_TRY(tsr_check_out_fits(c, 0, d));
    TSR_TRY(tsr_dims_mask(&dims, &c->arg[1], tsr_ndim(x), true));
    if (!tsr_in(D_FLOAT | D_COMPLEX, d))
        return tsr_not_implemented(d == TSR_COMPLEX32 || x->numel == 0 ? "exp_vml_cpu" : "max_values_cpu", d);
    if (c->arg[1].n == 0 && tsr_ndim(x) > 0 && x->numel > 0 &&
        !c->arg[2].b) { /* PyTorch takes an empty list for all at one step and for none at another */
        int64_t ones[TSR_MAX_DIMS];
        for (int i = 0; i < tsr_ndim(x); i++) ones[i] = 1;
        return tsr_error(TSR_RUNTIME_ERROR, "output with shape [] doesn't match the broadcast shape %s",
                         tsr_layout_text(tsr_ndim(x), ones));
    }
    TsrStatus s;
    const TsrTensor *given = c->out[0];
    bool empty = tsr_reduced_count(x, dims) == 0, other = given != NULL && given->dtype != d && !is_whole(given->dtype);
    if (x->numel == 0 && other) TSR_TRY(tsr_require(D_FLOAT | D_COMPLEX, given->dtype, "log_vml_cpu"));
    if ((tsr_dtype_is_complex(d) || tsr_on_device(x)) && empty) { /* the logarithm of nothing's sum */
        int n = 0;
        int64_t sizes[TSR_MAX_DIMS];
        for (int i = 0; i < tsr_ndim(x); i++)
            if (!tsr_dims_have(dims, i) || c->arg[2].b) sizes[n++] = tsr_dims_have(dims, i) ? 1 : x->sizes[i];
        TSR_TRY(tsr_tensor_new(&result, n, sizes, d, x->device));
        s = tsr_is_meta(result) ? TSR_OK : tsr_tensor_fill(result, tsr_scalar_float(-INFINITY));
        return tsr_finish_move(c, s, result);
    }
    bool steps = !empty && (tsr_on_device(x) || !tsr_in(D_FLOAT, d) || d == TSR_FLOAT16 || d == TSR_BFLOAT16 || other ||
                            x->numel <= LOGSUMEXP_STEPWISE);
    TSR_TRY(tsr_tensor_new_cast(&floats, x, steps ? d : accumulator_dtype(d)));
    if (steps) s = stepwise_logsumexp(&result, floats, &c->arg[1], c->arg[2].b, other ? given->dtype : d);
    else
        s = reduce_widened(
            &result, NULL,
            (TsrReduction){TSR_R_LOGSUMEXP, floats, dims, c->arg[2].b, NULL, {floats->dtype, TSR_DTYPE_NONE}}, d);
    tsr_tensor_free(floats);
    return tsr_finish_move(c, s, result);
}
