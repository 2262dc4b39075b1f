/* compile.h: syntax tree to code.
 *
 * One pass over the tree after scope.h has placed the names. Register code: an expression's value is an operand
 * (a name's slot, a constant or a temporary); temporaries are a stack above the names' slots. */
#ifndef LANG_COMPILE_COMPILE_H
#define LANG_COMPILE_COMPILE_H

#include "code.h"

typedef enum CompileShow {
    SHOW_NONE, /* a script */
    SHOW_ALL,  /* every expression statement outside functions is displayed */
    SHOW_LAST  /* only the last statement of the program, if it is an expression */
} CompileShow;

typedef struct CompileOptions {
    CompileShow show;
    bool result;       /* the last statement's value, if it is an expression, is the code's result (eval) */
    bool lines;        /* every statement begins with INS_LINE, those of functions too */
    int first_slot;    /* a module's own slots start here, at GLOBAL_SLOTS or above */
    const Code *frame; /* NULL for a module: the code of the active function whose frame this is to run in */
} CompileOptions;

/* *out is the caller's. TSR_SYNTAX_ERROR with *where, or TSR_MEMORY_ERROR. */
TsrStatus compile_module(Code **out, const Ast *ast, const CompileOptions *options, SourceRange *where);

/* What the compiler asks about names of those above it: the evaluator fills this in at start. */
typedef struct CompileNames {
    TsrStatus (*global_index)(int *out,
                              const char *name); /* a name's index in the table of globals, added when it is new */
    bool (*may_wait)(const char *function); /* whether the results of calls by this name may be held back (vm/lazy.h) */
} CompileNames;
extern CompileNames compile_names;

#endif
