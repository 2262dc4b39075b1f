/* Calls: of TH, of builtins and methods of containers, and of inner functions, which are followed. */
#include "golden_impl.h"

#include <string.h>

enum { MAX_ARGS = 16, MAX_INLINE = 4 };

/* ---- calls ---- */

/* TH's functions that do something to a count: known by their bare names too, after `from TH import free`. */
static bool counts(const char *name) {
    static const char *const names[] = {"retain",     "Storage_retain", "free",   "decref", "Storage_free",
                                        "freeCopyTo", "move",           "incref", NULL};
    return golden_is_one_of(name, names);
}

/* The arguments of a call as they lie on the stack. */
typedef struct Args {
    const Node *call;
    Thing items[MAX_ARGS];
    int count; /* positional ones, with *lists spread out; then keywords */
    int positional;
    int line;
} Args;

static void add_argument(State *s, Args *a, Thing t) {
    if (a->count == MAX_ARGS) s->overflow = true;
    else a->items[a->count++] = t;
}

static void read_arguments(State *s, Args *a) {
    int given = a->call->call.args.count, all = given + a->call->call.keyword_count;
    for (int i = 0; i < all; i++) {
        int at = s->depth - all + i;
        Thing t = at >= 0 ? s->stack[at] : (Thing){0};
        bool star = i < given && a->call->call.args.items[i]->kind == AST_STARRED && t.kind == T_BOX;
        if (i == given) a->positional = a->count;
        if (!star) add_argument(s, a, t);
        for (int k = 0; star && k < s->boxes[t.id].count; k++) add_argument(s, a, s->boxes[t.id].items[k].value);
    }
    if (a->call->call.keyword_count == 0) a->positional = a->count;
}

static void lose_arguments(Golden *g, const State *s, const Args *a) {
    for (int i = 0; i < a->count; i++) golden_lose(g, s, a->items[i], a->line, "is passed on and lost");
}

/* `free`, `retain` and the like of something that is written as a name, `self.x` or `d["k"]`: from now on that is a
 * pointer. */
static Thing first_pointer(Golden *g, State *s, const Args *a) {
    Thing t = a->count > 0 ? a->items[0] : (Thing){0};
    const Node *n = a->call->call.args.count > 0 ? a->call->call.args.items[0] : NULL;
    bool item = t.kind == T_TEXT && n != NULL && n->kind == AST_NAME; /* of something unknown that is gone over */
    if ((t.kind != T_UNKNOWN && !item) || n == NULL ||
        (n->kind != AST_NAME && n->kind != AST_ATTRIBUTE && n->kind != AST_SUBSCRIPT))
        return t;
    int text = golden_text_of(g, n);
    if (text < 0) return t;
    const char *name = golden_text_at(g, text);
    Thing known = item ? state_lookup(s, golden_text_at(g, t.id)) : (Thing){0};
    if (known.kind == T_POINTER) return known;
    known = state_new_pointer(s, NULL, a->line, 0);
    if (known.kind != T_POINTER) return known;
    s->pointers[known.id].name = name;
    state_bind(s, item ? golden_text_at(g, t.id) : name, known, golden_item_name, g);
    return known;
}

static Thing new_owned(Golden *g, State *s, const char *maker, const Args *a) {
    g->counts = true;
    Thing t = state_new_pointer(s, maker, a->line, 1);
    if (t.kind == T_POINTER) s->pointers[t.id].column = a->call->at.col;
    return t;
}

/* TH.move(t); THS.move(sparse, indices, values) moves the last two. */
static void move_arguments(Golden *g, State *s, const Args *a) {
    if (a->count > 1) golden_check_use(g, s, a->items[0], a->line);
    for (int i = a->count > 1; i < a->count; i++) golden_move(g, s, a->items[i], a->line);
}

static Thing call_th(Golden *g, State *s, const char *name, const Args *a) {
    static const char *const retains[] = {"retain", "Storage_retain", "incref", NULL}, *const frees[] = {
                                                                                           "free", "decref",
                                                                                           "Storage_free", "freeCopyTo",
                                                                                           NULL};
    Thing first = a->count > 0 ? a->items[0] : (Thing){0};
    if (golden_is_one_of(name, frees)) return golden_free(g, s, first, a->line), (Thing){0};
    if (strcmp(name, "move") == 0) return move_arguments(g, s, a), (Thing){0};
    if (strcmp(name, "reclaim") == 0) return move_arguments(g, s, a), thing(T_OWNER, 0);
    for (int i = 0; i < a->count; i++) golden_check_use(g, s, a->items[i], a->line);
    if (golden_is_one_of(name, retains)) return golden_retain(g, s, first_pointer(g, s, a), a->line);
    lose_arguments(g, s, a);
    return golden_is_new(name) ? new_owned(g, s, name, a) : (Thing){0};
}

static Thing new_range(State *s, const Args *a) {
    int from = a->count > 1 ? a->items[0].id : 0, to = a->items[a->count > 1].id;
    for (int i = 0; i < a->count; i++)
        if (a->items[i].kind != T_INT) return (Thing){0};
    if (a->count > 2 || to - (int64_t)from > MAX_ITEMS) return (Thing){0};
    Thing list = state_new_box(s, false);
    for (int i = from; i < to; i++) box_append(s, list, (Thing){0}, thing(T_INT, i));
    return list;
}

/* zip, and enumerate with the numbers as its first box. */
static Thing new_zip(State *s, const Box *const *columns, int count, bool numbered) {
    Thing list = state_new_box(s, false);
    state_push(s, list); /* the rows are reached through it */
    int rows = MAX_ITEMS;
    for (int i = 0; i < count; i++) rows = TSR_MIN(rows, columns[i]->count);
    for (int r = 0; r < rows; r++) {
        Thing row = state_new_box(s, false);
        box_append(s, list, (Thing){0}, row);
        if (numbered) box_append(s, row, (Thing){0}, thing(T_INT, r));
        for (int i = 0; i < count; i++) box_append(s, row, (Thing){0}, columns[i]->items[r].value);
    }
    return state_pop(s);
}

static Thing call_builtin(State *s, const char *name, const Args *a, bool *done) {
    static const char *const copies[] = {"list", "tuple", "set", "iter", "sorted", NULL};
    const Box *boxes[MAX_ARGS];
    int n = 0;
    *done = true;
    for (int i = 0; i < a->positional; i++)
        if (a->items[i].kind == T_BOX) boxes[n++] = &s->boxes[a->items[i].id];
    bool all = n == a->count && n > 0;
    if (strcmp(name, "range") == 0 && a->count > 0) return new_range(s, a);
    if ((strcmp(name, "list") == 0 || strcmp(name, "dict") == 0) && a->count == 0)
        return state_new_box(s, name[0] == 'd');
    if (golden_is_one_of(name, copies) && all && n == 1 && !boxes[0]->is_dict) return golden_new_list(s, boxes[0]);
    if (strcmp(name, "len") == 0 && all && n == 1) return thing(T_INT, boxes[0]->count);
    if (strcmp(name, "zip") == 0 && all) return new_zip(s, boxes, n, false);
    if (strcmp(name, "enumerate") == 0 && all && n == 1) return new_zip(s, boxes, 1, true);
    if (strcmp(name, "reversed") == 0 && all && n == 1) {
        Thing list = state_new_box(s, false);
        for (int i = boxes[0]->count - 1; i >= 0; i--) box_append(s, list, (Thing){0}, boxes[0]->items[i].value);
        return list;
    }
    *done = false;
    return (Thing){0};
}

static Thing view_box(State *s, const Box *box, const char *name) {
    const Box copy = *box;
    Thing list = state_new_box(s, false);
    state_push(s, list);
    for (int i = 0; i < copy.count; i++) {
        Thing row = strcmp(name, "items") == 0  ? state_new_box(s, false)
                    : strcmp(name, "keys") == 0 ? copy.items[i].key
                                                : copy.items[i].value;
        box_append(s, list, (Thing){0}, row);
        if (row.kind != T_BOX || strcmp(name, "items") != 0) continue;
        box_append(s, row, (Thing){0}, copy.items[i].key);
        box_append(s, row, (Thing){0}, copy.items[i].value);
    }
    return state_pop(s);
}

static Thing box_method(Golden *g, State *s, Thing self, const char *name, const Args *a) {
    Box *box = &s->boxes[self.id];
    Thing first = a->count > 0 ? a->items[0] : (Thing){0}, none = thing(T_NONE, 0);
    if (strcmp(name, "append") == 0 || strcmp(name, "add") == 0 || (strcmp(name, "insert") == 0 && a->count == 2)) {
        golden_check_kept(g, s, a->items[a->count - 1], a->line, box->name != NULL ? box->name : "a list");
        box_append(s, self, (Thing){0}, a->items[a->count - 1]);
        return golden_name_items(g, s, box), none;
    }
    if ((strcmp(name, "extend") == 0 || strcmp(name, "update") == 0) && first.kind == T_BOX) {
        golden_extend(s, self, &s->boxes[first.id]);
        return golden_name_items(g, s, box), none;
    }
    if (strcmp(name, "pop") == 0) return golden_take_item(s, box, first, a->count > 0);
    if (strcmp(name, "get") == 0 && first.kind != T_UNKNOWN) {
        Thing *found = box_find(box, first);
        return found != NULL ? *found : a->count > 1 ? a->items[1] : none;
    }
    if (strcmp(name, "values") == 0 || strcmp(name, "items") == 0 || strcmp(name, "keys") == 0)
        return view_box(s, box, name);
    if (strcmp(name, "copy") == 0) {
        Thing copy = state_new_box(s, box->is_dict);
        return golden_extend(s, copy, box), copy;
    }
    if (strcmp(name, "clear") == 0) {
        while (box->count > 0) box_remove(box, box->count - 1);
        return none;
    }
    return (Thing){0};
}

static Thing call_method(Golden *g, State *s, Thing self, const char *name, const Args *a) {
    int before = s->boxes[self.id].count;
    Thing result = box_method(g, s, self, name, a);
    if (s->boxes[self.id].count != before) golden_resized(s, self);
    return result;
}

/* c10.intrusive_ptr(x), which owns, and what its release() gives up: a raw reference. */
static bool call_owner(Golden *g, State *s, Thing receiver, const Args *a, Thing *result) {
    const Node *f = a->call->call.func;
    if (golden_is_intrusive_ptr(s, f)) {
        for (int i = 0; i < a->count; i++) golden_check_use(g, s, a->items[i], a->line);
        return *result = thing(T_OWNER, 0), true;
    }
    if (receiver.kind != T_OWNER || strcmp(f->attribute.name, "release") != 0) return false;
    return *result = new_owned(g, s, "release", a), true;
}

static void inline_call(Golden *g, States *out, State *s, int function, const Args *a);

/* A call by a name that the function did not define: another function's result is owned when its name says so. */
static Thing call_other(Golden *g, State *s, const char *name, const Args *a) {
    static const char *const harmless[] = {"print", "repr",   "str",      "type",    "id",      "isinstance",
                                           "len",   "golden", "refcount", "holders", "inspect", NULL};
    bool done;
    if (counts(name)) return call_th(g, s, name, a);
    Thing result = call_builtin(s, name, a, &done);
    if (done) return result;
    for (int i = 0; i < a->count && !golden_is_one_of(name, harmless); i++)
        golden_check_use(g, s, a->items[i], a->line);
    lose_arguments(g, s, a);
    return golden_is_new(name) ? new_owned(g, s, name, a) : (Thing){0};
}

static void finish_call(Golden *g, States *out, State *s, const Args *a, Thing result) {
    for (int i = a->call->call.args.count + a->call->call.keyword_count; i >= 0; i--) state_pop(s); /* the callee too */
    state_push(s, result);
    golden_add(g, out, s);
}

static void call_one(Golden *g, States *out, State *s, const Node *call) {
    const Node *f = call->call.func;
    Args a = {.call = call, .line = call->at.line};
    read_arguments(s, &a);
    int at = s->depth - call->call.args.count - call->call.keyword_count - 1;
    Thing callee = at >= 0 ? s->stack[at] : (Thing){0}, result = {0};
    if (callee.kind == T_FUNCTION && f->kind != AST_ATTRIBUTE) {
        inline_call(g, out, s, callee.id, &a);
        return;
    }
    bool method = f->kind == AST_ATTRIBUTE && callee.kind != T_TH;
    if (method) golden_check_member(g, s, callee, f);
    Thing receiver = method ? callee : (Thing){0}, first = a.count > 0 ? a.items[0] : (Thing){0};
    if (golden_borrow_call(g, s, call, receiver, first, &result) ||
        golden_array_ref_call(g, s, call, receiver, first, &result) || call_owner(g, s, receiver, &a, &result)) {
        finish_call(g, out, s, &a, result);
        return;
    }
    if (callee.kind == T_TH) result = call_th(g, s, golden_text_at(g, callee.id), &a);
    else if (f->kind == AST_NAME) result = call_other(g, s, f->name.id, &a);
    else if (f->kind == AST_ATTRIBUTE && callee.kind == T_BOX)
        result = call_method(g, s, callee, f->attribute.name, &a);
    else lose_arguments(g, s, &a);
    if (result.kind == T_UNKNOWN) result = golden_fresh(g, s, call);
    if (callee.kind != T_TH && callee.kind != T_BOX && result.kind != T_LOCAL)
        for (int i = 0; i < a.count; i++) golden_escape(s, a.items[i]);
    finish_call(g, out, s, &a, result);
}

/* Evaluates what is called: for a method of something known, that. */
static void eval_callee(Golden *g, States *set, const Node *f) {
    bool method =
        f->kind == AST_ATTRIBUTE && set->count > 0 && !golden_is_namespace(&set->items[0], f->attribute.value);
    golden_eval(g, set, method ? f->attribute.value : f);
}

void golden_eval_call(Golden *g, States *set, const Node *call) {
    States out = {0};
    eval_callee(g, set, call->call.func);
    for (int i = 0; i < call->call.args.count; i++) golden_eval(g, set, call->call.args.items[i]);
    for (int i = 0; i < call->call.keyword_count; i++) golden_eval(g, set, call->call.keywords[i].value);
    for (int i = 0; i < set->count; i++) call_one(g, &out, &set->items[i], call);
    golden_replace_move(set, &out);
}

/* ---- functions that are defined inside: followed where they are called ---- */

static void bind_parameters(Golden *g, State *s, const Node *def, const Args *a) {
    int next = 0;
    for (int i = 0; i < def->function.param_count; i++) {
        const Param *p = &def->function.params[i];
        Thing t = {0};
        if (p->kind == PARAM_STAR) {
            t = state_new_box(s, false);
            while (next < a->positional) box_append(s, t, (Thing){0}, a->items[next++]);
        } else if (p->kind != PARAM_DOUBLE_STAR && p->kind != PARAM_KEYWORD_ONLY && next < a->positional) {
            t = a->items[next++];
        }
        for (int k = 0; k < a->call->call.keyword_count; k++)
            if (a->call->call.keywords[k].name != NULL && strcmp(a->call->call.keywords[k].name, p->name) == 0)
                t = a->items[a->positional + k];
        golden_bind(g, s, p->name, t);
    }
}

/* What the function owns and neither gives back nor keeps where others reach it is lost with its names. */
static void check_inner_exit(Golden *g, State *s, const bool *before, const Node *def, Thing result) {
    for (int i = 0; i < MAX_POINTERS; i++) {
        Pointer *p = &s->pointers[i];
        if (before[i] || !p->used || p->owed <= 0 || p->perhaps) continue;
        bool returned = state_reaches(s, result, i), kept = false;
        for (int k = 0; k < s->names.count && !kept; k++) kept = state_reaches(s, s->names.items[k].thing, i);
        if (kept || (returned && (def->kind == AST_LAMBDA || golden_is_new(def->function.name)))) continue;
        if (returned)
            golden_breach(g, "line %d: %s returns the owned pointer %s (%s, line %d): its name must begin with new",
                          s->exit_line, def->function.name, golden_pointer_name(p), p->maker, p->line);
        else
            golden_breach(g, "line %d (return): %s (%s, line %d) leaks: you must either FREE or RETURN it",
                          s->exit_line, golden_pointer_name(p), p->maker, p->line);
        p->owed = 0;
    }
}

/* The caller's names again, with what a nonlocal statement let the function change. */
static void restore_names(State *s, const Names *outer, const Node *def) {
    Names inner = s->names;
    memcpy(&s->names, outer, sizeof *outer);
    for (int i = 0; def->kind == AST_DEF && i < def->function.body.count; i++) {
        const Node *n = def->function.body.items[i];
        for (int k = 0; n->kind == AST_NONLOCAL && k < n->names.count; k++)
            for (int j = 0; j < inner.count; j++)
                if (strcmp(inner.items[j].name, n->names.items[k].name) == 0)
                    state_bind(s, inner.items[j].name, inner.items[j].thing, NULL, NULL);
    }
}

static void run_inner(Golden *g, States *returns, State *s, const Node *def, const Args *a) {
    States body = {0};
    bind_parameters(g, s, def, a);
    golden_add(g, &body, s);
    Exits outer = g->exits;
    g->exits.breaks = g->exits.continues = NULL;
    g->exits.returns = returns;
    g->exits.inline_finally = g->finally_count;
    if (def->kind == AST_LAMBDA) golden_eval(g, &body, def->function.value);
    else golden_run(g, &def->function.body, &body);
    if (def->kind == AST_DEF) golden_push(&body, thing(T_NONE, 0));
    for (int i = 0; i < body.count; i++) body.items[i].exit_line = def->at.end_line;
    golden_merge_move(g, returns, &body);
    g->exits = outer;
}

static void inline_call(Golden *g, States *out, State *s, int function, const Args *a) {
    const Node *def = g->functions[function];
    Names outer = s->names;
    bool before[MAX_POINTERS];
    States returns = {0};
    if (g->inline_depth == MAX_INLINE || def->function.is_generator) {
        finish_call(g, out, s, a, (Thing){0});
        return;
    }
    for (int i = 0; i < MAX_POINTERS; i++) before[i] = s->pointers[i].used;
    for (int i = 0; i < a->count; i++) golden_check_use(g, s, a->items[i], a->line);
    g->followed[function] = true;
    g->inline_depth++;
    s->nested++;
    run_inner(g, &returns, s, def, a);
    g->inline_depth--;
    for (int i = 0; i < returns.count; i++) {
        State *t = &returns.items[i];
        Thing result = state_pop(t);
        restore_names(t, &outer, def);
        check_inner_exit(g, t, before, def, result);
        t->exit_line = 0;
        t->nested--;
        finish_call(g, out, t, a, result);
    }
    states_free(&returns);
}
