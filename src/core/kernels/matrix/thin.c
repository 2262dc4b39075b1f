/* thin.c: chooses the kernel of products of few rows (thin.simd.c) for this CPU. */
#include "thin.h"

#include "core/kernels/simd.h"

static TsrThinFn tsr_thin_kernel_base(void) { return NULL; }
static TsrHalfLanesFn tsr_half_lanes_kernel_base(void) { return NULL; }
#ifdef TSR_HAVE_X86
TsrThinFn tsr_thin_kernel_avx2(void);
TsrThinFn tsr_thin_kernel_avx512(void);
TsrHalfLanesFn tsr_half_lanes_kernel_avx2(void);
TsrHalfLanesFn tsr_half_lanes_kernel_avx512(void);
#endif

TsrThinFn tsr_thin_kernel(void) { return TSR_FOR_ISA(tsr_thin_kernel)(); }
TsrHalfLanesFn tsr_half_lanes_kernel(void) { return TSR_FOR_ISA(tsr_half_lanes_kernel)(); }
