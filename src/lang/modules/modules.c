/* modules.c: what can be imported of Python's modules. torch's are registered by the binding. */
#include "modules.h"

#include <string.h>

#include "builtin.h"
#include "lang/types/dict.h"
#include "lang/types/str.h"
#include "lang/vm/kind.h"
#include "lang/vm/prelude.h"
#include "lang/vm/vm.h"

static const NsModule ns_bisect = {"bisect", "Searching sorted lists.", NULL, NULL, NULL};

#ifndef __wasm__ /* the page is sent to each reader, and does without some modules: for its size */
static TsrStatus io_fill(Module *module) {
    Str *name = str_intern_c("open");
    Value open;
    if (name == NULL) return mem_error();
    TSR_TRY(module_find(&open, vm_builtins(), name));
    TSR_TRY(module_add_move(module, "open", open));
    return module_add(module, "UnsupportedOperation", value_lent(EXC_TYPE(TSR_UNSUPPORTED_OPERATION)));
}
static const NsModule ns_io = {"io", "Files in memory.", NULL, io_fill, NULL};
static const NsModule ns_argparse = {"argparse", "The arguments of a script, by their names.", NULL, NULL, NULL};
static const NsModule ns_csv = {"csv", "Rows of texts, from lines and to files.", NULL, NULL, NULL};
static const NsModule ns_logging = {"logging", "Messages of a program by levels.", NULL, NULL, NULL};
static const NsModule ns_pathlib = {"pathlib", "The paths of files.", NULL, NULL, NULL};
static const NsModule ns_pprint = {"pprint", "Values over several lines.", NULL, NULL, NULL};
static TsrStatus statistics_fill(Module *module) {
    return module_add(module, "StatisticsError", value_lent(EXC_TYPE(TSR_STATISTICS_ERROR)));
}
static const NsModule ns_statistics = {"statistics", "Means and spreads of numbers in lists.", NULL, statistics_fill,
                                       NULL};
static const NsModule ns_textwrap = {"textwrap", "Text in lines of a width.", NULL, NULL, NULL};
static const NsModule ns_timeit = {"timeit", "How long functions take.", NULL, NULL, NULL};
#endif

static const NsModule ns_future = {"__future__", "What Python will mean by annotations.", NULL, NULL, NULL};

static const NsModule *const rows[] = {&ns_math,
                                       &ns_cmath,
                                       &ns_itertools,
                                       &ns_functools,
                                       &ns_json,
                                       &ns_sys,
                                       &ns_os,
                                       &ns_os_path,
                                       &ns_time,
                                       &ns_random,
                                       &ns_collections,
                                       &ns_copy,
                                       &ns_typing,
                                       &ns_heapq,
                                       &ns_bisect,
                                       &ns_operator,
                                       &ns_string,
                                       &ns_contextlib,
#ifndef __wasm__
                                       &ns_argparse,
                                       &ns_csv,
                                       &ns_gc,
                                       &ns_io,
                                       &ns_logging,
                                       &ns_numbers,
                                       &ns_pathlib,
                                       &ns_pprint,
                                       &ns_re,
                                       &ns_statistics,
                                       &ns_textwrap,
                                       &ns_timeit,
                                       &ns_unicodedata,
#endif
                                       &ns_types,
                                       &ns_warnings,
                                       &ns_collections_abc,
                                       &ns_typing_extensions,
                                       &ns_future};

/* Kinds of objects; their methods are in the source of their module. */
#define OF(module, name) KIND(name, module, NULL, module, module)
static Kind kinds[] = {
#ifndef __wasm__
    KIND("_MemoryFile", "_io", NULL, "io", "io"), /* the first: the base of the two below */
    KIND("BytesIO", "_io", &kinds[0].type, "io", "io"),
    KIND("StringIO", "_io", &kinds[0].type, "io", "io"),
    OF("argparse", "ArgumentParser"),
    OF("argparse", "Namespace"),
    KIND("DictReader", "csv", NULL, "csv", "csv"),
    KIND("DictWriter", "csv", NULL, "csv", "csv"),
    KIND("writer", "_csv", NULL, "csv", "csv"),
    OF("logging", "Formatter"),
    OF("logging", "LogRecord"),
    OF("logging", "Logger"),
    OF("logging", "StreamHandler"),
    OF("pathlib", "PosixPath"),
    OF("logging", "NullHandler"),
#endif
    OF("contextlib", "ExitStack"),
    OF("contextlib", "_GeneratorContextManager"),
    OF("contextlib", "closing"),
    OF("contextlib", "nullcontext"),
    OF("contextlib", "redirect_stdout"),
    OF("contextlib", "suppress"),
    OF("__future__", "_Feature"),
#ifndef __wasm__
    OF("re", "Match"),
    OF("re", "Pattern"),
#endif
    OF("typing", "TypeVar"),
    KIND("types.SimpleNamespace", NULL, NULL, "types", "types"),
    OF("warnings", "WarningMessage"),
    OF("warnings", "catch_warnings"),
};

/* What a module has in the language (prelude/), compiled when it is first asked for. */
static TsrStatus written(Value *out, Module *module, Str *name) {
    *out = value_retain(kind_named(kinds, TSR_COUNTOF(kinds), module->name->data, name->data));
    bool method = strstr(name->data, "__") != NULL;
    return out->tag == V_UNBOUND && !method ? prelude_get(out, module->name->data, name->data) : TSR_OK;
}
static TsrStatus written_names(List *out, Module *module) {
    TSR_TRY(kind_append_names(out, kinds, TSR_COUNTOF(kinds), module->name->data));
    return prelude_append_names(out, module->name->data);
}

static TsrStatus ns_new(Value *out, const char *name) {
    size_t i = 0;
    while (strcmp(rows[i]->name, name) != 0) i++; /* one of those registered below */
    const NsModule *row = rows[i];
    Value made;
    TSR_TRY(module_new(&made, row->called != NULL ? row->called : row->name, row->doc));
    value_as_module(made)->missing = written;
    value_as_module(made)->names = written_names;
    TsrStatus status = row->functions != NULL ? module_add_functions(value_as_module(made), row->functions) : TSR_OK;
    if (status == TSR_OK && row->fill != NULL) status = row->fill(value_as_module(made));
    return value_end_move(out, status, made);
}

static TsrStatus builtins_new(Value *out, const char *name) {
    (void)name;
    *out = value_retain(value_lent(vm_builtins()));
    return TSR_OK;
}

TsrStatus builtin_register_modules(void) {
    modules_sources_add();
    TSR_TRY(module_register("builtins", builtins_new));
    for (size_t i = 0; i < TSR_COUNTOF(rows); i++) TSR_TRY(module_register(rows[i]->name, ns_new));
    return TSR_OK;
}
