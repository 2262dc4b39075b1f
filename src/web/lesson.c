/* lesson.c: a lesson with a learner at a page: the same steps as at the terminal (repl/lesson/steps.h). What a
 * statement spoiled is undone by putting back the memory that was saved before it. */
#include <emscripten.h>
#include <stdio.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "copy.h"
#include "core/error.h"
#include "repl/lesson/copy.h"
#include "repl/lesson/steps.h"
#include "repl/shell.h"
#include "web.h"

static struct {
    Course course;
    bool opened;
    Steps steps;
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

EMSCRIPTEN_KEEPALIVE int web_lesson_begin(int number, int step) {
    const Lesson *lesson = lesson_at(number);
    if (lesson == NULL || !steps_begin(&now.steps, lesson, step)) return 0;
    return format_count_steps(lesson->text);
}

EMSCRIPTEN_KEEPALIVE int web_lesson_next(void) { return steps_next(&now.steps); }

EMSCRIPTEN_KEEPALIVE char *web_lesson_part(int number, const char *part, int index) {
    const Lesson *lesson = lesson_at(number);
    Span text = {0};
    if (lesson == NULL) return NULL;
    if (strcmp(part, "introduction") == 0) text = format_introduction(lesson->text, &(Span){0});
    else if (strcmp(part, "heading") == 0) text = now.steps.step.heading;
    else if (strcmp(part, "body") == 0) text = now.steps.step.body;
    else if (strcmp(part, "task") == 0) text = now.steps.step.task;
    else if (strcmp(part, "answer") == 0) text = now.steps.step.answer;
    else if (strcmp(part, "hint") == 0 && !format_comment(&text, &now.steps.step, "hint", index)) text = (Span){0};
    return copied(text);
}

EMSCRIPTEN_KEEPALIVE void web_lesson_show(void) {
    if (steps_show(&now.steps) != TSR_OK) shell_report(tsr_error_kind(), NULL);
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
    Judgement j = {.verdict = VERDICT_OPEN};
    bool saved = copy_save();
    steps_try(&j, &now.steps, (Span){text, text + strlen(text)});
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
