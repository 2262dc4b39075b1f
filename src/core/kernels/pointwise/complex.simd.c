/* complex.simd.c: pointwise kernels on complex64 and complex128, for one instruction set (with fused operations or
 * without). */
#include <complex.h>
#include <math.h>
#include <string.h>

#include "table.h"
#include "core/kernels/simd.h"
#include "core/kernels/types.h"

typedef struct TsrC64 {
    float re, im;
} TsrC64;
typedef struct TsrC128 {
    double re, im;
} TsrC128;

#define F float
#define REAL TSR_FLOAT32
#define C TsrC64
#define Z TsrComplexFloat
#define L(fn) fn##f
#define P(name) name##_f
#define CMPLX_OF __builtin_complex
#define LANES 8
#define GROUP 2
#define BITS uint32_t
#define EVEN_TWICE(v) __builtin_shufflevector(v, v, 0, 0, 2, 2, 4, 4, 6, 6)
#define ODD_TWICE(v) __builtin_shufflevector(v, v, 1, 1, 3, 3, 5, 5, 7, 7)
#define SWAPPED(v) __builtin_shufflevector(v, v, 1, 0, 3, 2, 5, 4, 7, 6)
#include "complex.inc"
#undef F
#undef REAL
#undef C
#undef Z
#undef L
#undef P
#define F double
#define REAL TSR_FLOAT64
#define C TsrC128
#define Z TsrComplexDouble
#define L(fn) fn
#define P(name) name##_d
#undef LANES
#undef GROUP
#undef BITS
#undef EVEN_TWICE
#undef ODD_TWICE
#undef SWAPPED
#define LANES 4
#define GROUP 1
#define BITS uint64_t
#define EVEN_TWICE(v) __builtin_shufflevector(v, v, 0, 0, 2, 2)
#define ODD_TWICE(v) __builtin_shufflevector(v, v, 1, 1, 3, 3)
#define SWAPPED(v) __builtin_shufflevector(v, v, 1, 0, 3, 2)
#include "complex.inc"

#define ROW(name) [TSR_K_##name] = {[TSR_COMPLEX64] = name##_f, [TSR_COMPLEX128] = name##_d},
static const TsrLoop table[TSR_K_COUNT][TSR_DTYPE_COUNT] = {
    ROW(add) ROW(sub) ROW(mul) ROW(div) ROW(axpy) ROW(pow) ROW(logaddexp) ROW(eq) ROW(ne) ROW(logical_and)
        ROW(logical_or) ROW(logical_xor) ROW(logical_not) ROW(neg) ROW(conj) ROW(abs) ROW(angle) ROW(sgn) ROW(square)
            ROW(cube) ROW(reciprocal) ROW(rsqrt) ROW(isnan) ROW(isinf) ROW(isfinite) ROW(isreal) ROW(log2) ROW(log10)
                ROW(log1p) ROW(expm1) ROW(exp2) ROW(sigmoid) ROW(sinc) ROW(nan_to_num) ROW(exp) ROW(log) ROW(sqrt)
                    ROW(sin) ROW(cos) ROW(tan) ROW(asin) ROW(acos) ROW(atan) ROW(sinh) ROW(cosh) ROW(tanh) ROW(asinh)
                        ROW(acosh) ROW(atanh) ROW(addcmul) ROW(addcdiv) ROW(lerp)};

TsrKernelTable SIMD(tsr_kernels_complex)(void) { return table; }
