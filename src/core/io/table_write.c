/* table_write.c: tables of named columns as text: fields between delimiters, objects of JSON, rows of Markdown. A row
 * is made of the text of each of its cells; what differs between the formats is what stands around these. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "core/io/csv/csv_fields.h"
#include "elements.h"
#include "formats.h"
#include "core/io/json/json_text.h"
#include "table_write.h"
#include "core/io/cells/texts.h"
#include "core/mem.h"
#include "core/parallel.h"

enum { CELL = TSR_TIME_ROOM };

/* A cell as it is written: a number or a time in `text`, a word where it stands, or nothing; `word` is the text, and
 * where `as_it_stood` all that stands between the delimiters. */
typedef struct Cell {
    char text[CELL];
    const char *word;
    size_t n;
    bool is_text, masked, nothing, infinite; /* nothing: masked or nan */
    bool as_it_stood;
} Cell;

/* A table while it is written. `values`: of the row at hand, for objects of JSON. */
typedef struct Writing {
    const TsrTable *t;
    const TsrSaveOptions *options;
    TsrTexts texts;
    TsrCellValue *values;
    char delimiter;
    const char *colon, *comma, *line_end;
} Writing;

static TsrStatus get_value(TsrCellValue *v, const TsrTableColumn *c, int64_t row) {
    const char *at = (const char *)tsr_data(c->data) + row * (int64_t)tsr_itemsize(c->data);
    TsrScalar s = tsr_scalar_load(c->data->dtype, at);
    bool masked = c->missing != NULL && ((const bool *)tsr_data(c->missing))[row];
    *v = (TsrCellValue){.kind = c->kind,
                        .dtype = c->data->dtype,
                        .value = s,
                        .nothing = masked || (s.kind == TSR_SCALAR_FLOAT && isnan(s.f)),
                        .words = c->words,
                        .style = &c->style};
    if (v->nothing || c->kind != TSR_COLUMN_TEXT || (s.i >= 0 && s.i < c->words->n)) return TSR_OK;
    return tsr_error(TSR_VALUE_ERROR, "column '%.100s', row %lld: there is no word %lld", c->name, (long long)row,
                     (long long)s.i);
}

static void format_cell(Cell *cell, const TsrTableColumn *c, const TsrCellValue *v, const TsrSaveOptions *options) {
    cell->word = cell->text;
    if (v->nothing) cell->n = 0;
    else if (c->kind == TSR_COLUMN_NUMBERS)
        cell->n = tsr_format_element(cell->text, v->value, v->dtype, options->precision, false);
    else if (c->kind == TSR_COLUMN_TIMES) cell->n = tsr_time_format(cell->text, v->value.i, c->unit, &c->style);
    else {
        cell->word = c->words->bytes + c->words->begin[v->value.i];
        cell->n = c->words->begin[v->value.i + 1] - c->words->begin[v->value.i];
    }
}

static void describe(Cell *cell, const TsrTableColumn *c, const TsrCellValue *v) {
    cell->is_text = c->kind != TSR_COLUMN_NUMBERS;
    cell->nothing = v->nothing;
    cell->masked = v->nothing && v->value.kind != TSR_SCALAR_FLOAT;
    cell->infinite = v->value.kind == TSR_SCALAR_FLOAT && isinf(v->value.f);
    cell->as_it_stood = false;
}

static TsrStatus get_cell(Cell *cell, Writing *w, int column, int64_t row) {
    const TsrTableColumn *c = &w->t->columns[column];
    TsrCellValue v;
    TSR_TRY(get_value(&v, c, row));
    describe(cell, c, &v);
    cell->as_it_stood = tsr_texts_get(&cell->word, &cell->n, &w->texts, column, row, &v);
    if (!cell->as_it_stood) format_cell(cell, c, &v, w->options);
    return TSR_OK;
}

/* The cell as it is written when nothing is known of its text. */
static TsrStatus get_plain_cell(Cell *cell, const TsrTableColumn *c, int64_t row, const TsrSaveOptions *options) {
    TsrCellValue v;
    TSR_TRY(get_value(&v, c, row));
    describe(cell, c, &v);
    format_cell(cell, c, &v, options);
    return TSR_OK;
}

TsrStatus tsr_table_same_cell(bool *same, const TsrTableColumn *a, const TsrTableColumn *b, int64_t row) {
    static const TsrSaveOptions plain = {.size = sizeof(TsrSaveOptions)};
    Cell x, y;
    TSR_TRY(get_plain_cell(&x, a, row, &plain));
    TSR_TRY(get_plain_cell(&y, b, row, &plain));
    *same = x.nothing == y.nothing && (x.nothing || x.is_text == y.is_text) &&
            (x.nothing || (x.n == y.n && memcmp(x.word, y.word, x.n) == 0));
    return TSR_OK;
}

/* Where the columns stood, and whose manners the file gets. */
static TsrStatus begin_writing(Writing *w) {
    const TsrTable *t = w->t;
    TSR_TRY(tsr_texts_new(&w->texts, t->n, w->delimiter, w->options));
    w->values = tsr_calloc((size_t)TSR_MAX(t->n, 1), sizeof *w->values);
    if (w->values == NULL) return tsr_error_no_memory((size_t)t->n * sizeof *w->values);
    for (int i = 0; i < t->n; i++)
        if (t->columns[i].from != NULL) w->texts.of[i] = tsr_column_origin(t->columns[i].from, 0);
    TSR_TRY(tsr_texts_begin(&w->texts));
    const TsrSource *manners = tsr_texts_manners(&w->texts);
    w->colon = ": ";
    w->comma = ", ";
    w->line_end = manners != NULL && manners->returns ? "\r\n" : "\n";
    if (w->delimiter == '{' && manners != NULL) tsr_json_style(&w->colon, &w->comma, manners);
    return TSR_OK;
}

static void end_writing(Writing *w) {
    tsr_texts_free(&w->texts);
    tsr_free(w->values);
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

typedef TsrStatus RowWriter(TsrSink *sink, Writing *w, int64_t row);

/* Rows are made into text by pieces, several of them at a time in as many threads as there are, and written in order.
 */
enum { PIECE = 1024 /* rows */, PIECES = 16 };

typedef struct Batch {
    const Writing *w;
    RowWriter *write;
    int64_t first; /* the row that the first piece begins with */
    TsrSink text[PIECES];
    int64_t nulls[PIECES];
} Batch;

static TsrStatus write_row(TsrSink *sink, Writing *w, RowWriter *write, int64_t row) {
    tsr_texts_expect(&w->texts, row, w->t->rows);
    for (int i = 0; i < w->t->n; i++)
        if (w->t->columns[i].kind == TSR_COLUMN_TEXT)
            tsr_texts_expect_word(w->t->columns[i].words, tsr_data(w->t->columns[i].data), row, w->t->rows);
    return write(sink, w, row);
}

/* With cursors, values and a count of its own. */
static TsrStatus write_piece(Batch *b, int64_t piece) {
    const int64_t first = b->first + piece * PIECE, end = TSR_MIN(first + PIECE, b->w->t->rows);
    TsrSaveOptions options = *b->w->options;
    Writing own = *b->w;
    if (options.nulls != NULL) options.nulls = &b->nulls[piece];
    own.options = &options;
    own.values = tsr_calloc((size_t)TSR_MAX(own.t->n, 1), sizeof *own.values);
    TsrStatus status = tsr_texts_new_alike(&own.texts, &b->w->texts);
    if (own.values == NULL && status == TSR_OK) status = tsr_error_no_memory((size_t)own.t->n * sizeof *own.values);
    for (int64_t row = first; row < end && status == TSR_OK; row++)
        status = write_row(&b->text[piece], &own, b->write, row);
    end_writing(&own);
    return status == TSR_OK ? b->text[piece].status : status;
}

static void write_pieces(int64_t begin, int64_t end, void *user) {
    for (int64_t piece = begin; piece < end; piece++) {
        const TsrStatus status = write_piece(user, piece);
        if (status != TSR_OK) return tsr_parallel_fail(status);
    }
}

/* What a piece made goes out, and is forgotten. */
static TsrStatus put_piece(TsrSink *sink, Batch *b, int64_t piece) {
    TsrSink *made = &b->text[piece];
    tsr_sink_write(sink, made->text.data, made->text.length);
    sink->replaced += made->replaced;
    if (b->w->options->nulls != NULL) *b->w->options->nulls += b->nulls[piece];
    made->text.length = 0;
    made->replaced = b->nulls[piece] = 0;
    return sink->status;
}

static TsrStatus write_rows(TsrSink *sink, Writing *w, RowWriter *write) {
    Batch b = {.w = w, .write = write};
    TsrStatus status = TSR_OK;
    for (int k = 0; k < PIECES; k++) b.text[k] = (TsrSink){.fd = -1, .name = sink->name};
    for (; b.first < w->t->rows && status == TSR_OK; b.first += PIECES * PIECE) {
        const int64_t pieces = TSR_MIN((w->t->rows - b.first + PIECE - 1) / PIECE, PIECES);
        status = tsr_parallel_for(pieces, 1, write_pieces, &b);
        for (int64_t k = 0; k < pieces && status == TSR_OK; k++) status = put_piece(sink, &b, k);
    }
    for (int k = 0; k < PIECES; k++) tsr_text_free(&b.text[k].text);
    return status;
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
static TsrStatus is_blank_row(bool *blank, Writing *w, int64_t row) {
    Cell cell = {.n = 0};
    for (int i = 0; i < w->t->n && cell.n == 0; i++) TSR_TRY(get_cell(&cell, w, i, row));
    *blank = cell.n == 0;
    return TSR_OK;
}

TsrStatus tsr_table_put_field(TsrSink *sink, const TsrTable *t, int column, int64_t row, const TsrSaveOptions *options,
                              bool quoted) {
    const char *na = options->na != NULL ? options->na : "";
    Cell cell;
    TSR_TRY(get_plain_cell(&cell, &t->columns[column], row, options));
    const char *text = cell.nothing ? na : cell.word;
    size_t n = cell.nothing ? strlen(na) : cell.n;
    if (quoted) put_doubled(sink, text, n);
    else put_field(sink, text, n, options->delimiter, t->n == 1);
    return sink->status;
}

static TsrStatus write_fields(TsrSink *sink, Writing *w, int64_t row) {
    const char *na = w->options->na != NULL ? w->options->na : "";
    const bool alone = w->t->n == 1;
    Cell cell;
    bool blank = false;
    if (w->delimiter == '\t' && na[0] == '\0') TSR_TRY(is_blank_row(&blank, w, row));
    for (int i = 0; i < w->t->n; i++) {
        TSR_TRY(get_cell(&cell, w, i, row));
        if (i > 0) tsr_sink_write(sink, &w->delimiter, 1);
        if (i == 0 && blank) tsr_sink_puts(sink, "\"\"");
        else if (cell.as_it_stood) tsr_sink_write(sink, cell.word, cell.n);
        else if (cell.nothing) put_field(sink, na, strlen(na), w->delimiter, alone);
        else if (cell.is_text) put_field(sink, cell.word, cell.n, w->delimiter, alone);
        else tsr_sink_write(sink, cell.text, cell.n);
    }
    tsr_sink_puts(sink, w->line_end);
    return sink->status;
}

static void write_names(TsrSink *sink, Writing *w) {
    for (int i = 0; i < w->t->n; i++) {
        const char *name = name_of(w->t, i, w->options), *text;
        size_t n;
        if (i > 0) tsr_sink_write(sink, &w->delimiter, 1);
        if (tsr_texts_name(&text, &n, &w->texts, i, name)) tsr_sink_write(sink, text, n);
        else put_field(sink, name, strlen(name), w->delimiter, w->t->n == 1);
    }
    tsr_sink_puts(sink, w->line_end);
}

/* Whether all columns are those of a table without a header, under the numbers that they were given for names. */
static bool is_headless(const Writing *w) {
    char number[32];
    if (w->options->header != NULL) return false;
    for (int i = 0; i < w->t->n; i++) {
        const TsrOrigin *o = &w->texts.of[i];
        if (o->source == NULL || o->source->head != NULL || o->source->delimiter == '{') return false;
        snprintf(number, sizeof number, "%lld", (long long)o->field);
        if (strcmp(number, w->t->columns[i].name) != 0) return false;
    }
    return w->t->n > 0;
}

TsrStatus tsr_table_write_fields(TsrSink *sink, const TsrTable *t, const TsrSaveOptions *options, char delimiter) {
    Writing w = {.t = t, .options = options, .delimiter = delimiter};
    TSR_TRY(check_header(t, options));
    TsrStatus status = begin_writing(&w);
    const TsrSource *manners = status == TSR_OK ? tsr_texts_manners(&w.texts) : NULL;
    if (manners != NULL && manners->marked) tsr_sink_puts(sink, "\xef\xbb\xbf");
    if (status == TSR_OK && !options->no_header && !is_headless(&w)) write_names(sink, &w);
    if (status == TSR_OK) status = write_rows(sink, &w, write_fields);
    end_writing(&w);
    return status;
}

/* ---- JSON ---- */

/* A whole number has no point, as in the table that it may have come from; what is infinite goes by --json-nan. */
static TsrStatus put_json_cell(TsrSink *sink, const Cell *cell, const TsrSaveOptions *options) {
    bool lenient = options->json_nan == NULL || strcmp(options->json_nan, "null") == 0;
    if (cell->as_it_stood) tsr_sink_write(sink, cell->word, cell->n);
    else if (cell->masked || (cell->nothing && lenient)) tsr_sink_puts(sink, "null");
    else if (cell->nothing || cell->infinite) {
        TsrText text = {0};
        TsrScalar s = tsr_scalar_float(cell->nothing ? NAN : cell->text[0] == '-' ? -INFINITY : INFINITY);
        TsrStatus status = tsr_json_put(&text, s, TSR_FLOAT64, options, false);
        if (status == TSR_OK) tsr_sink_write(sink, text.data, text.length);
        tsr_text_free(&text);
        TSR_TRY(status);
    } else if (cell->is_text) tsr_json_put_text(sink, cell->word, cell->n);
    else tsr_sink_write(sink, cell->text, cell->n);
    return sink->status;
}

TsrStatus tsr_table_put_json(TsrSink *sink, const TsrTable *t, int column, int64_t row, const TsrSaveOptions *options,
                             bool quoted) {
    Cell cell;
    (void)quoted; /* the quotes of a text are part of its place */
    TSR_TRY(get_plain_cell(&cell, &t->columns[column], row, options));
    return put_json_cell(sink, &cell, options);
}

static TsrStatus put_object(TsrSink *sink, Writing *w, int64_t row) {
    const char *text;
    Cell cell;
    size_t n;
    for (int i = 0; i < w->t->n; i++) TSR_TRY(get_value(&w->values[i], &w->t->columns[i], row));
    if (tsr_texts_object(&text, &n, &w->texts, row, w->values)) {
        tsr_sink_write(sink, text, n);
        return sink->status;
    }
    bool some = false;
    tsr_sink_puts(sink, "{");
    for (int i = 0; i < w->t->n; i++) {
        const char *name = w->t->columns[i].name;
        if (w->values[i].nothing && tsr_texts_lack(&w->texts, i, row)) continue;
        if (some) tsr_sink_puts(sink, w->comma);
        some = true;
        tsr_json_put_text(sink, name, strlen(name));
        tsr_sink_puts(sink, w->colon);
        TSR_TRY(get_cell(&cell, w, i, row));
        TSR_TRY(put_json_cell(sink, &cell, w->options));
    }
    tsr_sink_puts(sink, "}");
    return sink->status;
}

static TsrStatus write_line(TsrSink *sink, Writing *w, int64_t row) {
    TSR_TRY(put_object(sink, w, row));
    tsr_sink_puts(sink, w->line_end);
    return sink->status;
}

static TsrStatus write_element(TsrSink *sink, Writing *w, int64_t row) {
    tsr_sink_puts(sink, row > 0 ? ",\n " : "");
    return put_object(sink, w, row);
}

TsrStatus tsr_table_write_json(TsrSink *sink, const TsrTable *t, const TsrSaveOptions *options, bool lines) {
    Writing w = {.t = t, .options = options, .delimiter = '{'};
    TsrStatus status = begin_writing(&w);
    if (status == TSR_OK && !lines) tsr_sink_puts(sink, "[");
    if (status == TSR_OK) status = write_rows(sink, &w, lines ? write_line : write_element);
    if (status == TSR_OK && !lines) tsr_sink_puts(sink, "]\n");
    end_writing(&w);
    return status == TSR_OK ? sink->status : status;
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

static TsrStatus write_bars(TsrSink *sink, Writing *w, int64_t row) {
    const char *na = w->options->na != NULL ? w->options->na : "";
    Cell cell;
    tsr_sink_puts(sink, "|");
    for (int i = 0; i < w->t->n; i++) {
        TSR_TRY(get_cell(&cell, w, i, row));
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
    Writing w = {.t = t, .options = options, .delimiter = '|'};
    TsrStatus status = begin_writing(&w);
    if (status == TSR_OK) status = write_rows(sink, &w, write_bars);
    end_writing(&w);
    return status;
}

TsrStatus tsr_markdown_read(TsrItems *out, TsrInput *in, const TsrLoadOptions *options) {
    (void)out, (void)options;
    return tsr_input_error(in, "markdown is written only, not read");
}
