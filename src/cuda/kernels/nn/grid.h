/* grid.h: images and volumes sampled at points: TSR_P_GRID. */
#ifndef CUDA_GRID_H
#define CUDA_GRID_H

#include "cuda/launch.h"

/* TsrBackend.work for it. */
TsrStatus cuda_grid(const TsrDeviceWork *work);
/* The text of its kernel; false: there is none. */
bool cuda_grid_source(CudaSource *out, const TsrDeviceWork *work);

#endif
