/* csv_columns.c: tables that have other columns than numbers: words, times, integers that float64 has not. What a
 * column holds is told by its first cells. Then all blocks of lines are parsed at once, each into its rows of the
 * columns; a cell of another kind than its column sends the column on to the next kind (csv.h), and the table is parsed
 * again. Each block numbers its words for itself; afterwards the words of all blocks are put together in their order,
 * and the rows get the numbers that they have there. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "csv.h"
#include "core/io/names.h"
#include "core/layout.h"
#include "core/mem.h"
#include "core/parallel.h"
#include "core/table.h"
#include "core/view.h"

/* ---- what the columns hold ---- */

enum { LOOKED_ROWS = 1000, UNDECIDED = -1 };

/* Digits with a comma, a bar or a semicolon within: a number of another country, or fields that are not split yet. */
static bool is_foreign_number(const char *p, const char *end) {
    bool mark = false, digit = false;
    for (; p < end; p++) {
        mark |= *p == ',' || *p == '|' || *p == ';';
        digit |= *p >= '0' && *p <= '9';
        if (strchr("0123456789,|;.-", *p) == NULL) return false;
    }
    return mark && digit;
}

static bool is_missing_word(const char *p, const char *end) {
    char word[8];
    size_t n = (size_t)(end - p);
    if (n == 0 || n >= sizeof word) return n == 0;
    memcpy(word, p, n);
    word[n] = '\0';
    return tsr_csv_means_missing(word);
}

/* UNDECIDED: nothing, or a word for it. */
static int kind_of(const Table *t, const char *begin, const char *end) {
    TsrTimeStyle style;
    int64_t time;
    bool truth;
    if ((t->na != NULL && is_listed(t->na, begin, end)) || is_missing_word(begin, end)) return UNDECIDED;
    if (parse_truth(&truth, begin, end)) return CELL_BOOL;
    if (is_number(begin, end) || is_foreign_number(begin, end)) return CELL_NUMBER;
    return tsr_time_parse(&time, begin, end, &style, true) ? CELL_TIME : CELL_TEXT;
}

/* Decides columns by the cells of one row; how many are left. */
static int64_t look_at_row(const Table *t, int *kinds, const char *p, const char *end, int64_t left) {
    bool last = false;
    while (p < end && *p == ' ' && t->delimiter == ' ') p++;
    for (int64_t k = 0; k < t->columns && !last && !tsr_interrupted_at(k); k++) {
        const char *text, *text_end;
        next_field(&p, end, t->delimiter, &text, &text_end, &last);
        if (kinds[k] != UNDECIDED) continue;
        kinds[k] = kind_of(t, text, text_end);
        left -= kinds[k] != UNDECIDED;
    }
    return left;
}

static void look_at_rows(const Table *t, int *kinds, int64_t left) {
    int64_t lines;
    const char *p = t->body;
    for (int row = 0; p < t->end && row < LOOKED_ROWS && left > 0 && tsr_interrupt_flag == 0; row++) {
        const char *stop = next_record(t, p, t->end, &lines);
        if (!blank_line(p, stop)) left = look_at_row(t, kinds, p, stop, left);
        p = stop + 1;
    }
}

/* Columns that are words by name; how many of those that are taken. */
static TsrStatus set_text(const Table *t, int *kinds, const char *list) {
    const char *end = list + strlen(list), *text, *text_end;
    for (bool last = false; !last;) {
        TsrText name = {0};
        next_field(&list, end, ',', &text, &text_end, &last);
        TsrStatus status = append_field(&name, text, text_end, end);
        int64_t k = status == TSR_OK ? tsr_csv_find_column(t, name.data != NULL ? name.data : "") : -1;
        if (status == TSR_OK && k < 0) status = tsr_csv_no_column(t, name.data != NULL ? name.data : "");
        tsr_text_free(&name);
        TSR_TRY(status);
        kinds[k] = CELL_TEXT;
    }
    return TSR_OK;
}

static TsrStatus take_kinds(Table *t, const int *kinds) {
    bool numbers = true;
    for (int64_t k = 0; k < t->columns; k++)
        numbers &= (t->skipped != NULL && t->skipped[k]) || (kinds[k] != CELL_TIME && kinds[k] != CELL_TEXT);
    if (numbers) return TSR_OK;
    t->kinds = tsr_malloc_array((size_t)t->columns, sizeof *t->kinds);
    if (t->kinds == NULL) return tsr_error_no_memory((size_t)t->columns * sizeof *t->kinds);
    CellKind number = t->dtype == TSR_INT64 ? CELL_INTEGER : CELL_NUMBER;
    for (int64_t k = 0; k < t->columns; k++)
        t->kinds[k] = kinds[k] == UNDECIDED || kinds[k] == CELL_NUMBER       ? number
                      : kinds[k] == CELL_BOOL && t->result != TSR_DTYPE_NONE ? number
                                                                             : (CellKind)kinds[k];
    return TSR_OK;
}

TsrStatus tsr_csv_find_kinds(Table *t, const char *text) {
    if (t->names == NULL && t->guess != NOT_GUESSED && text == NULL)
        return TSR_OK; /* words stand in columns with names */
    int *kinds = tsr_malloc_array((size_t)t->columns, sizeof *kinds);
    if (kinds == NULL) return tsr_error_no_memory((size_t)t->columns * sizeof *kinds);
    for (int64_t k = 0; k < t->columns; k++) kinds[k] = UNDECIDED;
    TsrStatus status = text != NULL ? set_text(t, kinds, text) : TSR_OK;
    if (status == TSR_OK) look_at_rows(t, kinds, t->columns);
    if (status == TSR_OK) status = tsr_interrupt_check();
    if (status == TSR_OK) status = take_kinds(t, kinds);
    tsr_free(kinds);
    return status;
}

/* ---- parsing ---- */

/* A column that is taken. */
typedef struct Cells {
    CellKind kind, next; /* next: what a cell wants it to be; set by any thread */
    TsrTensor *data, *missing;
    int64_t *of; /* data's, of 8 bytes each, or of 1 where they are truth values */
    bool *none;  /* missing's */
    bool any_missing;
    TsrTimeStyle style;
    TsrWords *words;
} Cells;

typedef struct Parsing {
    Table *t;
    Cells *cells;      /* of all columns; those that are skipped have no data */
    TsrWordSet *words; /* of all blocks, a set for each column */
    int64_t **numbers; /* of all blocks, for each column: what a word of the block is in the table */
} Parsing;

/* The cell asks for another kind of column: the furthest that any asks for is it. */
static void ask_for(Cells *c, CellKind kind) {
    CellKind seen = __atomic_load_n(&c->next, __ATOMIC_RELAXED);
    while (seen < kind &&
           !__atomic_compare_exchange_n(&c->next, &seen, kind, true, __ATOMIC_RELAXED, __ATOMIC_RELAXED)) {}
}

static void set_missing(Cells *c, int64_t row) {
    c->none[row] = true;
    __atomic_store_n(&c->any_missing, true, __ATOMIC_RELAXED);
}

static bool is_nothing(const Table *t, const char *begin, const char *end) {
    return begin == end || (t->na != NULL && is_listed(t->na, begin, end));
}

static void read_truth(Cells *c, int64_t row, const char *begin, const char *end) {
    bool truth = false;
    if (!parse_truth(&truth, begin, end)) ask_for(c, CELL_NUMBER);
    ((bool *)(void *)c->of)[row] = truth;
}

/* What is whole goes exactly; else the column is of floats after all. With --dtype it must fit that. */
static bool read_integer(const Table *t, Cells *c, int64_t row, const char *begin, const char *end) {
    bool truth, given = t->result != TSR_DTYPE_NONE, large = given ? t->result == TSR_UINT64 : c->kind == CELL_UNSIGNED;
    if (parse_truth(&truth, begin, end)) c->of[row] = truth;
    else if (large && tsr_parse_uint64((uint64_t *)&c->of[row], begin, end)) return true;
    else if (tsr_parse_int64(&c->of[row], begin, end) != end || (large && c->of[row] < 0)) {
        uint64_t beyond;
        if (given) return false;
        ask_for(c, !large && tsr_parse_uint64(&beyond, begin, end) ? CELL_UNSIGNED : CELL_FLOAT);
    }
    return !given || tsr_integer_fits(t->result, c->of[row]);
}

static bool read_real(const Table *t, Block *b, Cells *c, int64_t k, int64_t row, const char *begin, const char *end) {
    int64_t before = b->rounded_column;
    if (!tsr_csv_parse_real(t, b, k, begin, end, (double *)(void *)&c->of[row])) return false;
    if (c->kind == CELL_NUMBER && before == 0 && b->rounded_column != 0) {
        if (b->rounded_fits) ask_for(c, CELL_INTEGER);
        b->rounded_column = 0;
    }
    return true;
}

/* Its number among the words of the block. */
static TsrStatus read_word(TsrWordSet *words, Cells *c, int64_t row, const char *begin, const char *end,
                           const char *line_end) {
    if (end == line_end || *end != '"' || memchr(begin, '"', (size_t)(end - begin)) == NULL)
        return tsr_word_set_add(&c->of[row], words, begin, (size_t)(end - begin),
                                tsr_word_hash(begin, (size_t)(end - begin)));
    TsrText word = {0};
    TsrStatus status = append_field(&word, begin, end, line_end);
    if (status == TSR_OK)
        status = tsr_word_set_add(&c->of[row], words, word.data, word.length, tsr_word_hash(word.data, word.length));
    tsr_text_free(&word);
    return status;
}

static TsrStatus read_field(const Parsing *p, Block *b, int64_t k, int64_t row, const char *begin, const char *end,
                            const char *line_end, bool *fine) {
    const Table *t = p->t;
    Cells *c = &p->cells[k];
    bool real = c->kind == CELL_NUMBER || c->kind == CELL_FLOAT;
    *fine = true;
    if (real) *fine = read_real(t, b, c, k, row, begin, end);
    else if (c->kind == CELL_TEXT ? begin != end && is_nothing(t, begin, end) : is_nothing(t, begin, end)) {
        set_missing(c, row);
        begin = end;
    } else if (c->kind == CELL_INTEGER || c->kind == CELL_UNSIGNED) *fine = read_integer(t, c, row, begin, end);
    else if (c->kind == CELL_BOOL) read_truth(c, row, begin, end);
    else if (c->kind == CELL_TIME && !tsr_time_parse(&c->of[row], begin, end, &c->style, false)) ask_for(c, CELL_TEXT);
    return c->kind == CELL_TEXT ? read_word(&p->words[(b - t->blocks) * t->columns + k], c, row, begin, end, line_end)
                                : TSR_OK;
}

/* Field k of the line, unless it is not taken. False: the block has noted what is wrong, or *status is an error. */
static bool take_field(const Parsing *w, Block *b, int64_t k, int64_t row, const char *text, const char *text_end,
                       const char *line_end, TsrStatus *status) {
    bool fine = true;
    if (k >= w->t->columns || w->cells[k].data == NULL) return true;
    *status = read_field(w, b, k, row, text, text_end, line_end, &fine);
    if (*status != TSR_OK || fine) return *status == TSR_OK;
    b->bad_column = k + 1;
    b->bad_text = text;
    b->bad_length = (size_t)(text_end - text);
    return false;
}

/* False: as above. */
static bool read_line(const Parsing *w, Block *b, int64_t row, const char *p, const char *end, TsrStatus *status) {
    const Table *t = w->t;
    bool last = false;
    int64_t k = 0, most = fields_looked_at(t);
    for (; !last && k < most && !tsr_interrupted_at(k); k++) {
        const char *text, *text_end, *before = p;
        next_field(&p, end, t->delimiter, &text, &text_end, &last);
        if (t->places != NULL) tsr_csv_put_place(t, row, k, before, text, text_end);
        if (!take_field(w, b, k, row, text, text_end, end, status)) return false;
    }
    for (; t->ragged && k < t->needed; k++)
        if (!take_field(w, b, k, row, end, end, end, status)) return false;
    b->bad_column = 0;
    b->bad_fields = k;
    return k == t->needed;
}

static TsrStatus read_block(const Parsing *w, Block *b) {
    const Table *t = w->t;
    TsrStatus status = TSR_OK;
    int64_t line = b->first_line, row = b->first_row, lines;
    for (const char *p = b->begin; p < b->end && tsr_interrupt_flag == 0; line += lines) {
        const char *stop = next_record(t, p, b->end, &lines);
        if (!blank_line(p, stop)) {
            while (p < stop && *p == ' ' && t->delimiter == ' ') p++;
            if (!read_line(w, b, row, p, stop, &status)) {
                if (status == TSR_OK && tsr_interrupt_flag == 0) b->bad_line = line;
                return status;
            }
            if (TSR_UNLIKELY(b->rounded_column != 0) && b->rounded_line == 0) b->rounded_line = line;
            row++;
        }
        p = stop + 1;
    }
    return TSR_OK;
}

static void read_blocks(int64_t begin, int64_t end, void *user) {
    const Parsing *w = user;
    for (int64_t i = begin; i < end; i++) {
        TsrStatus status = read_block(w, &w->t->blocks[i]);
        if (status != TSR_OK) return tsr_parallel_fail(status);
    }
}

/* ---- one reading of all ---- */

static void drop_words(Parsing *w) {
    for (int64_t i = 0; i < w->t->nblocks * w->t->columns; i++) {
        tsr_word_set_free(&w->words[i]);
        tsr_free(w->numbers[i]);
        w->numbers[i] = NULL;
    }
}

static TsrStatus new_cells(Cells *c, int64_t rows, CellKind kind) {
    TsrDtype dtype = kind == CELL_BOOL                           ? TSR_BOOL
                     : kind == CELL_UNSIGNED                     ? TSR_UINT64
                     : kind == CELL_NUMBER || kind == CELL_FLOAT ? TSR_FLOAT64
                                                                 : TSR_INT64;
    tsr_tensor_reset(&c->data);
    tsr_tensor_reset(&c->missing);
    c->kind = c->next = kind;
    c->any_missing = false;
    TSR_TRY(tsr_tensor_new(&c->data, 1, &rows, dtype, TSR_DEVICE_CPU));
    c->of = tsr_data(c->data);
    if (dtype == TSR_FLOAT64) return TSR_OK;
    TSR_TRY(tsr_tensor_new(&c->missing, 1, &rows, TSR_BOOL, TSR_DEVICE_CPU));
    c->none = tsr_data(c->missing);
    if (rows > 0) memset(c->none, 0, (size_t)rows);
    if (rows > 0) memset(c->of, 0, (size_t)rows * tsr_itemsize(c->data));
    return TSR_OK;
}

static bool is_taken(const Table *t, int64_t k) { return t->skipped == NULL || !t->skipped[k]; }

/* The style of the column's times is that of its first one. */
static void find_style(const Table *t, Cells *c, int64_t column) {
    int64_t lines, time;
    const char *p = t->body;
    TsrTimeStyle *kept = t->styles != NULL ? &t->styles[column].style : NULL;
    if (kept != NULL && t->styles[column].known) {
        c->style = *kept;
        return;
    }
    for (int row = 0; p < t->end && row < LOOKED_ROWS; row++) {
        const char *stop = next_record(t, p, t->end, &lines), *text, *text_end;
        bool last = blank_line(p, stop);
        for (int64_t k = 0; k <= column && !last; k++) {
            next_field(&p, stop, t->delimiter, &text, &text_end, &last);
            if (k != column || !tsr_time_parse(&time, text, text_end, &c->style, true)) continue;
            if (kept != NULL) t->styles[column] = (KeptStyle){c->style, true};
            return;
        }
        p = stop + 1;
    }
}

static TsrStatus read_once(Parsing *w, int64_t rows) {
    Table *t = w->t;
    drop_words(w);
    for (int64_t k = 0; k < t->columns; k++) {
        if (!is_taken(t, k)) continue;
        TSR_TRY(new_cells(&w->cells[k], rows, t->kinds[k]));
        if (t->kinds[k] == CELL_TIME) find_style(t, &w->cells[k], k);
    }
    for (int i = 0; i < t->nblocks; i++) {
        Block *b = &t->blocks[i];
        b->bad_line = b->bad_column = b->rounded_line = b->rounded_column = 0;
    }
    TSR_TRY(tsr_parallel_for(t->nblocks, 1, read_blocks, w));
    return tsr_csv_check_blocks(t);
}

/* Whether a column is to be read as another kind; it is noted. */
static bool change_kinds(Parsing *w) {
    bool changed = false;
    for (int64_t k = 0; k < w->t->columns; k++) {
        const Cells *c = &w->cells[k];
        if (c->data == NULL || c->next == c->kind) continue;
        w->t->kinds[k] = c->next;
        changed = true;
    }
    return changed;
}

/* ---- words of all blocks ---- */

static TsrStatus join_block(Parsing *w, TsrWordSet *all, int64_t i) {
    const TsrWordSet *set = &w->words[i];
    if (set->n == 0) return TSR_OK;
    w->numbers[i] = tsr_malloc_array(set->n, sizeof **w->numbers);
    if (w->numbers[i] == NULL) return tsr_error_no_memory(set->n * sizeof **w->numbers);
    for (size_t word = 0; word < set->n; word++) {
        TSR_TRY(tsr_interrupt_check_at(word));
        TSR_TRY(tsr_word_set_add(&w->numbers[i][word], all, set->bytes.data + set->begin[word],
                                 set->begin[word + 1] - set->begin[word], set->hashes[word]));
    }
    return TSR_OK;
}

static TsrStatus join_words(Parsing *w, int64_t k) {
    TsrWordSet all = {0};
    TsrStatus status = TSR_OK;
    for (int i = 0; i < w->t->nblocks && status == TSR_OK; i++) status = join_block(w, &all, i * w->t->columns + k);
    if (status == TSR_OK) status = tsr_word_set_new_words(&w->cells[k].words, &all);
    tsr_word_set_free(&all);
    return status;
}

static void renumber_blocks(int64_t begin, int64_t end, void *user) {
    const Parsing *w = user;
    const Table *t = w->t;
    for (int64_t i = begin; i < end; i++)
        for (int64_t k = 0; k < t->columns; k++) {
            const int64_t *numbers = w->numbers[i * t->columns + k];
            int64_t *row = numbers != NULL ? w->cells[k].of + t->blocks[i].first_row : NULL;
            for (int64_t r = 0; r < t->blocks[i].rows && row != NULL; r++) row[r] = numbers[row[r]];
        }
}

static TsrStatus join_all(Parsing *w) {
    for (int64_t k = 0; k < w->t->columns; k++)
        if (w->cells[k].data != NULL && w->cells[k].kind == CELL_TEXT) TSR_TRY(join_words(w, k));
    return tsr_parallel_for(w->t->nblocks, 1, renumber_blocks, w);
}

/* ---- the table ---- */

static TsrStatus cast(Cells *c, TsrDtype dtype) {
    TsrTensor *t;
    if (dtype == TSR_DTYPE_NONE || c->kind == CELL_TIME || c->kind == CELL_TEXT || c->data->dtype == dtype)
        return TSR_OK;
    TSR_TRY(tsr_tensor_new_cast(&t, c->data, dtype));
    tsr_tensor_reset(&c->data);
    c->data = t;
    return TSR_OK;
}

/* The column remembers where it stood. */
static TsrStatus tell_origin(TsrTensor *data, const Table *t, int64_t k, const char *name) {
    TsrColumns *columns;
    TSR_TRY(tsr_columns_new(&columns, &name, 1, t->delimiter));
    columns->source = tsr_source_retain(t->source);
    columns->fields[0] = (int32_t)k;
    tsr_columns_set_move(data, columns);
    return TSR_OK;
}

static TsrStatus add_cells(TsrTable *table, const Table *t, const Cells *c, int64_t k, TsrNames *names) {
    char number[24];
    TsrText name = {0};
    snprintf(number, sizeof number, "%lld", (long long)k);
    TsrStatus status = tsr_names_put(&name, names, t->names != NULL ? t->names[k] : number);
    const char *text = name.data != NULL ? name.data : "";
    if (status == TSR_OK && t->source != NULL) status = tell_origin(c->data, t, k, text);
    TsrTableColumn column = {.kind = c->kind == CELL_TEXT   ? TSR_COLUMN_TEXT
                                     : c->kind == CELL_TIME ? TSR_COLUMN_TIMES
                                                            : TSR_COLUMN_NUMBERS,
                             .style = c->style,
                             .unit = tsr_time_unit(&c->style)};
    if (status == TSR_OK) {
        column.data = tsr_tensor_retain(c->data);
        column.missing = c->any_missing ? tsr_tensor_retain(c->missing) : NULL;
        column.words = tsr_words_retain(c->words);
        status = tsr_table_add_move(table, text, name.length, column);
    }
    tsr_text_free(&name);
    return status;
}

static TsrStatus make_table(TsrTable **out, Parsing *w, int64_t rows, TsrDtype dtype) {
    const Table *t = w->t;
    TsrTable *table;
    TsrNames names;
    TSR_TRY(tsr_table_new(&table, rows));
    table->delimiter = t->delimiter;
    int64_t n = t->nwanted > 0 ? t->nwanted : t->columns;
    TsrStatus status = tsr_names_begin(&names, n);
    for (int64_t i = 0; i < n && status == TSR_OK; i++) {
        int64_t k = t->nwanted > 0 ? t->wanted[i] : i;
        status = cast(&w->cells[k], dtype);
        if (status == TSR_OK) status = add_cells(table, t, &w->cells[k], k, &names);
    }
    tsr_names_free(&names);
    if (status == TSR_OK) *out = table;
    else tsr_table_free(table);
    return status;
}

static TsrStatus read_all(TsrTable **out, Parsing *w, TsrDtype dtype) {
    int64_t rows;
    TSR_TRY(tsr_csv_count(&rows, w->t));
    size_t sets = (size_t)w->t->nblocks * (size_t)w->t->columns;
    w->cells = tsr_calloc((size_t)w->t->columns, sizeof *w->cells);
    w->words = tsr_calloc(TSR_MAX(sets, 1), sizeof *w->words);
    w->numbers = tsr_calloc(TSR_MAX(sets, 1), sizeof *w->numbers);
    if (w->cells == NULL || w->words == NULL || w->numbers == NULL) return tsr_error_no_memory(sets * sizeof *w->words);
    TSR_TRY(tsr_csv_make_places(w->t, rows));
    do TSR_TRY(read_once(w, rows));
    while (change_kinds(w));
    TSR_TRY(join_all(w));
    return make_table(out, w, rows, dtype);
}

TsrStatus tsr_csv_read_columns(TsrTable **out, Table *t, TsrDtype dtype) {
    Parsing w = {.t = t};
    TsrStatus status = read_all(out, &w, dtype);
    if (w.words != NULL && w.numbers != NULL) drop_words(&w);
    for (int64_t k = 0; w.cells != NULL && k < t->columns; k++) {
        tsr_tensor_free(w.cells[k].data);
        tsr_tensor_free(w.cells[k].missing);
        tsr_words_free(w.cells[k].words);
    }
    tsr_free(w.cells);
    tsr_free(w.words);
    tsr_free(w.numbers);
    return status;
}
