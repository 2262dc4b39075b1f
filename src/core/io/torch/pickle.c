/* pickle.c: the pickle inside a .pt file, read without Python (pickle.h).
 *
 * It is a stack machine over the opcodes of protocol 2, with the bytes in bounds at every step. Nothing is ever
 * called: a pickle may name only what `callables` and `storages` list, and a call becomes a node of the tree
 * (io_tree.h); any other class is refused, or becomes an opaque node. A budget of 16 times the pickle's size bounds
 * what is copied, because a small pickle can name one large value many times.
 *
 * pickle_make.c makes the nodes of calls, pickle_write.c writes. */
#include "pickle_impl.h"

#include <stdio.h>
#include <string.h>

#include "core/io/formats.h"
#include "core/io/little.h"
#include "core/mem.h"

/* ---- names ---- */

/* All that a pickle may name and call. */
static const struct {
    const char *module, *name;
    PickleName what;
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

static TsrStatus push(PickleReader *r, TsrNode *node) { return tsr_node_append(&r->stack, node); }

/* The height of the stack at the last mark. */
static size_t bottom(const PickleReader *r) { return r->nmarks > 0 ? r->marks[r->nmarks - 1] : 0; }

/* The node below `depth` others, which stand above the last mark; NULL when there is none. */
static TsrNode *peek(const PickleReader *r, size_t depth) {
    return r->stack.n - bottom(r) > depth ? r->stack.children[r->stack.n - 1 - depth] : NULL;
}

/* Lends the next n bytes of the pickle and moves past them. */
static TsrStatus take(PickleReader *r, const char **bytes, uint64_t n) {
    if (n > (uint64_t)(r->end - r->p)) return bad(r, "the pickle ends inside a value");
    *bytes = r->p;
    r->p += n;
    return TSR_OK;
}

/* A number of n bytes, the lowest first. */
static TsrStatus take_number(PickleReader *r, uint64_t *v, int n) {
    const char *bytes;
    TSR_TRY(take(r, &bytes, (uint64_t)n));
    *v = tsr_little(bytes, (size_t)n);
    return TSR_OK;
}

static TsrStatus push_new(PickleReader *r, TsrNodeKind kind) {
    TsrNode *node;
    TSR_TRY(tsr_tree_add(&node, r->tree, kind));
    return push(r, node);
}

static TsrStatus push_int(PickleReader *r, int64_t v, TsrNodeKind kind) {
    TSR_TRY(push_new(r, kind));
    peek(r, 0)->i = v;
    return TSR_OK;
}

static TsrStatus op_proto(PickleReader *r, int unused) {
    uint64_t version;
    (void)unused;
    TSR_TRY(take_number(r, &version, 1));
    return version == 2 ? TSR_OK : tsr_input_error(r->in, "a pickle of protocol %d, where 2 is read", (int)version);
}

static TsrStatus op_stop(PickleReader *r, int unused) {
    (void)unused;
    if (r->stack.n != 1 || r->nmarks != 0) return bad(r, "the pickle ends with other than one value");
    r->tree->root = r->stack.children[0];
    r->stopped = true;
    return TSR_OK;
}

static TsrStatus op_mark(PickleReader *r, int unused) {
    (void)unused;
    TSR_TRY(tsr_mem_grow(&r->marks, &r->room, r->nmarks + 1, sizeof *r->marks));
    r->marks[r->nmarks++] = r->stack.n;
    return TSR_OK;
}

static TsrStatus op_new(PickleReader *r, int kind) { return push_new(r, (TsrNodeKind)kind); }
static TsrStatus op_bool(PickleReader *r, int value) { return push_int(r, value, TSR_NODE_BOOL); }

static TsrStatus op_int(PickleReader *r, int bytes) {
    uint64_t v;
    TSR_TRY(take_number(r, &v, bytes));
    return push_int(r, bytes == 4 ? (int32_t)(uint32_t)v : (int64_t)v, TSR_NODE_INT);
}

/* Two's complement of any length; `width` bytes say which. */
static TsrStatus op_long(PickleReader *r, int width) {
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

static TsrStatus op_float(PickleReader *r, int unused) {
    const char *bytes;
    uint64_t v = 0;
    (void)unused;
    TSR_TRY(take(r, &bytes, 8));
    for (int i = 0; i < 8; i++) v = v << 8 | (unsigned char)bytes[i];
    TSR_TRY(push_new(r, TSR_NODE_FLOAT));
    memcpy(&peek(r, 0)->re, &v, 8);
    return TSR_OK;
}

static TsrStatus op_text(PickleReader *r, int width) {
    uint64_t n;
    const char *bytes;
    TsrNode *node;
    TSR_TRY(take_number(r, &n, width));
    TSR_TRY(take(r, &bytes, n));
    if (tsr_utf8_invalid(bytes, (int64_t)n) >= 0) return bad(r, "a text that is not UTF-8");
    TSR_TRY(tsr_tree_add_text(&node, r->tree, TSR_NODE_STR, bytes, (size_t)n));
    return push(r, node);
}

static TsrStatus op_put(PickleReader *r, int width) {
    uint64_t at;
    TSR_TRY(take_number(r, &at, width));
    if (peek(r, 0) == NULL) return bad(r, "nothing to put aside");
    if (at > r->memo.n) return bad(r, "a place put aside out of turn");
    if (at == r->memo.n) return tsr_node_append(&r->memo, peek(r, 0));
    r->memo.children[at] = peek(r, 0);
    return TSR_OK;
}

static TsrStatus op_get(PickleReader *r, int width) {
    uint64_t at;
    TSR_TRY(take_number(r, &at, width));
    return at < r->memo.n ? push(r, r->memo.children[at]) : bad(r, "what was never put aside");
}

/* Makes a tuple of the last n. */
static TsrStatus fold(PickleReader *r, size_t n) {
    TsrNode *tuple;
    if (r->stack.n - bottom(r) < n) return bad(r, "too few values for a tuple");
    TSR_TRY(tsr_tree_add(&tuple, r->tree, TSR_NODE_TUPLE));
    for (size_t i = 0; i < n; i++) TSR_TRY(tsr_node_append(tuple, r->stack.children[r->stack.n - n + i]));
    r->stack.n -= n;
    return push(r, tuple);
}

static TsrStatus op_fold(PickleReader *r, int n) { return fold(r, (size_t)n); }

static TsrStatus unmark(PickleReader *r, size_t *height) {
    if (r->nmarks == 0) return bad(r, "a mark is missing");
    *height = r->marks[--r->nmarks];
    return TSR_OK;
}

static TsrStatus op_fold_marked(PickleReader *r, int unused) {
    size_t height;
    (void)unused;
    TSR_TRY(unmark(r, &height));
    return fold(r, r->stack.n - height);
}

/* Takes what stands above `height` into the container below it. */
static TsrStatus extend(PickleReader *r, size_t height, bool pairs) {
    if (height <= bottom(r)) return bad(r, "a container is missing");
    TsrNode *to = r->stack.children[height - 1];
    size_t n = r->stack.n - height;
    bool fits = pairs ? to->kind == TSR_NODE_DICT || to->kind == TSR_NODE_ORDERED_DICT : to->kind == TSR_NODE_LIST;
    if (!fits && to->kind != TSR_NODE_OPAQUE)
        return bad(r, pairs ? "items for what is no dict" : "items for what is no list");
    if (pairs && n % 2 != 0) return bad(r, "a key without a value");
    for (size_t i = 0; i < n; i++) {
        TsrNode *item = r->stack.children[height + i];
        if (pairs && i % 2 == 0 && !tsr_pickle_is_key(item)) return bad(r, "a key that can't be one");
        TSR_TRY(!fits && !pairs ? tsr_pickle_add_numbered(r, to, item) : tsr_node_append(to, item));
    }
    r->stack.n = height;
    return TSR_OK;
}

static TsrStatus op_extend(PickleReader *r, int pairs) {
    size_t height;
    TSR_TRY(unmark(r, &height));
    return extend(r, height, pairs != 0);
}

static TsrStatus op_extend_one(PickleReader *r, int pairs) {
    size_t n = pairs != 0 ? 2 : 1;
    return r->stack.n - bottom(r) > n ? extend(r, r->stack.n - n, pairs != 0)
                                      : bad(r, "too few values for a container");
}

/* ---- names in a pickle ---- */

static TsrStatus take_line(PickleReader *r, const char **text, size_t *n) {
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

static TsrStatus push_callable(PickleReader *r, PickleName what, TsrDtype dtype, const char *module, const char *name) {
    char text[100];
    TsrNode *node;
    int length = snprintf(text, sizeof text, "%s.%s", module, name);
    TSR_TRY(tsr_tree_add_text(&node, r->tree, TSR_NODE_GLOBAL, text, (size_t)length));
    node->i = what;
    node->dtype = dtype;
    return push(r, node);
}

static TsrStatus push_unknown(PickleReader *r, const char *module, size_t nmodule, const char *name, size_t n) {
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

static TsrStatus op_global(PickleReader *r, int unused) {
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

static TsrStatus op_reduce(PickleReader *r, int unused) {
    TsrNode *callee = peek(r, 1), *args = peek(r, 0), *made = NULL;
    (void)unused;
    if (callee == NULL) return bad(r, "a call of nothing");
    TSR_TRY(tsr_pickle_make(r, &made, callee, args));
    r->stack.n -= 2;
    return push(r, made);
}

/* The attributes of an object: those of an OrderedDict are kept beside its items. */
static TsrStatus op_build(PickleReader *r, int unused) {
    TsrNode *object = peek(r, 1);
    (void)unused;
    if (object == NULL || (object->kind != TSR_NODE_OPAQUE && object->kind != TSR_NODE_ORDERED_DICT))
        return bad(r, "attributes for what has none");
    if (object->kind == TSR_NODE_OPAQUE) TSR_TRY(tsr_pickle_build(r, object, peek(r, 0)));
    else if (peek(r, 0)->kind == TSR_NODE_DICT) object->state = peek(r, 0);
    r->stack.n--;
    return TSR_OK;
}

/* ('module', class, file, source), which was written before PyTorch 1.6: the class. */
static TsrStatus take_class(PickleReader *r, const TsrNode *id) {
    r->stack.n--;
    return push(r, id->children[1]);
}

/* ('storage', class, key, location, count[, None]) */
static TsrStatus op_storage(PickleReader *r, int unused) {
    TsrNode *id = peek(r, 0), *made;
    (void)unused;
    if (id != NULL && id->kind == TSR_NODE_TUPLE && tsr_pickle_has_kinds(id, "s...") &&
        strcmp(id->children[0]->text, "module") == 0)
        return take_class(r, id);
    if (id == NULL || id->kind != TSR_NODE_TUPLE ||
        (!tsr_pickle_has_kinds(id, "s.ssi") && !tsr_pickle_has_kinds(id, "s.ssi.")) ||
        strcmp(id->children[0]->text, "storage") != 0)
        return bad(r, "a reference that is no storage");
    const TsrNode *class = id->children[1];
    if (id->n == 6 && id->children[5]->kind != TSR_NODE_NONE)
        return bad(r, "a view of a storage, as PyTorch wrote them before 0.4");
    if (r->opaque && class->kind == TSR_NODE_OPAQUE) {
        TSR_TRY(tsr_pickle_make(r, &made, class, id));
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
    TsrStatus (*run)(PickleReader *r, int argument);
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

static TsrStatus step(PickleReader *r) {
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
static TsrStatus check_reached(const PickleReader *r) {
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
    PickleReader r = {
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
