/* lines.c: what sorting (sort.c) and order statistics (order.c) share (lines.h): one line of a tensor as (key, index)
 * pairs that compare as unsigned integers, and a run over all lines along a dimension. Lines of up to 64 elements need
 * no allocation. */
#include "lines.h"

#include <string.h>

#include "core/kernels/sort/keys.h"
#include "core/mem.h"
#include "core/op/shared.h"
#include "core/op/out.h"

bool tsr_pairs_begin(SortPairs *p, int64_t n, bool with_spare, const SortLine *w) {
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

void tsr_pairs_end(SortPairs *p) {
    if (p->a != p->local) tsr_free(p->a);
}

void tsr_pairs_load(TsrPair *a, const char *src, int64_t stride, int64_t n, const SortLine *w) {
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

void tsr_pairs_store(char *const *data, const int64_t *stride, const TsrPair *a, int64_t n, size_t item) {
    char *values = data[0], *indices = data[1];
    const char *src = data[2];
    const int64_t to_value = stride[0], to_index = stride[1], to_source = stride[2];
    for (int64_t i = 0; i < n && !tsr_interrupted_at(i); i++) {
        memcpy(values + i * to_value, src + a[i].index * to_source, item);
        *(int64_t *)(void *)(indices + i * to_index) = a[i].index;
    }
}

TsrStatus tsr_sort_lines_run(TsrTensor *values, TsrTensor *indices, const TsrTensor *self, int64_t dim, TsrLineFn fn,
                             SortLine *w) {
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

TsrStatus tsr_end_two_move(TsrOpCall *c, TsrStatus status, TsrTensor *values, TsrTensor *indices) {
    if (status == TSR_OK) return tsr_return_move2(c, values, indices);
    tsr_tensor_free(values);
    tsr_tensor_free(indices);
    return status;
}

TsrStatus tsr_two_new(TsrTensor **values, TsrTensor **indices, const TsrTensor *like, int ndim, const int64_t *sizes) {
    *indices = NULL;
    TSR_TRY(tsr_tensor_new(values, ndim, sizes, like->dtype, like->device));
    TsrStatus status = tsr_tensor_new(indices, ndim, sizes, TSR_INT64, like->device);
    if (status != TSR_OK) tsr_tensor_reset(values);
    return status;
}

TsrStatus tsr_sort_check_outs(const TsrOpCall *c, const TsrTensor *self) {
    TSR_TRY(tsr_check_out_dtype(c, 0, self->dtype));
    return tsr_check_out_dtype(c, 1, TSR_INT64);
}
