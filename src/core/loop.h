/* loop.h: the inner loops' side of the iterator: what a kernel sees of tensors is pointers, strides in bytes and
 * counts. */
#ifndef TSR_LOOP_H
#define TSR_LOOP_H

#include "dtype.h"

TSR_PUBLIC_BEGIN

/* The one inner-loop signature. data[k] addresses the first of n elements of operand k (outputs first), which are
 * strides[k] bytes apart. */
typedef void (*TsrLoop)(char *const *data, const int64_t *strides, int64_t n, const void *params);
/* One line of each operand of a kernel along a dimension (softmax, sort, cumsum, gather ...): n[k] elements, stride[k]
 * bytes apart. */
typedef void (*TsrLineFn)(char *const *data, const int64_t *stride, const int64_t *n, const void *params);

/* Converts n elements between dtypes with byte strides (any numeric pair; PyTorch's conversion rules, no undefined
 * behaviour). */
void tsr_convert(TsrDtype to, char *dst, int64_t dst_stride, TsrDtype from, const char *src, int64_t src_stride,
                 int64_t n);

TSR_PUBLIC_END

#endif
