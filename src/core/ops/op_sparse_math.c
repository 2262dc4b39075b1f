/* What ordinary operators do with sparse arguments, by the operator's name: op.c asks tsr_sparse_find. */
#include <string.h>

#include "mem.h"
#include "op_impl.h"
#include "kernels/kernel.h"
#include "kernels/move.h"
#include "promote.h"
#include "sparse.h"

#define SELF (c->arg[0].t)

static bool is_coo(const TsrTensor *t) { return t->layout == TSR_SPARSE_COO; }
static bool is_compressed(const TsrTensor *t) { return t->layout > TSR_SPARSE_COO; }

static TsrStatus not_for(const char *name, const TsrTensor *t) {
    return tsr_error(TSR_NOT_IMPLEMENTED_ERROR, "Could not run 'aten::%s' with arguments from the '%s' backend.", name, is_compressed(t) ? "SparseCsrCPU" : "SparseCPU");
}

/* The result of a step of a scope in the layout of `like`, when that is CSR or CSC. */
static TsrTensor *as_layout(TsrScope *s, TsrTensor *coo, const TsrTensor *like) {
    if (s->status != TSR_OK || !is_compressed(like) || !is_coo(coo)) return coo;
    return MAKE(s, tsr_sparse_to_compressed_new, coo, like->layout == TSR_SPARSE_CSC ? TSR_SPARSE_CSC : TSR_SPARSE_CSR, NULL, (int64_t)like->sparse->dense_dim);
}

/* The name without the operator methods' underscores and r: "mul" for "__rmul__" and "mul_". */
static size_t plain_name(char *out, size_t room, const char *name) {
    size_t n = strlen(name);
    if (n > 4 && name[0] == '_' && name[1] == '_' && name[n - 1] == '_') {
        name += 2;
        n -= 4;
    } else if (n > 1 && name[n - 1] == '_') {
        n--;
    }
    n = TSR_MIN(n, room - 1);
    memcpy(out, name, n);
    out[n] = '\0';
    return n;
}

/* ---- element by element, zero staying zero ---- */

static TsrStatus unary(TsrOpCall *c) {
    char name[32];
    TsrScope s = {0};
    plain_name(name, sizeof name, c->schema->base);
    bool linear = strcmp(name, "neg") == 0 || strcmp(name, "negative") == 0 || strcmp(name, "positive") == 0 || strcmp(name, "pos") == 0 || strcmp(name, "conj_physical") == 0;
    TsrTensor *t = is_coo(SELF) && !linear ? MAKE(&s, tsr_sparse_coalesce_new, SELF) : SELF;
    TsrTensor *values = s.status == TSR_OK ? CALL(&s, name, "t", t->sparse->values) : NULL;
    return tsr_scope_return(c, &s, MAKE(&s, tsr_sparse_with_values_new, t, values));
}

static TsrStatus power(TsrOpCall *c) {
    if (c->nargs < 2 || c->arg[0].kind != TSR_ARG_TENSOR || c->arg[1].kind != TSR_ARG_SCALAR) return not_for("pow", c->arg[0].kind == TSR_ARG_TENSOR ? SELF : c->arg[1].t);
    if (is_compressed(SELF)) return not_for("pow", SELF);
    TsrScope s = {0};
    TsrTensor *t = MAKE(&s, tsr_sparse_coalesce_new, SELF);
    TsrTensor *values = s.status == TSR_OK ? CALL(&s, "pow", "ts", t->sparse->values, c->arg[1].s) : NULL;
    return tsr_scope_return(c, &s, MAKE(&s, tsr_sparse_with_values_new, t, values));
}

/* ---- adding ---- */

static TsrStatus same_sizes_to_add(const TsrTensor *a, const TsrTensor *b, bool mixed) {
    const char *dense = is_compressed(b) ? "op2" : "dense";
    if (tsr_same_sizes(a, b)) return TSR_OK;
    if (mixed)
        return tsr_error(TSR_RUNTIME_ERROR,
                         "add: expected 'self' and 'other' to have same size, but self has size %s while other has size %s (FYI: %s-sparse addition does not currently support "
                         "broadcasting)", tsr_sizes_text(a), tsr_sizes_text(b), dense);
    return tsr_error(TSR_RUNTIME_ERROR, "add: expected sizes of 'self' and 'other' to match, but %s != %s", tsr_sizes_text(a), tsr_sizes_text(b));
}

static int compare_columns(const int64_t *a, int64_t na, int64_t i, const int64_t *b, int64_t nb, int64_t k, int dims) {
    for (int d = 0; d < dims; d++) {
        int64_t x = a[d * na + i], y = b[d * nb + k];
        if (x != y) return x < y ? -1 : 1;
    }
    return 0;
}

/* Merges two lists of positions as they come. to_a and to_b receive the place of each entry; indices, of room for all, the merged columns.
 * Returns how many those are. */
static int64_t merge(int64_t *indices, int64_t room, int64_t *to_a, int64_t *to_b, const int64_t *a, int64_t na, const int64_t *b, int64_t nb, int dims) {
    int64_t i = 0, k = 0, n = 0;
    while (i < na || k < nb) {
        int order = i == na ? 1 : k == nb ? -1 : compare_columns(a, na, i, b, nb, k, dims);
        for (int d = 0; d < dims; d++) indices[d * room + n] = order <= 0 ? a[d * na + i] : b[d * nb + k];
        if (order <= 0) to_a[i++] = n;
        if (order >= 0) to_b[k++] = n;
        n++;
    }
    return n;
}

static TsrStatus add_coo(TsrTensor **out, TsrTensor *a, TsrTensor *b, TsrScalar alpha, TsrDtype dtype) {
    TSR_TRY(same_sizes_to_add(a, b, false));
    if (a->sparse->sparse_dim != b->sparse->sparse_dim)
        return tsr_error(TSR_RUNTIME_ERROR, "add: expected 'self' and 'other' to have same density, but 'self' has %d sparse dimensions while 'other' has %d sparse dimensions",
                         a->sparse->sparse_dim, b->sparse->sparse_dim);
    TsrScope s = {0};
    int dims = a->sparse->sparse_dim;
    int64_t na = tsr_sparse_nnz(a), nb = tsr_sparse_nnz(b), shape[2] = {dims, na + nb}, n = 0, sizes[TSR_MAX_DIMS + 1];
    TsrTensor *ia = MAKE(&s, tsr_long_new, a->sparse->indices), *ib = MAKE(&s, tsr_long_new, b->sparse->indices);
    TsrTensor *to_a = MAKE(&s, tsr_tensor_new, 1, &na, TSR_INT64, TSR_DEVICE_CPU), *to_b = MAKE(&s, tsr_tensor_new, 1, &nb, TSR_INT64, TSR_DEVICE_CPU);
    TsrTensor *room = MAKE(&s, tsr_tensor_new, 2, shape, TSR_INT64, TSR_DEVICE_CPU);
    if (s.status == TSR_OK) s.status = tsr_tensor_check(ia, false);
    if (s.status == TSR_OK) s.status = tsr_tensor_check(ib, false);
    if (s.status == TSR_OK) n = merge(tsr_data(room), na + nb, tsr_data(to_a), tsr_data(to_b), tsr_data(ia), na, tsr_data(ib), nb, dims);
    TsrTensor *used = SLICE(&s, room, 1, 0, n), *indices = MAKE(&s, tsr_tensor_new_clone, used, TSR_CONTIGUOUS);
    sizes[0] = n;
    for (int d = dims; d < tsr_ndim(a); d++) sizes[d - dims + 1] = a->sizes[d];
    TsrTensor *zeros = MAKE(&s, tsr_zeros_new, tsr_ndim(a) - dims + 1, sizes, dtype, a->device);
    TsrTensor *va = MAKE(&s, tsr_tensor_new_cast, a->sparse->values, dtype), *vb = MAKE(&s, tsr_tensor_new_cast, b->sparse->values, dtype);
    TsrTensor *first = CALL(&s, "index_copy", "titt", zeros, (int64_t)0, to_a, va);
    bool one = tsr_scalar_to_double(alpha) == 1 && alpha.kind != TSR_SCALAR_COMPLEX;
    TsrTensor *scaled = one || s.status != TSR_OK ? vb : CALL(&s, "mul", "ts", vb, alpha);
    TsrTensor *values = tsr_sparse_add_at(&s, first, to_b, scaled);
    bool coalesced = (a->flags & b->flags & TSR_FLAG_COALESCED) != 0;
    return tsr_scope_end_new(out, &s, MAKE(&s, tsr_sparse_new, TSR_SPARSE_COO, tsr_ndim(a), a->sizes, indices, NULL, values, coalesced));
}

/* a + alpha * b, one of them sparse at least. */
static TsrStatus add_tensors(TsrOpCall *c, TsrTensor *a, TsrTensor *b, TsrScalar alpha, bool subtract) {
    if (is_coo(a) && !tsr_is_sparse(b)) return tsr_error(TSR_RUNTIME_ERROR, "add(sparse, dense) is not supported. Use add(dense, sparse) instead.");
    if (is_compressed(a) && !tsr_is_sparse(b)) {
        TsrTensor *dense = b;
        b = a;
        a = dense;
    }
    if (subtract && (is_compressed(a) || is_compressed(b))) return tsr_error(TSR_RUNTIME_ERROR, "unsupported tensor layout: %s", tsr_sparse_layout_name(is_compressed(a) ? a : b));
    TsrScope s = {0};
    TsrDtype dtype = TSR_DTYPE_NONE;
    s.status = tsr_result_type(&dtype, (TsrTensor *[]){a, b}, 2);
    if (!tsr_is_sparse(a)) {
        if (s.status == TSR_OK) s.status = same_sizes_to_add(a, b, true);
        TsrTensor *dense = MAKE(&s, tsr_sparse_to_dense_new, b);
        return tsr_scope_return(c, &s, s.status == TSR_OK ? CALL(&s, "add", "tts", a, dense, alpha) : NULL);
    }
    if (is_coo(a) != is_coo(b) && s.status == TSR_OK) s.status = tsr_error(TSR_RUNTIME_ERROR, "unsupported tensor layout: %s", tsr_sparse_layout_name(is_coo(a) ? b : a));
    TsrTensor *x = MAKE(&s, tsr_sparse_to_coo_new, a), *y = MAKE(&s, tsr_sparse_to_coo_new, b);
    return tsr_scope_return(c, &s, as_layout(&s, MAKE(&s, add_coo, x, y, alpha, dtype), a));
}

static TsrScalar negated(TsrScalar x) {
    if (x.kind == TSR_SCALAR_COMPLEX) return tsr_scalar_complex(-x.c.re, -x.c.im);
    if (x.kind == TSR_SCALAR_FLOAT) return tsr_scalar_float(-x.f);
    return tsr_scalar_int((int64_t)(0 - (uint64_t)tsr_scalar_to_int(x)));
}

static TsrScalar alpha_of(const TsrOpCall *c) { return c->nargs > 2 && c->arg[2].kind == TSR_ARG_SCALAR ? c->arg[2].s : tsr_scalar_int(1); }

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
static TsrStatus do_sub(TsrOpCall *c, TsrTensor *a, TsrTensor *b) { return add_tensors(c, a, b, negated(alpha_of(c)), true); }
static TsrStatus add(TsrOpCall *c) { return binary(c, do_add, false); }
static TsrStatus sub(TsrOpCall *c) { return binary(c, do_sub, false); }
static TsrStatus rsub(TsrOpCall *c) { return binary(c, do_sub, true); }

/* ---- products ---- */

/* The elements of a dense tensor of t's sizes at t's positions. */
static TsrTensor *gather(TsrScope *s, TsrTensor *dense, TsrTensor *t) {
    int64_t shape[TSR_MAX_DIMS + 1] = {1};
    if (s->status != TSR_OK) return NULL;
    int sparse_dim = t->sparse->sparse_dim, dense_dim = tsr_ndim(t) - sparse_dim;
    for (int d = 0; d < sparse_dim; d++) shape[0] *= t->sizes[d];
    for (int d = 0; d < dense_dim; d++) shape[d + 1] = t->sizes[sparse_dim + d];
    TsrTensor *rows = MAKE(s, tsr_tensor_new_reshape, dense, dense_dim + 1, shape), *flat = MAKE(s, tsr_sparse_flat_new, t);
    return CALL(s, "index_select", "tit", rows, (int64_t)0, flat);
}

static TsrStatus mul_dense(TsrTensor **out, TsrTensor *t, TsrTensor *dense) {
    TsrScope s = {0};
    TsrTensor *coo = MAKE(&s, tsr_sparse_to_coo_new, t);
    TsrTensor *wide = MAKE(&s, tsr_tensor_new_expand, dense, tsr_ndim(t), t->sizes);
    TsrTensor *factor = gather(&s, wide, coo);
    TsrTensor *values = s.status == TSR_OK ? CALL(&s, "mul", "tt", coo->sparse->values, factor) : NULL;
    return tsr_scope_end_new(out, &s, as_layout(&s, MAKE(&s, tsr_sparse_with_values_new, coo, values), t));
}

/* For each entry of `probe` the place of an equal position in `sorted` (coalesced); entries without one are left out of `kept`. */
static int64_t intersect(int64_t *kept, int64_t *places, const int64_t *probe, int64_t n, const int64_t *sorted, int64_t m) {
    int64_t found = 0;
    for (int64_t i = 0; i < n; i++) {
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

static TsrStatus mul_coo(TsrTensor **out, TsrTensor *a, TsrTensor *b) {
    bool fits = tsr_ndim(a) == tsr_ndim(b) && a->sparse->sparse_dim == b->sparse->sparse_dim &&
                memcmp(a->sizes, b->sizes, sizeof *a->sizes * (size_t)a->sparse->sparse_dim) == 0;
    if (!fits)
        return tsr_error(TSR_RUNTIME_ERROR,
                         "sparse_binary_op_intersection_cpu(): expects sparse inputs with equal dimensionality, number of sparse dimensions, and shape of sparse dimensions");
    TsrScope s = {0};
    bool swap = (a->flags & TSR_FLAG_COALESCED) && !(b->flags & TSR_FLAG_COALESCED);
    TsrTensor *probe = swap ? b : a, *other = MAKE(&s, tsr_sparse_coalesce_new, swap ? a : b);
    TsrTensor *p = MAKE(&s, tsr_sparse_flat_new, probe), *q = MAKE(&s, tsr_sparse_flat_new, other);
    int64_t n = tsr_sparse_nnz(probe), found = 0;
    TsrTensor *kept = MAKE(&s, tsr_tensor_new, 1, &n, TSR_INT64, TSR_DEVICE_CPU), *places = MAKE(&s, tsr_tensor_new, 1, &n, TSR_INT64, TSR_DEVICE_CPU);
    if (s.status == TSR_OK) found = intersect(tsr_data(kept), tsr_data(places), tsr_data(p), n, tsr_data(q), q->numel);
    kept = SLICE(&s, kept, 0, 0, found);
    places = SLICE(&s, places, 0, 0, found);
    TsrTensor *indices = CALL(&s, "index_select", "tit", probe->sparse->indices, (int64_t)1, kept);
    TsrTensor *x = CALL(&s, "index_select", "tit", probe->sparse->values, (int64_t)0, kept);
    TsrTensor *y = s.status == TSR_OK ? CALL(&s, "index_select", "tit", other->sparse->values, (int64_t)0, places) : NULL;
    TsrTensor *values = CALL(&s, "mul", "tt", x, y);
    bool coalesced = (probe->flags & TSR_FLAG_COALESCED) != 0;
    return tsr_scope_end_new(out, &s, MAKE(&s, tsr_sparse_new, TSR_SPARSE_COO, tsr_ndim(a), a->sizes, indices, NULL, values, coalesced));
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
        result = as_layout(&s, MAKE(&s, mul_coo, x, y), a);
    }
    return tsr_scope_return(c, &s, result);
}
static TsrStatus mul(TsrOpCall *c) { return binary(c, do_mul, false); }

static TsrStatus do_quotient(TsrOpCall *c, TsrTensor *a, TsrTensor *b, const char *mode, bool floor) {
    if (is_compressed(a) || is_compressed(b)) return tsr_error(TSR_RUNTIME_ERROR, "unsupported tensor layout: %s", tsr_sparse_layout_name(is_compressed(a) ? a : b));
    if (tsr_is_sparse(b) || tsr_ndim(b) != 0)
        return tsr_error(TSR_RUNTIME_ERROR, "Sparse division requires a scalar or zero-dim dense tensor divisor (got shape %s for divisor)", tsr_sizes_text(b));
    TsrScope s = {0};
    TsrTensor *t = floor || mode != NULL ? MAKE(&s, tsr_sparse_coalesce_new, a) : a, *values = NULL;
    if (s.status == TSR_OK && floor) values = CALL(&s, "floor_divide", "tt", t->sparse->values, b);
    else if (s.status == TSR_OK && mode != NULL) values = CALL(&s, "div", "ttc", t->sparse->values, b, mode);
    else if (s.status == TSR_OK) values = CALL(&s, "div", "tt", t->sparse->values, b);
    return tsr_scope_return(c, &s, MAKE(&s, tsr_sparse_with_values_new, t, values));
}

static TsrStatus do_div(TsrOpCall *c, TsrTensor *a, TsrTensor *b) { return do_quotient(c, a, b, c->nargs > 2 && c->arg[2].kind == TSR_ARG_STR ? c->arg[2].str : NULL, false); }
static TsrStatus do_floor(TsrOpCall *c, TsrTensor *a, TsrTensor *b) { return do_quotient(c, a, b, NULL, true); }
static TsrStatus divide(TsrOpCall *c) { return binary(c, do_div, false); }
static TsrStatus floor_divide(TsrOpCall *c) { return binary(c, do_floor, false); }

/* ---- the same elements ---- */

static TsrStatus clone(TsrOpCall *c) {
    TsrScope s = {0};
    const TsrSparse *sp = SELF->sparse;
    TsrTensor *indices = CALL(&s, "clone", "t", sp->indices), *plain = sp->plain_indices != NULL ? CALL(&s, "clone", "t", sp->plain_indices) : NULL;
    TsrTensor *values = CALL(&s, "clone", "t", sp->values);
    bool coalesced = (SELF->flags & TSR_FLAG_COALESCED) != 0;
    return tsr_scope_return(c, &s, MAKE(&s, tsr_sparse_new, SELF->layout, tsr_ndim(SELF), SELF->sizes, indices, plain, values, coalesced));
}

static TsrStatus detach(TsrOpCall *c) {
    TsrTensor *t = NULL;
    return tsr_finish_move(c, tsr_sparse_with_values_new(&t, SELF, SELF->sparse->values), t);
}

static TsrStatus itself(TsrOpCall *c) { return tsr_return_move(c, tsr_tensor_retain(SELF)); }

static TsrStatus conjugate(TsrOpCall *c) {
    if (!tsr_dtype_is_complex(SELF->dtype)) return itself(c);
    TsrScope s = {0};
    TsrTensor *values = CALL(&s, "conj_physical", "t", SELF->sparse->values);
    return tsr_scope_return(c, &s, MAKE(&s, tsr_sparse_with_values_new, SELF, values));
}

static TsrStatus cast(TsrOpCall *c, TsrDtype dtype, bool copy) {
    if (dtype == SELF->dtype) return copy ? clone(c) : itself(c);
    TsrScope s = {0};
    TsrTensor *values = MAKE(&s, tsr_tensor_new_cast, SELF->sparse->values, dtype);
    return tsr_scope_return(c, &s, MAKE(&s, tsr_sparse_with_values_new, SELF, values));
}

/* to, in its three forms, by the kinds of the arguments. */
static TsrStatus to(TsrOpCall *c) {
    TsrDtype dtype = SELF->dtype;
    bool copy = false;
    if (strcmp(c->schema->name, "type_as") == 0 && SELF->layout != c->arg[1].t->layout)
        return tsr_error(TSR_RUNTIME_ERROR, "to(options) doesn't support converting to a different layout, but got self.layout being %s and options.layout set as %s",
                         tsr_sparse_layout_name(SELF), tsr_sparse_layout_name(c->arg[1].t));
    if (!tsr_is_sparse(SELF)) return c->op->fn(c);
    for (int i = 1; i < c->nargs; i++) {
        if (c->arg[i].kind == TSR_ARG_DTYPE) dtype = c->arg[i].dtype;
        if (c->arg[i].kind == TSR_ARG_TENSOR) dtype = c->arg[i].t->dtype;
        if (c->arg[i].kind == TSR_ARG_BOOL && strcmp(c->schema->params[i].name, "copy") == 0) copy = c->arg[i].b;
        if (c->arg[i].kind == TSR_ARG_DEVICE && c->arg[i].device.type != SELF->device.type)
            return tsr_error(TSR_NOT_IMPLEMENTED_ERROR, "sparse tensors stay on the device %s", tsr_device_type_name(SELF->device.type));
    }
    return cast(c, dtype, copy);
}

static TsrStatus convert(TsrOpCall *c) { return cast(c, (TsrDtype)(uintptr_t)c->op->data, false); }

static TsrStatus type_or_name(TsrOpCall *c) {
    if (tsr_arg_given(&c->arg[1])) return c->arg[1].kind == TSR_ARG_DTYPE ? to(c) : not_for("type", SELF);
    if (is_compressed(SELF)) return tsr_error(TSR_RUNTIME_ERROR, "Unimplemented backend SparseCsrCPU");
    return c->op->fn(c);
}

static TsrStatus zeros_like(TsrOpCall *c) {
    TsrTensor *t = NULL;
    TsrDtype dtype = tsr_arg_given(&c->arg[1]) ? c->arg[1].dtype : SELF->dtype;
    uint8_t layout = tsr_arg_given(&c->arg[2]) ? c->arg[2].layout : SELF->layout;
    if (layout == TSR_STRIDED) return tsr_finish_move(c, tsr_zeros_new(&t, tsr_ndim(SELF), SELF->sizes, dtype, SELF->device), t);
    return tsr_finish_move(c, tsr_sparse_zeros_new(&t, layout, tsr_ndim(SELF), SELF->sizes, dtype, SELF->device), t);
}

static TsrStatus new_zeros(TsrOpCall *c) {
    TsrTensor *t = NULL;
    const TsrArg *size = &c->arg[1];
    uint8_t layout = tsr_arg_given(&c->arg[3]) ? c->arg[3].layout : SELF->layout;
    TsrDtype dtype = tsr_arg_given(&c->arg[2]) ? c->arg[2].dtype : SELF->dtype;
    if (layout == TSR_STRIDED) return tsr_finish_move(c, tsr_zeros_new(&t, size->n, size->ints, dtype, SELF->device), t);
    return tsr_finish_move(c, tsr_sparse_zeros_new(&t, layout, size->n, size->ints, dtype, SELF->device), t);
}

static TsrStatus zero(TsrOpCall *c) {
    TsrTensor *t = NULL;
    return tsr_finish_move(c, tsr_sparse_zeros_new(&t, SELF->layout, tsr_ndim(SELF), SELF->sizes, SELF->dtype, SELF->device), t);
}

static TsrStatus copy(TsrOpCall *c) {
    TsrTensor *source = c->arg[1].t;
    if (!tsr_is_sparse(source) || !tsr_is_sparse(SELF))
        return tsr_error(TSR_RUNTIME_ERROR, "copy_() between dense and sparse Tensors is not implemented! Found self type = torch.%s%sTensor and src type = torch.%s%sTensor",
                         tsr_is_sparse(SELF) ? "sparse." : "", tsr_dtype_scalar_name(SELF->dtype), tsr_is_sparse(source) ? "sparse." : "", tsr_dtype_scalar_name(source->dtype));
    TsrScope s = {0};
    TsrTensor *values = MAKE(&s, tsr_tensor_new_cast, source->sparse->values, SELF->dtype);
    TsrTensor *own = s.status == TSR_OK && values == source->sparse->values ? CALL(&s, "clone", "t", values) : values;
    return tsr_scope_return(c, &s, MAKE(&s, tsr_sparse_with_values_new, source, own));
}

/* ---- shapes ---- */

/* COO with its sparse dimensions (and sizes) in another order. */
static TsrStatus reorder(TsrTensor **out, TsrTensor *t, const int64_t *order) {
    TsrScope s = {0};
    int n = tsr_ndim(t);
    int64_t sizes[TSR_MAX_DIMS], rows = t->sparse->sparse_dim, dense[TSR_MAX_DIMS + 1] = {0};
    for (int d = 0; d < n; d++) sizes[d] = t->sizes[order[d]];
    for (int64_t d = rows; d < n; d++) dense[d - rows + 1] = order[d] - rows + 1;
    TsrTensor *pick = MAKE(&s, tsr_tensor_new, 1, &rows, TSR_INT64, TSR_DEVICE_CPU);
    if (s.status == TSR_OK && rows > 0) memcpy(tsr_data(pick), order, sizeof *order * (size_t)rows);
    TsrTensor *indices = CALL(&s, "index_select", "tit", t->sparse->indices, (int64_t)0, pick);
    TsrTensor *values = MAKE(&s, tsr_tensor_new_permute, t->sparse->values, n - (int)rows + 1, dense);
    bool same = true;
    for (int d = 0; d < rows; d++) same &= order[d] == d;
    bool coalesced = same && (t->flags & TSR_FLAG_COALESCED);
    return tsr_scope_end_new(out, &s, MAKE(&s, tsr_sparse_new, TSR_SPARSE_COO, n, sizes, indices, NULL, values, coalesced));
}

static TsrStatus transpose_new(TsrTensor **out, TsrTensor *t, int64_t dim0, int64_t dim1) {
    int64_t order[TSR_MAX_DIMS], n = t->sparse->sparse_dim;
    TSR_TRY(tsr_wrap_dim(&dim0, tsr_ndim(t)));
    TSR_TRY(tsr_wrap_dim(&dim1, tsr_ndim(t)));
    if (dim0 == dim1) {
        *out = tsr_tensor_retain(t);
        return TSR_OK;
    }
    if (is_compressed(t)) {
        static const uint8_t turned[] = {0, 0, TSR_SPARSE_CSC, TSR_SPARSE_CSR, TSR_SPARSE_BSC, TSR_SPARSE_BSR};
        if (tsr_ndim(t) != 2) return tsr_error(TSR_RUNTIME_ERROR, "transpose: batches of sparse compressed matrices are not supported");
        int64_t sizes[2] = {t->sizes[1], t->sizes[0]};
        TsrScope s = {0};
        TsrTensor *values = t->sparse->values;
        if (t->layout >= TSR_SPARSE_BSR && tsr_ndim(values) > 2) values = MAKE(&s, tsr_tensor_new_transpose, values, (int64_t)1, (int64_t)2);
        return tsr_scope_end_new(out, &s, MAKE(&s, tsr_sparse_new, turned[t->layout], 2, sizes, t->sparse->indices, t->sparse->plain_indices, values, false));
    }
    if (dim0 >= n || dim1 >= n)
        return tsr_error(TSR_RUNTIME_ERROR, "sparse transpose: transposed dimensions must be sparse Got sparse_dim: %lld, d0: %lld, d1: %lld", (long long)n, (long long)dim0,
                         (long long)dim1);
    for (int d = 0; d < tsr_ndim(t); d++) order[d] = d;
    order[dim0] = dim1;
    order[dim1] = dim0;
    return reorder(out, t, order);
}

static TsrStatus transpose(TsrOpCall *c) {
    TsrTensor *t = NULL;
    return tsr_finish_move(c, transpose_new(&t, SELF, c->arg[1].i, c->arg[2].i), t);
}

static TsrStatus t(TsrOpCall *c) {
    TsrTensor *result = NULL;
    if (is_coo(SELF) && (SELF->sparse->sparse_dim > 2 || SELF->sparse->dense_dim > 0))
        return tsr_error(TSR_RUNTIME_ERROR, "t() expects a tensor with <= 2 sparse and 0 dense dimensions, but got %d sparse and %d dense dimensions", SELF->sparse->sparse_dim,
                         SELF->sparse->dense_dim);
    if (strcmp(c->schema->base, "T") == 0 && is_compressed(SELF)) return not_for("as_strided", SELF);
    if (tsr_ndim(SELF) < 2) return itself(c);
    return tsr_finish_move(c, transpose_new(&result, SELF, tsr_ndim(SELF) - 2, tsr_ndim(SELF) - 1), result);
}

static TsrStatus permute(TsrOpCall *c) {
    TsrTensor *result = NULL;
    int64_t order[TSR_MAX_DIMS];
    int n = tsr_ndim(SELF);
    bool seen[TSR_MAX_DIMS] = {false};
    if (is_compressed(SELF)) return not_for("permute", SELF);
    if (c->arg[1].n != n)
        return tsr_error(TSR_RUNTIME_ERROR,
                         "permute(sparse_coo): number of dimensions in the tensor input does not match the length of the desired ordering of dimensions i.e. input.dim() = %d is not "
                         "equal to len(dims) = %d", n, c->arg[1].n);
    for (int d = 0; d < n; d++) {
        order[d] = c->arg[1].ints[d];
        TSR_TRY(tsr_wrap_dim(&order[d], n));
        if (seen[order[d]]) return tsr_error(TSR_RUNTIME_ERROR, "permute(): duplicate dims are not allowed.");
        seen[order[d]] = true;
        if ((d < SELF->sparse->sparse_dim) != (order[d] < SELF->sparse->sparse_dim))
            return tsr_error(TSR_RUNTIME_ERROR, "transposed dimensions must be sparse Got sparse_dim: %d, d0: %d, d1: %lld", SELF->sparse->sparse_dim, d, (long long)order[d]);
    }
    return tsr_finish_move(c, reorder(&result, SELF, order), result);
}

static TsrStatus unsqueeze_new(TsrTensor **out, TsrTensor *t, int64_t dim) {
    TsrScope s = {0};
    int n = tsr_ndim(t), sparse_dim = t->sparse->sparse_dim;
    int64_t sizes[TSR_MAX_DIMS + 1];
    TSR_TRY(tsr_wrap_dim(&dim, n + 1));
    for (int d = 0, from = 0; d <= n; d++) sizes[d] = d == dim ? 1 : t->sizes[from++];
    TsrTensor *indices = t->sparse->indices, *values = t->sparse->values;
    if (dim <= sparse_dim) {
        int64_t shape[2] = {1, tsr_sparse_nnz(t)};
        TsrTensor *parts[3] = {SLICE(&s, indices, 0, 0, dim), MAKE(&s, tsr_zeros_new, 2, shape, TSR_INT64, TSR_DEVICE_CPU), SLICE(&s, indices, 0, dim, INT64_MAX)};
        indices = CALL(&s, "cat", "Ti", 3, parts, (int64_t)0);
    } else {
        values = MAKE(&s, tsr_tensor_new_unsqueeze, values, dim - sparse_dim + 1);
    }
    bool coalesced = (t->flags & TSR_FLAG_COALESCED) != 0;
    return tsr_scope_end_new(out, &s, MAKE(&s, tsr_sparse_new, TSR_SPARSE_COO, n + 1, sizes, indices, NULL, values, coalesced));
}

static TsrStatus unsqueeze(TsrOpCall *c) {
    TsrTensor *result = NULL;
    if (is_compressed(SELF)) return not_for("as_strided", SELF);
    return tsr_finish_move(c, unsqueeze_new(&result, SELF, c->arg[1].i), result);
}

/* Entries whose index along a sparse dimension is `index`, without that dimension. */
static TsrStatus select_new(TsrTensor **out, TsrTensor *self, int64_t dim, int64_t index) {
    int64_t sizes[TSR_MAX_DIMS], given = index;
    if (tsr_ndim(self) == 0) return tsr_error(TSR_INDEX_ERROR, "select() cannot be applied to a 0-dim tensor.");
    TSR_TRY(tsr_wrap_dim(&dim, tsr_ndim(self)));
    if (index < 0) index += self->sizes[dim];
    if (index < 0 || index >= self->sizes[dim])
        return tsr_error(TSR_INDEX_ERROR, "select(): index %lld out of range for tensor of size %s at dimension %lld", (long long)given, tsr_sizes_text(self), (long long)dim);
    TsrScope s = {0};
    TsrTensor *coo = MAKE(&s, tsr_sparse_to_coo_new, self), *result = NULL;
    for (int d = 0, k = 0; d < tsr_ndim(self); d++)
        if (d != dim) sizes[k++] = self->sizes[d];
    if (s.status == TSR_OK && dim >= coo->sparse->sparse_dim) {
        TsrTensor *values = MAKE(&s, tsr_tensor_new_select, coo->sparse->values, dim - coo->sparse->sparse_dim + 1, index);
        bool coalesced = (coo->flags & TSR_FLAG_COALESCED) != 0;
        result = MAKE(&s, tsr_sparse_new, TSR_SPARSE_COO, tsr_ndim(self) - 1, sizes, coo->sparse->indices, NULL, values, coalesced);
        return tsr_scope_end_new(out, &s, result);
    }
    TsrTensor *row = s.status == TSR_OK ? MAKE(&s, tsr_tensor_new_select, coo->sparse->indices, (int64_t)0, dim) : NULL;
    TsrTensor *equal = CALL(&s, "eq", "ts", row, tsr_scalar_int(index));
    TsrTensor *found = CALL(&s, "nonzero", "t", equal);
    TsrTensor *at = MAKE(&s, tsr_tensor_new_select, found, (int64_t)1, (int64_t)0);
    TsrTensor *values = s.status == TSR_OK ? CALL(&s, "index_select", "tit", coo->sparse->values, (int64_t)0, at) : NULL;
    if (s.status == TSR_OK && coo->sparse->sparse_dim == 1) return tsr_scope_end_new(out, &s, CALL(&s, "sum", "tI", values, 1, (int64_t[]){0}));
    TsrTensor *parts[2] = {SLICE(&s, coo->sparse->indices, 0, 0, dim), SLICE(&s, coo->sparse->indices, 0, dim + 1, INT64_MAX)};
    TsrTensor *rest = CALL(&s, "cat", "Ti", 2, parts, (int64_t)0);
    TsrTensor *indices = CALL(&s, "index_select", "tit", rest, (int64_t)1, at);
    bool coalesced = s.status == TSR_OK && (coo->flags & TSR_FLAG_COALESCED) != 0;
    return tsr_scope_end_new(out, &s, MAKE(&s, tsr_sparse_new, TSR_SPARSE_COO, tsr_ndim(self) - 1, sizes, indices, NULL, values, coalesced));
}

static TsrStatus select_op(TsrOpCall *c) {
    TsrTensor *result = NULL;
    return tsr_finish_move(c, select_new(&result, SELF, c->arg[1].i, c->arg[2].i), result);
}

/* The entries whose place along a sparse dimension lies in [start, start + length), counted from start. */
static TsrTensor *narrow_entries(TsrScope *s, TsrTensor *self, const int64_t *sizes, int64_t dim, int64_t start, int64_t length) {
    TsrTensor *row = MAKE(s, tsr_tensor_new_select, self->sparse->indices, (int64_t)0, dim);
    TsrTensor *after = CALL(s, "ge", "ts", row, tsr_scalar_int(start)), *before = CALL(s, "lt", "ts", row, tsr_scalar_int(start + length));
    TsrTensor *inside = CALL(s, "logical_and", "tt", after, before);
    TsrTensor *found = CALL(s, "nonzero", "t", inside), *at = MAKE(s, tsr_tensor_new_select, found, (int64_t)1, (int64_t)0);
    TsrTensor *indices = CALL(s, "index_select", "tit", self->sparse->indices, (int64_t)1, at), *values = CALL(s, "index_select", "tit", self->sparse->values, (int64_t)0, at);
    TsrTensor *places = MAKE(s, tsr_tensor_new_select, indices, (int64_t)0, dim);
    (void)CALL(s, "sub", "!tts", places, places, tsr_scalar_int(start));
    return MAKE(s, tsr_sparse_new, TSR_SPARSE_COO, tsr_ndim(self), sizes, indices, NULL, values, (self->flags & TSR_FLAG_COALESCED) != 0);
}

static TsrStatus narrow_copy(TsrOpCall *c) {
    TsrTensor *self = SELF, *result = NULL;
    int64_t dim = c->arg[1].i, start = c->arg[2].i, length = c->arg[3].i, sizes[TSR_MAX_DIMS];
    if (is_compressed(self)) return tsr_error(TSR_RUNTIME_ERROR, "Sparse CSR tensors do not have strides");
    TSR_TRY(tsr_wrap_dim(&dim, tsr_ndim(self)));
    int64_t size = self->sizes[dim], dense = dim - self->sparse->sparse_dim;
    if (start < 0 || length < 0 || start > size || length > size - start)
        return tsr_error(TSR_RUNTIME_ERROR, "Invalid range to narrow. range(start, start+length) must be a subset of range(0, %lld).", (long long)size);
    for (int d = 0; d < tsr_ndim(self); d++) sizes[d] = d == dim ? length : self->sizes[d];
    TsrScope s = {0};
    if (dense < 0) {
        result = narrow_entries(&s, self, sizes, dim, start, length);
    } else {
        TsrTensor *part = SLICE(&s, self->sparse->values, dense + 1, start, start + length), *values = CALL(&s, "clone", "t", part);
        result = MAKE(&s, tsr_sparse_new, TSR_SPARSE_COO, tsr_ndim(self), sizes, self->sparse->indices, NULL, values, (self->flags & TSR_FLAG_COALESCED) != 0);
    }
    return tsr_scope_return(c, &s, result);
}

static TsrStatus unbind(TsrOpCall *c) {
    int64_t dim = c->arg[1].i;
    TSR_TRY(tsr_wrap_dim(&dim, tsr_ndim(SELF)));
    int64_t n = tsr_ndim(SELF) == 0 ? 0 : SELF->sizes[dim];
    if (n > INT32_MAX) return tsr_error_no_memory((size_t)n * sizeof(void *));
    TsrTensor **parts = tsr_calloc((size_t)n + 1, sizeof *parts);
    if (parts == NULL) return tsr_error_no_memory((size_t)n * sizeof *parts);
    TsrStatus status = TSR_OK;
    for (int64_t i = 0; i < n && status == TSR_OK; i++) status = select_new(&parts[i], SELF, dim, i);
    if (status == TSR_OK) status = tsr_return_list_move(c, parts, (int)n);
    else tsr_free_all(parts, (int)n);
    tsr_free(parts);
    return status;
}

/* For each position in `index`, in order, the entries there. */
static TsrStatus pick_entries(TsrTensor **out, TsrTensor **places, const int64_t *row, int64_t nnz, const int64_t *index, int64_t n) {
    int64_t count = 0;
    for (int64_t k = 0; k < n; k++) {
        TSR_TRY(tsr_interrupt_check());
        for (int64_t i = 0; i < nnz; i++) count += row[i] == index[k];
    }
    TSR_TRY(tsr_tensor_new(out, 1, &count, TSR_INT64, TSR_DEVICE_CPU));
    TsrStatus status = tsr_tensor_new(places, 1, &count, TSR_INT64, TSR_DEVICE_CPU);
    if (status != TSR_OK) {
        tsr_tensor_reset(out);
        return status;
    }
    int64_t *entry = tsr_data(*out), *place = tsr_data(*places);
    for (int64_t k = 0; k < n; k++)
        for (int64_t i = 0; i < nnz; i++)
            if (row[i] == index[k]) {
                *entry++ = i;
                *place++ = k;
            }
    return TSR_OK;
}

static TsrStatus index_select(TsrOpCall *c) {
    TsrTensor *self = SELF, *index = c->arg[2].t, *places = NULL;
    int64_t dim = c->arg[1].i, sizes[TSR_MAX_DIMS], bad = 0;
    if (!tsr_is_sparse(self)) return not_for("index_select", index);
    if (is_compressed(self)) return not_for("index_select", self);
    if (tsr_is_sparse(index) || tsr_ndim(index) > 1) return tsr_error(TSR_INDEX_ERROR, "index_select(): Index is supposed to be a vector");
    TSR_TRY(tsr_wrap_dim(&dim, tsr_ndim(self)));
    if (tsr_ndim(self) == 0) return tsr_error(TSR_INDEX_ERROR, "index_select() cannot be applied to a 0-dim tensor.");
    memcpy(sizes, self->sizes, sizeof *sizes * (size_t)tsr_ndim(self));
    sizes[dim] = index->numel;
    TsrScope s = {0};
    bool coalesced = (self->flags & TSR_FLAG_COALESCED) != 0;
    if (dim >= self->sparse->sparse_dim) {
        TsrTensor *values = CALL(&s, "index_select", "tit", self->sparse->values, dim - self->sparse->sparse_dim + 1, index);
        return tsr_scope_return(c, &s, MAKE(&s, tsr_sparse_new, TSR_SPARSE_COO, tsr_ndim(self), sizes, self->sparse->indices, NULL, values, coalesced));
    }
    TsrTensor *wanted = MAKE(&s, tsr_long_new, index), *row = MAKE(&s, tsr_tensor_new_select, self->sparse->indices, (int64_t)0, dim);
    TsrTensor *own = CALL(&s, "clone", "t", row), *at = CALL(&s, "clone", "t", wanted);
    TsrTensor *negative = CALL(&s, "lt", "ts", at, tsr_scalar_int(0));
    TsrTensor *shifted = s.status == TSR_OK ? CALL(&s, "add", "ts", at, tsr_scalar_int(self->sizes[dim])) : NULL;
    at = CALL(&s, "where", "ttt", negative, shifted, at);
    if (s.status == TSR_OK && !tsr_positions_valid(at, self->sizes[dim], &bad))
        s.status = tsr_error(TSR_INDEX_ERROR, "index_select(): index contains %lld that is out of range for tensor of size %s at dimension %lld", (long long)bad, tsr_sizes_text(self),
                             (long long)dim);
    TsrTensor *entries = s.status == TSR_OK ? MAKE(&s, pick_entries, &places, tsr_data(own), own->numel, tsr_data(at), at->numel) : NULL;
    TsrTensor *picked = CALL(&s, "index_select", "tit", self->sparse->indices, (int64_t)1, entries);
    TsrTensor *target = MAKE(&s, tsr_tensor_new_select, picked, (int64_t)0, dim);
    if (s.status == TSR_OK) s.status = tsr_tensor_copy(target, places);
    tsr_tensor_free(places);
    TsrTensor *values = CALL(&s, "index_select", "tit", self->sparse->values, (int64_t)0, entries);
    return tsr_scope_return(c, &s, MAKE(&s, tsr_sparse_new, TSR_SPARSE_COO, tsr_ndim(self), sizes, picked, NULL, values, coalesced && dim == 0));
}

/* a followed by b along dim. */
static TsrStatus join(TsrTensor **out, TsrTensor *a, TsrTensor *b, int64_t dim) {
    TsrScope s = {0};
    int64_t sizes[TSR_MAX_DIMS];
    if (tsr_ndim(a) != tsr_ndim(b) || a->sparse->sparse_dim != b->sparse->sparse_dim)
        return tsr_error(TSR_RUNTIME_ERROR, "All tensors must have the same shape: %s (except in the concatenating dimension)", tsr_sizes_text(a));
    for (int d = 0; d < tsr_ndim(a); d++) {
        sizes[d] = a->sizes[d];
        if (d == dim) sizes[d] += b->sizes[d];
        else if (a->sizes[d] != b->sizes[d])
            return tsr_error(TSR_RUNTIME_ERROR, "All tensors must have the same shape: %s (except in the concatenating dimension), but got shape: %s", tsr_sizes_text(a), tsr_sizes_text(b));
    }
    int64_t n = a->sparse->sparse_dim, shape[2] = {n, 1};
    if (dim >= n) return tsr_error(TSR_RUNTIME_ERROR, "cat: joining sparse tensors along a dense dimension is not supported");
    TsrTensor *shift = MAKE(&s, tsr_zeros_new, 2, shape, TSR_INT64, TSR_DEVICE_CPU);
    if (s.status == TSR_OK) ((int64_t *)tsr_data(shift))[dim] = a->sizes[dim];
    TsrTensor *moved = CALL(&s, "add", "tt", b->sparse->indices, shift);
    TsrTensor *indices = CALL(&s, "cat", "Ti", 2, ((TsrTensor *[]){a->sparse->indices, moved}), (int64_t)1);
    TsrTensor *values = CALL(&s, "cat", "Ti", 2, ((TsrTensor *[]){a->sparse->values, b->sparse->values}), (int64_t)0);
    bool coalesced = dim == 0 && (a->flags & b->flags & TSR_FLAG_COALESCED) != 0;
    return tsr_scope_end_new(out, &s, MAKE(&s, tsr_sparse_new, TSR_SPARSE_COO, tsr_ndim(a), sizes, indices, NULL, values, coalesced));
}

static TsrStatus join_all(TsrOpCall *c, bool stack) {
    TsrTensor **list = c->arg[0].tensors, *all = NULL;
    int64_t dim = c->arg[1].i;
    for (int i = 0; i < c->arg[0].n; i++) {
        if (!tsr_is_sparse(list[i])) return tsr_error(TSR_RUNTIME_ERROR, "Concatenating sparse tensors, but a dense tensor was found at position %d.", i);
        if (is_compressed(list[i])) return not_for("cat", list[i]);
    }
    TSR_TRY(tsr_wrap_dim(&dim, tsr_ndim(list[0]) + stack));
    TsrStatus status = TSR_OK;
    for (int i = 0; i < c->arg[0].n && status == TSR_OK; i++) {
        TsrScope s = {0};
        TsrTensor *item = stack ? MAKE(&s, unsqueeze_new, list[i], dim) : list[i], *longer = NULL;
        TsrTensor *next = all == NULL ? item : MAKE(&s, join, all, item, dim);
        status = tsr_scope_end_new(&longer, &s, next);
        if (status != TSR_OK) break;
        tsr_tensor_free(all);
        all = longer;
    }
    if (status != TSR_OK) tsr_tensor_free(all);
    return tsr_finish_move(c, status, all);
}

static TsrStatus cat(TsrOpCall *c) { return join_all(c, false); }
static TsrStatus stack(TsrOpCall *c) { return join_all(c, true); }

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
        int64_t m = kept;
        TsrTensor *which = MAKE(&s, tsr_tensor_new, 1, &m, TSR_INT64, TSR_DEVICE_CPU);
        if (s.status == TSR_OK) memcpy(tsr_data(which), pick, sizeof *pick * (size_t)m);
        TsrTensor *indices = CALL(&s, "index_select", "tit", t->sparse->indices, (int64_t)0, which);
        TsrTensor *wide = tsr_dtype_is_float(t->dtype) || tsr_dtype_is_complex(t->dtype) || s.status != TSR_OK ? values : MAKE(&s, tsr_tensor_new_cast, values, TSR_INT64);
        TsrTensor *loose = MAKE(&s, tsr_sparse_new, TSR_SPARSE_COO, k, sizes, indices, NULL, wide, false);
        result = MAKE(&s, tsr_sparse_coalesce_new, loose);
    }
    for (int d = 0; keep && d < n; d++)
        if (drop[d] && s.status == TSR_OK) result = tsr_is_sparse(result) ? MAKE(&s, unsqueeze_new, result, (int64_t)d) : CALL(&s, "unsqueeze", "ti", result, (int64_t)d);
    return tsr_scope_end_new(out, &s, result);
}

static TsrStatus mark_dims(bool *drop, const TsrTensor *t, const TsrArg *dims) {
    int n = tsr_ndim(t);
    memset(drop, !tsr_arg_given(dims) || dims->n == 0, sizeof *drop * TSR_MAX_DIMS);
    for (int i = 0; tsr_arg_given(dims) && i < dims->n; i++) {
        int64_t d = dims->ints[i];
        TSR_TRY(tsr_wrap_dim(&d, n));
        if (drop[d]) return tsr_error(TSR_RUNTIME_ERROR, "dim %lld appears multiple times in the list of dims", (long long)d);
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
    if (whole && !keep) return tsr_scope_return(c, &s, s.status == TSR_OK ? CALL(&s, "sum", "t", t->sparse->values) : NULL);
    if (is_compressed(SELF) && !keep && s.status == TSR_OK) s.status = tsr_error(TSR_RUNTIME_ERROR, "reduction operations on CSR tensors with keepdim=False is unsupported");
    TsrTensor *coo = MAKE(&s, tsr_sparse_to_coo_new, t);
    if (s.status == TSR_OK) s.status = mark_dims(drop, SELF, dims);
    TsrTensor *result = MAKE(&s, sum_dims, coo, drop, keep);
    if (s.status != TSR_OK) return tsr_scope_end(&s);
    return tsr_scope_return(c, &s, as_layout(&s, result, SELF));
}

static TsrStatus sum(TsrOpCall *c) {
    TsrArg none = {.kind = TSR_ARG_NONE};
    if (c->nargs < 4) return sum_general(c, &none, false, &c->arg[1]);
    return sum_general(c, &c->arg[1], c->arg[2].b, &c->arg[3]);
}

TsrStatus op_sparse_sum(TsrOpCall *c) {
    if (!is_coo(SELF) && !is_compressed(SELF)) return tsr_error(TSR_RUNTIME_ERROR, "coalesce expected sparse coordinate tensor layout but got Strided");
    return sum_general(c, &c->arg[1], false, &c->arg[2]);
}

/* any() and norm() of all elements: of the stored ones, coalesced. */
static TsrStatus whole_of_values(TsrOpCall *c) {
    if (c->nargs > 1 && strcmp(c->schema->base, "any") == 0) return not_for("any", SELF);
    for (int i = 2; i < c->nargs; i++)
        if (c->arg[i].kind == TSR_ARG_INTS || c->arg[i].kind == TSR_ARG_INT) return not_for(c->schema->base, SELF);
    TsrScope s = {0};
    TsrTensor *coo = is_coo(SELF) ? MAKE(&s, tsr_sparse_coalesce_new, SELF) : SELF, *result = NULL;
    if (s.status == TSR_OK && c->nargs > 1 && c->arg[1].kind == TSR_ARG_SCALAR) result = CALL(&s, c->schema->base, "ts", coo->sparse->values, c->arg[1].s);
    else if (s.status == TSR_OK) result = CALL(&s, c->schema->base, "t", coo->sparse->values);
    return tsr_scope_return(c, &s, result);
}

/* ---- matrix products ---- */

static TsrStatus mm_shapes(const TsrTensor *a, const TsrTensor *b) {
    bool both = tsr_is_sparse(a) && tsr_is_sparse(b);
    if (tsr_is_sparse(a) && is_coo(a) && a->sparse->sparse_dim != 2) return tsr_error(TSR_RUNTIME_ERROR, "addmm: matrices expected, got %dD tensor", a->sparse->sparse_dim);
    if (tsr_ndim(a) != 2 || tsr_ndim(b) != 2) {
        const TsrTensor *odd = tsr_ndim(a) != 2 ? a : b;
        if (tsr_ndim(odd) < 2) return tsr_error(TSR_INDEX_ERROR, "Dimension out of range (expected to be in range of [-1, 0], but got 1)");
        return tsr_error(TSR_RUNTIME_ERROR, "addmm: matrices expected, got %dD tensor", tsr_ndim(odd));
    }
    if (tsr_is_sparse(b) && b->sparse->sparse_dim != 2) return tsr_error(TSR_RUNTIME_ERROR, "addmm: matrices expected, got %dD tensor", b->sparse->sparse_dim);
    if (a->sizes[1] != b->sizes[0]) {
        if (!both && is_coo(a)) return tsr_error(TSR_RUNTIME_ERROR, "addmm: Argument #3 (dense): Expected dim 0 size %lld, got %lld", (long long)a->sizes[1], (long long)b->sizes[0]);
        return tsr_error(TSR_RUNTIME_ERROR, "%s: mat1 and mat2 shapes cannot be multiplied (%lldx%lld and %lldx%lld)", both && is_coo(a) ? "_sparse_sparse_matmul" : "addmm",
                         (long long)a->sizes[0], (long long)a->sizes[1], (long long)b->sizes[0], (long long)b->sizes[1]);
    }
    if (a->dtype == b->dtype) return TSR_OK;
    if (both) return tsr_error(TSR_RUNTIME_ERROR, "mat1 dtype %s does not match mat2 dtype %s", tsr_dtype_scalar_name(a->dtype), tsr_dtype_scalar_name(b->dtype));
    return tsr_error(TSR_RUNTIME_ERROR, "expected scalar type %s but found %s", tsr_dtype_scalar_name(a->dtype), tsr_dtype_scalar_name(b->dtype));
}

/* Entries of a sparse matrix that add multiples of rows of a dense one, for some columns of the result. */
typedef struct Multiples {
    TsrDtype dtype;
    int64_t nnz, columns;
    const int64_t *row, *col;
    const char *value, *dense;
    char *out;
    bool fused; /* products and sums */
} Multiples;

static void add_multiples(int64_t begin, int64_t end, void *user) {
    enum { STRIPE = 512 };
    _Alignas(TSR_LINE) char product[STRIPE * 8];
    const Multiples *m = user;
    int64_t item = (int64_t)tsr_dtype_size(m->dtype), dense[] = {item, item, item}, number[] = {item, item, 0};
    TsrLoop axpy = tsr_kernel(TSR_K_axpy, m->dtype), mul = tsr_kernel(TSR_K_mul, m->dtype), add = tsr_kernel(TSR_K_add, m->dtype);
    for (int64_t first = begin; first < end; first += STRIPE) {
        int64_t n = TSR_MIN(end - first, (int64_t)STRIPE);
        for (int64_t i = 0; i < m->nnz && !tsr_interrupted_at(i); i++) {
            char *out = m->out + (m->row[i] * m->columns + first) * item, *from = (char *)(uintptr_t)m->dense + (m->col[i] * m->columns + first) * item;
            char *value = (char *)(uintptr_t)m->value + i * item;
            if (m->fused) {
                axpy((char *[]){out, out, from}, dense, n, value);
            } else {
                mul((char *[]){product, from, value}, number, n, NULL);
                add((char *[]){out, out, product}, dense, n, NULL);
            }
        }
    }
}

/* COO (m, k) times dense (k, n) of floats: each entry adds its multiple of a row. */
static TsrStatus floats_times_dense(TsrTensor **out, TsrTensor *a, TsrTensor *b, bool fused) {
    TsrScope s = {0};
    int64_t shape[2] = {a->sizes[0], b->sizes[1]};
    TsrTensor *whole = MAKE(&s, tsr_tensor_new_cast, a->sparse->indices, TSR_INT64), *indices = MAKE(&s, tsr_tensor_new_contiguous, whole, TSR_CONTIGUOUS);
    TsrTensor *values = MAKE(&s, tsr_tensor_new_contiguous, a->sparse->values, TSR_CONTIGUOUS), *dense = MAKE(&s, tsr_tensor_new_contiguous, b, TSR_CONTIGUOUS);
    TsrTensor *result = MAKE(&s, tsr_zeros_new, 2, shape, a->dtype, a->device);
    if (s.status == TSR_OK && result->numel > 0 && values->numel > 0) {
        const int64_t *at = tsr_data(indices);
        Multiples m = {a->dtype, values->numel, shape[1], at, at + values->numel, tsr_data(values), tsr_data(dense), tsr_data(result), fused};
        s.status = tsr_parallel_for(shape[1], TSR_MAX((1 << 16) / values->numel, 64), add_multiples, &m);
    }
    return tsr_scope_end_new(out, &s, result);
}

/* The same of any dtype; fused: as PyTorch multiplies COO tensors, but not compressed ones. */
static TsrStatus coo_times_dense(TsrTensor **out, TsrTensor *a, TsrTensor *b, bool fused) {
    TsrScope s = {0};
    int64_t shape[2] = {a->sizes[0], b->sizes[1]};
    TsrTensor *flat = MAKE(&s, tsr_sparse_flat_new, a); /* for its check of positions */
    if (flat != NULL && tsr_in(TSR_BIT(FLOAT32) | TSR_BIT(FLOAT64), a->dtype)) return tsr_scope_end_new(out, &s, MAKE(&s, floats_times_dense, a, b, fused));
    TsrTensor *rows = MAKE(&s, tsr_tensor_new_select, a->sparse->indices, (int64_t)0, (int64_t)0), *cols = MAKE(&s, tsr_tensor_new_select, a->sparse->indices, (int64_t)0, (int64_t)1);
    TsrTensor *picked = CALL(&s, "index_select", "tit", b, (int64_t)0, cols);
    TsrTensor *column = MAKE(&s, tsr_tensor_new_unsqueeze, a->sparse->values, (int64_t)1);
    TsrTensor *product = CALL(&s, "mul", "tt", picked, column);
    TsrTensor *zeros = MAKE(&s, tsr_zeros_new, 2, shape, a->dtype, a->device);
    return tsr_scope_end_new(out, &s, tsr_sparse_add_at(&s, zeros, rows, product));
}

/* Every pair (entry of a, entry of b in the row that a's column names): pairs (2, n), indices (2, n). */
static TsrStatus pair_entries(TsrTensor **out, TsrTensor **indices, const int64_t *ia, int64_t na, const int64_t *ib, int64_t nb, int64_t depth) {
    int64_t *start = NULL, total = 0, room;
    if (tsr_add_overflows(depth, 1, &room) || (start = tsr_calloc((size_t)room, sizeof *start)) == NULL) return tsr_error_no_memory(SIZE_MAX);
    for (int64_t k = 0; k < nb; k++) start[ib[k] + 1]++;
    for (int64_t r = 0; r < depth; r++) start[r + 1] += start[r];
    for (int64_t i = 0; i < na; i++) total += start[ia[na + i] + 1] - start[ia[na + i]];
    int64_t shape[2] = {2, total};
    TsrStatus status = tsr_tensor_new(out, 2, shape, TSR_INT64, TSR_DEVICE_CPU);
    if (status == TSR_OK) {
        status = tsr_tensor_new(indices, 2, shape, TSR_INT64, TSR_DEVICE_CPU);
        if (status != TSR_OK) tsr_tensor_reset(out);
    }
    if (status == TSR_OK) {
        int64_t *p = tsr_data(*out), *x = tsr_data(*indices), n = 0;
        for (int64_t i = 0; i < na; i++)
            for (int64_t k = start[ia[na + i]]; k < start[ia[na + i] + 1]; k++, n++) {
                p[n] = i;
                p[total + n] = k;
                x[n] = ia[i];
                x[total + n] = ib[nb + k];
            }
    }
    tsr_free(start);
    return status;
}

static TsrStatus coo_times_coo(TsrTensor **out, TsrTensor *a, TsrTensor *b) {
    TsrScope s = {0};
    int64_t sizes[2] = {a->sizes[0], b->sizes[1]};
    TsrTensor *x = MAKE(&s, tsr_sparse_coalesce_new, a), *y = MAKE(&s, tsr_sparse_coalesce_new, b), *indices = NULL;
    TsrTensor *checked = MAKE(&s, tsr_sparse_flat_new, x);
    checked = MAKE(&s, tsr_sparse_flat_new, y);
    (void)checked;
    TsrTensor *ia = s.status == TSR_OK ? MAKE(&s, tsr_long_new, x->sparse->indices) : NULL, *ib = s.status == TSR_OK ? MAKE(&s, tsr_long_new, y->sparse->indices) : NULL;
    TsrTensor *pairs = s.status == TSR_OK ? MAKE(&s, pair_entries, &indices, tsr_data(ia), tsr_sparse_nnz(x), tsr_data(ib), tsr_sparse_nnz(y), y->sizes[0]) : NULL;
    TsrTensor *pa = MAKE(&s, tsr_tensor_new_select, pairs, (int64_t)0, (int64_t)0), *pb = MAKE(&s, tsr_tensor_new_select, pairs, (int64_t)0, (int64_t)1);
    TsrTensor *va = s.status == TSR_OK ? CALL(&s, "index_select", "tit", x->sparse->values, (int64_t)0, pa) : NULL;
    TsrTensor *vb = s.status == TSR_OK ? CALL(&s, "index_select", "tit", y->sparse->values, (int64_t)0, pb) : NULL;
    TsrTensor *values = CALL(&s, "mul", "tt", va, vb);
    TsrTensor *loose = MAKE(&s, tsr_sparse_new, TSR_SPARSE_COO, 2, sizes, indices, NULL, values, false);
    tsr_tensor_free(indices);
    return tsr_scope_end_new(out, &s, MAKE(&s, tsr_sparse_coalesce_new, loose));
}

static TsrStatus mm_new(TsrTensor **out, TsrTensor *a, TsrTensor *b) {
    if (!tsr_is_sparse(a) && !tsr_is_sparse(b)) return tsr_invoke_new(out, 1, "mm", "tt", a, b);
    TSR_TRY(mm_shapes(a, b));
    TsrScope s = {0};
    TsrTensor *x = tsr_is_sparse(a) ? MAKE(&s, tsr_sparse_to_coo_new, a) : a, *y = tsr_is_sparse(b) ? MAKE(&s, tsr_sparse_to_coo_new, b) : b, *result;
    if (s.status == TSR_OK && tsr_is_sparse(a) && tsr_is_sparse(b)) {
        result = as_layout(&s, MAKE(&s, coo_times_coo, x, y), a);
    } else if (tsr_is_sparse(a)) {
        result = MAKE(&s, coo_times_dense, x, y, is_coo(a));
    } else {
        TsrTensor *yt = MAKE(&s, transpose_new, y, (int64_t)0, (int64_t)1), *xt = MAKE(&s, tsr_tensor_new_transpose, x, (int64_t)0, (int64_t)1);
        TsrTensor *product = MAKE(&s, coo_times_dense, yt, xt, is_coo(b)), *turned = MAKE(&s, tsr_tensor_new_transpose, product, (int64_t)0, (int64_t)1);
        result = MAKE(&s, tsr_tensor_new_contiguous, turned, TSR_CONTIGUOUS);
    }
    return tsr_scope_end_new(out, &s, result);
}

static TsrStatus mm(TsrOpCall *c) {
    TsrTensor *result = NULL;
    return tsr_finish_move(c, mm_new(&result, SELF, c->arg[1].t), result);
}

TsrStatus op_sparse_mm(TsrOpCall *c) { return mm(c); }

static TsrStatus mv(TsrOpCall *c) {
    TsrTensor *vector = c->arg[1].t;
    if (tsr_ndim(SELF) != 2 || tsr_ndim(vector) != 1 || tsr_is_sparse(vector))
        return tsr_error(TSR_RUNTIME_ERROR, "mv: two tensor dim should be 2 and 1, but got SparseTensor Dim: %d Tensor Dim: %d", tsr_ndim(SELF), tsr_ndim(vector));
    if (SELF->sizes[1] != vector->sizes[0]) return tsr_error(TSR_RUNTIME_ERROR, "mv: expected self.size(-1) == vec.size(-1)");
    TsrScope s = {0};
    TsrTensor *column = MAKE(&s, tsr_tensor_new_unsqueeze, vector, (int64_t)1), *product = MAKE(&s, mm_new, SELF, column);
    return tsr_scope_return(c, &s, MAKE(&s, tsr_tensor_new_select, product, (int64_t)1, (int64_t)0));
}

static TsrStatus matmul(TsrOpCall *c) {
    TsrTensor *other = c->arg[1].t;
    if (tsr_ndim(SELF) == 2 && tsr_ndim(other) == 1) return mv(c);
    if (tsr_ndim(SELF) == 2 && tsr_ndim(other) == 2) return mm(c);
    if (tsr_ndim(SELF) != 3 || tsr_ndim(other) != 3) return not_for(strcmp(c->schema->base, "bmm") == 0 ? "bmm" : "matmul", tsr_is_sparse(SELF) ? SELF : other);
    TsrScope s = {0};
    TsrTensor *a = MAKE(&s, tsr_sparse_to_dense_new, SELF), *b = MAKE(&s, tsr_sparse_to_dense_new, other);
    return tsr_scope_return(c, &s, CALL(&s, "bmm", "tt", a, b));
}

static TsrStatus rmatmul(TsrOpCall *c) {
    TsrTensor *result = NULL;
    return tsr_finish_move(c, tsr_invoke_new(&result, 1, "matmul", "tt", c->arg[1].t, SELF), result);
}

static TsrStatus addmm(TsrOpCall *c) {
    TsrTensor *a = c->arg[1].t, *b = c->arg[2].t;
    if (tsr_is_sparse(SELF) || (is_coo(a) && tsr_is_sparse(b)))
        return tsr_error(TSR_RUNTIME_ERROR,
                         "addmm_sparse_dense: expected either 'mat1' to have sparse layout and 'mat2' to have strided layout, got 'mat1' with layout %s and 'mat2' with layout %s",
                         tsr_sparse_layout_name(a), tsr_sparse_layout_name(b));
    TsrScope s = {0};
    TsrTensor *product = MAKE(&s, mm_new, a, b);
    TsrTensor *scaled = CALL(&s, "mul", "ts", product, c->arg[4].s), *start = CALL(&s, "mul", "ts", SELF, c->arg[3].s);
    return tsr_scope_return(c, &s, CALL(&s, "add", "tt", start, scaled));
}

TsrStatus op_sparse_addmm(TsrOpCall *c) {
    if (tsr_is_sparse(SELF) || tsr_is_sparse(c->arg[1].t) || tsr_is_sparse(c->arg[2].t)) return addmm(c);
    TsrTensor *t = NULL;
    return tsr_finish_move(c, tsr_invoke_new(&t, 1, "addmm", "tttss", SELF, c->arg[1].t, c->arg[2].t, c->arg[3].s, c->arg[4].s), t);
}

/* ---- softmax ---- */

/* Along a sparse dimension: the entries that agree in all other coordinates are one group; unstored elements count as -inf. */
static TsrStatus softmax_sparse(TsrTensor **out, TsrTensor *t, int64_t dim, bool logarithm) {
    TsrScope s = {0};
    int64_t shape[TSR_MAX_DIMS + 1] = {1};
    int rows = t->sparse->sparse_dim;
    for (int d = 0; d < rows; d++) shape[0] *= t->sizes[d];
    for (int d = rows; d < tsr_ndim(t); d++) shape[d - rows + 1] = t->sizes[d];
    TsrTensor *full = CALL(&s, "full", "Is", tsr_ndim(t) - rows + 1, shape, tsr_scalar_float(-__builtin_inf()));
    full = s.status == TSR_OK ? MAKE(&s, tsr_tensor_new_cast, full, t->dtype) : NULL;
    TsrTensor *flat = MAKE(&s, tsr_sparse_flat_new, t);
    TsrTensor *filled = CALL(&s, "index_copy", "titt", full, (int64_t)0, flat, t->sparse->values);
    TsrTensor *wide = MAKE(&s, tsr_tensor_new_reshape, filled, tsr_ndim(t), t->sizes);
    TsrTensor *soft = CALL(&s, logarithm ? "log_softmax" : "softmax", "ti", wide, dim);
    TsrTensor *values = gather(&s, soft, t);
    return tsr_scope_end_new(out, &s, MAKE(&s, tsr_sparse_with_values_new, t, values));
}

static TsrStatus softmax_any(TsrOpCall *c, bool logarithm) {
    int64_t dim = c->arg[1].i;
    if (!is_coo(SELF))
        return tsr_error(TSR_NOT_IMPLEMENTED_ERROR, "Could not run 'aten::_sparse_%ssoftmax' with arguments from the '%s' backend.", logarithm ? "log_" : "",
                         is_compressed(SELF) ? "SparseCsrCPU" : "CPU");
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
        TsrTensor *values = CALL(&s, logarithm ? "log_softmax" : "softmax", "ti", t->sparse->values, dim - t->sparse->sparse_dim + 1);
        result = MAKE(&s, tsr_sparse_with_values_new, t, values);
    }
    return tsr_scope_return(c, &s, result);
}

TsrStatus op_sparse_softmax(TsrOpCall *c) { return softmax_any(c, false); }
TsrStatus op_sparse_log_softmax(TsrOpCall *c) { return softmax_any(c, true); }

/* ---- what there is not ---- */

static TsrStatus no_expand(TsrOpCall *c) {
    (void)c;
    return tsr_error(TSR_RUNTIME_ERROR, "expand is unsupported for Sparse tensors");
}

static TsrStatus no_reshape(TsrOpCall *c) {
    (void)c;
    return tsr_error(TSR_RUNTIME_ERROR, "reshape is not implemented for sparse tensors");
}

static TsrStatus no_contiguous(TsrOpCall *c) {
    (void)c;
    return tsr_error(TSR_RUNTIME_ERROR, "unsupported memory format option Contiguous");
}

static TsrStatus no_strides(TsrOpCall *c) { return not_for("as_strided", SELF); }
static TsrStatus no_same_memory(TsrOpCall *c) { return not_for("is_set_to", SELF); }

static TsrStatus no_address(TsrOpCall *c) {
    (void)c;
    return tsr_error(TSR_RUNTIME_ERROR, "Cannot access data pointer of Tensor that doesn't have storage");
}

static TsrStatus is_contiguous(TsrOpCall *c) {
    if (is_compressed(SELF)) return tsr_error(TSR_RUNTIME_ERROR, "Sparse CSR tensors do not have is_contiguous");
    c->ret[0] = (TsrArg){.kind = TSR_ARG_BOOL, .b = false};
    c->nret = 1;
    return TSR_OK;
}

static TsrStatus stride(TsrOpCall *c) {
    if (is_compressed(SELF)) return tsr_error(TSR_RUNTIME_ERROR, "Sparse CSR tensors do not have strides");
    return c->op->fn(c);
}

/* ---- the table ---- */

#define UNARY(n) {#n, unary}
static const struct Form { const char *name; TsrOpFn fn; } forms[] = {
    UNARY(abs), UNARY(absolute), UNARY(neg), UNARY(negative), UNARY(positive), {"pos", itself}, UNARY(sin), UNARY(tan), UNARY(sinh), UNARY(tanh), UNARY(asin), UNARY(arcsin),
    UNARY(asinh), UNARY(arcsinh), UNARY(atan), UNARY(arctan), UNARY(atanh), UNARY(arctanh), UNARY(sqrt), UNARY(relu), UNARY(sign), UNARY(sgn), UNARY(floor), UNARY(ceil),
    UNARY(round), UNARY(trunc), UNARY(frac), UNARY(isnan), UNARY(isinf), UNARY(isposinf), UNARY(isneginf), UNARY(signbit), UNARY(log1p), UNARY(expm1), UNARY(erf), UNARY(erfinv),
    UNARY(deg2rad), UNARY(rad2deg), UNARY(nan_to_num), UNARY(conj_physical), UNARY(angle), {"pow", power},
    {"add", add}, {"radd", add}, {"sub", sub}, {"subtract", sub}, {"rsub", rsub}, {"mul", mul}, {"multiply", mul}, {"rmul", mul}, {"div", divide}, {"divide", divide},
    {"true_divide", divide}, {"truediv", divide}, {"floor_divide", floor_divide}, {"floordiv", floor_divide},
    {"clone", clone}, {"detach", detach}, {"alias", detach}, {"resolve_conj", itself}, {"resolve_neg", itself}, {"conj", conjugate}, {"cpu", itself}, {"to", to}, {"type_as", to},
    {"type", type_or_name}, {"float", convert}, {"double", convert}, {"half", convert}, {"bfloat16", convert}, {"int", convert}, {"long", convert}, {"short", convert},
    {"char", convert}, {"byte", convert}, {"bool", convert}, {"cfloat", convert}, {"cdouble", convert}, {"zeros_like", zeros_like}, {"empty_like", zeros_like},
    {"new_zeros", new_zeros}, {"new_empty", new_zeros}, {"zero", zero}, {"copy", copy},
    {"transpose", transpose}, {"swapaxes", transpose}, {"swapdims", transpose}, {"t", t}, {"T", t}, {"mT", t}, {"permute", permute}, {"unsqueeze", unsqueeze},
    {"select", select_op}, {"unbind", unbind}, {"index_select", index_select}, {"cat", cat}, {"concat", cat}, {"concatenate", cat}, {"stack", stack},
    {"sum", sum}, {"any", whole_of_values}, {"norm", whole_of_values}, {"mm", mm}, {"mv", mv}, {"matmul", matmul}, {"bmm", matmul}, {"rmatmul", rmatmul}, {"addmm", addmm},
    {"expand", no_expand}, {"broadcast_to", no_expand}, {"expand_as", no_expand}, {"repeat", no_expand}, {"reshape", no_reshape}, {"flatten", no_reshape},
    {"contiguous", no_contiguous}, {"squeeze", no_strides}, {"narrow", no_strides}, {"narrow_copy", narrow_copy}, {"chunk", no_strides}, {"split", no_strides}, {"diagonal", no_strides},
    {"is_set_to", no_same_memory}, {"data_ptr", no_address}, {"is_contiguous", is_contiguous}, {"stride", stride},
};

static bool is_sparse_argument(const TsrOpCall *c, bool *complex) {
    for (int i = 0; i < c->nargs; i++) {
        const TsrArg *a = &c->arg[i];
        for (int k = 0; a->kind == TSR_ARG_TENSORS && k < a->n; k++)
            if (a->tensors[k] != NULL && tsr_is_sparse(a->tensors[k])) return true;
        if (a->kind != TSR_ARG_TENSOR || !tsr_is_sparse(a->t)) continue;
        *complex = tsr_dtype_is_complex(a->t->dtype);
        return true;
    }
    return false;
}

TsrOpFn tsr_sparse_find(const TsrOpCall *c) {
    char name[32];
    bool complex = false;
    if (!is_sparse_argument(c, &complex)) return NULL;
    const char *full = c->schema->name, *base = c->schema->base;
    if (full != base && strchr(full, '.') != NULL && strcmp(full, "nn.functional.relu") != 0) return NULL; /* namespaces have other functions of the same name */
    if (strcmp(base, "real") == 0 && !complex) return itself;
    plain_name(name, sizeof name, base);
    for (size_t i = 0; i < TSR_COUNTOF(forms); i++)
        if (strcmp(forms[i].name, name) == 0) return forms[i].fn;
    return NULL;
}
