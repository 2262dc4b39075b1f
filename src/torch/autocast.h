/* autocast.h: torch.autocast: operators that take their tensors in another dtype while it is in force. */
#ifndef TORCH_AUTOCAST_H
#define TORCH_AUTOCAST_H

#include "lang/object/native.h"

TsrStatus torch_amp_fill(Module *module);        /* torch.amp */
TsrStatus torch_cuda_amp_fill(Module *module);   /* torch.cuda.amp */
TsrStatus torch_amp_common_fill(Module *module); /* torch.cuda.amp.common */
TsrStatus torch_cpu_amp_fill(Module *module);    /* torch.cpu.amp */
extern Type autocast_type;                       /* torch.autocast */
extern const Method torch_autocast_functions[];

#endif
