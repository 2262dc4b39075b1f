/* cells.c: finds the text of a table's cells (cells.h). Where rows begin is noted the first time that somebody asks. */
#include "cells.h"

#include <string.h>

#include "core/mem.h"

static bool is_json(const TsrSource *source) { return source->delimiter == '{'; }

static const char *row_end(const TsrSource *source, const char *p) {
    return is_json(source) ? tsr_json_row_end(source, p) : tsr_csv_row_end(source, p);
}

static const char *row_from(const TsrSource *source, const char *p) {
    return is_json(source) ? tsr_json_row(source, p) : tsr_csv_row(source, p);
}

/* ---- where rows begin ---- */

static TsrStatus make_index(TsrIndex **out, const TsrSource *source) {
    const char **at = NULL;
    size_t n = 0, room = 0;
    TsrStatus status = TSR_OK;
    for (const char *p = source->begin; status == TSR_OK && (p = row_from(source, p)) != NULL;) {
        status = tsr_interrupt_check_at((int64_t)n);
        if (status == TSR_OK) status = tsr_mem_grow(&at, &room, n + 1, sizeof *at);
        if (status == TSR_OK) at[n++] = p;
        p = row_end(source, p);
    }
    TsrIndex *index = status == TSR_OK ? tsr_malloc(sizeof *index + n * sizeof *at) : NULL;
    if (status == TSR_OK && index == NULL) status = tsr_error_no_memory(sizeof *index + n * sizeof *at);
    if (index != NULL) {
        index->n = (int64_t)n;
        if (n > 0) memcpy(index->at, at, n * sizeof *at);
        *out = index;
    }
    tsr_free(at);
    return status;
}

TsrStatus tsr_cells_index(const TsrIndex **lent, TsrSource *source) {
    TsrIndex *index;
    tsr_lock(&source->lock);
    *lent = source->index;
    tsr_unlock(&source->lock);
    if (*lent != NULL) return TSR_OK;
    TsrStatus status = make_index(&index, source);
    tsr_source_forgive(source);
    if (status == TSR_OK) *lent = tsr_source_set_index_move(source, index);
    if (status != TSR_MEMORY_ERROR && status != TSR_RUNTIME_ERROR) return status;
    tsr_error_clear();
    return TSR_OK;
}

/* ---- cells ---- */

/* The cursor at the beginning of that row. */
static bool go_to(TsrCells *c, int64_t row) {
    const TsrIndex *index = c->source->index;
    if (row == c->row) return true;
    if (index == NULL || row < 0 || row >= index->n) return false;
    const char *begin = index->at[row];
    *c = (TsrCells){.source = c->source, .row = row, .begin = begin, .p = begin, .end = row_end(c->source, begin)};
    return true;
}

bool tsr_cells_find(TsrCellText *out, TsrCells *c, const TsrOrigin *column, int64_t i) {
    if (column->source == NULL) return false;
    if (c->source != column->source) *c = (TsrCells){.source = column->source, .row = -1};
    if (!go_to(c, tsr_origin_row(column, i))) return false;
    return is_json(c->source) ? tsr_json_find_cell(out, c, column->name) : tsr_csv_find_cell(out, c, column->field);
}

bool tsr_cells_name(TsrCellText *out, const TsrOrigin *column) {
    const TsrSource *source = column->source;
    if (source == NULL || source->head == NULL || is_json(source)) return false;
    TsrCells c = {.source = source, .begin = source->head, .p = source->head, .end = source->head_end};
    return tsr_csv_find_cell(out, &c, column->field);
}
