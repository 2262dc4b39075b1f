/* matmul.h: products of matrices on the device. */
#ifndef CUDA_MATMUL_H
#define CUDA_MATMUL_H

#include "cuda/launch.h"

/* Small ones by a kernel of our own; others by cuBLASLt where it is found and takes them. */
TsrStatus cuda_matmul(const TsrDeviceMatmul *product);
/* The text of our kernel that does it; false: there is none. */
bool cuda_matmul_source(CudaSource *out, const TsrDeviceMatmul *product);

/* Whether so many products of two numbers are worth a library, which takes the better part of a second to be opened. It
 * is asked for the sizes of a product alone, which so has the same digits whenever it is computed.
 * $TSR_CUDA_BLAS=always takes the library for all of them, for tests. */
bool cuda_library_is_worth(double products);
/* The product by cuBLASLt, which is opened at the first one. TSR_NOT_IMPLEMENTED_ERROR, and nothing was touched: there
 * is no such library, or it does not take these matrices. */
TsrStatus cuda_blas_matmul(const TsrDeviceMatmul *product);

#endif
