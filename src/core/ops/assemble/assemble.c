/* Putting tensors together: cat, stack and their kin, meshgrid, combinations, broadcasting. */
#include <string.h>

#include "core/engine/places.h"
#include "core/kernels/move/move.h"
#include "core/mem.h"
#include "core/op/compose.h"
#include "core/parallel.h"
#include "core/tensor/owned.h"
#include "core/tensor/tensor_impl.h"

/* ---- cat ---- */

static bool is_skipped(const TsrTensor *t) {
    return tsr_ndim(t) == 1 && t->numel == 0;
} /* shape (0,): an old way to say nothing */

static TsrStatus check_cat(int n, TsrTensor *const *t, int first, int64_t dim) {
    for (int i = first + 1; i < n; i++) {
        if (is_skipped(t[i])) continue;
        if (tsr_ndim(t[i]) != tsr_ndim(t[first]))
            return tsr_error(TSR_RUNTIME_ERROR, "Tensors must have same number of dimensions: got %d and %d",
                             tsr_ndim(t[first]), tsr_ndim(t[i]));
        for (int d = 0; d < tsr_ndim(t[i]); d++)
            if (d != dim && t[i]->sizes[d] != t[first]->sizes[d])
                return tsr_error(
                    TSR_RUNTIME_ERROR,
                    "Sizes of tensors must match except in dimension %lld. Expected size %lld but got size %lld for "
                    "tensor number %d in the list.",
                    (long long)dim, (long long)t[first]->sizes[d], (long long)t[i]->sizes[d], i);
    }
    return TSR_OK;
}

static TsrStatus copy_part(TsrTensor *t, const TsrTensor *in, int64_t dim, int64_t at) {
    TSR_OWNED place = NULL;
    TSR_TRY(tsr_interrupt_check()); /* many small parts: none of their copies is long enough to look */
    TSR_TRY(tsr_tensor_new_narrow(&place, t, dim, at, in->sizes[dim]));
    return tsr_tensor_copy(place, in);
}

/* Parts that lie row-major, as the result does, and have its dtype: line after line of the result is made of one of
 * each part's, so that it is written in order, which takes two thirds of the time that part after part does ([x, x] of
 * 1000 by 1000 floats along rows, Zen 5: 98 us and 136). */
typedef struct Lines {
    char *to;
    TsrTensor *const *part;
    int64_t nparts, dim, inner, length; /* bytes: of what is behind dim, of a line of the result */
} Lines;

static void join_lines(int64_t begin, int64_t end, void *user) {
    const Lines *l = user;
    char *to = l->to + begin * l->length;
    for (int64_t line = begin; line < end && tsr_interrupt_flag == 0; line++)
        for (int64_t i = 0; i < l->nparts; i++) {
            const int64_t bytes = l->part[i]->sizes[l->dim] * l->inner;
            tsr_kernel_copy(to, (const char *)tsr_data(l->part[i]) + line * bytes, bytes);
            to += bytes;
        }
}

/* Shorter lines of a part are what tsr_tensor_copy has loops of its own for. */
enum { LINE_TO_JOIN = 256 };

static bool lies_as_lines(const TsrTensor *t, const TsrTensor *in, int64_t dim, int64_t inner) {
    return tsr_ndim(in) == tsr_ndim(t) && in->dtype == t->dtype && (in->flags & (TSR_FLAG_CONJ | TSR_FLAG_NEG)) == 0 &&
           tsr_is_contiguous(in, TSR_CONTIGUOUS) && in->sizes[dim] * inner >= LINE_TO_JOIN;
}

/* Whether the parts are joined by lines, those of n parts; `lines` has what is left to be said of them then. */
static bool are_lines(Lines *lines, const TsrTensor *t) {
    int64_t item = (int64_t)tsr_itemsize(t);
    lines->inner = item;
    for (int d = (int)lines->dim + 1; d < tsr_ndim(t); d++) lines->inner *= t->sizes[d];
    lines->length = lines->inner * t->sizes[lines->dim];
    bool good = lines->dim > 0 && tsr_dtype_kind(t->dtype) != TSR_KIND_OBJECT && !tsr_on_device(t) &&
                tsr_is_contiguous(t, TSR_CONTIGUOUS);
    for (int64_t i = 0; i < lines->nparts && good; i++)
        good = lies_as_lines(t, lines->part[i], lines->dim, lines->inner);
    return good;
}

static TsrStatus join_parts(TsrTensor *t, int n, TsrTensor *const *part, int64_t dim) {
    Lines lines = {.part = part, .nparts = n, .dim = dim};
    if (t->numel > 0 && are_lines(&lines, t)) {
        lines.to = tsr_data(t);
        return tsr_parallel_for(t->numel * (int64_t)tsr_itemsize(t) / lines.length,
                                TSR_MAX((int64_t)TSR_CHUNK_BYTES / lines.length, 1), join_lines, &lines);
    }
    TsrStatus status = TSR_OK;
    int64_t at = 0;
    for (int i = 0; i < n && status == TSR_OK; i++) {
        if (part[i]->numel > 0) status = copy_part(t, part[i], dim, at);
        if (!is_skipped(part[i]) || i == 0) at += part[i]->sizes[dim];
    }
    return status;
}

/* An out= of another shape is given a new geometry first: only one that is kept may overlap itself. */
static TsrStatus check_cat_out(const TsrTensor *out, int n, TsrTensor *const *t, int ndim, const int64_t *sizes) {
    if (out == NULL) return TSR_OK;
    bool kept = tsr_ndim(out) == ndim && memcmp(out->sizes, sizes, sizeof *sizes * (size_t)ndim) == 0;
    if (kept) TSR_TRY(tsr_check_no_internal_overlap(out));
    for (int i = 0; i < n; i++) TSR_TRY(tsr_check_no_overlap(out, t[i]));
    return TSR_OK;
}

/* The first that says what the sizes are: the last, where all are empty lists. */
static int first_joined(int n, TsrTensor *const *t) {
    int first = 0;
    while (first < n - 1 && is_skipped(t[first])) first++;
    return first;
}

/* `given` is the out= that the result is for, or NULL. */
static TsrStatus cat_new(TsrTensor **out, const TsrTensor *given, int n, TsrTensor *const *t, int64_t dim,
                         TsrDtype dtype) {
    int first = first_joined(n, t);
    int64_t sizes[TSR_MAX_DIMS];
    if (is_skipped(t[first])) dim = 0; /* of empty lists alone no dimension is looked at */
    TSR_TRY(tsr_wrap_dim(&dim, tsr_ndim(t[first])));
    TSR_TRY(check_cat(n, t, first, dim));
    TsrMemoryFormat format = tsr_suggested_format(t[0]);
    for (int i = 1; i < n; i++)
        if (tsr_suggested_format(t[i]) != format) format = TSR_CONTIGUOUS;
    memcpy(sizes, t[first]->sizes, sizeof *sizes * (size_t)tsr_ndim(t[first]));
    bool wraps = false;
    for (int i = first + 1; i < n; i++)
        if (!is_skipped(t[i])) wraps = tsr_add_overflows(sizes[dim], t[i]->sizes[dim], &sizes[dim]) || wraps;
    if (wraps && sizes[dim] < 0) return tsr_layout_numel(&sizes[dim], tsr_ndim(t[first]), sizes);
    if (wraps) return tsr_refuse_wrapped("cat", tsr_ndim(t[first]), sizes);
    TSR_TRY(check_cat_out(given, n, t, tsr_ndim(t[first]), sizes));
    if (format == TSR_CONTIGUOUS) {
        TSR_TRY(tsr_tensor_new(out, tsr_ndim(t[first]), sizes, dtype, t[first]->device));
    } else {
        int64_t strides[TSR_MAX_DIMS];
        tsr_layout_channels_last_strides(strides, tsr_ndim(t[first]), sizes);
        TSR_TRY(tsr_tensor_new_strided(out, tsr_ndim(t[first]), sizes, strides, dtype, t[first]->device));
    }
    return tsr_owned_keep(out, tsr_is_meta(*out) ? TSR_OK : join_parts(*out, n - first, t + first, dim));
}

/* Checks what depends on out=, then joins. */
static TsrStatus cat_call(TsrOpCall *c, int n, TsrTensor *const *t, int64_t dim) {
    TsrDtype dtype;
    TsrTensor *result = NULL, *out = c->out[0];
    if (n == 0) return tsr_error(TSR_VALUE_ERROR, "torch.cat(): expected a non-empty list of Tensors");
    for (int i = 0; i < n; i++)
        if (tsr_ndim(t[i]) == 0)
            return tsr_error(TSR_RUNTIME_ERROR, "zero-dimensional tensor (at position %d) cannot be concatenated", i);
    dtype = t[0]->dtype;
    bool same = true;
    for (int i = 1; i < n; i++) same &= t[i]->dtype == dtype;
    if (!same) TSR_TRY(tsr_result_type(&dtype, t, n));
    int first = first_joined(n, t);
    if (!is_skipped(t[first])) TSR_TRY(tsr_wrap_dim(&(int64_t){dim}, tsr_ndim(t[first])));
    if (out != NULL && !tsr_can_cast(dtype, out->dtype))
        return tsr_error(TSR_TYPE_ERROR, "torch.cat(): input types can't be cast to the desired output type %s",
                         tsr_dtype_scalar_name(out->dtype));
    return tsr_finish_move(c, cat_new(&result, out, n, t, dim, dtype), result);
}

TsrStatus op_cat(TsrOpCall *c) { return cat_call(c, c->arg[0].n, c->arg[0].tensors, c->arg[1].i); }

/* ---- the stacks: inputs are given more dimensions, then joined ---- */

typedef TsrStatus (*ReshapeFn)(TsrTensor **out, const TsrTensor *t, int64_t dim);

/* Applies fn to each input and joins along the dimension that `along` chooses. */
static TsrStatus join(TsrOpCall *c, const char *name, ReshapeFn fn, int64_t dim, bool flat_along_0) {
    int n = c->arg[0].n, made = 0;
    if (n == 0) return tsr_error(TSR_RUNTIME_ERROR, "%s expects a non-empty TensorList", name);
    TsrTensor **views = tsr_malloc_array((size_t)n, sizeof *views);
    if (views == NULL) return tsr_error_no_memory(sizeof *views * (size_t)n);
    TsrStatus status = TSR_OK;
    while (made < n && status == TSR_OK) {
        status = fn(&views[made], c->arg[0].tensors[made], dim);
        if (status == TSR_OK) made++;
    }
    if (status == TSR_OK) status = cat_call(c, n, views, flat_along_0 && tsr_ndim(views[0]) == 1 ? 0 : dim);
    tsr_free_all(views, made);
    tsr_free(views);
    return status;
}

static TsrStatus with_dim(TsrTensor **out, const TsrTensor *t, int64_t dim) {
    return tsr_tensor_new_unsqueeze(out, t, dim);
}

/* t itself where it has as many dimensions, so that an out= which is t is seen to be it. */
static TsrStatus at_least(TsrTensor **out, const TsrTensor *t, int ndim, const int64_t *sizes) {
    if (tsr_ndim(t) < ndim) return tsr_tensor_new_reshape(out, t, ndim, sizes);
    *out = tsr_tensor_retain((TsrTensor *)t);
    return TSR_OK;
}

static TsrStatus at_least_1d(TsrTensor **out, const TsrTensor *t, int64_t dim) {
    (void)dim;
    return tsr_at_least_1d_new(out, t);
}

static TsrStatus at_least_2d(TsrTensor **out, const TsrTensor *t, int64_t dim) {
    (void)dim;
    int64_t sizes[2] = {1, tsr_ndim(t) == 1 ? t->sizes[0] : 1};
    return at_least(out, t, 2, sizes);
}

static TsrStatus at_least_3d(TsrTensor **out, const TsrTensor *t, int64_t dim) {
    (void)dim;
    int64_t sizes[3] = {1, 1, 1};
    if (tsr_ndim(t) == 1) sizes[1] = t->sizes[0];
    if (tsr_ndim(t) == 2) {
        sizes[0] = t->sizes[0];
        sizes[1] = t->sizes[1];
    }
    return at_least(out, t, 3, sizes);
}

static TsrStatus as_columns(TsrTensor **out, const TsrTensor *t, int64_t dim) {
    (void)dim;
    int64_t sizes[2] = {t->numel, 1};
    return at_least(out, t, 2, sizes);
}

/* PyTorch joins along the dimension and splits it in two, which keeps the inputs' format. */
static TsrStatus stack_new(TsrTensor **out, int n, TsrTensor *const *t, int64_t dim) {
    int64_t sizes[TSR_MAX_DIMS];
    int ndim = tsr_ndim(t[0]);
    TsrDtype dtype;
    TsrTensor *split;
    TSR_TRY(tsr_result_type(&dtype, t, n));
    TSR_TRY(cat_new(out, NULL, n, t, dim, dtype));
    for (int d = 0; d < ndim; d++) sizes[d < dim ? d : d + 1] = t[0]->sizes[d];
    sizes[dim] = n;
    TsrStatus status = tsr_tensor_new_reshaped_view(&split, *out, ndim + 1, sizes);
    if (status == TSR_OK) {
        status = tsr_tensor_set_geometry(*out, (TsrGeometry){ndim + 1, split->sizes, split->strides, split->offset});
        tsr_tensor_free(split);
    }
    return tsr_owned_keep(out, status);
}

TsrStatus op_stack(TsrOpCall *c) {
    int n = c->arg[0].n;
    TsrTensor *const *t = c->arg[0].tensors;
    int64_t dim = c->arg[1].i;
    if (n == 0) return tsr_error(TSR_RUNTIME_ERROR, "stack expects a non-empty TensorList");
    TSR_TRY(tsr_wrap_dim(&dim, tsr_ndim(t[0]) + 1));
    for (int i = 1; i < n; i++)
        if (!tsr_same_sizes(t[0], t[i]))
            return tsr_error(TSR_RUNTIME_ERROR,
                             "stack expects each tensor to be equal size, but got %s at entry 0 and %s at entry %d",
                             tsr_sizes_text(t[0]), tsr_sizes_text(t[i]), i);
    TsrTensor *result = NULL;
    bool huge = t[0]->numel > INT64_MAX / 16 / n; /* more than memory holds: the error is of the joined sizes */
    if ((huge || tsr_suggested_format(t[0]) != TSR_CONTIGUOUS) && c->out[0] == NULL && dim < tsr_ndim(t[0]))
        return tsr_finish_move(c, stack_new(&result, n, t, dim), result);
    return join(c, "stack", with_dim, dim, false);
}

TsrStatus op_hstack(TsrOpCall *c) { return join(c, "hstack", at_least_1d, 1, true); }
TsrStatus op_vstack(TsrOpCall *c) { return join(c, "vstack", at_least_2d, 0, false); }
TsrStatus op_dstack(TsrOpCall *c) { return join(c, "dstack", at_least_3d, 2, false); }
TsrStatus op_column_stack(TsrOpCall *c) { return join(c, "column_stack", as_columns, 1, false); }

/* ---- block_diag ---- */

TsrStatus op_block_diag(TsrOpCall *c) {
    int n = c->arg[0].n;
    TsrTensor *const *t = c->arg[0].tensors;
    int64_t sizes[2] = {0, 0}, at[2] = {0, 0};
    TsrDtype dtype = tsr_default_dtype();
    TsrTensor *result;
    for (int i = 0; i < n; i++) {
        if (tsr_ndim(t[i]) > 2)
            return tsr_error(
                TSR_RUNTIME_ERROR,
                "torch.block_diag: Input tensors must have 2 or fewer dimensions. Input %d has %d dimensions", i,
                tsr_ndim(t[i]));
        sizes[0] += tsr_ndim(t[i]) == 2 ? t[i]->sizes[0] : 1;
        sizes[1] += tsr_ndim(t[i]) == 0 ? 1 : t[i]->sizes[tsr_ndim(t[i]) - 1];
    }
    if (n > 0) TSR_TRY(tsr_result_type(&dtype, t, n));
    else sizes[0] = 1;
    TSR_TRY(tsr_zeros_new(&result, 2, sizes, dtype, n > 0 ? t[0]->device : TSR_DEVICE_CPU));
    TsrStatus status = TSR_OK;
    for (int i = 0; i < n && status == TSR_OK && !tsr_is_meta(result); i++) {
        TsrScope s = {0};
        int64_t rows = tsr_ndim(t[i]) == 2 ? t[i]->sizes[0] : 1,
                columns = tsr_ndim(t[i]) == 0 ? 1 : t[i]->sizes[tsr_ndim(t[i]) - 1];
        TsrTensor *band = MAKE(&s, tsr_tensor_new_narrow, result, 0, at[0], rows),
                  *place = MAKE(&s, tsr_tensor_new_narrow, band, 1, at[1], columns);
        if (s.status == TSR_OK) s.status = tsr_tensor_copy(place, t[i]);
        status = tsr_scope_end(&s);
        at[0] += rows;
        at[1] += columns;
    }
    return tsr_finish_move(c, status, result);
}

/* ---- meshgrid, broadcast_tensors ---- */

/* A list of views of the inputs, all expanded to `shape`. view_at[i]: the dimension input i runs along, or -1:
 * broadcast it as it is. */
static TsrStatus expand_all(TsrOpCall *c, int n, TsrTensor *const *t, int ndim, const int64_t *shape, bool along) {
    TsrTensor **made = tsr_malloc(sizeof *made * (size_t)(n > 0 ? n : 1));
    if (made == NULL) return tsr_error_no_memory(sizeof *made * (size_t)n);
    TsrStatus status = TSR_OK;
    int k = 0;
    for (; k < n && status == TSR_OK; k++) {
        TsrTensor *view;
        int64_t sizes[TSR_MAX_DIMS];
        if (!along && tsr_ndim(t[k]) == ndim && memcmp(t[k]->sizes, shape, sizeof *shape * (size_t)ndim) == 0) {
            made[k] = tsr_tensor_retain(t[k]);
            continue;
        }
        for (int d = 0; d < ndim; d++) sizes[d] = d == k ? t[k]->numel : 1;
        status = along ? tsr_tensor_new_reshape(&view, t[k], ndim, sizes) : tsr_tensor_new_alias(&view, t[k]);
        if (status != TSR_OK) break;
        status = tsr_tensor_new_expand(&made[k], view, ndim, shape);
        tsr_tensor_free(view);
        if (status != TSR_OK) break;
    }
    if (status == TSR_OK) status = tsr_return_list_move(c, made, n);
    else tsr_free_all(made, k);
    tsr_free(made);
    return status;
}

static TsrStatus check_meshgrid(int n, TsrTensor *const *t) {
    if (n == 0) return tsr_error(TSR_RUNTIME_ERROR, "meshgrid expects a non-empty TensorList");
    if (n > TSR_MAX_DIMS) return tsr_error(TSR_RUNTIME_ERROR, "meshgrid: too many tensors");
    for (int i = 1; i < n; i++)
        if (t[i]->dtype != t[0]->dtype)
            return tsr_error(TSR_RUNTIME_ERROR, "meshgrid expects all tensors to have the same dtype");
    for (int i = 0; i < n; i++)
        if (tsr_ndim(t[i]) > 1)
            return tsr_error(TSR_RUNTIME_ERROR,
                             "torch.meshgrid: Expected 0D or 1D tensor in the tensor list but got: %s",
                             tsr_sizes_text(t[i]));
    return TSR_OK;
}

static TsrStatus meshgrid_ij(TsrOpCall *c, int n, TsrTensor *const *t) {
    int64_t shape[TSR_MAX_DIMS];
    for (int i = 0; i < n; i++) shape[i] = t[i]->numel;
    return expand_all(c, n, t, n, shape, true);
}

TsrStatus op_meshgrid(TsrOpCall *c) {
    int n = c->arg[0].n;
    TsrTensor **t = c->arg[0].tensors;
    const char *indexing = tsr_arg_given(&c->arg[1]) ? c->arg[1].str : "ij";
    TSR_TRY(check_meshgrid(n, t));
    bool swap = strcmp(indexing, "xy") == 0 && n >= 2;
    if (strcmp(indexing, "xy") != 0 && strcmp(indexing, "ij") != 0)
        return tsr_error(TSR_RUNTIME_ERROR,
                         "torch.meshgrid: indexing must be one of \"xy\" or \"ij\", but received: %s", indexing);
    if (!swap) return meshgrid_ij(c, n, t);
    TsrTensor *order[TSR_MAX_DIMS];
    memcpy(order, t, sizeof *order * (size_t)n);
    order[0] = t[1];
    order[1] = t[0];
    TSR_TRY(meshgrid_ij(c, n, order));
    /* Rows and columns as in Cartesian coordinates: the first two results change places. */
    TsrTensor **made = c->ret[0].tensors, *first = made[0];
    made[0] = made[1];
    made[1] = first;
    return TSR_OK;
}

TsrStatus op_broadcast_tensors(TsrOpCall *c) {
    int64_t shape[TSR_MAX_DIMS];
    int ndim = 0;
    for (int i = 0; i < c->arg[0].n; i++)
        TSR_TRY(tsr_layout_broadcast(shape, &ndim, c->arg[0].tensors[i]->sizes, tsr_ndim(c->arg[0].tensors[i])));
    return expand_all(c, c->arg[0].n, c->arg[0].tensors, ndim, shape, false);
}

/* ---- cartesian_prod, combinations ---- */

/* Rows of positions, column k counting through sizes[k]: picks of each input, side by side. */
static TsrStatus product_rows(TsrTensor **out, int n, TsrTensor *const *t) {
    int64_t rows = 1;
    for (int i = 0; i < n; i++)
        if (tsr_mul_overflows(rows, t[i]->numel, &rows))
            return tsr_error(TSR_RUNTIME_ERROR, "cartesian_prod: the result's size overflows");
    int64_t sizes[2] = {rows, n}, repeat = rows;
    TSR_TRY(tsr_tensor_new(out, 2, sizes, t[0]->dtype, t[0]->device));
    TsrStatus status = TSR_OK;
    for (int k = 0; k < n && status == TSR_OK && rows > 0; k++) {
        /* Column k as (before, size, after): the input broadcast over the other two. */
        int64_t size = t[k]->numel, view_sizes[3], view_strides[3], one[3] = {1, size, 1};
        repeat /= size;
        view_sizes[0] = rows / (size * repeat);
        view_sizes[1] = size;
        view_sizes[2] = repeat;
        view_strides[0] = size * repeat * n;
        view_strides[1] = repeat * n;
        view_strides[2] = n;
        TsrScope s = {0};
        TsrTensor *place =
            MAKE(&s, tsr_tensor_new_view, *out, &(TsrGeometry){3, view_sizes, view_strides, (*out)->offset + k}, NULL);
        TsrTensor *column = MAKE(&s, tsr_tensor_new_reshape, t[k], 3, one);
        if (s.status == TSR_OK) s.status = tsr_tensor_copy(place, column);
        status = tsr_scope_end(&s);
    }
    return tsr_owned_keep(out, status);
}

TsrStatus op_cartesian_prod(TsrOpCall *c) {
    int n = c->arg[0].n;
    TsrTensor *const *t = c->arg[0].tensors;
    for (int i = 0; i < n; i++)
        if (tsr_ndim(t[i]) != 1)
            return tsr_error(TSR_RUNTIME_ERROR, "Expect a 1D vector, but got shape %s", tsr_sizes_text(t[i]));
    if (n == 1) return tsr_return_move(c, tsr_tensor_retain(t[0]));
    TSR_TRY(check_meshgrid(n, t));
    TsrTensor *out = NULL;
    return tsr_finish_move(c, product_rows(&out, n, t), out);
}

/* Next combination of r out of n, in lexicographic order; false at the end. */
static bool next_combination(int64_t *pick, int64_t r, int64_t n, bool repeated) {
    for (int64_t i = r - 1; i >= 0; i--) {
        if (pick[i] >= (repeated ? n - 1 : n - r + i)) continue;
        pick[i]++;
        for (int64_t k = i + 1; k < r; k++) pick[k] = repeated ? pick[i] : pick[k - 1] + 1;
        return true;
    }
    return false;
}

/* Ways to choose r of n: of r + rest places, those for the r or for the rest, whichever are fewer. */
static TsrStatus count_combinations(int64_t *count, int64_t n, int64_t r, bool repeated) {
    int64_t rest = repeated ? n - 1 : n - r, fewer = TSR_MIN(r, rest), top;
    *count = n != 0 && rest >= 0;
    if (*count == 0) return TSR_OK;
    if (__builtin_add_overflow(r, rest, &top))
        return tsr_error(TSR_RUNTIME_ERROR, "combinations: the result's size overflows");
    for (int64_t i = 1; i <= fewer; i++) {
        int64_t product;
        if (tsr_mul_overflows(*count, top - fewer + i, &product))
            return tsr_error(TSR_RUNTIME_ERROR, "combinations: the result's size overflows");
        *count = product / i;
    }
    return TSR_OK;
}

static TsrStatus combination_positions(TsrTensor **out, int64_t n, int64_t r, bool repeated) {
    int64_t count, total;
    TSR_TRY(count_combinations(&count, n, r, repeated));
    if (tsr_mul_overflows(count, r, &total))
        return tsr_error(TSR_RUNTIME_ERROR, "combinations: the result's size overflows");
    TSR_TRY(tsr_tensor_new(out, 1, &total, TSR_INT64, TSR_DEVICE_CPU));
    if (count == 0) return TSR_OK;
    int64_t *p = tsr_data(*out);
    for (int64_t i = 0; i < r; i++) p[i] = repeated ? 0 : i;
    for (int64_t k = 1; k < count; k++) {
        memcpy(p + k * r, p + (k - 1) * r, sizeof *p * (size_t)r);
        next_combination(p + k * r, r, n, repeated);
        if ((k & 0xFFFF) == 0 && tsr_interrupt_flag != 0) {
            tsr_tensor_reset(out);
            return tsr_interrupt_raise();
        }
    }
    return TSR_OK;
}

/* PyTorch marks which of all n^r tuples are combinations, a byte each. */
static TsrStatus check_tuples(int64_t n, int64_t r) {
    int64_t tuples = 1;
    for (int64_t k = 0; k < r && n > 1; k++)
        if (tsr_mul_overflows(tuples, n, &tuples))
            return tsr_error(TSR_RUNTIME_ERROR, "numel: integer multiplication overflow");
    return TSR_OK;
}

TsrStatus op_combinations(TsrOpCall *c) {
    TsrTensor *self = c->arg[0].t;
    int64_t r = c->arg[1].i, zero = 0, sizes[2] = {-1, r};
    bool repeated = c->arg[2].b;
    if (tsr_ndim(self) != 1)
        return tsr_error(TSR_RUNTIME_ERROR, "Expect a 1D vector, but got shape %s", tsr_sizes_text(self));
    if (r < 0) return tsr_error(TSR_RUNTIME_ERROR, "Expect a non-negative number, but got %lld", (long long)r);
    TSR_TRY(check_tuples(self->numel, r));
    TsrScope s = {0};
    if (r == 0) return tsr_scope_return(c, &s, MAKE(&s, tsr_tensor_new, 1, &zero, self->dtype, self->device));
    if (tsr_is_meta(self)) {
        TSR_TRY(count_combinations(&sizes[0], self->numel, r, repeated));
        return tsr_scope_return(c, &s, MAKE(&s, tsr_tensor_new, 2, sizes, self->dtype, self->device));
    }
    TsrTensor *counted = MAKE(&s, combination_positions, self->numel, r, repeated),
              *positions = MAKE(&s, tsr_new_there, counted, self->device),
              *flat = CALL(&s, "index_select", "tit", self, (int64_t)0, positions);
    if (s.status == TSR_OK) sizes[0] = positions->numel / r;
    if (s.status == TSR_OK)
        s.status = tsr_tensor_set_geometry(flat, (TsrGeometry){2, sizes, (int64_t[]){r, 1}, flat->offset});
    return tsr_scope_return(c, &s, flat);
}
