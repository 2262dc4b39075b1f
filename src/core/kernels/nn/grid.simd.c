/* grid.simd.c: grid.h's loops for float and double, and for floats that hold halves; for one instruction set. */
#include <math.h>
#include <string.h>

#include "core/error.h"
#include "core/element/halffloat.h"
#include "grid.h"
#include "core/kernels/simd.h"
#include "core/kernels/types.h"

/* Points whose coordinates are computed before the channels are sampled. */
enum { GRID_POINTS = 32 };
#define INLINE static inline __attribute__((always_inline))

#ifdef TSR_SIMD_AVX2
/* The element at each of two places, with the one behind it. */
INLINE __m128 SIMD(two_pairs)(const float *channel, const int32_t *at) {
    const __m128d first = _mm_load_sd((const double *)(const void *)(channel + at[0]));
    return _mm_castpd_ps(_mm_loadh_pd(first, (const double *)(const void *)(channel + at[1])));
}
#endif

/* v[i] is the element of `channel` at place near[i], 0 at -1, for i < n; all three have room up to GRID_POINTS. */
static void SIMD(take_float)(float *v, const float *channel, const int32_t *near, int n) {
#ifdef TSR_SIMD_AVX2
    for (int i = 0; i < n; i += 8) {
        const __m256i at = _mm256_loadu_si256((const __m256i *)(const void *)(near + i));
        const __m256i rest = _mm256_sub_epi32(_mm256_set1_epi32(n - i), _mm256_setr_epi32(0, 1, 2, 3, 4, 5, 6, 7));
        const __m256i some =
            _mm256_andnot_si256(_mm256_srai_epi32(at, 31), _mm256_cmpgt_epi32(rest, _mm256_setzero_si256()));
        _mm256_storeu_ps(v + i,
                         _mm256_mask_i32gather_ps(_mm256_setzero_ps(), channel, at, _mm256_castsi256_ps(some), 4));
    }
#else
    for (int i = 0; i < n; i++) v[i] = near[i] < 0 ? 0 : channel[near[i]];
#endif
}
/* The four corners of each point: where eight points lie inside, a row's two corners are read at once. grid_sample of
 * (4, 3, 100, 100) floats: 374 us by four gathers and 249 (one thread, Zen 3). */
static void SIMD(take_corners)(float (*v)[GRID_POINTS], const float *channel, const int32_t (*near)[GRID_POINTS],
                               int n) {
    int i = 0;
#ifdef TSR_SIMD_AVX2
    for (; i + 8 <= n; i += 8) {
        __m256i outside = _mm256_loadu_si256((const __m256i *)(const void *)(near[0] + i));
        for (int k = 1; k < 4; k++)
            outside = _mm256_or_si256(outside, _mm256_loadu_si256((const __m256i *)(const void *)(near[k] + i)));
        if (_mm256_movemask_ps(_mm256_castsi256_ps(outside)) != 0) {
            for (int k = 0; k < 4; k++) SIMD(take_float)(v[k] + i, channel, near[k] + i, 8);
            continue;
        }
        for (int row = 0; row < 4; row += 2) {
            const int32_t *at = near[row] + i;
            const __m256 even = _mm256_set_m128(SIMD(two_pairs)(channel, at + 4), SIMD(two_pairs)(channel, at)),
                         odd = _mm256_set_m128(SIMD(two_pairs)(channel, at + 6), SIMD(two_pairs)(channel, at + 2));
            _mm256_storeu_ps(v[row] + i, _mm256_shuffle_ps(even, odd, 0x88));
            _mm256_storeu_ps(v[row + 1] + i, _mm256_shuffle_ps(even, odd, 0xDD));
        }
    }
#endif
    for (int k = 0; k < 4 && i < n; k++) SIMD(take_float)(v[k] + i, channel, near[k] + i, n - i);
}
static void SIMD(take_double)(double *v, const double *channel, const int32_t *near, int n) {
    for (int i = 0; i < n; i++) {
        const double x = channel[near[i] < 0 ? 0 : near[i]];
        v[i] = near[i] < 0 ? 0 : x;
    }
}

#define T float
#define TAKE SIMD(take_float)
#define TAKE_CORNERS SIMD(take_corners)
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
#define TAKE SIMD(take_double)
#define TAKE_CORNERS(v, channel, near, n) \
    for (int k = 0; k < 4; k++) TAKE((v)[k], channel, (near)[k], n)
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
#define TAKE SIMD(take_float)
#define TAKE_CORNERS SIMD(take_corners)
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
#define TAKE SIMD(take_float)
#define TAKE_CORNERS SIMD(take_corners)
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
