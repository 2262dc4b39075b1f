/* nonzero.h: the elements of a tensor where a mask is true (nonzero.c); the positions are core/indexing.h's. */
#ifndef CORE_OPS_INDEX_NONZERO_H
#define CORE_OPS_INDEX_NONZERO_H

#include "core/tensor.h"

/* The elements of self where the mask, bool and of the same sizes, is true, in row-major order: (count,). Both lie
 * dense on the host. *out is the caller's. Errors: no memory, an interrupt. */
TsrStatus tsr_selected_new(TsrTensor **out, const TsrTensor *self, const TsrTensor *mask);

#endif
