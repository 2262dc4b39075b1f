/* source.h: the text of a program and positions in it.
 *
 * A Source is a name ("<stdin>", "job.tsr"), the text and where its lines begin. It is counted: code and
 * reports keep it alive. Its text is strict UTF-8 without NUL, checked when it is made. Columns are bytes from
 * the start of the line, 0-based; lines count from 1. */
#ifndef LANG_SYNTAX_SOURCE_H
#define LANG_SYNTAX_SOURCE_H

#include "core/error.h"

typedef struct Source Source;

/* A stretch of source: [line:col, end_line:end_col). Lines from 1 (0: no position), columns in bytes from 0. */
typedef struct SourceRange {
    int32_t line, col, end_line, end_col;
} SourceRange;

/* Makes a source of `length` bytes of `text` (copied, any bytes). `first_line` is the number of its first line
 * (1 for a file; a transcript's statement has its line in the file). A BOM at the start is dropped.
 * SyntaxError for invalid UTF-8 or a NUL, with *bad_line (may be NULL) the line of it. */
TsrStatus source_new(Source **out, const char *name, const char *text, size_t length, int first_line, int *bad_line);
Source *source_retain(Source *source);
void source_free(Source *source); /* one reference fewer; NULL is fine */

/* All of a file, or of standard input for "-", for source_new. *out is the caller's (tsr_free) and ends with a NUL that
 * *length leaves out. */
TsrStatus source_read_file(char **out, size_t *length, const char *path);

const char *source_name(const Source *source);
bool source_is_prelude(const Source *source); /* part of the program (prelude.h): its name begins with "<prelude" */
const char *source_text(const Source *source, size_t *length); /* ends with a NUL that is not counted */

/* The text of line `line` (numbered as the source numbers them), without its line end. NULL if there is none. Lent. */
const char *source_line(const Source *source, int line, size_t *length);
/* The byte offset at which `line` begins; the text's length for a line past the end. */
size_t source_line_offset(const Source *source, int line);

/* The line that holds the byte at `offset`. */
int source_line_at(const Source *source, size_t offset);

/* Byte column -> count of characters (code points), and -> count of terminal cells, before it on its line. */
int source_column_chars(const Source *source, int line, int col);
int source_column_cells(const Source *source, int line, int col);

#endif
