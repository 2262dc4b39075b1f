/* few.h: products of a few rows with a float32 matrix, which is read once from where it lies: BLAS packs it first,
 * which takes longer than the product. Each element is a chain of fused multiplications and additions, or, of more than
 * TSR_CHAIN_DEPTH terms, the sum of chains of TSR_FEW_DEPTH, one added after the other. */
#ifndef CORE_KERNELS_MATRIX_FEW_H
#define CORE_KERNELS_MATRIX_FEW_H

#include "chain.h"

/* Rows that a product may have; columns that a call computes; terms to a chain, as many as MKL takes on processors of
 * AMD from four rows on, whose digits these then are. */
enum { TSR_FEW_ROWS = 8, TSR_FEW_COLS = 384, TSR_FEW_DEPTH = 192 };

/* Computes columns [begin, end) of c, at most TSR_FEW_COLS, of any number of terms; `begin` of the product is
 * TSR_CHAIN_NEW or TSR_CHAIN_ADDED. Rows or columns of b are neighbours. */
typedef void (*TsrFewFn)(const TsrChain *chain, int64_t begin, int64_t end);

/* As this CPU has it; NULL where it has no fused multiplication and addition. */
TsrFewFn tsr_few_kernel(void);

#endif
