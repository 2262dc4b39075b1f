/* iter.c: iterators made by native code: over sequences, by index, until a sentinel; enumerate, zip, map, filter,
 * reversed; and unpacking.
 *
 * Each is an object with a slot `iter_next` that gives V_UNBOUND at the end and from then on. Lists and tuples have one
 * of their own, which reads the items in place; most others hold two values and a position (PairIter), zip and map
 * several iterators (ManyIter). Unpacking knows lists and tuples and asks all else through these. */
#include "bytes.h"
#include "lang/object/args.h"
#include "lang/object/exc.h"
#include "lang/object/native.h"
#include "numbers.h"
#include "sequences.h"
#include "str.h"
#include "lang/object/value_impl.h"

#include <string.h>

/* --- list and tuple --- */

typedef struct SeqIter {
    GcObj gc;
    Value seq; /* V_UNBOUND when exhausted */
    int64_t at;
    int64_t step; /* 1 or -1 */
} SeqIter;

GC_HOLDS(seq, SeqIter, &it->seq)

static TsrStatus seq_next(Value *out, Value self) {
    SeqIter *it = (SeqIter *)self.o;
    const Value *items;
    int64_t count;
    if (it->seq.tag == V_UNBOUND) return TSR_OK;
    value_as_array(it->seq, &items, &count);
    if (it->at >= 0 && it->at < count) {
        *out = value_retain(items[it->at]);
        it->at += it->step;
    } else {
        seq_clear(self.o);
    }
    return TSR_OK;
}

static TsrStatus seq_length_hint(Value *out, const CallArgs *args) {
    const SeqIter *it = (SeqIter *)args->values[0].o;
    const Value *items;
    int64_t count = 0;
    if (it->seq.tag != V_UNBOUND) value_as_array(it->seq, &items, &count);
    *out = value_int(it->step > 0 ? TSR_MAX(count - it->at, 0) : TSR_MIN(it->at + 1, count));
    return TSR_OK;
}
static const Method seq_methods[] = {{"__length_hint__", seq_length_hint, ARGS_NONE, 0, 0, NULL, NULL}, {0}};

#define SEQ_TYPE(ident, text) \
    static Type ident = {.obj = TYPE_HEADER, \
                         .name = text, \
                         .flags = TYPE_GC, \
                         .destroy = seq_destroy, \
                         .traverse = seq_traverse, \
                         .clear = seq_clear, \
                         .iter_next = seq_next, \
                         .methods = seq_methods};
SEQ_TYPE(list_iter_type, "list_iterator")
SEQ_TYPE(tuple_iter_type, "tuple_iterator")
SEQ_TYPE(list_reverse_type, "list_reverseiterator")

static TsrStatus seq_make(Value *out, Type *type, Value seq, int64_t at, int64_t step) {
    SeqIter *it = obj_new(type, sizeof *it);
    if (it == NULL) return TSR_MEMORY_ERROR;
    it->seq = value_retain(seq);
    it->at = at;
    it->step = step;
    gc_track(it);
    *out = value_obj_move(it);
    return TSR_OK;
}

TsrStatus seq_iter_new(Value *out, Value seq) {
    return seq_make(out, value_is_list(seq) ? &list_iter_type : &tuple_iter_type, seq, 0, 1);
}

/* --- two held values and a position: the shape of most others --- */

typedef struct PairIter {
    GcObj gc;
    Value first, second;
    int64_t at;
} PairIter;

GC_HOLDS(pair, PairIter, &it->first, &it->second)

static TsrStatus pair_make_move(Value *out, Type *type, Value first, Value second, int64_t at) {
    PairIter *it = obj_new(type, sizeof *it);
    if (it == NULL) {
        value_release(first);
        value_release(second);
        return TSR_MEMORY_ERROR;
    }
    it->first = first;
    it->second = second;
    it->at = at;
    gc_track(it);
    *out = value_obj_move(it);
    return TSR_OK;
}

#define PAIR_SLOTS .flags = TYPE_GC, .destroy = pair_destroy, .traverse = pair_traverse, .clear = pair_clear

/* by get_item from 0 until IndexError */
static TsrStatus index_next(Value *out, Value self) {
    PairIter *it = (PairIter *)self.o;
    if (it->first.tag == V_UNBOUND) return TSR_OK;
    TsrStatus status = value_getitem(out, it->first, value_int(it->at));
    if (status == TSR_OK) it->at++;
    if (!exc_matches(status, TSR_INDEX_ERROR) && !exc_matches(status, TSR_STOP_ITERATION)) return status;
    exc_discard(status);
    *out = VALUE_UNBOUND;
    pair_clear(self.o);
    return TSR_OK;
}
static Type index_iter_type = {.obj = TYPE_HEADER, .name = "iterator", PAIR_SLOTS, .iter_next = index_next};
static Type bytes_iter_type = {.obj = TYPE_HEADER, .name = "bytes_iterator", PAIR_SLOTS, .iter_next = index_next};
static Type bytearray_iter_type = {
    .obj = TYPE_HEADER, .name = "bytearray_iterator", PAIR_SLOTS, .iter_next = index_next};
TsrStatus index_iter_new(Value *out, Value sequence) {
    Type *type = value_is_bytes(sequence)       ? &bytes_iter_type
                 : value_is_bytearray(sequence) ? &bytearray_iter_type
                                                : &index_iter_type;
    return pair_make_move(out, type, value_retain(sequence), VALUE_UNBOUND, 0);
}

static TsrStatus sentinel_next(Value *out, Value self) {
    PairIter *it = (PairIter *)self.o;
    if (it->first.tag == V_UNBOUND) return TSR_OK;
    Value v;
    bool end;
    TsrStatus status = value_call_n(&v, it->first, 0, NULL);
    if (exc_matches(status, TSR_STOP_ITERATION)) {
        exc_discard(status);
        pair_clear(self.o);
        return TSR_OK;
    }
    TSR_TRY(status);
    status = value_equal(&end, v, it->second);
    if (status != TSR_OK || end) {
        value_release(v);
        if (end) pair_clear(self.o);
        return status;
    }
    *out = v;
    return TSR_OK;
}
static Type sentinel_iter_type = {
    .obj = TYPE_HEADER, .name = "callable_iterator", PAIR_SLOTS, .iter_next = sentinel_next};
TsrStatus sentinel_iter_new(Value *out, Value callable, Value sentinel) {
    return pair_make_move(out, &sentinel_iter_type, value_retain(callable), value_retain(sentinel), 0);
}

/* --- enumerate: first is the iterator, second the next number --- */

static TsrStatus enumerate_next(Value *out, Value self) {
    PairIter *it = (PairIter *)self.o;
    Value item, number;
    TSR_TRY(value_next(&item, it->first));
    if (item.tag == V_UNBOUND) return TSR_OK;
    TsrStatus status = int_binary(&number, OP_ADD, it->second, value_int(1));
    if (status != TSR_OK) {
        value_release(item);
        return status;
    }
    Value pair[2] = {it->second, item};
    it->second = number;
    return tuple_new_move(out, pair, 2);
}

static TsrStatus enumerate_construct(Value *out, Type *type, const CallArgs *args) {
    static const char *const names[] = {"iterable", "start"};
    static const ArgSpec spec = {"enumerate", names, 2, 0, 2, 1};
    Value given[2], iterator;
    if (args->count + args->keyword_count == 0)
        return tsr_error(TSR_TYPE_ERROR, "enumerate() missing required argument 'iterable'");
    for (int i = 0; i < args->keyword_count && args->count + args->keyword_count <= 2; i++) {
        const char *name = args->names[i]->data;
        if (strcmp(name, names[0]) != 0 && strcmp(name, names[1]) != 0)
            return tsr_error(TSR_TYPE_ERROR, "'%s' is an invalid keyword argument for enumerate()", name);
    }
    TSR_TRY(args_parse(given, args, 0, &spec));
    Value start = value_int(0);
    if (given[1].tag != V_UNBOUND) TSR_TRY(value_new_index(&start, given[1]));
    TsrStatus status = value_iter(&iterator, given[0]);
    if (status != TSR_OK) {
        value_release(start);
        return status;
    }
    return pair_make_move(out, type, iterator, start.tag == V_BOOL ? value_int(start.i) : start, 0);
}

Type enumerate_type = {.obj = TYPE_HEADER,
                       .name = "enumerate",
                       .doc = "enumerate(iterable, start=0): (number, item) pairs.",
                       PAIR_SLOTS,
                       .construct = enumerate_construct,
                       .iter_next = enumerate_next};

/* --- filter: first is the function or None --- */

static TsrStatus filter_next(Value *out, Value self) {
    PairIter *it = (PairIter *)self.o;
    for (int64_t n = 1;; n++) {
        Value item;
        bool keep;
        TSR_TRY(tsr_interrupt_check_at(n));
        TSR_TRY(value_next(&item, it->second));
        if (item.tag == V_UNBOUND) return TSR_OK;
        TsrStatus status = value_holds(&keep, it->first, item);
        if (status == TSR_OK && keep) {
            *out = item;
            return TSR_OK;
        }
        value_release(item);
        TSR_TRY(status);
    }
}

static TsrStatus filter_construct(Value *out, Type *type, const CallArgs *args) {
    Value iterator;
    TSR_TRY(args_no_keywords(args, "filter"));
    TSR_TRY(args_count(args, 0, 2, 2, "filter"));
    TSR_TRY(value_iter(&iterator, args->values[1]));
    return pair_make_move(out, type, value_retain(args->values[0]), iterator, 0);
}

Type filter_type = {.obj = TYPE_HEADER,
                    .name = "filter",
                    .doc = "filter(function or None, iterable): the items for which it is true.",
                    PAIR_SLOTS,
                    .construct = filter_construct,
                    .iter_next = filter_next};

/* --- reversed --- */

static TsrStatus reversed_next(Value *out, Value self) {
    PairIter *it = (PairIter *)self.o;
    if (it->first.tag == V_UNBOUND || it->at < 0) return TSR_OK;
    return value_getitem(out, it->first, value_int(it->at--));
}

static TsrStatus reversed_construct(Value *out, Type *type, const CallArgs *args) {
    TSR_TRY(args_no_keywords(args, "reversed"));
    TSR_TRY(args_count(args, 0, 1, 1, "reversed"));
    Value v = args->values[0];
    if (value_is_list(v)) return seq_make(out, &list_reverse_type, v, value_as_list(v)->count - 1, -1);
    Str *name = str_intern_c("__reversed__");
    if (name == NULL) return TSR_MEMORY_ERROR;
    Value method;
    TSR_TRY(value_lookup_attr(&method, v, name));
    if (method.tag != V_UNBOUND) {
        TsrStatus status = value_call_n(out, method, 0, NULL);
        value_release(method);
        return status;
    }
    const Type *t = value_type(v);
    bool sequence = value_is_str(v) || value_is_tuple(v) || v.tag == V_TENSOR ||
                    (t->length != NULL && t->get_item != NULL && t->contains == NULL) || (t->flags & TYPE_SEQUENCE);
    if (!sequence) return tsr_error(TSR_TYPE_ERROR, "'%s' object is not reversible", value_type_name(v));
    int64_t length;
    TSR_TRY(value_length(&length, v));
    return pair_make_move(out, type, value_retain(v), VALUE_UNBOUND, length - 1);
}

Type reversed_type = {.obj = TYPE_HEADER,
                      .name = "reversed",
                      .doc = "reversed(sequence): from the last item to the first.",
                      PAIR_SLOTS,
                      .construct = reversed_construct,
                      .iter_next = reversed_next};

/* --- zip and map: several iterators --- */

typedef struct ManyIter {
    GcObj gc;
    Value function; /* of map */
    bool strict;    /* of zip */
    bool done;
    int count;
    Value iterators[];
} ManyIter;

static size_t many_bytes(int count) { return sizeof(ManyIter) + (size_t)count * sizeof(Value); }

static void many_destroy(Obj *self) {
    ManyIter *it = (ManyIter *)self;
    int count = it->count;
    value_release(it->function);
    values_release(it->iterators, count);
    obj_free(it, many_bytes(count));
}
static void many_traverse(Obj *self, GcVisit visit, void *context) {
    const ManyIter *it = (ManyIter *)self;
    gc_visit_value(it->function, visit, context);
    for (int i = 0; i < it->count; i++) gc_visit_value(it->iterators[i], visit, context);
}
static void many_clear(Obj *self) {
    ManyIter *it = (ManyIter *)self;
    it->done = true;
    value_clear(&it->function);
    for (int i = 0; i < it->count; i++) value_clear(&it->iterators[i]);
}

static TsrStatus many_new(Value *out, Type *type, const Value *iterables, int count) {
    ManyIter *it = obj_new(type, many_bytes(count));
    if (it == NULL) return TSR_MEMORY_ERROR;
    it->function = VALUE_UNBOUND;
    it->strict = it->done = false;
    it->count = 0;
    for (int i = 0; i < count; i++) {
        TsrStatus status = value_iter(&it->iterators[i], iterables[i]);
        if (status != TSR_OK) {
            values_release(it->iterators, i);
            obj_free(it, many_bytes(count));
            if (type == &zip_type && exc_matches(status, TSR_TYPE_ERROR) && value_type(iterables[i])->iter == NULL) {
                exc_discard(status);
                return tsr_error(TSR_TYPE_ERROR, "'%s' object is not iterable", value_type_name(iterables[i]));
            }
            return status;
        }
    }
    it->count = count;
    gc_track(it);
    *out = value_obj_move(it);
    return TSR_OK;
}

/* zip(strict=True): the i-th iterator ended; the ones before it had an item, or it is the first. */
static TsrStatus check_lengths(ManyIter *it, int ended) {
    it->done = true;
    if (!it->strict) return TSR_OK;
    if (ended > 0)
        return tsr_error(TSR_VALUE_ERROR, "zip() argument %d is shorter than argument%s%d", ended + 1,
                         ended == 1 ? " " : "s 1-", ended);
    for (int i = 1; i < it->count; i++) {
        Value item;
        TSR_TRY(value_next(&item, it->iterators[i]));
        if (item.tag == V_UNBOUND) continue;
        value_release(item);
        return tsr_error(TSR_VALUE_ERROR, "zip() argument %d is longer than argument%s%d", i + 1, i == 1 ? " " : "s 1-",
                         i);
    }
    return TSR_OK;
}

/* One item of each into items; *ended is the iterator that had none, else -1. */
static TsrStatus advance(ManyIter *it, Value *items, int *ended) {
    *ended = -1;
    for (int i = 0; i < it->count; i++) {
        TsrStatus status = value_next(&items[i], it->iterators[i]);
        if (status == TSR_OK && items[i].tag != V_UNBOUND) continue;
        values_release(items, i);
        *ended = i;
        return status;
    }
    return TSR_OK;
}

static TsrStatus zip_next(Value *out, Value self) {
    ManyIter *it = (ManyIter *)self.o;
    if (it->count == 0 || it->done) return TSR_OK;
    Value tuple;
    int ended;
    TSR_TRY(tuple_new_raw(&tuple, it->count));
    Tuple *t = value_as_tuple(tuple);
    TsrStatus status = advance(it, t->items, &ended);
    if (status == TSR_OK && ended < 0) {
        gc_track(t);
        *out = tuple;
        return TSR_OK;
    }
    memset(t->items, 0, (size_t)it->count * sizeof(Value)); /* advance has released them */
    value_release(tuple);
    return status == TSR_OK ? check_lengths(it, ended) : status;
}

static TsrStatus zip_construct(Value *out, Type *type, const CallArgs *args) {
    bool strict = false;
    for (int i = 0; i < args->keyword_count; i++) {
        if (!str_equal_c(args->names[i], "strict"))
            return tsr_error(TSR_TYPE_ERROR, "'%s' is an invalid keyword argument for zip()", args->names[i]->data);
        TSR_TRY(value_truth(&strict, args->values[args->count + i]));
    }
    TSR_TRY(many_new(out, type, args->values, args->count));
    ((ManyIter *)out->o)->strict = strict;
    return TSR_OK;
}

Type zip_type = {.obj = TYPE_HEADER,
                 .name = "zip",
                 .doc = "zip(*iterables, strict=False): tuples of one item each.",
                 .flags = TYPE_GC,
                 .construct = zip_construct,
                 .destroy = many_destroy,
                 .traverse = many_traverse,
                 .clear = many_clear,
                 .iter_next = zip_next};

enum { FEW = 8 };

static TsrStatus map_next(Value *out, Value self) {
    ManyIter *it = (ManyIter *)self.o;
    Value few[FEW], *items = few;
    int ended;
    if (it->done) return TSR_OK;
    if (it->count > FEW && (items = tsr_malloc((size_t)it->count * sizeof *items)) == NULL) return mem_error();
    TsrStatus status = advance(it, items, &ended);
    if (status == TSR_OK && ended < 0) {
        status = value_call_n(out, it->function, it->count, items);
        values_release(items, it->count);
    }
    if (items != few) tsr_free(items);
    return status;
}

static TsrStatus map_construct(Value *out, Type *type, const CallArgs *args) {
    TSR_TRY(args_no_keywords(args, "map"));
    if (args->count < 2) return tsr_error(TSR_TYPE_ERROR, "map() must have at least two arguments.");
    TSR_TRY(many_new(out, type, args->values + 1, args->count - 1));
    ((ManyIter *)out->o)->function = value_retain(args->values[0]);
    return TSR_OK;
}

Type map_type = {.obj = TYPE_HEADER,
                 .name = "map",
                 .doc = "map(function, *iterables): what the function gives for each item.",
                 .flags = TYPE_GC,
                 .construct = map_construct,
                 .destroy = many_destroy,
                 .traverse = many_traverse,
                 .clear = many_clear,
                 .iter_next = map_next};

/* --- unpacking --- */

static TsrStatus unpack_error(Value v) {
    const Type *t = value_type(v);
    if (t->iter == NULL && t->iter_next == NULL && v.tag != V_TENSOR) {
        return tsr_error(TSR_TYPE_ERROR, "cannot unpack non-iterable %s object", t->name);
    }
    return TSR_OK;
}

static TsrStatus wrong_count(int64_t expected, int64_t got, bool at_least) {
    if (got > expected)
        return tsr_error(TSR_VALUE_ERROR, "too many values to unpack (expected %lld)", (long long)expected);
    return tsr_error(TSR_VALUE_ERROR, "not enough values to unpack (expected %s%lld, got %lld)",
                     at_least ? "at least " : "", (long long)expected, (long long)got);
}

static TsrStatus unpack_iterator(Value *out, Value iterator, int64_t count) {
    for (int64_t i = 0; i <= count; i++) {
        Value item;
        TsrStatus status = value_next(&item, iterator);
        bool end = status == TSR_OK && item.tag == V_UNBOUND;
        if (status == TSR_OK && end == (i == count)) {
            if (!end) out[i] = item;
            continue;
        }
        values_release(out, TSR_MIN(i, count));
        TSR_TRY(status);
        value_release(item);
        return wrong_count(count, end ? i : count + 1, false);
    }
    return TSR_OK;
}

TsrStatus value_unpack(Value *out, Value v, int64_t count) {
    const Value *items;
    int64_t have;
    if (value_as_array(v, &items, &have)) {
        if (have != count) return wrong_count(count, have, false);
        for (int64_t i = 0; i < count; i++) out[i] = value_retain(items[i]);
        return TSR_OK;
    }
    Value iterator;
    TSR_TRY(unpack_error(v));
    TSR_TRY(value_iter(&iterator, v));
    TsrStatus status = unpack_iterator(out, iterator, count);
    value_release(iterator);
    return status;
}

TsrStatus value_unpack_star(Value *out, Value v, int64_t before, int64_t after) {
    Value list, middle;
    TSR_TRY(unpack_error(v));
    TSR_TRY(list_new_iterable(&list, v));
    const List *l = value_as_list(list);
    int64_t rest = l->count - before - after;
    TsrStatus status =
        rest < 0 ? wrong_count(before + after, l->count, true) : list_new_from(&middle, l->items + before, rest);
    if (status == TSR_OK) {
        for (int64_t i = 0; i < before; i++) out[i] = value_retain(l->items[i]);
        out[before] = middle;
        for (int64_t i = 0; i < after; i++) out[before + 1 + i] = value_retain(l->items[before + rest + i]);
    }
    value_release(list);
    return status;
}
