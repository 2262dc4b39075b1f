/* subscript.h: x[...], x[...] = v and their errors, as PyTorch's. */
#ifndef TORCH_TENSOR_SUBSCRIPT_H
#define TORCH_TENSOR_SUBSCRIPT_H

#include "core/op.h"
#include "lang/object/value.h"

/* x[index]: a view for ints, slices, None, ...; a copy once tensors, sequences or bools take part. */
TsrStatus subscript_get(Value *out, Value self, Value index);
/* x[index] = value: a number, or a tensor that broadcasts to the place. */
TsrStatus subscript_set(Value self, Value index, Value value);

/* Sees each indexing of a tensor, for explain: before it (NULL) and after it. `place`: what x[index] gave, or where
 * x[index] = value wrote; NULL when it failed. All lent. */
typedef struct SubscriptEvent {
    TsrTensor *self, *place;
    bool advanced; /* tensors, sequences or bools took part */
    bool written;
    const TsrScalar *number; /* that was written; NULL: it was a tensor */
    TsrStatus status;
} SubscriptEvent;
extern void (*subscript_hook)(const SubscriptEvent *event);

#endif
