/* Scope analysis in two passes over the tree. The first notes in each scope which names are bound, used, global or
 * nonlocal; the second resolves the free ones from the inside out, marks the captured ones as cells and gives every
 * name its slot. */
#include "scope.h"

#include <string.h>

#include "core/base/hash.h"

/* A walk in progress: `failed` is set once, when memory ran out or a declaration is wrong. */
typedef struct Walk {
    Arena *arena;
    Scope *scope;
    TsrStatus failed;
    SourceRange *where;
} Walk;

enum { TABLE_FROM = 12 }; /* fewer symbols than this are searched one by one */

static void no_memory(Walk *w) {
    if (w->failed == TSR_OK) w->failed = tsr_error_no_memory(sizeof(Scope));
}

/* Makes room for one more item in an array of the arena. False when memory is short. */
static bool grow(Arena *arena, void **items, int count, int *capacity, size_t size) {
    if (count < *capacity) return true;
    int bigger = *capacity ? *capacity * 2 : 4;
    void *copy = arena_alloc(arena, (size_t)bigger * size);
    if (copy == NULL) return false;
    if (count) memcpy(copy, *items, (size_t)count * size);
    *items = copy;
    *capacity = bigger;
    return true;
}

static Symbol *find(const Scope *scope, const char *name, uint32_t hash) {
    if (scope->table == NULL) {
        for (int i = 0; i < scope->symbol_count; i++)
            if (scope->symbols[i].hash == hash && strcmp(scope->symbols[i].name, name) == 0) return &scope->symbols[i];
        return NULL;
    }
    for (uint32_t i = hash;; i++) {
        int32_t at = scope->table[i & (uint32_t)(scope->table_size - 1)];
        if (at < 0) return NULL;
        if (scope->symbols[at].hash == hash && strcmp(scope->symbols[at].name, name) == 0) return &scope->symbols[at];
    }
}

static void table_put(Scope *scope, int at) {
    uint32_t i = scope->symbols[at].hash;
    while (scope->table[i & (uint32_t)(scope->table_size - 1)] >= 0) i++;
    scope->table[i & (uint32_t)(scope->table_size - 1)] = at;
}

static bool table_grow(Scope *scope) {
    if (scope->symbol_count < TABLE_FROM || scope->symbol_count * 2 < scope->table_size) return true;
    int size = scope->table_size ? scope->table_size * 2 : 4 * TABLE_FROM;
    while (size & (size - 1)) size &= size - 1;
    if (size < scope->symbol_count * 4) size *= 2;
    int32_t *table = arena_alloc(scope->arena, (size_t)size * sizeof *table);
    if (table == NULL) return false;
    memset(table, 0xff, (size_t)size * sizeof *table);
    scope->table = table;
    scope->table_size = size;
    for (int i = 0; i < scope->symbol_count - 1; i++) table_put(scope, i);
    return true;
}

/* The symbol of `name` in `scope` itself, added when it is new. NULL when memory is short. */
static Symbol *intern(Scope *scope, const char *name) {
    uint32_t hash = tsr_hash_text(name, strlen(name));
    Symbol *symbol = find(scope, name, hash);
    if (symbol != NULL) return symbol;
    if (!grow(scope->arena, (void **)&scope->symbols, scope->symbol_count, &scope->symbol_capacity, sizeof *symbol))
        return NULL;
    symbol = &scope->symbols[scope->symbol_count++];
    *symbol = (Symbol){.name = name, .hash = hash, .place = PLACE_GLOBAL, .index = -1};
    if (!table_grow(scope)) return NULL;
    if (scope->table != NULL) table_put(scope, scope->symbol_count - 1);
    return &scope->symbols[scope->symbol_count - 1];
}

static Symbol *mark_in(Walk *w, Scope *scope, const char *name, int flags) {
    Symbol *symbol = intern(scope, name);
    if (symbol == NULL) no_memory(w);
    else symbol->flags |= (uint8_t)flags;
    return symbol;
}

static void mark(Walk *w, const char *name, int flags) { mark_in(w, w->scope, name, flags); }

/* A walrus binds in the function around the comprehensions it stands in. */
static void mark_walrus(Walk *w, const char *name) {
    Scope *scope = w->scope;
    while (scope->kind == SCOPE_COMPREHENSION || scope->kind == SCOPE_GENERATOR) {
        if (scope->kind == SCOPE_GENERATOR) mark_in(w, scope, name, SYMBOL_NONLOCAL | SYMBOL_USED);
        scope = scope->parent;
    }
    mark_in(w, scope, name, SYMBOL_BOUND);
}

static Scope *open_scope(Walk *w, ScopeKind kind, const Node *node) {
    Scope *scope = arena_alloc(w->arena, sizeof *scope), *parent = w->scope;
    if (scope == NULL) {
        no_memory(w);
        return NULL;
    }
    scope->kind = kind;
    scope->node = node;
    scope->parent = parent;
    scope->arena = w->arena;
    scope->owner = kind == SCOPE_COMPREHENSION ? parent->owner : scope;
    if (parent != NULL) {
        if (!grow(w->arena, (void **)&parent->children, parent->child_count, &parent->child_capacity,
                  sizeof(Scope *))) {
            no_memory(w);
            return NULL;
        }
        parent->children[parent->child_count++] = scope;
    }
    w->scope = scope;
    return scope;
}

static void walk(Walk *w, const Node *node);

static void walk_list(Walk *w, const NodeList *list) {
    for (int i = 0; i < list->count; i++) walk(w, list->items[i]);
}

static void walk_function(Walk *w, const Node *node) {
    walk_list(w, &node->function.decorators);
    for (int i = 0; i < node->function.param_count; i++) walk(w, node->function.params[i].default_value);
    for (int i = 0; i < node->function.param_count; i++) walk(w, node->function.params[i].annotation);
    walk(w, node->function.returns);
    if (node->kind == AST_DEF) mark(w, node->function.name, SYMBOL_BOUND);
    Scope *saved = w->scope;
    if (open_scope(w, node->kind == AST_DEF ? SCOPE_FUNCTION : SCOPE_LAMBDA, node) == NULL) return;
    /* the frame's order: positional, keyword-only, *args, **kwargs */
    static const uint8_t order[][2] = {{PARAM_POSITIONAL_ONLY, PARAM_NORMAL},
                                       {PARAM_KEYWORD_ONLY, PARAM_KEYWORD_ONLY},
                                       {PARAM_STAR, PARAM_STAR},
                                       {PARAM_DOUBLE_STAR, PARAM_DOUBLE_STAR}};
    for (int k = 0; k < 4; k++)
        for (int i = 0; i < node->function.param_count; i++) {
            const Param *p = &node->function.params[i];
            if ((p->kind == order[k][0] || p->kind == order[k][1]) && p->name != NULL)
                mark(w, p->name, SYMBOL_BOUND | SYMBOL_PARAM);
        }
    if (node->kind == AST_DEF) walk_list(w, &node->function.body);
    else walk(w, node->function.value);
    w->scope = saved;
}

static void walk_comprehension(Walk *w, const Node *node) {
    const Comprehension *g = node->comprehension.generators;
    walk(w, g[0].iterable); /* the first iterable belongs to the scope around */
    Scope *saved = w->scope;
    bool generator = node->kind == AST_GENERATOR;
    if (open_scope(w, generator ? SCOPE_GENERATOR : SCOPE_COMPREHENSION, node) == NULL) return;
    if (generator) mark(w, ".0", SYMBOL_BOUND | SYMBOL_PARAM);
    for (int i = 0; i < node->comprehension.generator_count; i++) {
        walk(w, g[i].target);
        if (i > 0) walk(w, g[i].iterable);
        walk_list(w, &g[i].conditions);
    }
    walk(w, node->comprehension.key);
    walk(w, node->comprehension.element);
    w->scope = saved;
}

static void walk_import(Walk *w, const Node *node) {
    for (int i = 0; i < node->import.count; i++) {
        const Alias *a = &node->import.names[i];
        if (strcmp(a->name, "*") == 0) continue;
        const char *name = a->asname != NULL ? a->asname : a->name, *dot = strchr(name, '.');
        if (a->asname == NULL && dot != NULL) {
            name = arena_copy(w->arena, name, (size_t)(dot - name));
            if (name == NULL) {
                no_memory(w);
                return;
            }
        }
        mark(w, name, SYMBOL_BOUND);
    }
}

static void walk_try(Walk *w, const Node *node) {
    walk_list(w, &node->attempt.body);
    for (int i = 0; i < node->attempt.handlers.count; i++) {
        const Node *h = node->attempt.handlers.items[i];
        walk(w, h->handler.type);
        if (h->handler.name != NULL) mark(w, h->handler.name, SYMBOL_BOUND | SYMBOL_DELETED);
        walk_list(w, &h->handler.body);
    }
    walk_list(w, &node->attempt.orelse);
    walk_list(w, &node->attempt.finally);
}

static void walk_statement(Walk *w, const Node *node) {
    switch (node->kind) {
    case AST_EXPR:
    case AST_RETURN: walk(w, node->value); break;
    case AST_ASSIGN:
        walk(w, node->assign.value);
        walk_list(w, &node->assign.targets);
        break;
    case AST_AUG_ASSIGN:
        walk(w, node->augmented.target);
        if (node->augmented.target->kind == AST_NAME)
            mark(w, node->augmented.target->name.id, SYMBOL_BOUND | SYMBOL_USED);
        walk(w, node->augmented.value);
        break;
    case AST_ANN_ASSIGN:
        walk(w, node->annotated.value);
        walk(w, node->annotated.target);
        if (node->annotated.simple && node->annotated.target->kind == AST_NAME)
            mark(w, node->annotated.target->name.id, SYMBOL_BOUND);
        walk(w, node->annotated.annotation);
        break;
    case AST_IF:
    case AST_WHILE:
        walk(w, node->branch.test);
        walk_list(w, &node->branch.body);
        walk_list(w, &node->branch.orelse);
        break;
    case AST_FOR:
        walk(w, node->loop.iterable);
        walk(w, node->loop.target);
        walk_list(w, &node->loop.body);
        walk_list(w, &node->loop.orelse);
        break;
    case AST_DEF: walk_function(w, node); break;
    case AST_DELETE: walk_list(w, &node->list); break;
    case AST_GLOBAL:
    case AST_NONLOCAL:
        for (int i = 0; i < node->names.count; i++)
            mark(w, node->names.items[i].name, node->kind == AST_GLOBAL ? SYMBOL_GLOBAL : SYMBOL_NONLOCAL);
        break;
    case AST_ASSERT:
        walk(w, node->assertion.test);
        walk(w, node->assertion.message);
        break;
    case AST_RAISE:
        walk(w, node->raise.exception);
        walk(w, node->raise.cause);
        break;
    case AST_TRY: walk_try(w, node); break;
    case AST_WITH:
        for (int i = 0; i < node->with.count; i++) {
            walk(w, node->with.items[i].context);
            walk(w, node->with.items[i].target);
        }
        walk_list(w, &node->with.body);
        break;
    case AST_IMPORT:
    case AST_IMPORT_FROM: walk_import(w, node); break;
    default: break;
    }
}

static void walk_call(Walk *w, const Node *node) {
    walk(w, node->call.func);
    walk_list(w, &node->call.args);
    for (int i = 0; i < node->call.keyword_count; i++) walk(w, node->call.keywords[i].value);
}

static void walk(Walk *w, const Node *node) {
    if (node == NULL || w->failed != TSR_OK) return;
    switch (node->kind) {
    case AST_CONSTANT: break;
    case AST_NAME:
        mark(w, node->name.id,
             node->ctx == CTX_LOAD    ? SYMBOL_USED
             : node->ctx == CTX_STORE ? SYMBOL_BOUND
                                      : SYMBOL_BOUND | SYMBOL_DELETED);
        break;
    case AST_TUPLE:
    case AST_LIST:
    case AST_SET:
    case AST_JOINED: walk_list(w, &node->list); break;
    case AST_DICT:
        for (int i = 0; i < node->dict.values.count; i++) {
            walk(w, node->dict.keys.items[i]);
            walk(w, node->dict.values.items[i]);
        }
        break;
    case AST_UNARY: walk(w, node->unary.operand); break;
    case AST_BINARY:
        walk(w, node->binary.left);
        walk(w, node->binary.right);
        break;
    case AST_BOOL: walk_list(w, &node->boolean.values); break;
    case AST_COMPARE:
        walk(w, node->compare.left);
        walk_list(w, &node->compare.comparators);
        break;
    case AST_CONDITIONAL:
        walk(w, node->conditional.test);
        walk(w, node->conditional.body);
        walk(w, node->conditional.orelse);
        break;
    case AST_CALL: walk_call(w, node); break;
    case AST_ATTRIBUTE: walk(w, node->attribute.value); break;
    case AST_SUBSCRIPT:
        walk(w, node->subscript.value);
        walk(w, node->subscript.index);
        break;
    case AST_SLICE:
        walk(w, node->slice.lower);
        walk(w, node->slice.upper);
        walk(w, node->slice.step);
        break;
    case AST_STARRED:
    case AST_YIELD:
    case AST_YIELD_FROM: walk(w, node->value); break;
    case AST_LAMBDA: walk_function(w, node); break;
    case AST_LIST_COMP:
    case AST_SET_COMP:
    case AST_DICT_COMP:
    case AST_GENERATOR: walk_comprehension(w, node); break;
    case AST_NAMED:
        walk(w, node->named.value);
        mark_walrus(w, node->named.target->name.id);
        break;
    case AST_FORMATTED:
        walk(w, node->formatted.value);
        walk(w, node->formatted.spec);
        break;
    default: walk_statement(w, node); break;
    }
}

/* --- resolving --- */

static bool is_function(const Scope *s) {
    return s->kind == SCOPE_FUNCTION || s->kind == SCOPE_LAMBDA || s->kind == SCOPE_GENERATOR || s->kind == SCOPE_EVAL;
}

static bool binds_here(const Symbol *s) {
    return s != NULL && (s->flags & SYMBOL_BOUND) && !(s->flags & (SYMBOL_GLOBAL | SYMBOL_NONLOCAL));
}

/* Marks the binding that a free name of a scope inside `scope` means as captured. False if no function binds it. */
static bool capture(Scope *scope, const char *name, uint32_t hash) {
    for (Scope *s = scope; s != NULL; s = s->parent) {
        Symbol *symbol = find(s, name, hash);
        if (symbol != NULL && (symbol->flags & SYMBOL_GLOBAL)) return false;
        if (s->kind == SCOPE_MODULE) return false;
        if (binds_here(symbol) || (symbol != NULL && (symbol->flags & SYMBOL_GIVEN))) {
            symbol->flags |= SYMBOL_CAPTURED;
            return true;
        }
    }
    return false;
}

/* First pass: which bindings do inner functions reach? */
static void mark_captures(Walk *w, Scope *scope) {
    bool inner = is_function(scope) && scope->kind != SCOPE_EVAL;
    for (int i = 0; i < scope->symbol_count; i++) {
        Symbol *s = &scope->symbols[i];
        if (binds_here(s) || (s->flags & (SYMBOL_GLOBAL | SYMBOL_GIVEN))) continue;
        bool found = false;
        if (inner && scope->parent != NULL) found = capture(scope->parent, s->name, s->hash);
        if (scope->kind == SCOPE_COMPREHENSION) { /* used in a comprehension is used in the function around it */
            Scope *up = scope->parent;
            Symbol *above = intern(up, s->name);
            if (above == NULL) no_memory(w);
            else above->flags |= SYMBOL_USED;
        }
        if ((s->flags & SYMBOL_NONLOCAL) && scope->kind == SCOPE_FUNCTION && !found && w->failed == TSR_OK)
            w->failed = tsr_error(TSR_SYNTAX_ERROR, "no binding for nonlocal '%s' found", s->name);
    }
}

static int add_slot(Walk *w, Scope *owner, const char *name, bool cell) {
    int capacity = owner->slot_capacity;
    if (!grow(w->arena, (void **)&owner->slot_names, owner->slot_count, &owner->slot_capacity, sizeof(char *)) ||
        !grow(w->arena, (void **)&owner->slot_is_cell, owner->slot_count, &capacity, 1)) {
        no_memory(w);
        return 0;
    }
    owner->slot_names[owner->slot_count] = name;
    owner->slot_is_cell[owner->slot_count] = cell;
    return owner->slot_count++;
}

static int add_capture(Walk *w, Scope *scope, const char *name, CaptureFrom from, int index) {
    if (!grow(w->arena, (void **)&scope->captures, scope->capture_count, &scope->capture_capacity, sizeof(Capture))) {
        no_memory(w);
        return 0;
    }
    scope->captures[scope->capture_count] = (Capture){name, (uint8_t)from, index};
    return scope->capture_count++;
}

/* The closure index of free name `symbol` in function `scope`; passes it down through the functions between. */
static int resolve_free(Walk *w, Scope *scope, Symbol *symbol) {
    if (symbol->place == PLACE_FREE) return symbol->index;
    CaptureFrom from = CAPTURE_CELL;
    int index = 0;
    for (Scope *s = scope->parent; s != NULL; s = s->parent) {
        Symbol *outer = intern(s, symbol->name);
        if (outer == NULL) {
            no_memory(w);
            return 0;
        }
        if (s->kind == SCOPE_COMPREHENSION && !binds_here(outer)) continue;
        if (outer->place == PLACE_LOCAL || outer->place == PLACE_CELL) { /* LOCAL: a given name that is no cell */
            from = outer->place == PLACE_CELL ? CAPTURE_CELL : CAPTURE_VALUE;
            index = outer->index;
        } else {
            from = CAPTURE_FREE;
            index = outer->place == PLACE_FREE ? outer->index : resolve_free(w, s, outer);
        }
        break;
    }
    symbol = intern(scope, symbol->name); /* the array may have moved */
    symbol->place = PLACE_FREE;
    symbol->index = add_capture(w, scope, symbol->name, from, index);
    return symbol->index;
}

/* Second pass: slots. Parents come before children, so what a child captures has its place. */
static void resolve(Walk *w, Scope *scope) {
    if (scope->kind == SCOPE_MODULE) return;
    for (int i = 0; i < scope->symbol_count && w->failed == TSR_OK; i++) {
        Symbol *s = &scope->symbols[i];
        if (s->flags & SYMBOL_GIVEN) continue;
        if (binds_here(s)) {
            bool cell = s->flags & SYMBOL_CAPTURED;
            s->place = cell ? PLACE_CELL : PLACE_LOCAL;
            s->index = add_slot(w, scope->owner, s->name, cell);
        } else if (scope->kind != SCOPE_COMPREHENSION && scope->kind != SCOPE_EVAL && !(s->flags & SYMBOL_GLOBAL) &&
                   capture(scope->parent, s->name, s->hash)) {
            resolve_free(w, scope, s);
        }
    }
}

static void each_scope(Walk *w, Scope *scope, void (*visit)(Walk *, Scope *), bool parents_first) {
    if (w->failed != TSR_OK) return;
    if (parents_first) visit(w, scope);
    for (int i = 0; i < scope->child_count; i++) each_scope(w, scope->children[i], visit, parents_first);
    if (!parents_first) visit(w, scope);
}

static void give_names(Walk *w, Scope *root, const GivenName *given, int count, int slots) {
    for (int i = 0; i < count; i++) {
        Symbol *s = mark_in(w, root, given[i].name, SYMBOL_GIVEN);
        if (s == NULL) return;
        s->place = (uint8_t)given[i].place;
        s->index = given[i].index;
    }
    for (int i = 0; i < slots; i++) add_slot(w, root, "", false);
    for (int i = 0; i < count; i++)
        if (w->failed == TSR_OK && given[i].place != PLACE_FREE && given[i].index < slots) {
            root->slot_names[given[i].index] = given[i].name;
            root->slot_is_cell[given[i].index] = given[i].place == PLACE_CELL;
        }
}

TsrStatus scope_analyse(Scope **out, const Ast *ast, const GivenName *given, int given_count, int given_slots,
                        SourceRange *where) {
    Walk w = {.arena = ast->arena, .where = where};
    Scope *root = open_scope(&w, given != NULL ? SCOPE_EVAL : SCOPE_MODULE, NULL);
    if (root == NULL) return w.failed;
    if (given != NULL) give_names(&w, root, given, given_count, given_slots);
    walk_list(&w, &ast->body);
    each_scope(&w, root, mark_captures, false);
    each_scope(&w, root, resolve, true);
    *out = root;
    return w.failed;
}

Scope *scope_child(Scope *scope, const Node *node) {
    for (int n = 0; n < scope->child_count; n++) {
        int i = (scope->child_cursor + n) % scope->child_count;
        if (scope->children[i]->node != node) continue;
        scope->child_cursor = i + 1;
        return scope->children[i];
    }
    return NULL;
}

Symbol scope_lookup(const Scope *scope, const char *name) {
    uint32_t hash = tsr_hash_text(name, strlen(name));
    for (; scope != NULL; scope = scope->parent) {
        const Symbol *s = find(scope, name, hash);
        if (scope->kind == SCOPE_COMPREHENSION && !binds_here(s)) continue;
        if (s != NULL) return *s;
        break;
    }
    return (Symbol){.name = name, .hash = hash, .place = PLACE_GLOBAL, .index = -1};
}
