/* commands.h: the commands of the command line: -l and --diff. */
#ifndef REPL_COMMANDS_H
#define REPL_COMMANDS_H

#include "core/error.h"

/* Each prints and returns the exit status. command_diff: 1 when the files differ. */
int command_list(const char *const *paths, int count);
int command_diff(const char *a, const char *b);

/* Makes what -l and --diff print known to the prelude. */
TsrStatus commands_startup(void);

#endif
