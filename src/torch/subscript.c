/* Indexing: basic parts through view operations, advanced parts handed to core/indexing.h. */
#include "subscript.h"

#include "core/alloc.h"

#include "bind.h"
#include "lang/types/bytes.h"
#include "core/indexing.h"
#include "core/op/shared.h"
#include "lang/object/exc.h"
#include "lang/types/numbers.h"
#include "lang/types/sequences.h"
#include "lang/types/str.h"
#include "tensor_from.h"

#include <math.h>

/* One tensor used as an index, and the dimension of the view so far that it stands at. */
typedef struct Advanced {
    TsrTensor *index;
    int dim, span;
} Advanced;

/* An index being applied: the view made by its basic parts, and its advanced parts. */
typedef struct Walk {
    TsrTensor *view; /* owned */
    Advanced advanced[TSR_MAX_DIMS];
    int nadvanced;
    int dim;       /* the next dimension of view */
    int specified; /* dimensions that the index names */
    int original;  /* dimensions of the indexed tensor */
} Walk;

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

/* `shown` is the position PyTorch names in the error. */
static inline TsrStatus select_int(TsrTensor **out, const TsrTensor *t, int dim, int64_t i, int shown) {
    if (TSR_UNLIKELY(tsr_ndim(t) == 0)) return zero_dim(i);
    int64_t size = t->sizes[dim];
    if (TSR_UNLIKELY(i >= size || i < -size)) return out_of_bounds(i, shown, size);
    return tsr_tensor_new_select(out, t, dim, i);
}

static TsrStatus slice_part(int64_t *out, Value v, int64_t missing) {
    *out = missing;
    if (v.tag == V_INT) {
        *out = v.i;
        return TSR_OK;
    }
    if (v.tag == V_NONE) return TSR_OK;
    if (v.tag != V_BOOL && v.tag != V_TENSOR && !bind_is_index(v))
        return tsr_error(TSR_TYPE_ERROR, "slice indices must be integers or None or have an __index__ method");
    return value_to_index_clamped(out, v);
}

static TsrStatus slice_bounds(const Slice *s, int64_t *start, int64_t *stop, int64_t *step) {
    TSR_TRY(slice_part(step, s->step, 1));
    if (*step == 0) return tsr_error(TSR_VALUE_ERROR, "slice step cannot be zero");
    TSR_TRY(slice_part(start, s->start, 0));
    TSR_TRY(slice_part(stop, s->stop, INT64_MAX));
    if (*step > 0) return TSR_OK;
    TsrStatus status = tsr_error(TSR_VALUE_ERROR, "step must be greater than zero");
    tsr_error_hint("strides are never negative: flip(dim) makes a reversed copy");
    return status;
}

static TsrStatus slice_dim(TsrTensor **out, const TsrTensor *t, int dim, Value index) {
    int64_t start, stop, step;
    TSR_TRY(slice_bounds((Slice *)index.o, &start, &stop, &step));
    if (tsr_ndim(t) == 0) return tsr_error(TSR_INDEX_ERROR, "slice() cannot be applied to a 0-dim tensor.");
    return tsr_tensor_new_slice(out, t, dim, start, stop, step);
}

/* ---- walking over a tuple of indices ---- */

static void replace_view(Walk *w, TsrTensor *view) {
    tsr_tensor_free(w->view);
    w->view = view;
}

static TsrStatus add_advanced_move(Walk *w, TsrTensor *index, int span) {
    if (w->nadvanced == TSR_MAX_DIMS) {
        tsr_tensor_free(index);
        return tsr_error(TSR_INDEX_ERROR, "too many indices for tensor of dimension %d", w->original);
    }
    w->advanced[w->nadvanced++] = (Advanced){index, w->dim, span};
    w->dim += span;
    return TSR_OK;
}

/* True adds a dimension of size 1, False one of size 0. */
static TsrStatus apply_bool(Walk *w, bool b) {
    TsrTensor *view, *index;
    int64_t n = b ? 1 : 0;
    TSR_TRY(tsr_tensor_new_unsqueeze(&view, w->view, w->dim));
    replace_view(w, view);
    TSR_TRY(tsr_tensor_new(&index, 1, &n, TSR_INT64, TSR_DEVICE_CPU));
    if (b) *(int64_t *)tsr_data(index) = 0;
    return add_advanced_move(w, index, 1);
}

static TsrStatus apply_int(Walk *w, int64_t i, int position) {
    TsrTensor *view;
    if (tsr_ndim(w->view) == 0) return zero_dim(i);
    TSR_TRY(select_int(&view, w->view, w->dim, i, position));
    replace_view(w, view);
    return TSR_OK;
}

static bool is_mask(const TsrTensor *t) { return t->dtype == TSR_BOOL || t->dtype == TSR_UINT8; }

static TsrStatus apply_tensor(Walk *w, TsrTensor *t, int position) {
    bool integral = tsr_dtype_is_integral(t->dtype) || t->dtype == TSR_BOOL;
    if (tsr_ndim(t) == 0 && integral) {
        TsrScalar s;
        TSR_TRY(tsr_tensor_item(&s, t));
        return is_mask(t) ? apply_bool(w, tsr_scalar_to_bool(s)) : apply_int(w, tsr_scalar_to_int(s), position);
    }
    return add_advanced_move(w, tsr_tensor_retain(t), is_mask(t) ? tsr_ndim(t) : 1);
}

static bool is_index_sequence(Value v) {
    return value_is_list(v) || value_is_tuple(v) || value_is_str(v) || value_is_bytes(v) || value_is_bytearray(v) ||
           value_is_obj(v, &range_type);
}

static TsrStatus apply_other(Walk *w, Value v, int position) {
    if (is_index_sequence(v)) {
        TsrTensor *index;
        TSR_TRY(tensor_new_from_index(&index, v));
        TsrStatus s = apply_tensor(w, index, position);
        tsr_tensor_free(index);
        return s;
    }
    TsrTensor *t = NULL;
    TSR_TRY(bind_tensor_of(&t, v));
    if (t != NULL) return apply_tensor(w, t, position);
    if (value_is_bigint(v)) return tsr_error(TSR_VALUE_ERROR, "Overflow when unpacking long long");
    return tsr_error(
        TSR_INDEX_ERROR,
        "only integers, slices (`:`), ellipsis (`...`), None and long or byte Variables are valid indices (got %s)",
        value_type_name(v));
}

static TsrStatus apply_index(Walk *w, Value v, int position) {
    TsrTensor *view;
    switch (v.tag) {
    case V_INT: return apply_int(w, v.i, position);
    case V_BOOL: return apply_bool(w, v.b);
    case V_NONE:
        TSR_TRY(tsr_tensor_new_unsqueeze(&view, w->view, w->dim++));
        replace_view(w, view);
        return TSR_OK;
    case V_TENSOR: return apply_tensor(w, v.t, position);
    case V_OBJ:
        if (v.o == &ellipsis_object) {
            w->dim += w->original - w->specified;
            return TSR_OK;
        }
        if (v.o->type == &slice_type) {
            TSR_TRY(slice_dim(&view, w->view, w->dim, v));
            bool whole =
                view->sizes[w->dim] == w->view->sizes[w->dim] && view->strides[w->dim] == w->view->strides[w->dim];
            if (whole) tsr_tensor_free(view); /* x[:] = x writes x to itself */
            else replace_view(w, view);
            w->dim++;
            return TSR_OK;
        }
    }
    return apply_other(w, v, position);
}

/* How many dimensions of the tensor the index speaks of. */
static int count_specified(const Value *items, int64_t n) {
    int64_t count = 0;
    for (int64_t i = 0; i < n; i++) {
        Value v = items[i];
        if (v.tag == V_NONE || v.tag == V_BOOL || (v.tag == V_OBJ && v.o == &ellipsis_object)) continue;
        count += v.tag == V_TENSOR && is_mask(v.t) ? tsr_ndim(v.t) : 1;
    }
    return count > 10000 ? 10000 : (int)count;
}

static void walk_end(Walk *w) {
    tsr_tensor_free(w->view);
    for (int i = 0; i < w->nadvanced; i++) tsr_tensor_free(w->advanced[i].index);
}

/* On failure nothing is held. */
static TsrStatus walk(Walk *w, TsrTensor *self, const Value *items, int64_t n) {
    w->view = NULL;
    w->nadvanced = w->dim = 0;
    w->original = tsr_ndim(self);
    w->specified = count_specified(items, n);
    if (w->specified > w->original)
        return tsr_error(TSR_INDEX_ERROR, "too many indices for tensor of dimension %d", w->original);
    if (n > TSR_MAX_DIMS) return tsr_error(TSR_INDEX_ERROR, "too many indices for tensor of dimension %d", w->original);
    w->view = tsr_tensor_retain(self);
    TsrStatus s = TSR_OK;
    for (int64_t i = 0; i < n && s == TSR_OK; i++) s = apply_index(w, items[i], (int)i);
    if (s != TSR_OK) walk_end(w);
    return s;
}

/* The advanced parts as core/indexing.h takes them: NULL where a dimension is whole. */
static int index_array(const Walk *w, TsrTensor **array) {
    int n = 0, dim = 0;
    for (int i = 0; i < w->nadvanced; i++) {
        for (; dim < w->advanced[i].dim && n < TSR_MAX_DIMS; dim++) array[n++] = NULL;
        if (n < TSR_MAX_DIMS) array[n++] = w->advanced[i].index;
        dim = w->advanced[i].dim + w->advanced[i].span;
    }
    return n;
}

/* A short list that holds slices, tensors or sequences stands for a tuple, as in old NumPy. */
static bool is_tuple_like(Value v) {
    if (value_is_tuple(v)) return true;
    if (value_is_str(v)) return value_as_str(v)->size > 0 && value_as_str(v)->length < 32;
    if (!value_is_list(v) || value_as_list(v)->count >= 32) return false;
    const List *list = value_as_list(v);
    for (int64_t i = 0; i < list->count; i++) {
        Value item = list->items[i];
        if (item.tag == V_TENSOR || item.tag == V_NONE || is_index_sequence(item)) return true;
        if (item.tag == V_OBJ && (item.o == &ellipsis_object || item.o->type == &slice_type)) return true;
    }
    return false;
}

static void index_items(const Value *index, const Value **items, int64_t *n) {
    *items = index;
    *n = 1;
    if (is_tuple_like(*index) && !value_is_str(*index)) value_as_array(*index, items, n);
}

/* A short text is a sequence of indices, none of which is one. */
static TsrStatus check_text_index(const TsrTensor *self, Value index) {
    enum { SEQUENCE = 32 }; /* what is as long is data */
    if (!value_is_str(index)) return TSR_OK;
    int64_t n = value_as_str(index)->length;
    return n > 1 && n < SEQUENCE && n > tsr_ndim(self)
               ? tsr_error(TSR_INDEX_ERROR, "too many indices for tensor of dimension %d", tsr_ndim(self))
               : TSR_OK;
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

static TsrStatus get_general(TsrTensor **out, TsrTensor *self, Value index) {
    const Value *items;
    int64_t n;
    Walk w;
    index_items(&index, &items, &n);
    TSR_TRY(check_text_index(self, index));
    TSR_TRY(walk(&w, self, items, n));
    TsrStatus s = TSR_OK;
    if (w.nadvanced > 0) s = take_advanced(out, &w);
    else if (w.view == self) s = tsr_tensor_new_alias(out, self);
    else *out = tsr_tensor_retain(w.view);
    walk_end(&w);
    return s;
}

static bool slice_is_full(Value v) {
    const Slice *s = (const Slice *)v.o;
    return s->start.tag == V_NONE && s->stop.tag == V_NONE && s->step.tag == V_NONE;
}

/* What is left of the indices of a sparse tensor, once all its sparse dimensions are selected from: `before` dimensions
 * are kept as they are. */
static TsrStatus get_rest_move(Value *out, TsrTensor *dense, int64_t before, const Value *items, int64_t n) {
    Value t = value_tensor_move(dense), all = VALUE_UNBOUND, list = VALUE_UNBOUND, index = VALUE_UNBOUND;
    TsrStatus s = slice_new(&all, VALUE_NONE, VALUE_NONE, VALUE_NONE);
    if (s == TSR_OK) s = list_new(&list, before + n);
    for (int64_t i = 0; s == TSR_OK && i < before; i++) s = list_append(value_as_list(list), all);
    for (int64_t i = 0; s == TSR_OK && i < n; i++) s = list_append(value_as_list(list), items[i]);
    if (s == TSR_OK) s = tuple_new_iterable(&index, list);
    if (s == TSR_OK) s = value_getitem(out, t, index);
    value_release(all);
    value_release(list);
    value_release(index);
    value_release(t);
    return s;
}

/* How many dimensions the indices are for. */
static int64_t places(const Value *items, int64_t n) {
    int64_t count = 0;
    for (int64_t i = 0; i < n; i++)
        count += items[i].tag != V_NONE && !(items[i].tag == V_OBJ && items[i].o == &ellipsis_object);
    return count;
}

/* Sparse tensors: integers select; all else needs strides. */
static TsrStatus get_sparse(Value *out, TsrTensor *self, Value index) {
    const Value *items;
    int64_t n, dim = 0;
    index_items(&index, &items, &n);
    TsrTensor *t = tsr_tensor_retain(self), *next;
    TsrStatus s = TSR_OK;
    for (int64_t i = 0; i < n && s == TSR_OK; i++) {
        if (!tsr_is_sparse(t) && places(items + i, n - i) <= tsr_ndim(t) - dim)
            return get_rest_move(out, t, dim, items + i, n - i);
        if (items[i].tag == V_INT && dim < tsr_ndim(t))
            s = tsr_invoke_new(&next, 1, "select", "tii", t, dim, items[i].i);
        else if (items[i].tag == V_NONE) s = tsr_invoke_new(&next, 1, "unsqueeze", "ti", t, dim++);
        else if (items[i].tag == V_OBJ && items[i].o->type == &slice_type && slice_is_full(items[i])) {
            dim++;
            continue;
        } else if (items[i].tag == V_INT || !tsr_is_sparse(t))
            s = tsr_error(TSR_INDEX_ERROR, "too many indices for tensor of dimension %d", tsr_ndim(self));
        else s = tsr_refuse_backend("as_strided", t);
        if (s != TSR_OK) break;
        tsr_tensor_free(t);
        t = next;
    }
    if (s == TSR_OK) *out = value_tensor_move(t);
    else tsr_tensor_free(t);
    return s;
}

static TsrStatus get(Value *out, Value self, Value index) {
    TsrTensor *t = self.t, *result = NULL;
    TsrStatus s;
    if (TSR_UNLIKELY(tsr_is_sparse(t))) return get_sparse(out, t, index);
    if (TSR_LIKELY(index.tag == V_INT)) s = select_int(&result, t, 0, index.i, 0);
    else if (index.tag == V_NONE) s = tsr_tensor_new_unsqueeze(&result, t, 0);
    else if (index.tag == V_OBJ && index.o->type == &slice_type) s = slice_dim(&result, t, 0, index);
    else s = get_general(&result, t, index);
    if (TSR_LIKELY(s == TSR_OK)) *out = value_tensor_move(result);
    return s;
}

void (*subscript_hook)(const SubscriptEvent *event);

static TsrStatus watched_get(Value *out, Value self, Value index) {
    subscript_hook(NULL);
    TsrStatus status = get(out, self, index);
    TsrTensor *place = status == TSR_OK ? out->t : NULL;
    bool advanced = place != NULL && place->storage != self.t->storage;
    subscript_hook(&(SubscriptEvent){.self = self.t, .place = place, .advanced = advanced, .status = status});
    return status;
}

TsrStatus subscript_get(Value *out, Value self, Value index) {
    return TSR_LIKELY(subscript_hook == NULL) ? get(out, self, index) : watched_get(out, self, index);
}

/* ---- writing ---- */

static TsrStatus cannot_assign(Value v, const TsrTensor *t) {
    return tsr_error(TSR_TYPE_ERROR, "can't assign a %s to a torch.%sTensor", value_type_name(v),
                     tsr_dtype_scalar_name(t->dtype));
}

/* The value as a tensor (*number false) or a number in *s. Strings and nested elements go into tensors of theirs. */
static TsrStatus assigned(TsrTensor **out, TsrScalar *s, Value v, const TsrTensor *self) {
    *out = NULL;
    if (!tsr_dtype_is_pod(self->dtype)) {
        bool element = self->dtype == TSR_STRING ? value_is_str(v) : v.tag == V_TENSOR && v.t->dtype != TSR_NESTED;
        if (element) return tensor_new_from_data(out, v, self->dtype, TSR_DEVICE_CPU);
    }
    TSR_TRY(bind_tensor_of(out, v));
    if (*out != NULL) {
        tsr_tensor_retain(*out);
        return TSR_OK;
    }
    if (value_is_bigint(v) && self->dtype != TSR_UINT64)
        return tsr_error(TSR_VALUE_ERROR, "Overflow when unpacking long long");
    if (v.tag == V_INT && v.i < 0 && self->dtype == TSR_UINT64)
        return tsr_error(TSR_OVERFLOW_ERROR, "can't convert negative int to unsigned");
    bool ok;
    TSR_TRY(bind_scalar(s, &ok, v));
    return ok && tsr_dtype_is_pod(self->dtype) ? TSR_OK : cannot_assign(v, self);
}

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
    TsrTensor *view = NULL, *expanded = NULL;
    if (tsr_same_sizes(dst, value)) view = tsr_tensor_retain(value);
    else if (tsr_ndim(value) == 0)
        TSR_TRY(tsr_tensor_new_clone(&view, value, TSR_PRESERVE)); /* fills: may be an element of dst */
    else TSR_TRY(drop_leading_ones(&view, value));
    if (dst == value) {
        tsr_tensor_free(view);
        return TSR_OK;
    }
    TsrStatus s = tsr_tensor_new_expand(&expanded, view, tsr_ndim(dst), dst->sizes);
    if (s == TSR_OK) s = tsr_tensor_copy(dst, expanded);
    tsr_tensor_free(expanded);
    tsr_tensor_free(view);
    return s;
}

static TsrStatus put_basic(TsrTensor *dst, TsrTensor *value, TsrScalar number) {
    TSR_TRY(tsr_tensor_check(dst, true));
    if (tsr_is_meta(dst)) return TSR_OK;
    if (value == NULL) {
        TSR_TRY(tsr_tensor_fill(dst, number));
        tsr_tensor_bump(dst, "fill_");
        return TSR_OK;
    }
    TSR_TRY(tsr_tensor_check(value, false));
    TSR_TRY(copy_shaped(dst, value));
    tsr_tensor_bump(dst, "copy_");
    return TSR_OK;
}

static bool single_mask(const Walk *w) { return w->nadvanced == 1 && is_mask(w->advanced[0].index); }

/* One number into the places of one index tensor is index_fill_ in PyTorch: it names the dimension, and what stands
 * before a bad position is written. *good: how many positions are in order. */
static TsrStatus check_fill(int64_t *good, const Walk *w, TsrScalar number) {
    const Advanced *a = &w->advanced[0];
    const TsrTensor *t = a->index;
    *good = INT64_MAX;
    if (single_mask(w)) TSR_TRY(tsr_index_check_mask(w->view, t, a->dim));
    if (w->nadvanced == 1 && t->dtype == TSR_UINT8)
        return tsr_error(TSR_RUNTIME_ERROR,
                         "masked_fill_ only supports boolean masks, but got mask with dtype unsigned char");
    if (w->nadvanced != 1 || t->dtype != TSR_INT64) return TSR_OK;
    if (number.kind == TSR_SCALAR_COMPLEX && !tsr_dtype_is_complex(w->view->dtype))
        return tsr_error(TSR_RUNTIME_ERROR,
                         "index_fill_(): Converting complex Scalar to non-complex type is not supported");
    int64_t bound = a->dim < tsr_ndim(w->view) ? w->view->sizes[a->dim] : 0;
    if (w->view->numel == 0 && bound != 0) return TSR_OK; /* nothing to fill: positions are not looked at */
    bool plain = tsr_is_contiguous(t, TSR_CONTIGUOUS) && !tsr_is_meta(t);
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
    if (value == NULL) {
        int64_t good;
        TsrStatus fits = check_fill(&good, w, number);
        if (fits != TSR_OK && (good == INT64_MAX || good == 0)) return fits;
        TSR_TRY(number_new(&source, dst, number, w->nadvanced == 1));
        if (fits != TSR_OK) {
            tsr_tensor_free(source);
            return put_part(w, good, number);
        }
    } else if (value->numel == 1 && single_mask(w) && value->dtype != dst->dtype && tsr_dtype_is_pod(dst->dtype)) {
        TsrScalar element; /* masked_fill_: converted as a number is */
        TSR_TRY(tsr_index_check_mask(dst, w->advanced[0].index, w->advanced[0].dim));
        TSR_TRY(tsr_tensor_item(&element, value));
        TSR_TRY(number_new(&source, dst, element, true));
    } else {
        if (value->numel != 1 || !single_mask(w)) TSR_TRY(tsr_index_check_apart(dst, n, array, value));
        TSR_TRY(tsr_tensor_new_resolved(&source, value));
    }
    TsrStatus s = check_index_types(w);
    if (s == TSR_OK) s = drop_leading_ones(&view, source);
    if (s == TSR_OK) s = tsr_index_put(dst, n, array, view, false);
    if (s == TSR_OK) tsr_tensor_bump(dst, "index_put_");
    tsr_tensor_free(view);
    tsr_tensor_free(source);
    return s;
}

static TsrStatus put(TsrTensor *self, Value index, TsrTensor *value, TsrScalar number) {
    if (index.tag == V_BOOL && !index.b) return TSR_OK;
    if (index.tag == V_BOOL) index = VALUE_NONE; /* x[True] = v writes to all */
    if (tsr_ndim(self) == 0 && index.tag == V_INT) return zero_dim(index.i);
    if (tsr_ndim(self) == 0 && value_is_obj(index, &slice_type)) {
        TsrTensor *none;
        return slice_dim(&none, self, 0, index); /* fails */
    }
    const Value *items;
    int64_t n;
    Walk w;
    index_items(&index, &items, &n);
    if (TSR_UNLIKELY(subscript_hook != NULL)) subscript_hook(NULL);
    TsrStatus s = check_text_index(self, index);
    bool walked = s == TSR_OK && (s = walk(&w, self, items, n)) == TSR_OK;
    if (walked) s = w.nadvanced > 0 ? put_advanced(&w, value, number) : put_basic(w.view, value, number);
    if (TSR_UNLIKELY(subscript_hook != NULL))
        subscript_hook(&(SubscriptEvent){.self = self,
                                         .place = walked ? w.view : NULL,
                                         .advanced = walked && w.nadvanced > 0,
                                         .written = true,
                                         .status = s});
    if (walked) walk_end(&w);
    return s;
}

/* One number into one element of a plain vector. False: not that, or an error for the long way to word. */
static bool set_element(TsrStatus *status, TsrTensor *t, Value index, Value value) {
    if (index.tag != V_INT || t->ndim_ != 1 || t->flags != 0 || t->layout != TSR_STRIDED || t->device.type != TSR_CPU ||
        tsr_trace_hook != NULL)
        return false;
    int64_t i = index.i < 0 ? index.i + t->sizes[0] : index.i;
    if (i < 0 || i >= t->sizes[0] || (value.tag != V_FLOAT && value.tag != V_INT)) return false;
    double number = value.tag == V_FLOAT ? value.f : (double)value.i;
    bool whole = value.tag == V_INT && value.i > -(1 << 24) && value.i < 1 << 24; /* exact in every float */
    bool single = t->dtype == TSR_FLOAT32 && (whole || (value.tag == V_FLOAT && !(fabs(number) > 3.4e38)));
    bool twice = t->dtype == TSR_FLOAT64 && (whole || value.tag == V_FLOAT);
    if (!single && !twice && !(t->dtype == TSR_INT64 && value.tag == V_INT)) return false;
    *status = tsr_tensor_check(t, true);
    if (*status != TSR_OK) return true;
    void *at = (char *)tsr_data(t) + i * t->strides[0] * (int64_t)tsr_itemsize(t);
    if (single) *(float *)at = (float)number;
    else if (twice) *(double *)at = number;
    else *(int64_t *)at = value.i;
    tsr_tensor_bump(t, "fill_");
    return true;
}

TsrStatus subscript_set(Value self, Value index, Value value) {
    TsrStatus quick;
    if (set_element(&quick, self.t, index, value)) return quick;
    TsrTensor *tensor = NULL;
    TsrScalar number = tsr_scalar_int(0);
    if (tsr_is_sparse(self.t)) return tsr_error(TSR_TYPE_ERROR, "Cannot assign to a sparse tensor");
    TSR_TRY(assigned(&tensor, &number, value, self.t));
    TsrStatus s = put(self.t, index, tensor, number);
    tsr_tensor_free(tensor);
    return s;
}
