/* copy.c: repl/lesson/copy.h by saving and putting back the memory of the program. */
#include "copy.h"

#include <emscripten.h>
#include <stdint.h>
#include <stdlib.h>

#include "core/storage.h"
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
EM_JS(void, heap_share, (const void *begin, size_t size), {
    (Module['shared'] = Module['shared'] || []).push([begin, size]);
});

/* Takes what was named by heap_share with it. */
EM_JS(int, heap_save, (void), {
    const shared = Module['shared'] || [];
    Module['shared'] = [];
    try {
        (Module['saved'] = Module['saved'] || []).push({ bytes: HEAPU8.slice(), shared: shared });
        return 1;
    } catch (error) {
        return 0;
    }
});

/* Returns what it is given: a number for the caller, whose variables are in the memory that is put back. */
EM_JS(int, heap_undo, (int result), {
    const saved = Module['saved'].pop();
    const kept = saved.shared.map(one => [one[0], HEAPU8.slice(one[0], one[0] + one[1])]);
    HEAPU8.set(saved.bytes);
    HEAPU8.fill(0, saved.bytes.length);
    kept.forEach(one => HEAPU8.set(one[1], one[0]));
    return result;
});

EM_JS(void, heap_keep, (void), { Module['saved'].pop(); });
/* clang-format on */

/* What stays as it is then, when the memory is put back. */
static void share_regions(void) {
    for (int i = 0; i < region_count; i++) heap_share(regions[i].begin, regions[i].size);
}

static void share_storages(void) {
    for (const TsrStorage *s = tsr_storage_first(); s != NULL; s = s->next)
        if (s->shared && s->ptr.data != NULL) heap_share(s->ptr.data, (size_t)s->nbytes);
}

bool copy_save(void) {
    copy_flush();
    share_regions();
    return heap_save() != 0;
}

void copy_undo(void) {
    copy_flush();
    heap_undo(0);
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

/* Runs work in the copy that was saved, and puts it back: what work returned, false when nothing was run. */
static bool run_saved(bool (*work)(void *context), void *context, bool quiet) {
    Quiet silence;
    if (quiet && !quiet_begin(&silence)) {
        copy_keep();
        return false;
    }
    bool fine = work(context);
    copy_flush();
    if (quiet) quiet_end(&silence);
    return heap_undo(fine) != 0;
}

bool copy_run(void (*work)(void *context), void *context, bool quiet) {
    CopyWork all = {work, context};
    return copy_save() && run_saved(copy_work, &all, quiet);
}

bool copy_call(bool (*work)(void *context), void *context, bool quiet) {
    share_storages();
    return copy_save() && run_saved(work, context, quiet);
}

/* The lesson at a terminal goes on in processes: there is none here (lesson.c). */
bool snapshot_take(Snapshot *s) {
    s->keeper = -1;
    return true;
}

void snapshot_keep(Snapshot *s) { (void)s; }

void snapshot_undo(const Snapshot *s) { (void)s; }
