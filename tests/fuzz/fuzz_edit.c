/* fuzz_edit: where a reader of text says that each element stands: as many places as elements, within the text, none in
 * another, and each holds what was read (io/edit.c writes over them). */
#include <stdlib.h>

#include "fuzz_load.h"

static int by_begin(const void *a, const void *b) {
    size_t x = ((const TsrPlace *)a)->begin, y = ((const TsrPlace *)b)->begin;
    return (x > y) - (x < y);
}

/* Without the cells that the text has not; how many are left. */
static size_t drop_absent(TsrPlaces *places) {
    size_t n = 0;
    for (size_t i = 0; i < places->n; i++)
        if (places->of[i].begin <= places->of[i].end) places->of[n++] = places->of[i];
    return n;
}

static void check(const uint8_t *data, size_t size, const char *format, bool tables) {
    TsrItems items;
    TsrPlaces places = {.tables = tables};
    TsrLoadOptions options = tsr_load_options();
    size_t elements = 0;
    options.format = format;
    options.places = &places;
    tsr_set_memory_limit((size_t)256 << 20);
    if (tsr_load_bytes(&items, "fuzz", (const char *)data, size, &options) == TSR_OK && items.tree.root == NULL) {
        for (int i = 0; i < items.n; i++) elements += (size_t)items.items[i].tensor->numel;
        if (items.table != NULL) elements = (size_t)items.table->n * (size_t)items.table->rows;
        FUZZ_DEMAND(places.n == elements);
        places.n = drop_absent(&places);
        if (places.n > 1) qsort(places.of, places.n, sizeof *places.of, by_begin);
        for (size_t i = 0; i < places.n; i++) {
            FUZZ_DEMAND(places.of[i].begin <= places.of[i].end && places.of[i].end <= size);
            FUZZ_DEMAND(i == 0 || places.of[i - 1].end <= places.of[i].begin);
        }
    }
    tsr_free(places.of);
    tsr_items_free(&items);
    tsr_error_clear();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    for (int tables = 0; tables < 2; tables++) {
        check(data, size, "json", tables != 0);
        check(data, size, "jsonl", tables != 0);
        check(data, size, "csv", tables != 0);
    }
    return 0;
}
