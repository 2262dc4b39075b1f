/* torch_ns.h: torch and its submodules. Operators need no registration: torch.NAME, torch.linalg.NAME and bare names find them in the operator
 * table, and after it the functions of the prelude. */
#ifndef REPL_TORCH_NS_H
#define REPL_TORCH_NS_H

#include "lang/object/value.h"

/* Adds torch's modules, the names for completion, and the type of tensors. After namespace_startup. */
TsrStatus torch_ns_startup(void);

#endif
