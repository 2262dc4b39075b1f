/* lesson.h: the lessons: Markdown files (lessons/NN-*.md) that are part of the program.
 *
 * A file is `# Title`, an introduction, and steps. A step is `## Heading`, prose and fenced transcripts, which run as
 * they are shown; then, for the learner,
 *
 *     <!-- try: what to do -->
 *     <!-- check: an expression, true once it is done; `_` is the last value shown -->
 *     <!-- hint: what `?` says -->
 *
 * and a fenced transcript that is a model answer. A step without `try` is only read. The same files pass --doctest. */
#ifndef REPL_LESSON_H
#define REPL_LESSON_H

#include "core/error.h"

TsrStatus lesson_startup(void); /* tsr.lesson(n), %lesson */
int lesson_count(void);

/* The list, with a mark for the lessons taken. */
void lesson_print_list(void);
/* Lesson n (from 1): at a terminal with its learner, in the user's names, keeping the progress; otherwise printed with
 * all its transcripts run. ValueError when there is no such lesson; RuntimeError when, printed, an answer does not
 * fulfil its check. */
TsrStatus lesson_run(int64_t n);

#endif
