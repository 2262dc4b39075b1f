/* Singular values, and what is built on them: rank, pseudoinverse, polar form; the square root of a symmetric matrix.
 */
#include <float.h>
#include <string.h>

#include "core/op/out.h"
#include "la.h"
#include "core/op/shared.h"

/* ---- singular values ---- */

static TsrStatus check_svd(const TsrTensor *a) {
    TSR_TRY(tsr_la_check_matrix(a, "linalg.svd", "A"));
    return tsr_la_check_float(a, "linalg.svd");
}

static TsrStatus check_driver(const TsrArg *driver, const TsrTensor *a) {
    if (!tsr_arg_given(driver) || a->numel == 0) return TSR_OK;
    return tsr_error(
        TSR_RUNTIME_ERROR,
        "torch.linalg.svd: keyword argument `driver=` is only supported on CUDA inputs with cuSOLVER backend.");
}

static TsrStatus return3(TsrOpCall *c, TsrTensor *x, TsrTensor *y, TsrTensor *z) {
    tsr_return_move2(c, x, y);
    c->ret[2] = (TsrArg){.kind = TSR_ARG_TENSOR, .t = z};
    c->nret = 3;
    return TSR_OK;
}

TsrStatus op_linalg_svd(TsrOpCall *c) {
    TsrTensor *u, *s, *vh;
    const TsrTensor *a = c->arg[0].t;
    TSR_TRY(check_svd(a));
    for (int k = 0; k < 3; k++) TSR_TRY(tsr_check_out_fits(c, k, k == 1 ? tsr_dtype_real_of(a->dtype) : a->dtype));
    TSR_TRY(check_driver(&c->arg[2], a));
    TSR_TRY(tsr_la_need_kernel("linalg_svd_cpu", a));
    TSR_TRY(tsr_la_new_svd(&u, &s, &vh, a, c->arg[1].b ? 'A' : 'S'));
    return return3(c, u, s, vh);
}

TsrStatus op_linalg_svdvals(TsrOpCall *c) {
    TsrTensor *s = NULL;
    const TsrTensor *a = c->arg[0].t;
    TSR_TRY(check_svd(a));
    TSR_TRY(tsr_check_out_fits(c, 0, tsr_dtype_real_of(a->dtype)));
    TSR_TRY(check_driver(&c->arg[1], a));
    TSR_TRY(tsr_la_need_kernel("linalg_svd_cpu", a));
    return tsr_finish_move(c, tsr_la_new_svd(NULL, &s, NULL, a, 'N'), s);
}

static TsrStatus zeros(TsrTensor **out, const TsrTensor *like, int64_t n) {
    int64_t sizes[TSR_MAX_DIMS];
    int d = tsr_ndim(like);
    memcpy(sizes, like->sizes, sizeof(int64_t) * (size_t)d);
    sizes[d - 2] = sizes[d - 1] = n;
    TSR_TRY(tsr_tensor_new(out, d, sizes, like->dtype, like->device));
    return tsr_is_meta(*out) ? TSR_OK : tsr_tensor_fill(*out, tsr_scalar_int(0));
}

TsrStatus op_svd(TsrOpCall *c) {
    const TsrTensor *a = c->arg[0].t;
    TSR_OWNED u = NULL;
    TSR_OWNED s = NULL;
    TSR_OWNED vh = NULL;
    TSR_OWNED v = NULL;
    if (tsr_ndim(a) < 2)
        return tsr_error(TSR_RUNTIME_ERROR,
                         "linalg.svd: input should have at least 2 dimensions, but has %d dimensions instead",
                         tsr_ndim(a));
    TSR_TRY(tsr_la_check_float(a, "linalg.svd"));
    TSR_TRY(tsr_la_need_kernel("linalg_svd_cpu", a));
    if (c->arg[2].b) {
        TSR_TRY(tsr_la_new_svd(&u, &s, &vh, a, c->arg[1].b ? 'S' : 'A'));
    } else {
        TSR_TRY(tsr_la_new_svd(NULL, &s, NULL, a, 'N'));
        TSR_TRY(zeros(&u, a, tsr_la_rows(a)));
        TSR_TRY(zeros(&vh, a, tsr_la_cols(a)));
    }
    TSR_TRY(tsr_la_new_mt(&v, vh, true));
    return return3(c, tsr_owned_take(&u), tsr_owned_take(&s), tsr_owned_take(&v));
}

/* ---- rank and pseudoinverse ---- */

/* A tolerance argument as a tensor that broadcasts over the batch, or NULL when not given. Numbers become the real
 * dtype of a. */
static TsrStatus tolerance(TsrTensor **out, const TsrArg *arg, const TsrTensor *a, const char *fn, const char *name) {
    *out = NULL;
    if (!tsr_arg_given(arg)) return TSR_OK;
    if (arg->kind == TSR_ARG_TENSOR) {
        if (tsr_dtype_is_complex(arg->t->dtype))
            return tsr_error(TSR_RUNTIME_ERROR, "%s: %s tensor of complex type is not supported. Got %s", fn, name,
                             tsr_dtype_scalar_name(arg->t->dtype));
        return tsr_tensor_new_unsqueeze(out, arg->t, -1);
    }
    return tsr_tensor_new_scalar(out, tsr_scalar_float(arg->f),
                                 TSR_FLOAT64 == tsr_dtype_real_of(a->dtype) ? TSR_FLOAT64 : TSR_FLOAT32);
}

static double default_rtol(const TsrTensor *a) {
    double eps = tsr_dtype_real_of(a->dtype) == TSR_FLOAT32 ? FLT_EPSILON : DBL_EPSILON;
    return eps * (double)TSR_MAX(tsr_la_rows(a), tsr_la_cols(a));
}

/* The relative tolerance: what was given, or the default one where atol is not positive. */
static TsrStatus make_relative(TsrTensor **slot, const TsrTensor *a, const TsrTensor *atol) {
    TSR_OWNED r = NULL;
    TSR_OWNED zero = NULL;
    TSR_OWNED positive = NULL;
    TsrDtype d = tsr_dtype_real_of(a->dtype);
    if (*slot != NULL) return TSR_OK;
    if (atol == NULL) return tsr_tensor_new_scalar(slot, tsr_scalar_float(default_rtol(a)), d);
    TSR_TRY(tsr_tensor_new_scalar(&r, tsr_scalar_float(default_rtol(a)), d));
    TSR_TRY(tsr_tensor_new_scalar(&zero, tsr_scalar_float(0), d));
    TSR_TRY(tsr_invoke_new(&positive, 1, "gt", "ts", atol, tsr_scalar_int(0)));
    return tsr_invoke_new(slot, 1, "where", "ttt", positive, zero, r);
}

/* mask = s > max(atol, rtol * largest s), along the last dimension. */
static TsrStatus above_tolerance(TsrTensor **mask, const TsrTensor *s, const TsrTensor *atol, const TsrTensor *rtol) {
    TSR_OWNED largest = NULL;
    TSR_OWNED scaled = NULL;
    TSR_OWNED limit = NULL;
    int64_t last = -1;
    TSR_TRY(tsr_invoke_new(&largest, 1, "amax", "tIb", s, 1, &last, 1));
    TSR_TRY(tsr_invoke_new(&scaled, 1, "mul", "tt", rtol, largest));
    if (atol != NULL) TSR_TRY(tsr_invoke_new(&limit, 1, "maximum", "tt", atol, scaled));
    return tsr_invoke_new(mask, 1, "gt", "tt", s, limit != NULL ? limit : scaled);
}

/* (A, atol, rtol): beside a number as atol the default of rtol is made first of all, of how many rows there are. */
static TsrStatus check_rows(const TsrOpCall *c) {
    bool number = tsr_arg_given(&c->arg[1]) && c->arg[1].kind != TSR_ARG_TENSOR;
    return number && !tsr_arg_given(&c->arg[2]) ? tsr_wrap_own_dim(&(int64_t){-2}, tsr_ndim(c->arg[0].t)) : TSR_OK;
}

static TsrStatus rank_new(TsrTensor **out, const TsrTensor *a, const TsrTensor *atol, const TsrTensor *rtol,
                          bool hermitian) {
    TSR_OWNED s = NULL;
    TSR_OWNED mask = NULL;
    int64_t last = -1;
    if (a->numel == 0) {
        TSR_TRY(tsr_la_new_vector(out, a, -1, TSR_INT64));
        return tsr_is_meta(*out) ? TSR_OK : tsr_tensor_fill(*out, tsr_scalar_int(0));
    }
    if (!hermitian) TSR_TRY(check_svd(a));
    if (!hermitian) TSR_TRY(tsr_la_need_kernel("linalg_svd_cpu", a));
    if (hermitian) {
        TSR_OWNED w = NULL;
        TSR_TRY(tsr_la_new_eigh(&w, NULL, a, 'L', "linalg.eigvalsh"));
        TSR_TRY(tsr_invoke_new(&s, 1, "abs", "t", w));
    } else {
        TSR_TRY(tsr_la_new_svd(NULL, &s, NULL, a, 'N'));
    }
    TSR_TRY(above_tolerance(&mask, s, atol, rtol));
    return tsr_invoke_new(out, 1, "sum", "tI", mask, 1, &last);
}

/* PyTorch adds up in the dtype of out=. */
static TsrStatus finish_rank_move(TsrOpCall *c, TsrTensor *rank) {
    const TsrTensor *out = c->out[0];
    TsrStatus status = TSR_OK;
    if (out != NULL && c->arg[0].t->numel > 0 &&
        tsr_in(TSR_BITS_UINT | TSR_BITS_FLOAT8 | TSR_BIT(COMPLEX32), out->dtype))
        status = tsr_not_implemented("sum_cpu", out->dtype);
    return tsr_finish_move(c, status, rank);
}

/* atol, rtol, hermitian. */
TsrStatus op_matrix_rank(TsrOpCall *c) {
    static const char fn[] = "torch.linalg.matrix_rank";
    TSR_OWNED atol = NULL;
    TSR_OWNED rtol = NULL;
    TsrTensor *r = NULL;
    TSR_TRY(check_rows(c));
    TSR_TRY(tsr_la_check_matrix(c->arg[0].t, fn, "input"));
    TSR_TRY(tolerance(&atol, &c->arg[1], c->arg[0].t, fn, "atol"));
    TSR_TRY(tolerance(&rtol, &c->arg[2], c->arg[0].t, fn, "rtol"));
    if (!tsr_arg_given(&c->arg[2])) TSR_TRY(tsr_la_need_epsilon(c->arg[0].t));
    TSR_TRY(make_relative(&rtol, c->arg[0].t, atol));
    TSR_TRY(tsr_check_out_fits(c, 0, TSR_INT64));
    TSR_TRY(rank_new(&r, c->arg[0].t, atol, rtol, c->arg[3].b));
    return finish_rank_move(c, r);
}

/* tol (absolute, even when 0), hermitian. */
TsrStatus op_matrix_rank_tol(TsrOpCall *c) {
    TSR_OWNED atol = NULL;
    TSR_OWNED zero = NULL;
    TsrTensor *r = NULL;
    TSR_TRY(tsr_la_check_matrix(c->arg[0].t, "torch.linalg.matrix_rank", "input"));
    TSR_TRY(tolerance(&atol, &c->arg[1], c->arg[0].t, "torch.linalg.matrix_rank", "atol"));
    TSR_TRY(tsr_check_out_fits(c, 0, TSR_INT64));
    TSR_TRY(tsr_tensor_new_scalar(&zero, tsr_scalar_float(0), TSR_FLOAT32));
    TSR_TRY(rank_new(&r, c->arg[0].t, atol, zero, c->arg[2].b));
    return finish_rank_move(c, r);
}

/* 1/s where the mask is set, else 0. */
static TsrStatus masked_inverse(TsrTensor **out, const TsrTensor *s, const TsrTensor *mask) {
    TSR_OWNED r = NULL;
    TSR_OWNED zero = NULL;
    TSR_TRY(tsr_invoke_new(&r, 1, "reciprocal", "t", s));
    TSR_TRY(tsr_tensor_new_scalar(&zero, tsr_scalar_float(0), s->dtype));
    return tsr_invoke_new(out, 1, "where", "ttt", mask, r, zero);
}

static TsrStatus pinv_hermitian(TsrTensor **out, const TsrTensor *a, const TsrTensor *atol, const TsrTensor *rtol) {
    TSR_OWNED w = NULL;
    TSR_OWNED u = NULL;
    TSR_OWNED size = NULL;
    TSR_OWNED mask = NULL;
    TSR_OWNED inv = NULL;
    TSR_OWNED row = NULL;
    TSR_OWNED scaled = NULL;
    TSR_OWNED uh = NULL;
    TSR_TRY(tsr_la_new_eigh(&w, &u, a, 'L', "linalg.eigh"));
    TSR_TRY(tsr_invoke_new(&size, 1, "abs", "t", w));
    TSR_TRY(above_tolerance(&mask, size, atol, rtol));
    TSR_TRY(masked_inverse(&inv, w, mask));
    TSR_TRY(tsr_tensor_new_unsqueeze(&row, inv, -2));
    TSR_TRY(tsr_invoke_new(&scaled, 1, "mul", "tt", u, row));
    TSR_TRY(tsr_la_new_mt(&uh, u, true));
    return tsr_matmul_new(out, scaled, uh);
}

static TsrStatus pinv_general(TsrTensor **out, const TsrTensor *a, const TsrTensor *atol, const TsrTensor *rtol) {
    TSR_OWNED u = NULL;
    TSR_OWNED s = NULL;
    TSR_OWNED vh = NULL;
    TSR_OWNED mask = NULL;
    TSR_OWNED inv = NULL;
    TSR_OWNED column = NULL;
    TSR_OWNED v = NULL;
    TSR_OWNED uh = NULL;
    TSR_OWNED scaled = NULL;
    TSR_TRY(tsr_la_new_svd(&u, &s, &vh, a, 'S'));
    TSR_TRY(above_tolerance(&mask, s, atol, rtol));
    TSR_TRY(masked_inverse(&inv, s, mask));
    TSR_TRY(tsr_tensor_new_unsqueeze(&column, inv, -1));
    TSR_TRY(tsr_la_new_mt(&uh, u, true));
    TSR_TRY(tsr_invoke_new(&scaled, 1, "mul", "tt", column, uh));
    TSR_TRY(tsr_la_new_mt(&v, vh, true));
    return tsr_matmul_new(out, v, scaled);
}

/* `eps`: the default tolerance depends on the dtype's epsilon, which is asked for first. */
static TsrStatus check_pinv(const TsrOpCall *c, bool eps) {
    const TsrTensor *a = c->arg[0].t;
    TsrBlasType t;
    TSR_TRY(tsr_check_out_fits(c, 0, a->dtype));
    if (tsr_ndim(a) >= 2 && tsr_blas_type(&t, a->dtype)) return TSR_OK;
    if (tsr_ndim(a) >= 2 && eps) return tsr_la_need_epsilon(a);
    return tsr_error(
        TSR_RUNTIME_ERROR,
        "linalg.pinv(%s{%s}): expected a tensor with 2 or more dimensions of float, double, cfloat or cdouble types",
        tsr_dtype_scalar_name(a->dtype), tsr_sizes_text(a));
}

static TsrStatus pinv(TsrTensor **out, const TsrTensor *a, const TsrTensor *atol, const TsrTensor *rtol,
                      bool hermitian) {
    if (a->numel == 0) {
        int64_t sizes[TSR_MAX_DIMS];
        int d = tsr_ndim(a);
        memcpy(sizes, a->sizes, sizeof(int64_t) * (size_t)d);
        sizes[d - 2] = tsr_la_cols(a), sizes[d - 1] = tsr_la_rows(a);
        return tsr_tensor_new(out, d, sizes, a->dtype, a->device);
    }
    return hermitian ? pinv_hermitian(out, a, atol, rtol) : pinv_general(out, a, atol, rtol);
}

TsrStatus op_pinv(TsrOpCall *c) {
    static const char fn[] = "torch.linalg.pinv";
    TSR_OWNED atol = NULL;
    TSR_OWNED rtol = NULL;
    TsrTensor *r = NULL;
    bool number = tsr_arg_given(&c->arg[1]) && c->arg[1].kind != TSR_ARG_TENSOR;
    TSR_TRY(check_rows(c));
    TSR_TRY(check_pinv(c, number && !tsr_arg_given(&c->arg[2])));
    TSR_TRY(tolerance(&atol, &c->arg[1], c->arg[0].t, fn, "atol"));
    TSR_TRY(tolerance(&rtol, &c->arg[2], c->arg[0].t, fn, "rtol"));
    TSR_TRY(make_relative(&rtol, c->arg[0].t, atol));
    return tsr_finish_move(c, pinv(&r, c->arg[0].t, atol, rtol, c->arg[3].b), r);
}

/* rcond, hermitian. */
TsrStatus op_pinv_rcond(TsrOpCall *c) {
    TSR_OWNED rtol = NULL;
    TSR_OWNED zero = NULL;
    TsrTensor *r = NULL;
    TSR_TRY(tsr_check_out_fits(c, 0, c->arg[0].t->dtype));
    TSR_TRY(tolerance(&rtol, &c->arg[1], c->arg[0].t, "torch.linalg.pinv", "rcond"));
    TSR_TRY(check_pinv(c, false));
    TSR_TRY(tsr_tensor_new_scalar(&zero, tsr_scalar_float(0), TSR_FLOAT32));
    return tsr_finish_move(c, pinv(&r, c->arg[0].t, zero, rtol, c->nargs > 2 && c->arg[2].b), r);
}

/* ---- polar form and square root ---- */

/* v diag(w) v^H for w >= 0, exactly Hermitian: the product of v diag(sqrt w) with its own adjoint. */
static TsrStatus weighted_gram(TsrTensor **out, const TsrTensor *v, const TsrTensor *w) {
    TSR_OWNED root = NULL;
    TSR_OWNED row = NULL;
    TSR_OWNED scaled = NULL;
    TSR_OWNED adjoint = NULL;
    TSR_TRY(tsr_invoke_new(&root, 1, "sqrt", "t", w));
    TSR_TRY(tsr_tensor_new_unsqueeze(&row, root, -2));
    TSR_TRY(tsr_invoke_new(&scaled, 1, "mul", "tt", v, row));
    TSR_TRY(tsr_la_new_mt(&adjoint, scaled, true));
    return tsr_matmul_new(out, scaled, adjoint);
}

TsrStatus op_linalg_polar(TsrOpCall *c) {
    const TsrTensor *a = c->arg[0].t;
    TSR_OWNED u = NULL;
    TSR_OWNED s = NULL;
    TSR_OWNED vh = NULL;
    TSR_OWNED v = NULL;
    TSR_OWNED unitary = NULL;
    TSR_OWNED positive = NULL;
    TSR_TRY(tsr_la_check_matrix(a, "linalg.polar", "A"));
    TSR_TRY(tsr_la_check_float(a, "linalg.polar"));
    if (tsr_la_rows(a) < tsr_la_cols(a))
        return tsr_error(
            TSR_RUNTIME_ERROR,
            "linalg.polar: input must have at least as many rows as columns, but got %lld by %lld matrices",
            (long long)tsr_la_rows(a), (long long)tsr_la_cols(a));
    TSR_TRY(tsr_la_need_kernel("linalg_svd_cpu", a));
    if (tsr_dtype_is_float8(a->dtype)) return tsr_not_implemented("add_stub", a->dtype); /* of nothing */
    TSR_TRY(tsr_la_new_svd(&u, &s, &vh, a, 'S'));
    TSR_TRY(tsr_matmul_new(&unitary, u, vh));
    TSR_TRY(tsr_la_new_mt(&v, vh, true));
    TSR_TRY(weighted_gram(&positive, v, s));
    return tsr_return_move2(c, tsr_owned_take(&unitary), tsr_owned_take(&positive));
}

/* Half of a row-major matrix of nothing and its adjoint, as PyTorch lays it out. */
static TsrStatus half_sum_new(TsrTensor **out, const TsrTensor *a) {
    TSR_OWNED row = NULL;
    TSR_OWNED turned = NULL;
    TSR_OWNED sum = NULL;
    TSR_TRY(tsr_tensor_new_like(&row, a, TSR_DTYPE_NONE, TSR_CONTIGUOUS));
    TSR_TRY(tsr_la_new_mt(&turned, row, true));
    TSR_TRY(tsr_invoke_new(&sum, 1, "add", "tt", row, turned));
    return tsr_invoke_new(out, 1, "mul", "ts", sum, tsr_scalar_float(0.5));
}

TsrStatus op_matrix_sqrth(TsrOpCall *c) {
    const TsrTensor *a = c->arg[0].t;
    TSR_OWNED w = NULL;
    TSR_OWNED v = NULL;
    TSR_OWNED positive = NULL;
    TSR_OWNED root = NULL;
    TsrTensor *r = NULL;
    TSR_TRY(tsr_la_check_square(a, "linalg.matrix_sqrth"));
    TSR_TRY(tsr_la_check_float_high(a, "linalg.matrix_sqrth"));
    TSR_TRY(tsr_la_new_eigh(&w, &v, a, 'L', "linalg.eigh"));
    TSR_TRY(tsr_invoke_new(&positive, 1, "clamp_min", "ti", w, (int64_t)0));
    TSR_TRY(tsr_invoke_new(&root, 1, "sqrt", "t", positive));
    if (a->numel > 0) return tsr_finish_move(c, weighted_gram(&r, v, root), r);
    return tsr_finish_move(c, half_sum_new(&r, a), r);
}
