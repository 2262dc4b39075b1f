/* fuzz_cells: a table of text is written as its cells stood (io/cells), and reads back as what it was; so is every
 * second row of it, which comes from places further apart. The first byte chooses the format. */
#include <float.h>

#include "fuzz_load.h"

#include "core/io/table_write.h"
#include "core/table.h"
#include "core/view.h"

static void demand_same_table(const TsrTable *a, const TsrTable *b) {
    bool same = false;
    FUZZ_DEMAND(b != NULL && a->n == b->n && a->rows == b->rows);
    for (int i = 0; i < a->n; i++) {
        FUZZ_DEMAND(strcmp(a->columns[i].name, b->columns[i].name) == 0 && a->columns[i].kind == b->columns[i].kind);
        for (int64_t row = 0; row < a->rows; row++) {
            FUZZ_DEMAND(tsr_table_same_cell(&same, &a->columns[i], &b->columns[i], row) == TSR_OK);
            FUZZ_DEMAND(same);
        }
    }
}

/* What remembers where its cells stood. */
static void remember(TsrTable *t) {
    for (int i = 0; i < t->n; i++)
        if (t->columns[i].from == NULL) t->columns[i].from = tsr_tensor_retain(t->columns[i].data);
}

static bool write_items(TsrSink *sink, const TsrItems *items, const char *format) {
    const char **names = NULL;
    TsrSaveOptions save = tsr_save_options();
    save.format = format;
    const TsrTensor *t = items->single ? items->items[0].tensor : NULL;
    const bool named = t != NULL && tsr_columns_known(t) && format[0] != 'j';
    if (named) {
        save.header_count = tsr_column_count(t);
        names = tsr_malloc((size_t)save.header_count * sizeof *names);
        FUZZ_DEMAND(names != NULL);
        for (int64_t j = 0; j < save.header_count; j++) names[j] = tsr_column_name(t, j);
        save.header = names;
    }
    *sink = (TsrSink){.fd = -1, .name = "fuzz"};
    const TsrStatus status = tsr_write(sink, items, &save);
    tsr_free(names);
    return status == TSR_OK;
}

static void demand_same(const TsrItems *a, const TsrItems *b) {
    if (a->table != NULL) return demand_same_table(a->table, b->table);
    if (!a->single) return;
    FUZZ_DEMAND(b->single);
    const TsrTensor *x = a->items[0].tensor, *y = b->items[0].tensor;
    fuzz_demand_same(x, y);
    for (int64_t i = 0; i < x->numel; i++) {
        const TsrScalar p = tsr_tensor_get(x, i), q = tsr_tensor_get(y, i);
        FUZZ_DEMAND(p.kind == q.kind);
        FUZZ_DEMAND(p.kind == TSR_SCALAR_FLOAT ? p.f == q.f || (p.f != p.f && q.f != q.f) : p.i == q.i);
    }
}

static bool is_odd(const TsrTensor *t) {
    for (int64_t i = 0; i < t->numel; i++) {
        const TsrScalar s = tsr_tensor_get(t, i);
        if (s.kind == TSR_SCALAR_FLOAT && !(s.f <= DBL_MAX && s.f >= -DBL_MAX)) return true;
    }
    return false;
}

/* Whether a number is infinite or nan, for which JSON has null. */
static bool has_odd(const TsrItems *items) {
    bool found = items->single && is_odd(items->items[0].tensor);
    for (int i = 0; items->table != NULL && i < items->table->n; i++) found |= is_odd(items->table->columns[i].data);
    return found;
}

static void check_written(const TsrItems *items, const TsrLoadOptions *options) {
    TsrItems again;
    TsrSink sink;
    if (options->format[0] == 'j' && has_odd(items)) return;
    FUZZ_DEMAND(write_items(&sink, items, options->format));
    FUZZ_DEMAND(tsr_load_bytes(&again, "fuzz", sink.text.data != NULL ? sink.text.data : "", sink.text.length,
                               options) == TSR_OK);
    demand_same(items, &again);
    tsr_items_free(&again);
    tsr_text_free(&sink.text);
}

/* Every second row, which may read back as something else: a column of the words left may look like numbers. */
static void write_half(const TsrTable *t, const char *format) {
    TsrItems half = {0};
    TsrSink sink;
    const int64_t rows = (t->rows + 1) / 2;
    FUZZ_DEMAND(tsr_table_new(&half.table, rows) == TSR_OK);
    for (int i = 0; i < t->n; i++) {
        const TsrTableColumn *from = &t->columns[i];
        TsrTableColumn c = {.kind = from->kind, .unit = from->unit, .style = from->style};
        c.words = tsr_words_retain(from->words);
        FUZZ_DEMAND(tsr_tensor_new_slice(&c.from, from->data, 0, 0, t->rows, 2) == TSR_OK);
        FUZZ_DEMAND(tsr_tensor_new_contiguous(&c.data, c.from, TSR_CONTIGUOUS) == TSR_OK);
        if (from->missing != NULL) {
            TsrTensor *missing;
            FUZZ_DEMAND(tsr_tensor_new_slice(&missing, from->missing, 0, 0, t->rows, 2) == TSR_OK);
            FUZZ_DEMAND(tsr_tensor_new_contiguous(&c.missing, missing, TSR_CONTIGUOUS) == TSR_OK);
            tsr_tensor_free(missing);
        }
        FUZZ_DEMAND(tsr_table_add_move(half.table, from->name, strlen(from->name), c) == TSR_OK);
    }
    FUZZ_DEMAND(write_items(&sink, &half, format));
    tsr_text_free(&sink.text);
    tsr_items_free(&half);
}

/* A mark behind the beginning may come to stand there when it is written, where it is taken for that of the file. */
static bool has_mark(const char *text, size_t size) {
    return size > 3 && memmem(text + 1, size - 1, "\xef\xbb\xbf", 3) != NULL;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    static const char *const formats[] = {"csv", "tsv", "jsonl", "json"};
    static const char *const others[] = {"csv", "tsv", "jsonl", "json", "markdown"};
    TsrLoadOptions options = tsr_load_options();
    TsrItems items;
    if (size == 0 || has_mark((const char *)data + 1, size - 1)) return 0;
    options.format = formats[data[0] & 3];
    tsr_set_memory_limit((size_t)256 << 20);
    if (tsr_load_bytes(&items, "fuzz", (const char *)data + 1, size - 1, &options) == TSR_OK &&
        items.tree.root == NULL && (items.table != NULL || items.single)) {
        if (items.table != NULL) remember(items.table);
        check_written(&items, &options);
        if (items.table != NULL) write_half(items.table, others[data[0] / 4 % 5]);
    }
    tsr_items_free(&items);
    tsr_error_clear();
    return 0;
}
