/* fuzz_npy: NumPy's files. */
#include "fuzz_load.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    fuzz_load(data, size,
              &(TsrLoadOptions){
                  .size = sizeof(TsrLoadOptions), .format = "npy", .ndim = -1, .dtype = TSR_DTYPE_NONE, .header = -1},
              true);
    return 0;
}
