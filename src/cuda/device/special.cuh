/* special.cuh: special functions by the host's own text, which is C: specfun.c, special.inc, bessel.inc and
 * orthogonal.inc. What they call of C and C++ has not is made up first. bessel.inc works on blocks; here a block is one
 * element, and every branch that the compiler of the host would rather compute for all is a branch. */
#define HELPER static inline
#define VECTOR
#define restrict __restrict__
#define FLT_EPSILON 1.1920928955078125e-07f
#define DBL_EPSILON 2.2204460492503131e-16
#define M_SQRT2 1.41421356237309504880
#define lgamma_r(x, sign) lgamma(x)
enum { BLOCK = 1 };
#define TSR_SHORT_GAMMA

#include "core/kernels/specfun.c"
#include "core/kernels/pointwise/bessel_tables.inc"
#include "core/kernels/pointwise/special.inc"

#include "core/kernels/pointwise/bessel_both.inc"
#define R float
#define NAME(x) f32_##x
#define FN(name) name##f
#include "core/kernels/pointwise/orthogonal.inc"
#undef R
#undef NAME
#undef FN
#define R double
#define NAME(x) f64_##x
#define FN(name) name
#include "core/kernels/pointwise/orthogonal.inc"
static inline float polynomial(OrthogonalKind kind, float x, float y) { return f32_polynomial(kind, x, y); }
static inline double polynomial(OrthogonalKind kind, double x, double y) { return f64_polynomial(kind, x, y); }

/* name_of(x): a function of bessel.inc of one element. */
#define BESSEL(name) \
    static inline float name##_of(float x) { \
        float o; \
        f32_##name(&o, &x, 1); \
        return o; \
    } \
    static inline double name##_of(double x) { \
        double o; \
        f64_##name(&o, &x, 1); \
        return o; \
    }
#define POLYNOMIAL(...)
#define K1(...)
#define K2(...)
#define MORE(...)
#include "core/kernels/pointwise/special.def"
