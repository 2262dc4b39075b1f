/* eigh.c: eigenvalues and eigenvectors of batches of symmetric and Hermitian matrices (la.h).
 *
 * LAPACK's syevd and heevd; small matrices by the QL iteration of tridiagonal.inc, in the order of the library behind
 * PyTorch, whose signs and digits show, or many of them side by side (side_by_side.c). */
#include <float.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "la.h"
#include "core/tensor/loan.h"
#include "there.h"

typedef struct Eigh {
    TsrLaJob job;
    char jobz, uplo;
    TsrLaMatrix a;
    void *values;
    TsrLaWork w;
    int info;
} Eigh;

static void syevd(void *context) {
    Eigh *c = context;
    const TsrLaJob *job = &c->job;
    TsrLaWork *w = &c->w;
    const int *n = &c->a.rows;
    if (job->is_complex)
        job->blas->heevd[job->t](&c->jobz, &c->uplo, n, c->a.data, n, c->values, w->work, &w->lwork, w->rwork,
                                 &w->lrwork, w->iwork, &w->liwork, &c->info, 1, 1);
    else
        job->blas->syevd[job->t](&c->jobz, &c->uplo, n, c->a.data, n, c->values, w->work, &w->lwork, w->iwork,
                                 &w->liwork, &c->info, 1, 1);
}

#define R float
#define NAME(x) f32_##x
#define FN(name) name##f
#define EPSILON (FLT_EPSILON / 2)
#include "core/kernels/matrix/tridiagonal.inc"
#define R double
#define NAME(x) f64_##x
#define FN(name) name
#define EPSILON (DBL_EPSILON / 2)
#include "core/kernels/matrix/tridiagonal.inc"

/* Up to this size LAPACK's divide and conquer calls the QL iteration at once, and its signs show. */
enum { SMALL_EIGEN = 25 };

/* The greatest magnitude of n numbers, leaving out nan. */
TSR_CLONES static float largest_float(const float *x, int64_t n) {
    float most = 0;
    for (int64_t i = 0; i < n; i++) most = fabsf(x[i]) > most ? fabsf(x[i]) : most;
    return most;
}
TSR_CLONES static double largest_double(const double *x, int64_t n) {
    double most = 0;
    for (int64_t i = 0; i < n; i++) most = fabs(x[i]) > most ? fabs(x[i]) : most;
    return most;
}

/* Whether all elements are far from over- and underflow in the products that the iteration forms. */
static bool well_scaled(const TsrTensor *a) {
    bool narrow = tsr_dtype_real_of(a->dtype) == TSR_FLOAT32;
    int64_t n = tsr_dtype_is_complex(a->dtype) ? 2 * a->numel : a->numel;
    double lowest = narrow ? 1e-12 : 1e-100,
           largest = narrow ? (double)largest_float(tsr_data(a), n) : largest_double(tsr_data(a), n);
    return largest > lowest && largest < 1 / lowest;
}

/* One small matrix: to tridiagonal form, the iteration, and back. *done is false when the iteration did not converge.
 */
static TsrStatus eigh_small(const TsrLaJob *job, char uplo, int n, char *a, char *w, char *scratch, bool *done) {
    TsrBlasType t = job->t, rt = tsr_la_real(t);
    size_t real_line = (size_t)n * job->real_item, line = (size_t)n * job->item;
    char *e = scratch, *rotations = e + real_line, *z = rotations + 2 * real_line, *vectors = z + (size_t)n * real_line,
         *tau = vectors + (size_t)n * line, *work = tau + line;
    int lwork = 64 * n, info;
    job->blas->sytrd[t](&uplo, &n, a, &n, w, e, tau, work, &lwork, &info, 1);
    *done = rt == TSR_BLAS_S ? f32_tridiagonal((float *)(void *)w, (float *)(void *)e, (float *)(void *)z, n, FLT_MIN,
                                               (float *)(void *)rotations)
                             : f64_tridiagonal((double *)(void *)w, (double *)(void *)e, (double *)(void *)z, n,
                                               DBL_MIN, (double *)(void *)rotations);
    if (!*done) return TSR_OK;
    if (t == rt) memcpy(vectors, z, (size_t)n * line);
    else
        for (int64_t k = 0; k < (int64_t)n * n; k++) tsr_la_set(t, vectors, k, tsr_la_get(rt, z, k));
    job->blas->ormtr[t]("L", &uplo, "N", &n, &n, a, &n, tau, vectors, &n, work, &lwork, &info, 1, 1, 1);
    memcpy(a, vectors, (size_t)n * line);
    return TSR_OK;
}

/* All matrices of the batch; *done is false when one of them is better left to LAPACK (`v` then holds rubbish). */
static TsrStatus eigh_small_run(TsrTensor *v, TsrTensor *w, char uplo, bool *done) {
    TsrLaJob job;
    int n;
    TSR_OWNED scratch = NULL;
    TSR_TRY(tsr_la_begin(&job, v->dtype));
    TSR_TRY(tsr_blas_int(&n, tsr_la_rows(v)));
    TSR_TRY(tsr_la_new_scratch(&scratch, (2 * (int64_t)n + 72) * n, job.item));
    *done = well_scaled(v);
    for (int64_t b = 0; b < tsr_la_batches(v) && *done; b++) {
        TSR_TRY(eigh_small(&job, uplo, n, tsr_la_matrix(v, b), (char *)tsr_data(w) + (size_t)(b * n) * job.real_item,
                           tsr_data(scratch), done));
        TSR_TRY(tsr_interrupt_check());
    }
    return TSR_OK;
}

static TsrStatus eigh_run(TsrTensor *v, TsrTensor *w, char jobz, char uplo, const char *fn) {
    Eigh c = {.jobz = jobz, .uplo = uplo, .values = tsr_data(w)};
    int iquery = 0;
    double query[4] = {0}, rquery[2] = {0};
    if (jobz != 'N') TSR_TRY(tsr_la_check_work(v, 2, fn));
    TSR_TRY(tsr_la_begin(&c.job, v->dtype));
    tsr_la_widen(tsr_la_rows(v), tsr_la_cols(v));
    TSR_TRY(tsr_la_matrix_of(&c.a, v));
    c.w = (TsrLaWork){query, rquery, &iquery, -1, -1, -1};
    syevd(&c);
    c.w = (TsrLaWork){.lwork = tsr_la_work_size(c.job.t, query),
                      .lrwork = tsr_la_work_size(tsr_la_real(c.job.t), rquery),
                      .liwork = TSR_MAX(iquery, 1)};
    TSR_OWNED work = NULL;
    TSR_OWNED rwork = NULL;
    TSR_OWNED iwork = NULL;
    TSR_TRY(tsr_la_new_scratch(&work, c.w.lwork, c.job.item));
    TSR_TRY(tsr_la_new_scratch(&rwork, c.w.lrwork, c.job.real_item));
    TSR_TRY(tsr_la_new_scratch(&iwork, c.w.liwork, sizeof(int)));
    c.w.work = tsr_data(work), c.w.rwork = tsr_data(rwork), c.w.iwork = tsr_data(iwork);
    TsrTensor *const touched[] = {v, w, work, rwork, iwork};
    for (int64_t b = 0; b < tsr_la_batches(v); b++) {
        c.a.data = tsr_la_matrix(v, b);
        c.values = (char *)tsr_data(w) + (size_t)b * (size_t)c.a.rows * c.job.real_item;
        TSR_TRY(tsr_la_apart((int64_t[]){c.a.rows, c.a.rows, c.a.rows}, syevd, &c, sizeof c, touched,
                             TSR_COUNTOF(touched)));
        if (c.info != 0) return tsr_la_diverged(v, fn, b, "eigenvalues", c.info);
    }
    return TSR_OK;
}

static TsrStatus eigh_not_finite(const TsrTensor *a, const char *fn) {
    return tsr_error(TSR_LINALG_ERROR,
                     "%s: The algorithm failed to converge because the input matrix is ill-conditioned or has too many "
                     "repeated eigenvalues (error code: %lld).",
                     fn, (long long)tsr_la_rows(a) - 1);
}

/* By the iterations of our own, where they are for such a matrix: many go side by side, a few in the order that
 * PyTorch's digits show. */
typedef enum Tried { NOT_TRIED, SPOILED, DONE } Tried;
static TsrStatus small_eigen(Tried *tried, TsrTensor *a, TsrTensor *values, char uplo, bool vectors, const char *fn) {
    bool little = tsr_la_rows(a) <= SMALL_EIGEN, done;
    *tried = NOT_TRIED;
    if (tsr_la_many_small(a) && (little || !vectors || tsr_blas_try() == NULL)) {
        int failure;
        TSR_TRY(tsr_la_small_eigh(&failure, a, values, uplo == 'U', vectors));
        *tried = failure == 0 ? DONE : SPOILED;
        return failure == TSR_SMALL_NOT_FINITE ? eigh_not_finite(a, fn) : TSR_OK;
    }
    if (tsr_la_has_nonfinite(a)) return eigh_not_finite(a, fn);
    if (!little || !vectors) return TSR_OK;
    TSR_TRY(eigh_small_run(a, values, uplo, &done));
    *tried = done ? DONE : SPOILED;
    return TSR_OK;
}

TsrStatus tsr_la_new_eigh(TsrTensor **w, TsrTensor **v, const TsrTensor *a, char uplo, const char *fn) {
    TSR_TRY(tsr_la_check_square(a, "linalg.eigh"));
    TSR_TRY(tsr_la_need_kernel("linalg_eigh_cpu", a));
    TSR_OWNED vv = NULL;
    TSR_OWNED ww = NULL;
    if (tsr_on_device(a) && a->numel > 0) {
        bool finite = true;
        TSR_TRY(tsr_la_finite_there(&finite, a));
        if (!finite) return eigh_not_finite(a, fn);
        return tsr_la_new_eigh_there(w, v, a, uplo == 'U');
    }
    TSR_TRY(tsr_la_new_copy(&vv, a));
    TSR_TRY(tsr_la_new_vector(&ww, a, tsr_la_cols(a), tsr_dtype_real_of(a->dtype)));
    if (!tsr_is_meta(vv) && vv->numel > 0) {
        Tried tried;
        TSR_TRY(small_eigen(&tried, vv, ww, uplo, v != NULL, fn));
        if (tried == SPOILED) {
            TsrTensor *again;
            TSR_TRY(tsr_la_new_copy(&again, a));
            tsr_owned_put_move(&vv, again);
        }
        if (tried != DONE) TSR_TRY(eigh_run(vv, ww, v != NULL ? 'V' : 'N', uplo, fn));
    }
    *w = tsr_owned_take(&ww);
    if (v != NULL) *v = tsr_owned_take(&vv);
    return TSR_OK;
}
