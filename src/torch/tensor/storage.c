/* Storages as values: elements, bytes, printing, resizing. */
#include "storage.h"

#include <inttypes.h>
#include <string.h>

#include "lang/object/args.h"
#include "torch/bind/bind.h"
#include "copying.h"
#include "core/backend.h"
#include "core/view.h"
#include "lang/object/native.h"
#include "lang/types/sequences.h"
#include "lang/types/str.h"
#include "torch/types.h"

static inline StorageObj *self_of(Value v) { return (StorageObj *)v.o; }
static inline size_t item_size(const StorageObj *s) { return tsr_dtype_size(s->dtype); }
static inline int64_t count_of(const StorageObj *s) { return (int64_t)(s->storage->nbytes / item_size(s)); }
static inline bool is_typed(const StorageObj *s) { return s->obj.type == &typed_storage_type; }
static inline char *at(const StorageObj *s, int64_t i) {
    return (char *)tsr_storage_data(s->storage) + (size_t)i * item_size(s);
}

TsrStatus storage_obj_new(Value *out, TsrStorage *storage, TsrDtype dtype) {
    bool typed = dtype != TSR_DTYPE_NONE;
    StorageObj *o = obj_new(typed ? &typed_storage_type : &untyped_storage_type, sizeof *o);
    if (o == NULL) return TSR_MEMORY_ERROR;
    o->storage = tsr_storage_retain(storage);
    o->dtype = typed ? dtype : TSR_UINT8;
    *out = value_obj_move(o);
    return TSR_OK;
}

static void storage_destroy(Obj *self) {
    tsr_storage_free(((StorageObj *)self)->storage);
    obj_free(self, sizeof(StorageObj));
}

/* ---- elements ---- */

/* Not the zeros that stand for what a mapped file has no more. */
static TsrStatus still_there(const StorageObj *s) {
    return tsr_memory_lost != 0 ? tsr_memory_check(tsr_storage_data(s->storage), s->storage->nbytes) : TSR_OK;
}

static bool on_device(const StorageObj *s) { return tsr_device_has_backend(s->storage->ptr.device); }

static TsrStatus readable(const StorageObj *s) {
    if (on_device(s))
        return tsr_error(TSR_RUNTIME_ERROR, "the bytes of a storage on a device are read and written through tensors");
    if (s->storage->nbytes > 0 && tsr_storage_data(s->storage) == NULL)
        return tsr_error(TSR_NOT_IMPLEMENTED_ERROR, "Not available for '%s' storage",
                         tsr_device_type_name(s->storage->ptr.device.type));
    if (!tsr_dtype_is_pod(s->dtype))
        return tsr_error(TSR_NOT_IMPLEMENTED_ERROR, "a storage of %s elements has no numbers",
                         tsr_dtype_name(s->dtype));
    return still_there(s);
}

static TsrStatus get_element(Value *out, const StorageObj *s, int64_t i) {
    TsrScalar element = tsr_scalar_load(s->dtype, at(s, i));
    TSR_TRY(still_there(s));
    return bind_scalar_value(out, element);
}

static TsrStatus set_element(StorageObj *s, int64_t i, TsrScalar v) {
    if (s->storage->readonly) return tsr_error(TSR_RUNTIME_ERROR, "the storage is read-only");
    return tsr_scalar_store_checked(v, s->dtype, at(s, i));
}

/* No version counts it, as in PyTorch: that is a tensor's. */
static void note_write(const StorageObj *s, const char *what, uint64_t bytes) {
    tsr_trace(TSR_TRACE_WRITE, what, "by the storage: no version counts it", (int64_t)bytes, NULL, s->storage);
}

static TsrStatus refuse_index(const StorageObj *s, Value index) {
    const char *name = value_type_name(index);
    if (is_typed(s))
        return tsr_error(TSR_RUNTIME_ERROR, "can't index a <class 'torch.storage.TypedStorage'> with <class '%s'>",
                         name);
    return tsr_error(TSR_TYPE_ERROR, "can't index a torch.UntypedStorage with %s", name);
}

static TsrStatus find_index(int64_t *out, const StorageObj *s, Value index) {
    int64_t i = 0, n = count_of(s);
    if (!bind_is_index(index)) return refuse_index(s, index);
    TSR_TRY(value_to_index(&i, index));
    *out = i < 0 ? i + n : i;
    if (*out >= 0 && *out < n) return TSR_OK;
    return tsr_error(TSR_INDEX_ERROR, "index %lld out of range for storage of size %lld",
                     (long long)(is_typed(s) ? i : *out), (long long)n);
}

static void release_whole(void *storage) { tsr_storage_free(storage); }

/* Bytes of a storage as another storage over the same memory, which the first one outlives. */
static TsrStatus part_new(Value *out, StorageObj *s, int64_t start, int64_t count) {
    TsrDataPtr part = {.data = count > 0 ? at(s, start) : NULL,
                       .ctx = tsr_storage_retain(s->storage),
                       .deleter = release_whole,
                       .device = s->storage->ptr.device};
    TsrStorage *storage;
    TSR_TRY(tsr_storage_new_adopt_move(&storage, &part, (size_t)count, "part of a storage", NULL));
    TsrStatus status = storage_obj_new(out, storage, TSR_DTYPE_NONE);
    tsr_storage_free(storage);
    return status;
}

const TsrStorage *storage_obj_whole(Value v) {
    const TsrDataPtr *ptr = &storage_obj_of(v)->ptr;
    return ptr->deleter == release_whole ? ptr->ctx : NULL;
}

static TsrStatus find_slice(int64_t *start, int64_t *count, const StorageObj *s, Value index) {
    int64_t stop, step;
    TSR_TRY(slice_resolve((Slice *)index.o, count_of(s), start, &stop, &step, count));
    return step == 1
               ? TSR_OK
               : tsr_error(TSR_RUNTIME_ERROR, "Trying to slice with a step of %lld, but only a step of 1 is supported",
                           (long long)step);
}

static TsrStatus storage_get_item(Value *out, Value self, Value index) {
    int64_t i, count;
    StorageObj *s = self_of(self);
    TSR_TRY(readable(s));
    if (value_is_obj(index, &slice_type)) {
        if (is_typed(s)) return tsr_error(TSR_RUNTIME_ERROR, "slices are only supported in UntypedStorage.__getitem__");
        TSR_TRY(find_slice(&i, &count, s, index));
        return part_new(out, s, i, count);
    }
    TSR_TRY(find_index(&i, s, index));
    return get_element(out, s, i);
}

static TsrStatus number_of(TsrScalar *out, Value v) {
    bool ok;
    TSR_TRY(bind_scalar(out, &ok, v));
    return ok ? TSR_OK : tsr_error(TSR_TYPE_ERROR, "must be real number, not %s", value_type_name(v));
}

/* What goes into an untyped storage is an int, of which its byte takes the low bits. `refusal` has a %s for another
 * type. */
static TsrStatus byte_or_number(TsrScalar *out, const StorageObj *s, Value v, const char *refusal) {
    if (is_typed(s)) return number_of(out, v);
    if (!bind_is_index(v)) return tsr_error(TSR_RUNTIME_ERROR, refusal, value_type_name(v));
    int64_t i = 0;
    TSR_TRY(value_to_index(&i, v));
    *out = tsr_scalar_int(i & 0xff);
    return TSR_OK;
}

static TsrStatus storage_set_item(Value self, Value index, Value v) {
    StorageObj *s = self_of(self);
    TsrScalar number = tsr_scalar_int(0);
    int64_t i, count = 1;
    TSR_TRY(readable(s));
    TSR_TRY(byte_or_number(&number, s, v, "can only set storage content with a int types, but got %s instead"));
    if (value_is_obj(index, &slice_type)) {
        TSR_TRY(find_slice(&i, &count, s, index));
    } else if (is_typed(s)) {
        TSR_TRY(find_index(&i, s, index));
    } else {
        if (!bind_is_index(index)) return refuse_index(s, index);
        TSR_TRY(value_to_index(&i, index));
        if (i < 0 || i >= count_of(s)) return tsr_error(TSR_RUNTIME_ERROR, "out of bounds");
    }
    for (int64_t k = 0; k < count; k++) TSR_TRY(set_element(s, i + k, number));
    note_write(s, "storage[]", (uint64_t)count * item_size(s));
    return TSR_OK;
}

static TsrStatus storage_length(int64_t *out, Value self) {
    *out = count_of(self_of(self));
    return TSR_OK;
}

static TsrStatus storage_tolist(Value *out, const CallArgs *args) {
    const StorageObj *s = self_of(args->values[0]);
    TSR_TRY(readable(s));
    Value list;
    TSR_TRY(list_new(&list, count_of(s)));
    TsrStatus status = TSR_OK;
    for (int64_t i = 0; i < count_of(s) && status == TSR_OK; i++) {
        Value item;
        status = get_element(&item, s, i);
        if (status == TSR_OK) status = list_append_move(value_as_list(list), item);
        if (status == TSR_OK) status = tsr_interrupt_check_at(i);
    }
    return value_end_move(out, status, list);
}

static TsrStatus storage_repr(TsrText *out, Value self) {
    const StorageObj *s = self_of(self);
    char device[16];
    TsrDevice d = s->storage->ptr.device;
    if (on_device(s) || (tsr_storage_data(s->storage) == NULL && s->storage->nbytes > 0)) {
        TSR_TRY(tsr_text_puts(out, "..."));
    } else {
        TSR_TRY(tsr_text_putc(out, ' '));
        for (int64_t i = 0; i < count_of(s); i++) {
            Value item;
            TSR_TRY(get_element(&item, s, i));
            if (i > 0) TSR_TRY(tsr_text_puts(out, "\n "));
            TsrStatus status = value_repr(out, item);
            value_release(item);
            TSR_TRY(status);
            TSR_TRY(tsr_interrupt_check_at(i));
        }
    }
    tsr_device_format(d, device);
    if (is_typed(s))
        return tsr_text_printf(out, "\n[torch.storage.TypedStorage(dtype=torch.%s, device=%s) of size %lld]",
                               tsr_dtype_name(s->dtype), device, (long long)count_of(s));
    return tsr_text_printf(out, "\n[torch.storage.UntypedStorage(device=%s) of size %lld]", device,
                           (long long)count_of(s));
}

/* ---- methods ---- */

static TsrStatus storage_size(Value *out, const CallArgs *args) {
    *out = value_int(count_of(self_of(args->values[0])));
    return TSR_OK;
}

static TsrStatus storage_nbytes(Value *out, const CallArgs *args) {
    *out = value_int((int64_t)self_of(args->values[0])->storage->nbytes);
    return TSR_OK;
}

static TsrStatus storage_element_size(Value *out, const CallArgs *args) {
    *out = value_int((int64_t)item_size(self_of(args->values[0])));
    return TSR_OK;
}

static TsrStatus storage_data_ptr(Value *out, const CallArgs *args) {
    *out = value_int((int64_t)(intptr_t)tsr_storage_data(self_of(args->values[0])->storage));
    return TSR_OK;
}

static TsrStatus storage_resize(Value *out, const CallArgs *args) {
    StorageObj *s = self_of(args->values[0]);
    int64_t n = 0;
    uint64_t bytes;
    TSR_TRY(value_to_index(&n, args->values[1]));
    if (n < 0 || __builtin_mul_overflow((uint64_t)n, item_size(s), &bytes))
        return tsr_error(TSR_RUNTIME_ERROR, "invalid storage size %lld", (long long)n);
    uint64_t before = s->storage->nbytes;
    TSR_TRY(tsr_storage_resize(s->storage, bytes));
    tsr_trace(TSR_TRACE_KEEP, "resize_", "the storage by itself", (int64_t)before, NULL, s->storage);
    *out = is_typed(s) ? VALUE_NONE : value_retain(args->values[0]);
    return TSR_OK;
}

static TsrStatus storage_fill(Value *out, const CallArgs *args) {
    StorageObj *s = self_of(args->values[0]);
    TsrScalar number = tsr_scalar_int(0);
    TSR_TRY(readable(s));
    TSR_TRY(byte_or_number(&number, s, args->values[1], "fill_ expects int, but got %s"));
    for (int64_t i = 0; i < count_of(s) && !tsr_interrupted_at(i); i++) TSR_TRY(set_element(s, i, number));
    TSR_TRY(tsr_interrupt_check());
    note_write(s, "fill_", s->storage->nbytes);
    *out = value_retain(args->values[0]);
    return TSR_OK;
}

static TsrStatus storage_copy(Value *out, const CallArgs *args) {
    StorageObj *s = self_of(args->values[0]);
    if (!value_is_storage(args->values[1]))
        return tsr_error(TSR_TYPE_ERROR, "copy_(): argument 'source' must be a storage, not %s",
                         value_type_name(args->values[1]));
    StorageObj *from = self_of(args->values[1]);
    bool away = on_device(s) || on_device(from);
    if (count_of(from) != count_of(s))
        return tsr_error(TSR_RUNTIME_ERROR,
                         "size does not match, self was %" PRIu64 " bytes but src was %" PRIu64 " bytes",
                         s->storage->nbytes, from->storage->nbytes);
    if (!away || from->dtype != s->dtype) TSR_TRY(readable(s));
    if (!away || from->dtype != s->dtype) TSR_TRY(readable(from));
    if (away) {
        TSR_TRY(tsr_device_copy(tsr_storage_data(s->storage), s->storage->ptr.device, tsr_storage_data(from->storage),
                                from->storage->ptr.device, s->storage->nbytes));
    } else if (from->dtype == s->dtype) {
        if (s->storage->readonly) return tsr_error(TSR_RUNTIME_ERROR, "the storage is read-only");
        if (s->storage->nbytes > 0)
            memmove(tsr_storage_data(s->storage), tsr_storage_data(from->storage), s->storage->nbytes);
    } else {
        for (int64_t i = 0; i < count_of(s) && !tsr_interrupted_at(i); i++)
            TSR_TRY(set_element(s, i, tsr_scalar_load(from->dtype, at(from, i))));
        TSR_TRY(tsr_interrupt_check());
    }
    note_write(s, "copy_", s->storage->nbytes);
    *out = value_retain(args->values[0]);
    return TSR_OK;
}

/* The same bytes in a storage of its own on another device, or in pinned memory. */
static TsrStatus storage_moved(Value *out, const StorageObj *s, TsrDevice device, bool pinned) {
    TsrStorage *copy;
    uint64_t nbytes = s->storage->nbytes;
    TSR_TRY(still_there(s));
    TSR_TRY(pinned ? tsr_storage_new_pinned(&copy, nbytes) : tsr_storage_new(&copy, device, nbytes, TSR_DTYPE_NONE));
    TsrStatus status = tsr_device_copy(tsr_storage_data(copy), copy->ptr.device, tsr_storage_data(s->storage),
                                       s->storage->ptr.device, nbytes);
    tsr_trace(TSR_TRACE_COPY, "storage", NULL, (int64_t)nbytes, copy, NULL);
    if (status == TSR_OK) status = storage_obj_new(out, copy, is_typed(s) ? s->dtype : TSR_DTYPE_NONE);
    tsr_storage_free(copy);
    return status;
}

static TsrStatus storage_clone(Value *out, const CallArgs *args) {
    StorageObj *s = self_of(args->values[0]);
    TsrStorage *copy;
    if (on_device(s)) return storage_moved(out, s, s->storage->ptr.device, false);
    TSR_TRY(readable(s));
    TSR_TRY(tsr_storage_new(&copy, s->storage->ptr.device, s->storage->nbytes, TSR_DTYPE_NONE));
    if (s->storage->nbytes > 0) memcpy(tsr_storage_data(copy), tsr_storage_data(s->storage), s->storage->nbytes);
    tsr_trace(TSR_TRACE_COPY, "storage", NULL, (int64_t)s->storage->nbytes, copy, NULL);
    TsrStatus status = still_there(s);
    if (status == TSR_OK) status = storage_obj_new(out, copy, is_typed(s) ? s->dtype : TSR_DTYPE_NONE);
    tsr_storage_free(copy);
    return status;
}

static TsrStatus storage_is_shared(Value *out, const CallArgs *args) {
    const TsrStorage *s = self_of(args->values[0])->storage;
    *out = value_bool(s->shared || tsr_device_has_backend(s->ptr.device));
    return TSR_OK;
}

static TsrStatus storage_share(Value *out, const CallArgs *args) {
    TSR_TRY(tsr_storage_share_memory(self_of(args->values[0])->storage));
    *out = value_retain(args->values[0]);
    return TSR_OK;
}

static TsrStatus storage_resizable(Value *out, const CallArgs *args) {
    *out = value_bool(self_of(args->values[0])->storage->resizable);
    return TSR_OK;
}

static TsrStatus storage_untyped(Value *out, const CallArgs *args) {
    return storage_obj_new(out, self_of(args->values[0])->storage, TSR_DTYPE_NONE);
}

static TsrStatus storage_cpu(Value *out, const CallArgs *args) {
    const StorageObj *s = self_of(args->values[0]);
    if (on_device(s)) return storage_moved(out, s, TSR_DEVICE_CPU, false);
    *out = value_retain(args->values[0]);
    return TSR_OK;
}

static TsrStatus storage_cuda(Value *out, const CallArgs *args) {
    const StorageObj *s = self_of(args->values[0]);
    TsrDevice device = {TSR_CUDA, -1};
    bool ok = true;
    if (args->count > 1 && args->values[1].tag != V_NONE) TSR_TRY(device_from_value(&device, &ok, args->values[1]));
    if (!ok || device.type != TSR_CUDA)
        return tsr_error(TSR_TYPE_ERROR, "cuda(): argument 'device' must be a CUDA device, not %s",
                         value_type_name(args->values[1]));
    TSR_TRY(tsr_device_resolve(&device));
    if (!tsr_device_equal(device, s->storage->ptr.device)) return storage_moved(out, s, device, false);
    *out = value_retain(args->values[0]);
    return TSR_OK;
}

static TsrStatus storage_pin_memory(Value *out, const CallArgs *args) {
    const StorageObj *s = self_of(args->values[0]);
    if (s->storage->ptr.device.type != TSR_CPU)
        return tsr_error(TSR_TYPE_ERROR, "cannot pin 'torch.storage.UntypedStorage' only CPU memory can be pinned");
    if (!tsr_storage_is_pinned(s->storage)) return storage_moved(out, s, TSR_DEVICE_CPU, true);
    *out = value_retain(args->values[0]);
    return TSR_OK;
}

static TsrStatus storage_is_pinned(Value *out, const CallArgs *args) {
    *out = value_bool(tsr_storage_is_pinned(self_of(args->values[0])->storage));
    return TSR_OK;
}

/* torch.FloatStorage and its kin, whatever the storage holds now. */
static TsrStatus storage_type(Value *out, const CallArgs *args) {
    const StorageObj *s = self_of(args->values[0]);
    const char *room = tsr_device_has_backend(s->storage->ptr.device) ? "torch.cuda" : "torch";
    return is_typed(s) ? str_new_format(out, "%s.%sStorage", room, tsr_dtype_scalar_name(s->dtype))
                       : str_new_c(out, s->obj.type->name);
}

static TsrStatus storage_new(Value *out, const CallArgs *args) {
    const StorageObj *s = self_of(args->values[0]);
    TsrStorage *empty;
    TSR_TRY(tsr_storage_new(&empty, s->storage->ptr.device, 0, TSR_DTYPE_NONE));
    TsrStatus status = storage_obj_new(out, empty, is_typed(s) ? s->dtype : TSR_DTYPE_NONE);
    tsr_storage_free(empty);
    return status;
}

/* Reverses the bytes of each element of a dtype: of both halves of a complex one. */
static TsrStatus storage_byteswap(Value *out, const CallArgs *args) {
    StorageObj *s = self_of(args->values[0]);
    TsrDtype d;
    if (!dtype_from_value(&d, args->values[1]))
        return tsr_error(TSR_RUNTIME_ERROR, "expected torch.dtype, but got <class '%s'>",
                         value_type_name(args->values[1]));
    TSR_TRY(readable(s));
    if (s->storage->readonly) return tsr_error(TSR_RUNTIME_ERROR, "the storage is read-only");
    size_t width = tsr_dtype_size(d) / (tsr_dtype_is_complex(d) ? 2 : 1);
    char *bytes = tsr_storage_data(s->storage);
    for (size_t first = 0; first + width <= s->storage->nbytes; first += width)
        for (size_t i = 0; i < width / 2; i++) {
            char swap = bytes[first + i];
            bytes[first + i] = bytes[first + width - 1 - i];
            bytes[first + width - 1 - i] = swap;
        }
    note_write(s, "byteswap", s->storage->nbytes);
    *out = VALUE_NONE;
    return TSR_OK;
}

/* A storage with the same numbers as elements of `dtype`. */
static TsrStatus convert(Value *out, const CallArgs *args, TsrDtype dtype) {
    const StorageObj *s = self_of(args->values[0]);
    if (s->dtype == dtype) return storage_clone(out, args);
    TSR_TRY(readable(s));
    int64_t n = count_of(s);
    TsrTensor *from, *to = NULL;
    TSR_TRY(tsr_tensor_new_over(&from, s->storage, (TsrGeometry){1, &n, (int64_t[]){1}, 0}, s->dtype));
    TsrStatus status = tsr_tensor_new_cast(&to, from, dtype);
    if (status == TSR_OK) status = storage_obj_new(out, to->storage, dtype);
    tsr_tensor_free(from);
    tsr_tensor_free(to);
    return status;
}
#define CONVERSION(name, dtype) \
    static TsrStatus storage_to_##name(Value *out, const CallArgs *args) { return convert(out, args, dtype); }
CONVERSION(bool, TSR_BOOL)
CONVERSION(byte, TSR_UINT8)
CONVERSION(char, TSR_INT8)
CONVERSION(short, TSR_INT16)
CONVERSION(int, TSR_INT32)
CONVERSION(long, TSR_INT64)
CONVERSION(half, TSR_FLOAT16)
CONVERSION(bfloat16, TSR_BFLOAT16)
CONVERSION(float, TSR_FLOAT32)
CONVERSION(double, TSR_FLOAT64)
CONVERSION(complex_float, TSR_COMPLEX64)
CONVERSION(complex_double, TSR_COMPLEX128)

static TsrStatus get_device(Value *out, Value self) {
    TsrDevice d = self_of(self)->storage->ptr.device;
    return device_new(out, d);
}
static TsrStatus get_dtype(Value *out, Value self) {
    *out = dtype_value(self_of(self)->dtype);
    return TSR_OK;
}
static TsrStatus get_is_cuda(Value *out, Value self) {
    *out = value_bool(self_of(self)->storage->ptr.device.type == TSR_CUDA);
    return TSR_OK;
}

/* A storage of a number of elements, or of those of a list. dtype TSR_DTYPE_NONE: bytes. */
static TsrStatus storage_from(Value *out, Value data, TsrDtype dtype, TsrDevice where) {
    int64_t n = 0;
    uint64_t bytes;
    if (value_is_list(data)) n = value_as_list(data)->count;
    else if (data.tag != V_UNBOUND) TSR_TRY(value_to_index(&n, data));
    if (n < 0 || __builtin_mul_overflow((uint64_t)n, dtype == TSR_DTYPE_NONE ? 1 : tsr_dtype_size(dtype), &bytes))
        return tsr_error(TSR_RUNTIME_ERROR, "invalid storage size %lld", (long long)n);
    TsrStorage *storage;
    TSR_TRY(tsr_storage_new(&storage, where, bytes, TSR_DTYPE_NONE));
    TsrStatus s = storage_obj_new(out, storage, dtype);
    tsr_storage_free(storage);
    if (s != TSR_OK || !value_is_list(data)) return s;
    for (int64_t i = 0; i < n && s == TSR_OK; i++) {
        s = storage_set_item(*out, value_int(i), value_as_list(data)->items[i]);
        if (s == TSR_OK) s = tsr_interrupt_check();
    }
    if (s != TSR_OK) value_clear(out);
    return s;
}

static TsrStatus storage_construct(Value *out, Type *type, const CallArgs *args) {
    bool typed = type == &typed_storage_type;
    TsrDtype d = typed ? tsr_default_dtype() : TSR_DTYPE_NONE;
    Value dtype = args_keyword(args, "dtype"), device = args_keyword(args, "device");
    if (dtype.tag != V_UNBOUND && (!typed || !dtype_from_value(&d, dtype) || !tsr_dtype_is_pod(d)))
        return tsr_error(TSR_TYPE_ERROR, "%s(): argument 'dtype' must be torch.dtype, not %s", type->name,
                         value_type_name(dtype));
    TsrDevice where = TSR_DEVICE_CPU;
    bool known = true;
    if (device.tag != V_UNBOUND && device.tag != V_NONE) TSR_TRY(device_from_value(&where, &known, device));
    if (!known)
        return tsr_error(TSR_TYPE_ERROR, "%s(): argument 'device' must be torch.device, not %s", type->name,
                         value_type_name(device));
    return storage_from(out, args->count > 0 ? args->values[0] : VALUE_UNBOUND, d, where);
}

/* ---- torch.FloatStorage and its kin: they make typed storages, which isinstance takes for theirs ---- */

static TsrStatus refuse_legacy(TsrStatus kind, const Type *type, const char *why, const char *what) {
    return tsr_error(kind,
                     "<class 'torch.%s'>.__new__ received an invalid combination of arguments. Expected one of:\n * no "
                     "arguments\n * (int size)\n * (Sequence data)\n"
                     " * (*, UntypedStorage wrap_storage)\n%s%s%s",
                     type->name, why, what != NULL ? what : "", what != NULL ? "'>" : "");
}

static TsrStatus legacy_construct(Value *out, Type *type, const CallArgs *args) {
    TsrDtype d = (TsrDtype)(type - legacy_storage_types);
    Value wrapped = args_keyword(args, "wrap_storage"), data = args->count > 0 ? args->values[0] : VALUE_UNBOUND;
    if (args->count > 1) return refuse_legacy(TSR_RUNTIME_ERROR, type, "Too many positional arguments", NULL);
    if (wrapped.tag == V_OBJ && wrapped.o->type == &untyped_storage_type)
        return storage_obj_new(out, self_of(wrapped)->storage, d);
    if (value_is_storage(data))
        return refuse_legacy(TSR_TYPE_ERROR, type, "Argument type not recognized: <class '", value_type_name(data));
    return storage_from(out, data, d, TSR_DEVICE_CPU);
}

static TsrStatus is_of_legacy(bool *out, Type *type, Value v) {
    *out = v.tag == V_OBJ && v.o->type == &typed_storage_type &&
           self_of(v)->dtype == (TsrDtype)(type - legacy_storage_types);
    return TSR_OK;
}

#define LEGACY(id, shown) \
    [TSR_##id] = {.obj = TYPE_HEADER, \
                  .name = shown, \
                  .module = "torch", \
                  .construct = legacy_construct, \
                  .instance_check = is_of_legacy}
Type legacy_storage_types[TSR_DTYPE_COUNT] = {
    LEGACY(FLOAT32, "FloatStorage"),
    LEGACY(FLOAT64, "DoubleStorage"),
    LEGACY(FLOAT16, "HalfStorage"),
    LEGACY(BFLOAT16, "BFloat16Storage"),
    LEGACY(UINT8, "ByteStorage"),
    LEGACY(INT8, "CharStorage"),
    LEGACY(INT16, "ShortStorage"),
    LEGACY(INT32, "IntStorage"),
    LEGACY(INT64, "LongStorage"),
    LEGACY(BOOL, "BoolStorage"),
    LEGACY(COMPLEX64, "ComplexFloatStorage"),
    LEGACY(COMPLEX128, "ComplexDoubleStorage"),
};

static TsrStatus storage_compare(Value *out, CompareOp op, Value a, Value b) {
    *out = VALUE_UNBOUND;
    if ((op == CMP_EQ || op == CMP_NE) && value_is_storage(a) && value_is_storage(b))
        *out = value_bool((self_of(a)->storage == self_of(b)->storage) == (op == CMP_EQ));
    return TSR_OK;
}

static TsrStatus storage_hash(int64_t *out, Value self) {
    *out = self_of(self)->storage->serial;
    return TSR_OK;
}

static const Method untyped_methods[] = {
#include "storage_methods.def"
    {"byteswap", storage_byteswap, ARGS_ONE, 1, 1, "(dtype)", "Reverses the bytes of each element."},
    {NULL, NULL, 0, 0, 0, NULL, NULL},
};
static const Method typed_methods[] = {
#include "storage_methods.def"
    {"bool", storage_to_bool, ARGS_NONE, 0, 0, "()", "As bool elements."},
    {"byte", storage_to_byte, ARGS_NONE, 0, 0, "()", "As byte elements."},
    {"char", storage_to_char, ARGS_NONE, 0, 0, "()", "As char elements."},
    {"short", storage_to_short, ARGS_NONE, 0, 0, "()", "As short elements."},
    {"int", storage_to_int, ARGS_NONE, 0, 0, "()", "As int elements."},
    {"long", storage_to_long, ARGS_NONE, 0, 0, "()", "As long elements."},
    {"half", storage_to_half, ARGS_NONE, 0, 0, "()", "As half elements."},
    {"bfloat16", storage_to_bfloat16, ARGS_NONE, 0, 0, "()", "As bfloat16 elements."},
    {"float", storage_to_float, ARGS_NONE, 0, 0, "()", "As float elements."},
    {"double", storage_to_double, ARGS_NONE, 0, 0, "()", "As double elements."},
    {"complex_float", storage_to_complex_float, ARGS_NONE, 0, 0, "()", "As complex float elements."},
    {"complex_double", storage_to_complex_double, ARGS_NONE, 0, 0, "()", "As complex double elements."},
    {NULL, NULL, 0, 0, 0, NULL, NULL},
};
static const Getter untyped_getters[] = {{"device", get_device, NULL, "where its memory is"},
                                         {"is_cuda", get_is_cuda, NULL, "whether it is on a GPU"},
                                         {NULL, NULL, NULL, NULL}};
static const Getter typed_getters[] = {{"device", get_device, NULL, "where its memory is"},
                                       {"is_cuda", get_is_cuda, NULL, "whether it is on a GPU"},
                                       {"dtype", get_dtype, NULL, "its elements"},
                                       {NULL, NULL, NULL, NULL}};

#define STORAGE_TYPE(shown, with, get) \
    { \
        .obj = TYPE_HEADER, .name = shown, .construct = storage_construct, .destroy = storage_destroy, \
        .repr = storage_repr, .length = storage_length, .get_item = storage_get_item, .set_item = storage_set_item, \
        .compare = storage_compare, .hash = storage_hash, .copy = copy_storage_object, .methods = with, .getters = get \
    }
Type untyped_storage_type = STORAGE_TYPE("torch.storage.UntypedStorage", untyped_methods, untyped_getters);
Type typed_storage_type = STORAGE_TYPE("torch.storage.TypedStorage", typed_methods, typed_getters);
