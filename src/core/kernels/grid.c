/* grid.h for float and double, and for floats that hold halves. */
#include "kernels/grid.h"

#include <math.h>

#include "halffloat.h"

#define T float
#define NAME(x) x##_float
#define R(x) (x)
#define FMA(a, b, c) fmaf(a, b, c)
#define FLOOR floorf
#define RINT rintf
#define FABS fabsf
#define TRUNC truncf
#define FMOD fmodf
#include "kernels/grid.inc"

#define T double
#define NAME(x) x##_double
#define R(x) (x)
#define FMA(a, b, c) fma(a, b, c)
#define FLOOR floor
#define RINT rint
#define FABS fabs
#define TRUNC trunc
#define FMOD fmod
#include "kernels/grid.inc"

static float to_half(float x) { return tsr_half_widen(tsr_half_round(x)); }
static float to_bfloat16(float x) { return tsr_bfloat16_widen(tsr_bfloat16_round(x)); }

#define T float
#define NAME(x) x##_half
#define R(x) to_half(x)
#define FMA(a, b, c) to_half(to_half((a) * (b)) + (c))
#define FLOOR floorf
#define RINT rintf
#define FABS fabsf
#define TRUNC truncf
#define FMOD fmodf
#include "kernels/grid.inc"

#define T float
#define NAME(x) x##_bfloat16
#define R(x) to_bfloat16(x)
#define FMA(a, b, c) to_bfloat16(to_bfloat16((a) * (b)) + (c))
#define FLOOR floorf
#define RINT rintf
#define FABS fabsf
#define TRUNC truncf
#define FMOD fmodf
#include "kernels/grid.inc"
