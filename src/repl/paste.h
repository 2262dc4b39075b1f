/* paste.h: what comes at the prompt in one go is taken apart into what is typed one after the other.
 *
 * A magic is a line of its own, wherever it stands. Of a session, which begins with ">>>", what has a prompt is taken, without
 * it; what was printed is left out. Everything else is one piece. */
#ifndef REPL_PASTE_H
#define REPL_PASTE_H

#include "text.h"

/* Whether a line begins with a prompt, ">>>" or "...", alone or with a blank behind it. */
bool paste_is_prompt(const char *line, const char *prompt);

/* The next piece from byte *at of the zero-terminated `text` on, into `piece`, whose former content goes. *at moves behind it; *line is the number
 * of its first line in `text`, from 1. False at the end, and where memory is short. */
bool paste_next(TsrText *piece, int *line, const char *text, size_t *at);

#endif
