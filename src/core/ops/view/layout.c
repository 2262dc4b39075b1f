/* Operators that read or set a tensor's metadata, copy it, or convert it to another dtype or device. */
#include <stdio.h>
#include <string.h>

#include "core/backend.h"
#include "core/tensor/loan.h"
#include "core/mem.h"
#include "core/op.h"
#include "core/op/shared.h"
#include "core/tensor/inference.h"
#include "core/tensor/owned.h"

#define SELF (c->arg[0].t)

/* --- reading --- */

static TsrStatus return_ints(TsrOpCall *c, const int64_t *ints, int n) {
    int64_t *copy = tsr_malloc_array((size_t)n, sizeof *copy);
    if (copy == NULL) return tsr_error_no_memory((size_t)n * sizeof *copy);
    if (n > 0) memcpy(copy, ints, (size_t)n * sizeof *copy);
    c->ret[0] = (TsrArg){.kind = TSR_ARG_INTS, .n = n, .ints = copy};
    c->nret = 1;
    return TSR_OK;
}

static TsrStatus all_or_one(TsrOpCall *c, const int64_t *ints) {
    int64_t dim = c->arg[1].i;
    int n = tsr_ndim(SELF);
    if (!tsr_arg_given(&c->arg[1])) return return_ints(c, ints, n);
    TSR_TRY(tsr_wrap_own_dim(&dim, n));
    return tsr_return_int(c, ints[dim]);
}

TsrStatus op_size(TsrOpCall *c) { return all_or_one(c, SELF->sizes); }
TsrStatus op_stride(TsrOpCall *c) { return all_or_one(c, SELF->strides); }
TsrStatus op_storage_offset(TsrOpCall *c) { return tsr_return_int(c, SELF->offset); }
TsrStatus op_numel(TsrOpCall *c) { return tsr_return_int(c, SELF->numel); }
TsrStatus op_dim(TsrOpCall *c) { return tsr_return_int(c, tsr_ndim(SELF)); }
TsrStatus op_element_size(TsrOpCall *c) { return tsr_return_int(c, (int64_t)tsr_itemsize(SELF)); }
TsrStatus op_data_ptr(TsrOpCall *c) {
    return tsr_return_int(c, SELF->numel == 0 ? 0 : (int64_t)(intptr_t)tsr_data(SELF));
}
TsrStatus op_get_device(TsrOpCall *c) {
    return tsr_return_int(c, SELF->device.type == TSR_CPU ? -1 : SELF->device.index);
}
TsrStatus op_is_floating_point(TsrOpCall *c) { return tsr_return_bool(c, tsr_dtype_is_float(SELF->dtype)); }
TsrStatus op_is_complex(TsrOpCall *c) { return tsr_return_bool(c, tsr_dtype_is_complex(SELF->dtype)); }
TsrStatus op_is_signed(TsrOpCall *c) { return tsr_return_bool(c, tsr_dtype_is_signed(SELF->dtype)); }
TsrStatus op_is_conj(TsrOpCall *c) { return tsr_return_bool(c, (SELF->flags & TSR_FLAG_CONJ) != 0); }
TsrStatus op_is_neg(TsrOpCall *c) { return tsr_return_bool(c, (SELF->flags & TSR_FLAG_NEG) != 0); }
TsrStatus op_is_inference(TsrOpCall *c) { return tsr_return_bool(c, (SELF->flags & TSR_FLAG_INFERENCE) != 0); }
TsrStatus op_never(TsrOpCall *c) { return tsr_return_bool(c, false); }
/* Memory of a device counts as shared, as in PyTorch: other processes can be given it. */
TsrStatus op_is_shared(TsrOpCall *c) {
    return tsr_return_bool(c, SELF->storage != NULL && (SELF->storage->shared || tsr_device_has_backend(SELF->device)));
}

TsrStatus op_is_contiguous(TsrOpCall *c) {
    TsrMemoryFormat format = tsr_arg_given(&c->arg[1]) ? c->arg[1].format : TSR_CONTIGUOUS;
    return tsr_return_bool(c, tsr_is_contiguous(SELF, format));
}

static bool same_ints(const int64_t *a, const int64_t *b, int n) {
    return n == 0 || memcmp(a, b, (size_t)n * sizeof *a) == 0;
}
static bool same_size(const TsrTensor *a, const TsrTensor *b) {
    return tsr_ndim(a) == tsr_ndim(b) && same_ints(a->sizes, b->sizes, tsr_ndim(a));
}

TsrStatus op_is_same_size(TsrOpCall *c) { return tsr_return_bool(c, same_size(SELF, c->arg[1].t)); }
TsrStatus op_is_set_to(TsrOpCall *c) {
    const TsrTensor *a = SELF, *b = c->arg[1].t;
    if ((a->flags | b->flags) & (TSR_FLAG_CONJ | TSR_FLAG_NEG))
        return tsr_return_bool(c, false); /* PyTorch compares materialised copies of such views */
    return tsr_return_bool(c, a->storage == b->storage && a->offset == b->offset && same_size(a, b) &&
                                  same_ints(a->strides, b->strides, tsr_ndim(a)));
}

TsrStatus op_is_nonzero(TsrOpCall *c) {
    TsrScalar s;
    if (SELF->numel == 0) return tsr_error(TSR_RUNTIME_ERROR, "Boolean value of Tensor with no values is ambiguous");
    if (SELF->numel > 1)
        return tsr_error(TSR_RUNTIME_ERROR, "Boolean value of Tensor with more than one value is ambiguous");
    TSR_TRY(tsr_tensor_item(&s, SELF));
    if (s.kind == TSR_SCALAR_UINT) /* PyTorch asks whether it is 0 as an int64 */
        return tsr_error(TSR_RUNTIME_ERROR, "value cannot be converted to type int64_t without overflow");
    return tsr_return_bool(c, tsr_scalar_to_bool(s));
}

/* --- gradients: there are none --- */

TsrStatus op_requires_grad_inplace(TsrOpCall *c) {
    if (c->arg[1].b) {
        if (!tsr_dtype_is_float(SELF->dtype) && !tsr_dtype_is_complex(SELF->dtype))
            return tsr_error(TSR_RUNTIME_ERROR, "only Tensors of floating point dtype can require gradients");
        return tsr_error(TSR_NOT_IMPLEMENTED_ERROR, "tsr has no autograd: requires_grad=True is not supported");
    }
    return tsr_return_move(c, tsr_tensor_retain(SELF));
}

/* --- copies --- */

static TsrMemoryFormat format_or(const TsrArg *a, TsrMemoryFormat otherwise) {
    return tsr_arg_given(a) ? a->format : otherwise;
}

TsrStatus op_contiguous(TsrOpCall *c) {
    TsrTensor *t = NULL;
    TsrMemoryFormat format = format_or(&c->arg[1], TSR_CONTIGUOUS);
    if (format == TSR_PRESERVE && !tsr_is_contiguous(SELF, TSR_CONTIGUOUS))
        return tsr_error(TSR_RUNTIME_ERROR, "preserve memory format is unsupported by the contiguous operator");
    if (!tsr_is_contiguous(SELF, format))
        TSR_TRY(tsr_tensor_check(SELF, false)); /* what is returned as it is may lie in a storage that shrank */
    TsrStatus status = tsr_tensor_new_contiguous(&t, SELF, format);
    return tsr_finish_move(c, status, t);
}

TsrStatus op_clone(TsrOpCall *c) {
    TsrTensor *t = NULL;
    TsrStatus status = tsr_tensor_new_clone(&t, SELF, format_or(&c->arg[1], TSR_PRESERVE));
    return tsr_finish_move(c, status, t);
}

TsrStatus op_copy_inplace(TsrOpCall *c) {
    const TsrTensor *source = c->arg[1].t;
    if (tsr_is_meta(source) && !tsr_is_meta(SELF))
        return tsr_error(TSR_NOT_IMPLEMENTED_ERROR, "Cannot copy out of meta tensor; no data!");
    TSR_TRY(c->arg[2].b ? tsr_tensor_copy_later(SELF, source) : tsr_tensor_copy(SELF, source));
    return tsr_return_move(c, tsr_tensor_retain(SELF));
}

/* --- conversions --- */

enum { TYPE_NAME_ROOM = 48 };

/* "torch.FloatTensor", "torch.cuda.FloatTensor" into `buffer` of TYPE_NAME_ROOM bytes. Returns buffer. */
static char *type_name(char *buffer, uint8_t device, TsrDtype dtype) {
    bool named = device != TSR_CPU;
    snprintf(buffer, TYPE_NAME_ROOM, "torch.%s%s%sTensor", named ? tsr_device_type_name(device) : "", named ? "." : "",
             tsr_dtype_scalar_name(dtype));
    return buffer;
}

/* A tensor of the geometry in pinned memory. */
static TsrStatus new_pinned(TsrTensor **out, TsrGeometry g, uint64_t bytes, TsrDtype dtype) {
    TsrStorage *storage;
    TSR_TRY(tsr_storage_new_pinned(&storage, bytes));
    TsrStatus status = tsr_tensor_new_over(out, storage, g, dtype);
    tsr_storage_free(storage);
    return status;
}

/* As tsr_tensor_new_like, in pinned memory. The meta device says what the geometry is and how many bytes it takes. */
static TsrStatus new_pinned_like(TsrTensor **out, TsrTensor like, TsrDtype dtype, TsrMemoryFormat format) {
    TSR_OWNED pattern = NULL;
    like.device = TSR_DEVICE_META;
    TSR_TRY(tsr_tensor_new_like(&pattern, &like, dtype, format));
    return new_pinned(out, tsr_tensor_geometry(pattern), pattern->storage->nbytes, dtype);
}

TsrStatus op_pin_memory(TsrOpCall *c) {
    TsrTensor *pattern, *t = NULL;
    char name[TYPE_NAME_ROOM];
    if (tsr_arg_given(&c->arg[1]) && !tsr_device_has_backend(c->arg[1].device))
        return tsr_error(TSR_RUNTIME_ERROR, "%s device type not an accelerator.",
                         c->arg[1].device.type == TSR_CPU ? "CPU" : "META");
    if (tsr_storage_is_pinned(SELF->storage)) return tsr_return_move(c, tsr_tensor_retain(SELF));
    if (SELF->device.type != TSR_CPU)
        return tsr_error(TSR_RUNTIME_ERROR, "cannot pin '%s' only dense CPU tensors can be pinned",
                         type_name(name, SELF->device.type, SELF->dtype));
    TSR_TRY(tsr_tensor_new_strided(&pattern, tsr_ndim(SELF), SELF->sizes, SELF->strides, SELF->dtype, TSR_DEVICE_META));
    TsrStatus status = new_pinned(&t, tsr_tensor_geometry(pattern), pattern->storage->nbytes, SELF->dtype);
    tsr_tensor_free(pattern);
    if (status == TSR_OK && (status = tsr_tensor_copy(t, SELF)) != TSR_OK) tsr_tensor_free(t);
    return tsr_finish_move(c, status, t);
}

TsrStatus op_is_pinned(TsrOpCall *c) {
    const TsrTensor *t = SELF->sparse != NULL ? SELF->sparse->values : SELF;
    return tsr_return_bool(c, tsr_storage_is_pinned(t->storage));
}

/* `later`: the host need not wait. Where that is from a device to the host, the copy goes to pinned memory. */
static TsrStatus moved(TsrTensor **out, const TsrTensor *self, TsrDtype dtype, TsrDevice device, TsrMemoryFormat format,
                       bool later) {
    TsrTensor *t = NULL;
    TsrTensor like = *self; /* its geometry on another device; never freed */
    like.device = device;
    if (tsr_is_meta(self) && device.type != TSR_META)
        return tsr_error(TSR_NOT_IMPLEMENTED_ERROR, "Cannot copy out of meta tensor; no data!");
    if (later && tsr_on_device(self) && device.type == TSR_CPU) TSR_TRY(new_pinned_like(&t, like, dtype, format));
    else TSR_TRY(tsr_tensor_new_like(&t, &like, dtype, format));
    TsrStatus status = device.type == TSR_META ? TSR_OK
                       : later                 ? tsr_tensor_copy_later(t, self)
                                               : tsr_tensor_copy(t, self);
    if (status == TSR_OK) *out = t;
    else tsr_tensor_free(t);
    return status;
}

/* Whether to() may answer with the tensor itself. */
static bool has_format(const TsrTensor *t, TsrMemoryFormat format) {
    return format == TSR_PRESERVE || tsr_suggested_format(t) == format;
}

/* How a conversion is asked for. */
typedef struct How {
    bool copy, later;
} How;

static TsrStatus convert(TsrOpCall *c, TsrDtype dtype, TsrDevice device, How how, const TsrArg *format_arg) {
    TsrTensor *t = NULL;
    TsrMemoryFormat format = format_or(format_arg, TSR_PRESERVE);
    TSR_TRY(tsr_device_resolve(&device));
    bool same_device =
        device.type == SELF->device.type && (device.index == SELF->device.index || device.type != TSR_CUDA);
    if (!how.copy && dtype == SELF->dtype && same_device && has_format(SELF, format))
        return tsr_return_move(c, tsr_tensor_retain(SELF));
    TSR_TRY(tsr_tensor_check(SELF, false));
    TsrStatus status = moved(&t, SELF, dtype, device, format, how.later);
    return tsr_finish_move(c, status, t);
}

TsrStatus op_to_device(TsrOpCall *c) {
    TsrDevice device = tsr_arg_given(&c->arg[1]) ? c->arg[1].device : SELF->device;
    TsrDtype dtype = tsr_arg_given(&c->arg[2]) ? c->arg[2].dtype : SELF->dtype;
    return convert(c, dtype, device, (How){c->arg[4].b, c->arg[3].b}, &c->arg[5]);
}

TsrStatus op_to_dtype(TsrOpCall *c) {
    return convert(c, c->arg[1].dtype, SELF->device, (How){c->arg[3].b, c->arg[2].b}, &c->arg[4]);
}
TsrStatus op_to_other(TsrOpCall *c) {
    return convert(c, c->arg[1].t->dtype, c->arg[1].t->device, (How){c->arg[3].b, c->arg[2].b}, &c->arg[4]);
}
TsrStatus op_cpu(TsrOpCall *c) { return convert(c, SELF->dtype, TSR_DEVICE_CPU, (How){0}, &c->arg[1]); }
TsrStatus op_cuda(TsrOpCall *c) {
    if (tsr_arg_given(&c->arg[1]) && c->arg[1].device.type != TSR_CUDA)
        return tsr_error(TSR_RUNTIME_ERROR, "Invalid device, must be cuda device");
    return convert(c, SELF->dtype, tsr_arg_given(&c->arg[1]) ? c->arg[1].device : (TsrDevice){TSR_CUDA, -1},
                   (How){false, c->arg[2].b}, &c->arg[3]);
}

/* float(), long(), ...: the row's data is the dtype. */
TsrStatus op_convert(TsrOpCall *c) {
    return convert(c, (TsrDtype)(uintptr_t)c->op->data, SELF->device, (How){0}, &c->arg[1]);
}

TsrStatus op_type_as(TsrOpCall *c) {
    TsrArg none = {.kind = TSR_ARG_NONE};
    return convert(c, c->arg[1].t->dtype, c->arg[1].t->device, (How){0}, &none);
}

TsrStatus op_type(TsrOpCall *c) {
    static _Thread_local char name[TYPE_NAME_ROOM];
    TsrArg none = {.kind = TSR_ARG_NONE};
    if (tsr_arg_given(&c->arg[1])) return convert(c, c->arg[1].dtype, SELF->device, (How){false, c->arg[2].b}, &none);
    c->ret[0] = (TsrArg){.kind = TSR_ARG_STR, .str = type_name(name, SELF->device.type, SELF->dtype)};
    c->nret = 1;
    return TSR_OK;
}

TsrStatus op_type_name(TsrOpCall *c) {
    char name[TYPE_NAME_ROOM];
    const char *wanted = c->arg[1].str;
    TsrArg none = {.kind = TSR_ARG_NONE};
    for (uint8_t device = 0; device < TSR_DEVICE_TYPE_COUNT; device++)
        for (TsrDtype dtype = 0; dtype < TSR_DTYPE_COUNT; dtype++)
            if (strcmp(type_name(name, device, dtype), wanted) == 0)
                return convert(c, dtype, (TsrDevice){device, -1}, (How){false, c->arg[2].b}, &none);
    return tsr_error(TSR_VALUE_ERROR, "invalid type: '%s'", wanted);
}

/* --- other memory --- */

TsrStatus op_share_memory_inplace(TsrOpCall *c) {
    TSR_TRY(tsr_storage_share_memory(SELF->storage));
    return tsr_return_move(c, tsr_tensor_retain(SELF));
}

static TsrStatus check_set_dtype(const TsrTensor *self, const TsrTensor *source) {
    if (self->dtype == source->dtype) return TSR_OK;
    return tsr_error(TSR_RUNTIME_ERROR, "Could not set tensor of type %s to a tensor of type %s",
                     tsr_dtype_c_name(source->dtype), tsr_dtype_c_name(self->dtype));
}

TsrStatus op_set_nothing(TsrOpCall *c) {
    TsrStorage *storage = NULL;
    int64_t zero = 0, one = 1;
    TSR_TRY(tsr_storage_new(&storage, SELF->device, 0, SELF->dtype));
    TsrStatus status = tsr_tensor_set_storage(SELF, storage, (TsrGeometry){1, &zero, &one, 0});
    tsr_storage_free(storage);
    return status != TSR_OK ? status : tsr_return_move(c, tsr_tensor_retain(SELF));
}

TsrStatus op_set_tensor(TsrOpCall *c) {
    const TsrTensor *source = c->arg[1].t;
    TSR_TRY(check_set_dtype(SELF, source));
    if (source != SELF) TSR_TRY(tsr_tensor_set_storage(SELF, source->storage, tsr_tensor_geometry(source)));
    return tsr_return_move(c, tsr_tensor_retain(SELF));
}

TsrStatus op_set_view(TsrOpCall *c) {
    const TsrTensor *source = c->arg[1].t;
    const TsrArg *size = &c->arg[3], *stride = &c->arg[4];
    int64_t dense[TSR_MAX_DIMS];
    bool given = tsr_arg_given(stride) && stride->n > 0;
    if (size->n > TSR_MAX_DIMS)
        return tsr_error(TSR_RUNTIME_ERROR, "too many dimensions: %d, the most is %d", size->n, TSR_MAX_DIMS);
    if (!tsr_is_contiguous(source, TSR_CONTIGUOUS))
        return tsr_error(TSR_RUNTIME_ERROR, "passed in tensor to be used as storage must be contiguous");
    if (given && stride->n != size->n)
        return tsr_error(TSR_RUNTIME_ERROR, "unequal size length (%d) and stride length (%d)", size->n, stride->n);
    int64_t offset;
    if (tsr_add_overflows(source->offset, c->arg[2].i, &offset))
        return tsr_error(TSR_RUNTIME_ERROR, "Tensor: invalid storage offset %lld", (long long)c->arg[2].i);
    bool stays = size->n == tsr_ndim(SELF) && same_ints(size->ints, SELF->sizes, size->n) &&
                 (!given || same_ints(stride->ints, SELF->strides, size->n));
    tsr_layout_contiguous_strides(dense, size->n, size->ints);
    TsrGeometry g = {size->n, size->ints, stays ? SELF->strides : given ? stride->ints : dense, offset};
    for (int i = 0; i < size->n; i++)
        if (size->ints[i] < 0) return tsr_error(TSR_RUNTIME_ERROR, "numel: integer multiplication overflow");
    /* PyTorch makes room only where the geometry changes; what stays must fit. */
    if (stays && size->n > 0 && offset >= 0 && !tsr_storage_holds(source->storage, g, SELF->dtype)) {
        TsrTensor *never; /* refused: what does not fit is no view */
        return tsr_tensor_new_over(&never, source->storage, g, SELF->dtype);
    }
    TSR_TRY(tsr_tensor_set_storage(SELF, source->storage, g));
    return tsr_return_move(c, tsr_tensor_retain(SELF));
}

/* `counts`: whether a change of sizes is a write in the log of versions. */
static TsrStatus resize(TsrOpCall *c, int n, const int64_t *sizes, TsrMemoryFormat format, bool counts) {
    for (int i = 0; i < n; i++)
        if (sizes[i] < 0) return tsr_error(TSR_RUNTIME_ERROR, "numel: integer multiplication overflow");
    bool same = n == tsr_ndim(SELF) && same_ints(sizes, SELF->sizes, n);
    TSR_TRY(tsr_tensor_resize(SELF, n, sizes, format));
    return same || !counts ? TSR_OK : tsr_tensor_written(SELF, c->schema->base);
}

/* Strides without gaps, even where the sizes stay. */
static TsrStatus make_dense(TsrTensor *t, int n, const int64_t *sizes) {
    TSR_TRY(tsr_tensor_resize(t, 3, (int64_t[]){0, 0, 0}, TSR_CONTIGUOUS));
    return tsr_tensor_resize(t, n, sizes, TSR_CONTIGUOUS);
}

/* The sizes are set before the format is looked at: they stand when it is refused, and then count as no write. */
TsrStatus op_resize_inplace(TsrOpCall *c) {
    TsrMemoryFormat format = format_or(&c->arg[2], TSR_CONTIGUOUS);
    TSR_TRY(resize(c, c->arg[1].n, c->arg[1].ints, TSR_CONTIGUOUS, format != TSR_PRESERVE));
    if (format == TSR_PRESERVE) return tsr_error(TSR_RUNTIME_ERROR, "Unsupported memory formatPreserve");
    if (format != TSR_CONTIGUOUS) TSR_TRY(tsr_tensor_resize(SELF, c->arg[1].n, c->arg[1].ints, format));
    else if (tsr_arg_given(&c->arg[2])) TSR_TRY(make_dense(SELF, c->arg[1].n, c->arg[1].ints));
    return tsr_return_move(c, tsr_tensor_retain(SELF));
}

TsrStatus op_resize_as_inplace(TsrOpCall *c) {
    const TsrTensor *like = c->arg[1].t;
    TsrMemoryFormat format = format_or(&c->arg[2], TSR_CONTIGUOUS);
    if (format == TSR_PRESERVE) format = tsr_suggested_format(like);
    int rank = format == TSR_CHANNELS_LAST ? 4 : format == TSR_CHANNELS_LAST_3D ? 5 : tsr_ndim(like);
    if (tsr_ndim(like) != rank) /* the format is refused after the sizes are set */
        TSR_TRY(resize(c, tsr_ndim(like), like->sizes, TSR_CONTIGUOUS, false));
    TSR_TRY(resize(c, tsr_ndim(like), like->sizes, format, true));
    if (tsr_arg_given(&c->arg[2]) && format == TSR_CONTIGUOUS) {
        int64_t sizes[TSR_MAX_DIMS]; /* of self, perhaps, which changes on the way */
        memcpy(sizes, like->sizes, sizeof *sizes * (size_t)tsr_ndim(like));
        TSR_TRY(make_dense(SELF, tsr_ndim(like), sizes));
    }
    return tsr_return_move(c, tsr_tensor_retain(SELF));
}
