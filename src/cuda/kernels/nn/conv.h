/* conv.h: convolutions of images: TSR_P_CONV. */
#ifndef CUDA_CONV_H
#define CUDA_CONV_H

#include "cuda/launch.h"

/* TsrBackend.work for it. */
TsrStatus cuda_conv(const TsrDeviceWork *work);
/* The text of its kernel; false: there is none. */
bool cuda_conv_source(CudaSource *out, const TsrDeviceWork *work);

#endif
