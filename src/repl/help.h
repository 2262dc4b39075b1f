/* help.h: what help(x) and x? print about functions, types, modules and operators by name. */
#ifndef REPL_HELP_H
#define REPL_HELP_H

/* Makes help() print the page about a value. */
void help_startup(void);

#endif
