/* search.h: where values go in sorted lines: TSR_P_SEARCH. */
#ifndef CUDA_SEARCH_H
#define CUDA_SEARCH_H

#include "cuda/source.h"

/* TsrBackend.work for the primitive. */
TsrStatus cuda_search(const TsrDeviceWork *work);
/* The text of its kernel for bounds of float64 or int64 and results of int32 or int64. */
void cuda_search_source(CudaSource *out, TsrDtype bounds, TsrDtype result);

#endif
