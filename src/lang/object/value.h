/* value.h: what the language computes with: values, objects, types, and the protocols over them.
 *
 * A Value is 16 bytes, passed by value. None, bool, small int and float are in it; a tensor is in it as one owning
 * reference to the core's struct; everything else is an Obj with a reference count (not atomic: the interpreter
 * is single threaded). A Type is a struct of slots; what an object can do stands in its type's slots and tables,
 * so dir(), help and hints come from the tables too.
 *
 * Ownership: a Value in a parameter is lent; a Value stored through `*out` is the caller's (value_release), one through
 * `*lent` is not. Slots and functions leave *out untouched, or V_UNBOUND, when they fail. Functions named `_move`
 * consume their argument. Errors: TsrStatus with the last error set, or TSR_RAISED with an exception object
 * pending (exc.h). Every call of a language function may change every container: hold references across it. */
#ifndef LANG_OBJECT_VALUE_H
#define LANG_OBJECT_VALUE_H

#include "core/error.h"
#include "core/mem.h"
#include "lang/syntax/operators.h"
#include "core/text.h"

typedef struct TsrTensor TsrTensor;
TsrTensor *tsr_tensor_retain(TsrTensor *t);
void tsr_tensor_free(TsrTensor *t);

typedef struct Obj Obj;
typedef struct Type Type;
typedef struct Str Str;
typedef struct Dict Dict;
typedef struct List List;

typedef enum ValueTag {
    V_UNBOUND, /* no value: a name not assigned yet, an absent argument, "not handled", the end of an iterator */
    V_NONE,
    V_BOOL,
    V_INT, /* fits int64; larger ints are V_OBJ of int_type (lang/types/numbers.h) */
    V_FLOAT,
    V_TENSOR, /* from here on: counted */
    V_OBJ
} ValueTag;

typedef struct Value {
    uint32_t nan; /* V_FLOAT: which nan it is, for in Python each is an object of its own; 0 for all else */
    uint32_t tag;
    union {
        bool b;
        int64_t i;
        double f;
        Obj *o;
        TsrTensor *t;
    };
} Value;

struct Obj {
    union {
        struct {
            uint32_t refcount;
            uint32_t flags; /* ObjFlags */
        };
        Obj *next_dead; /* while it waits to be freed */
    };
    Type *type;
};

enum ObjFlags {
    OBJ_TRACKED = 1 /* by the cycle collector */,
    OBJ_INTERNED = 2 /* a Str */,
    OBJ_MARK = 4 /* for the type's own use */
};

/* Containers that can be part of a cycle begin with this (types with TYPE_GC). */
typedef struct GcObj {
    Obj obj;
    struct GcObj *gc_next, *gc_prev;
    int64_t gc_count;
} GcObj;

/* --- arguments --- */

/* Positional values, then keyword values: values[count + i] belongs to names[i] (interned). All lent. */
typedef struct CallArgs {
    const Value *values;
    int count;
    int keyword_count;
    Str *const *names;
    bool spent; /* the caller lets the values go right after, and looks at none: of an operator only, whose result may
                   take the memory of one */
} CallArgs;

typedef TsrStatus (*NativeFn)(Value *out, const CallArgs *args);

enum {
    ARGS_NONE = 1,
    ARGS_ONE = 2,
    ARGS_RANGE = 4 /* min to max positional, no keywords */,
    ARGS_ANY = 8 /* it parses its own */,
    ARGS_TUPLE = 128 /* with ARGS_RANGE: the wording of functions that parse a tuple: "f() takes at least 1 argument (0
                        given)" */
    ,
    METHOD_STATIC = 16,
    METHOD_CLASS = 32 /* gets the Type first */,
    METHOD_DUNDER = 64
};

/* One native function: of a type (values[0] is self) or of a namespace. Arity excludes self. Static lifetime. */
typedef struct Method {
    const char *name; /* NULL ends a table */
    NativeFn call;
    int flags;             /* one ARGS_*, METHOD_* */
    int min, max;          /* how many, for ARGS_RANGE; max -1: no limit */
    const char *signature; /* "(object, /)"; may be NULL */
    const char *doc;       /* one line; may be NULL */
} Method;

/* A computed attribute. `set` may be NULL (read-only). */
typedef struct Getter {
    const char *name;
    TsrStatus (*get)(Value *out, Value self);
    TsrStatus (*set)(Value self, Value value);
    const char *doc;
} Getter;

/* --- types --- */

typedef TsrStatus (*GcVisit)(Obj *object, void *context);

enum TypeFlags {
    TYPE_GC = 1,       /* instances begin with a GcObj */
    TYPE_SEQUENCE = 2, /* binary + and * are concatenation and repetition */
    TYPE_EXCEPTION = 4,
    TYPE_METHOD = 8,  /* instances found on a type are methods: v.name(...) calls them with v first */
    TYPE_ATOMIC = 16, /* instances never change: a copy of one, deep too, is the instance itself */
    TYPE_OPERATOR =
        32 /* calling an instance runs an operator on tensors: it is told which arguments die with the call */
};

struct Type {
    Obj obj;            /* a type is a value; static ones are never freed */
    const char *name;   /* "int": __name__ */
    const char *module; /* NULL: builtins. repr is <class 'module.name'> */
    Type *base;         /* NULL for object only; filled in with &object_type when left out */
    uint32_t flags;
    const char *doc;

    /* The slots, down to instance_check: functions all of them (type_inherit goes over them). */
    TsrStatus (*construct)(Value *out, Type *type, const CallArgs *args); /* type(...); NULL: cannot create instances */
    void (*destroy)(Obj *self); /* releases what it holds and frees the memory (obj_free) */
    void (*traverse)(
        Obj *self, GcVisit visit,
        void *context); /* TYPE_GC: visits every Obj it holds; other types that hold tensors: for torch/holders.c */
    void (*clear)(Obj *self); /* TYPE_GC: drops what it holds, to break a cycle */

    TsrStatus (*repr)(TsrText *out, Value self);
    void (*copied)(Value self); /* another name was bound to it from a name: warns; NULL: as one likes */
    TsrStatus (*str)(TsrText *out, Value self); /* NULL: as repr */
    TsrStatus (*format)(TsrText *out, Value self, const char *spec,
                        size_t size);                                 /* NULL: only the empty spec, as str */
    TsrStatus (*hash)(int64_t *out, Value self);                      /* NULL: by identity, unless NO_HASH */
    TsrStatus (*compare)(Value *out, CompareOp op, Value a, Value b); /* EQ to GE; V_UNBOUND: not handled */
    TsrStatus (*number)(
        Value *out, Value self); /* what float() and int() take it for; NULL: it is none, unless they know the type */
    TsrStatus (*truth)(bool *out, Value self); /* NULL: by length, else true */
    TsrStatus (*length)(int64_t *out, Value self);
    TsrStatus (*get_item)(Value *out, Value self, Value index);
    TsrStatus (*set_item)(Value self, Value index, Value value);
    TsrStatus (*del_item)(Value self, Value index);
    TsrStatus (*contains)(bool *out, Value self, Value item); /* NULL: by iteration */
    TsrStatus (*iter)(Value *out, Value self);
    TsrStatus (*iter_next)(Value *out, Value self); /* V_UNBOUND at the end */
    TsrStatus (*call)(Value *out, Value self, const CallArgs *args);
    TsrStatus (*get_attr)(Value *out, Value self, Str *name);  /* asked before the tables; V_UNBOUND: go on */
    TsrStatus (*set_attr)(Value self, Str *name, Value value); /* value V_UNBOUND: delete */
    TsrStatus (*binary)(Value *out, BinaryOp op, Value a,
                        Value b); /* either operand may be self; V_UNBOUND: not handled */
    TsrStatus (*inplace)(Value *out, BinaryOp op, Value self, Value b); /* V_UNBOUND: fall back to binary */
    TsrStatus (*unary)(Value *out, UnaryOp op, Value self);             /* V_UNBOUND: not handled */
    TsrStatus (*dir)(List *names, Value self);                          /* further names for dir(): appends str */
    TsrStatus (*descriptor_get)(
        Value *out, Value descriptor,
        Value self); /* what self.name gives when an instance is found on self's type; NULL: itself */
    TsrStatus (*copy)(Value *out, Value self,
                      Dict *memo); /* copy.copy, with a memo copy.deepcopy; NULL: refused, unless TYPE_ATOMIC */
    TsrStatus (*lookup)(Value *out, Type *type,
                        Str *name); /* attributes beyond the tables, the caller's; asked once a name; V_UNBOUND: none */
    TsrStatus (*instance_check)(bool *out, Type *type, Value v); /* isinstance(v, type); NULL: by v's type */
    const Method *methods;
    const Getter *getters;
    int next_is_identity_iter; /* non-zero: iter(self) is self */
    Dict *cache;               /* name to method, built at first use; owned */
};

extern Type object_type, type_type, none_type, bool_type, int_type, float_type;

/* The attribute that a type or its bases define: a descriptor; V_UNBOUND: none. */
TsrStatus type_lookup(Value *lent, Type *type, Str *name);

/* Whether v is a function that runs an operator on tensors, torch.add or Tensor.add. */
static inline bool value_is_operator(Value v) { return v.tag == V_OBJ && (v.o->type->flags & TYPE_OPERATOR) != 0; }

/* hash slot of a type whose values can't be hashed: "unhashable type: 'list'". */
TsrStatus hash_refused(int64_t *out, Value self);

/* The type of V_TENSOR values; registered once by the binding. */
void value_set_tensor_type(Type *type);
extern Type *tensor_type;

/* --- making and holding --- */

#define VALUE_UNBOUND ((Value){.tag = V_UNBOUND, {.i = 0}})
#define VALUE_NONE ((Value){.tag = V_NONE, {.i = 0}})
#define VALUE_TRUE ((Value){.tag = V_BOOL, {.i = 1}})
#define VALUE_FALSE ((Value){.tag = V_BOOL, {.i = 0}})
static inline Value value_bool(bool b) { return (Value){.tag = V_BOOL, {.i = b}}; }
static inline Value value_int(int64_t i) { return (Value){.tag = V_INT, {.i = i}}; }
extern uint32_t value_nans; /* nans made so far; after 2^32 they repeat */
/* A nan is another one each time, so that [nan] == [nan] asks, as Python does, whether it is the same object twice. */
static inline Value value_float(double f) {
    return (Value){.nan = TSR_UNLIKELY(f != f) ? ++value_nans : 0, .tag = V_FLOAT, {.f = f}};
}
/* Both take over the caller's reference. */
static inline Value value_obj_move(void *object) { return (Value){.tag = V_OBJ, {.o = object}}; }
static inline Value value_tensor_move(TsrTensor *t) { return (Value){.tag = V_TENSOR, {.t = t}}; }
/* The same object as a lent value. */
static inline Value value_lent(void *object) { return (Value){.tag = V_OBJ, {.o = object}}; }

void obj_dealloc(Obj *object); /* refcount reached 0: frees without deep recursion */
static inline void *obj_retain(void *object) {
    ((Obj *)object)->refcount++;
    return object;
}
static inline void obj_release(void *object) {
    if (--((Obj *)object)->refcount == 0) obj_dealloc(object);
}
static inline void obj_xrelease(void *object) {
    if (object != NULL) obj_release(object);
}

static inline Value value_retain(Value v) {
    if (v.tag >= V_TENSOR) {
        if (v.tag == V_OBJ) v.o->refcount++;
        else tsr_tensor_retain(v.t);
    }
    return v;
}
static inline void value_release(Value v) {
    if (v.tag >= V_TENSOR) {
        if (v.tag == V_OBJ) obj_release(v.o);
        else tsr_tensor_free(v.t);
    }
}
/* Replaces *slot by `v` (consumed), releasing the old value last. */
static inline void value_set_move(Value *slot, Value v) {
    Value old = *slot;
    *slot = v;
    value_release(old);
}
static inline void value_clear(Value *slot) {
    Value old = *slot;
    *slot = VALUE_UNBOUND;
    value_release(old);
}
/* Ends a function that made `v`: *out takes it over when `status` is TSR_OK, else it is released. Returns `status`. */
static inline TsrStatus value_end_move(Value *out, TsrStatus status, Value v) {
    if (status == TSR_OK) *out = v;
    else value_release(v);
    return status;
}
void values_release(Value *values, int64_t count); /* releases each; the array stays */

/* Memory for an instance, `size` bytes, header filled, refcount 1; NULL with TSR_MEMORY_ERROR set. Small sizes come
 * from free lists. A TYPE_GC object is tracked by gc_track (gc.h) once it is whole. */
void *obj_new(Type *type, size_t size);
void obj_free(void *object, size_t size); /* the memory alone; for destroy slots; untracks */
/* For tests that look for leaks: bytes of the block that the first small objects are cut from, less what was cut. */
int64_t obj_room_left(void);
TsrStatus mem_error(void) __attribute__((cold)); /* TSR_MEMORY_ERROR, with CPython's empty message */
/* Grows *items so that `wanted` of `size` bytes fit. TSR_MEMORY_ERROR leaves all as it was. */
TsrStatus mem_grow(void *items, int64_t *capacity, int64_t wanted, size_t size);

/* --- kinds --- */

static inline Type *value_type(Value v) {
    extern Type *const value_immediate_types[];
    return v.tag == V_OBJ ? v.o->type : v.tag == V_TENSOR ? tensor_type : value_immediate_types[v.tag];
}
static inline const char *value_type_name(Value v) { return value_type(v)->name; }
/* As value_type_name, but "None" for None: how argument checks name it. */
static inline const char *value_shown_type(Value v) { return v.tag == V_NONE ? "None" : value_type_name(v); }
static inline bool value_is_obj(Value v, const Type *type) { return v.tag == V_OBJ && v.o->type == type; }
bool type_is_subtype(const Type *type, const Type *ancestor);
static inline bool value_is_a(Value v, const Type *type) {
    Type *t = value_type(v);
    return t == type || type_is_subtype(t, type);
}
static inline bool value_is_none(Value v) { return v.tag == V_NONE; }
/* The 64 bits that tell a value from others of its tag: of a counted one its address, which is narrower than `.i` where
 * pointers have 32 bits (the rest of `.i` was set by nobody). */
static inline uint64_t value_bits(Value v) { return v.tag >= V_TENSOR ? (uint64_t)(uintptr_t)v.o : (uint64_t)v.i; }
static inline bool value_is_same(Value a, Value b) { /* `is` */
    return a.tag == b.tag && (a.tag <= V_NONE || (value_bits(a) == value_bits(b) && a.nan == b.nan));
}
/* Makes `type` a kind of `from`: its slots are copied, methods and attributes found through the base. Names are static.
 */
void type_derive(Type *type, Type *from, const char *name, const char *module);
/* Fills the slots that a static type leaves NULL from its base, and adds the base's flags. Again does no harm. */
void type_inherit(Type *type);
/* "module.name" as CPython prints a type in messages of its own. Lent, static buffer per call site of two. */
const char *type_full_name(const Type *type);
const char *type_short_name(
    const Type *type); /* __name__: without the module's, which some carry in front (torch.Size) */

/* --- protocols: each is the operation of the language, with its errors --- */

TsrStatus value_repr(TsrText *out, Value v);   /* appends */
TsrStatus value_str(TsrText *out, Value v);    /* appends */
TsrStatus value_ascii(TsrText *out, Value v);  /* appends */
TsrStatus value_new_repr(Value *out, Value v); /* as a str */
TsrStatus value_new_str(Value *out, Value v);
TsrStatus value_format(TsrText *out, Value v, const char *spec, size_t size); /* format(v, spec); appends */
/* One field of an f-string: conversion 0, 'r', 's' or 'a', then the spec. Appends. */
TsrStatus value_format_field(TsrText *out, Value v, int conversion, const char *spec, size_t size);

TsrStatus value_hash(int64_t *out, Value v);
TsrStatus value_truth(bool *out, Value v);
TsrStatus value_equal(bool *out, Value a, Value b);                      /* identity, else truth of a == b */
TsrStatus value_compare(Value *out, CompareOp op, Value a, Value b);     /* all of CompareOp */
TsrStatus value_compare_bool(bool *out, CompareOp op, Value a, Value b); /* its truth */
TsrStatus value_compare_by(Value *out, CompareOp op, TsrStatus (*key)(Value *out, Value v), Value a,
                           Value b); /* compares key(a) and key(b) */
TsrStatus value_binary(Value *out, BinaryOp op, Value a, Value b);
TsrStatus value_inplace(Value *out, BinaryOp op, Value a, Value b);
TsrStatus value_unary(Value *out, UnaryOp op, Value v);
/* A hint for the binary and unary slots of tensors: the operand is a temporary of an expression that the evaluator lets
 * go right after: with a count of 1 its memory may become the result's. 0 elsewhere. */
enum { DYING_LEFT = 1, DYING_RIGHT = 2 };
extern unsigned value_dying;

TsrStatus value_length(int64_t *out, Value v);
/* As length, but an estimate: `fallback` when there is none; never fails. */
int64_t value_length_hint(Value v, int64_t fallback);
TsrStatus value_getitem(Value *out, Value v, Value index);
TsrStatus value_setitem(Value v, Value index, Value value);
TsrStatus value_delitem(Value v, Value index);
TsrStatus value_contains(bool *out, Value container, Value item);
TsrStatus value_iter(Value *out, Value v);
TsrStatus value_next(Value *out, Value iterator); /* V_UNBOUND at the end */
/* Calls visit(item) for each item of an iterable; stops at the first failure, at an interrupt, or, unless `stop` is
 * NULL, once *stop is set. */
typedef TsrStatus (*ItemVisit)(Value item, void *context);
TsrStatus value_each(Value iterable, ItemVisit visit, void *context, const bool *stop);

TsrStatus value_getattr(Value *out, Value v, Str *name);
/* As getattr, but a missing attribute gives V_UNBOUND and no error. */
TsrStatus value_lookup_attr(Value *out, Value v, Str *name);
TsrStatus value_setattr(Value v, Str *name, Value value);
TsrStatus value_delattr(Value v, Str *name);
/* For v.name(...): *callee and *self (V_UNBOUND when callee needs none) such that value_call with self before the
 * other arguments makes the call; no bound method is made. Both are the caller's. */
TsrStatus value_load_method(Value *callee, Value *self, Value v, Str *name);
TsrStatus value_dir(Value *out, Value v); /* a sorted list of str */

TsrStatus value_call(Value *out, Value callee, const CallArgs *args);
TsrStatus value_call_n(Value *out, Value callee, int count, const Value *values); /* positional only */
/* Whether a predicate holds for an item; by None, whether the item is true. */
TsrStatus value_holds(bool *out, Value predicate, Value item);
bool value_is_callable(Value v);
/* Calls v.name(values...). */
TsrStatus value_call_method(Value *out, Value v, const char *name, int count, const Value *values);

/* --- C values out of language values --- */

/* v.__index__(), an int that the caller releases. A tensor of one integer is an index; else TypeError "'float' object
 * cannot be interpreted as an integer". */
TsrStatus value_new_index(Value *out, Value v);
/* The same as int64. Neither: "'float' object cannot be interpreted as an integer"; too large: OverflowError
 * "Python int too large to convert to C ssize_t". */
TsrStatus value_to_index(int64_t *out, Value v);
/* The same as int; too large: "Python int too large to convert to C int". */
TsrStatus value_to_c_int(int *out, Value v);
/* As value_to_index but clamped to the int64 range, as slices and repetition counts want. */
TsrStatus value_to_index_clamped(int64_t *out, Value v);
/* float(v)'s rule for arguments that are numbers: int (OverflowError when too large), float, bool, or a tensor of
 * one element; else "must be real number, not str". */
TsrStatus value_to_double(double *out, Value v);
static inline bool value_is_int(Value v) { return v.tag == V_INT || v.tag == V_BOOL || value_is_obj(v, &int_type); }
/* Hooks by which tensors take part in the two above: *handled says whether v was a tensor that converts. */
typedef struct TensorHooks {
    TsrStatus (*to_index)(Value *out, Value v);  /* an int value */
    TsrStatus (*to_number)(Value *out, Value v); /* int, float, bool or complex value, as item() */
} TensorHooks;
extern TensorHooks tensor_hooks;

/* --- recursion --- */

/* Depth shared by everything that nests: evaluator frames, repr, compare, native callbacks. */
extern int recursion_depth, recursion_limit;
TsrStatus recursion_error(const char *where) __attribute__((cold)); /* "maximum recursion depth exceeded" + where */
static inline TsrStatus recursion_enter(const char *where) {
    if (TSR_UNLIKELY(recursion_depth >= recursion_limit)) return recursion_error(where);
    recursion_depth++;
    return TSR_OK;
}
static inline void recursion_leave(void) { recursion_depth--; }

/* For containers' repr: entering an object that is being printed gives *again true (print "[...]"). */
typedef struct ReprGuard {
    Obj *object;
    struct ReprGuard *outer;
} ReprGuard;
TsrStatus repr_enter(ReprGuard *guard, Obj *object, bool *again);
void repr_leave(ReprGuard *guard); /* only after repr_enter gave OK and not again */

/* --- static data --- */

#define TYPE_HEADER \
    { {{0x40000000u, 0}}, &type_type }
extern Obj ellipsis_object, not_implemented_object;
#define VALUE_ELLIPSIS value_lent(&ellipsis_object) /* retain it to keep it */
#define VALUE_NOT_IMPLEMENTED value_lent(&not_implemented_object)

/* Start and end of the interpreter: interned strings, caches, the collector. value_shutdown frees all of it. */
TsrStatus value_startup(void);
void value_shutdown(void);

#endif
