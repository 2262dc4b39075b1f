/* borrow.h: TsrMaybeOwned (c10::MaybeOwned<Tensor>): a tensor that is either borrowed (no count) or owned.
 * Ends with tsr_maybe_end, whichever it was. A borrow must not outlive its owner: debug builds check. */
#ifndef TSR_BORROW_H
#define TSR_BORROW_H

#include "view.h"

TSR_PUBLIC_BEGIN

/* `owned`: tsr_maybe_end gives a reference back. */
typedef struct TsrMaybeOwned {
    TsrTensor *tensor;
    bool owned;
} TsrMaybeOwned;

#ifdef TSR_DEBUG
/* Debug builds hold a weak link, and report a borrow that outlived its owner at the next interrupt check. */
TsrMaybeOwned tsr_maybe_borrowed(TsrTensor *t);
void tsr_maybe_end(TsrMaybeOwned *m);
#else
/* Lends t: no count changes. */
static inline TsrMaybeOwned tsr_maybe_borrowed(TsrTensor *t) {
    TsrMaybeOwned m = {t, false};
    return m;
}
/* Frees an owned tensor, forgets a borrowed one; fine on one that has ended. */
static inline void tsr_maybe_end(TsrMaybeOwned *m) {
    if (m->owned) tsr_tensor_free(m->tensor);
    m->tensor = NULL;
    m->owned = false;
}
#endif
/* Takes over the caller's reference. */
static inline TsrMaybeOwned tsr_maybe_owned_move(TsrTensor *t) {
    TsrMaybeOwned m = {t, true};
    return m;
}
/* Borrows t when it is contiguous in that format, else owns a contiguous copy (c10's expect_contiguous). Errors of the
 * copy. */
TsrStatus tsr_maybe_expect_contiguous(TsrMaybeOwned *out, TsrTensor *t, TsrMemoryFormat format);

/* Told before a tensor that weak links lead to changes how many dimensions it has: who points at its sizes, not at the
 * tensor, loses them. NULL by default. */
extern void (*tsr_rank_hook)(const TsrTensor *t);

TSR_PUBLIC_END

#endif
