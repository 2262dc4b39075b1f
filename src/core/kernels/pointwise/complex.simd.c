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
#define FIRST_OF_GROUP(v) __builtin_shufflevector(v, v, 0, 0, 0, 0, 4, 4, 4, 4)
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
#undef FIRST_OF_GROUP
#define LANES 4
#define GROUP 1
#define BITS uint64_t
#define EVEN_TWICE(v) __builtin_shufflevector(v, v, 0, 0, 2, 2)
#define ODD_TWICE(v) __builtin_shufflevector(v, v, 1, 1, 3, 3)
#define SWAPPED(v) __builtin_shufflevector(v, v, 1, 0, 3, 2)
#define FIRST_OF_GROUP(v) (v)
#include "complex.inc"

#define OF_BOTH(name) [TSR_K_##name] = {[TSR_COMPLEX64] = name##_f, [TSR_COMPLEX128] = name##_d}
static const TsrLoop table[TSR_K_COUNT][TSR_DTYPE_COUNT] = {
    OF_BOTH(add),        OF_BOTH(sub),         OF_BOTH(mul),         OF_BOTH(div),        OF_BOTH(axpy),
    OF_BOTH(pow),        OF_BOTH(logaddexp),   OF_BOTH(eq),          OF_BOTH(ne),         OF_BOTH(logical_and),
    OF_BOTH(logical_or), OF_BOTH(logical_xor), OF_BOTH(logical_not), OF_BOTH(neg),        OF_BOTH(conj),
    OF_BOTH(abs),        OF_BOTH(angle),       OF_BOTH(sgn),         OF_BOTH(square),     OF_BOTH(cube),
    OF_BOTH(reciprocal), OF_BOTH(rsqrt),       OF_BOTH(isnan),       OF_BOTH(isinf),      OF_BOTH(isfinite),
    OF_BOTH(isreal),     OF_BOTH(log2),        OF_BOTH(log10),       OF_BOTH(log1p),      OF_BOTH(expm1),
    OF_BOTH(exp2),       OF_BOTH(sigmoid),     OF_BOTH(sinc),        OF_BOTH(nan_to_num), OF_BOTH(exp),
    OF_BOTH(log),        OF_BOTH(sqrt),        OF_BOTH(sin),         OF_BOTH(cos),        OF_BOTH(tan),
    OF_BOTH(asin),       OF_BOTH(acos),        OF_BOTH(atan),        OF_BOTH(sinh),       OF_BOTH(cosh),
    OF_BOTH(tanh),       OF_BOTH(asinh),       OF_BOTH(acosh),       OF_BOTH(atanh),      OF_BOTH(addcmul),
    OF_BOTH(addcdiv),    OF_BOTH(lerp)};

TsrKernelTable SIMD(tsr_kernels_complex)(void) { return table; }
