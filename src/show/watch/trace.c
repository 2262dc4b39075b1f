/* The log of events (trace) and the log of counted writes (versions). The core's hooks append to logs of bounded
 * length that hold weak links to tensors, so that logging keeps nothing alive; the rows of a table are made when they
 * are asked for. */
#include "trace.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "lang/object/args.h"
#include "torch/bind/bind.h"
#include "core/mem.h"
#include "core/op.h"
#include "lang/types/dict.h"
#include "lang/object/exc.h"
#include "lang/object/gc.h"
#include "show/facts/card.h"
#include "events.h"
#include "lang/vm/lazy.h"
#include "lang/modules/namespace.h"
#include "lang/vm/prelude.h"
#include "lang/types/sequences.h"
#include "lang/types/str.h"
#include "lang/vm/vm.h"
#include "torch/holders.h"

enum { NAME_ROOM = 128 };

/* ---- the log of writes: each storage has its own ---- */

enum { LOG_FIRST = 4, LOG_MOST = 1000 };

/* Grows to LOG_MOST rows, or as far as memory goes, and is then a ring for good: write i is in rows[i % capacity], and
 * the oldest ones are gone. A write is missing only where memory was short for the very first row; the versions of the
 * others tell. */
typedef struct WriteLog {
    int64_t count;
    int capacity;
    Write rows[];
} WriteLog;

void (*see_written)(const Write *write);

static void write_free(Write *w) {
    tsr_tensor_weak_free(w->t);
    tsr_tensor_weak_free(w->root);
    tsr_tensor_weak_free(w->source);
}

static WriteLog *spare; /* of LOG_FIRST rows: temporaries that are written once take turns with it */

static void log_free(void *writes) {
    WriteLog *log = writes;
    for (int64_t i = 0; i < TSR_MIN(log->count, log->capacity); i++) write_free(&log->rows[i]);
    bool keep = spare == NULL && log->capacity == LOG_FIRST;
    if (keep) spare = log;
    else tsr_free(log);
}

static WriteLog *log_new(void) {
    WriteLog *log = spare != NULL ? spare : tsr_malloc(sizeof *log + sizeof(Write) * LOG_FIRST);
    spare = NULL;
    if (log != NULL) *log = (WriteLog){.capacity = LOG_FIRST};
    return log;
}

/* The log, grown if it is full and not yet a ring; NULL when there is no memory for a first one. */
static WriteLog *log_with_room(TsrStorage *s) {
    WriteLog *log = s->writes;
    if (TSR_LIKELY(log != NULL && (log->count != log->capacity || log->capacity == LOG_MOST))) return log;
    if (log == NULL) return s->writes = log_new();
    int capacity = TSR_MIN(4 * log->capacity, LOG_MOST);
    WriteLog *grown = tsr_realloc(log, sizeof *log + sizeof(Write) * (size_t)capacity);
    if (grown == NULL) return log;
    grown->capacity = capacity;
    return s->writes = grown;
}

static void note_write(TsrTensor *t, const char *what) {
    WriteLog *log = t->storage != NULL ? log_with_room(t->storage) : NULL;
    if (log == NULL) return;
    Write *w = &log->rows[log->count % log->capacity];
    if (log->count++ >= log->capacity) write_free(w);
    TsrTensor *root = t->base != NULL ? tsr_tensor_weak_new(t->base) : NULL,
              *source = t->source != NULL ? tsr_tensor_weak_new(t->source) : NULL;
    *w = (Write){tsr_tensor_weak_new(t), root, source, tsr_tensor_version(t), what, vm_current_line()};
    if (TSR_UNLIKELY(see_written != NULL)) see_written(w);
}

/* The name of what a weak link leads to, or why there is none. Whether there is one. */
static bool name_of_weak(char *buffer, size_t room, TsrTensor *weak) {
    TsrTensor *t = tsr_tensor_weak_retain(weak);
    if (t != NULL) holders_name(buffer, room, t);
    bool named = t != NULL && buffer[0] != '\0';
    if (!named) snprintf(buffer, room, "%s", t != NULL ? "a tensor without a name" : "a tensor that is gone");
    tsr_tensor_free(t);
    return named;
}

/* What a write went through: a name, or how the view came about, as inspect() says it ("select() of x"). */
static void name_write(char *buffer, size_t room, const Write *w) {
    char root[NAME_ROOM];
    if (name_of_weak(buffer, room, w->t) || w->root == NULL || w->t->origin == NULL) return;
    if (w->source == NULL || !name_of_weak(root, sizeof root, w->source))
        (void)name_of_weak(root, sizeof root, w->root);
    snprintf(buffer, room, "%s() of %s", w->t->origin, root);
}

static TsrStatus write_row(Value *out, const Write *w) {
    char name[NAME_ROOM + 64];
    Value row;
    name_write(name, sizeof name, w);
    TSR_TRY(dict_new(&row));
    TsrStatus status = TSR_OK;
    card_put_int(&status, row, "version", w->version);
    card_put_int(&status, row, "line", w->line);
    card_put_str(&status, row, "operation", w->what != NULL ? w->what : "");
    card_put_str(&status, row, "through", name);
    return value_end_move(out, status, row);
}

static TsrStatus trace_versions(Value *out, const CallArgs *args) {
    TsrTensor *t;
    Value list, row;
    TSR_TRY(holders_tensor(&t, args->values[0], "versions"));
    TSR_TRY(list_new(&list, 0));
    gc_collect(); /* what runs in dying generators may write: not later, while the log is read */
    const WriteLog *log = t->storage != NULL ? t->storage->writes : NULL;
    TsrStatus status = TSR_OK;
    for (int64_t i = log == NULL ? 0 : TSR_MAX(0, log->count - log->capacity);
         log != NULL && i < log->count && status == TSR_OK; i++) {
        status = write_row(&row, &log->rows[i % log->capacity]);
        if (status == TSR_OK) status = list_append_move(value_as_list(list), row);
    }
    if (status == TSR_OK) table_mark(list);
    return value_end_move(out, status, list);
}

/* ---- trace ---- */

/* One trace; nested ones stack. */
typedef struct Log {
    EventLog events;
    int64_t allocations, bytes, live, peak;
    int64_t unfused, unfused_bytes; /* results that would not have been allocated without the trace */
    const void *seen[256];          /* objects, so that each has a small number */
    int seen_count;
    struct Log *outer;
} Log;

static Log *current;

static int number_of(Log *log, const void *object) {
    for (int i = 0; i < log->seen_count; i++)
        if (log->seen[i] == object) return i + 1;
    if (log->seen_count == (int)TSR_COUNTOF(log->seen)) return 0;
    log->seen[log->seen_count++] = object;
    return log->seen_count;
}

static TsrStatus add_row(List *rows, const char *event, const char *what, int64_t bytes, const char *reason,
                         int object) {
    Value row;
    TSR_TRY(dict_new(&row));
    TsrStatus status = TSR_OK;
    card_put_str(&status, row, "event", event);
    card_put_str(&status, row, "what", what != NULL ? what : "");
    card_put_int(&status, row, "bytes", bytes);
    card_put_move(&status, row, "object", object > 0 ? value_int(object) : VALUE_NONE);
    card_put_str(&status, row, "reason", reason);
    if (status == TSR_OK) return list_append_move(rows, row);
    value_release(row);
    return status;
}

static TsrStatus add_event_row(List *rows, Log *log, const Event *e) {
    if (e->kind == TSR_TRACE_ALLOC) {
        log->allocations++;
        log->bytes += e->bytes;
        log->live += e->bytes;
        log->peak = TSR_MAX(log->peak, log->live);
    }
    if (e->kind == TSR_TRACE_FREE) log->live -= e->bytes;
    return add_row(rows, event_name(e->kind), e->what, e->bytes, e->reason,
                   e->kind == TSR_TRACE_OP ? 0 : number_of(log, e->object));
}

static void count_unfused(int64_t bytes) {
    if (current == NULL) return;
    current->unfused++;
    current->unfused_bytes += bytes;
}

static void log_begin(Log *log) {
    *log = (Log){.outer = current};
    current = log;
    lazy_not_held = count_unfused;
    events_begin(&log->events, NULL, NULL);
}

static void log_stop(Log *log) {
    events_end(&log->events);
    current = log->outer;
    if (current == NULL) lazy_not_held = NULL;
}

/* Ends the log: a row for each event, and the totals. */
static TsrStatus log_end(Log *log, List *rows) {
    char what[96];
    log_stop(log);
    TsrStatus status = log->events.status == TSR_OK ? TSR_OK : mem_error();
    for (int64_t i = 0; i < log->events.count && status == TSR_OK; i++)
        status = add_event_row(rows, log, &log->events.events[i]);
    events_free(&log->events);
    snprintf(what, sizeof what, "without the trace: %lld allocation%s fewer, held back in one pass",
             (long long)log->unfused, log->unfused == 1 ? "" : "s");
    if (status == TSR_OK && log->unfused > 0) status = add_row(rows, "fusion", what, log->unfused_bytes, NULL, 0);
    snprintf(what, sizeof what, "%lld allocation%s, peak %lld bytes", (long long)log->allocations,
             log->allocations == 1 ? "" : "s", (long long)log->peak);
    return status == TSR_OK ? add_row(rows, "total", what, log->bytes, NULL, 0) : status;
}

static TsrStatus trace_code(Value *out, const char *text, size_t length) {
    Value list, result = VALUE_UNBOUND;
    Log log;
    TSR_TRY(list_new(&list, 0));
    log_begin(&log);
    TsrStatus status = vm_run_text_here(&result, text, length, "<trace>");
    if (status == TSR_OK) value_release(result);
    if (status == TSR_OK) status = log_end(&log, value_as_list(list));
    else log_stop(&log);
    events_free(&log.events);
    if (status == TSR_OK) table_mark(list);
    return value_end_move(out, status, list);
}

/* with trace() as log: the rows are in the list when the block has ended. */
typedef struct Tracer {
    Obj obj;
    Log log;
    Value rows;
    bool running;
} Tracer;

static void tracer_destroy(Obj *self) {
    Tracer *t = (Tracer *)self;
    if (t->running) log_stop(&t->log);
    events_free(&t->log.events);
    value_release(t->rows);
    obj_free(t, sizeof *t);
}

static TsrStatus tracer_enter(Value *out, const CallArgs *args) {
    Tracer *t = (Tracer *)args->values[0].o;
    if (t->running) return tsr_error(TSR_RUNTIME_ERROR, "this trace is running already");
    t->running = true;
    log_begin(&t->log);
    *out = value_retain(t->rows);
    return TSR_OK;
}

static TsrStatus tracer_exit(Value *out, const CallArgs *args) {
    Tracer *t = (Tracer *)args->values[0].o;
    *out = VALUE_NONE;
    if (!t->running) return TSR_OK;
    t->running = false;
    TsrStatus status = log_end(&t->log, value_as_list(t->rows));
    if (status == TSR_OK) table_mark(t->rows);
    return status;
}

static const Method tracer_methods[] = {{"__enter__", tracer_enter, ARGS_NONE | METHOD_DUNDER, 0, 0, "()", NULL},
                                        {"__exit__", tracer_exit, ARGS_RANGE | METHOD_DUNDER, 0, 3, "(*args)", NULL},
                                        {0}};
static Type tracer_type = {
    .obj = TYPE_HEADER, .name = "trace", .module = "tsr", .destroy = tracer_destroy, .methods = tracer_methods};

/* trace(t) of a tensor is torch.trace; trace(CODE) the log of running it; trace() a context manager. */
static TsrStatus trace_call(Value *out, const CallArgs *args) {
    TsrTensor *tensor = NULL;
    if (args->count == 0 && args->keyword_count == 0) {
        Tracer *t = obj_new(&tracer_type, sizeof *t);
        if (t == NULL) return mem_error();
        memset((char *)t + sizeof t->obj, 0, sizeof *t - sizeof t->obj);
        *out = value_obj_move(t);
        TsrStatus status = list_new(&t->rows, 0);
        if (status != TSR_OK) value_clear(out);
        return status;
    }
    if (args->count == 1 && value_is_str(args->values[0]))
        return trace_code(out, value_as_str(args->values[0])->data, (size_t)value_as_str(args->values[0])->size);
    if (args->count > 0) TSR_TRY(bind_tensor_of(&tensor, args->values[0]));
    return bind_call(out, "trace", args->count, args->values);
}

static const Method functions[] = {
    {"trace", trace_call, ARGS_ANY, 0, 1, "(code)",
     "The log of allocations, copies and counts while code runs; of a tensor torch.trace; with trace(): a block.\n\n"
     "    >>> trace(\"ones(1000)\")[-1][\"what\"]\n    '1 allocation, peak 4000 bytes'"},
    {"versions", trace_versions, ARGS_ONE, 1, 1, "(x)",
     "The log of writes to a tensor's storage.\n\n"
     "    >>> x = ones(2, 3)\n    >>> x[0] = 5\n    >>> versions(x)\n    version  line  operation  through\n    1    "
     "    2     fill_      select() of x"},
    {0},
};

TsrStatus trace_startup(void) {
    tsr_write_hook = note_write;
    tsr_writes_free_hook = log_free;
    return namespace_add_functions("tsr", functions, true);
}

void trace_shutdown(void) {
    tsr_write_hook = NULL;
    for (TsrStorage *s = tsr_storage_first(); s != NULL; s = s->next) {
        if (s->writes != NULL) log_free(s->writes);
        s->writes = NULL;
    }
    tsr_free(spare);
    spare = NULL;
}
