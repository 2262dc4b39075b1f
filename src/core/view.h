/* view.h: everything that returns an alias: O(1), same storage, shared version counter, weak link to the root.
 * In each, *out is the caller's and untouched on failure; `dim` may be negative; errors have PyTorch's texts. */
#ifndef TSR_VIEW_H
#define TSR_VIEW_H

#include "layout.h"
#include "tensor.h"

#pragma GCC visibility push(default)

/* A tensor's geometry for layout.h; lends its sizes and strides. */
static inline TsrGeometry tsr_tensor_geometry(const TsrTensor *t) { return (TsrGeometry){tsr_ndim(t), t->sizes, t->strides, t->offset, (int64_t)tsr_itemsize(t)}; }

TsrStatus tsr_tensor_new_alias(TsrTensor **out, const TsrTensor *self);
TsrStatus tsr_tensor_new_select(TsrTensor **out, const TsrTensor *self, int64_t dim, int64_t index);
TsrStatus tsr_tensor_new_narrow(TsrTensor **out, const TsrTensor *self, int64_t dim, int64_t start, int64_t length);
/* As self[..., start:end:step, ...] with Python's clamping; step > 0 ("slice step must be positive"). */
TsrStatus tsr_tensor_new_slice(TsrTensor **out, const TsrTensor *self, int64_t dim, int64_t start, int64_t end, int64_t step);
TsrStatus tsr_tensor_new_transpose(TsrTensor **out, const TsrTensor *self, int64_t dim0, int64_t dim1);
TsrStatus tsr_tensor_new_permute(TsrTensor **out, const TsrTensor *self, int n, const int64_t *dims);
TsrStatus tsr_tensor_new_unsqueeze(TsrTensor **out, const TsrTensor *self, int64_t dim);
TsrStatus tsr_tensor_new_squeeze(TsrTensor **out, const TsrTensor *self, int n, const int64_t *dims); /* n = -1: all */
TsrStatus tsr_tensor_new_expand(TsrTensor **out, const TsrTensor *self, int ndim, const int64_t *sizes);
/* view: TSR_RUNTIME_ERROR "view size is not compatible with input tensor's size and stride (at least one dimension spans across two contiguous subspaces). Use .reshape(...) instead." */
TsrStatus tsr_tensor_new_reshaped_view(TsrTensor **out, const TsrTensor *self, int ndim, const int64_t *sizes);
/* reshape: a view where possible, else a copy. */
TsrStatus tsr_tensor_new_reshape(TsrTensor **out, const TsrTensor *self, int ndim, const int64_t *sizes);
TsrStatus tsr_tensor_new_view_dtype(TsrTensor **out, const TsrTensor *self, TsrDtype dtype);
TsrStatus tsr_tensor_new_diagonal(TsrTensor **out, const TsrTensor *self, int64_t offset, int64_t dim1, int64_t dim2);
TsrStatus tsr_tensor_new_unfold(TsrTensor **out, const TsrTensor *self, int64_t dim, int64_t size, int64_t step);
TsrStatus tsr_tensor_new_as_strided(TsrTensor **out, const TsrTensor *self, int ndim, const int64_t *sizes, const int64_t *strides, int64_t offset);
TsrStatus tsr_tensor_new_real(TsrTensor **out, const TsrTensor *self);
TsrStatus tsr_tensor_new_imag(TsrTensor **out, const TsrTensor *self);
TsrStatus tsr_tensor_new_conj(TsrTensor **out, const TsrTensor *self);  /* lazy: flips TSR_FLAG_CONJ */

/* self itself, retained, when already contiguous in `format`, else a copy (conj and neg resolved). */
TsrStatus tsr_tensor_new_contiguous(TsrTensor **out, const TsrTensor *self, TsrMemoryFormat format);
TsrStatus tsr_tensor_new_clone(TsrTensor **out, const TsrTensor *self, TsrMemoryFormat format); /* TSR_PRESERVE as PyTorch's default */
/* self retained when it is of that dtype already, else a converted copy preserving format. */
TsrStatus tsr_tensor_new_cast(TsrTensor **out, const TsrTensor *self, TsrDtype dtype);
/* self retained when neither conj nor neg is set, else a materialised copy. */
TsrStatus tsr_tensor_new_resolved(TsrTensor **out, const TsrTensor *self);
/* dst[...] = src: broadcasts, converts dtype, resolves conj/neg, handles overlap (a temporary copy where they overlap partially).
 * Implemented on iter.h. Does not bump the version. */
TsrStatus tsr_tensor_copy(TsrTensor *dst, const TsrTensor *src);
TsrStatus tsr_tensor_fill(TsrTensor *dst, TsrScalar value); /* checked conversion as PyTorch's fill_ */

#pragma GCC visibility pop

#endif
