/* matrix.h: factorizations of matrices, and systems of equations with them: TSR_P_LU, CHOLESKY, TRIANGULAR, QR, Q,
 * REFLECT, SVD and EIGH. */
#ifndef CUDA_MATRIX_H
#define CUDA_MATRIX_H

#include "cuda/launch.h"

/* TsrBackend.work for them. */
TsrStatus cuda_matrix(const TsrDeviceWork *work);
/* The same but TRIANGULAR by cuSOLVER. TSR_NOT_IMPLEMENTED_ERROR where it is not found, or refuses; and where singular
 * or eigenvalues do not converge: then *touched says that their tensors were written. */
TsrStatus cuda_cusolver(const TsrDeviceWork *work, bool *touched);
/* The text of all its kernels; false: there is none for the dtype. */
bool cuda_matrix_source(CudaSource *out, TsrDtype dtype);

#endif
