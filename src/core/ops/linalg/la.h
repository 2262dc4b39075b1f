/* la.h: what the linear algebra operators share: checks with PyTorch's texts, batches of column-major
 * matrices as LAPACK wants them, workspaces, and the factorizations that several operators build on.
 *
 * "Column-major" tensors here have sizes (batch..., m, n) and strides (..., 1, max(m, 1)), batches one behind
 * the other: matrix i begins at data + i * m * n elements. `fn` in messages is "linalg.inv" and the like. */
#ifndef CORE_OPS_LINALG_LA_H
#define CORE_OPS_LINALG_LA_H

#include <complex.h>

#include "core/engine/blas.h"
#include "core/kernels/matrix/small/small.h"
#include "core/ops/matmul/matmul.h"
#include "core/op.h"

/* --- checks --- */
TsrStatus tsr_la_check_matrix(const TsrTensor *a, const char *fn, const char *arg); /* at least 2 dimensions */
TsrStatus tsr_la_check_square(const TsrTensor *a, const char *fn);                  /* and square; its name is A */
TsrStatus tsr_la_check_float(const TsrTensor *a, const char *fn);      /* floating point or complex, half too */
TsrStatus tsr_la_check_float_high(const TsrTensor *a, const char *fn); /* float32, float64, complex64, complex128 */
/* TSR_LINALG_ERROR of a routine that did not converge on matrix b of a, "... too many repeated eigenvalues (...)". */
TsrStatus tsr_la_diverged(const TsrTensor *a, const char *fn, int64_t b, const char *repeated, int info);
TsrStatus tsr_la_not_implemented(const char *kernel, TsrDtype d); /* '"lu_cpu" not implemented for 'Half'' */
/* That each out= may take its result: the first one is of dtype `first`, the others are of `others`. */
TsrStatus tsr_la_outs(const TsrOpCall *c, TsrDtype first, TsrDtype others);
/* tsr_la_not_implemented after each out= was asked whether it may take the results, which are of dtype `result`. */
TsrStatus tsr_la_into(const TsrOpCall *c, const char *kernel, TsrDtype d, TsrDtype result);
TsrStatus tsr_la_need_epsilon(const TsrTensor *a); /* what a default tolerance is made of */
TsrStatus tsr_la_need_kernel(const char *kernel,
                             const TsrTensor *a); /* the same, but a matrix with nothing in it needs none */

/* --- geometry --- */
static inline int64_t tsr_la_rows(const TsrTensor *a) { return a->sizes[tsr_ndim(a) - 2]; }
static inline int64_t tsr_la_cols(const TsrTensor *a) { return a->sizes[tsr_ndim(a) - 1]; }
int64_t tsr_la_batches(const TsrTensor *a); /* product of all sizes but the last two */

/* Strides of a column-major batch (PyTorch's batched_matrix_contiguous_strides); row-major when `columns` is false or
 * ndim < 2. */
void tsr_la_strides(int64_t *strides, int ndim, const int64_t *sizes, bool columns);
/* The sizes before the last two. */
typedef struct TsrLaBatch {
    int n;
    int64_t sizes[TSR_MAX_DIMS];
} TsrLaBatch;
TsrLaBatch tsr_la_batch(const TsrTensor *a);
/* Those of two matrices, broadcast; PyTorch's error. */
TsrStatus tsr_la_broadcast_batch(TsrLaBatch *out, const TsrTensor *a, const TsrTensor *b);
/* Uninitialised, column-major. */
TsrStatus tsr_la_new(TsrTensor **out, const TsrLaBatch *batch, int64_t m, int64_t n, TsrDtype dtype, TsrDevice device);
/* The same with the batch and the device of `like`. */
TsrStatus tsr_la_new_like(TsrTensor **out, const TsrTensor *like, int64_t m, int64_t n, TsrDtype dtype);
/* Fresh tensor of like's batch sizes and one further dimension of n (none when n < 0), row-major. */
TsrStatus tsr_la_new_vector(TsrTensor **out, const TsrTensor *like, int64_t n, TsrDtype dtype);
/* A column-major copy (conj and neg resolved). */
TsrStatus tsr_la_new_copy(TsrTensor **out, const TsrTensor *a);
/* A column-major copy, expanded to that batch. */
TsrStatus tsr_la_new_copy_expanded(TsrTensor **out, const TsrTensor *a, const TsrLaBatch *batch);
/* Gives `t` (consumed through its slot) other strides by copying where they differ. */
TsrStatus tsr_la_restride(TsrTensor **slot, int ndim, const int64_t *sizes, const int64_t *strides);
/* A view of `a` transposed over its last two dimensions, conjugated too when `conj`. */
TsrStatus tsr_la_new_mt(TsrTensor **out, const TsrTensor *a, bool conj);

/* --- LAPACK --- */
typedef struct TsrLaJob {
    const TsrBlas *blas;
    TsrBlasType t;
    bool is_complex;
    size_t item, real_item; /* bytes of an element and of its real part */
} TsrLaJob;
/* Loads the library; dtype one of the four. What is called next runs on this thread alone, unless tsr_la_widen says
 * more. */
TsrStatus tsr_la_begin(TsrLaJob *job, TsrDtype dtype);
/* A job without the library (blas NULL), for what our own code can do; dtype one of the four. */
void tsr_la_describe(TsrLaJob *job, TsrDtype dtype);
/* For routines that go over the whole m by n matrix again and again, and cannot be cut up (SVD, eigenvalues): from some
 * size on the library's threads help. */
void tsr_la_widen(int64_t m, int64_t n);
/* Calls run(context) so that an interrupt does not have to wait for its end: where `size`, the three dimensions of a
 * product of about its cost, is large, on another thread. It gets a copy of the `bytes` at `context`, which come back
 * when it has ended. After an interrupt it goes on alone: it may use nothing but that copy, what lies in the storages
 * of `touched` (n, at most TSR_LA_TOUCHED; NULL: none), which nobody else may see or be given, and what is static. */
enum { TSR_LA_TOUCHED = 8 };
TsrStatus tsr_la_apart(const int64_t size[3], void (*run)(void *context), void *context, size_t bytes,
                       TsrTensor *const *touched, int n);
/* Scratch bytes as a tensor; freed with it. */
TsrStatus tsr_la_new_scratch(TsrTensor **out, int64_t count, size_t item);
/* The workspace size that LAPACK answered in the first element of work, at least 1. */
int tsr_la_work_size(TsrBlasType t, const void *work);
/* That LAPACK can count workspaces of `factor` n**2 elements and some more, n the lesser side of `a`. */
TsrStatus tsr_la_check_work(const TsrTensor *a, int64_t factor, const char *fn);
/* A column-major matrix, and scratch memory, as LAPACK takes them; an lwork of -1 asks for its size. */
typedef struct TsrLaMatrix {
    void *data;
    int rows, cols, ld;
} TsrLaMatrix;
typedef struct TsrLaWork {
    void *work, *rwork;
    int *iwork;
    int lwork, lrwork, liwork;
} TsrLaWork;
/* The first matrix of t; TSR_RUNTIME_ERROR when LAPACK cannot count its sides. */
TsrStatus tsr_la_matrix_of(TsrLaMatrix *out, const TsrTensor *t);
/* Of dense memory on the host, of one of LAPACK's dtypes. */
bool tsr_la_has_nonfinite(const TsrTensor *a);
static inline char *tsr_la_matrix(const TsrTensor *a, int64_t i) {
    return (char *)tsr_data(a) + i * tsr_la_rows(a) * tsr_la_cols(a) * (int64_t)tsr_itemsize(a);
}
/* Element k of an array of the four types, and of their real counterparts. */
double complex tsr_la_get(TsrBlasType t, const void *data, int64_t k);
void tsr_la_set(TsrBlasType t, void *data, int64_t k, double complex v);
static inline TsrBlasType tsr_la_real(TsrBlasType t) {
    return t == TSR_BLAS_C ? TSR_BLAS_S : t == TSR_BLAS_Z ? TSR_BLAS_D : t;
}
/* Zeroes what lies outside the triangle (k: first kept diagonal); of every matrix of the batch. */
TsrStatus tsr_la_keep_triangle(TsrTensor *a, bool upper);
TsrStatus tsr_la_set_identity(TsrTensor *a);

/* --- one column-major matrix, large ones in blocks on the core's threads (blocked.c); they look for interrupts, and
 * leave LAPACK's info --- */
TsrStatus tsr_la_getrf(const TsrLaJob *job, int m, int n, void *a, int *pivots, int *info);
TsrStatus tsr_la_getrs(const TsrLaJob *job, char trans, int n, int nrhs, const void *lu, const int *pivots,
                       void *b); /* b: n by nrhs, in place */
/* `how`: side, uplo, trans and diag as trsm's letters; x (m by n) in place. */
TsrStatus tsr_la_trsm(const TsrLaJob *job, const char *how, int m, int n, const void *a, int lda, void *x);
TsrStatus tsr_la_potrf(const TsrLaJob *job, char uplo, int n, void *a, int *info);
/* A real matrix's inverse, its lower triangle and what more, in place of its lower factor, whose diagonal has no zero;
 * `work` has room for another such matrix. */
TsrStatus tsr_la_potri(const TsrLaJob *job, int n, void *a, void *work);
/* `work` of lwork elements: as many as LAPACK asks for, and at least 32 n. */
TsrStatus tsr_la_geqrf(const TsrLaJob *job, int m, int n, void *a, void *tau, void *work, int lwork);
TsrStatus tsr_la_orgqr(const TsrLaJob *job, int m, int n, int k, void *a, const void *tau, void *work, int lwork);

/* --- QR of batches of column-major matrices (qr.c) --- */
/* In place, as LAPACK's geqrf leaves R and the reflectors; tau (batch..., min(m, n)). */
TsrStatus tsr_la_qr(TsrTensor *f, TsrTensor *tau);
/* The first tsr_la_cols(q) columns of the product of the k reflectors below q's diagonal; in place. */
TsrStatus tsr_la_q(TsrTensor *q, const TsrTensor *tau, int64_t k);
/* dst's leading rows and columns from src, both of one batch; the rest is left as it is. */
TsrStatus tsr_la_copy_corner(TsrTensor *dst, const TsrTensor *src);

/* --- batches of small real matrices without LAPACK (side_by_side.c); each in place, on column-major ones --- */
/* The kernels for matrices like a's; NULL: they are complex, too large or none. The functions below are for these. */
const TsrSmall *tsr_la_small(const TsrTensor *a);
bool tsr_la_many_small(const TsrTensor *a);                       /* and there are several, or no LAPACK */
bool tsr_la_small_system(const TsrTensor *a, const TsrTensor *x); /* and x, of the same batch, is not too wide */
TsrStatus tsr_la_small_lu(TsrTensor *a, TsrTensor *pivots, TsrTensor *info);
TsrStatus tsr_la_small_lu_solve(TsrTensor *x, const TsrTensor *factors, const TsrTensor *pivots);
TsrStatus tsr_la_small_triangular(TsrTensor *x, const TsrTensor *a, TsrTriangle how);
TsrStatus tsr_la_small_cholesky(TsrTensor *a, TsrTensor *info, bool upper); /* the other triangle becomes zeros */
TsrStatus tsr_la_small_qr(TsrTensor *a, TsrTensor *tau);
TsrStatus tsr_la_small_q(TsrTensor *a, const TsrTensor *tau, int64_t k);
/* Values ascending, and in place of `a` its vectors, if wanted; *failure: the worst of what small.h calls info. */
TsrStatus tsr_la_small_eigh(int *failure, TsrTensor *a, TsrTensor *values, bool upper, bool vectors);

/* Descending; `a` is used up. */
TsrStatus tsr_la_small_svdvals(int *failure, TsrTensor *a, TsrTensor *values);

/* --- without LAPACK (jacobi.c): a = u @ diag(s) @ vh of real matrices, all column-major, s descending; u and vh, NULL
 * together, square or with min(m, n) columns and rows. Finite elements. --- */
TsrStatus tsr_la_jacobi_svd(TsrTensor *u, TsrTensor *s, TsrTensor *vh, const TsrTensor *a);
/* x (max(m, n) rows, in place): the shortest solutions of least squares, without singular values up to rcond times the
 * greatest; below the first n rows numbers with the residuals' squares. rank and s, the values, where not empty. */
TsrStatus tsr_la_jacobi_lstsq(TsrTensor *x, TsrTensor *rank, TsrTensor *s, const TsrTensor *a, double rcond);

/* --- factorizations shared between operators (lu.c, svd.c, eigh.c); results column-major and the caller's --- */
/* LU with partial pivoting of `a` (any strides): pivots int32 (batch..., min(m, n)), info int32 (batch...). */
TsrStatus tsr_la_new_lu_factor(TsrTensor **lu, TsrTensor **pivots, TsrTensor **info, const TsrTensor *a);
/* Solves in place for the column-major B of the same batch: trans 'N', 'T' or 'C'. */
TsrStatus tsr_la_lu_solve(TsrTensor *b, const TsrTensor *lu, const TsrTensor *pivots, char trans);
/* Which of m rows stands at each place once they were exchanged as the pivots (batch..., k) say, or the other way:
 * int64 (batch..., m), on the host wherever the pivots lie. TSR_RUNTIME_ERROR for a pivot that is no row. */
TsrStatus tsr_la_pivot_rows_new(TsrTensor **out, const TsrTensor *pivots, int64_t m, bool back);
/* The inverse, column-major, and info. */
TsrStatus tsr_la_new_inverse(TsrTensor **inverse, TsrTensor **info, const TsrTensor *a);
/* job 'A', 'S' or 'N' (u and vh untouched). s real, (batch..., k). */
TsrStatus tsr_la_new_svd(TsrTensor **u, TsrTensor **s, TsrTensor **vh, const TsrTensor *a, char job);
/* Of a square matrix: w real, ascending. v may be NULL. uplo 'L' or 'U'. */
TsrStatus tsr_la_new_eigh(TsrTensor **w, TsrTensor **v, const TsrTensor *a, char uplo, const char *fn);

/* A LAPACK info that is not 0 becomes PyTorch's torch.linalg.LinAlgError; `info` int32 (batch...). */
typedef enum TsrLaFailure { TSR_LA_SINGULAR_INVERSE, TSR_LA_SINGULAR_SOLVE, TSR_LA_NOT_POSITIVE } TsrLaFailure;
TsrStatus tsr_la_check_info(const TsrTensor *info, const char *fn, TsrLaFailure failure);

#endif
