/* Sentences about results that lie in an argument's memory, or that are a copy of it. */
#include "story.h"

#include <string.h>

#include "core/layout.h"
#include "core/mem.h"

enum { MOST_COUNTED = 1 << 16 };

/* Which adjacent dimensions could not become one, with the strides that say so. */
void say_unmergeable(Story *s, const TsrTensor *t, int n, const int64_t *sizes) {
    int64_t resolved[TSR_MAX_DIMS];
    char strides[TEXT_ROOM];
    if (n > TSR_MAX_DIMS || tsr_layout_infer_size(resolved, n, sizes, t->numel) != TSR_OK) {
        tsr_error_clear();
        return;
    }
    int d = tsr_layout_unmergeable_dim(n, resolved, tsr_tensor_geometry(t));
    if (d < 0 || d + 1 >= tsr_ndim(t)) return;
    say(s,
        "  dimensions %d and %d can't merge: that needs stride[%d] == size[%d] * stride[%d], but %lld != %lld * %lld "
        "(strides %s)",
        d, d + 1, d, d + 1, d + 1, (long long)t->strides[d], (long long)t->sizes[d + 1], (long long)t->strides[d + 1],
        tuple_text(strides, sizeof strides, tsr_ndim(t), t->strides));
}

static void say_crossing(Story *s, const TsrTensor *t, const TsrTensor *r) {
    char from[16], to[16];
    if (t->device.type == r->device.type || r->device.type == TSR_META) return;
    say(s, "  the device changes: its bytes cross from %s to %s", tsr_device_format(t->device, from),
        tsr_device_format(r->device, to));
}

/* Why a copy had to be made by an operator that gives a view where it can. */
static void say_copy_reason(Story *s, const TsrOpCall *c, const TsrTensor *t, const TsrTensor *r) {
    static const char *const turning[] = {"flip", "fliplr", "flipud", "rot90", NULL};
    static const char *const merging[] = {"reshape", "flatten", "ravel", "reshape_as", "view", NULL};
    const char *op = c->schema->base;
    char a[TEXT_ROOM];
    if (t->dtype != r->dtype) say_written_as(s, t->dtype, r->dtype);
    else if (is_one_of(op, merging)) say_unmergeable(s, t, tsr_ndim(r), r->sizes);
    else if (strcmp(op, "contiguous") == 0)
        say(s, "  strides %s are not %s", tuple_text(a, sizeof a, tsr_ndim(t), t->strides),
            tsr_is_contiguous(r, TSR_CONTIGUOUS) ? "row-major" : "in the format asked for");
    else if (is_one_of(op, turning)) say(s, "  a view would need a negative stride, and strides are never negative");
    else if (strcmp(op, "clone") == 0) say(s, "  clone always copies: what is written to one is not seen by the other");
    else if (strcmp(op, "to") == 0 && t->device.type == r->device.type)
        say(s, "  copy=True, or another memory format, was asked for");
    say_crossing(s, t, r);
}

/* A dimension of size 1 whose stride is not the one that rows would have. */
static void say_idle_strides(Story *s, const TsrTensor *r) {
    int64_t dense = 1;
    for (int d = tsr_ndim(r) - 1; d >= 0 && r->numel > 0; d--) {
        if (r->sizes[d] == 1 && r->strides[d] != dense) {
            say(s, "  dimension %d has one index: its stride, %lld, is never stepped by, and any other would do", d,
                (long long)r->strides[d]);
            return;
        }
        dense *= r->sizes[d];
    }
}

static bool has_stride_zero(const TsrTensor *r) {
    for (int d = 0; d < tsr_ndim(r); d++)
        if (r->strides[d] == 0 && r->sizes[d] > 1) return true;
    return false;
}

/* Elements of the storage that a view reaches, each counted once; 0 where there are too many to look. */
static int64_t distinct_elements(const TsrTensor *r) {
    int64_t last = 0, n = 0, index[TSR_MAX_DIMS] = {0};
    for (int d = 0; d < tsr_ndim(r); d++) last += (r->sizes[d] - 1) * r->strides[d];
    if (r->numel > MOST_COUNTED || last >= 8 * MOST_COUNTED) return 0;
    bool *seen = tsr_calloc((size_t)last + 1, sizeof *seen);
    for (int64_t k = 0; seen != NULL && k < r->numel; k++) {
        int64_t at = 0;
        for (int d = 0; d < tsr_ndim(r); d++) at += index[d] * r->strides[d];
        n += !seen[at];
        seen[at] = true;
        for (int d = tsr_ndim(r) - 1; d >= 0 && ++index[d] == r->sizes[d]; d--) index[d] = 0;
    }
    tsr_free(seen);
    return n;
}

/* Windows and the like, which overlap themselves with other strides than 0. */
static void say_repeats(Story *s, const TsrTensor *r) {
    TsrGeometry g = tsr_tensor_geometry(r);
    if (r->numel == 0 || has_stride_zero(r) || !tsr_layout_has_internal_overlap(&g)) return;
    long long distinct = (long long)distinct_elements(r);
    if (distinct > 0)
        say(s, "  it overlaps itself: its %lld indices reach %lld elements, and a write at one index is seen at others",
            (long long)r->numel, distinct);
    else
        say(s,
            "  it overlaps itself: several of its indices reach one element, and a write at one is seen at the others");
}

/* What a view's geometry means for memory: repeated elements, a large storage kept. */
static void say_consequences(Story *s, const TsrTensor *t, const TsrTensor *r) {
    for (int d = 0; d < tsr_ndim(r); d++)
        if (r->strides[d] == 0 && r->sizes[d] > 1)
            say(s,
                "  stride 0 in dimension %d: its %lld indices are one element; %lld bytes would be needed for "
                "elements of their own",
                d, (long long)r->sizes[d], bytes_of(r));
    say_idle_strides(s, r);
    say_repeats(s, r);
    long long kept = (long long)t->storage->nbytes, used = bytes_of(r);
    if (kept >= 1024 && used * 4 < kept)
        say(s,
            "  it keeps all %lld bytes of the storage alive for the %lld it reaches; clone() would cost %lld bytes "
            "and let the rest go",
            kept, used, used);
}

void say_geometry(Story *s, int ndim, const int64_t *strides, const TsrTensor *t) {
    char before[TEXT_ROOM], now[TEXT_ROOM], shape[TEXT_ROOM];
    tuple_text(before, sizeof before, ndim, strides);
    tuple_text(now, sizeof now, tsr_ndim(t), t->strides);
    tuple_text(shape, sizeof shape, tsr_ndim(t), t->sizes);
    bool same = strcmp(before, now) == 0;
    say(s, "  strides %s %s%s, shape %s, offset %lld", before, same ? "as before" : "became ", same ? "" : now, shape,
        (long long)t->offset);
}

/* What a flag of a view changes in reading: that it is set there, or no longer. */
static void say_flag(Story *s, const TsrTensor *t, const TsrTensor *r, unsigned flag, const char *done) {
    if ((r->flags & ~t->flags & flag) != 0) say(s, "  a flag is set: each element is %s when it is read", done);
    else if ((t->flags & ~r->flags & flag) != 0 && r->dtype == t->dtype)
        say(s, "  the flag that it is %s is not set: each element is read as it is", done);
}

/* How a view takes the bytes that it shares. */
static void say_reading(Story *s, const TsrTensor *t, const TsrTensor *r) {
    if (r->dtype != t->dtype) say(s, "  its bytes are read as %s", tsr_dtype_name(r->dtype));
    say_flag(s, t, r, TSR_FLAG_CONJ, "conjugated");
    say_flag(s, t, r, TSR_FLAG_NEG, "negated");
}

void say_view(Story *s, const char *head, TsrTensor *t, TsrTensor *r, const char *why) {
    char name[NAME_ROOM];
    say(s, "%s: a view of %s%s: the same storage #%lld, no bytes copied", head, story_name_of(s, name, t), why,
        (long long)tsr_storage_id(t->storage));
    say_geometry(s, tsr_ndim(t), t->strides, r);
    say_reading(s, t, r);
    if (r->version != t->version)
        say(s, "  its version counter is its own: writes through it are not counted for the other");
    say_consequences(s, t, r);
}

void say_alias(Story *s, const TsrOpCall *c, const char *head, TsrTensor *t, TsrTensor *r) {
    char name[NAME_ROOM];
    if (r == t) {
        say(s, "%s: the same tensor as %s: nothing to do, nothing copied", head, story_name_of(s, name, t));
        if (strcmp(c->schema->base, "contiguous") == 0) say_idle_strides(s, t);
    } else if (r->storage != NULL && r->storage == t->storage) {
        say_view(s, head, t, r, "");
    } else {
        say(s, "%s: a copy of %s: %lld bytes", head, story_name_of(s, name, t), bytes_of(r));
        say_copy_reason(s, c, t, r);
        s->said_allocated += story_is_new(s, r->storage) ? bytes_of(r) : 0;
        s->said_copied += bytes_of(r);
    }
}

/* Equal values or one memory: what a comparison of two tensors does not say. */
void say_sharing(Story *s, const TsrOpCall *c) {
    static const char *const comparing[] = {"eq", "equal", "allclose", "isclose", NULL};
    char na[NAME_ROOM], nb[NAME_ROOM];
    if (!is_one_of(c->schema->base, comparing) || c->nargs < 2) return;
    TsrTensor *a = argument_tensor(c, 0), *b = argument_tensor(c, 1);
    if (a == NULL || b == NULL || argument_is_number(b) || a->storage == NULL || b->storage == NULL) return;
    story_name_of(s, na, a);
    story_name_of(s, nb, b);
    if (a == b) say(s, "  both are one tensor: %s", na);
    else if (a->storage == b->storage)
        say(s, "  %s and %s look at one storage, #%lld: a write to an element that both reach is seen by both", na, nb,
            (long long)tsr_storage_id(a->storage));
    else
        say(s, "  %s and %s share nothing: storages #%lld and #%lld; a write to one is not seen by the other", na, nb,
            (long long)tsr_storage_id(a->storage), (long long)tsr_storage_id(b->storage));
}
