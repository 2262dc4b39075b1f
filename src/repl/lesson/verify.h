/* verify.h: whether a course's lessons judge rightly: `tsr --lesson --check`. */
#ifndef REPL_LESSON_VERIFY_H
#define REPL_LESSON_VERIFY_H

#include "course.h"

/* Takes each step of each lesson as a learner would, with its answer, each `right` and each `wrong` piece of code, and
 * runs the code in its hints, and compares what the transcripts of files print. Prints a line for each thing that is
 * not as it should be, then how much was checked. Returns how many such things. */
int verify_course(const Course *course);

#endif
