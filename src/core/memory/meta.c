/* meta.c: the allocator of the meta device: it gives no memory, so that tensors have sizes and dtypes only. The
 * counters still count the bytes that would have been needed; the totals leave them out. */
#include "alloc_impl.h"

static TsrStatus allocate(TsrAllocator *self, TsrDataPtr *out, size_t bytes) {
    (void)self;
    (void)bytes;
    *out = (TsrDataPtr){NULL, NULL, NULL, TSR_DEVICE_META};
    return TSR_OK;
}

TsrAllocator tsr_allocator_meta = {.name = "meta", .device = TSR_META, .allocate = allocate};
