/* elements.c: what readers and writers of formats share (elements.h): checks of a shape read from a file, tensors over
 * the bytes of a file, byte order, and stable sorting of pointers.
 *
 * A tensor shares the file's mapping where byte order and alignment allow it, else its bytes are copied. bools other
 * than 0 and 1 are copied and made 1: the kernels rely on those two values. */
#include "elements.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "core/layout.h"
#include "core/mem.h"
#include "core/number.h"
#include "core/tensor/owned.h"
#include "core/view.h"

TsrStatus tsr_check_shape(const TsrInput *in, int64_t *numel, size_t *nbytes, int ndim, const int64_t *shape,
                          TsrDtype dtype) {
    int64_t product = 1, bytes;
    for (int d = 0; d < ndim; d++) /* a size of 0 does not excuse the others */
        if (shape[d] < 0 || tsr_mul_overflows(product, TSR_MAX(shape[d], 1), &product))
            return tsr_input_error(in, "its shape overflows");
    if (tsr_mul_overflows(product, (int64_t)tsr_dtype_size(dtype), &bytes))
        return tsr_input_error(in, "its shape overflows");
    for (int d = 0; d < ndim; d++)
        if (shape[d] == 0) product = 0;
    if (product > 0 && (uint64_t)bytes > SIZE_MAX) return tsr_input_error(in, "its shape overflows");
    *numel = product;
    *nbytes = (size_t)product * tsr_dtype_size(dtype);
    return TSR_OK;
}

/* Reverses the bytes of each element of `unit` bytes. */
static void swap_bytes(char *data, size_t nbytes, size_t unit) {
    const int64_t n = (int64_t)(nbytes / unit);
    TSR_IN_PIECES(k, n) {
        char *p = data + (size_t)k * unit;
        for (size_t i = 0; i < unit / 2; i++) {
            char low = p[i];
            p[i] = p[unit - 1 - i];
            p[unit - 1 - i] = low;
        }
    }
}

/* Whether bools have other values than 0 and 1. */
static bool has_stray_bools(const char *data, size_t nbytes) {
    const int64_t n = (int64_t)nbytes;
    unsigned char all = 0;
    TSR_IN_PIECES(i, n) all |= (unsigned char)data[i];
    return all > 1;
}

TsrStatus tsr_input_new_elements(TsrStorage **out, TsrInput *in, const TsrElements *e) {
    size_t unit = tsr_dtype_is_complex(e->dtype) ? tsr_dtype_size(e->dtype) / 2 : tsr_dtype_size(e->dtype);
    bool swap = e->big_endian && unit > 1;
    bool stray = e->dtype == TSR_BOOL && has_stray_bools(in->data + e->offset, e->nbytes);
    TSR_TRY(tsr_input_new_storage(
        out, in, e->offset, e->nbytes,
        !swap && !stray && (uintptr_t)(in->data + e->offset) % (e->alignment > 0 ? e->alignment : unit) == 0));
    char *data = (*out)->ptr.data;
    const int64_t bools = stray ? (int64_t)e->nbytes : 0;
    if (swap) swap_bytes(data, e->nbytes, unit);
    TSR_IN_PIECES(i, bools) data[i] = data[i] != 0;
    return TSR_OK; /* an interrupt shows where the reader ends */
}

/* Column-major strides, as npy files may have. */
static void fortran_strides(int64_t *strides, int ndim, const int64_t *shape) {
    int64_t step = 1;
    for (int d = 0; d < ndim; d++) {
        strides[d] = step;
        step *= TSR_MAX(shape[d], 1);
    }
}

TsrStatus tsr_input_new_tensor(TsrTensor **out, TsrInput *in, const TsrElements *e, int ndim, const int64_t *shape,
                               bool fortran) {
    int64_t strides[TSR_MAX_DIMS];
    TsrStorage *storage;
    TSR_TRY(tsr_input_new_elements(&storage, in, e));
    if (fortran) fortran_strides(strides, ndim, shape);
    else tsr_layout_contiguous_strides(strides, ndim, shape);
    TsrStatus status = tsr_tensor_new_over(out, storage, (TsrGeometry){ndim, shape, strides, 0}, e->dtype);
    tsr_storage_free(storage);
    return status;
}

TsrStatus tsr_new_elements(TsrTensor **out, const TsrTensor *t) {
    TSR_OWNED dense = NULL;
    if (!tsr_dtype_is_pod(t->dtype))
        return tsr_error(TSR_VALUE_ERROR, "elements of torch.%s have no bytes of their own", tsr_dtype_name(t->dtype));
    TSR_TRY(tsr_tensor_new_contiguous(&dense, t, TSR_CONTIGUOUS));
    return tsr_tensor_new_resolved(out, dense);
}

TsrStatus tsr_write_elements(TsrSink *sink, const TsrTensor *t) {
    TsrTensor *resolved;
    TSR_TRY(tsr_new_elements(&resolved, t));
    if (resolved->numel > 0) tsr_sink_write(sink, tsr_data(resolved), (size_t)resolved->numel * tsr_itemsize(resolved));
    tsr_tensor_free(resolved);
    return sink->status;
}

/* ---- order ---- */

TsrStatus tsr_items_new_sorted(const TsrItem ***out, const TsrItems *items,
                               int (*compare)(const void *a, const void *b)) {
    return tsr_new_sorted((const void ***)out, items->items, (size_t)items->n, sizeof *items->items, compare);
}

TsrStatus tsr_check_names(const TsrInput *in, const void *named, int n, size_t size) {
    const void **sorted;
    char shown[440];
    int i = 1;
    TSR_TRY(tsr_new_sorted(&sorted, named, (size_t)n, size, tsr_by_name));
    while (i < n && tsr_by_name(sorted[i - 1], sorted[i]) != 0) i++;
    const char *twice = i < n ? *(char *const *)sorted[i] : NULL;
    TsrStatus status =
        twice == NULL ? TSR_OK
                      : tsr_input_error(in, "the name '%s' is there twice", tsr_io_quote(shown, twice, strlen(twice)));
    tsr_free(sorted);
    return status;
}

/* ---- text ---- */

bool tsr_parse_uint64(uint64_t *out, const char *begin, const char *end) {
    *out = 0;
    for (const char *p = begin; p < end; p++)
        if (*p < '0' || *p > '9' || __builtin_mul_overflow(*out, 10, out) ||
            __builtin_add_overflow(*out, (uint64_t)(*p - '0'), out))
            return false;
    return begin < end;
}

bool tsr_whole_is_rounded(const char *begin, const char *end, double value, bool *fits) {
    char exact[320]; /* a double has at most 309 digits before its point */
    int64_t small;
    uint64_t large;
    *fits = tsr_parse_int64(&small, begin, end) == end || tsr_parse_uint64(&large, begin, end);
    begin += begin < end && (*begin == '-' || *begin == '+');
    while (begin + 1 < end && *begin == '0') begin++;
    for (const char *p = begin; p < end; p++)
        if (*p < '0' || *p > '9') return false;
    if (!isfinite(value)) return begin < end;
    size_t n = (size_t)snprintf(exact, sizeof exact, "%.0f", fabs(value));
    return n != (size_t)(end - begin) || memcmp(exact, begin, n) != 0;
}

TsrStatus tsr_note_rounding(TsrItems *out, const TsrInput *in, int64_t line, int64_t column, TsrDtype keeper) {
    bool kept = keeper != TSR_DTYPE_NONE;
    out->rounded = true;
    return tsr_items_note(out, in, "line %lld, column %lld: float64 rounds this whole number%s%s%s", (long long)line,
                          (long long)column, kept ? "; --dtype " : "", kept ? tsr_dtype_name(keeper) : "",
                          kept ? " keeps it" : "");
}

bool tsr_integer_fits(TsrDtype dtype, int64_t v) {
    bool is_signed = tsr_dtype_is_signed(dtype);
    int bits = 8 * (int)tsr_dtype_size(dtype) - is_signed;
    if (v < 0 && !is_signed) return false;
    return bits > 62 || (v < INT64_C(1) << bits && v >= -(INT64_C(1) << bits));
}

static size_t format_real(char *buffer, double value, TsrDtype dtype, int precision, bool whole_point) {
    bool narrow = dtype != TSR_FLOAT64 && dtype != TSR_COMPLEX128;
    size_t n = precision > 0 && isfinite(value) ? (size_t)snprintf(buffer, 48, "%.*g", TSR_MIN(precision, 17), value)
               : narrow                         ? tsr_format_float(buffer, (float)value)
                                                : tsr_format_double(buffer, value);
    if (!whole_point && n > 2 && memcmp(buffer + n - 2, ".0", 3) == 0) buffer[n -= 2] = '\0';
    if (whole_point && isfinite(value) && strpbrk(buffer, ".e") == NULL) {
        memcpy(buffer + n, ".0", 3);
        n += 2;
    }
    return n;
}

size_t tsr_format_element(char *buffer, TsrScalar value, TsrDtype dtype, int precision, bool whole_point) {
    switch (value.kind) {
    case TSR_SCALAR_BOOL: return (size_t)snprintf(buffer, 48, "%s", value.b ? "true" : "false");
    case TSR_SCALAR_INT:
        return tsr_format_integer(buffer, value.i < 0, value.i < 0 ? 0 - (uint64_t)value.i : (uint64_t)value.i);
    case TSR_SCALAR_UINT: return tsr_format_integer(buffer, false, value.u);
    default: return format_real(buffer, tsr_scalar_to_double(value), dtype, precision, whole_point);
    }
}
