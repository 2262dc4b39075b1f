/* primary.c: names, constants and what hangs on them: calls with their arguments, subscripts, attributes. */
#include "rules.h"

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
    case T_LBRACE: return parse_brackets(p);
    default: return NULL;
    }
}

/* ---- calls ---- */

typedef struct Arguments {
    Keyword *keywords;
    int count, room, list;    /* list: the positional ones, on the stack */
    bool unpacked, misplaced; /* a **value was seen; a positional one after a keyword */
    bool unpacked_before;     /* the first misplaced one */
    bool plain_first;         /* the first argument is a positional one without a star */
} Arguments;

static bool add_keyword(Parser *p, Arguments *a, const char *name, Node *value, SourceRange begin) {
    if (value == NULL) return false;
    a->keywords = parse_room(p, a->keywords, a->count, &a->room, sizeof *a->keywords);
    if (a->keywords == NULL) return false;
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
        if (parse_clauses_follow(p)) parse_raise(p, at, "invalid syntax. Maybe you meant '==' or ':=' instead of '='?");
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
    Node *n = a->unpacked ? NULL : parse_starred_expression(p);
    if (n != NULL) return parse_push(p, n);
    if (p->diagnose && !p->failed && (a->count > 0 || m.stack > a->list) && !a->plain_first)
        parse_raise(p, begin, "iterable argument unpacking follows keyword argument unpacking");
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
            parse_raise(p, parse_between(at, parse_token(p)->at),
                        "expression cannot contain assignment, perhaps you meant \"==\"?");
    } else if (parse_clauses_follow(p) && (!first || parse_accept(p, T_COMMA))) {
        if (first && parse_peek(p) != T_RPAR) parse_expression(p); /* a mistake in it comes first */
        parse_raise(p, at, "Generator expression must be parenthesized");
    }
    parse_back(p, m);
}

static bool positional_argument(Parser *p, Arguments *a, SourceRange open) {
    SourceRange begin = parse_token(p)->at;
    bool named = parse_peek(p) == T_NAME && parse_peek_after(p) == T_WALRUS;
    Node *value = named ? parse_walrus(p) : parse_expression(p);
    if (value == NULL || parse_peek(p) == T_WALRUS) return false;
    if (parse_peek(p) == K_FOR && p->stack_count == a->list && a->count == 0) {
        ParseMark m = parse_here(p);
        Node *generator = parse_comprehension(p, AST_GENERATOR, open, value, NULL);
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
    if (parse_peek(p) == T_NAME && parse_peek_after(p) == T_ASSIGN) return keyword_argument(p, a);
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
        parse_raise(p, p->tokens[p->pos - 1].at, "positional argument follows keyword argument%s",
                    a.unpacked_before ? " unpacking" : "");
    if (p->failed || !parse_accept(p, T_RPAR)) return NULL;
    Node *n = parse_node(p, AST_CALL, parse_span(p, begin));
    if (n == NULL || !parse_take(p, a.list, &n->call.args) || !parse_adopt_all(p, n, &n->call.args) ||
        !parse_adopt(p, n, func))
        return NULL;
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
    if (parse_peek(p) == T_MUL) return parse_starred_expression(p);
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
    Node *index = parse_tuple(p, slice_item(p), inside, slice_item);
    if (index == NULL) return NULL;
    if (star && index->kind == AST_STARRED) { /* x[*a] is x[(*a,)] */
        if (!parse_push(p, index)) return NULL;
        index = parse_take_tuple(p, list, inside);
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

Node *parse_primary(Parser *p) {
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
