/* Notes at the prompt. During a statement the writes and large broadcasts are recorded through the core's hooks; after
 * it, what other names see, and what was written in vain, becomes one line on stderr. */
#include "notes.h"

#include <stdio.h>
#include <string.h>

#include "lang/modules/builtin.h"
#include "core/iter.h"
#include "core/view.h"
#include "show/inspect.h"
#include "lang/modules/namespace.h"
#include "show/trace.h"
#include "repl/shell.h"
#include "lang/types/str.h"
#include "lang/vm/vm.h"
#include "torch/holders.h"
#include "show/screen.h"

enum { NAME_ROOM = 128, MAX_NAMES = 4, MAX_TENSORS = 64, LAST_WRITES = 32 };

static enum { NOTES_AT_PROMPT, NOTES_ON, NOTES_OFF } mode;
static bool speaking;

/* A write not yet spoken of. */
typedef struct Noted {
    TsrTensor *t;      /* a weak link */
    int64_t serial;    /* of its storage */
    const char *what;  /* the operator */
    const char *maker; /* the operator that made the tensor, or the one that it is a view of; NULL: unknown */
} Noted;
static Noted pending[LAST_WRITES]; /* the last ones of the statement */
static int64_t pending_count;
static int pending_line; /* of the last */

static bool enabled(void) { return mode == NOTES_ON || (mode == NOTES_AT_PROMPT && screen_here); }

static void note(const char *text) {
    bool coloured = shell_options != NULL && shell_options->colour;
    fflush(builtin_stdout());
    fprintf(stderr, "%snote: %s%s\n", coloured ? "\033[2m" : "", text, coloured ? "\033[0m" : "");
}

static void note_blow_up(const TsrTensor *result, int64_t largest) {
    char text[256];
    if (!enabled() || speaking) return;
    snprintf(text, sizeof text, "this broadcast to %s makes %lld bytes of operands of at most %lld: %lld times",
             tsr_layout_text(tsr_ndim(result), result->sizes),
             (long long)(result->numel * (int64_t)tsr_itemsize(result)), (long long)largest,
             (long long)(result->numel * (int64_t)tsr_itemsize(result) / largest));
    note(text);
}

/* ---- who reaches what was written ---- */

/* The tensors with a name that have an element in common with a write. */
typedef struct Reach {
    const Noted *write;
    TsrText names;
    const TsrTensor *tensors[MAX_TENSORS]; /* found already */
    int count;
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

/* b = a: another name of the very tensor that was written. Only plain names: what a list holds is expected to change
 * with it. */
static bool add_alias(Reach *r, const char *path, const TsrTensor *t) {
    if (t != r->write->t || r->through == NULL || strpbrk(path, ".[<") != NULL) return true;
    if (r->aliases++ >= MAX_NAMES) return true;
    return tsr_text_printf(&r->names, "%s%s", r->names.length > 0 ? ", " : "", path) == TSR_OK;
}

static void note_repeats(Reach *r, const char *path, const TsrTensor *t) {
    int64_t n = 1;
    for (int d = 0; d < tsr_ndim(t); d++)
        if (t->strides[d] == 0) n *= t->sizes[d];
    if (n <= 1 || r->repeats > 0) return;
    r->repeats = n;
    snprintf(r->repeated, sizeof r->repeated, "%s", path);
}

static bool add_reach(const char *path, TsrTensor *t, bool argument, void *context) {
    Reach *r = context;
    bool nameless = path[0] == '<' || strcmp(path, "_") == 0;
    if (argument || nameless || t->storage == NULL || t->storage->serial != r->write->serial) return true;
    if (found(r, t)) return add_alias(r, path, t);
    if (!inspect_overlaps(t, r->write->t)) return true;
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
    static const char *const makers[] = {"index",   "index_select", "masked_select", "gather",     "take",
                                         "reshape", "flatten",      "ravel",         "contiguous", NULL};
    for (int i = 0; w->maker != NULL && makers[i] != NULL; i++)
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
        snprintf(text, sizeof text, "%s%s see%s this write to %s: the same memory", r->names.data, rest,
                 others == 1 ? "s" : "", r->through);
    else
        snprintf(text, sizeof text, "%s%s %s see this write: the same memory", r->names.data, rest,
                 others == 2 ? "both" : "all");
    note(text);
}

static int note_write(const Noted *w, int said) {
    Reach r = {.write = w};
    char text[600];
    if (holders_each(add_reach, &r) != TSR_OK) tsr_error_clear();
    if (r.count == 0 && made_by_copying(w) && !(said & SAID_LOST)) {
        bool indexed = strcmp(w->maker, "index") == 0;
        snprintf(text, sizeof text, "%s wrote into a copy that nothing holds (%s had to copy): the write is lost; %s",
                 w->what, w->maker,
                 indexed ? "one pair of brackets on the left of = writes: x[mask] = 1"
                         : "give the copy a name, or write to the tensor before it is copied");
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

static void note_writes(void) {
    int said = 0;
    speaking = true;
    for (int64_t i = TSR_MAX(0, pending_count - LAST_WRITES); i < pending_count; i++) {
        Noted *w = &pending[i % LAST_WRITES];
        if (enabled()) said = note_write(w, said);
        tsr_tensor_weak_free(w->t);
        w->t = NULL;
    }
    pending_count = 0;
    speaking = false;
}

static void written(const Write *w) {
    if (speaking || !enabled()) return;
    if (!screen_here && w->line != pending_line)
        note_writes(); /* in a script, what a line wrote is complete when another line writes */
    pending_line = w->line;
    Noted *n = &pending[pending_count++ % LAST_WRITES];
    tsr_tensor_weak_free(n->t);
    *n = (Noted){tsr_tensor_weak_new(w->t), w->t->storage->serial, w->what, (w->root != NULL ? w->root : w->t)->origin};
}

/* ---- on and off ---- */

static TsrStatus set_notes(Value *out, const CallArgs *args) {
    static const char *const states[] = {"on", "off"};
    *out = VALUE_NONE;
    for (int i = 0; i < 2; i++) {
        if (!value_is_str(args->values[0]) || !str_equal_c(value_as_str(args->values[0]), states[i])) continue;
        mode = i == 0 ? NOTES_ON : NOTES_OFF;
        return TSR_OK;
    }
    return tsr_error(TSR_VALUE_ERROR, "notes() takes 'on' or 'off'");
}

static const Method functions[] = {
    {"notes", set_notes, ARGS_ONE, 1, 1, "(state)",
     "Notes on stderr about surprising writes and broadcasts: 'on' or 'off'."},
    {0},
};

TsrStatus notes_startup(void) {
    shell_after_statement = note_writes;
    see_written = written;
    tsr_blow_up_hook = note_blow_up;
    return namespace_add_functions("tsr", functions, true);
}

void notes_shutdown(void) {
    note_writes();
    see_written = NULL;
    tsr_blow_up_hook = NULL;
}
