/* Order-preserving integer keys. */
#include "kernels/keys.h"

#include <string.h>

/* A float of b bits: negative ones are flipped whole, others get the top bit; nan and -0 are put right first. */
#define FLOAT_KEY(U, bits, inf) \
    static inline U key_f##bits(U u) { \
        const U top = (U)((U)1 << (sizeof(U) * 8 - 1)); \
        U magnitude = (U)(u & (U)~top); \
        if (magnitude > (inf)) return (U)~(U)0; \
        if (magnitude == 0) return top; \
        return (U)(u & top ? (U)~u : (U)(u | top)); \
    }
FLOAT_KEY(uint8_t, 8a, 0x7C)
FLOAT_KEY(uint8_t, 8b, 0x7E)
FLOAT_KEY(uint16_t, 16, 0x7C00)
FLOAT_KEY(uint16_t, 16b, 0x7F80)
FLOAT_KEY(uint32_t, 32, 0x7F800000u)
FLOAT_KEY(uint64_t, 64, 0x7FF0000000000000u)

#define EACH(T, expr) \
    for (int64_t i = 0; i < n; i++) { \
        T u; \
        memcpy(&u, src + i * stride, sizeof u); \
        keys[i] = (expr); \
    } \
    break

#define BODY32 \
    case TSR_BOOL: \
    case TSR_UINT8: EACH(uint8_t, u); \
    case TSR_INT8: EACH(uint8_t, (uint8_t)(u ^ 0x80u)); \
    case TSR_UINT16: EACH(uint16_t, u); \
    case TSR_INT16: EACH(uint16_t, (uint16_t)(u ^ 0x8000u)); \
    case TSR_UINT32: EACH(uint32_t, u); \
    case TSR_INT32: EACH(uint32_t, u ^ 0x80000000u); \
    case TSR_FLOAT8_E5M2: EACH(uint8_t, key_f8a(u)); \
    case TSR_FLOAT8_E4M3FN: EACH(uint8_t, key_f8b(u)); \
    case TSR_FLOAT16: EACH(uint16_t, key_f16(u)); \
    case TSR_BFLOAT16: EACH(uint16_t, key_f16b(u)); \
    case TSR_FLOAT32: EACH(uint32_t, key_f32(u))

void tsr_kernel_keys32(TsrDtype dtype, const char *src, int64_t stride, int64_t n, uint32_t *keys) {
    switch (dtype) {
    BODY32;
    default: break;
    }
}

void tsr_kernel_keys64(TsrDtype dtype, const char *src, int64_t stride, int64_t n, uint64_t *keys) {
    switch (dtype) {
    BODY32;
    case TSR_UINT64: EACH(uint64_t, u);
    case TSR_INT64: EACH(uint64_t, u ^ 0x8000000000000000u);
    case TSR_FLOAT64: EACH(uint64_t, key_f64(u));
    default: break;
    }
}

uint64_t tsr_kernel_nan_key(TsrDtype dtype) {
    if (!tsr_dtype_is_float(dtype)) return UINT64_MAX;
    return UINT64_MAX >> (64 - tsr_kernel_key_bits(dtype));
}
