/* math.c: sparse tensors element by element (zero stays zero), their sums, norms and softmax: what the rows' columns
 * `.sparse` name.
 *
 * A function of one tensor that keeps zero is the dense operator on the values of the coalesced tensor. Adding two
 * coalesced ones merges their sorted positions, as a merge sort does; multiplying intersects them; a dense factor is
 * gathered at the entries. A sum over sparse dimensions drops rows of the indices and coalesces again. softmax along a
 * sparse dimension groups the entries that agree in all other coordinates; what is not stored counts as -inf. */
#include <string.h>

#include "core/promote.h"
#include "sparse.h"
#include "there.h"
#include "core/op/sparse.h"
#include "core/ops/reduce/reduce.h"

#define SELF (c->arg[0].t)

/* ---- element by element, zero staying zero ---- */

/* The row's own operator on the stored values. */
static TsrStatus on_values(TsrTensor **out, const TsrOpCall *c, TsrTensor *values) {
    TsrArg args[TSR_MAX_ARGS];
    TsrOpCall dense = {.op = c->op, .schema = c->schema, .arg = args, .nargs = c->nargs};
    memcpy(args, c->arg, sizeof *args * (size_t)c->nargs);
    args[0].t = values;
    TSR_TRY(tsr_op_run(&dense));
    *out = dense.ret[0].t;
    return TSR_OK;
}

static TsrStatus map_values(TsrOpCall *c, bool coalesce) {
    TsrScope s = {0};
    TsrTensor *t = coalesce && tsr_is_coo(SELF) ? MAKE(&s, tsr_sparse_coalesce_new, SELF) : SELF;
    TsrTensor *values = s.status == TSR_OK ? MAKE(&s, on_values, c, t->sparse->values) : NULL;
    return tsr_scope_return(c, &s, MAKE(&s, tsr_sparse_with_values_new, t, values));
}

TsrStatus sp_unary(TsrOpCall *c) { return map_values(c, true); }
TsrStatus sp_linear(TsrOpCall *c) { return map_values(c, false); }

TsrStatus sp_pow(TsrOpCall *c) {
    const TsrTensor *sparse = c->arg[0].kind == TSR_ARG_TENSOR && tsr_is_sparse(SELF) ? SELF : c->arg[1].t;
    return c->arg[1].kind == TSR_ARG_SCALAR && tsr_is_coo(sparse) ? map_values(c, true)
                                                                  : tsr_refuse_backend("pow", sparse);
}

/* ---- adding ---- */

static TsrStatus same_sizes_to_add(const TsrTensor *a, const TsrTensor *b, bool mixed) {
    const char *dense = tsr_is_compressed(b) ? "op2" : "dense";
    if (tsr_same_sizes(a, b)) return TSR_OK;
    if (mixed)
        return tsr_error(
            TSR_RUNTIME_ERROR,
            "add: expected 'self' and 'other' to have same size, but self has size %s while other has size %s (FYI: "
            "%s-sparse addition does not currently support "
            "broadcasting)",
            tsr_sizes_text(a), tsr_sizes_text(b), dense);
    return tsr_error(TSR_RUNTIME_ERROR, "add: expected sizes of 'self' and 'other' to match, but %s != %s",
                     tsr_sizes_text(a), tsr_sizes_text(b));
}

static int compare_entries(const TsrEntries *a, int64_t i, const TsrEntries *b, int64_t k, int dims) {
    for (int d = 0; d < dims; d++) {
        int64_t x = a->at[d * a->n + i], y = b->at[d * b->n + k];
        if (x != y) return x < y ? -1 : 1;
    }
    return 0;
}

/* Merges two lists of positions as they come. to_a and to_b receive the place of each entry; indices, of room for all,
 * the merged columns. Returns how many those are. */
static int64_t merge(int64_t *indices, int64_t *to_a, int64_t *to_b, const TsrEntries *a, const TsrEntries *b,
                     int dims) {
    int64_t i = 0, k = 0, n = 0;
    while ((i < a->n || k < b->n) && !tsr_interrupted_at(n)) {
        int order = i == a->n ? 1 : k == b->n ? -1 : compare_entries(a, i, b, k, dims);
        for (int d = 0; d < dims; d++)
            indices[d * (a->n + b->n) + n] = order <= 0 ? a->at[d * a->n + i] : b->at[d * b->n + k];
        if (order <= 0) to_a[i++] = n;
        if (order >= 0) to_b[k++] = n;
        n++;
    }
    return n;
}

/* alpha * the values of b, in the dtype of a sum. */
static TsrTensor *scaled_values(TsrScope *s, TsrTensor *b, TsrScalar alpha, TsrDtype dtype) {
    TsrTensor *values = MAKE(s, tsr_tensor_new_cast, b->sparse->values, dtype);
    bool one = tsr_scalar_to_double(alpha) == 1 && alpha.kind != TSR_SCALAR_COMPLEX;
    return one ? values : CALL(s, "mul", "ts", values, alpha);
}

/* On a device, as PyTorch has it: the entries of a and then those of b. So nobody waits for how many places differ. */
static TsrStatus add_coo_there(TsrTensor **out, TsrTensor *a, TsrTensor *b, TsrScalar alpha, TsrDtype dtype) {
    TsrScope s = {0};
    TsrTensor *indices[2] = {a->sparse->indices, b->sparse->indices};
    TsrTensor *values[2] = {MAKE(&s, tsr_tensor_new_cast, a->sparse->values, dtype),
                            scaled_values(&s, b, alpha, dtype)};
    if (tsr_sparse_nnz(b) == 0) return tsr_scope_end_new(out, &s, MAKE(&s, tsr_sparse_with_values_new, a, values[0]));
    if (tsr_sparse_nnz(a) == 0) return tsr_scope_end_new(out, &s, MAKE(&s, tsr_sparse_with_values_new, b, values[1]));
    TsrTensor *places = CALL(&s, "cat", "Ti", 2, indices, (int64_t)1),
              *all = CALL(&s, "cat", "Ti", 2, values, (int64_t)0);
    TsrTensor *sum = MAKE(&s, tsr_sparse_new, tsr_ndim(a), a->sizes, tsr_coo_parts(places, all, false));
    if (s.status == TSR_OK && tsr_sparse_nnz(sum) > sum->numel) sum = MAKE(&s, tsr_sparse_coalesce_new, sum);
    return tsr_scope_end_new(out, &s, sum);
}

/* The values of a sum whose n places are numbered by the entries of a and b. */
static TsrTensor *added_values(TsrScope *s, TsrTensor *a, TsrTensor *to_a, TsrTensor *b, TsrTensor *to_b, int64_t n) {
    int64_t sizes[TSR_MAX_DIMS + 1];
    if (s->status != TSR_OK) return NULL;
    memcpy(sizes, a->sizes, sizeof *sizes * (size_t)tsr_ndim(a));
    sizes[0] = n;
    TsrTensor *zeros = MAKE(s, tsr_zeros_new, tsr_ndim(a), sizes, a->dtype, a->device);
    TsrTensor *first = CALL(s, "index_copy", "titt", zeros, (int64_t)0, to_a, a);
    return tsr_sparse_add_at(s, first, to_b, b);
}

static TsrStatus check_density(const TsrTensor *a, const TsrTensor *b, TsrDtype dtype) {
    TSR_TRY(same_sizes_to_add(a, b, false));
    if (a->sparse->sparse_dim != b->sparse->sparse_dim)
        return tsr_error(
            TSR_RUNTIME_ERROR,
            "add: expected 'self' and 'other' to have same density, but 'self' has %d sparse dimensions while "
            "'other' has %d sparse dimensions",
            a->sparse->sparse_dim, b->sparse->sparse_dim);
    if (tsr_sparse_nnz(a) == 0 || tsr_sparse_nnz(b) == 0) return TSR_OK;
    return tsr_require(TSR_BITS_INT | TSR_BIT(FLOAT32) | TSR_BIT(FLOAT64) | TSR_BIT(BFLOAT16) | TSR_BITS_COMPLEX, dtype,
                       "cadd_sparse");
}

static TsrStatus add_coo(TsrTensor **out, TsrTensor *a, TsrTensor *b, TsrScalar alpha, TsrDtype dtype) {
    TSR_TRY(check_density(a, b, dtype));
    if (tsr_on_device(a)) return add_coo_there(out, a, b, alpha, dtype);
    TsrScope s = {0};
    int dims = a->sparse->sparse_dim;
    int64_t na = tsr_sparse_nnz(a), nb = tsr_sparse_nnz(b), shape[2] = {dims, na + nb}, n = 0;
    TsrTensor *ia = MAKE(&s, tsr_dense_new, a->sparse->indices, TSR_INT64),
              *ib = MAKE(&s, tsr_dense_new, b->sparse->indices, TSR_INT64);
    TsrTensor *to_a = MAKE(&s, tsr_tensor_new, 1, &na, TSR_INT64, TSR_DEVICE_CPU),
              *to_b = MAKE(&s, tsr_tensor_new, 1, &nb, TSR_INT64, TSR_DEVICE_CPU);
    TsrTensor *room = MAKE(&s, tsr_tensor_new, 2, shape, TSR_INT64, TSR_DEVICE_CPU);
    if (s.status == TSR_OK) s.status = tsr_tensor_check(ia, false);
    if (s.status == TSR_OK) s.status = tsr_tensor_check(ib, false);
    if (s.status == TSR_OK)
        n = merge(tsr_data(room), tsr_data(to_a), tsr_data(to_b), &(TsrEntries){tsr_data(ia), na},
                  &(TsrEntries){tsr_data(ib), nb}, dims);
    if (s.status == TSR_OK) s.status = tsr_interrupt_check(); /* before the places are used */
    TsrTensor *used = SLICE(&s, room, 1, 0, n), *indices = MAKE(&s, tsr_tensor_new_clone, used, TSR_CONTIGUOUS);
    TsrTensor *va = MAKE(&s, tsr_tensor_new_cast, a->sparse->values, dtype), *vb = scaled_values(&s, b, alpha, dtype);
    TsrTensor *values = added_values(&s, va, to_a, vb, to_b, n);
    bool coalesced = (a->flags & b->flags & TSR_FLAG_COALESCED) != 0;
    return tsr_scope_end_new(
        out, &s, MAKE(&s, tsr_sparse_new, tsr_ndim(a), a->sizes, tsr_coo_parts(indices, values, coalesced)));
}

/* a + alpha * b, one of them sparse at least. */
static TsrStatus add_tensors(TsrOpCall *c, TsrTensor *a, TsrTensor *b, TsrScalar alpha, bool subtract) {
    if (tsr_is_coo(a) && !tsr_is_sparse(b))
        return tsr_error(TSR_RUNTIME_ERROR, "add(sparse, dense) is not supported. Use add(dense, sparse) instead.");
    if (tsr_is_compressed(a) && !tsr_is_sparse(b)) {
        TsrTensor *dense = b;
        b = a;
        a = dense;
    }
    if (subtract && (tsr_is_compressed(a) || tsr_is_compressed(b)))
        return tsr_error(TSR_RUNTIME_ERROR, "unsupported tensor layout: %s",
                         tsr_layout_name((tsr_is_compressed(a) ? a : b)->layout));
    TsrScope s = {0};
    TsrDtype dtype = TSR_DTYPE_NONE;
    s.status = tsr_result_type(&dtype, (TsrTensor *[]){a, b}, 2);
    if (!tsr_is_sparse(a)) {
        if (s.status == TSR_OK) s.status = same_sizes_to_add(a, b, true);
        TsrTensor *dense = MAKE(&s, tsr_sparse_to_dense_new, b);
        return tsr_scope_return(c, &s, s.status == TSR_OK ? CALL(&s, "add", "tts", a, dense, alpha) : NULL);
    }
    if (tsr_is_coo(a) != tsr_is_coo(b) && s.status == TSR_OK)
        s.status = tsr_error(TSR_RUNTIME_ERROR, "unsupported tensor layout: %s",
                             tsr_layout_name((tsr_is_coo(a) ? b : a)->layout));
    TsrTensor *x = MAKE(&s, tsr_sparse_to_coo_new, a), *y = MAKE(&s, tsr_sparse_to_coo_new, b);
    return tsr_scope_return(c, &s, tsr_sparse_as_layout(&s, MAKE(&s, add_coo, x, y, alpha, dtype), a));
}

static TsrScalar alpha_of(const TsrOpCall *c) {
    return c->nargs > 2 && c->arg[2].kind == TSR_ARG_SCALAR ? c->arg[2].s : tsr_scalar_int(1);
}

/* The operand at `i` as a tensor; a number becomes a wrapped one that the scope keeps. */
static TsrTensor *operand(TsrScope *s, const TsrOpCall *c, int i) {
    if (c->arg[i].kind == TSR_ARG_TENSOR) return c->arg[i].t;
    return MAKE(s, tsr_tensor_new_wrapped, c->arg[i].s);
}

static TsrStatus binary(TsrOpCall *c, TsrStatus (*fn)(TsrOpCall *, TsrTensor *, TsrTensor *), bool swap) {
    TsrScope s = {0};
    TsrTensor *a = operand(&s, c, 0), *b = operand(&s, c, 1);
    TsrStatus status = s.status != TSR_OK ? s.status : swap ? fn(c, b, a) : fn(c, a, b);
    s.status = TSR_OK;
    (void)tsr_scope_end(&s);
    return status;
}

static TsrStatus do_add(TsrOpCall *c, TsrTensor *a, TsrTensor *b) { return add_tensors(c, a, b, alpha_of(c), false); }
static TsrStatus do_sub(TsrOpCall *c, TsrTensor *a, TsrTensor *b) {
    return add_tensors(c, a, b, tsr_scalar_negated(alpha_of(c)), true);
}
TsrStatus sp_add(TsrOpCall *c) { return binary(c, do_add, false); }
TsrStatus sp_sub(TsrOpCall *c) { return binary(c, do_sub, false); }
TsrStatus sp_rsub(TsrOpCall *c) { return binary(c, do_sub, true); }

/* ---- products ---- */

/* The elements of a dense tensor of t's sizes at t's positions. */
static TsrTensor *gather(TsrScope *s, TsrTensor *dense, TsrTensor *t) {
    int64_t shape[TSR_MAX_DIMS + 1] = {1};
    if (s->status != TSR_OK) return NULL;
    int sparse_dim = t->sparse->sparse_dim, dense_dim = tsr_ndim(t) - sparse_dim;
    for (int d = 0; d < sparse_dim; d++) shape[0] *= t->sizes[d];
    for (int d = 0; d < dense_dim; d++) shape[d + 1] = t->sizes[sparse_dim + d];
    TsrTensor *rows = MAKE(s, tsr_tensor_new_reshape, dense, dense_dim + 1, shape),
              *flat = MAKE(s, tsr_sparse_flat_new, t);
    return CALL(s, "index_select", "tit", rows, (int64_t)0, flat);
}

static TsrStatus mul_dense(TsrTensor **out, TsrTensor *t, TsrTensor *dense) {
    TsrScope s = {0};
    TsrTensor *coo = MAKE(&s, tsr_sparse_to_coo_new, t);
    TsrTensor *wide = MAKE(&s, tsr_tensor_new_expand, dense, tsr_ndim(t), t->sizes);
    TsrTensor *factor = gather(&s, wide, coo);
    TsrTensor *values = s.status == TSR_OK ? CALL(&s, "mul", "tt", coo->sparse->values, factor) : NULL;
    return tsr_scope_end_new(out, &s, tsr_sparse_as_layout(&s, MAKE(&s, tsr_sparse_with_values_new, coo, values), t));
}

/* For each entry of `probe` the place of an equal position in `sorted` (coalesced); entries without one are left out of
 * `kept`. */
static int64_t intersect(int64_t *kept, int64_t *places, const int64_t *probe, int64_t n, const int64_t *sorted,
                         int64_t m) {
    int64_t found = 0;
    TSR_IN_PIECES(i, n) {
        int64_t low = 0, high = m;
        while (low < high) {
            int64_t middle = low + (high - low) / 2;
            if (sorted[middle] < probe[i]) low = middle + 1;
            else high = middle;
        }
        if (low == m || sorted[low] != probe[i]) continue;
        kept[found] = i;
        places[found++] = low;
    }
    return found;
}

/* Rows (2, n): the entries of `probe` that have an equal in `sorted`, and its place there. */
static TsrStatus intersect_new(TsrTensor **out, TsrTensor *probe, TsrTensor *sorted) {
    TsrScope s = {0};
    if (tsr_on_device(probe)) return tsr_sparse_meet_there_new(out, probe, sorted);
    int64_t n = probe->numel, shape[2] = {2, n}, found = 0;
    TsrTensor *room = MAKE(&s, tsr_tensor_new, 2, shape, TSR_INT64, TSR_DEVICE_CPU);
    if (s.status == TSR_OK) {
        int64_t *kept = tsr_data(room);
        found = intersect(kept, kept + n, tsr_data(probe), n, tsr_data(sorted), sorted->numel);
        s.status = tsr_interrupt_check();
    }
    return tsr_scope_end_new(out, &s, SLICE(&s, room, 1, 0, found));
}

static TsrStatus mul_coo(TsrTensor **out, TsrTensor *a, TsrTensor *b) {
    bool fits = tsr_ndim(a) == tsr_ndim(b) && a->sparse->sparse_dim == b->sparse->sparse_dim &&
                memcmp(a->sizes, b->sizes, sizeof *a->sizes * (size_t)a->sparse->sparse_dim) == 0;
    if (!fits)
        return tsr_error(
            TSR_RUNTIME_ERROR,
            "sparse_binary_op_intersection_cpu(): expects sparse inputs with equal dimensionality, number of sparse "
            "dimensions, and shape of sparse dimensions");
    TsrScope s = {0};
    bool swap = (a->flags & TSR_FLAG_COALESCED) && !(b->flags & TSR_FLAG_COALESCED);
    TsrTensor *probe = swap ? b : a, *other = MAKE(&s, tsr_sparse_coalesce_new, swap ? a : b);
    TsrTensor *p = MAKE(&s, tsr_sparse_flat_new, probe), *q = MAKE(&s, tsr_sparse_flat_new, other);
    TsrTensor *both = MAKE(&s, intersect_new, p, q), *kept = MAKE(&s, tsr_tensor_new_select, both, 0, 0),
              *places = MAKE(&s, tsr_tensor_new_select, both, 0, 1);
    TsrTensor *indices = CALL(&s, "index_select", "tit", probe->sparse->indices, (int64_t)1, kept);
    TsrTensor *x = CALL(&s, "index_select", "tit", probe->sparse->values, (int64_t)0, kept);
    TsrTensor *y =
        s.status == TSR_OK ? CALL(&s, "index_select", "tit", other->sparse->values, (int64_t)0, places) : NULL;
    TsrTensor *values = CALL(&s, "mul", "tt", x, y);
    bool coalesced = (probe->flags & TSR_FLAG_COALESCED) != 0;
    return tsr_scope_end_new(
        out, &s, MAKE(&s, tsr_sparse_new, tsr_ndim(a), a->sizes, tsr_coo_parts(indices, values, coalesced)));
}

static TsrStatus do_mul(TsrOpCall *c, TsrTensor *a, TsrTensor *b) {
    if (!tsr_is_sparse(a)) {
        TsrTensor *dense = a;
        a = b;
        b = dense;
    }
    TsrScope s = {0};
    TsrTensor *result;
    if (!tsr_is_sparse(b) && tsr_ndim(b) == 0) {
        TsrTensor *values = CALL(&s, "mul", "tt", a->sparse->values, b);
        result = MAKE(&s, tsr_sparse_with_values_new, a, values);
    } else if (!tsr_is_sparse(b)) {
        result = MAKE(&s, mul_dense, a, b);
    } else {
        TsrTensor *x = MAKE(&s, tsr_sparse_to_coo_new, a), *y = MAKE(&s, tsr_sparse_to_coo_new, b);
        result = tsr_sparse_as_layout(&s, MAKE(&s, mul_coo, x, y), a);
    }
    return tsr_scope_return(c, &s, result);
}
TsrStatus sp_mul(TsrOpCall *c) { return binary(c, do_mul, false); }

static TsrStatus do_quotient(TsrOpCall *c, TsrTensor *a, TsrTensor *b, const char *mode, bool floor) {
    if (tsr_is_compressed(a) || tsr_is_compressed(b))
        return tsr_error(TSR_RUNTIME_ERROR, "unsupported tensor layout: %s",
                         tsr_layout_name((tsr_is_compressed(a) ? a : b)->layout));
    if (tsr_is_sparse(b) || tsr_ndim(b) != 0)
        return tsr_error(
            TSR_RUNTIME_ERROR,
            "Sparse division requires a scalar or zero-dim dense tensor divisor (got shape %s for divisor)",
            tsr_sizes_text(b));
    TsrScope s = {0};
    TsrTensor *t = floor || mode != NULL ? MAKE(&s, tsr_sparse_coalesce_new, a) : a, *values = NULL;
    if (s.status == TSR_OK && floor) values = CALL(&s, "floor_divide", "tt", t->sparse->values, b);
    else if (s.status == TSR_OK && mode != NULL) values = CALL(&s, "div", "ttc", t->sparse->values, b, mode);
    else if (s.status == TSR_OK) values = CALL(&s, "div", "tt", t->sparse->values, b);
    return tsr_scope_return(c, &s, MAKE(&s, tsr_sparse_with_values_new, t, values));
}

static TsrStatus do_div(TsrOpCall *c, TsrTensor *a, TsrTensor *b) {
    return do_quotient(c, a, b, c->nargs > 2 && c->arg[2].kind == TSR_ARG_STR ? c->arg[2].str : NULL, false);
}
static TsrStatus do_floor(TsrOpCall *c, TsrTensor *a, TsrTensor *b) { return do_quotient(c, a, b, NULL, true); }
TsrStatus sp_div(TsrOpCall *c) { return binary(c, do_div, false); }
TsrStatus sp_floor_divide(TsrOpCall *c) { return binary(c, do_floor, false); }

/* ---- sums ---- */

/* Sums over the dimensions marked in `drop`; keep leaves them with size 1. */
static TsrStatus sum_dims(TsrTensor **out, TsrTensor *t, const bool *drop, bool keep) {
    TsrScope s = {0};
    int n = tsr_ndim(t), rows = t->sparse->sparse_dim, k = 0, ndense = 0, nsparse = 0, kept = 0;
    int64_t sizes[TSR_MAX_DIMS], dense[TSR_MAX_DIMS], pick[TSR_MAX_DIMS];
    for (int d = 0; d < n; d++) {
        if (drop[d] && d >= rows) dense[ndense++] = d - rows + 1;
        nsparse += d < rows && drop[d];
        if (!drop[d] && d < rows) pick[kept++] = d;
        if (!drop[d]) sizes[k++] = t->sizes[d];
    }
    TsrTensor *values = t->sparse->values;
    if (ndense > 0) values = CALL(&s, "sum", "tI", values, ndense, dense);
    TsrTensor *result = NULL;
    if (nsparse == rows) {
        result = CALL(&s, "sum", "tI", values, 1, (int64_t[]){0});
    } else {
        TsrTensor *indices = MAKE(&s, tsr_sparse_pick_rows_new, t->sparse->indices, kept, pick);
        TsrTensor *wide = tsr_dtype_is_float(t->dtype) || tsr_dtype_is_complex(t->dtype) || s.status != TSR_OK
                              ? values
                              : MAKE(&s, tsr_tensor_new_cast, values, TSR_INT64);
        TsrTensor *loose = MAKE(&s, tsr_sparse_new, k, sizes, tsr_coo_parts(indices, wide, false));
        result = MAKE(&s, tsr_sparse_coalesce_new, loose);
    }
    for (int d = 0; keep && d < n; d++)
        if (drop[d] && s.status == TSR_OK)
            result = tsr_is_sparse(result) ? MAKE(&s, tsr_sparse_unsqueeze_new, result, (int64_t)d)
                                           : CALL(&s, "unsqueeze", "ti", result, (int64_t)d);
    return tsr_scope_end_new(out, &s, result);
}

static TsrStatus mark_dims(bool *drop, const TsrTensor *t, const TsrArg *dims) {
    int n = tsr_ndim(t);
    memset(drop, !tsr_arg_given(dims) || dims->n == 0, sizeof *drop * TSR_MAX_DIMS);
    for (int i = 0; tsr_arg_given(dims) && i < dims->n; i++) {
        int64_t d = dims->ints[i];
        TSR_TRY(tsr_wrap_dim(&d, n));
        if (drop[d])
            return tsr_error(TSR_RUNTIME_ERROR, "dim %lld appears multiple times in the list of dims", (long long)d);
        drop[d] = true;
    }
    return TSR_OK;
}

static TsrStatus sum_general(TsrOpCall *c, const TsrArg *dims, bool keep, const TsrArg *dtype) {
    TsrScope s = {0};
    TsrTensor *t = SELF;
    bool drop[TSR_MAX_DIMS];
    if (tsr_arg_given(dtype) && dtype->dtype != t->dtype) {
        TsrTensor *values = MAKE(&s, tsr_tensor_new_cast, t->sparse->values, dtype->dtype);
        t = MAKE(&s, tsr_sparse_with_values_new, t, values);
    }
    bool whole = !tsr_arg_given(dims) || dims->n == 0;
    if (whole && !keep)
        return tsr_scope_return(c, &s, s.status == TSR_OK ? CALL(&s, "sum", "t", t->sparse->values) : NULL);
    if (tsr_is_compressed(SELF) && !keep && s.status == TSR_OK)
        s.status =
            tsr_error(TSR_RUNTIME_ERROR, "reduction operations on CSR tensors with keepdim=False is unsupported");
    TsrTensor *coo = MAKE(&s, tsr_sparse_to_coo_new, t);
    if (s.status == TSR_OK) s.status = mark_dims(drop, SELF, dims);
    TsrTensor *result = MAKE(&s, sum_dims, coo, drop, keep);
    if (s.status != TSR_OK) return tsr_scope_end(&s);
    return tsr_scope_return(c, &s, tsr_sparse_as_layout(&s, result, SELF));
}

TsrStatus sp_sum(TsrOpCall *c) { return sum_general(c, &(TsrArg){.kind = TSR_ARG_NONE}, false, &c->arg[1]); }
TsrStatus sp_sum_dims(TsrOpCall *c) { return sum_general(c, &c->arg[1], c->arg[2].b, &c->arg[3]); }

TsrStatus op_sparse_sum(TsrOpCall *c) {
    if (!tsr_is_coo(SELF) && !tsr_is_compressed(SELF))
        return tsr_error(TSR_RUNTIME_ERROR, "coalesce expected sparse coordinate tensor layout but got Strided");
    return sum_general(c, &c->arg[1], false, &c->arg[2]);
}

TsrStatus sp_any(TsrOpCall *c) {
    TsrScope s = {0};
    TsrTensor *t = tsr_is_coo(SELF) ? MAKE(&s, tsr_sparse_coalesce_new, SELF) : SELF;
    return tsr_scope_return(c, &s, s.status == TSR_OK ? CALL(&s, "any", "t", t->sparse->values) : NULL);
}

/* norm(self, p, dim, keepdim, dtype): of all elements only. */
static TsrStatus check_sparse_norm(const TsrOpCall *c) {
    if (c->nargs > 3 && c->arg[3].b)
        return tsr_error(TSR_RUNTIME_ERROR, "norm_sparse currently does not support keepdim=True");
    if (c->nargs < 3 || !tsr_arg_given(&c->arg[2])) return TSR_OK;
    uint64_t dims;
    TSR_TRY(tsr_dims_mask(&dims, &c->arg[2], tsr_ndim(SELF), true));
    if (dims == tsr_all_dims(tsr_ndim(SELF))) return TSR_OK;
    return tsr_error(
        TSR_RUNTIME_ERROR,
        "norm_sparse currently only supports full reductions, so 'dim' must either be empty or contain all "
        "dimensions of the input");
}

TsrStatus sp_norm(TsrOpCall *c) {
    TSR_TRY(check_sparse_norm(c));
    TsrScope s = {0};
    TsrTensor *t = tsr_is_coo(SELF) ? MAKE(&s, tsr_sparse_coalesce_new, SELF) : SELF, *result = NULL;
    if (s.status == TSR_OK && c->nargs > 1 && c->arg[1].kind == TSR_ARG_SCALAR)
        result = CALL(&s, "norm", "ts", t->sparse->values, c->arg[1].s);
    else if (s.status == TSR_OK) result = CALL(&s, "norm", "t", t->sparse->values);
    return tsr_scope_return(c, &s, result);
}

/* ---- softmax ---- */

/* Along a sparse dimension: the entries that agree in all other coordinates are one group; unstored elements count as
 * -inf. */
static TsrStatus softmax_sparse(TsrTensor **out, TsrTensor *t, int64_t dim, bool logarithm) {
    TsrScope s = {0};
    int64_t shape[TSR_MAX_DIMS + 1] = {1};
    int rows = t->sparse->sparse_dim;
    for (int d = 0; d < rows; d++) shape[0] *= t->sizes[d];
    for (int d = rows; d < tsr_ndim(t); d++) shape[d - rows + 1] = t->sizes[d];
    TsrTensor *full = MAKE(&s, tsr_tensor_new, tsr_ndim(t) - rows + 1, shape, t->dtype, t->device);
    if (s.status == TSR_OK) s.status = tsr_tensor_fill(full, tsr_scalar_float(-__builtin_inf()));
    TsrTensor *flat = MAKE(&s, tsr_sparse_flat_new, t);
    TsrTensor *filled = CALL(&s, "index_copy", "titt", full, (int64_t)0, flat, t->sparse->values);
    TsrTensor *wide = MAKE(&s, tsr_tensor_new_reshape, filled, tsr_ndim(t), t->sizes);
    TsrTensor *soft = CALL(&s, logarithm ? "log_softmax" : "softmax", "ti", wide, dim);
    TsrTensor *values = gather(&s, soft, t);
    return tsr_scope_end_new(out, &s, MAKE(&s, tsr_sparse_with_values_new, t, values));
}

static TsrStatus softmax_any(TsrOpCall *c, bool logarithm) {
    int64_t dim = c->arg[1].i;
    if (!tsr_is_coo(SELF)) return tsr_refuse_backend(logarithm ? "_sparse_log_softmax" : "_sparse_softmax", SELF);
    TSR_TRY(tsr_wrap_dim(&dim, tsr_ndim(SELF)));
    TsrScope s = {0};
    TsrTensor *t = MAKE(&s, tsr_sparse_coalesce_new, SELF), *result = NULL;
    if (s.status == TSR_OK && tsr_arg_given(&c->arg[2]) && c->arg[2].dtype != t->dtype) {
        TsrTensor *values = MAKE(&s, tsr_tensor_new_cast, t->sparse->values, c->arg[2].dtype);
        t = MAKE(&s, tsr_sparse_with_values_new, t, values);
    }
    if (s.status == TSR_OK && dim < t->sparse->sparse_dim) {
        result = MAKE(&s, softmax_sparse, t, dim, logarithm);
    } else if (s.status == TSR_OK) {
        TsrTensor *values =
            CALL(&s, logarithm ? "log_softmax" : "softmax", "ti", t->sparse->values, dim - t->sparse->sparse_dim + 1);
        result = MAKE(&s, tsr_sparse_with_values_new, t, values);
    }
    return tsr_scope_return(c, &s, result);
}

TsrStatus op_sparse_softmax(TsrOpCall *c) { return softmax_any(c, false); }
TsrStatus op_sparse_log_softmax(TsrOpCall *c) { return softmax_any(c, true); }
