/* driver.c: opens NVIDIA's driver when the first device is asked for, and keeps a primary context a device.
 *
 * Everything here is by the driver's documented interface; nothing of NVIDIA's is linked or included. */
#include "cuda/kernels/chain.h"

#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "library.h"

CudaDriver cuda;
const TsrHost *cuda_host;
static struct {
    int count, version;
    void *simulated; /* the driver's library, when it is the simulated one */
    int multiprocessors[CUDA_MAX_DEVICES], threads_held[CUDA_MAX_DEVICES]; /* 0 until asked */
    CuContext context[CUDA_MAX_DEVICES];                                   /* NULL until first entered */
} devices;
static _Thread_local int current;

static TsrStatus no_driver(const char *why) { return cuda_host->error(TSR_RUNTIME_ERROR, "no CUDA driver: %s", why); }

/* Of a driver that is there, PyTorch's words. */
static TsrStatus too_old(void *library) {
    int version = 0;
    CuResult (*ask)(int *version);
    void *symbol = dlsym(library, "cuDriverGetVersion");
    memcpy(&ask, &symbol, sizeof ask); /* ISO C has no cast from object to function pointers */
    if (ask != NULL) (void)ask(&version);
    return cuda_host->error(
        TSR_ACCELERATOR_ERROR,
        "The NVIDIA driver on your system is too old (found version %d). Please update your GPU driver by downloading "
        "and installing a new version from the URL: http://www.nvidia.com/Download/index.aspx Alternatively, go to: "
        "https://pytorch.org to install a PyTorch version that has been compiled with your version of the CUDA driver.",
        version);
}

static TsrStatus find_symbols(void *library) {
    static const char *const symbols[] = {
#define DRIVER(name, symbol, parameters) symbol,
#include "driver.def"
#undef DRIVER
    };
    void *found[TSR_COUNTOF(symbols)];
    _Static_assert(sizeof found == sizeof cuda, "a pointer a function");
    for (size_t i = 0; i < TSR_COUNTOF(symbols); i++) {
        found[i] = dlsym(library, symbols[i]);
        if (found[i] != NULL) continue;
        return too_old(library);
    }
    memcpy(&cuda, found, sizeof cuda); /* ISO C has no cast from object to function pointers */
    return TSR_OK;
}

static TsrStatus start(void) {
    const char *text = NULL;
    CuResult result = cuda.init(0);
    if (result == CU_SUCCESS) result = cuda.device_count(&devices.count);
    if (result == CU_NO_DEVICE || (result == CU_SUCCESS && devices.count < 1))
        return cuda_host->error(TSR_ACCELERATOR_ERROR, "No CUDA GPUs are available");
    if (result != CU_SUCCESS) {
        if (cuda.error_text(result, &text) != CU_SUCCESS || text == NULL) text = "it does not start";
        return cuda_host->error(TSR_ACCELERATOR_ERROR,
                                "CUDA driver initialization failed, you might not have a CUDA gpu. (%s)", text);
    }
    if (cuda.version(&devices.version) != CU_SUCCESS) devices.version = 0;
    devices.count = TSR_MIN(devices.count, CUDA_MAX_DEVICES);
    return TSR_OK;
}

TsrStatus cuda_driver_open(void) {
    char beside[4096];
    const char *path = getenv("TSR_CUDA_DRIVER");
    if (path == NULL || *path == '\0') path = "libcuda.so.1";
    if (strcmp(path, "simulated") == 0 && cuda_path_beside(beside, sizeof beside, "libtsr_cuda_simulated.so"))
        path = beside;
    void *library = dlopen(path, RTLD_NOW | RTLD_LOCAL);
    if (library == NULL) return no_driver(dlerror());
    TsrStatus status = find_symbols(library);
    if (status == TSR_OK) status = start();
    if (status != TSR_OK) dlclose(library);
    else if (dlsym(library, "tsr_simulated_cuda") != NULL) devices.simulated = library;
    return status;
}

int cuda_device_count(void) { return devices.count; }
int cuda_current(void) { return current; }
int cuda_driver_version(void) { return devices.version; }
bool cuda_is_simulated(void) { return devices.simulated != NULL; }
void *cuda_simulated_library(void) { return devices.simulated; }

/* A number of a device that the driver is asked for once. */
static int number_of(int *slot, int index, int attribute, int otherwise) {
    int n = __atomic_load_n(slot, __ATOMIC_RELAXED);
    CuDevice device;
    if (n != 0) return n;
    if (cuda.device_get == NULL || cuda.device_get(&device, index) != CU_SUCCESS ||
        cuda.device_attribute(&n, attribute, device) != CU_SUCCESS || n < 1)
        n = otherwise;
    __atomic_store_n(slot, n, __ATOMIC_RELAXED);
    return n;
}

int cuda_multiprocessors(int index) {
    return number_of(&devices.multiprocessors[index], index, CU_ATTRIBUTE_MULTIPROCESSORS, 1);
}
int cuda_threads_held(int index) {
    return number_of(&devices.threads_held[index], index, CU_ATTRIBUTE_THREADS_HELD, 1024);
}

static TsrStatus check_index(int index) {
    if (index >= 0 && index < devices.count) return TSR_OK;
    return cuda_check(CU_INVALID_DEVICE);
}

TsrStatus cuda_set_current(int index) {
    TSR_TRY(check_index(index));
    current = index;
    return TSR_OK;
}

static const struct ErrorName {
    CuResult number;
    const char *name;
    bool late; /* of work that was given to the device before */
    bool lost; /* the context is: all that comes fails */
} error_names[] = {
#define ERROR(number, name, late) {number, name, late, false},
#define LOST(number, name, late) {number, name, late, true},
#include "errors.def"
#undef LOST
#undef ERROR
};

static const struct ErrorName *error_name(CuResult result) {
    static const struct ErrorName unknown;
    for (size_t i = 0; i < TSR_COUNTOF(error_names); i++)
        if (error_names[i].number == result) return &error_names[i];
    return &unknown;
}

TsrStatus cuda_check(CuResult result) {
    const char *text = NULL;
    char where[192] = "";
    if (TSR_LIKELY(result == CU_SUCCESS)) return TSR_OK;
    if (cuda.error_text(result, &text) != CU_SUCCESS || text == NULL) text = "unrecognized error code";
    const struct ErrorName *e = error_name(result);
    if (result == CU_INVALID_DEVICE)
        snprintf(where, sizeof where, "GPU device may be out of range, do you have enough GPUs?\n");
    else if (e->name != NULL)
        snprintf(
            where, sizeof where,
            "Search for `cudaError%s' in https://docs.nvidia.com/cuda/cuda-runtime-api/group__CUDART__TYPES.html for "
            "more information.\n",
            e->name);
    cuda_host->error(TSR_ACCELERATOR_ERROR, "CUDA error: %s\n%s%s", text, where,
                     !e->late ? ""
                              : "CUDA kernel errors might be asynchronously reported at some other API call, so "
                                "the stacktrace below might be incorrect.\nFor debugging consider passing "
                                "CUDA_LAUNCH_BLOCKING=1\n");
    if (e->lost)
        cuda_host->hint("the device's memory is lost to this process, and all work there fails from now on; tensors of "
                        "the host are as they were");
    return TSR_ACCELERATOR_ERROR;
}

TsrStatus cuda_enter(int index) {
    CuDevice device;
    TSR_TRY(check_index(index));
    CuContext context = __atomic_load_n(&devices.context[index], __ATOMIC_ACQUIRE);
    if (context == NULL) { /* two threads may both retain it: it is kept for ever */
        TSR_TRY(cuda_check(cuda.device_get(&device, index)));
        TSR_TRY(cuda_check(cuda.context_retain(&context, device)));
        __atomic_store_n(&devices.context[index], context, __ATOMIC_RELEASE);
    }
    return cuda_check(cuda.context_set(context));
}

CuContext cuda_context(int index) { return __atomic_load_n(&devices.context[index], __ATOMIC_ACQUIRE); }

TsrStatus cuda_wait_all(int index) {
    TSR_TRY(cuda_chain_flush());
    TSR_TRY(cuda_enter(index));
    return cuda_check(cuda.context_synchronize());
}

TsrStatus cuda_facts(TsrDeviceFacts *out, int index) {
    CuDevice device;
    size_t bytes = 0;
    /* The numbers of the driver's attributes; a driver that does not know one leaves 0. */
    const struct {
        int attribute, *field;
    } attributes[] = {{1, &out->block_threads},
                      {8, &out->shared},
                      {10, &out->warp},
                      {13, &out->clock},
                      {CU_ATTRIBUTE_MULTIPROCESSORS, &out->multiprocessors},
                      {18, &out->integrated},
                      {33, &out->bus},
                      {34, &out->slot},
                      {36, &out->memory_clock},
                      {37, &out->memory_width},
                      {38, &out->cache},
                      {CU_ATTRIBUTE_THREADS_HELD, &out->multiprocessor_threads},
                      {50, &out->domain},
                      {75, &out->major},
                      {76, &out->minor},
                      {81, &out->shared_all},
                      {82, &out->registers},
                      {84, &out->several},
                      {97, &out->shared_most}};
    memset(out, 0, sizeof *out);
    TSR_TRY(check_index(index));
    TSR_TRY(cuda_check(cuda.device_get(&device, index)));
    TSR_TRY(cuda_check(cuda.device_name(out->name, sizeof out->name, device)));
    TSR_TRY(cuda_check(cuda.device_memory(&bytes, device)));
    TSR_TRY(cuda_check(cuda.device_uuid(out->uuid, device)));
    for (size_t i = 0; i < TSR_COUNTOF(attributes); i++)
        if (cuda.device_attribute(attributes[i].field, attributes[i].attribute, device) != CU_SUCCESS)
            *attributes[i].field = 0;
    out->memory = bytes;
    return TSR_OK;
}

TsrStatus cuda_free_memory(size_t *out, int index) {
    size_t total;
    TSR_TRY(cuda_enter(index));
    return cuda_check(cuda.memory_info(out, &total));
}

TsrStatus cuda_can_access_peer(bool *out, int index, int peer) {
    CuDevice a, b;
    int can = 0;
    TSR_TRY(cuda_check(cuda.device_get(&a, index)));
    TSR_TRY(cuda_check(cuda.device_get(&b, peer)));
    if (index != peer) TSR_TRY(cuda_check(cuda.can_access_peer(&can, a, b)));
    *out = can != 0;
    return TSR_OK;
}
