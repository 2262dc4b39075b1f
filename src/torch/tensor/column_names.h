/* column_names.h: the names that the columns of a tensor from a file have. */
#ifndef TORCH_TENSOR_COLUMN_NAMES_H
#define TORCH_TENSOR_COLUMN_NAMES_H

#include "core/tensor.h"
#include "lang/object/value.h"

/* The names of the columns of a table that was read, a list: of equal ones the later get .1, .2 and so on; None: it has
 * no names. */
TsrStatus tensor_new_column_names(Value *out, const TsrTensor *t);

#endif
