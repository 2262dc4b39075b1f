/* filter.h: tsr -e as a filter: what `_` and `inputs` are, and how the value goes out. */
#ifndef REPL_FILTER_H
#define REPL_FILTER_H

#include "options.h"
#include "lang/object/value.h"

/* Before the program runs: checks the options and makes `_` and `inputs` names that read when they are first used. */
TsrStatus filter_prepare(const FilterOptions *options);
/* After it: writes the value of the last statement as the options say; `display` is for text. */
TsrStatus filter_finish(Value result, TsrStatus (*display)(Value v));

/* What a file ("-": standard input) holds, read as the options say; with `metadata` a pair, as load() has it. *out is the caller's. */
TsrStatus filter_read(Value *out, const FilterOptions *options, const char *path, bool metadata);

#endif
