/* alloc.c: the registry of allocators, their counters, the memory limit, and the giving and taking back of blocks
 * (alloc.h).
 *
 * The rows form a list in order of registration; `active` has the chosen one for each device type, read without the
 * lock. Counters are shared by threads, so each thread adds up its changes in `held` and passes them on after
 * HELD_BYTES or HELD_CALLS, when it turns to another allocator, and when it ends. An allocation asks the limit first,
 * then the allocator; if that fails, all caches are emptied and it is tried once more. */
#include "alloc_impl.h"

#include "core/mem.h"

#include <ctype.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

static TsrAllocator *first = &tsr_allocator_malloc;
static TsrAllocator *active[TSR_DEVICE_TYPE_COUNT] = {
    [TSR_CPU] = &tsr_allocator_caching, [TSR_META] = &tsr_allocator_meta};
static pthread_mutex_t registry = PTHREAD_MUTEX_INITIALIZER;

/* The ceiling: SIZE_MAX until the machine was asked, 0 for none. */
static _Atomic size_t limit = SIZE_MAX;
static _Atomic int64_t total_live, total_peak;

/* Changes of the counters that this thread holds back, all of one allocator. */
static _Thread_local struct Pending {
    TsrAllocator *allocator;
    int64_t live, peak, calls;
} held;
/* How far a thread's counters may lag behind: a peak and the limit may be off by 1 MiB a thread, against two locked
 * instructions a block. */
enum { HELD_BYTES = 1 << 20, HELD_CALLS = 4096 };

/* --- counters --- */

/* Whether the allocator's bytes are the host's memory: meta has none, the system can drop a mapping's pages. */
static bool counts_in_total(const TsrAllocator *a) { return a->device == TSR_CPU && a != &tsr_allocator_mmap; }

/* Sets *peak to `value` if that is greater. */
static void raise_to(_Atomic int64_t *peak, int64_t value) {
    int64_t old = *peak;
    while (value > old &&
           !__atomic_compare_exchange_n((int64_t *)peak, &old, value, false, __ATOMIC_RELAXED, __ATOMIC_RELAXED)) {}
}

/* Adds what this thread held back to the shared counters. */
static void flush(void) {
    TsrAllocator *a = held.allocator;
    if (a == NULL) return;
    raise_to(&a->peak, a->live + held.peak);
    a->live += held.live;
    a->calls += held.calls;
    if (counts_in_total(a)) {
        raise_to(&total_peak, total_live + held.peak);
        total_live += held.live;
        tsr_mem_reserve(held.live);
    }
    held = (struct Pending){NULL, 0, 0, 0};
}

static void thread_ends(void) { flush(); }

static void hold_for(TsrAllocator *a) {
    flush();
    held.allocator = a;
    tsr_thread_at_end(thread_ends);
    tsr_thread_watch();
}

/* Counts a change of `bytes` and `calls` of allocator a; the limit is asked elsewhere. */
static void count(TsrAllocator *a, int64_t bytes, int calls) {
    if (TSR_UNLIKELY(held.allocator != a)) hold_for(a);
    held.live += bytes;
    held.calls += calls;
    if (held.live > held.peak) held.peak = held.live;
    if (TSR_UNLIKELY(held.live > HELD_BYTES || held.live < -HELD_BYTES || held.calls > HELD_CALLS)) flush();
}

int64_t tsr_memory_live(void) {
    flush();
    return total_live;
}

int64_t tsr_memory_peak(void) {
    flush();
    return total_peak;
}

/* --- the ceiling --- */

/* The rest is for the system, and for what malloc and the libraries take beside what is counted. */
static size_t most_of(size_t bytes) { return bytes - bytes / 5; }

void tsr_set_memory_limit(size_t bytes) {
    limit = bytes;
    tsr_mem_set_limit(bytes);
    tsr_mem_when_short(tsr_cache_drop_large);
}

size_t tsr_memory_limit(void) {
    if (TSR_UNLIKELY(limit == SIZE_MAX)) tsr_set_memory_limit(most_of(tsr_machine_memory()));
    return limit;
}

/* The ceiling knows of this thread's small blocks only when their counters are flushed: until then they are too few to
 * matter, and their storages and tensors, which are larger, are counted at once. Kept blocks are counted already; when
 * none of them fits, the allocator asks for what it takes instead. */
static bool within_limit(const TsrAllocator *a, size_t bytes) {
    int64_t pending = held.live, kept = a->cached;
    if (TSR_LIKELY(bytes <= HELD_BYTES && (int64_t)bytes + pending <= HELD_BYTES)) return true;
    if (tsr_memory_limit() == 0) return true;
    size_t fresh = bytes > (size_t)kept ? bytes - (size_t)kept : 0;
    return fresh <= PTRDIFF_MAX - HELD_BYTES && tsr_mem_fits(fresh + (size_t)TSR_MAX(pending, 0));
}

/* --- the registry --- */

/* Appends a row to the registry unless it is there. */
static void link_row(TsrAllocator *row) {
    TsrAllocator **end = &first;
    for (; *end != NULL; end = &(*end)->next)
        if (*end == row) return;
    *end = row;
}

static void register_built_in(void) {
    TsrAllocator *rows[] = {&tsr_allocator_aligned, &tsr_allocator_caching, &tsr_allocator_guard, &tsr_allocator_mmap,
                            &tsr_allocator_meta};
    for (size_t i = 0; i < TSR_COUNTOF(rows); i++) link_row(rows[i]);
}

static void begin(void) {
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    pthread_once(&once, register_built_in);
}

/* c10::SetAllocator's rule. Called with the registry locked. */
static bool set_active(TsrAllocator *row, uint8_t priority) {
    TsrAllocator *now = active[row->device];
    if (now != NULL && now->priority > priority) return false;
    row->priority = priority;
    __atomic_store_n(&active[row->device], row, __ATOMIC_RELEASE);
    return true;
}

void tsr_allocator_register(TsrAllocator *allocator) {
    if (allocator->device >= TSR_DEVICE_TYPE_COUNT) return; /* nothing asks for it */
    begin();
    pthread_mutex_lock(&registry);
    link_row(allocator);
    if (active[allocator->device] == NULL) set_active(allocator, allocator->priority);
    pthread_mutex_unlock(&registry);
}

TsrAllocator *tsr_allocator_active(uint8_t device_type) {
    return device_type < TSR_DEVICE_TYPE_COUNT ? __atomic_load_n(&active[device_type], __ATOMIC_ACQUIRE) : NULL;
}

TsrAllocator *tsr_allocator_first(void) {
    begin();
    flush();
    return first;
}

TsrAllocator *tsr_allocator_find(uint8_t device_type, const char *name) {
    for (TsrAllocator *a = tsr_allocator_first(); a != NULL; a = a->next)
        if (a->device == device_type && strcmp(a->name, name) == 0) return a;
    return NULL;
}

TsrStatus tsr_allocator_set(bool *taken, uint8_t device_type, const char *name, uint8_t priority) {
    TsrAllocator *row = tsr_allocator_find(device_type, name);
    if (row == NULL || row == &tsr_allocator_mmap)
        return tsr_error(TSR_VALUE_ERROR, "no allocator '%s' for device '%s'", name, tsr_device_type_name(device_type));
    pthread_mutex_lock(&registry);
    *taken = set_active(row, priority);
    pthread_mutex_unlock(&registry);
    return TSR_OK;
}

/* --- blocks --- */

void tsr_dataptr_release(TsrDataPtr *ptr) {
    void (*deleter)(void *) = ptr->deleter;
    void *ctx = ptr->ctx;
    *ptr = (TsrDataPtr){NULL, NULL, NULL, ptr->device};
    if (deleter != NULL) deleter(ctx);
}

static char driver_words[512]; /* of a driver that is there and can't be used; "": none is */

void tsr_device_set_missing(const char *words) { snprintf(driver_words, sizeof driver_words, "%s", words); }

TsrStatus tsr_device_missing(TsrDevice device) {
    char name[16];
    if (device.type == TSR_CUDA && driver_words[0] != '\0') return tsr_error(TSR_RUNTIME_ERROR, "%s", driver_words);
    if (device.type == TSR_CUDA)
        return tsr_error(
            TSR_RUNTIME_ERROR,
            "Found no NVIDIA driver on your system. Please check that you have an NVIDIA GPU and installed a "
            "driver from http://www.nvidia.com/Download/index.aspx");
    snprintf(name, sizeof name, "%s", tsr_device_type_name(device.type));
    for (char *p = name; *p != '\0'; p++) *p = (char)toupper((unsigned char)*p);
    return tsr_error(TSR_NOT_IMPLEMENTED_ERROR,
                     "Could not run 'aten::empty.memory_format' with arguments from the '%s' backend.", name);
}

/* Gives blocks kept for reuse back to the system and tries again before it reports that memory is short. */
static TsrStatus allocate_or_drop_caches(TsrDataPtr *out, TsrAllocator *a, uint64_t bytes) {
    if (TSR_UNLIKELY(tsr_mem_inject_failure())) return tsr_error_no_memory(bytes);
    if (TSR_UNLIKELY(bytes > SIZE_MAX) && a->device != TSR_META) return tsr_error_no_memory(bytes);
    if (a->device == TSR_CPU && TSR_UNLIKELY(!within_limit(a, bytes))) return tsr_error_no_memory(bytes);
    TsrStatus status = a->allocate(a, out, bytes);
    if (TSR_LIKELY(status == TSR_OK) || a->device != TSR_CPU) return status; /* a device's own has tried again */
    tsr_empty_cache();
    return a->allocate(a, out, bytes);
}

TsrStatus tsr_allocate_from(TsrDataPtr *out, TsrAllocator *a, TsrDevice device, uint64_t bytes) {
    *out = (TsrDataPtr){NULL, NULL, NULL, device};
    if (bytes == 0 && !a->empty_too) return TSR_OK;
    TSR_TRY(allocate_or_drop_caches(out, a, bytes));
    out->device = device;
    count(a, (int64_t)bytes, 1);
    tsr_trace(TSR_TRACE_ALLOC, a->name, tsr_trace_reason, (int64_t)bytes, out->data, tsr_trace_storage);
    return TSR_OK;
}

/* A block outside of a storage: its deleter keeps the counters right. */
typedef struct Counted {
    TsrDataPtr block;
    TsrAllocator *allocator;
    uint64_t bytes;
} Counted;

static void free_counted(void *ctx) {
    Counted *c = ctx;
    tsr_deallocate(&c->block, c->allocator, c->bytes);
    tsr_free(c);
}

TsrStatus tsr_allocate(TsrDataPtr *out, TsrDevice device, uint64_t bytes) {
    TsrAllocator *a = tsr_allocator_active(device.type);
    *out = (TsrDataPtr){NULL, NULL, NULL, device};
    if (TSR_UNLIKELY(a == NULL)) return tsr_device_missing(device);
    Counted *c = tsr_malloc(sizeof *c);
    if (c == NULL) return tsr_error_no_memory(sizeof *c);
    *c = (Counted){.allocator = a, .bytes = bytes};
    TsrStatus status = tsr_allocate_from(&c->block, a, device, bytes);
    if (status != TSR_OK) {
        tsr_free(c);
        return status;
    }
    *out = (TsrDataPtr){c->block.data, c, free_counted, device};
    return TSR_OK;
}

void tsr_deallocate(TsrDataPtr *ptr, TsrAllocator *allocator, uint64_t bytes) {
    if (ptr->deleter == NULL && allocator->device != TSR_META) return;
    if (TSR_UNLIKELY(tsr_trace_hook != NULL) && !tsr_trace_off)
        tsr_trace(TSR_TRACE_FREE, allocator->name, tsr_trace_reason, (int64_t)bytes, ptr->data, tsr_trace_storage);
    if (bytes > 0 || allocator->empty_too) count(allocator, -(int64_t)bytes, 0);
    tsr_dataptr_release(ptr);
}

void tsr_empty_cache(void) {
    tsr_thread_drop();
    for (TsrAllocator *a = tsr_allocator_first(); a != NULL; a = a->next)
        if (a->empty_cache != NULL) a->empty_cache(a);
}
