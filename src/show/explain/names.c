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

static int add_targets(Target *targets, int count, const Node *n) {
    for (int k = 0; k < n->assign.targets.count && count < MAX_TARGETS; k++) {
        const Node *to = n->assign.targets.items[k], *from = n->assign.value;
        if (to->kind != AST_NAME || strlen(to->name.id) >= NAME_ROOM) continue;
        Target *t = &targets[count++];
        snprintf(t->name, sizeof t->name, "%s", to->name.id);
        snprintf(t->source, sizeof t->source, "%s", from->kind == AST_NAME ? from->name.id : "");
        TsrTensor *held = retain_named(t->name);
        t->before = held != NULL ? tsr_tensor_weak_new(held) : NULL;
        t->version = held != NULL ? tsr_tensor_version(held) : 0;
        t->storage = held != NULL && held->storage != NULL ? held->storage->serial : -1;
        tsr_tensor_free(held);
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
    for (int i = 0; status == TSR_OK && i < ast->body.count; i++)
        if (ast->body.items[i]->kind == AST_ASSIGN) count = add_targets(targets, count, ast->body.items[i]);
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

void targets_say(Story *s, const Target *target) {
    char holder[NAME_ROOM];
    TsrTensor *now = retain_named(target->name);
    if (now != NULL && target->source[0] != '\0') {
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
