/* dtype.c: the table of dtypes, made from dtype.def, their names, and the default dtype (dtype.h).
 *
 * A row's constructors follow from its kind: plain numbers have none and are made as zeroed bytes, strings own a heap
 * block, nested tensors call the functions of tensor/nested.c (dtype_impl.h). The table has a row for each of the 256
 * values of a TsrDtype, so a damaged id reads "unknown" rather than past the end. Static assertions compare each row's
 * size with its C type. */
#include "core/dtype.h"

#include <strings.h>

#include "dtype_impl.h"
#include "halffloat.h"
#include "core/mem.h"

/* --- strings --- */
static void string_destroy(void *data, size_t n) {
    TsrString *s = data;
    for (size_t i = 0; i < n; i++) {
        tsr_free(s[i].data);
        s[i] = (TsrString){NULL, 0};
    }
}

/* An empty string is all zeros. */
static TsrStatus string_construct(void *data, size_t n) {
    memset(data, 0, n * sizeof(TsrString));
    return TSR_OK;
}

/* Copies the bytes before it frees the old ones; on failure the elements before i are assigned and the rest unchanged.
 */
static TsrStatus string_copy(void *dst, const void *src, size_t n) {
    TsrString *to = dst;
    const TsrString *from = src;
    for (size_t i = 0; i < n; i++) {
        if (to[i].data == from[i].data && from[i].data != NULL) continue; /* onto itself */
        char *bytes = NULL;
        if (from[i].length > 0) {
            if ((bytes = tsr_malloc(from[i].length + 1)) == NULL) return tsr_error_no_memory(from[i].length + 1);
            memcpy(bytes, from[i].data, from[i].length);
            bytes[from[i].length] = '\0';
        }
        tsr_free(to[i].data);
        to[i] = (TsrString){bytes, from[i].length};
    }
    return TSR_OK;
}

static TsrStatus string_new(void **out) {
    TsrString *s = tsr_calloc(1, sizeof *s);
    if (s == NULL) return tsr_error_no_memory(sizeof *s);
    *out = s;
    return TSR_OK;
}

static void string_delete(void *element) {
    string_destroy(element, 1);
    tsr_free(element);
}

/* --- numbers: made and freed as bytes. c10 gives those that are classes in C++ functions for many elements too --- */
#define NUMBER_NEW(size) \
    static TsrStatus number_new_##size(void **out) { \
        *out = tsr_calloc(1, size); \
        return *out != NULL ? TSR_OK : tsr_error_no_memory(size); \
    }
NUMBER_NEW(1)
NUMBER_NEW(2)
NUMBER_NEW(4)
NUMBER_NEW(8)
NUMBER_NEW(16)

#define NUMBER_CLASS(size) \
    static TsrStatus number_construct_##size(void *data, size_t n) { \
        memset(data, 0, n *(size)); \
        return TSR_OK; \
    } \
    static TsrStatus number_copy_##size(void *dst, const void *src, size_t n) { \
        memmove(dst, src, n *(size)); \
        return TSR_OK; \
    }
NUMBER_CLASS(1)
NUMBER_CLASS(2)
NUMBER_CLASS(4)
NUMBER_CLASS(8)
NUMBER_CLASS(16)

static void number_destroy(void *data, size_t n) {
    (void)data;
    (void)n;
}

/* --- the table --- */
#define FUNCTIONS_PLAIN(size) number_new_##size, NULL, NULL, NULL, tsr_free
#define FUNCTIONS_CLASS(size) number_new_##size, number_construct_##size, number_copy_##size, number_destroy, tsr_free
#define FUNCTIONS_STRING string_new, string_construct, string_copy, string_destroy, string_delete
#define FUNCTIONS_NESTED tsr_nested_new, tsr_nested_construct, tsr_nested_copy, tsr_nested_destroy, tsr_nested_delete
/* By the row's kind. */
#define OF_BOOL(suffix, functions, size) FUNCTIONS_##functions(size)
#define OF_UINT(suffix, functions, size) FUNCTIONS_##functions(size)
#define OF_INT(suffix, functions, size) FUNCTIONS_##functions(size)
#define OF_FLOAT(suffix, functions, size) FUNCTIONS_##functions(size)
#define OF_COMPLEX(suffix, functions, size) FUNCTIONS_##functions(size)
#define OF_OBJECT(suffix, functions, size) FUNCTIONS_##suffix
#define RANGE(name, low, high) name, low, high
#define UNBOUNDED NULL, 0, 0
#define FINFO(resolution, eps, tiny) resolution, eps, tiny
#define EXACT 0, 0, 0
#define ROW_OF_NONE(name) \
    { \
        TSR_DTYPE_NONE, TSR_KIND_OBJECT, TSR_GROUP_OBJECT, 47 /* Undefined */, 0, name, name, "Undefined", NULL, NULL, \
            NULL, NULL, NULL, { \
            NULL, 0, 0, 0, 0, 0 \
        } \
    }
const TsrTypeMeta tsr_dtypes[TSR_DTYPE_VALUES] = {
#define DTYPE(suffix, ctype, size, kind, group, stem, number, functions, name, cname, th, range, precision) \
    {TSR_##suffix, \
     TSR_KIND_##kind, \
     TSR_GROUP_##group, \
     number, \
     size, \
     name, \
     cname, \
     th, \
     OF_##kind(suffix, functions, size), \
     {range, precision}},
#include "core/dtype.def"
#undef DTYPE
    [TSR_DTYPE_COUNT... TSR_DTYPE_NONE - 1] = ROW_OF_NONE("unknown"),
    [TSR_DTYPE_NONE] = ROW_OF_NONE("nullptr (uninitialized)"),
};

/* A row's size is its C type's, its names are there, a FLOAT has its precision, and others have none. */
#undef FINFO
#undef EXACT
#define FINFO(resolution, eps, tiny) true
#define EXACT false
#define DTYPE(suffix, ctype, size, kind, group, stem, number, functions, name, cname, th, range, precision) \
    _Static_assert(sizeof(ctype) == (size), "itemsize of " #suffix); \
    _Static_assert(sizeof(name) > 1 && sizeof(cname) > 1 && sizeof(th) > 1, "names of " #suffix); \
    _Static_assert((TSR_KIND_##kind == TSR_KIND_FLOAT) == precision, "precision of " #suffix);
#include "core/dtype.def"
#undef DTYPE
_Static_assert(TSR_DTYPE_COUNT <= 32, "sets of dtypes are masks of 32 bits (op/shared.h)");

/* Two rows with one number do not compile. */
TSR_UNUSED static void check_numbers(int number) {
    switch (number) {
#define DTYPE(suffix, ctype, size, kind, group, stem, number, ...) case number:
#include "core/dtype.def"
#undef DTYPE
    default: break;
    }
}

TsrStatus tsr_dtype_check(TsrDtype d) {
    return TSR_LIKELY(tsr_dtype_is_known(d)) ? TSR_OK : tsr_error(TSR_TYPE_ERROR, "%d is no dtype", d);
}

const TsrTypeMeta tsr_dtype_uninitialized = ROW_OF_NONE("nullptr (uninitialized)");

/* --- names --- */
static const struct {
    const char *name;
    TsrDtype id;
} aliases[] = {{"float", TSR_FLOAT32},   {"double", TSR_FLOAT64},   {"half", TSR_FLOAT16},
               {"long", TSR_INT64},      {"int", TSR_INT32},        {"short", TSR_INT16},
               {"chalf", TSR_COMPLEX32}, {"cfloat", TSR_COMPLEX64}, {"cdouble", TSR_COMPLEX128}};

TsrDtype tsr_dtype_from_name(const char *name) {
    if (strncmp(name, "torch.", 6) == 0) name += 6;
    for (int i = 0; i < TSR_DTYPE_COUNT; i++)
        if (strcmp(tsr_dtypes[i].name, name) == 0) return (TsrDtype)i;
    for (size_t i = 0; i < TSR_COUNTOF(aliases); i++)
        if (strcmp(aliases[i].name, name) == 0) return aliases[i].id;
    return TSR_DTYPE_NONE;
}

TsrDtype tsr_dtype_real_of(TsrDtype d) {
    switch (d) {
    case TSR_COMPLEX32: return TSR_FLOAT16;
    case TSR_BCOMPLEX32: return TSR_BFLOAT16;
    case TSR_COMPLEX64: return TSR_FLOAT32;
    case TSR_COMPLEX128: return TSR_FLOAT64;
    default: return d;
    }
}

TsrDtype tsr_dtype_complex_of(TsrDtype d) {
    switch (d) {
    case TSR_FLOAT16:
    case TSR_COMPLEX32: return TSR_COMPLEX32;
    case TSR_BFLOAT16:
    case TSR_BCOMPLEX32: return TSR_BCOMPLEX32;
    case TSR_FLOAT32:
    case TSR_COMPLEX64: return TSR_COMPLEX64;
    case TSR_FLOAT64:
    case TSR_COMPLEX128: return TSR_COMPLEX128;
    default: return tsr_default_complex();
    }
}

TsrDtype tsr_default_complex(void) {
    return tsr_default_dtype() == TSR_BFLOAT16 ? TSR_COMPLEX64 : tsr_dtype_complex_of(tsr_default_dtype());
}

/* Of the whole process, as in PyTorch. */
static TsrDtype default_dtype = TSR_FLOAT32;

TsrDtype tsr_default_dtype(void) { return default_dtype; }

TsrStatus tsr_set_default_dtype(TsrDtype d) {
    if (d != TSR_FLOAT16 && d != TSR_BFLOAT16 && d != TSR_FLOAT32 && d != TSR_FLOAT64)
        return tsr_error(TSR_TYPE_ERROR, "only floating-point types are supported as the default type");
    default_dtype = d;
    return TSR_OK;
}

/* --- small floats --- */
float tsr_half_to_float(TsrHalf x) { return tsr_half_widen(x); }
TsrHalf tsr_half_from_float(float x) { return tsr_half_round(x); }
float tsr_bfloat16_to_float(TsrBfloat16 x) { return tsr_bfloat16_widen(x); }
TsrBfloat16 tsr_bfloat16_from_float(float x) { return tsr_bfloat16_round(x); }
float tsr_float8_e5m2_to_float(TsrFloat8E5m2 x) { return tsr_float8_e5m2_widen(x); }
TsrFloat8E5m2 tsr_float8_e5m2_from_float(float x) { return tsr_float8_e5m2_round(x); }
float tsr_float8_e4m3fn_to_float(TsrFloat8E4m3fn x) { return tsr_float8_e4m3fn_widen(x); }
TsrFloat8E4m3fn tsr_float8_e4m3fn_from_float(float x) { return tsr_float8_e4m3fn_round(x); }
float tsr_float8_e5m2fnuz_to_float(TsrFloat8E5m2fnuz x) { return tsr_float8_e5m2fnuz_widen(x); }
TsrFloat8E5m2fnuz tsr_float8_e5m2fnuz_from_float(float x) { return tsr_float8_e5m2fnuz_round(x); }
float tsr_float8_e4m3fnuz_to_float(TsrFloat8E4m3fnuz x) { return tsr_float8_e4m3fnuz_widen(x); }
TsrFloat8E4m3fnuz tsr_float8_e4m3fnuz_from_float(float x) { return tsr_float8_e4m3fnuz_round(x); }
float tsr_float8_e8m0fnu_to_float(TsrFloat8E8m0fnu x) { return tsr_float8_e8m0fnu_widen(x); }
TsrFloat8E8m0fnu tsr_float8_e8m0fnu_from_float(float x) { return tsr_float8_e8m0fnu_round(x); }
