/* complex_block.h: some lines of a product of complex64 matrices, eight columns wide, in MKL's order of additions: the
 * sums with a's real parts and those with its imaginary ones are kept apart, fused, and combined at the end. */
#ifndef CORE_KERNELS_MATRIX_COMPLEX_BLOCK_H
#define CORE_KERNELS_MATRIX_COMPLEX_BLOCK_H

#include "core/dtype.h"

/* The columns of a block, and the most lines: of AVX2, twelve vectors of sums beside what is multiplied. */
enum { TSR_BLOCK_COLUMNS = 8, TSR_BLOCK_LINES = 3 };

/* Lines of a times columns of b, whose rows are dense, as c's are; steps are in numbers. `signs` are those of the sums
 * with a's real parts and of those with its imaginary ones, the parts of which change places: the square of i, and what
 * is conjugated. `zero` is -0, which changes nothing, where the result is to be added to something. */
typedef struct TsrComplexBlock {
    const TsrComplexFloat *a, *b;
    TsrComplexFloat *c;
    int64_t k, a_row, a_step, b_row, c_row;
    float signs[2][2], zero;
} TsrComplexBlock;

/* The last `columns` columns of the block; those before them may be left as they are. */
typedef void (*TsrComplexBlockFn)(const TsrComplexBlock *block, int lines, int columns);

/* As this CPU has it; NULL where it has no fused multiplication and addition. */
TsrComplexBlockFn tsr_complex_block_kernel(void);

#endif
