/* json.h: any value as JSON, for --json and -o json: numbers, text, containers, tensors as nested lists; the rest as
 * its repr. */
#ifndef TORCH_FILES_JSON_H
#define TORCH_FILES_JSON_H

#include "lang/object/value.h"

typedef struct JsonStyle {
    const char *nan; /* what numbers that JSON lacks become: "null" (also NULL), "token" (NaN, Infinity), or "error", a
                        ValueError */
    int64_t *nulls;  /* counts the numbers that became null; NULL */
    int precision;   /* significant digits of floats; 0: all */
    bool strict;     /* TypeError for a value or a key that JSON lacks, not its repr */
} JsonStyle;

/* Appends. RecursionError for a container that holds itself. */
TsrStatus json_write(TsrText *out, Value v, const JsonStyle *style);

#endif
