/* backend.h: the seam for devices that live in plugins (libtsr_cuda.so): what a plugin implements, and how it is found.
 *
 * A plugin is a shared object that exports one function, `tsr_backend_init` (TsrBackendInit). The core loads it when a
 * device of its type is first asked for, checks the interface's version, and lets it register its allocators (alloc.h).
 * A plugin sees addresses and bytes, never a tensor; it reaches the core only through the functions in TsrHost and
 * must not be unloaded. What an operator computes on a device it computes on the host, its storages lent for the call
 * (tensor/loan.h). Where there is no plugin the error says which names were tried and why each was refused. */
#ifndef TSR_BACKEND_H
#define TSR_BACKEND_H

#include "alloc.h"
#include "dtype.h"

TSR_PUBLIC_BEGIN

enum { TSR_BACKEND_VERSION = 2 }; /* changes whenever a struct below does */

typedef uint64_t TsrAddress; /* of device or host memory; no pointer, so that nobody reads it by accident */

/* What the core offers to a plugin; all lent, valid for ever. */
typedef struct TsrHost {
    uint32_t version;
    void (*register_allocator)(TsrAllocator *allocator); /* static lifetime */
    TsrStatus (*error)(TsrStatus kind, const char *format, ...);
    void (*hint)(const char *format, ...); /* of the error that was just raised */
    void *(*malloc)(size_t bytes);         /* counted; NULL when memory is short */
    void (*free)(void *block);
} TsrHost;

/* What a device says of itself. */
typedef struct TsrDeviceFacts {
    char name[256];   /* "NVIDIA H100 80GB HBM3" */
    uint64_t memory;  /* bytes in all */
    int major, minor; /* compute capability */
    int multiprocessors;
} TsrDeviceFacts;

/* Bytes that a device's allocators have given to tensors and taken from the driver, now and at most. */
typedef struct TsrDeviceMemory {
    int64_t allocated, allocated_peak, reserved, reserved_peak;
} TsrDeviceMemory;

/* One device type that a plugin serves. All entries are required. `index` is one of 0 to device_count() - 1. */
typedef struct TsrBackend {
    uint32_t version;    /* TSR_BACKEND_VERSION the plugin was built with */
    const char *name;    /* "cuda" */
    uint8_t device_type; /* TsrDeviceType */
    int (*device_count)(void);
    int (*current)(void); /* where a tensor goes when no index is given */
    TsrStatus (*set_current)(int index);
    /* Contiguous bytes between two devices or a device and the host; ordered after earlier work; returns when done. */
    TsrStatus (*copy)(TsrAddress dst, TsrDevice to, TsrAddress src, TsrDevice from, size_t bytes);
    TsrStatus (*synchronize)(int index); /* waits for all work */
    TsrStatus (*facts)(TsrDeviceFacts *out, int index);
    TsrStatus (*free_memory)(size_t *out, int index); /* bytes that the driver has left */
    void (*memory)(TsrDeviceMemory *out, int index);
    void (*reset_peaks)(int index);
} TsrBackend;

/* The exported symbol. Fills *out; TSR_RUNTIME_ERROR with the reason when the machine lacks the device. */
typedef TsrStatus (*TsrBackendInit)(const TsrHost *host, TsrBackend *out);
#define TSR_BACKEND_SYMBOL "tsr_backend_init"

/* The backend of a device type, loaded on first use: looks for libtsr_NAME.so in the folders of $TSR_BACKEND_PATH,
 * beside the program, in
 * ../lib/tsr beside it, then by the system's search path. TSR_RUNTIME_ERROR, whose hint lists what was tried and why it
 * was refused. */
TsrStatus tsr_backend_get(const TsrBackend **lent, uint8_t device_type);
/* Loads one file. TSR_RUNTIME_ERROR "PATH: not a tsr backend: ...". */
TsrStatus tsr_backend_load(const TsrBackend **lent, const char *path);
/* The device that is meant: "cuda" is the current one of its type, for which the backend is loaded. TSR_RUNTIME_ERROR
 * for an index that there is no device of; PyTorch's error where there is no backend. Other types are left alone. */
TsrStatus tsr_device_resolve(TsrDevice *device);
/* Contiguous bytes from one place to another, each on a device or the host. They must not overlap. */
TsrStatus tsr_device_copy(void *dst, TsrDevice to, const void *src, TsrDevice from, size_t bytes);

TSR_PUBLIC_END

#endif
