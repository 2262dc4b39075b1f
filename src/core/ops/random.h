/* random.h: what the random operators share: which generator draws, and drawing element by element. */
#ifndef TSR_OPS_RANDOM_H
#define TSR_OPS_RANDOM_H

#include "op.h"
#include "rng.h"

/* The generator of an argument, or the default one. Lent. */
TsrGenerator *tsr_random_generator(const TsrArg *a);
/* float16, bfloat16, float32, float64: what PyTorch's continuous distributions are made for. */
bool tsr_random_is_drawable(TsrDtype d);
/* Fills t, in the order of its memory and on one thread, by a loop that may read up to two inputs (NULL: none), which broadcast to t.
 * Refuses a t that overlaps itself; a meta tensor stays as it is. */
TsrStatus tsr_random_draw(TsrTensor *t, const TsrTensor *input, const TsrTensor *input2, TsrLoop loop, const void *params, const char *name);

/* What a loop needs that draws by probabilities or rates read from another tensor. */
typedef struct TsrChances {
    TsrGenerator *g;
    TsrDtype dtype, from;
    bool *bad; /* a probability outside [0, 1] */
} TsrChances;

/* Ones with probability p, else zeros. RuntimeError unless p is in [0, 1]. */
TsrStatus tsr_random_bernoulli(TsrTensor *t, double p, TsrGenerator *g);
/* Exponentially distributed with rate 1. */
TsrStatus tsr_random_exponential(TsrTensor *t, TsrGenerator *g);

#endif
