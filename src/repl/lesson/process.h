/* process.h: another_process(f): f in a copy of this process, to see which memory two processes share. */
#ifndef REPL_LESSON_PROCESS_H
#define REPL_LESSON_PROCESS_H

#include "core/error.h"

TsrStatus process_startup(void); /* tsr.another_process */

#endif
