/* cuda.h: torch.cuda, torch.accelerator and torch.amp as modules. */
#ifndef TORCH_CUDA_H
#define TORCH_CUDA_H

#include "core/dtype.h"
#include "lang/object/native.h"

/* Fill the modules with what is not written in the language (torch/prelude/devices/cuda.tsr, accelerator.tsr). */
TsrStatus torch_cuda_fill(Module *module);
TsrStatus torch_cuda_streams_fill(Module *module);
TsrStatus torch_cuda_memory_fill(Module *module);
TsrStatus torch_cuda_random_fill(Module *module);
TsrStatus torch_accelerator_fill(Module *module);

int torch_cuda_device_count(void); /* of the devices that can be: it loads no backend */
/* The error of PyTorch's calls that go to the runtime without asking for the driver first; never TSR_OK. */
TsrStatus torch_cuda_no_driver(void);
/* torch.cuda.FloatTensor and its kin, by dtype; name NULL where torch has none, and before torch.cuda was first named.
 */
extern Type cuda_tensor_types[TSR_DTYPE_COUNT];
extern Type torch_stream_type, torch_event_type; /* torch.Stream, torch.Event */
/* Whether v is a stream of a CUDA device, and then which: of device *index, by its number. */
bool cuda_stream_from_value(int *index, int64_t *id, Value v);

#endif
