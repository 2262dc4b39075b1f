/* pickle_make.c: the nodes that a pickle's calls and states make (pickle_impl.h): tensors, sparse and quantised ones,
 * NumPy's arrays and numbers, sets, devices. Nothing is called: a name stands for one of the functions here. */
#include "pickle_impl.h"

#include <stdio.h>
#include <string.h>

#include "core/io/dequantise.h"
#include "core/io/elements.h"
#include "core/io/formats.h"
#include "core/tensor/owned.h"

/* ---- parts ---- */

bool tsr_pickle_is_key(const TsrNode *key) {
    if (key->kind != TSR_NODE_TUPLE)
        return key->kind <= TSR_NODE_BYTES || key->kind == TSR_NODE_DTYPE || key->kind == TSR_NODE_DEVICE ||
               key->kind == TSR_NODE_OPAQUE;
    for (size_t i = 0; i < key->n; i++)
        if (key->children[i]->kind == TSR_NODE_TUPLE || !tsr_pickle_is_key(key->children[i])) return false;
    return true;
}

static TsrStatus add_part(TsrNode *opaque, TsrNode *key, TsrNode *value) {
    TSR_TRY(tsr_node_append(opaque, key));
    return tsr_node_append(opaque, value);
}

TsrStatus tsr_pickle_add_numbered(PickleReader *r, TsrNode *opaque, TsrNode *value) {
    TsrNode *key;
    TSR_TRY(tsr_tree_add(&key, r->tree, TSR_NODE_INT));
    key->i = opaque->i++;
    return add_part(opaque, key, value);
}

static TsrStatus add_named(PickleReader *r, TsrNode *opaque, const char *name, TsrNode *value) {
    TsrNode *key;
    TSR_TRY(tsr_tree_add_text(&key, r->tree, TSR_NODE_STR, name, strlen(name)));
    return add_part(opaque, key, value);
}

/* ---- what the names make ---- */

bool tsr_pickle_has_kinds(const TsrNode *tuple, const char *letters) {
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
static TsrStatus new_over(PickleReader *r, TsrTensor **out, TsrNode *const *a, TsrDtype dtype) {
    int64_t sizes[TSR_MAX_DIMS], strides[TSR_MAX_DIMS];
    if (!read_sizes(sizes, a[2]) || !read_sizes(strides, a[3]) || a[2]->n != a[3]->n || a[1]->i < 0)
        return bad(r, "a tensor whose sizes and strides are none");
    const TsrGeometry g = {(int)a[2]->n, sizes, strides, a[1]->i};
    if (!tsr_storage_holds(a[0]->storage, g, dtype)) return bad(r, "a tensor that reaches beyond its storage");
    return tsr_tensor_new_over(out, a[0]->storage, g, dtype);
}

/* (storage, offset, sizes, strides, requires_grad, hooks[, dtype][, flags]) */
static TsrStatus make_tensor(PickleReader *r, TsrNode *out, const TsrNode *args, bool v3) {
    uint32_t flags = 0;
    size_t plain = v3 ? 7 : 6;
    if (!tsr_pickle_has_kinds(args, v3 ? "Sittb.d" : "Sittb.") &&
        !tsr_pickle_has_kinds(args, v3 ? "Sittb.d." : "Sittb.."))
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

static TsrStatus make_bytes(PickleReader *r, TsrNode **out, const TsrNode *args) {
    if (!tsr_pickle_has_kinds(args, "ss") || strcmp(args->children[1]->text, "latin1") != 0)
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
static TsrStatus adopt(PickleReader *r, TsrNode *out, TsrNodeKind kind, const TsrNode *from) {
    TSR_TRY(spend(r, from->n));
    for (size_t i = 0; i < from->n; i++) TSR_TRY(tsr_node_append(out, from->children[i]));
    out->kind = kind;
    return TSR_OK;
}

/* OrderedDict() or OrderedDict([(key, value), ...]), which Python 2 wrote. */
static TsrStatus make_ordered_dict(PickleReader *r, TsrNode *out, const TsrNode *args) {
    out->kind = TSR_NODE_ORDERED_DICT;
    if (args->n == 0) return TSR_OK;
    if (!tsr_pickle_has_kinds(args, "l")) return bad(r, "an OrderedDict of other than pairs");
    for (size_t i = 0; i < args->children[0]->n; i++) {
        const TsrNode *pair = args->children[0]->children[i];
        if ((pair->kind != TSR_NODE_TUPLE && pair->kind != TSR_NODE_LIST) || pair->n != 2 ||
            !tsr_pickle_is_key(pair->children[0]))
            return bad(r, "an OrderedDict of other than pairs");
        TSR_TRY(adopt(r, out, TSR_NODE_ORDERED_DICT, pair));
    }
    return TSR_OK;
}

/* What is called so is not known, what it was called with is. */
static TsrStatus make_opaque(PickleReader *r, TsrNode **out, const TsrNode *callee, const TsrNode *args) {
    TSR_TRY(spend(r, args->n));
    TSR_TRY(tsr_tree_add_text(out, r->tree, TSR_NODE_OPAQUE, callee->text, callee->length));
    for (size_t i = 0; i < args->n && args->kind == TSR_NODE_TUPLE; i++)
        TSR_TRY(tsr_pickle_add_numbered(r, *out, args->children[i]));
    return TSR_OK;
}

/* (layout, (indices, values, size[, coalesced])), or of compressed ones (layout, (compressed indices, plain indices,
 * values, size)) */
static TsrStatus make_sparse(PickleReader *r, TsrNode **out, const TsrNode *args) {
    const TsrNode *layout = args->n == 2 ? args->children[0] : NULL, *parts = args->n == 2 ? args->children[1] : NULL;
    TsrNode *name;
    if (layout == NULL || layout->kind != TSR_NODE_OPAQUE || parts->kind != TSR_NODE_TUPLE)
        return bad(r, "a sparse tensor made of other things than those are");
    bool coo = strcmp(layout->text, "torch.sparse_coo") == 0;
    if (coo ? !tsr_pickle_has_kinds(parts, "TT.") && !tsr_pickle_has_kinds(parts, "TT..")
            : !tsr_pickle_has_kinds(parts, "TTT."))
        return bad(r, "a sparse tensor made of other things than those are");
    TSR_TRY(tsr_tree_add(out, r->tree, TSR_NODE_SPARSE));
    TSR_TRY(tsr_tree_add_text(&name, r->tree, TSR_NODE_STR, layout->text, layout->length));
    TSR_TRY(tsr_node_append(*out, name));
    for (size_t i = 0; i < parts->n; i++) TSR_TRY(tsr_node_append(*out, parts->children[i]));
    return TSR_OK;
}

/* ("cuda:0"), or ("cuda", 0). */
static TsrStatus make_device(PickleReader *r, TsrNode **out, const TsrNode *args) {
    char text[64] = "";
    TsrDevice device;
    bool indexed = tsr_pickle_has_kinds(args, "si");
    if (indexed || tsr_pickle_has_kinds(args, "s")) {
        int n = snprintf(text, sizeof text, "%s", args->children[0]->text);
        if (indexed && n < 32) snprintf(text + n, sizeof text - (size_t)n, ":%lld", (long long)args->children[1]->i);
    }
    if (tsr_device_parse(&device, text) != TSR_OK) return bad(r, "an unknown device");
    return tsr_tree_add_text(out, r->tree, TSR_NODE_DEVICE, text, strlen(text));
}

/* ---- quantised tensors ---- */

/* (torch.per_tensor_affine, scale, zero) or (torch.per_channel_affine, scales, zeros, axis) */
static TsrStatus fill_quantised(PickleReader *r, TsrNode *out, const TsrTensor *q, const TsrNode *params) {
    TsrNode *const *p = params->children;
    bool one = tsr_pickle_has_kinds(params, ".fi"), many = tsr_pickle_has_kinds(params, ".TTi");
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
static TsrStatus make_quantised(PickleReader *r, TsrNode *out, const TsrNode *args) {
    TSR_OWNED q = NULL;
    if (!tsr_pickle_has_kinds(args, "Sitttb.")) return bad(r, "a quantised tensor made of other things than those are");
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
static TsrStatus make_scalar(PickleReader *r, TsrNode **out, const TsrNode *callee, const TsrNode *args) {
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
static TsrStatus build_array(PickleReader *r, TsrNode *array, TsrNode *state, bool *built) {
    TsrDtype dtype;
    TsrInput content = {.name = r->in->name, .member = r->in->member, .mode = 'c'};
    int64_t shape[TSR_MAX_DIMS], numel;
    size_t nbytes;
    bool big_endian;
    *built = false;
    if (state->kind != TSR_NODE_TUPLE || !tsr_pickle_has_kinds(state, "it.b.") ||
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

TsrStatus tsr_pickle_make(PickleReader *r, TsrNode **out, const TsrNode *callee, const TsrNode *args) {
    TsrNode *made;
    int64_t sizes[TSR_MAX_DIMS];
    if (callee->kind == TSR_NODE_OPAQUE) return make_opaque(r, out, callee, args);
    if (callee->kind != TSR_NODE_GLOBAL || args->kind != TSR_NODE_TUPLE)
        return bad(r, "a call of what can't be called");
    switch ((PickleName)callee->i) {
    case NAME_ENCODE: return make_bytes(r, out, args);
    case NAME_BYTES:
        return args->n == 0 ? tsr_tree_add_text(out, r->tree, TSR_NODE_BYTES, "", 0)
                            : bad(r, "bytes in an unknown encoding");
    case NAME_SPARSE: return make_sparse(r, out, args);
    case NAME_LAYOUT:
        return tsr_pickle_has_kinds(args, "s") && args->children[0]->length < 100
                   ? tsr_tree_add_text(out, r->tree, TSR_NODE_OPAQUE, args->children[0]->text,
                                       args->children[0]->length)
                   : bad(r, "a layout without a name");
    case NAME_NUMPY_ARRAY: return tsr_tree_add_text(out, r->tree, TSR_NODE_OPAQUE, numpy_array, sizeof numpy_array - 1);
    case NAME_NUMPY_DTYPE: return make_opaque(r, out, callee, args);
    case NAME_NUMPY_SCALAR: return make_scalar(r, out, callee, args);
    case NAME_FROM_TYPE: /* (function, class, arguments, attributes) */
        if (args->n != 4 || args->children[0]->kind != TSR_NODE_GLOBAL || args->children[0]->i == NAME_FROM_TYPE)
            return r->opaque ? make_opaque(r, out, callee, args) : bad(r, "a tensor made by what does not make one");
        return tsr_pickle_make(r, out, args->children[0], args->children[2]);
    default: break;
    }
    if (r->opaque && args->n > 0 && args->children[0]->kind == TSR_NODE_OPAQUE)
        return make_opaque(r, out, callee, args);
    TSR_TRY(tsr_tree_add(&made, r->tree, TSR_NODE_NONE));
    *out = made;
    switch ((PickleName)callee->i) {
    case NAME_TENSOR_V2: return make_tensor(r, made, args, false);
    case NAME_TENSOR_V3: return make_tensor(r, made, args, true);
    case NAME_PARAMETER:
    case NAME_PARAMETER_STATE:
        *out = tsr_pickle_has_kinds(args, callee->i == NAME_PARAMETER ? "Tb." : "Tb..") ? args->children[0] : NULL;
        return *out != NULL ? TSR_OK : bad(r, "a parameter that is no tensor");
    case NAME_QUANTISED: return make_quantised(r, made, args);
    case NAME_ORDERED_DICT: return make_ordered_dict(r, made, args);
    case NAME_SIZE:
        if (!tsr_pickle_has_kinds(args, "t") || !read_sizes(sizes, args->children[0]))
            return bad(r, "a torch.Size of other than sizes");
        return adopt(r, made, TSR_NODE_SIZE, args->children[0]);
    case NAME_DEVICE: return make_device(r, out, args);
    case NAME_SET:
        if (!tsr_pickle_has_kinds(args, "l")) return bad(r, "a set of other than a list");
        for (size_t i = 0; i < args->children[0]->n; i++)
            if (!tsr_pickle_is_key(args->children[0]->children[i])) return bad(r, "a set of what can't be in one");
        return adopt(r, made, TSR_NODE_SET, args->children[0]);
    case NAME_COMPLEX:
        made->kind = TSR_NODE_COMPLEX;
        return args->n == 2 && to_double(&made->re, args->children[0]) && to_double(&made->im, args->children[1])
                   ? TSR_OK
                   : bad(r, "a complex of other than two numbers");
    default: return r->opaque ? make_opaque(r, out, callee, args) : bad(r, "a call of what can't be called");
    }
}
/* ---- states ---- */

/* Attributes in a dict are parts under their names, those of a class with __slots__ come in a second one; any other
 * state is the part "state". */
static TsrStatus add_state(PickleReader *r, TsrNode *opaque, TsrNode *state) {
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

TsrStatus tsr_pickle_build(PickleReader *r, TsrNode *object, TsrNode *state) {
    bool built = false;
    if (strcmp(object->text, numpy_array) == 0 && object->n == 0) TSR_TRY(build_array(r, object, state, &built));
    if (built) return TSR_OK;
    if (strcmp(object->text, numpy_dtype) == 0 && state->kind == TSR_NODE_TUPLE && state->n > 1 &&
        state->children[1]->kind == TSR_NODE_STR)
        return add_named(r, object, "order", state->children[1]);
    return add_state(r, object, state);
}
