/* steps.c: a lesson's text is read from the front, a step at a time (format.h). Which names a step finds is what the
 * steps before it left, so going to one means running those: with the file's answers in place of a learner's. */
#include "steps.h"

#include "copy.h"
#include "lang/vm/vm.h"
#include "page.h"
#include "repl/shell.h"

bool steps_begin(Steps *s, const Lesson *lesson, int number) {
    *s = (Steps){.number = 0};
    judge_run_transcripts(format_introduction(lesson->text, &s->rest));
    while (steps_next(s)) {
        if (s->number == number) return true;
        judge_run_transcripts(s->step.body);
        judge_run_transcripts(s->step.answer);
    }
    return false;
}

bool steps_next(Steps *s) {
    s->number++;
    return format_next_step(&s->rest, &s->step);
}

typedef struct Readiness {
    const Step *step;
    bool *ready; /* shared with the copy that finds out */
} Readiness;

static void test_readiness(void *context) {
    Readiness *r = context;
    Attempt a;
    globals_set_last(VALUE_UNBOUND);
    judge_run_transcripts(r->step->body);
    globals_set_last(VALUE_UNBOUND);
    *r->ready = !judge_begin(&a, r->step) || (a.solvable && !a.fulfilled);
}

bool steps_are_ready(const Steps *s) {
    if (span_is_empty(s->step.task)) return true;
    bool *ready = copy_shared(sizeof *ready), result = true;
    if (ready != NULL && copy_run(test_readiness, &(Readiness){&s->step, ready}, true)) result = *ready;
    copy_free(ready, sizeof *ready);
    return result;
}

TsrStatus steps_show(Steps *s) {
    int unused;
    globals_set_last(VALUE_UNBOUND); /* what was shown before holds nothing in this step */
    TSR_TRY(page_show(s->step.body, true));
    globals_set_last(VALUE_UNBOUND); /* a check of `_` is of what is shown from here on */
    if (!span_is_empty(s->step.task) && !shell_wants_exit(&unused)) judge_begin(&s->attempt, &s->step);
    return TSR_OK;
}

bool steps_try(Judgement *out, Steps *s, Span typed) {
    int unused;
    bool failed = shell_run_typed("<stdin>", typed.begin, (size_t)span_length(typed), 1) != EXIT_FINE;
    if (shell_wants_exit(&unused)) return false;
    judge(out, &s->attempt, typed, failed);
    return true;
}
