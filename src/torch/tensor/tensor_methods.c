/* Attributes and methods of tensors that are not rows of the operator table: shape, dtype, data, grad, item and the
 * like. Each is a small function in a table that is added to the tensor type at start. */
#include "tensor_methods.h"

#include <stdio.h>
#include <string.h>

#include "lang/object/args.h"
#include "torch/bind/args.h"
#include "torch/bind/bind.h"
#include "core/backend.h"
#include "core/tensor/inference.h"
#include "torch/cuda/cuda.h"
#include "lang/types/dict.h"
#include "lang/object/native.h"
#include "lang/modules/modules.h"
#include "lang/types/numbers.h"
#include "lang/types/sequences.h"
#include "storage.h"
#include "lang/types/str.h"
#include "tensor_from.h"
#include "maybe_owned.h"
#include "tensor.h"
#include "torch/types.h"

/* ---- attributes ---- */

#define GET(name) static TsrStatus get_##name(Value *out, Value self)
#define GET_BOOL(name, expr) \
    GET(name) { \
        TsrTensor *t = self.t; \
        (void)t; \
        *out = value_bool(expr); \
        return TSR_OK; \
    }
#define GET_NONE(name) \
    GET(name) { \
        (void)self; \
        *out = VALUE_NONE; \
        return TSR_OK; \
    }

GET(shape) { return size_new(out, self.t->sizes, tsr_ndim(self.t)); }
GET(dtype) {
    *out = dtype_value(self.t->dtype);
    return TSR_OK;
}
GET(device) { return device_new(out, self.t->device); }
GET(layout) {
    *out = layout_value(self.t->layout);
    return TSR_OK;
}
GET(ndim) {
    *out = value_int(tsr_ndim(self.t));
    return TSR_OK;
}
GET(itemsize) {
    *out = value_int((int64_t)tsr_itemsize(self.t));
    return TSR_OK;
}
GET(nbytes) {
    if (tsr_is_sparse(self.t))
        return tsr_error(
            TSR_RUNTIME_ERROR,
            "nbytes is not defined for sparse tensors.  If you want the size of the constituent tensors, add the "
            "nbytes of the indices and values.  If you want the "
            "size of the  equivalent dense tensor, multiply numel() by element_size()");
    *out = value_int(self.t->numel * (int64_t)tsr_itemsize(self.t));
    return TSR_OK;
}
GET(version) {
    if (self.t->flags & TSR_FLAG_UNCOUNTED)
        return tsr_error(TSR_RUNTIME_ERROR, "Inference tensors do not track version counter.");
    *out = value_int(tsr_tensor_version(self.t));
    return TSR_OK;
}
GET(output_nr) {
    (void)self;
    *out = value_int(0);
    return TSR_OK;
}
GET_BOOL(is_cuda, t->device.type == TSR_CUDA)
GET_BOOL(is_cpu, t->device.type == TSR_CPU)
GET_BOOL(is_meta, tsr_is_meta(t))
GET_BOOL(is_sparse, t->layout == TSR_SPARSE_COO)
GET_BOOL(is_sparse_csr, t->layout == TSR_SPARSE_CSR)
GET_BOOL(is_nested, t->dtype == TSR_NESTED)
GET_BOOL(never, false)
GET_BOOL(is_leaf, true)
GET_NONE(none)

GET(base) {
    TsrTensor *base = NULL;
    if (!(self.t->flags & TSR_FLAG_INFERENCE)) TSR_TRY(tsr_tensor_new_base(&base, self.t));
    *out = base != NULL ? value_tensor_move(base) : VALUE_NONE;
    return TSR_OK;
}

static TsrStatus set_requires_grad(Value self, Value v) {
    (void)self;
    if (v.tag != V_BOOL) return tsr_error(TSR_RUNTIME_ERROR, "requires_grad must be a bool");
    return v.b ? bind_refuse_grad() : TSR_OK;
}

static TsrStatus set_grad(Value self, Value v) {
    (void)self;
    return v.tag == V_NONE ? TSR_OK : bind_refuse_grad();
}

GET(data) {
    TsrTensor *t;
    if (tsr_is_sparse(self.t)) return bind_call(out, "detach", 1, &self);
    TSR_TRY(tsr_tensor_new_data(&t, self.t));
    *out = value_tensor_move(t);
    return TSR_OK;
}

/* x.data = y: x becomes another view of y's memory. */
static TsrStatus set_data(Value self, Value v) {
    TsrTensor *from = NULL;
    TSR_TRY(bind_tensor_of(&from, v));
    if (from == NULL)
        return tsr_error(TSR_TYPE_ERROR, "Variable data has to be a tensor, but got %s", value_type_name(v));
    if (tsr_is_sparse(self.t) || tsr_is_sparse(from) || !tsr_is_defined(from) ||
        tsr_is_meta(self.t) != tsr_is_meta(from))
        return tsr_error(
            TSR_RUNTIME_ERROR,
            "Attempted to call `variable.set_data(tensor)`, but `variable` and `tensor` have incompatible tensor "
            "type. ");
    TsrDtype own = self.t->dtype;
    self.t->dtype = from->dtype;
    TsrStatus s = tsr_tensor_move_to_storage(self.t, from->storage, tsr_tensor_geometry(from));
    if (s != TSR_OK) {
        self.t->dtype = own;
        return s;
    }
    const uint8_t of_data = TSR_FLAG_CONJ | TSR_FLAG_NEG | TSR_FLAG_INFERENCE;
    self.t->flags = (self.t->flags & ~of_data) | (from->flags & of_data);
    tsr_trace(TSR_TRACE_VIEW, "data =", NULL, 0, self.t, from);
    return TSR_OK;
}

/* x.real = v and x.imag = v write through the view. */
static TsrStatus set_part(Value self, Value v, TsrStatus (*part)(TsrTensor **, const TsrTensor *)) {
    TsrTensor *view;
    TSR_TRY(part(&view, self.t));
    Value target = value_tensor_move(view), result = VALUE_UNBOUND;
    Value args[2] = {target, v};
    TsrStatus s = bind_call(&result, "copy_", 2, args);
    value_release(result);
    value_release(target);
    return s;
}
static TsrStatus get_real(Value *out, Value self) { return bind_call(out, "real", 1, &self); }
static TsrStatus get_imag(Value *out, Value self) {
    if (!tsr_dtype_is_complex(self.t->dtype))
        return tsr_error(TSR_TYPE_ERROR, "imag is not implemented for tensors with non-complex dtypes.");
    return bind_call(out, "imag", 1, &self);
}
static TsrStatus set_real(Value self, Value v) { return set_part(self, v, tsr_tensor_new_real); }
static TsrStatus set_imag(Value self, Value v) { return set_part(self, v, tsr_tensor_new_imag); }

static const Getter getters[] = {
    {"shape", get_shape, NULL, "its sizes, a torch.Size"},
    {"dtype", get_dtype, NULL, "the type of its elements"},
    {"device", get_device, NULL, "where its memory is"},
    {"layout", get_layout, NULL, "torch.strided, or a sparse layout"},
    {"ndim", get_ndim, NULL, "how many dimensions it has"},
    {"itemsize", get_itemsize, NULL, "bytes of an element"},
    {"nbytes", get_nbytes, NULL, "bytes of its elements"},
    {"_version", get_version, NULL, "how often its memory was written in place"},
    {"_base", get_base, NULL, "the tensor it is a view of, or None"},
    {"data", get_data, set_data, "the same memory without history"},
    {"real", get_real, set_real, "the real parts, a view"},
    {"imag", get_imag, set_imag, "the imaginary parts, a view"},
    {"requires_grad", get_never, set_requires_grad, "False: there is no autograd"},
    {"grad", get_none, set_grad, "None: there is no autograd"},
    {"grad_fn", get_none, NULL, "None: there is no autograd"},
    {"_grad_fn", get_none, NULL, "None: there is no autograd"},
    {"retains_grad", get_never, NULL, "False: there is no autograd"},
    {"is_leaf", get_is_leaf, NULL, "True: there is no autograd"},
    {"output_nr", get_output_nr, NULL, "0: there is no autograd"},
    {"name", get_none, NULL, "None"},
    {"is_cuda", get_is_cuda, NULL, "whether it is on a GPU"},
    {"is_cpu", get_is_cpu, NULL, "whether it is in main memory"},
    {"is_meta", get_is_meta, NULL, "whether it has no memory, only a shape"},
    {"is_sparse", get_is_sparse, NULL, "whether its layout is sparse_coo"},
    {"is_sparse_csr", get_is_sparse_csr, NULL, "whether its layout is sparse_csr"},
    {"is_nested", get_is_nested, NULL, "whether its elements are tensors"},
    {"is_quantized", get_never, NULL, "False"},
    {"is_mkldnn", get_never, NULL, "False"},
    {"is_mps", get_never, NULL, "False"},
    {"is_xpu", get_never, NULL, "False"},
    {"is_xla", get_never, NULL, "False"},
    {"is_ipu", get_never, NULL, "False"},
    {"is_hpu", get_never, NULL, "False"},
    {"is_mtia", get_never, NULL, "False"},
    {"is_maia", get_never, NULL, "False"},
    {"is_vulkan", get_never, NULL, "False"},
    {NULL, NULL, NULL, NULL},
};

/* ---- methods ---- */

#define METHOD(name) static TsrStatus do_##name(Value *out, const CallArgs *args)

static TsrStatus self_tensor(TsrTensor **lent, const CallArgs *args) { return bind_tensor_of(lent, args->values[0]); }

METHOD(item) {
    TsrTensor *t = NULL;
    TSR_TRY(self_tensor(&t, args));
    if (t->numel != 1)
        return tsr_error(TSR_RUNTIME_ERROR, "a Tensor with %lld elements cannot be converted to Scalar",
                         (long long)t->numel);
    if (tsr_is_meta(t)) return tsr_error(TSR_RUNTIME_ERROR, "Tensor.item() cannot be called on meta tensors");
    if (!tsr_dtype_is_pod(t->dtype)) return tensor_element(out, t, 0);
    TsrScalar s;
    TSR_TRY(tsr_tensor_check(t, false));
    TSR_TRY(tsr_tensor_item(&s, t));
    return bind_scalar_value(out, s);
}

METHOD(tolist) {
    TsrTensor *t = NULL;
    TSR_TRY(self_tensor(&t, args));
    if (tsr_is_sparse(t))
        return tsr_error(TSR_RUNTIME_ERROR, "Cannot access data pointer of Tensor that doesn't have storage");
    return tensor_to_list(out, t);
}

METHOD(untyped_storage) {
    TsrTensor *t = NULL;
    TSR_TRY(self_tensor(&t, args));
    if (t->storage == NULL) return tsr_error(TSR_NOT_IMPLEMENTED_ERROR, "Cannot access storage of SparseTensorImpl");
    return storage_obj_new(out, t->storage, TSR_DTYPE_NONE);
}

METHOD(storage) {
    TsrTensor *t = NULL;
    TSR_TRY(self_tensor(&t, args));
    if (t->storage == NULL) return tsr_error(TSR_NOT_IMPLEMENTED_ERROR, "Cannot access storage of SparseTensorImpl");
    return storage_obj_new(out, t->storage, t->dtype);
}

METHOD(numpy) {
    (void)out;
    (void)args;
    return tsr_error(TSR_RUNTIME_ERROR, "Numpy is not available");
}

METHOD(backward) {
    (void)out;
    (void)args;
    TsrStatus s =
        tsr_error(TSR_RUNTIME_ERROR, "element 0 of tensors does not require grad and does not have a grad_fn");
    tsr_error_hint("tsr has no autograd");
    return s;
}

METHOD(retain_grad) {
    (void)out;
    (void)args;
    return tsr_error(TSR_RUNTIME_ERROR, "can't retain_grad on Tensor that has requires_grad=False");
}

METHOD(requires_grad_) {
    Value on = args->count > 1 ? args->values[1] : args_keyword(args, "requires_grad");
    if (args->count > 2)
        return tsr_error(TSR_TYPE_ERROR, "requires_grad_() takes from 0 to 1 positional arguments but %d were given",
                         args->count - 1);
    if (on.tag != V_UNBOUND && on.tag != V_BOOL)
        return tsr_error(TSR_TYPE_ERROR, "requires_grad_(): argument 'requires_grad' (position 1) must be bool, not %s",
                         value_type_name(on));
    if (on.tag == V_UNBOUND || on.b) return bind_refuse_grad();
    *out = value_retain(args->values[0]);
    return TSR_OK;
}

/* type() gives the name, type(t) converts: a dtype, a class such as torch.DoubleTensor, or its name. */
/* Whether v is the class of a dtype's tensors, or its name; `room` is "torch" or "torch.cuda". */
static bool names_tensors(Value v, const Type *types, const char *room, TsrDtype *out) {
    const char *name = value_is_str(v) ? value_as_str(v)->data : NULL;
    for (int d = 0; d < TSR_DTYPE_COUNT; d++) {
        char full[64];
        snprintf(full, sizeof full, "%s.%sTensor", room, tsr_dtype_scalar_name((TsrDtype)d));
        if (!(v.tag == V_OBJ && v.o == &types[d].obj) && !(name != NULL && strcmp(name, full) == 0)) continue;
        *out = (TsrDtype)d;
        return true;
    }
    return false;
}

/* A dtype leaves the device as it is. */
static TsrStatus type_argument(TsrDtype *out, TsrDevice *device, Value v) {
    const Type *plain[] = {&int_type, &float_type, &bool_type, &complex_type};
    for (size_t i = 0; i < TSR_COUNTOF(plain); i++)
        if (v.tag == V_OBJ && v.o == &plain[i]->obj)
            return tsr_error(TSR_VALUE_ERROR, "invalid type: '%s'", plain[i]->name);
    if (dtype_from_value(out, v)) return TSR_OK;
    const char *name = value_is_str(v) ? value_as_str(v)->data : NULL;
    if (names_tensors(v, float_tensor_types, "torch", out)) {
        if (device->type == TSR_CUDA) *device = TSR_DEVICE_CPU;
        return TSR_OK;
    }
    if (names_tensors(v, cuda_tensor_types, "torch.cuda", out)) {
        if (device->type != TSR_CUDA) *device = (TsrDevice){TSR_CUDA, -1};
        return tsr_device_resolve(device);
    }
    if (v.tag == V_OBJ && v.o == &torch_tensor_type.obj) {
        *out = tsr_default_dtype();
        return TSR_OK;
    }
    if (name != NULL) return tsr_error(TSR_VALUE_ERROR, "invalid type: '%s'", name);
    return tsr_error(TSR_TYPE_ERROR, "dtype must be a type, str, or dtype object");
}

/* t.to(device, dtype, memory_format=format); `format` may be V_UNBOUND. */
static TsrStatus cast_to(Value *out, TsrTensor *t, TsrDevice device, TsrDtype dtype, Value format) {
    Value to, values[] = {(Value){.tag = V_TENSOR, {.t = t}}, VALUE_NONE, VALUE_NONE, format};
    Str *name = str_intern_c("memory_format");
    if (name == NULL) return TSR_MEMORY_ERROR;
    TSR_TRY(device_new(&values[1], device));
    values[2] = dtype_value(dtype);
    TsrStatus status = bind_new_method(&to, "to");
    if (status == TSR_OK) {
        CallArgs args = {.values = values, .count = 3, .keyword_count = format.tag != V_UNBOUND, .names = &name};
        status = value_call(out, to, &args);
        value_release(to);
    }
    value_release(values[1]);
    value_release(values[2]);
    return status;
}

METHOD(type) {
    TsrTensor *t = NULL;
    TSR_TRY(self_tensor(&t, args));
    static const char *const names[] = {"self", "dtype", "non_blocking", "memory_format"};
    static const char *const option =
        "(object dtype = None, bool non_blocking = False, *, torch.memory_format memory_format = None)";
    Value v[4];
    if (args->count - 1 + args->keyword_count > 3) return args_fit_none("type", args, 1, 1, &option);
    if (args->count > 3)
        return tsr_error(TSR_TYPE_ERROR, "type() takes from 0 to 2 positional arguments but %d were given",
                         args->count - 1);
    TSR_TRY(args_parse_python(v, args, &(ArgSpec){"type", names, 4, 0, 3, 1}));
    Value wanted = v[1];
    if (v[3].tag > V_NONE && !value_is_obj(v[3], &format_type))
        return tsr_error(TSR_TYPE_ERROR, "type(): argument 'memory_format' must be torch.memory_format, not %s",
                         value_type_name(v[3]));
    if (v[2].tag != V_UNBOUND && v[2].tag != V_BOOL)
        return tsr_error(TSR_TYPE_ERROR, "type(): argument 'non_blocking' %smust be bool, not %s",
                         args->count > 2 ? "(position 2) " : "", value_type_name(v[2]));
    if (t->layout > TSR_SPARSE_COO && (wanted.tag == V_UNBOUND || wanted.tag == V_NONE))
        return tsr_error(TSR_RUNTIME_ERROR, "Unimplemented backend SparseCsrCPU");
    if (wanted.tag == V_UNBOUND || wanted.tag == V_NONE)
        return str_new_format(out, "torch.%s%s%sTensor",
                              t->device.type == TSR_CUDA            ? "cuda."
                              : tsr_is_meta(t) && !tsr_is_sparse(t) ? "meta."
                                                                    : "",
                              tsr_is_sparse(t) ? "sparse." : "", tsr_dtype_scalar_name(t->dtype));
    TsrDtype d = TSR_FLOAT32;
    TsrDevice device = t->device;
    TSR_TRY(type_argument(&d, &device, wanted));
    return cast_to(out, t, device, d, v[3]);
}

/* set_(storage, offset, size, stride), and the forms with tensors, which are rows of the table. */
METHOD(set_) {
    static const char *const options[] = {
        "()", "(torch.Storage source)",
        "(torch.Storage source, int storage_offset, tuple of ints size, tuple of ints stride = None)",
        "(Tensor source)", "(Tensor source, int storage_offset, tuple of ints size, tuple of ints stride = None)"};
    if (args->count < 2 || !value_is_storage(args->values[1])) {
        TsrTensor *source = NULL;
        if (args->count > 1) TSR_TRY(bind_tensor_of(&source, args->values[1]));
        if (args->count > 1 && source == NULL)
            return args_fit_none("set_", args, 1, (int)TSR_COUNTOF(options), options);
        Value f;
        TSR_TRY(bind_new_method(&f, "set_"));
        if (f.tag == V_UNBOUND) return tsr_error(TSR_NOT_IMPLEMENTED_ERROR, "set_ is not available");
        TsrStatus s = value_call(out, f, args);
        value_release(f);
        return s;
    }
    TsrTensor *t = NULL;
    TSR_TRY(self_tensor(&t, args));
    if (tsr_is_sparse(t) || t->layout != TSR_STRIDED)
        return tsr_error(TSR_NOT_IMPLEMENTED_ERROR,
                         "Could not run 'aten::set_.source_Storage%s' with arguments from the '%s' backend.",
                         args->count > 2 ? "_storage_offset" : "",
                         t->layout == TSR_SPARSE_COO ? "SparseCPU" : "SparseCsrCPU");
    StorageObj *from = (StorageObj *)args->values[1].o;
    int64_t offset = 0, sizes[TSR_MAX_DIMS], strides[TSR_MAX_DIMS];
    int n = 1, m = -1;
    sizes[0] = (int64_t)(from->storage->nbytes / tsr_itemsize(t));
    if (args->count > 2) TSR_TRY(value_to_index(&offset, args->values[2]));
    CallArgs one = {.count = 1};
    if (args->count > 3) {
        one.values = &args->values[3];
        TSR_TRY(bind_sizes(sizes, &n, &one, "set_", "size"));
    }
    if (args->count > 4 && args->values[4].tag != V_NONE) {
        one.values = &args->values[4];
        TSR_TRY(bind_sizes(strides, &m, &one, "set_", "stride"));
    }
    if (m >= 0 && m != n) return tsr_error(TSR_RUNTIME_ERROR, "unequal size length (%d) and stride length (%d)", n, m);
    bool stays = m < 0 && n == tsr_ndim(t) && memcmp(sizes, t->sizes, (size_t)n * sizeof *sizes) == 0;
    if (m < 0) tsr_layout_contiguous_strides(strides, n, sizes);
    tsr_trace(TSR_TRACE_CHANGE, "set_", "to another storage", 0, t, from->storage);
    TSR_TRY(tsr_tensor_set_storage(t, from->storage, (TsrGeometry){n, sizes, stays ? t->strides : strides, offset}));
    TSR_TRY(tsr_tensor_written(t, "set_"));
    *out = value_retain(args->values[0]);
    return TSR_OK;
}

/* Whether element i is still there: what is called for each may change any tensor. */
static TsrStatus still_there(const TsrTensor *t, int64_t i, bool writing, const char *name) {
    TSR_TRY(tsr_tensor_check(t, writing));
    return i < t->numel ? TSR_OK : tsr_error(TSR_RUNTIME_ERROR, "%s: the function made the tensor smaller", name);
}

/* Calls f on every element (of two tensors for map_) and writes what it gives. */
static TsrStatus apply_each(Value *out, Value self, const Value *others, int n, Value f, const char *name) {
    TsrTensor *t = self.t;
    if (tsr_is_sparse(t)) return tsr_error(TSR_TYPE_ERROR, "%s is only implemented on strided tensors", name);
    TSR_TRY(tsr_tensor_check(t, true));
    for (int64_t i = 0; i < t->numel; i++) {
        Value given[3], result = VALUE_UNBOUND;
        int count = 0;
        TsrStatus s = tensor_element(&given[count++], t, i);
        for (int k = 0; k < n && s == TSR_OK; k++) {
            s = still_there(others[k].t, i, false, name);
            if (s == TSR_OK) s = tensor_element(&given[count++], others[k].t, i);
        }
        if (s == TSR_OK) s = value_call_n(&result, f, count, given);
        values_release(given, count);
        TsrScalar number = tsr_scalar_int(0);
        bool ok = true;
        if (s == TSR_OK) s = bind_scalar(&number, &ok, result);
        value_release(result);
        if (s == TSR_OK && !ok) s = tsr_error(TSR_TYPE_ERROR, "%s: the function must return a number", name);
        TSR_TRY(s);
        TSR_TRY(still_there(t, i, true, name));
        int64_t at = t->offset, rest = i;
        for (int d = tsr_ndim(t) - 1; d >= 0; rest /= t->sizes[d], d--) at += rest % t->sizes[d] * t->strides[d];
        TSR_TRY(tsr_scalar_store_checked(number, t->dtype,
                                         (char *)tsr_storage_data(t->storage) + at * (int64_t)tsr_itemsize(t)));
    }
    tsr_tensor_bump(t, name);
    *out = value_retain(self);
    return TSR_OK;
}

METHOD(apply_) { return apply_each(out, args->values[0], NULL, 0, args->values[1], "apply_"); }

METHOD(map_) {
    if (args->values[1].tag != V_TENSOR)
        return tsr_error(TSR_TYPE_ERROR, "map_(): argument 'other' (position 1) must be Tensor, not %s",
                         value_type_name(args->values[1]));
    const TsrTensor *self = args->values[0].t, *other = args->values[1].t;
    char wanted[64], got[64];
    if (other->dtype != self->dtype)
        return tsr_error(TSR_TYPE_ERROR, "map_: expected %s for 'other' (got %s)",
                         tsr_old_type_text(wanted, sizeof wanted, self), tsr_old_type_text(got, sizeof got, other));
    Value expanded = VALUE_UNBOUND;
    Value pair[2] = {args->values[1], args->values[0]};
    TSR_TRY(bind_call(&expanded, "expand_as", 2, pair));
    TsrStatus s = apply_each(out, args->values[0], &expanded, 1, args->values[2], "map_");
    value_release(expanded);
    return s;
}

/* x.new(*sizes) of a sparse x: without entries, in x's layout. */
static TsrStatus new_sparse(Value *out, TsrTensor *self, const CallArgs *args) {
    CallArgs rest = {args->values + 1, args->count - 1, args->keyword_count, args->names, false};
    int64_t dims[TSR_MAX_DIMS] = {0};
    TsrTensor *t;
    int n = 1;
    if (rest.count > 0) TSR_TRY(bind_sizes(dims, &n, &rest, "new", "size"));
    TSR_TRY(tsr_invoke_new(&t, 1, "new_empty", "tI", self, n, dims));
    *out = value_tensor_move(t);
    return TSR_OK;
}

/* x.new(...): as torch.Tensor(...), in x's dtype. */
METHOD(new) {
    TsrTensor *self = args->values[0].t;
    if (tsr_is_sparse(self)) return new_sparse(out, self, args);
    CallArgs rest = {args->values + 1, args->count - 1, args->keyword_count, args->names, false};
    Type *type = float_tensor_types[args->values[0].t->dtype].name != NULL
                     ? &float_tensor_types[args->values[0].t->dtype]
                     : &torch_tensor_type;
    return tensor_construct(out, type, &rest);
}

METHOD(rdiv) {
    TSR_TRY(tensor_binary(out, OP_DIV, args->values[1], args->values[0]));
    if (out->tag == V_UNBOUND) *out = value_retain(VALUE_NOT_IMPLEMENTED);
    return TSR_OK;
}

METHOD(is_view) {
    *out = value_bool(args->values[0].t->base != NULL && !(args->values[0].t->flags & TSR_FLAG_INFERENCE));
    return TSR_OK;
}

METHOD(reversed) {
    TsrTensor *t = args->values[0].t;
    if (tsr_ndim(t) == 0) {
        *out = value_retain(args->values[0]);
        return TSR_OK;
    }
    Value pair[2] = {args->values[0]}, zero = value_int(0);
    TSR_TRY(tuple_new(&pair[1], &zero, 1));
    TsrStatus status = bind_call(out, "flip", 2, pair);
    value_release(pair[1]);
    return status;
}

METHOD(deepcopy) {
    if (args->count != 2 || !value_is_dict(args->values[1]))
        return tsr_error(TSR_TYPE_ERROR, "Tensor.__deepcopy__() takes the dict of what was copied already");
    return deep_copy(out, args->values[0], value_as_dict(args->values[1]));
}

METHOD(abs) { return bind_call(out, "abs", 1, args->values); }

METHOD(complex) { return complex_type.construct(out, &complex_type, args); }

METHOD(record_stream) {
    int index;
    int64_t id;
    const TsrBackend *b;
    TsrTensor *t = NULL;
    TSR_TRY(self_tensor(&t, args));
    if (!cuda_stream_from_value(&index, &id, args->values[1]))
        return tsr_error(TSR_RUNTIME_ERROR, "unknown parameter type");
    if (t->device.type != TSR_CUDA)
        return tsr_error(TSR_NOT_IMPLEMENTED_ERROR,
                         "Could not run 'aten::record_stream' with arguments from the '%s' backend.",
                         t->device.type == TSR_META ? "Meta" : "CPU");
    TSR_TRY(tsr_backend_get(&b, TSR_CUDA));
    *out = VALUE_NONE;
    return b->record_stream((TsrAddress)(uintptr_t)tsr_storage_data(t->storage), t->device.index, id);
}

/* The tensor again, as torch.Tensor, the only class there is. */
METHOD(as_subclass) {
    static const char *const cls = "cls";
    TsrTensor *t = NULL, *same;
    TSR_TRY(self_tensor(&t, args));
    if (args->count > 2) return args_too_many("as_subclass", 1, 1, args->count - 1);
    TSR_TRY(args_only_keywords(args, "as_subclass", &cls, 1));
    Value given = args->count > 1 ? args->values[1] : args_keyword(args, cls);
    if (given.tag == V_UNBOUND)
        return tsr_error(TSR_TYPE_ERROR, "as_subclass() missing 1 required positional arguments: \"cls\"");
    if (given.tag != V_OBJ || given.o != (Obj *)&torch_tensor_type)
        return tsr_error(TSR_TYPE_ERROR, "cls must be a type (got %s)", value_type_name(given));
    TSR_TRY(tsr_tensor_new_alias(&same, t));
    *out = value_tensor_move(same);
    return TSR_OK;
}

static const Method methods[] = {
    {"record_stream", do_record_stream, ARGS_RANGE, 1, 1, "(stream)",
     "Another stream uses its memory too: freed, it is not given again before the stream has come so far."},
    {"item", do_item, ARGS_NONE, 0, 0, "()", "The value of its one element, as a number."},
    {"expect_contiguous", maybe_expect_contiguous, ARGS_ANY, 0, 1, "(memory_format=torch.contiguous_format)",
     "A MaybeOwned: borrowed when already contiguous, an owned copy otherwise."},
    {"tolist", do_tolist, ARGS_NONE, 0, 0, "()", "Its elements as nested lists."},
    {"untyped_storage", do_untyped_storage, ARGS_NONE, 0, 0, "()", "The storage it looks at, as bytes."},
    {"storage", do_storage, ARGS_NONE, 0, 0, "()", "The storage it looks at, as elements of its dtype."},
    {"numpy", do_numpy, ARGS_ANY, 0, 0, "(*, force=False)",
     "There is no NumPy here; tolist() or save() get the values out."},
    {"backward", do_backward, ARGS_ANY, 0, 0, "(gradient=None)", "An error: there is no autograd."},
    {"retain_grad", do_retain_grad, ARGS_NONE, 0, 0, "()", "An error: there is no autograd."},
    {"requires_grad_", do_requires_grad_, ARGS_ANY, 0, 0, "(requires_grad=True)",
     "Only False is accepted: there is no autograd."},
    {"type", do_type, ARGS_ANY, 0, 0, "(dtype=None, non_blocking=False, *, memory_format=None)",
     "The name of its type, or a copy in another one."},
    {"set_", do_set_, ARGS_ANY, 0, 0, "(source=None, storage_offset=0, size=None, stride=None)",
     "Points it at another storage."},
    {"apply_", do_apply_, ARGS_RANGE, 1, 1, "(callable)", "Replaces each element by what the function gives for it."},
    {"map_", do_map_, ARGS_RANGE, 2, 2, "(tensor, callable)",
     "Replaces each element by what the function gives for it and the other's."},
    {"new", do_new, ARGS_ANY, 0, 0, "(*sizes)", "A new tensor of the same dtype."},
    {"as_subclass", do_as_subclass, ARGS_ANY, 0, 0, "(cls)",
     "The tensor again, as torch.Tensor, the only class there is."},
    {"_is_view", do_is_view, ARGS_NONE, 0, 0, "()", "Whether it is a view of another tensor."},
    {"__rdiv__", do_rdiv, ARGS_ONE | METHOD_DUNDER, 1, 1, "(other)", "other / self."},
    {"__reversed__", do_reversed, ARGS_NONE | METHOD_DUNDER, 0, 0, "()", "The rows from last to first."},
    {"__deepcopy__", do_deepcopy, ARGS_ANY | METHOD_DUNDER, 0, 0, "(memo)", "A copy, with the whole storage."},
    {"__abs__", do_abs, ARGS_NONE | METHOD_DUNDER, 0, 0, "()", "abs(self)."},
    {"__complex__", do_complex, ARGS_NONE | METHOD_DUNDER, 0, 0, "()", "complex(self)."},
    {NULL, NULL, 0, 0, 0, NULL, NULL},
};

void tensor_methods_startup(void) {
    torch_tensor_type.getters = getters;
    torch_tensor_type.methods = methods;
}
