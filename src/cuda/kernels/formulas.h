/* formulas.h: what each pointwise kernel computes, as C++ text: the host's rows (kernels/pointwise/fast.def and
 * plain.def, special.def), and functions.def in place of those that the host computes by vectors. */
#ifndef CUDA_FORMULAS_H
#define CUDA_FORMULAS_H

#include "core/kernels/pointwise/table.h"

typedef struct CudaFormula {
    uint16_t kernel;
    TsrDtype dtype;
    uint8_t nin;               /* operands x, y, z */
    const char *t, *u;         /* T and U of kernels/types.h */
    const char *result, *text; /* R, and an expression of x, y, z, p and these types */
} CudaFormula;

/* The formula of a kernel for the dtype that it computes in, static; NULL: the device has none. */
const CudaFormula *cuda_formula(unsigned kernel, TsrDtype dtype);
/* The formulas by number, to visit them all; NULL past the last. */
const CudaFormula *cuda_formula_at(int i);

#endif
