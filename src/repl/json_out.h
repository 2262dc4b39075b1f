/* json_out.h: any value as JSON, for --json: numbers, text, containers, tensors as nested lists; the rest as its repr. */
#ifndef REPL_JSON_OUT_H
#define REPL_JSON_OUT_H

#include "value.h"

/* Appends. Numbers that JSON lacks (nan, inf) become null. RecursionError for a container that holds itself. */
TsrStatus json_write(TsrText *out, Value v);

#endif
