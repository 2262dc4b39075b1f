/* expression.c: the rules for whole expressions, tuples of them and the targets of for, and the mistakes that are usual
 * in them. */
#include <string.h>

#include "rules.h"

/* ---- mistakes in expressions, looked for in the second pass ---- */

/* Each of these returns with the place unchanged unless an error was raised. */

static bool is_text(const Parser *p, const Token *t, const char *text) {
    size_t n = strlen(text);
    return t->kind == T_NAME && (size_t)(t->end - t->begin) == n &&
           memcmp(source_text(p->source, NULL) + t->begin, text, n) == 0;
}

/* match, case and _, and what they begin with: CPython compares no further than the name goes, so `m` and `c` count
 * too. */
static bool begins_soft_keyword(const Parser *p, const Token *t) {
    static const char *const words[] = {"match", "case", "_"};
    const char *text = source_text(p->source, NULL) + t->begin;
    size_t n = (size_t)(t->end - t->begin);
    for (size_t i = 0; t->kind == T_NAME && i < TSR_COUNTOF(words); i++)
        if (strncmp(words[i], text, n) == 0) return true;
    return false;
}

static bool is_old_statement(const Node *n) {
    return n->kind == AST_NAME && (strcmp(n->name.id, "print") == 0 || strcmp(n->name.id, "exec") == 0);
}

static Node *expression(Parser *p);

static Node *expression_quietly(Parser *p) {
    bool diagnose = p->diagnose;
    p->diagnose = false;
    Node *n = expression(p); /* not remembered as what stands here: its mistakes are still to be found */
    p->diagnose = diagnose;
    return n;
}

static void find_missing_comma(Parser *p) {
    ParseMark start = parse_here(p);
    const Token *t = parse_token(p);
    bool skip = (t->kind == T_NAME && parse_peek_after(p) == T_STRING) || begins_soft_keyword(p, parse_token(p));
    Node *a = skip ? NULL : parse_binary(p, POWER_OR), *b = NULL;
    if (a != NULL && !p->failed) b = expression_quietly(p);
    if (b != NULL && !p->failed && !is_old_statement(a) && p->tokens[p->pos - 1].level != 0)
        parse_raise(p, parse_between(a->at, b->at), "invalid syntax. Perhaps you forgot a comma?");
    parse_back(p, start);
}

static void find_missing_else(Parser *p) {
    ParseMark start = parse_here(p);
    Node *a = parse_binary(p, POWER_OR);
    if (a != NULL && parse_accept(p, K_IF)) {
        Node *b = parse_binary(p, POWER_OR);
        if (b != NULL && !p->failed && parse_peek(p) != K_ELSE && parse_peek(p) != T_COLON)
            parse_raise(p, parse_between(a->at, b->at), "expected 'else' after 'if' expression");
    }
    parse_back(p, start);
}

/* print x. What follows a name is read whatever the name: a mistake in it is found here first, as by CPython. */
static void find_old_statement(Parser *p) {
    ParseMark start = parse_here(p);
    const Token *t = parse_token(p);
    const char *name = is_text(p, t, "print") ? "print" : is_text(p, t, "exec") ? "exec" : NULL;
    if (t->kind != T_NAME || parse_peek_after(p) == T_LPAR) return;
    SourceRange at = parse_token(p)->at;
    p->pos++;
    Node *b = parse_star_expressions(p);
    if (b != NULL && name != NULL)
        parse_raise(p, parse_between(at, b->at), "Missing parentheses in call to '%s'. Did you mean %s(...)?", name,
                    name);
    parse_back(p, start);
}

static void find_mistaken_expression(Parser *p) {
    if (p->steps-- <= 0) p->diagnose = false;
    if (p->diagnose) find_missing_comma(p);
    if (p->diagnose && !p->failed) find_missing_else(p);
    if (p->diagnose && !p->failed) find_old_statement(p);
}

/* Whether a list, a tuple, a generator expression, True, None or False stands here. */
static bool at_display(Parser *p, int pos) {
    ParseMark start = parse_here(p);
    p->pos = pos;
    TokenKind kind = parse_peek(p);
    bool is = kind == K_TRUE || kind == K_FALSE || kind == K_NONE;
    if (kind == T_LPAR || kind == T_LSQB) {
        Node *n = parse_binary(p, POWER_POW); /* the brackets and what hangs on them */
        while (n != NULL && (n->kind == AST_ATTRIBUTE || n->kind == AST_SUBSCRIPT || n->kind == AST_CALL))
            n = n->kind == AST_ATTRIBUTE   ? n->attribute.value
                : n->kind == AST_SUBSCRIPT ? n->subscript.value
                                           : n->call.func;
        is = n != NULL && (n->kind == AST_LIST || n->kind == AST_GENERATOR || n->kind == AST_TUPLE);
    }
    parse_back(p, start);
    return is;
}

static void find_mistaken_assignment(Parser *p) {
    ParseMark start = parse_here(p);
    Node *a = parse_expression(p);
    if (a != NULL && parse_accept(p, T_WALRUS) && parse_expression(p) != NULL)
        parse_raise(p, a->at, "cannot use assignment expressions with %s", parse_expression_name(a));
    parse_back(p, start);
    if (p->failed) return;
    bool plain = parse_peek(p) == T_NAME && parse_peek_after(p) == T_ASSIGN;
    bool display = !plain && at_display(p, start.pos);
    a = p->failed || display ? NULL : parse_binary(p, POWER_BITOR);
    if (a != NULL && parse_accept(p, T_ASSIGN)) {
        Node *b = parse_binary(p, POWER_BITOR);
        bool more = parse_peek(p) == T_ASSIGN || parse_peek(p) == T_WALRUS;
        if (b != NULL && !more && plain)
            parse_raise(p, parse_between(a->at, b->at), "invalid syntax. Maybe you meant '==' or ':=' instead of '='?");
        else if (b != NULL && !more)
            parse_raise(p, a->at, "cannot assign to %s here. Maybe you meant '==' instead of '='?",
                        parse_expression_name(a));
    }
    parse_back(p, start);
}

/* ---- expressions ---- */

static Node *lambda(Parser *p) {
    SourceRange at = parse_token(p)->at;
    p->pos++;
    Node *n = parse_node(p, AST_LAMBDA, at);
    if (n == NULL || !parse_parameters(p, T_COLON, n) || !parse_accept(p, T_COLON)) return NULL;
    n->function.value = parse_expression(p);
    if (n->function.value == NULL) return NULL;
    n->at = parse_span(p, at);
    return parse_adopt(p, n, n->function.value) ? n : NULL;
}

static Node *conditional(Parser *p, SourceRange begin, Node *body) {
    ParseMark m = parse_here(p);
    p->pos++;
    Node *test = parse_binary(p, POWER_OR), *orelse = NULL;
    if (test != NULL && parse_accept(p, K_ELSE)) orelse = parse_expression(p);
    if (orelse == NULL) {
        parse_back(p, m);
        return p->failed ? NULL : body;
    }
    Node *n = parse_node(p, AST_CONDITIONAL, parse_span(p, begin));
    if (n == NULL) return NULL;
    n->conditional.test = test;
    n->conditional.body = body;
    n->conditional.orelse = orelse;
    return parse_adopt(p, n, test) && parse_adopt(p, n, body) && parse_adopt(p, n, orelse) ? n : NULL;
}

static Node *expression(Parser *p) {
    SourceRange begin = parse_token(p)->at;
    if (p->diagnose) find_mistaken_expression(p);
    if (p->failed) return NULL;
    if (parse_peek(p) == K_LAMBDA) return lambda(p);
    Node *body = parse_binary(p, POWER_OR);
    return body != NULL && parse_peek(p) == K_IF ? conditional(p, begin, body) : body;
}

Node *parse_expression(Parser *p) {
    Node *n = NULL;
    if (parse_recall(p, MEMO_EXPRESSION, &n)) return n;
    if (!parse_enter(p)) return NULL;
    int begin = p->pos;
    n = expression(p);
    parse_remember(p, MEMO_EXPRESSION, begin, n);
    p->depth--;
    return n;
}

Node *parse_walrus(Parser *p) {
    SourceRange begin = parse_token(p)->at;
    Node *target = parse_node(p, AST_NAME, begin);
    if (target == NULL || (target->name.id = parse_name(p, parse_token(p))) == NULL) return NULL;
    target->ctx = CTX_STORE;
    p->pos += 2;
    Node *value = parse_expression(p);
    if (value == NULL) return NULL;
    Node *n = parse_node(p, AST_NAMED, parse_span(p, begin));
    if (n == NULL || !parse_adopt(p, n, value)) return NULL;
    n->named.target = target;
    n->named.value = value;
    return n;
}

static Node *named(Parser *p) {
    if (parse_peek(p) == T_NAME && parse_peek_after(p) == T_WALRUS) return parse_walrus(p);
    if (p->diagnose) find_mistaken_assignment(p);
    Node *n = p->failed ? NULL : parse_expression(p);
    return n != NULL && parse_peek(p) != T_WALRUS ? n : NULL;
}

Node *parse_named(Parser *p) {
    Node *n = NULL;
    ParseMemo rule = MEMO_NAMED + p->diagnose;
    int begin = p->pos;
    if (parse_recall(p, rule, &n)) return n;
    n = named(p);
    parse_remember(p, rule, begin, n);
    return n;
}

static Node *star_of(Parser *p, bool whole) {
    SourceRange at = parse_token(p)->at;
    p->pos++;
    Node *value = whole ? parse_expression(p) : parse_binary(p, POWER_BITOR);
    if (value == NULL) return NULL;
    Node *n = parse_node(p, AST_STARRED, parse_span(p, at));
    if (n == NULL || !parse_adopt(p, n, value)) return NULL;
    n->value = value;
    return n;
}

Node *parse_starred(Parser *p) { return star_of(p, false); }
Node *parse_starred_expression(Parser *p) { return star_of(p, true); }

Node *parse_star_named(Parser *p) { return parse_peek(p) == T_MUL ? parse_starred(p) : parse_named(p); }
static Node *star_expression(Parser *p) { return parse_peek(p) == T_MUL ? parse_starred(p) : parse_expression(p); }

Node *parse_take_tuple(Parser *p, int list, SourceRange begin) {
    Node *n = parse_node(p, AST_TUPLE, parse_span(p, begin));
    if (n == NULL || !parse_take(p, list, &n->list) || !parse_adopt_all(p, n, &n->list)) return NULL;
    return n;
}

/* An item that does not match ends the tuple at the comma before it. */
Node *parse_tuple(Parser *p, Node *first, SourceRange begin, Node *(*item)(Parser *)) {
    int list = parse_list(p);
    if (first == NULL || parse_peek(p) != T_COMMA) return first;
    if (!parse_push(p, first)) return NULL;
    while (parse_accept(p, T_COMMA)) {
        ParseMark m = parse_here(p);
        Node *next = item(p);
        if (next == NULL) {
            parse_back(p, m);
            break;
        }
        if (!parse_push(p, next)) return NULL;
    }
    return p->failed ? NULL : parse_take_tuple(p, list, begin);
}

Node *parse_star_expressions(Parser *p) {
    SourceRange begin = parse_token(p)->at;
    return parse_tuple(p, star_expression(p), begin, star_expression);
}

Node *parse_yield(Parser *p) {
    SourceRange at = parse_token(p)->at;
    p->pos++;
    bool from = parse_accept(p, K_FROM);
    ParseMark m = parse_here(p);
    Node *value = from ? parse_expression(p) : parse_star_expressions(p);
    if (value == NULL && (from || p->failed)) return NULL;
    if (value == NULL) parse_back(p, m);
    Node *n = parse_node(p, from ? AST_YIELD_FROM : AST_YIELD, parse_span(p, at));
    if (n == NULL || !parse_adopt(p, n, value)) return NULL;
    n->value = value;
    return n;
}

Node *parse_rhs(Parser *p) { return parse_peek(p) == K_YIELD ? parse_yield(p) : parse_star_expressions(p); }

Node *parse_target(Parser *p) { return parse_peek(p) == T_MUL ? parse_starred(p) : parse_binary(p, POWER_BITOR); }

Node *parse_targets(Parser *p) {
    SourceRange begin = parse_token(p)->at;
    Node *n = parse_tuple(p, parse_target(p), begin, parse_target);
    if (n == NULL || !parse_is_target(n, true)) return NULL;
    parse_set_context(n, CTX_STORE);
    return n;
}
