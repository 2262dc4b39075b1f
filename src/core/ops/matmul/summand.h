/* summand.h: the numbers of beta * self + alpha * product. */
#ifndef CORE_OPS_MATMUL_SUMMAND_H
#define CORE_OPS_MATMUL_SUMMAND_H

#include "core/scalar.h"

/* What it weights does not count then, nan and inf included. */
static inline bool is_zero(TsrScalar s) {
    return s.kind == TSR_SCALAR_COMPLEX ? s.c.re == 0 && s.c.im == 0 : tsr_scalar_to_double(s) == 0;
}

/* The scalar as the dtype holds it: half kernels read alpha and beta so. */
static inline TsrScalar rounded_scalar(TsrScalar s, TsrDtype d) {
    char slot[16];
    tsr_scalar_store(s, d, slot);
    return tsr_scalar_load(d, slot);
}

#endif
