/* table_write.h: tables of named columns as text, for the formats that have them. */
#ifndef CORE_IO_TABLE_WRITE_H
#define CORE_IO_TABLE_WRITE_H

#include "core/io_format.h"

/* Fields between delimiters, below a row of names unless the options leave it out; nothing, or options->na, stands
 * where a cell is missing or nan. */
TsrStatus tsr_table_write_fields(TsrSink *sink, const TsrTable *t, const TsrSaveOptions *options, char delimiter);
/* A list of objects, one a row, or each on its line; null where a cell is missing. */
TsrStatus tsr_table_write_json(TsrSink *sink, const TsrTable *t, const TsrSaveOptions *options, bool lines);

#endif
