/* program.h: what the tests of the language share. */
#ifndef TESTS_REPL_PROGRAM_H
#define TESTS_REPL_PROGRAM_H

#include "lang/object/value.h"

/* Runs a program's text as a module whose last expression gives *result (the caller's). */
TsrStatus program_run(Value *result, const char *text);
/* Deletes all globals and collects cycles: what a program leaves behind is then a leak. */
void program_forget_names(void);

#endif
