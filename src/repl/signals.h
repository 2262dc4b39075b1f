/* signals.h: Ctrl-C, the time limit, closed pipes. */
#ifndef REPL_SIGNALS_H
#define REPL_SIGNALS_H

#include <stdbool.h>

/* SIGINT asks the running code to stop; another one, when it has not stopped half a second later, ends the process with
 * 130. SIGPIPE ends it silently; SIGHUP, SIGTERM and SIGQUIT end it, and leave no file that was only begun; SIGXFSZ is
 * left to write()'s error. `max_time` seconds (0: no limit) of real time. */
void signals_start(double max_time);
/* Called, unless NULL, in a handler that ends the process: async-signal-safe. */
extern void (*volatile signals_before_exit)(void);
bool signals_came(void); /* Ctrl-C, or the end of max_time */

#endif
