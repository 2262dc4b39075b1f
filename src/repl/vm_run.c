/* Running programs: the doors into the evaluator, records of errors, and who holds what. */
#include "builtin.h"
#include "parser.h"
#include "vm_internal.h"

#include <stdlib.h>
#include <string.h>

static TsrStatus display_default(Value v) {
    if (value_is_none(v)) return TSR_OK;
    TsrText text = {0};
    TsrStatus status = value_repr(&text, v);
    if (status == TSR_OK) fprintf(builtin_stdout(), "%s\n", text.data);
    tsr_text_free(&text);
    return status;
}

TsrStatus (*vm_display)(Value v) = display_default;

void vm_shutdown(void) {
    if (vm.globals == NULL) return;
    for (int64_t k = vm.global_count - 1; k >= 0; k--) value_clear(&vm.globals[globals_slot((int)k)]);
    gc_collect(); /* a generator in a cycle goes while there is still an evaluator */
    while (vm.first_chunk != NULL) {
        Chunk *chunk = vm.first_chunk;
        vm.first_chunk = chunk->next;
        tsr_free(chunk);
    }
    for (int64_t k = 0; k < vm.frame_block_count; k++) tsr_free(vm.frame_blocks[k]);
    tsr_free(vm.frame_blocks);
    globals_shutdown();
}

/* --- records of errors --- */

static void trace_destroy(Obj *self) {
    Trace *trace = (Trace *)self;
    for (int64_t k = 0; k < trace->count; k++) {
        code_free(trace->entries[k].code);
        source_free(trace->entries[k].source);
    }
    tsr_free(trace->entries);
    obj_free(trace, sizeof *trace);
}

static TsrStatus trace_repr(TsrText *out, Value self) {
    (void)self;
    return tsr_text_puts(out, "<traceback object>");
}

Type trace_type = {.obj = TYPE_HEADER, .name = "traceback", .destroy = trace_destroy, .repr = trace_repr};

static Trace *trace_of(Value exception) {
    Exc *e = value_exc(exception);
    if (value_as_trace(e->trace) != NULL) return value_as_trace(e->trace);
    Trace *trace = obj_new(&trace_type, sizeof *trace);
    if (trace == NULL) return NULL;
    trace->entries = NULL;
    trace->count = trace->capacity = 0;
    value_set_move(&e->trace, value_obj_move(trace));
    return trace;
}

static void add_place(Value exception, Code *code, Source *source, SourceRange at) {
    Trace *trace = trace_of(exception);
    if (trace == NULL || mem_grow(&trace->entries, &trace->capacity, trace->count + 1, sizeof *trace->entries) != TSR_OK) {
        tsr_error_clear();
        return;
    }
    trace->entries[trace->count++] = (TraceEntry){code == NULL ? NULL : code_retain(code), source_retain(source), at};
}

static SourceRange frame_range(const Frame *f) { return code_range(f->code, f->pc > f->code->ins ? f->pc - 1 : f->pc); }

void trace_add(Value exception, const Frame *frame) { add_place(exception, frame->code, frame->code->source, frame_range(frame)); }

static bool is_inside(SourceRange a, SourceRange b) {
    bool begins = a.line > b.line || (a.line == b.line && a.col >= b.col);
    return begins && (a.end_line < b.end_line || (a.end_line == b.end_line && a.end_col <= b.end_col));
}

/* The name that was lent to the code that failed and is not set, which is the thread's last error then; NULL: none. */
static const LentName *unset_before(const Frame *f, SourceRange failed) {
    int at = (int)(f->pc - f->code->ins) - 1;
    for (int k = 0; k < f->code->lent_count; k++) {
        const LentName *n = &f->code->lent[k];
        if (at < n->start || !is_inside(failed, n->later) || f->base[n->slot].tag != V_UNBOUND) continue;
        if (frame_name(f, n->slot) == NULL) return n;
    }
    return NULL;
}

Value trace_begin(TsrStatus status, const Frame *f, Value handled) {
    Value exception;
    SourceRange at = frame_range(f);
    exc_fetch(&exception, status, handled);
    const LentName *name = unset_before(f, at);
    if (name != NULL) {
        value_release(exception);
        exc_fetch(&exception, tsr_error_kind(), handled);
        at = name->at;
    }
    add_place(exception, f->code, f->code->source, at);
    return exception;
}

TsrStatus vm_raise_at(TsrStatus status, Source *source, SourceRange at) {
    Value exception;
    exc_fetch(&exception, status, VALUE_UNBOUND);
    add_place(exception, NULL, source, at);
    return exc_raise_move(exception);
}

bool vm_take_error(Value *exception, TsrStatus status) {
    if (status == TSR_OK) return false;
    exc_fetch(exception, status, VALUE_UNBOUND);
    return true;
}

/* The innermost call of the user's own code; NULL: none. */
static const Frame *user_frame(void) {
    const Frame *f = vm.frame;
    while (f != NULL && source_is_prelude(f->code->source)) f = f->prev;
    return f;
}

char *vm_current_text(char *buffer, size_t room) {
    const Frame *f = user_frame();
    size_t length = 0, size;
    buffer[0] = '\0';
    if (f == NULL) return buffer;
    SourceRange at = frame_range(f);
    const char *line = source_line(f->code->source, at.line, &length);
    if (line == NULL || (size_t)at.col > length) return buffer;
    bool whole = at.end_line == at.line && (size_t)at.end_col <= length;
    size = (whole ? (size_t)at.end_col : length) - (size_t)at.col;
    bool cut = !whole || size + 1 > room;
    if (cut) size = TSR_MIN(size, room - 5);
    while (cut && size > 0 && ((unsigned char)line[(size_t)at.col + size] & 0xc0) == 0x80) size--; /* not inside a character */
    snprintf(buffer, room, "%.*s%s", (int)size, line + at.col, cut ? "..." : "");
    return buffer;
}

int vm_current_line(void) {
    const Frame *f = user_frame();
    return f == NULL ? 0 : frame_range(f).line;
}

/* --- running --- */

/* The first slot above those of every module code that is active. */
static int module_slots(void) {
    for (const Frame *f = vm.frame; f != NULL; f = f->prev)
        if (f->code->flags & CODE_MODULE) return f->code->frame_size;
    return GLOBAL_SLOTS;
}

static TsrStatus run_module(Value *out, Code *code) {
    Frame *frame = frame_push(code, NULL, vm.globals, NULL);
    if (frame == NULL) return tsr_error_kind();
    return vm_enter(out, frame, TSR_OK);
}

static TsrStatus compile(Code **out, const Ast *ast, const CompileOptions *options) {
    SourceRange where;
    TsrStatus status = compile_module(out, ast, options, &where);
#ifdef TSR_DEBUG
    if (status == TSR_OK && getenv("TSR_DUMP_CODE") != NULL) (void)code_disassemble(*out, stderr);
#endif
    return status == TSR_SYNTAX_ERROR ? vm_raise_at(status, ast->source, where) : status;
}

TsrStatus vm_run(Value *result, const Ast *ast, const RunOptions *options) {
    CompileOptions how = {.show = options->show, .result = options->result, .first_slot = module_slots()};
    Code *code;
    Value v;
    TSR_TRY(compile(&code, ast, &how));
    TsrStatus status = run_module(&v, code);
    code_free(code);
    TSR_TRY(status);
    if (result != NULL) *result = v;
    else value_release(v);
    return TSR_OK;
}

/* Runs eval code in function frame f: on the same slots where its own fit above them, else on a copy of them. */
static TsrStatus run_in_frame(Value *out, Code *code, Frame *f) {
    Value *base = f->base, *limit = f->limit, *saved = f->base;
    bool moved = (uintptr_t)(base + code->frame_size) > (uintptr_t)limit;
    if (moved) {
        base = stack_space(code->frame_size, &limit);
        if (base == NULL) return TSR_MEMORY_ERROR;
        memcpy(base, f->base, (size_t)f->code->frame_size * sizeof *base);
    }
    int own = f->code->frame_size;
    for (int k = own; k < code->slot_count; k++) base[k].tag = V_UNBOUND;
    Frame *frame = frame_push(code, f->fn, base, limit);
    if (frame == NULL) {
        if (moved) memset(base, 0, (size_t)own * sizeof *base);
        return tsr_error_kind();
    }
    frame->flags |= FRAME_LENT;
    frame->own_from = own;
    f->base = base;
    TsrStatus status = vm_enter(out, frame, TSR_OK);
    f->base = saved;
    if (moved) {
        memcpy(f->base, base, (size_t)own * sizeof *base);
        memset(base, 0, (size_t)own * sizeof *base);
    }
    return status;
}

static TsrStatus run_here(Value *out, const Ast *ast) {
    Frame *f = vm.frame;
    bool module = f == NULL || (f->code->flags & CODE_MODULE);
    CompileOptions how = {.show = SHOW_NONE, .result = true, .first_slot = module_slots(), .frame = module ? NULL : f->code};
    Code *code;
    TSR_TRY(compile(&code, ast, &how));
    TsrStatus status = module ? run_module(out, code) : run_in_frame(out, code, f);
    code_free(code);
    return status;
}

typedef TsrStatus (*Parse)(Ast **out, Source *source, SourceRange *where);

static TsrStatus run_source_move(Value *result, Source *source, Parse parse) {
    Ast *ast;
    SourceRange where = {0};
    TsrStatus status = parse(&ast, source, &where);
    if (status != TSR_OK) {
        status = where.line > 0 ? vm_raise_at(status, source, where) : status;
        source_free(source);
        return status;
    }
    Value v;
    status = run_here(&v, ast);
    ast_free(ast);
    source_free(source);
    TSR_TRY(status);
    if (result != NULL) *result = v;
    else value_release(v);
    return TSR_OK;
}

static TsrStatus run_text(Value *result, const char *text, size_t length, const char *name, Parse parse) {
    Source *source;
    TSR_TRY(source_new(&source, name, text, length, 1, NULL));
    return run_source_move(result, source, parse);
}

TsrStatus vm_run_typed_here(Value *result, const char *text, int line) {
    Source *source;
    TSR_TRY(source_new(&source, "<stdin>", text, strlen(text), line, NULL));
    return run_source_move(result, source, parser_new_module);
}

TsrStatus vm_run_text_here(Value *result, const char *text, size_t length, const char *name) {
    return run_text(result, text, length, name, parser_new_module);
}

/* eval and exec, in the scope of the caller. */
static TsrStatus text_argument(const Str **out, const CallArgs *args, const char *function) {
    if (args->keyword_count > 0) return tsr_error(TSR_TYPE_ERROR, "%s() takes no keyword arguments", function);
    if (args->count == 0) return tsr_error(TSR_TYPE_ERROR, "%s expected at least 1 argument, got 0", function);
    if (args->count > 1) return tsr_error(TSR_TYPE_ERROR, "%s() with namespaces of its own is not part of tsr's language", function);
    if (!value_is_str(args->values[0])) return tsr_error(TSR_TYPE_ERROR, "%s() arg 1 must be a string, bytes or code object", function);
    *out = value_as_str(args->values[0]);
    return TSR_OK;
}

static TsrStatus call_eval(Value *out, const CallArgs *args) {
    const Str *text;
    TSR_TRY(text_argument(&text, args, "eval"));
    size_t blank = strspn(text->data, " \t");
    return run_text(out, text->data + blank, (size_t)text->size - blank, "<string>", parser_new_expression);
}

static TsrStatus call_exec(Value *out, const CallArgs *args) {
    const Str *text;
    TSR_TRY(text_argument(&text, args, "exec"));
    *out = VALUE_NONE;
    return run_text(NULL, text->data, (size_t)text->size, "<string>", parser_new_module);
}

static const Method text_functions[] = {
    {"eval", call_eval, ARGS_ANY, 1, 1, "(source, /)", "The value of an expression, computed where the call stands."},
    {"exec", call_exec, ARGS_ANY, 1, 1, "(source, /)", "Runs statements where the call stands."},
};

static TsrStatus add_own_builtins(void) {
    Value v;
    for (size_t k = 0; k < TSR_COUNTOF(text_functions); k++) {
        TSR_TRY(native_new(&v, &text_functions[k], NULL));
        TSR_TRY(dict_set_c_move(vm.builtins, text_functions[k].name, v));
    }
    TSR_TRY(str_new_c(&v, "__main__"));
    return dict_set_c_move(vm.builtins, "__name__", v);
}

TsrStatus vm_startup(void) {
    stack_measure();
    builtin_hooks.globals = vm_new_globals;
    builtin_hooks.locals = vm_new_locals;
    TSR_TRY(globals_startup());
    return add_own_builtins();
}

/* --- who holds what --- */

typedef struct Visitor {
    bool (*visit)(const Root *root, void *context);
    void *context;
    bool stopped;
} Visitor;

static void report(Visitor *v, RootKind kind, const char *function, const char *name, const Value *value) {
    if (v->stopped || value->tag == V_UNBOUND) return;
    const Cell *cell = value_is_obj(*value, &cell_type) ? value_as_cell(*value) : NULL;
    if (cell != NULL) value = &cell->value;
    Root root = {kind, function, name, value, cell};
    if (value->tag != V_UNBOUND && !v->visit(&root, v->context)) v->stopped = true;
}

/* Whether `slot` is the first of a for loop that is running at the frame's place. */
static bool is_loop_slot(const Frame *f, int slot) {
    int at = (int)(f->pc - f->code->ins) - 1;
    for (int k = at < 0 ? 0 : at; k < f->code->ins_count; k++) {
        const Ins *i = &f->code->ins[k];
        if (i->op == INS_METHOD || i->op == INS_GETATTR) k += 2;
        else if (i->op == INS_FORNEXT && i->b == slot && at >= k + 1 + (i->head >> 8)) return true;
    }
    return false;
}

/* The slots of the native call that frame f waits for; none in a frame that has not begun (the other side of parallel()). */
static void call_window(const Frame *f, int *first, int *end) {
    *first = *end = -1;
    if (f->pc == f->code->ins) return;
    const Ins *i = f->pc - 1;
    if (i->op == INS_CALL) *first = i->a, *end = i->a + 1 + i->b;
    else if (i->op == INS_CALLMETHOD) *first = i->a, *end = i->a + 2 + i->b;
    else if (i->op == INS_CALLKW) *first = i->a, *end = i->a + 1 + i->b + i->x;
    else if (i->op == INS_CALLEX) *first = i->a, *end = i->a + 3;
}

static int own_slots(const Frame *f) { return f->flags & FRAME_LENT ? f->own_from : 0; }

/* What has a name in an active call: its locals, and what its function took along from outside. */
static void visit_names(Visitor *v, const Frame *f) {
    const Code *code = f->code;
    for (int k = own_slots(f); k < code->slot_count; k++) report(v, ROOT_LOCAL, code->name, code->slot_names[k], &f->base[code->first_slot + k]);
    for (int64_t k = 0; f->fn != NULL && k < f->fn->cell_count; k++) {
        Value cell = f->fn->cells[k] != NULL ? value_lent(f->fn->cells[k]) : VALUE_UNBOUND;
        report(v, ROOT_LOCAL, code->name, code->captures[k].name, &cell);
    }
}

/* `inner`: the frame that f called, NULL for none. It begins in f's temporaries, at its arguments: those are its own. */
static void visit_temporaries(Visitor *v, const Frame *f, const Frame *inner, bool innermost) {
    const Code *code = f->code;
    int first, end, until = code->frame_size;
    if (inner != NULL && inner->base > f->base && inner->base < f->base + until) until = (int)(inner->base - f->base);
    call_window(f, &first, &end);
    if (!innermost) first = end = -1;
    for (int k = TSR_MAX(code->first_temp, own_slots(f)); k < until; k++) {
        bool argument = k >= first && k < end;
        if (!is_counted(f->base[k])) continue;
        report(v, argument ? ROOT_ARGUMENT : is_loop_slot(f, k) ? ROOT_ITERATOR : ROOT_TEMPORARY, code->name, NULL, &f->base[k]);
    }
}

/* From the outermost on: first what has a name, so that nothing is called temporary that a call further in names. */
static void visit_frames(Visitor *v, const Frame *innermost, bool running) {
    int depth = 0;
    for (const Frame *f = innermost; f != NULL; f = f->prev) depth++;
    for (int k = 2 * depth - 1; k >= 0 && !v->stopped; k--) {
        const Frame *f = innermost, *inner = NULL;
        for (int n = 0; n < k % depth; n++) inner = f, f = f->prev;
        if (k >= depth) visit_names(v, f);
        else visit_temporaries(v, f, inner, running && k == 0);
    }
}

void scope_visit_roots(bool (*visit)(const Root *root, void *context), void *context) {
    Visitor v = {visit, context, false};
    for (int n = 0; n < vm.global_count; n++) report(&v, ROOT_GLOBAL, NULL, vm.global_names[n]->data, &vm.globals[globals_slot(n)]);
    if (globals_last() != NULL) report(&v, ROOT_GLOBAL, NULL, "_", globals_last());
    if (vm_waiting != NULL) visit_frames(&v, vm_waiting->frame, false);
    visit_frames(&v, vm.frame, true);
}
