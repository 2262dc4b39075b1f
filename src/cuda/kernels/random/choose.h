/* choose.h: the primitives SHARES and CHOOSE: columns drawn with the weights of a row. */
#ifndef CUDA_CHOOSE_H
#define CUDA_CHOOSE_H

#include "cuda/source.h"

/* TsrBackend's work of TSR_P_SHARES and TSR_P_CHOOSE. */
TsrStatus cuda_shares(const TsrDeviceWork *work);
TsrStatus cuda_choose(const TsrDeviceWork *work);
/* The text of both kernels for weights of a float dtype. For checks of the compiler. */
void cuda_choose_source(CudaSource *out, TsrDtype dtype);

#endif
