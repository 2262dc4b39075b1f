/* life tsr|bare|malloc [SECONDS]: prints BENCH <min s> <median s> for one tensor that is made, viewed and dropped, view
 * first.
 *
 * tsr: through libtsr, trace off, with what it keeps to show (origins, bases, a list of the storages, counters of
 * bytes). bare: the same life of tensors that can show nothing: counts and geometry, from free lists of one thread.
 * malloc: those by malloc.
 *
 * Build: gcc -O2 -Isrc/core life.c build/release/libtsr.a (tsr.pc has the libraries behind it)
 */
#include <stdatomic.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "tsr.h"

enum { TURNS = 20000, ROUNDS = 4000 };

static double now(void) {
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

/* ---- tensors that can show nothing ---- */

typedef struct Block {
    struct Block *next;
} Block;
typedef struct Storage {
    _Atomic int32_t count;
    void *data;
    size_t bytes;
} Storage;
typedef struct Tensor {
    _Atomic int32_t count;
    uint8_t dtype, ndim;
    int64_t numel, offset, sizes[5], strides[5];
    Storage *storage;
} Tensor;

static Block *free_tensors, *free_storages, *free_memory;
static int by_malloc;

static void *take(Block **list, size_t bytes) {
    Block *b = *list;
    if (by_malloc || b == NULL) return bytes % 64 ? malloc(bytes) : aligned_alloc(64, bytes);
    *list = b->next;
    return b;
}

static void give(Block **list, void *block) {
    if (by_malloc) {
        free(block);
        return;
    }
    ((Block *)block)->next = *list;
    *list = block;
}

static Tensor *bare_over(Storage *s, int64_t offset, int64_t n) {
    Tensor *t = take(&free_tensors, sizeof *t);
    t->count = 1;
    t->dtype = 0;
    t->ndim = 1;
    t->numel = n;
    t->offset = offset;
    t->sizes[0] = n;
    t->strides[0] = 1;
    t->storage = s;
    return t;
}

static Tensor *bare_new(int64_t n) {
    Storage *s = take(&free_storages, sizeof *s);
    s->count = 1;
    s->bytes = (size_t)n * 4;
    s->data = take(&free_memory, 64);
    return bare_over(s, 0, n);
}

static Tensor *bare_view(Tensor *t, int64_t start, int64_t end) {
    if (start < 0 || end > t->sizes[0]) abort();
    t->storage->count++;
    return bare_over(t->storage, t->offset + start, end - start);
}

static void bare_free(Tensor *t) {
    if (--t->count > 0) return;
    if (--t->storage->count == 0) {
        give(&free_memory, t->storage->data);
        give(&free_storages, t->storage);
    }
    give(&free_tensors, t);
}

/* ---- the two lives ---- */

static void *volatile seen; /* so that no life is optimised away */

static void bare_lives(void) {
    for (int i = 0; i < TURNS; i++) {
        Tensor *t = bare_new(3), *v = bare_view(t, 0, 2);
        seen = v;
        bare_free(v);
        bare_free(t);
    }
}

static void tsr_lives(void) {
    int64_t n = 3;
    for (int i = 0; i < TURNS; i++) {
        TsrTensor *t, *v;
        if (tsr_tensor_new(&t, 1, &n, TSR_FLOAT32, TSR_DEVICE_CPU) != TSR_OK ||
            tsr_tensor_new_narrow(&v, t, 0, 0, 2) != TSR_OK)
            abort();
        seen = v;
        tsr_tensor_free(v);
        tsr_tensor_free(t);
    }
}

static int ascending(const void *a, const void *b) {
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

int main(int argc, char **argv) {
    static double times[ROUNDS];
    const char *who = argc > 1 ? argv[1] : "tsr";
    double end = now() + (argc > 2 ? atof(argv[2]) : 0.2);
    int n = 0;
    by_malloc = strcmp(who, "malloc") == 0;
    void (*lives)(void) = strcmp(who, "tsr") == 0 ? tsr_lives : bare_lives;
    lives();
    do {
        double t = now();
        lives();
        times[n++] = (now() - t) / TURNS;
    } while (n < ROUNDS && now() < end);
    qsort(times, (size_t)n, sizeof *times, ascending);
    printf("BENCH %.4g %.4g\n", times[0], times[n / 2]);
}
