/* call.c: attributes, subscripts and calls. */
#include "compile_impl.h"

enum { CALL_AT_ONCE = 250 }; /* arguments of a call that are passed in slots */

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

Operand expr_attribute(Compiler *c, const Node *node, int want) {
    Operand v = expr_in_slot(c, node->attribute.value);
    operand_free(c, v);
    Operand o = result_slot(c, want);
    c->at = node->at;
    emit_getattr(c, o.index, v, node->attribute.name);
    return o;
}

Operand expr_subscript(Compiler *c, const Node *node, int want) {
    Operand v = operand_protect(c, expr_in_slot(c, node->subscript.value), node->at, node->subscript.index);
    Operand i = expr(c, node->subscript.index, -1);
    operand_free(c, i);
    operand_free(c, v);
    Operand o = result_slot(c, want);
    c->at = node->at;
    emit(c, i.kind == OPERAND_CONST ? INS_GETITEM_RK : INS_GETITEM_RR, 0, o.index, v.index, i.index);
    return o;
}

static void positional_list(Compiler *c, const Node *node, int w) {
    emit(c, INS_LIST, 0, w + 1, 0, 0);
    for (int i = 0; i < node->call.args.count; i++) {
        const Node *arg = node->call.args.items[i];
        bool star = arg->kind == AST_STARRED;
        Operand v = expr_in_slot(c, star ? arg->value : arg);
        operand_free(c, v);
        c->at = node->at;
        emit(c, star ? INS_ARGEXTEND : INS_APPEND, 0, w + 1, v.index, w);
    }
}

/* *args with nothing positional beside it is iterated by the call itself, after the keywords; an error names the
 * function. */
static void spread_alone(Compiler *c, int w) {
    int list = temp_new(c);
    emit(c, INS_LIST, 0, list, 0, 0);
    emit(c, INS_ARGEXTEND, 1, list, w + 1, w);
    operand_to(c, (Operand){OPERAND_TEMP, list}, w + 1);
}

/* Calls with *args, **kwargs or very many arguments: a list and a dict are built. */
static Operand call_spread(Compiler *c, const Node *node, int want) {
    int w = temps_new(c, 3);
    expr_to(c, node->call.func, w);
    c->at = node->at;
    bool alone = node->call.args.count == 1 && node->call.args.items[0]->kind == AST_STARRED;
    if (alone) expr_to(c, node->call.args.items[0]->value, w + 1);
    else positional_list(c, node, w);
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
    if (alone) spread_alone(c, w);
    emit(c, INS_CALLEX, 0, w, 0, 0);
    temps_free(c, 3);
    Operand o = result_slot(c, want);
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
    Operand o = result_slot(c, want);
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
    Operand o = result_slot(c, want);
    c->at = node->at;
    emit(c, INS_CALLWAIT, wait, w, args->count, o.index);
    return o;
}

Operand expr_call(Compiler *c, const Node *node, int want) {
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
    Operand o = result_slot(c, want);
    c->at = node->at;
    emit(c, method ? INS_CALLMETHOD : INS_CALL, 0, w, args->count, o.index);
    return o;
}
