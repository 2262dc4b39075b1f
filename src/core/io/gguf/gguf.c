/* gguf.c: GGUF, ggml's files of models (github.com/ggml-org/ggml, docs/gguf.md): a magic number and a version, counts,
 * keys with typed values, then of each tensor its name, sizes (the innermost first), type and place, and behind all
 * that, aligned, the bytes of the tensors.
 *
 * Plain tensors are views of the file; packed ones become float32 (blocks.h). A key's value is a remark: its text, with
 * arrays as JSON, and its bytes, so that it is written again as it was. */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "blocks.h"
#include "core/io/elements.h"
#include "core/io/formats.h"
#include "core/io/json/json_text.h"
#include "core/io/little.h"
#include "core/mem.h"
#include "core/number.h"

static const char magic[4] = "GGUF";
static const char alignment_key[] = "general.alignment";
enum {
    VERSION = 3,
    HEADER = 24, /* magic, version, two counts */
    ALIGNMENT = 32,
    MAX_SIZES = 4,
    NAME_ROOM = 64, /* what ggml has for a name and its NUL */
    NESTING = 4
};

/* The types of values. */
enum { U8, I8, U16, I16, U32, I32, F32, BOOL, STRING, ARRAY, U64, I64, F64, VALUE_TYPES };
static const uint8_t value_size[VALUE_TYPES] = {1, 1, 2, 2, 4, 4, 4, 1, 8, 12, 8, 8, 8}; /* at least */

bool tsr_gguf_probe(const char *data, size_t size) { return size >= 8 && memcmp(data, magic, sizeof magic) == 0; }

/* ---- reading ---- */

/* What the file says of a tensor. */
typedef struct Entry {
    const char *name; /* lent of the file, name_length bytes */
    size_t name_length;
    const TsrGgufType *type;
    int ndim;
    int64_t sizes[MAX_SIZES]; /* the outermost first */
    uint64_t offset, nbytes;  /* in the part of the data */
} Entry;

typedef struct Reader {
    TsrItems *out;
    TsrInput *in;
    size_t at;
    bool listing;
    const char *part; /* of options */
    uint64_t alignment;
    Entry *entries;
    size_t n, room;
} Reader;

static TsrStatus bad(const Reader *r, const char *what) {
    return tsr_input_error(r->in, "gguf, byte %zu: %s", r->at, what);
}

static size_t left(const Reader *r) { return r->in->size - r->at; }

/* A number of n bytes, the lowest first. */
static TsrStatus take(Reader *r, uint64_t *out, size_t n) {
    if (left(r) < n) return bad(r, "the file ends inside the header");
    *out = tsr_little(r->in->data + r->at, n);
    r->at += n;
    return TSR_OK;
}

/* A count, then as many bytes, which are lent. */
static TsrStatus take_string(Reader *r, const char **text, size_t *length) {
    uint64_t n;
    TSR_TRY(take(r, &n, 8));
    if (n > left(r)) return bad(r, "a text is longer than the file");
    *text = r->in->data + r->at;
    *length = (size_t)n;
    r->at += (size_t)n;
    return TSR_OK;
}

/* ---- keys and values ---- */

static TsrStatus put_number(TsrText *out, int type, uint64_t bits) {
    char text[TSR_NUMBER_ROOM];
    float narrow;
    double wide;
    const uint32_t low = (uint32_t)bits;
    const int64_t value = type == I8    ? (int8_t)bits
                          : type == I16 ? (int16_t)bits
                          : type == I32 ? (int32_t)bits
                                        : (int64_t)bits;
    memcpy(&narrow, &low, sizeof narrow);
    memcpy(&wide, &bits, sizeof wide);
    switch (type) {
    case F32: tsr_format_float(text, narrow); break;
    case F64: tsr_format_double(text, wide); break;
    case BOOL: return tsr_text_puts(out, bits != 0 ? "true" : "false");
    case I8:
    case I16:
    case I32:
    case I64: tsr_format_integer(text, value < 0, value < 0 ? 0 - (uint64_t)value : (uint64_t)value); break;
    default: tsr_format_integer(text, false, bits); break;
    }
    return tsr_text_puts(out, text);
}

static TsrStatus put_string(TsrText *out, const char *text, size_t n, bool quoted) {
    TsrSink sink = {.fd = -1, .text = *out};
    if (!quoted && memchr(text, 0, n) == NULL && tsr_utf8_invalid(text, (int64_t)n) < 0)
        return tsr_text_append(out, text, n);
    tsr_json_put_text(&sink, text, n);
    *out = sink.text;
    return sink.status;
}

static TsrStatus put_value(Reader *r, TsrText *out, int type, int depth);

/* A type, a count, the values. */
static TsrStatus put_array(Reader *r, TsrText *out, int depth) {
    uint64_t type, n;
    TSR_TRY(take(r, &type, 4));
    TSR_TRY(take(r, &n, 8));
    if (type >= VALUE_TYPES) return bad(r, "an array of values of an unknown type");
    if (depth == NESTING) return bad(r, "arrays are nested too deeply");
    if (n > left(r) / value_size[type]) return bad(r, "an array is longer than the file");
    TSR_TRY(tsr_text_putc(out, '['));
    for (uint64_t i = 0; i < n; i++) {
        TSR_TRY(tsr_interrupt_check_at(i));
        if (i > 0) TSR_TRY(tsr_text_puts(out, ", "));
        TSR_TRY(put_value(r, out, (int)type, depth + 1));
    }
    return tsr_text_putc(out, ']');
}

static TsrStatus put_value(Reader *r, TsrText *out, int type, int depth) {
    uint64_t bits;
    const char *text;
    size_t n;
    if (type == ARRAY) return put_array(r, out, depth);
    if (type == STRING) {
        TSR_TRY(take_string(r, &text, &n));
        return put_string(out, text, n, depth > 0);
    }
    TSR_TRY(take(r, &bits, value_size[type]));
    return put_number(out, type, bits);
}

/* A NUL or what is no UTF-8 is no part of a name. */
static TsrStatus check_name(const Reader *r, const char *name, size_t n) {
    bool fine = n > 0 && memchr(name, 0, n) == NULL && tsr_utf8_invalid(name, (int64_t)n) < 0;
    return fine ? TSR_OK : bad(r, "a name that is empty or no text");
}

static TsrStatus take_alignment(Reader *r, const char *raw, size_t length) {
    uint64_t v = length == 8 && (unsigned char)raw[0] == U32 ? tsr_little(raw + 4, 4) : 0;
    if (v == 0 || (v & (v - 1)) != 0) return bad(r, "general.alignment is no power of two");
    r->alignment = v;
    return TSR_OK;
}

static TsrStatus read_pair(Reader *r, TsrText *key, TsrText *value) {
    const char *name;
    size_t n;
    uint64_t type;
    key->length = value->length = 0;
    TSR_TRY(take_string(r, &name, &n));
    TSR_TRY(check_name(r, name, n));
    TSR_TRY(tsr_text_append(key, name, n));
    size_t begin = r->at;
    TSR_TRY(take(r, &type, 4));
    if (type >= VALUE_TYPES) return bad(r, "a value of an unknown type");
    TSR_TRY(tsr_text_puts(value, ""));
    TSR_TRY(put_value(r, value, (int)type, 0));
    const char *raw = r->in->data + begin;
    if (strcmp(key->data, alignment_key) == 0) return take_alignment(r, raw, r->at - begin);
    return tsr_items_remark_raw(r->out, key->data, value->data != NULL ? value->data : "", raw, r->at - begin);
}

static TsrStatus read_pairs(Reader *r, uint64_t count) {
    TsrText key = {0}, value = {0};
    TsrStatus status = TSR_OK;
    if (count > left(r) / 13) return bad(r, "more keys than the file has room for");
    for (uint64_t i = 0; i < count && status == TSR_OK; i++) status = read_pair(r, &key, &value);
    tsr_text_free(&key);
    tsr_text_free(&value);
    return status;
}

/* ---- tensors ---- */

static TsrStatus bad_tensor(const Reader *r, const Entry *e, const char *what) {
    char shown[440];
    return tsr_input_error(r->in, "'%s': %s", tsr_io_quote(shown, e->name, e->name_length), what);
}

/* How many bytes it has: whole blocks along the innermost size. */
static TsrStatus measure(const Reader *r, Entry *e) {
    int64_t product = 1, bytes;
    int64_t inner = e->ndim > 0 ? e->sizes[e->ndim - 1] : 1;
    for (int d = 0; d < e->ndim; d++)
        if (tsr_mul_overflows(product, TSR_MAX(e->sizes[d], 1), &product))
            return bad_tensor(r, e, "its shape overflows");
    if (tsr_mul_overflows(product, TSR_MAX(e->type->bytes, 4), &bytes)) return bad_tensor(r, e, "its shape overflows");
    if (inner % e->type->count != 0) return bad_tensor(r, e, "its rows are no whole blocks of its type");
    for (int d = 0; d < e->ndim; d++)
        if (e->sizes[d] == 0) product = 0;
    e->nbytes = (uint64_t)(product / e->type->count * e->type->bytes);
    return TSR_OK;
}

static TsrStatus read_sizes(Reader *r, Entry *e) {
    uint64_t n, size;
    TSR_TRY(take(r, &n, 4));
    if (n > MAX_SIZES) return bad_tensor(r, e, "more than four dimensions");
    e->ndim = (int)n;
    for (int d = e->ndim - 1; d >= 0; d--) {
        TSR_TRY(take(r, &size, 8));
        if (size > INT64_MAX) return bad_tensor(r, e, "its shape overflows");
        e->sizes[d] = (int64_t)size;
    }
    return TSR_OK;
}

static TsrStatus read_entry(Reader *r) {
    uint64_t type;
    char text[80];
    TSR_TRY(tsr_mem_grow(&r->entries, &r->room, r->n + 1, sizeof *r->entries));
    Entry *e = &r->entries[r->n];
    *e = (Entry){0};
    TSR_TRY(take_string(r, &e->name, &e->name_length));
    TSR_TRY(check_name(r, e->name, e->name_length));
    TSR_TRY(read_sizes(r, e));
    TSR_TRY(take(r, &type, 4));
    e->type = tsr_gguf_type((uint32_t)type);
    if (e->type == NULL) {
        snprintf(text, sizeof text, "ggml's type %" PRIu64 " is unknown", type);
        return bad_tensor(r, e, text);
    }
    TSR_TRY(take(r, &e->offset, 8));
    TSR_TRY(measure(r, e));
    r->n++;
    return TSR_OK;
}

static int by_offset(const void *a, const void *b) {
    const Entry *x = a, *y = b;
    if (x->offset != y->offset) return x->offset < y->offset ? -1 : 1;
    return (x->nbytes > y->nbytes) - (x->nbytes < y->nbytes);
}

/* All within the file, aligned, and none over another, so that a small file has small tensors. */
static TsrStatus check_places(const Reader *r, uint64_t there) {
    const Entry **sorted;
    uint64_t end = 0;
    TSR_TRY(tsr_new_sorted((const void ***)&sorted, r->entries, r->n, sizeof *r->entries, by_offset));
    TsrStatus status = TSR_OK;
    for (size_t i = 0; i < r->n && status == TSR_OK; i++) {
        const Entry *e = sorted[i];
        if (e->offset > there || e->nbytes > there - e->offset) status = bad_tensor(r, e, "it reaches beyond the file");
        else if (e->offset % r->alignment != 0) status = bad_tensor(r, e, "its place is not aligned");
        else if (e->offset < end) status = bad_tensor(r, e, "it lies over another tensor");
        end = TSR_MAX(end, e->offset + e->nbytes);
    }
    tsr_free(sorted);
    return status;
}

/* Of a packed tensor that is only listed: its sizes, and a remark. */
static TsrStatus list_packed(Reader *r, TsrTensor **out, const Entry *e) {
    TsrText key = {0};
    char text[64];
    TsrStatus status = tsr_text_putc(&key, '\n');
    if (status == TSR_OK) status = tsr_text_append(&key, e->name, e->name_length);
    snprintf(text, sizeof text, "%s %" PRIu64, e->type->name, e->nbytes);
    if (status == TSR_OK) status = tsr_items_remark(r->out, key.data, text);
    tsr_text_free(&key);
    return status == TSR_OK ? tsr_tensor_new(out, e->ndim, e->sizes, TSR_FLOAT32, TSR_DEVICE_META) : status;
}

static TsrStatus new_tensor(Reader *r, TsrTensor **out, const Entry *e, size_t data) {
    size_t at = data + (size_t)e->offset;
    if (e->type->dtype != TSR_DTYPE_NONE)
        return tsr_input_new_tensor(out, r->in, &(TsrElements){e->type->dtype, false, at, (size_t)e->nbytes, 0},
                                    e->ndim, e->sizes, false);
    if (r->listing) return list_packed(r, out, e);
    r->out->derived = true;
    TSR_TRY(tsr_tensor_new(out, e->ndim, e->sizes, TSR_FLOAT32, TSR_DEVICE_CPU));
    TsrStatus status = tsr_gguf_unpack(tsr_data(*out), e->type, (const uint8_t *)r->in->data + at,
                                       (int64_t)e->nbytes / e->type->bytes);
    if (status != TSR_OK) tsr_tensor_free(*out);
    return status;
}

/* The tensor that alone is wanted; NULL: all are. */
static const Entry *find_part(const Reader *r) {
    size_t n = r->part != NULL ? strlen(r->part) : 0;
    for (size_t i = 0; i < r->n && n > 0; i++)
        if (r->entries[i].name_length == n && memcmp(r->entries[i].name, r->part, n) == 0) return &r->entries[i];
    return NULL;
}

static TsrStatus add_tensors(Reader *r) {
    TsrTensor *t;
    uint64_t pad = (r->alignment - r->at % r->alignment) % r->alignment;
    if (r->n > 0 && pad > left(r)) return bad(r, "the file ends before its tensors");
    size_t data = r->at + (size_t)TSR_MIN(pad, left(r));
    TSR_TRY(check_places(r, r->in->size - data));
    const Entry *wanted = find_part(r);
    for (size_t i = 0; i < r->n; i++) {
        TSR_TRY(tsr_interrupt_check());
        if (wanted != NULL && &r->entries[i] != wanted) continue;
        TSR_TRY(new_tensor(r, &t, &r->entries[i], data));
        TSR_TRY(tsr_items_add_move(r->out, r->entries[i].name, r->entries[i].name_length, t));
    }
    return tsr_check_names(r->in, r->out->items, r->out->n, sizeof *r->out->items);
}

static TsrStatus read_version(Reader *r) {
    uint64_t version;
    if (r->in->size < HEADER || memcmp(r->in->data, magic, sizeof magic) != 0)
        return tsr_input_error(r->in, "not a gguf file: it does not begin with GGUF and a header");
    r->at = sizeof magic;
    TSR_TRY(take(r, &version, 4));
    if (version == 2 || version == VERSION) return TSR_OK;
    if ((version & 0xffff) == 0)
        return tsr_input_error(r->in, "a gguf file of a big-endian machine, which is not read");
    return tsr_input_error(r->in, "gguf version %" PRIu64 " is unknown; 2 and 3 are read", version);
}

static TsrStatus read_all(Reader *r) {
    uint64_t tensors, pairs;
    TSR_TRY(read_version(r));
    TSR_TRY(take(r, &tensors, 8));
    TSR_TRY(take(r, &pairs, 8));
    TSR_TRY(read_pairs(r, pairs));
    TSR_TRY(tsr_check_names(r->in, r->out->remarks, r->out->nremarks, sizeof *r->out->remarks));
    if (tensors > left(r) / 24) return bad(r, "more tensors than the file has room for");
    for (uint64_t i = 0; i < tensors; i++) TSR_TRY(read_entry(r));
    return add_tensors(r);
}

TsrStatus tsr_gguf_read(TsrItems *out, TsrInput *in, const TsrLoadOptions *options) {
    Reader r = {.out = out, .in = in, .alignment = ALIGNMENT, .listing = options->listing, .part = options->part};
    TsrStatus status = read_all(&r);
    tsr_free(r.entries);
    return status;
}

/* ---- writing ---- */

static void put_text(TsrSink *sink, const char *text) {
    tsr_sink_put_little(sink, strlen(text), 8);
    tsr_sink_puts(sink, text);
}

static uint64_t aligned(uint64_t n) { return (n + ALIGNMENT - 1) / ALIGNMENT * ALIGNMENT; }

static uint64_t size_of(const TsrTensor *t) { return (uint64_t)t->numel * tsr_itemsize(t); }

static TsrStatus check_item(const TsrItem *item) {
    const TsrTensor *t = item->tensor;
    size_t n = strlen(item->name);
    if (tsr_is_sparse(t)) return tsr_error(TSR_VALUE_ERROR, "gguf holds dense tensors; convert with to_dense()");
    if (n == 0 || n >= NAME_ROOM)
        return tsr_error(TSR_VALUE_ERROR, "gguf has names of 1 to %d bytes, not of %zu", NAME_ROOM - 1, n);
    if (tsr_ndim(t) > MAX_SIZES)
        return tsr_error(TSR_VALUE_ERROR, "gguf has at most %d dimensions, not %d", MAX_SIZES, tsr_ndim(t));
    if (tsr_gguf_type_of_dtype(t->dtype) == NULL) {
        tsr_error(TSR_VALUE_ERROR, "gguf has no dtype for torch.%s", tsr_dtype_name(t->dtype));
        tsr_error_hint("convert it: x.float(), x.short()");
        return TSR_VALUE_ERROR;
    }
    return tsr_tensor_check(t, false);
}

static void put_pair(TsrSink *sink, const TsrRemark *remark) {
    put_text(sink, remark->key);
    if (remark->raw != NULL) {
        tsr_sink_write(sink, remark->raw, remark->raw_length);
        return;
    }
    tsr_sink_put_little(sink, STRING, 4);
    put_text(sink, remark->value);
}

static void put_entry(TsrSink *sink, const TsrItem *item, uint64_t *offset) {
    const TsrTensor *t = item->tensor;
    put_text(sink, item->name);
    tsr_sink_put_little(sink, (uint64_t)tsr_ndim(t), 4);
    for (int d = tsr_ndim(t) - 1; d >= 0; d--) tsr_sink_put_little(sink, (uint64_t)t->sizes[d], 8);
    tsr_sink_put_little(sink, tsr_gguf_type_of_dtype(t->dtype)->id, 4);
    tsr_sink_put_little(sink, *offset, 8);
    *offset = aligned(*offset + size_of(t));
}

static void pad(TsrSink *sink, uint64_t written) {
    static const char zeros[ALIGNMENT];
    tsr_sink_write(sink, zeros, (size_t)(aligned(written) - written));
}

/* All before the tensors' bytes, in memory. */
static void put_header(TsrSink *header, const TsrItems *items) {
    uint64_t offset = 0, pairs = 0;
    for (int i = 0; i < items->nremarks; i++) pairs += strcmp(items->remarks[i].key, alignment_key) != 0;
    tsr_sink_write(header, magic, sizeof magic);
    tsr_sink_put_little(header, VERSION, 4);
    tsr_sink_put_little(header, (uint64_t)items->n, 8);
    tsr_sink_put_little(header, pairs, 8);
    for (int i = 0; i < items->nremarks; i++)
        if (strcmp(items->remarks[i].key, alignment_key) != 0) put_pair(header, &items->remarks[i]);
    for (int i = 0; i < items->n; i++) put_entry(header, &items->items[i], &offset);
    pad(header, header->text.length);
}

TsrStatus tsr_gguf_write(TsrSink *sink, const TsrItems *items, const TsrSaveOptions *options) {
    TsrSink header = {.fd = -1, .name = sink->name};
    (void)options;
    if (items->single) return tsr_error(TSR_VALUE_ERROR, "gguf holds tensors with names: save a dict of them");
    for (int i = 0; i < items->n; i++) TSR_TRY(check_item(&items->items[i]));
    put_header(&header, items);
    TsrStatus status = header.status;
    if (status == TSR_OK) tsr_sink_write(sink, header.text.data, header.text.length);
    tsr_text_free(&header.text);
    for (int i = 0; i < items->n && status == TSR_OK; i++) {
        status = tsr_write_elements(sink, items->items[i].tensor);
        pad(sink, size_of(items->items[i].tensor));
    }
    return status == TSR_OK ? sink->status : status;
}
