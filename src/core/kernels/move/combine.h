/* combine.h: dst[index[i]] = dst[index[i]] op src[i]: the inner loop of scatter, index_add and their family. */
#ifndef CORE_KERNELS_MOVE_COMBINE_H
#define CORE_KERNELS_MOVE_COMBINE_H

#include "core/dtype.h"

/* What happens to the element that is there: replaced, or joined with the new one. */
typedef enum TsrCombine {
    TSR_COMBINE_SET,
    TSR_COMBINE_ADD,
    TSR_COMBINE_MUL,
    TSR_COMBINE_MAX,
    TSR_COMBINE_MIN,
    TSR_COMBINE_COUNT
} TsrCombine;

/* For i in [0, n): the element at dst + position(i) * dst_step takes src + i * src_step. position(i) is index[i *
 * index_step] (counted in elements of int64), or i when index is NULL. dst_step and src_step are bytes. In order of i,
 * so that repeats are defined. Max and min keep nan. An interrupt ends it early: whoever runs it checks afterwards. */
typedef void (*TsrCombineFn)(char *dst, int64_t dst_step, const int64_t *index, int64_t index_step, const char *src,
                             int64_t src_step, int64_t n);

/* NULL where the dtype has no such operation (order of complex numbers, arithmetic of float8). */
TsrCombineFn tsr_combine_fn(TsrCombine op, TsrDtype dtype);

#endif
