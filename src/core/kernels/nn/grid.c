/* grid.c: chooses the loops of grid_sample (grid.simd.c) for this CPU. */
#include "grid.h"

#include "core/kernels/simd.h"

TsrGridFn tsr_kernel_grid(TsrDtype d) { return TSR_FOR_AVX2(tsr_kernel_grid)(d); }
