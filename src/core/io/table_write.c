/* table_write.c: tables of named columns as text: fields between delimiters, objects of JSON, rows of Markdown. A row
 * is made of the text of each of its cells; what differs between the formats is what stands around these. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "csv_fields.h"
#include "elements.h"
#include "formats.h"
#include "json_text.h"
#include "table_write.h"
#include "core/mem.h"

enum { CELL = TSR_TIME_ROOM };

/* A cell as it is written: a number or a time in `text`, a word where it stands, or nothing. */
typedef struct Cell {
    char text[CELL];
    const char *word;
    size_t n, shortest;                      /* shortest: of a number, without the zeros that its column asks for */
    bool is_text, masked, nothing, infinite; /* nothing: masked or nan */
} Cell;

static void put_number(Cell *cell, TsrScalar s, const TsrTableColumn *c, const TsrSaveOptions *options) {
    cell->n = cell->shortest = tsr_format_element(cell->text, s, c->data->dtype, options->precision, false);
    if (c->decimals > 0 && options->precision == 0) cell->n = tsr_pad_decimals(cell->text, cell->n, c->decimals);
}

static TsrStatus get_cell(Cell *cell, const TsrTableColumn *c, int64_t row, const TsrSaveOptions *options) {
    const char *at = (const char *)tsr_data(c->data) + row * (int64_t)tsr_itemsize(c->data);
    TsrScalar s = tsr_scalar_load(c->data->dtype, at);
    cell->is_text = c->kind != TSR_COLUMN_NUMBERS;
    cell->word = cell->text;
    cell->masked = c->missing != NULL && ((const bool *)tsr_data(c->missing))[row];
    cell->nothing = cell->masked || (s.kind == TSR_SCALAR_FLOAT && isnan(s.f));
    cell->infinite = s.kind == TSR_SCALAR_FLOAT && isinf(s.f);
    if (cell->nothing) cell->n = 0;
    else if (c->kind == TSR_COLUMN_NUMBERS) put_number(cell, s, c, options);
    else if (c->kind == TSR_COLUMN_TIMES) cell->n = tsr_time_format(cell->text, s.i, c->unit, &c->style);
    else if (s.i < 0 || s.i >= c->words->n)
        return tsr_error(TSR_VALUE_ERROR, "column '%.100s', row %lld: there is no word %lld", c->name, (long long)row,
                         (long long)s.i);
    else {
        cell->word = c->words->bytes + c->words->begin[s.i];
        cell->n = c->words->begin[s.i + 1] - c->words->begin[s.i];
    }
    return TSR_OK;
}

TsrStatus tsr_table_same_cell(bool *same, const TsrTableColumn *a, const TsrTableColumn *b, int64_t row) {
    static const TsrSaveOptions plain = {.size = sizeof(TsrSaveOptions)};
    Cell x, y;
    TSR_TRY(get_cell(&x, a, row, &plain));
    TSR_TRY(get_cell(&y, b, row, &plain));
    if (!x.is_text) x.n = x.shortest;
    if (!y.is_text) y.n = y.shortest;
    *same = x.nothing == y.nothing && (x.nothing || x.is_text == y.is_text) &&
            (x.nothing || (x.n == y.n && memcmp(x.word, y.word, x.n) == 0));
    return TSR_OK;
}

static const char *name_of(const TsrTable *t, int i, const TsrSaveOptions *options) {
    return options->header != NULL ? options->header[i] : t->columns[i].name;
}

static TsrStatus check_header(const TsrTable *t, const TsrSaveOptions *options) {
    if (options->header == NULL || options->header_count == t->n) return TSR_OK;
    return tsr_error(TSR_VALUE_ERROR, "the header has %lld name%s, the table %d column%s",
                     (long long)options->header_count, options->header_count == 1 ? "" : "s", t->n,
                     t->n == 1 ? "" : "s");
}

typedef TsrStatus RowWriter(TsrSink *sink, const TsrTable *t, int64_t row, const TsrSaveOptions *options, void *own);

static TsrStatus write_rows(TsrSink *sink, const TsrTable *t, const TsrSaveOptions *options, RowWriter *write,
                            void *own) {
    for (int64_t row = 0; row < t->rows; row++) {
        if ((row & 1023) == 0) TSR_TRY(tsr_interrupt_check());
        TSR_TRY(write(sink, t, row, options, own));
    }
    return sink->status;
}

/* ---- fields between delimiters ---- */

static void put_doubled(TsrSink *sink, const char *text, size_t n) {
    for (size_t i = 0; i < n; i++) tsr_sink_write(sink, text[i] == '"' ? "\"\"" : text + i, text[i] == '"' ? 2 : 1);
}

/* In quotes where it would be read otherwise. */
static void put_field(TsrSink *sink, const char *text, size_t n, char delimiter, bool alone) {
    bool plain = n > 0 || (!alone && delimiter != ' ');
    for (size_t i = 0; i < n && plain; i++) {
        char c = text[i];
        plain =
            c != delimiter && c != '"' && c != '\r' && c != '\n' && !(alone && (c == ' ' || strchr(csv_candidates, c)));
    }
    if (n > 0) plain &= !is_blank(text[0]) && !is_blank(text[n - 1]);
    if (plain) return tsr_sink_write(sink, text, n);
    tsr_sink_puts(sink, "\"");
    put_doubled(sink, text, n);
    tsr_sink_puts(sink, "\"");
}

/* Whether nothing stands in the row: tabs alone would be a blank line, which readers pass over. */
static TsrStatus is_blank_row(bool *blank, const TsrTable *t, int64_t row, const TsrSaveOptions *options) {
    Cell cell = {.n = 0};
    for (int i = 0; i < t->n && cell.n == 0; i++) TSR_TRY(get_cell(&cell, &t->columns[i], row, options));
    *blank = cell.n == 0;
    return TSR_OK;
}

TsrStatus tsr_table_put_field(TsrSink *sink, const TsrTable *t, int column, int64_t row, const TsrSaveOptions *options,
                              bool quoted) {
    const char *na = options->na != NULL ? options->na : "";
    Cell cell;
    TSR_TRY(get_cell(&cell, &t->columns[column], row, options));
    const char *text = cell.nothing ? na : cell.word;
    size_t n = cell.nothing ? strlen(na) : cell.n;
    if (quoted) put_doubled(sink, text, n);
    else put_field(sink, text, n, options->delimiter, t->n == 1);
    return sink->status;
}

static TsrStatus write_fields(TsrSink *sink, const TsrTable *t, int64_t row, const TsrSaveOptions *options, void *own) {
    const char delimiter = *(const char *)own, *na = options->na != NULL ? options->na : "";
    Cell cell;
    bool blank = false;
    if (delimiter == '\t' && na[0] == '\0') TSR_TRY(is_blank_row(&blank, t, row, options));
    for (int i = 0; i < t->n; i++) {
        TSR_TRY(get_cell(&cell, &t->columns[i], row, options));
        if (i == 0 && blank) tsr_sink_puts(sink, "\"\"");
        else if (cell.nothing) put_field(sink, na, strlen(na), delimiter, t->n == 1);
        else if (cell.is_text) put_field(sink, cell.word, cell.n, delimiter, t->n == 1);
        else tsr_sink_write(sink, cell.text, cell.n);
        tsr_sink_write(sink, i + 1 < t->n ? &delimiter : "\n", 1);
    }
    return sink->status;
}

TsrStatus tsr_table_write_fields(TsrSink *sink, const TsrTable *t, const TsrSaveOptions *options, char delimiter) {
    TSR_TRY(check_header(t, options));
    for (int i = 0; i < t->n && !options->no_header; i++) {
        const char *name = name_of(t, i, options);
        put_field(sink, name, strlen(name), delimiter, t->n == 1);
        tsr_sink_write(sink, i + 1 < t->n ? &delimiter : "\n", 1);
    }
    return write_rows(sink, t, options, write_fields, &delimiter);
}

/* ---- JSON ---- */

/* A whole number has no point, as in the table that it may have come from; what is infinite goes by --json-nan. */
static TsrStatus put_json_cell(TsrSink *sink, const TsrTableColumn *c, int64_t row, const TsrSaveOptions *options) {
    Cell cell;
    TSR_TRY(get_cell(&cell, c, row, options));
    bool lenient = options->json_nan == NULL || strcmp(options->json_nan, "null") == 0;
    if (cell.masked || (cell.nothing && lenient)) tsr_sink_puts(sink, "null");
    else if (cell.nothing || cell.infinite) {
        TsrText text = {0};
        TsrScalar s = tsr_scalar_float(cell.nothing ? NAN : cell.text[0] == '-' ? -INFINITY : INFINITY);
        TsrStatus status = tsr_json_put(&text, s, TSR_FLOAT64, options, false);
        if (status == TSR_OK) tsr_sink_write(sink, text.data, text.length);
        tsr_text_free(&text);
        TSR_TRY(status);
    } else if (cell.is_text) tsr_json_put_text(sink, cell.word, cell.n);
    else tsr_sink_write(sink, cell.text, cell.shortest);
    return sink->status;
}

TsrStatus tsr_table_put_json(TsrSink *sink, const TsrTable *t, int column, int64_t row, const TsrSaveOptions *options,
                             bool quoted) {
    (void)quoted; /* the quotes of a text are part of its place */
    return put_json_cell(sink, &t->columns[column], row, options);
}

static TsrStatus put_object(TsrSink *sink, const TsrTable *t, int64_t row, const TsrSaveOptions *options) {
    tsr_sink_puts(sink, "{");
    for (int i = 0; i < t->n; i++) {
        const char *name = t->columns[i].name;
        if (i > 0) tsr_sink_puts(sink, ", ");
        tsr_json_put_text(sink, name, strlen(name));
        tsr_sink_puts(sink, ": ");
        TSR_TRY(put_json_cell(sink, &t->columns[i], row, options));
    }
    tsr_sink_puts(sink, "}");
    return sink->status;
}

static TsrStatus write_line(TsrSink *sink, const TsrTable *t, int64_t row, const TsrSaveOptions *options, void *own) {
    (void)own;
    TSR_TRY(put_object(sink, t, row, options));
    tsr_sink_puts(sink, "\n");
    return sink->status;
}

static TsrStatus write_element(TsrSink *sink, const TsrTable *t, int64_t row, const TsrSaveOptions *options,
                               void *own) {
    (void)own;
    tsr_sink_puts(sink, row > 0 ? ",\n " : "");
    return put_object(sink, t, row, options);
}

TsrStatus tsr_table_write_json(TsrSink *sink, const TsrTable *t, const TsrSaveOptions *options, bool lines) {
    if (lines) return write_rows(sink, t, options, write_line, NULL);
    tsr_sink_puts(sink, "[");
    TSR_TRY(write_rows(sink, t, options, write_element, NULL));
    tsr_sink_puts(sink, "]\n");
    return sink->status;
}

/* ---- Markdown ---- */

/* The text between two bars, in as many columns as the widest has, so far as that can be told without fonts. */
static void put_markdown(TsrSink *sink, const char *text, size_t n) {
    tsr_sink_puts(sink, " ");
    for (size_t i = 0; i < n; i++) {
        if (text[i] == '|') tsr_sink_puts(sink, "\\|");
        else if (text[i] == '\n') tsr_sink_puts(sink, "<br>");
        else if (text[i] != '\r') tsr_sink_write(sink, text + i, 1);
    }
    tsr_sink_puts(sink, " |");
}

static TsrStatus write_bars(TsrSink *sink, const TsrTable *t, int64_t row, const TsrSaveOptions *options, void *own) {
    const char *na = options->na != NULL ? options->na : "";
    Cell cell;
    (void)own;
    tsr_sink_puts(sink, "|");
    for (int i = 0; i < t->n; i++) {
        TSR_TRY(get_cell(&cell, &t->columns[i], row, options));
        put_markdown(sink, cell.nothing ? na : cell.word, cell.nothing ? strlen(na) : cell.n);
    }
    tsr_sink_puts(sink, "\n");
    return sink->status;
}

TsrStatus tsr_markdown_write(TsrSink *sink, const TsrItems *items, const TsrSaveOptions *options) {
    const TsrTable *t = items->table;
    if (t == NULL) return tsr_error(TSR_VALUE_ERROR, "markdown is written of a table");
    TSR_TRY(check_header(t, options));
    tsr_sink_puts(sink, "|");
    for (int i = 0; i < t->n; i++)
        put_markdown(sink, name_of(t, i, options), options->no_header ? 0 : strlen(name_of(t, i, options)));
    tsr_sink_puts(sink, "\n|");
    for (int i = 0; i < t->n; i++) tsr_sink_puts(sink, t->columns[i].kind == TSR_COLUMN_NUMBERS ? " ---: |" : " --- |");
    tsr_sink_puts(sink, "\n");
    return write_rows(sink, t, options, write_bars, NULL);
}

TsrStatus tsr_markdown_read(TsrItems *out, TsrInput *in, const TsrLoadOptions *options) {
    (void)out, (void)options;
    return tsr_input_error(in, "markdown is written only, not read");
}
