/* mem.c: the small allocations of the program, over the C library's malloc (mem.h).
 *
 * Each block is counted by its malloc_usable_size, so that freeing needs no header before the block. A limit is
 * compared with the live bytes before malloc is asked. Tests set a countdown (tsr_mem_fail_at): the allocation that
 * brings it to zero returns NULL, and a sweep over all n reaches every path that handles a failure. */
#include "core/mem.h"

#include <malloc.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

enum { HEADER = sizeof(size_t) }; /* of each of malloc's blocks */
#define NO_LIMIT (INT64_MAX / 2)

static _Atomic int64_t live_blocks, live_bytes;
/* What live_bytes may grow to: the ceiling less what tsr_mem_reserve took of it. */
static _Atomic int64_t room = NO_LIMIT, reserved;
static size_t limit;
static _Atomic(TsrMemRelease) give_back;
static _Atomic int64_t fail_countdown; /* 0: off */
static _Atomic int64_t attempts;
static bool counting; /* attempts are counted only while a sweep runs: the counter is shared by threads */

bool tsr_mem_inject_failure(void) {
    if (TSR_LIKELY(!counting)) return false;
    attempts++;
    return fail_countdown > 0 && --fail_countdown == 0;
}

int64_t tsr_mem_fail_at(int64_t n) {
    int64_t made = attempts;
    counting = n > 0;
    attempts = 0;
    fail_countdown = n;
    return made;
}

static bool fits(size_t bytes) {
    int64_t left =
        atomic_load_explicit(&room, memory_order_relaxed) - atomic_load_explicit(&live_bytes, memory_order_relaxed);
    return bytes <= PTRDIFF_MAX && (int64_t)bytes <= left;
}

bool tsr_mem_fits(size_t bytes) {
    if (TSR_LIKELY(fits(bytes))) return true;
    TsrMemRelease release = give_back;
    if (release != NULL) release();
    return fits(bytes);
}

/* Whether an allocation of `bytes` must fail: by an injected failure, or because it would pass the limit. */
static bool refused(size_t bytes) {
    if (TSR_UNLIKELY(tsr_mem_inject_failure())) return true;
    return TSR_UNLIKELY(!fits(bytes)) && !tsr_mem_fits(bytes);
}

static int64_t taken_by(const void *block) { return (int64_t)malloc_usable_size((void *)block) + HEADER; }

/* Adds (sign 1) or removes (sign -1) a block from the counters. Relaxed: nothing is ordered by them. */
static void count(const void *block, int64_t sign) {
    atomic_fetch_add_explicit(&live_blocks, sign, memory_order_relaxed);
    atomic_fetch_add_explicit(&live_bytes, sign * taken_by(block), memory_order_relaxed);
}

/* From this size on, malloc gives each block a mapping of its own (its dynamic threshold never grows beyond 32 MiB).
 * Asking for huge pages there makes the first write several times as fast, and makes giving the block back, which no
 * interrupt can end early, about twenty times as fast. */
enum { MAPPED = 32 << 20, PAGE = 4096 };

/* Only an advice: where the system refuses it the block works as before. */
static void ask_for_huge_pages(void *block, size_t bytes) {
    size_t into_page = (uintptr_t)block % PAGE;
    madvise((char *)block - into_page, bytes + into_page, MADV_HUGEPAGE);
}

/* Counts a fresh block and returns it; NULL stays NULL. */
static void *counted(void *block, size_t bytes) {
    if (TSR_UNLIKELY(block == NULL)) return NULL;
    if (TSR_UNLIKELY(bytes >= MAPPED)) ask_for_huge_pages(block, bytes);
    count(block, 1);
    return block;
}

void *tsr_malloc(size_t bytes) {
    return TSR_UNLIKELY(refused(bytes)) ? NULL : counted(malloc(bytes > 0 ? bytes : 1), bytes);
}

void *tsr_malloc_array(size_t n, size_t size) {
    size_t bytes;
    return tsr_mul_size_overflows(n, size, &bytes) ? NULL : tsr_malloc(bytes);
}

void *tsr_calloc(size_t n, size_t size) {
    size_t bytes;
    if (tsr_mul_size_overflows(n, size, &bytes) || TSR_UNLIKELY(refused(bytes))) return NULL;
    return counted(calloc(1, bytes > 0 ? bytes : 1), bytes);
}

void *tsr_realloc(void *block, size_t bytes) {
    if (block == NULL) return tsr_malloc(bytes);
    int64_t before = taken_by(block);
    if (TSR_UNLIKELY(refused(bytes > (size_t)before ? bytes - (size_t)before : 0))) return NULL;
    void *grown = realloc(block, bytes > 0 ? bytes : 1);
    if (TSR_UNLIKELY(grown == NULL)) return NULL;
    if (TSR_UNLIKELY(bytes >= MAPPED)) ask_for_huge_pages(grown, bytes);
    atomic_fetch_add_explicit(&live_bytes, taken_by(grown) - before, memory_order_relaxed);
    return grown;
}

TsrStatus tsr_mem_grow(void *items, size_t *room, size_t wanted, size_t size) {
    if (wanted <= *room) return TSR_OK;
    size_t next = TSR_MAX(*room + *room / 2 + 4, wanted), bytes;
    if (tsr_mul_size_overflows(next, size, &bytes) || bytes > PTRDIFF_MAX) return tsr_error_no_memory(PTRDIFF_MAX);
    void *grown = tsr_realloc(*(void **)items, bytes);
    if (grown == NULL) return tsr_error_no_memory(bytes);
    *(void **)items = grown;
    *room = next;
    return TSR_OK;
}

char *tsr_mem_text(const void *bytes, size_t n) {
    char *copy = n < SIZE_MAX ? tsr_malloc(n + 1) : NULL;
    if (copy == NULL) return NULL;
    if (n > 0) memcpy(copy, bytes, n);
    copy[n] = '\0';
    return copy;
}

void tsr_free(void *block) {
    if (block == NULL) return;
    count(block, -1);
    free(block);
}

int64_t tsr_mem_live_blocks(void) { return live_blocks; }
int64_t tsr_mem_live_bytes(void) { return live_bytes; }

static void find_room(void) {
    uint64_t most = limit == 0 ? NO_LIMIT : limit;
    room = (int64_t)TSR_MIN(most, NO_LIMIT) - reserved;
}

void tsr_mem_set_limit(size_t bytes) {
    limit = bytes;
    find_room();
}

void tsr_mem_reserve(int64_t bytes) {
    atomic_fetch_add_explicit(&reserved, bytes, memory_order_relaxed);
    atomic_fetch_sub_explicit(&room, bytes, memory_order_relaxed);
}

void tsr_mem_when_short(TsrMemRelease release) { give_back = release; }
