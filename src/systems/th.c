/* TH handles: records of raw references to tensors and storages, one record a tensor. Functions of TH are found by
 * name in a table of rows; retain and free change the record's count, and the record of a handle that nobody can free
 * any more is listed as a leak. */
#include "th_impl.h"

#include <stdio.h>
#include <string.h>

#include "lang/object/args.h"
#include "torch/bind/bind.h"
#include "core/backend.h"
#include "core/base/embed.h"
#include "core/view.h"
#include "lang/modules/namespace.h"
#include "lang/types/numbers.h"
#include "lang/vm/prelude.h"
#include "lang/types/sequences.h"
#include "lang/types/str.h"
#include "torch/tensor/tensor_from.h"
#include "torch/types.h"
#include "lang/vm/vm.h"
#include "torch/holders.h"

PRELUDE_EMBED(prelude_thnn, "src/systems/prelude/thnn.tsr");
static const PreludeSource thnn_source = {"THNN", "<prelude thnn>", prelude_thnn, prelude_thnn_end,
                                          "torch math F=torch.nn.functional TH"};

enum { MAX_RAW = 4096 };

static Record *records; /* newest first */
static int last_number;

/* ---- records ---- */

static void record_unlink(Record *r) {
    if (r->prev != NULL) r->prev->next = r->next;
    else records = r->next;
    if (r->next != NULL) r->next->prev = r->prev;
    tsr_tensor_weak_free(r->lender);
    tsr_free(r->lines);
    tsr_free(r);
}

static void record_drop_if_unused(Record *r) {
    if (r->raw == 0 && r->handle == NULL) record_unlink(r);
}

static TsrStatus record_new(Record **out) {
    Record *r = tsr_calloc(1, sizeof *r);
    if (r == NULL) return mem_error();
    r->number = ++last_number;
    r->next = records;
    if (records != NULL) records->prev = r;
    records = r;
    *out = r;
    return TSR_OK;
}

/* One raw reference more; the reference itself is the caller's to have made. */
static TsrStatus record_add_raw(Record *r) {
    if (r->raw >= MAX_RAW) return tsr_error(TSR_TH_ERROR, "handle #%d has %d references already", r->number, r->raw);
    TSR_TRY(mem_grow(&r->lines, &r->capacity, r->raw + 1, sizeof *r->lines));
    r->lines[r->raw++] = vm_current_line();
    return TSR_OK;
}

void th_release_raw(Record *r) {
    r->raw--;
    if (r->t != NULL) {
        TsrTensor *t = r->t;
        if (r->raw == 0) r->t = NULL;
        tsr_tensor_free(t);
    } else {
        TsrStorage *s = r->storage;
        if (r->raw == 0) r->storage = NULL;
        tsr_storage_free(s);
    }
    if (r->raw == 0) r->freed_line = vm_current_line();
}

/* ---- handle values ---- */

static void handle_destroy(Obj *self) {
    Record *r = ((Handle *)self)->record;
    if (r != NULL) {
        r->handle = NULL;
        record_drop_if_unused(r);
    }
    obj_free(self, sizeof(Handle));
}

/* The same pointer is the same value: a retained or contiguous tensor comes back as the handle that it was. */
static TsrStatus handle_get(Value *out, Record *r) {
    if (r->handle != NULL) {
        *out = value_retain(value_lent(r->handle));
        return TSR_OK;
    }
    Handle *h = obj_new(&th_handle_type, sizeof *h);
    if (h == NULL) return mem_error();
    h->record = r;
    r->handle = h;
    *out = value_obj_move(h);
    return TSR_OK;
}

static TsrStatus gone(const Record *r) {
    if (r->lender != NULL) return th_fail("storage handle #%d was lent by a tensor that is gone", r->number);
    return th_fail("handle #%d was freed at line %d", r->number, r->freed_line);
}

static bool record_alive(const Record *r) {
    return r->raw > 0 || (r->lender != NULL && tsr_tensor_weak_alive(r->lender));
}

/* "Float", "CudaLong": the world's and the elements' name; CUDA's floats have none. */
static const char *world_name(TsrDevice device) { return device.type == TSR_CUDA ? "Cuda" : ""; }
static const char *element_name(TsrDevice device, TsrDtype dtype) {
    return device.type == TSR_CUDA && dtype == TSR_FLOAT32 ? "" : th_name(dtype);
}

static TsrStatus handle_repr(TsrText *out, Value self) {
    const Record *r = th_record(self);
    if (!record_alive(r)) return tsr_text_printf(out, "TH handle #%d (freed at line %d)", r->number, r->freed_line);
    if (r->t == NULL) {
        const TsrStorage *s = r->lender != NULL ? r->lender->storage : r->storage;
        return tsr_text_printf(out, "TH%s%sStorage #%d [%lld] refcount %d", world_name(s->ptr.device),
                               element_name(s->ptr.device, r->element), r->number,
                               (long long)(s->nbytes / tsr_dtype_size(r->element)), (int)tsr_storage_refcount(s));
    }
    TSR_TRY(tsr_text_printf(out, "TH%s%sTensor #%d [", world_name(r->t->device),
                            element_name(r->t->device, r->t->dtype), r->number));
    for (int d = 0; d < tsr_ndim(r->t); d++)
        TSR_TRY(tsr_text_printf(out, d > 0 ? "x%lld" : "%lld", (long long)r->t->sizes[d]));
    return tsr_text_printf(out, "] refcount %d", (int)tsr_tensor_refcount(r->t));
}

/* The document's own rule. */
static TsrStatus handle_attr(Value *out, Value self, Str *name) {
    (void)out;
    if (name->size > 2 && name->data[0] == '_' && name->data[1] == '_') return *out = VALUE_UNBOUND, TSR_OK;
    tsr_error(TSR_ATTRIBUTE_ERROR,
              "a TH handle has no attribute '%s': DO NOT directly access the member variables of the struct",
              name->data);
    tsr_error_hint("ask a function of the namespace, TH.size(h, dim) say; TH.tensor(h) gives a tensor");
    (void)self;
    return TSR_ATTRIBUTE_ERROR;
}

static TsrStatus handle_compare(Value *out, CompareOp op, Value a, Value b) {
    *out = VALUE_UNBOUND;
    if (th_is_handle(a) && th_is_handle(b) && (op == CMP_EQ || op == CMP_NE))
        *out = value_bool((th_record(a) == th_record(b)) == (op == CMP_EQ));
    return TSR_OK;
}

static TsrStatus handle_hash(int64_t *out, Value self) { return *out = th_record(self)->number, TSR_OK; }

Type th_handle_type = {.obj = TYPE_HEADER,
                       .name = "THTensor",
                       .module = "TH",
                       .destroy = handle_destroy,
                       .repr = handle_repr,
                       .get_attr = handle_attr,
                       .compare = handle_compare,
                       .hash = handle_hash};

/* ---- arguments and results ---- */

TsrStatus th_tensor_arg(TsrTensor **lent, Value v, const char *fn) {
    if (th_is_handle(v)) {
        Record *r = th_record(v);
        if (!record_alive(r)) return gone(r);
        if (r->t == NULL) return tsr_error(TSR_TYPE_ERROR, "%s: handle #%d is a storage, not a tensor", fn, r->number);
        *lent = r->t;
        return TSR_OK;
    }
    TSR_TRY(bind_tensor_of(lent, v));
    return *lent != NULL
               ? TSR_OK
               : tsr_error(TSR_TYPE_ERROR, "%s: expected a TH handle or a tensor, not %s", fn, value_type_name(v));
}

TsrStatus th_dense_arg(TsrTensor **lent, Value v, const char *fn) {
    TSR_TRY(th_tensor_arg(lent, v, fn));
    return (*lent)->storage != NULL && tsr_is_defined(*lent)
               ? TSR_OK
               : th_fail("%s: a%s tensor has no storage", fn, tsr_is_sparse(*lent) ? " sparse" : "n undefined");
}

static TsrStatus storage_arg(TsrStorage **lent, Value v, const char *fn) {
    if (!th_is_handle(v))
        return tsr_error(TSR_TYPE_ERROR, "%s: expected a TH storage handle, not %s", fn, value_type_name(v));
    Record *r = th_record(v);
    if (!record_alive(r)) return gone(r);
    *lent = r->lender != NULL ? r->lender->storage : r->storage;
    return *lent != NULL ? TSR_OK
                         : tsr_error(TSR_TYPE_ERROR, "%s: handle #%d is a tensor, not a storage", fn, r->number);
}

static Record *record_for(const TsrTensor *t) {
    for (Record *r = records; r != NULL; r = r->next)
        if (r->t == t) return r;
    return NULL;
}

TsrStatus th_give_tensor_move(Value *out, TsrTensor *t) {
    Record *r = record_for(t);
    bool fresh = r == NULL;
    TsrStatus status = fresh ? record_new(&r) : TSR_OK;
    if (status == TSR_OK) status = record_add_raw(r);
    if (status == TSR_OK) {
        r->t = t;
        tsr_trace(TSR_TRACE_WRAP, "raw handle", "owned", 0, t, NULL);
        status = handle_get(out, r);
        if (status != TSR_OK) th_release_raw(r);
    } else {
        tsr_tensor_free(t);
    }
    if (status != TSR_OK && r != NULL) record_drop_if_unused(r);
    return status;
}

static TsrStatus give_storage_move(Value *out, TsrStorage *s, TsrDtype element) {
    Record *r = NULL;
    TsrStatus status = record_new(&r);
    if (status == TSR_OK) status = record_add_raw(r);
    if (status != TSR_OK) {
        tsr_storage_free(s);
        if (r != NULL) record_drop_if_unused(r);
        return status;
    }
    r->storage = s;
    r->element = element;
    status = handle_get(out, r);
    if (status != TSR_OK) {
        th_release_raw(r);
        record_drop_if_unused(r);
    }
    return status;
}

static TsrStatus sizes_arg(int64_t *out, int *n, Value v, const char *fn) {
    const Value *items;
    int64_t count;
    if (th_is_handle(v)) { /* a LongStorage, as setStorage and newInferSize pass sizes */
        TsrStorage *s;
        TSR_TRY(storage_arg(&s, v, fn));
        *n = (int)TSR_MIN((int64_t)(s->nbytes / sizeof(int64_t)), (int64_t)TSR_MAX_DIMS);
        if (th_record(v)->element != TSR_INT64)
            return tsr_error(TSR_TYPE_ERROR, "%s: sizes are a LongStorage, not a %sStorage", fn,
                             th_name(th_record(v)->element));
        return tsr_device_copy(out, TSR_DEVICE_CPU, s->ptr.data, s->ptr.device, (size_t)*n * sizeof(int64_t));
    }
    if (!value_as_array(v, &items, &count)) {
        items = &v;
        count = 1;
    }
    if (count > TSR_MAX_DIMS) return th_fail("%s: more than %d dimensions", fn, TSR_MAX_DIMS);
    for (int64_t i = 0; i < count; i++) TSR_TRY(value_to_index(&out[i], items[i]));
    *n = (int)count;
    return TSR_OK;
}

static TsrStatus dtype_keyword(TsrDtype *out, const CallArgs *args, const char *fn) {
    Value v = args_keyword(args, "dtype");
    TSR_TRY(args_only_keywords(args, fn, (const char *const[]){"dtype"}, 1));
    *out = tsr_default_dtype();
    if (v.tag <= V_NONE) return TSR_OK;
    return dtype_from_value(out, v)
               ? TSR_OK
               : tsr_error(TSR_TYPE_ERROR, "%s: dtype must be a dtype, not %s", fn, value_type_name(v));
}

static TsrStatus int_arg(int64_t *out, const CallArgs *args, int i) { return value_to_index(out, args->values[i]); }

/* Where new memory comes from: the cuda device during a call of THC. */
static TsrDevice th_device = {TSR_CPU, -1};

/* ---- new... ---- */

static TsrStatus th_new(Value *out, const CallArgs *args) {
    TsrTensor *t;
    TsrDtype dtype;
    int64_t none = 0;
    TSR_TRY(dtype_keyword(&dtype, args, "TH.new"));
    TSR_TRY(tsr_tensor_new(&t, 1, &none, dtype, th_device));
    t->origin = "new";
    return th_give_tensor_move(out, t);
}

/* The same contents every time, where the host reaches the memory. */
static void zero_memory(TsrStorage *s, TsrDtype dtype) {
    if (tsr_dtype_is_pod(dtype) && s->ptr.data != NULL && s->ptr.device.type == TSR_CPU)
        memset(s->ptr.data, 0, s->nbytes);
}

static TsrStatus th_new_with_size(Value *out, const CallArgs *args) {
    TsrTensor *t;
    TsrDtype dtype;
    int64_t sizes[TSR_MAX_DIMS];
    int n;
    TSR_TRY(args_count(args, 0, 1, 1, "newWithSize"));
    TSR_TRY(dtype_keyword(&dtype, args, "TH.newWithSize"));
    TSR_TRY(sizes_arg(sizes, &n, args->values[0], "TH.newWithSize"));
    TSR_TRY(tsr_tensor_new(&t, n, sizes, dtype, th_device));
    zero_memory(t->storage, dtype);
    t->origin = "newWithSize";
    return th_give_tensor_move(out, t);
}

/* A view or copy of the first argument, made by `make`. */
#define NEW_FROM(name, call) \
    static TsrStatus th_##name(Value *out, const CallArgs *args) { \
        TsrTensor *self, *t; \
        int64_t a[3] = {0}; \
        TSR_TRY(th_dense_arg(&self, args->values[0], "TH." #name)); \
        for (int i = 1; i < args->count && i < 4; i++) TSR_TRY(int_arg(&a[i - 1], args, i)); \
        TSR_TRY(call); \
        return th_give_tensor_move(out, t); \
    }

NEW_FROM(newWithTensor, tsr_tensor_new_alias(&t, self))
NEW_FROM(newClone, tsr_tensor_new_clone(&t, self, TSR_CONTIGUOUS))
/* Of a tensor of either world, in the one that is called. */
static TsrStatus new_copy(TsrTensor **out, const TsrTensor *self) {
    TSR_TRY(tsr_tensor_new(out, tsr_ndim(self), self->sizes, self->dtype, th_device));
    TsrStatus status = tsr_tensor_copy(*out, self);
    if (status != TSR_OK) tsr_tensor_free(*out);
    return status;
}
NEW_FROM(newCopy, new_copy(&t, self))
NEW_FROM(newContiguous, tsr_tensor_new_contiguous(&t, self, TSR_CONTIGUOUS))
NEW_FROM(newSelect, tsr_tensor_new_select(&t, self, a[0], a[1]))
NEW_FROM(newNarrow, tsr_tensor_new_narrow(&t, self, a[0], a[1], a[2]))
NEW_FROM(newTranspose, tsr_tensor_new_transpose(&t, self, a[0], a[1]))
NEW_FROM(newUnfold, tsr_tensor_new_unfold(&t, self, a[0], a[1], a[2]))

static TsrStatus new_with_sizes(Value *out, const CallArgs *args, const char *fn,
                                TsrStatus (*make)(TsrTensor **, const TsrTensor *, int, const int64_t *)) {
    TsrTensor *self, *t;
    int64_t sizes[TSR_MAX_DIMS];
    int n;
    TSR_TRY(th_dense_arg(&self, args->values[0], fn));
    TSR_TRY(sizes_arg(sizes, &n, args->values[1], fn));
    TSR_TRY(make(&t, self, n, sizes));
    return th_give_tensor_move(out, t);
}

static TsrStatus th_new_view(Value *out, const CallArgs *args) {
    return new_with_sizes(out, args, "TH.newView", tsr_tensor_new_reshaped_view);
}
static TsrStatus th_new_expand(Value *out, const CallArgs *args) {
    return new_with_sizes(out, args, "TH.newExpand", tsr_tensor_new_expand);
}

/* newWithStorage(storage, offset, sizes, strides=None) */
static TsrStatus th_new_with_storage(Value *out, const CallArgs *args) {
    TsrStorage *s;
    TsrTensor *t;
    int64_t offset = 0, sizes[TSR_MAX_DIMS], strides[TSR_MAX_DIMS];
    int n, m;
    TSR_TRY(storage_arg(&s, args->values[0], "TH.newWithStorage"));
    if (args->count > 1) TSR_TRY(int_arg(&offset, args, 1));
    TsrDtype element = th_record(args->values[0])->element;
    sizes[0] = (int64_t)(s->nbytes / tsr_dtype_size(element)) - offset;
    n = 1;
    if (args->count > 2) TSR_TRY(sizes_arg(sizes, &n, args->values[2], "TH.newWithStorage"));
    tsr_layout_contiguous_strides(strides, n, sizes);
    if (args->count > 3 && args->values[3].tag > V_NONE) {
        TSR_TRY(sizes_arg(strides, &m, args->values[3], "TH.newWithStorage"));
        if (m != n) return th_fail("newWithStorage: %d sizes and %d strides", n, m);
    }
    TSR_TRY(tsr_tensor_new_over(&t, s, (TsrGeometry){n, sizes, strides, offset}, element));
    t->origin = "newWithStorage";
    return th_give_tensor_move(out, t);
}

/* ---- retain, free, move ---- */

TsrStatus th_retain(Value *out, const CallArgs *args) {
    TsrTensor *t;
    TSR_TRY(th_tensor_arg(&t, args->values[0], "TH.retain"));
    return th_give_tensor_move(out, tsr_tensor_retain(t));
}

static TsrStatus free_record(Record *r) {
    if (r->raw > 0) {
        th_release_raw(r);
        return TSR_OK;
    }
    if (r->lender != NULL)
        return th_fail(
            "storage handle #%d is lent by its tensor: it is not yours to free (Storage_retain gives a reference)",
            r->number);
    return th_fail("handle #%d was freed already, at line %d", r->number, r->freed_line);
}

TsrStatus th_free(Value *out, const CallArgs *args) {
    Value v = args->values[0];
    TsrTensor *t;
    *out = VALUE_NONE;
    if (v.tag == V_NONE) return TSR_OK; /* as free(NULL) */
    if (th_is_handle(v)) return free_record(th_record(v));
    TSR_TRY(th_tensor_arg(&t, v, "TH.free"));
    Record *r = record_for(t);
    if (r == NULL) return th_fail("this tensor has no raw reference to free: its names count by themselves");
    TSR_TRY(free_record(r));
    record_drop_if_unused(r);
    return TSR_OK;
}

/* Moves the reference out of the handle: the result owns it, the handle must not be freed. */
static TsrStatus th_move(Value *out, const CallArgs *args) {
    TsrTensor *t;
    TSR_TRY(th_tensor_arg(&t, args->values[0], "TH.move"));
    if (!th_is_handle(args->values[0])) return th_fail("TH.move: only a raw reference can be moved");
    *out = value_tensor_move(tsr_tensor_retain(t));
    th_release_raw(th_record(args->values[0]));
    return TSR_OK;
}

static TsrStatus th_free_copy_to(Value *out, const CallArgs *args) {
    TsrTensor *self, *dst;
    TSR_TRY(th_dense_arg(&self, args->values[0], "TH.freeCopyTo"));
    TSR_TRY(th_dense_arg(&dst, args->values[1], "TH.freeCopyTo"));
    if (!th_is_handle(args->values[0]))
        return th_fail("TH.freeCopyTo: the first argument must be a handle with a reference to free");
    *out = VALUE_NONE;
    if (self != dst) {
        TSR_TRY(tsr_tensor_check(dst, true));
        TSR_TRY(tsr_tensor_copy(dst, self));
        tsr_tensor_bump(dst, "freeCopyTo");
    }
    return free_record(th_record(args->values[0]));
}

TsrStatus th_tensor(Value *out, const CallArgs *args) {
    TsrTensor *t;
    TSR_TRY(th_tensor_arg(&t, args->values[0], "TH.tensor"));
    *out = value_tensor_move(tsr_tensor_retain(t));
    return TSR_OK;
}

static TsrStatus th_error(Value *out, const CallArgs *args) {
    TsrText text = {0};
    (void)out;
    TsrStatus status = value_str(&text, args->values[0]);
    if (status == TSR_OK) status = th_fail("%s", text.data != NULL ? text.data : "");
    tsr_text_free(&text);
    return status;
}

/* ---- changing, reading ---- */

static TsrStatus th_resize(Value *out, const CallArgs *args) {
    TsrTensor *t;
    int64_t sizes[TSR_MAX_DIMS], numel;
    int n;
    TSR_TRY(th_dense_arg(&t, args->values[0], "TH.resize"));
    TSR_TRY(sizes_arg(sizes, &n, args->values[1], "TH.resize"));
    TSR_TRY(tsr_layout_numel(&numel, n, sizes));
    TSR_TRY(tsr_tensor_resize(t, n, sizes, TSR_CONTIGUOUS));
    *out = VALUE_NONE;
    return TSR_OK;
}

static TsrStatus th_set(Value *out, const CallArgs *args) {
    TsrTensor *t, *src;
    TSR_TRY(th_dense_arg(&t, args->values[0], "TH.set"));
    TSR_TRY(th_dense_arg(&src, args->values[1], "TH.set"));
    if (t->dtype != src->dtype)
        return th_fail("set: a TH%sTensor can't look at a TH%sTensor's storage", th_name(t->dtype),
                       th_name(src->dtype));
    TSR_TRY(tsr_tensor_set_storage(t, src->storage, tsr_tensor_geometry(src)));
    *out = VALUE_NONE;
    return TSR_OK;
}

/* setStorage(self, storage, offset, sizes, strides=None) */
static TsrStatus th_set_storage(Value *out, const CallArgs *args) {
    TsrTensor *t;
    TsrStorage *s;
    int64_t offset, sizes[TSR_MAX_DIMS], strides[TSR_MAX_DIMS];
    int n, m;
    TSR_TRY(th_dense_arg(&t, args->values[0], "TH.setStorage"));
    TSR_TRY(storage_arg(&s, args->values[1], "TH.setStorage"));
    TSR_TRY(int_arg(&offset, args, 2));
    TSR_TRY(sizes_arg(sizes, &n, args->values[3], "TH.setStorage"));
    tsr_layout_contiguous_strides(strides, n, sizes);
    if (args->count > 4 && args->values[4].tag > V_NONE) {
        TSR_TRY(sizes_arg(strides, &m, args->values[4], "TH.setStorage"));
        if (m != n) return th_fail("setStorage: %d sizes and %d strides", n, m);
    }
    TSR_TRY(tsr_tensor_set_storage(t, s, (TsrGeometry){n, sizes, strides, offset}));
    *out = VALUE_NONE;
    return TSR_OK;
}

static TsrStatus th_is_contiguous(Value *out, const CallArgs *args) {
    TsrTensor *t;
    TSR_TRY(th_dense_arg(&t, args->values[0], "TH.isContiguous"));
    *out = value_bool(tsr_is_contiguous(t, TSR_CONTIGUOUS));
    return TSR_OK;
}

static TsrStatus th_n_dimension(Value *out, const CallArgs *args) {
    TsrTensor *t;
    TSR_TRY(th_tensor_arg(&t, args->values[0], "TH.nDimension"));
    *out = value_int(tsr_ndim(t));
    return TSR_OK;
}

static TsrStatus th_storage_offset(Value *out, const CallArgs *args) {
    TsrTensor *t;
    TSR_TRY(th_tensor_arg(&t, args->values[0], "TH.storageOffset"));
    *out = value_int(t->offset);
    return TSR_OK;
}

static TsrStatus th_n_element(Value *out, const CallArgs *args) {
    TsrTensor *t;
    TSR_TRY(th_tensor_arg(&t, args->values[0], "TH.nElement"));
    *out = value_int(t->numel);
    return TSR_OK;
}

static TsrStatus dim_of(Value *out, const CallArgs *args, const char *fn, bool strides) {
    TsrTensor *t;
    int64_t dim;
    TSR_TRY((strides ? th_dense_arg : th_tensor_arg)(&t, args->values[0], fn));
    const int64_t *items = strides ? t->strides : t->sizes;
    if (args->count == 1) return size_new(out, items, tsr_ndim(t));
    TSR_TRY(int_arg(&dim, args, 1));
    if (dim < 0 || dim >= tsr_ndim(t))
        return th_fail("dimension %lld out of range of %dD tensor", (long long)dim, tsr_ndim(t));
    *out = value_int(items[dim]);
    return TSR_OK;
}

static TsrStatus th_size(Value *out, const CallArgs *args) { return dim_of(out, args, "TH.size", false); }
static TsrStatus th_stride(Value *out, const CallArgs *args) { return dim_of(out, args, "TH.stride", true); }

/* Lent: no reference, valid while the tensor is. */
static TsrStatus th_storage(Value *out, const CallArgs *args) {
    TsrTensor *t;
    Record *r;
    TSR_TRY(th_dense_arg(&t, args->values[0], "TH.storage"));
    TSR_TRY(record_new(&r));
    r->lender = tsr_tensor_weak_new(t);
    r->element = t->dtype;
    TsrStatus status = handle_get(out, r);
    if (status != TSR_OK) record_drop_if_unused(r);
    return status;
}

/* ---- storages ---- */

static TsrStatus th_storage_new_with_size(Value *out, const CallArgs *args) {
    int64_t n, bytes;
    TsrDtype dtype;
    TsrStorage *s;
    TSR_TRY(args_count(args, 0, 1, 1, "Storage_newWithSize"));
    TSR_TRY(dtype_keyword(&dtype, args, "TH.Storage_newWithSize"));
    TSR_TRY(int_arg(&n, args, 0));
    if (n < 0 || tsr_mul_overflows(n, (int64_t)tsr_dtype_size(dtype), &bytes))
        return th_fail("Storage_newWithSize: invalid size %lld", (long long)n);
    TSR_TRY(tsr_storage_new(&s, th_device, (uint64_t)bytes, dtype));
    zero_memory(s, dtype);
    return give_storage_move(out, s, dtype);
}

/* newInferSize(size, numel): the sizes with one -1 worked out, as a LongStorage of one's own. */
static TsrStatus th_storage_new_infer_size(Value *out, const CallArgs *args) {
    int64_t sizes[TSR_MAX_DIMS], inferred[TSR_MAX_DIMS], numel;
    int n;
    TsrStorage *s;
    TSR_TRY(sizes_arg(sizes, &n, args->values[0], "TH.Storage_newInferSize"));
    TSR_TRY(int_arg(&numel, args, 1));
    if (tsr_layout_infer_size(inferred, n, sizes, numel) != TSR_OK) {
        char text[512];
        snprintf(text, sizeof text, "%s", tsr_error_message());
        return th_fail("newInferSize: %s", text);
    }
    TSR_TRY(tsr_storage_new(&s, TSR_DEVICE_CPU, (size_t)n * sizeof(int64_t), TSR_INT64));
    if (n > 0) memcpy(s->ptr.data, inferred, (size_t)n * sizeof(int64_t));
    return give_storage_move(out, s, TSR_INT64);
}

static TsrStatus th_storage_retain(Value *out, const CallArgs *args) {
    TsrStorage *s;
    TSR_TRY(storage_arg(&s, args->values[0], "TH.Storage_retain"));
    Record *r = th_record(args->values[0]);
    if (r->lender != NULL) return give_storage_move(out, tsr_storage_retain(s), r->element);
    TSR_TRY(record_add_raw(r));
    tsr_storage_retain(s);
    *out = value_retain(args->values[0]);
    return TSR_OK;
}

static TsrStatus th_storage_free(Value *out, const CallArgs *args) {
    *out = VALUE_NONE;
    if (!th_is_handle(args->values[0]))
        return tsr_error(TSR_TYPE_ERROR, "TH.Storage_free: expected a TH storage handle, not %s",
                         value_type_name(args->values[0]));
    return free_record(th_record(args->values[0]));
}

/* ---- who holds, what leaks ---- */

static void visit_raw(WhoVisit visit, WhoVisitStorage visit_storage, void *context) {
    char name[64];
    for (Record *r = records; r != NULL; r = r->next)
        for (int i = 0; i < r->raw; i++) {
            snprintf(name, sizeof name, "TH#%d line %d", r->number, r->lines[i]);
            if (r->t == NULL) visit_storage(name, r->storage, context);
            else if (!visit(name, r->t, false, context)) return;
        }
}

static TsrStatus list_leaks(List *out) {
    for (Record *r = records; r != NULL; r = r->next)
        for (int i = 0; r->handle == NULL && i < r->raw; i++) {
            Value text;
            TsrDevice device = r->t != NULL ? r->t->device : r->storage->ptr.device;
            TSR_TRY(str_new_format(&text, "TH%s%s%s #%d of line %d was never freed", world_name(device),
                                   element_name(device, r->t != NULL ? r->t->dtype : r->element),
                                   r->t != NULL ? "Tensor" : "Storage", r->number, r->lines[i]));
            TSR_TRY(list_append_move(out, text));
        }
    return TSR_OK;
}

static TsrStatus handle_tensor(TsrTensor **lent, Value v) { return th_tensor_arg(lent, v, "TH"); }
static bool handle_owns(Value v) { return (void)v, false; } /* its raw references are visited on their own */

/* ---- the tables ---- */

static const Method th_functions[] = {
    {"new", th_new, ARGS_ANY, 0, 0, "(*, dtype=None)", "An empty tensor; free it."},
    {"newWithSize", th_new_with_size, ARGS_ANY, 1, 1, "(sizes, *, dtype=None)", "A tensor of zeros; free it."},
    {"newWithTensor", th_newWithTensor, ARGS_RANGE, 1, 1, "(t)", "A new tensor over t's storage; free it."},
    {"newWithStorage", th_new_with_storage, ARGS_RANGE, 1, 4, "(storage, offset=0, sizes=None, strides=None)",
     "A tensor over a storage; free it."},
    {"newClone", th_newClone, ARGS_RANGE, 1, 1, "(t)", "A copy; free it."},
    {"newCopy", th_newCopy, ARGS_RANGE, 1, 1, "(t)",
     "A copy on the host, of a tensor that may be on a device; free it."},
    {"newContiguous", th_newContiguous, ARGS_RANGE, 1, 1, "(t)",
     "t itself with one reference more when contiguous, else a copy; free it either way."},
    {"newSelect", th_newSelect, ARGS_RANGE, 3, 3, "(t, dim, index)", "The slice at an index; free it."},
    {"newNarrow", th_newNarrow, ARGS_RANGE, 4, 4, "(t, dim, first, size)", "A part of a dimension; free it."},
    {"newTranspose", th_newTranspose, ARGS_RANGE, 3, 3, "(t, dim0, dim1)", "Two dimensions swapped; free it."},
    {"newUnfold", th_newUnfold, ARGS_RANGE, 4, 4, "(t, dim, size, step)", "Windows along a dimension; free it."},
    {"newView", th_new_view, ARGS_RANGE, 2, 2, "(t, sizes)", "The same elements in other sizes; free it."},
    {"newExpand", th_new_expand, ARGS_RANGE, 2, 2, "(t, sizes)", "Broadcast to sizes; free it."},
    {"retain", th_retain, ARGS_RANGE, 1, 1, "(t)", "One reference more; free it."},
    {"free", th_free, ARGS_RANGE, 1, 1, "(t)", "Gives one reference back."},
    {"decref", th_free, ARGS_RANGE, 1, 1, "(t)", "free by its newer name (c10::raw::intrusive_ptr::decref)."},
    {"freeCopyTo", th_free_copy_to, ARGS_RANGE, 2, 2, "(t, dst)", "Copies t into dst, then frees t."},
    {"move", th_move, ARGS_RANGE, 1, 1, "(t)", "Moves the reference into a tensor: t must not be freed."},
    {"tensor", th_tensor, ARGS_RANGE, 1, 1, "(t)", "The tensor of a handle: one reference more, counted by itself."},
    {"error", th_error, ARGS_RANGE, 1, 1, "(msg)", "Raises THError, or does what setErrorHandler set."},
    {"setErrorHandler", th_set_error_handler, ARGS_RANGE, 1, 1, "(handler)",
     "Sets what an error of TH calls with its message, and returns what was set: THError, which is raised. None is "
     "torch7's default: the message is printed and the process aborts, here as by sys.exit(134)."},
    {"resize", th_resize, ARGS_RANGE, 2, 2, "(t, sizes)", "New sizes, growing the storage when needed."},
    {"set", th_set, ARGS_RANGE, 2, 2, "(t, src)", "Makes t look at src's storage, as src does."},
    {"setStorage", th_set_storage, ARGS_RANGE, 4, 5, "(t, storage, offset, sizes, strides=None)",
     "Makes t look at a storage."},
    {"isContiguous", th_is_contiguous, ARGS_RANGE, 1, 1, "(t)",
     "Whether its elements lie in row-major order without gaps."},
    {"nDimension", th_n_dimension, ARGS_RANGE, 1, 1, "(t)", "How many dimensions."},
    {"nElement", th_n_element, ARGS_RANGE, 1, 1, "(t)", "How many elements."},
    {"size", th_size, ARGS_RANGE, 1, 2, "(t, dim=None)", "A size, or all."},
    {"stride", th_stride, ARGS_RANGE, 1, 2, "(t, dim=None)", "A stride in elements, or all."},
    {"storageOffset", th_storage_offset, ARGS_RANGE, 1, 1, "(t)", "Where its elements begin in the storage."},
    {"storage", th_storage, ARGS_RANGE, 1, 1, "(t)", "Its storage, lent: not yours to free."},
    {"Storage_newWithSize", th_storage_new_with_size, ARGS_ANY, 1, 1, "(size, *, dtype=None)",
     "A storage of zeros; Storage_free it."},
    {"Storage_newInferSize", th_storage_new_infer_size, ARGS_RANGE, 2, 2, "(sizes, numel)",
     "The sizes with one -1 worked out, as a LongStorage; Storage_free it."},
    {"Storage_retain", th_storage_retain, ARGS_RANGE, 1, 1, "(storage)", "One reference more; Storage_free it."},
    {"Storage_free", th_storage_free, ARGS_RANGE, 1, 1, "(storage)", "Gives one reference back."},
    {0},
};

/* THC and THCS are the same functions where there is a CUDA device; those that take new memory take it there. */
static TsrStatus on_cuda(Value *out, const CallArgs *args, TsrStatus (*call)(Value *, const CallArgs *)) {
    th_device = (TsrDevice){TSR_CUDA, -1};
    TsrStatus status = call(out, args);
    th_device = TSR_DEVICE_CPU;
    return status;
}

static TsrStatus thc_new(Value *out, const CallArgs *args) { return on_cuda(out, args, th_new); }
static TsrStatus thc_new_with_size(Value *out, const CallArgs *args) { return on_cuda(out, args, th_new_with_size); }
static TsrStatus thc_storage_new_with_size(Value *out, const CallArgs *args) {
    return on_cuda(out, args, th_storage_new_with_size);
}

static TsrStatus thc_new_copy(Value *out, const CallArgs *args) { return on_cuda(out, args, th_newCopy); }

static const Method thc_functions[] = {
    {"newCopy", thc_new_copy, ARGS_RANGE, 1, 1, "(t)", "A copy on the device, of a tensor of either world; free it."},
    {"new", thc_new, ARGS_ANY, 0, 0, "(*, dtype=None)", "An empty tensor on the device; free it."},
    {"newWithSize", thc_new_with_size, ARGS_ANY, 1, 1, "(sizes, *, dtype=None)", "A tensor on the device; free it."},
    {"Storage_newWithSize", thc_storage_new_with_size, ARGS_ANY, 1, 1, "(size, *, dtype=None)",
     "A storage on the device; Storage_free it."},
    {0},
};

static const Method *find_function(const Method *table, const char *name) {
    while (table->name != NULL && strcmp(table->name, name) != 0) table++;
    return table->name != NULL ? table : NULL;
}

/* Where there is no device every name of theirs says so. */
static TsrStatus cuda_missing(Value *out, Module *module, Str *name) {
    const TsrBackend *backend;
    *out = VALUE_UNBOUND;
    if (name->data[0] == '_') return TSR_OK;
    const Method *method = str_equal_c(module->name, "THC") ? find_function(thc_functions, name->data)
                                                            : find_function(ths_functions, name->data);
    if (method == NULL && str_equal_c(module->name, "THC")) method = find_function(thc_device_functions, name->data);
    if (method == NULL && str_equal_c(module->name, "THC")) method = find_function(th_functions, name->data);
    if (method == NULL) return TSR_OK;
    TsrStatus status = tsr_backend_get(&backend, TSR_CUDA);
    if (status == TSR_OK) return native_new(out, method, NULL);
    char hint[400];
    snprintf(hint, sizeof hint, "%s", tsr_error_hint_text() != NULL ? tsr_error_hint_text() : "");
    tsr_error(TSR_RUNTIME_ERROR, "%s.%s: no CUDA device is available", module->name->data, name->data);
    tsr_error_hint("%s", hint);
    return TSR_RUNTIME_ERROR;
}

static TsrStatus fill_th(Module *m) { return module_add_functions(m, th_functions); }
static TsrStatus fill_ths(Module *m) { return module_add_functions(m, ths_functions); }

static TsrStatus append_names(List *out, const Method *table) {
    for (; table->name != NULL; table++) TSR_TRY(list_append_c(out, table->name));
    return TSR_OK;
}

static TsrStatus cuda_names(List *out, Module *module) {
    if (str_equal_c(module->name, "THCS")) return append_names(out, ths_functions);
    TSR_TRY(append_names(out, thc_functions));
    return append_names(out, th_functions);
}

static TsrStatus thnn_missing(Value *out, Module *module, Str *name) {
    (void)module;
    return prelude_get(out, "THNN", name->data);
}
static TsrStatus thnn_names(List *out, Module *module) {
    (void)module;
    return prelude_append_names(out, "THNN");
}

TsrStatus ns_th_startup(void) {
    static const WhoWrapper wrapper = {
        .type = &th_handle_type, .name = "THTensor *", .get = handle_tensor, .owns = handle_owns};
    prelude_add(&thnn_source, 1);
    th_error_startup();
    holders_register_source(visit_raw);
    holders_register_wrapper(&wrapper);
    holders_register_leaks(list_leaks);
    TSR_TRY(namespace_add(&(Namespace){
        .name = "TH",
        .doc =
            "Tensors whose references are counted by hand: what a function called new... gives, or retain was called "
            "on, must be freed or returned.",
        .fill = fill_th}));
    TSR_TRY(
        namespace_add(&(Namespace){.name = "THS",
                                   .doc = "TH's sparse tensors, now defunct in PyTorch: indices and values as handles.",
                                   .fill = fill_ths}));
    TSR_TRY(namespace_add(
        &(Namespace){.name = "THC", .doc = "TH on a CUDA device.", .missing = cuda_missing, .names = cuda_names}));
    TSR_TRY(namespace_add(&(Namespace){.name = "THCS",
                                       .doc = "THS on a CUDA device, now defunct in PyTorch.",
                                       .missing = cuda_missing,
                                       .names = cuda_names}));
    TSR_TRY(namespace_add(
        &(Namespace){.name = "THNN",
                     .doc = "Functions of neural networks that write into an output, which they resize; now "
                            "defunct in PyTorch.",
                     .missing = thnn_missing,
                     .names = thnn_names}));
    return namespace_add_value("tsr", "THError", value_lent(&exc_types[TSR_TH_ERROR]), true);
}

void ns_th_shutdown(void) {
    th_error_shutdown();
    while (records != NULL) {
        Record *r = records;
        while (r->raw > 0) th_release_raw(r);
        if (r->handle != NULL) r->handle->record = NULL;
        record_unlink(r);
    }
}
