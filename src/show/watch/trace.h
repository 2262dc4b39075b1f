/* trace.h: what happened: trace, the log of allocations, copies and counts. */
#ifndef SHOW_TRACE_H
#define SHOW_TRACE_H

#include "core/error.h"

TsrStatus trace_startup(void);

#endif
