/* The scope of op_compose.h. */
#include "op_compose.h"

TsrTensor *tsr_scope_keep(TsrScope *s, TsrStatus status) {
    s->status = status;
    if (status != TSR_OK) return NULL;
    if (s->n == SCOPE_ROOM) { /* the oldest goes: callers of long loops hold on to what they need */
        tsr_tensor_free(s->kept[0]);
        for (int i = 1; i < SCOPE_ROOM; i++) s->kept[i - 1] = s->kept[i];
        s->n--;
    }
    return s->kept[s->n++] = s->next;
}

TsrStatus tsr_scope_end(TsrScope *s) {
    tsr_free_all(s->kept, s->n);
    s->n = 0;
    return s->status;
}

TsrStatus tsr_scope_end_new(TsrTensor **out, TsrScope *s, TsrTensor *result) {
    if (s->status == TSR_OK) *out = tsr_tensor_retain(result);
    return tsr_scope_end(s);
}

TsrStatus tsr_scope_return(TsrOpCall *c, TsrScope *s, TsrTensor *result) {
    TsrTensor *t = NULL;
    return tsr_finish_move(c, tsr_scope_end_new(&t, s, result), t);
}
