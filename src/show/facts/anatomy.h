/* anatomy.h: anatomy(x): the structures that a tensor is made of, from its handle down to its bytes, as nested dicts.
 *
 * A dict with a "refcount" is an object of its own, reached by a counted pointer; others are parts of the structure
 * that they stand in. An index looks in the whole chain: anatomy(x)["DataPtr"] finds it where it is. */
#ifndef SHOW_FACTS_ANATOMY_H
#define SHOW_FACTS_ANATOMY_H

#include "lang/object/value.h"

TsrStatus anatomy_startup(void);
/* Of whatever has one: tensors, wrappers with or without a tensor, and what holders_register_anatomy names. */
TsrStatus anatomy_new(Value *out, Value v);
/* Whether a value is what anatomy() returns. */
bool anatomy_is(Value v);

#endif
