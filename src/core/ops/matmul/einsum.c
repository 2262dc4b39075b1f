/* einsum.c: contractions: einsum, tensordot, kron, chains of products.
 *
 * All but chains end in sum_product, ATen's sumproduct_pair: of two operands with aligned dimensions (size 1 where one
 * has none) each dimension is of the left alone, of the right alone, of both and kept (a batch), or of both and summed;
 * permuted and reshaped into these groups the contraction is one bmm. einsum gives every label an aligned dimension,
 * the output's first; a label that an operand has twice becomes its diagonal; operands are taken in from the left, and
 * a dimension that no later one has is summed at once. A chain of matrices is multiplied in the order that needs the
 * fewest multiplications, found by dynamic programming. */
#include <ctype.h>
#include <math.h>
#include <string.h>

#include "core/kernels/pointwise/table.h"
#include "matmul.h"
#include "core/iter.h"
#include "core/mem.h"
#include "core/op.h"
#include "core/op/shared.h"
#include "core/text.h"

enum { LABELS = 52, ELLIPSIS = 52, MAX_OPERANDS = 32 };

/* ---- one contraction of two operands whose dimensions are already aligned ---- */

typedef struct Groups {
    int64_t both[TSR_MAX_DIMS], left[TSR_MAX_DIMS], right[TSR_MAX_DIMS], sum[TSR_MAX_DIMS];
    int nboth, nleft, nright, nsum;
    int64_t both_size, left_size, right_size, sum_size;
} Groups;

/* dtype: the dtype of the sum; with TSR_DTYPE_NONE torch.sum chooses it. */
static TsrStatus sum_dim(TsrTensor **slot, int64_t dim, TsrDtype dtype) {
    TsrTensor *r = NULL;
    if (dtype == TSR_DTYPE_NONE) TSR_TRY(tsr_invoke_new(&r, 1, "sum", "tIb", *slot, 1, &dim, 1));
    else TSR_TRY(tsr_invoke_new(&r, 1, "sum", "tIbd", *slot, 1, &dim, 1, (int)dtype));
    tsr_owned_put_move(slot, r);
    return TSR_OK;
}

static TsrStatus group_dims(Groups *g, TsrTensor **left, TsrTensor **right, const bool *summed) {
    *g = (Groups){.both_size = 1, .left_size = 1, .right_size = 1, .sum_size = 1};
    for (int d = 0; d < tsr_ndim(*left); d++) {
        int64_t sl = (*left)->sizes[d], sr = (*right)->sizes[d];
        if (summed[d]) {
            g->sum[g->nsum++] = d;
            if (sl != 1 && sr == 1) TSR_TRY(sum_dim(left, d, TSR_DTYPE_NONE));
            else if (sl == 1 && sr != 1) TSR_TRY(sum_dim(right, d, TSR_DTYPE_NONE));
            else if (sl != sr) return tsr_error(TSR_RUNTIME_ERROR, "non-broadcast dimensions must match");
            else g->sum_size *= sl;
        } else if (sl != 1 && sr != 1) {
            g->both[g->nboth++] = d, g->both_size *= sl;
        } else if (sl != 1) {
            g->left[g->nleft++] = d, g->left_size *= sl;
        } else {
            g->right[g->nright++] = d, g->right_size *= sr;
        }
    }
    return TSR_OK;
}

static int append(int64_t *list, int n, const int64_t *more, int count) {
    memcpy(list + n, more, sizeof(int64_t) * (size_t)count);
    return n + count;
}

static TsrStatus permuted_3d(TsrTensor **out, const TsrTensor *t, const int64_t *order, int64_t a, int64_t b,
                             int64_t c) {
    TSR_OWNED p = NULL;
    TSR_TRY(tsr_tensor_new_permute(&p, t, tsr_ndim(t), order));
    return tsr_tensor_new_reshape(out, p, 3, (int64_t[]){a, b, c});
}

/* The right operand's own dimensions all come first in the result: then it goes first in the product, whose memory
 * order is right at once. */
static void swap_sides(Groups *g, TsrTensor **left, TsrTensor **right) {
    Groups old = *g;
    TsrTensor *t = *left;
    *left = *right;
    *right = t;
    memcpy(g->left, old.right, sizeof old.right);
    memcpy(g->right, old.left, sizeof old.left);
    g->nleft = old.nright, g->nright = old.nleft;
    g->left_size = old.right_size, g->right_size = old.left_size;
}

/* Multiplies and sums over the marked dimensions, which stay with size 1: one bmm, as ATen's sumproduct_pair. */
static TsrStatus sum_product(TsrTensor **out, const TsrTensor *a, const TsrTensor *b, const bool *summed, int nsummed) {
    if (nsummed == 0) return tsr_invoke_new(out, 1, "mul", "tt", a, b);
    TSR_OWNED left = tsr_tensor_retain((TsrTensor *)a);
    TSR_OWNED right = tsr_tensor_retain((TsrTensor *)b);
    TSR_OWNED l3 = NULL;
    TSR_OWNED r3 = NULL;
    TSR_OWNED product = NULL;
    Groups g;
    TSR_TRY(group_dims(&g, &left, &right, summed));
    if (g.nleft > 0 && g.nright > 0 && g.right[g.nright - 1] < g.left[0]) swap_sides(&g, &left, &right);
    int64_t lorder[TSR_MAX_DIMS], rorder[TSR_MAX_DIMS], back[TSR_MAX_DIMS], sizes[TSR_MAX_DIMS], strides[TSR_MAX_DIMS],
        osizes[TSR_MAX_DIMS], ostrides[TSR_MAX_DIMS];
    int n = append(lorder,
                   append(lorder, append(lorder, append(lorder, 0, g.both, g.nboth), g.left, g.nleft), g.sum, g.nsum),
                   g.right, g.nright);
    append(rorder, append(rorder, append(rorder, append(rorder, 0, g.both, g.nboth), g.sum, g.nsum), g.right, g.nright),
           g.left, g.nleft);
    for (int i = 0; i < n; i++) {
        int64_t d = lorder[i];
        sizes[i] = summed[d] ? 1 : i < g.nboth + g.nleft ? left->sizes[d] : right->sizes[d];
        back[d] = i;
    }
    TSR_TRY(permuted_3d(&l3, left, lorder, g.both_size, g.left_size, g.sum_size));
    TSR_TRY(permuted_3d(&r3, right, rorder, g.both_size, g.sum_size, g.right_size));
    TSR_TRY(tsr_invoke_new(&product, 1, "bmm", "tt", l3, r3));
    tsr_layout_contiguous_strides(strides, n, sizes);
    for (int d = 0; d < n; d++) osizes[d] = sizes[back[d]], ostrides[d] = strides[back[d]];
    TSR_TRY(tsr_tensor_set_geometry(product, (TsrGeometry){n, osizes, ostrides, 0}));
    *out = tsr_owned_take(&product);
    return TSR_OK;
}

/* ---- einsum ---- */

typedef struct Einsum {
    const char *equation;
    int noperands;
    int labels[MAX_OPERANDS][TSR_MAX_DIMS + 1], nlabels[MAX_OPERANDS];
    int count[LABELS]; /* occurrences of a label over the operands */
    bool has_ellipsis;
    int ellipsis_ndim;                 /* the widest */
    int position[LABELS], ellipsis_at; /* of each label in the aligned operands; -1 */
    int ndim_out, ndim;                /* aligned dimensions: output's first, then the contracted ones */
    int64_t size[LABELS], ellipsis_size[TSR_MAX_DIMS];
    int users[TSR_MAX_DIMS]; /* operands still to come in which an aligned dimension is not 1 */
} Einsum;

static int label_of(char c) { return isupper((unsigned char)c) ? c - 'A' : c - 'a' + 26; }
static char label_name(int label) { return (char)(label < 26 ? label + 'A' : label - 26 + 'a'); }

static TsrStatus parse_operands(Einsum *e, int n) {
    const char *p = e->equation, *arrow = strstr(p, "->");
    size_t end = arrow != NULL ? (size_t)(arrow - p) : strlen(p);
    bool found = false;
    int op = 0;
    for (size_t i = 0; i < end; i++) {
        char ch = p[i];
        if (ch == ' ') continue;
        if (ch == ',') {
            if (++op >= n)
                return tsr_error(TSR_RUNTIME_ERROR,
                                 "einsum(): fewer operands were provided than specified in the equation");
            found = false;
            continue;
        }
        if (ch == '.') {
            if (found)
                return tsr_error(TSR_RUNTIME_ERROR,
                                 "einsum(): found '.' for operand %d for which an ellipsis was already found", op);
            if (strncmp(p + i, "...", 3) != 0 || i + 2 >= end)
                return tsr_error(TSR_RUNTIME_ERROR,
                                 "einsum(): found '.' for operand %d that is not part of any ellipsis", op);
            i += 2;
            found = e->has_ellipsis = true;
        } else if (!isalpha((unsigned char)ch)) {
            return tsr_error(
                TSR_RUNTIME_ERROR,
                "einsum(): invalid subscript given at index %zu in the equation string, subscripts must be in [a-zA-Z]",
                i);
        }
        if (e->nlabels[op] > TSR_MAX_DIMS)
            return tsr_error(TSR_RUNTIME_ERROR, "einsum(): too many subscripts for operand %d", op);
        int label = ch == '.' ? ELLIPSIS : label_of(ch);
        e->labels[op][e->nlabels[op]++] = label;
        if (label != ELLIPSIS) e->count[label]++;
    }
    if (op != n - 1)
        return tsr_error(TSR_RUNTIME_ERROR, "einsum(): more operands were provided than specified in the equation");
    return TSR_OK;
}

static TsrStatus check_ranks(Einsum *e, TsrTensor *const *t) {
    for (int i = 0; i < e->noperands; i++) {
        bool ellipsis = false;
        int n = e->nlabels[i], d = tsr_ndim(t[i]);
        for (int k = 0; k < n; k++) ellipsis |= e->labels[i][k] == ELLIPSIS;
        if (ellipsis && d < n - 1)
            return tsr_error(
                TSR_RUNTIME_ERROR,
                "einsum(): the number of subscripts in the equation (%d) is more than the number of dimensions (%d) "
                "for operand %d",
                n - 1, d, i);
        if (!ellipsis && d != n)
            return tsr_error(
                TSR_RUNTIME_ERROR,
                "einsum(): the number of subscripts in the equation (%d) does not match the number of dimensions "
                "(%d) for operand %d and no ellipsis was given",
                n, d, i);
        if (ellipsis) e->ellipsis_ndim = TSR_MAX(e->ellipsis_ndim, d - (n - 1));
    }
    return TSR_OK;
}

static TsrStatus place_implicit(Einsum *e, int *at) {
    e->ellipsis_at = 0;
    *at = e->ellipsis_ndim;
    for (int label = 0; label < LABELS; label++)
        if (e->count[label] == 1) e->position[label] = (*at)++;
    return TSR_OK;
}

static TsrStatus place_explicit(Einsum *e, const char *rhs, int *at, bool *ellipsis) {
    for (size_t i = 0; rhs[i] != '\0'; i++) {
        char ch = rhs[i];
        if (ch == ' ') continue;
        if (ch == '.') {
            if (*ellipsis)
                return tsr_error(TSR_RUNTIME_ERROR,
                                 "einsum(): found '.' for output but an ellipsis (...) was already found");
            if (strncmp(rhs + i, "...", 3) != 0)
                return tsr_error(TSR_RUNTIME_ERROR,
                                 "einsum(): found '.' for output that is not part of any ellipsis (...)");
            i += 2;
            e->ellipsis_at = *at;
            *at += e->ellipsis_ndim;
            *ellipsis = true;
            continue;
        }
        if (!isalpha((unsigned char)ch))
            return tsr_error(
                TSR_RUNTIME_ERROR,
                "einsum(): invalid subscript given at index %zu in the equation string, subscripts must be in [a-zA-Z]",
                (size_t)(rhs - e->equation) + i);
        int label = label_of(ch);
        if (e->count[label] == 0)
            return tsr_error(TSR_RUNTIME_ERROR,
                             "einsum(): output subscript %c does not appear in the equation for any input operand", ch);
        if (e->position[label] >= 0)
            return tsr_error(TSR_RUNTIME_ERROR, "einsum(): output subscript %c appears more than once in the output",
                             ch);
        e->position[label] = (*at)++;
    }
    return TSR_OK;
}

static TsrStatus place_labels(Einsum *e) {
    const char *arrow = strstr(e->equation, "->");
    bool ellipsis = arrow == NULL;
    int at = 0;
    for (int label = 0; label < LABELS; label++) e->position[label] = -1, e->size[label] = 1;
    for (int k = 0; k < TSR_MAX_DIMS; k++) e->ellipsis_size[k] = 1;
    if (e->ellipsis_ndim > TSR_MAX_DIMS - 1) return tsr_error(TSR_RUNTIME_ERROR, "einsum(): too many dimensions");
    if (arrow == NULL) TSR_TRY(place_implicit(e, &at));
    else TSR_TRY(place_explicit(e, arrow + 2, &at, &ellipsis));
    e->ndim_out = at;
    if (e->has_ellipsis && !ellipsis) {
        e->ellipsis_at = at;
        at += e->ellipsis_ndim;
    }
    for (int label = 0; label < LABELS; label++)
        if (e->count[label] > 0 && e->position[label] < 0) e->position[label] = at++;
    e->ndim = at;
    return at <= TSR_MAX_DIMS ? TSR_OK : tsr_error(TSR_RUNTIME_ERROR, "einsum(): too many dimensions");
}

/* A label that stands again for this operand: its two dimensions become their diagonal. */
static TsrStatus take_diagonal(TsrTensor **slot, int first, int second, int label, int op) {
    int64_t sa = (*slot)->sizes[second], sb = (*slot)->sizes[first], strides[TSR_MAX_DIMS], sizes[TSR_MAX_DIMS];
    if (sa != sb)
        return tsr_error(TSR_RUNTIME_ERROR,
                         "einsum(): subscript %c is repeated for operand %d but the sizes don't match, %lld != %lld",
                         label_name(label), op, (long long)sa, (long long)sb);
    TsrTensor *t = *slot, *r = NULL;
    int n = 0;
    for (int d = 0; d < tsr_ndim(t); d++) {
        if (d == second) continue;
        sizes[n] = t->sizes[d];
        strides[n++] = t->strides[d] + (d == first ? t->strides[second] : 0);
    }
    TSR_TRY(tsr_tensor_new_view(&r, t, &(TsrGeometry){n, sizes, strides, t->offset}, "einsum"));
    tsr_owned_put_move(slot, r);
    return TSR_OK;
}

static TsrStatus note_size(int64_t *known, int64_t size, const char *what, int op) {
    if (*known != 1 && *known != size)
        return tsr_error(
            TSR_RUNTIME_ERROR,
            "einsum(): %s has size %lld for operand %d which does not broadcast with previously seen size %lld", what,
            (long long)size, op, (long long)*known);
    *known = size;
    return TSR_OK;
}

/* *slot becomes the operand with every label's dimension in its place (size 1 where it has none). */
static TsrStatus align(Einsum *e, TsrTensor **slot, int op) {
    int64_t order[TSR_MAX_DIMS], seen[LABELS], sizes[TSR_MAX_DIMS], strides[TSR_MAX_DIMS];
    int j = 0;
    for (int d = 0; d < e->ndim; d++) order[d] = -1;
    for (int label = 0; label < LABELS; label++) seen[label] = -1;
    for (int k = 0; k < e->nlabels[op]; k++) {
        int label = e->labels[op][k];
        if (label == ELLIPSIS) {
            int own = tsr_ndim(*slot) - (j + e->nlabels[op] - k - 1);
            for (int m = e->ellipsis_ndim - own; m < e->ellipsis_ndim; m++, j++) {
                if ((*slot)->sizes[j] != 1) {
                    TSR_TRY(note_size(&e->ellipsis_size[m], (*slot)->sizes[j], "dimension covered by ellipsis", op));
                    e->users[e->ellipsis_at + m]++;
                }
                order[e->ellipsis_at + m] = j;
            }
        } else if (seen[label] < 0) {
            char what[16] = "subscript ?";
            what[10] = label_name(label);
            seen[label] = j;
            if ((*slot)->sizes[j] != 1) {
                TSR_TRY(note_size(&e->size[label], (*slot)->sizes[j], what, op));
                e->users[e->position[label]]++;
            }
            order[e->position[label]] = j++;
        } else {
            TSR_TRY(take_diagonal(slot, (int)seen[label], j, label, op));
        }
    }
    for (int d = 0; d < e->ndim; d++) {
        sizes[d] = order[d] < 0 ? 1 : (*slot)->sizes[order[d]];
        strides[d] = order[d] < 0 ? 1 : (*slot)->strides[order[d]];
    }
    TsrTensor *r = NULL;
    TSR_TRY(tsr_tensor_new_view(&r, *slot, &(TsrGeometry){e->ndim, sizes, strides, (*slot)->offset}, "einsum"));
    tsr_owned_put_move(slot, r);
    return TSR_OK;
}

/* *acc takes in the next operand; dimensions that no later operand has are summed now. */
static TsrStatus contract(Einsum *e, TsrTensor **acc, TsrTensor **next) {
    bool summed[TSR_MAX_DIMS] = {false};
    int64_t left[TSR_MAX_DIMS], right[TSR_MAX_DIMS];
    int nsummed = 0, nleft = 0, nright = 0;
    for (int d = e->ndim_out; d < e->ndim; d++) {
        int64_t sa = (*acc)->sizes[d], sb = (*next)->sizes[d];
        if (sa != 1 && sb != 1) {
            if (--e->users[d] == 1) summed[d] = true, nsummed++, e->users[d] = 0;
        } else if (e->users[d] == 1) {
            if (sa != 1) left[nleft++] = d, e->users[d] = 0;
            else if (sb != 1) right[nright++] = d, e->users[d] = 0;
        }
    }
    for (int i = 0; i < nleft; i++) TSR_TRY(sum_dim(acc, left[i], TSR_DTYPE_NONE));
    for (int i = 0; i < nright; i++) TSR_TRY(sum_dim(next, right[i], TSR_DTYPE_NONE));
    TsrTensor *r = NULL;
    TSR_TRY(sum_product(&r, *acc, *next, summed, nsummed));
    tsr_owned_put_move(acc, r);
    return TSR_OK;
}

static TsrStatus sum_out(Einsum *e, TsrTensor **acc) {
    int n = e->ndim - e->ndim_out;
    if (n == 0) return TSR_OK;
    TsrTensor *r = NULL;
    if (e->noperands > 1) { /* summed along the way: sizes are 1 now */
        TSR_TRY(tsr_tensor_new_reshaped_view(&r, *acc, e->ndim_out, (*acc)->sizes));
    } else {
        int64_t dims[TSR_MAX_DIMS];
        for (int i = 0; i < n; i++) dims[i] = e->ndim_out + i;
        TSR_TRY(tsr_invoke_new(&r, 1, "sum", "tI", *acc, n, dims));
    }
    tsr_owned_put_move(acc, r);
    return TSR_OK;
}

static TsrStatus einsum_run(TsrTensor **out, Einsum *e, TsrTensor *const *t) {
    TSR_OWNED acc = NULL;
    TsrTensor *list[MAX_OPERANDS] = {NULL};
    TsrStatus s = TSR_OK;
    for (int i = 0; i < e->noperands && s == TSR_OK; i++) {
        list[i] = tsr_tensor_retain(t[i]);
        s = align(e, &list[i], i);
    }
    acc = list[0];
    list[0] = NULL;
    for (int i = 1; i < e->noperands && s == TSR_OK; i++) s = contract(e, &acc, &list[i]);
    for (int i = 1; i < e->noperands; i++) tsr_tensor_free(list[i]);
    if (s == TSR_OK) s = sum_out(e, &acc);
    if (s == TSR_OK) *out = tsr_owned_take(&acc);
    return s;
}

static TsrStatus einsum(TsrTensor **out, const char *equation, TsrTensor *const *t, int n) {
    if (n == 0)
        return tsr_error(
            TSR_VALUE_ERROR,
            "einsum(): must specify the equation string and at least one operand, or at least one operand and its "
            "subscripts list");
    if (n > MAX_OPERANDS) return tsr_error(TSR_RUNTIME_ERROR, "einsum(): more than %d operands", MAX_OPERANDS);
    Einsum *e = tsr_calloc(1, sizeof *e);
    if (e == NULL) return tsr_error_no_memory(sizeof *e);
    e->equation = equation;
    e->noperands = n;
    TsrStatus s = parse_operands(e, n);
    if (s == TSR_OK) s = check_ranks(e, t);
    if (s == TSR_OK) s = place_labels(e);
    if (s == TSR_OK) s = einsum_run(out, e, t);
    tsr_free(e);
    return s;
}

TsrStatus op_einsum(TsrOpCall *c) {
    TsrTensor *r = NULL;
    return tsr_finish_move(c, einsum(&r, c->arg[0].str, c->arg[1].tensors, c->arg[1].n), r);
}

/* ---- tensordot, inner, kron ---- */

/* The dimensions to contract, of the one and of the other. */
typedef struct Contraction {
    int n;
    int64_t *a, *b;
} Contraction;

/* The order in which one side's dimensions are taken, and of those that stay how many they are, and elements. */
typedef struct Side {
    int64_t order[TSR_MAX_DIMS], size;
    int kept;
} Side;

static TsrStatus side_of(Side *side, const TsrTensor *t, const int64_t *dims, int n, bool dims_first) {
    bool used[TSR_MAX_DIMS] = {false};
    int at = 0;
    side->size = 1;
    for (int i = 0; i < n; i++) {
        if (used[dims[i]])
            return tsr_error(TSR_RUNTIME_ERROR, "dim %lld appears multiple times in the list of dims",
                             (long long)dims[i]);
        used[dims[i]] = true;
    }
    if (dims_first)
        for (int i = 0; i < n; i++) side->order[at++] = dims[i];
    for (int d = 0; d < tsr_ndim(t); d++)
        if (!used[d]) side->order[at++] = d, side->size *= t->sizes[d];
    side->kept = tsr_ndim(t) - n;
    if (!dims_first)
        for (int i = 0; i < n; i++) side->order[at++] = dims[i];
    return TSR_OK;
}

/* Wraps a pair of dimensions to contract, and sums over one that meets a dimension of size 1; *common is multiplied by
 * what else there is to contract. */
static TsrStatus meet(TsrTensor **a, TsrTensor **b, int64_t *da, int64_t *db, int64_t *common) {
    int64_t na = *da, nb = *db;
    TSR_TRY(tsr_wrap_own_dim(da, tsr_ndim(*a)));
    TSR_TRY(tsr_wrap_own_dim(db, tsr_ndim(*b)));
    int64_t sa = (*a)->sizes[*da], sb = (*b)->sizes[*db];
    if (sb == 1) return sum_dim(a, *da, (*a)->dtype); /* of one element, too: PyTorch asks for its dtype */
    if (sa == 1) return sum_dim(b, *db, (*b)->dtype);
    *common *= sa;
    if (sa == sb) return TSR_OK;
    return tsr_error(TSR_RUNTIME_ERROR,
                     "contracted dimensions need to match, but first has size %lld in dim %lld and second has size "
                     "%lld in dim %lld",
                     (long long)sa, (long long)na, (long long)sb, (long long)nb);
}

/* All dimensions of both summed over: the dot product where nothing had to be moved, else the products, rounded, and
 * their sum. */
static TsrStatus full_contraction(TsrTensor **out, const TsrTensor *a, const TsrTensor *b, int64_t n) {
    TSR_OWNED x = NULL;
    TSR_OWNED y = NULL;
    TSR_OWNED product = NULL;
    bool in_place = tsr_is_contiguous(a, TSR_CONTIGUOUS) && tsr_is_contiguous(b, TSR_CONTIGUOUS);
    TSR_TRY(tsr_tensor_new_reshape(&x, a, 1, &n));
    TSR_TRY(tsr_tensor_new_reshape(&y, b, 1, &n));
    if (in_place || a->dtype != b->dtype) return tsr_matmul_new(out, x, y);
    TSR_TRY(tsr_invoke_new(&product, 1, "mul", "tt", x, y));
    return tsr_invoke_new(out, 1, "sum", "tnbd", product, 0, (int)a->dtype);
}

static TsrStatus tensordot(TsrTensor **out, const TsrTensor *a0, const TsrTensor *b0, Contraction dims) {
    if (a0->dtype != b0->dtype) return tsr_error(TSR_RUNTIME_ERROR, "both inputs should have same dtype");
    TSR_OWNED a = tsr_tensor_retain((TsrTensor *)a0);
    TSR_OWNED b = tsr_tensor_retain((TsrTensor *)b0);
    TSR_OWNED ap = NULL;
    TSR_OWNED bp = NULL;
    TSR_OWNED a2 = NULL;
    TSR_OWNED b2 = NULL;
    TSR_OWNED product = NULL;
    int64_t common = 1, sizes[2 * TSR_MAX_DIMS];
    Side left, right;
    int k = 0;
    for (int i = 0; i < dims.n; i++) TSR_TRY(meet(&a, &b, &dims.a[i], &dims.b[i], &common));
    TSR_TRY(side_of(&left, a, dims.a, dims.n, false));
    TSR_TRY(side_of(&right, b, dims.b, dims.n, true));
    TSR_TRY(tsr_tensor_new_permute(&ap, a, tsr_ndim(a), left.order));
    TSR_TRY(tsr_tensor_new_permute(&bp, b, tsr_ndim(b), right.order));
    if (left.size == 1 && right.size == 1) {
        TSR_TRY(full_contraction(&product, ap, bp, common));
    } else {
        TSR_TRY(tsr_tensor_new_reshape(&a2, ap, 2, (int64_t[]){left.size, common}));
        TSR_TRY(tsr_tensor_new_reshape(&b2, bp, 2, (int64_t[]){common, right.size}));
        TSR_TRY(tsr_matmul_new(&product, a2, b2));
    }
    for (int i = 0; i < left.kept; i++) sizes[k++] = a->sizes[left.order[i]];
    for (int i = 0; i < right.kept; i++) sizes[k++] = b->sizes[right.order[dims.n + i]];
    if (k > TSR_MAX_DIMS) return tsr_error(TSR_RUNTIME_ERROR, "tensordot: too many dimensions");
    return tsr_tensor_new_reshape(out, product, k, sizes);
}

/* An out= is looked at when the result is there. */
static TsrStatus return_contraction(TsrOpCall *c, const TsrTensor *a, const TsrTensor *b, Contraction dims) {
    TSR_OWNED r = NULL;
    TSR_TRY(tensordot(&r, a, b, dims));
    if (c->out[0] != NULL && c->out[0]->dtype != r->dtype)
        return tsr_error(
            TSR_RUNTIME_ERROR,
            "tensordot: Expected the output tensor to have dtype %s, but got an output tensor with dtype %s",
            tsr_dtype_scalar_name(r->dtype), tsr_dtype_scalar_name(c->out[0]->dtype));
    return tsr_return_move(c, tsr_owned_take(&r));
}

static TsrStatus check_chain_out(const TsrOpCall *c, TsrDtype dtype) {
    if (c->out[0] == NULL || c->out[0]->dtype == dtype) return TSR_OK;
    return tsr_error(TSR_RUNTIME_ERROR, "multi_dot(): expected out tensor to have dtype %s but got %s",
                     tsr_dtype_c_name(dtype), tsr_dtype_c_name(c->out[0]->dtype));
}

/* (self, other, dims_self, dims_other) */
TsrStatus op_tensordot(TsrOpCall *c) {
    int64_t da[TSR_MAX_DIMS], db[TSR_MAX_DIMS];
    int n = c->arg[2].n, m = c->arg[3].n;
    if (n > TSR_MAX_DIMS || m > TSR_MAX_DIMS) return tsr_error(TSR_RUNTIME_ERROR, "tensordot: too many dimensions");
    memcpy(da, c->arg[2].ints, sizeof(int64_t) * (size_t)n);
    memcpy(db, c->arg[3].ints, sizeof(int64_t) * (size_t)m);
    if (n != m) return tsr_error(TSR_RUNTIME_ERROR, "both dimension lists should have same length");
    return return_contraction(c, c->arg[0].t, c->arg[1].t, (Contraction){n, da, db});
}

TsrStatus op_inner(TsrOpCall *c) {
    const TsrTensor *a = c->arg[0].t, *b = c->arg[1].t;
    TsrTensor *r = NULL;
    int da = tsr_ndim(a), db = tsr_ndim(b);
    if (da == 0 || db == 0) {
        TSR_TRY(tsr_check_out_overlap(c->out[0], NULL)); /* before its dtype is looked at */
        return tsr_finish_move(c, tsr_invoke_new(&r, 1, "mul", "tt", a, b), r);
    }
    if (a->sizes[da - 1] != b->sizes[db - 1]) {
        return tsr_error(TSR_RUNTIME_ERROR,
                         "inner() the last dimension must match on both input tensors but got shapes %s and %s",
                         tsr_layout_text(da, a->sizes), tsr_layout_text(db, b->sizes));
    }
    if (a->dtype != b->dtype) return tsr_error(TSR_RUNTIME_ERROR, "both inputs should have same dtype");
    return return_contraction(c, a, b, (Contraction){1, (int64_t[]){da - 1}, (int64_t[]){db - 1}});
}

/* From how many rows of each factor, and up to which length of the second one's rows, a row of the result is multiplied
 * as a whole: each row of the first factor with every element repeated, by each row of the second repeated as a whole.
 * (100, 100) by (10, 10) floats, CPU time (Zen 5): 620 us by runs of 10, 178 us so. */
enum { KRON_ROWS = 4, KRON_SHORT = 256 };

static bool kron_by_rows(const TsrTensor *a, const TsrTensor *b, int n, const int64_t *sa, const int64_t *sb) {
    if (n == 0 || a->numel == 0 || b->numel == 0) return false;
    int64_t width = sa[2 * n - 2], length = sb[2 * n - 1];
    return width > 1 && length < KRON_SHORT && a->numel / width >= KRON_ROWS && b->numel / length >= KRON_ROWS &&
           !tsr_dtype_is_complex(a->dtype) && !tsr_dtype_is_complex(b->dtype) && tsr_is_contiguous(a, TSR_CONTIGUOUS) &&
           tsr_is_contiguous(b, TSR_CONTIGUOUS);
}

/* The factor's rows as the result's are: its last two dimensions, width by length, in one. */
static TsrStatus kron_rows_new(TsrTensor **out, const TsrTensor *factor, int64_t width, int64_t length) {
    TSR_OWNED wide = NULL;
    TSR_OWNED rows = NULL;
    int last = tsr_ndim(factor) - 1;
    int64_t sizes[TSR_MAX_DIMS];
    memcpy(sizes, factor->sizes, sizeof(int64_t) * (size_t)(last + 1));
    sizes[last - 1] = width, sizes[last] = length;
    TSR_TRY(tsr_tensor_new_expand(&wide, factor, last + 1, sizes));
    TSR_TRY(tsr_tensor_new_contiguous(&rows, wide, TSR_CONTIGUOUS));
    sizes[last - 1] = width * length;
    return tsr_tensor_new_reshape(out, rows, last, sizes);
}

static TsrStatus kron_by_rows_new(TsrTensor **out, const TsrTensor *a, const TsrTensor *b) {
    TSR_OWNED x = NULL;
    TSR_OWNED y = NULL;
    int64_t width = a->sizes[tsr_ndim(a) - 2], length = b->sizes[tsr_ndim(b) - 1];
    TSR_TRY(kron_rows_new(&x, a, width, length));
    TSR_TRY(kron_rows_new(&y, b, width, length));
    return tsr_invoke_new(out, 1, "mul", "tt", x, y);
}

/* A factor with gaps between its elements, without: the product lies no differently, while its dimensions' order is
 * kept. */
static TsrStatus without_gaps_new(TsrTensor **out, TsrTensor *t) {
    bool in_order = true;
    for (int d = 0; d < tsr_ndim(t); d++)
        in_order = in_order && t->strides[d] > 0 && (d == 0 || t->strides[d] <= t->strides[d - 1]);
    if (in_order) return tsr_tensor_new_contiguous(out, t, TSR_CONTIGUOUS);
    *out = tsr_tensor_retain(t);
    return TSR_OK;
}

/* PyTorch multiplies into a view of out=, of factors' sizes: what shares memory with it is refused before dtypes are.
 */
static TsrStatus check_kron_out(const TsrOpCall *c, int n, const int64_t *sa, const int64_t *sb, const TsrTensor *av,
                                const TsrTensor *bv) {
    TSR_OWNED view = NULL;
    int64_t sizes[TSR_MAX_DIMS];
    const TsrTensor *out = c->out[0];
    if (out == NULL) return TSR_OK;
    bool fits = tsr_ndim(out) == n;
    for (int i = 0; i < n && fits; i++) fits = out->sizes[i] == sa[2 * i] * sb[2 * i + 1];
    if (!fits) TSR_TRY(tsr_check_no_overlap(out, av)); /* of what is resized first */
    if (!fits) return tsr_check_no_overlap(out, bv);
    for (int i = 0; i < 2 * n; i++) sizes[i] = sa[i] * sb[i];
    TSR_TRY(tsr_tensor_new_reshaped_view(&view, out, 2 * n, sizes));
    TSR_TRY(tsr_check_out_overlap(view, NULL));
    TSR_TRY(tsr_iter_check_partial_overlap(view, av));
    return tsr_iter_check_partial_overlap(view, bv);
}

TsrStatus op_kron(TsrOpCall *c) {
    TSR_OWNED a = NULL;
    TSR_OWNED b = NULL;
    TSR_OWNED av = NULL;
    TSR_OWNED bv = NULL;
    TSR_OWNED product = NULL;
    TSR_OWNED shaped = NULL;
    TSR_TRY(without_gaps_new(&a, c->arg[0].t));
    TSR_TRY(without_gaps_new(&b, c->arg[1].t));
    int n = TSR_MAX(tsr_ndim(a), tsr_ndim(b)), pa = n - tsr_ndim(a), pb = n - tsr_ndim(b);
    int64_t sa[TSR_MAX_DIMS], sb[TSR_MAX_DIMS], sizes[TSR_MAX_DIMS];
    if (2 * n > TSR_MAX_DIMS) return tsr_error(TSR_RUNTIME_ERROR, "kron: too many dimensions");
    for (int i = 0; i < n; i++) {
        sa[2 * i] = i >= pa ? a->sizes[i - pa] : 1, sa[2 * i + 1] = 1;
        sb[2 * i] = 1, sb[2 * i + 1] = i >= pb ? b->sizes[i - pb] : 1;
        sizes[i] = sa[2 * i] * sb[2 * i + 1];
    }
    TSR_TRY(tsr_tensor_new_reshape(&av, a, 2 * n, sa));
    TSR_TRY(tsr_tensor_new_reshape(&bv, b, 2 * n, sb));
    TSR_TRY(check_kron_out(c, n, sa, sb, av, bv));
    if (kron_by_rows(a, b, n, sa, sb)) TSR_TRY(kron_by_rows_new(&product, av, bv));
    else TSR_TRY(tsr_invoke_new(&product, 1, "mul", "tt", av, bv));
    /* The product lies as its factors do, and may then have no such view; PyTorch writes an out= through a view of it.
     */
    if (c->out[0] != NULL)
        return tsr_finish_move(c, tsr_tensor_new_reshape(&shaped, product, n, sizes), tsr_owned_take(&shaped));
    TSR_TRY(tsr_tensor_new_reshaped_view(&shaped, product, n, sizes));
    TSR_TRY(tsr_tensor_set_geometry(product, tsr_tensor_geometry(shaped)));
    return tsr_return_move(c, tsr_owned_take(&product));
}

/* ---- chains ---- */

static TsrStatus check_chain(TsrTensor *const *t, int n) {
    for (int i = 0; i < n; i++) {
        int d = tsr_ndim(t[i]);
        if ((i == 0 || i == n - 1) && d != 1 && d != 2)
            return tsr_error(TSR_RUNTIME_ERROR, "multi_dot(): the %s tensor must be 1D or 2D but got %dD",
                             i == 0 ? "first" : "last", d);
    }
    for (int i = 1; i < n - 1; i++)
        if (tsr_ndim(t[i]) != 2)
            return tsr_error(TSR_RUNTIME_ERROR, "multi_dot(): tensor %d must be 2D but got %dD", i, tsr_ndim(t[i]));
    for (int i = 1; i < n; i++)
        if (t[i]->dtype != t[0]->dtype)
            return tsr_error(TSR_RUNTIME_ERROR,
                             "multi_dot(): all tensors must have be the same dtype but tensor 0 is %s and tensor %d %s",
                             tsr_dtype_c_name(t[0]->dtype), i, tsr_dtype_c_name(t[i]->dtype));
    for (int i = 0; i + 1 < n; i++) {
        int d = tsr_ndim(t[i]);
        if (t[i]->sizes[d - 1] == t[i + 1]->sizes[0]) continue;
        return tsr_error(TSR_RUNTIME_ERROR, "multi_dot(): tensors %d and %d with shapes %s and %s cannot be multiplied",
                         i, i + 1, tsr_layout_text(d, t[i]->sizes), tsr_sizes_text(t[i + 1]));
    }
    return TSR_OK;
}

/* The plan for a chain of n tensors: [i * n + j] speaks of tensors i to j. */
typedef struct Chain {
    int n;
    double *dim, *cost;
    int *split;
} Chain;

static void chain_free(Chain *plan) {
    tsr_free(plan->dim);
    tsr_free(plan->cost);
    tsr_free(plan->split);
}

static TsrStatus chain_new(Chain *plan, TsrTensor *const *t, int n) {
    size_t cells = (size_t)n * (size_t)n;
    *plan = (Chain){.n = n,
                    .dim = tsr_calloc((size_t)n + 1, sizeof(double)),
                    .cost = tsr_calloc(cells, sizeof(double)),
                    .split = tsr_calloc(cells, sizeof(int))};
    if (plan->dim == NULL || plan->cost == NULL || plan->split == NULL)
        return tsr_error_no_memory(cells * sizeof(double));
    for (int i = 0; i < n; i++) plan->dim[i] = tsr_ndim(t[i]) == 1 && i == 0 ? 1 : (double)t[i]->sizes[0];
    plan->dim[n] = tsr_ndim(t[n - 1]) == 1 ? 1 : (double)t[n - 1]->sizes[1];
    return TSR_OK;
}

/* Where to split each run of the chain for the fewest multiplications (Cormen et al., Introduction to
 * Algorithms, 15.2). */
static TsrStatus plan_chain(Chain *plan) {
    int n = plan->n;
    double *cost = plan->cost;
    const double *dim = plan->dim;
    for (int len = 1; len < n; len++) {
        TSR_TRY(tsr_interrupt_check());
        for (int i = 0; i + len < n; i++) {
            int j = i + len, at = i * n + j;
            cost[at] = INFINITY;
            for (int k = i; k < j; k++) {
                double c = cost[i * n + k] + cost[(k + 1) * n + j] + dim[i] * dim[k + 1] * dim[j + 1];
                bool better = c < cost[at] || (n == 3 && c == cost[at]); /* of three, PyTorch begins at the left */
                if (better) cost[at] = c, plan->split[at] = k;
            }
        }
    }
    return TSR_OK;
}

static TsrStatus run_chain(TsrTensor **out, const Chain *plan, TsrTensor *const *t, int i, int j) {
    if (i == j) {
        *out = tsr_tensor_retain(t[i]);
        return TSR_OK;
    }
    TSR_OWNED left = NULL;
    TSR_OWNED right = NULL;
    int split = plan->split[i * plan->n + j];
    TSR_TRY(run_chain(&left, plan, t, i, split));
    TSR_TRY(run_chain(&right, plan, t, split + 1, j));
    return tsr_matmul_new(out, left, right);
}

enum { MAX_CHAIN = 4096 }; /* the plan of more would take gigabytes, and hours */

static TsrStatus multi_dot(TsrTensor **out, const TsrOpCall *c, TsrTensor *const *t, int n) {
    if (n < 2) return tsr_error(TSR_RUNTIME_ERROR, "multi_dot(): expected at least 2 tensors but got %d", n);
    TSR_TRY(check_chain(t, n));
    TSR_TRY(check_chain_out(c, t[0]->dtype));
    if (n > MAX_CHAIN) return tsr_error(TSR_RUNTIME_ERROR, "multi_dot(): more than %d tensors", MAX_CHAIN);
    Chain plan;
    TsrStatus s = chain_new(&plan, t, n);
    if (s == TSR_OK) s = plan_chain(&plan);
    if (s == TSR_OK) s = run_chain(out, &plan, t, 0, n - 1);
    chain_free(&plan);
    return s;
}

TsrStatus op_multi_dot(TsrOpCall *c) {
    TsrTensor *r = NULL;
    return tsr_finish_move(c, multi_dot(&r, c, c->arg[0].tensors, c->arg[0].n), r);
}

static TsrStatus chain_matmul(TsrOpCall *c, TsrTensor *const *t, int n) {
    TsrTensor *r = NULL;
    for (int i = 0; i < n; i++)
        if (tsr_ndim(t[i]) != 2)
            return tsr_error(TSR_RUNTIME_ERROR, "Tensor dimension is %d, expected 2 instead.", tsr_ndim(t[i]));
    if (n == 0) return tsr_error(TSR_RUNTIME_ERROR, "chain_matmul(): Expected one or more matrices");
    if (n == 1) return tsr_return_move(c, tsr_tensor_retain(t[0]));
    return tsr_finish_move(c, multi_dot(&r, c, t, n), r);
}

TsrStatus op_chain_matmul(TsrOpCall *c) { return chain_matmul(c, c->arg[0].tensors, c->arg[0].n); }
