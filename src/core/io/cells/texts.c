/* texts.c: which texts of cells go out as they stood (texts.h). Between the delimiters of the source, or in JSON's own
 * objects, all of it does, with blanks and quotes; elsewhere the digits of numbers do. */
#include "texts.h"

#include <string.h>

#include "core/io/json/json_text.h"
#include "core/mem.h"

TsrStatus tsr_texts_new(TsrTexts *t, int64_t n, char delimiter, const TsrSaveOptions *options) {
    size_t room = (size_t)TSR_MAX(n, 1);
    *t = (TsrTexts){.n = n, .delimiter = delimiter, .options = options};
    t->of = tsr_calloc(room, sizeof *t->of);
    t->cells = tsr_calloc(room, sizeof *t->cells);
    t->cells_of = tsr_calloc(room, sizeof *t->cells_of);
    return t->of != NULL && t->cells != NULL && t->cells_of != NULL ? TSR_OK
                                                                    : tsr_error_no_memory(room * sizeof *t->of);
}

void tsr_texts_free(TsrTexts *t) {
    for (int64_t j = 0; t->of != NULL && j < t->n; j++)
        if (t->of[j].source != NULL && t->cells_of != NULL && t->cells_of[j] == j) tsr_source_forgive(t->of[j].source);
    tsr_free(t->of);
    tsr_free(t->cells);
    tsr_free(t->cells_of);
    *t = (TsrTexts){0};
}

TsrStatus tsr_texts_begin(TsrTexts *t) {
    const TsrIndex *index;
    for (int64_t j = 0; j < t->n; j++) {
        int64_t k = 0;
        while (k < j && t->of[k].source != t->of[j].source) k++;
        t->cells_of[j] = k;
        if (t->of[j].source != NULL && k == j) TSR_TRY(tsr_cells_index(&index, (TsrSource *)t->of[j].source));
    }
    return TSR_OK;
}

TsrStatus tsr_texts_new_alike(TsrTexts *out, const TsrTexts *t) {
    TSR_TRY(tsr_texts_new(out, t->n, t->delimiter, t->options));
    memcpy(out->of, t->of, (size_t)t->n * sizeof *t->of);
    memcpy(out->cells_of, t->cells_of, (size_t)t->n * sizeof *t->cells_of);
    return TSR_OK;
}

/* ---- cells ---- */

/* What was asked for otherwise. */
static bool is_styled(const TsrTexts *t, const TsrCellValue *v) {
    if (v->nothing) return t->options->na != NULL || t->options->json_nan != NULL;
    return v->value.kind == TSR_SCALAR_FLOAT && t->options->precision > 0;
}

/* Whether what stands between the source's delimiters may stand between those that are written. A column alone has none
 * around it, which would do for the blanks in it. */
static bool fits(const TsrTexts *t, const TsrSource *source) {
    if (t->delimiter == '{' || source->delimiter == '{') return t->delimiter == source->delimiter;
    bool alone = t->n == 1, alone_there = source->columns == 1 && source->delimiter == ' ' && t->delimiter != '|';
    return alone == alone_there && (source->delimiter == t->delimiter || alone_there);
}

static bool says(const TsrCellText *cell, const TsrCellValue *v, const TsrSource *source) {
    return source->delimiter == '{' ? tsr_json_cell_says(cell, v) : tsr_csv_cell_says(cell, v, source);
}

/* Of other text than JSON: +3, 007 and .5 are numbers there alone. */
static bool is_json_number(const TsrCellText *cell) {
    const char *stop;
    bool whole;
    return tsr_json_number_shape(cell->text, cell->text_end, &stop, &whole) && stop == cell->text_end;
}

bool tsr_texts_get(const char **text, size_t *n, TsrTexts *t, int64_t j, int64_t i, const TsrCellValue *v) {
    const TsrSource *source = t->of[j].source;
    TsrCellText cell;
    if (source == NULL || is_styled(t, v)) return false;
    const bool whole = fits(t, source), json = t->delimiter == '{';
    if ((!whole && v->kind != TSR_COLUMN_NUMBERS) || !tsr_cells_find(&cell, &t->cells[t->cells_of[j]], &t->of[j], i))
        return false;
    if (!says(&cell, v, source) || (json && !whole && !is_json_number(&cell))) return false;
    if (!whole && v->nothing && (cell.text < cell.text_end || t->n == 1)) return false; /* a word for nothing */
    *text = whole ? cell.raw : cell.text;
    *n = (size_t)(whole ? cell.raw_end - cell.raw : cell.text_end - cell.text);
    return true;
}

void tsr_texts_expect(const TsrTexts *t, int64_t i, int64_t rows) {
    for (int64_t j = 0; j < t->n; j++) {
        const TsrIndex *index = t->of[j].source != NULL && t->cells_of[j] == j ? t->of[j].source->index : NULL;
        if (index == NULL) continue;
        const int64_t far = i + TSR_TEXTS_FAR < rows ? tsr_origin_row(&t->of[j], i + TSR_TEXTS_FAR) : -1;
        const int64_t near = i + TSR_TEXTS_NEAR < rows ? tsr_origin_row(&t->of[j], i + TSR_TEXTS_NEAR) : -1;
        if (far >= 0 && far < index->n) __builtin_prefetch(&index->at[far]);
        if (near >= 0 && near < index->n) __builtin_prefetch(index->at[near]);
    }
}

void tsr_texts_expect_word(const TsrWords *words, const int64_t *codes, int64_t i, int64_t rows) {
    if (i + TSR_TEXTS_FAR >= rows) return;
    const int64_t far = codes[i + TSR_TEXTS_FAR], near = codes[i + TSR_TEXTS_NEAR];
    if (far >= 0 && far < words->n) __builtin_prefetch(&words->begin[far]);
    if (near >= 0 && near < words->n) __builtin_prefetch(words->bytes + words->begin[near]);
}

/* Whether it is what readers append to a name that is there already: ".1", or "_1" (names.h). */
static bool is_number_of_copy(const char *p) {
    if ((*p != '.' && *p != '_') || *++p == '\0') return false;
    while (*p >= '0' && *p <= '9') p++;
    return *p == '\0';
}

/* Whether it is how a name is shown that is no UTF-8: with its bytes escaped. */
static bool is_shown(const char *name, const TsrCellText *cell) {
    char shown[440];
    const size_t n = (size_t)(cell->text_end - cell->text);
    return tsr_utf8_invalid(cell->text, (int64_t)n) >= 0 && strcmp(name, tsr_io_quote(shown, cell->text, n)) == 0;
}

/* Whether the name begins with the cell's text; `rest` is what stands behind it. */
static bool says_name(const char *name, const TsrCellText *cell, const char **rest) {
    const bool quoted = cell->text_end < cell->line_end && *cell->text_end == '"';
    const char *p = cell->text;
    *rest = "";
    if (is_shown(name, cell)) return true;
    for (; p < cell->text_end && *name == *p && *p != '\0'; p++, name++)
        if (quoted && *p == '"' && p + 1 < cell->text_end && p[1] == '"') p++;
    *rest = name;
    return p == cell->text_end;
}

/* Whether a column before it has the same name in the source, so that a reader numbered this one. */
static bool is_copy(const TsrCellText *cell, const TsrOrigin *column) {
    const size_t n = (size_t)(cell->text_end - cell->text);
    TsrOrigin before = *column;
    TsrCellText other;
    for (before.field = 0; before.field < column->field; before.field++)
        if (tsr_cells_name(&other, &before) && (size_t)(other.text_end - other.text) == n &&
            memcmp(other.text, cell->text, n) == 0)
            return true;
    return false;
}

bool tsr_texts_name(const char **text, size_t *n, const TsrTexts *t, int64_t j, const char *name) {
    TsrCellText cell;
    const char *rest;
    const TsrSource *source = t->of[j].source;
    if (source == NULL || source->delimiter == '{' || !fits(t, source) || !tsr_cells_name(&cell, &t->of[j]))
        return false;
    if (!says_name(name, &cell, &rest)) return false;
    if (*rest != '\0' && !(is_number_of_copy(rest) && is_copy(&cell, &t->of[j]))) return false;
    *text = cell.raw;
    *n = (size_t)(cell.raw_end - cell.raw);
    return true;
}

bool tsr_texts_object(const char **text, size_t *n, TsrTexts *t, int64_t i, const TsrCellValue *values) {
    const TsrSource *source = t->n > 0 ? t->of[0].source : NULL;
    TsrCells *cells = t->cells;
    int64_t found = 0;
    if (source == NULL || source->delimiter != '{' || t->n != source->columns) return false;
    int64_t row = tsr_origin_row(&t->of[0], i);
    for (int64_t j = 0; j < t->n; j++) {
        TsrCellText cell;
        const TsrOrigin *o = &t->of[j];
        if (o->source != source || o->field != j || tsr_origin_row(o, i) != row || is_styled(t, &values[j]))
            return false;
        bool there = tsr_cells_find(&cell, cells, o, i);
        if (there ? !tsr_json_cell_says(&cell, &values[j]) : !values[j].nothing) return false;
        found += there;
    }
    if (tsr_json_members(cells) != found) return false;
    *text = cells->begin;
    *n = (size_t)(cells->end - cells->begin);
    return true;
}

bool tsr_texts_lack(TsrTexts *t, int64_t j, int64_t i) {
    const TsrSource *source = t->of[j].source;
    TsrCells *cells = &t->cells[t->cells_of[j]];
    TsrCellText cell;
    if (source == NULL || source->delimiter != '{' || tsr_cells_find(&cell, cells, &t->of[j], i)) return false;
    return cells->row >= 0 && cells->row == tsr_origin_row(&t->of[j], i) && tsr_json_members(cells) >= 0;
}

const TsrSource *tsr_texts_manners(const TsrTexts *t) {
    for (int64_t j = 0; j < t->n; j++)
        if (t->of[j].source != NULL && (t->delimiter == '{') == (t->of[j].source->delimiter == '{'))
            return t->of[j].source;
    return NULL;
}
