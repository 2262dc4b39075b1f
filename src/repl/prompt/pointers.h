/* pointers.h: at an interactive prompt, which lesson is about what explain(), why() or a note just said: one dim line
 * on stderr, once a session for each lesson. */
#ifndef REPL_PROMPT_POINTERS_H
#define REPL_PROMPT_POINTERS_H

#include "lang/object/value.h"

/* No such lines: within a lesson, which has a course of its own. False by default. */
extern bool pointers_silent;
void pointers_look(const char *text);
/* After a statement: the value of `_`. */
void pointers_look_at_shown(Value shown);

#endif
