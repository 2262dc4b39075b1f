/* freeze.h: code as bytes, for the functions that are part of the program (vm/prelude.h). */
#ifndef LANG_COMPILE_FREEZE_H
#define LANG_COMPILE_FREEZE_H

#include "code.h"

/* Appends the code with that of its inner functions. Places in the source are left out. TSR_VALUE_ERROR for code that
 * names globals, whose numbers are another process's, or has a constant of an unusual kind. */
TsrStatus code_freeze(TsrText *out, const Code *code);

/* The code that code_freeze wrote at `bytes`, which are trusted and lent for the process's life; source is retained.
 * *out is the caller's. TSR_MEMORY_ERROR. */
TsrStatus code_thaw(Code **out, const char *bytes, Source *source);

#endif
