/* pickle.c: the pickle inside a .pt file, read without Python (pickle.h).
 *
 * It is a stack machine over the opcodes of protocol 2, with the bytes in bounds at every step. Nothing is ever
 * called: a pickle may name only what `callables` and `storages` list, and a call becomes a node of the tree
 * (io_tree.h); any other class is refused, or becomes an opaque node. A budget of 16 times the pickle's size bounds
 * what is copied, because a small pickle can name one large value many times. pickle_write.c writes. */
#include "pickle.h"

#include <stdio.h>
#include <string.h>

#include "core/io/dequantise.h"
#include "core/io/elements.h"
#include "core/io/formats.h"
#include "core/io/little.h"
#include "core/layout.h"
#include "core/mem.h"
#include "core/tensor/owned.h"

/* ---- names ---- */

typedef enum Callable {
    NAME_TENSOR_V2,
    NAME_TENSOR_V3,
    NAME_PARAMETER,
    NAME_ORDERED_DICT,
    NAME_SIZE,
    NAME_DEVICE,
    NAME_SET,
    NAME_COMPLEX,
    NAME_ENCODE,
    NAME_STORAGE,
    NAME_PARAMETER_STATE,
    NAME_FROM_TYPE,
    NAME_SPARSE,
    NAME_QUANTISED,
    NAME_LAYOUT,
    NAME_NUMPY_ARRAY,
    NAME_NUMPY_SCALAR,
    NAME_NUMPY_DTYPE,
    NAME_BYTES,
    NAME_CLASS /* only named, not called */
} Callable;

/* All that a pickle may name and call. */
static const struct {
    const char *module, *name;
    Callable what;
} callables[] = {
    {"torch._utils", "_rebuild_tensor_v2", NAME_TENSOR_V2},
    {"torch._utils", "_rebuild_tensor_v3", NAME_TENSOR_V3},
    {"torch._utils", "_rebuild_parameter", NAME_PARAMETER},
    {"collections", "OrderedDict", NAME_ORDERED_DICT},
    {"torch", "Size", NAME_SIZE},
    {"torch", "device", NAME_DEVICE},
    {"__builtin__", "set", NAME_SET},
    {"builtins", "set", NAME_SET},
    {"__builtin__", "complex", NAME_COMPLEX},
    {"builtins", "complex", NAME_COMPLEX},
    {"_codecs", "encode", NAME_ENCODE},
    {"__builtin__", "bytes", NAME_BYTES},
    {"builtins", "bytes", NAME_BYTES},
    {"torch._utils", "_rebuild_parameter_with_state", NAME_PARAMETER_STATE},
    {"torch._tensor", "_rebuild_from_type_v2", NAME_FROM_TYPE},
    {"torch._utils", "_rebuild_sparse_tensor", NAME_SPARSE},
    {"torch._utils", "_rebuild_qtensor", NAME_QUANTISED},
    {"torch", "per_tensor_affine", NAME_CLASS},
    {"torch", "per_channel_affine", NAME_CLASS},
    {"torch.serialization", "_get_layout", NAME_LAYOUT},
    {"numpy.core.multiarray", "_reconstruct", NAME_NUMPY_ARRAY},
    {"numpy._core.multiarray", "_reconstruct", NAME_NUMPY_ARRAY},
    {"numpy", "dtype", NAME_NUMPY_DTYPE},
    {"numpy.core.multiarray", "scalar", NAME_NUMPY_SCALAR},
    {"numpy._core.multiarray", "scalar", NAME_NUMPY_SCALAR},
    {"numpy", "ndarray", NAME_CLASS},
    {"torch", "Tensor", NAME_CLASS},
    {"torch.nn.parameter", "Parameter", NAME_CLASS},
};

static const TsrStorageClass storages[] = {
    {"torch", "FloatStorage", TSR_FLOAT32},
    {"torch", "DoubleStorage", TSR_FLOAT64},
    {"torch", "HalfStorage", TSR_FLOAT16},
    {"torch", "BFloat16Storage", TSR_BFLOAT16},
    {"torch", "LongStorage", TSR_INT64},
    {"torch", "IntStorage", TSR_INT32},
    {"torch", "ShortStorage", TSR_INT16},
    {"torch", "CharStorage", TSR_INT8},
    {"torch", "ByteStorage", TSR_UINT8},
    {"torch", "BoolStorage", TSR_BOOL},
    {"torch", "ComplexFloatStorage", TSR_COMPLEX64},
    {"torch", "ComplexDoubleStorage", TSR_COMPLEX128},
    {"torch", "QInt8Storage", TSR_INT8},
    {"torch", "QUInt8Storage", TSR_UINT8},
    {"torch", "QInt32Storage", TSR_INT32},
    {"torch.storage", "UntypedStorage", TSR_DTYPE_NONE},
    {"torch", "UntypedStorage", TSR_DTYPE_NONE},
};

const TsrStorageClass *tsr_pickle_storage_class(TsrDtype dtype) {
    const TsrStorageClass *class = storages;
    while (class->dtype != dtype && class->dtype != TSR_DTYPE_NONE) class ++;
    return class;
}

/* ---- reading ---- */

typedef struct Reader {
    const TsrInput *in;
    const char *p, *end;
    const TsrPickleHost *host;
    bool opaque, stopped;
    uint64_t spent,
        budget; /* what is copied, values and bytes: a small file must not name the same large one again and again */
    TsrTree *tree;
    TsrNode stack, memo; /* lists: their children are what is on the stack, and what has been put aside */
    size_t *marks;       /* heights of the stack */
    size_t nmarks, room;
} Reader;

/* The error for a damaged pickle; names the byte. */
static TsrStatus bad(const Reader *r, const char *what) {
    return tsr_input_error(r->in, "byte %zu: %s", (size_t)(r->p - r->in->data), what);
}

/* Counts n copied values or bytes against the budget. */
static TsrStatus spend(Reader *r, uint64_t n) {
    r->spent += n;
    return r->spent <= r->budget ? TSR_OK : bad(r, "the same values are copied too often");
}

static TsrStatus push(Reader *r, TsrNode *node) { return tsr_node_append(&r->stack, node); }

/* The height of the stack at the last mark. */
static size_t bottom(const Reader *r) { return r->nmarks > 0 ? r->marks[r->nmarks - 1] : 0; }

/* The node below `depth` others, which stand above the last mark; NULL when there is none. */
static TsrNode *peek(const Reader *r, size_t depth) {
    return r->stack.n - bottom(r) > depth ? r->stack.children[r->stack.n - 1 - depth] : NULL;
}

/* Lends the next n bytes of the pickle and moves past them. */
static TsrStatus take(Reader *r, const char **bytes, uint64_t n) {
    if (n > (uint64_t)(r->end - r->p)) return bad(r, "the pickle ends inside a value");
    *bytes = r->p;
    r->p += n;
    return TSR_OK;
}

/* A number of n bytes, the lowest first. */
static TsrStatus take_number(Reader *r, uint64_t *v, int n) {
    const char *bytes;
    TSR_TRY(take(r, &bytes, (uint64_t)n));
    *v = tsr_little(bytes, (size_t)n);
    return TSR_OK;
}

static TsrStatus push_new(Reader *r, TsrNodeKind kind) {
    TsrNode *node;
    TSR_TRY(tsr_tree_add(&node, r->tree, kind));
    return push(r, node);
}

static TsrStatus push_int(Reader *r, int64_t v, TsrNodeKind kind) {
    TSR_TRY(push_new(r, kind));
    peek(r, 0)->i = v;
    return TSR_OK;
}

static TsrStatus op_proto(Reader *r, int unused) {
    uint64_t version;
    (void)unused;
    TSR_TRY(take_number(r, &version, 1));
    return version == 2 ? TSR_OK : tsr_input_error(r->in, "a pickle of protocol %d, where 2 is read", (int)version);
}

static TsrStatus op_stop(Reader *r, int unused) {
    (void)unused;
    if (r->stack.n != 1 || r->nmarks != 0) return bad(r, "the pickle ends with other than one value");
    r->tree->root = r->stack.children[0];
    r->stopped = true;
    return TSR_OK;
}

static TsrStatus op_mark(Reader *r, int unused) {
    (void)unused;
    TSR_TRY(tsr_mem_grow(&r->marks, &r->room, r->nmarks + 1, sizeof *r->marks));
    r->marks[r->nmarks++] = r->stack.n;
    return TSR_OK;
}

static TsrStatus op_new(Reader *r, int kind) { return push_new(r, (TsrNodeKind)kind); }
static TsrStatus op_bool(Reader *r, int value) { return push_int(r, value, TSR_NODE_BOOL); }

static TsrStatus op_int(Reader *r, int bytes) {
    uint64_t v;
    TSR_TRY(take_number(r, &v, bytes));
    return push_int(r, bytes == 4 ? (int32_t)(uint32_t)v : (int64_t)v, TSR_NODE_INT);
}

/* Two's complement of any length; `width` bytes say which. */
static TsrStatus op_long(Reader *r, int width) {
    uint64_t n;
    const char *bytes;
    TsrNode *node;
    TSR_TRY(take_number(r, &n, width));
    TSR_TRY(take(r, &bytes, n));
    if (n > 8) {
        TSR_TRY(tsr_tree_add_text(&node, r->tree, TSR_NODE_INT, bytes, (size_t)n));
        return push(r, node);
    }
    uint64_t v = n > 0 && (bytes[n - 1] & 0x80) != 0 ? UINT64_MAX : 0;
    for (size_t i = (size_t)n; i-- > 0;) v = v << 8 | (unsigned char)bytes[i];
    return push_int(r, (int64_t)v, TSR_NODE_INT);
}

static TsrStatus op_float(Reader *r, int unused) {
    const char *bytes;
    uint64_t v = 0;
    (void)unused;
    TSR_TRY(take(r, &bytes, 8));
    for (int i = 0; i < 8; i++) v = v << 8 | (unsigned char)bytes[i];
    TSR_TRY(push_new(r, TSR_NODE_FLOAT));
    memcpy(&peek(r, 0)->re, &v, 8);
    return TSR_OK;
}

static TsrStatus op_text(Reader *r, int width) {
    uint64_t n;
    const char *bytes;
    TsrNode *node;
    TSR_TRY(take_number(r, &n, width));
    TSR_TRY(take(r, &bytes, n));
    if (tsr_utf8_invalid(bytes, (int64_t)n) >= 0) return bad(r, "a text that is not UTF-8");
    TSR_TRY(tsr_tree_add_text(&node, r->tree, TSR_NODE_STR, bytes, (size_t)n));
    return push(r, node);
}

static TsrStatus op_put(Reader *r, int width) {
    uint64_t at;
    TSR_TRY(take_number(r, &at, width));
    if (peek(r, 0) == NULL) return bad(r, "nothing to put aside");
    if (at > r->memo.n) return bad(r, "a place put aside out of turn");
    if (at == r->memo.n) return tsr_node_append(&r->memo, peek(r, 0));
    r->memo.children[at] = peek(r, 0);
    return TSR_OK;
}

static TsrStatus op_get(Reader *r, int width) {
    uint64_t at;
    TSR_TRY(take_number(r, &at, width));
    return at < r->memo.n ? push(r, r->memo.children[at]) : bad(r, "what was never put aside");
}

/* Makes a tuple of the last n. */
static TsrStatus fold(Reader *r, size_t n) {
    TsrNode *tuple;
    if (r->stack.n - bottom(r) < n) return bad(r, "too few values for a tuple");
    TSR_TRY(tsr_tree_add(&tuple, r->tree, TSR_NODE_TUPLE));
    for (size_t i = 0; i < n; i++) TSR_TRY(tsr_node_append(tuple, r->stack.children[r->stack.n - n + i]));
    r->stack.n -= n;
    return push(r, tuple);
}

static TsrStatus op_fold(Reader *r, int n) { return fold(r, (size_t)n); }

static TsrStatus unmark(Reader *r, size_t *height) {
    if (r->nmarks == 0) return bad(r, "a mark is missing");
    *height = r->marks[--r->nmarks];
    return TSR_OK;
}

static TsrStatus op_fold_marked(Reader *r, int unused) {
    size_t height;
    (void)unused;
    TSR_TRY(unmark(r, &height));
    return fold(r, r->stack.n - height);
}

static bool is_key(const TsrNode *key) {
    if (key->kind != TSR_NODE_TUPLE)
        return key->kind <= TSR_NODE_BYTES || key->kind == TSR_NODE_DTYPE || key->kind == TSR_NODE_DEVICE ||
               key->kind == TSR_NODE_OPAQUE;
    for (size_t i = 0; i < key->n; i++)
        if (key->children[i]->kind == TSR_NODE_TUPLE || !is_key(key->children[i])) return false;
    return true;
}

static TsrStatus add_part(TsrNode *opaque, TsrNode *key, TsrNode *value) {
    TSR_TRY(tsr_node_append(opaque, key));
    return tsr_node_append(opaque, value);
}

static TsrStatus add_numbered(Reader *r, TsrNode *opaque, TsrNode *value) {
    TsrNode *key;
    TSR_TRY(tsr_tree_add(&key, r->tree, TSR_NODE_INT));
    key->i = opaque->i++;
    return add_part(opaque, key, value);
}

static TsrStatus add_named(Reader *r, TsrNode *opaque, const char *name, TsrNode *value) {
    TsrNode *key;
    TSR_TRY(tsr_tree_add_text(&key, r->tree, TSR_NODE_STR, name, strlen(name)));
    return add_part(opaque, key, value);
}

/* Takes what stands above `height` into the container below it. */
static TsrStatus extend(Reader *r, size_t height, bool pairs) {
    if (height <= bottom(r)) return bad(r, "a container is missing");
    TsrNode *to = r->stack.children[height - 1];
    size_t n = r->stack.n - height;
    bool fits = pairs ? to->kind == TSR_NODE_DICT || to->kind == TSR_NODE_ORDERED_DICT : to->kind == TSR_NODE_LIST;
    if (!fits && to->kind != TSR_NODE_OPAQUE)
        return bad(r, pairs ? "items for what is no dict" : "items for what is no list");
    if (pairs && n % 2 != 0) return bad(r, "a key without a value");
    for (size_t i = 0; i < n; i++) {
        TsrNode *item = r->stack.children[height + i];
        if (pairs && i % 2 == 0 && !is_key(item)) return bad(r, "a key that can't be one");
        TSR_TRY(!fits && !pairs ? add_numbered(r, to, item) : tsr_node_append(to, item));
    }
    r->stack.n = height;
    return TSR_OK;
}

static TsrStatus op_extend(Reader *r, int pairs) {
    size_t height;
    TSR_TRY(unmark(r, &height));
    return extend(r, height, pairs != 0);
}

static TsrStatus op_extend_one(Reader *r, int pairs) {
    size_t n = pairs != 0 ? 2 : 1;
    return r->stack.n - bottom(r) > n ? extend(r, r->stack.n - n, pairs != 0)
                                      : bad(r, "too few values for a container");
}

/* ---- names in a pickle ---- */

static TsrStatus take_line(Reader *r, const char **text, size_t *n) {
    const char *newline = memchr(r->p, '\n', (size_t)(r->end - r->p));
    if (newline == NULL) return bad(r, "the pickle ends inside a name");
    *text = r->p;
    *n = (size_t)(newline - r->p);
    r->p = newline + 1;
    return TSR_OK;
}

static bool is_text(const char *wanted, const char *text, size_t n) {
    return strlen(wanted) == n && memcmp(wanted, text, n) == 0;
}

static TsrStatus push_callable(Reader *r, Callable what, TsrDtype dtype, const char *module, const char *name) {
    char text[100];
    TsrNode *node;
    int length = snprintf(text, sizeof text, "%s.%s", module, name);
    TSR_TRY(tsr_tree_add_text(&node, r->tree, TSR_NODE_GLOBAL, text, (size_t)length));
    node->i = what;
    node->dtype = dtype;
    return push(r, node);
}

static TsrStatus push_unknown(Reader *r, const char *module, size_t nmodule, const char *name, size_t n) {
    char text[1024], shown[440];
    TsrNode *node;
    int length =
        snprintf(text, sizeof text, "%.*s.%.*s", (int)TSR_MIN(nmodule, 400), module, (int)TSR_MIN(n, 400), name);
    tsr_io_quote(shown, text, (size_t)length);
    if (!r->opaque) {
        tsr_input_error(r->in,
                        "it names %s, which is not among the few names that are read, and nothing in a file is called",
                        shown);
        tsr_error_hint("load(path, unknown='opaque') reads the rest");
        return TSR_VALUE_ERROR;
    }
    TSR_TRY(tsr_tree_add_text(&node, r->tree, TSR_NODE_OPAQUE, shown, strlen(shown)));
    return push(r, node);
}

static TsrStatus op_global(Reader *r, int unused) {
    const char *module, *name;
    char dtype[32];
    size_t nmodule, n;
    (void)unused;
    TSR_TRY(take_line(r, &module, &nmodule));
    TSR_TRY(take_line(r, &name, &n));
    for (size_t i = 0; i < TSR_COUNTOF(callables); i++)
        if (is_text(callables[i].module, module, nmodule) && is_text(callables[i].name, name, n))
            return push_callable(r, callables[i].what, TSR_DTYPE_NONE, callables[i].module, callables[i].name);
    for (size_t i = 0; i < TSR_COUNTOF(storages); i++)
        if (is_text(storages[i].module, module, nmodule) && is_text(storages[i].name, name, n))
            return push_callable(r, NAME_STORAGE, storages[i].dtype, storages[i].module, storages[i].name);
    snprintf(dtype, sizeof dtype, "%.*s", (int)TSR_MIN(n, sizeof dtype - 1), name);
    TsrDtype d = is_text("torch", module, nmodule) && strlen(dtype) == n ? tsr_dtype_from_name(dtype) : TSR_DTYPE_NONE;
    if (d == TSR_DTYPE_NONE || !tsr_dtype_is_pod(d)) return push_unknown(r, module, nmodule, name, n);
    TSR_TRY(push_new(r, TSR_NODE_DTYPE));
    peek(r, 0)->dtype = d;
    return TSR_OK;
}

/* ---- what the names make ---- */

/* Whether a tuple has the kinds that the letters name: i int, b bool, f float, s str, t tuple, l list, S storage, T
 * tensor, d dtype, . any. */
static bool has_kinds(const TsrNode *tuple, const char *letters) {
    static const char names[] = {
        [TSR_NODE_INT] = 'i',   [TSR_NODE_BOOL] = 'b', [TSR_NODE_FLOAT] = 'f',   [TSR_NODE_STR] = 's',
        [TSR_NODE_TUPLE] = 't', [TSR_NODE_LIST] = 'l', [TSR_NODE_STORAGE] = 'S', [TSR_NODE_TENSOR] = 'T',
        [TSR_NODE_DTYPE] = 'd', [TSR_NODE_GLOBAL] = 0};
    for (size_t i = 0; i < tuple->n; i++) {
        const TsrNode *node = tuple->children[i];
        if (letters[i] == '\0') return false;
        if (letters[i] != '.' && names[node->kind] != letters[i]) return false;
        if (letters[i] == 'i' && node->text != NULL) return false;
    }
    return letters[tuple->n] == '\0';
}

static bool read_sizes(int64_t *sizes, const TsrNode *tuple) {
    if (tuple->n > TSR_MAX_DIMS) return false;
    for (size_t i = 0; i < tuple->n; i++) {
        const TsrNode *item = tuple->children[i];
        if (item->kind != TSR_NODE_INT || item->text != NULL || item->i < 0) return false;
        sizes[i] = item->i;
    }
    return true;
}

/* {'conj': True, 'neg': True} */
static bool read_flags(uint32_t *flags, const TsrNode *dict) {
    for (size_t i = 0; i < dict->n; i += 2) {
        const TsrNode *key = dict->children[i], *value = dict->children[i + 1];
        bool conj = key->kind == TSR_NODE_STR && strcmp(key->text, "conj") == 0,
             neg = key->kind == TSR_NODE_STR && strcmp(key->text, "neg") == 0;
        if ((!conj && !neg) || value->kind != TSR_NODE_BOOL) return false;
        if (value->i != 0) *flags |= conj ? TSR_FLAG_CONJ : TSR_FLAG_NEG;
    }
    return dict->kind == TSR_NODE_DICT;
}

/* The tensor that storage, offset, sizes and strides make. */
static TsrStatus new_over(Reader *r, TsrTensor **out, TsrNode *const *a, TsrDtype dtype) {
    int64_t sizes[TSR_MAX_DIMS], strides[TSR_MAX_DIMS];
    if (!read_sizes(sizes, a[2]) || !read_sizes(strides, a[3]) || a[2]->n != a[3]->n || a[1]->i < 0)
        return bad(r, "a tensor whose sizes and strides are none");
    const TsrGeometry g = {(int)a[2]->n, sizes, strides, a[1]->i};
    if (!tsr_storage_holds(a[0]->storage, g, dtype)) return bad(r, "a tensor that reaches beyond its storage");
    return tsr_tensor_new_over(out, a[0]->storage, g, dtype);
}

/* (storage, offset, sizes, strides, requires_grad, hooks[, dtype][, flags]) */
static TsrStatus make_tensor(Reader *r, TsrNode *out, const TsrNode *args, bool v3) {
    uint32_t flags = 0;
    size_t plain = v3 ? 7 : 6;
    if (!has_kinds(args, v3 ? "Sittb.d" : "Sittb.") && !has_kinds(args, v3 ? "Sittb.d." : "Sittb.."))
        return bad(r, "a tensor made of other things than tensors are");
    TsrNode *const *a = args->children;
    TsrDtype dtype = v3 ? a[6]->dtype : a[0]->dtype;
    if (v3 ? a[0]->dtype != TSR_DTYPE_NONE || tsr_pickle_storage_class(dtype)->dtype != TSR_DTYPE_NONE
           : dtype == TSR_DTYPE_NONE)
        return bad(r, "a tensor of another dtype than its storage");
    if (args->n > plain && a[plain]->kind != TSR_NODE_NONE && !read_flags(&flags, a[plain]))
        return bad(r, "a tensor with unknown properties");
    if ((flags & TSR_FLAG_CONJ) != 0 && !tsr_dtype_is_complex(dtype)) return bad(r, "a conjugate that is not complex");
    TSR_TRY(new_over(r, &out->tensor, a, dtype));
    out->tensor->flags |= flags;
    out->kind = TSR_NODE_TENSOR;
    return TSR_OK;
}

static TsrStatus make_bytes(Reader *r, TsrNode **out, const TsrNode *args) {
    if (!has_kinds(args, "ss") || strcmp(args->children[1]->text, "latin1") != 0)
        return bad(r, "bytes in an unknown encoding");
    const unsigned char *s = (const unsigned char *)args->children[0]->text;
    size_t left = args->children[0]->length, n = 0;
    TSR_TRY(spend(r, left));
    TSR_TRY(tsr_tree_add_text(out, r->tree, TSR_NODE_BYTES, (const char *)s, left));
    for (size_t i = 0; i < left; i++) {
        if (s[i] >= 0xC4) return bad(r, "a character that is no byte");
        if (s[i] < 0x80) (*out)->text[n++] = (char)s[i];
        else if (s[i] >= 0xC2) (*out)->text[n++] = (char)(s[i] << 6 | (s[i + 1] & 0x3F)); /* the text is UTF-8 */
    }
    (*out)->length = n;
    (*out)->text[n] = '\0';
    return TSR_OK;
}

static bool to_double(double *out, const TsrNode *node) {
    *out = node->kind == TSR_NODE_FLOAT ? node->re : (double)node->i;
    return node->kind == TSR_NODE_FLOAT || (node->kind == TSR_NODE_INT && node->text == NULL);
}

/* The arguments' children become the node's. */
static TsrStatus adopt(Reader *r, TsrNode *out, TsrNodeKind kind, const TsrNode *from) {
    TSR_TRY(spend(r, from->n));
    for (size_t i = 0; i < from->n; i++) TSR_TRY(tsr_node_append(out, from->children[i]));
    out->kind = kind;
    return TSR_OK;
}

/* OrderedDict() or OrderedDict([(key, value), ...]), which Python 2 wrote. */
static TsrStatus make_ordered_dict(Reader *r, TsrNode *out, const TsrNode *args) {
    out->kind = TSR_NODE_ORDERED_DICT;
    if (args->n == 0) return TSR_OK;
    if (!has_kinds(args, "l")) return bad(r, "an OrderedDict of other than pairs");
    for (size_t i = 0; i < args->children[0]->n; i++) {
        const TsrNode *pair = args->children[0]->children[i];
        if ((pair->kind != TSR_NODE_TUPLE && pair->kind != TSR_NODE_LIST) || pair->n != 2 || !is_key(pair->children[0]))
            return bad(r, "an OrderedDict of other than pairs");
        TSR_TRY(adopt(r, out, TSR_NODE_ORDERED_DICT, pair));
    }
    return TSR_OK;
}

/* What is called so is not known, what it was called with is. */
static TsrStatus make_opaque(Reader *r, TsrNode **out, const TsrNode *callee, const TsrNode *args) {
    TSR_TRY(spend(r, args->n));
    TSR_TRY(tsr_tree_add_text(out, r->tree, TSR_NODE_OPAQUE, callee->text, callee->length));
    for (size_t i = 0; i < args->n && args->kind == TSR_NODE_TUPLE; i++)
        TSR_TRY(add_numbered(r, *out, args->children[i]));
    return TSR_OK;
}

/* (layout, (indices, values, size[, coalesced])), or of compressed ones (layout, (compressed indices, plain indices,
 * values, size)) */
static TsrStatus make_sparse(Reader *r, TsrNode **out, const TsrNode *args) {
    const TsrNode *layout = args->n == 2 ? args->children[0] : NULL, *parts = args->n == 2 ? args->children[1] : NULL;
    TsrNode *name;
    if (layout == NULL || layout->kind != TSR_NODE_OPAQUE || parts->kind != TSR_NODE_TUPLE)
        return bad(r, "a sparse tensor made of other things than those are");
    bool coo = strcmp(layout->text, "torch.sparse_coo") == 0;
    if (coo ? !has_kinds(parts, "TT.") && !has_kinds(parts, "TT..") : !has_kinds(parts, "TTT."))
        return bad(r, "a sparse tensor made of other things than those are");
    TSR_TRY(tsr_tree_add(out, r->tree, TSR_NODE_SPARSE));
    TSR_TRY(tsr_tree_add_text(&name, r->tree, TSR_NODE_STR, layout->text, layout->length));
    TSR_TRY(tsr_node_append(*out, name));
    for (size_t i = 0; i < parts->n; i++) TSR_TRY(tsr_node_append(*out, parts->children[i]));
    return TSR_OK;
}

/* ("cuda:0"), or ("cuda", 0). */
static TsrStatus make_device(Reader *r, TsrNode **out, const TsrNode *args) {
    char text[64] = "";
    TsrDevice device;
    bool indexed = has_kinds(args, "si");
    if (indexed || has_kinds(args, "s")) {
        int n = snprintf(text, sizeof text, "%s", args->children[0]->text);
        if (indexed && n < 32) snprintf(text + n, sizeof text - (size_t)n, ":%lld", (long long)args->children[1]->i);
    }
    if (tsr_device_parse(&device, text) != TSR_OK) return bad(r, "an unknown device");
    return tsr_tree_add_text(out, r->tree, TSR_NODE_DEVICE, text, strlen(text));
}

/* ---- quantised tensors ---- */

/* (torch.per_tensor_affine, scale, zero) or (torch.per_channel_affine, scales, zeros, axis) */
static TsrStatus fill_quantised(Reader *r, TsrNode *out, const TsrTensor *q, const TsrNode *params) {
    TsrNode *const *p = params->children;
    bool one = has_kinds(params, ".fi"), many = has_kinds(params, ".TTi");
    if ((!one && !many) || p[0]->kind != TSR_NODE_GLOBAL ||
        strcmp(p[0]->text, one ? "torch.per_tensor_affine" : "torch.per_channel_affine") != 0)
        return bad(r, "a quantised tensor of an unknown scheme");
    TsrQuantised scheme = one ? (TsrQuantised){.scale = p[1]->re, .zero = (double)p[2]->i}
                              : (TsrQuantised){.scales = p[1]->tensor, .zeros = p[2]->tensor, .axis = p[3]->i};
    if (!tsr_quantised_fits(&scheme, q)) return bad(r, "a quantised tensor of other scales than it has channels");
    TSR_TRY(tsr_dequantise_new(&out->tensor, q, &scheme));
    out->kind = TSR_NODE_TENSOR;
    r->tree->unpacked++;
    return TSR_OK;
}

/* (storage, offset, sizes, strides, scheme, requires_grad, hooks): a tensor of float32. One of more elements than its
 * storage has is none that PyTorch makes. */
static TsrStatus make_quantised(Reader *r, TsrNode *out, const TsrNode *args) {
    TSR_OWNED q = NULL;
    if (!has_kinds(args, "Sitttb.")) return bad(r, "a quantised tensor made of other things than those are");
    TsrNode *const *a = args->children;
    TsrDtype dtype = a[0]->dtype;
    if (dtype != TSR_INT8 && dtype != TSR_UINT8 && dtype != TSR_INT32)
        return bad(r, "a quantised tensor of another dtype than those have");
    TSR_TRY(new_over(r, &q, a, dtype));
    return (uint64_t)q->numel <= a[0]->storage->nbytes / tsr_dtype_size(dtype)
               ? fill_quantised(r, out, q, a[4])
               : bad(r, "a quantised tensor of more elements than its storage has");
}

/* ---- NumPy's arrays and numbers ---- */

static const char numpy_dtype[] = "numpy.dtype", numpy_array[] = "numpy.ndarray";

static bool is_opaque(const TsrNode *node, const char *name) {
    return node->kind == TSR_NODE_OPAQUE && strcmp(node->text, name) == 0;
}

/* dtype('f8', False, True): opaque, its code part 0, and once it is built its order of bytes the part "order". */
static bool read_dtype(TsrDtype *dtype, bool *big_endian, const TsrNode *node) {
    if (!is_opaque(node, numpy_dtype) || node->n < 4 || node->children[1]->kind != TSR_NODE_STR) return false;
    const TsrNode *order = node->children[node->n - 1];
    *dtype = tsr_npy_dtype(node->children[1]->text, node->children[1]->length);
    *big_endian = order->kind == TSR_NODE_STR && strcmp(order->text, ">") == 0;
    return *dtype != TSR_DTYPE_NONE && order->kind == TSR_NODE_STR;
}

/* The bytes of an element, in our order, as a number; false when it is none that a node holds. */
static bool set_number(TsrNode *out, const TsrNode *bytes, TsrDtype dtype, bool big_endian) {
    char element[16];
    size_t size = tsr_dtype_size(dtype), width = size / (tsr_dtype_is_complex(dtype) ? 2 : 1);
    if (bytes->kind != TSR_NODE_BYTES || bytes->length != size) return false;
    for (size_t i = 0; i < size; i++)
        element[i] = bytes->text[big_endian ? i / width * width + (width - 1 - i % width) : i];
    if (dtype == TSR_BOOL && element[0] != 0) element[0] = 1;
    TsrScalar v = tsr_scalar_load(dtype, element);
    if (v.kind == TSR_SCALAR_UINT && v.u > INT64_MAX) return false;
    out->kind = v.kind == TSR_SCALAR_BOOL                               ? TSR_NODE_BOOL
                : v.kind == TSR_SCALAR_INT || v.kind == TSR_SCALAR_UINT ? TSR_NODE_INT
                : v.kind == TSR_SCALAR_FLOAT                            ? TSR_NODE_FLOAT
                                                                        : TSR_NODE_COMPLEX;
    if (v.kind == TSR_SCALAR_BOOL) out->i = element[0];
    if (v.kind == TSR_SCALAR_INT) out->i = v.i;
    if (v.kind == TSR_SCALAR_UINT) out->i = (int64_t)v.u;
    if (v.kind == TSR_SCALAR_FLOAT) out->re = v.f;
    if (v.kind == TSR_SCALAR_COMPLEX) {
        out->re = v.c.re;
        out->im = v.c.im;
    }
    return true;
}

/* scalar(dtype, bytes) */
static TsrStatus make_scalar(Reader *r, TsrNode **out, const TsrNode *callee, const TsrNode *args) {
    TsrDtype dtype;
    bool big_endian;
    TSR_TRY(tsr_tree_add(out, r->tree, TSR_NODE_NONE));
    if (args->n == 2 && read_dtype(&dtype, &big_endian, args->children[0]) &&
        set_number(*out, args->children[1], dtype, big_endian))
        return TSR_OK;
    return make_opaque(r, out, callee, args);
}

/* The state of an array, (1, shape, dtype, in Fortran's order, bytes), makes it a tensor; one that no tensor is stays
 * opaque. */
static TsrStatus build_array(Reader *r, TsrNode *array, TsrNode *state, bool *built) {
    TsrDtype dtype;
    TsrInput content = {.name = r->in->name, .member = r->in->member, .mode = 'c'};
    int64_t shape[TSR_MAX_DIMS], numel;
    size_t nbytes;
    bool big_endian;
    *built = false;
    if (state->kind != TSR_NODE_TUPLE || !has_kinds(state, "it.b.") ||
        !read_dtype(&dtype, &big_endian, state->children[2]))
        return TSR_OK;
    const TsrNode *sizes = state->children[1], *bytes = state->children[4];
    if (bytes->kind != TSR_NODE_BYTES || !read_sizes(shape, sizes)) return TSR_OK;
    TSR_TRY(tsr_check_shape(r->in, &numel, &nbytes, (int)sizes->n, shape, dtype));
    if (nbytes != bytes->length) return bad(r, "an array of another size than its bytes");
    TSR_TRY(spend(r, nbytes));
    content.data = bytes->text;
    content.size = bytes->length;
    TSR_TRY(tsr_input_new_tensor(&array->tensor, &content, &(TsrElements){dtype, big_endian, 0, nbytes, 0},
                                 (int)sizes->n, shape, state->children[3]->i != 0));
    array->kind = TSR_NODE_TENSOR;
    array->n = 0;
    *built = true;
    return TSR_OK;
}

static TsrStatus make(Reader *r, TsrNode **out, const TsrNode *callee, const TsrNode *args) {
    TsrNode *made;
    int64_t sizes[TSR_MAX_DIMS];
    if (callee->kind == TSR_NODE_OPAQUE) return make_opaque(r, out, callee, args);
    if (callee->kind != TSR_NODE_GLOBAL || args->kind != TSR_NODE_TUPLE)
        return bad(r, "a call of what can't be called");
    switch ((Callable)callee->i) {
    case NAME_ENCODE: return make_bytes(r, out, args);
    case NAME_BYTES:
        return args->n == 0 ? tsr_tree_add_text(out, r->tree, TSR_NODE_BYTES, "", 0)
                            : bad(r, "bytes in an unknown encoding");
    case NAME_SPARSE: return make_sparse(r, out, args);
    case NAME_LAYOUT:
        return has_kinds(args, "s") && args->children[0]->length < 100
                   ? tsr_tree_add_text(out, r->tree, TSR_NODE_OPAQUE, args->children[0]->text,
                                       args->children[0]->length)
                   : bad(r, "a layout without a name");
    case NAME_NUMPY_ARRAY: return tsr_tree_add_text(out, r->tree, TSR_NODE_OPAQUE, numpy_array, sizeof numpy_array - 1);
    case NAME_NUMPY_DTYPE: return make_opaque(r, out, callee, args);
    case NAME_NUMPY_SCALAR: return make_scalar(r, out, callee, args);
    case NAME_FROM_TYPE: /* (function, class, arguments, attributes) */
        if (args->n != 4 || args->children[0]->kind != TSR_NODE_GLOBAL || args->children[0]->i == NAME_FROM_TYPE)
            return r->opaque ? make_opaque(r, out, callee, args) : bad(r, "a tensor made by what does not make one");
        return make(r, out, args->children[0], args->children[2]);
    default: break;
    }
    if (r->opaque && args->n > 0 && args->children[0]->kind == TSR_NODE_OPAQUE)
        return make_opaque(r, out, callee, args);
    TSR_TRY(tsr_tree_add(&made, r->tree, TSR_NODE_NONE));
    *out = made;
    switch ((Callable)callee->i) {
    case NAME_TENSOR_V2: return make_tensor(r, made, args, false);
    case NAME_TENSOR_V3: return make_tensor(r, made, args, true);
    case NAME_PARAMETER:
    case NAME_PARAMETER_STATE:
        *out = has_kinds(args, callee->i == NAME_PARAMETER ? "Tb." : "Tb..") ? args->children[0] : NULL;
        return *out != NULL ? TSR_OK : bad(r, "a parameter that is no tensor");
    case NAME_QUANTISED: return make_quantised(r, made, args);
    case NAME_ORDERED_DICT: return make_ordered_dict(r, made, args);
    case NAME_SIZE:
        if (!has_kinds(args, "t") || !read_sizes(sizes, args->children[0]))
            return bad(r, "a torch.Size of other than sizes");
        return adopt(r, made, TSR_NODE_SIZE, args->children[0]);
    case NAME_DEVICE: return make_device(r, out, args);
    case NAME_SET:
        if (!has_kinds(args, "l")) return bad(r, "a set of other than a list");
        for (size_t i = 0; i < args->children[0]->n; i++)
            if (!is_key(args->children[0]->children[i])) return bad(r, "a set of what can't be in one");
        return adopt(r, made, TSR_NODE_SET, args->children[0]);
    case NAME_COMPLEX:
        made->kind = TSR_NODE_COMPLEX;
        return args->n == 2 && to_double(&made->re, args->children[0]) && to_double(&made->im, args->children[1])
                   ? TSR_OK
                   : bad(r, "a complex of other than two numbers");
    default: return r->opaque ? make_opaque(r, out, callee, args) : bad(r, "a call of what can't be called");
    }
}

static TsrStatus op_reduce(Reader *r, int unused) {
    TsrNode *callee = peek(r, 1), *args = peek(r, 0), *made = NULL;
    (void)unused;
    if (callee == NULL) return bad(r, "a call of nothing");
    TSR_TRY(make(r, &made, callee, args));
    r->stack.n -= 2;
    return push(r, made);
}

/* Attributes in a dict are parts under their names, those of a class with __slots__ come in a second one; any other
 * state is the part "state". */
static TsrStatus add_state(Reader *r, TsrNode *opaque, TsrNode *state) {
    if (state->kind == TSR_NODE_DICT) {
        TSR_TRY(spend(r, state->n));
        for (size_t i = 0; i < state->n; i++) TSR_TRY(tsr_node_append(opaque, state->children[i]));
        return TSR_OK;
    }
    bool slots = state->kind == TSR_NODE_TUPLE && state->n == 2;
    for (size_t i = 0; i < 2 && slots; i++)
        slots = state->children[i]->kind == TSR_NODE_DICT || state->children[i]->kind == TSR_NODE_NONE;
    if (!slots) return add_named(r, opaque, "state", state);
    for (size_t i = 0; i < 2; i++)
        if (state->children[i]->kind == TSR_NODE_DICT) TSR_TRY(add_state(r, opaque, state->children[i]));
    return TSR_OK;
}

static TsrStatus build_opaque(Reader *r, TsrNode *object, TsrNode *state) {
    bool built = false;
    if (strcmp(object->text, numpy_array) == 0 && object->n == 0) TSR_TRY(build_array(r, object, state, &built));
    if (built) return TSR_OK;
    if (strcmp(object->text, numpy_dtype) == 0 && state->kind == TSR_NODE_TUPLE && state->n > 1 &&
        state->children[1]->kind == TSR_NODE_STR)
        return add_named(r, object, "order", state->children[1]);
    return add_state(r, object, state);
}

/* The attributes of an object: those of an OrderedDict are kept beside its items. */
static TsrStatus op_build(Reader *r, int unused) {
    TsrNode *object = peek(r, 1);
    (void)unused;
    if (object == NULL || (object->kind != TSR_NODE_OPAQUE && object->kind != TSR_NODE_ORDERED_DICT))
        return bad(r, "attributes for what has none");
    if (object->kind == TSR_NODE_OPAQUE) TSR_TRY(build_opaque(r, object, peek(r, 0)));
    else if (peek(r, 0)->kind == TSR_NODE_DICT) object->state = peek(r, 0);
    r->stack.n--;
    return TSR_OK;
}

/* ('module', class, file, source), which was written before PyTorch 1.6: the class. */
static TsrStatus take_class(Reader *r, const TsrNode *id) {
    r->stack.n--;
    return push(r, id->children[1]);
}

/* ('storage', class, key, location, count[, None]) */
static TsrStatus op_storage(Reader *r, int unused) {
    TsrNode *id = peek(r, 0), *made;
    (void)unused;
    if (id != NULL && id->kind == TSR_NODE_TUPLE && has_kinds(id, "s...") &&
        strcmp(id->children[0]->text, "module") == 0)
        return take_class(r, id);
    if (id == NULL || id->kind != TSR_NODE_TUPLE || (!has_kinds(id, "s.ssi") && !has_kinds(id, "s.ssi.")) ||
        strcmp(id->children[0]->text, "storage") != 0)
        return bad(r, "a reference that is no storage");
    const TsrNode *class = id->children[1];
    if (id->n == 6 && id->children[5]->kind != TSR_NODE_NONE)
        return bad(r, "a view of a storage, as PyTorch wrote them before 0.4");
    if (r->opaque && class->kind == TSR_NODE_OPAQUE) {
        TSR_TRY(make_opaque(r, &made, class, id));
        r->stack.n--;
        return push(r, made);
    }
    if (class->kind != TSR_NODE_GLOBAL || class->i != NAME_STORAGE || id->children[4]->i < 0)
        return bad(r, "a storage of an unknown class");
    TSR_TRY(tsr_tree_add(&made, r->tree, TSR_NODE_STORAGE));
    made->dtype = class->dtype;
    TSR_TRY(r->host->storage(made, id->children[2]->text, (uint64_t)id->children[4]->i, r->host->context));
    r->stack.n--;
    return push(r, made);
}

/* ---- the opcodes ---- */

static const struct {
    unsigned char code;
    TsrStatus (*run)(Reader *r, int argument);
    int argument;
} opcodes[] = {
    {0x80, op_proto, 0},
    {'.', op_stop, 0},
    {'(', op_mark, 0},
    {'N', op_new, TSR_NODE_NONE},
    {'}', op_new, TSR_NODE_DICT},
    {']', op_new, TSR_NODE_LIST},
    {')', op_new, TSR_NODE_TUPLE},
    {0x88, op_bool, 1},
    {0x89, op_bool, 0},
    {'K', op_int, 1},
    {'M', op_int, 2},
    {'J', op_int, 4},
    {0x8a, op_long, 1},
    {0x8b, op_long, 4},
    {'G', op_float, 0},
    {'X', op_text, 4},
    {'U', op_text, 1},
    {'T', op_text, 4},
    {'q', op_put, 1},
    {'r', op_put, 4},
    {'h', op_get, 1},
    {'j', op_get, 4},
    {0x85, op_fold, 1},
    {0x86, op_fold, 2},
    {0x87, op_fold, 3},
    {'t', op_fold_marked, 0},
    {'a', op_extend_one, 0},
    {'e', op_extend, 0},
    {'s', op_extend_one, 1},
    {'u', op_extend, 1},
    {'c', op_global, 0},
    {'R', op_reduce, 0},
    {0x81, op_reduce, 0},
    {'b', op_build, 0},
    {'Q', op_storage, 0},
};

static TsrStatus step(Reader *r) {
    unsigned char code = (unsigned char)*r->p;
    for (size_t i = 0; i < TSR_COUNTOF(opcodes); i++) {
        if (opcodes[i].code != code) continue;
        r->p++;
        return opcodes[i].run(r, opcodes[i].argument);
    }
    char text[64];
    snprintf(text, sizeof text, "the opcode 0x%02x, which torch.save never writes", code);
    return bad(r, text);
}

/* How far a walk from the root has come into a node. */
typedef struct Visit {
    TsrNode *node;
    size_t next;
} Visit;

/* What can be reached: no names, and nothing nested too deep for whoever walks it in the same order. Marks the nodes by
 * `user`. */
static TsrStatus check_reached(const Reader *r) {
    Visit path[TSR_TREE_DEPTH];
    size_t depth = 0;
    for (TsrNode *node = r->tree->root;;) {
        if (node != NULL && node->user == NULL) {
            if (node->kind == TSR_NODE_GLOBAL && !r->opaque) return bad(r, "a name where a value was expected");
            if (node->kind == TSR_NODE_GLOBAL) node->kind = TSR_NODE_OPAQUE;
            if (depth == TSR_TREE_DEPTH) return bad(r, "values nested too deep");
            node->user = node;
            path[depth++] = (Visit){node, 0};
        }
        while (depth > 0 && path[depth - 1].next == path[depth - 1].node->n) depth--;
        if (depth == 0) return TSR_OK;
        node = path[depth - 1].node->children[path[depth - 1].next++];
        if (tsr_interrupt_flag != 0) return tsr_interrupt_check();
    }
}

TsrStatus tsr_pickle_read(TsrTree *tree, const TsrInput *in, size_t *at, const TsrPickleHost *host, bool opaque) {
    Reader r = {
        .in = in, .p = in->data + *at, .end = in->data + in->size, .host = host, .opaque = opaque, .tree = tree};
    r.budget = 16 * (uint64_t)(r.end - r.p) + 4096;
    TsrStatus status = TSR_OK;
    for (int64_t i = 0; status == TSR_OK && !r.stopped; i++) {
        status = tsr_interrupt_check_at(i);
        if (status == TSR_OK) status = r.p < r.end ? step(&r) : bad(&r, "the pickle has no end");
    }
    if (status == TSR_OK) status = check_reached(&r);
    for (TsrNode *node = tree->all; node != NULL; node = node->next) node->user = NULL;
    *at = (size_t)(r.p - in->data);
    tsr_free(r.stack.children);
    tsr_free(r.memo.children);
    tsr_free(r.marks);
    return status;
}
