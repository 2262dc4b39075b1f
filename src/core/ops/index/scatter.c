/* scatter.c: elements written to positions along one dimension: scatter, scatter_add, scatter_reduce. */
#include <string.h>

#include "core/engine/places.h"
#include "core/ops/reduce/along.h"
#include "core/op/out.h"
#include "core/parallel.h"
#include "core/tensor/owned.h"

/* Operands: target, index, source. */
static void scatter_line(char *const *data, const int64_t *stride, const int64_t *n, const void *params) {
    const AlongLine *q = params;
    const int64_t *index = (const int64_t *)(const void *)data[1];
    if (!tsr_along_valid(index, stride[1] / 8, n[1], q)) return;
    q->combine(data[0], stride[0], index, stride[1] / 8, data[2], stride[2], n[1]);
}

/* Where lines are not contiguous: in the order of memory, some columns of a sample at a time, whose places no other
 * columns share. Line by line, scatter_ along the first of two dimensions of 1000 took 2.8 ms where this takes 1.1
 * (Zen 5, one thread). */
typedef struct ScatterAcross {
    const AlongLine *q;
    int64_t rows, inner, band; /* positions along dim, columns, of which so many at a time */
    char *dst;
    const int64_t *index;
    const char *src;
} ScatterAcross;

enum { ACROSS = 2048 }; /* places that are computed at once: 16 KiB, half of a first cache */

/* `rows` rows of n positions, which lie one behind the other, of columns from `column` on. */
static bool scatter_rows(const ScatterAcross *s, char *dst, int64_t first, int64_t column, int64_t rows, int64_t n) {
    int64_t place[ACROSS];
    if (!tsr_along_valid(s->index + first, 1, rows * n, s->q)) return false;
    for (int64_t row = 0; row < rows; row++)
        for (int64_t i = 0; i < n; i++) place[row * n + i] = s->index[first + row * n + i] * s->inner + column + i;
    s->q->combine(dst, s->q->item, place, 1, s->src + first * s->q->item, s->q->item, rows * n);
    return true;
}

static void scatter_bands(int64_t begin, int64_t end, void *user) {
    const ScatterAcross *s = user;
    const int64_t bands = (s->inner + s->band - 1) / s->band;
    for (int64_t unit = begin; unit < end; unit++) {
        const int64_t sample = unit / bands, column = unit % bands * s->band, n = TSR_MIN(s->band, s->inner - column);
        const int64_t step = n == s->inner ? TSR_MAX(ACROSS / n, 1) : 1;
        char *dst = s->dst + sample * s->q->size * s->inner * s->q->item;
        for (int64_t row = 0; row < s->rows && tsr_interrupt_flag == 0; row += step)
            if (!scatter_rows(s, dst, (sample * s->rows + row) * s->inner + column, column,
                              TSR_MIN(step, s->rows - row), n))
                return;
    }
}

static TsrStatus run_across(TsrTensor *t, const TsrTensor *index, const TsrTensor *src, int64_t dim,
                            const AlongLine *q) {
    ScatterAcross s = {.q = q,
                       .rows = index->sizes[dim],
                       .inner = tsr_along_inner(index, dim),
                       .dst = tsr_data(t),
                       .index = tsr_data(index),
                       .src = tsr_data(src)};
    const int64_t samples = index->numel / (s.rows * s.inner);
    s.band = TSR_MIN(s.inner, (int64_t)ACROSS);
    if (samples < tsr_parallel_width()) s.band = TSR_MIN(s.band, TSR_MAX(s.inner / tsr_parallel_width(), (int64_t)256));
    const int64_t bands = (s.inner + s.band - 1) / s.band;
    TSR_TRY(tsr_parallel_for(samples * bands, tsr_grain(s.rows * s.band), scatter_bands, &s));
    return q->bad->found ? tsr_along_out_of_bounds(TSR_RUNTIME_ERROR, q->bad->position, dim, q->size) : TSR_OK;
}

/* src may be NULL: a number is written. */
static TsrStatus check_sizes(const TsrTensor *self, int64_t dim, const TsrTensor *index, const TsrTensor *src) {
    if (index->numel == 0) return TSR_OK;
    if (TSR_MAX(tsr_ndim(self), 1) != TSR_MAX(tsr_ndim(index), 1))
        return tsr_error(TSR_RUNTIME_ERROR, "Index tensor must have the same number of dimensions as self tensor");
    int ndim = TSR_MAX(tsr_ndim(self), 1), have = src != NULL ? TSR_MAX(tsr_ndim(src), 1) : 0;
    bool wrong = false;
    for (int d = 0; d < ndim && !wrong; d++) wrong = d != dim && tsr_along_size(index, d) > tsr_along_size(self, d);
    for (int d = 0; d < ndim && !wrong && src != NULL; d++) { /* PyTorch asks for sizes before it compares the ranks */
        if (tsr_ndim(src) > 0 && d >= have)
            return tsr_error(TSR_INDEX_ERROR,
                             "Dimension out of range (expected to be in range of [%d, %d], but got %d)", -have,
                             have - 1, d);
        wrong = tsr_along_size(index, d) > tsr_along_size(src, d);
    }
    if (src != NULL && have != ndim)
        return tsr_error(TSR_RUNTIME_ERROR, "Index tensor must have the same number of dimensions as src tensor");
    if (wrong && src != NULL)
        return tsr_error(
            TSR_RUNTIME_ERROR,
            "Expected index %s to be no larger than self %s apart from dimension %lld and to be no larger size than "
            "src %s",
            tsr_sizes_text(index), tsr_sizes_text(self), (long long)dim, tsr_sizes_text(src));
    if (wrong)
        return tsr_error(TSR_RUNTIME_ERROR, "Expected index %s to be no larger than self %s apart from dimension %lld",
                         tsr_sizes_text(index), tsr_sizes_text(self), (long long)dim);
    return TSR_OK;
}

static TsrStatus check_scatter(const TsrOpCall *c, const TsrTensor *self, int64_t dim, const TsrTensor *index,
                               const TsrTensor *src) {
    if (index->numel != 0 && !tsr_is_index_dtype(index))
        return tsr_error(TSR_RUNTIME_ERROR, "scatter(): Expected dtype int32/int64 for index");
    if (src != NULL && src->dtype != self->dtype)
        return tsr_error(TSR_RUNTIME_ERROR, "scatter(): Expected self.dtype to be equal to src.dtype");
    TSR_TRY(check_sizes(self, dim, index, src));
    if (c->out[0] == NULL) return TSR_OK;
    TSR_TRY(tsr_check_out_overlap(c->out[0], index));
    if (src != NULL) TSR_TRY(tsr_check_no_overlap(c->out[0], src));
    return tsr_check_out_dtype(c, 0, self->dtype);
}

/* Whether every position is in order. Only small dense indices are looked at: of a large one, which is written line by
 * line and in parallel, some lines stand after an error. */
static bool known_bad(const TsrTensor *index, int64_t size, int64_t *bad) {
    return index->numel <= 1 << 16 && tsr_is_contiguous(index, TSR_CONTIGUOUS) &&
           !tsr_positions_valid(index, size, bad);
}

/* Writes in row-major order up to the first bad position, as PyTorch leaves it: operands as scatter_line's, cut to one
 * another. */
static void scatter_until_bad(TsrTensor *const *v, int64_t dim, const AlongLine *q) {
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
        q->combine((char *)tsr_data(t) + to * q->item, t->strides[dim] * q->item, &place, 0,
                   (const char *)tsr_data(src) + from * q->item, 0, 1);
    }
}

/* scatter_exact on a device. */
static TsrStatus scatter_there(TsrTensor *t, int64_t dim, const TsrTensor *index, const TsrTensor *src, TsrCombine op) {
    TSR_OWNED positions = NULL;
    TSR_TRY(tsr_tensor_new_cast(&positions, index, TSR_INT64));
    const TsrAlong along = {.index = positions, .dim = dim, .wrong = TSR_WRONG_PLACE};
    return tsr_place_along(t, src, &along, op);
}

/* t[..., index, ...] op= src along dim. All have their own sizes; index decides. */
static TsrStatus scatter_exact(TsrTensor *t, int64_t dim, const TsrTensor *index, const TsrTensor *src, TsrCombine op) {
    TsrTensor *v[3] = {NULL}, *cut[3] = {NULL}, *positions = NULL;
    TsrCombineFn combine = tsr_combine_fn(op, t->dtype);
    if (tsr_on_device(t)) return scatter_there(t, dim, index, src, op);
    TsrStatus status = tsr_tensor_new_cast(&positions, index, TSR_INT64);
    if (status == TSR_OK) status = tsr_at_least_1d_new(&v[0], t);
    if (status == TSR_OK) status = tsr_at_least_1d_new(&v[1], positions);
    if (status == TSR_OK) status = tsr_at_least_1d_new(&v[2], src);
    if (status == TSR_OK) status = tsr_along_cut_new(&cut[0], v[0], v[1], dim, false);
    if (status == TSR_OK) status = tsr_along_cut_new(&cut[1], v[1], v[1], dim, true);
    if (status == TSR_OK) status = tsr_along_cut_new(&cut[2], v[2], v[1], dim, true);
    if (status == TSR_OK) {
        AlongLine q = {
            .combine = combine, .item = (int64_t)tsr_itemsize(t), .size = v[0]->sizes[dim], .bad = &(AlongBad){0}};
        int64_t bad;
        if (known_bad(cut[1], q.size, &bad)) {
            scatter_until_bad(cut, dim, &q);
            status = tsr_along_out_of_bounds(TSR_RUNTIME_ERROR, bad, dim, q.size);
        } else if (v[1]->sizes[dim] > 1 && tsr_along_across(v[0], v[1], dim) &&
                   tsr_is_contiguous(cut[2], TSR_CONTIGUOUS)) {
            status = run_across(v[0], v[1], cut[2], dim, &q);
        } else {
            status = tsr_along_run(cut, dim, scatter_line, &q);
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

static TsrStatus reduce_named(TsrCombine *op, const char *name) {
    if (name == NULL) return TSR_OK;
    if (strcmp(name, "add") == 0) *op = TSR_COMBINE_ADD;
    else if (strcmp(name, "multiply") == 0) *op = TSR_COMBINE_MUL;
    else return tsr_error(TSR_RUNTIME_ERROR, "reduce argument must be either add or multiply.");
    return TSR_OK;
}

/* `word`: what the reduction is called by the caller, in place of op; NULL without one. */
static TsrStatus scatter_into(TsrOpCall *c, const TsrTensor *src, TsrCombine op, const char *word) {
    TsrTensor *self = c->arg[0].t, *index = c->arg[2].t, *t;
    int64_t dim = c->arg[1].i;
    TSR_TRY(tsr_wrap_dim(&dim, tsr_ndim(self)));
    TSR_TRY(check_scatter(c, self, dim, index, src));
    TSR_TRY(reduce_named(&op, word));
    unsigned allowed = TSR_BITS_MOST | TSR_BITS_UINT;
    if (op == TSR_COMBINE_MAX || op == TSR_COMBINE_MIN) allowed &= ~TSR_BITS_COMPLEX;
    if (index->numel > 0 && !tsr_in(allowed, self->dtype))
        return tsr_not_implemented("scatter_gather_tensor_cpu", self->dtype);
    TSR_TRY(tsr_edit_new(&t, c, self, TSR_CONTIGUOUS));
    TsrStatus status = index->numel == 0 || tsr_is_meta(self) ? TSR_OK : scatter_lines(t, dim, index, src, op);
    return tsr_finish_move(c, status, t);
}

/* A 0-d tensor of the number, on the device of `like`, expanded to index's sizes. */
static TsrStatus number_like_index(TsrTensor **out, const TsrTensor *like, TsrDtype dtype, const TsrTensor *index,
                                   TsrScalar value) {
    TSR_OWNED one = NULL;
    TSR_TRY(tsr_tensor_new(&one, 0, NULL, dtype, like->device));
    TSR_TRY(tsr_tensor_fill(one, value));
    return tsr_tensor_new_expand(out, one, tsr_ndim(index), index->sizes);
}

static TsrStatus value_like_index(TsrTensor **out, const TsrTensor *self, const TsrTensor *index, TsrScalar value) {
    uint8_t cell[16];
    TSR_TRY(tsr_scalar_store_checked(value, self->dtype, cell));
    return number_like_index(out, self, self->dtype, index, value);
}

/* Whether there is a first position and an element there: only then PyTorch comes to convert the value. */
static bool first_fits(const TsrTensor *index, int64_t dim, const TsrTensor *self) {
    if (index->numel == 0) return false;
    if (tsr_is_meta(index)) return true;
    int64_t first = tsr_scalar_to_int(tsr_tensor_get(index, 0));
    return first >= 0 && first < (tsr_ndim(self) == 0 ? 1 : self->sizes[dim]);
}

static TsrStatus scatter_value(TsrOpCall *c, TsrCombine op, const char *word) {
    TsrTensor *self = c->arg[0].t, *index = c->arg[2].t, *value;
    int64_t dim = c->arg[1].i;
    TSR_TRY(tsr_wrap_dim(&dim, tsr_ndim(self)));
    TSR_TRY(check_scatter(c, self, dim, index, NULL));
    TSR_TRY(reduce_named(&op, word));
    if (index->numel > 0 && !tsr_in(TSR_BITS_MOST | TSR_BITS_UINT, self->dtype))
        return tsr_not_implemented("scatter_gather_scalar_cpu", self->dtype);
    TSR_TRY(value_like_index(&value, self, index, first_fits(index, dim, self) ? c->arg[3].s : tsr_scalar_int(0)));
    TsrTensor *t = NULL;
    TsrStatus status = tsr_edit_new(&t, c, self, TSR_CONTIGUOUS);
    if (status == TSR_OK && index->numel > 0 && !tsr_is_meta(self)) status = scatter_lines(t, dim, index, value, op);
    tsr_tensor_free(value);
    return tsr_finish_move(c, status, t);
}

TsrStatus op_scatter(TsrOpCall *c) { return scatter_into(c, c->arg[3].t, TSR_COMBINE_SET, NULL); }
TsrStatus op_scatter_value(TsrOpCall *c) { return scatter_value(c, TSR_COMBINE_SET, NULL); }
TsrStatus op_scatter_add(TsrOpCall *c) { return scatter_into(c, c->arg[3].t, TSR_COMBINE_ADD, NULL); }
TsrStatus op_scatter_with(TsrOpCall *c) { return scatter_into(c, c->arg[3].t, TSR_COMBINE_SET, c->arg[4].str); }
TsrStatus op_scatter_value_with(TsrOpCall *c) { return scatter_value(c, TSR_COMBINE_SET, c->arg[4].str); }

/* ---- reductions into places: scatter_reduce and index_reduce ---- */

static TsrStatus neutral_like_index(TsrTensor **out, const TsrTensor *t, const TsrTensor *index, TsrCombine op) {
    TSR_OWNED one = NULL;
    TSR_OWNED there = NULL;
    TSR_TRY(tsr_tensor_new(&one, 0, NULL, t->dtype, TSR_DEVICE_CPU));
    tsr_along_neutral_store(op, t->dtype, tsr_data(one));
    TSR_TRY(tsr_new_there(&there, one, t->device));
    return tsr_tensor_new_expand(out, there, tsr_ndim(index), index->sizes);
}

/* Counts of the writes each place had, in the real dtype of t (so that complex divides by a real). */
static TsrStatus scatter_counts(TsrTensor **out, const TsrTensor *t, int64_t dim, const TsrTensor *index,
                                bool include_self) {
    TSR_OWNED counts = NULL;
    TSR_OWNED ones = NULL;
    TsrDtype dtype = tsr_dtype_real_of(t->dtype);
    TSR_TRY(tsr_zeros_new(&counts, tsr_ndim(t), t->sizes, dtype, t->device));
    if (include_self) TSR_TRY(tsr_tensor_fill(counts, tsr_scalar_int(1)));
    TSR_TRY(number_like_index(&ones, t, dtype, index, tsr_scalar_int(1)));
    TSR_TRY(scatter_lines(counts, dim, index, ones, TSR_COMBINE_ADD));
    *out = tsr_owned_take(&counts);
    return TSR_OK;
}

static TsrStatus check_reduce_kernel(const TsrTensor *t, AlongReduction r, bool include_self) {
    static const char *const kernels[] = {NULL, "scatter_gather_tensor_cpu", "scatter_gather_tensor_cpu",
                                          "scatter_gather_tensor_cpu_reduce_amax",
                                          "scatter_gather_tensor_cpu_reduce_amin"};
    unsigned allowed = TSR_BITS_MOST;
    if (r.op >= TSR_COMBINE_MAX) allowed &= ~TSR_BITS_COMPLEX;
    if (r.mean) allowed &= ~TSR_BIT(BOOL);
    if (include_self && !r.mean && r.op < TSR_COMBINE_MAX) allowed |= TSR_BITS_UINT;
    return tsr_require(allowed, t->dtype, r.mean ? "scatter_gather_tensor_cpu_reduce_mean" : kernels[r.op]);
}

static TsrStatus scatter_reduce_into(TsrTensor *t, int64_t dim, const TsrTensor *index, const TsrTensor *src,
                                     AlongReduction r, bool include_self) {
    TSR_OWNED start = NULL;
    TSR_OWNED counts = NULL;
    bool none = index->numel == 0;
    if (none && r.mean && tsr_in(TSR_BITS_FLOAT8, t->dtype)) return tsr_not_implemented("masked_fill", t->dtype);
    if (none && r.mean && t->dtype == TSR_BOOL) return tsr_not_implemented("div_floor_cpu", t->dtype);
    if (none) return TSR_OK; /* each mean is of the element that was there, alone */
    if (!include_self) {
        TSR_TRY(neutral_like_index(&start, t, index, r.op));
        TSR_TRY(scatter_lines(t, dim, index, start, TSR_COMBINE_SET));
        TSR_TRY(check_reduce_kernel(t, r, false));
    }
    TSR_TRY(scatter_lines(t, dim, index, src, r.op));
    if (!r.mean) return TSR_OK;
    TSR_TRY(scatter_counts(&counts, t, dim, index, include_self));
    return tsr_along_divide_by_counts(t, counts);
}

TsrStatus op_scatter_reduce(TsrOpCall *c) {
    TsrTensor *self = c->arg[0].t, *index = c->arg[2].t, *src = c->arg[3].t, *t;
    int64_t dim = c->arg[1].i;
    bool include_self = c->arg[5].b;
    AlongReduction r = {TSR_COMBINE_ADD, false};
    TSR_TRY(tsr_wrap_dim(&dim, tsr_ndim(self)));
    TSR_TRY(check_scatter(c, self, dim, index, src));
    if (!tsr_along_reduction(&r, c->arg[4].str, true))
        return tsr_error(TSR_RUNTIME_ERROR, "reduce argument must be either sum, prod, mean, amax or amin, got %s",
                         c->arg[4].str);
    if (index->numel > 0)
        TSR_TRY(include_self ? check_reduce_kernel(self, r, true)
                             : tsr_require(TSR_BITS_MOST, self->dtype, "scatter_reduce_exclude_input_init"));
    TSR_TRY(tsr_edit_new(&t, c, self, TSR_CONTIGUOUS));
    TsrStatus status = tsr_is_meta(self) ? TSR_OK : scatter_reduce_into(t, dim, index, src, r, include_self);
    return tsr_finish_move(c, status, t);
}
