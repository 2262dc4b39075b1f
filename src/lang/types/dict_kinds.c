/* dict_kinds.c: OrderedDict and defaultdict of Python's collections: dicts with a few slots of their own. */
#include "lang/object/args.h"
#include "collections.h"
#include "lang/object/exc.h"
#include "sequences.h"
#include "str.h"

TsrStatus dict_kind_new(Value *out, Type *type, size_t size) {
    Dict *d = obj_new(type, size);
    if (d == NULL) return mem_error();
    gc_track(d);
    *out = value_obj_move(d);
    return TSR_OK;
}

/* --- OrderedDict --- */

typedef struct OrderedDict {
    Dict dict;
    Dict *attributes; /* what was set on it (sd._metadata); NULL: nothing was */
} OrderedDict;

static OrderedDict *as_ordered(Value v) { return (OrderedDict *)v.o; }
Dict *ordered_dict_attributes(Value dict) { return as_ordered(dict)->attributes; }

void ordered_dict_set_attributes(Value dict, Dict *attributes) {
    Dict *before = as_ordered(dict)->attributes;
    as_ordered(dict)->attributes = attributes != NULL ? obj_retain(attributes) : NULL;
    obj_xrelease(before);
}

static void ordered_destroy(Obj *self) {
    obj_xrelease(((OrderedDict *)self)->attributes);
    dict_clear((Dict *)self);
    obj_free(self, sizeof(OrderedDict));
}

static void ordered_traverse(Obj *self, GcVisit visit, void *context) {
    gc_visit_obj(((OrderedDict *)self)->attributes, visit, context);
    dict_type.traverse(self, visit, context);
}

static void ordered_clear(Obj *self) {
    Dict *attributes = ((OrderedDict *)self)->attributes;
    ((OrderedDict *)self)->attributes = NULL;
    obj_xrelease(attributes);
    dict_clear((Dict *)self);
}

static TsrStatus need_attributes(OrderedDict *d) {
    if (d->attributes == NULL) d->attributes = dict_new_raw();
    return d->attributes != NULL ? TSR_OK : mem_error();
}

static TsrStatus ordered_get_attr(Value *out, Value self, Str *name) {
    OrderedDict *d = as_ordered(self);
    *out = VALUE_UNBOUND;
    if (str_equal_c(name, "__dict__")) {
        TSR_TRY(need_attributes(d));
        *out = value_retain(value_lent(d->attributes));
        return TSR_OK;
    }
    Value *found = d->attributes != NULL ? dict_find_str(d->attributes, name) : NULL;
    if (found != NULL) *out = value_retain(*found);
    return TSR_OK;
}

static TsrStatus set_dict(Value self, Value v) {
    if (!value_is_dict(v))
        return tsr_error(TSR_TYPE_ERROR, "__dict__ must be set to a dictionary, not a '%s'", value_type_name(v));
    ordered_dict_set_attributes(self, value_as_dict(v));
    return TSR_OK;
}

static TsrStatus ordered_set_attr(Value self, Str *name, Value v) {
    OrderedDict *d = as_ordered(self);
    if (str_equal_c(name, "__dict__") && v.tag != V_UNBOUND) return set_dict(self, v);
    if (str_equal_c(name, "__class__"))
        return tsr_error(TSR_TYPE_ERROR, "__class__ must be set to a class, not '%s' object", value_type_name(v));
    if (v.tag != V_UNBOUND) {
        TSR_TRY(need_attributes(d));
        return dict_set_str(d->attributes, name, v);
    }
    if (d->attributes != NULL && dict_remove_str(d->attributes, name)) return TSR_OK;
    return tsr_error(TSR_ATTRIBUTE_ERROR, "'collections.OrderedDict' object has no attribute '%s'", name->data);
}

static TsrStatus ordered_of(Value *out, Value source) {
    Value made;
    TSR_TRY(dict_kind_new(&made, &ordered_dict_type, sizeof(OrderedDict)));
    return value_end_move(out, dict_update(value_as_dict(made), source), made);
}

static TsrStatus ordered_construct(Value *out, Type *type, const CallArgs *args) {
    Value made;
    if (args->count > 1) return tsr_error(TSR_TYPE_ERROR, "expected at most 1 arguments, got %d", args->count);
    TSR_TRY(dict_kind_new(&made, type, sizeof(OrderedDict)));
    return value_end_move(out, dict_update_from(value_as_dict(made), args, 0, "OrderedDict"), made);
}

static TsrStatus ordered_write(TsrText *out, const Dict *d) {
    int64_t position = 0;
    bool first = true;
    for (DictEntry *e; (e = dict_next(d, &position)) != NULL; first = false) {
        TSR_TRY(tsr_text_puts(out, first ? "(" : ", ("));
        TSR_TRY(value_repr(out, e->key));
        TSR_TRY(tsr_text_puts(out, ", "));
        TSR_TRY(value_repr(out, e->value));
        TSR_TRY(tsr_text_putc(out, ')'));
    }
    return TSR_OK;
}

static TsrStatus ordered_repr(TsrText *out, Value self) {
    ReprGuard guard;
    bool again;
    if (value_as_dict(self)->count == 0) return tsr_text_puts(out, "OrderedDict()");
    TSR_TRY(repr_enter(&guard, self.o, &again));
    if (again) return tsr_text_puts(out, "...");
    TsrStatus status = tsr_text_puts(out, "OrderedDict([");
    if (status == TSR_OK) status = ordered_write(out, value_as_dict(self));
    if (status == TSR_OK) status = tsr_text_puts(out, "])");
    repr_leave(&guard);
    return status;
}

static TsrStatus same_order(bool *out, const Dict *a, const Dict *b) {
    int64_t i = 0, j = 0;
    *out = true;
    for (DictEntry *e, *f; *out && (e = dict_next(a, &i)) != NULL && (f = dict_next(b, &j)) != NULL;)
        TSR_TRY(value_equal(out, e->key, f->key));
    return TSR_OK;
}

/* Equal to a dict as dicts are; to another OrderedDict if the order is the same too. */
static TsrStatus ordered_compare(Value *out, CompareOp op, Value a, Value b) {
    TSR_TRY(dict_type.compare(out, op, a, b));
    bool equal = out->tag == V_BOOL && out->b == (op == CMP_EQ);
    if (!equal || !value_is_obj(a, &ordered_dict_type) || !value_is_obj(b, &ordered_dict_type)) return TSR_OK;
    TSR_TRY(same_order(&equal, value_as_dict(a), value_as_dict(b)));
    *out = value_bool(equal == (op == CMP_EQ));
    return TSR_OK;
}

static TsrStatus ordered_binary(Value *out, BinaryOp op, Value a, Value b) {
    Value made;
    *out = VALUE_UNBOUND;
    if (op != OP_OR || !value_is_dict(a) || !value_is_dict(b)) return TSR_OK;
    TSR_TRY(ordered_of(&made, a));
    return value_end_move(out, dict_update(value_as_dict(made), b), made);
}

static TsrStatus last_argument(bool *last, const CallArgs *args, const ArgSpec *spec, Value *key) {
    Value given[2];
    TSR_TRY(args_parse(given, args, 1, spec));
    if (key != NULL) *key = given[0];
    Value v = given[spec->total - 1];
    *last = true;
    return v.tag != V_UNBOUND ? value_truth(last, v) : TSR_OK;
}

/* All entries but the key's move behind it: the others keep their order. */
static TsrStatus move_to_front(Dict *d, Value key, Value value) {
    Value rest;
    TSR_TRY(dict_copy(&rest, d));
    dict_clear(d);
    TsrStatus status = dict_set(d, key, value);
    if (status == TSR_OK) status = dict_update(d, rest);
    value_release(rest);
    return status;
}

static TsrStatus ordered_move_to_end(Value *out, const CallArgs *args) {
    static const char *const names[] = {"key", "last"};
    static const ArgSpec spec = {"move_to_end", names, 2, 0, 2, 1};
    Dict *d = value_as_dict(args->values[0]);
    Value key, *found, value;
    bool last, removed;
    *out = VALUE_NONE;
    TSR_TRY(last_argument(&last, args, &spec, &key));
    TSR_TRY(dict_find(&found, d, key));
    if (found == NULL) return exc_raise_value(TSR_KEY_ERROR, key);
    value = value_retain(*found);
    TsrStatus status = last ? dict_remove(&removed, d, key) : move_to_front(d, key, value);
    if (status == TSR_OK && last) status = dict_set(d, key, value);
    value_release(value);
    return status;
}

static TsrStatus empty_error(void) {
    Value text;
    TSR_TRY(str_new_c(&text, "dictionary is empty"));
    TsrStatus status = exc_raise_value(TSR_KEY_ERROR, text);
    value_release(text);
    return status;
}

static TsrStatus ordered_popitem(Value *out, const CallArgs *args) {
    static const char *const names[] = {"last"};
    static const ArgSpec spec = {"popitem", names, 1, 0, 1, 0};
    Dict *d = value_as_dict(args->values[0]);
    bool last, removed;
    int64_t position = 0;
    TSR_TRY(last_argument(&last, args, &spec, NULL));
    DictEntry *e = last ? dict_last(d) : dict_next(d, &position);
    if (e == NULL) return empty_error();
    Value pair;
    TSR_TRY(tuple_new(&pair, (Value[]){e->key, e->value}, 2));
    return value_end_move(out, dict_remove(&removed, d, value_as_tuple(pair)->items[0]), pair);
}

static TsrStatus ordered_copy(Value *out, const CallArgs *args) { return ordered_of(out, args->values[0]); }

static TsrStatus ordered_fromkeys(Value *out, const CallArgs *args) {
    Value plain;
    TSR_TRY(value_call_method(&plain, value_lent(&dict_type), "fromkeys", args->count - 1, args->values + 1));
    TsrStatus status = ordered_of(out, plain);
    value_release(plain);
    return status;
}

static const Method ordered_methods[] = {
    {"copy", ordered_copy, ARGS_NONE, 0, 0, "()", "A shallow copy."},
    {"fromkeys", ordered_fromkeys, ARGS_RANGE | METHOD_CLASS, 1, 2, "(iterable, value=None)",
     "An OrderedDict with the keys of the iterable, all with one value."},
    {"move_to_end", ordered_move_to_end, ARGS_ANY, 1, 2, "(key, last=True)",
     "Moves the key to the end, or to the front."},
    {"popitem", ordered_popitem, ARGS_ANY, 0, 1, "(last=True)",
     "Removes and gives the last (key, value) pair, or the first."},
    {0},
};

/* --- defaultdict --- */

typedef struct DefaultDict {
    Dict dict;
    Value factory; /* V_NONE: a missing key is a KeyError */
} DefaultDict;

static DefaultDict *as_default(Value v) { return (DefaultDict *)v.o; }
Value default_dict_factory(Value dict) { return as_default(dict)->factory; }

static void default_destroy(Obj *self) {
    value_release(((DefaultDict *)self)->factory);
    dict_clear((Dict *)self);
    obj_free(self, sizeof(DefaultDict));
}

static void default_traverse(Obj *self, GcVisit visit, void *context) {
    gc_visit_value(((DefaultDict *)self)->factory, visit, context);
    dict_type.traverse(self, visit, context);
}

static void default_clear(Obj *self) {
    Value factory = ((DefaultDict *)self)->factory;
    ((DefaultDict *)self)->factory = VALUE_NONE;
    value_release(factory);
    dict_clear((Dict *)self);
}

static TsrStatus default_new(Value *out, Value factory) {
    TSR_TRY(dict_kind_new(out, &default_dict_type, sizeof(DefaultDict)));
    as_default(*out)->factory = value_retain(factory);
    return TSR_OK;
}

static TsrStatus default_construct(Value *out, Type *type, const CallArgs *args) {
    Value made, factory = args->count > 0 ? args->values[0] : VALUE_NONE;
    (void)type;
    if (!value_is_none(factory) && !value_is_callable(factory))
        return tsr_error(TSR_TYPE_ERROR, "first argument must be callable or None");
    TSR_TRY(default_new(&made, factory));
    return value_end_move(out, dict_update_from(value_as_dict(made), args, args->count > 0, "dict"), made);
}

/* The factory, which may hold the dict itself. */
static TsrStatus factory_repr(TsrText *out, Value factory) {
    ReprGuard guard;
    bool again;
    if (factory.tag != V_OBJ) return value_repr(out, factory);
    TSR_TRY(repr_enter(&guard, factory.o, &again));
    if (again) return tsr_text_puts(out, "...");
    TsrStatus status = value_repr(out, factory);
    repr_leave(&guard);
    return status;
}

static TsrStatus default_repr(TsrText *out, Value self) {
    TSR_TRY(tsr_text_puts(out, "defaultdict("));
    TSR_TRY(factory_repr(out, as_default(self)->factory));
    TSR_TRY(tsr_text_puts(out, ", "));
    TSR_TRY(dict_type.repr(out, self));
    return tsr_text_putc(out, ')');
}

static TsrStatus default_missing(Value *out, Value self, Value key) {
    Value made, factory = as_default(self)->factory;
    if (value_is_none(factory)) return exc_raise_value(TSR_KEY_ERROR, key);
    TSR_TRY(value_call_n(&made, factory, 0, NULL));
    return value_end_move(out, dict_set(value_as_dict(self), key, made), made);
}

static TsrStatus default_get_item(Value *out, Value self, Value key) {
    Value *found;
    TSR_TRY(dict_find(&found, value_as_dict(self), key));
    if (found == NULL) return default_missing(out, self, key);
    *out = value_retain(*found);
    return TSR_OK;
}

static TsrStatus default_binary(Value *out, BinaryOp op, Value a, Value b) {
    Value made;
    *out = VALUE_UNBOUND;
    if (op != OP_OR || !value_is_dict(a) || !value_is_dict(b)) return TSR_OK;
    TSR_TRY(default_new(&made, as_default(value_is_obj(a, &default_dict_type) ? a : b)->factory));
    TsrStatus status = dict_update(value_as_dict(made), a);
    if (status == TSR_OK) status = dict_update(value_as_dict(made), b);
    return value_end_move(out, status, made);
}

static TsrStatus default_copy(Value *out, const CallArgs *args) {
    Value made;
    TSR_TRY(default_new(&made, as_default(args->values[0])->factory));
    return value_end_move(out, dict_update(value_as_dict(made), args->values[0]), made);
}

static TsrStatus default_missing_method(Value *out, const CallArgs *args) {
    return default_missing(out, args->values[0], args->values[1]);
}

static TsrStatus default_fromkeys(Value *out, const CallArgs *args) {
    Value plain, made;
    TSR_TRY(value_call_method(&plain, value_lent(&dict_type), "fromkeys", args->count - 1, args->values + 1));
    TsrStatus status = default_new(&made, VALUE_NONE);
    if (status == TSR_OK) status = value_end_move(out, dict_update(value_as_dict(made), plain), made);
    value_release(plain);
    return status;
}

static TsrStatus get_factory(Value *out, Value self) {
    *out = value_retain(as_default(self)->factory);
    return TSR_OK;
}

static TsrStatus set_factory(Value self, Value value) {
    value_set_move(&as_default(self)->factory, value_retain(value));
    return TSR_OK;
}

static const Method default_methods[] = {
    {"copy", default_copy, ARGS_NONE, 0, 0, "()", "A shallow copy."},
    {"__missing__", default_missing_method, ARGS_ONE | METHOD_DUNDER, 0, 0, "(key, /)",
     "Sets the key to default_factory() and gives it."},
    {"fromkeys", default_fromkeys, ARGS_RANGE | METHOD_CLASS, 1, 2, "(iterable, value=None, /)",
     "A defaultdict with the keys of the iterable, all with one value."},
    {0},
};

static const Getter default_getters[] = {
    {"default_factory", get_factory, set_factory, "What makes the value of a missing key."}, {0}};

Type ordered_dict_type = {
    .obj = TYPE_HEADER,
    .name = "collections.OrderedDict",
    .base = &dict_type,
    .doc = "OrderedDict(mapping or pairs, **names): a dict whose order counts when two are compared.",
    .construct = ordered_construct,
    .destroy = ordered_destroy,
    .traverse = ordered_traverse,
    .clear = ordered_clear,
    .get_attr = ordered_get_attr,
    .set_attr = ordered_set_attr,
    .repr = ordered_repr,
    .compare = ordered_compare,
    .binary = ordered_binary,
    .methods = ordered_methods};

Type default_dict_type = {
    .obj = TYPE_HEADER,
    .name = "collections.defaultdict",
    .base = &dict_type,
    .doc = "defaultdict(default_factory=None, /, [mapping or pairs], **names): a dict that makes the values of missing "
           "keys.",
    .construct = default_construct,
    .destroy = default_destroy,
    .traverse = default_traverse,
    .clear = default_clear,
    .repr = default_repr,
    .get_item = default_get_item,
    .binary = default_binary,
    .methods = default_methods,
    .getters = default_getters};

void dict_kinds_startup(void) {
    type_inherit(&ordered_dict_type);
    type_inherit(&default_dict_type);
}
