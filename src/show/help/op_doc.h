/* op_doc.h: help about operators, from their rows: signatures, what they do, an example and what it prints. */
#ifndef SHOW_HELP_OP_DOC_H
#define SHOW_HELP_OP_DOC_H

#include "core/text.h"
#include "lang/object/value.h"

/* The page of one operator ("add", "add_", "linalg.qr", "nn.functional.relu"), appended. *found false and nothing
 * written when there is no such operator. */
TsrStatus op_doc_write(TsrText *out, bool *found, const char *name);
/* The page of a function or method object of the binding; *found false for other values. */
TsrStatus op_doc_write_value(TsrText *out, bool *found, Value v);

#endif
