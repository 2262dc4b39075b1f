/* cufft.h: our declarations of what the plugin uses of cuFFT, from its documented interface; the pretended library of
 * the simulated device has the same. */
#ifndef CUDA_CUFFT_H
#define CUDA_CUFFT_H

#include <stddef.h>
#include <stdint.h>

typedef int FftHandle;

/* Types of elements (cudaDataType), and directions. */
enum { FFT_R32 = 0, FFT_R64 = 1, FFT_C32 = 4, FFT_C64 = 5 };
enum { FFT_FORWARD = -1, FFT_INVERSE = 1 };

#endif
