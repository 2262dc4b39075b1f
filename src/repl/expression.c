/* expression.c: the rules for expressions, and the mistakes that are usual in them. */
#include <string.h>

#include "parse.h"

enum { MAX_DICT_MISTAKES = 100 };

/* ---- mistakes in expressions, looked for in the second pass ---- */

/* Each of these returns with the place unchanged unless an error was raised. */

static bool is_text(const Parser *p, const Token *t, const char *text) {
    size_t n = strlen(text);
    return t->kind == T_NAME && (size_t)(t->end - t->begin) == n && memcmp(source_text(p->source, NULL) + t->begin, text, n) == 0;
}

/* match, case and _, and what they begin with: CPython compares no further than the name goes, so `m` and `c` count too. */
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
    bool skip = (t->kind == T_NAME && parse_peek_after(p, 1) == T_STRING) || begins_soft_keyword(p, parse_token(p));
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
    if (t->kind != T_NAME || parse_peek_after(p, 1) == T_LPAR) return;
    SourceRange at = parse_token(p)->at;
    p->pos++;
    Node *b = parse_star_expressions(p);
    if (b != NULL && name != NULL)
        parse_raise(p, parse_between(at, b->at), "Missing parentheses in call to '%s'. Did you mean %s(...)?", name, name);
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
            n = n->kind == AST_ATTRIBUTE ? n->attribute.value : n->kind == AST_SUBSCRIPT ? n->subscript.value : n->call.func;
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
    bool plain = parse_peek(p) == T_NAME && parse_peek_after(p, 1) == T_ASSIGN;
    bool display = !plain && at_display(p, start.pos);
    a = p->failed || display ? NULL : parse_binary(p, POWER_BITOR);
    if (a != NULL && parse_accept(p, T_ASSIGN)) {
        Node *b = parse_binary(p, POWER_BITOR);
        bool more = parse_peek(p) == T_ASSIGN || parse_peek(p) == T_WALRUS;
        if (b != NULL && !more && plain)
            parse_raise(p, parse_between(a->at, b->at), "invalid syntax. Maybe you meant '==' or ':=' instead of '='?");
        else if (b != NULL && !more)
            parse_raise(p, a->at, "cannot assign to %s here. Maybe you meant '==' instead of '='?", parse_expression_name(a));
    }
    parse_back(p, start);
}

/* ---- operators ---- */

typedef enum InfixForm { FORM_BINARY, FORM_COMPARE, FORM_BOOL } InfixForm;

static const struct Infix {
    uint8_t power, form, op;
} infixes[TOKEN_KIND_COUNT] = {
    [K_OR] = {POWER_OR, FORM_BOOL, true},
    [K_AND] = {POWER_AND, FORM_BOOL, false},
    [T_EQ] = {POWER_COMPARE, FORM_COMPARE, CMP_EQ},
    [T_NE] = {POWER_COMPARE, FORM_COMPARE, CMP_NE},
    [T_LT] = {POWER_COMPARE, FORM_COMPARE, CMP_LT},
    [T_LE] = {POWER_COMPARE, FORM_COMPARE, CMP_LE},
    [T_GT] = {POWER_COMPARE, FORM_COMPARE, CMP_GT},
    [T_GE] = {POWER_COMPARE, FORM_COMPARE, CMP_GE},
    [K_IS] = {POWER_COMPARE, FORM_COMPARE, CMP_IS},
    [K_IN] = {POWER_COMPARE, FORM_COMPARE, CMP_IN},
    [K_NOT] = {POWER_COMPARE, FORM_COMPARE, CMP_NOT_IN},
    [T_BITOR] = {POWER_BITOR, FORM_BINARY, OP_OR},
    [T_BITXOR] = {POWER_BITXOR, FORM_BINARY, OP_XOR},
    [T_BITAND] = {POWER_BITAND, FORM_BINARY, OP_AND},
    [T_LSHIFT] = {POWER_SHIFT, FORM_BINARY, OP_LSHIFT},
    [T_RSHIFT] = {POWER_SHIFT, FORM_BINARY, OP_RSHIFT},
    [T_ADD] = {POWER_SUM, FORM_BINARY, OP_ADD},
    [T_SUB] = {POWER_SUM, FORM_BINARY, OP_SUB},
    [T_MUL] = {POWER_TERM, FORM_BINARY, OP_MUL},
    [T_DIV] = {POWER_TERM, FORM_BINARY, OP_DIV},
    [T_FLOORDIV] = {POWER_TERM, FORM_BINARY, OP_FLOORDIV},
    [T_MOD] = {POWER_TERM, FORM_BINARY, OP_MOD},
    [T_MATMUL] = {POWER_TERM, FORM_BINARY, OP_MATMUL},
};

static Node *primary(Parser *p);

static Node *unary(Parser *p, UnaryOp op, Power operand_power) {
    SourceRange at = parse_token(p)->at;
    p->pos++;
    Node *operand = parse_binary(p, operand_power);
    if (operand == NULL) return NULL;
    Node *n = parse_node(p, AST_UNARY, parse_between(at, operand->at));
    if (n == NULL || !parse_adopt(p, n, operand)) return NULL;
    n->at = parse_span(p, at);
    n->unary.op = op;
    n->unary.operand = operand;
    return n;
}

static Node *binary_node(Parser *p, SourceRange begin, Node *left, Node *right, BinaryOp op, SourceRange op_at) {
    Node *n = parse_node(p, AST_BINARY, parse_span(p, begin));
    if (n == NULL || !parse_adopt(p, n, left) || !parse_adopt(p, n, right)) return NULL;
    n->binary.op = op;
    n->binary.left = left;
    n->binary.right = right;
    n->binary.op_at = op_at;
    return n;
}

static Node *power(Parser *p) {
    SourceRange begin = parse_token(p)->at;
    Node *base = primary(p);
    if (base == NULL || parse_peek(p) != T_POW) return base;
    ParseMark m = parse_here(p);
    SourceRange op_at = parse_token(p)->at;
    p->pos++;
    Node *exponent = parse_binary(p, POWER_UNARY);
    if (exponent != NULL) return binary_node(p, begin, base, exponent, OP_POW, op_at);
    parse_back(p, m);
    return p->failed ? NULL : base;
}

static Node *prefix(Parser *p, Power least) {
    switch (parse_peek(p)) {
    case K_NOT: return least <= POWER_NOT ? unary(p, OP_NOT, POWER_NOT) : NULL;
    case T_SUB: return least <= POWER_UNARY ? unary(p, OP_NEG, POWER_UNARY) : NULL;
    case T_ADD: return least <= POWER_UNARY ? unary(p, OP_POS, POWER_UNARY) : NULL;
    case T_INVERT: return least <= POWER_UNARY ? unary(p, OP_INVERT, POWER_UNARY) : NULL;
    case K_AWAIT: return parse_raise(p, parse_token(p)->at, "'await' is not part of tsr's language");
    default: return power(p);
    }
}

/* Takes a comparison operator, one token or two. False if none stands here. */
static bool comparison_operator(Parser *p, uint8_t *op) {
    TokenKind kind = parse_peek(p);
    if (infixes[kind].form != FORM_COMPARE || infixes[kind].power == 0) return false;
    *op = infixes[kind].op;
    if (kind == K_NOT && parse_peek_after(p, 1) != K_IN) return false;
    p->pos += kind == K_NOT ? 2 : 1;
    if (kind == K_IS && parse_accept(p, K_NOT)) *op = CMP_IS_NOT;
    return true;
}

/* left op value op value ... */
static Node *comparison(Parser *p, SourceRange begin, Node *left) {
    int list = parse_list(p), ops_count = 0, ops_room = 0;
    uint8_t *ops = NULL, op = 0;
    for (;;) {
        ParseMark m = parse_here(p);
        if (!comparison_operator(p, &op)) break;
        Node *value = parse_binary(p, POWER_BITOR);
        if (value == NULL) {
            parse_back(p, m);
            break;
        }
        if (ops_count == ops_room) {
            uint8_t *grown = parse_alloc(p, (size_t)(ops_room = ops_room * 2 + 4), 1);
            if (grown == NULL) return NULL;
            if (ops_count > 0) memcpy(grown, ops, (size_t)ops_count);
            ops = grown;
        }
        ops[ops_count++] = op;
        if (!parse_push(p, value)) return NULL;
    }
    if (p->failed || ops_count == 0) return p->failed ? NULL : left;
    Node *n = parse_node(p, AST_COMPARE, parse_span(p, begin));
    if (n == NULL || !parse_take(p, list, &n->compare.comparators)) return NULL;
    n->compare.left = left;
    n->compare.ops = ops;
    return parse_adopt(p, n, left) && parse_adopt_all(p, n, &n->compare.comparators) ? n : NULL;
}

/* left or value or value ..., one node for a run of the same operator. */
static Node *boolean(Parser *p, SourceRange begin, Node *left, TokenKind kind) {
    int list = parse_list(p);
    if (!parse_push(p, left)) return NULL;
    while (parse_peek(p) == kind) {
        ParseMark m = parse_here(p);
        p->pos++;
        Node *value = parse_binary(p, (Power)(infixes[kind].power + 1));
        if (value == NULL) {
            parse_back(p, m);
            break;
        }
        if (!parse_push(p, value)) return NULL;
    }
    if (p->failed) return NULL;
    if (p->stack_count == list + 1) {
        p->stack_count = list;
        return left;
    }
    Node *n = parse_node(p, AST_BOOL, parse_span(p, begin));
    if (n == NULL || !parse_take(p, list, &n->boolean.values)) return NULL;
    n->boolean.is_or = infixes[kind].op;
    return parse_adopt_all(p, n, &n->boolean.values) ? n : NULL;
}

static Node *binary_step(Parser *p, SourceRange begin, Node *left, TokenKind kind) {
    if (infixes[kind].form == FORM_COMPARE) return comparison(p, begin, left);
    if (infixes[kind].form == FORM_BOOL) return boolean(p, begin, left, kind);
    ParseMark m = parse_here(p);
    SourceRange op_at = parse_token(p)->at;
    p->pos++;
    Node *right = parse_binary(p, (Power)(infixes[kind].power + 1));
    if (right != NULL) return binary_node(p, begin, left, right, (BinaryOp)infixes[kind].op, op_at);
    parse_back(p, m);
    return p->failed ? NULL : left;
}

static Node *binary_loop(Parser *p, Power least) {
    SourceRange begin = parse_token(p)->at;
    Node *left = prefix(p, least);
    while (left != NULL) {
        TokenKind kind = parse_peek(p);
        if (infixes[kind].power == POWER_NONE || infixes[kind].power < (int)least) return left;
        int before = p->pos;
        left = binary_step(p, begin, left, kind);
        if (p->pos == before) return left; /* the operator had no right side */
    }
    return NULL;
}

Node *parse_binary(Parser *p, Power least) {
    Node *n = NULL;
    ParseMemo rule = least == POWER_OR ? MEMO_OR : least == POWER_BITOR ? MEMO_BITOR : MEMO_RULES;
    if (rule != MEMO_RULES && parse_recall(p, rule, &n)) return n;
    if (!parse_enter(p)) return NULL;
    int begin = p->pos;
    n = binary_loop(p, least);
    if (rule != MEMO_RULES) parse_remember(p, rule, begin, n);
    p->depth--;
    return n;
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

static Node *walrus(Parser *p) {
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
    if (parse_peek(p) == T_NAME && parse_peek_after(p, 1) == T_WALRUS) return walrus(p);
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

/* `*value` where value binds tighter than comparisons, and where it is any expression. */
static Node *starred(Parser *p) { return star_of(p, false); }
static Node *starred_expression(Parser *p) { return star_of(p, true); }

Node *parse_star_named(Parser *p) { return parse_peek(p) == T_MUL ? starred(p) : parse_named(p); }
static Node *star_expression(Parser *p) { return parse_peek(p) == T_MUL ? starred(p) : parse_expression(p); }

static Node *finish_tuple(Parser *p, int list, SourceRange begin) {
    Node *n = parse_node(p, AST_TUPLE, parse_span(p, begin));
    if (n == NULL || !parse_take(p, list, &n->list) || !parse_adopt_all(p, n, &n->list)) return NULL;
    return n;
}

/* item, item, ... after the first; an item that does not match ends the tuple at the comma before it. */
static Node *tuple_of(Parser *p, Node *first, SourceRange begin, Node *(*item)(Parser *)) {
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
    return p->failed ? NULL : finish_tuple(p, list, begin);
}

Node *parse_star_expressions(Parser *p) {
    SourceRange begin = parse_token(p)->at;
    return tuple_of(p, star_expression(p), begin, star_expression);
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

Node *parse_target(Parser *p) { return parse_peek(p) == T_MUL ? starred(p) : parse_binary(p, POWER_BITOR); }

Node *parse_targets(Parser *p) {
    SourceRange begin = parse_token(p)->at;
    Node *n = tuple_of(p, parse_target(p), begin, parse_target);
    if (n == NULL || !parse_is_target(n, true)) return NULL;
    parse_set_context(n, CTX_STORE);
    return n;
}

/* ---- comprehensions ---- */

static void find_bad_for_target(Parser *p) {
    ParseMark start = parse_here(p);
    Node *a = parse_star_expressions(p);
    const Node *bad = a != NULL ? parse_invalid_target(a, TARGET_FOR) : NULL;
    if (bad != NULL) parse_raise(p, bad->at, "cannot assign to %s", parse_expression_name(bad));
    parse_back(p, start);
}

static bool for_clause(Parser *p, Comprehension *g) {
    p->pos++;
    ParseMark start = parse_here(p);
    g->target = parse_targets(p);
    if (g->target == NULL || !parse_accept(p, K_IN)) {
        parse_back(p, start);
        if (p->diagnose && !p->failed) find_bad_for_target(p);
        return false;
    }
    g->iterable = parse_binary(p, POWER_OR);
    if (g->iterable == NULL) return false;
    int list = parse_list(p);
    while (parse_peek(p) == K_IF) {
        ParseMark m = parse_here(p);
        p->pos++;
        Node *test = parse_binary(p, POWER_OR);
        if (test == NULL) {
            parse_back(p, m);
            break;
        }
        if (!parse_push(p, test)) return false;
    }
    return !p->failed && parse_take(p, list, &g->conditions);
}

/* for ... in ... if ..., once or more. NULL when it does not match. */
static Comprehension *for_clauses(Parser *p, int *count) {
    Comprehension *all = NULL;
    int room = 0;
    *count = 0;
    if (parse_peek(p) == K_ASYNC) return parse_raise(p, parse_token(p)->at, "asynchronous comprehensions are not part of tsr's language");
    while (parse_peek(p) == K_FOR) {
        if (*count == room) {
            room = room == 0 ? 1 : room * 2;
            Comprehension *grown = parse_alloc(p, (size_t)room, sizeof *grown);
            if (grown == NULL) return NULL;
            if (*count > 0) memcpy(grown, all, (size_t)*count * sizeof *grown);
            all = grown;
        }
        if (!for_clause(p, &all[*count])) return NULL;
        (*count)++;
    }
    return all;
}

/* At `for`, after the element (and, for a dict, its key). Takes no closing bracket. */
static Node *comprehension(Parser *p, NodeKind kind, SourceRange at, Node *element, Node *key) {
    Node *n = parse_node(p, kind, at);
    if (n == NULL) return NULL;
    n->comprehension.element = element;
    n->comprehension.key = key;
    n->comprehension.generators = for_clauses(p, &n->comprehension.generator_count);
    if (n->comprehension.generators == NULL) return NULL;
    for (int i = 0; i < n->comprehension.generator_count; i++) {
        const Comprehension *g = &n->comprehension.generators[i];
        if (!parse_adopt(p, n, g->target) || !parse_adopt(p, n, g->iterable) || !parse_adopt_all(p, n, &g->conditions)) return NULL;
    }
    return parse_adopt(p, n, element) && parse_adopt(p, n, key) ? n : NULL;
}

static bool clauses_follow(Parser *p) {
    int count;
    return for_clauses(p, &count) != NULL;
}

static void find_mistaken_comprehension(Parser *p) {
    ParseMark start = parse_here(p);
    bool round = parse_peek(p) == T_LPAR;
    p->pos++;
    Node *a = parse_peek(p) == T_MUL ? starred_expression(p) : NULL;
    if (a != NULL && clauses_follow(p)) parse_raise(p, a->at, "iterable unpacking cannot be used in comprehension");
    p->pos = start.pos + 1;
    a = round || p->failed ? NULL : parse_star_named(p);
    if (a != NULL && parse_peek(p) == T_COMMA) {
        SourceRange comma = parse_token(p)->at;
        Node *all = tuple_of(p, a, a->at, parse_star_named);
        if (all != NULL && clauses_follow(p))
            parse_raise(p, all->list.count > 1 ? parse_between(a->at, all->at) : parse_between(a->at, comma),
                        "did you forget parentheses around the comprehension target?");
    }
    parse_back(p, start);
}

/* ---- brackets ---- */

/* Ends a node at its closing bracket; NULL when something else stands there. */
static Node *close_with(Parser *p, Node *n, TokenKind kind, SourceRange begin) {
    if (n == NULL || !parse_accept(p, kind)) return NULL;
    n->at = parse_span(p, begin);
    n->parens = kind == T_RPAR;
    return n;
}

static Node *in_parentheses(Parser *p, SourceRange begin) {
    if (parse_peek(p) == T_RPAR) return close_with(p, finish_tuple(p, parse_list(p), begin), T_RPAR, begin);
    if (parse_peek(p) == K_YIELD) {
        Node *n = parse_yield(p);
        return n != NULL && parse_accept(p, T_RPAR) ? n : NULL;
    }
    Node *first = parse_star_named(p);
    if (first == NULL) return NULL;
    if (parse_peek(p) == K_FOR || parse_peek(p) == K_ASYNC)
        return first->kind == AST_STARRED ? NULL : close_with(p, comprehension(p, AST_GENERATOR, begin, first, NULL), T_RPAR, begin);
    if (parse_peek(p) == T_COMMA) return close_with(p, tuple_of(p, first, begin, parse_star_named), T_RPAR, begin);
    if (first->kind == AST_STARRED || !parse_accept(p, T_RPAR)) return NULL;
    first->parens = 1;
    return first;
}

static void find_mistaken_group(Parser *p) {
    ParseMark start = parse_here(p);
    p->pos++;
    SourceRange at = parse_token(p)->at;
    if (parse_peek(p) == T_MUL && starred_expression(p) != NULL && parse_accept(p, T_RPAR)) parse_raise(p, at, "cannot use starred expression here");
    p->pos = start.pos + 1;
    if (!p->failed && parse_accept(p, T_POW) && parse_expression(p) != NULL && parse_accept(p, T_RPAR))
        parse_raise(p, at, "cannot use double starred expression here");
    parse_back(p, start);
    if (!p->failed) find_mistaken_comprehension(p);
}

static Node *in_square(Parser *p, SourceRange begin) {
    int list = parse_list(p);
    Node *first = NULL, *n;
    if (parse_peek(p) != T_RSQB) {
        first = parse_star_named(p);
        if (first == NULL) return NULL;
        if (parse_peek(p) == K_FOR || parse_peek(p) == K_ASYNC)
            return first->kind == AST_STARRED ? NULL : close_with(p, comprehension(p, AST_LIST_COMP, begin, first, NULL), T_RSQB, begin);
        Node *all = tuple_of(p, first, begin, parse_star_named);
        if (all == NULL) return NULL;
        if (all != first) {
            all->kind = AST_LIST;
            return close_with(p, all, T_RSQB, begin);
        }
        if (!parse_push(p, first)) return NULL;
    }
    n = close_with(p, finish_tuple(p, list, begin), T_RSQB, begin);
    if (n != NULL) n->kind = AST_LIST;
    return n;
}

/* One `key: value` or `**value` of a dict onto the two lists (keys at even places of the stack). */
static bool dict_item(Parser *p, Node **key, Node **value) {
    *key = NULL;
    if (parse_accept(p, T_POW)) return (*value = parse_binary(p, POWER_BITOR)) != NULL;
    *key = parse_expression(p);
    return *key != NULL && parse_accept(p, T_COLON) && (*value = parse_expression(p)) != NULL;
}

/* Splits key, value, key, value on the stack into the node's two lists. */
static bool take_dict(Parser *p, int list, Node *n) {
    int count = (p->stack_count - list) / 2;
    n->dict.keys = n->dict.values = (NodeList){NULL, count};
    n->dict.keys.items = parse_alloc(p, (size_t)count, sizeof(Node *));
    n->dict.values.items = parse_alloc(p, (size_t)count, sizeof(Node *));
    if (n->dict.keys.items == NULL || n->dict.values.items == NULL) return false;
    for (int i = 0; i < count; i++) {
        n->dict.keys.items[i] = p->stack[list + 2 * i];
        n->dict.values.items[i] = p->stack[list + 2 * i + 1];
        if (!parse_adopt(p, n, n->dict.keys.items[i]) || !parse_adopt(p, n, n->dict.values.items[i])) return false;
    }
    p->stack_count = list;
    return true;
}

/* The rest of a dict after `{`, or, with a key, after `{ key`. */
static Node *dict(Parser *p, SourceRange begin, Node *key) {
    int list = parse_list(p);
    Node *value = NULL;
    bool keyed = key != NULL;
    while (keyed || parse_peek(p) != T_RBRACE) {
        if (!(keyed ? parse_accept(p, T_COLON) && (value = parse_expression(p)) != NULL : dict_item(p, &key, &value))) return NULL;
        if (p->stack_count == list && key != NULL && (parse_peek(p) == K_FOR || parse_peek(p) == K_ASYNC))
            return close_with(p, comprehension(p, AST_DICT_COMP, begin, value, key), T_RBRACE, begin);
        if (!parse_push(p, key) || !parse_push(p, value)) return NULL;
        if (!parse_accept(p, T_COMMA)) break;
        keyed = false;
    }
    Node *n = parse_node(p, AST_DICT, begin);
    if (n == NULL || !take_dict(p, list, n)) return NULL;
    return close_with(p, n, T_RBRACE, begin);
}

static Node *set(Parser *p, SourceRange begin, Node *first) {
    if (first == NULL) return NULL;
    if (parse_peek(p) == K_FOR || parse_peek(p) == K_ASYNC)
        return first->kind == AST_STARRED ? NULL : close_with(p, comprehension(p, AST_SET_COMP, begin, first, NULL), T_RBRACE, begin);
    Node *n = tuple_of(p, first, begin, parse_star_named);
    if (n == NULL) return NULL;
    if (n == first) {
        int list = parse_list(p);
        if (!parse_push(p, first)) return NULL;
        n = finish_tuple(p, list, begin);
        if (n == NULL) return NULL;
    }
    n->kind = AST_SET;
    return close_with(p, n, T_RBRACE, begin);
}

/* key: with nothing, or a starred value, after it; `pairs_before` adds a key without a colon. */
static void find_mistaken_pair(Parser *p, bool pairs_before) {
    ParseMark start = parse_here(p);
    Node *key = parse_expression(p);
    if (key != NULL && !p->failed) {
        SourceRange colon = parse_token(p)->at;
        if (!parse_accept(p, T_COLON)) {
            if (pairs_before) parse_raise(p, p->tokens[p->pos - 1].at, "':' expected after dictionary key");
        } else if (parse_peek(p) == T_MUL) {
            SourceRange at = parse_token(p)->at;
            if (starred(p) != NULL) parse_raise(p, at, "cannot use a starred expression in a dictionary value");
        } else if (parse_peek(p) == T_RBRACE || parse_peek(p) == T_COMMA) {
            parse_raise(p, colon, "expression expected after dictionary key and ':'");
        }
    }
    parse_back(p, start);
}

static void find_mistaken_dict(Parser *p) {
    ParseMark start = parse_here(p), last;
    Node *key, *value;
    int pairs = 0;
    p->pos++;
    last = parse_here(p);
    while (dict_item(p, &key, &value)) {
        pairs++;
        last = parse_here(p);
        if (!parse_accept(p, T_COMMA)) break;
    }
    parse_back(p, last);
    if (!p->failed && pairs > 0 && parse_accept(p, T_COMMA)) find_mistaken_pair(p, true);
    p->pos = start.pos + 1;
    if (!p->failed) find_mistaken_pair(p, false);
    parse_back(p, start);
}

static void find_dict_unpacking(Parser *p) {
    ParseMark start = parse_here(p);
    p->pos++;
    SourceRange at = parse_token(p)->at;
    if (parse_accept(p, T_POW) && parse_binary(p, POWER_BITOR) != NULL && clauses_follow(p) && parse_peek(p) == T_RBRACE)
        parse_raise(p, at, "dict unpacking cannot be used in dict comprehension");
    parse_back(p, start);
}

/* `{` and what follows: a dict when a key with a colon, or **, comes first. CPython looks for mistakes in the pairs
 * of a dict in its first pass already. */
static Node *brace(Parser *p) {
    ParseMark start = parse_here(p);
    SourceRange begin = parse_token(p)->at;
    p->pos++;
    TokenKind next = parse_peek(p);
    bool pairs = next == T_POW || next == T_RBRACE;
    bool named = next == T_MUL || (next == T_NAME && parse_peek_after(p, 1) == T_WALRUS);
    Node *first = pairs ? NULL : named ? parse_star_named(p) : parse_expression(p);
    if (first == NULL && !pairs && (p->failed || !p->diagnose)) return NULL;
    if (first != NULL && !named && parse_peek(p) == T_COLON) pairs = true;
    Node *n = pairs ? dict(p, begin, first) : p->diagnose ? NULL : set(p, begin, first);
    if (n != NULL || p->failed) return n;
    if (pairs && p->dict_mistakes++ < MAX_DICT_MISTAKES) {
        parse_back(p, start);
        find_mistaken_dict(p);
    }
    if (p->failed || !p->diagnose) return NULL;
    parse_back(p, start);
    p->pos++;
    n = set(p, begin, parse_star_named(p));
    if (n != NULL || p->failed) return n;
    parse_back(p, start);
    find_dict_unpacking(p);
    if (!p->failed) find_mistaken_comprehension(p);
    return NULL;
}

static Node *bracketed(Parser *p, Node *(*inside)(Parser *, SourceRange), void (*mistakes)(Parser *)) {
    ParseMark start = parse_here(p);
    SourceRange begin = parse_token(p)->at;
    p->pos++;
    Node *n = inside(p, begin);
    if (n != NULL || p->failed || !p->diagnose) return n;
    parse_back(p, start);
    mistakes(p);
    return NULL;
}

/* ---- atoms ---- */

static Node *constant(Parser *p, ConstantKind kind) {
    Node *n = parse_node(p, AST_CONSTANT, parse_token(p)->at);
    if (n == NULL) return NULL;
    n->constant.kind = kind;
    p->pos++;
    return n;
}

static Node *name_node(Parser *p) {
    Node *n = parse_node(p, AST_NAME, parse_token(p)->at);
    if (n == NULL || (n->name.id = parse_name(p, parse_token(p))) == NULL) return NULL;
    p->pos++;
    return n;
}

static Node *strings(Parser *p) {
    int first = p->pos;
    while (parse_peek(p) == T_STRING) p->pos++;
    return p->failed ? NULL : literal_strings(p, first, p->pos - first);
}

static Node *number(Parser *p) {
    Token t = *parse_token(p);
    p->pos++;
    return literal_number(p, &t);
}

static Node *brackets(Parser *p) {
    Node *n = NULL;
    ParseMemo rule = MEMO_BRACKETS + p->diagnose;
    int begin = p->pos;
    TokenKind kind = parse_peek(p);
    if (parse_recall(p, rule, &n)) return n;
    if (kind == T_LBRACE) n = brace(p);
    else if (kind == T_LPAR) n = bracketed(p, in_parentheses, find_mistaken_group);
    else n = bracketed(p, in_square, find_mistaken_comprehension);
    parse_remember(p, rule, begin, n);
    return n;
}

static Node *atom(Parser *p) {
    switch (parse_peek(p)) {
    case T_NAME: return name_node(p);
    case T_NUMBER: return number(p);
    case T_STRING: return strings(p);
    case K_TRUE: return constant(p, CONST_TRUE);
    case K_FALSE: return constant(p, CONST_FALSE);
    case K_NONE: return constant(p, CONST_NONE);
    case T_ELLIPSIS: return constant(p, CONST_ELLIPSIS);
    case T_LPAR:
    case T_LSQB:
    case T_LBRACE: return brackets(p);
    default: return NULL;
    }
}

/* ---- calls ---- */

typedef struct Arguments {
    Keyword *keywords;
    int count, room, list; /* list: the positional ones, on the stack */
    bool unpacked, misplaced; /* a **value was seen; a positional one after a keyword */
    bool unpacked_before;     /* the first misplaced one */
    bool plain_first;         /* the first argument is a positional one without a star */
} Arguments;

static bool add_keyword(Parser *p, Arguments *a, const char *name, Node *value, SourceRange begin) {
    if (value == NULL) return false;
    if (a->count == a->room) {
        a->room = a->room == 0 ? 4 : a->room * 2;
        Keyword *grown = parse_alloc(p, (size_t)a->room, sizeof *grown);
        if (grown == NULL) return false;
        if (a->count > 0) memcpy(grown, a->keywords, (size_t)a->count * sizeof *grown);
        a->keywords = grown;
    }
    a->keywords[a->count++] = (Keyword){name, value, parse_span(p, begin)};
    return true;
}

static bool keyword_argument(Parser *p, Arguments *a) {
    SourceRange begin = parse_token(p)->at;
    const char *name = parse_name(p, parse_token(p));
    if (name == NULL) return false;
    p->pos += 2;
    Node *value = parse_expression(p);
    if (value == NULL) return false;
    if (p->diagnose && parse_peek(p) == K_FOR) {
        ParseMark m = parse_here(p);
        SourceRange at = parse_span(p, begin);
        if (clauses_follow(p)) parse_raise(p, at, "invalid syntax. Maybe you meant '==' or ':=' instead of '='?");
        parse_back(p, m);
    }
    return !p->failed && add_keyword(p, a, name, value, begin);
}

static bool double_star_argument(Parser *p, Arguments *a) {
    SourceRange begin = parse_token(p)->at;
    p->pos++;
    a->unpacked = true;
    return add_keyword(p, a, NULL, parse_expression(p), begin);
}

static bool star_argument(Parser *p, Arguments *a) {
    SourceRange begin = parse_token(p)->at;
    ParseMark m = parse_here(p);
    Node *n = a->unpacked ? NULL : starred_expression(p);
    if (n != NULL) return parse_push(p, n);
    if (p->diagnose && !p->failed && (a->count > 0 || m.stack > a->list) && !a->plain_first) parse_raise(p, begin, "iterable argument unpacking follows keyword argument unpacking");
    return false;
}

/* What may stand wrongly after a positional argument: `=` or a bare generator. */
static void find_mistaken_argument(Parser *p, const Node *value, SourceRange begin, bool first) {
    ParseMark m = parse_here(p);
    SourceRange at = parse_span(p, begin);
    if (parse_peek(p) == T_ASSIGN) {
        if (value->kind == AST_CONSTANT && value->constant.kind <= CONST_FALSE && !value->parens)
            parse_raise(p, at, "cannot assign to %s", parse_expression_name(value));
        else
            parse_raise(p, parse_between(at, parse_token(p)->at), "expression cannot contain assignment, perhaps you meant \"==\"?");
    } else if (clauses_follow(p) && (!first || parse_accept(p, T_COMMA))) {
        if (first && parse_peek(p) != T_RPAR) parse_expression(p); /* a mistake in it comes first */
        parse_raise(p, at, "Generator expression must be parenthesized");
    }
    parse_back(p, m);
}

static bool positional_argument(Parser *p, Arguments *a, SourceRange open) {
    SourceRange begin = parse_token(p)->at;
    bool named = parse_peek(p) == T_NAME && parse_peek_after(p, 1) == T_WALRUS;
    Node *value = named ? walrus(p) : parse_expression(p);
    if (value == NULL || parse_peek(p) == T_WALRUS) return false;
    if (parse_peek(p) == K_FOR && p->stack_count == a->list && a->count == 0) {
        ParseMark m = parse_here(p);
        Node *generator = comprehension(p, AST_GENERATOR, open, value, NULL);
        if (generator != NULL && parse_peek(p) == T_RPAR) {
            generator->at = parse_between(open, parse_token(p)->at);
            return parse_push(p, generator);
        }
        parse_back(p, m);
    }
    if (p->diagnose && !p->failed && (parse_peek(p) == T_ASSIGN || parse_peek(p) == K_FOR))
        find_mistaken_argument(p, value, begin, p->stack_count == a->list && a->count == 0);
    if (p->failed || parse_peek(p) == T_ASSIGN) return false;
    if (a->count > 0) {
        if (!p->diagnose) return false;
        if (!a->misplaced) a->unpacked_before = a->unpacked;
        a->misplaced = true;
    }
    if (p->stack_count == a->list && a->count == 0) a->plain_first = true;
    return parse_push(p, value);
}

static bool argument(Parser *p, Arguments *a, SourceRange open) {
    if (parse_peek(p) == T_MUL) return star_argument(p, a);
    if (parse_peek(p) == T_POW) return double_star_argument(p, a);
    if (parse_peek(p) == T_NAME && parse_peek_after(p, 1) == T_ASSIGN) return keyword_argument(p, a);
    return positional_argument(p, a, open);
}

static Node *call(Parser *p, SourceRange begin, Node *func) {
    SourceRange open = parse_token(p)->at;
    Arguments a = {.list = parse_list(p)};
    p->pos++;
    while (parse_peek(p) != T_RPAR) {
        if (!argument(p, &a, open)) {
            if (!a.misplaced) return NULL;
            break;
        }
        if (!parse_accept(p, T_COMMA)) break;
    }
    if (a.misplaced && !p->failed)
        parse_raise(p, p->tokens[p->pos - 1].at, "positional argument follows keyword argument%s", a.unpacked_before ? " unpacking" : "");
    if (p->failed || !parse_accept(p, T_RPAR)) return NULL;
    Node *n = parse_node(p, AST_CALL, parse_span(p, begin));
    if (n == NULL || !parse_take(p, a.list, &n->call.args) || !parse_adopt_all(p, n, &n->call.args) || !parse_adopt(p, n, func)) return NULL;
    n->call.func = func;
    n->call.keywords = a.keywords;
    n->call.keyword_count = a.count;
    for (int i = 0; i < a.count; i++)
        if (!parse_adopt(p, n, a.keywords[i].value)) return NULL;
    return n;
}

/* ---- subscripts and attributes ---- */

static bool slice_part(Parser *p, Node *n, Node **part) {
    TokenKind kind = parse_peek(p);
    if (kind == T_COLON || kind == T_RSQB || kind == T_COMMA) return true;
    *part = parse_expression(p);
    return *part != NULL && parse_adopt(p, n, *part);
}

static Node *slice_item(Parser *p) {
    SourceRange begin = parse_token(p)->at;
    Node *lower = NULL;
    if (parse_peek(p) == T_MUL) return starred_expression(p);
    if (parse_peek(p) != T_COLON) {
        lower = parse_named(p);
        if (lower == NULL || parse_peek(p) != T_COLON || (lower->kind == AST_NAMED && !lower->parens)) return lower;
    }
    Node *n = parse_node(p, AST_SLICE, begin);
    if (n == NULL || !parse_adopt(p, n, lower)) return NULL;
    n->slice.lower = lower;
    p->pos++;
    if (!slice_part(p, n, &n->slice.upper)) return NULL;
    if (parse_accept(p, T_COLON) && !slice_part(p, n, &n->slice.step)) return NULL;
    n->at = parse_span(p, begin);
    return n;
}

static Node *subscript(Parser *p, SourceRange begin, Node *value) {
    p->pos++;
    SourceRange inside = parse_token(p)->at;
    bool star = parse_peek(p) == T_MUL;
    int list = parse_list(p);
    Node *index = tuple_of(p, slice_item(p), inside, slice_item);
    if (index == NULL) return NULL;
    if (star && index->kind == AST_STARRED) { /* x[*a] is x[(*a,)] */
        if (!parse_push(p, index)) return NULL;
        index = finish_tuple(p, list, inside);
        if (index == NULL) return NULL;
    }
    if (!parse_accept(p, T_RSQB)) return NULL;
    Node *n = parse_node(p, AST_SUBSCRIPT, parse_span(p, begin));
    if (n == NULL || !parse_adopt(p, n, value) || !parse_adopt(p, n, index)) return NULL;
    n->subscript.value = value;
    n->subscript.index = index;
    return n;
}

static Node *attribute(Parser *p, SourceRange begin, Node *value) {
    p->pos++;
    if (parse_peek(p) != T_NAME) return NULL;
    SourceRange at = parse_token(p)->at;
    const char *name = parse_name(p, parse_token(p));
    if (name == NULL) return NULL;
    p->pos++;
    Node *n = parse_node(p, AST_ATTRIBUTE, parse_span(p, begin));
    if (n == NULL || !parse_adopt(p, n, value)) return NULL;
    n->attribute.value = value;
    n->attribute.name = name;
    n->attribute.name_at = at;
    return n;
}

static Node *primary(Parser *p) {
    SourceRange begin = parse_token(p)->at;
    Node *n = atom(p);
    while (n != NULL) {
        ParseMark m = parse_here(p);
        Node *next;
        switch (parse_peek(p)) {
        case T_DOT: next = attribute(p, begin, n); break;
        case T_LPAR: next = call(p, begin, n); break;
        case T_LSQB: next = subscript(p, begin, n); break;
        default: return n;
        }
        if (next == NULL) {
            parse_back(p, m);
            return p->failed ? NULL : n;
        }
        n = next;
    }
    return NULL;
}

/* ---- parameters ---- */

typedef struct ParameterList {
    Param *items;
    int count, room;
    bool lambda, slash, star, defaults;
    TokenKind close;
} ParameterList;

static Param *add_parameter(Parser *p, ParameterList *l, ParamKind kind) {
    if (l->count == l->room) {
        l->room = l->room == 0 ? 4 : l->room * 2;
        Param *grown = parse_alloc(p, (size_t)l->room, sizeof *grown);
        if (grown == NULL) return NULL;
        if (l->count > 0) memcpy(grown, l->items, (size_t)l->count * sizeof *grown);
        l->items = grown;
    }
    Param *param = &l->items[l->count];
    *param = (Param){.kind = kind, .at = parse_token(p)->at};
    if (parse_peek(p) != T_NAME || (param->name = parse_name(p, parse_token(p))) == NULL) return NULL;
    p->pos++;
    l->count++;
    if (!l->lambda && parse_accept(p, T_COLON)) {
        bool star = kind == PARAM_STAR && parse_peek(p) == T_MUL;
        param->annotation = star ? starred(p) : parse_expression(p);
        if (param->annotation == NULL) return NULL;
    }
    return param;
}

static bool at_list_end(Parser *p, const ParameterList *l) { return parse_peek(p) == l->close || parse_peek(p) == T_COMMA; }

static bool slash(Parser *p, ParameterList *l) {
    SourceRange at = parse_token(p)->at;
    p->pos++;
    if (l->slash) return parse_raise(p, at, "/ may appear only once") != NULL;
    if (l->star) return parse_raise(p, at, "/ must be ahead of *") != NULL;
    if (l->count == 0) return parse_peek(p) == T_COMMA && parse_raise(p, at, "at least one argument must precede /") != NULL;
    if (parse_peek(p) == T_MUL) return parse_raise(p, parse_token(p)->at, "expected comma between / and *") != NULL;
    for (int i = 0; i < l->count; i++) l->items[i].kind = PARAM_POSITIONAL_ONLY;
    l->slash = true;
    return true;
}

static bool star(Parser *p, ParameterList *l) {
    SourceRange at = parse_token(p)->at;
    p->pos++;
    if (l->star) {
        bool repeated = parse_peek(p) == T_COMMA || (add_parameter(p, l, PARAM_STAR) != NULL && at_list_end(p, l));
        return repeated && parse_raise(p, at, "* argument may appear only once") != NULL;
    }
    l->star = true;
    if (parse_peek(p) == l->close || (parse_peek(p) == T_COMMA && (parse_peek_after(p, 1) == l->close || parse_peek_after(p, 1) == T_POW)))
        return parse_raise(p, at, "named arguments must follow bare *") != NULL;
    if (parse_peek(p) == T_COMMA) return true;
    if (add_parameter(p, l, PARAM_STAR) == NULL) return false;
    if (parse_peek(p) == T_ASSIGN) return parse_raise(p, parse_token(p)->at, "var-positional argument cannot have default value") != NULL;
    return true;
}

static bool double_star(Parser *p, ParameterList *l) {
    p->pos++;
    if (add_parameter(p, l, PARAM_DOUBLE_STAR) == NULL) return false;
    if (parse_peek(p) == T_ASSIGN) return parse_raise(p, parse_token(p)->at, "var-keyword argument cannot have default value") != NULL;
    if (parse_peek(p) != T_COMMA) return true;
    TokenKind next = parse_peek_after(p, 1);
    if (next == T_NAME || next == T_MUL || next == T_POW || next == T_DIV)
        return parse_raise(p, parse_token_after(p, 1)->at, "arguments cannot follow var-keyword argument") != NULL;
    return true;
}

static bool plain_parameter(Parser *p, ParameterList *l) {
    Param *param = add_parameter(p, l, l->star ? PARAM_KEYWORD_ONLY : PARAM_NORMAL);
    if (param == NULL) return false;
    if (parse_peek(p) == T_ASSIGN) {
        SourceRange at = parse_token(p)->at;
        p->pos++;
        if (parse_peek(p) == T_RPAR || parse_peek(p) == T_COMMA) return parse_raise(p, at, "expected default value expression") != NULL;
        l->defaults = true;
        Node *value = parse_expression(p);
        l->items[l->count - 1].default_value = value;
        return value != NULL;
    }
    if (l->defaults && !l->star && at_list_end(p, l)) return parse_raise(p, param->at, "non-default argument follows default argument") != NULL;
    return true;
}

/* (a, b) among the parameters, as Python 2 had it. */
static bool parenthesized_parameters(Parser *p, const ParameterList *l) {
    ParseMark m = parse_here(p);
    SourceRange at = parse_token(p)->at;
    p->pos++;
    int count = 0;
    while (parse_accept(p, T_NAME)) {
        count++;
        if (!parse_accept(p, T_COMMA)) break;
    }
    if (count > 0 && !l->defaults && !l->star && parse_accept(p, T_RPAR))
        parse_raise(p, parse_span(p, at), "%s parameters cannot be parenthesized", l->lambda ? "Lambda expression" : "Function");
    parse_back(p, m);
    return false;
}

static bool parameter(Parser *p, ParameterList *l) {
    switch (parse_peek(p)) {
    case T_DIV: return slash(p, l);
    case T_MUL: return star(p, l);
    case T_POW: return double_star(p, l);
    case T_LPAR: return parenthesized_parameters(p, l);
    default: return plain_parameter(p, l);
    }
}

bool parse_parameters(Parser *p, TokenKind close, Node *function) {
    ParameterList l = {.lambda = close == T_COLON, .close = close};
    while (parse_peek(p) != close) {
        bool last = parse_peek(p) == T_POW;
        if (!parameter(p, &l)) return false;
        if (!parse_accept(p, T_COMMA) || last) break;
    }
    if (p->failed) return false;
    function->function.params = l.items;
    function->function.param_count = l.count;
    for (int i = 0; i < l.count; i++)
        if (!parse_adopt(p, function, l.items[i].annotation) || !parse_adopt(p, function, l.items[i].default_value)) return false;
    return true;
}
