/* bag.h: sums, means and maxima of rows that bags pick: TSR_P_BAG. */
#ifndef CUDA_BAG_H
#define CUDA_BAG_H

#include "cuda/launch.h"

/* TsrBackend.work for it. */
TsrStatus cuda_bag(const TsrDeviceWork *work);
/* The text of its kernel; false: there is none. */
bool cuda_bag_source(CudaSource *out, const TsrDeviceWork *work);

#endif
