/* kinds.h: torch's kinds of objects whose methods are written in the language (lang/vm/kind.h). */
#ifndef TORCH_KINDS_H
#define TORCH_KINDS_H

#include "lang/object/native.h"

/* The kind of that name in a module ("torch.distributions"), static, lent; V_UNBOUND: there is none. */
Value torch_kind(const char *module, const char *name);

/* Appends the names of a module's kinds as str. */
TsrStatus torch_kind_names(List *names, const char *module);

/* Fills a module as "torch.distributions.normal" with the kind that is from there. */
TsrStatus torch_kind_fill(Module *module);

#endif
