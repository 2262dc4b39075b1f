/* memory.c: what the allocators of a device share: the driver's memory, the counters, PyTorch's sentence when there is
 * no more of it; and the allocator `cuda`, which asks the driver each time. */
#include "memory.h"

#include <pthread.h>
#include <stdio.h>

static TsrDeviceMemory counters[CUDA_MAX_DEVICES];
static pthread_mutex_t counting = PTHREAD_MUTEX_INITIALIZER;

void cuda_count(int index, int64_t allocated, int64_t reserved) {
    pthread_mutex_lock(&counting);
    TsrDeviceMemory *m = &counters[index];
    m->allocated += allocated;
    m->reserved += reserved;
    m->allocated_peak = TSR_MAX(m->allocated_peak, m->allocated);
    m->reserved_peak = TSR_MAX(m->reserved_peak, m->reserved);
    pthread_mutex_unlock(&counting);
}

void cuda_memory(TsrDeviceMemory *out, int index) {
    pthread_mutex_lock(&counting);
    *out = counters[index];
    pthread_mutex_unlock(&counting);
}

void cuda_reset_peaks(int index) {
    pthread_mutex_lock(&counting);
    counters[index].allocated_peak = counters[index].allocated;
    counters[index].reserved_peak = counters[index].reserved;
    pthread_mutex_unlock(&counting);
}

TsrStatus cuda_take(TsrAddress *out, int index, size_t bytes) {
    *out = 0;
    TSR_TRY(cuda_enter(index));
    CuResult result = cuda.memory_new(out, bytes);
    if (result == CU_OUT_OF_MEMORY) return *out = 0, TSR_OK;
    TSR_TRY(cuda_check(result));
    cuda_count(index, 0, (int64_t)bytes);
    return TSR_OK;
}

void cuda_give(int index, TsrAddress address, size_t bytes) {
    if (cuda_enter(index) == TSR_OK) (void)cuda.memory_free(address);
    cuda_count(index, 0, -(int64_t)bytes);
}

/* As PyTorch writes sizes. */
static const char *size_text(char *buffer, size_t room, uint64_t bytes) {
    static const char *const units[] = {"KiB", "MiB", "GiB"};
    double size = (double)bytes;
    int unit = -1;
    while (unit < 2 && size > 1024) size /= 1024, unit++;
    if (unit < 0) snprintf(buffer, room, "%llu bytes", (unsigned long long)bytes);
    else snprintf(buffer, room, "%.2f %s", size, units[unit]);
    return buffer;
}

TsrStatus cuda_out_of_memory(int index, size_t bytes) {
    char tried[32], total[32], left[32], used[32], kept[32];
    TsrDeviceFacts facts;
    TsrDeviceMemory m;
    size_t unused = 0;
    TSR_TRY(cuda_facts(&facts, index));
    TSR_TRY(cuda_free_memory(&unused, index));
    cuda_memory(&m, index);
    return cuda_host->error(
        TSR_OUT_OF_MEMORY_ERROR,
        "CUDA out of memory. Tried to allocate %s. GPU %d has a total capacity of %s of which %s is free. Of the "
        "allocated memory %s is allocated by PyTorch, and %s is reserved by PyTorch but unallocated. If reserved but "
        "unallocated memory is large try setting PYTORCH_CUDA_ALLOC_CONF=expandable_segments:True to avoid "
        "fragmentation.  See documentation for Memory Management  "
        "(https://docs.pytorch.org/docs/stable/notes/cuda.html#optimizing-memory-usage-with-pytorch-cuda-alloc-conf)",
        size_text(tried, sizeof tried, bytes), index, size_text(total, sizeof total, facts.memory),
        size_text(left, sizeof left, unused), size_text(used, sizeof used, (uint64_t)m.allocated),
        size_text(kept, sizeof kept, (uint64_t)(m.reserved - m.allocated)));
}

/* ---- the allocator `cuda` ---- */

typedef struct Block {
    int index;
    TsrAddress address;
    size_t bytes;
} Block;

static void free_direct(void *ctx) {
    Block *b = ctx;
    cuda_count(b->index, -(int64_t)b->bytes, 0);
    cuda_give(b->index, b->address, b->bytes);
    cuda_host->free(b);
}

static TsrStatus take_or_empty(Block *b) {
    TSR_TRY(cuda_take(&b->address, b->index, b->bytes));
    if (b->address != 0) return TSR_OK;
    cuda_caching.empty_cache(&cuda_caching);
    TSR_TRY(cuda_take(&b->address, b->index, b->bytes));
    return b->address != 0 ? TSR_OK : cuda_out_of_memory(b->index, b->bytes);
}

static TsrStatus allocate_direct(TsrAllocator *self, TsrDataPtr *out, size_t bytes) {
    (void)self;
    Block *b = cuda_host->malloc(sizeof *b);
    if (b == NULL) return cuda_host->error(TSR_MEMORY_ERROR, "no memory for the record of a block");
    *b = (Block){out->device.index, 0, bytes};
    TsrStatus status = take_or_empty(b);
    if (status != TSR_OK) {
        cuda_host->free(b);
        return status;
    }
    cuda_count(b->index, (int64_t)bytes, 0);
    out->data = (void *)(uintptr_t)b->address;
    out->ctx = b;
    out->deleter = free_direct;
    return TSR_OK;
}

TsrAllocator cuda_direct = {.name = "cuda", .device = TSR_CUDA, .allocate = allocate_direct};
