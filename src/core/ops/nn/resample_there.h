/* resample_there.h: interpolate's sums on a device. */
#ifndef CORE_OPS_NN_RESAMPLE_THERE_H
#define CORE_OPS_NN_RESAMPLE_THERE_H

#include "core/tensor.h"

/* out (outside, places, inner) = for each place the sum of taps of x (outside, volume, inner): elements at (taps,
 * places), int64, each times its weight, of x's dtype; or, with `weight` NULL and one tap, the element itself. Sizes
 * are merged in this way; all tensors lie on one device. A place that there is none at is found when the device is
 * waited for. */
typedef struct TsrTaps {
    int64_t outside, volume, places, inner;
    const TsrTensor *at, *weight;
} TsrTaps;
TsrStatus tsr_resample_there(TsrTensor *out, const TsrTensor *x, const TsrTaps *taps);

/* Of planes: taps of rows and of columns, (2, rows) and (2, columns), give the four corners of each new element. */
TsrStatus tsr_resample_plane_there(TsrTensor *out, const TsrTensor *x, TsrTensor *const sides[4], int64_t old_columns,
                                   TsrTaps taps);

#endif
