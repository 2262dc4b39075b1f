/* io.h: tensors in files and streams: loading and saving by the table of formats.
 *
 * A format is one row of the table in io.c (io_format.h): probe, read, write. A file is replaced whole or not at all (temporary file, fsync, rename). */
#ifndef TSR_IO_H
#define TSR_IO_H

#include "io_format.h"

TSR_PUBLIC_BEGIN

const TsrFormat *tsr_format_find(const char *name);             /* NULL if unknown */
const TsrFormat *tsr_format_for_path(const char *path);         /* by extension; NULL if none has it */

/* `path` "-" is standard input. Items are the caller's (tsr_items_free). */
TsrStatus tsr_load(TsrItems *out, const char *path, const TsrLoadOptions *options);
/* As tsr_load of bytes in memory (not adopted). `name` for messages. */
TsrStatus tsr_load_bytes(TsrItems *out, const char *name, const char *data, size_t size, const TsrLoadOptions *options);
/* Writes the file atomically. The old file, if any, stays whole on failure. */
TsrStatus tsr_save(const TsrItems *items, const char *path, const TsrSaveOptions *options);
/* Writes to the sink and flushes it; options->format is required. */
TsrStatus tsr_write(TsrSink *sink, const TsrItems *items, const TsrSaveOptions *options);

TSR_PUBLIC_END

#endif
