/* side_by_side.c: batches of small real matrices, a group of them in the lanes of vectors at a time (kernels/matrix/
 * small.h), the groups on the core's threads. Few matrices that are not very small are LAPACK's, where there is one. */
#include "core/parallel.h"
#include "la.h"

/* From how many matrices on all go side by side, and up to how many elements fewer do. CPU time of a call, LAPACK and
 * side by side in vectors of 16 floats (Zen 5): one qr of side 8 2.8 and 2.1 us, of side 32 16 and 20, one inv of side
 * 8 1.3 and 1.3 us, of side 32 11 and 32; 100 qr of side 32 1430 and 290 us, 10000 of side 4 3774 and 301. */
enum { SIDE_BY_SIDE = 4, ALONE = 64 };

const TsrSmall *tsr_la_small(const TsrTensor *a) {
    TsrBlasType t;
    if (!tsr_blas_type(&t, a->dtype) || t == TSR_BLAS_C || t == TSR_BLAS_Z || a->numel == 0) return NULL;
    if (tsr_la_rows(a) > TSR_SMALL_ROOM || tsr_la_cols(a) > TSR_SMALL_ROOM) return NULL;
    int64_t elements = tsr_la_rows(a) * tsr_la_cols(a);
    if (elements > TSR_SMALL_ROOM) return NULL;
    if (elements > ALONE && tsr_la_batches(a) < SIDE_BY_SIDE && tsr_blas_try() != NULL) return NULL;
    return tsr_small(t == TSR_BLAS_D);
}

bool tsr_la_many_small(const TsrTensor *a) {
    return tsr_la_small(a) != NULL && (tsr_la_batches(a) >= SIDE_BY_SIDE || tsr_blas_try() == NULL);
}

bool tsr_la_small_system(const TsrTensor *a, const TsrTensor *x) {
    return tsr_la_small(a) != NULL && x->numel > 0 && x->numel / tsr_la_batches(x) <= TSR_SMALL_ROOM;
}

/* The matrices `a`, rows by cols, and what is done with them needs. */
typedef struct Batch Batch;
struct Batch {
    const TsrSmall *small;
    const TsrTensor *a;
    TsrTensor *x;
    int rows, cols, each; /* each: of `pivots` or `tau` for a matrix */
    int *pivots, *info;
    char *tau;
    bool upper, vectors;
    TsrTriangle how;
    void (*fn)(const Batch *q, int64_t b, int count); /* what is done with the `count` matrices from the b-th on */
};

static Batch batch_of(const TsrTensor *a) {
    return (Batch){.small = tsr_la_small(a), .a = a, .rows = (int)tsr_la_rows(a), .cols = (int)tsr_la_cols(a)};
}

static void run_groups(int64_t begin, int64_t end, void *user) {
    const Batch *q = user;
    for (int64_t lanes = q->small->lanes, b = begin * lanes; b < end * lanes; b += lanes)
        q->fn(q, b, (int)TSR_MIN(lanes, tsr_la_batches(q->a) - b));
}

/* fn for all groups; some `steps` are made with each of its elements. */
static TsrStatus each_group(Batch *q, int64_t steps, void (*fn)(const Batch *q, int64_t b, int count)) {
    int64_t lanes = q->small->lanes;
    TSR_TRY(tsr_interrupt_check());
    q->fn = fn;
    return tsr_parallel_for((tsr_la_batches(q->a) + lanes - 1) / lanes,
                            tsr_grain(lanes * steps * q->rows * q->cols / 4), run_groups, q);
}

static void lu(const Batch *q, int64_t b, int count) {
    q->small->lu(tsr_la_matrix(q->a, b), count, q->rows, q->cols, q->pivots + b * q->each, q->info + b);
}

TsrStatus tsr_la_small_lu(TsrTensor *a, TsrTensor *pivots, TsrTensor *info) {
    Batch q = batch_of(a);
    q.each = TSR_MIN(q.rows, q.cols);
    q.pivots = tsr_data(pivots), q.info = tsr_data(info);
    return each_group(&q, q.each, lu);
}

static void lu_solve(const Batch *q, int64_t b, int count) {
    q->small->solve(tsr_la_matrix(q->x, b), count, q->rows, (int)tsr_la_cols(q->x), tsr_la_matrix(q->a, b),
                    q->pivots + b * q->rows);
}

TsrStatus tsr_la_small_lu_solve(TsrTensor *x, const TsrTensor *factors, const TsrTensor *pivots) {
    Batch q = batch_of(factors);
    q.x = x, q.pivots = tsr_data(pivots);
    return each_group(&q, tsr_la_cols(x), lu_solve);
}

static void triangular(const Batch *q, int64_t b, int count) {
    int columns = (int)(q->how.right ? tsr_la_rows(q->x) : tsr_la_cols(q->x));
    q->small->triangular(tsr_la_matrix(q->x, b), count, q->rows, columns, tsr_la_matrix(q->a, b), q->how);
}

TsrStatus tsr_la_small_triangular(TsrTensor *x, const TsrTensor *a, TsrTriangle how) {
    Batch q = batch_of(a);
    q.x = x, q.how = how;
    return each_group(&q, how.right ? tsr_la_rows(x) : tsr_la_cols(x), triangular);
}

static void cholesky(const Batch *q, int64_t b, int count) {
    q->small->cholesky(tsr_la_matrix(q->a, b), count, q->rows, q->upper, q->info + b);
}

TsrStatus tsr_la_small_cholesky(TsrTensor *a, TsrTensor *info, bool upper) {
    Batch q = batch_of(a);
    q.info = tsr_data(info), q.upper = upper;
    return each_group(&q, q.rows, cholesky);
}

static void qr(const Batch *q, int64_t b, int count) {
    size_t item = tsr_itemsize(q->a);
    q->small->qr(tsr_la_matrix(q->a, b), count, q->rows, q->cols, q->tau + (size_t)(b * q->each) * item);
}

TsrStatus tsr_la_small_qr(TsrTensor *a, TsrTensor *tau) {
    Batch q = batch_of(a);
    q.each = TSR_MIN(q.rows, q.cols), q.tau = tsr_data(tau);
    return each_group(&q, 2 * q.cols, qr);
}

static int worst(const int *info, int64_t n) {
    int most = 0;
    for (int64_t b = 0; b < n; b++) most = TSR_MAX(most, info[b]);
    return most;
}

static void eigen(const Batch *q, int64_t b, int count) {
    q->small->eigen(tsr_la_matrix(q->a, b), count, q->rows, q->upper, q->vectors,
                    (char *)tsr_data(q->x) + (size_t)(b * q->rows) * tsr_itemsize(q->x), q->info + b);
}

TsrStatus tsr_la_small_eigh(int *failure, TsrTensor *a, TsrTensor *values, bool upper, bool vectors) {
    Batch q = batch_of(a);
    TSR_OWNED info = NULL;
    TSR_TRY(tsr_la_new_vector(&info, a, -1, TSR_INT32));
    q.x = values, q.info = tsr_data(info), q.upper = upper, q.vectors = vectors;
    TSR_TRY(each_group(&q, vectors ? 8 * q.rows : 4 * q.rows, eigen));
    *failure = worst(q.info, info->numel);
    return TSR_OK;
}

static void singular(const Batch *q, int64_t b, int count) {
    q->small->singular(tsr_la_matrix(q->a, b), count, q->rows, q->cols,
                       (char *)tsr_data(q->x) + (size_t)(b * q->each) * tsr_itemsize(q->x), q->info + b);
}

TsrStatus tsr_la_small_svdvals(int *failure, TsrTensor *a, TsrTensor *values) {
    Batch q = batch_of(a);
    TSR_OWNED info = NULL;
    TSR_TRY(tsr_la_new_vector(&info, a, -1, TSR_INT32));
    q.each = TSR_MIN(q.rows, q.cols);
    q.x = values, q.info = tsr_data(info);
    TSR_TRY(each_group(&q, 12 * q.each, singular));
    *failure = worst(q.info, info->numel);
    return TSR_OK;
}

static void q_of(const Batch *q, int64_t b, int count) {
    size_t item = tsr_itemsize(q->a);
    q->small->q(tsr_la_matrix(q->a, b), count, q->rows, q->cols, q->each, q->tau + (size_t)(b * q->each) * item);
}

TsrStatus tsr_la_small_q(TsrTensor *a, const TsrTensor *tau, int64_t k) {
    Batch q = batch_of(a);
    q.each = (int)k, q.tau = tsr_data(tau);
    return each_group(&q, 2 * q.cols, q_of);
}
