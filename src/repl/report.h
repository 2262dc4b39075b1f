/* report.h: the report of an error, on a stream.
 *
 *   Traceback (most recent call last):
 *     File "job.tsr", line 3, in f
 *       return a.view(5)
 *              ^^^^^^^^^
 *       hint: ...
 *   RuntimeError: shape '[5]' is invalid for input of size 4
 *
 * A SyntaxError starts at its File line. Of a filter (tsr -e) the report is brief: for a file that can't be read or
 * written
 *
 *   tsr: rag.csv: line 3 has 1 field, the first row has 2
 *       hint: ...
 *   ValueError: rag.csv: line 3 has 1 field, the first row has 2
 *
 * and for a program of one line that line, with carets, the hint and the last line. The text of the program and columns
 * come from Source; nothing here knows of values. Control characters of source lines are blanked, long lines cut around
 * the place. */
#ifndef REPL_REPORT_H
#define REPL_REPORT_H

#include <stdio.h>

#include "lang/syntax/source.h"

typedef struct DiagFrame {
    const Source *source;
    SourceRange at;       /* line 0: the file is all that is known */
    const char *function; /* NULL at the top level */
} DiagFrame;

typedef struct DiagError {
    const char *type;        /* "RuntimeError" */
    const char *message;     /* without the type; may have several lines */
    const char *line;        /* "Type: message", as it is to be printed last */
    const char *hint;        /* or NULL */
    const char *shapes;      /* further lines (each ends with \n), printed indented by 4 under the carets, or NULL */
    const DiagFrame *frames; /* outermost first */
    int count;
    const char *file; /* brief: "FILE: reason" of a file that is at fault, which is said first; NULL: none is */
    bool brief;       /* of a filter */
    bool syntax;      /* a SyntaxError: its place is frames[count - 1] */
} DiagError;

/* Narrows a place to the name (`length` bytes) at its beginning or end, where it has it there, or else to the only
 * place in its line that has it. */
void diag_narrow(DiagFrame *frame, const char *name, size_t length);

/* Writes the report. `colour`: with ANSI colours. */
void diag_write(FILE *file, const DiagError *error, bool colour);

/* One JSON object on one line: type, message, file, line, column, end_column (characters, from 1; null when not
 * known), hint (null or text). */
void diag_write_json(FILE *file, const DiagError *error);
/* What is no error, on a line: {"note": TEXT}. */
void diag_write_json_note(FILE *file, const char *text);

#endif
