/* scan.c: running sums, products and extremes along one line. Floats accumulate in double, as PyTorch's do. */
#include "scan.h"

#include <complex.h>
#include <math.h>

#include "core/kernels/pointwise/table.h"

#define AT(T, k, i) (*(T *)(data[k] + (i)*stride[k]))
/* DO for each i < n[0], with a look for an interrupt now and then. */
enum { BETWEEN_LOOKS = 4096 };
#define EACH(DO) \
    for (int64_t i = 0; i < n[0] && tsr_interrupt_flag == 0;) \
        for (int64_t end = TSR_MIN(n[0], i + BETWEEN_LOOKS); i < end; i++) { DO }
#define SCAN(name, T, A, START, STEP) \
    static void name(char *const *data, const int64_t *stride, const int64_t *n, const void *params) { \
        A a = START; \
        (void)params; \
        if (stride[0] == (int64_t)sizeof(T) && stride[1] == (int64_t)sizeof(T)) { \
            T *restrict out = (T *)data[0]; \
            const T *in = (const T *)data[1]; \
            EACH(const T x = in[i]; a = STEP; out[i] = (T)a;) \
        } else { \
            EACH(const T x = AT(const T, 1, i); a = STEP; AT(T, 0, i) = (T)a;) \
        } \
    }
#define INTEGERS(M) \
    M(u8, uint8_t) \
    M(i8, int8_t) \
    M(i16, int16_t) \
    M(i32, int32_t) \
    M(i64, int64_t) \
    M(u16, uint16_t) \
    M(u32, uint32_t) \
    M(u64, uint64_t)
#define INT_SCANS(t, T) \
    SCAN(sum_##t, T, uint64_t, 0, a + (uint64_t)x) \
    SCAN(prod_##t, T, uint64_t, 1, a *(uint64_t)x)
INTEGERS(INT_SCANS)
SCAN(sum_b8, bool, bool, 0, a || x)
SCAN(prod_b8, bool, bool, 1, a &&x)
SCAN(sum_f32, float, double, 0, a + (double)x)
SCAN(sum_f64, double, double, 0, a + x)
SCAN(prod_f32, float, double, 1, a *(double)x)
SCAN(prod_f64, double, double, 1, a *x)

typedef struct C64 {
    float re, im;
} C64;
typedef struct C128 {
    double re, im;
} C128;
#define T C64
#define NAME(x) x##_c64
#include "scan_complex.inc"

#define T C128
#define NAME(x) x##_c128
#include "scan_complex.inc"

static double log_add_exp(double x, double y) {
    if (x != x || y != y) return NAN;
    double low = x < y ? x : y, high = x < y ? y : x;
    return low != high || isfinite(low) ? log1p(exp(low - high)) + high : x;
}
SCAN(lse_f32, float, double, -INFINITY, log_add_exp((double)x, a))
SCAN(lse_f64, double, double, -INFINITY, log_add_exp(x, a))

static double complex complex_log_add_exp(double complex x, double complex y) {
    if (isnan(creal(x)) || isnan(cimag(x)) || isnan(creal(y)) || isnan(cimag(y)))
        return __builtin_complex((double)NAN, (double)NAN);
    bool less = creal(x) < creal(y);
    double complex low = less ? x : y, high = less ? y : x;
    if (isinf(creal(low)) && creal(low) == creal(high)) return creal(low) < 0 ? low : clog(cexp(low) + cexp(high));
    if (isinf(creal(low)) && creal(low) < 0) return high;
    double complex share = cexp(low - high), rest;
    tsr_kernel(TSR_K_log1p, TSR_COMPLEX128)((char *[]){(char *)&rest, (char *)&share},
                                            (int64_t[]){sizeof rest, sizeof share}, 1, NULL);
    return rest + high;
}
#define COMPLEX_LSE(t, T) \
    static void lse_##t(char *const *data, const int64_t *stride, const int64_t *n, const void *params) { \
        double complex a = __builtin_complex(-(double)INFINITY, 0.0); \
        (void)params; \
        for (int64_t i = 0; i < n[0]; i++) { \
            const T x = AT(const T, 1, i); \
            a = complex_log_add_exp(__builtin_complex((double)x.re, (double)x.im), a); \
            AT(T, 0, i).re = creal(a); \
            AT(T, 0, i).im = cimag(a); \
            if (tsr_interrupted_at(i)) return; \
        } \
    }
COMPLEX_LSE(c64, C64)
COMPLEX_LSE(c128, C128)

/* Values, indices and the input: the latest of equals wins; a nan stays. */
#define EXTREME(name, T, BETTER) \
    static void name(char *const *data, const int64_t *stride, const int64_t *n, const void *params) { \
        T best = n[0] > 0 ? AT(const T, 2, 0) : 0; \
        int64_t index = 0; \
        (void)params; \
        if (stride[0] == (int64_t)sizeof(T) && stride[1] == (int64_t)sizeof(int64_t) && \
            stride[2] == (int64_t)sizeof(T)) { \
            T *restrict values = (T *)data[0]; \
            int64_t *restrict indices = (int64_t *)data[1]; \
            const T *in = (const T *)data[2]; \
            EACH(const T x = in[i]; const bool found = BETTER(x); best = found ? x : best; index = found ? i : index; \
                 values[i] = best; indices[i] = index;) \
        } else { \
            EACH(const T x = AT(const T, 2, i); const bool found = BETTER(x); best = found ? x : best; \
                 index = found ? i : index; AT(T, 0, i) = best; AT(int64_t, 1, i) = index;) \
        } \
    }
#define AT_LEAST(x) ((x) != (x) || (best == best && (x) >= best))
#define AT_MOST(x) ((x) != (x) || (best == best && (x) <= best))
#define EXTREMES(t, T) EXTREME(max_##t, T, AT_LEAST) EXTREME(min_##t, T, AT_MOST)
EXTREMES(u8, uint8_t)
EXTREMES(i8, int8_t)
EXTREMES(i16, int16_t)
EXTREMES(i32, int32_t)
EXTREMES(i64, int64_t)
EXTREMES(f32, float)
EXTREMES(f64, double)
#define NUMBERS(name) \
    [TSR_UINT8] = name##_u8, [TSR_INT8] = name##_i8, [TSR_INT16] = name##_i16, [TSR_INT32] = name##_i32, \
    [TSR_INT64] = name##_i64, [TSR_FLOAT32] = name##_f32, [TSR_FLOAT64] = name##_f64
#define COMPLEX(name) [TSR_COMPLEX64] = name##_c64, [TSR_COMPLEX128] = name##_c128
#define MORE(name) \
    [TSR_UINT16] = name##_u16, [TSR_UINT32] = name##_u32, [TSR_UINT64] = name##_u64, [TSR_BOOL] = name##_b8

TsrLineFn tsr_scan_kernel(TsrScan scan, TsrDtype d) {
    static const TsrLineFn table[TSR_SCAN_COUNT][TSR_DTYPE_COUNT] = {
        [TSR_SCAN_SUM] = {NUMBERS(sum), COMPLEX(sum), MORE(sum)},
        [TSR_SCAN_PROD] = {NUMBERS(prod), COMPLEX(prod), MORE(prod)},
        [TSR_SCAN_LOGSUMEXP] = {[TSR_FLOAT32] = lse_f32, [TSR_FLOAT64] = lse_f64, COMPLEX(lse)},
        [TSR_SCAN_MAX] = {NUMBERS(max), [TSR_BOOL] = max_u8},
        [TSR_SCAN_MIN] = {NUMBERS(min), [TSR_BOOL] = min_u8},
    };
    return table[scan][d];
}

/* --- many lines of floats at once, each in the order of SCAN --- */

#ifndef __EMSCRIPTEN__

#define T float
#define NAME(x) sums_f32_##x
#define START 0
#define STEP (a + x)
#include "scan_many.inc"

#define T double
#define NAME(x) sums_f64_##x
#define START 0
#define STEP (a + x)
#include "scan_many.inc"

#define T float
#define NAME(x) prods_f32_##x
#define START 1
#define STEP (a * x)
#include "scan_many.inc"

#define T double
#define NAME(x) prods_f64_##x
#define START 1
#define STEP (a * x)
#include "scan_many.inc"

const TsrScanMany *tsr_scan_many(TsrScan scan, TsrDtype d) {
    static const TsrScanMany sums[] = {{sums_f32_beside, sums_f32_dense}, {sums_f64_beside, sums_f64_dense}},
                             prods[] = {{prods_f32_beside, prods_f32_dense}, {prods_f64_beside, prods_f64_dense}};
    if ((d != TSR_FLOAT32 && d != TSR_FLOAT64) || (scan != TSR_SCAN_SUM && scan != TSR_SCAN_PROD)) return NULL;
    return &(scan == TSR_SCAN_SUM ? sums : prods)[d == TSR_FLOAT64];
}
#endif

/* --- one long contiguous line of floats: four chains at once --- */

#define T float
#define NAME(x) x##_f32
#include "scan_long.inc"

#define T double
#define NAME(x) x##_f64
#include "scan_long.inc"

double tsr_scan_total(TsrDtype d, const void *x, int64_t n) {
    return d == TSR_FLOAT32 ? total_f32(x, n) : total_f64(x, n);
}
void tsr_scan_chunk(TsrDtype d, void *out, const void *x, int64_t n, double start) {
    if (d == TSR_FLOAT32) chunk_f32(out, x, n, start);
    else chunk_f64(out, x, n, start);
}
