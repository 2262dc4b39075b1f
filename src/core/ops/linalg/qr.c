/* qr.c: orthogonal factorizations and least squares: geqrf, qr, householder_product, ormqr, lstsq.
 *
 * QR is LAPACK's: geqrf leaves R above and the reflectors below the diagonal of a column-major copy, orgqr multiplies
 * the reflectors into Q, ormqr applies them without that. lstsq calls one of four drivers: gels (QR, full rank), gelsy
 * (QR with pivots), gelsd and gelss (singular values); each overwrites b with the solution in its first n rows, and
 * below these the residuals. Repetitions of an expanded batch are dropped from rank and singular values. */
#include <float.h>
#include <math.h>
#include <string.h>

#include "core/op/out.h"
#include "la.h"
#include "core/op/compose.h"
#include "core/tensor/loan.h"
#include "there.h"

/* Elements of a matrix up to which our own reflectors are nearer to PyTorch's digits than LAPACK's: of 100 matrices of
 * side 2 4 digits of 2 differ (LAPACK: 6), of side 3 of 4 (7), of side 4 of 11 (6). */
enum { NEARER = 9 };

static bool by_our_own(const TsrTensor *a) {
    return tsr_la_many_small(a) || (tsr_la_small(a) != NULL && tsr_la_rows(a) * tsr_la_cols(a) <= NEARER);
}

TsrStatus tsr_la_qr(TsrTensor *f, TsrTensor *tau) {
    if (f->numel == 0 || tsr_is_meta(f)) return TSR_OK;
    if (tsr_on_device(f)) return tsr_la_qr_there(f, tau);
    if (by_our_own(f)) return tsr_la_small_qr(f, tau);
    TsrLaJob job;
    int m, n, lwork = -1, info;
    double query[4] = {0};
    TSR_TRY(tsr_la_begin(&job, f->dtype));
    TSR_TRY(tsr_blas_int(&m, tsr_la_rows(f)));
    TSR_TRY(tsr_blas_int(&n, tsr_la_cols(f)));
    int64_t k = TSR_MIN(m, n);
    TSR_OWNED work = NULL;
    job.blas->geqrf[job.t](&m, &n, tsr_data(f), &m, tsr_data(tau), query, &lwork, &info);
    lwork = tsr_la_work_size(job.t, query);
    TSR_TRY(tsr_la_new_scratch(&work, lwork, job.item));
    for (int64_t b = 0; b < tsr_la_batches(f); b++) {
        TSR_TRY(tsr_la_geqrf(&job, m, n, tsr_la_matrix(f, b), (char *)tsr_data(tau) + (size_t)(b * k) * job.item,
                             tsr_data(work), lwork));
    }
    return TSR_OK;
}

TsrStatus tsr_la_q(TsrTensor *q, const TsrTensor *tau, int64_t k64) {
    if (q->numel == 0 || tsr_is_meta(q)) return TSR_OK;
    if (tsr_on_device(q)) return tsr_la_q_there(q, tau);
    if (by_our_own(q)) return tsr_la_small_q(q, tau, k64);
    TsrLaJob job;
    int m, n, k, lwork = -1, info;
    double query[4] = {0};
    TSR_TRY(tsr_la_begin(&job, q->dtype));
    TSR_TRY(tsr_blas_int(&m, tsr_la_rows(q)));
    TSR_TRY(tsr_blas_int(&n, tsr_la_cols(q)));
    TSR_TRY(tsr_blas_int(&k, k64));
    TSR_OWNED work = NULL;
    job.blas->orgqr[job.t](&m, &n, &k, tsr_data(q), &m, tsr_data(tau), query, &lwork, &info);
    lwork = tsr_la_work_size(job.t, query);
    TSR_TRY(tsr_la_new_scratch(&work, lwork, job.item));
    for (int64_t b = 0; b < tsr_la_batches(q); b++) {
        TSR_TRY(tsr_la_orgqr(&job, m, n, k, tsr_la_matrix(q, b),
                             (const char *)tsr_data(tau) + (size_t)(b * k) * job.item, tsr_data(work), lwork));
    }
    return TSR_OK;
}

static TsrStatus factored(TsrTensor **f, TsrTensor **tau, const TsrTensor *a) {
    TSR_TRY(tsr_la_new_copy(f, a));
    TSR_TRY(tsr_la_new_vector(tau, a, TSR_MIN(tsr_la_rows(a), tsr_la_cols(a)), a->dtype));
    return tsr_la_qr(*f, *tau);
}

TsrStatus op_geqrf(TsrOpCall *c) {
    const TsrTensor *a = c->arg[0].t;
    TSR_OWNED f = NULL;
    TSR_OWNED tau = NULL;
    if (tsr_ndim(a) < 2) return tsr_error(TSR_RUNTIME_ERROR, "torch.geqrf: input must have at least 2 dimensions.");
    TSR_TRY(tsr_la_into(c, "geqrf_cpu", a->dtype, a->dtype));
    TSR_TRY(factored(&f, &tau, a));
    return tsr_return_move2(c, tsr_owned_take(&f), tsr_owned_take(&tau));
}

TsrStatus tsr_la_copy_corner(TsrTensor *dst, const TsrTensor *src) {
    TSR_OWNED d1 = NULL;
    TSR_OWNED d2 = NULL;
    TSR_OWNED s1 = NULL;
    TSR_OWNED s2 = NULL;
    int64_t m = TSR_MIN(tsr_la_rows(dst), tsr_la_rows(src)), n = TSR_MIN(tsr_la_cols(dst), tsr_la_cols(src));
    if (tsr_is_meta(dst)) return TSR_OK;
    TSR_TRY(tsr_tensor_new_narrow(&d1, dst, -2, 0, m));
    TSR_TRY(tsr_tensor_new_narrow(&d2, d1, -1, 0, n));
    TSR_TRY(tsr_tensor_new_narrow(&s1, src, -2, 0, m));
    TSR_TRY(tsr_tensor_new_narrow(&s2, s1, -1, 0, n));
    return tsr_tensor_copy(d2, s2);
}

TsrStatus op_linalg_qr(TsrOpCall *c) {
    const TsrTensor *a = c->arg[0].t;
    const char *mode = c->arg[1].str;
    TSR_OWNED f = NULL;
    TSR_OWNED tau = NULL;
    TSR_OWNED q = NULL;
    TSR_OWNED r = NULL;
    TSR_TRY(tsr_la_check_matrix(a, "linalg.qr", "A"));
    TSR_TRY(tsr_la_check_float(a, "linalg.qr"));
    bool complete = strcmp(mode, "complete") == 0, only_r = strcmp(mode, "r") == 0;
    if (!complete && !only_r && strcmp(mode, "reduced") != 0)
        return tsr_error(
            TSR_RUNTIME_ERROR,
            "qr received unrecognized mode '%s' but expected one of 'reduced' (default), 'r', or 'complete'", mode);
    TSR_TRY(tsr_la_into(c, "geqrf_cpu", a->dtype, a->dtype));
    int64_t m = tsr_la_rows(a), n = tsr_la_cols(a), k = TSR_MIN(m, n);
    TSR_TRY(factored(&f, &tau, a));
    TSR_TRY(tsr_la_new_like(&r, a, complete ? m : k, n, a->dtype));
    TSR_TRY(tsr_la_copy_corner(r, f));
    if (!tsr_is_meta(r)) TSR_TRY(tsr_la_keep_triangle(r, true));
    if (only_r) {
        TSR_TRY(tsr_tensor_new(&q, 1, (int64_t[]){0}, a->dtype, a->device));
    } else {
        TSR_TRY(tsr_la_new_like(&q, a, m, complete ? m : k, a->dtype));
        if (!tsr_is_meta(q)) TSR_TRY(k == 0 ? tsr_la_set_identity(q) : tsr_tensor_fill(q, tsr_scalar_int(0)));
        TSR_TRY(tsr_la_copy_corner(q, f));
        if (k > 0) TSR_TRY(tsr_la_q(q, tau, k));
    }
    return tsr_return_move2(c, tsr_owned_take(&q), tsr_owned_take(&r));
}

static TsrStatus check_tau_ndim(const char *fn, const TsrTensor *a, const TsrTensor *tau) {
    if (tsr_ndim(a) - tsr_ndim(tau) == 1) return TSR_OK;
    return tsr_error(
        TSR_RUNTIME_ERROR,
        "%s: Expected tau to have one dimension less than input, but got tau.ndim equal to %d and input.ndim is "
        "equal to %d",
        fn, tsr_ndim(tau), tsr_ndim(a));
}

/* That the first n dimensions of t, which the message calls `name`, are those of a. */
static TsrStatus check_batch(const char *fn, const char *name, const TsrTensor *a, const TsrTensor *t, int n) {
    if (memcmp(t->sizes, a->sizes, sizeof(int64_t) * (size_t)n) == 0) return TSR_OK;
    return tsr_error(TSR_RUNTIME_ERROR,
                     "%s: Expected batch dimensions of %s to be equal to input.shape[:-2], but got %s", fn, name,
                     tsr_layout_text(n, t->sizes));
}

TsrStatus op_householder_product(TsrOpCall *c) {
    const TsrTensor *a = c->arg[0].t, *tau = c->arg[1].t;
    TSR_OWNED q = NULL;
    TSR_OWNED t = NULL;
    static const char fn[] = "torch.linalg.householder_product";
    if (tsr_ndim(a) < 2) return tsr_error(TSR_RUNTIME_ERROR, "%s: input must have at least 2 dimensions.", fn);
    if (tsr_la_rows(a) < tsr_la_cols(a))
        return tsr_error(TSR_RUNTIME_ERROR, "%s: input.shape[-2] must be greater than or equal to input.shape[-1]", fn);
    int dt = tsr_ndim(tau);
    TSR_TRY(tsr_wrap_own_dim(&(int64_t){-1}, dt));
    if (tsr_la_cols(a) < tau->sizes[dt - 1])
        return tsr_error(TSR_RUNTIME_ERROR, "%s: input.shape[-1] must be greater than or equal to tau.shape[-1]", fn);
    TSR_TRY(check_tau_ndim(fn, a, tau));
    TSR_TRY(check_batch(fn, "tau", a, tau, dt - 1));
    if (tau->dtype != a->dtype)
        return tsr_error(TSR_RUNTIME_ERROR, "%s: tau dtype %s does not match input dtype %s", fn,
                         tsr_dtype_scalar_name(tau->dtype), tsr_dtype_scalar_name(a->dtype));
    TSR_TRY(tsr_la_into(c, "orgqr_cpu", a->dtype, a->dtype));
    TSR_TRY(tsr_la_new_copy(&q, a));
    TSR_TRY(tsr_tensor_new_contiguous(&t, tau, TSR_CONTIGUOUS));
    TSR_TRY(tsr_la_q(q, t, tau->sizes[dt - 1]));
    return tsr_return_move(c, tsr_owned_take(&q));
}

static TsrStatus check_ormqr(const TsrTensor *a, const TsrTensor *tau, const TsrTensor *other, bool left) {
    static const char fn[] = "torch.ormqr";
    if (tsr_ndim(a) < 2) return tsr_error(TSR_RUNTIME_ERROR, "%s: input must have at least 2 dimensions.", fn);
    if (tsr_ndim(other) < 2) return tsr_error(TSR_RUNTIME_ERROR, "%s: other must have at least 2 dimensions.", fn);
    int64_t size = left ? tsr_la_rows(other) : tsr_la_cols(other);
    int dt = tsr_ndim(tau);
    TSR_TRY(tsr_wrap_own_dim(&(int64_t){-1}, dt));
    if (size != tsr_la_rows(a))
        return tsr_error(TSR_RUNTIME_ERROR, "%s: other.shape[%d] must be equal to input.shape[-2]", fn, left ? -2 : -1);
    if (tau->sizes[dt - 1] != TSR_MIN(size, tsr_la_cols(a)))
        return tsr_error(TSR_RUNTIME_ERROR, "%s: tau.shape[-1] must be equal to min(other.shape[%d], input.shape[-1])",
                         fn, left ? -2 : -1);
    TSR_TRY(check_tau_ndim(fn, a, tau));
    if (tsr_ndim(a) != tsr_ndim(other))
        return tsr_error(
            TSR_RUNTIME_ERROR,
            "%s: Expected other to have the same number of dimensions as input, but got other.ndim equal to %d and "
            "input.ndim is equal to %d",
            fn, tsr_ndim(other), tsr_ndim(a));
    TSR_TRY(check_batch(fn, "tau", a, tau, dt - 1));
    TSR_TRY(check_batch(fn, "other", a, other, dt - 1));
    if (tau->dtype != a->dtype)
        return tsr_error(
            TSR_RUNTIME_ERROR,
            "%s: Expected input and tau to have the same dtype, but input has dtype%s and tau has dtype %s", fn,
            tsr_dtype_scalar_name(a->dtype), tsr_dtype_scalar_name(tau->dtype));
    if (other->dtype != a->dtype)
        return tsr_error(
            TSR_RUNTIME_ERROR,
            "%s: Expected input and other to have the same dtype, but input has dtype%s and other has dtype %s", fn,
            tsr_dtype_scalar_name(a->dtype), tsr_dtype_scalar_name(other->dtype));
    return TSR_OK;
}

/* q times x, or one of its forms, in place. */
typedef struct Ormqr {
    TsrLaJob job;
    char side, trans;
    int m, n, k, lda, lwork, info;
    const void *q, *tau;
    void *x, *work;
} Ormqr;

static void ormqr(void *context) {
    Ormqr *c = context;
    c->job.blas->ormqr[c->job.t](&c->side, &c->trans, &c->m, &c->n, &c->k, c->q, &c->lda, c->tau, c->x, &c->m, c->work,
                                 &c->lwork, &c->info, 1, 1);
}

TsrStatus op_ormqr(TsrOpCall *c) {
    const TsrTensor *a = c->arg[0].t, *tau = c->arg[1].t, *other = c->arg[2].t;
    bool left = c->arg[3].b, transpose = c->arg[4].b;
    TSR_TRY(check_ormqr(a, tau, other, left));
    TSR_TRY(tsr_la_into(c, "ormqr_cpu", a->dtype, a->dtype));
    TSR_OWNED f = NULL;
    TSR_OWNED t = NULL;
    TSR_OWNED x = NULL;
    TSR_OWNED work = NULL;
    TSR_TRY(tsr_la_new_copy(&x, other));
    TSR_TRY(tsr_la_new_copy(&f, a));
    TSR_TRY(tsr_tensor_new_clone(&t, tau, TSR_CONTIGUOUS));
    if (x->numel == 0 || tsr_is_meta(x)) return tsr_return_move(c, tsr_owned_take(&x));
    if (tsr_on_device(x)) {
        TSR_TRY(tsr_la_reflect_there(x, f, t, !left, transpose));
        return tsr_return_move(c, tsr_owned_take(&x));
    }
    double query[4] = {0};
    Ormqr q = {
        .side = left ? 'L' : 'R', .lwork = -1, .q = tsr_data(f), .tau = tsr_data(t), .x = tsr_data(x), .work = query};
    TSR_TRY(tsr_la_begin(&q.job, x->dtype));
    tsr_la_widen(tsr_la_rows(x), tsr_la_cols(x));
    TSR_TRY(tsr_blas_int(&q.m, tsr_la_rows(x)));
    TSR_TRY(tsr_blas_int(&q.n, tsr_la_cols(x)));
    TSR_TRY(tsr_blas_int(&q.lda, TSR_MAX(tsr_la_rows(f), 1)));
    TSR_TRY(tsr_blas_int(&q.k, tau->sizes[tsr_ndim(tau) - 1]));
    q.trans = !transpose ? 'N' : q.job.is_complex ? 'C' : 'T';
    ormqr(&q);
    q.lwork = tsr_la_work_size(q.job.t, query);
    TSR_TRY(tsr_la_new_scratch(&work, q.lwork, q.job.item));
    q.work = tsr_data(work);
    TsrTensor *const touched[] = {f, t, x, work};
    for (int64_t b = 0; b < tsr_la_batches(x); b++) {
        q.q = tsr_la_matrix(f, b), q.x = tsr_la_matrix(x, b);
        q.tau = (char *)tsr_data(t) + (size_t)(b * q.k) * q.job.item;
        TSR_TRY(tsr_la_apart((int64_t[]){q.m, q.n, q.k}, ormqr, &q, sizeof q, touched, TSR_COUNTOF(touched)));
    }
    return tsr_return_move(c, tsr_owned_take(&x));
}

/* ---- least squares ---- */

enum { GELS, GELSY, GELSD, GELSS };

typedef struct Lstsq {
    TsrLaJob job;
    int driver, m, n, nrhs, ldb, lwork;
    void *a, *b, *work, *rwork, *s;
    int *iwork, *jpvt;
    int rank, info;
    double rcond; /* as a double or, in the first four bytes, a float */
} Lstsq;

static void lstsq_call(void *context) {
    Lstsq *l = context;
    void *a = l->a, *b = l->b;
    int *rank = &l->rank, *info = &l->info;
    const TsrBlas *blas = l->job.blas;
    TsrBlasType t = l->job.t;
    bool z = l->job.is_complex;
    char none = 'N';
    int *m = &l->m, *n = &l->n, *nrhs = &l->nrhs, *ldb = &l->ldb, *lwork = &l->lwork;
    switch (l->driver) {
    case GELS: blas->gels[t](&none, m, n, nrhs, a, m, b, ldb, l->work, lwork, info, 1); break;
    case GELSY:
        if (z)
            blas->gelsy_complex[t](m, n, nrhs, a, m, b, ldb, l->jpvt, &l->rcond, rank, l->work, lwork, l->rwork, info);
        else blas->gelsy_real[t](m, n, nrhs, a, m, b, ldb, l->jpvt, &l->rcond, rank, l->work, lwork, info);
        break;
    case GELSD:
        if (z)
            blas->gelsd_complex[t](m, n, nrhs, a, m, b, ldb, l->s, &l->rcond, rank, l->work, lwork, l->rwork, l->iwork,
                                   info);
        else blas->gelsd_real[t](m, n, nrhs, a, m, b, ldb, l->s, &l->rcond, rank, l->work, lwork, l->iwork, info);
        break;
    default:
        if (z) blas->gelss_complex[t](m, n, nrhs, a, m, b, ldb, l->s, &l->rcond, rank, l->work, lwork, l->rwork, info);
        else blas->gelss_real[t](m, n, nrhs, a, m, b, ldb, l->s, &l->rcond, rank, l->work, lwork, info);
    }
}

static TsrStatus lstsq_run(int driver, TsrTensor *a, TsrTensor *b, TsrTensor *rank, TsrTensor *s, double rcond) {
    if (tsr_blas_try() == NULL && !tsr_dtype_is_complex(a->dtype))
        return tsr_la_jacobi_lstsq(b, rank, s, a, rcond >= 0 ? rcond : DBL_EPSILON);
    Lstsq l = {.driver = driver, .lwork = -1};
    TSR_TRY(tsr_la_begin(&l.job, a->dtype));
    tsr_la_widen(tsr_la_rows(a), tsr_la_cols(a));
    TSR_TRY(tsr_blas_int(&l.m, tsr_la_rows(a)));
    TSR_TRY(tsr_blas_int(&l.n, tsr_la_cols(a)));
    TSR_TRY(tsr_blas_int(&l.nrhs, tsr_la_cols(b)));
    TSR_TRY(tsr_blas_int(&l.ldb, tsr_la_rows(b)));
    tsr_la_set(tsr_la_real(l.job.t), &l.rcond, 0, rcond);
    int64_t k = TSR_MIN(l.m, l.n);
    TSR_OWNED work = NULL;
    TSR_OWNED rwork = NULL;
    TSR_OWNED iwork = NULL;
    TSR_OWNED jpvt = NULL;
    double query[4] = {0}, rquery[4] = {0};
    int iquery[4] = {0};
    TSR_TRY(tsr_la_new_scratch(&jpvt, l.n, sizeof(int)));
    l.jpvt = tsr_data(jpvt);
    l.work = query, l.rwork = rquery, l.iwork = iquery, l.s = tsr_data(s);
    l.a = tsr_data(a), l.b = tsr_data(b);
    lstsq_call(&l);
    l.lwork = tsr_la_work_size(l.job.t, query);
    int64_t rcount = driver == GELSD   ? (int64_t)creal(tsr_la_get(tsr_la_real(l.job.t), rquery, 0)) + 1
                     : driver == GELSY ? 2 * l.n
                                       : 5 * k;
    TSR_TRY(tsr_la_new_scratch(&rwork, rcount, l.job.real_item));
    TSR_TRY(tsr_la_new_scratch(&iwork, TSR_MAX(iquery[0], 3 * k * 32 + 11 * k), sizeof(int)));
    TSR_TRY(tsr_la_new_scratch(&work, l.lwork, l.job.item));
    l.work = tsr_data(work), l.rwork = tsr_data(rwork), l.iwork = tsr_data(iwork);
    TsrTensor *const touched[] = {a, b, s, work, rwork, iwork, jpvt};
    for (int64_t i = 0; i < tsr_la_batches(a); i++) {
        memset(l.jpvt, 0, sizeof(int) * (size_t)l.n);
        if (s->numel > 0) l.s = (char *)tsr_data(s) + (size_t)(i * k) * l.job.real_item;
        l.a = tsr_la_matrix(a, i), l.b = tsr_la_matrix(b, i);
        TSR_TRY(tsr_la_apart((int64_t[]){l.m, l.n, TSR_MAX(k, l.nrhs)}, lstsq_call, &l, sizeof l, touched,
                             TSR_COUNTOF(touched)));
        if (rank->numel > 0) ((int64_t *)tsr_data(rank))[i] = l.rank;
        if (l.info > 0 && driver != GELS)
            return tsr_error(
                TSR_LINALG_ERROR,
                "torch.linalg.lstsq: The algorithm for computing the SVD failed to converge, %d off-diagonal "
                "elements of an intermediate bidiagonal form did not converge to zero.",
                l.info);
        if (l.info > 0)
            return tsr_error(
                TSR_LINALG_ERROR,
                "torch.linalg.lstsq: The least squares solution could not be computed because the input matrix does "
                "not have full rank (error code: %d).",
                l.info);
    }
    return TSR_OK;
}

static TsrStatus residuals_there_new(TsrTensor **out, const TsrTensor *b, int64_t n, bool vector) {
    TsrScope s = {0};
    const int64_t dims[] = {-2, -1};
    TsrTensor *below = MAKE(&s, tsr_tensor_new_narrow, b, -2, n, tsr_la_rows(b) - n),
              *size = CALL(&s, "abs", "t", below), *square = CALL(&s, "mul", "tt", size, size);
    return tsr_scope_end_new(out, &s, CALL(&s, "sum", "tI", square, vector ? 2 : 1, dims));
}

/* Sums of squares of the rows of b below n: (batch..., nrhs), real. */
static TsrStatus residuals_new(TsrTensor **out, const TsrTensor *b, int64_t n, bool vector) {
    TSR_OWNED r = NULL;
    if (tsr_on_device(b)) return residuals_there_new(out, b, n, vector);
    int64_t rows = tsr_la_rows(b), cols = tsr_la_cols(b);
    TsrBlasType t;
    tsr_blas_type(&t, b->dtype);
    TSR_TRY(tsr_la_new_vector(&r, b, vector ? -1 : cols, tsr_dtype_real_of(b->dtype)));
    for (int64_t i = 0; i < tsr_la_batches(b) && !tsr_is_meta(r); i++)
        for (int64_t j = 0; j < cols; j++) {
            double sum = 0;
            TSR_IN_PIECES(k, rows - n) {
                double complex v = tsr_la_get(t, tsr_la_matrix(b, i), j * rows + n + k);
                sum += creal(v) * creal(v) + cimag(v) * cimag(v);
            }
            tsr_la_set(tsr_la_real(t), tsr_data(r), i * cols + j, sum);
        }
    *out = tsr_owned_take(&r);
    return TSR_OK;
}

static TsrStatus lstsq_driver(int *driver, const TsrArg *arg, bool there) {
    static const char *const names[] = {"gels", "gelsy", "gelsd", "gelss"};
    *driver = there ? GELS : GELSY;
    if (!tsr_arg_given(arg)) return TSR_OK;
    if (there && strcmp(arg->str, names[GELS]) != 0)
        return tsr_error(TSR_RUNTIME_ERROR, "torch.linalg.lstsq: `driver` other than `gels` is not supported on CUDA");
    for (*driver = 0; *driver < 4; (*driver)++)
        if (strcmp(arg->str, names[*driver]) == 0) return TSR_OK;
    return tsr_error(TSR_RUNTIME_ERROR,
                     "torch.linalg.lstsq: parameter `driver` should be one of (gels, gelsy, gelsd, gelss)");
}

static TsrStatus check_lstsq(const TsrTensor *a, const TsrTensor *b, bool *vector) {
    static const char fn[] = "torch.linalg.lstsq";
    int da = tsr_ndim(a), db = tsr_ndim(b);
    if (da < 2) return tsr_error(TSR_RUNTIME_ERROR, "%s: input must have at least 2 dimensions.", fn);
    if (db < 1) return tsr_error(TSR_RUNTIME_ERROR, "%s: other must have at least 1 dimension.", fn);
    if (a->dtype != b->dtype)
        return tsr_error(
            TSR_RUNTIME_ERROR,
            "%s: Expected input and other to have the same dtype, but got input's dtype %s and other's dtype %s", fn,
            tsr_dtype_scalar_name(a->dtype), tsr_dtype_scalar_name(b->dtype));
    if (da - db > 1)
        return tsr_error(TSR_RUNTIME_ERROR,
                         "%s: input.dim() must be greater or equal to other.dim() and (input.dim() - other.dim()) <= 1",
                         fn);
    if (da < db)
        return tsr_error(TSR_RUNTIME_ERROR,
                         "%s: input.dim() must be greater or equal to other.dim() and (input.dim() - other.dim()) <= 1",
                         fn);
    *vector = db == 1 || (da == db + 1 && memcmp(a->sizes, b->sizes, sizeof(int64_t) * (size_t)db) == 0);
    if (*vector && tsr_la_rows(a) != b->sizes[db - 1])
        return tsr_error(TSR_RUNTIME_ERROR, "%s: input.size(-2) should match other.size(-1)", fn);
    if (!*vector && tsr_la_rows(a) != tsr_la_rows(b))
        return tsr_error(TSR_RUNTIME_ERROR, "%s: input.size(-2) should match other.size(-2)", fn);
    return TSR_OK;
}

/* Of matrices: batches of different rank have to agree, and do not. */
static TsrStatus check_lstsq_batches(const TsrTensor *a, const TsrTensor *b) {
    int64_t batch[TSR_MAX_DIMS];
    int da = tsr_ndim(a), db = tsr_ndim(b), nbatch = da - 2;
    if (da == db) return TSR_OK;
    memcpy(batch, a->sizes, sizeof(int64_t) * (size_t)nbatch);
    TSR_TRY(tsr_layout_broadcast(batch, &nbatch, b->sizes, db - 1));
    return tsr_error(TSR_RUNTIME_ERROR, "torch.linalg.lstsq: input.size(-2) should match other.size(-2)");
}

/* Rank and singular values belong to the matrices: of an expanded batch the repetitions are dropped. `extra` dimensions
 * follow the batch. */
static TsrStatus drop_repeats(TsrTensor **slot, const TsrTensor *a, int extra) {
    int nbatch = tsr_ndim(a) - 2, wide = tsr_ndim(*slot) - extra;
    if (tsr_ndim(*slot) < extra || (*slot)->numel == 0) return TSR_OK;
    TsrTensor *next;
    while (wide > nbatch) {
        TSR_TRY(tsr_tensor_new_select(&next, *slot, 0, 0));
        tsr_owned_put_move(slot, next);
        wide--;
    }
    for (int d = 0; d < nbatch; d++) {
        if (a->sizes[d] == (*slot)->sizes[d]) continue;
        TSR_TRY(tsr_tensor_new_narrow(&next, *slot, d, 0, a->sizes[d]));
        tsr_owned_put_move(slot, next);
    }
    if ((*slot)->base == NULL) return TSR_OK;
    TSR_TRY(tsr_tensor_new_clone(&next, *slot, TSR_CONTIGUOUS));
    tsr_owned_put_move(slot, next);
    return TSR_OK;
}

TsrStatus op_lstsq(TsrOpCall *c) {
    const TsrTensor *a = c->arg[0].t, *b = c->arg[1].t;
    bool vector = false;
    int driver;
    TSR_TRY(check_lstsq(a, b, &vector));
    TSR_TRY(lstsq_driver(&driver, &c->arg[3], tsr_on_device(a)));
    if (!tsr_arg_given(&c->arg[2])) TSR_TRY(tsr_la_need_epsilon(a));
    if (!vector) TSR_TRY(check_lstsq_batches(a, b));
    TSR_OWNED column = NULL;
    TSR_OWNED f = NULL;
    TSR_OWNED x = NULL;
    TSR_OWNED rank = NULL;
    TSR_OWNED s = NULL;
    TSR_OWNED residuals = NULL;
    if (vector) TSR_TRY(tsr_tensor_new_unsqueeze(&column, b, -1));
    const TsrTensor *rhs = vector ? column : b;
    TsrLaBatch batch;
    int64_t m = tsr_la_rows(a), n = tsr_la_cols(a), k = TSR_MIN(m, n), none = 0;
    TSR_TRY(tsr_la_broadcast_batch(&batch, a, rhs));
    TSR_TRY(tsr_la_not_implemented("linalg_lstsq_cpu", a->dtype));
    TSR_TRY(tsr_la_new_copy_expanded(&f, a, &batch));
    TSR_TRY(tsr_la_new(&x, &batch, TSR_MAX(m, n), tsr_la_cols(rhs), a->dtype, a->device));
    if (!tsr_is_meta(x)) {
        TSR_TRY(tsr_tensor_fill(x, tsr_scalar_int(0)));
        TSR_OWNED wide = NULL;
        TSR_TRY(tsr_la_new_copy_expanded(&wide, rhs, &batch));
        TSR_TRY(tsr_la_copy_corner(x, wide));
    }
    TsrDtype real = tsr_dtype_real_of(a->dtype);
    if (driver == GELS) TSR_TRY(tsr_tensor_new(&rank, 1, &none, TSR_INT64, a->device));
    else TSR_TRY(tsr_la_new_vector(&rank, f, -1, TSR_INT64));
    if (driver >= GELSD) TSR_TRY(tsr_la_new_vector(&s, f, k, real));
    else TSR_TRY(tsr_tensor_new(&s, 1, &none, real, a->device));
    double rcond = tsr_arg_given(&c->arg[2])
                       ? c->arg[2].f
                       : (real == TSR_FLOAT32 ? FLT_EPSILON : DBL_EPSILON) * (double)TSR_MAX(m, n);
    if (!tsr_is_meta(x) && rank->numel > 0) memset(tsr_data(rank), 0, (size_t)rank->numel * 8);
    if (!tsr_is_meta(x) && f->numel > 0 && x->numel > 0)
        TSR_TRY(tsr_on_device(x) ? tsr_la_lstsq_there(x, f) : lstsq_run(driver, f, x, rank, s, rcond));
    bool full = m > n && driver != GELSY;
    for (int64_t i = 0; i < rank->numel && full && !tsr_is_meta(x); i++)
        full = ((const int64_t *)tsr_data(rank))[i] == n;
    if (driver != GELS) TSR_TRY(drop_repeats(&rank, a, 0));
    if (driver >= GELSD) TSR_TRY(drop_repeats(&s, a, 1));
    if (full) TSR_TRY(residuals_new(&residuals, x, n, vector));
    else TSR_TRY(tsr_tensor_new(&residuals, 1, &none, real, a->device));
    int d = tsr_ndim(x);
    int64_t sizes[TSR_MAX_DIMS], strides[TSR_MAX_DIMS];
    memcpy(sizes, x->sizes, sizeof(int64_t) * (size_t)d);
    memcpy(strides, x->strides, sizeof(int64_t) * (size_t)d);
    sizes[d - 2] = n;
    TSR_TRY(tsr_tensor_set_geometry(x, (TsrGeometry){vector ? d - 1 : d, sizes, strides, 0}));
    tsr_return_move2(c, tsr_owned_take(&x), tsr_owned_take(&residuals));
    c->ret[2] = (TsrArg){.kind = TSR_ARG_TENSOR, .t = tsr_owned_take(&rank)};
    c->ret[3] = (TsrArg){.kind = TSR_ARG_TENSOR, .t = tsr_owned_take(&s)};
    c->nret = 4;
    return TSR_OK;
}
