/* repr_size.h: how much a container's text takes at least, so that one that can't fit is refused before it is written.
 */
#ifndef LANG_TYPES_REPR_SIZE_H
#define LANG_TYPES_REPR_SIZE_H

#include "lang/object/value.h"

/* Bytes of repr(v), or fewer: what would take long to know counts as one byte. */
int64_t repr_least(Value v);
/* Room for repr(v), called where the outermost container begins to write itself. */
TsrStatus repr_reserve(TsrText *out, Value v);

#endif
