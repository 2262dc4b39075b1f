/* jacobi.c: singular values and vectors of real matrices where there is no LAPACK: plane rotations from the right make
 * the columns orthogonal, whose lengths are the values (one-sided Jacobi; G. H. Golub, C. F. Van Loan, "Matrix
 * Computations", 4th edition, 8.6.3). In double, whatever the dtype; signs of vectors are its own. */
#include <float.h>
#include <math.h>
#include <string.h>

#include "la.h"

enum { SWEEPS = 60 };

/* a, column-major, rows >= cols, becomes u with the singular values s beside it, and v, cols by cols, what it was
 * multiplied by. u has `wide` columns in the end, cols of them or rows. */
typedef struct Decomposition {
    int64_t rows, cols, wide;
    double *u, *s, *v;
} Decomposition;

static double product(const double *x, const double *y, int64_t n) {
    double sum = 0;
    for (int64_t i = 0; i < n; i++) sum += x[i] * y[i];
    return sum;
}

static void rotate(double *x, double *y, int64_t n, double c, double s) {
    for (int64_t i = 0; i < n; i++) {
        double a = x[i], b = y[i];
        x[i] = c * a - s * b;
        y[i] = s * a + c * b;
    }
}

/* Whether columns p and q were not orthogonal yet; they are now. */
static bool make_orthogonal(const Decomposition *d, int64_t p, int64_t q) {
    double *x = d->u + p * d->rows, *y = d->u + q * d->rows;
    double a = product(x, x, d->rows), b = product(y, y, d->rows), both = product(x, y, d->rows);
    if (both == 0 || fabs(both) <= DBL_EPSILON * sqrt(a) * sqrt(b)) return false;
    double zeta = (b - a) / (2 * both), t = copysign(1, zeta) / (fabs(zeta) + hypot(1, zeta)), c = 1 / hypot(1, t);
    rotate(x, y, d->rows, c, c * t);
    rotate(d->v + p * d->cols, d->v + q * d->cols, d->cols, c, c * t);
    return true;
}

static void exchange(double *x, double *y, int64_t n) {
    for (int64_t i = 0; i < n; i++) {
        double t = x[i];
        x[i] = y[i], y[i] = t;
    }
}

static void sort_columns(const Decomposition *d) {
    for (int64_t i = 0; i < d->cols; i++) {
        int64_t k = i;
        for (int64_t j = i + 1; j < d->cols; j++)
            if (d->s[j] > d->s[k]) k = j;
        if (k == i) continue;
        exchange(d->s + i, d->s + k, 1);
        exchange(d->u + i * d->rows, d->u + k * d->rows, d->rows);
        exchange(d->v + i * d->cols, d->v + k * d->cols, d->cols);
    }
}

/* What is left of a column without its parts along the first n ones, unit vectors; taken off twice, for rounding. */
static double length_beside(const Decomposition *d, double *column, int64_t n) {
    for (int64_t k = 0; k < 2 * n; k++) {
        const double *other = d->u + k % n * d->rows;
        double part = product(column, other, d->rows);
        for (int64_t i = 0; i < d->rows; i++) column[i] -= part * other[i];
    }
    return sqrt(product(column, column, d->rows));
}

/* Unit vectors of u: its columns by their lengths, and what completes them, made from the axes in turn. */
static void complete(const Decomposition *d) {
    for (int64_t j = 0, axis = 0; j < d->wide; j++) {
        double *column = d->u + j * d->rows, length = j < d->cols ? d->s[j] : 0;
        if (j > 0 && length <= d->s[0] * DBL_EPSILON) length = 0;
        for (; length == 0; axis++) {
            memset(column, 0, (size_t)d->rows * sizeof *column);
            column[axis] = 1;
            length = length_beside(d, column, j);
            if (length * length * (double)d->rows < 0.5) length = 0; /* nearly one of theirs; another is farther */
        }
        for (int64_t i = 0; i < d->rows; i++) column[i] /= length;
    }
}

static TsrStatus decompose(const Decomposition *d) {
    bool moved = true;
    for (int64_t k = 0; k < d->cols * d->cols; k++) d->v[k] = k % (d->cols + 1) == 0;
    for (int sweep = 0; moved && sweep < SWEEPS; sweep++) {
        moved = false;
        for (int64_t p = 0; p + 1 < d->cols; p++)
            for (int64_t q = p + 1; q < d->cols; q++) moved |= make_orthogonal(d, p, q);
        TSR_TRY(tsr_interrupt_check());
    }
    for (int64_t j = 0; j < d->cols; j++) d->s[j] = sqrt(product(d->u + j * d->rows, d->u + j * d->rows, d->rows));
    sort_columns(d);
    return TSR_OK;
}

/* ---- matrices of tensors ---- */

/* The matrix at `data`, m by n, or turned where it is wider than high; divided by 2**(what is returned), so that
 * squares of its elements are numbers. */
static int take(const Decomposition *d, TsrBlasType t, const void *data, int64_t m, int64_t n) {
    double most = 0;
    int exponent = 0;
    for (int64_t j = 0; j < n; j++)
        for (int64_t i = 0; i < m; i++) {
            double x = creal(tsr_la_get(t, data, i + j * m));
            d->u[m >= n ? i + j * d->rows : j + i * d->rows] = x;
            most = fmax(most, fabs(x));
        }
    (void)frexp(most, &exponent);
    for (int64_t k = 0; k < d->rows * d->cols; k++) d->u[k] = ldexp(d->u[k], -exponent);
    return exponent;
}

/* A result, m by n, from column-major `from` with lines of `ld`; turned if so said. */
static void give(TsrTensor *to, int64_t b, TsrBlasType t, const double *from, int64_t ld, bool turned) {
    int64_t m = tsr_la_rows(to), n = tsr_la_cols(to);
    for (int64_t j = 0; j < n; j++)
        for (int64_t i = 0; i < m; i++)
            tsr_la_set(t, tsr_la_matrix(to, b), i + j * m, from[turned ? j + i * ld : i + j * ld]);
}

TsrStatus tsr_la_jacobi_svd(TsrTensor *u, TsrTensor *s, TsrTensor *vh, const TsrTensor *a) {
    int64_t m = tsr_la_rows(a), n = tsr_la_cols(a), most, cells;
    bool turned = m < n;
    Decomposition d = {.rows = TSR_MAX(m, n), .cols = TSR_MIN(m, n)};
    TsrBlasType t;
    TSR_OWNED scratch = NULL;
    tsr_blas_type(&t, a->dtype);
    d.wide = u == NULL ? 0 : turned ? tsr_la_rows(vh) : tsr_la_cols(u);
    most = TSR_MAX(d.wide, d.cols);
    if (tsr_mul_overflows(d.rows, 2 * most + 1, &cells)) return tsr_error_no_memory(SIZE_MAX);
    TSR_TRY(tsr_la_new_scratch(&scratch, cells, sizeof(double)));
    d.u = tsr_data(scratch), d.v = d.u + d.rows * most, d.s = d.v + d.cols * d.cols;
    for (int64_t b = 0; b < tsr_la_batches(a); b++) {
        int exponent = take(&d, t, tsr_la_matrix(a, b), m, n);
        TSR_TRY(decompose(&d));
        if (u != NULL) {
            complete(&d);
            give(turned ? vh : u, b, t, d.u, d.rows, turned);
            give(turned ? u : vh, b, t, d.v, d.cols, !turned);
        }
        for (int64_t j = 0; j < d.cols; j++) tsr_la_set(t, tsr_data(s), b * d.cols + j, ldexp(d.s[j], exponent));
    }
    return TSR_OK;
}

/* ---- least squares ---- */

typedef struct Squares {
    TsrBlasType t;
    int64_t m, n, k, rank; /* rank: how many of the k singular values count */
    const void *u, *s, *vh;
    void *x; /* a column of b: m numbers, in the end n of the solution */
} Squares;

static double element(const Squares *q, const void *data, int64_t k) { return creal(tsr_la_get(q->t, data, k)); }

/* part[j] = u_j . x; x keeps what no u_j has a part in: its length, behind the solution. */
static void split(const Squares *q, double *part) {
    double rest = 0;
    for (int64_t j = 0; j < q->k; j++) {
        part[j] = 0;
        for (int64_t i = 0; i < q->m; i++) part[j] += element(q, q->u, i + j * q->m) * element(q, q->x, i);
    }
    for (int64_t i = 0; i < q->m; i++) {
        double left = element(q, q->x, i);
        for (int64_t j = 0; j < q->k; j++) left -= part[j] * element(q, q->u, i + j * q->m);
        rest = hypot(rest, left);
    }
    for (int64_t i = q->n; i < q->m; i++) tsr_la_set(q->t, q->x, i, i == q->n ? rest : 0);
}

static void solve(const Squares *q, double *part) {
    split(q, part);
    for (int64_t i = 0; i < q->n; i++) {
        double sum = 0;
        for (int64_t j = 0; j < q->rank; j++) sum += element(q, q->vh, j + i * q->k) * (part[j] / element(q, q->s, j));
        tsr_la_set(q->t, q->x, i, sum);
    }
}

TsrStatus tsr_la_jacobi_lstsq(TsrTensor *x, TsrTensor *rank, TsrTensor *s, const TsrTensor *a, double rcond) {
    Squares q = {.m = tsr_la_rows(a), .n = tsr_la_cols(a), .k = TSR_MIN(tsr_la_rows(a), tsr_la_cols(a))};
    int64_t lines = tsr_la_rows(x), columns = tsr_la_cols(x), item = (int64_t)tsr_itemsize(x);
    TSR_OWNED u = NULL;
    TSR_OWNED values = NULL;
    TSR_OWNED vh = NULL;
    TSR_OWNED part = NULL;
    tsr_blas_type(&q.t, a->dtype);
    TSR_TRY(tsr_la_new_like(&u, a, q.m, q.k, a->dtype));
    TSR_TRY(tsr_la_new_vector(&values, a, q.k, a->dtype));
    TSR_TRY(tsr_la_new_like(&vh, a, q.k, q.n, a->dtype));
    TSR_TRY(tsr_la_new_scratch(&part, q.k, sizeof(double)));
    TSR_TRY(tsr_la_jacobi_svd(u, values, vh, a));
    for (int64_t b = 0; b < tsr_la_batches(a); b++) {
        q.u = tsr_la_matrix(u, b), q.vh = tsr_la_matrix(vh, b), q.s = (char *)tsr_data(values) + b * q.k * item;
        for (q.rank = 0; q.rank < q.k; q.rank++)
            if (element(&q, q.s, q.rank) <= rcond * element(&q, q.s, 0)) break;
        if (rank->numel > 0) ((int64_t *)tsr_data(rank))[b] = q.rank;
        for (int64_t c = 0; c < columns; c++) {
            q.x = tsr_la_matrix(x, b) + c * lines * item;
            solve(&q, tsr_data(part));
        }
    }
    return s->numel > 0 ? tsr_tensor_copy(s, values) : TSR_OK;
}
