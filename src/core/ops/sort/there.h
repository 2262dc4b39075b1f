/* there.h: sorting lines of tensors of a device (engine/device.h), and what is made from that. */
#ifndef CORE_OPS_SORT_THERE_H
#define CORE_OPS_SORT_THERE_H

#include "core/engine/places.h"
#include "core/op/compose.h"

/* The first elements of self's lines along dim in order, as many as values and indices have, and where each was; equal
 * ones stay in their order. */
TsrStatus tsr_sort_there(TsrTensor *values, TsrTensor *indices, const TsrTensor *self, int64_t dim, bool descending);
/* The k-th element in order of each line along dim, k from 0. values and indices have a size of 1 there. */
TsrStatus tsr_kth_there(TsrTensor *values, TsrTensor *indices, const TsrTensor *self, int64_t dim, int64_t k);
/* The lower median of each line: nan, at the first one, where there is one, or of what is no nan if those are ignored.
 */
TsrStatus tsr_median_there(TsrTensor *values, TsrTensor *indices, const TsrTensor *self, int64_t dim, bool ignore_nan);
/* The element of each line that comes most often, the least of several; and where the last of its equals was. Each nan
 * is alone. */
TsrStatus tsr_mode_there(TsrTensor *values, TsrTensor *indices, const TsrTensor *self, int64_t dim);

/* A step of a scope: of a line, wherever it lies, a mask of where runs of equal neighbours begin; nan equals nothing.
 */
TsrTensor *tsr_run_starts(TsrScope *s, TsrTensor *line);

/* What lies between two elements that a quantile falls between. */
typedef enum TsrInterpolation {
    TSR_QUANTILE_LINEAR,
    TSR_QUANTILE_LOWER,
    TSR_QUANTILE_HIGHER,
    TSR_QUANTILE_MIDPOINT,
    TSR_QUANTILE_NEAREST
} TsrInterpolation;
/* The quantiles of self's lines along dim, as many as q has, which may be the host's: out has self's sizes but for
 * dim. */
TsrStatus tsr_quantile_there(TsrTensor *out, const TsrTensor *self, int64_t dim, const TsrTensor *q,
                             TsrInterpolation how, bool ignore_nan);

#endif
