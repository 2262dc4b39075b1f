/* attention.h: the middle of attention by blocks: scores become weights, row by row, and what is known of a row's
 * greatest score and sum is carried to its next block of keys. */
#ifndef CORE_KERNELS_NN_ATTENTION_H
#define CORE_KERNELS_NN_ATTENTION_H

#include "core/base.h"

/* One row, over the blocks of keys that it has met. */
typedef struct TsrAttentionRow {
    float greatest, sum; /* -inf and 0 to begin with */
    float shrunk;        /* what the last block multiplied by: e ** (greatest before - greatest now) */
} TsrAttentionRow;

/* scores[i] = e ** (scores[i] * factor - greatest), n of them; the row's sum and greatest score go on from its last
 * block's, whose products are to be multiplied by `shrunk`. */
typedef void (*TsrAttentionFn)(float *scores, int64_t n, float factor, TsrAttentionRow *row);

/* As this CPU has it; NULL where it has no fused multiplication and addition. */
TsrAttentionFn tsr_attention_kernel(void);

#endif
