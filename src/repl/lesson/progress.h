/* progress.h: what a learner has taken: a line a step in the file tsr/lessons of the user's state folder
 * ($XDG_STATE_HOME, else ~/.local/state). Without that folder, and in the sandbox, it lasts as long as the process.
 * Copies of the process (copy.h) share it. */
#ifndef REPL_LESSON_PROGRESS_H
#define REPL_LESSON_PROGRESS_H

#include "course.h"

typedef enum Outcome {
    OUTCOME_NONE = 0,
    OUTCOME_DONE = 'd',  /* the learner's own */
    OUTCOME_SHOWN = 'a', /* after the answer was shown */
    OUTCOME_SKIPPED = 's',
    OUTCOME_READ = 'r' /* a step without a task */
} Outcome;

typedef struct Record {
    char lesson[COURSE_KEY];
    int step; /* from 1 */
    Outcome outcome;
    int tries, hints; /* attempts that failed, hints asked for */
} Record;

void progress_load(void); /* once, before the others */
/* The record of a step; one with OUTCOME_NONE when it was not taken. */
Record progress_of(const char *lesson, int step);
/* How many steps from the first on were taken. */
int progress_taken(const char *lesson, int count);
/* Keeps it and writes the file. A step taken once stays taken: of two outcomes the better one is kept. */
void progress_set(const Record *record);
/* Writes what was taken of a course as CSV: a line a step. OSError. */
TsrStatus progress_report(const char *path, const Course *course);

#endif
