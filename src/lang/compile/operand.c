/* operand.c: where the value of an expression is, and how it gets into a slot of its own. */
#include "compile_impl.h"

/* Whether evaluating `node` may run code that rebinds a name: calls may (globals), a walrus does. */
static bool may_rebind(const Node *node, bool calls) {
    if (node == NULL) return false;
    switch (node->kind) {
    case AST_CONSTANT:
    case AST_NAME:
    case AST_LAMBDA: return false;
    case AST_NAMED:
    case AST_YIELD:
    case AST_YIELD_FROM: return true;
    case AST_CALL:
        if (calls || may_rebind(node->call.func, calls)) return true;
        for (int i = 0; i < node->call.args.count; i++)
            if (may_rebind(node->call.args.items[i], calls)) return true;
        for (int i = 0; i < node->call.keyword_count; i++)
            if (may_rebind(node->call.keywords[i].value, calls)) return true;
        return false;
    case AST_ATTRIBUTE: return may_rebind(node->attribute.value, calls);
    case AST_SUBSCRIPT: return may_rebind(node->subscript.value, calls) || may_rebind(node->subscript.index, calls);
    case AST_SLICE:
        return may_rebind(node->slice.lower, calls) || may_rebind(node->slice.upper, calls) ||
               may_rebind(node->slice.step, calls);
    case AST_UNARY: return may_rebind(node->unary.operand, calls);
    case AST_BINARY: return may_rebind(node->binary.left, calls) || may_rebind(node->binary.right, calls);
    case AST_TUPLE:
    case AST_LIST:
        for (int i = 0; i < node->list.count; i++)
            if (may_rebind(node->list.items[i], calls)) return true;
        return false;
    default: return true; /* rare enough */
    }
}

bool operand_may_change(const Compiler *c, Operand o, const Node *later) {
    if (o.kind != OPERAND_SLOT || slot_is_temp(c, o.index)) return false;
    bool global = (c->code->flags & CODE_MODULE) && o.index < GLOBAL_SLOTS;
    return may_rebind(later, global);
}

Operand operand_copy(Compiler *c, Operand o) {
    int t = temp_new(c);
    emit(c, INS_MOVE, 0, t, o.index, 0);
    return (Operand){OPERAND_TEMP, t};
}

Operand operand_protect(Compiler *c, Operand o, SourceRange at, const Node *later) {
    if (o.kind != OPERAND_SLOT || slot_is_temp(c, o.index)) return o;
    if (!operand_may_change(c, o, later)) {
        bool parameter = !(c->code->flags & CODE_MODULE) && o.index < c->code->positional;
        bool quiet = parameter || later->kind == AST_NAME || later->kind == AST_CONSTANT;
        c->at = at;
        if (!quiet && may_rebind(later, true))
            emit(c, INS_CHECK, 0, o.index, 0, 0); /* unbound: an error before the call */
        else if (!quiet) add_lent(c, o.index, at, later);
        return o;
    }
    return operand_copy(c, o);
}

void operand_to(Compiler *c, Operand o, int dst) {
    bool global = (c->code->flags & CODE_MODULE) && o.kind == OPERAND_SLOT && o.index < GLOBAL_SLOTS;
    if (o.kind == OPERAND_CONST) emit_k(c, INS_LOADK, 0, dst, (uint32_t)o.index);
    else if (global && o.index != dst) emit_k(c, INS_LOADG, 0, dst, (uint32_t)o.index);
    else if (o.index != dst) emit(c, slot_is_temp(c, o.index) ? INS_TAKE : INS_MOVE, 0, dst, o.index, 0);
    else if (o.kind == OPERAND_SLOT && !slot_is_temp(c, dst))
        emit(c, INS_CHECK, 0, dst, 0, 0); /* x = x of an unbound x */
    if (o.kind == OPERAND_TEMP && o.index != dst) temps_free(c, 1);
}

Operand operand_in_slot(Compiler *c, Operand o) {
    if (o.kind != OPERAND_CONST) return o;
    int t = temp_new(c);
    emit_k(c, INS_LOADK, 0, t, (uint32_t)o.index);
    return (Operand){OPERAND_TEMP, t};
}

Operand expr_in_slot(Compiler *c, const Node *node) { return operand_in_slot(c, expr(c, node, -1)); }

void expr_to(Compiler *c, const Node *node, int dst) {
    Operand o = expr(c, node, dst);
    operand_to(c, o, dst);
}

Operand result_slot(Compiler *c, int want) {
    if (want >= 0) return operand_slot(want);
    return (Operand){OPERAND_TEMP, temp_new(c)};
}

Operand early_result_slot(Compiler *c, int want) {
    if (want >= 0 && slot_is_temp(c, want)) return operand_slot(want);
    return (Operand){OPERAND_TEMP, temp_new(c)};
}
