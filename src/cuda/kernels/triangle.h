/* triangle.h: the upper or lower triangle of matrices: TSR_P_TRIANGLE. */
#ifndef CUDA_TRIANGLE_H
#define CUDA_TRIANGLE_H

#include "cuda/source.h"

/* TsrBackend.work for the primitive. */
TsrStatus cuda_triangle(const TsrDeviceWork *work);
/* The text of its kernel for elements of so many bytes. */
void cuda_triangle_source(CudaSource *out, int item);

#endif
