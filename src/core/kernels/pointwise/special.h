/* special.h: the numbers that kernels of special.def take beside their operands. The device reads this text too. */
#ifndef CORE_KERNELS_POINTWISE_SPECIAL_H
#define CORE_KERNELS_POINTWISE_SPECIAL_H

#include "core/dtype.h"

/* Of polygamma, whose order is at least 2: the factorial with its sign, in both precisions; and the half type that the
 * zeta function is summed up for, in float, and rounded to before the factorial: its zeros near the poles show that. */
typedef struct TsrPolygamma {
    double factor;
    float factor_f;
    int exponent;  /* of the zeta function */
    TsrDtype half; /* TSR_FLOAT16 or TSR_BFLOAT16, or any other: none */
} TsrPolygamma;

/* The orthogonal polynomials of orthogonal.inc. */
typedef enum OrthogonalKind {
    CHEBYSHEV_T,
    CHEBYSHEV_U,
    CHEBYSHEV_V,
    CHEBYSHEV_W,
    SHIFTED_T,
    SHIFTED_U,
    SHIFTED_V,
    SHIFTED_W,
    HERMITE_H,
    HERMITE_HE,
    LAGUERRE_L,
    LEGENDRE_P
} OrthogonalKind;

#endif
