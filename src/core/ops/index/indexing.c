/* What stands between the brackets of x[...], for every kind of entry. A walk over the entries makes one view from the
 * integers, slices and new axes, and collects the tensors with the dimensions that they index. Without tensors that
 * view is the answer of reading, and what writing fills or copies into; with tensors, advanced.c picks from it. Sparse
 * tensors are read by the operator `select` instead, as they have no strides. One number for one element of a plain
 * tensor is stored directly. */
#include "core/indexing.h"

#include <math.h>

#include "core/engine/device.h"
#include "core/iter.h"
#include "core/op/shared.h"
#include "core/tensor/inference.h"
#include "core/tensor/owned.h"
#include "core/view.h"

/* One tensor used as an index, the dimension of the view at which it stands, and how many it spans. */
typedef struct Advanced {
    TsrTensor *index; /* owned */
    int dim, span;
} Advanced;

/* An index being applied: the view that the entries so far have made, and the tensors among them. */
typedef struct Walk {
    TsrTensor *view; /* owned */
    Advanced advanced[TSR_MAX_DIMS];
    int nadvanced;
    int dim;       /* the next dimension of view */
    int specified; /* how many dimensions the entries are for */
    int original;  /* dimensions of the indexed tensor */
} Walk;

/* ---- one entry ---- */

static TsrStatus too_many(int ndim) {
    return tsr_error(TSR_INDEX_ERROR, "too many indices for tensor of dimension %d", ndim);
}

static TsrStatus out_of_bounds(int64_t i, int dim, int64_t size) {
    return tsr_error(TSR_INDEX_ERROR, "index %lld is out of bounds for dimension %d with size %lld", (long long)i, dim,
                     (long long)size);
}

/* PyTorch reads the size of a 0-d tensor's dimension as 0, but has other words for index 0. */
static TsrStatus zero_dim(int64_t i) {
    if (i != 0) return out_of_bounds(i, 0, 0);
    return tsr_error(
        TSR_INDEX_ERROR,
        "invalid index of a 0-dim tensor. Use `tensor.item()` in Python or `tensor.item<T>()` in C++ to convert a "
        "0-dim tensor to a number");
}

/* `position`: that of the entry, which PyTorch names as the dimension in the error. */
static inline TsrStatus select_int(TsrTensor **out, const TsrTensor *t, int dim, int64_t i, int position) {
    if (TSR_UNLIKELY(tsr_ndim(t) == 0)) return zero_dim(i);
    int64_t size =
        TSR_LIKELY(dim < tsr_ndim(t)) ? t->sizes[dim] : 0; /* past the end after a mask of several dimensions */
    if (TSR_UNLIKELY(i >= size || i < -size)) return out_of_bounds(i, position, size);
    return tsr_tensor_new_select(out, t, dim, i);
}

static TsrStatus refuse_step(int64_t step) {
    if (step == 0) return tsr_error(TSR_VALUE_ERROR, "slice step cannot be zero");
    TsrStatus status = tsr_error(TSR_VALUE_ERROR, "step must be greater than zero");
    tsr_error_hint("strides are never negative: flip(dim) makes a reversed copy");
    return status;
}

static TsrStatus slice_dim(TsrTensor **out, const TsrTensor *t, int dim, const TsrIndexEntry *e) {
    if (e->slice.step <= 0) return refuse_step(e->slice.step);
    if (tsr_ndim(t) == 0) return tsr_error(TSR_INDEX_ERROR, "slice() cannot be applied to a 0-dim tensor.");
    return tsr_tensor_new_slice(out, t, dim, e->slice.start, e->slice.stop, e->slice.step);
}

static bool is_whole_slice(const TsrIndexEntry *e) {
    return e->kind == TSR_ENTRY_SLICE && e->slice.start == 0 && e->slice.stop == INT64_MAX && e->slice.step == 1;
}

static bool is_mask(const TsrTensor *t) { return t->dtype == TSR_BOOL || t->dtype == TSR_UINT8; }

/* ---- the walk ---- */

static void replace_view_move(Walk *w, TsrTensor *view) {
    tsr_tensor_free(w->view);
    w->view = view;
}

static TsrStatus add_advanced_move(Walk *w, TsrTensor *index, int span) {
    if (w->nadvanced == TSR_MAX_DIMS) {
        tsr_tensor_free(index);
        return too_many(w->original);
    }
    w->advanced[w->nadvanced++] = (Advanced){index, w->dim, span};
    w->dim += span;
    return TSR_OK;
}

static TsrStatus apply_new_axis(Walk *w) {
    TsrTensor *view;
    TSR_TRY(tsr_tensor_new_unsqueeze(&view, w->view, w->dim));
    replace_view_move(w, view);
    return TSR_OK;
}

/* True adds a dimension of size 1, False one of size 0: the new dimension is indexed with position 0, or with none. */
static TsrStatus apply_bool(Walk *w, bool b) {
    TsrTensor *index;
    int64_t n = b ? 1 : 0;
    TSR_TRY(apply_new_axis(w));
    TSR_TRY(tsr_tensor_new(&index, 1, &n, TSR_INT64, TSR_DEVICE_CPU));
    if (b) *(int64_t *)tsr_data(index) = 0;
    return add_advanced_move(w, index, 1);
}

static TsrStatus apply_int(Walk *w, int64_t i, int position) {
    TsrTensor *view;
    TSR_TRY(select_int(&view, w->view, w->dim, i, position));
    replace_view_move(w, view);
    return TSR_OK;
}

static TsrStatus apply_slice(Walk *w, const TsrIndexEntry *e) {
    TsrTensor *view;
    if (is_whole_slice(e)) {
        if (w->dim < tsr_ndim(w->view)) w->dim++; /* after a mask of several dimensions there may be none */
        return TSR_OK;
    }
    TSR_TRY(slice_dim(&view, w->view, w->dim, e));
    bool whole = view->sizes[w->dim] == w->view->sizes[w->dim] && view->strides[w->dim] == w->view->strides[w->dim];
    whole = whole && (view->numel > 0 || e->slice.start == 0); /* of nothing, x[-1:] is another tensor than x */
    if (whole) tsr_tensor_free(view);                          /* x[:] = x writes x to itself */
    else replace_view_move(w, view);
    w->dim++;
    return TSR_OK;
}

static TsrStatus apply_tensor(Walk *w, TsrTensor *t, int position) {
    bool integral = tsr_dtype_is_integral(t->dtype) || t->dtype == TSR_BOOL;
    if (tsr_ndim(t) == 0 && integral) {
        TsrScalar s;
        TSR_TRY(tsr_tensor_item(&s, t));
        return is_mask(t) ? apply_bool(w, tsr_scalar_to_bool(s)) : apply_int(w, tsr_scalar_to_int(s), position);
    }
    return add_advanced_move(w, tsr_tensor_retain(t), is_mask(t) ? tsr_ndim(t) : 1);
}

static TsrStatus apply_entry(Walk *w, const TsrIndexEntry *e, int position) {
    switch (e->kind) {
    case TSR_ENTRY_INT: return apply_int(w, e->i, position);
    case TSR_ENTRY_SLICE: return apply_slice(w, e);
    case TSR_ENTRY_ELLIPSIS: w->dim += w->original - w->specified; return TSR_OK;
    case TSR_ENTRY_NEW_AXIS:
        TSR_TRY(apply_new_axis(w));
        w->dim++;
        return TSR_OK;
    case TSR_ENTRY_BOOL: return apply_bool(w, e->b);
    case TSR_ENTRY_TENSOR:
    case TSR_ENTRY_SEQUENCE: return apply_tensor(w, e->tensor, position);
    case TSR_ENTRY_FAILED: return e->failure;
    }
    return tsr_error(TSR_SYSTEM_ERROR, "an index entry of no kind: %d", (int)e->kind);
}

static int count_specified(const TsrIndexEntry *entries, int n) {
    int count = 0;
    for (int i = 0; i < n; i++) {
        const TsrIndexEntry *e = &entries[i];
        if (e->kind == TSR_ENTRY_NEW_AXIS || e->kind == TSR_ENTRY_BOOL || e->kind == TSR_ENTRY_ELLIPSIS) continue;
        count += e->kind == TSR_ENTRY_TENSOR && is_mask(e->tensor) ? tsr_ndim(e->tensor) : 1;
    }
    return count;
}

static void walk_end(Walk *w) {
    tsr_tensor_free(w->view);
    for (int i = 0; i < w->nadvanced; i++) tsr_tensor_free(w->advanced[i].index);
}

/* On failure nothing is held. */
static TsrStatus walk(Walk *w, TsrTensor *self, const TsrIndexEntry *entries, int n) {
    w->nadvanced = w->dim = 0;
    w->original = tsr_ndim(self);
    if (n > TSR_MAX_DIMS) return too_many(w->original);
    w->specified = count_specified(entries, n);
    if (w->specified > w->original) return too_many(w->original);
    w->view = tsr_tensor_retain(self);
    TsrStatus s = TSR_OK;
    for (int i = 0; i < n && s == TSR_OK; i++) s = apply_entry(w, &entries[i], i);
    if (s != TSR_OK) walk_end(w);
    return s;
}

/* The tensors as tsr_index_new takes them, lent: NULL where a dimension is whole. Returns how many. */
static int index_array(const Walk *w, TsrTensor **array) {
    int n = 0, dim = 0;
    for (int i = 0; i < w->nadvanced; i++) {
        for (; dim < w->advanced[i].dim && n < TSR_MAX_DIMS; dim++) array[n++] = NULL;
        if (n < TSR_MAX_DIMS) array[n++] = w->advanced[i].index;
        dim = w->advanced[i].dim + w->advanced[i].span;
    }
    return n;
}

static TsrStatus check_index_types(const Walk *w) {
    for (int i = 0; i < w->nadvanced; i++) {
        const TsrTensor *t = w->advanced[i].index;
        if (t->dtype != TSR_INT64 && t->dtype != TSR_INT32 && !is_mask(t))
            return tsr_error(TSR_INDEX_ERROR, "tensors used as indices must be long, int, byte or bool tensors");
    }
    return TSR_OK;
}

/* ---- reading ---- */

static TsrStatus take_advanced(TsrTensor **out, const Walk *w) {
    TsrTensor *array[TSR_MAX_DIMS], *source;
    int n = index_array(w, array);
    TSR_TRY(check_index_types(w));
    TSR_TRY(tsr_tensor_check(w->view, false));
    TSR_TRY(tsr_tensor_new_resolved(&source, w->view));
    TsrStatus s = tsr_index_new(out, source, n, array);
    tsr_tensor_free(source);
    if (s == TSR_OK && (*out)->origin == NULL) (*out)->origin = "index";
    return s;
}

static bool any_on_device(const Walk *w, const TsrTensor *value) {
    bool any = tsr_on_device(w->view) || tsr_on_device(value);
    for (int i = 0; i < w->nadvanced; i++) any |= tsr_on_device(w->advanced[i].index);
    return any;
}

static TsrStatus lend_all(TsrLoans *loans, const Walk *w, bool written, TsrTensor *value) {
    TsrTensor *array[TSR_MAX_DIMS];
    TSR_TRY(tsr_op_fallback_begin(loans->what));
    TSR_TRY(tsr_check_index_devices(w->view, index_array(w, array), array));
    TSR_TRY(tsr_lend(loans, w->view, written));
    for (int i = 0; i < w->nadvanced; i++) TSR_TRY(tsr_lend(loans, w->advanced[i].index, false));
    return tsr_lend(loans, value, false);
}

/* Around work of `name` (static) that is tried on a device first: whether it declined. */
static const char *begin_there(const char *name) {
    const char *outer = tsr_device_work_of;
    (void)tsr_device_declined();
    tsr_device_work_of = name;
    return outer;
}
static bool end_there(const char *outer, TsrStatus status) {
    tsr_device_work_of = outer;
    return status == TSR_NOT_IMPLEMENTED_ERROR && tsr_device_declined();
}

/* take_advanced, by loan where a device has no code for it. */
static TsrStatus take(TsrTensor **out, const Walk *w) {
    if (TSR_LIKELY(!any_on_device(w, NULL))) return take_advanced(out, w);
    const char *outer = begin_there("index");
    TsrStatus there = take_advanced(out, w);
    if (!end_there(outer, there)) return there;
    TsrLoans loans = {.what = "index"};
    TsrDevice device = w->view->device;
    TsrStatus s = lend_all(&loans, w, false, NULL);
    bool made = s == TSR_OK && (s = take_advanced(out, w)) == TSR_OK;
    s = tsr_give_back(&loans, s);
    if (s == TSR_OK && tsr_device_has_backend(device)) s = tsr_move_to_device(&loans, *out, device);
    if (made && s != TSR_OK) tsr_tensor_reset(out);
    if (s == TSR_OK) tsr_op_fallback_end(loans.what, &loans);
    return s;
}

static TsrStatus get_general(TsrTensor **out, TsrTensor *self, const TsrIndexEntry *entries, int n) {
    Walk w;
    TSR_TRY(walk(&w, self, entries, n));
    TsrStatus s = TSR_OK;
    if (w.nadvanced > 0) s = take(out, &w);
    else if (w.view == self) s = tsr_tensor_new_alias(out, self);
    else *out = tsr_tensor_retain(w.view);
    walk_end(&w);
    return s;
}

/* The entries that are left once all sparse dimensions are selected from, applied to the dense tensor that they leave;
 * its first `before` dimensions are kept whole. */
static TsrStatus get_rest(TsrTensor **out, TsrTensor *dense, int before, const TsrIndexEntry *entries, int n) {
    TsrIndexEntry all[TSR_MAX_DIMS];
    if (before + n > TSR_MAX_DIMS) return too_many(tsr_ndim(dense));
    for (int i = 0; i < before; i++) all[i] = tsr_entry_slice(0, INT64_MAX, 1);
    for (int i = 0; i < n; i++) all[before + i] = entries[i];
    return get_general(out, dense, all, before + n);
}

/* How many entries take a dimension of a sparse tensor. */
static int count_places(const TsrIndexEntry *entries, int n) {
    int count = 0;
    for (int i = 0; i < n; i++) count += entries[i].kind != TSR_ENTRY_NEW_AXIS && entries[i].kind != TSR_ENTRY_ELLIPSIS;
    return count;
}

/* One entry on a sparse tensor: integers select, new axes unsqueeze, whole slices keep; all else needs strides. */
static TsrStatus apply_sparse(TsrTensor **slot, int *dim, const TsrIndexEntry *e, int original) {
    TsrTensor *t = *slot, *next;
    if (is_whole_slice(e)) { /* s[0:] as s[:]: a part left out and its default are the same slice */
        ++*dim;
        return TSR_OK;
    }
    if (e->kind == TSR_ENTRY_INT && *dim < tsr_ndim(t))
        TSR_TRY(tsr_invoke_new(&next, 1, "select", "tii", t, (int64_t)*dim, e->i));
    else if (e->kind == TSR_ENTRY_NEW_AXIS) TSR_TRY(tsr_invoke_new(&next, 1, "unsqueeze", "ti", t, (int64_t)(*dim)++));
    else if (e->kind == TSR_ENTRY_INT || !tsr_is_sparse(t)) return too_many(original);
    else return tsr_refuse_backend("as_strided", t);
    tsr_tensor_free(t);
    *slot = next;
    return TSR_OK;
}

static TsrStatus get_sparse(TsrTensor **out, TsrTensor *self, const TsrIndexEntry *entries, int n) {
    if (n > TSR_MAX_DIMS) return too_many(tsr_ndim(self));
    TsrTensor *t = tsr_tensor_retain(self);
    TsrStatus s = TSR_OK;
    int dim = 0;
    for (int i = 0; i < n && s == TSR_OK; i++) {
        if (!tsr_is_sparse(t) && count_places(entries + i, n - i) <= tsr_ndim(t) - dim) {
            s = get_rest(out, t, dim, entries + i, n - i);
            tsr_tensor_free(t);
            return s;
        }
        s = apply_sparse(&t, &dim, &entries[i], tsr_ndim(self));
    }
    if (s == TSR_OK) *out = t;
    else tsr_tensor_free(t);
    return s;
}

TsrStatus tsr_index_get_new(TsrTensor **out, TsrTensor *self, const TsrIndexEntry *entries, int n) {
    if (TSR_UNLIKELY(n < 0)) return tsr_error(TSR_INDEX_ERROR, "a negative number of indices: %d", n);
    if (TSR_UNLIKELY(tsr_is_sparse(self))) return get_sparse(out, self, entries, n);
    if (n == 1 && entries->kind == TSR_ENTRY_INT) return select_int(out, self, 0, entries->i, 0);
    if (n == 1 && entries->kind == TSR_ENTRY_SLICE) return slice_dim(out, self, 0, entries);
    if (n == 1 && entries->kind == TSR_ENTRY_NEW_AXIS) return tsr_tensor_new_unsqueeze(out, self, 0);
    return get_general(out, self, entries, n);
}

TsrStatus tsr_index_place_new(TsrTensor **out, bool *picks, TsrTensor *self, const TsrIndexEntry *entries, int n) {
    Walk w;
    if (n < 0) return tsr_error(TSR_INDEX_ERROR, "a negative number of indices: %d", n);
    if (tsr_is_sparse(self)) return tsr_refuse_backend("as_strided", self);
    TSR_TRY(walk(&w, self, entries, n));
    *out = tsr_tensor_retain(w.view);
    *picks = w.nadvanced > 0;
    walk_end(&w);
    return TSR_OK;
}

/* ---- writing ---- */

/* Leading dimensions of size 1 are dropped from what is assigned. */
static TsrStatus drop_leading_ones(TsrTensor **out, TsrTensor *t) {
    int lead = 0;
    while (lead < tsr_ndim(t) && t->sizes[lead] == 1) lead++;
    if (lead == 0) {
        *out = tsr_tensor_retain(t);
        return TSR_OK;
    }
    return tsr_tensor_new_view(out, t,
                               &(TsrGeometry){tsr_ndim(t) - lead, t->sizes + lead, t->strides + lead, t->offset}, NULL);
}

static TsrStatus copy_shaped(TsrTensor *dst, TsrTensor *value) {
    TSR_OWNED view = NULL;
    TSR_OWNED expanded = NULL;
    if (dst == value) return TSR_OK;
    if (tsr_same_sizes(dst, value)) return tsr_tensor_copy(dst, value);
    if (tsr_ndim(value) == 0)
        TSR_TRY(tsr_tensor_new_clone(&view, value, TSR_PRESERVE)); /* fills: may be an element of dst */
    else TSR_TRY(drop_leading_ones(&view, value));
    TSR_TRY(tsr_tensor_new_expand(&expanded, view, tsr_ndim(dst), dst->sizes));
    return tsr_tensor_copy(dst, expanded);
}

static TsrStatus put_basic(TsrTensor *dst, TsrTensor *value, TsrScalar number) {
    TSR_TRY(tsr_tensor_check(dst, true));
    if (tsr_is_meta(dst)) return TSR_OK;
    if (value == NULL) {
        TSR_TRY(tsr_tensor_fill(dst, number));
        return tsr_tensor_written(dst, "fill_");
    }
    TSR_TRY(tsr_tensor_check(value, false));
    TSR_TRY(copy_shaped(dst, value));
    return tsr_tensor_written(dst, "copy_");
}

static bool single_mask(const Walk *w) { return w->nadvanced == 1 && is_mask(w->advanced[0].index); }

/* masked_fill_ takes a mask that is the very tensor written to, but none that else lies in its memory. The mask has
 * dimensions of size 1 for those of the tensor behind it. */
static TsrStatus check_mask_apart(const TsrTensor *dst, const Advanced *a) {
    if (a->index->storage == NULL || a->index->storage != dst->storage) return TSR_OK;
    TSR_OWNED mask = tsr_tensor_retain(a->index);
    for (int d = a->dim + tsr_ndim(a->index); d < tsr_ndim(dst); d++) {
        TsrTensor *wider;
        TSR_TRY(tsr_tensor_new_unsqueeze(&wider, mask, -1));
        tsr_owned_put_move(&mask, wider);
    }
    return tsr_iter_check_partial_overlap(dst, mask);
}

/* One value where a mask is set is masked_fill_ in PyTorch, with its errors. */
static TsrStatus check_mask(const Walk *w) {
    const Advanced *a = &w->advanced[0];
    TSR_TRY(tsr_index_check_mask(w->view, a->index, a->dim));
    if (a->index->dtype == TSR_UINT8)
        return tsr_error(TSR_RUNTIME_ERROR,
                         "masked_fill_ only supports boolean masks, but got mask with dtype unsigned char");
    return check_mask_apart(w->view, a);
}

/* Whether a number goes to positions along one dimension of which each has no elements: they are not looked at. */
static bool fills_nothing(const Walk *w) {
    const Advanced *a = &w->advanced[0];
    if (w->nadvanced != 1 || a->index->dtype != TSR_INT64 || w->view->numel > 0) return false;
    if (a->dim < tsr_ndim(w->view) && w->view->sizes[a->dim] != 0) return true;
    for (int d = 0; d < tsr_ndim(w->view); d++)
        if (d != a->dim && w->view->sizes[d] == 0) return true;
    return false;
}

/* One number into the places of one index tensor is index_fill_ in PyTorch: it names the dimension, and what stands
 * before a bad position is written. *good: how many positions are in order. */
static TsrStatus check_fill(int64_t *good, const Walk *w, TsrScalar number) {
    const Advanced *a = &w->advanced[0];
    const TsrTensor *t = a->index;
    *good = INT64_MAX;
    if (single_mask(w)) return check_mask(w);
    if (w->nadvanced != 1 || t->dtype != TSR_INT64) return TSR_OK;
    if (!tsr_is_meta(w->view)) TSR_TRY(tsr_check_no_overlap(w->view, t));
    if (number.kind == TSR_SCALAR_COMPLEX && !tsr_dtype_is_complex(w->view->dtype))
        return tsr_error(TSR_RUNTIME_ERROR,
                         "index_fill_(): Converting complex Scalar to non-complex type is not supported");
    int64_t bound = a->dim < tsr_ndim(w->view) ? w->view->sizes[a->dim] : 0;
    if (fills_nothing(w)) return TSR_OK;
    bool rows = bound == 0 && a->dim < tsr_ndim(w->view) && tsr_ndim(t) > 0 && t->numel > 0;
    if (rows && !tsr_is_meta(w->view)) TSR_TRY(tsr_index_check_rows(w->view, a->dim, t->numel));
    bool plain = tsr_is_contiguous(t, TSR_CONTIGUOUS) && t->device.type == TSR_CPU;
    const int64_t *p = plain ? tsr_data(t) : NULL;
    for (int64_t i = 0; plain && i < t->numel; i++) {
        if (p[i] >= -bound && p[i] < bound) continue;
        *good = i;
        return out_of_bounds(p[i], a->dim, bound);
    }
    return TSR_OK;
}

/* Writes the positions before the bad one, in the first of the dimensions before the indexed one, then fails with the
 * error of the bad one. */
static TsrStatus put_part(const Walk *w, int64_t good, TsrScalar number) {
    const Advanced *a = &w->advanced[0];
    const int64_t *p = tsr_data(a->index);
    int64_t sizes[TSR_MAX_DIMS];
    TsrTensor *first, *row;
    for (int d = 0; d < tsr_ndim(w->view); d++)
        sizes[d] = d < a->dim ? TSR_MIN(w->view->sizes[d], 1) : w->view->sizes[d];
    TSR_TRY(tsr_tensor_new_view(&first, w->view,
                                &(TsrGeometry){tsr_ndim(w->view), sizes, w->view->strides, w->view->offset}, NULL));
    TsrStatus s = TSR_OK;
    for (int64_t i = 0; i < good && s == TSR_OK; i++) {
        s = tsr_tensor_new_select(&row, first, a->dim, p[i]);
        if (s != TSR_OK) break;
        s = tsr_tensor_fill(row, number);
        tsr_tensor_free(row);
    }
    tsr_tensor_free(first);
    return s == TSR_OK ? out_of_bounds(p[good], a->dim, w->view->sizes[a->dim]) : s;
}

/* The number as a tensor; `fills`: it is the value of masked_fill_ or index_fill_, which refuse what the dtype cannot
 * hold. */
static TsrStatus number_new(TsrTensor **out, const TsrTensor *dst, TsrScalar number, bool fills) {
    _Alignas(16) char room[16];
    TsrTensor *t;
    if (fills && tsr_dtype_is_pod(dst->dtype)) TSR_TRY(tsr_scalar_store_checked(number, dst->dtype, room));
    TSR_TRY(tsr_tensor_new(&t, 0, NULL, dst->dtype, TSR_DEVICE_CPU));
    TsrStatus s = tsr_tensor_fill(t, number);
    if (s == TSR_OK) *out = t;
    else tsr_tensor_free(t);
    return s;
}

static TsrStatus put_advanced(const Walk *w, TsrTensor *value, TsrScalar number) {
    TsrTensor *array[TSR_MAX_DIMS], *source = NULL, *view = NULL;
    int n = index_array(w, array);
    TsrTensor *dst = w->view;
    TSR_TRY(tsr_tensor_check(dst, true));
    bool fills = single_mask(w) && (value == NULL || value->numel == 1);
    if (value != NULL && fills && tsr_dtype_is_pod(dst->dtype)) TSR_TRY(check_mask(w));
    if (value == NULL) {
        int64_t good;
        TsrStatus fits = check_fill(&good, w, number);
        if (fits != TSR_OK && (good == INT64_MAX || good == 0)) return fits;
        if (fits == TSR_OK && fills_nothing(w)) return tsr_tensor_written(dst, "index_put_");
        TSR_TRY(number_new(&source, dst, number, w->nadvanced == 1));
        if (fits != TSR_OK) {
            tsr_tensor_free(source);
            return put_part(w, good, number);
        }
    } else if (fills && value->dtype != dst->dtype && tsr_dtype_is_pod(dst->dtype)) {
        TsrScalar element; /* masked_fill_: converted as a number is */
        TSR_TRY(tsr_tensor_item(&element, value));
        TSR_TRY(number_new(&source, dst, element, true));
    } else {
        TSR_TRY(tsr_tensor_new_resolved(&source, value));
    }
    TsrStatus s = drop_leading_ones(&view, source);
    if (s == TSR_OK && !fills) s = tsr_index_check_apart(dst, n, array, value != NULL ? view : NULL);
    if (s == TSR_OK) s = check_index_types(w);
    if (s == TSR_OK) s = tsr_index_put(dst, n, array, view, false);
    if (s == TSR_OK) s = tsr_tensor_written(dst, "index_put_");
    tsr_tensor_free(view);
    tsr_tensor_free(source);
    return s;
}

/* A tensor goes into another device's as a number does, where it has no dimensions and lies on the host. */
static TsrStatus check_value_device(const TsrTensor *dst, const TsrTensor *value) {
    char one[16], other[16];
    if (value == NULL || (value->device.type == dst->device.type && value->device.index == dst->device.index) ||
        (value->numel == 1 && tsr_ndim(value) == 0))
        return TSR_OK;
    return tsr_error(TSR_RUNTIME_ERROR,
                     "Expected all tensors to be on the same device, but found at least two devices, %s and %s!",
                     tsr_device_format(dst->device, one), tsr_device_format(value->device, other));
}

/* put_advanced, by loan where a device has no code for it. */
static TsrStatus put(const Walk *w, TsrTensor *value, TsrScalar number) {
    if (TSR_LIKELY(!any_on_device(w, value))) return put_advanced(w, value, number);
    TsrLoans loans = {.what = "index_put_"};
    TSR_TRY(check_value_device(w->view, value));
    if (tsr_on_device(w->view)) {
        const char *outer = begin_there("index_put_");
        TsrStatus there = put_advanced(w, value, number);
        if (!end_there(outer, there)) return there;
    }
    TsrStatus s = lend_all(&loans, w, true, value);
    if (s == TSR_OK) s = put_advanced(w, value, number);
    s = tsr_give_back(&loans, s);
    if (s == TSR_OK) tsr_op_fallback_end(loans.what, &loans);
    return s;
}

/* Where the element lies that n integers name in a tensor of n dimensions; false: they do not name one. */
static bool element_offset(int64_t *offset, const TsrTensor *t, const TsrIndexEntry *entries, int n) {
    *offset = 0;
    for (int d = 0; d < n; d++) {
        if (entries[d].kind != TSR_ENTRY_INT) return false;
        int64_t i = entries[d].i < 0 ? entries[d].i + t->sizes[d] : entries[d].i;
        if (i < 0 || i >= t->sizes[d]) return false;
        *offset += i * t->strides[d];
    }
    return true;
}

/* Stores a number that the dtype holds for sure; false: it is not known to. */
static bool store_plain(void *at, TsrDtype dtype, const TsrScalar *s) {
    bool whole = s->kind == TSR_SCALAR_INT && s->i > -(1 << 24) && s->i < 1 << 24; /* exact in every float */
    double number = s->kind == TSR_SCALAR_FLOAT ? s->f : whole ? (double)s->i : 0;
    if (dtype == TSR_FLOAT32 && (whole || (s->kind == TSR_SCALAR_FLOAT && !(fabs(number) > 3.4e38))))
        *(float *)at = (float)number;
    else if (dtype == TSR_FLOAT64 && (whole || s->kind == TSR_SCALAR_FLOAT)) *(double *)at = number;
    else if (dtype == TSR_INT64 && s->kind == TSR_SCALAR_INT) *(int64_t *)at = s->i;
    else return false;
    return true;
}

/* x[i] = number of a plain vector, without making a view. With more dimensions a view is made. *done false: not that,
 * or an error that the general way words. */
static TsrStatus put_element(bool *done, TsrTensor *t, const TsrIndexEntry *entries, int n, const TsrScalar *number) {
    int64_t offset;
    *done = false;
    if (n != 1 || t->ndim_ != 1 || t->flags != tsr_fresh_flags || t->layout != TSR_STRIDED ||
        t->device.type != TSR_CPU || tsr_trace_hook != NULL || !element_offset(&offset, t, entries, n) ||
        !tsr_dtype_is_pod(t->dtype))
        return TSR_OK;
    TSR_TRY(tsr_tensor_check(t, true));
    *done = store_plain((char *)tsr_data(t) + offset * (int64_t)tsr_itemsize(t), t->dtype, number);
    if (!*done) return TSR_OK;
    tsr_write_element = t->offset + offset;
    TsrStatus status = tsr_tensor_written(t, "fill_");
    tsr_write_element = -1;
    return status;
}

/* Apart, so that writing one element needs no room for a walk. */
static __attribute__((noinline)) TsrStatus set_general(TsrTensor *self, const TsrIndexEntry *entries, int n,
                                                       TsrTensor *value, const TsrScalar *number) {
    Walk w;
    if (tsr_ndim(self) == 0 && n == 1 && entries->kind == TSR_ENTRY_INT) return zero_dim(entries->i);
    if (tsr_ndim(self) == 0 && n == 1 && entries->kind == TSR_ENTRY_SLICE) return slice_dim(&w.view, self, 0, entries);
    TSR_TRY(walk(&w, self, entries, n));
    TsrScalar given = number != NULL ? *number : tsr_scalar_int(0);
    TsrStatus s = w.nadvanced > 0 ? put(&w, value, given) : put_basic(w.view, value, given);
    walk_end(&w);
    return s;
}

TsrStatus tsr_index_set(TsrTensor *self, const TsrIndexEntry *entries, int n, TsrTensor *value,
                        const TsrScalar *number) {
    bool done = false;
    if (TSR_UNLIKELY(n < 0)) return tsr_error(TSR_INDEX_ERROR, "a negative number of indices: %d", n);
    if (TSR_UNLIKELY(tsr_is_sparse(self))) return tsr_error(TSR_TYPE_ERROR, "Cannot assign to a sparse tensor");
    if (value == NULL && n > 0) TSR_TRY(put_element(&done, self, entries, n, number));
    return TSR_LIKELY(done) ? TSR_OK : set_general(self, entries, n, value, number);
}
