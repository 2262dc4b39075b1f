/* abc.h: the types of Python's collections.abc: what a value can do, whatever it is. */
#ifndef LANG_MODULES_ABC_H
#define LANG_MODULES_ABC_H

#include "lang/object/native.h"

/* The type of that name, static; NULL: there is none. */
Type *abc_type(const char *name);

/* issubclass(type, asked), where `asked` is one of these: sets *out where the class has the methods, is registered, or
 * is an abstract type made from it. Elsewhere, and in the page, *out stays. */
TsrStatus abc_subclass(bool *out, const Type *type, const Type *asked);

/* Adds AbstractContextManager to contextlib, which has it. */
TsrStatus abc_add_manager(Module *contextlib);

#endif
