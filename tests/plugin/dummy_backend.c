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

static TsrStatus copy(TsrAddress dst, TsrDevice to, TsrAddress src, TsrDevice from, size_t bytes, TsrCopyMode mode) {
    (void)mode;
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

static void reset_stats(int index, bool sums) {
    (void)sums;
    index_alone(index);
}

static void pinned(TsrPinnedMemory *out) { *out = (TsrPinnedMemory){0}; }

static void reset_pinned(bool sums) { (void)sums; }

/* It has no code: everything goes over the host. */
static TsrStatus map(const TsrDeviceMap *work) {
    (void)work;
    return TSR_NOT_IMPLEMENTED_ERROR;
}
static TsrStatus reduce(const TsrDeviceReduce *work) {
    (void)work;
    return TSR_NOT_IMPLEMENTED_ERROR;
}
static TsrStatus matmul(const TsrDeviceMatmul *work) {
    (void)work;
    return TSR_NOT_IMPLEMENTED_ERROR;
}
static void missing(char *text, size_t room) {
    (void)text;
    (void)room;
}
static TsrStatus primitive(const TsrDeviceWork *work) {
    (void)work;
    return TSR_NOT_IMPLEMENTED_ERROR;
}

static void uses(TsrAddress address, size_t bytes, int index, bool writes) {
    (void)address;
    (void)bytes;
    (void)index;
    (void)writes;
}

static TsrStatus record_stream(TsrAddress block, int index, int64_t id) {
    (void)block;
    (void)id;
    return index_alone(index);
}

static TsrStatus can_access_peer(bool *out, int index, int peer) {
    *out = false;
    (void)peer;
    return index_alone(index);
}

static double fraction(int index) {
    (void)index;
    return 1;
}

static void set_fraction(int index, double part) {
    (void)part;
    index_alone(index);
}

static void each_block(int index, void (*visit)(void *context, const TsrDeviceBlock *block), void *context) {
    (void)visit;
    (void)context;
    index_alone(index);
}

/* One stream, where everything is done at once. */
static TsrStatus pick(int64_t *id, int index, int priority) {
    *id = 0;
    (void)priority;
    return index_alone(index);
}
static int64_t current_stream(int index) {
    (void)index;
    return 0;
}
static TsrStatus stream_alone(int index, int64_t id) {
    (void)id;
    return index_alone(index);
}
static int64_t number(int index, uint64_t handle) {
    (void)index;
    return handle == 0 ? 0 : -1;
}
static uint64_t handle(int index, int64_t id) {
    (void)index;
    return (uint64_t)id;
}
static TsrStatus done(bool *out, int index, int64_t id) {
    *out = true;
    return stream_alone(index, id);
}
static TsrStatus event_new(void **event, int index, bool timing) {
    *event = NULL;
    (void)timing;
    return index_alone(index);
}
static void event_free(void *event) { (void)event; }
static TsrStatus event_record(void *event, int64_t id) {
    (void)event;
    return stream_alone(0, id);
}
static TsrStatus event_wait(void *event, int index, int64_t id) {
    (void)event;
    return stream_alone(index, id);
}
static TsrStatus event_done(bool *out, void *event) {
    *out = true;
    (void)event;
    return TSR_OK;
}
static TsrStatus event_synchronize(void *event) {
    (void)event;
    return TSR_OK;
}
static TsrStatus event_elapsed(double *milliseconds, void *from, void *to) {
    *milliseconds = 0;
    (void)from;
    (void)to;
    return TSR_OK;
}
static const TsrStreamTable streams = {pick,       current_stream, stream_alone,      handle,       number,
                                       done,       stream_alone,   event_new,         event_free,   event_record,
                                       event_wait, event_done,     event_synchronize, event_elapsed};

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
                        .map = map,
                        .reduce = reduce,
                        .matmul = matmul,
                        .work = primitive,
                        .missing = missing,
                        .uses = uses,
                        .record_stream = record_stream,
                        .can_access_peer = can_access_peer,
                        .pinned = pinned,
                        .reset_stats = reset_stats,
                        .reset_pinned_stats = reset_pinned,
                        .fraction = fraction,
                        .set_fraction = set_fraction,
                        .each_block = each_block,
                        .streams = &streams};
    return TSR_OK;
}
