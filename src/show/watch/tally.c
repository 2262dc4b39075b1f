/* One pass over the events; a block belongs to a storage from before when that has an older serial number. */
#include "tally.h"

#include <stdbool.h>
#include <string.h>

static void add_block(Tally *t, const Event *e) {
    if (strcmp(e->what, "meta") == 0) return;
    t->allocated += e->bytes;
    if (e->serial == 0) t->made += e->bytes;
    if (e->serial > 0) t->moved += e->bytes;
    t->made_reason = e->reason;
}

static void end_block(Tally *t, const Event *e, int64_t last_serial) {
    if (strcmp(e->what, "meta") == 0) return;
    bool old = e->serial > 0 && e->serial <= last_serial;
    if (old) t->freed += e->bytes;
    else t->given_back += e->bytes;
}

Tally tally_of(const Event *events, int64_t count, int64_t last_serial) {
    Tally t = {0};
    for (const Event *e = events; e < events + count; e++) {
        if (e->kind == TSR_TRACE_ALLOC) add_block(&t, e);
        if (e->kind == TSR_TRACE_FREE) end_block(&t, e, last_serial);
        if (e->kind == TSR_TRACE_ADOPT) t.adopted += e->bytes, t.adopted_as = e->what;
        if (e->kind == TSR_TRACE_COPY) t.copied += e->bytes, t.copies++, t.copy_reason = e->reason;
    }
    return t;
}
