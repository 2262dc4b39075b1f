/* bessel_base.c: the loops of Bessel functions for any CPU (bessel.inc, one set a dtype by bessel_types.inc), and the
 * choice between these and the avx2 ones (bessel.h). */
#include "bessel_types.inc"

TsrLoop tsr_kernel_bessel(TsrBessel fn, TsrDtype d) {
    TsrBesselTable chosen = tsr_kernel_bessel_base();
#ifdef TSR_HAVE_X86
    if (tsr_isa() >= TSR_ISA_AVX2) chosen = tsr_kernel_bessel_avx2();
#endif
    return chosen[fn][d == TSR_FLOAT64];
}
