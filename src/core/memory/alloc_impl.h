/* alloc_impl.h: shared by the allocators; not for others. */
#ifndef CORE_MEMORY_ALLOC_IMPL_H
#define CORE_MEMORY_ALLOC_IMPL_H

#include "core/alloc.h"
#include "core/base/thread.h"

/* The rows that are built in, each in a file of its name. */
extern TsrAllocator tsr_allocator_malloc, tsr_allocator_aligned, tsr_allocator_caching, tsr_allocator_guard,
    tsr_allocator_mmap, tsr_allocator_meta;

/* A stretch of memory whose faults are repaired once the program asked for it (tsr_catch_faults). `repair` runs in a
 * signal handler: system calls only. */
typedef struct TsrFaultRegion TsrFaultRegion;
struct TsrFaultRegion {
    char *start;
    size_t length;
    bool (*repair)(TsrFaultRegion *region, char *address);
    /* Sets the error of a fault at `address` (NULL: of what is `lost`), later, in the thread that faulted. */
    TsrStatus (*report)(TsrFaultRegion *region, char *address);
    void (*release)(TsrFaultRegion *region); /* forgotten, and no thread has a fault of it to report: frees it */
    char *volatile lost; /* from here on the bytes that were there are gone, and others stand in for them
                            (tsr_memory_check); NULL: none are. `repair` sets it */
    int holders;         /* itself while it is watched, and each thread with a fault to report */
    TsrFaultRegion *prev, *next;
};
void tsr_fault_watch(TsrFaultRegion *region);
/* Takes a region out again, before its memory goes; `release` follows, at once or later. */
void tsr_fault_forget_move(TsrFaultRegion *region);
/* For violations found without a fault (a damaged canary): reports `message` at this thread's next interrupt check. */
void tsr_fault_post(const char *message);

/* What the driver of a plugin said that is there and can't be used: from now on the text of tsr_device_missing. Copied.
 */
void tsr_device_set_missing(const char *words);

/* Gives the caching allocator's large kept blocks back to the system. */
void tsr_cache_drop_large(void);
/* Bytes that this process may have, of memory and of address space; never 0. */
size_t tsr_machine_memory(void);
/* What the control groups named in the file `names`, as in /proc/self/cgroup, allow that are mounted at `mount`;
 * SIZE_MAX: no limit. */
size_t tsr_group_memory(const char *mount, const char *names);

struct TsrStorage;
/* Moves the bytes to memory of another allocator of the same device type, in place. */
TsrStatus tsr_storage_move(struct TsrStorage *storage, TsrAllocator *allocator);

/* The storage that takes or gives back this thread's next block; NULL: none. Set while there is a trace. */
extern _Thread_local const struct TsrStorage *tsr_trace_storage;

/* What this thread does to storages is not for the trace, whose list is one thread's. */
extern _Thread_local bool tsr_trace_off;

/* A function of the C library that gave this thread's next block, or took one. Both texts are static. */
static inline void tsr_trace_call(const char *what, const char *caller, size_t bytes, const void *block) {
    if (TSR_UNLIKELY(tsr_trace_hook != NULL) && !tsr_trace_off)
        tsr_trace(TSR_TRACE_CALL, what, caller, (int64_t)bytes, block, tsr_trace_storage);
}

#endif
