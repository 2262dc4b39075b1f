/* statement.c: the rules for statements. Those of expressions are in expression.c.
 *
 * A rule reads tokens from the current place and returns a node of the tree, or NULL: nothing matched, or, with
 * `failed` set, an error was raised. Blocks nest by recursion with a bound; chains of elif are a loop, since they may
 * be long. The find_ rules run in the second reading only (README, "How errors of syntax get CPython's words"): they
 * recognise a usual mistake and word it as CPython does. */
#include <string.h>

#include "rules.h"

static bool block(Parser *p, NodeList *out, SourceRange at, const char *what);

/* ---- simple statements ---- */

static Node *statement_with_value(Parser *p, NodeKind kind, SourceRange at, Node *value) {
    Node *n = parse_node(p, kind, parse_span(p, at));
    if (n == NULL || !parse_adopt(p, n, value)) return NULL;
    n->value = value;
    return n;
}

static const struct {
    uint8_t token, op;
} augmented_ops[] = {{T_ADD_ASSIGN, OP_ADD},          {T_SUB_ASSIGN, OP_SUB},       {T_MUL_ASSIGN, OP_MUL},
                     {T_DIV_ASSIGN, OP_DIV},          {T_MOD_ASSIGN, OP_MOD},       {T_MATMUL_ASSIGN, OP_MATMUL},
                     {T_AND_ASSIGN, OP_AND},          {T_OR_ASSIGN, OP_OR},         {T_XOR_ASSIGN, OP_XOR},
                     {T_LSHIFT_ASSIGN, OP_LSHIFT},    {T_RSHIFT_ASSIGN, OP_RSHIFT}, {T_POW_ASSIGN, OP_POW},
                     {T_FLOORDIV_ASSIGN, OP_FLOORDIV}};

static bool augmented_operator(TokenKind kind, BinaryOp *op) {
    for (size_t i = 0; i < TSR_COUNTOF(augmented_ops); i++)
        if (augmented_ops[i].token == kind) {
            *op = (BinaryOp)augmented_ops[i].op;
            return true;
        }
    return false;
}

/* target: annotation [= value] */
static Node *annotated(Parser *p, SourceRange at, Node *target) {
    if (!parse_is_single_target(target)) return NULL;
    p->pos++;
    Node *annotation = parse_expression(p), *value = NULL;
    if (annotation == NULL) return NULL;
    ParseMark start = parse_here(p);
    if (parse_accept(p, T_ASSIGN) && (value = parse_rhs(p)) == NULL) parse_back(p, start);
    if (p->failed) return NULL;
    Node *n = parse_node(p, AST_ANN_ASSIGN, parse_span(p, at));
    if (n == NULL || !parse_adopt(p, n, target) || !parse_adopt(p, n, annotation) || !parse_adopt(p, n, value))
        return NULL;
    parse_set_context(target, CTX_STORE);
    n->annotated.target = target;
    n->annotated.annotation = annotation;
    n->annotated.value = value;
    n->annotated.simple = target->kind == AST_NAME && !target->parens;
    return n;
}

static Node *augmented(Parser *p, SourceRange at, Node *target, BinaryOp op) {
    if (!parse_is_single_target(target)) return NULL;
    SourceRange op_at = parse_token(p)->at;
    p->pos++;
    Node *value = parse_rhs(p);
    if (value == NULL) return NULL;
    Node *n = parse_node(p, AST_AUG_ASSIGN, parse_span(p, at));
    if (n == NULL || !parse_adopt(p, n, target) || !parse_adopt(p, n, value)) return NULL;
    parse_set_context(target, CTX_STORE);
    n->augmented.op = op;
    n->augmented.target = target;
    n->augmented.value = value;
    n->augmented.op_at = op_at;
    return n;
}

/* target = target = ... = value, from the first `=` */
static Node *assignment(Parser *p, SourceRange at, Node *first) {
    int list = parse_list(p);
    Node *value = first;
    while (parse_peek(p) == T_ASSIGN) {
        if (!parse_is_target(value, true)) return NULL;
        if (!parse_push(p, value)) return NULL;
        p->pos++;
        value = parse_rhs(p);
        if (value == NULL) return NULL;
    }
    Node *n = parse_node(p, AST_ASSIGN, parse_span(p, at));
    if (n == NULL || !parse_take(p, list, &n->assign.targets)) return NULL;
    for (int i = 0; i < n->assign.targets.count; i++) parse_set_context(n->assign.targets.items[i], CTX_STORE);
    n->assign.value = value;
    return parse_adopt_all(p, n, &n->assign.targets) && parse_adopt(p, n, value) ? n : NULL;
}

/* Whether a bare, a subscripted or bracketed target with `:` after it stands here: what is wrong with it. */
static void find_mistaken_annotation(Parser *p) {
    ParseMark start = parse_here(p);
    const Node *a = (parse_peek(p) == T_LPAR || parse_peek(p) == T_LSQB) ? parse_binary(p, POWER_POW) : NULL;
    if (a != NULL && (a->kind == AST_LIST || a->kind == AST_TUPLE) && parse_accept(p, T_COLON) &&
        parse_expression(p) != NULL)
        parse_raise(p, a->at, "only single target (not %s) can be annotated", a->kind == AST_LIST ? "list" : "tuple");
    parse_back(p, start);
    if (p->failed) return;
    a = parse_star_named(p);
    if (a != NULL && parse_accept(p, T_COMMA)) {
        const Node *next = a;
        while (next != NULL && (next = parse_star_named(p)) != NULL && parse_accept(p, T_COMMA)) {}
        if (!p->failed && parse_accept(p, T_COLON) && parse_expression(p) != NULL)
            parse_raise(p, a->at, "only single target (not tuple) can be annotated");
    }
    parse_back(p, start);
    if (p->failed) return;
    a = parse_expression(p);
    if (a != NULL && parse_accept(p, T_COLON) && parse_expression(p) != NULL)
        parse_raise(p, a->at, "illegal target for annotation");
    parse_back(p, start);
}

static void find_mistaken_target(Parser *p) {
    ParseMark start = parse_here(p);
    BinaryOp op;
    for (;;) { /* (target =)* value = */
        if (parse_peek(p) == K_YIELD) {
            const Node *y = parse_yield(p);
            if (y != NULL && parse_peek(p) == T_ASSIGN)
                parse_raise(p, y->at, "assignment to yield expression not possible");
            break;
        }
        const Node *a = parse_star_expressions(p);
        if (a == NULL || parse_peek(p) != T_ASSIGN) break;
        const Node *bad = parse_invalid_target(a, TARGET_STAR);
        if (bad != NULL) {
            parse_raise(p, bad->at, "cannot assign to %s", parse_expression_name(bad));
            break;
        }
        p->pos++;
    }
    parse_back(p, start);
    if (p->failed) return;
    const Node *a = parse_star_expressions(p);
    if (a != NULL && augmented_operator(parse_peek(p), &op)) {
        p->pos++;
        if (parse_rhs(p) != NULL)
            parse_raise(p, a->at, "'%s' is an illegal expression for augmented assignment", parse_expression_name(a));
    }
    parse_back(p, start);
}

static Node *expression_statement_once(Parser *p) {
    SourceRange at = parse_token(p)->at;
    BinaryOp op;
    Node *value = parse_rhs(p);
    if (value == NULL) return NULL;
    TokenKind kind = parse_peek(p);
    if (kind == T_COLON) return annotated(p, at, value);
    if (kind == T_ASSIGN) return assignment(p, at, value);
    if (augmented_operator(kind, &op)) return augmented(p, at, value, op);
    return statement_with_value(p, AST_EXPR, at, value);
}

static Node *expression_statement(Parser *p) {
    ParseMark start = parse_here(p);
    Node *n = expression_statement_once(p);
    if ((n != NULL && n->kind != AST_EXPR) || p->failed || !p->diagnose) return n;
    int end = p->pos;
    parse_back(p, start);
    find_mistaken_annotation(p);
    if (!p->failed) find_mistaken_target(p);
    parse_back(p, (ParseMark){end, start.stack});
    return p->failed ? NULL : n;
}

static bool at_statement_end(Parser *p) {
    TokenKind kind = parse_peek(p);
    return kind == T_NEWLINE || kind == T_SEMI;
}

static Node *return_statement(Parser *p) {
    SourceRange at = parse_token(p)->at;
    p->pos++;
    bool bare = at_statement_end(p);
    Node *value = bare ? NULL : parse_star_expressions(p);
    if (value == NULL && !bare) return NULL;
    return statement_with_value(p, AST_RETURN, at, value);
}

static Node *raise_statement(Parser *p) {
    SourceRange at = parse_token(p)->at;
    p->pos++;
    Node *n = parse_node(p, AST_RAISE, at);
    if (n == NULL) return NULL;
    if (!at_statement_end(p)) {
        if ((n->raise.exception = parse_expression(p)) == NULL || !parse_adopt(p, n, n->raise.exception)) return NULL;
        if (parse_accept(p, K_FROM) &&
            ((n->raise.cause = parse_expression(p)) == NULL || !parse_adopt(p, n, n->raise.cause)))
            return NULL;
    }
    n->at = parse_span(p, at);
    return n;
}

static Node *assert_statement(Parser *p) {
    SourceRange at = parse_token(p)->at;
    p->pos++;
    Node *n = parse_node(p, AST_ASSERT, at);
    if (n == NULL || (n->assertion.test = parse_expression(p)) == NULL || !parse_adopt(p, n, n->assertion.test))
        return NULL;
    if (parse_accept(p, T_COMMA) &&
        ((n->assertion.message = parse_expression(p)) == NULL || !parse_adopt(p, n, n->assertion.message)))
        return NULL;
    n->at = parse_span(p, at);
    return n;
}

static Node *names_statement(Parser *p, NodeKind kind) {
    SourceRange at = parse_token(p)->at;
    Node *n = parse_node(p, kind, at);
    int room = 0;
    if (n == NULL) return NULL;
    do {
        p->pos++;
        if (parse_peek(p) != T_NAME) return NULL;
        n->names.items = parse_room(p, n->names.items, n->names.count, &room, sizeof *n->names.items);
        if (n->names.items == NULL) return NULL;
        const char *name = parse_name(p, parse_token(p));
        if (name == NULL) return NULL;
        n->names.items[n->names.count++] = (BoundName){name, parse_token(p)->at};
        p->pos++;
    } while (parse_peek(p) == T_COMMA);
    n->at = parse_span(p, at);
    return n;
}

static bool is_delete_target(const Node *n) { return parse_is_target(n, false); }

static Node *delete_statement(Parser *p) {
    SourceRange at = parse_token(p)->at;
    p->pos++;
    ParseMark start = parse_here(p);
    Node *value = parse_star_expressions(p);
    if (value != NULL && is_delete_target(value) && at_statement_end(p)) {
        Node *n = parse_node(p, AST_DELETE, parse_span(p, at));
        if (n == NULL || !parse_adopt(p, n, value)) return NULL;
        parse_set_context(value, CTX_DELETE);
        if (value->kind == AST_TUPLE && !value->parens) {
            n->list = value->list;
            return n;
        }
        int list = parse_list(p);
        return parse_push(p, value) && parse_take(p, list, &n->list) ? n : NULL;
    }
    parse_back(p, start);
    if (!p->diagnose || p->failed) return NULL;
    value = parse_star_expressions(p);
    const Node *bad = value != NULL ? parse_invalid_target(value, TARGET_DELETE) : NULL;
    if (bad != NULL) parse_raise(p, bad->at, "cannot delete %s", parse_expression_name(bad));
    return NULL;
}

/* ---- imports ---- */

static const char *dotted_name(Parser *p) {
    char text[256];
    size_t length = 0;
    do {
        if (parse_peek(p) != T_NAME) return NULL;
        const char *part = parse_name(p, parse_token(p));
        if (part == NULL) return NULL;
        size_t n = strlen(part);
        if (length + n + 2 > sizeof text)
            return parse_raise(p, parse_token(p)->at, "the name of this module is too long");
        if (length > 0) text[length++] = '.';
        memcpy(text + length, part, n);
        length += n;
        p->pos++;
    } while (parse_accept(p, T_DOT));
    const char *copy = arena_copy(p->arena, text, length);
    return copy != NULL ? copy : parse_no_memory(p);
}

static Alias *add_alias(Parser *p, Node *n, int *room) {
    n->import.names = parse_room(p, n->import.names, n->import.count, room, sizeof *n->import.names);
    if (n->import.names == NULL) return NULL;
    return &n->import.names[n->import.count++];
}

static bool alias(Parser *p, Node *n, int *room, bool dotted) {
    SourceRange at = parse_token(p)->at;
    if (parse_peek(p) != T_NAME) return false;
    const char *name = dotted ? dotted_name(p) : parse_name(p, parse_token(p)), *asname = NULL;
    if (name == NULL) return false;
    if (!dotted) p->pos++;
    if (parse_accept(p, K_AS)) {
        if (parse_peek(p) != T_NAME || (asname = parse_name(p, parse_token(p))) == NULL) return false;
        p->pos++;
    }
    Alias *a = add_alias(p, n, room);
    if (a != NULL) *a = (Alias){name, asname, parse_span(p, at)};
    return a != NULL;
}

static Node *import_statement(Parser *p) {
    SourceRange at = parse_token(p)->at;
    Node *n = parse_node(p, AST_IMPORT, at);
    int room = 0;
    if (n == NULL) return NULL;
    do {
        p->pos++;
        if (!alias(p, n, &room, true)) return NULL;
    } while (parse_peek(p) == T_COMMA);
    n->at = parse_span(p, at);
    return n;
}

static bool from_names(Parser *p, Node *n) {
    int room = 0;
    SourceRange at = parse_token(p)->at;
    if (parse_accept(p, T_MUL)) {
        Alias *a = add_alias(p, n, &room);
        if (a != NULL) *a = (Alias){"*", NULL, at};
        return a != NULL;
    }
    bool parens = parse_accept(p, T_LPAR);
    if (!alias(p, n, &room, false)) return false;
    while (parse_accept(p, T_COMMA)) {
        if (parens && parse_peek(p) == T_RPAR) break;
        if (!parens && parse_peek(p) == T_NEWLINE)
            return parse_raise(p, at, "trailing comma not allowed without surrounding parentheses") != NULL;
        if (!alias(p, n, &room, false)) return false;
    }
    return !parens || parse_accept(p, T_RPAR);
}

static Node *from_statement(Parser *p) {
    SourceRange at = parse_token(p)->at;
    Node *n = parse_node(p, AST_IMPORT_FROM, at);
    if (n == NULL) return NULL;
    p->pos++;
    for (;; p->pos++) {
        if (parse_peek(p) == T_DOT) n->import.level++;
        else if (parse_peek(p) == T_ELLIPSIS) n->import.level += 3;
        else break;
    }
    n->import.module = "";
    if (parse_peek(p) == T_NAME) n->import.module = dotted_name(p);
    else if (n->import.level == 0) return NULL;
    if (n->import.module == NULL || !parse_accept(p, K_IMPORT) || !from_names(p, n)) return NULL;
    n->at = parse_span(p, at);
    return n;
}

static Node *simple(Parser *p) {
    SourceRange at = parse_token(p)->at;
    switch (parse_peek(p)) {
    case K_RETURN: return return_statement(p);
    case K_IMPORT: return import_statement(p);
    case K_FROM: return from_statement(p);
    case K_RAISE: return raise_statement(p);
    case K_DEL: return delete_statement(p);
    case K_ASSERT: return assert_statement(p);
    case K_GLOBAL: return names_statement(p, AST_GLOBAL);
    case K_NONLOCAL: return names_statement(p, AST_NONLOCAL);
    case K_PASS: p->pos++; return parse_node(p, AST_PASS, at);
    case K_BREAK: p->pos++; return parse_node(p, AST_BREAK, at);
    case K_CONTINUE: p->pos++; return parse_node(p, AST_CONTINUE, at);
    default: return expression_statement(p);
    }
}

/* `match x:` and its like read as a name and something after it: say what it is. */
static void find_match(Parser *p, const Token *first) {
    const char *text = source_text(p->source, NULL);
    int line_end = first->end;
    if (first->kind != T_NAME || first->end - first->begin != 5 || memcmp(text + first->begin, "match", 5) != 0) return;
    if (parse_peek(p) == T_NEWLINE || parse_peek(p) == T_END || p->tokens[p->pos].begin <= first->end) return;
    while (text[line_end] != '\0' && text[line_end] != '\n' && text[line_end] != '\r') line_end++;
    while (text[line_end - 1] == ' ') line_end--;
    if (text[line_end - 1] == ':') parse_raise(p, first->at, "'match' statements are not part of tsr's language");
}

/* a; b; c NEWLINE, each pushed */
static bool simple_line(Parser *p) {
    int first = p->pos, stack = p->stack_count;
    do {
        Node *n = simple(p);
        if (n == NULL) {
            if (p->diagnose && !p->failed) find_match(p, &p->tokens[first]);
            return false;
        }
        if (!parse_push(p, n)) return false;
        if (parse_accept(p, T_NEWLINE)) return true;
        if (!parse_accept(p, T_SEMI)) {
            if (p->diagnose && !p->failed) find_match(p, &p->tokens[first]);
            p->stack_count = stack;
            return false;
        }
    } while (!parse_accept(p, T_NEWLINE));
    return true;
}

/* ---- compound statements ---- */

/* At the line end or ":" after a header. With a line end instead of ":", the message says so. */
static bool colon(Parser *p) {
    if (parse_accept(p, T_COLON)) return true;
    if (parse_peek(p) == T_NEWLINE) parse_raise(p, parse_token(p)->at, "expected ':'");
    return false;
}

static bool indented(Parser *p) {
    while (!parse_accept(p, T_DEDENT)) {
        if (p->failed || parse_peek(p) == T_END || !statement_parse(p)) return false;
    }
    return true;
}

/* The body after a ":": the rest of the line, or an indented block. `what` and `at` name the header. */
static bool block(Parser *p, NodeList *out, SourceRange at, const char *what) {
    int list = parse_list(p);
    if (parse_accept(p, T_NEWLINE)) {
        if (!parse_accept(p, T_INDENT)) {
            if (!p->failed)
                parse_raise_kind(p, TSR_INDENTATION_ERROR, parse_token(p)->at,
                                 "expected an indented block after %s on line %d", what,
                                 at.line - p->lexer->first_line + 1);
            return false;
        }
        if (!indented(p)) return false;
    } else if (!simple_line(p)) {
        return false;
    }
    return parse_take(p, list, out);
}

static bool adopt_block(Parser *p, Node *n, const NodeList *body) { return parse_adopt_all(p, n, body); }

static SourceRange block_span(SourceRange at, const NodeList *body) {
    return body->count > 0 ? parse_between(at, body->items[body->count - 1]->at) : at;
}

/* [else: block] */
static bool else_block(Parser *p, Node *n, NodeList *orelse) {
    if (parse_peek(p) != K_ELSE) return true;
    SourceRange at = parse_token(p)->at;
    p->pos++;
    if (!parse_force(p, T_COLON) || !block(p, orelse, at, "'else' statement")) return false;
    n->at = block_span(n->at, orelse);
    return adopt_block(p, n, orelse);
}

static bool test_and_body(Parser *p, Node *n, const char *what) {
    SourceRange at = n->at;
    p->pos++;
    n->branch.test = parse_named(p);
    if (n->branch.test == NULL || !colon(p) || !block(p, &n->branch.body, at, what)) return false;
    n->at = block_span(at, &n->branch.body);
    return parse_adopt(p, n, n->branch.test) && adopt_block(p, n, &n->branch.body);
}

/* if and its elifs: a loop, since a chain of them may be long; each nests in the one before. */
static Node *if_statement(Parser *p) {
    int list = parse_list(p);
    do {
        bool first = p->stack_count == list;
        Node *n = parse_node(p, AST_IF, parse_token(p)->at);
        if (n == NULL || !test_and_body(p, n, first ? "'if' statement" : "'elif' statement") || !parse_push(p, n))
            return NULL;
    } while (parse_peek(p) == K_ELIF);
    Node *n = p->stack[--p->stack_count];
    if (!else_block(p, n, &n->branch.orelse)) return NULL;
    while (p->stack_count > list) {
        Node *outer = p->stack[p->stack_count - 1];
        p->stack[p->stack_count - 1] = n;
        if (!parse_take(p, p->stack_count - 1, &outer->branch.orelse) || !parse_adopt(p, outer, n)) return NULL;
        outer->at = parse_between(outer->at, n->at);
        n = outer;
    }
    return n;
}

static Node *while_statement(Parser *p) {
    Node *n = parse_node(p, AST_WHILE, parse_token(p)->at);
    if (n == NULL || !test_and_body(p, n, "'while' statement") || !else_block(p, n, &n->branch.orelse)) return NULL;
    return n;
}

static bool for_header(Parser *p, Node *n) {
    ParseMark start = parse_here(p);
    n->loop.target = parse_targets(p);
    if (n->loop.target != NULL && parse_accept(p, K_IN)) {
        n->loop.iterable = parse_star_expressions(p);
        if (n->loop.iterable == NULL) return false;
        return colon(p);
    }
    parse_back(p, start);
    if (!p->diagnose || p->failed) return false;
    const Node *a = parse_star_expressions(p);
    const Node *bad = a != NULL ? parse_invalid_target(a, TARGET_FOR) : NULL;
    if (bad != NULL) parse_raise(p, bad->at, "cannot assign to %s", parse_expression_name(bad));
    return false;
}

static Node *for_statement(Parser *p) {
    SourceRange at = parse_token(p)->at;
    Node *n = parse_node(p, AST_FOR, at);
    if (n == NULL) return NULL;
    p->pos++;
    if (!for_header(p, n) || !block(p, &n->loop.body, at, "'for' statement")) return NULL;
    n->at = block_span(at, &n->loop.body);
    if (!parse_adopt(p, n, n->loop.target) || !parse_adopt(p, n, n->loop.iterable) || !adopt_block(p, n, &n->loop.body))
        return NULL;
    return else_block(p, n, &n->loop.orelse) ? n : NULL;
}

/* A statement that tsr leaves out gets an error that says so; anything else matches nothing. */
static Node *left_out(Parser *p) {
    SourceRange at = parse_token(p)->at;
    if (parse_peek(p) == K_CLASS) return parse_raise(p, at, "'class' statements are not part of tsr's language");
    if (parse_peek(p) == K_ASYNC) return parse_raise(p, at, "'async' is not part of tsr's language");
    return NULL;
}

static Node *def_statement(Parser *p) {
    SourceRange at = parse_token(p)->at;
    Node *n = parse_node(p, AST_DEF, at);
    if (n == NULL) return NULL;
    p->pos++;
    if (parse_peek(p) != T_NAME) return NULL;
    n->function.first_line = at.line;
    n->function.name_at = parse_token(p)->at;
    n->function.name = parse_name(p, parse_token(p));
    if (n->function.name == NULL) return NULL;
    p->pos++;
    if (!parse_force(p, T_LPAR) || !parse_parameters(p, T_RPAR, n) || !parse_accept(p, T_RPAR)) return NULL;
    ParseMark start = parse_here(p);
    if (parse_accept(p, T_ARROW) && (n->function.returns = parse_expression(p)) == NULL) parse_back(p, start);
    if (p->failed || !parse_adopt(p, n, n->function.returns)) return NULL;
    if (!parse_force(p, T_COLON) || !block(p, &n->function.body, at, "function definition")) return NULL;
    n->at = block_span(at, &n->function.body);
    return adopt_block(p, n, &n->function.body) ? n : NULL;
}

/* The decorators, each on a line of its own, and the def below them. */
static Node *decorated(Parser *p) {
    int list = parse_list(p), first_line = parse_token(p)->at.line;
    while (parse_accept(p, T_MATMUL)) {
        Node *d = parse_named(p);
        if (d == NULL || !parse_push(p, d) || !parse_accept(p, T_NEWLINE)) return NULL;
    }
    if (parse_peek(p) != K_DEF) return left_out(p);
    NodeList decorators;
    if (!parse_take(p, list, &decorators)) return NULL;
    Node *n = def_statement(p);
    if (n == NULL || !parse_adopt_all(p, n, &decorators)) return NULL;
    n->function.decorators = decorators;
    n->function.first_line = first_line;
    return n;
}

/* ---- with ---- */

static bool with_item(Parser *p, WithItem *item) {
    item->target = NULL;
    item->context = parse_expression(p);
    if (item->context == NULL) return false;
    if (!parse_accept(p, K_AS)) return true;
    ParseMark start = parse_here(p);
    Node *target = parse_target(p);
    TokenKind next = parse_peek(p);
    bool ended = next == T_COMMA || next == T_RPAR || next == T_COLON || next == T_NEWLINE;
    if (target != NULL && parse_is_target(target, true) && ended) {
        parse_set_context(target, CTX_STORE);
        item->target = target;
        return true;
    }
    if (p->diagnose && !p->failed) {
        parse_back(p, start);
        const Node *a = parse_expression(p);
        next = parse_peek(p);
        const Node *bad = a != NULL && (next == T_COMMA || next == T_RPAR || next == T_COLON)
                              ? parse_invalid_target(a, TARGET_STAR)
                              : NULL;
        if (bad != NULL) parse_raise(p, bad->at, "cannot assign to %s", parse_expression_name(bad));
    }
    parse_back(p, start);
    return false;
}

/* The items of a with statement; `close` ends them (":" or ")"). */
static bool with_items(Parser *p, Node *n, TokenKind close) {
    int room = 0;
    n->with.count = 0;
    do {
        if (close == T_RPAR && n->with.count > 0 && parse_peek(p) == T_RPAR) break;
        n->with.items = parse_room(p, n->with.items, n->with.count, &room, sizeof *n->with.items);
        if (n->with.items == NULL) return false;
        if (!with_item(p, &n->with.items[n->with.count])) return false;
        n->with.count++;
    } while (parse_accept(p, T_COMMA));
    return close == T_COLON || (parse_accept(p, T_RPAR) && (parse_peek(p) == T_COLON || parse_peek(p) == T_NEWLINE));
}

static Node *with_statement(Parser *p) {
    SourceRange at = parse_token(p)->at;
    Node *n = parse_node(p, AST_WITH, at);
    if (n == NULL) return NULL;
    p->pos++;
    ParseMark start = parse_here(p);
    bool matched =
        parse_accept(p, T_LPAR) && with_items(p, n, T_RPAR) && (parse_peek(p) == T_COLON || n->with.count > 0);
    if (!matched) {
        if (p->failed) return NULL;
        parse_back(p, start);
        if (!with_items(p, n, T_COLON)) return NULL;
    }
    if (!colon(p) || !block(p, &n->with.body, at, "'with' statement")) return NULL;
    n->at = block_span(at, &n->with.body);
    for (int i = 0; i < n->with.count; i++)
        if (!parse_adopt(p, n, n->with.items[i].context) || !parse_adopt(p, n, n->with.items[i].target)) return NULL;
    return adopt_block(p, n, &n->with.body) ? n : NULL;
}

/* ---- try ---- */

static bool several_types(Parser *p, const Node *first) {
    if (parse_peek(p) != T_COMMA) return false;
    ParseMark start = parse_here(p);
    int more = 0;
    while (parse_accept(p, T_COMMA) && parse_expression(p) != NULL) more++;
    if (!p->failed && parse_accept(p, K_AS)) parse_accept(p, T_NAME);
    if (!p->failed && more > 0 && parse_peek(p) == T_COLON)
        parse_raise(p, first->at, "multiple exception types must be parenthesized");
    parse_back(p, start);
    return true;
}

static Node *handler(Parser *p) {
    SourceRange at = parse_token(p)->at;
    Node *n = parse_node(p, AST_HANDLER, at);
    if (n == NULL) return NULL;
    p->pos++;
    if (parse_peek(p) == T_MUL) return parse_raise(p, parse_token(p)->at, "'except*' is not part of tsr's language");
    if (parse_peek(p) != T_COLON && parse_peek(p) != T_NEWLINE) {
        n->handler.type = parse_expression(p);
        if (n->handler.type == NULL || several_types(p, n->handler.type)) return NULL;
        if (parse_accept(p, K_AS)) {
            if (parse_peek(p) != T_NAME || (n->handler.name = parse_name(p, parse_token(p))) == NULL) return NULL;
            p->pos++;
        }
    }
    if (!colon(p) || !block(p, &n->handler.body, at, "'except' statement")) return NULL;
    n->at = block_span(at, &n->handler.body);
    return parse_adopt(p, n, n->handler.type) && adopt_block(p, n, &n->handler.body) ? n : NULL;
}

static bool finally_block(Parser *p, Node *n) {
    if (parse_peek(p) != K_FINALLY) return true;
    SourceRange at = parse_token(p)->at;
    p->pos++;
    if (!parse_force(p, T_COLON) || !block(p, &n->attempt.finally, at, "'finally' statement")) return false;
    n->at = block_span(n->at, &n->attempt.finally);
    return adopt_block(p, n, &n->attempt.finally);
}

static Node *try_statement(Parser *p) {
    SourceRange at = parse_token(p)->at;
    Node *n = parse_node(p, AST_TRY, at);
    if (n == NULL) return NULL;
    p->pos++;
    if (!parse_force(p, T_COLON) || !block(p, &n->attempt.body, at, "'try' statement") ||
        !adopt_block(p, n, &n->attempt.body))
        return NULL;
    int list = parse_list(p);
    while (parse_peek(p) == K_EXCEPT) {
        Node *h = handler(p);
        if (h == NULL || !parse_push(p, h)) return NULL;
    }
    if (p->failed || !parse_take(p, list, &n->attempt.handlers) || !adopt_block(p, n, &n->attempt.handlers))
        return NULL;
    n->at = block_span(at, n->attempt.handlers.count > 0 ? &n->attempt.handlers : &n->attempt.body);
    if (n->attempt.handlers.count == 0 && parse_peek(p) != K_FINALLY)
        return parse_raise(p, parse_token(p)->at, "expected 'except' or 'finally' block");
    if (n->attempt.handlers.count > 0 && !else_block(p, n, &n->attempt.orelse)) return NULL;
    return finally_block(p, n) ? n : NULL;
}

static Node *compound(Parser *p) {
    switch (parse_peek(p)) {
    case K_IF: return if_statement(p);
    case K_WHILE: return while_statement(p);
    case K_FOR: return for_statement(p);
    case K_DEF: return def_statement(p);
    case K_WITH: return with_statement(p);
    case K_TRY: return try_statement(p);
    case T_MATMUL: return decorated(p);
    default: return left_out(p);
    }
}

bool statement_parse(Parser *p) {
    switch (parse_peek(p)) {
    case K_IF:
    case K_WHILE:
    case K_FOR:
    case K_DEF:
    case K_WITH:
    case K_TRY:
    case K_CLASS:
    case K_ASYNC:
    case T_MATMUL: {
        Node *n = compound(p);
        return n != NULL && parse_push(p, n);
    }
    default: return simple_line(p);
    }
}
