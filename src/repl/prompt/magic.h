/* magic.h: what is typed at the prompt and is not the language: `%name argument` and `name?`.
 *
 * A magic is one row of the table in magic.c. Most are their function twin called: `%explain x.view(6)` is
 * explain("x.view(6)"), `%whos` is whos(). Where a picture says more than the twin's value, its owner sets `show`. */
#ifndef REPL_PROMPT_MAGIC_H
#define REPL_PROMPT_MAGIC_H

#include "lang/object/value.h"

typedef enum MagicArgument {
    MAGIC_NONE,    /* takes none */
    MAGIC_CODE,    /* the rest of the line, as a str */
    MAGIC_VALUE,   /* the rest of the line is the twin's arguments: NAME(rest) */
    MAGIC_OPTIONAL /* MAGIC_VALUE, or nothing */
} MagicArgument;

typedef struct Magic {
    const char *name;
    MagicArgument argument;
    const char *twin;                   /* the function of that name; NULL: only `run` */
    TsrStatus (*run)(const char *rest); /* NULL: the twin */
    const char *doc;                    /* one line */
} Magic;

/* Whether the text typed is a magic or `name?`. */
bool magic_is(const char *text, size_t length);
/* Whether it is one of %%name, which also takes the lines below it, and whether it waits for those. */
bool magic_takes_lines(const char *text);
bool magic_goes_on(const char *text);
/* Runs what was typed on that line of the prompt; what it shows goes to the language's stdout. An unknown magic is a
 * NameError that names the nearest, what the twin raises is passed on. */
TsrStatus magic_run(const char *text, size_t length, int line);
/* What shows instead of the twin's value at the prompt: `show` gets the rest of the line. `name` static. */
void magic_set_show(const char *name, TsrStatus (*show)(const char *rest));
const Magic *magic_at(int i); /* NULL after the last */

#endif
