/* fuzz_pt: PyTorch's archives, and what is read of them written again. */
#include "fuzz_load.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    TsrLoadOptions options = {.size = sizeof(TsrLoadOptions),
                              .format = "pt",
                              .ndim = -1,
                              .dtype = TSR_DTYPE_NONE,
                              .header = -1,
                              .opaque = size % 2 == 0};
    TsrItems items;
    TsrSink sink = {.fd = -1, .name = "fuzz"};
    fuzz_load(data, size, &options, false);
    if (tsr_load_bytes(&items, "fuzz", (const char *)data, size, &options) == TSR_OK &&
        tsr_write(&sink, &items,
                  &(TsrSaveOptions){.size = sizeof(TsrSaveOptions), .format = "pt", .compact = size % 3 == 0}) ==
            TSR_OK) {
        TsrItems again;
        FUZZ_DEMAND(tsr_load_bytes(&again, "fuzz", sink.text.data, sink.text.length, &options) == TSR_OK);
        FUZZ_DEMAND(again.n == items.n && again.tree.root->kind == items.tree.root->kind &&
                    again.tree.root->n == items.tree.root->n);
        tsr_items_free(&again);
    }
    tsr_text_free(&sink.text);
    tsr_items_free(&items);
    tsr_error_clear();
    return 0;
}
