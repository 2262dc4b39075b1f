#include "reduce.h"

#include "core/kernels/simd.h"

static TsrReducerTable choose(void) {
#ifdef TSR_HAVE_X86
    switch (tsr_isa()) {
    case TSR_ISA_AVX512: return tsr_reducers_avx512();
    case TSR_ISA_AVX2: return tsr_reducers_avx2();
    default: break;
    }
#endif
    return tsr_reducers_base();
}

const TsrReducer *tsr_reducer(TsrReduceKind kind, TsrDtype d) {
    static TsrReducerTable known;
    TsrReducerTable table = TSR_CHOOSE_ONCE(known, choose());
    return table[kind][d].init != NULL ? &table[kind][d] : NULL;
}
