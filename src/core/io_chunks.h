/* io_chunks.h: a table of csv, tsv or JSON lines that comes through a pipe, from a packed file or from any other, taken
 * in pieces of whole rows, so that memory does not grow with its length.
 *
 * The first TSR_CHUNKS_AHEAD bytes are read when it is opened: they tell the format. What ends within them, and what is
 * of another format, can be read as a whole instead, as tsr_load_records would have (tsr_chunks_rest). Each piece is
 * what tsr_load gives of such a file: a tensor with names of columns, named tensors, or a table. What the columns hold
 * is decided by the beginning; a later row that says otherwise is a ValueError. A row has at most TSR_CHUNKS_RECORD
 * bytes.
 */
#ifndef TSR_IO_CHUNKS_H
#define TSR_IO_CHUNKS_H

#include "io.h"

TSR_PUBLIC_BEGIN

#define TSR_CHUNKS_AHEAD ((size_t)16 << 20)
#define TSR_CHUNKS_RECORD ((size_t)64 << 20)

typedef struct TsrChunks TsrChunks;

/* Opens `path` ("-": standard input). `parsed` names the columns that are wanted, a list as options->columns is, which
 * changes nothing else of the table than that the others are left out; NULL: all. *out is the caller's. */
TsrStatus tsr_chunks_new(TsrChunks **out, const char *path, const TsrLoadOptions *options, const char *parsed);
void tsr_chunks_free(TsrChunks *chunks); /* NULL is fine */
/* Whether it is a table that goes on behind what was read ahead. */
bool tsr_chunks_go_on(const TsrChunks *chunks);
/* Whether its format is one that can be taken in pieces; else the error says so. */
TsrStatus tsr_chunks_check(const TsrChunks *chunks);
/* The next piece: `rows` of them, or, for 0, those of some 4 MiB. *more: false at the end, and there is no *out. */
TsrStatus tsr_chunks_next(TsrItems *out, bool *more, TsrChunks *chunks, int64_t rows);
/* All of it, before any piece was taken: *out as of tsr_load_records. */
TsrStatus tsr_chunks_rest(TsrRecords *out, TsrChunks *chunks);

TSR_PUBLIC_END

#endif
