/* out.h: results that go into a given tensor, with PyTorch's refusals: what each operator's out= may be. */
#ifndef CORE_OP_OUT_H
#define CORE_OP_OUT_H

#include "core/op.h"

/* call->ret[k], which the function made afresh, goes into call->out[k], of which neither is NULL: resized for out=,
 * never in the in-place form. */
TsrStatus tsr_write_out(TsrOpCall *c, int k);
/* Before the operator runs: that call->out[k] is on the device of the inputs. */
TsrStatus tsr_check_out_device(const TsrOpCall *c, int k);
/* Before a factory runs: that its out= has the dtype, layout and type of device that are asked for. */
TsrStatus tsr_check_out_options(const TsrOpCall *c);
/* Before the operator runs: that an out= which must have the dtype of the first argument has it. */
TsrStatus tsr_check_out_self(const TsrOpCall *c);
/* That call->out[k] may take a result of dtype `want`, as the row's rule says; absent outputs pass. */
TsrStatus tsr_check_out_fits(const TsrOpCall *c, int k, TsrDtype want);
/* That call->out[k] has this very dtype, in the operator's words; in-place forms and absent outputs pass. */
TsrStatus tsr_check_out_dtype(const TsrOpCall *c, int k, TsrDtype dtype);

#endif
