/* pieces.h: the program of -e over an input that is not read as a whole: what of it comes in pieces
 * (torch/stream_plan.h), and the line that tells how far reading got. */
#ifndef REPL_PIECES_H
#define REPL_PIECES_H

#include "core/io.h"
#include "lang/object/value.h"
#include "lang/syntax/ast.h"
#include "options.h"

/* Opens `path` ("-": standard input) where it is a pipe, packed or very long and the program can take it in pieces;
 * then its parts are replaced by calls that give their results. `writes`: the value may be written by the rows of a
 * piece at a time (filter_write_piece). */
TsrStatus pieces_begin(const char *path, const FilterOptions *options, Ast *program, bool writes);
/* What was opened after all to be read as a whole; false: nothing was. *status is that of the opening or the reading,
 * *out the caller's (tsr_records_free) when it is TSR_OK. */
bool pieces_take_rest(TsrStatus *status, TsrRecords *out);
/* A function that the program over pieces calls, lent, when that is the name; else V_UNBOUND. */
TsrStatus pieces_name(Value *lent, const Str *name);
/* For explain(): how a program would read its input. */
TsrStatus pieces_explain(TsrText *out, const char *code, size_t length);

/* From now on a line on standard error tells how many bytes were read, once that lasts longer than a second. */
void progress_start(void);
void progress_clear(void); /* takes the line off */

#endif
