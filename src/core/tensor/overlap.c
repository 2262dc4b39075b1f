/* overlap.c: whether strided views share memory, exactly.
 *
 * Two views share a byte when a bounded linear Diophantine equation has a solution:
 *     sum_i a_i x_i = target, 0 <= x_i <= u_i, a_i > 0.
 * The idea is that of NumPy's mem_overlap.c (solve_diophantine), after P. Ramachandran, "Use of Extended Euclidean
 * Algorithm in Solving a System of Linear Diophantine Equations with Bounded Variables", 2006: the problem is NP-hard
 * in general, but a depth-first search that prunes by range and by divisibility ends at once in practice. The last two
 * variables are solved in closed form with the extended Euclidean algorithm. */
#include "core/base/wide.h"
#include "core/layout.h"

#include <string.h>

enum { MAX_TERMS = 2 * TSR_MAX_DIMS + 2 };
static const int64_t max_work = 2000000; /* nodes of the search before it gives up */

typedef TsrWide Wide;
typedef struct Term {
    int64_t a, u;
    int tag;
    int64_t x;
} Term;
typedef struct Search {
    int n;
    Term term[MAX_TERMS];       /* by falling coefficient */
    int64_t gcd[MAX_TERMS + 1]; /* of the coefficients from i on */
    Wide reach[MAX_TERMS + 1];  /* sum of a_k u_k from i on */
    int64_t work;
} Search;

static int64_t gcd64(int64_t a, int64_t b) {
    while (b != 0) {
        int64_t r = a % b;
        a = b;
        b = r;
    }
    return a;
}

/* x with a x = 1 mod m, for coprime a and m > 0. */
static int64_t inverse_mod(int64_t a, int64_t m) {
    int64_t r0 = m, r1 = a % m, t0 = 0, t1 = 1;
    if (m == 1) return 0;
    while (r1 != 0) {
        int64_t q = r0 / r1, r = r0 - q * r1, t = t0 - q * t1;
        r0 = r1;
        r1 = r;
        t0 = t1;
        t1 = t;
    }
    return t0 < 0 ? t0 + m : t0;
}

static void add_term(Search *s, int64_t a, int64_t u, int tag) {
    if (u > 0 && a > 0) s->term[s->n++] = (Term){a, u, tag, 0};
}

static void prepare(Search *s) {
    for (int i = 1; i < s->n; i++) {
        Term t = s->term[i];
        int k = i;
        for (; k > 0 && s->term[k - 1].a < t.a; k--) s->term[k] = s->term[k - 1];
        s->term[k] = t;
    }
    s->gcd[s->n] = 0;
    s->reach[s->n] = 0;
    for (int i = s->n - 1; i >= 0; i--) {
        s->gcd[i] = gcd64(s->term[i].a, s->gcd[i + 1]);
        s->reach[i] = s->reach[i + 1] + (Wide)s->term[i].a * s->term[i].u;
    }
    s->work = 0;
}

/* The values of x_i that leave a remainder the later terms can divide and reach: first, last, step. */
static bool candidates(const Search *s, int i, Wide target, Wide *first, Wide *last, Wide *step) {
    const Term *t = &s->term[i];
    Wide over = target - s->reach[i + 1];
    Wide low = over > 0 ? (over + t->a - 1) / t->a : 0, high = target / t->a;
    int64_t rest = s->gcd[i + 1], g = s->gcd[i];
    if (high > t->u) high = t->u;
    *step = 1;
    if (rest == 0) {
        if (target % t->a != 0) return false;
    } else {
        int64_t m = rest / g; /* a x = target mod rest, all divided by g */
        int64_t residue = tsr_mul_modulo((int64_t)(target / g % m), inverse_mod(t->a / g % m, m), m);
        Wide shift = (residue - low) % m;
        low += shift < 0 ? shift + m : shift;
        *step = m;
    }
    *first = low;
    *last = high;
    return low <= high;
}

/* 1 solved, 0 no solution, -1 gave up. */
static int search(Search *s, int i, Wide target) {
    Wide first, last, step;
    if (target < 0 || target > s->reach[i]) return 0;
    if (i == s->n) return target == 0;
    if (target % s->gcd[i] != 0) return 0;
    if (++s->work > max_work) return -1;
    if (!candidates(s, i, target, &first, &last, &step)) return 0;
    for (Wide x = first; x <= last; x += step) {
        s->term[i].x = (int64_t)x;
        int r = search(s, i + 1, target - x * s->term[i].a);
        if (r != 0) return r;
    }
    return 0;
}

static int solve(Search *s, Wide target) {
    prepare(s);
    return search(s, 0, target);
}

/* The value found for the variable with this tag, 0 when it had no freedom. */
static int64_t value_of(const Search *s, int tag) {
    for (int i = 0; i < s->n; i++)
        if (s->term[i].tag == tag) return s->term[i].x;
    return 0;
}

static bool is_empty(const TsrGeometry *g) {
    for (int i = 0; i < g->ndim; i++)
        if (g->sizes[i] == 0) return true;
    return false;
}

/* Sufficient: sorted by stride, each step jumps over all that the smaller ones reach. */
static bool nested_strides(Search *s) {
    Wide reach = 0;
    prepare(s);
    for (int i = s->n - 1; i >= 0; i--) {
        if (s->term[i].a <= reach) return false;
        reach += (Wide)s->term[i].a * s->term[i].u;
    }
    return true;
}

/* Two indices differ by d_i; say dimension k is the first where they do, with d_k >= 1. Then
 * a_k (d_k - 1) + sum over i > k of a_i (d_i + u_i) = sum over i > k of a_i u_i - a_k. */
bool tsr_layout_has_internal_overlap(const TsrGeometry *g) {
    Search all = {.n = 0};
    if (!tsr_layout_is_ndim(g->ndim)) return true; /* no valid geometry: nothing can be promised */
    if (is_empty(g)) return false;
    for (int i = 0; i < g->ndim; i++) {
        if (g->sizes[i] > 1 && g->strides[i] == 0) return true;
        add_term(&all, g->strides[i], g->sizes[i] - 1, i);
    }
    if (nested_strides(&all)) return false;
    for (int k = 0; k < all.n; k++) {
        Search s = {.n = 0};
        Wide target = -(Wide)all.term[k].a;
        add_term(&s, all.term[k].a, all.term[k].u - 1, k);
        for (int i = k + 1; i < all.n; i++) {
            add_term(&s, all.term[i].a, 2 * all.term[i].u, i);
            target += (Wide)all.term[i].a * all.term[i].u;
        }
        if (solve(&s, target) != 0) return true;
    }
    return false;
}

static Wide last_byte(const TsrFootprint *g) {
    Wide end = g->at.offset;
    for (int i = 0; i < g->at.ndim; i++) end += (Wide)(g->at.sizes[i] - 1) * g->at.strides[i];
    return end * g->itemsize + g->itemsize - 1;
}

/* Byte addresses of a and of b; b's indices run backwards (x -> u - x) so that all coefficients are
 * positive; a byte within the element is one more variable of each side. */
static void overlap_terms(Search *s, const TsrFootprint *a, const TsrFootprint *b) {
    s->n = 0;
    for (int i = 0; i < a->at.ndim; i++)
        if (a->at.sizes[i] > 1) add_term(s, a->at.strides[i] * a->itemsize, a->at.sizes[i] - 1, i);
    for (int i = 0; i < b->at.ndim; i++)
        if (b->at.sizes[i] > 1) add_term(s, b->at.strides[i] * b->itemsize, b->at.sizes[i] - 1, TSR_MAX_DIMS + i);
    add_term(s, 1, a->itemsize - 1, 2 * TSR_MAX_DIMS);
    add_term(s, 1, b->itemsize - 1, 2 * TSR_MAX_DIMS + 1);
}

/* When every stride and the offsets agree with one element size, bytes within an element need no variable. */
static bool same_grid(const TsrFootprint *a, const TsrFootprint *b) { return a->itemsize == b->itemsize; }

bool tsr_layout_overlap(const TsrFootprint *a, const TsrFootprint *b, int64_t *ia, int64_t *ib, bool *known) {
    bool ignored;
    Search s;
    if (known == NULL) known = &ignored;
    *known = tsr_layout_is_ndim(a->at.ndim) && tsr_layout_is_ndim(b->at.ndim);
    if (!*known) return true;
    if (is_empty(&a->at) || is_empty(&b->at)) return false;
    Wide end_b = last_byte(b), start_a = (Wide)a->at.offset * a->itemsize;
    if (last_byte(a) < (Wide)b->at.offset * b->itemsize || end_b < start_a) return false;
    overlap_terms(&s, a, b);
    Wide target = end_b - start_a;
    if (same_grid(a, b)) {
        s.n -= a->itemsize > 1 ? 2 : 0;
        target -= b->itemsize - 1;
    }
    int found = solve(&s, target);
    *known = found >= 0;
    if (found == 0) return false;
    for (int i = 0; i < a->at.ndim && ia != NULL; i++) ia[i] = value_of(&s, i);
    for (int i = 0; i < b->at.ndim && ib != NULL; i++) ib[i] = b->at.sizes[i] - 1 - value_of(&s, TSR_MAX_DIMS + i);
    return true;
}

TsrOverlap tsr_layout_internal_status(int ndim, const int64_t *sizes, const int64_t *strides) {
    if (!tsr_layout_is_ndim(ndim)) return TSR_OVERLAP_TOO_HARD;
    if (tsr_layout_is_non_overlapping_and_dense(ndim, sizes, strides)) return TSR_OVERLAP_NO;
    for (int i = 0; i < ndim; i++)
        if (strides[i] == 0 && sizes[i] > 1) return TSR_OVERLAP_FULL;
    return TSR_OVERLAP_TOO_HARD;
}

TsrOverlap tsr_layout_overlap_status(const TsrFootprint *a, const TsrFootprint *b) {
    if (!tsr_layout_is_ndim(a->at.ndim) || !tsr_layout_is_ndim(b->at.ndim)) return TSR_OVERLAP_TOO_HARD;
    if (is_empty(&a->at) || is_empty(&b->at)) return TSR_OVERLAP_NO;
    if (!tsr_layout_is_non_overlapping_and_dense(a->at.ndim, a->at.sizes, a->at.strides) ||
        !tsr_layout_is_non_overlapping_and_dense(b->at.ndim, b->at.sizes, b->at.strides))
        return TSR_OVERLAP_TOO_HARD;
    Wide start_a = (Wide)a->at.offset * a->itemsize, start_b = (Wide)b->at.offset * b->itemsize;
    Wide end_a = last_byte(a), end_b = last_byte(b);
    if (start_a == start_b && end_a == end_b) {
        bool same = a->at.ndim == b->at.ndim && (a->at.ndim == 0 || memcmp(a->at.strides, b->at.strides,
                                                                           (size_t)a->at.ndim * sizeof(int64_t)) == 0);
        return same ? TSR_OVERLAP_FULL : TSR_OVERLAP_PARTIAL;
    }
    return start_a <= end_b && start_b <= end_a ? TSR_OVERLAP_PARTIAL : TSR_OVERLAP_NO;
}
