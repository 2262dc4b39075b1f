/* caffe2.Tensor, the workspace of named blobs, and caffe2's dtypes. A caffe2 tensor holds a reference to a TsrTensor;
 * sharing and converting add a reference, resizing keeps the memory while the capacity suffices, and what torch allows
 * but caffe2 does not is refused at the boundary. */
#include "caffe2.h"

#include <stdio.h>
#include <string.h>

#include "lang/object/args.h"
#include "torch/bind.h"
#include "core/layout.h"
#include "core/view.h"
#include "lang/types/dict.h"
#include "lang/object/gc.h"
#include "lang/modules/namespace.h"
#include "lang/types/sequences.h"
#include "lang/types/str.h"
#include "torch/types.h"
#include "lang/vm/vm.h"
#include "torch/holders.h"

static Type caffe2_tensor_type;

/* Partially initialised states are the point: sizes without a dtype, a dtype without memory. */
typedef struct C2Tensor {
    Obj obj;
    TsrTensor *t; /* one reference; NULL until a dtype is known */
    TsrDevice device;
    int ndim; /* sizes asked for, while t is NULL or has no memory for them */
    int64_t sizes[TSR_MAX_DIMS];
    bool no_data; /* t's memory does not fit the sizes: mutable_data allocates */
} C2Tensor;

static C2Tensor *as_c2(Value v) { return (C2Tensor *)v.o; }

static void c2_destroy(Obj *self) {
    tsr_tensor_free(((C2Tensor *)self)->t);
    obj_free(self, sizeof(C2Tensor));
}

/* Takes over t (may be NULL), also on failure. */
static TsrStatus c2_new_move(Value *out, TsrTensor *t, TsrDevice device) {
    C2Tensor *c = obj_new(&caffe2_tensor_type, sizeof *c);
    if (c == NULL) {
        tsr_tensor_free(t);
        return mem_error();
    }
    c->t = t;
    c->device = device;
    c->no_data = false;
    c->ndim = 1;
    c->sizes[0] = 0;
    if (t != NULL) {
        c->ndim = tsr_ndim(t);
        memcpy(c->sizes, t->sizes, sizeof(int64_t) * (size_t)c->ndim);
    }
    if (t != NULL) tsr_trace(TSR_TRACE_WRAP, "caffe2.Tensor", "owned", 0, t, NULL);
    *out = value_obj_move(c);
    return TSR_OK;
}

/* With memory the sizes are the impl's, which other wrappers and torch may have changed. */
static int ndim_of(const C2Tensor *c) { return c->t != NULL && !c->no_data ? tsr_ndim(c->t) : c->ndim; }
static const int64_t *sizes_of(const C2Tensor *c) { return c->t != NULL && !c->no_data ? c->t->sizes : c->sizes; }

static int64_t numel_of(const C2Tensor *c) {
    int64_t n = 1;
    for (int d = 0; d < ndim_of(c); d++) n *= sizes_of(c)[d];
    return n;
}

static TsrStatus no_data_error(const C2Tensor *c) {
    if (c->t == NULL)
        tsr_error(TSR_RUNTIME_ERROR,
                  "the caffe2 tensor has no dtype and no memory yet: it is allocated by mutable_data(dtype)");
    else tsr_error(TSR_RUNTIME_ERROR, "the caffe2 tensor was resized past its memory: mutable_data(dtype) allocates");
    return TSR_RUNTIME_ERROR;
}

/* The tensor with its memory, lent. */
static TsrStatus c2_get(TsrTensor **lent, Value v) {
    const C2Tensor *c = as_c2(v);
    *lent = c->t;
    return c->t == NULL || c->no_data ? no_data_error(c) : TSR_OK;
}

static bool c2_owns(Value v) { return as_c2(v)->t != NULL; }

/* For introspection the impl counts even without memory. */
static TsrStatus c2_impl(TsrTensor **lent, Value v) {
    *lent = as_c2(v)->t;
    return *lent != NULL ? TSR_OK : no_data_error(as_c2(v));
}

/* The boundary between the two interfaces. */
static TsrStatus check_boundary(const TsrTensor *t) {
    if (!tsr_is_defined(t) || tsr_is_sparse(t))
        return tsr_error(TSR_RUNTIME_ERROR, "caffe2::Tensor wraps dense tensors only");
    if (!tsr_dtype_is_pod(t->dtype))
        return tsr_error(TSR_RUNTIME_ERROR,
                         "a tensor of torch.%s elements (non-POD) can't cross between torch and caffe2",
                         tsr_dtype_name(t->dtype));
    if (!tsr_is_contiguous(t, TSR_CONTIGUOUS)) {
        tsr_error(TSR_RUNTIME_ERROR, "Caffe2 tensors wrapping PyTorch tensors must be contiguous; this one is not");
        tsr_error_hint("x.contiguous() copies %lld bytes", (long long)(t->numel * (int64_t)tsr_itemsize(t)));
        return TSR_RUNTIME_ERROR;
    }
    return TSR_OK;
}

static TsrStatus parse_device(TsrDevice *out, Value v) {
    bool ok = true;
    *out = TSR_DEVICE_CPU;
    if (v.tag <= V_NONE) return TSR_OK;
    TSR_TRY(device_from_value(out, &ok, v));
    return ok ? TSR_OK : tsr_error(TSR_TYPE_ERROR, "expected a device, not %s", value_type_name(v));
}

/* caffe2.Tensor(CPU) allocates nothing; caffe2.Tensor(x) wraps the same impl. */
static TsrStatus c2_construct(Value *out, Type *type, const CallArgs *args) {
    TsrTensor *t = NULL;
    TsrDevice device;
    (void)type;
    TSR_TRY(args_count(args, 0, 0, 1, "Tensor"));
    if (args->count == 1) TSR_TRY(bind_tensor_of(&t, args->values[0]));
    if (t != NULL) {
        TSR_TRY(check_boundary(t));
        return c2_new_move(out, tsr_tensor_retain(t), t->device);
    }
    TSR_TRY(parse_device(&device, args->count == 1 ? args->values[0] : VALUE_NONE));
    return c2_new_move(out, NULL, device);
}

/* ---- sizes ---- */

static TsrStatus read_sizes(int64_t *out, int *n, const CallArgs *args, int from) {
    const Value *items = args->values + from;
    int64_t count = args->count - from, numel;
    if (count == 1 && value_is_obj(args->values[from], &array_ref_type)) {
        Value list;
        TSR_TRY(value_call_method(&list, args->values[from], "vec", 0, NULL));
        TsrStatus status = read_sizes(out, n, &(CallArgs){.values = &list, .count = 1}, 0);
        value_release(list);
        return status;
    }
    if (count == 1) value_as_array(args->values[from], &items, &count);
    if (count > TSR_MAX_DIMS) return tsr_error(TSR_VALUE_ERROR, "at most %d dimensions", TSR_MAX_DIMS);
    for (int64_t i = 0; i < count; i++) TSR_TRY(value_to_index(&out[i], items[i]));
    *n = (int)count;
    return tsr_layout_numel(&numel, *n, out);
}

/* Sets the sizes; memory that is large enough stays (also when shrinking), else it is given up until mutable_data. */
static TsrStatus resize(C2Tensor *c, int n, const int64_t *sizes) {
    int64_t strides[TSR_MAX_DIMS], numel = 1;
    c->ndim = n;
    memmove(c->sizes, sizes, sizeof(int64_t) * (size_t)n); /* may be its own, or its impl's */
    sizes = c->sizes;
    for (int d = 0; d < n; d++) numel *= sizes[d];
    if (c->t == NULL) return TSR_OK;
    size_t needed = (size_t)numel * tsr_itemsize(c->t) + (size_t)c->t->offset * tsr_itemsize(c->t);
    c->no_data = needed > c->t->storage->capacity && needed > c->t->storage->nbytes;
    if (c->no_data) return TSR_OK;
    tsr_layout_contiguous_strides(strides, n, sizes);
    if (needed > c->t->storage->nbytes) TSR_TRY(tsr_storage_resize(c->t->storage, needed));
    tsr_trace(TSR_TRACE_KEEP, "Resize", "it fits", (int64_t)numel * (int64_t)tsr_itemsize(c->t), c->t, c->t->storage);
    return tsr_tensor_set_geometry(c->t, (TsrGeometry){n, sizes, strides, c->t->offset});
}

static TsrStatus c2_resize(Value *out, const CallArgs *args) {
    int64_t sizes[TSR_MAX_DIMS];
    int n;
    TSR_TRY(read_sizes(sizes, &n, args, 1));
    *out = VALUE_NONE;
    return resize(as_c2(args->values[0]), n, sizes);
}

static TsrStatus c2_resize_like(Value *out, const CallArgs *args) {
    *out = VALUE_NONE;
    if (value_is_obj(args->values[1], &caffe2_tensor_type))
        return resize(as_c2(args->values[0]), ndim_of(as_c2(args->values[1])), sizes_of(as_c2(args->values[1])));
    TsrTensor *t = NULL;
    TSR_TRY(bind_tensor_of(&t, args->values[1]));
    if (t == NULL)
        return tsr_error(TSR_TYPE_ERROR, "ResizeLike(): expected a tensor, not %s", value_type_name(args->values[1]));
    return resize(as_c2(args->values[0]), tsr_ndim(t), t->sizes);
}

/* ---- data ---- */

/* The elements as a 1-D tensor: what the C++ pointer reaches. */
static TsrStatus flat_view(Value *out, TsrTensor *t) {
    TsrTensor *view;
    int64_t one = 1, n = t->numel;
    TSR_TRY(tsr_tensor_new_view(&view, t, &(TsrGeometry){1, &n, &one, t->offset}, "data"));
    *out = value_tensor_move(view);
    return TSR_OK;
}

static TsrStatus dtype_argument(TsrDtype *out, Value v, const char *fn) {
    return dtype_from_value(out, v)
               ? TSR_OK
               : tsr_error(TSR_TYPE_ERROR, "%s(): expected a dtype, not %s", fn, value_type_name(v));
}

static TsrStatus allocate(C2Tensor *c, TsrDtype dtype) {
    TsrTensor *fresh;
    c->ndim = ndim_of(c);
    memmove(c->sizes, sizes_of(c), sizeof(int64_t) * (size_t)c->ndim);
    tsr_trace_reason = c->t == NULL ? "first use" : c->t->dtype != dtype ? "retyped" : "outgrown";
    TsrStatus made = tsr_tensor_new(&fresh, c->ndim, c->sizes, dtype, c->device);
    tsr_trace_reason = NULL;
    TSR_TRY(made);
    fresh->origin = "mutable_data";
    if (c->t != NULL) { /* the same impl gets a new storage, and type: every wrapper of it sees that */
        uint8_t old = c->t->dtype;
        c->t->dtype = fresh->dtype;
        TsrStatus status =
            tsr_tensor_set_storage(c->t, fresh->storage, (TsrGeometry){c->ndim, c->sizes, fresh->strides, 0});
        tsr_tensor_free(fresh);
        if (status != TSR_OK) c->t->dtype = old;
        TSR_TRY(status);
    } else {
        c->t = fresh;
    }
    c->no_data = false;
    return TSR_OK;
}

static TsrStatus c2_mutable_data(Value *out, const CallArgs *args) {
    C2Tensor *c = as_c2(args->values[0]);
    TsrDtype dtype = c->t != NULL ? c->t->dtype : tsr_default_dtype();
    if (args->count > 1) TSR_TRY(dtype_argument(&dtype, args->values[1], "mutable_data"));
    if (!tsr_dtype_is_pod(dtype))
        return tsr_error(TSR_RUNTIME_ERROR, "mutable_data(): torch.%s elements are not numbers", tsr_dtype_name(dtype));
    if (c->t == NULL || c->no_data || c->t->dtype != dtype) TSR_TRY(allocate(c, dtype));
    return flat_view(out, c->t);
}

static TsrStatus c2_data(Value *out, const CallArgs *args) {
    C2Tensor *c = as_c2(args->values[0]);
    TsrDtype dtype;
    if (c->t == NULL || c->no_data) return no_data_error(c);
    dtype = c->t->dtype;
    if (args->count > 1) TSR_TRY(dtype_argument(&dtype, args->values[1], "data"));
    if (dtype != c->t->dtype)
        return tsr_error(TSR_RUNTIME_ERROR,
                         "Tensor type mismatch, caller expects elements to be %s, while tensor contains %s. ",
                         tsr_dtype_c_name(dtype), tsr_dtype_c_name(c->t->dtype));
    return flat_view(out, c->t);
}

/* ---- reading ---- */

static TsrStatus c2_numel(Value *out, const CallArgs *args) {
    return *out = value_int(numel_of(as_c2(args->values[0]))), TSR_OK;
}
static TsrStatus c2_dim(Value *out, const CallArgs *args) {
    return *out = value_int(ndim_of(as_c2(args->values[0]))), TSR_OK;
}

static TsrStatus c2_size(Value *out, const CallArgs *args) {
    const C2Tensor *c = as_c2(args->values[0]);
    int64_t d;
    TSR_TRY(value_to_index(&d, args->values[1]));
    TSR_TRY(tsr_wrap_dim(&d, ndim_of(c)));
    *out = value_int(sizes_of(c)[d]);
    return TSR_OK;
}

static TsrStatus c2_dtype(Value *out, const CallArgs *args) {
    const C2Tensor *c = as_c2(args->values[0]);
    *out = dtype_value(c->t != NULL ? c->t->dtype : TSR_DTYPE_NONE);
    return TSR_OK;
}

static TsrStatus sizes_ref(Value *out, Value self, bool strides) {
    C2Tensor *c = as_c2(self);
    Value list;
    if (c->t != NULL && !c->no_data) return array_ref_new(out, c->t, strides);
    TSR_TRY(list_new(&list, c->ndim));
    TsrStatus status = TSR_OK;
    for (int d = 0; d < c->ndim && status == TSR_OK; d++)
        status = list_append(value_as_list(list), value_int(c->sizes[d]));
    if (status == TSR_OK) status = value_call_n(out, value_lent(&array_ref_type), 1, &list);
    value_release(list);
    return status;
}

static TsrStatus c2_sizes(Value *out, const CallArgs *args) { return sizes_ref(out, args->values[0], false); }

static TsrStatus c2_strides(Value *out, const CallArgs *args) {
    TsrTensor *t;
    TSR_TRY(c2_get(&t, args->values[0]));
    return sizes_ref(out, args->values[0], true);
}

static TsrStatus c2_to_torch(Value *out, const CallArgs *args) {
    TsrTensor *t;
    TSR_TRY(c2_get(&t, args->values[0]));
    *out = value_tensor_move(tsr_tensor_retain(t));
    return TSR_OK;
}

static TsrStatus c2_repr(TsrText *out, Value self) {
    const C2Tensor *c = as_c2(self);
    const char *sizes = tsr_layout_text(c->ndim, c->sizes);
    if (c->t == NULL) return tsr_text_printf(out, "caffe2.Tensor(%s, uninitialized, no memory)", sizes);
    if (c->no_data) return tsr_text_printf(out, "caffe2.Tensor(%s, %s, no memory)", sizes, tsr_dtype_name(c->t->dtype));
    TSR_TRY(tsr_text_puts(out, "caffe2.Tensor("));
    TSR_TRY(value_repr(out, (Value){.tag = V_TENSOR, {.t = c->t}}));
    return tsr_text_putc(out, ')');
}

/* ---- sharing and copying ---- */

static TsrStatus c2_unsafe_shared(Value *out, const CallArgs *args) {
    C2Tensor *c = as_c2(args->values[0]);
    TSR_TRY(c2_new_move(out, tsr_tensor_retain(c->t), c->device));
    as_c2(*out)->no_data = c->no_data;
    as_c2(*out)->ndim = c->ndim;
    memcpy(as_c2(*out)->sizes, c->sizes, sizeof(int64_t) * (size_t)c->ndim);
    return TSR_OK;
}

static TsrStatus c2_alias(Value *out, const CallArgs *args) {
    TsrTensor *t, *alias;
    TSR_TRY(c2_get(&t, args->values[0]));
    TSR_TRY(tsr_tensor_new_alias(&alias, t));
    return c2_new_move(out, alias, t->device);
}

static TsrStatus c2_clone(Value *out, const CallArgs *args) {
    TsrTensor *t, *clone;
    TSR_TRY(c2_get(&t, args->values[0]));
    TSR_TRY(tsr_tensor_new_clone(&clone, t, TSR_CONTIGUOUS));
    return c2_new_move(out, clone, t->device);
}

static TsrStatus source_tensor(TsrTensor **lent, Value v, const char *fn) {
    *lent = NULL;
    if (value_is_obj(v, &caffe2_tensor_type)) return c2_get(lent, v);
    TSR_TRY(bind_tensor_of(lent, v));
    return *lent != NULL ? check_boundary(*lent)
                         : tsr_error(TSR_TYPE_ERROR, "%s(): expected a tensor, not %s", fn, value_type_name(v));
}

static TsrStatus c2_copy_from(Value *out, const CallArgs *args) {
    C2Tensor *c = as_c2(args->values[0]);
    TsrTensor *src;
    TSR_TRY(source_tensor(&src, args->values[1], "CopyFrom"));
    *out = VALUE_NONE;
    if (src == c->t) return TSR_OK;
    TSR_TRY(resize(c, tsr_ndim(src), src->sizes));
    if (c->t == NULL || c->no_data || c->t->dtype != src->dtype) TSR_TRY(allocate(c, src->dtype));
    TSR_TRY(tsr_tensor_check(c->t, true));
    TSR_TRY(tsr_tensor_copy(c->t, src));
    tsr_tensor_bump(c->t, "CopyFrom");
    return TSR_OK;
}

/* y.ShareData(x): y's metadata stay its own, its memory becomes x's. */
static TsrStatus c2_share_data(Value *out, const CallArgs *args) {
    C2Tensor *c = as_c2(args->values[0]);
    TsrTensor *src, *alias;
    TSR_TRY(source_tensor(&src, args->values[1], "ShareData"));
    if (numel_of(c) != src->numel)
        return tsr_error(TSR_RUNTIME_ERROR,
                         "Size mismatch - did you call reshape before sharing the data? %lld elements here, %lld there",
                         (long long)numel_of(c), (long long)src->numel);
    int64_t strides[TSR_MAX_DIMS];
    tsr_layout_contiguous_strides(strides, c->ndim, c->sizes);
    TSR_TRY(
        tsr_tensor_new_over(&alias, src->storage, (TsrGeometry){c->ndim, c->sizes, strides, src->offset}, src->dtype));
    alias->origin = "ShareData";
    tsr_tensor_free(c->t);
    c->t = alias;
    c->no_data = false;
    *out = VALUE_NONE;
    return TSR_OK;
}

/* The pointer of a bytes or bytearray object, which the storage keeps alive. */
static TsrStatus c2_share_external(Value *out, const CallArgs *args) {
    C2Tensor *c = as_c2(args->values[0]);
    Value torch, frombuffer, dtype = VALUE_UNBOUND, flat;
    Str *name = str_intern_c("frombuffer"), *keyword = str_intern_c("dtype");
    TsrTensor *alias;
    int64_t strides[TSR_MAX_DIMS];
    if (name == NULL || keyword == NULL) return mem_error();
    dtype =
        args->count > 2 ? value_retain(args->values[2]) : dtype_value(c->t != NULL ? c->t->dtype : tsr_default_dtype());
    TsrStatus status = namespace_module(&torch, "torch");
    if (status == TSR_OK) {
        status = value_getattr(&frombuffer, torch, name);
        value_release(torch);
    }
    if (status == TSR_OK) {
        status = value_call(
            &flat, frombuffer,
            &(CallArgs){
                .values = (Value[]){args->values[1], dtype}, .count = 1, .keyword_count = 1, .names = &keyword});
        value_release(frombuffer);
    }
    value_release(dtype);
    TSR_TRY(status);
    if (flat.t->numel < numel_of(c)) {
        status =
            tsr_error(TSR_RUNTIME_ERROR, "ShareExternalPointer: the sizes need %lld elements, the memory holds %lld",
                      (long long)numel_of(c), (long long)flat.t->numel);
    } else {
        tsr_layout_contiguous_strides(strides, c->ndim, c->sizes);
        status = tsr_tensor_new_over(&alias, flat.t->storage, (TsrGeometry){c->ndim, c->sizes, strides, flat.t->offset},
                                     flat.t->dtype);
    }
    value_release(flat);
    TSR_TRY(status);
    alias->origin = "ShareExternalPointer";
    tsr_tensor_free(c->t);
    c->t = alias;
    c->no_data = false;
    *out = VALUE_NONE;
    return TSR_OK;
}

static const Method c2_methods[] = {
    {"Resize", c2_resize, ARGS_RANGE, 0, -1, "(*sizes)", "Sets the sizes; allocates nothing."},
    {"ResizeLike", c2_resize_like, ARGS_ONE, 1, 1, "(other)", "Sets the sizes of another tensor."},
    {"mutable_data", c2_mutable_data, ARGS_RANGE, 0, 1, "(dtype)",
     "The elements, to write: allocates when there is no memory that fits, and takes the dtype."},
    {"data", c2_data, ARGS_RANGE, 0, 1, "(dtype)", "The elements; an error for another dtype than the tensor's."},
    {"sizes", c2_sizes, ARGS_NONE, 0, 0, "()", "The sizes as an ArrayRef."},
    {"strides", c2_strides, ARGS_NONE, 0, 0, "()", "The strides as an ArrayRef."},
    {"dims", c2_sizes, ARGS_NONE, 0, 0, "()", "sizes() by its older name."},
    {"dim", c2_dim, ARGS_NONE, 0, 0, "()", "How many dimensions."},
    {"ndim", c2_dim, ARGS_NONE, 0, 0, "()", "dim() by its older name."},
    {"numel", c2_numel, ARGS_NONE, 0, 0, "()", "How many elements."},
    {"size", c2_size, ARGS_ONE, 1, 1, "(dim)", "One size."},
    {"dtype", c2_dtype, ARGS_NONE, 0, 0, "()", "The element type; None before mutable_data."},
    {"meta", c2_dtype, ARGS_NONE, 0, 0, "()", "dtype() by its older name."},
    {"to_torch", c2_to_torch, ARGS_NONE, 0, 0, "()", "The same tensor, as torch's."},
    {"UnsafeSharedInstance", c2_unsafe_shared, ARGS_NONE, 0, 0, "()", "A pointer copy: metadata and data shared."},
    {"Alias", c2_alias, ARGS_NONE, 0, 0, "()", "Metadata copied, data shared."},
    {"Clone", c2_clone, ARGS_NONE, 0, 0, "()", "Metadata and data copied."},
    {"CopyFrom", c2_copy_from, ARGS_ONE, 1, 1, "(src)", "Takes the sizes and copies the data of another tensor."},
    {"ShareData", c2_share_data, ARGS_ONE, 1, 1, "(src)", "Uses another tensor's memory."},
    {"ShareExternalPointer", c2_share_external, ARGS_RANGE, 1, 2, "(bytes, dtype=None)",
     "Uses the memory of a bytes or bytearray object."},
    {0},
};

/* y = x of a caffe2 tensor: the copy constructor that the unification took away. */
static void c2_copied(Value v) {
    (void)v;
    fflush(stdout);
    fprintf(stderr,
            "UserWarning: line %d: assigning a caffe2 tensor copies the pointer, not the tensor: say "
            "UnsafeSharedInstance() to share, Alias() for metadata of its own, Clone() to copy\n",
            vm_current_line());
}

static Type caffe2_tensor_type = {.copied = c2_copied,
                                  .obj = TYPE_HEADER,
                                  .name = "Tensor",
                                  .module = "caffe2",
                                  .construct = c2_construct,
                                  .destroy = c2_destroy,
                                  .repr = c2_repr,
                                  .methods = c2_methods};

/* ---- options ---- */

typedef struct Options {
    Obj obj;
    TsrDtype dtype;
    TsrDevice device;
} Options;

static Type options_type;

static void options_destroy(Obj *self) { obj_free(self, sizeof(Options)); }

static TsrStatus options_new(Value *out, TsrDtype dtype, TsrDevice device) {
    Options *o = obj_new(&options_type, sizeof *o);
    if (o == NULL) return mem_error();
    o->dtype = dtype;
    o->device = device;
    *out = value_obj_move(o);
    return TSR_OK;
}

/* dtype= and device=, or a TensorOptions at values[at]. */
static TsrStatus read_options(TsrDtype *dtype, TsrDevice *device, const CallArgs *args, int at) {
    Value d = args_keyword(args, "dtype");
    *dtype = tsr_default_dtype();
    *device = TSR_DEVICE_CPU;
    if (at >= 0 && args->count > at && value_is_obj(args->values[at], &options_type)) {
        *dtype = ((Options *)args->values[at].o)->dtype;
        *device = ((Options *)args->values[at].o)->device;
    } else if (at >= 0 && args->count > at && !dtype_from_value(dtype, args->values[at])) {
        return tsr_error(TSR_TYPE_ERROR, "expected TensorOptions or a dtype, not %s",
                         value_type_name(args->values[at]));
    }
    if (d.tag > V_NONE) TSR_TRY(dtype_argument(dtype, d, "TensorOptions"));
    if (args_keyword(args, "device").tag > V_NONE) TSR_TRY(parse_device(device, args_keyword(args, "device")));
    return TSR_OK;
}

static TsrStatus options_construct(Value *out, Type *type, const CallArgs *args) {
    TsrDtype dtype;
    TsrDevice device;
    (void)type;
    TSR_TRY(read_options(&dtype, &device, args, args->count > 0 ? 0 : -1));
    return options_new(out, dtype, device);
}

static TsrStatus options_dtype(Value *out, const CallArgs *args) {
    TsrDtype dtype;
    TSR_TRY(dtype_argument(&dtype, args->values[1], "dtype"));
    return options_new(out, dtype, ((Options *)args->values[0].o)->device);
}

static TsrStatus options_device(Value *out, const CallArgs *args) {
    TsrDevice device;
    TSR_TRY(parse_device(&device, args->values[1]));
    return options_new(out, ((Options *)args->values[0].o)->dtype, device);
}

static TsrStatus options_repr(TsrText *out, Value self) {
    char device[16];
    const Options *o = (const Options *)self.o;
    return tsr_text_printf(out, "TensorOptions(dtype=%s, device=%s)", tsr_dtype_name(o->dtype),
                           tsr_device_format(o->device, device));
}

static const Method options_methods[] = {
    {"dtype", options_dtype, ARGS_ONE, 1, 1, "(dtype)", "The options with another dtype."},
    {"device", options_device, ARGS_ONE, 1, 1, "(device)", "The options on another device."},
    {0}};
static Type options_type = {.obj = TYPE_HEADER,
                            .name = "TensorOptions",
                            .module = "caffe2",
                            .construct = options_construct,
                            .destroy = options_destroy,
                            .repr = options_repr,
                            .methods = options_methods};

/* caffe2.dtype(float32): the options that begin with it. */
static TsrStatus caffe2_dtype(Value *out, const CallArgs *args) {
    TsrDtype dtype;
    TSR_TRY(dtype_argument(&dtype, args->values[0], "dtype"));
    return options_new(out, dtype, TSR_DEVICE_CPU);
}

static TsrStatus caffe2_empty(Value *out, const CallArgs *args) {
    int64_t sizes[TSR_MAX_DIMS];
    int n;
    TsrDtype dtype;
    TsrDevice device;
    TsrTensor *t;
    TSR_TRY(args_count(args, 0, 1, 2, "empty"));
    TSR_TRY(read_sizes(sizes, &n, &(CallArgs){.values = args->values, .count = 1}, 0));
    TSR_TRY(read_options(&dtype, &device, args, args->count > 1 ? 1 : -1));
    TSR_TRY(tsr_tensor_new(&t, n, sizes, dtype, device));
    t->origin = "caffe2.empty";
    return c2_new_move(out, t, device);
}

/* Gives `slot` a tensor of these sizes and options: the memory it has, when that fits. */
static TsrStatus reinitialize(Value *slot, int n, const int64_t *sizes, TsrDtype dtype, TsrDevice device) {
    if (slot->tag == V_UNBOUND || value_is_none(*slot)) {
        Value fresh;
        TSR_TRY(c2_new_move(&fresh, NULL, device));
        value_set_move(slot, fresh);
    }
    C2Tensor *c = as_c2(*slot);
    TSR_TRY(resize(c, n, sizes));
    return c->t == NULL || c->no_data || c->t->dtype != dtype ? allocate(c, dtype) : TSR_OK;
}

static TsrStatus caffe2_reinitialize(Value *out, const CallArgs *args) {
    int64_t sizes[TSR_MAX_DIMS];
    int n;
    TsrDtype dtype;
    TsrDevice device;
    TSR_TRY(args_count(args, 0, 2, 3, "ReinitializeTensor"));
    if (args->values[0].tag != V_NONE && !value_is_obj(args->values[0], &caffe2_tensor_type))
        return tsr_error(TSR_TYPE_ERROR, "ReinitializeTensor(): expected a caffe2 tensor or None, not %s",
                         value_type_name(args->values[0]));
    TSR_TRY(read_sizes(sizes, &n, &(CallArgs){.values = args->values + 1, .count = 1}, 0));
    TSR_TRY(read_options(&dtype, &device, args, args->count > 2 ? 2 : -1));
    *out = value_retain(args->values[0]);
    TsrStatus status = reinitialize(out, n, sizes, dtype, device);
    if (status != TSR_OK) value_clear(out);
    return status;
}

/* ---- operators: outputs kept between runs ---- */

enum { MAX_OUTPUTS = 64 };
typedef struct Operator {
    GcObj gc;
    Value outputs[MAX_OUTPUTS];
} Operator;

static void operator_destroy(Obj *self) {
    for (int i = 0; i < MAX_OUTPUTS; i++) value_release(((Operator *)self)->outputs[i]);
    obj_free(self, sizeof(Operator));
}

static void operator_traverse(Obj *self, GcVisit visit, void *context) {
    for (int i = 0; i < MAX_OUTPUTS; i++) gc_visit_value(((Operator *)self)->outputs[i], visit, context);
}

static void operator_clear(Obj *self) {
    for (int i = 0; i < MAX_OUTPUTS; i++) value_clear(&((Operator *)self)->outputs[i]);
}

static TsrStatus operator_construct(Value *out, Type *type, const CallArgs *args) {
    TSR_TRY(args_count(args, 0, 0, 0, "Operator"));
    Operator *o = obj_new(type, sizeof *o);
    if (o == NULL) return mem_error();
    for (int i = 0; i < MAX_OUTPUTS; i++) o->outputs[i] = VALUE_UNBOUND;
    gc_track(o);
    *out = value_obj_move(o);
    return TSR_OK;
}

static TsrStatus output_slot(Value **slot, const CallArgs *args) {
    int64_t i;
    TSR_TRY(value_to_index(&i, args->values[1]));
    if (i < 0 || i >= MAX_OUTPUTS)
        return tsr_error(TSR_INDEX_ERROR, "an operator has outputs 0 to %d, not %lld", MAX_OUTPUTS - 1, (long long)i);
    *slot = &((Operator *)args->values[0].o)->outputs[i];
    return TSR_OK;
}

static TsrStatus operator_xoutput(Value *out, const CallArgs *args) {
    int64_t sizes[TSR_MAX_DIMS];
    int n;
    TsrDtype dtype;
    TsrDevice device;
    Value *slot;
    TSR_TRY(args_count(args, 1, 2, 3, "XOutput"));
    TSR_TRY(output_slot(&slot, args));
    TSR_TRY(read_sizes(sizes, &n, &(CallArgs){.values = args->values + 2, .count = 1}, 0));
    TSR_TRY(read_options(&dtype, &device, args, args->count > 3 ? 3 : -1));
    TSR_TRY(reinitialize(slot, n, sizes, dtype, device));
    *out = value_retain(*slot);
    return TSR_OK;
}

/* Output(i) alone is the old form: an uninitialised tensor for the caller to fill. */
static TsrStatus operator_output(Value *out, const CallArgs *args) {
    Value *slot;
    if (args->count > 2) return operator_xoutput(out, args);
    TSR_TRY(args_count(args, 1, 1, 3, "Output"));
    TSR_TRY(output_slot(&slot, args));
    if (slot->tag == V_UNBOUND) TSR_TRY(c2_new_move(slot, NULL, TSR_DEVICE_CPU));
    *out = value_retain(*slot);
    return TSR_OK;
}

static const Method operator_methods[] = {
    {"XOutput", operator_xoutput, ARGS_ANY, 2, 3, "(i, sizes, *, dtype=None, device=None)",
     "Output i with these sizes and options, its memory reused when it fits."},
    {"Output", operator_output, ARGS_ANY, 1, 3, "(i, sizes=None, *, dtype=None, device=None)",
     "Output i; without sizes an uninitialised tensor."},
    {0},
};
static Type operator_type = {.obj = TYPE_HEADER,
                             .name = "Operator",
                             .module = "caffe2",
                             .flags = TYPE_GC,
                             .construct = operator_construct,
                             .destroy = operator_destroy,
                             .traverse = operator_traverse,
                             .clear = operator_clear,
                             .methods = operator_methods};

/* ---- the workspace ---- */

static Value blobs; /* a dict of caffe2 tensors */

static TsrStatus workspace_feed(Value *out, const CallArgs *args) {
    TsrTensor *t = NULL;
    Value c;
    if (!value_is_str(args->values[0]))
        return tsr_error(TSR_TYPE_ERROR, "FeedBlob(): a blob's name is str, not %s", value_type_name(args->values[0]));
    if (value_is_obj(args->values[1], &caffe2_tensor_type)) {
        c = value_retain(args->values[1]);
    } else {
        TSR_TRY(bind_tensor_of(&t, args->values[1]));
        if (t == NULL)
            return tsr_error(TSR_TYPE_ERROR, "FeedBlob(): expected a tensor, not %s", value_type_name(args->values[1]));
        TSR_TRY(check_boundary(t));
        TSR_TRY(c2_new_move(&c, tsr_tensor_retain(t), t->device));
    }
    TsrStatus status = dict_set(value_as_dict(blobs), args->values[0], c);
    value_release(c);
    *out = VALUE_TRUE;
    return status;
}

static TsrStatus find_blob(Value *out, Value name) {
    Value *found;
    TSR_TRY(dict_find(&found, value_as_dict(blobs), name));
    if (found == NULL) {
        TsrText text = {0};
        TSR_TRY(value_str(&text, name));
        tsr_error(TSR_RUNTIME_ERROR, "Can't find blob: %s", text.data != NULL ? text.data : "");
        tsr_text_free(&text);
        return TSR_RUNTIME_ERROR;
    }
    *out = *found;
    return TSR_OK;
}

static TsrStatus workspace_fetch(Value *out, const CallArgs *args) {
    Value blob;
    TSR_TRY(find_blob(&blob, args->values[0]));
    return c2_to_torch(out, &(CallArgs){.values = &blob, .count = 1});
}

static TsrStatus workspace_blobs(Value *out, const CallArgs *args) {
    (void)args;
    return list_new_iterable(out, blobs);
}

static TsrStatus workspace_reset(Value *out, const CallArgs *args) {
    (void)args;
    dict_clear(value_as_dict(blobs));
    *out = VALUE_TRUE;
    return TSR_OK;
}

static const Method workspace_functions[] = {
    {"FeedBlob", workspace_feed, ARGS_RANGE, 2, 2, "(name, x)", "Puts a tensor into the workspace, without a copy."},
    {"FetchBlob", workspace_fetch, ARGS_ONE, 1, 1, "(name)", "The tensor of a blob, without a copy."},
    {"FetchTorch", workspace_fetch, ARGS_ONE, 1, 1, "(name)", "The tensor of a blob, without a copy."},
    {"Blobs", workspace_blobs, ARGS_NONE, 0, 0, "()", "The names of the blobs."},
    {"ResetWorkspace", workspace_reset, ARGS_NONE, 0, 0, "()", "Forgets every blob."},
    {0},
};

static TsrStatus fill_workspace(Module *m) {
    Value workspace, current;
    TSR_TRY(module_add_functions(m, workspace_functions));
    TSR_TRY(module_new(&workspace, "Workspace", "The workspace there is."));
    TsrStatus status = module_new(&current, "current", "The workspace in use.");
    if (status == TSR_OK) status = module_add(value_as_module(current), "blobs", blobs);
    if (status == TSR_OK) status = module_add_move(value_as_module(workspace), "current", current);
    if (status == TSR_OK) status = module_add(value_as_module(workspace), "current_blobs", blobs);
    if (status == TSR_OK) return module_add_move(m, "Workspace", workspace);
    value_release(workspace);
    return status;
}

static const Method caffe2_functions[] = {
    {"empty", caffe2_empty, ARGS_ANY, 1, 2, "(sizes, options=None, *, dtype=None, device=None)",
     "A caffe2 tensor with memory, not filled."},
    {"dtype", caffe2_dtype, ARGS_ONE, 1, 1, "(dtype)", "TensorOptions of a dtype."},
    {"ReinitializeTensor", caffe2_reinitialize, ARGS_ANY, 2, 3, "(t, sizes, options=None, *, dtype=None, device=None)",
     "t with these sizes and options, its memory reused when it fits; t may be None."},
    {0},
};

static TsrStatus fill_caffe2(Module *m) {
    Value device;
    TSR_TRY(module_add_functions(m, caffe2_functions));
    TSR_TRY(module_add(m, "Tensor", value_lent(&caffe2_tensor_type)));
    TSR_TRY(module_add(m, "Operator", value_lent(&operator_type)));
    TSR_TRY(module_add(m, "TensorOptions", value_lent(&options_type)));
    TSR_TRY(device_new(&device, TSR_DEVICE_CPU));
    TSR_TRY(module_add_move(m, "CPU", device));
    TSR_TRY(device_new(&device, (TsrDevice){TSR_CUDA, -1}));
    return module_add_move(m, "CUDA", device);
}

static TsrStatus fill_c10(Module *m) { return module_add(m, "ArrayRef", value_lent(&array_ref_type)); }

TsrStatus ns_caffe2_startup(void) {
    TSR_TRY(dict_new(&blobs));
    holders_register_wrapper(&caffe2_tensor_type, c2_impl, c2_owns);
    holders_register_root("workspace.blobs", &blobs);
    TSR_TRY(namespace_add(&(Namespace){
        .name = "caffe2",
        .doc =
            "Caffe2's tensors around PyTorch's implementation: sizes first, memory with mutable_data, both with empty.",
        .fill = fill_caffe2}));
    TSR_TRY(namespace_add(&(Namespace){
        .name = "c10", .doc = "ArrayRef: a reference to numbers that it does not own.", .fill = fill_c10}));
    return namespace_add(&(Namespace){.name = "workspace",
                                      .doc = "Caffe2's workspace: tensors by name, shared with PyTorch without a copy.",
                                      .fill = fill_workspace});
}

void ns_caffe2_shutdown(void) { value_clear(&blobs); }
