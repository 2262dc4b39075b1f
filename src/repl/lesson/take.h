/* take.h: a lesson with a learner at a terminal. */
#ifndef REPL_LESSON_TAKE_H
#define REPL_LESSON_TAKE_H

#include "course.h"

/* Lesson `n` (from 1) of the course, from the first step that was not taken yet, in names of its own: when this
 * returns, every name, tensor and setting of the process is what it was. *finished: its last step was taken (false:
 * the learner left). MemoryError when no copy of the process can be made. */
TsrStatus take_lesson(const Course *course, int n, bool *finished);

/* A word that a learner says to the lesson (hint, answer, again, back, skip, quit) and that is the name of a value now,
 * so that it is no word any more. NULL when there is none. */
const char *take_word_bound(void);

#endif
