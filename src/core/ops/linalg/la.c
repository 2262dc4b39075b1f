/* la.c: what the operators of linear algebra share (la.h): checks, and batches of matrices as LAPACK takes them.
 *
 * LAPACK wants column-major matrices: a batch is copied so, each operator's result is a view that turns it back. A job
 * takes the routines of the dtype and limits BLAS to one thread; large factorizations are cut up by blocked.c, what
 * cannot be cut runs apart.c's way. */
#include "la.h"
#include "core/op/out.h"
#include "core/kernels/move/move.h"
#include "core/engine/places.h"
#include "core/parallel.h"

#include <limits.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

TsrStatus tsr_la_check_matrix(const TsrTensor *a, const char *fn, const char *arg) {
    if (tsr_ndim(a) >= 2) return TSR_OK;
    return tsr_error(TSR_RUNTIME_ERROR, "%s: The input tensor %s must have at least 2 dimensions.", fn, arg);
}

TsrStatus tsr_la_check_square(const TsrTensor *a, const char *fn) {
    TSR_TRY(tsr_la_check_matrix(a, fn, "A"));
    if (tsr_la_rows(a) == tsr_la_cols(a)) return TSR_OK;
    return tsr_error(TSR_RUNTIME_ERROR, "%s%sA must be batches of square matrices, but they are %lld by %lld matrices",
                     fn, fn[0] ? ": " : "", (long long)tsr_la_rows(a), (long long)tsr_la_cols(a));
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

TsrStatus tsr_la_diverged(const TsrTensor *a, const char *fn, int64_t b, const char *repeated, int info) {
    char batch[64] = ": ";
    if (tsr_ndim(a) > 2) snprintf(batch, sizeof batch, ": (Batch element %lld): ", (long long)b);
    return tsr_error(TSR_LINALG_ERROR,
                     "%s%sThe algorithm failed to converge because the input matrix is ill-conditioned or has too many "
                     "repeated %s (error code: %d).",
                     fn, batch, repeated, info);
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

void tsr_la_describe(TsrLaJob *job, TsrDtype dtype) {
    job->blas = NULL;
    tsr_blas_type(&job->t, dtype);
    job->is_complex = tsr_dtype_is_complex(dtype);
    job->item = tsr_dtype_size(dtype);
    job->real_item = job->is_complex ? job->item / 2 : job->item;
}

TsrStatus tsr_la_begin(TsrLaJob *job, TsrDtype dtype) {
    TSR_TRY(tsr_la_not_implemented("lapack", dtype));
    tsr_la_describe(job, dtype);
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
int tsr_la_work_size(TsrBlasType t, const void *work) {
    double size = creal(tsr_la_get(t, work, 0));
    if ((t == TSR_BLAS_S || t == TSR_BLAS_C) && size >= 0x1p24) size = nextafterf((float)size, INFINITY);
    return size < 1 ? 1 : size < INT_MAX ? (int)size : INT_MAX;
}

/* The workspaces of divide and conquer have `factor` n**2 elements and some more, which LAPACK counts in int. */
TsrStatus tsr_la_check_work(const TsrTensor *a, int64_t factor, const char *fn) {
    int64_t n = TSR_MIN(tsr_la_rows(a), tsr_la_cols(a));
    if (n < INT16_MAX && factor * n * n + 16 * n < INT_MAX) return TSR_OK;
    return tsr_error(TSR_RUNTIME_ERROR, "%s: a matrix of %lld rows and columns needs more workspace than LAPACK counts",
                     fn, (long long)n);
}

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

bool tsr_la_has_nonfinite(const TsrTensor *a) {
    bool wide = tsr_dtype_real_of(a->dtype) == TSR_FLOAT64;
    int64_t n = tsr_dtype_is_complex(a->dtype) ? 2 * a->numel : a->numel;
    return !(wide ? doubles_are_finite(tsr_data(a), n) : floats_are_finite(tsr_data(a), n));
}

TsrStatus tsr_la_matrix_of(TsrLaMatrix *out, const TsrTensor *t) {
    TSR_TRY(tsr_blas_int(&out->rows, tsr_la_rows(t)));
    TSR_TRY(tsr_blas_int(&out->cols, tsr_la_cols(t)));
    out->data = tsr_data(t);
    out->ld = TSR_MAX(out->rows, 1);
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
