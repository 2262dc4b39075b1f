/* Sees each event and each operator while the code runs, and cuts them into steps: an operator, a pair of brackets, or
 * what one call of another kind did. When a step ends, its sentences are said. */
#include "story.h"

#include <stdio.h>
#include <string.h>

#include "core/mem.h"
#include "lang/vm/vm.h"
#include "torch/holders.h"

enum { MAX_STEPS = 40, MOST_ALIKE = 4 };

static Story *story; /* of the innermost explain */

static bool step_of(Story *s, const char *head);

static void link_to(TsrTensor **slot, const void *tensor) {
    TsrTensor *t = tsr_tensor_weak_new((TsrTensor *)(uintptr_t)tensor);
    tsr_tensor_weak_free(*slot);
    *slot = t;
}

/* What was done outside of operators since the last step is told. */
static void end_native(Story *s) {
    if (!s->native.open) return;
    s->busy = true;
    events_hush();
    s->native.open = false;
    if (step_of(s, s->native.text)) say_native(s);
    story_end_step(s);
    events_listen();
    s->busy = false;
}

/* As end_native, when the last event of the log is the first of another call. */
static void end_native_before_last(Story *s) {
    if (!s->native.open || s->log.count == 0) return;
    Event last = s->log.events[--s->log.count];
    end_native(s);
    s->log.events[s->log.count++] = last;
}

/* An event belongs to the call whose text stands in the code; that of another one is told first. */
static void open_native(Story *s) {
    char text[NAME_ROOM];
    vm_current_text(text, sizeof text);
    if (s->native.open && strcmp(text, s->native.text) == 0) return;
    end_native_before_last(s);
    s->native.open = true;
    snprintf(s->native.text, sizeof s->native.text, "%s", text);
}

/* Memory from before the code ran. */
static void note_freed(Story *s, const TsrTraceEvent *e) {
    TsrStorage *storage = (TsrStorage *)(uintptr_t)e->object2;
    if (storage == NULL || storage->serial > s->first_serial || e->bytes == 0) return;
    open_native(s);
    s->released = true;
    s->native.freed_serial = storage->serial;
    if (s->status == TSR_OK)
        s->status = tsr_text_printf(&s->native.freed, "%s#%lld (%lld bytes)", s->native.freed.length > 0 ? ", " : "",
                                    (long long)tsr_storage_id(storage), (long long)e->bytes);
}

/* The reference that was taken last, while it is not given back: what a wrapper is made of. */
static void note_retained(Story *s, const TsrTraceEvent *e) {
    if (e->kind == TSR_TRACE_RELEASE && e->object == s->retained) s->retained = NULL;
    if (e->kind != TSR_TRACE_RETAIN || strcmp(e->what, "tensor") != 0) return;
    s->retained = e->object;
    vm_current_text(s->retained_in, sizeof s->retained_in);
}

static void note_wrapped(Story *s, const TsrTraceEvent *e) {
    open_native(s);
    link_to(&s->native.wrapped, e->object);
    s->native.wrapper = e->what;
    s->native.holds = e->reason;
    s->native.taken_over = e->object != s->retained || strcmp(s->retained_in, s->native.text) != 0;
    s->retained = NULL;
    events_hush();
    s->native.count = holders_refcount((TsrTensor *)(uintptr_t)e->object);
    events_listen();
}

static void note_copy(Story *s, const TsrTraceEvent *e) {
    if (s->copy_count == MAX_COPIES || e->object2 == NULL) return;
    TsrTensor *to = (TsrTensor *)(uintptr_t)e->object, *from = (TsrTensor *)(uintptr_t)e->object2;
    TsrTensor *root = from->base != NULL && tsr_tensor_weak_alive(from->base) ? from->base : from;
    s->copies[s->copy_count++] =
        (Copied){tsr_tensor_weak_new(to), tsr_tensor_weak_new(from), tsr_tensor_weak_new(root), to->storage};
}

/* Of the first change of each tensor's references; the last of them is noted while the tensor is there. */
static void note_count(Story *s, const TsrTraceEvent *e) {
    if (s->counted_count == MAX_COUNTED || strcmp(e->what, "tensor") != 0) return;
    TsrTensor *t = (TsrTensor *)(uintptr_t)e->object;
    for (int i = 0; i < s->counted_count; i++)
        if (s->counted[i].t == t) return;
    s->counted[s->counted_count++] =
        (Counted){tsr_tensor_weak_new(t), t->refcount - (e->kind == TSR_TRACE_RETAIN),
                  t->storage != NULL && t->storage->serial <= s->first_serial ? t->storage->serial : 0};
}

/* What was wrapped may go with this reference: it is told while it is there. */
static void tell_before_release(Story *s, const TsrTraceEvent *e) {
    char text[NAME_ROOM];
    if (!s->native.open || s->native.wrapped == NULL || e->object != s->native.wrapped) return;
    if (strcmp(vm_current_text(text, sizeof text), s->native.text) != 0) end_native_before_last(s);
}

/* What t is now, before it changes in place. */
static void remember_before(Story *s, TsrTensor *t) {
    Before *b = &s->before;
    *b = (Before){.t = t,
                  .storage = t->storage,
                  .storage_serial = t->storage->serial,
                  .ndim = tsr_ndim(t),
                  .offset = t->offset,
                  .version = tsr_tensor_version(t)};
    memcpy(b->sizes, t->sizes, sizeof(int64_t) * (size_t)b->ndim);
    memcpy(b->strides, t->strides, sizeof(int64_t) * (size_t)b->ndim);
}

/* Bytes that were written through no tensor. */
static void note_stored(Story *s, const TsrTraceEvent *e) {
    s->native.stored = ((const TsrStorage *)e->object2)->serial;
    s->native.stored_bytes += e->bytes;
}

/* Outside of operators and indexing. */
static void see_native(Story *s, const TsrTraceEvent *e) {
    switch (e->kind) {
    case TSR_TRACE_ALLOC:
    case TSR_TRACE_ADOPT:
    case TSR_TRACE_COPY: open_native(s); break;
    case TSR_TRACE_FREE: note_freed(s, e); break;
    case TSR_TRACE_RELEASE: tell_before_release(s, e); break;
    case TSR_TRACE_WRAP: note_wrapped(s, e); break;
    case TSR_TRACE_CHANGE:
        open_native(s);
        remember_before(s, (TsrTensor *)(uintptr_t)e->object);
        break;
    case TSR_TRACE_WRITE:
        open_native(s);
        if (e->object != NULL) link_to(&s->native.written, e->object);
        else note_stored(s, e);
        break;
    case TSR_TRACE_KEEP:
        open_native(s);
        if (e->object == NULL && e->object2 != NULL) {
            s->native.resized = ((const TsrStorage *)e->object2)->serial;
            s->native.resized_from = e->bytes;
            break;
        }
        if (e->object != NULL) link_to(&s->native.kept, e->object);
        s->native.kept_how = e->reason;
        s->native.kept_bytes = e->bytes;
        break;
    default: break;
    }
}

/* ---- the hooks ---- */

/* How often this step was seen, with this time. */
static int times_seen(Story *s, const char *text) {
    for (int i = 0; i < s->text_count; i++)
        if (strcmp(s->texts[i].text, text) == 0) return ++s->texts[i].count;
    if (s->text_count == MAX_TEXTS) return 1;
    snprintf(s->texts[s->text_count].text, NAME_ROOM, "%s", text);
    return s->texts[s->text_count++].count = 1;
}

/* Whether the step is told: not for ever, nor over and over. Of the others the sums are. */
static bool step_of(Story *s, const char *head) {
    bool told = times_seen(s, head) <= MOST_ALIKE && s->steps < MAX_STEPS;
    if (told) {
        s->steps++;
        return true;
    }
    Tally t = story_tally(s);
    s->unsaid++;
    s->unsaid_allocated += s->said_allocated = t.allocated;
    s->unsaid_copied += s->said_copied = t.copied;
    return false;
}

static bool step(Story *s, const char *op) {
    char head[NAME_ROOM];
    return step_of(s, story_head(head, sizeof head, op));
}

/* An operator or an indexing begins: what its arguments took is its own, and anything else is told first. */
static void begin_inner(Story *s) {
    char text[NAME_ROOM];
    if (s->depth++ > 0) return;
    vm_current_text(text, sizeof text);
    bool own = s->native.open && strcmp(text, s->native.text) == 0 && s->native.wrapped == NULL &&
               s->native.written == NULL && s->native.freed.length == 0;
    if (s->native.open && !own) end_native(s);
    if (own) s->native.open = false;
    else story_start_step(s);
}

/* It has ended. Whether it was the outermost. */
static bool end_inner(Story *s) {
    if (s->depth > 0) s->depth--;
    return s->depth == 0;
}

static void note_before(Story *s, const TsrOpCall *c) {
    TsrTensor *t = c->out[0] != NULL ? c->out[0] : argument_first(c);
    s->before.t = NULL;
    if (t == NULL || t->storage == NULL || (!c->inplace && c->op->alias != TSR_IN_PLACE)) return;
    remember_before(s, t);
}

/* A view that no operator made: x.data of a wrapper, a row of a loop. */
static void see_view(Story *s, const TsrTraceEvent *e) {
    char head[2 * NAME_ROOM];
    TsrTensor *view = (TsrTensor *)(uintptr_t)e->object, *base = (TsrTensor *)(uintptr_t)e->object2;
    end_native(s);
    if (e->what == NULL || base->storage == NULL || !step(s, e->what)) return;
    s->busy = true;
    events_hush();
    bool assigned = strcmp(e->what, "data =") == 0;
    story_head(head, sizeof head, assigned ? "" : e->what);
    if (assigned) snprintf(head + strlen(head), sizeof head - strlen(head), " = ...");
    s->wrote = s->wrote || assigned;
    say_view(s, head, base, view, "");
    events_listen();
    s->busy = false;
}

static void watch_event(void *user, const TsrTraceEvent *e) {
    Story *s = user;
    if (s->busy) return;
    if (e->kind == TSR_TRACE_OP) {
        begin_inner(s);
        if (s->depth == 1) note_before(s, e->object);
    } else if (s->depth == 0 && e->kind == TSR_TRACE_VIEW) {
        see_view(s, e);
    } else if (s->depth == 0) {
        see_native(s, e);
    }
    if (e->kind == TSR_TRACE_COPY) note_copy(s, e);
    if (e->kind == TSR_TRACE_RETAIN || e->kind == TSR_TRACE_RELEASE) note_count(s, e);
    note_retained(s, e);
}

static void watch_op(const TsrOpCall *call, TsrStatus status) {
    Story *s = story;
    if (s == NULL || s->busy || !end_inner(s)) return;
    s->busy = true;
    events_hush();
    if (step(s, call->schema->base)) say_op(s, call, status);
    story_end_step(s);
    events_listen();
    s->busy = false;
}

static void watch_subscript(const SubscriptEvent *e) {
    Story *s = story;
    if (s == NULL || s->busy) return;
    if (e == NULL) {
        begin_inner(s);
        return;
    }
    if (!end_inner(s)) return;
    s->busy = true;
    events_hush();
    bool told = (e->place != NULL && e->status == TSR_OK) || e->written;
    if (told && step(s, "")) {
        if (e->written) say_assigned(s, e);
        else say_read(s, e);
    }
    story_end_step(s);
    events_listen();
    s->busy = false;
}

static void watch_begin(Story *s) {
    s->outer = story;
    story = s;
    tsr_op_hook = watch_op;
    subscript_hook = watch_subscript;
    s->first_serial = tsr_storage_last_serial();
    story_start_step(s);
    events_begin(&s->log, watch_event, s);
}

static void watch_end(Story *s) {
    s->depth = 0;
    end_native(s);
    events_end(&s->log);
    story = s->outer;
    tsr_op_hook = story != NULL ? watch_op : NULL;
    subscript_hook = story != NULL ? watch_subscript : NULL;
}

TsrStatus watch_run(Value *result, Story *s, const Str *code) {
    watch_begin(s);
    TsrStatus status = vm_run_text_here(result, code->data, (size_t)code->size, "<explain>");
    watch_end(s);
    return status;
}

/* ---- for those who step ---- */

TsrStatus story_new(Story **out) {
    *out = tsr_calloc(1, sizeof **out);
    if (*out == NULL) return mem_error();
    watch_begin(*out);
    return TSR_OK;
}

TsrStatus story_take(Story *s, TsrText *out) {
    end_native(s);
    *out = s->text;
    s->text = (TsrText){0};
    s->steps = s->text_count = s->unsaid = 0;
    return s->status;
}

void story_discard(Story *s) {
    story_start_step(s);
    story_clear_native(s);
    events_free(&s->log);
    story_forget(s);
    tsr_text_free(&s->text);
    tsr_free(s);
}

void story_free(Story *s) {
    watch_end(s);
    story_discard(s);
}
