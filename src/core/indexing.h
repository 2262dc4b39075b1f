/* indexing.h: advanced indexing: tensors of positions or masks as subscripts (x[i, j], x[mask] = v).
 *
 * `indices` has n entries, one per dimension of self from the first; NULL stands for a full slice. An
 * index is int64, int32 (positions, negative ones count from the end) or bool, uint8 (a mask, which
 * spans as many dimensions as it has). Indices broadcast together; when those given are adjacent their
 * broadcast shape replaces their dimensions in place, otherwise it comes first (PyTorch's rule).
 * Errors: TSR_INDEX_ERROR "index 5 is out of bounds for dimension 0 with size 3", "The shape of the mask
 * [2] at index 0 does not match the shape of the indexed tensor [3] at index 0", "too many indices for
 * tensor of dimension 1", "shape mismatch: indexing tensors could not be broadcast together with shapes
 * [2], [3]". */
#ifndef TSR_INDEXING_H
#define TSR_INDEXING_H

#include "tensor.h"

TSR_PUBLIC_BEGIN

/* self[indices]: always a copy. *out is the caller's. With every entry NULL: a copy of self. */
TsrStatus tsr_index_new(TsrTensor **out, const TsrTensor *self, int n, TsrTensor *const *indices);
/* self[indices] = value, value broadcast to the indexed shape; accumulate adds instead (repeated positions
 * add up). value has self's dtype ("Index put requires the source and destination dtypes match, got Float
 * for the destination and Long for the source."). Does not bump self's version. */
TsrStatus tsr_index_put(TsrTensor *self, int n, TsrTensor *const *indices, const TsrTensor *value, bool accumulate);
/* That neither the value nor an index (entries may be NULL) lies in the memory of self, which is to be written:
 * PyTorch's error. */
TsrStatus tsr_index_check_apart(const TsrTensor *self, int n, TsrTensor *const *indices, const TsrTensor *value);
/* Whether a mask fits self's dimensions from `dim` on: "The shape of the mask [2] at index 0 does not match ...". */
TsrStatus tsr_index_check_mask(const TsrTensor *self, const TsrTensor *mask, int dim);
/* The positions of the nonzero elements of self: (count, ndim) int64, column-major as PyTorch's CPU gives it. */
TsrStatus tsr_nonzero_new(TsrTensor **out, const TsrTensor *self);

TSR_PUBLIC_END

#endif
