/* native.h: native functions, bound methods, namespaces (modules), iterators, plain cells of state. */
#ifndef LANG_OBJECT_NATIVE_H
#define LANG_OBJECT_NATIVE_H

#include "gc.h"

typedef struct Native {
    GcObj gc;
    const Method *def;  /* static */
    Value self;         /* what it is bound to; V_UNBOUND: nothing */
    Type *owner;        /* whose method it is; NULL for functions */
    const char *module; /* "math"; NULL: builtins */
} Native;

typedef struct BoundMethod {
    GcObj gc;
    Value function, self;
} BoundMethod;

/* A namespace: math, torch.linalg. Attributes are in a dict, by hand or, of functions of tables, once they are asked
 * for. */
typedef struct Module {
    GcObj gc;
    Str *name;
    Dict *dict;
    const Method **tables;
    int64_t table_count, table_capacity;
    const char *doc;
    TsrStatus (*missing)(Value *out, struct Module *module,
                         Str *name);                      /* lazily made attributes; V_UNBOUND: none. NULL: none */
    TsrStatus (*names)(List *out, struct Module *module); /* their names, for dir; may be NULL */
} Module;

extern Type native_type, bound_native_type, method_type, method_descriptor_type, module_type;

/* A function of the table row; module may be NULL. */
TsrStatus native_new(Value *out, const Method *def, const char *module);
/* An unbound method of `owner` (str.upper); bound when self is given. */
TsrStatus native_new_method(Value *out, const Method *def, Type *owner, Value self);
TsrStatus bound_method_new(Value *out, Value function, Value self);
/* Checks the arity in `def` (self, if any, is args->values[0] and `skip` is 1) and calls. */
TsrStatus native_invoke(Value *out, const Method *def, const CallArgs *args, Type *owner);

TsrStatus module_new(Value *out, const char *name, const char *doc);
TsrStatus module_add(Module *module, const char *name, Value v);               /* retains */
TsrStatus module_add_move(Module *module, const char *name, Value v);          /* consumes, on failure too */
TsrStatus module_add_text(Module *module, const char *name, const char *text); /* a str */
/* Functions of a table (static), made when they are asked for; what was added by name goes before them. They print as
 * <built-in function name>. */
TsrStatus module_add_functions(Module *module, const Method *table);
/* What it holds by the name, made where it was not yet; V_UNBOUND: nothing. Unlike an attribute never __name__, __doc__
 * or __dict__. */
TsrStatus module_find(Value *out, Module *module, Str *name);
static inline Module *value_as_module(Value v) { return (Module *)v.o; }

/* --- the registry of what can be imported --- */
typedef TsrStatus (*ModuleMaker)(Value *out, const char *name);
/* `name` may be dotted ("torch.nn"). Made at the first import. Registered rows are static. */
TsrStatus module_register(const char *name, ModuleMaker make);
/* The module object, the same each time; ModuleNotFoundError "No module named 'x'". */
TsrStatus module_import(Value *out, const char *name);
bool module_known(const char *name); /* registered, imported or not */
/* Names that can be imported, appended as str. */
TsrStatus module_list(List *out);

/* --- iterators made by C code --- */
TsrStatus seq_iter_new(Value *out, Value list_or_tuple);
TsrStatus index_iter_new(Value *out, Value sequence); /* asks get_item for 0, 1, ... until IndexError */
TsrStatus sentinel_iter_new(Value *out, Value callable, Value sentinel);
extern Type enumerate_type, zip_type, map_type, filter_type, reversed_type;

#endif
