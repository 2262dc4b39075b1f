/* Keeps the open logs in a stack, and the core's one hook in place while there is one. */
#include "events.h"

#include <stdbool.h>

#include "core/mem.h"
#include "lang/object/value.h"
#include "core/storage.h"

static EventLog *innermost;
static int hushed;

const char *event_name(TsrTraceKind kind) {
    static const char *const names[] = {
        [TSR_TRACE_ALLOC] = "alloc",         [TSR_TRACE_FREE] = "free",       [TSR_TRACE_CACHE_HIT] = "cache hit",
        [TSR_TRACE_RETAIN] = "retain",       [TSR_TRACE_RELEASE] = "release", [TSR_TRACE_COPY] = "copy",
        [TSR_TRACE_CONSTRUCT] = "construct", [TSR_TRACE_DESTROY] = "destroy", [TSR_TRACE_WRITE] = "write",
        [TSR_TRACE_VIEW] = "view",           [TSR_TRACE_OP] = "op",           [TSR_TRACE_CHANGE] = "change",
        [TSR_TRACE_ADOPT] = "adopt",         [TSR_TRACE_RETURN] = "free",     [TSR_TRACE_KEEP] = "keep",
        [TSR_TRACE_WRAP] = "wrap",           [TSR_TRACE_CALL] = "call"};
    return names[kind];
}

static bool is_of_block(TsrTraceKind kind) {
    return kind == TSR_TRACE_ALLOC || kind == TSR_TRACE_FREE || kind == TSR_TRACE_ADOPT || kind == TSR_TRACE_RETURN;
}

static bool make_room(EventLog *log) {
    if (log->status == TSR_OK)
        log->status = mem_grow(&log->events, &log->capacity, log->count + 1, sizeof *log->events);
    return log->status == TSR_OK;
}

static void add_event(EventLog *log, const TsrTraceEvent *e) {
    const TsrStorage *s = is_of_block(e->kind) ? e->object2 : NULL;
    if (make_room(log))
        log->events[log->count++] =
            (Event){e->kind, e->what, e->reason, e->bytes, e->object, s != NULL ? s->serial : -1};
}

static void happened(void *user, const TsrTraceEvent *e) {
    (void)user;
    if (hushed > 0) return;
    for (EventLog *log = innermost; log != NULL; log = log->outer) {
        add_event(log, e);
        if (log->see != NULL) log->see(log->user, e);
    }
}

void events_begin(EventLog *log, void (*see)(void *user, const TsrTraceEvent *e), void *user) {
    *log = (EventLog){.see = see, .user = user, .outer = innermost};
    innermost = log;
    tsr_trace_hook = happened;
}

void events_end(EventLog *log) {
    EventLog **at = &innermost;
    while (*at != NULL && *at != log) at = &(*at)->outer;
    if (*at != NULL) *at = log->outer;
    if (innermost == NULL) tsr_trace_hook = NULL;
}

void events_free(EventLog *log) {
    tsr_free(log->events);
    log->events = NULL;
    log->count = log->capacity = 0;
}

void events_hush(void) { hushed++; }
void events_listen(void) { hushed--; }
