/* softmax.simd.c: softmax and log-softmax of lines one after the other or side by side, for one instruction set. */
#include <math.h>
#include <string.h>

#include "core/error.h"
#include "core/kernels/simd.h"
#include "core/kernels/exponential.inc"
#include "core/kernels/logarithm.inc"
#include "core/kernels/lanes.inc"
#include "softmax.h"

/* Bytes of lines that go together: they are read three times, from the first cache. */
enum { TOGETHER = 16384 };

/* PyTorch keeps these in a tensor of half floats on the way. */
static void round_row(float *x, int64_t n, TsrDtype half) {
    /* Elements narrowed on the stack at a time. */
    enum { SOME = 256 };
    uint16_t narrow[SOME];
    for (int64_t i = 0; i < n; i += SOME) {
        int64_t m = TSR_MIN(n - i, (int64_t)SOME);
        tsr_convert(half, (char *)narrow, 2, TSR_FLOAT32, (const char *)(x + i), 4, m);
        tsr_convert(TSR_FLOAT32, (char *)(x + i), 4, half, (const char *)narrow, 2, m);
    }
}
/* Of the kernels of float32 alone, which half floats go through. */
#define ROUND_ROW(x, n, half) \
    do { \
        if ((half) != TSR_DTYPE_NONE) round_row((float *)(void *)(x), n, half); \
    } while (0)

#define NAME(x) x##_f32
#define T float
#define V VF
#define EXP sleef_exp_floats
#define SCALAR_EXP expf
#define LOG sleef_log_floats
#define SUM_OF_LANES sum_of_f32
#define IN_HALVES true
#include "softmax_lines.inc"
#define NAME(x) x##_f64
#define T double
#define V VD
#define EXP sleef_exp_doubles
#define SCALAR_EXP exp
#define LOG sleef_log_doubles
#define SUM_OF_LANES(v) add_in_order_f64(0, v, sizeof(VD) / sizeof(double))
#define IN_HALVES false
#include "softmax_lines.inc"

static const TsrSoftmaxTable softmax_table = {
    {softmax_f32, softmax_f64},
    {log_softmax_f32, log_softmax_f64},
    {softmax_columns_f32, softmax_columns_f64},
    {log_softmax_columns_f32, log_softmax_columns_f64},
};
const TsrSoftmaxTable *SIMD(tsr_softmax_kernels)(void) { return &softmax_table; }
