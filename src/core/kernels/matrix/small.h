/* small.h: linear systems of a few unknowns, several side by side: one in each lane of a vector. Every lane has the
 * bits that lu.inc gives of that matrix alone. */
#ifndef CORE_KERNELS_MATRIX_SMALL_H
#define CORE_KERNELS_MATRIX_SMALL_H

#include "core/base.h"

enum {
    TSR_SMALL_LU = 16,    /* rows and columns that are factored here, at most */
    TSR_SMALL_SOLVED = 7, /* unknowns of systems that are solved here, at most */
    TSR_SMALL_LANES = 8   /* matrices side by side, at most */
};

/* All for `lanes` matrices, column-major and one behind the other, of float or, `wide`, of double. */
typedef struct TsrSmall {
    int lanes;
    /* LU with partial pivoting of m by n matrices, in place; min(m, n) pivots from 1 and LAPACK's info of each. */
    void (*lu)(void *a, int m, int n, int *pivots, int *info);
    /* x, n by `columns`, in place: solutions by these factors. */
    void (*solve)(void *x, int n, int columns, const void *lu, const int *pivots);
} TsrSmall;
const TsrSmall *tsr_small(bool wide);

#endif
