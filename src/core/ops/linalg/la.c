/* la.c: what the operators of linear algebra share (la.h): batches of matrices as LAPACK takes them, and the
 * factorizations that several need.
 *
 * LAPACK wants column-major matrices: a batch is copied so, each operator's result is a view that turns it back. A job
 * takes the routines of the dtype and limits BLAS to one thread; large factorizations are cut up by blocked.c, what
 * cannot be cut runs apart.c's way. Small matrices go side by side (side_by_side.c), a few by our own lu.inc, and small
 * symmetric ones by the QL iteration of tridiagonal.inc, in the order of the library behind PyTorch, whose signs and
 * digits show. Singular values: gesdd, of tall matrices after a QR of our own, but for the two shapes where that
 * library takes another way. */
#include "la.h"
#include "core/op/out.h"
#include "core/tensor/loan.h"
#include "there.h"
#include "core/kernels/move/move.h"
#include "core/engine/places.h"
#include "core/parallel.h"

#include <float.h>
#include <limits.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

TsrStatus tsr_la_check_matrix(const TsrTensor *a, const char *fn, const char *arg) {
    if (tsr_ndim(a) >= 2) return TSR_OK;
    return tsr_error(TSR_RUNTIME_ERROR, "%s: The input tensor %s must have at least 2 dimensions.", fn, arg);
}

TsrStatus tsr_la_check_square(const TsrTensor *a, const char *fn, const char *arg) {
    TSR_TRY(tsr_la_check_matrix(a, fn, arg));
    if (tsr_la_rows(a) == tsr_la_cols(a)) return TSR_OK;
    return tsr_error(TSR_RUNTIME_ERROR, "%s%s%s must be batches of square matrices, but they are %lld by %lld matrices",
                     fn, fn[0] ? ": " : "", arg, (long long)tsr_la_rows(a), (long long)tsr_la_cols(a));
}

TsrStatus tsr_la_check_float(const TsrTensor *a, const char *fn) {
    if (tsr_dtype_is_float(a->dtype) || tsr_dtype_is_complex(a->dtype)) return TSR_OK;
    return tsr_error(TSR_NOT_IMPLEMENTED_ERROR, "%s: Expected a floating point or complex tensor as input. Got %s", fn,
                     tsr_dtype_scalar_name(a->dtype));
}

TsrStatus tsr_la_check_float_high(const TsrTensor *a, const char *fn) {
    TSR_TRY(tsr_la_check_float(a, fn));
    TsrBlasType t;
    if (tsr_blas_type(&t, a->dtype)) return TSR_OK;
    return tsr_error(TSR_NOT_IMPLEMENTED_ERROR, "%s: Low precision dtypes not supported. Got %s", fn,
                     tsr_dtype_scalar_name(a->dtype));
}

TsrStatus tsr_la_not_implemented(const char *kernel, TsrDtype d) {
    TsrBlasType t;
    if (tsr_blas_type(&t, d)) return TSR_OK;
    return tsr_error(TSR_NOT_IMPLEMENTED_ERROR, "\"%s\" not implemented for '%s'", kernel, tsr_dtype_scalar_name(d));
}

TsrStatus tsr_la_outs(const TsrOpCall *c, TsrDtype first, TsrDtype others) {
    for (int k = 0; k < TSR_MAX_RETS; k++) TSR_TRY(tsr_check_out_fits(c, k, k == 0 ? first : others));
    return TSR_OK;
}

TsrStatus tsr_la_into(const TsrOpCall *c, const char *kernel, TsrDtype d, TsrDtype result) {
    TSR_TRY(tsr_la_outs(c, result, result));
    return tsr_la_not_implemented(kernel, d);
}

TsrStatus tsr_la_need_epsilon(const TsrTensor *a) {
    TsrBlasType t;
    if (tsr_blas_type(&t, a->dtype)) return TSR_OK;
    return tsr_error(TSR_RUNTIME_ERROR, "This function doesn't handle types other than float and double");
}

TsrStatus tsr_la_need_kernel(const char *kernel, const TsrTensor *a) {
    return a->numel == 0 ? TSR_OK : tsr_la_not_implemented(kernel, a->dtype);
}

int64_t tsr_la_batches(const TsrTensor *a) {
    int64_t n = 1;
    for (int d = 0; d < tsr_ndim(a) - 2; d++) n *= a->sizes[d];
    return n;
}

void tsr_la_strides(int64_t *strides, int ndim, const int64_t *sizes, bool columns) {
    tsr_layout_contiguous_strides(strides, ndim, sizes);
    if (!columns || ndim < 2) return;
    strides[ndim - 1] = TSR_MAX(sizes[ndim - 2], 1);
    strides[ndim - 2] = 1;
}

TsrLaBatch tsr_la_batch(const TsrTensor *a) {
    TsrLaBatch batch = {.n = tsr_ndim(a) - 2};
    memcpy(batch.sizes, a->sizes, sizeof(int64_t) * (size_t)batch.n);
    return batch;
}

TsrStatus tsr_la_broadcast_batch(TsrLaBatch *out, const TsrTensor *a, const TsrTensor *b) {
    *out = tsr_la_batch(a);
    return tsr_layout_broadcast(out->sizes, &out->n, b->sizes, tsr_ndim(b) - 2);
}

TsrStatus tsr_la_new(TsrTensor **out, const TsrLaBatch *batch, int64_t m, int64_t n, TsrDtype dtype, TsrDevice device) {
    int64_t sizes[TSR_MAX_DIMS + 2], strides[TSR_MAX_DIMS + 2], numel;
    int ndim = batch->n + 2;
    if (ndim > TSR_MAX_DIMS) return tsr_error(TSR_RUNTIME_ERROR, "too many dimensions");
    memcpy(sizes, batch->sizes, sizeof(int64_t) * (size_t)batch->n);
    sizes[ndim - 2] = m, sizes[ndim - 1] = n;
    TSR_TRY(tsr_layout_numel(&numel, ndim, sizes));
    tsr_la_strides(strides, ndim, sizes, true);
    return tsr_tensor_new_strided(out, ndim, sizes, strides, dtype, device);
}

TsrStatus tsr_la_new_like(TsrTensor **out, const TsrTensor *like, int64_t m, int64_t n, TsrDtype dtype) {
    TsrLaBatch batch = tsr_la_batch(like);
    return tsr_la_new(out, &batch, m, n, dtype, like->device);
}

TsrStatus tsr_la_new_vector(TsrTensor **out, const TsrTensor *like, int64_t n, TsrDtype dtype) {
    int64_t sizes[TSR_MAX_DIMS];
    int nbatch = tsr_ndim(like) - 2;
    memcpy(sizes, like->sizes, sizeof(int64_t) * (size_t)nbatch);
    if (n >= 0) sizes[nbatch] = n;
    return tsr_tensor_new(out, nbatch + (n >= 0), sizes, dtype, like->device);
}

/* Small dense matrices one by one: a copy with strides takes longer for lines of a few elements. linalg.inv of 10000
 * float matrices of side 4, build/tsr, CPU time (AMD EPYC, Zen 3): 2.15 ms with it, 0.69 so; cholesky_ex of side 16 and
 * more is the same both ways. */
enum { SMALL_COPY = 16 };

static bool is_small_batch(const TsrTensor *a) {
    return tsr_la_rows(a) <= SMALL_COPY && tsr_la_cols(a) <= SMALL_COPY && tsr_is_contiguous(a, TSR_CONTIGUOUS) &&
           (a->flags & (TSR_FLAG_CONJ | TSR_FLAG_NEG)) == 0 && a->device.type == TSR_CPU;
}

static TsrStatus copy_small_batch(TsrTensor *to, const TsrTensor *a) {
    int64_t m = tsr_la_rows(a), n = tsr_la_cols(a), item = (int64_t)tsr_itemsize(a);
    for (int64_t b = 0; b < tsr_la_batches(a) && !tsr_interrupted_at(b); b++)
        tsr_kernel_transpose(tsr_la_matrix(to, b), m * item, tsr_la_matrix(a, b), n * item, m, n, (size_t)item);
    return tsr_interrupt_check();
}

TsrStatus tsr_la_new_copy_expanded(TsrTensor **out, const TsrTensor *a, const TsrLaBatch *batch) {
    TSR_OWNED wide = NULL;
    TSR_OWNED r = NULL;
    TSR_TRY(tsr_la_new(&r, batch, tsr_la_rows(a), tsr_la_cols(a), a->dtype, a->device));
    TSR_TRY(tsr_tensor_new_expand(&wide, a, tsr_ndim(r), r->sizes));
    if (!tsr_is_meta(r)) TSR_TRY((is_small_batch(wide) ? copy_small_batch : tsr_tensor_copy)(r, wide));
    *out = tsr_owned_take(&r);
    return TSR_OK;
}

TsrStatus tsr_la_new_copy(TsrTensor **out, const TsrTensor *a) {
    TsrLaBatch batch = tsr_la_batch(a);
    return tsr_la_new_copy_expanded(out, a, &batch);
}

TsrStatus tsr_la_restride(TsrTensor **slot, int ndim, const int64_t *sizes, const int64_t *strides) {
    TSR_OWNED r = NULL;
    TSR_OWNED same = NULL;
    TSR_TRY(tsr_tensor_new_reshape(&same, *slot, ndim, sizes));
    TSR_TRY(tsr_tensor_new_strided(&r, ndim, sizes, strides, same->dtype, same->device));
    if (!tsr_is_meta(r)) TSR_TRY(tsr_tensor_copy(r, same));
    tsr_owned_put_move(slot, tsr_owned_take(&r));
    return TSR_OK;
}

TsrStatus tsr_la_new_mt(TsrTensor **out, const TsrTensor *a, bool conj) {
    TSR_OWNED t = NULL;
    if (!conj || !tsr_dtype_is_complex(a->dtype)) return tsr_tensor_new_transpose(out, a, -2, -1);
    TSR_TRY(tsr_tensor_new_transpose(&t, a, -2, -1));
    return tsr_tensor_new_conj(out, t);
}

/* All but the library. */
static void describe(TsrLaJob *job, TsrDtype dtype) {
    job->blas = NULL;
    tsr_blas_type(&job->t, dtype);
    job->is_complex = tsr_dtype_is_complex(dtype);
    job->item = tsr_dtype_size(dtype);
    job->real_item = job->is_complex ? job->item / 2 : job->item;
}

TsrStatus tsr_la_begin(TsrLaJob *job, TsrDtype dtype) {
    TSR_TRY(tsr_la_not_implemented("lapack", dtype));
    describe(job, dtype);
    TSR_TRY(tsr_interrupt_check()); /* rather now than after a routine that nothing stops */
    TSR_TRY(tsr_blas_get(&job->blas));
    tsr_blas_limit(1);
    return TSR_OK;
}

/* A product of matrix and vector that is split has to be worth the wait for the last thread: on a busy machine that is
 * a turn of the scheduler. */
enum { WIDE_FROM = 1500 * 1500 };

void tsr_la_widen(int64_t m, int64_t n) {
    if (m * n >= WIDE_FROM) tsr_blas_limit(tsr_parallel_width());
}

TsrStatus tsr_la_new_scratch(TsrTensor **out, int64_t count, size_t item) {
    int64_t bytes;
    if (tsr_mul_overflows(TSR_MAX(count, 1), (int64_t)item, &bytes)) return tsr_error_no_memory(SIZE_MAX);
    return tsr_tensor_new(out, 1, &bytes, TSR_UINT8, TSR_DEVICE_CPU);
}

/* LAPACK answers in an element of the matrix's type. One of 24 bits rounds what is beyond 2**24, down, too: the next
 * larger number is enough in any case. */
static int work_size(TsrBlasType t, const void *work) {
    double size = creal(tsr_la_get(t, work, 0));
    if ((t == TSR_BLAS_S || t == TSR_BLAS_C) && size >= 0x1p24) size = nextafterf((float)size, INFINITY);
    return size < 1 ? 1 : size < INT_MAX ? (int)size : INT_MAX;
}

/* The workspaces of divide and conquer have `factor` n**2 elements and some more, which LAPACK counts in int. */
static TsrStatus check_work(const TsrTensor *a, int64_t factor, const char *fn) {
    int64_t n = TSR_MIN(tsr_la_rows(a), tsr_la_cols(a));
    if (n < INT16_MAX && factor * n * n + 16 * n < INT_MAX) return TSR_OK;
    return tsr_error(TSR_RUNTIME_ERROR, "%s: a matrix of %lld rows and columns needs more workspace than LAPACK counts",
                     fn, (long long)n);
}

int tsr_la_lwork(const TsrLaJob *job, const void *work) { return work_size(job->t, work); }

double complex tsr_la_get(TsrBlasType t, const void *data, int64_t k) {
    switch (t) {
    case TSR_BLAS_S: return ((const float *)data)[k];
    case TSR_BLAS_D: return ((const double *)data)[k];
    case TSR_BLAS_C: return ((const float complex *)data)[k];
    default: return ((const double complex *)data)[k];
    }
}

void tsr_la_set(TsrBlasType t, void *data, int64_t k, double complex v) {
    switch (t) {
    case TSR_BLAS_S: ((float *)data)[k] = (float)creal(v); break;
    case TSR_BLAS_D: ((double *)data)[k] = creal(v); break;
    case TSR_BLAS_C: ((float complex *)data)[k] = (float complex)v; break;
    default: ((double complex *)data)[k] = v; break;
    }
}

TsrStatus tsr_la_keep_triangle(TsrTensor *a, bool upper) {
    int64_t m = tsr_la_rows(a), n = tsr_la_cols(a), batches = tsr_la_batches(a);
    size_t item = tsr_itemsize(a);
    if (tsr_on_device(a)) return tsr_la_keep_triangle_there(a, upper);
    for (int64_t b = 0; b < batches; b++)
        for (int64_t j = 0; j < n && !tsr_interrupted_at(b * n + j); j++) {
            char *column = tsr_la_matrix(a, b) + (size_t)(j * m) * item;
            int64_t from = upper ? TSR_MIN(j + 1, m) : 0, to = upper ? m : TSR_MIN(j, m);
            if (to > from) memset(column + (size_t)from * item, 0, (size_t)(to - from) * item);
        }
    return TSR_OK;
}

TsrStatus tsr_la_set_identity(TsrTensor *a) {
    int64_t m = tsr_la_rows(a), n = tsr_la_cols(a), batches = tsr_la_batches(a);
    size_t item = tsr_itemsize(a), bytes = (size_t)(m * n) * item;
    char one[16];
    if (a->numel == 0) return TSR_OK;
    if (tsr_on_device(a)) return tsr_la_set_identity_there(a);
    memset(tsr_data(a), 0, bytes);
    tsr_scalar_store(tsr_scalar_int(1), a->dtype, one);
    for (int64_t k = 0; k < TSR_MIN(m, n); k++) memcpy(tsr_la_matrix(a, 0) + (size_t)(k * m + k) * item, one, item);
    for (int64_t b = 1; b < batches && !tsr_interrupted_at(b); b++)
        memcpy(tsr_la_matrix(a, b), tsr_la_matrix(a, 0), bytes);
    return TSR_OK;
}

/* ---- LU ---- */

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
    describe(job, dtype);
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

TsrStatus tsr_la_check_info(const TsrTensor *info, const char *fn, TsrLaFailure failure) {
    TSR_OWNED here = NULL;
    if (tsr_is_meta(info)) return TSR_OK;
    TSR_TRY(tsr_new_there(&here, info, TSR_DEVICE_CPU));
    const int *e = tsr_data(here);
    for (int64_t b = 0; b < info->numel; b++) {
        if (e[b] == 0) continue;
        char batch[64] = ": ";
        if (tsr_ndim(info) > 0) snprintf(batch, sizeof batch, ": (Batch element %lld): ", (long long)b);
        if (failure == TSR_LA_SINGULAR_INVERSE)
            return tsr_error(
                TSR_LINALG_ERROR,
                "%s%sThe diagonal element %d is zero, the inversion could not be completed because the input matrix "
                "is singular.",
                fn, batch, e[b]);
        if (failure == TSR_LA_SINGULAR_SOLVE)
            return tsr_error(TSR_LINALG_ERROR, "%s%sThe solver failed because the input matrix is singular.", fn,
                             batch);
        return tsr_error(
            TSR_LINALG_ERROR,
            "%s%sThe factorization could not be completed because the input is not positive-definite (the leading "
            "minor of order %d is not positive-definite).",
            fn, batch, e[b]);
    }
    return TSR_OK;
}

/* ---- singular values ---- */

/* All bits of an exponent are set in infinities and in nan alone. */
TSR_CLONES static bool floats_are_finite(const uint32_t *x, int64_t n) {
    uint32_t bad = 0;
    for (int64_t i = 0; i < n; i++) bad |= (x[i] & 0x7f800000u) == 0x7f800000u;
    return bad == 0;
}
TSR_CLONES static bool doubles_are_finite(const uint64_t *x, int64_t n) {
    uint64_t bad = 0;
    for (int64_t i = 0; i < n; i++) bad |= (x[i] & 0x7ff0000000000000u) == 0x7ff0000000000000u;
    return bad == 0;
}

static bool has_nonfinite(const TsrTensor *a) {
    bool wide = tsr_dtype_real_of(a->dtype) == TSR_FLOAT64;
    int64_t n = tsr_dtype_is_complex(a->dtype) ? 2 * a->numel : a->numel;
    return !(wide ? doubles_are_finite(tsr_data(a), n) : floats_are_finite(tsr_data(a), n));
}

/* A column-major matrix, and scratch memory, as LAPACK takes them; an lwork of -1 asks for its size. */
typedef struct Matrix {
    void *data;
    int rows, cols, ld;
} Matrix;
typedef struct Work {
    void *work, *rwork;
    int *iwork;
    int lwork, lrwork, liwork;
} Work;

static TsrStatus matrix_of(Matrix *out, const TsrTensor *t) {
    TSR_TRY(tsr_blas_int(&out->rows, tsr_la_rows(t)));
    TSR_TRY(tsr_blas_int(&out->cols, tsr_la_cols(t)));
    out->data = tsr_data(t);
    out->ld = TSR_MAX(out->rows, 1);
    return TSR_OK;
}

/* a = u @ diag(s) @ vh, one of a batch; without u and vh only s is wanted. */
typedef struct Svd {
    TsrTensor *batch_a, *batch_u, *batch_s, *batch_vh; /* u and vh may be NULL */
    Matrix a, u, vh;
    void *s;
    char jobz;
    const TsrTensor *given; /* what an error speaks of, and the function it was given to */
    const char *fn;
} Svd;

static TsrStatus svd_begin(Svd *x) {
    TSR_TRY(matrix_of(&x->a, x->batch_a));
    x->s = tsr_data(x->batch_s);
    x->u = (Matrix){.ld = x->a.rows};
    x->vh = (Matrix){.ld = x->a.cols};
    if (x->batch_u == NULL) return TSR_OK;
    TSR_TRY(matrix_of(&x->u, x->batch_u));
    return matrix_of(&x->vh, x->batch_vh);
}

static void svd_take(Svd *x, int64_t b) {
    x->a.data = tsr_la_matrix(x->batch_a, b);
    x->s = (char *)tsr_data(x->batch_s) + (size_t)b * (size_t)TSR_MIN(x->a.rows, x->a.cols) * tsr_itemsize(x->batch_s);
    if (x->batch_u == NULL) return;
    x->u.data = tsr_la_matrix(x->batch_u, b);
    x->vh.data = tsr_la_matrix(x->batch_vh, b);
}

typedef int (*SvdRoutine)(const TsrLaJob *job, const Svd *x, const Work *w);

static int gesdd(const TsrLaJob *job, const Svd *x, const Work *w) {
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

static int gesvd(const TsrLaJob *job, const Svd *x, const Work *w) {
    const int *m = &x->a.rows, *n = &x->a.cols;
    int info = 0;
    job->blas->gesvd_real[job->t](&x->jobz, &x->jobz, m, n, x->a.data, m, x->s, x->u.data, &x->u.ld, x->vh.data,
                                  &x->vh.ld, w->work, &w->lwork, &info, 1, 1);
    return info;
}

static TsrStatus svd_not_finite(const TsrTensor *a, const char *fn) {
    return tsr_error(TSR_LINALG_ERROR,
                     "%s%sThe algorithm failed to converge because the input matrix contained non-finite values.", fn,
                     tsr_ndim(a) > 2 ? ": (Batch element 0): " : ": ");
}

static TsrStatus svd_failed(const TsrTensor *a, const char *fn, int64_t b, int info) {
    char batch[64] = ": ";
    if (tsr_ndim(a) > 2) snprintf(batch, sizeof batch, ": (Batch element %lld): ", (long long)b);
    return tsr_error(
        TSR_LINALG_ERROR,
        "%s%sThe algorithm failed to converge because the input matrix is ill-conditioned or has too many repeated "
        "singular values (error code: %d).",
        fn, batch, info);
}

typedef struct SvdCall {
    SvdRoutine routine;
    TsrLaJob job;
    Svd x;
    Work w;
    int info;
} SvdCall;

static void svd_call(void *context) {
    SvdCall *c = context;
    c->info = c->routine(&c->job, &c->x, &c->w);
}

/* The matrices of the batch one by one; `scratch` (3, some NULL) is what w points into. */
static TsrStatus svd_each(Svd *x, const TsrLaJob *job, SvdRoutine routine, const Work *w, TsrTensor *const *scratch) {
    TsrTensor *const touched[] = {x->batch_a, x->batch_u, x->batch_s, x->batch_vh, scratch[0], scratch[1], scratch[2]};
    for (int64_t b = 0; b < tsr_la_batches(x->batch_a); b++) {
        svd_take(x, b);
        SvdCall call = {.routine = routine, .job = *job, .x = *x, .w = *w};
        TSR_TRY(tsr_la_apart((int64_t[]){x->a.rows, x->a.cols, TSR_MIN(x->a.rows, x->a.cols)}, svd_call, &call,
                             sizeof call, touched, TSR_COUNTOF(touched)));
        if (call.info != 0) return svd_failed(x->given, x->fn, b, call.info);
    }
    return TSR_OK;
}

/* Asks the routine for how much room it wants, then decomposes. rwork and iwork, or NULL, are what w points into. */
static TsrStatus svd_batches(Svd *x, const TsrLaJob *job, SvdRoutine routine, TsrTensor *rwork, TsrTensor *iwork) {
    Work w = {.rwork = rwork != NULL ? tsr_data(rwork) : NULL, .iwork = iwork != NULL ? tsr_data(iwork) : NULL};
    double query[4] = {0};
    TSR_OWNED work = NULL;
    w.work = query;
    w.lwork = -1;
    (void)routine(job, x, &w);
    w.lwork = tsr_la_lwork(job, query);
    TSR_TRY(tsr_la_new_scratch(&work, w.lwork, job->item));
    w.work = tsr_data(work);
    return svd_each(x, job, routine, &w, (TsrTensor *[]){work, rwork, iwork});
}

static TsrStatus svd_gesdd(Svd *x) {
    TsrLaJob job;
    TSR_OWNED rwork = NULL;
    TSR_OWNED iwork = NULL;
    if (x->jobz != 'N') TSR_TRY(check_work(x->batch_a, 4, x->fn));
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
static int svd_bidiagonal(const TsrLaJob *job, const Svd *x, const Work *w) {
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
    Work w = {.rwork = tsr_data(scratch),
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
    if (has_nonfinite(x->batch_a)) return svd_not_finite(x->given, x->fn);
    if (tsr_blas_try() == NULL && !tsr_dtype_is_complex(x->batch_a->dtype))
        return tsr_la_jacobi_svd(x->batch_u, x->batch_s, x->batch_vh, x->batch_a);
    if (x->jobz != 'N' && by_gesvd(x->batch_a)) return svd_gesvd(x);
    if (x->jobz != 'A' && by_qr(x->batch_a)) return svd_tall(x);
    return x->jobz != 'N' && by_bidiagonal(x->batch_a) ? svd_wide(x) : svd_gesdd(x);
}

/* Without vectors. If *done is false *f has been copied from `a` again. */
static TsrStatus small_svdvals(bool *done, TsrTensor **f, TsrTensor *s, const TsrTensor *a, const char *fn) {
    int failure;
    TSR_TRY(tsr_la_small_svdvals(&failure, *f, s));
    *done = failure == 0;
    if (failure == TSR_SMALL_NOT_FINITE) return svd_not_finite(a, fn);
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

TsrStatus tsr_la_new_svd(TsrTensor **u, TsrTensor **s, TsrTensor **vh, const TsrTensor *a, char job, const char *fn) {
    TSR_OWNED f = NULL;
    TSR_OWNED uu = NULL;
    TSR_OWNED ss = NULL;
    TSR_OWNED vv = NULL;
    int64_t m = tsr_la_rows(a), n = tsr_la_cols(a), k = TSR_MIN(m, n);
    if (tsr_on_device(a) && a->numel > 0) {
        bool finite = true;
        TSR_TRY(tsr_la_finite_there(&finite, a));
        if (!finite) return svd_not_finite(a, fn);
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
            if (job == 'N' && tsr_la_many_small(f)) TSR_TRY(small_svdvals(&done, &f, ss, a, fn));
            Svd x = {.batch_a = f, .batch_u = uu, .batch_s = ss, .batch_vh = vv, .jobz = job, .given = a, .fn = fn};
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

/* ---- symmetric eigenvalues ---- */

typedef struct Eigh {
    TsrLaJob job;
    char jobz, uplo;
    Matrix a;
    void *values;
    Work w;
    int info;
} Eigh;

static void syevd(void *context) {
    Eigh *c = context;
    const TsrLaJob *job = &c->job;
    Work *w = &c->w;
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

static TsrStatus eigh_failed(const TsrTensor *v, const char *fn, int64_t b, int info) {
    char batch[64] = ": ";
    if (tsr_ndim(v) > 2) snprintf(batch, sizeof batch, ": (Batch element %lld): ", (long long)b);
    return tsr_error(TSR_LINALG_ERROR,
                     "%s%sThe algorithm failed to converge because the input matrix is ill-conditioned or has too many "
                     "repeated eigenvalues (error code: %d).",
                     fn, batch, info);
}

static TsrStatus eigh_run(TsrTensor *v, TsrTensor *w, char jobz, char uplo, const char *fn) {
    Eigh c = {.jobz = jobz, .uplo = uplo, .values = tsr_data(w)};
    int iquery = 0;
    double query[4] = {0}, rquery[2] = {0};
    if (jobz != 'N') TSR_TRY(check_work(v, 2, fn));
    TSR_TRY(tsr_la_begin(&c.job, v->dtype));
    tsr_la_widen(tsr_la_rows(v), tsr_la_cols(v));
    TSR_TRY(matrix_of(&c.a, v));
    c.w = (Work){query, rquery, &iquery, -1, -1, -1};
    syevd(&c);
    c.w = (Work){.lwork = tsr_la_lwork(&c.job, query),
                 .lrwork = work_size(tsr_la_real(c.job.t), rquery),
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
        if (c.info != 0) return eigh_failed(v, fn, b, c.info);
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
    if (has_nonfinite(a)) return eigh_not_finite(a, fn);
    if (!little || !vectors) return TSR_OK;
    TSR_TRY(eigh_small_run(a, values, uplo, &done));
    *tried = done ? DONE : SPOILED;
    return TSR_OK;
}

TsrStatus tsr_la_new_eigh(TsrTensor **w, TsrTensor **v, const TsrTensor *a, char uplo, const char *fn) {
    TSR_TRY(tsr_la_check_square(a, "linalg.eigh", "A"));
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
