/* csv_cells.c: the cells of lines of text (cells.h), by the rules of csv_fields.h. */
#include "cells.h"
#include "core/io/csv/csv_fields.h"
#include "core/io/elements.h"

const char *tsr_csv_row_end(const TsrSource *source, const char *p) {
    int64_t lines;
    return source->quoted ? record_end(p, source->end, &lines) : line_end(p, source->end);
}

const char *tsr_csv_row(const TsrSource *source, const char *p) {
    if (p > source->begin && p < source->end && *p == '\n') p++; /* of the row before */
    while (p < source->end) {
        const char *end = line_end(p, source->end);
        if (!blank_line(p, end)) return p;
        p = end + 1;
    }
    return NULL;
}

bool tsr_csv_find_cell(TsrCellText *out, TsrCells *c, int64_t field) {
    const char delimiter = c->source->delimiter;
    if (c->field > field) {
        c->p = c->begin;
        c->field = 0;
        c->last = false;
    }
    while (c->p < c->end && c->field == 0 && delimiter == ' ' && *c->p == ' ') c->p++;
    for (; c->field <= field && !c->last; c->field++) {
        out->raw = c->p;
        next_field(&c->p, c->end, delimiter, &out->text, &out->text_end, &c->last);
    }
    if (c->field != field + 1) return false;
    out->raw_end = c->last ? c->end : c->p - 1;
    if (c->last && out->raw_end > out->raw && out->raw_end[-1] == '\r') out->raw_end--;
    out->line_end = c->end;
    return true;
}

/* ---- what a text says ---- */

bool tsr_number_says(const char *text, const char *end, TsrScalar value, TsrDtype dtype) {
    double d;
    int64_t i;
    uint64_t u;
    switch (value.kind) {
    case TSR_SCALAR_INT: return tsr_parse_int64(&i, text, end) == end && text < end && i == value.i;
    case TSR_SCALAR_UINT: return tsr_parse_uint64(&u, text, end) && u == value.u;
    case TSR_SCALAR_FLOAT:
        if ((dtype != TSR_FLOAT64 && dtype != TSR_FLOAT32) || tsr_parse_double(&d, text, end) != end) return false;
        if (dtype == TSR_FLOAT32) d = (double)(float)d;
        return text < end && memcmp(&d, &value.f, sizeof d) == 0;
    default: return false;
    }
}

static double as_double(TsrScalar s) {
    return s.kind == TSR_SCALAR_FLOAT  ? s.f
           : s.kind == TSR_SCALAR_INT  ? (double)s.i
           : s.kind == TSR_SCALAR_BOOL ? s.b
                                       : -1;
}

static bool says_number(const TsrCellText *cell, const TsrCellValue *v) {
    bool truth;
    if (parse_truth(&truth, cell->text, cell->text_end)) return as_double(v->value) == truth;
    return tsr_number_says(cell->text, cell->text_end, v->value, v->dtype);
}

static bool says_word(const TsrCellText *cell, const TsrCellValue *v) {
    if (v->value.i < 0 || v->value.i >= v->words->n) return false;
    const char *word = v->words->bytes + v->words->begin[v->value.i];
    size_t n = v->words->begin[v->value.i + 1] - v->words->begin[v->value.i], k = 0;
    bool quoted = cell->text_end < cell->line_end && *cell->text_end == '"';
    for (const char *p = cell->text; p < cell->text_end; p++, k++) {
        if (k == n || word[k] != *p) return false;
        if (quoted && *p == '"' && p + 1 < cell->text_end && p[1] == '"') p++;
    }
    return k == n;
}

static bool says_nothing(const TsrCellText *cell, const TsrCellValue *v, const TsrSource *source) {
    double d;
    bool empty = cell->text == cell->text_end;
    if (empty ? v->kind != TSR_COLUMN_TEXT : source->na != NULL && is_listed(source->na, cell->text, cell->text_end))
        return true;
    return v->value.kind == TSR_SCALAR_FLOAT && tsr_parse_double(&d, cell->text, cell->text_end) == cell->text_end &&
           d != d;
}

bool tsr_csv_cell_says(const TsrCellText *cell, const TsrCellValue *v, const TsrSource *source) {
    TsrTimeStyle style;
    int64_t time;
    if (v->nothing || says_nothing(cell, v, source)) return v->nothing && says_nothing(cell, v, source);
    if (v->kind == TSR_COLUMN_NUMBERS) return says_number(cell, v);
    if (v->kind == TSR_COLUMN_TEXT) return says_word(cell, v);
    style = *v->style;
    return tsr_time_parse(&time, cell->text, cell->text_end, &style, false) && time == v->value.i;
}
