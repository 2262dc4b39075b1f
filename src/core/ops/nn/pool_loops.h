/* pool_loops.h: pooling of tensors whose dtype and order the loops can take: a plane (one channel of one sample) at a
 * time, planes split among threads. */
#ifndef CORE_OPS_NN_POOL_LOOPS_H
#define CORE_OPS_NN_POOL_LOOPS_H

#include "nn.h"

/* What the loops read; the first four are set by tsr_pool_into. */
typedef struct TsrPool {
    const TsrNnWindow *w;
    const char *in;
    char *out;
    int64_t *index;  /* max pooling: flat position in the plane; may be NULL */
    int64_t least;   /* max pooling of ints: of the dtype asked for */
    int64_t divisor; /* average: 0 by the window */
    bool count_pad;
    bool adaptive;
    int64_t channels;      /* channels last: how many */
    float (*round)(float); /* of every sum and quotient, where volumes of half floats are averaged; else NULL */
} TsrPool;

/* Fills `out` (computable dtype, row-major, or with that many channels last) and `index` from the input. */
TsrStatus tsr_pool_into(TsrTensor *out, TsrTensor *index, const TsrTensor *in, const TsrNnWindow *w, TsrPool planes,
                        bool maximum);

#endif
