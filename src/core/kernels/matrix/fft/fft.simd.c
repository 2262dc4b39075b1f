/* fft.simd.c: Fourier transforms of lines side by side for one instruction set (fft.h), by fft.inc with vectors. A
 * vector is as long as the processor's and no longer, for gcc moves longer ones through memory in pieces of 16 bytes.
 * Products and sums are not fused: all instruction sets give the same bits. */
#include <string.h>

#include "core/error.h"
#include "core/kernels/simd.h"
#include "fft.h"

#if defined(TSR_SIMD_AVX512)
enum { FLOATS = 8, DOUBLES = 8 };
#elif defined(TSR_SIMD_AVX2)
enum { FLOATS = 8, DOUBLES = 4 };
#else
enum { FLOATS = 4, DOUBLES = 2 };
#endif
typedef float FloatLanes __attribute__((vector_size(4 * FLOATS)));
typedef double DoubleLanes __attribute__((vector_size(8 * DOUBLES)));

#define HELPER static inline __attribute__((always_inline))
#define R FloatLanes
#define S float
#define NAME(x) f32_lanes_##x
#define LANES FLOATS
#include "fft.inc"
#define R DoubleLanes
#define S double
#define NAME(x) f64_lanes_##x
#define LANES DOUBLES
#include "fft.inc"

#define S float
#define NAME(x) f32_##x
#define LANE(x) f32_lanes_##x
#define LANES FLOATS
#include "fft_split.inc"
#define S double
#define NAME(x) f64_##x
#define LANE(x) f64_lanes_##x
#define LANES DOUBLES
#include "fft_split.inc"

static const TsrFftCode f32_code = {FLOATS, f32_lanes_start, f32_split},
                        f64_code = {DOUBLES, f64_lanes_start, f64_split};

const TsrFftCode *SIMD(tsr_fft_code)(bool wide);
const TsrFftCode *SIMD(tsr_fft_code)(bool wide) { return wide ? &f64_code : &f32_code; }
