/* svd.c: singular values and vectors of batches of matrices (la.h).
 *
 * LAPACK's gesdd, of tall matrices after a QR of our own, but for the two shapes where the library behind PyTorch,
 * whose signs of vectors show, takes another way. Values of small matrices alone go side by side (side_by_side.c);
 * without LAPACK there is the method of Jacobi (jacobi.c). */
#include <stdio.h>
#include <string.h>

#include "la.h"
#include "core/tensor/loan.h"
#include "there.h"

/* a = u @ diag(s) @ vh, one of a batch; without u and vh only s is wanted. */
typedef struct Svd {
    TsrTensor *batch_a, *batch_u, *batch_s, *batch_vh; /* u and vh may be NULL */
    TsrLaMatrix a, u, vh;
    void *s;
    char jobz;
    const TsrTensor *given; /* what an error speaks of */
} Svd;

static TsrStatus svd_begin(Svd *x) {
    TSR_TRY(tsr_la_matrix_of(&x->a, x->batch_a));
    x->s = tsr_data(x->batch_s);
    x->u = (TsrLaMatrix){.ld = x->a.rows};
    x->vh = (TsrLaMatrix){.ld = x->a.cols};
    if (x->batch_u == NULL) return TSR_OK;
    TSR_TRY(tsr_la_matrix_of(&x->u, x->batch_u));
    return tsr_la_matrix_of(&x->vh, x->batch_vh);
}

static void svd_take(Svd *x, int64_t b) {
    x->a.data = tsr_la_matrix(x->batch_a, b);
    x->s = (char *)tsr_data(x->batch_s) + (size_t)b * (size_t)TSR_MIN(x->a.rows, x->a.cols) * tsr_itemsize(x->batch_s);
    if (x->batch_u == NULL) return;
    x->u.data = tsr_la_matrix(x->batch_u, b);
    x->vh.data = tsr_la_matrix(x->batch_vh, b);
}

typedef int (*SvdRoutine)(const TsrLaJob *job, const Svd *x, const TsrLaWork *w);

static int gesdd(const TsrLaJob *job, const Svd *x, const TsrLaWork *w) {
    const int *m = &x->a.rows, *n = &x->a.cols, *ldu = &x->u.ld, *ldvh = &x->vh.ld;
    int info = 0;
    if (job->is_complex)
        job->blas->gesdd_complex[job->t](&x->jobz, m, n, x->a.data, m, x->s, x->u.data, ldu, x->vh.data, ldvh, w->work,
                                         &w->lwork, w->rwork, w->iwork, &info, 1);
    else
        job->blas->gesdd_real[job->t](&x->jobz, m, n, x->a.data, m, x->s, x->u.data, ldu, x->vh.data, ldvh, w->work,
                                      &w->lwork, w->iwork, &info, 1);
    return info;
}

static int gesvd(const TsrLaJob *job, const Svd *x, const TsrLaWork *w) {
    const int *m = &x->a.rows, *n = &x->a.cols;
    int info = 0;
    job->blas->gesvd_real[job->t](&x->jobz, &x->jobz, m, n, x->a.data, m, x->s, x->u.data, &x->u.ld, x->vh.data,
                                  &x->vh.ld, w->work, &w->lwork, &info, 1, 1);
    return info;
}

static TsrStatus svd_not_finite(const TsrTensor *a) {
    return tsr_error(
        TSR_LINALG_ERROR,
        "linalg.svd: %sThe algorithm failed to converge because the input matrix contained non-finite values.",
        tsr_ndim(a) > 2 ? "(Batch element 0): " : "");
}

typedef struct SvdCall {
    SvdRoutine routine;
    TsrLaJob job;
    Svd x;
    TsrLaWork w;
    int info;
} SvdCall;

static void svd_call(void *context) {
    SvdCall *c = context;
    c->info = c->routine(&c->job, &c->x, &c->w);
}

/* The matrices of the batch one by one; `scratch` (3, some NULL) is what w points into. */
static TsrStatus svd_each(Svd *x, const TsrLaJob *job, SvdRoutine routine, const TsrLaWork *w,
                          TsrTensor *const *scratch) {
    TsrTensor *const touched[] = {x->batch_a, x->batch_u, x->batch_s, x->batch_vh, scratch[0], scratch[1], scratch[2]};
    for (int64_t b = 0; b < tsr_la_batches(x->batch_a); b++) {
        svd_take(x, b);
        SvdCall call = {.routine = routine, .job = *job, .x = *x, .w = *w};
        TSR_TRY(tsr_la_apart((int64_t[]){x->a.rows, x->a.cols, TSR_MIN(x->a.rows, x->a.cols)}, svd_call, &call,
                             sizeof call, touched, TSR_COUNTOF(touched)));
        if (call.info != 0) return tsr_la_diverged(x->given, "linalg.svd", b, "singular values", call.info);
    }
    return TSR_OK;
}

/* Asks the routine for how much room it wants, then decomposes. rwork and iwork, or NULL, are what w points into. */
static TsrStatus svd_batches(Svd *x, const TsrLaJob *job, SvdRoutine routine, TsrTensor *rwork, TsrTensor *iwork) {
    TsrLaWork w = {.rwork = rwork != NULL ? tsr_data(rwork) : NULL, .iwork = iwork != NULL ? tsr_data(iwork) : NULL};
    double query[4] = {0};
    TSR_OWNED work = NULL;
    w.work = query;
    w.lwork = -1;
    (void)routine(job, x, &w);
    w.lwork = tsr_la_work_size(job->t, query);
    TSR_TRY(tsr_la_new_scratch(&work, w.lwork, job->item));
    w.work = tsr_data(work);
    return svd_each(x, job, routine, &w, (TsrTensor *[]){work, rwork, iwork});
}

static TsrStatus svd_gesdd(Svd *x) {
    TsrLaJob job;
    TSR_OWNED rwork = NULL;
    TSR_OWNED iwork = NULL;
    if (x->jobz != 'N') TSR_TRY(tsr_la_check_work(x->batch_a, 4, "linalg.svd"));
    TSR_TRY(tsr_la_begin(&job, x->batch_a->dtype));
    tsr_la_widen(tsr_la_rows(x->batch_a), tsr_la_cols(x->batch_a));
    TSR_TRY(svd_begin(x));
    int64_t k = TSR_MIN(x->a.rows, x->a.cols), big = TSR_MAX(x->a.rows, x->a.cols);
    int64_t rcount = x->jobz == 'N' ? 7 * k : TSR_MAX(5 * k * k + 5 * k, 2 * big * k + 2 * k * k + k);
    TSR_TRY(tsr_la_new_scratch(&iwork, 8 * k, sizeof(int)));
    TSR_TRY(tsr_la_new_scratch(&rwork, job.is_complex ? rcount : 1, job.real_item));
    return svd_batches(x, &job, gesdd, rwork, iwork);
}

static TsrStatus svd_gesvd(Svd *x) {
    TsrLaJob job;
    TSR_TRY(tsr_la_begin(&job, x->batch_a->dtype));
    tsr_la_widen(tsr_la_rows(x->batch_a), tsr_la_cols(x->batch_a));
    TSR_TRY(svd_begin(x));
    return svd_batches(x, &job, gesvd, NULL, NULL);
}

/* The two shapes for which MKL, whose signs of singular vectors PyTorch shows, takes another way than LAPACK's gesdd:
 * real matrices a little taller than wide go through QR (gesvd's threshold), and wide ones are made bidiagonal
 * directly, without LQ. */
static bool by_gesvd(const TsrTensor *f) {
    int64_t m = tsr_la_rows(f), n = tsr_la_cols(f);
    return !tsr_dtype_is_complex(f->dtype) && m > n && m >= (int64_t)(1.6 * (double)n) &&
           m < (int64_t)(11.0 * (double)n / 6);
}

static bool by_bidiagonal(const TsrTensor *f) {
    int64_t m = tsr_la_rows(f), n = tsr_la_cols(f);
    return !tsr_dtype_is_complex(f->dtype) && n > m && n >= (int64_t)(11.0 * (double)m / 6);
}

/* One wide matrix: A = Q B P^T with B lower bidiagonal, the singular value decomposition of B, then Q and P^T applied
 * to its factors. rwork holds B's off-diagonal, the scales of the reflectors of Q and P, each of m, and its V^T. */
static int svd_bidiagonal(const TsrLaJob *job, const Svd *x, const TsrLaWork *w) {
    size_t line = (size_t)x->a.rows * job->item;
    char *e = w->rwork, *tauq = e + line, *taup = tauq + line, *small_vt = taup + line;
    TsrBlasType t = job->t;
    double unused = 0;
    size_t item = job->item;
    const int *m = &x->a.rows, *n = &x->a.cols, *nv = &x->vh.rows;
    char *vh = x->vh.data;
    int info = 0;
    job->blas->gebrd_real[t](m, n, x->a.data, m, x->s, e, tauq, taup, w->work, &w->lwork, &info);
    job->blas->bdsdc[t]("L", "I", m, x->s, e, x->u.data, m, small_vt, m, &unused, w->iwork, w->work, w->iwork, &info, 1,
                        1);
    if (info != 0) return info;
    memset(vh, 0, (size_t)*nv * (size_t)*n * item);
    for (int j = 0; j < *m; j++)
        memcpy(vh + (size_t)j * (size_t)*nv * item, small_vt + (size_t)j * (size_t)*m * item, (size_t)*m * item);
    for (int j = *m; j < *nv; j++) tsr_la_set(t, vh, (int64_t)j * *nv + j, 1);
    job->blas->ormbr_real[t]("Q", "L", "N", m, m, n, x->a.data, m, tauq, x->u.data, m, w->work, &w->lwork, &info, 1, 1,
                             1);
    job->blas->ormbr_real[t]("P", "R", "T", nv, n, m, x->a.data, m, taup, vh, nv, w->work, &w->lwork, &info, 1, 1, 1);
    return info;
}

static TsrStatus svd_wide(Svd *x) {
    TsrLaJob job;
    TSR_TRY(tsr_la_begin(&job, x->batch_a->dtype));
    tsr_la_widen(tsr_la_rows(x->batch_a), tsr_la_cols(x->batch_a));
    TSR_TRY(svd_begin(x));
    TSR_OWNED scratch = NULL;
    TSR_OWNED iwork = NULL;
    int64_t m = x->a.rows, n = x->a.cols, lwork = TSR_MAX(64 * (m + n), 3 * m * m + 4 * m);
    TSR_TRY(tsr_la_new_scratch(&scratch, 3 * m + m * m + lwork, job.item));
    TSR_TRY(tsr_la_new_scratch(&iwork, 8 * m, sizeof(int)));
    TsrLaWork w = {.rwork = tsr_data(scratch),
                   .work = (char *)tsr_data(scratch) + (size_t)(3 * m + m * m) * job.item,
                   .iwork = tsr_data(iwork)};
    TSR_TRY(tsr_blas_int(&w.lwork, lwork));
    return svd_each(x, &job, svd_bidiagonal, &w, (TsrTensor *[]){scratch, iwork, NULL});
}

static TsrMat mat_of(const TsrTensor *t, int64_t b) {
    return (TsrMat){tsr_la_matrix(t, b), tsr_la_rows(t), tsr_la_cols(t), 1, tsr_la_rows(t), false};
}

/* out = a @ b, all column-major of one batch. */
static TsrStatus multiply_each(TsrTensor *out, const TsrTensor *a, const TsrTensor *b) {
    for (int64_t i = 0; i < tsr_la_batches(a); i++)
        TSR_TRY(tsr_gemm(
            &(TsrGemm){a->dtype, mat_of(a, i), mat_of(b, i), mat_of(out, i), tsr_scalar_int(1), tsr_scalar_int(0)}));
    return TSR_OK;
}

/* Columns from which on tall matrices go through a QR of our own: from here on LAPACK divides and conquers, by less the
 * iterations' signs hang on last digits. 1000 by 50, one thread of Zen 5: svd without full matrices 632 and 300 us,
 * svdvals 373 and 139. */
enum { TALL_FROM = 26 };

/* Tall real matrices: A = Q R, R = U S V^T, which is gesdd's way from so many rows on, too, but with a slower QR. */
static bool is_tall(TsrDtype dtype, int64_t m, int64_t n) {
    return !tsr_dtype_is_complex(dtype) && n >= TALL_FROM && m >= (int64_t)(11.0 * (double)n / 6);
}
static bool by_qr(const TsrTensor *f) { return is_tall(f->dtype, tsr_la_rows(f), tsr_la_cols(f)); }

static TsrStatus svd_tall(Svd *x) {
    TsrTensor *a = x->batch_a;
    int64_t n = tsr_la_cols(a);
    TSR_OWNED tau = NULL;
    TSR_OWNED r = NULL;
    TSR_OWNED u = NULL;
    TSR_TRY(tsr_la_new_vector(&tau, a, n, a->dtype));
    TSR_TRY(tsr_la_new_like(&r, a, n, n, a->dtype));
    TSR_TRY(tsr_la_qr(a, tau));
    TSR_TRY(tsr_la_copy_corner(r, a));
    TSR_TRY(tsr_la_keep_triangle(r, true));
    Svd small = *x;
    small.batch_a = r;
    if (x->batch_u == NULL) return svd_gesdd(&small);
    TSR_TRY(tsr_la_new_like(&u, a, n, n, a->dtype));
    small.batch_u = u;
    TSR_TRY(svd_gesdd(&small));
    TSR_TRY(tsr_la_q(a, tau, n));
    return multiply_each(x->batch_u, a, u);
}

static TsrStatus svd_run(Svd *x) {
    if (tsr_la_has_nonfinite(x->batch_a)) return svd_not_finite(x->given);
    if (tsr_blas_try() == NULL && !tsr_dtype_is_complex(x->batch_a->dtype))
        return tsr_la_jacobi_svd(x->batch_u, x->batch_s, x->batch_vh, x->batch_a);
    if (x->jobz != 'N' && by_gesvd(x->batch_a)) return svd_gesvd(x);
    if (x->jobz != 'A' && by_qr(x->batch_a)) return svd_tall(x);
    return x->jobz != 'N' && by_bidiagonal(x->batch_a) ? svd_wide(x) : svd_gesdd(x);
}

/* Without vectors. If *done is false *f has been copied from `a` again. */
static TsrStatus small_svdvals(bool *done, TsrTensor **f, TsrTensor *s, const TsrTensor *a) {
    int failure;
    TSR_TRY(tsr_la_small_svdvals(&failure, *f, s));
    *done = failure == 0;
    if (failure == TSR_SMALL_NOT_FINITE) return svd_not_finite(a);
    if (*done) return TSR_OK;
    TsrTensor *again;
    TSR_TRY(tsr_la_new_copy(&again, a));
    tsr_owned_put_move(f, again);
    return TSR_OK;
}

static TsrStatus turned_copy_new(TsrTensor **out, const TsrTensor *a) {
    TSR_OWNED view = NULL;
    TSR_TRY(tsr_la_new_mt(&view, a, false));
    return tsr_la_new_copy(out, view);
}

TsrStatus tsr_la_new_svd(TsrTensor **u, TsrTensor **s, TsrTensor **vh, const TsrTensor *a, char job) {
    TSR_OWNED f = NULL;
    TSR_OWNED uu = NULL;
    TSR_OWNED ss = NULL;
    TSR_OWNED vv = NULL;
    int64_t m = tsr_la_rows(a), n = tsr_la_cols(a), k = TSR_MIN(m, n);
    if (tsr_on_device(a) && a->numel > 0) {
        bool finite = true;
        TSR_TRY(tsr_la_finite_there(&finite, a));
        if (!finite) return svd_not_finite(a);
        return tsr_la_new_svd_there(job != 'N' ? u : NULL, s, vh, a, job == 'A');
    }
    TSR_TRY(job == 'N' && is_tall(a->dtype, n, m) ? turned_copy_new(&f, a) : tsr_la_new_copy(&f, a));
    TSR_TRY(tsr_la_new_vector(&ss, a, k, tsr_dtype_real_of(a->dtype)));
    if (job != 'N') {
        TSR_TRY(tsr_la_new_like(&uu, a, m, job == 'A' ? m : k, a->dtype));
        TSR_TRY(tsr_la_new_like(&vv, a, job == 'A' ? n : k, n, a->dtype));
    }
    if (!tsr_is_meta(f)) {
        if (f->numel > 0) {
            bool done = false;
            if (job == 'N' && tsr_la_many_small(f)) TSR_TRY(small_svdvals(&done, &f, ss, a));
            Svd x = {.batch_a = f, .batch_u = uu, .batch_s = ss, .batch_vh = vv, .jobz = job, .given = a};
            if (!done) TSR_TRY(svd_run(&x));
        } else if (job == 'A') {
            TSR_TRY(tsr_la_set_identity(uu));
            TSR_TRY(tsr_la_set_identity(vv));
        }
    }
    if (job != 'N') *u = tsr_owned_take(&uu), *vh = tsr_owned_take(&vv);
    *s = tsr_owned_take(&ss);
    return TSR_OK;
}
