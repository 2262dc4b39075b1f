/* json_write.c: tensors as JSON, nested lists of numbers, and as JSON lines, a row of the first dimension on each. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "core/io/elements.h"
#include "core/io/formats.h"
#include "json_text.h"
#include "core/io/table_write.h"
#include "core/tensor/owned.h"
#include "core/view.h"

typedef struct Writer {
    TsrSink *sink;
    const TsrTensor *t;
    const TsrSaveOptions *options;
} Writer;

/* The text of a number, of less than 48 bytes; 0: an error. */
static size_t number_text(char *text, TsrScalar s, TsrDtype dtype, const TsrSaveOptions *options) {
    const char *policy = options->json_nan != NULL ? options->json_nan : "null";
    if (s.kind != TSR_SCALAR_FLOAT || isfinite(s.f))
        return tsr_format_element(text, s, dtype, options->precision, true);
    if (strcmp(policy, "error") == 0) {
        tsr_error(TSR_VALUE_ERROR, "JSON has no number for %s", isnan(s.f) ? "nan" : "inf");
        return 0;
    }
    if (strcmp(policy, "null") == 0 && options->nulls != NULL) ++*options->nulls;
    return (size_t)snprintf(text, 48, "%s",
                            strcmp(policy, "token") != 0 ? "null"
                            : isnan(s.f)                 ? "NaN"
                            : s.f > 0                    ? "Infinity"
                                                         : "-Infinity");
}

TsrStatus tsr_json_put(TsrText *out, TsrScalar value, TsrDtype dtype, const TsrSaveOptions *options, bool quoted) {
    char text[48];
    (void)quoted; /* a number never is */
    size_t n = number_text(text, value, dtype, options);
    return n > 0 ? tsr_text_append(out, text, n) : TSR_VALUE_ERROR;
}

static TsrStatus write_number(const Writer *w, int64_t offset) {
    char text[48];
    const TsrTensor *t = w->t;
    size_t n = number_text(
        text, tsr_scalar_load(t->dtype, (const char *)t->storage->ptr.data + offset * (int64_t)tsr_itemsize(t)),
        t->dtype, w->options);
    if (n == 0) return TSR_VALUE_ERROR;
    tsr_sink_write(w->sink, text, n);
    return w->sink->status;
}

static TsrStatus write_dims(const Writer *w, int dim, int64_t offset) {
    if (dim == tsr_ndim(w->t)) return write_number(w, offset);
    tsr_sink_puts(w->sink, "[");
    for (int64_t i = 0; i < w->t->sizes[dim]; i++) {
        TSR_TRY(tsr_interrupt_check_at(i));
        if (i > 0) tsr_sink_puts(w->sink, ", ");
        TSR_TRY(write_dims(w, dim + 1, offset + i * w->t->strides[dim]));
    }
    tsr_sink_puts(w->sink, "]");
    return w->sink->status;
}

static TsrStatus write_tensor(TsrSink *sink, const TsrTensor *t, const TsrSaveOptions *options) {
    if (tsr_is_sparse(t) || tsr_is_meta(t) || !tsr_dtype_is_pod(t->dtype) || tsr_dtype_is_complex(t->dtype))
        return tsr_error(TSR_VALUE_ERROR, "JSON holds dense real numbers, not this tensor of torch.%s",
                         tsr_dtype_name(t->dtype));
    TSR_TRY(tsr_tensor_check(t, false));
    TSR_OWNED resolved = NULL;
    TSR_TRY(tsr_tensor_new_resolved(&resolved, t));
    Writer w = {sink, resolved, options};
    return write_dims(&w, 0, resolved->offset);
}

static void write_key(TsrSink *sink, const char *name) {
    tsr_json_put_string(sink, name);
    tsr_sink_puts(sink, ": ");
}

TsrStatus tsr_json_write(TsrSink *sink, const TsrItems *items, const TsrSaveOptions *options) {
    if (items->table != NULL) return tsr_table_write_json(sink, items->table, options, false);
    if (!items->single) tsr_sink_puts(sink, "{");
    for (int i = 0; i < items->n; i++) {
        if (i > 0) tsr_sink_puts(sink, ", ");
        if (!items->single) write_key(sink, items->items[i].name);
        TSR_TRY(write_tensor(sink, items->items[i].tensor, options));
    }
    tsr_sink_puts(sink, items->single ? "\n" : "}\n");
    return sink->status;
}

/* ---- a value on each line ---- */

static TsrStatus write_line(TsrSink *sink, const TsrItems *items, int64_t row, const TsrSaveOptions *options) {
    if (!items->single) tsr_sink_puts(sink, "{");
    for (int i = 0; i < items->n; i++) {
        TsrTensor *t;
        if (i > 0) tsr_sink_puts(sink, ", ");
        if (!items->single) write_key(sink, items->items[i].name);
        TSR_TRY(tsr_tensor_new_select(&t, items->items[i].tensor, 0, row));
        TsrStatus status = write_tensor(sink, t, options);
        tsr_tensor_free(t);
        TSR_TRY(status);
    }
    tsr_sink_puts(sink, items->single ? "\n" : "}\n");
    return sink->status;
}

TsrStatus tsr_jsonl_write(TsrSink *sink, const TsrItems *items, const TsrSaveOptions *options) {
    int64_t rows = 0;
    if (items->table != NULL) return tsr_table_write_json(sink, items->table, options, true);
    for (int i = 0; i < items->n; i++) {
        const TsrTensor *t = items->items[i].tensor;
        if (tsr_is_sparse(t))
            return tsr_error(TSR_VALUE_ERROR, "JSON lines hold dense tensors; convert with to_dense()");
        if (tsr_ndim(t) == 0)
            return items->single
                       ? tsr_json_write(sink, items, options)
                       : tsr_error(TSR_VALUE_ERROR, "'%s' has no dimension that could be lines", items->items[i].name);
        if (i > 0 && t->sizes[0] != rows)
            return tsr_error(TSR_VALUE_ERROR, "'%s' has %lld rows, those before it %lld", items->items[i].name,
                             (long long)t->sizes[0], (long long)rows);
        rows = t->sizes[0];
    }
    for (int64_t row = 0; row < rows; row++) {
        TSR_TRY(tsr_interrupt_check_at(row));
        TSR_TRY(write_line(sink, items, row, options));
    }
    return sink->status;
}
