/* gather, scatter, and the index_* operators: positions along one dimension. */
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>

#include "indexing.h"
#include "kernels/combine.h"
#include "kernels/select.h"
#include "mem.h"
#include "op_help.h"
#include "op_out.h"
#include "owned.h"


static TsrStatus out_of_bounds(TsrStatus kind, int64_t index, int64_t dim, int64_t size) {
    return tsr_error(kind, "index %lld is out of bounds for dimension %lld with size %lld", (long long)index, (long long)dim, (long long)size);
}

static int64_t size_at(const TsrTensor *t, int64_t dim) { return tsr_ndim(t) == 0 ? 1 : t->sizes[dim]; }
static bool is_index_dtype(const TsrTensor *t) { return t->dtype == TSR_INT64 || t->dtype == TSR_INT32; }

/* A view of t cut to index's sizes in all dimensions but dim, so that lines of the two pair up. Both have at least one dimension. */
static TsrStatus cut_new(TsrTensor **out, const TsrTensor *t, const TsrTensor *index, int64_t dim, bool cut_dim) {
    int64_t sizes[TSR_MAX_DIMS];
    for (int d = 0; d < tsr_ndim(t); d++) sizes[d] = d == dim && !cut_dim ? t->sizes[d] : index->sizes[d];
    return tsr_tensor_new_view(out, t, (TsrGeometry){tsr_ndim(t), sizes, t->strides, t->offset}, NULL);
}

/* ---- lines ---- */

/* The first position found to be out of bounds. */
typedef struct BadPosition {
    _Atomic bool found;
    int64_t position;
} BadPosition;

typedef struct LineParams {
    TsrCombineFn combine;
    int64_t item, size; /* of an element in bytes; of the indexed dimension */
    BadPosition *bad;
} LineParams;

/* Checks a line of positions; the first bad one is kept. */
static bool line_valid(const int64_t *index, int64_t step, int64_t n, const LineParams *q) {
    if (TSR_LIKELY(step == 1 && tsr_kernel_in_range(index, n, q->size))) return true;
    for (int64_t i = 0; i < n; i++) {
        int64_t v = index[i * step];
        if (TSR_LIKELY(v >= 0 && v < q->size)) continue;
        if (!atomic_exchange(&q->bad->found, true)) q->bad->position = v;
        return false;
    }
    return true;
}

typedef struct Sixteen { uint64_t a, b; } Sixteen;
#define PICK(T) \
    for (int64_t i = 0; i < n; i++) *(T *)(void *)(dst + i * ds) = *(const T *)(const void *)(src + index[i * step] * ss)

static void pick(char *dst, int64_t ds, const char *src, int64_t ss, const int64_t *index, int64_t step, int64_t n, int64_t item) {
    if (TSR_LIKELY(ds == item && ss == item && step == 1)) {
        tsr_kernel_pick(dst, src, index, n, (size_t)item);
        return;
    }
    switch (item) {
    case 1: PICK(uint8_t); break;
    case 2: PICK(uint16_t); break;
    case 4: PICK(uint32_t); break;
    case 8: PICK(uint64_t); break;
    default: PICK(Sixteen); break;
    }
}

/* Operands: result, self, index. */
static void gather_line(char *const *data, const int64_t *stride, const int64_t *n, const void *params) {
    const LineParams *q = params;
    const int64_t *index = (const int64_t *)(const void *)data[2];
    if (line_valid(index, stride[2] / 8, n[2], q)) pick(data[0], stride[0], data[1], stride[1], index, stride[2] / 8, n[2], q->item);
}

/* Operands: target, index, source. */
static void scatter_line(char *const *data, const int64_t *stride, const int64_t *n, const void *params) {
    const LineParams *q = params;
    const int64_t *index = (const int64_t *)(const void *)data[1];
    if (!line_valid(index, stride[1] / 8, n[1], q)) return;
    q->combine(data[0], stride[0], index, stride[1] / 8, data[2], stride[2], n[1]);
}

static TsrStatus run_lines(TsrTensor **operands, int64_t dim, TsrLineFn fn, const LineParams *q, bool serial) {
    TSR_TRY(tsr_lines_run(operands, 3, dim, fn, q, serial));
    return q->bad->found ? out_of_bounds(TSR_RUNTIME_ERROR, q->bad->position, dim, q->size) : TSR_OK;
}

/* ---- gather ---- */

typedef struct GatherRange {
    const LineParams *q;
    char *dst;
    const char *src;
    const int64_t *index;
} GatherRange;

/* One long line, split over threads. */
static void gather_range(int64_t begin, int64_t end, void *user) {
    const GatherRange *g = user;
    int64_t item = g->q->item;
    if (line_valid(g->index + begin, 1, end - begin, g->q)) pick(g->dst + begin * item, item, g->src, item, g->index + begin, 1, end - begin, item);
}

static TsrStatus gather_flat(TsrTensor *result, const TsrTensor *self, const TsrTensor *index, const LineParams *q) {
    GatherRange g = {q, tsr_data(result), tsr_data(self), tsr_data(index)};
    TSR_TRY(tsr_parallel_for(index->numel, tsr_grain(1), gather_range, &g));
    return q->bad->found ? out_of_bounds(TSR_RUNTIME_ERROR, q->bad->position, 0, q->size) : TSR_OK;
}

/* One position a line: of self (outer, size, inner) the element that each of index (outer, 1, inner) says, as losses pick a class's. */
typedef struct GatherOnes {
    const LineParams *q;
    int64_t inner;
    char *dst;
    const char *src;
    const int64_t *index;
} GatherOnes;

#define PICK_ONES(T) \
    for (int64_t i = begin; i < end; i++) { \
        ((T *)(void *)g->dst)[i] = ((const T *)(const void *)g->src)[base + g->index[i] * g->inner + at]; \
        if (++at == g->inner) at = 0, base += g->q->size * g->inner; \
    } \
    break

static void gather_ones(int64_t begin, int64_t end, void *user) {
    const GatherOnes *g = user;
    int64_t at = begin % g->inner, base = begin / g->inner * g->q->size * g->inner;
    if (!line_valid(g->index + begin, 1, end - begin, g->q)) return;
    switch (g->q->item) {
    case 1: PICK_ONES(uint8_t);
    case 2: PICK_ONES(uint16_t);
    case 4: PICK_ONES(uint32_t);
    case 8: PICK_ONES(uint64_t);
    default: PICK_ONES(Sixteen);
    }
}

static bool is_ones(const TsrTensor *self, const TsrTensor *index, int64_t dim) {
    if (index->sizes[dim] != 1 || !tsr_is_contiguous(self, TSR_CONTIGUOUS) || !tsr_is_contiguous(index, TSR_CONTIGUOUS)) return false;
    for (int d = 0; d < tsr_ndim(self); d++)
        if (d != dim && self->sizes[d] != index->sizes[d]) return false;
    return true;
}

static TsrStatus run_ones(TsrTensor *result, const TsrTensor *self, const TsrTensor *index, int64_t dim, const LineParams *q) {
    GatherOnes g = {q, 1, tsr_data(result), tsr_data(self), tsr_data(index)};
    for (int d = (int)dim + 1; d < tsr_ndim(self); d++) g.inner *= self->sizes[d];
    TSR_TRY(tsr_parallel_for(index->numel, tsr_grain(1), gather_ones, &g));
    return q->bad->found ? out_of_bounds(TSR_RUNTIME_ERROR, q->bad->position, dim, q->size) : TSR_OK;
}

static TsrStatus gather_lines(TsrTensor *result, const TsrTensor *self, const TsrTensor *index, int64_t dim) {
    TsrTensor *r = NULL, *s = NULL, *x = NULL, *cut = NULL;
    TsrStatus status = tsr_at_least_1d_new(&r, result);
    if (status == TSR_OK) status = tsr_at_least_1d_new(&s, self);
    if (status == TSR_OK) status = tsr_at_least_1d_new(&x, index);
    if (status == TSR_OK) status = cut_new(&cut, s, x, dim, false);
    if (status == TSR_OK) {
        LineParams q = {.item = (int64_t)tsr_itemsize(self), .size = s->sizes[dim], .bad = &(BadPosition){0}};
        TsrTensor *operands[3] = {r, cut, x};
        bool flat = tsr_ndim(s) == 1 && tsr_is_contiguous(s, TSR_CONTIGUOUS) && tsr_is_contiguous(x, TSR_CONTIGUOUS);
        status = flat ? gather_flat(r, s, x, &q) : is_ones(s, x, dim) ? run_ones(r, s, x, dim, &q) : run_lines(operands, dim, gather_line, &q, false);
    }
    tsr_tensor_free(cut);
    tsr_tensor_free(x);
    tsr_tensor_free(s);
    tsr_tensor_free(r);
    return status;
}

static TsrStatus check_gather(const TsrTensor *self, const TsrTensor *index, int64_t dim) {
    if (!is_index_dtype(index) && index->numel != 0) return tsr_error(TSR_RUNTIME_ERROR, "gather(): Expected dtype int32/int64 for index");
    if (index->numel == 0) return TSR_OK;
    if (TSR_MAX(tsr_ndim(self), 1) != TSR_MAX(tsr_ndim(index), 1))
        return tsr_error(TSR_RUNTIME_ERROR, "Index tensor must have the same number of dimensions as input tensor");
    for (int d = 0; d < tsr_ndim(self); d++)
        if (d != dim && size_at(index, d) > self->sizes[d])
            return tsr_error(TSR_RUNTIME_ERROR, "Size does not match at dimension %d expected index %s to be no larger than self %s apart from dimension %lld", d,
                             tsr_sizes_text(index), tsr_sizes_text(self), (long long)dim);
    return TSR_OK;
}

static TsrStatus gather_new(TsrTensor **out, const TsrTensor *self, int64_t dim, const TsrTensor *index) {
    TsrTensor *positions;
    TSR_TRY(tsr_tensor_new_cast(&positions, index, TSR_INT64));
    TsrStatus status = tsr_tensor_new(out, tsr_ndim(index), index->sizes, self->dtype, self->device);
    if (status == TSR_OK && index->numel > 0 && !tsr_is_meta(self)) {
        status = gather_lines(*out, self, positions, dim);
        if (status != TSR_OK) tsr_tensor_reset(out);
    }
    tsr_tensor_free(positions);
    return status;
}

TsrStatus op_gather(TsrOpCall *c) {
    TsrTensor *self = c->arg[0].t, *index = c->arg[2].t, *t = NULL;
    int64_t dim = c->arg[1].i;
    TSR_TRY(tsr_wrap_dim(&dim, tsr_ndim(self)));
    TSR_TRY(check_gather(self, index, dim));
    TSR_TRY(tsr_check_out_dtype(c, 0, self->dtype));
    TSR_TRY(tsr_check_out_overlap(c->out[0], self));
    TSR_TRY(tsr_check_out_overlap(c->out[0], index));
    if (index->numel > 0) TSR_TRY(tsr_require(TSR_BITS_MOST | TSR_BITS_UINT, self->dtype, "scatter_gather_tensor_cpu"));
    return tsr_finish_move(c, gather_new(&t, self, dim, index), t);
}

/* ---- take_along_dim ---- */

/* Broadcasts self and indices against each other in all dimensions but dim. */
static TsrStatus match_shapes(TsrTensor **self, TsrTensor **index, int64_t dim) {
    int64_t shape[TSR_MAX_DIMS], own[TSR_MAX_DIMS];
    int ndim = 0;
    memcpy(own, (*self)->sizes, sizeof(int64_t) * (size_t)tsr_ndim(*self));
    own[dim] = 1;
    TSR_TRY(tsr_layout_broadcast(shape, &ndim, own, tsr_ndim(*self)));
    memcpy(own, (*index)->sizes, sizeof(int64_t) * (size_t)tsr_ndim(*index));
    int64_t wide = own[dim];
    own[dim] = 1;
    TSR_TRY(tsr_layout_broadcast(shape, &ndim, own, tsr_ndim(*index)));
    TsrTensor *s, *x;
    shape[dim] = (*self)->sizes[dim];
    TSR_TRY(tsr_tensor_new_expand(&s, *self, ndim, shape));
    shape[dim] = wide;
    TsrStatus status = tsr_tensor_new_expand(&x, *index, ndim, shape);
    if (status != TSR_OK) {
        tsr_tensor_free(s);
        return status;
    }
    *self = s;
    *index = x;
    return TSR_OK;
}

static TsrStatus along_dim(TsrTensor **out, TsrTensor *self, TsrTensor *index, int64_t dim) {
    TsrTensor *wrapped;
    TSR_TRY(match_shapes(&self, &index, dim));
    TsrStatus status = tsr_invoke_new(&wrapped, 1, "remainder", "ts", index, tsr_scalar_int(self->sizes[dim])); /* by 0: ZeroDivisionError */
    if (status == TSR_OK) {
        status = tsr_require(TSR_BITS_MOST | TSR_BITS_UINT, self->dtype, "scatter_gather_tensor_cpu");
        if (status == TSR_OK) status = gather_new(out, self, dim, wrapped);
        tsr_tensor_free(wrapped);
    }
    tsr_tensor_free(self);
    tsr_tensor_free(index);
    return status;
}

TsrStatus op_take_along_dim(TsrOpCall *c) {
    TsrTensor *self = c->arg[0].t, *index = c->arg[1].t, *t = NULL;
    if (!tsr_arg_given(&c->arg[2])) {
        TsrTensor *flat, *flat_index;
        int64_t minus = -1;
        TSR_TRY(tsr_tensor_new_reshape(&flat, self, 1, &minus));
        TsrStatus status = tsr_tensor_new_reshape(&flat_index, index, 1, &minus);
        if (status == TSR_OK) {
            status = check_gather(flat, flat_index, 0);
            if (status == TSR_OK) status = gather_new(&t, flat, 0, flat_index);
            tsr_tensor_free(flat_index);
        }
        tsr_tensor_free(flat);
        return tsr_finish_move(c, status, t);
    }
    int64_t dim = c->arg[2].i;
    if (tsr_ndim(self) != tsr_ndim(index))
        return tsr_error(TSR_RUNTIME_ERROR,
                         "torch.take_along_dim(): input and indices should have the same number of dimensions, but got %d dimensions for input, and %d dimensions for indices",
                         tsr_ndim(self), tsr_ndim(index));
    if (index->dtype != TSR_INT64)
        return tsr_error(TSR_RUNTIME_ERROR, "torch.take_along_dim(): dtype of indices should be Long but got %s", tsr_dtype_scalar_name(index->dtype));
    TSR_TRY(tsr_wrap_dim(&dim, tsr_ndim(self)));
    if (tsr_ndim(self) == 0) return tsr_error(TSR_INDEX_ERROR, "Dimension specified as 0 but tensor has no dimensions");
    return tsr_finish_move(c, along_dim(&t, self, index, dim), t);
}

/* ---- scatter ---- */

/* src may be NULL: a number is written. */
static TsrStatus check_scatter(const TsrOpCall *c, const TsrTensor *self, int64_t dim, const TsrTensor *index, const TsrTensor *src) {
    if (index->numel != 0 && !is_index_dtype(index)) return tsr_error(TSR_RUNTIME_ERROR, "scatter(): Expected dtype int32/int64 for index");
    if (src != NULL && src->dtype != self->dtype) return tsr_error(TSR_RUNTIME_ERROR, "scatter(): Expected self.dtype to be equal to src.dtype");
    if (index->numel == 0) return TSR_OK;
    if (TSR_MAX(tsr_ndim(self), 1) != TSR_MAX(tsr_ndim(index), 1))
        return tsr_error(TSR_RUNTIME_ERROR, "Index tensor must have the same number of dimensions as self tensor");
    int ndim = TSR_MAX(tsr_ndim(self), 1), have = src != NULL ? TSR_MAX(tsr_ndim(src), 1) : 0;
    bool wrong = false;
    for (int d = 0; d < ndim && !wrong; d++) wrong = d != dim && size_at(index, d) > size_at(self, d);
    for (int d = 0; d < ndim && !wrong && src != NULL; d++) { /* PyTorch asks for sizes before it compares the ranks */
        if (tsr_ndim(src) > 0 && d >= have)
            return tsr_error(TSR_INDEX_ERROR, "Dimension out of range (expected to be in range of [%d, %d], but got %d)", -have, have - 1, d);
        wrong = size_at(index, d) > size_at(src, d);
    }
    if (src != NULL && have != ndim) return tsr_error(TSR_RUNTIME_ERROR, "Index tensor must have the same number of dimensions as src tensor");
    if (wrong && src != NULL)
        return tsr_error(TSR_RUNTIME_ERROR, "Expected index %s to be no larger than self %s apart from dimension %lld and to be no larger size than src %s",
                         tsr_sizes_text(index), tsr_sizes_text(self), (long long)dim, tsr_sizes_text(src));
    if (wrong)
        return tsr_error(TSR_RUNTIME_ERROR, "Expected index %s to be no larger than self %s apart from dimension %lld", tsr_sizes_text(index),
                         tsr_sizes_text(self), (long long)dim);
    if (c->out[0] == NULL) return TSR_OK;
    TSR_TRY(tsr_check_out_overlap(c->out[0], index));
    if (src != NULL) TSR_TRY(tsr_check_no_overlap(c->out[0], src));
    return tsr_check_out_dtype(c, 0, self->dtype);
}

/* Whether every position is in order. Only small dense indices are looked at: of a large one, which is written line by line and
 * in parallel, some lines stand after an error. */
static bool known_bad(const TsrTensor *index, int64_t size, int64_t *bad) {
    return index->numel <= 1 << 16 && tsr_is_contiguous(index, TSR_CONTIGUOUS) && !tsr_positions_valid(index, size, bad);
}

/* Writes in row-major order up to the first bad position, as PyTorch leaves it: operands as scatter_line's, cut to one another. */
static void scatter_until_bad(TsrTensor *const *v, int64_t dim, const LineParams *q) {
    const TsrTensor *t = v[0], *index = v[1], *src = v[2];
    for (int64_t k = 0; k < index->numel; k++) {
        int64_t to = 0, from = 0, rest = k;
        for (int d = tsr_ndim(index) - 1; d >= 0; rest /= index->sizes[d], d--) {
            int64_t at = rest % index->sizes[d];
            to += d == dim ? 0 : at * t->strides[d];
            from += at * src->strides[d];
        }
        int64_t place = ((const int64_t *)tsr_data(index))[k];
        if (place < 0 || place >= q->size) return;
        q->combine((char *)tsr_data(t) + to * q->item, t->strides[dim] * q->item, &place, 0, (const char *)tsr_data(src) + from * q->item, 0, 1);
    }
}

/* t[..., index, ...] op= src along dim. All have their own sizes; index decides. */
static TsrStatus scatter_exact(TsrTensor *t, int64_t dim, const TsrTensor *index, const TsrTensor *src, TsrCombine op) {
    TsrTensor *v[3] = {NULL}, *cut[3] = {NULL}, *positions = NULL;
    TsrCombineFn combine = tsr_combine_fn(op, t->dtype);
    TsrStatus status = tsr_tensor_new_cast(&positions, index, TSR_INT64);
    if (status == TSR_OK) status = tsr_at_least_1d_new(&v[0], t);
    if (status == TSR_OK) status = tsr_at_least_1d_new(&v[1], positions);
    if (status == TSR_OK) status = tsr_at_least_1d_new(&v[2], src);
    if (status == TSR_OK) status = cut_new(&cut[0], v[0], v[1], dim, false);
    if (status == TSR_OK) status = cut_new(&cut[1], v[1], v[1], dim, true);
    if (status == TSR_OK) status = cut_new(&cut[2], v[2], v[1], dim, true);
    if (status == TSR_OK) {
        LineParams q = {.combine = combine, .item = (int64_t)tsr_itemsize(t), .size = v[0]->sizes[dim], .bad = &(BadPosition){0}};
        int64_t bad;
        if (known_bad(cut[1], q.size, &bad)) {
            scatter_until_bad(cut, dim, &q);
            status = out_of_bounds(TSR_RUNTIME_ERROR, bad, dim, q.size);
        } else {
            status = run_lines(cut, dim, scatter_line, &q, false);
        }
    }
    tsr_free_all(cut, 3);
    tsr_free_all(v, 3);
    tsr_tensor_free(positions);
    return status;
}

/* Half and bfloat16 add and multiply in float and are rounded once, as PyTorch does. */
static TsrStatus scatter_wide(TsrTensor *t, int64_t dim, const TsrTensor *index, const TsrTensor *src, TsrCombine op) {
    TsrTensor *sum, *terms;
    TSR_TRY(tsr_tensor_new_cast(&sum, t, TSR_FLOAT32));
    TsrStatus status = tsr_tensor_new_cast(&terms, src, TSR_FLOAT32);
    if (status == TSR_OK) {
        status = scatter_exact(sum, dim, index, terms, op);
        TsrStatus copied = tsr_tensor_copy(t, sum); /* what was written before an error too */
        if (status == TSR_OK) status = copied;
        tsr_tensor_free(terms);
    }
    tsr_tensor_free(sum);
    return status;
}

static TsrStatus scatter_lines(TsrTensor *t, int64_t dim, const TsrTensor *index, const TsrTensor *src, TsrCombine op) {
    bool wide = tsr_in(TSR_BITS_HALF, t->dtype) && (op == TSR_COMBINE_ADD || op == TSR_COMBINE_MUL);
    return wide ? scatter_wide(t, dim, index, src, op) : scatter_exact(t, dim, index, src, op);
}

static TsrStatus scatter_into(TsrOpCall *c, int64_t dim, const TsrTensor *index, const TsrTensor *src, TsrCombine op, const char *kernel) {
    TsrTensor *self = c->arg[0].t, *t;
    TSR_TRY(tsr_wrap_dim(&dim, tsr_ndim(self)));
    TSR_TRY(check_scatter(c, self, dim, index, src));
    unsigned allowed = TSR_BITS_MOST | TSR_BITS_UINT;
    if (op == TSR_COMBINE_MAX || op == TSR_COMBINE_MIN) allowed &= ~TSR_BITS_COMPLEX;
    if (index->numel > 0 && !tsr_in(allowed, self->dtype)) return tsr_not_implemented(kernel, self->dtype);
    TSR_TRY(tsr_edit_new(&t, c, self, TSR_CONTIGUOUS));
    TsrStatus status = index->numel == 0 || tsr_is_meta(self) ? TSR_OK : scatter_lines(t, dim, index, src, op);
    return tsr_end_move(c, status, t);
}

/* A 0-d tensor of the number, expanded to index's sizes. */
static TsrStatus value_like_index(TsrTensor **out, const TsrTensor *self, const TsrTensor *index, TsrScalar value) {
    uint8_t cell[16];
    TSR_TRY(tsr_scalar_store_checked(value, self->dtype, cell));
    TsrTensor *one;
    TSR_TRY(tsr_tensor_new_scalar(&one, value, self->dtype));
    TsrStatus status = tsr_tensor_new_expand(out, one, tsr_ndim(index), index->sizes);
    tsr_tensor_free(one);
    return status;
}

static TsrStatus reduce_named(TsrCombine *op, const char *name) {
    if (strcmp(name, "add") == 0) *op = TSR_COMBINE_ADD;
    else if (strcmp(name, "multiply") == 0) *op = TSR_COMBINE_MUL;
    else return tsr_error(TSR_RUNTIME_ERROR, "reduce argument must be either add or multiply.");
    return TSR_OK;
}

static TsrStatus scatter_value(TsrOpCall *c, TsrCombine op) {
    TsrTensor *self = c->arg[0].t, *index = c->arg[2].t, *value;
    int64_t dim = c->arg[1].i;
    TSR_TRY(tsr_wrap_dim(&dim, tsr_ndim(self)));
    TSR_TRY(check_scatter(c, self, dim, index, NULL));
    if (index->numel > 0 && !tsr_in(TSR_BITS_MOST | TSR_BITS_UINT, self->dtype)) return tsr_not_implemented("scatter_gather_scalar_cpu", self->dtype);
    TSR_TRY(value_like_index(&value, self, index, c->arg[3].s));
    TsrTensor *t = NULL;
    TsrStatus status = tsr_edit_new(&t, c, self, TSR_CONTIGUOUS);
    if (status == TSR_OK && index->numel > 0 && !tsr_is_meta(self)) status = scatter_lines(t, dim, index, value, op);
    tsr_tensor_free(value);
    return tsr_end_move(c, status, t);
}

TsrStatus op_scatter(TsrOpCall *c) { return scatter_into(c, c->arg[1].i, c->arg[2].t, c->arg[3].t, TSR_COMBINE_SET, "scatter_gather_tensor_cpu"); }
TsrStatus op_scatter_value(TsrOpCall *c) { return scatter_value(c, TSR_COMBINE_SET); }
TsrStatus op_scatter_add(TsrOpCall *c) { return scatter_into(c, c->arg[1].i, c->arg[2].t, c->arg[3].t, TSR_COMBINE_ADD, "scatter_gather_tensor_cpu"); }

TsrStatus op_scatter_with(TsrOpCall *c) {
    TsrCombine op = TSR_COMBINE_SET;
    TSR_TRY(reduce_named(&op, c->arg[4].str));
    return scatter_into(c, c->arg[1].i, c->arg[2].t, c->arg[3].t, op, "scatter_gather_tensor_cpu");
}

TsrStatus op_scatter_value_with(TsrOpCall *c) {
    TsrCombine op = TSR_COMBINE_SET;
    TSR_TRY(reduce_named(&op, c->arg[4].str));
    return scatter_value(c, op);
}

/* ---- reductions into places: scatter_reduce and index_reduce ---- */

typedef struct Reduction {
    TsrCombine op;
    bool mean;
} Reduction;

static bool reduction_named(Reduction *r, const char *name, bool with_sum) {
    static const struct { const char *name; Reduction r; } rows[] = {
        {"sum", {TSR_COMBINE_ADD, false}}, {"prod", {TSR_COMBINE_MUL, false}}, {"mean", {TSR_COMBINE_ADD, true}},
        {"amax", {TSR_COMBINE_MAX, false}}, {"amin", {TSR_COMBINE_MIN, false}},
    };
    for (size_t i = with_sum ? 0 : 1; i < TSR_COUNTOF(rows); i++)
        if (strcmp(name, rows[i].name) == 0) {
            *r = rows[i].r;
            return true;
        }
    return false;
}

/* What an untouched place starts from: 0, 1, the least or the greatest value. */
static void neutral_store(TsrCombine op, TsrDtype d, void *cell) {
    TsrScalar s = tsr_scalar_int(op == TSR_COMBINE_MUL);
    if (op == TSR_COMBINE_MAX || op == TSR_COMBINE_MIN) {
        bool top = op == TSR_COMBINE_MIN;
        int bits = (int)tsr_dtype_size(d) * 8;
        if (tsr_dtype_is_float(d)) s = tsr_scalar_float(top ? __builtin_inf() : -__builtin_inf());
        else if (d == TSR_BOOL) s = tsr_scalar_bool(top);
        else if (tsr_dtype_kind(d) == TSR_KIND_UINT) s = top ? (bits == 64 ? tsr_scalar_int(-1) : tsr_scalar_int((int64_t)((1ull << bits) - 1))) : tsr_scalar_int(0);
        else s = tsr_scalar_int(top ? (int64_t)((1ull << (bits - 1)) - 1) : -(int64_t)((1ull << (bits - 1)) - 1) - 1);
    }
    tsr_scalar_store(s, d, cell);
}

static TsrStatus neutral_like_index(TsrTensor **out, const TsrTensor *t, const TsrTensor *index, TsrCombine op) {
    TsrTensor *one;
    TSR_TRY(tsr_tensor_new(&one, 0, NULL, t->dtype, t->device));
    neutral_store(op, t->dtype, tsr_data(one));
    TsrStatus status = tsr_tensor_new_expand(out, one, tsr_ndim(index), index->sizes);
    tsr_tensor_free(one);
    return status;
}

/* t /= counts, floor division for integers; counts of 0 are 1. */
static TsrStatus divide_by_counts(TsrTensor *t, TsrTensor *counts) {
    TsrTensor *done = NULL;
    TsrScalar one = tsr_scalar_int(1);
    TsrTensor *clamped;
    TSR_TRY(tsr_invoke_new(&clamped, 1, "clamp_min", "ts", counts, one));
    bool exact = tsr_dtype_is_float(t->dtype) || tsr_dtype_is_complex(t->dtype);
    TsrStatus status = exact ? tsr_invoke_new(&done, 1, "div", "tt", t, clamped) : tsr_invoke_new(&done, 1, "div", "ttc", t, clamped, "floor");
    tsr_tensor_free(clamped);
    if (status == TSR_OK) status = tsr_tensor_copy(t, done); /* not in place: the write is counted once, by the caller's operator */
    tsr_tensor_free(done);
    return status;
}

/* Counts of the writes each place had, in the real dtype of t (so that complex divides by a real). */
static TsrStatus scatter_counts(TsrTensor **out, const TsrTensor *t, int64_t dim, const TsrTensor *index, bool include_self) {
    TsrTensor *one, *ones = NULL;
    TsrDtype dtype = tsr_dtype_real_of(t->dtype);
    TSR_TRY(tsr_zeros_new(out, tsr_ndim(t), t->sizes, dtype, t->device));
    TsrStatus status = include_self ? tsr_tensor_fill(*out, tsr_scalar_int(1)) : TSR_OK;
    if (status == TSR_OK) status = tsr_tensor_new_scalar(&one, tsr_scalar_int(1), dtype);
    if (status == TSR_OK) {
        status = tsr_tensor_new_expand(&ones, one, tsr_ndim(index), index->sizes);
        tsr_tensor_free(one);
    }
    if (status == TSR_OK) {
        status = scatter_lines(*out, dim, index, ones, TSR_COMBINE_ADD);
        tsr_tensor_free(ones);
    }
    return tsr_owned_keep(out, status);
}

static TsrStatus scatter_reduce_into(TsrTensor *t, int64_t dim, const TsrTensor *index, const TsrTensor *src, Reduction r, bool include_self) {
    if (!include_self) {
        TsrTensor *start;
        TSR_TRY(neutral_like_index(&start, t, index, r.op));
        TsrStatus status = scatter_lines(t, dim, index, start, TSR_COMBINE_SET);
        tsr_tensor_free(start);
        TSR_TRY(status);
    }
    TSR_TRY(scatter_lines(t, dim, index, src, r.op));
    if (!r.mean) return TSR_OK;
    TsrTensor *counts;
    TSR_TRY(scatter_counts(&counts, t, dim, index, include_self));
    TsrStatus status = divide_by_counts(t, counts);
    tsr_tensor_free(counts);
    return status;
}

TsrStatus op_scatter_reduce(TsrOpCall *c) {
    TsrTensor *self = c->arg[0].t, *index = c->arg[2].t, *src = c->arg[3].t, *t;
    int64_t dim = c->arg[1].i;
    bool include_self = c->arg[5].b;
    Reduction r = {TSR_COMBINE_ADD, false};
    TSR_TRY(tsr_wrap_dim(&dim, tsr_ndim(self)));
    if (!reduction_named(&r, c->arg[4].str, true))
        return tsr_error(TSR_RUNTIME_ERROR, "reduce argument must be either sum, prod, mean, amax or amin, got %s", c->arg[4].str);
    TSR_TRY(check_scatter(c, self, dim, index, src));
    unsigned allowed = TSR_BITS_MOST;
    if (r.op >= TSR_COMBINE_MAX) allowed &= ~TSR_BITS_COMPLEX;
    if (r.mean) allowed &= ~TSR_BIT(BOOL);
    static const char *const kernels[] = {NULL, "scatter_gather_tensor_cpu_reduce_sum", "scatter_gather_tensor_cpu_reduce_prod",
                                          "scatter_gather_tensor_cpu_reduce_amax", "scatter_gather_tensor_cpu_reduce_amin"};
    const char *kernel = !include_self && !tsr_in(TSR_BITS_MOST, self->dtype) ? "scatter_reduce_exclude_input_init"
                         : r.mean ? "scatter_gather_tensor_cpu_reduce_mean" : kernels[r.op];
    if (index->numel > 0) TSR_TRY(tsr_require(allowed, self->dtype, kernel));
    TSR_TRY(tsr_edit_new(&t, c, self, TSR_CONTIGUOUS));
    TsrStatus status = index->numel == 0 || tsr_is_meta(self) ? TSR_OK : scatter_reduce_into(t, dim, index, src, r, include_self);
    return tsr_end_move(c, status, t);
}

/* ---- rows: index_select, index_add, index_copy, index_fill, index_reduce ---- */

typedef struct Rows {
    int64_t outer, n, inner, size; /* result is (outer, n, inner); the indexed one (outer, size, inner) */
    size_t item;
    char *dst;
    const char *src;
    const int64_t *index;
} Rows;

static Rows rows_of(const TsrTensor *t, int64_t dim, int64_t n) {
    Rows r = {.outer = 1, .n = n, .inner = 1, .size = size_at(t, dim), .item = tsr_itemsize(t)};
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
        pick(r->dst + k * item, item, r->src + o * r->size * item, item, r->index + first, 1, n, item);
        k += n;
    }
}

static TsrStatus check_index_select(const TsrTensor *self, const TsrTensor *index) {
    if (tsr_ndim(index) > 1) return tsr_error(TSR_INDEX_ERROR, "index_select(): Index is supposed to be a vector");
    if (tsr_ndim(self) == 0 && index->numel != 1)
        return tsr_error(TSR_RUNTIME_ERROR, "index_select(): Index to scalar can have only 1 value, got %lld value(s)", (long long)index->numel);
    if (!is_index_dtype(index)) return tsr_error(TSR_RUNTIME_ERROR, "index_select(): Expected dtype int32 or int64 for index");
    return TSR_OK;
}

static TsrStatus check_select_bounds(const TsrTensor *self, int64_t dim, const TsrTensor *index) {
    int64_t bad, size = size_at(self, dim);
    bool strict = tsr_ndim(self) > 1 && (dim == 1 || self->numel == 0);
    if (strict && self->numel == 0 && size <= 0 && index->numel > 0)
        return tsr_error(TSR_RUNTIME_ERROR, "index_select(): self indexing axis dim should be positive");
    if (tsr_positions_valid(index, size, &bad)) return TSR_OK;
    if (strict) return tsr_error(TSR_RUNTIME_ERROR, "INDICES element is out of DATA bounds, id=%lld axis_dim=%lld", (long long)bad, (long long)size);
    return tsr_error(TSR_INDEX_ERROR, "index out of range in self");
}

static TsrStatus index_select_fill(TsrTensor *t, const TsrTensor *self, int64_t dim, const TsrTensor *index) {
    TsrTensor *dense, *positions;
    TSR_TRY(tsr_long_new(&positions, index));
    TsrStatus status = check_select_bounds(self, dim, positions);
    if (status == TSR_OK && t->numel > 0) {
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
    return tsr_end_move(c, tsr_is_meta(self) ? TSR_OK : index_select_fill(t, self, dim, index), t);
}

/* The checks that index_add and index_reduce share; `name` as in their messages. */
static TsrStatus check_index_source(const TsrOpCall *c, const char *name, const TsrTensor *self, int64_t dim, const TsrTensor *index, const TsrTensor *source) {
    if (tsr_ndim(index) > 1)
        return tsr_error(TSR_INDEX_ERROR, "%s(): Index is supposed to be a vector, but got dim: %d with type: %s and size: %s", name, tsr_ndim(index),
                         tsr_dtype_scalar_name(index->dtype), tsr_sizes_text(index));
    if (!is_index_dtype(index))
        return tsr_error(TSR_RUNTIME_ERROR, "%s(): Expected dtype int32/int64 for index but got: %s", name, tsr_dtype_scalar_name(index->dtype));
    if (self->dtype != source->dtype)
        return tsr_error(TSR_RUNTIME_ERROR, "%s(): self (%s) and source (%s) must have the same scalar type", name, tsr_dtype_scalar_name(self->dtype),
                         tsr_dtype_scalar_name(source->dtype));
    if (dim != 0 && dim >= tsr_ndim(source))
        return tsr_error(TSR_RUNTIME_ERROR, "%s(): Indexing dim %lld is out of bounds of the source tensor with dim %d", name, (long long)dim, tsr_ndim(source));
    if (tsr_ndim(source) == 0 && tsr_ndim(self) > 0 && index->numel != 1) return tsr_error(TSR_INDEX_ERROR, "Dimension specified as %lld but tensor has no dimensions", (long long)dim);
    if (index->numel != size_at(source, dim))
        return tsr_error(TSR_RUNTIME_ERROR, "%s(): Number of indices (%lld) should be equal to source.size(dim): (%lld), for dim: %lld", name,
                         (long long)index->numel, (long long)size_at(source, dim), (long long)dim);
    bool same = tsr_ndim(self) == tsr_ndim(source);
    for (int d = 0; d < tsr_ndim(self) && same; d++) same = d == dim || self->sizes[d] == source->sizes[d];
    if (!same)
        return tsr_error(TSR_RUNTIME_ERROR,
                         "source tensor shape must match self tensor shape, excluding the specified dimension. Got self.shape = %s source.shape = %s",
                         tsr_sizes_text(self), tsr_sizes_text(source));
    if (c->out[0] == NULL) return TSR_OK;
    TSR_TRY(tsr_check_out_overlap(c->out[0], index));
    return tsr_check_no_overlap(c->out[0], source);
}

/* How far a write gets: the positions before the first bad one, in every row or in the first alone, as PyTorch leaves it. */
typedef struct Reach { int64_t count; bool everywhere; } Reach;

static Reach reach_of(const TsrTensor *positions, int64_t size, bool position_by_position, int64_t *bad) {
    const int64_t *p = tsr_data(positions);
    Reach reach = {positions->numel, true};
    if (tsr_positions_valid(positions, size, bad)) return reach;
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
            for (int64_t i = 0; i < reach.count && tsr_interrupt_flag == 0; i++) combine(dst + r->index[i] * row, item, NULL, 0, src + i * row, item, r->inner);
    }
}

static TsrStatus fold_source(TsrTensor *t, int64_t dim, const TsrTensor *positions, Reach reach, const TsrTensor *source, TsrCombine op) {
    TsrTensor *dense;
    TSR_TRY(tsr_tensor_new_contiguous(&dense, source, TSR_CONTIGUOUS));
    Rows r = rows_of(t, dim, positions->numel);
    r.dst = tsr_data(t);
    r.src = tsr_data(dense);
    r.index = tsr_data(positions);
    if (t->numel > 0 && dense->numel > 0) fold_rows(&r, reach, tsr_combine_fn(op, t->dtype));
    tsr_tensor_free(dense);
    return TSR_OK;
}

/* Rows of half and bfloat16 add up in float when there is more than one dimension. */
static TsrStatus add_source(TsrTensor *t, int64_t dim, const TsrTensor *positions, Reach reach, const TsrTensor *source) {
    if (tsr_ndim(t) < 2 || !tsr_in(TSR_BITS_HALF, t->dtype)) return fold_source(t, dim, positions, reach, source, TSR_COMBINE_ADD);
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
    return s.kind == TSR_SCALAR_BOOL ? s.b : s.kind == TSR_SCALAR_COMPLEX ? s.c.re == 1 && s.c.im == 0 : tsr_scalar_to_double(s) == 1;
}

/* Row by row with the scale inside the addition, so that it rounds once. */
static TsrStatus add_scaled(TsrTensor *t, int64_t dim, const TsrTensor *positions, int64_t count, const TsrTensor *source, TsrScalar alpha) {
    const int64_t *index = tsr_data(positions);
    for (int64_t i = 0; i < count; i++) {
        TSR_TRY(tsr_interrupt_check());
        TsrTensor *into = NULL, *from = NULL, *done = NULL;
        TsrStatus status = tsr_ndim(t) == 0 ? tsr_tensor_new_alias(&into, t) : tsr_tensor_new_select(&into, t, dim, index[i]);
        if (status == TSR_OK) status = tsr_ndim(source) == 0 ? tsr_tensor_new_alias(&from, source) : tsr_tensor_new_select(&from, source, dim, i);
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
    TSR_TRY(tsr_check_out_dtype(c, 0, self->dtype));
    TSR_TRY(check_index_source(c, "index_add_", self, dim, index, source));
    if (tsr_ndim(self) > 1) TSR_TRY(tsr_require(TSR_BITS_MOST | TSR_BITS_UINT, self->dtype, "scatter_gather_tensor_cpu"));
    else TSR_TRY(tsr_require(TSR_BITS_MOST | TSR_BIT(COMPLEX32), self->dtype, "index_add_"));
    TSR_TRY(check_alpha(&alpha, self->dtype));
    if (tsr_is_meta(self)) return tsr_finish_move(c, tsr_edit_dense_new(&t, c, self), t);
    TSR_TRY(tsr_long_new(&positions, index));
    /* Along the first or the last dimension PyTorch does this as a scatter_add. */
    bool scatters = tsr_ndim(self) > 1 && is_one(alpha) && (dim == 0 || dim == tsr_ndim(self) - 1);
    Reach reach = reach_of(positions, size_at(self, dim), !scatters, &bad);
    bool complete = all_reached(reach, positions);
    TsrStatus status = tsr_edit_dense_new(&t, c, self);
    if (status == TSR_OK) status = is_one(alpha) ? add_source(t, dim, positions, reach, source) : add_scaled(t, dim, positions, reach.count, source, alpha);
    tsr_tensor_free(positions);
    if (status != TSR_OK || complete) return tsr_end_move(c, status, t);
    return end_partly_move(c, t, scatters ? out_of_bounds(TSR_RUNTIME_ERROR, bad, dim, size_at(self, dim)) : tsr_error(TSR_INDEX_ERROR, "index out of range in self"));
}

/* Sizes without that of dim, as PyTorch prints them here: apart by spaces, no brackets. */
static int slice_sizes(int64_t *sizes, char text[256], const TsrTensor *t, int64_t dim) {
    int n = 0;
    size_t used = 0;
    text[0] = '\0';
    for (int d = 0; d < tsr_ndim(t); d++) {
        if (d == dim) continue;
        if (used < 230) used += (size_t)snprintf(text + used, 256 - used, n > 0 ? " %lld" : "%lld", (long long)t->sizes[d]);
        sizes[n++] = t->sizes[d];
    }
    return n;
}

static TsrStatus check_slice_shapes(const TsrTensor *self, int64_t dim, const TsrTensor *source) {
    int64_t a[TSR_MAX_DIMS], b[TSR_MAX_DIMS];
    char ta[256], tb[256];
    int na = slice_sizes(a, ta, self, dim), nb = slice_sizes(b, tb, source, dim);
    if (na == nb && memcmp(a, b, sizeof *a * (size_t)na) == 0) return TSR_OK;
    return tsr_error(TSR_RUNTIME_ERROR,
                     "index_copy_(): Source/destination tensor must have same slice shapes. Destination slice shape: %s at dimension %lld and source slice shape: %s at "
                     "dimension 0.", ta, (long long)dim, tb);
}

static TsrStatus check_index_copy(const TsrTensor *self, int64_t dim, const TsrTensor *index, const TsrTensor *source) {
    if (tsr_ndim(index) >= 2) return tsr_error(TSR_INDEX_ERROR, "index_copy_(): Index should have dimension 1 or 0 (got %d)", tsr_ndim(index));
    int64_t n = index->numel;
    if (tsr_ndim(source) == 0 && n != 1) return tsr_error(TSR_INDEX_ERROR, "index_copy_(): When source is scalar, index should have one element (got %lld)", (long long)n);
    if (tsr_ndim(source) != tsr_ndim(self) && tsr_ndim(source) != 0 && tsr_ndim(self) != 0)
        return tsr_error(TSR_INDEX_ERROR,
                         "index_copy_(): When source and destination are not scalars, their dimensionality must match. Source dimensionality (%d), destination dimensionality (%d)",
                         tsr_ndim(source), tsr_ndim(self));
    if (index->dtype != TSR_INT64) return tsr_error(TSR_RUNTIME_ERROR, "index_copy_(): Expected a long tensor for index, but got %s", tsr_dtype_scalar_name(index->dtype));
    if (self->dtype != source->dtype)
        return tsr_error(TSR_RUNTIME_ERROR, "index_copy_(): self and source expected to have the same dtype, but got (self) %s and (source) %s",
                         tsr_dtype_scalar_name(self->dtype), tsr_dtype_scalar_name(source->dtype));
    TSR_TRY(check_slice_shapes(self, dim, source));
    if (tsr_ndim(source) > 0 && n != source->sizes[dim])
        return tsr_error(TSR_INDEX_ERROR, "index_copy_(): Number of indices (%lld) should be equal to source.size(dim) (%lld)", (long long)n, (long long)source->sizes[dim]);
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
    TSR_TRY(tsr_long_new(&positions, index));
    Reach reach = reach_of(positions, size_at(self, dim), false, &bad);
    bool complete = all_reached(reach, positions) || source->numel == 0;
    TsrStatus status = tsr_edit_dense_new(&t, c, self);
    if (status == TSR_OK) status = fold_source(t, dim, positions, reach, source, TSR_COMBINE_SET);
    tsr_tensor_free(positions);
    if (status != TSR_OK || complete) return tsr_end_move(c, status, t);
    return end_partly_move(c, t, tsr_error(TSR_INDEX_ERROR, "index_copy_(): index %lld is out of bounds for dimension %lld with size %lld", (long long)bad,
                                           (long long)dim, (long long)size_at(self, dim)));
}

/* ---- index_fill ---- */

/* The part of t that a fill along dim reaches before it fails: the first of the dimensions before dim. */
static TsrStatus first_rows_new(TsrTensor **out, TsrTensor *t, int64_t dim) {
    int64_t sizes[TSR_MAX_DIMS];
    for (int d = 0; d < tsr_ndim(t); d++) sizes[d] = d < dim ? TSR_MIN(t->sizes[d], 1) : t->sizes[d];
    return tsr_tensor_new_view(out, t, (TsrGeometry){tsr_ndim(t), sizes, t->strides, t->offset}, NULL);
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
    int64_t outer = 1, inner = 1, size = size_at(t, dim);
    size_t item = tsr_itemsize(t);
    uint8_t cell[16];
    for (int d = 0; d < tsr_ndim(t); d++) *(d < dim ? &outer : &inner) *= d == dim ? 1 : t->sizes[d];
    TSR_TRY(tsr_tensor_check(t, true));
    tsr_scalar_store(value, t->dtype, cell);
    for (int64_t o = 0; o < outer; o++) {
        char *block = (char *)tsr_data(t) + (size_t)(o * size * inner) * item;
        for (int64_t i = 0; i < count; i++) {
            if ((i & 0xFFF) == 0) TSR_TRY(tsr_interrupt_check());
            put_cells(block + (size_t)((index[i] < 0 ? index[i] + size : index[i]) * inner) * item, cell, item, inner);
        }
    }
    return TSR_OK;
}

static TsrStatus fill_rows(TsrTensor *t, int64_t dim, const int64_t *index, int64_t count, TsrScalar value) {
    if (tsr_is_contiguous(t, TSR_CONTIGUOUS) && t->flags == 0) return fill_dense_rows(t, dim, index, count, value);
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

static TsrStatus fill_positions(TsrTensor *t, int64_t dim, const TsrTensor *positions, TsrScalar value) {
    const int64_t *index = tsr_data(positions);
    int64_t size = size_at(t, dim), good = 0, others = 1;
    for (int d = 0; d < tsr_ndim(t); d++) others *= d == dim ? 1 : TSR_MIN(t->sizes[d], 1);
    if (others == 0) return TSR_OK; /* nothing to fill: positions are not looked at */
    while (good < positions->numel && index[good] >= -size && index[good] < size) good++;
    if (good == positions->numel) return fill_rows(t, dim, index, good, value);
    TsrTensor *first;
    TSR_TRY(first_rows_new(&first, t, dim));
    TsrStatus status = fill_rows(first, dim, index, good, value);
    tsr_tensor_free(first);
    return status == TSR_OK ? out_of_bounds(TSR_INDEX_ERROR, index[good], dim, size) : status;
}

/* PyTorch lays one row of t over its storage first, which a storage without bytes refuses. */
static TsrStatus check_row(const TsrTensor *t, int64_t dim) {
    int64_t sizes[TSR_MAX_DIMS], strides[TSR_MAX_DIMS];
    TsrTensor *row;
    memcpy(sizes, t->sizes, sizeof *sizes * (size_t)tsr_ndim(t));
    memcpy(strides, t->strides, sizeof *strides * (size_t)tsr_ndim(t));
    sizes[dim] = 1;
    strides[dim] = 0;
    TSR_TRY(tsr_tensor_new_over(&row, t->storage, (TsrGeometry){tsr_ndim(t), sizes, strides, t->offset}, t->dtype));
    tsr_tensor_free(row);
    return TSR_OK;
}

static TsrStatus index_fill(TsrOpCall *c, TsrScalar value) {
    TsrTensor *self = c->arg[0].t, *index = c->arg[2].t, *t, *positions;
    int64_t dim = c->arg[1].i;
    uint8_t cell[16];
    if (index->dtype != TSR_INT64) return tsr_error(TSR_INDEX_ERROR, "index_fill_(): Expected dtype int64 for index.");
    if (value.kind == TSR_SCALAR_COMPLEX && !tsr_dtype_is_complex(self->dtype))
        return tsr_error(TSR_RUNTIME_ERROR, "index_fill_(): Converting complex Scalar to non-complex type is not supported");
    TSR_TRY(tsr_wrap_dim(&dim, tsr_ndim(self)));
    if (tsr_ndim(index) > 1) return tsr_error(TSR_RUNTIME_ERROR, "Index has to be a vector/scalar");
    TSR_TRY(tsr_require(TSR_BITS_MOST | TSR_BIT(COMPLEX32), self->dtype, "index_fill_cpu"));
    TSR_TRY(tsr_scalar_store_checked(value, self->dtype, cell));
    if (c->inplace) TSR_TRY(tsr_check_no_overlap(c->out[0], index));
    if (c->inplace) t = tsr_tensor_retain(c->out[0]);
    else TSR_TRY(tsr_tensor_new_clone(&t, self, TSR_PRESERVE));
    if (tsr_is_meta(self)) return tsr_return_move(c, t);
    TsrStatus status = t->numel == 0 && index->numel > 0 && tsr_ndim(t) > 0 ? check_row(t, dim) : TSR_OK;
    if (status == TSR_OK) status = tsr_long_new(&positions, index);
    if (status == TSR_OK) {
        status = fill_positions(t, dim, positions, value);
        tsr_tensor_free(positions);
    }
    return tsr_end_move(c, status, t);
}

TsrStatus op_index_fill_scalar(TsrOpCall *c) { return index_fill(c, c->arg[3].s); }

TsrStatus op_index_fill_tensor(TsrOpCall *c) {
    TsrScalar value;
    if (tsr_ndim(c->arg[3].t) != 0)
        return tsr_error(TSR_RUNTIME_ERROR, "index_fill_ only supports a 0-dimensional value tensor, but got tensor with %d dimension(s).", tsr_ndim(c->arg[3].t));
    TSR_TRY(tsr_tensor_item(&value, c->arg[3].t));
    return index_fill(c, value);
}

/* ---- index_reduce ---- */

static TsrStatus reset_rows(TsrTensor *t, int64_t dim, const TsrTensor *positions, int64_t count, TsrCombine op) {
    uint8_t cell[16];
    neutral_store(op, t->dtype, cell);
    const int64_t *index = tsr_data(positions);
    TsrCombineFn set = tsr_combine_fn(TSR_COMBINE_SET, t->dtype);
    Rows r = rows_of(t, dim, positions->numel);
    int64_t item = (int64_t)r.item, row = r.inner * item;
    char *p = tsr_data(t);
    for (int64_t o = 0; o < r.outer && t->numel > 0; o++)
        for (int64_t i = 0; i < count && !tsr_interrupted_at(i); i++) set(p + (o * r.size + index[i]) * row, item, NULL, 0, (const char *)cell, 0, r.inner);
    return TSR_OK;
}

/* Counts along dim, shaped to broadcast over t. */
static TsrStatus row_counts(TsrTensor **out, const TsrTensor *t, int64_t dim, const TsrTensor *positions, bool include_self) {
    int64_t sizes[TSR_MAX_DIMS];
    for (int d = 0; d < tsr_ndim(t); d++) sizes[d] = d == dim ? t->sizes[d] : 1;
    TsrTensor *counts;
    TSR_TRY(tsr_zeros_new(&counts, tsr_ndim(t), sizes, TSR_INT64, t->device));
    int64_t *n = tsr_data(counts);
    const int64_t *index = tsr_data(positions);
    for (int64_t i = 0; i < counts->numel; i++) n[i] = include_self;
    for (int64_t i = 0; i < positions->numel && !tsr_interrupted_at(i); i++) n[index[i]]++;
    TsrStatus status = tsr_tensor_new_cast(out, counts, tsr_dtype_real_of(t->dtype));
    tsr_tensor_free(counts);
    return status;
}

static TsrStatus index_reduce_into(TsrTensor *t, int64_t dim, const TsrTensor *positions, Reach reach, const TsrTensor *source, Reduction r, bool include_self) {
    if (!include_self) TSR_TRY(reset_rows(t, dim, positions, reach.count, r.op));
    TSR_TRY(fold_source(t, dim, positions, reach, source, r.op));
    if (!r.mean || !all_reached(reach, positions)) return TSR_OK;
    TsrTensor *counts;
    TSR_TRY(row_counts(&counts, t, dim, positions, include_self));
    TsrStatus status = divide_by_counts(t, counts);
    tsr_tensor_free(counts);
    return status;
}

TsrStatus op_index_reduce(TsrOpCall *c) {
    TsrTensor *self = c->arg[0].t, *index = c->arg[2].t, *source = c->arg[3].t, *t = NULL, *positions;
    int64_t dim = c->arg[1].i, bad;
    bool include_self = c->arg[5].b;
    Reduction r = {TSR_COMBINE_ADD, false};
    if (!reduction_named(&r, c->arg[4].str, false))
        return tsr_error(TSR_RUNTIME_ERROR, "index_reduce(): Expected reduce to be one of prod, mean, amax or amin but got %s.", c->arg[4].str);
    TSR_TRY(tsr_wrap_dim(&dim, tsr_ndim(self)));
    TSR_TRY(tsr_check_out_dtype(c, 0, self->dtype));
    TSR_TRY(check_index_source(c, "index_reduce_", self, dim, index, source));
    if (!include_self && !tsr_in(TSR_BITS_USUAL, self->dtype)) return tsr_not_implemented("index_reduce_func_exclude_input_init", self->dtype);
    if (tsr_ndim(self) < 2) TSR_TRY(tsr_require(TSR_BITS_USUAL, self->dtype, "index_func_"));
    if (r.op == TSR_COMBINE_MAX) TSR_TRY(tsr_require(TSR_BITS_USUAL | TSR_BIT(BOOL) | TSR_BITS_UINT, self->dtype, "maximum_cpu"));
    if (r.op == TSR_COMBINE_MIN) TSR_TRY(tsr_require(TSR_BITS_USUAL | TSR_BIT(BOOL) | TSR_BITS_UINT, self->dtype, "minimum_cpu"));
    if (r.op == TSR_COMBINE_ADD) TSR_TRY(tsr_require(TSR_BITS_MOST, self->dtype, "add_stub"));
    if (tsr_combine_fn(r.op, self->dtype) == NULL) return tsr_not_implemented("mul_cpu", self->dtype);
    if (tsr_is_meta(self)) return tsr_finish_move(c, tsr_edit_dense_new(&t, c, self), t);
    TSR_TRY(tsr_long_new(&positions, index));
    Reach reach = reach_of(positions, size_at(self, dim), true, &bad);
    bool complete = all_reached(reach, positions);
    TsrStatus status = tsr_edit_dense_new(&t, c, self);
    if (status == TSR_OK) status = index_reduce_into(t, dim, positions, reach, source, r, include_self);
    tsr_tensor_free(positions);
    if (status != TSR_OK || complete) return tsr_end_move(c, status, t);
    return end_partly_move(c, t, tsr_error(TSR_INDEX_ERROR, "index out of range in self"));
}

/* ---- index_put ---- */

/* One value where a mask is set: as masked_fill, it may be one of the elements. */
static bool fills_mask(const TsrOpCall *c) {
    const TsrArg *indices = &c->arg[1];
    return c->arg[2].t->numel == 1 && !c->arg[3].b && indices->n == 1 && indices->tensors[0] != NULL && indices->tensors[0]->dtype == TSR_BOOL;
}

TsrStatus op_index_put(TsrOpCall *c) {
    TsrTensor *self = c->arg[0].t, *t;
    if (c->inplace) {
        if (!fills_mask(c)) TSR_TRY(tsr_index_check_apart(c->out[0], c->arg[1].n, c->arg[1].tensors, c->arg[2].t));
        t = tsr_tensor_retain(c->out[0]);
    } else {
        TSR_TRY(tsr_tensor_new_clone(&t, self, TSR_PRESERVE));
    }
    return tsr_end_move(c, tsr_index_put(t, c->arg[1].n, c->arg[1].tensors, c->arg[2].t, c->arg[3].b), t);
}
