/* cusparse.h: our declarations of what the plugin uses of cuSPARSE, from its documented interface; the pretended
 * library of the simulated device has the same. */
#ifndef CUDA_CUSPARSE_H
#define CUDA_CUSPARSE_H

#include <stddef.h>
#include <stdint.h>

typedef struct SparseHandleBody *SparseHandle;
typedef struct SparseMatrixBody *SparseMatrix; /* by rows: where each begins, columns, values */
typedef struct SparseDenseBody *SparseDense;

/* Types of elements (cudaDataType) and of indices; the order of a dense matrix; a factor as it is; and the way whose
 * sums have the same digits in every run. */
enum { SPARSE_F32 = 0, SPARSE_F64 = 1, SPARSE_F16 = 2, SPARSE_C32 = 4, SPARSE_C64 = 5, SPARSE_BF16 = 14 };
enum { SPARSE_INT64 = 3, SPARSE_FROM_ZERO = 0, SPARSE_BY_ROWS = 2, SPARSE_AS_IS = 0, SPARSE_SAME_DIGITS = 12 };

#endif
