/* table.c: the names of columns that belong to a tensor (table.h). A storage keeps the names of the table that was read
 * into it; this file finds which of them a view's columns are, by its strides and offset, and gives the names to a copy
 * made by indexing. Names are a convenience: whatever goes wrong here, memory included, loses the names and raises no
 * error. */
#include "core/table.h"

#include <string.h>

#include "core/mem.h"

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

int tsr_column_decimals(const TsrTensor *t, int64_t j) {
    const TsrColumns *c = j >= 0 && j < tsr_column_count(t) && t->numel > 0 ? t->storage->columns : NULL;
    int64_t k = c != NULL ? stored_column(c, t, j) : -1;
    return k >= 0 ? c->decimals[k] : tsr_column_count(t) == 1 && c == NULL ? t->storage->decimals : 0;
}

bool tsr_columns_known(const TsrTensor *t) {
    int64_t n = tsr_column_count(t), k = 0;
    while (k < n && tsr_column_name(t, k) != NULL) k++;
    return n > 0 && k == n;
}

/* The names and decimals of the n columns that `index`, positions or a mask, takes of `from`; without one those of
 * `from`. False when they are not all known. */
static bool take_names(const char **names, int8_t *decimals, int64_t n, const TsrTensor *from, const TsrTensor *index) {
    int64_t k = 0, positions = index != NULL ? index->sizes[0] : n;
    for (int64_t i = 0; i < positions; i++) {
        bool mask = index != NULL && (index->dtype == TSR_BOOL || index->dtype == TSR_UINT8);
        int64_t column = index != NULL ? tsr_scalar_to_int(tsr_tensor_get(index, i)) : i;
        if (mask && column == 0) continue;
        if (mask) column = i;
        else if (column < 0) column += from->sizes[1];
        decimals[k] = (int8_t)tsr_column_decimals(from, column);
        names[k++] = tsr_column_name(from, column);
        if (names[k - 1] == NULL) return false;
        moved |= n == from->sizes[1] && column != k - 1;
    }
    return k == n;
}

void tsr_columns_follow(TsrTensor *picked, const TsrTensor *from, int n, TsrTensor *const *indices) {
    const TsrColumns *c = from->storage->columns;
    TsrColumns *columns;
    const TsrTensor *rows = n > 0 ? indices[0] : NULL, *across = n > 1 ? indices[1] : NULL;
    const TsrTensor *index = rows != NULL ? rows : across;
    if (c->names == NULL || tsr_ndim(from) != 2 || tsr_ndim(picked) != 2 || (rows != NULL && across != NULL) ||
        index == NULL || tsr_ndim(index) != 1)
        return;
    int64_t count = picked->sizes[1];
    const char **names = tsr_calloc((size_t)TSR_MAX(count, 1), sizeof *names + 1);
    int8_t *decimals = (int8_t *)(names + count);
    if (names != NULL && count > 0 && take_names(names, decimals, count, from, across) &&
        tsr_columns_new(&columns, names, count, c->delimiter) == TSR_OK) {
        columns->step = TSR_MAX(picked->strides[1], 1);
        memcpy(columns->decimals, decimals, (size_t)count);
        tsr_columns_set_move(picked, columns);
    }
    tsr_free(names);
    tsr_error_clear();
}
