/* trace.h: what happened: trace (the log of allocations, copies and counts) and versions (the log of writes). */
#ifndef SHOW_WATCH_TRACE_H
#define SHOW_WATCH_TRACE_H

#include "lang/object/value.h"

/* One counted write. */
typedef struct Write {
    TsrTensor *t;      /* the tensor written through: a weak link, whose geometry can be read when it is gone */
    TsrTensor *root;   /* the one that it is a view of, a weak link; NULL: none */
    TsrTensor *source; /* the view of it that it was taken of, a weak link; NULL: the root itself */
    int64_t version;
    const char *what; /* the operator, as PyTorch calls it: "add_", or "add" into out= */
    int line;
} Write;
/* Sees each write after it has been logged; for notes. NULL by default. */
extern void (*see_written)(const Write *write);

TsrStatus trace_startup(void);
void trace_shutdown(void); /* drops the weak links of the log of writes */

#endif
