/* safetensors.c: safetensors (its README gives the format): 8 bytes of length, a header in JSON, the tensors' bytes one
 * behind another. Each tensor is a storage over its part of the mapping. */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "elements.h"
#include "formats.h"
#include "core/io/json/json_text.h"
#include "little.h"
#include "core/mem.h"
#include "core/view.h"

/* The header's length stands in 8 bytes before it; safetensors refuses headers above 100 MB and pads them to 8 bytes.
 */
enum { LENGTH_BYTES = 8, HEADER_MOST = 100000000, HEADER_UNIT = 8 };
static const char remarks_key[] = "__metadata__";

/* In the order in which they are written: the widest first, so that all lie on multiples of their size. */
static const struct {
    const char *code;
    TsrDtype dtype;
} types[] = {
    {"U64", TSR_UINT64},
    {"I64", TSR_INT64},
    {"F64", TSR_FLOAT64},
    {"C64", TSR_COMPLEX64},
    {"F32", TSR_FLOAT32},
    {"U32", TSR_UINT32},
    {"I32", TSR_INT32},
    {"BF16", TSR_BFLOAT16},
    {"F16", TSR_FLOAT16},
    {"U16", TSR_UINT16},
    {"I16", TSR_INT16},
    {"F8_E5M2FNUZ", TSR_FLOAT8_E5M2FNUZ},
    {"F8_E4M3FNUZ", TSR_FLOAT8_E4M3FNUZ},
    {"F8_E8M0", TSR_FLOAT8_E8M0FNU},
    {"F8_E4M3", TSR_FLOAT8_E4M3FN},
    {"F8_E5M2", TSR_FLOAT8_E5M2},
    {"I8", TSR_INT8},
    {"U8", TSR_UINT8},
    {"BOOL", TSR_BOOL},
};

static size_t row_of_dtype(TsrDtype dtype) {
    size_t row = 0;
    while (row < TSR_COUNTOF(types) && types[row].dtype != dtype) row++;
    return row;
}

/* A length that lies is for the reader to refuse; but a text never has a NUL where its high bytes are. */
bool tsr_safetensors_probe(const char *data, size_t size) {
    return size > LENGTH_BYTES && data[LENGTH_BYTES] == '{' && tsr_little(data, LENGTH_BYTES) >> 40 == 0;
}

/* ---- reading ---- */

typedef struct Span {
    uint64_t begin, end;
} Span; /* of a tensor, in the part of the data */

typedef struct Reader {
    TsrItems *out; /* NULL: only `reach` is wanted */
    TsrInput *in;
    size_t data; /* where the data begins */
    Span *spans; /* of the tensors so far */
    size_t n, room;
    bool has_remarks;
    uint64_t reach; /* the largest of the offsets */
} Reader;

/* What the header says of one tensor. */
enum { HAS_DTYPE = 1, HAS_SHAPE = 2, HAS_OFFSETS = 4 };
typedef struct Entry {
    unsigned has;
    TsrDtype dtype;
    int ndim;
    int64_t shape[TSR_MAX_DIMS], offsets[2];
} Entry;

static TsrStatus read_dtype(TsrJson *j, Entry *e) {
    TsrText code = {0};
    char shown[440], text[480];
    const char *at = j->p;
    size_t row = 0;
    TsrStatus status = tsr_json_string(j, &code, "a dtype");
    while (status == TSR_OK && row < TSR_COUNTOF(types) &&
           (code.data == NULL || strcmp(types[row].code, code.data) != 0))
        row++;
    if (status == TSR_OK && row < TSR_COUNTOF(types)) {
        e->dtype = types[row].dtype;
    } else if (status == TSR_OK) {
        snprintf(text, sizeof text, "'%s' has no tensor dtype",
                 tsr_io_quote(shown, code.data != NULL ? code.data : "", code.length));
        j->p = at;
        status = tsr_json_error(j, text);
    }
    tsr_text_free(&code);
    return status;
}

/* [1, 2]: at most `most` numbers; *n says how many. */
static TsrStatus read_sizes(TsrJson *j, int64_t *sizes, int most, int *n) {
    *n = 0;
    tsr_json_skip_space(j);
    if (!tsr_json_accept(j, "[")) return tsr_json_error(j, "[ was expected");
    tsr_json_skip_space(j);
    if (tsr_json_accept(j, "]")) return TSR_OK;
    for (;;) {
        if (*n == most)
            return tsr_json_error(j, most == 2 ? "more than two offsets" : "more dimensions than a tensor can have");
        TSR_TRY(tsr_json_size(j, &sizes[(*n)++]));
        tsr_json_skip_space(j);
        if (tsr_json_accept(j, "]")) return TSR_OK;
        if (!tsr_json_accept(j, ",")) return tsr_json_error(j, ", or ] was expected");
    }
}

static TsrStatus read_field(TsrJson *j, const char *key, size_t length, void *context) {
    Entry *e = context;
    int n = 2;
    unsigned what = strcmp(key, "dtype") == 0          ? HAS_DTYPE
                    : strcmp(key, "shape") == 0        ? HAS_SHAPE
                    : strcmp(key, "data_offsets") == 0 ? HAS_OFFSETS
                                                       : 0;
    (void)length;
    if (what == 0) return tsr_json_error(j, "a key that is none of dtype, shape and data_offsets");
    if ((e->has & what) != 0) return tsr_json_error(j, "the key is there twice");
    e->has |= what;
    if (what == HAS_DTYPE) return read_dtype(j, e);
    if (what == HAS_SHAPE) return read_sizes(j, e->shape, TSR_MAX_DIMS, &e->ndim);
    TSR_TRY(read_sizes(j, e->offsets, 2, &n));
    return n == 2 ? TSR_OK : tsr_json_error(j, "two offsets were expected");
}

static TsrStatus add_span(Reader *r, const Entry *e) {
    TSR_TRY(tsr_mem_grow(&r->spans, &r->room, r->n + 1, sizeof *r->spans));
    r->spans[r->n++] = (Span){(uint64_t)e->offsets[0], (uint64_t)e->offsets[1]};
    return TSR_OK;
}

static TsrStatus add_tensor(Reader *r, const Entry *e, const char *name, size_t length) {
    int64_t numel;
    size_t nbytes;
    TsrTensor *t;
    char shown[440];
    uint64_t begin = (uint64_t)e->offsets[0], end = (uint64_t)e->offsets[1], there = r->in->size - r->data;
    tsr_io_quote(shown, name, length);
    TSR_TRY(tsr_check_shape(r->in, &numel, &nbytes, e->ndim, e->shape, e->dtype));
    if (begin > end || end > there)
        return tsr_input_error(
            r->in, "'%s': the offsets %" PRIu64 " and %" PRIu64 " are not a part of the %" PRIu64 " bytes of data",
            shown, begin, end, there);
    if (end - begin != nbytes)
        return tsr_input_error(r->in, "'%s': its shape needs %zu bytes, its offsets span %" PRIu64, shown, nbytes,
                               end - begin);
    TSR_TRY(tsr_input_new_tensor(&t, r->in, &(TsrElements){e->dtype, false, r->data + begin, nbytes, 0}, e->ndim,
                                 e->shape, false));
    return tsr_items_add_move(r->out, name, length, t);
}

static TsrStatus read_remark(TsrJson *j, const char *key, size_t length, void *context) {
    Reader *r = context;
    TsrText value = {0};
    (void)length;
    TsrStatus status = tsr_json_string(j, &value, "a text");
    if (status == TSR_OK && r->out != NULL)
        status = tsr_items_remark(r->out, key, value.data != NULL ? value.data : "");
    tsr_text_free(&value);
    return status;
}

static TsrStatus read_entry(TsrJson *j, const char *key, size_t length, void *context) {
    Reader *r = context;
    Entry e = {0};
    if (strcmp(key, remarks_key) == 0) {
        if (r->has_remarks) return tsr_json_error(j, "the key is there twice");
        r->has_remarks = true;
        return tsr_json_object(j, read_remark, r);
    }
    TSR_TRY(tsr_json_object(j, read_field, &e));
    if (e.has != (HAS_DTYPE | HAS_SHAPE | HAS_OFFSETS))
        return tsr_json_error(j, "dtype, shape or data_offsets are missing");
    r->reach = TSR_MAX(r->reach, (uint64_t)e.offsets[1]);
    if (r->out == NULL) return TSR_OK;
    TSR_TRY(add_span(r, &e));
    return add_tensor(r, &e, key, length);
}

static int by_place(const void *a, const void *b) {
    const Span *s = a, *t = b;
    if (s->begin != t->begin) return s->begin < t->begin ? -1 : 1;
    return (s->end > t->end) - (s->end < t->end);
}

/* One behind another and up to the end. */
static TsrStatus check_spans(const Reader *r, const Span **sorted) {
    uint64_t at = 0, there = r->in->size - r->data;
    for (size_t i = 0; i < r->n; i++) sorted[i] = &r->spans[i];
    TSR_TRY(tsr_sort_pointers((const void **)sorted, r->n, by_place));
    for (size_t i = 0; i < r->n; i++) {
        if (sorted[i]->begin < at)
            return tsr_input_error(r->in, "tensors overlap at byte %" PRIu64 " of the data", sorted[i]->begin);
        if (sorted[i]->begin > at)
            return tsr_input_error(r->in, "no tensor has the bytes from %" PRIu64 " to %" PRIu64 " of the data", at,
                                   sorted[i]->begin);
        at = sorted[i]->end;
    }
    return at == there ? TSR_OK
                       : tsr_input_error(r->in, "no tensor has the bytes from %" PRIu64 " to %" PRIu64 " of the data",
                                         at, there);
}

static TsrStatus read_header(Reader *r) {
    const TsrInput *in = r->in;
    if (in->size < LENGTH_BYTES) return tsr_input_error(in, "%zu bytes are too few for a safetensors file", in->size);
    uint64_t length = tsr_little(in->data, LENGTH_BYTES);
    if (length > HEADER_MOST)
        return tsr_input_error(in, "a header of %" PRIu64 " bytes is beyond the format's limit of %d", length,
                               HEADER_MOST);
    if (length > in->size - LENGTH_BYTES)
        return tsr_input_error(in, "the header of %" PRIu64 " bytes is cut off: %zu are there", length,
                               in->size - LENGTH_BYTES);
    const char *start = in->data + LENGTH_BYTES;
    TsrJson j = {.in = in, .start = start, .end = start + length, .p = start, .where = "header, "};
    r->data = LENGTH_BYTES + (size_t)length;
    TSR_TRY(tsr_json_object(&j, read_entry, r));
    tsr_json_skip_space(&j);
    return j.p == j.end ? TSR_OK : tsr_json_error(&j, "more text after the header");
}

static TsrStatus read_all(Reader *r) {
    TSR_TRY(read_header(r));
    TSR_TRY(tsr_check_names(r->in, r->out->items, r->out->n, sizeof *r->out->items));
    TSR_TRY(tsr_check_names(r->in, r->out->remarks, r->out->nremarks, sizeof *r->out->remarks));
    const Span **sorted = tsr_malloc((r->n + 1) * sizeof *sorted);
    if (sorted == NULL) return tsr_error_no_memory(r->n * sizeof *sorted);
    TsrStatus status = check_spans(r, sorted);
    tsr_free(sorted);
    return status;
}

TsrStatus tsr_safetensors_read(TsrItems *out, TsrInput *in, const TsrLoadOptions *options) {
    Reader r = {.out = out, .in = in};
    (void)options;
    TsrStatus status = read_all(&r);
    tsr_free(r.spans);
    return status;
}

size_t tsr_safetensors_expected_size(const char *data, size_t size) {
    TsrInput in = {.name = "", .data = data, .size = size};
    Reader r = {.in = &in};
    if (read_header(&r) == TSR_OK) return r.data + (size_t)r.reach;
    tsr_error_clear(); /* the reader will report it */
    return 0;
}

/* ---- writing ---- */

static int by_type_and_name(const void *a, const void *b) {
    const TsrItem *x = a, *y = b;
    size_t row = row_of_dtype(x->tensor->dtype), other = row_of_dtype(y->tensor->dtype);
    return row != other ? (row > other) - (row < other) : strcmp(x->name, y->name);
}

static const char *first_byte(const TsrTensor *t) { return tsr_data(t); }

static const char *last_byte(const TsrTensor *t) {
    int64_t steps = 0;
    for (int d = 0; d < tsr_ndim(t); d++) steps += (t->sizes[d] - 1) * t->strides[d];
    return first_byte(t) + (steps + 1) * (int64_t)tsr_itemsize(t) - 1;
}

static int by_address(const void *a, const void *b) {
    const char *x = first_byte(((const TsrItem *)a)->tensor), *y = first_byte(((const TsrItem *)b)->tensor);
    return (x > y) - (x < y);
}

static TsrStatus refuse_shared(const TsrItem *a, const TsrItem *b) {
    char first[440], second[440];
    tsr_error(TSR_RUNTIME_ERROR,
              "Some tensors share memory, this will lead to duplicate memory on disk and potential differences when "
              "loading them again: '%s' and '%s'",
              tsr_io_quote(first, a->name, strlen(a->name)), tsr_io_quote(second, b->name, strlen(b->name)));
    tsr_error_hint("untie=True (--untie) writes each of them for itself");
    return TSR_RUNTIME_ERROR;
}

static bool shares_memory(const TsrTensor *a, const TsrTensor *b) {
    TsrFootprint x = tsr_tensor_footprint(a), y = tsr_tensor_footprint(b);
    bool known;
    if (a->numel == 0 || b->numel == 0) return false;
    return a->storage != b->storage || tsr_layout_overlap(&x, &y, NULL, NULL, &known);
}

/* Only those that lie among one another by their addresses are looked at closely: parts of one storage that share
 * nothing are fine. */
static TsrStatus check_untied(const TsrItem **sorted, int n) {
    for (int i = 0; i < n; i++) {
        if (sorted[i]->tensor->numel == 0) continue;
        const char *last = last_byte(sorted[i]->tensor);
        for (int k = i + 1; k < n && first_byte(sorted[k]->tensor) <= last; k++) {
            TSR_TRY(tsr_interrupt_check());
            if (shares_memory(sorted[i]->tensor, sorted[k]->tensor)) return refuse_shared(sorted[i], sorted[k]);
        }
    }
    return TSR_OK;
}

static TsrStatus check_item(const TsrItem *item) {
    const TsrTensor *t = item->tensor;
    if (strcmp(item->name, remarks_key) == 0)
        return tsr_error(TSR_VALUE_ERROR, "safetensors keeps the name '%s' for itself", remarks_key);
    if (tsr_is_sparse(t)) return tsr_error(TSR_VALUE_ERROR, "safetensors holds dense tensors; convert with to_dense()");
    if (row_of_dtype(t->dtype) == TSR_COUNTOF(types))
        return tsr_error(TSR_VALUE_ERROR, "safetensors has no dtype for torch.%s", tsr_dtype_name(t->dtype));
    return tsr_tensor_check(t, false);
}

static TsrStatus check_items(const TsrItems *items, bool untie) {
    const TsrItem **sorted;
    if (items->single) return tsr_error(TSR_VALUE_ERROR, "safetensors holds tensors with names: save a dict of them");
    for (int i = 0; i < items->n; i++) TSR_TRY(check_item(&items->items[i]));
    if (untie) return TSR_OK;
    TSR_TRY(tsr_items_new_sorted(&sorted, items, by_address));
    TsrStatus status = check_untied(sorted, items->n);
    tsr_free(sorted);
    return status;
}

static void put_entry(TsrSink *header, const TsrItem *item, uint64_t *at) {
    char text[64];
    const TsrTensor *t = item->tensor;
    uint64_t end = *at + (uint64_t)t->numel * tsr_itemsize(t);
    tsr_json_put_string(header, item->name);
    tsr_sink_puts(header, ":{\"dtype\":");
    tsr_json_put_string(header, types[row_of_dtype(t->dtype)].code);
    tsr_sink_puts(header, ",\"shape\":[");
    for (int d = 0; d < tsr_ndim(t); d++) {
        snprintf(text, sizeof text, d > 0 ? ",%" PRId64 : "%" PRId64, t->sizes[d]);
        tsr_sink_puts(header, text);
    }
    snprintf(text, sizeof text, "],\"data_offsets\":[%" PRIu64 ",%" PRIu64 "]}", *at, end);
    tsr_sink_puts(header, text);
    *at = end;
}

static void put_remarks(TsrSink *header, const TsrItems *items) {
    tsr_json_put_string(header, remarks_key);
    for (int i = 0; i < items->nremarks; i++) {
        tsr_sink_puts(header, i > 0 ? "," : ":{");
        tsr_json_put_string(header, items->remarks[i].key);
        tsr_sink_puts(header, ":");
        tsr_json_put_string(header, items->remarks[i].value);
    }
    tsr_sink_puts(header, "}");
}

static TsrStatus put_header(TsrSink *sink, TsrSink *header, const TsrItems *items, const TsrItem **sorted) {
    uint64_t at = 0;
    tsr_sink_puts(header, "{");
    if (items->nremarks > 0) put_remarks(header, items);
    for (int i = 0; i < items->n; i++) {
        TSR_TRY(tsr_interrupt_check_at(i));
        if (i > 0 || items->nremarks > 0) tsr_sink_puts(header, ",");
        put_entry(header, sorted[i], &at);
    }
    tsr_sink_puts(header, "}");
    while (header->status == TSR_OK && header->text.length % HEADER_UNIT != 0) tsr_sink_puts(header, " ");
    TSR_TRY(header->status);
    if (header->text.length > HEADER_MOST)
        return tsr_error(TSR_VALUE_ERROR, "a header of %zu bytes is beyond the limit of safetensors, %d",
                         header->text.length, HEADER_MOST);
    tsr_sink_put_little(sink, header->text.length, LENGTH_BYTES);
    tsr_sink_write(sink, header->text.data, header->text.length);
    return sink->status;
}

TsrStatus tsr_safetensors_write(TsrSink *sink, const TsrItems *items, const TsrSaveOptions *options) {
    const TsrItem **sorted;
    TsrSink header = {.fd = -1, .name = sink->name};
    TSR_TRY(check_items(items, options->untie));
    TSR_TRY(tsr_items_new_sorted(&sorted, items, by_type_and_name));
    TsrStatus status = put_header(sink, &header, items, sorted);
    tsr_text_free(&header.text);
    for (int i = 0; i < items->n && status == TSR_OK; i++) status = tsr_write_elements(sink, sorted[i]->tensor);
    tsr_free(sorted);
    return status;
}
