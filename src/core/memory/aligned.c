/* aligned.c: the allocator "aligned": blocks from the C library that start on a cache line of 64 bytes and fill whole
 * lines, so that no two tensors share one. Chosen by name only (tsr_allocator_set); the default for the cpu is
 * "caching". */
#include "alloc_impl.h"

#include <stdlib.h>

static void give_back(void *block) {
    tsr_trace_call("free", "aligned", 0, block);
    free(block);
}

static TsrStatus allocate(TsrAllocator *self, TsrDataPtr *out, size_t bytes) {
    size_t rounded;
    (void)self;
    if (tsr_add_size_overflows(bytes, 63, &rounded)) return tsr_error_no_memory(bytes);
    void *block = aligned_alloc(64, (rounded & ~(size_t)63));
    if (block == NULL) return tsr_error_no_memory(bytes);
    tsr_trace_call("aligned_alloc", "aligned", bytes, block);
    *out = (TsrDataPtr){block, block, give_back, TSR_DEVICE_CPU};
    return TSR_OK;
}

TsrAllocator tsr_allocator_aligned = {.name = "aligned", .device = TSR_CPU, .allocate = allocate};
