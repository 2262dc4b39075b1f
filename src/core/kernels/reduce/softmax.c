/* softmax.c: finds the softmax of a dtype in the table for this CPU (softmax.simd.c). */
#include "softmax.h"

#include "core/kernels/simd.h"

static const TsrSoftmaxTable *table(void) {
    static const TsrSoftmaxTable *known;
    return TSR_CHOOSE_ONCE(known, TSR_FOR_ISA(tsr_softmax_kernels)());
}

TsrSoftmaxFn tsr_softmax_kernel(bool log, TsrDtype d) {
    return (log ? table()->log_softmax : table()->softmax)[d == TSR_FLOAT64];
}
TsrSoftmaxColumnsFn tsr_softmax_columns(bool log, TsrDtype d) {
    return (log ? table()->log_columns : table()->columns)[d == TSR_FLOAT64];
}
