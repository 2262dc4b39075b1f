/* operator.c: arithmetic, comparisons, and, or, not, conditional expressions, and conditions as jumps. */
#include "compile_impl.h"

/* The row for a right operand in a slot; +1 takes a constant there, +2 one on the left. -1: only BINARY. */
static int binary_row(BinaryOp op, bool inplace) {
    if (inplace) return op == OP_ADD ? INS_IADD_RR : op == OP_SUB ? INS_ISUB_RR : op == OP_MUL ? INS_IMUL_RR : -1;
    switch (op) {
    case OP_ADD: return INS_ADD_RR;
    case OP_SUB: return INS_SUB_RR;
    case OP_MUL: return INS_MUL_RR;
    case OP_DIV: return INS_DIV_RR;
    case OP_FLOORDIV: return INS_FLOORDIV_RR;
    case OP_MOD: return INS_MOD_RR;
    default: return -1;
    }
}

/* Which of the two operands are constants. */
static int constant_operands(Operand l, Operand r) {
    return (l.kind == OPERAND_CONST ? BINARY_KB : 0) | (r.kind == OPERAND_CONST ? BINARY_KC : 0);
}

void emit_binary(Compiler *c, BinaryOp op, bool inplace, int dst, Operand l, Operand r) {
    int row = binary_row(op, inplace), kinds = constant_operands(l, r);
    bool left_rows = !inplace && (op == OP_ADD || op == OP_SUB || op == OP_MUL || op == OP_DIV);
    if (row < 0 || kinds == (BINARY_KB | BINARY_KC) || (kinds == BINARY_KB && !left_rows))
        row = inplace ? INS_INPLACE : INS_BINARY;
    else if (kinds == BINARY_KC) row += 1;
    else if (kinds == BINARY_KB) row += 2;
    emit(c, (Opcode)row, (int)op | kinds, dst, l.index, r.index);
}

Operand expr_binary(Compiler *c, const Node *node, int want) {
    int wait = take_may_wait(c, node);
    c->may_wait = is_harmless(node->binary.right) ? node->binary.left : NULL;
    Operand l = operand_protect(c, expr(c, node->binary.left, -1), node->at, node->binary.right);
    c->may_wait = node->binary.right;
    Operand r = expr(c, node->binary.right, -1);
    c->may_wait = NULL;
    operand_free(c, r);
    operand_free(c, l);
    Operand o = result_slot(c, want);
    c->at = node->at;
    emit_binary(c, node->binary.op, false, o.index, l, r);
    if (compile_failed(c)) return o;
    Ins *ins = &c->code->ins[code_here(c) - 1];
    ins->x |= (uint8_t)wait;
    if (node == c->last_use && l.kind == OPERAND_SLOT) ins->x |= BINARY_LAST;
    return o;
}

Operand expr_unary(Compiler *c, const Node *node, int want) {
    bool pointwise = node->unary.op == OP_NEG || node->unary.op == OP_INVERT;
    int wait = pointwise ? take_may_wait(c, node) : 0;
    c->may_wait = pointwise ? node->unary.operand : NULL;
    Operand v = expr_in_slot(c, node->unary.operand);
    c->may_wait = NULL;
    operand_free(c, v);
    Operand o = result_slot(c, want);
    c->at = node->at;
    emit(c, INS_UNARY, (int)node->unary.op | wait, o.index, v.index, 0);
    return o;
}

Operand expr_boolean(Compiler *c, const Node *node, int want) {
    Operand o = early_result_slot(c, want);
    Label end = LABEL_NEW;
    const NodeList *values = &node->boolean.values;
    for (int i = 0; i < values->count; i++) {
        expr_to(c, values->items[i], o.index);
        if (i + 1 < values->count) emit_jump(c, node->boolean.is_or ? INS_JKEEPT : INS_JKEEPF, o.index, 0, &end);
    }
    label_here(c, &end);
    return o;
}

Operand expr_conditional(Compiler *c, const Node *node, int want) {
    Label otherwise = LABEL_NEW, end = LABEL_NEW;
    Operand o = result_slot(c, want);
    jump_if(c, node->conditional.test, false, &otherwise);
    expr_to(c, node->conditional.body, o.index);
    emit_jump(c, INS_JUMP, 0, 0, &end);
    label_here(c, &otherwise);
    expr_to(c, node->conditional.orelse, o.index);
    label_here(c, &end);
    return o;
}

static void emit_compare(Compiler *c, CompareOp op, int dst, Operand l, Operand r) {
    emit(c, INS_COMPARE, (int)op | constant_operands(l, r), dst, l.index, r.index);
}

/* a < b < c: each middle operand that is a temporary is copied before its first comparison consumes it, and a name that
 * c binds anew. */
static Operand chain(Compiler *c, const Node *node, int want) {
    const NodeList *right = &node->compare.comparators;
    Operand o = early_result_slot(c, want);
    int copies[2] = {temps_new(c, 2), 0};
    copies[1] = copies[0] + 1;
    Label end = LABEL_NEW;
    Operand l = operand_protect(c, expr(c, node->compare.left, -1), node->at, right->items[0]);
    for (int i = 0; i < right->count; i++) {
        Operand r = expr(c, right->items[i], -1), next = r;
        bool last = i + 1 == right->count;
        c->at = node->at;
        if (!last && (r.kind == OPERAND_TEMP || operand_may_change(c, r, right->items[i + 1]))) {
            next = operand_slot(copies[i & 1]);
            emit(c, INS_MOVE, 0, next.index, r.index, 0);
        }
        operand_free(c, r);
        operand_free(c, l);
        emit_compare(c, (CompareOp)node->compare.ops[i], o.index, l, r);
        if (!last) emit_jump(c, INS_JKEEPF, o.index, 0, &end);
        l = next;
    }
    label_here(c, &end);
    emit(c, INS_CLEAR, 0, copies[0], 0, 2);
    temps_free(c, 2);
    return o;
}

Operand expr_compare(Compiler *c, const Node *node, int want) {
    if (node->compare.comparators.count > 1) return chain(c, node, want);
    const Node *right = node->compare.comparators.items[0];
    int wait = take_may_wait(c, node);
    c->may_wait = is_harmless(right) ? node->compare.left : NULL;
    Operand l = operand_protect(c, expr(c, node->compare.left, -1), node->at, right);
    c->may_wait = right;
    Operand r = expr(c, right, -1);
    c->may_wait = NULL;
    operand_free(c, r);
    operand_free(c, l);
    Operand o = result_slot(c, want);
    c->at = node->at;
    emit_compare(c, (CompareOp)node->compare.ops[0], o.index, l, r);
    if (!compile_failed(c)) c->code->ins[code_here(c) - 1].x |= (uint8_t)wait;
    return o;
}

/* --- conditions --- */

static bool is_none(const Node *node) { return node->kind == AST_CONSTANT && node->constant.kind == CONST_NONE; }

static bool jump_if_compare(Compiler *c, const Node *node, bool sense, Label *label) {
    if (node->compare.comparators.count > 1) return false;
    CompareOp op = (CompareOp)node->compare.ops[0];
    const Node *right = node->compare.comparators.items[0];
    if ((op == CMP_IS || op == CMP_IS_NOT) && is_none(right)) {
        Operand v = expr_in_slot(c, node->compare.left);
        operand_free(c, v);
        c->at = node->at;
        emit_jump(c, (op == CMP_IS) == sense ? INS_JNONE : INS_JNOTNONE, v.index, 0, label);
        return true;
    }
    if (op > CMP_GE) return false;
    Operand l = operand_protect(c, expr_in_slot(c, node->compare.left), node->at, right);
    Operand r = expr(c, right, -1);
    operand_free(c, r);
    operand_free(c, l);
    c->at = node->at;
    int row = INS_JT_EQ_RR + 4 * (int)op + (sense ? 0 : 2) + (r.kind == OPERAND_CONST);
    emit_jump(c, (Opcode)row, l.index, r.index, label);
    return true;
}

void jump_if(Compiler *c, const Node *node, bool sense, Label *label) {
    if (node->kind == AST_UNARY && node->unary.op == OP_NOT) {
        jump_if(c, node->unary.operand, !sense, label);
        return;
    }
    if (node->kind == AST_BOOL) {
        const NodeList *values = &node->boolean.values;
        Label skip = LABEL_NEW;
        bool direct = node->boolean.is_or == sense; /* any one value decides */
        for (int i = 0; i < values->count; i++) {
            bool last = i + 1 == values->count;
            if (direct || last) jump_if(c, values->items[i], sense, label);
            else jump_if(c, values->items[i], !sense, &skip);
        }
        label_here(c, &skip);
        return;
    }
    if (node->kind == AST_COMPARE && jump_if_compare(c, node, sense, label)) return;
    if (node->kind == AST_CONSTANT && (node->constant.kind == CONST_TRUE || node->constant.kind == CONST_FALSE)) {
        c->at = node->at;
        if ((node->constant.kind == CONST_TRUE) == sense)
            emit_jump(c, label->at >= 0 ? INS_LOOP : INS_JUMP, 0, 0, label);
        return;
    }
    Operand v = expr_in_slot(c, node);
    operand_free(c, v);
    c->at = node->at;
    emit_jump(c, sense ? INS_JT : INS_JF, v.index, 0, label);
}
