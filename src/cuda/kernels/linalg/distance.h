/* distance.h: distances between the rows of two matrices: TSR_P_DISTANCE. */
#ifndef CUDA_DISTANCE_H
#define CUDA_DISTANCE_H

#include "cuda/source.h"

/* TsrBackend.work for the primitive. */
TsrStatus cuda_distance(const TsrDeviceWork *work);
/* The text of its kernel; false: there is none for the dtype. */
bool cuda_distance_source(CudaSource *out, TsrDtype dtype, double p);

#endif
