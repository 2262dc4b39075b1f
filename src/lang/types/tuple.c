/* tuple.c: tuple, torch.Size and named tuples.
 *
 * The items stand behind the object; a tuple of numbers and text can't be part of a cycle and is not tracked by the
 * collector. The hash is xxHash's lanes, as CPython's, since the order of sets shows it. torch.Size is a kind of tuple
 * that keeps its type when sliced or added to; a named tuple (structseq) has its names in its type. */
#include "lang/object/args.h"
#include "lang/object/exc.h"
#include "lang/object/native.h"
#include "numbers.h"
#include "sequences.h"
#include "indices.h"
#include "str.h"
#include "repr_size.h"
#include "lang/object/value_impl.h"

#include <stdio.h>
#include <string.h>

static size_t tuple_bytes(int64_t count) { return sizeof(Tuple) + (size_t)count * sizeof(Value); }

static Tuple *make(Type *type, int64_t count) {
    if (count < 0 || count > (int64_t)(PTRDIFF_MAX / sizeof(Value)) - 64) {
        mem_error();
        return NULL;
    }
    Tuple *t = obj_new(type, tuple_bytes(count));
    if (t != NULL) t->count = count;
    return t;
}

/* Room for `count` items, none of them there yet. */
static Tuple *make_empty(Type *type, int64_t count) {
    Tuple *t = make(type, count);
    if (t != NULL) t->count = 0;
    return t;
}

TsrStatus tuple_new_raw(Value *out, int64_t count) {
    Tuple *t = make(&tuple_type, count);
    if (t == NULL) return TSR_MEMORY_ERROR;
    memset(t->items, 0, (size_t)count * sizeof(Value));
    *out = value_obj_move(t);
    return TSR_OK;
}

/* Tuples of numbers and text can't be part of a cycle: they are not tracked. Where an interrupt ends the look, they
 * are. */
static bool may_cycle(const Tuple *t) {
    for (int64_t i = 0; i < t->count; i++) {
        if (t->items[i].tag == V_OBJ && (t->items[i].o->type->flags & TYPE_GC)) return true;
        if (tsr_interrupted_at(i + 1)) return true;
    }
    return false;
}

/* Further items of a tuple whose count says how many it has yet. */
static inline void append(Tuple *t, const Value *items, int64_t count, int64_t step) {
    enum { PIECE = 1024 };
    Value *to = t->items + t->count;
    int64_t i = 0;
    do {
        for (int64_t end = TSR_MIN(count, i + PIECE); i < end; i++) to[i] = value_retain(items[i * step]);
    } while (i < count && tsr_interrupt_flag == 0);
    t->count += i;
}

/* The end of one with `count` items, unless an interrupt came before. */
static TsrStatus finish_move(Value *out, Tuple *t, int64_t count) {
    bool whole = t->count == count;
    if (whole && may_cycle(t)) gc_track(t);
    return value_end_move(out, TSR_LIKELY(whole) ? TSR_OK : tsr_interrupt_raise(), value_obj_move(t));
}

TsrStatus tuple_new_typed(Value *out, Type *type, const Value *items, int64_t count) {
    Tuple *t = make_empty(type, count);
    if (t == NULL) return TSR_MEMORY_ERROR;
    append(t, items, count, 1);
    return finish_move(out, t, count);
}

TsrStatus tuple_new(Value *out, const Value *items, int64_t count) {
    return tuple_new_typed(out, &tuple_type, items, count);
}

static TsrStatus typed_move(Value *out, Type *type, Value *items, int64_t count) {
    Tuple *t = make(type, count);
    if (t == NULL) {
        values_release(items, count);
        return TSR_MEMORY_ERROR;
    }
    if (count > 0) memcpy(t->items, items, (size_t)count * sizeof(Value));
    if (may_cycle(t)) gc_track(t);
    *out = value_obj_move(t);
    return TSR_OK;
}

TsrStatus tuple_new_move(Value *out, Value *items, int64_t count) { return typed_move(out, &tuple_type, items, count); }

TsrStatus tuple_new_iterable(Value *out, Value iterable) {
    if (value_is_obj(iterable, &tuple_type)) {
        *out = value_retain(iterable);
        return TSR_OK;
    }
    const Value *items;
    int64_t count;
    if (value_as_array(iterable, &items, &count)) return tuple_new(out, items, count);
    Value list;
    TSR_TRY(list_new_iterable(&list, iterable));
    TsrStatus status = tuple_new(out, value_as_list(list)->items, value_as_list(list)->count);
    value_release(list);
    return status;
}

/* --- slots --- */

static void tuple_destroy(Obj *self) {
    Tuple *t = (Tuple *)self;
    int64_t count = t->count;
    values_release(t->items, count);
    obj_free(t, tuple_bytes(count));
}
static void tuple_traverse(Obj *self, GcVisit visit, void *context) {
    const Tuple *t = (Tuple *)self;
    for (int64_t i = 0; i < t->count; i++) gc_visit_value(t->items[i], visit, context);
}
static void tuple_clear(Obj *self) { (void)self; /* what a cycle goes through besides is cleared */ }

static TsrStatus write_items(TsrText *out, const Tuple *t) {
    for (int64_t i = 0; i < t->count; i++) {
        if (i > 0) TSR_TRY(tsr_text_append(out, ", ", 2));
        TSR_TRY(value_repr(out, t->items[i]));
    }
    return TSR_OK;
}

static TsrStatus guarded_repr(TsrText *out, Value self, const char *open, const char *close) {
    ReprGuard guard;
    bool again;
    TSR_TRY(repr_enter(&guard, self.o, &again));
    if (again) return tsr_text_printf(out, "%s...%s", open, close[0] == ',' ? close + 1 : close);
    TsrStatus status = guard.outer == NULL ? repr_reserve(out, self) : TSR_OK;
    if (status == TSR_OK) status = tsr_text_puts(out, open);
    if (status == TSR_OK) status = write_items(out, value_as_tuple(self));
    if (status == TSR_OK) status = tsr_text_puts(out, close);
    repr_leave(&guard);
    return status;
}

static TsrStatus tuple_repr(TsrText *out, Value self) {
    return guarded_repr(out, self, "(", value_as_tuple(self)->count == 1 ? ",)" : ")");
}

/* xxHash's lanes, as CPython's tuplehash. */
static TsrStatus tuple_hash(int64_t *out, Value self) {
    const uint64_t p1 = 11400714785074694791u, p2 = 14029467366897019727u, p5 = 2870177450012600261u;
    const Tuple *t = value_as_tuple(self);
    uint64_t acc = p5;
    for (int64_t i = 0; i < t->count; i++) {
        int64_t lane;
        if (tsr_interrupted_at(i)) TSR_TRY(tsr_interrupt_check());
        TSR_TRY(value_hash(&lane, t->items[i]));
        acc += (uint64_t)lane * p2;
        acc = (acc << 31) | (acc >> 33);
        acc *= p1;
    }
    acc += (uint64_t)t->count ^ (p5 ^ 3527539u);
    *out = acc == (uint64_t)-1 ? 1546275796 : (int64_t)acc;
    return TSR_OK;
}

static TsrStatus tuple_compare(Value *out, CompareOp op, Value a, Value b) {
    *out = VALUE_UNBOUND;
    return value_is_tuple(a) && value_is_tuple(b) ? sequence_compare(out, op, a, b) : TSR_OK;
}

static TsrStatus tuple_length(int64_t *out, Value self) {
    *out = value_as_tuple(self)->count;
    return TSR_OK;
}

/* Whether an answer with all items of `v` is `v` itself, as in CPython: it is no kind of tuple, and never changes. */
static TsrStatus same(Value *out, Value v) {
    *out = value_retain(v);
    return TSR_OK;
}

/* The type of a slice or sum: torch.Size stays one, named tuples become tuples. */
static Type *plain_type(Value v) { return v.o->type == &size_type ? &size_type : &tuple_type; }

static TsrStatus tuple_get_item(Value *out, Value self, Value index) {
    const Tuple *t = value_as_tuple(self);
    int64_t i, stop, step, count;
    if (value_is_obj(index, &slice_type)) {
        TSR_TRY(slice_resolve((Slice *)index.o, t->count, &i, &stop, &step, &count));
        if (count == t->count && step == 1 && self.o->type == &tuple_type) return same(out, self);
        Tuple *r = make_empty(plain_type(self), count);
        if (r == NULL) return TSR_MEMORY_ERROR;
        append(r, t->items + i, count, step);
        return finish_move(out, r, count);
    }
    TSR_TRY(sequence_index(&i, index, "tuple"));
    if (!index_wrap(&i, t->count)) return tsr_error(TSR_INDEX_ERROR, "tuple index out of range");
    *out = value_retain(t->items[i]);
    return TSR_OK;
}

static TsrStatus tuple_contains(bool *out, Value self, Value item) {
    const Tuple *t = value_as_tuple(self);
    *out = false;
    for (int64_t i = 0; i < t->count && !*out; i++) TSR_TRY(value_equal(out, t->items[i], item));
    return TSR_OK;
}

static TsrStatus concat(Value *out, Type *type, const Tuple *a, const Tuple *b) {
    Tuple *t = make_empty(type, a->count + b->count);
    if (t == NULL) return TSR_MEMORY_ERROR;
    append(t, a->items, a->count, 1);
    append(t, b->items, b->count, 1);
    return finish_move(out, t, a->count + b->count);
}

static TsrStatus repeat(Value *out, Type *type, const Tuple *a, int64_t times) {
    int64_t total;
    if (tsr_mul_overflows(a->count, times, &total)) return mem_error();
    Tuple *t = make_empty(type, total);
    if (t == NULL) return TSR_MEMORY_ERROR;
    for (int64_t round = 0; round < times && tsr_interrupt_flag == 0; round++) append(t, a->items, a->count, 1);
    return finish_move(out, t, total);
}

static TsrStatus tuple_binary(Value *out, BinaryOp op, Value a, Value b) {
    *out = VALUE_UNBOUND;
    if (op == OP_ADD && value_is_tuple(a) && value_is_tuple(b)) {
        Type *type = a.o->type == &size_type || b.o->type == &size_type ? &size_type : &tuple_type;
        if (value_as_tuple(b)->count == 0 && a.o->type == type && type == &tuple_type) return same(out, a);
        if (value_as_tuple(a)->count == 0 && b.o->type == type && type == &tuple_type) return same(out, b);
        return concat(out, type, value_as_tuple(a), value_as_tuple(b));
    }
    if (op != OP_MUL) return TSR_OK;
    Value tuple = value_is_tuple(a) ? a : b;
    int64_t times;
    bool handled;
    TSR_TRY(repeat_count(&times, value_is_tuple(a) ? b : a, value_as_tuple(tuple)->count, &handled));
    if (!handled) return TSR_OK;
    if (times == 1 && tuple.o->type == &tuple_type) return same(out, tuple);
    return repeat(out, plain_type(tuple), value_as_tuple(tuple), times);
}

static TsrStatus tuple_iter(Value *out, Value self) { return seq_iter_new(out, self); }

static TsrStatus tuple_construct(Value *out, Type *type, const CallArgs *args) {
    TSR_TRY(args_no_keywords(args, type->name));
    TSR_TRY(args_count(args, 0, 0, 1, "tuple"));
    return args->count == 0 ? tuple_new(out, NULL, 0) : tuple_new_iterable(out, args->values[0]);
}

static TsrStatus method_index(Value *out, const CallArgs *args) {
    int64_t i;
    TSR_TRY(sequence_find(&i, args));
    *out = value_int(i);
    return i >= 0 ? TSR_OK : tsr_error(TSR_VALUE_ERROR, "tuple.index(x): x not in tuple");
}

static const Method tuple_methods[] = {
    {"index", method_index, ARGS_RANGE, 1, 3, "(value, start=0, stop=9223372036854775807, /)",
     "The first index of the value."},
    {"count", sequence_count, ARGS_ONE, 0, 0, "(value, /)", "How many items equal the value."},
    {0},
};

Type tuple_type = {.obj = TYPE_HEADER,
                   .name = "tuple",
                   .doc = "tuple(iterable): a sequence that never changes.",
                   .flags = TYPE_GC | TYPE_SEQUENCE,
                   .construct = tuple_construct,
                   .destroy = tuple_destroy,
                   .traverse = tuple_traverse,
                   .clear = tuple_clear,
                   .repr = tuple_repr,
                   .hash = tuple_hash,
                   .compare = tuple_compare,
                   .length = tuple_length,
                   .get_item = tuple_get_item,
                   .contains = tuple_contains,
                   .iter = tuple_iter,
                   .binary = tuple_binary,
                   .methods = tuple_methods};

/* --- torch.Size --- */

TsrStatus size_new(Value *out, const int64_t *sizes, int64_t count) {
    Tuple *t = make(&size_type, count);
    if (t == NULL) return TSR_MEMORY_ERROR;
    for (int64_t i = 0; i < count; i++) t->items[i] = value_int(sizes[i]);
    *out = value_obj_move(t);
    return TSR_OK;
}

static TsrStatus size_repr(TsrText *out, Value self) { return guarded_repr(out, self, "torch.Size([", "])"); }

static TsrStatus size_construct(Value *out, Type *type, const CallArgs *args) {
    TSR_TRY(args_no_keywords(args, "torch.Size"));
    TSR_TRY(args_count(args, 0, 0, 1, "tuple"));
    if (args->count == 0) return tuple_new_typed(out, type, NULL, 0);
    Value tuple;
    TSR_TRY(tuple_new_iterable(&tuple, args->values[0]));
    const Tuple *t = value_as_tuple(tuple);
    Tuple *size = make(type, t->count);
    TsrStatus status = size != NULL ? TSR_OK : TSR_MEMORY_ERROR;
    if (size != NULL) memset(size->items, 0, (size_t)t->count * sizeof(Value));
    for (int64_t i = 0; status == TSR_OK && i < t->count; i++) {
        int64_t n;
        bool number = value_is_int(t->items[i]) || t->items[i].tag == V_TENSOR;
        status = number ? value_to_index(&n, t->items[i])
                        : tsr_error(TSR_TYPE_ERROR, "torch.Size() takes an iterable of 'int' (item %lld is '%s')",
                                    (long long)i, value_type_name(t->items[i]));
        if (status == TSR_OK) size->items[i] = value_int(n);
    }
    value_release(tuple);
    if (status == TSR_OK) *out = value_obj_move(size);
    else obj_xrelease(size);
    return status;
}

static TsrStatus size_numel(Value *out, const CallArgs *args) {
    const Tuple *t = value_as_tuple(args->values[0]);
    *out = value_int(1);
    for (int64_t i = 0; i < t->count; i++) TSR_TRY(int_binary(out, OP_MUL, *out, t->items[i]));
    return TSR_OK;
}

static const Method size_methods[] = {
    {"numel", size_numel, ARGS_NONE, 0, 0, "()", "How many elements a tensor of this size has."},
    {0},
};

Type size_type = {.obj = TYPE_HEADER,
                  .name = "torch.Size",
                  .base = &tuple_type,
                  .doc = "torch.Size(iterable): the sizes of a tensor.",
                  .flags = TYPE_GC | TYPE_SEQUENCE,
                  .construct = size_construct,
                  .destroy = tuple_destroy,
                  .traverse = tuple_traverse,
                  .clear = tuple_clear,
                  .repr = size_repr,
                  .hash = tuple_hash,
                  .compare = tuple_compare,
                  .length = tuple_length,
                  .get_item = tuple_get_item,
                  .contains = tuple_contains,
                  .iter = tuple_iter,
                  .binary = tuple_binary,
                  .methods = size_methods};

/* --- named tuples --- */

typedef struct NamedType {
    Type type;
    const char *const *fields;
    int count;
    struct NamedType *next;
} NamedType;
static NamedType *named_types;

static const NamedType *named_type(Value v) { return (const NamedType *)v.o->type; }

static TsrStatus named_repr(TsrText *out, Value self) {
    const NamedType *type = named_type(self);
    bool lines = strncmp(type->type.name, "torch.", 6) == 0; /* torch's have a field a line, Python's are in one */
    TSR_TRY(tsr_text_printf(out, "%s(%s", type->type.name, lines ? "\n" : ""));
    for (int i = 0; i < type->count; i++) {
        if (i > 0) TSR_TRY(tsr_text_puts(out, lines ? ",\n" : ", "));
        TSR_TRY(tsr_text_printf(out, "%s=", type->fields[i]));
        TSR_TRY(value_repr(out, value_as_tuple(self)->items[i]));
    }
    return tsr_text_putc(out, ')');
}

static TsrStatus named_attr(Value *out, Value self, Str *name) {
    const NamedType *type = named_type(self);
    *out = VALUE_UNBOUND;
    for (int i = 0; i < type->count; i++) {
        if (!str_equal_c(name, type->fields[i])) continue;
        *out = value_retain(value_as_tuple(self)->items[i]);
        return TSR_OK;
    }
    if (str_equal_c(name, "_fields")) {
        Value list;
        TSR_TRY(list_new(&list, type->count));
        TsrStatus status = type->type.dir(value_as_list(list), self);
        if (status == TSR_OK) status = tuple_new_iterable(out, list);
        value_release(list);
        return status;
    }
    if (str_equal_c(name, "n_fields") || str_equal_c(name, "n_sequence_fields")) *out = value_int(type->count);
    return TSR_OK;
}

static TsrStatus named_dir(List *names, Value self) {
    const NamedType *type = named_type(self);
    for (int i = 0; i < type->count; i++) TSR_TRY(list_append_c(names, type->fields[i]));
    return TSR_OK;
}

static TsrStatus named_construct(Value *out, Type *type, const CallArgs *args) {
    const NamedType *named = (const NamedType *)type;
    TSR_TRY(args_no_keywords(args, type->name));
    TSR_TRY(args_count(args, 0, 1, 1, type->name));
    Value tuple;
    TSR_TRY(tuple_new_iterable(&tuple, args->values[0]));
    const Tuple *t = value_as_tuple(tuple);
    TsrStatus status = t->count == named->count
                           ? tuple_new_typed(out, type, t->items, t->count)
                           : tsr_error(TSR_TYPE_ERROR, "%s() takes a %d-sequence (%lld-sequence given)",
                                       type_full_name(type), named->count, (long long)t->count);
    value_release(tuple);
    return status;
}

static TsrStatus named_set_attr(Value self, Str *name, Value v) {
    const NamedType *type = named_type(self);
    (void)v;
    for (int i = 0; i < type->count; i++)
        if (str_equal_c(name, type->fields[i])) return tsr_error(TSR_ATTRIBUTE_ERROR, "readonly attribute");
    return tsr_error(TSR_ATTRIBUTE_ERROR, "'%s' object has no attribute '%s'", type_full_name(&type->type), name->data);
}

Type *structseq_type(const char *name, const char *const *fields, int count) {
    for (NamedType *t = named_types; t != NULL; t = t->next) {
        if (strcmp(t->type.name, name) == 0 && t->count == count) return &t->type;
    }
    size_t name_size = strlen(name) + 1, fields_size = sizeof *fields * (size_t)count;
    NamedType *t = tsr_calloc(1, sizeof *t + fields_size + name_size);
    if (t == NULL) {
        mem_error();
        return NULL;
    }
    const char **kept = (const char **)(t + 1); /* the caller's array may be a local; the names themselves live on */
    memcpy(kept, fields, fields_size);
    char *text = (char *)(t + 1) + fields_size;
    memcpy(text, name, name_size);
    t->type = tuple_type;
    t->type.obj = size_type.obj;
    t->type.obj.refcount = 0x40000000u;
    t->type.name = text;
    t->type.base = &tuple_type;
    t->type.doc = NULL;
    t->type.methods = NULL;
    t->type.cache = NULL;
    t->type.construct = named_construct;
    t->type.repr = named_repr;
    t->type.get_attr = named_attr;
    t->type.set_attr = named_set_attr;
    t->type.dir = named_dir;
    t->fields = kept;
    t->count = count;
    t->next = named_types;
    named_types = t;
    return &t->type;
}

TsrStatus structseq_new_move(Value *out, Type *type, Value *items) {
    return typed_move(out, type, items, ((NamedType *)type)->count);
}

void tuple_shutdown(void) {
    while (named_types != NULL) {
        NamedType *t = named_types;
        named_types = t->next;
        tsr_free(t);
    }
}
