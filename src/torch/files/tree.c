/* Converts the trees that files hold (core/io_tree.h) to values and back. A node that is reached twice becomes one
 * value; objects whose class is not known become opaque values that keep their parts, so that saving gives them back.
 */
#include "tree.h"

#include <string.h>

#include "lang/types/bytes.h"
#include "core/mem.h"
#include "lang/types/collections.h"
#include "lang/types/dict.h"
#include "lang/object/gc.h"
#include "lang/object/native.h"
#include "lang/types/numbers.h"
#include "lang/vm/prelude.h"
#include "lang/types/sequences.h"
#include "torch/tables/tables.h"
#include "torch/tensor/storage.h"
#include "lang/types/str.h"
#include "torch/types.h"

/* ---- what has no meaning here ---- */

/* Its parts can be looked at: by attribute, by key, and what it was called with by number. */
typedef struct Opaque {
    GcObj gc;
    char *name;  /* owned */
    Value parts; /* a dict */
} Opaque;

static void opaque_destroy(Obj *self) {
    tsr_free(((Opaque *)self)->name);
    value_release(((Opaque *)self)->parts);
    obj_free(self, sizeof(Opaque));
}

static void opaque_traverse(Obj *self, GcVisit visit, void *context) {
    gc_visit_value(((Opaque *)self)->parts, visit, context);
}
static void opaque_clear(Obj *self) { value_clear(&((Opaque *)self)->parts); }

static Dict *parts_of(Value self) {
    return value_is_dict(((Opaque *)self.o)->parts) ? value_as_dict(((Opaque *)self.o)->parts) : NULL;
}

static TsrStatus opaque_repr(TsrText *out, Value self) {
    return tsr_text_printf(out, "<opaque %s>", ((Opaque *)self.o)->name);
}

/* What a module keeps in dicts of its own is found as if it were its attributes. */
static Value *find_in_module(const Dict *parts, const char *name) {
    static const char *const within[] = {"_parameters", "_buffers", "_modules"};
    for (size_t i = 0; i < TSR_COUNTOF(within); i++) {
        Value *held = dict_find_c(parts, within[i]);
        Value *found = held != NULL && value_is_dict(*held) ? dict_find_c(value_as_dict(*held), name) : NULL;
        if (found != NULL) return found;
    }
    return NULL;
}

static TsrStatus opaque_get_attr(Value *out, Value self, Str *name) {
    const Dict *parts = parts_of(self);
    Value *found = parts != NULL ? dict_find_c(parts, name->data) : NULL;
    if (found == NULL && parts != NULL) found = find_in_module(parts, name->data);
    if (found != NULL) {
        *out = value_retain(*found);
        return TSR_OK;
    }
    if (strncmp(name->data, "__", 2) == 0) {
        *out = VALUE_UNBOUND; /* __class__ and its like */
        return TSR_OK;
    }
    return tsr_error(TSR_ATTRIBUTE_ERROR,
                     "a value of %s can't be used ('%s'): it was read from a file as something opaque",
                     ((Opaque *)self.o)->name, name->data);
}

static TsrStatus opaque_get_item(Value *out, Value self, Value key) {
    Value *found = NULL;
    if (parts_of(self) != NULL) TSR_TRY(dict_find(&found, parts_of(self), key));
    if (found == NULL && value_is_str(key) && parts_of(self) != NULL)
        found = find_in_module(parts_of(self), value_as_str(key)->data);
    if (found == NULL)
        return tsr_error(TSR_KEY_ERROR, "a value of %s has no such part: it was read from a file as something opaque",
                         ((Opaque *)self.o)->name);
    *out = value_retain(*found);
    return TSR_OK;
}

static TsrStatus opaque_iter(Value *out, Value self) { return value_iter(out, ((Opaque *)self.o)->parts); }

static TsrStatus opaque_truth(bool *out, Value self) {
    (void)self;
    *out = true;
    return TSR_OK;
}

static Type opaque_type = {
    .obj = TYPE_HEADER,
    .name = "opaque",
    .module = "tsr",
    .flags = TYPE_GC,
    .destroy = opaque_destroy,
    .traverse = opaque_traverse,
    .clear = opaque_clear,
    .repr = opaque_repr,
    .truth = opaque_truth,
    .get_item = opaque_get_item,
    .iter = opaque_iter,
    .get_attr = opaque_get_attr,
    .doc = "Something in a .pt file of a class that tsr has not. It shows its name and can't be used; what it was made "
           "of can be looked at: x.name, x['name'], x[0], list(x)."};

static TsrStatus opaque_new(Value *out, const char *name) {
    Value parts;
    TSR_TRY(dict_new(&parts));
    char *copy = tsr_mem_text(name, strlen(name));
    Opaque *o = copy != NULL ? obj_new(&opaque_type, sizeof *o) : NULL;
    if (o == NULL) {
        tsr_free(copy);
        value_release(parts);
        return tsr_error_no_memory(strlen(name) + 1);
    }
    o->name = copy;
    o->parts = parts;
    gc_track(o);
    *out = value_obj_move(o);
    return TSR_OK;
}

/* ---- from nodes to values ---- */

/* A function of the prelude, called with v, which is consumed. */
static TsrStatus converted_move(Value *out, const char *function, Value v) {
    Value callee = VALUE_UNBOUND;
    TsrStatus status = prelude_get(&callee, "tree", function);
    if (status == TSR_OK) status = value_call_n(out, callee, 1, &v);
    value_release(callee);
    value_release(v);
    return status;
}

static TsrStatus long_to_value(Value *out, const TsrNode *node) {
    Value bytes;
    TSR_TRY(bytes_new(&bytes, node->text, (int64_t)node->length));
    return converted_move(out, "int_of", bytes);
}

static TsrStatus device_to_value(Value *out, const TsrNode *node) {
    TsrDevice device;
    TSR_TRY(tsr_device_parse(&device, node->text));
    return device_new(out, device);
}

static TsrStatus leaf_to_value(Value *out, const TsrNode *node) {
    switch (node->kind) {
    case TSR_NODE_BOOL: *out = value_bool(node->i != 0); return TSR_OK;
    case TSR_NODE_INT: *out = value_int(node->i); return node->text != NULL ? long_to_value(out, node) : TSR_OK;
    case TSR_NODE_FLOAT: *out = value_float(node->re); return TSR_OK;
    case TSR_NODE_COMPLEX: return complex_new(out, node->re, node->im);
    case TSR_NODE_STR: return str_new(out, node->text, (int64_t)node->length);
    case TSR_NODE_BYTES: return bytes_new(out, node->text, (int64_t)node->length);
    case TSR_NODE_DTYPE: *out = dtype_value(node->dtype); return TSR_OK;
    case TSR_NODE_DEVICE: return device_to_value(out, node);
    case TSR_NODE_TENSOR: *out = value_tensor_move(tsr_tensor_retain(node->tensor)); return TSR_OK;
    case TSR_NODE_TABLE:
        return node->i == 1 ? table_first_column(out, node->table) : table_from_columns(out, node->table);
    case TSR_NODE_STORAGE: return storage_obj_new(out, node->storage, node->dtype);
    default: *out = VALUE_NONE; return TSR_OK;
    }
}

/* `made` keeps the values that nodes have become; a node's `user` is its place there, from 1 on. */
static TsrStatus to_value(Value *lent, List *made, TsrNode *node);

static TsrStatus fill_list(List *list, List *made, const TsrNode *node) {
    Value item;
    for (size_t i = 0; i < node->n; i++) {
        TSR_TRY(to_value(&item, made, node->children[i]));
        TSR_TRY(list_append(list, item));
    }
    return TSR_OK;
}

static TsrStatus fill_dict(Dict *dict, List *made, const TsrNode *node) {
    Value key, value;
    for (size_t i = 0; i < node->n; i += 2) {
        TSR_TRY(to_value(&key, made, node->children[i]));
        TSR_TRY(to_value(&value, made, node->children[i + 1]));
        TSR_TRY(dict_set(dict, key, value));
    }
    return TSR_OK;
}

/* The tensor, made by the function of its layout, which checks what it is given. */
static TsrStatus new_sparse(Value *out, List *made, const TsrNode *node) {
    Value list;
    TSR_TRY(list_new(&list, (int64_t)node->n));
    TsrStatus status = fill_list(value_as_list(list), made, node);
    if (status == TSR_OK) return converted_move(out, "sparse_of", list);
    value_release(list);
    return status;
}

static TsrStatus fill_set(Set *set, List *made, const TsrNode *node) {
    Value item;
    for (size_t i = 0; i < node->n; i++) {
        TSR_TRY(to_value(&item, made, node->children[i]));
        TSR_TRY(set_add(set, item));
    }
    return TSR_OK;
}

static TsrStatus new_tuple(Value *out, List *made, const TsrNode *node) {
    Value list;
    TSR_TRY(list_new(&list, (int64_t)node->n));
    TsrStatus status = fill_list(value_as_list(list), made, node);
    const List *l = value_as_list(list);
    if (status == TSR_OK)
        status = node->kind == TSR_NODE_SIZE ? tuple_new_typed(out, &size_type, l->items, l->count)
                                             : tuple_new(out, l->items, l->count);
    value_release(list);
    return status;
}

static TsrStatus keep_move(List *made, Value v, TsrNode *node) {
    TSR_TRY(list_append_move(made, v));
    node->user = (void *)(uintptr_t)made->count;
    return TSR_OK;
}

/* The module makes its type ready. */
static TsrStatus new_ordered_dict(Value *out) {
    Value module;
    TSR_TRY(module_import(&module, "collections"));
    value_release(module);
    return ordered_dict_type.construct(out, &ordered_dict_type, &(CallArgs){0});
}

static TsrStatus give_state(Value v, List *made, TsrNode *state) {
    Value attributes;
    TSR_TRY(to_value(&attributes, made, state));
    if (value_is_dict(attributes)) ordered_dict_set_attributes(v, value_as_dict(attributes));
    return TSR_OK;
}

/* A container is kept before what is in it is converted, which may hold it again. */
static TsrStatus convert(List *made, TsrNode *node) {
    Value v;
    switch (node->kind) {
    case TSR_NODE_LIST:
        TSR_TRY(list_new(&v, (int64_t)node->n));
        TSR_TRY(keep_move(made, v, node));
        return fill_list(value_as_list(v), made, node);
    case TSR_NODE_DICT:
    case TSR_NODE_ORDERED_DICT:
        TSR_TRY(node->kind == TSR_NODE_DICT ? dict_new(&v) : new_ordered_dict(&v));
        TSR_TRY(keep_move(made, v, node));
        TSR_TRY(fill_dict(value_as_dict(v), made, node));
        return node->state != NULL ? give_state(v, made, node->state) : TSR_OK;
    case TSR_NODE_OPAQUE:
        TSR_TRY(opaque_new(&v, node->text));
        TSR_TRY(keep_move(made, v, node));
        return fill_dict(parts_of(v), made, node);
    case TSR_NODE_SPARSE:
        if (node->user == node) return tsr_error(TSR_VALUE_ERROR, "a tensor that holds itself can't be read");
        node->user = node;
        TSR_TRY(new_sparse(&v, made, node));
        return keep_move(made, v, node);
    case TSR_NODE_SET:
        TSR_TRY(set_new(&v, &set_type));
        TSR_TRY(keep_move(made, v, node));
        return fill_set(value_as_set(v), made, node);
    case TSR_NODE_TUPLE:
    case TSR_NODE_SIZE:
        if (node->user == node) return tsr_error(TSR_VALUE_ERROR, "a tuple that holds itself can't be read");
        node->user = node;
        TSR_TRY(new_tuple(&v, made, node));
        return keep_move(made, v, node);
    default: TSR_TRY(leaf_to_value(&v, node)); return keep_move(made, v, node);
    }
}

static TsrStatus to_value(Value *lent, List *made, TsrNode *node) {
    if (node->user == NULL || node->user == node) TSR_TRY(convert(made, node));
    *lent = made->items[(uintptr_t)node->user - 1];
    return TSR_OK;
}

TsrStatus tree_to_value(Value *out, TsrTree *tree) {
    Value list, v;
    TSR_TRY(list_new(&list, 0));
    for (TsrNode *node = tree->all; node != NULL; node = node->next) node->user = NULL;
    TsrStatus status = to_value(&v, value_as_list(list), tree->root);
    if (status == TSR_OK) *out = value_retain(v);
    value_release(list);
    return status;
}

/* ---- from values to nodes ---- */

typedef struct Builder {
    TsrTree *tree;
    Dict *seen; /* from the address of an object to that of its node */
    int depth;
    bool arrays; /* what is written are arrays: columns and tables within others are some */
} Builder;

static TsrStatus from_value(TsrNode **lent, Builder *b, Value v);

static TsrStatus append(TsrNode *node, Builder *b, Value v) {
    TsrNode *child;
    TSR_TRY(from_value(&child, b, v));
    return tsr_node_append(node, child);
}

static TsrStatus append_all(TsrNode *node, Builder *b, const Value *items, int64_t count) {
    for (int64_t i = 0; i < count; i++) {
        TSR_TRY(tsr_interrupt_check());
        TSR_TRY(append(node, b, items[i]));
    }
    return TSR_OK;
}

static TsrStatus append_items(TsrNode *node, Builder *b, const Dict *dict) {
    int64_t position = 0;
    for (DictEntry *e; (e = dict_next(dict, &position)) != NULL;) {
        TSR_TRY(tsr_interrupt_check());
        TSR_TRY(append(node, b, e->key));
        TSR_TRY(append(node, b, e->value));
    }
    return TSR_OK;
}

static TsrStatus append_members(TsrNode *node, Builder *b, const Set *set) {
    int64_t position = 0;
    for (SetEntry *e; (e = set_next(set, &position)) != NULL;) TSR_TRY(append(node, b, e->key));
    return TSR_OK;
}

static TsrStatus long_from_value(TsrNode **lent, Builder *b, Value v) {
    Value bytes;
    TSR_TRY(converted_move(&bytes, "bytes_of", value_retain(v)));
    const Bytes *s = (const Bytes *)bytes.o;
    TsrStatus status = tsr_tree_add_text(lent, b->tree, TSR_NODE_INT, s->data, (size_t)s->size);
    value_release(bytes);
    return status;
}

static TsrStatus device_from(TsrNode **lent, Builder *b, Value v) {
    TsrText text = {0};
    TsrStatus status = value_str(&text, v);
    if (status == TSR_OK) status = tsr_tree_add_text(lent, b->tree, TSR_NODE_DEVICE, text.data, text.length);
    tsr_text_free(&text);
    return status;
}

/* Numbers, texts and other things without parts; *lent NULL: it is none of these. */
static TsrStatus leaf_from_value(TsrNode **lent, Builder *b, Value v) {
    *lent = NULL;
    if (value_is_str(v))
        return tsr_tree_add_text(lent, b->tree, TSR_NODE_STR, value_as_str(v)->data, (size_t)value_as_str(v)->size);
    if (value_is_obj(v, &bytes_type))
        return tsr_tree_add_text(lent, b->tree, TSR_NODE_BYTES, ((const Bytes *)v.o)->data,
                                 (size_t)((const Bytes *)v.o)->size);
    if (value_is_obj(v, &device_type)) return device_from(lent, b, v);
    if (value_is_obj(v, &int_type)) return long_from_value(lent, b, v);
    TsrNodeKind kind = value_is_none(v)               ? TSR_NODE_NONE
                       : v.tag == V_BOOL              ? TSR_NODE_BOOL
                       : v.tag == V_INT               ? TSR_NODE_INT
                       : v.tag == V_FLOAT             ? TSR_NODE_FLOAT
                       : value_is_complex(v)          ? TSR_NODE_COMPLEX
                       : value_is_obj(v, &dtype_type) ? TSR_NODE_DTYPE
                                                      : TSR_NODE_GLOBAL;
    if (kind == TSR_NODE_GLOBAL) return TSR_OK;
    TSR_TRY(tsr_tree_add(lent, b->tree, kind));
    if (kind == TSR_NODE_BOOL) (*lent)->i = v.b;
    if (kind == TSR_NODE_INT) (*lent)->i = v.i;
    if (kind == TSR_NODE_FLOAT) (*lent)->re = v.f;
    if (kind == TSR_NODE_DTYPE) (*lent)->dtype = ((const DtypeObj *)v.o)->dtype;
    if (kind == TSR_NODE_COMPLEX) {
        (*lent)->re = value_as_complex(v)->re;
        (*lent)->im = value_as_complex(v)->im;
    }
    return TSR_OK;
}

static TsrNodeKind container_kind(Value v) {
    if (value_is_dict(v)) return v.o->type == &ordered_dict_type ? TSR_NODE_ORDERED_DICT : TSR_NODE_DICT;
    if (value_is_list(v)) return TSR_NODE_LIST;
    if (value_is_tuple(v)) return v.o->type == &size_type ? TSR_NODE_SIZE : TSR_NODE_TUPLE;
    return value_is_obj(v, &set_type) ? TSR_NODE_SET : TSR_NODE_NONE;
}

static TsrStatus fill(TsrNode *node, Builder *b, Value v) {
    const Value *items;
    int64_t count;
    if (value_is_obj(v, &ordered_dict_type) && ordered_dict_attributes(v) != NULL)
        TSR_TRY(from_value(&node->state, b, value_lent(ordered_dict_attributes(v))));
    if (value_is_dict(v)) return append_items(node, b, value_as_dict(v));
    if (value_is_set(v)) return append_members(node, b, value_as_set(v));
    return value_as_array(v, &items, &count) ? append_all(node, b, items, count) : TSR_OK;
}

/* What may be met again. */
static TsrStatus shared_from_value(TsrNode **lent, Builder *b, Value v) {
    Value key = value_int((int64_t)(uintptr_t)v.o), *known;
    bool table = b->arrays && (value_is_column(v) || (value_is_table(v) && b->depth > 1));
    TsrNodeKind kind = v.tag == V_TENSOR ? TSR_NODE_TENSOR : table ? TSR_NODE_TABLE : container_kind(v);
    if (kind == TSR_NODE_NONE)
        return tsr_error(TSR_TYPE_ERROR, "save(): %s file can't hold a value of type %s",
                         b->arrays ? "an .npz" : "a .pt", value_type_name(v));
    TSR_TRY(dict_find(&known, b->seen, key));
    if (known != NULL) {
        *lent = (TsrNode *)(uintptr_t)known->i;
        return TSR_OK;
    }
    TSR_TRY(tsr_tree_add(lent, b->tree, kind));
    TSR_TRY(dict_set(b->seen, key, value_int((int64_t)(uintptr_t)*lent)));
    if (kind == TSR_NODE_TENSOR) (*lent)->tensor = tsr_tensor_retain(v.t);
    if (table) {
        (*lent)->i = value_is_column(v);
        return value_is_column(v) ? table_new_column(&(*lent)->table, v) : table_new_columns(&(*lent)->table, v);
    }
    return fill(*lent, b, v);
}

static TsrStatus from_value(TsrNode **lent, Builder *b, Value v) {
    TSR_TRY(leaf_from_value(lent, b, v));
    if (*lent != NULL) return TSR_OK;
    if (b->depth == TSR_TREE_DEPTH)
        return tsr_error(TSR_VALUE_ERROR, "save(): values nested deeper than %d can't be written", TSR_TREE_DEPTH);
    b->depth++;
    TsrStatus status = shared_from_value(lent, b, v);
    b->depth--;
    return status;
}

TsrStatus tree_from_value(TsrTree *out, Value v, bool arrays) {
    Value seen;
    TSR_TRY(dict_new(&seen));
    Builder b = {out, value_as_dict(seen), 0, arrays};
    TsrStatus status = from_value(&out->root, &b, v);
    if (status != TSR_OK) out->root = NULL;
    value_release(seen);
    return status;
}
