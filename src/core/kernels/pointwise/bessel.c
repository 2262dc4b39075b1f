/* bessel.c: chooses the loops of Bessel functions (bessel.simd.c) for this CPU. */
#include "bessel.h"

#include "core/kernels/simd.h"

TsrLoop tsr_kernel_bessel(TsrBessel fn, TsrDtype d) { return TSR_FOR_AVX2(tsr_kernel_bessel)()[fn][d == TSR_FLOAT64]; }
