/* rows.c: rows at positions along one dimension: index_select, index_add, index_copy, index_fill, index_reduce; and
 * index_put.
 *
 * A dense tensor is seen as (outer, size, inner): a position picks `inner` neighbouring elements in each of `outer`
 * places, so reading and writing are runs of bytes. A write stops where PyTorch's stops: at the first bad position, in
 * every row or in the first alone (Reach), and what was written before stays in self. Adding rows is a scatter along
 * the first or last dimension, as PyTorch has it, since the order of additions shows. */
#include <stdio.h>
#include <string.h>

#include "core/engine/places.h"
#include "core/ops/reduce/along.h"
#include "core/indexing.h"
#include "core/op/out.h"
#include "core/tensor/inference.h"

/* ---- rows: index_select, index_add, index_copy, index_fill, index_reduce ---- */

typedef struct Rows {
    int64_t outer, n, inner, size; /* result is (outer, n, inner); the indexed one (outer, size, inner) */
    size_t item;
    char *dst;
    const char *src;
    const int64_t *index;
} Rows;

static Rows rows_of(const TsrTensor *t, int64_t dim, int64_t n) {
    Rows r = {.outer = 1, .n = n, .inner = 1, .size = tsr_along_size(t, dim), .item = tsr_itemsize(t)};
    for (int d = 0; d < tsr_ndim(t); d++) {
        if (d < dim) r.outer *= t->sizes[d];
        if (d > dim) r.inner *= t->sizes[d];
    }
    return r;
}

static void select_rows(int64_t begin, int64_t end, void *user) {
    const Rows *r = user;
    size_t row = (size_t)r->inner * r->item;
    for (int64_t k = begin; k < end; k++) {
        int64_t o = k / r->n;
        memcpy(r->dst + (size_t)k * row, r->src + (size_t)(o * r->size + r->index[k % r->n]) * row, row);
    }
}

static void select_items(int64_t begin, int64_t end, void *user) {
    const Rows *r = user;
    for (int64_t k = begin; k < end;) {
        int64_t o = k / r->n, first = k % r->n, n = TSR_MIN(r->n - first, end - k), item = (int64_t)r->item;
        tsr_along_pick(&(AlongPick){r->dst + k * item, r->src + o * r->size * item, item, item, r->index + first, 1}, n,
                       item);
        k += n;
    }
}

static TsrStatus check_index_select(const TsrTensor *self, const TsrTensor *index) {
    if (tsr_ndim(index) > 1) return tsr_error(TSR_INDEX_ERROR, "index_select(): Index is supposed to be a vector");
    if (tsr_ndim(self) == 0 && index->numel != 1)
        return tsr_error(TSR_RUNTIME_ERROR, "index_select(): Index to scalar can have only 1 value, got %lld value(s)",
                         (long long)index->numel);
    if (!tsr_is_index_dtype(index))
        return tsr_error(TSR_RUNTIME_ERROR, "index_select(): Expected dtype int32 or int64 for index");
    return TSR_OK;
}

/* Those of a device are found to be bad when they are used. */
static TsrStatus check_select_bounds(const TsrTensor *self, int64_t dim, const TsrTensor *index) {
    int64_t bad, size = tsr_along_size(self, dim);
    bool strict = tsr_ndim(self) > 1 && (dim == 1 || self->numel == 0);
    if (strict && self->numel == 0 && size <= 0 && index->numel > 0)
        return tsr_error(TSR_RUNTIME_ERROR, "index_select(): self indexing axis dim should be positive");
    if (tsr_on_device(index) || tsr_positions_valid(index, size, &bad)) return TSR_OK;
    if (strict)
        return tsr_error(TSR_RUNTIME_ERROR, "INDICES element is out of DATA bounds, id=%lld axis_dim=%lld",
                         (long long)bad, (long long)size);
    return tsr_error(TSR_INDEX_ERROR, "index out of range in self");
}

static TsrStatus index_select_fill(TsrTensor *t, const TsrTensor *self, int64_t dim, const TsrTensor *index) {
    TsrTensor *dense, *positions;
    TSR_TRY(tsr_dense_new(&positions, index, TSR_INT64));
    TsrStatus status = check_select_bounds(self, dim, positions);
    if (status == TSR_OK && tsr_on_device(self)) {
        const TsrAlong along = {.index = positions, .dim = dim, .rows = true, .wrong = TSR_WRONG_ROW};
        status = tsr_pick_along(t, self, &along);
    } else if (status == TSR_OK && t->numel > 0) {
        status = tsr_tensor_new_contiguous(&dense, self, TSR_CONTIGUOUS);
        if (status == TSR_OK) {
            Rows r = rows_of(dense, dim, positions->numel);
            r.dst = tsr_data(t);
            r.src = tsr_data(dense);
            r.index = tsr_data(positions);
            if (r.inner == 1) status = tsr_parallel_for(r.outer * r.n, tsr_grain(1), select_items, &r);
            else status = tsr_parallel_for(r.outer * r.n, tsr_grain(r.inner * (int64_t)r.item / 2), select_rows, &r);
            tsr_tensor_free(dense);
        }
    }
    tsr_tensor_free(positions);
    return status;
}

TsrStatus op_index_select(TsrOpCall *c) {
    TsrTensor *self = c->arg[0].t, *index = c->arg[2].t, *t;
    int64_t dim = c->arg[1].i, sizes[TSR_MAX_DIMS];
    TSR_TRY(tsr_wrap_dim(&dim, tsr_ndim(self)));
    TSR_TRY(check_index_select(self, index));
    if (c->out[0] != NULL && c->out[0]->dtype != self->dtype)
        return tsr_error(TSR_RUNTIME_ERROR, "index_select(): self and result must have the same scalar type");
    TSR_TRY(tsr_check_out_overlap(c->out[0], self));
    TSR_TRY(tsr_check_out_overlap(c->out[0], index));
    for (int d = 0; d < tsr_ndim(self); d++) sizes[d] = d == dim ? index->numel : self->sizes[d];
    TSR_TRY(tsr_tensor_new(&t, tsr_ndim(self), sizes, self->dtype, self->device));
    return tsr_finish_move(c, tsr_is_meta(self) ? TSR_OK : index_select_fill(t, self, dim, index), t);
}

/* The checks that index_add and index_reduce share; `name` as in their messages. */
static TsrStatus check_index_source(const TsrOpCall *c, const char *name, const TsrTensor *self, int64_t dim,
                                    const TsrTensor *index, const TsrTensor *source) {
    if (tsr_ndim(index) > 1)
        return tsr_error(TSR_INDEX_ERROR,
                         "%s(): Index is supposed to be a vector, but got dim: %d with type: %s and size: %s", name,
                         tsr_ndim(index), tsr_dtype_scalar_name(index->dtype), tsr_sizes_text(index));
    if (!tsr_is_index_dtype(index))
        return tsr_error(TSR_RUNTIME_ERROR, "%s(): Expected dtype int32/int64 for index but got: %s", name,
                         tsr_dtype_scalar_name(index->dtype));
    if (self->dtype != source->dtype)
        return tsr_error(TSR_RUNTIME_ERROR, "%s(): self (%s) and source (%s) must have the same scalar type", name,
                         tsr_dtype_scalar_name(self->dtype), tsr_dtype_scalar_name(source->dtype));
    if (dim != 0 && dim >= tsr_ndim(source))
        return tsr_error(TSR_RUNTIME_ERROR, "%s(): Indexing dim %lld is out of bounds of the source tensor with dim %d",
                         name, (long long)dim, tsr_ndim(source));
    if (tsr_ndim(source) == 0 && index->numel != 1)
        return tsr_error(TSR_INDEX_ERROR, "Dimension specified as %lld but tensor has no dimensions", (long long)dim);
    if (index->numel != tsr_along_size(source, dim))
        return tsr_error(TSR_RUNTIME_ERROR,
                         "%s(): Number of indices (%lld) should be equal to source.size(dim): (%lld), for dim: %lld",
                         name, (long long)index->numel, (long long)tsr_along_size(source, dim), (long long)dim);
    bool same = tsr_ndim(self) == tsr_ndim(source);
    for (int d = 0; d < tsr_ndim(self) && same; d++) same = d == dim || self->sizes[d] == source->sizes[d];
    if (!same)
        return tsr_error(
            TSR_RUNTIME_ERROR,
            "source tensor shape must match self tensor shape, excluding the specified dimension. Got self.shape = "
            "%s source.shape = %s",
            tsr_sizes_text(self), tsr_sizes_text(source));
    if (c->out[0] == NULL) return TSR_OK;
    TSR_TRY(tsr_check_out_dtype(c, 0, self->dtype));
    if (!tsr_same_sizes(c->out[0], self)) return TSR_OK; /* it is resized first */
    TSR_TRY(tsr_check_out_overlap(c->out[0], index));
    return tsr_check_no_overlap(c->out[0], source);
}

/* How far a write gets: the positions before the first bad one, in every row or in the first alone, as PyTorch leaves
 * it. On a device it is a matter of all but the bad ones, which are found when it is waited for, and called `wrong`. */
typedef struct Reach {
    int64_t count;
    bool everywhere;
    TsrDeviceWrong wrong;
} Reach;

static Reach reach_of(const TsrTensor *positions, int64_t size, bool position_by_position, int64_t *bad) {
    Reach reach = {positions->numel, true, position_by_position ? TSR_WRONG_ROW : TSR_WRONG_PLACE};
    if (tsr_on_device(positions) || tsr_positions_valid(positions, size, bad)) return reach;
    const int64_t *p = tsr_data(positions);
    for (reach.count = 0; p[reach.count] >= 0 && p[reach.count] < size;) reach.count++;
    reach.everywhere = position_by_position;
    return reach;
}

static bool all_reached(Reach reach, const TsrTensor *positions) { return reach.count == positions->numel; }

/* The end of an operator that stopped at a bad position: what it wrote stays in self, then the error. */
static TsrStatus end_partly_move(TsrOpCall *c, TsrTensor *t, TsrStatus error) {
    TsrStatus status = c->inplace && t != c->out[0] ? tsr_tensor_copy(c->out[0], t) : TSR_OK;
    tsr_tensor_free(t);
    return status != TSR_OK ? status : error;
}

/* dst rows at index[i] op= source rows i; both dense. */
static void fold_rows(const Rows *r, Reach reach, TsrCombineFn combine) {
    int64_t item = (int64_t)r->item, row = r->inner * item, outer = reach.everywhere ? r->outer : TSR_MIN(r->outer, 1);
    for (int64_t o = 0; o < outer; o++) {
        char *dst = r->dst + o * r->size * row;
        const char *src = r->src + o * r->n * row;
        if (r->inner == 1) combine(dst, item, r->index, 1, src, item, reach.count);
        else
            for (int64_t i = 0; i < reach.count && tsr_interrupt_flag == 0; i++)
                combine(dst + r->index[i] * row, item, NULL, 0, src + i * row, item, r->inner);
    }
}

/* The rows of a tensor of a device at these positions combined with those of source, or with the one number it is;
 * `how` says what becomes of negative and bad ones. */
static TsrStatus place_rows(TsrTensor *t, int64_t dim, const TsrTensor *positions, const TsrTensor *source,
                            TsrCombine op, TsrAlong how) {
    how.index = positions;
    how.dim = dim;
    how.rows = true;
    return tsr_place_along(t, source, &how, op);
}

static TsrStatus fold_source(TsrTensor *t, int64_t dim, const TsrTensor *positions, Reach reach,
                             const TsrTensor *source, TsrCombine op) {
    TsrTensor *dense;
    if (tsr_on_device(t)) return place_rows(t, dim, positions, source, op, (TsrAlong){.wrong = reach.wrong});
    TSR_TRY(tsr_tensor_new_contiguous(&dense, source, TSR_CONTIGUOUS));
    Rows r = rows_of(t, dim, positions->numel);
    r.dst = tsr_data(t);
    r.src = tsr_data(dense);
    r.index = tsr_data(positions);
    if (reach.count > 0 && t->numel > 0 && dense->numel > 0) fold_rows(&r, reach, tsr_combine_fn(op, t->dtype));
    tsr_tensor_free(dense);
    return TSR_OK;
}

/* Rows of half and bfloat16 add up in float when there is more than one dimension. */
static TsrStatus add_source(TsrTensor *t, int64_t dim, const TsrTensor *positions, Reach reach,
                            const TsrTensor *source) {
    if (tsr_ndim(t) < 2 || !tsr_in(TSR_BITS_HALF, t->dtype))
        return fold_source(t, dim, positions, reach, source, TSR_COMBINE_ADD);
    TsrTensor *sum, *terms;
    TSR_TRY(tsr_tensor_new_cast(&sum, t, TSR_FLOAT32));
    TsrStatus status = tsr_tensor_new_cast(&terms, source, TSR_FLOAT32);
    if (status == TSR_OK) {
        status = fold_source(sum, dim, positions, reach, terms, TSR_COMBINE_ADD);
        if (status == TSR_OK) status = tsr_tensor_copy(t, sum);
        tsr_tensor_free(terms);
    }
    tsr_tensor_free(sum);
    return status;
}

static TsrStatus check_alpha(TsrScalar *alpha, TsrDtype d) {
    uint8_t cell[16];
    if (d == TSR_BOOL) *alpha = tsr_scalar_bool(tsr_scalar_to_bool(*alpha));
    TSR_TRY(tsr_scalar_store_checked(*alpha, d, cell));
    *alpha = tsr_scalar_load(d, cell);
    return TSR_OK;
}

static bool is_one(TsrScalar s) {
    return s.kind == TSR_SCALAR_BOOL      ? s.b
           : s.kind == TSR_SCALAR_COMPLEX ? s.c.re == 1 && s.c.im == 0
                                          : tsr_scalar_to_double(s) == 1;
}

/* On a device the product is rounded before it is added, as PyTorch's kernel there has it. */
static TsrStatus add_product(TsrTensor *t, int64_t dim, const TsrTensor *positions, const TsrTensor *source,
                             TsrScalar alpha) {
    TSR_OWNED product = NULL;
    TSR_TRY(tsr_invoke_new(&product, 1, "mul", "ts", source, alpha));
    return add_source(t, dim, positions, (Reach){positions->numel, true, TSR_WRONG_ROW}, product);
}

/* Row by row with the scale inside the addition, so that it rounds once. */
static TsrStatus add_scaled(TsrTensor *t, int64_t dim, const TsrTensor *positions, int64_t count,
                            const TsrTensor *source, TsrScalar alpha) {
    const int64_t *index = tsr_data(positions);
    if (tsr_on_device(t)) return add_product(t, dim, positions, source, alpha);
    for (int64_t i = 0; i < count; i++) {
        TSR_TRY(tsr_interrupt_check());
        TsrTensor *into = NULL, *from = NULL, *done = NULL;
        TsrStatus status =
            tsr_ndim(t) == 0 ? tsr_tensor_new_alias(&into, t) : tsr_tensor_new_select(&into, t, dim, index[i]);
        if (status == TSR_OK)
            status = tsr_ndim(source) == 0 ? tsr_tensor_new_alias(&from, source)
                                           : tsr_tensor_new_select(&from, source, dim, i);
        if (status == TSR_OK) status = tsr_invoke_new(&done, 1, "add", "tts", into, from, alpha);
        if (status == TSR_OK) status = tsr_tensor_copy(into, done);
        tsr_tensor_free(done);
        tsr_tensor_free(from);
        tsr_tensor_free(into);
        TSR_TRY(status);
    }
    return TSR_OK;
}

TsrStatus op_index_add(TsrOpCall *c) {
    TsrTensor *self = c->arg[0].t, *index = c->arg[2].t, *source = c->arg[3].t, *t = NULL, *positions;
    int64_t dim = c->arg[1].i, bad;
    TsrScalar alpha = c->arg[4].s;
    TSR_TRY(tsr_wrap_dim(&dim, tsr_ndim(self)));
    TSR_TRY(check_index_source(c, "index_add_", self, dim, index, source));
    /* Along the first or the last dimension PyTorch does this as a scatter_add. */
    bool scatters = tsr_ndim(self) > 1 && is_one(alpha) && (dim == 0 || dim == tsr_ndim(self) - 1);
    unsigned allowed = TSR_BITS_MOST | TSR_BIT(COMPLEX32) | (scatters ? TSR_BITS_UINT : 0);
    const char *kernel = scatters ? "scatter_gather_tensor_cpu" : tsr_ndim(self) > 1 ? "add_stub" : "index_add_";
    if (source->numel > 0 || tsr_ndim(self) < 2) TSR_TRY(tsr_require(allowed, self->dtype, kernel));
    TSR_TRY(check_alpha(&alpha, self->dtype));
    if (tsr_is_meta(self)) return tsr_finish_move(c, tsr_edit_dense_new(&t, c, self), t);
    TSR_TRY(tsr_dense_new(&positions, index, TSR_INT64));
    Reach reach = reach_of(positions, tsr_along_size(self, dim), !scatters, &bad);
    bool complete = all_reached(reach, positions);
    TsrStatus status = tsr_edit_dense_new(&t, c, self);
    if (status == TSR_OK)
        status = is_one(alpha) ? add_source(t, dim, positions, reach, source)
                               : add_scaled(t, dim, positions, reach.count, source, alpha);
    tsr_tensor_free(positions);
    if (status != TSR_OK || complete) return tsr_finish_move(c, status, t);
    return end_partly_move(c, t,
                           scatters ? tsr_along_out_of_bounds(TSR_RUNTIME_ERROR, bad, dim, tsr_along_size(self, dim))
                                    : tsr_error(TSR_INDEX_ERROR, "index out of range in self"));
}

/* Sizes without that of dim, as PyTorch prints them here: apart by spaces, no brackets. */
static int slice_sizes(int64_t *sizes, char text[256], const TsrTensor *t, int64_t dim) {
    int n = 0;
    size_t used = 0;
    text[0] = '\0';
    for (int d = 0; d < tsr_ndim(t); d++) {
        if (d == dim) continue;
        if (used < 230)
            used += (size_t)snprintf(text + used, 256 - used, n > 0 ? " %lld" : "%lld", (long long)t->sizes[d]);
        sizes[n++] = t->sizes[d];
    }
    return n;
}

static TsrStatus check_slice_shapes(const TsrTensor *self, int64_t dim, const TsrTensor *source) {
    int64_t a[TSR_MAX_DIMS], b[TSR_MAX_DIMS];
    char ta[256], tb[256];
    int na = slice_sizes(a, ta, self, dim), nb = slice_sizes(b, tb, source, dim);
    if (na == nb && memcmp(a, b, sizeof *a * (size_t)na) == 0) return TSR_OK;
    return tsr_error(
        TSR_RUNTIME_ERROR,
        "index_copy_(): Source/destination tensor must have same slice shapes. Destination slice shape: %s at "
        "dimension %lld and source slice shape: %s at "
        "dimension 0.",
        ta, (long long)dim, tb);
}

static TsrStatus check_index_copy(const TsrTensor *self, int64_t dim, const TsrTensor *index, const TsrTensor *source) {
    if (tsr_ndim(index) >= 2)
        return tsr_error(TSR_INDEX_ERROR, "index_copy_(): Index should have dimension 1 or 0 (got %d)",
                         tsr_ndim(index));
    int64_t n = index->numel;
    if (tsr_ndim(source) == 0 && n != 1)
        return tsr_error(TSR_INDEX_ERROR,
                         "index_copy_(): When source is scalar, index should have one element (got %lld)",
                         (long long)n);
    if (tsr_ndim(source) != tsr_ndim(self) && tsr_ndim(source) != 0 && tsr_ndim(self) != 0)
        return tsr_error(
            TSR_INDEX_ERROR,
            "index_copy_(): When source and destination are not scalars, their dimensionality must match. Source "
            "dimensionality (%d), destination dimensionality (%d)",
            tsr_ndim(source), tsr_ndim(self));
    if (index->dtype != TSR_INT64)
        return tsr_error(TSR_RUNTIME_ERROR, "index_copy_(): Expected a long tensor for index, but got %s",
                         tsr_dtype_scalar_name(index->dtype));
    if (self->dtype != source->dtype)
        return tsr_error(
            TSR_RUNTIME_ERROR,
            "index_copy_(): self and source expected to have the same dtype, but got (self) %s and (source) %s",
            tsr_dtype_scalar_name(self->dtype), tsr_dtype_scalar_name(source->dtype));
    TSR_TRY(check_slice_shapes(self, dim, source));
    if (tsr_ndim(source) > 0 && n != source->sizes[dim])
        return tsr_error(TSR_INDEX_ERROR,
                         "index_copy_(): Number of indices (%lld) should be equal to source.size(dim) (%lld)",
                         (long long)n, (long long)source->sizes[dim]);
    return TSR_OK;
}

TsrStatus op_index_copy(TsrOpCall *c) {
    TsrTensor *self = c->arg[0].t, *index = c->arg[2].t, *source = c->arg[3].t, *t = NULL, *positions;
    int64_t dim = c->arg[1].i, bad;
    TSR_TRY(tsr_wrap_dim(&dim, tsr_ndim(self)));
    TSR_TRY(tsr_check_out_dtype(c, 0, self->dtype));
    if (c->out[0] != NULL) {
        TSR_TRY(tsr_check_out_overlap(c->out[0], index));
        TSR_TRY(tsr_check_no_overlap(c->out[0], source));
    }
    TSR_TRY(check_index_copy(self, dim, index, source));
    TSR_TRY(tsr_require(TSR_BITS_MOST | TSR_BIT(COMPLEX32), self->dtype, "index_copy_cpu"));
    if (tsr_is_meta(self)) return tsr_finish_move(c, tsr_edit_dense_new(&t, c, self), t);
    TSR_TRY(tsr_dense_new(&positions, index, TSR_INT64));
    Reach reach = reach_of(positions, tsr_along_size(self, dim), false, &bad);
    reach.wrong = TSR_WRONG_INDEX;
    bool complete = all_reached(reach, positions) || source->numel == 0;
    TsrStatus status = tsr_edit_dense_new(&t, c, self);
    if (status == TSR_OK) status = fold_source(t, dim, positions, reach, source, TSR_COMBINE_SET);
    tsr_tensor_free(positions);
    if (status != TSR_OK || complete) return tsr_finish_move(c, status, t);
    return end_partly_move(c, t,
                           tsr_error(TSR_INDEX_ERROR,
                                     "index_copy_(): index %lld is out of bounds for dimension %lld with size %lld",
                                     (long long)bad, (long long)dim, (long long)tsr_along_size(self, dim)));
}

/* ---- index_fill ---- */

/* The part of t that a fill along dim reaches before it fails: the first of the dimensions before dim. */
static TsrStatus first_rows_new(TsrTensor **out, TsrTensor *t, int64_t dim) {
    int64_t sizes[TSR_MAX_DIMS];
    for (int d = 0; d < tsr_ndim(t); d++) sizes[d] = d < dim ? TSR_MIN(t->sizes[d], 1) : t->sizes[d];
    return tsr_tensor_new_view(out, t, &(TsrGeometry){tsr_ndim(t), sizes, t->strides, t->offset}, NULL);
}

static void put_cells(char *to, const void *cell, size_t size, int64_t n) {
    for (int64_t k = 0; k < n; k++, to += size) {
        switch (size) {
        case 1: memcpy(to, cell, 1); break;
        case 2: memcpy(to, cell, 2); break;
        case 4: memcpy(to, cell, 4); break;
        case 8: memcpy(to, cell, 8); break;
        default: memcpy(to, cell, size);
        }
    }
}

/* A contiguous t, without a view a row. */
static TsrStatus fill_dense_rows(TsrTensor *t, int64_t dim, const int64_t *index, int64_t count, TsrScalar value) {
    int64_t outer = 1, inner = 1, size = tsr_along_size(t, dim);
    size_t item = tsr_itemsize(t);
    uint8_t cell[16];
    for (int d = 0; d < tsr_ndim(t); d++) *(d < dim ? &outer : &inner) *= d == dim ? 1 : t->sizes[d];
    TSR_TRY(tsr_tensor_check(t, true));
    tsr_scalar_store(value, t->dtype, cell);
    for (int64_t o = 0; o < outer; o++) {
        char *block = (char *)tsr_data(t) + (size_t)(o * size * inner) * item;
        for (int64_t i = 0; i < count; i++) {
            TSR_TRY(tsr_interrupt_check_at(i));
            put_cells(block + (size_t)((index[i] < 0 ? index[i] + size : index[i]) * inner) * item, cell, item, inner);
        }
    }
    return TSR_OK;
}

static TsrStatus fill_rows(TsrTensor *t, int64_t dim, const int64_t *index, int64_t count, TsrScalar value) {
    if (tsr_is_contiguous(t, TSR_CONTIGUOUS) && (t->flags & ~TSR_FLAGS_OF_INFERENCE) == 0)
        return fill_dense_rows(t, dim, index, count, value);
    for (int64_t i = 0; i < count; i++) {
        TSR_TRY(tsr_interrupt_check());
        TsrTensor *row;
        TSR_TRY(tsr_ndim(t) == 0 ? tsr_tensor_new_alias(&row, t) : tsr_tensor_new_select(&row, t, dim, index[i]));
        TsrStatus status = tsr_tensor_fill(row, value);
        tsr_tensor_free(row);
        TSR_TRY(status);
    }
    return TSR_OK;
}

static TsrStatus fill_there(TsrTensor *t, int64_t dim, const TsrTensor *positions, TsrScalar value) {
    TSR_OWNED number = NULL;
    TSR_TRY(tsr_tensor_new(&number, 0, NULL, t->dtype, t->device));
    TSR_TRY(tsr_tensor_fill(number, value));
    return place_rows(t, dim, positions, number, TSR_COMBINE_SET, (TsrAlong){.wraps = true});
}

static TsrStatus fill_positions(TsrTensor *t, int64_t dim, const TsrTensor *positions, TsrScalar value) {
    const int64_t *index = tsr_data(positions);
    int64_t size = tsr_along_size(t, dim), good = 0, others = 1;
    for (int d = 0; d < tsr_ndim(t); d++) others *= d == dim ? 1 : TSR_MIN(t->sizes[d], 1);
    if (others == 0) return TSR_OK; /* nothing to fill: positions are not looked at */
    if (tsr_on_device(t)) return fill_there(t, dim, positions, value);
    while (good < positions->numel && index[good] >= -size && index[good] < size) good++;
    if (good == positions->numel) return fill_rows(t, dim, index, good, value);
    TsrTensor *first;
    TSR_TRY(first_rows_new(&first, t, dim));
    TsrStatus status = fill_rows(first, dim, index, good, value);
    tsr_tensor_free(first);
    return status == TSR_OK ? tsr_along_out_of_bounds(TSR_INDEX_ERROR, index[good], dim, size) : status;
}

/* PyTorch lays the rows that are filled, as many as positions, over one place of t's storage first, which a storage
 * without bytes refuses. */
TsrStatus tsr_index_check_rows(const TsrTensor *t, int64_t dim, int64_t count) {
    int64_t sizes[TSR_MAX_DIMS], strides[TSR_MAX_DIMS];
    TsrTensor *row;
    TSR_TRY(tsr_wrap_dim(&dim, tsr_ndim(t)));
    memcpy(sizes, t->sizes, sizeof *sizes * (size_t)tsr_ndim(t));
    memcpy(strides, t->strides, sizeof *strides * (size_t)tsr_ndim(t));
    sizes[dim] = count;
    strides[dim] = 0;
    TSR_TRY(tsr_tensor_new_over(&row, t->storage, (TsrGeometry){tsr_ndim(t), sizes, strides, t->offset}, t->dtype));
    tsr_tensor_free(row);
    return TSR_OK;
}

static TsrStatus index_fill(TsrOpCall *c, TsrScalar value) {
    TsrTensor *self = c->arg[0].t, *index = c->arg[2].t;
    int64_t dim = c->arg[1].i;
    uint8_t cell[16];
    if (index->dtype != TSR_INT64) return tsr_error(TSR_INDEX_ERROR, "index_fill_(): Expected dtype int64 for index.");
    if (value.kind == TSR_SCALAR_COMPLEX && !tsr_dtype_is_complex(self->dtype))
        return tsr_error(TSR_RUNTIME_ERROR,
                         "index_fill_(): Converting complex Scalar to non-complex type is not supported");
    if (c->inplace) TSR_TRY(tsr_check_no_overlap(c->out[0], index));
    TSR_TRY(tsr_wrap_dim(&dim, tsr_ndim(self)));
    if (tsr_ndim(index) > 1) return tsr_error(TSR_RUNTIME_ERROR, "Index has to be a vector/scalar");
    TSR_OWNED t = NULL;
    TSR_OWNED positions = NULL;
    if (c->inplace) t = tsr_tensor_retain(c->out[0]);
    else TSR_TRY(tsr_tensor_new_clone(&t, self, TSR_PRESERVE));
    if (t->numel == 0 && index->numel > 0 && tsr_ndim(t) > 0 && !tsr_is_meta(t))
        TSR_TRY(tsr_index_check_rows(t, dim, index->numel));
    TSR_TRY(tsr_require(TSR_BITS_MOST | TSR_BIT(COMPLEX32), self->dtype, "index_fill_cpu"));
    TSR_TRY(tsr_scalar_store_checked(value, self->dtype, cell));
    if (tsr_is_meta(self)) return tsr_return_move(c, tsr_owned_take(&t));
    TSR_TRY(tsr_dense_new(&positions, index, TSR_INT64));
    TSR_TRY(fill_positions(t, dim, positions, value));
    return tsr_return_move(c, tsr_owned_take(&t));
}

TsrStatus op_index_fill_scalar(TsrOpCall *c) { return index_fill(c, c->arg[3].s); }

TsrStatus op_index_fill_tensor(TsrOpCall *c) {
    TsrScalar value;
    if (tsr_ndim(c->arg[3].t) != 0)
        return tsr_error(TSR_RUNTIME_ERROR,
                         "index_fill_ only supports a 0-dimensional value tensor, but got tensor with %d dimension(s).",
                         tsr_ndim(c->arg[3].t));
    TSR_TRY(tsr_tensor_item(&value, c->arg[3].t));
    return index_fill(c, value);
}

/* ---- index_reduce ---- */

static TsrStatus reset_rows(TsrTensor *t, int64_t dim, const TsrTensor *positions, int64_t count, TsrCombine op) {
    uint8_t cell[16];
    tsr_along_neutral_store(op, t->dtype, cell);
    if (tsr_on_device(t)) return fill_there(t, dim, positions, tsr_scalar_load(t->dtype, cell));
    const int64_t *index = tsr_data(positions);
    TsrCombineFn set = tsr_combine_fn(TSR_COMBINE_SET, t->dtype);
    Rows r = rows_of(t, dim, positions->numel);
    int64_t item = (int64_t)r.item, row = r.inner * item;
    char *p = tsr_data(t);
    for (int64_t o = 0; o < r.outer && t->numel > 0; o++)
        for (int64_t i = 0; i < count && !tsr_interrupted_at(i); i++)
            set(p + (o * r.size + index[i]) * row, item, NULL, 0, (const char *)cell, 0, r.inner);
    return TSR_OK;
}

/* Counts along dim, shaped to broadcast over t. */
static TsrStatus row_counts(TsrTensor **out, const TsrTensor *t, int64_t dim, const TsrTensor *positions,
                            bool include_self) {
    int64_t sizes[TSR_MAX_DIMS];
    for (int d = 0; d < tsr_ndim(t); d++) sizes[d] = d == dim ? t->sizes[d] : 1;
    TSR_OWNED counts = NULL;
    TSR_TRY(tsr_zeros_new(&counts, tsr_ndim(t), sizes, TSR_INT64, t->device));
    if (tsr_on_device(t)) {
        TSR_OWNED one = NULL;
        TSR_TRY(tsr_tensor_fill(counts, tsr_scalar_int(include_self)));
        TSR_TRY(tsr_tensor_new(&one, 0, NULL, TSR_INT64, t->device));
        TSR_TRY(tsr_tensor_fill(one, tsr_scalar_int(1)));
        TSR_TRY(place_rows(counts, dim, positions, one, TSR_COMBINE_ADD, (TsrAlong){.wrong = TSR_WRONG_ROW}));
        return tsr_tensor_new_cast(out, counts, tsr_dtype_real_of(t->dtype));
    }
    int64_t *n = tsr_data(counts);
    const int64_t *index = tsr_data(positions);
    for (int64_t i = 0; i < counts->numel; i++) n[i] = include_self;
    for (int64_t i = 0; i < positions->numel && !tsr_interrupted_at(i); i++) n[index[i]]++;
    return tsr_tensor_new_cast(out, counts, tsr_dtype_real_of(t->dtype));
}

static TsrStatus index_reduce_into(TsrTensor *t, int64_t dim, const TsrTensor *positions, Reach reach,
                                   const TsrTensor *source, AlongReduction r, bool include_self) {
    if (!include_self) TSR_TRY(reset_rows(t, dim, positions, reach.count, r.op));
    TSR_TRY(fold_source(t, dim, positions, reach, source, r.op));
    if (!r.mean || !all_reached(reach, positions)) return TSR_OK;
    if (tsr_ndim(t) > 1 && positions->numel == 0) return TSR_OK;
    if (t->dtype == TSR_BOOL && t->numel > 0) return tsr_not_implemented("div_floor_cpu", t->dtype);
    if (t->dtype == TSR_COMPLEX32) return tsr_not_implemented("div_cpu", t->dtype);
    TSR_OWNED counts = NULL;
    TSR_TRY(row_counts(&counts, t, dim, positions, include_self));
    return tsr_along_divide_by_counts(t, counts);
}

/* Whether the elements of a row of source are all one. */
static bool row_is_one(const TsrTensor *source, int64_t dim) {
    for (int d = 0; d < tsr_ndim(source); d++)
        if (d != dim && source->sizes[d] != 1 && source->strides[d] != 0) return false;
    return source->numel > 0;
}

/* Whether there is a kernel that takes a row of source into one of t by op; PyTorch asks at the first row. */
static TsrStatus check_fold(const TsrTensor *t, TsrCombine op, const TsrTensor *source, int64_t dim) {
    static const char *const kernels[] = {NULL, "add_stub", "mul_cpu", "maximum_cpu", "minimum_cpu"};
    if (tsr_ndim(t) < 2) return tsr_require(TSR_BITS_USUAL, t->dtype, "index_func_");
    unsigned allowed = TSR_BITS_MOST | TSR_BIT(COMPLEX32);
    if (op >= TSR_COMBINE_MAX) allowed &= ~(TSR_BITS_COMPLEX | TSR_BIT(COMPLEX32));
    if (op != TSR_COMBINE_ADD) allowed |= TSR_BITS_UINT;
    if (op == TSR_COMBINE_MUL && tsr_dtype_is_float8(t->dtype))
        return row_is_one(source, dim) ? tsr_not_implemented("mul_cpu_reduced_float", t->dtype) : TSR_OK;
    return tsr_require(allowed, t->dtype, kernels[op]);
}

TsrStatus op_index_reduce(TsrOpCall *c) {
    TsrTensor *self = c->arg[0].t, *index = c->arg[2].t, *source = c->arg[3].t, *t = NULL, *positions;
    int64_t dim = c->arg[1].i, bad;
    bool include_self = c->arg[5].b;
    AlongReduction r = {TSR_COMBINE_ADD, false};
    if (!tsr_along_reduction(&r, c->arg[4].str, false))
        return tsr_error(TSR_RUNTIME_ERROR,
                         "index_reduce(): Expected reduce to be one of prod, mean, amax or amin but got %s.",
                         c->arg[4].str);
    TSR_TRY(tsr_wrap_dim(&dim, tsr_ndim(self)));
    TSR_TRY(check_index_source(c, "index_reduce_", self, dim, index, source));
    if (tsr_is_meta(self)) return tsr_finish_move(c, tsr_edit_dense_new(&t, c, self), t);
    if (!include_self) TSR_TRY(tsr_require(TSR_BITS_USUAL, self->dtype, "index_reduce_func_exclude_input_init"));
    TSR_TRY(tsr_dense_new(&positions, index, TSR_INT64));
    Reach reach = reach_of(positions, tsr_along_size(self, dim), true, &bad);
    bool complete = all_reached(reach, positions);
    TsrStatus status = reach.count > 0 || tsr_ndim(self) < 2 ? check_fold(self, r.op, source, dim) : TSR_OK;
    if (status == TSR_OK) status = tsr_edit_dense_new(&t, c, self);
    if (status == TSR_OK) status = index_reduce_into(t, dim, positions, reach, source, r, include_self);
    tsr_tensor_free(positions);
    if (status != TSR_OK && t != NULL) return end_partly_move(c, t, status);
    if (status != TSR_OK || complete) return tsr_finish_move(c, status, t);
    int64_t size = tsr_along_size(self, dim);
    bool filled = include_self || (bad < 0 && bad >= -size); /* else the rows are filled first, from either end */
    return end_partly_move(c, t,
                           filled ? tsr_error(TSR_INDEX_ERROR, "index out of range in self")
                                  : tsr_along_out_of_bounds(TSR_INDEX_ERROR, bad, dim, size));
}

/* ---- index_put ---- */

/* One value where a mask is set: as masked_fill, it may be one of the elements. */
static bool fills_mask(const TsrOpCall *c) {
    const TsrArg *indices = &c->arg[1];
    return c->arg[2].t->numel == 1 && !c->arg[3].b && indices->n == 1 && indices->tensors[0] != NULL &&
           indices->tensors[0]->dtype == TSR_BOOL;
}

TsrStatus op_index_put(TsrOpCall *c) {
    TsrTensor *self = c->arg[0].t, *t;
    if (c->inplace) {
        if (!fills_mask(c)) TSR_TRY(tsr_index_check_apart(c->out[0], c->arg[1].n, c->arg[1].tensors, c->arg[2].t));
        t = tsr_tensor_retain(c->out[0]);
    } else {
        TSR_TRY(tsr_tensor_new_clone(&t, self, TSR_PRESERVE));
    }
    return tsr_finish_move(c, tsr_index_put(t, c->arg[1].n, c->arg[1].tensors, c->arg[2].t, c->arg[3].b), t);
}
