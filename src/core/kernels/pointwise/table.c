/* table.c: finds the loop of a kernel for a dtype (table.h): in the vectorised table for this CPU, else in the plain
 * one, that of Bessel functions or the complex one. Which kernel does two others in one pass is said by pairs.def. */
#include "table.h"

#include "bessel.h"
#include "core/kernels/simd.h"

TsrLoop tsr_kernel(TsrKernel k, TsrDtype d) {
    static TsrKernelTable known;
    TsrLoop loop = TSR_CHOOSE_ONCE(known, TSR_FOR_ISA(tsr_kernels)())[k][d];
    if (loop == NULL) loop = tsr_kernels_plain()[k][d];
    if (loop == NULL) loop = tsr_kernel_bessel(k, d);
    return loop != NULL ? loop : TSR_FOR_AVX2(tsr_kernels_complex)()[k][d];
}

TsrKernel tsr_kernel_pair(TsrKernel first, TsrKernel then, int operand) {
#define KEY(first, then, operand) (((int)(then)*4 + (operand)) * TSR_K_COUNT + (int)(first))
    switch (KEY(first, then, operand)) {
#define PAIR(first, then, operand, both) \
    case KEY(TSR_K_##first, TSR_K_##then, operand): \
        return TSR_K_##both;
#include "pairs.def"
#undef PAIR
#undef KEY
    default: return TSR_K_NONE;
    }
}
