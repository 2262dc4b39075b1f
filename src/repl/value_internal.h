/* value_internal.h: what the files of the values share with one another only. */
#ifndef REPL_VALUE_INTERNAL_H
#define REPL_VALUE_INTERNAL_H

#include "value.h"

TsrStatus str_startup(void);
void str_shutdown(void);
TsrStatus exc_startup(void);
void exc_shutdown(void);
void module_shutdown(void);
void tuple_shutdown(void); /* named tuple types */
void namedtuple_shutdown(void); /* those of collections.namedtuple */
void type_shutdown(void);  /* method caches of types */

/* The attribute that a type or its bases define: a descriptor; V_UNBOUND: none. */
TsrStatus type_lookup(Value *lent, Type *type, Str *name);
Type *type_base(const Type *type); /* NULL for object */

/* The parts of int | str, lent; V_UNBOUND when v is no union. */
Value type_union_parts(Value v);

/* One getter of a type as a value: what `int.real` gives. */
typedef struct GetSet { Obj obj; const Getter *def; Type *owner; } GetSet;
extern Type getset_type;

/* The method wrappers behind dunder names (__add__, __len__...): NULL when the type lacks the slot. */
const Method *dunder_lookup(const Type *type, const Str *name);
TsrStatus dunder_list(List *names, const Type *type);

/* Repeats and concatenates sequences, shared by str, bytes, list and tuple: the count of `v * n`, or not handled. */
TsrStatus repeat_count(int64_t *out, Value v, int64_t size, bool *handled);
/* `times` copies of n bytes, into room for them; an interrupt ends it. */
TsrStatus repeat_bytes(char *to, const char *bytes, int64_t n, int64_t times);

/* A start or stop argument of find, index and the like, clamped; None leaves *out when `none_too`. "slice indices must be
 * integers or None or have an __index__ method". */
TsrStatus bound_argument(int64_t *out, Value v, bool none_too);

/* An index into a sequence of `type_name`: "list indices must be integers or slices, not str". */
TsrStatus sequence_index(int64_t *out, Value index, const char *type_name);

#endif
