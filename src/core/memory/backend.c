/* Finding and loading device plugins; the only file that calls dlopen for them. */
#include "core/backend.h"

#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "alloc_impl.h"
#include "core/mem.h"

static TsrBackend backends[TSR_DEVICE_TYPE_COUNT];
static bool loaded[TSR_DEVICE_TYPE_COUNT];

void (*tsr_race_hook)(const TsrRace *race);
void (*tsr_where_hook)(char *text, size_t room);
_Thread_local const char *tsr_device_work_of;

int tsr_sync_debug_mode;
void (*tsr_sync_hook)(void);

TsrStatus tsr_device_will_wait(void) {
    if (tsr_sync_debug_mode == TSR_SYNC_FAILS)
        return tsr_error(TSR_RUNTIME_ERROR, "called a synchronizing CUDA operation");
    if (tsr_sync_debug_mode == TSR_SYNC_WARNS && tsr_sync_hook != NULL) tsr_sync_hook();
    return TSR_OK;
}

static void host_trace(TsrTraceKind kind, const char *what, const char *reason, int64_t bytes, const void *object) {
    tsr_trace(kind, what, reason, bytes, object, tsr_trace_storage);
}
static bool host_traced(void) { return tsr_trace_hook != NULL; }
static void host_race(const TsrRace *race) {
    if (tsr_race_hook != NULL) tsr_race_hook(race);
}

static TsrStatus host_interrupt_check(void) { return tsr_interrupt_check(); }
static void host_where(char *text, size_t room) {
    if (tsr_where_hook != NULL) tsr_where_hook(text, room);
    else snprintf(text, room, "%s", tsr_device_work_of != NULL ? tsr_device_work_of : "an operator");
}

static const TsrHost host = {.version = TSR_BACKEND_VERSION,
                             .register_allocator = tsr_allocator_register,
                             .error = tsr_error,
                             .hint = tsr_error_hint,
                             .malloc = tsr_malloc,
                             .free = tsr_free,
                             .trace = host_trace,
                             .traced = host_traced,
                             .race = host_race,
                             .interrupt_check = host_interrupt_check,
                             .where = host_where};

static bool streams_are_whole(const TsrStreamTable *s) {
    return s != NULL && s->pick != NULL && s->current != NULL && s->set_current != NULL && s->handle != NULL &&
           s->number != NULL && s->done != NULL && s->synchronize != NULL && s->event_new != NULL &&
           s->event_free != NULL && s->event_record != NULL && s->event_wait != NULL && s->event_done != NULL &&
           s->event_synchronize != NULL && s->event_elapsed != NULL;
}

static bool is_whole(const TsrBackend *b) {
    return b->device_count != NULL && b->current != NULL && b->set_current != NULL && b->copy != NULL &&
           b->map != NULL && b->reduce != NULL && b->matmul != NULL && b->work != NULL && b->missing != NULL &&
           b->uses != NULL && b->record_stream != NULL && b->synchronize != NULL && b->facts != NULL &&
           b->free_memory != NULL && b->can_access_peer != NULL && b->memory != NULL && b->pinned != NULL &&
           b->reset_stats != NULL && b->reset_pinned_stats != NULL && b->fraction != NULL && b->set_fraction != NULL &&
           b->each_block != NULL && streams_are_whole(b->streams);
}

static TsrStatus refuse(void *library, const char *path, const char *reason) {
    if (library != NULL) dlclose(library);
    return tsr_error(TSR_RUNTIME_ERROR, "%s: not a usable tsr backend: %s", path, reason);
}

TsrStatus tsr_backend_load(const TsrBackend **lent, const char *path) {
    char reason[128];
    TsrBackend backend = {0};
    void *library = dlopen(path, RTLD_NOW | RTLD_LOCAL);
    if (library == NULL) return refuse(NULL, path, dlerror());
    void *symbol = dlsym(library, TSR_BACKEND_SYMBOL);
    TsrBackendInit init;
    memcpy(&init, &symbol, sizeof init); /* ISO C has no cast from object to function pointers */
    if (init == NULL) return refuse(library, path, "it does not export " TSR_BACKEND_SYMBOL);
    TsrStatus status = init(&host, &backend);
    if (status == TSR_ACCELERATOR_ERROR) tsr_device_set_missing(tsr_error_message());
    if (status != TSR_OK) {
        dlclose(library);
        return status;
    }
    if (backend.version != TSR_BACKEND_VERSION) {
        snprintf(reason, sizeof reason, "it was built for interface version %u, this is version %d", backend.version,
                 TSR_BACKEND_VERSION);
        return refuse(library, path, reason);
    }
    if (backend.device_type >= TSR_DEVICE_TYPE_COUNT || backend.device_type == TSR_CPU ||
        backend.device_type == TSR_META || !is_whole(&backend))
        return refuse(library, path, "it does not serve a device type of a plugin, or lacks a required function");
    if (backend.device_count() <= 0) return refuse(library, path, "it found no device");
    backends[backend.device_type] = backend;
    loaded[backend.device_type] = true;
    *lent = &backends[backend.device_type];
    return TSR_OK;
}

/* Tries one place; false adds the reason to `tried`. */
static bool try_load(const TsrBackend **out, const char *folder, size_t n, const char *file, char *tried, size_t room) {
    char path[4096];
    if (n == 0) snprintf(path, sizeof path, "%s", file);
    else snprintf(path, sizeof path, "%.*s/%s", (int)n, folder, file);
    if (n > 0 && access(path, R_OK) != 0) return false;
    if (tsr_backend_load(out, path) == TSR_OK) return true;
    size_t used = strlen(tried);
    snprintf(tried + used, room - used, "%s%s", used > 0 ? "; " : "", tsr_error_message());
    return false;
}

static bool try_path_list(const TsrBackend **out, const char *list, const char *file, char *tried, size_t room) {
    while (list != NULL && *list != '\0') {
        size_t n = strcspn(list, ":");
        if (n > 0 && try_load(out, list, n, file, tried, room)) return true;
        list += n + (list[n] == ':');
    }
    return false;
}

static bool try_beside_program(const TsrBackend **out, const char *file, char *tried, size_t room) {
    char program[4096], folder[2 * sizeof program + 32];
    ssize_t n = readlink("/proc/self/exe", program, sizeof program - 1);
    if (n <= 0) return false;
    program[n] = '\0';
    *strrchr(program, '/') = '\0';
    snprintf(folder, sizeof folder, "%s:%s/../lib/tsr", program, program);
    return try_path_list(out, folder, file, tried, room);
}

TsrStatus tsr_backend_get(const TsrBackend **lent, uint8_t device_type) {
    char file[64], tried[384] = "";
    if (device_type < TSR_DEVICE_TYPE_COUNT && loaded[device_type]) {
        *lent = &backends[device_type];
        return TSR_OK;
    }
    snprintf(file, sizeof file, "libtsr_%s.so", tsr_device_type_name(device_type));
    if (try_path_list(lent, getenv("TSR_BACKEND_PATH"), file, tried, sizeof tried) ||
        try_beside_program(lent, file, tried, sizeof tried) || try_load(lent, "", 0, file, tried, sizeof tried))
        return TSR_OK;
    tsr_error(TSR_RUNTIME_ERROR, "no backend for device type '%s'", tsr_device_type_name(device_type));
    tsr_error_hint("tried %s: %s", file, tried);
    return TSR_RUNTIME_ERROR;
}

TsrStatus tsr_device_resolve(TsrDevice *device) {
    const TsrBackend *b;
    if (!tsr_device_has_backend(*device)) return TSR_OK;
    if (tsr_backend_get(&b, device->type) != TSR_OK) return tsr_device_missing(*device);
    if (device->index < 0) device->index = (int8_t)b->current();
    if (device->index < b->device_count()) return TSR_OK;
    return tsr_error(TSR_ACCELERATOR_ERROR,
                     "CUDA error: invalid device ordinal\nGPU device may be out of range, do you have enough GPUs?\n");
}

TsrStatus tsr_device_copy_as(void *dst, TsrDevice to, const void *src, TsrDevice from, size_t bytes, TsrCopyMode mode) {
    const TsrBackend *b;
    if (bytes == 0) return TSR_OK;
    if (!tsr_device_has_backend(to) && !tsr_device_has_backend(from)) return memcpy(dst, src, bytes), TSR_OK;
    if (mode == TSR_COPY_WAIT) TSR_TRY(tsr_device_will_wait());
    TSR_TRY(tsr_backend_get(&b, tsr_device_has_backend(to) ? to.type : from.type));
    return b->copy((TsrAddress)(uintptr_t)dst, to, (TsrAddress)(uintptr_t)src, from, bytes, mode);
}

TsrStatus tsr_device_copy(void *dst, TsrDevice to, const void *src, TsrDevice from, size_t bytes) {
    bool between = tsr_device_has_backend(to) && tsr_device_has_backend(from);
    return tsr_device_copy_as(dst, to, src, from, bytes, between ? TSR_COPY_LATER : TSR_COPY_WAIT);
}

void tsr_device_uses(const void *data, TsrDevice device, size_t bytes, bool writes) {
    if (bytes == 0 || device.type >= TSR_DEVICE_TYPE_COUNT || !loaded[device.type]) return;
    backends[device.type].uses((TsrAddress)(uintptr_t)data, bytes, device.index, writes);
}

/* ---- pinned memory ---- */
