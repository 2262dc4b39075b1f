#include "why.h"

#include <string.h>

#include "card.h"
#include "core/tensor.h"
#include "namespace.h"
#include "seq_obj.h"
#include "str_obj.h"
#include "who.h"

/* What ends a reference, from its path: of what a closure, an iterator or a sparse tensor holds, the end of that. */
static TsrStatus append_ending(TsrText *out, const char *path) {
    static const char *const insides[] = {".<", ".__", ".indices()", ".values()"};
    size_t length = strlen(path);
    if (strncmp(path, "TH#", 3) == 0) return tsr_text_printf(out, "TH.free of #%.*s", (int)strcspn(path + 3, " "), path + 3);
    if (strncmp(path, "workspace.", 10) == 0) return tsr_text_puts(out, "workspace.ResetWorkspace()");
    if (path[0] == '<') return tsr_text_printf(out, "the end of the %s", strcmp(path, "<iterator>") == 0 ? "loop" : "expression");
    for (size_t i = 0; i < TSR_COUNTOF(insides); i++) {
        const char *at = strstr(path, insides[i]);
        if (at != NULL) length = TSR_MIN(length, (size_t)(at - path));
    }
    return tsr_text_printf(out, "del %.*s", (int)length, path);
}

/* "del x, pair[0]; TH.free of #2": what goes by del together, each once. */
static TsrStatus append_endings(TsrText *out, const List *holders) {
    TsrText one = {0}, before = {0};
    TsrStatus status = TSR_OK;
    size_t start = out->length;
    bool room = true;
    for (int64_t i = 0; i < holders->count && status == TSR_OK; i++) {
        tsr_text_free(&one);
        status = card_has_room(&room, out, start, holders->count - i);
        if (!room) break;
        if (status == TSR_OK) status = append_ending(&one, value_as_str(holders->items[i])->data);
        bool del = status == TSR_OK && strncmp(one.data, "del ", 4) == 0, same = before.length > 0 && status == TSR_OK && strcmp(one.data, before.data) == 0;
        bool joins = del && before.length > 0 && strncmp(before.data, "del ", 4) == 0;
        if (status != TSR_OK || same) continue;
        status = tsr_text_printf(out, "%s%s", before.length == 0 ? "" : joins ? ", " : "; ", one.data + (joins ? 4 : 0));
        tsr_text_free(&before);
        if (status == TSR_OK) status = tsr_text_puts(&before, one.data);
    }
    tsr_text_free(&one);
    tsr_text_free(&before);
    return status;
}

/* A small view that nothing but itself keeps large memory for. */
static TsrStatus why_so_large(TsrText *text, const TsrTensor *t, int64_t others) {
    int64_t reached = t->numel * (int64_t)tsr_itemsize(t);
    if (others > 0 || t->storage->nbytes < 1024 || (size_t)reached * 2 >= t->storage->nbytes) return TSR_OK;
    return tsr_text_printf(text, "\nit reaches %lld of those bytes, and keeps them all alive: a clone() in its place would let the rest go", (long long)reached);
}

typedef struct Keepers {
    const TsrStorage *storage;
    List *list;
    TsrStatus status;
} Keepers;

static void add_keeper(const char *path, const TsrStorage *s, void *context) {
    Keepers *k = context;
    Value name;
    if (s != k->storage || k->status != TSR_OK) return;
    k->status = str_new_c(&name, path);
    if (k->status == TSR_OK) k->status = list_append_move(k->list, name);
}

/* A list of who holds the storage itself, not a tensor over it. */
static TsrStatus keepers_new(Value *out, const TsrStorage *storage) {
    Value list;
    TSR_TRY(list_new(&list, 0));
    Keepers k = {.storage = storage, .list = value_as_list(list)};
    TsrStatus status = storage != NULL ? who_each_storage(add_keeper, &k) : TSR_OK;
    if (status == TSR_OK) status = k.status;
    return value_end_move(out, status, list);
}

/* "a, b" behind `words`, when there are any. */
static TsrStatus append_names(TsrText *text, const char *words, Value names) {
    if (value_as_list(names)->count == 0) return TSR_OK;
    TSR_TRY(tsr_text_puts(text, words));
    return card_append_cell(text, names);
}

static TsrStatus why_storage(TsrText *text, const TsrTensor *t, Value views, Value keepers) {
    int64_t kept = value_as_list(keepers)->count, tensors = tsr_storage_refcount(t->storage) - kept;
    TSR_TRY(tsr_text_printf(text, "\nits storage #%lld (%zu bytes) is held by %lld tensor%s", (long long)tsr_storage_id(t->storage), t->storage->nbytes, (long long)tensors, tensors == 1 ? "" : "s"));
    TSR_TRY(append_names(text, ", also by ", views));
    TSR_TRY(append_names(text, ", and as a storage by ", keepers));
    return why_so_large(text, t, value_as_list(views)->count + kept);
}

static TsrStatus why_end(TsrText *text, Value holders, Value views, Value keepers) {
    int64_t nviews = value_as_list(views)->count, others = nviews + value_as_list(keepers)->count;
    if (value_as_list(holders)->count == 0) {
        TSR_TRY(tsr_text_puts(text, "\nit is freed when the expression ends"));
    } else {
        TSR_TRY(tsr_text_puts(text, "\nto free it: "));
        TSR_TRY(append_endings(text, value_as_list(holders)));
    }
    if (others == 0) return TSR_OK;
    TSR_TRY(append_names(text, "; the memory stays until ", views));
    TSR_TRY(append_names(text, nviews > 0 ? ", " : "; the memory stays until ", keepers));
    return tsr_text_puts(text, others == 1 ? " goes too" : " go too");
}

static TsrStatus why_text(TsrText *text, TsrTensor *t) {
    Value holders, views = VALUE_NONE, keepers = VALUE_NONE;
    TSR_TRY(who_holders(&holders, t));
    TsrStatus status = who_names_over(&views, t->storage, t);
    if (status == TSR_OK) status = keepers_new(&keepers, t->storage);
    int64_t count = value_as_list(holders)->count;
    if (status == TSR_OK && count == 0) status = tsr_text_puts(text, "nothing but this expression holds it");
    else if (status == TSR_OK) {
        status = tsr_text_printf(text, "%lld reference%s: ", (long long)count, count == 1 ? "" : "s");
        if (status == TSR_OK) status = card_append_cell(text, holders);
    }
    if (status == TSR_OK && t->storage != NULL) status = why_storage(text, t, views, keepers);
    if (status == TSR_OK) status = why_end(text, holders, views, keepers);
    value_release(holders);
    value_release(views);
    value_release(keepers);
    return status;
}

static TsrStatus tsr_why_fn(Value *out, const CallArgs *args) {
    TsrTensor *t;
    TsrText text = {0};
    TSR_TRY(who_tensor(&t, args->values[0], "why"));
    TsrStatus status = why_text(&text, t);
    if (status == TSR_OK) status = str_new_text_move(out, &text);
    tsr_text_free(&text);
    if (status == TSR_OK) note_mark(*out);
    return status;
}
static const Method functions[] = {
    {"why", tsr_why_fn, ARGS_ONE, 1, 1, "(x)", "What keeps its memory alive, and what would free it."},
    {0},
};

TsrStatus why_startup(void) { return namespace_add_functions("tsr", functions, true); }
