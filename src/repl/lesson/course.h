/* course.h: which lessons there are: those that are part of the program (lessons/NN-*.md), a file, or a folder of
 * them. */
#ifndef REPL_LESSON_COURSE_H
#define REPL_LESSON_COURSE_H

#include "format.h"

enum { COURSE_KEY = 96 };

typedef struct Lesson {
    char key[COURSE_KEY]; /* what its progress is kept under: "05-contiguous", "folder/name"; no blanks */
    Span text;
} Lesson;

typedef struct Course {
    const char *path; /* NULL: the program's own; lent */
    bool is_file;     /* it names one lesson */
    int count;
    Lesson *lessons;
} Course;

/* Reads what `path` names: NULL the program's own lessons, a file, or a folder, whose files *.md are taken in the
 * order of their names. *out is the caller's, also after an error (course_free): OSError, ValueError when the folder
 * has none. */
TsrStatus course_open(Course *out, const char *path);
void course_free(Course *course);

#endif
