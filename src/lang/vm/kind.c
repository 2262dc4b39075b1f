/* Types whose methods are written in the language: the slots of all of them, which look for methods of Python's names.
 * Slots that tell by being there what an instance can do (call it, take its length) are filled for the kinds only that
 * have the method. */
#include "kind.h"

#include <stdio.h>
#include <string.h>

#include "lang/object/exc.h"
#include "lang/object/value_impl.h"
#include "lang/types/collections.h"
#include "lang/types/sequences.h"
#include "lang/types/str.h"
#include "prelude.h"

enum { NAME_ROOM = 160 };

typedef struct Instance {
    GcObj gc;
    Value attributes; /* a dict of interned str */
} Instance;

GC_HOLDS(instance, Instance, &it->attributes)

static Dict *attributes_of(Value v) { return value_as_dict(((Instance *)v.o)->attributes); }

Dict *kind_attributes(const Obj *o) {
    if (o->type->destroy != instance_destroy) return NULL;
    Value attributes = ((const Instance *)o)->attributes;
    return attributes.tag == V_UNBOUND ? NULL : value_as_dict(attributes);
}

Value kind_path(Value v) {
    Dict *attributes = v.tag == V_OBJ ? kind_attributes(v.o) : NULL;
    const Value *path = attributes != NULL ? dict_find_c(attributes, "_path") : NULL;
    return path != NULL && value_is_str(*path) ? *path : v;
}

/* --- an attribute that is computed --- */

typedef struct Property {
    GcObj gc;
    Value function;
} Property;

GC_HOLDS(property, Property, &it->function)

static TsrStatus property_get(Value *out, Value descriptor, Value self) {
    return value_call_n(out, ((Property *)descriptor.o)->function, 1, &self);
}

static Type property_type = {.obj = TYPE_HEADER,
                             .name = "property",
                             .flags = TYPE_GC,
                             .destroy = property_destroy,
                             .traverse = property_traverse,
                             .clear = property_clear,
                             .descriptor_get = property_get};

static TsrStatus property_new_move(Value *out, Value function) {
    Property *p = obj_new(&property_type, sizeof *p);
    if (p == NULL) {
        value_release(function);
        return mem_error();
    }
    p->function = function;
    gc_track(p);
    *out = value_obj_move(p);
    return TSR_OK;
}

/* --- methods --- */

/* What the prelude calls a method: names that begin with an underscore are helpers there. */
static const char *text_of(const Type *type, const char *middle, const char *name, char room[NAME_ROOM]) {
    const char *kind = type_short_name(type);
    snprintf(room, NAME_ROOM, "%s%s%s", kind + (kind[0] == '_'), middle, name);
    return room;
}

static TsrStatus kind_lookup(Value *out, Type *type, Str *name) {
    const char *space = ((Kind *)type)->space;
    char room[NAME_ROOM];
    Value function;
    TSR_TRY(prelude_get(out, space, text_of(type, "__", name->data, room)));
    if (out->tag != V_UNBOUND) return TSR_OK;
    TSR_TRY(prelude_get(&function, space, text_of(type, "__get_", name->data, room)));
    return function.tag == V_UNBOUND ? TSR_OK : property_new_move(out, function);
}

static bool has_method(const Type *type, const char *name) {
    char room[NAME_ROOM];
    for (; type != NULL; type = type->base)
        if (type->lookup == kind_lookup && prelude_has(((const Kind *)type)->space, text_of(type, "__", name, room)))
            return true;
    return false;
}

/* The method of that name of self's kind, bound to it; V_UNBOUND: it has none. */
static TsrStatus bound(Value *out, Value self, const char *name) {
    Str *s = str_intern_c(name);
    Value found;
    if (s == NULL) return mem_error();
    *out = VALUE_UNBOUND;
    TSR_TRY(type_lookup(&found, value_type(self), s));
    return found.tag == V_UNBOUND ? TSR_OK : bound_method_new(out, found, self);
}

static TsrStatus call_method(Value *out, Value self, const char *name, const CallArgs *args) {
    Value method;
    TSR_TRY(bound(&method, self, name));
    TsrStatus status = value_call(out, method, args);
    value_release(method);
    return status;
}

static TsrStatus call_method_n(Value *out, Value self, const char *name, int count, const Value *values) {
    return call_method(out, self, name, &(CallArgs){.values = values, .count = count});
}

/* --- slots --- */

static TsrStatus initialize(Value self, const CallArgs *args) {
    Value method, result;
    TSR_TRY(bound(&method, self, "__init__"));
    if (method.tag == V_UNBOUND) {
        bool none = args->count + args->keyword_count == 0;
        return none ? TSR_OK : tsr_error(TSR_TYPE_ERROR, "%s() takes no arguments", value_type_name(self));
    }
    TsrStatus status = value_call(&result, method, args);
    value_release(method);
    if (status == TSR_OK) value_release(result);
    return status;
}

static TsrStatus instance_new_move(Value *out, Type *type, Value attributes) {
    Instance *instance = obj_new(type, sizeof *instance);
    if (instance == NULL) {
        value_release(attributes);
        return mem_error();
    }
    instance->attributes = attributes;
    gc_track(instance);
    *out = value_obj_move(instance);
    return TSR_OK;
}

static TsrStatus kind_construct(Value *out, Type *type, const CallArgs *args) {
    Value attributes, made;
    TSR_TRY(dict_new(&attributes));
    TSR_TRY(instance_new_move(&made, type, attributes));
    return value_end_move(out, initialize(made, args), made);
}

/* copy.deepcopy(v, memo) */
static TsrStatus deep_copy_of(Value *out, Value v, Dict *memo) {
    Value module;
    TSR_TRY(module_import(&module, "copy"));
    TsrStatus status = value_call_method(out, module, "deepcopy", 2, (Value[]){v, value_lent(memo)});
    value_release(module);
    return status;
}

static TsrStatus kind_copy(Value *out, Value self, Dict *memo) {
    Value own = ((Instance *)self.o)->attributes, attributes;
    TSR_TRY(memo != NULL ? deep_copy_of(&attributes, own, memo) : dict_copy(&attributes, value_as_dict(own)));
    return instance_new_move(out, self.o->type, attributes);
}

static TsrStatus append_text_of(TsrText *out, Value self, const char *method) {
    Value text;
    TSR_TRY(call_method_n(&text, self, method, 0, NULL));
    TsrStatus status = tsr_text_append(out, value_as_str(text)->data, (size_t)value_as_str(text)->size);
    value_release(text);
    return status;
}

static TsrStatus number_of(int64_t *out, Value self, const char *method) {
    Value number;
    TSR_TRY(call_method_n(&number, self, method, 0, NULL));
    TsrStatus status = value_to_index(out, number);
    value_release(number);
    return status;
}

static TsrStatus kind_repr(TsrText *out, Value self) { return append_text_of(out, self, "__repr__"); }

static TsrStatus kind_call(Value *out, Value self, const CallArgs *args) {
    return call_method(out, self, "__call__", args);
}

static TsrStatus kind_length(int64_t *out, Value self) { return number_of(out, self, "__len__"); }
static TsrStatus kind_iter(Value *out, Value self) { return call_method_n(out, self, "__iter__", 0, NULL); }

static TsrStatus kind_iter_next(Value *out, Value self) {
    TsrStatus status = call_method_n(out, self, "__next__", 0, NULL);
    if (status == TSR_OK || !exc_matches(status, TSR_STOP_ITERATION)) return status;
    exc_discard(status);
    *out = VALUE_UNBOUND;
    return TSR_OK;
}

static TsrStatus kind_get_item(Value *out, Value self, Value index) {
    return call_method_n(out, self, "__getitem__", 1, &index);
}

static TsrStatus kind_compare(Value *out, CompareOp op, Value a, Value b) {
    *out = VALUE_UNBOUND;
    if ((op != CMP_EQ && op != CMP_NE) || value_type(a) != value_type(b)) return TSR_OK;
    TSR_TRY(call_method_n(out, a, "__eq__", 1, &b));
    if (op == CMP_NE) *out = value_bool(!out->b);
    return TSR_OK;
}

#ifndef __wasm__ /* no kind of the page's has these */
static TsrStatus kind_str(TsrText *out, Value self) { return append_text_of(out, self, "__str__"); }
static TsrStatus kind_hash(int64_t *out, Value self) { return number_of(out, self, "__hash__"); }

/* a < b says all. */
static TsrStatus kind_order(Value *out, CompareOp op, Value a, Value b) {
    if (op == CMP_EQ || op == CMP_NE || value_type(a) != value_type(b)) return kind_compare(out, op, a, b);
    bool turned = op == CMP_GT || op == CMP_LE, not = op == CMP_LE || op == CMP_GE;
    TSR_TRY(call_method_n(out, turned ? b : a, "__lt__", 1, turned ? &a : &b));
    *out = value_bool(out->b != not );
    return TSR_OK;
}

/* a / b; NotImplemented is not handled. */
static TsrStatus kind_binary(Value *out, BinaryOp op, Value a, Value b) {
    bool left = value_type(a)->binary == kind_binary;
    *out = VALUE_UNBOUND;
    if (op != OP_DIV) return TSR_OK;
    TSR_TRY(call_method_n(out, left ? a : b, left ? "__truediv__" : "__rtruediv__", 1, left ? &b : &a));
    if (out->tag == V_OBJ && out->o == &not_implemented_object) value_clear(out);
    return TSR_OK;
}

static void add_operators(Type *t) {
    if (has_method(t, "__str__")) t->str = kind_str;
    if (has_method(t, "__lt__")) t->compare = kind_order;
    if (has_method(t, "__hash__")) t->hash = kind_hash;
    if (has_method(t, "__truediv__")) t->binary = kind_binary;
}
#endif

static TsrStatus kind_get_attr(Value *out, Value self, Str *name) {
    const Value *found = dict_find_str(attributes_of(self), name);
    *out = VALUE_UNBOUND;
    if (found != NULL) *out = value_retain(*found);
    else if (str_equal_c(name, "__dict__")) *out = value_retain(((Instance *)self.o)->attributes);
    return TSR_OK;
}

static TsrStatus kind_set_attr(Value self, Str *name, Value value) {
    if (value.tag != V_UNBOUND) return dict_set_str(attributes_of(self), name, value);
    if (dict_remove_str(attributes_of(self), name)) return TSR_OK;
    return tsr_error(TSR_ATTRIBUTE_ERROR, "'%s' object has no attribute '%s'", value_type_name(self), name->data);
}

static TsrStatus kind_dir(List *names, Value self) {
    int64_t position = 0;
    for (DictEntry *e; (e = dict_next(attributes_of(self), &position)) != NULL;) TSR_TRY(list_append(names, e->key));
    for (Type *t = self.o->type; t != NULL && t->lookup == kind_lookup; t = t->base)
        TSR_TRY(prelude_append_methods(names, ((Kind *)t)->space, type_short_name(t)));
    return TSR_OK;
}

static void make_ready(Kind *k) {
    Type *t = &k->type;
    if (k->ready) return;
    if (t->base != NULL) make_ready((Kind *)t->base);
    t->flags = TYPE_GC;
    t->construct = kind_construct;
    t->destroy = instance_destroy;
    t->traverse = instance_traverse;
    t->clear = instance_clear;
    t->get_attr = kind_get_attr;
    t->set_attr = kind_set_attr;
    t->dir = kind_dir;
    t->copy = kind_copy;
    t->lookup = kind_lookup;
    if (has_method(t, "__repr__")) t->repr = kind_repr;
    if (has_method(t, "__call__")) t->call = kind_call;
    if (has_method(t, "__len__")) t->length = kind_length;
    if (has_method(t, "__iter__")) t->iter = kind_iter;
    if (has_method(t, "__next__")) {
        t->iter_next = kind_iter_next;
        t->next_is_identity_iter = 1;
    }
    if (has_method(t, "__getitem__")) t->get_item = kind_get_item;
    if (has_method(t, "__eq__")) {
        t->compare = kind_compare;
        t->hash = hash_refused;
    }
#ifndef __wasm__
    add_operators(t);
#endif
    k->ready = true;
}

Value kind_named(Kind *rows, size_t count, const char *home, const char *name) {
    for (size_t i = 0; i < count; i++) {
        if (strcmp(rows[i].home, home) != 0 || strcmp(type_short_name(&rows[i].type), name) != 0) continue;
        make_ready(&rows[i]);
        return value_lent(&rows[i].type);
    }
    return VALUE_UNBOUND;
}

TsrStatus kind_append_names(List *names, const Kind *rows, size_t count, const char *home) {
    for (size_t i = 0; i < count; i++) {
        const char *name = type_short_name(&rows[i].type);
        if (strcmp(rows[i].home, home) != 0 || name[0] == '_') continue;
        TSR_TRY(list_append_c(names, name));
    }
    return TSR_OK;
}
