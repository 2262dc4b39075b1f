/* abc.h: the types of Python's collections.abc: what a value can do, whatever it is. */
#ifndef LANG_MODULES_ABC_H
#define LANG_MODULES_ABC_H

#include "lang/object/native.h"

/* The type of that name, static; NULL: there is none. */
Type *abc_type(const char *name);

/* Adds AbstractContextManager to contextlib, which has it. */
TsrStatus abc_add_manager(Module *contextlib);

#endif
