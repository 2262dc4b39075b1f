/* copy.c: repl/lesson/copy.h by saving and putting back the memory of the program. */
#include "copy.h"

#include <emscripten.h>
#include <stdint.h>
#include <stdlib.h>

#include "repl/lesson/copy.h"

enum { MOST_REGIONS = 16 };

typedef struct Region { /* of copy_shared */
    void *begin;
    size_t size;
} Region;

static Region regions[MOST_REGIONS];
static int region_count;

/* JavaScript, as it is written: */
/* clang-format off */
EM_JS(int, heap_save, (const void *list, int count), {
    const at = list >> 2;
    const shared = [];
    for (let i = 0; i < count; i++) shared.push([HEAPU32[at + 2 * i], HEAPU32[at + 2 * i + 1]]);
    try {
        (Module['saved'] = Module['saved'] || []).push({ bytes: HEAPU8.slice(), shared: shared });
        return 1;
    } catch (error) {
        return 0;
    }
});

EM_JS(void, heap_undo, (void), {
    const saved = Module['saved'].pop();
    const kept = saved.shared.map(one => [one[0], HEAPU8.slice(one[0], one[0] + one[1])]);
    HEAPU8.set(saved.bytes);
    HEAPU8.fill(0, saved.bytes.length);
    kept.forEach(one => HEAPU8.set(one[1], one[0]));
});

EM_JS(void, heap_keep, (void), { Module['saved'].pop(); });
/* clang-format on */

bool copy_save(void) {
    copy_flush();
    return heap_save(regions, region_count) != 0;
}

void copy_undo(void) {
    copy_flush();
    heap_undo();
}

void copy_keep(void) { heap_keep(); }

void *copy_shared(size_t bytes) {
    void *memory = region_count < MOST_REGIONS ? calloc(1, bytes) : NULL;
    if (memory != NULL) regions[region_count++] = (Region){memory, bytes};
    return memory;
}

void copy_free(void *shared, size_t bytes) {
    (void)bytes;
    for (int i = 0; i < region_count; i++)
        if (regions[i].begin == shared) regions[i] = regions[--region_count];
    free(shared);
}

bool copy_run(void (*work)(void *context), void *context, bool quiet) {
    Quiet silence;
    if (!copy_save()) return false;
    if (quiet && !quiet_begin(&silence)) {
        copy_keep();
        return false;
    }
    work(context);
    copy_flush();
    if (quiet) quiet_end(&silence);
    copy_undo();
    return true;
}

/* Nothing outside the one memory stays as a copy leaves it: there could be no copy. */
bool copy_call(void (*work)(void *context), void *context, bool quiet) {
    (void)work;
    (void)context;
    (void)quiet;
    return false;
}

/* The lesson at a terminal goes on in processes: there is none here (lesson.c). */
bool snapshot_take(Snapshot *s) {
    s->keeper = -1;
    return true;
}

void snapshot_keep(Snapshot *s) { (void)s; }

void snapshot_undo(const Snapshot *s) { (void)s; }
