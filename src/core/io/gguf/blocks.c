/* blocks.c: the types of GGUF's elements and how packed ones become float32 (blocks.h).
 *
 * A packed block has a scale d, mostly a float16, and for each number a few bits; those of 256 numbers ("K" and "IQ")
 * have a scale of their own for each 16 or 32. In the IQ types the bits of eight or four numbers are the number of a
 * point of a lattice, whose coordinates they are, and their signs stand apart. The layouts are those of ggml's block_*
 * structs (github.com/ggml-org/ggml, ggml-common.h); the order of operations is that of its dequantize_row functions,
 * so that the bits are the same. */
#include "blocks.h"

#include <string.h>

#include "core/parallel.h"
#include "grids.inc"

enum { BIG = 256 }; /* numbers of a block of the K and IQ types */

static unsigned u16_at(const uint8_t *p) { return (unsigned)p[0] | (unsigned)p[1] << 8; }
static uint32_t u32_at(const uint8_t *p) { return u16_at(p) | (uint32_t)u16_at(p + 2) << 16; }

static float half_bits(unsigned bits) {
    const uint16_t narrow = (uint16_t)bits;
    TsrHalf h;
    memcpy(&h, &narrow, sizeof h);
    return tsr_half_to_float(h);
}

static float half_at(const uint8_t *p) { return half_bits(u16_at(p)); }

/* ---- blocks of 32: a scale, or a scale and a least value ---- */

static void unpack_q4_0(float *out, const uint8_t *b) {
    float d = half_at(b);
    for (int i = 0; i < 16; i++) {
        out[i] = d * (float)((b[2 + i] & 15) - 8);
        out[i + 16] = d * (float)((b[2 + i] >> 4) - 8);
    }
}

static void unpack_q4_1(float *out, const uint8_t *b) {
    float d = half_at(b), least = half_at(b + 2);
    for (int i = 0; i < 16; i++) {
        out[i] = d * (float)(b[4 + i] & 15) + least;
        out[i + 16] = d * (float)(b[4 + i] >> 4) + least;
    }
}

/* The fifth bits of all 32 stand before the others. */
static int five_bits(const uint8_t *high, const uint8_t *low, int i) {
    int fifth = (int)(u32_at(high) >> i & 1) << 4;
    return fifth | (i < 16 ? low[i] & 15 : low[i - 16] >> 4);
}

static void unpack_q5_0(float *out, const uint8_t *b) {
    float d = half_at(b);
    for (int i = 0; i < 32; i++) out[i] = d * (float)(five_bits(b + 2, b + 6, i) - 16);
}

static void unpack_q5_1(float *out, const uint8_t *b) {
    float d = half_at(b), least = half_at(b + 2);
    for (int i = 0; i < 32; i++) out[i] = d * (float)five_bits(b + 4, b + 8, i) + least;
}

static void unpack_q8_0(float *out, const uint8_t *b) {
    float d = half_at(b);
    for (int i = 0; i < 32; i++) out[i] = (float)(int8_t)b[2 + i] * d;
}

static void unpack_q8_1(float *out, const uint8_t *b) { /* behind d the sum of all, which nothing needs */
    float d = half_at(b);
    for (int i = 0; i < 32; i++) out[i] = (float)(int8_t)b[4 + i] * d;
}

static void unpack_q8_k(float *out, const uint8_t *b) {
    float d;
    memcpy(&d, b, sizeof d);
    for (int i = 0; i < BIG; i++) out[i] = d * (float)(int8_t)b[4 + i];
}

/* ---- blocks of 256 with a scale for each 16 or 32 ---- */

static void unpack_q2_k(float *out, const uint8_t *b) {
    const uint8_t *q = b + 16;
    float d = half_at(b + 80), least = half_at(b + 82);
    for (int i = 0; i < BIG; i++) {
        unsigned scale = b[i / 16];
        int bits = q[i / 128 * 32 + i % 32] >> (i % 128 / 32 * 2) & 3;
        out[i] = d * (float)(scale & 15) * (float)bits - least * (float)(scale >> 4);
    }
}

/* Sixteen scales of six bits: four of each in the first eight bytes, two in the last four. */
static int scale_of_q3(const uint8_t *s, int i) {
    int low = s[i % 8] >> (i / 8 * 4) & 15, high = s[8 + i % 4] >> (i / 4 * 2) & 3;
    return (low | high << 4) - 32;
}

static void unpack_q3_k(float *out, const uint8_t *b) {
    const uint8_t *high = b, *q = b + 32, *scales = b + 96;
    float d = half_at(b + 108);
    for (int i = 0; i < BIG; i++) {
        int bits = q[i / 128 * 32 + i % 32] >> (i % 128 / 32 * 2) & 3;
        if ((high[i % 32] >> (i / 32) & 1) == 0) bits -= 4;
        out[i] = d * (float)scale_of_q3(scales, i / 16) * (float)bits;
    }
}

/* Eight scales and eight least values of six bits in twelve bytes. */
static void scales_of_q4(int *scale, int *least, const uint8_t *s, int i) {
    int k = i % 4;
    *scale = i < 4 ? s[k] & 63 : (s[8 + k] & 15) | (s[k] >> 6) << 4;
    *least = i < 4 ? s[4 + k] & 63 : s[8 + k] >> 4 | (s[4 + k] >> 6) << 4;
}

/* q[i] of 256 numbers of four bits, 32 in the low halves of 32 bytes, then 32 in the high ones. */
static int nibble(const uint8_t *q, int i) { return q[i / 64 * 32 + i % 32] >> (i % 64 / 32 * 4) & 15; }

static void unpack_k_with_least(float *out, const uint8_t *b, const uint8_t *fifth, const uint8_t *q) {
    float d = half_at(b), d_least = half_at(b + 2);
    for (int i = 0; i < BIG / 32; i++) {
        int scale, least;
        scales_of_q4(&scale, &least, b + 4, i);
        float step = d * (float)scale, from = d_least * (float)least;
        for (int k = 0; k < 32; k++) {
            int bits = nibble(q, i * 32 + k) | (fifth != NULL ? (fifth[k] >> i & 1) << 4 : 0);
            out[i * 32 + k] = step * (float)bits - from;
        }
    }
}

static void unpack_q4_k(float *out, const uint8_t *b) { unpack_k_with_least(out, b, NULL, b + 16); }
static void unpack_q5_k(float *out, const uint8_t *b) { unpack_k_with_least(out, b, b + 16, b + 48); }

static void unpack_q6_k(float *out, const uint8_t *b) {
    const uint8_t *low = b, *high = b + 128, *scales = b + 192;
    float d = half_at(b + 208);
    for (int i = 0; i < BIG; i++) {
        int four = low[i / 128 * 64 + i % 64] >> (i % 128 / 64 * 4) & 15;
        int two = high[i / 128 * 32 + i % 32] >> (i % 128 / 32 * 2) & 3;
        out[i] = d * (float)(int8_t)scales[i / 16] * (float)((four | two << 4) - 32);
    }
}

/* ---- three values ---- */

/* The digit before which 3^k others stand, of a byte that is a fraction of 256 in base 3. */
static float ternary(uint8_t byte, int k) {
    static const uint8_t powers[] = {1, 3, 9, 27, 81};
    uint8_t shifted = (uint8_t)(byte * powers[k]);
    return (float)((shifted * 3 >> 8) - 1);
}

static void unpack_tq1_0(float *out, const uint8_t *b) {
    float d = half_at(b + 52);
    for (int i = 0; i < 160; i++) out[i] = d * ternary(b[i % 32], i / 32);
    for (int i = 0; i < 80; i++) out[160 + i] = d * ternary(b[32 + i % 16], i / 16);
    for (int i = 0; i < 16; i++) out[240 + i] = d * ternary(b[48 + i % 4], i / 4);
}

static void unpack_tq2_0(float *out, const uint8_t *b) {
    float d = half_at(b + 64);
    for (int i = 0; i < BIG; i++) out[i] = d * (float)((b[i / 128 * 32 + i % 32] >> (i % 128 / 32 * 2) & 3) - 1);
}

/* ---- sixteen values of a table ---- */

static const int8_t nonlinear[16] = {-127, -104, -83, -65, -49, -35, -22, -10, 1, 13, 25, 38, 53, 69, 89, 113};
static const int8_t e2m1[16] = {0, 1, 2, 3, 4, 6, 8, 12, 0, -1, -2, -3, -4, -6, -8, -12}; /* twice the values */

static void unpack_iq4_nl(float *out, const uint8_t *b) {
    float d = half_at(b);
    for (int i = 0; i < 16; i++) {
        out[i] = d * (float)nonlinear[b[2 + i] & 15];
        out[i + 16] = d * (float)nonlinear[b[2 + i] >> 4];
    }
}

static void unpack_iq4_xs(float *out, const uint8_t *b) {
    float d = half_at(b);
    unsigned high = u16_at(b + 2);
    for (int i = 0; i < BIG; i++) {
        int k = i / 32, low = b[4 + k / 2] >> (k % 2 * 4) & 15;
        int scale = (low | (int)(high >> 2 * k & 3) << 4) - 32;
        out[i] = d * (float)scale * (float)nonlinear[b[8 + k * 16 + i % 16] >> (i % 32 / 16 * 4) & 15];
    }
}

/* 2^(e-128): a scale of MXFP4, halved because the table has twice the values. */
static float half_e8m0(uint8_t e) {
    uint32_t bits = e < 2 ? UINT32_C(0x00200000) << e : (uint32_t)(e - 1) << 23;
    float f;
    memcpy(&f, &bits, sizeof f);
    return f;
}

static void unpack_mxfp4(float *out, const uint8_t *b) {
    float d = half_e8m0(b[0]);
    for (int i = 0; i < 16; i++) {
        out[i] = d * (float)e2m1[b[1 + i] & 15];
        out[i + 16] = d * (float)e2m1[b[1 + i] >> 4];
    }
}

/* Without a sign, four bits of exponent, three of mantissa; halved as above. */
static float half_ue4m3(uint8_t x) {
    int exponent = x >> 3 & 15, mantissa = x & 7;
    if (x == 0 || x == 0x7F) return 0;
    float value = exponent == 0 ? (float)mantissa / 512 : (1 + (float)mantissa / 8) * (float)(1 << exponent) / 128;
    return value * 0.5f;
}

static void unpack_nvfp4(float *out, const uint8_t *b) {
    for (int k = 0; k < 4; k++) {
        float d = half_ue4m3(b[k]);
        for (int i = 0; i < 8; i++) {
            uint8_t pair = b[4 + k * 8 + i];
            out[k * 16 + i] = d * (float)e2m1[pair & 15];
            out[k * 16 + 8 + i] = d * (float)e2m1[pair >> 4];
        }
    }
}

/* ---- points of a lattice ---- */

static const uint8_t two_bits[4] = {8, 25, 43, 0};
static const uint8_t three_bits[8] = {4, 12, 20, 28, 36, 44, 52, 62};

/* Seven signs are written, the eighth makes an even number of them negative. */
static unsigned all_signs(unsigned seven) { return seven | (unsigned)(__builtin_popcount(seven) & 1) << 7; }

/* Eight numbers: the coordinates of a point of two bits each, times d, negative where `signs` has a bit. */
static void put_eight(float *out, float d, unsigned point, unsigned signs) {
    for (int i = 0; i < 8; i++) {
        float value = d * (float)two_bits[point >> 2 * i & 3];
        out[i] = (signs >> i & 1) != 0 ? -value : value;
    }
}

/* Four, of three bits each. */
static void put_four(float *out, float d, unsigned point, unsigned signs, bool odd) {
    for (int i = 0; i < 4; i++) {
        unsigned bits = point >> 3 * i & 7;
        float value = d * (float)(odd ? 2 * bits + 1 : three_bits[bits]);
        out[i] = (signs >> i & 1) != 0 ? -value : value;
    }
}

static void unpack_iq2_xxs(float *out, const uint8_t *b) {
    float d = half_at(b);
    for (int k = 0; k < 8; k++) {
        const uint8_t *q = b + 2 + k * 8;
        uint32_t rest = u32_at(q + 4);
        float step = d * (0.5f + (float)(rest >> 28)) * 0.25f;
        for (int i = 0; i < 4; i++)
            put_eight(out + k * 32 + i * 8, step, iq2_xxs_grid[q[i]], all_signs(rest >> 7 * i & 127));
    }
}

static void unpack_iq2_xs(float *out, const uint8_t *b) {
    float d = half_at(b);
    for (int k = 0; k < 32; k++) {
        unsigned q = u16_at(b + 2 + k * 2), scale = b[66 + k / 4] >> (k / 2 % 2 * 4) & 15;
        put_eight(out + k * 8, d * (0.5f + (float)scale) * 0.25f, iq2_xs_grid[q & 511], all_signs(q >> 9));
    }
}

static void unpack_iq2_s(float *out, const uint8_t *b) {
    const uint8_t *q = b + 2, *signs = b + 34, *high = b + 66, *scales = b + 74;
    float d = half_at(b);
    for (int k = 0; k < 32; k++) {
        unsigned at = q[k] | (high[k / 4] >> (k % 4 * 2) & 3u) << 8, scale = scales[k / 4] >> (k / 2 % 2 * 4) & 15;
        put_eight(out + k * 8, d * (0.5f + (float)scale) * 0.25f, iq2_s_grid[at], signs[k]);
    }
}

static void unpack_iq3_xxs(float *out, const uint8_t *b) {
    float d = half_at(b);
    for (int k = 0; k < 64; k++) {
        uint32_t rest = u32_at(b + 66 + k / 8 * 4);
        unsigned signs = all_signs(rest >> (k % 8 / 2 * 7) & 127) >> (k % 2 * 4);
        put_four(out + k * 4, d * (0.5f + (float)(rest >> 28)) * 0.5f, iq3_xxs_grid[b[2 + k]], signs, false);
    }
}

static void unpack_iq3_s(float *out, const uint8_t *b) {
    const uint8_t *q = b + 2, *high = b + 66, *signs = b + 74, *scales = b + 106;
    float d = half_at(b);
    for (int k = 0; k < 64; k++) {
        unsigned at = q[k] | (high[k / 8] >> (k % 8) & 1u) << 8, scale = scales[k / 16] >> (k / 8 % 2 * 4) & 15;
        put_four(out + k * 4, d * (float)(1 + 2 * scale), iq3_s_grid[at], signs[k / 2] >> (k % 2 * 4) & 15u, true);
    }
}

/* Coordinates -1, 0 and 1, all moved by an eighth. */
static void put_ternary(float *out, float d, unsigned point, bool down) {
    float delta = down ? -0.125f : 0.125f;
    for (int i = 0; i < 8; i++) out[i] = d * ((float)((int)(point >> 2 * i & 3) - 1) + delta);
}

static void unpack_iq1_s(float *out, const uint8_t *b) {
    float d = half_at(b);
    for (int k = 0; k < 32; k++) {
        unsigned high = u16_at(b + 34 + k / 4 * 2), at = b[2 + k] | (high >> (k % 4 * 3) & 7) << 8;
        put_ternary(out + k * 8, d * (float)(2 * (high >> 12 & 7) + 1), iq1_s_grid[at], (high & 0x8000) != 0);
    }
}

/* The float16 d is the first four bits of each of the four words of scales. */
static void unpack_iq1_m(float *out, const uint8_t *b) {
    const uint8_t *scales = b + 48;
    unsigned bits = 0;
    for (int i = 0; i < 4; i++) bits |= u16_at(scales + 2 * i) >> 12 << 4 * i;
    float d = half_bits(bits);
    for (int k = 0; k < 32; k++) {
        unsigned high = b[32 + k / 2] >> (k % 2 * 4) & 15u, at = b[k] | (high & 7) << 8;
        unsigned scale = u16_at(scales + k / 8 * 2) >> (k / 2 % 4 * 3) & 7;
        put_ternary(out + k * 8, d * (float)(2 * scale + 1), iq1_s_grid[at], (high & 8) != 0);
    }
}

/* ---- the table ---- */

static const TsrGgufType types[] = {
    {0, "F32", 1, 4, TSR_FLOAT32, NULL},
    {1, "F16", 1, 2, TSR_FLOAT16, NULL},
    {2, "Q4_0", 32, 18, TSR_DTYPE_NONE, unpack_q4_0},
    {3, "Q4_1", 32, 20, TSR_DTYPE_NONE, unpack_q4_1},
    {6, "Q5_0", 32, 22, TSR_DTYPE_NONE, unpack_q5_0},
    {7, "Q5_1", 32, 24, TSR_DTYPE_NONE, unpack_q5_1},
    {8, "Q8_0", 32, 34, TSR_DTYPE_NONE, unpack_q8_0},
    {9, "Q8_1", 32, 36, TSR_DTYPE_NONE, unpack_q8_1},
    {10, "Q2_K", BIG, 84, TSR_DTYPE_NONE, unpack_q2_k},
    {11, "Q3_K", BIG, 110, TSR_DTYPE_NONE, unpack_q3_k},
    {12, "Q4_K", BIG, 144, TSR_DTYPE_NONE, unpack_q4_k},
    {13, "Q5_K", BIG, 176, TSR_DTYPE_NONE, unpack_q5_k},
    {14, "Q6_K", BIG, 210, TSR_DTYPE_NONE, unpack_q6_k},
    {15, "Q8_K", BIG, 292, TSR_DTYPE_NONE, unpack_q8_k},
    {16, "IQ2_XXS", BIG, 66, TSR_DTYPE_NONE, unpack_iq2_xxs},
    {17, "IQ2_XS", BIG, 74, TSR_DTYPE_NONE, unpack_iq2_xs},
    {18, "IQ3_XXS", BIG, 98, TSR_DTYPE_NONE, unpack_iq3_xxs},
    {19, "IQ1_S", BIG, 50, TSR_DTYPE_NONE, unpack_iq1_s},
    {20, "IQ4_NL", 32, 18, TSR_DTYPE_NONE, unpack_iq4_nl},
    {21, "IQ3_S", BIG, 110, TSR_DTYPE_NONE, unpack_iq3_s},
    {22, "IQ2_S", BIG, 82, TSR_DTYPE_NONE, unpack_iq2_s},
    {23, "IQ4_XS", BIG, 136, TSR_DTYPE_NONE, unpack_iq4_xs},
    {24, "I8", 1, 1, TSR_INT8, NULL},
    {25, "I16", 1, 2, TSR_INT16, NULL},
    {26, "I32", 1, 4, TSR_INT32, NULL},
    {27, "I64", 1, 8, TSR_INT64, NULL},
    {28, "F64", 1, 8, TSR_FLOAT64, NULL},
    {29, "IQ1_M", BIG, 56, TSR_DTYPE_NONE, unpack_iq1_m},
    {30, "BF16", 1, 2, TSR_BFLOAT16, NULL},
    {34, "TQ1_0", BIG, 54, TSR_DTYPE_NONE, unpack_tq1_0},
    {35, "TQ2_0", BIG, 66, TSR_DTYPE_NONE, unpack_tq2_0},
    {39, "MXFP4", 32, 17, TSR_DTYPE_NONE, unpack_mxfp4},
    {40, "NVFP4", 64, 36, TSR_DTYPE_NONE, unpack_nvfp4},
};

const TsrGgufType *tsr_gguf_type(uint32_t id) {
    for (size_t i = 0; i < TSR_COUNTOF(types); i++)
        if (types[i].id == id) return &types[i];
    return NULL;
}

const TsrGgufType *tsr_gguf_type_of_dtype(TsrDtype dtype) {
    for (size_t i = 0; i < TSR_COUNTOF(types); i++)
        if (types[i].dtype == dtype && dtype != TSR_DTYPE_NONE) return &types[i];
    return NULL;
}

typedef struct Job {
    float *out;
    const TsrGgufType *type;
    const uint8_t *blocks;
} Job;

static void unpack_range(int64_t begin, int64_t end, void *user) {
    const Job *job = user;
    for (int64_t i = begin; i < end; i++)
        job->type->unpack(job->out + i * job->type->count, job->blocks + i * job->type->bytes);
}

TsrStatus tsr_gguf_unpack(float *out, const TsrGgufType *type, const uint8_t *blocks, int64_t n) {
    return tsr_parallel_for(n, tsr_grain(2 * type->count), unpack_range, &(Job){out, type, blocks});
}
