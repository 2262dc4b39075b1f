/* check.c: the rules that Python applies after the grammar, in two walks over the tree.
 *
 * The first knows the scopes: a name that is global and a parameter, nonlocal without a function around, assigned
 * before its global statement, := in a comprehension. It keeps one row for each name and scope; nonlocals are looked up
 * at the end, when all scopes are known. The second knows the places: return outside a function, break outside a loop,
 * stars and targets where they can't stand, blocks nested too deep. The first error in CPython's order is the one that
 * is reported. */
#include <string.h>

#include "core/mem.h"
#include "rules.h"

enum { MAX_NESTED_BLOCKS = 20 };

enum Use {
    USED = 1,
    ASSIGNED = 2,
    PARAMETER = 4,
    GLOBAL = 8,
    NONLOCAL = 16,
    ANNOTATED = 32,
    LOOP_NAME = 64,
    LOOP_PARAMETER = 128
};

typedef enum ScopeKind { SCOPE_MODULE, SCOPE_FUNCTION, SCOPE_COMPREHENSION } ScopeKind;

typedef struct Scope {
    struct Scope *parent;
    Node *function; /* of SCOPE_FUNCTION */
    int id;
    ScopeKind kind;
    NodeKind comprehension;
    int in_iterable; /* within the iterables of comprehensions, also of scopes around: no := there */
} Scope;

/* What is known of one name in one scope. */
typedef struct Row {
    const char *name; /* NULL: free */
    int scope;
    int use;
} Row;

typedef struct Pending { /* a nonlocal, looked up when all scopes are known */
    const Scope *scope;
    const char *name;
    SourceRange at;
} Pending;

typedef struct Checker {
    Parser *p;
    Row *rows;
    size_t count, room;
    Scope *scope;
    int scopes;
    Pending *pending;
    int pending_count;
    size_t pending_room;
    /* the second walk */
    int loops, blocks;
    bool in_function;
} Checker;

/* ---- names of scopes ---- */

static Row *find_row(Row *rows, size_t room, const char *name, int scope) {
    size_t i = ((size_t)(uintptr_t)name / 16 * 31 + (size_t)scope * 2654435761u) & (room - 1);
    while (rows[i].name != NULL && (rows[i].name != name || rows[i].scope != scope)) i = (i + 1) & (room - 1);
    return &rows[i];
}

static int use_of(const Checker *c, const char *name, const Scope *scope) {
    return c->room > 0 ? find_row(c->rows, c->room, name, scope->id)->use : 0;
}

static bool grow_rows(Checker *c) {
    size_t room = c->room == 0 ? 128 : c->room * 2;
    Row *rows = tsr_calloc(room, sizeof *rows);
    if (rows == NULL) return parse_no_memory(c->p) != NULL;
    for (size_t i = 0; i < c->room; i++)
        if (c->rows[i].name != NULL) *find_row(rows, room, c->rows[i].name, c->rows[i].scope) = c->rows[i];
    tsr_free(c->rows);
    c->rows = rows;
    c->room = room;
    return true;
}

static bool note(Checker *c, const char *name, const Scope *scope, int use) {
    if (c->count * 2 >= c->room && !grow_rows(c)) return false;
    Row *row = find_row(c->rows, c->room, name, scope->id);
    if (row->name == NULL) {
        *row = (Row){name, scope->id, 0};
        c->count++;
    }
    row->use |= use;
    return true;
}

static bool names_node(Checker *c, Node *n);
static bool names_list(Checker *c, const NodeList *list) {
    for (int i = 0; i < list->count; i++)
        if (list->items[i] != NULL && !names_node(c, list->items[i])) return false;
    return true;
}
static bool names_maybe(Checker *c, Node *n) { return n == NULL || names_node(c, n); }

static bool names_global(Checker *c, Node *n) {
    bool global = n->kind == AST_GLOBAL;
    const char *word = global ? "global" : "nonlocal";
    for (int i = 0; i < n->names.count; i++) {
        const char *name = n->names.items[i].name;
        int use = use_of(c, name, c->scope);
        if (use & PARAMETER) return parse_raise(c->p, n->at, "name '%s' is parameter and %s", name, word) != NULL;
        if (use & USED)
            return parse_raise(c->p, n->at, "name '%s' is used prior to %s declaration", name, word) != NULL;
        if (use & ANNOTATED) return parse_raise(c->p, n->at, "annotated name '%s' can't be %s", name, word) != NULL;
        if (use & ASSIGNED)
            return parse_raise(c->p, n->at, "name '%s' is assigned to before %s declaration", name, word) != NULL;
        if (!note(c, name, c->scope, global ? GLOBAL : NONLOCAL)) return false;
        if (global && !(use & NONLOCAL)) continue;
        if (tsr_mem_grow(&c->pending, &c->pending_room, (size_t)c->pending_count + 1, sizeof *c->pending) != TSR_OK)
            return parse_no_memory(c->p) != NULL;
        c->pending[c->pending_count++] = (Pending){c->scope, name, n->at};
    }
    return true;
}

static Scope *open_scope(Checker *c, ScopeKind kind, Node *function) {
    Scope *s = parse_alloc(c->p, 1, sizeof *s);
    if (s == NULL) return NULL;
    *s = (Scope){.parent = c->scope,
                 .function = function,
                 .id = ++c->scopes,
                 .kind = kind,
                 .in_iterable = c->scope->in_iterable};
    c->scope = s;
    return s;
}

static bool names_function(Checker *c, Node *n) {
    if (n->function.name != NULL && !note(c, n->function.name, c->scope, ASSIGNED)) return false;
    for (int i = 0; i < n->function.param_count; i++)
        if (!names_maybe(c, n->function.params[i].default_value)) return false;
    for (int i = 0; i < n->function.param_count; i++)
        if (!names_maybe(c, n->function.params[i].annotation)) return false;
    if (!names_maybe(c, n->function.returns) || !names_list(c, &n->function.decorators)) return false;
    Scope *outer = c->scope;
    if (open_scope(c, SCOPE_FUNCTION, n) == NULL) return false;
    for (int i = 0; i < n->function.param_count; i++) {
        const Param *param = &n->function.params[i];
        if (use_of(c, param->name, c->scope) & PARAMETER)
            return parse_raise(c->p, n->at, "duplicate argument '%s' in function definition", param->name) != NULL;
        if (!note(c, param->name, c->scope, PARAMETER)) return false;
    }
    bool fine = n->kind == AST_LAMBDA ? names_node(c, n->function.value) : names_list(c, &n->function.body);
    c->scope = outer;
    return fine;
}

/* := binds in the nearest scope that is no comprehension. */
static bool names_walrus(Checker *c, Node *n) {
    const char *name = n->named.target->name.id;
    if (c->scope->in_iterable > 0)
        return parse_raise(c->p, n->at,
                           "assignment expression cannot be used in a comprehension iterable expression") != NULL;
    const Scope *s = c->scope;
    for (; s->kind == SCOPE_COMPREHENSION; s = s->parent) {
        if (use_of(c, name, s) & LOOP_NAME)
            return parse_raise(c->p, n->at, "assignment expression cannot rebind comprehension iteration variable '%s'",
                               name) != NULL;
        if (!note(c, name, s, LOOP_PARAMETER)) return false;
    }
    return names_node(c, n->named.value) && note(c, name, s, ASSIGNED);
}

static bool names_comprehension(Checker *c, Node *n) {
    Scope *outer = c->scope;
    Comprehension *g = n->comprehension.generators;
    outer->in_iterable++; /* the first iterable belongs to the scope around */
    bool fine = names_node(c, g[0].iterable);
    outer->in_iterable--;
    Scope *s = fine ? open_scope(c, SCOPE_COMPREHENSION, NULL) : NULL;
    if (s == NULL) return false;
    s->comprehension = (NodeKind)n->kind;
    for (int i = 0; fine && i < n->comprehension.generator_count; i++) {
        fine = names_node(c, g[i].target);
        if (fine && i > 0) {
            s->in_iterable++;
            fine = names_node(c, g[i].iterable);
            s->in_iterable--;
        }
        fine = fine && names_list(c, &g[i].conditions);
    }
    fine = fine && names_maybe(c, n->comprehension.key) && names_node(c, n->comprehension.element);
    c->scope = outer;
    return fine;
}

static bool names_yield(Checker *c, Node *n) {
    static const char *const within[AST_KIND_COUNT] = {[AST_LIST_COMP] = "list comprehension",
                                                       [AST_SET_COMP] = "set comprehension",
                                                       [AST_DICT_COMP] = "dict comprehension",
                                                       [AST_GENERATOR] = "generator expression"};
    if (!names_maybe(c, n->value)) return false;
    if (c->scope->kind == SCOPE_COMPREHENSION)
        return parse_raise(c->p, n->at, "'yield' inside %s", within[c->scope->comprehension]) != NULL;
    if (c->scope->kind == SCOPE_FUNCTION) c->scope->function->function.is_generator = true;
    return true;
}

static bool names_name(Checker *c, const Node *n) {
    int use = n->ctx == CTX_LOAD ? USED : ASSIGNED;
    if (n->ctx == CTX_STORE && c->scope->kind == SCOPE_COMPREHENSION) {
        if (use_of(c, n->name.id, c->scope) & LOOP_PARAMETER)
            return parse_raise(c->p, n->at, "comprehension inner loop cannot rebind assignment expression target '%s'",
                               n->name.id) != NULL;
        use |= LOOP_NAME;
    }
    return note(c, n->name.id, c->scope, use);
}

static bool names_annotated(Checker *c, Node *n) {
    Node *target = n->annotated.target;
    if (target->kind == AST_NAME) {
        int use = use_of(c, target->name.id, c->scope);
        if ((use & (GLOBAL | NONLOCAL)) && c->scope->kind != SCOPE_MODULE && n->annotated.simple)
            return parse_raise(c->p, n->at, "annotated name '%s' can't be %s", target->name.id,
                               use & GLOBAL ? "global" : "nonlocal") != NULL;
        if (!note(c, target->name.id, c->scope,
                  n->annotated.simple          ? ANNOTATED | ASSIGNED
                  : n->annotated.value != NULL ? ASSIGNED
                                               : 0))
            return false;
    } else if (!names_node(c, target)) {
        return false;
    }
    return names_maybe(c, n->annotated.annotation) && names_maybe(c, n->annotated.value);
}

static bool names_import(Checker *c, const Node *n) {
    for (int i = 0; i < n->import.count; i++) {
        const Alias *a = &n->import.names[i];
        if (strcmp(a->name, "*") == 0) {
            if (c->scope->kind != SCOPE_MODULE)
                return parse_raise(c->p, n->at, "import * only allowed at module level") != NULL;
            continue;
        }
        const char *name = a->asname;
        if (name == NULL) {
            const char *dot = strchr(a->name, '.');
            if (dot != NULL) continue; /* binds the first part, which no rule below asks for */
            name = a->name;
        }
        if (!note(c, name, c->scope, ASSIGNED)) return false;
    }
    return true;
}

static bool names_with(Checker *c, Node *n) {
    for (int i = 0; i < n->with.count; i++)
        if (!names_node(c, n->with.items[i].context) || !names_maybe(c, n->with.items[i].target)) return false;
    return names_list(c, &n->with.body);
}

static bool names_statement(Checker *c, Node *n) {
    switch ((NodeKind)n->kind) {
    case AST_ASSIGN: return names_list(c, &n->assign.targets) && names_node(c, n->assign.value);
    case AST_AUG_ASSIGN: return names_node(c, n->augmented.target) && names_node(c, n->augmented.value);
    case AST_ANN_ASSIGN: return names_annotated(c, n);
    case AST_IF:
    case AST_WHILE:
        return names_node(c, n->branch.test) && names_list(c, &n->branch.body) && names_list(c, &n->branch.orelse);
    case AST_FOR:
        return names_node(c, n->loop.target) && names_node(c, n->loop.iterable) && names_list(c, &n->loop.body) &&
               names_list(c, &n->loop.orelse);
    case AST_DEF: return names_function(c, n);
    case AST_DELETE: return names_list(c, &n->list);
    case AST_GLOBAL:
    case AST_NONLOCAL: return names_global(c, n);
    case AST_ASSERT: return names_node(c, n->assertion.test) && names_maybe(c, n->assertion.message);
    case AST_RAISE: return names_maybe(c, n->raise.exception) && names_maybe(c, n->raise.cause);
    case AST_TRY:
        return names_list(c, &n->attempt.body) && names_list(c, &n->attempt.orelse) &&
               names_list(c, &n->attempt.handlers) && names_list(c, &n->attempt.finally);
    case AST_HANDLER:
        return names_maybe(c, n->handler.type) &&
               (n->handler.name == NULL || note(c, n->handler.name, c->scope, ASSIGNED)) &&
               names_list(c, &n->handler.body);
    case AST_WITH: return names_with(c, n);
    case AST_IMPORT:
    case AST_IMPORT_FROM: return names_import(c, n);
    case AST_PASS:
    case AST_BREAK:
    case AST_CONTINUE: return true;
    default: return names_maybe(c, n->value);
    }
}

static bool names_node(Checker *c, Node *n) {
    switch ((NodeKind)n->kind) {
    case AST_CONSTANT: return true;
    case AST_NAME: return names_name(c, n);
    case AST_TUPLE:
    case AST_LIST:
    case AST_SET:
    case AST_JOINED: return names_list(c, &n->list);
    case AST_DICT: return names_list(c, &n->dict.keys) && names_list(c, &n->dict.values);
    case AST_UNARY: return names_node(c, n->unary.operand);
    case AST_BINARY: return names_node(c, n->binary.left) && names_node(c, n->binary.right);
    case AST_BOOL: return names_list(c, &n->boolean.values);
    case AST_COMPARE: return names_node(c, n->compare.left) && names_list(c, &n->compare.comparators);
    case AST_CONDITIONAL:
        return names_node(c, n->conditional.test) && names_node(c, n->conditional.body) &&
               names_node(c, n->conditional.orelse);
    case AST_CALL:
        if (!names_node(c, n->call.func) || !names_list(c, &n->call.args)) return false;
        for (int i = 0; i < n->call.keyword_count; i++)
            if (!names_node(c, n->call.keywords[i].value)) return false;
        return true;
    case AST_ATTRIBUTE: return names_node(c, n->attribute.value);
    case AST_SUBSCRIPT: return names_node(c, n->subscript.value) && names_node(c, n->subscript.index);
    case AST_SLICE:
        return names_maybe(c, n->slice.lower) && names_maybe(c, n->slice.upper) && names_maybe(c, n->slice.step);
    case AST_STARRED: return names_node(c, n->value);
    case AST_LAMBDA: return names_function(c, n);
    case AST_LIST_COMP:
    case AST_SET_COMP:
    case AST_DICT_COMP:
    case AST_GENERATOR: return names_comprehension(c, n);
    case AST_NAMED: return names_walrus(c, n);
    case AST_YIELD:
    case AST_YIELD_FROM: return names_yield(c, n);
    case AST_FORMATTED: return names_node(c, n->formatted.value) && names_maybe(c, n->formatted.spec);
    default: return names_statement(c, n);
    }
}

/* Each nonlocal must have its name in a function around it. */
static bool resolve_nonlocals(Checker *c) {
    for (int i = 0; i < c->pending_count; i++) {
        const Pending *x = &c->pending[i];
        if (use_of(c, x->name, x->scope) & GLOBAL)
            return parse_raise(c->p, x->at, "name '%s' is nonlocal and global", x->name) != NULL;
        if (x->scope->kind == SCOPE_MODULE)
            return parse_raise(c->p, x->at, "nonlocal declaration not allowed at module level") != NULL;
        const Scope *s = x->scope->parent;
        for (; s->kind != SCOPE_MODULE; s = s->parent) {
            int use = use_of(c, x->name, s);
            if (s->kind == SCOPE_FUNCTION && (use & (ASSIGNED | PARAMETER)) && !(use & GLOBAL)) break;
        }
        if (s->kind == SCOPE_MODULE)
            return parse_raise(c->p, x->at, "no binding for nonlocal '%s' found", x->name) != NULL;
    }
    return true;
}

/* ---- places of statements ---- */

static bool places_node(Checker *c, const Node *n);
static bool places_list(Checker *c, const NodeList *list) {
    for (int i = 0; i < list->count; i++)
        if (list->items[i] != NULL && !places_node(c, list->items[i])) return false;
    return true;
}
static bool places_maybe(Checker *c, const Node *n) { return n == NULL || places_node(c, n); }

static bool no_star(Checker *c, const Node *n) {
    if (n == NULL || n->kind != AST_STARRED) return places_maybe(c, n);
    return parse_raise(c->p, n->at, "can't use starred expression here") != NULL;
}

/* The elements of a list, tuple or set, or the arguments of a call: stars are at home there. */
static bool places_elements(Checker *c, const NodeList *list) {
    for (int i = 0; i < list->count; i++) {
        const Node *n = list->items[i];
        if (!no_star(c, n->kind == AST_STARRED ? n->value : n)) return false;
    }
    return true;
}

static bool places_target(Checker *c, const Node *n) {
    if (n->kind == AST_STARRED)
        return parse_raise(c->p, n->at, "starred assignment target must be in a list or tuple") != NULL;
    if (n->kind == AST_NAME && n->ctx == CTX_STORE && strcmp(n->name.id, "__debug__") == 0)
        return parse_raise(c->p, n->at, "cannot assign to __debug__") != NULL;
    if (n->kind != AST_TUPLE && n->kind != AST_LIST) return places_node(c, n);
    int stars = 0;
    for (int i = 0; i < n->list.count; i++) {
        const Node *item = n->list.items[i];
        if (item->kind == AST_STARRED && ++stars > 1)
            return parse_raise(c->p, n->at, "multiple starred expressions in assignment") != NULL;
    }
    for (int i = 0; i < n->list.count; i++) {
        const Node *item = n->list.items[i];
        if (!places_target(c, item->kind == AST_STARRED ? item->value : item)) return false;
    }
    return true;
}

static bool enter_block(Checker *c, const Node *n) {
    if (c->blocks++ < MAX_NESTED_BLOCKS) return true;
    return parse_raise(c->p, n->at, "too many statically nested blocks") != NULL;
}

static bool places_loop(Checker *c, const Node *n, const NodeList *body, const NodeList *orelse) {
    if (!enter_block(c, n)) return false;
    c->loops++;
    bool fine = places_list(c, body);
    c->loops--;
    c->blocks--;
    return fine && places_list(c, orelse);
}

static bool places_function(Checker *c, const Node *n) {
    Checker saved = *c;
    if (!places_list(c, &n->function.decorators)) return false;
    for (int i = 0; i < n->function.param_count; i++) {
        const Param *param = &n->function.params[i];
        if (!places_maybe(c, param->default_value) ||
            (param->kind != PARAM_STAR && !places_maybe(c, param->annotation)))
            return false;
        if (strcmp(param->name, "__debug__") == 0)
            return parse_raise(c->p, n->at, "cannot assign to __debug__") != NULL;
    }
    if (!places_maybe(c, n->function.returns)) return false;
    c->loops = c->blocks = 0;
    c->in_function = true;
    bool fine = n->kind == AST_LAMBDA ? places_node(c, n->function.value) : places_list(c, &n->function.body);
    c->loops = saved.loops;
    c->blocks = saved.blocks;
    c->in_function = saved.in_function;
    return fine;
}

static bool places_call(Checker *c, const Node *n) {
    if (!places_node(c, n->call.func)) return false;
    const Scope keywords = {.id = ++c->scopes}; /* no scope, but names that are compared with each other alone */
    for (int i = 0; i < n->call.keyword_count; i++) {
        const char *name = n->call.keywords[i].name;
        if (name == NULL) continue;
        if (use_of(c, name, &keywords) != 0)
            return parse_raise(c->p, n->call.keywords[i].at, "keyword argument repeated: %s", name) != NULL;
        if (!note(c, name, &keywords, USED)) return false;
    }
    if (!places_elements(c, &n->call.args)) return false;
    for (int i = 0; i < n->call.keyword_count; i++)
        if (!places_node(c, n->call.keywords[i].value)) return false;
    return true;
}

static bool places_comprehension(Checker *c, const Node *n) {
    for (int i = 0; i < n->comprehension.generator_count; i++) {
        const Comprehension *g = &n->comprehension.generators[i];
        if (!places_node(c, g->iterable) || !places_target(c, g->target) || !places_list(c, &g->conditions))
            return false;
    }
    return places_maybe(c, n->comprehension.key) && places_node(c, n->comprehension.element);
}

static bool places_try(Checker *c, const Node *n) {
    for (int i = 0; i + 1 < n->attempt.handlers.count; i++)
        if (n->attempt.handlers.items[i]->handler.type == NULL)
            return parse_raise(c->p, n->attempt.handlers.items[i]->at, "default 'except:' must be last") != NULL;
    if (!enter_block(c, n)) return false;
    bool fine = places_list(c, &n->attempt.body) && places_list(c, &n->attempt.orelse) &&
                places_list(c, &n->attempt.handlers) && places_list(c, &n->attempt.finally);
    c->blocks--;
    return fine;
}

static bool places_with(Checker *c, const Node *n) {
    for (int i = 0; i < n->with.count; i++) {
        const WithItem *item = &n->with.items[i];
        if (!places_node(c, item->context) || !enter_block(c, n) ||
            (item->target != NULL && !places_target(c, item->target)))
            return false;
    }
    bool fine = places_list(c, &n->with.body);
    c->blocks -= n->with.count;
    return fine;
}

static bool places_statement(Checker *c, const Node *n) {
    switch ((NodeKind)n->kind) {
    case AST_EXPR: return no_star(c, n->value);
    case AST_ASSIGN:
        if (!no_star(c, n->assign.value)) return false;
        for (int i = 0; i < n->assign.targets.count; i++)
            if (!places_target(c, n->assign.targets.items[i])) return false;
        return true;
    case AST_AUG_ASSIGN: return places_target(c, n->augmented.target) && no_star(c, n->augmented.value);
    case AST_ANN_ASSIGN:
        return no_star(c, n->annotated.value) && places_target(c, n->annotated.target) &&
               places_node(c, n->annotated.annotation);
    case AST_IF:
        return places_node(c, n->branch.test) && places_list(c, &n->branch.body) && places_list(c, &n->branch.orelse);
    case AST_WHILE: return places_node(c, n->branch.test) && places_loop(c, n, &n->branch.body, &n->branch.orelse);
    case AST_FOR:
        return no_star(c, n->loop.iterable) && places_target(c, n->loop.target) &&
               places_loop(c, n, &n->loop.body, &n->loop.orelse);
    case AST_DEF: return places_function(c, n);
    case AST_RETURN:
        if (!c->in_function) return parse_raise(c->p, n->at, "'return' outside function") != NULL;
        return no_star(c, n->value);
    case AST_BREAK: return c->loops > 0 || parse_raise(c->p, n->at, "'break' outside loop") != NULL;
    case AST_CONTINUE: return c->loops > 0 || parse_raise(c->p, n->at, "'continue' not properly in loop") != NULL;
    case AST_DELETE: return places_list(c, &n->list);
    case AST_ASSERT: return places_node(c, n->assertion.test) && places_maybe(c, n->assertion.message);
    case AST_RAISE: return places_maybe(c, n->raise.exception) && places_maybe(c, n->raise.cause);
    case AST_TRY: return places_try(c, n);
    case AST_HANDLER: return places_maybe(c, n->handler.type) && places_list(c, &n->handler.body);
    case AST_WITH: return places_with(c, n);
    default: return true;
    }
}

static bool places_node(Checker *c, const Node *n) {
    switch ((NodeKind)n->kind) {
    case AST_CONSTANT:
    case AST_NAME: return true;
    case AST_TUPLE:
    case AST_LIST:
    case AST_SET:
    case AST_JOINED: return places_elements(c, &n->list);
    case AST_DICT: return places_list(c, &n->dict.keys) && places_list(c, &n->dict.values);
    case AST_UNARY: return places_node(c, n->unary.operand);
    case AST_BINARY: return places_node(c, n->binary.left) && places_node(c, n->binary.right);
    case AST_BOOL: return places_list(c, &n->boolean.values);
    case AST_COMPARE: return places_node(c, n->compare.left) && places_list(c, &n->compare.comparators);
    case AST_CONDITIONAL:
        return places_node(c, n->conditional.test) && places_node(c, n->conditional.body) &&
               places_node(c, n->conditional.orelse);
    case AST_CALL: return places_call(c, n);
    case AST_ATTRIBUTE: return places_node(c, n->attribute.value);
    case AST_SUBSCRIPT: return places_node(c, n->subscript.value) && no_star(c, n->subscript.index);
    case AST_SLICE:
        return places_maybe(c, n->slice.lower) && places_maybe(c, n->slice.upper) && places_maybe(c, n->slice.step);
    case AST_STARRED: return no_star(c, n);
    case AST_LAMBDA: return places_function(c, n);
    case AST_LIST_COMP:
    case AST_SET_COMP:
    case AST_DICT_COMP:
    case AST_GENERATOR: return places_comprehension(c, n);
    case AST_NAMED: return places_target(c, n->named.target) && places_node(c, n->named.value);
    case AST_YIELD:
    case AST_YIELD_FROM:
        if (!c->in_function) return parse_raise(c->p, n->at, "'yield' outside function") != NULL;
        return no_star(c, n->value);
    case AST_FORMATTED: return no_star(c, n->formatted.value) && places_maybe(c, n->formatted.spec);
    default: return places_statement(c, n);
    }
}

static bool is_docstring(const Node *n) {
    return n->kind == AST_EXPR && n->value->kind == AST_CONSTANT && n->value->constant.kind == CONST_STR;
}

static bool is_future(const Node *n) {
    return n->kind == AST_IMPORT_FROM && n->import.level == 0 && strcmp(n->import.module, "__future__") == 0;
}

static bool known_features(Parser *p, const Node *n) {
    static const char *const features[] = {"annotations",     "division",         "print_function",
                                           "absolute_import", "unicode_literals", "with_statement",
                                           "generator_stop",  "nested_scopes",    "generators"};
    for (int i = 0; i < n->import.count; i++) {
        size_t k = 0;
        while (k < TSR_COUNTOF(features) && strcmp(features[k], n->import.names[i].name) != 0) k++;
        if (k == TSR_COUNTOF(features))
            return parse_raise(p, n->at, "future feature %s is not defined", n->import.names[i].name) != NULL;
    }
    return true;
}

/* Imports from __future__ come before all else but a docstring. */
static bool futures_first(Parser *p, const NodeList *body) {
    bool other = false;
    for (int i = 0; i < body->count; i++) {
        const Node *n = body->items[i];
        if (!is_future(n)) other |= i > 0 || !is_docstring(n);
        else if (other)
            return parse_raise(p, n->at, "from __future__ imports must occur at the beginning of the file") != NULL;
        else if (!known_features(p, n)) return false;
    }
    return true;
}

bool check_tree(Parser *p, const NodeList *body) {
    Scope module = {.kind = SCOPE_MODULE};
    Checker c = {.p = p, .scope = &module};
    bool fine = futures_first(p, body) && names_list(&c, body) && resolve_nonlocals(&c) && places_list(&c, body);
    tsr_free(c.rows);
    tsr_free(c.pending);
    return fine && !p->failed;
}
