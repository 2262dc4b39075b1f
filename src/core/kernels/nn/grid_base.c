#include "grid_types.inc"

TsrGridFn tsr_kernel_grid(TsrDtype d) {
#ifdef TSR_HAVE_X86
    if (tsr_isa() >= TSR_ISA_AVX2) return tsr_kernel_grid_avx2(d);
#endif
    return tsr_kernel_grid_base(d);
}
