#include "see.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "args.h"
#include "bind.h"
#include "core/op.h"
#include "dict_obj.h"
#include "exc.h"
#include "inspect.h"
#include "namespace.h"
#include "prelude.h"
#include "seq_obj.h"
#include "str_obj.h"
#include "vm.h"
#include "who.h"

enum { NAME_ROOM = 128, TEXT_ROOM = 512 };

/* ---- the log of writes ---- */

enum { LOG_SIZE = 4096, LOG_SHOWN = 1000 };

typedef struct Write {
    TsrTensor *t;       /* a weak link */
    int64_t serial;     /* of the storage */
    int64_t version;
    const char *what;
    int line;
} Write;

static Write write_log[LOG_SIZE];
static int64_t write_count;

static void note_write(TsrTensor *t, const char *what) {
    Write *w = &write_log[write_count++ % LOG_SIZE];
    if (t->storage == NULL) return;
    tsr_tensor_weak_free(w->t);
    *w = (Write){tsr_tensor_weak_new(t), t->storage->serial, tsr_tensor_version(t), what, vm_current_line()};
}

static TsrStatus write_row(Value *out, const Write *w) {
    char name[NAME_ROOM] = "";
    Value row, v;
    TsrTensor *t = tsr_tensor_weak_retain(w->t);
    if (t != NULL) who_name(name, sizeof name, t);
    tsr_tensor_free(t);
    TSR_TRY(dict_new(&row));
    TsrStatus status = dict_set_c(value_as_dict(row), "version", value_int(w->version));
    if (status == TSR_OK) status = dict_set_c(value_as_dict(row), "line", value_int(w->line));
    if (status == TSR_OK && (status = str_new_c(&v, w->what != NULL ? w->what : "")) == TSR_OK) status = dict_set_c_move(value_as_dict(row), "operation", v);
    if (status == TSR_OK && (status = str_new_c(&v, name[0] != '\0' ? name : "a view that is gone")) == TSR_OK) status = dict_set_c_move(value_as_dict(row), "through", v);
    if (status == TSR_OK) *out = row;
    else value_release(row);
    return status;
}

static TsrStatus see_versions(Value *out, const CallArgs *args) {
    TsrTensor *t;
    Value list, row;
    TSR_TRY(who_tensor(&t, args->values[0], "versions"));
    TSR_TRY(list_new(&list, 0));
    TsrStatus status = TSR_OK;
    for (int64_t i = TSR_MAX(0, write_count - LOG_SIZE); t->storage != NULL && i < write_count && status == TSR_OK; i++) {
        const Write *w = &write_log[i % LOG_SIZE];
        if (w->t == NULL || w->serial != t->storage->serial) continue;
        status = write_row(&row, w);
        if (status == TSR_OK) status = list_append_move(value_as_list(list), row);
    }
    List *rows = value_as_list(list);
    while (rows->count > LOG_SHOWN) { /* the oldest go */
        value_release(rows->items[0]);
        memmove(rows->items, rows->items + 1, sizeof(Value) * (size_t)(--rows->count));
    }
    if (status == TSR_OK) table_mark(list);
    if (status == TSR_OK) *out = list;
    else value_release(list);
    return status;
}

/* ---- trace ---- */

/* One log under construction; nested traces stack. */
typedef struct Log {
    List *rows;          /* of dicts; borrowed */
    int64_t allocations, bytes, live, peak;
    const void *seen[256]; /* objects, so that each has a small number */
    int seen_count;
    TsrStatus status;
    bool busy;           /* the log's own allocations are not events */
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

static void add_row(Log *log, const char *event, const char *what, int64_t bytes, const char *reason, int object) {
    Value row, v;
    if (log->status != TSR_OK) return;
    TsrStatus status = dict_new(&row);
    if (status != TSR_OK) {
        log->status = status;
        return;
    }
    Dict *d = value_as_dict(row);
    status = str_new_c(&v, event);
    if (status == TSR_OK) status = dict_set_c_move(d, "event", v);
    if (status == TSR_OK && (status = str_new_c(&v, what != NULL ? what : "")) == TSR_OK) status = dict_set_c_move(d, "what", v);
    if (status == TSR_OK) status = dict_set_c(d, "bytes", value_int(bytes));
    if (status == TSR_OK) status = dict_set_c(d, "object", object > 0 ? value_int(object) : VALUE_NONE);
    if (status == TSR_OK && (status = reason != NULL ? str_new_c(&v, reason) : (v = VALUE_NONE, TSR_OK)) == TSR_OK) status = dict_set_c_move(d, "reason", v);
    if (status == TSR_OK) status = list_append_move(log->rows, row);
    else value_release(row);
    log->status = status;
}

static void log_event(void *user, const TsrTraceEvent *e) {
    static const char *const names[] = {[TSR_TRACE_ALLOC] = "alloc", [TSR_TRACE_FREE] = "free", [TSR_TRACE_CACHE_HIT] = "cache hit", [TSR_TRACE_RETAIN] = "retain",
                                        [TSR_TRACE_RELEASE] = "release", [TSR_TRACE_COPY] = "copy", [TSR_TRACE_CONSTRUCT] = "construct", [TSR_TRACE_DESTROY] = "destroy",
                                        [TSR_TRACE_WRITE] = "write", [TSR_TRACE_VIEW] = "view", [TSR_TRACE_OP] = "op"};
    Log *log = user;
    if (log->busy) return;
    log->busy = true;
    if (e->kind == TSR_TRACE_ALLOC) {
        log->allocations++;
        log->bytes += e->bytes;
        log->live += e->bytes;
        log->peak = TSR_MAX(log->peak, log->live);
    }
    if (e->kind == TSR_TRACE_FREE) log->live -= e->bytes;
    add_row(log, names[e->kind], e->what, e->bytes, e->reason, e->kind == TSR_TRACE_OP ? 0 : number_of(log, e->object));
    log->busy = false;
}

static void log_begin(Log *log, List *rows) {
    *log = (Log){.rows = rows, .outer = current};
    current = log;
    tsr_trace_user = log;
    tsr_trace_hook = log_event;
}

/* Adds the totals. */
static TsrStatus log_end(Log *log) {
    char what[96];
    current = log->outer;
    tsr_trace_user = current;
    if (current == NULL) tsr_trace_hook = NULL;
    snprintf(what, sizeof what, "%lld allocation%s, peak %lld bytes", (long long)log->allocations, log->allocations == 1 ? "" : "s", (long long)log->peak);
    add_row(log, "total", what, log->bytes, NULL, 0);
    return log->status;
}

static TsrStatus trace_code(Value *out, const char *text, size_t length) {
    Value list, result = VALUE_UNBOUND;
    Log log;
    TSR_TRY(list_new(&list, 0));
    log_begin(&log, value_as_list(list));
    TsrStatus status = vm_run_text_here(&result, text, length, "<trace>");
    if (status == TSR_OK) value_release(result);
    TsrStatus ended = log_end(&log);
    if (status == TSR_OK) status = ended;
    if (status == TSR_OK) table_mark(list);
    if (status == TSR_OK) *out = list;
    else value_release(list);
    return status;
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
    if (t->running) (void)log_end(&t->log);
    value_release(t->rows);
    obj_free(t, sizeof *t);
}

static TsrStatus tracer_enter(Value *out, const CallArgs *args) {
    Tracer *t = (Tracer *)args->values[0].o;
    if (t->running) return tsr_error(TSR_RUNTIME_ERROR, "this trace is running already");
    t->running = true;
    log_begin(&t->log, value_as_list(t->rows));
    *out = value_retain(t->rows);
    return TSR_OK;
}

static TsrStatus tracer_exit(Value *out, const CallArgs *args) {
    Tracer *t = (Tracer *)args->values[0].o;
    *out = VALUE_NONE;
    if (!t->running) return TSR_OK;
    t->running = false;
    TsrStatus status = log_end(&t->log);
    if (status == TSR_OK) table_mark(t->rows);
    return status;
}

static const Method tracer_methods[] = {{"__enter__", tracer_enter, ARGS_NONE | METHOD_DUNDER, 0, 0, "()", NULL}, {"__exit__", tracer_exit, ARGS_RANGE | METHOD_DUNDER, 0, 3, "(*args)", NULL}, {0}};
static Type tracer_type = {.obj = TYPE_HEADER, .name = "trace", .module = "tsr", .destroy = tracer_destroy, .methods = tracer_methods};

/* trace(t) of a tensor is torch.trace; trace(CODE) the log of running it; trace() a context manager. */
static TsrStatus see_trace(Value *out, const CallArgs *args) {
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
    if (args->count == 1 && value_is_str(args->values[0])) return trace_code(out, value_as_str(args->values[0])->data, (size_t)value_as_str(args->values[0])->size);
    if (args->count > 0) TSR_TRY(bind_tensor_of(&tensor, args->values[0]));
    return bind_call(out, "trace", args->count, args->values);
}

/* ---- explain ---- */

typedef struct Story {
    TsrText text;
    int depth;      /* of operators inside operators */
    TsrStatus status;
    bool busy;
} Story;

static Story *story;

static void say(Story *s, const char *format, ...) __attribute__((format(printf, 2, 3)));
static void say(Story *s, const char *format, ...) {
    char line[TEXT_ROOM * 2];
    va_list args;
    if (s->status != TSR_OK) return;
    va_start(args, format);
    vsnprintf(line, sizeof line, format, args);
    va_end(args);
    if (s->text.length > 0) s->status = tsr_text_putc(&s->text, '\n');
    if (s->status == TSR_OK) s->status = tsr_text_puts(&s->text, line);
}

static const char *name_or(char *buffer, TsrTensor *t, const char *fallback) {
    who_name(buffer, NAME_ROOM, t);
    if (buffer[0] == '\0') snprintf(buffer, NAME_ROOM, "%s", fallback);
    return buffer;
}

static char *tuple_text(char *buffer, size_t room, int n, const int64_t *items) {
    size_t at = (size_t)snprintf(buffer, room, "(");
    for (int i = 0; i < n && at < room; i++) at += (size_t)snprintf(buffer + at, room - at, i > 0 ? ", %lld" : "%lld", (long long)items[i]);
    if (at < room) snprintf(buffer + at, room - at, n == 1 ? ",)" : ")");
    return buffer;
}

static int64_t bytes_of(const TsrTensor *t) { return t->numel * (int64_t)tsr_itemsize(t); }

static TsrTensor *first_tensor(const TsrOpCall *c) {
    for (int i = 0; i < c->nargs; i++)
        if (c->arg[i].kind == TSR_ARG_TENSOR) return c->arg[i].t;
    return NULL;
}

/* Which adjacent dimensions could not become one, with the strides that say so. */
static void say_unmergeable(Story *s, const TsrTensor *t, int n, const int64_t *sizes) {
    int64_t resolved[TSR_MAX_DIMS];
    char strides[TEXT_ROOM];
    if (n > TSR_MAX_DIMS || tsr_layout_infer_size(resolved, n, sizes, t->numel) != TSR_OK) {
        tsr_error_clear();
        return;
    }
    int d = tsr_layout_unmergeable_dim(n, resolved, tsr_ndim(t), t->sizes, t->strides);
    if (d < 0 || d + 1 >= tsr_ndim(t)) return;
    say(s, "  dimensions %d and %d can't merge: that needs stride[%d] == size[%d] * stride[%d], but %lld != %lld * %lld (strides %s)", d, d + 1, d, d + 1, d + 1, (long long)t->strides[d],
        (long long)t->sizes[d + 1], (long long)t->strides[d + 1], tuple_text(strides, sizeof strides, tsr_ndim(t), t->strides));
}

static const TsrArg *sizes_of(const TsrOpCall *c) {
    for (int i = 0; i < c->nargs; i++)
        if (c->arg[i].kind == TSR_ARG_INTS) return &c->arg[i];
    return NULL;
}

static bool is_one_of(const char *name, const char *const *names, size_t n) {
    for (size_t i = 0; i < n; i++)
        if (strcmp(name, names[i]) == 0) return true;
    return false;
}

static void say_error(Story *s, const TsrOpCall *c) {
    const char *op = c->schema->base;
    TsrTensor *t = first_tensor(c);
    const TsrArg *sizes = sizes_of(c);
    say(s, "%s was refused: %s", op, tsr_error_message());
    if (t == NULL || strcmp(op, "view") != 0 || sizes == NULL) return;
    char name[NAME_ROOM];
    say_unmergeable(s, t, sizes->n, sizes->ints);
    say(s, "  %s.reshape(...) would copy %lld bytes; %s.contiguous().view(...) copies the same", name_or(name, t, "tensor"), (long long)bytes_of(t), name);
}

/* Who else sees what is written through t. */
static void say_seen_by(Story *s, TsrTensor *t) {
    Value list;
    TsrText text = {0};
    Value holder = {.tag = V_TENSOR, {.t = t}};
    Value tsr = globals_resolve("sharing");
    if (tsr.tag == V_UNBOUND || value_call_n(&list, tsr, 1, &holder) != TSR_OK) return;
    const List *l = value_is_list(list) ? value_as_list(list) : NULL;
    TsrStatus status = TSR_OK;
    for (int64_t i = 0; l != NULL && i < l->count && status == TSR_OK; i++) {
        if (i > 0) status = tsr_text_puts(&text, ", ");
        if (status == TSR_OK) status = tsr_text_append(&text, value_as_str(l->items[i])->data, (size_t)value_as_str(l->items[i])->size);
    }
    if (status == TSR_OK && text.length > 0) say(s, "  the write is seen by %s too: the same storage", text.data);
    tsr_text_free(&text);
    value_release(list);
}

/* Why a copy had to be made by an operator that gives a view where it can. */
static void say_copy_reason(Story *s, const TsrOpCall *c, const TsrTensor *t, const TsrTensor *r) {
    static const char *const merging[] = {"reshape", "flatten", "ravel", "reshape_as", "view"};
    const char *op = c->schema->base;
    char a[TEXT_ROOM];
    if (t->dtype != r->dtype) say(s, "  the dtype changes: %s to %s", tsr_dtype_name(t->dtype), tsr_dtype_name(r->dtype));
    else if (is_one_of(op, merging, TSR_COUNTOF(merging))) say_unmergeable(s, t, tsr_ndim(r), r->sizes);
    else if (strcmp(op, "contiguous") == 0) say(s, "  strides %s are not row-major, or not in the format asked for", tuple_text(a, sizeof a, tsr_ndim(t), t->strides));
    else if (strcmp(op, "clone") == 0) say(s, "  clone always copies");
}

static void say_alias(Story *s, const TsrOpCall *c, TsrTensor *t, TsrTensor *r) {
    char name[NAME_ROOM], a[TEXT_ROOM], b[TEXT_ROOM], shape[TEXT_ROOM];
    const char *op = c->schema->base;
    name_or(name, t, "its argument");
    if (r == t) {
        say(s, "%s: the same tensor as %s: nothing to do, nothing copied", op, name);
    } else if (r->storage != NULL && r->storage == t->storage) {
        say(s, "%s: a view of %s: the same storage #%lld, no bytes copied", op, name, (long long)tsr_storage_id(t->storage));
        say(s, "  strides %s became %s, shape %s, offset %lld", tuple_text(a, sizeof a, tsr_ndim(t), t->strides), tuple_text(b, sizeof b, tsr_ndim(r), r->strides),
            tuple_text(shape, sizeof shape, tsr_ndim(r), r->sizes), (long long)r->offset);
        int64_t kept = (int64_t)t->storage->nbytes, used = bytes_of(r);
        if (kept >= 1024 && used * 4 < kept) say(s, "  it keeps all %lld bytes of the storage alive for the %lld it reaches; clone() would not", (long long)kept, (long long)used);
    } else {
        say(s, "%s: a copy of %s: %lld bytes", op, name, (long long)bytes_of(r));
        say_copy_reason(s, c, t, r);
    }
}

static void say_broadcast(Story *s, const TsrOpCall *c, const TsrTensor *r) {
    int64_t largest = 0;
    char shape[TEXT_ROOM];
    bool stretched = false;
    for (int i = 0; i < c->nargs; i++) {
        const TsrTensor *t = c->arg[i].kind == TSR_ARG_TENSOR ? c->arg[i].t : NULL;
        if (t == NULL || (t->flags & TSR_FLAG_WRAPPED_NUMBER)) continue;
        largest = TSR_MAX(largest, bytes_of(t));
        stretched |= t->numel != r->numel;
    }
    if (!stretched) return;
    say(s, "  broadcast to %s:", tuple_text(shape, sizeof shape, tsr_ndim(r), r->sizes));
    for (int i = 0; i < c->nargs; i++) {
        TsrTensor *t = c->arg[i].kind == TSR_ARG_TENSOR ? c->arg[i].t : NULL;
        if (t == NULL || (t->flags & TSR_FLAG_WRAPPED_NUMBER)) continue;
        char name[NAME_ROOM], aligned[TEXT_ROOM] = "";
        for (int d = 0; d < tsr_ndim(r); d++) {
            int at = d - (tsr_ndim(r) - tsr_ndim(t));
            size_t used = strlen(aligned);
            if (at < 0) snprintf(aligned + used, sizeof aligned - used, "%8s", "");
            else snprintf(aligned + used, sizeof aligned - used, "%7lld%s", (long long)t->sizes[at], t->sizes[at] == 1 && r->sizes[d] != 1 ? "*" : " ");
        }
        say(s, "  %s   %s", aligned, name_or(name, t, "(a temporary)"));
    }
    if (largest > 0 && bytes_of(r) >= 8 * largest) say(s, "  the result is %lld times its larger operand", (long long)(bytes_of(r) / largest));
}

static void say_promotion(Story *s, const TsrOpCall *c, const TsrTensor *r) {
    TsrDtype first = TSR_DTYPE_NONE, other = TSR_DTYPE_NONE;
    bool weak = false, number = false;
    for (int i = 0; i < c->nargs; i++) {
        const TsrTensor *t = c->arg[i].kind == TSR_ARG_TENSOR ? c->arg[i].t : NULL;
        if (t == NULL) continue;
        if (first == TSR_DTYPE_NONE) first = t->dtype;
        else if (t->dtype != first) {
            other = t->dtype;
            number = (t->flags & TSR_FLAG_WRAPPED_NUMBER) != 0;
            weak = (t->flags & TSR_FLAG_WRAPPED_NUMBER) != 0 || tsr_ndim(t) == 0;
        }
    }
    if (other == TSR_DTYPE_NONE) return;
    say(s, "  %s and %s give %s: %s", tsr_dtype_name(first), number ? "a Python number" : tsr_dtype_name(other), tsr_dtype_name(r->dtype),
        weak ? "a number (or a 0-d tensor) decides only when it is of a higher kind" : "the smallest dtype that both fit in");
}

static void say_op(Story *s, const TsrOpCall *c, TsrStatus status) {
    const char *op = c->schema->base;
    char name[NAME_ROOM];
    TsrTensor *t = first_tensor(c), *r = c->nret > 0 && c->ret[0].kind == TSR_ARG_TENSOR ? c->ret[0].t : NULL;
    if (status != TSR_OK) {
        say_error(s, c);
        return;
    }
    if (c->inplace || c->op->alias == TSR_IN_PLACE) {
        TsrTensor *target = c->out[0] != NULL ? c->out[0] : t;
        say(s, "%s: writes into %s, in place; its version is now %lld", op, target != NULL ? name_or(name, target, "a temporary") : "its argument",
            target != NULL ? (long long)tsr_tensor_version(target) : 0);
        if (target != NULL) say_seen_by(s, target);
        return;
    }
    if (r == NULL) {
        say(s, "%s: gives no tensor", op);
        return;
    }
    if (t != NULL && (c->op->alias == TSR_VIEW || c->op->alias == TSR_MAYBE_VIEW || r == t || (r->storage != NULL && r->storage == t->storage) || strcmp(op, "clone") == 0)) {
        say_alias(s, c, t, r);
        return;
    }
    say(s, "%s: a new tensor of %lld bytes%s", op, (long long)bytes_of(r), c->out[0] != NULL ? ", written into out" : "");
    say_promotion(s, c, r);
    say_broadcast(s, c, r);
}

static void explain_event(void *user, const TsrTraceEvent *e) {
    Story *s = user;
    if (s->busy) return;
    if (e->kind == TSR_TRACE_OP) s->depth++;
    if (e->kind != TSR_TRACE_VIEW || s->depth > 0 || e->what == NULL) return;
    s->busy = true; /* a view that no operator made: x[1] */
    char name[NAME_ROOM];
    TsrTensor *base = (TsrTensor *)(uintptr_t)e->object2;
    say(s, "%s: a view of %s: the same storage, no bytes copied", e->what, name_or(name, base, "a temporary"));
    s->busy = false;
}

static void explain_op(const TsrOpCall *call, TsrStatus status) {
    Story *s = story;
    if (s == NULL || s->busy) return;
    if (s->depth > 0) s->depth--;
    if (s->depth > 0) return;
    s->busy = true;
    say_op(s, call, status);
    s->busy = false;
}

static TsrStatus see_explain(Value *out, const CallArgs *args) {
    Value result = VALUE_UNBOUND, exception;
    Story s = {0}, *outer = story;
    TsrTraceHook hook = tsr_trace_hook;
    void *user = tsr_trace_user;
    if (!value_is_str(args->values[0])) return tsr_error(TSR_TYPE_ERROR, "explain(): argument 'code' must be str, not %s", value_type_name(args->values[0]));
    story = &s;
    tsr_op_hook = explain_op;
    tsr_trace_user = &s;
    tsr_trace_hook = explain_event;
    TsrStatus status = vm_run_text_here(&result, value_as_str(args->values[0])->data, (size_t)value_as_str(args->values[0])->size, "<explain>");
    story = outer;
    tsr_op_hook = outer != NULL ? explain_op : NULL;
    tsr_trace_user = user;
    tsr_trace_hook = hook;
    if (status == TSR_KEYBOARD_INTERRUPT || status == TSR_TIMEOUT_ERROR) {
        tsr_text_free(&s.text);
        return status;
    }
    if (status != TSR_OK) { /* explained, not raised */
        TsrText line = {0};
        exc_fetch(&exception, status, VALUE_UNBOUND);
        if (exc_write_line(&line, exception) == TSR_OK) say(&s, "%s", line.data);
        tsr_text_free(&line);
        value_release(exception);
    } else {
        if (s.text.length == 0 && result.tag == V_TENSOR) say(&s, "the same tensor: a name is a pointer, nothing was copied");
        else if (s.text.length == 0) say(&s, "no tensor was made, viewed or written");
        value_release(result);
    }
    status = s.status;
    if (status == TSR_OK) status = str_new_text_move(out, &s.text);
    tsr_text_free(&s.text);
    if (status == TSR_OK) note_mark(*out);
    return status;
}

static const Method functions[] = {
    {"explain", see_explain, ARGS_ONE, 1, 1, "(code)", "Runs code and tells why: view, copy or the same tensor, broadcasting, promotion, who sees a write."},
    {"trace", see_trace, ARGS_ANY, 0, 1, "(code)", "The log of allocations, copies and counts while code runs; of a tensor torch.trace; with trace(): a block."},
    {"versions", see_versions, ARGS_ONE, 1, 1, "(x)", "The log of writes to a tensor's storage."},
    {0},
};

TsrStatus see_startup(void) {
    tsr_write_hook = note_write;
    return namespace_add_functions("tsr", functions, true);
}

void see_shutdown(void) {
    tsr_write_hook = NULL;
    for (int i = 0; i < LOG_SIZE; i++) {
        tsr_tensor_weak_free(write_log[i].t);
        write_log[i].t = NULL;
    }
}
