/* display.c: values written with their parts: lists, tuples, sets, dicts, slices and f-strings. */
#include "compile_impl.h"

enum {
    DISPLAY_AT_ONCE = 48, /* items of a list display that are gathered in slots before the list is made */
    JOIN_AT_ONCE = 64     /* pieces of an f-string, likewise */
};

bool has_star(const NodeList *list) {
    for (int i = 0; i < list->count; i++)
        if (list->items[i]->kind == AST_STARRED) return true;
    return false;
}

/* Items into consecutive temporaries, which one instruction then gathers. */
static int window(Compiler *c, const NodeList *list) {
    int first = temps_new(c, list->count);
    for (int i = 0; i < list->count; i++) expr_to(c, list->items[i], first + i);
    return first;
}

/* A list or set made empty in `dst` and filled item by item. */
static void fill(Compiler *c, const NodeList *list, int dst, bool set) {
    for (int i = 0; i < list->count; i++) {
        const Node *item = list->items[i];
        bool star = item->kind == AST_STARRED;
        Operand v = expr_in_slot(c, star ? item->value : item);
        operand_free(c, v);
        c->at = star ? item->value->at : item->at;
        emit(c, star ? (set ? INS_SETUPDATE : INS_EXTEND) : (set ? INS_SETADD : INS_APPEND), 0, dst, v.index, 0);
    }
}

Operand expr_sequence(Compiler *c, const Node *node, int want) {
    const NodeList *list = &node->list;
    Opcode row = node->kind == AST_LIST ? INS_LIST : node->kind == AST_TUPLE ? INS_TUPLE : INS_SET;
    if (list->count <= DISPLAY_AT_ONCE && !has_star(list)) {
        int first = window(c, list);
        temps_free(c, list->count);
        Operand o = result_slot(c, want);
        c->at = node->at;
        emit(c, row, 0, o.index, first, list->count);
        return o;
    }
    Operand o = early_result_slot(c, want);
    Value items;
    c->at = node->at;
    emit(c, row == INS_SET ? INS_SET : INS_LIST, 0, o.index, 0, 0);
    if (row != INS_SET && !has_star(list) && fold_items(c, &items, list)) {
        Operand k = operand_in_slot(c, const_operand_move(c, items));
        operand_free(c, k);
        emit(c, INS_EXTEND, 0, o.index, k.index, 0);
    } else {
        fill(c, list, o.index, row == INS_SET);
    }
    c->at = node->at;
    if (row == INS_TUPLE) emit(c, INS_LISTTUPLE, 0, o.index, 0, 0);
    return o;
}

Operand expr_dict(Compiler *c, const Node *node, int want) {
    const NodeList *keys = &node->dict.keys, *values = &node->dict.values;
    bool plain = values->count <= DISPLAY_AT_ONCE / 2;
    for (int i = 0; i < values->count; i++) plain = plain && keys->items[i] != NULL;
    if (plain) {
        int first = temps_new(c, 2 * values->count);
        for (int i = 0; i < values->count; i++) {
            expr_to(c, keys->items[i], first + 2 * i);
            expr_to(c, values->items[i], first + 2 * i + 1);
        }
        temps_free(c, 2 * values->count);
        Operand o = result_slot(c, want);
        c->at = node->at;
        emit(c, INS_DICT, 0, o.index, first, values->count);
        return o;
    }
    Operand o = early_result_slot(c, want);
    c->at = node->at;
    emit(c, INS_DICT, 0, o.index, 0, 0);
    for (int i = 0; i < values->count; i++) {
        if (keys->items[i] == NULL) {
            Operand v = expr_in_slot(c, values->items[i]);
            operand_free(c, v);
            c->at = values->items[i]->at;
            emit(c, INS_DICTUPDATE, 0, o.index, v.index, 0);
            continue;
        }
        int pair = temps_new(c, 2);
        expr_to(c, keys->items[i], pair);
        expr_to(c, values->items[i], pair + 1);
        temps_free(c, 2);
        c->at = keys->items[i]->at;
        emit(c, INS_DICTADD, 0, o.index, pair, pair + 1);
    }
    return o;
}

Operand expr_slice(Compiler *c, const Node *node, int want) {
    const Node *parts[3] = {node->slice.lower, node->slice.upper, node->slice.step};
    int first = temps_new(c, 3);
    for (int i = 0; i < 3; i++) {
        if (parts[i] != NULL) expr_to(c, parts[i], first + i);
        else operand_to(c, const_operand_move(c, VALUE_NONE), first + i);
    }
    temps_free(c, 3);
    Operand o = result_slot(c, want);
    c->at = node->at;
    emit(c, INS_SLICE, 0, o.index, first, 0);
    return o;
}

/* --- f-strings --- */

static void formatted(Compiler *c, const Node *node, int dst) {
    Operand v = expr_in_slot(c, node->formatted.value);
    int x = node->formatted.conversion & 127;
    Operand spec = {OPERAND_SLOT, 0};
    if (node->formatted.spec != NULL) {
        x |= FORMAT_SPEC;
        spec = expr_in_slot(c, node->formatted.spec);
        operand_free(c, spec);
    }
    operand_free(c, v);
    c->at = node->formatted.value->at;
    emit(c, INS_FORMAT, x, dst, v.index, spec.index);
}

Operand expr_joined(Compiler *c, const Node *node, int want) {
    const NodeList *parts = &node->list;
    if (parts->count == 1 && parts->items[0]->kind == AST_FORMATTED) {
        Operand o = result_slot(c, want);
        formatted(c, parts->items[0], o.index);
        return o;
    }
    int n = TSR_MIN(parts->count, JOIN_AT_ONCE), first = temps_new(c, n), used = 0;
    for (int i = 0; i < parts->count; i++) {
        if (used == n && n == JOIN_AT_ONCE) { /* what is there so far becomes the first piece */
            emit(c, INS_JOIN, 0, first, first, used);
            used = 1;
        }
        if (parts->items[i]->kind == AST_FORMATTED) formatted(c, parts->items[i], first + used);
        else expr_to(c, parts->items[i], first + used);
        used++;
    }
    temps_free(c, n);
    Operand o = result_slot(c, want);
    c->at = node->at;
    emit(c, INS_JOIN, 0, o.index, first, used);
    return o;
}
