/* Sentences about one operator, and about one pair of brackets. */
#include "story.h"

#include <string.h>

#include "lang/vm/vm.h"

/* How the results of an operator that gives several lie to its argument. */
static void say_several(Story *s, const char *head, TsrTensor *t, TsrTensor *const *results, int n) {
    char name[NAME_ROOM];
    bool views = t != NULL && t->storage != NULL && n > 0, fresh = true;
    for (int i = 0; i < n; i++) {
        views = views && results[i]->storage == t->storage;
        fresh = fresh && story_is_new(s, results[i]->storage);
    }
    long long bytes = (long long)story_new_memory(s, results, n);
    s->said_allocated += bytes;
    if (views)
        say(s, "%s: %d views of %s: the same storage #%lld, no bytes copied", head, n, story_name_of(s, name, t),
            (long long)tsr_storage_id(t->storage));
    else if (fresh) say(s, "%s: %d new tensors, %lld bytes", head, n, bytes);
    else say(s, "%s: %d tensors, %lld bytes of them new", head, n, bytes);
}

static void say_sparse(Story *s, const char *head, const TsrTensor *r) {
    TsrTensor *parts[3] = {r->sparse->values, r->sparse->indices, r->sparse->plain_indices};
    int n = parts[2] != NULL ? 3 : 2;
    long long values = bytes_of(parts[0]), indices = bytes_of(parts[1]) + (n == 3 ? bytes_of(parts[2]) : 0),
              bytes = (long long)story_new_memory(s, parts, n);
    say(s, "%s: a sparse tensor: %lld bytes of values, %lld of indices; %lld of them new", head, values, indices,
        bytes);
    s->said_allocated += bytes;
}

/* A result that no storage of an argument holds. */
static void say_made(Story *s, const TsrOpCall *c, const char *head, TsrTensor *r) {
    Tally t = story_tally(s);
    const char *origin = r->storage != NULL ? r->storage->origin : NULL;
    if (r->sparse != NULL) {
        say_sparse(s, head, r);
    } else if (r->storage == NULL) {
        say(s, "%s: a tensor without memory", head);
    } else if (r->device.type == TSR_META) {
        say(s, "%s: a new tensor on meta: it has no memory, nothing is copied", head);
    } else if (c->out[0] != NULL) {
        if (t.moved > 0)
            say(s, "%s: %lld bytes written into out, whose storage grew: %lld bytes allocated", head, bytes_of(r),
                (long long)t.moved);
        else say(s, "%s: %lld bytes written into out: no new memory for them", head, bytes_of(r));
        s->said_allocated += t.moved;
        say_source(s, r);
        say_seen_by(s, r, r);
    } else if (origin != NULL) {
        say(s, "%s: a new tensor of %lld bytes, over memory that is not its own: nothing copied", head, bytes_of(r));
    } else if (story_is_new(s, r->storage)) {
        say(s, "%s: a new tensor of %lld bytes", head, bytes_of(r));
        s->said_allocated += bytes_of(r);
    } else {
        say(s, "%s: a tensor over memory that was there before, storage #%lld: no new memory", head,
            (long long)tsr_storage_id(r->storage));
    }
    say_promotion(s, c, r);
    say_sum_dtype(s, c, r);
    say_broadcast(s, c, r);
}

static void say_results(Story *s, const TsrOpCall *c, const char *head) {
    TsrTensor *t = argument_first(c), *r = c->ret[0].kind == TSR_ARG_TENSOR ? c->ret[0].t : NULL, *pair[TSR_MAX_RETS];
    TsrTensor *under = r != NULL && c->out[0] == NULL ? argument_under(c, r) : NULL;
    if (c->nret > 0 && c->ret[0].kind == TSR_ARG_TENSORS) {
        say_several(s, head, t, c->ret[0].tensors, c->ret[0].n);
    } else if (r != NULL && c->nret > 1) {
        for (int i = 0; i < c->nret; i++) pair[i] = c->ret[i].t;
        say_several(s, head, t, pair, c->nret);
    } else if (r == NULL) {
        say(s, "%s: gives no tensor", head);
    } else if (under != NULL) {
        say_alias(s, c, head, under, r);
    } else if (c->out[0] == NULL && story_is_copy(s, r, t)) {
        say_alias(s, c, head, t, r);
    } else {
        say_made(s, c, head, r);
    }
    say_sharing(s, c);
}

static int64_t size_of_number(const TsrScalar *s) {
    return s->kind == TSR_SCALAR_COMPLEX ? 16 : s->kind == TSR_SCALAR_BOOL ? 1 : 8;
}

/* Bytes of the Python numbers among the arguments, which are tensors of one element while an operator runs; counted as
 * said. */
static long long take_numbers(Story *s, const TsrOpCall *c) {
    int64_t bytes = 0;
    for (int i = 0; i < c->nargs; i++) {
        TsrTensor *t = argument_tensor(c, i);
        if (t != NULL && argument_is_number(t) && story_is_new(s, t->storage)) bytes += (int64_t)t->storage->nbytes;
        if (t == NULL && argument_is_operand(c, i)) bytes += size_of_number(&c->arg[i].s);
    }
    Tally t = story_tally(s);
    bytes = TSR_MAX(0, TSR_MIN(bytes, t.allocated - s->said_allocated));
    s->said_allocated += bytes;
    return (long long)bytes;
}

static void say_numbers(Story *s, long long bytes) {
    if (bytes > 0) say(s, "  the Python number took %lld bytes for the while", bytes);
}

static void remember_results(Story *s, const TsrOpCall *c) {
    char text[NAME_ROOM], from[NAME_ROOM] = "";
    TsrTensor *t = argument_first(c), *r = c->nret > 0 && c->ret[0].kind == TSR_ARG_TENSOR ? c->ret[0].t : NULL;
    if (r == NULL || c->out[0] != NULL) return;
    bool copies = t != NULL && (story_is_copy(s, r, t) ||
                                (r != t && r->storage != t->storage && strcmp(c->op->category, "index") == 0));
    if (copies) story_name_of(s, from, t);
    story_remember(s, r, vm_current_text(text, sizeof text), from);
}

/* Whether an operator that works in place changed its tensor's sizes, strides or storage, not its elements. */
static bool is_change(const Story *s, const TsrOpCall *c, const TsrTensor *t) {
    const Before *was = &s->before;
    if (was->t != t) return false;
    if (was->storage != t->storage || was->ndim != tsr_ndim(t)) return true;
    size_t n = sizeof(int64_t) * (size_t)was->ndim;
    return memcmp(was->sizes, t->sizes, n) != 0 || memcmp(was->strides, t->strides, n) != 0 ||
           (c->op->alias == TSR_IN_PLACE && (c->op->flags & TSR_OP_UNCHECKED) != 0 &&
            was->version <= tsr_tensor_version(t) && story_copy_into(s, t->storage) == NULL);
}

static void say_in_place(Story *s, const TsrOpCall *c, const char *head) {
    TsrTensor *target = c->out[0] != NULL ? c->out[0] : argument_first(c);
    if (target == NULL) say(s, "%s: writes, in place", head);
    else if (is_change(s, c, target)) say_changed(s, head, target);
    else say_write(s, head, target);
}

void say_op(Story *s, const TsrOpCall *c, TsrStatus status) {
    char head[2 * NAME_ROOM];
    story_head(head, sizeof head, c->inplace ? c->schema->inplace : c->schema->base);
    long long numbers = take_numbers(s, c);
    if (status != TSR_OK) say_refused(s, c, head);
    else if (c->inplace || c->op->alias == TSR_IN_PLACE) say_in_place(s, c, head);
    else say_results(s, c, head);
    say_numbers(s, numbers);
    if (status == TSR_OK && !c->inplace && c->op->alias != TSR_IN_PLACE) remember_results(s, c);
}

/* ---- indexing ---- */

void say_read(Story *s, const SubscriptEvent *e) {
    char text[NAME_ROOM], name[NAME_ROOM];
    story_head(text, sizeof text, "");
    if (!e->advanced) {
        if (e->place->storage != NULL)
            say_view(s, text, e->self, e->place, " (integers, slices, None and ... only choose)");
        else say(s, "%s: a part of %s, which is sparse", text, story_name_of(s, name, e->self));
        story_remember(s, e->place, text, "");
        return;
    }
    story_name_of(s, name, e->self);
    say(s, "%s: a copy of %s: %lld bytes", text, name, bytes_of(e->place));
    s->said_allocated += story_is_new(s, e->place->storage) ? bytes_of(e->place) : 0;
    say(s, "  masks, lists and tensors of positions pick elements that no offset and strides describe, so reading with "
           "them always copies");
    story_remember(s, e->place, text, name);
}

static void say_refused_assignment(Story *s, const SubscriptEvent *e, const char *text) {
    char name[NAME_ROOM];
    say(s, "%s = ...: refused", text);
    if (e->place == NULL) return;
    if (refusal_says("some elements of the input tensor and the written-to tensor"))
        say(s,
            "  what is written lies in the storage of %s, and overlaps the place without being it: which element is "
            "read after its write? .clone() of it first takes %lld bytes",
            story_name_of(s, name, e->self), bytes_of(e->place));
    else say_refused_write(s, NULL, e->place->storage->readonly ? e->self : e->place);
}

void say_assigned(Story *s, const SubscriptEvent *e) {
    char text[NAME_ROOM], name[NAME_ROOM], words[NAME_ROOM];
    const Known *copy = story_lost_copy(s, e->self);
    story_head(text, sizeof text, "");
    if (e->status != TSR_OK) {
        say_refused_assignment(s, e, text);
        return;
    }
    if (copy != NULL) {
        say(s, "%s = ...: writes into a copy, %s: %s does not see it", text, copy->text, copy->copied_from);
        if (copy->text[strlen(copy->text) - 1] == ']')
            say(s, "  one pair of brackets writes into %s; the first of two pairs reads, and this one copied",
                copy->copied_from);
        else say(s, "  write to %s itself, or to a view of it", copy->copied_from);
        return;
    }
    say(s, "%s = ...: writes into %s, in place: %s; its version is now %lld", text, story_name_of(s, name, e->self),
        story_memory_words(s, words, sizeof words), (long long)tsr_tensor_version(e->self));
    say_source(s, e->self);
    if (e->number != NULL) say_cut(s, e->number, e->self->dtype);
    if (e->advanced) say(s, "  assigning through masks and positions writes where they point: nothing is copied out");
    say_seen_by(s, e->place, e->self);
}
