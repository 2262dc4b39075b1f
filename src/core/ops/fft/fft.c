/* torch.fft: arguments as PyTorch reads them, strides as its MKL backend lays results out; fft.c transforms the lines.
 */
#include <math.h>
#include <string.h>

#include "core/engine/device.h"
#include "core/engine/fft.h"
#include "core/engine/places.h"
#include "lines.h"
#include "core/ops/create/create.h"
#include "core/ops/linalg/la.h"
#include "core/mem.h"
#include "core/op/compose.h"
#include "core/op/out.h"
#include "core/op/shared.h"
#include "core/tensor/loan.h"

/* ---- one transform along one dimension ---- */

/* Up to this length float32 is computed in double and rounded once, but for the short lengths that have PyTorch's own
 * roundings: the digits shown are then the true ones. */
enum { WIDE_LENGTH = 512 };

/* Sorts dims by falling stride of t, stable. */
static void sort_dims(int64_t *dims, int n, const TsrTensor *t) {
    for (int i = 1; i < n; i++)
        for (int k = i; k > 0 && t->strides[dims[k - 1]] < t->strides[dims[k]]; k--) {
            int64_t d = dims[k];
            dims[k] = dims[k - 1];
            dims[k - 1] = d;
        }
}

/* Whether PyTorch hands the lines to MKL where they lie, each with gaps: the other dimensions merge into one, and the
 * line's own stride is not 1. Else it copies them first. MKL has kernels of their own for means only where lines are
 * dense, and, with several threads, for real ones only of a single line. */
static bool lines_have_gaps(const TsrTensor *t, int dim) {
    int64_t others[TSR_MAX_DIMS];
    int n = 0;
    for (int d = 0; d < tsr_ndim(t); d++)
        if (d != dim && t->sizes[d] != 1) others[n++] = d;
    sort_dims(others, n, t);
    for (int i = 0; i + 1 < n; i++)
        if (t->strides[others[i]] != t->strides[others[i + 1]] * t->sizes[others[i + 1]]) return false;
    return t->strides[dim] != 1;
}

static TsrStatus transform_there(const TsrFftLines *lines) {
    const TsrTensor *in = lines->in, *out = lines->out;
    const TsrDeviceFft how = {lines->kind, lines->forward, lines->n, lines->scale};
    TsrDeviceWork work = {
        .what = TSR_P_FFT, .dim = tsr_ndim(in) - 1 - lines->dim, .params = &how, .nparams = sizeof how};
    TSR_TRY(tsr_device_work_add(&work, out, true));
    TSR_TRY(tsr_device_work_add(&work, in, false));
    return tsr_device_work(out->device.type, &work);
}

/* out (any strides, may be `in` itself for c2c) receives the transform of `in`; plan and wide are found here. */
static TsrStatus transform(TsrFftLines lines) {
    const TsrTensor *in = lines.in, *out = lines.out;
    TsrFftLine kind = lines.kind;
    int64_t n = lines.n;
    if (out->numel == 0) return TSR_OK;
    if (tsr_on_device(out)) return transform_there(&lines);
    TsrFft *plan;
    TsrFftKind known = kind == TSR_FFT_C2C   ? TSR_FFT_COMPLEX
                       : kind == TSR_FFT_C2R ? TSR_FFT_TO_REAL
                                             : TSR_FFT_FROM_REAL;
    bool mean = n > 1 && lines.scale == 1 / (double)n && (kind == TSR_FFT_C2C || in->numel == in->sizes[lines.dim]) &&
                !lines_have_gaps(in, lines.dim);
    lines.wide = (n <= WIDE_LENGTH && !tsr_fft_is_exact(n, known)) || tsr_dtype_real_of(out->dtype) == TSR_FLOAT64;
    int64_t least = tsr_fft_least_split(out->numel / out->sizes[lines.dim]);
    TSR_TRY(tsr_fft_take_new(&plan, (TsrFftWish){n, least, known, lines.wide, mean}));
    lines.plan = plan;
    TsrStatus s = tsr_fft_lines_run(&lines);
    if (s == TSR_OK && !tsr_interrupt_pending()) tsr_fft_keep_move(plan);
    else tsr_fft_free(plan);
    return s;
}

/* ---- layout of results ---- */

/* The batch dimensions come first in the stride order of the input, then the transformed ones in the order given, all
 * dense. */
static TsrStatus result_new(TsrTensor **out, const TsrTensor *in, const int64_t *sizes, const int64_t *dims, int ndims,
                            TsrDtype dtype) {
    int64_t order[TSR_MAX_DIMS], strides[TSR_MAX_DIMS], dense = 1;
    bool transformed[TSR_MAX_DIMS] = {false};
    int n = 0, d = tsr_ndim(in);
    for (int i = 0; i < ndims; i++) transformed[dims[i]] = true;
    /* What is not transformed trades places with what is, from both ends: so PyTorch's partition leaves dimensions of
     * one stride. */
    for (int i = 0, last = d - 1; i <= last; i++) {
        int k = i;
        if (transformed[i]) {
            while (last > i && transformed[last]) last--;
            if (last <= i) break;
            k = last--;
        }
        order[n++] = k;
    }
    sort_dims(order, n, in);
    int nbatch = n;
    for (int i = 0; i < ndims; i++) order[n++] = dims[i];
    for (int i = d - 1; i >= nbatch; i--) {
        strides[order[i]] = dense;
        dense *= TSR_MAX(sizes[order[i]], 1);
    }
    int64_t batch = 1;
    for (int i = nbatch - 1; i >= 0; i--) {
        strides[order[i]] = batch * dense;
        batch *= sizes[order[i]];
    }
    bool empty = batch == 0;
    for (int i = 0; i < d; i++) empty = empty || sizes[i] == 0;
    if (empty) return tsr_tensor_new(out, d, sizes, dtype, in->device);
    return tsr_tensor_new_strided(out, d, sizes, strides, dtype, in->device);
}

static double scale_of(int norm, const int64_t *sizes, const int64_t *dims, int n) {
    double total = 1;
    for (int i = 0; i < n; i++) total *= (double)sizes[dims[i]];
    return norm == 0 ? 1 : norm == 1 ? 1 / sqrt(total) : 1 / total;
}

enum { NORM_NONE, NORM_ROOT, NORM_BY_N };

static TsrStatus c2c(TsrTensor **out, const TsrTensor *in, const int64_t *dims0, int n, int norm, bool forward) {
    TSR_OWNED r = NULL;
    int64_t dims[TSR_MAX_DIMS];
    if (n == 0) return tsr_tensor_new_clone(out, in, TSR_PRESERVE);
    memcpy(dims, dims0, sizeof(int64_t) * (size_t)n);
    sort_dims(dims, n, in);
    TSR_TRY(result_new(&r, in, in->sizes, dims, n, in->dtype));
    for (int i = n - 1; i >= 0 && !tsr_is_meta(r); i--) {
        double scale = i == 0 ? scale_of(norm, in->sizes, dims, n) : 1;
        TSR_TRY(transform((TsrFftLines){.in = i == n - 1 ? in : r,
                                        .out = r,
                                        .dim = (int)dims[i],
                                        .kind = TSR_FFT_C2C,
                                        .n = in->sizes[dims[i]],
                                        .forward = forward,
                                        .scale = scale}));
    }
    *out = tsr_owned_take(&r);
    return TSR_OK;
}

/* tsr_fft_lines_mirror by other operators: what is left out along the last of dims is the conjugate of what stands
 * there backwards; along the others too, but for their first element. */
static TsrStatus mirror_there(TsrTensor *t, const int64_t *dims, int n) {
    TsrScope s = {0};
    const int64_t last = dims[n - 1], length = t->sizes[last], half = length / 2 + 1;
    int64_t ones[TSR_MAX_DIMS];
    if (half == length) return TSR_OK;
    for (int i = 0; i < n; i++) ones[i] = 1;
    TsrTensor *rest = SLICE(&s, t, (int)last, half, length), *known = SLICE(&s, t, (int)last, 1, length - half + 1),
              *flipped = CALL(&s, "flip", "tI", known, n, dims);
    if (n > 1) flipped = CALL(&s, "roll", "tII", flipped, n - 1, ones, n - 1, dims);
    TsrTensor *turned = MAKE(&s, tsr_tensor_new_conj, flipped);
    if (s.status == TSR_OK) s.status = tsr_tensor_copy(rest, turned);
    return tsr_scope_end(&s);
}

/* The last of dims is the real one. All other transforms are of the first half along it, the second one's is the same
 * turned about. */
static TsrStatus r2c(TsrTensor **out, const TsrTensor *in, const int64_t *dims0, int n, int norm, bool onesided) {
    TSR_OWNED r = NULL;
    TSR_OWNED half = NULL;
    int64_t dims[TSR_MAX_DIMS], sizes[TSR_MAX_DIMS], last = dims0[n - 1], length = in->sizes[last];
    memcpy(dims, dims0, sizeof(int64_t) * (size_t)n);
    memcpy(sizes, in->sizes, sizeof(int64_t) * (size_t)tsr_ndim(in));
    if (onesided) sizes[last] = length / 2 + 1;
    sort_dims(dims, n - 1, in);
    TSR_TRY(result_new(&r, in, sizes, dims, n, tsr_dtype_complex_of(in->dtype)));
    double scale = scale_of(norm, in->sizes, dims, n);
    if (!tsr_is_meta(r)) {
        TSR_TRY(tsr_tensor_new_slice(&half, r, (int)last, 0, length / 2 + 1, 1));
        TSR_TRY(transform((TsrFftLines){.in = in,
                                        .out = half,
                                        .dim = (int)last,
                                        .kind = TSR_FFT_R2C,
                                        .n = length,
                                        .forward = true,
                                        .scale = n == 1 ? scale : 1}));
        for (int i = n - 2; i >= 0; i--)
            TSR_TRY(transform((TsrFftLines){.in = half,
                                            .out = half,
                                            .dim = (int)dims[i],
                                            .kind = TSR_FFT_C2C,
                                            .n = in->sizes[dims[i]],
                                            .forward = true,
                                            .scale = i == 0 ? scale : 1}));
        if (!onesided) TSR_TRY((tsr_on_device(r) ? mirror_there : tsr_fft_lines_mirror)(r, dims, n));
    }
    *out = tsr_owned_take(&r);
    return TSR_OK;
}

static TsrStatus c2r(TsrTensor **out, const TsrTensor *in, const int64_t *dims, int n, int norm, int64_t length) {
    TSR_OWNED first = NULL;
    TSR_OWNED r = NULL;
    int64_t sizes[TSR_MAX_DIMS], last = dims[n - 1];
    if (n > 1) TSR_TRY(c2c(&first, in, dims, n - 1, norm, false));
    const TsrTensor *half = n > 1 ? first : in;
    memcpy(sizes, half->sizes, sizeof(int64_t) * (size_t)tsr_ndim(half));
    sizes[last] = length;
    TSR_TRY(result_new(&r, half, sizes, &last, 1, tsr_dtype_real_of(in->dtype)));
    if (!tsr_is_meta(r))
        TSR_TRY(transform((TsrFftLines){.in = half,
                                        .out = r,
                                        .dim = (int)last,
                                        .kind = TSR_FFT_C2R,
                                        .n = length,
                                        .scale = scale_of(norm, sizes, &last, 1)}));
    *out = tsr_owned_take(&r);
    return TSR_OK;
}

/* ---- arguments ---- */

static TsrStatus read_norm(int *norm, const TsrArg *arg, bool forward) {
    const char *text = tsr_arg_given(arg) ? arg->str : "backward";
    if (strcmp(text, "backward") == 0) *norm = forward ? NORM_NONE : NORM_BY_N;
    else if (strcmp(text, "forward") == 0) *norm = forward ? NORM_BY_N : NORM_NONE;
    else if (strcmp(text, "ortho") == 0) *norm = NORM_ROOT;
    else return tsr_error(TSR_RUNTIME_ERROR, "Invalid normalization mode: \"%s\"", text);
    return TSR_OK;
}

/* Refuses an out= that is real where numbers are complex, or the other way about; hfftn's PyTorch looks at last. */
static TsrStatus check_out_kind(const TsrOpCall *c) {
    bool real = c->op->out_rule == TSR_RULE_FLOATING || c->op->out_rule == TSR_RULE_IRFFTN;
    if (c->out[0] == NULL || c->op->out_rule == TSR_RULE_HFFTN) return TSR_OK;
    if (tsr_dtype_is_complex(c->out[0]->dtype) != real) return TSR_OK;
    return tsr_check_out_dtype(c, 0, real ? TSR_FLOAT32 : TSR_COMPLEX64);
}

static TsrStatus no_halves(void) {
    return tsr_error(TSR_NOT_IMPLEMENTED_ERROR, "MKL FFT doesn't support tensors of type: Half");
}

/* `line`: along one dimension, where PyTorch looks at out= before it refuses halves. */
static TsrStatus promote(TsrTensor **out, const TsrOpCall *c, bool need_complex, bool line) {
    const TsrTensor *in = c->arg[0].t;
    TsrDtype d = in->dtype;
    if (!tsr_dtype_is_float(d) && !tsr_dtype_is_complex(d)) d = tsr_default_dtype();
    TsrDtype real = tsr_dtype_real_of(d);
    if (d == TSR_COMPLEX32) return tsr_tensor_new_cast(out, in, TSR_COMPLEX64); /* refused when there is work */
    bool unsupported = real != TSR_FLOAT32 && real != TSR_FLOAT64;
    if (line && unsupported) TSR_TRY(check_out_kind(c));
    if (unsupported) return tsr_error(TSR_NOT_IMPLEMENTED_ERROR, "Unsupported dtype %s", tsr_dtype_scalar_name(d));
    if (need_complex) d = tsr_dtype_complex_of(d);
    return tsr_tensor_new_cast(out, in, d);
}

static TsrStatus bad_length(int64_t n) {
    return tsr_error(TSR_RUNTIME_ERROR, "Invalid number of data points (%lld) specified", (long long)n);
}

/* Cuts or zero-pads the dimensions to the sizes given. */
static TsrStatus resize_input(TsrTensor **out, const TsrTensor *in, const int64_t *dims, const int64_t *sizes, int n) {
    TSR_OWNED cut = tsr_tensor_retain((TsrTensor *)in);
    TSR_OWNED part = NULL;
    TSR_OWNED r = NULL;
    int64_t full[TSR_MAX_DIMS];
    bool pad = false;
    TsrTensor *next;
    memcpy(full, in->sizes, sizeof(int64_t) * (size_t)tsr_ndim(in));
    for (int i = 0; i < n; i++) {
        if (sizes[i] < cut->sizes[dims[i]]) {
            TSR_TRY(tsr_tensor_new_narrow(&next, cut, dims[i], 0, sizes[i]));
            tsr_owned_put_move(&cut, next);
        }
        pad |= sizes[i] > in->sizes[dims[i]];
        full[dims[i]] = sizes[i];
    }
    if (!pad) {
        *out = tsr_owned_take(&cut);
        return TSR_OK;
    }
    TSR_TRY(tsr_tensor_new(&r, tsr_ndim(in), full, in->dtype, in->device));
    if (!tsr_is_meta(r)) {
        TSR_TRY(tsr_tensor_fill(r, tsr_scalar_int(0)));
        part = tsr_tensor_retain(r);
        for (int d = 0; d < tsr_ndim(in); d++) {
            TSR_TRY(tsr_tensor_new_narrow(&next, part, d, 0, cut->sizes[d]));
            tsr_owned_put_move(&part, next);
        }
        TSR_TRY(tsr_tensor_copy(part, cut));
    }
    *out = tsr_owned_take(&r);
    return TSR_OK;
}

/* ---- one dimension ---- */

static TsrStatus check_real(const TsrTensor *in, const char *name) {
    if (!tsr_dtype_is_complex(in->dtype)) return TSR_OK;
    return tsr_error(TSR_TYPE_ERROR, "%s expects a real%s input tensor, but got %s", name,
                     name[strlen(name) - 1] == 'n' ? "-valued" : "", tsr_dtype_scalar_name(in->dtype));
}

/* Complex halves can be transformed where there are none. */
static TsrStatus check_halves(const TsrOpCall *c, const TsrTensor *x) {
    return c->arg[0].t->dtype == TSR_COMPLEX32 && x->numel > 0 ? no_halves() : TSR_OK;
}

/* A result that is to be of halves because the input is, of the wider dtype in which it was made. */
static TsrStatus finish_halves_move(TsrOpCall *c, TsrTensor *wide) {
    TSR_OWNED r = wide;
    TsrTensor *half = NULL;
    if (c->arg[0].t->dtype != TSR_COMPLEX32) return tsr_return_move(c, tsr_owned_take(&r));
    TSR_TRY(tsr_tensor_new_cast(&half, r, tsr_dtype_is_complex(r->dtype) ? TSR_COMPLEX32 : TSR_FLOAT16));
    return tsr_return_move(c, half);
}

/* Arguments (self, n, dim, norm) with the length cut or padded. */
static TsrStatus prepare_1d(TsrTensor **x, int64_t *dim, int *norm, const TsrOpCall *c, bool need_complex,
                            bool forward) {
    TSR_OWNED in = NULL;
    TSR_TRY(promote(&in, c, need_complex, true));
    *dim = c->arg[2].i;
    TSR_TRY(tsr_wrap_own_dim(dim, tsr_ndim(in)));
    int64_t n = tsr_arg_given(&c->arg[1]) ? c->arg[1].i : in->sizes[*dim];
    if (n < 1) return bad_length(n);
    TSR_TRY(read_norm(norm, &c->arg[3], forward));
    if (tsr_dtype_is_complex(c->arg[0].t->dtype)) TSR_TRY(check_out_kind(c));
    TSR_TRY(resize_input(x, in, dim, &n, 1));
    return check_halves(c, *x);
}

/* The conjugate, as a view. An out of other sizes then lies as t does. */
static TsrStatus return_conj(TsrOpCall *c, TsrTensor *t) {
    TsrTensor *r = NULL, *out = c->out[0];
    if (out != NULL && out->dtype != t->dtype)
        return tsr_error(TSR_RUNTIME_ERROR, "Found dtype %s but expected %s", tsr_dtype_scalar_name(out->dtype),
                         tsr_dtype_scalar_name(t->dtype));
    TSR_TRY(tsr_check_out_overlap(out, NULL));
    if (out != NULL && !tsr_same_sizes(out, t)) {
        TSR_TRY(tsr_tensor_resize(out, tsr_ndim(t), t->sizes, TSR_CONTIGUOUS));
        TSR_TRY(tsr_tensor_set_geometry(out, (TsrGeometry){tsr_ndim(t), t->sizes, t->strides, out->offset}));
    }
    return tsr_finish_move(c, tsr_tensor_new_conj(&r, t), r);
}

static TsrStatus fft_1d(TsrOpCall *c, bool forward) {
    TSR_OWNED x = NULL;
    TsrTensor *r = NULL;
    int64_t dim;
    int norm;
    if (!tsr_dtype_is_complex(c->arg[0].t->dtype)) TSR_TRY(tsr_check_out_fits(c, 0, TSR_COMPLEX64));
    TSR_TRY(prepare_1d(&x, &dim, &norm, c, false, forward));
    if (tsr_dtype_is_complex(x->dtype)) {
        TSR_TRY(c2c(&r, x, &dim, 1, norm, forward));
        return finish_halves_move(c, r);
    }
    TSR_TRY(r2c(&r, x, &dim, 1, norm, false));
    if (forward) return tsr_return_move(c, r);
    TSR_OWNED full = r;
    return return_conj(c, full);
}
TsrStatus op_fft(TsrOpCall *c) { return fft_1d(c, true); }
TsrStatus op_ifft(TsrOpCall *c) { return fft_1d(c, false); }

static TsrStatus rfft_1d(TsrOpCall *c, bool forward) {
    TSR_OWNED x = NULL;
    TSR_OWNED half = NULL;
    int64_t dim;
    int norm;
    TSR_TRY(check_real(c->arg[0].t, forward ? "rfft" : "ihfft"));
    TSR_TRY(tsr_check_out_fits(c, 0, TSR_COMPLEX64));
    TSR_TRY(prepare_1d(&x, &dim, &norm, c, false, forward));
    TSR_TRY(r2c(&half, x, &dim, 1, norm, true));
    if (forward) return tsr_return_move(c, tsr_owned_take(&half));
    return return_conj(c, half);
}
TsrStatus op_rfft(TsrOpCall *c) { return rfft_1d(c, true); }
TsrStatus op_ihfft(TsrOpCall *c) { return rfft_1d(c, false); }

static TsrStatus conj_of(TsrTensor **slot) {
    TSR_OWNED lazy = NULL;
    TsrTensor *r;
    TSR_TRY(tsr_tensor_new_conj(&lazy, *slot));
    TSR_TRY(tsr_tensor_new_resolved(&r, lazy));
    tsr_owned_put_move(slot, r);
    return TSR_OK;
}

static TsrStatus irfft_1d(TsrOpCall *c, bool forward) {
    TSR_OWNED in = NULL;
    TSR_OWNED x = NULL;
    TsrTensor *r = NULL;
    int norm;
    TSR_TRY(tsr_check_out_fits(c, 0, TSR_FLOAT32));
    TSR_TRY(promote(&in, c, true, true));
    int64_t dim = c->arg[2].i;
    TSR_TRY(tsr_wrap_own_dim(&dim, tsr_ndim(in)));
    int64_t n = tsr_arg_given(&c->arg[1]) ? c->arg[1].i : 2 * (in->sizes[dim] - 1), half = n / 2 + 1;
    if (n < 1) return bad_length(n);
    TSR_TRY(read_norm(&norm, &c->arg[3], forward));
    TSR_TRY(resize_input(&x, in, &dim, &half, 1));
    TSR_TRY(check_halves(c, x));
    if (forward) TSR_TRY(conj_of(&x));
    TSR_TRY(c2r(&r, x, &dim, 1, norm, n));
    return finish_halves_move(c, r);
}
TsrStatus op_irfft(TsrOpCall *c) { return irfft_1d(c, false); }
TsrStatus op_hfft(TsrOpCall *c) { return irfft_1d(c, true); }

/* ---- several dimensions ---- */

typedef struct Shape {
    int n;
    int64_t dims[TSR_MAX_DIMS], sizes[TSR_MAX_DIMS];
} Shape;

static TsrStatus read_dims(Shape *s, const TsrTensor *in, const TsrArg *dim) {
    bool seen[TSR_MAX_DIMS] = {false};
    s->n = dim->n;
    if (dim->n > TSR_MAX_DIMS) return tsr_error(TSR_RUNTIME_ERROR, "FFT dims must be unique");
    for (int i = 0; i < s->n; i++) {
        s->dims[i] = dim->ints[i];
        TSR_TRY(tsr_wrap_own_dim(&s->dims[i], tsr_ndim(in)));
    }
    for (int i = 0; i < s->n; i++) {
        if (seen[s->dims[i]]) return tsr_error(TSR_RUNTIME_ERROR, "FFT dims must be unique");
        seen[s->dims[i]] = true;
    }
    return TSR_OK;
}

/* The dimensions and their lengths from s= and dim=; for c2r the last length is not checked here. */
static TsrStatus read_shape(Shape *s, const TsrTensor *in, const TsrArg *size, const TsrArg *dim) {
    int d = tsr_ndim(in);
    *s = (Shape){0};
    if (tsr_arg_given(dim)) TSR_TRY(read_dims(s, in, dim));
    if (tsr_arg_given(size)) {
        if (tsr_arg_given(dim) && dim->n != size->n)
            return tsr_error(TSR_RUNTIME_ERROR, "When given, dim and shape arguments must have the same length");
        if (size->n > d)
            return tsr_error(TSR_RUNTIME_ERROR, "Got shape with %d values but input tensor only has %d dimensions.",
                             size->n, d);
        if (!tsr_arg_given(dim))
            for (int i = 0; i < size->n; i++) s->dims[i] = d - size->n + i;
        s->n = size->n;
    } else if (!tsr_arg_given(dim)) {
        s->n = d;
        for (int i = 0; i < d; i++) s->dims[i] = i;
    }
    for (int i = 0; i < s->n; i++) {
        bool own = !tsr_arg_given(size) || size->ints[i] == -1;
        s->sizes[i] = own ? in->sizes[s->dims[i]] : size->ints[i];
        if (s->sizes[i] < 1) return bad_length(s->sizes[i]);
    }
    return TSR_OK;
}

static TsrStatus need_axis(const Shape *s, const char *name) {
    return s->n > 0 ? TSR_OK : tsr_error(TSR_RUNTIME_ERROR, "%s must transform at least one axis", name);
}

/* Arguments (self, s, dim, norm) with the lengths cut or padded; the shape is read already. */
static TsrStatus prepare_nd(TsrTensor **x, int *norm, const TsrOpCall *c, const Shape *s, bool need_complex,
                            bool forward) {
    TSR_OWNED in = NULL;
    bool nothing = s->n == 0 && c->arg[0].t->dtype == TSR_COMPLEX32 && need_complex; /* to transform */
    if (nothing) return tsr_tensor_new_clone(x, c->arg[0].t, TSR_PRESERVE);
    TSR_TRY(promote(&in, c, need_complex, false));
    TSR_TRY(read_norm(norm, &c->arg[3], forward));
    if (c->arg[0].t->dtype == TSR_COMPLEX32) TSR_TRY(check_out_kind(c));
    TSR_TRY(resize_input(x, in, s->dims, s->sizes, s->n));
    return check_halves(c, *x);
}

static TsrStatus fft_nd(TsrOpCall *c, bool forward) {
    TSR_OWNED x = NULL;
    TsrTensor *r = NULL;
    Shape s;
    int norm;
    TSR_TRY(read_shape(&s, c->arg[0].t, &c->arg[1], &c->arg[2]));
    TSR_TRY(prepare_nd(&x, &norm, c, &s, true, forward));
    TSR_TRY(c2c(&r, x, s.dims, s.n, norm, forward));
    return finish_halves_move(c, r);
}
TsrStatus op_fftn(TsrOpCall *c) { return fft_nd(c, true); }
TsrStatus op_ifftn(TsrOpCall *c) { return fft_nd(c, false); }

TsrStatus op_rfftn(TsrOpCall *c) {
    TSR_OWNED x = NULL;
    TsrTensor *r = NULL;
    Shape s;
    int norm;
    TSR_TRY(check_real(c->arg[0].t, "rfftn"));
    TSR_TRY(read_shape(&s, c->arg[0].t, &c->arg[1], &c->arg[2]));
    TSR_TRY(need_axis(&s, "rfftn"));
    TSR_TRY(prepare_nd(&x, &norm, c, &s, false, true));
    return tsr_finish_move(c, r2c(&r, x, s.dims, s.n, norm, true), r);
}

static TsrStatus check_single_out(const TsrOpCall *c, TsrDtype want) {
    if (c->out[0] == NULL || c->out[0]->dtype == want) return TSR_OK;
    return tsr_error(TSR_RUNTIME_ERROR, "Found dtype %s but expected %s", tsr_dtype_scalar_name(want),
                     tsr_dtype_scalar_name(c->out[0]->dtype));
}

TsrStatus op_ihfftn(TsrOpCall *c) {
    TSR_OWNED x = NULL;
    TSR_OWNED half = NULL;
    TsrTensor *r = NULL;
    Shape s;
    int norm;
    TSR_TRY(read_shape(&s, c->arg[0].t, &c->arg[1], &c->arg[2]));
    TSR_TRY(need_axis(&s, "ihfftn"));
    if (tsr_dtype_is_complex(c->arg[0].t->dtype))
        return tsr_error(TSR_TYPE_ERROR, "Only supports floating-point dtypes, but found: %s",
                         tsr_dtype_scalar_name(c->arg[0].t->dtype));
    TSR_TRY(prepare_nd(&x, &norm, c, &s, false, false));
    TSR_TRY(r2c(&half, x, &s.dims[s.n - 1], 1, norm, true));
    if (s.n == 1) TSR_TRY(check_single_out(c, half->dtype));
    if (s.n == 1 && c->out[0] != NULL)
        return tsr_return_move(c, tsr_tensor_retain(c->out[0])); /* PyTorch leaves out as it was */
    if (s.n == 1) return tsr_finish_move(c, tsr_tensor_new_conj(&r, half), r);
    TSR_TRY(conj_of(&half));
    return tsr_finish_move(c, c2c(&r, half, s.dims, s.n - 1, norm, false), r);
}

/* For c2r the last size counts the real output; the input holds half of it. */
static TsrStatus read_shape_c2r(Shape *s, int64_t *length, const TsrTensor *in, const TsrArg *size, const TsrArg *dim,
                                const char *name) {
    TSR_TRY(read_shape(s, in, size, dim));
    TSR_TRY(need_axis(s, name));
    bool given = tsr_arg_given(size) && size->ints[s->n - 1] != -1;
    *length = given ? s->sizes[s->n - 1] : 2 * (in->sizes[s->dims[s->n - 1]] - 1);
    if (*length < 1) return bad_length(*length);
    s->sizes[s->n - 1] = *length / 2 + 1;
    return TSR_OK;
}

TsrStatus op_irfftn(TsrOpCall *c) {
    TSR_OWNED x = NULL;
    TsrTensor *r = NULL;
    Shape s;
    int64_t length;
    int norm;
    TSR_TRY(read_shape_c2r(&s, &length, c->arg[0].t, &c->arg[1], &c->arg[2], "irfftn"));
    TSR_TRY(prepare_nd(&x, &norm, c, &s, true, false));
    TSR_TRY(c2r(&r, x, s.dims, s.n, norm, length));
    return finish_halves_move(c, r);
}

TsrStatus op_hfftn(TsrOpCall *c) {
    TSR_OWNED x = NULL;
    TSR_OWNED t = NULL;
    TsrTensor *r = NULL;
    Shape s;
    int64_t length;
    int norm;
    TSR_TRY(read_shape_c2r(&s, &length, c->arg[0].t, &c->arg[1], &c->arg[2], "hfftn"));
    bool halves = c->arg[0].t->dtype == TSR_COMPLEX32; /* of one dimension, refused after a complex out= */
    if (s.n == 1 && halves && c->out[0] != NULL && tsr_dtype_is_complex(c->out[0]->dtype))
        return tsr_check_out_dtype(c, 0, TSR_FLOAT32);
    TSR_TRY(prepare_nd(&x, &norm, c, &s, true, true));
    if (s.n > 1) TSR_TRY(c2c(&t, x, s.dims, s.n - 1, norm, true));
    else t = tsr_tensor_retain(x);
    TSR_TRY(conj_of(&t));
    TSR_TRY(c2r(&r, t, &s.dims[s.n - 1], 1, norm, length));
    return finish_halves_move(c, r);
}

/* ---- frequencies and shifts ---- */

/* An out= of as many elements keeps its shape; those at and after the middle are made negative along its first
 * dimension, where that holds them all. */
static bool keeps_shape(const TsrOpCall *c, int64_t count) {
    return c->out[0] != NULL && c->out[0]->numel == count && tsr_ndim(c->out[0]) != 1;
}

/* 0, 1, 2 ... in `r`, and from `turn` on -(count - turn), ..., -1. */
static TsrStatus count_there(TsrTensor *r, int64_t turn) {
    TSR_OWNED whole = NULL;
    TSR_OWNED shaped = NULL;
    TSR_TRY(tsr_tensor_new(&whole, 1, &r->numel, TSR_INT64, r->device));
    TSR_TRY(tsr_create_fill_arange(whole, tsr_scalar_int(0), tsr_scalar_int(1)));
    if (turn < r->numel) {
        TSR_OWNED below = NULL;
        TSR_TRY(tsr_tensor_new_slice(&below, whole, 0, turn, r->numel, 1));
        TSR_TRY(tsr_create_fill_arange(below, tsr_scalar_int(turn - r->numel), tsr_scalar_int(1)));
    }
    TSR_TRY(tsr_tensor_new_reshaped_view(&shaped, whole, tsr_ndim(r), r->sizes));
    return tsr_tensor_copy(r, shaped);
}

static TsrStatus frequencies(TsrOpCall *c, bool half) {
    int64_t n = c->arg[0].i;
    double d = c->arg[1].f;
    TsrOptions o;
    TSR_TRY(tsr_create_options(&o, c, 2, TSR_DEVICE_CPU));
    TsrDtype dtype = o.dtype != TSR_DTYPE_NONE ? o.dtype : tsr_default_dtype();
    TsrDevice device = o.device;
    TSR_OWNED r = NULL;
    TSR_OWNED there = NULL;
    TsrTensor *scaled = NULL;
    int64_t count = half ? n / 2 + 1 : n;
    if (c->out[0] == NULL && count < 0)
        return tsr_error(TSR_RUNTIME_ERROR, "Trying to create tensor with negative dimension %lld: [%lld]",
                         (long long)count, (long long)count);
    if (!tsr_dtype_is_float(dtype) && !tsr_dtype_is_complex(dtype))
        return tsr_error(TSR_RUNTIME_ERROR, "%s requires a floating point or complex dtype",
                         half ? "rfftfreq" : "fftfreq");
    TSR_TRY(tsr_require(TSR_BITS_FLOAT, dtype, "arange_cpu"));
    if (c->out[0] != NULL && count < 0)
        return tsr_error(TSR_RUNTIME_ERROR, "upper bound and lower bound inconsistent with step sign");
    const TsrTensor *shape = keeps_shape(c, count) ? c->out[0] : NULL;
    if (shape != NULL && tsr_ndim(shape) == 0 && !half)
        return tsr_error(TSR_INDEX_ERROR, "slice() cannot be applied to a 0-dim tensor.");
    bool rising = half || (shape != NULL && shape->sizes[0] != count);
    const TsrDevice where = device.type == TSR_META ? device : TSR_DEVICE_CPU; /* it is a short table */
    TSR_TRY(
        tsr_tensor_new(&r, shape != NULL ? tsr_ndim(shape) : 1, shape != NULL ? shape->sizes : &count, dtype, where));
    if (tsr_is_meta(r)) return tsr_return_move(c, tsr_owned_take(&r));
    if (tsr_on_device(r)) TSR_TRY(count_there(r, rising ? count : (n + 1) / 2));
    else TSR_IN_PIECES(k, count)
    tsr_scalar_store(tsr_scalar_int(rising || k < (n + 1) / 2 ? k : k - n), dtype,
                     (char *)tsr_data(r) + (size_t)k * tsr_itemsize(r));
    TSR_TRY(tsr_new_there(&there, r, device));
    return tsr_finish_move(c, tsr_invoke_new(&scaled, 1, "mul", "tf", there, 1.0 / ((double)n * d)), scaled);
}
TsrStatus op_fftfreq(TsrOpCall *c) { return frequencies(c, false); }
TsrStatus op_rfftfreq(TsrOpCall *c) { return frequencies(c, true); }

static TsrStatus shift(TsrOpCall *c, bool inverse) {
    const TsrTensor *x = c->arg[0].t;
    const TsrArg *dim = &c->arg[1];
    int64_t dims[TSR_MAX_DIMS], shifts[TSR_MAX_DIMS];
    int n = tsr_arg_given(dim) ? dim->n : tsr_ndim(x);
    TsrTensor *r = NULL;
    if (n > TSR_MAX_DIMS) return tsr_error(TSR_RUNTIME_ERROR, "fftshift: too many dims");
    for (int i = 0; i < n; i++) {
        dims[i] = tsr_arg_given(dim) ? dim->ints[i] : i;
        TSR_TRY(tsr_wrap_own_dim(&dims[i], tsr_ndim(x)));
        shifts[i] = inverse ? (x->sizes[dims[i]] + 1) / 2 : x->sizes[dims[i]] / 2;
    }
    if (n == 0) return tsr_error(TSR_RUNTIME_ERROR, "`shifts` required");
    return tsr_finish_move(c, tsr_invoke_new(&r, 1, "roll", "tII", x, n, shifts, n, dims), r);
}
TsrStatus op_fftshift(TsrOpCall *c) { return shift(c, false); }
TsrStatus op_ifftshift(TsrOpCall *c) { return shift(c, true); }
