/* memory.c: what the allocators of a device share: the driver's memory, the numbers of torch.cuda.memory_stats(),
 * PyTorch's sentence when there is no more memory; and the allocator `cuda`, which asks the driver each time. */
#include "memory.h"

#include <stdio.h>

#include "cuda/kernels/chain.h"
#include "races.h"
#include "stream.h"

pthread_mutex_t cuda_memory_lock = PTHREAD_MUTEX_INITIALIZER;
static TsrDeviceMemory numbers[CUDA_MAX_DEVICES];
static bool was_used;                                   /* memory of some device was asked for */
static double part_that_is_kept_away[CUDA_MAX_DEVICES]; /* 1 less the fraction: 0 from the start */

TsrDeviceMemory *cuda_numbers(int index) { return &numbers[index]; }

void cuda_stat_change(TsrStat *s, int64_t amount) {
    s->current += amount;
    if (amount > 0) s->allocated += amount;
    else s->freed -= amount;
    s->peak = TSR_MAX(s->peak, s->current);
}

void cuda_stat(TsrStat stat[TSR_STAT_POOLS], bool small, int64_t amount) {
    cuda_stat_change(&stat[TSR_STAT_ALL], amount);
    cuda_stat_change(&stat[small ? TSR_STAT_SMALL : TSR_STAT_LARGE], amount);
}

void cuda_stat_given(int index, bool small, size_t size, size_t requested, int sign) {
    TsrDeviceMemory *n = &numbers[index];
    cuda_stat(n->allocation, small, sign);
    cuda_stat(n->allocated_bytes, small, sign * (int64_t)size);
    if (sign > 0) cuda_stat_active(index, small, size, requested, 1);
}

void cuda_stat_active(int index, bool small, size_t size, size_t requested, int sign) {
    TsrDeviceMemory *n = &numbers[index];
    cuda_stat(n->active, small, sign);
    cuda_stat(n->active_bytes, small, sign * (int64_t)size);
    cuda_stat(n->requested_bytes, small, sign * (int64_t)requested);
}

bool cuda_memory_used(void) { return __atomic_load_n(&was_used, __ATOMIC_RELAXED); }

void cuda_memory(TsrDeviceMemory *out, int index) {
    pthread_mutex_lock(&cuda_memory_lock);
    *out = numbers[index];
    pthread_mutex_unlock(&cuda_memory_lock);
}

void cuda_stat_reset(TsrStat *s, bool sums) {
    if (sums) s->allocated = s->freed = 0;
    else s->peak = s->current;
}

void cuda_reset_stats(int index, bool sums) {
    pthread_mutex_lock(&cuda_memory_lock);
    TsrDeviceMemory *n = &numbers[index];
#define ROW(name) \
    for (int i = 0; i < TSR_STAT_POOLS; i++) cuda_stat_reset(&n->name[i], sums);
    TSR_DEVICE_STATS(ROW)
#undef ROW
    if (sums) n->num_alloc_retries = n->num_ooms = n->num_sync_all_streams = 0;
    if (sums) n->num_device_alloc = n->num_device_free = 0;
    pthread_mutex_unlock(&cuda_memory_lock);
}

double cuda_fraction(int index) { return 1 - part_that_is_kept_away[index]; }
void cuda_set_fraction(int index, double part) { part_that_is_kept_away[index] = 1 - part; }

static bool is_allowed(int index, size_t bytes) {
    TsrDeviceFacts facts;
    if (part_that_is_kept_away[index] == 0 || cuda_facts(&facts, index) != TSR_OK) return true;
    return (double)numbers[index].reserved_bytes[TSR_STAT_ALL].current + (double)bytes <=
           (double)facts.memory * cuda_fraction(index);
}

/* From the driver, and back; nothing is counted. */
static TsrStatus take(TsrAddress *out, int index, size_t bytes, const char *caller) {
    *out = 0;
    if (!is_allowed(index, bytes)) return TSR_OK;
    __atomic_store_n(&was_used, true, __ATOMIC_RELAXED);
    TSR_TRY(cuda_enter(index));
    CuResult result = cuda.memory_new(out, bytes);
    if (result == CU_OUT_OF_MEMORY) return *out = 0, TSR_OK;
    TSR_TRY(cuda_check(result));
    cuda_host->trace(TSR_TRACE_CALL, "cuMemAlloc", caller, (int64_t)bytes, (const void *)(uintptr_t)*out);
    return TSR_OK;
}
static void give(int index, TsrAddress address, size_t bytes, const char *caller) {
    cuda_host->trace(TSR_TRACE_CALL, "cuMemFree", caller, (int64_t)bytes, (const void *)(uintptr_t)address);
    (void)cuda_chain_flush();
    if (cuda_enter(index) == TSR_OK) (void)cuda.memory_free(address);
    races_forget(address, bytes);
}

TsrStatus cuda_take(TsrAddress *out, int index, size_t bytes, bool small, const char *caller) {
    TSR_TRY(take(out, index, bytes, caller));
    if (*out == 0) return TSR_OK;
    cuda_stat(numbers[index].segment, small, 1);
    cuda_stat(numbers[index].reserved_bytes, small, (int64_t)bytes);
    numbers[index].num_device_alloc++;
    return TSR_OK;
}

void cuda_give(int index, TsrAddress address, size_t bytes, bool small, const char *caller) {
    give(index, address, bytes, caller);
    cuda_stat(numbers[index].segment, small, -1);
    cuda_stat(numbers[index].reserved_bytes, small, -(int64_t)bytes);
    numbers[index].num_device_free++;
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
    char tried[32], total[32], left[32], used[32], kept[32], most[32], allowed[48] = "";
    const TsrDeviceMemory *n = &numbers[index];
    TsrDeviceFacts facts;
    size_t unused = 0;
    numbers[index].num_ooms++;
    TSR_TRY(cuda_facts(&facts, index));
    TSR_TRY(cuda_free_memory(&unused, index));
    if (part_that_is_kept_away[index] != 0)
        snprintf(allowed, sizeof allowed, "%s allowed; ",
                 size_text(most, sizeof most, (uint64_t)((double)facts.memory * cuda_fraction(index))));
    uint64_t given = (uint64_t)n->allocated_bytes[TSR_STAT_ALL].current;
    uint64_t reserved = (uint64_t)n->reserved_bytes[TSR_STAT_ALL].current;
    return cuda_host->error(
        TSR_OUT_OF_MEMORY_ERROR,
        "CUDA out of memory. Tried to allocate %s. GPU %d has a total capacity of %s of which %s is free. %sOf the "
        "allocated memory %s is allocated by PyTorch, and %s is reserved by PyTorch but unallocated. If reserved but "
        "unallocated memory is large try setting PYTORCH_CUDA_ALLOC_CONF=expandable_segments:True to avoid "
        "fragmentation.  See documentation for Memory Management  "
        "(https://docs.pytorch.org/docs/stable/notes/cuda.html#optimizing-memory-usage-with-pytorch-cuda-alloc-conf)",
        size_text(tried, sizeof tried, bytes), index, size_text(total, sizeof total, facts.memory),
        size_text(left, sizeof left, unused), allowed, size_text(used, sizeof used, given),
        size_text(kept, sizeof kept, reserved - given));
}

/* ---- the allocator `cuda` ----
 * What it takes is in none of torch.cuda's numbers: PyTorch counts nothing either while its cache is off. */

typedef struct Block {
    int index;
    TsrAddress address;
    size_t bytes;
} Block;

/* cuMemFree waits for all work on the device: no stream can still use the block. */
static void free_direct(void *ctx) {
    Block *b = ctx;
    pthread_mutex_lock(&cuda_memory_lock);
    give(b->index, b->address, b->bytes, "cuda");
    pthread_mutex_unlock(&cuda_memory_lock);
    cuda_host->free(b);
}

static TsrStatus take_or_empty(Block *b) {
    TSR_TRY(take(&b->address, b->index, b->bytes, "cuda"));
    if (b->address != 0) return TSR_OK;
    cuda_caching_empty(b->index);
    TSR_TRY(take(&b->address, b->index, b->bytes, "cuda"));
    return b->address != 0 ? TSR_OK : cuda_out_of_memory(b->index, b->bytes);
}

static TsrStatus allocate_direct(TsrAllocator *self, TsrDataPtr *out, size_t bytes) {
    (void)self;
    Block *b = cuda_host->malloc(sizeof *b);
    if (b == NULL) return cuda_host->error(TSR_MEMORY_ERROR, "no memory for the record of a block");
    *b = (Block){out->device.index, 0, bytes};
    pthread_mutex_lock(&cuda_memory_lock);
    TsrStatus status = take_or_empty(b);
    pthread_mutex_unlock(&cuda_memory_lock);
    if (status != TSR_OK) {
        cuda_host->free(b);
        return status;
    }
    out->data = (void *)(uintptr_t)b->address;
    out->ctx = b;
    out->deleter = free_direct;
    return TSR_OK;
}

TsrAllocator cuda_direct = {.name = "cuda", .device = TSR_CUDA, .allocate = allocate_direct};
