/* origin.h: where the cells of a table stood in the text that it was read from (memory/source.h). A tensor that was
 * changed since is not known to be: whoever writes the text first asks whether it says the value that is there now. */
#ifndef CORE_TENSOR_ORIGIN_H
#define CORE_TENSOR_ORIGIN_H

#include "core/memory/source.h"
#include "core/tensor.h"

/* All lent by the tensor's storage. */
typedef struct TsrOrigin {
    const TsrSource *source; /* NULL: not known */
    const TsrRows *rows;     /* NULL: the storage's rows are the source's */
    const char *name;        /* the column's in the source; NULL: it has none */
    int64_t field;           /* which field of a row of the source it is */
    int64_t first, step;     /* row i of the tensor is row first + i * step of the storage */
} TsrOrigin;
/* Where column j of t came from; t is a table or a column of one. */
TsrOrigin tsr_column_origin(const TsrTensor *t, int64_t j);
/* The row of the source that row i of the tensor came from; -1: not known. */
static inline int64_t tsr_origin_row(const TsrOrigin *o, int64_t i) {
    int64_t row = o->first + i * o->step;
    return o->rows == NULL ? row : row >= 0 && row < o->rows->n ? o->rows->at[row] : -1;
}

#endif
