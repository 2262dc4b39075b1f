/* scalar.h: one value of any numeric dtype, as PyTorch's Scalar: what an argument of type Scalar or
 * an element of a tensor is. Kind BOOL, INT (int64, or uint64 above 2^63-1), FLOAT (double) or COMPLEX. */
#ifndef TSR_SCALAR_H
#define TSR_SCALAR_H

#include "dtype.h"

TSR_PUBLIC_BEGIN

/* Which member of a TsrScalar holds the value. */
typedef enum TsrScalarKind {
    TSR_SCALAR_BOOL,
    TSR_SCALAR_INT,
    TSR_SCALAR_UINT,
    TSR_SCALAR_FLOAT,
    TSR_SCALAR_COMPLEX
} TsrScalarKind;

/* A complex number in words that C and C++ share. */
typedef struct TsrReIm {
    double re, im;
} TsrReIm;

/* A value, 24 bytes, passed by value; owns nothing. UINT only for values above INT64_MAX. */
typedef struct TsrScalar {
    TsrScalarKind kind;
    union {
        bool b;
        int64_t i;
        uint64_t u;
        double f;
        TsrReIm c;
    };
} TsrScalar;

/* A scalar of each kind, written so that C++17 compiles it too. */
static inline TsrScalar tsr_scalar_bool(bool b) {
    TsrScalar s = {TSR_SCALAR_BOOL, {b}};
    return s;
}
static inline TsrScalar tsr_scalar_int(int64_t i) {
    TsrScalar s = {TSR_SCALAR_INT, {false}};
    s.i = i;
    return s;
}
static inline TsrScalar tsr_scalar_float(double f) {
    TsrScalar s = {TSR_SCALAR_FLOAT, {false}};
    s.f = f;
    return s;
}
static inline TsrScalar tsr_scalar_complex(double re, double im) {
    TsrScalar s = {TSR_SCALAR_COMPLEX, {false}};
    s.c.re = re;
    s.c.im = im;
    return s;
}

/* Conversions as C would do them, defined for every input (float to int out of range follows x86's truncation, no UB).
 */
double tsr_scalar_to_double(TsrScalar s); /* the real part of a complex */
int64_t tsr_scalar_to_int(TsrScalar s);
bool tsr_scalar_to_bool(TsrScalar s);
/* Writes `s` converted to dtype `d` at `dst` (itemsize bytes, any alignment). Not for OBJECT dtypes. */
void tsr_scalar_store(TsrScalar s, TsrDtype d, void *dst);
/* Reads one element. Small floats widen to FLOAT, integers to INT (uint64 to UINT when above int64). */
TsrScalar tsr_scalar_load(TsrDtype d, const void *src);
/* As tsr_scalar_store, but TSR_RUNTIME_ERROR "value cannot be converted to type int8_t without overflow" when it does
 * not fit (PyTorch's checked conversion, as in fill_ and full). */
TsrStatus tsr_scalar_store_checked(TsrScalar s, TsrDtype d, void *dst);
/* As tsr_scalar_store_checked, for a value that PyTorch takes from a tensor of one element: one that is too large for a
 * float of 16 or 8 bits becomes infinite. */
TsrStatus tsr_scalar_store_only(TsrScalar s, TsrDtype d, void *dst);
/* The dtype a Python number of this kind becomes: bool, int64, default dtype, complex of the default dtype. */
TsrDtype tsr_scalar_dtype(TsrScalar s);

TSR_PUBLIC_END

TsrScalar tsr_scalar_negated(TsrScalar s); /* a bool counts as an integer; INT64_MIN stays as it is */

#endif
