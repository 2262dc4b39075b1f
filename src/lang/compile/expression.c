/* expression.c: an expression by its kind, and the small kinds: lambda, yield, name := value. */
#include "compile_impl.h"

static Operand yield(Compiler *c, const Node *node, int want) {
    Operand v =
        node->value != NULL ? expr_in_slot(c, node->value) : operand_in_slot(c, const_operand_move(c, VALUE_NONE));
    operand_free(c, v);
    Operand o = result_slot(c, want);
    c->at = node->at;
    emit(c, INS_YIELD, 0, o.index, v.index, 0);
    return o;
}

static Operand yield_from(Compiler *c, const Node *node, int want) {
    Operand o = early_result_slot(c, want);
    int it = temp_new(c);
    expr_to(c, node->value, it);
    c->at = node->at;
    emit(c, INS_ITER, 2, it, 0, 0);
    operand_to(c, const_operand_move(c, VALUE_NONE), o.index);
    emit(c, INS_YIELDFROM, 0, o.index, it, 0);
    temps_free(c, 1);
    return o;
}

static Operand named(Compiler *c, const Node *node, int want) {
    int direct = direct_slot(c, node->named.target);
    if (direct >= 0) {
        expr_to(c, node->named.value, direct);
        return operand_slot(direct);
    }
    Operand o = early_result_slot(c, want);
    expr_to(c, node->named.value, o.index);
    int copy = temp_new(c);
    c->at = node->at;
    emit(c, INS_MOVE, 0, copy, o.index, 0);
    store_name(c, node->named.target->name.id, operand_slot(copy));
    temps_free(c, 1);
    return o;
}

/* Every temporary of an expression is given back, but for its result, which is the topmost: else the values that the
 * code around it puts in a row would have a hole, and a call read its arguments from the wrong slots. */
static void check_temps(Compiler *c, int before, Operand o) {
    bool result = o.kind == OPERAND_TEMP;
    if (c->temps != before + result || (result && o.index != c->code->first_temp + before)) compile_temp_lost(c);
}

static Operand expr_of_kind(Compiler *c, const Node *node, int want) {
    Value v;
    if (compile_failed(c)) return operand_slot(0);
    if (c->may_wait != node) c->may_wait = NULL;
    switch (node->kind) {
    case AST_NAME: c->at = node->at; return load_name(c, node->name.id, want);
    case AST_CONSTANT:
    case AST_TUPLE:
    case AST_BINARY:
    case AST_UNARY:
    case AST_SLICE:
        c->at = node->at;
        if (fold(c, &v, node)) return const_operand_move(c, v);
        if (node->kind == AST_TUPLE) return expr_sequence(c, node, want);
        if (node->kind == AST_SLICE) return expr_slice(c, node, want);
        return node->kind == AST_BINARY ? expr_binary(c, node, want) : expr_unary(c, node, want);
    case AST_LIST:
    case AST_SET: return expr_sequence(c, node, want);
    case AST_DICT: return expr_dict(c, node, want);
    case AST_BOOL: return expr_boolean(c, node, want);
    case AST_COMPARE: return expr_compare(c, node, want);
    case AST_CONDITIONAL: return expr_conditional(c, node, want);
    case AST_CALL: return expr_call(c, node, want);
    case AST_ATTRIBUTE: return expr_attribute(c, node, want);
    case AST_SUBSCRIPT: return expr_subscript(c, node, want);
    case AST_LAMBDA: {
        int w = temps_new(c, 2);
        function_value(c, node, w);
        temps_free(c, 1);
        return (Operand){OPERAND_TEMP, w};
    }
    case AST_LIST_COMP:
    case AST_SET_COMP:
    case AST_DICT_COMP: return expr_comprehension(c, node, want);
    case AST_GENERATOR: return expr_generator(c, node, want);
    case AST_NAMED: return named(c, node, want);
    case AST_YIELD: return yield(c, node, want);
    case AST_YIELD_FROM: return yield_from(c, node, want);
    case AST_JOINED: return expr_joined(c, node, want);
    default: break;
    }
    c->at = node->at;
    compile_fail(c, tsr_error(TSR_SYNTAX_ERROR, "can't use starred expression here"));
    return operand_slot(0);
}

Operand expr(Compiler *c, const Node *node, int want) {
    int before = c->temps;
    Operand o = expr_of_kind(c, node, want);
    check_temps(c, before, o);
    return o;
}
