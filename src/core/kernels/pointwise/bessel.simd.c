/* bessel.simd.c: the functions of bessel.inc and their loops, for one instruction set (with fused operations or
 * without). */
#include <float.h>
#include <math.h>

#include "bessel.h"
#include "core/kernels/simd.h"

#include "bessel_tables.inc"
#define R float
#define NAME(x) f32_##x
#define FN(name) name##f
#define I1_NEAR i1_near_f, 17
#define I1_FAR i1_far_f, 7
#define AIRY_EPSILON FLT_EPSILON
#include "bessel.inc"
#define R double
#define NAME(x) f64_##x
#define FN(name) name
#define I1_NEAR i1_near, 29
#define I1_FAR i1_far, 25
#define AIRY_EPSILON DBL_EPSILON
#include "bessel.inc"

#define LOOP(name, T, fn) \
    static void name(char *const *data, const int64_t *strides, int64_t n, const void *params) { \
        (void)params; \
        for (int64_t i = 0; i < n; i++) *(T *)(data[0] + i * strides[0]) = fn(*(const T *)(data[1] + i * strides[1])); \
    }
#define LOOPS(name) \
    LOOP(name##_float, float, f32_##name) \
    LOOP(name##_double, double, f64_##name)
TSR_BESSEL_FUNCTIONS(LOOPS)

#define ROW(name) [TSR_BESSEL_##name] = {name##_float, name##_double},
static const TsrLoop table[TSR_BESSEL_COUNT][2] = {TSR_BESSEL_FUNCTIONS(ROW)};

TsrBesselTable SIMD(tsr_kernel_bessel)(void) { return table; }
