/* value_impl.h: what the files of the values share with one another only. */
#ifndef LANG_OBJECT_VALUE_IMPL_H
#define LANG_OBJECT_VALUE_IMPL_H

#include "value.h"

TsrStatus str_startup(void);
void str_shutdown(void);
TsrStatus exc_startup(void);
void exc_shutdown(void);
void module_shutdown(void);
void tuple_shutdown(void);      /* named tuple types */
void namedtuple_shutdown(void); /* those of collections.namedtuple */
void type_startup(void);
void type_shutdown(void); /* method caches of types */

Type *type_base(const Type *type); /* NULL for object */

extern Type generic_alias_type, union_type; /* of list[int], of int | str */

/* The parts of int | str, lent, None as its type; V_UNBOUND when v is no union. */
Value type_union_parts(Value v);

/* One getter of a type as a value: what `int.real` gives. */
typedef struct GetSet {
    Obj obj;
    const Getter *def;
    Type *owner;
} GetSet;
extern Type getset_type;

/* The method wrappers behind dunder names (__add__, __len__...): NULL when the type lacks the slot. */
const Method *dunder_lookup(const Type *type, const Str *name);
TsrStatus dunder_list(List *names, const Type *type);

#endif
