/* prelude.h: operators written in the language itself: losses, masked reductions, composite nn functions.
 *
 * The sources (prelude/<space>.tsr) are part of the program. A source is compiled when one of its functions is first asked
 * for, inside a function of its own whose parameters are torch, math, F and the builtins, so that no name of the
 * user's can reach into it and none of its helpers is visible outside. Names with a leading underscore are helpers.
 * Frames of the prelude are left out of error reports: an error shows where the user called. */
#ifndef LANG_VM_PRELUDE_H
#define LANG_VM_PRELUDE_H

#include "lang/object/value.h"

/* The function `name` of a namespace ("nn.functional", "masked", "" for torch itself, "Tensor" for methods). The caller's; V_UNBOUND when the
 * prelude has none of that name. */
TsrStatus prelude_get(Value *out, const char *space, const char *name);
/* Calls visit with the name of each function of a namespace, helpers left out. */
void prelude_each(const char *space, void (*visit)(const char *name, void *context), void *context);
/* The same names, appended as str. */
TsrStatus prelude_append_names(List *list, const char *space);
void prelude_shutdown(void); /* releases the functions; before value_shutdown */

#endif
