/* The log of counted writes: each storage has its own, of bounded length, which holds weak links to tensors, so that
 * logging keeps nothing alive; the rows of the table are made when they are asked for. */
#include "versions.h"

#include <stdio.h>
#include <string.h>

#include "show/facts/card.h"
#include "core/mem.h"
#include "core/storage.h"
#include "lang/modules/namespace.h"
#include "lang/object/args.h"
#include "lang/object/exc.h"
#include "lang/object/gc.h"
#include "lang/types/dict.h"
#include "lang/types/sequences.h"
#include "lang/vm/vm.h"
#include "torch/holders.h"

enum { NAME_ROOM = 128 };

enum { LOG_FIRST = 4, LOG_MOST = 1000 };

/* Grows to LOG_MOST rows, or as far as memory goes, and is then a ring for good: write i is in rows[i % capacity], and
 * the oldest ones are gone. A write is missing only where memory was short for the very first row; the versions of the
 * others tell. */
typedef struct WriteLog {
    int64_t count;
    int capacity;
    Write rows[];
} WriteLog;

void (*see_written)(const Write *write);

static void write_free(Write *w) {
    tsr_tensor_weak_free(w->t);
    tsr_tensor_weak_free(w->root);
    tsr_tensor_weak_free(w->source);
}

static WriteLog *spare; /* of LOG_FIRST rows: temporaries that are written once take turns with it */

static void log_free(void *writes) {
    WriteLog *log = writes;
    for (int64_t i = 0; i < TSR_MIN(log->count, log->capacity); i++) write_free(&log->rows[i]);
    bool keep = spare == NULL && log->capacity == LOG_FIRST;
    if (keep) spare = log;
    else tsr_free(log);
}

static WriteLog *log_new(void) {
    WriteLog *log = spare != NULL ? spare : tsr_malloc(sizeof *log + sizeof(Write) * LOG_FIRST);
    spare = NULL;
    if (log != NULL) *log = (WriteLog){.capacity = LOG_FIRST};
    return log;
}

/* The log, grown if it is full and not yet a ring; NULL when there is no memory for a first one. */
static WriteLog *log_with_room(TsrStorage *s) {
    WriteLog *log = s->writes;
    if (TSR_LIKELY(log != NULL && (log->count != log->capacity || log->capacity == LOG_MOST))) return log;
    if (log == NULL) return s->writes = log_new();
    int capacity = TSR_MIN(4 * log->capacity, LOG_MOST);
    WriteLog *grown = tsr_realloc(log, sizeof *log + sizeof(Write) * (size_t)capacity);
    if (grown == NULL) return log;
    grown->capacity = capacity;
    return s->writes = grown;
}

static void note_write(TsrTensor *t, const char *what) {
    WriteLog *log = t->storage != NULL ? log_with_room(t->storage) : NULL;
    if (log == NULL) return;
    Write *w = &log->rows[log->count % log->capacity];
    if (log->count++ >= log->capacity) write_free(w);
    TsrTensor *root = t->base != NULL ? tsr_tensor_weak_new(t->base) : NULL,
              *source = t->source != NULL ? tsr_tensor_weak_new(t->source) : NULL;
    *w = (Write){tsr_tensor_weak_new(t), root, source,           tsr_tensor_version(t),
                 tsr_write_element,      what, vm_current_line()};
    if (TSR_UNLIKELY(see_written != NULL)) see_written(w);
}

bool writes_at_places(const char *what) {
    static const char *const names[] = {
        "index_put_",      "index_fill_", "index_add_",   "index_copy_",     "index_reduce_", "masked_fill_",
        "masked_scatter_", "scatter_",    "scatter_add_", "scatter_reduce_", "put_"};
    for (size_t i = 0; what != NULL && i < TSR_COUNTOF(names); i++)
        if (strcmp(what, names[i]) == 0) return true;
    return false;
}

/* The name of what a weak link leads to, or why there is none. Whether there is one. */
static bool name_of_weak(char *buffer, size_t room, TsrTensor *weak) {
    TsrTensor *t = tsr_tensor_weak_retain(weak);
    if (t != NULL) holders_name(buffer, room, t);
    bool named = t != NULL && buffer[0] != '\0';
    if (!named) snprintf(buffer, room, "%s", t != NULL ? "a tensor without a name" : "a tensor that is gone");
    tsr_tensor_free(t);
    return named;
}

/* What a write went through: a name, or how the view came about, as inspect() says it ("select() of x"). */
static void name_write(char *buffer, size_t room, const Write *w) {
    char root[NAME_ROOM];
    if (name_of_weak(buffer, room, w->t) || w->root == NULL || w->t->origin == NULL) return;
    if (w->source == NULL || !name_of_weak(root, sizeof root, w->source))
        (void)name_of_weak(root, sizeof root, w->root);
    snprintf(buffer, room, "%s() of %s", w->t->origin, root);
}

static TsrStatus write_row(Value *out, const Write *w) {
    char name[NAME_ROOM + 64];
    Value row;
    name_write(name, sizeof name, w);
    TSR_TRY(dict_new(&row));
    TsrStatus status = TSR_OK;
    card_put_int(&status, row, "version", w->version);
    card_put_int(&status, row, "line", w->line);
    card_put_str(&status, row, "operation", w->what != NULL ? w->what : "");
    card_put_str(&status, row, "through", name);
    return value_end_move(out, status, row);
}

static TsrStatus trace_versions(Value *out, const CallArgs *args) {
    TsrTensor *t;
    Value list, row;
    TSR_TRY(holders_tensor(&t, args->values[0], "versions"));
    TSR_TRY(list_new(&list, 0));
    gc_collect(); /* what runs in dying generators may write: not later, while the log is read */
    const WriteLog *log = t->storage != NULL ? t->storage->writes : NULL;
    TsrStatus status = TSR_OK;
    for (int64_t i = log == NULL ? 0 : TSR_MAX(0, log->count - log->capacity);
         log != NULL && i < log->count && status == TSR_OK; i++) {
        status = write_row(&row, &log->rows[i % log->capacity]);
        if (status == TSR_OK) status = list_append_move(value_as_list(list), row);
    }
    if (status == TSR_OK) table_mark(list);
    return value_end_move(out, status, list);
}

static const Method functions[] = {
    {"versions", trace_versions, ARGS_ONE, 1, 1, "(x)",
     "The log of writes to a tensor's storage.\n\n"
     "    >>> x = ones(2, 3)\n    >>> x[0] = 5\n    >>> versions(x)\n    version  line  operation  through\n    1    "
     "    2     fill_      select() of x"},
    {0},
};

TsrStatus versions_startup(void) {
    tsr_write_hook = note_write;
    tsr_writes_free_hook = log_free;
    return namespace_add_functions("tsr", functions, true);
}

void versions_shutdown(void) {
    tsr_write_hook = NULL;
    for (TsrStorage *s = tsr_storage_first(); s != NULL; s = s->next) {
        if (s->writes != NULL) log_free(s->writes);
        s->writes = NULL;
    }
    tsr_free(spare);
    spare = NULL;
}
