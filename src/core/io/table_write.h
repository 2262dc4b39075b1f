/* table_write.h: tables of named columns as text, for the formats that have them. */
#ifndef CORE_IO_TABLE_WRITE_H
#define CORE_IO_TABLE_WRITE_H

#include "core/io_format.h"

/* Fields between delimiters, below a row of names unless the options leave it out; nothing, or options->na, stands
 * where a cell is missing or nan. */
TsrStatus tsr_table_write_fields(TsrSink *sink, const TsrTable *t, const TsrSaveOptions *options, char delimiter);
/* A list of objects, one a row, or each on its line; null where a cell is missing. */
TsrStatus tsr_table_write_json(TsrSink *sink, const TsrTable *t, const TsrSaveOptions *options, bool lines);

/* A cell of a table that is changed where it stands: between delimiters, within the quotes that are there already where
 * `quoted` says so; or as a value of JSON. For TsrFormat.put_cell. */
TsrStatus tsr_table_put_field(TsrSink *sink, const TsrTable *t, int column, int64_t row, const TsrSaveOptions *options,
                              bool quoted);
TsrStatus tsr_table_put_json(TsrSink *sink, const TsrTable *t, int column, int64_t row, const TsrSaveOptions *options,
                             bool quoted);
/* Whether a row of two columns holds the same, so that its text may stay: the same text, or nothing, in both; numbers
 * are compared as numbers, -0 is not 0. */
TsrStatus tsr_table_same_cell(bool *same, const TsrTableColumn *a, const TsrTableColumn *b, int64_t row);

#endif
