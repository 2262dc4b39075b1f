/* paste.h: what comes at the prompt in one go is taken apart into what is typed one after the other.
 *
 * A magic is a line of its own, wherever it stands. Of a session, a page of Markdown or a docstring alone what has a
 * prompt is taken, ">>>" or IPython's "In [1]:", without it; prose and what was printed are left out. A program whose
 * docstrings have prompts is none of these. Everything else is one piece. */
#ifndef REPL_PROMPT_PASTE_H
#define REPL_PROMPT_PASTE_H

#include "core/text.h"

/* Whether a line begins with a prompt, ">>>" or "...", alone or with a blank behind it. */
bool paste_is_prompt(const char *line, const char *prompt);

/* How far a text has been taken apart. */
typedef struct Paste {
    const char *text; /* zero-terminated, lent */
    size_t at;        /* the byte where the rest begins */
    int line;         /* the number of its line, from 1 */
    bool session;
} Paste;

Paste paste_begin(const char *text); /* at its first line */
/* The next piece, into `piece`, whose former content goes; *line is the number of its first line in the text. False at
 * the end, and where memory is short. */
bool paste_next(Paste *paste, TsrText *piece, int *line);

#endif
