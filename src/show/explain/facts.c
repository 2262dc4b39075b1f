/* What happened while the code ran, as its sentences need it: what tensors are called, what a step took and copied, and
 * which argument a result lies in. */
#include "story.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "core/mem.h"
#include "lang/types/sequences.h"
#include "lang/vm/vm.h"
#include "torch/holders.h"

/* "1 bytes" becomes "1 byte". */
static void make_singular(char *line) {
    for (char *at = line; (at = strstr(at, "1 bytes")) != NULL; at++)
        if (at == line || at[-1] < '0' || at[-1] > '9') memmove(at + 6, at + 7, strlen(at + 7) + 1);
}

void say(Story *s, const char *format, ...) __attribute__((format(printf, 2, 3)));
void say(Story *s, const char *format, ...) {
    char line[TEXT_ROOM * 3];
    va_list args;
    if (s->status != TSR_OK) return;
    va_start(args, format);
    vsnprintf(line, sizeof line, format, args);
    va_end(args);
    make_singular(line);
    if (s->text.length > 0) s->status = tsr_text_putc(&s->text, '\n');
    if (s->status == TSR_OK) s->status = tsr_text_puts(&s->text, line);
}

static const Known *find_known(const Story *s, const TsrTensor *t) {
    for (int i = s->known_count - 1; i >= 0; i--)
        if (s->known[i].t == t && tsr_tensor_weak_alive(t)) return &s->known[i];
    return NULL;
}

void story_remember(Story *s, TsrTensor *t, const char *text, const char *copied_from) {
    if (t == NULL || text[0] == '\0' || s->known_count == MAX_KNOWN || find_known(s, t) != NULL) return;
    Known *k = &s->known[s->known_count++];
    k->t = tsr_tensor_weak_new(t);
    snprintf(k->text, sizeof k->text, "%s", text);
    snprintf(k->copied_from, sizeof k->copied_from, "%s", copied_from);
}

void story_forget(Story *s) {
    for (int i = 0; i < s->known_count; i++) tsr_tensor_weak_free(s->known[i].t);
    s->known_count = 0;
    for (int i = 0; i < s->counted_count; i++) tsr_tensor_weak_free(s->counted[i].t);
    s->counted_count = 0;
}

bool story_has_name(char *buffer, TsrTensor *t) { return holders_name(buffer, NAME_ROOM, t)[0] != '\0'; }

/* Its name, else the expression that made it. */
const char *story_name_of(const Story *s, char *buffer, TsrTensor *t) {
    if (story_has_name(buffer, t)) return buffer;
    const Known *k = find_known(s, t);
    snprintf(buffer, NAME_ROOM, "%s", k != NULL ? k->text : "a temporary");
    return buffer;
}

/* What a step is called: the text of the expression, with the operator where the text does not say it. An underscore
 * before its name is ours, and not what anybody types. */
const char *story_head(char *buffer, size_t room, const char *op) {
    char text[NAME_ROOM];
    op += op[0] == '_';
    vm_current_text(text, sizeof text);
    if (text[0] == '\0') snprintf(buffer, room, "%s", op);
    else if (op[0] == '\0' || strstr(text, op) != NULL) snprintf(buffer, room, "%s", text);
    else snprintf(buffer, room, "%s (%s)", text, op);
    return buffer;
}

char *tuple_text(char *buffer, size_t room, int n, const int64_t *items) {
    size_t at = (size_t)snprintf(buffer, room, "(");
    for (int i = 0; i < n && at < room; i++)
        at += (size_t)snprintf(buffer + at, room - at, i > 0 ? ", %lld" : "%lld", (long long)items[i]);
    if (at < room) snprintf(buffer + at, room - at, n == 1 ? ",)" : ")");
    return buffer;
}

long long bytes_of(const TsrTensor *t) { return (long long)(t->numel * (int64_t)tsr_itemsize(t)); }

bool is_one_of(const char *name, const char *const *names) {
    for (; *names != NULL; names++)
        if (strcmp(name, *names) == 0) return true;
    return false;
}

bool argument_is_operand(const TsrOpCall *c, int i) {
    static const char *const operands[] = {"self", "other", "exponent", "min", "max", NULL};
    return c->arg[i].kind == TSR_ARG_SCALAR && is_one_of(c->schema->params[i].name, operands);
}

bool argument_is_number(const TsrTensor *t) { return (t->flags & TSR_FLAG_WRAPPED_NUMBER) != 0; }

Tally story_tally(const Story *s) { return tally_of(s->log.events, s->log.count, s->last_serial); }

bool story_is_new(const Story *s, const TsrStorage *storage) {
    return storage != NULL && storage->serial > s->last_serial;
}

/* A step begins after all that was told. */
void story_start_step(Story *s) {
    s->log.count = 0;
    s->last_serial = tsr_storage_last_serial();
    s->said_allocated = s->said_copied = 0;
    for (int i = 0; i < s->copy_count; i++) {
        tsr_tensor_weak_free(s->copies[i].to);
        tsr_tensor_weak_free(s->copies[i].from);
        tsr_tensor_weak_free(s->copies[i].root);
    }
    s->copy_count = 0;
}

void story_clear_native(Story *s) {
    tsr_tensor_weak_free(s->native.wrapped);
    tsr_tensor_weak_free(s->native.written);
    tsr_tensor_weak_free(s->native.kept);
    tsr_text_free(&s->native.freed);
    s->native = (NativeStep){0};
}

/* The copy that filled this storage in this step; NULL: none. */
const Copied *story_copy_into(const Story *s, const TsrStorage *storage) {
    for (int i = 0; i < s->copy_count; i++)
        if (s->copies[i].storage == storage) return &s->copies[i];
    return NULL;
}

/* What the sentences before have not named. */
static void say_rest(Story *s) {
    Tally t = story_tally(s);
    long long more = (long long)(t.allocated - s->said_allocated), copied = (long long)(t.copied - s->said_copied);
    if (more > 0)
        say(s, "  %lld bytes more were allocated on the way%s", more, more <= t.given_back ? ", and freed again" : "");
    if (copied > 0) say(s, "  %lld bytes were copied on the way", copied);
}

void story_end_step(Story *s) {
    say_rest(s);
    story_clear_native(s);
    story_start_step(s);
}

/* ---- arguments of an operator ---- */

TsrTensor *argument_tensor(const TsrOpCall *c, int i) {
    const TsrArg *a = &c->arg[i];
    const Value *v = a->kind == TSR_ARG_ANY ? a->any : NULL;
    return a->kind == TSR_ARG_TENSOR ? a->t : v != NULL && v->tag == V_TENSOR ? v->t : NULL;
}

TsrTensor *argument_first(const TsrOpCall *c) {
    for (int i = 0; i < c->nargs; i++) {
        if (argument_tensor(c, i) != NULL) return argument_tensor(c, i);
        if (c->arg[i].kind == TSR_ARG_TENSORS && c->arg[i].n > 0) return c->arg[i].tensors[0];
    }
    return NULL;
}

/* The copy that a write went into, when no name reaches it: t itself, or the tensor that t is a view of. */
const Known *story_lost_copy(const Story *s, TsrTensor *t) {
    char name[NAME_ROOM];
    TsrTensor *root = tsr_tensor_retain_base(t);
    const Known *k = find_known(s, root != NULL ? root : t);
    bool named = story_has_name(name, root != NULL ? root : t) || story_has_name(name, t);
    tsr_tensor_free(root);
    return k != NULL && k->copied_from[0] != '\0' && !named ? k : NULL;
}

/* Whether r holds the elements of t, copied in this step. */
bool story_is_copy(const Story *s, const TsrTensor *r, const TsrTensor *t) {
    const Copied *c = r->storage != NULL && t != NULL && t->storage != NULL ? story_copy_into(s, r->storage) : NULL;
    return c != NULL && r != t && r->numel == t->numel && c->to->numel == t->numel &&
           (c->from == t || (tsr_tensor_weak_alive(c->from) && c->from->storage == t->storage));
}

/* Memory that results were given, each storage once. */
int64_t story_new_memory(const Story *s, TsrTensor *const *results, int n) {
    int64_t bytes = 0;
    for (int i = 0; i < n; i++) {
        bool seen = false;
        for (int k = 0; k < i; k++) seen = seen || results[k]->storage == results[i]->storage;
        if (!seen && story_is_new(s, results[i]->storage) && results[i]->device.type != TSR_META)
            bytes += (int64_t)results[i]->storage->nbytes;
    }
    return bytes;
}

/* The argument whose storage a result lies in; NULL: none. */
TsrTensor *argument_under(const TsrOpCall *c, const TsrTensor *r) {
    for (int i = 0; i < c->nargs; i++) {
        TsrTensor *t = argument_tensor(c, i);
        if (t != NULL && (t == r || (t->storage != NULL && t->storage == r->storage))) return t;
        for (int k = 0; c->arg[i].kind == TSR_ARG_TENSORS && k < c->arg[i].n; k++)
            if (c->arg[i].tensors[k] != NULL && c->arg[i].tensors[k]->storage != NULL &&
                c->arg[i].tensors[k]->storage == r->storage)
                return c->arg[i].tensors[k];
    }
    return NULL;
}
