/* What can be imported of Python's modules: one row each. torch's are registered by the binding. */
#include "ns.h"

#include "builtin.h"
#include "dict_obj.h"

static TsrStatus builtins_new(Value *out) {
    Value module;
    TSR_TRY(module_new(&module, "builtins", "The builtin functions and types."));
    TsrStatus status = builtin_fill(value_as_module(module)->dict);
    return value_end_move(out, status, module);
}

TsrStatus builtin_register_modules(void) {
    static const struct {
        const char *name;
        ModuleMaker make;
    } rows[] = {
        {"math", ns_math_new},     {"cmath", ns_cmath_new}, {"itertools", ns_itertools_new}, {"functools", ns_functools_new}, {"json", ns_json_new},
        {"sys", ns_sys_new},       {"os", ns_os_new},       {"os.path", ns_os_path_new},     {"time", ns_time_new},           {"random", ns_random_new},
        {"collections", ns_collections_new}, {"copy", ns_copy_new}, {"builtins", builtins_new},
        {"typing", ns_typing_new}, {"heapq", ns_heapq_new}, {"bisect", ns_bisect_new}, {"operator", ns_operator_new}, {"string", ns_string_new},
    };
    for (size_t i = 0; i < TSR_COUNTOF(rows); i++) TSR_TRY(module_register(rows[i].name, rows[i].make));
    return TSR_OK;
}
