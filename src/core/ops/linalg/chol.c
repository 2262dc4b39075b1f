/* Cholesky factorizations and triangular systems. */
#include <stdio.h>
#include <string.h>

#include "core/op/out.h"
#include "core/op/shared.h"
#include "la.h"
#include "core/tensor/loan.h"
#include "there.h"

/* What potri and potrs are given: a triangle of n rows, and the right-hand sides. */
typedef struct Triangle {
    TsrLaJob job;
    char uplo;
    int n, nrhs, info;
    void *triangle, *x;
} Triangle;

static void potri(void *context) {
    Triangle *c = context;
    c->job.blas->potri[c->job.t](&c->uplo, &c->n, c->triangle, &c->n, &c->info, 1);
}

static void potrs(void *context) {
    Triangle *c = context;
    c->job.blas->potrs[c->job.t](&c->uplo, &c->n, &c->nrhs, c->triangle, &c->n, c->x, &c->n, &c->info, 1);
}

/* In memory with room behind it: the complex dot product of OpenBLAS 0.3.21 reads an element past the end of a row. */
static TsrStatus inverse_apart(const TsrLaJob *job, char uplo, int n, TsrTensor *f, int64_t b, int *info) {
    TSR_OWNED work = NULL;
    size_t bytes = (size_t)n * (size_t)n * job->item;
    TSR_TRY(tsr_la_new_scratch(&work, (int64_t)n * n + n + 1, job->item));
    memcpy(tsr_data(work), tsr_la_matrix(f, b), bytes);
    Triangle c = {.job = *job, .uplo = uplo, .n = n, .triangle = tsr_data(work)};
    TSR_TRY(tsr_la_apart((int64_t[]){n, n, n}, potri, &c, sizeof c, &work, 1));
    memcpy(tsr_la_matrix(f, b), tsr_data(work), bytes);
    *info = c.info;
    return TSR_OK;
}

/* potrf or potri of every matrix of `f`, in place; `info` int32 (batch...). *job is ready for more of the same dtype.
 */
static TsrStatus on_triangles(TsrLaJob *job, bool inverse, TsrTensor *f, TsrTensor *info, bool upper) {
    int n;
    char uplo = upper ? 'U' : 'L';
    TSR_TRY(tsr_la_begin(job, f->dtype));
    TSR_TRY(tsr_blas_int(&n, tsr_la_rows(f)));
    if (inverse) tsr_la_widen(n, n);
    for (int64_t b = 0; b < tsr_la_batches(f); b++) {
        int *failed = (int *)tsr_data(info) + b;
        if (!inverse) TSR_TRY(tsr_la_potrf(job, uplo, n, tsr_la_matrix(f, b), failed));
        else TSR_TRY(inverse_apart(job, uplo, n, f, b, failed));
        TSR_TRY(tsr_interrupt_check());
    }
    return TSR_OK;
}

/* The second number of the diagonal: MKL leaves -0 as its imaginary part in factors of 3 to 5 rows. */
static void sign_of_second(TsrTensor *f, const TsrLaJob *job) {
    int64_t n = tsr_la_rows(f);
    if (!job->is_complex || n < 3 || n > 5) return;
    for (int64_t b = 0; b < tsr_la_batches(f); b++)
        tsr_la_set(job->t, tsr_la_matrix(f, b), n + 1,
                   CMPLX(creal(tsr_la_get(job->t, tsr_la_matrix(f, b), n + 1)), -0.0));
}

static TsrStatus cholesky(TsrTensor **l, TsrTensor **info, const TsrOpCall *c) {
    const TsrTensor *a = c->arg[0].t;
    bool upper = c->arg[1].b;
    TSR_OWNED f = NULL;
    TSR_OWNED e = NULL;
    TSR_TRY(tsr_la_check_square(a, "linalg.cholesky"));
    TSR_TRY(tsr_la_check_float(a, "linalg.cholesky"));
    TSR_TRY(tsr_la_outs(c, a->dtype, TSR_INT32));
    const char *kernel = upper ? "triu" : "tril"; /* which comes before the factorization */
    TSR_TRY(tsr_la_need_kernel(tsr_dtype_is_float8(a->dtype) ? kernel : "cholesky_cpu", a));
    TSR_TRY(tsr_la_new_copy(&f, a));
    TSR_TRY(tsr_la_new_vector(&e, a, -1, TSR_INT32));
    if (tsr_on_device(f)) {
        if (f->numel == 0) TSR_TRY(tsr_tensor_fill(e, tsr_scalar_int(0)));
        TSR_TRY(tsr_la_cholesky_there(f, e, upper));
    } else if (!tsr_is_meta(f)) {
        if (e->numel > 0) memset(tsr_data(e), 0, (size_t)e->numel * 4);
        if (tsr_la_small(f) != NULL) {
            TSR_TRY(tsr_la_small_cholesky(f, e, upper));
        } else if (f->numel > 0) {
            TsrLaJob job;
            TSR_TRY(on_triangles(&job, false, f, e, upper));
            sign_of_second(f, &job);
            TSR_TRY(tsr_la_keep_triangle(f, upper));
        }
    }
    *l = tsr_owned_take(&f);
    *info = tsr_owned_take(&e);
    return TSR_OK;
}

TsrStatus op_linalg_cholesky(TsrOpCall *c) {
    TSR_OWNED l = NULL;
    TSR_OWNED info = NULL;
    TSR_TRY(cholesky(&l, &info, c));
    TSR_TRY(tsr_la_check_info(info, "linalg.cholesky", TSR_LA_NOT_POSITIVE));
    return tsr_return_move(c, tsr_owned_take(&l));
}

TsrStatus op_linalg_cholesky_ex(TsrOpCall *c) {
    TSR_OWNED l = NULL;
    TSR_OWNED info = NULL;
    TSR_TRY(cholesky(&l, &info, c));
    if (c->arg[2].b) TSR_TRY(tsr_la_check_info(info, "linalg.cholesky_ex", TSR_LA_NOT_POSITIVE));
    return tsr_return_move2(c, tsr_owned_take(&l), tsr_owned_take(&info));
}

/* The other triangle of a real matrix, in blocks that stay in the first cache. */
#define MIRROR(name, T) \
    static void name(T *a, int64_t n, bool from_upper) { \
        enum { BLOCK = 16 }; \
        for (int64_t j0 = 0; j0 < n; j0 += BLOCK) \
            for (int64_t i0 = 0; i0 <= j0; i0 += BLOCK) \
                for (int64_t j = j0; j < TSR_MIN(j0 + BLOCK, n); j++) \
                    for (int64_t i = i0; i < TSR_MIN(i0 + BLOCK, j); i++) { \
                        T *up = a + j * n + i, *low = a + i * n + j; \
                        if (from_upper) *low = *up; \
                        else *up = *low; \
                    } \
    }
MIRROR(mirror_floats, float)
MIRROR(mirror_doubles, double)

static void mirror_complex(TsrBlasType t, void *a, int64_t n, bool from_upper) {
    for (int64_t j = 0; j < n; j++) {
        tsr_la_set(t, a, j * n + j, creal(tsr_la_get(t, a, j * n + j)));
        for (int64_t i = 0; i < j; i++) {
            int64_t up = j * n + i, low = i * n + j;
            double complex v = tsr_la_get(t, a, from_upper ? up : low);
            tsr_la_set(t, a, from_upper ? low : up, conj(v));
        }
    }
}

/* LAPACK fills one triangle; the other one is its conjugate mirror, and the diagonal real. */
static void mirror(TsrTensor *a, const TsrLaJob *job, bool from_upper) {
    int64_t n = tsr_la_rows(a);
    for (int64_t b = 0; b < tsr_la_batches(a); b++) {
        void *matrix = tsr_la_matrix(a, b);
        if (job->is_complex) mirror_complex(job->t, matrix, n, from_upper);
        else if (job->t == TSR_BLAS_S) mirror_floats(matrix, n, from_upper);
        else mirror_doubles(matrix, n, from_upper);
    }
}

/* Rows from which on the inverse is made in blocks: of 300 floats in 583 us by LAPACK and in 330 so, of 64 in 21 and 17
 * (one thread, Zen 5). */
enum { INVERSE_FROM = 48 };

/* As potri's: the first number of the diagonal, from 1, that is 0. */
static int zero_on_diagonal(const TsrLaJob *job, const void *a, int n) {
    for (int i = 0; i < n; i++)
        if (tsr_la_get(job->t, a, (int64_t)i * n + i) == 0) return i + 1;
    return 0;
}

/* Real matrices; their lower triangles. */
static TsrStatus inverse_by_blocks(const TsrLaJob *job, TsrTensor *x, TsrTensor *info, bool upper) {
    int n;
    TSR_OWNED work = NULL;
    TSR_TRY(tsr_blas_int(&n, tsr_la_rows(x)));
    TSR_TRY(tsr_la_new_scratch(&work, (int64_t)n * n, job->item));
    if (upper) mirror(x, job, true);
    for (int64_t b = 0; b < tsr_la_batches(x); b++) {
        int *failed = (int *)tsr_data(info) + b;
        *failed = zero_on_diagonal(job, tsr_la_matrix(x, b), n);
        if (*failed == 0) TSR_TRY(tsr_la_potri(job, n, tsr_la_matrix(x, b), tsr_data(work)));
    }
    return TSR_OK;
}

TsrStatus op_cholesky_inverse(TsrOpCall *c) {
    const TsrTensor *a = c->arg[0].t;
    bool upper = c->arg[1].b;
    TSR_OWNED x = NULL;
    TSR_OWNED info = NULL;
    TSR_TRY(tsr_la_check_square(a, "cholesky_inverse"));
    if (c->out[0] != NULL && !tsr_can_cast(a->dtype, c->out[0]->dtype)) TSR_TRY(tsr_check_out_dtype(c, 0, a->dtype));
    TSR_TRY(tsr_la_not_implemented("cholesky_inverse_out_cpu", a->dtype));
    TSR_TRY(tsr_la_new_copy(&x, a));
    TSR_TRY(tsr_la_new_vector(&info, a, -1, TSR_INT32));
    if (x->numel == 0 || tsr_is_meta(x)) return tsr_return_move(c, tsr_owned_take(&x));
    if (tsr_on_device(x)) {
        TSR_OWNED inverse = NULL;
        TSR_TRY(tsr_la_new_like(&inverse, a, tsr_la_rows(a), tsr_la_cols(a), a->dtype));
        TSR_TRY(tsr_la_set_identity(inverse));
        TSR_TRY(tsr_la_cholesky_solve_there(inverse, x, upper));
        return tsr_return_move(c, tsr_owned_take(&inverse));
    }
    TsrLaJob job;
    TSR_TRY(tsr_la_begin(&job, x->dtype));
    bool blocked = !job.is_complex && tsr_la_rows(x) >= INVERSE_FROM;
    if (blocked) TSR_TRY(inverse_by_blocks(&job, x, info, upper));
    else TSR_TRY(on_triangles(&job, true, x, info, upper));
    TSR_TRY(tsr_la_check_info(info, "cholesky_inverse", TSR_LA_SINGULAR_INVERSE));
    mirror(x, &job, upper && !blocked);
    return tsr_return_move(c, tsr_owned_take(&x));
}

static TsrStatus check_same_dtype(const TsrTensor *a, const TsrTensor *b) {
    if (a->dtype == b->dtype) return TSR_OK;
    return tsr_error(TSR_RUNTIME_ERROR,
                     "Expected b and A to have the same dtype, but found b of type %s and A of type %s instead.",
                     tsr_dtype_scalar_name(b->dtype), tsr_dtype_scalar_name(a->dtype));
}

static TsrStatus check_rows(const TsrTensor *a, const TsrTensor *b, const char *name) {
    if (tsr_la_rows(a) == tsr_la_rows(b)) return TSR_OK;
    return tsr_error(
        TSR_RUNTIME_ERROR,
        "Incompatible matrix sizes for %s: each A matrix is %lld by %lld but each b matrix is %lld by %lld", name,
        (long long)tsr_la_cols(a), (long long)tsr_la_cols(a), (long long)tsr_la_rows(b), (long long)tsr_la_cols(b));
}

TsrStatus op_cholesky_solve(TsrOpCall *c) {
    const TsrTensor *b = c->arg[0].t, *a = c->arg[1].t;
    TSR_TRY(tsr_check_out_fits(c, 0, b->dtype));
    if (tsr_ndim(b) < 2)
        return tsr_error(TSR_RUNTIME_ERROR, "b should have at least 2 dimensions, but has %d dimensions instead",
                         tsr_ndim(b));
    if (tsr_ndim(a) < 2)
        return tsr_error(TSR_RUNTIME_ERROR, "u should have at least 2 dimensions, but has %d dimensions instead",
                         tsr_ndim(a));
    TSR_TRY(tsr_la_check_square(a, ""));
    TSR_TRY(check_same_dtype(a, b));
    TSR_TRY(check_rows(a, b, "cholesky_solve"));
    TSR_OWNED x = NULL;
    TSR_OWNED f = NULL;
    TsrLaBatch batch;
    TSR_TRY(tsr_la_broadcast_batch(&batch, b, a));
    TSR_TRY(tsr_la_into(c, "cholesky_solve_cpu", a->dtype, a->dtype));
    TSR_TRY(tsr_la_new_copy_expanded(&x, b, &batch));
    TSR_TRY(tsr_la_new_copy_expanded(&f, a, &batch));
    if (x->numel == 0 || tsr_is_meta(x)) return tsr_return_move(c, tsr_owned_take(&x));
    if (tsr_on_device(x)) {
        TSR_TRY(tsr_la_cholesky_solve_there(x, f, c->arg[2].b));
        return tsr_return_move(c, tsr_owned_take(&x));
    }
    if (tsr_la_small_system(f, x)) {
        bool upper = c->arg[2].b;
        TSR_TRY(tsr_la_small_triangular(x, f, (TsrTriangle){.upper = upper, .transposed = upper}));
        TSR_TRY(tsr_la_small_triangular(x, f, (TsrTriangle){.upper = upper, .transposed = !upper}));
        return tsr_return_move(c, tsr_owned_take(&x));
    }
    Triangle s = {.uplo = c->arg[2].b ? 'U' : 'L'};
    TSR_TRY(tsr_la_begin(&s.job, x->dtype));
    TSR_TRY(tsr_blas_int(&s.n, tsr_la_rows(x)));
    TSR_TRY(tsr_blas_int(&s.nrhs, tsr_la_cols(x)));
    tsr_la_widen(s.n, s.nrhs);
    for (int64_t i = 0; i < tsr_la_batches(x); i++) {
        s.triangle = tsr_la_matrix(f, i), s.x = tsr_la_matrix(x, i);
        TSR_TRY(tsr_la_apart((int64_t[]){s.n, s.n, s.nrhs}, potrs, &s, sizeof s, (TsrTensor *[]){f, x}, 2));
    }
    return tsr_return_move(c, tsr_owned_take(&x));
}

/* ---- triangular systems ---- */

typedef struct Triangular {
    bool upper, left, unit;
    char trans;
} Triangular;

/* Solves in place for the column-major X; `a` column-major of the same batch. */
static TsrStatus trsm(TsrTensor *x, const TsrTensor *a, Triangular how) {
    if (x->numel == 0 || tsr_is_meta(x)) return TSR_OK;
    if (tsr_on_device(x)) {
        const TsrDeviceMatrixWork there = {.upper = how.upper,
                                           .unit = how.unit,
                                           .transposed = how.trans != 'N',
                                           .conjugate = how.trans == 'C',
                                           .right = !how.left};
        return tsr_la_triangular_there(x, a, there);
    }
    if (tsr_la_small_system(a, x)) {
        const TsrTriangle small = {how.upper, how.trans != 'N', !how.left, how.unit};
        return tsr_la_small_triangular(x, a, small);
    }
    TsrLaJob job;
    int m, n, lda;
    TSR_TRY(tsr_la_begin(&job, x->dtype));
    TSR_TRY(tsr_blas_int(&m, tsr_la_rows(x)));
    TSR_TRY(tsr_blas_int(&n, tsr_la_cols(x)));
    TSR_TRY(tsr_blas_int(&lda, tsr_la_rows(a)));
    const char letters[4] = {how.left ? 'L' : 'R', how.upper ? 'U' : 'L', how.trans, how.unit ? 'U' : 'N'};
    for (int64_t b = 0; b < tsr_la_batches(x); b++)
        TSR_TRY(tsr_la_trsm(&job, letters, m, n, tsr_la_matrix(a, b), lda, tsr_la_matrix(x, b)));
    return TSR_OK;
}

/* Whether the result may be handed on: an out= whose matrices have gaps is copied to, whatever its dtype is. */
static TsrStatus takes_solution(bool *takes, const TsrTensor *out, const TsrTensor *x) {
    TSR_OWNED turned = NULL;
    *takes = out == NULL || !tsr_same_sizes(out, x) || tsr_is_contiguous(out, TSR_CONTIGUOUS);
    if (*takes) return TSR_OK;
    TSR_TRY(tsr_tensor_new_transpose(&turned, out, -2, -1));
    *takes = tsr_is_contiguous(turned, TSR_CONTIGUOUS);
    return TSR_OK;
}

TsrStatus op_solve_triangular(TsrOpCall *c) {
    const TsrTensor *a = c->arg[0].t, *b = c->arg[1].t;
    static const char fn[] = "linalg.solve_triangular";
    Triangular how = {.upper = c->arg[2].b, .left = c->arg[3].b, .unit = c->arg[4].b, .trans = 'N'};
    TSR_TRY(tsr_la_check_square(a, fn));
    TSR_TRY(tsr_la_check_matrix(b, fn, "B"));
    int64_t n = tsr_la_rows(a), have = how.left ? tsr_la_rows(b) : tsr_la_cols(b);
    if (n != have)
        return tsr_error(TSR_RUNTIME_ERROR,
                         "%s: Incompatible shapes of A and B for the equation %s (%lldx%lld and %lldx%lld)", fn,
                         how.left ? "AX = B" : "XA = B", (long long)n, (long long)tsr_la_cols(a),
                         (long long)tsr_la_rows(b), (long long)tsr_la_cols(b));
    TSR_TRY(tsr_la_not_implemented("triangular_solve_cpu", a->dtype));
    TSR_OWNED cast = NULL;
    TSR_OWNED x = NULL;
    TSR_OWNED f = NULL;
    TsrLaBatch batch;
    TSR_TRY(tsr_la_broadcast_batch(&batch, b, a));
    TSR_TRY(tsr_tensor_new_cast(&cast, b, a->dtype));
    TSR_TRY(tsr_la_new_copy_expanded(&x, cast, &batch));
    TSR_TRY(tsr_la_new_copy_expanded(&f, a, &batch));
    TSR_TRY(trsm(x, f, how));
    bool solved_there;
    TSR_TRY(takes_solution(&solved_there, c->out[0], x));
    if (solved_there) return tsr_return_move(c, tsr_owned_take(&x));
    TSR_TRY(tsr_check_out_overlap(c->out[0], NULL));
    TSR_TRY(tsr_tensor_copy(c->out[0], x));
    return tsr_return_move(c, tsr_tensor_retain(c->out[0]));
}

TsrStatus op_triangular_solve(TsrOpCall *c) {
    const TsrTensor *b = c->arg[0].t, *a = c->arg[1].t;
    if (tsr_ndim(b) < 2)
        return tsr_error(
            TSR_RUNTIME_ERROR,
            "torch.triangular_solve: Expected b to have at least 2 dimensions, but it has %d dimensions instead",
            tsr_ndim(b));
    if (tsr_ndim(a) < 2)
        return tsr_error(
            TSR_RUNTIME_ERROR,
            "torch.triangular_solve: Expected A to have at least 2 dimensions, but it has %d dimensions instead",
            tsr_ndim(a));
    TSR_TRY(check_same_dtype(a, b));
    TSR_TRY(tsr_la_check_square(a, ""));
    TSR_TRY(check_rows(a, b, "triangular_solve"));
    TSR_OWNED x = NULL;
    TSR_OWNED f = NULL;
    TsrLaBatch batch;
    TSR_TRY(tsr_la_broadcast_batch(&batch, b, a));
    TSR_TRY(tsr_la_into(c, "triangular_solve_cpu", a->dtype, a->dtype));
    TSR_TRY(tsr_la_new_copy_expanded(&x, b, &batch));
    TSR_TRY(tsr_la_new_copy_expanded(&f, a, &batch));
    TSR_TRY(trsm(
        x, f, (Triangular){.upper = c->arg[2].b, .left = true, .unit = c->arg[4].b, .trans = c->arg[3].b ? 'T' : 'N'}));
    return tsr_return_move2(c, tsr_owned_take(&x), tsr_owned_take(&f));
}
