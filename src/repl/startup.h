/* startup.h: the parts of the language in the order they start and end. */
#ifndef REPL_STARTUP_H
#define REPL_STARTUP_H

#include "value.h"

TsrStatus startup_all(void);
void startup_undo(void);
/* --max-memory; 0: what the machine has */
void startup_limit_memory(size_t bytes);

#endif
