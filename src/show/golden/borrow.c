/* golden() on borrows: MaybeOwned.borrowed counts nothing, so what it borrows must outlive it. A tensor that the
 * function makes is told apart from others by the text of its making (T_LOCAL); a borrow of it (T_BORROW) dangles once
 * no name and no container of the path reaches it, and when it leaves the function alone. What a function outside may
 * have kept is not followed. */
#include "golden_impl.h"

#include <string.h>

/* Functions and methods that give a new tensor; of the second list one that may be their argument itself. */
static const char *const makers[] = {
    "clone",   "ones",    "zeros",     "empty",   "full",  "rand",      "randn",      "randint", "arange",
    "tensor",  "eye",     "linspace",  "cat",     "stack", "ones_like", "zeros_like", "mm",      "empty_like",
    "matmul",  "t",       "transpose", "permute", "view",  "narrow",    "select",     "detach",  "unsqueeze",
    "squeeze", "sum",     "mean",      "exp",     "relu",  "expand",    "unfold",     "abs",     "softmax",
    "sqrt",    "flatten", "reshape",   "add",     "sub",   "mul",       "div",        "neg",     NULL};
static const char *const perhaps_makers[] = {"contiguous", "to", "float", "double", "half", "long", "int", "cpu", NULL};

/* The last part of what is called, `clone` of `x.clone()`; NULL when it is not written as a name. */
static const char *callee_name(const Node *n) {
    if (n->kind != AST_CALL) return NULL;
    const Node *f = n->call.func;
    return f->kind == AST_NAME ? f->name.id : f->kind == AST_ATTRIBUTE ? f->attribute.name : NULL;
}

void golden_borrow_begin(Golden *g, const Node *def) {
    const char *text = golden_text_at(g, golden_text_of(g, def));
    bool others = golden_mentions(text, "global") || golden_mentions(text, "nonlocal");
    g->borrows = !others && (golden_mentions(text, "borrowed") || golden_mentions(text, "expect_contiguous"));
}

static bool makes_tensor(const State *s, const Node *n) {
    const char *name = callee_name(n);
    if (n->kind == AST_BINARY) return true;
    if (name == NULL || (n->call.func->kind == AST_NAME && state_lookup(s, name).kind != T_UNKNOWN)) return false;
    if (n->call.func->kind == AST_ATTRIBUTE && golden_is_namespace(s, n->call.func->attribute.value)) return false;
    return golden_is_one_of(name, makers) ||
           (golden_is_one_of(name, perhaps_makers) && n->call.func->kind == AST_ATTRIBUTE);
}

Thing golden_fresh(Golden *g, const State *s, const Node *n) {
    if (!g->borrows || !makes_tensor(s, n)) return (Thing){0};
    const char *name = callee_name(n);
    int text = golden_text(g, "%s, line %d", name != NULL ? name : golden_text_at(g, golden_text_of(g, n)), n->at.line);
    return text >= 0 ? thing(T_LOCAL, text) : (Thing){0};
}

/* ---- who holds it ---- */

/* Whether the thing, or a container's things, are `wanted`. */
static bool contains(const State *s, Thing t, Thing wanted, int depth) {
    if (thing_equal(t, wanted)) return true;
    for (int i = 0; t.kind == T_BOX && depth < 4 && i < s->boxes[t.id].count; i++)
        if (contains(s, s->boxes[t.id].items[i].value, wanted, depth + 1)) return true;
    return false;
}

static bool is_held_by_box(const State *s, Thing local) {
    for (int i = 0; i < s->names.count; i++)
        if (s->names.items[i].thing.kind == T_BOX && contains(s, s->names.items[i].thing, local, 0)) return true;
    for (int i = 0; i < s->depth; i++)
        if (s->stack[i].kind == T_BOX && contains(s, s->stack[i], local, 0)) return true;
    return false;
}

/* The name of the variable; NULL: none. `outside`: one that goes on after the function, self.x. */
static const char *holder(const State *s, Thing local, bool outside) {
    for (int i = 0; i < s->names.count; i++) {
        const char *name = s->names.items[i].name;
        if (thing_equal(s->names.items[i].thing, local) && (strpbrk(name, ".[#") != NULL) == outside) return name;
    }
    return NULL;
}

static bool is_alive(const State *s, Thing local) {
    for (int i = 0; i < s->depth; i++)
        if (thing_equal(s->stack[i], local)) return true;
    return holder(s, local, false) != NULL || holder(s, local, true) != NULL || is_held_by_box(s, local);
}

static void forget(Thing *t, int text) {
    if ((t->kind == T_LOCAL || t->kind == T_BORROW) && t->id == text) *t = (Thing){0};
}

static void escape(State *s, Thing t, int depth) {
    for (int i = 0; t.kind == T_BOX && depth < 4 && i < s->boxes[t.id].count; i++)
        escape(s, s->boxes[t.id].items[i].value, depth + 1);
    if (t.kind != T_LOCAL) return;
    for (int i = 0; i < s->names.count; i++) forget(&s->names.items[i].thing, t.id);
    for (int i = 0; i < s->depth; i++) forget(&s->stack[i], t.id);
    for (int i = 0; i < MAX_BOXES; i++)
        for (int k = 0; k < s->boxes[i].count; k++) forget(&s->boxes[i].items[k].value, t.id);
}

void golden_escape(State *s, Thing t) { escape(s, t, 0); }

/* ---- borrowing ---- */

static bool is_maybe_owned(const Node *f) {
    return f->kind == AST_ATTRIBUTE && f->attribute.value->kind == AST_NAME &&
           strcmp(f->attribute.value->name.id, "MaybeOwned") == 0;
}

/* borrowed(x.clone()): when the statement ends nothing owns it. */
static Thing borrow(Golden *g, const State *s, const Node *from, Thing t, int line, bool whole) {
    if (t.kind != T_LOCAL) return (Thing){0};
    bool named = holder(s, t, false) != NULL || holder(s, t, true) != NULL || is_held_by_box(s, t);
    if (named || !makes_tensor(s, from)) return thing(T_BORROW, t.id);
    const char *name = callee_name(from);
    bool perhaps = name != NULL && golden_is_one_of(name, perhaps_makers);
    if (whole)
        golden_breach(
            g, "line %d: borrows what %s gives, %s that nothing owns: the borrow dangles at once; owned() is safe",
            line, golden_text_at(g, golden_text_of(g, from)), perhaps ? "which may be a new tensor" : "a new tensor");
    return (Thing){0};
}

bool golden_borrow_call(Golden *g, State *s, const Node *call, Thing receiver, Thing first, Thing *result) {
    const Node *f = call->call.func;
    const char *name = callee_name(call);
    if (!g->borrows || name == NULL) return false;
    bool free_name = f->kind == AST_NAME && state_lookup(s, name).kind == T_UNKNOWN;
    *result = (Thing){0};
    if (strcmp(name, "expect_contiguous") == 0 && f->kind == AST_ATTRIBUTE) {
        *result = borrow(g, s, f->attribute.value, receiver, call->at.line, false);
        return true;
    }
    if ((!free_name && !is_maybe_owned(f)) || call->call.args.count != 1) return false;
    if (strcmp(name, "owned") == 0 && first.kind == T_LOCAL) return *result = first, true; /* one holder more */
    if (strcmp(name, "borrowed") == 0 && first.kind != T_POINTER) {
        *result = borrow(g, s, call->call.args.items[0], first, call->at.line, true);
        return true;
    }
    return false;
}

void golden_check_borrow_use(Golden *g, const State *s, const char *name, Thing t, int line) {
    if (t.kind != T_BORROW || s->nested > 0 || is_alive(s, thing(T_LOCAL, t.id))) return;
    golden_breach(
        g, "line %d: %s is used, but the tensor that it borrows (%s) is gone: a borrow must not outlive its tensor",
        line, name, golden_text_at(g, t.id));
}

/* self.x, or a container that is bound to one. */
static bool is_kept_outside(const State *s, Thing local) {
    for (int i = 0; i < s->names.count; i++)
        if (strpbrk(s->names.items[i].name, ".[#") != NULL && contains(s, s->names.items[i].thing, local, 0))
            return true;
    return false;
}

/* A function defined inside may keep a variable alive. */
static bool is_captured(Golden *g, const char *name) {
    for (int i = 0; i < g->function_count; i++)
        if (golden_mentions(golden_text_at(g, golden_text_of(g, g->functions[i])), name)) return true;
    return false;
}

static void check_returned(Golden *g, const State *s, Thing all, Thing t, int line) {
    for (int i = 0; t.kind == T_BOX && i < s->boxes[t.id].count; i++)
        if (s->boxes[t.id].items[i].value.kind == T_BORROW)
            check_returned(g, s, all, s->boxes[t.id].items[i].value, line);
    Thing local = thing(T_LOCAL, t.id);
    if (t.kind != T_BORROW || contains(s, all, local, 0) || is_kept_outside(s, local)) return;
    const char *name = holder(s, local, false);
    if (!is_alive(s, local) || (name != NULL && is_captured(g, name))) return; /* gone: said where it was used */
    golden_breach(g, "line %d: %s returns a borrow of %s (%s), which goes with the function: owned() is always safe",
                  line, g->function, name != NULL ? name : "a tensor", golden_text_at(g, t.id));
}

void golden_check_borrow_return(Golden *g, const State *s, Thing returned, int line) {
    check_returned(g, s, returned, returned, line);
}
