/* tensorflow.Tensor and TensorShape over TsrTensor. Memory comes from the allocator at construction; slices share the
 * buffer; TensorProto messages are written and read with bounds checked, and a shape or dtype that does not fit is
 * refused. */
#include "tensorflow.h"

#include <stdio.h>
#include <string.h>

#include "lang/object/args.h"
#include "torch/bind/bind.h"
#include "lang/types/bytes.h"
#include "lang/types/dict.h"
#include "core/backend.h"
#include "core/tensor/loan.h"
#include "core/io/proto.h"
#include "core/layout.h"
#include "core/view.h"
#include "lang/modules/namespace.h"
#include "lang/types/sequences.h"
#include "lang/types/str.h"
#include "torch/types.h"
#include "torch/holders.h"

/* ---- TensorShape ---- */

/* tensor_shape.h keeps a shape in 16 bytes: up to six sizes of 16 bits, else up to three of 32, else a pointer to a
 * vector. It changes with the sizes, but never back by set_dim or AddDim. */
typedef enum Rep { REP16, REP32, REP_OUT_OF_LINE } Rep;

typedef struct Shape {
    Obj obj;
    Rep rep;
    int ndim;
    int64_t sizes[TSR_MAX_DIMS];
} Shape;

/* The largest number of a width, and one less than it, mean something else. */
static const int64_t rep_limit[] = {UINT16_MAX - 1, UINT32_MAX - 1, INT64_MAX};
static const int rep_dims[] = {6, 3, TSR_MAX_DIMS};

static bool rep_holds(Rep rep, int ndim, const int64_t *sizes) {
    for (int d = 0; d < ndim; d++)
        if (sizes[d] >= rep_limit[rep] && rep != REP_OUT_OF_LINE) return false;
    return ndim <= rep_dims[rep];
}

/* What `rep` becomes with these sizes. */
static Rep rep_next(Rep rep, int ndim, const int64_t *sizes) {
    while (!rep_holds(rep, ndim, sizes)) rep++;
    return rep;
}

static Type shape_type, tf_tensor_type;
static Shape *as_shape(Value v) { return (Shape *)v.o; }
static void shape_destroy(Obj *self) { obj_free(self, sizeof(Shape)); }

static TsrStatus shape_new(Value *out, int ndim, const int64_t *sizes) {
    Shape *s = obj_new(&shape_type, sizeof *s);
    if (s == NULL) return mem_error();
    s->ndim = ndim;
    memcpy(s->sizes, sizes, sizeof(int64_t) * (size_t)ndim);
    s->rep = rep_next(REP16, ndim, sizes);
    *out = value_obj_move(s);
    return TSR_OK;
}

/* A TensorShape, a sequence of sizes, or the bytes of a TensorShapeProto. */
static TsrStatus read_shape(int *ndim, int64_t *sizes, Value v) {
    const Value *items;
    int64_t count, size, numel;
    char *data;
    if (value_is_obj(v, &shape_type)) {
        *ndim = as_shape(v)->ndim;
        memcpy(sizes, as_shape(v)->sizes, sizeof(int64_t) * (size_t)*ndim);
        return TSR_OK;
    }
    if (value_as_buffer(v, &data, &size)) {
        TSR_TRY(tsr_proto_read_shape(ndim, sizes, data, (size_t)size));
        return tsr_layout_numel(&numel, *ndim, sizes);
    }
    if (!value_as_array(v, &items, &count))
        return tsr_error(TSR_TYPE_ERROR, "expected a TensorShape, a list of sizes or a TensorShapeProto, not %s",
                         value_type_name(v));
    if (count > TSR_MAX_DIMS) return tsr_error(TSR_VALUE_ERROR, "a shape has at most %d dimensions", TSR_MAX_DIMS);
    for (int64_t i = 0; i < count; i++) TSR_TRY(value_to_index(&sizes[i], items[i]));
    *ndim = (int)count;
    return tsr_layout_numel(&numel, *ndim, sizes);
}

static TsrStatus shape_construct(Value *out, Type *type, const CallArgs *args) {
    int64_t sizes[TSR_MAX_DIMS];
    int ndim = 0;
    (void)type;
    TSR_TRY(args_count(args, 0, 0, 1, "TensorShape"));
    TSR_TRY(args_no_keywords(args, "TensorShape"));
    if (args->count == 1) TSR_TRY(read_shape(&ndim, sizes, args->values[0]));
    return shape_new(out, ndim, sizes);
}

static TsrStatus shape_repr(TsrText *out, Value self) {
    return tsr_text_printf(out, "TensorShape(%s)", tsr_layout_text(as_shape(self)->ndim, as_shape(self)->sizes));
}

static TsrStatus shape_compare(Value *out, CompareOp op, Value a, Value b) {
    *out = VALUE_UNBOUND;
    if ((op != CMP_EQ && op != CMP_NE) || !value_is_obj(a, &shape_type) || !value_is_obj(b, &shape_type)) return TSR_OK;
    bool same = as_shape(a)->ndim == as_shape(b)->ndim &&
                memcmp(as_shape(a)->sizes, as_shape(b)->sizes, sizeof(int64_t) * (size_t)as_shape(a)->ndim) == 0;
    *out = value_bool(same == (op == CMP_EQ));
    return TSR_OK;
}

static TsrStatus shape_dims(Value *out, const CallArgs *args) {
    return *out = value_int(as_shape(args->values[0])->ndim), TSR_OK;
}

static TsrStatus shape_num_elements(Value *out, const CallArgs *args) {
    int64_t n;
    TSR_TRY(tsr_layout_numel(&n, as_shape(args->values[0])->ndim, as_shape(args->values[0])->sizes));
    *out = value_int(n);
    return TSR_OK;
}

static TsrStatus dim_argument(int64_t *d, const Shape *s, Value v, int64_t end) {
    TSR_TRY(value_to_index(d, v));
    return *d >= 0 && *d < end
               ? TSR_OK
               : tsr_error(TSR_INDEX_ERROR, "dimension %lld of a shape of %d dimensions", (long long)*d, s->ndim);
}

static TsrStatus shape_dim_size(Value *out, const CallArgs *args) {
    const Shape *s = as_shape(args->values[0]);
    int64_t d;
    TSR_TRY(dim_argument(&d, s, args->values[1], s->ndim));
    *out = value_int(s->sizes[d]);
    return TSR_OK;
}

static TsrStatus shape_dim_sizes(Value *out, const CallArgs *args) {
    const Shape *s = as_shape(args->values[0]);
    TSR_TRY(list_new(out, s->ndim));
    for (int d = 0; d < s->ndim; d++) TSR_TRY(list_append(value_as_list(*out), value_int(s->sizes[d])));
    return TSR_OK;
}

/* Takes the change only when the number of elements still fits. `from`: where the search for a representation begins.
 */
static TsrStatus accept_change(Shape *s, const Shape *changed, Rep from) {
    int64_t numel;
    TSR_TRY(tsr_layout_numel(&numel, changed->ndim, changed->sizes));
    s->ndim = changed->ndim;
    memcpy(s->sizes, changed->sizes, sizeof s->sizes);
    s->rep = rep_next(from, s->ndim, s->sizes);
    return TSR_OK;
}

static TsrStatus insert_dim(Shape *s, int64_t at, Value size, Rep from) {
    Shape changed = *s;
    int64_t n;
    TSR_TRY(value_to_index(&n, size));
    if (s->ndim == TSR_MAX_DIMS) return tsr_error(TSR_VALUE_ERROR, "a shape has at most %d dimensions", TSR_MAX_DIMS);
    memmove(changed.sizes + at + 1, changed.sizes + at, sizeof(int64_t) * (size_t)(s->ndim - at));
    changed.sizes[at] = n;
    changed.ndim++;
    return accept_change(s, &changed, from);
}

static TsrStatus shape_add_dim(Value *out, const CallArgs *args) {
    *out = VALUE_NONE;
    Shape *s = as_shape(args->values[0]);
    return insert_dim(s, s->ndim, args->values[1], s->rep);
}

static TsrStatus shape_insert_dim(Value *out, const CallArgs *args) {
    Shape *s = as_shape(args->values[0]);
    int64_t d;
    TSR_TRY(dim_argument(&d, s, args->values[1], s->ndim + 1));
    *out = VALUE_NONE;
    return insert_dim(s, d, args->values[2], REP16);
}

static TsrStatus shape_remove_dim(Value *out, const CallArgs *args) {
    Shape *s = as_shape(args->values[0]);
    int64_t d;
    TSR_TRY(dim_argument(&d, s, args->values[1], s->ndim));
    memmove(s->sizes + d, s->sizes + d + 1, sizeof(int64_t) * (size_t)(s->ndim - d - 1));
    s->ndim--;
    s->rep = rep_next(REP16, s->ndim, s->sizes);
    *out = VALUE_NONE;
    return TSR_OK;
}

static TsrStatus shape_set_dim(Value *out, const CallArgs *args) {
    Shape *s = as_shape(args->values[0]), changed = *s;
    int64_t d;
    TSR_TRY(dim_argument(&d, s, args->values[1], s->ndim));
    TSR_TRY(value_to_index(&changed.sizes[d], args->values[2]));
    *out = VALUE_NONE;
    return accept_change(s, &changed, s->rep);
}

static TsrStatus shape_is_same_size(Value *out, const CallArgs *args) {
    if (!value_is_obj(args->values[1], &shape_type))
        return tsr_error(TSR_TYPE_ERROR, "IsSameSize(): expected a TensorShape, not %s",
                         value_type_name(args->values[1]));
    return shape_compare(out, CMP_EQ, args->values[0], args->values[1]);
}

static TsrStatus give_bytes(Value *out, TsrText *text, TsrStatus status) {
    if (status == TSR_OK) status = bytes_new(out, text->data != NULL ? text->data : "", (int64_t)text->length);
    tsr_text_free(text);
    return status;
}

static TsrStatus shape_as_proto(Value *out, const CallArgs *args) {
    TsrText text = {0};
    return give_bytes(out, &text,
                      tsr_proto_write_shape(&text, as_shape(args->values[0])->ndim, as_shape(args->values[0])->sizes));
}

static const Method shape_methods[] = {
    {"dims", shape_dims, ARGS_NONE, 0, 0, "()", "How many dimensions."},
    {"num_elements", shape_num_elements, ARGS_NONE, 0, 0, "()", "Product of the sizes."},
    {"dim_size", shape_dim_size, ARGS_ONE, 1, 1, "(d)", "One size."},
    {"dim_sizes", shape_dim_sizes, ARGS_NONE, 0, 0, "()", "The sizes as a list."},
    {"AddDim", shape_add_dim, ARGS_ONE, 1, 1, "(size)", "Adds a last dimension."},
    {"InsertDim", shape_insert_dim, ARGS_RANGE, 2, 2, "(d, size)", "Inserts a dimension."},
    {"RemoveDim", shape_remove_dim, ARGS_ONE, 1, 1, "(d)", "Removes a dimension."},
    {"set_dim", shape_set_dim, ARGS_RANGE, 2, 2, "(d, size)", "Changes one size."},
    {"IsSameSize", shape_is_same_size, ARGS_ONE, 1, 1, "(other)", "Whether the sizes are the same."},
    {"AsProto", shape_as_proto, ARGS_NONE, 0, 0, "()", "A TensorShapeProto as bytes."},
    {0},
};

static Type shape_type = {.obj = TYPE_HEADER,
                          .name = "TensorShape",
                          .module = "tensorflow",
                          .construct = shape_construct,
                          .destroy = shape_destroy,
                          .repr = shape_repr,
                          .compare = shape_compare,
                          .hash = hash_refused,
                          .methods = shape_methods};

/* ---- Tensor ---- */

typedef struct TfTensor {
    Obj obj;
    TsrTensor *t; /* one reference; never NULL */
    Rep rep;      /* of its shape_ */
} TfTensor;

static TfTensor *as_tf(Value v) { return (TfTensor *)v.o; }
/* The functions of a buffer of each dtype, for the trace, which keeps no copies of texts. */
#define DTYPE(id, c, itemsize, kind, group, stem, number, functions, torch, name, ...) \
    [TSR_##id] = {"Buffer<" name ">",          "Allocator::Allocate<" name ">",   "Allocator::RunCtor<" name ">", \
                  "Buffer<" name ">::~Buffer", "Allocator::Deallocate<" name ">", "Allocator::RunDtor<" name ">"},
static const struct {
    const char *buffer, *allocate, *construct, *no_buffer, *deallocate, *destroy;
} functions_of[] = {
#include "core/dtype.def"
};
#undef DTYPE

/* What the destructor of a Buffer<T> calls, when this is the last reference to it: Deallocate<T>, which calls RunDtor,
 * a no-op for plain numbers, and then DeallocateRaw. The core says the rest: strings destroyed, the block given back.
 */
static void say_buffer_freed(const TsrTensor *t) {
    const TsrStorage *s = t->storage;
    if (s == NULL || s->ptr.data == NULL || t->refcount != 1 || s->refcount != 1) return;
    int64_t bytes = (int64_t)s->nbytes;
    tsr_trace(TSR_TRACE_CALL, functions_of[t->dtype].deallocate, functions_of[t->dtype].no_buffer, bytes, NULL, s);
    tsr_trace(TSR_TRACE_CALL, functions_of[t->dtype].destroy,
              tsr_dtype_is_pod(t->dtype) ? "no-op: plain numbers" : functions_of[t->dtype].deallocate, 0, NULL, s);
    tsr_trace(TSR_TRACE_CALL, "Allocator::DeallocateRaw", functions_of[t->dtype].deallocate, bytes, NULL, s);
}

static void tf_destroy(Obj *self) {
    TsrTensor *t = ((TfTensor *)self)->t;
    if (TSR_UNLIKELY(tsr_trace_hook != NULL)) say_buffer_freed(t);
    tsr_tensor_free(t);
    obj_free(self, sizeof(TfTensor));
}
static TsrStatus tf_get(TsrTensor **lent, Value v) { return *lent = as_tf(v)->t, TSR_OK; }
static bool tf_owns(Value v) { return (void)v, true; }

static TsrStatus tf_new_move(Value *out, TsrTensor *t, Rep rep) {
    TfTensor *f = obj_new(&tf_tensor_type, sizeof *f);
    if (f == NULL) {
        tsr_tensor_free(t);
        return mem_error();
    }
    f->t = t;
    f->rep = rep;
    tsr_trace(TSR_TRACE_WRAP, "tensorflow.Tensor", "owned", 0, t, NULL);
    *out = value_obj_move(f);
    return TSR_OK;
}

/* A shape is copied with its representation. */
static Rep rep_of_argument(Value v, int ndim, const int64_t *sizes) {
    return value_is_obj(v, &shape_type) ? as_shape(v)->rep : rep_next(REP16, ndim, sizes);
}

static TsrStatus data_type(TsrDtype *out, Value v) {
    int64_t type;
    if (dtype_from_value(out, v) && v.tag == V_OBJ) return TSR_OK;
    if (v.tag != V_INT)
        return tsr_error(TSR_TYPE_ERROR, "expected a DataType such as DT_FLOAT, not %s", value_type_name(v));
    type = v.i;
    *out = tsr_proto_dtype(type);
    return *out != TSR_DTYPE_NONE ? TSR_OK : tsr_error(TSR_VALUE_ERROR, "there is no DataType %lld", (long long)type);
}

/* GPUBFCAllocator(): the allocator of the current CUDA device, which is made with the device. */
static TsrStatus bfc_construct(Value *out, Type *type, const CallArgs *args) {
    TsrDevice device = {TSR_CUDA, -1};
    TSR_TRY(args_count(args, 0, 0, 0, "GPUBFCAllocator"));
    TSR_TRY(args_no_keywords(args, "GPUBFCAllocator"));
    TSR_TRY(tsr_device_resolve(&device));
    if (tsr_allocator_find(TSR_CUDA, "cuda_bfc") == NULL)
        return tsr_error(TSR_RUNTIME_ERROR, "this device has no allocator 'cuda_bfc'");
    Obj *o = obj_new(type, sizeof *o);
    if (o == NULL) return mem_error();
    *out = value_obj_move(o);
    return TSR_OK;
}

static void bfc_destroy(Obj *self) { obj_free(self, sizeof *self); }

static TsrStatus bfc_repr(TsrText *out, Value self) {
    (void)self;
    return tsr_text_puts(out, "tensorflow.GPUBFCAllocator()");
}

static TsrStatus bfc_name(Value *out, const CallArgs *args) {
    (void)args;
    return str_new_c(out, "gpu_bfc");
}

static const Method bfc_methods[] = {{"Name", bfc_name, ARGS_NONE, 0, 0, "()", "Its name there."}, {0}};

static Type bfc_type = {.obj = TYPE_HEADER,
                        .name = "GPUBFCAllocator",
                        .module = "tensorflow",
                        .construct = bfc_construct,
                        .destroy = bfc_destroy,
                        .repr = bfc_repr,
                        .methods = bfc_methods};

/* An allocator of a CUDA device, or one of the host by name. */
static TsrStatus allocator_of(TsrAllocator **out, Value v) {
    const char *name;
    if (value_is_obj(v, &bfc_type)) return *out = tsr_allocator_find(TSR_CUDA, "cuda_bfc"), TSR_OK;
    TSR_TRY(value_to_cstring(&name, v, "Tensor(): argument 'allocator'"));
    *out = tsr_allocator_find(TSR_CPU, name);
    return *out != NULL
               ? TSR_OK
               : tsr_error(TSR_VALUE_ERROR, "there is no allocator '%s' for cpu; allocators() lists them", name);
}

enum { ALLOCATOR_ALIGNMENT = 64 }; /* Allocator::kAllocatorAlignment, in bytes */

/* AllocateRaw(64, bytes), called by `caller`. */
static void say_allocate_raw(const char *caller, int64_t bytes) {
    TsrTraceEvent e = {TSR_TRACE_CALL, "Allocator::AllocateRaw", caller, bytes, NULL, NULL, ALLOCATOR_ALIGNMENT};
    if (tsr_trace_hook != NULL) tsr_trace_hook(tsr_trace_user, &e);
}

/* The memory of a new Buffer<T>, taken as its constructor takes it: Allocate<T>, which calls AllocateRaw and then
 * RunCtor, a no-op for plain numbers. */
static TsrStatus new_buffer(TsrStorage **out, TsrAllocator *a, int64_t bytes, TsrDtype dtype) {
    tsr_trace(TSR_TRACE_CALL, functions_of[dtype].allocate, functions_of[dtype].buffer, bytes, NULL, NULL);
    say_allocate_raw(functions_of[dtype].allocate, bytes);
    TSR_TRY(tsr_storage_new_with_allocator(out, a, (uint64_t)bytes, dtype));
    if (tsr_dtype_is_pod(dtype))
        tsr_trace(TSR_TRACE_CALL, functions_of[dtype].construct, "no-op: plain numbers", 0, NULL, *out);
    return TSR_OK;
}

/* The constructor takes the memory at once, from the allocator named or the active one. What is on a device holds what
 * was there before. */
static TsrStatus tf_construct(Value *out, Type *type, const CallArgs *args) {
    TsrAllocator *allocator = tsr_allocator_active(TSR_CPU);
    TsrDtype dtype;
    TsrStorage *storage;
    TsrTensor *t;
    int64_t sizes[TSR_MAX_DIMS], strides[TSR_MAX_DIMS], numel, bytes;
    int ndim, at = 0;
    (void)type;
    TSR_TRY(args_count(args, 0, 2, 3, "Tensor"));
    TSR_TRY(args_no_keywords(args, "Tensor"));
    if (args->count == 3) TSR_TRY(allocator_of(&allocator, args->values[at++]));
    TSR_TRY(data_type(&dtype, args->values[at]));
    TSR_TRY(read_shape(&ndim, sizes, args->values[at + 1]));
    TSR_TRY(tsr_layout_numel(&numel, ndim, sizes));
    if (tsr_mul_overflows(numel, (int64_t)tsr_dtype_size(dtype), &bytes))
        return tsr_error(TSR_RUNTIME_ERROR, "the tensor's bytes overflow");
    bool taken = numel > 0 || allocator->empty_too; /* ShouldAllocateEmptyTensors() */
    if (taken) TSR_TRY(new_buffer(&storage, allocator, bytes, dtype));
    else TSR_TRY(tsr_storage_new_with_allocator(&storage, allocator, 0, dtype));
    tsr_layout_contiguous_strides(strides, ndim, sizes);
    TsrStatus status = tsr_tensor_new_over(&t, storage, (TsrGeometry){ndim, sizes, strides, 0}, dtype);
    tsr_storage_free(storage);
    TSR_TRY(status);
    if (tsr_dtype_is_pod(dtype) && bytes > 0 && !tsr_on_device(t))
        memset(tsr_data(t), 0, (size_t)bytes); /* the same every time */
    t->origin = "tensorflow.Tensor";
    return tf_new_move(out, t, rep_of_argument(args->values[at + 1], ndim, sizes));
}

static TsrStatus tf_repr(TsrText *out, Value self) {
    TSR_TRY(tsr_text_puts(out, "tensorflow.Tensor("));
    TSR_TRY(value_repr(out, (Value){.tag = V_TENSOR, {.t = as_tf(self)->t}}));
    return tsr_text_putc(out, ')');
}

/* Element i of the flat array, as in t.flat<T>()(i). */
static TsrStatus element(Value *out, Value self, Value index) {
    TsrTensor *t = as_tf(self)->t, *flat;
    int64_t i, one = 1, n = t->numel;
    TSR_TRY(value_to_index(&i, index));
    if (i < 0 || i >= n)
        return tsr_error(TSR_INDEX_ERROR, "index %lld is outside the %lld elements", (long long)i, (long long)n);
    TSR_TRY(tsr_tensor_new_view(&flat, t, &(TsrGeometry){1, &n, &one, t->offset}, "flat"));
    TsrTensor *selected;
    TsrStatus status = tsr_tensor_new_select(&selected, flat, 0, i);
    tsr_tensor_free(flat);
    if (status == TSR_OK) *out = value_tensor_move(selected);
    return status;
}

static TsrStatus tf_get_item(Value *out, Value self, Value index) {
    Value e;
    TSR_TRY(element(&e, self, index));
    TsrStatus status = value_call_method(out, e, "item", 0, NULL);
    value_release(e);
    return status;
}

static TsrStatus tf_set_item(Value self, Value index, Value value) {
    Value e;
    TSR_TRY(element(&e, self, index));
    TsrStatus status = value_setitem(e, VALUE_ELLIPSIS, value);
    value_release(e);
    return status;
}

static TsrStatus tf_dtype(Value *out, const CallArgs *args) {
    return *out = data_type_value(as_tf(args->values[0])->t->dtype), TSR_OK;
}
static TsrStatus tf_shape(Value *out, const CallArgs *args) {
    TfTensor *self = as_tf(args->values[0]);
    TSR_TRY(shape_new(out, tsr_ndim(self->t), self->t->sizes));
    as_shape(*out)->rep = self->rep;
    return TSR_OK;
}
static TsrStatus tf_dims(Value *out, const CallArgs *args) {
    return *out = value_int(tsr_ndim(as_tf(args->values[0])->t)), TSR_OK;
}
static TsrStatus tf_num_elements(Value *out, const CallArgs *args) {
    return *out = value_int(as_tf(args->values[0])->t->numel), TSR_OK;
}
static TsrStatus tf_total_bytes(Value *out, const CallArgs *args) {
    const TsrTensor *t = as_tf(args->values[0])->t;
    return *out = value_int(t->numel * (int64_t)tsr_itemsize(t)), TSR_OK;
}
static TsrStatus tf_is_initialized(Value *out, const CallArgs *args) {
    const TsrTensor *t = as_tf(args->values[0])->t;
    return *out = value_bool(t->numel == 0 || t->storage->ptr.data != NULL), TSR_OK;
}
static TsrStatus tf_refcount_is_one(Value *out, const CallArgs *args) {
    return *out = value_bool(tsr_storage_refcount(as_tf(args->values[0])->t->storage) == 1), TSR_OK;
}

static TsrStatus tf_dim_size(Value *out, const CallArgs *args) {
    const TsrTensor *t = as_tf(args->values[0])->t;
    int64_t d;
    TSR_TRY(value_to_index(&d, args->values[1]));
    if (d < 0 || d >= tsr_ndim(t))
        return tsr_error(TSR_INDEX_ERROR, "dimension %lld of a tensor of %d dimensions", (long long)d, tsr_ndim(t));
    *out = value_int(t->sizes[d]);
    return TSR_OK;
}

static TsrStatus tf_shares_buffer(Value *out, const CallArgs *args) {
    TsrTensor *other;
    TSR_TRY(holders_tensor(&other, args->values[1], "SharesBufferWith"));
    *out = value_bool(other->storage == as_tf(args->values[0])->t->storage);
    return TSR_OK;
}

/* CopyFrom(other, shape): shares other's buffer under another shape of as many elements. */
static TsrStatus tf_copy_from(Value *out, const CallArgs *args) {
    TfTensor *self = as_tf(args->values[0]);
    TsrTensor *other, *view;
    int64_t sizes[TSR_MAX_DIMS], numel;
    int ndim;
    TSR_TRY(holders_tensor(&other, args->values[1], "CopyFrom"));
    TSR_TRY(read_shape(&ndim, sizes, args->values[2]));
    TSR_TRY(tsr_layout_numel(&numel, ndim, sizes));
    *out = VALUE_FALSE;
    if (numel != other->numel) return TSR_OK;
    TSR_TRY(tsr_tensor_new_reshaped_view(&view, other, ndim, sizes));
    tsr_tensor_free(self->t);
    self->t = view;
    self->rep = rep_of_argument(args->values[2], ndim, sizes);
    *out = VALUE_TRUE;
    return TSR_OK;
}

static TsrStatus as_proto(Value *out, const CallArgs *args, bool content) {
    TsrText text = {0};
    TsrTensor *t = as_tf(args->values[0])->t;
    return give_bytes(out, &text, tsr_on_host("AsProto", t, tsr_proto_write_tensor(&text, t, content)));
}

static TsrStatus tf_as_proto_field(Value *out, const CallArgs *args) { return as_proto(out, args, false); }
static TsrStatus tf_as_proto_content(Value *out, const CallArgs *args) { return as_proto(out, args, true); }

/* True and the tensor changed, or False and the tensor as it was. */
static TsrStatus tf_from_proto(Value *out, const CallArgs *args) {
    TsrTensor *t;
    char *data;
    int64_t size;
    if (!value_as_buffer(args->values[1], &data, &size))
        return tsr_error(TSR_TYPE_ERROR, "FromProto(): expected the bytes of a TensorProto, not %s",
                         value_type_name(args->values[1]));
    TsrStatus status = tsr_proto_new_tensor(&t, data, (size_t)size);
    *out = value_bool(status == TSR_OK);
    if (status == TSR_VALUE_ERROR) {
        tsr_error_clear();
        return TSR_OK;
    }
    TSR_TRY(status);
    t->origin = "FromProto";
    tsr_tensor_free(as_tf(args->values[0])->t);
    as_tf(args->values[0])->t = t;
    as_tf(args->values[0])->rep = rep_next(REP16, tsr_ndim(t), t->sizes);
    return TSR_OK;
}

static TsrStatus tf_to_torch(Value *out, const CallArgs *args) {
    return *out = value_tensor_move(tsr_tensor_retain(as_tf(args->values[0])->t)), TSR_OK;
}

static const Method tf_methods[] = {
    {"dtype", tf_dtype, ARGS_NONE, 0, 0, "()", "The DataType."},
    {"shape", tf_shape, ARGS_NONE, 0, 0, "()", "The TensorShape."},
    {"dims", tf_dims, ARGS_NONE, 0, 0, "()", "How many dimensions."},
    {"dim_size", tf_dim_size, ARGS_ONE, 1, 1, "(d)", "One size."},
    {"NumElements", tf_num_elements, ARGS_NONE, 0, 0, "()", "How many elements."},
    {"TotalBytes", tf_total_bytes, ARGS_NONE, 0, 0, "()", "Bytes of the elements."},
    {"IsInitialized", tf_is_initialized, ARGS_NONE, 0, 0, "()", "Whether it has a buffer, or needs none."},
    {"RefCountIsOne", tf_refcount_is_one, ARGS_NONE, 0, 0, "()", "Whether nothing else holds the buffer."},
    {"SharesBufferWith", tf_shares_buffer, ARGS_ONE, 1, 1, "(other)", "Whether both hold one buffer."},
    {"CopyFrom", tf_copy_from, ARGS_RANGE, 2, 2, "(other, shape)",
     "Shares another's buffer under a shape of as many elements; False when they differ."},
    {"AsProtoField", tf_as_proto_field, ARGS_NONE, 0, 0, "()",
     "A TensorProto as bytes, values in the field of their type."},
    {"AsProtoTensorContent", tf_as_proto_content, ARGS_NONE, 0, 0, "()",
     "A TensorProto as bytes, values in tensor_content."},
    {"FromProto", tf_from_proto, ARGS_ONE, 1, 1, "(proto)",
     "Takes what a TensorProto holds; False when it is malformed."},
    {"to_torch", tf_to_torch, ARGS_NONE, 0, 0, "()", "The same tensor, as torch's."},
    {0},
};

static Type tf_tensor_type = {.obj = TYPE_HEADER,
                              .name = "Tensor",
                              .module = "tensorflow",
                              .construct = tf_construct,
                              .destroy = tf_destroy,
                              .repr = tf_repr,
                              .get_item = tf_get_item,
                              .set_item = tf_set_item,
                              .methods = tf_methods};

static TsrStatus fill_tensorflow(Module *m) {
    TSR_TRY(data_types_fill(m));
    TSR_TRY(module_add(m, "TensorShape", value_lent(&shape_type)));
    TSR_TRY(module_add(m, "GPUBFCAllocator", value_lent(&bfc_type)));
    return module_add(m, "Tensor", value_lent(&tf_tensor_type));
}

/* ---- anatomy ---- */

/* The members of a TensorShape; `type`: the element type that its last bytes hold for a tensor. */
static TsrStatus put_shape(Dict *d, Rep rep, int ndim, const int64_t *sizes, const char *type) {
    static const char *const tags[] = {"REP16", "REP32", "REP_OUT_OF_LINE"};
    static const char *const words[] = {"uint16", "uint32", "int64, in a vector elsewhere:"};
    TsrText text = {0};
    int64_t numel;
    TSR_TRY(tsr_layout_numel(&numel, ndim, sizes));
    TsrStatus status = tsr_text_printf(&text, "%s %s", words[rep], tsr_layout_text(ndim, sizes));
    if (status == TSR_OK) status = holders_put_text(d, "tag", tags[rep]);
    if (status == TSR_OK) status = dict_set_c(d, "ndims_byte", value_int(ndim));
    if (status == TSR_OK) status = holders_put_text(d, "dims_", text.data);
    if (status == TSR_OK) status = dict_set_c(d, "num_elements_", value_int(numel));
    if (status == TSR_OK) status = holders_put_text(d, "data_type", type);
    tsr_text_free(&text);
    return status;
}

static TsrStatus shape_members(Value dict, Value v) {
    return put_shape(value_as_dict(dict), as_shape(v)->rep, as_shape(v)->ndim, as_shape(v)->sizes, "DT_INVALID");
}

/* Buffer<T>, which counts its own references. */
static TsrStatus put_buffer(Dict *d, const TsrTensor *t) {
    const TsrStorage *s = t->storage;
    TSR_TRY(dict_set_c(d, "refcount", value_int(tsr_storage_refcount(s))));
    TSR_TRY(holders_put_text(d, "alloc_", s->allocator != NULL ? s->allocator->name : "none"));
    TSR_TRY(dict_set_c(d, "data_", value_bool(s->ptr.data != NULL)));
    return dict_set_c(d, "elem_", value_int((int64_t)(s->nbytes / tsr_itemsize(t))));
}

static TsrStatus tf_members(Value dict, Value v) {
    const TsrTensor *t = as_tf(v)->t;
    char name[64];
    Value shape, buffer;
    snprintf(name, sizeof name, "Buffer<%s>", t->dtype == TSR_STRING ? "string" : tsr_dtype_c_name(t->dtype));
    TSR_TRY(dict_new(&shape));
    TsrStatus status = put_shape(value_as_dict(shape), as_tf(v)->rep, tsr_ndim(t), t->sizes, data_type_name(t->dtype));
    if (status != TSR_OK) return value_release(shape), status;
    TSR_TRY(dict_set_c_move(value_as_dict(dict), "shape_", shape));
    if (t->storage->ptr.data == NULL) return dict_set_c(value_as_dict(dict), "buf_", VALUE_NONE);
    TSR_TRY(dict_new(&buffer));
    status = put_buffer(value_as_dict(buffer), t);
    if (status != TSR_OK) return value_release(buffer), status;
    return dict_set_c_move(value_as_dict(dict), name, buffer);
}

TsrStatus ns_tensorflow_startup(void) {
    static const WhoWrapper wrapper = {
        .type = &tf_tensor_type, .name = "tensorflow::Tensor", .get = tf_get, .owns = tf_owns, .members = tf_members};
    static const WhoWrapper shape = {.type = &shape_type, .name = "TensorShape", .members = shape_members};
    dtype_hook = data_type_dtype;
    holders_register_anatomy(&shape);
    holders_register_wrapper(&wrapper);
    return namespace_add(&(Namespace){
        .name = "tensorflow",
        .doc = "TensorFlow's tensors: memory at once, from an allocator that can be named, and TensorProto messages.",
        .fill = fill_tensorflow});
}
