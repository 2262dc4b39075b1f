/* npz.c: NumPy's .npz: a zip archive of .npy files, stored (savez) or deflated (savez_compressed). */
#include <stdio.h>
#include <string.h>

#include "elements.h"
#include "formats.h"
#include "zip.h"
#include "core/mem.h"

static const char suffix[] = ".npy";
enum { SUFFIX = sizeof suffix - 1 };

/* Any archive that is not one of PyTorch's. */
bool tsr_npz_probe(const char *data, size_t size) {
    return tsr_zip_probe(data, size) && !tsr_zip_first_ends(data, size, "/data.pkl");
}

/* ---- reading ---- */

/* What is not used where it stands in the file has been read now, and its checksum costs little more. */
static TsrStatus check_copied(const TsrInput *content, const TsrZipMember *m, const TsrTensor *t) {
    const char *data = tsr_storage_data(t->storage);
    bool direct = data >= content->data && data <= content->data + content->size;
    return !m->stored || direct ? TSR_OK : tsr_zip_check(content, m);
}

static TsrStatus add_content(TsrItems *out, TsrInput *content, const TsrZipMember *m, const TsrLoadOptions *options) {
    TsrItems one = {0};
    size_t length = strlen(m->name);
    if (!tsr_npy_probe(content->data, content->size)) return tsr_input_error(content, "it is no npy file");
    TSR_TRY(tsr_npy_read(&one, content, options));
    if (content->end < content->size) {
        tsr_items_free(&one);
        return tsr_input_error(content, "%zu bytes too many: the array ends at byte %zu", content->size - content->end,
                               content->end);
    }
    TsrTensor *t = tsr_tensor_retain(one.items[0].tensor);
    tsr_items_free(&one);
    if (length > SUFFIX && memcmp(m->name + length - SUFFIX, suffix, SUFFIX) == 0) length -= SUFFIX;
    TsrStatus status = check_copied(content, m, t);
    if (status == TSR_OK) return tsr_items_add_move(out, m->name, length, t);
    tsr_tensor_free(t);
    return status;
}

static TsrStatus add_member(TsrItems *out, const TsrZip *zip, const TsrZipMember *m, const TsrLoadOptions *options) {
    TsrInput content;
    size_t length = strlen(m->name);
    if (length > 0 && m->name[length - 1] == '/' && m->size == 0) return TSR_OK; /* a folder */
    TSR_TRY(tsr_zip_member_open(&content, zip, m, tsr_npy_expected_size));
    TsrStatus status = add_content(out, &content, m, options);
    tsr_dataptr_release(&content.hold);
    return status;
}

TsrStatus tsr_npz_read(TsrItems *out, TsrInput *in, const TsrLoadOptions *options) {
    TsrZip zip;
    TsrStatus status = tsr_zip_open(&zip, in);
    for (int i = 0; i < zip.n && status == TSR_OK; i++) {
        status = tsr_interrupt_check();
        if (status == TSR_OK) status = add_member(out, &zip, &zip.members[i], options);
    }
    tsr_zip_free(&zip);
    return status != TSR_OK ? status : tsr_check_names(in, out->items, out->n, sizeof *out->items);
}

/* ---- writing ---- */

static TsrStatus put_tensor(TsrZipWriter *w, const char *name, const TsrTensor *t) {
    TsrText header = {0};
    TsrTensor *dense = NULL;
    TsrStatus status = tsr_npy_new_parts(&header, &dense, t);
    if (status == TSR_OK) {
        TsrZipPart parts[] = {{header.data, header.length},
                              {tsr_data(dense), (size_t)dense->numel * tsr_itemsize(dense)}};
        status = tsr_zip_put(w, name, parts, 2);
    }
    tsr_text_free(&header);
    tsr_tensor_free(dense);
    return status;
}

static TsrStatus put_item(TsrZipWriter *w, const TsrItem *item) {
    TsrText name = {0};
    TsrStatus status = tsr_text_printf(&name, "%s%s", item->name != NULL ? item->name : "arr_0", suffix);
    if (status == TSR_OK) status = put_tensor(w, name.data, item->tensor);
    tsr_text_free(&name);
    return status;
}

TsrStatus tsr_npz_write(TsrSink *sink, const TsrItems *items, const TsrSaveOptions *options) {
    TsrZipWriter w = {.sink = sink, .deflate = options->compress};
    TsrStatus status = TSR_OK;
    for (int i = 0; i < items->n && status == TSR_OK; i++) status = put_item(&w, &items->items[i]);
    return tsr_zip_finish(&w, status);
}
