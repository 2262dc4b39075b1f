#include "softmax.h"

#include "core/kernels/simd.h"

static const TsrSoftmaxTable *choose(void) {
#ifdef TSR_HAVE_X86
    switch (tsr_isa()) {
    case TSR_ISA_AVX512: return tsr_softmax_kernels_avx512();
    case TSR_ISA_AVX2: return tsr_softmax_kernels_avx2();
    default: break;
    }
#endif
    return tsr_softmax_kernels_base();
}

static const TsrSoftmaxTable *table(void) {
    static const TsrSoftmaxTable *known;
    return TSR_CHOOSE_ONCE(known, choose());
}

TsrSoftmaxFn tsr_softmax_kernel(bool log, TsrSoftmaxWay way, TsrDtype d) {
    return (log ? table()->log_softmax : table()->softmax)[way][d == TSR_FLOAT64];
}
TsrSoftmaxColumnsFn tsr_softmax_columns(bool log, TsrDtype d) {
    return (log ? table()->log_columns : table()->columns)[d == TSR_FLOAT64];
}
