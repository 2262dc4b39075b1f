/* proto.c: TensorFlow's TensorProto and TensorShapeProto (tensor.proto, tensor_shape.proto) from and to the wire format
 * (proto.h). One row for each dtype names TensorFlow's number for it, the repeated field for its values and how one is
 * written. Values may stand in that field or as raw bytes in tensor_content; a last value that is not repeated stands
 * for all that follow, as TensorFlow reads it. */
#include "proto.h"

#include <string.h>

#include "elements.h"
#include "formats.h"
#include "core/layout.h"
#include "core/mem.h"
#include "core/tensor/owned.h"
#include "wire.h"
#include "core/view.h"

/* One row a type: TensorFlow's number, the field of TensorProto that holds its values, and how they are written. */
typedef enum Wire { WIRE_VARINT, WIRE_FLOAT, WIRE_DOUBLE, WIRE_BYTES } Wire;
static const struct {
    TsrDtype dtype;
    uint8_t type, field, wire;
} types[] = {
    {TSR_FLOAT32, 1, 5, WIRE_FLOAT},       {TSR_FLOAT64, 2, 6, WIRE_DOUBLE},    {TSR_INT32, 3, 7, WIRE_VARINT},
    {TSR_UINT8, 4, 7, WIRE_VARINT},        {TSR_INT16, 5, 7, WIRE_VARINT},      {TSR_INT8, 6, 7, WIRE_VARINT},
    {TSR_STRING, 7, 8, WIRE_BYTES},        {TSR_COMPLEX64, 8, 9, WIRE_FLOAT},   {TSR_INT64, 9, 10, WIRE_VARINT},
    {TSR_BOOL, 10, 11, WIRE_VARINT},       {TSR_BFLOAT16, 14, 13, WIRE_VARINT}, {TSR_UINT16, 17, 7, WIRE_VARINT},
    {TSR_COMPLEX128, 18, 12, WIRE_DOUBLE}, {TSR_FLOAT16, 19, 13, WIRE_VARINT},  {TSR_UINT32, 22, 16, WIRE_VARINT},
    {TSR_UINT64, 23, 17, WIRE_VARINT},
};

/* The row of a dtype, -1 when TensorProto has none. */
static int row_of(TsrDtype dtype) {
    for (size_t i = 0; i < TSR_COUNTOF(types); i++)
        if (types[i].dtype == dtype) return (int)i;
    return -1;
}

int tsr_proto_type_of(TsrDtype dtype) {
    int row = row_of(dtype);
    return row >= 0 ? types[row].type : 0;
}

TsrDtype tsr_proto_dtype(int64_t type) {
    for (size_t i = 0; i < TSR_COUNTOF(types); i++)
        if (types[i].type == type) return types[i].dtype;
    return TSR_DTYPE_NONE;
}

/* ---- writing ---- */

TsrStatus tsr_proto_write_shape(TsrText *out, int ndim, const int64_t *sizes) {
    for (int d = 0; d < ndim; d++) {
        TsrText dim = {0};
        TsrStatus status = tsr_wire_put_number(&dim, 1, (uint64_t)sizes[d]);
        if (status == TSR_OK) status = tsr_wire_put_bytes(out, 2, dim.data, dim.length);
        tsr_text_free(&dim);
        TSR_TRY(status);
    }
    return TSR_OK;
}

/* One element as it stands in its repeated field. */
static TsrStatus put_value(TsrText *out, TsrDtype dtype, const char *p) {
    uint16_t bits;
    int64_t i;
    switch (dtype) {
    case TSR_FLOAT32:
    case TSR_FLOAT64:
    case TSR_COMPLEX64:
    case TSR_COMPLEX128: return tsr_text_append(out, p, tsr_dtype_size(dtype));
    case TSR_FLOAT16:
    case TSR_BFLOAT16: memcpy(&bits, p, 2); return tsr_wire_put_varint(out, bits);
    default: {
        TsrScalar s = tsr_scalar_load(dtype, p);
        i = s.kind == TSR_SCALAR_UINT ? (int64_t)s.u : tsr_scalar_to_int(s);
        return tsr_wire_put_varint(out, (uint64_t)i);
    }
    }
}

static TsrStatus put_values(TsrText *out, const TsrTensor *t, int row) {
    const char *data = tsr_data(t);
    TsrText packed = {0};
    TsrStatus status = TSR_OK;
    if (t->dtype == TSR_STRING) {
        const TsrString *strings = tsr_data(t);
        for (int64_t i = 0; i < t->numel && status == TSR_OK; i++)
            status = tsr_wire_put_bytes(out, types[row].field, strings[i].data, strings[i].length);
        return status;
    }
    for (int64_t i = 0; i < t->numel && status == TSR_OK; i++)
        status = put_value(&packed, t->dtype, data + (size_t)i * tsr_itemsize(t));
    if (status == TSR_OK && t->numel > 0)
        status = tsr_wire_put_bytes(out, types[row].field, packed.data, packed.length);
    tsr_text_free(&packed);
    return status;
}

static TsrStatus write_dense(TsrText *out, const TsrTensor *t, int row, bool content) {
    TsrText shape = {0};
    TSR_TRY(tsr_wire_put_number(out, 1, types[row].type));
    TsrStatus status = tsr_proto_write_shape(&shape, tsr_ndim(t), t->sizes);
    if (status == TSR_OK) status = tsr_wire_put_bytes(out, 2, shape.data, shape.length);
    tsr_text_free(&shape);
    TSR_TRY(status);
    if (!content || t->dtype == TSR_STRING) return put_values(out, t, row);
    return t->numel > 0 ? tsr_wire_put_bytes(out, 4, tsr_data(t), (size_t)t->numel * tsr_itemsize(t)) : TSR_OK;
}

TsrStatus tsr_proto_write_tensor(TsrText *out, const TsrTensor *t, bool content) {
    TSR_OWNED dense = NULL;
    int row = row_of(t->dtype);
    if (row < 0 || tsr_is_sparse(t))
        return tsr_error(TSR_VALUE_ERROR, "TensorProto has no type for this tensor of torch.%s",
                         tsr_dtype_name(t->dtype));
    TSR_TRY(tsr_tensor_check(t, false));
    TSR_TRY(tsr_tensor_new_contiguous(&dense, t, TSR_CONTIGUOUS));
    return write_dense(out, dense, row, content);
}

/* ---- reading ---- */

static TsrStatus read_dim(int64_t *size, TsrWire c) {
    TsrWireField f;
    *size = 0;
    while (tsr_wire_more(&c)) {
        TSR_TRY(tsr_wire_field(&f, &c));
        if (f.number == 1 && f.kind == 0) *size = (int64_t)f.value;
    }
    return *size >= 0 ? TSR_OK : tsr_wire_error(&c, "a dimension of unknown size");
}

static TsrStatus read_shape(int *ndim, int64_t *sizes, TsrWire c) {
    TsrWireField f;
    *ndim = 0;
    while (tsr_wire_more(&c)) {
        TSR_TRY(tsr_wire_field(&f, &c));
        if (f.number == 3 && f.kind == 0 && f.value != 0) return tsr_wire_error(&c, "a shape of unknown rank");
        if (f.number != 2 || f.kind != 2) continue;
        if (*ndim == TSR_MAX_DIMS) return tsr_wire_error(&c, "more than 64 dimensions");
        TSR_TRY(read_dim(&sizes[(*ndim)++], f.bytes));
    }
    return TSR_OK;
}

TsrStatus tsr_proto_read_shape(int *ndim, int64_t *sizes, const char *data, size_t size) {
    return read_shape(ndim, sizes, tsr_wire_of("TensorShapeProto", data, size));
}

/* What the fields said; values stay where they are in the message. */
typedef struct Parsed {
    int row, ndim;
    int64_t sizes[TSR_MAX_DIMS];
    TsrWire content, whole;
    bool has_content;
} Parsed;

static TsrStatus scan(Parsed *m, TsrWire c) {
    TsrWireField f;
    TsrDtype dtype = TSR_DTYPE_NONE;
    m->whole = c;
    m->row = -1;
    while (tsr_wire_more(&c)) {
        TSR_TRY(tsr_wire_field(&f, &c));
        if (f.number == 1 && f.kind == 0) {
            dtype = tsr_proto_dtype((int64_t)f.value);
            if (dtype == TSR_DTYPE_NONE)
                return tsr_error(TSR_VALUE_ERROR, "TensorProto: data type %llu has no tensor dtype",
                                 (unsigned long long)f.value);
            m->row = row_of(dtype);
        } else if (f.number == 2 && f.kind == 2) {
            TSR_TRY(read_shape(&m->ndim, m->sizes, f.bytes));
        } else if (f.number == 4 && f.kind == 2) {
            m->content = f.bytes;
            m->has_content = f.bytes.p < f.bytes.end;
        }
    }
    return m->row >= 0 ? TSR_OK : tsr_error(TSR_VALUE_ERROR, "TensorProto: it has no data type");
}

static TsrStatus store_number(TsrDtype dtype, char *to, uint64_t v) {
    if (dtype == TSR_FLOAT16 || dtype == TSR_BFLOAT16) {
        uint16_t bits = (uint16_t)v;
        memcpy(to, &bits, 2);
    } else if (dtype == TSR_UINT64) {
        memcpy(to, &v, 8);
    } else {
        tsr_scalar_store(dtype == TSR_BOOL ? tsr_scalar_bool(v != 0) : tsr_scalar_int((int64_t)v), dtype, to);
    }
    return TSR_OK;
}

static TsrStatus take_string(TsrTensor *t, int64_t *n, const TsrWireField *f) {
    TsrWire c = f->bytes;
    size_t length = (size_t)(c.end - c.p);
    if (f->kind != 2 || *n >= t->numel) return tsr_wire_error(&c, "more values than the shape has elements");
    TsrString *s = (TsrString *)tsr_data(t) + *n;
    char *copy = tsr_mem_text(c.p, length);
    if (copy == NULL) return tsr_error_no_memory(length);
    tsr_free(s->data);
    *s = (TsrString){length > 0 ? copy : NULL, length};
    if (length == 0) tsr_free(copy);
    ++*n;
    return TSR_OK;
}

/* The values of one field, packed or one by one, from element *n on. Complex numbers are pairs. */
static TsrStatus take_values(TsrTensor *t, int64_t *n, const TsrWireField *f, int wire) {
    TsrWire c = f->bytes;
    uint64_t v = f->value;
    char *data = tsr_data(t);
    size_t item = tsr_itemsize(t), width = wire == WIRE_FLOAT ? 4 : 8;
    if (wire == WIRE_BYTES) return take_string(t, n, f);
    if (wire == WIRE_VARINT) {
        if (f->kind != 0 && f->kind != 2) return tsr_wire_error(&c, "values of another wire type");
        for (bool first = true; f->kind == 2 ? c.p < c.end : first; first = false) {
            if (f->kind == 2) TSR_TRY(tsr_wire_varint(&v, &c));
            if (*n >= t->numel) return tsr_wire_error(&c, "more values than the shape has elements");
            TSR_TRY(store_number(t->dtype, data + (size_t)*n * item, v));
            ++*n;
        }
        return TSR_OK;
    }
    size_t bytes = (size_t)(c.end - c.p);
    if (f->kind == 0 || bytes % width != 0) return tsr_wire_error(&c, "values cut off");
    if (bytes > (size_t)t->numel * item - (size_t)*n)
        return tsr_wire_error(&c, "more values than the shape has elements");
    if (bytes == 0) return TSR_OK;
    memcpy(data + *n, c.p, bytes); /* here *n counts bytes */
    *n += (int64_t)bytes;
    return TSR_OK;
}

static void fill_rest(TsrTensor *t, int64_t from) {
    size_t item = tsr_itemsize(t);
    char *data = tsr_data(t);
    for (int64_t i = from; i < t->numel && i > 0 && !tsr_interrupted_at(i); i++)
        memcpy(data + (size_t)i * item, data + (size_t)(i - 1) * item, item);
}

static TsrStatus read_values(TsrTensor *t, const Parsed *m) {
    TsrWire c = m->whole;
    TsrWireField f;
    int wire = types[m->row].wire;
    int64_t n = 0;
    while (tsr_wire_more(&c)) {
        TSR_TRY(tsr_wire_field(&f, &c));
        if (f.number == types[m->row].field) TSR_TRY(take_values(t, &n, &f, wire));
    }
    if (wire == WIRE_FLOAT || wire == WIRE_DOUBLE) n /= (int64_t)tsr_itemsize(t);
    if (n == 0 && t->numel > 0 && wire != WIRE_BYTES) memset(tsr_data(t), 0, (size_t)t->numel * tsr_itemsize(t));
    else if (n < t->numel && wire != WIRE_BYTES) fill_rest(t, n);
    return TSR_OK;
}

TsrStatus tsr_proto_new_tensor(TsrTensor **out, const char *data, size_t size) {
    Parsed m = {0};
    TsrTensor *t;
    int64_t numel;
    size_t nbytes;
    TsrInput in = {.name = "TensorProto", .data = data, .size = size};
    TSR_TRY(scan(&m, tsr_wire_of("TensorProto", data, size)));
    TsrDtype dtype = types[m.row].dtype;
    TSR_TRY(tsr_check_shape(&in, &numel, &nbytes, m.ndim, m.sizes, dtype));
    if (m.has_content && (size_t)(m.content.end - m.content.p) != nbytes)
        return tsr_error(TSR_VALUE_ERROR, "TensorProto: the shape needs %zu bytes, tensor_content has %zu", nbytes,
                         (size_t)(m.content.end - m.content.p));
    if (m.has_content && dtype == TSR_STRING)
        return tsr_error(TSR_VALUE_ERROR, "TensorProto: strings can't stand in tensor_content");
    if (!m.has_content && nbytes > ((size_t)1 << 30) && nbytes / 16 > size)
        return tsr_error(TSR_VALUE_ERROR, "TensorProto: a shape of %zu bytes in a message of %zu", nbytes, size);
    TSR_TRY(tsr_tensor_new(&t, m.ndim, m.sizes, dtype, TSR_DEVICE_CPU));
    TsrStatus status = TSR_OK;
    if (!m.has_content) status = read_values(t, &m);
    else if (nbytes > 0) memcpy(tsr_data(t), m.content.p, nbytes);
    if (m.has_content && dtype == TSR_BOOL)
        TSR_IN_PIECES(i, numel)((unsigned char *)tsr_data(t))[i] = ((unsigned char *)tsr_data(t))[i] != 0;
    if (status == TSR_OK) *out = t;
    else tsr_tensor_free(t);
    return status;
}

/* ---- the format "pb": a TensorProto, or caffe2's TensorProtos, whose first field holds messages ---- */

static bool is_caffe2(const TsrInput *in) {
    return in->size > 0 && (unsigned char)in->data[0] == (1 << 3 | TSR_WIRE_BYTES);
}

static TsrStatus read_either(TsrItems *out, const TsrInput *in) {
    TsrTensor *t;
    if (is_caffe2(in)) return tsr_caffe2_read_protos(out, in->data, in->size);
    TSR_TRY(tsr_proto_new_tensor(&t, in->data, in->size));
    return tsr_items_single_move(out, t);
}

TsrStatus tsr_pb_read(TsrItems *out, TsrInput *in, const TsrLoadOptions *options) {
    char text[512];
    (void)options;
    TsrStatus status = read_either(out, in);
    if (status == TSR_OK && !out->single) return tsr_check_names(in, out->items, out->n, sizeof *out->items);
    if (status != TSR_VALUE_ERROR) return status;
    strncpy(text, tsr_error_message(), sizeof text - 1);
    text[sizeof text - 1] = '\0';
    return tsr_input_error(in, "%s", text);
}

TsrStatus tsr_pb_write(TsrSink *sink, const TsrItems *items, const TsrSaveOptions *options) {
    TsrText text = {0};
    (void)options;
    TsrStatus status = items->single ? tsr_proto_write_tensor(&text, items->items[0].tensor, true)
                                     : tsr_caffe2_write_protos(&text, items);
    if (status == TSR_OK) tsr_sink_write(sink, text.data != NULL ? text.data : "", text.length);
    tsr_text_free(&text);
    return status != TSR_OK ? status : sink->status;
}
