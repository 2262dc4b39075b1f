/* two_threads_memory.c: during parallel(f, g) each access goes into a table: which bytes of which storage a side wrote,
 * or used (read, or took a view of). What one side wrote and the other used would be a race between threads that
 * do not take turns.
 *
 * Storages that were there before are looked at, as what a side makes is its own until it is handed on; a tensor with
 * gaps is left out, so that nothing is said that is not so. */
#include "two_threads_memory.h"

#include <stdio.h>
#include <string.h>

#include "core/alloc.h"
#include "core/op.h"
#include "core/storage.h"
#include "core/tensor.h"
#include "show/watch/versions.h"
#include "torch/holders.h"

enum { MAX_STORAGES = 32, MAX_RANGES = 24, NAME_ROOM = 64 };

typedef struct Range {
    int64_t begin, end; /* bytes */
    bool places;        /* some of them were written, at places that the arguments said */
} Range;

typedef struct Ranges {
    Range items[MAX_RANGES];
    int count;
} Ranges;

typedef struct Accesses {
    int64_t serial;
    Ranges used[2], written[2]; /* by each side; what is written is not listed as used */
} Accesses;

static struct {
    Accesses storages[MAX_STORAGES];
    int count;
    int64_t last_serial; /* of what was there before */
    int (*side)(void);
    TsrTraceHook outer_hook;
    void *outer_user;
    void (*outer_write)(TsrTensor *t, const char *what);
} seen;

/* ---- the table ---- */

static Accesses *accesses_of(int64_t serial) {
    for (int i = 0; i < seen.count; i++)
        if (seen.storages[i].serial == serial) return &seen.storages[i];
    if (seen.count == MAX_STORAGES) return NULL;
    Accesses *a = &seen.storages[seen.count++];
    memset(a, 0, sizeof *a);
    a->serial = serial;
    return a;
}

static void add_range(Ranges *list, Range r) {
    for (int i = 0; i < list->count; i++) {
        Range *old = &list->items[i];
        if (r.begin > old->end || r.end < old->begin) continue;
        old->begin = TSR_MIN(old->begin, r.begin);
        old->end = TSR_MAX(old->end, r.end);
        old->places = old->places || r.places;
        return;
    }
    if (list->count < MAX_RANGES) list->items[list->count++] = r;
}

/* The bytes that a tensor without gaps reaches. */
static bool range_of(Range *out, const TsrTensor *t) {
    int64_t low = t->offset, high = low, size = (int64_t)tsr_itemsize(t);
    if (t->storage == NULL || t->numel == 0 || t->storage->serial == 0 || t->storage->serial > seen.last_serial)
        return false;
    for (int d = 0; d < tsr_ndim(t); d++) high += (t->sizes[d] - 1) * t->strides[d];
    *out = (Range){low * size, (high + 1) * size, false};
    return high + 1 - low == t->numel;
}

/* `what`: the operator that writes; NULL: it is used. */
static void note_access(const TsrTensor *t, const char *what) {
    Range r;
    bool write = what != NULL;
    if (t == NULL || !range_of(&r, t)) return;
    r.places = write && writes_at_places(what);
    Accesses *a = accesses_of(t->storage->serial);
    if (a != NULL) add_range(write ? &a->written[seen.side()] : &a->used[seen.side()], r);
}

/* ---- hooks ---- */

static void note_arguments(const TsrOpCall *call) {
    for (int i = 0; i < call->nargs; i++)
        if (call->arg[i].kind == TSR_ARG_TENSOR) note_access(call->arg[i].t, NULL);
}

static void see_event(void *user, const TsrTraceEvent *e) {
    (void)user;
    if (e->kind == TSR_TRACE_VIEW) note_access(e->object, NULL);
    if (e->kind == TSR_TRACE_OP && e->object != NULL) note_arguments(e->object);
    if (seen.outer_hook != NULL) seen.outer_hook(seen.outer_user, e);
}

static void see_write(TsrTensor *t, const char *what) {
    note_access(t, what);
    if (seen.outer_write != NULL) seen.outer_write(t, what);
}

void memory_watch_begin(int (*side)(void)) {
    seen.count = 0;
    seen.side = side;
    seen.last_serial = tsr_storage_last_serial();
    seen.outer_hook = tsr_trace_hook;
    seen.outer_user = tsr_trace_user;
    seen.outer_write = tsr_write_hook;
    tsr_trace_hook = see_event;
    tsr_write_hook = see_write;
}

void memory_watch_end(void) {
    tsr_trace_hook = seen.outer_hook;
    tsr_trace_user = seen.outer_user;
    tsr_write_hook = seen.outer_write;
}

/* ---- what is told ---- */

static bool common(Range *out, const Ranges *a, const Ranges *b) {
    for (int i = 0; i < a->count; i++)
        for (int k = 0; k < b->count; k++) {
            *out = (Range){TSR_MAX(a->items[i].begin, b->items[k].begin), TSR_MIN(a->items[i].end, b->items[k].end),
                           a->items[i].places || b->items[k].places};
            if (out->begin < out->end) return true;
        }
    return false;
}

typedef struct Finding {
    int64_t serial;
    char name[NAME_ROOM]; /* of a tensor over it; "": none */
} Finding;

static bool find_name(const char *path, TsrTensor *t, bool argument, void *context) {
    Finding *f = context;
    if (argument || path[0] == '<' || t->storage == NULL || t->storage->serial != f->serial) return true;
    snprintf(f->name, sizeof f->name, "%s", path);
    return false;
}

static void tell(const Accesses *a, int writer, bool both, Range r, const char *const *names) {
    Finding f = {.serial = a->serial};
    char where[NAME_ROOM + 64];
    if (holders_each(find_name, &f) != TSR_OK) tsr_error_clear();
    snprintf(where, sizeof where, "%sbytes %lld to %lld of the storage of %s", r.places ? "at places in " : "",
             (long long)r.begin, (long long)r.end, f.name[0] != '\0' ? f.name : "a tensor without a name");
    fflush(stdout);
    fputs("UserWarning: parallel(): ", stderr);
    if (both) fprintf(stderr, "%s and %s both write %s", names[0], names[1], where);
    else fprintf(stderr, "%s writes what %s uses, %s", names[writer], names[1 - writer], where);
    fputs(r.places ? ": where these are the same, threads that take no turns would race\n"
                   : ": threads that take no turns would race\n",
          stderr);
}

void memory_watch_tell(const char *const *names) {
    for (int i = 0; i < seen.count; i++) {
        const Accesses *a = &seen.storages[i];
        Range r;
        if (common(&r, &a->written[0], &a->written[1])) tell(a, 0, true, r, names);
        else if (common(&r, &a->written[0], &a->used[1])) tell(a, 0, false, r, names);
        else if (common(&r, &a->written[1], &a->used[0])) tell(a, 1, false, r, names);
    }
}
