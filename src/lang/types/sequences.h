/* sequences.h: list, tuple and its named kinds, range, slice. */
#ifndef LANG_TYPES_SEQUENCES_H
#define LANG_TYPES_SEQUENCES_H

#include "lang/object/gc.h"

struct List {
    GcObj gc;
    Value *items; /* owned */
    int64_t count, capacity;
};

typedef struct Tuple {
    GcObj gc;
    int64_t count;
    Value items[];
} Tuple;

typedef struct Range {
    Obj obj;
    Value start, stop, step;      /* ints */
    bool small;                   /* the three below hold */
    int64_t first, stride, count; /* count is exact when small */
} Range;

typedef struct Slice {
    GcObj gc;
    Value start, stop, step; /* VALUE_NONE where left out */
} Slice;

extern Type list_type, tuple_type, range_type, slice_type;
/* Called when the length of a list that was made before has changed; NULL while nobody watches. */
extern void (*list_length_hook)(const List *l);
static inline bool value_is_list(Value v) {
    return v.tag == V_OBJ && (v.o->type == &list_type || v.o->type->base == &list_type);
} /* tables too */
static inline bool value_is_tuple(Value v) {
    return v.tag == V_OBJ && (v.o->type == &tuple_type || v.o->type->base == &tuple_type);
} /* torch.Size and named ones too */
static inline List *value_as_list(Value v) { return (List *)v.o; }
static inline Tuple *value_as_tuple(Value v) { return (Tuple *)v.o; }

/* Empty, with room for `capacity`. */
TsrStatus list_new(Value *out, int64_t capacity);
/* A list of `count` values, which are retained. */
TsrStatus list_new_from(Value *out, const Value *items, int64_t count);
/* A list of the values, which are consumed, on failure too. */
TsrStatus list_new_move(Value *out, Value *items, int64_t count);
TsrStatus list_new_iterable(Value *out, Value iterable);
TsrStatus list_append(List *list, Value item);         /* retains */
TsrStatus list_append_move(List *list, Value item);    /* consumes, on failure too */
TsrStatus list_append_c(List *list, const char *text); /* a str of it */
TsrStatus list_extend(List *list, Value iterable);
TsrStatus list_sort(List *list, Value key, bool reverse); /* key V_NONE or V_UNBOUND: none. Stable. */
void list_reverse(List *list);

TsrStatus tuple_new(Value *out, const Value *items, int64_t count);                   /* retains */
TsrStatus tuple_new_typed(Value *out, Type *type, const Value *items, int64_t count); /* of a kind of tuple; retains */
TsrStatus tuple_new_move(Value *out, Value *items, int64_t count);                    /* consumes, on failure too */
TsrStatus tuple_new_iterable(Value *out, Value iterable);
/* All items V_UNBOUND and not tracked: fill them, then gc_track. */
TsrStatus tuple_new_raw(Value *out, int64_t count);

/* torch.Size: a tuple of ints that prints as torch.Size([2, 3]). The binding adds methods through its own table. */
extern Type size_type;
TsrStatus size_new(Value *out, const int64_t *sizes, int64_t count);

/* A named tuple type (torch.return_types.max): prints "torch.return_types.max(\nvalues=...,\nindices=...)". One type
 * a name, which begins with its module's; fields are static strings. Lent, lives until shutdown; NULL when memory is
 * short. */
Type *structseq_type(const char *name, const char *const *fields, int count);
TsrStatus structseq_new_move(Value *out, Type *type, Value *items); /* consumes the items */

TsrStatus slice_new(Value *out, Value start, Value stop, Value step); /* retains; V_UNBOUND: None */
/* Python's slice.indices: first index, step and how many, for a sequence of `length`. */
TsrStatus slice_resolve(const Slice *slice, int64_t length, int64_t *start, int64_t *stop, int64_t *step,
                        int64_t *count);

/* The values of a list or tuple, lent, or false: v is neither. Valid until the list changes. */
static inline bool value_as_array(Value v, const Value **items, int64_t *count) {
    if (value_is_list(v)) {
        *items = value_as_list(v)->items;
        *count = value_as_list(v)->count;
        return true;
    }
    if (value_is_tuple(v)) {
        *items = value_as_tuple(v)->items;
        *count = value_as_tuple(v)->count;
        return true;
    }
    if (v.tag == V_OBJ && v.o->type->base == &list_type) {
        *items = ((List *)v.o)->items;
        *count = ((List *)v.o)->count;
        return true;
    } /* a table */
    return false;
}
/* A negative index counts from the end; false when outside [0, count). */
static inline bool index_wrap(int64_t *index, int64_t count) {
    if (*index < 0) *index += count;
    return *index >= 0 && *index < count;
}
/* Unpacking `a, b = v`: *out gets exactly `count` owned values; "not enough values to unpack (expected 3, got 2)",
 * "too many values to unpack (expected 2)", "cannot unpack non-iterable int object". */
TsrStatus value_unpack(Value *out, Value v, int64_t count);
/* `a, *b, c = v`: before values, a list, after values. */
TsrStatus value_unpack_star(Value *out, Value v, int64_t before, int64_t after);

#endif
