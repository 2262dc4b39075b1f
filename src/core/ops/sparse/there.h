/* there.h: what reads or makes positions of sparse tensors of a device, out of operators and the primitives FLAT and
 * SPMM: the counterparts of the loops that the host runs. In each function *out is the caller's; tensors made lie where
 * the given ones do. A position outside is found when the device is waited for. */
#ifndef CORE_OPS_SPARSE_THERE_H
#define CORE_OPS_SPARSE_THERE_H

#include "core/engine/places.h"
#include "sparse.h"

/* tsr_sparse_flat_new. Declines sizes whose product is too large for an int64. */
TsrStatus tsr_sparse_flat_there_new(TsrTensor **out, const TsrTensor *t);
/* Row-major numbers of the columns of `indices`, int64, in sizes of which each is larger than the row's numbers. */
TsrStatus tsr_sparse_number_there_new(TsrTensor **out, const TsrTensor *indices, const int64_t *sizes);
/* The coalesced equal of a COO tensor whose entries have these flat positions: equal ones are added up in their order.
 */
TsrStatus tsr_sparse_coalesce_there_new(TsrTensor **out, TsrTensor *t, TsrTensor *flat);

/* Declines counts, one at least, that do not rise from 0 to nnz: the host says what is wrong with them. */
TsrStatus tsr_sparse_check_counts_there(TsrTensor *counts, int64_t nnz);
/* Row r of a compressed tensor has the entries counts[r] to counts[r + 1]: the row of each of `nnz` entries. */
TsrStatus tsr_sparse_rows_there_new(TsrTensor **out, TsrTensor *counts, int64_t nnz);
/* The other way: how many of the ascending `rows` come before each number from 0 to n. */
TsrStatus tsr_sparse_counts_there_new(TsrTensor **out, TsrTensor *rows, int64_t n);
/* The places (2, nnz) of blocks become those of their elements, block by block: (2, nnz * b0 * b1). */
TsrStatus tsr_sparse_split_there_new(TsrTensor **out, TsrTensor *indices, int64_t b0, int64_t b1);

/* Rows (2, n): which elements of `probe` are among the ascending `sorted`, and where. */
TsrStatus tsr_sparse_meet_there_new(TsrTensor **out, TsrTensor *probe, TsrTensor *sorted);
/* Rows (2, n): every pair of an entry of a and one of b, whose row is the column of the first; a and b are the indices
 * of coalesced matrices, `depth` the columns of a. */
TsrStatus tsr_sparse_pairs_there_new(TsrTensor **out, TsrTensor *a, TsrTensor *b, int64_t depth);
/* Rows (2, n): for each position in `index` the entries whose number in `row` it is, in their order: which position,
 * and which entry. The host's too. */
TsrStatus tsr_sparse_pick_new(TsrTensor **out, TsrTensor *row, TsrTensor *index);
/* A matrix of `rows` rows, whose entries lie in order of rows, times a dense one of its dtype. */
TsrStatus tsr_sparse_times_there_new(TsrTensor **out, const TsrTensor *counts, const TsrTensor *columns,
                                     const TsrTensor *values, const TsrTensor *dense, bool fused);
/* The same of a COO matrix, whose entries lie in any order. */
TsrStatus tsr_sparse_coo_times_there_new(TsrTensor **out, TsrTensor *a, TsrTensor *dense, bool fused);
/* Whether that product is SPMM's; else it is made of other operators. */
static inline bool tsr_sparse_has_product_there(const TsrTensor *t) { return tsr_on_device(t) && t->dtype != TSR_BOOL; }

/* The least and the largest number of each of the n rows of `t`, (n, more than 0), to the host. */
TsrStatus tsr_sparse_ends_there(int64_t *least, int64_t *largest, TsrTensor *t);

#endif
