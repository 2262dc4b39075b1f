/* golden.h: golden(f): the golden rule of reference counting, checked along every path of a function.
 *
 * "You must either FREE or RETURN a pointer which was returned by a function whose name begins with new or which you
 * called retain on. If you return this pointer, your function name must begin with new." Reads the function's source;
 * runs nothing. Calls are taken to succeed. */
#ifndef SHOW_GOLDEN_GOLDEN_H
#define SHOW_GOLDEN_GOLDEN_H

#include "lang/object/value.h"

TsrStatus golden_startup(void);

#endif
