/* functions.h: functions of torch that are no operators on tensors, and the rows that need the language. */
#ifndef TORCH_FUNCTIONS_H
#define TORCH_FUNCTIONS_H

#include "core/op.h"
#include "lang/object/native.h"

extern const Method torch_functions[];        /* torch.is_tensor, torch.manual_seed, ... */
extern const Method torch_random_functions[]; /* also in torch.random */
extern const Method torch_fork_functions[];   /* in torch.random alone */
extern const Method torch_absent_functions[],
    torch_built_functions[];                 /* of a device that is never there: is_available() is False */
extern const Method torch_onnx_functions[];  /* in torch.onnx */
extern const Method torch_state_functions[]; /* of torch._C: what libraries ask before they begin */

/* torch.tensor, as_tensor, frombuffer, result_type...: rows of the operator table whose functions see values. */
TsrStatus torch_rows_register(void);
TsrStatus torch_sparse_register(void); /* sparse_coo_tensor, sparse_csr_tensor...; called by the one above, as is */
TsrStatus torch_sparse_fill(Module *module); /* what torch.sparse has besides operators */
TsrStatus torch_prelude_register(void);      /* what prelude/rows.tsr has the bodies of */

#endif
