/* csv_write.c: tables as text. Cells of one tensor are made into text by pieces, in as many threads as there are; named
 * columns row by row. */
#include <stdio.h>
#include <string.h>

#include "csv_fields.h"
#include "core/io/elements.h"
#include "core/io/formats.h"
#include "core/io/table_write.h"
#include "core/io/cells/texts.h"
#include "core/layout.h"
#include "core/mem.h"
#include "core/parallel.h"
#include "core/table.h"
#include "core/tensor/owned.h"
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

/* ---- names ---- */

/* As they stood where the texts say them. */
static TsrStatus write_header(TsrSink *sink, const char *const *names, char delimiter, const TsrTexts *texts,
                              const char *line_end) {
    for (int64_t i = 0; i < texts->n; i++) {
        const char *text;
        size_t length;
        TSR_TRY(tsr_interrupt_check_at(i));
        if (i > 0) tsr_sink_write(sink, &delimiter, 1);
        if (tsr_texts_name(&text, &length, texts, i, names[i])) tsr_sink_write(sink, text, length);
        else write_name(sink, names[i], delimiter, texts->n == 1);
    }
    tsr_sink_puts(sink, line_end);
    return sink->status;
}

static TsrStatus check_header(const TsrSaveOptions *options, int64_t columns) {
    if (options->header == NULL || options->no_header || options->header_count == columns) return TSR_OK;
    return tsr_error(TSR_VALUE_ERROR, "the header has %lld name%s, the table %lld column%s",
                     (long long)options->header_count, options->header_count == 1 ? "" : "s", (long long)columns,
                     columns == 1 ? "" : "s");
}

/* Finds the texts, whose origins are known, and begins the file as theirs began; *line_end is how its lines end. */
static TsrStatus begin_file(TsrSink *sink, TsrTexts *texts, const char **line_end) {
    TSR_TRY(tsr_texts_begin(texts));
    const TsrSource *manners = tsr_texts_manners(texts);
    *line_end = manners != NULL && manners->returns ? "\r\n" : "\n";
    if (manners != NULL && manners->marked) tsr_sink_puts(sink, "\xef\xbb\xbf");
    return sink->status;
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
static size_t format_cell(char *text, TsrScalar value, TsrDtype dtype, int precision, const Word *na) {
    size_t n = tsr_format_element(text, value, dtype, precision, false);
    if (n != 3 || memcmp(text, "nan", 3) != 0) return n;
    memcpy(text, na->text, na->length);
    return na->length;
}

TsrStatus tsr_csv_put(TsrText *out, TsrScalar value, TsrDtype dtype, const TsrSaveOptions *options, bool quoted) {
    char text[CELL];
    Word na;
    TSR_TRY(word_for_nan(&na, options, 1, options->delimiter != 0 ? options->delimiter : ','));
    size_t n = format_cell(text, value, dtype, options->precision, &na);
    bool twice = quoted && n >= 2 && text[0] == '"';
    return tsr_text_append(out, text + twice, n - 2 * twice);
}

static bool is_nothing(TsrScalar s) { return s.kind == TSR_SCALAR_FLOAT && s.f != s.f; }

/* The text of a cell of a column of numbers: as it stood, which may be longer than CELL, or of `room`. */
static const char *text_of_cell(size_t *n, char room[CELL], TsrTexts *texts, int64_t j, int64_t i, TsrScalar value,
                                TsrDtype dtype, const Word *na) {
    const char *text;
    TsrCellValue v = {.kind = TSR_COLUMN_NUMBERS, .dtype = dtype, .value = value, .nothing = is_nothing(value)};
    if (tsr_texts_get(&text, n, texts, j, i, &v)) return text;
    *n = format_cell(room, value, dtype, texts->options->precision, na);
    return room;
}

typedef struct Writing {
    const TsrTensor *t;     /* contiguous */
    int64_t columns, first; /* the cell that the first piece begins with */
    char delimiter;
    const char *line_end;
    TsrTexts texts; /* of which each piece has its own cursors */
    Word na;
    TsrText text[PIECES];
} Writing;

/* Whether all cells of a row are nan: tabs alone would be a blank line, which readers pass over. */
static bool is_blank_row(const Writing *w, int64_t row) {
    const char *data = (const char *)tsr_data(w->t) + row * w->columns * (int64_t)tsr_itemsize(w->t);
    int64_t j = 0;
    while (j < w->columns && is_nothing(tsr_scalar_load(w->t->dtype, data + j * (int64_t)tsr_itemsize(w->t)))) j++;
    return j == w->columns;
}

static TsrStatus write_piece(Writing *w, TsrText *text, int64_t cell, int64_t stop) {
    const char *data = tsr_data(w->t);
    int64_t item = (int64_t)tsr_itemsize(w->t), row = cell / w->columns, column = cell % w->columns;
    char room[CELL];
    TsrTexts texts;
    TsrStatus status = tsr_texts_new_alike(&texts, &w->texts);
    text->length = 0;
    for (; cell < stop && status == TSR_OK; cell++) {
        size_t n;
        TsrScalar value = tsr_scalar_load(w->t->dtype, data + cell * item);
        const char *shown = text_of_cell(&n, room, &texts, column, row, value, w->t->dtype, &w->na);
        if (n == 0 && column == 0 && w->delimiter == '\t' && is_blank_row(w, row)) shown = "\"\"", n = 2;
        bool last = ++column == w->columns;
        status = tsr_text_append(text, shown, n);
        if (status == TSR_OK) status = last ? tsr_text_puts(text, w->line_end) : tsr_text_putc(text, w->delimiter);
        row += last;
        if (last) column = 0;
    }
    tsr_texts_free(&texts);
    return status;
}

static void write_pieces(int64_t begin, int64_t end, void *user) {
    Writing *w = user;
    for (int64_t piece = begin; piece < end; piece++) {
        int64_t cell = w->first + piece * PIECE;
        TsrStatus status = write_piece(w, &w->text[piece], cell, TSR_MIN(cell + PIECE, w->t->numel));
        if (status != TSR_OK) return tsr_parallel_fail(status);
    }
}

static TsrStatus write_all_pieces(TsrSink *sink, Writing *w) {
    TsrStatus status = TSR_OK;
    for (; w->first < w->t->numel && status == TSR_OK; w->first += PIECES * PIECE) {
        int64_t pieces = TSR_MIN((w->t->numel - w->first + PIECE - 1) / PIECE, PIECES);
        status = tsr_parallel_for(pieces, 1, write_pieces, w);
        for (int64_t k = 0; k < pieces && status == TSR_OK; k++) {
            tsr_sink_write(sink, w->text[k].data, w->text[k].length);
            status = sink->status;
        }
    }
    for (int k = 0; k < PIECES; k++) tsr_text_free(&w->text[k]);
    return status;
}

/* `t` contiguous, of the elements of `from`. */
static TsrStatus write_table(TsrSink *sink, const TsrTensor *t, const TsrTensor *from, char delimiter,
                             const TsrSaveOptions *options) {
    Writing w = {.t = t, .columns = tsr_ndim(t) == 2 ? t->sizes[1] : 1, .delimiter = delimiter};
    TSR_TRY(check_header(options, w.columns));
    TSR_TRY(word_for_nan(&w.na, options, w.columns, delimiter));
    TsrStatus status = tsr_texts_new(&w.texts, w.columns, delimiter, options);
    for (int64_t j = 0; j < w.columns && status == TSR_OK; j++) w.texts.of[j] = tsr_column_origin(from, j);
    if (status == TSR_OK) status = begin_file(sink, &w.texts, &w.line_end);
    if (status == TSR_OK && options->header != NULL && !options->no_header)
        status = write_header(sink, options->header, delimiter, &w.texts, w.line_end);
    if (status == TSR_OK) status = write_all_pieces(sink, &w);
    tsr_texts_free(&w.texts);
    return status;
}

/* ---- a table whose columns have names: tensors of one dimension, or single numbers ---- */

typedef struct NamedColumns {
    TsrTensor **columns; /* contiguous */
    int n;
    int64_t rows;
    TsrTexts texts;
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
    c->texts.of[c->n++] = tsr_column_origin(t, 0);
    return TSR_OK;
}

static TsrStatus write_named_rows(TsrSink *sink, NamedColumns *c, char delimiter, const char *line_end,
                                  const TsrSaveOptions *options) {
    char room[CELL];
    Word na;
    TSR_TRY(word_for_nan(&na, options, c->n, delimiter));
    for (int64_t row = 0; row < c->rows; row++) {
        TSR_TRY(tsr_interrupt_check_at(row));
        for (int i = 0; i < c->n; i++) {
            size_t n;
            const TsrTensor *t = c->columns[i];
            const char *cell = (const char *)tsr_data(t) + row * (int64_t)tsr_itemsize(t);
            TsrScalar value = tsr_scalar_load(t->dtype, cell);
            const char *text = text_of_cell(&n, room, &c->texts, i, row, value, t->dtype, &na);
            if (n == 0 && delimiter == '\t') text = na.text, n = na.length; /* tabs alone would be a blank line */
            if (i > 0) tsr_sink_write(sink, &delimiter, 1);
            tsr_sink_write(sink, text, n);
        }
        tsr_sink_puts(sink, line_end);
    }
    return sink->status;
}

static TsrStatus write_keys(TsrSink *sink, const TsrItems *items, const TsrTexts *texts, char delimiter,
                            const char *line_end) {
    const char **names = tsr_malloc((size_t)items->n * sizeof *names);
    if (names == NULL) return tsr_error_no_memory((size_t)items->n * sizeof *names);
    for (int i = 0; i < items->n; i++) names[i] = items->items[i].name;
    TsrStatus status = write_header(sink, names, delimiter, texts, line_end);
    tsr_free(names);
    return status;
}

static TsrStatus write_named_columns(TsrSink *sink, NamedColumns *c, const TsrItems *items,
                                     const TsrSaveOptions *options, char delimiter) {
    const char *line_end;
    for (int i = 0; i < items->n; i++) TSR_TRY(add_named_column(c, &items->items[i]));
    TSR_TRY(check_header(options, items->n));
    TSR_TRY(begin_file(sink, &c->texts, &line_end));
    if (!options->no_header)
        TSR_TRY(options->header != NULL ? write_header(sink, options->header, delimiter, &c->texts, line_end)
                                        : write_keys(sink, items, &c->texts, delimiter, line_end));
    return write_named_rows(sink, c, delimiter, line_end, options);
}

static TsrStatus write_named(TsrSink *sink, const TsrItems *items, const TsrSaveOptions *options, char delimiter) {
    NamedColumns c = {.columns = tsr_calloc((size_t)items->n, sizeof *c.columns)};
    TsrStatus status = c.columns != NULL ? TSR_OK : tsr_error_no_memory((size_t)items->n * sizeof *c.columns);
    if (status == TSR_OK) status = tsr_texts_new(&c.texts, items->n, delimiter, options);
    if (status == TSR_OK) status = write_named_columns(sink, &c, items, options, delimiter);
    for (int i = 0; i < c.n; i++) tsr_tensor_free(c.columns[i]);
    tsr_texts_free(&c.texts);
    tsr_free(c.columns);
    return status;
}

static TsrStatus write_delimited(TsrSink *sink, const TsrItems *items, const TsrSaveOptions *options, char delimiter) {
    TsrTensor *t;
    TSR_OWNED dense = NULL;
    if (options->delimiter != 0) delimiter = options->delimiter;
    if (items->table != NULL) return tsr_table_write_fields(sink, items->table, options, delimiter);
    if (!items->single && items->n > 0) return write_named(sink, items, options, delimiter);
    TSR_TRY(tsr_items_only(&t, items, "csv"));
    if (tsr_ndim(t) > 2)
        return tsr_error(TSR_VALUE_ERROR, "a table has at most 2 dimensions, this tensor has %d", tsr_ndim(t));
    TSR_TRY(check_cells(t));
    TSR_TRY(tsr_tensor_new_contiguous(&dense, t, TSR_CONTIGUOUS));
    return write_table(sink, dense, t, delimiter, options);
}

TsrStatus tsr_csv_write(TsrSink *sink, const TsrItems *items, const TsrSaveOptions *options) {
    return write_delimited(sink, items, options, ',');
}
TsrStatus tsr_tsv_write(TsrSink *sink, const TsrItems *items, const TsrSaveOptions *options) {
    return write_delimited(sink, items, options, '\t');
}
