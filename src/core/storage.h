/* storage.h: refcounted bytes behind tensors (c10::StorageImpl).
 *
 * Invariants: `ptr` holds at least `nbytes` bytes (or none on meta); elements of a non-POD dtype are
 * constructed over the whole of nbytes and destroyed with the storage. Views hold the storage, never
 * one another. A storage may shrink below what a view needs: tensor.h's check reports it on use. */
#ifndef TSR_STORAGE_H
#define TSR_STORAGE_H

#include "alloc.h"
#include "columns.h"
#include "dtype.h"

TSR_PUBLIC_BEGIN

typedef struct TsrStorage TsrStorage;
/* Counts the writes that a tensor and its views share. Embedded in the storage that the tensor was made with; on the
 * heap for x.data. A tensor that set_ has moved to another storage keeps its counter. */
typedef struct TsrVersion {
    TSR_ATOMIC(int32_t)
    refcount; /* the home counts as one; tensors that hold the home are not counted, all others are */
    TSR_ATOMIC(int64_t) value;
    TsrStorage *home; /* the storage it is embedded in, NULL on the heap */
} TsrVersion;

/* Fields may be read by all; only storage.c writes them, but for `columns` (table.h), `readonly` and `writes`. */
struct TsrStorage {
    TSR_ATOMIC(int32_t) refcount;
    uint8_t element; /* dtype whose constructors ran (OBJECT dtypes), else TSR_DTYPE_NONE */
    bool resizable;
    bool readonly;   /* writes are refused: read-only mapping, bytes object */
    bool shared;     /* between processes */
    bool says_calls; /* the trace gives AllocateRaw, RunCtor, RunDtor, DeallocateRaw as reasons */
    TsrDataPtr ptr;
    uint64_t nbytes;         /* bytes in use: 64 bits everywhere, for tensors on meta have sizes that no memory has */
    uint64_t capacity;       /* bytes that ptr holds, >= nbytes */
    TsrAllocator *allocator; /* it made ptr and can grow it; NULL for foreign memory */
    TsrVersion version;      /* the default counter of tensors made with this storage */
    int64_t id;              /* 0 until first asked for (tsr_storage_id) */
    int64_t serial;          /* order of creation, for stable listings; 0 while it is being made */
    const char *origin;      /* "mmap", "borrowed", "shared", NULL for owned; static */
    char *path;              /* owned: the mapped file's; NULL: not a mapped file */
    TsrColumns *columns;     /* what is known of the table that was read into it (columns.h); NULL */
    void *writes;            /* whoever sees writes (tsr_write_hook) keeps a log of this storage's here; NULL: none */
    TsrStorage *prev, *next; /* all live storages, for storages() and leaks() */
};

/* `nbytes` of uninitialised memory from the device's active allocator; `element` constructs when not POD
 * (TSR_DTYPE_NONE or a POD dtype: nothing constructed). *out is the caller's. */
TsrStatus tsr_storage_new(TsrStorage **out, TsrDevice device, uint64_t nbytes, TsrDtype element);
/* As tsr_storage_new, from the given allocator, with the trace naming the calls that TensorFlow's Buffer makes of it.
 */
TsrStatus tsr_storage_new_with_allocator(TsrStorage **out, TsrAllocator *allocator, uint64_t nbytes, TsrDtype element);
/* Takes over foreign memory: *ptr is moved from, also on failure. `origin` static; `path` copied, may be NULL. */
TsrStatus tsr_storage_new_adopt_move(TsrStorage **out, TsrDataPtr *ptr, uint64_t nbytes, const char *origin,
                                     const char *path);
TsrStorage *tsr_storage_retain(TsrStorage *storage); /* one reference more; returns it; NULL is fine */
void tsr_storage_free(TsrStorage *storage);          /* one reference; NULL is fine */
/* Grows (contents kept, new bytes undefined) or shrinks nbytes; capacity is kept when shrinking to nonzero.
 * TSR_RUNTIME_ERROR when not resizable. Views keep working while they fit. */
TsrStatus tsr_storage_resize(TsrStorage *storage, uint64_t nbytes);
/* The number by which the language shows a storage: 1, 2, 3, ..., given when it is first asked for. Thread safe. */
int64_t tsr_storage_id(TsrStorage *storage);
/* Moves the bytes to a mapping shared between processes; in place, views follow. */
TsrStatus tsr_storage_share_memory(TsrStorage *storage);
/* Memory of the host that a device copies from and to by itself, from the backend of CUDA devices: PyTorch's error
 * where there is none. *out is the caller's. */
TsrStatus tsr_storage_new_pinned(TsrStorage **out, uint64_t nbytes);
bool tsr_storage_is_pinned(const TsrStorage *storage);
/* A fresh storage's bytes go to pinned memory, in place; its elements are plain and nobody has its address. */
TsrStatus tsr_storage_pin(TsrStorage *storage);
/* The first byte, NULL on meta; and how many hold the storage (a snapshot when threads share it). */
static inline void *tsr_storage_data(const TsrStorage *s) { return s->ptr.data; }
static inline int32_t tsr_storage_refcount(const TsrStorage *s) { return s->refcount; }
void tsr_version_free(TsrVersion *version); /* one counted reference */
int64_t tsr_storage_last_serial(void);      /* the youngest storage's; those that are gone count */
TsrStorage *tsr_storage_first(void);        /* live storages, oldest first, by ->next; single-threaded use */

TSR_PUBLIC_END

#endif
