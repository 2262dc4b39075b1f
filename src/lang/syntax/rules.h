/* rules.h: what the parts of the parser share (parser.c, parse_*.c, expression.c, statement.c, literal.c, check.c).
 * Nobody else includes it.
 *
 * A rule returns a node, or NULL when the text does not match it. NULL with `failed` set means that an error was
 * raised and everything unwinds; NULL without it only says "not this", and the caller may try another rule from an
 * earlier place. A text that no rule matches is read again with `diagnose` on: then the rules also look for the
 * usual mistakes and raise the particular message (CPython's two passes).
 *
 * From the ground: parser.c; the expressions; statement.c, check.c, program.c. The files of the expressions go round as
 * the grammar does, and only there: expression.c > operator.c > primary.c > literal.c (f-strings), bracket.c and
 * arguments > expression.c, with parameter.c beside lambda. */
#ifndef LANG_SYNTAX_RULES_H
#define LANG_SYNTAX_RULES_H

#include "ast.h"
#include "lexer.h"

/* Binding powers, weakest first. */
typedef enum Power {
    POWER_NONE,
    POWER_OR,
    POWER_AND,
    POWER_NOT,
    POWER_COMPARE,
    POWER_BITOR,
    POWER_BITXOR,
    POWER_BITAND,
    POWER_SHIFT,
    POWER_SUM,
    POWER_TERM,
    POWER_UNARY,
    POWER_POW
} Power;

typedef struct MemoRow {
    int32_t key, end; /* key 0: free */
    Node *node;
} MemoRow;

typedef struct Names { /* a set of strings, by pointer once in it */
    const char **rows;
    size_t count, room;
} Names;

typedef struct Parser {
    Lexer *lexer;
    Source *source; /* lent */
    Arena *arena;   /* lent */
    Token *tokens;
    int count, pos;
    size_t room;  /* of `tokens` */
    Node **stack; /* lists under construction */
    int stack_count;
    size_t stack_room;
    bool second_pass, diagnose, failed, in_format; /* in_format: the expression of an f-string */
    int depth;                                     /* how deep rules nest that need no brackets for it */
    int dict_mistakes;
    long steps; /* left to the second pass before it gives up */
    TsrStatus status;
    SourceRange where;
    char *message; /* in the arena, or static */
    Names *names;
    MemoRow *memo;
    size_t memo_room, memo_count;
} Parser;

/* ---- tokens ---- */
Token *parse_token(Parser *p);                /* the next token */
TokenKind parse_peek(Parser *p);              /* its kind */
Token *parse_token_after(Parser *p);          /* the one after it */
TokenKind parse_peek_after(Parser *p);        /* of the one after it; nothing follows an end */
bool parse_accept(Parser *p, TokenKind kind); /* steps over it if it is next */
/* As parse_accept; with a message "expected 'text'" when something else is next. */
bool parse_force(Parser *p, TokenKind kind);
SourceRange parse_span(const Parser *p, SourceRange from); /* `from` up to the last token taken */
SourceRange parse_between(SourceRange from, SourceRange to);
const char *parse_name(Parser *p, const Token *t); /* the interned NFKC name; NULL when it failed */

/* ---- errors: each returns NULL ---- */
void *parse_raise(Parser *p, SourceRange at, const char *format, ...) TSR_PRINTF(3, 4);
void *parse_raise_kind(Parser *p, TsrStatus kind, SourceRange at, const char *format, ...) TSR_PRINTF(4, 5);
void *parse_no_memory(Parser *p);

/* ---- nodes ---- */
Node *parse_node(Parser *p, NodeKind kind, SourceRange at); /* NULL when it failed */
/* Makes `parent` at least one higher than `child` (may be NULL). False, with RecursionError, past the limit. */
bool parse_adopt(Parser *p, Node *parent, const Node *child);
bool parse_adopt_all(Parser *p, Node *parent, const NodeList *children);
void *parse_alloc(Parser *p, size_t count, size_t size); /* NULL when it failed */
/* `items` of `size` bytes with room for one more than `count`: itself, or a larger copy, also in the arena, and *room
 * grown. NULL when it failed. */
void *parse_room(Parser *p, void *items, int count, int *room, size_t size);

/* Lists: mark = parse_list(p); parse_push(p, node) ...; parse_take(p, mark, &list). */
int parse_list(const Parser *p);
bool parse_push(Parser *p, Node *node);
bool parse_take(Parser *p, int mark, NodeList *out);

/* A place to come back to: the next token, and how much of the lists is there. */
typedef struct ParseMark {
    int pos, stack;
} ParseMark;
static inline ParseMark parse_here(const Parser *p) { return (ParseMark){p->pos, p->stack_count}; }
static inline void parse_back(Parser *p, ParseMark m) {
    p->pos = m.pos;
    p->stack_count = m.stack;
}

/* Begins a rule that may nest; each `true` is followed by a p->depth--. False, with an error, past the limit or after a
 * failure. */
bool parse_enter(Parser *p);

/* ---- what rules gave at a place, during the second pass ---- */
/* MEMO_NAMED and MEMO_BRACKETS are kept once for each state of `diagnose`: what was read quietly hides no mistake. */
typedef enum ParseMemo {
    MEMO_EXPRESSION,
    MEMO_OR,
    MEMO_BITOR,
    MEMO_NAMED,
    MEMO_BRACKETS = MEMO_NAMED + 2,
    MEMO_RULES = MEMO_BRACKETS + 2
} ParseMemo;
/* Whether the rule has been tried here in this pass. Then *out is what it gave, and the place is moved past it. */
bool parse_recall(Parser *p, ParseMemo rule, Node **out);
void parse_remember(Parser *p, ParseMemo rule, int begin, Node *node);

/* ---- what may be assigned to ---- */
const char *parse_expression_name(const Node *n); /* "function call", "literal" ... */
typedef enum TargetUse { TARGET_STAR, TARGET_DELETE, TARGET_FOR } TargetUse;
const Node *parse_invalid_target(const Node *n, TargetUse use); /* the first part that can't be assigned to, or NULL */
bool parse_is_target(const Node *n, bool star);                 /* assignable as the grammar has it */
bool parse_is_single_target(const Node *n);                     /* name, attribute or subscript */
void parse_set_context(Node *n, Context ctx);

/* ---- expressions (expression.c) ---- */
Node *parse_expression(Parser *p);         /* lambda, a if b else c, or operators */
Node *parse_walrus(Parser *p);             /* at the name of `name := value` */
Node *parse_named(Parser *p);              /* name := value, or an expression */
Node *parse_starred(Parser *p);            /* at the star of *value, where value binds tighter than comparisons */
Node *parse_starred_expression(Parser *p); /* at the star of *value, where value is any expression */
Node *parse_star_named(Parser *p);         /* the first of these two, or parse_named */
Node *parse_star_expressions(Parser *p);   /* a, *b, c: a tuple when there is a comma */
Node *parse_yield(Parser *p);              /* at `yield` */
Node *parse_rhs(Parser *p);                /* yield or star_expressions */
Node *parse_targets(Parser *p); /* what `for` assigns to, up to `in`; checked to be assignable, made CTX_STORE */
Node *parse_target(Parser *p);  /* one of them, starred or not; not checked */
/* `first` (may be NULL: it did not match), or a tuple of it and what `item` reads after each comma. */
Node *parse_tuple(Parser *p, Node *first, SourceRange begin, Node *(*item)(Parser *));
Node *parse_take_tuple(Parser *p, int mark, SourceRange begin); /* a tuple of the list since `mark` */

/* ---- operators (operator.c) ---- */
Node *parse_binary(Parser *p, Power least); /* operands and the operators between them that bind at least so tightly */

/* ---- brackets (bracket.c) ---- */
Node *parse_brackets(Parser *p); /* at an opening bracket that begins a value */
/* At `for`, after the element and, for a dict, its key (else NULL). Takes no closing bracket. */
Node *parse_comprehension(Parser *p, NodeKind kind, SourceRange at, Node *element, Node *key);
bool parse_clauses_follow(Parser *p); /* steps over `for ... in ... if ...`, once or more */

/* ---- values and what hangs on them (primary.c) ---- */
Node *parse_primary(Parser *p); /* an atom and its calls, subscripts, attributes */

/* ---- parameters (parameter.c) ---- */
bool parse_parameters(Parser *p, TokenKind close, Node *function); /* up to ")" or, for a lambda, ":" */

/* ---- literals (literal.c) ---- */
Node *literal_number(Parser *p, const Token *t);
Node *literal_strings(Parser *p, int first, int count); /* adjacent T_STRING tokens */

/* ---- statements (statement.c) ---- */
/* One statement, or the statements of one line, pushed on the list. False when it does not match or failed. */
bool statement_parse(Parser *p);

/* ---- rules beyond the grammar (check.c) ---- */
/* Scopes, placement of return/yield/break, starred values. Sets is_generator. False when it failed. */
bool check_tree(Parser *p, const NodeList *body);

/* ---- a parser from beginning to end (parser.c) ---- */
/* Over `lexer`, for a text or a part of an f-string; arena and names are lent. */
void parse_begin(Parser *p, Lexer *lexer, Source *source, Arena *arena, Names *names);
void parse_end(Parser *p);
/* Words the failure of a text that did not match: the particular error if the second pass finds one, else the
 * generic one. `again` reads the text once more. */
void parse_diagnose(Parser *p, bool (*again)(Parser *));

#endif
