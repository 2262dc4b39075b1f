#include "kernels/softmax.h"

#include "kernels/simd.h"

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

TsrSoftmaxFn tsr_softmax_kernel(bool log, TsrSoftmaxWay way, TsrDtype d) {
    static const TsrSoftmaxTable *known;
    const TsrSoftmaxTable *table = TSR_CHOOSE_ONCE(known, choose());
    return (log ? table->log_softmax : table->softmax)[way][d == TSR_FLOAT64];
}
