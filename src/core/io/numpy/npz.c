/* npz.c: NumPy's .npz: a zip archive of .npy files, stored (savez) or deflated (savez_compressed). Texts and times are
 * columns, records tables. A member that is none of these (objects, no .npy at all) is an opaque node among the others,
 * where the caller takes those. */
#include <stdio.h>
#include <string.h>

#include "core/io/elements.h"
#include "core/io/formats.h"
#include "core/io/packing/zip.h"
#include "structured.h"
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

/* Where members are collected: as items, and as the values of a dict, which counts when one is odd. */
typedef struct Archive {
    TsrItems *out;
    TsrNode *dict;
    bool odd;
} Archive;

/* The name without .npy. */
static size_t name_length(const TsrZipMember *m) {
    size_t length = strlen(m->name);
    return length > SUFFIX && memcmp(m->name + length - SUFFIX, suffix, SUFFIX) == 0 ? length - SUFFIX : length;
}

/* Adds a value of the dict; *lent is its node. */
static TsrStatus add_value(Archive *a, TsrNode **lent, const TsrZipMember *m, TsrNodeKind kind, const char *text) {
    TsrNode *key;
    TSR_TRY(tsr_tree_add_text(&key, &a->out->tree, TSR_NODE_STR, m->name, name_length(m)));
    TSR_TRY(tsr_tree_add_text(lent, &a->out->tree, kind, text, strlen(text)));
    TSR_TRY(tsr_node_append(a->dict, key));
    return tsr_node_append(a->dict, *lent);
}

/* What is no tensor. */
static TsrStatus add_odd(Archive *a, const TsrZipMember *m, const char *what) {
    char text[512];
    TsrNode *node;
    snprintf(text, sizeof text, "%s%s", what[0] != '\0' ? "array of " : "no array", what);
    a->odd = true;
    return add_value(a, &node, m, TSR_NODE_OPAQUE, text);
}

static TsrStatus add_tensor_move(Archive *a, const TsrZipMember *m, TsrTensor *t) {
    TsrNode *node;
    TsrStatus status = add_value(a, &node, m, TSR_NODE_TENSOR, "");
    if (status == TSR_OK) {
        node->tensor = tsr_tensor_retain(t);
        return tsr_items_add_move(a->out, m->name, name_length(m), t);
    }
    tsr_tensor_free(t);
    return status;
}

/* A table or a column, which moves into the archive's tree. */
static TsrStatus add_table(Archive *a, const TsrZipMember *m, TsrItems *one) {
    TsrNode *node, *root = one->tree.root;
    TSR_TRY(add_value(a, &node, m, TSR_NODE_TABLE, ""));
    TsrTable **from = root != NULL ? &root->table : &one->table;
    node->i = root != NULL;
    node->table = *from;
    *from = NULL;
    a->odd = true;
    return TSR_OK;
}

static TsrStatus add_content(Archive *a, TsrInput *content, const TsrZipMember *m, const TsrLoadOptions *options) {
    TsrItems one = {0};
    char what[440] = "";
    bool is_npy = tsr_npy_probe(content->data, content->size);
    if (options->opaque && (!is_npy || tsr_npy_is_foreign(what, content))) return add_odd(a, m, what);
    if (!is_npy) return tsr_input_error(content, "it is no npy file");
    TSR_TRY(tsr_npy_read(&one, content, options));
    if (content->end < content->size) {
        tsr_items_free(&one);
        return tsr_input_error(content, "%zu bytes too many: the array ends at byte %zu", content->size - content->end,
                               content->end);
    }
    if (one.items == NULL) {
        TsrStatus added = m->stored ? tsr_zip_check(content, m) : TSR_OK;
        if (added == TSR_OK) added = add_table(a, m, &one);
        tsr_items_free(&one);
        return added;
    }
    TsrTensor *t = tsr_tensor_retain(one.items[0].tensor);
    tsr_items_free(&one);
    TsrStatus status = check_copied(content, m, t);
    if (status == TSR_OK) return add_tensor_move(a, m, t);
    tsr_tensor_free(t);
    return status;
}

static TsrStatus add_member(Archive *a, const TsrZip *zip, const TsrZipMember *m, const TsrLoadOptions *options) {
    TsrInput content;
    size_t length = strlen(m->name);
    if (length > 0 && m->name[length - 1] == '/' && m->size == 0) return TSR_OK; /* a folder */
    TSR_TRY(tsr_zip_member_open(&content, zip, m, tsr_npy_expected_size));
    TsrStatus status = add_content(a, &content, m, options);
    tsr_dataptr_release(&content.hold);
    return status;
}

TsrStatus tsr_npz_read(TsrItems *out, TsrInput *in, const TsrLoadOptions *options) {
    TsrZip zip;
    Archive a = {.out = out};
    TsrStatus status = tsr_zip_open(&zip, in);
    if (status == TSR_OK) status = tsr_tree_add(&a.dict, &out->tree, TSR_NODE_DICT);
    for (int i = 0; i < zip.n && status == TSR_OK; i++) {
        status = tsr_interrupt_check();
        if (status == TSR_OK) status = add_member(&a, &zip, &zip.members[i], options);
    }
    tsr_zip_free(&zip);
    if (status == TSR_OK) status = tsr_check_names(in, out->items, out->n, sizeof *out->items);
    if (a.odd) out->tree.root = a.dict;
    else tsr_tree_free(&out->tree);
    return status;
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

static TsrStatus put_table(TsrZipWriter *w, const char *name, const TsrTable *t, bool column) {
    TsrSink memory = {.fd = -1};
    TsrStatus status = tsr_record_write(&memory, t, column);
    TsrZipPart part = {memory.text.data, memory.text.length};
    if (status == TSR_OK) status = tsr_zip_put(w, name, &part, 1);
    tsr_text_free(&memory.text);
    return status;
}

/* Of a tensor, or of a node that has one, a table or a column. */
static TsrStatus put_item(TsrZipWriter *w, const char *called, const TsrTensor *t, const TsrNode *node) {
    TsrText name = {0};
    TsrStatus status = tsr_text_printf(&name, "%s%s", called != NULL ? called : "arr_0", suffix);
    if (status == TSR_OK)
        status = t != NULL ? put_tensor(w, name.data, t) : put_table(w, name.data, node->table, node->i == 1);
    tsr_text_free(&name);
    return status;
}

/* A dict whose values are tensors, tables and columns. */
static TsrStatus put_tree(TsrZipWriter *w, const TsrNode *dict) {
    for (size_t i = 0; i + 1 < dict->n; i += 2) {
        const TsrNode *key = dict->children[i], *value = dict->children[i + 1];
        if (key->kind != TSR_NODE_STR || (value->tensor == NULL && value->table == NULL))
            return tsr_error(TSR_TYPE_ERROR, "an npz file holds tensors, columns and tables under names");
        TSR_TRY(put_item(w, key->text, value->tensor, value));
    }
    return TSR_OK;
}

TsrStatus tsr_npz_write(TsrSink *sink, const TsrItems *items, const TsrSaveOptions *options) {
    TsrZipWriter w = {.sink = sink, .deflate = options->compress};
    TsrStatus status = TSR_OK;
    if (items->tree.root != NULL) status = put_tree(&w, items->tree.root);
    for (int i = 0; i < items->n && status == TSR_OK; i++)
        status = put_item(&w, items->items[i].name, items->items[i].tensor, NULL);
    return tsr_zip_finish(&w, status);
}
