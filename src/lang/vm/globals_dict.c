/* globals_dict.c: what globals() gives: a dict that is made to say what the global names are before it is asked, and
 * whose changes become theirs. */
#include "globals_dict.h"

#include "lang/types/collections.h"
#include "lang/types/sequences.h"
#include "lang/types/str.h"
#include "vm.h"

static Dict *dict_of(Value v) { return value_as_dict(v); }

/* Only what differs is written: whoever goes over the dict goes on. */
static TsrStatus take_names(Dict *d) {
    for (int i = 0; i < globals_count(); i++) {
        Str *name;
        Value v = globals_at(i, &name), *found = dict_find_str(d, name);
        if (v.tag == V_UNBOUND) (void)dict_remove_str(d, name);
        else if (found == NULL || !value_is_same(*found, v)) TSR_TRY(dict_set_str(d, name, v));
    }
    return TSR_OK;
}

static TsrStatus give_names(const Dict *d) {
    int64_t position = 0;
    for (int i = 0; i < globals_count(); i++) {
        Str *name;
        Value v = globals_at(i, &name);
        if (v.tag != V_UNBOUND && dict_find_str(d, name) == NULL) globals_delete(name->data);
    }
    for (DictEntry *e; (e = dict_next(d, &position)) != NULL;) {
        const char *name = value_is_str(e->key) ? value_as_str(e->key)->data : NULL;
        if (name != NULL && !value_is_same(globals_get(name), e->value)) TSR_TRY(globals_set(name, e->value));
    }
    return TSR_OK;
}

/* ---- slots ---- */

static TsrStatus get_item(Value *out, Value self, Value key) {
    TSR_TRY(take_names(dict_of(self)));
    return dict_type.get_item(out, self, key);
}

static TsrStatus set_item(Value self, Value key, Value v) {
    TSR_TRY(take_names(dict_of(self)));
    TSR_TRY(dict_type.set_item(self, key, v));
    return give_names(dict_of(self));
}

static TsrStatus del_item(Value self, Value key) {
    TSR_TRY(take_names(dict_of(self)));
    TSR_TRY(dict_type.del_item(self, key));
    return give_names(dict_of(self));
}

static TsrStatus contains(bool *out, Value self, Value key) {
    TSR_TRY(take_names(dict_of(self)));
    return dict_type.contains(out, self, key);
}

static TsrStatus length(int64_t *out, Value self) {
    TSR_TRY(take_names(dict_of(self)));
    return dict_type.length(out, self);
}

static TsrStatus iter(Value *out, Value self) {
    TSR_TRY(take_names(dict_of(self)));
    return dict_type.iter(out, self);
}

static TsrStatus repr(TsrText *out, Value self) {
    TSR_TRY(take_names(dict_of(self)));
    return dict_type.repr(out, self);
}

static TsrStatus inplace(Value *out, BinaryOp op, Value self, Value b) {
    TSR_TRY(take_names(dict_of(self)));
    TSR_TRY(dict_type.inplace(out, op, self, b));
    TsrStatus status = give_names(dict_of(self));
    return status == TSR_OK ? TSR_OK : value_end_move(out, status, *out);
}

/* ---- methods: the dict's own, between taking and giving ---- */

static TsrStatus call_method(Value *out, const char *name, const CallArgs *args) {
    Value f;
    Str *interned = str_intern_c(name);
    Dict *d = dict_of(args->values[0]);
    if (interned == NULL) return TSR_MEMORY_ERROR;
    TSR_TRY(take_names(d));
    TSR_TRY(value_getattr(&f, value_lent(&dict_type), interned));
    TsrStatus status = value_call(out, f, args);
    value_release(f);
    TSR_TRY(status);
    status = give_names(d);
    return status == TSR_OK ? TSR_OK : value_end_move(out, status, *out);
}

#define METHOD(name) \
    static TsrStatus method_##name(Value *out, const CallArgs *args) { return call_method(out, #name, args); }
METHOD(get)
METHOD(keys)
METHOD(values)
METHOD(items)
METHOD(setdefault)
METHOD(pop)
METHOD(popitem)
METHOD(update)
METHOD(clear)
METHOD(copy)

static const Method methods[] = {
    {"get", method_get, ARGS_RANGE, 1, 2, "(key, default=None, /)", "The value of the name, or the default."},
    {"keys", method_keys, ARGS_NONE, 0, 0, "()", "A view of the names."},
    {"values", method_values, ARGS_NONE, 0, 0, "()", "A view of the values."},
    {"items", method_items, ARGS_NONE, 0, 0, "()", "A view of the (name, value) pairs."},
    {"setdefault", method_setdefault, ARGS_RANGE, 1, 2, "(key, default=None, /)",
     "The value of the name, set to the default first if it is missing."},
    {"pop", method_pop, ARGS_RANGE, 1, 2, "(key[, default], /)", "Removes the name and gives its value."},
    {"popitem", method_popitem, ARGS_NONE, 0, 0, "()", "Removes and gives the last (name, value) pair."},
    {"update", method_update, ARGS_ANY, 0, 0, "([mapping or pairs], **names)", "Sets every name of the argument."},
    {"clear", method_clear, ARGS_NONE, 0, 0, "()", "Removes every name."},
    {"copy", method_copy, ARGS_NONE, 0, 0, "()", "A dict of its own, which is not the names'."},
    {0},
};

static Type globals_dict_type = {.obj = TYPE_HEADER,
                                 .name = "dict",
                                 .base = &dict_type,
                                 .doc = "The global names and what they hold.",
                                 .repr = repr,
                                 .length = length,
                                 .get_item = get_item,
                                 .set_item = set_item,
                                 .del_item = del_item,
                                 .contains = contains,
                                 .iter = iter,
                                 .inplace = inplace,
                                 .methods = methods};

TsrStatus globals_dict_new(Value *out) {
    if (globals_dict_type.destroy == NULL) type_inherit(&globals_dict_type);
    TSR_TRY(dict_kind_new(out, &globals_dict_type, sizeof(Dict)));
    TsrStatus status = take_names(dict_of(*out));
    return status == TSR_OK ? TSR_OK : value_end_move(out, status, *out);
}
