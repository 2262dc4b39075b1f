/* fft.h: Fourier transforms of lines: TSR_P_FFT. */
#ifndef CUDA_FFT_H
#define CUDA_FFT_H

#include "cuda/launch.h"

/* TsrBackend.work for it. */
TsrStatus cuda_fft(const TsrDeviceWork *work);
/* The text of all its kernels; false: there is none. */
bool cuda_fft_source(CudaSource *out, const TsrDeviceWork *work);

/* By cuFFT (cufft.c), without the scale. TSR_NOT_IMPLEMENTED_ERROR without a message: the library is not there, or does
 * not take lines that lie like that. */
TsrStatus cuda_cufft(const TsrDeviceWork *work);

#endif
