/* The scope of compose.h. */
#include "compose.h"

#include "core/mem.h"

/* Where the next result is kept; NULL when there is no memory for it. */
static TsrTensor **place(TsrScope *s) {
    if (s->n < TSR_SCOPE_FIRST) return &s->first[s->n];
    size_t used = (size_t)(s->n - TSR_SCOPE_FIRST);
    return tsr_mem_grow(&s->more, &s->room, used + 1, sizeof *s->more) == TSR_OK ? &s->more[used] : NULL;
}

TsrTensor *tsr_scope_keep(TsrScope *s, TsrStatus status) {
    s->status = status;
    if (status != TSR_OK) return NULL;
    TsrTensor **kept = place(s);
    if (kept == NULL) {
        tsr_tensor_free(s->next);
        s->status = tsr_error_no_memory(sizeof *kept * (size_t)s->n);
        return NULL;
    }
    s->n++;
    return *kept = s->next;
}

TsrStatus tsr_scope_end(TsrScope *s) {
    int first = TSR_MIN(s->n, TSR_SCOPE_FIRST);
    tsr_free_all(s->first, first);
    tsr_free_all(s->more, s->n - first);
    tsr_free(s->more);
    s->more = NULL;
    s->n = 0;
    s->room = 0;
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
