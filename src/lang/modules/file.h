/* file.h: open files, and the standard streams as values. */
#ifndef LANG_MODULES_FILE_H
#define LANG_MODULES_FILE_H

#include "lang/object/value.h"

#include <stdio.h>

/* How the text of a file is written down; NULL: as open() has it without the argument. */
typedef struct FileText {
    const char *encoding, *errors, *newline;
} FileText;
/* open(path, mode): the errors are Python's; obeys the sandbox (core/io.h). An encoding in which a line end is not the
 * byte of ASCII is a ValueError. */
TsrStatus file_open(Value *out, const char *path, const char *mode, FileText text);
/* Appends a path whose ~ at the beginning is the home folder, if that is known. */
TsrStatus file_expand_home(TsrText *out, const char *path);
/* PermissionError: [Errno 1], that the sandbox keeps from `path`; for what is not a read or write of tensors. */
TsrStatus file_not_permitted(const char *path) __attribute__((cold));
/* What a program has put into sys.stdout, lent; V_UNBOUND: nothing, it is standard output. */
Value sys_stdout(void);
/* A stream that is not closed with its value: sys.stdout. `name` static. */
TsrStatus file_new_stream(Value *out, FILE *stream, const char *name, const char *mode);
/* The C stream of an open file, lent; NULL when v is not one or is closed. */
FILE *file_stream(Value v);
/* Appends a line with its "\n", or what is left, or nothing at the end. Ctrl-C while it waits is KeyboardInterrupt,
 * also one that comes just before it waits at a terminal. */
TsrStatus file_read_line(TsrText *text, FILE *stream);
/* Writes to a stream; OSError when it fails. */
TsrStatus file_write(FILE *stream, const char *data, size_t size, const char *name);

#endif
