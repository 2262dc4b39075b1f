/* softmax.h: softmax of one contiguous line of n > 0 elements, or of several side by side; dst may be src. */
#ifndef TSR_SOFTMAX_H
#define TSR_SOFTMAX_H

#include "dtype.h"

typedef void (*TsrSoftmaxFn)(void *dst, const void *src, int64_t n);
/* `width` lines, at most TSR_SOFTMAX_STRIP, of n elements `step` elements apart: as TSR_SOFTMAX_INNER. */
typedef void (*TsrSoftmaxColumnsFn)(void *dst, const void *src, int64_t n, int64_t step, int64_t width);
enum { TSR_SOFTMAX_STRIP = 64 };
/* What the line was a line of: PyTorch rounds differently along the last dimension, and along another one with fewer than two vectors of elements inside. */
typedef enum TsrSoftmaxWay { TSR_SOFTMAX_FEW, TSR_SOFTMAX_INNER, TSR_SOFTMAX_LAST, TSR_SOFTMAX_WAYS } TsrSoftmaxWay;
typedef struct TsrSoftmaxTable { TsrSoftmaxFn softmax[TSR_SOFTMAX_WAYS][2], log_softmax[TSR_SOFTMAX_WAYS][2]; TsrSoftmaxColumnsFn columns[2], log_columns[2]; /* float32, float64 */ } TsrSoftmaxTable;
const TsrSoftmaxTable *tsr_softmax_kernels_base(void);
const TsrSoftmaxTable *tsr_softmax_kernels_avx2(void);
const TsrSoftmaxTable *tsr_softmax_kernels_avx512(void);
/* d: float32 or float64. */
TsrSoftmaxFn tsr_softmax_kernel(bool log, TsrSoftmaxWay way, TsrDtype d);
TsrSoftmaxColumnsFn tsr_softmax_columns(bool log, TsrDtype d);

#endif
