/* repr_size.c: a lower bound of the size of a container's repr. Texts count with their own size, other things as one
 * byte. Items that are one object are counted once and multiplied, so that [x] * n is quick; a container inside itself,
 * deep ones, and what stands behind the first million items count as one byte each. */
#include "repr_size.h"

#include "bytes.h"
#include "dict.h"
#include "sequences.h"
#include "str.h"
#include "lang/object/value_impl.h"

enum { DEEPEST = 8, MOST_ITEMS = 1 << 20 };

typedef struct Count {
    const Obj *around[DEEPEST]; /* the containers that are being counted */
    int depth;
    int64_t items; /* looked at */
} Count;

static int64_t sum(int64_t a, int64_t b) { return a > INT64_MAX - b ? INT64_MAX : a + b; }

static int64_t least(Count *c, Value v);

static int64_t least_of_items(Count *c, const Value *items, int64_t n) {
    int64_t total = n > 0 ? 2 * n : 2, size = 1; /* the brackets, and ", " between */
    for (int64_t i = 0; i < n; i++) {
        if (c->items >= MOST_ITEMS) return sum(total, n - i);
        bool again = i > 0 && items[i].tag == V_OBJ && items[i - 1].tag == V_OBJ && items[i].o == items[i - 1].o;
        c->items++;
        if (!again) size = least(c, items[i]);
        total = sum(total, size);
    }
    return total;
}

static int64_t least_of_dict(Count *c, const Dict *d) {
    int64_t total = d->count > 0 ? 4 * d->count : 2, i = 0; /* ": " too */
    for (DictEntry *e; (e = dict_next(d, &i)) != NULL && c->items < MOST_ITEMS; c->items++) {
        total = sum(total, least(c, e->key));
        total = sum(total, least(c, e->value));
    }
    return total;
}

static int64_t least_of_set(Count *c, const Set *s) {
    int64_t total = 2 * s->count;
    for (int64_t i = 0; i <= s->mask && c->items < MOST_ITEMS; i++, c->items++)
        if (s->table[i].key.tag != V_UNBOUND) total = sum(total, least(c, s->table[i].key));
    return total;
}

static int64_t least_of_container(Count *c, Value v) {
    const Value *items;
    int64_t n;
    if (v.o->type == &dict_type) return least_of_dict(c, value_as_dict(v));
    if (value_is_set(v)) return least_of_set(c, value_as_set(v));
    return value_as_array(v, &items, &n) ? least_of_items(c, items, n) : 1;
}

static int64_t least(Count *c, Value v) {
    if (v.tag != V_OBJ) return 1;
    const Type *type = v.o->type;
    if (type == &str_type) return sum(value_as_str(v)->size, 2);
    if (type == &bytes_type) return sum(((const Bytes *)v.o)->size, 3);
    if (type != &list_type && type != &tuple_type && type != &dict_type && !value_is_set(v)) return 1;
    for (int i = 0; i < c->depth; i++)
        if (c->around[i] == v.o) return 1;
    if (c->depth == DEEPEST) return 1;
    c->around[c->depth++] = v.o;
    int64_t size = least_of_container(c, v);
    c->depth--;
    return size;
}

int64_t repr_least(Value v) { return least(&(Count){.depth = 0}, v); }

TsrStatus repr_reserve(TsrText *out, Value v) { return tsr_text_reserve(out, (size_t)repr_least(v)); }
