/* explain.h: explain(CODE): runs code where it stands and tells of each operation on tensors whether it gave a view, a
 * copy or the same tensor, and which rule decided; how shapes were broadcast and dtypes promoted; what a refusal needs;
 * who sees a write. */
#ifndef SHOW_EXPLAIN_H
#define SHOW_EXPLAIN_H

#include "lang/object/value.h"

TsrStatus explain_startup(void);

#endif
