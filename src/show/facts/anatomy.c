/* anatomy(x). The members of PyTorch's classes by their names there, read from the core's structs: Tensor -> TensorImpl
 * -> Storage -> StorageImpl -> DataPtr -> UniqueVoidPtr. What a wrapper is made of its own room says (WhoWrapper). */
#include "anatomy.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "card.h"
#include "core/tensor.h"
#include "lang/types/dict.h"
#include "lang/modules/namespace.h"
#include "lang/types/sequences.h"
#include "torch/holders.h"

static Type anatomy_type;

bool anatomy_is(Value v) { return value_is_obj(v, &anatomy_type); }

/* A dict that is part of an anatomy. */
static TsrStatus part_new(Value *out) {
    TSR_TRY(dict_new(out));
    out->o->type = &anatomy_type;
    return TSR_OK;
}

/* ---- the storage ---- */

/* Who is called with ctx when the memory is given back, into `buffer`; NULL: nobody. */
static const char *deleter_name(char *buffer, size_t room, const TsrStorage *s) {
    if (s->ptr.deleter == NULL) return NULL;
    if (s->allocator != NULL) {
        snprintf(buffer, room, "%s::deallocate", s->allocator->name);
        return buffer;
    }
    if (s->ptr.deleter == free) return "free";
    if (s->path != NULL || (s->origin != NULL && strcmp(s->origin, "shared") == 0)) return "munmap";
    return s->origin != NULL && strcmp(s->origin, "borrowed") == 0 ? "release of the object that was borrowed from"
                                                                   : s->origin;
}

static void put_device(TsrStatus *status, Value dict, TsrDevice device) {
    Value d;
    if (*status != TSR_OK || (*status = part_new(&d)) != TSR_OK) return;
    card_put_str(status, d, "type", tsr_device_type_name(device.type));
    card_put_int(status, d, "index", device.index);
    card_put_move(status, dict, "Device", d);
}

static void put_dataptr(TsrStatus *status, Value dict, const TsrStorage *s) {
    char name[64];
    Value d, p;
    if (*status != TSR_OK || (*status = part_new(&d)) != TSR_OK) return;
    if ((*status = part_new(&p)) == TSR_OK) {
        card_put_bool(status, p, "data", s->ptr.data != NULL);
        card_put_bool(status, p, "ctx", s->ptr.ctx != NULL);
        card_put_str(status, p, "deleter", deleter_name(name, sizeof name, s));
        card_put_move(status, d, "UniqueVoidPtr", p);
    }
    put_device(status, d, s->ptr.device);
    card_put_move(status, dict, "DataPtr", d);
}

static void put_storage_impl(TsrStatus *status, Value dict, TsrStorage *s) {
    Value d;
    if (*status != TSR_OK || (*status = part_new(&d)) != TSR_OK) return;
    card_put_int(status, d, "id", tsr_storage_id(s));
    card_put_int(status, d, "refcount", tsr_storage_refcount(s));
    card_put_int(status, d, "nbytes", (int64_t)s->nbytes);
    card_put_bool(status, d, "resizable", s->resizable);
    card_put_str(status, d, "allocator", s->allocator != NULL ? s->allocator->name : NULL);
    put_dataptr(status, d, s);
    card_put_move(status, dict, "StorageImpl", d);
}

static void put_storage(TsrStatus *status, Value dict, TsrStorage *s) {
    Value d;
    if (*status != TSR_OK || (*status = part_new(&d)) != TSR_OK) return;
    put_storage_impl(status, d, s);
    card_put_move(status, dict, "Storage", d);
}

/* ---- the tensor ---- */

static const char *class_of(const TsrTensor *t) {
    if (!tsr_is_defined(t)) return "UndefinedTensorImpl";
    if (!tsr_is_sparse(t)) return "TensorImpl";
    return t->layout == TSR_SPARSE_COO ? "SparseTensorImpl" : "SparseCsrTensorImpl";
}

/* The keys that say who computes with it; PyTorch's has those of its gradients beside them. */
static void put_key_set(TsrStatus *status, Value dict, const TsrTensor *t) {
    TsrText text = {0};
    if (*status == TSR_OK)
        *status =
            tsr_text_printf(&text, "DispatchKeySet(%s%s%s)", tsr_backend_name(t),
                            t->flags & TSR_FLAG_CONJ ? ", Conjugate" : "", t->flags & TSR_FLAG_NEG ? ", Negative" : "");
    card_put_str(status, dict, "key_set", text.data);
    tsr_text_free(&text);
}

static void put_type_meta(TsrStatus *status, Value dict, const TsrTensor *t) {
    const TsrTypeMeta *meta = tsr_is_defined(t) ? &tsr_dtypes[t->dtype] : &tsr_dtype_uninitialized;
    Value d;
    if (*status != TSR_OK || (*status = part_new(&d)) != TSR_OK) return;
    card_put_int(status, d, "index", meta->number);
    card_put_str(status, d, "name", meta->type_name);
    card_put_int(status, d, "itemsize", (int64_t)meta->itemsize);
    card_put_move(status, dict, "TypeMeta", d);
}

static void put_impl(TsrStatus *status, Value dict, TsrTensor *t);

/* What a sparse tensor holds in place of a storage. */
static void put_sparse_parts(TsrStatus *status, Value dict, const TsrSparse *sparse) {
    const struct {
        const char *name;
        TsrTensor *t;
    } parts[] = {{"indices", sparse->indices}, {"plain_indices", sparse->plain_indices}, {"values", sparse->values}};
    for (size_t i = 0; i < TSR_COUNTOF(parts) && *status == TSR_OK; i++) {
        Value part;
        if (parts[i].t == NULL || (*status = part_new(&part)) != TSR_OK) continue;
        put_impl(status, part, parts[i].t);
        card_put_move(status, dict, parts[i].name, part);
    }
}

static void put_impl(TsrStatus *status, Value dict, TsrTensor *t) {
    char device[16];
    Value d;
    if (*status != TSR_OK || (*status = part_new(&d)) != TSR_OK) return;
    card_put_int(status, d, "refcount", holders_refcount(t));
    card_put_sizes(status, d, "sizes", tsr_ndim(t), t->sizes, false);
    if (!tsr_is_sparse(t)) card_put_sizes(status, d, "strides", tsr_ndim(t), t->strides, false);
    card_put_int(status, d, "storage_offset", t->offset);
    card_put_int(status, d, "numel", t->numel);
    card_put_str(status, d, "dispatch_key", tsr_backend_name(t));
    put_key_set(status, d, t);
    card_put_str(status, d, "dtype", tsr_is_defined(t) ? tsr_dtype_name(t->dtype) : NULL);
    card_put_str(status, d, "device_opt", tsr_is_defined(t) ? tsr_device_format(t->device, device) : "nullopt");
    card_put_version(status, d, t);
    put_type_meta(status, d, t);
    if (t->sparse != NULL) put_sparse_parts(status, d, t->sparse);
    else if (tsr_is_defined(t)) put_storage(status, d, t->storage);
    else card_put_move(status, d, "Storage", VALUE_NONE);
    card_put_move(status, dict, class_of(t), d);
}

/* ---- the handle ---- */

/* Dicts that other rooms made are parts too. */
static void adopt(Value dict) {
    int64_t position = 0;
    dict.o->type = &anatomy_type;
    for (DictEntry *e; (e = dict_next(value_as_dict(dict), &position)) != NULL;)
        if (value_is_dict(e->value)) adopt(e->value);
}

static void put_handle(TsrStatus *status, Value dict, Value v) {
    const WhoWrapper *row = holders_anatomy(v);
    TsrTensor *t = NULL;
    Value d, names;
    if (*status != TSR_OK || (*status = part_new(&d)) != TSR_OK) return;
    if (v.tag == V_TENSOR) {
        if ((*status = holders_list(&names, v.t)) == TSR_OK) card_put_move(status, d, "holders", names);
    } else if (row != NULL && row->members != NULL && (*status = row->members(d, v)) == TSR_OK) {
        adopt(d);
    }
    bool inside = v.tag == V_TENSOR || (row != NULL && row->get != NULL && holders_shell(v) == NULL);
    if (*status == TSR_OK && inside) *status = holders_tensor(&t, v, "anatomy");
    if (t != NULL) put_impl(status, d, t);
    card_put_move(status, dict, row != NULL ? row->name : "Tensor", d);
}

TsrStatus anatomy_new(Value *out, Value v) {
    TsrTensor *t;
    TsrStatus status = TSR_OK;
    if (v.tag != V_TENSOR && holders_anatomy(v) == NULL) return holders_tensor(&t, v, "anatomy");
    TSR_TRY(part_new(out));
    put_handle(&status, *out, v);
    return value_end_move(out, status, *out);
}

/* ---- the value ---- */

/* Breadth first, so that the outermost of a name is found. Sets *found to a lent value, or leaves it. */
static TsrStatus find_within(Value **found, Value dict, Value key, int depth) {
    int64_t position = 0;
    TSR_TRY(depth == 0 ? dict_find(found, value_as_dict(dict), key) : TSR_OK);
    for (DictEntry *e; depth > 0 && *found == NULL && (e = dict_next(value_as_dict(dict), &position)) != NULL;)
        if (value_is_dict(e->value)) TSR_TRY(find_within(found, e->value, key, depth - 1));
    return TSR_OK;
}

enum { MAX_DEPTH = 12 };

static TsrStatus anatomy_get_item(Value *out, Value self, Value key) {
    Value *found = NULL;
    for (int depth = 0; depth < MAX_DEPTH && found == NULL; depth++) TSR_TRY(find_within(&found, self, key, depth));
    if (found == NULL) return dict_type.get_item(out, self, key);
    *out = value_retain(*found);
    return TSR_OK;
}

/* ---- where they are declared ---- */

static const struct {
    const char *name, *declared, *implemented, *here; /* of the row */
    bool generated; /* it has methods that are made from the list of operators (native_functions.yaml) */
} headers[] = {
    {"Tensor", "aten/src/ATen/templates/TensorBody.h", "the same (register_hook: ATen/core/Tensor.h)",
     "src/core/tensor.h", true},
    {"TensorBase", "aten/src/ATen/core/TensorBase.h", "aten/src/ATen/core/Tensor.cpp", "src/core/tensor.h", false},
    {"TensorImpl", "c10/core/TensorImpl.h", "c10/core/TensorImpl.cpp", "src/core/tensor.h", false},
    {"UndefinedTensorImpl", "c10/core/UndefinedTensorImpl.h", "c10/core/UndefinedTensorImpl.cpp", "src/core/tensor.h",
     false},
    {"intrusive_ptr", "c10/util/intrusive_ptr.h", "the same", "src/systems/intrusive_ptr.c", false},
    {"Storage", "c10/core/Storage.h", "c10/core/Storage.cpp", "src/core/storage.h", false},
    {"StorageImpl", "c10/core/StorageImpl.h", "c10/core/StorageImpl.cpp", "src/core/storage.h", false},
    {"DataPtr", "c10/core/Allocator.h", "c10/core/Allocator.cpp", "src/core/alloc.h", false},
    {"UniqueVoidPtr", "c10/util/UniqueVoidPtr.h", "c10/util/UniqueVoidPtr.cpp", "src/core/alloc.h", false},
    {"Allocator", "c10/core/Allocator.h", "c10/core/Allocator.cpp", "src/core/alloc.h", false},
    {"Device", "c10/core/Device.h", "c10/core/Device.cpp", "src/core/device.h", false},
    {"TypeMeta", "c10/util/typeid.h", "c10/util/typeid.cpp", "src/core/dtype.def", false},
    {"MaybeOwned", "c10/util/MaybeOwned.h", "the same", "src/core/borrow.h", false},
    {"ArrayRef", "c10/util/ArrayRef.h", "the same", "src/systems/array_ref.c", false},
};

static TsrStatus headers_list(Value *out, const CallArgs *args) {
    Value list, row;
    (void)args;
    TSR_TRY(list_new(&list, 0));
    TsrStatus status = TSR_OK;
    for (size_t i = 0; i < TSR_COUNTOF(headers) && status == TSR_OK; i++) {
        if ((status = dict_new(&row)) != TSR_OK) break;
        card_put_str(&status, row, "class", headers[i].name);
        card_put_str(&status, row, "declared", headers[i].declared);
        card_put_str(&status, row, "implemented", headers[i].implemented);
        card_put_bool(&status, row, "generated", headers[i].generated);
        card_put_str(&status, row, "here", headers[i].here);
        if (status == TSR_OK) status = list_append_move(value_as_list(list), row);
        else value_release(row);
    }
    if (status == TSR_OK) table_mark(list);
    return value_end_move(out, status, list);
}

static TsrStatus anatomy(Value *out, const CallArgs *args) { return anatomy_new(out, args->values[0]); }

static const Method functions[] = {
    {"anatomy", anatomy, ARGS_ONE, 1, 1, "(x)",
     "The structures of a tensor or wrapper, from its handle down to its bytes, with\n"
     "the counts at each step. An index finds its name wherever it stands in them;\n"
     "draw(anatomy(x)) draws them.\n\n"
     "    >>> anatomy(ones(2))[\"StorageImpl\"][\"nbytes\"]\n    8"},
    {0},
};

static const Method own_functions[] = {
    {"headers", headers_list, ARGS_NONE, 0, 0, "()",
     "Where PyTorch declares and implements the classes of an anatomy, whether they\n"
     "have methods that are generated from the list of operators (who includes such\n"
     "a header is compiled anew when an operator changes), and where they are in\n"
     "tsr's source."},
    {0},
};

TsrStatus anatomy_startup(void) {
    card_derive(&anatomy_type, &dict_type, "anatomy", card_repr);
    anatomy_type.get_item = anatomy_get_item;
    TSR_TRY(namespace_add_functions("tsr", own_functions, false));
    return namespace_add_functions("tsr", functions, true);
}
