/* npy.c: NumPy's .npy (numpy/lib/format.py documents it: magic, version, header length, a dict literal, data).
 * The header is read by a small parser of exactly that literal; nothing is evaluated. Arrays of records are tables
 * (structured.h). */
#include <stdio.h>
#include <string.h>

#include "core/io/elements.h"
#include "core/io/formats.h"
#include "core/io/little.h"
#include "core/table.h"
#include "structured.h"
#include "core/mem.h"
#include "core/number.h"
#include "core/tensor/owned.h"
#include "core/view.h"

static const char magic[6] = "\x93NUMPY";

bool tsr_npy_probe(const char *data, size_t size) { return size >= 8 && memcmp(data, magic, 6) == 0; }

typedef struct Header {
    TsrDtype dtype;
    bool big_endian, fortran;
    int ndim;
    int64_t shape[TSR_MAX_DIMS];
    size_t offset;     /* of the data, bytes */
    bool records;      /* the dtype has fields */
    bool column;       /* it is of texts or times, which `record` has as its only field */
    bool voids;        /* bfloat16 is what we take its two bytes for */
    TsrRecord record;  /* its fields, freed by free_header */
    char foreign[440]; /* a dtype that no tensor has; "" */
} Header;

static void free_header(Header *h) { tsr_free(h->record.fields); }

/* A cursor over the header's text. */
typedef struct Cursor {
    const TsrInput *in;
    const char *p, *end;
    size_t base; /* offset of p's text in the file */
} Cursor;

static void skip_space(Cursor *c) {
    while (c->p < c->end && (*c->p == ' ' || *c->p == '\n' || *c->p == '\t')) c->p++;
}

static bool accept(Cursor *c, const char *text) {
    size_t n = strlen(text);
    skip_space(c);
    if ((size_t)(c->end - c->p) < n || memcmp(c->p, text, n) != 0) return false;
    c->p += n;
    return true;
}

static TsrStatus expected(const Cursor *c, const char *what) {
    char found[440];
    size_t left = (size_t)(c->end - c->p);
    return tsr_input_error(c->in, "npy header, byte %zu: expected %s, found '%s'", (size_t)(c->p - c->in->data), what,
                           tsr_io_quote(found, c->p, TSR_MIN(left, 20)));
}

/* A quoted string without escapes: a key or a type code. */
static TsrStatus read_string(Cursor *c, const char **text, size_t *n) {
    skip_space(c);
    if (c->p == c->end || (*c->p != '\'' && *c->p != '"')) return expected(c, "a string");
    char quote = *c->p++;
    const char *close = memchr(c->p, quote, (size_t)(c->end - c->p));
    if (close == NULL) return expected(c, "the end of a string");
    *text = c->p;
    *n = (size_t)(close - c->p);
    c->p = close + 1;
    return TSR_OK;
}

/* ('name', '<f8') */
static TsrStatus read_field(Cursor *c, Header *h) {
    const char *name, *code;
    size_t name_length, n;
    char shown[440];
    if (!accept(c, "(")) return expected(c, "a field");
    TSR_TRY(read_string(c, &name, &name_length));
    if (!accept(c, ",")) return expected(c, ",");
    skip_space(c);
    if (c->p < c->end && *c->p == '[')
        return tsr_input_error(c->in, "the field '%s' has fields itself, which no column has",
                               tsr_io_quote(shown, name, name_length));
    TSR_TRY(read_string(c, &code, &n));
    if (accept(c, ","))
        return tsr_input_error(c->in, "the field '%s' is an array, which no column is",
                               tsr_io_quote(shown, name, name_length));
    if (!accept(c, ")")) return expected(c, ")");
    return tsr_record_add(&h->record, c->in, name, name_length, code, n);
}

static TsrStatus read_fields(Cursor *c, Header *h) {
    h->records = true;
    h->dtype = TSR_UINT8;
    if (!accept(c, "[")) return expected(c, "[");
    while (!accept(c, "]")) {
        TSR_TRY(read_field(c, h));
        skip_space(c);
        if (!accept(c, ",") && !(c->p < c->end && *c->p == ']')) return expected(c, ", or ]");
    }
    if (h->record.n == 0 || h->record.size == 0) return tsr_input_error(c->in, "records without fields");
    return TSR_OK;
}

/* Two bytes of any kind, or a name: what ml_dtypes, and with it JAX, writes of bfloat16. */
static bool is_bfloat16(const char *code, size_t n) {
    return (n == 2 && memcmp(code, "V2", 2) == 0) || (n == 8 && memcmp(code, "bfloat16", 8) == 0);
}

static TsrStatus read_descr(Cursor *c, Header *h) {
    const char *text;
    char shown[440];
    size_t n;
    skip_space(c);
    if (c->p < c->end && *c->p == '[') return read_fields(c, h);
    TSR_TRY(read_string(c, &text, &n));
    bool marked = n > 0 && memchr("<>=|", text[0], 4) != NULL;
    h->big_endian = marked && text[0] == '>';
    const char *code = text + marked;
    size_t length = n - marked;
    h->dtype = tsr_npy_dtype(code, length);
    h->voids = h->dtype == TSR_DTYPE_NONE && is_bfloat16(code, length);
    if (h->voids) h->dtype = TSR_BFLOAT16;
    if (h->dtype != TSR_DTYPE_NONE) return TSR_OK;
    tsr_io_quote(h->foreign, text, n);
    h->column = length > 1 && strchr("USaMm", code[0]) != NULL &&
                tsr_record_add(&h->record, c->in, "values", 6, text, n) == TSR_OK && h->record.size > 0;
    if (h->column) return TSR_OK;
    tsr_error_clear();
    if (length > 0 && code[0] == 'O')
        return tsr_input_error(c->in, "it holds pickled objects (dtype '|O'), which are never executed");
    return tsr_input_error(c->in, "its dtype '%s' has no tensor dtype", tsr_io_quote(shown, text, n));
}

static TsrStatus read_shape(Cursor *c, Header *h) {
    if (!accept(c, "(")) return expected(c, "a tuple");
    while (!accept(c, ")")) {
        skip_space(c);
        if (h->ndim == TSR_MAX_DIMS) return tsr_input_error(c->in, "more than %d dimensions", TSR_MAX_DIMS);
        const char *end = tsr_parse_int64(&h->shape[h->ndim], c->p, c->end);
        if (end == NULL || h->shape[h->ndim] < 0) return expected(c, "a size");
        h->ndim++;
        c->p = end;
        if (c->p < c->end && *c->p == 'L') c->p++; /* written by Python 2 */
        if (!accept(c, ",") && !(c->p < c->end && *c->p == ')')) return expected(c, ", or )");
    }
    return TSR_OK;
}

static TsrStatus read_entry(Cursor *c, Header *h, unsigned *seen) {
    static const char *const keys[] = {"descr", "fortran_order", "shape"};
    const char *text;
    char shown[440];
    size_t n, key = 0;
    TSR_TRY(read_string(c, &text, &n));
    while (key < 3 && (strlen(keys[key]) != n || memcmp(keys[key], text, n) != 0)) key++;
    if (key == 3 || (*seen & 1u << key) != 0)
        return tsr_input_error(c->in, "npy header: unexpected key '%s'", tsr_io_quote(shown, text, n));
    *seen |= 1u << key;
    if (!accept(c, ":")) return expected(c, ":");
    if (key == 0) return read_descr(c, h);
    if (key == 2) return read_shape(c, h);
    h->fortran = accept(c, "True");
    return h->fortran || accept(c, "False") ? TSR_OK : expected(c, "True or False");
}

/* The length of the header's text and where it begins; false when the bytes do not even hold that. */
static bool locate_header(const char *data, size_t size, size_t *begin, size_t *length) {
    if (size < 10) return false;
    *begin = data[6] == 1 ? 10 : 12;
    if (size < *begin) return false;
    *length = (size_t)tsr_little(data + 8, *begin - 8);
    return *length <= size - *begin;
}

static TsrStatus read_header(const TsrInput *in, Header *h) {
    size_t begin, length;
    unsigned seen = 0;
    *h = (Header){0};
    if (in->size < 10 || memcmp(in->data, magic, 6) != 0)
        return tsr_input_error(in, "not an npy file: it does not begin with \\x93NUMPY");
    if (in->data[6] < 1 || in->data[6] > 3)
        return tsr_input_error(in, "npy version %d.%d is unknown", in->data[6], in->data[7]);
    if (!locate_header(in->data, in->size, &begin, &length))
        return tsr_input_error(in, "the npy header is cut off after %zu bytes", in->size);
    Cursor c = {in, in->data + begin, in->data + begin + length, begin};
    h->offset = begin + length;
    if (!accept(&c, "{")) return expected(&c, "{");
    while (!accept(&c, "}")) {
        TSR_TRY(read_entry(&c, h, &seen));
        skip_space(&c);
        if (!accept(&c, ",") && !(c.p < c.end && *c.p == '}')) return expected(&c, ", or }");
    }
    if (seen != 7) return tsr_input_error(in, "npy header: it lacks descr, fortran_order or shape");
    if (!h->column || h->ndim == 1) return TSR_OK;
    return tsr_input_error(in, "its dtype '%s' has no tensor dtype, and %d dimensions are no column", h->foreign,
                           h->ndim);
}

size_t tsr_npy_expected_size(const char *data, size_t size) {
    TsrInput in = {.name = "", .data = data, .size = size};
    Header h;
    int64_t numel;
    size_t nbytes;
    bool known = read_header(&in, &h) == TSR_OK && !h.records && !h.column &&
                 tsr_check_shape(&in, &numel, &nbytes, h.ndim, h.shape, h.dtype) == TSR_OK;
    free_header(&h);
    tsr_error_clear(); /* the reader will report it */
    return known ? h.offset + nbytes : 0;
}

static TsrStatus refuse_short(const TsrInput *in, const Header *h, size_t nbytes) {
    return tsr_input_error(in, "the shape needs %zu bytes of data from byte %zu on, there are %zu", nbytes, h->offset,
                           in->size - h->offset);
}

static TsrStatus read_records(TsrItems *out, TsrInput *in, const Header *h) {
    int64_t rows = h->ndim == 1 ? h->shape[0] : 1, nbytes;
    if (h->ndim > 1) return tsr_input_error(in, "records of %d dimensions are no table", h->ndim);
    if (tsr_mul_overflows(rows, (int64_t)h->record.size, &nbytes)) return tsr_input_error(in, "its shape overflows");
    if ((size_t)nbytes > in->size - h->offset) return refuse_short(in, h, (size_t)nbytes);
    TSR_TRY(h->column ? tsr_record_read_column(out, in, &h->record, h->offset, rows)
                      : tsr_record_read(out, in, &h->record, h->offset, rows));
    in->end = h->offset + (size_t)nbytes;
    return TSR_OK;
}

static TsrStatus read_tensor(TsrItems *out, TsrInput *in, const Header *h) {
    int64_t numel;
    size_t nbytes;
    TsrTensor *t;
    TSR_TRY(tsr_check_shape(in, &numel, &nbytes, h->ndim, h->shape, h->dtype));
    if (nbytes > in->size - h->offset) return refuse_short(in, h, nbytes);
    TSR_TRY(tsr_input_new_tensor(&t, in, &(TsrElements){h->dtype, h->big_endian, h->offset, nbytes, 0}, h->ndim,
                                 h->shape, h->fortran));
    in->end = h->offset + nbytes;
    TSR_TRY(tsr_items_single_move(out, t));
    return h->voids ? tsr_items_note(out, in, "bfloat16 is what its elements, two bytes of no type, are taken for")
                    : TSR_OK;
}

TsrStatus tsr_npy_read(TsrItems *out, TsrInput *in, const TsrLoadOptions *options) {
    Header h;
    (void)options;
    TsrStatus status = read_header(in, &h);
    if (status == TSR_OK) status = h.records || h.column ? read_records(out, in, &h) : read_tensor(out, in, &h);
    free_header(&h);
    return status;
}

bool tsr_npy_is_foreign(char *what, const TsrInput *in) {
    Header h;
    TsrStatus status = read_header(in, &h);
    bool foreign = status == TSR_VALUE_ERROR && (h.foreign[0] != '\0' || h.records);
    snprintf(what, 440, "%s", h.records ? "records" : h.foreign);
    free_header(&h);
    if (status != TSR_OK) tsr_error_clear();
    return foreign;
}

static TsrStatus put_header(TsrText *out, const char *code, bool fortran, const TsrTensor *t) {
    char text[64 + 24 * TSR_MAX_DIMS];
    int n = snprintf(text, sizeof text, "{'descr': '%c%s', 'fortran_order': %s, 'shape': (",
                     code[1] == '1' && code[2] == '\0' ? '|' : '<', code, fortran ? "True" : "False");
    for (int d = 0; d < tsr_ndim(t); d++)
        n += snprintf(text + n, sizeof text - (size_t)n, d > 0 ? ", %lld" : "%lld", (long long)t->sizes[d]);
    n += snprintf(text + n, sizeof text - (size_t)n, tsr_ndim(t) == 1 ? ",), }" : "), }");
    int padded = (10 + n + 1 + 63) / 64 * 64 - 10; /* the data begins on a multiple of 64 */
    char start[10] = {'\x93', 'N', 'U', 'M', 'P', 'Y', 1, 0, (char)(padded & 255), (char)(padded >> 8)};
    memset(text + n, ' ', (size_t)(padded - n));
    text[padded - 1] = '\n';
    TSR_TRY(tsr_text_append(out, start, sizeof start));
    return tsr_text_append(out, text, (size_t)padded);
}

TsrStatus tsr_npy_new_parts(TsrText *header, TsrTensor **dense, const TsrTensor *t) {
    TSR_OWNED flipped = NULL;
    int64_t order[TSR_MAX_DIMS];
    const bool spans = t->dtype == TSR_INT64 && tsr_column_type(t)[0] == 'm';
    const char *code = spans ? tsr_column_type(t) : tsr_npy_code(t->dtype);
    if (tsr_is_sparse(t)) return tsr_error(TSR_VALUE_ERROR, "npy holds dense tensors; convert with to_dense()");
    if (code == NULL) {
        tsr_error(TSR_VALUE_ERROR, "npy has no dtype for torch.%s", tsr_dtype_name(t->dtype));
        if (tsr_dtype_is_float(t->dtype)) tsr_error_hint("convert it: x.float()");
        return TSR_VALUE_ERROR;
    }
    TSR_TRY(tsr_tensor_check(t, false));
    for (int d = 0; d < tsr_ndim(t); d++) order[d] = tsr_ndim(t) - 1 - d;
    TSR_TRY(tsr_tensor_new_permute(&flipped, t, tsr_ndim(t), order));
    bool fortran = !tsr_is_contiguous(t, TSR_CONTIGUOUS) && tsr_is_contiguous(flipped, TSR_CONTIGUOUS);
    TSR_TRY(put_header(header, code, fortran, t));
    return tsr_new_elements(dense, fortran ? flipped : t);
}

TsrStatus tsr_npy_write(TsrSink *sink, const TsrItems *items, const TsrSaveOptions *options) {
    TsrTensor *t, *dense = NULL;
    TsrText header = {0};
    (void)options;
    const TsrNode *root = items->tree.root;
    if (root != NULL && root->kind == TSR_NODE_TABLE) return tsr_record_write(sink, root->table, root->i == 1);
    if (items->table != NULL) return tsr_record_write(sink, items->table, false);
    TSR_TRY(tsr_items_only(&t, items, "npy"));
    TsrStatus status = tsr_npy_new_parts(&header, &dense, t);
    if (status == TSR_OK) {
        tsr_sink_write(sink, header.data, header.length);
        if (dense->numel > 0) tsr_sink_write(sink, tsr_data(dense), (size_t)dense->numel * tsr_itemsize(dense));
        status = sink->status;
    }
    tsr_text_free(&header);
    tsr_tensor_free(dense);
    return status;
}
