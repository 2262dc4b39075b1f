/* halffloat.h: the small float formats as inline functions, for kernels.
 * All round to nearest even. No branches on the common paths, so loops over them vectorise. Its text is the device's
 * too (src/cuda), where C++ reads it. */
#ifndef CORE_ELEMENT_HALFFLOAT_H
#define CORE_ELEMENT_HALFFLOAT_H

#include <string.h>

#include "core/dtype.h"

/* A float's bits, and the float of given bits. */
static inline uint32_t tsr_float_bits(float x) {
    uint32_t u;
    memcpy(&u, &x, sizeof u);
    return u;
}
static inline float tsr_bits_float(uint32_t u) {
    float x;
    memcpy(&x, &u, sizeof x);
    return x;
}

/* IEEE binary16 to float32, exact. Without branches: subnormals are normalised by a float subtraction. */
static inline float tsr_half_widen(TsrHalf h) {
    uint32_t w = (uint32_t)h.bits << 16, sign = w & 0x80000000u, two = w + w;
    /* Normal, infinite and nan: rebias by a multiplication; subnormal: subtract a magic number. */
    float normal = tsr_bits_float((two >> 4) + (0xE0u << 23)) * 0x1.0p-112f;
    float tiny = tsr_bits_float((two >> 17) | (126u << 23)) - 0.5f;
    return tsr_bits_float(sign | (two < (1u << 27) ? tsr_float_bits(tiny) : tsr_float_bits(normal)));
}

/* Nearest even. The float addition of a base rounds the fraction at binary16's last bit. nan becomes 0x7E00. */
static inline TsrHalf tsr_half_round(float f) {
    uint32_t w = tsr_float_bits(f), two = w + w, sign = w & 0x80000000u, bias = two & 0xFF000000u;
    float base = (tsr_bits_float(w & 0x7FFFFFFFu) * 0x1.0p+112f) * 0x1.0p-110f;
    if (bias < 0x71000000u) bias = 0x71000000u;
    uint32_t bits = tsr_float_bits(tsr_bits_float((bias >> 1) + 0x07800000u) + base);
    uint32_t nonsign = ((bits >> 13) & 0x7C00u) + (bits & 0x0FFFu);
    TsrHalf half = {(uint16_t)((sign >> 16) | (two > 0xFF000000u ? 0x7E00u : nonsign))};
    return half;
}

/* The upper half of a float32, exact. */
static inline float tsr_bfloat16_widen(TsrBfloat16 b) { return tsr_bits_float((uint32_t)b.bits << 16); }

/* Nearest even on the upper 16 bits; every nan becomes 0x7FC0. */
static inline TsrBfloat16 tsr_bfloat16_round(float f) {
    uint32_t u = tsr_float_bits(f), r = (u + 0x7FFFu + ((u >> 16) & 1u)) >> 16;
    TsrBfloat16 rounded = {(uint16_t)((u & 0x7FFFFFFFu) > 0x7F800000u ? 0x7FC0u : r)};
    return rounded;
}

/* e5m2 is the upper byte of a half. */
static inline float tsr_float8_e5m2_widen(TsrFloat8E5m2 x) {
    TsrHalf half = {(uint16_t)(x.bits << 8)};
    return tsr_half_widen(half);
}

/* Nearest even; what rounds to 2^16 or more becomes infinite. */
static inline TsrFloat8E5m2 tsr_float8_e5m2_round(float f) {
    uint32_t w = tsr_float_bits(f), mag = w & 0x7FFFFFFFu, r;
    if (mag >= 143u << 23) r = mag > 0x7F800000u ? 0x7F : 0x7C; /* 2^16 and above */
    else if (mag < 113u << 23) r = tsr_float_bits(tsr_bits_float(mag) + tsr_bits_float(134u << 23)) - (134u << 23);
    else r = (mag + (((mag >> 21) & 1u) + 0xFFFFFu) - (112u << 23)) >> 21;
    TsrFloat8E5m2 rounded = {(uint8_t)(r | (w >> 31 << 7))};
    return rounded;
}

/* 4 bits of exponent, bias 7, no infinity; all bits set is nan. */
static inline float tsr_float8_e4m3fn_widen(TsrFloat8E4m3fn x) {
    uint32_t mag = x.bits & 0x7Fu, sign = (uint32_t)(x.bits & 0x80u) << 24;
    if (mag == 0x7F) return tsr_bits_float(sign | 0x7FC00000u);
    float f = mag < 8 ? (float)mag * 0x1.0p-9f : tsr_bits_float((mag << 20) + (120u << 23));
    return tsr_bits_float(sign | tsr_float_bits(f));
}

/* Nearest even; 448 and above, and infinity, become 448. */
static inline TsrFloat8E4m3fn tsr_float8_e4m3fn_round(float f) {
    uint32_t w = tsr_float_bits(f), mag = w & 0x7FFFFFFFu, r;
    if (mag > 0x7F800000u) r = 0x7F;
    else if (mag >= 1086u << 20) r = 0x7E; /* saturates at 448, infinity too */
    else if (mag < 121u << 23) r = tsr_float_bits(tsr_bits_float(mag) + tsr_bits_float(141u << 23)) - (141u << 23);
    else r = (mag + (((mag >> 20) & 1u) + 0x7FFFFu) - (120u << 23)) >> 20;
    TsrFloat8E4m3fn rounded = {(uint8_t)(r | (w >> 31 << 7))};
    return rounded;
}

/* The formats of fnuz have no infinity, no -0, and one nan, whose bits those of -0 would be. `fraction`: its bits. */
static inline float tsr_fnuz_widen(uint32_t bits, unsigned fraction, unsigned bias) {
    uint32_t mag = bits & 0x7Fu, sign = (bits & 0x80u) << 24;
    if (bits == 0x80u) return tsr_bits_float(0x7F800001u);
    float tiny = tsr_bits_float((128u - bias - fraction) << 23), /* the least of all */
        f = mag >> fraction == 0 ? (float)mag * tiny : tsr_bits_float((mag << (23 - fraction)) + ((127u - bias) << 23));
    return tsr_bits_float(sign | tsr_float_bits(f));
}

/* Nearest even; what rounds to more than the greatest number, and infinity, become nan. */
static inline uint8_t tsr_fnuz_round(float f, unsigned fraction, unsigned bias) {
    uint32_t w = tsr_float_bits(f), mag = w & 0x7FFFFFFFu, cut = 23 - fraction, least = 128u - bias, r;
    if (mag >= (127u + bias) << 23) return 0x80;
    if (mag < least << 23) /* subnormal: the sum's last bit is that of the format */
        r = tsr_float_bits(tsr_bits_float(mag) + tsr_bits_float((least + cut) << 23)) - ((least + cut) << 23);
    else r = (mag + ((mag >> cut & 1u) + (1u << (cut - 1)) - 1u) - ((127u - bias) << 23)) >> cut;
    if (r > 0x7F) return 0x80;
    return (uint8_t)(r == 0 ? 0 : r | w >> 31 << 7);
}
static inline float tsr_float8_e5m2fnuz_widen(TsrFloat8E5m2fnuz x) { return tsr_fnuz_widen(x.bits, 2, 16); }
static inline TsrFloat8E5m2fnuz tsr_float8_e5m2fnuz_round(float f) {
    TsrFloat8E5m2fnuz rounded = {tsr_fnuz_round(f, 2, 16)};
    return rounded;
}
static inline float tsr_float8_e4m3fnuz_widen(TsrFloat8E4m3fnuz x) { return tsr_fnuz_widen(x.bits, 3, 8); }
static inline TsrFloat8E4m3fnuz tsr_float8_e4m3fnuz_round(float f) {
    TsrFloat8E4m3fnuz rounded = {tsr_fnuz_round(f, 3, 8)};
    return rounded;
}

/* An exponent alone: from 2^-127 to 2^127, and 255 is nan. */
static inline float tsr_float8_e8m0fnu_widen(TsrFloat8E8m0fnu x) {
    return tsr_bits_float(x.bits == 0 ? 0x00400000u : x.bits == 0xFF ? 0x7F800001u : (uint32_t)x.bits << 23);
}

/* The nearest power of 2, the even exponent's and so the greater one's in the middle; the sign is lost. */
static inline TsrFloat8E8m0fnu tsr_float8_e8m0fnu_round(float f) {
    uint32_t w = tsr_float_bits(f), exponent = w >> 23 & 0xFFu, rest = w & 0x7FFFFFu;
    bool up = exponent < 0xFF && (rest > 0x400000u || (rest == 0x400000u && exponent > 0));
    TsrFloat8E8m0fnu rounded = {(uint8_t)(exponent + up)};
    return rounded;
}

/* Float to integer as x86 does it: truncation; out of range and nan give the least int32 or int64,
 * of which narrower types keep the low bits. */
static inline int32_t tsr_double_to_int32(double f) {
    return f > -2147483649.0 && f < 2147483648.0 ? (int32_t)f : INT32_MIN;
}
static inline int32_t tsr_float_to_int32(float f) {
    return f >= -2147483648.0f && f < 2147483648.0f ? (int32_t)f : INT32_MIN;
}
static inline int64_t tsr_double_to_int64(double f) { return f >= -0x1.0p63 && f < 0x1.0p63 ? (int64_t)f : INT64_MIN; }
static inline uint64_t tsr_double_to_uint64(double f) {
    return f >= 0x1.0p63 ? (uint64_t)tsr_double_to_int64(f - 0x1.0p63) ^ (1ull << 63)
                         : (uint64_t)tsr_double_to_int64(f);
}

#endif
