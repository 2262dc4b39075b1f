/* builtin.h: the builtin functions and types, and what they need from the evaluator. */
#ifndef LANG_MODULES_BUILTIN_H
#define LANG_MODULES_BUILTIN_H

#include "lang/object/native.h"

#include <stdio.h>

/* Adds every builtin to the module: functions, types, exception types, constants (None and so on are keywords). Each is
 * made, or counted, when somebody asks for it. */
TsrStatus builtin_fill(Module *builtins);
/* Registers math, cmath, itertools, functools, json, sys, os, time, random, builtins for import. */
TsrStatus builtin_register_modules(void);

/* What only the evaluator knows. NULL members: the builtin says that it is not available. */
typedef struct BuiltinHooks {
    TsrStatus (*help)(Value subject); /* prints the page about a value; V_UNBOUND: that of help() */
    TsrStatus (*before_input)(void);  /* flushes, leaves raw mode; may be NULL */
} BuiltinHooks;
extern BuiltinHooks builtin_hooks;

/* sys.argv from the command line; argv[0] is the script, '' or '-c'. */
TsrStatus builtin_set_argv(int count, const char *const *argv);

/* abs(), which operator has too. */
TsrStatus builtin_abs(Value *out, const CallArgs *args);

/* Where print writes: sys.stdout's stream. */
FILE *builtin_stdout(void);

#endif
