/* matrix_args.h: what the kernels that factor matrices are given; matrix.c fills it in. Matrices are column-major and
 * dense, those of a batch one behind the other. */
typedef struct MatrixArgs {
    uint64_t a;            /* address of the matrices: rows x columns each */
    uint64_t x;            /* of right-hand sides or what else is multiplied: x_rows x x_columns each */
    uint64_t pivots, info; /* int32: min(rows, columns) numbers of rows from 1 on; one a matrix */
    uint64_t tau;          /* `reflectors` elements each */
    int64_t batch;
    int32_t rows, columns, x_rows, x_columns, reflectors;
    uint32_t upper, transposed, conjugate, unit, right; /* how a triangle, or a product of reflectors, is read */
    uint32_t vectors; /* of jacobi.cuh: they are wanted; operands are named at its kernels */
    uint32_t pivoted; /* rows of x are exchanged: 1 before, as pivots say, 2 after, the other way */
} MatrixArgs;
