/* malloc.c: the allocator "malloc": the C library's blocks, aligned to 64 bytes as alloc.h asks. Unlike the others it
 * makes a block for 0 bytes too, which shows in the counters what TensorFlow's allocators do. */
#include "alloc_impl.h"

#include <stdlib.h>

static void give_back(void *block) {
    tsr_trace_call("free", "malloc", 0, block);
    free(block);
}

static TsrStatus allocate(TsrAllocator *self, TsrDataPtr *out, size_t bytes) {
    (void)self;
    void *block = NULL;
    if (posix_memalign(&block, 64, bytes > 0 ? bytes : 1) != 0) return tsr_error_no_memory(bytes);
    tsr_trace_call("posix_memalign", "malloc", bytes, block);
    *out = (TsrDataPtr){block, block, give_back, TSR_DEVICE_CPU};
    return TSR_OK;
}

TsrAllocator tsr_allocator_malloc = {.name = "malloc", .device = TSR_CPU, .empty_too = true, .allocate = allocate};
