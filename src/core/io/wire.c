/* wire.c: protocol buffers' wire format (wire.h). nanopb decodes varints; the rest checks field numbers, wire types and
 * lengths against the bytes that are left, so that a field never reaches past its message. */
#include "wire.h"

#include <pb_decode.h>

TsrStatus tsr_wire_error(const TsrWire *w, const char *what) {
    return tsr_error(TSR_VALUE_ERROR, "%s: %s at byte %zu", w->message, what, (size_t)(w->p - w->start));
}

/* nanopb's stream over the rest, and back. */
static pb_istream_t stream_of(const TsrWire *w) { return pb_istream_from_buffer(w->p, tsr_wire_left(w)); }
static void advance(TsrWire *w, const pb_istream_t *s) { w->p = w->end - s->bytes_left; }

TsrStatus tsr_wire_varint(uint64_t *out, TsrWire *w) {
    pb_istream_t s = stream_of(w);
    bool fine = pb_decode_varint(&s, out);
    advance(w, &s);
    if (fine) return TSR_OK;
    return tsr_wire_error(w, s.bytes_left == 0 ? "it ends inside a number" : "a number of more than 64 bits");
}

TsrStatus tsr_wire_field(TsrWireField *out, TsrWire *w) {
    uint64_t tag, size;
    TSR_TRY(tsr_wire_varint(&tag, w));
    *out = (TsrWireField){.number = (int)(tag >> 3), .kind = (int)(tag & 7)};
    if (tag >> 3 == 0 || tag >> 3 > 536870911) return tsr_wire_error(w, "a field number out of range");
    switch (out->kind) {
    case TSR_WIRE_VARINT: return tsr_wire_varint(&out->value, w);
    case TSR_WIRE_64: size = 8; break;
    case TSR_WIRE_32: size = 4; break;
    case TSR_WIRE_BYTES: TSR_TRY(tsr_wire_varint(&size, w)); break;
    default: return tsr_wire_error(w, "a wire type that messages of tensors do not have");
    }
    if (size > tsr_wire_left(w)) return tsr_wire_error(w, "a field longer than what is left");
    out->bytes = (TsrWire){w->message, w->start, w->p, w->p + size};
    w->p += size;
    return TSR_OK;
}

TsrStatus tsr_wire_put_varint(TsrText *out, uint64_t v) {
    for (; v >= 128; v >>= 7) TSR_TRY(tsr_text_putc(out, (char)(v | 128)));
    return tsr_text_putc(out, (char)v);
}

static TsrStatus put_tag(TsrText *out, int field, int kind) {
    return tsr_wire_put_varint(out, (uint64_t)field << 3 | (uint64_t)kind);
}

TsrStatus tsr_wire_put_number(TsrText *out, int field, uint64_t v) {
    TSR_TRY(put_tag(out, field, TSR_WIRE_VARINT));
    return tsr_wire_put_varint(out, v);
}

TsrStatus tsr_wire_put_bytes(TsrText *out, int field, const void *data, size_t n) {
    TSR_TRY(put_tag(out, field, TSR_WIRE_BYTES));
    TSR_TRY(tsr_wire_put_varint(out, n));
    return n > 0 ? tsr_text_append(out, data, n) : TSR_OK;
}
