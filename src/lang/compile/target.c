/* target.c: names as they are read, stored and deleted, and everything else that an assignment stores to. */
#include "compile_impl.h"

/* The number of a global in the table of globals; 0 when it failed. */
static int global_number(Compiler *c, const char *name) {
    int number = 0;
    TsrStatus status = compile_names.global_index(&number, name);
    if (status != TSR_OK) compile_fail(c, status);
    return number;
}

/* Whether a global is a slot of the frame: the first ones are, in a module. */
static bool has_slot(const Compiler *c, int global) { return (c->code->flags & CODE_MODULE) && global < GLOBAL_SLOTS; }

Operand load_name(Compiler *c, const char *name, int want) {
    Symbol s = scope_lookup(c->scope, name);
    if (s.place == PLACE_LOCAL) return operand_slot(slot_of(c, s.index));
    int g = s.place == PLACE_GLOBAL ? global_number(c, name) : 0;
    if (s.place == PLACE_GLOBAL && has_slot(c, g)) return operand_slot(g);
    Operand o = result_slot(c, want);
    if (s.place == PLACE_GLOBAL) emit_k(c, INS_LOADG, 0, o.index, (uint32_t)g);
    else if (s.place == PLACE_CELL) emit(c, INS_LOADCELL, 0, o.index, slot_of(c, s.index), 0);
    else emit(c, INS_LOADFREE, 0, o.index, 0, s.index);
    return o;
}

void store_name(Compiler *c, const char *name, Operand v) {
    Symbol s = scope_lookup(c->scope, name);
    int g = s.place == PLACE_GLOBAL ? global_number(c, name) : 0;
    if (s.place == PLACE_LOCAL || (s.place == PLACE_GLOBAL && has_slot(c, g))) {
        Operand o = v.kind == OPERAND_TEMP ? operand_slot(v.index) : v;
        operand_to(c, o, s.place == PLACE_LOCAL ? slot_of(c, s.index) : g);
        return;
    }
    Operand in = operand_in_slot(c, v);
    if (s.place == PLACE_GLOBAL) emit_k(c, INS_STOREG, 0, in.index, (uint32_t)g);
    else if (s.place == PLACE_CELL) emit(c, INS_STORECELL, 0, slot_of(c, s.index), in.index, 0);
    else emit(c, INS_STOREFREE, 0, in.index, 0, s.index);
    if (v.kind == OPERAND_CONST) operand_free(c, in);
}

void delete_name(Compiler *c, const char *name) {
    Symbol s = scope_lookup(c->scope, name);
    if (s.place == PLACE_LOCAL) emit(c, INS_DELLOCAL, 0, slot_of(c, s.index), 0, 0);
    else if (s.place == PLACE_CELL) emit(c, INS_DELCELL, 0, slot_of(c, s.index), 0, 0);
    else if (s.place == PLACE_FREE) emit(c, INS_DELFREE, 0, 0, 0, s.index);
    else emit_k(c, INS_DELG, 0, 0, (uint32_t)global_number(c, name));
}

int direct_slot(Compiler *c, const Node *target) {
    if (target->kind != AST_NAME) return -1;
    Symbol s = scope_lookup(c->scope, target->name.id);
    if (s.place == PLACE_LOCAL) return slot_of(c, s.index);
    if (s.place != PLACE_GLOBAL || !(c->code->flags & CODE_MODULE)) return -1;
    int g = global_number(c, target->name.id);
    return has_slot(c, g) ? g : -1;
}

static void store_unpack(Compiler *c, const Node *target, Operand v) {
    const NodeList *list = &target->list;
    int star = -1;
    for (int i = 0; i < list->count; i++)
        if (list->items[i]->kind == AST_STARRED) star = i;
    Operand in = operand_in_slot(c, v);
    int first = temps_new(c, list->count);
    c->at = target->at;
    if (star > UINT8_MAX)
        compile_fail(c, tsr_error(TSR_SYNTAX_ERROR, "too many expressions in star-unpacking assignment"));
    if (star < 0) emit(c, INS_UNPACK, 0, first, in.index, list->count);
    else emit(c, INS_UNPACKSTAR, star, first, in.index, list->count);
    for (int i = 0; i < list->count; i++) {
        const Node *item = list->items[i];
        store(c, item->kind == AST_STARRED ? item->value : item, operand_slot(first + i));
    }
    temps_free(c, list->count);
    if (v.kind == OPERAND_CONST) operand_free(c, in);
}

static void store_subscript(Compiler *c, const Node *target, Operand v) {
    Operand object = operand_protect(c, expr_in_slot(c, target->subscript.value), target->at, target->subscript.index);
    Operand index = expr(c, target->subscript.index, -1);
    Operand in = v;
    if (v.kind == OPERAND_CONST && index.kind == OPERAND_CONST) in = operand_in_slot(c, v);
    c->at = target->at;
    Opcode row = in.kind == OPERAND_CONST      ? INS_SETITEM_RK
                 : index.kind == OPERAND_CONST ? INS_SETITEM_KR
                                               : INS_SETITEM_RR;
    emit(c, row, 0, object.index, index.index, in.index);
    if (v.kind == OPERAND_CONST) operand_free(c, in);
    operand_free(c, index);
    operand_free(c, object);
}

void store(Compiler *c, const Node *target, Operand v) {
    if (compile_failed(c)) return;
    switch (target->kind) {
    case AST_NAME:
        c->at = target->at;
        store_name(c, target->name.id, v);
        break;
    case AST_SUBSCRIPT: store_subscript(c, target, v); break;
    case AST_ATTRIBUTE: {
        Operand object = expr_in_slot(c, target->attribute.value);
        Operand in = operand_in_slot(c, v);
        c->at = target->at;
        emit(c, INS_SETATTR, 0, object.index, in.index, const_name(c, target->attribute.name));
        if (v.kind == OPERAND_CONST) operand_free(c, in);
        operand_free(c, object);
        break;
    }
    case AST_TUPLE:
    case AST_LIST: store_unpack(c, target, v); break;
    case AST_STARRED: store(c, target->value, v); break;
    default: compile_fail(c, tsr_error(TSR_SYNTAX_ERROR, "cannot assign to expression")); break;
    }
}
