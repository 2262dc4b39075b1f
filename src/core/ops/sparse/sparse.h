/* sparse.h: tensors in sparse layouts: made, converted, and what ordinary operators do with them.
 *
 * COO: indices is (sparse_dim, nnz) int64, values is (nnz, dense sizes...). A coalesced tensor (TSR_FLAG_COALESCED) has
 * its indices in row-major order, each once; otherwise entries at the same place add up. Compressed (CSR, CSC, BSR,
 * BSC): `indices` counts the entries of the rows (or columns), `plain_indices` has the other coordinate, values follow,
 * in blocks for BSR and BSC. Sparse tensors have no storage; no kernel of the dense operators ever sees one: op.c runs
 * what the row's column `.sparse` names instead (core/op/sparse.h). Indices given by the user are not checked when a
 * tensor is made (PyTorch does not either) but wherever they are used. In each function *out is the caller's. */
#ifndef CORE_OPS_SPARSE_SPARSE_H
#define CORE_OPS_SPARSE_SPARSE_H

#include "core/op/compose.h"

/* The positions of a COO tensor's entries, dense and of int64: coordinate d of entry i is at[d * n + i]. Lent. */
typedef struct TsrEntries {
    const int64_t *at;
    int64_t n;
} TsrEntries;

/* What a sparse tensor is made of, lent; `plain` is NULL for COO. */
typedef struct TsrSparseParts {
    uint8_t layout;
    TsrTensor *indices, *plain, *values;
    bool coalesced;
} TsrSparseParts;

static inline TsrSparseParts tsr_coo_parts(TsrTensor *indices, TsrTensor *values, bool coalesced) {
    return (TsrSparseParts){TSR_SPARSE_COO, indices, NULL, values, coalesced};
}
static inline TsrSparseParts tsr_compressed_parts(uint8_t layout, TsrTensor *compressed, TsrTensor *plain,
                                                  TsrTensor *values) {
    return (TsrSparseParts){layout, compressed, plain, values, false};
}

/* Retains the parts. Lazy conj and neg bits of the values are resolved. Nothing is checked. */
TsrStatus tsr_sparse_new(TsrTensor **out, int ndim, const int64_t *sizes, TsrSparseParts parts);
/* torch.sparse_coo_tensor: checks shapes, not positions. ndim -1: sizes are the smallest that hold the indices. */
TsrStatus tsr_sparse_coo_new(TsrTensor **out, TsrTensor *indices, TsrTensor *values, int ndim, const int64_t *sizes,
                             bool coalesced);
/* torch.sparse_compressed_tensor; ndim -1: sizes as the indices need them. */
TsrStatus tsr_sparse_compressed_new(TsrTensor **out, int ndim, const int64_t *sizes, TsrSparseParts parts);
/* check_invariants=True: whether the parts of t fit each other and its positions are in range, in order, and each there
 * once. PyTorch's errors. */
TsrStatus tsr_sparse_check(const TsrTensor *t);
/* All zeros, nothing stored. */
TsrStatus tsr_sparse_zeros_new(TsrTensor **out, uint8_t layout, int ndim, const int64_t *sizes, TsrDtype dtype,
                               TsrDevice device);
/* The number of stored entries (or blocks) of one batch. */
int64_t tsr_sparse_nnz(const TsrTensor *t);
/* t itself, retained, or its coalesced equal. COO only. */
TsrStatus tsr_sparse_coalesce_new(TsrTensor **out, TsrTensor *t);
/* Row-major dense copy of any layout; a strided tensor is retained. TSR_INDEX_ERROR where a stored position lies
 * outside. */
TsrStatus tsr_sparse_to_dense_new(TsrTensor **out, TsrTensor *t);
TsrStatus tsr_compressed_to_dense_new(TsrTensor **out, TsrTensor *t); /* its part for compressed layouts */
/* Where each row (or column) of a compressed tensor without batches begins among its entries, as int64, once they and
 * the shapes are checked. */
TsrStatus tsr_compressed_counts_new(TsrTensor **out, TsrTensor *t);
/* Nonzero elements (for sparse_dim < ndim: slices) of a strided tensor, coalesced. */
TsrStatus tsr_sparse_from_dense_new(TsrTensor **out, TsrTensor *t, int64_t sparse_dim);
/* COO of any layout without batches; COO is retained. */
TsrStatus tsr_sparse_to_coo_new(TsrTensor **out, TsrTensor *t);
/* Strided, COO or compressed to a compressed layout. blocksize (2) for BSR, BSC, else NULL. */
TsrStatus tsr_sparse_to_compressed_new(TsrTensor **out, TsrTensor *t, uint8_t layout, const int64_t *blocksize,
                                       int64_t dense_dim);
/* Like `t` with other values, of any dtype. */
TsrStatus tsr_sparse_with_values_new(TsrTensor **out, const TsrTensor *t, TsrTensor *values);
/* The positions of COO entries as row-major numbers over the sparse dimensions: (nnz) int64, checked against the sizes.
 */
TsrStatus tsr_sparse_flat_new(TsrTensor **out, const TsrTensor *t);
/* Adds values[i] to target[position[i]] along dimension 0 and gives the result, a fresh tensor; or for bool. */
TsrTensor *tsr_sparse_add_at(TsrScope *s, TsrTensor *target, TsrTensor *positions, TsrTensor *values);
/* Two dimensions swapped, of any layout; and one of size 1 put in before `dim`, COO only. Dimensions may be negative.
 */
TsrStatus tsr_sparse_transpose_new(TsrTensor **out, TsrTensor *t, int64_t dim0, int64_t dim1);
TsrStatus tsr_sparse_unsqueeze_new(TsrTensor **out, TsrTensor *t, int64_t dim);
/* The `n` rows of COO indices that `rows` numbers. */
TsrStatus tsr_sparse_pick_rows_new(TsrTensor **out, TsrTensor *indices, int n, const int64_t *rows);
/* The COO result of a step of a scope in the layout of `like`, when that is compressed: in CSC for CSC, else in CSR. */
TsrTensor *tsr_sparse_as_layout(TsrScope *s, TsrTensor *coo, const TsrTensor *like);
static inline bool tsr_is_coo(const TsrTensor *t) { return t->layout == TSR_SPARSE_COO; }
static inline bool tsr_is_compressed(const TsrTensor *t) { return t->layout > TSR_SPARSE_COO; }

#endif
