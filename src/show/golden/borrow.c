/* golden() on borrows: MaybeOwned.borrowed counts nothing, so what it borrows must outlive it. A tensor that the
 * function makes is told apart from others by the text of its making (T_LOCAL); a borrow of it (T_BORROW) dangles once
 * no name and no container of the path reaches it, and when it leaves the function alone. What a function outside may
 * have kept is not followed. */
#include "golden_impl.h"

#include <string.h>

/* Functions and methods that give a new tensor; of the second list one that may be their argument itself. */
static const char *const makers[] = {
    "clone",  "ones",       "zeros",     "empty",    "full",      "rand",    "randn",     "randint",
    "arange", "tensor",     "eye",       "linspace", "cat",       "stack",   "ones_like", "zeros_like",
    "mm",     "empty_like", "matmul",    "t",        "transpose", "permute", "view",      "narrow",
    "select", "detach",     "unsqueeze", "squeeze",  "sum",       "mean",    "exp",       "relu",
    "expand", "unfold",     "abs",       "softmax",  "sqrt",      "flatten", "reshape",   "add",
    "sub",    "mul",        "div",       "neg",      "Clone",     "Alias",   NULL};
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
    static const char *const words[] = {"borrowed", "expect_contiguous", "ArrayRef", "IntArrayRef", "sizes",
                                        "dims",     "strides",           NULL};
    for (int i = 0; words[i] != NULL && !others && !g->borrows; i++) g->borrows = golden_mentions(text, words[i]);
}

/* caffe2.Tensor(caffe2.CPU); of a tensor it is another wrapper of that. */
static bool is_empty_wrapper(const Node *n, const char *name) {
    const Node *device = n->call.args.count == 1 ? n->call.args.items[0] : NULL;
    return strcmp(name, "Tensor") == 0 && device != NULL && device->kind == AST_ATTRIBUTE &&
           (strcmp(device->attribute.name, "CPU") == 0 || strcmp(device->attribute.name, "CUDA") == 0);
}

static bool makes_tensor(const State *s, const Node *n) {
    const char *name = callee_name(n);
    if (n->kind == AST_BINARY) return true;
    if (name == NULL || (n->call.func->kind == AST_NAME && state_lookup(s, name).kind != T_UNKNOWN)) return false;
    if (n->call.func->kind == AST_ATTRIBUTE && golden_is_namespace(s, n->call.func->attribute.value)) return false;
    return golden_is_one_of(name, makers) || is_empty_wrapper(n, name) ||
           (golden_is_one_of(name, perhaps_makers) && n->call.func->kind == AST_ATTRIBUTE);
}

Thing golden_fresh(Golden *g, const State *s, const Node *n) {
    if (!g->borrows || !makes_tensor(s, n)) return (Thing){0};
    const char *name = callee_name(n);
    int text = golden_text(g, "%s, line %d", name != NULL ? name : golden_text_at(g, golden_text_of(g, n)), n->at.line);
    return text >= 0 ? thing(T_LOCAL, text) : (Thing){0};
}

/* ---- who holds it ---- */

static bool owns_nothing(Thing t) { return t.kind == T_BORROW || t.kind == T_ARRAYREF; }

/* Whether it is what borrows and ArrayRefs with this text are of. */
static bool is_target(const State *s, Thing t, int text) {
    return (t.kind == T_LOCAL && t.id == text) || (t.kind == T_BOX && s->boxes[t.id].pointed == text + 1);
}

/* Whether it is that, or a container of it. */
static bool reaches(const State *s, Thing t, int text, int depth) {
    if (is_target(s, t, text)) return true;
    for (int i = 0; t.kind == T_BOX && depth < 4 && i < s->boxes[t.id].count; i++)
        if (reaches(s, s->boxes[t.id].items[i].value, text, depth + 1)) return true;
    return false;
}

static bool is_outside(const char *name) { return strpbrk(name, ".[#") != NULL; }

/* A variable's name reaches it, or (self.x) something that goes on after the function. */
static bool is_named(const State *s, int text, bool outside_only) {
    for (int i = 0; i < s->names.count; i++)
        if (reaches(s, s->names.items[i].thing, text, 0) && (!outside_only || is_outside(s->names.items[i].name)))
            return true;
    return false;
}

static bool is_under_way(const State *s, int text) {
    for (int i = 0; i < s->depth; i++)
        if (reaches(s, s->stack[i], text, 0)) return true;
    return false;
}

bool golden_is_alive(const State *s, int text) { return is_named(s, text, false) || is_under_way(s, text); }

/* The variable that it is bound to; NULL: none. */
static const char *holder(const State *s, int text) {
    for (int i = 0; i < s->names.count; i++)
        if (is_target(s, s->names.items[i].thing, text) && !is_outside(s->names.items[i].name))
            return s->names.items[i].name;
    return NULL;
}

static void forget(Thing *t, int text) {
    if ((t->kind == T_LOCAL || owns_nothing(*t)) && t->id == text) *t = (Thing){0};
}

static void forget_all(State *s, int text) {
    for (int i = 0; i < s->names.count; i++) forget(&s->names.items[i].thing, text);
    for (int i = 0; i < s->depth; i++) forget(&s->stack[i], text);
    for (int i = 0; i < MAX_BOXES; i++)
        for (int k = 0; k < s->boxes[i].count; k++) forget(&s->boxes[i].items[k].value, text);
}

static void escape(State *s, Thing t, int depth) {
    for (int i = 0; t.kind == T_BOX && depth < 4 && i < s->boxes[t.id].count; i++)
        escape(s, s->boxes[t.id].items[i].value, depth + 1);
    if (t.kind == T_LOCAL) forget_all(s, t.id);
    if (t.kind == T_BOX && s->boxes[t.id].pointed > 0) forget_all(s, s->boxes[t.id].pointed - 1);
    if (t.kind == T_BOX) s->boxes[t.id].pointed = -1;
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
    bool in_box = false;
    for (int i = 0; i < s->depth && !in_box; i++)
        in_box = s->stack[i].kind == T_BOX && reaches(s, s->stack[i], t.id, 0);
    if (in_box || is_named(s, t.id, false) || !makes_tensor(s, from)) return thing(T_BORROW, t.id);
    const char *name = callee_name(from);
    bool perhaps = name != NULL && golden_is_one_of(name, perhaps_makers);
    if (whole)
        golden_breach(
            g, "line %d: borrows what %s gives, %s that nothing owns: the borrow dangles at once; owned() is safe",
            line, golden_text_at(g, golden_text_of(g, from)), perhaps ? "which may be a new tensor" : "a new tensor");
    return (Thing){0};
}

/* What gives the same tensor in another wrapper. */
static Thing rewrapped(const char *name, Thing receiver, Thing first) {
    bool method = strcmp(name, "UnsafeSharedInstance") == 0 || strcmp(name, "to_torch") == 0;
    Thing same = method ? receiver : strcmp(name, "Tensor") == 0 ? first : (Thing){0};
    return same.kind == T_LOCAL ? same : (Thing){0};
}

bool golden_borrow_call(Golden *g, State *s, const Node *call, Thing receiver, Thing first, Thing *result) {
    const Node *f = call->call.func;
    const char *name = callee_name(call);
    if (!g->borrows || name == NULL) return false;
    bool free_name = f->kind == AST_NAME && state_lookup(s, name).kind == T_UNKNOWN;
    *result = rewrapped(name, receiver, first);
    if (result->kind == T_LOCAL) return true;
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
    bool borrow = t.kind == T_BORROW;
    if (!owns_nothing(t) || s->nested > 0 || golden_is_alive(s, t.id)) return;
    const char *of = golden_text_at(g, t.id);
    if (borrow)
        golden_breach(
            g, "line %d: %s is used, but the tensor that it borrows (%s) is gone: a borrow must not outlive its tensor",
            line, name, of);
    else
        golden_breach(
            g,
            "line %d: %s is used, but it dangles: what it points at (%s) went, or has another length: an ArrayRef owns "
            "nothing",
            line, name, of);
}

/* A function defined inside may keep a variable alive. */
static bool is_captured(Golden *g, const char *name) {
    for (int i = 0; i < g->function_count; i++)
        if (golden_mentions(golden_text_at(g, golden_text_of(g, g->functions[i])), name)) return true;
    return false;
}

static void check_returned(Golden *g, const State *s, Thing all, Thing t, int line) {
    for (int i = 0; t.kind == T_BOX && i < s->boxes[t.id].count; i++)
        if (owns_nothing(s->boxes[t.id].items[i].value)) check_returned(g, s, all, s->boxes[t.id].items[i].value, line);
    bool borrow = t.kind == T_BORROW;
    if (!owns_nothing(t) || reaches(s, all, t.id, 0) || is_named(s, t.id, true)) return;
    const char *name = holder(s, t.id), *of = golden_text_at(g, t.id);
    if (!golden_is_alive(s, t.id) || (name != NULL && is_captured(g, name))) return; /* gone: said where it was used */
    const char *safe = borrow ? "owned() is always safe" : "vec() copies it";
    golden_breach(g, "line %d: %s returns %s of %s (%s), which goes with the function: %s", line, g->function,
                  borrow ? "a borrow" : "an ArrayRef",
                  name != NULL ? name
                  : borrow     ? "a tensor"
                               : "what was made here",
                  of, safe);
}

void golden_check_borrow_return(Golden *g, const State *s, Thing returned, int line) {
    check_returned(g, s, returned, returned, line);
}
