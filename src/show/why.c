/* why(x): what keeps a tensor's memory alive. The holders of the storage are collected, those that a single `del`
 * would end are told from the others, and the answer lists what to delete, or why deleting names would not suffice. */
#include "why.h"

#include <inttypes.h>
#include <string.h>

#include "show/facts/card.h"
#include "core/tensor.h"
#include "lang/modules/namespace.h"
#include "lang/types/sequences.h"
#include "lang/types/str.h"
#include "lang/vm/vm.h"
#include "torch/holders.h"
#include "torch/tensor/storage.h"

/* ---- what would end the references ---- */

/* What ends a reference that no del ends; leaves `out` empty where a del does. */
static TsrStatus append_other_ending(TsrText *out, const WhoPath *at) {
    const char *path = at->path;
    if (at->function != NULL) return tsr_text_printf(out, "the return of %s", at->function);
    if (strncmp(path, "TH#", 3) == 0)
        return tsr_text_printf(out, "TH.free of #%.*s", (int)strcspn(path + 3, " "), path + 3);
    if (strncmp(path, "workspace.", 10) == 0) return tsr_text_puts(out, "workspace.ResetWorkspace()");
    if (path[0] == '<')
        return tsr_text_printf(out, "the end of the %s", strcmp(path, "<iterator>") == 0 ? "loop" : "expression");
    return TSR_OK;
}

/* Where the last index of a path begins, its length when it ends in none; keys may have brackets of their own. */
static size_t last_index(const char *path, size_t length) {
    size_t begin = length;
    int depth = 0;
    char quote = '\0';
    if (length == 0 || path[length - 1] != ']') return length;
    for (size_t i = 0; i < length; i++) {
        char c = path[i];
        if (quote != '\0') {
            if (c == '\\') i++;
            else if (c == quote) quote = '\0';
        } else if (c == '"' || c == '\'') {
            quote = c;
        } else if (c == '[' && depth++ == 0) {
            begin = i;
        } else if (c == ']') {
            depth--;
        }
    }
    return begin;
}

/* What stands at the beginning of a path; VALUE_UNBOUND: nothing that can be reached so. *out is the caller's. */
static void value_at(Value *out, const char *path, size_t length) {
    Value exception;
    TsrStatus status = vm_run_text_here(out, path, length, "<why>");
    if (status == TSR_OK) return;
    *out = VALUE_UNBOUND;
    if (vm_take_error(&exception, status)) value_release(exception);
    tsr_error_clear();
}

/* Whether no item of it can be deleted: a tuple's, a nested tensor's. */
static bool keeps_items(const char *path, size_t length) {
    Value v;
    value_at(&v, path, length);
    bool keeps = v.tag == V_TENSOR || value_is_a(v, &tuple_type);
    value_release(v);
    return keeps;
}

static bool is_generator(const char *path, size_t length) {
    Value v;
    value_at(&v, path, length);
    bool generator = value_is_obj(v, &generator_type);
    value_release(v);
    return generator;
}

/* Where the generator ends whose local a path leads to; its length when there is none. */
static size_t before_local(const char *path, size_t length) {
    for (size_t i = 1; i < length && path[0] != '<'; i++)
        if (path[i] == '.' && is_generator(path, i)) return i;
    return length;
}

/* How much of a path a del can be given: of what a closure, an iterator, a generator, a tuple, a nested or a sparse
 * tensor holds, that. */
static size_t deletable(const char *path) {
    static const char *const insides[] = {".<", ".__", ".indices()", ".values()"};
    size_t length = strlen(path);
    for (size_t i = 0; i < TSR_COUNTOF(insides); i++) {
        const char *at = strstr(path, insides[i]);
        if (at != NULL) length = TSR_MIN(length, (size_t)(at - path));
    }
    length = before_local(path, length);
    for (size_t begin; (begin = last_index(path, length)) < length && keeps_items(path, begin);) length = begin;
    return length;
}

/* Whether `whole` is the same place as `part`, or one that it lies in. */
static bool covers(const char *whole, const char *part) {
    size_t n = strlen(whole);
    return strncmp(whole, part, n) == 0 && (part[n] == '\0' || part[n] == '[' || part[n] == '.');
}

static const char *text_at(const List *list, int64_t i) { return value_as_str(list->items[i])->data; }

static bool is_covered(const List *places, int64_t i) {
    for (int64_t j = 0; j < places->count; j++)
        if (j != i && covers(text_at(places, j), text_at(places, i)) &&
            (j < i || strcmp(text_at(places, i), text_at(places, j)) != 0))
            return true;
    return false;
}

static TsrStatus append_text(List *list, const char *text, size_t length) {
    Value v;
    TSR_TRY(str_new(&v, text, (int64_t)length));
    return list_append_move(list, v);
}

/* One statement that works as it stands: names first, then items, of a list the last one first, since those behind one
 * move up. */
static TsrStatus append_dels(List *endings, const List *places) {
    const char *before = "del ";
    for (int items = 0; items < 2; items++) {
        for (int64_t k = 0; k < places->count; k++) {
            int64_t i = items ? places->count - 1 - k : k;
            if ((strchr(text_at(places, i), '[') != NULL) != (items == 1) || is_covered(places, i)) continue;
            TsrText one = {0};
            TsrStatus status = tsr_text_printf(&one, "%s%s", before, text_at(places, i));
            if (status == TSR_OK) status = append_text(endings, one.data, one.length);
            tsr_text_free(&one);
            TSR_TRY(status);
            before = ", ";
        }
    }
    return TSR_OK;
}

/* Every way to what is asked for, told apart by what ends it. */
typedef struct Ways {
    const TsrTensor *t; /* NULL: a shell */
    const void *shell;
    List *paths;  /* to places that a del empties */
    List *others; /* what else has to end */
    TsrStatus status;
} Ways;

static bool has_text(const List *list, const char *text) {
    for (int64_t i = 0; i < list->count; i++)
        if (strcmp(text_at(list, i), text) == 0) return true;
    return false;
}

enum { MAX_WAYS = 1000 };

static bool add_way(const WhoPath *path, void *context) {
    Ways *w = context;
    TsrText ending = {0};
    if (path->t != w->t || path->shell != w->shell || path->argument) return true;
    w->status = append_other_ending(&ending, path);
    if (w->status == TSR_OK && ending.length == 0) w->status = append_text(w->paths, path->path, strlen(path->path));
    else if (w->status == TSR_OK && (strncmp(path->path, "TH#", 3) == 0 || !has_text(w->others, ending.data)))
        w->status = append_text(w->others, ending.data, ending.length); /* each raw reference wants a free of its own */
    tsr_text_free(&ending);
    return w->status == TSR_OK && w->paths->count + w->others->count < MAX_WAYS;
}

static TsrStatus append_others(List *endings, const List *others) {
    for (int64_t i = 0; i < others->count; i++) {
        TsrText one = {0};
        TsrStatus status = tsr_text_printf(&one, "%s%s", endings->count > 0 ? "; " : "", text_at(others, i));
        if (status == TSR_OK) status = append_text(endings, one.data, one.length);
        tsr_text_free(&one);
        TSR_TRY(status);
    }
    return TSR_OK;
}

static TsrStatus find_places(List *places, const List *paths) {
    for (int64_t i = 0; i < paths->count; i++)
        TSR_TRY(append_text(places, text_at(paths, i), deletable(text_at(paths, i))));
    return TSR_OK;
}

static TsrStatus append_list(TsrText *out, const List *endings) {
    size_t start = out->length;
    for (int64_t i = 0; i < endings->count; i++) {
        bool room;
        TSR_TRY(card_has_room(&room, out, start, endings->count - i));
        if (!room) break;
        TSR_TRY(tsr_text_puts(out, text_at(endings, i)));
    }
    return TSR_OK;
}

/* "del x, pair[0]; TH.free of #2". The paths are all found before one is looked at, which runs code. */
static TsrStatus append_endings(TsrText *out, const TsrTensor *t, const void *shell) {
    Value lists[4] = {VALUE_NONE, VALUE_NONE, VALUE_NONE, VALUE_NONE};
    TsrStatus status = TSR_OK;
    for (int i = 0; i < 4 && status == TSR_OK; i++) status = list_new(&lists[i], 0);
    if (status == TSR_OK) {
        List *places = value_as_list(lists[2]), *endings = value_as_list(lists[3]);
        Ways ways = {.t = t, .shell = shell, .paths = value_as_list(lists[0]), .others = value_as_list(lists[1])};
        status = holders_each_path(add_way, &ways);
        if (status == TSR_OK) status = ways.status;
        if (status == TSR_OK) status = find_places(places, ways.paths);
        if (status == TSR_OK) status = append_dels(endings, places);
        if (status == TSR_OK) status = append_others(endings, ways.others);
        if (status == TSR_OK) status = append_list(out, endings);
    }
    for (int i = 0; i < 4; i++) value_release(lists[i]);
    return status;
}

/* ---- the text ---- */

/* A small view that nothing but itself keeps large memory for. */
static TsrStatus why_so_large(TsrText *text, const TsrTensor *t, int64_t others) {
    int64_t reached = t->numel * (int64_t)tsr_itemsize(t);
    if (others > 0 || t->storage->nbytes < 1024 || (size_t)reached * 2 >= t->storage->nbytes) return TSR_OK;
    return tsr_text_printf(
        text,
        "\nit reaches %lld of those bytes, and keeps them all alive: a clone() in its place would let the rest go",
        (long long)reached);
}

/* "a, b" behind `words`, when there are any. */
static TsrStatus append_names(TsrText *text, const char *words, Value names) {
    if (value_as_list(names)->count == 0) return TSR_OK;
    TSR_TRY(tsr_text_puts(text, words));
    return card_append_cell(text, names);
}

/* Memory that no allocator made: whose it is. */
static TsrStatus why_foreign(TsrText *text, const TsrStorage *s) {
    if (s->origin == NULL) return TSR_OK;
    if (s->path != NULL)
        return tsr_text_printf(text, "\nits memory is a mapping of the file %s, which the storage keeps", s->path);
    if (strcmp(s->origin, "borrowed") == 0)
        return tsr_text_puts(
            text, "\nits memory is borrowed from a bytes or bytearray object, which the storage keeps alive");
    if (strcmp(s->origin, "shared") == 0) return tsr_text_puts(text, "\nits memory is shared between processes");
    return TSR_OK;
}

/* "storage #1 (8 bytes) is held by 1 tensor" */
static TsrStatus why_counts(TsrText *text, const TsrStorage *s, int64_t kept) {
    int64_t tensors = tsr_storage_refcount(s) - kept;
    return tsr_text_printf(text, "storage #%lld (%" PRIu64 " bytes) is held by %lld tensor%s",
                           (long long)tsr_storage_id((TsrStorage *)(uintptr_t)s), s->nbytes, (long long)tensors,
                           tensors == 1 ? "" : "s");
}

static TsrStatus why_storage(TsrText *text, const TsrTensor *t, Value views, Value keepers) {
    int64_t kept = value_as_list(keepers)->count;
    TSR_TRY(tsr_text_puts(text, "\nits "));
    TSR_TRY(why_counts(text, t->storage, kept));
    TSR_TRY(append_names(text, ", also by ", views));
    TSR_TRY(append_names(text, ", and as a storage by ", keepers));
    TSR_TRY(why_foreign(text, t->storage));
    return why_so_large(text, t, value_as_list(views)->count + kept);
}

static TsrStatus why_end(TsrText *text, const TsrTensor *t, Value holders, Value views, Value keepers) {
    int64_t nviews = value_as_list(views)->count, others = nviews + value_as_list(keepers)->count;
    if (value_as_list(holders)->count == 0) {
        TSR_TRY(tsr_text_puts(text, "\nit is freed when the expression ends"));
    } else {
        TSR_TRY(tsr_text_puts(text, "\nto free it: "));
        TSR_TRY(append_endings(text, t, NULL));
    }
    if (others == 0) return TSR_OK;
    TSR_TRY(append_names(text, "; the memory stays until ", views));
    TSR_TRY(append_names(text, nviews > 0 ? ", " : "; the memory stays until ", keepers));
    return tsr_text_puts(text, others == 1 ? " goes too" : " go too");
}

/* "2 references: a, pair[0]" */
static TsrStatus why_holders(TsrText *text, Value holders) {
    int64_t count = value_as_list(holders)->count;
    if (count == 0) return tsr_text_puts(text, "nothing but this expression holds it");
    TSR_TRY(tsr_text_printf(text, "%lld reference%s: ", (long long)count, count == 1 ? "" : "s"));
    return card_append_cell(text, holders);
}

static TsrStatus why_text(TsrText *text, TsrTensor *t) {
    Value holders, views = VALUE_NONE, keepers = VALUE_NONE;
    TSR_TRY(holders_list(&holders, t));
    TsrStatus status = holders_names_over(&views, t->storage, t);
    if (status == TSR_OK) status = holders_keepers(&keepers, t->storage);
    if (status == TSR_OK) status = why_holders(text, holders);
    if (status == TSR_OK && !tsr_is_defined(t)) {
        status = tsr_text_puts(text, "\nit is the one undefined tensor: it has no memory, and is never freed");
    } else if (status == TSR_OK) {
        if (t->storage != NULL) status = why_storage(text, t, views, keepers);
        if (status == TSR_OK) status = why_end(text, t, holders, views, keepers);
    }
    value_release(holders);
    value_release(views);
    value_release(keepers);
    return status;
}

/* Of a wrapper that has no tensor yet. */
static TsrStatus why_shell(TsrText *text, Value v) {
    Value holders;
    TSR_TRY(holders_list_of_shell(&holders, v));
    TsrStatus status = why_holders(text, holders);
    if (status == TSR_OK) status = tsr_text_puts(text, "\nit has no memory: sizes only\nto free it: ");
    if (status == TSR_OK) status = append_endings(text, NULL, holders_shell(v));
    value_release(holders);
    return status;
}

/* Of a storage by itself. */
static TsrStatus why_of_storage(TsrText *text, const TsrStorage *s) {
    Value views, keepers = VALUE_NONE;
    TSR_TRY(holders_names_over(&views, s, NULL));
    TsrStatus status = holders_keepers(&keepers, s);
    int64_t kept = status == TSR_OK ? value_as_list(keepers)->count : 0;
    if (status == TSR_OK) status = why_counts(text, s, kept);
    if (status == TSR_OK) status = append_names(text, ": ", views);
    if (status == TSR_OK) status = append_names(text, ", and as a storage by ", keepers);
    if (status == TSR_OK) status = why_foreign(text, s);
    value_release(views);
    value_release(keepers);
    return status;
}

static TsrStatus why_value(TsrText *text, Value v) {
    TsrTensor *t;
    if (value_is_storage(v)) return why_of_storage(text, storage_obj_of(v));
    if (holders_shell(v) != NULL) return why_shell(text, v);
    TSR_TRY(holders_tensor(&t, v, "why"));
    return why_text(text, t);
}

static TsrStatus tsr_why_fn(Value *out, const CallArgs *args) {
    TsrText text = {0};
    TsrStatus status = why_value(&text, args->values[0]);
    if (status == TSR_OK) status = str_new_text_move(out, &text);
    tsr_text_free(&text);
    if (status == TSR_OK) note_mark(*out);
    return status;
}

static const Method functions[] = {
    {"why", tsr_why_fn, ARGS_ONE, 1, 1, "(x)",
     "What keeps its memory alive, and what would free it.\n\n"
     "    >>> x = ones(2)\n    >>> why(x)\n    1 reference: x\n    its storage #1 (8 bytes) is held by 1 tensor\n    "
     "to free it: del x"},
    {0},
};

TsrStatus why_startup(void) { return namespace_add_functions("tsr", functions, true); }
