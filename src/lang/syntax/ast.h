/* ast.h: the syntax tree, as Python's `ast` module names it.
 *
 * Every node, list and string of a tree lives in one Arena, freed at once by ast_free: nothing in a tree is freed
 * singly, and what outlives the tree must be copied. Nodes are plain structs for the compiler to read.
 * The height of a tree is bounded (AST_MAX_HEIGHT), so that walks may recurse. */
#ifndef LANG_SYNTAX_AST_H
#define LANG_SYNTAX_AST_H

#include "operators.h"
#include "source.h"

enum { AST_MAX_HEIGHT = 1500 };

typedef struct Arena Arena;
Arena *arena_new(void);
void arena_free(Arena *arena);
/* `bytes` of zeroed memory aligned to 16, alive as long as the arena. NULL when memory is short. */
void *arena_alloc(Arena *arena, size_t bytes);
/* A copy with a NUL after it. */
char *arena_copy(Arena *arena, const char *text, size_t length);

typedef enum NodeKind {
    /* expressions */
    AST_CONSTANT,    /* .constant */
    AST_NAME,        /* .name */
    AST_TUPLE,       /* .list; elements may be AST_STARRED */
    AST_LIST,        /* .list */
    AST_SET,         /* .list */
    AST_DICT,        /* .dict */
    AST_UNARY,       /* .unary */
    AST_BINARY,      /* .binary */
    AST_BOOL,        /* .boolean: two values or more */
    AST_COMPARE,     /* .compare */
    AST_CONDITIONAL, /* .conditional: body if test else orelse */
    AST_CALL,        /* .call */
    AST_ATTRIBUTE,   /* .attribute */
    AST_SUBSCRIPT,   /* .subscript */
    AST_SLICE,       /* .slice: only as (part of) a subscript's index */
    AST_STARRED,     /* .value */
    AST_LAMBDA,      /* .function: no name, .value the body */
    AST_LIST_COMP,   /* .comprehension */
    AST_SET_COMP,    /* .comprehension */
    AST_DICT_COMP,   /* .comprehension, with .key */
    AST_GENERATOR,   /* .comprehension */
    AST_NAMED,       /* .named: target := value */
    AST_YIELD,       /* .value, NULL for a bare yield */
    AST_YIELD_FROM,  /* .value */
    AST_JOINED,      /* .list: an f-string; AST_CONSTANT strings and AST_FORMATTED */
    AST_FORMATTED,   /* .formatted: {value!r:spec}, only in AST_JOINED */
    /* statements */
    AST_EXPR,       /* .value */
    AST_ASSIGN,     /* .assign: targets[0] = targets[1] = ... = value */
    AST_AUG_ASSIGN, /* .augmented: target op= value */
    AST_ANN_ASSIGN, /* .annotated */
    AST_IF,         /* .branch; elif is an AST_IF alone in orelse */
    AST_WHILE,      /* .branch */
    AST_FOR,        /* .loop */
    AST_DEF,        /* .function */
    AST_RETURN,     /* .value, may be NULL */
    AST_DELETE,     /* .list: the targets */
    AST_PASS,
    AST_BREAK,
    AST_CONTINUE,
    AST_GLOBAL,      /* .names */
    AST_NONLOCAL,    /* .names */
    AST_ASSERT,      /* .assertion */
    AST_RAISE,       /* .raise */
    AST_TRY,         /* .attempt */
    AST_HANDLER,     /* .handler: only in AST_TRY's handlers */
    AST_WITH,        /* .with */
    AST_IMPORT,      /* .import */
    AST_IMPORT_FROM, /* .import */
    AST_KIND_COUNT
} NodeKind;

/* How a name, attribute, subscript, starred, list or tuple is used. */
typedef enum Context { CTX_LOAD, CTX_STORE, CTX_DELETE } Context;

typedef enum ConstantKind {
    CONST_NONE,
    CONST_TRUE,
    CONST_FALSE,
    CONST_ELLIPSIS,
    CONST_INT,       /* .text: digits of base .base, no prefix, no underscores; any length */
    CONST_FLOAT,     /* .number */
    CONST_IMAGINARY, /* .number, times 1j */
    CONST_STR,       /* .text, .length: UTF-8, decoded, may hold NULs; a lone surrogate is its three bytes */
    CONST_BYTES      /* .text, .length */
} ConstantKind;

typedef struct Node Node;

typedef struct NodeList {
    Node **items;
    int count;
} NodeList;

/* Parameters stand in source order: positional-only, normal, *args, keyword-only, **kwargs. */
typedef enum ParamKind {
    PARAM_POSITIONAL_ONLY,
    PARAM_NORMAL,
    PARAM_STAR,
    PARAM_KEYWORD_ONLY,
    PARAM_DOUBLE_STAR
} ParamKind;
typedef struct Param {
    const char *name;
    ParamKind kind;
    Node *annotation;    /* or NULL */
    Node *default_value; /* or NULL */
    SourceRange at;
} Param;

typedef struct Keyword {
    const char *name; /* NULL for **value */
    Node *value;
    SourceRange at;
} Keyword;

typedef struct Comprehension { /* for target in iterable if conditions[0] if conditions[1] ... */
    Node *target, *iterable;
    NodeList conditions;
} Comprehension;

typedef struct WithItem {
    Node *context, *target; /* target may be NULL */
} WithItem;

typedef struct Alias {
    const char *name;   /* dotted for `import`; "*" for from x import * */
    const char *asname; /* or NULL */
    SourceRange at;
} Alias;

typedef struct BoundName { /* of global and nonlocal */
    const char *name;
    SourceRange at;
} BoundName;

struct Node {
    uint8_t kind;    /* NodeKind */
    uint8_t ctx;     /* Context */
    uint8_t parens;  /* written within parentheses of its own */
    uint16_t height; /* 1 + the tallest child */
    SourceRange at;
    union {
        struct {
            ConstantKind kind;
            int base;
            const char *text;
            size_t length;
            double number;
        } constant;
        struct {
            const char *id;
        } name; /* NFKC; the same pointer for the same name within a tree */
        NodeList list;
        struct {
            NodeList keys, values;
        } dict; /* a NULL key: **value */
        struct {
            UnaryOp op;
            Node *operand;
        } unary;
        struct {
            BinaryOp op;
            Node *left, *right;
            SourceRange op_at;
        } binary;
        struct {
            bool is_or;
            NodeList values;
        } boolean;
        struct {
            Node *left;
            uint8_t *ops;
            NodeList comparators;
        } compare; /* ops[i]: a CompareOp before comparators[i] */
        struct {
            Node *test, *body, *orelse;
        } conditional;
        struct {
            Node *func;
            NodeList args;
            Keyword *keywords;
            int keyword_count;
        } call; /* args may be AST_STARRED; *a after k=v stays in args */
        struct {
            Node *value;
            const char *name;
            SourceRange name_at;
        } attribute;
        struct {
            Node *value, *index;
        } subscript;
        struct {
            Node *lower, *upper, *step;
        } slice; /* each may be NULL */
        Node *value;
        struct {              /* AST_DEF and AST_LAMBDA */
            const char *name; /* NULL for a lambda */
            Param *params;
            int param_count;
            Node *returns;       /* annotation or NULL */
            NodeList body;       /* AST_DEF */
            Node *value;         /* AST_LAMBDA */
            bool is_generator;   /* has a yield of its own */
            NodeList decorators; /* AST_DEF; as written: the last one is called first */
            int first_line;      /* the first decorator's, or the def's own */
            SourceRange name_at;
        } function;
        struct {
            Node *element, *key;
            Comprehension *generators;
            int generator_count;
        } comprehension; /* {key: element for ...} */
        struct {
            Node *target, *value;
        } named;
        struct {
            Node *value;
            int conversion;
            Node *spec;
        } formatted; /* conversion 0, 'r', 's', 'a'; spec AST_JOINED or NULL */
        struct {
            NodeList targets;
            Node *value;
        } assign;
        struct {
            BinaryOp op;
            Node *target, *value;
            SourceRange op_at;
        } augmented;
        struct {
            Node *target, *annotation, *value;
            bool simple;
        } annotated; /* value may be NULL; simple: a bare name */
        struct {
            Node *test;
            NodeList body, orelse;
        } branch;
        struct {
            Node *target, *iterable;
            NodeList body, orelse;
        } loop;
        struct {
            BoundName *items;
            int count;
        } names;
        struct {
            Node *test, *message;
        } assertion; /* message may be NULL */
        struct {
            Node *exception, *cause;
        } raise; /* both may be NULL */
        struct {
            NodeList body, handlers, orelse, finally;
        } attempt;
        struct {
            Node *type;
            const char *name;
            NodeList body;
        } handler; /* both may be NULL */
        struct {
            WithItem *items;
            int count;
            NodeList body;
        } with;
        struct {
            const char *module;
            int level;
            Alias *names;
            int count;
        } import; /* module NULL for `import` */
    };
};

/* A parsed program or statement. */
typedef struct Ast {
    Arena *arena;
    Source *source; /* retained */
    NodeList body;  /* statements */
} Ast;

void ast_free(Ast *ast); /* the tree, its arena and its reference to the source; NULL is fine */

#endif
