/* pretended_cudart.c: a CUDA runtime without a GPU, under which PyTorch's own allocator, streams, events and random
 * streams can be asked what they do (cuda_memory.py, cuda_names.py device). Loaded before the real one by LD_PRELOAD;
 * never part of tsr.
 *
 * Memory of the "device" is the host's, copies are done at once, kernels do nothing; with PRETENDED_LOG=1 each launch
 * is written to stderr: kernel, blocks, threads. PRETENDED_DEVICES (default 1), PRETENDED_MEMORY (MiB a device,
 * default 256), PRETENDED_SMS (default 2) are as the simulated driver of src/cuda has them; PRETENDED_COPY_ERROR is
 * what copies fail with.
 *
 *   gcc -shared -fPIC -O1 -I SITE/nvidia/cu13/include -o pretended.so tests/oracle/pretended_cudart.c */
#include <cuda_runtime_api.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MOST = 8, MOST_KERNELS = 65536 };
static _Thread_local int current;
static _Thread_local cudaError_t last;
static size_t used[MOST];
static struct {
    void *data;
    size_t bytes;
    int device;
} blocks[4096];
static struct {
    const void *host;
    const char *name;
} kernels[MOST_KERNELS];
static int nkernels;

static long number(const char *name, long otherwise) {
    const char *text = getenv(name);
    return text != NULL ? atol(text) : otherwise;
}
static int devices(void) { return (int)number("PRETENDED_DEVICES", 1); }
static size_t memory(void) { return (size_t)number("PRETENDED_MEMORY", 256) << 20; }
static int sms(void) { return (int)number("PRETENDED_SMS", 2); }
static cudaError_t fail(cudaError_t e) { return last = e; }

cudaError_t cudaGetLastError(void) {
    cudaError_t e = last;
    last = 0;
    return e;
}
cudaError_t cudaPeekAtLastError(void) { return last; }
cudaError_t cudaGetDeviceCount(int *count) { return *count = devices(), 0; }
cudaError_t cudaGetDevice(int *device) { return *device = current, 0; }
cudaError_t cudaSetDevice(int device) {
    if (device < 0 || device >= devices()) return fail(cudaErrorInvalidDevice);
    return current = device, 0;
}
cudaError_t cudaDriverGetVersion(int *version) { return *version = 13020, 0; }
cudaError_t cudaDeviceCanAccessPeer(int *can, int device, int peer) { return *can = device != peer, 0; }
cudaError_t cudaDeviceEnablePeerAccess(int peer, unsigned flags) { return 0; }
cudaError_t cudaDeviceGetPCIBusId(char *text, int room, int device) {
    return snprintf(text, room, "0000:%02x:00.0", device), 0;
}
cudaError_t cudaDeviceGetStreamPriorityRange(int *least, int *greatest) { return *least = 0, *greatest = -5, 0; }
cudaError_t cudaGetDeviceProperties(struct cudaDeviceProp *p, int device) {
    memset(p, 0, sizeof *p);
    strcpy(p->name, "Simulated CUDA device");
    p->totalGlobalMem = memory();
    p->major = 7;
    p->minor = 0;
    p->multiProcessorCount = sms();
    p->maxThreadsPerMultiProcessor = 2048;
    p->maxThreadsPerBlock = 1024;
    p->warpSize = 32;
    p->regsPerMultiprocessor = p->regsPerBlock = 65536;
    p->sharedMemPerBlock = 49152;
    p->sharedMemPerMultiprocessor = 102400;
    p->sharedMemPerBlockOptin = 101376;
    p->l2CacheSize = 4 << 20;
    p->unifiedAddressing = 1;
    for (int i = 0; i < 3; i++) p->maxGridSize[i] = i == 0 ? 2147483647 : 65535;
    for (int i = 0; i < 3; i++) p->maxThreadsDim[i] = i == 2 ? 64 : 1024;
    return 0;
}
cudaError_t cudaDeviceGetAttribute(int *value, enum cudaDeviceAttr attribute, int device) {
    *value = attribute == cudaDevAttrMultiProcessorCount           ? sms()
             : attribute == cudaDevAttrComputeCapabilityMajor      ? 7
             : attribute == cudaDevAttrMaxThreadsPerMultiProcessor ? 2048
             : attribute == cudaDevAttrMaxThreadsPerBlock          ? 1024
             : attribute == cudaDevAttrWarpSize                    ? 32
                                                                   : 0;
    return 0;
}

cudaError_t cudaMalloc(void **out, size_t bytes) {
    if (used[current] + bytes > memory()) return fail(cudaErrorMemoryAllocation);
    for (size_t i = 0; i < sizeof blocks / sizeof *blocks; i++)
        if (blocks[i].data == NULL) {
            if (posix_memalign(&blocks[i].data, 2 << 20, bytes)) return fail(cudaErrorMemoryAllocation);
            blocks[i].bytes = bytes;
            blocks[i].device = current;
            used[current] += bytes;
            *out = blocks[i].data;
            return 0;
        }
    return fail(cudaErrorMemoryAllocation);
}
cudaError_t cudaFree(void *data) {
    cudaDeviceSynchronize();
    for (size_t i = 0; data != NULL && i < sizeof blocks / sizeof *blocks; i++)
        if (blocks[i].data == data) {
            used[blocks[i].device] -= blocks[i].bytes;
            blocks[i].data = NULL;
            free(data);
            return 0;
        }
    return data == NULL ? 0 : fail(cudaErrorInvalidValue);
}
cudaError_t cudaMemGetInfo(size_t *unused, size_t *all) {
    *all = memory();
    *unused = memory() - used[current];
    return 0;
}
cudaError_t cudaHostAlloc(void **out, size_t bytes, unsigned flags) {
    return posix_memalign(out, 4096, bytes) ? fail(cudaErrorMemoryAllocation) : 0;
}
cudaError_t cudaFreeHost(void *data) { return free(data), 0; }
cudaError_t cudaPointerGetAttributes(struct cudaPointerAttributes *a, const void *data) {
    memset(a, 0, sizeof *a);
    a->type = cudaMemoryTypeUnregistered;
    for (size_t i = 0; i < sizeof blocks / sizeof *blocks; i++) {
        const char *from = blocks[i].data;
        if (from == NULL || (const char *)data < from || (const char *)data >= from + blocks[i].bytes) continue;
        a->type = cudaMemoryTypeDevice;
        a->device = blocks[i].device;
        a->devicePointer = (void *)data;
    }
    return 0;
}
cudaError_t cudaMemcpyAsync(void *to, const void *from, size_t bytes, enum cudaMemcpyKind kind, cudaStream_t s) {
    long error = number("PRETENDED_COPY_ERROR", 0);
    return error != 0 ? fail((cudaError_t)error) : (memcpy(to, from, bytes), 0);
}
cudaError_t cudaMemcpy(void *to, const void *from, size_t bytes, enum cudaMemcpyKind kind) {
    return memcpy(to, from, bytes), 0;
}
cudaError_t cudaMemcpyPeerAsync(void *to, int a, const void *from, int b, size_t bytes, cudaStream_t s) {
    return memcpy(to, from, bytes), 0;
}
cudaError_t cudaMemsetAsync(void *to, int value, size_t bytes, cudaStream_t s) { return memset(to, value, bytes), 0; }
cudaError_t cudaMemset(void *to, int value, size_t bytes) { return memset(to, value, bytes), 0; }

/* Streams and events. What an event stands for has happened once somebody waited, for it, its stream or the device; or
 * the second time that somebody asks, as with the simulated driver. */
static long now = 1;
typedef struct Stream {
    int priority;
    long waited;
} Stream;
typedef struct Event {
    long at;
    Stream *stream;
} Event;
static Stream default_stream;
static long all_waited;
static Stream *stream_of(cudaStream_t s) { return s == NULL ? &default_stream : (Stream *)s; }

cudaError_t cudaStreamCreateWithPriority(cudaStream_t *out, unsigned flags, int priority) {
    Stream *s = calloc(1, sizeof *s);
    s->priority = priority;
    *out = (cudaStream_t)s;
    return 0;
}
cudaError_t cudaStreamGetPriority(cudaStream_t s, int *priority) { return *priority = stream_of(s)->priority, 0; }
cudaError_t cudaStreamQuery(cudaStream_t s) { return 0; }
cudaError_t cudaStreamSynchronize(cudaStream_t s) { return stream_of(s)->waited = now++, 0; }
cudaError_t cudaDeviceSynchronize(void) { return all_waited = now++, 0; }
cudaError_t cudaStreamWaitEvent(cudaStream_t s, cudaEvent_t e, unsigned flags) { return 0; }
cudaError_t cudaStreamIsCapturing(cudaStream_t s, enum cudaStreamCaptureStatus *status) {
    return *status = cudaStreamCaptureStatusNone, 0;
}
cudaError_t cudaThreadExchangeStreamCaptureMode(enum cudaStreamCaptureMode *mode) { return 0; }
cudaError_t cudaEventCreateWithFlags(cudaEvent_t *out, unsigned flags) {
    return *out = (cudaEvent_t)calloc(1, sizeof(Event)), 0;
}
cudaError_t cudaEventDestroy(cudaEvent_t e) { return free(e), 0; }
cudaError_t cudaEventRecord(cudaEvent_t e, cudaStream_t s) {
    *(Event *)e = (Event){now++, stream_of(s)};
    return 0;
}
cudaError_t cudaEventRecordWithFlags(cudaEvent_t e, cudaStream_t s, unsigned flags) { return cudaEventRecord(e, s); }
cudaError_t cudaEventQuery(cudaEvent_t event) {
    const Event *e = (Event *)event;
    if (e->stream == NULL || e->stream->waited > e->at || all_waited > e->at) return 0;
    e->stream->waited = e->at + 1;
    return fail(cudaErrorNotReady);
}
cudaError_t cudaEventSynchronize(cudaEvent_t event) {
    const Event *e = (Event *)event;
    if (e->stream != NULL && e->stream->waited < e->at) e->stream->waited = e->at + 1;
    return 0;
}
cudaError_t cudaEventElapsedTime(float *ms, cudaEvent_t from, cudaEvent_t to) { return *ms = 1, 0; }

/* ---- launches ---- */

void **__cudaRegisterFatBinary(void *binary) {
    static void *handle;
    return &handle;
}
void __cudaRegisterFatBinaryEnd(void **handle) {}
void __cudaUnregisterFatBinary(void **handle) {}
void __cudaRegisterFunction(void **handle, const char *host, char *device, const char *name, int limit, void *tid,
                            void *bid, void *bdim, void *gdim, int *wsize) {
    if (nkernels < MOST_KERNELS) kernels[nkernels].host = host, kernels[nkernels++].name = name;
}
void __cudaRegisterVar(void **handle, char *host, char *device, const char *name, int ext, size_t size, int constant,
                       int global) {}
static const char *name_of(const void *host) {
    for (int i = 0; i < nkernels; i++)
        if (kernels[i].host == host) return kernels[i].name;
    return "?";
}
static _Thread_local struct {
    dim3 grid, block;
    size_t shared;
    cudaStream_t stream;
} call;
unsigned __cudaPushCallConfiguration(dim3 grid, dim3 block, size_t shared, struct CUstream_st *stream) {
    call.grid = grid, call.block = block, call.shared = shared, call.stream = stream;
    return 0;
}
cudaError_t __cudaPopCallConfiguration(dim3 *grid, dim3 *block, size_t *shared, void *stream) {
    *grid = call.grid, *block = call.block, *shared = call.shared, *(cudaStream_t *)stream = call.stream;
    return 0;
}
static cudaError_t launched(const void *kernel, dim3 grid, dim3 block) {
    if (number("PRETENDED_LOG", 0))
        fprintf(stderr, "launch %u %u %u x %u %u %u %.300s\n", grid.x, grid.y, grid.z, block.x, block.y, block.z,
                name_of(kernel));
    return 0;
}
cudaError_t __cudaGetKernel(cudaKernel_t *out, const void *host) { return *out = (cudaKernel_t)host, 0; }
cudaError_t __cudaLaunchKernel(cudaKernel_t kernel, dim3 grid, dim3 block, void **args, size_t shared, cudaStream_t s) {
    return launched((const void *)kernel, grid, block);
}
cudaError_t cudaLaunchKernel(const void *kernel, dim3 grid, dim3 block, void **args, size_t shared, cudaStream_t s) {
    return launched(kernel, grid, block);
}
cudaError_t cudaLaunchKernelExC(const cudaLaunchConfig_t *config, const void *kernel, void **args) {
    return launched(kernel, config->gridDim, config->blockDim);
}
cudaError_t cudaFuncGetAttributes(struct cudaFuncAttributes *a, const void *kernel) {
    memset(a, 0, sizeof *a);
    a->maxThreadsPerBlock = 1024;
    a->numRegs = 32;
    a->binaryVersion = a->ptxVersion = 90;
    return 0;
}
cudaError_t cudaFuncSetAttribute(const void *kernel, enum cudaFuncAttribute attribute, int value) { return 0; }
cudaError_t cudaOccupancyMaxActiveBlocksPerMultiprocessor(int *n, const void *kernel, int threads, size_t shared) {
    return *n = 2048 / threads, 0;
}
cudaError_t cudaOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(int *n, const void *kernel, int threads,
                                                                   size_t shared, unsigned flags) {
    return *n = 2048 / threads, 0;
}

/* ---- the driver: what PyTorch looks up by name. It is this library too, under the name libcuda.so.1 ---- */

int cuDevicePrimaryCtxGetState(int device, unsigned *flags, int *active) { return *flags = 0, *active = 1, 0; }
int cuCtxGetCurrent(void **context) { return *context = kernels, 0; }
int cuCtxSetCurrent(void *context) { return 0; }
static int nothing(void) { return 0; }
cudaError_t cudaGetDriverEntryPointByVersion(const char *symbol, void **out, unsigned version, unsigned long long flags,
                                             enum cudaDriverEntryPointQueryResult *found) {
    if (found != NULL) *found = cudaDriverEntryPointSuccess;
    *out = strcmp(symbol, "cuDevicePrimaryCtxGetState") == 0 ? (void *)cuDevicePrimaryCtxGetState : (void *)nothing;
    return 0;
}

/* ---- what is asked for and has nothing to do ---- */

cudaError_t cudaStreamGetCaptureInfo(cudaStream_t s, enum cudaStreamCaptureStatus *status, unsigned long long *id,
                                     cudaGraph_t *graph, const cudaGraphNode_t **nodes, const cudaGraphEdgeData **edges,
                                     size_t *count) {
    return *status = cudaStreamCaptureStatusNone, 0;
}
cudaError_t cudaRuntimeGetVersion(int *version) { return *version = 13020, 0; }
cudaError_t cudaGetSymbolAddress(void **out, const void *symbol) { return *out = calloc(1, 65536), 0; }
cudaError_t cudaDeviceGetDefaultMemPool(cudaMemPool_t *out, int device) { return *out = NULL, 0; }
cudaError_t cudaMemcpyToSymbol(const void *symbol, const void *from, size_t n, size_t at, enum cudaMemcpyKind kind) {
    return 0;
}
cudaError_t cudaStreamDestroy(cudaStream_t s) { return 0; }
cudaError_t cudaStreamCreateWithFlags(cudaStream_t *out, unsigned flags) {
    return cudaStreamCreateWithPriority(out, flags, 0);
}
cudaError_t cudaStreamCreate(cudaStream_t *out) { return cudaStreamCreateWithPriority(out, 0, 0); }
cudaError_t cudaEventCreate(cudaEvent_t *out) { return cudaEventCreateWithFlags(out, 0); }
cudaError_t cudaMallocHost(void **out, size_t bytes) { return cudaHostAlloc(out, bytes, 0); }
cudaError_t cudaLaunchHostFunc(cudaStream_t s, cudaHostFn_t f, void *data) { return f(data), 0; }
cudaError_t cudaProfilerStart(void) { return 0; }
cudaError_t cudaProfilerStop(void) { return 0; }
