/* sparse.h: sparse tensors: TSR_P_FLAT and TSR_P_SPMM. */
#ifndef CUDA_SPARSE_H
#define CUDA_SPARSE_H

#include "cuda/source.h"

/* TsrBackend.work for the primitives. */
TsrStatus cuda_flat(const TsrDeviceWork *work);
TsrStatus cuda_spmm(const TsrDeviceWork *work);
/* The text of their kernels for elements of `dtype`. False: there is none. */
bool cuda_sparse_source(CudaSource *out, TsrDtype dtype, bool fused);

#endif
