/* statement.c: statements, and the blocks around them: where break, continue, return and errors go.
 *
 * The compiler keeps a stack of blocks: loops, try, finally, with. A jump out walks it from the inside: it ends the
 * stretches of code whose errors a handler would catch, runs the exit of a with, and hands over to a finally, whose
 * body is compiled once: whoever enters it leaves a number in a slot that says how to go on (finally_dispatch). Errors
 * cost nothing until they come: protect_begin and protect_target only note which instructions a handler covers. */
#include "compile_impl.h"

#include <string.h>

/* --- blocks --- */

static void block_open(Compiler *c, Block *b, BlockKind kind) {
    *b = (Block){.kind = kind, .outer = c->block, .slot = -1, .protected_from = -1, .handler_slot = -1};
    c->block = b;
    c->block_depth++;
    if (c->block_depth > MAX_BLOCKS) compile_fail(c, tsr_error(TSR_SYNTAX_ERROR, "too many statically nested blocks"));
}

static void block_close(Compiler *c) {
    c->block = c->block->outer;
    c->block_depth--;
}

/* Handlers wait for their target's address as negative numbers: -2 - slot of the exception. */
static void protect_begin(Compiler *c, Block *b, int slot) {
    b->handler_slot = slot;
    b->protected_from = code_here(c);
}

static void protect_suspend(Compiler *c, Block *b) {
    if (b->protected_from < 0) return;
    add_handler(c, b->protected_from, code_here(c), -2 - b->handler_slot, b->handler_slot, 0);
    b->protected_from = -1;
}

/* The errors of the stretches since protect_begin come here. */
static void protect_target(Compiler *c, int slot, int first_handler) {
    for (int i = first_handler; i < c->code->handler_count; i++)
        if (c->code->handlers[i].target == -2 - slot) c->code->handlers[i].target = code_here(c);
}

/* `except ... as name` forgets the name at the end of its block. */
static void forget_name(Compiler *c, const char *name) {
    store_name(c, name, const_operand_move(c, VALUE_NONE));
    delete_name(c, name);
}

/* Whether these blocks and those around them are loops only. */
static bool plain_blocks(const Block *b) {
    while (b != NULL && b->kind == BLOCK_LOOP) b = b->outer;
    return b == NULL;
}

/* Leaves one block on the way out. True when the way goes on by another route (a finally that takes over). */
static bool leave_block(Compiler *c, Block *b, ExitKind kind, Operand *value) {
    switch (b->kind) {
    case BLOCK_LOOP:
        if (kind == EXIT_RETURN) { /* the loop ends before what a finally or with around it does */
            if (b->slot >= 0 && !plain_blocks(b->outer)) emit(c, INS_CLEAR, 0, b->slot, 0, 3);
            return false;
        }
        if (kind == EXIT_BREAK) {
            if (b->slot >= 0) emit(c, INS_CLEAR, 0, b->slot, 0, 3);
            emit_jump(c, INS_JUMP, 0, 0, b->on_break);
        } else {
            emit_jump(c, b->on_continue->at >= 0 ? INS_LOOP : INS_JUMP, 0, 0, b->on_continue);
        }
        return true;
    case BLOCK_HANDLER:
        if (b->name != NULL) forget_name(c, b->name);
        if (kind != EXIT_RETURN) emit(c, INS_CLEAR, 0, b->slot, 0, 1);
        return false;
    case BLOCK_WITH: emit(c, INS_EXIT, 0, b->slot, 0, 0); return false;
    case BLOCK_FINALLY_BODY:
        if (kind != EXIT_RETURN) emit(c, INS_CLEAR, 0, b->slot, 0, 3);
        return false;
    case BLOCK_FINALLY_TRY:
        if (kind == EXIT_RETURN) operand_to(c, operand_slot(value->index), b->slot + 2);
        operand_to(c, const_operand_move(c, value_int(1 + (int)kind)), b->slot);
        emit_jump(c, INS_JUMP, 0, 0, b->finally);
        b->exits |= 1u << kind;
        return true;
    default: return false;
    }
}

/* return, break, continue: out through the blocks around. `value` is the returned operand. */
void emit_exit(Compiler *c, ExitKind kind, Operand value) {
    Block *saved = c->block, *b = c->block;
    bool in_temp = value.kind != OPERAND_CONST && slot_is_temp(c, value.index);
    bool copied = kind == EXIT_RETURN && !plain_blocks(b) && !in_temp;
    if (copied) {
        int t = temp_new(c);
        operand_to(c, value, t);
        value = (Operand){OPERAND_TEMP, t};
    }
    bool done = false;
    for (; b != NULL && !done; b = b->outer) {
        protect_suspend(c, b);
        c->block = b->outer;
        done = leave_block(c, b, kind, &value);
    }
    if (!done && kind == EXIT_RETURN) {
        int live = c->temps - (value.kind == OPERAND_TEMP); /* the topmost is what is returned */
        emit(c, value.kind == OPERAND_CONST ? INS_RETURNK : INS_RETURN, 0, 0, value.index, live);
    }
    if (copied) operand_free(c, value);
    for (Block *o = saved; o != b; o = o->outer)
        if (o->handler_slot >= 0) o->protected_from = code_here(c);
    c->block = saved;
}

/* --- statements --- */

static void statement_expression(Compiler *c, const Node *node, bool last) {
    bool show = c->module_level && (c->options->show == SHOW_ALL || (c->options->show == SHOW_LAST && last));
    bool result = c->module_level && last && c->options->result;
    Operand v = show || result ? expr_in_slot(c, node->value) : expr(c, node->value, -1);
    c->at = node->value->at;
    if (result) emit_exit(c, EXIT_RETURN, v);
    else if (show) emit(c, INS_DISPLAY, 0, 0, v.index, 0);
    else if (v.kind == OPERAND_TEMP) emit(c, INS_CLEAR, 0, v.index, 0, 1);
    else if (v.kind == OPERAND_SLOT) emit(c, INS_CHECK, 0, v.index, 0, 0);
    operand_free(c, v);
}

/* `a, b = c, d` of the same number: no tuple is made. */
static bool assign_pairwise(Compiler *c, const Node *target, const Node *value) {
    if ((target->kind != AST_TUPLE && target->kind != AST_LIST) || value->kind != AST_TUPLE) return false;
    int n = value->list.count;
    if (n != target->list.count || n > 16) return false;
    for (int i = 0; i < n; i++)
        if (value->list.items[i]->kind == AST_STARRED || target->list.items[i]->kind == AST_STARRED) return false;
    int first = temps_new(c, n);
    for (int i = 0; i < n; i++) expr_to(c, value->list.items[i], first + i);
    for (int i = 0; i < n; i++) store(c, target->list.items[i], operand_slot(first + i));
    temps_free(c, n);
    return true;
}

/* In `s = s + x + "," + ";"` the sum s + x, when what is added after it are string constants: if s and x are strings,
 * nothing can go wrong between it and the assignment, so the text may grow in place. */
static const Node *find_last_use(const Node *target, const Node *value) {
    if (target->kind != AST_NAME) return NULL;
    for (; value->kind == AST_BINARY && value->binary.op == OP_ADD; value = value->binary.left) {
        const Node *left = value->binary.left, *right = value->binary.right;
        if (left->kind == AST_NAME) return strcmp(left->name.id, target->name.id) == 0 ? value : NULL;
        if (right->kind != AST_CONSTANT || right->constant.kind != CONST_STR) return NULL;
    }
    return NULL;
}

static void assign(Compiler *c, const NodeList *targets, const Node *value) {
    const Node *target = targets->items[0];
    if (targets->count == 1) {
        int direct = direct_slot(c, target);
        if (direct >= 0) {
            c->last_use = find_last_use(target, value);
            expr_to(c, value, direct);
            c->last_use = NULL;
            if (value->kind == AST_NAME) emit(c, INS_COPIED, 0, direct, 0, 0);
            return;
        }
        if (assign_pairwise(c, target, value)) return;
        Operand v = operand_protect(c, expr(c, value, -1), value->at, target);
        if (value->kind == AST_NAME && target->kind == AST_NAME && v.kind != OPERAND_CONST)
            emit(c, INS_COPIED, 0, v.index, 0, 0);
        c->at = target->at;
        store(c, target, v);
        operand_free(c, v);
        return;
    }
    Operand v = expr(c, value, -1);
    if (v.kind == OPERAND_SLOT) v = operand_copy(c, v); /* a target may be the name itself: j, k = l = j */
    for (int i = 0; i < targets->count; i++) {
        if (i + 1 == targets->count || v.kind == OPERAND_CONST) {
            store(c, targets->items[i], v);
            continue;
        }
        int copy = temp_new(c);
        emit(c, INS_MOVE, 0, copy, v.index, 0);
        store(c, targets->items[i], operand_slot(copy));
        temps_free(c, 1);
    }
    operand_free(c, v);
}

/* An object or index that an augmented assignment uses twice: a name's slot, or a temporary that is then copied. */
static int use_twice(Compiler *c, Operand o) {
    if (!slot_is_temp(c, o.index)) return o.index;
    int copy = temp_new(c);
    emit(c, INS_MOVE, 0, copy, o.index, 0);
    return copy;
}

static void augment_subscript(Compiler *c, const Node *node) {
    const Node *target = node->augmented.target;
    Operand object = operand_protect(c, expr_in_slot(c, target->subscript.value), target->at, target->subscript.index);
    Operand index = operand_in_slot(c, expr(c, target->subscript.index, -1));
    index = operand_protect(c, index, target->at, node->augmented.value);
    Operand o = operand_protect(c, object, target->at, node->augmented.value), i = index;
    bool fresh = o.index != object.index;
    int before = c->temps, o2 = use_twice(c, o), i2 = use_twice(c, i);
    c->temps = before;
    int item = temp_new(c); /* may be one of the copies, which the read consumes */
    c->at = target->at;
    emit(c, INS_GETITEM_RR, 0, item, o2, i2);
    Operand v = expr(c, node->augmented.value, -1);
    c->at = node->at;
    emit_binary(c, node->augmented.op, true, item, operand_slot(item), v);
    operand_free(c, v);
    c->at = target->at;
    emit(c, INS_SETITEM_RR, 0, o.index, i.index, item);
    temps_free(c, 1);
    if (fresh) operand_free(c, o);
    operand_free(c, index);
    operand_free(c, object);
}

static void augment_attribute(Compiler *c, const Node *node) {
    const Node *target = node->augmented.target;
    Operand object = operand_protect(c, expr_in_slot(c, target->attribute.value), target->at, node->augmented.value);
    int before = c->temps, copy = use_twice(c, object);
    c->temps = before;
    int item = temp_new(c);
    c->at = target->at;
    emit_getattr(c, item, operand_slot(copy), target->attribute.name);
    Operand v = expr(c, node->augmented.value, -1);
    c->at = node->at;
    emit_binary(c, node->augmented.op, true, item, operand_slot(item), v);
    operand_free(c, v);
    c->at = target->at;
    emit(c, INS_SETATTR, 0, object.index, item, const_name(c, target->attribute.name));
    temps_free(c, 1);
    operand_free(c, object);
}

static void augment(Compiler *c, const Node *node) {
    const Node *target = node->augmented.target;
    if (target->kind == AST_SUBSCRIPT) {
        augment_subscript(c, node);
        return;
    }
    if (target->kind == AST_ATTRIBUTE) {
        augment_attribute(c, node);
        return;
    }
    int direct = direct_slot(c, target);
    c->at = target->at;
    Operand l = operand_protect(c, load_name(c, target->name.id, -1), target->at, node->augmented.value);
    Operand v = expr(c, node->augmented.value, -1);
    c->at = node->at;
    if (direct >= 0) {
        emit_binary(c, node->augmented.op, true, direct, l, v);
    } else {
        emit_binary(c, node->augmented.op, true, l.index, l, v);
        store_name(c, target->name.id, operand_slot(l.index));
    }
    operand_free(c, v);
    operand_free(c, l);
}

/* The annotation of a variable is evaluated, as Python does, and forgotten. */
static void annotation(Compiler *c, const Node *node) {
    if (node == NULL || annotations_are_text) return;
    Operand v = expr_in_slot(c, node);
    c->at = node->at;
    if (v.kind != OPERAND_TEMP) {
        emit(c, INS_CHECK, 0, v.index, 0, 0);
        return;
    }
    emit(c, INS_CLEAR, 0, v.index, 0, 1);
    operand_free(c, v);
}

static void annotated(Compiler *c, const Node *node) {
    const Node *target = node->annotated.target;
    if (node->annotated.value != NULL) {
        NodeList one = {(Node *[]){(Node *)target}, 1};
        assign(c, &one, node->annotated.value);
    }
    if (c->module_level) annotation(c, node->annotated.annotation); /* in a function annotations are not evaluated */
}

static void branch(Compiler *c, const Node *node) {
    Label otherwise = LABEL_NEW, end = LABEL_NEW;
    jump_if(c, node->branch.test, false, &otherwise);
    compile_statements(c, &node->branch.body);
    if (node->branch.orelse.count > 0) {
        emit_jump(c, INS_JUMP, 0, 0, &end);
        label_here(c, &otherwise);
        compile_statements(c, &node->branch.orelse);
        label_here(c, &end);
    } else {
        label_here(c, &otherwise);
    }
}

static void while_loop(Compiler *c, const Node *node) {
    Label body = LABEL_NEW, test = LABEL_NEW, end = LABEL_NEW;
    Block b;
    c->at = node->branch.test->at;
    emit_jump(c, INS_JUMP, 0, 0, &test);
    block_open(c, &b, BLOCK_LOOP);
    b.on_break = &end;
    b.on_continue = &test;
    label_here(c, &body);
    compile_statements(c, &node->branch.body);
    label_here(c, &test);
    block_close(c);
    jump_if(c, node->branch.test, true, &body);
    compile_statements(c, &node->branch.orelse);
    label_here(c, &end);
}

static void for_loop(Compiler *c, const Node *node) {
    Label body = LABEL_NEW, next = LABEL_NEW, end = LABEL_NEW;
    Block b;
    int it = temps_new(c, 3);
    expr_to(c, node->loop.iterable, it);
    c->at = node->loop.iterable->at;
    emit(c, INS_FORPREP, 0, it, 0, 0);
    emit_jump(c, INS_JUMP, 0, 0, &next);
    block_open(c, &b, BLOCK_LOOP);
    b.slot = it;
    b.on_break = &end;
    b.on_continue = &next;
    label_here(c, &body);
    int direct = direct_slot(c, node->loop.target), t = direct;
    if (direct < 0) {
        t = temp_new(c);
        store(c, node->loop.target, operand_slot(t));
        temps_free(c, 1);
    }
    compile_statements(c, &node->loop.body);
    label_here(c, &next);
    block_close(c);
    c->at = node->loop.iterable->at;
    emit_jump(c, INS_FORNEXT, it, t, &body);
    temps_free(c, 3);
    compile_statements(c, &node->loop.orelse);
    label_here(c, &end);
}

/* One `except` clause: falls out of it at `end`, or goes on at the next. */
static void handler(Compiler *c, const Node *node, int exception, Label *end) {
    Label next = LABEL_NEW;
    Block b;
    if (node->handler.type != NULL) {
        Operand type = expr_in_slot(c, node->handler.type);
        operand_free(c, type);
        c->at = node->handler.type->at;
        emit_jump(c, INS_JNOMATCH, exception, type.index, &next);
    }
    block_open(c, &b, BLOCK_HANDLER);
    b.slot = exception;
    b.name = node->handler.name;
    int cleanup = -1, first_handler = c->code->handler_count;
    if (b.name != NULL) {
        int copy = temp_new(c);
        emit(c, INS_MOVE, 0, copy, exception, 0);
        store_name(c, b.name, operand_slot(copy));
        temps_free(c, 1);
        cleanup = temp_new(c);
        protect_begin(c, &b, cleanup);
    }
    compile_statements(c, &node->handler.body);
    protect_suspend(c, &b);
    block_close(c);
    if (b.name != NULL) forget_name(c, b.name);
    emit(c, INS_CLEAR, 0, exception, 0, 1);
    emit_jump(c, INS_JUMP, 0, 0, end);
    if (b.name != NULL) {
        protect_target(c, cleanup, first_handler);
        forget_name(c, b.name);
        emit(c, INS_RERAISE, 0, 0, cleanup, 0);
        temps_free(c, 1);
    }
    label_here(c, &next);
}

static void try_except(Compiler *c, const Node *node) {
    if (node->attempt.handlers.count == 0) {
        compile_statements(c, &node->attempt.body);
        return;
    }
    Label end = LABEL_NEW;
    Block b;
    int exception = temp_new(c), first_handler = c->code->handler_count;
    block_open(c, &b, BLOCK_TRY);
    protect_begin(c, &b, exception);
    compile_statements(c, &node->attempt.body);
    protect_suspend(c, &b);
    block_close(c);
    compile_statements(c, &node->attempt.orelse);
    emit_jump(c, INS_JUMP, 0, 0, &end);
    protect_target(c, exception, first_handler);
    int start = code_here(c);
    for (int i = 0; i < node->attempt.handlers.count; i++) handler(c, node->attempt.handlers.items[i], exception, &end);
    emit(c, INS_RERAISE, 0, 0, exception, 0);
    add_handled(c, start, exception);
    label_here(c, &end);
    temps_free(c, 1);
}

/* After a finally's body: on along the way that led into it. */
static void finally_dispatch(Compiler *c, const Block *b) {
    Label error = LABEL_NEW, normal = LABEL_NEW, exits[3] = {LABEL_NEW, LABEL_NEW, LABEL_NEW};
    emit_jump(c, INS_JSELECT, b->slot, 0, &normal);
    for (int k = 0; k < 3; k++)
        if (b->exits & (1u << k)) emit_jump(c, INS_JSELECT, b->slot, 1 + k, &exits[k]);
    label_here(c, &error);
    emit(c, INS_RERAISE, 0, 0, b->slot + 1, 0);
    for (int k = 0; k < 3; k++) {
        if (!(b->exits & (1u << k))) continue;
        label_here(c, &exits[k]);
        emit_exit(c, (ExitKind)k, operand_slot(b->slot + 2));
    }
    label_here(c, &normal);
}

static void try_finally(Compiler *c, const Node *node) {
    Label finally = LABEL_NEW;
    Block b, body;
    int first_handler = c->code->handler_count;
    int slots = temps_new(c, 3); /* the way in (0 normal, 1 + ExitKind, 9 error), the exception, the value returned */
    emit(c, INS_CLEAR, 0, slots, 0, 3);
    block_open(c, &b, BLOCK_FINALLY_TRY);
    b.slot = slots;
    b.finally = &finally;
    protect_begin(c, &b, slots + 1);
    try_except(c, node);
    protect_suspend(c, &b);
    block_close(c);
    operand_to(c, const_operand_move(c, value_int(0)), slots);
    emit_jump(c, INS_JUMP, 0, 0, &finally);
    protect_target(c, slots + 1, first_handler);
    operand_to(c, const_operand_move(c, value_int(9)), slots);
    label_here(c, &finally);
    int start = code_here(c);
    block_open(c, &body, BLOCK_FINALLY_BODY);
    body.slot = slots;
    compile_statements(c, &node->attempt.finally);
    block_close(c);
    finally_dispatch(c, &b);
    add_handled(c, start, slots + 1);
    temps_free(c, 3);
}

static void with_item(Compiler *c, const Node *node, int i) {
    if (i == node->with.count) {
        compile_statements(c, &node->with.body);
        return;
    }
    const WithItem *item = &node->with.items[i];
    Label end = LABEL_NEW, swallowed = LABEL_NEW;
    Block b;
    int manager = temps_new(c, 2), exception = manager + 1;
    expr_to(c, item->context, manager);
    int value = temp_new(c), first_handler = c->code->handler_count;
    c->at = item->context->at;
    emit(c, INS_ENTER, 0, manager, value, 0);
    block_open(c, &b, BLOCK_WITH);
    b.slot = manager;
    protect_begin(c, &b, exception);
    if (item->target != NULL) store(c, item->target, operand_slot(value));
    else emit(c, INS_CLEAR, 0, value, 0, 1);
    temps_free(c, 1);
    with_item(c, node, i + 1);
    protect_suspend(c, &b);
    block_close(c);
    c->at = item->context->at;
    emit(c, INS_EXIT, 0, manager, 0, 0);
    emit_jump(c, INS_JUMP, 0, 0, &end);
    protect_target(c, exception, first_handler);
    int start = code_here(c);
    emit(c, INS_EXITERROR, 0, manager, exception, 0);
    emit_jump(c, INS_JT, manager, 0, &swallowed);
    emit(c, INS_RERAISE, 0, 0, exception, 0);
    label_here(c, &swallowed);
    emit(c, INS_CLEAR, 0, exception, 0, 1);
    add_handled(c, start, exception);
    label_here(c, &end);
    temps_free(c, 2);
}

static void return_statement(Compiler *c, const Node *node) {
    Operand v = node->value != NULL ? expr(c, node->value, -1) : const_operand_move(c, VALUE_NONE);
    c->at = node->at;
    emit_exit(c, EXIT_RETURN, v);
    operand_free(c, v);
}

static void delete_target(Compiler *c, const Node *node) {
    switch (node->kind) {
    case AST_NAME:
        c->at = node->at;
        delete_name(c, node->name.id);
        break;
    case AST_ATTRIBUTE: {
        Operand object = expr_in_slot(c, node->attribute.value);
        operand_free(c, object);
        c->at = node->at;
        emit(c, INS_DELATTR, 0, object.index, 0, const_name(c, node->attribute.name));
        break;
    }
    case AST_SUBSCRIPT: {
        Operand object = operand_protect(c, expr_in_slot(c, node->subscript.value), node->at, node->subscript.index);
        Operand index = expr_in_slot(c, node->subscript.index);
        operand_free(c, index);
        operand_free(c, object);
        c->at = node->at;
        emit(c, INS_DELITEM, 0, object.index, index.index, 0);
        break;
    }
    default:
        for (int i = 0; i < node->list.count; i++) delete_target(c, node->list.items[i]);
        break;
    }
}

static void raise_statement(Compiler *c, const Node *node) {
    int x = 0;
    Operand e = {OPERAND_SLOT, 0}, cause = {OPERAND_SLOT, 0};
    if (node->raise.exception != NULL) {
        e = expr_in_slot(c, node->raise.exception);
        x |= 1;
    }
    if (node->raise.cause != NULL) {
        if (x & 1) e = operand_protect(c, e, node->at, node->raise.cause);
        cause = expr_in_slot(c, node->raise.cause);
        x |= 2;
        operand_free(c, cause);
    }
    if (x & 1) operand_free(c, e);
    c->at = node->at;
    emit(c, INS_RAISE, x, 0, e.index, cause.index);
}

static void assertion(Compiler *c, const Node *node) {
    Label fine = LABEL_NEW;
    jump_if(c, node->assertion.test, true, &fine);
    Operand message = {OPERAND_SLOT, 0};
    if (node->assertion.message != NULL) {
        message = expr_in_slot(c, node->assertion.message);
        operand_free(c, message);
    }
    c->at = node->assertion.test->at;
    emit(c, INS_RAISEASSERT, node->assertion.message != NULL, 0, message.index, 0);
    label_here(c, &fine);
}

static void import(Compiler *c, const Node *node) {
    for (int i = 0; i < node->import.count; i++) {
        const Alias *a = &node->import.names[i];
        const char *dot = strchr(a->name, '.');
        bool first_part = a->asname == NULL && dot != NULL;
        int t = temp_new(c);
        c->at = node->at;
        emit_k(c, INS_IMPORT, first_part, t, (uint32_t)const_name(c, a->name));
        const char *name = a->asname != NULL ? a->asname : a->name;
        if (first_part) name = arena_copy(c->scope->arena, a->name, (size_t)(dot - a->name));
        if (name == NULL) compile_fail(c, mem_error());
        else store_name(c, name, operand_slot(t));
        temps_free(c, 1);
    }
}

static void import_from(Compiler *c, const Node *node) {
    int module = temp_new(c);
    c->at = node->at;
    if (node->import.level > 0 || node->import.module == NULL) {
        compile_fail(c, tsr_error(TSR_IMPORT_ERROR, "attempted relative import with no known parent package"));
        return;
    }
    emit_k(c, INS_IMPORT, 0, module, (uint32_t)const_name(c, node->import.module));
    for (int i = 0; i < node->import.count; i++) {
        const Alias *a = &node->import.names[i];
        annotations_are_text |= strcmp(node->import.module, "__future__") == 0 && strcmp(a->name, "annotations") == 0;
        if (strcmp(a->name, "*") == 0) {
            emit(c, INS_IMPORTSTAR, 0, module, 0, 0);
            continue;
        }
        int t = temp_new(c);
        emit(c, INS_IMPORTFROM, 0, t, module, const_name(c, a->name));
        store_name(c, a->asname != NULL ? a->asname : a->name, operand_slot(t));
        temps_free(c, 1);
    }
    emit(c, INS_CLEAR, 0, module, 0, 1);
    temps_free(c, 1);
}

/* The decorators' values, in the order they are written, then the function, all in slots that follow each other: so
 * each call finds its argument in the slot after its function. */
static void define(Compiler *c, const Node *node) {
    const NodeList *decorators = &node->function.decorators;
    int first = temps_new(c, decorators->count), w = temps_new(c, 3);
    for (int i = 0; i < decorators->count; i++) expr_to(c, decorators->items[i], first + i);
    function_value(c, node, w);
    temps_free(c, 2);
    for (int i = decorators->count; i-- > 0;) {
        temps_free(c, 1);
        c->at = decorators->items[i]->at;
        emit(c, INS_CALL, 0, first + i, 1, first + i);
    }
    c->at = node->at;
    store_name(c, node->function.name, operand_slot(first));
    temps_free(c, 1);
}

static void statement_of_kind(Compiler *c, const Node *node, bool last) {
    c->at = node->at;
    switch (node->kind) {
    case AST_EXPR: statement_expression(c, node, last); break;
    case AST_ASSIGN: assign(c, &node->assign.targets, node->assign.value); break;
    case AST_AUG_ASSIGN: augment(c, node); break;
    case AST_ANN_ASSIGN: annotated(c, node); break;
    case AST_IF: branch(c, node); break;
    case AST_WHILE: while_loop(c, node); break;
    case AST_FOR: for_loop(c, node); break;
    case AST_DEF: define(c, node); break;
    case AST_RETURN: return_statement(c, node); break;
    case AST_DELETE:
        for (int i = 0; i < node->list.count; i++) delete_target(c, node->list.items[i]);
        break;
    case AST_BREAK: emit_exit(c, EXIT_BREAK, operand_slot(0)); break;
    case AST_CONTINUE: emit_exit(c, EXIT_CONTINUE, operand_slot(0)); break;
    case AST_ASSERT: assertion(c, node); break;
    case AST_RAISE: raise_statement(c, node); break;
    case AST_TRY:
        if (node->attempt.finally.count > 0) try_finally(c, node);
        else try_except(c, node);
        break;
    case AST_WITH: with_item(c, node, 0); break;
    case AST_IMPORT: import(c, node); break;
    case AST_IMPORT_FROM: import_from(c, node); break;
    default: break; /* pass, global, nonlocal */
    }
}

void compile_statement(Compiler *c, const Node *node, bool last) {
    if (compile_failed(c)) return;
    int before = c->temps;
    c->at = node->at;
    if (c->options->lines) emit(c, INS_LINE, 0, 0, 0, 0);
    statement_of_kind(c, node, last);
    if (c->temps != before) compile_temp_lost(c);
}

void compile_statements(Compiler *c, const NodeList *list) {
    for (int i = 0; i < list->count; i++) compile_statement(c, list->items[i], false);
}
