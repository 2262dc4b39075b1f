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

static int current(void) { return 0; }

static TsrStatus index_alone(int index) {
    (void)index;
    return TSR_OK;
}

static TsrStatus copy(TsrAddress dst, TsrDevice to, TsrAddress src, TsrDevice from, size_t bytes) {
    (void)to;
    (void)from;
    memcpy((void *)(uintptr_t)dst, (const void *)(uintptr_t)src, bytes);
    return TSR_OK;
}

static TsrStatus facts(TsrDeviceFacts *out, int index) {
    *out = (TsrDeviceFacts){.name = "dummy"};
    return index_alone(index);
}

static TsrStatus free_memory(size_t *out, int index) {
    *out = 0;
    return index_alone(index);
}

static void memory(TsrDeviceMemory *out, int index) {
    *out = (TsrDeviceMemory){0};
    index_alone(index);
}

static void reset_peaks(int index) { index_alone(index); }

__attribute__((visibility("default"))) TsrStatus tsr_backend_init(const TsrHost *host, TsrBackend *out) {
    (void)host;
    *out = (TsrBackend){.version = DUMMY_VERSION,
                        .name = "cuda",
                        .device_type = TSR_CUDA,
                        .device_count = device_count,
                        .current = current,
                        .set_current = index_alone,
                        .copy = copy,
                        .synchronize = index_alone,
                        .facts = facts,
                        .free_memory = free_memory,
                        .memory = memory,
                        .reset_peaks = reset_peaks};
    return TSR_OK;
}
