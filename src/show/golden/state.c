/* The state of golden() at one point of a path: names, pointers, containers and known tests in arrays of fixed size.
 * Two states are the same situation when a renaming of their pointers makes them equal. */
#include "state.h"

#include <string.h>

#include "core/mem.h"

/* ---- sets ---- */

void states_free(States *set) {
    tsr_free(set->items);
    *set = (States){0};
}

/* Whether no pointer or container that matters hangs on a thing: a lent pointer that nothing was done to is as good as
 * unknown. */
static bool is_plain(const State *s, Thing t) {
    if (t.kind == T_POINTER) return s->pointers[t.id].maker == NULL && s->pointers[t.id].freed_line == 0;
    return t.kind != T_BOX && t.kind < T_FUNCTION;
}

static bool agree(const State *a, Thing in_a, const State *b, Thing in_b) {
    return thing_equal(in_a, in_b) || (is_plain(a, in_a) && is_plain(b, in_b));
}

static bool names_agree(const State *a, const State *b) {
    for (int i = 0; i < a->names.count; i++)
        if (!agree(a, a->names.items[i].thing, b, state_lookup(b, a->names.items[i].name))) return false;
    return true;
}

static bool same_situation(const State *a, const State *b) {
    if (memcmp(a->pointers, b->pointers, sizeof a->pointers) != 0 || memcmp(a->boxes, b->boxes, sizeof a->boxes) != 0)
        return false;
    if (a->depth != b->depth || a->nested != b->nested || a->raising != b->raising || a->exit_line != b->exit_line ||
        a->th_error != b->th_error)
        return false;
    for (int i = 0; i < a->depth; i++)
        if (!agree(a, a->stack[i], b, b->stack[i])) return false;
    return names_agree(a, b) && names_agree(b, a);
}

static bool has_fact(const State *s, int text, int value) {
    for (int i = 0; i < s->fact_count; i++)
        if (s->facts[i].text == text && s->facts[i].value == value) return true;
    return false;
}

/* `a` keeps what `b` knows as well. */
static void join(State *a, const State *b) {
    for (int i = 0; i < a->names.count; i++)
        if (!thing_equal(a->names.items[i].thing, state_lookup(b, a->names.items[i].name)))
            a->names.items[i].thing = (Thing){0};
    for (int i = 0; i < a->depth; i++)
        if (!thing_equal(a->stack[i], b->stack[i])) a->stack[i] = (Thing){0};
    int kept = 0;
    for (int i = 0; i < a->fact_count; i++)
        if (has_fact(b, a->facts[i].text, a->facts[i].value)) a->facts[kept++] = a->facts[i];
    memset(&a->facts[kept], 0, sizeof a->facts[0] * (size_t)(a->fact_count - kept));
    a->fact_count = kept;
}

bool states_add(States *set, const State *state) {
    if (state->impossible) return true;
    if (state->overflow) return false;
    for (int i = 0; i < set->count; i++)
        if (same_situation(&set->items[i], state)) return join(&set->items[i], state), true;
    if (set->count == MAX_STATES) return false;
    if (mem_grow(&set->items, &set->capacity, set->count + 1, sizeof *set->items) != TSR_OK) return false;
    memcpy(&set->items[set->count++], state, sizeof *state); /* padding too */
    return true;
}

/* ---- the stack and the names ---- */

void state_push(State *s, Thing thing) {
    if (s->depth == MAX_STACK) s->overflow = true;
    else s->stack[s->depth++] = thing;
}

Thing state_pop(State *s) {
    if (s->depth == 0) return (Thing){0};
    Thing top = s->stack[--s->depth];
    s->stack[s->depth] = (Thing){0};
    return top;
}

static int find_name(const State *s, const char *name) {
    for (int i = 0; i < s->names.count; i++)
        if (strcmp(s->names.items[i].name, name) == 0) return i;
    return -1;
}

Thing state_lookup(const State *s, const char *name) {
    int i = find_name(s, name);
    return i >= 0 ? s->names.items[i].thing : (Thing){0};
}

static void name_thing(State *s, const char *name, Thing t, ItemName item_name, void *context) {
    if (t.kind == T_POINTER && s->pointers[t.id].name == NULL) s->pointers[t.id].name = name;
    if (t.kind != T_BOX || s->boxes[t.id].name != NULL) return;
    Box *box = &s->boxes[t.id];
    box->name = name;
    for (int i = 0; i < box->count; i++)
        name_thing(s, item_name(context, name, box->items[i].key), box->items[i].value, item_name, context);
}

void state_bind(State *s, const char *name, Thing t, ItemName item_name, void *context) {
    int i = find_name(s, name);
    if (i < 0) {
        if (s->names.count == MAX_NAMES) {
            s->overflow = true;
            return;
        }
        i = s->names.count++;
        s->names.items[i].name = name;
    }
    s->names.items[i].thing = t;
    name_thing(s, name, t, item_name, context);
}

/* ---- pointers and boxes: slots, taken back when nothing reaches them any more ---- */

typedef struct Marks {
    bool pointers[MAX_POINTERS], boxes[MAX_BOXES];
} Marks;

static void mark(const State *s, Thing t, Marks *m) {
    if (t.kind == T_POINTER) m->pointers[t.id] = true;
    if (t.kind != T_BOX || m->boxes[t.id]) return;
    m->boxes[t.id] = true;
    for (int i = 0; i < s->boxes[t.id].count; i++) {
        mark(s, s->boxes[t.id].items[i].key, m);
        mark(s, s->boxes[t.id].items[i].value, m);
    }
}

bool state_reaches(const State *s, Thing from, int pointer) {
    Marks m = {0};
    mark(s, from, &m);
    return m.pointers[pointer];
}

static void collect(State *s) {
    Marks m = {0};
    if (s->nested > 0) return;
    for (int i = 0; i < s->names.count; i++) mark(s, s->names.items[i].thing, &m);
    for (int i = 0; i < s->depth; i++) mark(s, s->stack[i], &m);
    for (int i = 0; i < MAX_BOXES; i++)
        if (!m.boxes[i]) memset(&s->boxes[i], 0, sizeof s->boxes[i]);
    for (int i = 0; i < MAX_POINTERS; i++)
        if (!m.pointers[i] && s->pointers[i].owed == 0) memset(&s->pointers[i], 0, sizeof s->pointers[i]);
}

Thing state_new_pointer(State *s, const char *maker, int line, int owed) {
    for (int pass = 0; pass < 2; pass++) {
        for (int i = 0; i < MAX_POINTERS; i++) {
            Pointer *p = &s->pointers[i];
            if (p->used) continue;
            p->maker = maker;
            p->line = line;
            p->owed = owed;
            p->lent = maker == NULL;
            p->used = true;
            return thing(T_POINTER, i);
        }
        collect(s);
    }
    s->overflow = true;
    return (Thing){0};
}

Thing state_new_box(State *s, bool is_dict) {
    for (int pass = 0; pass < 2; pass++) {
        for (int i = 0; i < MAX_BOXES; i++) {
            if (s->boxes[i].used) continue;
            s->boxes[i].used = true;
            s->boxes[i].is_dict = is_dict;
            return thing(T_BOX, i);
        }
        collect(s);
    }
    s->overflow = true;
    return (Thing){0};
}

Thing *box_find(Box *box, Thing key) {
    if (!box->is_dict) {
        int i = key.id < 0 ? key.id + box->count : key.id;
        return key.kind == T_INT && i >= 0 && i < box->count ? &box->items[i].value : NULL;
    }
    for (int i = 0; i < box->count; i++)
        if (key.kind != T_UNKNOWN && thing_equal(box->items[i].key, key)) return &box->items[i].value;
    return NULL;
}

void box_append(State *s, Thing at, Thing key, Thing value) {
    if (at.kind != T_BOX) return;
    Box *box = &s->boxes[at.id];
    if (box->count == MAX_ITEMS) {
        s->overflow = true;
        return;
    }
    box->items[box->count].key = box->is_dict ? key : thing(T_INT, box->count);
    box->items[box->count++].value = value;
}

void box_remove(Box *box, int index) {
    for (int i = index; i + 1 < box->count; i++) {
        box->items[i] = box->items[i + 1];
        if (!box->is_dict) box->items[i].key.id = i;
    }
    memset(&box->items[--box->count], 0, sizeof box->items[0]);
}
