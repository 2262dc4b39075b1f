/* fuzz_zip: the directories of archives: members lie apart and within the file, and what they hold is as long as the
 * directory says. */
#include "fuzz_load.h"

#include "core/io/packing/zip.h"

static void open_member(const TsrZip *zip, const TsrZipMember *m) {
    TsrInput content;
    FUZZ_DEMAND(m->offset <= zip->in->size && m->packed <= zip->in->size - m->offset && m->header < m->offset &&
                m->name != NULL);
    if (tsr_zip_member_open(&content, zip, m, NULL) != TSR_OK) return;
    FUZZ_DEMAND(content.size == m->size);
    tsr_dataptr_release(&content.hold);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    TsrInput in = {.name = "fuzz", .data = (const char *)data, .size = size, .mode = 'c'};
    TsrZip zip;
    tsr_set_memory_limit((size_t)64 << 20);
    if (tsr_zip_open(&zip, &in) == TSR_OK)
        for (int i = 0; i < zip.n; i++) open_member(&zip, &zip.members[i]);
    tsr_zip_free(&zip);
    tsr_error_clear();
    return 0;
}
