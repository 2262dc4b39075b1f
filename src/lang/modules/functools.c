/* functools.c: Python's functools, as far as it makes sense here: the types that partial, cmp_to_key and the caches
 * make. Its functions are in prelude/functools.tsr. */
#include "modules.h"

#include <string.h>

#include "lang/object/args.h"
#include "lang/types/dict.h"
#include "lang/object/exc.h"
#include "lang/types/numbers.h"
#include "lang/types/sequences.h"
#include "lang/types/str.h"

/* ---- partial ---- */

typedef struct Partial {
    GcObj gc;
    Value function, args, keywords; /* a tuple and a dict */
} Partial;

GC_HOLDS(partial, Partial, &it->function, &it->args, &it->keywords)

/* The bound arguments, then the call's; a keyword of the call wins. */
static TsrStatus partial_call(Value *out, Value self, const CallArgs *args) {
    Partial *p = (Partial *)self.o;
    const Tuple *bound = value_as_tuple(p->args);
    Value merged;
    TSR_TRY(dict_copy(&merged, value_as_dict(p->keywords)));
    TsrStatus status = TSR_OK;
    for (int i = 0; i < args->keyword_count && status == TSR_OK; i++)
        status = dict_set_str(value_as_dict(merged), args->names[i], args->values[args->count + i]);
    const Dict *keywords = value_as_dict(merged);
    int count = (int)bound->count + args->count, total = count + (int)keywords->count, at = 0;
    Value *values = tsr_malloc(sizeof *values * (size_t)(total + 1));
    Str **names = tsr_malloc(sizeof *names * (size_t)(keywords->count + 1));
    if (values == NULL || names == NULL) status = mem_error();
    if (status == TSR_OK) {
        memcpy(values, bound->items, sizeof *values * (size_t)bound->count);
        memcpy(values + bound->count, args->values, sizeof *values * (size_t)args->count);
        int64_t position = 0;
        for (DictEntry *e; (e = dict_next(keywords, &position)) != NULL && status == TSR_OK; at++) {
            values[count + at] = e->value;
            status = value_to_name(&names[at], e->key);
        }
    }
    CallArgs call = {.values = values, .count = count, .keyword_count = at, .names = names};
    if (status == TSR_OK) status = value_call(out, p->function, &call);
    tsr_free(values);
    tsr_free(names);
    value_release(merged);
    return status;
}

static TsrStatus partial_repr(TsrText *out, Value self) {
    Partial *p = (Partial *)self.o;
    TSR_TRY(tsr_text_puts(out, "functools.partial("));
    TSR_TRY(value_repr(out, p->function));
    for (int64_t i = 0; i < value_as_tuple(p->args)->count; i++) {
        TSR_TRY(tsr_text_puts(out, ", "));
        TSR_TRY(value_repr(out, value_as_tuple(p->args)->items[i]));
    }
    int64_t position = 0;
    for (DictEntry *e; (e = dict_next(value_as_dict(p->keywords), &position)) != NULL;) {
        TSR_TRY(tsr_text_puts(out, ", "));
        TSR_TRY(value_str(out, e->key));
        TSR_TRY(tsr_text_putc(out, '='));
        TSR_TRY(value_repr(out, e->value));
    }
    return tsr_text_putc(out, ')');
}

static TsrStatus get_func(Value *out, Value self) { return *out = value_retain(((Partial *)self.o)->function), TSR_OK; }
static TsrStatus get_args(Value *out, Value self) { return *out = value_retain(((Partial *)self.o)->args), TSR_OK; }
static TsrStatus get_keywords(Value *out, Value self) {
    return *out = value_retain(((Partial *)self.o)->keywords), TSR_OK;
}

static const Getter partial_getters[] = {{"func", get_func, NULL, "The function."},
                                         {"args", get_args, NULL, "Its first arguments."},
                                         {"keywords", get_keywords, NULL, "Its keyword arguments."},
                                         {0}};

static Type partial_type;

/* The arguments of the partial that another is made of, if it is one, and then those given. */
static TsrStatus join_arguments(Value *out, const Partial *inner, const CallArgs *args) {
    int64_t before = inner != NULL ? value_as_tuple(inner->args)->count : 0, n = args->count - 1;
    TSR_TRY(tuple_new_raw(out, before + n));
    Tuple *t = value_as_tuple(*out);
    for (int64_t i = 0; i < before; i++) t->items[i] = value_retain(value_as_tuple(inner->args)->items[i]);
    for (int64_t i = 0; i < n; i++) t->items[before + i] = value_retain(args->values[1 + i]);
    gc_track(t);
    return TSR_OK;
}

static TsrStatus partial_construct(Value *out, Type *type, const CallArgs *args) {
    if (args->count == 0) return tsr_error(TSR_TYPE_ERROR, "type 'partial' takes at least one argument");
    if (!value_is_callable(args->values[0])) return tsr_error(TSR_TYPE_ERROR, "the first argument must be callable");
    Partial *p = obj_new(type, sizeof *p);
    if (p == NULL) return mem_error();
    const Partial *inner = value_is_obj(args->values[0], &partial_type) ? (Partial *)args->values[0].o : NULL;
    p->function = value_retain(inner != NULL ? inner->function : args->values[0]);
    p->args = p->keywords = VALUE_UNBOUND;
    TsrStatus status = join_arguments(&p->args, inner, args);
    if (status == TSR_OK) status = dict_new(&p->keywords);
    if (status == TSR_OK && inner != NULL) status = dict_update(value_as_dict(p->keywords), inner->keywords);
    for (int i = 0; i < args->keyword_count && status == TSR_OK; i++)
        status = dict_set_str(value_as_dict(p->keywords), args->names[i], args->values[args->count + i]);
    if (status != TSR_OK) {
        obj_release(p);
        return status;
    }
    gc_track(p);
    *out = value_obj_move(p);
    return TSR_OK;
}

static Type partial_type = {.obj = TYPE_HEADER,
                            .name = "partial",
                            .module = "functools",
                            .flags = TYPE_GC,
                            .construct = partial_construct,
                            .destroy = partial_destroy,
                            .traverse = partial_traverse,
                            .clear = partial_clear,
                            .repr = partial_repr,
                            .call = partial_call,
                            .getters = partial_getters};

/* ---- cmp_to_key ---- */

typedef struct Key {
    GcObj gc;
    Value compare, item; /* item V_UNBOUND: the maker of keys */
} Key;

GC_HOLDS(key, Key, &it->compare, &it->item)

static Type key_type;

static TsrStatus new_key(Value *out, Value compare, Value item) {
    Key *k = obj_new(&key_type, sizeof *k);
    if (k == NULL) return mem_error();
    k->compare = value_retain(compare);
    k->item = value_retain(item);
    gc_track(k);
    *out = value_obj_move(k);
    return TSR_OK;
}

static TsrStatus key_call(Value *out, Value self, const CallArgs *args) {
    TSR_TRY(args_count(args, 0, 1, 1, "K"));
    return new_key(out, ((Key *)self.o)->compare, args->values[0]);
}

static TsrStatus key_compare(Value *out, CompareOp op, Value a, Value b) {
    Value result;
    *out = VALUE_UNBOUND;
    if (!value_is_obj(a, &key_type) || !value_is_obj(b, &key_type)) return TSR_OK;
    TSR_TRY(value_call_n(&result, ((Key *)a.o)->compare, 2, (Value[]){((Key *)a.o)->item, ((Key *)b.o)->item}));
    TsrStatus status = value_compare(out, op, result, value_int(0));
    value_release(result);
    return status;
}

static Type key_type = {.obj = TYPE_HEADER,
                        .name = "KeyWrapper",
                        .module = "functools",
                        .flags = TYPE_GC,
                        .destroy = key_destroy,
                        .traverse = key_traverse,
                        .clear = key_clear,
                        .hash = hash_refused,
                        .compare = key_compare,
                        .call = key_call};

static TsrStatus functools_cmp_to_key(Value *out, const CallArgs *args) {
    return new_key(out, args->values[0], VALUE_UNBOUND);
}

/* ---- cache ---- */

typedef struct Cache {
    GcObj gc;
    Value function, results;     /* a dict from keys (cache_key) */
    int64_t hits, misses, limit; /* limit -1: none */
    bool typed;                  /* 1 and 1.0 are two arguments */
} Cache;

GC_HOLDS(cache, Cache, &it->function, &it->results)

static Type cache_type;

/* As CPython has it: one int or text is its own key; else a tuple of the arguments, of a mark before those with names,
 * which no argument is, and of the types of all where these count. */
static TsrStatus cache_key(Value *out, const Cache *c, const CallArgs *args) {
    int given = args->count + args->keyword_count, at = 0;
    bool alone = given == 1 && args->count == 1 && !c->typed;
    bool plain = alone && args->values[0].tag != V_BOOL;
    if (plain && (value_is_int(args->values[0]) || value_is_str(args->values[0])))
        return *out = value_retain(args->values[0]), TSR_OK;
    int named = args->keyword_count > 0 ? 1 + 2 * args->keyword_count : 0;
    TSR_TRY(tuple_new_raw(out, args->count + named + (c->typed ? given : 0)));
    Tuple *t = value_as_tuple(*out);
    for (int i = 0; i < args->count; i++) t->items[at++] = value_retain(args->values[i]);
    if (named > 0) t->items[at++] = value_retain(value_lent(&cache_type));
    for (int i = 0; i < args->keyword_count; i++) {
        t->items[at++] = value_obj_move(obj_retain(args->names[i]));
        t->items[at++] = value_retain(args->values[args->count + i]);
    }
    for (int i = 0; c->typed && i < given; i++) t->items[at++] = value_retain(value_lent(value_type(args->values[i])));
    gc_track(t);
    return TSR_OK;
}

/* The oldest use goes when the cache is full: a hit moves its entry to the end. */
static TsrStatus remember(Cache *c, Value key, Value result) {
    Dict *results = value_as_dict(c->results);
    bool found;
    int64_t position = 0;
    if (c->limit == 0) return TSR_OK;
    if (c->limit > 0 && results->count >= c->limit) {
        Value oldest = value_retain(dict_next(results, &position)->key);
        TsrStatus status = dict_remove(&found, results, oldest);
        value_release(oldest);
        TSR_TRY(status);
    }
    return dict_set(results, key, result);
}

static TsrStatus cached_result(Value *out, Cache *c, Value key, const CallArgs *args) {
    Value *known;
    bool found;
    TSR_TRY(dict_find(&known, value_as_dict(c->results), key));
    if (known != NULL) {
        c->hits++;
        *out = value_retain(*known);
        if (c->limit > 0) {
            TSR_TRY(dict_remove(&found, value_as_dict(c->results), key));
            TSR_TRY(dict_set(value_as_dict(c->results), key, *out));
        }
        return TSR_OK;
    }
    c->misses++;
    TSR_TRY(value_call(out, c->function, args));
    return remember(c, key, *out);
}

static TsrStatus cache_call(Value *out, Value self, const CallArgs *args) {
    Value key;
    TSR_TRY(cache_key(&key, (Cache *)self.o, args));
    TsrStatus status = cached_result(out, (Cache *)self.o, key, args);
    value_release(key);
    return status;
}

static TsrStatus cache_info(Value *out, const CallArgs *args) {
    const Cache *c = (Cache *)args->values[0].o;
    static const char *const fields[] = {"hits", "misses", "maxsize", "currsize"};
    Type *type = structseq_type("CacheInfo", fields, 4);
    if (type == NULL) return mem_error();
    return structseq_new_move(out, type,
                              (Value[]){value_int(c->hits), value_int(c->misses),
                                        c->limit < 0 ? VALUE_NONE : value_int(c->limit),
                                        value_int(value_as_dict(c->results)->count)});
}

static TsrStatus cache_forget(Value *out, const CallArgs *args) {
    Cache *c = (Cache *)args->values[0].o;
    dict_clear(value_as_dict(c->results));
    c->hits = c->misses = 0;
    *out = VALUE_NONE;
    return TSR_OK;
}

static TsrStatus cache_parameters(Value *out, const CallArgs *args) {
    const Cache *c = (Cache *)args->values[0].o;
    TSR_TRY(dict_new(out));
    TsrStatus status = dict_set_c(value_as_dict(*out), "maxsize", c->limit < 0 ? VALUE_NONE : value_int(c->limit));
    if (status == TSR_OK) status = dict_set_c(value_as_dict(*out), "typed", value_bool(c->typed));
    if (status != TSR_OK) value_clear(out);
    return status;
}

static TsrStatus get_wrapped(Value *out, Value self) {
    *out = value_retain(((Cache *)self.o)->function);
    return TSR_OK;
}

static const Getter cache_getters[] = {{"__wrapped__", get_wrapped, NULL, "The function itself."}, {0}};

static const Method cache_methods[] = {{"cache_info", cache_info, ARGS_NONE, 0, 0, "()", "Hits and misses."},
                                       {"cache_parameters", cache_parameters, ARGS_NONE, 0, 0, "()", "As it was made."},
                                       {"cache_clear", cache_forget, ARGS_NONE, 0, 0, "()", "Forgets everything."},
                                       {0}};

static Type cache_type = {.obj = TYPE_HEADER,
                          .name = "_lru_cache_wrapper",
                          .module = "functools",
                          .flags = TYPE_GC,
                          .destroy = cache_destroy,
                          .traverse = cache_traverse,
                          .clear = cache_clear,
                          .call = cache_call,
                          .methods = cache_methods,
                          .getters = cache_getters};

static TsrStatus new_cache(Value *out, Value function, int64_t limit, bool typed) {
    if (!value_is_callable(function)) return tsr_error(TSR_TYPE_ERROR, "the first argument must be callable");
    Cache *c = obj_new(&cache_type, sizeof *c);
    if (c == NULL) return mem_error();
    c->function = value_retain(function);
    c->results = VALUE_UNBOUND;
    c->hits = c->misses = 0;
    c->limit = limit;
    c->typed = typed;
    TsrStatus status = dict_new(&c->results);
    if (status != TSR_OK) {
        obj_release(c);
        return status;
    }
    gc_track(c);
    *out = value_obj_move(c);
    return TSR_OK;
}

static TsrStatus functools_cache(Value *out, const CallArgs *args) {
    return new_cache(out, args->values[0], -1, false);
}

/* What lru_cache(maxsize=n) gives is a partial of this: (limit, typed, function), limit None or an int. */
static TsrStatus decorating_function(Value *out, const CallArgs *args) {
    int64_t limit = -1;
    if (!value_is_none(args->values[0])) {
        TSR_TRY(value_to_index(&limit, args->values[0]));
        limit = TSR_MAX(limit, 0);
    }
    return new_cache(out, args->values[2], limit, args->values[1].i != 0);
}

static TsrStatus decorator(Value *out, Value limit, bool typed) {
    static const Method row = {
        "decorating_function", decorating_function, ARGS_RANGE, 3, 3, "(maxsize, typed, user_function)", NULL};
    Value function;
    TSR_TRY(native_new(&function, &row, "functools"));
    CallArgs args = {.values = (Value[]){function, limit, value_bool(typed)}, .count = 3};
    TsrStatus status = partial_construct(out, &partial_type, &args);
    value_release(function);
    return status;
}

/* lru_cache(f), or lru_cache(maxsize=n), which gives a function that takes f. */
static TsrStatus functools_lru_cache(Value *out, const CallArgs *args) {
    static const char *const names[] = {"maxsize", "typed"};
    static const ArgSpec spec = {"lru_cache", names, 2, 0, 2, 0};
    Value v[2];
    TSR_TRY(args_parse(v, args, 0, &spec));
    bool typed = false;
    if (v[1].tag != V_UNBOUND) TSR_TRY(value_truth(&typed, v[1]));
    if (v[0].tag == V_OBJ && value_is_callable(v[0])) return new_cache(out, v[0], 128, typed);
    Value limit = v[0].tag == V_UNBOUND ? value_int(128) : v[0];
    if (value_is_int(limit) || value_is_none(limit)) return decorator(out, limit, typed);
    return tsr_error(TSR_TYPE_ERROR, "Expected first argument to be an integer, a callable, or None");
}

static const Method functions[] = {
    {"cmp_to_key", functools_cmp_to_key, ARGS_ONE, 1, 1, "(mycmp)", "A sort key from a comparison function."},
    {"cache", functools_cache, ARGS_ONE, 1, 1, "(function, /)", "The function with its results kept."},
    {"lru_cache", functools_lru_cache, ARGS_ANY, 0, 2, "(function)", "The function with its last 128 results kept."},
    {0},
};

static TsrStatus fill(Module *module) { return module_add(module, "partial", value_lent(&partial_type)); }

const NsModule ns_functools = {"functools", "Functions over functions.", functions, fill, NULL};
