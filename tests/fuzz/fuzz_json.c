/* fuzz_json: arrays of numbers and objects of them. */
#include "fuzz_load.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    fuzz_load(data, size, &(TsrLoadOptions){.format = "json", .ndim = -1, .dtype = TSR_DTYPE_NONE}, false);
    fuzz_load(data, size, &(TsrLoadOptions){.format = "json", .ndim = -1, .dtype = TSR_INT16}, false);
    return 0;
}
