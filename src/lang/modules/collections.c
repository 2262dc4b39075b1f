/* collections.c: Python's collections: Counter, defaultdict, deque, namedtuple, OrderedDict. */
#include "modules.h"

#include "lang/types/collections.h"

static const Method functions[] = {
    {"namedtuple", namedtuple_function, ARGS_ANY, 2, 2,
     "(typename, field_names, *, rename=False, defaults=None, module=None)",
     "A kind of tuple whose fields have names."},
    {0},
};

static TsrStatus fill(Module *module) {
    static const struct {
        const char *name;
        Type *type;
    } types[] = {{"Counter", &counter_type},
                 {"OrderedDict", &ordered_dict_type},
                 {"defaultdict", &default_dict_type},
                 {"deque", &deque_type}};
    dict_kinds_startup();
    counter_startup();
    for (size_t i = 0; i < TSR_COUNTOF(types); i++)
        TSR_TRY(module_add(module, types[i].name, value_lent(types[i].type)));
    Value abc;
    TSR_TRY(module_import(&abc, "collections.abc"));
    return module_add_move(module, "abc", abc);
}

const NsModule ns_collections = {"collections", "Further containers.", functions, fill, NULL};
