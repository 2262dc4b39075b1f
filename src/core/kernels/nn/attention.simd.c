/* attention.simd.c: rows of attention (attention.h) for one instruction set. */
#include <math.h>
#include <string.h>

#include "attention.h"
#include "core/kernels/simd.h"
#include "core/kernels/vectors.inc"
#include "core/kernels/lanes.inc"

enum { LANES = sizeof(VF) / sizeof(float) };
#ifdef TSR_SIMD_AVX512
#define FLOOR(x) _mm512_floor_ps(x)
#else
#define FLOOR(x) _mm256_floor_ps(x)
#endif

/* e ** x, with the bits of PyTorch's exp_u20: x = n ln(2) + r, five terms of r, and 2 ** n; 0 below -87.34, and as of
 * 88.72 for more and for NaN. */
static inline VF exp_of(VF x) {
    const VI tiny = x < -0x1.5d58ap6f;
    x = greater_f32(AT_MOST(x, every(0x1.62e43p6f)) /* the bound of NaN */, every(-0x1.5d58ap6f));
    const VF n = FLOOR(FMA(x, every(0x1.715476p0f), every(0.5f))), r = FMA(-n, every(0x1.62e43p-1f), x);
    VF p = FMA(r, FMA(r, every(0.00828929059f), every(0.0418978221f)), every(0.166676521f));
    p = FMA(r, FMA(r, FMA(r, p, every(0.499991506f)), every(0.999999701f)), every(1));
    const VI power = SHIFTED_UP(PLUS(__builtin_convertvector(n, VI), 126), 23);
    return p * (VF)(power & ~tiny) * 2;
}

/* The greatest score, NaN where a vector has one; the scores are multiplied on the way. */
static float greatest_of_row(float *scores, int64_t n, float factor) {
    const int64_t whole = n / LANES * LANES;
    VF v, most = every(-INFINITY);
    VI unordered = {0};
    float lane[LANES], greatest = -INFINITY;
    for (int64_t i = 0; i < whole; i += LANES) {
        memcpy(&v, scores + i, sizeof v);
        v *= factor;
        most = greater_f32(most, v);
        unordered |= v != v;
        memcpy(scores + i, &v, sizeof v);
    }
    memcpy(lane, &most, sizeof most);
    for (int i = 0; i < LANES; i++) greatest = lane[i] > greatest ? lane[i] : greatest;
    for (int64_t i = whole; i < n; i++) {
        scores[i] *= factor;
        greatest = scores[i] > greatest ? scores[i] : greatest;
    }
    return ANY(unordered) ? NAN : greatest;
}

static void soften(float *scores, int64_t n, float factor, TsrAttentionRow *row) {
    const int64_t whole = n / LANES * LANES;
    const float before = row->greatest, here = greatest_of_row(scores, n, factor), to = before > here ? before : here;
    VF v, total = {0};
    row->greatest = to;
    row->shrunk = 1;
    if (to == -INFINITY) {
        memset(scores, 0, (size_t)n * sizeof *scores);
        return;
    }
    for (int64_t i = 0; i < whole; i += LANES) {
        memcpy(&v, scores + i, sizeof v);
        v = exp_of(v - to);
        total += v;
        memcpy(scores + i, &v, sizeof v);
    }
    float sum = sum_of_f32(total);
    for (int64_t i = whole; i < n; i++) {
        scores[i] = expf(scores[i] - to);
        sum += scores[i];
    }
    row->shrunk = expf(before - to);
    row->sum = fmaf(row->shrunk, row->sum, sum);
}

TsrAttentionFn SIMD(tsr_attention_kernel)(void);
TsrAttentionFn SIMD(tsr_attention_kernel)(void) { return soften; }
