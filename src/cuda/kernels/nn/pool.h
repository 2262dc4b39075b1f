/* pool.h: maxima and means of windows of images: TSR_P_POOL. */
#ifndef CUDA_POOL_H
#define CUDA_POOL_H

#include "cuda/launch.h"

/* TsrBackend.work for it. */
TsrStatus cuda_pool(const TsrDeviceWork *work);
/* The text of its kernel; false: there is none. */
bool cuda_pool_source(CudaSource *out, const TsrDeviceWork *work);

#endif
