/* help.h: what help(x) and x? print about functions, types, modules and operators by name. */
#ifndef REPL_HELP_H
#define REPL_HELP_H

#include "text.h"
#include "value.h"

/* The page about a value, appended: an operator's rows, a native function's signature, a function's docstring, a type's or
 * module's contents. For a str: the operator of that name. V_UNBOUND: how to find things. */
TsrStatus help_write(TsrText *out, Value subject);
/* Makes help() print such pages. */
void help_startup(void);

#endif
