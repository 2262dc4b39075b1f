/* fuzz_csv: tables as text, read as floats, as integers, and with a header by columns. */
#include "fuzz_load.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    fuzz_load(data, size,
              &(TsrLoadOptions){
                  .size = sizeof(TsrLoadOptions), .format = "csv", .ndim = -1, .dtype = TSR_DTYPE_NONE, .header = -1},
              false);
    fuzz_load(data, size,
              &(TsrLoadOptions){
                  .size = sizeof(TsrLoadOptions), .format = "csv", .ndim = -1, .dtype = TSR_INT64, .delimiter = ' '},
              false);
    fuzz_load(data, size,
              &(TsrLoadOptions){.size = sizeof(TsrLoadOptions),
                                .format = "csv",
                                .ndim = -1,
                                .dtype = TSR_DTYPE_NONE,
                                .header = 1,
                                .columns = "a,-1"},
              false);
    return 0;
}
