/* parameter.c: the parameters of a def or a lambda. */
#include "rules.h"

typedef struct ParameterList {
    Param *items;
    int count, room;
    bool lambda, slash, star, defaults;
    TokenKind close;
} ParameterList;

static Param *add_parameter(Parser *p, ParameterList *l, ParamKind kind) {
    l->items = parse_room(p, l->items, l->count, &l->room, sizeof *l->items);
    if (l->items == NULL) return NULL;
    Param *param = &l->items[l->count];
    *param = (Param){.kind = kind, .at = parse_token(p)->at};
    if (parse_peek(p) != T_NAME || (param->name = parse_name(p, parse_token(p))) == NULL) return NULL;
    p->pos++;
    l->count++;
    if (!l->lambda && parse_accept(p, T_COLON)) {
        bool star = kind == PARAM_STAR && parse_peek(p) == T_MUL;
        param->annotation = star ? parse_starred(p) : parse_expression(p);
        if (param->annotation == NULL) return NULL;
    }
    return param;
}

static bool at_list_end(Parser *p, const ParameterList *l) {
    return parse_peek(p) == l->close || parse_peek(p) == T_COMMA;
}

static bool slash(Parser *p, ParameterList *l) {
    SourceRange at = parse_token(p)->at;
    p->pos++;
    if (l->slash) return parse_raise(p, at, "/ may appear only once") != NULL;
    if (l->star) return parse_raise(p, at, "/ must be ahead of *") != NULL;
    if (l->count == 0)
        return parse_peek(p) == T_COMMA && parse_raise(p, at, "at least one argument must precede /") != NULL;
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
    if (parse_peek(p) == l->close ||
        (parse_peek(p) == T_COMMA && (parse_peek_after(p) == l->close || parse_peek_after(p) == T_POW)))
        return parse_raise(p, at, "named arguments must follow bare *") != NULL;
    if (parse_peek(p) == T_COMMA) return true;
    if (add_parameter(p, l, PARAM_STAR) == NULL) return false;
    if (parse_peek(p) == T_ASSIGN)
        return parse_raise(p, parse_token(p)->at, "var-positional argument cannot have default value") != NULL;
    return true;
}

static bool double_star(Parser *p, ParameterList *l) {
    p->pos++;
    if (add_parameter(p, l, PARAM_DOUBLE_STAR) == NULL) return false;
    if (parse_peek(p) == T_ASSIGN)
        return parse_raise(p, parse_token(p)->at, "var-keyword argument cannot have default value") != NULL;
    if (parse_peek(p) != T_COMMA) return true;
    TokenKind next = parse_peek_after(p);
    if (next == T_NAME || next == T_MUL || next == T_POW || next == T_DIV)
        return parse_raise(p, parse_token_after(p)->at, "arguments cannot follow var-keyword argument") != NULL;
    return true;
}

static bool plain_parameter(Parser *p, ParameterList *l) {
    Param *param = add_parameter(p, l, l->star ? PARAM_KEYWORD_ONLY : PARAM_NORMAL);
    if (param == NULL) return false;
    if (parse_peek(p) == T_ASSIGN) {
        SourceRange at = parse_token(p)->at;
        p->pos++;
        if (parse_peek(p) == T_RPAR || parse_peek(p) == T_COMMA)
            return parse_raise(p, at, "expected default value expression") != NULL;
        l->defaults = true;
        Node *value = parse_expression(p);
        l->items[l->count - 1].default_value = value;
        return value != NULL;
    }
    if (l->defaults && !l->star && at_list_end(p, l))
        return parse_raise(p, param->at, "non-default argument follows default argument") != NULL;
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
        parse_raise(p, parse_span(p, at), "%s parameters cannot be parenthesized",
                    l->lambda ? "Lambda expression" : "Function");
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
        if (!parse_adopt(p, function, l.items[i].annotation) || !parse_adopt(p, function, l.items[i].default_value))
            return false;
    return true;
}
