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

/* Lines of floats, many in a call. At most TSR_SCAN_WIDTH of them side by side, n elements each, `step` elements apart;
 * or dense ones, one behind the other. The same numbers as by tsr_scan_kernel. NULL where there is
 * none. */
enum { TSR_SCAN_WIDTH = 256 };
typedef struct TsrScanMany {
    void (*beside)(void *out, const void *in, int64_t width, int64_t n, int64_t step);
    void (*dense)(void *out, const void *in, int64_t lines, int64_t n);
} TsrScanMany;
#ifdef __EMSCRIPTEN__ /* the page is to be small */
static inline const TsrScanMany *tsr_scan_many(TsrScan scan, TsrDtype d) {
    (void)scan, (void)d;
    return NULL;
}
#else
const TsrScanMany *tsr_scan_many(TsrScan scan, TsrDtype d);
#endif

#endif
