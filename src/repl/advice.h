/* advice.h: hints for common mistakes, one row each in advice.def. All texts live as long as the process; NULL: nothing
 * is known. */
#ifndef REPL_ADVICE_H
#define REPL_ADVICE_H

#include <stddef.h>

/* What advice.def has to say about the last line of a report; NULL: nothing. */
const char *advice_line(const char *line);
/* The same where it depends on what the carets mark: `length` bytes of code. */
const char *advice_marked(const char *code, size_t length, const char *line);
/* And about a line of a program, `length` bytes, that is no valid syntax, by its first words; NULL: nothing. */
const char *advice_first_words(const char *line, size_t length);
/* How the statement that such a line seems to be is written, where nothing else is known. */
const char *advice_statement(const char *line, size_t length);
/* And by the operator at its byte `place`, where the syntax is no longer valid. */
const char *advice_at_place(const char *line, size_t length, size_t place);

#endif
