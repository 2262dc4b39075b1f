/* cuda.h: torch.cuda and torch.accelerator. */
#ifndef TORCH_CUDA_H
#define TORCH_CUDA_H

#include "lang/object/value.h"

extern const Method torch_cuda_functions[], torch_accelerator_functions[];

#endif
