/* events.h: the log of what the core did: blocks taken and given back, copies, counts, writes, views, operators. trace
 * shows it, explain tells it in words. Logs nest: each one sees all that happens while it is open. */
#ifndef SHOW_WATCH_EVENTS_H
#define SHOW_WATCH_EVENTS_H

#include "core/alloc.h"
#include "core/error.h"

typedef struct Event {
    TsrTraceKind kind;
    const char *what, *reason; /* static, as in TsrTraceEvent */
    int64_t bytes;
    const void *object; /* for identity only: it may be gone */
    int64_t serial;     /* of the storage that a block is for: 0 for one that is being made, -1 for none */
} Event;

typedef struct EventLog {
    Event *events; /* owned */
    int64_t count, capacity;
    TsrStatus status;                                /* not TSR_OK: memory was short, and events are missing */
    void (*see)(void *user, const TsrTraceEvent *e); /* called after the event is in the log; NULL: nobody */
    void *user;
    struct EventLog *outer;
} EventLog;

/* Begins a log inside of those that are open; see (or NULL) is called after each event has been added. */
void events_begin(EventLog *log, void (*see)(void *user, const TsrTraceEvent *e), void *user);
void events_end(EventLog *log);  /* its events stay */
void events_free(EventLog *log); /* the events, of a log that has ended */
/* What runs in between is no event: the work of the logs' own readers. Pairs nest. */
void events_hush(void);
void events_listen(void);

/* The name of an event's kind in trace's rows; static. */
const char *event_name(TsrTraceKind kind);

#endif
