/* json_table.c: objects of JSON whose values are numbers, truth values, texts or null, as a table: a list of them, or
 * one on each line. Cells are kept as they come, each with what it is; what the column is shows at the end. A key that
 * an object has not is null there, as in pandas; a column is filled up with nulls when its next cell comes, or at the
 * end. Anything else is no table (*fits false), and is read another way: objects of which each has keys of its own,
 * too, as their table would be many times as large as the text. */
#include "json_table.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "core/io/elements.h"
#include "core/layout.h"
#include "core/mem.h"
#include "core/table.h"
#include "core/view.h"

typedef union Cell {
    double d;
    int64_t i; /* an integer, a truth value, the number of a word */
} Cell;

typedef struct Column {
    Cell *cells;
    uint8_t *kinds;   /* a TsrJsonKind each */
    TsrPlace *places; /* where each stands, where that is asked for; else NULL */
    size_t n, room, kind_room, place_room;
    bool placed;
    unsigned seen; /* 1 << kind */
    bool negative;
    const char *rounded; /* in the text: the first whole number that float64 has not; NULL: none */
    TsrWordSet words;
} Column;

typedef struct Reader {
    TsrWordSet names;
    Column *columns; /* as many as names */
    size_t room;
    int64_t rows, cells; /* cells: those that the text had */
    bool chosen;         /* by --columns: other keys are passed over */
    bool odd;            /* a value or a key that no table has */
    bool placed;         /* the places of the cells are asked for */
    TsrText scratch;
} Reader;

static void free_reader(Reader *r) {
    for (size_t k = 0; k < r->names.n; k++) {
        tsr_free(r->columns[k].cells);
        tsr_free(r->columns[k].kinds);
        tsr_free(r->columns[k].places);
        tsr_word_set_free(&r->columns[k].words);
    }
    tsr_free(r->columns);
    tsr_word_set_free(&r->names);
    tsr_text_free(&r->scratch);
}

/* A name that is there already keeps its column. */
static TsrStatus add_column(int64_t *k, Reader *r, const char *name, size_t n) {
    TSR_TRY(tsr_mem_grow(&r->columns, &r->room, r->names.n + 1, sizeof *r->columns));
    r->columns[r->names.n] = (Column){.placed = r->placed};
    return tsr_word_set_add(k, &r->names, name, n, tsr_word_hash(name, n));
}

/* The column of a key, -1 when it is passed over. */
static TsrStatus find_column(int64_t *k, Reader *r, const char *key, size_t n) {
    *k = tsr_word_set_find(&r->names, key, n, tsr_word_hash(key, n));
    if (*k >= 0 || r->chosen) return TSR_OK;
    r->odd |= memchr(key, '\0', n) != NULL;
    return r->odd ? TSR_VALUE_ERROR : add_column(k, r, key, n);
}

/* Where a cell stands that the text has not. */
static const TsrPlace nowhere = {1, 0};

static TsrStatus put_cell(Column *c, Cell cell, TsrJsonKind kind, TsrPlace place) {
    if (c->placed) TSR_TRY(tsr_mem_grow(&c->places, &c->place_room, c->n + 1, sizeof *c->places));
    if (c->placed) c->places[c->n] = place;
    TSR_TRY(tsr_mem_grow(&c->cells, &c->room, c->n + 1, sizeof *c->cells));
    TSR_TRY(tsr_mem_grow(&c->kinds, &c->kind_room, c->n + 1, sizeof *c->kinds));
    c->cells[c->n] = cell;
    c->kinds[c->n++] = (uint8_t)kind;
    c->seen |= 1u << kind;
    return TSR_OK;
}

/* Nulls up to the row. */
static TsrStatus fill_up(Column *c, int64_t row) {
    while ((int64_t)c->n < row) TSR_TRY(put_cell(c, (Cell){.i = 0}, TSR_JSON_NULL, nowhere));
    return TSR_OK;
}

static TsrPlace place_from(const TsrJson *j, const char *begin) {
    return (TsrPlace){(size_t)(begin - j->in->data), (size_t)(j->p - j->in->data)};
}

static TsrStatus read_text(TsrJson *j, Reader *r, Column *c) {
    Cell cell;
    const char *begin = j->p;
    r->scratch.length = 0;
    TSR_TRY(tsr_json_string(j, &r->scratch, "a string"));
    const char *text = r->scratch.data != NULL ? r->scratch.data : "";
    TSR_TRY(tsr_word_set_add(&cell.i, &c->words, text, r->scratch.length, tsr_word_hash(text, r->scratch.length)));
    return put_cell(c, cell, TSR_JSON_TEXT, place_from(j, begin));
}

enum { EXACT_DIGITS = 15 }; /* that every double keeps */

static double as_float(const TsrJsonScalar *s) {
    return s->kind == TSR_JSON_FLOAT ? s->d : s->kind == TSR_JSON_UINT ? (double)(uint64_t)s->i : (double)s->i;
}

static TsrStatus read_cell(TsrJson *j, const char *key, size_t n, void *context) {
    Reader *r = context;
    TsrJsonScalar s;
    bool fits = false;
    int64_t k;
    TSR_TRY(find_column(&k, r, key, n));
    if (k < 0) return tsr_json_skip(j);
    Column *c = &r->columns[k];
    if ((int64_t)c->n > r->rows) return tsr_json_error(j, "the key is there twice");
    TSR_TRY(fill_up(c, r->rows));
    r->cells++;
    tsr_json_skip_space(j);
    if (j->p < j->end && *j->p == '"') return read_text(j, r, c);
    r->odd |= j->p < j->end && (*j->p == '[' || *j->p == '{');
    if (r->odd) return TSR_VALUE_ERROR;
    const char *begin = j->p;
    TSR_TRY(tsr_json_scalar(j, &s));
    c->negative |= s.kind == TSR_JSON_INT && s.i < 0;
    if (c->rounded == NULL && j->p - begin > EXACT_DIGITS && tsr_whole_is_rounded(begin, j->p, as_float(&s), &fits))
        c->rounded = begin;
    Cell cell = {.i = s.i};
    if (s.kind == TSR_JSON_FLOAT) cell.d = s.d;
    return put_cell(c, cell, s.kind, place_from(j, begin));
}

/* A table has at most SPARSE places for each cell that the text has, beyond the first FEW. */
enum { SPARSE = 32, FEW = 1 << 20 };

static TsrStatus read_row(TsrJson *j, Reader *r) {
    TSR_TRY(tsr_json_object(j, read_cell, r));
    r->rows++;
    r->odd |= !r->chosen && (int64_t)r->names.n > (r->cells * SPARSE + FEW) / r->rows;
    return r->odd ? TSR_VALUE_ERROR : TSR_OK;
}

/* All columns as long as the table. A key that was asked for and never came is an error, which whoever reads it another
 * way finds; in a later piece of a table it is a column of nulls. */
static TsrStatus end_rows(const TsrJson *j, Reader *r) {
    for (size_t k = 0; k < r->names.n; k++) {
        r->odd |= r->columns[k].n == 0 && j->in->lines_before == 0;
        if (r->odd) return TSR_VALUE_ERROR;
        TSR_TRY(fill_up(&r->columns[k], r->rows));
    }
    return TSR_OK;
}

/* ---- from cells to columns ---- */

enum { NUMBERS = 1u << TSR_JSON_INT | 1u << TSR_JSON_UINT | 1u << TSR_JSON_FLOAT };

static bool only(const Column *c, unsigned kinds) { return (c->seen & ~(kinds | 1u << TSR_JSON_NULL)) == 0; }

/* What the column's cells are together; TSR_DTYPE_NONE: no column of a table. Words are int64. */
static TsrDtype dtype_of(const Column *c) {
    unsigned seen = c->seen & ~(1u << TSR_JSON_NULL);
    if (seen == 0) return TSR_FLOAT64;
    if (seen == 1u << TSR_JSON_TEXT) return TSR_INT64;
    if (seen == 1u << TSR_JSON_BOOL) return TSR_BOOL;
    if (!only(c, NUMBERS)) return TSR_DTYPE_NONE;
    if ((seen & 1u << TSR_JSON_FLOAT) != 0 || (c->negative && (seen & 1u << TSR_JSON_UINT) != 0)) return TSR_FLOAT64;
    return (seen & 1u << TSR_JSON_UINT) != 0 ? TSR_UINT64 : TSR_INT64;
}

static void fill_floats(double *to, const Column *c) {
    for (size_t i = 0; i < c->n; i++)
        to[i] = c->kinds[i] == TSR_JSON_NULL    ? NAN
                : c->kinds[i] == TSR_JSON_FLOAT ? c->cells[i].d
                : c->kinds[i] == TSR_JSON_UINT  ? (double)(uint64_t)c->cells[i].i
                                                : (double)c->cells[i].i;
}

static TsrStatus fill_missing(TsrTableColumn *out, const Column *c, int64_t rows) {
    if ((c->seen & 1u << TSR_JSON_NULL) == 0) return TSR_OK;
    TSR_TRY(tsr_tensor_new(&out->missing, 1, &rows, TSR_BOOL, TSR_DEVICE_CPU));
    bool *missing = tsr_data(out->missing);
    for (size_t i = 0; i < c->n; i++) missing[i] = c->kinds[i] == TSR_JSON_NULL;
    return TSR_OK;
}

/* Words that are all times in one style. */
static TsrStatus become_times(TsrTableColumn *out, const TsrWordSet *words) {
    int64_t *times = tsr_malloc_array(TSR_MAX(words->n, 1), sizeof *times);
    int64_t *data = tsr_data(out->data);
    bool all = words->n > 0;
    if (times == NULL) return tsr_error_no_memory(words->n * sizeof *times);
    for (size_t i = 0; i < words->n && all; i++)
        all = tsr_time_parse(&times[i], words->bytes.data + words->begin[i], words->bytes.data + words->begin[i + 1],
                             &out->style, i == 0);
    for (int64_t i = 0; i < out->data->numel && all; i++) data[i] = times[data[i]];
    tsr_free(times);
    out->kind = all ? TSR_COLUMN_TIMES : TSR_COLUMN_TEXT;
    out->unit = all ? tsr_time_unit(&out->style) : 0;
    return TSR_OK;
}

static TsrStatus fill_words(TsrTableColumn *out, Column *c) {
    int64_t none = 0, *data = tsr_data(out->data);
    TSR_TRY(become_times(out, &c->words));
    if (out->kind == TSR_COLUMN_TIMES) return TSR_OK;
    if (out->missing != NULL) TSR_TRY(tsr_word_set_add(&none, &c->words, "", 0, tsr_word_hash("", 0)));
    for (size_t i = 0; i < c->n && out->missing != NULL; i++)
        if (c->kinds[i] == TSR_JSON_NULL) data[i] = none;
    return tsr_word_set_new_words(&out->words, &c->words);
}

static TsrStatus fill(TsrTableColumn *out, Column *c, TsrDtype dtype, int64_t rows) {
    TSR_TRY(tsr_tensor_new(&out->data, 1, &rows, dtype, TSR_DEVICE_CPU));
    if (dtype == TSR_FLOAT64) {
        fill_floats(tsr_data(out->data), c);
        return TSR_OK;
    }
    TSR_TRY(fill_missing(out, c, rows));
    for (size_t i = 0; i < c->n; i++) {
        int64_t v = c->kinds[i] != TSR_JSON_NULL ? c->cells[i].i : 0;
        if (dtype == TSR_BOOL) ((bool *)tsr_data(out->data))[i] = v != 0;
        else ((int64_t *)tsr_data(out->data))[i] = v;
    }
    return (c->seen & 1u << TSR_JSON_TEXT) != 0 ? fill_words(out, c) : TSR_OK;
}

/* Whether an integer dtype, another one than t's, has each of the numbers. */
static bool all_fit(const TsrTensor *t, TsrDtype wanted) {
    bool fit = t->dtype != TSR_FLOAT64;
    for (int64_t i = 0; i < t->numel && fit && t->dtype != TSR_BOOL; i++) {
        int64_t value = ((const int64_t *)tsr_data(t))[i];
        fit = (t->dtype == TSR_INT64 || value >= 0) && tsr_integer_fits(wanted, value);
    }
    return fit;
}

static TsrStatus cast(TsrTableColumn *c, TsrDtype wanted, const TsrJson *j, const char *name, size_t n) {
    char shown[440];
    TsrTensor *t;
    TsrDtype have = c->data->dtype;
    if (wanted == TSR_DTYPE_NONE || c->kind != TSR_COLUMN_NUMBERS || have == wanted) return TSR_OK;
    if (tsr_dtype_is_integral(wanted) && !all_fit(c->data, wanted))
        return tsr_input_error(j->in, "the numbers under '%s' do not fit torch.%s", tsr_io_quote(shown, name, n),
                               tsr_dtype_name(wanted));
    TSR_TRY(tsr_tensor_new_cast(&t, c->data, wanted));
    tsr_tensor_reset(&c->data);
    c->data = t;
    return TSR_OK;
}

TsrStatus tsr_json_keep_text(TsrSource **out, TsrInput *in, const char *begin, int64_t columns) {
    TsrDataPtr hold;
    ptrdiff_t away;
    TSR_TRY(tsr_input_keep(&hold, &away, in));
    TSR_TRY(tsr_source_new_move(out, &hold));
    TsrSource *s = *out;
    s->begin = begin + away;
    s->end = in->data + in->size + away;
    s->columns = columns;
    s->delimiter = '{';
    const char *newline = memchr(s->begin, '\n', (size_t)(s->end - s->begin));
    s->returns = newline != NULL && newline > s->begin && newline[-1] == '\r';
    return TSR_OK;
}

TsrStatus tsr_json_tell_origin(TsrTensor *data, TsrSource *source, const char *name, int64_t k) {
    TsrColumns *columns;
    if (source == NULL || k > INT32_MAX) return TSR_OK;
    TSR_TRY(tsr_columns_new(&columns, &name, 1, ','));
    columns->source = tsr_source_retain(source);
    columns->fields[0] = (int32_t)k;
    tsr_columns_set_move(data, columns);
    return TSR_OK;
}

static TsrStatus add_to_table(TsrTable *table, Reader *r, size_t k, const TsrJson *j, TsrDtype wanted,
                              TsrSource *source) {
    TsrTableColumn column = {.kind = TSR_COLUMN_NUMBERS};
    const char *name = r->names.bytes.data + r->names.begin[k];
    size_t n = r->names.begin[k + 1] - r->names.begin[k];
    TsrStatus status = fill(&column, &r->columns[k], dtype_of(&r->columns[k]), r->rows);
    if (status == TSR_OK) status = cast(&column, wanted, j, name, n);
    TsrTensor *data = column.data;
    if (status == TSR_OK) status = tsr_table_add_move(table, n > 0 ? name : "", n, column);
    else tsr_table_column_clear(&column);
    return status == TSR_OK ? tsr_json_tell_origin(data, source, table->columns[table->n - 1].name, (int64_t)k)
                            : status;
}

/* A whole number that became another one is told, once for the table. No dtype keeps all of a column that is float64
 * beside it. */
static TsrStatus note_rounding(TsrItems *out, const Reader *r, const TsrJson *j, TsrDtype wanted) {
    for (size_t k = 0; k < r->names.n && (wanted == TSR_DTYPE_NONE || wanted == TSR_FLOAT64); k++) {
        const Column *c = &r->columns[k];
        if (c->rounded != NULL && dtype_of(c) == TSR_FLOAT64)
            return tsr_json_note_rounding(out, j, c->rounded, TSR_DTYPE_NONE);
    }
    return TSR_OK;
}

static TsrStatus make_table(TsrTable **out, bool *fits, Reader *r, const TsrJson *j, TsrDtype wanted,
                            TsrSource *source) {
    TsrTable *table;
    for (size_t k = 0; k < r->names.n; k++)
        if (dtype_of(&r->columns[k]) == TSR_DTYPE_NONE) return TSR_OK;
    if (r->names.n == 0 || r->rows == 0) return TSR_OK;
    TSR_TRY(tsr_table_new(&table, r->rows));
    TsrStatus status = TSR_OK;
    for (size_t k = 0; k < r->names.n && status == TSR_OK; k++) status = add_to_table(table, r, k, j, wanted, source);
    *fits = status == TSR_OK;
    if (status == TSR_OK) *out = table;
    else tsr_table_free(table);
    return status;
}

/* ---- lists and lines ---- */

static TsrStatus read_list(TsrJson *j, Reader *r) {
    j->p++; /* the bracket */
    tsr_json_skip_space(j);
    while (j->p < j->end && *j->p == '{') {
        TSR_TRY(tsr_interrupt_check_at(r->rows));
        TSR_TRY(read_row(j, r));
        tsr_json_skip_space(j);
        if (j->p == j->end || *j->p != ',') break;
        j->p++;
        tsr_json_skip_space(j);
        r->odd |= j->p == j->end || *j->p != '{';
    }
    r->odd |= j->p == j->end || *j->p != ']';
    if (!r->odd) j->p++;
    return r->odd ? TSR_VALUE_ERROR : TSR_OK;
}

static TsrStatus read_lines(TsrJson *j, Reader *r) {
    for (tsr_json_skip_space(j); j->p < j->end; tsr_json_skip_space(j)) {
        TSR_TRY(tsr_interrupt_check_at(r->rows));
        r->odd |= *j->p != '{';
        if (r->odd) return TSR_VALUE_ERROR;
        TSR_TRY(read_row(j, r));
        while (j->p < j->end && (*j->p == ' ' || *j->p == '\t' || *j->p == '\r')) j->p++;
        if (j->p < j->end && *j->p != '\n') return tsr_json_error(j, "more text behind the value of this line");
    }
    return TSR_OK;
}

static TsrStatus choose(Reader *r, const char *list) {
    TsrStatus status = TSR_OK;
    int64_t k;
    for (r->chosen = list != NULL; list != NULL && *list != '\0' && status == TSR_OK;) {
        TsrText name = {0};
        status = tsr_json_next_name(&name, &list);
        if (status == TSR_OK) status = add_column(&k, r, name.data != NULL ? name.data : "", name.length);
        tsr_text_free(&name);
    }
    return status;
}

static TsrStatus give_places(TsrPlaces *out, const Reader *r) {
    size_t columns = r->names.n, n = columns * (size_t)r->rows;
    if (out == NULL) return TSR_OK;
    TSR_TRY(tsr_mem_grow(&out->of, &out->room, n, sizeof *out->of));
    for (size_t i = 0; i < n; i++) out->of[i] = r->columns[i % columns].places[i / columns];
    out->n = n;
    return TSR_OK;
}

/* Of a list the objects begin behind its bracket; where only some keys were taken no object is a whole row. */
static TsrStatus take_table(TsrItems *out, bool *fits, Reader *r, const TsrJson *j, TsrInput *in, TsrDtype wanted,
                            const char *begin) {
    TsrSource *source = NULL;
    if (!r->placed) TSR_TRY(tsr_json_keep_text(&source, in, begin, r->chosen ? -1 : (int64_t)r->names.n));
    TsrStatus status = make_table(&out->table, fits, r, j, wanted, source);
    tsr_source_free(source);
    return status;
}

TsrStatus tsr_json_table(TsrItems *out, bool *fits, TsrJson *j, TsrInput *in, const TsrLoadOptions *options,
                         bool lines) {
    Reader r = {.placed = options->places != NULL};
    const char *begin = j->p + !lines;
    *fits = false;
    TsrStatus status = choose(&r, lines ? options->columns : NULL);
    if (status == TSR_OK) status = lines ? read_lines(j, &r) : read_list(j, &r);
    if (status == TSR_OK) status = end_rows(j, &r);
    if (status == TSR_VALUE_ERROR) { /* whoever reads it another way finds its errors */
        tsr_error_clear();
        status = TSR_OK;
    } else if (status == TSR_OK) {
        status = take_table(out, fits, &r, j, in, options->dtype, begin);
        if (status == TSR_OK && *fits) status = note_rounding(out, &r, j, options->dtype);
        if (status == TSR_OK && *fits) status = give_places(options->places, &r);
    }
    free_reader(&r);
    return status;
}
