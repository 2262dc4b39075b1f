/* wire.h: protocol buffers' wire format (protobuf.dev, "Encoding"): fields of a message one by one, over nanopb's
 * streams. A reader never leaves its bytes and copies none. */
#ifndef CORE_IO_WIRE_H
#define CORE_IO_WIRE_H

#include "core/text.h"

/* A part of a message still to be read. */
typedef struct TsrWire {
    const char *message; /* its name, for errors; static */
    const unsigned char *start, *p, *end;
} TsrWire;

/* The wire types that messages of tensors have. */
enum TsrWireKind { TSR_WIRE_VARINT = 0, TSR_WIRE_64 = 1, TSR_WIRE_BYTES = 2, TSR_WIRE_32 = 5 };

/* A field: a number for TSR_WIRE_VARINT, else the bytes of its value. */
typedef struct TsrWireField {
    int number, kind;
    uint64_t value;
    TsrWire bytes;
} TsrWireField;

/* All `size` bytes of a message; then whether any, and how many, are left to read. */
static inline TsrWire tsr_wire_of(const char *message, const void *data, size_t size) {
    return (TsrWire){message, data, data, (const unsigned char *)data + size};
}
static inline bool tsr_wire_more(const TsrWire *w) { return w->p < w->end; }
static inline size_t tsr_wire_left(const TsrWire *w) { return (size_t)(w->end - w->p); }

/* ValueError "MESSAGE: WHAT at byte N". */
TsrStatus tsr_wire_error(const TsrWire *w, const char *what);
/* Each moves w past what it reads; ValueError for bytes that are no message. */
TsrStatus tsr_wire_varint(uint64_t *out, TsrWire *w);
TsrStatus tsr_wire_field(TsrWireField *out, TsrWire *w);

/* Append to a message: a bare varint, a field that is a number, a field of bytes. Errors of tsr_text_append. */
TsrStatus tsr_wire_put_varint(TsrText *out, uint64_t v);
TsrStatus tsr_wire_put_number(TsrText *out, int field, uint64_t v);                /* tag and varint */
TsrStatus tsr_wire_put_bytes(TsrText *out, int field, const void *data, size_t n); /* tag, length, bytes */

#endif
