/* modules.h: the modules of Python's that the language has, one file each. */
#ifndef LANG_MODULES_MODULES_H
#define LANG_MODULES_MODULES_H

#include "lang/object/native.h"

/* A row each: made into a module by modules.c when it is first imported. */
typedef struct NsModule {
    const char *name; /* as it is imported: "os.path" */
    const char *doc;
    const Method *functions;           /* a table that ends with {0}; NULL: none */
    TsrStatus (*fill)(Module *module); /* adds what is no function; NULL: nothing */
    const char *called;                /* its __name__ where that is another; else NULL */
} NsModule;

extern const NsModule ns_math, ns_cmath, ns_itertools, ns_functools, ns_json, ns_sys, ns_os, ns_os_path, ns_time,
    ns_random, ns_collections, ns_copy, ns_typing, ns_heapq, ns_operator, ns_string, ns_contextlib, ns_re, ns_types,
    ns_warnings, ns_gc, ns_numbers, ns_unicodedata, ns_collections_abc, ns_typing_extensions;

TsrStatus ns_add_math_constants(Module *module); /* pi, e, tau, inf, nan: math and cmath have the same */

/* What isinstance(x, v) asks for where v is a name of typing's: the type that it stands for, of a Union the tuple of
 * what it is of; any other v is itself. Lent. TypeError for names that can't be asked for. */
TsrStatus typing_origin(Value *lent, Value v);

/* copy.deepcopy(v, memo): `memo` maps the id of what was copied already to its copy. */
TsrStatus deep_copy(Value *out, Value v, Dict *memo);

/* Makes the functions of modules that are written in the language known (prelude.h). */
void modules_sources_add(void);

#endif
