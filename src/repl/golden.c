/* An abstract interpreter over the syntax tree: a state knows which names point where and how many references each pointer is owed; branches
 * split states, loops run their body none, once and twice, and each exit is checked. */
#include "golden.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "args.h"
#include "core/text.h"
#include "namespace.h"
#include "parser.h"
#include "seq_obj.h"
#include "str_obj.h"
#include "vm.h"

enum { MAX_POINTERS = 24, MAX_NAMES = 48, MAX_STATES = 128, NOTHING = -1 };

typedef struct Pointer {
    const char *name;   /* of the variable it was first bound to; NULL: never */
    const char *maker;  /* "newNarrow", "retain"; NULL for a parameter that was not retained */
    int line;           /* of the maker */
    int owed;           /* references to free or return */
    int freed_line, moved_line;
} Pointer;

typedef struct State {
    Pointer pointers[MAX_POINTERS];
    struct {
        const char *name;
        int pointer;
    } names[MAX_NAMES];
    int pointer_count, name_count;
} State;

typedef struct States {
    State *items;
    int count, capacity;
} States;

typedef struct Golden {
    const char *function;
    const Node *def;
    List *breaches;
    TsrStatus status;
    States *breaks, *continues; /* of the loop around; NULL: none */
    States *raised;             /* of the try around with handlers; NULL: none */
    const NodeList *finally[16]; /* inner ones last */
    int finally_count;
    bool too_many;
} Golden;

/* ---- sets of states ---- */

static void states_free(States *s) {
    tsr_free(s->items);
    *s = (States){0};
}

static bool same_state(const State *a, const State *b) {
    if (a->pointer_count != b->pointer_count || a->name_count != b->name_count) return false;
    for (int i = 0; i < a->pointer_count; i++) {
        const Pointer *p = &a->pointers[i], *q = &b->pointers[i];
        if (p->maker != q->maker || p->line != q->line || p->owed != q->owed || p->moved_line != q->moved_line || (p->freed_line != 0) != (q->freed_line != 0)) return false;
    }
    for (int i = 0; i < a->name_count; i++)
        if (strcmp(a->names[i].name, b->names[i].name) != 0 || a->names[i].pointer != b->names[i].pointer) return false;
    return true;
}

static void states_add(Golden *g, States *set, const State *state) {
    for (int i = 0; i < set->count; i++)
        if (same_state(&set->items[i], state)) return;
    if (set->count == MAX_STATES) {
        g->too_many = true;
        return;
    }
    if (set->count == set->capacity) {
        int capacity = set->capacity > 0 ? 2 * set->capacity : 4;
        State *grown = tsr_realloc(set->items, sizeof *grown * (size_t)capacity);
        if (grown == NULL) {
            g->status = mem_error();
            return;
        }
        set->items = grown;
        set->capacity = capacity;
    }
    set->items[set->count++] = *state;
}

static void states_merge(Golden *g, States *into, const States *from) {
    for (int i = 0; i < from->count; i++) states_add(g, into, &from->items[i]);
}

static States states_copy(Golden *g, const States *s) {
    States copy = {0};
    states_merge(g, &copy, s);
    return copy;
}

/* ---- breaches ---- */

static void breach(Golden *g, const char *format, ...) __attribute__((format(printf, 2, 3)));
static void breach(Golden *g, const char *format, ...) {
    char text[512];
    Value v;
    va_list args;
    if (g->status != TSR_OK) return;
    va_start(args, format);
    vsnprintf(text, sizeof text, format, args);
    va_end(args);
    for (int64_t i = 0; i < g->breaches->count; i++)
        if (str_equal_c(value_as_str(g->breaches->items[i]), text)) return;
    g->status = str_new_c(&v, text);
    if (g->status == TSR_OK) g->status = list_append_move(g->breaches, v);
}

static const char *pointer_name(const Pointer *p) { return p->name != NULL ? p->name : "a pointer without a name"; }

/* ---- names and pointers ---- */

static int find_name(const State *s, const char *name) {
    for (int i = 0; i < s->name_count; i++)
        if (strcmp(s->names[i].name, name) == 0) return i;
    return -1;
}

static void bind_name(State *s, const char *name, int pointer) {
    int i = find_name(s, name);
    if (i < 0) {
        if (s->name_count == MAX_NAMES) return;
        i = s->name_count++;
        s->names[i].name = name;
    }
    s->names[i].pointer = pointer;
    if (pointer != NOTHING && s->pointers[pointer].name == NULL) s->pointers[pointer].name = name;
}

static int new_pointer(State *s, const char *maker, int line, int owed) {
    if (s->pointer_count == MAX_POINTERS) return NOTHING;
    s->pointers[s->pointer_count] = (Pointer){.maker = maker, .line = line, .owed = owed};
    return s->pointer_count++;
}

/* ---- calls ---- */

/* The last part of what is called: "newNarrow" of TH.newNarrow. */
static const char *called_name(const Node *call) {
    const Node *f = call->call.func;
    if (f->kind == AST_NAME) return f->name.id;
    return f->kind == AST_ATTRIBUTE ? f->attribute.name : "";
}

static bool is_namespace(const Node *n) {
    static const char *const names[] = {"TH", "THS", "THC", "THCS"};
    for (size_t i = 0; n->kind == AST_NAME && i < TSR_COUNTOF(names); i++)
        if (strcmp(n->name.id, names[i]) == 0) return true;
    return false;
}

/* Whether the call is of a TH function (bare names of the user's own functions count when they begin with new). */
static bool is_th_call(const Node *call) { return call->call.func->kind == AST_ATTRIBUTE && is_namespace(call->call.func->attribute.value); }

static bool begins_with_new(const char *name) { return strncmp(name, "new", 3) == 0 || strncmp(name, "Storage_new", 11) == 0; }

static int eval(Golden *g, State *s, const Node *n);

static void lose(Golden *g, const State *s, int pointer, int line, const char *how) {
    if (pointer == NOTHING) return;
    const Pointer *p = &s->pointers[pointer];
    if (p->name == NULL && p->owed > 0) breach(g, "line %d: what %s (line %d) returned %s: it can't be freed any more", line, p->maker, p->line, how);
}

static void check_use(Golden *g, const State *s, int pointer, int line) {
    if (pointer == NOTHING) return;
    const Pointer *p = &s->pointers[pointer];
    if (p->moved_line > 0) breach(g, "line %d: %s is used, but it was moved at line %d", line, pointer_name(p), p->moved_line);
    else if (p->freed_line > 0 && p->owed == 0 && p->maker != NULL) breach(g, "line %d: %s is used, but it was freed at line %d", line, pointer_name(p), p->freed_line);
}

static void free_pointer(Golden *g, State *s, int pointer, int line) {
    if (pointer == NOTHING) return;
    Pointer *p = &s->pointers[pointer];
    if (p->moved_line > 0) breach(g, "line %d: %s is freed, but it was moved at line %d: after moving an object away you must NOT free it", line, pointer_name(p), p->moved_line);
    else if (p->owed > 0) p->owed--;
    else if (p->maker == NULL) breach(g, "line %d: %s is freed, but this function neither made nor retained it", line, pointer_name(p));
    else breach(g, "line %d: %s is freed again: it was freed at line %d", line, pointer_name(p), p->freed_line);
    p->freed_line = line;
}

/* The arguments; pointers made in place are lost (passing an object on does not absolve). Returns the first argument's pointer. */
static int eval_arguments(Golden *g, State *s, const Node *call, bool keeps_first) {
    int first = NOTHING;
    for (int i = 0; i < call->call.args.count; i++) {
        int p = eval(g, s, call->call.args.items[i]);
        if (i == 0) first = p;
        if (p != NOTHING && !(i == 0 && keeps_first)) lose(g, s, p, call->at.line, "is passed on and lost");
    }
    for (int i = 0; i < call->call.keyword_count; i++) {
        int p = eval(g, s, call->call.keywords[i].value);
        if (p != NOTHING) lose(g, s, p, call->at.line, "is passed on and lost");
    }
    return first;
}

static int eval_call(Golden *g, State *s, const Node *call) {
    const char *name = called_name(call);
    int line = call->at.line;
    bool th = is_th_call(call);
    bool retains = th && (strcmp(name, "retain") == 0 || strcmp(name, "Storage_retain") == 0);
    bool frees = th && (strcmp(name, "free") == 0 || strcmp(name, "decref") == 0 || strcmp(name, "Storage_free") == 0 || strcmp(name, "freeCopyTo") == 0);
    bool moves = th && strcmp(name, "move") == 0;
    if (call->call.func->kind == AST_ATTRIBUTE && !th) eval(g, s, call->call.func->attribute.value);
    int first = eval_arguments(g, s, call, retains || frees || moves);
    if (frees) {
        free_pointer(g, s, first, line);
        return NOTHING;
    }
    if (moves) {
        if (first != NOTHING) {
            if (s->pointers[first].owed == 0) breach(g, "line %d: %s is moved, but no reference is owed", line, pointer_name(&s->pointers[first]));
            s->pointers[first].owed = TSR_MAX(0, s->pointers[first].owed - 1);
            if (s->pointers[first].owed == 0) s->pointers[first].moved_line = line;
        }
        return NOTHING;
    }
    for (int i = 0; th && i < call->call.args.count; i++)
        if (call->call.args.items[i]->kind == AST_NAME) {
            int at = find_name(s, call->call.args.items[i]->name.id);
            if (at >= 0) check_use(g, s, s->names[at].pointer, line);
        }
    if (retains) {
        if (first == NOTHING) return new_pointer(s, "retain", line, 1);
        s->pointers[first].owed++;
        if (s->pointers[first].maker == NULL) {
            s->pointers[first].maker = "retain";
            s->pointers[first].line = line;
        }
        return first;
    }
    return begins_with_new(name) && (th || call->call.func->kind == AST_NAME) ? new_pointer(s, name, line, 1) : NOTHING;
}

static int eval_list(Golden *g, State *s, const NodeList *list) {
    for (int i = 0; i < list->count; i++)
        if (list->items[i] != NULL) eval(g, s, list->items[i]);
    return NOTHING;
}

/* The pointer an expression is, or NOTHING. */
static int eval(Golden *g, State *s, const Node *n) {
    if (n == NULL) return NOTHING;
    switch (n->kind) {
    case AST_NAME: {
        int i = find_name(s, n->name.id);
        return i >= 0 ? s->names[i].pointer : NOTHING;
    }
    case AST_CALL: return eval_call(g, s, n);
    case AST_NAMED: {
        int p = eval(g, s, n->named.value);
        if (n->named.target->kind == AST_NAME) bind_name(s, n->named.target->name.id, p);
        return p;
    }
    case AST_TUPLE:
    case AST_LIST:
    case AST_SET:
    case AST_JOINED: return eval_list(g, s, &n->list);
    case AST_UNARY: return eval(g, s, n->unary.operand), NOTHING;
    case AST_BINARY: return eval(g, s, n->binary.left), eval(g, s, n->binary.right), NOTHING;
    case AST_BOOL: return eval_list(g, s, &n->boolean.values);
    case AST_COMPARE: return eval(g, s, n->compare.left), eval_list(g, s, &n->compare.comparators);
    case AST_ATTRIBUTE: return eval(g, s, n->attribute.value), NOTHING;
    case AST_SUBSCRIPT: return eval(g, s, n->subscript.value), eval(g, s, n->subscript.index), NOTHING;
    case AST_STARRED: return eval(g, s, n->value);
    case AST_FORMATTED: return eval(g, s, n->formatted.value), NOTHING;
    case AST_DICT: return eval_list(g, s, &n->dict.keys), eval_list(g, s, &n->dict.values);
    default: return NOTHING;
    }
}

/* ---- exits ---- */

static void check_exit(Golden *g, const State *s, int line, const char *what, bool style) {
    for (int i = 0; i < s->pointer_count; i++) {
        const Pointer *p = &s->pointers[i];
        if (p->owed <= 0 || p->name == NULL) continue;
        if (style)
            breach(g, "line %d (%s): %s (%s, line %d) is not freed before it: THError need not free, but it is good style to raise before allocating", line, what, p->name, p->maker, p->line);
        else
            breach(g, "line %d (%s): %s (%s, line %d) leaks: you must either FREE or RETURN it", line, what, p->name, p->maker, p->line);
    }
}

static void exec_block(Golden *g, const NodeList *body, States *states);

/* What the finally blocks around do on the way out of the function. */
static void run_finally(Golden *g, States *states) {
    int count = g->finally_count;
    while (g->finally_count > 0) {
        const NodeList *block = g->finally[--g->finally_count];
        exec_block(g, block, states);
    }
    g->finally_count = count;
}

static void return_pointer(Golden *g, State *s, int pointer, int line) {
    if (pointer == NOTHING) return;
    Pointer *p = &s->pointers[pointer];
    if (p->owed == 0) {
        if (p->freed_line > 0 && p->maker != NULL) breach(g, "line %d: %s is returned, but it was freed at line %d", line, pointer_name(p), p->freed_line);
        return;
    }
    p->owed--;
    if (begins_with_new(g->function)) return;
    if (p->name == NULL) breach(g, "line %d: %s returns the pointer that %s gave, which is owned: its name must begin with new", line, g->function, p->maker);
    else breach(g, "line %d: %s returns the owned pointer %s (%s, line %d): its name must begin with new", line, g->function, p->name, p->maker, p->line);
}

static void exec_return(Golden *g, const Node *n, States *states) {
    for (int i = 0; i < states->count; i++) {
        State *s = &states->items[i];
        const Node *v = n->value;
        if (v != NULL && (v->kind == AST_TUPLE || v->kind == AST_LIST)) {
            for (int k = 0; k < v->list.count; k++) return_pointer(g, s, eval(g, s, v->list.items[k]), n->at.line);
        } else {
            return_pointer(g, s, eval(g, s, v), n->at.line);
        }
    }
    run_finally(g, states);
    for (int i = 0; i < states->count; i++) check_exit(g, &states->items[i], n->at.line, "return", false);
    states->count = 0;
}

static void exec_raise(Golden *g, States *states, int line, const char *what) {
    if (g->raised != NULL) {
        states_merge(g, g->raised, states);
    } else {
        run_finally(g, states);
        for (int i = 0; i < states->count; i++) check_exit(g, &states->items[i], line, what, true);
    }
    states->count = 0;
}

/* ---- statements ---- */

static bool is_error_call(const Node *n) { return n->kind == AST_CALL && is_th_call(n) && strcmp(called_name(n), "error") == 0; }

static void assign_to(Golden *g, State *s, const Node *target, const Node *value, int pointer) {
    if (target->kind == AST_NAME) {
        bind_name(s, target->name.id, pointer);
    } else if ((target->kind == AST_TUPLE || target->kind == AST_LIST) && value != NULL && (value->kind == AST_TUPLE || value->kind == AST_LIST) && value->list.count == target->list.count) {
        for (int i = 0; i < target->list.count; i++) assign_to(g, s, target->list.items[i], value->list.items[i], eval(g, s, value->list.items[i]));
    } else if (target->kind == AST_TUPLE || target->kind == AST_LIST) {
        for (int i = 0; i < target->list.count; i++) assign_to(g, s, target->list.items[i], NULL, NOTHING);
    } else if (pointer != NOTHING && s->pointers[pointer].name == NULL) {
        s->pointers[pointer].name = "a pointer kept in a container"; /* it is still this function's to free */
    }
}

static bool splits(const Node *target, const Node *value) {
    return (target->kind == AST_TUPLE || target->kind == AST_LIST) && (value->kind == AST_TUPLE || value->kind == AST_LIST) && value->list.count == target->list.count;
}

static void exec_assign(Golden *g, const Node *n, const Node *value, States *states) {
    if (value->kind == AST_CONDITIONAL) { /* x = a if c else b: two paths */
        States other = states_copy(g, states);
        exec_assign(g, n, value->conditional.body, states);
        exec_assign(g, n, value->conditional.orelse, &other);
        states_merge(g, states, &other);
        states_free(&other);
        return;
    }
    for (int i = 0; i < states->count; i++) {
        State *s = &states->items[i];
        bool unpacked = n->assign.targets.count == 1 && splits(n->assign.targets.items[0], value);
        int p = unpacked ? NOTHING : eval(g, s, value);
        for (int k = 0; k < n->assign.targets.count; k++) assign_to(g, s, n->assign.targets.items[k], unpacked ? value : NULL, p);
    }
}

static void exec_loop(Golden *g, const Node *n, States *states) {
    bool is_for = n->kind == AST_FOR;
    const NodeList *body = is_for ? &n->loop.body : &n->branch.body, *orelse = is_for ? &n->loop.orelse : &n->branch.orelse;
    const Node *test = is_for ? n->loop.iterable : n->branch.test;
    bool endless = !is_for && test->kind == AST_CONSTANT && test->constant.kind == CONST_TRUE;
    States *outer_breaks = g->breaks, *outer_continues = g->continues, breaks = {0}, ended = {0}, round;
    for (int i = 0; i < states->count; i++) eval(g, &states->items[i], test);
    if (!endless) states_merge(g, &ended, states);
    round = states_copy(g, states);
    for (int pass = 0; pass < 2 && round.count > 0; pass++) {
        States continues = {0};
        g->breaks = &breaks;
        g->continues = &continues;
        for (int i = 0; is_for && i < round.count; i++) assign_to(g, &round.items[i], n->loop.target, NULL, NOTHING);
        exec_block(g, body, &round);
        states_merge(g, &round, &continues);
        states_free(&continues);
        if (!endless) states_merge(g, &ended, &round);
    }
    g->breaks = outer_breaks;
    g->continues = outer_continues;
    exec_block(g, orelse, &ended);
    states_merge(g, &ended, &breaks);
    states_free(&round);
    states_free(&breaks);
    states_free(states);
    *states = ended;
}

static void exec_if(Golden *g, const Node *n, States *states) {
    for (int i = 0; i < states->count; i++) eval(g, &states->items[i], n->branch.test);
    States other = states_copy(g, states);
    exec_block(g, &n->branch.body, states);
    exec_block(g, &n->branch.orelse, &other);
    states_merge(g, states, &other);
    states_free(&other);
}

static void exec_try(Golden *g, const Node *n, States *states) {
    States raised = {0}, *outer = g->raised;
    bool has_finally = n->attempt.finally.count > 0 && g->finally_count < (int)TSR_COUNTOF(g->finally);
    if (has_finally) g->finally[g->finally_count++] = &n->attempt.finally;
    if (n->attempt.handlers.count > 0) g->raised = &raised;
    exec_block(g, &n->attempt.body, states);
    g->raised = outer;
    exec_block(g, &n->attempt.orelse, states);
    for (int i = 0; i < n->attempt.handlers.count; i++) {
        States caught = states_copy(g, &raised);
        exec_block(g, &n->attempt.handlers.items[i]->handler.body, &caught);
        states_merge(g, states, &caught);
        states_free(&caught);
    }
    states_free(&raised);
    if (!has_finally) return;
    g->finally_count--;
    exec_block(g, &n->attempt.finally, states);
}

static void exec_delete(State *s, const Node *n) {
    for (int i = 0; i < n->list.count; i++)
        if (n->list.items[i]->kind == AST_NAME) bind_name(s, n->list.items[i]->name.id, NOTHING);
}

static void exec_expression(Golden *g, const Node *n, States *states) {
    for (int i = 0; i < states->count; i++) {
        int p = eval(g, &states->items[i], n->value);
        if (p != NOTHING) lose(g, &states->items[i], p, n->at.line, "is not kept");
    }
    if (is_error_call(n->value)) exec_raise(g, states, n->at.line, "TH.error");
}

static void exec_statement(Golden *g, const Node *n, States *states) {
    switch (n->kind) {
    case AST_EXPR: exec_expression(g, n, states); break;
    case AST_ASSIGN: exec_assign(g, n, n->assign.value, states); break;
    case AST_ANN_ASSIGN:
        for (int i = 0; n->annotated.value != NULL && i < states->count; i++) assign_to(g, &states->items[i], n->annotated.target, NULL, eval(g, &states->items[i], n->annotated.value));
        break;
    case AST_AUG_ASSIGN:
        for (int i = 0; i < states->count; i++) eval(g, &states->items[i], n->augmented.value);
        break;
    case AST_IF: exec_if(g, n, states); break;
    case AST_FOR:
    case AST_WHILE: exec_loop(g, n, states); break;
    case AST_TRY: exec_try(g, n, states); break;
    case AST_WITH:
        for (int k = 0; k < n->with.count; k++)
            for (int i = 0; i < states->count; i++) eval(g, &states->items[i], n->with.items[k].context);
        exec_block(g, &n->with.body, states);
        break;
    case AST_RETURN: exec_return(g, n, states); break;
    case AST_RAISE: exec_raise(g, states, n->at.line, "raise"); break;
    case AST_DELETE:
        for (int i = 0; i < states->count; i++) exec_delete(&states->items[i], n);
        break;
    case AST_BREAK:
        if (g->breaks != NULL) states_merge(g, g->breaks, states);
        states->count = 0;
        break;
    case AST_CONTINUE:
        if (g->continues != NULL) states_merge(g, g->continues, states);
        states->count = 0;
        break;
    case AST_ASSERT:
        for (int i = 0; i < states->count; i++) eval(g, &states->items[i], n->assertion.test);
        break;
    default: break;
    }
}

static void exec_block(Golden *g, const NodeList *body, States *states) {
    for (int i = 0; i < body->count && states->count > 0 && g->status == TSR_OK; i++) exec_statement(g, body->items[i], states);
}

/* ---- the function ---- */

static const Node *find_def(const NodeList *body, const char *name, int line);

static const Node *find_in(const Node *n, const char *name, int line) {
    if (n->kind == AST_DEF) {
        if (n->at.line == line && strcmp(n->function.name, name) == 0) return n;
        return find_def(&n->function.body, name, line);
    }
    const NodeList *blocks[4] = {NULL};
    if (n->kind == AST_IF || n->kind == AST_WHILE) blocks[0] = &n->branch.body, blocks[1] = &n->branch.orelse;
    if (n->kind == AST_FOR) blocks[0] = &n->loop.body, blocks[1] = &n->loop.orelse;
    if (n->kind == AST_WITH) blocks[0] = &n->with.body;
    if (n->kind == AST_TRY) blocks[0] = &n->attempt.body, blocks[1] = &n->attempt.orelse, blocks[2] = &n->attempt.finally;
    for (int i = 0; i < 4; i++) {
        const Node *found = blocks[i] != NULL ? find_def(blocks[i], name, line) : NULL;
        if (found != NULL) return found;
    }
    return NULL;
}

static const Node *find_def(const NodeList *body, const char *name, int line) {
    for (int i = 0; i < body->count; i++) {
        const Node *found = find_in(body->items[i], name, line);
        if (found != NULL) return found;
    }
    return NULL;
}

static int last_line(const Node *def) { return def->at.end_line > 0 ? def->at.end_line : def->at.line; }

static void check_function(Golden *g, const Node *def) {
    State start = {.pointer_count = 0};
    States states = {0};
    for (int i = 0; i < def->function.param_count; i++) bind_name(&start, def->function.params[i].name, new_pointer(&start, NULL, def->at.line, 0));
    states_add(g, &states, &start);
    exec_block(g, &def->function.body, &states);
    for (int i = 0; i < states.count; i++) check_exit(g, &states.items[i], last_line(def), "end of the function", false);
    states_free(&states);
    if (g->too_many) breach(g, "%s has more paths than can be followed: some were not checked", g->function);
}

/* Parses the source again: from each statement that begins a top-level line, so that text after an error elsewhere does not matter. */
static TsrStatus check_source(Golden *g, Source *source, int line) {
    size_t offset = 0;
    for (;;) {
        Ast *ast = NULL;
        SourceRange where;
        size_t before = offset;
        TsrStatus status = parser_new_statement(&ast, source, &offset, &where);
        if (status != TSR_OK) tsr_error_clear();
        if ((status == TSR_OK && ast == NULL) || (status != TSR_OK && offset == before)) break;
        const Node *def = ast != NULL ? find_def(&ast->body, g->function, line) : NULL;
        if (def != NULL) check_function(g, def);
        ast_free(ast);
        if (def != NULL) return g->status;
    }
    return tsr_error(TSR_VALUE_ERROR, "golden(): the source of %s can't be found", g->function);
}

static TsrStatus golden_check(Value *out, const CallArgs *args) {
    Value v = args->values[0], list;
    if (!value_is_function(v)) return tsr_error(TSR_TYPE_ERROR, "golden(): argument 'f' must be a function, not %s", value_type_name(v));
    const Code *code = ((Function *)v.o)->code;
    if (strcmp(code->name, "<lambda>") == 0) return tsr_error(TSR_TYPE_ERROR, "golden(): a lambda has no statements to check; use def");
    TSR_TRY(list_new(&list, 0));
    Golden g = {.function = code->name, .breaches = value_as_list(list)};
    TsrStatus status = check_source(&g, code->source, code->def_at.line);
    if (status == TSR_OK) *out = list;
    else value_release(list);
    return status;
}

static const Method functions[] = {{"golden", golden_check, ARGS_ONE, 1, 1, "(f)", "Breaches of the golden rule of reference counting along every path of a function."}, {0}};

TsrStatus golden_startup(void) { return namespace_add_functions("tsr", functions, true); }
