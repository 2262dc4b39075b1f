/* indexing.h: x[...] and x[...] = v.
 *
 * tsr_index_get_new and tsr_index_set take an index as it stands between brackets, an array of entries:
 *
 *     x[1:, None, 0] = 2      TsrIndexEntry at[] = {tsr_entry_slice(1, INT64_MAX, 1), {.kind = TSR_ENTRY_NEW_AXIS},
 *                                                   tsr_entry_int(0)};
 *                             TsrScalar two = tsr_scalar_int(2);
 *                             tsr_index_set(x, at, 3, NULL, &two);
 *
 * Entries are applied from the left, and the first that does not fit is the error. Errors: TSR_INDEX_ERROR "too many
 * indices for tensor of dimension 1", "index 5 is out of bounds for dimension 0 with size 3", "invalid index of a 0-dim
 * tensor. ...", "slice() cannot be applied to a 0-dim tensor."; TSR_VALUE_ERROR "step must be greater than zero".
 *
 * The functions below those are advanced indexing alone: tensors of positions or masks (x[i, j], x[mask] = v).
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

typedef enum TsrIndexKind {
    TSR_ENTRY_INT,      /* selects a position and removes the dimension; negative ones count from the end */
    TSR_ENTRY_SLICE,    /* start:stop:step of a dimension, clamped as Python's are */
    TSR_ENTRY_ELLIPSIS, /* the dimensions that no other entry is for, whole; may be none */
    TSR_ENTRY_NEW_AXIS, /* None: a new dimension of size 1 */
    TSR_ENTRY_BOOL,     /* a new dimension of size 1 (true) or 0 (false); the result is a copy, as of a tensor */
    TSR_ENTRY_TENSOR,   /* int64, int32: positions; bool, uint8: a mask; with no dimension: an integer or a bool */
    TSR_ENTRY_SEQUENCE, /* a tensor made from a sequence: as TENSOR, but a mask counts as one dimension against "too
                           many indices", as PyTorch counts lists */
    TSR_ENTRY_FAILED    /* the caller could not make this entry and has set the error: it is returned once the entries
                           before it have been applied; those after it only count */
} TsrIndexKind;

/* One entry. Its tensor is lent for the call. */
typedef struct TsrIndexEntry {
    TsrIndexKind kind;
    union {
        int64_t i;
        bool b;
        struct {
            int64_t start, stop, step; /* a part left out is 0, INT64_MAX, 1 */
        } slice;
        TsrTensor *tensor;
        TsrStatus failure;
    };
} TsrIndexEntry;

static inline TsrIndexEntry tsr_entry_int(int64_t i) {
    TsrIndexEntry e;
    e.kind = TSR_ENTRY_INT;
    e.i = i;
    return e;
}
static inline TsrIndexEntry tsr_entry_bool(bool b) {
    TsrIndexEntry e;
    e.kind = TSR_ENTRY_BOOL;
    e.b = b;
    return e;
}
static inline TsrIndexEntry tsr_entry_slice(int64_t start, int64_t stop, int64_t step) {
    TsrIndexEntry e;
    e.kind = TSR_ENTRY_SLICE;
    e.slice.start = start;
    e.slice.stop = stop;
    e.slice.step = step;
    return e;
}
static inline TsrIndexEntry tsr_entry_tensor(TsrTensor *t) {
    TsrIndexEntry e;
    e.kind = TSR_ENTRY_TENSOR;
    e.tensor = t;
    return e;
}
static inline TsrIndexEntry tsr_entry_failed(TsrStatus failure) {
    TsrIndexEntry e;
    e.kind = TSR_ENTRY_FAILED;
    e.failure = failure;
    return e;
}

/* self[entries]: a view of self, or a copy where bools or tensors with dimensions take part. *out is the caller's. n =
 * 1 is x[e], whose errors on a 0-d tensor differ from those of x[e, ]; more than TSR_MAX_DIMS are too many. Sparse
 * tensors take integers, new axes and whole slices; TSR_NOT_IMPLEMENTED_ERROR for the rest. */
TsrStatus tsr_index_get_new(TsrTensor **out, TsrTensor *self, const TsrIndexEntry *entries, int n);
/* self[entries] = value, which is converted and broadcast; or = *number where `value` is NULL; not both
 * are. Counts as one write to
 * self's version. TSR_TYPE_ERROR for a sparse self; RuntimeError where value and place overlap without being the same.
 * Positions before one that is out of bounds may have been written, as PyTorch leaves it. */
TsrStatus tsr_index_set(TsrTensor *self, const TsrIndexEntry *entries, int n, TsrTensor *value,
                        const TsrScalar *number);
/* The view that tsr_index_set writes into, or that its tensors pick from (*picks). *out is the caller's: it may be self
 * itself, retained. Errors as above. */
TsrStatus tsr_index_place_new(TsrTensor **out, bool *picks, TsrTensor *self, const TsrIndexEntry *entries, int n);

/* self[indices]: always a copy. *out is the caller's. With every entry NULL: a copy of self. */
TsrStatus tsr_index_new(TsrTensor **out, const TsrTensor *self, int n, TsrTensor *const *indices);
/* self[indices] = value, value broadcast to the indexed shape; accumulate adds instead (repeated positions
 * add up). value has self's dtype ("Index put requires the source and destination dtypes match, got Float
 * for the destination and Long for the source."). Does not bump self's version. */
TsrStatus tsr_index_put(TsrTensor *self, int n, TsrTensor *const *indices, const TsrTensor *value, bool accumulate);
/* That neither the value nor an index (entries and value may be NULL) lies in the memory of self, which is to be
 * written: PyTorch's error. On the meta device nothing is looked at. */
TsrStatus tsr_index_check_apart(const TsrTensor *self, int n, TsrTensor *const *indices, const TsrTensor *value);
/* Whether a mask fits self's dimensions from `dim` on: "The shape of the mask [2] at index 0 does not match ...". */
TsrStatus tsr_index_check_mask(const TsrTensor *self, const TsrTensor *mask, int dim);
/* That t's storage has room for `count` rows that all lie where the first one would: PyTorch's index_fill_ of a tensor
 * without rows, which looks at memory before positions. */
TsrStatus tsr_index_check_rows(const TsrTensor *t, int64_t dim, int64_t count);
/* The positions of the nonzero elements of self: (count, ndim) int64, column-major as PyTorch's CPU gives it. */
TsrStatus tsr_nonzero_new(TsrTensor **out, const TsrTensor *self);
/* That PyTorch counts elements of self's dtype, else TSR_NOT_IMPLEMENTED_ERROR. */
TsrStatus tsr_nonzero_check(const TsrTensor *self);

TSR_PUBLIC_END

#endif
