/* dict.h: dict (insertion ordered, open addressing), set and frozenset (CPython's probing, hence its order). */
#ifndef LANG_TYPES_DICT_H
#define LANG_TYPES_DICT_H

#include "lang/object/gc.h"

typedef struct DictEntry {
    Value key; /* V_UNBOUND: deleted */
    Value value;
    int64_t hash;
} DictEntry;

struct Dict {
    GcObj gc;
    DictEntry *entries; /* in insertion order: `used` of them are written; those from `first` to `end` count, of which
                           neither the first nor the last is a deleted one */
    int32_t *index;     /* mask + 1 slots; NULL while empty */
    int64_t first, end, used, count, capacity; /* capacity of entries */
    int64_t mask;
    uint64_t version; /* changes whenever a key is added or removed, or entries move */
};

typedef struct SetEntry {
    Value key; /* V_UNBOUND and hash 0: free; V_UNBOUND and hash -1: deleted */
    int64_t hash;
} SetEntry;

typedef struct Set {
    GcObj gc;
    SetEntry *table;
    int64_t mask, fill, count;
    int64_t hash; /* of a frozenset; -1: not computed */
    SetEntry small[8];
} Set;

extern Type dict_type, ordered_dict_type, set_type, frozenset_type, dict_keys_type, dict_values_type, dict_items_type;
static inline bool value_is_dict(Value v) {
    return v.tag == V_OBJ && (v.o->type == &dict_type || v.o->type->base == &dict_type);
} /* cards too */
static inline Dict *value_as_dict(Value v) { return (Dict *)v.o; }
static inline bool value_is_set(Value v) {
    return v.tag == V_OBJ && (v.o->type == &set_type || v.o->type == &frozenset_type);
}
static inline Set *value_as_set(Value v) { return (Set *)v.o; }

TsrStatus dict_new(Value *out);
Dict *dict_new_raw(void); /* NULL with TSR_MEMORY_ERROR set */
/* *lent: where the value is, until the dict changes; NULL when there is none. TypeError for unhashable keys. */
TsrStatus dict_find(Value **lent, const Dict *dict, Value key);
Value *dict_find_str(const Dict *dict, Str *key); /* quick, can't fail; NULL when there is none */
Value *dict_find_c(const Dict *dict, const char *key);
TsrStatus dict_set(Dict *dict, Value key, Value value); /* retains both */
TsrStatus dict_set_str(Dict *dict, Str *key, Value value);
TsrStatus dict_set_c(Dict *dict, const char *key, Value value);
TsrStatus dict_set_c_move(Dict *dict, const char *key, Value value); /* consumes the value, on failure too */
TsrStatus dict_remove(bool *found, Dict *dict, Value key);
bool dict_remove_str(Dict *dict, Str *key);
void dict_clear(Dict *dict);
void dict_swap(Dict *a, Dict *b); /* their entries */
TsrStatus dict_copy(Value *out, const Dict *dict);
TsrStatus dict_update(Dict *dict, Value other); /* a mapping or pairs */
/* What dict(...) and update(...) do with their arguments after the first `skip`: at most one mapping or pairs, then
 * keywords. */
TsrStatus dict_update_from(Dict *dict, const CallArgs *args, int skip, const char *function);
/* The next entry at or after *position, which moves past it; NULL at the end. */
static inline DictEntry *dict_next(const Dict *dict, int64_t *position) {
    if (*position < dict->first) *position = dict->first;
    while (*position < dict->end) {
        DictEntry *entry = &dict->entries[(*position)++];
        if (entry->key.tag != V_UNBOUND) return entry;
    }
    return NULL;
}

static inline DictEntry *dict_last(const Dict *dict) {
    return dict->count > 0 ? &dict->entries[dict->end - 1] : NULL;
} /* NULL: empty */

TsrStatus set_new(Value *out, Type *type);                          /* set_type or frozenset_type */
TsrStatus set_new_iterable(Value *out, Type *type, Value iterable); /* V_UNBOUND: an empty one */
TsrStatus set_add(Set *set, Value key);                             /* retains; TypeError for unhashable keys */
TsrStatus set_update(Set *set, Value iterable);
static inline SetEntry *set_next(const Set *set, int64_t *position) {
    while (*position <= set->mask) {
        SetEntry *entry = &set->table[(*position)++];
        if (entry->key.tag != V_UNBOUND) return entry;
    }
    return NULL;
}

#endif
