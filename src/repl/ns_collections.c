/* ns_collections.c: Python's collections: Counter, defaultdict, deque, namedtuple, OrderedDict. */
#include "ns.h"

#include "collections.h"

static const Method functions[] = {
    {"namedtuple", namedtuple_function, ARGS_ANY, 2, 2, "(typename, field_names, *, rename=False, defaults=None, module=None)", "A kind of tuple whose fields have names."},
    {0},
};

TsrStatus ns_collections_new(Value *out) {
    static const struct {
        const char *name;
        Type *type;
    } types[] = {{"Counter", &counter_type}, {"OrderedDict", &ordered_dict_type}, {"defaultdict", &default_dict_type}, {"deque", &deque_type}};
    Value made;
    dict_kinds_startup();
    counter_startup();
    TSR_TRY(module_new(&made, "collections", "Further containers."));
    Module *module = value_as_module(made);
    TsrStatus status = module_add_functions(module, functions);
    for (size_t i = 0; i < TSR_COUNTOF(types) && status == TSR_OK; i++) status = module_add(module, types[i].name, value_lent(types[i].type));
    return value_end_move(out, status, made);
}
