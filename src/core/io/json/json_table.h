/* json_table.h: tables of objects, and what json.c and json_table.c have in common. */
#ifndef CORE_IO_JSON_JSON_TABLE_H
#define CORE_IO_JSON_JSON_TABLE_H

#include "core/io_format.h"
#include "core/memory/source.h"
#include "json_text.h"

typedef enum TsrJsonKind {
    TSR_JSON_NULL,
    TSR_JSON_BOOL,
    TSR_JSON_INT,
    TSR_JSON_UINT, /* beyond int64, in `i` as uint64 */
    TSR_JSON_FLOAT,
    TSR_JSON_TEXT
} TsrJsonKind;

typedef struct TsrJsonScalar {
    TsrJsonKind kind;
    int64_t i; /* of a truth value, too */
    double d;
} TsrJsonScalar;

/* json.c: the number, truth value or null that is next. */
TsrStatus tsr_json_scalar(TsrJson *j, TsrJsonScalar *out);
/* json.c: passes over any value on its line. */
TsrStatus tsr_json_skip(TsrJson *j);
/* json.c: appends the next of a list of names, of which those with commas stand in quotes; *list moves behind it. */
TsrStatus tsr_json_next_name(TsrText *name, const char **list);

/* json.c: notes that float64 rounds the whole number whose text begins at `at`; `fits`: an integer dtype keeps it. */
TsrStatus tsr_json_note_rounding(TsrItems *out, const TsrJson *j, const char *at, TsrDtype keeper);

/* The objects from here on: in the list that begins, or one a line to the end. *fits: whether they are a table, which
 * out->table is then; else j is anywhere. The errors are those of memory, of an interrupt, and of numbers that
 * do not fit options->dtype. */
TsrStatus tsr_json_table(TsrItems *out, bool *fits, TsrJson *j, TsrInput *in, const TsrLoadOptions *options,
                         bool lines);

/* The text of the objects from `begin` on, for those who write it again: *out is the caller's. `columns`: how many keys
 * they have in all, -1 where some are passed over. */
TsrStatus tsr_json_keep_text(TsrSource **out, TsrInput *in, const char *begin, int64_t columns);
/* The column `data` remembers that it stood there (NULL: nowhere) under the key `name`, the k-th of them. */
TsrStatus tsr_json_tell_origin(TsrTensor *data, TsrSource *source, const char *name, int64_t k);

#endif
