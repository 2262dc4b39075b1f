/* codes.c: NumPy's type codes, and the header of a file of records: what arrays and records share (formats.h). */
#include <string.h>

#include "core/io/formats.h"
#include "core/io/little.h"

/* One row a type code of `descr`. */
static const struct {
    const char *code;
    TsrDtype dtype;
} codes[] = {
    {"b1", TSR_BOOL},    {"u1", TSR_UINT8},   {"u2", TSR_UINT16},    {"u4", TSR_UINT32},    {"u8", TSR_UINT64},
    {"i1", TSR_INT8},    {"i2", TSR_INT16},   {"i4", TSR_INT32},     {"i8", TSR_INT64},     {"f2", TSR_FLOAT16},
    {"f4", TSR_FLOAT32}, {"f8", TSR_FLOAT64}, {"c4", TSR_COMPLEX32}, {"c8", TSR_COMPLEX64}, {"c16", TSR_COMPLEX128},
};

TsrDtype tsr_npy_dtype(const char *code, size_t n) {
    for (size_t i = 0; i < TSR_COUNTOF(codes); i++)
        if (strlen(codes[i].code) == n && memcmp(codes[i].code, code, n) == 0) return codes[i].dtype;
    return TSR_DTYPE_NONE;
}

const char *tsr_npy_code(TsrDtype dtype) {
    for (size_t i = 0; i < TSR_COUNTOF(codes); i++)
        if (codes[i].dtype == dtype && dtype != TSR_COMPLEX32) return codes[i].code;
    return NULL;
}

TsrStatus tsr_npy_put_header(TsrSink *sink, const TsrText *literal) {
    size_t padded = (12 + literal->length + 1 + 63) / 64 * 64 - 12; /* version 3: UTF-8, a length of four bytes */
    char start[12] = "\x93NUMPY\3";
    tsr_put_little(start + 8, padded, 4);
    tsr_sink_write(sink, start, sizeof start);
    tsr_sink_write(sink, literal->data, literal->length);
    for (size_t i = literal->length; i + 1 < padded; i++) tsr_sink_puts(sink, " ");
    tsr_sink_puts(sink, "\n");
    return sink->status;
}
