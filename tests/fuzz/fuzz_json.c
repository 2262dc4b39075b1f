/* fuzz_json: arrays of numbers and objects of them, and lines of these. */
#include "fuzz_load.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    fuzz_load(data, size,
              &(TsrLoadOptions){.size = sizeof(TsrLoadOptions), .format = "json", .ndim = -1, .dtype = TSR_DTYPE_NONE},
              false);
    fuzz_load(data, size,
              &(TsrLoadOptions){.size = sizeof(TsrLoadOptions), .format = "json", .ndim = -1, .dtype = TSR_INT16},
              false);
    fuzz_load(data, size,
              &(TsrLoadOptions){.size = sizeof(TsrLoadOptions), .format = "jsonl", .ndim = -1, .dtype = TSR_DTYPE_NONE},
              false);
    fuzz_load(
        data, size,
        &(TsrLoadOptions){
            .size = sizeof(TsrLoadOptions), .format = "jsonl", .ndim = -1, .dtype = TSR_DTYPE_NONE, .columns = "a,b"},
        false);
    return 0;
}
