/* pinned.c: the allocator `pinned`: memory of the host that the driver keeps in place, so that a device copies from and
 * to it by itself. By the rules of PyTorch's (CachingHostAllocator): sizes round up to powers of two, freed blocks are
 * kept by size; one that streams copied with (TSR_COPY_LATER) is given again only when these have come so far. */
#include <string.h>
#include <time.h>

#include "memory.h"
#include "stream.h"

enum { SIZES = 48, LEAST = 9, MOST_USERS = 16 };

typedef struct Block Block;
struct Block {
    void *data;
    int size; /* 2 to the power of it */
    int user_count;
    struct {
        int index;
        int64_t stream;
        CuEvent mark;
    } users[MOST_USERS];
    Block *next;            /* of the idle ones of a size */
    Block *older, *younger; /* of those in use */
};

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static Block *idle[SIZES], *in_use;
static TsrPinnedMemory numbers;

typedef struct timespec Moment;

/* The microseconds since `begin` as one more call of the driver. */
#define COUNT_TIME(times, begin) \
    do { \
        Moment now_; \
        clock_gettime(CLOCK_MONOTONIC, &now_); \
        int64_t taken_ = (now_.tv_sec - (begin).tv_sec) * 1000000 + (now_.tv_nsec - (begin).tv_nsec) / 1000; \
        (times).least = (times).count == 0 ? taken_ : TSR_MIN((times).least, taken_); \
        (times).most = TSR_MAX((times).most, taken_); \
        (times).total += taken_; \
        (times).count++; \
    } while (0)

static int size_for(size_t bytes) {
    int size = LEAST;
    while (size < SIZES && ((size_t)1 << size) < bytes) size++;
    return size;
}

static void link_used(Block *b) {
    b->older = in_use;
    b->younger = NULL;
    if (in_use != NULL) in_use->younger = b;
    in_use = b;
}

static void unlink_used(Block *b) {
    if (b->older != NULL) b->older->younger = b->younger;
    if (b->younger != NULL) b->younger->older = b->older;
    else in_use = b->older;
}

/* ---- streams that copy with a block ---- */

/* Whether all have come past the marks, which are then gone. `wait`: they are waited for. */
static bool is_free(Block *b, bool wait) {
    while (b->user_count > 0) {
        CuEvent mark = b->users[b->user_count - 1].mark;
        if (cuda_enter(b->users[b->user_count - 1].index) != TSR_OK) return false;
        if (wait && mark != NULL) (void)cuda.event_synchronize(mark);
        if (mark != NULL && !cuda_mark_passed(mark)) return false;
        if (mark != NULL) cuda_mark_free(mark);
        b->user_count--;
    }
    return true;
}

static void mark_users(Block *b) {
    for (int i = 0; i < b->user_count; i++)
        if (cuda_mark_new(&b->users[i].mark, b->users[i].index, b->users[i].stream) != TSR_OK) {
            b->users[i].mark = NULL;
            (void)cuda_wait_all(b->users[i].index);
        }
}

static void add_user(Block *b, int index, int64_t stream) {
    for (int i = 0; i < b->user_count; i++)
        if (b->users[i].index == index && b->users[i].stream == stream) return;
    if (b->user_count == MOST_USERS) { /* rare enough to wait for */
        (void)cuda_wait_all(index);
        return;
    }
    b->users[b->user_count].index = index;
    b->users[b->user_count].stream = stream;
    b->users[b->user_count++].mark = NULL;
}

void cuda_pinned_uses(void *address, int index, int64_t id) {
    const char *at = address;
    pthread_mutex_lock(&lock);
    for (Block *b = in_use; b != NULL; b = b->older) {
        const char *begin = b->data;
        if (at < begin || at >= begin + ((size_t)1 << b->size)) continue;
        add_user(b, index, id);
        break;
    }
    pthread_mutex_unlock(&lock);
}

/* ---- blocks ---- */

static void free_pinned(void *ctx) {
    Block *b = ctx;
    pthread_mutex_lock(&lock);
    mark_users(b);
    unlink_used(b);
    b->next = idle[b->size];
    idle[b->size] = b;
    cuda_pinned.cached += (int64_t)1 << b->size;
    cuda_stat_change(&numbers.active_requests, -1);
    cuda_stat_change(&numbers.active_bytes, -((int64_t)1 << b->size));
    pthread_mutex_unlock(&lock);
}

static Block *take_idle(int size) {
    for (Block **at = &idle[size]; *at != NULL; at = &(*at)->next) {
        Block *b = *at;
        if (!is_free(b, false)) continue;
        *at = b->next;
        cuda_pinned.cached -= (int64_t)1 << size;
        cuda_host->trace(TSR_TRACE_CACHE_HIT, "pinned", "kept block", (int64_t)1 << size, b->data);
        return b;
    }
    return NULL;
}

static void give_idle(void) {
    for (int size = 0; size < SIZES; size++)
        while (idle[size] != NULL) {
            Block *b = idle[size];
            idle[size] = b->next;
            (void)is_free(b, true);
            cuda_host->trace(TSR_TRACE_CALL, "cuMemFreeHost", "pinned", (int64_t)1 << size, b->data);
            Moment begin;
            clock_gettime(CLOCK_MONOTONIC, &begin);
            (void)cuda.pinned_free(b->data);
            COUNT_TIME(numbers.free_time, begin);
            cuda_pinned.cached -= (int64_t)1 << size;
            cuda_stat_change(&numbers.allocations, -1);
            cuda_stat_change(&numbers.allocated_bytes, -((int64_t)1 << size));
            numbers.num_host_free++;
            cuda_host->free(b);
        }
}

static TsrStatus new_block(Block **out, int size) {
    TSR_TRY(cuda_enter(cuda_current()));
    Block *b = cuda_host->malloc(sizeof *b);
    if (b == NULL) return cuda_host->error(TSR_MEMORY_ERROR, "no memory for the record of a block");
    memset(b, 0, sizeof *b);
    b->size = size;
    Moment begin;
    clock_gettime(CLOCK_MONOTONIC, &begin);
    CuResult result = cuda.pinned_new(&b->data, (size_t)1 << size, 0);
    if (result == CU_OUT_OF_MEMORY) {
        give_idle();
        result = cuda.pinned_new(&b->data, (size_t)1 << size, 0);
    }
    TsrStatus status = cuda_check(result);
    if (status != TSR_OK) {
        cuda_host->free(b);
        return status;
    }
    COUNT_TIME(numbers.alloc_time, begin);
    cuda_host->trace(TSR_TRACE_CALL, "cuMemHostAlloc", "pinned", (int64_t)1 << size, b->data);
    cuda_stat_change(&numbers.allocations, 1);
    cuda_stat_change(&numbers.allocated_bytes, (int64_t)1 << size);
    numbers.num_host_alloc++;
    *out = b;
    return TSR_OK;
}

static TsrStatus allocate(TsrAllocator *self, TsrDataPtr *out, size_t bytes) {
    (void)self;
    int size = size_for(bytes);
    TsrStatus status = TSR_OK;
    if (size >= SIZES) return cuda_check(CU_OUT_OF_MEMORY);
    pthread_mutex_lock(&lock);
    Block *b = take_idle(size);
    if (b == NULL) status = new_block(&b, size);
    if (status == TSR_OK) {
        link_used(b);
        cuda_stat_change(&numbers.active_requests, 1);
        cuda_stat_change(&numbers.active_bytes, (int64_t)1 << size);
        *out = (TsrDataPtr){b->data, b, free_pinned, TSR_DEVICE_CPU};
    }
    pthread_mutex_unlock(&lock);
    return status;
}

static void empty_cache(TsrAllocator *self) {
    (void)self;
    pthread_mutex_lock(&lock);
    if (cuda_enter(cuda_current()) == TSR_OK) give_idle(); /* a thread that has no context can't free */
    pthread_mutex_unlock(&lock);
}

TsrAllocator cuda_pinned = {
    .name = "pinned", .device = TSR_CPU, .pinned = true, .allocate = allocate, .empty_cache = empty_cache};

void cuda_pinned_memory(TsrPinnedMemory *out) {
    pthread_mutex_lock(&lock);
    *out = numbers;
    pthread_mutex_unlock(&lock);
}

/* As PyTorch: peaks are those of times too, and sums their numbers. */
void cuda_pinned_reset(bool sums) {
    pthread_mutex_lock(&lock);
    TsrStat *all[] = {&numbers.active_requests, &numbers.active_bytes, &numbers.allocations, &numbers.allocated_bytes};
    for (size_t i = 0; i < TSR_COUNTOF(all); i++) cuda_stat_reset(all[i], sums);
    if (sums) {
        numbers.num_host_alloc = numbers.num_host_free = 0;
        numbers.alloc_time.count = numbers.alloc_time.total = numbers.free_time.count = numbers.free_time.total = 0;
    } else {
        numbers.alloc_time.most = numbers.alloc_time.least = numbers.free_time.most = numbers.free_time.least = 0;
    }
    pthread_mutex_unlock(&lock);
}
