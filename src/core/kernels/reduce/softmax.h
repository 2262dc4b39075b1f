/* softmax.h: softmax of contiguous lines of n > 0 elements, one after the other or side by side; dst may be src.
 * Float32 elements may have been half floats: then `half` says which, and what PyTorch rounds to them on the way is
 * rounded; otherwise it is TSR_DTYPE_NONE. Which sums go in which order is PyTorch's, for each way to lie in memory. */
#ifndef CORE_KERNELS_REDUCE_SOFTMAX_H
#define CORE_KERNELS_REDUCE_SOFTMAX_H

#include "core/dtype.h"

/* `lines` lines, one after the other. */
typedef void (*TsrSoftmaxFn)(void *dst, const void *src, int64_t lines, int64_t n, TsrDtype half);
/* `width` lines, at most TSR_SOFTMAX_STRIP, of n elements `step` elements apart. */
typedef void (*TsrSoftmaxColumnsFn)(void *dst, const void *src, int64_t n, int64_t step, int64_t width, TsrDtype half);
/* Lines of at most TSR_SOFTMAX_SHORT elements go one in each lane of a vector. 1e6 elements on one thread of a Zen 5,
 * softmax, AVX2 and AVX-512: rows of 10 3.49, 2.55 -> 0.82, 0.66 ms; rows of 24 are as fast in their lanes as by
 * vectors along them, longer ones slower (bench/sweep/sweep.py --only 'x.softmax(1)'). */
enum { TSR_SOFTMAX_STRIP = 64, TSR_SOFTMAX_SHORT = 16 };
typedef struct TsrSoftmaxTable {
    TsrSoftmaxFn softmax[2], log_softmax[2]; /* float32, float64 */
    TsrSoftmaxColumnsFn columns[2], log_columns[2];
} TsrSoftmaxTable;
const TsrSoftmaxTable *tsr_softmax_kernels_base(void);
const TsrSoftmaxTable *tsr_softmax_kernels_avx2(void);
const TsrSoftmaxTable *tsr_softmax_kernels_avx512(void);
/* The best of those for this CPU, never NULL. d: float32 or float64. */
TsrSoftmaxFn tsr_softmax_kernel(bool log, TsrDtype d);
TsrSoftmaxColumnsFn tsr_softmax_columns(bool log, TsrDtype d);

#endif
