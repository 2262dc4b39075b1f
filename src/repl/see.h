/* see.h: what happened: trace (the log of allocations, copies and counts), explain (why: view or copy, and which rule decided), versions (the log of writes). */
#ifndef REPL_SEE_H
#define REPL_SEE_H

#include "value.h"

TsrStatus see_startup(void);
void see_shutdown(void); /* drops the weak links of the log of writes */

#endif
