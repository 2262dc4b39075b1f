/* bracket.c: what stands in brackets: groups, tuples, lists, sets, dicts and the comprehensions of each, with the
 * mistakes that are usual in them. */
#include "rules.h"

enum { MAX_DICT_MISTAKES = 100 };

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
    if (parse_peek(p) == K_ASYNC)
        return parse_raise(p, parse_token(p)->at, "asynchronous comprehensions are not part of tsr's language");
    while (parse_peek(p) == K_FOR) {
        all = parse_room(p, all, *count, &room, sizeof *all);
        if (all == NULL || !for_clause(p, &all[*count])) return NULL;
        (*count)++;
    }
    return all;
}

Node *parse_comprehension(Parser *p, NodeKind kind, SourceRange at, Node *element, Node *key) {
    Node *n = parse_node(p, kind, at);
    if (n == NULL) return NULL;
    n->comprehension.element = element;
    n->comprehension.key = key;
    n->comprehension.generators = for_clauses(p, &n->comprehension.generator_count);
    if (n->comprehension.generators == NULL) return NULL;
    for (int i = 0; i < n->comprehension.generator_count; i++) {
        const Comprehension *g = &n->comprehension.generators[i];
        if (!parse_adopt(p, n, g->target) || !parse_adopt(p, n, g->iterable) || !parse_adopt_all(p, n, &g->conditions))
            return NULL;
    }
    return parse_adopt(p, n, element) && parse_adopt(p, n, key) ? n : NULL;
}

bool parse_clauses_follow(Parser *p) {
    int count;
    return for_clauses(p, &count) != NULL;
}

static void find_mistaken_comprehension(Parser *p) {
    ParseMark start = parse_here(p);
    bool round = parse_peek(p) == T_LPAR;
    p->pos++;
    Node *a = parse_peek(p) == T_MUL ? parse_starred_expression(p) : NULL;
    if (a != NULL && parse_clauses_follow(p))
        parse_raise(p, a->at, "iterable unpacking cannot be used in comprehension");
    p->pos = start.pos + 1;
    a = round || p->failed ? NULL : parse_star_named(p);
    if (a != NULL && parse_peek(p) == T_COMMA) {
        SourceRange comma = parse_token(p)->at;
        Node *all = parse_tuple(p, a, a->at, parse_star_named);
        if (all != NULL && parse_clauses_follow(p))
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
    if (parse_peek(p) == T_RPAR) return close_with(p, parse_take_tuple(p, parse_list(p), begin), T_RPAR, begin);
    if (parse_peek(p) == K_YIELD) {
        Node *n = parse_yield(p);
        return n != NULL && parse_accept(p, T_RPAR) ? n : NULL;
    }
    Node *first = parse_star_named(p);
    if (first == NULL) return NULL;
    if (parse_peek(p) == K_FOR || parse_peek(p) == K_ASYNC)
        return first->kind == AST_STARRED
                   ? NULL
                   : close_with(p, parse_comprehension(p, AST_GENERATOR, begin, first, NULL), T_RPAR, begin);
    if (parse_peek(p) == T_COMMA) return close_with(p, parse_tuple(p, first, begin, parse_star_named), T_RPAR, begin);
    if (first->kind == AST_STARRED || !parse_accept(p, T_RPAR)) return NULL;
    first->parens = 1;
    return first;
}

static void find_mistaken_group(Parser *p) {
    ParseMark start = parse_here(p);
    p->pos++;
    SourceRange at = parse_token(p)->at;
    if (parse_peek(p) == T_MUL && parse_starred_expression(p) != NULL && parse_accept(p, T_RPAR))
        parse_raise(p, at, "cannot use starred expression here");
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
            return first->kind == AST_STARRED
                       ? NULL
                       : close_with(p, parse_comprehension(p, AST_LIST_COMP, begin, first, NULL), T_RSQB, begin);
        Node *all = parse_tuple(p, first, begin, parse_star_named);
        if (all == NULL) return NULL;
        if (all != first) {
            all->kind = AST_LIST;
            return close_with(p, all, T_RSQB, begin);
        }
        if (!parse_push(p, first)) return NULL;
    }
    n = close_with(p, parse_take_tuple(p, list, begin), T_RSQB, begin);
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
        if (!(keyed ? parse_accept(p, T_COLON) && (value = parse_expression(p)) != NULL : dict_item(p, &key, &value)))
            return NULL;
        if (p->stack_count == list && key != NULL && (parse_peek(p) == K_FOR || parse_peek(p) == K_ASYNC))
            return close_with(p, parse_comprehension(p, AST_DICT_COMP, begin, value, key), T_RBRACE, begin);
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
        return first->kind == AST_STARRED
                   ? NULL
                   : close_with(p, parse_comprehension(p, AST_SET_COMP, begin, first, NULL), T_RBRACE, begin);
    Node *n = parse_tuple(p, first, begin, parse_star_named);
    if (n == NULL) return NULL;
    if (n == first) {
        int list = parse_list(p);
        if (!parse_push(p, first)) return NULL;
        n = parse_take_tuple(p, list, begin);
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
            if (parse_starred(p) != NULL) parse_raise(p, at, "cannot use a starred expression in a dictionary value");
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
    if (parse_accept(p, T_POW) && parse_binary(p, POWER_BITOR) != NULL && parse_clauses_follow(p) &&
        parse_peek(p) == T_RBRACE)
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
    bool named = next == T_MUL || (next == T_NAME && parse_peek_after(p) == T_WALRUS);
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

Node *parse_brackets(Parser *p) {
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
