/* stream.h: tables in pieces (core/io_chunks.h) as values: `for chunk in stream(rows=100000)`. */
#ifndef TORCH_FILES_STREAM_H
#define TORCH_FILES_STREAM_H

#include "core/io_chunks.h"
#include "lang/object/value.h"

TsrStatus stream_startup(void); /* adds stream to tsr and as a bare name */
/* An iterator over the pieces, which it takes, on failure too. */
TsrStatus stream_new_move(Value *out, TsrChunks *chunks, int64_t rows);

#endif
