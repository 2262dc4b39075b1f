/* reduce.c: finds the reducer of a dtype in the table for this CPU (reduce.simd.c). */
#include "reduce.h"

#include "core/kernels/simd.h"

const TsrReducer *tsr_reducer(TsrReduceKind kind, TsrDtype d) {
    static TsrReducerTable known;
    TsrReducerTable table = TSR_CHOOSE_ONCE(known, TSR_FOR_ISA(tsr_reducers)());
    return table[kind][d].init != NULL ? &table[kind][d] : NULL;
}
