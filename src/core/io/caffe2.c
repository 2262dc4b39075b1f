/* caffe2's TensorProtos (caffe2/proto/caffe2.proto): field 1 repeats a TensorProto {dims 1, data_type 2, the values in
 * the field of their type or as raw_data 13, name 7}. */
#include "proto.h"

#include <stdio.h>
#include <string.h>

#include "elements.h"
#include "core/mem.h"
#include "wire.h"
#include "core/view.h"

enum {
    FIELD_DIMS = 1,
    FIELD_TYPE = 2,
    FIELD_NAME = 7,
    FIELD_SEGMENT = 11,
    FIELD_RAW = 13,
    FIELD_EXTERNAL = 14,
    TYPE_FLOAT = 1
};

/* One row a type: caffe2's number, the field of its values, how they are written there. */
typedef enum Wire { WIRE_VARINTS, WIRE_FIXED, WIRE_STRINGS, WIRE_BYTE_ARRAY } Wire;
static const struct {
    TsrDtype dtype;
    uint8_t type, field, wire;
} types[] = {
    {TSR_FLOAT32, 1, 3, WIRE_FIXED},   {TSR_INT32, 2, 4, WIRE_VARINTS},    {TSR_UINT8, 3, 5, WIRE_BYTE_ARRAY},
    {TSR_STRING, 4, 6, WIRE_STRINGS},  {TSR_BOOL, 5, 4, WIRE_VARINTS},     {TSR_UINT8, 6, 4, WIRE_VARINTS},
    {TSR_INT8, 7, 4, WIRE_VARINTS},    {TSR_UINT16, 8, 4, WIRE_VARINTS},   {TSR_INT16, 9, 4, WIRE_VARINTS},
    {TSR_INT64, 10, 10, WIRE_VARINTS}, {TSR_FLOAT16, 12, 4, WIRE_VARINTS}, {TSR_FLOAT64, 13, 9, WIRE_FIXED},
};

static int row_of_type(uint64_t type) {
    for (size_t i = 0; i < TSR_COUNTOF(types); i++)
        if (types[i].type == type) return (int)i;
    return -1;
}

/* The last row of a dtype: uint8 is written as UINT8. */
static int row_of_dtype(TsrDtype dtype) {
    for (int i = (int)TSR_COUNTOF(types); i-- > 0;)
        if (types[i].dtype == dtype) return i;
    return -1;
}

/* ---- writing ---- */

static TsrStatus put_strings(TsrText *out, const TsrTensor *t, int field) {
    const TsrString *s = tsr_data(t);
    for (int64_t i = 0; i < t->numel; i++) TSR_TRY(tsr_wire_put_bytes(out, field, s[i].data, s[i].length));
    return TSR_OK;
}

static TsrStatus put_varints(TsrText *out, const TsrTensor *t, int field) {
    TsrText packed = {0};
    TsrStatus status = TSR_OK;
    for (int64_t i = 0; i < t->numel && status == TSR_OK; i++) {
        const char *p = (const char *)tsr_data(t) + (size_t)i * tsr_itemsize(t);
        uint16_t bits;
        memcpy(&bits, p, t->dtype == TSR_FLOAT16 ? 2 : 0);
        status = tsr_wire_put_varint(
            &packed, t->dtype == TSR_FLOAT16 ? bits : (uint64_t)tsr_scalar_to_int(tsr_scalar_load(t->dtype, p)));
    }
    if (status == TSR_OK && t->numel > 0) status = tsr_wire_put_bytes(out, field, packed.data, packed.length);
    tsr_text_free(&packed);
    return status;
}

static TsrStatus put_values(TsrText *out, const TsrTensor *t, int row) {
    if (types[row].wire == WIRE_STRINGS) return put_strings(out, t, types[row].field);
    if (types[row].wire == WIRE_VARINTS) return put_varints(out, t, types[row].field);
    return t->numel > 0 ? tsr_wire_put_bytes(out, types[row].field, tsr_data(t), (size_t)t->numel * tsr_itemsize(t))
                        : TSR_OK;
}

static TsrStatus put_tensor(TsrText *out, const char *name, const TsrTensor *t) {
    TsrTensor *dense;
    int row = row_of_dtype(t->dtype);
    if (row < 0 || tsr_is_sparse(t))
        return tsr_error(TSR_VALUE_ERROR, "caffe2's TensorProto has no type for '%s', a %s tensor of torch.%s", name,
                         tsr_is_sparse(t) ? "sparse" : "dense", tsr_dtype_name(t->dtype));
    TSR_TRY(tsr_tensor_check(t, false));
    TSR_TRY(tsr_tensor_new_contiguous(&dense, t, TSR_CONTIGUOUS));
    TsrStatus status = TSR_OK;
    for (int d = 0; d < tsr_ndim(t) && status == TSR_OK; d++)
        status = tsr_wire_put_number(out, FIELD_DIMS, (uint64_t)t->sizes[d]);
    if (status == TSR_OK) status = tsr_wire_put_number(out, FIELD_TYPE, types[row].type);
    bool name_first = types[row].field > FIELD_NAME; /* fields in order, as protobuf writes them */
    if (status == TSR_OK && name_first) status = tsr_wire_put_bytes(out, FIELD_NAME, name, strlen(name));
    if (status == TSR_OK) status = put_values(out, dense, row);
    if (status == TSR_OK && !name_first) status = tsr_wire_put_bytes(out, FIELD_NAME, name, strlen(name));
    tsr_tensor_free(dense);
    return status;
}

TsrStatus tsr_caffe2_write_protos(TsrText *out, const TsrItems *items) {
    for (int i = 0; i < items->n; i++) {
        TsrText one = {0};
        TsrStatus status = put_tensor(&one, items->items[i].name, items->items[i].tensor);
        if (status == TSR_OK) status = tsr_wire_put_bytes(out, 1, one.data, one.length);
        tsr_text_free(&one);
        TSR_TRY(status);
    }
    return TSR_OK;
}

/* ---- reading ---- */

/* What the fields of one tensor said; values stay where they are in the message. */
typedef struct Parsed {
    int row, ndim;
    int64_t sizes[TSR_MAX_DIMS];
    TsrWire whole, raw, name;
    bool has_raw;
} Parsed;

static TsrStatus add_dims(Parsed *m, const TsrWireField *f) {
    TsrWire c = f->bytes;
    uint64_t v = f->value;
    for (bool first = true; f->kind == TSR_WIRE_BYTES ? tsr_wire_more(&c) : first; first = false) {
        if (f->kind == TSR_WIRE_BYTES) TSR_TRY(tsr_wire_varint(&v, &c));
        if (m->ndim == TSR_MAX_DIMS) return tsr_wire_error(&m->whole, "more than 64 dimensions");
        m->sizes[m->ndim++] = (int64_t)v;
    }
    return TSR_OK;
}

static TsrStatus scan_field(Parsed *m, const TsrWireField *f) {
    switch (f->number) {
    case FIELD_DIMS: return add_dims(m, f);
    case FIELD_TYPE:
        m->row = row_of_type(f->value);
        return m->row >= 0 ? TSR_OK
                           : tsr_error(TSR_VALUE_ERROR, "TensorProtos: data type %llu has no tensor dtype",
                                       (unsigned long long)f->value);
    case FIELD_NAME: m->name = f->bytes; return TSR_OK;
    case FIELD_RAW:
        m->raw = f->bytes;
        m->has_raw = f->kind == TSR_WIRE_BYTES;
        return TSR_OK;
    case FIELD_SEGMENT: return tsr_wire_error(&m->whole, "a tensor in segments, which is not read");
    case FIELD_EXTERNAL: return tsr_wire_error(&m->whole, "a tensor whose data is in another file, which is not read");
    }
    return TSR_OK;
}

static TsrStatus scan(Parsed *m, TsrWire c) {
    TsrWireField f;
    *m = (Parsed){.row = row_of_type(TYPE_FLOAT), .whole = c};
    while (tsr_wire_more(&c)) {
        TSR_TRY(tsr_wire_field(&f, &c));
        TSR_TRY(scan_field(m, &f));
    }
    return TSR_OK;
}

static TsrStatus too_many(const TsrWire *c) {
    return tsr_wire_error(c, "more values than the dimensions have elements");
}

static TsrStatus take_string(TsrTensor *t, int64_t *n, const TsrWire *c) {
    size_t length = tsr_wire_left(c);
    if (*n >= t->numel) return too_many(c);
    char *copy = tsr_mem_text(c->p, length);
    if (copy == NULL) return tsr_error_no_memory(length);
    ((TsrString *)tsr_data(t))[(*n)++] = (TsrString){copy, length};
    return TSR_OK;
}

static TsrStatus take_varints(TsrTensor *t, int64_t *n, const TsrWireField *f) {
    TsrWire c = f->bytes;
    uint64_t v = f->value;
    for (bool first = true; f->kind == TSR_WIRE_BYTES ? tsr_wire_more(&c) : first; first = false) {
        if (f->kind == TSR_WIRE_BYTES) TSR_TRY(tsr_wire_varint(&v, &c));
        if (*n >= t->numel) return too_many(&c);
        char *to = (char *)tsr_data(t) + (size_t)(*n)++ * tsr_itemsize(t);
        uint16_t bits = (uint16_t)v;
        if (t->dtype == TSR_FLOAT16) memcpy(to, &bits, 2);
        else
            tsr_scalar_store(t->dtype == TSR_BOOL ? tsr_scalar_bool(v != 0) : tsr_scalar_int((int64_t)v), t->dtype, to);
    }
    return TSR_OK;
}

static TsrStatus take_fixed(TsrTensor *t, int64_t *n, const TsrWireField *f) {
    size_t bytes = tsr_wire_left(&f->bytes), item = tsr_itemsize(t);
    if (f->kind == TSR_WIRE_VARINT || bytes % item != 0) return tsr_wire_error(&f->bytes, "values cut off");
    if ((int64_t)(bytes / item) > t->numel - *n) return too_many(&f->bytes);
    if (bytes > 0) memcpy((char *)tsr_data(t) + (size_t)*n * item, f->bytes.p, bytes);
    *n += (int64_t)(bytes / item);
    return TSR_OK;
}

static TsrStatus take_values(TsrTensor *t, const Parsed *m) {
    TsrWire c = m->whole;
    TsrWireField f;
    int64_t n = 0;
    while (tsr_wire_more(&c)) {
        TSR_TRY(tsr_wire_field(&f, &c));
        if (f.number != types[m->row].field) continue;
        if (types[m->row].wire == WIRE_STRINGS) TSR_TRY(take_string(t, &n, &f.bytes));
        else if (types[m->row].wire == WIRE_VARINTS) TSR_TRY(take_varints(t, &n, &f));
        else TSR_TRY(take_fixed(t, &n, &f));
    }
    return n == t->numel ? TSR_OK
                         : tsr_error(TSR_VALUE_ERROR, "TensorProtos: the dimensions need %lld values, there are %lld",
                                     (long long)t->numel, (long long)n);
}

/* A message that has too few bytes for the shape is refused before memory is taken: a value takes a byte at least. */
static TsrStatus check_size(const Parsed *m, int64_t numel, size_t nbytes) {
    size_t there = m->has_raw ? tsr_wire_left(&m->raw) : tsr_wire_left(&m->whole),
           wanted = m->has_raw ? nbytes : (size_t)numel;
    if (m->has_raw && types[m->row].dtype == TSR_STRING)
        return tsr_wire_error(&m->whole, "strings can't stand in raw_data");
    if (m->has_raw ? there == wanted : there >= wanted) return TSR_OK;
    return tsr_error(TSR_VALUE_ERROR, "TensorProtos: the dimensions need %zu %s, there are %zu", wanted,
                     m->has_raw ? "bytes" : "values", there);
}

static TsrStatus read_tensor(TsrTensor **out, const Parsed *m) {
    TsrInput in = {.name = "TensorProtos"};
    int64_t numel;
    size_t nbytes;
    TsrTensor *t;
    TSR_TRY(tsr_check_shape(&in, &numel, &nbytes, m->ndim, m->sizes, types[m->row].dtype));
    TSR_TRY(check_size(m, numel, nbytes));
    TSR_TRY(tsr_tensor_new(&t, m->ndim, m->sizes, types[m->row].dtype, TSR_DEVICE_CPU));
    TsrStatus status = TSR_OK;
    if (!m->has_raw) status = take_values(t, m);
    else if (nbytes > 0) memcpy(tsr_data(t), m->raw.p, nbytes);
    const int64_t bools = m->has_raw && t->dtype == TSR_BOOL ? numel : 0;
    TSR_IN_PIECES(i, bools)((unsigned char *)tsr_data(t))[i] = ((unsigned char *)tsr_data(t))[i] != 0;
    if (status == TSR_OK) *out = t;
    else tsr_tensor_free(t);
    return status;
}

static TsrStatus add_tensor(TsrItems *out, TsrWire c) {
    Parsed m;
    TsrTensor *t;
    char number[24];
    TSR_TRY(scan(&m, c));
    bool named = m.name.p < m.name.end;
    if (named && memchr(m.name.p, '\0', tsr_wire_left(&m.name)) != NULL)
        return tsr_wire_error(&m.whole, "a name with a zero byte in it");
    TSR_TRY(read_tensor(&t, &m));
    snprintf(number, sizeof number, "%d", out->n);
    return tsr_items_add_move(out, named ? (const char *)m.name.p : number,
                              named ? tsr_wire_left(&m.name) : strlen(number), t);
}

TsrStatus tsr_caffe2_read_protos(TsrItems *out, const char *data, size_t size) {
    TsrWire c = tsr_wire_of("TensorProtos", data, size);
    TsrItems items = {0};
    TsrWireField f;
    TsrStatus status = TSR_OK;
    while (status == TSR_OK && tsr_wire_more(&c)) {
        status = tsr_wire_field(&f, &c);
        if (status == TSR_OK && f.number == 1 && f.kind == TSR_WIRE_BYTES) status = add_tensor(&items, f.bytes);
    }
    if (status == TSR_OK) *out = items;
    else tsr_items_free(&items);
    return status;
}
