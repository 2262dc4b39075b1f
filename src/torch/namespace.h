/* namespace.h: torch and its submodules. Operators need no registration: torch.NAME, torch.linalg.NAME and bare names
 * find them in the operator table, and after it the functions of the prelude. */
#ifndef TORCH_NAMESPACE_H
#define TORCH_NAMESPACE_H

#include "lang/object/value.h"

/* Adds torch's modules, the names for completion, and the type of tensors. After namespace_startup. */
TsrStatus torch_ns_startup(void);

/* Makes torch's functions that are written in the language known (prelude.h). */
void torch_sources_add(void);

#endif
