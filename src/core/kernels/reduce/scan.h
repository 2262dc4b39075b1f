/* scan.h: running reductions along one line, for tsr_lines_run. */
#ifndef CORE_KERNELS_REDUCE_SCAN_H
#define CORE_KERNELS_REDUCE_SCAN_H

#include "core/loop.h"

typedef enum TsrScan {
    TSR_SCAN_SUM,
    TSR_SCAN_PROD,
    TSR_SCAN_LOGSUMEXP,
    TSR_SCAN_MAX,
    TSR_SCAN_MIN,
    TSR_SCAN_COUNT
} TsrScan;

/* Operands: output, input, of one dtype; for MAX and MIN values, indices (int64), input. NULL when the dtype has none.
 */
TsrLineFn tsr_scan_kernel(TsrScan scan, TsrDtype d);

/* A long contiguous line of float32 or float64 in chunks: the sum of a chunk, and its running sums after `start`. */
double tsr_scan_total(TsrDtype d, const void *x, int64_t n);
void tsr_scan_chunk(TsrDtype d, void *out, const void *x, int64_t n, double start);

#endif
