/* bessel.h: loops of bessel.inc's functions over one operand: the BESSEL rows of special.def. */
#ifndef CORE_KERNELS_POINTWISE_BESSEL_H
#define CORE_KERNELS_POINTWISE_BESSEL_H

#include "table.h"

/* The loop of a kernel of such a row, whose operands are output and input; NULL for other kernels, and where d is
 * neither float32 nor float64. */
TsrLoop tsr_kernel_bessel(TsrKernel k, TsrDtype d);

/* These kernels are neighbours, from the first row on; a table has one place for each. */
enum { TSR_BESSEL_FIRST = TSR_K_SPECIAL + 1, TSR_BESSEL_COUNT = TSR_K_chebyshev_polynomial_t - TSR_BESSEL_FIRST };
typedef const TsrLoop (*TsrBesselTable)[2]; /* float32, float64 */
TsrBesselTable tsr_kernel_bessel_base(void);
TsrBesselTable tsr_kernel_bessel_avx2(void);

#endif
