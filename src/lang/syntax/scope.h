/* scope.h: where each name of a program lives, found before code is made.
 *
 * One Scope per module, function, lambda, generator expression and comprehension, in a tree that follows the
 * syntax. A list, set or dict comprehension runs in the frame of the function around it: its names are slots of
 * that frame which nothing else uses, so it has a scope and no frame. Everything lives in the tree's arena. */
#ifndef LANG_SYNTAX_SCOPE_H
#define LANG_SYNTAX_SCOPE_H

#include "ast.h"

typedef enum ScopeKind {
    SCOPE_MODULE,
    SCOPE_EVAL, /* code run in the frame of a function that is active: its names are given */
    SCOPE_FUNCTION,
    SCOPE_LAMBDA,
    SCOPE_GENERATOR,    /* a generator expression */
    SCOPE_COMPREHENSION /* no frame of its own */
} ScopeKind;

typedef enum Place {
    PLACE_GLOBAL, /* by name */
    PLACE_LOCAL,  /* slot `index` of the frame */
    PLACE_CELL,   /* a cell in slot `index` of the frame */
    PLACE_FREE    /* cell `index` of the function's closure */
} Place;

enum SymbolFlags {
    SYMBOL_BOUND = 1,
    SYMBOL_USED = 2,
    SYMBOL_PARAM = 4,
    SYMBOL_GLOBAL = 8,    /* declared so */
    SYMBOL_NONLOCAL = 16, /* declared so */
    SYMBOL_CAPTURED = 32, /* an inner function reads or binds it */
    SYMBOL_GIVEN = 64,    /* a name of the frame that SCOPE_EVAL code runs in */
    SYMBOL_DELETED = 128
};

typedef struct Symbol {
    const char *name;
    uint32_t hash;
    uint8_t flags;
    uint8_t place; /* Place, when resolved */
    int32_t index;
} Symbol;

/* How a closure gets one of its cells when its function is made. */
typedef enum CaptureFrom { CAPTURE_CELL, CAPTURE_FREE, CAPTURE_VALUE } CaptureFrom;
typedef struct Capture {
    const char *name;
    uint8_t from; /* CAPTURE_CELL, CAPTURE_VALUE: slot `index` of the frame around; CAPTURE_FREE: its closure's */
    int32_t index;
} Capture;

typedef struct Scope Scope;
struct Scope {
    ScopeKind kind;
    const Node *node; /* NULL for the root */
    Scope *parent;
    Scope *owner; /* the scope whose frame this one uses; itself but for comprehensions */
    Arena *arena;
    Symbol *symbols;
    int symbol_count, symbol_capacity;
    int32_t *table; /* hash table of indices into symbols, -1 empty; made when there are many */
    int table_size;
    Scope **children; /* in source order */
    int child_count, child_capacity, child_cursor;
    /* of owners */
    int slot_count; /* slots of names: parameters, locals, names of comprehensions */
    const char **slot_names;
    uint8_t *slot_is_cell;
    int slot_capacity;
    Capture *captures; /* what PLACE_FREE indexes */
    int capture_count, capture_capacity;
};

/* A name of the frame that eval code runs in. */
typedef struct GivenName {
    const char *name;
    Place place;
    int index;
} GivenName;

/* Scopes of a program. `given` is NULL for a module; else the names of a frame with `given_slots` slots of names.
 * TSR_SYNTAX_ERROR (with *where) for a nonlocal that has no binding. */
TsrStatus scope_analyse(Scope **out, const Ast *ast, const GivenName *given, int given_count, int given_slots,
                        SourceRange *where);

/* The scope that `node`, a direct child scope of `scope` in source order, opened. */
Scope *scope_child(Scope *scope, const Node *node);

/* Where `name` lives as seen from `scope`. */
Symbol scope_lookup(const Scope *scope, const char *name);

#endif
