/* random.h: the primitive RANDOM: numbers of distributions. */
#ifndef CUDA_RANDOM_H
#define CUDA_RANDOM_H

#include "cuda/source.h"

/* TsrBackend's work of TSR_P_RANDOM. */
TsrStatus cuda_random(const TsrDeviceWork *work);
TsrStatus cuda_shuffle(const TsrDeviceWork *work); /* of TSR_P_SHUFFLE */
/* The text of the kernel that it would launch; false: there is none. For checks of the compiler. */
bool cuda_random_source(CudaSource *out, const TsrDeviceWork *work);
void cuda_shuffle_source(CudaSource *out, TsrDtype keys);

#endif
