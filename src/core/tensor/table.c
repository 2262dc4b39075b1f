/* table.c: the names of columns that belong to a tensor (table.h), and where their cells stood in a text (origin.h). A
 * storage keeps what the table that was read into it had; this file finds which of it a view's columns are, by its
 * strides and offset, and gives it to a copy made by indexing. Names and texts are a convenience: whatever goes wrong
 * here, memory included, loses them and raises no error. */
#include "core/table.h"

#include <string.h>

#include "core/mem.h"
#include "origin.h"

/* Set once an indexing has put columns into another order; shown with the table. */
static _Atomic bool moved;

bool tsr_columns_were_moved(void) { return moved; }

void tsr_columns_set_move(TsrTensor *t, TsrColumns *columns) {
    tsr_columns_free(t->storage->columns);
    t->storage->columns = columns;
}

int64_t tsr_column_count(const TsrTensor *t) {
    return tsr_is_sparse(t) || tsr_ndim(t) < 1 || tsr_ndim(t) > 2 ? 0 : tsr_ndim(t) == 1 ? 1 : t->sizes[1];
}

/* The storage's column that all of t's column j stands in; -1 when there is none. */
static int64_t stored_column(const TsrColumns *c, const TsrTensor *t, int64_t j) {
    int64_t first = t->offset + (tsr_ndim(t) == 2 ? j * t->strides[1] : 0),
            last = first + TSR_MAX(t->sizes[0] - 1, 0) * t->strides[0];
    bool one = first / c->step == last / c->step || t->strides[0] % (c->n * c->step) == 0;
    return one ? first / c->step % c->n : -1;
}

const char *tsr_column_name(const TsrTensor *t, int64_t j) {
    const TsrColumns *c = j >= 0 && j < tsr_column_count(t) ? t->storage->columns : NULL;
    int64_t k = c != NULL && c->names != NULL ? stored_column(c, t, j) : -1;
    return k >= 0 ? c->names[k] : NULL;
}

const char *tsr_column_type(const TsrTensor *t) {
    const TsrColumns *c = t->storage->columns;
    return c != NULL && c->n == 1 && tsr_ndim(t) == 1 ? c->type : "";
}

TsrOrigin tsr_column_origin(const TsrTensor *t, int64_t j) {
    const TsrColumns *c = j >= 0 && j < tsr_column_count(t) ? t->storage->columns : NULL;
    int64_t k = c != NULL && c->source != NULL ? stored_column(c, t, j) : -1;
    if (k < 0) return (TsrOrigin){0};
    TsrOrigin o = {c->source, c->rows, c->names != NULL ? c->names[k] : NULL, c->fields[k], 0, 0};
    int64_t at = t->offset + (tsr_ndim(t) == 2 ? j * t->strides[1] : 0);
    bool by_rows = c->step == 1; /* a row behind the other, or a column */
    o.first = by_rows ? at / c->n : at % c->step;
    o.step = by_rows ? t->strides[0] / c->n : t->strides[0];
    return o;
}

bool tsr_columns_known(const TsrTensor *t) {
    int64_t n = tsr_column_count(t), k = 0;
    while (k < n && tsr_column_name(t, k) != NULL) k++;
    return n > 0 && k == n;
}

/* ---- what is taken of a table ---- */

typedef struct Taken {
    const char **names; /* NULL: there are none */
    int32_t *fields;
    int64_t n;
} Taken;

static bool is_mask(const TsrTensor *index) { return index->dtype == TSR_BOOL || index->dtype == TSR_UINT8; }

/* What the columns that `index`, positions or a mask, takes of `from` are called, and their fields; without one those
 * of `from`. False when they are not all known. */
static bool take_columns(Taken *taken, const TsrTensor *from, const TsrTensor *index) {
    const TsrColumns *c = from->storage->columns;
    int64_t k = 0, positions = index != NULL ? index->sizes[0] : taken->n;
    for (int64_t i = 0; i < positions; i++) {
        bool mask = index != NULL && is_mask(index);
        int64_t column = index != NULL ? tsr_scalar_to_int(tsr_tensor_get(index, i)) : i;
        if (mask && column == 0) continue;
        if (mask) column = i;
        else if (column < 0) column += from->sizes[1];
        int64_t stored = k < taken->n ? stored_column(c, from, column) : -1;
        if (stored < 0) return false;
        taken->fields[k] = c->fields[stored];
        if (taken->names != NULL) taken->names[k] = c->names[stored];
        k++;
        moved |= taken->names != NULL && taken->n == tsr_column_count(from) && column != k - 1;
    }
    return k == taken->n;
}

/* The rows of the source that `index` takes: positions, the places of a mask, or without one all. */
static void fill_rows(TsrRows *rows, const TsrOrigin *o, const TsrTensor *from, const TsrTensor *index) {
    bool mask = index != NULL && is_mask(index);
    int64_t k = 0, n = index != NULL ? index->sizes[0] : rows->n;
    for (int64_t i = 0; i < n && k < rows->n; i++) {
        int64_t row = index != NULL ? tsr_scalar_to_int(tsr_tensor_get(index, i)) : i;
        if (mask && row == 0) continue;
        if (mask) row = i;
        else if (row < 0) row += from->sizes[0];
        rows->at[k++] = tsr_origin_row(o, row);
    }
    while (k < rows->n) rows->at[k++] = -1;
}

/* *out, a reference, gets the rows of the source that `picked` has; NULL where they have the same numbers. */
static TsrStatus take_rows(TsrRows **out, const TsrTensor *picked, const TsrTensor *from, const TsrTensor *index) {
    TsrOrigin o = tsr_column_origin(from, 0);
    TsrSource *source = from->storage->columns->source;
    *out = NULL;
    if (o.source == NULL || (index == NULL && o.rows == NULL && o.first == 0 && o.step == 1)) return TSR_OK;
    const int64_t made_of[] = {index != NULL ? index->storage->serial : -1,
                               index != NULL ? index->storage->version.value : 0,
                               index != NULL ? index->offset : 0,
                               index != NULL ? index->strides[0] : 0,
                               picked->sizes[0],
                               (int64_t)(intptr_t)o.rows,
                               o.first,
                               o.step};
    *out = tsr_rows_last_retain(source, made_of);
    if (*out != NULL) return TSR_OK;
    TSR_TRY(tsr_rows_new(out, picked->sizes[0]));
    memcpy((*out)->made_of, made_of, sizeof made_of);
    fill_rows(*out, &o, from, index);
    tsr_rows_set_last(source, *out);
    return TSR_OK;
}

static TsrStatus new_columns(TsrColumns **out, const Taken *taken, const TsrTensor *picked, const TsrTensor *from,
                             const TsrTensor *rows) {
    const TsrColumns *c = from->storage->columns;
    TsrColumns *columns;
    TSR_TRY(tsr_columns_new(&columns, taken->names, taken->n, c->delimiter));
    if (tsr_ndim(picked) == 2) columns->step = TSR_MAX(picked->strides[1], 1);
    memcpy(columns->fields, taken->fields, (size_t)taken->n * sizeof *taken->fields);
    if (columns->n == 1 && c->n == 1) memcpy(columns->type, c->type, sizeof c->type);
    TsrStatus status = take_rows(&columns->rows, picked, from, rows);
    columns->source = status == TSR_OK ? tsr_source_retain(c->source) : NULL;
    *out = columns;
    return status;
}

static void follow(TsrTensor *picked, const TsrTensor *from, const TsrTensor *rows, const TsrTensor *across) {
    Taken taken = {.n = tsr_column_count(picked)};
    bool named = from->storage->columns->names != NULL;
    size_t list = named ? (size_t)taken.n * sizeof *taken.names : 0;
    char *room = tsr_calloc(1, list + (size_t)taken.n * sizeof *taken.fields + 1);
    TsrColumns *columns = NULL;
    if (room == NULL) {
        tsr_error_clear();
        return;
    }
    taken.names = named ? (const char **)(void *)room : NULL;
    taken.fields = (int32_t *)(void *)(room + list);
    if (take_columns(&taken, from, across) && new_columns(&columns, &taken, picked, from, rows) == TSR_OK) {
        tsr_columns_set_move(picked, columns);
        columns = NULL;
    }
    tsr_columns_free(columns);
    tsr_free(room);
    tsr_error_clear();
}

void tsr_columns_follow(TsrTensor *picked, const TsrTensor *from, int n, TsrTensor *const *indices) {
    const TsrColumns *c = from->storage->columns;
    const TsrTensor *rows = n > 0 ? indices[0] : NULL, *across = n > 1 ? indices[1] : NULL;
    const TsrTensor *index = rows != NULL ? rows : across;
    bool both = rows != NULL && across != NULL, table = tsr_ndim(from) == 2 && tsr_ndim(picked) == 2,
         column = tsr_ndim(from) == 1 && tsr_ndim(picked) == 1;
    bool known = c->source != NULL || c->type[0] != '\0' ||
                 (table && c->names != NULL); /* a column's name goes no further without its text */
    if (known && (table || column) && !both && index != NULL && tsr_ndim(index) == 1 && tsr_column_count(picked) > 0)
        follow(picked, from, rows, across);
}
