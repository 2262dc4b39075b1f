/* The operations of golden() on the states of one path: binding a name, owing and giving back references, putting
 * pointers into containers, and reporting a breach of the rule with the line that made it. States that cannot be told
 * apart any more are merged. */
#include "golden_impl.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "core/mem.h"
#include "lang/types/str.h"

enum { TEXT_ROOM = 256 };

/* ---- texts ---- */

static int keep_text(Golden *g, const char *text, size_t length) {
    for (int i = 0; i < g->text_count; i++)
        if (strlen(g->texts[i]) == length && memcmp(g->texts[i], text, length) == 0) return i;
    g->status = mem_grow(&g->texts, &g->text_capacity, g->text_count + 1, sizeof *g->texts);
    char *copy = g->status == TSR_OK ? tsr_mem_text(text, length) : NULL;
    if (copy == NULL) return g->status = mem_error(), -1;
    g->texts[g->text_count] = copy;
    return g->text_count++;
}

int golden_text(Golden *g, const char *format, ...) {
    char text[TEXT_ROOM];
    va_list args;
    va_start(args, format);
    int n = vsnprintf(text, sizeof text, format, args);
    va_end(args);
    return keep_text(g, text, TSR_MIN((size_t)TSR_MAX(n, 0), sizeof text - 1));
}

const char *golden_text_at(const Golden *g, int i) { return i >= 0 ? g->texts[i] : ""; }

/* The source of a node. */
int golden_text_of(Golden *g, const Node *n) {
    size_t begin = source_line_offset(g->source, n->at.line) + (size_t)n->at.col,
           end = source_line_offset(g->source, n->at.end_line) + (size_t)n->at.end_col, length;
    const char *text = source_text(g->source, &length);
    return end <= length && begin < end ? keep_text(g, text + begin, end - begin) : -1;
}

static bool is_word(char c) {
    return c == '_' || (c >= '0' && c <= '9') || ((c | 32) >= 'a' && (c | 32) <= 'z') || (unsigned char)c >= 0x80;
}

bool golden_mentions(const char *text, const char *name) {
    size_t n = strlen(name);
    for (const char *p = strstr(text, name); p != NULL; p = strstr(p + 1, name))
        if ((p == text || !is_word(p[-1])) && !is_word(p[n])) return true;
    return false;
}

const char *golden_item_name(void *context, const char *name, Thing key) {
    Golden *g = context;
    if (key.kind == T_INT) return golden_text_at(g, golden_text(g, "%s[%d]", name, key.id));
    return golden_text_at(g, golden_text(g, "%s[%s]", name, key.kind == T_TEXT ? golden_text_at(g, key.id) : "..."));
}

/* ---- breaches ---- */

void golden_breach(Golden *g, const char *format, ...) {
    char text[512];
    va_list args;
    if (g->status != TSR_OK) return;
    va_start(args, format);
    vsnprintf(text, sizeof text, format, args);
    va_end(args);
    for (int64_t i = 0; i < g->breaches->count; i++)
        if (str_equal_c(value_as_str(g->breaches->items[i]), text)) return;
    g->status = list_append_c(g->breaches, text);
}

const char *golden_pointer_name(const Pointer *p) { return p->name != NULL ? p->name : "a pointer without a name"; }

/* ---- sets of paths ---- */

void golden_add(Golden *g, States *set, const State *state) {
    if (!states_add(set, state)) g->too_many = true;
}

void golden_merge(Golden *g, States *into, const States *from) {
    for (int i = 0; i < from->count; i++) golden_add(g, into, &from->items[i]);
}

/* `from` moves into `into`, which may have states already. */
void golden_merge_move(Golden *g, States *into, States *from) {
    golden_merge(g, into, from);
    states_free(from);
}

/* The set becomes `from`. */
void golden_replace_move(States *set, States *from) {
    states_free(set);
    *set = *from;
    *from = (States){0};
}

States golden_copy(Golden *g, const States *set) {
    States copy = {0};
    golden_merge(g, &copy, set);
    return copy;
}

void golden_push(States *set, Thing t) {
    for (int i = 0; i < set->count; i++) state_push(&set->items[i], t);
}

/* ---- names and facts ---- */

/* What is known of tests that speak of `name` is so no longer. */
static void forget(Golden *g, State *s, const char *name) {
    for (int i = s->fact_count - 1; i >= 0; i--) {
        if (!golden_mentions(golden_text_at(g, s->facts[i].text), name)) continue;
        s->facts[i] = s->facts[--s->fact_count];
        memset(&s->facts[s->fact_count], 0, sizeof s->facts[0]);
    }
}

void golden_bind(Golden *g, State *s, const char *name, Thing t) {
    forget(g, s, name);
    for (int i = 0; i < s->names.count; i++) { /* other items than those of before: see golden_each */
        const char *item = s->names.items[i].name;
        if (strchr(item, '#') != NULL && golden_mentions(item, name)) s->names.items[i].thing = (Thing){0};
    }
    state_bind(s, name, t, golden_item_name, g);
}

void golden_know(State *s, int text, int value) {
    if (text < 0 || s->fact_count == MAX_FACTS) return;
    s->facts[s->fact_count].text = text;
    s->facts[s->fact_count++].value = value;
}

/* -1: nothing known. */
int golden_known(const State *s, int text) {
    for (int i = 0; text >= 0 && i < s->fact_count; i++)
        if (s->facts[i].text == text) return s->facts[i].value;
    return -1;
}

/* ---- what is done to pointers ---- */

static bool is_attribute(const Node *n, const char *name) {
    return n->kind == AST_ATTRIBUTE && strcmp(n->attribute.name, name) == 0;
}

/* c10.raw.intrusive_ptr, whose decref is free, and c10.intrusive_ptr, whose reclaim takes a reference over. */
bool golden_is_intrusive_ptr(const State *s, const Node *n) {
    if (!is_attribute(n, "intrusive_ptr")) return false;
    const Node *of = n->attribute.value;
    if (is_attribute(of, "raw")) of = of->attribute.value;
    return of->kind == AST_NAME && strcmp(of->name.id, "c10") == 0 && state_lookup(s, "c10").kind == T_UNKNOWN;
}

bool golden_is_namespace(const State *s, const Node *n) {
    static const char *const names[] = {"TH", "THS", "THC", "THCS"};
    if (golden_is_intrusive_ptr(s, n)) return true;
    for (size_t i = 0; n->kind == AST_NAME && i < TSR_COUNTOF(names); i++)
        if (strcmp(n->name.id, names[i]) == 0) return state_lookup(s, names[i]).kind == T_UNKNOWN;
    return false;
}

bool golden_is_one_of(const char *name, const char *const *list) {
    for (; *list != NULL; list++)
        if (strcmp(name, *list) == 0) return true;
    return false;
}

bool golden_is_new(const char *name) { return strncmp(name, "new", 3) == 0 || strncmp(name, "Storage_new", 11) == 0; }

/* A value that nothing takes: a pointer in it that has no name can't be freed any more. */
void golden_lose(Golden *g, const State *s, Thing t, int line, const char *how) {
    if (t.kind == T_BOX && s->boxes[t.id].name == NULL)
        for (int i = 0; i < s->boxes[t.id].count; i++) golden_lose(g, s, s->boxes[t.id].items[i].value, line, how);
    if (t.kind != T_POINTER) return;
    const Pointer *p = &s->pointers[t.id];
    if (p->name == NULL && p->owed > 0 && !p->perhaps)
        golden_breach(g, "line %d: what %s (line %d) returned %s: it can't be freed any more", line, p->maker, p->line,
                      how);
}

void golden_check_use(Golden *g, const State *s, Thing t, int line) {
    if (t.kind != T_POINTER) return;
    const Pointer *p = &s->pointers[t.id];
    if (p->lent) return; /* whatever became of this function's own references, the lender keeps it alive */
    if (p->moved_line > 0)
        golden_breach(g, "line %d: %s is used, but it was moved at line %d", line, golden_pointer_name(p),
                      p->moved_line);
    else if (p->freed_line > 0 && p->owed == 0)
        golden_breach(g, "line %d: %s is used, but it was freed at line %d", line, golden_pointer_name(p),
                      p->freed_line);
}

/* What a function of this file's own gave may be a tensor by now; what TH's gave is a handle. A parameter that was
 * retained may be a tensor. */
void golden_check_member(Golden *g, const State *s, Thing of, const Node *n) {
    if (of.kind != T_POINTER) return;
    const Pointer *p = &s->pointers[of.id];
    if (p->lent || p->maker == NULL || p->perhaps) return;
    golden_breach(
        g, "line %d: %s.%s: DO NOT directly access the member variables of the struct; a function of TH is asked",
        n->at.line, golden_pointer_name(p), n->attribute.name);
}

void golden_free(Golden *g, State *s, Thing t, int line) {
    g->counts = true;
    if (t.kind != T_POINTER) return;
    Pointer *p = &s->pointers[t.id];
    if (p->moved_line > 0)
        golden_breach(
            g, "line %d: %s is freed, but it was moved at line %d: after moving an object away you must NOT free it",
            line, golden_pointer_name(p), p->moved_line);
    else if (p->owed > 0) p->owed--;
    else if (p->maker == NULL)
        golden_breach(g, "line %d: %s is freed, but this function neither made nor retained it", line,
                      golden_pointer_name(p));
    else
        golden_breach(g, "line %d: %s is freed again: it was freed at line %d", line, golden_pointer_name(p),
                      p->freed_line);
    p->freed_line = line;
}

void golden_move(Golden *g, State *s, Thing t, int line) {
    if (t.kind != T_POINTER) return;
    Pointer *p = &s->pointers[t.id];
    if (p->owed == 0) golden_breach(g, "line %d: %s is moved, but no reference is owed", line, golden_pointer_name(p));
    p->owed = TSR_MAX(0, p->owed - 1);
    if (p->owed == 0) p->moved_line = line;
}

Thing golden_retain(Golden *g, State *s, Thing t, int line) {
    g->counts = true;
    if (t.kind != T_POINTER) return state_new_pointer(s, "retain", line, 1);
    Pointer *p = &s->pointers[t.id];
    p->owed++;
    p->moved_line = 0; /* what was moved away was another reference */
    p->perhaps = false;
    if (p->maker == NULL) {
        p->maker = "retain";
        p->line = line;
    }
    return t;
}

/* ---- containers ---- */

Thing golden_new_list(State *s, const Box *from) {
    Thing list = state_new_box(s, false);
    for (int i = 0; i < from->count; i++) box_append(s, list, (Thing){0}, from->items[i].value);
    return list;
}

Thing golden_missing_item(State *s) {
    s->impossible = true; /* an IndexError or a KeyError */
    return (Thing){0};
}

Thing golden_take_item(State *s, Box *box, Thing key, bool given) {
    Thing last = thing(T_INT, -1), *found = box_find(box, given ? key : last), value;
    if (given && key.kind == T_UNKNOWN) return (Thing){0};
    if (found == NULL) return golden_missing_item(s);
    value = *found;
    for (int i = 0; i < box->count; i++)
        if (&box->items[i].value == found) return box_remove(box, i), value;
    return value;
}

void golden_extend(State *s, Thing at, const Box *from) {
    Box copy = *from;
    for (int i = 0; i < copy.count; i++) box_append(s, at, copy.items[i].key, copy.items[i].value);
}

/* What a new item of a container is called. */
void golden_name_items(Golden *g, State *s, const Box *box) {
    for (int i = 0; box->name != NULL && i < box->count; i++) {
        Thing t = box->items[i].value;
        if (t.kind == T_POINTER && s->pointers[t.id].name == NULL)
            s->pointers[t.id].name = golden_item_name(g, box->name, box->items[i].key);
    }
}
