/* fuzz_proto: TensorProto and TensorShapeProto. */
#include "fuzz_load.h"

#include "core/io/proto.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    int ndim;
    int64_t sizes[TSR_MAX_DIMS];
    fuzz_load(data, size,
              &(TsrLoadOptions){.size = sizeof(TsrLoadOptions), .format = "pb", .ndim = -1, .dtype = TSR_DTYPE_NONE},
              true);
    if (tsr_proto_read_shape(&ndim, sizes, (const char *)data, size) != TSR_OK) tsr_error_clear();
    return 0;
}
