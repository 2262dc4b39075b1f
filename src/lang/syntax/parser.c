/* parser.c: what the rules are made of: tokens, nodes, lists of them, what may be assigned to; the second reading of a
 * text that fails. */
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <utf8proc.h>

#include "core/base/hash.h"
#include "core/mem.h"
#include "rules.h"

enum { MAX_DEPTH = 3000, SECOND_PASS_STEPS = 200000 };

/* ---- errors ---- */

static void set_error(Parser *p, TsrStatus kind, SourceRange at, const char *prefix, const char *format, va_list args) {
    char text[400];
    vsnprintf(text, sizeof text, format, args);
    size_t length = strlen(prefix) + strlen(text);
    p->failed = true;
    p->status = kind;
    p->where = at;
    p->message = arena_alloc(p->arena, length + 1);
    if (p->message != NULL) snprintf(p->message, length + 1, "%s%s", prefix, text);
}

void *parse_raise(Parser *p, SourceRange at, const char *format, ...) {
    va_list args;
    if (p->failed) return NULL;
    va_start(args, format);
    set_error(p, TSR_SYNTAX_ERROR, at, p->in_format ? "f-string: " : "", format, args);
    va_end(args);
    return NULL;
}

void *parse_raise_kind(Parser *p, TsrStatus kind, SourceRange at, const char *format, ...) {
    va_list args;
    if (p->failed) return NULL;
    va_start(args, format);
    set_error(p, kind, at, "", format, args);
    va_end(args);
    return NULL;
}

void *parse_no_memory(Parser *p) {
    if (p->failed) return NULL;
    p->failed = true;
    p->status = TSR_MEMORY_ERROR;
    p->message = NULL;
    return NULL;
}

static void *too_deep(Parser *p, SourceRange at) {
    return parse_raise_kind(p, TSR_RECURSION_ERROR, at, "maximum recursion depth exceeded during compilation");
}

/* ---- tokens ---- */

/* Names the innermost open bracket. */
static void raise_never_closed(Parser *p) {
    const Bracket *b = &p->lexer->brackets[p->lexer->level - 1];
    SourceRange at = {b->line, b->col, b->line, b->col + 1};
    parse_raise(p, at, "'%c' was never closed", b->open);
}

static void raise_lexer_error(Parser *p) {
    if (p->lexer->stop == LEXER_FAILED)
        parse_raise_kind(p, p->lexer->error_kind, p->lexer->error_at, "%s", p->lexer->message);
    else raise_never_closed(p);
}

static Token end_token;

/* The token `i`, read if need be. With memory short, an end token and the parser failed. */
static Token *token_at(Parser *p, int i) {
    while (i >= p->count) {
        if (tsr_mem_grow(&p->tokens, &p->room, (size_t)p->count + 1, sizeof *p->tokens) != TSR_OK) {
            parse_no_memory(p);
            return &end_token;
        }
        Token t = lexer_next(p->lexer);
        p->tokens[p->count++] = t;
        if (TSR_UNLIKELY(tsr_interrupt_flag != 0)) { /* ends like a lack of memory; job_finish asks which it was */
            parse_no_memory(p);
            return &end_token;
        }
        if (t.kind == T_ERROR && !p->failed) raise_lexer_error(p);
    }
    return &p->tokens[i];
}

Token *parse_token(Parser *p) { return token_at(p, p->pos); }
Token *parse_token_after(Parser *p) { return token_at(p, p->pos + 1); }
TokenKind parse_peek(Parser *p) { return (TokenKind)parse_token(p)->kind; }

TokenKind parse_peek_after(Parser *p) {
    const TokenKind kind = parse_peek(p);
    return kind == T_END || kind == T_ERROR ? kind : (TokenKind)parse_token_after(p)->kind;
}

bool parse_accept(Parser *p, TokenKind kind) {
    if (parse_peek(p) != kind) return false;
    p->pos++;
    return true;
}

bool parse_force(Parser *p, TokenKind kind) {
    if (parse_accept(p, kind)) return true;
    parse_raise(p, parse_token(p)->at, "expected '%s'", token_text(kind));
    return false;
}

SourceRange parse_between(SourceRange from, SourceRange to) {
    return (SourceRange){from.line, from.col, to.end_line, to.end_col};
}

SourceRange parse_span(const Parser *p, SourceRange from) {
    return p->pos > 0 ? parse_between(from, p->tokens[p->pos - 1].at) : from;
}

/* ---- names ---- */

static const char **name_slot(const char **rows, size_t room, const char *text) {
    size_t i = tsr_hash_text(text, strlen(text)) & (room - 1);
    while (rows[i] != NULL && strcmp(rows[i], text) != 0) i = (i + 1) & (room - 1);
    return &rows[i];
}

static bool grow_names(Names *names) {
    size_t room = names->room == 0 ? 64 : names->room * 2;
    const char **rows = tsr_calloc(room, sizeof *rows);
    if (rows == NULL) return false;
    for (size_t i = 0; i < names->room; i++)
        if (names->rows[i] != NULL) *name_slot(rows, room, names->rows[i]) = names->rows[i];
    tsr_free(names->rows);
    names->rows = rows;
    names->room = room;
    return true;
}

static const char *intern(Parser *p, const char *text) {
    Names *names = p->names;
    if (names->count * 2 >= names->room && !grow_names(names)) return parse_no_memory(p);
    const char **slot = name_slot(names->rows, names->room, text);
    if (*slot == NULL) {
        *slot = arena_copy(p->arena, text, strlen(text));
        if (*slot == NULL) return parse_no_memory(p);
        names->count++;
    }
    return *slot;
}

const char *parse_name(Parser *p, const Token *t) {
    char small[128];
    size_t length = (size_t)(t->end - t->begin);
    const char *text = source_text(p->source, NULL) + t->begin;
    bool ascii = true;
    for (size_t i = 0; i < length; i++) ascii &= (unsigned char)text[i] < 128;
    char *copy = length < sizeof small ? small : arena_alloc(p->arena, length + 1);
    if (copy == NULL) return parse_no_memory(p);
    memcpy(copy, text, length);
    copy[length] = '\0';
    if (ascii) return intern(p, copy);
    utf8proc_uint8_t *folded = utf8proc_NFKC((const utf8proc_uint8_t *)copy);
    if (folded == NULL) return parse_no_memory(p);
    const char *name = intern(p, (const char *)folded);
    free(folded);
    return name;
}

/* ---- nodes and lists ---- */

void *parse_alloc(Parser *p, size_t count, size_t size) {
    size_t bytes;
    if (tsr_mul_size_overflows(count, size, &bytes)) return parse_no_memory(p);
    void *memory = arena_alloc(p->arena, bytes > 0 ? bytes : 1);
    return memory != NULL ? memory : parse_no_memory(p);
}

void *parse_room(Parser *p, void *items, int count, int *room, size_t size) {
    if (count < *room) return items;
    *room = *room * 2 + 2;
    void *grown = parse_alloc(p, (size_t)*room, size);
    if (grown != NULL && count > 0) memcpy(grown, items, (size_t)count * size);
    return grown;
}

Node *parse_node(Parser *p, NodeKind kind, SourceRange at) {
    Node *n = parse_alloc(p, 1, sizeof *n);
    if (n == NULL) return NULL;
    n->kind = (uint8_t)kind;
    n->height = 1;
    n->at = at;
    return n;
}

bool parse_adopt(Parser *p, Node *parent, const Node *child) {
    if (child == NULL || parent->height > child->height) return true;
    if (child->height >= AST_MAX_HEIGHT) return too_deep(p, parent->at) != NULL;
    parent->height = (uint16_t)(child->height + 1);
    return true;
}

bool parse_adopt_all(Parser *p, Node *parent, const NodeList *children) {
    for (int i = 0; i < children->count; i++)
        if (!parse_adopt(p, parent, children->items[i])) return false;
    return true;
}

int parse_list(const Parser *p) { return p->stack_count; }

bool parse_push(Parser *p, Node *node) {
    if (tsr_mem_grow(&p->stack, &p->stack_room, (size_t)p->stack_count + 1, sizeof *p->stack) != TSR_OK)
        return parse_no_memory(p) != NULL;
    p->stack[p->stack_count++] = node;
    return true;
}

bool parse_take(Parser *p, int mark, NodeList *out) {
    int count = p->stack_count - mark;
    out->items = parse_alloc(p, (size_t)count, sizeof(Node *));
    if (out->items == NULL) return false;
    if (count > 0) memcpy(out->items, p->stack + mark, (size_t)count * sizeof(Node *));
    out->count = count;
    p->stack_count = mark;
    return true;
}

/* ---- the second pass remembers what rules gave ---- */

static MemoRow *memo_row(MemoRow *rows, size_t room, int32_t key) {
    size_t i = (size_t)(uint32_t)key * 2654435769u & (room - 1);
    while (rows[i].key != 0 && rows[i].key != key) i = (i + 1) & (room - 1);
    return &rows[i];
}

static int32_t memo_key(ParseMemo rule, int pos) { return pos * MEMO_RULES + (int)rule + 1; }

bool parse_recall(Parser *p, ParseMemo rule, Node **out) {
    if (!p->second_pass || p->memo_room == 0) return false;
    MemoRow *row = memo_row(p->memo, p->memo_room, memo_key(rule, p->pos));
    if (row->key == 0) return false;
    *out = row->node;
    if (row->node != NULL) p->pos = row->end;
    return true;
}

void parse_remember(Parser *p, ParseMemo rule, int begin, Node *node) {
    if (!p->second_pass || p->failed) return;
    if (p->memo_count * 2 >= p->memo_room) {
        size_t room = p->memo_room == 0 ? 256 : p->memo_room * 2;
        MemoRow *rows = tsr_calloc(room, sizeof *rows);
        if (rows == NULL) return; /* only slower */
        for (size_t i = 0; i < p->memo_room; i++)
            if (p->memo[i].key != 0) *memo_row(rows, room, p->memo[i].key) = p->memo[i];
        tsr_free(p->memo);
        p->memo = rows;
        p->memo_room = room;
    }
    MemoRow *row = memo_row(p->memo, p->memo_room, memo_key(rule, begin));
    if (row->key == 0) p->memo_count++;
    *row = (MemoRow){memo_key(rule, begin), p->pos, node};
}

bool parse_enter(Parser *p) {
    if (p->failed) return false;
    if (++p->depth <= MAX_DEPTH) return true;
    p->depth--;
    return too_deep(p, parse_token(p)->at) != NULL;
}

/* ---- what may be assigned to ---- */

static const char *constant_name(const Node *n) {
    switch (n->constant.kind) {
    case CONST_NONE: return "None";
    case CONST_TRUE: return "True";
    case CONST_FALSE: return "False";
    case CONST_ELLIPSIS: return "ellipsis";
    default: return "literal";
    }
}

const char *parse_expression_name(const Node *n) {
    static const char *const names[AST_EXPR] = {[AST_NAME] = "name",
                                                [AST_TUPLE] = "tuple",
                                                [AST_LIST] = "list",
                                                [AST_SET] = "set display",
                                                [AST_DICT] = "dict literal",
                                                [AST_UNARY] = "expression",
                                                [AST_BINARY] = "expression",
                                                [AST_BOOL] = "expression",
                                                [AST_COMPARE] = "comparison",
                                                [AST_CONDITIONAL] = "conditional expression",
                                                [AST_CALL] = "function call",
                                                [AST_ATTRIBUTE] = "attribute",
                                                [AST_SUBSCRIPT] = "subscript",
                                                [AST_SLICE] = "slice",
                                                [AST_STARRED] = "starred",
                                                [AST_LAMBDA] = "lambda",
                                                [AST_LIST_COMP] = "list comprehension",
                                                [AST_SET_COMP] = "set comprehension",
                                                [AST_DICT_COMP] = "dict comprehension",
                                                [AST_GENERATOR] = "generator expression",
                                                [AST_NAMED] = "named expression",
                                                [AST_YIELD] = "yield expression",
                                                [AST_YIELD_FROM] = "yield expression",
                                                [AST_JOINED] = "f-string expression",
                                                [AST_FORMATTED] = "f-string expression"};
    return n->kind == AST_CONSTANT ? constant_name(n) : names[n->kind];
}

const Node *parse_invalid_target(const Node *n, TargetUse use) {
    switch (n->kind) {
    case AST_LIST:
    case AST_TUPLE:
        for (int i = 0; i < n->list.count; i++) {
            const Node *bad = parse_invalid_target(n->list.items[i], use);
            if (bad != NULL) return bad;
        }
        return NULL;
    case AST_STARRED: return use == TARGET_DELETE ? n : parse_invalid_target(n->value, use);
    case AST_COMPARE:
        if (use != TARGET_FOR) return n;
        return n->compare.ops[0] == CMP_IN ? parse_invalid_target(n->compare.left, use) : NULL;
    case AST_NAME:
    case AST_SUBSCRIPT:
    case AST_ATTRIBUTE: return NULL;
    default: return n;
    }
}

bool parse_is_single_target(const Node *n) {
    return n->kind == AST_NAME || n->kind == AST_ATTRIBUTE || n->kind == AST_SUBSCRIPT;
}

bool parse_is_target(const Node *n, bool star) {
    if (n->kind == AST_STARRED) return star && n->value->kind != AST_STARRED && parse_is_target(n->value, false);
    if (n->kind != AST_TUPLE && n->kind != AST_LIST) return parse_is_single_target(n);
    for (int i = 0; i < n->list.count; i++)
        if (!parse_is_target(n->list.items[i], star)) return false;
    return true;
}

void parse_set_context(Node *n, Context ctx) {
    n->ctx = (uint8_t)ctx;
    if (n->kind == AST_STARRED) parse_set_context(n->value, ctx);
    if (n->kind == AST_TUPLE || n->kind == AST_LIST)
        for (int i = 0; i < n->list.count; i++) parse_set_context(n->list.items[i], ctx);
}

/* ---- a parser from beginning to end ---- */

void parse_begin(Parser *p, Lexer *lexer, Source *source, Arena *arena, Names *names) {
    *p = (Parser){.lexer = lexer, .source = source, .arena = arena, .names = names};
}

void parse_end(Parser *p) {
    tsr_free(p->tokens);
    tsr_free(p->stack);
    tsr_free(p->memo);
    p->tokens = NULL;
    p->stack = NULL;
    p->memo = NULL;
}

/* Reads the rest of the text: an error of the lexer there comes before the one already found. */
static void look_at_rest(Parser *p) {
    int line = p->tokens[p->count - 1].at.line;
    Lexer *x = p->lexer;
    while (x->stop == LEXER_GOING) lexer_next(x);
    if (x->stop == LEXER_FAILED && !x->quiet_error) {
        p->failed = false;
        parse_raise_kind(p, x->error_kind, x->error_at, "%s", x->message);
    } else if (x->stop != LEXER_ENDED && x->level > 0 && line > x->brackets[x->level - 1].line) {
        p->failed = false;
        raise_never_closed(p);
    }
}

static bool lexer_going(const Parser *p) { return p->lexer->stop == LEXER_GOING || p->lexer->stop == LEXER_ENDED; }

void parse_diagnose(Parser *p, bool (*again)(Parser *)) {
    if (!p->failed) {
        Token last = p->tokens[p->count - 1];
        p->pos = p->stack_count = p->depth = 0;
        p->diagnose = p->second_pass = true;
        p->steps = SECOND_PASS_STEPS;
        again(p);
        p->diagnose = p->second_pass = false;
        if (!p->failed && (last.kind == T_INDENT || last.kind == T_DEDENT)) {
            parse_raise_kind(p, TSR_INDENTATION_ERROR, last.at,
                             last.kind == T_INDENT ? "unexpected indent" : "unexpected unindent");
            return;
        }
        if (!p->failed) parse_raise(p, last.at, "invalid syntax");
    }
    if (lexer_going(p) && p->status != TSR_RECURSION_ERROR && p->status != TSR_MEMORY_ERROR && p->count > 0)
        look_at_rest(p);
}
