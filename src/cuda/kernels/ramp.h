/* ramp.h: arange, linspace and logspace on the device: TSR_P_RAMP. */
#ifndef CUDA_RAMP_H
#define CUDA_RAMP_H

#include "cuda/source.h"

/* TsrBackend.work for the primitive. */
TsrStatus cuda_ramp(const TsrDeviceWork *work);
/* The text of its kernel for a dtype; false: there is none. */
bool cuda_ramp_source(CudaSource *out, TsrDtype dtype);

#endif
