/* small.h: small matrices, several side by side: one in each lane of a vector. A matrix has the same bits in every
 * lane, whatever its neighbours are and whatever the instruction set: linear systems those that lu.inc gives of it
 * alone. */
#ifndef CORE_KERNELS_MATRIX_SMALL_H
#define CORE_KERNELS_MATRIX_SMALL_H

#include "core/base.h"

enum { TSR_SMALL_SIDE = 32, TSR_SMALL_ROOM = 1024 }; /* of a square matrix the rows, of any one the elements, at most */

enum { TSR_SMALL_NOT_ENDED = 1, TSR_SMALL_NOT_FINITE = 2 };

/* Which systems: A X = B, transposed A^T X = B, or with the matrix on the right, X A = B; of A one triangle is read,
 * and of unit ones not the diagonal. */
typedef struct TsrTriangle {
    bool upper, transposed, right, unit;
} TsrTriangle;

/* All for `count` matrices, from 1 to `lanes`, column-major and one behind the other, of float or, `wide`, of double.
 */
typedef struct TsrSmall {
    int lanes;
    /* LU with partial pivoting of m by n matrices, in place; min(m, n) pivots from 1 and LAPACK's info of each. */
    void (*lu)(void *a, int count, int m, int n, int *pivots, int *info);
    /* x, n by `columns`, in place: solutions by these factors. Pivots may be any rows. */
    void (*solve)(void *x, int count, int n, int columns, const void *lu, const int *pivots);
    /* x, n by `columns`, or of matrices on the right `columns` by n, in place: solutions of triangular systems. */
    void (*triangular)(void *x, int count, int n, int columns, const void *a, TsrTriangle how);
    /* The lower Cholesky factors, or the upper ones, of n by n matrices, in place; the other triangle becomes zeros.
     * info: as LAPACK's potrf, which leaves what is behind a failure as it was. */
    void (*cholesky)(void *a, int count, int n, bool upper, int *info);
    /* QR as LAPACK's geqrf: R, below it the reflectors, and the min(m, n) factors tau of each. */
    void (*qr)(void *a, int count, int m, int n, void *tau);
    /* The first n columns of the products of k reflectors, k <= n <= m, in place; tau: k of each. */
    void (*q)(void *a, int count, int m, int n, int k, const void *tau);
    /* Eigenvalues of the symmetric matrices whose lower or upper triangles these are, ascending, n of each, and, if
     * `vectors`, in place of the matrices the vectors, with the signs that LAPACK's steqr has. info: 0,
     * TSR_SMALL_NOT_ENDED where the iteration did not, TSR_SMALL_NOT_FINITE where elements are not finite. */
    void (*eigen)(void *a, int count, int n, bool upper, bool vectors, void *values, int *info);
    /* The min(m, n) singular values of each, descending; `a` is used up. info: as eigen's. */
    void (*singular)(void *a, int count, int m, int n, void *values, int *info);
} TsrSmall;
const TsrSmall *tsr_small(bool wide);

#endif
