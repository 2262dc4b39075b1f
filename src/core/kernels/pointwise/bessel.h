/* bessel.h: loops of bessel.inc's functions over one operand. */
#ifndef CORE_KERNELS_POINTWISE_BESSEL_H
#define CORE_KERNELS_POINTWISE_BESSEL_H

#include "core/loop.h"

#define TSR_BESSEL_FUNCTIONS(M) \
    M(i0) \
    M(i0e) \
    M(i1) \
    M(i1e) \
    M(modified_i1) \
    M(k0) \
    M(k0e) \
    M(k1) \
    M(k1e) \
    M(j0) \
    M(j1) \
    M(y0) \
    M(y1) \
    M(spherical_j0) \
    M(airy_ai) \
    M(ndtri) \
    M(digamma)
#define TSR_BESSEL_NAME(name) TSR_BESSEL_##name,
typedef enum TsrBessel { TSR_BESSEL_FUNCTIONS(TSR_BESSEL_NAME) TSR_BESSEL_COUNT } TsrBessel;
#undef TSR_BESSEL_NAME

/* d: float32 or float64. Operands: output, input. */
TsrLoop tsr_kernel_bessel(TsrBessel fn, TsrDtype d);
typedef const TsrLoop (*TsrBesselTable)[2]; /* float32, float64 */
TsrBesselTable tsr_kernel_bessel_base(void);
TsrBesselTable tsr_kernel_bessel_avx2(void);

#endif
