/* storage.c: the life of a storage: made, adopted, counted, listed, resized, shared (storage.h).
 *
 * Structs come from a free list of the thread (not in debug builds, where the sanitizers are to see each one). All live
 * storages are in one list in order of creation, for storages() and leaks(). Elements of an OBJECT dtype are
 * constructed over the whole of nbytes and destroyed with it; a resize constructs or destroys the difference. The
 * struct outlives its bytes while a tensor elsewhere still uses the version counter embedded in it. */

#include "core/storage.h"

#include "core/backend.h"

#include "alloc_impl.h"
#include "core/mem.h"

#include <inttypes.h>
#include <stdatomic.h>
#include <string.h>

/* All live storages, oldest first. */
static TsrStorage *first, *last;
static TsrLock list_lock;
static int64_t next_serial, next_id;

/* --- structs from a free list of the thread --- */

/* Structs that a thread keeps at most: enough for the temporaries of an expression; 256 of them take some 50 KB. */
enum { POOL_MOST = 256 };
static _Thread_local struct {
    TsrStorage *head;
    int n;
} pool;

/* The hook that runs when a thread ends. */
static void drain(void) {
    while (pool.head != NULL) {
        TsrStorage *s = pool.head;
        pool.head = s->next;
        tsr_free(s);
    }
    pool.n = 0;
}

static TsrStorage *take_struct(void) {
    TsrStorage *s = pool.head;
    if (TSR_LIKELY(s != NULL)) {
        pool.head = s->next;
        pool.n--;
        return s;
    }
    tsr_thread_at_end(drain);
    tsr_thread_watch();
    return tsr_malloc(sizeof *s);
}

static void give_struct(TsrStorage *s) {
#ifndef TSR_DEBUG
    if (TSR_LIKELY(pool.n < POOL_MOST)) {
        if (pool.n == 0) tsr_thread_watch(); /* a thread may only ever free */
        s->next = pool.head;
        pool.head = s;
        pool.n++;
        return;
    }
#endif
    tsr_free(s);
}

/* --- birth and death --- */

static void link_storage(TsrStorage *s) {
    tsr_lock(&list_lock);
    s->serial = ++next_serial;
    s->prev = last;
    s->next = NULL;
    if (last != NULL) last->next = s;
    else first = s;
    last = s;
    tsr_unlock(&list_lock);
}

static void unlink_storage(TsrStorage *s) {
    tsr_lock(&list_lock);
    if (s->prev != NULL) s->prev->next = s->next;
    else first = s->next;
    if (s->next != NULL) s->next->prev = s->prev;
    else last = s->prev;
    tsr_unlock(&list_lock);
}

TsrStorage *tsr_storage_first(void) { return first; }

int64_t tsr_storage_last_serial(void) { return next_serial; }

/* Field by field: a compound literal would clear the struct twice. Nobody else knows of it yet: counts are not stored
 * as atomics are, which would lock each. */
static void initialise(TsrStorage *s, uint64_t nbytes, TsrDtype element) {
    atomic_init(&s->refcount, 1);
    s->element = element;
    s->resizable = true;
    s->readonly = s->shared = s->says_calls = false;
    s->nbytes = s->capacity = nbytes;
    s->allocator = NULL;
    atomic_init(&s->version.refcount, 1);
    atomic_init(&s->version.value, 0);
    s->version.home = s;
    s->id = 0;
    s->serial = 0;
    s->origin = NULL;
    s->path = NULL;
    s->columns = NULL;
    s->writes = NULL;
}

static bool has_constructors(TsrDtype element) { return element != TSR_DTYPE_NONE && !tsr_dtype_is_pod(element); }

/* Runs the destructors of the elements in bytes [from, to); nothing for plain numbers. */
static void destroy_range(TsrStorage *s, uint64_t from, uint64_t to) {
    if (s->element == TSR_DTYPE_NONE || s->ptr.data == NULL) return;
    const TsrTypeMeta *meta = &tsr_dtypes[s->element];
    size_t n = (to - from) / meta->itemsize;
    if (n == 0) return;
    meta->placement_delete((char *)s->ptr.data + from, n);
    tsr_trace(TSR_TRACE_DESTROY, meta->name, s->says_calls ? "RunDtor" : NULL, (int64_t)(to - from), s, NULL);
}

/* Runs the constructors there; a failure leaves none of them constructed. */
static TsrStatus construct_range(TsrStorage *s, uint64_t from, uint64_t to) {
    if (s->element == TSR_DTYPE_NONE || s->ptr.data == NULL) return TSR_OK;
    const TsrTypeMeta *meta = &tsr_dtypes[s->element];
    size_t n = (to - from) / meta->itemsize;
    if (n == 0) return TSR_OK;
    TSR_TRY(meta->placement_new((char *)s->ptr.data + from, n));
    tsr_trace(TSR_TRACE_CONSTRUCT, meta->name, s->says_calls ? "RunCtor" : NULL, (int64_t)(to - from), s, NULL);
    return TSR_OK;
}

/* Names, while there is a trace, the storage that this thread's next blocks are for; NULL: none. */
static inline void trace_storage(const TsrStorage *s) {
    if (TSR_UNLIKELY(tsr_trace_hook != NULL)) tsr_trace_storage = s;
}

/* Gives back memory that no allocator of ours made. */
static void return_memory(TsrStorage *s) {
    if (s->ptr.deleter != NULL)
        tsr_trace(TSR_TRACE_RETURN, s->origin, "foreign memory", (int64_t)s->capacity, s->ptr.data, s);
    tsr_dataptr_release(&s->ptr);
}

/* Destroys the elements and gives the block back to the allocator it came from. */
static void release_memory(TsrStorage *s) {
    destroy_range(s, 0, s->nbytes);
    if (s->allocator != NULL) {
        tsr_trace_reason = s->says_calls ? "DeallocateRaw" : NULL;
        trace_storage(s);
        tsr_deallocate(&s->ptr, s->allocator, s->capacity);
        trace_storage(NULL);
        tsr_trace_reason = NULL;
    } else {
        return_memory(s);
    }
}

static TsrStatus new_storage(TsrStorage **out, TsrAllocator *allocator, TsrDevice device, uint64_t nbytes,
                             TsrDtype element, bool says_calls) {
    if (TSR_UNLIKELY(element != TSR_DTYPE_NONE)) TSR_TRY(tsr_dtype_check(element));
    if (tsr_device_has_backend(device) && has_constructors(element))
        return tsr_error(TSR_RUNTIME_ERROR, "elements of dtype %s live in the host's memory only",
                         tsr_dtype_name(element));
    TsrStorage *s = take_struct();
    if (TSR_UNLIKELY(s == NULL)) return tsr_error_no_memory(sizeof *s);
    initialise(s, nbytes, TSR_UNLIKELY(has_constructors(element)) ? element : TSR_DTYPE_NONE);
    s->allocator = allocator;
    s->says_calls = says_calls;
    trace_storage(s);
    TsrStatus status = tsr_allocate_from(&s->ptr, allocator, device, nbytes);
    trace_storage(NULL);
    if (TSR_UNLIKELY(status != TSR_OK)) {
        give_struct(s);
        return status;
    }
    if (TSR_UNLIKELY(s->element != TSR_DTYPE_NONE) && (status = construct_range(s, 0, nbytes)) != TSR_OK) {
        tsr_deallocate(&s->ptr, allocator, nbytes);
        give_struct(s);
        return status;
    }
    link_storage(s);
    *out = s;
    return TSR_OK;
}

TsrStatus tsr_storage_new(TsrStorage **out, TsrDevice device, uint64_t nbytes, TsrDtype element) {
    if (tsr_device_has_backend(device)) TSR_TRY(tsr_device_resolve(&device));
    TsrAllocator *allocator = tsr_allocator_active(device.type);
    if (TSR_UNLIKELY(allocator == NULL)) return tsr_device_missing(device);
    return new_storage(out, allocator, device, nbytes, element, false);
}

TsrStatus tsr_storage_new_with_allocator(TsrStorage **out, TsrAllocator *allocator, uint64_t nbytes, TsrDtype element) {
    TsrDevice device = {allocator->device, -1};
    TSR_TRY(tsr_device_resolve(&device));
    tsr_trace_reason = "AllocateRaw";
    TsrStatus status = new_storage(out, allocator, device, nbytes, element, true);
    tsr_trace_reason = NULL;
    return status;
}

TsrStatus tsr_storage_new_adopt_move(TsrStorage **out, TsrDataPtr *ptr, uint64_t nbytes, const char *origin,
                                     const char *path) {
    char *kept = path != NULL ? tsr_mem_text(path, strlen(path)) : NULL;
    TsrStorage *s = path != NULL && kept == NULL ? NULL : take_struct();
    if (s == NULL) {
        tsr_free(kept);
        tsr_dataptr_release(ptr);
        return tsr_error_no_memory(sizeof *s);
    }
    initialise(s, nbytes, TSR_DTYPE_NONE);
    s->resizable = false;
    s->ptr = *ptr;
    s->origin = origin;
    s->path = kept;
    *ptr = (TsrDataPtr){NULL, NULL, NULL, ptr->device};
    if (s->ptr.deleter != NULL) tsr_trace(TSR_TRACE_ADOPT, origin, "foreign memory", (int64_t)nbytes, s->ptr.data, s);
    link_storage(s);
    *out = s;
    return TSR_OK;
}

TsrStorage *tsr_storage_retain(TsrStorage *storage) {
    if (storage != NULL) {
        __atomic_fetch_add((int32_t *)&storage->refcount, 1, __ATOMIC_RELAXED);
        if (TSR_UNLIKELY(tsr_trace_hook != NULL) && !tsr_trace_off)
            tsr_trace(TSR_TRACE_RETAIN, "storage", NULL, 0, storage, NULL);
    }
    return storage;
}

static void destroy(TsrStorage *s) {
    unlink_storage(s);
    release_memory(s);
    tsr_free(s->path);
    if (TSR_UNLIKELY(s->columns != NULL)) tsr_columns_free(s->columns);
    if (TSR_UNLIKELY(s->writes != NULL)) tsr_writes_free_hook(s->writes);
    if (TSR_LIKELY(s->version.refcount == 1)) give_struct(s);
    else tsr_version_free(&s->version); /* tensors elsewhere still count with it */
}

void tsr_version_free(TsrVersion *version) {
    if (__atomic_fetch_sub((int32_t *)&version->refcount, 1, __ATOMIC_ACQ_REL) != 1) return;
    if (version->home != NULL) give_struct(version->home);
    else tsr_free(version);
}

void tsr_storage_free(TsrStorage *storage) {
    if (storage == NULL) return;
    if (TSR_UNLIKELY(tsr_trace_hook != NULL) && !tsr_trace_off)
        tsr_trace(TSR_TRACE_RELEASE, "storage", NULL, 0, storage, NULL);
    /* The last holder needs no locked instruction: nobody else can reach the count any more. */
    if (__atomic_load_n((int32_t *)&storage->refcount, __ATOMIC_ACQUIRE) == 1) destroy(storage);
    else if (__atomic_fetch_sub((int32_t *)&storage->refcount, 1, __ATOMIC_ACQ_REL) == 1) destroy(storage);
}

int64_t tsr_storage_id(TsrStorage *storage) {
    tsr_lock(&list_lock);
    if (storage->id == 0) storage->id = ++next_id;
    int64_t id = storage->id;
    tsr_unlock(&list_lock);
    return id;
}

/* --- changing size and place --- */

/* Moves the first `keep` bytes into the block `fresh` of `capacity` bytes and gives the old block back. Elements with
 * constructors move as bytes, since none holds its own address. When a mapped file has lost the bytes, `fresh` is given
 * back and the storage stays as it was. */
static TsrStatus move_to(TsrStorage *s, TsrDataPtr *fresh, TsrAllocator *allocator, uint64_t capacity, uint64_t keep,
                         const char *what) {
    if (keep > 0 && fresh->data != NULL && s->ptr.data != NULL) {
        TsrStatus status = tsr_device_copy(fresh->data, fresh->device, s->ptr.data, s->ptr.device, keep);
        if (status == TSR_OK) status = tsr_memory_lost != 0 ? tsr_memory_check(s->ptr.data, keep) : TSR_OK;
        if (status != TSR_OK) {
            if (allocator != NULL) tsr_deallocate(fresh, allocator, capacity);
            else tsr_dataptr_release(fresh);
            return status;
        }
        tsr_trace(TSR_TRACE_COPY, what, "the storage moved", (int64_t)keep, s, NULL);
    }
    trace_storage(s);
    if (s->allocator != NULL) tsr_deallocate(&s->ptr, s->allocator, s->capacity);
    else return_memory(s);
    trace_storage(NULL);
    s->ptr = *fresh;
    s->allocator = allocator;
    s->capacity = capacity;
    return TSR_OK;
}

TsrStatus tsr_storage_move(TsrStorage *s, TsrAllocator *allocator) {
    TsrDataPtr fresh;
    trace_storage(s);
    TsrStatus status = tsr_allocate_from(&fresh, allocator, s->ptr.device, s->nbytes);
    trace_storage(NULL);
    return status == TSR_OK ? move_to(s, &fresh, allocator, s->nbytes, s->nbytes, "pin_memory") : status;
}

/* Makes nbytes larger, moving to a new block when the present one is too small. */
static TsrStatus grow(TsrStorage *s, uint64_t nbytes) {
    uint64_t old = s->nbytes;
    if (nbytes > s->capacity) {
        TsrDataPtr fresh;
        TsrAllocator *allocator = s->allocator != NULL ? s->allocator : tsr_allocator_active(s->ptr.device.type);
        trace_storage(s);
        TsrStatus status = tsr_allocate_from(&fresh, allocator, s->ptr.device, nbytes);
        trace_storage(NULL);
        TSR_TRY(status);
        TSR_TRY(move_to(s, &fresh, allocator, nbytes, old, "resize_"));
    }
    TSR_TRY(construct_range(s, old, nbytes));
    s->nbytes = nbytes;
    return TSR_OK;
}

/* Makes nbytes smaller. The block stays, for a later growth, unless nothing is left. */
static TsrStatus shrink(TsrStorage *s, uint64_t nbytes) {
    destroy_range(s, nbytes, s->nbytes);
    s->nbytes = nbytes;
    if (nbytes > 0) return TSR_OK;
    TsrDataPtr none = {NULL, NULL, NULL, s->ptr.device};
    return move_to(s, &none, s->allocator, 0, 0, "resize_");
}

TsrStatus tsr_storage_resize(TsrStorage *storage, uint64_t nbytes) {
    if (!storage->resizable) return tsr_error(TSR_RUNTIME_ERROR, "Trying to resize storage that is not resizable");
    if (storage->element != TSR_DTYPE_NONE &&
        nbytes % tsr_dtypes[storage->element].itemsize != 0) /* no half of a string */
        return tsr_error(TSR_RUNTIME_ERROR,
                         "a storage of %s elements holds whole ones of %zu bytes, not %" PRIu64 " bytes",
                         tsr_dtype_name(storage->element), (size_t)tsr_dtypes[storage->element].itemsize, nbytes);
    return nbytes > storage->nbytes   ? grow(storage, nbytes)
           : nbytes < storage->nbytes ? shrink(storage, nbytes)
                                      : TSR_OK;
}

TsrStatus tsr_storage_share_memory(TsrStorage *storage) {
    TsrDataPtr fresh;
    if (storage->shared || storage->ptr.device.type != TSR_CPU) return TSR_OK;
    if (storage->element != TSR_DTYPE_NONE)
        return tsr_error(TSR_RUNTIME_ERROR, "a storage of %s elements cannot be shared between processes",
                         tsr_dtype_name(storage->element));
    TSR_TRY(tsr_map_shared(&fresh, storage->nbytes));
    tsr_trace(TSR_TRACE_ADOPT, "shared", "shared between processes", (int64_t)storage->nbytes, fresh.data, storage);
    TSR_TRY(move_to(storage, &fresh, NULL, storage->nbytes, storage->nbytes, "share_memory_"));
    storage->shared = true;
    storage->resizable = false;
    storage->origin = "shared";
    return TSR_OK;
}

/* --- pinned memory --- */

/* The plugin registers the allocator when it is loaded. */
static TsrStatus find_pinned(TsrAllocator **out) {
    TsrDevice device = {TSR_CUDA, -1};
    TSR_TRY(tsr_device_resolve(&device));
    *out = tsr_allocator_find(TSR_CPU, "pinned");
    return *out != NULL ? TSR_OK : tsr_device_missing(device);
}

TsrStatus tsr_storage_new_pinned(TsrStorage **out, uint64_t nbytes) {
    TsrAllocator *pinned;
    TSR_TRY(find_pinned(&pinned));
    return new_storage(out, pinned, TSR_DEVICE_CPU, nbytes, TSR_DTYPE_NONE, false);
}

bool tsr_storage_is_pinned(const TsrStorage *s) { return s != NULL && s->allocator != NULL && s->allocator->pinned; }

TsrStatus tsr_storage_pin(TsrStorage *s) {
    TsrAllocator *pinned;
    if (tsr_storage_is_pinned(s)) return TSR_OK;
    TSR_TRY(find_pinned(&pinned));
    return tsr_storage_move(s, pinned);
}
