/* How it works: while the code runs it keeps a log of events (events.h), and is told of each operator and each indexing
 * by hooks (watch). A step is one of those, or what one call of another kind (TH.newContiguous, caffe2.Tensor) did.
 * When a step ends, the events since the one before it are summed up (tally.h), and the sentences (views, rules,
 * writes, refusals, operators, calls) say what they show; what an operator's own sentence does not name follows in
 * lines of its own, so that no allocation and no copy goes untold. The words of a rule (broadcasting, promotion,
 * strides) come from the arguments. */
#include "explain.h"

#include <string.h>

#include "core/mem.h"
#include "lang/modules/namespace.h"
#include "lang/object/args.h"
#include "lang/object/exc.h"
#include "lang/types/str.h"
#include "lang/vm/vm.h"
#include "show/facts/card.h"
#include "story.h"

/* The error is part of the explanation. */
static void say_exception(Story *s, TsrStatus status) {
    Value exception;
    TsrText line = {0};
    exc_fetch(&exception, status, VALUE_UNBOUND);
    if (exc_write_line(&line, exception) == TSR_OK) say(s, "%s", line.data);
    tsr_text_free(&line);
    value_release(exception);
}

static void say_end(Story *s, Value result, bool bound) {
    char name[NAME_ROOM];
    if (s->unsaid > 0)
        say(s, "... and %d step%s more: %lld bytes allocated, %lld copied", s->unsaid, s->unsaid == 1 ? "" : "s",
            (long long)s->unsaid_allocated, (long long)s->unsaid_copied);
    events_hush();
    if (s->text.length == 0 && result.tag != V_TENSOR) say_counts(s);
    events_listen();
    bool changed = s->wrote || (s->released && !bound);
    if (changed || bound)
        say(s, "this ran: what it %s stays", changed && bound ? "changed and bound" : changed ? "changed" : "bound");
    if (s->text.length > 0) return;
    if (result.tag == V_TENSOR && story_has_name(name, result.t))
        say(s, "%s itself: a name is a pointer, nothing was copied", name);
    else if (result.tag == V_TENSOR && !story_is_new(s, result.t->storage))
        say(s, "a tensor that was there before: no bytes copied");
    else if (result.tag == V_TENSOR)
        say(s, "a tensor made by other means than an operator: %lld bytes", bytes_of(result.t));
    else say(s, "nothing: no tensor was made, viewed or written, no memory taken, copied or freed");
}

TsrStatus (*explain_before)(TsrText *out, const char *code, size_t length);

static void say_before(Story *s, const Str *code) {
    TsrText line = {0};
    s->status = explain_before(&line, code->data, (size_t)code->size);
    if (line.length > 0) say(s, "%s", line.data);
    tsr_text_free(&line);
}

static TsrStatus explain_code(Value *out, const CallArgs *args) {
    Value result = VALUE_UNBOUND;
    Target targets[MAX_TARGETS];
    if (!value_is_str(args->values[0]))
        return tsr_error(TSR_TYPE_ERROR, "explain(): argument 'code' must be str, not %s",
                         value_type_name(args->values[0]));
    Story *s = tsr_calloc(1, sizeof *s);
    if (s == NULL) return mem_error();
    const Str *code = value_as_str(args->values[0]);
    int count = targets_find(targets, code);
    if (explain_before != NULL) say_before(s, code);
    TsrStatus status = watch_run(&result, s, code);
    bool stopped = exc_matches(status, TSR_KEYBOARD_INTERRUPT) || exc_matches(status, TSR_TIMEOUT_ERROR);
    if (status != TSR_OK && !stopped) say_exception(s, status);
    for (int i = 0; i < count; i++) {
        if (status == TSR_OK) targets_say(s, &targets[i]);
        tsr_tensor_weak_free(targets[i].before);
    }
    if (!stopped) {
        say_end(s, result, count > 0 && status == TSR_OK);
        status = s->status;
    }
    value_release(result);
    if (status == TSR_OK) status = str_new_text_move(out, &s->text);
    story_discard(s);
    if (status == TSR_OK) note_mark(*out);
    return status;
}

static const Method functions[] = {
    {"explain", explain_code, ARGS_ONE, 1, 1, "(code)",
     "Runs code, whose effects stay, and tells why: view, copy or the same tensor, memory taken and freed, "
     "broadcasting, promotion, who sees a write.\n\n"
     "    >>> x = ones(2, 3)\n    >>> explain(\"x.contiguous()\")\n    x.contiguous(): the same tensor as x: nothing "
     "to do, nothing copied"},
    {0},
};

TsrStatus explain_startup(void) { return namespace_add_functions("tsr", functions, true); }
