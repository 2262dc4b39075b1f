/* grid_base.c: the grid_sample loops (grid.inc, by grid_types.inc one set a dtype) for any CPU, and the choice between
 * these and the avx2 ones (grid.h). */
#include "grid_types.inc"

TsrGridFn tsr_kernel_grid(TsrDtype d) {
#ifdef TSR_HAVE_X86
    if (tsr_isa() >= TSR_ISA_AVX2) return tsr_kernel_grid_avx2(d);
#endif
    return tsr_kernel_grid_base(d);
}
