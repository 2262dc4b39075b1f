/* run.c: the doors into the evaluator: programs, lines that were typed, eval and exec.
 *
 * A module's code runs in the frame of the globals, whose slots below GLOBAL_SLOTS are the names; what is run while
 * other module code is active gets its temporaries above theirs. eval in a function runs on the function's own slots
 * where its code fits above them, so that it sees and binds the names there. */
#include "lang/syntax/parser.h"
#include "frame.h"
#include "lazy.h"

#include <stdlib.h>
#include <string.h>

void vm_shutdown(void) {
    if (vm.globals == NULL) return;
    for (int64_t k = vm.global_count - 1; k >= 0; k--) {
        Value *global = &vm.globals[globals_slot((int)k)];
        if (global->tag != V_UNBOUND) value_clear(global); /* no write to a page that is not touched yet */
    }
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

/* --- running --- */

/* The first slot above those of every module code that is active. */
static int module_slots(void) {
    for (const Frame *f = vm.frame; f != NULL; f = f->prev)
        if (f->code->flags & CODE_MODULE) return f->code->frame_size;
    return GLOBAL_SLOTS;
}

static TsrStatus run_module(Value *out, Code *code) {
    Frame *frame = frame_push(code, NULL, vm.globals, NULL);
    if (frame == NULL) return exc_status();
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
    CompileOptions how = {
        .show = options->show, .result = options->result, .lines = options->lines, .first_slot = module_slots()};
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
        return exc_status();
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
    CompileOptions how = {
        .show = SHOW_NONE, .result = true, .first_slot = module_slots(), .frame = module ? NULL : f->code};
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
    if (args->count > 1)
        return tsr_error(TSR_TYPE_ERROR, "%s() with namespaces of its own is not part of tsr's language", function);
    if (!value_is_str(args->values[0]))
        return tsr_error(TSR_TYPE_ERROR, "%s() arg 1 must be a string, bytes or code object", function);
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
    {0},
};

TsrStatus vm_startup(TsrStatus (*fill_builtins)(Module *builtins)) {
    stack_measure();
    compile_names = (CompileNames){globals_index, lazy_is_function_name};
    TSR_TRY(globals_startup());
    TSR_TRY(fill_builtins(vm.builtins));
    return module_add_functions(vm.builtins, text_functions);
}
