/* lazy.h: pointwise results that wait within one expression, to be computed in one pass (core/fuse.h).
 *
 * The compiler marks an operator whose result only another operator of the same expression uses, when nothing between
 * the two could change an operand. Its result may then be a Lazy: an object that only those operators ever see. */
#ifndef LANG_VM_LAZY_H
#define LANG_VM_LAZY_H

#include "core/engine/fuse.h"
#include "lang/object/value.h"

typedef struct Lazy {
    Obj obj;
    TsrFused f;
} Lazy;

extern Type lazy_type;
static inline bool value_is_lazy(Value v) { return v.tag == V_OBJ && v.o->type == &lazy_type; }

/* One more operator. *out: a Lazy, or when `last` the tensor; V_UNBOUND when the operands do not fit together, and
 * nothing was done. A Lazy operand is used up by success: the caller releases it without another use. */
TsrStatus lazy_binary(Value *out, BinaryOp op, Value a, Value b, bool last);
TsrStatus lazy_unary(Value *out, UnaryOp op, Value v, bool last);
TsrStatus lazy_compare(Value *out, CompareOp op, Value a, Value b, bool last);
/* where(condition, a, b) of a condition that waits. */
TsrStatus lazy_where(Value *out, Value condition, Value a, Value b, bool last);
/* The function `name` of torch ("exp") on v; V_UNBOUND also when it is not one that can wait. */
TsrStatus lazy_call(Value *out, const char *name, Value v, bool last);
/* While a trace is on every operator runs by itself: called with the bytes of each result that would have waited
 * otherwise, and so never have been allocated. NULL by default. */
extern void (*lazy_not_held)(int64_t bytes);
/* Replaces *slot, a Lazy, by its sum, or mean, over all elements. Other values stay. */
TsrStatus lazy_sum(Value *slot, bool mean);
/* Replaces *slot, a Lazy, by its tensor. Other values stay. */
TsrStatus lazy_force(Value *slot);
/* Whether a call of a function of that name may be marked (the compiler's question: it knows only the name). */
bool lazy_is_function_name(const char *name);

/* The name of the operator that a call of `f` runs, "" for a form of it whose results never wait, NULL when `f` is no
 * operator's function. Set by who makes such functions. */
extern const char *(*lazy_operator_name)(Value f);
static inline const char *lazy_name_of(Value f) { return value_is_operator(f) ? lazy_operator_name(f) : NULL; }

#endif
