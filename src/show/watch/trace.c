/* The log of events: what the core does while code runs, as rows that name its tensors and storages and show their
 * counts. The rows are made when the code has ended. */
#include "trace.h"

#include <stdio.h>
#include <string.h>

#include "show/facts/card.h"
#include "core/mem.h"
#include "core/storage.h"
#include "core/tensor.h"
#include "events.h"
#include "show/facts/inspect.h"
#include "lang/modules/namespace.h"
#include "lang/object/args.h"
#include "lang/object/exc.h"
#include "lang/types/dict.h"
#include "lang/types/sequences.h"
#include "lang/types/str.h"
#include "lang/vm/lazy.h"
#include "lang/vm/vm.h"
#include "objects.h"
#include "torch/bind/bind.h"

enum { TEXT_ROOM = 64 };

/* What is known of an event when it happens, and not later. */
typedef struct Line {
    int64_t object, other; /* numbers in Log.objects; -1: none. other: of a copy the source, of a view its base */
    int32_t count;         /* before a retain or a release */
    int32_t alignment;     /* of a block; 0: of no block */
    const char *reason;    /* of a free that gives none: what came before it; static; NULL: not known */
    int64_t text;          /* of the expression, in Log.texts; -1: not asked for */
    bool folded;           /* one of a pair that the table leaves out */
} Line;

/* One trace; nested ones stack. */
typedef struct Log {
    EventLog events;
    Objects objects;
    Line *lines; /* owned, one an event */
    int64_t line_capacity;
    char **texts; /* owned */
    int64_t text_count, text_capacity;
    int64_t gone; /* the storage whose last reference was given back just now, a number in `objects`; -1: none */
    bool every;   /* the evaluator's own pairs, too */
    bool short_of_memory;
    int64_t allocations, bytes, live, peak;
    int64_t unfused, unfused_bytes; /* results that would not have been allocated without the trace */
    struct Log *outer;
} Log;

static Log *current;

/* ---- while it runs ---- */

static TsrTensor *as_tensor(const void *object) { return (TsrTensor *)(uintptr_t)object; }
static TsrStorage *as_storage(const void *object) { return (TsrStorage *)(uintptr_t)object; }

/* The number of the expression that is being evaluated: as a rule that of the event before. -1: none, or no memory. */
static int64_t text_now(Log *log) {
    char text[TEXT_ROOM];
    vm_current_text(text, sizeof text);
    if (text[0] == '\0') return -1;
    if (log->text_count > 0 && strcmp(log->texts[log->text_count - 1], text) == 0) return log->text_count - 1;
    if (mem_grow(&log->texts, &log->text_capacity, log->text_count + 1, sizeof *log->texts) != TSR_OK) return -1;
    char *copy = tsr_mem_text(text, strlen(text));
    if (copy == NULL) return -1;
    log->texts[log->text_count] = copy;
    return log->text_count++;
}

/* The objects of an event, by its kind. */
static void find_objects(Log *log, Line *line, const TsrTraceEvent *e) {
    Objects *o = &log->objects;
    switch (e->kind) {
    case TSR_TRACE_ALLOC:
    case TSR_TRACE_FREE:
    case TSR_TRACE_CACHE_HIT:
    case TSR_TRACE_ADOPT:
    case TSR_TRACE_RETURN:
    case TSR_TRACE_CALL: line->object = objects_storage(o, as_storage(e->object2)); break;
    case TSR_TRACE_CONSTRUCT:
    case TSR_TRACE_DESTROY: line->object = objects_storage(o, as_storage(e->object)); break;
    case TSR_TRACE_COPY:
        if (e->object2 == NULL) line->object = objects_storage(o, as_storage(e->object));
        else {
            line->object = objects_tensor(o, as_tensor(e->object));
            line->other = objects_tensor(o, as_tensor(e->object2));
        }
        break;
    case TSR_TRACE_VIEW:
        line->object = objects_tensor(o, as_tensor(e->object));
        line->other = objects_tensor(o, as_tensor(e->object2));
        break;
    case TSR_TRACE_RETAIN:
    case TSR_TRACE_RELEASE: {
        bool storage = strcmp(e->what, "storage") == 0;
        line->object = storage ? objects_storage(o, as_storage(e->object)) : objects_tensor(o, as_tensor(e->object));
        line->count = storage ? as_storage(e->object)->refcount : as_tensor(e->object)->refcount;
        line->count -= e->kind == TSR_TRACE_RETAIN;
        break;
    }
    case TSR_TRACE_WRITE:
    case TSR_TRACE_KEEP:
        if (e->object == NULL && e->object2 != NULL) {
            line->object = objects_storage(o, as_storage(e->object2));
            break;
        }
        /* fallthrough */
    case TSR_TRACE_CHANGE:
    case TSR_TRACE_WRAP: line->object = objects_tensor(o, as_tensor(e->object)); break;
    case TSR_TRACE_OP: break;
    }
}

static bool is_caused(TsrTraceKind kind) {
    return kind == TSR_TRACE_ALLOC || kind == TSR_TRACE_COPY || kind == TSR_TRACE_WRITE || kind == TSR_TRACE_VIEW;
}

static bool is_last_of_storage(const TsrTraceEvent *e, const Line *line) {
    return e->kind == TSR_TRACE_RELEASE && line->count == 1 && strcmp(e->what, "storage") == 0;
}

static void see(void *user, const TsrTraceEvent *e) {
    Log *log = user;
    int64_t at = log->events.count - 1;
    if (log->events.status != TSR_OK || log->short_of_memory) return;
    if (mem_grow(&log->lines, &log->line_capacity, at + 1, sizeof *log->lines) != TSR_OK) {
        log->short_of_memory = true;
        return;
    }
    Line line = {.object = -1, .other = -1, .text = -1};
    find_objects(log, &line, e);
    if (e->kind == TSR_TRACE_ALLOC || e->kind == TSR_TRACE_FREE || e->kind == TSR_TRACE_CALL)
        line.alignment = (int32_t)(e->alignment > 0 ? (int64_t)e->alignment : inspect_alignment(e->object));
    if (is_last_of_storage(e, &line)) log->gone = line.object;
    if (e->kind == TSR_TRACE_FREE && e->reason == NULL && line.object >= 0)
        line.reason = line.object == log->gone ? "the last reference went" : "other memory took its place";
    if (e->reason == NULL && is_caused(e->kind)) line.text = text_now(log);
    log->lines[at] = line;
}

static void count_unfused(int64_t bytes) {
    if (current == NULL) return;
    current->unfused++;
    current->unfused_bytes += bytes;
}

static void log_begin(Log *log, bool every) {
    *log = (Log){.outer = current, .every = every, .gone = -1};
    objects_begin(&log->objects);
    current = log;
    lazy_not_held = count_unfused;
    events_begin(&log->events, see, log);
}

static void log_stop(Log *log) {
    events_end(&log->events);
    current = log->outer;
    if (current == NULL) lazy_not_held = NULL;
}

static void log_free(Log *log) {
    events_free(&log->events);
    objects_free(&log->objects);
    for (int64_t i = 0; i < log->text_count; i++) tsr_free(log->texts[i]);
    tsr_free(log->texts);
    tsr_free(log->lines);
    log->texts = NULL;
    log->lines = NULL;
    log->text_count = log->text_capacity = log->line_capacity = 0;
}

/* ---- the pairs that are left out ---- */

static bool is_count(const Event *e) { return e->kind == TSR_TRACE_RETAIN || e->kind == TSR_TRACE_RELEASE; }
static bool is_of_tensor(const Event *e) { return is_count(e) && strcmp(e->what, "tensor") == 0; }

/* A wrapper, a raw handle or a MaybeOwned took a reference: that is no pair of the evaluator's. */
static bool is_taken_by_wrapper(const Event *e) {
    return e->kind == TSR_TRACE_WRAP && e->reason != NULL && strcmp(e->reason, "owned") == 0;
}

/* The references to each tensor that were taken and not given back yet, up to an event: a stack of retains a tensor. */
typedef struct Taken {
    int64_t *top;   /* owned: for each object its last open retain; -1: none */
    int64_t *below; /* owned: for each retain the one before it of the same object */
} Taken;

/* A release closes the last retain that is open: both are the evaluator's, and are left out. */
static void fold_event(Log *log, Taken *taken, int64_t i) {
    const Event *e = &log->events.events[i];
    Line *line = &log->lines[i];
    int64_t last = line->object >= 0 ? taken->top[line->object] : -1;
    if (is_of_tensor(e) && line->object >= 0 && e->kind == TSR_TRACE_RETAIN) {
        taken->below[i] = last;
        taken->top[line->object] = i;
    } else if (last >= 0 && (is_of_tensor(e) || is_taken_by_wrapper(e))) {
        taken->top[line->object] = taken->below[last];
        log->lines[last].folded = line->folded = is_of_tensor(e);
    }
}

static TsrStatus fold_tensors(Log *log) {
    Taken taken = {tsr_malloc_array((size_t)log->objects.count + 1, sizeof(int64_t)),
                   tsr_malloc_array((size_t)log->events.count + 1, sizeof(int64_t))};
    bool fine = taken.top != NULL && taken.below != NULL;
    for (int64_t i = 0; fine && i < log->objects.count; i++) taken.top[i] = -1;
    for (int64_t i = 0; fine && i < log->events.count; i++) fold_event(log, &taken, i);
    tsr_free(taken.top);
    tsr_free(taken.below);
    return fine ? TSR_OK : mem_error();
}

/* Of a storage a retain and the release that comes right after it. */
static void fold_storages(Log *log) {
    int64_t last = -1; /* the row before that is not folded */
    for (int64_t i = 0; i < log->events.count; i++) {
        const Event *e = &log->events.events[i];
        if (log->lines[i].folded) continue;
        if (last >= 0 && e->kind == TSR_TRACE_RELEASE && !is_of_tensor(e) &&
            log->events.events[last].kind == TSR_TRACE_RETAIN && log->lines[last].object == log->lines[i].object) {
            log->lines[last].folded = log->lines[i].folded = true;
            last = -1;
        } else last = i;
    }
}

/* What a tensor's counts are without the references that are left out: they run on from its first row. */
static TsrStatus count_without_folded(Log *log) {
    int32_t *counts = tsr_malloc_array((size_t)log->objects.count + 1, sizeof *counts);
    if (counts == NULL) return mem_error();
    for (int64_t i = 0; i < log->objects.count; i++) counts[i] = -1;
    for (int64_t i = 0; i < log->events.count; i++) {
        const Event *e = &log->events.events[i];
        Line *line = &log->lines[i];
        if (!is_of_tensor(e) || line->object < 0) continue;
        if (counts[line->object] < 0) counts[line->object] = line->count;
        if (line->folded) continue;
        line->count = counts[line->object];
        counts[line->object] += e->kind == TSR_TRACE_RETAIN ? 1 : -1;
    }
    tsr_free(counts);
    return TSR_OK;
}

/* ---- rows ---- */

static TsrStatus add_row(List *rows, const char *event, const char *what, int64_t bytes, const Line *line,
                         const char *object, const char *reason) {
    Value row;
    char count[32];
    bool counted = line != NULL && (strcmp(event, "retain") == 0 || strcmp(event, "release") == 0);
    if (counted)
        snprintf(count, sizeof count, "%d → %d", line->count, line->count + (strcmp(event, "retain") == 0 ? 1 : -1));
    TSR_TRY(dict_new(&row));
    TsrStatus status = TSR_OK;
    card_put_str(&status, row, "event", event);
    card_put_str(&status, row, "what", what != NULL ? what : "");
    card_put_int(&status, row, "bytes", bytes);
    card_put_move(&status, row, "alignment",
                  line != NULL && line->alignment > 0 ? value_int(line->alignment) : VALUE_NONE);
    card_put_str(&status, row, "object", object);
    card_put_str(&status, row, "count", counted ? count : NULL);
    card_put_str(&status, row, "reason", reason);
    if (status == TSR_OK) return list_append_move(rows, row);
    value_release(row);
    return status;
}

/* "y", of a copy "x → y", of a view "v of x"; NULL: nothing has a name. Into `text`, which the caller frees. */
static const char *object_text(TsrText *text, TsrStatus *status, const Log *log, const Event *e, const Line *line) {
    const char *name = objects_name(&log->objects, line->object), *other = objects_name(&log->objects, line->other);
    if (name == NULL || other == NULL) return name;
    if (e->kind == TSR_TRACE_COPY) *status = tsr_text_printf(text, "%s → %s", other, name);
    else *status = tsr_text_printf(text, "%s of %s", name, other);
    return text->data;
}

static TsrStatus add_event_row(List *rows, const Log *log, int64_t i) {
    const Event *e = &log->events.events[i];
    const Line *line = &log->lines[i];
    TsrText text = {0};
    TsrStatus status = TSR_OK;
    const char *object = object_text(&text, &status, log, e, line);
    const char *reason = line->text >= 0 ? log->texts[line->text] : line->reason != NULL ? line->reason : e->reason;
    if (status == TSR_OK) status = add_row(rows, event_name(e->kind), e->what, e->bytes, line, object, reason);
    tsr_text_free(&text);
    return status;
}

static void sum_up(Log *log, const Event *e) {
    if (e->kind == TSR_TRACE_ALLOC) {
        log->allocations++;
        log->bytes += e->bytes;
        log->live += e->bytes;
        log->peak = TSR_MAX(log->peak, log->live);
    }
    if (e->kind == TSR_TRACE_FREE) log->live -= e->bytes;
}

static TsrStatus add_event_rows(Log *log, List *rows) {
    int64_t pairs = 0;
    char what[48];
    if (log->events.status != TSR_OK || log->short_of_memory || log->objects.short_of_memory) return mem_error();
    objects_end(&log->objects);
    if (!log->every) {
        TSR_TRY(fold_tensors(log));
        fold_storages(log);
        TSR_TRY(count_without_folded(log));
    }
    for (int64_t i = 0; i < log->events.count; i++) {
        sum_up(log, &log->events.events[i]);
        if (!log->lines[i].folded) TSR_TRY(add_event_row(rows, log, i));
        else pairs += log->events.events[i].kind == TSR_TRACE_RETAIN;
    }
    snprintf(what, sizeof what, "%lld taken and given back", (long long)pairs);
    return pairs > 0 ? add_row(rows, "counts", what, 0, NULL, NULL, "every=True") : TSR_OK;
}

/* Ends the log: a row for each event that is shown, and the totals. */
static TsrStatus log_end(Log *log, List *rows) {
    char what[96];
    log_stop(log);
    TsrStatus status = add_event_rows(log, rows);
    log_free(log);
    snprintf(what, sizeof what, "without the trace: %lld allocation%s fewer, held back in one pass",
             (long long)log->unfused, log->unfused == 1 ? "" : "s");
    if (status == TSR_OK && log->unfused > 0)
        status = add_row(rows, "fusion", what, log->unfused_bytes, NULL, NULL, NULL);
    snprintf(what, sizeof what, "%lld allocation%s, peak %lld bytes", (long long)log->allocations,
             log->allocations == 1 ? "" : "s", (long long)log->peak);
    return status == TSR_OK ? add_row(rows, "total", what, log->bytes, NULL, NULL, NULL) : status;
}

static TsrStatus trace_code(Value *out, const Str *code, bool every) {
    Value list, result = VALUE_UNBOUND;
    Log log;
    TSR_TRY(list_new(&list, 0));
    log_begin(&log, every);
    TsrStatus status = vm_run_text_here(&result, code->data, (size_t)code->size, "<trace>");
    if (status == TSR_OK) value_release(result);
    if (status == TSR_OK) status = log_end(&log, value_as_list(list));
    else log_stop(&log);
    log_free(&log);
    if (status == TSR_OK) table_mark(list);
    return value_end_move(out, status, list);
}

/* with trace() as log: the rows are in the list when the block has ended. */
typedef struct Tracer {
    Obj obj;
    Log log;
    Value rows;
    bool running, every;
} Tracer;

static void tracer_destroy(Obj *self) {
    Tracer *t = (Tracer *)self;
    if (t->running) log_stop(&t->log);
    log_free(&t->log);
    value_release(t->rows);
    obj_free(t, sizeof *t);
}

static TsrStatus tracer_enter(Value *out, const CallArgs *args) {
    Tracer *t = (Tracer *)args->values[0].o;
    if (t->running) return tsr_error(TSR_RUNTIME_ERROR, "this trace is running already");
    t->running = true;
    log_begin(&t->log, t->every);
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
static TsrStatus tracer_new(Value *out, bool every) {
    Tracer *t = obj_new(&tracer_type, sizeof *t);
    if (t == NULL) return mem_error();
    memset((char *)t + sizeof t->obj, 0, sizeof *t - sizeof t->obj);
    t->every = every;
    *out = value_obj_move(t);
    TsrStatus status = list_new(&t->rows, 0);
    if (status != TSR_OK) value_clear(out);
    return status;
}

static TsrStatus trace_call(Value *out, const CallArgs *args) {
    TsrTensor *tensor = NULL;
    Value asked = args_keyword(args, "every");
    bool every = false;
    if (asked.tag != V_UNBOUND) TSR_TRY(value_truth(&every, asked));
    if (args->count == 0 && args->keyword_count == (asked.tag != V_UNBOUND)) return tracer_new(out, every);
    if (args->count == 1 && value_is_str(args->values[0])) {
        TSR_TRY(args_only_keywords(args, "trace", (const char *const[]){"every"}, 1));
        return trace_code(out, value_as_str(args->values[0]), every);
    }
    if (args->count > 0) {
        TSR_TRY(bind_tensor_of(&tensor, args->values[0]));
        TSR_TRY(args_no_keywords(args, "trace"));
    }
    return bind_call(out, "trace", args->count, args->values);
}

static const Method functions[] = {
    {"trace", trace_call, ARGS_ANY, 0, 1, "(code, every=False)",
     "The log of allocations, copies and counts while code runs, with the names\nof what they concern; of a tensor "
     "torch.trace.\n\"with trace() as log:\" puts the rows of a block into the list log,\n"
     "when it has ended.\n"
     "References that are taken and given back are left out unless every=True.\n\n"
     "    >>> trace(\"ones(1000)\")[-1][\"what\"]\n    '1 allocation, peak 4000 bytes'"},
    {0},
};

TsrStatus trace_startup(void) { return namespace_add_functions("tsr", functions, true); }
