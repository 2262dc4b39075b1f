/* backend.h: the seam for devices that live in plugins (libtsr_cuda.so): what a plugin implements, and how it is found.
 *
 * A plugin is a shared object that exports one function, `tsr_backend_init` (TsrBackendInit). The core loads it when a
 * device of its type is first asked for, checks the interface's version, and lets it register its rows: an allocator or
 * more (alloc.h), kernels by operator name. So far tsr_backend_get has one caller, the namespaces THC and THCS, which
 * say whether there is a device; no tensor is made on one and find_kernel is not called. A plugin reaches the core only
 * through the headers that this one includes and the functions in TsrHost; it must not be unloaded. Where there is no
 * plugin the error says which names were tried and why each was refused. */
#ifndef TSR_BACKEND_H
#define TSR_BACKEND_H

#include "alloc.h"
#include "dtype.h"

TSR_PUBLIC_BEGIN

enum { TSR_BACKEND_VERSION = 1 }; /* changes whenever a struct below does */

/* A kernel takes a bound call (op.h); it returns TSR_NOT_IMPLEMENTED_ERROR for arguments that it does not support. */
struct TsrOpCall;
typedef TsrStatus (*TsrBackendKernel)(struct TsrOpCall *call);

/* What the core offers to a plugin; all lent, valid for ever. */
typedef struct TsrHost {
    uint32_t version;
    void (*register_allocator)(TsrAllocator *allocator); /* static lifetime */
    TsrStatus (*error)(TsrStatus kind, const char *format, ...);
} TsrHost;

/* One device type that a plugin serves. Entries marked optional may be NULL. */
typedef struct TsrBackend {
    uint32_t version;    /* TSR_BACKEND_VERSION the plugin was built with */
    const char *name;    /* "cuda" */
    uint8_t device_type; /* TsrDeviceType */
    int (*device_count)(void);
    TsrStatus (*copy)(void *dst, TsrDevice to, const void *src, TsrDevice from,
                      size_t bytes);     /* contiguous; ordered after earlier work; returns when done */
    TsrStatus (*synchronize)(int index); /* waits for all work; optional: there is none to wait for */
    TsrBackendKernel (*find_kernel)(
        const char *op_name); /* NULL for operators it does not have; the core then says so by name; optional */
    const char *(*describe)(int index); /* "NVIDIA H100"; optional */
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

TSR_PUBLIC_END

#endif
