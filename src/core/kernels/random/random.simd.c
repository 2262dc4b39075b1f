/* random.simd.c: the loops of random.h, compiled once for each instruction set. */
#include <math.h>
#include <string.h>

#include "random_table.h"

#define TWIST(u, v) ((((u)&0x80000000u) | ((v)&0x7FFFFFFFu)) >> 1 ^ (-((v)&1u) & 0x9908B0DFu))

static void SIMD(mt_temper)(const uint32_t *state, uint32_t *words) {
    for (int i = 0; i < TSR_MT_WORDS; i++) {
        uint32_t y = state[i];
        y ^= y >> 11;
        y ^= (y << 7) & 0x9D2C5680u;
        y ^= (y << 15) & 0xEFC60000u;
        words[i] = y ^ y >> 18;
    }
}

static void SIMD(mt_block)(uint32_t *restrict s, uint32_t *restrict words) {
    enum { N = TSR_MT_WORDS, M = 397, L = N - M };
    uint32_t t[N]; /* the new state: no loop reads what it writes within a vector's length */
    for (int k = 0; k < L; k++) t[k] = s[k + M] ^ TWIST(s[k], s[k + 1]);
    for (int k = L; k < 2 * L; k++) t[k] = t[k - L] ^ TWIST(s[k], s[k + 1]);
    for (int k = 2 * L; k < N - 1; k++) t[k] = t[k - L] ^ TWIST(s[k], s[k + 1]);
    t[N - 1] = t[M - 1] ^ TWIST(s[N - 1], t[0]);
    memcpy(s, t, sizeof t);
    SIMD(mt_temper)(t, words);
}

static void SIMD(uniform_float)(float *dst, const uint32_t *words, int64_t n) {
    for (int64_t i = 0; i < n; i++) dst[i] = (float)(int32_t)(words[i] & 0xFFFFFFu) * 0x1.0p-24f;
}

static inline float SIMD(as_float)(uint32_t u) {
    float f;
    memcpy(&f, &u, 4);
    return f;
}
static inline uint32_t SIMD(as_bits)(float f) {
    uint32_t u;
    memcpy(&u, &f, 4);
    return u;
}

/* Cephes logf on (0, 1]. */
static inline float SIMD(log_poly)(float x) {
    uint32_t bits = SIMD(as_bits)(x < 0x1.0p-126f ? 0x1.0p-126f : x);
    float e = (float)((int32_t)(bits >> 23) - 127) + 1.0f;
    x = SIMD(as_float)((bits & 0x807FFFFFu) | 0x3F000000u);
    float low = x < 0.707106781186547524f ? 1.0f : 0.0f, again = x < 0.707106781186547524f ? x : 0.0f;
    x = x - 1.0f;
    e = e - low;
    x = x + again;
    float z = x * x, y = 7.0376836292E-2f;
    y = fmaf(y, x, -1.1514610310E-1f);
    y = fmaf(y, x, 1.1676998740E-1f);
    y = fmaf(y, x, -1.2420140846E-1f);
    y = fmaf(y, x, 1.4249322787E-1f);
    y = fmaf(y, x, -1.6668057665E-1f);
    y = fmaf(y, x, 2.0000714765E-1f);
    y = fmaf(y, x, -2.4999993993E-1f);
    y = fmaf(y, x, 3.3333331174E-1f);
    y = y * x;
    y = fmaf(y, z, e * -2.12194440e-4f);
    y = fmaf(-z, 0.5f, y);
    x = x + y;
    return fmaf(e, 0.693359375f, x);
}

/* Cephes sinf and cosf together, for x in [0, 2 pi]. */
static inline void SIMD(sincos_poly)(float x, float *s, float *c) {
    int32_t j = ((int32_t)(x * 1.27323954473516f) + 1) & ~1;
    float y = (float)j;
    uint32_t sign_sin = (uint32_t)(j & 4) << 29, sign_cos = (uint32_t)(~(j - 2) & 4) << 29;
    bool plain = (j & 2) == 0;
    x = fmaf(y, -0.78515625f, x);
    x = fmaf(y, -2.4187564849853515625e-4f, x);
    x = fmaf(y, -3.77489497744594108e-8f, x);
    float z = x * x;
    float p = 2.443315711809948E-005f;
    p = fmaf(p, z, -1.388731625493765E-003f);
    p = fmaf(p, z, 4.166664568298827E-002f);
    p = p * z;
    p = fmaf(p, z, -(z * 0.5f));
    p = p + 1.0f;
    float q = -1.9515295891E-4f;
    q = fmaf(q, z, 8.3321608736E-3f);
    q = fmaf(q, z, -1.6666654611E-1f);
    q = q * z;
    q = fmaf(q, x, x);
    float a = plain ? q : p, b = plain ? p : q;
    *s = SIMD(as_float)(SIMD(as_bits)(a) ^ sign_sin);
    *c = SIMD(as_float)(SIMD(as_bits)(b) ^ sign_cos);
}

static void SIMD(normal_blocks)(float *data, int64_t n, float mean, float std) {
    for (int64_t i = 0; i < n; i += 16) {
        float *d = data + i;
        for (int k = 0; k < 8; k++) {
            float s, c, radius = sqrtf(-2.0f * SIMD(log_poly)(1.0f - d[k]));
            SIMD(sincos_poly)((float)(2.0f * 3.14159265358979323846) * d[k + 8], &s, &c);
            d[k] = fmaf(radius * c, std, mean);
            d[k + 8] = fmaf(radius * s, std, mean);
        }
    }
}

/* By a multiplication with the reciprocal in double: off by at most one, then put right. */
static void SIMD(modulo)(int64_t *dst, const uint32_t *words, int64_t n, uint32_t range, int64_t base) {
    double inverse = 1.0 / range;
    for (int64_t i = 0; i < n; i++) {
        uint32_t w = words[i];
        int32_t q = (int32_t)((double)w * inverse); /* below 2^31 for range > 1 */
        int32_t r = (int32_t)(w - (uint32_t)q * range);
        r += r < 0 ? (int32_t)range : 0;
        r -= r >= (int32_t)range ? (int32_t)range : 0;
        dst[i] = r + base;
    }
}

const TsrRandomTable SIMD(tsr_random_table) = {SIMD(mt_block), SIMD(mt_temper), SIMD(uniform_float),
                                               SIMD(normal_blocks), SIMD(modulo)};
