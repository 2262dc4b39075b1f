/* little.h: numbers as most binary files hold them, the lowest byte first, on any machine. */
#ifndef CORE_IO_LITTLE_H
#define CORE_IO_LITTLE_H

#include "core/io_stream.h"

/* The unsigned number of `n` bytes at `bytes`; of more than 8 only the lowest 64 bits are kept. */
static inline uint64_t tsr_little(const void *bytes, size_t n) {
    const unsigned char *p = bytes;
    uint64_t v = 0;
    for (size_t i = n; i-- > 0;) v = v << 8 | p[i];
    return v;
}

/* Writes the lowest `n` bytes of `v`, at most 8. */
static inline void tsr_put_little(char *bytes, uint64_t v, size_t n) {
    for (size_t i = 0; i < n; i++) bytes[i] = (char)(v >> 8 * i & 255);
}
static inline TsrStatus tsr_text_put_little(TsrText *out, uint64_t v, size_t n) {
    char bytes[8];
    tsr_put_little(bytes, v, n);
    return tsr_text_append(out, bytes, n);
}
static inline void tsr_sink_put_little(TsrSink *sink, uint64_t v, size_t n) {
    char bytes[8];
    tsr_put_little(bytes, v, n);
    tsr_sink_write(sink, bytes, n);
}

#endif
