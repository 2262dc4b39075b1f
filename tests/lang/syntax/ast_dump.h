/* ast_dump.h: a syntax tree as text, much as Python's ast.dump gives it: what the tests of the parser compare. */
#ifndef TESTS_REPL_AST_DUMP_H
#define TESTS_REPL_AST_DUMP_H

#include "lang/syntax/ast.h"

/* With positions if asked. *out is the caller's (free). TSR_RUNTIME_ERROR when memory is short. */
TsrStatus ast_dump_new(char **out, const Ast *ast, bool positions);

#endif
