/* Eigenvalues, singular values, and what is built on them: rank, pseudoinverse, condition number, polar form. */
#include <float.h>
#include <math.h>
#include <string.h>

#include "la.h"
#include "mem.h"
#include "op_help.h"

/* ---- general eigenvalues ---- */

typedef struct GeevWork { void *work, *rwork, *wr, *wi; int lwork; } GeevWork;

static void geev(const TsrLaJob *job, char jobv, int n, void *a, void *w, void *v, GeevWork *k, int *info) {
    char no = 'N';
    int one = 1, ldv = jobv == 'V' ? n : 1;
    if (job->is_complex) job->blas->geev_complex[job->t](&no, &jobv, &n, a, &n, w, NULL, &one, v, &ldv, k->work, &k->lwork, k->rwork, info, 1, 1);
    else job->blas->geev_real[job->t](&no, &jobv, &n, a, &n, k->wr, k->wi, NULL, &one, v, &ldv, k->work, &k->lwork, info, 1, 1);
}

/* LAPACK packs a conjugate pair of vectors of a real matrix as real part, imaginary part. */
static void unpack_vectors(TsrBlasType t, TsrBlasType ct, int64_t n, const void *wr, const void *wi, const void *vr, void *w, void *v) {
    for (int64_t j = 0; j < n; j++) {
        double im = creal(tsr_la_get(t, wi, j));
        tsr_la_set(ct, w, j, CMPLX(creal(tsr_la_get(t, wr, j)), im));
        for (int64_t i = 0; i < n && v != NULL; i++) {
            double x = creal(tsr_la_get(t, vr, j * n + i));
            if (im == 0 || j + 1 == n) {
                tsr_la_set(ct, v, j * n + i, x);
                continue;
            }
            double y = creal(tsr_la_get(t, vr, (j + 1) * n + i));
            tsr_la_set(ct, v, j * n + i, CMPLX(x, y));
            tsr_la_set(ct, v, (j + 1) * n + i, CMPLX(x, -y));
        }
        if (im != 0 && j + 1 < n) {
            j++;
            tsr_la_set(ct, w, j, CMPLX(creal(tsr_la_get(t, wr, j)), creal(tsr_la_get(t, wi, j))));
        }
    }
}

/* The eigenvectors of a real matrix as LAPACK's geev finds them, step by step, so that the last one, which makes the largest component of a complex
 * vector real, turns the way it did before LAPACK 3.10: that is the sign which PyTorch shows. `v` receives packed real vectors. */
typedef struct RealEig { void *tau, *scale, *work; int lwork; } RealEig;

static int real_eig(const TsrLaJob *job, int n, char *a, char *wr, char *wi, char *v, const RealEig *k) {
    const TsrBlas *blas = job->blas;
    TsrBlasType t = job->t;
    int low, high, info = 0, found, one = 1;
    blas->gebal_real[t]("B", &n, a, &n, &low, &high, k->scale, &info, 1);
    blas->gehrd_real[t](&n, &low, &high, a, &n, k->tau, k->work, &k->lwork, &info);
    memcpy(v, a, (size_t)n * (size_t)n * job->item);
    blas->orghr_real[t](&n, &low, &high, v, &n, k->tau, k->work, &k->lwork, &info);
    blas->hseqr_real[t]("S", "V", &n, &low, &high, a, &n, wr, wi, v, &n, k->work, &k->lwork, &info, 1, 1);
    if (info != 0) return info;
    int none = 0;
    blas->trevc3_real[t]("R", "B", &none, &n, a, &n, NULL, &one, v, &n, &n, &found, k->work, &k->lwork, &info, 1, 1);
    blas->gebak_real[t]("B", "R", &n, &low, &high, k->scale, &n, v, &n, &info, 1, 1);
    return info;
}

static double norm_of(TsrBlasType t, const void *v, int64_t from, int64_t n) {
    double sum = 0;
    for (int64_t i = 0; i < n; i++) sum = hypot(sum, creal(tsr_la_get(t, v, from + i)));
    return sum;
}

/* Unit length; of a complex pair (columns j and j + 1), turned so that the largest component is real. */
static void normalize_vector(TsrBlasType t, void *v, int64_t n, int64_t j, bool pair) {
    double size = norm_of(t, v, j * n, n), best = -1, c, s;
    if (pair) size = hypot(size, norm_of(t, v, (j + 1) * n, n));
    for (int64_t i = 0; i < (pair ? 2 : 1) * n; i++) tsr_la_set(t, v, j * n + i, tsr_la_get(t, v, j * n + i) / size);
    if (!pair) return;
    int64_t k = 0;
    for (int64_t i = 0; i < n; i++) {
        double x = creal(tsr_la_get(t, v, j * n + i)), y = creal(tsr_la_get(t, v, (j + 1) * n + i));
        if (x * x + y * y > best) best = x * x + y * y, k = i;
    }
    double f = creal(tsr_la_get(t, v, j * n + k)), g = creal(tsr_la_get(t, v, (j + 1) * n + k)), r = hypot(f, g);
    c = g == 0 ? 1 : f == 0 ? 0 : f / r;
    s = g == 0 ? 0 : f == 0 ? 1 : g / r;
    if (fabs(f) > fabs(g) && c < 0) c = -c, s = -s;
    for (int64_t i = 0; i < n; i++) {
        double x = creal(tsr_la_get(t, v, j * n + i)), y = creal(tsr_la_get(t, v, (j + 1) * n + i));
        tsr_la_set(t, v, j * n + i, c * x + s * y);
        tsr_la_set(t, v, (j + 1) * n + i, i == k ? 0 : c * y - s * x);
    }
}

static void normalize_vectors(TsrBlasType t, void *v, int64_t n, const void *wi) {
    for (int64_t j = 0; j < n; j++) {
        bool pair = creal(tsr_la_get(t, wi, j)) != 0 && j + 1 < n;
        normalize_vector(t, v, n, j, pair);
        j += pair;
    }
}

static TsrStatus eig_run(TsrTensor *f, TsrTensor *w, TsrTensor *v, const char *fn) {
    TsrLaJob job;
    int n, info = 0;
    double query[4] = {0};
    TsrBlasType ct;
    TSR_TRY(tsr_la_begin(&job, f->dtype));
    TSR_TRY(tsr_blas_int(&n, tsr_la_rows(f)));
    tsr_blas_type(&ct, w->dtype);
    TSR_OWNED work = NULL;
    TSR_OWNED rwork = NULL;
    TSR_OWNED real = NULL;
    char jobv = v != NULL ? 'V' : 'N';
    TSR_TRY(tsr_la_new_scratch(&rwork, 2 * (int64_t)n, job.real_item));
    TSR_TRY(tsr_la_new_scratch(&real, job.is_complex ? 1 : 2 * (int64_t)n + (v != NULL ? (int64_t)n * n : 0), job.item));
    char *wr = tsr_data(real), *wi = wr + (size_t)n * job.item, *vr = wi + (size_t)n * job.item;
    GeevWork k = {query, tsr_data(rwork), wr, wi, -1};
    geev(&job, jobv, n, tsr_data(f), tsr_data(w), job.is_complex && v != NULL ? tsr_data(v) : vr, &k, &info);
    k.lwork = tsr_la_lwork(&job, query);
    TSR_TRY(tsr_la_new_scratch(&work, k.lwork, job.item));
    k.work = tsr_data(work);
    size_t citem = tsr_itemsize(w);
    for (int64_t b = 0; b < tsr_la_batches(f); b++) {
        char *wb = (char *)tsr_data(w) + (size_t)(b * n) * citem, *vb = v != NULL ? tsr_la_matrix(v, b) : NULL;
        if (v != NULL && !job.is_complex) {
            info = real_eig(&job, n, tsr_la_matrix(f, b), wr, wi, vr, &(RealEig){tsr_data(rwork), (char *)tsr_data(rwork) + (size_t)n * job.item, k.work, k.lwork});
            if (info == 0) normalize_vectors(job.t, vr, n, wi);
        } else {
            geev(&job, jobv, n, tsr_la_matrix(f, b), wb, job.is_complex ? vb : vr, &k, &info);
        }
        if (info != 0)
            return tsr_error(TSR_LINALG_ERROR, "%s: The algorithm failed to converge because the input matrix is ill-conditioned or has too many repeated eigenvalues (error code: %d).", fn, info);
        if (!job.is_complex) unpack_vectors(job.t, ct, n, wr, wi, vr, wb, vb);
        TSR_TRY(tsr_interrupt_check());
    }
    return TSR_OK;
}

static TsrStatus eig(TsrTensor **w, TsrTensor **v, const TsrTensor *a, const char *fn) {
    TSR_OWNED f = NULL;
    TSR_OWNED ww = NULL;
    TSR_OWNED vv = NULL;
    if (!tsr_dtype_is_float(a->dtype) && !tsr_dtype_is_complex(a->dtype)) return tsr_error(TSR_RUNTIME_ERROR, "Unknown Complex ScalarType for %s", tsr_dtype_scalar_name(a->dtype));
    TSR_TRY(tsr_la_check_square(a, fn, "A"));
    TSR_TRY(tsr_la_not_implemented("linalg_eig_out_cpu", a->dtype));
    TsrDtype cd = tsr_dtype_complex_of(a->dtype);
    TSR_TRY(tsr_la_new_copy(&f, a));
    TsrBlasType t;
    tsr_blas_type(&t, a->dtype);
    const int64_t elements = tsr_is_meta(f) ? 0 : f->numel;
    TSR_IN_PIECES(k, elements) {
        double complex x = tsr_la_get(t, tsr_data(f), k);
        if (!isfinite(creal(x)) || !isfinite(cimag(x))) return tsr_error(TSR_RUNTIME_ERROR, "torch.linalg.eig: input tensor should not contain infs or NaNs.");
    }
    TSR_TRY(tsr_la_new_vector(&ww, a, tsr_la_cols(a), cd));
    if (v != NULL) TSR_TRY(tsr_la_new_like(&vv, a, tsr_la_rows(a), tsr_la_cols(a), cd));
    if (f->numel > 0 && !tsr_is_meta(f)) TSR_TRY(eig_run(f, ww, vv, fn));
    *w = tsr_owned_take(&ww);
    if (v != NULL) *v = tsr_owned_take(&vv);
    return TSR_OK;
}

TsrStatus op_linalg_eig(TsrOpCall *c) {
    TsrTensor *w, *v;
    TSR_TRY(eig(&w, &v, c->arg[0].t, "linalg.eig"));
    return tsr_return_move2(c, w, v);
}

TsrStatus op_linalg_eigvals(TsrOpCall *c) {
    TsrTensor *w = NULL;
    return tsr_finish_move(c, eig(&w, NULL, c->arg[0].t, "linalg.eigvals"), w);
}

/* ---- symmetric ---- */

static TsrStatus eigh(TsrTensor **w, TsrTensor **v, const TsrTensor *a, const char *uplo, const char *fn) {
    char which = uplo[0] >= 'a' && uplo[0] <= 'z' ? (char)(uplo[0] - 32) : uplo[0];
    TSR_TRY(tsr_la_check_square(a, "linalg.eigh", "A"));
    if (strlen(uplo) != 1 || (which != 'L' && which != 'U')) return tsr_error(TSR_RUNTIME_ERROR, "Expected UPLO argument to be 'L' or 'U', but got %s", uplo);
    TSR_TRY(tsr_la_need_kernel("linalg_eigh_cpu", a));
    return tsr_la_new_eigh(w, v, a, which, fn);
}

TsrStatus op_linalg_eigh(TsrOpCall *c) {
    TsrTensor *w, *v;
    TSR_TRY(eigh(&w, &v, c->arg[0].t, c->arg[1].str, "linalg.eigh"));
    return tsr_return_move2(c, w, v);
}

TsrStatus op_linalg_eigvalsh(TsrOpCall *c) {
    TsrTensor *w = NULL;
    return tsr_finish_move(c, eigh(&w, NULL, c->arg[0].t, c->arg[1].str, "linalg.eigvalsh"), w);
}

/* ---- singular values ---- */

static TsrStatus check_svd(const TsrTensor *a, const char *fn) {
    TSR_TRY(tsr_la_check_matrix(a, fn, "A"));
    TSR_TRY(tsr_la_check_float(a, fn));
    return tsr_la_need_kernel("linalg_svd_cpu", a);
}

static TsrStatus check_driver(const TsrArg *driver) {
    if (!tsr_arg_given(driver)) return TSR_OK;
    return tsr_error(TSR_RUNTIME_ERROR, "torch.linalg.svd: keyword argument `driver=` is only supported on CUDA inputs with cuSOLVER backend.");
}

static TsrStatus return3(TsrOpCall *c, TsrTensor *x, TsrTensor *y, TsrTensor *z) {
    tsr_return_move2(c, x, y);
    c->ret[2] = (TsrArg){.kind = TSR_ARG_TENSOR, .t = z};
    c->nret = 3;
    return TSR_OK;
}

TsrStatus op_linalg_svd(TsrOpCall *c) {
    TsrTensor *u, *s, *vh;
    TSR_TRY(check_svd(c->arg[0].t, "linalg.svd"));
    TSR_TRY(check_driver(&c->arg[2]));
    TSR_TRY(tsr_la_new_svd(&u, &s, &vh, c->arg[0].t, c->arg[1].b ? 'A' : 'S', "linalg.svd"));
    return return3(c, u, s, vh);
}

TsrStatus op_linalg_svdvals(TsrOpCall *c) {
    TsrTensor *s = NULL;
    TSR_TRY(check_svd(c->arg[0].t, "linalg.svd"));
    TSR_TRY(check_driver(&c->arg[1]));
    return tsr_finish_move(c, tsr_la_new_svd(NULL, &s, NULL, c->arg[0].t, 'N', "linalg.svd"), s);
}

static TsrStatus zeros(TsrTensor **out, const TsrTensor *like, int64_t n) {
    int64_t sizes[TSR_MAX_DIMS];
    int d = tsr_ndim(like);
    memcpy(sizes, like->sizes, sizeof(int64_t) * (size_t)d);
    sizes[d - 2] = sizes[d - 1] = n;
    TSR_TRY(tsr_tensor_new(out, d, sizes, like->dtype, like->device));
    if (!tsr_is_meta(*out) && (*out)->numel > 0) memset(tsr_data(*out), 0, (size_t)(*out)->numel * tsr_itemsize(*out));
    return TSR_OK;
}

TsrStatus op_svd(TsrOpCall *c) {
    const TsrTensor *a = c->arg[0].t;
    TSR_OWNED u = NULL;
    TSR_OWNED s = NULL;
    TSR_OWNED vh = NULL;
    TSR_OWNED v = NULL;
    if (tsr_ndim(a) < 2) return tsr_error(TSR_RUNTIME_ERROR, "linalg.svd: input should have at least 2 dimensions, but has %d dimensions instead", tsr_ndim(a));
    TSR_TRY(tsr_la_check_float(a, "linalg.svd"));
    TSR_TRY(tsr_la_need_kernel("linalg_svd_cpu", a));
    if (c->arg[2].b) {
        TSR_TRY(tsr_la_new_svd(&u, &s, &vh, a, c->arg[1].b ? 'S' : 'A', "linalg.svd"));
    } else {
        TSR_TRY(tsr_la_new_svd(NULL, &s, NULL, a, 'N', "linalg.svd"));
        TSR_TRY(zeros(&u, a, tsr_la_rows(a)));
        TSR_TRY(zeros(&vh, a, tsr_la_cols(a)));
    }
    TSR_TRY(tsr_la_new_mt(&v, vh, true));
    return return3(c, tsr_owned_take(&u), tsr_owned_take(&s), tsr_owned_take(&v));
}

/* ---- rank and pseudoinverse ---- */

/* A tolerance argument as a tensor that broadcasts over the batch, or NULL when not given. Numbers become the real dtype of a. */
static TsrStatus tolerance(TsrTensor **out, const TsrArg *arg, const TsrTensor *a, const char *fn, const char *name) {
    *out = NULL;
    if (!tsr_arg_given(arg)) return TSR_OK;
    if (arg->kind == TSR_ARG_TENSOR) {
        if (tsr_dtype_is_complex(arg->t->dtype))
            return tsr_error(TSR_RUNTIME_ERROR, "%s: %s tensor of complex type is not supported. Got %s", fn, name, tsr_dtype_scalar_name(arg->t->dtype));
        return tsr_tensor_new_unsqueeze(out, arg->t, -1);
    }
    return tsr_tensor_new_scalar(out, tsr_scalar_float(arg->f), TSR_FLOAT64 == tsr_dtype_real_of(a->dtype) ? TSR_FLOAT64 : TSR_FLOAT32);
}

static double default_rtol(const TsrTensor *a) {
    double eps = tsr_dtype_real_of(a->dtype) == TSR_FLOAT32 ? FLT_EPSILON : DBL_EPSILON;
    return eps * (double)TSR_MAX(tsr_la_rows(a), tsr_la_cols(a));
}

/* mask = s > max(atol, rtol * largest s), along the last dimension. The default rtol applies where atol is not positive. */
static TsrStatus above_tolerance(TsrTensor **mask, const TsrTensor *s, const TsrTensor *a, const TsrTensor *atol, const TsrTensor *rtol) {
    TSR_OWNED largest = NULL;
    TSR_OWNED r = NULL;
    TSR_OWNED scaled = NULL;
    TSR_OWNED limit = NULL;
    int64_t last = -1;
    TSR_TRY(tsr_invoke_new(&largest, 1, "amax", "tIb", s, 1, &last, 1));
    if (rtol != NULL) {
        r = tsr_tensor_retain((TsrTensor *)rtol);
    } else {
        TSR_TRY(tsr_tensor_new_scalar(&r, tsr_scalar_float(default_rtol(a)), s->dtype));
        if (atol != NULL) {
            TSR_OWNED zero = NULL;
            TSR_OWNED positive = NULL;
            TsrTensor *chosen;
            TSR_TRY(tsr_tensor_new_scalar(&zero, tsr_scalar_float(0), s->dtype));
            TSR_TRY(tsr_invoke_new(&positive, 1, "gt", "tt", atol, zero));
            TSR_TRY(tsr_invoke_new(&chosen, 1, "where", "ttt", positive, zero, r));
            tsr_owned_put_move(&r, chosen);
        }
    }
    TSR_TRY(tsr_invoke_new(&scaled, 1, "mul", "tt", r, largest));
    if (atol != NULL) TSR_TRY(tsr_invoke_new(&limit, 1, "maximum", "tt", atol, scaled));
    return tsr_invoke_new(mask, 1, "gt", "tt", s, limit != NULL ? limit : scaled);
}

static TsrStatus rank_new(TsrTensor **out, const TsrTensor *a, const TsrTensor *atol, const TsrTensor *rtol, bool hermitian) {
    TSR_OWNED s = NULL;
    TSR_OWNED mask = NULL;
    int64_t last = -1;
    TSR_TRY(tsr_la_check_matrix(a, "torch.linalg.matrix_rank", "input"));
    TsrBlasType t;
    if (!tsr_blas_type(&t, a->dtype)) return tsr_error(TSR_RUNTIME_ERROR, "This function doesn't handle types other than float and double");
    if (a->numel == 0) {
        TSR_TRY(tsr_la_new_vector(out, a, -1, TSR_INT64));
        return tsr_is_meta(*out) ? TSR_OK : tsr_tensor_fill(*out, tsr_scalar_int(0));
    }
    if (hermitian) {
        TSR_OWNED w = NULL;
        TSR_TRY(eigh(&w, NULL, a, "L", "linalg.eigvalsh"));
        TSR_TRY(tsr_invoke_new(&s, 1, "abs", "t", w));
    } else {
        TSR_TRY(tsr_la_new_svd(NULL, &s, NULL, a, 'N', "linalg.svd"));
    }
    TSR_TRY(above_tolerance(&mask, s, a, atol, rtol));
    return tsr_invoke_new(out, 1, "sum", "tI", mask, 1, &last);
}

/* atol, rtol, hermitian. */
TsrStatus op_matrix_rank(TsrOpCall *c) {
    static const char fn[] = "torch.linalg.matrix_rank";
    TSR_OWNED atol = NULL;
    TSR_OWNED rtol = NULL;
    TsrTensor *r = NULL;
    TSR_TRY(tolerance(&atol, &c->arg[1], c->arg[0].t, fn, "atol"));
    TSR_TRY(tolerance(&rtol, &c->arg[2], c->arg[0].t, fn, "rtol"));
    return tsr_finish_move(c, rank_new(&r, c->arg[0].t, atol, rtol, c->arg[3].b), r);
}

/* tol (absolute, even when 0), hermitian. */
TsrStatus op_matrix_rank_tol(TsrOpCall *c) {
    TSR_OWNED atol = NULL;
    TSR_OWNED zero = NULL;
    TsrTensor *r = NULL;
    TSR_TRY(tolerance(&atol, &c->arg[1], c->arg[0].t, "torch.linalg.matrix_rank", "tol"));
    TSR_TRY(tsr_tensor_new_scalar(&zero, tsr_scalar_float(0), TSR_FLOAT32));
    return tsr_finish_move(c, rank_new(&r, c->arg[0].t, atol, zero, c->arg[2].b), r);
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
    TSR_TRY(eigh(&w, &u, a, "L", "linalg.eigh"));
    TSR_TRY(tsr_invoke_new(&size, 1, "abs", "t", w));
    TSR_TRY(above_tolerance(&mask, size, a, atol, rtol));
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
    TSR_TRY(tsr_la_new_svd(&u, &s, &vh, a, 'S', "linalg.svd"));
    TSR_TRY(above_tolerance(&mask, s, a, atol, rtol));
    TSR_TRY(masked_inverse(&inv, s, mask));
    TSR_TRY(tsr_tensor_new_unsqueeze(&column, inv, -1));
    TSR_TRY(tsr_la_new_mt(&uh, u, true));
    TSR_TRY(tsr_invoke_new(&scaled, 1, "mul", "tt", column, uh));
    TSR_TRY(tsr_la_new_mt(&v, vh, true));
    return tsr_matmul_new(out, v, scaled);
}

static TsrStatus pinv(TsrTensor **out, const TsrTensor *a, const TsrTensor *atol, const TsrTensor *rtol, bool hermitian) {
    TsrBlasType t;
    if (tsr_ndim(a) < 2 || !tsr_blas_type(&t, a->dtype)) {
        return tsr_error(TSR_RUNTIME_ERROR, "linalg.pinv(%s{%s}): expected a tensor with 2 or more dimensions of float, double, cfloat or cdouble types", tsr_dtype_scalar_name(a->dtype),
                         tsr_sizes_text(a));
    }
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
    TSR_TRY(tolerance(&atol, &c->arg[1], c->arg[0].t, fn, "atol"));
    TSR_TRY(tolerance(&rtol, &c->arg[2], c->arg[0].t, fn, "rtol"));
    return tsr_finish_move(c, pinv(&r, c->arg[0].t, atol, rtol, c->arg[3].b), r);
}

/* rcond, hermitian. */
TsrStatus op_pinv_rcond(TsrOpCall *c) {
    TSR_OWNED rtol = NULL;
    TSR_OWNED zero = NULL;
    TsrTensor *r = NULL;
    TSR_TRY(tolerance(&rtol, &c->arg[1], c->arg[0].t, "torch.linalg.pinv", "rcond"));
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
    TSR_TRY(tsr_la_check_float_high(a, "linalg.polar"));
    if (tsr_la_rows(a) < tsr_la_cols(a))
        return tsr_error(TSR_RUNTIME_ERROR, "linalg.polar: input must have at least as many rows as columns, but got %lld by %lld matrices", (long long)tsr_la_rows(a), (long long)tsr_la_cols(a));
    TSR_TRY(tsr_la_new_svd(&u, &s, &vh, a, 'S', "linalg.svd"));
    TSR_TRY(tsr_matmul_new(&unitary, u, vh));
    TSR_TRY(tsr_la_new_mt(&v, vh, true));
    TSR_TRY(weighted_gram(&positive, v, s));
    return tsr_return_move2(c, tsr_owned_take(&unitary), tsr_owned_take(&positive));
}

TsrStatus op_matrix_sqrth(TsrOpCall *c) {
    const TsrTensor *a = c->arg[0].t;
    TSR_OWNED w = NULL;
    TSR_OWNED v = NULL;
    TSR_OWNED positive = NULL;
    TSR_OWNED root = NULL;
    TsrTensor *r = NULL;
    TSR_TRY(tsr_la_check_square(a, "linalg.matrix_sqrth", "A"));
    TSR_TRY(tsr_la_check_float_high(a, "linalg.matrix_sqrth"));
    TSR_TRY(tsr_la_new_eigh(&w, &v, a, 'L', "linalg.eigh"));
    TSR_TRY(tsr_invoke_new(&positive, 1, "clamp_min", "ti", w, (int64_t)0));
    TSR_TRY(tsr_invoke_new(&root, 1, "sqrt", "t", positive));
    return tsr_finish_move(c, weighted_gram(&r, v, root), r);
}

/* ---- powers and the exponential ---- */

static TsrStatus identity_like(TsrTensor **out, const TsrTensor *a) {
    TSR_OWNED r = NULL;
    TSR_OWNED diagonal = NULL;
    TSR_TRY(tsr_tensor_new(&r, tsr_ndim(a), a->sizes, a->dtype, a->device));
    if (!tsr_is_meta(r)) {
        TSR_TRY(tsr_tensor_fill(r, tsr_scalar_int(0)));
        TSR_TRY(tsr_tensor_new_diagonal(&diagonal, r, 0, -2, -1));
        TSR_TRY(tsr_tensor_fill(diagonal, tsr_scalar_int(1)));
    }
    *out = tsr_owned_take(&r);
    return TSR_OK;
}

/* Binary powering: the result takes in the squares that n's bits ask for. */
static TsrStatus positive_power(TsrTensor **out, const TsrTensor *a, uint64_t n) {
    TSR_OWNED square = tsr_tensor_retain((TsrTensor *)a);
    TSR_OWNED result = NULL;
    TsrTensor *next;
    while (n > 0) {
        if (n & 1) {
            if (result == NULL) {
                result = tsr_tensor_retain(square);
            } else {
                TSR_TRY(tsr_matmul_new(&next, result, square));
                tsr_owned_put_move(&result, next);
            }
        }
        n >>= 1;
        if (n == 0) break;
        TSR_TRY(tsr_matmul_new(&next, square, square));
        tsr_owned_put_move(&square, next);
        TSR_TRY(tsr_interrupt_check());
    }
    if (result == a) return tsr_tensor_new_clone(out, a, TSR_CONTIGUOUS);
    *out = tsr_owned_take(&result);
    return TSR_OK;
}

TsrStatus op_matrix_power(TsrOpCall *c) {
    const TsrTensor *a = c->arg[0].t;
    int64_t n = c->arg[1].i;
    TSR_OWNED inverse = NULL;
    TSR_OWNED info = NULL;
    TsrTensor *r = NULL;
    TSR_TRY(tsr_la_check_square(a, "linalg.matrix_power", "A"));
    if (n == 0) return tsr_finish_move(c, identity_like(&r, a), r);
    if (n > 0) return tsr_finish_move(c, positive_power(&r, a, (uint64_t)n), r);
    TSR_TRY(tsr_la_check_float_high(a, "linalg.inv"));
    TSR_TRY(tsr_la_new_inverse(&inverse, &info, a));
    TSR_TRY(tsr_la_check_info(info, "linalg.inv", TSR_LA_SINGULAR_INVERSE));
    if (n == -1) return tsr_return_move(c, tsr_owned_take(&inverse));
    return tsr_finish_move(c, positive_power(&r, inverse, -(uint64_t)n), r);
}

/* Optimized Taylor polynomials: P. Bader, S. Blanes, F. Casas, "Computing the Matrix Exponential with an Optimized Taylor Polynomial
 * Approximation", Mathematics 7 (2019) 1174. Degree d needs few products; `theta` is the largest 1-norm for which it is exact to the dtype. */
enum { DEGREES = 6, MAX_POWERS = 5 };
static const double theta_f32[DEGREES] = {1.192092800768788e-07, 5.978858893805233e-04, 5.116619363445086e-02, 5.800524627688768e-01, 1.461661507209034e+00, 3.010066362817634e+00};
static const double theta_f64[DEGREES] = {2.220446049250313e-16, 2.580956802971767e-08, 3.397168839976962e-04, 4.991228871115323e-02, 2.996158913811580e-01, 1.090863719290036e+00};

typedef struct Powers { TsrTensor *p[MAX_POWERS]; int n; TsrDtype dtype; } Powers; /* I, A, A^2, A^3, A^6, each of a batch of matrices */

static void powers_free(Powers *w) {
    for (int i = 0; i < MAX_POWERS; i++) tsr_tensor_free(w->p[i]);
}

static TsrStatus powers_fill(Powers *w, const TsrTensor *a, int n) {
    static const int left[MAX_POWERS] = {0, 0, 1, 1, 3}, right[MAX_POWERS] = {0, 0, 1, 2, 3};
    w->n = n;
    w->dtype = a->dtype;
    TSR_TRY(identity_like(&w->p[0], a));
    w->p[1] = tsr_tensor_retain((TsrTensor *)a);
    for (int i = 2; i < n; i++) TSR_TRY(tsr_matmul_new(&w->p[i], w->p[left[i]], w->p[right[i]]));
    return TSR_OK;
}

/* `v` as an element of dtype holds it. */
static double rounded(TsrDtype dtype, double v) {
    char cell[16];
    tsr_scalar_store(tsr_scalar_float(v), dtype, cell);
    return tsr_scalar_to_double(tsr_scalar_load(dtype, cell));
}

static bool is_half(TsrDtype dtype) { return dtype == TSR_FLOAT16 || dtype == TSR_BFLOAT16; }

/* The i-th coefficient of a table. PyTorch hands its tables of doubles over as memory of the matrix's dtype: for the half types
 * the coefficients are the 16-bit words of the doubles, and so they are here. */
static double coefficient(TsrDtype dtype, const double *table, int i) {
    if (!is_half(dtype)) return dtype == TSR_FLOAT32 || dtype == TSR_COMPLEX64 ? (double)(float)table[i] : table[i];
    return tsr_scalar_to_double(tsr_scalar_load(dtype, (const char *)table + 2 * (size_t)i));
}

#define WEIGHTED_SUM(name, T) \
    static void name(void *out, void *const *p, const double *c, int n, int64_t count) { \
        for (int64_t k = 0; k < count; k++) { \
            T sum = 0; \
            for (int i = 0; i < n; i++) sum += ((const T *)p[i])[k] * (T)c[i]; \
            ((T *)out)[k] = sum; \
        } \
    }
WEIGHTED_SUM(weighted_floats, float)
WEIGHTED_SUM(weighted_doubles, double)

static void weighted_halves(TsrDtype dtype, char *out, void *const *p, const double *c, int n, int64_t count) {
    for (int64_t k = 0; k < count; k++) {
        double sum = 0;
        for (int i = 0; i < n; i++) sum = rounded(dtype, sum + rounded(dtype, tsr_scalar_to_double(tsr_scalar_load(dtype, (const char *)p[i] + 2 * k)) * c[i]));
        tsr_scalar_store(tsr_scalar_float(sum), dtype, out + 2 * k);
    }
}

/* The sum of row `row` of the table of n columns times p[first] ..., rounded at each step. */
static TsrStatus combine(TsrTensor **out, const Powers *w, int first, int n, const double *table, int row) {
    double c[MAX_POWERS];
    void *p[MAX_POWERS];
    TSR_OWNED r = NULL;
    TSR_TRY(tsr_tensor_new(&r, 3, w->p[0]->sizes, w->dtype, w->p[0]->device));
    int64_t count = r->numel * (tsr_dtype_is_complex(w->dtype) ? 2 : 1); /* both parts alike */
    for (int i = 0; i < n; i++) c[i] = coefficient(w->dtype, table, row * n + i), p[i] = tsr_data(w->p[first + i]);
    switch (tsr_dtype_real_of(w->dtype)) {
    case TSR_FLOAT32: weighted_floats(tsr_data(r), p, c, n, count); break;
    case TSR_FLOAT64: weighted_doubles(tsr_data(r), p, c, n, count); break;
    default: weighted_halves(w->dtype, tsr_data(r), p, c, n, count);
    }
    TSR_TRY(tsr_interrupt_check());
    *out = tsr_owned_take(&r);
    return TSR_OK;
}

static TsrStatus add_product(TsrTensor **slot, const TsrTensor *x, const TsrTensor *y) { /* *slot += x @ y */
    TSR_OWNED product = NULL;
    TsrTensor *sum;
    TSR_TRY(tsr_matmul_new(&product, x, y));
    TSR_TRY(tsr_invoke_new(&sum, 1, "add", "tt", *slot, product));
    tsr_owned_put_move(slot, sum);
    return TSR_OK;
}

static TsrStatus taylor1(TsrTensor **out, const TsrTensor *a, Powers *w) {
    TSR_TRY(powers_fill(w, a, 2));
    return tsr_invoke_new(out, 1, "add", "tt", w->p[0], w->p[1]);
}

static TsrStatus taylor2(TsrTensor **out, const TsrTensor *a, Powers *w) {
    TSR_OWNED sum = NULL;
    TSR_TRY(powers_fill(w, a, 3));
    TSR_TRY(tsr_invoke_new(&sum, 1, "add", "tt", w->p[0], w->p[1]));
    return tsr_invoke_new(out, 1, "add", "tts", sum, w->p[2], tsr_scalar_float(0.5));
}

static TsrStatus taylor4(TsrTensor **out, const TsrTensor *a, Powers *w) {
    TSR_OWNED inner = NULL;
    TSR_TRY(powers_fill(w, a, 3));
    TSR_TRY(combine(&inner, w, 0, 3, (double[]){1.0 / 2, 1.0 / 6, 1.0 / 24}, 0));
    TSR_TRY(tsr_matmul_new(&w->p[3], w->p[2], inner));
    return combine(out, w, 0, 4, (double[]){1, 1, 0, 1}, 0);
}

static TsrStatus taylor8(TsrTensor **out, const TsrTensor *a, Powers *w) {
    const double r = 13.30413469565007072504, x3 = 2.0 / 3, x1 = x3 * ((1 + r) / 88), x2 = x3 * ((1 + r) / 352);
    const double x4 = (-271 + 29 * r) / (315 * x3), x5 = (-11 + 11 * r) / (1260 * x3), x6 = (-99 + 11 * r) / (5040 * x3), x7 = (89 - r) / (5040 * x3), y2 = (857 - 58 * r) / 630;
    TSR_OWNED c1 = NULL;
    TSR_OWNED c2 = NULL;
    TSR_OWNED c3 = NULL;
    TSR_TRY(powers_fill(w, a, 3));
    TSR_TRY(combine(&c1, w, 1, 2, (double[]){x1, x2}, 0));
    TSR_TRY(tsr_matmul_new(&w->p[3], w->p[2], c1));
    TSR_TRY(combine(&c2, w, 2, 2, (double[]){x3, 1}, 0));
    TSR_TRY(combine(&c3, w, 0, 4, (double[]){x4, x5, x6, x7}, 0));
    TSR_TRY(tsr_matmul_new(&w->p[4], c2, c3));
    return combine(out, w, 0, 5, (double[]){1, 1, y2, 0, 1}, 0);
}

static TsrStatus taylor12(TsrTensor **out, const TsrTensor *a, Powers *w) {
    static const double b[4][4] = {{9.0198e-16, 0.46932117595418237389, -0.20099424927047284052, -0.04623946134063071740},
                                   {5.31597895759871264183, 1.19926790417132231573, 0.01179296240992997031, 0.01108844528519167989},
                                   {0.18188869982170434744, 0.05502798439925399070, 0.09351590770535414968, 0.00610700528898058230},
                                   {-2.0861320e-13, -0.13181061013830184015, -0.02027855540589259079, -0.00675951846863086359}};
    TsrTensor *s[4] = {NULL};
    TsrStatus status = powers_fill(w, a, 4);
    for (int i = 0; i < 4 && status == TSR_OK; i++) status = combine(&s[i], w, 0, 4, b[0], i);
    if (status == TSR_OK) status = add_product(&s[2], s[3], s[3]);
    TsrTensor *sum = NULL;
    if (status == TSR_OK) status = tsr_invoke_new(&sum, 1, "add", "tt", s[1], s[2]);
    if (status == TSR_OK) status = add_product(&s[0], sum, s[2]);
    if (status == TSR_OK) *out = tsr_tensor_retain(s[0]);
    for (int i = 0; i < 4; i++) tsr_tensor_free(s[i]);
    tsr_tensor_free(sum);
    return status;
}

static TsrStatus taylor18(TsrTensor **out, const TsrTensor *a, Powers *w) {
    static const double b[5][5] = {
        {0, -1.00365581030144618291e-01, -8.02924648241156932449e-03, -8.92138498045729985177e-04, 0},
        {0, 3.97849749499645077844e-01, 1.36783778460411720168e+00, 4.98289622525382669416e-01, -6.37898194594723280150e-04},
        {-1.09676396052962061844e+01, 1.68015813878906206114e+00, 5.71779846478865511061e-02, -6.98210122488052056106e-03, 3.34975017086070470649e-05},
        {-9.04316832390810593223e-02, -6.76404519071381882256e-02, 6.75961301770459654925e-02, 2.95552570429315521194e-02, -1.39180257516060693404e-05},
        {0, 0, -9.23364619367118555360e-02, -1.69364939002081722752e-02, -1.40086798182036094347e-05}};
    TsrTensor *s[5] = {NULL}, *sum = NULL;
    TsrStatus status = powers_fill(w, a, 5);
    for (int i = 0; i < 5 && status == TSR_OK; i++) status = combine(&s[i], w, 0, 5, b[0], i);
    if (status == TSR_OK) status = add_product(&s[3], s[0], s[4]);
    if (status == TSR_OK) status = tsr_invoke_new(&sum, 1, "add", "tt", s[2], s[3]);
    if (status == TSR_OK) status = add_product(&s[1], sum, s[3]);
    if (status == TSR_OK) *out = tsr_tensor_retain(s[1]);
    for (int i = 0; i < 5; i++) tsr_tensor_free(s[i]);
    tsr_tensor_free(sum);
    return status;
}

static TsrStatus taylor(TsrTensor **out, const TsrTensor *a, int degree) {
    Powers w = {.n = 0};
    TsrStatus s;
    switch (degree) {
    case 0: s = taylor1(out, a, &w); break;
    case 1: s = taylor2(out, a, &w); break;
    case 2: s = taylor4(out, a, &w); break;
    case 3: s = taylor8(out, a, &w); break;
    case 4: s = taylor12(out, a, &w); break;
    default: s = taylor18(out, a, &w); break;
    }
    powers_free(&w);
    return s;
}

/* The 1-norms of a batch of matrices, as doubles. */
static TsrStatus norms_new(TsrTensor **out, const TsrTensor *a) {
    TSR_OWNED sizes = NULL;
    TSR_OWNED sums = NULL;
    TSR_OWNED norms = NULL;
    TSR_TRY(tsr_invoke_new(&sizes, 1, "abs", "t", a));
    TSR_TRY(tsr_invoke_new(&sums, 1, "sum", "tI", sizes, 1, (int64_t[]){-2}));
    TSR_TRY(tsr_invoke_new(&norms, 1, "amax", "tI", sums, 1, (int64_t[]){-1}));
    return tsr_tensor_new_cast(out, norms, TSR_FLOAT64);
}

/* How often the scaled matrix is squared. */
static int squarings_for(TsrDtype real, double norm, double theta) {
    double ratio = rounded(real, norm / theta);
    return norm > theta && isfinite(ratio) ? (int)ceil(rounded(real, log2(ratio))) : 0;
}

/* What is done with a matrix of this norm: the Taylor polynomial of that number, or the last one and squarings for the numbers that follow; -1: nothing. */
static int plan_for(TsrDtype dtype, double norm) {
    const double *theta = dtype == TSR_FLOAT32 || dtype == TSR_COMPLEX64 ? theta_f32 : theta_f64;
    TsrDtype real = tsr_dtype_real_of(dtype);
    int degree = 0;
    if (!isfinite(norm)) return -1;
    while (degree < DEGREES - 1 && norm > rounded(real, theta[degree])) degree++;
    return degree + squarings_for(real, norm, theta[DEGREES - 1]);
}

/* The exponentials of a contiguous batch of matrices with one plan. */
static TsrStatus exp_alike(TsrTensor **out, const TsrTensor *a, int plan) {
    TSR_OWNED scaled = NULL;
    TSR_OWNED r = NULL;
    int squarings = TSR_MAX(plan - (DEGREES - 1), 0);
    if (plan < 0) { /* inf and nan spread over everything */
        TSR_TRY(tsr_tensor_new(out, 3, a->sizes, a->dtype, a->device));
        return tsr_tensor_fill(*out, tsr_scalar_float(NAN));
    }
    TSR_TRY(tsr_invoke_new(&scaled, 1, "mul", "tf", a, ldexp(1, -squarings)));
    TSR_TRY(taylor(&r, scaled, TSR_MIN(plan, DEGREES - 1)));
    for (int k = 0; k < squarings; k++) {
        TsrTensor *next;
        TSR_TRY(tsr_matmul_new(&next, r, r));
        tsr_owned_put_move(&r, next);
        TSR_TRY(tsr_interrupt_check());
    }
    *out = tsr_owned_take(&r);
    return TSR_OK;
}

/* Exponentials of the matrices `which` of a batch, put in their places. */
static TsrStatus exp_some(TsrTensor *out, const TsrTensor *a, const TsrTensor *which, int plan) {
    TSR_OWNED some = NULL;
    TSR_OWNED r = NULL;
    TsrTensor *same;
    if (which->numel == a->sizes[0]) {
        TSR_TRY(exp_alike(&r, a, plan));
        return tsr_tensor_copy(out, r);
    }
    TSR_TRY(tsr_invoke_new(&some, 1, "index_select", "tit", a, (int64_t)0, which));
    TSR_TRY(exp_alike(&r, some, plan));
    TSR_TRY(tsr_invoke_new(&same, 1, "index_copy", "!ttitt", out, out, (int64_t)0, which, r));
    tsr_tensor_free(same);
    return TSR_OK;
}

enum { DONE = -2 };

/* All matrices with the plan of matrix `first`, whose plans are then DONE. */
static TsrStatus exp_like(TsrTensor *out, const TsrTensor *a, int *plans, int64_t first) {
    TSR_OWNED which = NULL;
    int64_t count = 0, batches = a->sizes[0];
    int plan = plans[first];
    for (int64_t i = first; i < batches; i++) count += plans[i] == plan;
    TSR_TRY(tsr_tensor_new(&which, 1, &count, TSR_INT64, TSR_DEVICE_CPU));
    int64_t *at = tsr_data(which);
    for (int64_t i = first; i < batches; i++) {
        if (plans[i] != plan) continue;
        *at++ = i;
        plans[i] = DONE;
    }
    return exp_some(out, a, which, plan);
}

static TsrStatus exp_all(TsrTensor *out, const TsrTensor *a) {
    int64_t n = tsr_la_rows(a), batches = tsr_la_batches(a);
    TSR_OWNED flat = NULL;
    TSR_OWNED plain = NULL;
    TSR_OWNED oflat = NULL;
    TSR_OWNED norms = NULL;
    TSR_TRY(tsr_tensor_new_reshape(&flat, a, 3, (int64_t[]){batches, n, n}));
    TSR_TRY(tsr_tensor_new_contiguous(&plain, flat, TSR_CONTIGUOUS));
    TSR_TRY(tsr_tensor_new_reshaped_view(&oflat, out, 3, (int64_t[]){batches, n, n}));
    TSR_TRY(norms_new(&norms, plain));
    int *plans = tsr_malloc((size_t)batches * sizeof *plans);
    if (plans == NULL) return tsr_error_no_memory((size_t)batches * sizeof *plans);
    TsrStatus status = TSR_OK;
    for (int64_t i = 0; i < batches; i++) plans[i] = plan_for(a->dtype, ((const double *)tsr_data(norms))[i]);
    for (int64_t i = 0; i < batches && status == TSR_OK; i++)
        if (plans[i] != DONE) status = exp_like(oflat, plain, plans, i);
    tsr_free(plans);
    return status;
}

TsrStatus op_matrix_exp(TsrOpCall *c) {
    const TsrTensor *a = c->arg[0].t;
    TSR_OWNED r = NULL;
    TSR_TRY(tsr_la_check_square(a, "linalg.matrix_exp", "A"));
    TSR_TRY(tsr_la_check_float(a, "linalg.matrix_exp"));
    TSR_TRY(tsr_tensor_new(&r, tsr_ndim(a), a->sizes, a->dtype, a->device));
    if (r->numel == 0 || tsr_is_meta(r)) return tsr_return_move(c, tsr_owned_take(&r));
    if (tsr_la_rows(a) == 1) {
        TSR_OWNED e = NULL;
        TSR_TRY(tsr_invoke_new(&e, 1, "exp", "t", a));
        TSR_TRY(tsr_tensor_copy(r, e));
    } else {
        TSR_TRY(exp_all(r, a));
    }
    return tsr_return_move(c, tsr_owned_take(&r));
}
