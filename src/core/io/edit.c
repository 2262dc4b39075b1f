/* edit.c: changes elements and cells of tables in a file of text where they stand. The file is read again, with the
 * place of each; those that are not what they were get new text, and all other bytes are copied. */
#include <math.h>
#include <string.h>

#include "core/io.h"
#include "core/layout.h"
#include "core/mem.h"
#include "core/table.h"
#include "core/tensor/origin.h"
#include "core/view.h"
#include "elements.h"
#include "table_write.h"

typedef struct Edit { /* what gets new text: an element, or a cell of the table */
    TsrPlace place;
    TsrScalar value;
    TsrDtype dtype;
    int column;
    int64_t row;
} Edit;

typedef struct Edits {
    Edit *of;
    size_t n, room;
    const TsrTable *table; /* that the cells are from; NULL: they are elements */
} Edits;

/* ---- what fits what ---- */

static bool same_shape(const TsrTensor *a, const TsrTensor *b) {
    bool column = tsr_ndim(a) == 2 && a->sizes[1] == 1 && tsr_ndim(b) == 1 && a->sizes[0] == b->sizes[0];
    return column || (tsr_ndim(a) == tsr_ndim(b) &&
                      (tsr_ndim(a) == 0 || memcmp(a->sizes, b->sizes, sizeof *a->sizes * (size_t)tsr_ndim(a)) == 0));
}

static const TsrTensor *find(const TsrItems *items, const char *name) {
    for (int i = 0; i < items->n; i++)
        if (items->items[i].name != NULL && strcmp(items->items[i].name, name) == 0) return items->items[i].tensor;
    return NULL;
}

/* That of the new ones which stands for item i of the old. NULL: none does. */
static const TsrTensor *counterpart(const TsrItems *old, int i, const TsrItems *items) {
    const char *name = old->items[i].name;
    const TsrTensor *t = name == NULL || items->single ? (items->single && old->n == 1 ? items->items[0].tensor : NULL)
                         : i < items->n && strcmp(items->items[i].name, name) == 0 ? items->items[i].tensor
                                                                                   : find(items, name);
    bool plain = t != NULL && !tsr_is_sparse(t) && !tsr_is_meta(t) && tsr_dtype_is_pod(t->dtype) &&
                 !tsr_dtype_is_complex(t->dtype);
    return plain && same_shape(old->items[i].tensor, t) ? t : NULL;
}

static bool all_fit(const TsrItems *old, const TsrItems *items) {
    bool fit = old->tree.root == NULL && items->tree.root == NULL && old->table == NULL && items->table == NULL &&
               old->n == items->n;
    for (int i = 0; i < old->n && fit; i++) fit = counterpart(old, i, items) != NULL;
    return fit;
}

/* ---- what differs ---- */

static bool is_integer(TsrScalar s) { return s.kind == TSR_SCALAR_INT || s.kind == TSR_SCALAR_UINT; }

static bool same_integer(TsrScalar a, TsrScalar b) {
    bool below = (a.kind == TSR_SCALAR_INT && a.i < 0) || (b.kind == TSR_SCALAR_INT && b.i < 0);
    return below ? a.kind == b.kind && a.i == b.i : a.u == b.u;
}

/* Whether two numbers are one, so that its text may stay; true is not 1, and 0 not -0. */
static bool same_value(TsrScalar a, TsrScalar b) {
    if (a.kind == TSR_SCALAR_BOOL || b.kind == TSR_SCALAR_BOOL) return a.kind == b.kind && a.b == b.b;
    if (is_integer(a) && is_integer(b)) return same_integer(a, b);
    double x = tsr_scalar_to_double(a), y = tsr_scalar_to_double(b);
    bool exact = fabs(x) < 0x1p53 || a.kind == b.kind;
    return (isnan(x) && isnan(y)) || (x == y && exact && signbit(x) == signbit(y));
}

static TsrStatus add_edit(Edits *edits, Edit edit) {
    TSR_TRY(tsr_mem_grow(&edits->of, &edits->room, edits->n + 1, sizeof *edits->of));
    edits->of[edits->n++] = edit;
    return TSR_OK;
}

static TsrStatus compare(Edits *edits, const TsrTensor *old, const TsrTensor *t, const TsrPlace *places) {
    const char *before = tsr_data(old), *now = tsr_data(t);
    for (int64_t i = 0; i < t->numel; i++) {
        TSR_TRY(tsr_interrupt_check_at(i));
        TsrScalar a = tsr_scalar_load(old->dtype, before + i * (int64_t)tsr_itemsize(old)),
                  b = tsr_scalar_load(t->dtype, now + i * (int64_t)tsr_itemsize(t));
        if (same_value(a, b)) continue;
        TSR_TRY(add_edit(edits, (Edit){.place = places[i], .value = b, .dtype = t->dtype}));
    }
    return TSR_OK;
}

static TsrStatus compare_all(Edits *edits, const TsrItems *old, const TsrItems *items, const TsrPlaces *places) {
    size_t at = 0;
    for (int i = 0; i < old->n; i++) {
        TsrTensor *dense, *t = old->items[i].tensor;
        if (at + (size_t)t->numel > places->n)
            return tsr_error(TSR_SYSTEM_ERROR, "tsr_edit: a reader does not tell all places");
        TSR_TRY(tsr_new_elements(&dense, counterpart(old, i, items)));
        TsrStatus status = compare(edits, t, dense, places->of + at);
        tsr_tensor_free(dense);
        TSR_TRY(status);
        at += (size_t)t->numel;
    }
    return TSR_OK;
}

/* ---- tables ---- */

/* The column of `t` that stands for column i of the old table: that of its name; -1: there is none. */
static int twin(const TsrTable *old, int i, const TsrTable *t) {
    const char *name = old->columns[i].name;
    int k = i < t->n && strcmp(t->columns[i].name, name) == 0 ? i : 0;
    while (k < t->n && strcmp(t->columns[k].name, name) != 0) k++;
    return k < t->n ? k : -1;
}

/* Whether rows of a table were put into another order: they go there as they stood, and not their values alone. */
static bool is_moved(const TsrTable *t) {
    for (int i = 0; i < t->n; i++) {
        TsrOrigin o = t->columns[i].from != NULL ? tsr_column_origin(t->columns[i].from, 0) : (TsrOrigin){0};
        for (int64_t row = 0; o.source != NULL && row < t->rows && !tsr_interrupted_at(row); row++)
            if (tsr_origin_row(&o, row) != row) return true;
    }
    return false;
}

static bool tables_fit(const TsrTable *old, const TsrTable *t) {
    bool fit = old->n == t->n && old->rows == t->rows;
    for (int i = 0; i < old->n && fit; i++) fit = twin(old, i, t) >= 0;
    return fit;
}

/* *fits: false when a cell was changed that the text has not. */
static TsrStatus compare_tables(bool *fits, Edits *edits, const TsrTable *old, const TsrPlaces *places) {
    if (places->n < (size_t)old->n * (size_t)old->rows)
        return tsr_error(TSR_SYSTEM_ERROR, "tsr_edit: a reader does not tell all places");
    for (int i = 0; i < old->n; i++) {
        int k = twin(old, i, edits->table);
        for (int64_t row = 0; row < old->rows && *fits; row++) {
            bool same;
            TsrPlace place = places->of[row * old->n + i];
            TSR_TRY(tsr_interrupt_check_at(row));
            TSR_TRY(tsr_table_same_cell(&same, &old->columns[i], &edits->table->columns[k], row));
            if (same) continue;
            *fits = place.begin <= place.end;
            if (*fits) TSR_TRY(add_edit(edits, (Edit){.place = place, .column = k, .row = row}));
        }
    }
    return TSR_OK;
}

/* ---- the new text ---- */

static int by_place(const void *a, const void *b) {
    size_t x = ((const Edit *)a)->place.begin, y = ((const Edit *)b)->place.begin;
    return (x > y) - (x < y);
}

static TsrStatus put_edits(TsrSink *sink, const TsrInput *in, const Edits *edits, const Edit *const *sorted,
                           const TsrFormat *format, const TsrSaveOptions *save) {
    size_t at = 0;
    for (size_t i = 0; i < edits->n; i++) {
        const Edit *e = sorted[i];
        bool quoted = e->place.begin > 0 && in->data[e->place.begin - 1] == '"';
        TSR_TRY(tsr_interrupt_check_at(i));
        tsr_sink_write(sink, in->data + at, e->place.begin - at);
        TSR_TRY(edits->table != NULL ? format->put_cell(sink, edits->table, e->column, e->row, save, quoted)
                                     : format->put(&sink->text, e->value, e->dtype, save, quoted));
        at = e->place.end;
    }
    tsr_sink_write(sink, in->data + at, in->size - at);
    return sink->status;
}

static TsrStatus write_edits(const TsrInput *in, const Edits *edits, const char *path, const TsrFormat *format,
                             const TsrSaveOptions *save) {
    const void **sorted;
    TsrSink sink = {.fd = -1, .name = path};
    TsrSaveOptions o = *save;
    TSR_TRY(tsr_new_sorted(&sorted, edits->of, edits->n, sizeof *edits->of, by_place));
    TsrStatus status = put_edits(&sink, in, edits, (const Edit *const *)sorted, format, save);
    tsr_free(sorted);
    o.format = format->name;
    o.text = sink.text.data != NULL ? sink.text.data : "";
    o.text_length = sink.text.length;
    if (status == TSR_OK) status = tsr_save(&(TsrItems){0}, path, &o);
    tsr_text_free(&sink.text);
    return status;
}

/* ---- all of it ---- */

/* Refused are numbers that were not read as they stand. */
static TsrStatus check_rounding(const TsrItems *old) {
    if (!old->rounded) return TSR_OK;
    const char *note = old->notes.data;
    size_t n = strcspn(note, ";\n");
    tsr_error(TSR_VALUE_ERROR, "%.*s", (int)n, note);
    if (note[n] == ';') tsr_error_hint("%.*s", (int)strcspn(note + n + 2, "\n"), note + n + 2);
    return TSR_VALUE_ERROR;
}

/* What separates the fields of the table that was read; 0: it is none. */
static char delimiter_of(const TsrItems *old) {
    if (old->table != NULL) return old->table->delimiter;
    const TsrColumns *columns = old->n == 1 ? old->items[0].tensor->storage->columns : NULL;
    return columns != NULL ? columns->delimiter : 0;
}

static TsrStatus edit(bool *fits, const TsrInput *in, const TsrItems *old, const TsrPlaces *places,
                      const TsrItems *items, const char *path, const TsrFormat *format, const TsrSaveOptions *save) {
    Edits edits = {0};
    TsrSaveOptions o = *save;
    o.delimiter = delimiter_of(old);
    bool tables = old->table != NULL && items->table != NULL && format->put_cell != NULL;
    *fits = tables ? tables_fit(old->table, items->table) && !is_moved(items->table) : all_fit(old, items);
    if (!*fits) return TSR_OK;
    if (tables) edits.table = items->table;
    TsrStatus status =
        tables ? compare_tables(fits, &edits, old->table, places) : compare_all(&edits, old, items, places);
    if (status == TSR_OK && *fits) status = write_edits(in, &edits, path, format, &o);
    tsr_free(edits.of);
    return status;
}

TsrStatus tsr_edit(bool *fits, const TsrItems *items, const char *path, const TsrLoadOptions *load,
                   const TsrSaveOptions *save) {
    TsrInput in;
    TsrItems old = {0};
    TsrPlaces places = {.tables = items->table != NULL};
    const TsrFormat *format = NULL;
    TsrLoadOptions o;
    TsrSaveOptions written = tsr_save_options();
    *fits = false;
    TSR_TRY(tsr_take_load_options(&o, load));
    TSR_TRY(tsr_take_options(&written, sizeof written, save));
    o.places = &places;
    TSR_TRY(tsr_input_open(&in, path, 'c', NULL));
    TsrStatus status = tsr_format_of(&format, &in, o.format);
    bool text = status == TSR_OK && format->put != NULL;
    if (text) {
        o.format = format->name;
        status = tsr_load_bytes(&old, in.name, in.data, in.size, &o);
    }
    if (text && status == TSR_OK) status = check_rounding(&old);
    if (text && status == TSR_OK) status = edit(fits, &in, &old, &places, items, path, format, &written);
    tsr_free(places.of);
    tsr_items_free(&old);
    tsr_dataptr_release(&in.hold);
    return status;
}
