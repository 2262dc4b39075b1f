/* bessel.c: chooses the loops of Bessel functions (bessel.simd.c) for this CPU. */
#include "bessel.h"

#include "core/kernels/simd.h"

TsrLoop tsr_kernel_bessel(TsrKernel k, TsrDtype d) {
    int place = (int)k - TSR_BESSEL_FIRST;
    if (place < 0 || place >= TSR_BESSEL_COUNT || (d != TSR_FLOAT32 && d != TSR_FLOAT64)) return NULL;
    return TSR_FOR_AVX2(tsr_kernel_bessel)()[place][d == TSR_FLOAT64];
}
