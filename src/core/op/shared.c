/* Checks and allocations that operator functions share. */
#include "shared.h"

#include <string.h>

#include "core/engine/fast.h"
#include "core/kernels/move/select.h"
#include "core/mem.h"
#include "core/tensor/owned.h"
#include "core/tensor/tensor_impl.h"

TsrTensor *tsr_spare(const TsrOpCall *c) {
    return c->spent && c->out[0] == NULL && c->arg[0].kind == TSR_ARG_TENSOR && tsr_fast_reusable(c->arg[0].t)
               ? c->arg[0].t
               : NULL;
}

TsrStatus tsr_unexpected_dtype(TsrDtype wanted, TsrDtype found) {
    return tsr_error(TSR_RUNTIME_ERROR, "expected scalar type %s but found %s", tsr_dtype_scalar_name(wanted),
                     tsr_dtype_scalar_name(found));
}

TsrStatus tsr_not_implemented(const char *kernel, TsrDtype dtype) {
    return tsr_error(TSR_NOT_IMPLEMENTED_ERROR, "\"%s\" not implemented for '%s'", kernel,
                     tsr_dtype_scalar_name(dtype));
}

TsrStatus tsr_untrue(const char *condition) {
    return tsr_error(
        TSR_RUNTIME_ERROR,
        "Expected %s to be true, but got false.  (Could this error message be improved?  If so, please report an "
        "enhancement request to PyTorch.)",
        condition);
}

TsrStatus tsr_refuse_wrapped(const char *name, int n, const int64_t *sizes) {
    const int64_t elements_at_most = INT64_MAX / 16; /* of the largest dtype */
    int64_t numel;
    TSR_TRY(tsr_layout_check_symbolic(n, sizes));
    TSR_TRY(tsr_layout_numel(&numel, n, sizes));
    if (numel > elements_at_most)
        return tsr_error(TSR_RUNTIME_ERROR, "Storage size calculation overflowed with sizes=%s",
                         tsr_layout_text(n, sizes));
    return tsr_error(TSR_RUNTIME_ERROR, "%s: the result's size overflows", name);
}

TsrStatus tsr_check_no_overlap(const TsrTensor *w, const TsrTensor *r) {
    if (w != r) {
        if (w->storage == NULL || w->storage != r->storage || w->numel == 0 || r->numel == 0) return TSR_OK;
        if (!tsr_is_dense(w) || !tsr_is_dense(r)) return TSR_OK; /* PyTorch calls these too hard and lets them pass */
    }
    int64_t w0 = w->offset * (int64_t)tsr_itemsize(w), r0 = r->offset * (int64_t)tsr_itemsize(r);
    int64_t w1 = w0 + w->numel * (int64_t)tsr_itemsize(w), r1 = r0 + r->numel * (int64_t)tsr_itemsize(r);
    if (w != r && (w1 <= r0 || r1 <= w0)) return TSR_OK;
    return tsr_refuse_overlap();
}

TsrStatus tsr_check_out_overlap(const TsrTensor *out, const TsrTensor *input) {
    if (out == NULL) return TSR_OK;
    TSR_TRY(tsr_check_no_internal_overlap(out));
    return input == NULL ? TSR_OK : tsr_check_no_overlap(out, input);
}

TsrStatus tsr_edit_new(TsrTensor **out, const TsrOpCall *c, const TsrTensor *self, TsrMemoryFormat format) {
    if (!c->inplace) return tsr_tensor_new_clone(out, self, format);
    TSR_TRY(tsr_check_no_internal_overlap(c->out[0]));
    *out = tsr_tensor_retain(c->out[0]);
    return TSR_OK;
}

TsrStatus tsr_edit_dense_new(TsrTensor **out, const TsrOpCall *c, const TsrTensor *self) {
    if (!c->inplace || !tsr_is_contiguous(c->out[0], TSR_CONTIGUOUS))
        return tsr_tensor_new_clone(out, self, TSR_CONTIGUOUS);
    *out = tsr_tensor_retain(c->out[0]);
    return TSR_OK;
}

TsrStatus tsr_at_least_1d_new(TsrTensor **out, const TsrTensor *t) {
    if (tsr_ndim(t) > 0) {
        *out = tsr_tensor_retain((TsrTensor *)t);
        return TSR_OK;
    }
    return tsr_tensor_new_unsqueeze(out, t, 0);
}

TsrMemoryFormat tsr_suggested_format(const TsrTensor *t) {
    int n = tsr_ndim(t);
    if (t->layout != TSR_STRIDED || !tsr_layout_is_channels_last_strides(n, t->sizes, t->strides))
        return TSR_CONTIGUOUS;
    return n == 4 ? TSR_CHANNELS_LAST : TSR_CHANNELS_LAST_3D;
}

TsrStatus tsr_dense_new(TsrTensor **out, const TsrTensor *t, TsrDtype dtype) {
    TSR_OWNED cast = NULL;
    TSR_TRY(tsr_tensor_new_cast(&cast, t, dtype));
    return tsr_tensor_new_contiguous(out, cast, TSR_CONTIGUOUS);
}

TsrStatus tsr_list_new(TsrTensor ***out, int64_t n) {
    if (n >= INT64_C(1) << 60) return tsr_error(TSR_RUNTIME_ERROR, "cannot create std::vector larger than max_size()");
    *out = n > INT32_MAX ? NULL : tsr_calloc((size_t)TSR_MAX(n, 1), sizeof **out);
    return *out != NULL ? TSR_OK : tsr_error_no_memory((size_t)n * sizeof **out);
}

void tsr_list_free(TsrTensor **list, int64_t n) {
    for (int64_t i = 0; i < n; i++) tsr_tensor_free(list[i]);
    tsr_free(list);
}

TsrStatus tsr_return_made_list_move(TsrOpCall *c, TsrStatus status, TsrTensor **list, int64_t n) {
    if (status != TSR_OK) {
        tsr_list_free(list, n);
        return status;
    }
    c->ret[0] = (TsrArg){.kind = TSR_ARG_TENSORS, .n = (int)n, .tensors = list};
    c->nret = 1;
    return TSR_OK;
}

TsrStatus tsr_return_list_move(TsrOpCall *c, TsrTensor **tensors, int n) {
    TsrTensor **list;
    TsrStatus status = tsr_list_new(&list, n);
    if (status != TSR_OK) {
        tsr_free_all(tensors, n);
        return status;
    }
    if (n > 0) memcpy(list, tensors, sizeof *list * (size_t)n);
    return tsr_return_made_list_move(c, TSR_OK, list, n);
}

TsrStatus tsr_zeros_new(TsrTensor **out, int ndim, const int64_t *sizes, TsrDtype dtype, TsrDevice device) {
    TSR_TRY(tsr_tensor_new(out, ndim, sizes, dtype, device));
    TsrStatus status = tsr_tensor_fill(*out, tsr_scalar_int(0));
    if (status != TSR_OK) tsr_tensor_reset(out);
    return status;
}

void tsr_free_all(TsrTensor **tensors, int n) {
    for (int i = 0; i < n; i++) tsr_tensor_free(tensors[i]);
}

bool tsr_same_sizes(const TsrTensor *a, const TsrTensor *b) {
    return tsr_ndim(a) == tsr_ndim(b) && memcmp(a->sizes, b->sizes, sizeof(int64_t) * (size_t)tsr_ndim(a)) == 0;
}

const char *tsr_sizes_text(const TsrTensor *t) { return tsr_layout_text(tsr_ndim(t), t->sizes); }

bool tsr_positions_valid(const TsrTensor *index, int64_t bound, int64_t *bad) {
    const int64_t *p = tsr_data(index);
    if (tsr_kernel_in_range(p, index->numel, bound)) return true;
    for (int64_t i = 0; i < index->numel; i++)
        if (TSR_UNLIKELY(p[i] < 0 || p[i] >= bound)) {
            *bad = p[i];
            return false;
        }
    return true;
}
