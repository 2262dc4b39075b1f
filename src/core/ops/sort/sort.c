/* sort.c: sorting along a dimension: sort, argsort, msort, topk.
 *
 * A line becomes (key, position) pairs, the key an unsigned int in the order of the dtype, descending by complement;
 * kernels/sort sorts them, stably. One long line of small elements, or of int64 within a range of 2^32, is packed into
 * words of 64 bits (key above position) and goes through the radix sort of radix.c over threads; the values come back
 * from the keys where they can. topk of few keeps a heap of k pairs that is fed block by block, that of many selects
 * with nth_element and sorts what is in front. */
#include <string.h>

#include "core/tensor/owned.h"
#include "core/kernels/sort/keys.h"
#include "core/kernels/sort/kth.h"
#include "core/kernels/move/select.h"
#include "core/op/out.h"
#include "core/op/shared.h"
#include "lines.h"
#include "there.h"

enum {
    UNSTABLE_EXACT = 32767
}; /* longer lines are always sorted stably: PyTorch's order of equal elements is not followed there */

/* ---- sort ---- */

enum { FEW = 16 }; /* up to here PyTorch's unstable algorithm is insertion, which is stable */

/* Where each of n keys goes: behind all that are smaller and the equal ones before it. Every two are compared, so that
 * no comparison has to be guessed. */
static void rank_keys(const uint64_t *keys, int64_t n, int64_t *rank) {
    for (int64_t i = 0; i < n; i++) {
        const uint64_t key = keys[i];
        int64_t behind = 0;
        for (int64_t k = 0; k < i; k++) {
            const int64_t greater = keys[k] > key;
            rank[k] += greater;
            behind += greater;
        }
        rank[i] = i - behind;
    }
}

/* The same of three, in registers. */
static void rank_three(const uint64_t *keys, int64_t *rank) {
    const int64_t second = keys[0] > keys[1], third = keys[0] > keys[2], last = keys[1] > keys[2];
    rank[0] = second + third;
    rank[1] = 1 - second + last;
    rank[2] = 2 - third - last;
}

static void sort_few(char *const *data, const int64_t *stride, int64_t n, const SortLine *w) {
    uint64_t keys[FEW];
    int64_t rank[FEW];
    const size_t item = tsr_dtype_size(w->dtype);
    tsr_kernel_keys64(w->dtype, data[2], stride[2], n, keys);
    for (int64_t i = 0; w->flip && i < n; i++) keys[i] = ~keys[i];
    if (n == 3) rank_three(keys, rank);
    else rank_keys(keys, n, rank);
    char *values = data[0], *places = data[1];
    const char *from = data[2];
    const int64_t value_step = stride[0], place_step = stride[1], step = stride[2];
    for (int64_t i = 0; i < n; i++, from += step) {
        char *to = values + rank[i] * value_step;
        if (item == sizeof(float)) memcpy(to, from, sizeof(float));
        else memcpy(to, from, item);
        *(int64_t *)(void *)(places + rank[i] * place_step) = i;
    }
}

static void sort_line(char *const *data, const int64_t *stride, const int64_t *n, const void *params) {
    const SortLine *w = params;
    SortPairs p;
    if (n[2] <= FEW) {
        sort_few(data, stride, n[2], w);
        return;
    }
    bool stable = w->stable || n[2] > UNSTABLE_EXACT;
    if (!tsr_pairs_begin(&p, n[2], stable, w)) return;
    tsr_pairs_load(p.a, data[2], stride[2], n[2], w);
    if (stable) tsr_kernel_sort_stable(p.a, p.spare, n[2]);
    else tsr_kernel_sort(p.a, n[2]);
    tsr_pairs_store(data, stride, p.a, n[2], tsr_dtype_size(w->dtype));
    tsr_pairs_end(&p);
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
        for (int64_t i = begin; i < end; i++)
            f->words[i] = (uint64_t)((uint32_t)(src[i] - f->base) ^ f->mask) << 32 | (uint64_t)i;
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
    case 4: UNPACK(uint32_t);
    default: break;
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

static TsrStatus sort_flat(TsrTensor *values, TsrTensor *indices, const TsrTensor *self, bool descending,
                           int64_t base) {
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
    if (tsr_ndim(self) != 1 || self->numel <= (stable ? 4096 : UNSTABLE_EXACT) || self->numel >= UINT32_MAX ||
        !tsr_is_contiguous(self, TSR_CONTIGUOUS))
        return false;
    if (self->dtype != TSR_INT64) return tsr_itemsize(self) <= 4;
    int64_t most, span;
    tsr_kernel_range(tsr_data(self), self->numel, base, &most);
    return !tsr_sub_overflows(most, *base, &span) && span <= UINT32_MAX;
}

/* Whether all lines along dim are one element repeated, which PyTorch need not sort. */
static bool repeats(const TsrTensor *self, int64_t dim) {
    return tsr_ndim(self) > 0 && self->sizes[dim] != 1 && self->strides[dim] == 0;
}

static TsrStatus check_not_complex(const TsrTensor *self) {
    if (!tsr_dtype_is_complex(self->dtype)) return TSR_OK;
    return tsr_error(TSR_TYPE_ERROR, " Sort does not support complex dtypes on CPU");
}

static TsrStatus check_sortable(const TsrTensor *self, int64_t dim) {
    TSR_TRY(check_not_complex(self));
    if (tsr_ndim(self) == 0 || repeats(self, dim)) return TSR_OK;
    return tsr_require(TSR_BITS_USUAL | TSR_BITS_UINT | TSR_BIT(BOOL), self->dtype, "sorting_kernel_method_name");
}

static TsrStatus place_in_order(TsrTensor *values, TsrTensor *indices, const TsrTensor *self, int64_t dim) {
    TSR_OWNED places = NULL;
    TSR_OWNED wide = NULL;
    int64_t sizes[TSR_MAX_DIMS];
    for (int d = 0; d < tsr_ndim(self); d++) sizes[d] = d == dim ? self->sizes[d] : 1;
    TSR_TRY(tsr_invoke_new(&places, 1, "arange", "s", tsr_scalar_int(self->sizes[dim])));
    TSR_TRY(tsr_tensor_new_reshape(&wide, places, tsr_ndim(self), sizes));
    TSR_TRY(tsr_tensor_copy(indices, wide));
    return tsr_tensor_copy(values, self);
}

static TsrStatus sort_new(TsrTensor **values, TsrTensor **indices, const TsrTensor *self, int64_t dim, bool descending,
                          bool stable) {
    TSR_TRY(check_sortable(self, dim));
    TSR_TRY(tsr_tensor_new_like(values, self, TSR_DTYPE_NONE, TSR_PRESERVE));
    TsrStatus status = tsr_tensor_new_like(indices, self, TSR_INT64, TSR_PRESERVE);
    if (status != TSR_OK) {
        tsr_tensor_reset(values);
        return status;
    }
    if (self->numel > 0 && !tsr_is_meta(self) && repeats(self, dim)) {
        status = place_in_order(*values, *indices, self, dim);
    } else if (self->numel > 0 && tsr_on_device(self)) {
        status = tsr_sort_there(*values, *indices, self, dim, descending);
    } else if (self->numel > 0 && !tsr_is_meta(self)) {
        SortLine w = {.flip = descending, .stable = stable};
        int64_t base;
        status = is_long_line(self, stable, &base) ? sort_flat(*values, *indices, self, descending, base)
                                                   : tsr_sort_lines_run(*values, *indices, self, dim, sort_line, &w);
    }
    if (status == TSR_OK) return TSR_OK;
    tsr_tensor_reset(values);
    tsr_tensor_reset(indices);
    return status;
}

static TsrStatus sort_call(TsrOpCall *c, int64_t dim, bool descending, bool stable) {
    TsrTensor *self = c->arg[0].t, *values, *indices;
    TSR_TRY(tsr_wrap_dim(&dim, tsr_ndim(self)));
    TSR_TRY(check_not_complex(self));
    TSR_TRY(tsr_sort_check_outs(c, self));
    if (c->out[0] != NULL) TSR_TRY(tsr_iter_check_partial_overlap(c->out[0], self));
    TSR_TRY(sort_new(&values, &indices, self, dim, descending, stable));
    return tsr_return_move2(c, values, indices);
}

/* (self, dim, descending) and (self, *, stable, dim, descending) */
TsrStatus op_sort(TsrOpCall *c) { return sort_call(c, c->arg[1].i, c->arg[2].b, false); }
TsrStatus op_sort_stable(TsrOpCall *c) {
    return sort_call(c, c->arg[2].i, c->arg[3].b, tsr_arg_given(&c->arg[1]) && c->arg[1].b);
}

static TsrStatus argsort_call(TsrOpCall *c, int64_t dim, bool descending, bool stable) {
    TsrTensor *self = c->arg[0].t, *values, *indices;
    TSR_TRY(tsr_wrap_dim(&dim, tsr_ndim(self)));
    TSR_TRY(check_not_complex(self));
    TSR_TRY(tsr_check_out_dtype(c, 0, TSR_INT64));
    TSR_TRY(sort_new(&values, &indices, self, dim, descending, stable));
    tsr_tensor_free(values);
    return tsr_return_move(c, indices);
}

TsrStatus op_argsort(TsrOpCall *c) { return argsort_call(c, c->arg[1].i, c->arg[2].b, false); }
TsrStatus op_argsort_stable(TsrOpCall *c) { return argsort_call(c, c->arg[2].i, c->arg[3].b, c->arg[1].b); }

TsrStatus op_msort(TsrOpCall *c) {
    TsrTensor *values, *indices;
    if (!tsr_dtype_is_complex(c->arg[0].t->dtype)) {
        TSR_TRY(tsr_check_out_dtype(c, 0, c->arg[0].t->dtype));
        if (c->out[0] != NULL && tsr_same_sizes(c->out[0], c->arg[0].t))
            TSR_TRY(tsr_check_out_overlap(c->out[0], NULL));
    }
    TSR_TRY(sort_new(&values, &indices, c->arg[0].t, 0, false, false));
    tsr_tensor_free(indices);
    return tsr_return_move(c, values);
}

/* ---- topk ---- */

/* Few of many: the heap of partial_sort, fed block by block, so that only k pairs are ever held. */
enum { STREAM_BLOCK = 512 };

/* Offers the heap the m elements at src, the first of which has the index `at`. Their keys have `bits`. */
#define OFFER_BLOCK(bits) \
    static void offer_block##bits(TsrPair *heap, const SortLine *w, const char *src, int64_t stride, int64_t at, \
                                  int64_t m) { \
        uint##bits##_t keys[STREAM_BLOCK], \
            mask = w->flip ? UINT##bits##_MAX >> (bits - tsr_kernel_key_bits(w->dtype)) : 0; \
        tsr_kernel_keys##bits(w->dtype, src, stride, m, keys); \
        for (int64_t j = 0; \
             (j += tsr_kernel_first_below##bits(keys + j, m - j, mask, (uint##bits##_t)heap[0].key)) < m; j++) \
            tsr_kernel_heap_offer(heap, w->k, (TsrPair){keys[j] ^ mask, at + j}); \
    }
OFFER_BLOCK(32)
OFFER_BLOCK(64)

static void topk_stream(char *const *data, const int64_t *stride, const int64_t *n, const SortLine *w) {
    SortPairs p;
    if (!tsr_pairs_begin(&p, w->k, false, w)) return;
    tsr_pairs_load(p.a, data[2], stride[2], w->k, w);
    tsr_kernel_heap_start(p.a, w->k);
    const bool wide = tsr_dtype_size(w->dtype) > 4;
    for (int64_t i = w->k; i < n[2] && tsr_interrupt_flag == 0; i += STREAM_BLOCK)
        (wide ? offer_block64 : offer_block32)(p.a, w, data[2] + i * stride[2], stride[2], i,
                                               TSR_MIN(n[2] - i, STREAM_BLOCK));
    tsr_kernel_heap_finish(p.a, w->k);
    tsr_pairs_store(data, stride, p.a, w->k, tsr_dtype_size(w->dtype));
    tsr_pairs_end(&p);
}

enum { TOPK_LINE = 1024, TOPK_FEW = 32 };

/* The pairs in order of their keys; false where two keys are equal. */
static bool order_distinct(const TsrPair *found, TsrPair *ordered, int64_t n) {
    uint64_t taken = 0;
    for (int64_t i = 0; i < n; i++) {
        int64_t rank = 0;
        for (int64_t j = 0; j < n; j++) rank += found[j].key < found[i].key;
        ordered[rank] = found[i];
        taken |= UINT64_C(1) << rank;
    }
    return taken == (UINT64_C(1) << n) - 1;
}

/* A few floats of a short line, by the k-th key: how equal keys are ordered is PyTorch's algorithm's to say, so that it
 * is left to that one (false) where some of these are equal. Zen 5, before and so: 30 of 500 floats 2.7 and 1.3 us, 4
 * of 16 118 and 78 ns. Integers, of which many are equal, would take twice the time. */
static bool topk_of_distinct(char *const *data, const int64_t *stride, int64_t n, const SortLine *w) {
    if (!w->sorted || n > TOPK_LINE || w->k > TOPK_FEW || w->dtype != TSR_FLOAT32) return false;
    uint32_t keys[TOPK_LINE], spare[2 * TOPK_LINE];
    const uint32_t mask = w->flip ? UINT32_MAX : 0;
    TsrPair found[TOPK_FEW + 1], ordered[TOPK_FEW];
    int64_t kept = 0;
    tsr_kernel_keys32(w->dtype, data[2], stride[2], n, keys);
    for (int64_t i = 0; i < n; i++) keys[i] ^= mask;
    const uint32_t last = tsr_kernel_kth32(keys, spare, w->k - 1, n);
    for (int64_t i = 0; i < n; i++) {
        found[TSR_MIN(kept, w->k)] = (TsrPair){keys[i], i};
        kept += keys[i] <= last;
    }
    if (kept != w->k || !order_distinct(found, ordered, w->k)) return false;
    tsr_pairs_store(data, stride, ordered, w->k, tsr_dtype_size(w->dtype));
    return true;
}

static void topk_line(char *const *data, const int64_t *stride, const int64_t *n, const void *params) {
    const SortLine *w = params;
    SortPairs p;
    if (w->k * 64 <= n[2]) {
        topk_stream(data, stride, n, w);
        return;
    }
    if (topk_of_distinct(data, stride, n[2], w) || !tsr_pairs_begin(&p, n[2], false, w)) return;
    tsr_pairs_load(p.a, data[2], stride[2], n[2], w);
    tsr_kernel_nth_element(p.a, w->k - 1, n[2]);
    if (w->sorted) tsr_kernel_sort(p.a, w->k - 1);
    tsr_pairs_store(data, stride, p.a, w->k, tsr_dtype_size(w->dtype));
    tsr_pairs_end(&p);
}

TsrStatus op_topk(TsrOpCall *c) {
    TsrTensor *self = c->arg[0].t, *values, *indices;
    int64_t k = c->arg[1].i, dim = c->arg[2].i, sizes[TSR_MAX_DIMS];
    TSR_TRY(tsr_wrap_dim(&dim, tsr_ndim(self)));
    if (k < 0 || k > (tsr_ndim(self) > 0 ? self->sizes[dim] : 1))
        return tsr_error(TSR_RUNTIME_ERROR, "selected index k out of range");
    if (tsr_dtype_is_complex(self->dtype))
        return tsr_error(TSR_TYPE_ERROR, " topk does not support complex dtypes on CPU");
    if (self->dtype == TSR_BOOL && !tsr_is_meta(self))
        return tsr_error(TSR_NOT_IMPLEMENTED_ERROR, "topk does not support bool dtypes on CPU");
    TSR_TRY(tsr_sort_check_outs(c, self));
    if (c->out[0] != NULL) TSR_TRY(tsr_iter_check_partial_overlap(c->out[0], self));
    if (tsr_ndim(self) > 0 && !tsr_is_meta(self)) TSR_TRY(tsr_require(TSR_BITS_USUAL, self->dtype, "topk_cpu"));
    for (int d = 0; d < tsr_ndim(self); d++) sizes[d] = d == dim ? k : self->sizes[d];
    TSR_TRY(tsr_two_new(&values, &indices, self, tsr_ndim(self), sizes));
    if (tsr_is_meta(self)) return tsr_return_move2(c, values, indices);
    TsrStatus status = TSR_OK;
    if (tsr_on_device(self)) {
        if (values->numel > 0) status = tsr_sort_there(values, indices, self, dim, c->arg[3].b);
    } else if (tsr_ndim(self) == 0) {
        *(int64_t *)tsr_data(indices) = 0;
        status = tsr_tensor_copy(values, self);
    } else if (values->numel > 0) {
        SortLine w = {.k = k, .flip = c->arg[3].b, .sorted = c->arg[4].b};
        status = tsr_sort_lines_run(values, indices, self, dim, topk_line, &w);
    }
    return tsr_end_two_move(c, status, values, indices);
}
