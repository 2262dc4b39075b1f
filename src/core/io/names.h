/* names.h: names of a table's columns, of which no two are the same. */
#ifndef CORE_IO_NAMES_H
#define CORE_IO_NAMES_H

#include "core/io_table.h"

/* The names so far, and for each how many copies of it there are. All zeros: none. */
typedef struct TsrNames {
    TsrWordSet set;
    int64_t *copies;
} TsrNames;

/* For at most n names; tsr_names_free, on failure too. */
TsrStatus tsr_names_begin(TsrNames *names, int64_t n);
void tsr_names_free(TsrNames *names);
/* Appends to `out`, which is empty, a name that none before it has: of equal ones the later get .1, .2 and so on, of
 * empty ones _1, _2, as .1 is a number, which in a header makes it a row. */
TsrStatus tsr_names_put(TsrText *out, TsrNames *names, const char *name);

#endif
