/* pickle_write.c: a tree as a pickle of protocol 2 (pickle.h): each kind of node by the opcodes that Python's pickle
 * gives for it. Strings and containers are put aside when first written, and named by number after that. */
#include "pickle.h"

#include <stdio.h>
#include <string.h>

#include "core/io/little.h"

typedef struct Writer {
    TsrText *out;
    TsrTree *tree;
    TsrPickledTensor *tensor;
    void *context;
    uintptr_t put; /* nodes put aside; a node's `user` is its number, from 1 on */
    int depth;
} Writer;

static TsrStatus put_code(Writer *w, int code) { return tsr_text_putc(w->out, (char)code); }

static TsrStatus put_number(Writer *w, int code, uint64_t v, int bytes) {
    TSR_TRY(put_code(w, code));
    return tsr_text_put_little(w->out, v, (size_t)bytes);
}

static TsrStatus put_int(Writer *w, int64_t v) {
    if (v >= 0 && v < 256) return put_number(w, 'K', (uint64_t)v, 1);
    if (v >= 0 && v < 65536) return put_number(w, 'M', (uint64_t)v, 2);
    if (v >= INT32_MIN && v <= INT32_MAX) return put_number(w, 'J', (uint64_t)v, 4);
    TSR_TRY(put_number(w, 0x8a, 8, 1));
    return tsr_text_put_little(w->out, (uint64_t)v, 8);
}

static TsrStatus put_text(Writer *w, const char *text, size_t n) {
    if (n > UINT32_MAX) return tsr_error(TSR_VALUE_ERROR, "a text of %zu bytes is too long for a pickle", n);
    TSR_TRY(put_number(w, 'X', n, 4));
    return tsr_text_append(w->out, text, n);
}

static TsrStatus put_long(Writer *w, const TsrNode *node) {
    if (node->text == NULL) return put_int(w, node->i);
    if (node->length > INT32_MAX)
        return tsr_error(TSR_VALUE_ERROR, "an int of %zu bytes is too long for a pickle", node->length);
    TSR_TRY(node->length < 256 ? put_number(w, 0x8a, node->length, 1) : put_number(w, 0x8b, node->length, 4));
    return tsr_text_append(w->out, node->text, node->length);
}

static TsrStatus put_float(Writer *w, double v) {
    uint64_t bits;
    memcpy(&bits, &v, 8);
    return put_number(w, 'G', __builtin_bswap64(bits), 8);
}

static TsrStatus put_name(Writer *w, const char *module, const char *name) {
    return tsr_text_printf(w->out, "c%s\n%s\n", module, name);
}

static TsrStatus put_aside(Writer *w, TsrNode *node) {
    uintptr_t at = w->put++;
    node->user = (void *)(at + 1);
    return at < 256 ? put_number(w, 'q', at, 1) : put_number(w, 'r', at, 4);
}

static TsrStatus put_node(Writer *w, TsrNode *node);

static TsrStatus put_children(Writer *w, const TsrNode *node) {
    for (size_t i = 0; i < node->n; i++) {
        TSR_TRY(tsr_interrupt_check());
        TSR_TRY(put_node(w, node->children[i]));
    }
    return TSR_OK;
}

/* Children between a mark and the opcode that takes them. */
static TsrStatus put_marked(Writer *w, const TsrNode *node, int code) {
    if (node->n == 0) return TSR_OK;
    TSR_TRY(put_code(w, '('));
    TSR_TRY(put_children(w, node));
    return put_code(w, code);
}

static TsrStatus put_tuple(Writer *w, const TsrNode *node) {
    static const int few[] = {')', 0x85, 0x86, 0x87};
    if (node->n > 3) return put_marked(w, node, 't');
    TSR_TRY(put_children(w, node));
    return put_code(w, few[node->n]);
}

/* The opcodes that call what a name stands for with the last n values. */
static TsrStatus put_call(Writer *w, int n) {
    TSR_TRY(put_code(w, n == 1 ? 0x85 : 0x86));
    return put_code(w, 'R');
}

static TsrStatus put_set(Writer *w, const TsrNode *node) {
    TSR_TRY(put_name(w, "__builtin__", "set"));
    TSR_TRY(put_code(w, ']'));
    TSR_TRY(put_marked(w, node, 'e'));
    return put_call(w, 1);
}

static TsrStatus put_size(Writer *w, const TsrNode *node) {
    TSR_TRY(put_name(w, "torch", "Size"));
    TSR_TRY(put_tuple(w, node));
    return put_call(w, 1);
}

static TsrStatus put_bytes(Writer *w, const TsrNode *node) {
    TsrText text = {0};
    TsrStatus status = put_name(w, "_codecs", "encode");
    for (size_t i = 0; i < node->length && status == TSR_OK; i++) { /* latin1 as UTF-8 */
        unsigned char c = (unsigned char)node->text[i];
        if (c >= 0x80) status = tsr_text_putc(&text, (char)(0xC0 | c >> 6));
        if (status == TSR_OK) status = tsr_text_putc(&text, (char)(c < 0x80 ? c : 0x80 | (c & 0x3F)));
    }
    if (status == TSR_OK) status = put_text(w, text.data != NULL ? text.data : "", text.length);
    tsr_text_free(&text);
    TSR_TRY(status);
    TSR_TRY(put_text(w, "latin1", 6));
    return put_call(w, 2);
}

static TsrStatus put_complex(Writer *w, const TsrNode *node) {
    TSR_TRY(put_name(w, "__builtin__", "complex"));
    TSR_TRY(put_float(w, node->re));
    TSR_TRY(put_float(w, node->im));
    return put_call(w, 2);
}

static TsrStatus put_empty_ordered_dict(Writer *w) {
    TSR_TRY(put_name(w, "collections", "OrderedDict"));
    return tsr_text_append(w->out, ")R", 2);
}

static TsrStatus put_sizes(Writer *w, int n, const int64_t *sizes) {
    TSR_TRY(put_code(w, '('));
    for (int i = 0; i < n; i++) TSR_TRY(put_int(w, sizes[i]));
    return put_code(w, 't');
}

static TsrStatus put_flag(Writer *w, const char *name) {
    TSR_TRY(put_text(w, name, strlen(name)));
    return tsr_text_append(w->out, "\x88s", 2);
}

static TsrStatus put_flags(Writer *w, uint32_t flags) {
    if ((flags & (TSR_FLAG_CONJ | TSR_FLAG_NEG)) == 0) return TSR_OK;
    TSR_TRY(put_code(w, '}'));
    if ((flags & TSR_FLAG_CONJ) != 0) TSR_TRY(put_flag(w, "conj"));
    return (flags & TSR_FLAG_NEG) != 0 ? put_flag(w, "neg") : TSR_OK;
}

static TsrStatus put_storage(Writer *w, const TsrStorageClass *class, const TsrPickled *p, size_t itemsize) {
    char key[24];
    snprintf(key, sizeof key, "%zu", p->key);
    TSR_TRY(put_code(w, '('));
    TSR_TRY(put_text(w, "storage", 7));
    TSR_TRY(put_name(w, class->module, class->name));
    TSR_TRY(put_text(w, key, strlen(key)));
    TSR_TRY(put_text(w, "cpu", 3));
    TSR_TRY(put_int(w, (int64_t)(p->numel * (class->dtype == TSR_DTYPE_NONE ? itemsize : 1))));
    return tsr_text_append(w->out, "tQ", 2);
}

static TsrStatus put_tensor(Writer *w, const TsrNode *node) {
    TsrPickled p;
    const TsrTensor *t = node->tensor;
    const TsrStorageClass *class = tsr_pickle_storage_class(t->dtype);
    bool untyped = class->dtype == TSR_DTYPE_NONE;
    TSR_TRY(w->tensor(&p, node, w->context));
    TSR_TRY(put_name(w, "torch._utils", untyped ? "_rebuild_tensor_v3" : "_rebuild_tensor_v2"));
    TSR_TRY(put_code(w, '('));
    TSR_TRY(put_storage(w, class, &p, tsr_itemsize(t)));
    TSR_TRY(put_int(w, p.offset));
    TSR_TRY(put_sizes(w, p.ndim, p.sizes));
    TSR_TRY(put_sizes(w, p.ndim, p.strides));
    TSR_TRY(put_code(w, 0x89));
    TSR_TRY(put_empty_ordered_dict(w));
    if (untyped) TSR_TRY(put_name(w, "torch", tsr_dtype_name(t->dtype)));
    TSR_TRY(put_flags(w, p.flags));
    return tsr_text_append(w->out, "tR", 2);
}

/* A container is put aside before what is in it, which may hold it again. */
static TsrStatus put_container(Writer *w, TsrNode *node) {
    bool list = node->kind == TSR_NODE_LIST;
    TSR_TRY(node->kind == TSR_NODE_ORDERED_DICT ? put_empty_ordered_dict(w) : put_code(w, list ? ']' : '}'));
    TSR_TRY(put_aside(w, node));
    TSR_TRY(put_marked(w, node, list ? 'e' : 'u'));
    if (node->state == NULL) return TSR_OK;
    TSR_TRY(put_node(w, node->state));
    return put_code(w, 'b');
}

static TsrStatus put_whole(Writer *w, TsrNode *node) {
    switch (node->kind) {
    case TSR_NODE_TUPLE: return put_tuple(w, node);
    case TSR_NODE_SET: return put_set(w, node);
    case TSR_NODE_SIZE: return put_size(w, node);
    case TSR_NODE_TENSOR: return put_tensor(w, node);
    case TSR_NODE_STORAGE: return tsr_error(TSR_TYPE_ERROR, "a storage is written with its tensors, not alone");
    case TSR_NODE_SPARSE: return tsr_error(TSR_VALUE_ERROR, "sparse tensors are not written; convert with to_dense()");
    case TSR_NODE_OPAQUE: return tsr_error(TSR_TYPE_ERROR, "%s can't be written: it is opaque", node->text);
    default: return tsr_error(TSR_TYPE_ERROR, "a name can't be written");
    }
}

static TsrStatus put_again_or_whole(Writer *w, TsrNode *node) {
    uintptr_t at = (uintptr_t)node->user;
    if (at != 0) return at <= 256 ? put_number(w, 'h', at - 1, 1) : put_number(w, 'j', at - 1, 4);
    if (node->kind == TSR_NODE_LIST || node->kind == TSR_NODE_DICT || node->kind == TSR_NODE_ORDERED_DICT)
        return put_container(w, node);
    TSR_TRY(put_whole(w, node));
    return put_aside(w, node);
}

static TsrStatus put_node(Writer *w, TsrNode *node) {
    switch (node->kind) {
    case TSR_NODE_NONE: return put_code(w, 'N');
    case TSR_NODE_BOOL: return put_code(w, node->i != 0 ? 0x88 : 0x89);
    case TSR_NODE_INT: return put_long(w, node);
    case TSR_NODE_FLOAT: return put_float(w, node->re);
    case TSR_NODE_COMPLEX: return put_complex(w, node);
    case TSR_NODE_STR: return put_text(w, node->text, node->length);
    case TSR_NODE_BYTES: return put_bytes(w, node);
    case TSR_NODE_DTYPE: return put_name(w, "torch", tsr_dtype_name(node->dtype));
    case TSR_NODE_DEVICE:
        TSR_TRY(put_name(w, "torch", "device"));
        TSR_TRY(put_text(w, node->text, node->length));
        return put_call(w, 1);
    default: break;
    }
    if (w->depth == TSR_TREE_DEPTH)
        return tsr_error(TSR_VALUE_ERROR, "values nested deeper than %d can't be written", TSR_TREE_DEPTH);
    w->depth++;
    TsrStatus status = put_again_or_whole(w, node);
    w->depth--;
    return status;
}

TsrStatus tsr_pickle_write(TsrText *out, TsrTree *tree, TsrPickledTensor *tensor, void *context) {
    Writer w = {.out = out, .tree = tree, .tensor = tensor, .context = context};
    for (TsrNode *node = tree->all; node != NULL; node = node->next) node->user = NULL;
    TSR_TRY(tsr_text_append(out, "\x80\x02", 2));
    TSR_TRY(put_node(&w, tree->root));
    return put_code(&w, '.');
}
