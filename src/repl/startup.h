/* startup.h: how the process begins and ends, and in which order the parts of the language do. */
#ifndef REPL_STARTUP_H
#define REPL_STARTUP_H

#include "options.h"
#include "lang/object/value.h"

/* Signals, limits, the language. False when it could not start (a message is on stderr). `options` must outlive the
 * process's work. */
bool startup_begin(const ShellOptions *options);
/* Flushes, ends the language; `status` unless output could not be written. */
int startup_finish(int status);

/* The parts of the language alone: for startup_begin, and for tests. */
TsrStatus startup_all(void);
void startup_undo(void);

#endif
