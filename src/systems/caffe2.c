/* caffe2.Tensor. A caffe2 tensor holds a reference to a TsrTensor;
 * sharing and converting add a reference, resizing keeps the memory while the capacity suffices, and what torch allows
 * but caffe2 does not is refused at the boundary. */
#include "caffe2_impl.h"

#include <stdio.h>
#include <string.h>

#include "torch/bind/bind.h"
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

/* ---- metadata that changed while both wrappers were held ---- */

static C2Tensor *all;

static uint64_t metadata_of(const TsrTensor *t) {
    uint64_t hash = t == NULL ? 0 : 1 + (uint64_t)t->dtype;
    for (int d = 0; t != NULL && d < tsr_ndim(t); d++)
        hash = (hash ^ (uint64_t)t->sizes[d] ^ ((uint64_t)t->strides[d] << 32)) * 1099511628211u;
    return hash;
}

/* More than caffe2's wrappers hold it. */
static bool is_held_by_torch(TsrTensor *t) {
    int64_t wrappers = 0;
    for (const C2Tensor *c = all; c != NULL; c = c->next) wrappers += c->t == t ? c->wrappers : 0;
    return holders_refcount(t) > wrappers;
}

void caffe2_each_changed(void (*changed)(TsrTensor *t)) {
    for (C2Tensor *c = all; c != NULL; c = c->next) {
        uint64_t now = metadata_of(c->t);
        if (changed != NULL && c->t != NULL && now != c->seen && is_held_by_torch(c->t)) changed(c->t);
        for (C2Tensor *same = all; same != NULL; same = same->next)
            if (same->t == c->t) same->seen = now;
    }
}

static void record_link(C2Tensor *c) {
    c->seen = metadata_of(c->t);
    c->next = all;
    if (all != NULL) all->prev = c;
    all = c;
}

static void record_free(C2Tensor *c) {
    if (c->prev != NULL) c->prev->next = c->next;
    else all = c->next;
    if (c->next != NULL) c->next->prev = c->prev;
    tsr_free(c);
}

/* ---- wrappers ---- */

static void c2_destroy(Obj *self) {
    C2Tensor *c = ((C2Wrapper *)self)->c;
    tsr_tensor_free(c->t);
    if (--c->wrappers == 0) {
        array_ref_owner_changed(c, "went");
        record_free(c);
    }
    obj_free(self, sizeof(C2Wrapper));
}

/* Takes t over, as the tensor of every wrapper. */
static void set_tensor_move(C2Tensor *c, TsrTensor *t) {
    for (int i = 1; i < c->wrappers; i++) tsr_tensor_retain(t);
    for (int i = 0; i < c->wrappers; i++) tsr_tensor_free(c->t);
    c->t = t;
    c->device = t->device;
    c->no_data = false;
    c->seen = metadata_of(t);
}

/* One wrapper more, which takes over a reference to c's tensor, on failure too. */
static TsrStatus wrap_move(Value *out, C2Tensor *c) {
    C2Wrapper *wrapper = obj_new(&caffe2_tensor_type, sizeof *wrapper);
    if (wrapper == NULL) {
        tsr_tensor_free(c->t);
        return mem_error();
    }
    wrapper->c = c;
    c->wrappers++;
    if (c->t != NULL) tsr_trace(TSR_TRACE_WRAP, "caffe2.Tensor", "owned", 0, c->t, NULL);
    *out = value_obj_move(wrapper);
    return TSR_OK;
}

TsrStatus c2_new_move(Value *out, TsrTensor *t, TsrDevice device) {
    C2Tensor *c = tsr_calloc(1, sizeof *c);
    if (c == NULL) {
        tsr_tensor_free(t);
        return mem_error();
    }
    c->t = t;
    c->device = device;
    c->ndim = 1;
    if (t != NULL) {
        c->ndim = tsr_ndim(t);
        memcpy(c->sizes, t->sizes, sizeof(int64_t) * (size_t)c->ndim);
    }
    record_link(c);
    TsrStatus status = wrap_move(out, c);
    if (status != TSR_OK) record_free(c);
    return status;
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
static const void *c2_shell(Value v) { return as_c2(v)->t == NULL ? as_c2(v) : NULL; }

/* For introspection the impl counts even without memory. */
static TsrStatus c2_impl(TsrTensor **lent, Value v) {
    *lent = as_c2(v)->t;
    return *lent != NULL ? TSR_OK : no_data_error(as_c2(v));
}

/* The boundary between the two interfaces. */
static TsrStatus check_pod(const TsrTensor *t) {
    if (tsr_dtype_is_pod(t->dtype)) return TSR_OK;
    return tsr_error(TSR_RUNTIME_ERROR, "a tensor of torch.%s elements (non-POD) can't cross between torch and caffe2",
                     tsr_dtype_name(t->dtype));
}

/* RuntimeError for a tensor that cannot be in both wrappers: sparse, undefined, of non-POD elements, with gaps. */
static TsrStatus check_boundary(const TsrTensor *t) {
    if (!tsr_is_defined(t) || tsr_is_sparse(t))
        return tsr_error(TSR_RUNTIME_ERROR, "caffe2::Tensor wraps dense tensors only");
    TSR_TRY(check_pod(t));
    if (!tsr_is_contiguous(t, TSR_CONTIGUOUS)) {
        tsr_error(TSR_RUNTIME_ERROR, "Caffe2 tensors wrapping PyTorch tensors must be contiguous; this one is not");
        tsr_error_hint("x.contiguous() copies %lld bytes", (long long)(t->numel * (int64_t)tsr_itemsize(t)));
        return TSR_RUNTIME_ERROR;
    }
    return TSR_OK;
}

/* As torch's operators take it. */
static TsrStatus c2_operand(TsrTensor **lent, Value v) {
    TSR_TRY(c2_get(lent, v));
    return check_pod(*lent);
}

TsrStatus c2_parse_device(TsrDevice *out, Value v) {
    bool ok = true;
    *out = TSR_DEVICE_CPU;
    if (v.tag <= V_NONE) return TSR_OK;
    TSR_TRY(device_from_value(out, &ok, v));
    return ok ? TSR_OK : tsr_error(TSR_TYPE_ERROR, "expected a device, not %s", value_type_name(v));
}

/* The unification note: Tensor(const Tensor&) = delete, to avoid confusion. */
static TsrStatus copy_constructor_error(void) {
    tsr_error(TSR_TYPE_ERROR, "caffe2.Tensor(Tensor) is disabled to avoid confusion: c.UnsafeSharedInstance() copies "
                              "the pointer");
    tsr_error_hint("Alias() has metadata of its own over the same data, Clone() has both of its own");
    return TSR_TYPE_ERROR;
}

TsrStatus c2_source_tensor(TsrTensor **lent, Value v, const char *fn) {
    *lent = NULL;
    if (value_is_obj(v, &caffe2_tensor_type)) return c2_get(lent, v);
    TSR_TRY(bind_tensor_of(lent, v));
    return *lent != NULL ? check_boundary(*lent)
                         : tsr_error(TSR_TYPE_ERROR, "%s(): expected a tensor, not %s", fn, value_type_name(v));
}

/* c gets the sizes of src and a copy of its data; `later` leaves a copy between a device and pinned memory to the
 * stream. */
static TsrStatus copy_from(C2Tensor *c, TsrTensor *src, bool later) {
    TSR_TRY(c2_set_sizes(c, tsr_ndim(src), src->sizes));
    if (c2_lacks_memory(c, src->dtype)) TSR_TRY(c2_allocate(c, src->dtype));
    TSR_TRY(tsr_tensor_check(c->t, true));
    TSR_TRY(later ? tsr_tensor_copy_later(c->t, src) : tsr_tensor_copy(c->t, src));
    tsr_tensor_bump(c->t, "CopyFrom");
    return TSR_OK;
}

TsrStatus c2_new_copy(Value *out, TsrTensor *src, TsrDevice device) {
    TSR_TRY(c2_new_move(out, NULL, device));
    TsrStatus status = copy_from(as_c2(*out), src, false);
    if (status != TSR_OK) value_clear(out);
    return status;
}

/* caffe2.Tensor(CPU) allocates nothing; caffe2.Tensor(x) wraps the same impl; caffe2.Tensor(x, CUDA) is a copy. */
static TsrStatus c2_construct(Value *out, Type *type, const CallArgs *args) {
    TsrTensor *t = NULL;
    TsrDevice device;
    (void)type;
    TSR_TRY(args_count(args, 0, 0, 2, "Tensor"));
    TSR_TRY(args_no_keywords(args, "Tensor"));
    if (args->count == 2) {
        TSR_TRY(c2_source_tensor(&t, args->values[0], "Tensor"));
        TSR_TRY(c2_parse_device(&device, args->values[1]));
        return c2_new_copy(out, t, device);
    }
    if (args->count == 1 && value_is_obj(args->values[0], &caffe2_tensor_type)) return copy_constructor_error();
    if (args->count == 1) TSR_TRY(bind_tensor_of(&t, args->values[0]));
    if (t != NULL) {
        TSR_TRY(check_boundary(t));
        return c2_new_move(out, tsr_tensor_retain(t), t->device);
    }
    TSR_TRY(c2_parse_device(&device, args->count == 1 ? args->values[0] : VALUE_NONE));
    return c2_new_move(out, NULL, device);
}

/* ---- sizes ---- */

TsrStatus c2_read_sizes(int64_t *out, int *n, const CallArgs *args, int from) {
    const Value *items = args->values + from;
    int64_t count = args->count - from, numel;
    if (count == 1 && value_is_obj(args->values[from], &array_ref_type)) {
        Value list;
        TSR_TRY(value_call_method(&list, args->values[from], "vec", 0, NULL));
        TsrStatus status = c2_read_sizes(out, n, &(CallArgs){.values = &list, .count = 1}, 0);
        value_release(list);
        return status;
    }
    if (count == 1) value_as_array(args->values[from], &items, &count);
    if (count > TSR_MAX_DIMS) return tsr_error(TSR_VALUE_ERROR, "at most %d dimensions", TSR_MAX_DIMS);
    for (int64_t i = 0; i < count; i++) TSR_TRY(value_to_index(&out[i], items[i]));
    *n = (int)count;
    return tsr_layout_numel(&numel, *n, out);
}

TsrStatus c2_set_sizes(C2Tensor *c, int n, const int64_t *sizes) {
    int64_t strides[TSR_MAX_DIMS], numel = 1;
    if (n != c->ndim) array_ref_owner_changed(c, "changed its rank");
    c->ndim = n;
    memmove(c->sizes, sizes, sizeof(int64_t) * (size_t)n); /* may be its own, or its impl's */
    sizes = c->sizes;
    for (int d = 0; d < n; d++) numel *= sizes[d];
    if (c->t == NULL) {
        tsr_trace(TSR_TRACE_KEEP, "Resize", "no memory yet", 0, NULL, NULL);
        return TSR_OK;
    }
    uint64_t needed = ((uint64_t)numel + (uint64_t)c->t->offset) * tsr_itemsize(c->t);
    c->no_data = needed > c->t->storage->capacity && needed > c->t->storage->nbytes;
    if (c->no_data) {
        tsr_trace(TSR_TRACE_KEEP, "Resize", "outgrown", (int64_t)needed, c->t, c->t->storage);
        return TSR_OK;
    }
    tsr_layout_contiguous_strides(strides, n, sizes);
    if (needed > c->t->storage->nbytes) TSR_TRY(tsr_storage_resize(c->t->storage, needed));
    tsr_trace(TSR_TRACE_KEEP, "Resize", "it fits", (int64_t)numel * (int64_t)tsr_itemsize(c->t), c->t, c->t->storage);
    return tsr_tensor_set_geometry(c->t, (TsrGeometry){n, sizes, strides, c->t->offset});
}

static TsrStatus c2_resize(Value *out, const CallArgs *args) {
    int64_t sizes[TSR_MAX_DIMS];
    int n;
    TSR_TRY(c2_read_sizes(sizes, &n, args, 1));
    *out = VALUE_NONE;
    return c2_set_sizes(as_c2(args->values[0]), n, sizes);
}

static TsrStatus c2_resize_like(Value *out, const CallArgs *args) {
    *out = VALUE_NONE;
    if (value_is_obj(args->values[1], &caffe2_tensor_type))
        return c2_set_sizes(as_c2(args->values[0]), ndim_of(as_c2(args->values[1])), sizes_of(as_c2(args->values[1])));
    TsrTensor *t = NULL;
    TSR_TRY(bind_tensor_of(&t, args->values[1]));
    if (t == NULL)
        return tsr_error(TSR_TYPE_ERROR, "ResizeLike(): expected a tensor, not %s", value_type_name(args->values[1]));
    return c2_set_sizes(as_c2(args->values[0]), tsr_ndim(t), t->sizes);
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

TsrStatus c2_dtype_argument(TsrDtype *out, Value v, const char *fn) {
    return dtype_from_value(out, v)
               ? TSR_OK
               : tsr_error(TSR_TYPE_ERROR, "%s(): expected a dtype, not %s", fn, value_type_name(v));
}

TsrStatus c2_allocate(C2Tensor *c, TsrDtype dtype) {
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
            tsr_tensor_move_to_storage(c->t, fresh->storage, (TsrGeometry){c->ndim, c->sizes, fresh->strides, 0});
        tsr_tensor_free(fresh);
        if (status != TSR_OK) c->t->dtype = old;
        TSR_TRY(status);
        c->no_data = false;
    } else {
        set_tensor_move(c, fresh);
    }
    return TSR_OK;
}

static TsrStatus c2_mutable_data(Value *out, const CallArgs *args) {
    C2Tensor *c = as_c2(args->values[0]);
    TsrDtype dtype = c->t != NULL ? c->t->dtype : tsr_default_dtype();
    if (args->count > 1) TSR_TRY(c2_dtype_argument(&dtype, args->values[1], "mutable_data"));
    if (c2_lacks_memory(c, dtype)) TSR_TRY(c2_allocate(c, dtype));
    return flat_view(out, c->t);
}

static TsrStatus c2_data(Value *out, const CallArgs *args) {
    C2Tensor *c = as_c2(args->values[0]);
    TsrDtype dtype;
    if (c->t == NULL || c->no_data) return no_data_error(c);
    dtype = c->t->dtype;
    if (args->count > 1) TSR_TRY(c2_dtype_argument(&dtype, args->values[1], "data"));
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
static TsrStatus c2_ndim(Value *out, const CallArgs *args) {
    return *out = value_int(ndim_of(as_c2(args->values[0]))), TSR_OK;
}

/* size() and dim(i) changed places with the unification: who means the old ones is told the new. */
static TsrStatus renamed(const char *old, const char *now, const char *other, const char *otherwise) {
    tsr_error(TSR_TYPE_ERROR, "caffe2.Tensor.%s was renamed %s with the unification", old, now);
    tsr_error_hint("%s is %s", other, otherwise);
    return TSR_TYPE_ERROR;
}

static TsrStatus c2_dim(Value *out, const CallArgs *args) {
    if (args->count > 1) return renamed("dim(i)", "size(i)", "dim()", "the number of dimensions, once called ndim()");
    return c2_ndim(out, args);
}

static TsrStatus c2_size(Value *out, const CallArgs *args) {
    const C2Tensor *c = as_c2(args->values[0]);
    int64_t d;
    if (args->count == 1) return renamed("size()", "numel()", "size(i)", "the size of dimension i, once called dim(i)");
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
    if (c->t != NULL && !c->no_data) return array_ref_new(out, c->t, strides);
    return array_ref_new_block(out, c, c->sizes, c->ndim);
}

static TsrStatus c2_sizes(Value *out, const CallArgs *args) { return sizes_ref(out, args->values[0], false); }

static TsrStatus c2_strides(Value *out, const CallArgs *args) {
    TsrTensor *t;
    TSR_TRY(c2_get(&t, args->values[0]));
    return sizes_ref(out, args->values[0], true);
}

TsrStatus c2_to_torch(Value *out, const CallArgs *args) {
    TsrTensor *t;
    TSR_TRY(c2_operand(&t, args->values[0]));
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
    tsr_tensor_retain(c->t);
    return wrap_move(out, c);
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

static TsrStatus c2_copy_from(Value *out, const CallArgs *args) {
    C2Tensor *c = as_c2(args->values[0]);
    TsrTensor *src;
    bool later = false;
    TSR_TRY(c2_source_tensor(&src, args->values[1], "CopyFrom"));
    if (args->count > 2) TSR_TRY(value_truth(&later, args->values[2]));
    *out = VALUE_NONE;
    return src == c->t ? TSR_OK : copy_from(c, src, later);
}

/* y.ShareData(x): y's metadata stay its own, its memory becomes x's. */
static TsrStatus c2_share_data(Value *out, const CallArgs *args) {
    C2Tensor *c = as_c2(args->values[0]);
    TsrTensor *src, *alias;
    TSR_TRY(c2_source_tensor(&src, args->values[1], "ShareData"));
    if (numel_of(c) != src->numel)
        return tsr_error(TSR_RUNTIME_ERROR,
                         "Size mismatch - did you call reshape before sharing the data? %lld elements here, %lld there",
                         (long long)numel_of(c), (long long)src->numel);
    int64_t strides[TSR_MAX_DIMS];
    tsr_layout_contiguous_strides(strides, c->ndim, c->sizes);
    TSR_TRY(
        tsr_tensor_new_over(&alias, src->storage, (TsrGeometry){c->ndim, c->sizes, strides, src->offset}, src->dtype));
    alias->origin = "ShareData";
    set_tensor_move(c, alias);
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
    set_tensor_move(c, alias);
    *out = VALUE_NONE;
    return TSR_OK;
}

static const Method c2_methods[] = {
    {"Resize", c2_resize, ARGS_RANGE, 0, -1, "(*sizes)", "Sets the sizes; allocates nothing."},
    {"ResizeLike", c2_resize_like, ARGS_ONE, 1, 1, "(other)", "Sets the sizes of another tensor."},
    {"mutable_data", c2_mutable_data, ARGS_RANGE, 0, 1, "(dtype)",
     "The elements, to write: allocates when there is no memory that fits, and takes the dtype, which may be string or "
     "nested, as the unification note has it (the note on TensorFlow says that caffe2 holds numbers only)."},
    {"data", c2_data, ARGS_RANGE, 0, 1, "(dtype)", "The elements; an error for another dtype than the tensor's."},
    {"sizes", c2_sizes, ARGS_NONE, 0, 0, "()", "The sizes as an ArrayRef."},
    {"strides", c2_strides, ARGS_NONE, 0, 0, "()", "The strides as an ArrayRef."},
    {"dims", c2_sizes, ARGS_NONE, 0, 0, "()", "sizes() by its older name."},
    {"dim", c2_dim, ARGS_RANGE, 0, 1, "()", "How many dimensions."},
    {"ndim", c2_ndim, ARGS_NONE, 0, 0, "()", "dim() by its older name."},
    {"numel", c2_numel, ARGS_NONE, 0, 0, "()", "How many elements."},
    {"size", c2_size, ARGS_RANGE, 0, 1, "(dim)", "One size."},
    {"dtype", c2_dtype, ARGS_NONE, 0, 0, "()", "The element type; None before mutable_data."},
    {"meta", c2_dtype, ARGS_NONE, 0, 0, "()", "dtype() by its older name."},
    {"to_torch", c2_to_torch, ARGS_NONE, 0, 0, "()", "The same tensor, as torch's."},
    {"UnsafeSharedInstance", c2_unsafe_shared, ARGS_NONE, 0, 0, "()", "A pointer copy: metadata and data shared."},
    {"Alias", c2_alias, ARGS_NONE, 0, 0, "()", "Metadata copied, data shared."},
    {"Clone", c2_clone, ARGS_NONE, 0, 0, "()", "Metadata and data copied."},
    {"CopyFrom", c2_copy_from, ARGS_RANGE, 1, 2, "(src, later=False)",
     "Takes the sizes and copies the data of another tensor, from whatever device; `later` (caffe2's async) leaves a "
     "copy "
     "between a device and pinned memory to the stream."},
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

Type caffe2_tensor_type = {.copied = c2_copied,
                           .obj = TYPE_HEADER,
                           .name = "Tensor",
                           .module = "caffe2",
                           .construct = c2_construct,
                           .destroy = c2_destroy,
                           .repr = c2_repr,
                           .methods = c2_methods};

/* What a TensorImpl is before it has a dtype and a storage. */
static TsrStatus put_partial_impl(Dict *dict, const C2Tensor *c) {
    Value impl, sizes;
    char device[16];
    TSR_TRY(dict_new(&impl));
    Dict *d = value_as_dict(impl);
    TsrStatus status = size_new(&sizes, c->sizes, c->ndim);
    if (status == TSR_OK) status = dict_set_c_move(d, "refcount", value_int(c->wrappers));
    if (status == TSR_OK) status = dict_set_c_move(d, "sizes", sizes);
    if (status == TSR_OK) status = dict_set_c_move(d, "numel", value_int(numel_of(c)));
    if (status == TSR_OK) status = holders_put_text(d, "data_type", "nullptr (uninitialized)");
    if (status == TSR_OK) status = holders_put_text(d, "device_opt", tsr_device_format(c->device, device));
    if (status == TSR_OK) status = dict_set_c(d, "Storage", VALUE_NONE);
    if (status == TSR_OK) return dict_set_c_move(dict, "TensorImpl", impl);
    value_release(impl);
    return status;
}

static TsrStatus c2_members(Value dict, Value v) {
    const C2Tensor *c = as_c2(v);
    if (c->t == NULL) return put_partial_impl(value_as_dict(dict), c);
    if (!c->no_data) return TSR_OK;
    TsrText text = {0};
    TsrStatus status =
        tsr_text_printf(&text, "%s, past its memory: mutable_data allocates", tsr_layout_text(c->ndim, c->sizes));
    if (status == TSR_OK) status = holders_put_text(value_as_dict(dict), "resized_to", text.data);
    tsr_text_free(&text);
    return status;
}

void caffe2_tensor_startup(void) {
    static const WhoWrapper wrapper = {.type = &caffe2_tensor_type,
                                       .name = "caffe2::Tensor",
                                       .get = c2_impl,
                                       .operand = c2_operand,
                                       .owns = c2_owns,
                                       .shell = c2_shell,
                                       .members = c2_members};
    holders_register_wrapper(&wrapper);
}
