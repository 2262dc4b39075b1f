/* Inner loops that fold elements into scattered places, one a dtype and operation. */
#include "combine.h"

#include <math.h>

#include "core/error.h"
#include "core/element/halffloat.h"

#define PLACE(T) \
    T *d = (T *)(void *)(dst + (index != NULL ? index[i * index_step] : i) * dst_step); \
    const T *s = (const T *)(const void *)(src + i * src_step)

#define DENSE(T) (index == NULL && dst_step == (int64_t)sizeof(T) && src_step == (int64_t)sizeof(T))
/* Places among neighbours, by neighbouring positions and elements: of strides that are known nothing is multiplied. */
#define NEIGHBOURS(T) \
    (index != NULL && index_step == 1 && dst_step == (int64_t)sizeof(T) && src_step == (int64_t)sizeof(T))

enum { SHORT = 16 }; /* elements of a line for which vectors are not set up */

#define ALL(C, LOAD, STORE, expr) \
    for (int64_t i = 0; i < n; i++) { \
        const C a = LOAD(d[i]), b = LOAD(s[i]); \
        d[i] = STORE(expr); \
    }

/* One loop: `expr` gives the new value from a (the old one) and b, both of type C. CLONES: TSR_CLONES for what the
 * wider vectors of some processors are worth their code (index_add_ of 1000 rows of 1000 floats, one thread, Zen 5: 111
 * us without them, 80 with). */
#define LOOP(name, ...) LOOP_BY(, name, __VA_ARGS__)
#define LOOP_BY(CLONES, name, T, C, LOAD, STORE, expr) \
    CLONES static void dense_##name(T *d, const T *s, int64_t n) { ALL(C, LOAD, STORE, expr) } \
    static void name(char *dst, int64_t dst_step, const int64_t *index, int64_t index_step, const char *src, \
                     int64_t src_step, int64_t n) { \
        if (DENSE(T)) { \
            T *d = (T *)(void *)dst; \
            const T *s = (const T *)(const void *)src; \
            if (n < SHORT) ALL(C, LOAD, STORE, expr) \
            else dense_##name(d, s, n); \
            return; \
        } \
        if (NEIGHBOURS(T)) { \
            T *to = (T *)(void *)dst; \
            const T *from = (const T *)(const void *)src; \
            TSR_IN_PIECES(i, n) { \
                const C a = LOAD(to[index[i]]), b = LOAD(from[i]); \
                to[index[i]] = STORE(expr); \
            } \
            return; \
        } \
        for (int64_t i = 0; i < n && !tsr_interrupted_at(i); i++) { \
            PLACE(T); \
            C a = LOAD(*d), b = LOAD(*s); \
            *d = STORE(expr); \
        } \
    }

#define SET(name, T) \
    static void name(char *dst, int64_t dst_step, const int64_t *index, int64_t index_step, const char *src, \
                     int64_t src_step, int64_t n) { \
        if (NEIGHBOURS(T)) { \
            T *to = (T *)(void *)dst; \
            const T *from = (const T *)(const void *)src; \
            TSR_IN_PIECES(i, n) to[index[i]] = from[i]; \
            return; \
        } \
        for (int64_t i = 0; i < n && !tsr_interrupted_at(i); i++) { \
            PLACE(T); \
            *d = *s; \
        } \
    }
typedef struct Wide {
    uint64_t a, b;
} Wide;
SET(set1, uint8_t)
SET(set2, uint16_t)
SET(set4, uint32_t)
SET(set8, uint64_t)
SET(set16, Wide)

#define SAME(x) (x)
#define HALF_OUT(x) tsr_half_round(x)
#define BF_OUT(x) tsr_bfloat16_round(x)
/* Signed sums and products wrap. */
#define ARITH(suffix, CLONES, T, C, LOAD, STORE) \
    LOOP_BY(CLONES, add_##suffix, T, C, LOAD, STORE, a + b) \
    LOOP(mul_##suffix, T, C, LOAD, STORE, a *b)
#define ORDER(suffix, T, C, LOAD, STORE) \
    LOOP(max_##suffix, T, C, LOAD, STORE, b != b ? b : a < b ? b : a) \
    LOOP(min_##suffix, T, C, LOAD, STORE, b != b ? b : b < a ? b : a)
#define INTEGER(suffix, T, U) \
    LOOP(add_##suffix, T, U, (U), (T), a + b) \
    LOOP(mul_##suffix, T, U, (U), (T), a *b) \
    LOOP(max_##suffix, T, T, SAME, SAME, a < b ? b : a) \
    LOOP(min_##suffix, T, T, SAME, SAME, b < a ? b : a)
INTEGER(u8, uint8_t, unsigned)
INTEGER(i8, int8_t, unsigned)
INTEGER(u16, uint16_t, unsigned)
INTEGER(i16, int16_t, unsigned)
INTEGER(u32, uint32_t, uint32_t)
INTEGER(i32, int32_t, uint32_t)
INTEGER(u64, uint64_t, uint64_t)
INTEGER(i64, int64_t, uint64_t)
LOOP(add_bool, bool, bool, SAME, SAME, a || b)
LOOP(mul_bool, bool, bool, SAME, SAME, a &&b)
ARITH(f16, , TsrHalf, float, tsr_half_widen, HALF_OUT)
ORDER(f16, TsrHalf, float, tsr_half_widen, HALF_OUT)
ARITH(bf16, , TsrBfloat16, float, tsr_bfloat16_widen, BF_OUT)
ORDER(bf16, TsrBfloat16, float, tsr_bfloat16_widen, BF_OUT)
LOOP(add_f8e5m2, TsrFloat8E5m2, float, tsr_float8_e5m2_widen, tsr_float8_e5m2_round, a + b)
LOOP(mul_f8e5m2, TsrFloat8E5m2, float, tsr_float8_e5m2_widen, tsr_float8_e5m2_round, a *b)
LOOP(add_f8e4m3fn, TsrFloat8E4m3fn, float, tsr_float8_e4m3fn_widen, tsr_float8_e4m3fn_round, a + b)
LOOP(mul_f8e4m3fn, TsrFloat8E4m3fn, float, tsr_float8_e4m3fn_widen, tsr_float8_e4m3fn_round, a *b)
ARITH(f32, TSR_CLONES, float, float, SAME, SAME)
ORDER(f32, float, float, SAME, SAME)
ARITH(f64, TSR_CLONES, double, double, SAME, SAME)
ORDER(f64, double, double, SAME, SAME)

/* Complex products written out: the library's multiplication repairs infinities, PyTorch's does not, and its compiled
 * code fuses those of doubles. */
static TsrComplexFloat cmul_f(TsrComplexFloat a, TsrComplexFloat b) {
    float ar = __real__ a, ai = __imag__ a, br = __real__ b, bi = __imag__ b;
    TsrComplexFloat r;
    __real__ r = ar * br - ai * bi;
    __imag__ r = ar * bi + ai * br;
    return r;
}
static TsrComplexDouble cmul_d(TsrComplexDouble a, TsrComplexDouble b) {
    double ar = __real__ a, ai = __imag__ a, br = __real__ b, bi = __imag__ b;
    TsrComplexDouble r;
    __real__ r = fma(ar, br, -(ai * bi));
    __imag__ r = fma(ar, bi, ai * br);
    return r;
}
static TsrComplexFloat widen_c16(TsrComplexHalf x) {
    TsrComplexFloat r;
    __real__ r = tsr_half_widen(x.re);
    __imag__ r = tsr_half_widen(x.im);
    return r;
}
static TsrComplexHalf round_c16(TsrComplexFloat x) {
    return (TsrComplexHalf){tsr_half_round(__real__ x), tsr_half_round(__imag__ x)};
}
LOOP(add_c32, TsrComplexHalf, TsrComplexFloat, widen_c16, round_c16, a + b)
LOOP(mul_c32, TsrComplexHalf, TsrComplexFloat, widen_c16, round_c16, cmul_f(a, b))
LOOP(add_c64, TsrComplexFloat, TsrComplexFloat, SAME, SAME, a + b)
LOOP(mul_c64, TsrComplexFloat, TsrComplexFloat, SAME, SAME, cmul_f(a, b))
LOOP(add_c128, TsrComplexDouble, TsrComplexDouble, SAME, SAME, a + b)
LOOP(mul_c128, TsrComplexDouble, TsrComplexDouble, SAME, SAME, cmul_d(a, b))

#define ROW(s) \
    { NULL, add_##s, mul_##s, max_##s, min_##s }
static const TsrCombineFn table[TSR_DTYPE_COUNT][TSR_COMBINE_COUNT] = {
    [TSR_UINT8] = ROW(u8),
    [TSR_INT8] = ROW(i8),
    [TSR_INT16] = ROW(i16),
    [TSR_INT32] = ROW(i32),
    [TSR_INT64] = ROW(i64),
    [TSR_UINT16] = ROW(u16),
    [TSR_UINT32] = ROW(u32),
    [TSR_UINT64] = ROW(u64),
    [TSR_FLOAT16] = ROW(f16),
    [TSR_BFLOAT16] = ROW(bf16),
    [TSR_FLOAT32] = ROW(f32),
    [TSR_FLOAT64] = ROW(f64),
    [TSR_FLOAT8_E5M2] = {NULL, add_f8e5m2, mul_f8e5m2, NULL, NULL},
    [TSR_FLOAT8_E4M3FN] = {NULL, add_f8e4m3fn, mul_f8e4m3fn, NULL, NULL},
    [TSR_BOOL] = {NULL, add_bool, mul_bool, add_bool, mul_bool},
    [TSR_COMPLEX32] = {NULL, add_c32, mul_c32, NULL, NULL},
    [TSR_COMPLEX64] = {NULL, add_c64, mul_c64, NULL, NULL},
    [TSR_COMPLEX128] = {NULL, add_c128, mul_c128, NULL, NULL},
};

TsrCombineFn tsr_combine_fn(TsrCombine op, TsrDtype dtype) {
    if (op != TSR_COMBINE_SET) return table[dtype][op];
    switch (tsr_dtype_size(dtype)) {
    case 1: return set1;
    case 2: return set2;
    case 4: return set4;
    case 8: return set8;
    case 16: return set16;
    default: return NULL;
    }
}
