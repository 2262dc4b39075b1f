/* guard.c: an allocator that catches wild accesses. Each block lies alone between pages that may not be
 * touched, its end against the upper one:
 *     [notes] [no access] [canary ... data ... canary] [no access]
 * A write into the canary is found when the block is freed; a freed block is poisoned, closed and kept for a
 * while. With tsr_catch_faults a forbidden access opens the page, so that the program goes on, and is
 * reported by the thread's next interrupt check as a RuntimeError that names the block. */
#include "alloc_impl.h"

#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

/* The bytes that fill what surrounds a block (CANARY), a fresh block, a freed one (POISON); QUARANTINE: freed blocks
 * whose pages stay unmapped, so that a late access is seen. */
enum { CANARY = 0xA5, FRESH = 0xCB, POISON = 0xDD, QUARANTINE = 64, ALIGNMENT = 64 };

typedef struct Block {
    TsrFaultRegion region; /* first */
    char *whole;           /* == this struct: the notes page */
    size_t whole_length;
    char *inner; /* the accessible pages */
    size_t inner_length;
    char *data;
    size_t bytes;
    bool freed;
    char label[64];
} Block;

static Block *quarantine[QUARANTINE]; /* a ring of freed blocks */
static int quarantine_at;
static Block *blocks[1024]; /* live ones, for labels; beyond that blocks go unlabelled */
static TsrLock lock;

static size_t page_size(void) { return (size_t)sysconf(_SC_PAGESIZE); }

static bool repair(TsrFaultRegion *region, char *address) {
    size_t page = page_size();
    (void)region;
    char *start = (char *)((uintptr_t)address & ~(uintptr_t)(page - 1));
    return mprotect(start, page, PROT_READ | PROT_WRITE) == 0;
}

void (*tsr_guard_name_hook)(char *buffer, size_t room, const void *data);

static TsrStatus report(TsrFaultRegion *region, char *address) {
    Block *b = (Block *)region;
    if (b->label[0] == '\0' && !b->freed && tsr_guard_name_hook != NULL)
        tsr_guard_name_hook(b->label, sizeof b->label, b->data);
    const char *name = b->label[0] != '\0' ? b->label : "a tensor";
    long long before = b->data - address, after = address - (b->data + b->bytes);
    if (b->freed && before <= 0 && after < 0)
        return tsr_error(TSR_RUNTIME_ERROR, "guard: use after free of %s: byte %lld of a freed block of %zu bytes",
                         name, -before, b->bytes);
    if (before > 0)
        return tsr_error(TSR_RUNTIME_ERROR,
                         "guard: underrun of %s: %lld bytes before the start of a block of %zu bytes", name, before,
                         b->bytes);
    return tsr_error(TSR_RUNTIME_ERROR, "guard: overrun of %s: %lld bytes past the end of a block of %zu bytes", name,
                     after, b->bytes);
}

static bool all_canary(const char *p, const char *end) {
    for (; p < end; p++)
        if ((unsigned char)*p != CANARY) return false;
    return true;
}

static void check_canaries(const Block *b) {
    char text[200];
    const char *end = b->data + b->bytes, *name = b->label[0] != '\0' ? b->label : "a tensor";
    bool below = all_canary(b->inner, b->data), above = all_canary(end, b->inner + b->inner_length);
    if (below && above) return;
    snprintf(text, sizeof text, "guard: bytes %s the end of %s (%zu bytes) were overwritten; found when it was freed",
             above ? "before the start, not past" : "past", name, b->bytes);
    tsr_fault_post(text);
}

static void release(TsrFaultRegion *region) {
    const Block *b = (const Block *)region;
    munmap(b->whole, b->whole_length);
}

static void unlist(const Block *b) {
    for (size_t i = 0; i < TSR_COUNTOF(blocks); i++)
        if (blocks[i] == b) blocks[i] = NULL;
}

static void free_block(void *ctx) {
    Block *b = ctx;
    check_canaries(b);
    memset(b->inner, POISON, b->inner_length);
    mprotect(b->inner, b->inner_length, PROT_NONE);
    b->freed = true;
    tsr_lock(&lock);
    unlist(b);
    Block *oldest = quarantine[quarantine_at];
    quarantine[quarantine_at] = b;
    quarantine_at = (quarantine_at + 1) % QUARANTINE;
    tsr_unlock(&lock);
    if (oldest != NULL) tsr_fault_forget_move(&oldest->region);
}

static void list(Block *b) {
    tsr_lock(&lock);
    for (size_t i = 0; i < TSR_COUNTOF(blocks); i++) {
        if (blocks[i] != NULL) continue;
        blocks[i] = b;
        break;
    }
    tsr_unlock(&lock);
}

static TsrStatus allocate(TsrAllocator *self, TsrDataPtr *out, size_t bytes) {
    size_t page = page_size(), inner, whole;
    (void)self;
    if (tsr_add_size_overflows(bytes, ALIGNMENT + page, &inner) || tsr_add_size_overflows(inner, 3 * page, &whole))
        return tsr_error_no_memory(bytes);
    inner = (bytes + ALIGNMENT - 1) / ALIGNMENT * ALIGNMENT;
    inner = (inner + page - 1) / page * page;
    if (inner == 0) inner = page;
    whole = inner + 3 * page;
    char *p = mmap(NULL, whole, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (p == MAP_FAILED) return tsr_error_no_memory(bytes);
    if (mprotect(p, page, PROT_READ | PROT_WRITE) != 0 || mprotect(p + 2 * page, inner, PROT_READ | PROT_WRITE) != 0) {
        munmap(p, whole);
        return tsr_error_no_memory(bytes);
    }
    Block *b = (Block *)(void *)p;
    *b = (Block){.whole = p, .whole_length = whole, .inner = p + 2 * page, .inner_length = inner, .bytes = bytes};
    b->data = b->inner + inner - (bytes + ALIGNMENT - 1) / ALIGNMENT * ALIGNMENT;
    memset(b->inner, CANARY, inner);
    memset(b->data, FRESH, bytes);
    b->region = (TsrFaultRegion){
        .start = p + page, .length = whole - page, .repair = repair, .report = report, .release = release};
    tsr_fault_watch(&b->region);
    list(b);
    *out = (TsrDataPtr){b->data, b, free_block, TSR_DEVICE_CPU};
    return TSR_OK;
}

static void empty_cache(TsrAllocator *self) {
    (void)self;
    for (int i = 0; i < QUARANTINE; i++) {
        tsr_lock(&lock);
        Block *b = quarantine[i];
        quarantine[i] = NULL;
        tsr_unlock(&lock);
        if (b != NULL) tsr_fault_forget_move(&b->region);
    }
}

void tsr_guard_label(const void *data, const char *label) {
    tsr_lock(&lock);
    for (size_t i = 0; i < TSR_COUNTOF(blocks); i++)
        if (blocks[i] != NULL && blocks[i]->data == data)
            snprintf(blocks[i]->label, sizeof blocks[i]->label, "%s", label);
    tsr_unlock(&lock);
}

TsrAllocator tsr_allocator_guard = {
    .name = "guard", .device = TSR_CPU, .empty_too = true, .allocate = allocate, .empty_cache = empty_cache};
