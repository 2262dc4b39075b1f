/* Who holds what: the places of the evaluator, by name. */
#include "frame.h"

typedef struct Visitor {
    bool (*visit)(const Root *root, void *context);
    void *context;
    bool stopped;
} Visitor;

static void report(Visitor *v, RootKind kind, const char *function, const char *name, const Value *value) {
    if (v->stopped || value->tag == V_UNBOUND) return;
    const Cell *cell = value_is_obj(*value, &cell_type) ? value_as_cell(*value) : NULL;
    if (cell != NULL) value = &cell->value;
    Root root = {kind, function, name, value, cell};
    if (value->tag != V_UNBOUND && !v->visit(&root, v->context)) v->stopped = true;
}

/* Whether `slot` is the first of a for loop that is running at the frame's place. */
static bool is_loop_slot(const Frame *f, int slot) {
    int at = (int)(f->pc - f->code->ins) - 1;
    for (int k = at < 0 ? 0 : at; k < f->code->ins_count; k++) {
        const Ins *i = &f->code->ins[k];
        if (i->op == INS_METHOD || i->op == INS_GETATTR) k += 2;
        else if (i->op == INS_FORNEXT && i->b == slot && at >= k + 1 + (i->head >> 8)) return true;
    }
    return false;
}

/* The slots of the native call that frame f waits for; none in a frame that has not begun (the other side of
 * parallel()). */
static void call_window(const Frame *f, int *first, int *end) {
    *first = *end = -1;
    if (f->pc == f->code->ins) return;
    const Ins *i = f->pc - 1;
    if (i->op == INS_CALL) *first = i->a, *end = i->a + 1 + i->b;
    else if (i->op == INS_CALLMETHOD) *first = i->a, *end = i->a + 2 + i->b;
    else if (i->op == INS_CALLKW) *first = i->a, *end = i->a + 1 + i->b + i->x;
    else if (i->op == INS_CALLEX) *first = i->a, *end = i->a + 3;
}

static int own_slots(const Frame *f) { return f->flags & FRAME_LENT ? f->own_from : 0; }

/* What has a name in an active call: its locals, and what its function took along from outside. */
static void visit_names(Visitor *v, const Frame *f) {
    const Code *code = f->code;
    bool own = !source_is_prelude(code->source); /* nobody can say the names inside of tsr's own functions */
    for (int k = own_slots(f); k < code->slot_count; k++)
        report(v, own ? ROOT_LOCAL : ROOT_TEMPORARY, code->name, own ? code->slot_names[k] : NULL,
               &f->base[code->first_slot + k]);
    for (int64_t k = 0; f->fn != NULL && k < f->fn->cell_count; k++) {
        Value cell = f->fn->cells[k] != NULL ? value_lent(f->fn->cells[k]) : VALUE_UNBOUND;
        report(v, own ? ROOT_LOCAL : ROOT_TEMPORARY, code->name, own ? code->captures[k].name : NULL, &cell);
    }
}

/* `inner`: the frame that f called, NULL for none. It begins in f's temporaries, at its arguments: those are its own.
 */
static void visit_temporaries(Visitor *v, const Frame *f, const Frame *inner, bool innermost) {
    const Code *code = f->code;
    int first, end, until = code->frame_size;
    if (inner != NULL && inner->base > f->base && inner->base < f->base + until) until = (int)(inner->base - f->base);
    call_window(f, &first, &end);
    if (!innermost) first = end = -1;
    for (int k = TSR_MAX(code->first_temp, own_slots(f)); k < until; k++) {
        bool argument = k >= first && k < end;
        if (!is_counted(f->base[k])) continue;
        report(v,
               argument             ? ROOT_ARGUMENT
               : is_loop_slot(f, k) ? ROOT_ITERATOR
                                    : ROOT_TEMPORARY,
               code->name, NULL, &f->base[k]);
    }
}

/* From the outermost on: first what has a name, so that nothing is called temporary that a call further in names. */
static void visit_frames(Visitor *v, const Frame *innermost, bool running) {
    int depth = 0;
    for (const Frame *f = innermost; f != NULL; f = f->prev) depth++;
    for (int k = 2 * depth - 1; k >= 0 && !v->stopped; k--) {
        const Frame *f = innermost, *inner = NULL;
        for (int n = 0; n < k % depth; n++) inner = f, f = f->prev;
        if (k >= depth) visit_names(v, f);
        else visit_temporaries(v, f, inner, running && k == 0);
    }
}

void scope_visit_roots(bool (*visit)(const Root *root, void *context), void *context) {
    Visitor v = {visit, context, false};
    for (int n = 0; n < vm.global_count; n++)
        report(&v, ROOT_GLOBAL, NULL, vm.global_names[n]->data, &vm.globals[globals_slot(n)]);
    if (globals_last() != NULL) report(&v, ROOT_GLOBAL, NULL, "_", globals_last());
    if (vm_waiting != NULL) visit_frames(&v, vm_waiting->frame, false);
    visit_frames(&v, vm.frame, true);
}
