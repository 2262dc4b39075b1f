#include "compile_internal.h"

#include "bytes_obj.h"
#include "lazy.h"
#include "num_obj.h"

#include <string.h>

enum {
    DISPLAY_AT_ONCE = 48, /* items of a list display that are gathered in slots before the list is made */
    JOIN_AT_ONCE = 64,
    CALL_AT_ONCE = 250    /* arguments of a call that are passed in slots */
};

/* --- constants --- */

static TsrStatus constant_value(Value *out, const Node *node) {
    switch (node->constant.kind) {
    case CONST_NONE: *out = VALUE_NONE; return TSR_OK;
    case CONST_TRUE: *out = VALUE_TRUE; return TSR_OK;
    case CONST_FALSE: *out = VALUE_FALSE; return TSR_OK;
    case CONST_ELLIPSIS: *out = value_retain(VALUE_ELLIPSIS); return TSR_OK;
    case CONST_INT: return int_new_digits(out, node->constant.text, (int64_t)strlen(node->constant.text), node->constant.base);
    case CONST_FLOAT: *out = value_float(node->constant.number); return TSR_OK;
    case CONST_IMAGINARY: return complex_new(out, 0.0, node->constant.number);
    case CONST_BYTES: return bytes_new(out, node->constant.text, (int64_t)node->constant.length);
    default: break;
    }
    if (node->constant.length > 64) return str_new(out, node->constant.text, (int64_t)node->constant.length);
    Str *s = str_intern(node->constant.text, (int64_t)node->constant.length);
    if (s == NULL) return TSR_MEMORY_ERROR;
    *out = value_obj_move(obj_retain(s));
    return TSR_OK;
}

static bool is_number(Value v) { return v.tag == V_INT || v.tag == V_FLOAT || value_is_complex(v) || value_is_bigint(v); }

static bool fold_items(Compiler *c, Value *out, const NodeList *list) {
    Value *items = tsr_malloc((size_t)list->count * sizeof *items + 1);
    int n = 0;
    while (items != NULL && n < list->count && fold(c, &items[n], list->items[n])) n++;
    bool whole = items != NULL && n == list->count;
    if (whole) {
        TsrStatus status = tuple_new_move(out, items, n);
        if (status != TSR_OK) compile_fail(c, status);
        whole = status == TSR_OK;
    } else {
        values_release(items, n);
    }
    tsr_free(items);
    return whole;
}

static bool fold_slice(Compiler *c, Value *out, const Node *node) {
    const Node *parts[3] = {node->slice.lower, node->slice.upper, node->slice.step};
    Value v[3] = {VALUE_NONE, VALUE_NONE, VALUE_NONE};
    bool ok = true;
    for (int i = 0; i < 3 && ok; i++)
        if (parts[i] != NULL) ok = fold(c, &v[i], parts[i]);
    TsrStatus status = ok ? slice_new(out, v[0], v[1], v[2]) : TSR_OK;
    if (status != TSR_OK) compile_fail(c, status);
    values_release(v, 3);
    return ok && status == TSR_OK;
}

/* Numbers only, and only operators whose result is as small as its operands. */
static bool fold_binary(Compiler *c, Value *out, const Node *node) {
    BinaryOp op = node->binary.op;
    if (op != OP_ADD && op != OP_SUB && op != OP_MUL && op != OP_DIV) return false;
    Value l, r;
    if (!fold(c, &l, node->binary.left)) return false;
    if (!fold(c, &r, node->binary.right)) {
        value_release(l);
        return false;
    }
    bool ok = is_number(l) && is_number(r);
    TsrStatus status = ok ? value_binary(out, op, l, r) : TSR_OK;
    if (status != TSR_OK) exc_discard(status);
    value_release(l);
    value_release(r);
    return ok && status == TSR_OK;
}

bool fold(Compiler *c, Value *out, const Node *node) {
    TsrStatus status;
    switch (node->kind) {
    case AST_CONSTANT:
        status = constant_value(out, node);
        if (status != TSR_OK) compile_fail(c, status);
        return status == TSR_OK;
    case AST_TUPLE: return fold_items(c, out, &node->list);
    case AST_SLICE: return fold_slice(c, out, node);
    case AST_BINARY: return fold_binary(c, out, node);
    case AST_UNARY: {
        Value v;
        if (node->unary.op == OP_NOT || !fold(c, &v, node->unary.operand)) return false;
        bool ok = is_number(v);
        status = ok ? value_unary(out, node->unary.op, v) : TSR_OK;
        if (status != TSR_OK) exc_discard(status);
        value_release(v);
        return ok && status == TSR_OK;
    }
    default: return false;
    }
}

/* --- operands --- */

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
    case AST_SLICE: return may_rebind(node->slice.lower, calls) || may_rebind(node->slice.upper, calls) || may_rebind(node->slice.step, calls);
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

Operand operand_protect(Compiler *c, Operand o, SourceRange at, const Node *later) {
    if (o.kind != OPERAND_SLOT || slot_is_temp(c, o.index)) return o;
    bool global = (c->code->flags & CODE_MODULE) && o.index < GLOBAL_SLOTS;
    if (!may_rebind(later, global)) {
        bool parameter = !(c->code->flags & CODE_MODULE) && o.index < c->code->positional;
        bool quiet = parameter || later->kind == AST_NAME || later->kind == AST_CONSTANT;
        c->at = at;
        if (!quiet && may_rebind(later, true)) emit(c, INS_CHECK, 0, o.index, 0, 0); /* unbound: an error before the call */
        else if (!quiet) add_lent(c, o.index, at, later);
        return o;
    }
    int t = temp_new(c);
    emit(c, INS_MOVE, 0, t, o.index, 0);
    return (Operand){OPERAND_TEMP, t};
}

void operand_to(Compiler *c, Operand o, int dst) {
    bool global = (c->code->flags & CODE_MODULE) && o.kind == OPERAND_SLOT && o.index < GLOBAL_SLOTS;
    if (o.kind == OPERAND_CONST) emit_k(c, INS_LOADK, 0, dst, (uint32_t)o.index);
    else if (global && o.index != dst) emit_k(c, INS_LOADG, 0, dst, (uint32_t)o.index);
    else if (o.index != dst) emit(c, slot_is_temp(c, o.index) ? INS_TAKE : INS_MOVE, 0, dst, o.index, 0);
    else if (o.kind == OPERAND_SLOT && !slot_is_temp(c, dst)) emit(c, INS_CHECK, 0, dst, 0, 0); /* x = x of an unbound x */
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

/* The slot for a result: the one wanted, or a new temporary. */
static Operand result(Compiler *c, int want) {
    if (want >= 0) return operand_slot(want);
    return (Operand){OPERAND_TEMP, temp_new(c)};
}

/* As result, for code that writes the slot before its last instruction. */
static Operand early_result(Compiler *c, int want) {
    if (want >= 0 && slot_is_temp(c, want)) return operand_slot(want);
    return (Operand){OPERAND_TEMP, temp_new(c)};
}

/* --- names --- */

Operand load_name(Compiler *c, const char *name, int want) {
    Symbol s = scope_lookup(c->scope, name);
    if (s.place == PLACE_LOCAL) return operand_slot(slot_of(c, s.index));
    Operand o;
    int g = 0;
    if (s.place == PLACE_GLOBAL) {
        TsrStatus status = globals_index(&g, name);
        if (status != TSR_OK) compile_fail(c, status);
        if ((c->code->flags & CODE_MODULE) && g < GLOBAL_SLOTS) return operand_slot(g);
    }
    o = result(c, want);
    if (s.place == PLACE_GLOBAL) emit_k(c, INS_LOADG, 0, o.index, (uint32_t)g);
    else if (s.place == PLACE_CELL) emit(c, INS_LOADCELL, 0, o.index, slot_of(c, s.index), 0);
    else emit(c, INS_LOADFREE, 0, o.index, 0, s.index);
    return o;
}

void store_name(Compiler *c, const char *name, Operand v) {
    Symbol s = scope_lookup(c->scope, name);
    int g = 0;
    if (s.place == PLACE_LOCAL) {
        Operand o = v.kind == OPERAND_TEMP ? operand_slot(v.index) : v;
        operand_to(c, o, slot_of(c, s.index));
        return;
    }
    if (s.place == PLACE_GLOBAL) {
        TsrStatus status = globals_index(&g, name);
        if (status != TSR_OK) compile_fail(c, status);
        if ((c->code->flags & CODE_MODULE) && g < GLOBAL_SLOTS) {
            Operand o = v.kind == OPERAND_TEMP ? operand_slot(v.index) : v;
            operand_to(c, o, g);
            return;
        }
    }
    Operand in = operand_in_slot(c, v);
    if (s.place == PLACE_GLOBAL) emit_k(c, INS_STOREG, 0, in.index, (uint32_t)g);
    else if (s.place == PLACE_CELL) emit(c, INS_STORECELL, 0, slot_of(c, s.index), in.index, 0);
    else emit(c, INS_STOREFREE, 0, in.index, 0, s.index);
    if (v.kind == OPERAND_CONST) operand_free(c, in);
}

void delete_name(Compiler *c, const char *name) {
    Symbol s = scope_lookup(c->scope, name);
    int g = 0;
    if (s.place == PLACE_LOCAL) emit(c, INS_DELLOCAL, 0, slot_of(c, s.index), 0, 0);
    else if (s.place == PLACE_CELL) emit(c, INS_DELCELL, 0, slot_of(c, s.index), 0, 0);
    else if (s.place == PLACE_FREE) emit(c, INS_DELFREE, 0, 0, 0, s.index);
    else {
        TsrStatus status = globals_index(&g, name);
        if (status != TSR_OK) compile_fail(c, status);
        emit_k(c, INS_DELG, 0, 0, (uint32_t)g);
    }
}

/* The slot a name can be computed into directly, or -1. */
int direct_slot(Compiler *c, const Node *target) {
    if (target->kind != AST_NAME) return -1;
    Symbol s = scope_lookup(c->scope, target->name.id);
    if (s.place == PLACE_LOCAL) return slot_of(c, s.index);
    int g;
    if (s.place != PLACE_GLOBAL || !(c->code->flags & CODE_MODULE)) return -1;
    TsrStatus status = globals_index(&g, target->name.id);
    if (status != TSR_OK) compile_fail(c, status);
    return status == TSR_OK && g < GLOBAL_SLOTS ? g : -1;
}

/* --- operators --- */

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

void emit_binary(Compiler *c, BinaryOp op, bool inplace, int dst, Operand l, Operand r) {
    int row = binary_row(op, inplace);
    int kinds = (l.kind == OPERAND_CONST ? BINARY_KB : 0) | (r.kind == OPERAND_CONST ? BINARY_KC : 0);
    bool left_rows = !inplace && (op == OP_ADD || op == OP_SUB || op == OP_MUL || op == OP_DIV);
    if (row < 0 || kinds == (BINARY_KB | BINARY_KC) || (kinds == BINARY_KB && !left_rows)) row = inplace ? INS_INPLACE : INS_BINARY;
    else if (kinds == BINARY_KC) row += 1;
    else if (kinds == BINARY_KB) row += 2;
    emit(c, (Opcode)row, (int)op | kinds, dst, l.index, r.index);
}

/* The name in exp(x) and in torch.exp(x) when `count` positional arguments are all there are; else NULL. */
static const char *called_name(const Node *node, int count) {
    if (node->kind != AST_CALL || node->call.args.count != count || node->call.keyword_count > 0) return NULL;
    for (int i = 0; i < count; i++)
        if (node->call.args.items[i]->kind == AST_STARRED) return NULL;
    const Node *f = node->call.func;
    if (f->kind == AST_NAME) return f->name.id;
    return f->kind == AST_ATTRIBUTE && f->attribute.value->kind == AST_NAME ? f->attribute.name : NULL;
}

/* By its name a pointwise function; what it is then is seen when it is called. */
static bool is_pointwise_call(const Node *node) {
    const char *name = called_name(node, 1);
    return name != NULL && lazy_is_function_name(name);
}

/* where(condition, x, y), likewise. */
static bool is_where_call(const Node *node) {
    const char *name = called_name(node, 3);
    return name != NULL && strcmp(name, "where") == 0;
}

/* Whether evaluating `node` leaves all tensors as they are, so that a result computed before it may wait. */
static bool is_harmless(const Node *node) {
    switch (node->kind) {
    case AST_NAME:
    case AST_CONSTANT: return true;
    case AST_UNARY: return is_harmless(node->unary.operand);
    case AST_BINARY: return is_harmless(node->binary.left) && is_harmless(node->binary.right);
    case AST_COMPARE: return node->compare.comparators.count == 1 && is_harmless(node->compare.left) && is_harmless(node->compare.comparators.items[0]);
    case AST_CALL:
        for (int i = 0; i < node->call.args.count; i++)
            if (!is_harmless(node->call.args.items[i])) return false;
        return is_pointwise_call(node) || is_where_call(node);
    default: return false;
    }
}

/* The flag of an operator whose result may wait; asked once, at the start of its compilation. */
static int take_may_wait(Compiler *c, const Node *node) {
    bool yes = c->may_wait == node;
    c->may_wait = NULL;
    return yes ? MAY_WAIT : 0;
}

static Operand binary(Compiler *c, const Node *node, int want) {
    int wait = take_may_wait(c, node);
    c->may_wait = is_harmless(node->binary.right) ? node->binary.left : NULL;
    Operand l = operand_protect(c, expr(c, node->binary.left, -1), node->at, node->binary.right);
    c->may_wait = node->binary.right;
    Operand r = expr(c, node->binary.right, -1);
    c->may_wait = NULL;
    operand_free(c, r);
    operand_free(c, l);
    Operand o = result(c, want);
    c->at = node->at;
    emit_binary(c, node->binary.op, false, o.index, l, r);
    if (compile_failed(c)) return o;
    Ins *ins = &c->code->ins[code_here(c) - 1];
    ins->x |= (uint8_t)wait;
    if (node == c->last_use && l.kind == OPERAND_SLOT) ins->x |= BINARY_LAST;
    return o;
}

static Operand unary(Compiler *c, const Node *node, int want) {
    int wait = node->unary.op == OP_NEG ? take_may_wait(c, node) : 0;
    c->may_wait = node->unary.op == OP_NEG ? node->unary.operand : NULL;
    Operand v = expr_in_slot(c, node->unary.operand);
    c->may_wait = NULL;
    operand_free(c, v);
    Operand o = result(c, want);
    c->at = node->at;
    emit(c, INS_UNARY, (int)node->unary.op | wait, o.index, v.index, 0);
    return o;
}

static Operand boolean(Compiler *c, const Node *node, int want) {
    Operand o = early_result(c, want);
    Label end = LABEL_NEW;
    const NodeList *values = &node->boolean.values;
    for (int i = 0; i < values->count; i++) {
        expr_to(c, values->items[i], o.index);
        if (i + 1 < values->count) emit_jump(c, node->boolean.is_or ? INS_JKEEPT : INS_JKEEPF, o.index, 0, &end);
    }
    label_here(c, &end);
    return o;
}

static Operand conditional(Compiler *c, const Node *node, int want) {
    Label otherwise = LABEL_NEW, end = LABEL_NEW;
    Operand o = result(c, want);
    jump_if(c, node->conditional.test, false, &otherwise);
    expr_to(c, node->conditional.body, o.index);
    emit_jump(c, INS_JUMP, 0, 0, &end);
    label_here(c, &otherwise);
    expr_to(c, node->conditional.orelse, o.index);
    label_here(c, &end);
    return o;
}

static void emit_compare(Compiler *c, CompareOp op, int dst, Operand l, Operand r) {
    int kinds = (l.kind == OPERAND_CONST ? BINARY_KB : 0) | (r.kind == OPERAND_CONST ? BINARY_KC : 0);
    emit(c, INS_COMPARE, (int)op | kinds, dst, l.index, r.index);
}

/* a < b < c: each middle operand that is a temporary is copied before its first comparison consumes it. */
static Operand chain(Compiler *c, const Node *node, int want) {
    const NodeList *right = &node->compare.comparators;
    Operand o = early_result(c, want);
    int copies[2] = {temps_new(c, 2), 0};
    copies[1] = copies[0] + 1;
    Label end = LABEL_NEW;
    Operand l = operand_protect(c, expr(c, node->compare.left, -1), node->at, right->items[0]);
    for (int i = 0; i < right->count; i++) {
        Operand r = expr(c, right->items[i], -1), next = r;
        bool last = i + 1 == right->count;
        c->at = node->at;
        if (!last && r.kind == OPERAND_TEMP) {
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

static Operand compare(Compiler *c, const Node *node, int want) {
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
    Operand o = result(c, want);
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
        if ((node->constant.kind == CONST_TRUE) == sense) emit_jump(c, label->at >= 0 ? INS_LOOP : INS_JUMP, 0, 0, label);
        return;
    }
    Operand v = expr_in_slot(c, node);
    operand_free(c, v);
    c->at = node->at;
    emit_jump(c, sense ? INS_JT : INS_JF, v.index, 0, label);
}

/* --- displays --- */

static bool has_star(const NodeList *list) {
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

static Operand sequence(Compiler *c, const Node *node, int want) {
    const NodeList *list = &node->list;
    Opcode row = node->kind == AST_LIST ? INS_LIST : node->kind == AST_TUPLE ? INS_TUPLE : INS_SET;
    if (list->count <= DISPLAY_AT_ONCE && !has_star(list)) {
        int first = window(c, list);
        temps_free(c, list->count);
        Operand o = result(c, want);
        c->at = node->at;
        emit(c, row, 0, o.index, first, list->count);
        return o;
    }
    Operand o = early_result(c, want);
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

static Operand dict(Compiler *c, const Node *node, int want) {
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
        Operand o = result(c, want);
        c->at = node->at;
        emit(c, INS_DICT, 0, o.index, first, values->count);
        return o;
    }
    Operand o = early_result(c, want);
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

static Operand slice(Compiler *c, const Node *node, int want) {
    const Node *parts[3] = {node->slice.lower, node->slice.upper, node->slice.step};
    int first = temps_new(c, 3);
    for (int i = 0; i < 3; i++) {
        if (parts[i] != NULL) expr_to(c, parts[i], first + i);
        else operand_to(c, const_operand_move(c, VALUE_NONE), first + i);
    }
    temps_free(c, 3);
    Operand o = result(c, want);
    c->at = node->at;
    emit(c, INS_SLICE, 0, o.index, first, 0);
    return o;
}

/* --- comprehensions --- */

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

static Operand comprehension(Compiler *c, const Node *node, int want) {
    Operand o = early_result(c, want);
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

static Operand generator(Compiler *c, const Node *node, int want) {
    int w = temps_new(c, 2);
    function_value(c, node, w);
    expr_to(c, node->comprehension.generators[0].iterable, w + 1);
    c->at = node->comprehension.generators[0].iterable->at;
    emit(c, INS_ITER, 1, w + 1, 0, 0);
    temps_free(c, 2);
    Operand o = result(c, want);
    c->at = node->at;
    emit(c, INS_CALL, 0, w, 1, o.index);
    return o;
}

/* --- attributes, subscripts, calls --- */

static void emit_cache(Compiler *c) {
    for (int i = 0; i < 2; i++) {
        int at = emit(c, INS_JUMP, 0, 0, 0, 0);
        if (at >= 0) c->code->ins[at].word = 0;
    }
}

void emit_getattr(Compiler *c, int dst, Operand object, const char *name) {
    emit(c, INS_GETATTR, 0, dst, object.index, const_name(c, name));
    emit_cache(c);
}

static void emit_method(Compiler *c, int window, Operand object, const char *name) {
    emit(c, INS_METHOD, 0, window, object.index, const_name(c, name));
    emit_cache(c);
}

static Operand attribute(Compiler *c, const Node *node, int want) {
    Operand v = expr_in_slot(c, node->attribute.value);
    operand_free(c, v);
    Operand o = result(c, want);
    c->at = node->at;
    emit_getattr(c, o.index, v, node->attribute.name);
    return o;
}

static Operand subscript(Compiler *c, const Node *node, int want) {
    Operand v = operand_protect(c, expr_in_slot(c, node->subscript.value), node->at, node->subscript.index);
    Operand i = expr(c, node->subscript.index, -1);
    operand_free(c, i);
    operand_free(c, v);
    Operand o = result(c, want);
    c->at = node->at;
    emit(c, i.kind == OPERAND_CONST ? INS_GETITEM_RK : INS_GETITEM_RR, 0, o.index, v.index, i.index);
    return o;
}

/* Calls with *args, **kwargs or very many arguments: a list and a dict are built. */
static Operand call_spread(Compiler *c, const Node *node, int want) {
    int w = temps_new(c, 3);
    expr_to(c, node->call.func, w);
    c->at = node->at;
    emit(c, INS_LIST, 0, w + 1, 0, 0);
    bool alone = node->call.args.count == 1; /* *args with nothing beside it: an error names the function */
    for (int i = 0; i < node->call.args.count; i++) {
        const Node *arg = node->call.args.items[i];
        bool star = arg->kind == AST_STARRED;
        Operand v = expr_in_slot(c, star ? arg->value : arg);
        operand_free(c, v);
        c->at = node->at;
        emit(c, star ? INS_ARGEXTEND : INS_APPEND, star && alone, w + 1, v.index, w);
    }
    if (node->call.keyword_count == 0) emit(c, INS_CLEAR, 0, w + 2, 0, 1);
    else emit(c, INS_DICT, 0, w + 2, 0, 0);
    for (int i = 0; i < node->call.keyword_count; i++) {
        const Keyword *k = &node->call.keywords[i];
        int pair = temps_new(c, 2);
        if (k->name != NULL) emit_k(c, INS_LOADK, 0, pair, (uint32_t)const_name(c, k->name));
        expr_to(c, k->value, pair + 1);
        temps_free(c, 2);
        c->at = node->at;
        if (k->name != NULL) emit(c, INS_KWADD, 0, w + 2, pair, w);
        else emit(c, INS_KWMERGE, 0, w + 2, pair + 1, w);
    }
    c->at = node->at;
    emit(c, INS_CALLEX, 0, w, 0, 0);
    temps_free(c, 3);
    Operand o = result(c, want);
    operand_to(c, operand_slot(w), o.index);
    return o;
}

static Operand call_keywords(Compiler *c, const Node *node, int w, bool method, int want) {
    int total = node->call.args.count + node->call.keyword_count;
    Value *names = tsr_malloc((size_t)node->call.keyword_count * sizeof *names);
    if (names == NULL) {
        compile_fail(c, mem_error());
        return operand_slot(w);
    }
    for (int i = 0; i < node->call.keyword_count; i++) {
        int k = const_name(c, node->call.keywords[i].name);
        names[i] = !compile_failed(c) ? c->code->consts[k] : VALUE_NONE;
    }
    Value tuple;
    TsrStatus status = tuple_new(&tuple, names, node->call.keyword_count);
    tsr_free(names);
    if (status != TSR_OK) {
        compile_fail(c, status);
        return operand_slot(w);
    }
    int k = const_low_move(c, tuple);
    int first = temps_new(c, node->call.keyword_count);
    for (int i = 0; i < node->call.keyword_count; i++) expr_to(c, node->call.keywords[i].value, first + i);
    c->at = node->at;
    emit(c, INS_CALLKW, method, w, total, k);
    temps_free(c, total + 1 + method);
    Operand o = result(c, want);
    operand_to(c, operand_slot(w), o.index);
    return o;
}

/* The arguments may wait for the call and the call's result for the operator around it. */
static Operand call_pointwise(Compiler *c, const Node *node, int want) {
    const NodeList *args = &node->call.args;
    int wait = take_may_wait(c, node), w = temps_new(c, 1 + args->count);
    expr_to(c, node->call.func, w);
    for (int i = 0; i < args->count; i++) {
        bool undisturbed = true;
        for (int k = i + 1; k < args->count; k++) undisturbed = undisturbed && is_harmless(args->items[k]);
        c->may_wait = undisturbed ? args->items[i] : NULL;
        expr_to(c, args->items[i], w + 1 + i);
    }
    c->may_wait = NULL;
    temps_free(c, 1 + args->count);
    Operand o = result(c, want);
    c->at = node->at;
    emit(c, INS_CALLWAIT, wait, w, args->count, o.index);
    return o;
}

/* (a - b).sum(): a method without arguments that may take what waits. */
static bool is_sum_call(const Node *node) {
    const Node *f = node->call.func;
    if (node->call.args.count > 0 || node->call.keyword_count > 0 || f->kind != AST_ATTRIBUTE) return false;
    const Node *x = f->attribute.value;
    bool computed = x->kind == AST_BINARY || x->kind == AST_UNARY || is_pointwise_call(x) || is_where_call(x);
    return computed && (strcmp(f->attribute.name, "sum") == 0 || strcmp(f->attribute.name, "mean") == 0);
}

static Operand call(Compiler *c, const Node *node, int want) {
    if (is_pointwise_call(node) || is_where_call(node)) return call_pointwise(c, node, want);
    const NodeList *args = &node->call.args;
    bool spread = has_star(args) || args->count + node->call.keyword_count > CALL_AT_ONCE;
    for (int i = 0; i < node->call.keyword_count; i++) spread = spread || node->call.keywords[i].name == NULL;
    if (spread) return call_spread(c, node, want);
    const Node *f = node->call.func;
    bool method = f->kind == AST_ATTRIBUTE;
    int w = temps_new(c, 1 + method);
    if (method) {
        bool sum = is_sum_call(node);
        if (sum) c->may_wait = f->attribute.value;
        Operand object = expr_in_slot(c, f->attribute.value);
        c->may_wait = NULL;
        if (sum) emit(c, INS_SUM, f->attribute.name[0] == 'm', object.index, 0, 0);
        operand_free(c, object);
        c->at = f->at;
        emit_method(c, w, object, f->attribute.name);
    } else {
        expr_to(c, f, w);
    }
    int first = temps_new(c, args->count);
    for (int i = 0; i < args->count; i++) expr_to(c, args->items[i], first + i);
    if (node->call.keyword_count > 0) return call_keywords(c, node, w, method, want);
    temps_free(c, args->count + 1 + method);
    Operand o = result(c, want);
    c->at = node->at;
    emit(c, method ? INS_CALLMETHOD : INS_CALL, 0, w, args->count, o.index);
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

static Operand joined(Compiler *c, const Node *node, int want) {
    const NodeList *parts = &node->list;
    if (parts->count == 1 && parts->items[0]->kind == AST_FORMATTED) {
        Operand o = result(c, want);
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
    Operand o = result(c, want);
    c->at = node->at;
    emit(c, INS_JOIN, 0, o.index, first, used);
    return o;
}

/* --- yield, walrus --- */

static Operand yield(Compiler *c, const Node *node, int want) {
    Operand v = node->value != NULL ? expr_in_slot(c, node->value) : operand_in_slot(c, const_operand_move(c, VALUE_NONE));
    operand_free(c, v);
    Operand o = result(c, want);
    c->at = node->at;
    emit(c, INS_YIELD, 0, o.index, v.index, 0);
    return o;
}

static Operand yield_from(Compiler *c, const Node *node, int want) {
    Operand o = early_result(c, want);
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
    Operand o = early_result(c, want);
    expr_to(c, node->named.value, o.index);
    int copy = temp_new(c);
    c->at = node->at;
    emit(c, INS_MOVE, 0, copy, o.index, 0);
    store_name(c, node->named.target->name.id, operand_slot(copy));
    temps_free(c, 1);
    return o;
}

Operand expr(Compiler *c, const Node *node, int want) {
    Value v;
    if (compile_failed(c)) return operand_slot(0);
    if (c->may_wait != node) c->may_wait = NULL;
    switch (node->kind) {
    case AST_NAME:
        c->at = node->at;
        return load_name(c, node->name.id, want);
    case AST_CONSTANT:
    case AST_TUPLE:
    case AST_BINARY:
    case AST_UNARY:
    case AST_SLICE:
        c->at = node->at;
        if (fold(c, &v, node)) return const_operand_move(c, v);
        if (node->kind == AST_TUPLE) return sequence(c, node, want);
        if (node->kind == AST_SLICE) return slice(c, node, want);
        return node->kind == AST_BINARY ? binary(c, node, want) : unary(c, node, want);
    case AST_LIST:
    case AST_SET: return sequence(c, node, want);
    case AST_DICT: return dict(c, node, want);
    case AST_BOOL: return boolean(c, node, want);
    case AST_COMPARE: return compare(c, node, want);
    case AST_CONDITIONAL: return conditional(c, node, want);
    case AST_CALL: return call(c, node, want);
    case AST_ATTRIBUTE: return attribute(c, node, want);
    case AST_SUBSCRIPT: return subscript(c, node, want);
    case AST_LAMBDA: {
        int w = temps_new(c, 2);
        function_value(c, node, w);
        temps_free(c, 1);
        return (Operand){OPERAND_TEMP, w};
    }
    case AST_LIST_COMP:
    case AST_SET_COMP:
    case AST_DICT_COMP: return comprehension(c, node, want);
    case AST_GENERATOR: return generator(c, node, want);
    case AST_NAMED: return named(c, node, want);
    case AST_YIELD: return yield(c, node, want);
    case AST_YIELD_FROM: return yield_from(c, node, want);
    case AST_JOINED: return joined(c, node, want);
    default: break;
    }
    c->at = node->at;
    compile_fail(c, tsr_error(TSR_SYNTAX_ERROR, "can't use starred expression here"));
    return operand_slot(0);
}

/* --- stores --- */

static void store_unpack(Compiler *c, const Node *target, Operand v) {
    const NodeList *list = &target->list;
    int star = -1;
    for (int i = 0; i < list->count; i++)
        if (list->items[i]->kind == AST_STARRED) star = i;
    Operand in = operand_in_slot(c, v);
    int first = temps_new(c, list->count);
    c->at = target->at;
    if (star > UINT8_MAX) compile_fail(c, tsr_error(TSR_SYNTAX_ERROR, "too many expressions in star-unpacking assignment"));
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
    Opcode row = in.kind == OPERAND_CONST ? INS_SETITEM_RK : index.kind == OPERAND_CONST ? INS_SETITEM_KR : INS_SETITEM_RR;
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
