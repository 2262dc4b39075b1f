/* fuzz_media: pictures, sound and MNIST's files: the first byte chooses which; what is read is written back. */
#include "fuzz_load.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    static const char *const formats[] = {"png", "ppm", "pgm", "wav", "idx"};
    TsrLoadOptions options = tsr_load_options();
    if (size == 0) return 0;
    options.format = formats[data[0] % 5];
    bool same = data[0] % 5 == 4 && size > 4; /* others may be empty, or read as another format than they are written */
    fuzz_load(data + 1, size - 1, &options, same);
    return 0;
}
