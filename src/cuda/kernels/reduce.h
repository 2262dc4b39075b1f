/* reduce.h: reductions on the device. */
#ifndef CUDA_REDUCE_H
#define CUDA_REDUCE_H

#include "cuda/launch.h"

TsrStatus cuda_reduce(const TsrDeviceReduce *reduce);
/* The text of the kernel that does it, or, with `parts`, that merges what several blocks left; false: there is none. */
bool cuda_reduce_source(CudaSource *out, const TsrDeviceReduce *reduce, bool parts);

#endif
