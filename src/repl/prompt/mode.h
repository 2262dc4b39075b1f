/* mode.h: how values are shown at the prompt: as PyTorch prints them, or as rows and columns, a box, Markdown, CSV or
 * JSON (%mode). */
#ifndef REPL_PROMPT_MODE_H
#define REPL_PROMPT_MODE_H

#include "lang/object/value.h"

/* %mode NAME; alone it says which is in force. */
TsrStatus mode_set(const char *name);
/* Appends the value as the mode has it. *shown false: it has nothing for such a value, or is PyTorch's. */
TsrStatus mode_show(TsrText *out, bool *shown, Value v);

#endif
