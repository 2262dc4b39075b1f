/* fuzz_inputs: a file of which nothing is said but what is in it: packed or not, of any format, of one record or
 * several; what can be taken in pieces is (io_chunks.h). */
#include "fuzz_load.h"

#include <stdio.h>
#include <sys/mman.h>
#include <unistd.h>

#include "core/io_chunks.h"

static void read_whole(const char *path) {
    TsrRecords records;
    TsrLoadOptions options = tsr_load_options();
    if (tsr_load_records(&records, path, &options) != TSR_OK) {
        FUZZ_DEMAND(tsr_error_message()[0] != '\0');
        return tsr_error_clear();
    }
    FUZZ_DEMAND(records.n > 0);
    for (size_t k = 0; k < records.n; k++)
        for (int i = 0; i < records.of[k].n; i++)
            FUZZ_DEMAND(tsr_tensor_check(records.of[k].items[i].tensor, false) == TSR_OK);
    tsr_records_free(&records);
}

/* As the filter opens it: in pieces where it is a table, else as a whole. */
static void read_ahead(const char *path) {
    TsrChunks *chunks;
    TsrItems items;
    TsrRecords records;
    bool more = true;
    TsrLoadOptions options = tsr_load_options();
    if (tsr_chunks_new(&chunks, path, &options, NULL) != TSR_OK) return tsr_error_clear();
    if (tsr_chunks_check(chunks) != TSR_OK) {
        if (tsr_chunks_rest(&records, chunks) == TSR_OK) tsr_records_free(&records);
    } else {
        while (more && tsr_chunks_next(&items, &more, chunks, 0) == TSR_OK && more) tsr_items_free(&items);
    }
    tsr_chunks_free(chunks);
    tsr_error_clear();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    char path[40];
    int fd = memfd_create("fuzz", MFD_CLOEXEC);
    FUZZ_DEMAND(fd >= 0 && write(fd, data, size) == (ssize_t)size);
    snprintf(path, sizeof path, "/proc/self/fd/%d", fd);
    tsr_set_memory_limit((size_t)256 << 20);
    const int64_t blocks = tsr_mem_live_blocks();
    read_whole(path);
    read_ahead(path);
    FUZZ_DEMAND(tsr_mem_live_blocks() <= blocks + 64);
    close(fd);
    return 0;
}
