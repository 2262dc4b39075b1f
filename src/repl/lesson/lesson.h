/* lesson.h: the lessons: `tsr --lesson`, %lesson and lesson(). What stands where: format.h a lesson's text, course.h
 * which lessons there are, judge.h whether a step is fulfilled, take.h a lesson with its learner, verify.h whether
 * lessons judge rightly, progress.h what was taken. */
#ifndef REPL_LESSON_LESSON_H
#define REPL_LESSON_LESSON_H

#include "core/error.h"

#include <stdbool.h>

TsrStatus lesson_startup(void); /* tsr.lesson(n), %lesson */

typedef struct LessonOptions {    /* of the command line */
    const char *const *arguments; /* lent: a number, a file, a folder with or without a number, or nothing */
    int argument_count;
    const char *document; /* --document: the walk through one of the documents; NULL: none */
    bool check;           /* --check: of all that is named, whether it judges rightly */
    bool stay;            /* after a lesson that was taken to its end the prompt may follow */
    const char *report;   /* --report: the file that says what was taken; NULL: none */
} LessonOptions;

/* Does what the options say. Returns the exit status; *prompt: a lesson was taken to its end, and the prompt is to
 * follow. */
int lesson_command(const LessonOptions *options, bool *prompt);

#endif
