/* columns.h: what a table's file said of its columns: their names, and what stood between them. Kept with the storage
 * that the table was read into; table.h finds the names that belong to a tensor. */
#ifndef TSR_COLUMNS_H
#define TSR_COLUMNS_H

#include "error.h"

TSR_PUBLIC_BEGIN

/* One heap block; the names lie in it. Owned by the storage it is set on. */
typedef struct TsrColumns {
    char delimiter; /* between fields; ' ': runs of spaces */
    int64_t n;
    int64_t step;       /* in the storage, element k belongs to column k / step % n */
    const char **names; /* n of them when named, in the same block; else NULL: the file had no header */
    int8_t *decimals; /* n of them, in the same block: digits behind the point that all numbers of a column had; or 0 */
} TsrColumns;

/* `names` (n strings, copied) may be NULL: a table without a header. *out is the caller's. */
TsrStatus tsr_columns_new(TsrColumns **out, const char *const *names, int64_t n, char delimiter);
void tsr_columns_free(TsrColumns *columns); /* NULL is fine */

TSR_PUBLIC_END

#endif
