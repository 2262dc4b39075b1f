/* idx.c: the files of MNIST (yann.lecun.com/exdb/mnist): two zeros, a type, the number of sizes, the sizes, then the
 * elements, all with the highest byte first. */
#include <string.h>

#include "core/io/elements.h"
#include "core/io/formats.h"

static const struct {
    unsigned char code;
    TsrDtype dtype;
} types[] = {
    {0x08, TSR_UINT8}, {0x09, TSR_INT8}, {0x0B, TSR_INT16}, {0x0C, TSR_INT32}, {0x0D, TSR_FLOAT32}, {0x0E, TSR_FLOAT64},
};
enum { START = 4, SIZE = 4 };

static TsrDtype dtype_of(unsigned char code) {
    for (size_t i = 0; i < TSR_COUNTOF(types); i++)
        if (types[i].code == code) return types[i].dtype;
    return TSR_DTYPE_NONE;
}

bool tsr_idx_probe(const char *data, size_t size) {
    return size >= START + SIZE && data[0] == 0 && data[1] == 0 && dtype_of((unsigned char)data[2]) != TSR_DTYPE_NONE &&
           data[3] > 0;
}

TsrStatus tsr_idx_read(TsrItems *out, TsrInput *in, const TsrLoadOptions *options) {
    const unsigned char *p = (const unsigned char *)in->data;
    int64_t sizes[TSR_MAX_DIMS], numel;
    size_t nbytes;
    TsrTensor *t;
    (void)options;
    TsrDtype dtype = in->size >= START && p[0] == 0 && p[1] == 0 ? dtype_of(p[2]) : TSR_DTYPE_NONE;
    if (dtype == TSR_DTYPE_NONE) return tsr_input_error(in, "it does not begin as an idx file does");
    int n = p[3];
    if (n > TSR_MAX_DIMS) return tsr_input_error(in, "more than %d dimensions", TSR_MAX_DIMS);
    size_t data = START + (size_t)n * SIZE;
    if (data > in->size) return tsr_input_error(in, "its sizes are cut off");
    for (int d = 0; d < n; d++) {
        const unsigned char *s = p + START + d * SIZE;
        sizes[d] = (int64_t)s[0] << 24 | (int64_t)s[1] << 16 | (int64_t)s[2] << 8 | (int64_t)s[3];
    }
    TSR_TRY(tsr_check_shape(in, &numel, &nbytes, n, sizes, dtype));
    if (nbytes > in->size - data)
        return tsr_input_error(in, "the shape needs %zu bytes of data from byte %zu on, there are %zu", nbytes, data,
                               in->size - data);
    TSR_TRY(tsr_input_new_tensor(&t, in, &(TsrElements){dtype, true, data, nbytes, 0}, n, sizes, false));
    in->end = data + nbytes;
    return tsr_items_single_move(out, t);
}

static void put(TsrSink *sink, uint64_t v, size_t bytes) {
    char text[8];
    for (size_t i = 0; i < bytes; i++) text[i] = (char)(v >> 8 * (bytes - 1 - i) & 255);
    tsr_sink_write(sink, text, bytes);
}

/* Elements with the highest byte first. */
static TsrStatus put_elements(TsrSink *sink, const TsrTensor *t) {
    const size_t unit = tsr_itemsize(t);
    const char *data = tsr_data(t);
    for (int64_t i = 0; i < t->numel; i++) {
        uint64_t v = 0;
        TSR_TRY(tsr_interrupt_check_at(i));
        memcpy(&v, data + (size_t)i * unit, unit);
        put(sink, v, unit);
    }
    return sink->status;
}

TsrStatus tsr_idx_write(TsrSink *sink, const TsrItems *items, const TsrSaveOptions *options) {
    TsrTensor *t, *dense;
    size_t row = 0;
    (void)options;
    TSR_TRY(tsr_items_only(&t, items, "idx"));
    while (row < TSR_COUNTOF(types) && types[row].dtype != t->dtype) row++;
    if (row == TSR_COUNTOF(types)) {
        tsr_error(TSR_VALUE_ERROR, "idx has no dtype for torch.%s", tsr_dtype_name(t->dtype));
        tsr_error_hint("convert it: x.float(), x.int(), x.to(uint8)");
        return TSR_VALUE_ERROR;
    }
    for (int d = 0; d < tsr_ndim(t); d++)
        if (t->sizes[d] > UINT32_MAX) return tsr_error(TSR_VALUE_ERROR, "idx has sizes below 2^32");
    put(sink, (uint64_t)types[row].code << 8 | (uint64_t)tsr_ndim(t), SIZE);
    for (int d = 0; d < tsr_ndim(t); d++) put(sink, (uint64_t)t->sizes[d], SIZE);
    TSR_TRY(tsr_new_elements(&dense, t));
    TsrStatus status = tsr_itemsize(dense) > 1 ? put_elements(sink, dense) : TSR_OK;
    if (tsr_itemsize(dense) == 1 && dense->numel > 0) tsr_sink_write(sink, tsr_data(dense), (size_t)dense->numel);
    tsr_tensor_free(dense);
    return status == TSR_OK ? sink->status : status;
}
