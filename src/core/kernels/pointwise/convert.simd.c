/* convert.simd.c: conversion between every two numeric dtypes. Compiled once for each instruction set;
 * SIMD(name) names what this inclusion defines. */
#include <math.h>

#include "core/element/halffloat.h"
#include "core/kernels/simd.h"
#include "core/scalar.h"

/* Values of each C type as seen by the conversion: C(to, from-class)(x). Floats go through defined truncation. */
#define F32_u8(x) (uint8_t) tsr_float_to_int32(x)
#define F32_i8(x) (int8_t) tsr_float_to_int32(x)
#define F32_u16(x) (uint16_t) tsr_float_to_int32(x)
#define F32_i16(x) (int16_t) tsr_float_to_int32(x)
#define F32_i32(x) tsr_float_to_int32(x)
#define F32_u32(x) (uint32_t) tsr_double_to_int64((double)(x))
#define F32_i64(x) tsr_double_to_int64((double)(x))
#define F32_u64(x) tsr_double_to_uint64((double)(x))
#define F32_f32(x) (x)
#define F32_f64(x) (double)(x)
#define F32_b8(x) ((x) != 0)
#define F64_u8(x) SIMD(low_byte)(x)
#define F64_i8(x) (int8_t) tsr_double_to_int32(x)
#define F64_u16(x) (uint16_t) tsr_double_to_int32(x)
#define F64_i16(x) (int16_t) tsr_double_to_int32(x)
#define F64_i32(x) tsr_double_to_int32(x)
#define F64_u32(x) (uint32_t) tsr_double_to_int64(x)
#define F64_i64(x) tsr_double_to_int64(x)
#define F64_u64(x) tsr_double_to_uint64(x)
#define F64_f32(x) (float)(x)
#define F64_f64(x) (x)
#define F64_b8(x) ((x) != 0)
#define INT_u8(x) (uint8_t)(x)
#define INT_i8(x) (int8_t)(x)
#define INT_u16(x) (uint16_t)(x)
#define INT_i16(x) (int16_t)(x)
#define INT_i32(x) (int32_t)(x)
#define INT_u32(x) (uint32_t)(x)
#define INT_i64(x) (int64_t)(x)
#define INT_u64(x) (uint64_t)(x)
#define INT_f32(x) (float)(x)
#define INT_f64(x) (double)(x)
#define INT_b8(x) ((x) != 0)

/* The lowest byte of the int64 that x is. Multiples of 256 have none of it: what is left without them is small enough
 * for an int32, to which the machine converts several at once. */
static inline uint8_t SIMD(low_byte)(double x) { return (uint8_t)tsr_double_to_int32(x - 256.0 * trunc(x / 256.0)); }

#define LOOP(T, S, EXPR) \
    if (ds == (int64_t)sizeof(T) && ss == (int64_t)sizeof(S)) { \
        T *restrict o = (T *)dst; \
        const S *restrict a = (const S *)src; \
        for (int64_t i = 0; i < n; i++) { \
            const S x = a[i]; \
            o[i] = EXPR; \
        } \
    } else { \
        for (int64_t i = 0; i < n; i++, dst += ds, src += ss) { \
            const S x = *(const S *)src; \
            *(T *)dst = EXPR; \
        } \
    } \
    return

/* from_STEM of each row of dtype.def that the machine calculates with, to each of them and to bool. A bool is read as a
 * byte and normalised: files may hold other values than 0 and 1. */
#define PASTED(a, b) a##_##b
#define PASTE(a, b) PASTED(a, b)
#define FROM u8
#define S uint8_t
#define CLASS INT
#include "convert_from.inc"
#define FROM i8
#define S int8_t
#define CLASS INT
#include "convert_from.inc"
#define FROM u16
#define S uint16_t
#define CLASS INT
#include "convert_from.inc"
#define FROM i16
#define S int16_t
#define CLASS INT
#include "convert_from.inc"
#define FROM u32
#define S uint32_t
#define CLASS INT
#include "convert_from.inc"
#define FROM i32
#define S int32_t
#define CLASS INT
#include "convert_from.inc"
#define FROM u64
#define S uint64_t
#define CLASS INT
#include "convert_from.inc"
#define FROM i64
#define S int64_t
#define CLASS INT
#include "convert_from.inc"
#define FROM f32
#define S float
#define CLASS F32
#include "convert_from.inc"
#define FROM f64
#define S double
#define CLASS F64
#include "convert_from.inc"

static void SIMD(half_widen)(float *restrict o, const TsrHalf *restrict a, int64_t n) {
    int64_t i = 0;
#if defined(__AVX512F__)
    for (; i + 16 <= n; i += 16) _mm512_storeu_ps(o + i, _mm512_cvtph_ps(_mm256_loadu_si256((const void *)(a + i))));
#elif defined(__F16C__)
    for (; i + 8 <= n; i += 8) _mm256_storeu_ps(o + i, _mm256_cvtph_ps(_mm_loadu_si128((const void *)(a + i))));
#endif
    for (; i < n; i++) o[i] = tsr_half_widen(a[i]);
}

static void SIMD(half_round)(TsrHalf *restrict o, const float *restrict a, int64_t n) {
    int64_t i = 0;
#if defined(__AVX512F__)
    for (; i + 16 <= n; i += 16)
        _mm256_storeu_si256((void *)(o + i),
                            _mm512_cvtps_ph(_mm512_loadu_ps(a + i), _MM_FROUND_TO_NEAREST_INT | _MM_FROUND_NO_EXC));
#elif defined(__F16C__)
    for (; i + 8 <= n; i += 8)
        _mm_storeu_si128((void *)(o + i),
                         _mm256_cvtps_ph(_mm256_loadu_ps(a + i), _MM_FROUND_TO_NEAREST_INT | _MM_FROUND_NO_EXC));
#endif
    for (; i < n; i++) o[i] = tsr_half_round(a[i]);
}

static void SIMD(bfloat16_widen)(float *restrict o, const TsrBfloat16 *restrict a, int64_t n) {
    for (int64_t i = 0; i < n; i++) o[i] = tsr_bfloat16_widen(a[i]);
}

#ifdef TSR_SIMD_AVX2
/* In the lower half of each lane. */
static inline __m256i bfloat16_nearest(__m256 v) {
    const __m256i bits = _mm256_castps_si256(v),
                  odd = _mm256_and_si256(_mm256_srli_epi32(bits, 16), _mm256_set1_epi32(1));
    const __m256 raised = _mm256_castsi256_ps(_mm256_add_epi32(bits, _mm256_add_epi32(odd, _mm256_set1_epi32(0x7FFF)))),
                 nan = _mm256_castsi256_ps(_mm256_set1_epi32(0x7FC00000));
    return _mm256_srli_epi32(_mm256_castps_si256(_mm256_blendv_ps(raised, nan, _mm256_cmp_ps(v, v, _CMP_UNORD_Q))), 16);
}
#endif

/* Of 1e6 floats the compiler's vectors of AVX2 take a fifth longer (Zen 5: 86 us and 70). */
static void SIMD(bfloat16_round)(TsrBfloat16 *restrict o, const float *restrict a, int64_t n) {
    int64_t i = 0;
#ifdef TSR_SIMD_AVX2
    for (; i + 16 <= n; i += 16) {
        const __m256i lanes =
            _mm256_packus_epi32(bfloat16_nearest(_mm256_loadu_ps(a + i)), bfloat16_nearest(_mm256_loadu_ps(a + i + 8)));
        _mm256_storeu_si256((__m256i *)(void *)(o + i), _mm256_permute4x64_epi64(lanes, 0xD8));
    }
#endif
    for (; i < n; i++) o[i] = tsr_bfloat16_round(a[i]);
}

/* --- widen_STEM and narrow_STEM of each row of dtype.def that is a small FLOAT: any stride into contiguous floats, and
 * back --- */
#define SMALL(stem, type, size, widen_one, widen_dense, round_one, round_dense) \
    static void SIMD(widen_##stem)(float *restrict o, const char *src, int64_t ss, int64_t n) { \
        if (ss == size) widen_dense(o, (const type *)src, n); \
        else \
            for (int64_t i = 0; i < n; i++, src += ss) o[i] = widen_one(*(const type *)src); \
    } \
    static void SIMD(narrow_##stem)(char *dst, int64_t ds, const float *restrict a, int64_t n) { \
        if (ds == size) round_dense((type *)dst, a, n); \
        else \
            for (int64_t i = 0; i < n; i++, dst += ds) *(type *)dst = round_one(a[i]); \
    }
/* Dense ones as the compiler makes them. */
#define DENSE(stem, type, widen_one, round_one) \
    static void SIMD(stem##_widen)(float *restrict o, const type *restrict a, int64_t n) { \
        for (int64_t i = 0; i < n; i++) o[i] = widen_one(a[i]); \
    } \
    static void SIMD(stem##_round)(type *restrict o, const float *restrict a, int64_t n) { \
        for (int64_t i = 0; i < n; i++) o[i] = round_one(a[i]); \
    } \
    SMALL(stem, type, sizeof(type), widen_one, SIMD(stem##_widen), round_one, SIMD(stem##_round))
SMALL(f16, TsrHalf, 2, tsr_half_widen, SIMD(half_widen), tsr_half_round, SIMD(half_round))
SMALL(bf16, TsrBfloat16, 2, tsr_bfloat16_widen, SIMD(bfloat16_widen), tsr_bfloat16_round, SIMD(bfloat16_round))
DENSE(f8e5m2, TsrFloat8E5m2, tsr_float8_e5m2_widen, tsr_float8_e5m2_round)
DENSE(f8e4m3fn, TsrFloat8E4m3fn, tsr_float8_e4m3fn_widen, tsr_float8_e4m3fn_round)
DENSE(f8e5m2fnuz, TsrFloat8E5m2fnuz, tsr_float8_e5m2fnuz_widen, tsr_float8_e5m2fnuz_round)
DENSE(f8e4m3fnuz, TsrFloat8E4m3fnuz, tsr_float8_e4m3fnuz_widen, tsr_float8_e4m3fnuz_round)
DENSE(f8e8m0fnu, TsrFloat8E8m0fnu, tsr_float8_e8m0fnu_widen, tsr_float8_e8m0fnu_round)

/* By the row's group: only halves and float8 are small. */
#define SMALL_BOOL(suffix, call) \
    case TSR_##suffix: \
        return;
#define SMALL_INTEGER SMALL_BOOL
#define SMALL_BARE SMALL_BOOL
#define SMALL_FLOAT SMALL_BOOL
#define SMALL_COMPLEX SMALL_BOOL
#define SMALL_SMALL_COMPLEX SMALL_BOOL
#define SMALL_OBJECT SMALL_BOOL
#define SMALL_HALF(suffix, call) \
    case TSR_##suffix: \
        call; \
        return;
#define SMALL_FLOAT8 SMALL_HALF

static void SIMD(widen)(TsrDtype from, float *restrict o, const char *src, int64_t ss, int64_t n) {
    switch ((TsrDtypeId)from) {
#define DTYPE(suffix, ctype, size, kind, group, stem, ...) SMALL_##group(suffix, SIMD(widen_##stem)(o, src, ss, n))
#include "core/dtype.def"
#undef DTYPE
    case TSR_DTYPE_COUNT:
    case TSR_DTYPE_NONE: return;
    }
}

static void SIMD(narrow)(TsrDtype to, char *dst, int64_t ds, const float *restrict a, int64_t n) {
    switch ((TsrDtypeId)to) {
#define DTYPE(suffix, ctype, size, kind, group, stem, ...) SMALL_##group(suffix, SIMD(narrow_##stem)(dst, ds, a, n))
#include "core/dtype.def"
#undef DTYPE
    case TSR_DTYPE_COUNT:
    case TSR_DTYPE_NONE: return;
    }
}

static bool SIMD(is_small)(TsrDtype d) { return tsr_dtypes[d].kind == TSR_KIND_FLOAT && tsr_dtypes[d].itemsize < 4; }

/* By the row's group: what the machine calculates with. */
#define NATIVE_INTEGER(suffix, stem) \
    case TSR_##suffix: \
        from_##stem(to, dst, ds, src, ss, n); \
        return;
#define NATIVE_BARE NATIVE_INTEGER
#define NATIVE_FLOAT NATIVE_INTEGER
#define NATIVE_BOOL(suffix, stem) \
    case TSR_##suffix: \
        return;
#define NATIVE_HALF NATIVE_BOOL
#define NATIVE_FLOAT8 NATIVE_BOOL
#define NATIVE_COMPLEX NATIVE_BOOL
#define NATIVE_SMALL_COMPLEX NATIVE_BOOL
#define NATIVE_OBJECT NATIVE_BOOL

/* Floats to int64 where no instruction converts vectors: whole numbers of less than 2**51 are the low bits of their sum
 * with 1.5 * 2**52; others go one by one. Only what is contiguous. */
#ifdef TSR_SIMD_AVX2
#define TO_INT64(name, T, LOAD) \
    static void name(int64_t *restrict o, const T *restrict a, int64_t n) { \
        const __m256d limit = _mm256_set1_pd(0x1p51), sign = _mm256_set1_pd(-0.0), shift = _mm256_set1_pd(0x1.8p52); \
        int64_t i = 0; \
        for (; i + 4 <= n; i += 4) { \
            const __m256d x = LOAD(a + i), whole = _mm256_round_pd(x, _MM_FROUND_TO_ZERO | _MM_FROUND_NO_EXC); \
            const __m256d small = _mm256_cmp_pd(_mm256_andnot_pd(sign, x), limit, _CMP_LT_OQ); \
            const __m256i bits = _mm256_castpd_si256(_mm256_add_pd(whole, shift)); \
            if (TSR_LIKELY(_mm256_movemask_pd(small) == 15)) \
                _mm256_storeu_si256((__m256i *)(void *)(o + i), _mm256_sub_epi64(bits, _mm256_castpd_si256(shift))); \
            else \
                for (int k = 0; k < 4; k++) o[i + k] = tsr_double_to_int64((double)a[i + k]); \
        } \
        for (; i < n; i++) o[i] = tsr_double_to_int64((double)a[i]); \
    }
#define LOAD_FLOATS(p) _mm256_cvtps_pd(_mm_loadu_ps(p))
TO_INT64(floats_to_int64, float, LOAD_FLOATS)
TO_INT64(doubles_to_int64, double, _mm256_loadu_pd)

static bool to_int64(char *dst, int64_t ds, TsrDtype from, const char *src, int64_t ss, int64_t n) {
    if (ds != 8 || ss != (int64_t)tsr_dtypes[from].itemsize) return false;
    if (from == TSR_FLOAT32) floats_to_int64((int64_t *)(void *)dst, (const float *)(const void *)src, n);
    else if (from == TSR_FLOAT64) doubles_to_int64((int64_t *)(void *)dst, (const double *)(const void *)src, n);
    return from == TSR_FLOAT32 || from == TSR_FLOAT64;
}
#else
static bool to_int64(char *dst, int64_t ds, TsrDtype from, const char *src, int64_t ss, int64_t n) {
    (void)dst, (void)ds, (void)from, (void)src, (void)ss, (void)n;
    return false;
}
#endif

static void SIMD(native)(TsrDtype to, char *dst, int64_t ds, TsrDtype from, const char *src, int64_t ss, int64_t n) {
    if (to == TSR_INT64 && to_int64(dst, ds, from, src, ss, n)) return;
    switch ((TsrDtypeId)from) {
#define DTYPE(suffix, ctype, size, kind, group, stem, ...) NATIVE_##group(suffix, stem)
#include "core/dtype.def"
#undef DTYPE
    case TSR_DTYPE_COUNT:
    case TSR_DTYPE_NONE: return;
    }
}

/* Elements converted by way of a block on the stack: 512 floats are 2 KiB, which stays in the first cache between the
 * two loops. No measurement is recorded. */
enum { SIMD(BLOCK) = 512 };

/* From a bool: normalised to 0 and 1 in blocks first. */
static void SIMD(from_bool)(TsrDtype to, char *dst, int64_t ds, const char *src, int64_t ss, int64_t n) {
    uint8_t block[SIMD(BLOCK)];
    for (int64_t done = 0; done < n; done += SIMD(BLOCK)) {
        int64_t m = TSR_MIN(n - done, (int64_t)SIMD(BLOCK));
        for (int64_t i = 0; i < m; i++) block[i] = *(const uint8_t *)(src + (done + i) * ss) != 0;
        SIMD(tsr_convert)(to, dst + done * ds, ds, TSR_UINT8, (const char *)block, 1, m);
    }
}

/* Small floats on either side go through blocks of float, unless dense floats are the other side (a double rounds
 * twice, as PyTorch's does). */
static void SIMD(by_float)(TsrDtype to, char *dst, int64_t ds, TsrDtype from, const char *src, int64_t ss, int64_t n) {
    float block[SIMD(BLOCK)];
    if (from == TSR_FLOAT32 && ss == 4) {
        SIMD(narrow)(to, dst, ds, (const float *)src, n);
        return;
    }
    if (to == TSR_FLOAT32 && ds == 4) {
        SIMD(widen)(from, (float *)dst, src, ss, n);
        return;
    }
    for (int64_t done = 0; done < n; done += SIMD(BLOCK)) {
        int64_t m = TSR_MIN(n - done, (int64_t)SIMD(BLOCK));
        const char *s = src + done * ss;
        char *d = dst + done * ds;
        if (SIMD(is_small)(from)) SIMD(widen)(from, block, s, ss, m);
        else SIMD(native)(TSR_FLOAT32, (char *)block, 4, from, s, ss, m);
        if (SIMD(is_small)(to)) SIMD(narrow)(to, d, ds, block, m);
        else SIMD(native)(to, d, ds, TSR_FLOAT32, (const char *)block, 4, m);
    }
}

static void SIMD(complex_to_bool)(char *dst, int64_t ds, TsrDtype from, const char *src, int64_t ss, int64_t n) {
    for (int64_t i = 0; i < n; i++, dst += ds, src += ss)
        *(uint8_t *)dst = tsr_scalar_to_bool(tsr_scalar_load(from, src));
}

/* Imaginary parts of zero; dense real parts of the same size come with them. */
#define PARTS(T) \
    case sizeof(T): \
        if (src != NULL) \
            for (int64_t i = 0; i < n; i++) ((T *)dst)[2 * i] = ((const T *)src)[i], ((T *)dst)[2 * i + 1] = 0; \
        else \
            for (int64_t i = 0; i < n; i++) *(T *)(dst + i * ds + sizeof(T)) = 0; \
        return
static void SIMD(no_imaginary)(char *dst, int64_t ds, const char *src, size_t part, int64_t n) {
    switch (part) {
        PARTS(uint16_t);
        PARTS(uint32_t);
        PARTS(uint64_t);
    default: return;
    }
}

/* Complex: each part by itself; a real target keeps the real part, a real source has none but zero. */
static void SIMD(by_parts)(TsrDtype to, char *dst, int64_t ds, TsrDtype from, const char *src, int64_t ss, int64_t n) {
    TsrDtype rt = tsr_dtype_real_of(to), rf = tsr_dtype_real_of(from);
    int64_t wt = (int64_t)tsr_dtypes[rt].itemsize, wf = (int64_t)tsr_dtypes[rf].itemsize;
    bool to_complex = tsr_dtype_is_complex(to), from_complex = tsr_dtype_is_complex(from);
    if (to == TSR_BOOL) {
        SIMD(complex_to_bool)(dst, ds, from, src, ss, n);
    } else if (to_complex && from_complex && ds == 2 * wt && ss == 2 * wf) {
        SIMD(tsr_convert)(rt, dst, wt, rf, src, wf, 2 * n);
    } else if (to_complex && !from_complex && rt == rf && ds == 2 * wt && ss == wf) {
        SIMD(no_imaginary)(dst, ds, src, (size_t)wt, n);
    } else {
        SIMD(tsr_convert)(rt, dst, ds, rf, src, ss, n);
        if (!to_complex) return;
        if (from_complex) SIMD(tsr_convert)(rt, dst + wt, ds, rf, src + wf, ss, n);
        else SIMD(no_imaginary)(dst, ds, NULL, (size_t)wt, n);
    }
}

void SIMD(tsr_convert)(TsrDtype to, char *dst, int64_t ds, TsrDtype from, const char *src, int64_t ss, int64_t n) {
    if (tsr_dtype_is_complex(to) || tsr_dtype_is_complex(from)) SIMD(by_parts)(to, dst, ds, from, src, ss, n);
    else if (from == TSR_BOOL) SIMD(from_bool)(to, dst, ds, src, ss, n);
    else if (SIMD(is_small)(to) || SIMD(is_small)(from)) SIMD(by_float)(to, dst, ds, from, src, ss, n);
    else SIMD(native)(to, dst, ds, from, src, ss, n);
}
