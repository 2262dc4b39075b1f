/* mask.h: how many elements of a mask are true, and which: TSR_P_TRUE_COUNTS and TSR_P_TRUE_PLACES. */
#ifndef CUDA_MASK_H
#define CUDA_MASK_H

#include "cuda/source.h"

/* TsrBackend.work for the two. */
TsrStatus cuda_true_counts(const TsrDeviceWork *work);
TsrStatus cuda_true_places(const TsrDeviceWork *work);
/* The text of both kernels. */
void cuda_mask_source(CudaSource *out);

#endif
