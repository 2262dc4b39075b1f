/* pt.c: PyTorch's .pt: a zip archive of a pickle, data.pkl, and of the storages that it speaks of, data/KEY, each in a
 * member of its own. Before 1.6: five pickles in a row (a magic number, the version, the order of bytes, the value, the
 * keys of the storages), behind which each storage stands with its count before it. How large they are only the value
 * tells: it is read twice, first over storages on the meta device. */
#include <stdlib.h>
#include <string.h>

#include "core/io/elements.h"
#include "core/io/formats.h"
#include "core/io/little.h"
#include "pickle.h"
#include "core/io/packing/zip.h"
#include "core/mem.h"
#include "core/view.h"

enum { ALIGNMENT = 16 /* of storages, whatever stands in them */ };

static const char old_magic[] =
    "\x80\2\x8a\x0a\x6c\xfc\x9c\x46\xf9\x20\x6a\xa8\x50\x19."; /* a pickle of 0x1950a86a20f9469cfc6c */
enum { OLD_MAGIC = sizeof old_magic - 1, OLD_VERSION = 1001 };

static bool is_old(const char *data, size_t size) {
    return size >= OLD_MAGIC && memcmp(data, old_magic, OLD_MAGIC) == 0;
}

bool tsr_pt_probe(const char *data, size_t size) {
    return is_old(data, size) || tsr_zip_first_ends(data, size, "/data.pkl");
}

/* ---- reading ---- */

typedef struct Archive {
    TsrZip zip;
    const TsrZipMember **sorted; /* by name */
    struct Loaded {
        TsrStorage *storage;
        TsrDtype dtype;
    } * loaded;   /* of the members, as far as they have been asked for */
    char *prefix; /* "archive/" */
    bool big_endian;
} Archive;

static int compare_name(const void *name, const void *element) {
    return strcmp(name, (*(const TsrZipMember *const *)element)->name);
}

/* NULL where the archive has none, or with an error. */
static TsrStatus find(const TsrZipMember **lent, const Archive *a, const char *folder, const char *key) {
    TsrText name = {0};
    TSR_TRY(tsr_text_printf(&name, "%s%s%s", a->prefix, folder, key));
    const TsrZipMember **found =
        a->zip.n > 0 ? bsearch(name.data, a->sorted, (size_t)a->zip.n, sizeof *a->sorted, compare_name) : NULL;
    *lent = found != NULL ? *found : NULL;
    tsr_text_free(&name);
    return TSR_OK;
}

static TsrStatus read_storage(TsrStorage **out, const Archive *a, const TsrZipMember *m, TsrDtype dtype) {
    TsrInput content;
    TSR_TRY(tsr_zip_member_open(&content, &a->zip, m, NULL));
    TsrStatus status =
        tsr_input_new_elements(out, &content, &(TsrElements){dtype, a->big_endian, 0, content.size, ALIGNMENT});
    tsr_dataptr_release(&content.hold);
    return status;
}

static TsrStatus storage_of(TsrNode *node, const char *key, uint64_t numel, void *context) {
    Archive *a = context;
    const TsrZipMember *m;
    char shown[440];
    uint64_t nbytes;
    TsrDtype dtype = node->dtype != TSR_DTYPE_NONE ? node->dtype : TSR_UINT8;
    TSR_TRY(find(&m, a, "data/", key));
    if (m == NULL)
        return tsr_input_error(a->zip.in, "the storage '%s' is not in the archive",
                               tsr_io_quote(shown, key, strlen(key)));
    if (__builtin_mul_overflow(numel, tsr_dtype_size(dtype), &nbytes) || nbytes != m->size)
        return tsr_input_error(a->zip.in, "the storage '%s' has other than the %llu bytes that are there",
                               tsr_io_quote(shown, key, strlen(key)), (unsigned long long)m->size);
    struct Loaded *loaded = &a->loaded[m - a->zip.members];
    if (loaded->storage == NULL) TSR_TRY(read_storage(&loaded->storage, a, m, loaded->dtype = dtype));
    if (loaded->dtype != dtype)
        return tsr_input_error(a->zip.in, "the storage '%s' is of two dtypes", tsr_io_quote(shown, key, strlen(key)));
    node->storage = tsr_storage_retain(loaded->storage);
    return TSR_OK;
}

static TsrStatus read_byteorder(Archive *a) {
    const TsrZipMember *m;
    TsrInput content;
    TSR_TRY(find(&m, a, "", "byteorder"));
    if (m == NULL) return TSR_OK;
    TSR_TRY(tsr_zip_member_open(&content, &a->zip, m, NULL));
    a->big_endian = content.size == 3 && memcmp(content.data, "big", 3) == 0;
    bool little = content.size == 6 && memcmp(content.data, "little", 6) == 0;
    TsrStatus status = a->big_endian || little ? TSR_OK : tsr_input_error(&content, "an unknown order of bytes");
    tsr_dataptr_release(&content.hold);
    return status;
}

static TsrStatus read_pickle(TsrTree *tree, Archive *a, const TsrZipMember *m, bool opaque) {
    TsrInput content;
    TsrPickleHost host = {storage_of, a};
    size_t at = 0;
    TSR_TRY(tsr_zip_member_open(&content, &a->zip, m, NULL));
    TsrStatus status = m->stored ? tsr_zip_check(&content, m) : TSR_OK;
    if (status == TSR_OK) status = tsr_pickle_read(tree, &content, &at, &host, opaque);
    if (status == TSR_OK && at < content.size)
        status = tsr_input_error(&content, "byte %zu: bytes behind the pickle's end", at);
    tsr_dataptr_release(&content.hold);
    return status;
}

/* The first member whose name ends in /data.pkl; what is before that all others begin with. */
static TsrStatus find_pickle(const TsrZipMember **lent, Archive *a) {
    static const char name[] = "data.pkl";
    enum { NAME = sizeof name - 1 };
    for (int i = 0; i < a->zip.n; i++) {
        const char *s = a->zip.members[i].name;
        size_t n = strlen(s);
        if (n <= NAME || s[n - NAME - 1] != '/' || strcmp(s + n - NAME, name) != 0) continue;
        if ((a->prefix = tsr_calloc(1, n)) == NULL) return tsr_error_no_memory(n);
        memcpy(a->prefix, s, n - NAME);
        *lent = &a->zip.members[i];
        return TSR_OK;
    }
    return tsr_input_error(a->zip.in, "an archive without data.pkl is none of PyTorch's");
}

static TsrStatus read_archive(TsrTree *tree, Archive *a, bool opaque) {
    const TsrZipMember *pickle;
    size_t n = (size_t)a->zip.n;
    TSR_TRY(find_pickle(&pickle, a));
    a->loaded = tsr_calloc(n, sizeof *a->loaded);
    if (a->loaded == NULL) return tsr_error_no_memory(n * sizeof *a->loaded);
    TSR_TRY(tsr_new_sorted((const void ***)&a->sorted, a->zip.members, n, sizeof *a->zip.members, tsr_by_name));
    TSR_TRY(read_byteorder(a));
    return read_pickle(tree, a, pickle, opaque);
}

static void free_archive(Archive *a) {
    for (int i = 0; i < a->zip.n && a->loaded != NULL; i++) tsr_storage_free(a->loaded[i].storage);
    tsr_free(a->loaded);
    tsr_free(a->sorted);
    tsr_free(a->prefix);
    tsr_zip_free(&a->zip);
}

/* ---- before 1.6 ---- */

/* A storage that the value speaks of. */
typedef struct Claim {
    const char *key; /* lent; first: claims are sorted by it */
    TsrDtype dtype;  /* TSR_DTYPE_NONE: bytes */
    uint64_t numel;
    size_t offset;       /* of its elements in the file; 0: not there */
    TsrStorage *storage; /* owned; NULL until it is asked for */
} Claim;

typedef struct OldFile {
    TsrInput *in;
    size_t at;
    bool big_endian;
    TsrTree seen;  /* the value over storages without memory, whose texts the keys are */
    Claim *claims; /* as they come, then by key, one each */
    size_t n, room;
} OldFile;

static size_t claimed_bytes(const Claim *c) {
    return (size_t)c->numel * tsr_dtype_size(c->dtype != TSR_DTYPE_NONE ? c->dtype : TSR_UINT8);
}

static TsrStatus bad_storage(const OldFile *f, const char *key, const char *what) {
    char shown[440];
    return tsr_input_error(f->in, "the storage '%s' %s", tsr_io_quote(shown, key, strlen(key)), what);
}

/* For the first reading: a storage of that size, which has no memory. */
static TsrStatus claim(TsrNode *node, const char *key, uint64_t numel, void *context) {
    OldFile *f = context;
    TsrNode *text;
    uint64_t nbytes;
    TsrDtype dtype = node->dtype != TSR_DTYPE_NONE ? node->dtype : TSR_UINT8;
    if (__builtin_mul_overflow(numel, tsr_dtype_size(dtype), &nbytes) || nbytes > f->in->size)
        return bad_storage(f, key, "has more bytes than the file");
    TSR_TRY(tsr_mem_grow(&f->claims, &f->room, f->n + 1, sizeof *f->claims));
    TSR_TRY(tsr_tree_add_text(&text, &f->seen, TSR_NODE_STR, key, strlen(key)));
    f->claims[f->n++] = (Claim){.key = text->text, .dtype = node->dtype, .numel = numel};
    return tsr_storage_new(&node->storage, TSR_DEVICE_META, (uint64_t)nbytes, TSR_DTYPE_NONE);
}

static TsrStatus no_storage(TsrNode *node, const char *key, uint64_t numel, void *context) {
    (void)node, (void)key, (void)numel;
    return tsr_input_error(((OldFile *)context)->in, "a storage where none is expected");
}

/* Sorted, those of one key as one. */
static TsrStatus settle_claims(OldFile *f) {
    const Claim **sorted;
    Claim *one = tsr_calloc(TSR_MAX(f->n, 1), sizeof *one);
    size_t n = 0;
    if (one == NULL) return tsr_error_no_memory(f->n * sizeof *one);
    TsrStatus status = tsr_new_sorted((const void ***)&sorted, f->claims, f->n, sizeof *f->claims, tsr_by_name);
    if (status != TSR_OK) {
        tsr_free(one);
        return status;
    }
    for (size_t i = 0; i < f->n && status == TSR_OK; i++) {
        const Claim *before = n > 0 ? &one[n - 1] : NULL, *c = sorted[i];
        if (before == NULL || strcmp(before->key, c->key) != 0) one[n++] = *c;
        else if (before->dtype != c->dtype || before->numel != c->numel)
            status = bad_storage(f, c->key, "is of two sizes or dtypes");
    }
    tsr_free(sorted);
    tsr_free(f->claims);
    f->claims = one;
    f->n = n;
    return status;
}

static int compare_key(const void *key, const void *element) { return strcmp(key, ((const Claim *)element)->key); }

static Claim *find_claim(const OldFile *f, const char *key) {
    return f->n > 0 ? bsearch(key, f->claims, f->n, sizeof *f->claims, compare_key) : NULL;
}

static TsrStatus take_storage(OldFile *f, const TsrNode *key) {
    Claim *c = key->kind == TSR_NODE_STR && strlen(key->text) == key->length ? find_claim(f, key->text) : NULL;
    if (c == NULL)
        return tsr_input_error(f->in, "a storage that nothing in the file speaks of, and so has no known size");
    if (c->offset != 0) return bad_storage(f, c->key, "is there twice");
    if (f->in->size - f->at < 8) return bad_storage(f, c->key, "is missing");
    uint64_t numel = tsr_little(f->in->data + f->at, 8);
    f->at += 8;
    if (numel != c->numel) return bad_storage(f, c->key, "has another number of elements than its tensors say");
    if (claimed_bytes(c) > f->in->size - f->at) return bad_storage(f, c->key, "is cut off");
    c->offset = f->at;
    f->at += claimed_bytes(c);
    return TSR_OK;
}

/* For the second reading. */
static TsrStatus old_storage_of(TsrNode *node, const char *key, uint64_t numel, void *context) {
    OldFile *f = context;
    Claim *c = find_claim(f, key);
    TsrDtype dtype = node->dtype != TSR_DTYPE_NONE ? node->dtype : TSR_UINT8;
    (void)numel; /* the same as in the first one */
    if (c == NULL || c->offset == 0) return bad_storage(f, key, "is missing");
    if (c->storage == NULL)
        TSR_TRY(tsr_input_new_elements(&c->storage, f->in,
                                       &(TsrElements){dtype, f->big_endian, c->offset, claimed_bytes(c), ALIGNMENT}));
    node->storage = tsr_storage_retain(c->storage);
    return TSR_OK;
}

/* A pickle that speaks of no storages; the tree is the caller's. */
static TsrStatus read_plain(TsrTree *tree, OldFile *f) {
    TsrPickleHost host = {no_storage, f};
    *tree = (TsrTree){0};
    return tsr_pickle_read(tree, f->in, &f->at, &host, false);
}

static TsrStatus read_version(OldFile *f) {
    TsrTree tree;
    TsrStatus status = read_plain(&tree, f);
    if (status == TSR_OK && (tree.root->kind != TSR_NODE_INT || tree.root->text != NULL || tree.root->i != OLD_VERSION))
        status = tsr_input_error(f->in, "a version of PyTorch's files that is unknown");
    tsr_tree_free(&tree);
    return status;
}

/* {'little_endian': True, ...} */
static TsrStatus read_system(OldFile *f) {
    TsrTree tree;
    TsrStatus status = read_plain(&tree, f);
    if (status == TSR_OK && tree.root->kind != TSR_NODE_DICT)
        status = tsr_input_error(f->in, "nothing tells the order of bytes");
    for (size_t i = 0; status == TSR_OK && i < tree.root->n; i += 2) {
        const TsrNode *key = tree.root->children[i], *value = tree.root->children[i + 1];
        if (key->kind == TSR_NODE_STR && strcmp(key->text, "little_endian") == 0)
            f->big_endian = value->kind == TSR_NODE_BOOL && value->i == 0;
    }
    tsr_tree_free(&tree);
    return status;
}

static TsrStatus read_keys(OldFile *f) {
    TsrTree tree;
    TsrStatus status = read_plain(&tree, f);
    if (status == TSR_OK && tree.root->kind != TSR_NODE_LIST)
        status = tsr_input_error(f->in, "the list of its storages is missing");
    for (size_t i = 0; status == TSR_OK && i < tree.root->n; i++) status = take_storage(f, tree.root->children[i]);
    tsr_tree_free(&tree);
    return status;
}

static TsrStatus read_old(TsrTree *tree, OldFile *f, bool opaque) {
    TsrPickleHost first = {claim, f}, second = {old_storage_of, f};
    f->at = OLD_MAGIC;
    TSR_TRY(read_version(f));
    TSR_TRY(read_system(f));
    size_t value = f->at;
    TSR_TRY(tsr_pickle_read(&f->seen, f->in, &f->at, &first, opaque));
    TSR_TRY(settle_claims(f));
    TSR_TRY(read_keys(f));
    return tsr_pickle_read(tree, f->in, &value, &second, opaque);
}

static TsrStatus read_old_file(TsrTree *tree, TsrInput *in, bool opaque) {
    OldFile f = {.in = in};
    TsrStatus status = read_old(tree, &f, opaque);
    for (size_t i = 0; i < f.n; i++) tsr_storage_free(f.claims[i].storage);
    tsr_free(f.claims);
    tsr_tree_free(&f.seen);
    return status;
}

/* ---- what was read ---- */

/* The tensors of a dict with names, or the one. */
static TsrStatus list_items(TsrItems *out) {
    const TsrNode *root = out->tree.root;
    if (root->kind == TSR_NODE_TENSOR) return tsr_items_single_move(out, tsr_tensor_retain(root->tensor));
    if (root->kind != TSR_NODE_DICT && root->kind != TSR_NODE_ORDERED_DICT) return TSR_OK;
    for (size_t i = 0; i < root->n; i += 2) {
        const TsrNode *key = root->children[i], *value = root->children[i + 1];
        if (key->kind != TSR_NODE_STR || value->kind != TSR_NODE_TENSOR) continue;
        TSR_TRY(tsr_items_add_move(out, key->text, key->length, tsr_tensor_retain(value->tensor)));
    }
    return TSR_OK;
}

static TsrStatus note_unpacked(TsrItems *out, const TsrInput *in) {
    int64_t n = out->tree.unpacked;
    if (n == 0) return TSR_OK;
    out->derived = true;
    return tsr_items_note(out, in, "%lld quantised tensor%s given as the float32 numbers that %s for", (long long)n,
                          n == 1 ? " is" : "s are", n == 1 ? "it stands" : "they stand");
}

TsrStatus tsr_pt_read(TsrItems *out, TsrInput *in, const TsrLoadOptions *options) {
    Archive a = {0};
    TsrStatus status;
    if (is_old(in->data, in->size)) {
        status = read_old_file(&out->tree, in, options->opaque);
    } else {
        status = tsr_zip_open(&a.zip, in);
        if (status == TSR_OK) status = read_archive(&out->tree, &a, options->opaque);
        free_archive(&a);
    }
    if (status == TSR_OK) status = note_unpacked(out, in);
    return status == TSR_OK ? list_items(out) : status;
}

/* ---- writing ---- */

/* A storage that is written: all of it, or with `compact` the part that its tensors reach, a single one's elements
 * packed. */
typedef struct Kept {
    TsrStorage *storage;
    const TsrTensor *first;
    size_t key, tensors;
    size_t begin, end; /* bytes */
    TsrTensor *packed; /* owned; NULL */
} Kept;

typedef struct Output {
    Kept *kept;    /* by address */
    Kept **by_key; /* in the order of their keys */
    size_t n, keys;
} Output;

static int by_storage(const void *a, const void *b) {
    const TsrStorage *x = ((const TsrNode *)a)->tensor->storage, *y = ((const TsrNode *)b)->tensor->storage;
    return ((uintptr_t)x > (uintptr_t)y) - ((uintptr_t)x < (uintptr_t)y);
}

static TsrStatus check_tensor(const TsrTensor *t) {
    if (tsr_is_sparse(t)) return tsr_error(TSR_VALUE_ERROR, "sparse tensors are not written; convert with to_dense()");
    if (tsr_is_meta(t)) return tsr_error(TSR_VALUE_ERROR, "a tensor on the meta device has no elements to write");
    if (!tsr_dtype_is_pod(t->dtype))
        return tsr_error(TSR_VALUE_ERROR, "pt has no dtype for torch.%s", tsr_dtype_name(t->dtype));
    return tsr_tensor_check(t, false);
}

static TsrStatus add_kept(Output *o, const TsrTensor *t) {
    size_t item = tsr_itemsize(t), begin = (size_t)t->offset * item, end = begin;
    Kept *k = o->n > 0 ? &o->kept[o->n - 1] : NULL;
    if (t->numel > 0) {
        end += item;
        for (int d = 0; d < tsr_ndim(t); d++) end += (size_t)((t->sizes[d] - 1) * t->strides[d]) * item;
    }
    if (k == NULL || k->storage != t->storage) {
        k = &o->kept[o->n++];
        *k = (Kept){t->storage, t, SIZE_MAX, 0, begin, end, NULL};
    }
    if (k->first->dtype != t->dtype)
        return tsr_error(TSR_RUNTIME_ERROR,
                         "Cannot save multiple tensors or storages that view the same data as different types");
    k->tensors++;
    if (t->numel == 0) return TSR_OK;
    bool none = k->begin == k->end;
    k->begin = none ? begin : TSR_MIN(k->begin, begin);
    k->end = none ? end : TSR_MAX(k->end, end);
    return TSR_OK;
}

/* The storages of the tree's tensors. */
static TsrStatus collect(Output *o, const TsrTree *tree) {
    size_t n = 0, at = 0;
    for (const TsrNode *node = tree->all; node != NULL; node = node->next) n += node->kind == TSR_NODE_TENSOR;
    const TsrNode **nodes = tsr_malloc((n + 1) * sizeof *nodes);
    o->kept = tsr_calloc(n + 1, sizeof *o->kept);
    o->by_key = tsr_calloc(n + 1, sizeof(Kept *));
    TsrStatus status =
        nodes != NULL && o->kept != NULL && o->by_key != NULL ? TSR_OK : tsr_error_no_memory((n + 1) * sizeof *o->kept);
    for (const TsrNode *node = tree->all; node != NULL && status == TSR_OK; node = node->next) {
        if (node->kind != TSR_NODE_TENSOR) continue;
        status = check_tensor(node->tensor);
        nodes[at++] = node;
    }
    if (status == TSR_OK) status = tsr_sort_pointers((const void **)nodes, n, by_storage);
    for (size_t i = 0; i < n && status == TSR_OK; i++) status = add_kept(o, nodes[i]->tensor);
    tsr_free(nodes);
    return status;
}

static TsrStatus choose_parts(Output *o, bool compact) {
    for (size_t i = 0; i < o->n; i++) {
        Kept *k = &o->kept[i];
        size_t item = tsr_itemsize(k->first);
        if (!compact) {
            k->begin = 0;
            k->end = k->storage->nbytes / item * item;
        } else if (k->tensors == 1 && (size_t)k->first->numel * item < k->end - k->begin) {
            TSR_TRY(tsr_tensor_new_contiguous(&k->packed, k->first, TSR_CONTIGUOUS));
            k->begin = 0;
            k->end = (size_t)k->first->numel * item;
        }
    }
    return TSR_OK;
}

static int compare_storage(const void *storage, const void *kept) {
    uintptr_t x = (uintptr_t)storage, y = (uintptr_t)((const Kept *)kept)->storage;
    return (x > y) - (x < y);
}

static TsrStatus describe(TsrPickled *out, const TsrNode *node, void *context) {
    Output *o = context;
    const TsrTensor *t = node->tensor;
    Kept *k = bsearch(t->storage, o->kept, o->n, sizeof *o->kept, compare_storage);
    if (k->key == SIZE_MAX) {
        k->key = o->keys++;
        o->by_key[k->key] = k;
    }
    const TsrTensor *shown = k->packed != NULL ? k->packed : t;
    *out = (TsrPickled){k->key,
                        (k->end - k->begin) / tsr_itemsize(t),
                        shown->offset - (int64_t)(k->begin / tsr_itemsize(t)),
                        shown->sizes,
                        shown->strides,
                        tsr_ndim(shown),
                        shown->flags};
    if (t->numel == 0) out->offset = 0;
    return TSR_OK;
}

static TsrStatus put_text(TsrZipWriter *w, const char *name, const char *text) {
    return tsr_zip_put(w, name, &(TsrZipPart){text, strlen(text)}, 1);
}

static TsrStatus put_storages(TsrZipWriter *w, const Output *o) {
    TsrStatus status = TSR_OK;
    for (size_t i = 0; i < o->keys && status == TSR_OK; i++) {
        const Kept *k = o->by_key[i];
        TsrText name = {0};
        if (k->packed == NULL && tsr_device_has_backend(k->storage->ptr.device))
            return tsr_error(TSR_VALUE_ERROR, "a tensor on a device is written from the host: save(x.cpu(), path)");
        const char *data = k->packed != NULL ? tsr_data(k->packed) : tsr_storage_data(k->storage);
        status = tsr_text_printf(&name, "archive/data/%zu", i);
        if (status == TSR_OK)
            status = tsr_zip_put(w, name.data,
                                 &(TsrZipPart){k->end > k->begin ? data + k->begin : NULL, k->end - k->begin}, 1);
        tsr_text_free(&name);
    }
    return status;
}

static TsrStatus put_archive(TsrSink *sink, TsrTree *tree, Output *o) {
    TsrText pickle = {0};
    TsrZipWriter w = {.sink = sink};
    TsrStatus status = tsr_pickle_write(&pickle, tree, describe, o);
    if (status == TSR_OK) status = tsr_zip_put(&w, "archive/data.pkl", &(TsrZipPart){pickle.data, pickle.length}, 1);
    tsr_text_free(&pickle);
    if (status == TSR_OK) status = put_text(&w, "archive/.format_version", "1");
    if (status == TSR_OK) status = put_text(&w, "archive/.storage_alignment", "64");
    if (status == TSR_OK) status = put_text(&w, "archive/byteorder", "little");
    if (status == TSR_OK) status = put_storages(&w, o);
    if (status == TSR_OK) status = put_text(&w, "archive/version", "3\n");
    return tsr_zip_finish(&w, status);
}

static TsrStatus write_tree(TsrSink *sink, TsrTree *tree, bool compact) {
    Output o = {0};
    TsrStatus status = collect(&o, tree);
    if (status == TSR_OK) status = choose_parts(&o, compact);
    if (status == TSR_OK) status = put_archive(sink, tree, &o);
    for (size_t i = 0; i < o.n; i++) tsr_tensor_free(o.kept[i].packed);
    tsr_free(o.kept);
    tsr_free(o.by_key);
    return status;
}

static TsrStatus add_tensor(TsrNode **lent, TsrTree *tree, TsrTensor *t) {
    TSR_TRY(tsr_tree_add(lent, tree, TSR_NODE_TENSOR));
    (*lent)->tensor = tsr_tensor_retain(t);
    return TSR_OK;
}

/* Items without a tree: a tensor, or a dict of them. */
static TsrStatus make_tree(TsrTree *tree, const TsrItems *items) {
    TsrNode *key, *value;
    if (items->single) return add_tensor(&tree->root, tree, items->items[0].tensor);
    TSR_TRY(tsr_tree_add(&tree->root, tree, TSR_NODE_DICT));
    for (int i = 0; i < items->n; i++) {
        TSR_TRY(tsr_tree_add_text(&key, tree, TSR_NODE_STR, items->items[i].name, strlen(items->items[i].name)));
        TSR_TRY(add_tensor(&value, tree, items->items[i].tensor));
        TSR_TRY(tsr_node_append(tree->root, key));
        TSR_TRY(tsr_node_append(tree->root, value));
    }
    return TSR_OK;
}

TsrStatus tsr_pt_write(TsrSink *sink, const TsrItems *items, const TsrSaveOptions *options) {
    TsrTree made = {0}, tree = items->tree;
    if (tree.root != NULL) return write_tree(sink, &tree, options->compact);
    TsrStatus status = make_tree(&made, items);
    if (status == TSR_OK) status = write_tree(sink, &made, options->compact);
    tsr_tree_free(&made);
    return status;
}
