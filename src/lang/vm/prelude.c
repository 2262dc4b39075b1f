#include "prelude.h"

#include <stdio.h>
#include <string.h>

#include "lang/types/dict.h"
#include "lang/object/native.h"
#include "lang/syntax/parser.h"
#include "lang/types/sequences.h"
#include "lang/types/str.h"
#include "vm.h"

/* One row a source file: its namespace and its text, put into the program by the assembler. */
#define EMBED(symbol, file) \
    __asm__(".section .rodata\n" #symbol ":\n.incbin \"src/" file "\"\n" #symbol "_end:\n.previous\n"); \
    extern const char symbol[] __attribute__((visibility("hidden"))), symbol##_end[] __attribute__((visibility("hidden")))

EMBED(prelude_masked, "torch/prelude/masked.tsr");
EMBED(prelude_masked_tensor, "torch/prelude/masked_tensor.tsr");
EMBED(prelude_loss, "torch/prelude/loss.tsr");
EMBED(prelude_nn, "torch/prelude/nn.tsr");
EMBED(prelude_pool, "torch/prelude/pool.tsr");
EMBED(prelude_norm, "torch/prelude/norm.tsr");
EMBED(prelude_rows, "torch/prelude/rows.tsr");
EMBED(prelude_refused, "torch/prelude/refused.tsr");
EMBED(prelude_thnn, "systems/prelude/thnn.tsr");
EMBED(prelude_torch, "torch/prelude/torch.tsr");
EMBED(prelude_lobpcg, "torch/prelude/lobpcg.tsr");
EMBED(prelude_func, "torch/prelude/func.tsr");
EMBED(prelude_grouped, "torch/prelude/grouped.tsr");
EMBED(prelude_sparse, "torch/prelude/sparse.tsr");
EMBED(prelude_tensor, "torch/prelude/tensor.tsr");
EMBED(prelude_windows, "torch/prelude/windows.tsr");
EMBED(prelude_testing, "torch/prelude/testing.tsr");
EMBED(prelude_files, "repl/prelude/files.tsr");
EMBED(prelude_init, "torch/prelude/init.tsr");
EMBED(prelude_rnn, "torch/prelude/rnn.tsr");
EMBED(prelude_heapq, "lang/modules/prelude/heapq.tsr");

typedef struct Unit {
    const char *space, *source_name, *text, *end;
    Value functions; /* a dict once compiled */
} Unit;

static Unit units[] = {
    {"masked", "<prelude masked>", prelude_masked, prelude_masked_end, {0}},
    {"masked_tensor", "<prelude masked_tensor>", prelude_masked_tensor, prelude_masked_tensor_end, {0}},
    {"nn.functional", "<prelude loss>", prelude_loss, prelude_loss_end, {0}},
    {"nn.functional", "<prelude nn>", prelude_nn, prelude_nn_end, {0}},
    {"nn.functional", "<prelude pool>", prelude_pool, prelude_pool_end, {0}},
    {"nn.functional", "<prelude norm>", prelude_norm, prelude_norm_end, {0}},
    {"THNN", "<prelude thnn>", prelude_thnn, prelude_thnn_end, {0}},
    {"rows", "<prelude rows>", prelude_rows, prelude_rows_end, {0}},
    {"refused", "<prelude refused>", prelude_refused, prelude_refused_end, {0}},
    {"", "<prelude torch>", prelude_torch, prelude_torch_end, {0}},
    {"", "<prelude lobpcg>", prelude_lobpcg, prelude_lobpcg_end, {0}},
    {"func", "<prelude func>", prelude_func, prelude_func_end, {0}},
    {"nn.functional", "<prelude grouped>", prelude_grouped, prelude_grouped_end, {0}},
    {"sparse", "<prelude sparse>", prelude_sparse, prelude_sparse_end, {0}},
    {"Tensor", "<prelude tensor>", prelude_tensor, prelude_tensor_end, {0}},
    {"nn.init", "<prelude init>", prelude_init, prelude_init_end, {0}},
    {"nn.utils.rnn", "<prelude rnn>", prelude_rnn, prelude_rnn_end, {0}},
    {"heapq", "<prelude heapq>", prelude_heapq, prelude_heapq_end, {0}},
    {"files", "<prelude files>", prelude_files, prelude_files_end, {0}},
    {"testing", "<prelude testing>", prelude_testing, prelude_testing_end, {0}},
    {"signal.windows", "<prelude windows>", prelude_windows, prelude_windows_end, {0}},
};

/* The builtins that the sources may use: parameters of the enclosing function, so that a user's `len = 3` can't harm. */
static const char *const builtin_names[] = {
    "len", "range", "isinstance", "zip", "list", "tuple", "int", "float", "bool", "str", "max", "min", "abs", "enumerate", "iter", "reversed", "sorted", "all", "any",
    "sum", "locals", "set", "getattr", "repr", "dict", "complex", "type", "ValueError", "RuntimeError", "TypeError", "IndexError", "NotImplementedError", "AssertionError",
};


/* ---- what a source defines, without compiling it ---- */

/* The next "def name(" at the start of a line, from *p on; false at the end. */
static bool next_def(const char **p, const char *end, const char **name, size_t *length) {
    while (*p < end) {
        const char *line = *p, *stop = memchr(line, '\n', (size_t)(end - line));
        *p = stop != NULL ? stop + 1 : end;
        if (end - line < 4 || memcmp(line, "def ", 4) != 0) continue;
        *name = line + 4;
        *length = strcspn(line + 4, "(");
        return true;
    }
    return false;
}

static bool defines(const Unit *u, const char *name) {
    const char *p = u->text, *found;
    size_t length, wanted = strlen(name);
    while (next_def(&p, u->end, &found, &length))
        if (length == wanted && memcmp(found, name, length) == 0) return true;
    return false;
}

/* ---- compiling one ---- */

/* "def _unit(torch, math, F, len, ...):" and the source, each line one space in, and "return locals()". */
static TsrStatus wrap(TsrText *text, const Unit *u) {
    TSR_TRY(tsr_text_puts(text, "def _unit(torch, math, F, TH"));
    for (size_t i = 0; i < TSR_COUNTOF(builtin_names); i++) TSR_TRY(tsr_text_printf(text, ", %s", builtin_names[i]));
    TSR_TRY(tsr_text_puts(text, "):\n"));
    for (const char *p = u->text; p < u->end;) {
        const char *newline = memchr(p, '\n', (size_t)(u->end - p)), *stop = newline != NULL ? newline + 1 : u->end;
        if (*p != '\n') TSR_TRY(tsr_text_putc(text, ' '));
        TSR_TRY(tsr_text_append(text, p, (size_t)(stop - p)));
        p = stop;
    }
    return tsr_text_puts(text, "\n return locals()\n");
}

static TsrStatus import_argument(Value *out, const char *name) {
    TSR_TRY(module_import(out, name));
    return TSR_OK;
}

static TsrStatus call_unit(Value *functions, Value unit) {
    Value arguments[4 + TSR_COUNTOF(builtin_names)] = {VALUE_UNBOUND};
    TsrStatus status = import_argument(&arguments[0], "torch");
    if (status == TSR_OK) status = import_argument(&arguments[1], "math");
    if (status == TSR_OK) status = import_argument(&arguments[2], "torch.nn.functional");
    if (status == TSR_OK) status = import_argument(&arguments[3], "TH");
    for (size_t i = 0; i < TSR_COUNTOF(builtin_names) && status == TSR_OK; i++) {
        Value *builtin = dict_find_c(vm_builtins(), builtin_names[i]);
        if (builtin == NULL) status = tsr_error(TSR_SYSTEM_ERROR, "the prelude needs the builtin '%s'", builtin_names[i]);
        else arguments[4 + i] = value_retain(*builtin);
    }
    if (status == TSR_OK) status = value_call_n(functions, unit, (int)TSR_COUNTOF(arguments), arguments);
    values_release(arguments, (int64_t)TSR_COUNTOF(arguments));
    return status;
}

static TsrStatus parse_unit(Ast **ast, const TsrText *text, const Unit *u) {
    Source *source;
    SourceRange where;
    int bad_line;
    TSR_TRY(source_new(&source, u->source_name, text->data, text->length, 0, &bad_line)); /* line 0 is the wrapper's */
    TsrStatus status = parser_new_module(ast, source, &where);
    source_free(source);
    return status;
}

/* Defines _unit as a global for a moment, and takes it away again. */
static TsrStatus define_unit(Value *unit, const Ast *ast) {
    Value result = VALUE_UNBOUND;
    RunOptions options = {.show = SHOW_NONE};
    Value before = value_retain(globals_get("_unit"));
    TsrStatus status = vm_run(&result, ast, &options);
    value_release(result);
    if (status == TSR_OK) *unit = value_retain(globals_get("_unit"));
    if (before.tag == V_UNBOUND) globals_delete("_unit");
    else (void)globals_set("_unit", before);
    value_release(before);
    return status;
}

static TsrStatus compile_unit(Unit *u) {
    TsrText text = {0};
    Ast *ast = NULL;
    Value unit = VALUE_UNBOUND;
    TsrStatus status = wrap(&text, u);
    if (status == TSR_OK) status = parse_unit(&ast, &text, u);
    if (status == TSR_OK) status = define_unit(&unit, ast);
    ast_free(ast);
    if (status == TSR_OK) status = call_unit(&u->functions, unit);
    value_release(unit);
    tsr_text_free(&text);
    return status;
}

TsrStatus prelude_get(Value *out, const char *space, const char *name) {
    *out = VALUE_UNBOUND;
    if (name[0] == '_' && strcmp(space, "rows") != 0) return TSR_OK;
    for (size_t i = 0; i < TSR_COUNTOF(units); i++) {
        Unit *u = &units[i];
        if (strcmp(u->space, space) != 0) continue;
        if (u->functions.tag == V_UNBOUND) {
            if (!defines(u, name)) continue;
            TSR_TRY(compile_unit(u));
        }
        Value *found = value_is_dict(u->functions) ? dict_find_c(value_as_dict(u->functions), name) : NULL;
        if (found == NULL) continue;
        *out = value_retain(*found);
        return TSR_OK;
    }
    return TSR_OK;
}

void prelude_each(const char *space, void (*visit)(const char *name, void *context), void *context) {
    for (size_t i = 0; i < TSR_COUNTOF(units); i++) {
        const char *p = units[i].text, *found;
        char name[64];
        size_t length;
        if (strcmp(units[i].space, space) != 0) continue;
        while (next_def(&p, units[i].end, &found, &length)) {
            if (found[0] == '_' || length >= sizeof name) continue;
            memcpy(name, found, length);
            name[length] = '\0';
            visit(name, context);
        }
    }
}

typedef struct Names {
    List *list;
    TsrStatus status;
} Names;

static void append_name(const char *name, void *context) {
    Names *names = context;
    Value v = VALUE_UNBOUND;
    if (names->status == TSR_OK) names->status = str_new_c(&v, name);
    if (names->status == TSR_OK) names->status = list_append_move(names->list, v);
}

TsrStatus prelude_append_names(List *list, const char *space) {
    Names names = {list, TSR_OK};
    prelude_each(space, append_name, &names);
    return names.status;
}

void prelude_shutdown(void) {
    for (size_t i = 0; i < TSR_COUNTOF(units); i++) value_clear(&units[i].functions);
}
