/* op_impl.h: what op.c and index.c ask of their neighbours: schemas are read in schema.c, and tensors in sparse layouts
 * are the business of their family, core/ops/sparse. */
#ifndef CORE_OP_OP_IMPL_H
#define CORE_OP_OP_IMPL_H

#include "core/op.h"

/* The rows of every family, which stand above (core/ops/table.c); one without a schema ends them. */
extern const TsrOp tsr_op_rows[];

/* From a row's text to a TsrSchema. *out lives for ever (the table keeps it). TSR_SYSTEM_ERROR quotes a malformed
 * schema. */
TsrStatus tsr_schema_new(TsrSchema **out, const char *text);

/* Puts a result into the output it should have written, where one of the two is sparse; their dtypes allow it. */
TsrStatus tsr_sparse_write(const TsrOpCall *c, TsrTensor *result, TsrTensor *out);

#endif
