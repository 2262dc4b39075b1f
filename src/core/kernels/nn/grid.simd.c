/* grid.simd.c: grid.h's loops for float and double, and for floats that hold halves; for one instruction set. */
#include <math.h>

#include "core/error.h"
#include "core/element/halffloat.h"
#include "grid.h"
#include "core/kernels/simd.h"

/* Points whose coordinates are computed before the channels are sampled. */
enum { GRID_POINTS = 32 };
#define INLINE static inline __attribute__((always_inline))

#define T float
#define NAME(x) SIMD(x##_float)
#define R(x) (x)
#define FMA(a, b, c) fmaf(a, b, c)
#define FLOOR floorf
#define RINT rintf
#define FABS fabsf
#define TRUNC truncf
#define FMOD fmodf
#include "grid.inc"

#define T double
#define NAME(x) SIMD(x##_double)
#define R(x) (x)
#define FMA(a, b, c) fma(a, b, c)
#define FLOOR floor
#define RINT rint
#define FABS fabs
#define TRUNC trunc
#define FMOD fmod
#include "grid.inc"

static float SIMD(to_half)(float x) { return tsr_half_widen(tsr_half_round(x)); }
static float SIMD(to_bfloat16)(float x) { return tsr_bfloat16_widen(tsr_bfloat16_round(x)); }

#define T float
#define NAME(x) SIMD(x##_half)
#define R(x) SIMD(to_half)(x)
#define FMA(a, b, c) SIMD(to_half)(SIMD(to_half)((a) * (b)) + (c))
#define FLOOR floorf
#define RINT rintf
#define FABS fabsf
#define TRUNC truncf
#define FMOD fmodf
#include "grid.inc"

#define T float
#define NAME(x) SIMD(x##_bfloat16)
#define R(x) SIMD(to_bfloat16)(x)
#define FMA(a, b, c) SIMD(to_bfloat16)(SIMD(to_bfloat16)((a) * (b)) + (c))
#define FLOOR floorf
#define RINT rintf
#define FABS fabsf
#define TRUNC truncf
#define FMOD fmodf
#include "grid.inc"

TsrGridFn SIMD(tsr_kernel_grid)(TsrDtype d) {
    switch (d) {
    case TSR_FLOAT64: return SIMD(grid_double);
    case TSR_FLOAT16: return SIMD(grid_half);
    case TSR_BFLOAT16: return SIMD(grid_bfloat16);
    case TSR_FLOAT32: return SIMD(grid_float);
    default: return NULL;
    }
}
