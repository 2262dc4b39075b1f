/* index.h: elements read and written by positions: TSR_P_PICK and TSR_P_PLACE. */
#ifndef CUDA_INDEX_H
#define CUDA_INDEX_H

#include "cuda/source.h"

/* TsrBackend.work for the two. */
TsrStatus cuda_pick(const TsrDeviceWork *work);
TsrStatus cuda_place(const TsrDeviceWork *work);
/* The text of its kernel; false: there is none. */
bool cuda_index_source(CudaSource *out, const TsrDeviceWork *work);

#endif
