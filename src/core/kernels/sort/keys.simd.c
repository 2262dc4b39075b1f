/* keys.simd.c: order-preserving integer keys, for one instruction set. */
#include <string.h>

#include "keys_table.h"

/* --- key_STEM of each row of dtype.def: the key of an element's bits, of its width --- */
#define ORDERED(stem, U) \
    static inline U key_##stem(U u) { return u; }
#define SIGNED(stem, U) \
    static inline U key_##stem(U u) { return (U)(u ^ (U)((U)1 << (sizeof(U) * 8 - 1))); }
/* Negative floats are flipped whole, others get the top bit; nan and -0 are put right first. */
#define FLOAT_KEY(stem, U, inf) \
    static inline U key_##stem(U u) { \
        const U top = (U)((U)1 << (sizeof(U) * 8 - 1)); \
        U magnitude = (U)(u & (U)~top), key = u & top ? (U)~u : (U)(u | top); \
        key = magnitude == 0 ? top : key; \
        return magnitude > (inf) ? (U) ~(U)0 : key; \
    }
/* The bits of -0 are nan. */
#define FNUZ_KEY(stem) \
    static inline uint8_t key_##stem(uint8_t u) { return u == 0x80 ? 0xFF : (uint8_t)(u & 0x80 ? ~u : u | 0x80); }
ORDERED(b8, uint8_t)
ORDERED(u8, uint8_t)
ORDERED(u16, uint16_t)
ORDERED(u32, uint32_t)
ORDERED(u64, uint64_t)
SIGNED(i8, uint8_t)
SIGNED(i16, uint16_t)
SIGNED(i32, uint32_t)
SIGNED(i64, uint64_t)
FLOAT_KEY(f8e5m2, uint8_t, 0x7C)
FLOAT_KEY(f8e4m3fn, uint8_t, 0x7E)
FNUZ_KEY(f8e5m2fnuz)
FNUZ_KEY(f8e4m3fnuz)
ORDERED(f8e8m0fnu, uint8_t)
FLOAT_KEY(f16, uint16_t, 0x7C00)
FLOAT_KEY(bf16, uint16_t, 0x7F80)
FLOAT_KEY(f32, uint32_t, 0x7F800000u)
FLOAT_KEY(f64, uint64_t, 0x7FF0000000000000u)

#define BITS_1 uint8_t
#define BITS_2 uint16_t
#define BITS_4 uint32_t
#define BITS_8 uint64_t

#define EACH_AT(T, stem, step) \
    for (int64_t i = 0; i < n; i++) { \
        T u; \
        memcpy(&u, src + i * (step), sizeof u); \
        keys[i] = key_##stem(u); \
    }
#define EACH(T, stem) \
    if (stride == (int64_t)sizeof(T)) EACH_AT(T, stem, (int64_t)sizeof(T)) \
    else EACH_AT(T, stem, stride) \
    break;

/* Complex numbers and objects have no order. */
#define CASE_BOOL(suffix, size, stem) \
    case TSR_##suffix: \
        EACH(BITS_##size, stem)
#define CASE_UINT CASE_BOOL
#define CASE_INT CASE_BOOL
#define CASE_FLOAT CASE_BOOL
#define CASE_COMPLEX(suffix, size, stem) \
    case TSR_##suffix: \
        break;
#define CASE_OBJECT CASE_COMPLEX
#define DTYPE(suffix, ctype, size, kind, group, stem, ...) CASE_##kind(suffix, size, stem)

/* Of dtypes of at most 32 bits; wider ones would lose their lower bits. */
static void keys32(TsrDtype dtype, const char *src, int64_t stride, int64_t n, uint32_t *keys) {
    switch ((TsrDtypeId)dtype) {
#include "core/dtype.def"
    case TSR_DTYPE_COUNT:
    case TSR_DTYPE_NONE: break;
    }
}

static void keys64(TsrDtype dtype, const char *src, int64_t stride, int64_t n, uint64_t *keys) {
    switch ((TsrDtypeId)dtype) {
#include "core/dtype.def"
    case TSR_DTYPE_COUNT:
    case TSR_DTYPE_NONE: break;
    }
}
#undef DTYPE

/* The first k with (keys[k] ^ mask) < limit; n if there is none. Keys are compared without a branch, so that the loop
 * is vectorised; a hit is then searched one by one. */
enum { STRETCH = 64 };
#define FIRST_BELOW(bits) \
    static int64_t first_below##bits(const uint##bits##_t *keys, int64_t n, uint##bits##_t mask, \
                                     uint##bits##_t limit) { \
        int64_t i = 0; \
        for (; i + STRETCH <= n; i += STRETCH) { \
            int hit = 0; \
            for (int k = 0; k < STRETCH; k++) hit |= (keys[i + k] ^ mask) < limit; \
            if (hit) break; \
        } \
        while (i < n && (keys[i] ^ mask) >= limit) i++; \
        return i; \
    }
FIRST_BELOW(32)
FIRST_BELOW(64)

const TsrKeysTable SIMD(tsr_keys_table) = {keys32, keys64, first_below32, first_below64};
