/* versions.h: the log of counted writes of each storage, which versions(x) shows. */
#ifndef SHOW_VERSIONS_H
#define SHOW_VERSIONS_H

#include "lang/object/value.h"

/* One counted write. */
typedef struct Write {
    TsrTensor *t;      /* the tensor written through: a weak link, whose geometry can be read when it is gone */
    TsrTensor *root;   /* the one that it is a view of, a weak link; NULL: none */
    TsrTensor *source; /* the view of it that it was taken of, a weak link; NULL: the root itself */
    int64_t version;
    int64_t element;  /* the place in the storage of the one element that was written; -1: not known */
    const char *what; /* the operator, as PyTorch calls it: "add_", or "add" into out= */
    int line;
} Write;
/* Sees each write after it has been logged; for notes. NULL by default. */
extern void (*see_written)(const Write *write);

/* Whether an operator writes at places that its arguments say, which may be a few of the tensor's. */
bool writes_at_places(const char *what);

TsrStatus versions_startup(void);
void versions_shutdown(void); /* drops the weak links of the log */

#endif
