/* reason.h: why a check does not hold: the comparison in it that fails, with what it compares. */
#ifndef REPL_LESSON_REASON_H
#define REPL_LESSON_REASON_H

#include "format.h"

/* Whether the expression is true in the names as they are. An error is false. */
bool reason_holds(Span expression);
/* Appends why a check that does not hold fails, in one line: of operands joined by `and` the first that is false, as
 * "refcount(x) is 4, not 3"; then what stands behind the check as a comment. What is shown (`_`) is not told what it
 * should be. Evaluates parts of the check again. */
TsrStatus reason_append(TsrText *out, Span check);
/* Whether the text has `_` as a name. */
bool reason_asks_last(Span expression);

#endif
