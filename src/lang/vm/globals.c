/* globals.c: the table of globals, and what bare names mean that are not set.
 *
 * A global's number is its slot in a table of reserved address space, which is touched as names come and never moves:
 * code holds numbers, not pointers into a dict. A name that is not set is looked up once among the builtins, then by
 * the hook for bare names (torch's, files given on the command line), and what it meant is kept by its number until
 * something sets it. */
#include "globals_dict.h"
#include "lang/object/hint.h"
#include "frame.h"

#include <string.h>
#include <sys/mman.h>

#if defined(__SANITIZE_ADDRESS__)
#include <sanitizer/lsan_interface.h>
/* What names hold when the process ends and nothing is undone (Ctrl-C, the time limit) is held, and no leak. The leak
 * checker looks into mappings that it is told of. */
#define SHOW_TO_LEAK_CHECKER(table, size) __lsan_register_root_region(table, size)
#define HIDE_FROM_LEAK_CHECKER(table, size) __lsan_unregister_root_region(table, size)
#else
#define SHOW_TO_LEAK_CHECKER(table, size) ((void)0)
#define HIDE_FROM_LEAK_CHECKER(table, size) ((void)0)
#endif

TsrStatus (*vm_bare_name)(Value *lent, Str *name);
void (*vm_bare_names)(void (*visit)(const char *name, void *context), void *context);

/* The table is address space that is touched as names come: slots never move. */
enum { TABLE_SLOTS = FAR_GLOBALS + MAX_GLOBALS };

TsrStatus globals_startup(void) {
    void *table = mmap(NULL, (size_t)TABLE_SLOTS * sizeof(Value), PROT_READ | PROT_WRITE,
                       MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (table == MAP_FAILED) return mem_error();
    SHOW_TO_LEAK_CHECKER(table, (size_t)TABLE_SLOTS * sizeof(Value));
    vm.globals = table;
    vm.program = dict_new_raw();
    vm.global_numbers = dict_new_raw();
    if (vm.program == NULL || vm.global_numbers == NULL) return TSR_MEMORY_ERROR;
    Value builtins, name;
    TSR_TRY(module_new(&builtins, "builtins", "The builtin functions and types."));
    vm.builtins = value_as_module(builtins);
    TSR_TRY(str_new_c(&name, "__main__"));
    return vm_describe_program_move("__name__", name);
}

TsrStatus vm_describe_program_move(const char *name, Value v) { return dict_set_c_move(vm.program, name, v); }

void globals_shutdown(void) {
    if (vm.globals == NULL) return;
    for (int64_t n = 0; n < vm.global_count; n++) value_release(vm.builtin_cache[n]);
    obj_xrelease(vm.builtins);
    obj_xrelease(vm.program);
    obj_xrelease(vm.global_numbers);
    tsr_free(vm.builtin_cache);
    tsr_free(vm.global_names);
    HIDE_FROM_LEAK_CHECKER(vm.globals, (size_t)TABLE_SLOTS * sizeof(Value));
    munmap(vm.globals, (size_t)TABLE_SLOTS * sizeof(Value));
    vm = (Vm){0};
}

Module *vm_builtins(void) { return vm.builtins; }

TsrStatus vm_find_builtin(Value *out, const char *name) {
    Str *s = str_intern_c(name);
    return s != NULL ? module_find(out, vm.builtins, s) : TSR_MEMORY_ERROR;
}

bool vm_is_builtin(const char *name) {
    Value v;
    TsrStatus status = vm_find_builtin(&v, name);
    if (status != TSR_OK) exc_discard(status);
    else value_release(v);
    return status == TSR_OK && v.tag != V_UNBOUND;
}

static TsrStatus number_of(int *out, Str *name) {
    const Value *found = dict_find_str(vm.global_numbers, name);
    if (found != NULL) {
        *out = (int)found->i;
        return TSR_OK;
    }
    if (vm.global_count >= MAX_GLOBALS) return mem_error();
    TSR_TRY(mem_grow(&vm.global_names, &vm.global_capacity, vm.global_count + 1, sizeof *vm.global_names));
    TSR_TRY(mem_grow(&vm.builtin_cache, &vm.cache_capacity, vm.global_count + 1, sizeof *vm.builtin_cache));
    TSR_TRY(dict_set_str(vm.global_numbers, name, value_int(vm.global_count)));
    vm.builtin_cache[vm.global_count] = VALUE_UNBOUND;
    vm.global_names[vm.global_count] = name;
    *out = (int)vm.global_count++;
    return TSR_OK;
}

TsrStatus globals_index(int *out, const char *name) {
    Str *s = str_intern_c(name);
    int number;
    if (s == NULL) return TSR_MEMORY_ERROR;
    TSR_TRY(number_of(&number, s));
    *out = globals_slot(number);
    return TSR_OK;
}

/* Fills the cache entry of a name; it stays V_UNBOUND when the name means nothing. */
static TsrStatus resolve(int number) {
    Value *cached = &vm.builtin_cache[number];
    if (cached->tag != V_UNBOUND) return TSR_OK;
    Str *name = vm.global_names[number];
    const Value *found = dict_find_str(vm.program, name);
    Value v = found != NULL ? value_retain(*found) : VALUE_UNBOUND;
    if (found == NULL) TSR_TRY(module_find(&v, vm.builtins, name));
    if (v.tag != V_UNBOUND) {
        vm.builtin_cache[number] = v;
        return TSR_OK;
    }
    if (vm_bare_name != NULL) TSR_TRY(vm_bare_name(&v, name));
    if (v.tag == V_UNBOUND && str_equal_c(name, "math")) return module_import(&vm.builtin_cache[number], "math");
    vm.builtin_cache[number] = value_retain(v);
    return TSR_OK;
}

static void consider(const char *name, void *search) { hint_consider(search, name); }

static TsrStatus not_defined(const Str *name) {
    char home[128];
    bool elsewhere = !module_known(name->data) &&
                     hint_home(home, sizeof home, name->data) != NULL; /* which may raise errors of its own */
    tsr_error(TSR_NAME_ERROR, "name '%s' is not defined", name->data);
    if (module_known(name->data)) {
        tsr_error_hint("import %s first", name->data);
        return TSR_NAME_ERROR;
    }
    HintSearch search = hint_begin(name->data);
    vm_each_visible_name(consider, &search);
    if (elsewhere) tsr_error_hint("%s", home);
    else if (search.best != NULL) tsr_error_hint("did you mean '%s'?", search.best);
    return TSR_NAME_ERROR;
}

const Value *globals_builtin(int number) {
    const Value *cached = &vm.builtin_cache[number];
    if (cached->tag != V_UNBOUND) return cached;
    if (resolve(number) != TSR_OK) return NULL;
    cached = &vm.builtin_cache[number]; /* resolving may have moved the table, and so may looking for a hint */
    if (cached->tag != V_UNBOUND) return cached;
    not_defined(vm.global_names[number]);
    return NULL;
}

const Value *globals_named(const char *name) {
    int slot;
    if (globals_index(&slot, name) != TSR_OK) return NULL;
    const Value *set = &vm.globals[slot];
    return set->tag != V_UNBOUND ? set : globals_builtin(globals_number(slot));
}

TsrStatus globals_set_last(Value v) {
    Str *name = str_intern_c("_");
    int number;
    if (name == NULL) return TSR_MEMORY_ERROR;
    TSR_TRY(number_of(&number, name));
    value_set_move(&vm.builtin_cache[number], value_retain(v));
    return TSR_OK;
}

const Value *globals_last(void) {
    const Value *number = dict_find_c(vm.global_numbers, "_");
    return number != NULL ? &vm.builtin_cache[number->i] : NULL;
}

/* --- by name, for others --- */

static Value *slot_named(const char *name) {
    const Value *found = dict_find_c(vm.global_numbers, name);
    return found == NULL ? NULL : &vm.globals[globals_slot((int)found->i)];
}

Value globals_get(const char *name) {
    const Value *slot = slot_named(name);
    return slot == NULL ? VALUE_UNBOUND : *slot;
}

Value globals_resolve(const char *name) {
    Value v = globals_get(name);
    Str *s = str_intern_c(name);
    int number;
    if (v.tag != V_UNBOUND || s == NULL || number_of(&number, s) != TSR_OK || resolve(number) != TSR_OK) {
        tsr_error_clear();
        return v;
    }
    return vm.builtin_cache[number];
}

TsrStatus globals_set(const char *name, Value v) {
    int slot;
    TSR_TRY(globals_index(&slot, name));
    value_set_move(&vm.globals[slot], value_retain(v));
    return TSR_OK;
}

void globals_delete(const char *name) {
    Value *slot = slot_named(name);
    if (slot != NULL) value_clear(slot);
}

int globals_count(void) { return (int)vm.global_count; }

Value globals_at(int i, Str **name) {
    *name = i >= 0 && i < vm.global_count ? vm.global_names[i] : NULL;
    return *name == NULL ? VALUE_UNBOUND : vm.globals[globals_slot(i)];
}

void vm_each_builtin(void (*visit)(const char *name, void *context), void *context) {
    Value names;
    TsrStatus status = value_dir(&names, value_lent(vm.builtins));
    if (status != TSR_OK) {
        exc_discard(status);
        return;
    }
    const List *list = value_as_list(names);
    for (int64_t i = 0; i < list->count; i++) visit(value_as_str(list->items[i])->data, context);
    value_release(names);
}

void vm_each_visible_name(void (*visit)(const char *name, void *context), void *context) {
    const Frame *f = vm.frame;
    for (int k = 0; f != NULL && k < f->code->slot_count; k++) {
        if (f->base[f->code->first_slot + k].tag != V_UNBOUND) visit(f->code->slot_names[k], context);
    }
    for (int k = 0; f != NULL && k < f->code->capture_count; k++) visit(f->code->captures[k].name, context);
    for (int n = 0; n < vm.global_count; n++) {
        if (vm.globals[globals_slot(n)].tag != V_UNBOUND) visit(vm.global_names[n]->data, context);
    }
    const DictEntry *entry;
    for (int64_t position = 0; (entry = dict_next(vm.program, &position)) != NULL;)
        visit(value_as_str(entry->key)->data, context);
    vm_each_builtin(visit, context);
    if (vm_bare_names != NULL) vm_bare_names(visit, context);
}

/* from module import *: every name without a leading underscore, or what __all__ lists. */
TsrStatus import_star(Value module) {
    Value names, v;
    TSR_TRY(value_dir(&names, module));
    TsrStatus status = TSR_OK;
    for (int64_t k = 0; k < value_as_list(names)->count && status == TSR_OK; k++) {
        Str *name = value_as_str(value_as_list(names)->items[k]);
        if (name->data[0] == '_') continue;
        name = str_interned(name);
        if (name == NULL) status = TSR_MEMORY_ERROR;
        else status = value_lookup_attr(&v, module, name);
        if (status != TSR_OK || v.tag == V_UNBOUND) continue;
        status = globals_set(name->data, v);
        value_release(v);
    }
    value_release(names);
    return status;
}

TsrStatus vm_new_globals(Value *out) { return globals_dict_new(out); }

static TsrStatus add_local(Dict *into, const char *name, Value v) {
    if (value_is_obj(v, &cell_type)) v = value_as_cell(v)->value;
    return v.tag == V_UNBOUND || name[0] == '.' || name[0] == '\0' ? TSR_OK : dict_set_c(into, name, v);
}

TsrStatus vm_new_locals(Value *out) {
    const Frame *f = vm.frame;
    if (f == NULL || (f->code->flags & CODE_MODULE)) return vm_new_globals(out);
    TSR_TRY(dict_new(out));
    TsrStatus status = TSR_OK;
    for (int k = 0; k < f->code->slot_count && status == TSR_OK; k++)
        status = add_local(value_as_dict(*out), f->code->slot_names[k], f->base[k]);
    for (int k = 0; k < f->code->capture_count && status == TSR_OK; k++)
        status = add_local(value_as_dict(*out), f->code->captures[k].name, f->fn->cells[k]->value);
    if (status != TSR_OK) value_clear(out);
    return status;
}
