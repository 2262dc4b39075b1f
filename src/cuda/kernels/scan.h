/* scan.h: running sums, products and extremes: TSR_P_SCAN. */
#ifndef CUDA_SCAN_H
#define CUDA_SCAN_H

#include "cuda/source.h"

/* TsrBackend.work for the primitive. */
TsrStatus cuda_scan(const TsrDeviceWork *work);
/* n numbers of 32 bits become their running sums, in place. Of none the kernels are made alone. */
TsrStatus cuda_scan_counts(int index, uint64_t address, uint64_t n);
/* The text of the kernel for a line that is cut into chunks if `chunks`; false: there is none. */
bool cuda_scan_source(CudaSource *out, const TsrDeviceWork *work, bool chunks);

#endif
