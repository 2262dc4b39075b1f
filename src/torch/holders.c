/* Finds every reference to a tensor or a storage by walking from the roots. Each kind of container has a walk that
 * extends the name by an index, key or attribute; objects already seen are marked, so that cycles end and each holder
 * is told once. */
#include "holders.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "torch/bind/bind.h"
#include "torch/tables/tables.h"
#include "lang/types/collections.h"
#include "lang/object/native.h"
#include "lang/object/gc.h"
#include "lang/types/sequences.h"
#include "torch/tensor/storage.h"
#include "lang/types/str.h"
#include "lang/vm/frame.h"
#include "lang/vm/kind.h"

enum { MAX_SOURCES = 16, MAX_WRAPPERS = 16, MAX_DEPTH = 200, MAX_PATH = 512, MAX_REPEATS = 20000 };

static WhoSource sources[MAX_SOURCES];
static int source_count;
static const WhoWrapper *wrappers[MAX_WRAPPERS];
static int wrapper_count;
static const WhoWrapper *anatomies[MAX_WRAPPERS];
static int anatomy_count;
static struct {
    const char *path;
    const Value *slot;
} roots[MAX_SOURCES];
static int root_count;
static WhoLeaks leak_sources[MAX_SOURCES];
static int leak_source_count;
static TsrStatus tensor_of_wrapper(TsrTensor **lent, Value v);

void holders_register_source(WhoSource source) {
    if (source_count < MAX_SOURCES) sources[source_count++] = source;
}

void holders_register_root(const char *path, const Value *slot) {
    if (root_count == MAX_SOURCES) return;
    roots[root_count].path = path;
    roots[root_count++].slot = slot;
}

void holders_register_wrapper(const WhoWrapper *wrapper) {
    bind_tensor_hook = tensor_of_wrapper;
    if (wrapper_count < MAX_WRAPPERS) wrappers[wrapper_count++] = wrapper;
}

void holders_register_leaks(WhoLeaks leaks) {
    if (leak_source_count < MAX_SOURCES) leak_sources[leak_source_count++] = leaks;
}

const WhoWrapper *holders_wrapper(Value v) {
    for (int i = 0; v.tag == V_OBJ && i < wrapper_count; i++)
        if (v.o->type == wrappers[i]->type) return wrappers[i];
    return NULL;
}

void holders_register_anatomy(const WhoWrapper *row) {
    if (anatomy_count < MAX_WRAPPERS) anatomies[anatomy_count++] = row;
}

const WhoWrapper *holders_anatomy(Value v) {
    for (int i = 0; v.tag == V_OBJ && i < anatomy_count; i++)
        if (v.o->type == anatomies[i]->type) return anatomies[i];
    return holders_wrapper(v);
}

TsrStatus holders_put_text(Dict *dict, const char *key, const char *text) {
    Value v;
    TSR_TRY(str_new_c(&v, text));
    return dict_set_c_move(dict, key, v);
}

static const void *shell_of(const WhoWrapper *wrapper, Value v) {
    return wrapper->shell != NULL ? wrapper->shell(v) : NULL;
}

const void *holders_shell(Value v) {
    const WhoWrapper *wrapper = holders_wrapper(v);
    return wrapper != NULL ? shell_of(wrapper, v) : NULL;
}

/* What the binding asks of every object given where a tensor is wanted. */
static TsrStatus tensor_of_wrapper(TsrTensor **lent, Value v) {
    const WhoWrapper *wrapper = holders_wrapper(v);
    if (wrapper == NULL) return TSR_OK;
    return wrapper->operand != NULL ? wrapper->operand(lent, v) : wrapper->get(lent, v);
}

TsrStatus holders_tensor(TsrTensor **lent, Value v, const char *function) {
    const WhoWrapper *wrapper = holders_wrapper(v);
    if (v.tag == V_TENSOR) return *lent = v.t, TSR_OK;
    if (wrapper != NULL) return wrapper->get(lent, v);
    return tsr_error(TSR_TYPE_ERROR, "%s(): argument 'x' must be a tensor, not %s", function, value_type_name(v));
}

TsrTensor *holders_tensor_if_any(Value v) {
    TsrTensor *t = NULL;
    const WhoWrapper *wrapper = holders_wrapper(v);
    if (v.tag == V_TENSOR) return v.t;
    if (wrapper == NULL || wrapper->get(&t, v) == TSR_OK) return t;
    tsr_error_clear();
    return NULL;
}

/* ---- the walk ---- */

/* Objects seen already, so that each slot is visited once: a set of pointers by open addressing. */
typedef struct Walk {
    WhoVisitPath visit;
    WhoVisitStorage visit_storage;
    void *context;
    const char *function;              /* of the local that the walk is at */
    const void *wrapper;               /* that the walk is in */
    const void *inside[4 * MAX_DEPTH]; /* the objects that the walk is in: with `every` some are not marked */
    int entered;
    int64_t repeats; /* objects looked into once more */
    bool every;      /* every path is wanted, not every reference */
    const void **seen;
    size_t count, capacity; /* a power of two */
    char path[MAX_PATH];
    size_t length;
    int depth;
    bool flat;   /* under a temporary or an iterator: no path grows */
    bool counts; /* nobody reads paths: none is made */
    bool argument;
    bool stopped, short_of_memory;
} Walk;

static bool grow_seen(Walk *w) {
    size_t capacity = w->capacity > 0 ? 2 * w->capacity : 256;
    const void **table = tsr_calloc(capacity, sizeof *table);
    if (table == NULL) return false;
    for (size_t i = 0; i < w->capacity; i++) {
        if (w->seen[i] == NULL) continue;
        size_t at = ((uintptr_t)w->seen[i] >> 4) & (capacity - 1);
        while (table[at] != NULL) at = (at + 1) & (capacity - 1);
        table[at] = w->seen[i];
    }
    tsr_free(w->seen);
    w->seen = table;
    w->capacity = capacity;
    return true;
}

/* False when it was there already (or memory is short, or an interrupt came: the walk then ends). */
static bool mark(Walk *w, const void *object) {
    if (TSR_UNLIKELY(tsr_interrupt_flag != 0)) { /* raised by whoever asked */
        w->stopped = true;
        return false;
    }
    if (2 * (w->count + 1) > w->capacity && !grow_seen(w)) {
        w->stopped = w->short_of_memory = true;
        return false;
    }
    size_t at = ((uintptr_t)object >> 4) & (w->capacity - 1);
    for (; w->seen[at] != NULL; at = (at + 1) & (w->capacity - 1))
        if (w->seen[at] == object) return false;
    w->seen[at] = object;
    w->count++;
    return true;
}

static bool can_be_typed(const Walk *w) {
    return !w->flat && w->function == NULL && strchr(w->path, '<') == NULL && strstr(w->path, ".__") == NULL;
}

/* Whether the walk should look into an object, which is then left by leave(). Where every path is wanted an object is
 * marked as seen only if what holds the tensor can be deleted there: others are looked into by each of their names. */
static bool enter(Walk *w, const void *object, bool deletable) {
    bool once = !w->every || (deletable && can_be_typed(w)) || w->repeats >= MAX_REPEATS;
    for (int i = 0; w->every && i < w->entered; i++)
        if (w->inside[i] == object) return false;
    if (w->entered == TSR_COUNTOF(w->inside) || (once && !mark(w, object))) return false;
    if (!once && TSR_UNLIKELY(tsr_interrupt_flag != 0)) w->stopped = true;
    w->repeats += !once;
    w->inside[w->entered++] = object;
    return true;
}

static void leave(Walk *w) { w->entered--; }

/* Appends to the path; the caller cuts it back to the length it had. */
static void extend(Walk *w, const char *format, ...) __attribute__((format(printf, 2, 3)));
static void extend(Walk *w, const char *format, ...) {
    va_list args;
    if (w->flat || w->counts) return;
    va_start(args, format);
    int n = vsnprintf(w->path + w->length, MAX_PATH - w->length, format, args);
    va_end(args);
    if (n > 0) w->length = TSR_MIN(w->length + (size_t)n, (size_t)MAX_PATH - 1);
}

static void cut(Walk *w, size_t length) {
    w->length = length;
    w->path[length] = '\0';
}

static void walk_value(Walk *w, Value v);

static void walk_items(Walk *w, const Value *items, int64_t count, const char *format) {
    size_t length = w->length;
    for (int64_t i = 0; i < count && !w->stopped; i++) {
        if (items[i].tag < V_TENSOR) continue;
        extend(w, format, (long long)i);
        walk_value(w, items[i]);
        cut(w, length);
    }
}

/* d["w"], d[3]: as one would type it. */
static void extend_key(Walk *w, Value key) {
    TsrText text = {0};
    if (w->flat || w->counts) return;
    if (value_is_str(key)) {
        extend(w, "[\"%s\"]", value_as_str(key)->data);
        return;
    }
    if (key.tag == V_TENSOR || value_repr(&text, key) != TSR_OK) {
        tsr_error_clear();
        extend(w, "[...]");
    } else {
        extend(w, "[%s]", text.data);
    }
    tsr_text_free(&text);
}

static void walk_dict(Walk *w, const Dict *dict) {
    size_t length = w->length;
    int64_t position = 0;
    for (DictEntry *e; !w->stopped && (e = dict_next(dict, &position)) != NULL;) {
        if (e->key.tag >= V_TENSOR && !value_is_str(e->key)) {
            extend(w, ".<key>");
            walk_value(w, e->key);
            cut(w, length);
        }
        if (e->value.tag < V_TENSOR) continue;
        extend_key(w, e->key);
        walk_value(w, e->value);
        cut(w, length);
    }
}

static void walk_factory(Walk *w, Value dict) {
    size_t length = w->length;
    extend(w, ".default_factory");
    walk_value(w, default_dict_factory(dict));
    cut(w, length);
}

static void walk_deque(Walk *w, Value deque) {
    size_t length = w->length;
    for (int64_t i = 0; i < deque_count(deque) && !w->stopped; i++) {
        if (deque_item(deque, i).tag < V_TENSOR) continue;
        extend(w, "[%lld]", (long long)i);
        walk_value(w, deque_item(deque, i));
        cut(w, length);
    }
}

static void walk_set(Walk *w, const Set *set) {
    size_t length = w->length;
    int64_t position = 0;
    for (SetEntry *e; !w->stopped && (e = set_next(set, &position)) != NULL;) {
        extend(w, ".<item>");
        walk_value(w, e->key);
        cut(w, length);
    }
}

static void walk_closure(Walk *w, const Function *f) {
    size_t length = w->length;
    for (int64_t i = 0; i < f->cell_count; i++) {
        if (f->cells[i] == NULL || !enter(w, f->cells[i], false)) continue;
        extend(w, ".<closure>.%s", f->code->captures[i].name);
        walk_value(w, f->cells[i]->value);
        cut(w, length);
        leave(w);
    }
}

static void walk_attributes(Walk *w, const Dict *attributes) {
    size_t length = w->length;
    int64_t position = 0;
    for (DictEntry *e; !w->stopped && (e = dict_next(attributes, &position)) != NULL;) {
        if (e->value.tag < V_TENSOR || !value_is_str(e->key)) continue;
        extend(w, ".%s", value_as_str(e->key)->data);
        walk_value(w, e->value);
        cut(w, length);
    }
}

static void walk_function(Walk *w, const Function *f) {
    size_t length = w->length;
    walk_closure(w, f);
    if (f->defaults != NULL) {
        extend(w, ".__defaults__");
        walk_value(w, value_lent(f->defaults));
        cut(w, length);
    }
    if (f->kwdefaults != NULL) {
        extend(w, ".__kwdefaults__");
        walk_value(w, value_lent(f->kwdefaults));
        cut(w, length);
    }
    if (f->annotations != NULL) {
        extend(w, ".__annotations__");
        walk_value(w, value_lent(f->annotations));
        cut(w, length);
    }
    if (f->attributes != NULL) walk_attributes(w, f->attributes);
}

static void walk_column(Walk *w, const Column *c) {
    size_t length = w->length;
    extend(w, c->kind == TSR_COLUMN_TEXT ? ".codes" : ".values");
    walk_value(w, c->data);
    cut(w, length);
    extend(w, ".missing");
    walk_value(w, c->missing);
    cut(w, length);
}

static void walk_generator(Walk *w, const Generator *g) {
    size_t length = w->length;
    const Code *code = g->frame.code;
    if (g->state == GEN_DONE || g->state == GEN_RUNNING || code == NULL) return; /* a running one is an active call */
    if (g->frame.fn != NULL) walk_closure(w, g->frame.fn);
    for (int k = 0; k < code->frame_size && !w->stopped; k++) {
        Value v = g->frame.base[k];
        if (v.tag < V_TENSOR) continue;
        const char *name = k < code->slot_count && code->slot_names[k] != NULL ? code->slot_names[k] : "<temporary>";
        extend(w, ".%s", strcmp(name, ".0") == 0 ? "<iterator>" : name); /* .0: what a generator expression goes over */
        walk_value(w, v);
        cut(w, length);
    }
}

static TsrStatus visit_inner(Obj *object, void *context) {
    walk_value(context, value_lent(object));
    return TSR_OK;
}

static void visit_inner_tensor(TsrTensor *t, void *context) { walk_value(context, (Value){.tag = V_TENSOR, {.t = t}}); }

static bool ends_with(const Walk *w, const char *end) {
    size_t n = strlen(end);
    return w->length >= n && strcmp(w->path + w->length - n, end) == 0;
}

/* What an object holds that only its own traversal knows: an iterator's source, a bound method's self. */
static void walk_held(Walk *w, Obj *o) {
    size_t length = w->length;
    bool method = strstr(o->type->name, "method") != NULL;
    const char *inside = method ? ".__self__" : ".<iterator>";
    void (*outer)(TsrTensor *, void *) = gc_tensor_visit;
    if (!method && o->type->iter_next == NULL) extend(w, ".<%s>", o->type->name);
    else if (!ends_with(w, inside)) extend(w, "%s", inside);
    gc_tensor_visit = visit_inner_tensor;
    o->type->traverse(o, visit_inner, w);
    gc_tensor_visit = outer;
    cut(w, length);
}

static void walk_obj(Walk *w, Obj *o) {
    Value v = value_lent(o);
    const Value *items;
    int64_t count;
    if (value_as_array(v, &items, &count)) walk_items(w, items, count, "[%lld]");
    else if (value_is_dict(v)) {
        walk_dict(w, (const Dict *)o);
        if (o->type == &default_dict_type) walk_factory(w, v);
        if (o->type == &ordered_dict_type && ordered_dict_attributes(v) != NULL)
            walk_attributes(w, ordered_dict_attributes(v));
    } else if (o->type == &deque_type) walk_deque(w, v);
    else if (value_is_set(v)) walk_set(w, value_as_set(v));
    else if (value_is_column(v)) walk_column(w, value_as_column(v));
    else if (o->type == &function_type) walk_function(w, (const Function *)o);
    else if (o->type == &cell_type) walk_value(w, ((Cell *)o)->value);
    else if (o->type == &generator_type) walk_generator(w, (const Generator *)o);
    else if (o->type == &method_type) {
        size_t length = w->length;
        walk_value(w, ((BoundMethod *)o)->function);
        extend(w, ".__self__");
        walk_value(w, ((BoundMethod *)o)->self);
        cut(w, length);
    } else if (o->type == &module_type) {
        walk_value(w, value_lent(value_as_module(v)->dict));
    } else if (kind_attributes(o) != NULL) {
        walk_attributes(w, kind_attributes(o));
    } else if (o->type->traverse != NULL) {
        walk_held(w, o);
    }
}

/* The elements of a storage of tensors. */
static void walk_elements(Walk *w, const TsrStorage *storage) {
    size_t length = w->length;
    TsrTensor *const *elements = (TsrTensor *const *)storage->ptr.data;
    for (size_t i = 0; elements != NULL && i < storage->nbytes / sizeof *elements && !w->stopped; i++) {
        if (elements[i] == NULL) continue;
        extend(w, "[%zu]", i);
        walk_value(w, (Value){.tag = V_TENSOR, {.t = elements[i]}});
        cut(w, length);
    }
}

/* The tensors that a nested or sparse tensor holds. */
static void walk_inside_tensor(Walk *w, const TsrTensor *t) {
    size_t length = w->length;
    if (t->sparse != NULL) {
        extend(w, ".indices()");
        if (t->sparse->indices != NULL) walk_value(w, (Value){.tag = V_TENSOR, {.t = t->sparse->indices}});
        cut(w, length);
        if (t->sparse->plain_indices != NULL) walk_value(w, (Value){.tag = V_TENSOR, {.t = t->sparse->plain_indices}});
        extend(w, ".values()");
        if (t->sparse->values != NULL) walk_value(w, (Value){.tag = V_TENSOR, {.t = t->sparse->values}});
        cut(w, length);
    } else if (t->dtype == TSR_NESTED && tsr_is_defined(t) && t->storage != NULL && enter(w, t->storage, false)) {
        walk_elements(w, t->storage);
        leave(w);
    }
}

static void tell(Walk *w, const WhoPath *path) {
    if (!w->visit(path, w->context)) w->stopped = true;
}

/* One reference to a tensor, and what the tensor holds. */
static void visit_tensor(Walk *w, TsrTensor *t) {
    tell(w,
         &(WhoPath){.path = w->path, .t = t, .wrapper = w->wrapper, .function = w->function, .argument = w->argument});
    w->argument = false; /* only the argument itself is left out, not what it holds */
    w->wrapper = NULL;
    if ((t->sparse == NULL && t->dtype != TSR_NESTED) || !enter(w, t, false)) return;
    walk_inside_tensor(w, t);
    leave(w);
}

/* What the modules say that keep tensors outside of values. */
static bool visit_source(const char *path, TsrTensor *t, bool argument, void *context) {
    Walk *w = context;
    cut(w, 0);
    w->flat = false;
    w->function = NULL;
    w->argument = argument;
    extend(w, "%s", path);
    visit_tensor(w, t);
    return !w->stopped;
}

static void visit_storage_source(const char *path, const TsrStorage *s, void *context) {
    Walk *w = context;
    w->visit_storage(path, s, w->context);
}

static void visit_storage_value(Walk *w, Value v) {
    const TsrStorage *whole = storage_obj_whole(v);
    w->visit_storage(w->path, storage_obj_of(v), w->context);
    if (whole != NULL) w->visit_storage(w->path, whole, w->context);
}

/* A wrapper holds its tensor, or what stands in its place. A walk may begin while an error is on its way: that one
 * stays. */
static void walk_wrapper(Walk *w, const WhoWrapper *wrapper, Value v) {
    const void *shell = shell_of(wrapper, v);
    TsrTensor *t;
    bool again = !w->every && !mark(w, v.o);
    w->argument = w->argument && w->every; /* the wrapper is the argument: its reference counts all the same */
    if (w->stopped) return;
    if (shell != NULL || again) {
        t = NULL;
        if (shell == NULL && (wrapper->get == NULL || !wrapper->owns(v) || wrapper->get(&t, v) != TSR_OK)) return;
        tell(w, &(WhoPath){.path = w->path,
                           .t = t,
                           .shell = shell,
                           .wrapper = v.o,
                           .function = w->function,
                           .argument = w->argument,
                           .again = again});
    } else if (wrapper->owns(v)) {
        w->wrapper = v.o;
        if (wrapper->get(&t, v) == TSR_OK) visit_tensor(w, t);
        else tsr_error_clear();
        w->wrapper = NULL;
    }
}

/* Whether its items can be deleted. */
static bool has_deletable_items(Value v) { return value_is_list(v) || value_is_dict(v) || v.o->type == &deque_type; }

/* One slot that holds `v`. */
static void walk_value(Walk *w, Value v) {
    if (v.tag < V_TENSOR || w->stopped || w->depth >= MAX_DEPTH) return;
    const WhoWrapper *wrapper = holders_anatomy(v);
    if (wrapper != NULL && wrapper->get == NULL && wrapper->shell == NULL) wrapper = NULL;
    w->depth++;
    if (v.tag == V_TENSOR) {
        visit_tensor(w, v.t);
    } else if (wrapper != NULL) {
        walk_wrapper(w, wrapper, v);
        w->argument = false;
    } else if (enter(w, v.o, has_deletable_items(v))) {
        w->argument = false;
        if (value_is_storage(v)) visit_storage_value(w, v);
        else walk_obj(w, v.o);
        leave(w);
    }
    w->depth--;
}

static bool walk_root(const Root *root, void *context) {
    static const char *const flat_names[] = {
        [ROOT_ITERATOR] = "<iterator>", [ROOT_TEMPORARY] = "<temporary>", [ROOT_ARGUMENT] = "<temporary>"};
    Walk *w = context;
    if (root->cell != NULL && !w->every && !mark(w, root->cell)) return !w->stopped; /* a closure's, seen already */
    cut(w, 0);
    w->function = root->kind == ROOT_LOCAL ? root->function : NULL;
    w->flat = false;
    w->argument = root->kind == ROOT_ARGUMENT;
    if (root->kind == ROOT_GLOBAL) extend(w, "%s", root->name);
    else if (root->kind == ROOT_LOCAL) extend(w, "%s.%s", root->function, root->name);
    else extend(w, "%s", flat_names[root->kind]);
    w->flat = root->kind >= ROOT_ITERATOR;
    walk_value(w, *root->value);
    return !w->stopped;
}

/* Storages of tensors that only a storage handle or a storage object keeps. */
static void walk_storages(Walk *w) {
    for (TsrStorage *s = tsr_storage_first(); s != NULL && !w->stopped; s = s->next) {
        if (s->element != TSR_NESTED || w->every || !mark(w, s)) continue;
        cut(w, 0);
        w->flat = w->argument = false;
        extend(w, "storage #%lld", (long long)tsr_storage_id(s));
        walk_elements(w, s);
    }
}

static TsrStatus walk_all(Walk *w) {
    gc_collect();
    scope_visit_roots(walk_root, w);
    w->function = NULL;
    for (int i = 0; i < root_count && !w->stopped; i++) {
        cut(w, 0);
        w->flat = w->argument = false;
        extend(w, "%s", roots[i].path);
        walk_value(w, *roots[i].slot);
    }
    for (int i = 0; i < source_count && !w->stopped; i++) sources[i](visit_source, visit_storage_source, w);
    if (!w->stopped) walk_storages(w);
    tsr_free(w->seen);
    return w->short_of_memory ? mem_error() : TSR_OK;
}

static bool pass_tensor(const WhoPath *path, void *context) { return (void)path, (void)context, true; }

static void pass_storage(const char *path, const TsrStorage *s, void *context) { (void)path, (void)s, (void)context; }

/* Each reference once, and each further name of a wrapper. */
static TsrStatus each_reference(WhoVisitPath visit, void *context) {
    return walk_all(&(Walk){.visit = visit, .visit_storage = pass_storage, .context = context});
}

TsrStatus holders_each_path(WhoVisitPath visit, void *context) {
    return walk_all(&(Walk){.visit = visit, .visit_storage = pass_storage, .context = context, .every = true});
}

typedef struct Plain {
    WhoVisit visit;
    void *context;
} Plain;

static bool visit_plain(const WhoPath *path, void *context) {
    const Plain *plain = context;
    if (path->again || path->t == NULL) return true;
    return plain->visit(path->path, (TsrTensor *)path->t, path->argument, plain->context);
}

TsrStatus holders_each(WhoVisit visit, void *context) {
    Plain plain = {visit, context};
    return each_reference(visit_plain, &plain);
}

TsrStatus holders_each_storage(WhoVisitStorage visit, void *context) {
    return walk_all(&(Walk){.visit = pass_tensor, .visit_storage = visit, .context = context});
}

/* ---- what is asked ---- */

typedef struct Count {
    const TsrTensor *t;
    int64_t arguments;
} Count;

static bool count_arguments(const WhoPath *path, void *context) {
    Count *c = context;
    c->arguments += path->argument && path->t == c->t && !path->again;
    return true;
}

int64_t holders_refcount(TsrTensor *t) {
    Count c = {t, 0};
    Walk w = {.visit = count_arguments, .visit_storage = pass_storage, .context = &c, .counts = true};
    if (walk_all(&w) != TSR_OK) tsr_error_clear();
    int64_t own = !tsr_is_defined(t); /* the undefined tensor is never freed: it holds itself */
    return TSR_MAX(0, (int64_t)tsr_tensor_refcount(t) - c.arguments - own);
}

/* ---- names, one a reference ---- */

typedef struct Holders {
    const TsrTensor *t; /* NULL: of a shell */
    const void *shell;
    List *list;
    const void **wrappers; /* of each name the wrapper that it leads to, or NULL */
    int64_t capacity;
    int64_t limit;
    TsrStatus status;
} Holders;

static TsrStatus add_name(Holders *h, const WhoPath *path) {
    TSR_TRY(mem_grow(&h->wrappers, &h->capacity, h->list->count + 1, sizeof *h->wrappers));
    TSR_TRY(list_append_c(h->list, path->path));
    h->wrappers[h->list->count - 1] = path->wrapper;
    return TSR_OK;
}

/* "c" becomes "c (also d)", and that "c (also d, e)". What a temporary holds has no name to tell. */
static TsrStatus add_alias(Holders *h, const WhoPath *path) {
    if (path->path[0] == '<') return TSR_OK;
    for (int64_t i = 0; i < h->list->count; i++) {
        if (h->wrappers[i] != path->wrapper) continue;
        const Str *old = value_as_str(h->list->items[i]);
        bool more = old->size > 0 && old->data[old->size - 1] == ')';
        Value name;
        TSR_TRY(str_new_format(&name, "%.*s%s%s)", (int)(old->size - more), old->data, more ? ", " : " (also ",
                               path->path));
        value_set_move(&h->list->items[i], name);
        break;
    }
    return TSR_OK;
}

static bool add_holder(const WhoPath *path, void *context) {
    Holders *h = context;
    if (path->t != h->t || path->shell != h->shell || path->argument) return true;
    if (path->again) h->status = add_alias(h, path);
    else if (h->list->count < h->limit) h->status = add_name(h, path);
    return h->status == TSR_OK;
}

static TsrStatus list_holders(Holders *h) {
    TsrStatus status = each_reference(add_holder, h);
    tsr_free(h->wrappers);
    return status == TSR_OK ? h->status : status;
}

TsrStatus holders_list(Value *out, TsrTensor *t) {
    Value list;
    int64_t count = holders_refcount(t);
    TSR_TRY(list_new(&list, count));
    Holders h = {.t = t, .list = value_as_list(list), .limit = count};
    TsrStatus status = list_holders(&h);
    while (status == TSR_OK && h.list->count < count) /* held by an object whose inside has no names */
        status = list_append_c(h.list, "<temporary>");
    return value_end_move(out, status, list);
}

TsrStatus holders_list_of_shell(Value *out, Value v) {
    Value list;
    TSR_TRY(list_new(&list, 0));
    Holders h = {.shell = holders_shell(v), .list = value_as_list(list), .limit = INT64_MAX};
    return value_end_move(out, list_holders(&h), list);
}

typedef struct Sharers {
    const TsrStorage *storage;
    const TsrTensor *except;
    List *list;
    const TsrTensor **seen;
    int64_t nseen, capacity;
    TsrStatus status;
} Sharers;

static bool add_sharer(const char *path, TsrTensor *t, bool argument, void *context) {
    Sharers *s = context;
    if (argument || t->storage != s->storage || t == s->except) return true;
    for (int64_t i = 0; i < s->nseen; i++)
        if (s->seen[i] == t) return true;
    s->status = mem_grow(&s->seen, &s->capacity, s->nseen + 1, sizeof *s->seen);
    if (s->status == TSR_OK) s->status = list_append_c(s->list, path);
    if (s->status == TSR_OK) s->seen[s->nseen++] = t;
    return s->status == TSR_OK;
}

TsrStatus holders_names_over(Value *out, const TsrStorage *storage, const TsrTensor *except) {
    Value list;
    TSR_TRY(list_new(&list, 0));
    Sharers s = {.storage = storage, .except = except, .list = value_as_list(list)};
    TsrStatus status = storage != NULL ? holders_each(add_sharer, &s) : TSR_OK;
    if (status == TSR_OK) status = s.status;
    tsr_free(s.seen);
    return value_end_move(out, status, list);
}

typedef struct Keepers {
    const TsrStorage *storage;
    List *list;
    TsrStatus status;
} Keepers;

static void add_keeper(const char *path, const TsrStorage *s, void *context) {
    Keepers *k = context;
    if (s == k->storage && k->status == TSR_OK) k->status = list_append_c(k->list, path);
}

TsrStatus holders_keepers(Value *out, const TsrStorage *storage) {
    Value list;
    TSR_TRY(list_new(&list, 0));
    Keepers k = {.storage = storage, .list = value_as_list(list)};
    TsrStatus status = storage != NULL ? holders_each_storage(add_keeper, &k) : TSR_OK;
    if (status == TSR_OK) status = k.status;
    return value_end_move(out, status, list);
}

TsrStatus holders_leaks(Value *out) {
    Value list;
    gc_collect(); /* what only a cycle holds is no leak */
    TSR_TRY(list_new(&list, 0));
    TsrStatus status = TSR_OK;
    for (int i = 0; i < leak_source_count && status == TSR_OK; i++) status = leak_sources[i](value_as_list(list));
    return value_end_move(out, status, list);
}

typedef struct Name {
    const TsrTensor *t;
    char *buffer;
    size_t room;
} Name;

static bool take_name(const char *path, TsrTensor *t, bool argument, void *context) {
    Name *n = context;
    if (t != n->t || argument || path[0] == '<') return true;
    bool underscore = strcmp(path, "_") == 0; /* a real name is better */
    if (n->buffer[0] == '\0' || !underscore) snprintf(n->buffer, n->room, "%s", path);
    return underscore;
}

char *holders_name(char *buffer, size_t room, TsrTensor *t) {
    Name n = {t, buffer, room};
    buffer[0] = '\0';
    if (holders_each(take_name, &n) != TSR_OK) tsr_error_clear();
    return buffer;
}

static void tensor_name(char *buffer, size_t room, const TsrTensor *t) { holders_name(buffer, room, (TsrTensor *)t); }

typedef struct BlockName {
    const void *data;
    char *buffer;
    size_t room;
} BlockName;

static bool take_block_name(const char *path, TsrTensor *t, bool argument, void *context) {
    BlockName *n = context;
    if (argument || t->storage == NULL || tsr_storage_data(t->storage) != n->data) return true;
    snprintf(n->buffer, n->room, "%s", path);
    return false;
}

static void block_name(char *buffer, size_t room, const void *data) {
    BlockName n = {data, buffer, room};
    buffer[0] = '\0';
    if (holders_each(take_block_name, &n) != TSR_OK) tsr_error_clear();
}

void holders_name_for_core(void) {
    tsr_tensor_name_hook = tensor_name;
    tsr_guard_name_hook = block_name;
}
