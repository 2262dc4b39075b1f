/* driver.h: NVIDIA's driver as the plugin sees it: functions found by dlopen, devices, contexts, errors as statuses. */
#ifndef CUDA_DRIVER_H
#define CUDA_DRIVER_H

#include "core/backend.h"

typedef int CuResult, CuDevice;
typedef struct CuContextBody *CuContext;
typedef struct CuStreamBody *CuStream;
typedef struct CuEventBody *CuEvent;
typedef struct CuModuleBody *CuModule;
typedef struct CuFunctionBody *CuFunction;
enum { CU_SUCCESS = 0, CU_OUT_OF_MEMORY = 2, CU_NO_DEVICE = 100, CU_INVALID_DEVICE = 101, CU_NOT_READY = 600 };
enum {
    CU_INVALID_IMAGE = 200,
    CU_NO_BINARY = 209,
    CU_INVALID_PTX = 218,
    CU_NO_PTX_COMPILER = 221,
    CU_UNSUPPORTED_PTX = 222
};
enum { CU_HOST_PORTABLE = 1, CU_HOST_MAPPED = 2 };
enum { CU_STREAM_NON_BLOCKING = 1, CU_EVENT_DISABLE_TIMING = 2 };
enum { CU_ATTRIBUTE_MULTIPROCESSORS = 16, CU_ATTRIBUTE_THREADS_HELD = 39 };
enum { CUDA_MAX_DEVICES = 16 };

typedef struct CudaDriver {
#define DRIVER(name, symbol, parameters) CuResult(*name) parameters;
#include "driver.def"
#undef DRIVER
} CudaDriver;

extern CudaDriver cuda;          /* valid once cuda_driver_open has succeeded */
extern const TsrHost *cuda_host; /* the core's functions; set before anything else is called */

/* Opens the driver ($TSR_CUDA_DRIVER, else libcuda.so.1; the word "simulated" is the library beside this plugin),
 * starts it and counts the devices. TSR_RUNTIME_ERROR: there is no driver; TSR_ACCELERATOR_ERROR, in PyTorch's words:
 * there is one, which is too old, does not start or has no device. Once is enough. */
TsrStatus cuda_driver_open(void);
int cuda_device_count(void);         /* at most CUDA_MAX_DEVICES */
int cuda_current(void);              /* this thread's device */
int cuda_driver_version(void);       /* the CUDA that the driver is for, 12040 for 12.4; 0: it does not say */
bool cuda_is_simulated(void);        /* the driver is the simulated one */
void *cuda_simulated_library(void);  /* the library that stands for it then */
int cuda_multiprocessors(int index); /* 1 where the driver does not say */
int cuda_threads_held(int index);    /* threads that a multiprocessor holds; 1024 where it does not say */
TsrStatus cuda_set_current(int index);
/* Makes the primary context of a device, which is retained at its first use and kept, the one that calls go to.
 * TSR_ACCELERATOR_ERROR. */
TsrStatus cuda_enter(int index);
/* "CUDA error: ..." with the driver's words; TSR_OK for CU_SUCCESS. */
TsrStatus cuda_check(CuResult result);
CuContext cuda_context(int index);  /* NULL until it was entered */
TsrStatus cuda_wait_all(int index); /* until all work on the device is done */
TsrStatus cuda_facts(TsrDeviceFacts *out, int index);
TsrStatus cuda_free_memory(size_t *out, int index);
TsrStatus cuda_can_access_peer(bool *out, int index, int peer);

#endif
