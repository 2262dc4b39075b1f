/* exc.h: exception objects, and the one that is being raised.
 *
 * A failing function either sets the thread's last error and returns its kind (no object is made), or makes an
 * exception object pending here and returns TSR_RAISED. exc_fetch turns both into an object when somebody
 * catches. The types stand in src/core/error.def. */
#ifndef LANG_OBJECT_EXC_H
#define LANG_OBJECT_EXC_H

#include "value.h"

typedef struct Tuple Tuple;

typedef struct Exc {
    GcObj gc;
    TsrStatus kind;
    Tuple *args;           /* owned */
    Value cause;           /* __cause__; V_UNBOUND or V_NONE: none */
    Value context;         /* __context__ */
    bool suppress_context; /* raise X from ... */
    Value value;           /* StopIteration.value, SystemExit.code, OSError's filename; V_UNBOUND: none */
    Dict *attributes;      /* set by hand (e.x = 1); NULL: none. Owned */
    char *hint;            /* by tsr_malloc, or NULL */
    Value trace;           /* the evaluator's record of frames; V_UNBOUND: none */
    Value notes;
} Exc;

extern Type exc_types[TSR_STATUS_COUNT]; /* index: the status */
#define EXC_TYPE(kind) (&exc_types[kind])
static inline bool value_is_exc(Value v) { return v.tag == V_OBJ && (v.o->type->flags & TYPE_EXCEPTION) != 0; }
static inline Exc *value_exc(Value v) { return (Exc *)v.o; }
bool type_is_exception(const Type *type);

/* An object kind(args...). */
TsrStatus exc_new(Value *out, TsrStatus kind, int count, const Value *args);

/* Makes `exception`, which is consumed, pending; returns TSR_RAISED. */
TsrStatus exc_raise_move(Value exception);
/* raise kind(arg), arg lent: KeyError(key), StopIteration(value). */
TsrStatus exc_raise_value(TsrStatus kind, Value arg);
/* The operand of `raise`: an exception, or an exception type, which is called; else TypeError. `cause` V_UNBOUND: no
 * from. */
TsrStatus exc_raise_operand(Value operand, Value cause);

/* Takes what `status` stands for as an object, and clears the error and pending states: *out is the caller's. When
 * memory is too short for an object, *out is a preallocated MemoryError. Never fails. `context`: what was being
 * handled (V_UNBOUND: nothing), set as __context__. */
void exc_fetch(Value *out, TsrStatus status, Value context);
void exc_discard(TsrStatus status); /* forgets the error */
/* Whether the error behind `status` is of this kind. */
bool exc_matches(TsrStatus status, TsrStatus kind);
/* `except type:` - a type or tuple of types; *out whether it catches. TypeError when it isn't one. */
TsrStatus exc_match_operand(bool *out, Value exception, Value type);
/* The pending object, lent; V_UNBOUND if none. */
Value exc_pending(void);
/* The status of the error there is, for a function that told of it by NULL: TSR_RAISED where an object is pending, else
 * the kind of the last error. */
TsrStatus exc_status(void);

/* "Type: message", the last line of a report, appended; "Type" alone when the message is empty. */
TsrStatus exc_write_line(TsrText *out, Value exception);
/* str(e), appended. */
TsrStatus exc_message(TsrText *out, Value exception);
/* Exit status of an uncaught SystemExit: its code; *message (lent) is printed on stderr when it is not NULL-valued. */
int exc_exit_status(Value exception, Value *message);

#endif
