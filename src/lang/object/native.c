/* Functions written in C, methods bound to their object, modules, and iterators over native state. A call of a native
 * function checks the number of arguments against its row and passes values and keywords on; a module is a dict of
 * names that may look up what it does not hold. */
#include "native.h"

#include "args.h"
#include "lang/types/dict.h"
#include "exc.h"
#include "hint.h"
#include "lang/types/sequences.h"
#include "lang/types/str.h"
#include "value_impl.h"

#include <stdio.h>
#include <string.h>

/* --- native functions --- */

GC_HOLDS(native, Native, &it->self)

/* "list.append" or "math.sqrt" or "len", as messages name it; those of itertools are types in Python. */
static void native_title(char *out, size_t size, const Method *def, const Type *owner, const char *module) {
    if (owner != NULL)
        snprintf(out, size, "%s.%s", owner == tensor_type ? "TensorBase" : type_short_name(owner), def->name);
    else if (module != NULL && strcmp(module, "itertools") != 0) snprintf(out, size, "%s.%s", module, def->name);
    else snprintf(out, size, "%s", def->name);
}

/* What a type's slot does, Python wraps as a method whose refusals have words of their own; these are methods like
 * others. */
static bool is_wrapped_slot(const char *name, const Type *owner) {
    static const char *const methods[] = {
        "__format__", "__round__",  "__trunc__",       "__floor__",    "__ceil__",      "__reversed__",
        "__dir__",    "__sizeof__", "__length_hint__", "__reduce__",   "__reduce_ex__", "__getnewargs__",
        "__enter__",  "__exit__",   "__copy__",        "__deepcopy__", "__complex__",   "__bytes__"};
    size_t n = strlen(name);
    if (owner == NULL || owner == tensor_type || n < 5 || strncmp(name, "__", 2) != 0 ||
        strcmp(name + n - 2, "__") != 0)
        return false;
    for (size_t i = 0; i < TSR_COUNTOF(methods); i++)
        if (strcmp(name, methods[i]) == 0) return false;
    bool is_dict = strcmp(owner->name, "dict") == 0,
         is_set = strcmp(owner->name, "set") == 0 || strcmp(owner->name, "frozenset") == 0;
    if (strcmp(name, "__getitem__") == 0) return !is_dict && strcmp(owner->name, "list") != 0;
    return strcmp(name, "__contains__") != 0 || (!is_dict && !is_set);
}

static TsrStatus check_arity(const Method *def, const CallArgs *args, int skip, const Type *owner, const char *module) {
    char title[128];
    int given = args->count - skip;
    int kind = def->flags & (ARGS_NONE | ARGS_ONE | ARGS_RANGE | ARGS_ANY);
    if (kind == ARGS_ANY) return TSR_OK;
    bool right = kind == ARGS_NONE  ? given == 0
                 : kind == ARGS_ONE ? given == 1
                                    : given >= def->min && (def->max < 0 || given <= def->max);
    if (TSR_LIKELY(right && args->keyword_count == 0)) return TSR_OK;
    native_title(title, sizeof title, def, owner, module);
    bool wrapped = is_wrapped_slot(def->name, owner);
    if (wrapped) snprintf(title, sizeof title, "wrapper %.64s", def->name);
    if (args->keyword_count > 0) return args_no_keywords(args, title);
    if (wrapped && kind == ARGS_NONE) return tsr_error(TSR_TYPE_ERROR, "expected 0 arguments, got %d", given);
    if (wrapped && kind == ARGS_ONE)
        return tsr_error(TSR_TYPE_ERROR, "%sexpected 1 argument, got %d",
                         (owner->flags & TYPE_SEQUENCE) && strstr(def->name, "mul__") != NULL ? " " : "", given);
    if (wrapped) return args_count(args, skip, def->min, def->max, "");
    if (kind == ARGS_NONE) return tsr_error(TSR_TYPE_ERROR, "%s() takes no arguments (%d given)", title, given);
    if (kind == ARGS_ONE) return tsr_error(TSR_TYPE_ERROR, "%s() takes exactly one argument (%d given)", title, given);
    if (def->flags & ARGS_TUPLE) {
        int limit = given < def->min ? def->min : def->max;
        const char *bound = def->min == def->max ? "exactly" : given < def->min ? "at least" : "at most";
        return tsr_error(TSR_TYPE_ERROR, "%s() takes %s %d argument%s (%d given)", def->name, bound, limit,
                         limit == 1 ? "" : "s", given);
    }
    return args_count(args, skip, def->min, def->max, def->name);
}

/* A loop in C that an interrupt ended early says nothing: what it gave is dropped here. */
static TsrStatus call_whole(Value *out, const Method *def, const CallArgs *args) {
    *out = VALUE_NONE;
    TsrStatus status = def->call(out, args);
    if (TSR_LIKELY(!tsr_interrupt_pending()) || status != TSR_OK) return status;
    status = tsr_interrupt_raise();
    if (status != TSR_OK) value_release(*out);
    return status;
}

TsrStatus native_invoke(Value *out, const Method *def, const CallArgs *args, Type *owner) {
    TSR_TRY(check_arity(def, args, owner != NULL && !(def->flags & METHOD_STATIC), owner, NULL));
    return call_whole(out, def, args);
}

static TsrStatus native_call(Value *out, Value self, const CallArgs *args) {
    const Native *n = (Native *)self.o;
    const Method *def = n->def;
    TSR_TRY(check_arity(def, args, 0, NULL, n->module));
    return call_whole(out, def, args);
}

static TsrStatus native_repr(TsrText *out, Value self) {
    const Native *n = (Native *)self.o;
    return tsr_text_printf(out, "<built-in function %s>", n->def->name);
}

static TsrStatus native_attr(Value *out, Value self, Str *name) {
    const Native *n = (Native *)self.o;
    const Method *def = n->def;
    *out = VALUE_UNBOUND;
    if (str_equal_c(name, "__name__")) return str_new_c(out, def->name);
    if (str_equal_c(name, "__qualname__")) {
        if (n->owner == NULL) return str_new_c(out, def->name);
        return str_new_format(out, "%s.%s", type_short_name(n->owner), def->name);
    }
    if (str_equal_c(name, "__doc__")) {
        *out = VALUE_NONE;
        return def->doc != NULL ? str_new_c(out, def->doc) : TSR_OK;
    }
    if (str_equal_c(name, "__module__")) {
        *out = VALUE_NONE;
        return n->owner == NULL ? str_new_c(out, n->module != NULL ? n->module : "builtins") : TSR_OK;
    }
    if (str_equal_c(name, "__self__") && n->self.tag != V_UNBOUND) *out = value_retain(n->self);
    if (str_equal_c(name, "__text_signature__") && def->signature != NULL) return str_new_c(out, def->signature);
    return TSR_OK;
}

Type native_type = {.obj = TYPE_HEADER,
                    .name = "builtin_function_or_method",
                    .flags = TYPE_GC | TYPE_ATOMIC,
                    .destroy = native_destroy,
                    .traverse = native_traverse,
                    .clear = native_clear,
                    .repr = native_repr,
                    .call = native_call,
                    .get_attr = native_attr};

static TsrStatus native_make(Value *out, Type *type, const Method *def, Type *owner, const char *module, Value self) {
    Native *n = obj_new(type, sizeof *n);
    if (n == NULL) return TSR_MEMORY_ERROR;
    n->def = def;
    n->owner = owner;
    n->module = module;
    n->self = value_retain(self);
    if (self.tag == V_OBJ) gc_track(n);
    *out = value_obj_move(n);
    return TSR_OK;
}

TsrStatus native_new(Value *out, const Method *def, const char *module) {
    return native_make(out, &native_type, def, NULL, module, VALUE_UNBOUND);
}

/* --- methods of types: unbound (a descriptor) and bound --- */

static TsrStatus descriptor_check(const Native *n, const CallArgs *args) {
    if (args->count == 0)
        return tsr_error(TSR_TYPE_ERROR, "unbound method %s.%s() needs an argument", type_short_name(n->owner),
                         n->def->name);
    if (TSR_LIKELY(value_is_a(args->values[0], n->owner))) return TSR_OK;
    return tsr_error(TSR_TYPE_ERROR, "descriptor '%s' for '%s' objects doesn't apply to a '%s' object", n->def->name,
                     n->owner->name, value_type_name(args->values[0]));
}

static TsrStatus descriptor_call(Value *out, Value self, const CallArgs *args) {
    const Native *n = (Native *)self.o;
    if (!(n->def->flags & METHOD_STATIC)) TSR_TRY(descriptor_check(n, args));
    return native_invoke(out, n->def, args, n->owner);
}

static TsrStatus descriptor_repr(TsrText *out, Value self) {
    const Native *n = (Native *)self.o;
    if (n->def->flags & METHOD_STATIC) return tsr_text_printf(out, "<built-in method %s of type object>", n->def->name);
    bool wrapper = (n->def->flags & METHOD_DUNDER) != 0;
    return tsr_text_printf(out, "<%s '%s' of '%s' objects>", wrapper ? "slot wrapper" : "method", n->def->name,
                           n->owner->name);
}

Type method_descriptor_type = {.obj = TYPE_HEADER,
                               .name = "method_descriptor",
                               .flags = TYPE_GC | TYPE_ATOMIC,
                               .destroy = native_destroy,
                               .traverse = native_traverse,
                               .clear = native_clear,
                               .repr = descriptor_repr,
                               .call = descriptor_call,
                               .get_attr = native_attr};

enum { STACK_ARGS = 12 };

/* The call with `first` before the other arguments. */
static TsrStatus call_with_first(Value *out, TsrStatus (*call)(Value *, const void *, const CallArgs *),
                                 const void *what, Value first, const CallArgs *args) {
    Value stack[STACK_ARGS], *values = stack;
    int total = args->count + args->keyword_count;
    if (total + 1 > STACK_ARGS && (values = tsr_malloc(((size_t)total + 1) * sizeof *values)) == NULL)
        return mem_error();
    values[0] = first;
    if (total > 0) memcpy(values + 1, args->values, (size_t)total * sizeof *values);
    CallArgs shifted = {values, args->count + 1, args->keyword_count, args->names, false};
    TsrStatus status = call(out, what, &shifted);
    if (values != stack) tsr_free(values);
    return status;
}

static TsrStatus invoke_def(Value *out, const void *native, const CallArgs *args) {
    const Native *n = native;
    return native_invoke(out, n->def, args, n->owner);
}

static TsrStatus bound_native_call(Value *out, Value self, const CallArgs *args) {
    return call_with_first(out, invoke_def, self.o, ((Native *)self.o)->self, args);
}

static TsrStatus bound_native_repr(TsrText *out, Value self) {
    const Native *n = (Native *)self.o;
    bool wrapper = (n->def->flags & METHOD_DUNDER) != 0;
    return tsr_text_printf(out, wrapper ? "<method-wrapper '%s' of %s object>" : "<built-in method %s of %s object>",
                           n->def->name, value_type_name(n->self));
}

Type bound_native_type = {.obj = TYPE_HEADER,
                          .name = "builtin_function_or_method",
                          .flags = TYPE_GC,
                          .destroy = native_destroy,
                          .traverse = native_traverse,
                          .clear = native_clear,
                          .repr = bound_native_repr,
                          .call = bound_native_call,
                          .get_attr = native_attr};

TsrStatus native_new_method(Value *out, const Method *def, Type *owner, Value self) {
    return native_make(out, self.tag == V_UNBOUND ? &method_descriptor_type : &bound_native_type, def, owner, NULL,
                       self);
}

GC_HOLDS(bound, BoundMethod, &it->function, &it->self)

static TsrStatus call_value(Value *out, const void *callee, const CallArgs *args) {
    return value_call(out, *(const Value *)callee, args);
}

static TsrStatus bound_call(Value *out, Value self, const CallArgs *args) {
    const BoundMethod *b = (BoundMethod *)self.o;
    return call_with_first(out, call_value, &b->function, b->self, args);
}

static TsrStatus bound_repr(TsrText *out, Value self) {
    const BoundMethod *b = (BoundMethod *)self.o;
    Str *attribute = str_intern_c("__qualname__");
    Value name;
    if (attribute == NULL) return mem_error();
    TSR_TRY(value_lookup_attr(&name, b->function, attribute));
    bool named = name.tag != V_UNBOUND && value_is_str(name);
    TsrStatus status =
        tsr_text_printf(out, "<bound method %s%sof ", named ? value_as_str(name)->data : "", named ? " " : "");
    value_release(name);
    TSR_TRY(status);
    TSR_TRY(value_repr(out, b->self));
    return tsr_text_putc(out, '>');
}

static TsrStatus bound_attr(Value *out, Value self, Str *name) {
    const BoundMethod *b = (BoundMethod *)self.o;
    *out = VALUE_UNBOUND;
    if (str_equal_c(name, "__self__")) *out = value_retain(b->self);
    else if (str_equal_c(name, "__func__")) *out = value_retain(b->function);
    else if (str_equal_c(name, "__name__") || str_equal_c(name, "__doc__"))
        return value_lookup_attr(out, b->function, name);
    return TSR_OK;
}

Type method_type = {.obj = TYPE_HEADER,
                    .name = "method",
                    .flags = TYPE_GC | TYPE_ATOMIC,
                    .destroy = bound_destroy,
                    .traverse = bound_traverse,
                    .clear = bound_clear,
                    .repr = bound_repr,
                    .call = bound_call,
                    .get_attr = bound_attr};

TsrStatus bound_method_new(Value *out, Value function, Value self) {
    BoundMethod *b = obj_new(&method_type, sizeof *b);
    if (b == NULL) return TSR_MEMORY_ERROR;
    b->function = value_retain(function);
    b->self = value_retain(self);
    gc_track(b);
    *out = value_obj_move(b);
    return TSR_OK;
}

/* --- namespaces --- */

static void module_destroy(Obj *self) {
    Module *m = (Module *)self;
    obj_xrelease(m->dict);
    obj_xrelease(m->name);
    tsr_free(m->tables);
    obj_free(m, sizeof *m);
}
static void module_traverse(Obj *self, GcVisit visit, void *context) {
    gc_visit_obj(((Module *)self)->dict, visit, context);
}
static void module_clear(Obj *self) { dict_clear(((Module *)self)->dict); }

static TsrStatus module_repr(TsrText *out, Value self) {
    return tsr_text_printf(out, "<module '%s' (built-in)>", value_as_module(self)->name->data);
}

static TsrStatus make_function(Value *out, const Module *m, const Method *def) {
    const char *title = m->name->data; /* interned: lives as long as any function */
    return native_new(out, def, strcmp(title, "builtins") == 0 ? NULL : title);
}

/* Of two functions of one name the one that was added last. */
static TsrStatus function_of_tables(Value *out, const Module *m, const Str *name) {
    for (int64_t i = m->table_count - 1; i >= 0; i--)
        for (const Method *def = m->tables[i]; def->name != NULL; def++)
            if (def->name[0] == name->data[0] && str_equal_c(name, def->name)) return make_function(out, m, def);
    return TSR_OK;
}

static TsrStatus add_missing_functions(Module *m, const Method *table) {
    for (const Method *def = table; def->name != NULL; def++) {
        Value function;
        if (dict_find_c(m->dict, def->name) != NULL) continue;
        TSR_TRY(make_function(&function, m, def));
        TSR_TRY(module_add_move(m, def->name, function));
    }
    return TSR_OK;
}

/* The module's dict with all functions of its tables. */
static TsrStatus whole_dict(Dict **lent, Module *m) {
    for (; m->table_count > 0; m->table_count--) TSR_TRY(add_missing_functions(m, m->tables[m->table_count - 1]));
    *lent = m->dict;
    return TSR_OK;
}

static TsrStatus new_whole_dict(Value *out, Module *m) {
    Dict *dict;
    TSR_TRY(whole_dict(&dict, m));
    *out = value_retain(value_lent(dict));
    return TSR_OK;
}

TsrStatus module_find(Value *out, Module *m, Str *name) {
    const Value *found = dict_find_str(m->dict, name);
    *out = VALUE_UNBOUND;
    if (found != NULL) {
        *out = value_retain(*found);
        return TSR_OK;
    }
    TSR_TRY(function_of_tables(out, m, name));
    if (out->tag == V_UNBOUND && m->missing != NULL) TSR_TRY(m->missing(out, m, name));
    return out->tag == V_UNBOUND ? TSR_OK : value_end_move(out, dict_set_str(m->dict, name, *out), *out);
}

static TsrStatus module_attr(Value *out, Value self, Str *name) {
    Module *m = value_as_module(self);
    TSR_TRY(module_find(out, m, name));
    if (out->tag != V_UNBOUND) return TSR_OK;
    if (str_equal_c(name, "__name__")) *out = value_retain(value_lent(m->name));
    else if (str_equal_c(name, "__doc__")) return m->doc != NULL ? str_new_c(out, m->doc) : (*out = VALUE_NONE, TSR_OK);
    else if (str_equal_c(name, "__dict__")) return new_whole_dict(out, m);
    return TSR_OK;
}

static TsrStatus module_set_attr(Value self, Str *name, Value v) {
    Module *m = value_as_module(self);
    Dict *dict = m->dict;
    if (v.tag != V_UNBOUND) return dict_set_str(dict, name, v);
    TSR_TRY(whole_dict(&dict, m)); /* so that nothing makes it again */
    if (dict_remove_str(dict, name)) return TSR_OK;
    return tsr_error(TSR_ATTRIBUTE_ERROR, "module '%s' has no attribute '%s'", m->name->data, name->data);
}

static TsrStatus module_dir(List *names, Value self) {
    Module *m = value_as_module(self);
    Dict *dict;
    int64_t position = 0;
    TSR_TRY(whole_dict(&dict, m));
    for (DictEntry *e; (e = dict_next(dict, &position)) != NULL;) TSR_TRY(list_append(names, e->key));
    return m->names != NULL ? m->names(names, m) : TSR_OK;
}

Type module_type = {.obj = TYPE_HEADER,
                    .name = "module",
                    .flags = TYPE_GC,
                    .destroy = module_destroy,
                    .traverse = module_traverse,
                    .clear = module_clear,
                    .repr = module_repr,
                    .get_attr = module_attr,
                    .set_attr = module_set_attr,
                    .dir = module_dir};

TsrStatus module_new(Value *out, const char *name, const char *doc) {
    Str *s = str_intern_c(name);
    Dict *dict = s != NULL ? dict_new_raw() : NULL;
    Module *m = dict != NULL ? obj_new(&module_type, sizeof *m) : NULL;
    if (m == NULL) {
        obj_xrelease(dict);
        return mem_error();
    }
    m->name = obj_retain(s);
    m->dict = dict;
    m->doc = doc;
    gc_track(m);
    *out = value_obj_move(m);
    return TSR_OK;
}

TsrStatus module_add(Module *module, const char *name, Value v) { return dict_set_c(module->dict, name, v); }
TsrStatus module_add_move(Module *module, const char *name, Value v) { return dict_set_c_move(module->dict, name, v); }

TsrStatus module_add_text(Module *module, const char *name, const char *text) {
    Value v;
    TSR_TRY(str_new_c(&v, text));
    return module_add_move(module, name, v);
}

TsrStatus module_add_functions(Module *module, const Method *table) {
    TSR_TRY(mem_grow(&module->tables, &module->table_capacity, module->table_count + 1, sizeof *module->tables));
    module->tables[module->table_count++] = table;
    return TSR_OK;
}

/* --- what can be imported --- */

typedef struct Row {
    const char *name;
    ModuleMaker make;
    Value module; /* V_UNBOUND until the first import */
} Row;
static Row *rows;
static int64_t row_count, row_capacity;

TsrStatus module_register(const char *name, ModuleMaker make) {
    TSR_TRY(mem_grow(&rows, &row_capacity, row_count + 1, sizeof *rows));
    rows[row_count++] = (Row){name, make, VALUE_UNBOUND};
    return TSR_OK;
}

static Row *find_row(const char *name, size_t size) {
    for (int64_t i = 0; i < row_count; i++) {
        if (strncmp(rows[i].name, name, size) == 0 && rows[i].name[size] == '\0') return &rows[i];
    }
    return NULL;
}

bool module_known(const char *name) { return find_row(name, strlen(name)) != NULL; }

/* Whether modules lie within it. */
static bool is_package(const char *name, size_t size) {
    for (int64_t i = 0; i < row_count; i++)
        if (strncmp(rows[i].name, name, size) == 0 && rows[i].name[size] == '.') return true;
    return false;
}

/* The first part of a dotted name that is not there is what the message is about. */
static TsrStatus no_module(const char *name) {
    size_t first = strcspn(name, ".");
    bool within = name[first] != '\0' && is_package(name, first);
    if (!within && name[first] != '\0' && find_row(name, first) != NULL) {
        return tsr_error(TSR_MODULE_NOT_FOUND_ERROR, "No module named '%s'; '%.*s' is not a package", name, (int)first,
                         name);
    }
    HintSearch search = hint_begin(name);
    for (int64_t i = 0; i < row_count; i++) hint_consider(&search, rows[i].name);
    tsr_error(TSR_MODULE_NOT_FOUND_ERROR, "No module named '%.*s'", (int)(within ? strlen(name) : first), name);
    if (search.best != NULL) tsr_error_hint("did you mean '%s'?", search.best);
    return TSR_MODULE_NOT_FOUND_ERROR;
}

TsrStatus module_import(Value *out, const char *name) {
    for (int64_t i = 0; i < row_count; i++) {
        if (strcmp(rows[i].name, name) != 0) continue;
        if (rows[i].module.tag == V_UNBOUND) {
            Value made;
            TSR_TRY(rows[i].make(&made, rows[i].name));
            rows[i].module = made; /* rows may have moved: indexed anew */
        }
        *out = value_retain(rows[i].module);
        return TSR_OK;
    }
    return no_module(name);
}

TsrStatus module_list(List *out) {
    for (int64_t i = 0; i < row_count; i++) {
        Str *s = str_intern_c(rows[i].name);
        if (s == NULL) return mem_error();
        TSR_TRY(list_append(out, value_lent(s)));
    }
    return TSR_OK;
}

void module_shutdown(void) {
    for (int64_t i = 0; i < row_count; i++) value_clear(&rows[i].module);
    tsr_free(rows);
    rows = NULL;
    row_count = row_capacity = 0;
}
