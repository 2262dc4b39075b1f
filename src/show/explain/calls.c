/* Sentences about calls that are no operator: TH.newContiguous, caffe2.Tensor, mutable_data, del. What they did is in
 * the log of events, and in the NativeStep that the watch has filled from it. */
#include "story.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "torch/holders.h"

static long long storage_bytes(const TsrTensor *t) { return t->storage != NULL ? (long long)t->storage->nbytes : 0; }

/* "2 references now", or what a borrow leaves alone. */
static void say_wrapped(Story *s, const char *text, const Tally *sum) {
    const NativeStep *n = &s->native;
    TsrTensor *t = tsr_tensor_weak_retain(n->wrapped);
    const Copied *copy = t != NULL ? story_copy_into(s, t->storage) : NULL;
    char name[NAME_ROOM], a[TEXT_ROOM];
    bool fresh = t != NULL && story_is_new(s, t->storage);
    if (t == NULL) {
        say(s, "%s: a %s of a tensor that is gone already", text, n->wrapper);
    } else if (fresh && copy != NULL) {
        say(s, "%s: an owned copy of %s: %lld bytes%s%s%s", text,
            tsr_tensor_weak_alive(copy->from) ? story_name_of(s, name, copy->from) : "a temporary", storage_bytes(t),
            sum->copy_reason != NULL ? ", as strides " : "",
            sum->copy_reason != NULL ? tuple_text(a, sizeof a, tsr_ndim(copy->from), copy->from->strides) : "",
            sum->copy_reason == NULL                         ? ""
            : strcmp(sum->copy_reason, "not row-major") == 0 ? " are not row-major"
                                                             : " are not in the format asked for");
        s->said_allocated += storage_bytes(t);
        s->said_copied += bytes_of(t);
    } else if (fresh) {
        say(s, "%s: a %s of its own: %lld bytes", text, n->wrapper, storage_bytes(t));
        s->said_allocated += storage_bytes(t);
    } else if (strcmp(n->holds, "borrowed") == 0) {
        say(s, "%s: a borrow of %s: no reference more, %lld now; nothing copied", text, story_name_of(s, name, t),
            (long long)n->count);
    } else if (n->taken_over && n->count > 1) {
        say(s, "%s: a wrapper: takes a reference over, still %lld: %s of %s, nothing copied", text, (long long)n->count,
            n->wrapper, story_name_of(s, name, t));
    } else if (n->count <= 1) {
        say(s, "%s: a %s holds it: 1 reference, nothing copied", text, n->wrapper);
    } else {
        say(s, "%s: a wrapper: one reference more, %lld now: %s of %s, nothing copied", text, (long long)n->count,
            n->wrapper, story_name_of(s, name, t));
    }
    tsr_tensor_free(t);
}

/* The storages that this step made and that live, each with its bytes. */
static void list_made(Story *s, TsrText *out) {
    for (TsrStorage *m = tsr_storage_first(); m != NULL; m = m->next)
        if (story_is_new(s, m) && m->ptr.device.type != TSR_META && m->origin == NULL && s->status == TSR_OK)
            s->status = tsr_text_printf(out, "%s#%lld (%" PRIu64 " bytes)", out->length > 0 ? ", " : "",
                                        (long long)tsr_storage_id(m), m->nbytes);
}

static TsrStorage *find_storage(int64_t serial) {
    TsrStorage *found = NULL;
    for (TsrStorage *m = tsr_storage_first(); m != NULL; m = m->next)
        if (serial != 0 && m->serial == serial) found = m;
    return found;
}

/* A storage from before has other memory now, or none. */
static void say_moved(Story *s, const char *text, const Tally *sum) {
    say(s, "%s: storage %s %s: %lld bytes allocated, %lld copied, %lld freed", text, s->native.freed.data,
        sum->moved > 0 ? "moved" : "keeps no memory", (long long)sum->moved, (long long)sum->copied,
        (long long)sum->freed);
    s->said_allocated += sum->moved;
    s->said_copied += sum->copied;
}

static void say_blocks(Story *s, const char *text, const Tally *sum) {
    const NativeStep *n = &s->native;
    TsrText made = {0};
    long long stays = (long long)(sum->allocated - sum->given_back);
    if (sum->made > 0) list_made(s, &made);
    bool retyped = sum->made_reason != NULL && strcmp(sum->made_reason, "retyped") == 0;
    bool outgrown = sum->made_reason != NULL && strcmp(sum->made_reason, "outgrown") == 0;
    if (made.length > 0 && n->freed.length > 0)
        say(s, "%s: %s: storage %s freed, %s made", text,
            retyped    ? "retyped"
            : outgrown ? "outgrown"
                       : "other memory",
            n->freed.data, made.data);
    else if (made.length > 0) say(s, "%s: %lld bytes allocated: storage %s made", text, stays, made.data);
    else if (n->freed.length > 0 && find_storage(n->freed_serial) != NULL) say_moved(s, text, sum);
    else if (n->freed.length > 0) say(s, "freed: storage %s", n->freed.data);
    else if (sum->allocated > 0)
        say(s, "%s: %lld bytes allocated%s", text, (long long)sum->allocated, stays <= 0 ? ", and freed again" : "");
    if (made.length > 0) s->said_allocated += stays;
    else if (n->freed.length == 0) s->said_allocated += sum->allocated;
    tsr_text_free(&made);
}

static void say_kept(Story *s, const char *text) {
    char name[NAME_ROOM];
    TsrTensor *t = s->native.kept != NULL ? tsr_tensor_weak_retain(s->native.kept) : NULL;
    if (t == NULL) say(s, "%s: sizes only: no memory is taken before mutable_data", text);
    else if (strcmp(s->native.kept_how, "outgrown") == 0)
        say(s, "%s: sizes only: %lld bytes are needed, %lld are there: mutable_data will take others", text,
            (long long)s->native.kept_bytes, storage_bytes(t));
    else
        say(s, "%s: memory kept: %lld of %lld bytes used, by %s", text, (long long)s->native.kept_bytes,
            storage_bytes(t), story_name_of(s, name, t));
    tsr_tensor_free(t);
}

static void say_written(Story *s, const char *text) {
    TsrTensor *t = tsr_tensor_weak_retain(s->native.written);
    if (t != NULL && s->before.t == t) say_changed(s, text, t);
    else if (t != NULL) say_write(s, text, t);
    s->before.t = NULL;
    tsr_tensor_free(t);
}

static void say_stored(Story *s, const char *text) {
    TsrStorage *storage = find_storage(s->native.stored);
    if (storage == NULL) return;
    s->wrote = s->wrote || storage->serial <= s->first_serial;
    say(s, "%s: writes %lld bytes of storage #%lld, in place: no new memory; no version counts it", text,
        (long long)s->native.stored_bytes, (long long)tsr_storage_id(storage));
    say_all_over(s, storage);
}

static void say_resized(Story *s, const char *text) {
    TsrStorage *storage = find_storage(s->native.resized);
    if (storage == NULL) return;
    s->wrote = s->wrote || storage->serial <= s->first_serial;
    if (s->native.freed.length == 0)
        say(s, "%s: storage #%lld has %" PRIu64 " bytes now, and had %lld, in the same place: none copied", text,
            (long long)tsr_storage_id(storage), storage->nbytes, (long long)s->native.resized_from);
    say_too_short(s, storage);
}

/* The tensor has gone with its last reference, and its storage has not. */
static void say_gone(Story *s, int64_t serial) {
    TsrStorage *left = find_storage(serial);
    if (left != NULL)
        say(s, "a tensor over storage #%lld is gone with its last reference: the storage stays, held by %d more",
            (long long)tsr_storage_id(left), left->refcount);
}

void say_counts(Story *s) {
    char name[NAME_ROOM];
    for (int i = 0; i < s->counted_count; i++) {
        const Counted *c = &s->counted[i];
        TsrTensor *t = tsr_tensor_weak_retain(c->t);
        if (t == NULL) {
            if (c->before > 0) say_gone(s, c->serial);
            continue;
        }
        int more = t->refcount - 1 - c->before;
        if (more != 0)
            say(s, "%s: %d reference%s %s, %lld now", story_name_of(s, name, t), more < 0 ? -more : more,
                more == 1 || more == -1 ? "" : "s", more < 0 ? "less" : "more", (long long)holders_refcount(t) - 1);
        tsr_tensor_free(t);
    }
}

void say_native(Story *s) {
    NativeStep *n = &s->native;
    Tally sum = story_tally(s);
    const char *text = n->text[0] != '\0' ? n->text : "a call";
    size_t before = s->text.length;
    if (n->wrapped != NULL) say_wrapped(s, text, &sum);
    bool fresh = s->said_allocated > 0;
    if (!fresh && (sum.made > sum.given_back || n->freed.length > 0)) say_blocks(s, text, &sum);
    if (n->kept_how != NULL && sum.allocated == 0) say_kept(s, text);
    if (n->written != NULL) say_written(s, text);
    if (n->stored != 0) say_stored(s, text);
    if (n->resized != 0) say_resized(s, text);
    if (sum.adopted > 0)
        say(s, "%s: %lld bytes of memory that is not its own (%s): nothing copied", text, (long long)sum.adopted,
            sum.adopted_as != NULL ? sum.adopted_as : "foreign");
    if (s->text.length == before && (sum.allocated > 0 || sum.copied > 0)) say_blocks(s, text, &sum);
    if (s->text.length == before && sum.copied > 0) {
        say(s, "%s: %lld bytes copied", text, (long long)sum.copied);
        s->said_copied += sum.copied;
    }
}
