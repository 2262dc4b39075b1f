/* Eigenvalues and eigenvectors, of general and of symmetric matrices. */
#include <math.h>
#include <string.h>

#include "core/op/compose.h"
#include "core/op/out.h"
#include "core/op/shared.h"
#include "la.h"

/* ---- general eigenvalues ---- */

/* What a call is given beside the matrix: the scratch, and where the results go. Of a real matrix the eigenvalues come
 * in two parts, wr and wi. */
typedef struct Geev {
    char jobv; /* 'V': vectors, too */
    int n, lwork;
    void *work, *rwork, *wr, *wi;
} Geev;

static int geev(const TsrLaJob *job, const Geev *g, void *a, void *w, void *v) {
    char no = 'N', jobv = g->jobv;
    int one = 1, n = g->n, lwork = g->lwork, ldv = jobv == 'V' ? n : 1, info = 0;
    if (job->is_complex)
        job->blas->geev_complex[job->t](&no, &jobv, &n, a, &n, w, NULL, &one, v, &ldv, g->work, &lwork, g->rwork, &info,
                                        1, 1);
    else
        job->blas->geev_real[job->t](&no, &jobv, &n, a, &n, g->wr, g->wi, NULL, &one, v, &ldv, g->work, &lwork, &info,
                                     1, 1);
    return info;
}

/* LAPACK packs a conjugate pair of vectors of a real matrix as real part, imaginary part: w and v (NULL: no vectors)
 * get complex ones from those in vr. */
static void unpack_vectors(TsrBlasType t, const Geev *g, const void *vr, void *w, void *v) {
    TsrBlasType ct = t == TSR_BLAS_S ? TSR_BLAS_C : TSR_BLAS_Z;
    int64_t n = g->n;
    for (int64_t j = 0; j < n; j++) {
        double im = creal(tsr_la_get(t, g->wi, j));
        tsr_la_set(ct, w, j, CMPLX(creal(tsr_la_get(t, g->wr, j)), im));
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
            tsr_la_set(ct, w, j, CMPLX(creal(tsr_la_get(t, g->wr, j)), creal(tsr_la_get(t, g->wi, j))));
        }
    }
}

/* The eigenvectors of a real matrix as LAPACK's geev finds them, step by step, so that the last one, which makes the
 * largest component of a complex vector real, turns the way it did before LAPACK 3.10: that is the sign which PyTorch
 * shows. `v` receives packed real vectors. */
static int real_eig(const TsrLaJob *job, const Geev *g, char *a, char *v) {
    const TsrBlas *blas = job->blas;
    TsrBlasType t = job->t;
    int n = g->n, lwork = g->lwork, low, high, info = 0, found, one = 1, none = 0;
    char *tau = g->rwork, *scale = tau + (size_t)n * job->item;
    blas->gebal_real[t]("B", &n, a, &n, &low, &high, scale, &info, 1);
    blas->gehrd_real[t](&n, &low, &high, a, &n, tau, g->work, &lwork, &info);
    memcpy(v, a, (size_t)n * (size_t)n * job->item);
    blas->orghr_real[t](&n, &low, &high, v, &n, tau, g->work, &lwork, &info);
    blas->hseqr_real[t]("S", "V", &n, &low, &high, a, &n, g->wr, g->wi, v, &n, g->work, &lwork, &info, 1, 1);
    if (info != 0) return info;
    blas->trevc3_real[t]("R", "B", &none, &n, a, &n, NULL, &one, v, &n, &n, &found, g->work, &lwork, &info, 1, 1);
    blas->gebak_real[t]("B", "R", &n, &low, &high, scale, &n, v, &n, &info, 1, 1);
    return info;
}

/* Squares of floats neither over- nor underflow in double. */
static double float_norm(const float *x, int64_t n) {
    double sum = 0;
    for (int64_t i = 0; i < n; i++) sum += (double)x[i] * (double)x[i];
    return sqrt(sum);
}

static double norm_of(TsrBlasType t, const void *v, int64_t from, int64_t n) {
    double sum = 0;
    if (t == TSR_BLAS_S) return float_norm((const float *)v + from, n);
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

typedef struct Call {
    TsrLaJob job;
    Geev g;
    void *a, *w, *v, *vr; /* v NULL: no vectors; vr: where those of a real matrix come first */
    int info;
} Call;

static void call(void *context) {
    Call *c = context;
    bool by_steps = c->v != NULL && !c->job.is_complex;
    c->info = by_steps ? real_eig(&c->job, &c->g, c->a, c->vr)
                       : geev(&c->job, &c->g, c->a, c->w, c->job.is_complex ? c->v : c->vr);
    if (c->info == 0 && by_steps) normalize_vectors(c->job.t, c->vr, c->g.n, c->g.wi);
    if (c->info == 0 && !c->job.is_complex) unpack_vectors(c->job.t, &c->g, c->vr, c->w, c->v);
}

/* The eigenvalues of matrix b, where a number of it is nan or inf, as MKL gives them: the diagonal of a triangular
 * matrix without inf, which balancing takes apart, and nan of any other. False where all are finite. */
static bool settle_wild(const TsrTensor *f, TsrTensor *w, int64_t b) {
    TsrBlasType t, tw;
    int64_t n = tsr_la_rows(f);
    const char *matrix = tsr_la_matrix(f, b);
    bool nans = false, infs = false, below = false, above = false;
    tsr_blas_type(&t, f->dtype);
    tsr_blas_type(&tw, w->dtype);
    for (int64_t k = 0; k < n * n; k++) {
        double complex x = tsr_la_get(t, matrix, k);
        nans |= isnan(creal(x)) || isnan(cimag(x));
        infs |= isinf(creal(x)) || isinf(cimag(x));
        if (x != 0) below |= k % n > k / n, above |= k % n < k / n;
    }
    for (int64_t i = 0; i < n && (nans || infs); i++) {
        double complex x = tsr_la_get(t, matrix, i * n + i);
        tsr_la_set(tw, tsr_data(w), b * n + i, infs || (below && above) ? CMPLX(NAN, NAN) : x);
    }
    return nans || infs;
}

static TsrStatus eig_run(TsrTensor *f, TsrTensor *w, TsrTensor *v, const char *fn) {
    TsrLaJob job;
    int n;
    double query[4] = {0};
    TSR_OWNED work = NULL;
    TSR_OWNED rwork = NULL;
    TSR_OWNED real = NULL;
    TSR_TRY(tsr_la_begin(&job, f->dtype));
    tsr_la_widen(tsr_la_rows(f), tsr_la_cols(f));
    TSR_TRY(tsr_blas_int(&n, tsr_la_rows(f)));
    TSR_TRY(tsr_la_new_scratch(&rwork, 2 * (int64_t)n, job.real_item));
    TSR_TRY(
        tsr_la_new_scratch(&real, job.is_complex ? 1 : 2 * (int64_t)n + (v != NULL ? (int64_t)n * n : 0), job.item));
    char *wr = tsr_data(real), *wi = wr + (size_t)n * job.item, *vr = wi + (size_t)n * job.item;
    Geev g = {.jobv = v != NULL ? 'V' : 'N',
              .n = n,
              .lwork = -1,
              .work = query,
              .rwork = tsr_data(rwork),
              .wr = wr,
              .wi = wi};
    (void)geev(&job, &g, tsr_data(f), tsr_data(w), job.is_complex && v != NULL ? tsr_data(v) : vr);
    g.lwork = tsr_la_work_size(job.t, query);
    TSR_TRY(tsr_la_new_scratch(&work, g.lwork, job.item));
    g.work = tsr_data(work);
    TsrTensor *const touched[] = {f, w, v, work, rwork, real};
    for (int64_t b = 0; b < tsr_la_batches(f); b++) {
        if (v == NULL && settle_wild(f, w, b)) continue;
        Call c = {.job = job,
                  .g = g,
                  .a = tsr_la_matrix(f, b),
                  .w = (char *)tsr_data(w) + (size_t)(b * n) * tsr_itemsize(w),
                  .v = v != NULL ? tsr_la_matrix(v, b) : NULL,
                  .vr = vr};
        TSR_TRY(tsr_la_apart((int64_t[]){n, n, n}, call, &c, sizeof c, touched, TSR_COUNTOF(touched)));
        if (c.info != 0)
            return tsr_error(
                TSR_LINALG_ERROR,
                "%s: The algorithm failed to converge because the input matrix is ill-conditioned or has too many "
                "repeated eigenvalues (error code: %d).",
                fn, c.info);
    }
    return TSR_OK;
}

static TsrStatus check_finite(const TsrTensor *a) {
    TsrScope s = {0};
    TsrScalar all = tsr_scalar_bool(true);
    if (tsr_is_meta(a)) return TSR_OK;
    TsrTensor *finite = CALL(&s, "isfinite", "t", a), *each = CALL(&s, "all", "t", finite);
    if (s.status == TSR_OK) s.status = tsr_tensor_item(&all, each);
    TSR_TRY(tsr_scope_end(&s));
    return tsr_scalar_to_bool(all)
               ? TSR_OK
               : tsr_error(TSR_RUNTIME_ERROR, "torch.linalg.eig: input tensor should not contain infs or NaNs.");
}

static TsrStatus eig(TsrTensor **w, TsrTensor **v, const TsrOpCall *c, const char *fn) {
    const TsrTensor *a = c->arg[0].t;
    TSR_OWNED f = NULL;
    TSR_OWNED ww = NULL;
    TSR_OWNED vv = NULL;
    if (v == NULL && c->out[0] != NULL) TSR_TRY(tsr_la_check_square(a, fn));
    if (v != NULL && c->out[0] != NULL) TSR_TRY(check_finite(a));
    if (tsr_dtype_is_float8(a->dtype) || (!tsr_dtype_is_float(a->dtype) && !tsr_dtype_is_complex(a->dtype)))
        return tsr_error(TSR_RUNTIME_ERROR, "Unknown Complex ScalarType for %s", tsr_dtype_scalar_name(a->dtype));
    if (v != NULL && c->out[0] == NULL) TSR_TRY(check_finite(a));
    TSR_TRY(tsr_la_check_square(a, fn));
    TsrDtype cd = tsr_dtype_complex_of(a->dtype);
    TSR_TRY(tsr_la_into(c, "linalg_eig_out_cpu", a->dtype, cd));
    TSR_TRY(tsr_la_new_copy(&f, a));
    TSR_TRY(tsr_la_new_vector(&ww, a, tsr_la_cols(a), cd));
    if (v != NULL) TSR_TRY(tsr_la_new_like(&vv, a, tsr_la_rows(a), tsr_la_cols(a), cd));
    if (f->numel > 0 && !tsr_is_meta(f)) TSR_TRY(eig_run(f, ww, vv, fn));
    *w = tsr_owned_take(&ww);
    if (v != NULL) *v = tsr_owned_take(&vv);
    return TSR_OK;
}

TsrStatus op_linalg_eig(TsrOpCall *c) {
    TsrTensor *w, *v;
    TSR_TRY(eig(&w, &v, c, "linalg.eig"));
    return tsr_return_move2(c, w, v);
}

TsrStatus op_linalg_eigvals(TsrOpCall *c) {
    TsrTensor *w = NULL;
    return tsr_finish_move(c, eig(&w, NULL, c, "linalg.eigvals"), w);
}

/* ---- symmetric ---- */

static TsrStatus eigh(TsrTensor **w, TsrTensor **v, const TsrOpCall *c, const char *fn) {
    const TsrTensor *a = c->arg[0].t;
    const char *uplo = c->arg[1].str;
    char which = uplo[0] >= 'a' && uplo[0] <= 'z' ? (char)(uplo[0] - 32) : uplo[0];
    TSR_TRY(tsr_la_check_square(a, "linalg.eigh"));
    if (strlen(uplo) != 1 || (which != 'L' && which != 'U'))
        return tsr_error(TSR_RUNTIME_ERROR, "Expected UPLO argument to be 'L' or 'U', but got %s", uplo);
    TSR_TRY(tsr_check_out_fits(c, 1, a->dtype));
    TSR_TRY(tsr_check_out_fits(c, 0, tsr_dtype_real_of(a->dtype)));
    return tsr_la_new_eigh(w, v, a, which, fn);
}

TsrStatus op_linalg_eigh(TsrOpCall *c) {
    TsrTensor *w, *v;
    TSR_TRY(eigh(&w, &v, c, "linalg.eigh"));
    return tsr_return_move2(c, w, v);
}

TsrStatus op_linalg_eigvalsh(TsrOpCall *c) {
    TsrTensor *w = NULL;
    return tsr_finish_move(c, eigh(&w, NULL, c, "linalg.eigvalsh"), w);
}
