/* golden() on ArrayRefs: a pointer and a length that own nothing. One (T_ARRAYREF) is of a list or tuple that the
 * function made, or of the sizes of a tensor that it made; it dangles when nothing of the path reaches that any more,
 * when a list has another length, and when it leaves the function without it. Of a temporary it may be used in its own
 * statement, as an argument, but not be kept. */
#include "golden_impl.h"

#include <string.h>

/* c10.ArrayRef(...), c10.IntArrayRef(...) and the same without c10. */
static bool is_array_ref(const State *s, const Node *f) {
    static const char *const names[] = {"ArrayRef", "IntArrayRef", NULL};
    if (f->kind == AST_NAME)
        return golden_is_one_of(f->name.id, names) && state_lookup(s, f->name.id).kind == T_UNKNOWN;
    return f->kind == AST_ATTRIBUTE && golden_is_one_of(f->attribute.name, names) &&
           f->attribute.value->kind == AST_NAME && strcmp(f->attribute.value->name.id, "c10") == 0;
}

/* A list or a tuple: the box is marked as pointed at. */
static Thing of_list(Golden *g, State *s, const Node *from, Thing list) {
    Box *box = &s->boxes[list.id];
    if (box->is_dict || box->pointed < 0) return (Thing){0};
    if (box->pointed == 0) {
        const char *what = from->kind == AST_NAME ? "array " : "";
        int text = golden_text(g, "%s%s, line %d", what, golden_text_at(g, golden_text_of(g, from)), from->at.line);
        if (text < 0) return (Thing){0};
        box->pointed = text + 1;
    }
    return thing(T_ARRAYREF, box->pointed - 1);
}

static bool asks_for_sizes(const Node *call) {
    static const char *const names[] = {"sizes", "dims", "strides", NULL};
    return call->call.func->kind == AST_ATTRIBUTE && call->call.args.count == 0 &&
           golden_is_one_of(call->call.func->attribute.name, names);
}

bool golden_array_ref_call(Golden *g, State *s, const Node *call, Thing receiver, Thing first, Thing *result) {
    if (!g->borrows) return false;
    if (receiver.kind == T_LOCAL && asks_for_sizes(call)) return *result = thing(T_ARRAYREF, receiver.id), true;
    if (!is_array_ref(s, call->call.func) || call->call.args.count != 1) return false;
    *result = first.kind == T_BOX        ? of_list(g, s, call->call.args.items[0], first)
              : first.kind == T_ARRAYREF ? first /* it points at the same */
                                         : (Thing){0};
    return true;
}

bool golden_check_kept(Golden *g, const State *s, Thing t, int line, const char *keeper) {
    bool display = t.kind == T_BOX && s->boxes[t.id].name == NULL; /* a list or tuple that is kept by this */
    for (int i = 0; display && i < s->boxes[t.id].count; i++)
        golden_check_kept(g, s, s->boxes[t.id].items[i].value, line, keeper);
    if (t.kind != T_ARRAYREF || s->nested > 0 || golden_is_alive(s, t.id)) return false;
    golden_breach(g,
                  "line %d: %s keeps an ArrayRef of a temporary (%s), which goes with its statement: vec() copies it",
                  line, keeper, golden_text_at(g, t.id));
    return true;
}

void golden_resized(State *s, Thing list) {
    Box *box = &s->boxes[list.id];
    if (box->pointed > 0) box->pointed = 0;
}
