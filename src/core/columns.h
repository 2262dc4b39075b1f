/* columns.h: what a table's file said of its columns: their names, what stood between them, and the text of its cells.
 * Kept with the storage that the table was read into; table.h finds the names that belong to a tensor. */
#ifndef TSR_COLUMNS_H
#define TSR_COLUMNS_H

#include "error.h"

TSR_PUBLIC_BEGIN

typedef struct TsrSource TsrSource; /* the text that a table was read from (memory/source.h) */
typedef struct TsrRows TsrRows;     /* which of its rows were taken */

enum { TSR_COLUMN_TYPE = 16 };

/* One heap block; the names lie in it. Owned by the storage it is set on. */
typedef struct TsrColumns {
    char delimiter; /* between fields; ' ': runs of spaces */
    int64_t n;
    int64_t step;       /* in the storage, element k belongs to column k / step % n */
    const char **names; /* n of them when named, in the same block; else NULL: the file had no header */
    TsrSource *source;  /* a reference: where the cells stood; NULL: their text is not kept */
    TsrRows *rows;      /* a reference: which row of the source each row of the storage is; NULL: that of its number */
    char type[TSR_COLUMN_TYPE]; /* of a column alone: how its file calls its type where the dtype does not tell,
                                   "M8[h]" of NumPy's; "": as the dtype */
    int32_t *fields;            /* n of them, in the same block: which field of a row of the source each column is */
} TsrColumns;

/* `names` (n strings, copied) may be NULL: a table without a header. Fields are numbered from 0. *out is the caller's.
 */
TsrStatus tsr_columns_new(TsrColumns **out, const char *const *names, int64_t n, char delimiter);
void tsr_columns_free(TsrColumns *columns); /* NULL is fine */

TSR_PUBLIC_END

#endif
