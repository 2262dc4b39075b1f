/* Factorizations of large matrices in blocks of columns, on the core's own threads.
 *
 * LAPACK factors a narrow panel in this thread; what the panel does to the other columns is cut into strips that
 * tsr_parallel_for hands out. A strip is the same whatever the number of threads, and so is the result; and a processor
 * that is busy elsewhere holds up one strip, where the threads of OpenMP wait for one another several times a panel. An
 * interrupt is seen between strips. The right-looking forms of LU, Cholesky and QR: G. H. Golub, C. F. Van Loan,
 * "Matrix Computations", 4th edition, 3.2.11, 4.2.6 and 5.2.3; reflectors are applied by LAPACK's larft and larfb. */
#include <string.h>

#include "la.h"
#include "core/parallel.h"

/* Columns to a panel, and from which on a matrix is cut up: a smaller one is LAPACK's. QR_WIDE: of a matrix with
 * QR_WIDE_FROM columns. qr on one thread of Zen 5 by LAPACK, in panels of 32, 16 and 8: 500 by 100 445, 302, 213 and
 * 188 us, 100 by 100 126, 107, 80 and 70, 32 by 32 15.4, -, 14.3 and 14.0, 500 by 500 -, 3.00, 2.42 and 2.47 ms. */
enum {
    STRIP = 64, /* columns, or rows, that a thread takes at once */
    LU_PANEL = 64,
    CHOL_PANEL = 96,
    QR_PANEL = 8,
    QR_WIDE = 16,
    QR_WIDE_FROM = 256,
    QR_FROM = 24,
    BLOCKED_FROM = 192
};

typedef union Number {
    float s;
    double d;
    float c[2];
    double z[2];
} Number;

static Number number(TsrBlasType t, double re) {
    Number n;
    memset(&n, 0, sizeof n);
    tsr_la_set(t, &n, 0, re);
    return n;
}

/* A panel of one column-major matrix, and the columns or rows that it is applied to. */
typedef struct Panel {
    const TsrLaJob *job;
    char *a;            /* the matrix */
    int m, n;           /* its rows and columns; its leading dimension is m */
    int at, width;      /* the panel's first column and how many */
    int from, to;       /* columns that are touched (of Cholesky: rows) */
    char *other;        /* the matrix that reflectors or factors are applied to; `a` itself in a factorization */
    int ld;             /* of it */
    const void *factor; /* QR: the triangle T of the block reflector */
    const int *pivots;
    char trans;
    Number one, minus;
} Panel;

static Panel panel_of(const TsrLaJob *job, int m, int n, void *a) {
    return (Panel){
        .job = job, .a = a, .m = m, .n = n, .other = a, .ld = m, .one = number(job->t, 1), .minus = number(job->t, -1)};
}

static inline char *place(const Panel *p, int64_t row, int64_t column) {
    return p->a + ((size_t)column * (size_t)p->m + (size_t)row) * p->job->item;
}

static inline char *other_place(const Panel *p, int64_t row, int64_t column) {
    return p->other + ((size_t)column * (size_t)p->ld + (size_t)row) * p->job->item;
}

/* Runs fn for the strips of [from, to). */
static TsrStatus each_strip(Panel *p, int from, int to, TsrRangeFn fn) {
    p->from = from;
    p->to = to;
    return tsr_parallel_for((to - from + STRIP - 1) / STRIP, 1, fn, p);
}

/* The strip of that number: its first column and how many. */
static int strip(const Panel *p, int64_t number, int *width) {
    int first = p->from + (int)number * STRIP;
    *width = TSR_MIN(STRIP, p->to - first);
    return first;
}

/* ---- LU ---- */

static void lu_strips(int64_t begin, int64_t end, void *user) {
    const Panel *p = user;
    const TsrBlas *blas = p->job->blas;
    TsrBlasType t = p->job->t;
    tsr_blas_limit(1);
    for (int64_t i = begin; i < end; i++) {
        int width, first = strip(p, i, &width), top = p->at + 1, bottom = p->at + p->width, each = 1,
                   below = p->m - bottom;
        blas->laswp[t](&width, place(p, 0, first), &p->m, &top, &bottom, p->pivots, &each);
        if (first < p->at) continue; /* left of the panel rows change places, no more */
        blas->trsm[t]("L", "L", "N", "U", &p->width, &width, &p->one, place(p, p->at, p->at), &p->m,
                      place(p, p->at, first), &p->m, 1, 1, 1, 1);
        if (below > 0)
            blas->gemm[t]("N", "N", &below, &width, &p->width, &p->minus, place(p, bottom, p->at), &p->m,
                          place(p, p->at, first), &p->m, &p->one, place(p, bottom, first), &p->m, 1, 1);
    }
}

TsrStatus tsr_la_getrf(const TsrLaJob *job, int m, int n, void *a, int *pivots, int *info) {
    int k = TSR_MIN(m, n);
    *info = 0;
    if (k < BLOCKED_FROM) {
        job->blas->getrf[job->t](&m, &n, a, &m, pivots, info);
        return tsr_interrupt_check();
    }
    Panel p = panel_of(job, m, n, a);
    p.pivots = pivots;
    for (p.at = 0; p.at < k; p.at += LU_PANEL) {
        int rows = m - p.at, singular = 0;
        p.width = TSR_MIN(LU_PANEL, k - p.at);
        job->blas->getrf[job->t](&rows, &p.width, place(&p, p.at, p.at), &m, pivots + p.at, &singular);
        if (singular > 0 && *info == 0) *info = singular + p.at;
        for (int i = p.at; i < p.at + p.width; i++) pivots[i] += p.at;
        TSR_TRY(each_strip(&p, 0, p.at, lu_strips));
        TSR_TRY(each_strip(&p, p.at + p.width, n, lu_strips));
    }
    return TSR_OK;
}

/* The columns of a right-hand side. */
static void lu_solve_strips(int64_t begin, int64_t end, void *user) {
    const Panel *p = user;
    tsr_blas_limit(1);
    for (int64_t i = begin; i < end; i++) {
        int width, info, first = strip(p, i, &width);
        p->job->blas->getrs[p->job->t](&p->trans, &p->m, &width, p->a, &p->m, p->pivots,
                                       p->other + (size_t)first * (size_t)p->ld * p->job->item, &p->ld, &info, 1);
    }
}

TsrStatus tsr_la_getrs(const TsrLaJob *job, char trans, int n, int nrhs, const void *lu, const int *pivots, void *b) {
    Panel p = panel_of(job, n, n, (void *)lu);
    p.other = b;
    p.pivots = pivots;
    p.trans = trans;
    if (n >= BLOCKED_FROM && nrhs > STRIP) return each_strip(&p, 0, nrhs, lu_solve_strips);
    int info;
    job->blas->getrs[job->t](&trans, &n, &nrhs, lu, &n, pivots, b, &n, &info, 1);
    return tsr_interrupt_check();
}

/* ---- triangular systems ---- */

typedef struct Triangular {
    Panel panel;
    char side, uplo, diag;
    const void *triangle;
    int lda;
} Triangular;

/* Columns of the right-hand side; where the triangle stands right of it, rows. */
static void triangular_strips(int64_t begin, int64_t end, void *user) {
    const Triangular *t = user;
    const Panel *p = &t->panel;
    tsr_blas_limit(1);
    for (int64_t i = begin; i < end; i++) {
        int width, first = strip(p, i, &width), m = p->m;
        bool left = t->side == 'L';
        p->job->blas->trsm[p->job->t](&t->side, &t->uplo, &p->trans, &t->diag, left ? &m : &width,
                                      left ? &width : &p->n, &p->one, t->triangle, &t->lda,
                                      left ? place(p, 0, first) : place(p, first, 0), &p->m, 1, 1, 1, 1);
    }
}

TsrStatus tsr_la_trsm(const TsrLaJob *job, const char *how, int m, int n, const void *a, int lda, void *x) {
    Triangular t = {
        .panel = panel_of(job, m, n, x), .side = how[0], .uplo = how[1], .diag = how[3], .triangle = a, .lda = lda};
    t.panel.trans = how[2];
    int size = how[0] == 'L' ? m : n, count = how[0] == 'L' ? n : m;
    if (size >= BLOCKED_FROM && count > STRIP) return each_strip(&t.panel, 0, count, triangular_strips);
    job->blas->trsm[job->t](&how[0], &how[1], &how[2], &how[3], &m, &n, &t.panel.one, a, &lda, x, &m, 1, 1, 1, 1);
    return tsr_interrupt_check();
}

/* ---- Cholesky, of the lower triangle ---- */

/* Rows below the panel: those of the factor. */
static void chol_rows(int64_t begin, int64_t end, void *user) {
    const Panel *p = user;
    tsr_blas_limit(1);
    const char *trans = p->job->is_complex ? "C" : "T";
    for (int64_t i = begin; i < end; i++) {
        int rows, first = strip(p, i, &rows);
        p->job->blas->trsm[p->job->t]("R", "L", trans, "N", &rows, &p->width, &p->one, place(p, p->at, p->at), &p->m,
                                      place(p, first, p->at), &p->m, 1, 1, 1, 1);
    }
}

/* Columns right of it: from the diagonal down. */
static void chol_columns(int64_t begin, int64_t end, void *user) {
    const Panel *p = user;
    tsr_blas_limit(1);
    const char *trans = p->job->is_complex ? "C" : "T";
    Number one = number(tsr_la_real(p->job->t), 1), minus = number(tsr_la_real(p->job->t), -1);
    for (int64_t i = begin; i < end; i++) {
        int width, first = strip(p, i, &width), next = first + width, below = p->m - next;
        const char *row = place(p, first, p->at);
        p->job->blas->herk[p->job->t]("L", "N", &width, &p->width, &minus, row, &p->m, &one, place(p, first, first),
                                      &p->m, 1, 1);
        if (below > 0)
            p->job->blas->gemm[p->job->t]("N", trans, &below, &width, &p->width, &p->minus, place(p, next, p->at),
                                          &p->m, row, &p->m, &p->one, place(p, next, first), &p->m, 1, 1);
    }
}

TsrStatus tsr_la_potrf(const TsrLaJob *job, char uplo, int n, void *a, int *info) {
    *info = 0;
    if (n < BLOCKED_FROM || uplo != 'L') {
        job->blas->potrf[job->t](&uplo, &n, a, &n, info, 1);
        return tsr_interrupt_check();
    }
    Panel p = panel_of(job, n, n, a);
    for (p.at = 0; p.at < n; p.at += CHOL_PANEL) {
        p.width = TSR_MIN(CHOL_PANEL, n - p.at);
        job->blas->potrf[job->t]("L", &p.width, place(&p, p.at, p.at), &n, info, 1);
        if (*info != 0) {
            *info += p.at;
            return TSR_OK;
        }
        TSR_TRY(each_strip(&p, p.at + p.width, n, chol_rows));
        TSR_TRY(each_strip(&p, p.at + p.width, n, chol_columns));
    }
    return TSR_OK;
}

/* ---- the inverse of a matrix by its lower factor L: X = L^-1, then X^T X, of real ones ---- */

/* Columns of X, which begin with zeros, in `other`. */
static void inverse_columns(int64_t begin, int64_t end, void *user) {
    const Panel *p = user;
    tsr_blas_limit(1);
    for (int64_t i = begin; i < end; i++) {
        int width, first = strip(p, i, &width), rows = p->n - first;
        char *x = other_place(p, first, first);
        for (int j = 0; j < width; j++) {
            memset(other_place(p, first, first + j), 0, (size_t)rows * p->job->item);
            tsr_la_set(p->job->t, other_place(p, first + j, first + j), 0, 1);
        }
        p->job->blas->trsm[p->job->t]("L", "L", "N", "N", &rows, &width, &p->one, place(p, first, first), &p->m, x,
                                      &p->ld, 1, 1, 1, 1);
    }
}

/* Columns of the product, from the diagonal's block down. */
static void inverse_product(int64_t begin, int64_t end, void *user) {
    const Panel *p = user;
    const Number zero = number(p->job->t, 0);
    tsr_blas_limit(1);
    for (int64_t i = begin; i < end; i++) {
        int width, first = strip(p, i, &width);
        for (int below = first; below < p->n; below += STRIP) {
            int height = TSR_MIN(STRIP, p->n - below), terms = p->n - below;
            p->job->blas->gemm[p->job->t]("T", "N", &height, &width, &terms, &p->one, other_place(p, below, below),
                                          &p->ld, other_place(p, below, first), &p->ld, &zero, place(p, below, first),
                                          &p->m, 1, 1);
        }
    }
}

TsrStatus tsr_la_potri(const TsrLaJob *job, int n, void *a, void *work) {
    Panel p = panel_of(job, n, n, a);
    p.other = work;
    TSR_TRY(each_strip(&p, 0, n, inverse_columns));
    return each_strip(&p, 0, n, inverse_product);
}

/* ---- QR ---- */

static int panel_width(int k) { return k < QR_WIDE_FROM ? QR_PANEL : QR_WIDE; }

/* Applies the panel's block reflector (or its adjoint) to the columns right of it. */
static void reflect_strips(int64_t begin, int64_t end, void *user) {
    const Panel *p = user;
    tsr_blas_limit(1);
    double work[STRIP * QR_WIDE * 2];
    int rows = p->m - p->at, size = QR_WIDE, lead = STRIP;
    for (int64_t i = begin; i < end; i++) {
        int width, first = strip(p, i, &width);
        p->job->blas->larfb[p->job->t]("L", &p->trans, "F", "C", &rows, &width, &p->width, place(p, p->at, p->at),
                                       &p->m, p->factor, &size, place(p, p->at, first), &p->m, work, &lead, 1, 1, 1, 1);
    }
}

static TsrStatus reflect(Panel *p, const char *tau) {
    double factor[QR_WIDE * QR_WIDE * 2];
    int rows = p->m - p->at, size = QR_WIDE;
    p->job->blas->larft[p->job->t]("F", "C", &rows, &p->width, place(p, p->at, p->at), &p->m,
                                   tau + (size_t)p->at * p->job->item, factor, &size, 1, 1);
    p->factor = factor;
    return each_strip(p, p->at + p->width, p->n, reflect_strips);
}

/* `work` holds at least 32 elements for each column. */
TsrStatus tsr_la_geqrf(const TsrLaJob *job, int m, int n, void *a, void *tau, void *work, int lwork) {
    int k = TSR_MIN(m, n), info;
    if (k < QR_FROM) {
        job->blas->geqrf[job->t](&m, &n, a, &m, tau, work, &lwork, &info);
        return tsr_interrupt_check();
    }
    Panel p = panel_of(job, m, n, a);
    const int panel = panel_width(k);
    p.trans = job->is_complex ? 'C' : 'T';
    for (p.at = 0; p.at < k; p.at += panel) {
        int rows = m - p.at;
        p.width = TSR_MIN(panel, k - p.at);
        job->blas->geqrf[job->t](&rows, &p.width, place(&p, p.at, p.at), &m, (char *)tau + (size_t)p.at * job->item,
                                 work, &lwork, &info);
        if (p.at + p.width < n) TSR_TRY(reflect(&p, tau));
        TSR_TRY(tsr_interrupt_check());
    }
    return TSR_OK;
}

/* Above the panel the columns of Q begin with zeros. */
static void clear_above(const Panel *p, int width) {
    for (int j = p->at; j < p->at + width; j++) memset(place(p, 0, j), 0, (size_t)p->at * p->job->item);
}

TsrStatus tsr_la_orgqr(const TsrLaJob *job, int m, int n, int k, void *a, const void *tau, void *work, int lwork) {
    int info;
    if (k < QR_FROM) {
        job->blas->orgqr[job->t](&m, &n, &k, a, &m, tau, work, &lwork, &info);
        return tsr_interrupt_check();
    }
    Panel p = panel_of(job, m, n, a);
    const int panel = panel_width(k);
    p.trans = 'N';
    p.at = (k - 1) / panel * panel;
    for (int width = n - p.at; p.at >= 0;
         p.at -= panel, width = panel) { /* the last panel goes on to the last column */
        int rows = m - p.at;
        p.width = TSR_MIN(panel, k - p.at);
        if (p.at + width < n) TSR_TRY(reflect(&p, tau));
        job->blas->orgqr[job->t](&rows, &width, &p.width, place(&p, p.at, p.at), &m,
                                 (const char *)tau + (size_t)p.at * job->item, work, &lwork, &info);
        clear_above(&p, width);
        TSR_TRY(tsr_interrupt_check());
    }
    return TSR_OK;
}
