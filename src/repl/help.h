/* help.h: what help(x) and x? print about functions, types, modules and operators by name. */
#ifndef REPL_HELP_H
#define REPL_HELP_H

#include "core/text.h"
#include "value.h"

/* Appends the signature and the docstring of a function of the language. */
TsrStatus help_write_function(TsrText *out, Value function);
/* Makes help() print the page about a value. */
void help_startup(void);

#endif
