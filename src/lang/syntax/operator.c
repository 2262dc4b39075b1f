/* operator.c: operators by their binding powers, over what primary.c reads between them. */
#include "rules.h"

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
    Node *base = parse_primary(p);
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
    if (kind == K_NOT && parse_peek_after(p) != K_IN) return false;
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
        ops = parse_room(p, ops, ops_count, &ops_room, 1);
        if (ops == NULL) return NULL;
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
