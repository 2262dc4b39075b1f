/* The registry of modules and of bare names. Additions are kept in lists until the module that they belong to is first
 * asked for; then the module is made, filled with what was added so far, and cached until shutdown. */
#include "namespace.h"

#include <string.h>

#include "lang/types/collections.h"
#include "lang/types/str.h"
#include "lang/vm/vm.h"

typedef struct Addition { /* a table or one value for a module that may not be made yet */
    const char *module;
    const Method *table;
    bool bare; /* its functions have bare names too */
    const char *name;
    Value value;
} Addition;

static Addition *additions;
static int64_t addition_count, addition_capacity;
static Namespace *spaces;
static int64_t space_count, space_capacity;
static Dict *bare;    /* names added for bare use */
static Dict *modules; /* made modules by name */

static TsrStatus need_dicts(void) {
    if (bare == NULL && (bare = dict_new_raw()) == NULL) return TSR_MEMORY_ERROR;
    if (modules == NULL && (modules = dict_new_raw()) == NULL) return TSR_MEMORY_ERROR;
    return TSR_OK;
}

/* The module if it was made, lent. */
static Module *made_module(const char *name) {
    Value *v = modules == NULL ? NULL : dict_find_c(modules, name);
    return v == NULL ? NULL : value_as_module(*v);
}

static TsrStatus remember(Addition a) {
    TSR_TRY(mem_grow(&additions, &addition_capacity, addition_count + 1, sizeof *additions));
    if (a.value.tag != V_UNBOUND) value_retain(a.value);
    additions[addition_count++] = a;
    return TSR_OK;
}

TsrStatus namespace_add_functions(const char *module, const Method *table, bool bare_too) {
    TSR_TRY(need_dicts());
    Module *m = made_module(module);
    if (m != NULL) TSR_TRY(module_add_functions(m, table));
    return remember((Addition){.module = module, .table = table, .bare = bare_too});
}

TsrStatus namespace_add_value(const char *module, const char *name, Value v, bool bare_too) {
    TSR_TRY(need_dicts());
    if (module != NULL) {
        Module *m = made_module(module);
        TSR_TRY(m != NULL ? module_add(m, name, v) : remember((Addition){.module = module, .name = name, .value = v}));
    }
    return bare_too ? dict_set_c(bare, name, v) : TSR_OK;
}

static TsrStatus apply_additions(Module *m, const char *name) {
    for (int64_t i = 0; i < addition_count; i++) {
        const Addition *a = &additions[i];
        if (strcmp(a->module, name) != 0) continue;
        TSR_TRY(a->table != NULL ? module_add_functions(m, a->table) : module_add(m, a->name, a->value));
    }
    return TSR_OK;
}

static const Namespace *find_space(const char *name) {
    for (int64_t i = 0; i < space_count; i++)
        if (strcmp(spaces[i].name, name) == 0) return &spaces[i];
    return NULL;
}

static TsrStatus make_module(Value *out, const char *name) {
    const Namespace *found = find_space(name);
    if (found == NULL) return tsr_error(TSR_MODULE_NOT_FOUND_ERROR, "No module named '%s'", name);
    const Namespace space = *found; /* filling it may add others */
    Value v;
    TSR_TRY(module_new(&v, name, space.doc));
    Module *m = value_as_module(v);
    m->missing = space.missing;
    m->names = space.names;
    TsrStatus s = dict_set_c(modules, name, v);
    if (s == TSR_OK && space.fill != NULL) s = space.fill(m);
    if (s == TSR_OK) s = apply_additions(m, name);
    return value_end_move(out, s, v);
}

TsrStatus namespace_module(Value *out, const char *name) {
    TSR_TRY(need_dicts());
    Module *m = made_module(name);
    if (m == NULL) return make_module(out, name);
    *out = value_retain(value_lent(m));
    return TSR_OK;
}

TsrStatus namespace_add(const Namespace *space) {
    TSR_TRY(mem_grow(&spaces, &space_capacity, space_count + 1, sizeof *spaces));
    spaces[space_count++] = *space;
    return module_register(space->name, namespace_module);
}

/* ---- bare names ---- */

/* torch's constants that stay behind torch.: one-letter names belong to the user. */
static bool only_qualified(const Str *name) {
    return str_equal_c(name, "e") || (name->size > 1 && name->data[0] == '_' && name->data[1] == '_');
}

static TsrStatus bare_module(Value *out, const Str *name) {
    const char *module = str_equal_c(name, "F") ? "torch.nn.functional" : name->data;
    *out = VALUE_UNBOUND;
    return find_space(module) != NULL ? namespace_module(out, module) : TSR_OK;
}

/* Of two functions of one name the one that was added last. */
static TsrStatus bare_function(Value *out, const Str *name) {
    *out = VALUE_UNBOUND;
    for (int64_t i = addition_count - 1; i >= 0; i--)
        for (const Method *def = additions[i].bare ? additions[i].table : NULL; def != NULL && def->name != NULL; def++)
            if (str_equal_c(name, def->name)) return native_new(out, def, additions[i].module);
    return TSR_OK;
}

/* Found names stay in `bare`, which keeps what is lent alive. */
static TsrStatus bare_name(Value *lent, Str *name) {
    TSR_TRY(need_dicts());
    *lent = VALUE_UNBOUND;
    Value *known = dict_find_str(bare, name);
    if (known != NULL) {
        *lent = *known;
        return TSR_OK;
    }
    Value found = VALUE_UNBOUND, torch;
    TSR_TRY(bare_function(&found, name));
    if (found.tag == V_UNBOUND) TSR_TRY(bare_module(&found, name));
    if (found.tag == V_UNBOUND && !only_qualified(name)) {
        TSR_TRY(namespace_module(&torch, "torch"));
        TsrStatus s = value_lookup_attr(&found, torch, name);
        value_release(torch);
        TSR_TRY(s);
    }
    if (found.tag == V_UNBOUND) return TSR_OK;
    TsrStatus s = dict_set_str(bare, name, found);
    *lent = found;
    value_release(found); /* `bare` holds it, or on failure nobody does */
    if (s != TSR_OK) *lent = VALUE_UNBOUND;
    return s;
}

void namespace_each_bare(void (*visit)(const char *name, void *context), void *context) {
    int64_t position = 0;
    for (DictEntry *e; bare != NULL && (e = dict_next(bare, &position)) != NULL;)
        if (value_is_str(e->key)) visit(value_as_str(e->key)->data, context);
    for (int64_t i = 0; i < addition_count; i++)
        for (const Method *def = additions[i].bare ? additions[i].table : NULL; def != NULL && def->name != NULL; def++)
            if (bare == NULL || dict_find_c(bare, def->name) == NULL) visit(def->name, context);
}

/* ---- start and end ---- */

TsrStatus namespace_startup(void) {
    vm_bare_name = bare_name;
    return need_dicts();
}

static void release_dict(Dict **dict) {
    Dict *d = *dict;
    *dict = NULL;
    if (d == NULL) return;
    dict_clear(d);
    obj_release(d);
}

void namespace_shutdown(void) {
    for (int64_t i = 0; i < addition_count; i++) value_release(additions[i].value);
    tsr_free(additions);
    tsr_free(spaces);
    additions = NULL;
    spaces = NULL;
    addition_count = addition_capacity = space_count = space_capacity = 0;
    release_dict(&bare);
    release_dict(&modules);
}
