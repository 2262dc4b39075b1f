/* Nested sequences to tensors and back, with PyTorch's rules of inference and its errors. */
#include "tensor_from.h"

#include <math.h>
#include <string.h>

#include "torch/bind/bind.h"
#include "core/backend.h"
#include "core/tensor/loan.h"
#include "lang/types/bytes.h"
#include "lang/object/exc.h"
#include "lang/types/numbers.h"
#include "lang/types/sequences.h"
#include "lang/types/str.h"

/* ---- sequences ---- */

/* What PyTorch walks into: list, tuple, range, str, bytes, bytearray. Sets, dicts and tensors are elements. */
static bool is_sequence(Value v) {
    return value_is_list(v) || value_is_tuple(v) || value_is_obj(v, &range_type) || value_is_str(v) ||
           value_is_bytes(v) || value_is_bytearray(v);
}

/* The elements of any sequence as an array: lent from lists and tuples, else a list made for it, in *holder. */
static TsrStatus sequence_items(const Value **items, int64_t *n, Value *holder, Value v) {
    *holder = VALUE_UNBOUND;
    if (value_as_array(v, items, n)) return TSR_OK;
    TSR_TRY(list_new_iterable(holder, v));
    value_as_array(*holder, items, n);
    return TSR_OK;
}

typedef struct Shape {
    int64_t sizes[TSR_MAX_DIMS];
    int ndim;
} Shape;

/* Follows the first elements. A str as an element of a string tensor ends it. */
static TsrStatus find_shape(Shape *shape, Value v, bool strings) {
    shape->ndim = 0;
    Value current = value_retain(v);
    TsrStatus s = TSR_OK;
    int depth = 0;
    while (s == TSR_OK && is_sequence(current) && !(strings && value_is_str(current))) {
        int64_t n = 0;
        s = value_length(&n, current);
        if (s != TSR_OK) break;
        bool endless = value_is_str(current) && n > 0; /* 'a'[0] is 'a' */
        if (endless || ++depth > TSR_MAX_DIMS) {
            s = tsr_error(TSR_VALUE_ERROR, "too many dimensions '%s'", value_type_name(current));
            break;
        }
        shape->sizes[shape->ndim++] = n;
        if (n == 0) break;
        Value first;
        s = value_getitem(&first, current, value_int(0));
        if (s == TSR_OK) value_set_move(&current, first);
    }
    value_release(current);
    return s;
}

/* ---- dtype inference ---- */

static TsrStatus cannot_infer(Value v) {
    return tsr_error(TSR_RUNTIME_ERROR, "Could not infer dtype of %s", value_type_name(v));
}

static TsrStatus infer(TsrDtype *out, Value v, int depth);

static TsrStatus infer_items(TsrDtype *out, const Value *items, int64_t n, int depth) {
    TsrDtype found = TSR_DTYPE_NONE;
    for (int64_t i = 0; i < n; i++) {
        TsrDtype d = TSR_DTYPE_NONE;
        if (tsr_interrupted_at(i)) TSR_TRY(tsr_interrupt_check());
        if ((items[i].tag == V_INT && found == TSR_INT64) || (items[i].tag == V_FLOAT && found == tsr_default_dtype()))
            continue;
        TSR_TRY(infer(&d, items[i], depth + 1));
        if (found == TSR_DTYPE_NONE) found = d;
        else TSR_TRY(tsr_promote(&found, found, d));
        if (found == TSR_COMPLEX128) break;
    }
    *out = found == TSR_DTYPE_NONE ? tsr_default_dtype() : found;
    return TSR_OK;
}

static TsrStatus infer(TsrDtype *out, Value v, int depth) {
    switch (v.tag) {
    case V_FLOAT: *out = tsr_default_dtype(); return TSR_OK;
    case V_INT: *out = TSR_INT64; return TSR_OK;
    case V_BOOL: *out = TSR_BOOL; return TSR_OK;
    case V_TENSOR: *out = v.t->dtype; return TSR_OK;
    case V_OBJ: break;
    default: return cannot_infer(v);
    }
    if (value_is_bigint(v)) {
        *out = TSR_INT64;
        return TSR_OK;
    }
    if (value_is_complex(v)) {
        if (tsr_default_dtype() == TSR_BFLOAT16)
            return tsr_error(TSR_RUNTIME_ERROR, "invalid default scalar type for complex");
        *out = tsr_default_complex();
        return TSR_OK;
    }
    TsrTensor *t = NULL;
    TSR_TRY(bind_tensor_of(&t, v));
    if (t != NULL) {
        *out = t->dtype;
        return TSR_OK;
    }
    if (value_is_str(v) || value_is_bytes(v))
        return tsr_error(TSR_TYPE_ERROR, "new(): invalid data type '%s'", value_type_name(v));
    if (!is_sequence(v)) return cannot_infer(v);
    if (depth > TSR_MAX_DIMS) return tsr_error(TSR_VALUE_ERROR, "too many dimensions '%s'", value_type_name(v));
    const Value *items = NULL;
    int64_t n = 0;
    Value holder;
    TSR_TRY(sequence_items(&items, &n, &holder, v));
    TsrStatus s = infer_items(out, items, n, depth);
    value_release(holder);
    return s;
}

/* ---- storing ---- */

static TsrStatus no_overflow(TsrDtype d) {
    return tsr_error(TSR_RUNTIME_ERROR, "value cannot be converted to type %s without overflow", tsr_dtype_name(d));
}

static const char negative_unsigned[] = "can't convert negative int to unsigned";

static bool fits_integer(TsrDtype d, int64_t i) { /* unsigned ones also take what wraps from below */
    int bits = (int)tsr_dtype_size(d) * 8;
    if (bits == 64) return true;
    int64_t span = (int64_t)1 << bits;
    return tsr_dtype_kind(d) == TSR_KIND_UINT ? i > -span && i < span : i >= -(span / 2) && i < span / 2;
}

/* The fraction is cut off above, not below: -0.5 is no uint8, nor is -128.5 an int8. */
static TsrStatus store_cut_off(char *dst, TsrDtype d, double f) {
    double least = tsr_dtype_kind(d) == TSR_KIND_UINT ? 0 : -ldexp(1, (int)tsr_dtype_size(d) * 8 - 1);
    if (!(f >= least && f < 0x1p63) || !fits_integer(d, (int64_t)f)) return no_overflow(d);
    tsr_scalar_store(tsr_scalar_int((int64_t)f), d, dst);
    return TSR_OK;
}

/* Only ints become uint64, and those that there are. */
static TsrStatus store_uint64(char *dst, Value v) {
    if (v.tag == V_FLOAT || value_is_complex(v)) return tsr_error(TSR_TYPE_ERROR, "an integer is required");
    uint64_t u = 0;
    int64_t i = 0;
    if (value_is_bigint(v)) {
        if (!int_fits_uint64(v, &u))
            return tsr_error(TSR_OVERFLOW_ERROR, int_sign(v) < 0 ? negative_unsigned : "int too big to convert");
    } else {
        TSR_TRY(value_to_index(&i, v));
        if (i < 0) return tsr_error(TSR_OVERFLOW_ERROR, negative_unsigned);
        u = (uint64_t)i;
    }
    memcpy(dst, &u, sizeof u);
    return TSR_OK;
}

static TsrStatus store_integer(char *dst, TsrDtype d, Value v) {
    if (d == TSR_UINT64) return store_uint64(dst, v);
    if (v.tag == V_FLOAT) return store_cut_off(dst, d, v.f);
    if (value_is_bigint(v)) return tsr_error(TSR_VALUE_ERROR, "Overflow when unpacking long long");
    int64_t i = 0;
    TSR_TRY(value_to_index(&i, v));
    if (!fits_integer(d, i)) return no_overflow(d);
    tsr_scalar_store(tsr_scalar_int(i), d, dst);
    return TSR_OK;
}

static TsrStatus store_complex(char *dst, TsrDtype d, Value v) {
    if (value_is_complex(v)) {
        tsr_scalar_store(tsr_scalar_complex(value_as_complex(v)->re, value_as_complex(v)->im), d, dst);
        return TSR_OK;
    }
    if (v.tag == V_TENSOR) {
        TsrScalar s;
        if (v.t->numel != 1)
            return tsr_error(TSR_VALUE_ERROR, "only one element tensors can be converted to Python scalars");
        TSR_TRY(tsr_tensor_item(&s, v.t));
        tsr_scalar_store(s, d, dst);
        return TSR_OK;
    }
    double f = 0;
    TSR_TRY(value_to_double(&f, v));
    tsr_scalar_store(tsr_scalar_float(f), d, dst);
    return TSR_OK;
}

static TsrStatus store_string(char *dst, Value v) {
    if (!value_is_str(v))
        return tsr_error(TSR_TYPE_ERROR, "an element of a string tensor must be str, not %s", value_type_name(v));
    TsrString text = {.data = value_as_str(v)->data, .length = (size_t)value_as_str(v)->size};
    return tsr_dtypes[TSR_STRING].copy(dst, &text, 1);
}

static TsrStatus store_nested(char *dst, Value v) {
    TsrTensor *t = NULL;
    TSR_TRY(bind_tensor_of(&t, v));
    if (t == NULL)
        return tsr_error(TSR_TYPE_ERROR, "an element of a nested tensor must be Tensor, not %s", value_type_name(v));
    return tsr_dtypes[TSR_NESTED].copy(dst, &t, 1);
}

/* Numbers and what can be an index; nothing else has a truth here. */
static TsrStatus store_bool(char *dst, Value v) {
    bool b = false;
    if (v.tag == V_FLOAT || value_is_complex(v) || value_is_bigint(v)) {
        TSR_TRY(value_truth(&b, v));
    } else {
        int64_t i = 0;
        TSR_TRY(value_to_index(&i, v));
        b = i != 0;
    }
    memcpy(dst, &b, sizeof b);
    return TSR_OK;
}

static TsrStatus store(char *dst, TsrDtype d, Value v) {
    switch (tsr_dtype_kind(d)) {
    case TSR_KIND_BOOL: return store_bool(dst, v);
    case TSR_KIND_UINT:
    case TSR_KIND_INT:
        if (d == TSR_INT64 && v.tag == V_INT) {
            memcpy(dst, &v.i, sizeof v.i);
            return TSR_OK;
        }
        return store_integer(dst, d, v);
    case TSR_KIND_FLOAT: {
        double f = v.f;
        if (v.tag != V_FLOAT) TSR_TRY(value_to_double(&f, v));
        if (d == TSR_FLOAT32) {
            float x = (float)f;
            memcpy(dst, &x, sizeof x);
        } else {
            tsr_scalar_store(tsr_scalar_float(f), d, dst);
        }
        return TSR_OK;
    }
    case TSR_KIND_COMPLEX: return store_complex(dst, d, v);
    default: return d == TSR_STRING ? store_string(dst, v) : store_nested(dst, v);
    }
}

static TsrStatus store_sequence(char *dst, const TsrTensor *t, int dim, Value v) {
    if (dim == tsr_ndim(t)) return store(dst, t->dtype, v);
    const Value *items = NULL;
    int64_t n = 0;
    Value holder;
    TsrStatus s = sequence_items(&items, &n, &holder, v);
    if (s != TSR_OK) {
        if (!exc_matches(s, TSR_TYPE_ERROR)) return s;
        exc_discard(s);
        return tsr_error(TSR_TYPE_ERROR, "not a sequence");
    }
    size_t step = (size_t)t->strides[dim] * tsr_itemsize(t);
    if (n != t->sizes[dim])
        s = tsr_error(TSR_VALUE_ERROR, "expected sequence of length %lld at dim %d (got %lld)",
                      (long long)t->sizes[dim], dim, (long long)n);
    for (int64_t i = 0; i < n && s == TSR_OK; i++, dst += step) {
        s = store_sequence(dst, t, dim + 1, items[i]);
        if (s == TSR_OK) s = tsr_interrupt_check_at(i);
    }
    value_release(holder);
    return s;
}

static TsrStatus copy_of(TsrTensor **out, TsrTensor *t, TsrDtype dtype, TsrDevice device) {
    if (tsr_device_has_backend(device)) TSR_TRY(tsr_device_resolve(&device));
    if (!tsr_device_equal(device, t->device) && (device.type != t->device.type || tsr_device_has_backend(device))) {
        TsrTensor *moved;
        TSR_TRY(tsr_tensor_new_strided(&moved, tsr_ndim(t), t->sizes, t->strides,
                                       dtype == TSR_DTYPE_NONE ? t->dtype : dtype, device));
        TsrStatus s = tsr_is_meta(moved) ? TSR_OK : tsr_tensor_copy(moved, t);
        if (s == TSR_OK) *out = moved;
        else tsr_tensor_free(moved);
        return s;
    }
    if (dtype == TSR_DTYPE_NONE || dtype == t->dtype) return tsr_tensor_new_clone(out, t, TSR_PRESERVE);
    return tsr_tensor_new_cast(out, t, dtype);
}

static TsrStatus fill_from(TsrTensor *t, Value data) {
    if (tsr_is_meta(t) || t->numel == 0) { return TSR_OK; }
    TsrLoans loans = {.what = "tensor"};
    TsrStatus status = tsr_lend(&loans, t, true);
    if (status == TSR_OK) status = store_sequence(tsr_data(t), t, 0, data);
    return tsr_give_back(&loans, status);
}

/* A copy of a sparse tensor, on its device. */
static TsrStatus copy_of_sparse(TsrTensor **out, TsrTensor *t, TsrDtype dtype) {
    TsrTensor *copy;
    TSR_TRY(tsr_invoke_new(&copy, 1, "clone", "t", t));
    TsrStatus s = tsr_invoke_new(out, 1, "to", "td", copy, dtype == TSR_DTYPE_NONE ? t->dtype : dtype);
    tsr_tensor_free(copy);
    return s;
}

TsrStatus tensor_new_from_data(TsrTensor **out, Value data, TsrDtype dtype, TsrDevice device) {
    TsrTensor *t = NULL;
    TSR_TRY(bind_tensor_of(&t, data));
    if (t != NULL && dtype != TSR_NESTED && tsr_is_sparse(t)) return copy_of_sparse(out, t, dtype);
    if (t != NULL && dtype != TSR_NESTED) return copy_of(out, t, dtype, device);
    if ((value_is_str(data) && dtype != TSR_STRING) || value_is_bytes(data))
        return tsr_error(TSR_TYPE_ERROR, "new(): invalid data type '%s'", value_type_name(data));
    Shape shape;
    TSR_TRY(find_shape(&shape, data, dtype == TSR_STRING));
    if (dtype == TSR_DTYPE_NONE) TSR_TRY(infer(&dtype, data, 0));
    TSR_TRY(tsr_tensor_new(&t, shape.ndim, shape.sizes, dtype, device));
    TsrStatus s = fill_from(t, data);
    if (s == TSR_OK) *out = t;
    else tsr_tensor_free(t);
    return s;
}

TsrStatus tensor_new_from_index(TsrTensor **out, Value sequence) {
    TsrDtype d = TSR_INT64;
    if (value_is_str(sequence) || value_is_bytes(sequence))
        return tsr_error(TSR_TYPE_ERROR, "new(): invalid data type '%s'", value_type_name(sequence));
    TSR_TRY(infer(&d, sequence, 0));
    return tensor_new_from_data(out, sequence, d == TSR_BOOL || d == TSR_UINT8 ? d : TSR_INT64, TSR_DEVICE_CPU);
}

/* ---- back to the language ---- */

TsrStatus tensor_element(Value *out, const TsrTensor *t, int64_t i) {
    if (tsr_dtype_is_pod(t->dtype)) {
        TsrScalar element = tsr_tensor_get(t, i);
        if (TSR_UNLIKELY(tsr_memory_lost != 0)) TSR_TRY(tsr_tensor_check(t, false)); /* a mapped file became shorter */
        return bind_scalar_value(out, element);
    }
    int64_t at = 0;
    for (int d = tsr_ndim(t) - 1; d >= 0; i /= t->sizes[d], d--) at += i % t->sizes[d] * t->strides[d];
    const char *p = (const char *)tsr_data(t) + at * (int64_t)tsr_itemsize(t);
    if (t->dtype == TSR_STRING)
        return str_new(out, ((const TsrString *)p)->data == NULL ? "" : ((const TsrString *)p)->data,
                       (int64_t)((const TsrString *)p)->length);
    TsrTensor *inner = *(TsrTensor *const *)p;
    *out = inner == NULL ? VALUE_NONE : value_tensor_move(tsr_tensor_retain(inner));
    return TSR_OK;
}

/* The commonest dtypes without the detour of a scalar: tolist() of 10000 floats took 203 us and takes 51 (one thread,
 * Zen 5). */
static inline TsrStatus element_at(Value *out, TsrDtype d, const char *at) {
    switch (d) {
    case TSR_FLOAT32: *out = value_float((double)*(const float *)(const void *)at); return TSR_OK;
    case TSR_FLOAT64: *out = value_float(*(const double *)(const void *)at); return TSR_OK;
    case TSR_INT64: *out = value_int(*(const int64_t *)(const void *)at); return TSR_OK;
    default: return bind_scalar_value(out, tsr_scalar_load(d, at));
    }
}

/* `at`: the first element of this part, where it can be read as it lies there; NULL: elements are numbered by *next. */
static TsrStatus list_of_dim(Value *out, const TsrTensor *t, int dim, const char *at, int64_t *next) {
    if (dim == tsr_ndim(t)) return at != NULL ? element_at(out, t->dtype, at) : tensor_element(out, t, (*next)++);
    Value list;
    TSR_TRY(list_new(&list, t->sizes[dim]));
    TsrStatus s = TSR_OK;
    int64_t step = tsr_layout_times(t->strides[dim], (int64_t)tsr_itemsize(t));
    for (int64_t i = 0; i < t->sizes[dim] && s == TSR_OK; i++) {
        Value item;
        if (at != NULL && dim + 1 == tsr_ndim(t)) s = element_at(&item, t->dtype, at + i * step);
        else s = list_of_dim(&item, t, dim + 1, at != NULL ? at + i * step : NULL, next);
        if (s == TSR_OK) s = list_append_move(value_as_list(list), item);
        if (s == TSR_OK) s = tsr_interrupt_check_at(i);
    }
    return value_end_move(out, s, list);
}

TsrStatus tensor_to_list(Value *out, const TsrTensor *t) {
    if (tsr_is_meta(t)) return tsr_error(TSR_NOT_IMPLEMENTED_ERROR, "Cannot copy out of meta tensor; no data!");
    TSR_TRY(tsr_tensor_check(t, false));
    int64_t next = 0;
    bool plain = !tsr_is_sparse(t) && tsr_dtype_is_pod(t->dtype) && (t->flags & (TSR_FLAG_CONJ | TSR_FLAG_NEG)) == 0;
    return tsr_on_host("tolist", t, list_of_dim(out, t, 0, plain ? tsr_data(t) : NULL, &next));
}

/* ---- borrowed buffers ---- */

static void release_buffer(void *ctx) {
    Obj *o = ctx;
    if (o->type == &bytearray_type) ((ByteArray *)o)->exports--;
    obj_release(o);
}

static TsrStatus check_buffer(int64_t *elements, int64_t length, int64_t item, int64_t count, int64_t offset) {
    if (length <= 0 || count == 0)
        return tsr_error(TSR_VALUE_ERROR, "both buffer length (%lld) and count (%lld) must not be 0", (long long)length,
                         (long long)count);
    if (offset < 0 || offset >= length)
        return tsr_error(
            TSR_VALUE_ERROR,
            "offset (%lld bytes) must be non-negative and no greater than buffer length (%lld bytes) minus 1",
            (long long)offset, (long long)length);
    if (count > 0) {
        if (count > (length - offset) / item)
            return tsr_error(
                TSR_VALUE_ERROR,
                "requested buffer length (%lld * %lld bytes) after offset (%lld bytes) must not be greater than "
                "actual buffer length (%lld bytes)",
                (long long)count, (long long)item, (long long)offset, (long long)length);
        *elements = count;
        return TSR_OK;
    }
    if ((length - offset) % item != 0)
        return tsr_error(
            TSR_VALUE_ERROR,
            "buffer length (%lld bytes) after offset (%lld bytes) must be a multiple of element size (%lld)",
            (long long)(length - offset), (long long)offset, (long long)item);
    *elements = (length - offset) / item;
    return TSR_OK;
}

TsrStatus tensor_new_from_buffer(TsrTensor **out, Value buffer, TsrDtype dtype, int64_t count, int64_t offset) {
    char *data;
    int64_t size, n;
    if (!value_as_buffer(buffer, &data, &size))
        return tsr_error(TSR_VALUE_ERROR, "object does not implement Python buffer protocol.");
    if (!tsr_dtype_is_pod(dtype))
        return tsr_error(TSR_TYPE_ERROR, "frombuffer(): a buffer cannot hold %s elements", tsr_dtype_name(dtype));
    int64_t item = (int64_t)tsr_dtype_size(dtype);
    TSR_TRY(check_buffer(&n, size, item, count, offset));
    TsrDataPtr ptr = {
        .data = data + offset, .ctx = obj_retain(buffer.o), .deleter = release_buffer, .device = TSR_DEVICE_CPU};
    if (value_is_bytearray(buffer)) ((ByteArray *)buffer.o)->exports++;
    TsrStorage *storage;
    TSR_TRY(tsr_storage_new_adopt_move(&storage, &ptr, (size_t)(n * item), "borrowed", NULL));
    storage->readonly = value_is_bytes(buffer);
    TsrStatus s = tsr_tensor_new_over(out, storage, (TsrGeometry){1, &n, (int64_t[]){1}, 0}, dtype);
    tsr_storage_free(storage);
    return s;
}
