/* caching.c: the allocator `cuda_caching`, by the published rules of PyTorch's (c10/cuda/CUDACachingAllocator.cpp), so
 * that memory_allocated() and memory_reserved() are the same numbers.
 *
 * Sizes round up to 512 bytes. Up to 1 MiB they are cut from segments of 2 MiB, the small pool; below 10 MiB from
 * segments of 20 MiB; larger ones get a segment of their own, a multiple of 2 MiB. The free block that fits best is
 * taken, the lowest address among equals, and what is left over is split off: from 512 bytes on in the small pool,
 * above 1 MiB in the large one. A block that is freed merges with free neighbours of its segment; segments go back to
 * the driver when the cache is emptied or the driver has no more. */
#include <pthread.h>

#include "memory.h"

enum {
    STEP = 512,
    SMALL = 1 << 20, /* the largest of the small pool */
    SMALL_SEGMENT = 2 << 20,
    LARGE_SEGMENT = 20 << 20,
    LARGE = 10 << 20, /* from here on a segment of its own */
    LARGE_STEP = 2 << 20
};

typedef struct Block Block;
struct Block {
    int index;
    bool small, used;
    TsrAddress address;
    size_t size;
    Block *before, *after;  /* neighbours in the segment */
    Block *previous, *next; /* in the list of free ones: by size, then by address */
};

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static Block *idle[CUDA_MAX_DEVICES][2]; /* large, small */

static void add_idle(Block *b) {
    Block **at = &idle[b->index][b->small], *previous = NULL;
    while (*at != NULL && ((*at)->size < b->size || ((*at)->size == b->size && (*at)->address < b->address))) {
        previous = *at;
        at = &previous->next;
    }
    b->used = false;
    b->previous = previous;
    b->next = *at;
    if (b->next != NULL) b->next->previous = b;
    *at = b;
    cuda_caching.cached += (int64_t)b->size;
}

static void remove_idle(Block *b) {
    if (b->previous != NULL) b->previous->next = b->next;
    else idle[b->index][b->small] = b->next;
    if (b->next != NULL) b->next->previous = b->previous;
    b->previous = b->next = NULL;
    cuda_caching.cached -= (int64_t)b->size;
}

static Block *best_fit(int index, bool small, size_t size) {
    Block *b = idle[index][small];
    while (b != NULL && b->size < size) b = b->next;
    if (b != NULL) remove_idle(b);
    return b;
}

/* Whole segments of one device, or of all (-1), go back to the driver. Called with the lock held. */
static void give_segments(int only) {
    for (int index = 0; index < cuda_device_count(); index++)
        for (int small = 0; small < 2 && (only < 0 || only == index); small++)
            for (Block *b = idle[index][small], *next; b != NULL; b = next) {
                next = b->next;
                if (b->before != NULL || b->after != NULL) continue;
                remove_idle(b);
                cuda_give(index, b->address, b->size);
                cuda_host->free(b);
            }
}

static size_t segment_size(size_t size) {
    if (size <= SMALL) return SMALL_SEGMENT;
    if (size < LARGE) return LARGE_SEGMENT;
    return (size + LARGE_STEP - 1) / LARGE_STEP * LARGE_STEP;
}

static TsrStatus new_segment(Block **out, int index, size_t size) {
    TsrAddress address;
    size_t bytes = segment_size(size);
    Block *b = cuda_host->malloc(sizeof *b);
    if (b == NULL) return cuda_host->error(TSR_MEMORY_ERROR, "no memory for the record of a block");
    TsrStatus status = cuda_take(&address, index, bytes);
    if (status == TSR_OK && address == 0) {
        give_segments(index);
        status = cuda_take(&address, index, bytes);
    }
    if (status == TSR_OK && address == 0) status = cuda_out_of_memory(index, bytes);
    if (status != TSR_OK) {
        cuda_host->free(b);
        return status;
    }
    *b = (Block){.index = index, .small = size <= SMALL, .address = address, .size = bytes};
    *out = b;
    return TSR_OK;
}

/* What is more than `size` becomes a free block; without memory for its record the block stays whole. */
static void split(Block *b, size_t size) {
    size_t rest = b->size - size;
    if (b->small ? rest < STEP : rest <= SMALL) return;
    Block *r = cuda_host->malloc(sizeof *r);
    if (r == NULL) return;
    *r = (Block){.index = b->index,
                 .small = b->small,
                 .address = b->address + size,
                 .size = rest,
                 .before = b,
                 .after = b->after};
    if (r->after != NULL) r->after->before = r;
    b->after = r;
    b->size = size;
    add_idle(r);
}

/* `b` takes in its neighbour behind it, which is free and in no list any more. */
static void absorb(Block *b, Block *behind) {
    b->size += behind->size;
    b->after = behind->after;
    if (b->after != NULL) b->after->before = b;
    cuda_host->free(behind);
}

static void free_block(void *ctx) {
    Block *b = ctx;
    pthread_mutex_lock(&lock);
    cuda_count(b->index, -(int64_t)b->size, 0);
    if (b->after != NULL && !b->after->used) {
        remove_idle(b->after);
        absorb(b, b->after);
    }
    if (b->before != NULL && !b->before->used) {
        Block *before = b->before;
        remove_idle(before);
        absorb(before, b);
        b = before;
    }
    add_idle(b);
    pthread_mutex_unlock(&lock);
}

static TsrStatus allocate(TsrAllocator *self, TsrDataPtr *out, size_t bytes) {
    (void)self;
    int index = out->device.index;
    if (bytes > SIZE_MAX - LARGE_STEP) return cuda_out_of_memory(index, bytes);
    size_t size = (bytes + STEP - 1) / STEP
    *STEP;
    TsrStatus status = TSR_OK;
    pthread_mutex_lock(&lock);
    Block *b = best_fit(index, size <= SMALL, size);
    if (b == NULL) status = new_segment(&b, index, size);
    if (status == TSR_OK) {
        b->used = true;
        split(b, size);
        cuda_count(index, (int64_t)b->size, 0);
        out->data = (void *)(uintptr_t)b->address;
        out->ctx = b;
        out->deleter = free_block;
    }
    pthread_mutex_unlock(&lock);
    return status;
}

static void empty_cache(TsrAllocator *self) {
    (void)self;
    pthread_mutex_lock(&lock);
    give_segments(-1);
    pthread_mutex_unlock(&lock);
}

TsrAllocator cuda_caching = {
    .name = "cuda_caching", .device = TSR_CUDA, .allocate = allocate, .empty_cache = empty_cache};
