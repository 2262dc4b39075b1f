/* libcuda.c: a CUDA driver without a GPU, for tests and for whoever wants to learn about devices without one
 * (`tsr --simulate-cuda`).
 *
 * Exports what driver.def lists. Device memory is the host's, but an address that the driver gives is the host's plus
 * BIAS: on x86-64 and arm64 nothing lies there, so that code which reads device memory from the host faults at once.
 * Each block is a malloc of its own, which the address sanitizer guards, filled with 0xAB when it is given and with
 * 0xCD when it is freed. An address that lies in no block of the device is an error of the copy, as on a GPU.
 *
 * Work goes into streams, and nothing of it is done before something waits for it: then what waits for nothing is done,
 * in an order that is drawn at random among all streams' next pieces, until what was waited for is there. So a program
 * that forgets to wait reads what was there before, and one whose streams need an order that no event gives them does
 * not get it. cuMemFree and cuMemFreeHost wait for everything, as on a GPU.
 *
 * By the environment: TSR_SIM_SEED (default 0) draws the order; TSR_SIM_DEVICES (default 1, at most 8; 0 is a driver
 * without a GPU); TSR_SIM_PEERS=0 (no device reaches another); TSR_SIM_MEMORY (MiB a device, default 256); TSR_SIM_SLOW
 * (milliseconds for a piece of work, default 0); TSR_SIM_FAIL
 * ("alloc:3": the third allocation of device memory fails for want of it, "host:3" of pinned memory; "copy:2": the
 * second copy fails; "launch:2": the second kernel is not started; "event:2": the second event is not made; "module:2":
 * the second kernel's code is refused; with a "+" at the end so does each one after it. "fault:2": the second kernel
 * reads an address that is none, after which everything fails, as on a GPU). TSR_SIM_CAPABILITY (default 70) is ten
 * times the compute capability; the simulated compiler knows 70. With TSR_SIM_COUNT=1 the number of kernels that were
 * launched is written to standard error when the process ends. */
#include <pthread.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "kernels.h"

typedef int CuResult, CuDevice;
typedef struct CuContextBody {
    int index;
} * CuContext;
typedef struct CuStreamBody *CuStream;
typedef struct CuEventBody *CuEvent;
typedef uint64_t Address;

enum {
    SUCCESS,
    INVALID_VALUE = 1,
    OUT_OF_MEMORY = 2,
    NOT_STARTED = 3,
    NO_DEVICE = 100,
    INVALID_DEVICE = 101,
    INVALID_CONTEXT = 201,
    INVALID_HANDLE = 400,
    NOT_READY = 600,
    OUT_OF_RESOURCES = 701,
    LAUNCH_FAILED = 719,
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
    char *data; /* the host's address, by which tools that look for leaks find the memory */
};

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static Block *blocks;
static size_t used[MOST_DEVICES], memory;
static int count;
static bool started, lost; /* lost: a kernel went astray, and nothing works any more */
static struct CuContextBody contexts[MOST_DEVICES];
static _Thread_local CuContext current;
static struct {
    const char *what;
    long at, seen;
    bool on;
} failure;

/* One piece of work in a stream. */
typedef struct Work Work;
struct Work {
    enum { COPY, RECORD, WAIT, LAUNCH } kind;
    void *to;
    const void *from;
    size_t bytes;
    CuEvent event;
    Launch *launch;
    long ticket; /* of the event's record that this is, or waits for */
    Work *next;
};

struct CuStreamBody {
    int index;
    Work *first, *last;
    CuStream next;
};

/* An event is recorded again and again: each record has a number, and waits are for a number. Freed while work still
 * names it, it lives on until that is done. */
struct CuEventBody {
    long recorded, passed; /* the last record that was put into a stream, and that was reached */
    long step;             /* when it was reached */
    int users;
    bool freed;
};

static struct CuStreamBody default_streams[MOST_DEVICES];
static CuStream streams; /* all but these */
static uint64_t random_state = 1;
static long steps, slow, launches;

static long number(const char *name, long otherwise) {
    const char *text = getenv(name);
    return text != NULL && *text != '\0' ? strtol(text, NULL, 10) : otherwise;
}

static void read_failure(void) {
    const char *text = getenv("TSR_SIM_FAIL");
    const char *colon = text != NULL ? strchr(text, ':') : NULL;
    if (colon == NULL) return;
    static const char *const whats[] = {"copy", "alloc", "host", "event", "launch", "module", "fault"};
    failure.what = whats[0];
    for (size_t i = 0; i < sizeof whats / sizeof *whats; i++)
        if (strncmp(text, whats[i], (size_t)(colon - text)) == 0) failure.what = whats[i];
    failure.at = strtol(colon + 1, NULL, 10);
    failure.on = text[strlen(text) - 1] == '+';
}

/* Whether this is the one that was asked to fail. */
bool simulated_fails(const char *what) {
    if (failure.what == NULL || strcmp(failure.what, what) != 0) return false;
    long n = ++failure.seen;
    return n == failure.at || (failure.on && n > failure.at);
}

/* By this name the plugin knows that the device is no real one. */
EXPORT const char tsr_simulated_cuda[] = "simulated";

EXPORT CuResult cuInit(unsigned flags) {
    (void)flags;
    pthread_mutex_lock(&lock);
    if (!started) {
        long n = number("TSR_SIM_DEVICES", 1), mebibytes = number("TSR_SIM_MEMORY", 256);
        count = n < 0 ? 0 : n > MOST_DEVICES ? MOST_DEVICES : (int)n;
        memory = (size_t)(mebibytes > 0 ? mebibytes : 1) << 20;
        random_state = (uint64_t)number("TSR_SIM_SEED", 0) * 2 + 1;
        slow = number("TSR_SIM_SLOW", 0);
        read_failure();
        for (int i = 0; i < MOST_DEVICES; i++) contexts[i].index = i;
        started = true;
    }
    pthread_mutex_unlock(&lock);
    return count > 0 ? SUCCESS : NO_DEVICE;
}

/* Of CUDA 13.0. */
EXPORT CuResult cuDriverGetVersion(int *version) {
    *version = 13000;
    return SUCCESS;
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

EXPORT CuResult cuDeviceGetUuid_v2(unsigned char uuid[16], CuDevice device) {
    if (device < 0 || device >= count) return INVALID_DEVICE;
    memset(uuid, 0, 16);
    return SUCCESS;
}

EXPORT CuResult cuDeviceGetAttribute(int *value, int attribute, CuDevice device) {
    if (device < 0 || device >= count) return INVALID_DEVICE;
    switch (attribute) {
    case 1: *value = 1024; return SUCCESS;     /* threads a block */
    case 8: *value = 49152; return SUCCESS;    /* shared memory a block */
    case 10: *value = 32; return SUCCESS;      /* threads a warp */
    case 16: *value = 2; return SUCCESS;       /* multiprocessors */
    case 38: *value = 4 << 20; return SUCCESS; /* second cache */
    case 39: *value = 2048; return SUCCESS;    /* threads a multiprocessor */
    case 75: *value = (int)number("TSR_SIM_CAPABILITY", 70) / 10; return SUCCESS;
    case 76: *value = (int)number("TSR_SIM_CAPABILITY", 70) % 10; return SUCCESS;
    case 81: *value = 102400; return SUCCESS; /* shared memory a multiprocessor */
    case 82: *value = 65536; return SUCCESS;  /* registers a multiprocessor */
    case 97: *value = 101376; return SUCCESS; /* shared memory a block that asks for it */
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

EXPORT CuResult cuMemGetInfo_v2(size_t *unused, size_t *total) {
    if (current == NULL) return INVALID_CONTEXT;
    pthread_mutex_lock(&lock);
    *unused = memory - used[current->index];
    *total = memory;
    pthread_mutex_unlock(&lock);
    return SUCCESS;
}

static void finish_all(void);

static CuResult take(Address *out, size_t bytes) {
    if (simulated_fails("alloc") || bytes > memory - used[current->index]) return OUT_OF_MEMORY;
    Block *b = malloc(sizeof *b);
    char *data = aligned_alloc(512, (bytes + 511) / 512 * 512); /* as a GPU's blocks lie */
    if (b == NULL || data == NULL) {
        free(b);
        free(data);
        return OUT_OF_MEMORY;
    }
    memset(data, 0xAB, bytes);
    *b = (Block){(Address)(uintptr_t)data + BIAS, bytes, current->index, blocks, data};
    blocks = b;
    used[b->index] += bytes;
    *out = b->address;
    return SUCCESS;
}

EXPORT CuResult cuMemAlloc_v2(Address *out, size_t bytes) {
    if (current == NULL) return INVALID_CONTEXT;
    if (bytes == 0) return INVALID_VALUE;
    pthread_mutex_lock(&lock);
    CuResult result = lost ? ILLEGAL_ADDRESS : take(out, bytes);
    pthread_mutex_unlock(&lock);
    return result;
}

EXPORT CuResult cuMemFree_v2(Address address) {
    CuResult result = INVALID_VALUE;
    pthread_mutex_lock(&lock);
    finish_all();
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

/* ---- streams ---- */

static unsigned draw(unsigned below) {
    random_state = random_state * 6364136223846793005u + 1442695040888963407u;
    return (unsigned)(random_state >> 33) % below;
}

static CuStream stream_of(CuStream stream) { return stream != NULL ? stream : &default_streams[current->index]; }

static bool is_ready(const struct CuStreamBody *s) {
    return s->first != NULL && (s->first->kind != WAIT || s->first->event->passed >= s->first->ticket);
}

static void drop_user(CuEvent e) {
    if (--e->users == 0 && e->freed) free(e);
}

static void do_first(CuStream s) {
    Work *w = s->first;
    steps++;
    if (slow > 0) usleep((unsigned)slow * 1000);
    if (w->kind == COPY) memmove(w->to, w->from, w->bytes);
    if (w->kind == LAUNCH && simulated_fails("fault")) lost = true;
    else if (w->kind == LAUNCH && !lost) launch_run(w->launch, draw(4));
    launch_free(w->launch);
    if (w->kind == RECORD && w->ticket > w->event->passed) {
        w->event->passed = w->ticket;
        w->event->step = steps;
    }
    if (w->event != NULL) drop_user(w->event);
    s->first = w->next;
    if (s->first == NULL) s->last = NULL;
    free(w);
}

/* One piece of work of some stream; false: there is none that could be done. */
static bool step(void) {
    CuStream found = NULL;
    unsigned ready = 0;
    for (int i = 0; i < count; i++)
        if (is_ready(&default_streams[i]) && draw(++ready) == 0) found = &default_streams[i];
    for (CuStream s = streams; s != NULL; s = s->next)
        if (is_ready(s) && draw(++ready) == 0) found = s;
    if (found != NULL) do_first(found);
    return found != NULL;
}

static void finish_all(void) {
    while (step()) {}
}

static CuResult put(CuStream s, Work work) {
    Work *w = malloc(sizeof *w);
    if (w == NULL) return OUT_OF_MEMORY;
    *w = work;
    if (w->event != NULL) w->event->users++;
    if (s->last != NULL) s->last->next = w;
    else s->first = w;
    s->last = w;
    return SUCCESS;
}

/* A call with the lock held, on a thread with a context. */
#define LOCKED(expression) \
    do { \
        CuResult locked_result_ = INVALID_CONTEXT; \
        pthread_mutex_lock(&lock); \
        if (lost) locked_result_ = ILLEGAL_ADDRESS; \
        else if (current != NULL) locked_result_ = (expression); \
        pthread_mutex_unlock(&lock); \
        return locked_result_; \
    } while (0)

static CuResult new_stream(CuStream *out) {
    CuStream s = calloc(1, sizeof *s);
    if (s == NULL) return OUT_OF_MEMORY;
    s->index = current->index;
    s->next = streams;
    streams = *out = s;
    return SUCCESS;
}

EXPORT CuResult cuStreamCreateWithPriority(CuStream *out, unsigned flags, int priority) {
    (void)flags;
    (void)priority;
    LOCKED(new_stream(out));
}

/* Whoever asks again and again comes to an end. */
EXPORT CuResult cuStreamQuery(CuStream stream) {
    LOCKED(stream_of(stream)->first == NULL ? SUCCESS : (step(), lost ? ILLEGAL_ADDRESS : NOT_READY));
}

EXPORT CuResult cuCtxSynchronize(void) { LOCKED((finish_all(), lost ? ILLEGAL_ADDRESS : SUCCESS)); }

EXPORT CuResult cuStreamWaitEvent(CuStream stream, CuEvent event, unsigned flags) {
    (void)flags;
    LOCKED(event->recorded == 0
               ? SUCCESS
               : put(stream_of(stream), (Work){.kind = WAIT, .event = event, .ticket = event->recorded}));
}

/* ---- events ---- */

static CuResult new_event(CuEvent *out) {
    CuEvent e = simulated_fails("event") ? NULL : calloc(1, sizeof *e);
    if (e == NULL) return OUT_OF_MEMORY;
    *out = e;
    return SUCCESS;
}

EXPORT CuResult cuEventCreate(CuEvent *out, unsigned flags) {
    (void)flags;
    LOCKED(new_event(out));
}

EXPORT CuResult cuEventDestroy_v2(CuEvent event) {
    pthread_mutex_lock(&lock);
    event->freed = true;
    if (event->users == 0) free(event);
    pthread_mutex_unlock(&lock);
    return SUCCESS;
}

static CuResult record(CuEvent e, CuStream s) {
    CuResult result = put(s, (Work){.kind = RECORD, .event = e, .ticket = e->recorded + 1});
    if (result == SUCCESS) e->recorded++;
    return result;
}

EXPORT CuResult cuEventRecord(CuEvent event, CuStream stream) { LOCKED(record(event, stream_of(stream))); }

EXPORT CuResult cuEventQuery(CuEvent event) {
    LOCKED(event->passed >= event->recorded ? SUCCESS : (step(), NOT_READY));
}

static CuResult finish_event(const struct CuEventBody *e) {
    while (e->passed < e->recorded && step()) {}
    return SUCCESS;
}

EXPORT CuResult cuEventSynchronize(CuEvent event) { LOCKED(finish_event(event)); }

/* A step takes a microsecond. */
static CuResult elapsed(float *milliseconds, const struct CuEventBody *from, const struct CuEventBody *to) {
    if (from->recorded == 0 || to->recorded == 0) return INVALID_HANDLE;
    if (from->passed < from->recorded || to->passed < to->recorded) return NOT_READY;
    *milliseconds = (float)(to->step - from->step) / 1000;
    return SUCCESS;
}

EXPORT CuResult cuEventElapsedTime(float *milliseconds, CuEvent from, CuEvent to) {
    LOCKED(elapsed(milliseconds, from, to));
}

/* ---- kernels ---- */

static CuResult launch(CuStream s, CuFunction function, unsigned blocks, unsigned blocks_y, unsigned threads,
                       void **arguments) {
    enum { MOST_BLOCKS_Y = 65535, MOST_THREADS = 1024, MOST_ARGUMENTS = 4096 };
    if (simulated_fails("launch")) return LAUNCH_FAILED;
    if (blocks == 0 || blocks > INT32_MAX || blocks_y == 0 || blocks_y > MOST_BLOCKS_Y || threads == 0 ||
        threads > MOST_THREADS || function->args > MOST_ARGUMENTS)
        return INVALID_VALUE;
    if (threads > function->threads) return OUT_OF_RESOURCES; /* than the kernel was compiled for */
    Launch *l = launch_new(function, blocks, blocks_y, threads, arguments[0]);
    if (l == NULL) return OUT_OF_MEMORY;
    CuResult result = put(s, (Work){.kind = LAUNCH, .launch = l});
    if (result != SUCCESS) launch_free(l);
    else launches++;
    return result;
}

__attribute__((destructor)) static void tell_launches(void) {
    if (launches > 0 && number("TSR_SIM_COUNT", 0) != 0) fprintf(stderr, "%ld kernels\n", launches);
}

EXPORT CuResult cuLaunchKernel(CuFunction function, unsigned blocks, unsigned blocks_y, unsigned blocks_z,
                               unsigned threads, unsigned threads_y, unsigned threads_z, unsigned shared,
                               CuStream stream, void **arguments, void **extra) {
    if (function == NULL || blocks_z != 1 || threads_y != 1 || threads_z != 1 || shared != 0 || extra != NULL)
        return INVALID_VALUE;
    LOCKED(launch(stream_of(stream), function, blocks, blocks_y, threads, arguments));
}

/* ---- copies and pinned memory ---- */

static CuResult copy(CuStream s, void *to, const void *from, size_t bytes) {
    if (to == NULL || from == NULL || simulated_fails("copy")) return ILLEGAL_ADDRESS;
    return put(
        s, (Work) {
            .kind = COPY
            , .to = to, .from = from, .bytes = bytes
        });
}

EXPORT CuResult cuMemcpyHtoDAsync_v2(Address to, const void *from, size_t bytes, CuStream stream) {
    LOCKED(copy(stream_of(stream), within(to, bytes), from, bytes));
}

EXPORT CuResult cuMemcpyDtoHAsync_v2(void *to, Address from, size_t bytes, CuStream stream) {
    LOCKED(copy(stream_of(stream), to, within(from, bytes), bytes));
}

EXPORT CuResult cuMemcpyDtoDAsync_v2(Address to, Address from, size_t bytes, CuStream stream) {
    LOCKED(copy(stream_of(stream), within(to, bytes), within(from, bytes), bytes));
}

EXPORT CuResult cuMemcpyPeerAsync(Address to, CuContext to_context, Address from, CuContext from_context, size_t bytes,
                                  CuStream stream) {
    if (to_context == NULL || from_context == NULL) return INVALID_CONTEXT;
    LOCKED(copy(stream_of(stream), within(to, bytes), within(from, bytes), bytes));
}

EXPORT CuResult cuDeviceCanAccessPeer(int *can, CuDevice device, CuDevice peer) {
    *can = device != peer && number("TSR_SIM_PEERS", 1) != 0;
    return device >= 0 && device < count && peer >= 0 && peer < count ? SUCCESS : INVALID_DEVICE;
}

static CuResult new_pinned(void **out, size_t bytes) {
    *out = simulated_fails("host") ? NULL : aligned_alloc(4096, (bytes + 4095) / 4096 * 4096);
    if (*out != NULL) memset(*out, 0xAB, bytes);
    return *out != NULL ? SUCCESS : OUT_OF_MEMORY;
}

EXPORT CuResult cuMemHostAlloc(void **out, size_t bytes, unsigned flags) {
    (void)flags;
    LOCKED(new_pinned(out, bytes));
}

/* For kernels: pinned memory where the device sees it. */
EXPORT CuResult cuMemHostGetDevicePointer_v2(Address *out, void *block, unsigned flags) {
    (void)flags;
    *out = (Address)(uintptr_t)block + BIAS;
    return SUCCESS;
}

EXPORT CuResult cuMemFreeHost(void *block) { LOCKED((finish_all(), free(block), SUCCESS)); }

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
                 {INVALID_HANDLE, "invalid resource handle"},
                 {NOT_READY, "device not ready"},
                 {500, "named symbol not found"},
                 {OUT_OF_RESOURCES, "too many resources requested for launch"},
                 {LAUNCH_FAILED, "unspecified launch failure"},
                 {ILLEGAL_ADDRESS, "an illegal memory access was encountered"}};
    *text = NULL;
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++)
        if (texts[i].result == result) *text = texts[i].text;
    return *text != NULL ? SUCCESS : INVALID_VALUE;
}
