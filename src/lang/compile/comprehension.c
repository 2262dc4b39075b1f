/* comprehension.c: comprehensions, which run in the frame around them, and generator expressions, which are functions.
 */
#include "compile_impl.h"

static void comprehension_item(Compiler *c, const Node *node, int into) {
    if (node->kind == AST_DICT_COMP) {
        int pair = temps_new(c, 2);
        expr_to(c, node->comprehension.key, pair);
        expr_to(c, node->comprehension.element, pair + 1);
        temps_free(c, 2);
        c->at = node->comprehension.key->at;
        emit(c, INS_DICTADD, 0, into, pair, pair + 1);
        return;
    }
    Operand v = expr_in_slot(c, node->comprehension.element);
    operand_free(c, v);
    c->at = node->comprehension.element->at;
    if (node->kind == AST_GENERATOR) {
        int t = temp_new(c);
        emit(c, INS_YIELD, 0, t, v.index, 0);
        emit(c, INS_CLEAR, 0, t, 0, 1);
        temps_free(c, 1);
    } else {
        emit(c, node->kind == AST_LIST_COMP ? INS_APPEND : INS_SETADD, 0, into, v.index, 0);
    }
}

/* The loop of generator `i` around what is inside it. `it` holds its iterable already when i is 0. */
static void comprehension_loop(Compiler *c, const Node *node, int i, int it, int into) {
    const Comprehension *g = &node->comprehension.generators[i];
    Label body = LABEL_NEW, next = LABEL_NEW;
    if (i > 0) expr_to(c, g->iterable, it);
    c->at = g->iterable->at;
    emit(c, INS_FORPREP, 0, it, 0, 0);
    emit_jump(c, INS_JUMP, 0, 0, &next);
    label_here(c, &body);
    int direct = direct_slot(c, g->target), t = direct;
    if (direct < 0) {
        t = temp_new(c);
        c->at = g->target->at;
        store(c, g->target, operand_slot(t));
        temps_free(c, 1);
    }
    for (int k = 0; k < g->conditions.count; k++) jump_if(c, g->conditions.items[k], false, &next);
    if (i + 1 < node->comprehension.generator_count) {
        int inner = temps_new(c, 3);
        comprehension_loop(c, node, i + 1, inner, into);
        temps_free(c, 3);
    } else {
        comprehension_item(c, node, into);
    }
    label_here(c, &next);
    c->at = g->iterable->at;
    emit_jump(c, INS_FORNEXT, it, t, &body);
}

void comprehension_body(Compiler *c, const Node *node, int it, int into) { comprehension_loop(c, node, 0, it, into); }

Operand expr_comprehension(Compiler *c, const Node *node, int want) {
    Operand o = early_result_slot(c, want);
    int it = temps_new(c, 3);
    expr_to(c, node->comprehension.generators[0].iterable, it);
    c->at = node->at;
    Opcode row = node->kind == AST_LIST_COMP ? INS_LIST : node->kind == AST_SET_COMP ? INS_SET : INS_DICT;
    emit(c, row, 0, o.index, 0, 0);
    Scope *saved = c->scope, *scope = scope_child(saved, node);
    int first = -1, count = 0, start = code_here(c);
    for (int i = 0; i < scope->symbol_count; i++) {
        const Symbol *s = &scope->symbols[i];
        if (s->index < 0 || (s->place != PLACE_LOCAL && s->place != PLACE_CELL) || !(s->flags & SYMBOL_BOUND)) continue;
        if (first < 0) first = slot_of(c, s->index);
        count++;
        if (s->place == PLACE_CELL) emit(c, INS_MAKECELL, 0, slot_of(c, s->index), 0, 0);
    }
    c->scope = scope;
    comprehension_loop(c, node, 0, it, o.index);
    c->scope = saved;
    if (count > 0) {
        add_handler(c, start, code_here(c), -1, first, count);
        emit(c, INS_CLEAR, 0, first, 0, count);
    }
    temps_free(c, 3);
    return o;
}

Operand expr_generator(Compiler *c, const Node *node, int want) {
    int w = temps_new(c, 2);
    function_value(c, node, w);
    expr_to(c, node->comprehension.generators[0].iterable, w + 1);
    c->at = node->comprehension.generators[0].iterable->at;
    emit(c, INS_ITER, 1, w + 1, 0, 0);
    temps_free(c, 2);
    Operand o = result_slot(c, want);
    c->at = node->at;
    emit(c, INS_CALL, 0, w, 1, o.index);
    return o;
}
