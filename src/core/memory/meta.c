#include "alloc_impl.h"

/* No memory at all: sizes and dtypes only. */
static TsrStatus allocate(TsrAllocator *self, TsrDataPtr *out, size_t bytes) {
    (void)self;
    (void)bytes;
    *out = (TsrDataPtr){NULL, NULL, NULL, TSR_DEVICE_META};
    return TSR_OK;
}

TsrAllocator tsr_allocator_meta = {.name = "meta", .device = TSR_META, .allocate = allocate};
