/* type.c: types as values: names to descriptors, `type` and `object`, unions and list[int], None, Ellipsis,
 * NotImplemented.
 *
 * A Type is a static table of slots, methods and getters. type_lookup finds a name along its bases in the rows of these
 * tables and keeps what it found in a cache by type and interned name, so that an attribute is compared by text once.
 */
#include "args.h"
#include "lang/types/dict.h"
#include "exc.h"
#include "native.h"
#include "lang/types/sequences.h"
#include "lang/types/str.h"
#include "value_impl.h"

#include <stdio.h>
#include <string.h>

Type *type_base(const Type *type) {
    if (type == &object_type) return NULL;
    return type->base != NULL ? type->base : &object_type;
}

bool type_is_subtype(const Type *type, const Type *ancestor) {
    for (; type != NULL; type = type_base(type)) {
        if (type == ancestor) return true;
    }
    return false;
}

void type_derive(Type *type, Type *from, const char *name, const char *module) {
    *type = *from;
    type->name = name;
    type->module = module;
    type->base = from;
    type->doc = NULL;
    type->methods = NULL;
    type->getters = NULL;
    type->cache = NULL;
}

void type_inherit(Type *type) {
    const Type *from = type->base;
    static const char none[sizeof type->construct];
    for (size_t at = offsetof(Type, construct); at < offsetof(Type, methods); at += sizeof none)
        if (memcmp((char *)type + at, none, sizeof none) == 0)
            memcpy((char *)type + at, (const char *)from + at, sizeof none);
    type->flags |= from->flags;
    type->next_is_identity_iter |= from->next_is_identity_iter;
}

const char *type_full_name(const Type *type) {
    static char buffers[2][160];
    static int turn;
    if (type->module == NULL) return type->name;
    turn = !turn;
    snprintf(buffers[turn], sizeof buffers[turn], "%s.%s", type->module, type->name);
    return buffers[turn];
}

const char *type_short_name(const Type *type) {
    const char *dot = strrchr(type->name, '.');
    return dot != NULL ? dot + 1 : type->name;
}

/* --- descriptors --- */

static void getset_destroy(Obj *self) { obj_free(self, sizeof(GetSet)); }

static TsrStatus getset_repr(TsrText *out, Value self) {
    const GetSet *g = (GetSet *)self.o;
    return tsr_text_printf(out, "<attribute '%s' of '%s' objects>", g->def->name, g->owner->name);
}

static TsrStatus getset_get_attr(Value *out, Value self, Str *name) {
    const GetSet *g = (GetSet *)self.o;
    *out = VALUE_UNBOUND;
    if (str_equal_c(name, "__name__")) return str_new_c(out, g->def->name);
    if (str_equal_c(name, "__doc__") && g->def->doc != NULL) return str_new_c(out, g->def->doc);
    return TSR_OK;
}

Type getset_type = {.obj = TYPE_HEADER,
                    .name = "getset_descriptor",
                    .destroy = getset_destroy,
                    .repr = getset_repr,
                    .get_attr = getset_get_attr};

/* Types that have a cache, so that shutdown can drop it. */
static Type **cached_types;
static int64_t cached_count, cached_capacity;

static TsrStatus need_cache(Type *type) {
    if (type->cache != NULL) return TSR_OK;
    TSR_TRY(mem_grow(&cached_types, &cached_capacity, cached_count + 1, sizeof *cached_types));
    if ((type->cache = dict_new_raw()) == NULL) return TSR_MEMORY_ERROR;
    cached_types[cached_count++] = type;
    return TSR_OK;
}

static TsrStatus getset_new(Value *out, const Getter *def, Type *owner) {
    GetSet *object = obj_new(&getset_type, sizeof *object);
    if (object == NULL) return TSR_MEMORY_ERROR;
    object->def = def;
    object->owner = owner;
    *out = value_obj_move(object);
    return TSR_OK;
}

static bool is_called(const char *name, const Str *wanted) {
    return name[0] == wanted->data[0] && str_equal_c(wanted, name);
}

/* What the type's own tables say of the name; V_UNBOUND: nothing. */
static TsrStatus descriptor_new(Value *out, Type *type, const Str *name) {
    *out = VALUE_UNBOUND;
    for (const Getter *g = type->getters; g != NULL && g->name != NULL; g++)
        if (is_called(g->name, name)) return getset_new(out, g, type);
    for (const Method *m = type->methods; m != NULL && m->name != NULL; m++)
        if (is_called(m->name, name)) return native_new_method(out, m, type, VALUE_UNBOUND);
    return TSR_OK;
}

/* Found descriptors by (type, interned name). Types and interned names live until shutdown. */
typedef struct CacheRow {
    const Type *type;
    const Str *name;
    Value found;
} CacheRow;
enum { CACHE_ROWS = 256 };
static CacheRow cache_rows[CACHE_ROWS];
static bool cache_is_stale; /* of an interpreter that was shut down */

/* A descriptor of the type's own, or an attribute that it finds for itself, is kept in its cache, which lends it from
 * then on. */
static TsrStatus lookup_own(Value *lent, Type *type, Str *name) {
    Value made;
    TSR_TRY(need_cache(type));
    const Value *found = dict_find_str(type->cache, name);
    *lent = found != NULL ? *found : VALUE_UNBOUND;
    if (found != NULL) return TSR_OK;
    TSR_TRY(descriptor_new(&made, type, name));
    if (made.tag == V_UNBOUND && type->lookup != NULL) TSR_TRY(type->lookup(&made, type, name));
    if (made.tag == V_UNBOUND) return TSR_OK;
    TsrStatus status = dict_set_str(type->cache, name, made);
    if (status == TSR_OK) *lent = made;
    value_release(made);
    return status;
}

static TsrStatus lookup_slow(Value *lent, Type *type, Str *name) {
    *lent = VALUE_UNBOUND;
    for (Type *t = type; t != NULL && lent->tag == V_UNBOUND; t = type_base(t)) TSR_TRY(lookup_own(lent, t, name));
    return TSR_OK;
}

TsrStatus type_lookup(Value *lent, Type *type, Str *name) {
    if (!str_is_interned(name)) return lookup_slow(lent, type, name);
    size_t row = (((uintptr_t)type >> 5) ^ ((uintptr_t)name >> 4)) % CACHE_ROWS;
    CacheRow *r = &cache_rows[row];
    if (r->type == type && r->name == name) {
        *lent = r->found;
        return TSR_OK;
    }
    TSR_TRY(lookup_slow(lent, type, name));
    *r = (CacheRow){type, name, *lent};
    return TSR_OK;
}

/* Not at the end, where nearly all programs would clear what they never look into again. */
void type_startup(void) {
    if (cache_is_stale) memset(cache_rows, 0, sizeof cache_rows);
}

void type_shutdown(void) {
    cache_is_stale = true;
    for (int64_t i = 0; i < cached_count; i++) {
        Dict *dict = cached_types[i]->cache;
        cached_types[i]->cache = NULL;
        obj_release(dict);
    }
    tsr_free(cached_types);
    cached_types = NULL;
    cached_count = cached_capacity = 0;
}

/* --- type --- */

static TsrStatus type_repr(TsrText *out, Value self) {
    return tsr_text_printf(out, "<class '%s'>", type_full_name((Type *)self.o));
}

static TsrStatus type_call(Value *out, Value self, const CallArgs *args) {
    Type *type = (Type *)self.o;
    if (type->construct == NULL) return tsr_error(TSR_TYPE_ERROR, "cannot create '%s' instances", type_full_name(type));
    return type->construct(out, type, args);
}

static TsrStatus type_construct(Value *out, Type *type, const CallArgs *args) {
    (void)type;
    if (args->keyword_count > 0 || args->count != 1) return tsr_error(TSR_TYPE_ERROR, "type() takes 1 or 3 arguments");
    *out = value_retain(value_lent(value_type(args->values[0])));
    return TSR_OK;
}

static TsrStatus type_mro(Value *out, Type *type) {
    Value items[16];
    int n = 0;
    for (Type *t = type; t != NULL && n < 16; t = type_base(t)) items[n++] = value_lent(t);
    return tuple_new(out, items, n);
}

/* The name as an attribute of the class itself: str.upper, dict.fromkeys, ValueError.__name__. */
static TsrStatus type_own_attr(Value *out, Type *type, Str *name) {
    Value found;
    TSR_TRY(type_lookup(&found, type, name));
    if (value_is_obj(found, &method_descriptor_type) && (((Native *)found.o)->def->flags & METHOD_CLASS)) {
        return native_new_method(out, ((Native *)found.o)->def, ((Native *)found.o)->owner, value_lent(type));
    }
    if (found.tag == V_UNBOUND || (value_is_obj(found, &getset_type) && str_equal_c(name, "__class__"))) return TSR_OK;
    *out = value_retain(found);
    return TSR_OK;
}

static TsrStatus type_get_attr(Value *out, Value self, Str *name) {
    Type *type = (Type *)self.o;
    *out = VALUE_UNBOUND;
    if (str_equal_c(name, "__name__") || str_equal_c(name, "__qualname__"))
        return str_new_c(out, type_short_name(type));
    if (str_equal_c(name, "__module__")) {
        const char *dot = strrchr(type->name, '.');
        if (type->module == NULL && dot != NULL) return str_new(out, type->name, dot - type->name);
        return str_new_c(out, type->module != NULL ? type->module : "builtins");
    }
    if (str_equal_c(name, "__doc__")) {
        *out = VALUE_NONE;
        return type->doc != NULL ? str_new_c(out, type->doc) : TSR_OK;
    }
    if (str_equal_c(name, "__mro__")) return type_mro(out, type);
    if (str_equal_c(name, "__bases__")) {
        Value base = type_base(type) != NULL ? value_lent(type_base(type)) : VALUE_NONE;
        return tuple_new(out, &base, type_base(type) != NULL);
    }
    if (str_equal_c(name, "__base__")) {
        *out = type_base(type) != NULL ? value_retain(value_lent(type_base(type))) : VALUE_NONE;
        return TSR_OK;
    }
    TSR_TRY(type_own_attr(out, type, name));
    if (out->tag != V_UNBOUND) return TSR_OK;
    const Method *dunder = dunder_lookup(type, name);
    return dunder != NULL ? native_new_method(out, dunder, type, VALUE_UNBOUND) : TSR_OK;
}

static TsrStatus type_set_attr(Value self, Str *name, Value v) {
    (void)v;
    return tsr_error(TSR_TYPE_ERROR, "cannot set '%s' attribute of immutable type '%s'", name->data,
                     type_full_name((Type *)self.o));
}

/* --- list[int] in annotations --- */

typedef struct Alias {
    GcObj gc;
    Type *origin;
    Value args; /* a tuple */
} Alias;

GC_HOLDS(alias, Alias, &it->args)

static TsrStatus alias_item_repr(TsrText *out, Value v);
static TsrStatus alias_items_repr(TsrText *out, const Value *items, int64_t count) {
    TSR_TRY(tsr_text_putc(out, '['));
    for (int64_t i = 0; i < count; i++) {
        if (i > 0) TSR_TRY(tsr_text_puts(out, ", "));
        TSR_TRY(alias_item_repr(out, items[i]));
    }
    return tsr_text_putc(out, ']');
}

/* A list stands for the parameters in Callable[[int], str]. */
static TsrStatus alias_item_repr(TsrText *out, Value v) {
    if (value_is_obj(v, &type_type)) return tsr_text_puts(out, type_full_name((Type *)v.o));
    if (v.tag == V_OBJ && v.o == &ellipsis_object) return tsr_text_puts(out, "...");
    if (!value_is_list(v)) return value_repr(out, v);
    TSR_TRY(recursion_enter(" while getting the repr of an object"));
    TsrStatus status = alias_items_repr(out, value_as_list(v)->items, value_as_list(v)->count);
    recursion_leave();
    return status;
}

static TsrStatus alias_repr(TsrText *out, Value self) {
    const Alias *a = (Alias *)self.o;
    TSR_TRY(tsr_text_puts(out, type_full_name(a->origin)));
    return alias_items_repr(out, value_as_tuple(a->args)->items, value_as_tuple(a->args)->count);
}

static TsrStatus alias_call(Value *out, Value self, const CallArgs *args) {
    return type_call(out, value_lent(((Alias *)self.o)->origin), args);
}

static TsrStatus alias_compare(Value *out, CompareOp op, Value self, Value other) {
    const Alias *a = (Alias *)self.o, *b = (Alias *)other.o;
    bool equal = false;
    *out = VALUE_UNBOUND;
    if ((op != CMP_EQ && op != CMP_NE) || other.tag != V_OBJ || other.o->type != self.o->type) return TSR_OK;
    if (a->origin == b->origin) TSR_TRY(value_equal(&equal, a->args, b->args));
    *out = value_bool(equal == (op == CMP_EQ));
    return TSR_OK;
}

static TsrStatus alias_hash(int64_t *out, Value self) {
    TSR_TRY(value_hash(out, ((Alias *)self.o)->args));
    *out ^= (int64_t)((uintptr_t)((Alias *)self.o)->origin >> 4);
    return TSR_OK;
}

static TsrStatus alias_get_attr(Value *out, Value self, Str *name) {
    const Alias *a = (Alias *)self.o;
    *out = VALUE_UNBOUND;
    if (str_equal_c(name, "__origin__")) *out = value_retain(value_lent(a->origin));
    if (str_equal_c(name, "__args__")) *out = value_retain(a->args);
    return TSR_OK;
}

Type generic_alias_type = {.obj = TYPE_HEADER,
                           .name = "GenericAlias",
                           .module = "types",
                           .flags = TYPE_GC,
                           .destroy = alias_destroy,
                           .compare = alias_compare,
                           .hash = alias_hash,
                           .traverse = alias_traverse,
                           .clear = alias_clear,
                           .repr = alias_repr,
                           .get_attr = alias_get_attr,
                           .call = alias_call};

static bool is_generic(const Type *type) {
    return type == &list_type || type == &tuple_type || type == &dict_type || type == &set_type ||
           type == &frozenset_type || type == &type_type ||
           (type->module != NULL && strcmp(type->module, "collections.abc") == 0) ||
           (type->instance_check != NULL && strcmp(type->name, "AbstractContextManager") == 0);
}

static TsrStatus type_get_item(Value *out, Value self, Value index) {
    Type *type = (Type *)self.o;
    if (!is_generic(type)) return tsr_error(TSR_TYPE_ERROR, "type '%s' is not subscriptable", type_full_name(type));
    Alias *a = obj_new(&generic_alias_type, sizeof *a);
    if (a == NULL) return TSR_MEMORY_ERROR;
    a->origin = type;
    a->args = VALUE_UNBOUND;
    TsrStatus status = TSR_OK;
    if (value_is_tuple(index)) a->args = value_retain(index);
    else status = tuple_new(&a->args, &index, 1);
    if (status != TSR_OK) {
        obj_free(a, sizeof *a);
        return status;
    }
    gc_track(a);
    *out = value_obj_move(a);
    return TSR_OK;
}

/* int | None in annotations and isinstance: a tuple does for both. */
static bool union_part(Value v) {
    return value_is_none(v) || value_is_obj(v, &type_type) || value_is_obj(v, &generic_alias_type);
}

typedef struct Union {
    GcObj gc;
    Value args;
} Union;
GC_HOLDS(union, Union, &it->args)

static TsrStatus union_repr(TsrText *out, Value self) {
    const Tuple *args = value_as_tuple(((Union *)self.o)->args);
    for (int64_t i = 0; i < args->count; i++) {
        if (i > 0) TSR_TRY(tsr_text_puts(out, " | "));
        bool none = args->items[i].tag == V_OBJ && args->items[i].o == &none_type.obj;
        TSR_TRY(none ? tsr_text_puts(out, "None") : alias_item_repr(out, args->items[i]));
    }
    return TSR_OK;
}

static TsrStatus type_binary(Value *out, BinaryOp op, Value a, Value b);
static TsrStatus union_get_attr(Value *out, Value self, Str *name) {
    *out = str_equal_c(name, "__args__") ? value_retain(((Union *)self.o)->args) : VALUE_UNBOUND;
    return TSR_OK;
}
Type union_type = {.obj = TYPE_HEADER,
                   .name = "UnionType",
                   .module = "types",
                   .flags = TYPE_GC,
                   .destroy = union_destroy,
                   .traverse = union_traverse,
                   .clear = union_clear,
                   .repr = union_repr,
                   .binary = type_binary,
                   .get_attr = union_get_attr};

Value type_union_parts(Value v) { return value_is_obj(v, &union_type) ? ((Union *)v.o)->args : VALUE_UNBOUND; }

static TsrStatus union_add(List *list, Value v) {
    if (value_is_obj(v, &union_type)) return list_extend(list, ((Union *)v.o)->args);
    if (value_is_none(v)) v = value_lent(&none_type);
    for (int64_t i = 0; i < list->count; i++) {
        if (value_is_same(list->items[i], v)) return TSR_OK;
    }
    return list_append(list, v);
}

static TsrStatus type_binary(Value *out, BinaryOp op, Value a, Value b) {
    *out = VALUE_UNBOUND;
    bool fits = (union_part(a) || value_is_obj(a, &union_type)) && (union_part(b) || value_is_obj(b, &union_type));
    if (op != OP_OR || !fits || (a.tag == V_NONE && b.tag == V_NONE)) return TSR_OK;
    Value list, tuple;
    TSR_TRY(list_new(&list, 2));
    TsrStatus status = union_add(value_as_list(list), a);
    if (status == TSR_OK) status = union_add(value_as_list(list), b);
    if (status == TSR_OK) status = tuple_new_iterable(&tuple, list);
    value_release(list);
    TSR_TRY(status);
    const Tuple *parts = value_as_tuple(tuple);
    if (parts->count == 1) { /* a union of one type is that type */
        *out = value_retain(parts->items[0]);
        value_release(tuple);
        return TSR_OK;
    }
    Union *u = obj_new(&union_type, sizeof *u);
    if (u == NULL) {
        value_release(tuple);
        return TSR_MEMORY_ERROR;
    }
    u->args = tuple;
    gc_track(u);
    *out = value_obj_move(u);
    return TSR_OK;
}

static void static_destroy(Obj *self) { self->refcount = 0x40000000u; }

static TsrStatus list_class_methods(List *names, Type *type) {
    for (Type *t = type; t != NULL; t = type_base(t)) {
        for (const Method *m = t->methods; m != NULL && m->name != NULL; m++) {
            Str *s = str_intern_c(m->name);
            if (s == NULL) return mem_error();
            TSR_TRY(list_append(names, value_lent(s)));
        }
        for (const Getter *g = t->getters; g != NULL && g->name != NULL; g++) {
            Str *s = str_intern_c(g->name);
            if (s == NULL) return mem_error();
            TSR_TRY(list_append(names, value_lent(s)));
        }
    }
    return dunder_list(names, type);
}

static TsrStatus type_dir(List *names, Value self) {
    Type *type = (Type *)self.o;
    TSR_TRY(list_class_methods(names, type));
    return type == tensor_type ? type->dir(names, self) : TSR_OK; /* the rows of the table, which ask for no instance */
}

static TsrStatus type_mro_method(Value *out, const CallArgs *args) {
    Value tuple;
    TSR_TRY(type_mro(&tuple, (Type *)args->values[0].o));
    TsrStatus status = list_new_iterable(out, tuple);
    value_release(tuple);
    return status;
}

static const Method type_methods[] = {
    {"mro", type_mro_method, ARGS_NONE, 0, 0, "()", "The types an attribute is looked for in, in order."},
    {0},
};

Type type_type = {.obj = TYPE_HEADER,
                  .name = "type",
                  .flags = TYPE_ATOMIC,
                  .doc = "type(object): the type of an object.",
                  .construct = type_construct,
                  .destroy = static_destroy,
                  .repr = type_repr,
                  .call = type_call,
                  .get_attr = type_get_attr,
                  .set_attr = type_set_attr,
                  .get_item = type_get_item,
                  .binary = type_binary,
                  .methods = type_methods,
                  .dir = type_dir};

/* --- object --- */

static TsrStatus get_class(Value *out, Value self) {
    *out = value_retain(value_lent(value_type(self)));
    return TSR_OK;
}

static TsrStatus get_doc(Value *out, Value self) {
    const char *doc = value_type(self)->doc;
    *out = VALUE_NONE;
    return doc != NULL ? str_new_c(out, doc) : TSR_OK;
}

static const Getter object_getters[] = {
    {"__class__", get_class, NULL, "The type."},
    {"__doc__", get_doc, NULL, "What help() says."},
    {0},
};

static void object_destroy(Obj *self) { obj_free(self, sizeof(Obj)); }

static TsrStatus object_construct(Value *out, Type *type, const CallArgs *args) {
    if (args->count + args->keyword_count > 0) return tsr_error(TSR_TYPE_ERROR, "object() takes no arguments");
    Obj *o = obj_new(type, sizeof *o);
    if (o == NULL) return TSR_MEMORY_ERROR;
    *out = value_obj_move(o);
    return TSR_OK;
}

Type object_type = {.obj = TYPE_HEADER,
                    .name = "object",
                    .construct = object_construct,
                    .destroy = object_destroy,
                    .getters = object_getters};

/* --- None, Ellipsis, NotImplemented --- */

static TsrStatus singleton(Value *out, Value v, const Type *type, const CallArgs *args) {
    if (args->count + args->keyword_count > 0) return tsr_error(TSR_TYPE_ERROR, "%s takes no arguments", type->name);
    *out = value_retain(v);
    return TSR_OK;
}

static TsrStatus none_repr(TsrText *out, Value self) {
    (void)self;
    return tsr_text_puts(out, "None");
}
static TsrStatus none_truth(bool *out, Value self) {
    (void)self;
    *out = false;
    return TSR_OK;
}
static TsrStatus none_construct(Value *out, Type *type, const CallArgs *args) {
    return singleton(out, VALUE_NONE, type, args);
}
static TsrStatus none_hash(int64_t *out, Value self) {
    (void)self;
    *out = 0x1ca5f3;
    return TSR_OK;
}
Type none_type = {.obj = TYPE_HEADER,
                  .name = "NoneType",
                  .construct = none_construct,
                  .repr = none_repr,
                  .truth = none_truth,
                  .hash = none_hash,
                  .binary = type_binary};

static TsrStatus ellipsis_repr(TsrText *out, Value self) {
    (void)self;
    return tsr_text_puts(out, "Ellipsis");
}
static TsrStatus ellipsis_construct(Value *out, Type *type, const CallArgs *args) {
    return singleton(out, VALUE_ELLIPSIS, type, args);
}
static Type ellipsis_type = {.obj = TYPE_HEADER,
                             .name = "ellipsis",
                             .construct = ellipsis_construct,
                             .destroy = static_destroy,
                             .repr = ellipsis_repr};
Obj ellipsis_object = {{{0x40000000u, 0}}, &ellipsis_type};

static TsrStatus notimpl_repr(TsrText *out, Value self) {
    (void)self;
    return tsr_text_puts(out, "NotImplemented");
}
static TsrStatus notimpl_construct(Value *out, Type *type, const CallArgs *args) {
    return singleton(out, VALUE_NOT_IMPLEMENTED, type, args);
}
static Type notimpl_type = {.obj = TYPE_HEADER,
                            .name = "NotImplementedType",
                            .construct = notimpl_construct,
                            .destroy = static_destroy,
                            .repr = notimpl_repr};
Obj not_implemented_object = {{{0x40000000u, 0}}, &notimpl_type};

/* --- dir --- */

static TsrStatus unique_sorted(List *list) {
    TSR_TRY(list_sort(list, VALUE_NONE, false));
    int64_t kept = 0;
    for (int64_t i = 0; i < list->count; i++) {
        if (kept > 0 && str_equal(value_as_str(list->items[kept - 1]), value_as_str(list->items[i])))
            value_release(list->items[i]);
        else list->items[kept++] = list->items[i];
    }
    list->count = kept;
    return TSR_OK;
}

TsrStatus value_dir(Value *out, Value v) {
    Value list;
    Type *type = value_type(v);
    TSR_TRY(list_new(&list, 32));
    TsrStatus status = TSR_OK;
    if (type != &module_type && type != &type_type) status = list_class_methods(value_as_list(list), type);
    if (status == TSR_OK && type->dir != NULL) status = type->dir(value_as_list(list), v);
    if (status == TSR_OK) status = unique_sorted(value_as_list(list));
    if (status != TSR_OK) {
        value_release(list);
        return status;
    }
    *out = list;
    return TSR_OK;
}
