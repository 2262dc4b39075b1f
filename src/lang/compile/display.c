/* display.c: values written with their parts: lists, tuples, sets, dicts, slices and f-strings. */
#include "compile_impl.h"

enum {
    DISPLAY_AT_ONCE = 48, /* items of a list display that are gathered in slots before the list is made */
    JOIN_AT_ONCE = 64,    /* pieces of an f-string, likewise */
    PAIRS_AT_ONCE = 15    /* of a dict display with **: evaluated before the first key is hashed, as in CPython */
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
static void fill(Compiler *c, const NodeList *list, int first, int dst, bool set) {
    for (int i = first; i < list->count; i++) {
        const Node *item = list->items[i];
        bool star = item->kind == AST_STARRED;
        Operand v = expr_in_slot(c, star ? item->value : item);
        operand_free(c, v);
        c->at = star ? item->value->at : item->at;
        emit(c, star ? (set ? INS_SETUPDATE : INS_EXTEND) : (set ? INS_SETADD : INS_APPEND), 0, dst, v.index, 0);
    }
}

/* How many items of a set display are evaluated before the first is hashed: in {a, b, *c} those before the star. */
static int items_before_star(const NodeList *list) {
    int n = 0;
    while (n < list->count && list->items[n]->kind != AST_STARRED) n++;
    return n <= DISPLAY_AT_ONCE ? n : 0;
}

static void set_of_items(Compiler *c, const NodeList *list, int count, int dst) {
    int first = temps_new(c, count);
    for (int i = 0; i < count; i++) expr_to(c, list->items[i], first + i);
    temps_free(c, count);
    emit(c, INS_SET, 0, dst, first, count);
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
    int before = row == INS_SET ? items_before_star(list) : 0;
    if (before > 0) set_of_items(c, list, before, o.index);
    else emit(c, row == INS_SET ? INS_SET : INS_LIST, 0, o.index, 0, 0);
    if (row != INS_SET && !has_star(list) && fold_items(c, &items, list)) {
        Operand k = operand_in_slot(c, const_operand_move(c, items));
        operand_free(c, k);
        emit(c, INS_EXTEND, 0, o.index, k.index, 0);
    } else {
        fill(c, list, before, o.index, row == INS_SET);
    }
    c->at = node->at;
    if (row == INS_TUPLE) emit(c, INS_LISTTUPLE, 0, o.index, 0, 0);
    return o;
}

/* Pairs [start, end) of a dict display, into `dst`: all are evaluated, then each is added. */
static void dict_pairs(Compiler *c, const Node *node, int start, int end, int dst) {
    int count = 2 * (end - start), first = temps_new(c, count), at = first;
    for (int i = start; i < end; i++) {
        expr_to(c, node->dict.keys.items[i], at++);
        expr_to(c, node->dict.values.items[i], at++);
    }
    temps_free(c, count);
    for (int i = start; i < end; i++) {
        int pair = first + 2 * (i - start);
        c->at = node->dict.keys.items[i]->at;
        emit(c, INS_DICTADD, 0, dst, pair, pair + 1);
    }
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
        int end = i + 1;
        while (end < values->count && end < i + PAIRS_AT_ONCE && keys->items[end] != NULL) end++;
        dict_pairs(c, node, i, end, o.index);
        i = end - 1;
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
        v = operand_protect(c, v, node->formatted.value->at, node->formatted.spec);
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
