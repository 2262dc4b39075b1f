/* masked.h: torch.masked.MaskedTensor: a tensor and a mask of its shape that says which elements count.
 *
 * The object holds the two tensors and nothing more. What an operator does with it is written in prelude/masked_tensor.tsr,
 * to which every call of an operator that meets a MaskedTensor goes (bind_override). */
#ifndef TORCH_MASKED_H
#define TORCH_MASKED_H

#include "lang/object/native.h"
#include "lang/object/value.h"

extern Type masked_type;

/* Its two tensors, data and mask; false: v is no MaskedTensor. */
bool masked_parts(TsrTensor *lent[2], Value v);

/* Adds the type to torch.masked. */
TsrStatus masked_fill(Module *module);

#endif
