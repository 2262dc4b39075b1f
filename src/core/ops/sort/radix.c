/* Radix sort of packed (key, position) words over threads: each chunk counts its digits, the counts become places, each
 * chunk scatters. Stable, because chunks are in order. */
#include <string.h>

#include "core/parallel.h"
#include "core/kernels/sort/sort.h"
#include "core/mem.h"

/* Three digits of 11 bits cover the 32 bits of a key, and the counters of a chunk (2048 of 4 bytes) fit the first-level
 * cache. More chunks would let more threads work, at 8 KiB of counters each. */
enum { BITS = 11, BUCKETS = 1 << BITS, PASSES = 3, MAX_CHUNKS = 8 };

typedef struct Radix {
    const uint64_t *from;
    uint64_t *to;
    int64_t n, chunk;
    int shift;
    uint32_t (*counts)[BUCKETS]; /* by chunk */
} Radix;

static uint32_t digit(uint64_t word, int shift) { return (uint32_t)(word >> shift) & (BUCKETS - 1); }

static void count_chunk(int64_t begin, int64_t end, void *user) {
    const Radix *r = user;
    for (int64_t c = begin; c < end; c++) {
        uint32_t *counts = r->counts[c];
        memset(counts, 0, sizeof r->counts[c]);
        int64_t last = TSR_MIN((c + 1) * r->chunk, r->n);
        for (int64_t i = c * r->chunk; i < last && !tsr_interrupted_at(i - c * r->chunk); i++)
            counts[digit(r->from[i], r->shift)]++;
    }
}

static void scatter_chunk(int64_t begin, int64_t end, void *user) {
    const Radix *r = user;
    for (int64_t c = begin; c < end; c++) {
        uint32_t *place = r->counts[c];
        int64_t last = TSR_MIN((c + 1) * r->chunk, r->n);
        /* Each word may be the first in a huge page, which takes the system a millisecond: hence a look at every one.
         */
        for (int64_t i = c * r->chunk; i < last && tsr_interrupt_flag == 0; i++)
            r->to[place[digit(r->from[i], r->shift)]++] = r->from[i];
    }
}

/* Turns counts into first places, digit by digit and chunk by chunk; false when one digit has all. */
static bool make_places(uint32_t (*counts)[BUCKETS], int64_t chunks, int64_t n) {
    uint32_t sum = 0;
    for (int k = 0; k < BUCKETS; k++) {
        uint32_t before = sum;
        for (int64_t c = 0; c < chunks; c++) {
            uint32_t count = counts[c][k];
            counts[c][k] = sum;
            sum += count;
        }
        if (sum - before == (uint32_t)n) return false;
    }
    return true;
}

static uint64_t *sort_words(Radix *r, int64_t chunks) {
    for (int p = 0; p < PASSES; p++) {
        r->shift = 32 + p * BITS;
        if (tsr_parallel_for(chunks, 1, count_chunk, r) != TSR_OK)
            return NULL; /* interrupted: the counts are not whole */
        if (!make_places(r->counts, chunks, r->n)) continue;
        if (tsr_parallel_for(chunks, 1, scatter_chunk, r) != TSR_OK) return NULL;
        const uint64_t *t = r->from;
        r->from = r->to;
        r->to = (uint64_t *)t;
    }
    return (uint64_t *)r->from;
}

uint64_t *tsr_kernel_radix_words(uint64_t *words, uint64_t *spare, int64_t n) {
    int64_t chunks = TSR_MIN(TSR_MIN(tsr_num_threads(), MAX_CHUNKS), TSR_MAX(1, n / TSR_CHUNK_WORK));
    size_t bytes = (size_t)chunks * sizeof(uint32_t[BUCKETS]);
    uint32_t(*counts)[BUCKETS] = tsr_malloc(bytes);
    if (counts == NULL) {
        (void)tsr_error_no_memory(bytes);
        return NULL;
    }
    Radix r = {.from = words, .to = spare, .n = n, .chunk = (n + chunks - 1) / chunks, .counts = counts};
    uint64_t *sorted = sort_words(&r, chunks);
    tsr_free(counts);
    return sorted;
}
