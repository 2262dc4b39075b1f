/* arange, range, linspace, logspace: sizes and dtypes by PyTorch's rules. The numbers themselves: fill_ranges.c. */
#include <math.h>
#include <string.h>

#include "create.h"
#include "core/op/shared.h"

static bool is_whole(TsrScalar s) {
    return s.kind == TSR_SCALAR_INT || s.kind == TSR_SCALAR_BOOL || s.kind == TSR_SCALAR_UINT;
}

static TsrStatus as_double(double *out, TsrScalar s) {
    if (s.kind == TSR_SCALAR_COMPLEX && s.c.im != 0)
        return tsr_error(TSR_RUNTIME_ERROR, "value cannot be converted to type double without overflow");
    *out = tsr_scalar_to_double(s);
    return TSR_OK;
}

static TsrStatus not_implemented(const char *kernel, TsrDtype d) {
    return tsr_error(TSR_NOT_IMPLEMENTED_ERROR, "\"%s\" not implemented for '%s'", kernel, tsr_dtype_scalar_name(d));
}

static bool is_plain_number(TsrDtype d) { /* what AT_DISPATCH_ALL_TYPES and the two halves cover */
    return d == TSR_UINT8 || d == TSR_INT8 || d == TSR_INT16 || d == TSR_INT32 || d == TSR_INT64 || d == TSR_FLOAT16 ||
           d == TSR_BFLOAT16 || d == TSR_FLOAT32 || d == TSR_FLOAT64;
}

static TsrStatus check_bounds(double start, double end, double step) {
    if (!isfinite(step)) return tsr_error(TSR_RUNTIME_ERROR, "step must be finite but got %g", step);
    if (step == 0) return tsr_error(TSR_RUNTIME_ERROR, "step must be nonzero");
    if (!isfinite(start) || !isfinite(end))
        return tsr_error(TSR_RUNTIME_ERROR, "unsupported range: %g -> %g", start, end);
    if ((step > 0 && end < start) || (step < 0 && end > start))
        return tsr_error(TSR_RUNTIME_ERROR, "upper bound and lower bound inconsistent with step sign");
    return TSR_OK;
}

/* The steps from start to end, rounded up, around the ends of 64 bits as PyTorch's. */
static int64_t count_whole(int64_t start, int64_t end, int64_t step) {
    uint64_t most = (uint64_t)end - (uint64_t)start + (uint64_t)step - (step > 0 ? 1 : UINT64_MAX);
    return step == -1 ? (int64_t)(0 - most) : (int64_t)most / step;
}

/* The first size that is none: PyTorch compares with the greatest as a double, which is this one. */
#define BEYOND 9223372036854775808.0
static TsrStatus one_too_many(void) { return tsr_layout_check_symbolic(1, &(int64_t){INT64_MIN}); }

/* How many steps lie in [start, end): exact in integers for int64, by doubles otherwise. */
static TsrStatus arange_count(int64_t *count, TsrScalar start, TsrScalar end, TsrScalar step, TsrDtype dtype) {
    double a = 0, b = 0, s = 1;
    TSR_TRY(as_double(&a, start));
    TSR_TRY(as_double(&b, end));
    TSR_TRY(as_double(&s, step));
    TSR_TRY(check_bounds(a, b, s));
    double n = ceil((b - a) / s);
    if (dtype == TSR_INT64) {
        char unused[8];
        TSR_TRY(tsr_scalar_store_checked(start, dtype, unused));
        TSR_TRY(tsr_scalar_store_checked(end, dtype, unused));
        TSR_TRY(tsr_scalar_store_checked(step, dtype, unused));
        int64_t by = tsr_scalar_to_int(step);
        if (by == 0) return tsr_error(TSR_RUNTIME_ERROR, "step must be nonzero");
        *count = count_whole(tsr_scalar_to_int(start), tsr_scalar_to_int(end), by);
        if (*count >= 0 && *count < INT64_C(1) << 53) return TSR_OK;
        n = (double)*count; /* as PyTorch counts, which shows where doubles have no longer each int */
    }
    if (n == BEYOND) return one_too_many();
    if (!(n >= 0 && n < BEYOND)) return tsr_error(TSR_RUNTIME_ERROR, "invalid size, possible overflow?");
    *count = (int64_t)n;
    return TSR_OK;
}

/* int64 with a fractional step 0 < |step| < 1 counts by the double formula as PyTorch does. */
static bool exact_count(TsrDtype dtype, TsrScalar start, TsrScalar end, TsrScalar step) {
    return dtype == TSR_INT64 && is_whole(start) && is_whole(end) && is_whole(step);
}

/* Gives the numbers back, where `status` is OK. An out= of as many elements keeps its shape. Consumes t, on failure
 * too. */
static TsrStatus give_numbers_move(TsrOpCall *c, TsrStatus status, TsrTensor *t) {
    const TsrTensor *out = c->out[0];
    if (status != TSR_OK || out == NULL || out->numel != t->numel) return tsr_finish_move(c, status, t);
    TsrTensor *shaped = NULL;
    status = tsr_tensor_new_reshaped_view(&shaped, t, tsr_ndim(out), out->sizes);
    tsr_tensor_free(t);
    return tsr_finish_move(c, status, shaped);
}

static TsrStatus make_arange(TsrOpCall *c, TsrScalar start, TsrScalar end, TsrScalar step, int options_at) {
    TsrOptions o;
    TSR_TRY(tsr_create_options(&o, c, options_at, TSR_DEVICE_CPU));
    TsrDtype dtype = o.dtype;
    if (dtype == TSR_DTYPE_NONE)
        dtype = is_whole(start) && is_whole(end) && is_whole(step) ? TSR_INT64 : tsr_default_dtype();
    if (!is_plain_number(dtype)) return not_implemented("arange_cpu", dtype);
    int64_t count;
    TSR_TRY(arange_count(&count, start, end, step, exact_count(dtype, start, end, step) ? TSR_INT64 : TSR_FLOAT64));
    TsrTensor *t;
    TSR_TRY(tsr_tensor_new(&t, 1, &count, dtype, o.device));
    TsrStatus status = tsr_is_meta(t) ? TSR_OK : tsr_create_fill_arange(t, start, step);
    return give_numbers_move(c, status, t);
}

TsrStatus op_arange_end(TsrOpCall *c) { return make_arange(c, tsr_scalar_int(0), c->arg[0].s, tsr_scalar_int(1), 1); }

TsrStatus op_arange(TsrOpCall *c) {
    bool has_step = c->nargs == 6;
    return make_arange(c, c->arg[0].s, c->arg[1].s, has_step ? c->arg[2].s : tsr_scalar_int(1), has_step ? 3 : 2);
}

TsrStatus op_range(TsrOpCall *c) {
    TsrOptions o;
    TSR_TRY(tsr_create_options(&o, c, 3, TSR_DEVICE_CPU));
    TsrDtype dtype = o.dtype == TSR_DTYPE_NONE ? tsr_default_dtype() : o.dtype;
    double start = 0, end = 0, step = 1;
    if (!is_plain_number(dtype)) return not_implemented("range_cpu", dtype);
    char unused[8];
    bool half = dtype == TSR_FLOAT16 || dtype == TSR_BFLOAT16;
    TsrDtype counted = tsr_dtype_is_integral(dtype) ? TSR_INT64 : half ? TSR_FLOAT32 : TSR_FLOAT64;
    for (int i = 0; i < 3; i++) TSR_TRY(tsr_scalar_store_checked(c->arg[i].s, counted, unused));
    TSR_TRY(as_double(&start, c->arg[0].s));
    TSR_TRY(as_double(&end, c->arg[1].s));
    TSR_TRY(as_double(&step, c->arg[2].s));
    TSR_TRY(check_bounds(start, end, step)); /* of the numbers as they are given, and as they are counted */
    if (counted == TSR_INT64) start = trunc(start), end = trunc(end), step = trunc(step);
    if (half) start = (float)start, end = (float)end, step = (float)step;
    TSR_TRY(check_bounds(start, end, step));
    double n = half ? (double)(((float)end - (float)start) / (float)step + 1) : (end - start) / step + 1;
    if (n >= BEYOND) return one_too_many();
    int64_t count = (int64_t)n;
    TsrTensor *t;
    TSR_TRY(tsr_tensor_new(&t, 1, &count, dtype, o.device));
    TsrStatus status = tsr_is_meta(t) ? TSR_OK : tsr_create_fill_arange(t, c->arg[0].s, c->arg[2].s);
    return give_numbers_move(c, status, t);
}

/* ---- linspace and logspace ---- */

static TsrStatus end_point(TsrScalar *out, const TsrOpCall *c, int i) {
    const TsrArg *a = &c->arg[i];
    if (a->kind == TSR_ARG_SCALAR) {
        *out = a->s;
        return TSR_OK;
    }
    if (tsr_is_meta(a->t)) { /* its kind is enough for what is made of it */
        *out = tsr_dtype_is_complex(a->t->dtype) ? tsr_scalar_complex(0, 0) : tsr_scalar_float(0);
        return TSR_OK;
    }
    return tsr_tensor_item(out, a->t);
}

static TsrStatus check_zero_dim(const TsrOpCall *c, const char *name) {
    int n0 = c->arg[0].kind == TSR_ARG_TENSOR ? tsr_ndim(c->arg[0].t) : 0,
        n1 = c->arg[1].kind == TSR_ARG_TENSOR ? tsr_ndim(c->arg[1].t) : 0;
    if (n0 == 0 && n1 == 0) return TSR_OK;
    bool both = c->arg[0].kind == c->arg[1].kind;
    if (both)
        return tsr_error(
            TSR_RUNTIME_ERROR,
            "%s only supports 0-dimensional start and end tensors, but got start with %d dimension(s) and end with "
            "%d dimension(s).",
            name, n0, n1);
    return tsr_error(TSR_RUNTIME_ERROR,
                     "%s only supports 0-dimensional start and end tensors, but got %s with %d dimension(s).", name,
                     n0 > 0 ? "start" : "end", n0 > 0 ? n0 : n1);
}

static bool has_imaginary_part(TsrScalar s) { return s.kind == TSR_SCALAR_COMPLEX && s.c.im != 0; }

/* An out= is written in its own dtype, which each number that is used must fit. */
static TsrStatus check_spaced_out(const TsrOpCall *c, TsrScalar start, TsrScalar end, int64_t steps) {
    TsrDtype d = c->out[0]->dtype;
    if (tsr_dtype_is_complex(d) ||
        !((steps > 0 && has_imaginary_part(start)) || (steps > 1 && has_imaginary_part(end))))
        return TSR_OK;
    char unused[16];
    bool power = steps == 1 && strcmp(c->schema->base, "logspace") == 0; /* of doubles */
    return tsr_scalar_store_checked(has_imaginary_part(start) ? start : end, power ? TSR_FLOAT64 : d, unused);
}

static TsrStatus spaced_dtype(TsrDtype *out, TsrDtype given, TsrScalar start, TsrScalar end, const char *name) {
    bool complex = start.kind == TSR_SCALAR_COMPLEX || end.kind == TSR_SCALAR_COMPLEX;
    TsrDtype inferred = complex ? tsr_default_complex() : tsr_default_dtype();
    if (complex && given != TSR_DTYPE_NONE && !tsr_dtype_is_complex(given))
        return tsr_error(TSR_RUNTIME_ERROR, "torch.%s(): inferred dtype %s can't be safely cast to passed dtype %s",
                         name, tsr_dtype_c_name(inferred), tsr_dtype_scalar_name(given));
    *out = given != TSR_DTYPE_NONE ? given : inferred;
    return TSR_OK;
}

typedef struct Spaced {
    TsrScalar start, end;
    TsrTensor *result;
} Spaced;

static TsrStatus begin_spaced(Spaced *s, TsrOpCall *c, int options_at, const char *kernel) {
    const char *name = c->schema->base;
    int64_t steps = c->arg[2].i;
    TsrOptions o;
    TSR_TRY(tsr_create_options(&o, c, options_at, TSR_DEVICE_CPU));
    TSR_TRY(check_zero_dim(c, name));
    TSR_TRY(end_point(&s->start, c, 0));
    TSR_TRY(end_point(&s->end, c, 1));
    if (steps < 0) return tsr_error(TSR_RUNTIME_ERROR, "number of steps must be non-negative");
    TsrDtype dtype = TSR_FLOAT32;
    bool into = c->out[0] != NULL && o.dtype == c->out[0]->dtype;
    if (into) dtype = o.dtype;
    else TSR_TRY(spaced_dtype(&dtype, o.dtype, s->start, s->end, name));
    bool known = is_plain_number(dtype) || dtype == TSR_COMPLEX64 || dtype == TSR_COMPLEX128;
    if (!known && steps > 1) return not_implemented(kernel, dtype);
    if (into) TSR_TRY(check_spaced_out(c, s->start, s->end, steps));
    return tsr_tensor_new(&s->result, 1, &steps, dtype, o.device);
}

TsrStatus op_linspace(TsrOpCall *c) {
    Spaced s;
    TSR_TRY(begin_spaced(&s, c, 3, "linspace_cpu"));
    TsrStatus status = TSR_OK;
    if (!tsr_is_meta(s.result) && s.result->numel > 0)
        status = s.result->numel == 1 ? tsr_tensor_fill(s.result, s.start)
                                      : tsr_create_fill_linspace(s.result, s.start, s.end);
    return give_numbers_move(c, status, s.result);
}

TsrStatus op_logspace(TsrOpCall *c) {
    Spaced s;
    TSR_TRY(begin_spaced(&s, c, 4, "logspace_cpu"));
    TsrStatus status = tsr_is_meta(s.result) || s.result->numel == 0
                           ? TSR_OK
                           : tsr_create_fill_logspace(s.result, s.start, s.end, c->arg[3].f);
    return give_numbers_move(c, status, s.result);
}
