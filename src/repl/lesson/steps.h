/* steps.h: a lesson step by step: what a learner at a terminal (take.h) and one at a page (web/lesson.c) have in
 * common. It prints what transcripts print; prompts, words and pictures are its callers'.
 *
 *     for (bool more = steps_begin(&s, lesson, 1); more; more = steps_next(&s)) {
 *         steps_show(&s);
 *         while (steps_try(&j, &s, typed) && j.verdict != VERDICT_RIGHT) ...
 *     }
 */
#ifndef REPL_LESSON_STEPS_H
#define REPL_LESSON_STEPS_H

#include "course.h"
#include "judge.h"

typedef struct Steps {
    int number; /* of `step`, from 1 */
    Step step;
    Attempt attempt; /* at `step`, once it is shown */
    Span rest;       /* of the lesson, behind `step` */
} Steps;

/* Goes to the step `number`, from 1, of a lesson: the transcripts of the introduction and of the steps before it run
 * silently, with the answers of the file. False when there is no such step. The lesson's text is lent. */
bool steps_begin(Steps *s, const Lesson *lesson, int number);
/* Goes to the next step; false at the end of the lesson. */
bool steps_next(Steps *s);
/* Whether the step can be taken from here: in a copy of the process, its transcripts run and one of its answers then
 * fulfils what did not hold before. True, too, of a step that is only read, and when no copy can be made. */
bool steps_are_ready(const Steps *s);
/* Prints the prose and runs the transcripts of the step, and begins an attempt at its task, if it has one. */
TsrStatus steps_show(Steps *s);
/* Runs what was typed and judges it. False when the session is to end (exit()): nothing is judged then. The caller
 * undoes what VERDICT_SPOILED says is spoiled. */
bool steps_try(Judgement *out, Steps *s, Span typed);

#endif
