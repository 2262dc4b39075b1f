/* device.h: hands a piece of work to the backend of a device (backend.h), for the drivers of the core.
 *
 * A driver that meets tensors of a device describes the work and returns what tsr_device_... returns. Where the backend
 * has no code for it that is tsr_device_decline(): the status goes up through the driver and the operator like any
 * other, so that everything that was made is freed, and the dispatcher then runs the whole operator on the host by loan
 * (op/op.c). So a driver declines before it writes anything. */
#ifndef CORE_ENGINE_DEVICE_H
#define CORE_ENGINE_DEVICE_H

#include "core/backend.h"
#include "core/iter.h"
#include "gemm.h"

/* TSR_NOT_IMPLEMENTED_ERROR without a message: this operator goes over the host. */
TsrStatus tsr_device_decline(void);
/* Whether the last status of this thread was that; forgets it. */
bool tsr_device_declined(void);

/* Each hands its work to the backend of devices of type `type`. */
TsrStatus tsr_device_map(uint8_t type, const TsrDeviceMap *map);
TsrStatus tsr_device_reduce(uint8_t type, const TsrDeviceReduce *reduce);
TsrStatus tsr_device_work(uint8_t type, const TsrDeviceWork *work);

/* A map with the operands of an iterator, of which one at least lies on a device: the others too, or they are single
 * numbers of the host. Declines what the struct has no room for, and what has to be done in an order. */
TsrStatus tsr_device_map_of(TsrDeviceMap *out, TsrDevice *device, const TsrIter *it);
/* The next output or input of a piece of work: the tensor as it lies. Outputs come first. Declines a tensor that the
 * struct has no room for; all of a work lie on one device, which is work->index. */
TsrStatus tsr_device_work_add(TsrDeviceWork *work, const TsrTensor *t, bool out);
/* The same of the elements of t's storage that `g` says. */
TsrStatus tsr_device_work_add_as(TsrDeviceWork *work, const TsrTensor *t, TsrGeometry g, bool out);

/* `batch` products like *g, as tsr_gemm has them, whose matrices a, b and c lie step[0], step[1] and step[2] bytes
 * apart; they are memory of `device`. */
TsrStatus tsr_device_gemm(TsrDevice device, const TsrGemm *g, int64_t batch, const int64_t step[3]);

#endif
