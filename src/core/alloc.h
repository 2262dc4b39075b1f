/* alloc.h: the allocator registry: who gives the memory of tensors, by device type and priority.
 *
 * An allocator is a row of functions with counters. For each device type one is active: the last one
 * set with a priority equal to or higher than the present one's (c10::SetAllocator's rule). Blocks
 * remember their allocator through the DataPtr's deleter, so a change never mixes them up.
 * Tensor data only: everything small goes through mem.h. Thread safe. */
#ifndef TSR_ALLOC_H
#define TSR_ALLOC_H

#include "device.h"

TSR_PUBLIC_BEGIN

/* Owns one block: {data, ctx, deleter, device} as c10::DataPtr. deleter(ctx) is called exactly once,
 * when the DataPtr is released; NULL deleter: nothing to free (borrowed or empty). */
typedef struct TsrDataPtr {
    void *data;
    void *ctx;
    void (*deleter)(void *ctx);
    TsrDevice device;
} TsrDataPtr;

void tsr_dataptr_release(TsrDataPtr *ptr); /* calls the deleter, clears *ptr; fine on a cleared one */

/* One way to get memory for a device type: functions and counters. Static lifetime; linked into the registry by `next`.
 */
typedef struct TsrAllocator TsrAllocator;
struct TsrAllocator {
    const char *name; /* "caching" */
    uint8_t device;   /* TsrDeviceType it serves */
    bool empty_too;   /* allocates a block even for 0 bytes (TensorFlow's ShouldAllocateEmptyTensors) */
    bool pinned;      /* the host's memory, locked to its pages, so that a device can copy from it by itself */
    /* *out gets `bytes` bytes, aligned to 64, on out->device. Contents undefined. TSR_RUNTIME_ERROR when memory is
     * short; one of a device has given back its own cached blocks by then. */
    TsrStatus (*allocate)(TsrAllocator *self, TsrDataPtr *out, size_t bytes);
    void (*empty_cache)(TsrAllocator *self); /* gives kept blocks back to the system; may be NULL */
    /* Counters in bytes, kept by tsr_allocate and tsr_deallocate (`cached` by the allocator itself). Threads hold small
     * changes back: read them after tsr_allocator_first(), which brings them up to date. */
    TSR_ATOMIC(int64_t) live, peak, cached, calls;
    uint8_t priority; /* with which it was made active; see tsr_allocator_set */
    TsrAllocator *next;
};

/* Registers a row (static lifetime). Names are unique per device. One for no device type of device.h is left out. */
void tsr_allocator_register(TsrAllocator *allocator);
/* The active one; never NULL for cpu and meta. */
TsrAllocator *tsr_allocator_active(uint8_t device_type);
/* NULL if no allocator has that name. */
TsrAllocator *tsr_allocator_find(uint8_t device_type, const char *name);
/* Makes the named allocator the active one unless the present one has a higher priority (c10::SetAllocator); *taken
 * says whether it did. Blocks made before stay with their allocator. TSR_VALUE_ERROR for an unknown name. */
TsrStatus tsr_allocator_set(bool *taken, uint8_t device_type, const char *name, uint8_t priority);
TsrAllocator *tsr_allocator_first(void); /* then ->next: the registry in order of registration */

/* The active allocator of the device gives a block, to be given back by tsr_dataptr_release; emits TSR_TRACE_ALLOC. The
 * memory ceiling is asked first; more bytes than a size_t holds are refused but on meta. */
TsrStatus tsr_allocate(TsrDataPtr *out, TsrDevice device, uint64_t bytes);
/* As tsr_allocate, from a given allocator (which must serve device.type), to be given back by tsr_deallocate: what
 * storages use. */
TsrStatus tsr_allocate_from(TsrDataPtr *out, TsrAllocator *allocator, TsrDevice device, uint64_t bytes);
/* Gives back what tsr_allocate_from gave (same allocator and bytes), clears *ptr; emits TSR_TRACE_FREE. */
void tsr_deallocate(TsrDataPtr *ptr, TsrAllocator *allocator, uint64_t bytes);
/* PyTorch's error for a device that nothing serves; never TSR_OK. */
TsrStatus tsr_device_missing(TsrDevice device);
/* Ceiling for live tensor bytes, kept blocks and mem.h's bytes together; 0: none. Mapped files and the memory of
 * devices don't count. It is exact to a MiB per thread. */
void tsr_set_memory_limit(size_t bytes);
/* What is set; else sets, from the first large block on, four fifths of what this process may have at most (the
 * machine's memory, its control group's limit or RLIMIT_AS, whichever is least). */
size_t tsr_memory_limit(void);
/* Every allocator gives the blocks that it keeps for reuse back to the system, those of this thread included. */
void tsr_empty_cache(void);
int64_t tsr_memory_live(void); /* bytes in storages of the host now */
int64_t tsr_memory_peak(void); /* the most that tsr_memory_live has been, in bytes */

/* Maps `bytes` of a regular file from byte `offset` on (bytes 0: to its end). mode 'c': copy-on-write, 'r': read-only,
 * '+': shared, writes go to the file. *mapped receives the length. When the file shrinks later, reading
 * what it no longer has ends the process by SIGBUS, unless tsr_catch_faults was called. TSR_OS_ERROR kinds;
 * TSR_VALUE_ERROR when not a regular file or too short. */
TsrStatus tsr_map_descriptor(TsrDataPtr *out, size_t *mapped, int fd, const char *name, char mode, uint64_t offset,
                             size_t bytes); /* of the file that is open in fd; `name` for messages */
TsrStatus tsr_map_file(TsrDataPtr *out, size_t *mapped, const char *path, char mode, uint64_t offset, size_t bytes);
/* Installs handlers of SIGSEGV and SIGBUS for the whole process; until a program asks for them its signals are its own,
 * and an access that they would repair ends it as any other. They repair two kinds of faults: of a mapped file that
 * became shorter (zeros stand in for its bytes, which are lost from then on: tsr_memory_check) and of a block of the
 * allocator "guard". The thread that faulted goes on and its operator fails with TSR_RUNTIME_ERROR, or the next
 * tsr_interrupt_check in that thread; other threads see nothing. What is not repaired goes to the handler that was
 * installed before, as it would have without ours; a program that installs its own afterwards replaces ours. They run
 * on the thread's alternate stack where there is one. Call it once, from any thread; TSR_OS_ERROR. */
TsrStatus tsr_catch_faults(void);
/* Whether some mapping's file became shorter than what was read of it, and so tsr_memory_check has to be asked. */
extern TSR_ATOMIC(int) tsr_memory_lost;
/* TSR_RUNTIME_ERROR when bytes of [data, data + bytes) were the file's and are no more. */
TsrStatus tsr_memory_check(const void *data, size_t bytes);
/* Shared anonymous memory, zeroed (share_memory_). */
TsrStatus tsr_map_shared(TsrDataPtr *out, size_t bytes);
int64_t tsr_memory_mapped(void); /* bytes of mappings alive */

/* The guard allocator. A label names a block in its reports; it is copied, and kept after the block is freed. */
void tsr_guard_label(const void *data, const char *label);
/* Asked for the name of an unlabelled live block when it is reported. NULL until a language sets it. */
extern void (*tsr_guard_name_hook)(char *buffer, size_t room, const void *data);

/* The trace: a hook that sees what the core does; NULL (the default) costs one predicted branch. */
typedef enum TsrTraceKind {
    TSR_TRACE_ALLOC,
    TSR_TRACE_FREE,
    TSR_TRACE_CACHE_HIT,
    TSR_TRACE_RETAIN,
    TSR_TRACE_RELEASE,
    TSR_TRACE_COPY,
    TSR_TRACE_CONSTRUCT,
    TSR_TRACE_DESTROY,
    TSR_TRACE_WRITE, /* to a tensor: it counts in the version; to a storage alone (object NULL): it does not count */
    TSR_TRACE_VIEW,
    TSR_TRACE_OP,
    TSR_TRACE_CHANGE, /* a tensor is about to get another storage, and no operator does it */
    TSR_TRACE_ADOPT,  /* a storage takes memory that no allocator made: a mapping, borrowed bytes */
    TSR_TRACE_RETURN, /* and gives it back */
    TSR_TRACE_KEEP, /* a tensor gets other sizes and no other memory; bytes: those that it now uses or needs. A storage
                     * by itself has another size; bytes: those that it had */
    TSR_TRACE_CALL, /* how memory came or went: a function `what`, called by `reason` */
    TSR_TRACE_WRAP  /* a value that stands for a tensor was made: a wrapper, a raw handle, a MaybeOwned */
} TsrTraceKind;
/* One event, valid while the hook runs; it owns nothing. */
typedef struct TsrTraceEvent {
    TsrTraceKind kind;
    const char *what;   /* allocator, operator or dtype name; static */
    const char *reason; /* may be NULL; static */
    int64_t bytes;
    const void
        *object; /* the storage, tensor, block or operator's call (TsrOpCall) concerned; alive while the hook runs */
    const void *object2; /* block: the storage that it is for, or NULL; copy: the source; view: its base; write or
                          * change: the storage */
    size_t alignment;    /* what was asked for, where a function was called and has given no block yet; else 0 */
} TsrTraceEvent;
/* Sees every counted write to a tensor (tsr_tensor_bump), trace or not: for a log of writes. NULL by default. */
struct TsrTensor;
extern void (*tsr_write_hook)(struct TsrTensor *t, const char *what);
/* While it runs: the place in the storage, counted in elements of t's dtype, of the one element that was written; -1:
 * it is not known which of t's were. */
extern TSR_THREAD_LOCAL int64_t tsr_write_element;
/* Frees the log that tsr_write_hook keeps in a storage (->writes) when that storage is destroyed. Must be set while any
 * storage has one. */
extern void (*tsr_writes_free_hook)(void *writes);
/* What the trace gives as the reason of this thread's next blocks and copies; static; NULL: none. Whoever sets it puts
 * back what it was. */
extern TSR_THREAD_LOCAL const char *tsr_trace_reason;
/* Sees each event in the thread where it happens; it must not allocate tensors. NULL: no trace. */
typedef void (*TsrTraceHook)(void *user, const TsrTraceEvent *event);
extern TsrTraceHook tsr_trace_hook;
extern void *tsr_trace_user;
static inline void tsr_trace(TsrTraceKind kind, const char *what, const char *reason, int64_t bytes, const void *object,
                             const void *object2) {
    if (TSR_UNLIKELY(tsr_trace_hook != NULL)) {
        TsrTraceEvent event = {kind, what, reason, bytes, object, object2, 0};
        tsr_trace_hook(tsr_trace_user, &event);
    }
}

TSR_PUBLIC_END

#endif
