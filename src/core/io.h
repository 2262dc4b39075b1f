/* io.h: tensors in files and streams: loading and saving by the table of formats.
 *
 * A format is one row of the table in io.c (io_format.h): probe, read, write. A file is replaced whole or not at all
 * (temporary file, fsync, rename). */
#ifndef TSR_IO_H
#define TSR_IO_H

#include "io_format.h"

TSR_PUBLIC_BEGIN

const TsrFormat *tsr_format_find(const char *name);     /* NULL if unknown */
const TsrFormat *tsr_format_for_path(const char *path); /* by extension; NULL if none has it */
/* The formats' names in the order of the table, for lists that people read: `between` stands before all but the first,
 * `last` before the last. With `taking` ("dtype", "shape", "columns") only formats that have a meaning for it when they
 * are read; NULL: all. Cut off at `size` bytes, with a NUL. Returns `out`. */
const char *tsr_format_names(char *out, size_t size, const char *taking, const char *between, const char *last);

/* TSR_VALUE_ERROR "PATH: its extension names no format; give WHAT", with a hint that lists those that do. */
TsrStatus tsr_format_unnamed(const char *path, const char *what);

/* What a file or stream holds that has several records, one behind the other. */
typedef struct TsrRecords {
    TsrItems *of;
    size_t n, room;
} TsrRecords;
void tsr_records_free(TsrRecords *records);

/* `path` "-" is standard input. Items are the caller's (tsr_items_free). Bytes behind what the format is are a
 * ValueError. */
TsrStatus tsr_load(TsrItems *out, const char *path, const TsrLoadOptions *options);
/* All records of a file of npy, json or raw (of one shape); one of any other format. *out is the caller's
 * (tsr_records_free). */
TsrStatus tsr_load_records(TsrRecords *out, const char *path, const TsrLoadOptions *options);
/* The format that a file of these first bytes has: options->format, else by name and content; the error is a
 * ValueError. */
TsrStatus tsr_format_of(const TsrFormat **out, const TsrInput *in, const char *wanted);
/* As tsr_load of bytes in memory (not adopted). `name` for messages. */
TsrStatus tsr_load_bytes(TsrItems *out, const char *name, const char *data, size_t size, const TsrLoadOptions *options);
/* Writes the file atomically. The old file, if any, stays whole on failure. */
TsrStatus tsr_save(const TsrItems *items, const char *path, const TsrSaveOptions *options);
/* For a handler of signals that ends the process, async-signal-safe: what tsr_save has written so far, beside the file
 * that it is to replace, goes. */
void tsr_save_abandon(void);
/* Writes the file `path`, whose content was read with `load`, with the elements of `items` in the place of those it
 * holds; every byte that belongs to none of the elements that changed stays. *fits: false, and nothing is written,
 * where the format is no text or the file holds other names or shapes than `items` (a vector fits a table of one
 * column, a tensor without a name the only one that has a name). */
TsrStatus tsr_edit(bool *fits, const TsrItems *items, const char *path, const TsrLoadOptions *load,
                   const TsrSaveOptions *save);
/* Writes to the sink and flushes it; options->format is required. */
TsrStatus tsr_write(TsrSink *sink, const TsrItems *items, const TsrSaveOptions *options);

TSR_PUBLIC_END

#endif
