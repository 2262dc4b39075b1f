/* op_schema.h: from a schema string to a TsrSchema; used by op.c alone. */
#ifndef TSR_OP_SCHEMA_H
#define TSR_OP_SCHEMA_H

#include "op.h"

/* *out lives for ever (the table keeps it). TSR_SYSTEM_ERROR quotes a malformed schema. */
TsrStatus tsr_schema_new(TsrSchema **out, const char *text);

#endif
