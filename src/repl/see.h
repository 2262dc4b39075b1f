/* see.h: what happened: trace (the log of allocations, copies and counts) and versions (the log of writes). */
#ifndef REPL_SEE_H
#define REPL_SEE_H

#include "value.h"

/* One counted write. */
typedef struct Write {
    TsrTensor *t;       /* a weak link: its geometry can be read when it is gone */
    int64_t serial;     /* of the storage */
    int64_t version;
    const char *what;   /* the operator */
    const char *maker;  /* the operator that made the tensor, or the one that it is a view of; NULL: unknown */
    int line;
} Write;
/* Writes so far, and the i-th of them (from 0), lent until the next write; NULL when it is too long ago. */
int64_t see_write_count(void);
const Write *see_write(int64_t i);
/* Called before a write is logged; for notes in scripts. NULL by default. */
extern void (*see_before_write)(int line);

TsrStatus see_startup(void);
void see_shutdown(void); /* drops the weak links of the log of writes */

#endif
