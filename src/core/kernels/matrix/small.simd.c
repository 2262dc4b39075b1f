/* small.simd.c: linear systems side by side (small.h) for one instruction set, by small.inc. Products and sums are not
 * fused: all instruction sets give the same bits, those of lu.inc. */
#include "core/kernels/move/move.h"
#include "core/kernels/simd.h"
#include "small.h"

#if defined(TSR_SIMD_AVX2) || defined(TSR_SIMD_AVX512)
enum { BYTES = 32 };
#define ANY_FLOATS(mask) (_mm256_movemask_ps((__m256)(mask)) != 0)
#define ANY_DOUBLES(mask) (_mm256_movemask_pd((__m256d)(mask)) != 0)
#elif defined(TSR_HAVE_X86)
enum { BYTES = 16 };
#define ANY_FLOATS(mask) (_mm_movemask_ps((__m128)(mask)) != 0)
#define ANY_DOUBLES(mask) (_mm_movemask_pd((__m128d)(mask)) != 0)
#else
enum { BYTES = 16 };
#define ANY_FLOATS(mask) (((mask)[0] | (mask)[1] | (mask)[2] | (mask)[3]) != 0)
#define ANY_DOUBLES(mask) (((mask)[0] | (mask)[1]) != 0)
#endif
typedef float Floats __attribute__((vector_size(BYTES)));
typedef double Doubles __attribute__((vector_size(BYTES)));
typedef int32_t FloatMask __attribute__((vector_size(BYTES)));
typedef int64_t DoubleMask __attribute__((vector_size(BYTES)));
#define INLINE static inline __attribute__((always_inline))

#define T float
#define V Floats
#define MASK FloatMask
#define ANY(mask) ANY_FLOATS(mask)
#define NAME(x) f32_##x
#include "small.inc"

#define T double
#define V Doubles
#define MASK DoubleMask
#define ANY(mask) ANY_DOUBLES(mask)
#define NAME(x) f64_##x
#include "small.inc"

static const TsrSmall f32 = {BYTES / 4, f32_lu, f32_solve}, f64 = {BYTES / 8, f64_lu, f64_solve};

const TsrSmall *SIMD(tsr_small)(bool wide);
const TsrSmall *SIMD(tsr_small)(bool wide) { return wide ? &f64 : &f32; }
