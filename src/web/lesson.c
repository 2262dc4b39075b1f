/* lesson.c: a lesson with a learner at a page: the same text, transcripts and judgement as at the terminal
 * (repl/lesson). */
#include <emscripten.h>
#include <stdio.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "copy.h"
#include "core/error.h"
#include "core/text.h"
#include "lang/modules/builtin.h"
#include "lang/vm/vm.h"
#include "repl/lesson/copy.h"
#include "repl/lesson/course.h"
#include "repl/lesson/judge.h"
#include "repl/lesson/page.h"
#include "repl/shell.h"
#include "web.h"

static struct {
    Course course;
    bool opened;
    Span rest; /* of the lesson, behind the step */
    Step step;
    Attempt attempt;
} now;

static char *copied(Span text) { return strndup(text.begin != NULL ? text.begin : "", (size_t)span_length(text)); }

static bool opened(void) {
    if (!now.opened) now.opened = course_open(&now.course, NULL) == TSR_OK;
    return now.opened;
}

static const Lesson *lesson_at(int number) {
    return opened() && number >= 1 && number <= now.course.count ? &now.course.lessons[number - 1] : NULL;
}

EMSCRIPTEN_KEEPALIVE char *web_lesson_title(int number) {
    const Lesson *lesson = lesson_at(number);
    return lesson != NULL ? copied(format_title(lesson->text)) : NULL;
}

static void run_quietly(Span text) {
    TsrText code = {0};
    Quiet silence;
    bool quiet = quiet_begin(&silence);
    if (format_code(&code, text) == TSR_OK && code.length > 0) judge_run((Span){code.data, code.data + code.length});
    tsr_text_free(&code);
    if (quiet) quiet_end(&silence);
}

EMSCRIPTEN_KEEPALIVE int web_lesson_begin(int number, int step) {
    const Lesson *lesson = lesson_at(number);
    if (lesson == NULL || step < 1 || step > format_count_steps(lesson->text)) return 0;
    run_quietly(format_introduction(lesson->text, &now.rest));
    for (int i = 1; format_next_step(&now.rest, &now.step) && i < step; i++) {
        run_quietly(now.step.body);
        run_quietly(now.step.answer);
    }
    return format_count_steps(lesson->text);
}

EMSCRIPTEN_KEEPALIVE int web_lesson_next(void) { return format_next_step(&now.rest, &now.step); }

EMSCRIPTEN_KEEPALIVE char *web_lesson_part(int number, const char *part, int index) {
    const Lesson *lesson = lesson_at(number);
    Span text = {0};
    if (lesson == NULL) return NULL;
    if (strcmp(part, "introduction") == 0) text = format_introduction(lesson->text, &(Span){0});
    else if (strcmp(part, "heading") == 0) text = now.step.heading;
    else if (strcmp(part, "body") == 0) text = now.step.body;
    else if (strcmp(part, "task") == 0) text = now.step.task;
    else if (strcmp(part, "answer") == 0) text = now.step.answer;
    else if (strcmp(part, "hint") == 0 && !format_comment(&text, &now.step, "hint", index)) text = (Span){0};
    return copied(text);
}

EMSCRIPTEN_KEEPALIVE void web_lesson_show(void) {
    globals_set_last(VALUE_UNBOUND); /* what was shown before holds nothing in this step */
    if (page_show(now.step.body, true) != TSR_OK) shell_report(tsr_error_kind(), NULL);
    globals_set_last(VALUE_UNBOUND); /* a check of `_` is of what is shown from here on */
    if (!span_is_empty(now.step.task)) judge_begin(&now.attempt, &now.step);
    copy_flush();
}

EM_JS(void, put_aside, (const char *text), { Module['aside'] = UTF8ToString(text); });
EM_JS(char *, taken_back, (void), { return allocateUTF8(Module['aside']); });

/* "open", "looked", "right" or "spoiled", and behind a line end the reason. */
static char *verdict(const Judgement *j) {
    static const char *const words[] = {
        [VERDICT_OPEN] = "open", [VERDICT_RIGHT] = "right", [VERDICT_SPOILED] = "spoiled"};
    char *text = malloc(JUDGE_REASON + 16);
    bool looked = j->looked && j->verdict == VERDICT_OPEN;
    if (text != NULL) snprintf(text, JUDGE_REASON + 16, "%s\n%s", looked ? "looked" : words[j->verdict], j->reason);
    return text;
}

EMSCRIPTEN_KEEPALIVE char *web_lesson_try(const char *text) {
    Judgement j;
    size_t length = strlen(text);
    bool saved = copy_save();
    bool failed = shell_run_typed("<stdin>", text, length, 1) != EXIT_FINE;
    judge(&j, &now.attempt, (Span){text, text + length}, failed);
    if (saved && j.verdict == VERDICT_SPOILED) {
        char *said = verdict(&j); /* goes with what is undone: the page's side holds it meanwhile */
        put_aside(said);
        copy_undo();
        return taken_back();
    }
    if (saved) copy_keep();
    copy_flush();
    return verdict(&j);
}
