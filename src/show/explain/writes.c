/* Sentences about what is written, and about tensors that get other sizes, strides or memory. */
#include "story.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "core/layout.h"
#include "show/facts/inspect.h"
#include "torch/holders.h"

typedef struct Others {
    const TsrTensor *written, *through; /* the place, and the tensor that was indexed to get there */
    const TsrStorage *storage;          /* where no tensor was written */
    bool short_ones;                    /* those only that it no longer has the bytes for */
    TsrText text;
    int count;
} Others;

static bool add_other(const char *path, TsrTensor *t, bool argument, void *context) {
    Others *o = context;
    if (argument || path[0] == '<' || t == o->written || t == o->through || t->storage != o->written->storage ||
        strcmp(path, "_") == 0)
        return true;
    if (!inspect_overlaps(t, o->written)) return true;
    return tsr_text_printf(&o->text, "%s%s", o->count++ > 0 ? ", " : "", path) == TSR_OK;
}

/* Who else reaches the elements that were written through t: names, and other indices of the tensor itself. */
void say_seen_by(Story *s, const TsrTensor *t, TsrTensor *through) {
    Others o = {.written = t, .through = through};
    char name[NAME_ROOM];
    if (t->storage == NULL) return;
    s->status = s->status == TSR_OK ? holders_each(add_other, &o) : s->status;
    if (o.count > 0)
        say(s, "  seen by %s %s: storage #%lld", o.text.data, o.count == 1 ? "too" : "as well",
            (long long)tsr_storage_id(t->storage));
    TsrGeometry g = tsr_tensor_geometry(through);
    if (tsr_layout_has_internal_overlap(&g))
        say(s, "  %s overlaps itself: a write at one index may be seen at others", story_name_of(s, name, through));
    tsr_text_free(&o.text);
}

static bool add_over(const char *path, TsrTensor *t, bool argument, void *context) {
    Others *o = context;
    if (argument || path[0] == '<' || t->storage != o->storage || strcmp(path, "_") == 0) return true;
    if (o->short_ones && tsr_storage_holds(o->storage, tsr_tensor_geometry(t), t->dtype)) return true;
    return tsr_text_printf(&o->text, "%s%s", o->count++ > 0 ? ", " : "", path) == TSR_OK;
}

void say_all_over(Story *s, const TsrStorage *storage) {
    Others o = {.storage = storage};
    s->status = s->status == TSR_OK ? holders_each(add_over, &o) : s->status;
    if (o.count > 0) say(s, "  tensors over it: %s", o.text.data);
    tsr_text_free(&o.text);
}

void say_too_short(Story *s, const TsrStorage *storage) {
    Others o = {.storage = storage, .short_ones = true};
    s->status = s->status == TSR_OK ? holders_each(add_over, &o) : s->status;
    if (o.count > 0) say(s, "  too short now for %s: using %s is an error", o.text.data, o.count == 1 ? "it" : "them");
    tsr_text_free(&o.text);
}

/* Whether writing took memory, all but that of Python numbers. */
const char *story_memory_words(Story *s, char *buffer, size_t room) {
    Tally t = story_tally(s);
    long long bytes = (long long)(t.allocated - s->said_allocated);
    if (bytes == 0) snprintf(buffer, room, "no new memory");
    else if (bytes <= t.given_back) snprintf(buffer, room, "%lld bytes on the way, freed again", bytes);
    else snprintf(buffer, room, "%lld bytes on the way", bytes);
    s->said_allocated += bytes;
    return buffer;
}

/* What a copy was made of: the tensor, or what it was a view of, if that is all that is left. */
static const char *copied_from(const Story *s, char *buffer, const Copied *c) {
    if (tsr_tensor_weak_alive(c->from)) return story_name_of(s, buffer, c->from);
    return tsr_tensor_weak_alive(c->root) ? story_name_of(s, buffer, c->root) : "a temporary";
}

/* Elements that one copy wrote. */
static void say_copied_into(Story *s, const TsrTensor *t) {
    char name[NAME_ROOM];
    Tally sum = story_tally(s);
    const Copied *c = t->storage != NULL ? story_copy_into(s, t->storage) : NULL;
    if (c == NULL || sum.copies != 1) return;
    say(s, "  %lld bytes copied from %s", (long long)sum.copied, copied_from(s, name, c));
    say_written_as(s, c->from->dtype, t->dtype);
    s->said_copied += sum.copied;
}

/* What the write took, and what a write into a mapping does to the file. */
void say_source(Story *s, const TsrTensor *t) {
    const TsrStorage *storage = t->storage;
    s->wrote = s->wrote || (storage != NULL && storage->serial <= s->first_serial);
    say_copied_into(s, t);
    if (storage == NULL || storage->origin == NULL) return;
    if (storage->path == NULL || strcmp(storage->origin, "mmap") != 0) {
        if (storage->shared) say(s, "  its memory is shared between processes: all of them see the write");
        else if (strcmp(storage->origin, "borrowed") == 0)
            say(s, "  its memory is borrowed: who lent it sees the write");
        return;
    }
    if (storage->shared) say(s, "  its memory is a shared mapping: the write goes to the file %s", storage->path);
    else say(s, "  its memory is a private mapping (copy-on-write): the file %s stays as it is", storage->path);
}

/* Whether a statement is "PLACE += ...", with whatever operator: what it computes is assigned to the place. */
static bool assigns_back(const char *statement, const char *place) {
    size_t n = strlen(place);
    if (strncmp(statement, place, n) != 0) return false;
    const char *sign = statement + n + strspn(statement + n, " ");
    size_t length = strspn(sign, "+-*/%@&|^<>");
    return length > 0 && sign[length] == '=';
}

void say_write(Story *s, const char *head, TsrTensor *t) {
    char name[NAME_ROOM], words[NAME_ROOM];
    const Known *copy = story_lost_copy(s, t);
    if (copy != NULL) {
        if (assigns_back(head, copy->text)) {
            say(s, "%s: writes into a copy, %s, which is then assigned to its place in %s", head, copy->text,
                copy->copied_from);
            return;
        }
        say(s, "%s: writes into a copy, %s: %s does not see it", head, copy->text, copy->copied_from);
        if (copy->text[strlen(copy->text) - 1] == ']')
            say(s, "  to write into %s, assign: %s = ..., or %s += ...", copy->copied_from, copy->text, copy->text);
        else say(s, "  write to %s itself, or to a view of it", copy->copied_from);
        return;
    }
    say(s, "%s: writes into %s, in place: %s; its version is now %lld", head, story_name_of(s, name, t),
        story_memory_words(s, words, sizeof words), (long long)tsr_tensor_version(t));
    say_source(s, t);
    say_seen_by(s, t, t);
}

/* What became of the memory of storages that were there before. */
static void say_moved(Story *s, const TsrTensor *t) {
    Tally sum = story_tally(s);
    if (t->storage == NULL) return;
    if (sum.moved > 0)
        say(s, "  its storage #%lld had to grow: %lld bytes allocated, %lld copied, %lld freed",
            (long long)tsr_storage_id(t->storage), (long long)sum.moved, (long long)sum.copied, (long long)sum.freed);
    else if (sum.adopted > 0)
        say(s,
            "  its storage #%lld moved to memory shared between processes: %lld bytes taken, %lld copied, %lld "
            "freed; its views follow",
            (long long)tsr_storage_id(t->storage), (long long)sum.adopted, (long long)sum.copied, (long long)sum.freed);
    else return;
    s->said_allocated += sum.moved;
    s->said_copied += sum.copied;
}

/* Sizes, strides or the storage changed, and no element. */
void say_changed(Story *s, const char *head, TsrTensor *t) {
    char name[NAME_ROOM];
    const Before *was = &s->before;
    s->wrote = s->wrote || (was->storage != NULL && was->storage_serial <= s->first_serial);
    story_name_of(s, name, t);
    bool same = was->ndim == tsr_ndim(t) && was->offset == t->offset &&
                memcmp(was->sizes, t->sizes, sizeof(int64_t) * (size_t)was->ndim) == 0 &&
                memcmp(was->strides, t->strides, sizeof(int64_t) * (size_t)was->ndim) == 0;
    say(s, "%s: changes %s itself, and writes no element; its version is %s %lld", head, name,
        was->version == tsr_tensor_version(t) ? "still" : "now", (long long)tsr_tensor_version(t));
    if (!same) say_geometry(s, was->ndim, was->strides, t);
    if (was->storage != t->storage && t->storage != NULL)
        say(s, "  it is over storage #%lld now, and no longer over the one it had: no bytes copied",
            (long long)tsr_storage_id(t->storage));
    say_moved(s, t);
    if (!same && t->storage == was->storage && t->numel > 0 && (int64_t)t->storage->nbytes > bytes_of(t) &&
        story_tally(s).moved == 0)
        say(s, "  memory kept: %lld of %" PRIu64 " bytes used", bytes_of(t), t->storage->nbytes);
    else if (same && was->storage == t->storage && story_tally(s).adopted == 0) say(s, "  its geometry is what it was");
}
