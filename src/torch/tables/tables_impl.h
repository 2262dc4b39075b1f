/* tables_impl.h: what the files of this folder share. */
#ifndef TORCH_TABLES_TABLES_IMPL_H
#define TORCH_TABLES_TABLES_IMPL_H

#include "tables.h"

/* Calls a function of the prelude's; `out` may be NULL. */
TsrStatus tables_call(Value *out, const char *space, const char *function, int count, const Value *values);
/* Text from a file as str: bytes that are no UTF-8 are shown escaped. */
TsrStatus tables_new_str(Value *out, const char *text, size_t n);
/* Takes what the column owns but its name. */
TsrStatus column_new_move(Value *out, TsrTableColumn *from);

/* What the prelude makes columns with: of a list of str and None; of a tensor, a unit and what is missing; of integers
 * and what is missing. */
TsrStatus column_of_words(Value *out, const CallArgs *args);
TsrStatus column_of_times(Value *out, const CallArgs *args);
TsrStatus column_of_numbers(Value *out, const CallArgs *args);
/* Of a list of columns of words the words one behind the other, with one list of words; what is missing is left out. */
TsrStatus column_of_joined(Value *out, const CallArgs *args);

#endif
