/* scalar.c: one value of any dtype (scalar.h): conversion, and storing to and loading from an element's bytes.
 *
 * Bytes are moved by memcpy, so that no alignment is asked for. Conversions out of range give what x86's instructions
 * give (halffloat.h), which is what PyTorch prints. The switches over dtypes have no default, so that a new dtype
 * without its case does not compile. */
#include "core/scalar.h"

#include <math.h>

#include "halffloat.h"

double tsr_scalar_to_double(TsrScalar s) {
    switch (s.kind) {
    case TSR_SCALAR_BOOL: return s.b;
    case TSR_SCALAR_INT: return (double)s.i;
    case TSR_SCALAR_UINT: return (double)s.u;
    case TSR_SCALAR_FLOAT: return s.f;
    default: return s.c.re;
    }
}

int64_t tsr_scalar_to_int(TsrScalar s) {
    switch (s.kind) {
    case TSR_SCALAR_BOOL: return s.b;
    case TSR_SCALAR_INT: return s.i;
    case TSR_SCALAR_UINT: return (int64_t)s.u;
    case TSR_SCALAR_FLOAT: return tsr_double_to_int64(s.f);
    default: return tsr_double_to_int64(s.c.re);
    }
}

TsrScalar tsr_scalar_negated(TsrScalar s) {
    if (s.kind == TSR_SCALAR_COMPLEX) return tsr_scalar_complex(-s.c.re, -s.c.im);
    if (s.kind == TSR_SCALAR_FLOAT) return tsr_scalar_float(-s.f);
    return tsr_scalar_int((int64_t)(0 - (uint64_t)tsr_scalar_to_int(s)));
}

bool tsr_scalar_to_bool(TsrScalar s) {
    switch (s.kind) {
    case TSR_SCALAR_BOOL: return s.b;
    case TSR_SCALAR_INT: return s.i != 0;
    case TSR_SCALAR_UINT: return s.u != 0;
    case TSR_SCALAR_FLOAT: return s.f != 0;
    default: return s.c.re != 0 || s.c.im != 0;
    }
}

/* As the integer dtypes of 8 to 32 bits convert: through int32, of which they keep the low bits. */
static int32_t narrow_int(TsrScalar s) {
    if (s.kind == TSR_SCALAR_FLOAT) return tsr_double_to_int32(s.f);
    if (s.kind == TSR_SCALAR_COMPLEX) return tsr_double_to_int32(s.c.re);
    return (int32_t)tsr_scalar_to_int(s);
}

static uint64_t wide_uint(TsrScalar s) {
    if (s.kind == TSR_SCALAR_UINT) return s.u;
    if (s.kind == TSR_SCALAR_FLOAT) return tsr_double_to_uint64(s.f);
    if (s.kind == TSR_SCALAR_COMPLEX) return tsr_double_to_uint64(s.c.re);
    return (uint64_t)tsr_scalar_to_int(s);
}

static double imaginary(TsrScalar s) { return s.kind == TSR_SCALAR_COMPLEX ? s.c.im : 0; }

/* --- load_STEM and store_STEM of each row of dtype.def: one element at an address of any alignment --- */
#define SAME(x) (x)
/* A number: `read` of its bits x, and what is written, an expression in s. */
#define ELEMENT(stem, type, read, written) \
    static TsrScalar load_##stem(const void *src) { \
        type x; \
        memcpy(&x, src, sizeof x); \
        return read; \
    } \
    static void store_##stem(TsrScalar s, void *dst) { \
        type x = written; \
        memcpy(dst, &x, sizeof x); \
    }
#define SMALL_FLOAT(stem, type, widen, round) \
    ELEMENT(stem, type, tsr_scalar_float((double)widen(x)), round((float)tsr_scalar_to_double(s)))
#define COMPLEX_PAIR(stem, part, widen, round) \
    static TsrScalar load_##stem(const void *src) { \
        part z[2]; \
        memcpy(z, src, sizeof z); \
        return tsr_scalar_complex((double)widen(z[0]), (double)widen(z[1])); \
    } \
    static void store_##stem(TsrScalar s, void *dst) { \
        part z[2] = {round(tsr_scalar_to_double(s)), round(imaginary(s))}; \
        memcpy(dst, z, sizeof z); \
    }
#define HALF_OF(x) tsr_half_round((float)(x))
#define BFLOAT16_OF(x) tsr_bfloat16_round((float)(x))
#define FLOAT_OF(x) ((float)(x))

static TsrScalar wide_scalar(uint64_t u) {
    if (u <= INT64_MAX) return tsr_scalar_int((int64_t)u);
    return (TsrScalar){.kind = TSR_SCALAR_UINT, .u = u};
}

ELEMENT(u8, uint8_t, tsr_scalar_int(x), (uint8_t)narrow_int(s))
ELEMENT(i8, int8_t, tsr_scalar_int(x), (int8_t)narrow_int(s))
ELEMENT(i16, int16_t, tsr_scalar_int(x), (int16_t)narrow_int(s))
ELEMENT(i32, int32_t, tsr_scalar_int(x), narrow_int(s))
ELEMENT(i64, int64_t, tsr_scalar_int(x), tsr_scalar_to_int(s))
ELEMENT(u16, uint16_t, tsr_scalar_int(x), (uint16_t)narrow_int(s))
ELEMENT(u32, uint32_t, tsr_scalar_int(x), (uint32_t)tsr_scalar_to_int(s))
ELEMENT(u64, uint64_t, wide_scalar(x), wide_uint(s))
ELEMENT(b8, uint8_t, tsr_scalar_bool(x != 0), tsr_scalar_to_bool(s))
SMALL_FLOAT(f16, TsrHalf, tsr_half_widen, tsr_half_round)
SMALL_FLOAT(bf16, TsrBfloat16, tsr_bfloat16_widen, tsr_bfloat16_round)
SMALL_FLOAT(f8e5m2, TsrFloat8E5m2, tsr_float8_e5m2_widen, tsr_float8_e5m2_round)
SMALL_FLOAT(f8e4m3fn, TsrFloat8E4m3fn, tsr_float8_e4m3fn_widen, tsr_float8_e4m3fn_round)
SMALL_FLOAT(f8e5m2fnuz, TsrFloat8E5m2fnuz, tsr_float8_e5m2fnuz_widen, tsr_float8_e5m2fnuz_round)
SMALL_FLOAT(f8e4m3fnuz, TsrFloat8E4m3fnuz, tsr_float8_e4m3fnuz_widen, tsr_float8_e4m3fnuz_round)
SMALL_FLOAT(f8e8m0fnu, TsrFloat8E8m0fnu, tsr_float8_e8m0fnu_widen, tsr_float8_e8m0fnu_round)
ELEMENT(f32, float, tsr_scalar_float((double)x), (float)tsr_scalar_to_double(s))
ELEMENT(f64, double, tsr_scalar_float(x), tsr_scalar_to_double(s))
COMPLEX_PAIR(c32, TsrHalf, tsr_half_widen, HALF_OF)
COMPLEX_PAIR(bc32, TsrBfloat16, tsr_bfloat16_widen, BFLOAT16_OF)
COMPLEX_PAIR(c64, float, SAME, FLOAT_OF)
COMPLEX_PAIR(c128, double, SAME, SAME)

/* Objects are no numbers: they read as 0, and nothing is written. */
static TsrScalar load_string(const void *src) {
    (void)src;
    return tsr_scalar_int(0);
}
static void store_string(TsrScalar s, void *dst) {
    (void)s;
    (void)dst;
}
#define load_nested load_string
#define store_nested store_string

void tsr_scalar_store(TsrScalar s, TsrDtype d, void *dst) {
    switch ((TsrDtypeId)d) {
#define DTYPE(suffix, ctype, size, kind, group, stem, ...) \
    case TSR_##suffix: \
        store_##stem(s, dst); \
        break;
#include "core/dtype.def"
#undef DTYPE
    case TSR_DTYPE_COUNT:
    case TSR_DTYPE_NONE: break;
    }
}

TsrScalar tsr_scalar_load(TsrDtype d, const void *src) {
    switch ((TsrDtypeId)d) {
#define DTYPE(suffix, ctype, size, kind, group, stem, ...) \
    case TSR_##suffix: \
        return load_##stem(src);
#include "core/dtype.def"
#undef DTYPE
    case TSR_DTYPE_COUNT:
    case TSR_DTYPE_NONE: break;
    }
    return tsr_scalar_int(0);
}

static bool overflows_integer(TsrScalar s, TsrDtype d) {
    double x = tsr_scalar_to_double(s), low = tsr_dtypes[d].limits.low, high = tsr_dtypes[d].limits.high;
    if (s.kind == TSR_SCALAR_BOOL) return false;
    if (s.kind == TSR_SCALAR_UINT) return d != TSR_UINT64; /* above int64 */
    if (s.kind == TSR_SCALAR_INT && tsr_dtype_size(d) == 8) return false;
    if (s.kind == TSR_SCALAR_INT) return x < low || x > high;
    if (isnan(x) || (x < 0 && tsr_dtype_kind(d) == TSR_KIND_UINT))
        return true; /* whole numbers wrap into unsigned dtypes, others don't */
    return tsr_dtype_size(d) == 8 ? !(x >= low && x < high)
                                  : x < low || x >= high + 1; /* what is above is cut off first */
}

static bool has_infinity(TsrDtype d) {
    char element[16];
    tsr_scalar_store(tsr_scalar_float(INFINITY), d, element);
    return isinf(tsr_scalar_to_double(tsr_scalar_load(d, element)));
}

static bool overflows_float(double x, TsrDtype d) {
    const TsrLimits *limits = &tsr_dtypes[d].limits;
    if (isinf(x)) return tsr_dtype_is_float8(d) && !has_infinity(d);
    return x < limits->low || x > limits->high;
}

/* Whole numbers lose their sign in a dtype without one, and 0 becomes its least number. */
static bool overflows_real(TsrScalar s, TsrDtype d) {
    double x = tsr_scalar_to_double(s);
    if (tsr_dtype_is_signed(d) || s.kind == TSR_SCALAR_FLOAT) return overflows_float(x, d);
    return fabs(x) > tsr_dtypes[d].limits.high;
}

TsrStatus tsr_scalar_store_checked(TsrScalar s, TsrDtype d, void *dst) {
    bool bad = false;
    if (!tsr_dtype_is_pod(d) || tsr_dtypes[d].itemsize == 0)
        return tsr_error(TSR_TYPE_ERROR, "a number is no element of dtype %s", tsr_dtype_name(d));
    if (tsr_dtype_is_integral(d)) {
        bad = overflows_integer(s, d) || (s.kind == TSR_SCALAR_COMPLEX && s.c.im != 0);
    } else if (tsr_dtypes[d].limits.name != NULL) {
        bad = overflows_real(s, d) ||
              (s.kind == TSR_SCALAR_COMPLEX && s.c.im != 0 && (tsr_dtype_is_float(d) || overflows_float(s.c.im, d)));
    }
    if (bad)
        return tsr_error(TSR_RUNTIME_ERROR, "value cannot be converted to type %s without overflow",
                         tsr_dtypes[d].limits.name);
    tsr_scalar_store(s, d, dst);
    return TSR_OK;
}

TsrStatus tsr_scalar_store_only(TsrScalar s, TsrDtype d, void *dst) {
    if (!tsr_dtype_is_float(d) || tsr_dtype_size(d) > 2) return tsr_scalar_store_checked(s, d, dst);
    if (imaginary(s) != 0)
        return tsr_error(TSR_RUNTIME_ERROR, "value cannot be converted to type double without overflow");
    tsr_scalar_store(s, d, dst);
    return TSR_OK;
}

TsrDtype tsr_scalar_dtype(TsrScalar s) {
    switch (s.kind) {
    case TSR_SCALAR_BOOL: return TSR_BOOL;
    case TSR_SCALAR_INT: return TSR_INT64;
    case TSR_SCALAR_UINT: return TSR_UINT64;
    case TSR_SCALAR_FLOAT: return tsr_default_dtype();
    default: return tsr_default_complex();
    }
}
