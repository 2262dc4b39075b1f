/* borrow.c: TsrMaybeOwned (borrow.h). In debug builds a borrow holds a weak link, and a borrow that outlives its owner
 * is reported as a memory fault at the next interrupt check; in other builds borrowing is inline and free. */
#include "core/borrow.h"

#include "core/memory/alloc_impl.h"

#ifdef TSR_DEBUG
TsrMaybeOwned tsr_maybe_borrowed(TsrTensor *t) { return (TsrMaybeOwned){tsr_tensor_weak_new(t), false}; }

void tsr_maybe_end(TsrMaybeOwned *m) {
    if (m->tensor == NULL) return;
    if (m->owned) {
        tsr_tensor_free(m->tensor);
    } else {
        if (!tsr_tensor_weak_alive(m->tensor)) tsr_fault_post("a borrowed tensor was freed before its borrow ended");
        tsr_tensor_weak_free(m->tensor);
    }
    *m = (TsrMaybeOwned){NULL, false};
}
#endif

TsrStatus tsr_maybe_expect_contiguous(TsrMaybeOwned *out, TsrTensor *t, TsrMemoryFormat format) {
    TsrTensor *copy = NULL;
    bool known = (unsigned)format <= TSR_CHANNELS_LAST_3D; /* the copy refuses any other */
    if (known && tsr_is_contiguous(t, format)) {
        *out = tsr_maybe_borrowed(t);
        return TSR_OK;
    }
    TSR_TRY(tsr_tensor_new_contiguous(&copy, t, format));
    *out = tsr_maybe_owned_move(copy);
    return TSR_OK;
}
