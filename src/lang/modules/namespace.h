/* namespace.h: what names mean: modules, bare names, and how other files add theirs.
 *
 * A file adds functions by tables and values by name, before or after start-up; modules are made when first asked
 * for. A bare name is one added as such, a module, or an attribute of torch. */
#ifndef LANG_MODULES_NAMESPACE_H
#define LANG_MODULES_NAMESPACE_H

#include "lang/object/native.h"
#include "lang/object/value.h"

/* Sets the bare-name hook. After vm_startup. */
TsrStatus namespace_startup(void);
void namespace_shutdown(void); /* releases what it holds; before value_shutdown */

/* The module object of "torch", "torch.linalg", "tsr", ...; *out is the caller's. ModuleNotFoundError for others. */
TsrStatus namespace_module(Value *out, const char *name);

/* A module of one's own: its name becomes importable and, without dots, a bare name. */
typedef struct Namespace {
    const char *name, *doc;            /* static; doc may be NULL */
    TsrStatus (*fill)(Module *module); /* adds to it when it is made; may be NULL */
    TsrStatus (*missing)(Value *out, Module *module, Str *name), (*names)(List *out, Module *module); /* Module's */
} Namespace;
TsrStatus namespace_add(const Namespace *space); /* copied */

/* Adds the functions of a table (static) to a module that is there, "torch" or "tsr" say; with `bare`, as bare names
 * too. */
TsrStatus namespace_add_functions(const char *module, const Method *table, bool bare);
/* The same for one value (retained). `module` may be NULL: only as a bare name. */
TsrStatus namespace_add_value(const char *module, const char *name, Value v, bool bare);

/* Visits the names that were added for bare use, or found as such. */
void namespace_each_bare(void (*visit)(const char *name, void *context), void *context);

#endif
