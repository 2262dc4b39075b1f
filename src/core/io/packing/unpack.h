/* unpack.h: input that is compressed as a whole by gzip, bzip2 or zstd. */
#ifndef CORE_IO_PACKING_UNPACK_H
#define CORE_IO_PACKING_UNPACK_H

#include "core/io_stream.h"

/* Unpacks the input into memory where its first bytes say that it is packed; then it is mapped no more. ValueError
 * where its bytes are damaged or end too early; the errors of memory where there is none for what comes out. */
TsrStatus tsr_input_unpack(TsrInput *in);
/* ValueError for a file that is packed, over which what it holds must not be written. */
TsrStatus tsr_check_unpacked(const char *path);
/* The length of the path's extension that says so, ".gz" and the like, which stands behind that of the format; 0. */
size_t tsr_packing_extension(const char *path);
/* ValueError for a path to be written that ends in such an extension: nothing is packed that is written. */
TsrStatus tsr_check_plain_name(const char *path);

/* Piece by piece: *out is NULL where the first bytes, ten of them or more, are not packed; else the caller's. */
typedef struct TsrUnpacker TsrUnpacker;
TsrStatus tsr_unpacker_new(TsrUnpacker **out, const char *data, size_t size);
void tsr_unpacker_free(TsrUnpacker *unpacker); /* NULL is fine */
/* Takes some of *size bytes at *data, which move on, and writes *got, at most `room`, of what they hold to `to`. More
 * may come out of the same bytes until none do. `in` is named in errors. */
TsrStatus tsr_unpacker_step(size_t *got, TsrUnpacker *unpacker, const TsrInput *in, const char **data, size_t *size,
                            char *to, size_t room);
/* ValueError unless what was unpacked so far has come to its end. */
TsrStatus tsr_unpacker_finish(const TsrUnpacker *unpacker, const TsrInput *in);

#endif
