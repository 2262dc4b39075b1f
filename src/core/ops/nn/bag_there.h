/* bag_there.h: embedding_bag of tensors on a device. */
#ifndef CORE_OPS_NN_BAG_THERE_H
#define CORE_OPS_NN_BAG_THERE_H

#include "core/op.h"

/* As op_embedding_bag, whose arguments they are; padding: the position that is left out, or -1. PyTorch's kernel there
 * looks at no value before it runs: where offsets go back a bag is empty, and a bad position is found when the device
 * is waited for. */
TsrStatus tsr_embedding_bag_there(TsrOpCall *c, int64_t padding);

#endif
