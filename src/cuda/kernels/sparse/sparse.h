/* sparse.h: sparse tensors: TSR_P_FLAT and TSR_P_SPMM. */
#ifndef CUDA_SPARSE_H
#define CUDA_SPARSE_H

#include "cuda/source.h"

/* TsrBackend.work for the primitives. */
TsrStatus cuda_flat(const TsrDeviceWork *work);
TsrStatus cuda_spmm(const TsrDeviceWork *work);
/* TSR_P_SPMM by cuSPARSE. TSR_NOT_IMPLEMENTED_ERROR where it is not found, or does not take the product. */
TsrStatus cuda_cusparse(const TsrDeviceWork *work);
/* Puts a copy of SPMM's columns to `out`; those outside are reported, and are 0 there. */
TsrStatus cuda_copy_places(TsrAddress out, const TsrDeviceWork *work);
/* The text of their kernels for elements of `dtype`. False: there is none. */
bool cuda_sparse_source(CudaSource *out, TsrDtype dtype, bool fused);

#endif
