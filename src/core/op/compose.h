/* compose.h: for operators made of other operators: a scope that keeps every intermediate result and the first failure,
 * so that a function reads as the formula it computes. Once a step has failed the rest give NULL and do nothing.
 *
 *     TsrScope s = {0};
 *     TsrTensor *d = CALL(&s, "sub", "tt", a, b);
 *     TsrTensor *r = CALL(&s, "mul", "tt", d, d);
 *     return tsr_scope_return(c, &s, r);
 */
#ifndef CORE_OP_COMPOSE_H
#define CORE_OP_COMPOSE_H

#include "shared.h"

/* Results that a scope holds without an allocation. */
enum { TSR_SCOPE_FIRST = 16 };
typedef struct TsrScope {
    TsrStatus status;
    int n;                                     /* results kept */
    size_t room;                               /* of `more` */
    TsrTensor *next;                           /* where a step puts its result */
    TsrTensor *first[TSR_SCOPE_FIRST], **more; /* the results: the first ones here, the others in memory of its own */
} TsrScope;

/* Takes scope->next over when `status` is TSR_OK. Lent: lives until the scope ends. NULL, and the scope has failed,
 * when there is no memory for one more. */
TsrTensor *tsr_scope_keep(TsrScope *s, TsrStatus status);
/* An operator by name, as tsr_invoke_new. */
#define CALL(s, ...) ((s)->status == TSR_OK ? tsr_scope_keep((s), tsr_invoke_new(&(s)->next, 1, __VA_ARGS__)) : NULL)
/* Any function whose first parameter is TsrTensor **out. A step is not an argument of another: it would be called with
 * NULL once the inner one has failed. */
#define MAKE(s, fn, ...) ((s)->status == TSR_OK ? tsr_scope_keep((s), fn(&(s)->next, __VA_ARGS__)) : NULL)
/* self[..., start:end, ...]; end may be INT64_MAX, both may be negative. */
#define SLICE(s, t, dim, start, end) \
    ((s)->status == TSR_OK ? tsr_scope_keep((s), tsr_tensor_new_slice(&(s)->next, (t), (dim), (start), (end), 1)) \
                           : NULL)
/* Ends the scope: every intermediate is freed. */
TsrStatus tsr_scope_end(TsrScope *s);
/* The same, and `result`, one of them or lent from elsewhere, is returned from the call. */
TsrStatus tsr_scope_return(TsrOpCall *c, TsrScope *s, TsrTensor *result);
/* The same, storing an owned reference; *out is left alone on failure. */
TsrStatus tsr_scope_end_new(TsrTensor **out, TsrScope *s, TsrTensor *result);

#endif
