/* there.h: sorting lines of tensors of a device (engine/device.h), and what is made from that. */
#ifndef CORE_OPS_SORT_THERE_H
#define CORE_OPS_SORT_THERE_H

#include "core/engine/places.h"

/* The first elements of self's lines along dim in order, as many as values and indices have, and where each was; equal
 * ones stay in their order. */
TsrStatus tsr_sort_there(TsrTensor *values, TsrTensor *indices, const TsrTensor *self, int64_t dim, bool descending);
/* Of each line along dim the k-th in order, k counted from 0. values and indices have a size of 1 there. */
TsrStatus tsr_kth_there(TsrTensor *values, TsrTensor *indices, const TsrTensor *self, int64_t dim, int64_t k);
/* The lower median of each line: nan, at the first one, where there is one, or of what is no nan if those are ignored.
 */
TsrStatus tsr_median_there(TsrTensor *values, TsrTensor *indices, const TsrTensor *self, int64_t dim, bool ignore_nan);

#endif
