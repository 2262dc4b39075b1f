/* collections.h: the containers of Python's module collections, one file each; lang/modules/collections.c puts them
 * together. OrderedDict, defaultdict and Counter are kinds of dict (value_is_dict holds), namedtuple makes kinds of
 * tuple. */
#ifndef LANG_TYPES_COLLECTIONS_H
#define LANG_TYPES_COLLECTIONS_H

#include "dict.h"

extern Type default_dict_type, counter_type, deque_type; /* and ordered_dict_type, in dict.h */

/* Fill in the types before anything of theirs is made. */
void dict_kinds_startup(void);
void counter_startup(void);

Value default_dict_factory(Value dict); /* lent */
struct Dict;
/* What was set on an OrderedDict, as PyTorch sets _metadata on a module's state; lent, NULL: nothing. */
struct Dict *ordered_dict_attributes(Value dict);
void ordered_dict_set_attributes(Value dict, struct Dict *attributes); /* retains them; NULL: none */
int64_t deque_count(Value deque);
Value deque_item(Value deque, int64_t i); /* lent; 0 <= i < count */

/* An empty dict of a kind; `size` is its struct's. *out is the caller's. */
TsrStatus dict_kind_new(Value *out, Type *type, size_t size);

/* namedtuple(typename, field_names, *, rename=False, defaults=None, module=None): the row of the function. A type lives
 * until shutdown, because its tuples and the instructions that have met it (lang/vm/loop.c) name it without counting;
 * so that a loop does not make ever more of them, the same names and defaults again give the same type. */
TsrStatus namedtuple_function(Value *out, const CallArgs *args);
/* The type `name` of a module; `fields` has spaces between them, the last `optional` are None when left out. *out is
 * the caller's. */
TsrStatus namedtuple_new_type(Value *out, const char *name, const char *fields, const char *module, int optional);

#endif
