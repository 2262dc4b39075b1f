#include "compile_internal.h"

#include <string.h>


void compile_fail(Compiler *c, TsrStatus status) {
    if (!compile_failed(c)) {
        c->failure->status = status;
        *c->failure->where = c->at;
        snprintf(c->failure->message, sizeof c->failure->message, "%s", tsr_error_message());
    }
    exc_discard(status);
}

static void too_complex(Compiler *c) { compile_fail(c, tsr_error(TSR_SYNTAX_ERROR, "the code is too large")); }

/* --- emitting --- */

int code_here(const Compiler *c) { return c->code->ins_count; }

static int emit_ins(Compiler *c, Ins ins) {
    Code *code = c->code;
    if (compile_failed(c)) return -1;
    TsrStatus status = mem_grow(&code->ins, &c->ins_capacity, code->ins_count + 1, sizeof *code->ins);
    if (status == TSR_OK) status = mem_grow(&code->at, &c->at_capacity, code->ins_count + 1, sizeof *code->at);
    if (status != TSR_OK) {
        compile_fail(c, status);
        return -1;
    }
    if (code->ins_count >= 1 << 22) {
        too_complex(c);
        return -1;
    }
    code->ins[code->ins_count] = ins;
    code->at[code->ins_count] = c->at;
    return code->ins_count++;
}

int emit(Compiler *c, Opcode op, int x, int a, int b, int k) {
    if ((unsigned)a > UINT16_MAX || (unsigned)b > UINT16_MAX || (unsigned)k > UINT16_MAX) too_complex(c);
    return emit_ins(c, (Ins){.op = (uint8_t)op, .x = (uint8_t)x, .a = (uint16_t)a, .b = (uint16_t)b, .c = (uint16_t)k});
}

int emit_k(Compiler *c, Opcode op, int x, int a, uint32_t k) {
    if ((unsigned)a > UINT16_MAX) too_complex(c);
    Ins ins = {.op = (uint8_t)op, .x = (uint8_t)x, .a = (uint16_t)a};
    ins.k = k;
    return emit_ins(c, ins);
}

static void set_jump(Code *code, int at, int offset) {
    Ins *ins = &code->ins[at];
    ins->head = (int32_t)((uint32_t)offset << 8 | ins->op);
}

void emit_jump(Compiler *c, Opcode op, int b, int k, Label *label) {
    if ((unsigned)b > UINT16_MAX || (unsigned)k > UINT16_MAX) too_complex(c);
    int at = emit_ins(c, (Ins){.op = (uint8_t)op, .b = (uint16_t)b, .c = (uint16_t)k});
    if (at < 0) return;
    if (label->at >= 0) {
        set_jump(c->code, at, label->at - (at + 1));
    } else {
        set_jump(c->code, at, label->chain);
        label->chain = at;
    }
}

void label_here(Compiler *c, Label *label) {
    int here = code_here(c);
    for (int at = label->chain; at >= 0;) {
        int next = c->code->ins[at].head >> 8;
        set_jump(c->code, at, here - (at + 1));
        at = next;
    }
    label->chain = -1;
    label->at = here;
}

void add_handler(Compiler *c, int start, int end, int target, int slot, int count) {
    Code *code = c->code;
    if (start >= end || compile_failed(c)) return;
    TsrStatus status = mem_grow(&code->handlers, &c->handler_capacity, code->handler_count + 1, sizeof *code->handlers);
    if (status != TSR_OK) {
        compile_fail(c, status);
        return;
    }
    code->handlers[code->handler_count++] = (Handler){start, end, target, (uint16_t)slot, (uint16_t)count};
}

static void add_handled(Compiler *c, int start, int slot) {
    Code *code = c->code;
    if (start >= code_here(c) || compile_failed(c)) return;
    TsrStatus status = mem_grow(&code->handled, &c->handled_capacity, code->handled_count + 1, sizeof *code->handled);
    if (status != TSR_OK) compile_fail(c, status);
    else code->handled[code->handled_count++] = (HandledRegion){start, code_here(c), (uint16_t)slot};
}

void add_lent(Compiler *c, int slot, SourceRange at, const Node *later) {
    Code *code = c->code;
    if (compile_failed(c)) return;
    TsrStatus status = mem_grow(&code->lent, &c->lent_capacity, code->lent_count + 1, sizeof *code->lent);
    if (status != TSR_OK) compile_fail(c, status);
    else code->lent[code->lent_count++] = (LentName){code_here(c), (uint16_t)slot, at, later->at};
}

/* --- slots --- */

int slot_of(const Compiler *c, int index) { return c->code->first_slot + index; }
bool slot_is_temp(const Compiler *c, int slot) { return slot >= c->code->first_temp; }

int temps_new(Compiler *c, int count) {
    int first = c->code->first_temp + c->temps;
    c->temps += count;
    if (first + count > c->code->frame_size) c->code->frame_size = first + count;
    if (c->code->frame_size > UINT16_MAX) too_complex(c);
    return first;
}

int temp_new(Compiler *c) { return temps_new(c, 1); }
void temps_free(Compiler *c, int count) { c->temps -= count; }

void operand_free(Compiler *c, Operand o) {
    if (o.kind == OPERAND_TEMP) c->temps--;
}

/* --- constants --- */

static uint64_t const_hash(Value v) {
    uint64_t bits = (uint64_t)v.i * 0x9e3779b97f4a7c15u + v.tag;
    return bits ^ bits >> 29;
}

/* Constants are shared only when they are the same value bit by bit, or the same object. */
static bool const_same(Value a, Value b) { return a.tag == b.tag && (a.tag == V_NONE || a.i == b.i); }

static void const_put(Compiler *c, int index) {
    uint64_t mask = (uint64_t)c->const_table_size - 1, i = const_hash(c->code->consts[index]) & mask;
    while (c->const_table[i] >= 0) i = (i + 1) & mask;
    c->const_table[i] = index;
}

static bool const_table_grow(Compiler *c) {
    if (c->code->const_count * 2 < c->const_table_size) return true;
    int size = c->const_table_size ? c->const_table_size * 2 : 32;
    int32_t *table = tsr_malloc((size_t)size * sizeof *table);
    if (table == NULL) return false;
    memset(table, 0xff, (size_t)size * sizeof *table);
    tsr_free(c->const_table);
    c->const_table = table;
    c->const_table_size = size;
    for (int i = 0; i < c->code->const_count; i++) const_put(c, i);
    return true;
}

static int const_find(const Compiler *c, Value v) {
    if (c->const_table == NULL) return -1;
    uint64_t mask = (uint64_t)c->const_table_size - 1;
    for (uint64_t i = const_hash(v) & mask; c->const_table[i] >= 0; i = (i + 1) & mask)
        if (const_same(c->code->consts[c->const_table[i]], v)) return c->const_table[i];
    return -1;
}

/* Names must have an index of 16 bits: the last of those are kept for them. */
enum { KEPT_FROM = 61440, KEPT_END = 65536 };

static void const_keep_room(Compiler *c) {
    Code *code = c->code;
    if (code->const_count != KEPT_FROM) return;
    TsrStatus status = mem_grow(&code->consts, &c->const_capacity, KEPT_END, sizeof *code->consts);
    if (status != TSR_OK) {
        compile_fail(c, status);
        return;
    }
    c->names_from = KEPT_FROM;
    while (code->const_count < KEPT_END) code->consts[code->const_count++] = VALUE_NONE;
}

static int const_append_move(Compiler *c, Value v) {
    Code *code = c->code;
    const_keep_room(c);
    TsrStatus status = mem_grow(&code->consts, &c->const_capacity, code->const_count + 1, sizeof *code->consts);
    if (status == TSR_OK && !const_table_grow(c)) status = mem_error();
    if (status != TSR_OK) {
        value_release(v);
        compile_fail(c, status);
        return 0;
    }
    code->consts[code->const_count++] = v;
    const_put(c, code->const_count - 1);
    return code->const_count - 1;
}

/* Its index, perhaps above 65535. */
static int const_add_move(Compiler *c, Value v) {
    int found = const_find(c, v);
    if (found >= 0) {
        value_release(v);
        return found;
    }
    return const_append_move(c, v);
}

Operand const_operand_move(Compiler *c, Value v) {
    int k = const_add_move(c, v);
    if (k <= UINT16_MAX) return (Operand){OPERAND_CONST, k};
    int t = temp_new(c);
    emit_k(c, INS_LOADK, 0, t, (uint32_t)k);
    return (Operand){OPERAND_TEMP, t};
}

int const_name(Compiler *c, const char *name) {
    Str *s = str_intern_c(name);
    if (s == NULL) {
        compile_fail(c, TSR_MEMORY_ERROR);
        return 0;
    }
    return const_low_move(c, value_obj_move(obj_retain(s)));
}

int const_low_move(Compiler *c, Value v) {
    int found = const_find(c, v);
    if (found < 0 || found > UINT16_MAX) {
        if (c->names_from > 0 && c->names_from < KEPT_END) { /* one of the places kept */
            c->code->consts[c->names_from] = v;
            return c->names_from++;
        }
        found = const_append_move(c, v);
        if (found <= UINT16_MAX) return found;
        if (c->names_from == KEPT_FROM) return const_low_move(c, value_retain(v)); /* the places were kept just now */
        too_complex(c);
        return 0;
    }
    value_release(v);
    return found;
}

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
static void emit_exit(Compiler *c, ExitKind kind, Operand value) {
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

/* --- functions --- */

static void statements(Compiler *c, const NodeList *list);

static char *copy_names(Code *code, const Scope *scope) {
    size_t bytes = 1;
    for (int i = 0; i < code->slot_count; i++) bytes += strlen(scope->slot_names[i]) + 1;
    for (int i = 0; i < code->capture_count; i++) bytes += strlen(scope->captures[i].name) + 1;
    return tsr_malloc(bytes);
}

/* Copies what the scope says about names into the code. */
static TsrStatus take_names(Code *code, const Scope *scope) {
    code->slot_count = scope->slot_count;
    code->capture_count = scope->capture_count;
    char *p = code->names = copy_names(code, scope);
    code->slot_names = tsr_calloc((size_t)code->slot_count + 1, sizeof *code->slot_names);
    code->slot_is_cell = tsr_calloc((size_t)code->slot_count + 1, 1);
    code->captures = tsr_calloc((size_t)code->capture_count + 1, sizeof *code->captures);
    if (p == NULL || code->slot_names == NULL || code->slot_is_cell == NULL || code->captures == NULL) {
        code->slot_count = code->capture_count = 0;
        return mem_error();
    }
    for (int i = 0; i < code->slot_count; i++) {
        code->slot_names[i] = strcpy(p, scope->slot_names[i]);
        p += strlen(p) + 1;
        code->slot_is_cell[i] = scope->slot_is_cell[i];
    }
    for (int i = 0; i < code->capture_count; i++) {
        code->captures[i] = scope->captures[i];
        code->captures[i].name = strcpy(p, scope->captures[i].name);
        p += strlen(p) + 1;
    }
    return TSR_OK;
}

/* "f", or "outer.<locals>.f" for a function made in another. */
static char *qualified_name(const Code *outer, const char *name) {
    const char *prefix = outer != NULL ? outer->qualname : "", *joint = outer != NULL ? ".<locals>." : "";
    size_t size = strlen(prefix) + strlen(joint) + strlen(name) + 1;
    char *text = size > 4096 ? NULL : tsr_malloc(size);
    if (text != NULL) snprintf(text, size, "%s%s%s", prefix, joint, name);
    return text;
}

/* A function of the prelude is called as PyTorch calls it, whatever it is wrapped in. */
static char *prelude_name(const Source *source, const char *name) {
    bool method = strcmp(source_name(source), "<prelude tensor>") == 0;
    char full[160];
    snprintf(full, sizeof full, "%s%s", method ? "Tensor." : "", name);
    return qualified_name(NULL, full);
}

static Code *code_new(Source *source, const Code *outer, const char *name) {
    Code *code = tsr_calloc(1, sizeof *code);
    if (code == NULL) {
        mem_error();
        return NULL;
    }
    code->refs = 1;
    code->doc = -1;
    code->source = source_retain(source);
    code->name = qualified_name(NULL, name);
    bool prelude = outer != NULL && strcmp(outer->name, "_unit") == 0 && source_is_prelude(source);
    code->qualname = prelude ? prelude_name(source, name) : qualified_name(outer, name);
    if (code->name != NULL && code->qualname != NULL) return code;
    code_free(code);
    mem_error();
    return NULL;
}

static void count_parameters(Code *code, const Node *node) {
    if (node->kind == AST_GENERATOR) {
        code->positional = code->positional_only = 1;
        return;
    }
    for (int i = 0; i < node->function.param_count; i++) {
        ParamKind kind = node->function.params[i].kind;
        if (kind == PARAM_POSITIONAL_ONLY) code->positional_only++;
        if (kind == PARAM_POSITIONAL_ONLY || kind == PARAM_NORMAL) code->positional++;
        else if (kind == PARAM_KEYWORD_ONLY) code->keyword_only++;
        else if (kind == PARAM_STAR && node->function.params[i].name != NULL) code->flags |= CODE_STAR;
        else if (kind == PARAM_DOUBLE_STAR) code->flags |= CODE_DOUBLE_STAR;
    }
}

static void docstring(Compiler *c, const NodeList *body) {
    const Node *first = body->count > 0 ? body->items[0] : NULL;
    if (first == NULL || first->kind != AST_EXPR || first->value->kind != AST_CONSTANT || first->value->constant.kind != CONST_STR) return;
    Value v;
    if (fold(c, &v, first->value)) c->code->doc = const_add_move(c, v);
}

static void generator_body(Compiler *c, const Node *node) {
    int it = temps_new(c, 3);
    emit(c, INS_MOVE, 0, it, slot_of(c, 0), 0);
    emit(c, INS_DELLOCAL, 0, slot_of(c, 0), 0, 0);
    comprehension_body(c, node, it, -1);
    temps_free(c, 3);
}

static void function_body(Compiler *c, const Node *node) {
    for (int i = 0; i < c->scope->symbol_count; i++) /* the names of comprehensions get theirs when they begin */
        if (c->scope->symbols[i].place == PLACE_CELL) emit(c, INS_MAKECELL, 0, slot_of(c, c->scope->symbols[i].index), 0, 0);
    if (node->kind == AST_DEF) {
        docstring(c, &node->function.body);
        statements(c, &node->function.body);
    } else if (node->kind == AST_LAMBDA) {
        Operand v = expr(c, node->function.value, -1);
        c->at = node->function.value->at;
        emit_exit(c, EXIT_RETURN, v);
        operand_free(c, v);
    } else {
        generator_body(c, node);
    }
    if (node->kind != AST_LAMBDA) emit(c, INS_RETURNK, 0, 0, const_low_move(c, VALUE_NONE), 0);
}

static Code *add_child(Compiler *c, Code *child) {
    TsrStatus status = mem_grow(&c->code->children, &c->child_capacity, c->code->child_count + 1, sizeof(Code *));
    if (status != TSR_OK) {
        code_free(child);
        compile_fail(c, status);
        return NULL;
    }
    return c->code->children[c->code->child_count++] = child;
}

/* A lambda, def or generator expression: lent to c's children. */
static Code *compile_function(Compiler *outer, const Node *node) {
    const char *name = node->kind == AST_DEF ? node->function.name : node->kind == AST_LAMBDA ? "<lambda>" : "<genexpr>";
    bool global = node->kind == AST_DEF && scope_lookup(outer->scope, name).place == PLACE_GLOBAL;
    Code *code = code_new(outer->code->source, outer->outer == NULL || global ? NULL : outer->code, name);
    if (code == NULL) {
        compile_fail(outer, TSR_MEMORY_ERROR);
        return NULL;
    }
    if (add_child(outer, code) == NULL) return NULL;
    Compiler c = {.outer = outer, .options = outer->options, .code = code, .failure = outer->failure, .at = node->at};
    c.scope = scope_child(outer->scope, node);
    TsrStatus status = take_names(code, c.scope);
    if (status != TSR_OK) {
        compile_fail(outer, status);
        return NULL;
    }
    for (int i = 0; i < code->capture_count; i++)
        if (code->captures[i].from != CAPTURE_FREE) code->captures[i].index += outer->code->first_slot;
    code->def_at = node->at;
    code->first_temp = code->frame_size = code->slot_count;
    count_parameters(code, node);
    if (node->kind == AST_GENERATOR || node->function.is_generator) code->flags |= CODE_GENERATOR;
    if (!(code->flags & (CODE_GENERATOR | CODE_STAR | CODE_DOUBLE_STAR)) && code->keyword_only == 0) code->flags |= CODE_SIMPLE;
    function_body(&c, node);
    tsr_free(c.const_table);
    return code;
}

/* Defaults of positional parameters become a tuple in dst, those of keyword-only ones a dict in dst + 1. */
static int defaults(Compiler *c, const Node *node, int dst) {
    int flags = 0, count = 0, named = 0;
    if (node->kind == AST_GENERATOR) return 0;
    for (int i = 0; i < node->function.param_count; i++) {
        const Param *p = &node->function.params[i];
        if (p->default_value == NULL) continue;
        if (p->kind == PARAM_KEYWORD_ONLY) named++;
        else count++;
    }
    if (count > 0) {
        int first = temps_new(c, count), n = 0;
        for (int i = 0; i < node->function.param_count; i++) {
            const Param *p = &node->function.params[i];
            if (p->default_value != NULL && p->kind != PARAM_KEYWORD_ONLY) expr_to(c, p->default_value, first + n++);
        }
        temps_free(c, count);
        emit(c, INS_TUPLE, 0, dst, first, count);
        flags |= 1;
    }
    if (named > 0) {
        int first = temps_new(c, 2 * named), n = 0;
        for (int i = 0; i < node->function.param_count; i++) {
            const Param *p = &node->function.params[i];
            if (p->default_value == NULL || p->kind != PARAM_KEYWORD_ONLY) continue;
            emit_k(c, INS_LOADK, 0, first + n++, (uint32_t)const_name(c, p->name));
            expr_to(c, p->default_value, first + n++);
        }
        temps_free(c, 2 * named);
        emit(c, INS_DICT, 0, dst + 1, first, named);
        flags |= 2;
    }
    return flags;
}

/* The annotation of a variable is evaluated, as Python does, and forgotten. */
static void annotation(Compiler *c, const Node *node) {
    if (node == NULL) return;
    Operand v = expr_in_slot(c, node);
    c->at = node->at;
    if (v.kind != OPERAND_TEMP) {
        emit(c, INS_CHECK, 0, v.index, 0, 0);
        return;
    }
    emit(c, INS_CLEAR, 0, v.index, 0, 1);
    operand_free(c, v);
}

/* The annotation of parameter i, or of the result after the last; *name is what it is kept under. */
static const Node *annotation_at(const Node *node, int i, const char **name) {
    bool last = i == node->function.param_count;
    *name = last ? "return" : node->function.params[i].name;
    return last ? node->function.returns : node->function.params[i].annotation;
}

/* The annotations of a def become a dict in dst + 2. */
static int annotations(Compiler *c, const Node *node, int dst) {
    const char *name;
    int count = 0, n = 0;
    if (node->kind != AST_DEF) return 0;
    for (int i = 0; i <= node->function.param_count; i++) count += annotation_at(node, i, &name) != NULL;
    if (count == 0) return 0;
    int first = temps_new(c, 2 * count);
    for (int i = 0; i <= node->function.param_count; i++) {
        const Node *value = annotation_at(node, i, &name);
        if (value == NULL) continue;
        emit_k(c, INS_LOADK, 0, first + n++, (uint32_t)const_name(c, name));
        expr_to(c, value, first + n++);
    }
    temps_free(c, 2 * count);
    emit(c, INS_DICT, 0, dst + 2, first, count);
    return 4;
}

void function_value(Compiler *c, const Node *node, int dst) {
    int flags = defaults(c, node, dst);
    flags |= annotations(c, node, dst);
    int index = c->code->child_count;
    compile_function(c, node);
    c->at = node->at;
    emit_k(c, INS_FUNCTION, flags, dst, (uint32_t)index);
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

/* In `s = s + x + "," + ";"` the sum s + x, when what is added after it are string constants: if s and x are strings, nothing
 * can go wrong between it and the assignment, so the text may grow in place. */
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
        if (value->kind == AST_NAME && target->kind == AST_NAME && v.kind != OPERAND_CONST) emit(c, INS_COPIED, 0, v.index, 0, 0);
        c->at = target->at;
        store(c, target, v);
        operand_free(c, v);
        return;
    }
    Operand v = expr(c, value, -1);
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
    statements(c, &node->branch.body);
    if (node->branch.orelse.count > 0) {
        emit_jump(c, INS_JUMP, 0, 0, &end);
        label_here(c, &otherwise);
        statements(c, &node->branch.orelse);
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
    statements(c, &node->branch.body);
    label_here(c, &test);
    block_close(c);
    jump_if(c, node->branch.test, true, &body);
    statements(c, &node->branch.orelse);
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
    statements(c, &node->loop.body);
    label_here(c, &next);
    block_close(c);
    c->at = node->loop.iterable->at;
    emit_jump(c, INS_FORNEXT, it, t, &body);
    temps_free(c, 3);
    statements(c, &node->loop.orelse);
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
    statements(c, &node->handler.body);
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
        statements(c, &node->attempt.body);
        return;
    }
    Label end = LABEL_NEW;
    Block b;
    int exception = temp_new(c), first_handler = c->code->handler_count;
    block_open(c, &b, BLOCK_TRY);
    protect_begin(c, &b, exception);
    statements(c, &node->attempt.body);
    protect_suspend(c, &b);
    block_close(c);
    statements(c, &node->attempt.orelse);
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
    statements(c, &node->attempt.finally);
    block_close(c);
    finally_dispatch(c, &b);
    add_handled(c, start, slots + 1);
    temps_free(c, 3);
}

static void with_item(Compiler *c, const Node *node, int i) {
    if (i == node->with.count) {
        statements(c, &node->with.body);
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

static void define(Compiler *c, const Node *node) {
    int w = temps_new(c, 3);
    function_value(c, node, w);
    temps_free(c, 2);
    store_name(c, node->function.name, operand_slot(w));
    temps_free(c, 1);
}

static void statement(Compiler *c, const Node *node, bool last) {
    if (compile_failed(c)) return;
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

static void statements(Compiler *c, const NodeList *list) {
    for (int i = 0; i < list->count; i++) statement(c, list->items[i], false);
}

/* --- programs --- */

static GivenName *given_names(const Code *frame, int *count) {
    int n = 0;
    GivenName *given = tsr_malloc((size_t)(frame->slot_count + frame->capture_count + 1) * sizeof *given);
    if (given == NULL) return NULL;
    for (int i = 0; i < frame->slot_count; i++)
        given[n++] = (GivenName){frame->slot_names[i], frame->slot_is_cell[i] ? PLACE_CELL : PLACE_LOCAL, i};
    for (int i = 0; i < frame->capture_count; i++) given[n++] = (GivenName){frame->captures[i].name, PLACE_FREE, i};
    *count = n;
    return given;
}

static void compile_body(Compiler *c, const Ast *ast) {
    for (int i = 0; i < ast->body.count; i++) statement(c, ast->body.items[i], i + 1 == ast->body.count);
    emit(c, INS_RETURNK, 0, 0, const_low_move(c, VALUE_NONE), 0);
}

/* Slots of eval code: the frame's names where they are, then its own names, then temporaries, all above the frame's. */
static TsrStatus prepare(Code *code, const Scope *scope, const CompileOptions *options) {
    TSR_TRY(take_names(code, scope));
    if (options->frame == NULL) {
        code->flags |= CODE_MODULE;
        code->first_slot = options->first_slot;
        code->first_temp = code->first_slot + code->slot_count;
    } else {
        code->flags |= CODE_EVAL;
        code->first_temp = code->slot_count;
    }
    code->frame_size = code->first_temp;
    return TSR_OK;
}

TsrStatus compile_module(Code **out, const Ast *ast, const CompileOptions *options, SourceRange *where) {
    Scope *scope;
    int count = 0;
    GivenName *given = NULL;
    *where = (SourceRange){0};
    if (options->frame != NULL && (given = given_names(options->frame, &count)) == NULL) return mem_error();
    TsrStatus failed = scope_analyse(&scope, ast, given, count, options->frame != NULL ? options->frame->frame_size : 0, where);
    tsr_free(given);
    TSR_TRY(failed);
    Code *code = code_new(ast->source, NULL, "<module>");
    if (code == NULL) return TSR_MEMORY_ERROR;
    Failure failure = {.status = TSR_OK, .where = where};
    Compiler c = {.options = options, .scope = scope, .code = code, .module_level = true, .failure = &failure};
    TsrStatus status = prepare(code, scope, options);
    if (status == TSR_OK) compile_body(&c, ast);
    else compile_fail(&c, status);
    tsr_free(c.const_table);
    if (failure.status != TSR_OK) {
        code_free(code);
        return tsr_error(failure.status, "%s", failure.message);
    }
    *out = code;
    return TSR_OK;
}

/* --- code --- */

Code *code_retain(Code *code) {
    code->refs++;
    return code;
}

void code_free(Code *code) {
    if (code == NULL || --code->refs > 0) return;
    for (int i = 0; i < code->const_count; i++) value_release(code->consts[i]);
    for (int i = 0; i < code->child_count; i++) code_free(code->children[i]);
    source_free(code->source);
    tsr_free(code->name);
    tsr_free(code->qualname);
    tsr_free(code->ins);
    tsr_free(code->at);
    tsr_free(code->consts);
    tsr_free(code->children);
    tsr_free(code->slot_names);
    tsr_free(code->slot_is_cell);
    tsr_free(code->captures);
    tsr_free(code->handlers);
    tsr_free(code->handled);
    tsr_free(code->lent);
    tsr_free(code->names);
    tsr_free(code);
}

SourceRange code_range(const Code *code, const Ins *pc) { return code->at[pc - code->ins]; }
