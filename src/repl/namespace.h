/* namespace.h: what names mean: torch and its submodules, bare names, and how other files add theirs.
 *
 * A file adds functions by tables and values by name, before or after start-up; modules are made when first asked
 * for. Operators need no registration: torch.NAME, torch.linalg.NAME and bare names find them in the operator table,
 * and after it the functions of the prelude. */
#ifndef REPL_NAMESPACE_H
#define REPL_NAMESPACE_H

#include "func_obj.h"
#include "value.h"

/* Registers torch's modules for import, the bare-name hook and the type of tensors. After vm_startup. */
TsrStatus namespace_startup(void);
void namespace_shutdown(void); /* releases what it holds; before value_shutdown */

/* The module object of "torch", "torch.linalg", "tsr", ...; *out is the caller's. ModuleNotFoundError for others. */
TsrStatus namespace_module(Value *out, const char *name);

/* A module of one's own: NAME becomes importable and a bare name. `fill` (may be NULL) adds to it when it is made. */
TsrStatus namespace_add_module(const char *name, TsrStatus (*fill)(Module *module));

/* Adds the functions of a table (static) to a module that is there, "torch" or "tsr" say; with `bare`, as bare names too. */
TsrStatus namespace_add_functions(const char *module, const Method *table, bool bare);
/* The same for one value (retained). `module` may be NULL: only as a bare name. */
TsrStatus namespace_add_value(const char *module, const char *name, Value v, bool bare);

#endif
