/* map.h: pointwise passes on the device. */
#ifndef CUDA_MAP_H
#define CUDA_MAP_H

#include "launch.h"

TsrStatus cuda_map(const TsrDeviceMap *map);
/* The text of the kernel that does it; false: there is none. */
bool cuda_map_source(CudaSource *out, const TsrDeviceMap *map);

#endif
