/* device_memory.h: what lies where in the memory of a device, for memory('cuda'). */
#ifndef SHOW_FACTS_DEVICE_MEMORY_H
#define SHOW_FACTS_DEVICE_MEMORY_H

#include "core/device.h"
#include "lang/object/value.h"

/* A table with a row a block of the device's allocators: the number of its segment, bytes, bytes that were asked for,
 * whether it is used, kept for later or waits for other streams, its stream, and the names of the tensors over it.
 * PyTorch's error where there is no such device. */
TsrStatus device_memory_table(Value *out, TsrDevice device);

#endif
