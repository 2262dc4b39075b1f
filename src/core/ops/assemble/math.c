/* Statistics and products made of other operators: cov, cross, vander, renorm, dist, sum_to_size, hash_tensor. */
#include <math.h>
#include <string.h>

#include "core/op/out.h"
#include "core/op/compose.h"
#include "core/tensor/loan.h"
#include "core/tensor/owned.h"

/* ---- cov, corrcoef ---- */

static TsrStatus check_weights(const TsrTensor *w, const char *name, bool integral, int64_t observations) {
    if (tsr_ndim(w) > 1)
        return tsr_error(TSR_RUNTIME_ERROR,
                         "cov(): expected %s to have one or fewer dimensions but got %s with %d dimensions", name, name,
                         tsr_ndim(w));
    bool fits = integral ? tsr_dtype_is_integral(w->dtype) : tsr_dtype_is_float(w->dtype);
    if (!fits)
        return tsr_error(TSR_RUNTIME_ERROR, "cov(): expected %s to have %s dtype but got %s with %s dtype", name,
                         integral ? "integral" : "floating point", name, tsr_dtype_scalar_name(w->dtype));
    if (w->numel != observations)
        return tsr_error(
            TSR_RUNTIME_ERROR,
            "cov(): expected %s to have the same numel as there are observations in the input but got %lld != %lld",
            name, (long long)w->numel, (long long)observations);
    if (w->numel > 0 && tsr_in(integral ? TSR_BITS_UINT : TSR_BITS_FLOAT8, w->dtype))
        return tsr_not_implemented("min_all", w->dtype);
    TSR_IN_PIECES(i, w->numel)
    if (tsr_scalar_to_double(tsr_tensor_get(w, i)) < 0)
        return tsr_error(TSR_RUNTIME_ERROR, "cov(): %s cannot be negative", name);
    return TSR_OK;
}

/* Distances from the mean of one observation. (PyTorch makes its own argument zero.) */
static TsrStatus zeros_like_new(TsrTensor **out, const TsrTensor *in) {
    return tsr_zeros_new(out, 2, in->sizes, tsr_dtype_is_integral(in->dtype) ? TSR_FLOAT32 : in->dtype, in->device);
}

static TsrStatus cov_new(TsrTensor **out, TsrTensor *self, int64_t correction, TsrTensor *fweights,
                         TsrTensor *aweights) {
    if (tsr_ndim(self) > 2)
        return tsr_error(TSR_RUNTIME_ERROR,
                         "cov(): expected input to have two or fewer dimensions but got an input with %d dimensions",
                         tsr_ndim(self));
    if (self->dtype == TSR_BOOL)
        return tsr_error(TSR_NOT_IMPLEMENTED_ERROR, "cov(): bool dtype is not supported for input");
    TsrScope s = {0};
    int64_t row[2] = {1, self->numel}, one = 1;
    TsrTensor *in = tsr_ndim(self) < 2 ? MAKE(&s, tsr_tensor_new_reshape, self, 2, row) : self, *w = NULL, *sum;
    int64_t observations = s.status == TSR_OK ? in->sizes[1] : 0;
    if (s.status == TSR_OK && fweights != NULL) s.status = check_weights(fweights, "fweights", true, observations);
    if (s.status == TSR_OK && aweights != NULL) s.status = check_weights(aweights, "aweights", false, observations);
    w = fweights != NULL && aweights != NULL ? CALL(&s, "mul", "tt", fweights, aweights)
        : fweights != NULL                   ? fweights
                                             : aweights;
    sum =
        w != NULL ? CALL(&s, "sum", "t", w) : MAKE(&s, tsr_tensor_new_scalar, tsr_scalar_int(observations), TSR_INT64);
    if (s.status == TSR_OK && w != NULL && tsr_is_meta(w))
        s.status = tsr_error(TSR_RUNTIME_ERROR, "Tensor.item() cannot be called on meta tensors");
    if (s.status == TSR_OK && w != NULL && tsr_scalar_to_double(tsr_tensor_get(sum, 0)) == 0)
        s.status = tsr_error(TSR_RUNTIME_ERROR, "cov(): weights sum to zero, can't be normalized");
    TsrTensor *weighed = w != NULL ? CALL(&s, "mul", "tt", in, w) : in,
              *total = CALL(&s, "sum", "tI", weighed, 1, &one), *mean = CALL(&s, "div", "tt", total, sum);
    TsrTensor *norm;
    bool single = observations == 1 && (fweights == NULL) != (aweights == NULL);
    if (single && aweights != NULL && correction == 1) {
        norm = MAKE(&s, tsr_tensor_new_scalar, tsr_scalar_int(0), TSR_INT64);
    } else if (w != NULL && aweights != NULL && correction != 0) {
        TsrTensor *squares = CALL(&s, "mul", "tt", w, aweights), *square_sum = CALL(&s, "sum", "t", squares);
        TsrTensor *scaled_sum = CALL(&s, "mul", "ts", square_sum, tsr_scalar_int(correction)),
                  *share = CALL(&s, "div", "tt", scaled_sum, sum);
        norm = CALL(&s, "sub", "tt", sum, share);
    } else {
        norm = CALL(&s, "sub", "ts", sum, tsr_scalar_int(correction));
    }
    if (s.status == TSR_OK && tsr_scalar_to_double(tsr_tensor_get(norm, 0)) < 0)
        s.status = tsr_tensor_fill(norm, tsr_scalar_int(0));
    TsrTensor *column = MAKE(&s, tsr_tensor_new_unsqueeze, mean, 1),
              *centered = single ? MAKE(&s, zeros_like_new, in) : CALL(&s, "sub", "tt", in, column);
    TsrTensor *right = w != NULL ? CALL(&s, "mul", "tt", centered, w) : centered,
              *turned = MAKE(&s, tsr_tensor_new_transpose, right, 0, 1);
    TsrTensor *conjugate =
        s.status == TSR_OK && tsr_dtype_is_complex(turned->dtype) ? MAKE(&s, tsr_tensor_new_conj, turned) : turned;
    TsrTensor *product = CALL(&s, "mm", "tt", centered, conjugate), *result = CALL(&s, "div", "tt", product, norm);
    if (s.status == TSR_OK && result->numel == 1)
        s.status = tsr_tensor_set_geometry(result, (TsrGeometry){0, NULL, NULL, result->offset});
    return tsr_scope_end_new(out, &s, result);
}

/* (self, *, correction, fweights, aweights) */
TsrStatus op_cov(TsrOpCall *c) {
    TsrTensor *t = NULL, *f = tsr_arg_given(&c->arg[2]) ? c->arg[2].t : NULL,
              *a = tsr_arg_given(&c->arg[3]) ? c->arg[3].t : NULL;
    return tsr_finish_move(c, cov_new(&t, c->arg[0].t, c->arg[1].i, f, a), t);
}

TsrStatus op_corrcoef(TsrOpCall *c) {
    TsrTensor *self = c->arg[0].t;
    int64_t column[2] = {-1, 1}, row[2] = {1, -1};
    if (tsr_ndim(self) > 2)
        return tsr_error(
            TSR_RUNTIME_ERROR,
            "corrcoef(): expected input to have two or fewer dimensions but got an input with %d dimensions",
            tsr_ndim(self));
    TsrScope s = {0};
    TsrTensor *v = MAKE(&s, cov_new, self, 1, NULL, NULL);
    if (s.status == TSR_OK && tsr_ndim(v) == 0) return tsr_scope_return(c, &s, CALL(&s, "div", "tt", v, v));
    bool complex = s.status == TSR_OK && tsr_dtype_is_complex(v->dtype);
    TsrTensor *diagonal = MAKE(&s, tsr_tensor_new_diagonal, v, 0, 0, 1),
              *real = complex ? MAKE(&s, tsr_tensor_new_real, diagonal) : diagonal;
    TsrTensor *deviation = CALL(&s, "sqrt", "t", real);
    TsrTensor *down = MAKE(&s, tsr_tensor_new_reshape, deviation, 2, column),
              *across = MAKE(&s, tsr_tensor_new_reshape, deviation, 2, row);
    TsrTensor *half = CALL(&s, "div", "tt", v, down), *r = CALL(&s, "div", "tt", half, across);
    if (!complex) return tsr_scope_return(c, &s, CALL(&s, "clamp", "tss", r, tsr_scalar_int(-1), tsr_scalar_int(1)));
    TsrTensor *re = MAKE(&s, tsr_tensor_new_real, r), *im = MAKE(&s, tsr_tensor_new_imag, r);
    TsrTensor *re1 = CALL(&s, "clamp", "tss", re, tsr_scalar_int(-1), tsr_scalar_int(1)),
              *im1 = CALL(&s, "clamp", "tss", im, tsr_scalar_int(-1), tsr_scalar_int(1));
    return tsr_scope_return(c, &s, CALL(&s, "complex", "tt", re1, im1));
}

/* ---- cross ---- */

/* Lines of three. Floats with one rounding less (a fused difference of products), as PyTorch's compiled code has it. */
#define CROSS(name, T, DIFFERENCE) \
    TSR_CLONES static void name(char *const *data, const int64_t *stride, const int64_t *n, const void *params) { \
        (void)n; \
        (void)params; \
        T a[3], b[3]; \
        for (int k = 0; k < 3; k++) { \
            memcpy(&a[k], data[1] + k * stride[1], sizeof(T)); \
            memcpy(&b[k], data[2] + k * stride[2], sizeof(T)); \
        } \
        for (int k = 0; k < 3; k++) { \
            int i = (k + 1) % 3, j = (k + 2) % 3; \
            T r = DIFFERENCE(a[i], b[j], a[j], b[i]); \
            memcpy(data[0] + k * stride[0], &r, sizeof(T)); \
        } \
    }
#define FUSED_FLOAT(a, b, c, d) fmaf(a, b, -((c) * (d)))
#define FUSED_DOUBLE(a, b, c, d) fma(a, b, -((c) * (d)))
#define WRAPPING(a, b, c, d) ((a) * (b) - (c) * (d))
CROSS(cross_float, float, FUSED_FLOAT)
CROSS(cross_double, double, FUSED_DOUBLE)
CROSS(cross_int64, uint64_t, WRAPPING)

/* Complex products without fusing, and without the library's care for infinities. */
static TsrComplexFloat plain_product_float(TsrComplexFloat a, TsrComplexFloat b) {
    TsrComplexFloat r;
    __real__ r = __real__ a * __real__ b - __imag__ a * __imag__ b;
    __imag__ r = __real__ a * __imag__ b + __imag__ a * __real__ b;
    return r;
}

static TsrComplexDouble plain_product_double(TsrComplexDouble a, TsrComplexDouble b) {
    TsrComplexDouble r;
    __real__ r = __real__ a * __real__ b - __imag__ a * __imag__ b;
    __imag__ r = __real__ a * __imag__ b + __imag__ a * __real__ b;
    return r;
}
#define COMPLEX_FLOAT(a, b, c, d) (plain_product_float(a, b) - plain_product_float(c, d))
#define COMPLEX_DOUBLE(a, b, c, d) (plain_product_double(a, b) - plain_product_double(c, d))
CROSS(cross_complex_float, TsrComplexFloat, COMPLEX_FLOAT)
CROSS(cross_complex_double, TsrComplexDouble, COMPLEX_DOUBLE)

static TsrLineFn cross_line(TsrDtype d) {
    switch (d) {
    case TSR_FLOAT32: return cross_float;
    case TSR_FLOAT64: return cross_double;
    case TSR_INT64: return cross_int64;
    case TSR_COMPLEX64: return cross_complex_float;
    case TSR_COMPLEX128: return cross_complex_double;
    default: return NULL;
    }
}

/* Any other dtype, and on a device: products and differences as operators of their own, each rounded. */
static TsrStatus cross_by_parts(TsrTensor *t, TsrTensor *a, TsrTensor *b, int64_t dim) {
    TsrScope s = {0};
    for (int k = 0; k < 3; k++) {
        int i = (k + 1) % 3, j = (k + 2) % 3;
        TsrTensor *ai = MAKE(&s, tsr_tensor_new_select, a, dim, i), *aj = MAKE(&s, tsr_tensor_new_select, a, dim, j);
        TsrTensor *bi = MAKE(&s, tsr_tensor_new_select, b, dim, i), *bj = MAKE(&s, tsr_tensor_new_select, b, dim, j);
        TsrTensor *p = CALL(&s, "mul", "tt", ai, bj), *q = CALL(&s, "mul", "tt", aj, bi),
                  *place = MAKE(&s, tsr_tensor_new_select, t, dim, k);
        TsrTensor *r = CALL(&s, "sub", "tt", p, q);
        if (s.status == TSR_OK) s.status = tsr_tensor_copy(place, r);
    }
    return tsr_scope_end(&s);
}

static TsrStatus cross_into(TsrTensor *t, TsrTensor *a, TsrTensor *b, int64_t dim) {
    TsrLineFn fn = cross_line(t->dtype);
    TsrTensor *lines[3] = {t, a, b};
    if (fn == NULL || tsr_on_device(t)) return cross_by_parts(t, a, b, dim);
    return tsr_lines_run(lines, 3, dim, fn, NULL, false);
}

static TsrStatus cross(TsrOpCall *c, int64_t given) {
    TsrTensor *a = c->arg[0].t, *b = c->arg[1].t;
    int64_t dim = given, shape[TSR_MAX_DIMS];
    int n = tsr_ndim(a), ndim = 0;
    if (n == 0 && tsr_ndim(b) == 0)
        return tsr_error(TSR_INDEX_ERROR, "Dimension specified as %lld but tensor has no dimensions", (long long)given);
    if (n != tsr_ndim(b))
        return tsr_error(TSR_RUNTIME_ERROR, "linalg.cross: inputs must have the same number of dimensions.");
    TSR_TRY(tsr_wrap_dim(&dim, n));
    int64_t na = n > 0 ? a->sizes[dim] : 1, nb = n > 0 ? b->sizes[dim] : 1;
    if (na != 3 || nb != 3)
        return tsr_error(TSR_RUNTIME_ERROR, "linalg.cross: inputs dimension %lld must have length 3. Got %lld and %lld",
                         (long long)given, (long long)na, (long long)nb);
    TSR_TRY(tsr_layout_broadcast(shape, &ndim, a->sizes, n));
    TSR_TRY(tsr_layout_broadcast(shape, &ndim, b->sizes, n));
    TSR_TRY(tsr_check_out_dtype(c, 0, a->dtype));
    if (c->out[0] != NULL && tsr_ndim(c->out[0]) == ndim &&
        memcmp(c->out[0]->sizes, shape, sizeof *shape * (size_t)ndim) == 0) { /* another is resized first */
        TSR_TRY(tsr_check_out_overlap(c->out[0], a));
        TSR_TRY(tsr_check_no_overlap(c->out[0], b));
    }
    TSR_TRY(tsr_require(TSR_BITS_USUAL | TSR_BITS_COMPLEX, a->dtype, "cross"));
    if (a->dtype != b->dtype) return tsr_unexpected_dtype(a->dtype, b->dtype);
    TsrScope s = {0};
    TsrTensor *t = MAKE(&s, tsr_tensor_new, ndim, shape, a->dtype, a->device);
    TsrTensor *wide_a = MAKE(&s, tsr_tensor_new_expand, a, ndim, shape),
              *wide_b = MAKE(&s, tsr_tensor_new_expand, b, ndim, shape);
    if (s.status == TSR_OK && t->numel > 0 && !tsr_is_meta(t)) s.status = cross_into(t, wide_a, wide_b, dim);
    return tsr_scope_return(c, &s, t);
}

TsrStatus op_linalg_cross(TsrOpCall *c) { return cross(c, c->arg[2].i); }

TsrStatus op_cross(TsrOpCall *c) {
    const TsrTensor *self = c->arg[0].t;
    if (tsr_arg_given(&c->arg[2])) return cross(c, c->arg[2].i);
    for (int d = 0; d < tsr_ndim(self); d++)
        if (self->sizes[d] == 3) return cross(c, d);
    return tsr_error(TSR_RUNTIME_ERROR, "no dimension of size 3 in input");
}

/* ---- vander ---- */

/* (..., n) powers 0 to n - 1 of x's elements. */
static TsrTensor *powers(TsrScope *s, TsrTensor *x, int64_t n, TsrDtype dtype) {
    int64_t sizes[TSR_MAX_DIMS], ndim = tsr_ndim(x);
    if (ndim + 1 > TSR_MAX_DIMS) {
        s->status = tsr_error(TSR_RUNTIME_ERROR, "vander: too many dimensions");
        return NULL;
    }
    memcpy(sizes, x->sizes, sizeof *sizes * (size_t)ndim);
    sizes[ndim] = n;
    TsrTensor *t = MAKE(s, tsr_tensor_new, (int)ndim + 1, sizes, dtype, x->device);
    if (n == 0 || s->status != TSR_OK || tsr_is_meta(x)) return t;
    TsrTensor *first = MAKE(s, tsr_tensor_new_select, t, ndim, 0);
    if (s->status == TSR_OK) s->status = tsr_tensor_fill(first, tsr_scalar_int(1));
    if (n == 1) return t;
    TsrTensor *rest = SLICE(s, t, ndim, 1, INT64_MAX), *column = MAKE(s, tsr_tensor_new_unsqueeze, x, -1);
    if (s->status == TSR_OK) s->status = tsr_tensor_copy(rest, column);
    TsrTensor *products = CALL(s, "cumprod", "ti", rest, ndim);
    if (s->status == TSR_OK) s->status = tsr_tensor_copy(rest, products);
    return t;
}

TsrStatus op_vander(TsrOpCall *c) {
    TsrTensor *x = c->arg[0].t;
    if (tsr_ndim(x) != 1) return tsr_error(TSR_RUNTIME_ERROR, "x must be a one-dimensional tensor.");
    int64_t n = tsr_arg_given(&c->arg[1]) ? c->arg[1].i : x->sizes[0], last = 1;
    if (n < 0) return tsr_error(TSR_RUNTIME_ERROR, "N must be non-negative.");
    TsrScope s = {0};
    TsrDtype dtype;
    TSR_TRY(tsr_promote(&dtype, x->dtype, TSR_INT64));
    TsrTensor *t = powers(&s, x, n, dtype);
    return tsr_scope_return(c, &s, c->arg[2].b ? t : CALL(&s, "flip", "tI", t, 1, &last));
}

TsrStatus op_linalg_vander(TsrOpCall *c) {
    TsrTensor *x = c->arg[0].t;
    TsrDtype d = x->dtype;
    TsrScope s = {0};
    if (!tsr_in(TSR_BITS_INT | TSR_BITS_UINT | TSR_BITS_COMPLEX | TSR_BIT(FLOAT32) | TSR_BIT(FLOAT64), d))
        return tsr_error(TSR_NOT_IMPLEMENTED_ERROR,
                         "linalg.vander supports floating point, complex, and integer tensors, but got %s",
                         tsr_dtype_scalar_name(d));
    int64_t n = tsr_arg_given(&c->arg[1]) ? c->arg[1].i : tsr_ndim(x) > 0 ? x->sizes[tsr_ndim(x) - 1] : 1;
    if (n <= 1) return tsr_error(TSR_RUNTIME_ERROR, "N must be greater than 1.");
    TsrTensor *vector = MAKE(&s, tsr_at_least_1d_new, x);
    return tsr_scope_return(
        c, &s, s.status == TSR_OK ? powers(&s, vector, n, tsr_dtype_is_integral(d) ? TSR_INT64 : d) : NULL);
}

/* ---- renorm, dist ---- */

/* What norms of small dtypes are taken in; TSR_DTYPE_NONE: the dtype itself, of which a norm may be inf. */
static TsrDtype renorm_accumulates_in(TsrDtype d) {
    if (tsr_dtype_is_float8(d)) return TSR_FLOAT32; /* vector_norm refuses them: they have no dtype common with it */
    switch (d) {
    case TSR_FLOAT16:
    case TSR_BFLOAT16: return TSR_FLOAT32;
    case TSR_COMPLEX32:
    case TSR_BCOMPLEX32: return TSR_COMPLEX64;
    default: return TSR_DTYPE_NONE;
    }
}

/* In place: what brings each norm, of float32 or float64, down to the limit. */
static void norms_to_factors(TsrTensor *norm, double limit) {
    double *wide = tsr_data(norm);
    float *narrow = tsr_data(norm), most = (float)limit;
    if (norm->dtype == TSR_FLOAT64)
        TSR_IN_PIECES(i, norm->numel) wide[i] = wide[i] > limit ? limit / (wide[i] + 1e-7) : 1;
    else TSR_IN_PIECES(i, norm->numel) narrow[i] = narrow[i] > most ? most / (narrow[i] + 1e-7f) : 1;
}

/* The same on a device. */
static TsrTensor *factors_there(TsrScope *s, TsrTensor *norm, TsrScalar limit) {
    TsrTensor *sum = CALL(s, "add", "ts", norm, tsr_scalar_float(1e-7)),
              *most = CALL(s, "full_like", "ts", norm, limit), *one = CALL(s, "ones_like", "t", norm);
    TsrTensor *factor = CALL(s, "div", "tt", most, sum), *above = CALL(s, "gt", "tt", norm, most);
    return CALL(s, "where", "ttt", above, factor, one);
}

TsrStatus op_renorm(TsrOpCall *c) {
    TsrTensor *self = c->arg[0].t;
    TsrScalar p = c->arg[1].s, max = c->arg[3].s;
    int64_t dim = c->arg[2].i, dims[TSR_MAX_DIMS];
    int n = 0;
    if (p.kind == TSR_SCALAR_COMPLEX) return tsr_error(TSR_RUNTIME_ERROR, "renorm: p must be real-valued");
    if (!(tsr_scalar_to_double(p) > 0)) return tsr_error(TSR_RUNTIME_ERROR, "renorm: non-positive-norm not supported");
    if (max.kind == TSR_SCALAR_COMPLEX) return tsr_error(TSR_RUNTIME_ERROR, "renorm: maxnorm must be real-valued");
    if (!(tsr_scalar_to_double(max) >= 0))
        return tsr_error(TSR_RUNTIME_ERROR, "renorm: expected maxnorm to be >= 0 but got %g",
                         tsr_scalar_to_double(max));
    if (tsr_ndim(self) < 2)
        return tsr_error(TSR_RUNTIME_ERROR, "renorm: input needs at least 2 dimensions, got %d dimensions",
                         tsr_ndim(self));
    TSR_TRY(tsr_check_out_dtype(c, 0, self->dtype));
    TSR_TRY(tsr_wrap_dim(&dim, tsr_ndim(self)));
    for (int d = 0; d < tsr_ndim(self); d++)
        if (d != dim) dims[n++] = d;
    /* The norm is taken in the accumulation dtype; the factors have self's. */
    TsrDtype wide = renorm_accumulates_in(self->dtype);
    TsrScope s = {0};
    TsrTensor *norm = CALL(&s, "linalg.vector_norm", "tsIbd", self, p, n, dims, 1, (int)wide);
    if (tsr_on_device(self)) norm = factors_there(&s, norm, tsr_scalar_float(tsr_scalar_to_double(max)));
    else if (s.status == TSR_OK && !tsr_is_meta(self)) norms_to_factors(norm, tsr_scalar_to_double(max));
    TsrTensor *factor = s.status == TSR_OK ? MAKE(&s, tsr_tensor_new_cast, norm, tsr_dtype_real_of(self->dtype)) : NULL;
    TsrTensor *product = CALL(&s, "mul", "tt", self, factor);
    return tsr_scope_return(c, &s, MAKE(&s, tsr_tensor_new_clone, product, TSR_CONTIGUOUS));
}

TsrStatus op_dist(TsrOpCall *c) {
    TsrScope s = {0};
    TsrTensor *difference = CALL(&s, "sub", "tt", c->arg[0].t, c->arg[1].t);
    if (s.status == TSR_OK && !tsr_dtype_is_float(difference->dtype) && !tsr_dtype_is_complex(difference->dtype))
        s.status = tsr_error(TSR_NOT_IMPLEMENTED_ERROR,
                             "norm(): input dtype should be either floating point or complex. Got %s instead.",
                             tsr_dtype_scalar_name(difference->dtype));
    return tsr_scope_return(c, &s, CALL(&s, "norm", "ts", difference, c->arg[2].s));
}

/* ---- sum_to_size ---- */

TsrStatus op_sum_to_size(TsrOpCall *c) {
    TsrTensor *self = c->arg[0].t;
    int n = c->arg[1].n, lead = tsr_ndim(self) - n, k = 0;
    const int64_t *size = c->arg[1].ints;
    int64_t dims[TSR_MAX_DIMS];
    bool fits = lead >= 0;
    for (int d = 0; d < n && fits; d++) fits = size[d] == 1 || size[d] == self->sizes[lead + d];
    if (!fits) {
        return tsr_error(TSR_RUNTIME_ERROR, "size {%s} is not expandable to size {%s}.", tsr_layout_text(n, size),
                         tsr_sizes_text(self));
    }
    if (n == 0) {
        TsrScope all = {0};
        return tsr_scope_return(c, &all, CALL(&all, "sum", "t", self));
    }
    for (int d = 0; d < tsr_ndim(self); d++)
        if (d < lead || (size[d - lead] == 1 && self->sizes[d] != 1)) dims[k++] = d;
    if (k == 0) return tsr_return_move(c, tsr_tensor_retain(self));
    TsrScope s = {0};
    TsrTensor *sum = CALL(&s, "sum", "tIb", self, k, dims, 1);
    if (lead > 0 && s.status == TSR_OK) {
        int64_t strides[TSR_MAX_DIMS];
        tsr_layout_contiguous_strides(strides, n, size);
        s.status = tsr_tensor_set_geometry(sum, (TsrGeometry){n, size, strides, sum->offset});
    }
    return tsr_scope_return(c, &s, sum);
}

/* ---- hash_tensor ---- */

/* Exclusive or of the elements' 64 bits: floats as doubles, integers sign-extended. */
static TsrStatus xor_lines(TsrTensor *t, const TsrTensor *wide, int64_t inner) {
    const uint64_t *p = tsr_data(wide);
    uint64_t *out = tsr_data(t);
    for (int64_t i = 0; i < t->numel && !tsr_interrupted_at(i); i++) {
        uint64_t hash = 0;
        TSR_IN_PIECES(k, inner) hash ^= p[i * inner + k];
        out[i] = hash;
    }
    return TSR_OK;
}

/* On a device: the two halves of all lines are combined, into the first one, until one element is left. */
static TsrStatus xor_there(TsrTensor *t, const TsrTensor *wide, int64_t inner) {
    TSR_OWNED copy = NULL;
    TSR_OWNED bits = NULL;
    TSR_OWNED lines = NULL;
    TSR_OWNED result = NULL;
    TSR_OWNED first = NULL;
    const int64_t sizes[2] = {t->numel, inner};
    TSR_TRY(tsr_tensor_new_clone(&copy, wide, TSR_CONTIGUOUS));
    TSR_TRY(tsr_tensor_new_view_dtype(&bits, copy, TSR_INT64));
    TSR_TRY(tsr_tensor_new_reshape(&lines, bits, 2, sizes));
    for (int64_t left = inner; left > 1; left = (left + 1) / 2) {
        TSR_OWNED low = NULL;
        TSR_OWNED high = NULL;
        TSR_OWNED done = NULL;
        TSR_TRY(tsr_tensor_new_narrow(&low, lines, 1, 0, left / 2));
        TSR_TRY(tsr_tensor_new_narrow(&high, lines, 1, (left + 1) / 2, left / 2));
        TSR_TRY(tsr_invoke_new(&done, 1, "bitwise_xor", "!ttt", low, low, high));
    }
    TSR_TRY(tsr_tensor_new_narrow(&first, lines, 1, 0, 1));
    TSR_TRY(tsr_tensor_new_reshape(&result, first, tsr_ndim(t), t->sizes));
    return tsr_tensor_copy(t, result);
}

/* (self, dim, *, keepdim, mode) */
TsrStatus op_hash_tensor(TsrOpCall *c) {
    TsrTensor *self = c->arg[0].t;
    int n = tsr_ndim(self), k = 0, kept = 0;
    bool gone[TSR_MAX_DIMS] = {false}, all = c->arg[1].n == 0, keepdim = c->arg[2].b;
    int64_t order[TSR_MAX_DIMS], sizes[TSR_MAX_DIMS], inner = 1;
    TSR_TRY(tsr_check_out_fits(c, 0, TSR_UINT64));
    if (self->numel == 0 && all)
        return tsr_error(
            TSR_RUNTIME_ERROR,
            "hash_tensor: Expected reduction dim to be specified for input.numel() == 0. Specify the reduction dim "
            "with the 'dim' argument.");
    for (int i = 0; i < c->arg[1].n; i++) {
        int64_t d = c->arg[1].ints[i];
        TSR_TRY(tsr_wrap_dim(&d, n));
        if (gone[d])
            return tsr_error(TSR_RUNTIME_ERROR, "dim %lld appears multiple times in the list of dims", (long long)d);
        gone[d] = true;
        if (n > 0 && self->sizes[d] == 0)
            return tsr_error(TSR_INDEX_ERROR, "hash_tensor: Expected reduction dim %lld to have non-zero size.",
                             (long long)c->arg[1].ints[i]);
    }
    if (c->arg[3].i != 0) return tsr_error(TSR_RUNTIME_ERROR, "Unknown hash_tensor mode: %lld", (long long)c->arg[3].i);
    TSR_TRY(tsr_check_out_dtype(c, 0, TSR_UINT64));
    if (self->numel > 0) TSR_TRY(tsr_require(TSR_BITS_USUAL | TSR_BIT(BOOL), self->dtype, "xor_sum_cpu"));
    for (int d = 0; d < n; d++) {
        bool out = all || gone[d];
        if (out) inner *= self->sizes[d];
        else order[k++] = d;
        if (!out || keepdim) sizes[kept++] = out ? 1 : self->sizes[d];
    }
    for (int d = 0; d < n; d++)
        if (all || gone[d]) order[k++] = d;
    TsrScope s = {0};
    TsrTensor *moved = MAKE(&s, tsr_tensor_new_permute, self, n, order);
    TsrTensor *wide = MAKE(&s, tsr_tensor_new_cast, moved, tsr_dtype_is_float(self->dtype) ? TSR_FLOAT64 : TSR_INT64);
    TsrTensor *dense = MAKE(&s, tsr_tensor_new_contiguous, wide, TSR_CONTIGUOUS),
              *t = MAKE(&s, tsr_tensor_new, kept, sizes, TSR_UINT64, self->device);
    if (s.status == TSR_OK && !tsr_is_meta(self))
        s.status = tsr_on_device(self) ? xor_there(t, dense, inner) : xor_lines(t, dense, inner);
    return tsr_scope_return(c, &s, t);
}
