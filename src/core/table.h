/* table.h: tensors as tables whose columns have names. A storage keeps the names of the table that was read into it
 * (columns.h): views find those of their columns by where their elements stand, and a copy of whole rows or columns
 * (x[:, [2, 0]]) is given its own. */
#ifndef TSR_TABLE_H
#define TSR_TABLE_H

#include "columns.h"
#include "tensor.h"

TSR_PUBLIC_BEGIN

/* Names the columns of the table t, alone on its storage; takes the reference. */
void tsr_columns_set_move(TsrTensor *t, TsrColumns *columns);

/* How many columns t has as a table: 1 for a vector, 0 for what is none. */
int64_t tsr_column_count(const TsrTensor *t);
/* The name of column j of t, lent by its storage; NULL when that is not known: where no table was read, or elements of
 * several columns stand in this one. */
const char *tsr_column_name(const TsrTensor *t, int64_t j);
/* TsrColumns.type of a vector of such a column, lent by its storage; "" of all others. */
const char *tsr_column_type(const TsrTensor *t);
/* Whether t has columns and the names of all of them are known. */
bool tsr_columns_known(const TsrTensor *t);
/* Tells `picked`, a fresh copy of rows or columns of `from` as tsr_index_new makes it, which columns it has and where
 * their text is. Nothing when memory is short or it is no such copy. */
void tsr_columns_follow(TsrTensor *picked, const TsrTensor *from, int n, TsrTensor *const *indices);
/* Whether tsr_columns_follow has seen all columns of a table taken in another order: what has as many columns need not
 * have the same ones then. */
bool tsr_columns_were_moved(void);

TSR_PUBLIC_END

#endif
