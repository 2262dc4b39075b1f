/* The Type of tensors: its slots, its constructor, and its methods by way of the operator table. */
#include "copying.h"
#include "lang/vm/prelude.h"
#include "tensor.h"

#include <math.h>
#include <string.h>

#include "lang/object/args.h"
#include "torch/bind/args.h"
#include "torch/bind/bind.h"
#include "core/print.h"
#include "lang/object/gc.h"
#include "lang/object/native.h"
#include "lang/types/numbers.h"
#include "lang/types/sequences.h"
#include "storage.h"
#include "lang/types/str.h"
#include "subscript.h"
#include "tensor_from.h"
#include "torch/types.h"

/* ---- display ---- */

static TsrStatus tensor_repr(TsrText *out, Value self) {
    TSR_TRY(tsr_is_sparse(self.t) ? TSR_OK : tsr_tensor_check(self.t, false));
    return tsr_print_tensor(out, self.t, 0);
}

static TsrStatus number_value(Value *out, const TsrTensor *t) {
    TsrScalar s;
    if (t->numel != 1) return tsr_error(TSR_VALUE_ERROR, "only one element tensors can be converted to Python scalars");
    if (tsr_is_meta(t)) return tsr_error(TSR_RUNTIME_ERROR, "Tensor.item() cannot be called on meta tensors");
    if (!tsr_dtype_is_pod(t->dtype)) return tensor_element(out, t, 0);
    TSR_TRY(tsr_tensor_check(t, false));
    TSR_TRY(tsr_tensor_item(&s, t));
    return bind_scalar_value(out, s);
}

static TsrStatus tensor_format(TsrText *out, Value self, const char *spec, size_t size) {
    if (tsr_ndim(self.t) == 0 && !tsr_is_meta(self.t)) {
        Value number;
        TSR_TRY(number_value(&number, self.t));
        TsrStatus s = value_format(out, number, spec, size);
        value_release(number);
        return s;
    }
    return size == 0 ? tensor_repr(out, self)
                     : tsr_error(TSR_TYPE_ERROR, "unsupported format string passed to Tensor.__format__");
}

/* ---- protocols ---- */

static TsrStatus tensor_truth(bool *out, Value self) {
    const TsrTensor *t = self.t;
    if (t->numel != 1)
        return tsr_error(TSR_RUNTIME_ERROR, "Boolean value of Tensor with %s is ambiguous",
                         t->numel == 0 ? "no values" : "more than one value");
    if (tsr_is_meta(t)) return tsr_error(TSR_RUNTIME_ERROR, "Tensor.item() cannot be called on meta tensors");
    Value number;
    TSR_TRY(number_value(&number, t));
    TsrStatus s = value_truth(out, number);
    value_release(number);
    if (s == TSR_OK && t->dtype == TSR_UINT64 && tsr_tensor_get(t, 0).kind == TSR_SCALAR_UINT)
        return tsr_error(TSR_RUNTIME_ERROR,
                         "value cannot be converted to type int64_t without overflow"); /* so PyTorch */
    return s;
}

static TsrStatus tensor_length(int64_t *out, Value self) {
    if (tsr_ndim(self.t) == 0) return tsr_error(TSR_TYPE_ERROR, "len() of a 0-d tensor");
    *out = self.t->sizes[0];
    return TSR_OK;
}

static TsrStatus tensor_delete(Value self, Value index) {
    (void)self;
    (void)index;
    return tsr_error(TSR_TYPE_ERROR, "Tensor does not support deleting items");
}

static TsrStatus tensor_contains(bool *out, Value self, Value item) {
    TsrTensor *t = NULL;
    TsrScalar s;
    bool number = true;
    TSR_TRY(bind_tensor_of(&t, item));
    if (t == NULL) TSR_TRY(bind_scalar(&s, &number, item));
    if (!number)
        return tsr_error(TSR_RUNTIME_ERROR,
                         "Tensor.__contains__ only supports Tensor or scalar, but you passed in a <class '%s'>.",
                         type_full_name(value_type(item)));
    Value equal, any;
    TSR_TRY(tensor_compare(&equal, CMP_EQ, item, self));
    TsrStatus status = bind_call(&any, "any", 1, &equal);
    value_release(equal);
    TSR_TRY(status);
    status = value_truth(out, any);
    value_release(any);
    return status;
}

/* Iteration: the rows, made one at a time. */
typedef struct TensorIter {
    Obj obj;
    TsrTensor *tensor;
    int64_t next, count;
} TensorIter;

static void iter_destroy(Obj *self) {
    tsr_tensor_free(((TensorIter *)self)->tensor);
    obj_free(self, sizeof(TensorIter));
}

static TsrStatus iter_next(Value *out, Value self) {
    TensorIter *it = (TensorIter *)self.o;
    *out = VALUE_UNBOUND;
    if (it->next >= it->count) return TSR_OK;
    TsrTensor *row;
    TSR_TRY(tsr_is_sparse(it->tensor) ? tsr_invoke_new(&row, 1, "select", "tii", it->tensor, (int64_t)0, it->next)
                                      : tsr_tensor_new_select(&row, it->tensor, 0, it->next));
    it->next++;
    row->origin = "unbind";
    *out = value_tensor_move(row);
    return TSR_OK;
}

static void iter_traverse(Obj *self, GcVisit visit, void *context) {
    gc_visit_value((Value){.tag = V_TENSOR, {.t = ((TensorIter *)self)->tensor}}, visit, context);
}

static Type tensor_iter_type = {.obj = TYPE_HEADER,
                                .name = "tuple_iterator",
                                .destroy = iter_destroy,
                                .traverse = iter_traverse,
                                .iter_next = iter_next,
                                .next_is_identity_iter = 1};

static TsrStatus tensor_iter(Value *out, Value self) {
    if (tsr_ndim(self.t) == 0) return tsr_error(TSR_TYPE_ERROR, "iteration over a 0-d tensor");
    TensorIter *it = obj_new(&tensor_iter_type, sizeof *it);
    if (it == NULL) return TSR_MEMORY_ERROR;
    it->tensor = tsr_tensor_retain(self.t);
    it->next = 0;
    it->count = self.t->sizes[0];
    *out = value_obj_move(it);
    return TSR_OK;
}

/* ---- as numbers ---- */

static TsrStatus to_index(Value *out, Value v) {
    const TsrTensor *t = v.t;
    bool whole = t->numel == 1 && (tsr_dtype_is_integral(t->dtype) || t->dtype == TSR_BOOL);
    if (!whole)
        return tsr_error(TSR_TYPE_ERROR, "only integer tensors of a single element can be converted to an index");
    TSR_TRY(number_value(out, t));
    if (out->tag == V_BOOL) *out = value_int(out->i);
    return TSR_OK;
}

static TsrStatus to_number(Value *out, Value v) { return number_value(out, v.t); }

/* ---- methods and properties from the table ---- */

typedef struct OpProperty {
    Obj obj;
    const TsrOp *op;
    const TsrSchema *schema;
} OpProperty;

static TsrStatus property_get(Value *out, Value descriptor, Value self) {
    OpProperty *p = (OpProperty *)descriptor.o;
    TsrArg arg = {.kind = TSR_ARG_TENSOR, .t = NULL};
    TSR_TRY(bind_tensor_of(&arg.t, self));
    TsrOpCall call = {.op = p->op, .schema = p->schema, .arg = &arg, .nargs = 1};
    TSR_TRY(tsr_op_run(&call));
    return bind_result_move(out, &call);
}

static TsrStatus property_repr(TsrText *out, Value self) {
    return tsr_text_printf(out, "<attribute '%s' of 'torch._C.TensorBase' objects>",
                           ((OpProperty *)self.o)->schema->base);
}

static void property_destroy(Obj *self) { obj_free(self, sizeof(OpProperty)); }

static Type op_property_type = {.obj = TYPE_HEADER,
                                .name = "getset_descriptor",
                                .destroy = property_destroy,
                                .repr = property_repr,
                                .descriptor_get = property_get};

static TsrStatus property_new(Value *out, const TsrOp *op) {
    OpProperty *p = obj_new(&op_property_type, sizeof *p);
    if (p == NULL) return TSR_MEMORY_ERROR;
    p->op = op;
    TsrStatus s = tsr_op_schema(&p->schema, op);
    if (s == TSR_OK) *out = value_obj_move(p);
    else obj_free(p, sizeof *p);
    return s;
}

/* What the operator table has under this name for tensors; asked once a name. */
static TsrStatus tensor_lookup(Value *out, Type *type, Str *name) {
    (void)type;
    *out = VALUE_UNBOUND;
    const TsrOpSet *set = tsr_op_find(name->data);
    for (int i = 0; set != NULL && i < set->n; i++)
        if (set->ops[i]->forms & TSR_PROPERTY) return property_new(out, set->ops[i]);
    TSR_TRY(bind_new_method(out, name->data));
    return out->tag == V_UNBOUND ? prelude_get(out, "Tensor", name->data) : TSR_OK;
}

static bool shown_as_method(const TsrOp *op) {
    return (op->forms & (TSR_METHOD | TSR_PROPERTY | TSR_INPLACE | TSR_INPLACE_ONLY)) != 0 &&
           (op->flags & TSR_OP_HIDDEN) == 0;
}

static TsrStatus append_name(List *names, const char *name, const char *suffix) {
    Value text;
    TSR_TRY(str_new_format(&text, "%s%s", name, suffix));
    return list_append_move(names, text);
}

static TsrStatus tensor_dir(List *names, Value self) {
    (void)self;
    for (int i = 0; i < tsr_op_count(); i++) {
        const TsrOpSet *set = tsr_op_at(i);
        unsigned forms = 0;
        for (int k = 0; set != NULL && k < set->n; k++)
            if (shown_as_method(set->ops[k])) forms |= set->ops[k]->forms;
        if (forms == 0 || strchr(set->name, '.') != NULL) continue;
        if (forms & (TSR_METHOD | TSR_PROPERTY | TSR_INPLACE_ONLY)) TSR_TRY(append_name(names, set->name, ""));
        if (forms & TSR_INPLACE) TSR_TRY(append_name(names, set->name, "_"));
    }
    return prelude_append_names(names, "Tensor");
}

/* ---- torch.Tensor(...) ---- */

static const char *const construct_options[] = {"(*, torch.device device = None)", "(torch.Storage storage)",
                                                "(Tensor other)", "(tuple of ints size, *, torch.device device = None)",
                                                "(object data, *, torch.device device = None)"};

static TsrStatus over_storage(TsrTensor **out, StorageObj *s, TsrDtype dtype) {
    int64_t n = (int64_t)(s->storage->nbytes / tsr_dtype_size(dtype)), one = 1;
    return tsr_tensor_new_over(out, s->storage, (TsrGeometry){1, &n, &one, 0}, dtype);
}

static TsrStatus type_mismatch(TsrDtype want, TsrDtype have) {
    static const char rest[] =
        "device=cpu, layout=Strided, requires_grad=false (default), pinned_memory=false (default), "
        "memory_format=(nullopt)";
    return tsr_error(TSR_TYPE_ERROR, "expected TensorOptions(dtype=%s, %s) (got TensorOptions(dtype=%s, %s))",
                     tsr_dtype_c_name(want), rest, tsr_dtype_c_name(have), rest);
}

static TsrStatus construct_from(TsrTensor **out, Type *type, Value v, TsrDtype dtype) {
    TsrTensor *t = NULL;
    TSR_TRY(bind_tensor_of(&t, v));
    if (t != NULL) {
        if (type != &torch_tensor_type && t->dtype != dtype) return type_mismatch(dtype, t->dtype);
        return v.tag == V_TENSOR ? tsr_tensor_new_alias(out, t)
                                 : (*out = tsr_tensor_retain(t), TSR_OK); /* of a wrapper: the tensor in it */
    }
    if (value_is_storage(v)) return over_storage(out, (StorageObj *)v.o, dtype);
    if (value_is_str(v)) return tsr_error(TSR_TYPE_ERROR, "new(): invalid data type 'str'");
    if (!value_is_list(v) && !value_is_tuple(v) && !value_is_obj(v, &range_type))
        return tsr_error(TSR_TYPE_ERROR, "new(): data must be a sequence (got %s)", value_type_name(v));
    return tensor_new_from_data(out, v, dtype, TSR_DEVICE_CPU);
}

/* torch.FloatTensor(...) and torch.Tensor(...) make tensors of the host alone. */
static TsrStatus check_legacy_device(Value device) {
    TsrDevice d;
    bool ok;
    if (device.tag <= V_NONE) return TSR_OK;
    TSR_TRY(device_from_value(&d, &ok, device));
    if (!ok || d.type == TSR_CPU) return TSR_OK;
    return tsr_error(TSR_RUNTIME_ERROR, "legacy constructor expects device type: cpu but device type: %s was passed",
                     tsr_device_type_name(d.type));
}

TsrStatus tensor_construct(Value *out, Type *type, const CallArgs *args) {
    TsrDtype dtype = type == &torch_tensor_type ? tsr_default_dtype() : (TsrDtype)(type - float_tensor_types);
    for (int k = 0; k < args->keyword_count; k++)
        if (!str_equal_c(args->names[k], "device") && !str_equal_c(args->names[k], "data") &&
            !str_equal_c(args->names[k], "size"))
            return args_fit_none("new", args, 0, 5, construct_options);
    TSR_TRY(check_legacy_device(args_keyword(args, "device")));
    Value data = args_keyword(args, "data");
    CallArgs named = {.values = &data, .count = 1};
    if (data.tag != V_UNBOUND && args->count == 0) args = &named;
    TsrTensor *t = NULL;
    bool sizes = args->count == 0 || bind_is_index(args->values[0]) || value_is_obj(args->values[0], &size_type);
    if (args->count > 0 && args->values[0].tag == V_TENSOR) sizes = false;
    if (sizes) {
        int64_t dims[TSR_MAX_DIMS] = {0};
        int n = 1;
        if (args->count > 0) TSR_TRY(bind_sizes(dims, &n, args, "new", "size"));
        TSR_TRY(tsr_tensor_new(&t, n, dims, dtype, TSR_DEVICE_CPU));
    } else if (args->count == 1) {
        TSR_TRY(construct_from(&t, type, args->values[0], dtype));
    } else {
        return args_fit_none("new", args, 0, 5, construct_options);
    }
    *out = value_tensor_move(t);
    return TSR_OK;
}

/* ---- the types ---- */

Type torch_tensor_type = {
    .obj = TYPE_HEADER,
    .name = "Tensor",
    .module = "torch",
    .doc = "A tensor: sizes and strides over a storage of elements of one dtype.",
    .construct = tensor_construct,
    .repr = tensor_repr,
    .format = tensor_format,
    .compare = tensor_compare,
    .truth = tensor_truth,
    .length = tensor_length,
    .get_item = subscript_get,
    .set_item = subscript_set,
    .del_item = tensor_delete,
    .contains = tensor_contains,
    .iter = tensor_iter,
    .binary = tensor_binary,
    .inplace = tensor_inplace,
    .unary = tensor_unary,
    .dir = tensor_dir,
    .lookup = tensor_lookup,
    .copy = copy_tensor,
};

static TsrStatus isinstance_of(bool *out, Type *type, Value v) {
    *out = v.tag == V_TENSOR && v.t->dtype == (TsrDtype)(type - float_tensor_types) && v.t->device.type != TSR_CUDA;
    return TSR_OK;
}

/* torch.FloatTensor and the others: classes that make tensors and that isinstance knows. */
#define TENSOR_TYPE(id, shown) \
    [TSR_##id] = {.obj = TYPE_HEADER, \
                  .name = shown, \
                  .module = "torch", \
                  .base = &torch_tensor_type, \
                  .construct = tensor_construct, \
                  .instance_check = isinstance_of}
Type float_tensor_types[TSR_DTYPE_COUNT] = {
    TENSOR_TYPE(FLOAT32, "FloatTensor"),
    TENSOR_TYPE(FLOAT64, "DoubleTensor"),
    TENSOR_TYPE(FLOAT16, "HalfTensor"),
    TENSOR_TYPE(BFLOAT16, "BFloat16Tensor"),
    TENSOR_TYPE(UINT8, "ByteTensor"),
    TENSOR_TYPE(INT8, "CharTensor"),
    TENSOR_TYPE(INT16, "ShortTensor"),
    TENSOR_TYPE(INT32, "IntTensor"),
    TENSOR_TYPE(INT64, "LongTensor"),
    TENSOR_TYPE(BOOL, "BoolTensor"),
    TENSOR_TYPE(COMPLEX64, "ComplexFloatTensor"),
    TENSOR_TYPE(COMPLEX128, "ComplexDoubleTensor"),
};

TsrStatus tensor_type_startup(void) {
    value_set_tensor_type(&torch_tensor_type);
    tensor_hooks = (TensorHooks){.to_index = to_index, .to_number = to_number};
    return TSR_OK;
}
