/* explain.h: explain(CODE): runs code where it stands and tells of each operation on tensors whether it gave a view, a
 * copy or the same tensor, and which rule decided; how shapes were broadcast and dtypes promoted; what a refusal needs;
 * who sees a write. */
#ifndef SHOW_EXPLAIN_H
#define SHOW_EXPLAIN_H

#include "core/text.h"
#include "lang/object/value.h"

TsrStatus explain_startup(void);
/* Appends what is to be told of code before it runs, a line, or nothing. NULL, the default: there is no such thing. */
extern TsrStatus (*explain_before)(TsrText *out, const char *code, size_t length);

/* What is told of a program that is stepped through. */
typedef struct Story Story;
/* From here on all that happens is told. *out is the caller's, and ends after all those that began later. */
TsrStatus story_new(Story **out);
/* Moves what was told since the last time: lines, in the words of explain(). *out is the caller's. */
TsrStatus story_take(Story *s, TsrText *out);
void story_free(Story *s);

#endif
