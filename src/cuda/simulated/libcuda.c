/* libcuda.c: a CUDA driver without a GPU, for tests and for whoever wants to learn about devices without one
 * (`tsr --simulate-cuda`).
 *
 * Exports what driver.def lists. Device memory is the host's, but an address that the driver gives is the host's plus
 * BIAS: on x86-64 and arm64 nothing lies there, so that code which reads device memory from the host faults at once.
 * Each block is a malloc of its own, which the address sanitizer guards, filled with 0xAB when it is given and with
 * 0xCD when it is freed. An address that lies in no block of the device is an error of the copy, as on a GPU.
 *
 * By the environment: TSR_SIM_DEVICES (default 1, at most 8; 0 is a driver without a GPU), TSR_SIM_MEMORY (MiB a
 * device, default 256), TSR_SIM_FAIL ("alloc:3": the third allocation fails for want of memory; "copy:2": the second
 * copy fails, as does each one after it when it ends in "+"). */
#include <pthread.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef int CuResult, CuDevice;
typedef struct CuContextBody {
    int index;
} * CuContext;
typedef uint64_t Address;

enum {
    SUCCESS,
    INVALID_VALUE = 1,
    OUT_OF_MEMORY = 2,
    NOT_STARTED = 3,
    NO_DEVICE = 100,
    INVALID_DEVICE = 101,
    INVALID_CONTEXT = 201,
    ILLEGAL_ADDRESS = 700
};
enum { MOST_DEVICES = 8 };
#define BIAS 0x600000000000ull
#define EXPORT __attribute__((visibility("default")))

typedef struct Block Block;
struct Block {
    Address address;
    size_t bytes;
    int index;
    Block *next;
};

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static Block *blocks;
static size_t used[MOST_DEVICES], memory;
static int count;
static bool started;
static struct CuContextBody contexts[MOST_DEVICES];
static _Thread_local CuContext current;
static struct {
    const char *what;
    long at, seen;
    bool on;
} failure;

static long number(const char *name, long otherwise) {
    const char *text = getenv(name);
    return text != NULL && *text != '\0' ? strtol(text, NULL, 10) : otherwise;
}

static void read_failure(void) {
    const char *text = getenv("TSR_SIM_FAIL");
    const char *colon = text != NULL ? strchr(text, ':') : NULL;
    if (colon == NULL) return;
    failure.what = text[0] == 'a' ? "alloc" : "copy";
    failure.at = strtol(colon + 1, NULL, 10);
    failure.on = text[strlen(text) - 1] == '+';
}

/* Whether this is the one that was asked to fail. */
static bool fails(const char *what) {
    if (failure.what == NULL || strcmp(failure.what, what) != 0) return false;
    long n = ++failure.seen;
    return n == failure.at || (failure.on && n > failure.at);
}

EXPORT CuResult cuInit(unsigned flags) {
    (void)flags;
    pthread_mutex_lock(&lock);
    if (!started) {
        long n = number("TSR_SIM_DEVICES", 1), mebibytes = number("TSR_SIM_MEMORY", 256);
        count = n < 0 ? 0 : n > MOST_DEVICES ? MOST_DEVICES : (int)n;
        memory = (size_t)(mebibytes > 0 ? mebibytes : 1) << 20;
        read_failure();
        for (int i = 0; i < MOST_DEVICES; i++) contexts[i].index = i;
        started = true;
    }
    pthread_mutex_unlock(&lock);
    return count > 0 ? SUCCESS : NO_DEVICE;
}

EXPORT CuResult cuDeviceGetCount(int *out) {
    *out = count;
    return started ? SUCCESS : NOT_STARTED;
}

EXPORT CuResult cuDeviceGet(CuDevice *device, int index) {
    *device = index;
    return index >= 0 && index < count ? SUCCESS : INVALID_DEVICE;
}

EXPORT CuResult cuDeviceGetName(char *name, int room, CuDevice device) {
    if (device < 0 || device >= count) return INVALID_DEVICE;
    snprintf(name, (size_t)room, "Simulated CUDA device");
    return SUCCESS;
}

EXPORT CuResult cuDeviceTotalMem_v2(size_t *bytes, CuDevice device) {
    *bytes = memory;
    return device >= 0 && device < count ? SUCCESS : INVALID_DEVICE;
}

EXPORT CuResult cuDeviceGetAttribute(int *value, int attribute, CuDevice device) {
    if (device < 0 || device >= count) return INVALID_DEVICE;
    switch (attribute) {
    case 16: *value = 2; return SUCCESS; /* multiprocessors */
    case 75: *value = 7; return SUCCESS; /* compute capability 7.0 */
    case 76: *value = 0; return SUCCESS;
    default: return INVALID_VALUE;
    }
}

EXPORT CuResult cuDevicePrimaryCtxRetain(CuContext *context, CuDevice device) {
    if (device < 0 || device >= count) return INVALID_DEVICE;
    *context = &contexts[device];
    return SUCCESS;
}

EXPORT CuResult cuCtxSetCurrent(CuContext context) {
    current = context;
    return SUCCESS;
}

EXPORT CuResult cuCtxSynchronize(void) { return current != NULL ? SUCCESS : INVALID_CONTEXT; }

EXPORT CuResult cuMemGetInfo_v2(size_t *unused, size_t *total) {
    if (current == NULL) return INVALID_CONTEXT;
    pthread_mutex_lock(&lock);
    *unused = memory - used[current->index];
    *total = memory;
    pthread_mutex_unlock(&lock);
    return SUCCESS;
}

static CuResult take(Address *out, size_t bytes) {
    if (fails("alloc") || bytes > memory - used[current->index]) return OUT_OF_MEMORY;
    Block *b = malloc(sizeof *b);
    char *data = malloc(bytes);
    if (b == NULL || data == NULL) {
        free(b);
        free(data);
        return OUT_OF_MEMORY;
    }
    memset(data, 0xAB, bytes);
    *b = (Block){(Address)(uintptr_t)data + BIAS, bytes, current->index, blocks};
    blocks = b;
    used[b->index] += bytes;
    *out = b->address;
    return SUCCESS;
}

EXPORT CuResult cuMemAlloc_v2(Address *out, size_t bytes) {
    if (current == NULL) return INVALID_CONTEXT;
    if (bytes == 0) return INVALID_VALUE;
    pthread_mutex_lock(&lock);
    CuResult result = take(out, bytes);
    pthread_mutex_unlock(&lock);
    return result;
}

EXPORT CuResult cuMemFree_v2(Address address) {
    CuResult result = INVALID_VALUE;
    pthread_mutex_lock(&lock);
    for (Block **at = &blocks; *at != NULL; at = &(*at)->next) {
        Block *b = *at;
        if (b->address != address) continue;
        char *data = (char *)(uintptr_t)(address - BIAS);
        memset(data, 0xCD, b->bytes);
        free(data);
        used[b->index] -= b->bytes;
        *at = b->next;
        free(b);
        result = SUCCESS;
        break;
    }
    pthread_mutex_unlock(&lock);
    return result;
}

/* The host's address of bytes that lie within one block; NULL: they do not. */
static void *within(Address address, size_t bytes) {
    for (const Block *b = blocks; b != NULL; b = b->next)
        if (address >= b->address && bytes <= b->bytes && address - b->address <= b->bytes - bytes)
            return (void *)(uintptr_t)(address - BIAS);
    return NULL;
}

static CuResult copy(void *to, const void *from, size_t bytes) {
    if (current == NULL) return INVALID_CONTEXT;
    if (to == NULL || from == NULL || fails("copy")) return ILLEGAL_ADDRESS;
    memmove(to, from, bytes);
    return SUCCESS;
}

EXPORT CuResult cuMemcpyHtoD_v2(Address to, const void *from, size_t bytes) {
    pthread_mutex_lock(&lock);
    CuResult result = copy(within(to, bytes), from, bytes);
    pthread_mutex_unlock(&lock);
    return result;
}

EXPORT CuResult cuMemcpyDtoH_v2(void *to, Address from, size_t bytes) {
    pthread_mutex_lock(&lock);
    CuResult result = copy(to, within(from, bytes), bytes);
    pthread_mutex_unlock(&lock);
    return result;
}

EXPORT CuResult cuMemcpyDtoD_v2(Address to, Address from, size_t bytes) {
    pthread_mutex_lock(&lock);
    CuResult result = copy(within(to, bytes), within(from, bytes), bytes);
    pthread_mutex_unlock(&lock);
    return result;
}

EXPORT CuResult cuMemcpyPeer(Address to, CuContext to_context, Address from, CuContext from_context, size_t bytes) {
    if (to_context == NULL || from_context == NULL) return INVALID_CONTEXT;
    return cuMemcpyDtoD_v2(to, from, bytes);
}

EXPORT CuResult cuGetErrorString(CuResult result, const char **text) {
    static const struct {
        CuResult result;
        const char *text;
    } texts[] = {{SUCCESS, "no error"},
                 {INVALID_VALUE, "invalid argument"},
                 {OUT_OF_MEMORY, "out of memory"},
                 {NOT_STARTED, "initialization error"},
                 {NO_DEVICE, "no CUDA-capable device is detected"},
                 {INVALID_DEVICE, "invalid device ordinal"},
                 {INVALID_CONTEXT, "invalid device context"},
                 {ILLEGAL_ADDRESS, "an illegal memory access was encountered"}};
    *text = NULL;
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++)
        if (texts[i].result == result) *text = texts[i].text;
    return *text != NULL ? SUCCESS : INVALID_VALUE;
}
