/* ahead.h: what comes through a descriptor and is packed by gzip, bzip2 or zstd, unpacked on a thread of its own some
 * MiB ahead of who reads it. */
#ifndef CORE_IO_PACKING_AHEAD_H
#define CORE_IO_PACKING_AHEAD_H

#include "core/io_stream.h"

typedef struct TsrAhead TsrAhead;

/* Unpacks what `fd` gives behind the n bytes `begun`, ten of them or more unless it ends there. *out: the caller's,
 * NULL where these are not packed. in->name, for errors, and fd, which is not closed, must live as long. Without
 * `beside`, and where no thread can be had, the bytes are unpacked as they are asked for. */
TsrStatus tsr_ahead_new(TsrAhead **out, const TsrInput *in, int fd, const char *begun, size_t n, bool beside);
/* Ends the thread; NULL is fine. */
void tsr_ahead_free(TsrAhead *a);
/* The next bytes into `to`: *got of at most `room`; 0 at the end. ValueError where they are damaged or end too early,
 * once all before was taken; KeyboardInterrupt while it waits. Of one thread; not of a child of the process. */
TsrStatus tsr_ahead_next(size_t *got, TsrAhead *a, char *to, size_t room);
/* How many bytes were read from the descriptor so far, without those that had been before. */
uint64_t tsr_ahead_bytes(const TsrAhead *a);

#endif
