/* cursor.h: where in a line of code the cursor is: inside which quote, and behind which bracket of whose. */
#ifndef REPL_PROMPT_CURSOR_H
#define REPL_PROMPT_CURSOR_H

#include <stdbool.h>
#include <stddef.h>

typedef struct Cursor {
    char quote; /* what opened the text that it is in; zero outside texts */
    size_t quote_at;
    char bracket; /* the innermost open bracket around it, or around that text; zero if there is none */
    size_t bracket_at;
    size_t path_at; /* where the dotted name in front of that bracket begins; bracket_at if there is none. One that
                       begins with a dot follows an expression */
} Cursor;

/* The cursor behind the first `point` bytes of `line`. */
Cursor cursor_find(const char *line, size_t point);

#endif
