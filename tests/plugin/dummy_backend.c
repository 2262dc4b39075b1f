/* A plugin for tests: serves device type cuda with one pretended device whose memory is the host's.
 * DUMMY_VERSION and DUMMY_DEVICES are set at compile time to make ones that the core must refuse. */
#include <string.h>

#include "core/backend.h"

#ifndef DUMMY_VERSION
#define DUMMY_VERSION TSR_BACKEND_VERSION
#endif
#ifndef DUMMY_DEVICES
#define DUMMY_DEVICES 1
#endif

static int device_count(void) { return DUMMY_DEVICES; }

static TsrStatus copy(void *dst, TsrDevice to, const void *src, TsrDevice from, size_t bytes) {
    (void)to;
    (void)from;
    memcpy(dst, src, bytes);
    return TSR_OK;
}

__attribute__((visibility("default"))) TsrStatus tsr_backend_init(const TsrHost *host, TsrBackend *out) {
    (void)host;
    *out = (TsrBackend){
        .version = DUMMY_VERSION, .name = "cuda", .device_type = TSR_CUDA, .device_count = device_count, .copy = copy};
    return TSR_OK;
}
