/* memory.h: the two allocators of device memory, and what they count together. */
#ifndef CUDA_MEMORY_H
#define CUDA_MEMORY_H

#include "driver.h"

extern TsrAllocator cuda_caching, cuda_direct; /* rows "cuda_caching" and "cuda" */

/* Changes of the counters of a device: bytes given to tensors, bytes taken from the driver. Thread safe. */
void cuda_count(int index, int64_t allocated, int64_t reserved);
void cuda_memory(TsrDeviceMemory *out, int index);
void cuda_reset_peaks(int index);

/* `bytes` of a device from the driver; CU_OUT_OF_MEMORY is no error yet: *out is 0 then. */
TsrStatus cuda_take(TsrAddress *out, int index, size_t bytes);
void cuda_give(int index, TsrAddress address, size_t bytes);
/* TSR_OUT_OF_MEMORY_ERROR in PyTorch's words. `bytes` is what was tried to be taken from the driver. */
TsrStatus cuda_out_of_memory(int index, size_t bytes);

#endif
