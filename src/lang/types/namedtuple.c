/* namedtuple.c: namedtuple of Python's collections: kinds of tuple made at run time, whose fields have names. */
#include "lang/object/args.h"
#include "collections.h"
#include "lang/object/exc.h"
#include "lang/object/native.h"
#include "lang/syntax/lexer.h"
#include "sequences.h"
#include "str.h"
#include "lang/object/value_impl.h"

#include <string.h>

typedef struct NamedTuple {
    Type type;
    Value fields;   /* a tuple of interned str; owned */
    Value defaults; /* of the last fields, a tuple; owned */
    char *doc;      /* "Point(x, y)"; owned */
    struct NamedTuple *next;
} NamedTuple;
static NamedTuple *types;

static const Tuple *fields_of(const NamedTuple *t) { return value_as_tuple(t->fields); }
static int64_t required(const NamedTuple *t) { return fields_of(t)->count - value_as_tuple(t->defaults)->count; }
static const NamedTuple *kind_of(Value v) { return (const NamedTuple *)v.o->type; }
static const Str *field_name(const NamedTuple *t, int64_t i) { return value_as_str(fields_of(t)->items[i]); }

static int64_t field_named(const NamedTuple *t, const Str *name) {
    for (int64_t i = 0; i < fields_of(t)->count; i++) {
        if (str_equal(field_name(t, i), name)) return i;
    }
    return -1;
}

/* --- making one: Point(1, y=2), with the words of a Python function that takes the class first --- */

static TsrStatus too_many(const NamedTuple *t, int given) {
    long long most = (long long)fields_of(t)->count + 1, least = (long long)required(t) + 1;
    if (least < most) {
        return tsr_error(TSR_TYPE_ERROR, "%s.__new__() takes from %lld to %lld positional arguments but %d were given",
                         t->type.name, least, most, given + 1);
    }
    return tsr_error(TSR_TYPE_ERROR, "%s.__new__() takes %lld positional argument%s but %d were given", t->type.name,
                     most, most == 1 ? "" : "s", given + 1);
}

static TsrStatus absent(const NamedTuple *t, const Value *values) {
    TsrText text = {0};
    TsrStatus status = TSR_OK;
    int count = 0, named = 0;
    for (int64_t i = 0; i < required(t); i++) count += values[i].tag == V_UNBOUND;
    for (int64_t i = 0; i < required(t) && status == TSR_OK; i++) {
        if (values[i].tag != V_UNBOUND) continue;
        if (named > 0) status = tsr_text_puts(&text, named + 1 < count ? ", " : count == 2 ? " and " : ", and ");
        if (status == TSR_OK) status = tsr_text_printf(&text, "'%s'", field_name(t, i)->data);
        named++;
    }
    if (status == TSR_OK) {
        status = tsr_error(TSR_TYPE_ERROR, "%s.__new__() missing %d required positional argument%s: %s", t->type.name,
                           count, count == 1 ? "" : "s", text.data);
    }
    tsr_text_free(&text);
    return status;
}

static TsrStatus set_keywords(const NamedTuple *t, Value *values, const CallArgs *args) {
    for (int k = 0; k < args->keyword_count; k++) {
        int64_t i = field_named(t, args->names[k]);
        if (i < 0)
            return tsr_error(TSR_TYPE_ERROR, "%s.__new__() got an unexpected keyword argument '%s'", t->type.name,
                             args->names[k]->data);
        if (values[i].tag != V_UNBOUND)
            return tsr_error(TSR_TYPE_ERROR, "%s.__new__() got multiple values for argument '%s'", t->type.name,
                             args->names[k]->data);
        values[i] = args->values[args->count + k];
    }
    return TSR_OK;
}

/* values[0..fields) get what the call gives, lent. */
static TsrStatus bind(const NamedTuple *t, Value *values, const CallArgs *args) {
    int64_t count = fields_of(t)->count;
    for (int64_t i = 0; i < count; i++) values[i] = i < args->count ? args->values[i] : VALUE_UNBOUND;
    TSR_TRY(set_keywords(t, values, args));
    if (args->count > count) return too_many(t, args->count);
    for (int64_t i = 0; i < count; i++) {
        if (values[i].tag != V_UNBOUND) continue;
        if (i < required(t)) return absent(t, values);
        values[i] = value_as_tuple(t->defaults)->items[i - required(t)];
    }
    return TSR_OK;
}

static TsrStatus named_construct(Value *out, Type *type, const CallArgs *args) {
    const NamedTuple *t = (const NamedTuple *)type;
    int64_t count = fields_of(t)->count;
    Value *values = tsr_malloc(sizeof *values * (size_t)(count + 1));
    if (values == NULL) return mem_error();
    TsrStatus status = bind(t, values, args);
    if (status == TSR_OK) status = tuple_new_typed(out, type, values, count);
    tsr_free(values);
    return status;
}

/* --- slots and methods --- */

static TsrStatus named_repr(TsrText *out, Value self) {
    const NamedTuple *t = kind_of(self);
    TsrStatus status = tsr_text_printf(out, "%s(", t->type.name);
    for (int64_t i = 0; i < fields_of(t)->count && status == TSR_OK; i++) {
        status = tsr_text_printf(out, "%s%s=", i > 0 ? ", " : "", field_name(t, i)->data);
        if (status == TSR_OK) status = value_repr(out, value_as_tuple(self)->items[i]);
    }
    return status == TSR_OK ? tsr_text_putc(out, ')') : status;
}

static TsrStatus named_get_attr(Value *out, Value self, Str *name) {
    int64_t i = field_named(kind_of(self), name);
    *out = i >= 0 ? value_retain(value_as_tuple(self)->items[i]) : VALUE_UNBOUND;
    return TSR_OK;
}

static TsrStatus named_set_attr(Value self, Str *name, Value value) {
    (void)value;
    if (field_named(kind_of(self), name) >= 0) return tsr_error(TSR_ATTRIBUTE_ERROR, "can't set attribute");
    return tsr_error(TSR_ATTRIBUTE_ERROR, "'%s' object has no attribute '%s'", value_type_name(self), name->data);
}

static TsrStatus named_dir(List *names, Value self) {
    const Tuple *fields = fields_of(kind_of(self));
    for (int64_t i = 0; i < fields->count; i++) TSR_TRY(list_append(names, fields->items[i]));
    return TSR_OK;
}

static TsrStatus defaults_dict(Value *out, const NamedTuple *t) {
    Value made;
    TSR_TRY(dict_new(&made));
    TsrStatus status = TSR_OK;
    const Tuple *defaults = value_as_tuple(t->defaults);
    for (int64_t i = 0; i < defaults->count && status == TSR_OK; i++) {
        status = dict_set(value_as_dict(made), fields_of(t)->items[required(t) + i], defaults->items[i]);
    }
    return value_end_move(out, status, made);
}

/* What the class itself has besides its methods: _fields and _field_defaults. */
static TsrStatus named_lookup(Value *out, Type *type, Str *name) {
    const NamedTuple *t = (const NamedTuple *)type;
    *out = VALUE_UNBOUND;
    if (str_equal_c(name, "_fields")) *out = value_retain(t->fields);
    if (str_equal_c(name, "_field_defaults")) return defaults_dict(out, t);
    return TSR_OK;
}

static TsrStatus named_make(Value *out, const CallArgs *args) {
    Type *type = (Type *)args->values[0].o;
    int64_t wanted = fields_of((const NamedTuple *)type)->count;
    Value list;
    TSR_TRY(list_new_iterable(&list, args->values[1]));
    const List *l = value_as_list(list);
    TsrStatus status = l->count == wanted ? tuple_new_typed(out, type, l->items, l->count)
                                          : tsr_error(TSR_TYPE_ERROR, "Expected %lld arguments, got %lld",
                                                      (long long)wanted, (long long)l->count);
    value_release(list);
    return status;
}

static TsrStatus named_asdict(Value *out, const CallArgs *args) {
    const Tuple *fields = fields_of(kind_of(args->values[0])), *self = value_as_tuple(args->values[0]);
    Value made;
    TSR_TRY(dict_new(&made));
    TsrStatus status = TSR_OK;
    for (int64_t i = 0; i < fields->count && status == TSR_OK; i++)
        status = dict_set(value_as_dict(made), fields->items[i], self->items[i]);
    return value_end_move(out, status, made);
}

static TsrStatus unexpected_fields(const NamedTuple *t, const CallArgs *args) {
    Value list;
    TsrText text = {0};
    TSR_TRY(list_new(&list, args->keyword_count));
    TsrStatus status = TSR_OK;
    for (int k = 0; k < args->keyword_count && status == TSR_OK; k++) {
        if (field_named(t, args->names[k]) < 0) status = list_append(value_as_list(list), value_lent(args->names[k]));
    }
    if (status == TSR_OK) status = value_repr(&text, list);
    if (status == TSR_OK) status = tsr_error(TSR_VALUE_ERROR, "Got unexpected field names: %s", text.data);
    tsr_text_free(&text);
    value_release(list);
    return status;
}

static TsrStatus named_replace(Value *out, const CallArgs *args) {
    Value self = args->values[0];
    const NamedTuple *t = kind_of(self);
    Value list;
    if (args->count > 1) {
        return tsr_error(TSR_TYPE_ERROR, "%s._replace() takes 1 positional argument but %d were given", t->type.name,
                         args->count);
    }
    TSR_TRY(list_new_iterable(&list, self));
    TsrStatus status = TSR_OK;
    for (int k = 0; k < args->keyword_count && status == TSR_OK; k++) {
        int64_t i = field_named(t, args->names[k]);
        if (i < 0) status = unexpected_fields(t, args);
        else value_set_move(&value_as_list(list)->items[i], value_retain(args->values[args->count + k]));
    }
    if (status == TSR_OK)
        status = tuple_new_typed(out, self.o->type, value_as_list(list)->items, value_as_list(list)->count);
    value_release(list);
    return status;
}

static const Method methods[] = {
    {"_make", named_make, ARGS_ONE | METHOD_CLASS, 1, 1, "(iterable)", "One made of the items of an iterable."},
    {"_asdict", named_asdict, ARGS_NONE, 0, 0, "()", "A dict of the fields."},
    {"_replace", named_replace, ARGS_ANY, 0, 0, "(**fields)", "One with some fields replaced."},
    {0},
};

/* --- namedtuple() --- */

static TsrStatus list_of_names(Value *out, Value given) {
    Value spaced, comma, space;
    if (!value_is_str(given)) return list_new_iterable(out, given);
    TSR_TRY(str_new_c(&comma, ","));
    TsrStatus status = str_new_c(&space, " ");
    if (status == TSR_OK) {
        status = value_call_method(&spaced, given, "replace", 2, (Value[]){comma, space});
        value_release(space);
    }
    value_release(comma);
    TSR_TRY(status);
    status = value_call_method(out, spaced, "split", 0, NULL);
    value_release(spaced);
    return status;
}

static TsrStatus is_identifier(bool *out, Value name) {
    Value answer;
    TSR_TRY(value_call_method(&answer, name, "isidentifier", 0, NULL));
    *out = answer.b;
    return TSR_OK;
}

static bool seen_before(const List *l, int64_t i) {
    for (int64_t k = 0; k < i; k++) {
        if (str_equal(value_as_str(l->items[k]), value_as_str(l->items[i]))) return true;
    }
    return false;
}

/* rename=True: what can't be a field is called _ and its number. */
static TsrStatus rename_fields(List *l) {
    for (int64_t i = 0; i < l->count; i++) {
        bool identifier;
        const Str *name = value_as_str(l->items[i]);
        TSR_TRY(is_identifier(&identifier, l->items[i]));
        if (identifier && !lexer_is_keyword(name->data, (size_t)name->size) && name->data[0] != '_' &&
            !seen_before(l, i))
            continue;
        Value made;
        TSR_TRY(str_new_format(&made, "_%lld", (long long)i));
        value_set_move(&l->items[i], made);
    }
    return TSR_OK;
}

static TsrStatus check_name(Value name) {
    bool identifier;
    TsrText text = {0};
    TSR_TRY(is_identifier(&identifier, name));
    bool keyword = lexer_is_keyword(value_as_str(name)->data, (size_t)value_as_str(name)->size);
    if (identifier && !keyword) return TSR_OK;
    TsrStatus status = value_repr(&text, name);
    if (status == TSR_OK)
        status = tsr_error(TSR_VALUE_ERROR, "Type names and field names %s: %s",
                           identifier ? "cannot be a keyword" : "must be valid identifiers", text.data);
    tsr_text_free(&text);
    return status;
}

static TsrStatus check_fields(const List *l, bool renamed) {
    for (int64_t i = 0; i < l->count; i++) TSR_TRY(check_name(l->items[i]));
    for (int64_t i = 0; i < l->count; i++) {
        const Str *name = value_as_str(l->items[i]);
        if (name->data[0] == '_' && !renamed)
            return tsr_error(TSR_VALUE_ERROR, "Field names cannot start with an underscore: '%s'", name->data);
        if (seen_before(l, i)) return tsr_error(TSR_VALUE_ERROR, "Encountered duplicate field name: '%s'", name->data);
    }
    return TSR_OK;
}

/* Every name as an interned str. */
static TsrStatus intern_all(List *l) {
    for (int64_t i = 0; i < l->count; i++) {
        Value text;
        TSR_TRY(value_new_str(&text, l->items[i]));
        Str *name = str_intern(value_as_str(text)->data, value_as_str(text)->size);
        value_release(text);
        if (name == NULL) return mem_error();
        value_set_move(&l->items[i], value_retain(value_lent(name)));
    }
    return TSR_OK;
}

static TsrStatus write_doc(TsrText *out, const Str *name, const Tuple *fields) {
    TSR_TRY(tsr_text_printf(out, "%s(", name->data));
    for (int64_t i = 0; i < fields->count; i++)
        TSR_TRY(tsr_text_printf(out, "%s%s", i > 0 ? ", " : "", value_as_str(fields->items[i])->data));
    return tsr_text_putc(out, ')');
}

/* Whether two tuples have the same items: texts by their characters, all else by identity. */
static bool same_items(const Tuple *a, const Tuple *b) {
    bool same = a->count == b->count;
    for (int64_t i = 0; same && i < a->count; i++) {
        bool texts = value_is_str(a->items[i]) && value_is_str(b->items[i]);
        same = texts ? str_equal(value_as_str(a->items[i]), value_as_str(b->items[i]))
                     : value_is_same(a->items[i], b->items[i]);
    }
    return same;
}

/* The type, lent. The names are interned and so live until shutdown; fields and defaults are tuples, retained. */
static TsrStatus type_for(Type **lent, Str *name, const char *module, Value fields, Value defaults) {
    for (NamedTuple *t = types; t != NULL; t = t->next) {
        if (strcmp(t->type.name, name->data) != 0 || strcmp(t->type.module, module) != 0 ||
            !same_items(fields_of(t), value_as_tuple(fields)))
            continue;
        if (!same_items(value_as_tuple(t->defaults), value_as_tuple(defaults))) continue;
        *lent = &t->type;
        return TSR_OK;
    }
    TsrText doc = {0};
    TSR_TRY(write_doc(&doc, name, value_as_tuple(fields)));
    NamedTuple *t = tsr_calloc(1, sizeof *t);
    if (t == NULL) {
        tsr_text_free(&doc);
        return mem_error();
    }
    type_derive(&t->type, &tuple_type, name->data, module);
    t->doc = doc.data;
    t->type.doc = t->doc;
    t->type.construct = named_construct;
    t->type.repr = named_repr;
    t->type.get_attr = named_get_attr;
    t->type.set_attr = named_set_attr;
    t->type.lookup = named_lookup;
    t->type.dir = named_dir;
    t->type.methods = methods;
    t->fields = value_retain(fields);
    t->defaults = value_retain(defaults);
    t->next = types;
    types = t;
    *lent = &t->type;
    return TSR_OK;
}

static TsrStatus take_names(List *l, Value name, Value rename) {
    bool renamed = false;
    TSR_TRY(intern_all(l));
    if (rename.tag != V_UNBOUND) TSR_TRY(value_truth(&renamed, rename));
    if (renamed) TSR_TRY(rename_fields(l));
    if (renamed) TSR_TRY(intern_all(l));
    TSR_TRY(check_name(name));
    return check_fields(l, renamed);
}

static TsrStatus module_name(const char **lent, Value given) {
    *lent = "__main__";
    if (given.tag == V_UNBOUND || !value_is_str(given)) return TSR_OK;
    const Str *name = str_intern(value_as_str(given)->data, value_as_str(given)->size);
    if (name == NULL) return mem_error();
    *lent = name->data;
    return TSR_OK;
}

static TsrStatus make_type(Value *out, Str *name, const char *module, const List *names, Value given_defaults) {
    Value fields, defaults;
    Type *type;
    bool none = given_defaults.tag == V_UNBOUND || value_is_none(given_defaults);
    TSR_TRY(none ? tuple_new(&defaults, NULL, 0) : tuple_new_iterable(&defaults, given_defaults));
    TsrStatus status = tuple_new(&fields, names->items, names->count);
    if (status == TSR_OK) {
        bool fits = value_as_tuple(defaults)->count <= names->count;
        status = fits ? type_for(&type, name, module, fields, defaults)
                      : tsr_error(TSR_TYPE_ERROR, "Got more default values than field names");
        value_release(fields);
    }
    value_release(defaults);
    if (status == TSR_OK) *out = value_retain(value_lent(type));
    return status;
}

TsrStatus namedtuple_function(Value *out, const CallArgs *args) {
    static const char *const names[] = {"typename", "field_names", "rename", "defaults", "module"};
    static const ArgSpec spec = {"namedtuple", names, 5, 0, 2, 2};
    Value given[5], list, text;
    const char *module;
    TSR_TRY(args_parse(given, args, 0, &spec));
    TSR_TRY(module_name(&module, given[4]));
    TSR_TRY(value_new_str(&text, given[0]));
    Str *name = str_intern(value_as_str(text)->data, value_as_str(text)->size);
    value_release(text);
    if (name == NULL) return mem_error();
    TSR_TRY(list_of_names(&list, given[1]));
    TsrStatus status = take_names(value_as_list(list), value_lent(name), given[2]);
    if (status == TSR_OK) status = make_type(out, name, module, value_as_list(list), given[3]);
    value_release(list);
    return status;
}

TsrStatus namedtuple_new_type(Value *out, const char *name, const char *fields, const char *module, int optional) {
    Value given[4] = {VALUE_UNBOUND, VALUE_UNBOUND, VALUE_UNBOUND, VALUE_UNBOUND};
    Str *names[] = {str_intern_c("defaults"), str_intern_c("module")};
    if (names[0] == NULL || names[1] == NULL) return mem_error();
    TsrStatus status = str_new_c(&given[0], name);
    if (status == TSR_OK) status = str_new_c(&given[1], fields);
    if (status == TSR_OK) status = tuple_new_raw(&given[2], optional);
    for (int i = 0; status == TSR_OK && i < optional; i++) value_as_tuple(given[2])->items[i] = VALUE_NONE;
    if (status == TSR_OK) status = str_new_c(&given[3], module);
    CallArgs args = {.values = given, .count = 2, .keyword_count = 2, .names = names};
    if (status == TSR_OK) status = namedtuple_function(out, &args);
    values_release(given, 4);
    return status;
}

void namedtuple_shutdown(void) {
    while (types != NULL) {
        NamedTuple *t = types;
        types = t->next;
        value_release(t->fields);
        value_release(t->defaults);
        tsr_free(t->doc);
        tsr_free(t);
    }
}
