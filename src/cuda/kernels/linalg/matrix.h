/* matrix.h: factorizations of small matrices, and systems of equations with them: TSR_P_LU, CHOLESKY, TRIANGULAR, QR, Q
 * and REFLECT. */
#ifndef CUDA_MATRIX_H
#define CUDA_MATRIX_H

#include "cuda/launch.h"

/* TsrBackend.work for them. */
TsrStatus cuda_matrix(const TsrDeviceWork *work);
/* The text of all its kernels; false: there is none for the dtype. */
bool cuda_matrix_source(CudaSource *out, TsrDtype dtype);

#endif
