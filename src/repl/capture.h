/* capture.h: what a piece of the session prints, as a text. */
#ifndef REPL_CAPTURE_H
#define REPL_CAPTURE_H

#include <stdbool.h>

#include "core/text.h"

int capture_new(void); /* a file in memory for capture_run, whose owner closes it; -1: there is none */

/* Runs work(context) with standard output and standard error going to `fd`, which capture_new gave and whose content
 * goes, and appends what was written to `out`. False when it could not be captured, or memory is short. */
bool capture_run(TsrText *out, int fd, void (*work)(void *context), void *context);

#endif
