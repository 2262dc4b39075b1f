/* filter.h: tsr -e as a filter: what `_` and `inputs` are, and how the value goes out. */
#ifndef REPL_FILTER_H
#define REPL_FILTER_H

#include "options.h"
#include "lang/object/value.h"
#include "lang/syntax/ast.h"

/* Before the program runs: makes `_` and `inputs` names that read `files` (count of them; 0: standard input) when they
 * are first used. Called again for each run; what was read before is forgotten. */
TsrStatus filter_prepare(const FilterOptions *options, const char *const *files, int count);
/* After that: changes the program where it is to run over pieces of its input (pieces.h). */
TsrStatus filter_program(Ast *program);
/* After it, and after an error in it, too: notes that the program saw the first of several inputs alone. */
void filter_tell_unused(void);
/* While it runs: writes rows of its value that are all there is in one piece of the input. */
TsrStatus filter_write_piece(Value piece);
/* After that: writes the value of the last statement as the options say; `display` is for text. */
TsrStatus filter_finish(Value result, TsrStatus (*display)(Value v));

/* Whether an error with this message is about a file that the command line names or about standard input: then "FILE:
 * reason" is appended to *out. */
bool filter_blames(TsrText *out, const char *message);

/* What a file ("-": standard input) holds, read as the options say; with `metadata` a pair of a list of its records and
 * the texts beside them, as load() has it with records=True. *out is the caller's. */
TsrStatus filter_read(Value *out, const FilterOptions *options, const char *path, bool metadata);

#endif
