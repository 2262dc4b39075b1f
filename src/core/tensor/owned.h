/* owned.h: a local variable that holds one reference and gives it back at every exit from its scope.
 *
 *     TSR_OWNED a = NULL;
 *     TSR_TRY(tsr_tensor_new_contiguous(&a, x, TSR_CONTIGUOUS));   // an error below frees a
 *     return tsr_return_move(call, tsr_owned_take(&a));            // handed over: a is empty now
 *
 * Needs __attribute__((cleanup)), which gcc and clang have. */
#ifndef CORE_TENSOR_OWNED_H
#define CORE_TENSOR_OWNED_H

#include "core/tensor.h"

/* The cleanup of a TSR_OWNED variable. */
static inline void tsr_owned_end(TsrTensor **slot) { tsr_tensor_free(*slot); }
#define TSR_OWNED __attribute__((cleanup(tsr_owned_end))) TsrTensor *

/* Empties the slot and hands its reference to the caller. */
static inline TsrTensor *tsr_owned_take(TsrTensor **slot) {
    TsrTensor *t = *slot;
    *slot = NULL;
    return t;
}
/* Frees what the slot holds and puts `t`, whose reference is consumed, in its place. */
static inline void tsr_owned_put_move(TsrTensor **slot, TsrTensor *t) {
    tsr_tensor_free(*slot);
    *slot = t;
}
/* The end of a function that has put its result into the slot: kept there, or freed after an error. The status. */
static inline TsrStatus tsr_owned_keep(TsrTensor **slot, TsrStatus status) {
    if (TSR_UNLIKELY(status != TSR_OK)) tsr_owned_put_move(slot, NULL);
    return status;
}

#endif
