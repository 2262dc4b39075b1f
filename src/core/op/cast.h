/* cast.h: the place where a language may give an operator other tensors than it was called with (torch.autocast). */
#ifndef CORE_OP_CAST_H
#define CORE_OP_CAST_H

#include "core/op.h"

/* Runs a bound call with the tensors that it has; tsr_op_run but for the hook. */
TsrStatus tsr_op_run_as_it_is(TsrOpCall *call);
/* Runs a bound call in the place of tsr_op_run. NULL (the default) costs one predicted branch. */
extern TsrStatus (*tsr_op_cast_hook)(TsrOpCall *call);

#endif
