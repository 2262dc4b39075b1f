/* rows.h: softmax and normalisation of lines: TSR_P_SOFTMAX and TSR_P_NORM. */
#ifndef CUDA_ROWS_H
#define CUDA_ROWS_H

#include "cuda/launch.h"

/* TsrBackend.work for the two. */
TsrStatus cuda_rows(const TsrDeviceWork *work);
/* The text of its kernel; false: there is none. */
bool cuda_rows_source(CudaSource *out, const TsrDeviceWork *work);

#endif
