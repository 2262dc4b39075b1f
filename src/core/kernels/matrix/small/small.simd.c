/* small.simd.c: small matrices side by side (small.h) for one instruction set, by small.inc. Products and sums are not
 * fused: all instruction sets give the same bits, those of lu.inc. */
#include <math.h>

#include "core/kernels/move/move.h"
#include "core/kernels/simd.h"
#include "small.h"

#if defined(TSR_SIMD_AVX512)
enum { FLOAT_BYTES = 64, DOUBLE_BYTES = 64 };
#define ANY_FLOATS(mask) (_mm512_movepi32_mask((__m512i)(mask)) != 0)
#define ANY_DOUBLES(mask) (_mm512_movepi64_mask((__m512i)(mask)) != 0)
#define ROOT_FLOATS(v) ((Floats)_mm512_sqrt_ps((__m512)(v)))
#define ROOT_DOUBLES(v) ((Doubles)_mm512_sqrt_pd((__m512d)(v)))
#elif defined(TSR_SIMD_AVX2)
enum { FLOAT_BYTES = 32, DOUBLE_BYTES = 32 };
#define ANY_FLOATS(mask) (_mm256_movemask_ps((__m256)(mask)) != 0)
#define ANY_DOUBLES(mask) (_mm256_movemask_pd((__m256d)(mask)) != 0)
#define ROOT_FLOATS(v) ((Floats)_mm256_sqrt_ps((__m256)(v)))
#define ROOT_DOUBLES(v) ((Doubles)_mm256_sqrt_pd((__m256d)(v)))
#elif defined(TSR_HAVE_X86)
enum { FLOAT_BYTES = 16, DOUBLE_BYTES = 16 };
#define ANY_FLOATS(mask) (_mm_movemask_ps((__m128)(mask)) != 0)
#define ANY_DOUBLES(mask) (_mm_movemask_pd((__m128d)(mask)) != 0)
#define ROOT_FLOATS(v) ((Floats)_mm_sqrt_ps((__m128)(v)))
#define ROOT_DOUBLES(v) ((Doubles)_mm_sqrt_pd((__m128d)(v)))
#elif defined(__EMSCRIPTEN__) /* there are no vectors in the page */
enum { FLOAT_BYTES = 4, DOUBLE_BYTES = 8 };
#define INLINE static inline
#define ANY_FLOATS(mask) ((mask)[0] != 0)
#define ANY_DOUBLES(mask) ((mask)[0] != 0)
#define ROOT_FLOATS(v) ((Floats){sqrtf((v)[0])})
#define ROOT_DOUBLES(v) ((Doubles){sqrt((v)[0])})
#else
enum { FLOAT_BYTES = 16, DOUBLE_BYTES = 16 };
#define ANY_FLOATS(mask) (((mask)[0] | (mask)[1] | (mask)[2] | (mask)[3]) != 0)
#define ANY_DOUBLES(mask) (((mask)[0] | (mask)[1]) != 0)
#define ROOT_FLOATS(v) ((Floats){sqrtf((v)[0]), sqrtf((v)[1]), sqrtf((v)[2]), sqrtf((v)[3])})
#define ROOT_DOUBLES(v) ((Doubles){sqrt((v)[0]), sqrt((v)[1])})
#endif
#ifndef INLINE
#define INLINE static inline __attribute__((always_inline))
#endif
typedef float Floats __attribute__((vector_size(FLOAT_BYTES)));
typedef double Doubles __attribute__((vector_size(DOUBLE_BYTES)));
typedef int32_t FloatMask __attribute__((vector_size(FLOAT_BYTES)));
typedef int64_t DoubleMask __attribute__((vector_size(DOUBLE_BYTES)));

#define T float
#define V Floats
#define MASK FloatMask
#define ANY(mask) ANY_FLOATS(mask)
#define ROOT(v) ROOT_FLOATS(v)
#define LEAST 0x1p-90f
#define MOST 0x1p126f
#define EPSILON 0x1p-24f
#define TINY 0x1p-126f
#define SMALL 1e-12f
#define SCALE 0x1p80f
#define NAME(x) f32_##x
#include "small.inc"

#define T double
#define V Doubles
#define MASK DoubleMask
#define ANY(mask) ANY_DOUBLES(mask)
#define ROOT(v) ROOT_DOUBLES(v)
#define LEAST 0x1p-900
#define MOST 0x1p1022
#define EPSILON 0x1p-53
#define TINY 0x1p-1022
#define SMALL 1e-100
#define SCALE 0x1p700
#define NAME(x) f64_##x
#include "small.inc"

static const TsrSmall f32 = {FLOAT_BYTES / 4, f32_lu, f32_solve, f32_triangular, f32_cholesky,
                             f32_qr,          f32_q,  f32_eigen, f32_singular},
                      f64 = {DOUBLE_BYTES / 8, f64_lu, f64_solve, f64_triangular, f64_cholesky,
                             f64_qr,           f64_q,  f64_eigen, f64_singular};

const TsrSmall *SIMD(tsr_small)(bool wide);
const TsrSmall *SIMD(tsr_small)(bool wide) { return wide ? &f64 : &f32; }
