/* course.h: which lessons there are: those that are part of the program (lessons/NN-*.md, and the walks through the
 * documents that it comes from, lessons/documents/NAME.md), a file, or a folder of them. */
#ifndef REPL_LESSON_COURSE_H
#define REPL_LESSON_COURSE_H

#include "format.h"

enum { COURSE_KEY = 96 };

typedef struct Lesson {
    char key[COURSE_KEY]; /* what its progress is kept under: "05-contiguous", "folder/name"; no blanks */
    Span text;
    char *path; /* of its file, the course's; NULL: it is part of the program */
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
/* The walk through the document called `name` (capitals or not), as one file; NULL: all of them, in the order of the
 * documents. ValueError when there is none. */
TsrStatus course_open_document(Course *out, const char *name);
/* The program's lessons and then its walks: what --check looks at. */
TsrStatus course_open_all(Course *out);
/* The document of a walk by its name; NULL: it is no walk. */
const char *course_document(const Lesson *lesson);
/* "Lesson 3: Views", "Document TH: ..." into text. */
void course_heading(char *text, size_t room, const Lesson *lesson, int number);
void course_free(Course *course);

#endif
