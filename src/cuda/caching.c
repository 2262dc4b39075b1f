/* caching.c: the allocator `cuda_caching`, by the published rules of PyTorch's (c10/cuda/CUDACachingAllocator.cpp), so
 * that the numbers of torch.cuda.memory_stats() are the same.
 *
 * Sizes round up to 512 bytes. Up to 1 MiB they are cut from segments of 2 MiB, the small pool; below 10 MiB from
 * segments of 20 MiB; larger ones get a segment of their own, a multiple of 2 MiB. Of the free blocks of the current
 * stream the one that fits best is taken, the lowest address among equals, and what is left over is split off: from 512
 * bytes on in the small pool, above 1 MiB in the large one. A block that is freed merges with free neighbours of its
 * segment; one that other streams use (record_stream) waits for marks that are put into these streams when it is freed,
 * and is looked after at the next allocation. Whole segments go back to the driver when the cache is emptied or the
 * driver has no more. */
#include "memory.h"
#include "cuda/kernels/chain.h"
#include "races.h"
#include "stream.h"

enum {
    UNIT = 512,
    SMALL = 1 << 20, /* the largest of the small pool */
    SMALL_SEGMENT = 2 << 20,
    LARGE_SEGMENT = 20 << 20,
    LARGE = 10 << 20, /* from here on a segment of its own */
    LARGE_STEP = 2 << 20
};

typedef struct Block Block;

/* Another stream that uses a block, in the block's list; when the block is freed, `mark` is where the stream was, and
 * it goes into the list of all marks that are waited for. */
typedef struct User {
    struct User *next;
    int64_t stream;
    CuEvent mark;
    Block *block;
} User;

struct Block {
    int index;
    bool small, used;
    int64_t stream;
    TsrAddress address;
    size_t size, requested;
    Block *before, *after;  /* neighbours in the segment */
    Block *previous, *next; /* in the list of free ones: by stream, by size, then by address */
    User *users;
    int marks;              /* of it that are waited for */
    Block *older, *younger; /* first blocks of all segments */
};

static Block *idle[CUDA_MAX_DEVICES][2]; /* large, small */
static User *waiting[CUDA_MAX_DEVICES];  /* marks for freed blocks that other streams use, oldest first */
static Block *segments[CUDA_MAX_DEVICES], *last_segment[CUDA_MAX_DEVICES];

/* ---- lists ---- */

static bool goes_before(const Block *a, const Block *b) {
    if (a->stream != b->stream) return a->stream < b->stream;
    return a->size != b->size ? a->size < b->size : a->address < b->address;
}

static void add_idle(Block *b) {
    Block **at = &idle[b->index][b->small], *previous = NULL;
    while (*at != NULL && goes_before(*at, b)) {
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

static void link_segment(Block *b) {
    b->older = last_segment[b->index];
    b->younger = NULL;
    if (b->older != NULL) b->older->younger = b;
    else segments[b->index] = b;
    last_segment[b->index] = b;
}

static void unlink_segment(Block *b) {
    if (b->older != NULL) b->older->younger = b->younger;
    else segments[b->index] = b->younger;
    if (b->younger != NULL) b->younger->older = b->older;
    else last_segment[b->index] = b->older;
}

static bool is_split(const Block *b) { return b->before != NULL || b->after != NULL; }

static void count_split(const Block *b, int64_t blocks, int64_t bytes) {
    TsrDeviceMemory *n = cuda_numbers(b->index);
    if (blocks != 0) cuda_stat(n->inactive_split, b->small, blocks);
    if (bytes != 0) cuda_stat(n->inactive_split_bytes, b->small, bytes);
}

/* ---- giving back ---- */

/* `b` takes in its neighbour behind it, which is in no list any more. */
static void absorb(Block *b, Block *behind) {
    b->size += behind->size;
    b->after = behind->after;
    if (b->after != NULL) b->after->before = b;
    cuda_host->free(behind);
}

/* Nothing uses the block any more: it merges with its free neighbours. */
static void make_idle(Block *b) {
    int64_t blocks = 0, bytes = 0;
    cuda_stat_active(b->index, b->small, b->size, b->requested, -1);
    if (b->before != NULL && !b->before->used) {
        Block *before = b->before;
        remove_idle(before);
        blocks--;
        bytes -= (int64_t)before->size;
        absorb(before, b);
        b = before;
    }
    if (b->after != NULL && !b->after->used) {
        blocks--;
        bytes -= (int64_t)b->after->size;
        remove_idle(b->after);
        absorb(b, b->after);
    }
    if (is_split(b)) {
        blocks++;
        bytes += (int64_t)b->size;
    }
    count_split(b, blocks, bytes);
    add_idle(b);
}

static void forget_users(Block *b) {
    while (b->users != NULL) {
        User *u = b->users;
        b->users = u->next;
        if (u->mark != NULL) cuda_mark_free(u->mark);
        cuda_host->free(u);
    }
}

/* Marks in the streams that use the block. Where one can't be made, the whole device is waited for instead. */
static bool mark_users(Block *b) {
    for (User *u = b->users; u != NULL; u = u->next)
        if (cuda_mark_new(&u->mark, b->index, u->stream) != TSR_OK) {
            u->mark = NULL;
            (void)cuda_wait_all(b->index);
            return false;
        }
    return true;
}

static void wait_for_users(Block *b) {
    User **end = &waiting[b->index];
    while (*end != NULL) end = &(*end)->next;
    *end = b->users;
    for (const User *u = b->users; u != NULL; u = u->next) b->marks++;
    b->users = NULL;
}

/* Whether an older mark of the same stream is waited for: then this one is not asked. */
static bool comes_later(const User *u) {
    const User *older = waiting[u->block->index];
    while (older != u && older->stream != u->stream) older = older->next;
    return older != u;
}

/* Blocks that waited for other streams, and do so no more, are idle. `wait`: they are waited for. */
static void look_after(int index, bool wait) {
    if (waiting[index] == NULL || cuda_enter(index) != TSR_OK) return;
    if (wait) (void)cuda_wait_all(index);
    for (User **at = &waiting[index]; *at != NULL;) {
        User *u = *at;
        if (!wait && (comes_later(u) || !cuda_mark_passed(u->mark))) {
            at = &u->next;
            continue;
        }
        *at = u->next;
        if (--u->block->marks == 0) make_idle(u->block);
        cuda_mark_free(u->mark);
        cuda_host->free(u);
    }
}

static void free_block(void *ctx) {
    Block *b = ctx;
    cuda_chain_freed(b->address, b->size);
    pthread_mutex_lock(&cuda_memory_lock);
    cuda_stat_given(b->index, b->small, b->size, b->requested, -1);
    if (b->users != NULL && mark_users(b)) {
        wait_for_users(b);
    } else {
        forget_users(b);
        make_idle(b);
    }
    pthread_mutex_unlock(&cuda_memory_lock);
}

static void give_segment(Block *b) {
    remove_idle(b);
    unlink_segment(b);
    cuda_give(b->index, b->address, b->size, b->small, "cuda_caching");
    cuda_host->free(b);
}

void cuda_caching_empty(int only) {
    for (int index = 0; index < cuda_device_count(); index++) {
        if (only >= 0 && only != index) continue;
        look_after(index, true);
        cuda_numbers(index)->num_sync_all_streams++;
        for (int small = 0; small < 2; small++)
            for (Block *b = idle[index][small], *next; b != NULL; b = next) {
                next = b->next;
                if (!is_split(b)) give_segment(b);
            }
    }
}

static void empty_cache(TsrAllocator *self) {
    (void)self;
    pthread_mutex_lock(&cuda_memory_lock);
    cuda_caching_empty(-1);
    pthread_mutex_unlock(&cuda_memory_lock);
}

/* ---- giving out ---- */

static Block *best_fit(int index, bool small, size_t size, int64_t stream) {
    Block *b = idle[index][small];
    while (b != NULL && (b->stream < stream || (b->stream == stream && b->size < size))) b = b->next;
    if (b == NULL || b->stream != stream) return NULL;
    remove_idle(b);
    return b;
}

static size_t segment_size(size_t size) {
    if (size <= SMALL) return SMALL_SEGMENT;
    if (size < LARGE) return LARGE_SEGMENT;
    return (size + LARGE_STEP - 1) / LARGE_STEP * LARGE_STEP;
}

static TsrStatus new_segment(Block **out, int index, size_t size, int64_t stream) {
    TsrAddress address;
    bool small = size <= SMALL;
    size_t bytes = segment_size(size);
    Block *b = cuda_host->malloc(sizeof *b);
    if (b == NULL) return cuda_host->error(TSR_MEMORY_ERROR, "no memory for the record of a block");
    TsrStatus status = cuda_take(&address, index, bytes, small, "cuda_caching");
    if (status == TSR_OK && address == 0) {
        cuda_caching_empty(index);
        cuda_numbers(index)->num_alloc_retries++;
        status = cuda_take(&address, index, bytes, small, "cuda_caching");
    }
    if (status == TSR_OK && address == 0) status = cuda_out_of_memory(index, bytes);
    if (status != TSR_OK) {
        cuda_host->free(b);
        return status;
    }
    *b = (Block){.index = index, .small = small, .stream = stream, .address = address, .size = bytes};
    link_segment(b);
    *out = b;
    return TSR_OK;
}

static bool leaves_a_block(const Block *b, size_t size) {
    size_t rest = b->size - size;
    return b->small ? rest >= UNIT : rest > SMALL;
}

/* What is more than `size` becomes a free block; without memory for its record the block stays whole. */
static void split(Block *b, size_t size) {
    bool was_split = is_split(b);
    Block *r = leaves_a_block(b, size) ? cuda_host->malloc(sizeof *r) : NULL;
    if (r == NULL) {
        if (was_split) count_split(b, -1, -(int64_t)b->size);
        return;
    }
    *r = (Block){.index = b->index,
                 .small = b->small,
                 .stream = b->stream,
                 .address = b->address + size,
                 .size = b->size - size,
                 .before = b,
                 .after = b->after};
    if (r->after != NULL) r->after->before = r;
    b->after = r;
    b->size = size;
    if (was_split) count_split(b, 0, -(int64_t)size);
    else count_split(b, 1, (int64_t)r->size);
    add_idle(r);
}

static TsrStatus allocate(TsrAllocator *self, TsrDataPtr *out, size_t bytes) {
    (void)self;
    int index = out->device.index;
    int64_t stream = cuda_current_stream(index);
    TsrStatus status = TSR_OK;
    pthread_mutex_lock(&cuda_memory_lock);
    if (bytes > SIZE_MAX - LARGE_STEP) {
        status = cuda_out_of_memory(index, bytes);
        pthread_mutex_unlock(&cuda_memory_lock);
        return status;
    }
    size_t size = bytes + UNIT - 1;
    size -= size % UNIT;
    look_after(index, false);
    Block *b = best_fit(index, size <= SMALL, size, stream);
    if (b != NULL)
        cuda_host->trace(TSR_TRACE_CACHE_HIT, "cuda_caching", "kept block", (int64_t)b->size,
                         (const void *)(uintptr_t)b->address);
    else status = new_segment(&b, index, size, stream);
    if (status == TSR_OK) {
        b->used = true;
        b->requested = bytes;
        split(b, size);
        cuda_stat_given(index, b->small, b->size, bytes, 1);
        out->data = (void *)(uintptr_t)b->address;
        out->ctx = b;
        out->deleter = free_block;
    }
    pthread_mutex_unlock(&cuda_memory_lock);
    return status;
}

TsrAllocator cuda_caching = {
    .name = "cuda_caching", .device = TSR_CUDA, .allocate = allocate, .empty_cache = empty_cache};

TsrStatus cuda_scratch(TsrDataPtr *out, int index, size_t bytes) {
    *out = (TsrDataPtr){.device = {TSR_CUDA, (int8_t)index}};
    return bytes > 0 ? allocate(&cuda_caching, out, bytes) : TSR_OK;
}

void cuda_scratch_free(TsrDataPtr *scratch) {
    if (scratch->deleter != NULL) scratch->deleter(scratch->ctx);
    *scratch = (TsrDataPtr){0};
}

/* ---- looking at blocks ---- */

static Block *find_used(int index, TsrAddress address) {
    for (Block *first = segments[index]; first != NULL; first = first->younger)
        for (Block *b = first; b != NULL; b = b->after)
            if (b->used && b->address == address) return b;
    return NULL;
}

static bool knows_user(const Block *b, int64_t stream) {
    for (const User *u = b->users; u != NULL; u = u->next)
        if (u->stream == stream) return true;
    return b->stream == stream;
}

TsrStatus cuda_record_stream(TsrAddress address, int index, int64_t id) {
    User *u = cuda_host->malloc(sizeof *u);
    if (u == NULL) return cuda_host->error(TSR_MEMORY_ERROR, "no memory for the record of a stream");
    pthread_mutex_lock(&cuda_memory_lock);
    Block *b = find_used(index, address);
    bool news = b != NULL && !knows_user(b, id);
    if (news) {
        *u = (User){.next = b->users, .stream = id, .block = b};
        b->users = u;
    }
    pthread_mutex_unlock(&cuda_memory_lock);
    if (!news) cuda_host->free(u);
    return TSR_OK;
}

static size_t size_of_segment(const Block *b) {
    size_t size = 0;
    for (; b != NULL; b = b->after) size += b->size;
    return size;
}

void cuda_each_block(int index, void (*visit)(void *context, const TsrDeviceBlock *block), void *context) {
    pthread_mutex_lock(&cuda_memory_lock);
    for (const Block *first = segments[index]; first != NULL; first = first->younger)
        for (const Block *b = first; b != NULL; b = b->after) {
            TsrDeviceBlock seen = {.segment = first->address,
                                   .address = b->address,
                                   .segment_size = size_of_segment(first),
                                   .size = b->size,
                                   .requested = b->used ? b->requested : 0,
                                   .stream = b->stream,
                                   .small = b->small,
                                   .state = !b->used        ? TSR_BLOCK_IDLE
                                            : b->marks != 0 ? TSR_BLOCK_WAITS
                                                            : TSR_BLOCK_USED};
            visit(context, &seen);
        }
    pthread_mutex_unlock(&cuda_memory_lock);
}
