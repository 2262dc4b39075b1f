/* csv_write.c: tables as text. Cells of one tensor are made into text by pieces, in as many threads as there are; named
 * columns row by row. */
#include <stdio.h>
#include <string.h>

#include "csv_fields.h"
#include "elements.h"
#include "formats.h"
#include "table_write.h"
#include "core/layout.h"
#include "core/mem.h"
#include "core/parallel.h"
#include "core/table.h"
#include "core/view.h"

/* In quotes where it would be read otherwise. */
static void write_name(TsrSink *sink, const char *name, char delimiter, bool alone) {
    size_t n = strlen(name);
    bool plain = strchr(name, delimiter) == NULL && name[strcspn(name, "\"\r\n")] == '\0';
    for (const char *c = csv_candidates; *c != '\0' && (alone || *c != delimiter); c++)
        plain &= strchr(name, *c) == NULL; /* it would be taken for the delimiter */
    if (alone) plain &= strchr(name, ' ') == NULL;
    if (n == 0) plain = !alone && delimiter != ' ';
    else plain &= !is_blank(name[0]) && !is_blank(name[n - 1]);
    if (!plain) tsr_sink_puts(sink, "\"");
    for (const char *p = name; *p != '\0'; p++) tsr_sink_write(sink, *p == '"' ? "\"\"" : p, *p == '"' ? 2 : 1);
    if (!plain) tsr_sink_puts(sink, "\"");
}

/* Cells are made into text by pieces, several of them at a time in as many threads as there are, and written in order.
 */
enum { CELL = 48, PIECE = 2048 /* cells */, PIECES = 16 };

/* How nan is written, in quotes where it needs them. */
typedef struct Word {
    char text[CELL];
    size_t length;
} Word;

static TsrStatus word_for_nan(Word *word, const TsrSaveOptions *options, int64_t columns, char delimiter) {
    TsrSink sink = {.fd = -1};
    write_name(&sink, options->na != NULL ? options->na : "nan", delimiter, columns == 1);
    TsrStatus status = sink.status;
    if (status == TSR_OK && sink.text.length >= CELL)
        status = tsr_error(TSR_VALUE_ERROR, "what nan is written as has at most %d bytes", CELL - 3);
    word->length = status == TSR_OK ? sink.text.length : 0;
    memcpy(word->text, sink.text.data != NULL ? sink.text.data : "", word->length);
    tsr_text_free(&sink.text);
    return status;
}

/* The cell's text, of less than CELL bytes. */
static size_t format_cell(char *text, TsrScalar value, TsrDtype dtype, int precision, int decimals, const Word *na) {
    size_t n = tsr_format_element(text, value, dtype, precision, false);
    if (n != 3 || memcmp(text, "nan", 3) != 0)
        return decimals > 0 && precision == 0 ? tsr_pad_decimals(text, n, decimals) : n;
    memcpy(text, na->text, na->length);
    return na->length;
}

TsrStatus tsr_csv_put(TsrText *out, TsrScalar value, TsrDtype dtype, const TsrSaveOptions *options, bool quoted) {
    char text[CELL];
    Word na;
    TSR_TRY(word_for_nan(&na, options, 1, options->delimiter != 0 ? options->delimiter : ','));
    size_t n = format_cell(text, value, dtype, options->precision, 0, &na);
    bool twice = quoted && n >= 2 && text[0] == '"';
    return tsr_text_append(out, text + twice, n - 2 * twice);
}

typedef struct Writing {
    const TsrTensor *t;     /* contiguous */
    int8_t *decimals;       /* of each column */
    int64_t columns, first; /* the cell that the first piece begins with */
    char delimiter;
    int precision;
    Word na;
    char *text; /* CELL bytes for each cell of all pieces */
    size_t length[PIECES];
} Writing;

static void write_pieces(int64_t begin, int64_t end, void *user) {
    Writing *w = user;
    const char *data = tsr_data(w->t);
    int64_t item = (int64_t)tsr_itemsize(w->t);
    for (int64_t piece = begin; piece < end; piece++) {
        char *text = w->text + piece * PIECE * CELL, *p = text;
        int64_t cell = w->first + piece * PIECE, stop = TSR_MIN(cell + PIECE, w->t->numel), column = cell % w->columns;
        for (; cell < stop; cell++) {
            int decimals = w->decimals[column];
            bool last = ++column == w->columns;
            p += format_cell(p, tsr_scalar_load(w->t->dtype, data + cell * item), w->t->dtype, w->precision, decimals,
                             &w->na);
            *p++ = last ? '\n' : w->delimiter;
            if (last) column = 0;
        }
        w->length[piece] = (size_t)(p - text);
    }
}

/* `t` contiguous, of the elements of `from`. */
static TsrStatus write_table(TsrSink *sink, const TsrTensor *t, const TsrTensor *from, char delimiter,
                             const TsrSaveOptions *options) {
    Writing w = {
        .t = t, .columns = tsr_ndim(t) == 2 ? t->sizes[1] : 1, .delimiter = delimiter, .precision = options->precision};
    TsrStatus status = word_for_nan(&w.na, options, w.columns, delimiter);
    size_t room = (size_t)TSR_MIN(t->numel, PIECES * PIECE) * CELL;
    if (status != TSR_OK || t->numel == 0) return status;
    w.text = tsr_malloc(room + (size_t)w.columns);
    if (w.text == NULL) return tsr_error_no_memory(room);
    w.decimals = (int8_t *)w.text + room;
    for (int64_t j = 0; j < w.columns; j++) w.decimals[j] = (int8_t)tsr_column_decimals(from, j);
    for (; w.first < t->numel && status == TSR_OK; w.first += PIECES * PIECE) {
        int64_t pieces = TSR_MIN((t->numel - w.first + PIECE - 1) / PIECE, PIECES);
        status = tsr_parallel_for(pieces, 1, write_pieces, &w);
        for (int64_t k = 0; k < pieces && status == TSR_OK; k++) {
            tsr_sink_write(sink, w.text + k * PIECE * CELL, w.length[k]);
            status = sink->status;
        }
    }
    tsr_free(w.text);
    return status;
}

/* ---- names ---- */

static TsrStatus write_header(TsrSink *sink, const char *const *names, int64_t n, char delimiter) {
    for (int64_t i = 0; i < n; i++) {
        if ((i & 1023) == 0) TSR_TRY(tsr_interrupt_check());
        write_name(sink, names[i], delimiter, n == 1);
        tsr_sink_write(sink, i + 1 < n ? &delimiter : "\n", 1);
    }
    return sink->status;
}

/* The names that the options give for `columns` columns, if they do. */
static TsrStatus write_given_header(TsrSink *sink, const TsrSaveOptions *options, int64_t columns, char delimiter) {
    if (options->header == NULL || options->no_header) return TSR_OK;
    if (options->header_count != columns)
        return tsr_error(TSR_VALUE_ERROR, "the header has %lld name%s, the table %lld column%s",
                         (long long)options->header_count, options->header_count == 1 ? "" : "s", (long long)columns,
                         columns == 1 ? "" : "s");
    return write_header(sink, options->header, columns, delimiter);
}

/* ---- a table whose columns have names: tensors of one dimension, or single numbers ---- */

typedef struct NamedColumns {
    TsrTensor **columns; /* contiguous */
    int8_t *decimals;    /* of each */
    int n;
    int64_t rows;
} NamedColumns;

static TsrStatus check_cells(const TsrTensor *t) {
    if (tsr_is_sparse(t)) return tsr_error(TSR_VALUE_ERROR, "csv holds dense tensors; convert with to_dense()");
    if (tsr_dtype_is_pod(t->dtype) && !tsr_dtype_is_complex(t->dtype)) return tsr_tensor_check(t, false);
    return tsr_error(TSR_VALUE_ERROR, "a table holds real numbers, not torch.%s", tsr_dtype_name(t->dtype));
}

static TsrStatus add_named_column(NamedColumns *c, const TsrItem *item) {
    const TsrTensor *t = item->tensor;
    TSR_TRY(check_cells(t));
    if (tsr_ndim(t) > 1)
        return tsr_error(TSR_VALUE_ERROR, "a column with a name has 1 dimension, '%.100s' has %d", item->name,
                         tsr_ndim(t));
    if (c->n > 0 && t->numel != c->rows)
        return tsr_error(TSR_VALUE_ERROR, "'%.100s' has %lld rows, those before it %lld", item->name,
                         (long long)t->numel, (long long)c->rows);
    c->rows = t->numel;
    TSR_TRY(tsr_tensor_new_contiguous(&c->columns[c->n], t, TSR_CONTIGUOUS));
    c->decimals[c->n++] = (int8_t)tsr_column_decimals(t, 0);
    return TSR_OK;
}

static TsrStatus write_named_rows(TsrSink *sink, const NamedColumns *c, char delimiter, const TsrSaveOptions *options) {
    char text[CELL];
    Word na;
    TSR_TRY(word_for_nan(&na, options, c->n, delimiter));
    for (int64_t row = 0; row < c->rows; row++) {
        if ((row & 1023) == 0) TSR_TRY(tsr_interrupt_check());
        for (int i = 0; i < c->n; i++) {
            const TsrTensor *t = c->columns[i];
            const char *cell = (const char *)tsr_data(t) + row * (int64_t)tsr_itemsize(t);
            TsrScalar value = tsr_scalar_load(t->dtype, cell);
            size_t length = format_cell(text, value, t->dtype, options->precision, c->decimals[i], &na);
            text[length] = i + 1 < c->n ? delimiter : '\n';
            tsr_sink_write(sink, text, length + 1);
        }
    }
    return sink->status;
}

static TsrStatus write_keys(TsrSink *sink, const TsrItems *items, const TsrSaveOptions *options, char delimiter) {
    if (options->no_header) return TSR_OK;
    const char **names = tsr_malloc((size_t)items->n * sizeof *names);
    if (names == NULL) return tsr_error_no_memory((size_t)items->n * sizeof *names);
    for (int i = 0; i < items->n; i++) names[i] = items->items[i].name;
    TsrStatus status = write_header(sink, names, items->n, delimiter);
    tsr_free(names);
    return status;
}

static TsrStatus write_named(TsrSink *sink, const TsrItems *items, const TsrSaveOptions *options, char delimiter) {
    NamedColumns c = {.columns = tsr_calloc((size_t)items->n, sizeof *c.columns + 1)};
    TsrStatus status = c.columns != NULL ? TSR_OK : tsr_error_no_memory((size_t)items->n * sizeof *c.columns);
    c.decimals = (int8_t *)(c.columns + items->n);
    for (int i = 0; i < items->n && status == TSR_OK; i++) status = add_named_column(&c, &items->items[i]);
    if (status == TSR_OK)
        status = options->header != NULL ? write_given_header(sink, options, items->n, delimiter)
                                         : write_keys(sink, items, options, delimiter);
    if (status == TSR_OK) status = write_named_rows(sink, &c, delimiter, options);
    for (int i = 0; i < c.n; i++) tsr_tensor_free(c.columns[i]);
    tsr_free(c.columns);
    return status;
}

static TsrStatus write_delimited(TsrSink *sink, const TsrItems *items, const TsrSaveOptions *options, char delimiter) {
    TsrTensor *t, *dense;
    if (options->delimiter != 0) delimiter = options->delimiter;
    if (items->table != NULL) return tsr_table_write_fields(sink, items->table, options, delimiter);
    if (!items->single && items->n > 0) return write_named(sink, items, options, delimiter);
    TSR_TRY(tsr_items_only(&t, items, "csv"));
    if (tsr_ndim(t) > 2)
        return tsr_error(TSR_VALUE_ERROR, "a table has at most 2 dimensions, this tensor has %d", tsr_ndim(t));
    TSR_TRY(check_cells(t));
    TSR_TRY(write_given_header(sink, options, tsr_ndim(t) == 2 ? t->sizes[1] : 1, delimiter));
    TSR_TRY(tsr_tensor_new_contiguous(&dense, t, TSR_CONTIGUOUS));
    TsrStatus status = write_table(sink, dense, t, delimiter, options);
    tsr_tensor_free(dense);
    return status;
}

TsrStatus tsr_csv_write(TsrSink *sink, const TsrItems *items, const TsrSaveOptions *options) {
    return write_delimited(sink, items, options, ',');
}
TsrStatus tsr_tsv_write(TsrSink *sink, const TsrItems *items, const TsrSaveOptions *options) {
    return write_delimited(sink, items, options, '\t');
}
