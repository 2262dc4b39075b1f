/* fuzz_load.h: what the fuzz targets of the readers share. */
#ifndef FUZZ_LOAD_H
#define FUZZ_LOAD_H

#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "core/io.h"
#include "core/io_table.h"
#include "core/mem.h"
#include "core/table.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

#define FUZZ_DEMAND(condition) \
    do { \
        if (!(condition)) __builtin_trap(); \
    } while (0)

/* That of the same name: a writer may have an order of its own. */
static inline const TsrTensor *fuzz_named(const TsrItems *items, const TsrItem *like) {
    for (int i = 0; i < items->n; i++)
        if (like->name == NULL || strcmp(items->items[i].name, like->name) == 0) return items->items[i].tensor;
    return NULL;
}

static inline void fuzz_demand_same(const TsrTensor *a, const TsrTensor *b) {
    FUZZ_DEMAND(b != NULL && a->dtype == b->dtype && a->numel == b->numel && tsr_ndim(a) == tsr_ndim(b));
    FUZZ_DEMAND(tsr_ndim(a) == 0 || memcmp(a->sizes, b->sizes, sizeof *a->sizes * (size_t)tsr_ndim(a)) == 0);
}

/* Whether a column of numbers lacks some, for which .npy has nothing but in spans of time. */
static inline bool fuzz_lacks_numbers(const TsrTable *table) {
    for (int i = 0; table != NULL && i < table->n; i++)
        if (table->columns[i].kind == TSR_COLUMN_NUMBERS && table->columns[i].missing != NULL &&
            tsr_column_type(table->columns[i].data)[0] != 'm')
            return true;
    return false;
}

/* Whether the format has the tensor's dtype (NumPy has no complex32, and two bytes of no dtype are read as bfloat16),
 * and memory is enough for three of it. */
static inline bool fuzz_is_writable(const TsrTensor *t, const char *format) {
    bool nameless = t->dtype == TSR_BFLOAT16 && (strcmp(format, "npy") == 0 || strcmp(format, "npz") == 0);
    return t->dtype != TSR_COMPLEX32 && !nameless && t->numel <= 1 << 20;
}

/* What was read can be written, and reads back with the same geometry. */
static inline void fuzz_write_back(const TsrItems *items, const TsrLoadOptions *options) {
    TsrItems again;
    TsrSink sink = {.fd = -1, .name = "fuzz"};
    if (fuzz_lacks_numbers(items->table)) return;
    for (int i = 0; i < items->n; i++)
        if (!fuzz_is_writable(items->items[i].tensor, options->format)) return;
    FUZZ_DEMAND(tsr_write(&sink, items, &(TsrSaveOptions){.size = sizeof(TsrSaveOptions), .format = options->format}) ==
                TSR_OK);
    FUZZ_DEMAND(tsr_load_bytes(&again, "fuzz", sink.text.data, sink.text.length, options) == TSR_OK);
    FUZZ_DEMAND(items->n == again.n);
    for (int i = 0; i < items->n; i++) fuzz_demand_same(items->items[i].tensor, fuzz_named(&again, &items->items[i]));
    tsr_items_free(&again);
    tsr_text_free(&sink.text);
}

/* Reads the bytes: an error has words, a result is sound, and neither leaves memory behind. */
static inline void fuzz_load(const uint8_t *data, size_t size, const TsrLoadOptions *options, bool write_back) {
    TsrItems items;
    tsr_set_memory_limit((size_t)256 << 20);
    int64_t blocks = tsr_mem_live_blocks();
    if (tsr_load_bytes(&items, "fuzz", (const char *)data, size, options) != TSR_OK) {
        FUZZ_DEMAND(items.n == 0 && tsr_error_message()[0] != '\0');
    } else {
        for (int i = 0; i < items.n; i++) FUZZ_DEMAND(tsr_tensor_check(items.items[i].tensor, false) == TSR_OK);
        if (write_back) fuzz_write_back(&items, options);
    }
    tsr_items_free(&items);
    tsr_error_clear();
    FUZZ_DEMAND(tsr_mem_live_blocks() <= blocks + 64); /* blocks kept for reuse are few */
}

#endif
