/* resample.h: weighted sums of elements at places given: TSR_P_RESAMPLE. */
#ifndef CUDA_RESAMPLE_H
#define CUDA_RESAMPLE_H

#include "cuda/launch.h"

/* TsrBackend.work for it. */
TsrStatus cuda_resample(const TsrDeviceWork *work);
/* The text of its kernel; false: there is none. */
bool cuda_resample_source(CudaSource *out, const TsrDeviceWork *work);

#endif
