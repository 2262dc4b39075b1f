/* prelude.h: functions of modules that are written in the language itself.
 *
 * Their sources are part of the program, and so is the code of their functions, which the program's build compiles
 * (prelude_freeze). The code of a function is made ready when it is first called or read, alone, so that what a program
 * does not use costs it nothing; where it is not part of the program, it is compiled then. What a function means by a
 * name is fixed: another name of its source, one of the source's modules, or a builtin, all of them cells of its
 * closure that are filled when they are first read. So no name of the user's can reach into a function, and none of its
 * helpers is visible outside. Frames of the prelude are left out of error reports: an error shows where the user
 * called. */
#ifndef LANG_VM_PRELUDE_H
#define LANG_VM_PRELUDE_H

#include "core/base/embed.h"
#include "lang/object/value.h"

#include <stdio.h>

/* A source: at the top level of its text stand `def NAME(...)` and `NAME = ...` only, and names with a leading
 * underscore are helpers. All members are lent for the process's life. */
typedef struct PreludeSource {
    const char
        *space; /* the module whose functions these are: "nn.functional", "" for torch itself, "Tensor" for methods */
    const char *name; /* "<prelude nn>": in tracebacks of the prelude's own tests */
    const char *text, *end;
    const char *modules; /* names that stand for modules: "math F=torch.nn.functional"; NULL: none. A word @ first:
                            the source also means by a name what another source of its space does */
} PreludeSource;

/* As TSR_EMBED, of a file of the language; of the page's program, as scripts/web-lean made it smaller. */
#ifdef TSR_LEAN
#define PRELUDE_EMBED(symbol, file) TSR_EMBED(symbol, TSR_LEAN file)
#else
#define PRELUDE_EMBED TSR_EMBED
#endif

/* Makes sources known, which are lent for the process's life. Of two sources that define one name in one space the
 * first one counts. */
void prelude_add(const PreludeSource *sources, int count);

/* The function `name` of a space. The caller's; V_UNBOUND when the prelude has none of that name. */
TsrStatus prelude_get(Value *out, const char *space, const char *name);
/* Whether it has one, which is not made ready. */
bool prelude_has(const char *space, const char *name);
/* Calls visit with each name of a space, helpers left out. */
void prelude_each(const char *space, void (*visit)(const char *name, void *context), void *context);
/* The same names, appended as str. */
TsrStatus prelude_append_names(List *list, const char *space);
/* The names of a kind's methods and attributes (kind.h) in a space, appended as str; those of Python's own slots and
 * helpers are left out. */
TsrStatus prelude_append_methods(List *list, const char *space, const char *kind);
/* Writes the code of all sources that are known, for the build of a program that has them and need not compile them. */
TsrStatus prelude_freeze(FILE *file);
void prelude_shutdown(void); /* releases the functions; before value_shutdown */

#endif
