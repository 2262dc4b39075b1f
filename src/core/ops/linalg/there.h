/* there.h: factorizations of matrices on a device, in the place of LAPACK's; matrices are column-major and dense as
 * la.h has them. Each returns what engine/device.h says. */
#ifndef CORE_OPS_LINALG_THERE_H
#define CORE_OPS_LINALG_THERE_H

#include "core/engine/device.h"

/* In place; pivots and info int32. */
TsrStatus tsr_la_lu_there(TsrTensor *a, TsrTensor *pivots, TsrTensor *info);
TsrStatus tsr_la_cholesky_there(TsrTensor *a, TsrTensor *info, bool upper);
/* X of op(A) X = X, or X op(A) = X, in place. */
TsrStatus tsr_la_triangular_there(TsrTensor *x, const TsrTensor *a, TsrDeviceMatrixWork how);
/* The same with both factors of LU: trans 'N', 'T' or 'C'. */
TsrStatus tsr_la_lu_solve_there(TsrTensor *x, const TsrTensor *lu, const TsrTensor *pivots, char trans);
/* X of A X = X, of which `a` is the Cholesky factor. */
TsrStatus tsr_la_cholesky_solve_there(TsrTensor *x, const TsrTensor *a, bool upper);
TsrStatus tsr_la_qr_there(TsrTensor *a, TsrTensor *tau);
TsrStatus tsr_la_q_there(TsrTensor *a, const TsrTensor *tau);
/* x times Q, or with `adjoint` its conjugate transpose, on either side. */
TsrStatus tsr_la_reflect_there(TsrTensor *x, const TsrTensor *a, const TsrTensor *tau, bool right, bool adjoint);
/* Least squares: the first rows of x, as many as a has, become the solution of a X = x of full rank, in as many rows as
 * a has columns, the shortest one where there are several; what is below are the residuals. */
TsrStatus tsr_la_lstsq_there(TsrTensor *x, const TsrTensor *a);
/* Zeroes what lies outside the triangle. */
TsrStatus tsr_la_keep_triangle_there(TsrTensor *a, bool upper);
TsrStatus tsr_la_set_identity_there(TsrTensor *a);
/* What la.h's functions of these names give; `u` and `vh`, or `v`, may be NULL: no vectors. All elements are finite. */
TsrStatus tsr_la_new_svd_there(TsrTensor **u, TsrTensor **s, TsrTensor **vh, const TsrTensor *a, bool full);
TsrStatus tsr_la_new_eigh_there(TsrTensor **w, TsrTensor **v, const TsrTensor *a, bool upper);
/* Whether all elements are. */
TsrStatus tsr_la_finite_there(bool *finite, const TsrTensor *a);

#endif
