/* view.h: everything that returns an alias: O(1), same storage, shared version counter, weak link to the root.
 * In each, *out is the caller's and untouched on failure; `dim` may be negative; errors have PyTorch's texts. */
#ifndef TSR_VIEW_H
#define TSR_VIEW_H

#include "layout.h"
#include "tensor.h"

TSR_PUBLIC_BEGIN

/* The bytes that t reaches in its storage; the arrays are t's own, lent. */
static inline TsrFootprint tsr_tensor_footprint(const TsrTensor *t) {
    TsrFootprint f = {tsr_tensor_geometry(t), (int64_t)tsr_itemsize(t)};
    return f;
}

/* Whether both show the same memory in the same shape and strides, be it as elements of another dtype of that size. */
bool tsr_is_same_view(const TsrTensor *a, const TsrTensor *b);
/* Whether a and b share memory at different positions, so that writing one while reading the other depends on the order
 * of elements. False of one view with itself. */
bool tsr_overlaps_elsewhere(const TsrTensor *a, const TsrTensor *b);
/* Such a copy proceeds as PyTorch's does: that many bytes of a dense line are read before they are written, and the
 * rest of the line goes element by element. */
enum { TSR_ORDER_STEP = 64 };

/* All of self; `_base` is self's root. */
TsrStatus tsr_tensor_new_alias(TsrTensor **out, const TsrTensor *self);
/* self[..., index, ...]: without dimension `dim`. A negative index counts from the end. TSR_INDEX_ERROR. */
TsrStatus tsr_tensor_new_select(TsrTensor **out, const TsrTensor *self, int64_t dim, int64_t index);
/* self[..., start:start + length, ...]. TSR_INDEX_ERROR for `dim` and for `start`, TSR_RUNTIME_ERROR where the range
 * does not fit. */
TsrStatus tsr_tensor_new_narrow(TsrTensor **out, const TsrTensor *self, int64_t dim, int64_t start, int64_t length);
/* As self[..., start:end:step, ...] with Python's clamping; step > 0 ("slice step must be positive"). */
TsrStatus tsr_tensor_new_slice(TsrTensor **out, const TsrTensor *self, int64_t dim, int64_t start, int64_t end,
                               int64_t step);
/* Dimensions dim0 and dim1 change places. */
TsrStatus tsr_tensor_new_transpose(TsrTensor **out, const TsrTensor *self, int64_t dim0, int64_t dim1);
/* Dimension i is self's dims[i]; n must be self's number of dimensions, each there once. */
TsrStatus tsr_tensor_new_permute(TsrTensor **out, const TsrTensor *self, int n, const int64_t *dims);
/* A size of 1 before `dim`, which counts in the result's dimensions. */
TsrStatus tsr_tensor_new_unsqueeze(TsrTensor **out, const TsrTensor *self, int64_t dim);
/* Without those of the n dimensions `dims` whose size is 1; n = -1: without all such. */
TsrStatus tsr_tensor_new_squeeze(TsrTensor **out, const TsrTensor *self, int n, const int64_t *dims);
/* The type as messages name it, written to `out` and returned: "torch.FloatTensor" for the types that torch7 had,
 * "CPUBFloat16Type" for others. */
const char *tsr_old_type_text(char *out, size_t room, const TsrTensor *t);
/* Sizes of 1 repeated by a stride of 0; -1 keeps a size. New dimensions come first. */
TsrStatus tsr_tensor_new_expand(TsrTensor **out, const TsrTensor *self, int ndim, const int64_t *sizes);
/* view(sizes), one of which may be -1: TSR_RUNTIME_ERROR "view size is not compatible with input tensor's size and
 * stride (at least one dimension spans across two contiguous subspaces). Use .reshape(...) instead." */
TsrStatus tsr_tensor_new_reshaped_view(TsrTensor **out, const TsrTensor *self, int ndim, const int64_t *sizes);
/* The same bytes as another dtype; the last size scales when the itemsize changes. TSR_RUNTIME_ERROR where strides or
 * offset do not divide. */
TsrStatus tsr_tensor_new_view_dtype(TsrTensor **out, const TsrTensor *self, TsrDtype dtype);
/* The diagonal of dimensions dim1 and dim2, `offset` above the main one, as the last dimension. */
TsrStatus tsr_tensor_new_diagonal(TsrTensor **out, const TsrTensor *self, int64_t offset, int64_t dim1, int64_t dim2);
/* Every window of `size` elements along `dim`, `step` apart; the windows' elements are a new last dimension. */
TsrStatus tsr_tensor_new_unfold(TsrTensor **out, const TsrTensor *self, int64_t dim, int64_t size, int64_t step);
/* Any geometry over self's storage; offset from the storage's start. Checked as tsr_tensor_new_over. */
TsrStatus tsr_tensor_new_as_strided(TsrTensor **out, const TsrTensor *self, TsrGeometry g);
TsrStatus tsr_tensor_new_real(TsrTensor **out, const TsrTensor *self); /* a real one: self itself, retained */
TsrStatus tsr_tensor_new_imag(TsrTensor **out, const TsrTensor *self); /* TSR_TYPE_ERROR for a real tensor */
/* Lazy: a view with TSR_FLAG_CONJ flipped; of a real tensor self itself, retained. */
TsrStatus tsr_tensor_new_conj(TsrTensor **out, const TsrTensor *self);

/* --- aliases where possible, else copies (copy.c) --- */
/* reshape(sizes): a view where possible, else a copy. */
TsrStatus tsr_tensor_new_reshape(TsrTensor **out, const TsrTensor *self, int ndim, const int64_t *sizes);
/* self itself, retained, when already contiguous in `format`, else a copy (conj and neg resolved). */
TsrStatus tsr_tensor_new_contiguous(TsrTensor **out, const TsrTensor *self, TsrMemoryFormat format);
/* Always a copy; TSR_PRESERVE keeps the strides of a dense tensor, as PyTorch's clone() does. */
TsrStatus tsr_tensor_new_clone(TsrTensor **out, const TsrTensor *self, TsrMemoryFormat format);
/* self retained when it is of that dtype already, else a converted copy preserving format. */
TsrStatus tsr_tensor_new_cast(TsrTensor **out, const TsrTensor *self, TsrDtype dtype);
/* self retained when neither conj nor neg is set, else a materialised copy. */
TsrStatus tsr_tensor_new_resolved(TsrTensor **out, const TsrTensor *self);
/* dst[...] = src: broadcasts, converts dtype, resolves conj/neg; where the two overlap, element after element.
 * RuntimeError where PyTorch refuses that. Implemented on iter.h. Does not bump the version. */
TsrStatus tsr_tensor_copy(TsrTensor *dst, const TsrTensor *src);
/* As tsr_tensor_copy, but between a device and pinned memory of the host, where the elements lie alike, it returns
 * before it is done (non_blocking=True): it is done in the order of the device's current stream. */
TsrStatus tsr_tensor_copy_later(TsrTensor *dst, const TsrTensor *src);
/* The same with each dimension whose bit is set in `dims` read from its end. The two have the same sizes and do not
 * overlap. */
TsrStatus tsr_tensor_copy_flipped(TsrTensor *dst, const TsrTensor *src, uint64_t dims);
/* Every element becomes `value`; TSR_RUNTIME_ERROR when it does not fit dst's dtype. Does not bump the version. */
TsrStatus tsr_tensor_fill(TsrTensor *dst, TsrScalar value);

TSR_PUBLIC_END

#endif
