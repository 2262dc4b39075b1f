/* lu.c: the LU factorization with partial pivoting, what solves by it (la.h), and the operators that return it.
 *
 * P A = L U of a column-major copy, packed in one matrix with LAPACK's pivots (from 1). Small matrices go side by side
 * (side_by_side.c), a few by our own lu.inc, in the order of the library behind PyTorch, whose digits show. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "la.h"
#include "core/tensor/loan.h"
#include "there.h"
#include "core/engine/places.h"
#include "core/op/compose.h"

/* ---- the factorization, and what solves by it ---- */

/* The largest side for which our own elimination (lu.inc) is used, in the order whose digits PyTorch shows; LAPACK
 * above it. torch.linalg.lu_factor of 50 float matrices, least of 100 calls in build/tsr by time.perf_counter() (AMD
 * EPYC, Zen 3): of side 8 in 23 us and 24 by LAPACK, of side 16 in 128 and 81, of side 32 in 900 and 230. */
enum { SMALL_LU = 16 };
/* Unknowns of systems that are solved in that library's order, at most. */
enum { SMALL_SOLVED = 7 };

static inline float complex product_c(float complex x, float complex y) {
    return CMPLXF(crealf(x) * crealf(y) - cimagf(x) * cimagf(y), crealf(x) * cimagf(y) + cimagf(x) * crealf(y));
}

static inline double complex product_z(double complex x, double complex y) {
    return CMPLX(creal(x) * creal(y) - cimag(x) * cimag(y), creal(x) * cimag(y) + cimag(x) * creal(y));
}

/* By Smith's way, whose denominator is inverted. */
static inline float complex quotient_c(float complex x, float complex y) {
    const float a = crealf(x), b = cimagf(x), c = crealf(y), d = cimagf(y);
    const bool wide = fabsf(c) >= fabsf(d);
    const float ratio = wide ? d / c : c / d, scale = 1 / (wide ? c + d * ratio : d + c * ratio);
    return wide ? CMPLXF((a + b * ratio) * scale, (b - a * ratio) * scale)
                : CMPLXF((a * ratio + b) * scale, (b * ratio - a) * scale);
}

#define T float
#define SIZE(v) fabsf(v)
#define INVERSE(v) (1 / (v))
#define TIMES(a, b) ((a) * (b))
#define DIVIDES true
#define ADJOINT_MOST 6
#define NAME(x) x##_s
#include "core/kernels/matrix/lu.inc"
#define T double
#define SIZE(v) fabs(v)
#define INVERSE(v) (1 / (v))
#define TIMES(a, b) ((a) * (b))
#define DIVIDES true
#define ADJOINT_MOST 4
#define NAME(x) x##_d
#include "core/kernels/matrix/lu.inc"
#define T float complex
#define SIZE(v) (fabsf(crealf(v)) + fabsf(cimagf(v)))
#define INVERSE(v) (float complex)(1 / (double complex)(v))
#define TIMES(a, b) product_c(a, b)
#define DIVIDES false
#define COMPLEX_MOST 8
#define NAME(x) x##_c
#include "core/kernels/matrix/lu.inc"
#define T double complex
#define SIZE(v) (fabs(creal(v)) + fabs(cimag(v)))
#define INVERSE(v) (double complex)(1 / (long double complex)(v))
#define TIMES(a, b) product_z(a, b)
#define DIVIDES false
#define NAME(x) x##_z
#include "core/kernels/matrix/lu.inc"

/* Without LAPACK real matrices of any size go by our own code. */
static TsrStatus begin_lu(TsrLaJob *job, TsrDtype dtype) {
    if (tsr_blas_try() != NULL || tsr_dtype_is_complex(dtype)) return tsr_la_begin(job, dtype);
    tsr_la_describe(job, dtype);
    return tsr_interrupt_check();
}

static TsrStatus factor(const TsrLaJob *job, int m, int n, void *a, int *pivots, int *info) {
    if (TSR_MAX(m, n) > SMALL_LU && job->blas != NULL) return tsr_la_getrf(job, m, n, a, pivots, info);
    if (job->t == TSR_BLAS_S) lu_small_s(a, m, n, pivots, info);
    else if (job->t == TSR_BLAS_D) lu_small_d(a, m, n, pivots, info);
    else if (job->t == TSR_BLAS_C) lu_small_c(a, m, n, pivots, info);
    else lu_small_z(a, m, n, pivots, info);
    return tsr_interrupt_check();
}

static TsrStatus factor_each(TsrTensor *f, TsrTensor *p, TsrTensor *e) {
    TsrLaJob job;
    int m, n;
    TSR_TRY(begin_lu(&job, f->dtype));
    TSR_TRY(tsr_blas_int(&m, tsr_la_rows(f)));
    TSR_TRY(tsr_blas_int(&n, tsr_la_cols(f)));
    for (int64_t b = 0; b < tsr_la_batches(f); b++)
        TSR_TRY(
            factor(&job, m, n, tsr_la_matrix(f, b), (int *)tsr_data(p) + b * TSR_MIN(m, n), (int *)tsr_data(e) + b));
    return TSR_OK;
}

TsrStatus tsr_la_new_lu_factor(TsrTensor **lu, TsrTensor **pivots, TsrTensor **info, const TsrTensor *a) {
    TSR_OWNED f = NULL;
    TSR_OWNED p = NULL;
    TSR_OWNED e = NULL;
    int64_t m64 = tsr_la_rows(a), n64 = tsr_la_cols(a), k = TSR_MIN(m64, n64);
    TSR_TRY(tsr_la_new_copy(&f, a));
    TSR_TRY(tsr_la_new_vector(&p, a, k, TSR_INT32));
    TSR_TRY(tsr_la_new_vector(&e, a, -1, TSR_INT32));
    if (tsr_on_device(f)) {
        if (f->numel == 0) TSR_TRY(tsr_tensor_fill(e, tsr_scalar_int(0)));
        TSR_TRY(tsr_la_lu_there(f, p, e));
    } else if (!tsr_is_meta(f)) {
        if (e->numel > 0) memset(tsr_data(e), 0, (size_t)e->numel * 4);
        if (tsr_la_small(f) != NULL) TSR_TRY(tsr_la_small_lu(f, p, e));
        else if (f->numel > 0) TSR_TRY(factor_each(f, p, e));
    }
    *lu = tsr_owned_take(&f);
    *pivots = tsr_owned_take(&p);
    *info = tsr_owned_take(&e);
    return TSR_OK;
}

static TsrStatus solve_from_factors(const TsrLaJob *job, char trans, int n, int nrhs, const void *lu, const int *pivots,
                                    void *b) {
    bool turned = trans != 'N', alone = job->blas == NULL;
    if (job->t == TSR_BLAS_S && lu_solve_small_s(lu, n, nrhs, pivots, b, turned, alone)) return tsr_interrupt_check();
    if (job->t == TSR_BLAS_D && lu_solve_small_d(lu, n, nrhs, pivots, b, turned, alone)) return tsr_interrupt_check();
    if (job->t == TSR_BLAS_C && !turned && lu_solve_small_c(lu, n, nrhs, pivots, b)) return tsr_interrupt_check();
    return tsr_la_getrs(job, trans, n, nrhs, lu, pivots, b);
}

TsrStatus tsr_la_lu_solve(TsrTensor *b, const TsrTensor *lu, const TsrTensor *pivots, char trans) {
    if (b->numel == 0 || tsr_is_meta(b)) return TSR_OK;
    if (tsr_on_device(b)) return tsr_la_lu_solve_there(b, lu, pivots, trans);
    if (trans == 'N' && tsr_la_small_system(lu, b)) return tsr_la_small_lu_solve(b, lu, pivots);
    TsrLaJob job;
    int n, nrhs;
    TSR_TRY(begin_lu(&job, b->dtype));
    TSR_TRY(tsr_blas_int(&n, tsr_la_rows(b)));
    TSR_TRY(tsr_blas_int(&nrhs, tsr_la_cols(b)));
    for (int64_t i = 0; i < tsr_la_batches(b); i++) {
        TSR_TRY(solve_from_factors(&job, trans, n, nrhs, tsr_la_matrix(lu, i), (const int *)tsr_data(pivots) + i * n,
                                   tsr_la_matrix(b, i)));
    }
    return TSR_OK;
}

/* As PyTorch: A X = I by LU. */
TsrStatus tsr_la_new_inverse(TsrTensor **inverse, TsrTensor **info, const TsrTensor *a) {
    TSR_OWNED lu = NULL;
    TSR_OWNED pivots = NULL;
    TSR_OWNED e = NULL;
    TSR_OWNED x = NULL;
    TSR_TRY(tsr_la_new_lu_factor(&lu, &pivots, &e, a));
    TSR_TRY(tsr_la_new_like(&x, a, tsr_la_rows(a), tsr_la_cols(a), a->dtype));
    if (!tsr_is_meta(x)) TSR_TRY(tsr_la_set_identity(x));
    TSR_TRY(tsr_la_lu_solve(x, lu, pivots, 'N'));
    *inverse = tsr_owned_take(&x);
    *info = tsr_owned_take(&e);
    return TSR_OK;
}

/* ---- operators ---- */

/* `others`: what comes after the first result. */
static TsrStatus check_lu_input(const TsrOpCall *c, bool pivot, TsrDtype others) {
    const TsrTensor *a = c->arg[0].t;
    if (tsr_ndim(a) < 2) {
        return tsr_error(TSR_RUNTIME_ERROR,
                         "torch.lu_factor: Expected tensor with 2 or more dimensions. Got size: %s instead",
                         tsr_sizes_text(a));
    }
    TSR_TRY(tsr_la_outs(c, a->dtype, others));
    if (a->numel == 0) return TSR_OK;
    TSR_TRY(tsr_la_need_kernel("lu_cpu", a));
    return pivot ? TSR_OK
                 : tsr_error(TSR_RUNTIME_ERROR, "linalg.lu_factor: LU without pivoting is not implemented on the CPU");
}

static TsrStatus check_lu_info(const TsrTensor *info, const char *fn) {
    TSR_OWNED here = NULL;
    if (tsr_is_meta(info)) return TSR_OK;
    TSR_TRY(tsr_new_there(&here, info, TSR_DEVICE_CPU));
    for (int64_t b = 0; b < info->numel; b++) {
        int e = ((const int *)tsr_data(here))[b];
        char batch[64] = ": ";
        if (e == 0) continue;
        if (tsr_ndim(info) > 0) snprintf(batch, sizeof batch, ": (Batch element %lld): ", (long long)b);
        return tsr_error(
            TSR_RUNTIME_ERROR,
            "%s%sU[%d,%d] is zero and using it on lu_solve would result in a division by zero. If you still want to "
            "perform the factorization, consider calling "
            "linalg.lu(A, pivot) or linalg.lu_factor_ex(A, pivot)",
            fn, batch, e, e);
    }
    return TSR_OK;
}

static TsrStatus lu_factor(TsrOpCall *c, bool pivot, const char *check, bool with_info) {
    TsrTensor *lu, *pivots, *info;
    TSR_TRY(check_lu_input(c, pivot, TSR_INT32));
    TSR_TRY(tsr_la_new_lu_factor(&lu, &pivots, &info, c->arg[0].t));
    TsrStatus s = check != NULL ? check_lu_info(info, check) : TSR_OK;
    if (s != TSR_OK || !with_info) {
        tsr_tensor_free(info);
        if (s == TSR_OK) return tsr_return_move2(c, lu, pivots);
        tsr_tensor_free(lu);
        tsr_tensor_free(pivots);
        return s;
    }
    tsr_return_move2(c, lu, pivots);
    c->ret[2] = (TsrArg){.kind = TSR_ARG_TENSOR, .t = info};
    c->nret = 3;
    return TSR_OK;
}

TsrStatus op_lu_factor(TsrOpCall *c) { return lu_factor(c, c->arg[1].b, "torch.linalg.lu_factor", false); }
TsrStatus op_lu_factor_ex(TsrOpCall *c) {
    return lu_factor(c, c->arg[1].b, c->arg[2].b ? "torch.linalg.lu_factor_ex" : NULL, true);
}
/* Never checks: what torch.lu is made of. */
TsrStatus op_lu(TsrOpCall *c) { return lu_factor(c, c->arg[1].b, NULL, true); }

/* rows[i]: which row of the input row i of the product P^T A is. */
static void apply_pivots(int64_t *rows, int64_t m, const int *pivots, int64_t k) {
    for (int64_t i = 0; i < m; i++) rows[i] = i;
    for (int64_t i = 0; i < k; i++) {
        int64_t other = pivots[i] - 1, row = rows[i];
        if (other < 0 || other >= m) continue;
        rows[i] = rows[other];
        rows[other] = row;
    }
}

/* `pivots` is contiguous. */
static TsrStatus check_pivots(const TsrTensor *pivots, int64_t m) {
    for (int64_t i = 0; i < pivots->numel; i++) {
        int pivot = ((const int *)tsr_data(pivots))[i];
        if (pivot < 1 || pivot > m)
            return tsr_error(
                TSR_RUNTIME_ERROR,
                "pivots passed to lu_unpack must be between 1 and LU.size(-2) inclusive.Did you properly pass the "
                "result of lu_factor?");
    }
    return TSR_OK;
}

TsrStatus tsr_la_pivot_rows_new(TsrTensor **out, const TsrTensor *pivots, int64_t m, bool back) {
    TSR_OWNED rows = NULL;
    TSR_OWNED here = NULL;
    TSR_OWNED order = NULL;
    int64_t k = pivots->sizes[tsr_ndim(pivots) - 1], sizes[TSR_MAX_DIMS];
    memcpy(sizes, pivots->sizes, sizeof(int64_t) * (size_t)tsr_ndim(pivots));
    sizes[tsr_ndim(pivots) - 1] = m;
    TSR_TRY(tsr_new_there(&here, pivots, TSR_DEVICE_CPU));
    TSR_TRY(check_pivots(here, m));
    TSR_TRY(tsr_tensor_new(&rows, tsr_ndim(pivots), sizes, TSR_INT64, TSR_DEVICE_CPU));
    for (int64_t b = 0; b * m < rows->numel && !tsr_interrupted_at(b); b++)
        apply_pivots((int64_t *)tsr_data(rows) + b * m, m, (const int *)tsr_data(here) + b * k, k);
    TSR_TRY(tsr_interrupt_check());
    if (back) TSR_TRY(tsr_invoke_new(&order, 1, "argsort", "t", rows));
    *out = tsr_owned_take(back ? &order : &rows);
    return TSR_OK;
}

/* permutation_new on a device. */
static TsrStatus permutation_new_there(TsrTensor **out, const TsrTensor *lu, const TsrTensor *pivots) {
    TsrScope s = {0};
    int64_t m = tsr_la_rows(lu), sizes[TSR_MAX_DIMS], dim = tsr_ndim(lu) - 2;
    memcpy(sizes, lu->sizes, sizeof(int64_t) * (size_t)tsr_ndim(lu));
    sizes[dim + 1] = m;
    TsrTensor *p = MAKE(&s, tsr_tensor_new, tsr_ndim(lu), sizes, lu->dtype, lu->device),
              *rows = MAKE(&s, tsr_la_pivot_rows_new, pivots, m, false),
              *line = MAKE(&s, tsr_tensor_new_unsqueeze, rows, -2), *at = MAKE(&s, tsr_new_there, line, lu->device);
    if (s.status == TSR_OK) s.status = tsr_tensor_fill(p, tsr_scalar_int(0));
    TsrTensor *ones = CALL(&s, "scatter", "tits", p, dim, at, tsr_scalar_int(1));
    return tsr_scope_end_new(out, &s, ones);
}

static TsrStatus permutation_new(TsrTensor **out, const TsrTensor *lu, const TsrTensor *pivots) {
    TSR_OWNED p = NULL;
    TSR_OWNED scratch = NULL;
    int64_t m = tsr_la_rows(lu), k = TSR_MIN(m, tsr_la_cols(lu)), sizes[TSR_MAX_DIMS];
    memcpy(sizes, lu->sizes, sizeof(int64_t) * (size_t)tsr_ndim(lu));
    sizes[tsr_ndim(lu) - 1] = m;
    TSR_TRY(tsr_tensor_new(&p, tsr_ndim(lu), sizes, lu->dtype, lu->device));
    TSR_TRY(tsr_la_new_scratch(&scratch, m, sizeof(int64_t)));
    if (!tsr_is_meta(p)) TSR_TRY(check_pivots(pivots, m));
    if (!tsr_is_meta(p) && p->numel > 0) {
        int64_t *rows = tsr_data(scratch);
        size_t item = tsr_itemsize(p);
        memset(tsr_data(p), 0, (size_t)p->numel * item);
        for (int64_t b = 0; b < tsr_la_batches(lu) && !tsr_interrupted_at(b); b++) {
            apply_pivots(rows, m, (const int *)tsr_data(pivots) + b * k, k);
            for (int64_t i = 0; i < m; i++)
                tsr_scalar_store(tsr_scalar_int(1), p->dtype,
                                 (char *)tsr_data(p) + (size_t)((b * m + rows[i]) * m + i) * item);
        }
    }
    *out = tsr_owned_take(&p);
    return TSR_OK;
}

/* L (unit lower) or U, row-major, from the packed factorization. */
static TsrStatus triangle_new(TsrTensor **out, const TsrTensor *lu, bool upper) {
    TSR_OWNED part = NULL;
    TSR_OWNED r = NULL;
    int64_t k = TSR_MIN(tsr_la_rows(lu), tsr_la_cols(lu));
    TSR_TRY(tsr_tensor_new_narrow(&part, lu, upper ? -2 : -1, 0, k));
    TSR_TRY(tsr_invoke_new(&r, 1, upper ? "triu" : "tril", "t", part));
    if (!tsr_is_contiguous(r, TSR_CONTIGUOUS)) {
        TsrTensor *plain;
        TSR_TRY(tsr_tensor_new_clone(&plain, r, TSR_CONTIGUOUS));
        tsr_owned_put_move(&r, plain);
    }
    if (!upper && !tsr_is_meta(r)) {
        TSR_OWNED diagonal = NULL;
        TSR_TRY(tsr_tensor_new_diagonal(&diagonal, r, 0, -2, -1));
        TSR_TRY(tsr_tensor_fill(diagonal, tsr_scalar_int(1)));
    }
    *out = tsr_owned_take(&r);
    return TSR_OK;
}

static TsrStatus empty_like_of(TsrTensor **out, const TsrTensor *t) {
    return tsr_tensor_new(out, 1, (int64_t[]){0}, t->dtype, t->device);
}

static TsrStatus lu_unpack(TsrOpCall *c, const TsrTensor *lu, const TsrTensor *pivots, bool data, bool perm) {
    TSR_OWNED p = NULL;
    TSR_OWNED l = NULL;
    TSR_OWNED u = NULL;
    TsrStatus (*make)(TsrTensor **, const TsrTensor *, const TsrTensor *) =
        tsr_on_device(lu) && lu->numel > 0 ? permutation_new_there : permutation_new;
    TSR_TRY(data ? triangle_new(&l, lu, false) : empty_like_of(&l, lu));
    TSR_TRY(data ? triangle_new(&u, lu, true) : empty_like_of(&u, lu));
    TSR_TRY(perm ? make(&p, lu, pivots) : empty_like_of(&p, lu));
    if (perm && lu->numel > 0)
        TSR_TRY(tsr_require(TSR_BITS_MOST | TSR_BITS_UINT, lu->dtype, "scatter_gather_scalar_cpu"));
    tsr_return_move2(c, tsr_owned_take(&p), tsr_owned_take(&l));
    c->ret[2] = (TsrArg){.kind = TSR_ARG_TENSOR, .t = tsr_owned_take(&u)};
    c->nret = 3;
    return TSR_OK;
}

TsrStatus op_linalg_lu(TsrOpCall *c) {
    TSR_OWNED lu = NULL;
    TSR_OWNED pivots = NULL;
    TSR_OWNED info = NULL;
    if (tsr_ndim(c->arg[0].t) < 2)
        return tsr_error(TSR_RUNTIME_ERROR,
                         "linalg.lu: Expected tensor with 2 or more dimensions. Got size: %s instead",
                         tsr_sizes_text(c->arg[0].t));
    TSR_TRY(check_lu_input(c, c->arg[1].b, c->arg[0].t->dtype));
    TSR_TRY(tsr_la_new_lu_factor(&lu, &pivots, &info, c->arg[0].t));
    return lu_unpack(c, lu, pivots, true, c->arg[1].b);
}

TsrStatus op_lu_unpack(TsrOpCall *c) {
    const TsrTensor *lu = c->arg[0].t, *pivots = c->arg[1].t;
    TSR_OWNED plain = NULL;
    if (tsr_ndim(lu) < 2)
        return tsr_error(TSR_RUNTIME_ERROR,
                         "torch.lu_unpack: Expected tensor with 2 or more dimensions. Got size: %s instead",
                         tsr_sizes_text(lu));
    if (c->arg[3].b && pivots->dtype != TSR_INT32)
        return tsr_error(
            TSR_RUNTIME_ERROR,
            "torch.lu_unpack: LU_pivots is expected to be a contiguous tensor of torch.int32 dtype.\n"
            "Note: this function is intended to be used with the output produced by torch.linalg.lu_factor");
    int n = tsr_ndim(lu) - 1;
    int64_t want[TSR_MAX_DIMS], k = TSR_MIN(tsr_la_rows(lu), tsr_la_cols(lu));
    memcpy(want, lu->sizes, sizeof(int64_t) * (size_t)n);
    want[n - 1] = k;
    if (c->arg[3].b && (tsr_ndim(pivots) != n || memcmp(pivots->sizes, want, sizeof(int64_t) * (size_t)n) != 0)) {
        return tsr_error(TSR_VALUE_ERROR, "Expected LU_pivots to have shape %s but got %s instead.",
                         tsr_layout_text(n, want), tsr_sizes_text(pivots));
    }
    TSR_TRY(tsr_tensor_new_contiguous(&plain, pivots, TSR_CONTIGUOUS));
    return lu_unpack(c, lu, plain, c->arg[2].b, c->arg[3].b);
}
