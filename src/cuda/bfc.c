/* bfc.c: the allocator `cuda_bfc`: TensorFlow's best fit with coalescing (core/common_runtime/bfc_allocator.cc),
 * growing on demand. Sizes round up to 256 bytes. Regions come from the driver: the first of 1 MiB, each next twice as
 * large, or as much larger as a request needs. Free chunks lie in bins, by powers of two from 256 bytes on, sorted by
 * size and address; the first that is large enough is taken, and split when it is twice as large or 128 MiB larger. A
 * freed chunk merges with free neighbours. TensorFlow never gives a region back before the allocator ends; here an
 * empty one goes when caches are emptied.
 *
 * TensorFlow computes on one stream. Here a chunk that was another stream's is given out with the new one waiting for
 * it.
 *
 * To the trace every step is told under the name of the function that does it there, from AllocateRaw down to
 * cuMemAlloc. */
#include "memory.h"
#include "stream.h"

enum { STEP = 256, BINS = 21, FIRST_REGION = 1 << 20 };
static const size_t most_waste = 128 << 20;

typedef struct Chunk Chunk;
struct Chunk {
    int index;
    bool used;
    int64_t stream; /* that used it last */
    TsrAddress address;
    size_t size, requested;
    Chunk *before, *after;  /* neighbours in the region */
    Chunk *previous, *next; /* in its bin */
};

static Chunk *bins[CUDA_MAX_DEVICES][BINS];
static size_t next_region[CUDA_MAX_DEVICES];

static void call(const char *what, const char *by, size_t bytes, TsrAddress address) {
    cuda_host->trace(TSR_TRACE_CALL, what, by, (int64_t)bytes, (const void *)(uintptr_t)address);
}

static int bin_of(size_t size) {
    int bin = 0;
    while (bin < BINS - 1 && size >= (size_t)STEP << (bin + 1)) bin++;
    return bin;
}

static void add_free(Chunk *c) {
    Chunk **at = &bins[c->index][bin_of(c->size)], *previous = NULL;
    while (*at != NULL && ((*at)->size < c->size || ((*at)->size == c->size && (*at)->address < c->address))) {
        previous = *at;
        at = &previous->next;
    }
    c->used = false;
    c->previous = previous;
    c->next = *at;
    if (c->next != NULL) c->next->previous = c;
    *at = c;
    cuda_bfc.cached += (int64_t)c->size;
}

static void remove_free(Chunk *c) {
    if (c->previous != NULL) c->previous->next = c->next;
    else bins[c->index][bin_of(c->size)] = c->next;
    if (c->next != NULL) c->next->previous = c->previous;
    c->previous = c->next = NULL;
    cuda_bfc.cached -= (int64_t)c->size;
}

static Chunk *find_chunk(int index, size_t size) {
    call("BFCAllocator::FindChunkPtr", "BFCAllocator::AllocateRawInternal", size, 0);
    for (int bin = bin_of(size); bin < BINS; bin++)
        for (Chunk *c = bins[index][bin]; c != NULL; c = c->next)
            if (c->size >= size) {
                remove_free(c);
                return c;
            }
    return NULL;
}

/* ---- regions ---- */

static TsrStatus take_region(TsrAddress *out, int index, size_t bytes) {
    call("GPUMemAllocator::Alloc", "BFCAllocator::Extend", bytes, 0);
    call("StreamExecutor::AllocateArray<char>", "GPUMemAllocator::Alloc", bytes, 0);
    call("CUDAExecutor::Allocate", "StreamExecutor::Allocate", bytes, 0);
    call("CUDADriver::DeviceAllocate", "CUDAExecutor::Allocate", bytes, 0);
    return cuda_take(out, index, bytes, false, "CUDADriver::DeviceAllocate");
}

static void give_region(Chunk *c) {
    call("GPUMemAllocator::Free", "BFCAllocator::~BFCAllocator", c->size, c->address);
    call("StreamExecutor::Deallocate", "GPUMemAllocator::Free", c->size, c->address);
    call("CUDAExecutor::Deallocate", "StreamExecutor::Deallocate", c->size, c->address);
    call("CUDADriver::DeviceDeallocate", "CUDAExecutor::Deallocate", c->size, c->address);
    cuda_give(c->index, c->address, c->size, false, "CUDADriver::DeviceDeallocate");
    remove_free(c);
    cuda_host->free(c);
}

static void give_regions(int index) {
    for (int bin = 0; bin < BINS; bin++)
        for (Chunk *c = bins[index][bin], *next; c != NULL; c = next) {
            next = c->next;
            if (c->before == NULL && c->after == NULL) give_region(c);
        }
}

/* A region that holds `size`: where the driver has less than is asked for, a tenth less each time. */
static TsrStatus extend(Chunk **out, int index, size_t size) {
    size_t bytes = next_region[index] != 0 ? next_region[index] : FIRST_REGION;
    TsrAddress address = 0;
    bool doubled = false;
    call("BFCAllocator::Extend", "BFCAllocator::AllocateRawInternal", size, 0);
    for (; bytes < size; doubled = true) bytes *= 2;
    next_region[index] = bytes;
    Chunk *c = cuda_host->malloc(sizeof *c);
    if (c == NULL) return cuda_host->error(TSR_MEMORY_ERROR, "no memory for the record of a block");
    TsrStatus status = take_region(&address, index, bytes);
    while (status == TSR_OK && address == 0 && bytes > size) {
        size_t less = bytes / 10 * 9;
        less -= less % STEP;
        bytes = less > size ? less : size;
        status = take_region(&address, index, bytes);
    }
    if (status != TSR_OK || address == 0) {
        cuda_host->free(c);
        return status;
    }
    if (!doubled) next_region[index] *= 2;
    *c = (Chunk){.index = index, .address = address, .size = bytes, .stream = cuda_current_stream(index)};
    *out = c;
    return TSR_OK;
}

static TsrStatus extend_or_empty(Chunk **out, int index, size_t size) {
    TSR_TRY(extend(out, index, size));
    if (*out != NULL) return TSR_OK;
    give_regions(index);
    cuda_caching_empty(index);
    cuda_numbers(index)->num_alloc_retries++;
    TSR_TRY(extend(out, index, size));
    return *out != NULL ? TSR_OK : cuda_out_of_memory(index, size);
}

/* ---- chunks ---- */

static void split(Chunk *c, size_t size) {
    if (c->size < size * 2 && c->size - size < most_waste) return;
    Chunk *r = cuda_host->malloc(sizeof *r);
    if (r == NULL) return;
    call("BFCAllocator::SplitChunk", "BFCAllocator::FindChunkPtr", size, c->address);
    *r = (Chunk){.index = c->index,
                 .stream = c->stream,
                 .address = c->address + size,
                 .size = c->size - size,
                 .before = c,
                 .after = c->after};
    if (r->after != NULL) r->after->before = r;
    c->after = r;
    c->size = size;
    add_free(r);
}

/* `c` takes in its neighbour behind it. What either stream has done comes before what follows. */
static void absorb(Chunk *c, Chunk *behind) {
    if (c->stream != behind->stream) (void)cuda_stream_follow(c->index, behind->stream, c->stream);
    c->size += behind->size;
    c->after = behind->after;
    if (c->after != NULL) c->after->before = c;
    cuda_host->free(behind);
}

static void free_chunk(void *ctx) {
    Chunk *c = ctx;
    pthread_mutex_lock(&cuda_memory_lock);
    call("BFCAllocator::DeallocateRawInternal", "GPUBFCAllocator::DeallocateRaw", c->size, c->address);
    cuda_stat_given(c->index, false, c->size, c->requested, -1);
    cuda_stat_active(c->index, false, c->size, c->requested, -1);
    call("BFCAllocator::FreeAndMaybeCoalesce", "BFCAllocator::DeallocateRawInternal", c->size, c->address);
    if (c->after != NULL && !c->after->used) {
        remove_free(c->after);
        absorb(c, c->after);
    }
    if (c->before != NULL && !c->before->used) {
        Chunk *before = c->before;
        remove_free(before);
        absorb(before, c);
        c = before;
    }
    add_free(c);
    pthread_mutex_unlock(&cuda_memory_lock);
}

static TsrStatus take_chunk(Chunk **out, int index, size_t size) {
    int64_t stream = cuda_current_stream(index);
    Chunk *c = find_chunk(index, size);
    if (c == NULL) TSR_TRY(extend_or_empty(&c, index, size));
    c->used = true;
    split(c, size);
    if (c->stream != stream) {
        TsrStatus status = cuda_stream_follow(index, c->stream, stream);
        if (status != TSR_OK) return add_free(c), status;
    }
    c->stream = stream;
    *out = c;
    return TSR_OK;
}

static TsrStatus allocate(TsrAllocator *self, TsrDataPtr *out, size_t bytes) {
    (void)self;
    Chunk *c = NULL;
    int index = out->device.index;
    TsrStatus status;
    pthread_mutex_lock(&cuda_memory_lock);
    call("BFCAllocator::AllocateRawInternal", "GPUBFCAllocator::AllocateRaw", bytes, 0);
    if (bytes > SIZE_MAX / 4) status = cuda_out_of_memory(index, bytes);
    else status = take_chunk(&c, index, TSR_MAX((bytes + STEP - 1) / STEP * STEP, (size_t)STEP));
    if (status == TSR_OK) {
        c->requested = bytes;
        cuda_stat_given(index, false, c->size, bytes, 1);
        out->data = (void *)(uintptr_t)c->address;
        out->ctx = c;
        out->deleter = free_chunk;
    }
    pthread_mutex_unlock(&cuda_memory_lock);
    return status;
}

static void empty_cache(TsrAllocator *self) {
    (void)self;
    pthread_mutex_lock(&cuda_memory_lock);
    for (int index = 0; index < cuda_device_count(); index++) give_regions(index);
    pthread_mutex_unlock(&cuda_memory_lock);
}

TsrAllocator cuda_bfc = {.name = "cuda_bfc", .device = TSR_CUDA, .allocate = allocate, .empty_cache = empty_cache};
