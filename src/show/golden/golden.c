/* An abstract interpreter over the syntax tree. A path's State (state.h) says which names are which pointers and how
 * many references each is owed; tests split paths, loops over something unknown run none, once and twice, functions
 * defined inside are followed into, and each exit is checked. What cannot be known is left alone: a breach is reported
 * only where the source shows it. */
#include "golden.h"

#include <string.h>

#include "lang/object/args.h"
#include "core/mem.h"
#include "lang/object/exc.h"
#include "golden_impl.h"
#include "lang/modules/namespace.h"
#include "lang/syntax/parser.h"
#include "lang/types/str.h"
#include "lang/vm/vm.h"

enum { MAX_PASSES = 16, MAX_STEPS = 100000, MAX_BEFORE = 12 };

/* ---- exits ---- */

static bool is_owed(const Pointer *p) { return p->owed > 0 && p->name != NULL && !p->perhaps; }

/* Whether a pointer before number i leaks that the same call made, in a loop or comprehension: one breach. */
static bool is_spoken_of(const State *s, int i) {
    const Pointer *p = &s->pointers[i];
    for (int k = 0; k < i; k++)
        if (is_owed(&s->pointers[k]) && s->pointers[k].line == p->line && s->pointers[k].column == p->column &&
            s->pointers[k].maker == p->maker)
            return true;
    return false;
}

/* Whether the test that this exit stands under could as well be made before the pointer was: it speaks of parameters
 * and of what is no variable. */
static bool could_exit_before(Golden *g, const State *s, const Pointer *p) {
    if (g->test == NULL || g->inline_depth > 0 || g->exits.breaks != NULL || g->test->at.line <= p->line) return false;
    const char *text = golden_text_at(g, golden_text_of(g, g->test));
    for (int i = 0; i < s->names.count; i++) {
        Thing is = s->names.items[i].thing; /* what was passed, not what it was set to since */
        bool parameter = false, passed = is.kind == T_POINTER && s->pointers[is.id].lent;
        for (int k = 0; k < g->def->function.param_count && passed && !parameter; k++)
            parameter = strcmp(g->def->function.params[k].name, s->names.items[i].name) == 0;
        if (!parameter && golden_mentions(text, s->names.items[i].name)) return false;
    }
    return true;
}

static void check_exit(Golden *g, const State *s, int line, const char *what, bool style) {
    for (int i = 0; i < MAX_POINTERS; i++) {
        const Pointer *p = &s->pointers[i];
        if (!is_owed(p) || is_spoken_of(s, i)) continue;
        if (style)
            golden_breach(
                g,
                "line %d (%s): %s (%s, line %d) is not freed before it: THError need not free, but it is good style "
                "to raise before allocating",
                line, what, p->name, p->maker, p->line);
        else if (p->yielded_line == 0)
            golden_breach(g, "line %d (%s): %s (%s, line %d) leaks: you must either FREE or RETURN it%s", line, what,
                          p->name, p->maker, p->line,
                          could_exit_before(g, s, p) ? "; an exit before it is made has nothing to clean up" : "");
        else if (!golden_is_new(g->function))
            golden_breach(g, "line %d: %s yields the owned pointer %s (%s, line %d): its name must begin with new",
                          p->yielded_line, g->function, p->name, p->maker, p->line);
    }
}

/* What the finally blocks around do on the way out, down to `depth` of them. */
static void run_finally(Golden *g, States *states, int depth) {
    int count = g->finally_count;
    while (g->finally_count > depth) {
        const NodeList *block = g->finally[--g->finally_count];
        golden_run(g, block, states);
    }
    g->finally_count = count;
}

static void return_pointer(Golden *g, State *s, int pointer, int line) {
    Pointer *p = &s->pointers[pointer];
    const char *name = golden_pointer_name(p);
    if (p->owed == 0) {
        if (p->moved_line > 0 && !p->lent)
            golden_breach(g, "line %d: %s is returned, but it was moved at line %d", line, name, p->moved_line);
        else if (p->freed_line > 0 && !p->lent)
            golden_breach(g, "line %d: %s is returned, but it was freed at line %d", line, name, p->freed_line);
        else if (golden_is_new(g->function))
            golden_breach(
                g,
                "line %d: %s returns %s without a reference of its own: what a function named new gives is freed by "
                "its caller",
                line, g->function, name);
        return;
    }
    p->owed--;
    if (golden_is_new(g->function) || p->perhaps) return;
    if (p->name == NULL)
        golden_breach(g, "line %d: %s returns the pointer that %s gave, which is owned: its name must begin with new",
                      line, g->function, p->maker);
    else
        golden_breach(g, "line %d: %s returns the owned pointer %s (%s, line %d): its name must begin with new", line,
                      g->function, p->name, p->maker, p->line);
}

/* A pointer, those in a container, or those that a function speaks of. */
static void return_thing(Golden *g, State *s, Thing t, int line) {
    if (t.kind == T_POINTER) return_pointer(g, s, t.id, line);
    for (int i = 0; t.kind == T_BOX && i < s->boxes[t.id].count; i++)
        return_thing(g, s, s->boxes[t.id].items[i].value, line);
    if (t.kind != T_FUNCTION) return;
    const char *text = golden_text_at(g, golden_text_of(g, g->functions[t.id]));
    for (int i = 0; i < s->names.count; i++) {
        Thing named = s->names.items[i].thing;
        bool owned = named.kind == T_POINTER && s->pointers[named.id].owed > 0;
        if (owned && golden_mentions(text, s->names.items[i].name)) return_pointer(g, s, named.id, line);
    }
}

static void exec_return(Golden *g, const Node *n, States *states) {
    if (n->value == NULL) golden_push(states, thing(T_NONE, 0));
    else golden_eval(g, states, n->value);
    run_finally(g, states, g->exits.returns != NULL ? g->exits.inline_finally : 0);
    for (int i = 0; i < states->count; i++) {
        State *s = &states->items[i];
        s->exit_line = n->at.line;
        if (g->exits.returns != NULL) {
            golden_add(g, g->exits.returns, s);
            continue;
        }
        Thing returned = state_pop(s);
        golden_check_borrow_return(g, s, returned, n->at.line);
        if (n->value != NULL && n->value->kind != AST_NAME) golden_check_kept(g, s, returned, n->at.line, "the return");
        return_thing(g, s, returned, n->at.line);
        check_exit(g, s, n->at.line, "return", false);
    }
    states->count = 0;
}

/* The exception under way on each path leaves the try, or the function. */
static void propagate(Golden *g, States *states) {
    bool caught = g->exits.raised != NULL;
    run_finally(g, states, caught ? g->exits.raised_finally : 0);
    for (int i = 0; i < states->count; i++) {
        const State *s = &states->items[i];
        if (caught) golden_add(g, g->exits.raised, s);
        else check_exit(g, s, s->exit_line, s->th_error ? "TH.error" : "raise", true);
    }
    states->count = 0;
}

static void raise_all(Golden *g, States *states, const char *type, int line, bool th_error) {
    for (int i = 0; i < states->count; i++) {
        State *s = &states->items[i];
        s->raising = type;
        s->exit_line = line;
        s->th_error = th_error;
        while (s->depth > 0 && g->inline_depth == 0) state_pop(s);
    }
    propagate(g, states);
}

static const char *type_name(const Node *n) {
    if (n != NULL && n->kind == AST_CALL) n = n->call.func;
    return n != NULL && n->kind == AST_NAME ? n->name.id : NULL;
}

static void exec_raise(Golden *g, const Node *n, States *states) {
    if (n->raise.exception != NULL) golden_eval(g, states, n->raise.exception);
    if (n->raise.exception != NULL) golden_drop(g, states, 1, n->at.line);
    raise_all(g, states, type_name(n->raise.exception), n->at.line, false);
}

/* ---- try ---- */

static const Type *exception_type(const char *name) {
    for (int i = 0; name != NULL && i < TSR_STATUS_COUNT; i++)
        if (exc_types[i].name != NULL && strcmp(exc_types[i].name, name) == 0) return &exc_types[i];
    return NULL;
}

/* Whether a handler for `wanted` catches an exception of the type `raised`: 1, 0 or -1, not known. */
static int catches(const Node *wanted, const char *raised) {
    if (wanted == NULL) return 1;
    if (wanted->kind == AST_TUPLE) {
        int best = 0;
        for (int i = 0; i < wanted->list.count && best != 1; i++) {
            int one = catches(wanted->list.items[i], raised);
            if (one != 0) best = one;
        }
        return best;
    }
    const Type *want = exception_type(type_name(wanted)), *have = exception_type(raised);
    if (want != NULL && (strcmp(want->name, "Exception") == 0 || strcmp(want->name, "BaseException") == 0)) return 1;
    if (want == NULL || have == NULL) return -1;
    while (have != NULL && have != want) have = have->base;
    return have == want;
}

static void run_handler(Golden *g, const Node *handler, States *caught) {
    for (int i = 0; i < caught->count; i++) {
        State *s = &caught->items[i];
        s->raising = NULL;
        s->exit_line = 0;
        s->th_error = false;
        if (handler->handler.name != NULL) golden_bind(g, s, handler->handler.name, (Thing){0});
    }
    golden_run(g, &handler->handler.body, caught);
}

static void run_handlers(Golden *g, const NodeList *handlers, States *raised, States *after) {
    for (int h = 0; h < handlers->count; h++) {
        const Node *handler = handlers->items[h];
        States caught = {0}, rest = {0};
        for (int i = 0; i < raised->count; i++) {
            int does = catches(handler->handler.type, raised->items[i].raising);
            if (does != 0) golden_add(g, &caught, &raised->items[i]);
            if (does != 1) golden_add(g, &rest, &raised->items[i]);
        }
        run_handler(g, handler, &caught);
        golden_merge_move(g, after, &caught);
        golden_replace_move(raised, &rest);
    }
    propagate(g, raised);
    states_free(raised);
}

/* The breaches in both lists stay in `breaches`. */
static void keep_common(List *breaches, const List *others) {
    for (int64_t i = breaches->count - 1; i >= 0; i--) {
        bool both = false;
        for (int64_t k = 0; k < others->count && !both; k++)
            both = str_equal_c(value_as_str(others->items[k]), value_as_str(breaches->items[i])->data);
        if (both) continue;
        value_release(breaches->items[i]);
        memmove(breaches->items + i, breaches->items + i + 1, sizeof(Value) * (size_t)(--breaches->count - i));
    }
}

/* Breaches of a handler entered with these states: what goes on after it is not followed. */
static TsrStatus try_handler(Golden *g, Value *list, const Node *handler, const States *from) {
    Exits outer = g->exits;
    List *breaches = g->breaches;
    States states = golden_copy(g, from), gone = {0};
    TSR_TRY(list_new(list, 0));
    g->breaches = value_as_list(*list);
    if (g->exits.breaks != NULL) g->exits.breaks = g->exits.continues = &gone;
    if (g->exits.raised != NULL) g->exits.raised = &gone;
    if (g->exits.returns != NULL) g->exits.returns = &gone;
    run_handler(g, handler, &states);
    states_free(&states);
    states_free(&gone);
    g->exits = outer;
    g->breaches = breaches;
    return g->status;
}

/* Whether the body raises by itself: its handlers are for that. */
static bool raises(Golden *g, const NodeList *body) {
    for (int i = 0; i < body->count; i++) {
        const char *text = golden_text_at(g, golden_text_of(g, body->items[i]));
        if (golden_mentions(text, "raise") || golden_mentions(text, "error")) return true;
    }
    return false;
}

/* A handler of a body that raises nothing itself: calls are taken to succeed, but it is there for one that does not.
 * What it does wrong whichever statement of the body fails is a breach. `before[i]`: the paths before statement i. */
static void check_unreached(Golden *g, const Node *handler, const States *before, int count) {
    Value common = VALUE_UNBOUND, list;
    for (int i = 0; i < count && g->status == TSR_OK; i++) {
        if (before[i].count == 0) continue;
        g->status = try_handler(g, &list, handler, &before[i]);
        if (g->status != TSR_OK) break;
        if (common.tag == V_UNBOUND) {
            common = list;
            continue;
        }
        keep_common(value_as_list(common), value_as_list(list));
        value_release(list);
    }
    for (int64_t i = 0; common.tag != V_UNBOUND && i < value_as_list(common)->count; i++)
        golden_breach(g, "%s", value_as_str(value_as_list(common)->items[i])->data);
    value_release(common);
}

static void exec_statement(Golden *g, const Node *n, States *states);

static void exec_try_body(Golden *g, const Node *n, States *states) {
    const NodeList *body = &n->attempt.body, *handlers = &n->attempt.handlers;
    States raised = {0}, after = {0}, before[MAX_BEFORE] = {{0}};
    Exits outer = g->exits;
    int count = TSR_MIN(body->count, MAX_BEFORE);
    g->exits.raised = &raised;
    g->exits.raised_finally = g->finally_count;
    for (int i = 0; i < body->count && states->count > 0 && g->status == TSR_OK; i++) {
        if (i < count) before[i] = golden_copy(g, states);
        exec_statement(g, body->items[i], states);
    }
    g->exits = outer;
    golden_run(g, &n->attempt.orelse, states);
    bool for_calls = raised.count == 0 && !raises(g, body);
    for (int h = 0; for_calls && h < handlers->count; h++) check_unreached(g, handlers->items[h], before, count);
    run_handlers(g, handlers, &raised, &after);
    golden_merge_move(g, states, &after);
    for (int i = 0; i < count; i++) states_free(&before[i]);
}

static void exec_try(Golden *g, const Node *n, States *states) {
    bool has_finally = n->attempt.finally.count > 0 && g->finally_count < MAX_FINALLY;
    if (has_finally) g->finally[g->finally_count++] = &n->attempt.finally;
    if (n->attempt.handlers.count > 0) exec_try_body(g, n, states);
    else golden_run(g, &n->attempt.body, states);
    if (!has_finally) return;
    g->finally_count--;
    golden_run(g, &n->attempt.finally, states);
}

/* ---- loops ---- */

/* The body of a loop once; what `continue` left goes on with the rest. */
static void run_body(Golden *g, const NodeList *body, States *round, States *breaks) {
    States continues = {0};
    Exits outer = g->exits;
    g->exits.breaks = breaks;
    g->exits.continues = &continues;
    g->exits.loop_finally = g->finally_count;
    golden_run(g, body, round);
    g->exits = outer;
    golden_merge_move(g, round, &continues);
}

static void for_round(Golden *g, States *out, State *s, const Thing *items, int count, void *context) {
    const Node *n = context;
    States round = {0}, breaks = {0};
    golden_add(g, &round, s);
    for (int i = 0; i < count && round.count > 0; i++) {
        golden_push(&round, items[i]);
        golden_assign(g, &round, n->loop.target);
        run_body(g, &n->loop.body, &round, &breaks);
    }
    golden_run(g, &n->loop.orelse, &round);
    golden_merge_move(g, out, &round);
    golden_merge_move(g, out, &breaks);
}

static void exec_for(Golden *g, const Node *n, States *states) {
    golden_eval(g, states, n->loop.iterable);
    golden_each(g, states, n->loop.iterable, for_round, (void *)n);
}

static void exec_while(Golden *g, const Node *n, States *states) {
    States ended = {0}, breaks = {0}, round = golden_copy(g, states);
    int unknown = 0;
    for (int pass = 0; pass < MAX_PASSES && unknown <= UNKNOWN_PASSES && round.count > 0; pass++) {
        States yes = {0}, no = {0};
        golden_split(g, &round, n->branch.test, &yes, &no);
        unknown += (yes.count > 0 && no.count > 0) || n->branch.test->kind == AST_CONSTANT;
        golden_merge_move(g, &ended, &no);
        run_body(g, &n->branch.body, &yes, &breaks);
        golden_replace_move(&round, &yes);
    }
    states_free(&round);
    golden_run(g, &n->branch.orelse, &ended);
    golden_merge_move(g, &ended, &breaks);
    golden_replace_move(states, &ended);
}

static void leave_loop(Golden *g, States *states, States *to) {
    run_finally(g, states, g->exits.loop_finally);
    if (to != NULL) golden_merge(g, to, states);
    states->count = 0;
}

/* ---- statements ---- */

static void exec_if(Golden *g, const Node *n, States *states) {
    States yes = {0}, no = {0};
    const Node *outer = g->test;
    golden_split(g, states, n->branch.test, &yes, &no);
    g->test = n->branch.test;
    golden_run(g, &n->branch.body, &yes);
    golden_run(g, &n->branch.orelse, &no);
    g->test = outer;
    golden_merge_move(g, &yes, &no);
    golden_replace_move(states, &yes);
}

static void exec_assign(Golden *g, const NodeList *targets, const Node *value, States *states) {
    golden_eval(g, states, value);
    for (int k = 0; k < targets->count; k++) {
        for (int i = 0; k + 1 < targets->count && i < states->count; i++) {
            State *s = &states->items[i];
            state_push(s, s->depth > 0 ? s->stack[s->depth - 1] : (Thing){0});
        }
        golden_assign(g, states, targets->items[k]);
    }
}

static void exec_augmented(Golden *g, const Node *n, States *states) {
    Node sum = {.kind = AST_BINARY,
                .at = n->at,
                .binary = {.op = n->augmented.op, .left = n->augmented.target, .right = n->augmented.value}};
    golden_eval(g, states, &sum);
    golden_assign(g, states, n->augmented.target);
}

static void check_lent(Golden *g, State *s, const Node *call) {
    Thing unused;
    if (s->depth > 0) golden_borrow_call(g, s, call, (Thing){0}, s->stack[s->depth - 1], &unused);
}

static void exec_with(Golden *g, const Node *n, States *states) {
    for (int k = 0; k < n->with.count; k++) {
        const Node *context = n->with.items[k].context;
        bool lends =
            context->kind == AST_CALL && context->call.func->kind == AST_NAME && context->call.args.count == 1 &&
            (strcmp(context->call.func->name.id, "borrowed") == 0 || strcmp(context->call.func->name.id, "owned") == 0);
        golden_eval(g, states, lends ? context->call.args.items[0] : context); /* with borrowed(h) as b: b is h */
        for (int i = 0; lends && i < states->count; i++) check_lent(g, &states->items[i], context);
        if (n->with.items[k].target != NULL) golden_assign(g, states, n->with.items[k].target);
        else golden_drop(g, states, 1, n->at.line);
    }
    golden_run(g, &n->with.body, states);
}

/* A call that does not come back: the type it raises. */
static const char *raised_by(const States *states, const Node *n) {
    if (n->kind != AST_CALL) return NULL;
    const Node *f = n->call.func;
    if (f->kind == AST_NAME)
        return strcmp(f->name.id, "exit") == 0 || strcmp(f->name.id, "quit") == 0 ? "SystemExit" : NULL;
    if (f->kind != AST_ATTRIBUTE) return NULL;
    if (strcmp(f->attribute.name, "error") == 0 && golden_is_namespace(&states->items[0], f->attribute.value))
        return "THError";
    return strcmp(f->attribute.name, "exit") == 0 && f->attribute.value->kind == AST_NAME &&
                   strcmp(f->attribute.value->name.id, "sys") == 0
               ? "SystemExit"
               : NULL;
}

static void exec_expression(Golden *g, const Node *n, States *states) {
    const char *raised = raised_by(states, n->value);
    golden_eval(g, states, n->value);
    golden_drop(g, states, 1, n->at.line);
    if (raised != NULL) raise_all(g, states, raised, n->at.line, strcmp(raised, "THError") == 0);
}

static void exec_assert(Golden *g, const Node *n, States *states) {
    States yes = {0}, no = {0};
    golden_split(g, states, n->assertion.test, &yes, &no);
    if (yes.count == 0)
        raise_all(g, &no, "AssertionError", n->at.line, false); /* assert False; any other is taken to hold */
    states_free(&no);
    golden_replace_move(states, &yes);
}

static void exec_delete(Golden *g, const Node *target, States *states) {
    for (int i = 0; i < states->count && target->kind == AST_NAME; i++)
        golden_bind(g, &states->items[i], target->name.id, (Thing){0});
    if (target->kind != AST_SUBSCRIPT) return;
    golden_eval(g, states, target->subscript.value);
    golden_eval(g, states, target->subscript.index);
    for (int i = 0; i < states->count; i++) {
        Thing key = state_pop(&states->items[i]), at = state_pop(&states->items[i]);
        if (at.kind == T_BOX) (void)golden_take_item(&states->items[i], &states->items[i].boxes[at.id], key, true);
    }
}

static void exec_def(Golden *g, const Node *n, States *states) {
    golden_eval_function(g, states, n);
    for (int i = 0; i < states->count; i++)
        golden_bind(g, &states->items[i], n->function.name, state_pop(&states->items[i]));
}

static void exec_statement(Golden *g, const Node *n, States *states) {
    g->steps += states->count;
    if (g->steps > MAX_STEPS) {
        g->too_many = true;
        states->count = 0;
        return;
    }
    if (g->status == TSR_OK) g->status = tsr_interrupt_check();
    switch (n->kind) {
    case AST_EXPR: exec_expression(g, n, states); break;
    case AST_ASSIGN: exec_assign(g, &n->assign.targets, n->assign.value, states); break;
    case AST_ANN_ASSIGN:
        if (n->annotated.value != NULL)
            exec_assign(g, &(NodeList){(Node **)&n->annotated.target, 1}, n->annotated.value, states);
        break;
    case AST_AUG_ASSIGN: exec_augmented(g, n, states); break;
    case AST_IF: exec_if(g, n, states); break;
    case AST_FOR: exec_for(g, n, states); break;
    case AST_WHILE: exec_while(g, n, states); break;
    case AST_TRY: exec_try(g, n, states); break;
    case AST_WITH: exec_with(g, n, states); break;
    case AST_DEF: exec_def(g, n, states); break;
    case AST_RETURN: exec_return(g, n, states); break;
    case AST_RAISE: exec_raise(g, n, states); break;
    case AST_DELETE:
        for (int i = 0; i < n->list.count; i++) exec_delete(g, n->list.items[i], states);
        break;
    case AST_BREAK: leave_loop(g, states, g->exits.breaks); break;
    case AST_CONTINUE: leave_loop(g, states, g->exits.continues); break;
    case AST_ASSERT: exec_assert(g, n, states); break;
    default: break;
    }
}

void golden_run(Golden *g, const NodeList *body, States *states) {
    for (int i = 0; i < body->count && states->count > 0 && g->status == TSR_OK; i++)
        exec_statement(g, body->items[i], states);
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
    if (n->kind == AST_TRY)
        blocks[0] = &n->attempt.body, blocks[1] = &n->attempt.orelse, blocks[2] = &n->attempt.finally;
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
    State *start = tsr_calloc(1, sizeof *start);
    States states = {0};
    if (start == NULL) {
        g->status = mem_error();
        return;
    }
    for (int i = 0; i < def->function.param_count; i++)
        golden_bind(g, start, def->function.params[i].name, state_new_pointer(start, NULL, def->at.line, 0));
    golden_add(g, &states, start);
    golden_borrow_begin(g, def);
    g->def = def;
    g->test = NULL;
    tsr_free(start);
    golden_run(g, &def->function.body, &states);
    for (int i = 0; i < states.count; i++)
        check_exit(g, &states.items[i], last_line(def), "end of the function", false);
    states_free(&states);
}

/* f, and what is defined in it and never called in it. */
static void check_functions(Golden *g, const Node *def) {
    check_function(g, def);
    for (int i = 0; i < g->function_count && g->status == TSR_OK; i++) {
        const Node *inner = g->functions[i];
        if (g->followed[i] || inner->kind != AST_DEF) continue;
        g->function = inner->function.name;
        check_function(g, inner);
    }
    g->function = def->function.name;
    if (g->too_many && g->counts)
        golden_breach(g, "%s has more paths than can be followed: some were not checked", g->function);
}

/* Parses the source again: from each statement that begins a top-level line, so that text after an error elsewhere does
 * not matter. */
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
        if (def != NULL) check_functions(g, def);
        ast_free(ast);
        if (def != NULL) return g->status;
    }
    return tsr_error(TSR_VALUE_ERROR, "golden(): the source of %s can't be found", g->function);
}

static TsrStatus golden_check(Value *out, const CallArgs *args) {
    Value v = args->values[0], list;
    if (!value_is_function(v))
        return tsr_error(TSR_TYPE_ERROR, "golden(): argument 'f' must be a function, not %s", value_type_name(v));
    const Code *code = ((Function *)v.o)->code;
    if (strcmp(code->name, "<lambda>") == 0)
        return tsr_error(TSR_TYPE_ERROR, "golden(): a lambda has no statements to check; use def");
    TSR_TRY(list_new(&list, 0));
    Golden g = {.function = code->name, .source = code->source, .breaches = value_as_list(list)};
    TsrStatus status = check_source(&g, code->source, code->def_at.line);
    for (int i = 0; i < g.text_count; i++) tsr_free(g.texts[i]);
    tsr_free(g.texts);
    return value_end_move(out, status, list);
}

static const Method functions[] = {
    {"golden", golden_check, ARGS_ONE, 1, 1, "(f)",
     "Breaches of the golden rule of reference counting along every path of a function.\n\n"
     "    >>> def f(x):\n    ...     y = TH.newClone(x)\n    ...     return TH.nElement(y)\n    ...\n    >>> "
     "golden(f)\n    ['line 3 (return): y (newClone, line 2) leaks: you must either FREE or RETURN it']"},
    {0}};

TsrStatus golden_startup(void) { return namespace_add_functions("tsr", functions, true); }
