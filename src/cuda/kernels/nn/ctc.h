/* ctc.h: losses of connectionist temporal classification: TSR_P_CTC. */
#ifndef CUDA_CTC_H
#define CUDA_CTC_H

#include "cuda/launch.h"

/* TsrBackend.work for it. */
TsrStatus cuda_ctc(const TsrDeviceWork *work);
/* The text of its kernel; false: there is none. */
bool cuda_ctc_source(CudaSource *out, const TsrDeviceWork *work);

#endif
