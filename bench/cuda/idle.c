/* idle.c: a CUDA driver that does nothing at once: what is left is what tsr itself does for an operator on a device.
 * bench/cuda/overhead builds and uses it. */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define NOTHING(name) \
    int name(void) { return 0; }
NOTHING(cuInit)
NOTHING(cuCtxSetCurrent)
NOTHING(cuCtxSynchronize)
NOTHING(cuMemFree_v2)
NOTHING(cuMemcpyHtoDAsync_v2)
NOTHING(cuMemcpyDtoDAsync_v2)
NOTHING(cuMemcpyPeerAsync)
NOTHING(cuStreamQuery)
NOTHING(cuStreamWaitEvent)
NOTHING(cuEventDestroy_v2)
NOTHING(cuEventRecord)
NOTHING(cuEventQuery)
NOTHING(cuEventSynchronize)
NOTHING(cuLaunchKernel)

static uint64_t next_address = UINT64_C(0x700000000000); /* nothing lies there */
static int give(void *out, size_t bytes) {
    memcpy(out, &next_address, sizeof next_address);
    next_address += (bytes + 511) / 512 * 512;
    return 0;
}
static int number(int *out, int value) {
    *out = value;
    return 0;
}

int cuDriverGetVersion(int *version) { return number(version, 13000); }
int cuDeviceGetCount(int *count) { return number(count, 1); }
int cuDeviceGet(int *device, int index) { return number(device, index); }
int cuDeviceCanAccessPeer(int *can) { return number(can, 0); }
int cuDeviceGetName(char *name, int room) { return snprintf(name, (size_t)room, "Idle driver") < 0; }
int cuDeviceGetUuid_v2(uint8_t uuid[16]) { return memset(uuid, 0, 16) == NULL; }
/* The multiprocessors of an H100 and the threads that one holds; the compute capability that kernels are made for. */
int cuDeviceGetAttribute(int *value, int attribute) {
    return number(value, attribute == 16   ? 132
                         : attribute == 39 ? 2048
                         : attribute == 75 ? 7
                         : attribute == 76 ? 0
                                           : 1);
}
int cuDeviceTotalMem_v2(size_t *bytes) {
    *bytes = (size_t)80 << 30;
    return 0;
}
int cuMemGetInfo_v2(size_t *unused, size_t *total) { return cuDeviceTotalMem_v2(unused) | cuDeviceTotalMem_v2(total); }
int cuDevicePrimaryCtxRetain(void **context) { return give(context, 512); }
int cuMemAlloc_v2(uint64_t *address, size_t bytes) { return give(address, bytes); }
int cuStreamCreateWithPriority(void **stream) { return give(stream, 512); }
int cuEventCreate(void **event) { return give(event, 512); }
int cuModuleLoadData(void **module) { return give(module, 512); }
int cuModuleGetFunction(void **function) { return give(function, 512); }
int cuMemHostAlloc(void **block, size_t bytes) { return (*block = calloc(1, bytes)) == NULL; }
int cuMemFreeHost(void *block) {
    free(block);
    return 0;
}
int cuMemHostGetDevicePointer_v2(uint64_t *address, void *block) {
    *address = (uint64_t)(uintptr_t)block;
    return 0;
}
int cuMemcpyDtoHAsync_v2(void *to, uint64_t from, size_t bytes) {
    (void)from;
    return memset(to, 0, bytes) == NULL;
}
int cuEventElapsedTime(float *milliseconds) {
    *milliseconds = 0;
    return 0;
}
int cuGetErrorString(int result, const char **text) {
    (void)result;
    *text = "no error";
    return 0;
}
