/* fuzz_chunks: tables that come in pieces of a few rows: the first byte says what they are, and how many rows a piece
 * has. */
#include "fuzz_load.h"

#include <stdio.h>
#include <sys/mman.h>
#include <unistd.h>

#include "core/io_chunks.h"

static void read_pieces(const char *path, const TsrLoadOptions *options, const char *parsed, int64_t rows) {
    TsrChunks *chunks;
    TsrItems items;
    bool more = true;
    if (tsr_chunks_new(&chunks, path, options, parsed) != TSR_OK) return tsr_error_clear();
    while (more && tsr_chunks_next(&items, &more, chunks, rows) == TSR_OK && more) tsr_items_free(&items);
    tsr_chunks_free(chunks);
    tsr_error_clear();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    static const char *const formats[] = {"csv", "tsv", "jsonl", NULL};
    char path[40];
    if (size < 1) return 0;
    TsrLoadOptions options = tsr_load_options();
    options.format = formats[data[0] & 3];
    int fd = memfd_create("fuzz", MFD_CLOEXEC);
    FUZZ_DEMAND(fd >= 0 && write(fd, data + 1, size - 1) == (ssize_t)(size - 1));
    snprintf(path, sizeof path, "/proc/self/fd/%d", fd);
    read_pieces(path, &options, (data[0] & 4) != 0 ? "a" : NULL, data[0] >> 3);
    close(fd);
    return 0;
}
