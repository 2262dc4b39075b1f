/* Sentences about the names that the code assigns to. */
#include "story.h"

#include <stdio.h>
#include <string.h>

#include "core/mem.h"
#include "lang/syntax/parser.h"
#include "lang/object/exc.h"
#include "lang/vm/vm.h"
#include "torch/holders.h"

/* The tensor of a name where the code stands, retained; NULL: none. */
static TsrTensor *retain_named(const char *name) {
    Value v = VALUE_UNBOUND, exception;
    TsrStatus status = vm_run_text_here(&v, name, strlen(name), "<explain>");
    if (status != TSR_OK && vm_take_error(&exception, status)) value_release(exception);
    tsr_error_clear();
    if (status == TSR_OK && v.tag == V_TENSOR) return v.t;
    if (status == TSR_OK) value_release(v);
    return NULL;
}

/* One name; of one that is assigned to again the last source counts. */
static int add_target(Target *targets, int count, const Node *to, const Node *from) {
    if (to->kind != AST_NAME || strlen(to->name.id) >= NAME_ROOM) return count;
    Target *t = targets;
    while (t < targets + count && strcmp(t->name, to->name.id) != 0) t++;
    if (t == targets + MAX_TARGETS) return count;
    snprintf(t->source, sizeof t->source, "%s", from != NULL && from->kind == AST_NAME ? from->name.id : "");
    if (t < targets + count) return count;
    snprintf(t->name, sizeof t->name, "%s", to->name.id);
    TsrTensor *held = retain_named(t->name);
    t->before = held != NULL ? tsr_tensor_weak_new(held) : NULL;
    t->version = held != NULL ? tsr_tensor_version(held) : 0;
    t->storage = held != NULL && held->storage != NULL ? held->storage->serial : -1;
    tsr_tensor_free(held);
    return count + 1;
}

static bool is_row(const Node *n) { return n->kind == AST_TUPLE || n->kind == AST_LIST; }

/* The names of `a, b = x, y`, too, one level deep. */
static int add_targets(Target *targets, int count, const Node *to, const Node *from) {
    if (!is_row(to)) return add_target(targets, count, to, from);
    bool pairs = is_row(from) && from->list.count == to->list.count;
    for (int i = 0; i < to->list.count; i++) {
        const Node *one = to->list.items[i];
        if (one->kind == AST_STARRED) pairs = false, one = one->value;
        count = add_target(targets, count, one, pairs ? from->list.items[i] : NULL);
    }
    return count;
}

/* The plain names that the code's own statements assign to. */
int targets_find(Target *targets, const Str *code) {
    Source *source = NULL;
    Ast *ast = NULL;
    SourceRange where;
    int count = 0;
    TsrStatus status = source_new(&source, "<explain>", code->data, (size_t)code->size, 1, NULL);
    if (status == TSR_OK) status = parser_new_module(&ast, source, &where);
    for (int i = 0; status == TSR_OK && i < ast->body.count; i++) {
        const Node *n = ast->body.items[i];
        for (int k = 0; n->kind == AST_ASSIGN && k < n->assign.targets.count; k++)
            count = add_targets(targets, count, n->assign.targets.items[k], n->assign.value);
    }
    if (status != TSR_OK) tsr_error_clear(); /* running it will tell */
    ast_free(ast);
    source_free(source);
    return count;
}

typedef struct Keepers {
    int64_t serial, id; /* of the storage */
    TsrText text;
    int count;
} Keepers;

static bool add_keeper(const char *path, TsrTensor *t, bool argument, void *context) {
    Keepers *k = context;
    if (argument || path[0] == '<' || t->storage == NULL || t->storage->serial != k->serial || strcmp(path, "_") == 0)
        return true;
    k->id = tsr_storage_id(t->storage);
    return tsr_text_printf(&k->text, "%s%s", k->count++ > 0 ? ", " : "", path) == TSR_OK;
}

/* The tensor that a name held is gone; views of it keep the storage. */
static void say_freed(Story *s, const Target *target, const char *now) {
    Keepers k = {.serial = target->storage};
    s->status = s->status == TSR_OK && k.serial >= 0 ? holders_each(add_keeper, &k) : s->status;
    say(s, "%s names %s now; the one it named had no other holder and is freed", target->name, now);
    if (k.count > 0) say(s, "  its storage #%lld is not: it stays with %s", (long long)k.id, k.text.data);
    tsr_text_free(&k.text);
}

/* Whether the name was given to the tensor of another name, which both still have. */
static bool names_the_source(const Target *target, const TsrTensor *now) {
    if (target->source[0] == '\0' || target->before == now) return false;
    TsrTensor *source = retain_named(target->source);
    bool same = source == now;
    tsr_tensor_free(source);
    return same;
}

void targets_say(Story *s, const Target *target) {
    char holder[NAME_ROOM];
    TsrTensor *now = retain_named(target->name);
    if (now != NULL && names_the_source(target, now)) {
        say(s, "%s = %s: one more name for the same tensor: no bytes copied, it has %lld references now", target->name,
            target->source, (long long)holders_refcount(now) - 1);
        say(s, "  a write through either is seen through both; %s.clone() would be a tensor of its own, for %lld bytes",
            target->source, bytes_of(now));
    }
    if (target->before != NULL && target->before != now) {
        TsrTensor *old = tsr_tensor_weak_retain(target->before);
        const char *what = now != NULL ? "another tensor" : "no tensor";
        if (old == NULL) say_freed(s, target, what);
        else
            say(s, "%s names %s now; the one it named %sstays with %s", target->name, what,
                tsr_tensor_version(old) == target->version ? "is unchanged and " : "",
                story_has_name(holder, old) ? holder : "a temporary");
        tsr_tensor_free(old);
    }
    tsr_tensor_free(now);
}
