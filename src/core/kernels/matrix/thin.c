/* thin.c: chooses the kernel of products of few rows (thin.simd.c) for this CPU. */
#include "thin.h"

#include "core/kernels/simd.h"

TSR_CHOOSE_VECTORS(TsrThinFn, tsr_thin_kernel)
TSR_CHOOSE_VECTORS(TsrHalfLanesFn, tsr_half_lanes_kernel)
