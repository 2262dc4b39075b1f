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

/* Writes `value`, converted to `type`, at dst. */
#define PUT(type, value) \
    do { \
        type put_ = (value); \
        memcpy(dst, &put_, sizeof put_); \
    } while (0)

static double imaginary(TsrScalar s) { return s.kind == TSR_SCALAR_COMPLEX ? s.c.im : 0; }

static void store_float(TsrScalar s, TsrDtype d, void *dst) {
    double x = tsr_scalar_to_double(s);
    switch (d) {
    case TSR_FLOAT16: PUT(TsrHalf, tsr_half_round((float)x)); break;
    case TSR_BFLOAT16: PUT(TsrBfloat16, tsr_bfloat16_round((float)x)); break;
    case TSR_FLOAT8_E5M2: PUT(TsrFloat8E5m2, tsr_float8_e5m2_round((float)x)); break;
    case TSR_FLOAT8_E4M3FN: PUT(TsrFloat8E4m3fn, tsr_float8_e4m3fn_round((float)x)); break;
    case TSR_FLOAT32: PUT(float, (float)x); break;
    case TSR_FLOAT64: PUT(double, x); break;
    default: break;
    }
}

static void store_complex(TsrScalar s, TsrDtype d, void *dst) {
    double part[2] = {tsr_scalar_to_double(s), imaginary(s)};
    if (d == TSR_COMPLEX128) {
        memcpy(dst, part, sizeof part);
    } else if (d == TSR_COMPLEX64) {
        float narrow[2] = {(float)part[0], (float)part[1]};
        memcpy(dst, narrow, sizeof narrow);
    } else if (d == TSR_BCOMPLEX32) {
        TsrBfloat16 half[2] = {tsr_bfloat16_round((float)part[0]), tsr_bfloat16_round((float)part[1])};
        memcpy(dst, half, sizeof half);
    } else {
        TsrHalf half[2] = {tsr_half_round((float)part[0]), tsr_half_round((float)part[1])};
        memcpy(dst, half, sizeof half);
    }
}

/* Without a default, so that a dtype which this lacks does not compile. */
void tsr_scalar_store(TsrScalar s, TsrDtype d, void *dst) {
    switch ((TsrDtypeId)d) {
    case TSR_BOOL: PUT(bool, tsr_scalar_to_bool(s)); break;
    case TSR_UINT8: PUT(uint8_t, (uint8_t)narrow_int(s)); break;
    case TSR_INT8: PUT(int8_t, (int8_t)narrow_int(s)); break;
    case TSR_UINT16: PUT(uint16_t, (uint16_t)narrow_int(s)); break;
    case TSR_INT16: PUT(int16_t, (int16_t)narrow_int(s)); break;
    case TSR_INT32: PUT(int32_t, narrow_int(s)); break;
    case TSR_UINT32: PUT(uint32_t, (uint32_t)tsr_scalar_to_int(s)); break;
    case TSR_INT64: PUT(int64_t, tsr_scalar_to_int(s)); break;
    case TSR_UINT64: PUT(uint64_t, wide_uint(s)); break;
    case TSR_COMPLEX32:
    case TSR_BCOMPLEX32:
    case TSR_COMPLEX64:
    case TSR_COMPLEX128: store_complex(s, d, dst); break;
    case TSR_FLOAT16:
    case TSR_BFLOAT16:
    case TSR_FLOAT8_E5M2:
    case TSR_FLOAT8_E4M3FN:
    case TSR_FLOAT32:
    case TSR_FLOAT64: store_float(s, d, dst); break;
    case TSR_STRING:
    case TSR_NESTED:
    case TSR_DTYPE_COUNT:
    case TSR_DTYPE_NONE: break;
    }
}

/* Declares `name` and reads it from src. */
#define GET(type, name) \
    type name; \
    memcpy(&name, src, sizeof name)

static TsrScalar load_uint64(const void *src) {
    GET(uint64_t, u);
    if (u <= INT64_MAX) return tsr_scalar_int((int64_t)u);
    return (TsrScalar){.kind = TSR_SCALAR_UINT, .u = u};
}

static TsrScalar load_complex(TsrDtype d, const void *src) {
    if (d == TSR_COMPLEX128) {
        double z[2];
        memcpy(z, src, sizeof z);
        return tsr_scalar_complex(z[0], z[1]);
    }
    if (d == TSR_COMPLEX64) {
        float z[2];
        memcpy(z, src, sizeof z);
        return tsr_scalar_complex((double)z[0], (double)z[1]);
    }
    if (d == TSR_BCOMPLEX32) {
        GET(TsrComplexBfloat16, b);
        return tsr_scalar_complex((double)tsr_bfloat16_widen(b.re), (double)tsr_bfloat16_widen(b.im));
    }
    GET(TsrComplexHalf, h);
    return tsr_scalar_complex((double)tsr_half_widen(h.re), (double)tsr_half_widen(h.im));
}

static TsrScalar load_float(TsrDtype d, const void *src) {
    switch (d) {
    case TSR_FLOAT16: {
        GET(TsrHalf, x);
        return tsr_scalar_float((double)tsr_half_widen(x));
    }
    case TSR_BFLOAT16: {
        GET(TsrBfloat16, x);
        return tsr_scalar_float((double)tsr_bfloat16_widen(x));
    }
    case TSR_FLOAT8_E5M2: {
        GET(TsrFloat8E5m2, x);
        return tsr_scalar_float((double)tsr_float8_e5m2_widen(x));
    }
    case TSR_FLOAT8_E4M3FN: {
        GET(TsrFloat8E4m3fn, x);
        return tsr_scalar_float((double)tsr_float8_e4m3fn_widen(x));
    }
    case TSR_FLOAT32: {
        GET(float, x);
        return tsr_scalar_float((double)x);
    }
    default: {
        GET(double, x);
        return tsr_scalar_float(x);
    }
    }
}

TsrScalar tsr_scalar_load(TsrDtype d, const void *src) {
    switch ((TsrDtypeId)d) {
    case TSR_BOOL: {
        GET(uint8_t, x);
        return tsr_scalar_bool(x != 0);
    }
    case TSR_UINT8: {
        GET(uint8_t, x);
        return tsr_scalar_int(x);
    }
    case TSR_INT8: {
        GET(int8_t, x);
        return tsr_scalar_int(x);
    }
    case TSR_UINT16: {
        GET(uint16_t, x);
        return tsr_scalar_int(x);
    }
    case TSR_INT16: {
        GET(int16_t, x);
        return tsr_scalar_int(x);
    }
    case TSR_INT32: {
        GET(int32_t, x);
        return tsr_scalar_int(x);
    }
    case TSR_UINT32: {
        GET(uint32_t, x);
        return tsr_scalar_int(x);
    }
    case TSR_INT64: {
        GET(int64_t, x);
        return tsr_scalar_int(x);
    }
    case TSR_UINT64: return load_uint64(src);
    case TSR_COMPLEX32:
    case TSR_BCOMPLEX32:
    case TSR_COMPLEX64:
    case TSR_COMPLEX128: return load_complex(d, src);
    case TSR_STRING:
    case TSR_NESTED: return tsr_scalar_int(0);
    case TSR_FLOAT16:
    case TSR_BFLOAT16:
    case TSR_FLOAT8_E5M2:
    case TSR_FLOAT8_E4M3FN:
    case TSR_FLOAT32:
    case TSR_FLOAT64: return load_float(d, src);
    case TSR_DTYPE_COUNT:
    case TSR_DTYPE_NONE: break;
    }
    return tsr_scalar_int(0);
}

/* The C++ type's name in the overflow message, and the range of integers that fit. */
static const struct Range {
    const char *name;
    double low, high;
} ranges[TSR_DTYPE_COUNT] = {[TSR_UINT8] = {"uint8_t", -255, 255},
                             [TSR_INT8] = {"int8_t", -128, 127},
                             [TSR_INT16] = {"int16_t", -32768, 32767},
                             [TSR_INT32] = {"int", -2147483648.0, 2147483647.0},
                             [TSR_INT64] = {"int64_t", -0x1.0p63, 0x1.0p63},
                             [TSR_UINT16] = {"uint16_t", -65535, 65535},
                             [TSR_UINT32] = {"uint32_t", -4294967295.0, 4294967295.0},
                             [TSR_UINT64] = {"uint64_t", -0x1.0p64, 0x1.0p64},
                             [TSR_FLOAT16] = {"c10::Half", -65504, 65504},
                             [TSR_BFLOAT16] = {"c10::BFloat16", -0x1.FEp127, 0x1.FEp127},
                             [TSR_FLOAT8_E5M2] = {"c10::Float8_e5m2", -57344, 57344},
                             [TSR_FLOAT8_E4M3FN] = {"c10::Float8_e4m3fn", -448, 448},
                             [TSR_FLOAT64] = {"double", -INFINITY, INFINITY},
                             [TSR_FLOAT32] = {"float", -0x1.FFFFFEp127, 0x1.FFFFFEp127},
                             [TSR_COMPLEX32] = {"c10::complex<c10::Half>", -INFINITY, INFINITY},
                             [TSR_BCOMPLEX32] = {"c10::complex<c10::BFloat16>", -INFINITY, INFINITY},
                             [TSR_COMPLEX64] = {"c10::complex<float>", -0x1.FFFFFEp127, 0x1.FFFFFEp127}};

/* c10::overflows for integers: a negative whole number may wrap into an unsigned dtype down to minus its maximum. */
static bool overflows_integer(TsrScalar s, TsrDtype d) {
    double x = tsr_scalar_to_double(s), low = ranges[d].low, high = ranges[d].high;
    if (s.kind == TSR_SCALAR_BOOL) return false;
    if (s.kind == TSR_SCALAR_UINT) return d != TSR_UINT64; /* above int64 */
    if (s.kind == TSR_SCALAR_INT && tsr_dtype_size(d) == 8) return false;
    if (s.kind == TSR_SCALAR_INT) return x < low || x > high;
    if (isnan(x) || (x < 0 && tsr_dtype_kind(d) == TSR_KIND_UINT))
        return true; /* whole numbers wrap into unsigned dtypes, others don't */
    return tsr_dtype_size(d) == 8 ? !(x >= low && x < high)
                                  : x < low || x >= high + 1; /* what is above is cut off first */
}

static bool overflows_float(double x, TsrDtype d) { return isfinite(x) && (x < ranges[d].low || x > ranges[d].high); }

TsrStatus tsr_scalar_store_checked(TsrScalar s, TsrDtype d, void *dst) {
    bool bad = false;
    if (tsr_dtype_is_integral(d)) {
        bad = overflows_integer(s, d) || (s.kind == TSR_SCALAR_COMPLEX && s.c.im != 0);
    } else if (ranges[d].name != NULL) {
        bad = overflows_float(tsr_scalar_to_double(s), d) || overflows_float(imaginary(s), d) ||
              (s.kind == TSR_SCALAR_COMPLEX && s.c.im != 0 && tsr_dtype_is_float(d));
    }
    if (bad)
        return tsr_error(TSR_RUNTIME_ERROR, "value cannot be converted to type %s without overflow", ranges[d].name);
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
