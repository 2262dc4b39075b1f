/* compile.c: code in the making: its instructions, slots and constants; functions and programs.
 *
 * A Compiler is one function in the making. Instructions are appended; a jump forwards is emitted with its target open
 * and set by label_here. Temporaries are slots above the names, taken and given back as a stack, so that an
 * expression's operands lie where their use finds them. Constants are in a hash table by value and kind, so that equal
 * ones share an index; the last indices of 16 bits are kept for names, which must have one. A nested function is
 * compiled to a Code of its own, a child of the one around it. The first failure is kept, and emitting does nothing
 * after it. */
#include "compile_impl.h"

#include <string.h>

CompileNames compile_names;

void compile_fail(Compiler *c, TsrStatus status) {
    if (!compile_failed(c)) {
        c->failure->status = status;
        *c->failure->where = c->at;
        snprintf(c->failure->message, sizeof c->failure->message, "%s", tsr_error_message());
    }
    exc_discard(status);
}

static void too_complex(Compiler *c) { compile_fail(c, tsr_error(TSR_SYNTAX_ERROR, "the code is too large")); }

void compile_temp_lost(Compiler *c) {
    if (!compile_failed(c)) compile_fail(c, tsr_error(TSR_RUNTIME_ERROR, "the compiler lost count of its temporaries"));
}

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

void add_handled(Compiler *c, int start, int slot) {
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
    uint64_t bits = value_bits(v) * 0x9e3779b97f4a7c15u + v.tag;
    return bits ^ bits >> 29;
}

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
        if (value_is_same(c->code->consts[c->const_table[i]], v)) return c->const_table[i];
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

/* --- functions --- */

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

/* Where a function is made: "outer.<locals>.", and for each comprehension around it "<listcomp>."; those have no locals
 * to CPython's mind. */
static TsrStatus append_place(TsrText *out, const Code *outer, const Scope *scope) {
    if (scope != NULL && scope->kind == SCOPE_COMPREHENSION) {
        TSR_TRY(append_place(out, outer, scope->parent));
        NodeKind kind = scope->node->kind;
        return tsr_text_puts(out, kind == AST_LIST_COMP  ? "<listcomp>."
                                  : kind == AST_SET_COMP ? "<setcomp>."
                                                         : "<dictcomp>.");
    }
    if (outer == NULL) return TSR_OK;
    return tsr_text_printf(out, "%s%s", outer->qualname, strcmp(outer->name, "<genexpr>") == 0 ? "." : ".<locals>.");
}

static char *qualified_name(const Code *outer, const Scope *scope, const char *name) {
    TsrText text = {0};
    if (append_place(&text, outer, scope) == TSR_OK && text.length < 4096 && tsr_text_puts(&text, name) == TSR_OK)
        return tsr_text_move(&text);
    tsr_text_free(&text);
    return NULL;
}

/* What a function of the prelude is called: of Kind__method, a method of a kind (vm/kind.h), the method. */
static const char *method_name(const char *name) {
    const char *method = name[0] != '_' ? strstr(name, "__") : NULL;
    return method != NULL ? method + 2 : name;
}

/* A function of the prelude is called as PyTorch calls it, whatever it is wrapped in; a method of a kind (vm/kind.h),
 * which is written Kind__method, as Python does. */
static char *prelude_name(const Source *source, const char *name) {
    const char *owner = strcmp(source_name(source), "<prelude tensor>") == 0 ? "Tensor." : "";
    const char *method = method_name(name);
    char full[160];
    if (method != name) snprintf(full, sizeof full, "%.*s.%s", (int)(method - 2 - name), name, method);
    else snprintf(full, sizeof full, "%s%s", owner, name);
    return tsr_mem_text(full, strlen(full));
}

/* `scope` is where a function is made, NULL for a module. */
static Code *code_new(Source *source, const Code *outer, const Scope *scope, const char *name) {
    Code *code = tsr_calloc(1, sizeof *code);
    if (code == NULL) {
        mem_error();
        return NULL;
    }
    code->refs = 1;
    code->doc = -1;
    code->source = source_retain(source);
    bool prelude = outer != NULL && strcmp(outer->name, "_unit") == 0 && source_is_prelude(source);
    const char *own = prelude ? method_name(name) : name;
    code->name = tsr_mem_text(own, strlen(own));
    code->qualname = prelude ? prelude_name(source, name) : qualified_name(outer, scope, name);
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
    if (first == NULL || first->kind != AST_EXPR || first->value->kind != AST_CONSTANT ||
        first->value->constant.kind != CONST_STR)
        return;
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
        if (c->scope->symbols[i].place == PLACE_CELL)
            emit(c, INS_MAKECELL, 0, slot_of(c, c->scope->symbols[i].index), 0, 0);
    if (node->kind == AST_DEF) {
        docstring(c, &node->function.body);
        compile_statements(c, &node->function.body);
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
    const char *name = node->kind == AST_DEF      ? node->function.name
                       : node->kind == AST_LAMBDA ? "<lambda>"
                                                  : "<genexpr>";
    bool global = node->kind == AST_DEF && scope_lookup(outer->scope, name).place == PLACE_GLOBAL;
    Code *code = code_new(outer->code->source, outer->outer == NULL || global ? NULL : outer->code, outer->scope, name);
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
    code->first_line = node->kind == AST_DEF ? node->function.first_line : node->at.line;
    code->first_temp = code->frame_size = code->slot_count;
    count_parameters(code, node);
    if (node->kind == AST_GENERATOR || node->function.is_generator) code->flags |= CODE_GENERATOR;
    if (!(code->flags & (CODE_GENERATOR | CODE_STAR | CODE_DOUBLE_STAR)) && code->keyword_only == 0)
        code->flags |= CODE_SIMPLE;
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

/* The annotation of parameter i, or of the result after the last; *name is what it is kept under. */
static const Node *annotation_at(const Node *node, int i, const char **name) {
    bool last = i == node->function.param_count;
    *name = last ? "return" : node->function.params[i].name;
    return last ? node->function.returns : node->function.params[i].annotation;
}

bool annotations_are_text;

static void annotation_to(Compiler *c, const Node *node, int slot) {
    const Source *source = c->code->source;
    char text[256];
    if (!annotations_are_text) {
        expr_to(c, node, slot);
        return;
    }
    size_t begin = source_line_offset(source, node->at.line) + (size_t)node->at.col;
    size_t end = source_line_offset(source, node->at.end_line) + (size_t)node->at.end_col;
    snprintf(text, sizeof text, "%.*s", (int)TSR_MIN(end - begin, sizeof text - 1), source_text(source, NULL) + begin);
    emit_k(c, INS_LOADK, 0, slot, (uint32_t)const_name(c, text));
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
        annotation_to(c, value, first + n++);
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
    for (int i = 0; i < ast->body.count; i++) compile_statement(c, ast->body.items[i], i + 1 == ast->body.count);
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
    TsrStatus failed =
        scope_analyse(&scope, ast, given, count, options->frame != NULL ? options->frame->frame_size : 0, where);
    tsr_free(given);
    TSR_TRY(failed);
    Code *code = code_new(ast->source, NULL, NULL, "<module>");
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
