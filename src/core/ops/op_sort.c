/* Sorting and order statistics along a dimension: sort, topk, kthvalue, median, mode, quantile. */
#include <math.h>
#include <stdatomic.h>
#include <string.h>

#include "halffloat.h"
#include "iter.h"
#include "kernels/keys.h"
#include "kernels/select.h"
#include "kernels/sort.h"
#include "mem.h"
#include "op_help.h"
#include "op_out.h"
#include "owned.h"

enum { UNSTABLE_EXACT = 32767 }; /* longer lines are always sorted stably: PyTorch's order of equal elements is not followed there */

/* What a line function needs. The work of a line: keys, then pairs, then an algorithm on pairs. */
typedef struct LineWork {
    TsrDtype dtype;
    int64_t k;
    bool flip;       /* keys complemented: greatest first */
    bool stable, sorted, ignore_nan;
    _Atomic bool *no_memory;
} LineWork;

/* Pairs for one line, on the caller's stack when short. */
typedef struct Pairs {
    TsrPair *a, *spare;
    TsrPair local[2 * 64];
} Pairs;

static bool pairs_begin(Pairs *p, int64_t n, bool with_spare, const LineWork *w) {
    if (n <= 64) {
        p->a = p->local;
        p->spare = p->local + 64;
        return true;
    }
    p->a = tsr_malloc_array((size_t)n, sizeof(TsrPair) * (with_spare ? 2 : 1));
    if (p->a == NULL) *w->no_memory = true;
    else p->spare = with_spare ? p->a + n : NULL;
    return p->a != NULL;
}

static void pairs_end(Pairs *p) {
    if (p->a != p->local) tsr_free(p->a);
}

static void load_pairs(TsrPair *a, const char *src, int64_t stride, int64_t n, const LineWork *w) {
    uint64_t keys[256], mask = w->flip ? UINT64_MAX : 0;
    for (int64_t i = 0; i < n && !tsr_interrupted_at(i); i += 256) {
        int64_t m = TSR_MIN(n - i, 256);
        tsr_kernel_keys64(w->dtype, src + i * stride, stride, m, keys);
        for (int64_t k = 0; k < m; k++) a[i + k] = (TsrPair){keys[k] ^ mask, i + k};
    }
    if (w->flip && tsr_dtype_size(w->dtype) < 8) { /* keep the passes of a radix sort few */
        uint64_t low = UINT64_MAX >> (64 - tsr_kernel_key_bits(w->dtype));
        for (int64_t i = 0; i < n && !tsr_interrupted_at(i); i++) a[i].key &= low;
    }
}

/* Writes the first n pairs to a line of (values, indices, self): the values of self that they stand for, and their indices. */
static void store_pairs(char *const *data, const int64_t *stride, const TsrPair *a, int64_t n, size_t item) {
    char *values = data[0], *indices = data[1];
    const char *src = data[2];
    const int64_t to_value = stride[0], to_index = stride[1], to_source = stride[2];
    for (int64_t i = 0; i < n && !tsr_interrupted_at(i); i++) {
        memcpy(values + i * to_value, src + a[i].index * to_source, item);
        *(int64_t *)(void *)(indices + i * to_index) = a[i].index;
    }
}

/* Runs a line function over (values, indices, self) along dim; 0-d tensors are taken as one line of one element. */
static TsrStatus run_lines(TsrTensor *values, TsrTensor *indices, const TsrTensor *self, int64_t dim, TsrLineFn fn, LineWork *w) {
    TsrTensor *v[3] = {NULL};
    _Atomic bool no_memory = false;
    w->no_memory = &no_memory;
    w->dtype = self->dtype;
    TsrStatus status = tsr_at_least_1d_new(&v[0], values);
    if (status == TSR_OK) status = tsr_at_least_1d_new(&v[1], indices);
    if (status == TSR_OK) status = tsr_at_least_1d_new(&v[2], self);
    if (status == TSR_OK) status = tsr_lines_run(v, 3, dim, fn, w, false);
    tsr_free_all(v, 3);
    size_t copied; /* what PyTorch asks for: a copy of self */
    if (tsr_mul_size_overflows((size_t)self->numel, tsr_itemsize(self), &copied)) copied = SIZE_MAX;
    if (status == TSR_OK && no_memory) status = tsr_error_no_memory(copied);
    return status;
}

/* Both results returned from the call, or freed on failure. */
static TsrStatus end_two_move(TsrOpCall *c, TsrStatus status, TsrTensor *values, TsrTensor *indices) {
    if (status == TSR_OK) return tsr_return_move2(c, values, indices);
    tsr_tensor_free(values);
    tsr_tensor_free(indices);
    return status;
}

static TsrStatus two_new(TsrTensor **values, TsrTensor **indices, const TsrTensor *like, int ndim, const int64_t *sizes) {
    *indices = NULL;
    TSR_TRY(tsr_tensor_new(values, ndim, sizes, like->dtype, like->device));
    TsrStatus status = tsr_tensor_new(indices, ndim, sizes, TSR_INT64, like->device);
    if (status != TSR_OK) tsr_tensor_reset(values);
    return status;
}

static TsrStatus check_outs(const TsrOpCall *c, const TsrTensor *self) {
    TSR_TRY(tsr_check_out_dtype(c, 0, self->dtype));
    return tsr_check_out_dtype(c, 1, TSR_INT64);
}

/* ---- sort ---- */

static void sort_line(char *const *data, const int64_t *stride, const int64_t *n, const void *params) {
    const LineWork *w = params;
    Pairs p;
    bool stable = w->stable || n[2] > UNSTABLE_EXACT;
    if (!pairs_begin(&p, n[2], stable, w)) return;
    load_pairs(p.a, data[2], stride[2], n[2], w);
    if (stable) tsr_kernel_sort_stable(p.a, p.spare, n[2]);
    else tsr_kernel_sort(p.a, n[2]);
    store_pairs(data, stride, p.a, n[2], tsr_dtype_size(w->dtype));
    pairs_end(&p);
}

/* One long line of elements up to 4 bytes, or of int64 within a range of 2^32: words of (key, position). */
typedef struct Flat {
    uint64_t *words;
    char *values;
    int64_t *indices;
    const char *src;
    TsrDtype dtype;
    uint32_t mask;
    int64_t base; /* int64: the least value, whose key is 0 */
} Flat;

static void pack_range(int64_t begin, int64_t end, void *user) {
    const Flat *f = user;
    uint32_t keys[512];
    if (f->dtype == TSR_INT64) {
        const int64_t *src = (const int64_t *)(const void *)f->src;
        for (int64_t i = begin; i < end; i++) f->words[i] = (uint64_t)((uint32_t)(src[i] - f->base) ^ f->mask) << 32 | (uint64_t)i;
        return;
    }
    int64_t item = (int64_t)tsr_dtype_size(f->dtype);
    for (int64_t i = begin; i < end; i += 512) {
        int64_t m = TSR_MIN(end - i, 512);
        tsr_kernel_keys32(f->dtype, f->src + i * item, item, m, keys);
        for (int64_t k = 0; k < m; k++) f->words[i + k] = (uint64_t)(keys[k] ^ f->mask) << 32 | (uint64_t)(i + k);
    }
}

#define UNPACK(T) \
    for (int64_t i = begin; i < end; i++) { \
        uint32_t at = (uint32_t)f->words[i]; \
        ((T *)(void *)f->values)[i] = ((const T *)(const void *)f->src)[at]; \
        f->indices[i] = at; \
    } \
    break

static void unpack_range(int64_t begin, int64_t end, void *user) {
    const Flat *f = user;
    switch (tsr_dtype_size(f->dtype)) {
    case 1: UNPACK(uint8_t);
    case 2: UNPACK(uint16_t);
    default: UNPACK(uint32_t);
    }
}

/* Floats and int32 without the gather: the key gives the value back, but for nan and -0 (floats look those up). */
static void unpack_words(int64_t begin, int64_t end, void *user) {
    const Flat *f = user;
    uint32_t *values = (uint32_t *)(void *)f->values;
    const uint32_t *src = (const uint32_t *)(const void *)f->src;
    bool is_float = f->dtype == TSR_FLOAT32;
    for (int64_t i = begin; i < end; i++) {
        uint32_t key = (uint32_t)(f->words[i] >> 32) ^ f->mask, at = (uint32_t)f->words[i];
        f->indices[i] = at;
        if (!is_float) values[i] = key ^ 0x80000000u;
        else if (TSR_UNLIKELY(key == UINT32_MAX || key == 0x80000000u)) values[i] = src[at];
        else values[i] = key & 0x80000000u ? key & 0x7FFFFFFFu : ~key;
    }
}

static void unpack_int64(int64_t begin, int64_t end, void *user) {
    const Flat *f = user;
    int64_t *values = (int64_t *)(void *)f->values;
    for (int64_t i = begin; i < end; i++) {
        values[i] = (int64_t)((uint32_t)(f->words[i] >> 32) ^ f->mask) + f->base;
        f->indices[i] = (uint32_t)f->words[i];
    }
}

static TsrRangeFn unpacking(TsrDtype d) {
    return d == TSR_INT64 ? unpack_int64 : d == TSR_FLOAT32 || d == TSR_INT32 ? unpack_words : unpack_range;
}

static TsrStatus sort_flat(TsrTensor *values, TsrTensor *indices, const TsrTensor *self, bool descending, int64_t base) {
    int64_t n = self->numel, room = 2 * n;
    TsrTensor *scratch; /* from the tensors' allocator, which keeps large blocks and their pages */
    TSR_TRY(tsr_tensor_new(&scratch, 1, &room, TSR_INT64, TSR_DEVICE_CPU));
    uint64_t *words = tsr_data(scratch);
    uint32_t low = UINT32_MAX >> (32 - TSR_MIN(tsr_kernel_key_bits(self->dtype), 32));
    Flat f = {words, tsr_data(values), tsr_data(indices), tsr_data(self), self->dtype, descending ? low : 0, base};
    TsrStatus status = tsr_parallel_for(n, tsr_grain(1), pack_range, &f);
    if (status == TSR_OK) {
        f.words = tsr_kernel_radix_words(words, words + n, n);
        status = f.words == NULL ? tsr_error_kind() : tsr_parallel_for(n, tsr_grain(1), unpacking(self->dtype), &f);
    }
    tsr_tensor_free(scratch);
    return status;
}

static bool is_long_line(const TsrTensor *self, bool stable, int64_t *base) {
    *base = 0;
    if (tsr_ndim(self) != 1 || self->numel <= (stable ? 4096 : UNSTABLE_EXACT) || self->numel >= UINT32_MAX || !tsr_is_contiguous(self, TSR_CONTIGUOUS)) return false;
    if (self->dtype != TSR_INT64) return tsr_itemsize(self) <= 4;
    int64_t most, span;
    tsr_kernel_range(tsr_data(self), self->numel, base, &most);
    return !tsr_sub_overflows(most, *base, &span) && span <= UINT32_MAX;
}

static TsrStatus check_sortable(const TsrTensor *self) {
    if (tsr_dtype_is_complex(self->dtype)) return tsr_error(TSR_TYPE_ERROR, " Sort does not support complex dtypes on CPU");
    if (tsr_ndim(self) == 0) return TSR_OK;
    return tsr_require(TSR_BITS_USUAL | TSR_BITS_UINT | TSR_BIT(BOOL), self->dtype, "sorting_kernel_method_name");
}

static TsrStatus sort_new(TsrTensor **values, TsrTensor **indices, const TsrTensor *self, int64_t dim, bool descending, bool stable) {
    TSR_TRY(check_sortable(self));
    TSR_TRY(tsr_tensor_new_like(values, self, TSR_DTYPE_NONE, TSR_PRESERVE));
    TsrStatus status = tsr_tensor_new_like(indices, self, TSR_INT64, TSR_PRESERVE);
    if (status != TSR_OK) {
        tsr_tensor_reset(values);
        return status;
    }
    if (self->numel > 0 && !tsr_is_meta(self)) {
        LineWork w = {.flip = descending, .stable = stable};
        int64_t base;
        status = is_long_line(self, stable, &base) ? sort_flat(*values, *indices, self, descending, base) : run_lines(*values, *indices, self, dim, sort_line, &w);
    }
    if (status == TSR_OK) return TSR_OK;
    tsr_tensor_reset(values);
    tsr_tensor_reset(indices);
    return status;
}

static TsrStatus sort_call(TsrOpCall *c, int64_t dim, bool descending, bool stable) {
    TsrTensor *self = c->arg[0].t, *values, *indices;
    TSR_TRY(tsr_wrap_dim(&dim, tsr_ndim(self)));
    TSR_TRY(check_outs(c, self));
    if (c->out[0] != NULL) TSR_TRY(tsr_iter_check_partial_overlap(c->out[0], self));
    TSR_TRY(sort_new(&values, &indices, self, dim, descending, stable));
    return tsr_return_move2(c, values, indices);
}

/* (self, dim, descending) and (self, *, stable, dim, descending) */
TsrStatus op_sort(TsrOpCall *c) { return sort_call(c, c->arg[1].i, c->arg[2].b, false); }
TsrStatus op_sort_stable(TsrOpCall *c) { return sort_call(c, c->arg[2].i, c->arg[3].b, tsr_arg_given(&c->arg[1]) && c->arg[1].b); }

static TsrStatus argsort_call(TsrOpCall *c, int64_t dim, bool descending, bool stable) {
    TsrTensor *self = c->arg[0].t, *values, *indices;
    TSR_TRY(tsr_wrap_dim(&dim, tsr_ndim(self)));
    TSR_TRY(sort_new(&values, &indices, self, dim, descending, stable));
    tsr_tensor_free(values);
    return tsr_return_move(c, indices);
}

TsrStatus op_argsort(TsrOpCall *c) { return argsort_call(c, c->arg[1].i, c->arg[2].b, false); }
TsrStatus op_argsort_stable(TsrOpCall *c) { return argsort_call(c, c->arg[2].i, c->arg[3].b, c->arg[1].b); }

TsrStatus op_msort(TsrOpCall *c) {
    TsrTensor *values, *indices;
    TSR_TRY(sort_new(&values, &indices, c->arg[0].t, 0, false, false));
    tsr_tensor_free(indices);
    return tsr_return_move(c, values);
}

/* ---- topk ---- */

/* Few of many: the heap of partial_sort, fed block by block, so that only k pairs are ever held. */
static void topk_stream(char *const *data, const int64_t *stride, const int64_t *n, const LineWork *w) {
    enum { BLOCK = 512 };
    Pairs p;
    uint64_t keys[BLOCK], mask = w->flip ? UINT64_MAX >> (64 - tsr_kernel_key_bits(w->dtype)) : 0;
    if (!pairs_begin(&p, w->k, false, w)) return;
    load_pairs(p.a, data[2], stride[2], w->k, w);
    tsr_kernel_heap_start(p.a, w->k);
    for (int64_t i = w->k; i < n[2] && tsr_interrupt_flag == 0; i += BLOCK) {
        int64_t m = TSR_MIN(n[2] - i, BLOCK);
        tsr_kernel_keys64(w->dtype, data[2] + i * stride[2], stride[2], m, keys);
        for (int64_t j = 0; (j += tsr_kernel_first_below(keys + j, m - j, mask, p.a[0].key)) < m; j++) tsr_kernel_heap_offer(p.a, w->k, (TsrPair){keys[j] ^ mask, i + j});
    }
    tsr_kernel_heap_finish(p.a, w->k);
    store_pairs(data, stride, p.a, w->k, tsr_dtype_size(w->dtype));
    pairs_end(&p);
}

static void topk_line(char *const *data, const int64_t *stride, const int64_t *n, const void *params) {
    const LineWork *w = params;
    Pairs p;
    if (w->k * 64 <= n[2]) {
        topk_stream(data, stride, n, w);
        return;
    }
    if (!pairs_begin(&p, n[2], false, w)) return;
    load_pairs(p.a, data[2], stride[2], n[2], w);
    tsr_kernel_nth_element(p.a, w->k - 1, n[2]);
    if (w->sorted) tsr_kernel_sort(p.a, w->k - 1);
    store_pairs(data, stride, p.a, w->k, tsr_dtype_size(w->dtype));
    pairs_end(&p);
}

TsrStatus op_topk(TsrOpCall *c) {
    TsrTensor *self = c->arg[0].t, *values, *indices;
    int64_t k = c->arg[1].i, dim = c->arg[2].i, sizes[TSR_MAX_DIMS];
    TSR_TRY(tsr_wrap_dim(&dim, tsr_ndim(self)));
    if (k < 0 || k > (tsr_ndim(self) > 0 ? self->sizes[dim] : 1)) return tsr_error(TSR_RUNTIME_ERROR, "selected index k out of range");
    if (tsr_dtype_is_complex(self->dtype)) return tsr_error(TSR_TYPE_ERROR, " topk does not support complex dtypes on CPU");
    if (self->dtype == TSR_BOOL && !tsr_is_meta(self)) return tsr_error(TSR_NOT_IMPLEMENTED_ERROR, "topk does not support bool dtypes on CPU");
    TSR_TRY(check_outs(c, self));
    if (c->out[0] != NULL) TSR_TRY(tsr_iter_check_partial_overlap(c->out[0], self));
    if (tsr_ndim(self) > 0 && !tsr_is_meta(self)) TSR_TRY(tsr_require(TSR_BITS_USUAL, self->dtype, "topk_cpu"));
    for (int d = 0; d < tsr_ndim(self); d++) sizes[d] = d == dim ? k : self->sizes[d];
    TSR_TRY(two_new(&values, &indices, self, tsr_ndim(self), sizes));
    if (tsr_is_meta(self)) return tsr_return_move2(c, values, indices);
    TsrStatus status = TSR_OK;
    if (tsr_ndim(self) == 0) {
        *(int64_t *)tsr_data(indices) = 0;
        status = tsr_tensor_copy(values, self);
    } else if (values->numel > 0) {
        LineWork w = {.k = k, .flip = c->arg[3].b, .sorted = c->arg[4].b};
        status = run_lines(values, indices, self, dim, topk_line, &w);
    }
    return end_two_move(c, status, values, indices);
}

/* ---- one element a line: kthvalue, median, mode ---- */

/* Results with dim kept as size 1 to run over; the caller may squeeze it away. */
static TsrStatus reduced_new(TsrTensor **values, TsrTensor **indices, const TsrTensor *self, int64_t dim) {
    int64_t sizes[TSR_MAX_DIMS];
    for (int d = 0; d < tsr_ndim(self); d++) sizes[d] = d == dim ? 1 : self->sizes[d];
    return two_new(values, indices, self, tsr_ndim(self), sizes);
}

static TsrStatus squeeze_move(TsrTensor **t, int64_t dim) {
    int64_t sizes[TSR_MAX_DIMS];
    int n = 0;
    for (int d = 0; d < tsr_ndim(*t); d++)
        if (d != dim) sizes[n++] = (*t)->sizes[d];
    /* A fresh view would leave a trace of a base: the geometry of the result itself is changed. */
    int64_t strides[TSR_MAX_DIMS];
    tsr_layout_contiguous_strides(strides, n, sizes);
    return tsr_tensor_set_geometry(*t, (TsrGeometry){n, sizes, strides, (*t)->offset});
}

static TsrStatus select_along(TsrOpCall *c, int64_t dim, bool keepdim, TsrLineFn fn, LineWork *w) {
    TsrTensor *self = c->arg[0].t, *values, *indices;
    TSR_TRY(reduced_new(&values, &indices, self, dim));
    TsrStatus status = values->numel == 0 || tsr_is_meta(self) ? TSR_OK : run_lines(values, indices, self, dim, fn, w);
    if (status == TSR_OK && !keepdim && tsr_ndim(self) > 0) {
        status = squeeze_move(&values, dim);
        if (status == TSR_OK) status = squeeze_move(&indices, dim);
    }
    return end_two_move(c, status, values, indices);
}

static TsrStatus check_nonempty(const TsrTensor *self, int64_t dim, const char *name) {
    if (tsr_ndim(self) > 0 && self->sizes[dim] == 0)
        return tsr_error(TSR_INDEX_ERROR, "%s(): Expected reduction dim %lld to have non-zero size.", name, (long long)dim);
    return TSR_OK;
}

static void kth_line(char *const *data, const int64_t *stride, const int64_t *n, const void *params) {
    const LineWork *w = params;
    Pairs p;
    if (!pairs_begin(&p, n[2], false, w)) return;
    load_pairs(p.a, data[2], stride[2], n[2], w);
    tsr_kernel_quick_select(p.a, w->k, n[2]);
    store_pairs(data, stride, p.a + w->k, 1, tsr_dtype_size(w->dtype));
    pairs_end(&p);
}

TsrStatus op_kthvalue(TsrOpCall *c) {
    TsrTensor *self = c->arg[0].t;
    int64_t k = c->arg[1].i, dim = c->arg[2].i, size;
    TSR_TRY(tsr_wrap_dim(&dim, tsr_ndim(self)));
    TSR_TRY(check_nonempty(self, dim, "kthvalue"));
    size = tsr_ndim(self) > 0 ? self->sizes[dim] : 1;
    if (k < 1 || k > size) return tsr_error(TSR_RUNTIME_ERROR, "kthvalue(): selected number k out of range for dimension %lld", (long long)dim);
    if (c->out[0] != NULL) TSR_TRY(tsr_check_no_overlap(c->out[0], self));
    TSR_TRY(check_outs(c, self));
    if (tsr_ndim(self) > 0) TSR_TRY(tsr_require(TSR_BITS_USUAL, self->dtype, "kthvalue_cpu"));
    LineWork w = {.k = k - 1};
    return select_along(c, dim, c->arg[3].b, kth_line, &w);
}

/* Order by (key, index): the pairs are distinct, so any selection gives the same. */
static void select_distinct(TsrPair *a, TsrPair *spare, int64_t k, int64_t n) {
    tsr_kernel_nth_element(a, k, n);
    if (tsr_interrupt_flag != 0) return;
    /* Elements equal to the k-th by key: among them the indices decide. */
    uint64_t key = a[k].key;
    int64_t below = 0, equal = 0;
    for (int64_t i = 0; i < n; i++) {
        if (a[i].key < key) below++;
        else if (a[i].key == key) spare[equal++] = (TsrPair){(uint64_t)a[i].index, a[i].index};
        if (tsr_interrupted_at(i)) return;
    }
    tsr_kernel_nth_element(spare, k - below, equal);
    if (tsr_interrupt_flag != 0) return;
    a[k].index = spare[k - below].index;
}

static void median_line(char *const *data, const int64_t *stride, const int64_t *n, const void *params) {
    const LineWork *w = params;
    Pairs p;
    if (!pairs_begin(&p, n[2], true, w)) return;
    load_pairs(p.a, data[2], stride[2], n[2], w);
    uint64_t nan_key = tsr_kernel_nan_key(w->dtype);
    int64_t nans = 0, first_nan = -1;
    for (int64_t i = 0; i < n[2] && tsr_dtype_is_float(w->dtype) && !tsr_interrupted_at(i); i++) {
        if (p.a[i].key != nan_key) continue;
        if (nans++ == 0) first_nan = i;
    }
    int64_t k = 0;
    if (nans > 0 && !w->ignore_nan) {
        p.a[0].index = first_nan;
    } else {
        k = nans == n[2] ? 0 : (n[2] - nans - 1) / 2;
        select_distinct(p.a, p.spare, k, n[2]);
    }
    store_pairs(data, stride, p.a + k, 1, tsr_dtype_size(w->dtype));
    pairs_end(&p);
}

static TsrStatus median_dim(TsrOpCall *c, bool ignore_nan) {
    TsrTensor *self = c->arg[0].t;
    int64_t dim = c->arg[1].i;
    TSR_TRY(tsr_wrap_dim(&dim, tsr_ndim(self)));
    TSR_TRY(check_nonempty(self, dim, "median"));
    TSR_TRY(check_outs(c, self));
    TSR_TRY(tsr_require(TSR_BITS_USUAL, self->dtype, "median_out"));
    LineWork w = {.ignore_nan = ignore_nan};
    return select_along(c, dim, c->arg[2].b, median_line, &w);
}

TsrStatus op_median_dim(TsrOpCall *c) { return median_dim(c, false); }
TsrStatus op_nanmedian_dim(TsrOpCall *c) { return median_dim(c, true); }

static TsrStatus median_all(TsrOpCall *c, bool ignore_nan) {
    TsrTensor *self = c->arg[0].t, *flat, *values = NULL, *index = NULL;
    int64_t minus = -1;
    if (self->numel > 0) TSR_TRY(tsr_require(TSR_BITS_USUAL, self->dtype, "median_cpu"));
    if (self->numel == 0 || tsr_is_meta(self)) {
        TSR_TRY(tsr_tensor_new(&values, 0, NULL, self->dtype, self->device));
        if (!tsr_is_meta(self)) tsr_scalar_store(tsr_scalar_float(NAN), self->dtype, tsr_data(values));
        return tsr_return_move(c, values);
    }
    TSR_TRY(tsr_tensor_new_reshape(&flat, self, 1, &minus));
    TsrStatus status = two_new(&values, &index, self, 0, NULL);
    if (status == TSR_OK) {
        LineWork w = {.ignore_nan = ignore_nan};
        status = run_lines(values, index, flat, 0, median_line, &w);
        tsr_tensor_free(index);
        if (status != TSR_OK) tsr_tensor_free(values);
    }
    tsr_tensor_free(flat);
    return tsr_finish_move(c, status, values);
}

TsrStatus op_median(TsrOpCall *c) { return median_all(c, false); }
TsrStatus op_nanmedian(TsrOpCall *c) { return median_all(c, true); }

/* What std::sort makes of up to 16 numbers with nan among them, which is neither less nor greater than any: insertion. */
static void sort_with_nan(TsrPair *a, int64_t n, uint64_t nan_key) {
    for (int64_t i = 1; i < n; i++) {
        TsrPair x = a[i];
        int64_t to = i;
        if (x.key == nan_key) continue;
        if (a[0].key != nan_key && x.key < a[0].key) to = 0;
        while (to > 0 && a[to - 1].key != nan_key && x.key < a[to - 1].key) to--;
        memmove(a + to + 1, a + to, (size_t)(i - to) * sizeof *a);
        a[to] = x;
    }
}

static bool has_key(const TsrPair *a, int64_t n, uint64_t key) {
    for (int64_t i = 0; i < n; i++)
        if (a[i].key == key) return true;
    return false;
}

static void mode_line(char *const *data, const int64_t *stride, const int64_t *n, const void *params) {
    const LineWork *w = params;
    Pairs p;
    if (!pairs_begin(&p, n[2], false, w)) return;
    load_pairs(p.a, data[2], stride[2], n[2], w);
    uint64_t nan_key = tsr_kernel_nan_key(w->dtype);
    bool floats = tsr_dtype_is_float(w->dtype);
    if (floats && n[2] <= 16 && has_key(p.a, n[2], nan_key)) sort_with_nan(p.a, n[2], nan_key);
    else tsr_kernel_sort(p.a, n[2]);
    int64_t best = 0, best_count = 0, count = 0;
    for (int64_t i = 0; i < n[2] && !tsr_interrupted_at(i); i++) {
        count++;
        bool ends = i == n[2] - 1 || p.a[i].key != p.a[i + 1].key || (floats && p.a[i].key == nan_key);
        if (!ends) continue;
        if (count > best_count) {
            best = i;
            best_count = count;
        }
        count = 0;
    }
    store_pairs(data, stride, p.a + best, 1, tsr_dtype_size(w->dtype));
    pairs_end(&p);
}

TsrStatus op_mode(TsrOpCall *c) {
    TsrTensor *self = c->arg[0].t;
    int64_t dim = c->arg[1].i;
    TSR_TRY(tsr_wrap_dim(&dim, tsr_ndim(self)));
    TSR_TRY(check_nonempty(self, dim, "mode"));
    TSR_TRY(check_outs(c, self));
    if (tsr_ndim(self) > 0 && self->numel > 0) TSR_TRY(tsr_require(TSR_BITS_USUAL | TSR_BIT(BOOL), self->dtype, "mode_cpu"));
    LineWork w = {0};
    return select_along(c, dim, c->arg[2].b, mode_line, &w);
}

/* ---- quantile ---- */

typedef enum Interpolation { LINEAR, LOWER, HIGHER, MIDPOINT, NEAREST } Interpolation;

static TsrStatus interpolation_named(Interpolation *out, const char *name) {
    static const char *const names[] = {"linear", "lower", "higher", "midpoint", "nearest"};
    for (int i = 0; i < 5; i++)
        if (strcmp(name, names[i]) == 0) {
            *out = (Interpolation)i;
            return TSR_OK;
        }
    return tsr_error(TSR_RUNTIME_ERROR, "quantile() interpolation must be one of linear, lower, higher, midpoint or nearest, but got %s", name);
}

enum { FEW_QUANTILES = 16 }; /* for more, lines are sorted */

typedef struct Quantile {
    const char *q;
    int64_t nq, order[FEW_QUANTILES]; /* the numbers of few quantiles by rising q */
    TsrDtype dtype;
    Interpolation how;
    bool ignore_nan;
    _Atomic bool *no_memory;
} Quantile;

/* Where among the n elements of a sorted line the quantile lies; `valid` of them are not nan. */
static double rank_of(const Quantile *p, double q, int64_t n, int64_t valid) {
    double rank;
    if (p->ignore_nan) rank = valid == 0 ? 0 : q * (double)(valid - 1);
    else rank = valid < n ? (double)(n - 1) : q * (double)(n - 1);
    if (p->how == LOWER) return floor(rank);
    if (p->how == HIGHER) return ceil(rank);
    return p->how == NEAREST ? rint(rank) : rank;
}

/* One body for float and double. Ranks are double whatever the dtype; the interpolation rounds once, as PyTorch's does. */
#define QUANTILE(name, T, FMA) \
    static T name(const Quantile *p, double rank, T a, T b) { \
        T weight = p->how == MIDPOINT ? (T)0.5 : (T)(rank - floor(rank)); \
        if (p->how != LINEAR && p->how != MIDPOINT) return a; \
        return weight < (T)0.5 ? FMA(weight, b - a, a) : FMA(-(b - a), 1 - weight, b); \
    }
QUANTILE(quantile_float, float, fmaf)
QUANTILE(quantile_double, double, fma)

/* The least of a non-empty run to its front. */
static void least_first(TsrPair *a, int64_t n) {
    int64_t least = 0;
    for (int64_t i = 1; i < n && !tsr_interrupted_at(i); i++)
        if (a[i].key < a[least].key) least = i;
    TsrPair first = a[0];
    a[0] = a[least];
    a[least] = first;
}

static double quantile_at(const Quantile *p, int64_t k) {
    return p->dtype == TSR_FLOAT32 ? (double)((const float *)(const void *)p->q)[k] : ((const double *)(const void *)p->q)[k];
}

static void by_rising_quantile(Quantile *p) {
    for (int64_t i = 0; i < p->nq && p->nq <= FEW_QUANTILES; i++) {
        int64_t k = i;
        for (; k > 0 && quantile_at(p, p->order[k - 1]) > quantile_at(p, i); k--) p->order[k] = p->order[k - 1];
        p->order[k] = i;
    }
}

/* Elements at the ranks that rising quantiles ask for are put in their places one after the other: what is before one is never looked at again. */
static void quantile_line(char *const *data, const int64_t *stride, const int64_t *n, const void *params) {
    const Quantile *p = params;
    LineWork w = {.dtype = p->dtype, .no_memory = p->no_memory};
    Pairs line;
    bool sorts = p->nq > FEW_QUANTILES;
    if (!pairs_begin(&line, n[1], sorts, &w)) return;
    load_pairs(line.a, data[1], stride[1], n[1], &w);
    uint64_t nan_key = tsr_kernel_nan_key(p->dtype);
    int64_t valid = 0, done = sorts ? n[1] - 1 : -1; /* the last place that is filled */
    if (sorts) tsr_kernel_sort_stable(line.a, line.spare, n[1]);
    for (int64_t i = 0; i < n[1] && !tsr_interrupted_at(i); i++) valid += line.a[i].key != nan_key;
    for (int64_t k = 0; k < p->nq && tsr_interrupt_flag == 0; k++) {
        int64_t at = sorts ? k : p->order[k];
        double rank = rank_of(p, quantile_at(p, at), n[1], valid);
        int64_t low = (int64_t)rank, high = (int64_t)ceil(rank);
        if (low > done) tsr_kernel_nth_element(line.a + done + 1, low - done - 1, n[1] - done - 1);
        if (high > TSR_MAX(low, done)) least_first(line.a + high, n[1] - high);
        done = TSR_MAX(done, high);
        if (tsr_interrupt_flag != 0) break;
        const char *a = data[1] + line.a[low].index * stride[1], *b = data[1] + line.a[high].index * stride[1];
        char *out = data[0] + at * stride[0];
        if (p->dtype == TSR_FLOAT32) *(float *)(void *)out = quantile_float(p, rank, *(const float *)(const void *)a, *(const float *)(const void *)b);
        else *(double *)(void *)out = quantile_double(p, rank, *(const double *)(const void *)a, *(const double *)(const void *)b);
    }
    pairs_end(&line);
}

static TsrStatus check_quantile(const TsrOpCall *c, const TsrTensor *self, const TsrTensor *q) {
    if (self->numel == 0) return tsr_error(TSR_RUNTIME_ERROR, "quantile() input tensor must be non-empty");
    if (tsr_ndim(q) > 1) return tsr_error(TSR_RUNTIME_ERROR, "quantile() q must be a scalar or 1D tensor");
    if (self->dtype != TSR_FLOAT32 && self->dtype != TSR_FLOAT64) return tsr_error(TSR_RUNTIME_ERROR, "quantile() input tensor must be either float or double dtype");
    if (self->dtype != q->dtype) return tsr_error(TSR_RUNTIME_ERROR, "quantile() q tensor must be same dtype as the input tensor");
    if (c->out[0] != NULL && c->out[0]->dtype != self->dtype) return tsr_error(TSR_RUNTIME_ERROR, "quantile() out tensor must be same dtype as the input tensor");
    return TSR_OK;
}

static TsrStatus check_probabilities(const TsrTensor *q) {
    const int64_t n = tsr_is_meta(q) ? 0 : q->numel;
    TSR_IN_PIECES(i, n) {
        double v = tsr_scalar_to_double(tsr_tensor_get(q, i));
        if (!(v >= 0 && v <= 1)) return tsr_error(TSR_RUNTIME_ERROR, "quantile() q values must be in the range [0, 1]");
    }
    return TSR_OK;
}

/* The result's geometry: (q, rest...) over memory laid out as (rest..., q). */
static TsrStatus quantile_result_new(TsrTensor **out, const TsrTensor *self, const TsrTensor *q, bool flatten, int64_t dim, bool keepdim) {
    int64_t sizes[TSR_MAX_DIMS + 1], strides[TSR_MAX_DIMS + 1], rest[TSR_MAX_DIMS + 1] = {0};
    int n = 0;
    for (int d = 0; d < tsr_ndim(self); d++) {
        bool gone = flatten || d == dim;
        if (!gone || keepdim) rest[n++] = gone ? 1 : self->sizes[d];
    }
    if (tsr_ndim(q) == 0) return tsr_tensor_new(out, n, rest, self->dtype, self->device);
    sizes[0] = q->numel;
    strides[0] = 1;
    tsr_layout_contiguous_strides(strides + 1, n, rest);
    for (int d = 0; d < n; d++) {
        sizes[d + 1] = rest[d];
        strides[d + 1] *= TSR_MAX(q->numel, 1);
    }
    return tsr_tensor_new_strided(out, n + 1, sizes, strides, self->dtype, self->device);
}

/* Fills t, which quantile_result_new has made. */
static TsrStatus run_quantile(TsrTensor *t, const TsrTensor *self, Quantile *p, bool flatten, int64_t dim) {
    TSR_OWNED lines = NULL;
    TSR_OWNED out = NULL;
    int64_t sizes[TSR_MAX_DIMS], strides[TSR_MAX_DIMS], minus = -1, step = p->nq;
    _Atomic bool no_memory = false;
    flatten |= tsr_ndim(self) == 0;
    if (flatten) TSR_TRY(tsr_tensor_new_reshape(&lines, self, 1, &minus));
    else TSR_TRY(tsr_tensor_new_alias(&lines, self));
    dim = flatten ? 0 : dim;
    if (lines->sizes[dim] > 1 << 24) return tsr_error(TSR_RUNTIME_ERROR, "quantile() input tensor is too large");
    for (int d = tsr_ndim(lines) - 1; d >= 0; d--) {
        sizes[d] = d == dim ? p->nq : lines->sizes[d];
        strides[d] = d == dim ? 1 : step;
        step *= d == dim ? 1 : sizes[d];
    }
    TSR_TRY(tsr_tensor_new_view(&out, t, &(TsrGeometry){tsr_ndim(lines), sizes, strides, t->offset}, NULL));
    by_rising_quantile(p);
    p->no_memory = &no_memory;
    TSR_TRY(tsr_lines_run((TsrTensor *[]){out, lines}, 2, dim, quantile_line, p, false));
    return no_memory ? tsr_error_no_memory((size_t)self->numel * tsr_itemsize(self)) : TSR_OK;
}

static TsrStatus quantile(TsrOpCall *c, const TsrTensor *q, bool ignore_nan) {
    TsrTensor *self = c->arg[0].t, *dense_q, *t;
    bool flatten = !tsr_arg_given(&c->arg[2]), keepdim = c->arg[3].b;
    int64_t dim = flatten ? 0 : c->arg[2].i;
    Interpolation how = LINEAR;
    TSR_TRY(interpolation_named(&how, c->arg[4].str));
    TSR_TRY(check_quantile(c, self, q));
    TSR_TRY(tsr_wrap_dim(&dim, tsr_ndim(self)));
    TSR_TRY(check_probabilities(q));
    TSR_TRY(quantile_result_new(&t, self, q, flatten, dim, keepdim));
    if (t->numel == 0 || tsr_is_meta(self)) return tsr_return_move(c, t);
    TsrStatus status = tsr_tensor_new_contiguous(&dense_q, q, TSR_CONTIGUOUS);
    if (status == TSR_OK) {
        Quantile p = {.q = tsr_data(dense_q), .nq = q->numel, .dtype = self->dtype, .how = how, .ignore_nan = ignore_nan};
        status = run_quantile(t, self, &p, flatten, dim);
        tsr_tensor_free(dense_q);
    }
    return tsr_end_move(c, status, t);
}

static TsrStatus quantile_number(TsrOpCall *c, bool ignore_nan) {
    double v = c->arg[1].f;
    TsrTensor *q;
    if (!(v >= 0 && v <= 1)) return tsr_error(TSR_RUNTIME_ERROR, "quantile() q must be in the range [0, 1] but got %g", v);
    TSR_TRY(tsr_tensor_new_scalar(&q, tsr_scalar_float(v), c->arg[0].t->dtype));
    TsrStatus status = quantile(c, q, ignore_nan);
    tsr_tensor_free(q);
    return status;
}

TsrStatus op_quantile(TsrOpCall *c) { return quantile(c, c->arg[1].t, false); }
TsrStatus op_nanquantile(TsrOpCall *c) { return quantile(c, c->arg[1].t, true); }
TsrStatus op_quantile_number(TsrOpCall *c) { return quantile_number(c, false); }
TsrStatus op_nanquantile_number(TsrOpCall *c) { return quantile_number(c, true); }
