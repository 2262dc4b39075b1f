/* typing.c: Python's typing, as annotations need it: names that take types in brackets and print as they were written.
 * Nothing is checked against them. */
#include "modules.h"

#include <string.h>

#include "abc.h"
#include "lang/object/args.h"
#include "lang/object/exc.h"
#include "lang/types/sequences.h"
#include "lang/types/str.h"
#include "lang/object/value_impl.h"
#include "lang/types/collections.h"

typedef enum Kind { NAME, GENERIC, OPTIONAL, UNION, LITERAL } Kind; /* NAME takes no types */

typedef struct Form {
    Obj obj;
    const char *name;
    Kind kind;
    int arity;           /* of GENERIC; 0: any number */
    const char *builtin; /* what makes instances instead; NULL: nothing does */
} Form;

/* A form with its types: typing.List[int]. */
typedef struct Alias {
    GcObj gc;
    const Form *form;
    Value args; /* a tuple */
} Alias;

static Type form_type, alias_type;
static const Form *union_form;

static bool is_alias(Value v) { return value_is_obj(v, &alias_type); }
static Alias *as_alias(Value v) { return (Alias *)v.o; }

/* --- text --- */

static TsrStatus write_args(TsrText *out, const Value *args, int64_t count, bool literal);

static TsrStatus write_arg(TsrText *out, Value v, bool literal) {
    if (literal) return value_repr(out, v);
    if (value_is_obj(v, &type_type)) return tsr_text_puts(out, type_full_name((Type *)v.o));
    if (v.tag == V_OBJ && v.o == &ellipsis_object) return tsr_text_puts(out, "...");
    if (value_is_str(v)) {
        TSR_TRY(tsr_text_puts(out, "ForwardRef("));
        TSR_TRY(value_repr(out, v));
        return tsr_text_putc(out, ')');
    }
    if (!value_is_list(v)) return value_repr(out, v);
    TSR_TRY(tsr_text_putc(out, '['));
    TSR_TRY(write_args(out, value_as_list(v)->items, value_as_list(v)->count, false));
    return tsr_text_putc(out, ']');
}

static TsrStatus write_args(TsrText *out, const Value *args, int64_t count, bool literal) {
    for (int64_t i = 0; i < count; i++) {
        if (i > 0) TSR_TRY(tsr_text_puts(out, ", "));
        TSR_TRY(write_arg(out, args[i], literal));
    }
    return TSR_OK;
}

static TsrStatus form_repr(TsrText *out, Value self) {
    return tsr_text_printf(out, "typing.%s", ((Form *)self.o)->name);
}

static bool is_none_type(Value v) { return v.tag == V_OBJ && v.o == &none_type.obj; }

/* A union of one type and None shows as Optional. */
static TsrStatus alias_repr(TsrText *out, Value self) {
    const Alias *a = as_alias(self);
    const Tuple *args = value_as_tuple(a->args);
    TSR_TRY(recursion_enter(" while getting the repr of an object"));
    TsrStatus status;
    if (a->form->kind == UNION && args->count == 2 && (is_none_type(args->items[0]) || is_none_type(args->items[1]))) {
        status = tsr_text_puts(out, "typing.Optional[");
        if (status == TSR_OK) status = write_arg(out, args->items[is_none_type(args->items[0])], false);
    } else {
        status = tsr_text_printf(out, "typing.%s[%s", a->form->name, args->count == 0 ? "()" : "");
        if (status == TSR_OK) status = write_args(out, args->items, args->count, a->form->kind == LITERAL);
    }
    recursion_leave();
    return status == TSR_OK ? tsr_text_putc(out, ']') : status;
}

/* --- types in brackets --- */

GC_HOLDS(alias, Alias, &it->args)

static TsrStatus alias_new(Value *out, const Form *form, const Value *args, int64_t count) {
    Value tuple;
    TSR_TRY(tuple_new(&tuple, args, count));
    Alias *a = obj_new(&alias_type, sizeof *a);
    if (a == NULL) {
        value_release(tuple);
        return mem_error();
    }
    a->form = form;
    a->args = tuple;
    gc_track(a);
    *out = value_obj_move(a);
    return TSR_OK;
}

static TsrStatus add_once(List *types, Value v) {
    bool same = false;
    for (int64_t i = 0; i < types->count && !same; i++) TSR_TRY(value_equal(&same, types->items[i], v));
    return same ? TSR_OK : list_append(types, v);
}

/* Unions inside are taken apart, None stands for its type. */
static TsrStatus add_to_union(List *types, Value v) {
    Value parts = is_alias(v) && as_alias(v)->form->kind == UNION ? as_alias(v)->args : type_union_parts(v);
    if (parts.tag == V_UNBOUND) return add_once(types, value_is_none(v) ? value_lent(&none_type) : v);
    for (int64_t i = 0; i < value_as_tuple(parts)->count; i++)
        TSR_TRY(add_to_union(types, value_as_tuple(parts)->items[i]));
    return TSR_OK;
}

static TsrStatus union_new(Value *out, const Value *args, int64_t count) {
    Value types;
    TSR_TRY(list_new(&types, count));
    const List *l = value_as_list(types);
    TsrStatus status = TSR_OK;
    for (int64_t i = 0; i < count && status == TSR_OK; i++) status = add_to_union(value_as_list(types), args[i]);
    if (status == TSR_OK && l->count == 1) *out = value_retain(l->items[0]);
    else if (status == TSR_OK) status = alias_new(out, union_form, l->items, l->count);
    value_release(types);
    return status;
}

static TsrStatus generic_new(Value *out, const Form *form, const Value *args, int64_t count) {
    Value types[8];
    if (form->arity > 0 && count != form->arity) {
        return tsr_error(TSR_TYPE_ERROR, "Too %s arguments for typing.%s; actual %lld, expected %d",
                         count < form->arity ? "few" : "many", form->name, (long long)count, form->arity);
    }
    if (count > (int64_t)TSR_COUNTOF(types)) return alias_new(out, form, args, count);
    for (int64_t i = 0; i < count; i++) types[i] = value_is_none(args[i]) ? value_lent(&none_type) : args[i];
    return alias_new(out, form, types, count);
}

static TsrStatus optional_new(Value *out, Value index) {
    TsrText text = {0};
    if (!value_is_tuple(index)) return union_new(out, (Value[]){index, VALUE_NONE}, 2);
    TsrStatus status = value_repr(&text, index);
    if (status == TSR_OK)
        status = tsr_error(TSR_TYPE_ERROR, "typing.Optional requires a single type. Got %s.", text.data);
    tsr_text_free(&text);
    return status;
}

static TsrStatus form_get_item(Value *out, Value self, Value index) {
    const Form *form = (Form *)self.o;
    const Value *args = &index;
    int64_t count = 1;
    if (value_is_tuple(index)) args = value_as_tuple(index)->items, count = value_as_tuple(index)->count;
    switch (form->kind) {
    case NAME: return tsr_error(TSR_TYPE_ERROR, "typing.%s is not subscriptable", form->name);
    case OPTIONAL: return optional_new(out, index);
    case UNION:
        return count > 0 ? union_new(out, args, count) : tsr_error(TSR_TYPE_ERROR, "Cannot take a Union of no types.");
    case LITERAL: return alias_new(out, form, args, count);
    default: return generic_new(out, form, args, count);
    }
}

static TsrStatus not_called(const Form *form) {
    if (form->builtin != NULL)
        return tsr_error(TSR_TYPE_ERROR, "Type %s cannot be instantiated; use %s() instead", form->name, form->builtin);
    return tsr_error(TSR_TYPE_ERROR,
                     form->kind == GENERIC ? "Type %s cannot be instantiated"
                     : form->kind == NAME  ? "%s cannot be instantiated"
                                           : "Cannot instantiate typing.%s",
                     form->name);
}

static TsrStatus form_call(Value *out, Value self, const CallArgs *args) {
    (void)out;
    (void)args;
    return not_called((Form *)self.o);
}

static TsrStatus alias_call(Value *out, Value self, const CallArgs *args) {
    (void)out;
    (void)args;
    return not_called(as_alias(self)->form);
}

/* X | Y */
static TsrStatus form_binary(Value *out, BinaryOp op, Value a, Value b) {
    *out = VALUE_UNBOUND;
    return op == OP_OR ? union_new(out, (Value[]){a, b}, 2) : TSR_OK;
}

static TsrStatus alias_compare(Value *out, CompareOp op, Value a, Value b) {
    bool equal = false;
    *out = VALUE_UNBOUND;
    if ((op != CMP_EQ && op != CMP_NE) || !is_alias(a) || !is_alias(b)) return TSR_OK;
    if (as_alias(a)->form == as_alias(b)->form) TSR_TRY(value_equal(&equal, as_alias(a)->args, as_alias(b)->args));
    *out = value_bool(equal == (op == CMP_EQ));
    return TSR_OK;
}

static TsrStatus alias_hash(int64_t *out, Value self) {
    TSR_TRY(value_hash(out, as_alias(self)->args));
    *out ^= (int64_t)((uintptr_t)as_alias(self)->form >> 4);
    return TSR_OK;
}

/* What isinstance() takes the form for: typing.List is list to it; NULL: nothing. */
static Type *origin_of(const Form *form) {
    static const struct {
        const char *name;
        Type *type;
    } types[] = {{"Counter", &counter_type},
                 {"DefaultDict", &default_dict_type},
                 {"Deque", &deque_type},
                 {"Dict", &dict_type},
                 {"FrozenSet", &frozenset_type},
                 {"List", &list_type},
                 {"OrderedDict", &ordered_dict_type},
                 {"Set", &set_type},
                 {"Tuple", &tuple_type},
                 {"Type", &type_type}};
    for (size_t i = 0; i < TSR_COUNTOF(types); i++)
        if (strcmp(types[i].name, form->name) == 0) return types[i].type;
    return strcmp(form->name, "AbstractSet") == 0 ? abc_type("Set") : abc_type(form->name);
}

static TsrStatus form_get_attr(Value *out, Value self, Str *name) {
    const Form *form = (Form *)self.o;
    Type *origin = str_equal_c(name, "__origin__") ? origin_of(form) : NULL;
    *out = origin != NULL ? value_retain(value_lent(origin)) : VALUE_UNBOUND;
    return str_equal_c(name, "__name__") ? str_new_c(out, form->name) : TSR_OK;
}

static TsrStatus alias_get_attr(Value *out, Value self, Str *name) {
    const Alias *a = as_alias(self);
    Type *origin = origin_of(a->form);
    *out = VALUE_UNBOUND;
    if (str_equal_c(name, "__args__")) *out = value_retain(a->args);
    if (str_equal_c(name, "__origin__"))
        *out = value_retain(origin != NULL ? value_lent(origin) : value_lent((void *)a->form));
    return TSR_OK;
}

TsrStatus typing_origin(Value *lent, Value v) {
    const Form *form = value_is_obj(v, &form_type) ? (Form *)v.o : NULL;
    *lent = v;
    if (form == NULL && !is_alias(v)) return TSR_OK;
    if (form == NULL && as_alias(v)->form->kind == UNION) return *lent = as_alias(v)->args, TSR_OK;
    if (form == NULL)
        return tsr_error(TSR_TYPE_ERROR, "Subscripted generics cannot be used with class and instance checks");
    if (origin_of(form) == NULL)
        return tsr_error(TSR_TYPE_ERROR, "typing.%s cannot be used with isinstance()", form->name);
    *lent = value_lent(origin_of(form));
    return TSR_OK;
}

static void form_destroy(Obj *self) { self->refcount = 0x40000000u; }

static Type form_type = {.obj = TYPE_HEADER,
                         .name = "_SpecialForm",
                         .module = "typing",
                         .destroy = form_destroy,
                         .repr = form_repr,
                         .get_item = form_get_item,
                         .get_attr = form_get_attr,
                         .call = form_call,
                         .binary = form_binary};
static Type alias_type = {.obj = TYPE_HEADER,
                          .name = "_GenericAlias",
                          .module = "typing",
                          .flags = TYPE_GC,
                          .destroy = alias_destroy,
                          .traverse = alias_traverse,
                          .clear = alias_clear,
                          .repr = alias_repr,
                          .get_attr = alias_get_attr,
                          .call = alias_call,
                          .compare = alias_compare,
                          .hash = alias_hash,
                          .binary = form_binary};

#define FORM_HEADER \
    { {{0x40000000u, 0}}, &form_type }
static Form forms[] = {
    {FORM_HEADER, "Any", NAME, 0, NULL},
    {FORM_HEADER, "Never", NAME, 0, NULL},
    {FORM_HEADER, "NoReturn", NAME, 0, NULL},
    {FORM_HEADER, "Self", NAME, 0, NULL},
    {FORM_HEADER, "TypeAlias", NAME, 0, NULL},
    {FORM_HEADER, "BinaryIO", NAME, 0, NULL},
    {FORM_HEADER, "Hashable", NAME, 0, NULL},
    {FORM_HEADER, "Sized", NAME, 0, NULL},
    {FORM_HEADER, "TextIO", NAME, 0, NULL},
    {FORM_HEADER, "Union", UNION, 0, NULL},
    {FORM_HEADER, "Optional", OPTIONAL, 0, NULL},
    {FORM_HEADER, "Literal", LITERAL, 0, NULL},
    {FORM_HEADER, "AbstractSet", GENERIC, 1, NULL},
    {FORM_HEADER, "Awaitable", GENERIC, 1, NULL},
    {FORM_HEADER, "Callable", GENERIC, 2, NULL},
    {FORM_HEADER, "ClassVar", GENERIC, 1, NULL},
    {FORM_HEADER, "Collection", GENERIC, 1, NULL},
    {FORM_HEADER, "Container", GENERIC, 1, NULL},
    {FORM_HEADER, "ContextManager", GENERIC, 1, NULL},
    {FORM_HEADER, "Coroutine", GENERIC, 3, NULL},
    {FORM_HEADER, "Counter", GENERIC, 1, NULL},
    {FORM_HEADER, "DefaultDict", GENERIC, 2, "defaultdict"},
    {FORM_HEADER, "Deque", GENERIC, 1, "deque"},
    {FORM_HEADER, "Dict", GENERIC, 2, "dict"},
    {FORM_HEADER, "Final", GENERIC, 1, NULL},
    {FORM_HEADER, "FrozenSet", GENERIC, 1, "frozenset"},
    {FORM_HEADER, "Generator", GENERIC, 3, NULL},
    {FORM_HEADER, "IO", GENERIC, 1, NULL},
    {FORM_HEADER, "ItemsView", GENERIC, 2, NULL},
    {FORM_HEADER, "Iterable", GENERIC, 1, NULL},
    {FORM_HEADER, "Iterator", GENERIC, 1, NULL},
    {FORM_HEADER, "KeysView", GENERIC, 1, NULL},
    {FORM_HEADER, "List", GENERIC, 1, "list"},
    {FORM_HEADER, "Mapping", GENERIC, 2, NULL},
    {FORM_HEADER, "Match", GENERIC, 1, NULL},
    {FORM_HEADER, "MutableMapping", GENERIC, 2, NULL},
    {FORM_HEADER, "MutableSequence", GENERIC, 1, NULL},
    {FORM_HEADER, "MutableSet", GENERIC, 1, NULL},
    {FORM_HEADER, "OrderedDict", GENERIC, 2, "OrderedDict"},
    {FORM_HEADER, "Pattern", GENERIC, 1, NULL},
    {FORM_HEADER, "Reversible", GENERIC, 1, NULL},
    {FORM_HEADER, "Sequence", GENERIC, 1, NULL},
    {FORM_HEADER, "Set", GENERIC, 1, "set"},
    {FORM_HEADER, "Tuple", GENERIC, 0, "tuple"},
    {FORM_HEADER, "Type", GENERIC, 1, "type"},
    {FORM_HEADER, "ValuesView", GENERIC, 1, NULL},
};

/* --- functions --- */

static TsrStatus typing_cast(Value *out, const CallArgs *args) {
    *out = value_retain(args->values[1]);
    return TSR_OK;
}

static TsrStatus typing_same(Value *out, const CallArgs *args) {
    *out = value_retain(args->values[0]);
    return TSR_OK;
}

static const Method functions[] = {
    {"cast", typing_cast, ARGS_RANGE, 2, 2, "(typ, val)", "val: what type it is said to have has no effect."},
    {"final", typing_same, ARGS_ONE, 1, 1, "(f)", "f: nothing is checked."},
    {"no_type_check", typing_same, ARGS_ONE, 1, 1, "(arg)", "arg: nothing is checked anyway."},
    {"overload", typing_same, ARGS_ONE, 1, 1, "(func)", "A decorator of a function that only says a signature."},
    {0},
};

static TsrStatus fill(Module *module) {
    for (size_t i = 0; i < TSR_COUNTOF(forms); i++) {
        if (forms[i].kind == UNION) union_form = &forms[i];
        TSR_TRY(module_add(module, forms[i].name, value_lent(&forms[i])));
    }
    TSR_TRY(module_add(module, "Text", value_lent(&str_type)));
    return module_add(module, "TYPE_CHECKING", VALUE_FALSE);
}

const NsModule ns_typing = {"typing", "Names for annotations.", functions, fill, NULL};
const NsModule ns_typing_extensions = {"typing_extensions", "The same names as typing.", functions, fill, NULL};
