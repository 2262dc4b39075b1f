/* types.c: Python's types: the types of things that have no name among the builtins. */
#include "modules.h"

#include "lang/object/value_impl.h"
#include "lang/vm/vm.h"

static TsrStatus fill(Module *module) {
    static const struct {
        const char *name;
        Type *type;
    } types[] = {{"BuiltinFunctionType", &native_type},
                 {"BuiltinMethodType", &native_type},
                 {"FunctionType", &function_type},
                 {"GeneratorType", &generator_type},
                 {"GenericAlias", &generic_alias_type},
                 {"LambdaType", &function_type},
                 {"MethodType", &method_type},
                 {"ModuleType", &module_type},
                 {"NoneType", &none_type},
                 {"UnionType", &union_type}};
    for (size_t i = 0; i < TSR_COUNTOF(types); i++)
        TSR_TRY(module_add(module, types[i].name, value_lent(types[i].type)));
    return module_add(module, "EllipsisType", value_lent(ellipsis_object.type));
}

const NsModule ns_types = {"types", "Types that have no name of their own.", NULL, fill, NULL};
