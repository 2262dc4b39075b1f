/* cache.c: the default allocator. Three kinds of blocks:
 *   small  (to 8 KiB)  from 64 KiB slabs, each of one size class; freed ones go to the thread's list of the class;
 *   middle (to 1 MiB)  from malloc with a header line before the data; freed ones are kept by class, up to a total;
 *   large              from mmap, aligned to 2 MiB with huge pages asked for; freed ones are kept and reused best fit,
 *                      the oldest given back first when too many bytes are kept.
 * Fresh pages cost far more than touched ones, hence the keeping. */
#include "alloc_impl.h"

#include "core/mem.h"

#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

enum {
    LINE = 64,
    SMALL_MOST = 8192,
    SMALL_CLASSES = 28,
    SLAB = 65536,
    PAGE = 4096,
    CHUNK = 1 << 20,
    MIDDLE_MOST = 1 << 20,
    MIDDLE_CLASSES = 28,
    HUGE_PAGE = 2 << 20,
    MAX_KEPT = 512
};
static const int64_t middle_keep = 32 << 20;

/* --- size classes: up to 1 KiB every 64 bytes, then four to a doubling --- */

static int class_of(size_t bytes) {
    if (bytes <= 1024) return bytes == 0 ? 0 : (int)((bytes - 1) / LINE);
    int top = 63 - __builtin_clzll(bytes - 1); /* 2^top <= bytes - 1 < 2^(top+1) */
    return 16 + (top - 10) * 4 + (int)(((bytes - 1) >> (top - 2)) & 3);
}

static size_t class_size(int c) {
    if (c < 16) return (size_t)(c + 1) * LINE;
    int top = 10 + (c - 16) / 4;
    return ((size_t)4 + (size_t)((c - 16) % 4) + 1) << (top - 2);
}

/* --- small --- */

typedef struct Free {
    struct Free *next;
} Free;
typedef struct Slab {
    int class;
} Slab; /* the first line of each slab, which is aligned to its size */

static _Thread_local Free *small_free[SMALL_CLASSES];
static _Thread_local struct { char *at, *end; } small_fresh[SMALL_CLASSES]; /* what no block has been cut from yet */
static Free *depot[SMALL_CLASSES];                                          /* left behind by threads that ended */
static TsrLock depot_lock;
static char *chunk_at, *chunk_end;

/* Cuts up to `most` blocks for the thread's list: not a whole slab at once, whose pages may never be needed. */
static void cut_blocks(int c, int64_t most) {
    size_t size = class_size(c);
    char *first = small_fresh[c].at;
    int64_t n = TSR_MIN((small_fresh[c].end - first) / (int64_t)size, most);
    for (int64_t i = n; i-- > 0;) {
        Free *block = (Free *)(void *)(first + (size_t)i * size);
        block->next = small_free[c];
        small_free[c] = block;
    }
    small_fresh[c].at += (size_t)n * size;
}

static void thread_ends(void) {
    tsr_lock(&depot_lock);
    for (int c = 0; c < SMALL_CLASSES; c++) {
        cut_blocks(c, SLAB);
        while (small_free[c] != NULL) {
            Free *block = small_free[c];
            small_free[c] = block->next;
            block->next = depot[c];
            depot[c] = block;
        }
    }
    tsr_unlock(&depot_lock);
}

#ifdef __EMSCRIPTEN__ /* there mappings are malloc's memory and go whole or not at all; pages of 2 MiB there are none \
                       */
static void *map_aligned(size_t bytes, size_t alignment) { return aligned_alloc(TSR_MIN(alignment, SLAB), bytes); }
static void unmap(void *block, size_t bytes) {
    (void)bytes;
    free(block);
}
#else
static void unmap(void *block, size_t bytes) { munmap(block, bytes); }

/* Memory from mmap, aligned; NULL when short. */
static void *map_aligned(size_t bytes, size_t alignment) {
    size_t whole;
    if (tsr_add_size_overflows(bytes, alignment, &whole)) return NULL;
    char *p = mmap(NULL, whole, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (p == MAP_FAILED) return NULL;
    size_t skip = (alignment - (size_t)((uintptr_t)p & (alignment - 1))) & (alignment - 1);
    if (skip > 0) munmap(p, skip);
    munmap(p + skip + bytes, alignment - skip);
    return p + skip;
}
#endif

static Slab *new_slab(void) {
    tsr_lock(&depot_lock);
    if (chunk_at == chunk_end) {
        chunk_at = map_aligned(CHUNK, SLAB);
        chunk_end = chunk_at == NULL ? NULL : chunk_at + CHUNK;
    }
    char *slab = chunk_at;
    if (slab != NULL) chunk_at += SLAB;
    tsr_unlock(&depot_lock);
    return (Slab *)(void *)slab;
}

/* Fills the thread's empty list: from the depot, else from its slab or a new one. */
static bool refill(int c) {
    size_t size = class_size(c);
    tsr_thread_at_end(thread_ends);
    tsr_thread_watch();
    tsr_lock(&depot_lock);
    small_free[c] = depot[c];
    depot[c] = NULL;
    tsr_unlock(&depot_lock);
    if (small_free[c] != NULL) return true;
    if ((size_t)(small_fresh[c].end - small_fresh[c].at) < size) {
        Slab *slab = new_slab();
        if (slab == NULL) return false;
        slab->class = c;
        small_fresh[c].at = (char *)slab + LINE;
        small_fresh[c].end = (char *)slab + SLAB;
    }
    cut_blocks(c, TSR_MAX(1, (int64_t)(PAGE / size)));
    return true;
}

static void free_small(void *ctx) {
    const Slab *slab = (const Slab *)((uintptr_t)ctx & ~(uintptr_t)(SLAB - 1));
    Free *block = ctx;
    if (small_free[slab->class] == NULL) tsr_thread_watch(); /* a thread may only ever free */
    block->next = small_free[slab->class];
    small_free[slab->class] = block;
}

static TsrStatus allocate_small(TsrDataPtr *out, size_t bytes) {
    int c = class_of(bytes);
    if (TSR_UNLIKELY(small_free[c] == NULL) && !refill(c)) return tsr_error_no_memory(bytes);
    Free *block = small_free[c];
    small_free[c] = block->next;
    *out = (TsrDataPtr){block, block, free_small, TSR_DEVICE_CPU};
    return TSR_OK;
}

/* --- middle --- */

typedef struct Middle {
    struct Middle *next;
    int class;
} Middle; /* one line, before the data */

static Middle *middle_free[MIDDLE_CLASSES];
static int64_t middle_kept;
static TsrLock middle_lock;

static void free_middle(void *ctx) {
    Middle *block = ctx;
    int64_t size = (int64_t)class_size(block->class + SMALL_CLASSES);
    tsr_lock(&middle_lock);
    bool keep = middle_kept + size <= middle_keep;
    if (keep) {
        block->next = middle_free[block->class];
        middle_free[block->class] = block;
        middle_kept += size;
    }
    tsr_unlock(&middle_lock);
    if (keep) tsr_allocator_caching.cached += size;
    else free(block);
}

static Middle *take_middle(int c) {
    tsr_lock(&middle_lock);
    Middle *block = middle_free[c];
    if (block != NULL) {
        middle_free[c] = block->next;
        middle_kept -= (int64_t)class_size(c + SMALL_CLASSES);
    }
    tsr_unlock(&middle_lock);
    return block;
}

static TsrStatus allocate_middle(TsrDataPtr *out, size_t bytes) {
    int c = class_of(bytes) - SMALL_CLASSES;
    size_t size = class_size(c + SMALL_CLASSES);
    Middle *block = take_middle(c);
    if (block != NULL) {
        tsr_allocator_caching.cached -= (int64_t)size;
        tsr_trace(TSR_TRACE_CACHE_HIT, "caching", "kept block", (int64_t)size, (char *)block + LINE, tsr_trace_storage);
    } else if ((block = aligned_alloc(LINE, size + LINE)) == NULL) {
        return tsr_error_no_memory(bytes);
    } else {
        tsr_trace_call("aligned_alloc", "caching", size + LINE, (char *)block + LINE);
    }
    block->class = c;
    *out = (TsrDataPtr){(char *)block + LINE, block, free_middle, TSR_DEVICE_CPU};
    return TSR_OK;
}

static void drop_middle(void) {
    for (int c = 0; c < MIDDLE_CLASSES; c++) {
        for (Middle *block = take_middle(c); block != NULL; block = take_middle(c)) {
            tsr_allocator_caching.cached -= (int64_t)class_size(c + SMALL_CLASSES);
            free(block);
        }
    }
}

/* --- large --- */

typedef struct Large {
    char *data;
    size_t size;
} Large;
static Large kept[MAX_KEPT]; /* in the order they were freed */
static int nkept;
static size_t kept_bytes;
static TsrLock large_lock;

static size_t keep_most(void) { return tsr_machine_memory() / 4; }

/* Kept blocks count under the ceiling. */
static void keep_more(int64_t bytes) {
    tsr_allocator_caching.cached += bytes;
    tsr_mem_reserve(bytes);
}

/* Called with the lock held. */
static Large remove_kept(int i) {
    Large block = kept[i];
    memmove(kept + i, kept + i + 1, (size_t)(nkept - i - 1) * sizeof *kept);
    nkept--;
    kept_bytes -= block.size;
    keep_more(-(int64_t)block.size);
    return block;
}

static bool take_oldest(Large *out, size_t most) {
    tsr_lock(&large_lock);
    bool over = nkept > 0 && (kept_bytes > most || nkept == MAX_KEPT);
    if (over) *out = remove_kept(0);
    tsr_unlock(&large_lock);
    return over;
}

static void drop_large(size_t most) {
    Large block;
    while (take_oldest(&block, most)) unmap(block.data, block.size);
}

void tsr_cache_drop_large(void) {
    Large block;
    for (;;) {
        tsr_lock(&large_lock);
        bool any = nkept > 0;
        if (any) block = remove_kept(0);
        tsr_unlock(&large_lock);
        if (!any) break;
        unmap(block.data, block.size);
    }
}

/* A large block's size is kept beside it, since the block itself is the caller's to the last byte. */
typedef struct LargeHeader {
    size_t size;
    char *data;
} LargeHeader;

static void free_large(void *ctx) {
    LargeHeader *header = ctx;
    Large block = {header->data, header->size};
    free(header);
    drop_large(keep_most());
    tsr_lock(&large_lock);
    bool keep = nkept < MAX_KEPT && block.size <= keep_most();
    if (keep) {
        kept[nkept++] = block;
        kept_bytes += block.size;
    }
    tsr_unlock(&large_lock);
    if (!keep) unmap(block.data, block.size);
    else keep_more((int64_t)block.size);
}

/* Best fit: the smallest kept block that holds `size` and wastes at most a quarter. */
static char *take_fitting(size_t size, size_t *got) {
    int best = -1;
    char *data = NULL;
    tsr_lock(&large_lock);
    for (int i = nkept - 1; i >= 0; i--) {
        bool fits = kept[i].size >= size && kept[i].size - size <= size / 4 + HUGE_PAGE;
        if (fits && (best < 0 || kept[i].size < kept[best].size)) best = i;
    }
    if (best >= 0) {
        Large block = remove_kept(best);
        data = block.data;
        *got = block.size;
    }
    tsr_unlock(&large_lock);
    return data;
}

static char *map_large(size_t size) {
    char *data = tsr_mem_fits(size) ? map_aligned(size, HUGE_PAGE) : NULL;
    if (data != NULL) madvise(data, size, MADV_HUGEPAGE);
    return data;
}

static TsrStatus allocate_large(TsrDataPtr *out, size_t bytes) {
    size_t size;
    if (tsr_add_size_overflows(bytes, HUGE_PAGE - 1, &size)) return tsr_error_no_memory(bytes);
    size &= ~(size_t)(HUGE_PAGE - 1);
    LargeHeader *header = malloc(sizeof *header);
    if (header == NULL) return tsr_error_no_memory(bytes);
    char *data = take_fitting(size, &header->size);
    if (data != NULL) {
        tsr_trace(TSR_TRACE_CACHE_HIT, "caching", "kept block", (int64_t)header->size, data, tsr_trace_storage);
    } else {
        data = map_large(size);
        header->size = size;
        if (data != NULL) tsr_trace_call("mmap", "caching", size, data);
    }
    if (data == NULL) {
        free(header);
        return tsr_error_no_memory(bytes);
    }
    header->data = data;
    *out = (TsrDataPtr){data, header, free_large, TSR_DEVICE_CPU};
    return TSR_OK;
}

/* --- the row --- */

/* Debug builds take every block up to 1 MiB from malloc, so that tools see its bounds and its end. */
#ifdef TSR_DEBUG
static TsrStatus allocate_plain(TsrDataPtr *out, size_t bytes) {
    void *block = NULL;
    if (posix_memalign(&block, LINE, bytes > 0 ? bytes : 1) != 0) return tsr_error_no_memory(bytes);
    *out = (TsrDataPtr){block, block, free, TSR_DEVICE_CPU};
    return TSR_OK;
}
#define allocate_small(out, bytes) ((void)allocate_small, allocate_plain(out, bytes))
#define allocate_middle(out, bytes) ((void)allocate_middle, allocate_plain(out, bytes))
#endif

static TsrStatus allocate(TsrAllocator *self, TsrDataPtr *out, size_t bytes) {
    (void)self;
    if (TSR_LIKELY(bytes <= SMALL_MOST)) return allocate_small(out, bytes);
    if (bytes <= MIDDLE_MOST) return allocate_middle(out, bytes);
    return allocate_large(out, bytes);
}

static void empty_cache(TsrAllocator *self) {
    (void)self;
    drop_middle();
    tsr_cache_drop_large();
}

TsrAllocator tsr_allocator_caching = {
    .name = "caching", .device = TSR_CPU, .allocate = allocate, .empty_cache = empty_cache};
