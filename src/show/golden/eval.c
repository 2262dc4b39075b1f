/* golden() on expressions: what each kind of expression does to the references of the state, without computing values.
 * Comparisons and conditions split a state in two where the outcome is not known, and remember the outcome so that the
 * same test is not split twice. */
#include "golden_impl.h"

#include <stdlib.h>
#include <string.h>

/* ---- tests: which way a path goes ---- */

/* Whether the same test later on the path comes out the same: names and questions that change nothing. */
static bool is_stable(const Node *n) {
    static const char *const questions[] = {"len",      "isinstance", "type", "hasattr", "callable",  "bool",
                                            "abs",      "min",        "max",  "range",   "enumerate", "zip",
                                            "reversed", "sorted",     "list", NULL},
                             *const asked[] = {"nDimension", "size", "stride", "nElement", "dim",   "numel", "nelement",
                                               "ndimension", "get",  "keys",   "values",   "items", "nnz",   NULL};
    if (n == NULL) return true;
    switch (n->kind) {
    case AST_NAME:
    case AST_CONSTANT: return true;
    case AST_ATTRIBUTE: return is_stable(n->attribute.value);
    case AST_SUBSCRIPT: return is_stable(n->subscript.value) && is_stable(n->subscript.index);
    case AST_UNARY: return is_stable(n->unary.operand);
    case AST_BINARY: return is_stable(n->binary.left) && is_stable(n->binary.right);
    case AST_COMPARE:
        return n->compare.comparators.count == 1 && is_stable(n->compare.left) &&
               is_stable(n->compare.comparators.items[0]);
    case AST_CALL: break;
    default: return false;
    }
    const Node *f = n->call.func;
    bool question = f->kind == AST_NAME
                        ? golden_is_one_of(f->name.id, questions)
                        : f->kind == AST_ATTRIBUTE && is_stable(f->attribute.value) &&
                              (strncmp(f->attribute.name, "is", 2) == 0 || golden_is_one_of(f->attribute.name, asked));
    for (int i = 0; question && i < n->call.args.count; i++) question = is_stable(n->call.args.items[i]);
    return question && n->call.keyword_count == 0;
}

static bool is_opposite(int op) {
    return op == CMP_NE || op == CMP_GE || op == CMP_LE || op == CMP_IS_NOT || op == CMP_NOT_IN;
}

/* The text that a comparison is remembered by: one for `x is None` and `x is not None`. */
static int comparison_text(Golden *g, const Node *n) {
    static const char *const positive[] = {"==", "==", "<", ">", ">", "<", "is", "is", "in", "in"};
    const char *left = golden_text_at(g, golden_text_of(g, n->compare.left)),
               *right = golden_text_at(g, golden_text_of(g, n->compare.comparators.items[0]));
    return golden_text(g, "%s %s %s", left, positive[n->compare.ops[0]], right);
}

/* Whether `a op b`: 1, 0 or -1, not known. */
static int compared(const State *s, int op, Thing a, Thing b) {
    bool equality = op == CMP_EQ || op == CMP_IS || op == CMP_NE || op == CMP_IS_NOT;
    if (a.kind == T_INT && b.kind == T_INT)
        return compare_order(op == CMP_IS       ? CMP_EQ
                             : op == CMP_IS_NOT ? CMP_NE
                                                : (CompareOp)op,
                             (a.id > b.id) - (a.id < b.id));
    if (!equality || a.kind == T_UNKNOWN || b.kind == T_UNKNOWN) return -1;
    if (thing_equal(a, b) && a.kind < T_LOCAL) return !is_opposite(op); /* two tensors are compared by element */
    if (a.kind == T_NONE) a = b, b = thing(T_NONE, 0);
    bool something = a.kind == T_INT || a.kind == T_BOX || a.kind >= T_FUNCTION ||
                     (a.kind == T_POINTER && s->pointers[a.id].maker != NULL && !s->pointers[a.id].perhaps);
    return b.kind == T_NONE && something ? is_opposite(op) : -1;
}

static int truth(const State *s, Thing t) {
    switch (t.kind) {
    case T_NONE: return 0;
    case T_INT: return t.id != 0;
    case T_BOX: return s->boxes[t.id].count > 0;
    case T_FUNCTION:
    case T_TH: return 1;
    case T_POINTER: return s->pointers[t.id].maker != NULL && !s->pointers[t.id].perhaps ? 1 : -1;
    default: return -1;
    }
}

/* What is known of a condition: its outcome (-1: nothing), and by which text earlier ones are remembered (-1: none),
 * maybe that of the opposite. */
typedef struct Condition {
    int outcome, text;
    bool flipped;
} Condition;

/* One path goes the way that is known, by itself or by the text; both ways when nothing is. */
static void decide(Golden *g, State *s, Condition c, States *yes, States *no) {
    int outcome = c.outcome, before = outcome < 0 ? golden_known(s, c.text) : -1;
    if (before >= 0) outcome = before ^ c.flipped;
    if (outcome >= 0) {
        golden_add(g, outcome ? yes : no, s);
        return;
    }
    State other = *s;
    golden_know(s, c.text, !c.flipped);
    golden_know(&other, c.text, c.flipped);
    golden_add(g, yes, s);
    golden_add(g, no, &other);
}

static void split_comparison(Golden *g, States *set, const Node *n, States *yes, States *no) {
    int op = n->compare.ops[0], text = is_stable(n) ? comparison_text(g, n) : -1;
    golden_eval(g, set, n->compare.left);
    golden_eval(g, set, n->compare.comparators.items[0]);
    for (int i = 0; i < set->count; i++) {
        State *s = &set->items[i];
        Thing b = state_pop(s), a = state_pop(s);
        decide(g, s, (Condition){compared(s, op, a, b), text, is_opposite(op)}, yes, no);
    }
}

/* Sends the paths of `set` where the test leads them; the set is then empty. */
void golden_split(Golden *g, States *set, const Node *n, States *yes, States *no) {
    if (n->kind == AST_UNARY && n->unary.op == OP_NOT) {
        golden_split(g, set, n->unary.operand, no, yes);
    } else if (n->kind == AST_BOOL) {
        for (int i = 0; i < n->boolean.values.count; i++) {
            States rest = {0};
            golden_split(g, set, n->boolean.values.items[i], n->boolean.is_or ? yes : &rest,
                         n->boolean.is_or ? &rest : no);
            golden_replace_move(set, &rest);
        }
        golden_merge(g, n->boolean.is_or ? no : yes, set);
    } else if (n->kind == AST_COMPARE && n->compare.comparators.count == 1) {
        split_comparison(g, set, n, yes, no);
    } else {
        int text = is_stable(n) ? golden_text_of(g, n) : -1;
        golden_eval(g, set, n);
        for (int i = 0; i < set->count; i++) {
            State *s = &set->items[i];
            Thing t = state_pop(s);
            bool constant =
                n->kind == AST_CONSTANT && (n->constant.kind == CONST_TRUE || n->constant.kind == CONST_FALSE);
            golden_lose(g, s, t, n->at.line, "is not kept");
            decide(g, s, (Condition){constant ? n->constant.kind == CONST_TRUE : truth(s, t), text, false}, yes, no);
        }
    }
    states_free(set);
}

/* ---- expressions: each pushes one thing on every path ---- */

static Thing constant(Golden *g, const Node *n) {
    if (n->constant.kind == CONST_NONE) return thing(T_NONE, 0);
    if (n->constant.kind == CONST_INT && n->constant.base == 10 && strlen(n->constant.text) < 6)
        return thing(T_INT, (int)strtol(n->constant.text, NULL, 10));
    return n->constant.kind == CONST_STR || n->constant.kind == CONST_BYTES ? thing(T_TEXT, golden_text_of(g, n))
                                                                            : (Thing){0};
}

static void eval_conditional(Golden *g, States *set, const Node *n) {
    States yes = {0}, no = {0};
    golden_split(g, set, n->conditional.test, &yes, &no);
    golden_eval(g, &yes, n->conditional.body);
    golden_eval(g, &no, n->conditional.orelse);
    golden_merge_move(g, &yes, &no);
    golden_replace_move(set, &yes);
}

/* a and b, a or b as values. */
static void eval_bool(Golden *g, States *set, const Node *n) {
    States done = {0};
    for (int i = 0; i < n->boolean.values.count; i++) {
        States rest = {0};
        golden_eval(g, set, n->boolean.values.items[i]);
        bool last = i + 1 == n->boolean.values.count;
        for (int k = 0; k < set->count; k++) {
            State *s = &set->items[k];
            int is = truth(s, s->depth > 0 ? s->stack[s->depth - 1] : (Thing){0});
            if (last || is != !n->boolean.is_or) golden_add(g, &done, s);
            if (last || is == n->boolean.is_or) continue;
            state_pop(s);
            golden_add(g, &rest, s);
        }
        golden_replace_move(set, &rest);
    }
    golden_replace_move(set, &done);
}

/* A display: its items are on the stack already, `count` of them (a dict's in pairs). */
static void make_box(State *s, int count, bool is_dict) {
    Thing box = state_new_box(s, is_dict);
    for (int i = 0; i < count; i += is_dict ? 2 : 1) {
        int at = s->depth - count + i;
        if (at < 0) break;
        box_append(s, box, is_dict ? s->stack[at] : (Thing){0}, s->stack[is_dict ? at + 1 : at]);
    }
    for (int i = 0; i < count; i++) state_pop(s);
    state_push(s, box);
}

static bool has_star(const NodeList *list) {
    for (int i = 0; i < list->count; i++)
        if (list->items[i] == NULL || list->items[i]->kind == AST_STARRED) return true;
    return false;
}

void golden_drop(Golden *g, States *set, int count, int line) {
    for (int i = 0; i < set->count; i++)
        for (int k = 0; k < count; k++) golden_lose(g, &set->items[i], state_pop(&set->items[i]), line, "is not kept");
}

static void eval_display(Golden *g, States *set, const Node *n) {
    bool is_dict = n->kind == AST_DICT, known_items = !has_star(is_dict ? &n->dict.keys : &n->list);
    int count = is_dict ? n->dict.keys.count : n->list.count;
    if (count > MAX_ITEMS) known_items = false;
    for (int i = 0; i < count; i++) {
        if (is_dict) golden_eval(g, set, n->dict.keys.items[i]);
        golden_eval(g, set, is_dict ? n->dict.values.items[i] : n->list.items[i]);
        if (!known_items) golden_drop(g, set, is_dict ? 2 : 1, n->at.line);
    }
    for (int i = 0; known_items && i < set->count; i++) make_box(&set->items[i], is_dict ? 2 * count : count, is_dict);
    if (!known_items) golden_push(set, (Thing){0});
}

static void eval_binary(Golden *g, States *set, const Node *n) {
    golden_eval(g, set, n->binary.left);
    golden_eval(g, set, n->binary.right);
    for (int i = 0; i < set->count; i++) {
        State *s = &set->items[i];
        Thing b = s->stack[TSR_MAX(0, s->depth - 1)], a = s->stack[TSR_MAX(0, s->depth - 2)], result = {0};
        bool numbers = a.kind == T_INT && b.kind == T_INT, sum = n->binary.op == OP_ADD;
        if (numbers && (sum || n->binary.op == OP_SUB)) result = thing(T_INT, sum ? a.id + b.id : a.id - b.id);
        if (sum && a.kind == T_BOX && b.kind == T_BOX) {
            result = golden_new_list(s, &s->boxes[a.id]);
            if (result.kind == T_BOX) golden_extend(s, result, &s->boxes[b.id]);
        } else {
            golden_lose(g, s, a, n->at.line, "is not kept");
            golden_lose(g, s, b, n->at.line, "is not kept");
        }
        state_pop(s);
        state_pop(s);
        state_push(s, result.kind == T_UNKNOWN ? golden_fresh(g, s, n) : result);
    }
}

/* self.x, d["k"]: by its text, when it was assigned or retained under that. */
static Thing by_text(Golden *g, const State *s, const Node *n) {
    int text = golden_text_of(g, n);
    return text >= 0 ? state_lookup(s, golden_text_at(g, text)) : (Thing){0};
}

/* t is indexed, so it is several pointers that a new... function gave: which of them are freed is not followed. */
static void take_as_row(State *s, Thing t) {
    if (t.kind == T_POINTER) s->pointers[t.id].owed = 0;
}

static void eval_subscript(Golden *g, States *set, const Node *n) {
    golden_eval(g, set, n->subscript.value);
    golden_eval(g, set, n->subscript.index);
    for (int i = 0; i < set->count; i++) {
        State *s = &set->items[i];
        Thing key = state_pop(s), from = state_pop(s), result = {0};
        take_as_row(s, from);
        if (from.kind != T_BOX) {
            result = by_text(g, s, n);
        } else if (key.kind != T_UNKNOWN) {
            const Thing *found = box_find(&s->boxes[from.id], key);
            result = found != NULL ? *found : golden_missing_item(s);
        }
        state_push(s, result);
    }
}

static void eval_attribute(Golden *g, States *set, const Node *n) {
    if (set->count > 0 && golden_is_namespace(&set->items[0], n->attribute.value)) {
        golden_push(set, thing(T_TH, golden_text(g, "%s", n->attribute.name)));
        return;
    }
    golden_eval(g, set, n->attribute.value);
    for (int i = 0; i < set->count; i++) {
        Thing from = state_pop(&set->items[i]);
        golden_check_member(g, &set->items[i], from, n);
        golden_lose(g, &set->items[i], from, n->at.line, "is not kept");
        state_push(&set->items[i], by_text(g, &set->items[i], n));
    }
}

void golden_eval_function(Golden *g, States *set, const Node *n) {
    int number = 0;
    while (number < g->function_count && g->functions[number] != n) number++;
    if (number == MAX_FUNCTIONS) {
        golden_push(set, (Thing){0});
        return;
    }
    if (number == g->function_count) g->functions[g->function_count++] = n;
    golden_push(set, thing(T_FUNCTION, number));
}

/* Lent until the generator goes on, or given away: by a generator whose name begins with new, or when nothing here
 * names it any more. */
static void yield_pointer(Golden *g, Pointer *p, int line) {
    p->yielded_line = line;
    if (p->name != NULL || p->perhaps) return;
    p->owed = 0;
    if (!golden_is_new(g->function))
        golden_breach(g, "line %d: %s yields the pointer that %s gave, which is owned: its name must begin with new",
                      line, g->function, p->maker);
}

static void eval_yield(Golden *g, States *set, const Node *n) {
    golden_eval(g, set, n->value);
    for (int k = 0; k < set->count; k++) {
        State *s = &set->items[k];
        Thing t = state_pop(s);
        for (int i = 0; i < MAX_POINTERS; i++)
            if (s->pointers[i].owed > 0 && state_reaches(s, t, i)) yield_pointer(g, &s->pointers[i], n->at.line);
        state_push(s, (Thing){0});
    }
}

static void eval_named(Golden *g, States *set, const Node *n) {
    golden_eval(g, set, n->named.value);
    for (int i = 0; i < set->count; i++) {
        State *s = &set->items[i];
        if (s->depth > 0 && n->named.target->kind == AST_NAME)
            golden_bind(g, s, n->named.target->name.id, s->stack[s->depth - 1]);
    }
}

static void eval_comprehension(Golden *g, States *set, const Node *n);

/* What a name is; an item of something unknown that was retained is the pointer that this made of it. */
static Thing named(Golden *g, const State *s, const Node *n) {
    Thing t = state_lookup(s, n->name.id);
    golden_check_borrow_use(g, s, n->name.id, t, n->at.line);
    if (t.kind != T_TEXT) return t;
    Thing known = state_lookup(s, golden_text_at(g, t.id));
    return known.kind == T_POINTER ? known : t;
}

/* Values that are looked at and gone. */
static void eval_dropped(Golden *g, States *set, const Node *n, int line) {
    golden_eval(g, set, n);
    golden_drop(g, set, 1, line);
}

void golden_eval(Golden *g, States *set, const Node *n) {
    if (n == NULL || set->count == 0) {
        golden_push(set, (Thing){0});
        return;
    }
    switch (n->kind) {
    case AST_CONSTANT: golden_push(set, constant(g, n)); return;
    case AST_NAME:
        for (int i = 0; i < set->count; i++) state_push(&set->items[i], named(g, &set->items[i], n));
        return;
    case AST_CALL: golden_eval_call(g, set, n); return;
    case AST_NAMED: eval_named(g, set, n); return;
    case AST_TUPLE:
    case AST_LIST:
    case AST_SET:
    case AST_DICT: eval_display(g, set, n); return;
    case AST_BINARY: eval_binary(g, set, n); return;
    case AST_BOOL: eval_bool(g, set, n); return;
    case AST_CONDITIONAL: eval_conditional(g, set, n); return;
    case AST_ATTRIBUTE: eval_attribute(g, set, n); return;
    case AST_SUBSCRIPT: eval_subscript(g, set, n); return;
    case AST_STARRED: golden_eval(g, set, n->value); return;
    case AST_LAMBDA: golden_eval_function(g, set, n); return;
    case AST_LIST_COMP:
    case AST_SET_COMP:
    case AST_DICT_COMP:
    case AST_GENERATOR: eval_comprehension(g, set, n); return;
    case AST_YIELD:
    case AST_YIELD_FROM: eval_yield(g, set, n); return;
    case AST_UNARY:
        if (n->unary.op == OP_NEG && n->unary.operand->kind == AST_CONSTANT &&
            n->unary.operand->constant.kind == CONST_INT) {
            golden_push(set, thing(T_INT, -constant(g, n->unary.operand).id));
            return;
        }
        eval_dropped(g, set, n->unary.operand, n->at.line);
        break;
    case AST_COMPARE:
        eval_dropped(g, set, n->compare.left, n->at.line);
        for (int i = 0; i < n->compare.comparators.count; i++)
            eval_dropped(g, set, n->compare.comparators.items[i], n->at.line);
        break;
    case AST_JOINED:
        for (int i = 0; i < n->list.count; i++)
            if (n->list.items[i]->kind == AST_FORMATTED)
                eval_dropped(g, set, n->list.items[i]->formatted.value, n->at.line);
        break;
    default: break;
    }
    golden_push(set, (Thing){0});
}

/* ---- targets ---- */

/* Takes a thing apart for n targets, pushed so that the first is on top. `star`: the target that takes the rest, or -1.
 */
static void unpack(Golden *g, State *s, Thing from, int n, int star) {
    const Box *box = from.kind == T_BOX ? &s->boxes[from.id] : NULL;
    Pointer *whole = from.kind == T_POINTER ? &s->pointers[from.id] : NULL;
    if (box != NULL && (star < 0 ? box->count != n : box->count < n - 1)) {
        s->impossible = true;
        box = NULL;
    }
    int taken = box != NULL ? box->count - n + 1 : 0;
    bool owned = whole != NULL && whole->name == NULL && whole->owed > 0;
    if (owned) whole->owed = 0;
    for (int i = n - 1; i >= 0; i--) {
        Thing t = {0};
        if (i == star && box != NULL) {
            Box rest = {.count = 0};
            for (int k = 0; k < taken; k++) rest.items[rest.count++].value = box->items[star + k].value;
            t = golden_new_list(s, &rest);
        } else if (box != NULL) {
            t = box->items[star >= 0 && i > star ? i + taken - 1 : i].value;
        } else if (from.kind == T_TEXT) {
            t = thing(T_TEXT, golden_text(g, "%s.%d", golden_text_at(g, from.id), i));
        } else if (owned) { /* what a new... function gave in a tuple: perhaps pointers */
            t = state_new_pointer(s, whole->maker, whole->line, 1);
            if (t.kind == T_POINTER) s->pointers[t.id].perhaps = true;
        }
        state_push(s, t);
    }
}

static void store_item(Golden *g, State *s, const Node *target, Thing at, Thing key, Thing value) {
    if (at.kind == T_BOX) {
        Thing *found = box_find(&s->boxes[at.id], key);
        if (found != NULL) *found = value;
        else if (s->boxes[at.id].is_dict) box_append(s, at, key, value);
        golden_name_items(g, s, &s->boxes[at.id]);
        return;
    }
    int text = golden_text_of(g, target); /* it is still this function's to free */
    if (text >= 0) golden_bind(g, s, golden_text_at(g, text), value);
}

/* h.size = ... of a handle. */
static void check_member_target(Golden *g, States *set, const Node *target) {
    const Node *of = target->attribute.value;
    for (int i = 0; i < set->count && of->kind == AST_NAME; i++)
        golden_check_member(g, &set->items[i], state_lookup(&set->items[i], of->name.id), target);
}

/* Assigns what is on top of the stack of each path, and takes it off. */
void golden_assign(Golden *g, States *set, const Node *target) {
    if (target->kind == AST_TUPLE || target->kind == AST_LIST) {
        int star = -1;
        for (int i = 0; i < target->list.count; i++)
            if (target->list.items[i]->kind == AST_STARRED) star = i;
        for (int i = 0; i < set->count; i++)
            unpack(g, &set->items[i], state_pop(&set->items[i]), target->list.count, star);
        for (int i = 0; i < target->list.count; i++)
            golden_assign(g, set, i == star ? target->list.items[i]->value : target->list.items[i]);
        return;
    }
    bool item = target->kind == AST_SUBSCRIPT;
    if (target->kind == AST_ATTRIBUTE) check_member_target(g, set, target);
    if (item) golden_eval(g, set, target->subscript.value);
    if (item) golden_eval(g, set, target->subscript.index);
    for (int i = 0; i < set->count; i++) {
        State *s = &set->items[i];
        Thing key = item ? state_pop(s) : (Thing){0}, at = item ? state_pop(s) : (Thing){0}, value = state_pop(s);
        const char *keeper = golden_text_at(g, golden_text_of(g, target));
        if (golden_check_kept(g, s, value, target->at.line, keeper)) value = (Thing){0}; /* said once */
        if (target->kind == AST_NAME) golden_bind(g, s, target->name.id, value);
        else store_item(g, s, target, at, key, value);
    }
}

/* ---- what is gone over ---- */

/* How often a loop over `over` runs on this path, with the items; -1: that is not known. */
static int known_items(const State *s, Thing over, Thing *items) {
    if (over.kind != T_BOX) return -1;
    const Box *box = &s->boxes[over.id];
    for (int i = 0; i < box->count; i++) items[i] = box->is_dict ? box->items[i].key : box->items[i].value;
    return box->count;
}

void golden_each(Golden *g, States *set, const Node *iterable, LoopRound round, void *context) {
    States out = {0};
    int text = is_stable(iterable) ? golden_text_of(g, iterable) : -1,
        number = text >= 0 ? golden_text(g, "each of %s", golden_text_at(g, text)) : -1;
    for (int i = 0; i < set->count; i++) {
        Thing items[MAX_ITEMS] = {{0}};
        State *s = &set->items[i];
        Thing over = state_pop(s);
        take_as_row(s, over);
        int count = known_items(s, over, items), before = golden_known(s, number);
        for (int k = 0; count < 0 && k <= UNKNOWN_PASSES; k++) {
            State other = *s;
            if (before >= 0 && before != k) continue;
            if (before < 0) golden_know(&other, number, k);
            for (int j = 0; number >= 0 && j < k; j++)
                items[j] = thing(T_TEXT, golden_text(g, "%s#%d", golden_text_at(g, text), j));
            round(g, &out, &other, items, k, context);
        }
        if (count >= 0) round(g, &out, s, items, count, context);
    }
    golden_replace_move(set, &out);
}

/* ---- comprehensions ---- */

typedef struct Comp {
    const Node *n;
    int level;
} Comp;

static void comp_level(Golden *g, States *set, const Node *n, int level);

static void comp_round(Golden *g, States *out, State *s, const Thing *items, int count, void *context) {
    const Comp *c = context;
    const Comprehension *part = &c->n->comprehension.generators[c->level];
    States round = {0};
    golden_add(g, &round, s);
    for (int i = 0; i < count && round.count > 0; i++) {
        States skipped = {0};
        golden_push(&round, items[i]);
        golden_assign(g, &round, part->target);
        for (int k = 0; k < part->conditions.count; k++) {
            States yes = {0};
            golden_split(g, &round, part->conditions.items[k], &yes, &skipped);
            golden_replace_move(&round, &yes);
        }
        comp_level(g, &round, c->n, c->level + 1);
        golden_merge_move(g, &round, &skipped);
    }
    golden_merge_move(g, out, &round);
}

/* The box under construction is on top of each stack. */
static void comp_level(Golden *g, States *set, const Node *n, int level) {
    bool is_dict = n->kind == AST_DICT_COMP;
    if (level < n->comprehension.generator_count) {
        Comp c = {n, level};
        golden_eval(g, set, n->comprehension.generators[level].iterable);
        golden_each(g, set, n->comprehension.generators[level].iterable, comp_round, &c);
        return;
    }
    if (is_dict) golden_eval(g, set, n->comprehension.key);
    golden_eval(g, set, n->comprehension.element);
    for (int i = 0; i < set->count; i++) {
        State *s = &set->items[i];
        Thing value = state_pop(s), key = is_dict ? state_pop(s) : (Thing){0};
        if (s->depth > 0) box_append(s, s->stack[s->depth - 1], key, value);
    }
}

static void eval_comprehension(Golden *g, States *set, const Node *n) {
    States out = {0};
    for (int i = 0; i < set->count;
         i++) { /* each with the names that it had: a comprehension's own are gone after it */
        Names before = set->items[i].names;
        States one = {0};
        state_push(&set->items[i], state_new_box(&set->items[i], n->kind == AST_DICT_COMP));
        set->items[i].nested++;
        golden_add(g, &one, &set->items[i]);
        comp_level(g, &one, n, 0);
        for (int k = 0; k < one.count; k++) {
            memcpy(&one.items[k].names, &before, sizeof before);
            one.items[k].nested--;
        }
        golden_merge_move(g, &out, &one);
    }
    golden_replace_move(set, &out);
}
