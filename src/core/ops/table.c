/* table.c: the table of operators: the rows of every family, in one array, which core/op reads. */
#include "core/op/op_impl.h"
#include "core/op/sparse.h"

#define OP(fn, ...) TsrStatus fn(TsrOpCall *call);
#include "rows.def"
#undef OP

const TsrOp tsr_op_rows[] = {
#define OP(function, ...) {.fn = function, __VA_ARGS__},
#include "rows.def"
#undef OP
    {.schema = NULL},
};
