/* softmax.h: softmax of one contiguous line of n > 0 elements, or of several side by side; dst may be src. Float32
 * elements may have been half floats: then `half` says which, and what PyTorch rounds to them on the way is rounded;
 * otherwise it is TSR_DTYPE_NONE. */
#ifndef CORE_KERNELS_REDUCE_SOFTMAX_H
#define CORE_KERNELS_REDUCE_SOFTMAX_H

#include "core/dtype.h"

typedef void (*TsrSoftmaxFn)(void *dst, const void *src, int64_t n, TsrDtype half);
/* `width` lines, at most TSR_SOFTMAX_STRIP, of n elements `step` elements apart. */
typedef void (*TsrSoftmaxColumnsFn)(void *dst, const void *src, int64_t n, int64_t step, int64_t width, TsrDtype half);
enum { TSR_SOFTMAX_STRIP = 64 };
/* What the line was a line of: PyTorch rounds differently along the last dimension, and along another one with fewer
 * than two vectors of elements inside. */
typedef enum TsrSoftmaxWay { TSR_SOFTMAX_FEW, TSR_SOFTMAX_LAST, TSR_SOFTMAX_WAYS } TsrSoftmaxWay;
typedef struct TsrSoftmaxTable {
    TsrSoftmaxFn softmax[TSR_SOFTMAX_WAYS][2], log_softmax[TSR_SOFTMAX_WAYS][2];
    TsrSoftmaxColumnsFn columns[2], log_columns[2]; /* float32, float64 */
} TsrSoftmaxTable;
const TsrSoftmaxTable *tsr_softmax_kernels_base(void);
const TsrSoftmaxTable *tsr_softmax_kernels_avx2(void);
const TsrSoftmaxTable *tsr_softmax_kernels_avx512(void);
/* The best of those for this CPU, never NULL. d: float32 or float64. */
TsrSoftmaxFn tsr_softmax_kernel(bool log, TsrSoftmaxWay way, TsrDtype d);
TsrSoftmaxColumnsFn tsr_softmax_columns(bool log, TsrDtype d);

#endif
