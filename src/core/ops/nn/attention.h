/* attention.h: attention block by block, without a matrix of all scores. */
#ifndef CORE_OPS_NN_ATTENTION_H
#define CORE_OPS_NN_ATTENTION_H

#include "core/op.h"

/* softmax(factor * query @ key.mT) @ value of float32, (batch, heads, rows, width) with neighbours along the width, in
 * PyTorch's blocks and its order. `causal`: no key after the query's own place. *out is NULL, without an error, where
 * this has no kernel: other dtypes and devices, widths and instruction sets. */
TsrStatus tsr_attention_new(TsrTensor **out, const TsrTensor *const of[3], double factor, bool causal);

#endif
