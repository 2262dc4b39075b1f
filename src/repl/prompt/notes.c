/* Notes at the prompt. During a statement the writes and large broadcasts are recorded through the core's hooks; after
 * it, what other names see, and what was written in vain, becomes one line on stderr. */
#include "notes.h"

#include <ctype.h>
#include <stdio.h>
#include <string.h>

#include "lang/modules/builtin.h"
#include "pointers.h"
#include "core/iter.h"
#include "core/op.h"
#include "core/view.h"
#include "show/facts/inspect.h"
#include "systems/caffe2.h"
#include "lang/modules/namespace.h"
#include "show/watch/versions.h"
#include "repl/shell.h"
#include "lang/types/str.h"
#include "lang/vm/vm.h"
#include "torch/holders.h"
#include "show/help/screen.h"

enum { NAME_ROOM = 128, MAX_NAMES = 4, MAX_TENSORS = 64, LAST_WRITES = 32, CODE_ROOM = 64, MAX_PAIRS = 64 };
enum { BLOW_UP = 8, BLOW_UP_BYTES = 1 << 20 }; /* a result worth a note: so many times its largest operand */

static enum { NOTES_AT_PROMPT, NOTES_ON, NOTES_OFF } mode;
static bool speaking;

/* A write not yet spoken of. */
typedef struct Noted {
    TsrTensor *t;         /* a weak link */
    int64_t serial;       /* of its storage */
    int64_t element;      /* as in Write */
    const char *what;     /* the operator */
    const char *maker;    /* the operator that made the tensor, or the one that it is a view of; NULL: unknown */
    bool used;            /* the expression that wrote goes on with what it wrote: x[mask].mul_(2).sum() */
    char code[CODE_ROOM]; /* how the expression begins that wrote */
} Noted;
static Noted pending[LAST_WRITES]; /* the last ones of the statement */
static int64_t pending_count;
static int pending_line; /* of the last */

static bool enabled(void) { return mode == NOTES_ON || (mode == NOTES_AT_PROMPT && screen_here); }

static void note(const char *text) {
    TsrText line = {0};
    fflush(builtin_stdout());
    if (tsr_text_printf(&line, "note: %s", text) == TSR_OK)
        screen_note(&line, (int)strlen("note: "), shell_options != NULL && shell_options->colour);
    else tsr_error_clear();
    tsr_text_free(&line);
    pointers_look(text);
}

/* ---- broadcasts ---- */

static uint64_t pairs_said[MAX_PAIRS]; /* those spoken of: a loop is not told over and over */
static int pairs_count;

static uint64_t hash_text(uint64_t hash, const char *text) {
    for (; *text != '\0'; text++) hash = (hash ^ (unsigned char)*text) * 1099511628211u;
    return hash;
}

/* Whether these two were not spoken of before, in this or other code; they are now. */
static bool is_first_time(const char *column, const char *row, const char *code) {
    bool named = column[0] != '\0' && row[0] != '\0';
    uint64_t hash = hash_text(hash_text(14695981039346656037u, column), row);
    if (!named) hash = hash_text(hash, code);
    for (int i = 0; i < TSR_MIN(pairs_count, MAX_PAIRS); i++)
        if (pairs_said[i] == hash) return false;
    pairs_said[pairs_count++ % MAX_PAIRS] = hash;
    return true;
}

/* The name as the code has it, which leaves out the function that it is local to; "" when the code has it not. */
static const char *name_in_code(const char *name, const char *code) {
    if (name[0] == '\0' || strstr(code, name) != NULL) return name;
    const char *local = strchr(name, '.');
    return local != NULL && strstr(code, local + 1) != NULL ? local + 1 : "";
}

/* Whether a is b's elements with one dimension of size 1 more, the last: a column against a row. */
static bool is_column_of(const TsrTensor *a, const TsrTensor *b) {
    int n = tsr_ndim(b);
    return n > 0 && tsr_ndim(a) == n + 1 && a->sizes[n] == 1 && b->sizes[n - 1] > 1 &&
           memcmp(a->sizes, b->sizes, sizeof(int64_t) * (size_t)n) == 0;
}

/* Whether somebody asked for the column where it is used: x[:, None] - y. */
static bool is_made_here(const TsrTensor *t, const char *name) { return name[0] == '\0' && t->base != NULL; }

/* A row against a column of the same length, which a missing squeeze makes of predictions and targets. */
static bool note_pairs(const TsrTensor *result, const TsrTensor *column, const TsrTensor *row) {
    char code[CODE_ROOM], text[1000], names[2][NAME_ROOM];
    if (!is_column_of(column, row)) return false;
    holders_name(names[0], NAME_ROOM, (TsrTensor *)(uintptr_t)column);
    holders_name(names[1], NAME_ROOM, (TsrTensor *)(uintptr_t)row);
    if (is_made_here(column, names[0]) || is_made_here(row, names[1]) || (names[0][0] == '\0' && names[1][0] == '\0'))
        return false;
    if (!is_first_time(names[0], names[1], vm_current_text(code, sizeof code))) return true;
    const char *first = name_in_code(names[0], code), *second = name_in_code(names[1], code);
    snprintf(text, sizeof text,
             "%s is a column, %s, and %s a row, %s: this gives every pair, %s; element by element: %s.squeeze(-1)",
             first[0] != '\0' ? first : "the one", tsr_layout_text(tsr_ndim(column), column->sizes),
             second[0] != '\0' ? second : "the other", tsr_layout_text(tsr_ndim(row), row->sizes),
             tsr_layout_text(tsr_ndim(result), result->sizes), first[0] != '\0' ? first : "x");
    note(text);
    return true;
}

static void note_broadcast(const TsrTensor *result, const TsrTensor *const *in, int count) {
    int64_t largest = 0, bytes = result->numel * (int64_t)tsr_itemsize(result);
    char text[256];
    if (!enabled() || speaking) return;
    speaking = true;
    bool pairs = count == 2 && (note_pairs(result, in[0], in[1]) || note_pairs(result, in[1], in[0]));
    speaking = false;
    for (int i = 0; i < count; i++) largest = TSR_MAX(largest, in[i]->numel * (int64_t)tsr_itemsize(in[i]));
    if (pairs || largest == 0 || bytes < BLOW_UP_BYTES || bytes / BLOW_UP < largest) return;
    snprintf(text, sizeof text, "this broadcast to %s makes %lld bytes of operands of at most %lld: %lld times",
             tsr_layout_text(tsr_ndim(result), result->sizes), (long long)bytes, (long long)largest,
             (long long)(bytes / largest));
    note(text);
}

/* ---- who reaches what was written ---- */

/* The tensors with a name that have an element in common with a write. */
typedef struct Reach {
    const Noted *write;
    TsrText names;
    const TsrTensor *tensors[MAX_TENSORS]; /* found already */
    int count;
    bool unsure;         /* of one of them it depends on which elements were written */
    int aliases;         /* further names of the written tensor itself: b after b = a */
    const char *through; /* the written tensor's own name, when it has one */
    char through_name[NAME_ROOM];
    int64_t repeats; /* of the first with a stride of 0: the indices that are one element */
    char repeated[NAME_ROOM];
} Reach;

static bool found(const Reach *r, const TsrTensor *t) {
    for (int i = 0; i < r->count; i++)
        if (r->tensors[i] == t) return true;
    return false;
}

/* Whether the code that wrote names it first. */
static bool begins_code(const Reach *r, const char *path) {
    size_t n = strlen(path);
    const char *code = r->write->code;
    return strncmp(code, path, n) == 0 && !isalnum((unsigned char)code[n]) && code[n] != '_';
}

/* b = a: another name of the very tensor that was written. Only plain names: what a list holds is expected to change
 * with it. The one that the code has is the one written through. */
static bool add_alias(Reach *r, const char *path, const TsrTensor *t) {
    if (t != r->write->t || r->through == NULL || strpbrk(path, ".[<") != NULL) return true;
    if (r->aliases++ >= MAX_NAMES) return true;
    bool here = begins_code(r, path) && !begins_code(r, r->through);
    const char *other = here ? r->through : path;
    if (tsr_text_printf(&r->names, "%s%s", r->names.length > 0 ? ", " : "", other) != TSR_OK) return false;
    if (here) snprintf(r->through_name, sizeof r->through_name, "%s", path);
    return true;
}

static void note_repeats(Reach *r, const char *path, const TsrTensor *t) {
    int64_t n = 1;
    for (int d = 0; d < tsr_ndim(t); d++)
        if (t->strides[d] == 0) n *= t->sizes[d];
    if (n <= 1 || r->repeats > 0) return;
    r->repeats = n;
    snprintf(r->repeated, sizeof r->repeated, "%s", path);
}

/* Whether a tensor has an element in common with what was written. */
static bool reaches(const TsrTensor *t, const Noted *w) {
    bool known = true;
    if (w->element < 0 || t->numel == 0) return inspect_overlaps(t, w->t);
    TsrFootprint one = {{.offset = w->element}, (int64_t)tsr_itemsize(w->t)}, all = tsr_tensor_footprint(t);
    return tsr_layout_overlap(&all, &one, NULL, NULL, &known) || !known;
}

/* Whether a tensor surely has all elements of another over the same storage. */
static bool covers(const TsrTensor *t, const TsrTensor *other) {
    int64_t size = (int64_t)tsr_itemsize(t), last = other->offset;
    for (int d = 0; d < tsr_ndim(other); d++) last += (other->sizes[d] - 1) * other->strides[d];
    int64_t begin = other->offset * (int64_t)tsr_itemsize(other), end = (last + 1) * (int64_t)tsr_itemsize(other);
    return tsr_is_dense(t) && t->offset * size <= begin && (t->offset + t->numel) * size >= end;
}

static bool add_reach(const char *path, TsrTensor *t, bool argument, void *context) {
    Reach *r = context;
    bool nameless = path[0] == '<' || strcmp(path, "_") == 0;
    if (argument || nameless || t->storage == NULL || t->storage->serial != r->write->serial) return true;
    if (found(r, t)) return add_alias(r, path, t);
    if (!reaches(t, r->write)) return true;
    if (t != r->write->t && writes_at_places(r->write->what)) r->unsure |= !covers(t, r->write->t);
    note_repeats(r, path, t);
    if (r->count < MAX_TENSORS) r->tensors[r->count] = t;
    if (t == r->write->t) {
        snprintf(r->through_name, sizeof r->through_name, "%s", path);
        r->through = r->through_name;
    } else if (r->count < MAX_NAMES) {
        if (tsr_text_printf(&r->names, "%s%s", r->names.length > 0 ? ", " : "", path) != TSR_OK) return false;
    }
    r->count++;
    return r->count < MAX_TENSORS;
}

static bool made_by_copying(const Noted *w) {
    static const char *const makers[] = {"index",   "index_select", "masked_select", "gather", "take",    "reshape",
                                         "flatten", "ravel",        "contiguous",    "to",     "type_as", "float",
                                         "double",  "half",         "bfloat16",      "long",   "int",     "short",
                                         "char",    "byte",         "bool"};
    for (size_t i = 0; w->maker != NULL && i < TSR_COUNTOF(makers); i++)
        if (strcmp(w->maker, makers[i]) == 0) return true;
    return false;
}

/* ---- the three notes on writes, each at most once a statement ---- */

enum { SAID_LOST = 1, SAID_REPEATED = 2, SAID_SEEN = 4 };

static void note_seen(const Reach *r) {
    char text[600];
    int others = r->count + r->aliases - (r->through != NULL), more = others - MAX_NAMES;
    char rest[32] = "";
    if (more > 0) snprintf(rest, sizeof rest, " and %d more", more);
    if (r->through != NULL)
        snprintf(text, sizeof text, "%s%s %ssee%s this write to %s: the same memory", r->names.data, rest,
                 r->unsure ? "may " : "", others == 1 && !r->unsure ? "s" : "", r->through);
    else
        snprintf(text, sizeof text, "%s%s %s%s see this write: the same memory", r->names.data, rest,
                 r->unsure ? "may " : "", others == 2 ? "both" : "all");
    note(text);
}

/* How such a write is written so that it reaches the tensor. */
static const char *way_to_write(const Noted *w) {
    static const struct {
        const char *what, *way;
    } ways[] = {{"add_", "x[mask] += 1"}, {"sub_", "x[mask] -= 1"}, {"mul_", "x[mask] *= 2"}, {"div_", "x[mask] /= 2"}};
    if (strcmp(w->maker, "index") != 0) return "give the copy a name, or write to the tensor before it is copied";
    for (size_t i = 0; i < TSR_COUNTOF(ways); i++)
        if (strcmp(w->what, ways[i].what) == 0) return ways[i].way;
    return "x[mask] = 1";
}

/* x[mask] += 1 writes into a copy, and then the copy into x[mask]. */
static bool is_written_back(const Noted *w, int64_t place) {
    for (int64_t i = place + 1; i < pending_count; i++) {
        const Noted *later = &pending[i % LAST_WRITES];
        size_t n = TSR_MIN(strlen(later->code), strlen(w->code));
        if (later->serial != w->serial && n > 0 && strncmp(later->code, w->code, n) == 0) return true;
    }
    return false;
}

/* `place`: its own among the pending ones. */
static int note_write(const Noted *w, int64_t place, int said) {
    Reach r = {.write = w};
    char text[600];
    if (holders_each(add_reach, &r) != TSR_OK) tsr_error_clear();
    if (r.count == 0 && made_by_copying(w) && !w->used && !(said & SAID_LOST) && !is_written_back(w, place)) {
        snprintf(text, sizeof text, "%s wrote into a copy that nothing holds (%s had to copy): the write is lost; %s%s",
                 w->what, w->maker, strcmp(w->maker, "index") == 0 ? "one pair of brackets on the left writes: " : "",
                 way_to_write(w));
        note(text);
        said |= SAID_LOST;
    }
    if (r.repeats > 1 && !(said & SAID_REPEATED)) {
        snprintf(text, sizeof text, "%s has a stride of 0: one element written is seen at %lld of its indices",
                 r.repeated, (long long)r.repeats);
        note(text);
        said |= SAID_REPEATED;
    }
    if (r.count + r.aliases >= 2 && r.names.length > 0 && !(said & SAID_SEEN)) {
        note_seen(&r);
        said |= SAID_SEEN;
    }
    tsr_text_free(&r.names);
    return said;
}

/* ---- metadata that both wrappers share ---- */

static bool add_holder(const char *path, TsrTensor *t, bool argument, void *context) {
    Reach *r = context;
    if (argument || path[0] == '<' || strcmp(path, "_") == 0 || t != r->tensors[0]) return true;
    if (r->count++ >= MAX_NAMES) return true;
    return tsr_text_printf(&r->names, "%s%s", r->names.length > 0 ? ", " : "", path) == TSR_OK;
}

static void note_changed(TsrTensor *t) {
    Reach r = {.tensors = {t}};
    char text[400];
    if (holders_each(add_holder, &r) != TSR_OK) tsr_error_clear();
    if (r.count > 1) {
        snprintf(text, sizeof text,
                 "%s are wrappers of one tensor, whose metadata changed for all of them: %s %s now; Alias() gives a "
                 "wrapper with metadata of its own",
                 r.names.data, tsr_layout_text(tsr_ndim(t), t->sizes), tsr_dtype_name(t->dtype));
        note(text);
    }
    tsr_text_free(&r.names);
}

static void note_writes(void) {
    int said = 0;
    speaking = true;
    if (enabled()) caffe2_each_changed(note_changed);
    for (int64_t i = TSR_MAX(0, pending_count - LAST_WRITES); i < pending_count; i++) {
        Noted *w = &pending[i % LAST_WRITES];
        if (enabled()) said = note_write(w, i, said);
        tsr_tensor_weak_free(w->t);
        w->t = NULL;
    }
    pending_count = 0;
    speaking = false;
}

/* t_, resize_ and their like count as writes, as PyTorch has it, and write no element. */
static bool writes_no_element(const char *what) {
    const TsrOpSet *set = tsr_op_find(what);
    if (set == NULL) return false;
    return set->ops[0]->alias == TSR_IN_PLACE && (set->ops[0]->flags & TSR_OP_UNCHECKED) != 0;
}

static void written(const Write *w) {
    if (speaking || !enabled() || writes_no_element(w->what)) return;
    if (!screen_here && w->line != pending_line)
        note_writes(); /* in a script, what a line wrote is complete when another line writes */
    pending_line = w->line;
    const Noted *before = pending_count > 0 ? &pending[(pending_count - 1) % LAST_WRITES] : NULL;
    Noted *n = &pending[pending_count++ % LAST_WRITES];
    tsr_tensor_weak_free(n->t);
    n->t = tsr_tensor_weak_new(w->t);
    n->serial = w->t->storage->serial;
    n->element = w->element;
    n->what = w->what;
    n->maker = (w->root != NULL ? w->root : w->t)->origin;
    n->used = vm_current_is_used();
    bool again = before != NULL && before->serial == n->serial && before->what == n->what;
    if (again) memmove(n->code, before->code, sizeof n->code); /* a loop's writes are not looked up one by one */
    else vm_current_text(n->code, sizeof n->code);
}

/* ---- on and off ---- */

static TsrStatus set_notes(Value *out, const CallArgs *args) {
    static const char *const states[] = {"on", "off"};
    *out = VALUE_NONE;
    for (int i = 0; i < 2; i++) {
        if (!value_is_str(args->values[0]) || !str_equal_c(value_as_str(args->values[0]), states[i])) continue;
        mode = i == 0 ? NOTES_ON : NOTES_OFF;
        caffe2_each_changed(NULL);
        return TSR_OK;
    }
    return tsr_error(TSR_VALUE_ERROR, "notes() takes 'on' or 'off'");
}

static const Method functions[] = {
    {"notes", set_notes, ARGS_ONE, 1, 1, "(state)",
     "Notes on stderr about surprising writes and broadcasts: 'on' or 'off'."},
    {0},
};

static void after_statement(void) {
    note_writes();
    const Value *shown = globals_last();
    if (mode != NOTES_OFF && shown != NULL) pointers_look_at_shown(*shown);
}

TsrStatus notes_startup(void) {
    shell_after_statement = after_statement;
    see_written = written;
    tsr_broadcast_hook = note_broadcast;
    return namespace_add_functions("tsr", functions, true);
}

void notes_shutdown(void) {
    note_writes();
    see_written = NULL;
    tsr_broadcast_hook = NULL;
}
