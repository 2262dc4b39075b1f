/* dequantise.h: PyTorch's quantised tensors: whole numbers q that stand for (q - zero) * scale. */
#ifndef CORE_IO_DEQUANTISE_H
#define CORE_IO_DEQUANTISE_H

#include "core/tensor.h"

/* One scale and zero for all, or those of an index in the dimension `axis`: lent vectors of as many elements. */
typedef struct TsrQuantised {
    double scale, zero;
    const TsrTensor *scales, *zeros; /* NULL: one for all */
    int64_t axis;
} TsrQuantised;

/* Whether q has the dimension, and scales and zeros are real numbers, one for each index. */
bool tsr_quantised_fits(const TsrQuantised *scheme, const TsrTensor *q);
/* What q stands for, float32, as torch.dequantize has it; on the meta device where q is. The scheme fits. */
TsrStatus tsr_dequantise_new(TsrTensor **out, const TsrTensor *q, const TsrQuantised *scheme);

#endif
