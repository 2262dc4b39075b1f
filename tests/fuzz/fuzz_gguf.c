/* fuzz_gguf: ggml's models, whose plain tensors are written back. */
#include "fuzz_load.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    TsrLoadOptions options = tsr_load_options();
    options.format = "gguf";
    options.listing = size % 2 == 0;
    fuzz_load(data, size, &options, false);
    return 0;
}
